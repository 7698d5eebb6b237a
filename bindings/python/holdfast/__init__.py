# SPDX-License-Identifier: Apache-2.0
"""Holdfast: robust Gaussian processes.

    import holdfast
    gp = holdfast.GPRegressor().fit(X, y)             # wrong readings are set aside
    mean, sd = gp.predict(X_new, return_std=True)
    low, high = gp.predict_interval(X_new)            # 95 % of new readings
    gp.suspected_, gp.report_, gp.notes_

A thin face over the C library of that name, which does all the computing; only numpy is needed.
"""
from ._library import ArgumentError, Cancelled, FileError, HoldfastError, OutOfMemory, version as __version__
from ._model import Model, Report
from .estimators import CountRegressor, GPClassifier, GPRegressor


def load(path) -> Model:
    """The model of a file, whoever saved it."""
    return Model.load(path)


__all__ = ["ArgumentError", "Cancelled", "CountRegressor", "FileError", "GPClassifier", "GPRegressor", "HoldfastError", "Model",
           "OutOfMemory", "Report", "load", "__version__"]
