# SPDX-License-Identifier: Apache-2.0
"""Tracks: optimising what drifts, with an expert who may be asked to measure again."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Optional, Sequence

import numpy as np

from ._inputs import address
from ._library import (Record, as_dict, check_settings, context, enum_name, enum_number, lib, locked, refuse_unknown,
                       setting_names, strings, take_settings)

# Members of hf_track_settings that have keywords of another name.
_OTHERS = {"method", "mean_given", "age.kind", "age.rate"}


def known_settings() -> set:
    """Settings of a track that are keywords of their own name."""
    return set(setting_names("hf_track_settings")) - _OTHERS


def _opened(path, threads):
    return Track(path=path, threads=threads)


class Track:
    """Maximises (or minimises) f_t(x) while t goes on; or only tracks it.

    Parameters
    ----------
    lower, upper : (d,) sides of the box of x; or
    candidates : (k, d) the places that may be chosen
    method : str, default "sparq-reuse", as the tool's
        gp-ucb, r-gp-ucb, sw-gp-ucb, tv-gp-ucb, w-gp-ucb, ui-gp-ucb, sparq, sparq-reuse; see holdfast/track.h.
    rate : float
        Largest drift per unit of time, units of y; the age law's. Required by ui-gp-ucb, sparq and sparq-reuse.
    age : str, default "quadratic"
        Law of ageing: none, quadratic, linear, exponential, wiener.
    path : path, optional
        A file that keeps the track. Without lower, upper and candidates it is opened, else made.
    target, labels : names of the quantity and of the candidates, for files
    names : names of the inputs
    minimise, kernel, noise (a variance), expert_noise, mean, discard, discard_variance, negligible, window, forgetting,
    beta_rule, beta, norm_bound, delta, robust, places, query_factor, query_power, queries, every, tolerance, superseded,
    expert_after, most_places, samples, starts, iterations, resolution
        As in hf_track_settings. Default of each: that of the library for the method.

    Attributes
    ----------
    summary : Record of clock, step, told, asked, requested, answered, regret, ...
    readings : list of Record, those in memory
    requests : list of Record of id, time, x, index, sd: what the expert was asked and did not answer
    """

    def __init__(self, lower: Any = None, upper: Any = None, *, candidates: Any = None, method: str = "sparq-reuse",
                 rate: Optional[float] = None, age: Optional[str] = None, path: Any = None, target: str = "y",
                 labels: Optional[Sequence[str]] = None, names: Optional[Sequence[str]] = None, mean: Optional[float] = None,
                 threads: Optional[int] = None, **settings: Any):
        self._pointer, self._threads, self._lock = None, threads, threading.RLock()
        self._path = None if path is None else os.path.abspath(os.fsdecode(path))
        ctx, made = self._context(), ctypes.c_void_p()
        if lower is None and upper is None and candidates is None:
            if path is None:
                raise TypeError("a track needs lower and upper, or candidates, or the path of a file that has them")
            ctx.check(lib.hf_track_file_open(ctx.pointer, os.fsencode(path), True, ctypes.byref(made)))
        else:
            struct, self._kept = self._settings(lower, upper, candidates, method, rate, age, names, mean, settings)
            listed = None if labels is None else strings(labels)
            if path is None:
                ctx.check(lib.hf_track_create(ctx.pointer, ctypes.byref(struct), ctypes.byref(made)))
            else:
                ctx.check(lib.hf_track_file_create(ctx.pointer, os.fsencode(path), ctypes.byref(struct), target.encode(),
                                                   listed and ctypes.addressof(listed), ctypes.byref(made)))
        self._pointer = made.value
        used = lib.struct_at("hf_track_settings", lib.hf_track_settings_of(self._pointer))
        self.dimension = used.domain.dimension
        self.method = enum_name("TRACK_METHOD", used.method)
        self.names = [lib.hf_track_name(self._pointer, i).decode() for i in range(self.dimension)]

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.hf_track_free(self._pointer)

    def _context(self):
        return context().prepare(self._threads)

    @staticmethod
    def _settings(lower, upper, candidates, method, rate, age, names, mean, settings):
        struct = lib.struct("hf_track_settings")
        ctx = context()
        ctx.check(lib.hf_track_settings_init(ctypes.byref(struct), ctypes.sizeof(struct), enum_number("TRACK_METHOD", method)))
        kept = []
        if candidates is not None:
            points = np.ascontiguousarray(candidates, dtype=np.float64)
            points = points.reshape(len(points), -1)
            kept.append(points)
            struct.domain.dimension, struct.domain.candidates = points.shape[1], len(points)
            struct.domain.points = address(points)
        else:
            if lower is None or upper is None:
                raise TypeError("a box has both lower and upper sides")
            sides = [np.ascontiguousarray(np.atleast_1d(side), dtype=np.float64) for side in (lower, upper)]
            if sides[0].shape != sides[1].shape or sides[0].ndim != 1:
                raise ValueError(f"lower has the shape {sides[0].shape}, and upper {sides[1].shape}; both need (d,)")
            kept += sides
            struct.domain.dimension = sides[0].size
            struct.domain.lower, struct.domain.upper = address(sides[0]), address(sides[1])
        if names is not None:
            kept.append(strings(names))
            struct.names = ctypes.addressof(kept[-1])
        struct.mean_given = mean is not None
        refuse_unknown("a track", known_settings(), settings)
        settings = dict(settings, mean=mean, **{"age.kind": age, "age.rate": rate})
        kept += take_settings("hf_track_settings", struct, settings)
        check_settings("hf_track_settings", struct, [name for name, value in settings.items() if value is not None])
        return struct, kept

    def _point(self, x):
        point = np.ascontiguousarray(np.atleast_1d(x), dtype=np.float64).reshape(-1)
        if point.size != self.dimension:
            raise ValueError(f"x has {point.size} inputs; {self.dimension} are needed")
        return point

    # ---- steps ----

    @locked
    def ask(self, time: float) -> Record:
        """The next place at a time: x, mean, sd, bound, beta, index (of a candidate), readings, answers, ..."""
        x, out = np.empty(self.dimension), lib.struct("hf_suggestion")
        self._context().long_call(lib.hf_track_ask, self._pointer, float(time), address(x), ctypes.byref(out))
        return Record(x=x, **as_dict(out))

    @locked
    def tell(self, time: float, x: Any, y: float, *, noise: float = 0.0) -> int:
        """A reading y of f_time(x); noise is its variance, 0 the track's. Returns its number."""
        point, number, ctx = self._point(x), ctypes.c_uint64(), self._context()
        ctx.check(lib.hf_track_tell(ctx.pointer, self._pointer, float(time), address(point), float(y), float(noise),
                                    ctypes.byref(number)))
        return number.value

    @locked
    def request(self, time: float) -> list:
        """Where the expert should measure at this time: the open requests, those of earlier times too."""
        count = ctypes.c_size_t()
        self._context().long_call(lib.hf_track_requests, self._pointer, float(time), ctypes.byref(count))
        return self.requests

    @locked
    def answer(self, request: Any, y: float, *, time: Optional[float] = None, noise: float = 0.0) -> None:
        """The expert's answer to a request (or its id), measured at `time`; noise is its variance, 0 the track's."""
        ctx = self._context()
        ctx.check(lib.hf_track_answer(ctx.pointer, self._pointer, getattr(request, "id", request),
                                      float("nan") if time is None else float(time), float(y), float(noise)))

    @locked
    def fit(self) -> "Track":
        """Trains kernel, noise and rate by the newest readings, of which there must be 8."""
        self._context().long_call(lib.hf_track_fit, self._pointer)
        return self

    # ---- answers ----

    @locked
    def predict(self, time: float, X: Any):
        """Latent mean and sd of f_time at rows of X (m, d): (m,) each, units of y."""
        X = np.ascontiguousarray(X, dtype=np.float64).reshape(-1, self.dimension)
        posterior, spread, ctx = ctypes.c_void_p(), ctypes.c_void_p(), self._context()
        ctx.check(lib.hf_track_posterior(ctx.pointer, self._pointer, float(time), ctypes.byref(posterior), ctypes.byref(spread)))
        mean, variance = np.empty(len(X)), np.empty(len(X))
        try:
            ctx.long_call(lib.hf_predict, posterior, len(X), address(X), self.dimension, address(mean), address(variance), None)
            if spread.value:
                ctx.long_call(lib.hf_predict, spread, len(X), address(X), self.dimension, None, address(variance), None)
        finally:
            lib.hf_posterior_free(posterior)
            lib.hf_posterior_free(spread)
        return mean, np.sqrt(variance)

    @property
    @locked
    def summary(self) -> Record:
        """The track in numbers."""
        out = lib.struct("hf_track_summary")
        lib.hf_track_summary_of(self._pointer, ctypes.byref(out))
        return Record(**as_dict(out))

    def _with_place(self, entry):
        x = np.array((ctypes.c_double * self.dimension).from_address(entry.x))
        return Record(x=x, **as_dict(entry))

    @property
    @locked
    def requests(self) -> list:
        """Open requests, oldest first."""
        made, entry = [], lib.struct("hf_track_request")
        for index in range(lib.hf_track_pending_count(self._pointer)):
            context().check(lib.hf_track_request_at(self._pointer, index, ctypes.byref(entry)))
            made.append(self._with_place(entry))
        return made

    @property
    @locked
    def readings(self) -> list:
        """Readings in memory, in the order told: id, time, x, y, noise, weight, answer, counts, variance."""
        made, entry = [], lib.struct("hf_track_reading")
        for index in range(self.summary.held):
            context().check(lib.hf_track_reading_at(self._pointer, index, ctypes.byref(entry)))
            made.append(self._with_place(entry))
        return made

    def __reduce__(self):
        """A pickle names the file of a track, which one program at a time can go on with."""
        if self._path is None:
            raise TypeError("a track in memory cannot be pickled; give it path=, and the pickle names that file")
        return _opened, (self._path, self._threads)

    @property
    @locked
    def kernel(self) -> str:
        """The kernel's expression, with its values of now."""
        return lib.hf_kernel_expression(lib.hf_track_kernel(self._pointer)).decode()
