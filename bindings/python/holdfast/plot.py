# SPDX-License-Identifier: Apache-2.0
"""Pictures with matplotlib, which must be installed; each function takes and returns axes."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib, which is not installed (Debian: python3-matplotlib)") from None
    return pyplot.subplots()[1]


def _line(estimator, X, feature, at, points, margin):
    """Rows along one input, the others held; and which input it is."""
    if estimator.categories_:
        raise ValueError("plot() draws models of numbers; this one has categories")
    names = estimator.model_.feature_names
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"there is no input {feature!r}; there are {', '.join(names)}")
        feature = names.index(feature)
    inputs = np.asarray(X, dtype=np.float64)
    low, high = inputs[:, feature].min(), inputs[:, feature].max()
    rows = np.tile(np.median(inputs, axis=0) if at is None else np.asarray(at, dtype=np.float64), (points, 1))
    rows[:, feature] = np.linspace(low - margin * (high - low), high + margin * (high - low), points)
    return rows, feature


def plot_regression(estimator, X: Any = None, y: Any = None, *, feature: Any = 0, at: Any = None, output: int = 0,
                    level: float = 0.95, points: int = 300, margin: float = 0.05, ax: Any = None):
    """Mean, interval of the function and of new readings along one input; readings, and in red those suspected.

    X, y : the readings that were fitted; without y they are not drawn.
    feature : number or name of the input to go along. Default: the first.
    at : values of all inputs, at which the others are held. Default: medians of X.
    """
    if X is None:
        raise ValueError("plot() needs X, the inputs that were fitted: they say where to draw")
    ax = _axes(ax)
    rows, j = _line(estimator, X, feature, at, points, margin)
    names = getattr(estimator, "feature_names_in_", None)
    asked = rows
    if names is not None:
        import pandas
        asked = pandas.DataFrame(rows, columns=names)

    def of(values):
        values = np.asarray(values)
        return values[:, output] if values.ndim == 2 else values

    mean, sd = (of(part) for part in estimator.predict(asked, return_std=True))
    low, high = (of(part) for part in estimator.predict_interval(asked, level))
    x = rows[:, j]
    ax.fill_between(x, low, high, color="C0", alpha=0.15, linewidth=0, label=f"{100 * level:g} % of readings")
    ax.fill_between(x, mean - 1.96 * sd, mean + 1.96 * sd, color="C0", alpha=0.3, linewidth=0, label="95 % of the function")
    ax.plot(x, mean, color="C0", label="mean")
    if y is not None:
        readings, inputs = of(np.asarray(y, dtype=np.float64)), np.asarray(X, dtype=np.float64)[:, j]
        suspected = of(estimator.suspected_) if len(estimator.suspected_) == len(inputs) else np.zeros(len(inputs), bool)
        ax.plot(inputs[~suspected], readings[~suspected], ".", color="black", markersize=4, label="readings")
        if suspected.any():
            ax.plot(inputs[suspected], readings[suspected], "x", color="red", label="suspected")
    ax.set_xlabel(estimator.model_.feature_names[j])
    ax.set_ylabel(estimator.target_names_[output])
    ax.legend(loc="best", fontsize="small")
    return ax


def plot_study(study, *, outcome: Optional[str] = None, ax: Any = None):
    """Values of the trials in their order, in red those that are set aside, and what was the best so far."""
    ax = _axes(ax)
    outcome = outcome or study.outcomes[0]
    trials = [trial for trial in study.trials if trial.state == "told"]
    number = np.array([trial.id for trial in trials])
    value = np.array([trial.values[outcome] for trial in trials])
    aside = np.array([trial.aside for trial in trials], dtype=bool)
    ax.plot(number[~aside], value[~aside], ".", color="black", label="trials")
    if aside.any():
        ax.plot(number[aside], value[aside], "x", color="red", label="set aside")
    best = study.best
    ax.axhspan(best.lower, best.upper, color="C0", alpha=0.2, linewidth=0)
    ax.axhline(best.mean, color="C0", label="best, with its interval")
    ax.set_xlabel("trial")
    ax.set_ylabel(outcome)
    ax.legend(loc="best", fontsize="small")
    return ax


def plot_envelope(envelope, *, low: Optional[float] = None, high: Optional[float] = None, feature: int = 0, at: Any = None,
                  points: int = 300, ax: Any = None):
    """The bounds along one input, from low to high, the others held at `at`."""
    if low is None or high is None:
        raise ValueError("plot() needs low and high, the ends of the input to go along")
    ax = _axes(ax)
    rows = np.zeros((points, envelope.dimension)) if at is None else np.tile(np.asarray(at, dtype=np.float64), (points, 1))
    rows[:, feature] = np.linspace(low, high, points)
    lower, upper = envelope.bounds(rows)
    ax.fill_between(rows[:, feature], lower, upper, color="C2", alpha=0.3, linewidth=0, label="sure bounds")
    ax.set_xlabel(envelope.names[feature] if envelope.names else f"x{feature + 1}")
    ax.legend(loc="best", fontsize="small")
    return ax
