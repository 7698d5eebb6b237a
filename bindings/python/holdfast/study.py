# SPDX-License-Identifier: Apache-2.0
"""Studies: Bayesian optimisation whose evaluations may be wrong, missing or late."""
from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library
from ._inputs import address
from ._library import (Record, as_dict, check_settings, context, enum_name, enum_number, lib, locked, make_settings, place_of,
                       refuse_unknown, setting_names, strings, take_settings)


@dataclass(frozen=True)
class Real:
    """Any number from low to high; with log, ratios count and not differences."""
    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Integer:
    """Any whole number from low to high, ends included."""
    low: int
    high: int
    log: bool = False


@dataclass(frozen=True)
class Ordered:
    """One of levels that have an order: small, medium, large."""
    levels: Sequence[Any]


@dataclass(frozen=True)
class Category:
    """One of levels that have no order."""
    levels: Sequence[Any]


@dataclass(frozen=True)
class AtMost:
    """A constraint: the outcome is at most this."""
    limit: float


@dataclass(frozen=True)
class AtLeast:
    """A constraint: the outcome is at least this."""
    limit: float


Variable = Union[Real, Integer, Ordered, Category]
_KINDS = {Real: "HF_VARIABLE_REAL", Integer: "HF_VARIABLE_INTEGER", Ordered: "HF_VARIABLE_ORDERED", Category: "HF_VARIABLE_CATEGORY"}
_GOALS = {AtMost: "HF_GOAL_AT_MOST", AtLeast: "HF_GOAL_AT_LEAST"}


def _variable(name: str, given: Any) -> Variable:
    """Short forms: (0.1, 2.0) is real, (1, 8) is whole, a list is a category."""
    if isinstance(given, (Real, Integer, Ordered, Category)):
        return given
    if isinstance(given, list):
        return Category(given)
    if isinstance(given, tuple) and len(given) == 2:
        whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in given)
        return (Integer if whole else Real)(*given)
    raise TypeError(f"variable {name!r} is {given!r}; give (low, high), a list of levels, or Real, Integer, Ordered, Category")


def known_settings() -> set:
    """Settings of a study that are keywords of their own name."""
    return set(setting_names("hf_study_settings"))


class Trial(Record):
    """A trial: id, state, reason, settings (by name), values (by outcome), repeats, suspected, aside, mean, sd, note."""

    id: int
    settings: dict


def _opened(path, threads, levels):
    study = Study(path=path, threads=threads)
    study._levels = levels
    return study


