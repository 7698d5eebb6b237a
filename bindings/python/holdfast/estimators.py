# SPDX-License-Identifier: Apache-2.0
"""Estimators that follow the conventions of scikit-learn, without a need for it."""
from __future__ import annotations

import inspect
import os
import warnings
from typing import Any, Optional

import numpy as np

from . import _inputs, _settings
from ._library import ArgumentError, enum_name, enum_number, lib
from ._model import MISSING, Model, Settings


class Estimator:
    """Base of all estimators: parameters, inputs, pickling, files."""

    _estimator_type: str
    model_: Model

    # ---- parameters ----

    @classmethod
    def _get_param_names(cls):
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict:
        """Parameters by name. `deep` is there for the convention: no parameter is an estimator."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> "Estimator":
        """Sets parameters by name; ValueError for one that there is not."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {names!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _more_tags(self):
        return {"X_types": ["2darray"], "allow_nan": False}

    def _get_tags(self):
        tags = {"non_deterministic": False, "requires_positive_X": False, "requires_positive_y": False, "X_types": ["2darray"],
                "poor_score": False, "no_validation": False, "multioutput": False, "allow_nan": False, "stateless": False,
                "multilabel": False, "_skip_test": False, "_xfail_checks": False, "multioutput_only": False, "binary_only": False,
                "requires_fit": True, "preserves_dtype": [np.float64], "requires_y": True, "pairwise": False}
        tags.update(self._more_tags())
        return tags

    def __sklearn_tags__(self):  # scikit-learn 1.6 and later
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
        tags = self._get_tags()
        regressor = self._estimator_type == "regressor"
        return Tags(estimator_type=self._estimator_type, transformer_tags=None, input_tags=InputTags(),
                    regressor_tags=RegressorTags() if regressor else None,
                    classifier_tags=None if regressor else ClassifierTags(),
                    target_tags=TargetTags(required=True, multi_output=tags["multioutput"],
                                           positive_only=tags["requires_positive_y"]))

    # ---- inputs ----

    def _inputs(self, X, fitting: bool) -> np.ndarray:
        if not fitting and type(X) is np.ndarray and X.dtype == _inputs.F64 and X.ndim == 2 and X.shape[1] == self._width \
                and X.shape[0] > 0 and not self._named:
            return _inputs.in_place(X)
        name = type(self).__name__
        names = _inputs.names_of(X)
        if fitting:
            self.categories_ = _inputs.find_categories(X)
            array = _inputs.input_array(X, self.categories_, name)
            self.n_features_in_ = self._width = array.shape[1]
            self._named = names is not None
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return array
        self._check_names(names, name)
        array = _inputs.input_array(X, self.categories_, name)
        if array.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {array.shape[1]} features, but {name} is expecting {self.n_features_in_} features as input.")
        return array

    def _check_names(self, names, name):
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is None and names is None:
            return
        if names is None:
            warnings.warn(f"X does not have valid feature names, but {name} was fitted with feature names")
            return
        if fitted is None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names")
            return
        if len(names) == len(fitted) and (names == fitted).all():
            return
        text = "The feature names should match those that were passed during fit.\n"
        unseen, absent = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        for title, listed in (("Feature names unseen at fit time:\n", unseen),
                              ("Feature names seen at fit time, yet now missing:\n", absent)):
            if listed:
                text += title + "".join(f"- {entry}\n" for entry in listed[:5]) + ("- ...\n" if len(listed) > 5 else "")
        if not unseen and not absent:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(text)

    def _fitted(self) -> Model:
        """The model; without one the error that scikit-learn has for it, which is an AttributeError too."""
        if hasattr(self, "model_"):
            return self.model_
        text = f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using it."
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise AttributeError(text) from None
        raise NotFittedError(text)

    def _asked(self, X) -> np.ndarray:
        self._fitted()
        return self._inputs(X, False)

    def _names(self):
        return [str(name) for name in self.feature_names_in_] if self._named else None

    def _apart(self, names):
        return _inputs.apart(names, self._names() or [f"x{j}" for j in range(self.n_features_in_)])

    # ---- settings ----

    def _chosen(self):
        chosen = {member: getattr(self, name) for name, member in self.SETTINGS.items() if getattr(self, name) is not None}
        if self.categories_ and "kernel" not in chosen:
            chosen["kernel"] = self._category_kernel()
        return chosen

    def _category_kernel(self) -> str:
        """A function of the numbers for each kind of row."""
        names = self._names()
        listed = ", ".join("'" + names[j].replace("'", "''") + "'" for j in self.categories_)
        kinds = f"category({listed}, ard)"
        return kinds if len(self.categories_) == self.n_features_in_ else f"matern52(ard)*{kinds}"

    def _seed(self):
        state = self.random_state
        if state is None or isinstance(state, (int, np.integer)):
            return 0 if state is None else int(state)
        draw = getattr(state, "randint", None) or getattr(state, "integers", None)
        if draw is None:
            raise TypeError(f"random_state is {state!r}; it must be None, a whole number, or a generator of numpy")
        return int(draw(2 ** 31 - 1))

    # ---- what a fit leaves ----

    def _keep(self, model: Model, rows: int, outputs: int):
        self.model_ = model
        self.report_ = model.report
        self.notes_ = model.notes
        self.hyperparameters_ = model.hyperparameters
        readings = model.readings
        shape = (rows,) if outputs == 1 else (rows, outputs)
        weights, suspected = np.zeros(shape), np.zeros(shape, np.bool_)
        at = readings.row if outputs == 1 else (readings.row, readings.output)
        weights[at], suspected[at] = readings.weight, readings.suspected
        self.weights_, self.suspected_ = weights, suspected
        return self

    # ---- files ----

    def report(self, path, **parts) -> None:
        """Writes a page of HTML about the fit, for people; parts: certificates, study. See `Model.report_html`."""
        self._fitted().report_html(path, **parts)

    def save(self, path) -> None:
        """Saves the model to a file, which the tool reads too. Parameters of the estimator are not in it: pickle keeps them."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path):
        """An estimator with the model of a file, of this package or of the tool."""
        made = cls()
        model = Model.load(os.fspath(path))
        made._adopt(model)
        made.model_ = model
        made.report_, made.notes_, made.hyperparameters_ = model.report, model.notes, model.hyperparameters
        made.categories_, made._named = {}, False
        made.n_features_in_ = made._width = model.n_features
        return made

    def _adopt(self, model):
        raise NotImplementedError


def _refuse_other(model, wanted, owner):
    kind = "labels" if model.classes else "counts or amounts" if model.is_rate else "readings"
    if kind != wanted:
        raise ArgumentError(f"the file holds a model of {kind}, and {owner} is for {wanted}")


class _Readings(Estimator):
    """Base of the estimators of numbers."""

    _estimator_type = "regressor"
    _counts = False

    def _check_sites(self, settings):
        if bool(lib.hf_likelihood_has_rate(settings.struct.sites)) == self._counts:
            return
        name = enum_name("LIKELIHOOD", settings.struct.sites)
        raise ValueError(f"{type(self).__name__} does not take {name} sites; "
                         f"{'GPRegressor' if self._counts else 'CountRegressor'} does")

    def _fit(self, X, y, *, noise=None, prior_mean=None, exposure=None):
        array = self._inputs(X, True)
        _inputs.refuse_gaps(array, type(self).__name__)
        rows = array.shape[0]
        targets, flat, names = _inputs.reading_array(y, rows)
        noise = _inputs.beside_array(noise, rows, "noise")
        prior_mean = _inputs.beside_array(prior_mean, rows, "prior_mean")
        exposure = _inputs.beside_array(exposure, rows, "exposure")
        outputs = targets.shape[1]
        settings = Settings(self.preset or "default", self._chosen(), self.hold, self.start,
                            getattr(self, "output_eps", None), getattr(self, "output_beta", None),
                            getattr(self, "inducing_inputs", None), array.shape[1]).finish(outputs)
        self._check_sites(settings)
        model = Model.fit(array, targets, settings, noise=noise, prior_mean=prior_mean, exposure=exposure,
                          input_names=self._names(), output_names=self._apart(names), seed=self._seed(), threads=self.threads,
                          progress=self.progress)
        self._flat = flat
        self.n_outputs_ = outputs
        self.target_names_ = model.targets
        return self._keep(model, rows, outputs)

    def _adopt(self, model):
        self._flat, self.n_outputs_, self.target_names_ = model.outputs == 1, model.outputs, model.targets

    def _shaped(self, values):
        return values if self._flat or self.n_outputs_ > 1 else values.reshape(-1, 1)

    def score(self, X, y, sample_weight=None) -> float:
        """R^2 of the predictions of y: 1 is perfect, 0 no better than the mean of y; missing readings do not count.

        Several outputs: the mean of their R^2.
        """
        predicted = self.predict(X)
        predicted = predicted.reshape(len(predicted), -1)
        truth = _inputs.reading_array(y, len(predicted))[0]
        if truth.shape != predicted.shape:
            raise ValueError(f"y has {truth.shape[1]} columns, and there are {predicted.shape[1]} outputs")
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        scores = []
        for t in range(truth.shape[1]):
            there = ~np.isnan(truth[:, t])
            own, w = truth[there, t], weight[there]
            if w.sum() == 0:
                continue
            wrong = np.sum(w * (own - predicted[there, t]) ** 2)
            spread = np.sum(w * (own - np.average(own, weights=w)) ** 2)
            scores.append(1.0 - wrong / spread if spread > 0 else float(wrong == 0))
        if not scores:
            raise ValueError("y has no reading to score")
        return float(np.mean(scores))


class GPRegressor(_settings.RegressorSettings, _Readings):
    __doc__ = """Robust Gaussian process regression.

    By default wrong readings are looked for and set aside where that clearly pays, and intervals are calibrated; on clean
    data the fit is that of a plain Gaussian process. y may have several columns, which are then predicted together, and
    NaN where a reading is missing.

    Parameters: all keywords, None stands for what the preset says.

    preset : str, default "default"
        A set of settings: default, gp, rcgp, cagp, rcagp, sgpr, rcsvgp, svgp, student-t, rrp; of several outputs also
        mogp, morcgp, t-mogp, independent.
