# SPDX-License-Identifier: Apache-2.0
"""Holdfast: robust Gaussian processes.

    import holdfast
    gp = holdfast.GPRegressor().fit(X, y)             # wrong readings are set aside
    mean, sd = gp.predict(X_new, return_std=True)
    low, high = gp.predict_interval(X_new)            # 95 % of new readings
    gp.suspected_, gp.report_, gp.notes_

GPClassifier and CountRegressor are for labels and counts, Envelope for bounds that surely hold, Study for optimisation,
Track for what drifts, certify() for proofs about predictions.

A thin face over the C library of that name, which does all the computing; only numpy is needed.
"""
from ._library import ArgumentError, Cancelled, FileError, HoldfastError, OutOfMemory, version as __version__
from ._model import Model, Report
from .certify import certify
from .envelope import Envelope
from .estimators import CountRegressor, GPClassifier, GPRegressor
from .study import AtLeast, AtMost, Category, Integer, Ordered, Real, Study, Trial
from .track import Track


def load(path) -> Model:
    """The model of a file, whoever saved it."""
    return Model.load(path)


__all__ = ["ArgumentError", "AtLeast", "AtMost", "Cancelled", "Category", "CountRegressor", "Envelope", "FileError",
           "GPClassifier", "GPRegressor", "HoldfastError", "Integer", "Model", "Ordered", "OutOfMemory", "Real", "Report",
           "Study", "Track", "Trial", "certify", "load", "__version__"]
