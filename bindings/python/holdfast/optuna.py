# SPDX-License-Identifier: Apache-2.0
"""A sampler for Optuna: its studies ask a Holdfast study what to try next.

    import optuna
    from holdfast.optuna import HoldfastSampler
    study = optuna.create_study(sampler=HoldfastSampler(seed=1))
    study.optimize(objective, n_trials=40)
"""
from __future__ import annotations

import threading
from typing import Any, Dict, Optional

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import TrialState

from ._library import locked, refuse_unknown
from .study import Category, Integer, Real, Study, known_settings

try:
    from optuna.search_space import IntersectionSearchSpace
except ImportError:  # before 3.2
    from optuna.samplers import IntersectionSearchSpace

MOST_STEPS = 2 ** 31


class _Steps:
    """A variable with steps as a whole number, and back."""

    def __init__(self, distribution):
        self.low, self.step = distribution.low, distribution.step
        self.count = int(round((distribution.high - distribution.low) / distribution.step))
        self.whole = isinstance(distribution, IntDistribution)

    def to_number(self, value):
        return int(round((value - self.low) / self.step))

    def to_value(self, number):
        value = self.low + number * self.step
        return int(value) if self.whole else float(value)


class HoldfastSampler(BaseSampler):
    """Samples by a robust Gaussian process: outcomes that look wrong are doubted, and measured again where they decide.

    Parameters
    ----------
    seed : int, optional
        Seed of all that is random.
    independent_sampler : BaseSampler, optional
        For parameters that not all trials have, and the first trial. Default: RandomSampler.
    settings : keywords of holdfast.Study
        start, acquisition, robust, repeats, reach, ...

    One to three objectives. Trials of other samplers, enqueued and failed ones count; pruned ones count as failed. Where
    the search space changes, a study of the new one starts with all trials that lie in it.
    """

    def __init__(self, seed: Optional[int] = None, independent_sampler: Optional[BaseSampler] = None, **settings: Any):
        self._independent = independent_sampler or RandomSampler(seed=seed)
        refuse_unknown("HoldfastSampler", known_settings(), settings)
        self._settings = dict(settings, seed=(seed or 0) + 1)
        self._lock = threading.RLock()  # trials may run in several threads
        self._space = IntersectionSearchSpace()
        self._study: Optional[Study] = None
        self._distributions: Dict[str, Any] = {}
        self._steps: Dict[str, _Steps] = {}
        self._asked: Dict[int, int] = {}  # trials of Optuna that this study was asked for
        self._told: set = set()

    def __getstate__(self):
        """All but the study and the lock: what is read from a pickle asks a new study, to which all trials are told."""
        return {**vars(self), "_study": None, "_lock": None, "_asked": {}, "_told": set()}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study, trial):
        space = self._space.calculate(study)
        return {name: distribution for name, distribution in sorted(space.items()) if not distribution.single()}

    def sample_independent(self, study, trial, name, distribution):
        return self._independent.sample_independent(study, trial, name, distribution)

    @locked
    def sample_relative(self, study, trial, search_space):
        if not search_space:
            return {}
        if search_space != self._distributions or self._study is None:
            self._begin(study, search_space)
        self._catch_up(study)
        asked = self._study.ask()
        self._asked[trial.number] = asked.id
        return {name: self._value(name, value) for name, value in asked.settings.items()}

    # ---- a study of the library ----

    def _variable(self, name, distribution):
        if isinstance(distribution, CategoricalDistribution):
            return Category(list(distribution.choices))
        step = distribution.step
        if step is not None and not (isinstance(distribution, IntDistribution) and step == 1):
            self._steps[name] = _Steps(distribution)
            return Integer(0, self._steps[name].count)
        if isinstance(distribution, (IntDistribution, FloatDistribution)):
            kind = Integer if isinstance(distribution, IntDistribution) else Real
            return kind(distribution.low, distribution.high, distribution.log)
        raise NotImplementedError(f"HoldfastSampler does not know the distribution of {name}: {distribution!r}")

    def _value(self, name, value):
        return self._steps[name].to_value(value) if name in self._steps else value

    def _begin(self, study, search_space):
        self._distributions, self._steps, self._asked, self._told = dict(search_space), {}, {}, set()
        variables = {name: self._variable(name, distribution) for name, distribution in search_space.items()}
        goals = {f"value {k}": "minimise" if direction == StudyDirection.MINIMIZE else "maximise"
                 for k, direction in enumerate(study.directions)}
        self._study = Study(variables, goals, **self._settings)

    def _settings_of(self, trial):
        """Settings of a trial in the space, None where it lies outside or lacks some."""
        made = {}
        for name, distribution in self._distributions.items():
            if name not in trial.params or not distribution._contains(distribution.to_internal_repr(trial.params[name])):
                return None
            value = trial.params[name]
            made[name] = self._steps[name].to_number(value) if name in self._steps else value
        return made

    def _catch_up(self, study):
        for trial in study.get_trials(deepcopy=False):
            if trial.number in self._told or not trial.state.is_finished():
                continue
            self._told.add(trial.number)
            values = trial.values if trial.state == TrialState.COMPLETE else None
            asked = self._asked.get(trial.number)
            settings = self._settings_of(trial)
            if asked is not None:
                if values is None:
                    self._study.fail(asked)
                else:
                    self._study.tell(asked, values)
            elif settings is not None:
                self._study.add(settings, values, failed=values is None)
