# SPDX-License-Identifier: Apache-2.0
"""Sure bounds: what a function can be whose readings are off by no more than is known."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Optional, Sequence

import numpy as np

from . import _inputs
from ._inputs import address
from ._library import Record, as_dict, columns, context, file_bytes, lib, locked, make_settings, of_file_bytes, strings


def parse_kernel(expression: str, dimension: int, names: Optional[Sequence[str]] = None) -> int:
    """A kernel of the library; to be freed by hf_kernel_free."""
    ctx, made = context(), ctypes.c_void_p()
    listed = None if names is None else strings(names)
    ctx.check(lib.hf_kernel_parse(ctx.pointer, str(expression).encode(), listed and ctypes.addressof(listed), dimension,
                                  ctypes.byref(made)))
    return made.value


def _bounded(X, y, noise, below, above, offset):
    """The readings as a struct, and what it points to."""
    X = np.ascontiguousarray(_inputs.input_array(X, owner="Envelope"))
    y = np.ascontiguousarray(_inputs.reading_array(y, len(X))[0][:, 0])
    kept = [X, y]
    struct = lib.struct("hf_bounded_readings", n=len(X), x=address(X), ldx=X.shape[1], y=address(y), noise_bound=float(noise),
                        offset=float(offset))
    for name, limits in (("below", below), ("above", above)):
        values = _inputs.beside_array(limits, len(X), name)
        if values is not None:
            kept.append(np.ascontiguousarray(values.reshape(-1)))
            setattr(struct, name, address(kept[-1]))
    return struct, kept


class Envelope:
    """Bounds between which every function lies that meets the readings and has an RKHS norm of at most `norm`.

    Parameters
    ----------
    X : (n, d) inputs, in any units; y : (n,) readings
    kernel : str
        Kernel with all its values written, in x1, x2, ... or `names`: "4*se(lengthscale=0.3)".
    norm : float
        What the norm of the function less `offset` is at most.
    noise : float
        How far a reading can be off, in units of y. Default: 0.
    below, above : (n,) or float, optional
        f(x_i) is between y_i - below_i and y_i + above_i; in place of noise.
    offset : float
        Norms are those of f - offset. Default: 0.
    jitter, reserve, rigorous
        As in hf_envelope_settings (holdfast/envelope.h).
    names : names of the inputs for the kernel and files

    Attributes
    ----------
    norm, minimum_norm, n_readings, dimension, offset, kernel
    """

    def __init__(self, X, y, *, kernel: str, norm: float, noise: float = 0.0, below: Any = None, above: Any = None,
                 offset: float = 0.0, jitter: float = 0.0, reserve: int = 0, rigorous: bool = False,
                 names: Optional[Sequence[str]] = None):
        self._pointer, self._lock = None, threading.RLock()
        given = _inputs.names_of(X)
        self.names = list(names) if names is not None else None if given is None else [str(name) for name in given]
        readings, self._kept = _bounded(X, y, noise, below, above, offset)
        settings = make_settings("hf_envelope_settings", jitter=jitter, reserve=reserve, rigorous=rigorous)
        expression = parse_kernel(kernel, self._kept[0].shape[1], self.names)
        made = ctypes.c_void_p()
        try:
            context().prepare().long_call(lib.hf_envelope_create, expression, ctypes.byref(readings), float(norm),
                                          ctypes.byref(settings), ctypes.byref(made))
        finally:
            lib.hf_kernel_free(expression)
        self._pointer = made.value

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.hf_envelope_free(self._pointer)

    norm = property(lambda self: lib.hf_envelope_norm(self._pointer), doc="The norm bound.")
    minimum_norm = property(lambda self: lib.hf_envelope_minimum_norm(self._pointer),
                            doc="Norm of the smoothest function that meets all readings.")
    n_readings = property(lambda self: lib.hf_envelope_readings(self._pointer), doc="Distinct inputs.")
    dimension = property(lambda self: lib.hf_envelope_dimension(self._pointer), doc="Number of inputs.")
    offset = property(lambda self: lib.hf_envelope_offset(self._pointer), doc="The offset that norms are without.")
    kernel = property(lambda self: lib.hf_kernel_expression(lib.hf_envelope_kernel(self._pointer)).decode(),
                      doc="The kernel's expression.")

    def _rows(self, X):
        X = np.ascontiguousarray(_inputs.input_array(X, owner="Envelope"))
        if X.shape[1] != self.dimension:
            raise ValueError(f"X has {X.shape[1]} features, but Envelope is expecting {self.dimension} features as input.")
        return X

    @locked
    def query(self, X, *, gap: float = 0.0, pivots: int = 0, seconds: float = 0.0) -> Record:
        """Bounds at m rows of X (m, d) with how loose they may be: lower, upper, gap_lower, gap_upper (units of y), active_lower,
        active_upper (readings that decide), pivots, (m,) each.

        gap (units of y), pivots, seconds : when a query may end early, as in hf_envelope_limits. Default: none.
        """
        X = self._rows(X)
        limits = lib.struct("hf_envelope_limits", gap=float(gap), pivots=int(pivots), seconds=float(seconds))
        out = (lib.struct_class("hf_bound") * len(X))()
        context().prepare().long_call(lib.hf_envelope_bounds_batch, self._pointer, len(X), address(X), X.shape[1],
                                      ctypes.byref(limits), ctypes.addressof(out))
        return Record(**columns(out))

    def bounds(self, X):
        """(lower, upper) at m rows of X (m, d), units of y; (m,) each. Order rows along a path: neighbours are quicker."""
        found = self.query(X)
        return found.lower, found.upper

    @locked
    def add(self, x, y: float, below: float, above: Optional[float] = None) -> None:
        """A further reading at x (d,): f(x) is between y - below and y + above, units of y. HoldfastError for one that
        contradicts the others."""
        point = np.ascontiguousarray(x, dtype=np.float64).reshape(-1)
        if point.size != self.dimension:
            raise ValueError(f"x has {point.size} inputs; {self.dimension} are needed")
        ctx = context()
        ctx.check(lib.hf_envelope_add(ctx.pointer, self._pointer, address(point), float(y), float(below),
                                      float(below if above is None else above)))

    @staticmethod
    def consistency(X, y, *, kernel: str, norm: float = float("inf"), noise: float = 0.0, below: Any = None, above: Any = None,
                    offset: float = 0.0) -> Record:
        """Whether readings X (n, d) and y (n,) fit together with the norm bound: minimum_norm, noise_factor (by which all noise
        bounds would have to grow), rows that contradict each other (`conflict`, from 0), ... Arguments are those of Envelope."""
        readings, kept = _bounded(X, y, noise, below, above, offset)
        expression = parse_kernel(kernel, kept[0].shape[1])
        out, conflict = lib.struct("hf_consistency"), np.empty(len(kept[0]), np.uintp)
        try:
            context().prepare().long_call(lib.hf_envelope_consistency, expression, ctypes.byref(readings), float(norm),
                                          ctypes.byref(out), address(conflict))
        finally:
            lib.hf_kernel_free(expression)
        return Record(conflict=conflict[:out.conflicting].astype(int).tolist(), **as_dict(out))

    @locked
    def save(self, path, target: str = "y") -> None:
        """Saves to a file, which the tool reads too."""
        listed = None if self.names is None else strings(self.names)
        labels = lib.struct("hf_envelope_labels", target=target.encode(), feature_count=len(self.names or []))
        if listed is not None:
            labels.features = ctypes.addressof(listed)
        ctx = context()
        ctx.check(lib.hf_envelope_save(ctx.pointer, self._pointer, ctypes.byref(labels), os.fsencode(path)))

    @classmethod
    def load(cls, path) -> "Envelope":
        """The envelope of a file."""
        ctx, made, labels = context(), ctypes.c_void_p(), ctypes.c_void_p()
        ctx.check(lib.hf_envelope_load(ctx.pointer, os.fsencode(path), ctypes.byref(made), ctypes.byref(labels)))
        self = cls.__new__(cls)
        self._pointer, self._kept, self._lock = made.value, [], threading.RLock()
        try:
            known = lib.struct_at("hf_envelope_labels", labels.value)
            names = (ctypes.c_char_p * known.feature_count).from_address(known.features) if known.features else []
            self.names = [name.decode() for name in names] or None
        finally:
            lib.hf_envelope_labels_free(labels)
        return self

    def __reduce__(self):
        return Envelope._of_bytes, (file_bytes(self.save, "envelope.hf"),)

    @classmethod
    def _of_bytes(cls, content):
        return of_file_bytes(cls.load, "envelope.hf", content)

    def plot(self, **options):
        """The bounds along one input; see holdfast.plot."""
        from .plot import plot_envelope
        return plot_envelope(self, **options)