class Study:
    """Looks for the settings of something that is expensive to try.

    Parameters
    ----------
    variables : mapping of name to (low, high), a list of levels, or Real, Integer, Ordered, Category
        What a trial sets. None opens the study of the file `path`.
    goal : str or mapping of name to str, AtMost or AtLeast
        "maximise" or "minimise" one outcome, named "value"; or several outcomes, one to three of them to be maximised or
        minimised, the others constraints.
    path : path, optional
        A file that keeps the study; several programs may use it at once. It must not be there, unless `variables` is None.
    preset, kernel, acquisition, thompson, beta, reach, regions, region_from, start, draws, robust, repeats, expert, expires,
    seed
        As in hf_study_settings (holdfast/study.h). Default of each: that of the library.
    threads : int, optional
        Threads of the library. Default: all processors.

    Several threads may use a study: they wait for each other. A study with a path can be pickled: the pickle names the file.

    Attributes
    ----------
    trials : list of Trial
    best : Record of settings, mean, lower, upper (a central 95 % interval), feasible, readings and trial
    front : list of Trial, nobody of which is dominated (several objectives)
    variables, outcomes : names

    Example
    -------
    >>> import holdfast
    >>> study = holdfast.Study({"x": (-2.0, 3.0)}, "minimise", seed=1)
    >>> for _ in range(12):
    ...     trial = study.ask()
    ...     study.tell(trial, (trial.settings["x"] - 1) ** 2)
    >>> abs(study.best.settings["x"] - 1) < 0.1
    True
    """

    def __init__(self, variables: Optional[Mapping[str, Any]] = None, goal: Any = "maximise", *, path: Any = None,
                 threads: Optional[int] = None, **settings: Any):
        self._pointer = None
        self._lock = threading.RLock()
        self._threads = threads
        self._levels = {}
        self._path = None if path is None else os.path.abspath(os.fsdecode(path))
        ctx, made = self._context(), ctypes.c_void_p()
        if variables is None:
            if path is None:
                raise TypeError("a study needs variables, or the path of a file that has them")
            ctx.long_call(lib.hf_study_file_open, os.fsencode(path), True, ctypes.byref(made))
        else:
            struct, self._kept = self._settings(variables, goal, settings)
            if path is None:
                ctx.check(lib.hf_study_create(ctx.pointer, ctypes.byref(struct), ctypes.byref(made)))
            else:
                ctx.check(lib.hf_study_file_create(ctx.pointer, os.fsencode(path), ctypes.byref(struct), ctypes.byref(made)))
        self._pointer = made.value
        self._notice()

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.hf_study_free(self._pointer)

    def _context(self):
        return context().prepare(self._threads)

    def _settings(self, variables, goal, settings):
        struct = make_settings("hf_study_settings")
        kept = []
        if not hasattr(variables, "items"):
            raise TypeError(f"variables is {variables!r}; it needs a dictionary: {{'x': (0.0, 1.0), 'kind': ['a', 'b']}}")
        specs = {str(name): _variable(name, given) for name, given in variables.items()}
        entries = (lib.struct_class("hf_variable") * max(1, len(specs)))()
        for entry, (name, spec) in zip(entries, specs.items()):
            entry.name, entry.kind = name.encode(), lib.enums["hf_variable_kind"][_KINDS[type(spec)]]
            if isinstance(spec, (Real, Integer)):
                entry.lower, entry.upper, entry.log = float(spec.low), float(spec.high), bool(spec.log)
                continue
            self._levels[name] = list(spec.levels)
            kept.append(strings(self._levels[name]))
            entry.levels, entry.level = len(self._levels[name]), ctypes.addressof(kept[-1])
        goals = {"value": goal} if isinstance(goal, str) else dict(goal)
        outcomes = (lib.struct_class("hf_outcome") * max(1, len(goals)))()
        for entry, (name, aim) in zip(outcomes, goals.items()):
            entry.name = str(name).encode()
            if type(aim) in _GOALS:
                entry.goal, entry.limit = lib.enums["hf_goal"][_GOALS[type(aim)]], float(aim.limit)
            else:
                entry.goal = enum_number("GOAL", aim)
        struct.variables, struct.variable = len(specs), ctypes.addressof(entries)
        struct.outcomes, struct.outcome = len(goals), ctypes.addressof(outcomes)
        refuse_unknown("a study", known_settings(), settings)
        kept += take_settings("hf_study_settings", struct, settings)
        check_settings("hf_study_settings", struct, [name for name, value in settings.items() if value is not None])
        return struct, kept + [entries, outcomes]

    def _notice(self):
        struct = lib.struct_at("hf_study_settings", lib.hf_study_settings_of(self._pointer))
        variables = (lib.struct_class("hf_variable") * struct.variables).from_address(struct.variable)
        outcomes = (lib.struct_class("hf_outcome") * struct.outcomes).from_address(struct.outcome)
        self.variables = [entry.name.decode() for entry in variables]
        self.outcomes = [entry.name.decode() for entry in outcomes]
        self._whole = {entry.name.decode() for entry in variables if entry.kind == lib.enums["hf_variable_kind"]["HF_VARIABLE_INTEGER"]}
        for entry in variables:
            name = entry.name.decode()
            if entry.levels and name not in self._levels:
                labels = (ctypes.c_char_p * entry.levels).from_address(entry.level)
                self._levels[name] = [label.decode() for label in labels]

    # ---- settings and values ----

    def _numbers(self, settings: Mapping[str, Any]) -> np.ndarray:
        missing = [name for name in self.variables if name not in settings]
        if missing or len(settings) != len(self.variables):
            raise ValueError(f"settings are needed for {', '.join(self.variables)}; these are for {', '.join(map(str, settings))}")
        made = np.empty(len(self.variables))
        for j, name in enumerate(self.variables):
            value = settings[name]
            if name in self._levels:
                if value not in self._levels[name]:
                    raise ValueError(f"variable {name!r} has no level {value!r}; it has {', '.join(map(repr, self._levels[name]))}")
                value = self._levels[name].index(value)
            made[j] = value
        return made

    def _named(self, numbers) -> dict:
        made = {}
        for name, value in zip(self.variables, numbers):
            if name in self._levels:
                made[name] = self._levels[name][int(value)]
            else:
                made[name] = int(value) if name in self._whole else float(value)
        return made

    def _values(self, values: Any, what: str) -> Optional[np.ndarray]:
        if values is None:
            return None
        if isinstance(values, Mapping):
            unknown = [name for name in values if name not in self.outcomes]
            if unknown:
                raise ValueError(f"there is no outcome {unknown[0]!r}; there are {', '.join(self.outcomes)}")
            values = [values.get(name, np.nan if what == "value" else 0.0) for name in self.outcomes]
        made = np.array([np.nan if value is None else value for value in np.atleast_1d(values)], dtype=np.float64)
        if made.shape != (len(self.outcomes),):
            raise ValueError(f"a {what} is needed for each of {', '.join(self.outcomes)}; there are {made.size}")
        return made

    def _trial(self, number: int) -> Trial:
        entry = lib.struct("hf_trial")
        context().check(lib.hf_study_trial(context().pointer, self._pointer, number, ctypes.byref(entry)))
        values = as_dict(entry)
        for name in ("value", "noise"):
            numbers = (ctypes.c_double * len(self.outcomes)).from_address(getattr(entry, name))
            values[name + "s"] = dict(zip(self.outcomes, numbers))
        values["settings"] = self._named((ctypes.c_double * len(self.variables)).from_address(entry.at))
        values["state"] = enum_name("TRIAL_STATE", entry.state)
        values["reason"] = enum_name("REASON", entry.reason)
        values["outcome"] = self.outcomes[entry.outcome] if entry.suspected else None
        values["repeats"] = values["repeats"] or None
        return Trial(**values)

    # ---- ask and tell ----

    @locked
    def ask(self, count: Optional[int] = None) -> Union[Trial, list]:
        """The next trial, or a list of `count` of them; they are pending until they are told."""
        wanted = 1 if count is None else int(count)
        if wanted < 0:
            raise ValueError(f"{wanted} trials are asked for; 1 or more are possible")
        proposals = (lib.struct_class("hf_proposal") * max(1, wanted))()
        self._context().long_call(lib.hf_study_ask, self._pointer, wanted, float("nan"), ctypes.addressof(proposals))
        made = []
        for proposal in proposals:
            trial = self._trial(proposal.trial)
            trial.expected = Record(mean=proposal.mean, sd=proposal.sd, value=proposal.value)
            made.append(trial)
        return made[0] if count is None else made

    @locked
    def tell(self, trial: Union[Trial, int], value: Any, *, noise: Any = None, note: Optional[str] = None) -> None:
        """The outcome of a trial: a number, or of several outcomes a sequence or a mapping; NaN is not measured.

        noise : variance of the reading, or of each; 0 is not known.
        """
        if value is None:
            raise ValueError("there is no value to tell; fail() is for trials that came to nothing")
        y, variance = self._values(value, "value"), self._values(noise, "noise")
        ctx = self._context()
        ctx.check(lib.hf_study_tell(ctx.pointer, self._pointer, getattr(trial, "id", trial), address(y),
                                    None if variance is None else address(variance), None if note is None else note.encode()))

    @locked
    def fail(self, trial: Union[Trial, int], value: Any = None, *, note: Optional[str] = None) -> None:
        """A trial that failed, with what it told before it did."""
        y, ctx = self._values(value, "value"), self._context()
        ctx.check(lib.hf_study_fail(ctx.pointer, self._pointer, getattr(trial, "id", trial), None if y is None else address(y),
                                    None if note is None else note.encode()))

    @locked
    def add(self, settings: Mapping[str, Any], value: Any = None, *, noise: Any = None, note: Optional[str] = None,
            failed: bool = False) -> int:
        """A trial that was not asked: past data, or somebody's idea. Returns its id."""
        at, y, variance = self._numbers(settings), self._values(value, "value"), self._values(noise, "noise")
        ctx, number = self._context(), ctypes.c_uint64()
        said = None if note is None else note.encode()
        if failed:
            ctx.check(lib.hf_study_add_failed(ctx.pointer, self._pointer, address(at), None if y is None else address(y), said,
                                              ctypes.byref(number)))
        else:
            ctx.check(lib.hf_study_add(ctx.pointer, self._pointer, address(at), None if y is None else address(y),
                                       None if variance is None else address(variance), said, ctypes.byref(number)))
        return number.value

    # ---- answers ----

    @property
    @locked
    def trials(self) -> list:
        """All trials, with the suspicions of today."""
        try:
            self._context().long_call(lib.hf_study_look, self._pointer)
        except _library.ArgumentError:
            pass  # too little was told for suspicions
        return [self._trial(number) for number in range(1, lib.hf_study_trials(self._pointer) + 1)]  # of others too, by now

    def _best(self, at, struct):
        values = as_dict(struct)
        values["settings"] = self._named(at)
        values["trial"] = values["trial"] or None
        return Record(**values)

    @property
    @locked
    def best(self) -> Record:
        """Settings to use, and what is known of them: never those of a lucky reading."""
        at, out = np.empty(len(self.variables)), lib.struct("hf_best")
        self._context().long_call(lib.hf_study_best, self._pointer, address(at), ctypes.byref(out))
        return self._best(at, out)

    @property
    @locked
    def front(self) -> list:
        """Trials that nobody dominates, by posterior means; best first objective first."""
        room = max(1, lib.hf_study_trials(self._pointer))
        numbers, count = np.empty(room, np.uint64), ctypes.c_size_t()
        self._context().long_call(lib.hf_study_front, self._pointer, address(numbers), ctypes.byref(count))
        return [self._trial(int(number)) for number in numbers[:count.value]]

    @locked
    def predict(self, settings: Sequence[Mapping[str, Any]], outcome: Optional[str] = None):
        """Posterior mean and sd of an outcome (the first) at a list of m settings: (m,) each, units of the outcome."""
        at = np.ascontiguousarray([self._numbers(entry) for entry in settings])
        mean, sd = np.empty(len(at)), np.empty(len(at))
        number = 0 if outcome is None else place_of(self.outcomes, outcome, "outcome")
        self._context().long_call(lib.hf_study_predict, self._pointer, number, len(at), address(at), address(mean), address(sd))
        return mean, sd

    @locked
    def relevance(self, outcome: Optional[str] = None) -> dict:
        """How much each variable matters to an outcome: (share, lower, upper) by name."""
        parts = [np.empty(len(self.variables)) for _ in range(3)]
        number = 0 if outcome is None else place_of(self.outcomes, outcome, "outcome")
        self._context().long_call(lib.hf_study_relevance, self._pointer, number, *map(address, parts))
        return dict(zip(self.variables, zip(*(part.tolist() for part in parts))))

    @locked
    def certify(self, tolerance: float, *, time_limit: Optional[float] = None) -> Record:
        """The best posterior mean of the whole space, with a proof: settings, mean, bound, gap, proved, boxes, seconds.

        tolerance : how far the bound may be from the mean, units of the outcome
        time_limit : seconds
        """
        at, best, out = np.empty(len(self.variables)), lib.struct("hf_best"), lib.struct("hf_study_certificate")
        limits = make_settings("hf_certify_settings", time_limit=time_limit)
        self._context().long_call(lib.hf_study_certify, self._pointer, tolerance, ctypes.byref(limits), address(at),
                                  ctypes.byref(best), ctypes.byref(out))
        return Record(settings=self._named(at), **as_dict(out))

    def __reduce__(self):
        """A pickle names the file of a study, which it then shares."""
        if self._path is None:
            raise TypeError("a study in memory cannot be pickled; give it path=, and the pickle names that file")
        return _opened, (self._path, self._threads, self._levels)

    def plot(self, **options):
        """Values of the trials in their order, and the best so far; see holdfast.plot."""
        from .plot import plot_study
        return plot_study(self, **options)