""" + _settings.REGRESSOR_HELP + """    hold : dict of float, optional
        Hyperparameters that are held, by name, in the user's units: {"noise": 0.1, "lengthscale[0]": 2}.
    start : dict of float, optional
        Values that training starts from, likewise.
    output_eps, output_beta : sequence of float, optional
        Several outputs, robust sites: eps and beta of each.
    inducing_inputs : array (m, d), optional
        Inducing inputs, in the units of X.
    random_state : int, optional
        Seed of all that is random. Default: 0.
    threads : int, optional
        Threads of the library; the number changes no digit. Default: all processors.
    progress : bool or function of (stage, done, value), optional
        True shows a bar (by tqdm, where it is installed); a function that returns False cancels the fit.

    Attributes
    ----------
    suspected_ : array of bool (n,) or (n, T)
        Readings that the fit holds for wrong.
    weights_ : array (n,) or (n, T)
        How much each reading counts: 1 fully, 0 not at all or missing.
    report_ : Report
        What happened in the fit: suspects, seconds, evaluations, condition, calibration, ...
    notes_ : list of str
        Remarks on the data and the fit.
    hyperparameters_ : dict of float
        In the user's units; noise is a variance.
    model_ : Model
        The model itself, with all that the library knows of it.
    n_features_in_, feature_names_in_, n_outputs_, target_names_, categories_

    Columns of a data frame that are text or categories become codes, and the default kernel then has a function for each
    kind; in a kernel of your own name them in category(...).

    Example
    -------
    >>> import numpy as np, holdfast
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]); y[7] += 5
    >>> gp = holdfast.GPRegressor().fit(X, y)
    >>> np.flatnonzero(gp.suspected_).tolist()
    [7]
    """

    def _more_tags(self):
        return {"multioutput": True}

    def fit(self, X, y, *, noise=None, prior_mean=None) -> "GPRegressor":
        """Fits X (n, d) and y (n,) or (n, T); NaN in y is a missing reading.

        noise : (n,) known noise variances, squared units of y, added to the trained one; of one output.
        prior_mean : (n,) prior means of the rows, units of y; `predict` then needs those of its rows.
        """
        return self._fit(X, y, noise=noise, prior_mean=prior_mean)

    def _predict(self, X, want, levels=None, noise=None, prior_mean=None):
        array = self._asked(X)
        rows = array.shape[0]
        return self.model_.predict(array, want, levels=levels, noise=_inputs.beside_array(noise, rows, "noise"),
                                   prior_mean=_inputs.beside_array(prior_mean, rows, "prior_mean"), threads=self.threads,
                                   progress=self.progress)

    def predict(self, X, return_std: bool = False, return_cov: bool = False, *, observed: bool = False, noise=None,
                prior_mean=None):
        """Predicts X (m, d): mean (m,) or (m, T), units of y.

        return_std : also the standard deviation, of the same shape: of the function itself, or with observed=True of a
            new reading of it, noise included.
        return_cov : also the covariance of the function between the rows: (m, m), or (m, m, T). Not with a transform.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if return_std:
            mean, sd = self._predict(X, ("mean", "sd_observed" if observed else "sd_latent"), None, noise, prior_mean)
            return self._shaped(mean), self._shaped(sd)
        if not return_cov:
            return self._shaped(self._predict(X, ("mean",), None, noise, prior_mean)[0])
        if hasattr(self, "model_") and self.model_.transform != "none":
            raise ValueError(f"the covariance is that of the {self.model_.transform} of y, and has no counterpart in its units; "
                             "model_.predict(X, ('latent_mean', 'covariance')) gives both")
        mean, covariance = self._predict(X, ("mean", "covariance"), None, noise, prior_mean)
        return self._shaped(mean), covariance if covariance.ndim == 2 else np.moveaxis(covariance, 0, -1)

    def predict_interval(self, X, level: float = 0.95, *, noise=None, prior_mean=None):
        """Central interval that holds a new reading with probability `level`: (lower, upper), as `predict`."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}; it must lie between 0 and 1")
        ends = ((1 - level) / 2, (1 + level) / 2)
        quantile, = self._predict(X, ("quantile",), ends, noise, prior_mean)
        return self._shaped(quantile[..., 0].copy()), self._shaped(quantile[..., 1].copy())

    def predict_quantile(self, X, levels, *, noise=None, prior_mean=None):
        """Quantiles of a new reading: (m, levels), or (m, T, levels); units of y."""
        return self._predict(X, ("quantile",), levels, noise, prior_mean)[0]

    def sample_y(self, X, n_samples: int = 1, random_state: Optional[int] = 0, *, prior_mean=None) -> np.ndarray:
        """Joint draws of the function at X: (m, n_samples), or (m, T, n_samples); units of y. Of a transformed y: of the
        inverse transform of what is modelled."""
        array = self._asked(X)
        draws = self.model_.sample(array, n_samples, seed=random_state)
        if prior_mean is not None:
            draws = draws + _inputs.beside_array(prior_mean, array.shape[0], "prior_mean")
        return _untransformed(self.model_.transform, draws)

    def metrics(self, X, y, *, noise=None, prior_mean=None):
        """Scores of the predictions of y: mae, rmse, nlpd, crps, and coverages of intervals; see holdfast/metrics.h."""
        array = self._asked(X)
        rows = array.shape[0]
        return self.model_.score(array, _inputs.reading_array(y, rows)[0], noise=_inputs.beside_array(noise, rows, "noise"),
                                 prior_mean=_inputs.beside_array(prior_mean, rows, "prior_mean"))

    def plot(self, X=None, y=None, **options):
        """A picture of a fit of one input, or of a slice along one; see holdfast.plot."""
        from .plot import plot_regression
        return plot_regression(self, X, y, **options)

    def _adopt(self, model):
        _refuse_other(model, "readings", "GPRegressor")
        super()._adopt(model)


def _untransformed(transform, values):
    if transform == "none":
        return values
    number = enum_number("TRANSFORM", transform)
    flat = np.array([lib.hf_transform_inverse(number, value) for value in values.ravel()])
    return flat.reshape(values.shape)


class CountRegressor(_settings.CountsSettings, _Readings):
    __doc__ = """Counts and positive amounts with a rate that is exp of a Gaussian process.

    Parameters: all keywords, None stands for what the preset says.

    preset : str, default "poisson"
        poisson or negative-binomial for counts, gamma for positive amounts.
