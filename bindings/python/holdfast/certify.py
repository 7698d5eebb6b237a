# SPDX-License-Identifier: Apache-2.0
"""Certificates: ranges that a prediction surely does not leave while its inputs move within a box."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Optional

import numpy as np

from ._inputs import address
from ._library import Record, columns, context, enum_name, enum_number, lib, make_settings
from ._model import Model


def _boxes(features, **sides):
    """Arrays (m, features) of one shape, by their names."""
    arrays = {}
    for name, side in sides.items():
        array = np.ascontiguousarray(side, dtype=np.float64)
        if array.ndim not in (1, 2) or array.shape[-1] != features:
            raise ValueError(f"{name} has the shape {array.shape}; a box has {features} sides, m boxes are (m, {features})")
        arrays[name] = np.ascontiguousarray(np.atleast_2d(array))
        if arrays[name].shape != arrays["lower"].shape:
            raise ValueError(f"lower has the shape {arrays['lower'].shape}, and {name} {array.shape}; they must agree")
    return arrays.values()


def _classes(estimator, model):
    """The classes as the user has them, and the number of each in the model."""
    names = model.classes
    own, order = getattr(estimator, "classes_", np.array(names, dtype=object)), getattr(estimator, "_order", None)
    return own, np.arange(len(names)) if order is None else np.asarray(order)


def _costs(order, loss):
    """The loss in the order of the model's classes, (k, k)."""
    classes = len(order)
    given = np.asarray(loss, dtype=np.float64)
    if given.shape == (classes,):
        given = np.where(np.eye(classes, dtype=bool), 0.0, given[np.newaxis, :])
    if given.shape != (classes, classes):
        raise ValueError(f"loss has the shape {given.shape}; {classes} costs, one a class, or {classes} x {classes} are asked for")
    own = np.empty((classes, classes))
    own[np.ix_(order, order)] = given
    return own


def _class_number(own, order, class_):
    classes = own.tolist()
    if class_ is None and len(classes) != 2:
        raise ValueError(f"class_ says which class is meant; there are {', '.join(map(repr, classes))}")
    if class_ is not None and class_ not in classes:
        raise ValueError(f"there is no class {class_!r}; there are {', '.join(map(repr, classes))}")
    return int(order[1 if class_ is None else classes.index(class_)])


def _question(classifier, what, asked):
    """The question in full, with its default; refuses keywords that do not go with it."""
    given = {name for name, value in asked.items() if value is not None}
    if not classifier:
        if "loss" in given:
            raise ValueError("loss is for classifiers; this is a model of readings")
        kinds, what = ("mean", "sd", "mean-plus"), what or "mean"
    else:
        kinds, what = ("probability", "loss", "decision"), what or ("loss" if "loss" in given else "probability")
    if what not in kinds:
        raise ValueError(f"what is {what!r}; of this model it is {', '.join(kinds[:-1])} or {kinds[-1]}")
    other = given & {"mean": {"class_", "x", "beta", "observed"}, "sd": {"class_", "x", "beta"}, "mean-plus": {"class_", "x"},
                     "probability": {"loss", "x", "beta", "output"}, "loss": {"x", "beta", "output"},
                     "decision": {"class_", "tolerance", "beta", "output"}}[what]
    if other:
        raise ValueError(f"what={what!r} does not go with {' and '.join(sorted(other))}")
    return what


