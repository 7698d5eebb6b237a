# SPDX-License-Identifier: Apache-2.0
"""The sampler for Optuna: it finds better settings than chance, doubts wrong values, and takes every kind of space."""
import pickle
import unittest
import warnings

import testing
from testing import Case, np

optuna = testing.need("optuna", "python3-optuna")
from holdfast.optuna import HoldfastSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")


def branin(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    return ((y - 5.1 / (4 * np.pi ** 2) * x ** 2 + 5 / np.pi * x - 6) ** 2
            + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


class Sampler(Case):
    def test_it_is_better_than_chance(self):
        best = {}
        for name, sampler in (("holdfast", HoldfastSampler(seed=1)), ("random", optuna.samplers.RandomSampler(seed=1))):
            study = optuna.create_study(sampler=sampler)
            study.optimize(branin, n_trials=30)
            best[name] = study.best_value
        self.assertLess(best["holdfast"], 0.6)  # the least is 0.398
        self.assertLess(best["holdfast"], best["random"])

    def test_all_kinds_of_variables(self):
        sampler = HoldfastSampler(seed=2)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.enqueue_trial({"a": 0.5, "b": 3, "c": "u", "d": 0.25, "e": 10})

        def objective(trial):
            a = trial.suggest_float("a", 1e-3, 10, log=True)
            b = trial.suggest_int("b", 1, 9)
            c = trial.suggest_categorical("c", ["u", "v", None])
            d = trial.suggest_float("d", 0, 1, step=0.25)
            e = trial.suggest_int("e", 0, 50, step=10)
            trial.suggest_float("fixed", 2, 2)
            if trial.number == 6:
                raise optuna.TrialPruned
            return -abs(np.log(a)) - abs(b - 4) - (c != "v") - abs(d - 0.75) - abs(e - 20) / 10

        study.optimize(objective, n_trials=25)
        best = study.best_trial
        self.assertEqual((best.params["c"], best.params["e"]), ("v", 20))
        self.assertEqual(len(sampler._told), 24)
        self.assertEqual(sampler._study.trials[6].state, "failed")

    def test_wrong_values_are_doubted(self):
        study = optuna.create_study(sampler=HoldfastSampler(seed=3))
        study.optimize(lambda trial: branin(trial) - (500 if trial.number == 12 else 0), n_trials=25)
        own = study.sampler._study.best
        self.assertNotEqual(own.trial, 12)
        self.assertTrue(any(trial.aside for trial in study.sampler._study.trials))

    def test_settings_are_known(self):
        self.refused(TypeError, "colour", HoldfastSampler, colour=3)

    def test_several_objectives_and_batches(self):
        study = optuna.create_study(directions=["minimize", "maximize"], sampler=HoldfastSampler(seed=4))

        def objective(trial):
            x = trial.suggest_float("x", 0, 2)
            return x ** 2, -(x - 2) ** 2

        study.optimize(objective, n_trials=10, n_jobs=2)
        self.assertEqual(len(study.trials), 10)
        self.assertGreater(len(study.best_trials), 2)

    def test_spaces_that_change(self):
        study = optuna.create_study(sampler=HoldfastSampler(seed=5))

        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            return x + (trial.suggest_float("y", 0, 1) if trial.number % 2 else 0)

        study.optimize(objective, n_trials=12)
        self.assertEqual(study.sampler._study.variables, ["x"])
        self.assertEqual(len(study.trials), 12)

    def test_a_pickled_study_goes_on(self):
        study = optuna.create_study(sampler=HoldfastSampler(seed=6))
        study.optimize(branin, n_trials=10)
        again = pickle.loads(pickle.dumps(study))
        again.optimize(branin, n_trials=10)
        self.assertEqual(len(again.sampler._study.trials), 20)
        self.assertLessEqual(again.best_value, study.best_value)


if __name__ == "__main__":
    unittest.main()