""" + _settings.COUNTS_HELP + """    hold, start, random_state, threads, progress
        As for GPRegressor. "dispersion" is the name of that hyperparameter.

    Attributes: as those of GPRegressor; nothing is suspected here, and all weights are 1 where there is a reading.
    """

    _counts = True

    def _more_tags(self):
        return {"requires_positive_y": True}

    def fit(self, X, y, exposure=None) -> "CountRegressor":
        """Fits X (n, d) and y (n,): counts 0, 1, ..., or with gamma sites positive amounts; NaN is missing.

        exposure : (n,) positive: hours watched, people counted. The mean of a reading is exposure times rate. Default: 1.
        """
        if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
            y = _as_vector(np.asarray(y))
        return self._fit(X, y, exposure=exposure)

    def _predict(self, X, want, levels=None, exposure=None):
        array = self._asked(X)
        return self.model_.predict(array, want, levels=levels, threads=self.threads, progress=self.progress,
                                   exposure=_inputs.beside_array(exposure, array.shape[0], "exposure"))

    def predict(self, X, exposure=None, return_std: bool = False):
        """Means of new readings (m,), for an exposure of 1 unless it is given.

        return_std : also their standard deviations (m,).
        """
        if not return_std:
            return self._predict(X, ("mean",), None, exposure)[0]
        return self._predict(X, ("mean", "sd_observed"), None, exposure)

    def predict_interval(self, X, level: float = 0.95, exposure=None):
        """Central interval of new readings between quantiles, ends included: (lower, upper), (m,) each."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}; it must lie between 0 and 1")
        quantile, = self._predict(X, ("quantile",), ((1 - level) / 2, (1 + level) / 2), exposure)
        return quantile[:, 0].copy(), quantile[:, 1].copy()

    def predict_quantile(self, X, levels, exposure=None):
        """Quantiles of new readings: (m, levels)."""
        return self._predict(X, ("quantile",), levels, exposure)[0]

    def predict_log_rate(self, X):
        """Mean and standard deviation of the logarithm of the rate, (m,) each."""
        return self._predict(X, ("latent_mean", "latent_sd"))

    def sample_y(self, X, n_samples: int = 1, random_state: Optional[int] = 0) -> np.ndarray:
        """Joint draws of the rate at X: (m, n_samples)."""
        return np.exp(self._fitted().sample(self._asked(X), n_samples, seed=random_state))

    def metrics(self, X, y, exposure=None):
        """Scores of the predictions of y: nlpd is of log probabilities or densities; see holdfast/metrics.h."""
        array = self._asked(X)
        rows = array.shape[0]
        return self.model_.score(array, _inputs.reading_array(y, rows)[0],
                                 exposure=_inputs.beside_array(exposure, rows, "exposure"))

    def _adopt(self, model):
        _refuse_other(model, "counts or amounts", "CountRegressor")
        super()._adopt(model)


