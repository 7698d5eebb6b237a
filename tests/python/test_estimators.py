# SPDX-License-Identifier: Apache-2.0
"""The estimators by the conventions of scikit-learn: its own checks, pipelines, searches, clones."""
import pickle
import unittest
import warnings

import testing
from testing import Case, holdfast, np, wavy

testing.need("sklearn", "python3-sklearn")
from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402


class RoundedCounts(holdfast.CountRegressor):
    """The checks give targets that are no whole numbers, which Poisson counts must be: they are rounded here."""

    def fit(self, X, y, exposure=None):
        values = np.asarray(y) if y is not None else None
        whole = values is not None and values.dtype.kind == "f" and np.isfinite(values).all()
        return super().fit(X, np.round(values) if whole else y, exposure)


# Checks that are left out, and why. There are none.
LEFT_OUT = {}


def run_checks(case, estimator):
    done = 0
    for made, check in check_estimator(estimator, generate_only=True):
        name = getattr(check, "func", check).__name__
        if name in LEFT_OUT:
            continue
        with case.subTest(estimator=type(estimator).__name__, check=name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(made)
            except unittest.SkipTest as skipped:
                case.fail(f"{name} was skipped: {skipped}")
        done += 1
    case.assertGreater(done, 35)


class Checks(Case):
    def test_regressor(self):
        run_checks(self, holdfast.GPRegressor())

    def test_regressor_of_another_preset(self):
        run_checks(self, holdfast.GPRegressor(preset="gp", iterations=20))

    def test_classifier(self):
        run_checks(self, holdfast.GPClassifier())

    def test_amounts(self):
        run_checks(self, holdfast.CountRegressor(preset="gamma"))

    def test_counts(self):
        run_checks(self, RoundedCounts())


class Conventions(Case):
    def test_kinds(self):
        self.assertTrue(is_regressor(holdfast.GPRegressor()) and is_regressor(holdfast.CountRegressor()))
        self.assertTrue(is_classifier(holdfast.GPClassifier()))

    def test_clones_have_the_parameters_and_no_fit(self):
        X, y = wavy()
        gp = holdfast.GPRegressor(preset="gp", iterations=30, hold={"noise": 0.1}).fit(X, y)
        twin = clone(gp)
        self.assertEqual(twin.get_params(), gp.get_params())
        self.assertFalse(hasattr(twin, "model_"))
        self.close(twin.fit(X, y).predict(X), gp.predict(X))
        self.refused(ValueError, "nothing", gp.set_params, nothing=1)

    def test_pipeline_search_and_cross_validation(self):
        X, y = wavy(60)
        pipe = make_pipeline(StandardScaler(), holdfast.GPRegressor(suspects="off"))
        self.assertGreater(cross_val_score(pipe, X, y, cv=3).mean(), 0.9)
        search = GridSearchCV(holdfast.GPRegressor(), {"kernel": ["matern52(ard)", "linear(ard)"], "preset": ["gp"]}, cv=3)
        search.fit(X, y)
        self.assertEqual(search.best_params_["kernel"], "matern52(ard)")
        labels = np.where(y > 0, "above", "below")
        scores = cross_val_score(holdfast.GPClassifier(), X, labels, cv=3, scoring="neg_log_loss")
        self.assertGreater(scores.mean(), -0.5)
        nested = cross_val_score(holdfast.GPRegressor(), X, y, cv=3, n_jobs=2)
        self.close(nested, cross_val_score(holdfast.GPRegressor(), X, y, cv=3))

    def test_pickled_pipelines_predict_the_same(self):
        X, y = wavy(40, bad=[3])
        pipe = make_pipeline(StandardScaler(), holdfast.GPRegressor()).fit(X, y)
        again = pickle.loads(pickle.dumps(pipe))
        self.assertTrue((again.predict(X) == pipe.predict(X)).all())
        self.assertTrue(again[-1].suspected_[3])

    def test_unfitted_estimators_say_so(self):
        from sklearn.exceptions import NotFittedError
        for estimator in (holdfast.GPRegressor(), holdfast.GPClassifier(), holdfast.CountRegressor()):
            for name in ("predict", "predict_quantile", "predict_latent", "predict_proba", "predict_log_rate", "sample_y", "report", "save"):
                call = getattr(estimator, name, None)
                if call is not None:
                    with self.subTest(estimator=estimator, name=name):
                        others = [[0.5]] if name == "predict_quantile" else []
                        self.refused(NotFittedError, "not fitted yet", call, [[1.0]], *others)


if __name__ == "__main__":
    testing.main()
