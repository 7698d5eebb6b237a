# SPDX-License-Identifier: Apache-2.0
"""Inputs that users pass: lists, frames, views, and everything that must be refused with a text that helps."""
import unittest

import testing
from testing import Case, holdfast, np, wavy

try:
    import pandas
except ImportError:
    pandas = None
try:
    import scipy.sparse
except ImportError:
    scipy = None


class Refused(Case):
    def setUp(self):
        self.X, self.y = wavy(20)
        self.made = [(holdfast.GPRegressor(), self.y), (holdfast.GPClassifier(), self.y > 0),
                     (holdfast.CountRegressor(), np.floor(np.exp(self.y)))]

    def all_refuse(self, kind, words, X):
        for estimator, y in self.made:
            self.refused(kind, words, estimator.fit, X, y)
            estimator.fit(self.X, y)
            self.refused(kind, words, estimator.predict, X)

    def test_wrong_inputs(self):
        text = np.array([["a", "1"]] * 20)
        mixed = self.X.astype(object)
        mixed[3, 1] = "tall"
        gap, endless = self.X.copy(), self.X.copy()
        gap[4, 1], endless[5, 0] = np.nan, np.inf
        self.all_refuse(ValueError, "not numbers", text)
        self.all_refuse(ValueError, "not numbers", mixed)
        self.all_refuse(ValueError, "Complex data not supported", self.X * 1j)
        self.all_refuse(ValueError, "Expected 2D array, got 1D", self.X[:, 0])
        self.all_refuse(ValueError, "Expected 2D array, got 3D", self.X[:, :, None])
        self.all_refuse(ValueError, "Expected 2D array, got scalar", 3.0)
        self.all_refuse(ValueError, "0 sample(s)", self.X[:0])
        self.all_refuse(ValueError, "0 feature(s)", self.X[:, :0])
        self.all_refuse(ValueError, "NaN", gap)
        self.all_refuse(ValueError, "inf", endless)
        self.all_refuse(ValueError, "not numbers", np.array([["2020-01-01"] * 2] * 20, dtype="datetime64[D]"))
        for estimator, y in self.made:
            self.refused(ValueError, "20, 19", estimator.fit, self.X, y[:19])
            estimator.fit(self.X, y)
            self.refused(ValueError, "expecting 2 features", estimator.predict, self.X[:, :1])

    @unittest.skipIf(scipy is None, "scipy is not installed")
    def test_sparse_inputs(self):
        self.all_refuse(TypeError, "toarray()", scipy.sparse.csr_matrix(self.X))

    def test_wrong_targets(self):
        X, y = self.X, self.y
        fit = holdfast.GPRegressor().fit
        self.refused(ValueError, "requires y", fit, X, None)
        self.refused(ValueError, "not numbers", fit, X, ["a"] * 20)
        self.refused(ValueError, "1d or 2d", fit, X, y[:, None, None])
        self.refused(ValueError, "infinity", fit, X, np.where(y > 0, np.inf, y))
        self.refused(ValueError, "no value", fit, X, np.full(20, np.nan))
        self.refused(ValueError, "whole numbers", holdfast.CountRegressor().fit, X, y)
        self.refused(ValueError, "positive", holdfast.CountRegressor(preset="gamma").fit, X, y)
        self.refused(ValueError, "two classes", holdfast.GPClassifier().fit, X, ["a"] * 20)
        self.refused(ValueError, "continuous", holdfast.GPClassifier().fit, X, y)
        self.refused(ValueError, "requires y", holdfast.GPClassifier().fit, X, None)
        self.refused(ValueError, "softmax", holdfast.GPClassifier(preset="probit").fit, X, np.arange(20) % 3)

    def test_wrong_numbers_beside(self):
        X, y = self.X, self.y
        fit = holdfast.GPRegressor().fit
        self.refused(ValueError, "20 rows", fit, X, y, noise=np.ones(7))
        self.refused(ValueError, "negative", fit, X, y, noise=-np.ones(20))
        self.refused(ValueError, "noise", fit, X, np.column_stack([y, y + X[:, 0]]), noise=np.ones(20))
        self.refused(ValueError, "positive", holdfast.CountRegressor().fit, X, np.ones(20), np.zeros(20))
        gp = fit(X, y, prior_mean=y)
        self.refused(ValueError, "prior means", gp.predict, X)
        self.refused(ValueError, "without one", gp.predict, X, noise=np.ones(20), prior_mean=y)
        self.refused(ValueError, "between 0 and 1", fit(X, y).predict_interval, X, 95)
        self.refused(ValueError, "between 0 and 1", fit(X, y).predict_quantile, X, [0.5, 1.0])
        self.refused(RuntimeError, "At most one", fit(X, y).predict, X, True, True)

    def test_wrong_settings(self):
        X, y = self.X, self.y

        def fit(**settings):
            return holdfast.GPRegressor(**settings).fit(X, y)

        self.refused(ValueError, "prest", fit, preset="prest")
        self.refused(ValueError, "guess", fit, solver="guess")
        self.refused(ValueError, "-3", fit, restarts=-3)
        self.refused(ValueError, "metern52", fit, kernel="metern52")
        self.refused(ValueError, "eps", fit, preset="gp", sites="gaussian", eps=0.2)  # which would have no effect
        self.refused(ValueError, "lengthscal", fit, hold={"lengthscal": 1})
        self.refused(ValueError, "CountRegressor does", fit, preset="poisson")
        self.refused(ValueError, "GPRegressor does", holdfast.CountRegressor(preset="gp").fit, X, np.ones(20))
        self.refused(ValueError, "labels", fit, preset="probit")
        self.refused(TypeError, "hold", fit, hold="noise")
        self.refused(TypeError, "random_state", fit, random_state="x")
        self.refused(ValueError, "a row of 2", fit, solver="inducing", inducing_inputs=np.zeros((3, 1)))
        self.refused(TypeError, "nonsense", holdfast.GPRegressor, nonsense=1)
        self.refused(TypeError, "progress", fit, progress="yes")
        self.assertIsInstance(holdfast.ArgumentError(""), holdfast.HoldfastError)

    def test_files(self):
        self.refused(OSError, "nowhere", holdfast.load, "/nowhere/model.hf")
        self.refused(OSError, "model", holdfast.load, __file__)


