# SPDX-License-Identifier: Apache-2.0
"""Certificates: ranges that a prediction surely does not leave while its inputs move within a box."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

import numpy as np

from ._inputs import address
from ._library import Record, columns, context, enum_name, enum_number, lib, make_settings
from ._model import Model


def _boxes(lower, upper, features):
    sides = []
    for name, side in (("lower", lower), ("upper", upper)):
        array = np.ascontiguousarray(side, dtype=np.float64)
        if array.ndim not in (1, 2) or array.shape[-1] != features:
            raise ValueError(f"{name} has the shape {array.shape}; a box has {features} sides, m boxes are (m, {features})")
        sides.append(np.atleast_2d(array))
    if sides[0].shape != sides[1].shape:
        raise ValueError(f"lower has the shape {sides[0].shape}, and upper {sides[1].shape}; they must agree")
    return np.ascontiguousarray(sides[0]), np.ascontiguousarray(sides[1])


def _costs(estimator, model, loss):
    """The loss in the order of the model's classes, (k, k)."""
    classes = len(model.classes)
    given = np.asarray(loss, dtype=np.float64)
    if given.shape == (classes,):
        given = np.where(np.eye(classes, dtype=bool), 0.0, given[np.newaxis, :])
    if given.shape != (classes, classes):
        raise ValueError(f"loss has the shape {given.shape}; {classes} costs, one a class, or {classes} x {classes} are asked for")
    order = np.arange(classes) if getattr(estimator, "_order", None) is None else np.asarray(estimator._order)
    own = np.empty((classes, classes))
    own[np.ix_(order, order)] = given
    return own


def certify(model: Any, lower: Any, upper: Any, what: str = "mean", *, class_: Any = None, loss: Any = None, output: int = 0,
            beta: Optional[float] = None, tolerance: Optional[float] = None, time_limit: Optional[float] = None,
            node_limit: Optional[int] = None, rigorous: bool = False, observed: bool = False,
            threads: Optional[int] = None, progress: Any = None) -> Record:
    """The range of a prediction over boxes of inputs: no input in the box gives a value outside of it.

    Parameters
    ----------
    model : a fitted estimator, or a Model
    lower, upper : (d,) or (m, d)
        Sides of a box or of m boxes, units of the inputs; equal ones hold an input fixed.
    what : "mean", "sd" or "mean-plus" (mean + beta sd)
        Of a classifier it is the probability of `class_` instead.
    class_ : of a classifier, one of its classes. Default: the second of two.
    loss : (k, k) or (k,)
        Of a classifier of k classes: the expected loss of deciding for `class_` is enclosed, in place of its probability.
        loss[a, b] is what the decision a costs where the class is b, both in the order of classes_; (k,): what it costs to
        miss each class.
    output : of several outputs, which
    beta, tolerance, time_limit (seconds), node_limit, rigorous, observed
        As in hf_certify_settings (holdfast/certify.h).

    Returns
    -------
    Record of arrays (m,), or numbers for one box: lower, upper (nothing lies outside), lower_attained, upper_attained,
    argmin, argmax (where), stop, nodes, seconds, rounding, rigorous, estimate.

    Units: those of the target; of counts and amounts, log rate. Models with a transform or with prior means of their rows
    are refused, since what they predict is not what their posterior is of.
    """
    estimator, model = model, getattr(model, "model_", model)
    if not isinstance(model, Model):
        raise TypeError(f"certify() takes a fitted estimator or a Model, not {type(model).__name__}")
    if model.transform != "none" or lib.hf_model_mean_column(model._pointer):
        raise ValueError("certify() is about models without a transform and without prior means of their rows")
    low, high = _boxes(lower, upper, model.n_features)
    settings = make_settings("hf_certify_settings", beta=beta, output=output, tolerance=tolerance, time_limit=time_limit,
                             node_limit=node_limit, rigorous=rigorous, observed=observed)
    m = len(low)
    out, argmin, argmax = (lib.struct_class("hf_range") * m)(), np.empty_like(low), np.empty_like(low)
    ends = (ctypes.byref(settings), m, address(low), address(high), ctypes.addressof(out), address(argmin), address(argmax))
    ctx = context().prepare(threads)
    classifier = lib.hf_model_classifier(model._pointer)
    if classifier:
        settings.output = _class_number(estimator, model, class_)
        if loss is None:
            ctx.long_call(lib.hf_certify_class, classifier, *ends, progress=progress)
        else:
            costs = _costs(estimator, model, loss)
            ctx.long_call(lib.hf_certify_loss, classifier, address(costs), *ends, progress=progress)
    elif loss is not None:
        raise ValueError("loss is for classifiers; this is a model of readings")
    else:
        number = enum_number("CERTIFY_WHAT", what)
        ctx.long_call(lib.hf_certify_boxes, model._posterior, number, *ends, progress=progress)
    made = columns(out)
    made["stop"] = np.array([enum_name("CERTIFY_STOP", int(number)) for number in made["stop"]], dtype=object)
    made.update(argmin=argmin, argmax=argmax)
    if np.ndim(lower) == 1:
        made = {name: values[0] for name, values in made.items()}
    return Record(**made)


def _class_number(estimator, model, class_):
    names = model.classes
    if class_ is None:
        if len(names) != 2:
            raise ValueError(f"class_ says which class is meant; there are {', '.join(map(repr, names))}")
        number = 1
    else:
        classes = getattr(estimator, "classes_", np.array(names, dtype=object)).tolist()
        if class_ not in classes:
            raise ValueError(f"there is no class {class_!r}; there are {', '.join(map(repr, classes))}")
        number = classes.index(class_)
    order = getattr(estimator, "_order", None)
    return number if order is None else int(order[number])