def _as_vector(column):
    try:
        from sklearn.exceptions import DataConversionWarning as category
    except ImportError:
        category = UserWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
                  "for example using ravel().", category)
    return column.ravel()


def _class_names(classes):
    """Names for the model's classes: those of the labels, if the library reads them back as they are; else numbers."""
    names = [str(value) for value in classes]
    plain = len(set(names)) == len(names) and all(
        name and name == name.strip() and "\n" not in name and
        name.lower() not in ("na", "n/a", "#n/a", "nan", "null", "none", "?", "-") for name in names)
    if not plain:
        return None
    numbers = []
    for name in names:
        try:
            numbers.append(float(name))
        except ValueError:
            continue
    return names if len(set(numbers)) == len(numbers) else None


class GPClassifier(_settings.ClassifierSettings, Estimator):
    __doc__ = """Gaussian process classification of two classes or more.

    Parameters: all keywords, None stands for what the preset says.

    preset : str, optional
        probit, logit (two classes) or softmax. Default: probit for two classes, else softmax.
""" + _settings.CLASSIFIER_HELP + """    hold, random_state, threads, progress
        As for GPRegressor.

    Attributes
    ----------
    classes_ : array (C,)
        The labels, sorted.
    report_, notes_, hyperparameters_, model_, n_features_in_, feature_names_in_, categories_
        As those of GPRegressor.
    """

    _estimator_type = "classifier"

    def fit(self, X, y) -> "GPClassifier":
        """Fits X (n, d) and labels y (n,): numbers, text or categories; None and NaN are missing labels."""
        array = self._inputs(X, True)
        _inputs.refuse_gaps(array, type(self).__name__)
        self.classes_, label = self._labels(y, array.shape[0])
        if len(self.classes_) < 2:
            raise ValueError(f"GPClassifier needs at least two classes; y has {len(self.classes_)} class"
                             f"{'' if len(self.classes_) == 1 else 'es'}")
        preset = self.preset or ("probit" if len(self.classes_) == 2 else "softmax")
        settings = Settings(preset, self._chosen(), self.hold).finish(1)
        names = _class_names(self.classes_)
        model = Model.fit(array, None, settings, label=label, classes=len(self.classes_), class_names=names,
                          input_names=self._names(), output_names=self._apart(self._label_name(y)), seed=self._seed(),
                          threads=self.threads, progress=self.progress)
        self._order = self._order_of(model, names)
        return self._keep(model, array.shape[0], 1)

    @staticmethod
    def _label_name(y):
        name = getattr(y, "name", None)
        return [str(name)] if name is not None else None

    def _labels(self, y, rows):
        """(classes, number of each row's class or -1)"""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        _inputs._refuse_sparse(y, "y")
        kept = getattr(getattr(y, "dtype", None), "categories", None)
        values = _inputs.with_gaps(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = _as_vector(values)
        if values.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
        if len(values) != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(values)}] (rows of X, "
                             "entries of y)")
        missing = np.zeros(rows, np.bool_)
        if values.dtype.kind == "f":
            if np.isinf(values).any():
                raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
            missing = np.isnan(values)
            if (values[~missing] != np.floor(values[~missing])).any():
                raise ValueError("Unknown label type: 'continuous'. Labels are whole numbers or text; GPRegressor predicts "
                                 "quantities")
        elif values.dtype.kind == "O":
            missing = np.array([_inputs.is_gap(value) for value in values], dtype=np.bool_)
        there = values[~missing]
        classes, numbers = np.unique(there, return_inverse=True) if len(there) else (there, np.zeros(0, np.intp))
        if kept is not None and len(there):  # the order that the categories have
            order = [value for value in kept if value in set(classes)]
            rank = {value: k for k, value in enumerate(order)}
            numbers = np.array([rank[value] for value in there])
            classes = np.asarray(order, dtype=object if classes.dtype.kind == "O" else None)
        label = np.full(rows, -1, np.intp)
        label[~missing] = numbers
        return classes, label

    @staticmethod
    def _order_of(model, names):
        """Number in the model of each class of classes_; None where they agree."""
        found = model.classes
        wanted = names if names is not None else [str(k) for k in range(len(found))]
        try:
            order = np.array([found.index(name) for name in wanted])
        except ValueError:  # the library writes numbers its own way
            order = np.array([[float(other) for other in found].index(float(name)) for name in wanted])
        return None if (order == np.arange(len(order))).all() else order

    def _probability(self, X):
        probability, winner = self._fitted().predict(self._asked(X), ("probability", "winner"), threads=self.threads)
        if self._order is None:
            return probability, winner
        return probability[:, self._order], np.argsort(self._order)[winner]

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row of X (m, d): (m,)."""
        winner = self._probability(X)[1]
        return self.classes_[winner.astype(np.intp)]

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class, in the order of classes_: (m, C); rows add up to 1."""
        return self._probability(X)[0]

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities: (m, C)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_latent(self, X):
        """Mean and standard deviation of the latent functions: (m,) of two-class sites, else (m, C) each."""
        mean, sd = self._fitted().predict(self._asked(X), ("latent_mean", "latent_sd"), threads=self.threads)
        if self._order is None or mean.ndim == 1:
            return mean, sd
        return mean[:, self._order], sd[:, self._order]

    def score(self, X, y, sample_weight=None) -> float:
        """Share of rows whose predicted class is the label."""
        truth, predicted = np.asarray(y).ravel(), self.predict(X)
        if len(truth) != len(predicted):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(predicted)}, {len(truth)}]")
        return float(np.average(truth == predicted, weights=sample_weight))

    def metrics(self, X, y):
        """accuracy, nlpd, brier and calibration_error of the predicted probabilities; see holdfast/metrics.h."""
        array = self._asked(X)
        classes, label = self._labels(y, array.shape[0])
        place = {value: k for k, value in enumerate(self.classes_.tolist())}
        own = []
        for value in np.asarray(classes).tolist():
            if value not in place:
                raise ValueError(f"y has the label {value!r}, and the classes are {self.classes_.tolist()!r}")
            own.append(place[value] if self._order is None else self._order[place[value]])
        if not own:
            raise ValueError("y has no label to score")
        numbers = np.where(label < 0, -1, np.asarray(own, np.intp)[label])
        return self.model_.score(array, label=numbers)

    def _adopt(self, model):
        _refuse_other(model, "labels", "GPClassifier")
        self._order = None
        names = model.classes
        try:
            self.classes_ = np.array([int(name) for name in names])
        except ValueError:
            self.classes_ = np.array(names, dtype=object)


__all__ = ["GPRegressor", "GPClassifier", "CountRegressor", "Estimator", "MISSING"]