class Taken(Case):
    def test_any_array_gives_the_same_numbers(self):
        X, y = wavy()
        gp = holdfast.GPRegressor().fit(X, y)
        mean, sd = gp.predict(X, return_std=True)
        wide = np.zeros((50, 7))
        wide[:, 2:4] = X
        packed = np.zeros(50, dtype=[("tag", "i1"), ("x", "f8", 2)])
        packed["x"] = X
        same = {"list": X.tolist(), "fortran": np.asfortranarray(X), "slice": wide[:, 2:4], "packed": packed["x"],
                "swapped": X.astype(">f8"), "object": X.astype(object), "text": X.astype(str), "read-only": X.copy()}
        same["read-only"].setflags(write=False)
        for name, other in same.items():
            with self.subTest(name):
                own, spread = gp.predict(other, return_std=True)
                self.close(own, mean, 0)
                self.close(spread, sd, 0)
                self.close(holdfast.GPRegressor().fit(other, y.tolist()).predict(X), mean, 0)
        self.close(gp.predict(X[::-1])[::-1], mean, 0)
        self.close(gp.predict(X[::2]), mean[::2], 0)
        self.close(gp.predict(X.astype(np.float32)), mean, 1e-5)

    def test_masked_values_are_missing(self):
        X, y = wavy(20)
        wrong, gaps = y.copy(), y.copy()
        wrong[4], gaps[4] = 1e6, np.nan
        masked = holdfast.GPRegressor().fit(X, np.ma.masked_greater(wrong, 1e5))
        self.close(masked.predict(X), holdfast.GPRegressor().fit(X, gaps).predict(X), 0)
        self.refused(ValueError, "contains NaN", holdfast.GPRegressor().fit, np.ma.masked_equal(X, X[2, 0]), y)
        self.close(holdfast.GPRegressor().fit(np.ma.asarray(X), y).predict(X), holdfast.GPRegressor().fit(X, y).predict(X), 0)

    def test_no_copy_of_arrays_of_doubles(self):
        from holdfast import _inputs
        X = np.zeros((10, 3))
        for view in (X, X[::2], X[:, 1:], np.asfortranarray(X), X[::-1]):
            self.assertTrue(np.shares_memory(_inputs.input_array(view), view))

    def test_column_vectors_come_back_as_columns(self):
        X, y = wavy()
        gp = holdfast.GPRegressor().fit(X, y[:, None])
        self.assertEqual(gp.predict(X).shape, (50, 1))
        self.assertEqual(gp.predict_interval(X)[0].shape, (50, 1))

    def test_labels_of_all_kinds(self):
        X, y = wavy()
        kinds = [y > 0, np.where(y > 0, 7, -2), np.where(y > 0, "yes", "none"), np.where(y > 0, 1.0, 0.0),
                 np.array([b"x", b"y"])[(y > 0).astype(int)], np.where(y > 0, "10", "10.0").astype(object),
                 np.where(y > 0, " a", "a"), np.where(y > 0, "1e1", "b")]
        for labels in kinds:
            with self.subTest(str(labels[:2])):
                model = holdfast.GPClassifier().fit(X, labels)
                self.assertEqual(model.classes_.tolist(), np.unique(labels).tolist())
                self.assertGreater(model.score(X, labels), 0.8)
                self.assertGreater(model.metrics(X, labels).accuracy, 0.8)
        missing = np.where(y > 0, "a", "b").astype(object)
        missing[3] = None
        self.assertEqual(holdfast.GPClassifier().fit(X, missing).report_.missing, 1)

    def test_order_of_classes(self):
        X, y = wavy(60)
        labels = np.array(["10", "9", "b"])[np.digitize(y, [-0.5, 0.5])]  # the library puts 9 before 10
        model = holdfast.GPClassifier().fit(X, labels)
        self.assertEqual(model.classes_.tolist(), ["10", "9", "b"])
        probability = model.predict_proba(X)
        self.assertEqual(model.classes_[probability.argmax(axis=1)].tolist(), model.predict(X).tolist())
        self.assertGreater(model.score(X, labels), 0.9)
        mean, _ = model.predict_latent(X)
        self.assertGreater((mean.argmax(axis=1) == probability.argmax(axis=1)).mean(), 0.95)


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(Case):
    def test_names_are_kept(self):
        X, y = wavy()
        frame = pandas.DataFrame(X, columns=["height", "dose"])
        gp = holdfast.GPRegressor().fit(frame, pandas.Series(y, name="yield"))
        self.assertEqual(gp.feature_names_in_.tolist(), ["height", "dose"])
        self.assertEqual(gp.model_.feature_names, ["height", "dose"])
        self.assertEqual(gp.model_.targets, ["yield"])
        self.close(gp.predict(frame), holdfast.GPRegressor().fit(X, y).predict(X), 0)
        self.refused(ValueError, "same order", gp.predict, frame[["dose", "height"]])
        with self.assertWarns(UserWarning):
            gp.predict(X)
        several = holdfast.GPRegressor(preset="mogp").fit(frame, pandas.DataFrame({"a": y, "b": -y + X[:, 0]}))
        self.assertEqual(several.target_names_, ["a", "b"])

    def test_what_pandas_calls_missing_is_missing(self):
        X, y = wavy(20)
        counts = np.floor(np.exp(y))
        gaps, numbers = counts.astype(object), counts.copy()
        gaps[[3, 7]], numbers[[3, 7]] = None, np.nan
        for kind in ("Int64", "Float64"):
            given = pandas.Series(pandas.array(gaps, dtype=kind))
            for make in (holdfast.GPRegressor, holdfast.CountRegressor):
                self.close(make().fit(X, given).predict(X), make().fit(X, numbers).predict(X), 0)
            frame = pandas.DataFrame({"a": given, "b": X[:, 0]})
            self.refused(ValueError, "The first is at row 3, column 0", holdfast.GPRegressor().fit, frame, y)
        labels = pandas.Series(pandas.array([1, 2, None, 1] * 5, dtype="Int64"))
        self.assertEqual(holdfast.GPClassifier().fit(X, labels).classes_.tolist(), [1, 2])
        days = pandas.DataFrame({"day": pandas.date_range("2024-01-01", periods=20), "b": X[:, 0]})
        self.refused(TypeError, "X has values that are not numbers", holdfast.GPRegressor().fit, days, y)

    def test_categories_are_kept(self):
        random = np.random.default_rng(1)
        kind = random.choice(["apple", "fig", "pear"], 80)
        x = 5 * random.uniform(size=80)
        y = np.sin(x) + np.where(kind == "fig", 3.0, 0.0)
        frame = pandas.DataFrame({"x": x, "kind": kind})
        for column in (frame, frame.astype({"kind": "category"})):
            gp = holdfast.GPRegressor().fit(column, y)
            self.assertEqual(gp.model_.settings["kernel"].replace('"', "").replace("'", ""), "matern52(ard)*category(kind, ard)")
            self.assertEqual(gp.categories_, {1: ["apple", "fig", "pear"]})
            self.assertLess(np.abs(gp.predict(column) - y).max(), 0.2)
        self.refused(ValueError, "'plum'", gp.predict, pandas.DataFrame({"x": [1.0], "kind": ["plum"]}))
        self.refused(ValueError, "NaN", gp.predict, pandas.DataFrame({"x": [1.0], "kind": [None]}))
        labels = pandas.Series(pandas.Categorical(kind, categories=["pear", "fig", "apple"]), name="fruit")
        model = holdfast.GPClassifier().fit(frame[["x"]].assign(y=y), labels)
        self.assertEqual(model.classes_.tolist(), ["pear", "fig", "apple"])
        self.assertEqual(model.model_.targets, ["fruit"])
        self.assertGreater(model.score(frame[["x"]].assign(y=y), labels), 0.5)

    def test_a_column_may_be_called_as_the_target_is(self):
        frame = pandas.DataFrame({"y": np.arange(12.0), "z": np.arange(12.0) % 3})
        for y in (np.arange(12.0) ** 2, pandas.Series(np.arange(12.0) ** 2, name="y")):
            gp = holdfast.GPRegressor().fit(frame, y)
            self.assertEqual(gp.model_.targets, ["y_"])
            self.close(gp.predict(frame), y, 2.0)
        labels = pandas.Series(np.arange(12) > 5, name="z")
        self.assertEqual(holdfast.GPClassifier().fit(frame, labels).model_.targets, ["z_"])


if __name__ == "__main__":
    testing.main()