def certify(model: Any, lower: Any, upper: Any, what: Optional[str] = None, *, class_: Any = None, loss: Any = None,
            x: Any = None, output: int = 0, beta: Optional[float] = None, tolerance: Optional[float] = None,
            time_limit: Optional[float] = None, node_limit: Optional[int] = None, rigorous: bool = False,
            observed: bool = False, threads: Optional[int] = None, progress: Any = None) -> Record:
    """The range of a prediction over boxes of inputs: no input in the box gives a value outside of it. Of a classifier also
    whether its decision is the same in the whole box.

    Parameters
    ----------
    model : a fitted estimator, or a Model
    lower, upper : (d,) or (m, d)
        Sides of a box or of m boxes, units of the inputs; equal ones hold an input fixed.
    what : of readings "mean" (the default), "sd" or "mean-plus" (mean + beta sd); of a classifier
        "probability" of `class_` (the default), "loss" that is expected of deciding for `class_` (the default with `loss`), or
        "decision": whether the class of the point x is that of every point of the box.
    class_ : of a classifier, one of its classes. Default: the second of two.
    loss : (k, k) or (k,)
        Of a classifier of k classes: loss[a, b] is what the decision a costs where the class is b, both in the order of
        classes_; (k,): what it costs to miss each class. A "decision" is then the class of the least expected loss.
        Default: every wrong decision costs 1, and the most probable class is decided for. The model stays as it is.
    x : (d,) or (m, d)
        The points of a "decision", each inside its box. Default: the middles of the boxes.
    output : of several outputs, which
    beta, tolerance, time_limit (seconds), node_limit, rigorous, observed
        As in hf_certify_settings (holdfast/certify.h).

    Returns
    -------
    Record of arrays (m,), or numbers for one box. Of a range: lower, upper (nothing lies outside), lower_attained,
    upper_attained, argmin, argmax (where), stop, nodes, seconds, rounding, rigorous, estimate. Of a decision: winner (the class
    at x), verdict ("certified": it is that of the whole box; "counterexample": a point of another class was found; "open": a
    limit came first, or it is too close to call), counterexample (that point, else NaN), nodes, seconds, estimate.

    Units: those of the target; of counts and amounts, log rate. Models with a transform or with prior means of their rows
    are refused, since what they predict is not what their posterior is of.
    """
    estimator, model = model, getattr(model, "model_", model)
    if not isinstance(model, Model):
        raise TypeError(f"certify() takes a fitted estimator or a Model, not {type(model).__name__}")
    if model.transform != "none" or lib.hf_model_mean_column(model._pointer):
        raise ValueError("certify() is about models without a transform and without prior means of their rows")
    low, high = _boxes(model.n_features, lower=lower, upper=upper)
    classifier = lib.hf_model_classifier(model._pointer)
    what = _question(bool(classifier), what, {"class_": class_, "loss": loss, "x": x, "tolerance": tolerance,
                                          "observed": observed or None, "beta": beta, "output": output or None})
    settings = make_settings("hf_certify_settings", beta=beta, output=output, tolerance=tolerance, time_limit=time_limit,
                             node_limit=node_limit, rigorous=rigorous, observed=observed)
    if classifier:
        own, order = _classes(estimator, model)
        costs = None if loss is None else _costs(order, loss)
    if classifier and what != "decision":
        settings.output = _class_number(own, order, class_)
    call = functools.partial(context().prepare(threads).long_call, progress=progress)
    if what == "decision":
        made = _decisions(call, classifier, costs, settings, low, high, x)
        made["winner"] = own[np.argsort(order)[made["winner"].astype(np.intp)]]
    elif what == "loss":
        made = _ranges(call, lib.hf_certify_loss, (classifier, _address(costs)), settings, low, high)
    elif what == "probability":
        made = _ranges(call, lib.hf_certify_class, (classifier,), settings, low, high)
    else:
        made = _ranges(call, lib.hf_certify_boxes, (model._posterior, enum_number("CERTIFY_WHAT", what)), settings, low, high)
    if np.ndim(lower) == 1:
        made = {name: values[0] for name, values in made.items()}
    return Record(**made)


def _address(array):
    return None if array is None else address(array)


def _words(name, numbers):
    return np.array([enum_name(name, int(number)) for number in numbers], dtype=object)


def _ranges(call, function, of, settings, low, high):
    out, argmin, argmax = (lib.struct_class("hf_range") * len(low))(), np.empty_like(low), np.empty_like(low)
    call(function, *of, ctypes.byref(settings), len(low), address(low), address(high), ctypes.addressof(out), address(argmin),
         address(argmax))
    made = columns(out)
    made.update(stop=_words("CERTIFY_STOP", made["stop"]), argmin=argmin, argmax=argmax)
    return made


def _decisions(call, classifier, costs, settings, low, high, x):
    if x is None:
        with np.errstate(invalid="ignore"):  # the library says that an infinite side is none
            x = np.clip(0.5 * low + 0.5 * high, low, high)
    else:
        _, x = _boxes(low.shape[1], lower=low, x=x)
    out, counterexample = (lib.struct_class("hf_decision") * len(low))(), np.empty_like(low)
    call(lib.hf_certify_decision, classifier, _address(costs), ctypes.byref(settings), len(low), address(x), address(low),
         address(high), ctypes.addressof(out), address(counterexample))
    made = columns(out)
    made.update(verdict=_words("VERDICT", made["verdict"]), counterexample=counterexample)
    return made
