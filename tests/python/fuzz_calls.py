# SPDX-License-Identifier: Apache-2.0
"""Random calls of the package, right and wrong ones: each ends with a result or with an exception that the package promises.

    python3 tests/python/fuzz_calls.py [--calls 10000] [--seed 0] [--alone]

No test of every day, but run by hand with a library that was built with AddressSanitizer:

    cmake -S . -B build-asan -DHF_TESTS=OFF -DHF_SANITIZE=address && cmake --build build-asan --target holdfast_shared
    HF_BUILD=build-asan LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \\
        python3 tests/python/fuzz_calls.py

or, a hundred times slower, by valgrind, which scipy does not load under:

    PYTHONMALLOC=malloc valgrind --suppressions=tests/house/valgrind.supp python3 tests/python/fuzz_calls.py --calls 500 --alone
"""
import argparse
import collections
import os
import pickle
import sys
import tempfile
import warnings

import testing
from testing import holdfast, np

PROMISED = (ValueError, TypeError, RuntimeError, MemoryError, OSError, holdfast.HoldfastError, AttributeError)


class Fuzzer:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.folder = tempfile.mkdtemp(prefix="holdfast-fuzz-")
        self.counts = collections.Counter()
        self.fitted = []
        self.studies = []
        self.envelopes = []
        self.tracks = []

    def one(self, *choices):
        return choices[self.random.integers(len(choices))]

    def number(self):
        return self.one(0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, np.nan, np.inf, -np.inf, float(self.random.standard_normal()), 3)

    # ---- arrays ----

    def array(self, rows, columns):
        a = self.random.standard_normal((rows, columns)) * self.one(1, 1, 1, 1e-8, 1e8)
        kind = self.random.integers(14)
        if kind == 0 and a.size:
            a.flat[self.random.integers(a.size)] = self.number()
        if kind == 1:
            a = a.astype(self.one(np.float32, np.int32, np.float16, ">f8", object, str, bool, complex))
        if kind == 2:
            a = np.asfortranarray(a)
        if kind == 3:
            a = np.repeat(a, 2, axis=1)[:, ::2]
        if kind == 4:
            a = a[::-1]
        if kind == 5:
            a = a.tolist()
        if kind == 6:
            a = np.round(a)
        if kind == 7:
            a = a.ravel()
        if kind == 8:
            a[:] = a[:1]
        if kind == 9:
            a = np.broadcast_to(a[:1], a.shape)
        return a

    def rows(self):
        return int(self.one(0, 1, 2, 3, 5, 8, 12, 20, 20, 30))

    def target(self, rows):
        y = self.random.standard_normal(rows)
        return self.one(y, y, np.floor(np.exp(y)), np.exp(y), y > 0, np.where(y > 0, "a", "b"), self.array(rows, 1),
                        self.array(rows, 2), np.full(rows, 3.0), np.where(y > 1, np.nan, y), None, y[:-1], y * 1e200,
                        np.digitize(y, [-0.5, 0.5]))

    def settings(self, estimator):
        names = estimator.get_params()
        made = {}
        for name in self.random.choice(list(names), self.random.integers(0, 3), replace=False):
            if name in ("progress", "checkpoint"):
                continue
            made[str(name)] = self.one(None, True, False, 0, 1, 3, -1, 0.5, 1e9, "auto", "exact", "inducing", "robust", "linear(ard)",
                                       "x0", "", {"noise": 0.1}, {"noise": self.number()}, [0.1, 0.2], np.zeros((3, 2)))
        for name in ("restarts", "iterations", "rounds"):
            if made.get(name) == 1e9:  # taken at its word, it would take for ever
                made[name] = 2
        if "iterations" in names and self.random.integers(2):
            made["iterations"] = 5
        made["threads"] = 1
        return made

    # ---- calls ----

    def fit(self):
        estimator = self.one(holdfast.GPRegressor, holdfast.GPRegressor, holdfast.GPClassifier, holdfast.CountRegressor)()
        estimator.set_params(**self.settings(estimator))
        if isinstance(estimator, holdfast.GPRegressor):
            estimator.set_params(preset=self.one("default", "default", "gp", "rcgp", "sgpr", "student-t", "mogp", "rrp", "cagp", "no"))
        rows = self.rows()
        X, beside = self.array(rows, int(self.one(1, 2, 2, 3))), {}
        if isinstance(estimator, holdfast.GPRegressor) and self.random.integers(4) == 0:
            beside[self.one("noise", "prior_mean")] = self.one(np.abs(self.random.standard_normal(rows)), self.array(rows, 1), 0.1)
        if isinstance(estimator, holdfast.CountRegressor) and self.random.integers(3) == 0:
            beside["exposure"] = self.one(np.exp(self.random.standard_normal(rows)), self.array(rows, 1), 2.0)
        estimator.fit(X, self.target(rows), **beside)
        self.fitted = self.fitted[-15:] + [estimator]

    def asked(self):
        if not self.fitted:
            self.fit()
        estimator = self.fitted[self.random.integers(len(self.fitted))]
        return estimator, self.array(self.rows(), self.one(estimator.n_features_in_, estimator.n_features_in_, 1, 3))

    def predict(self):
        estimator, X = self.asked()
        name = self.one("predict", "predict_interval", "predict_proba", "predict_quantile", "sample_y", "predict_latent",
                        "predict_log_rate")
        if not hasattr(estimator, name):
            name = "predict"
        keywords = {}
        if name == "predict" and not isinstance(estimator, holdfast.GPClassifier):
            keywords["return_std"] = bool(self.random.integers(2))
            if isinstance(estimator, holdfast.GPRegressor):
                keywords["return_cov"] = bool(self.random.integers(5) == 0)
        arguments = (self.one([0.1, 0.5], [], [0.0], [np.nan], 0.3),) if name == "predict_quantile" else ()
        if name == "predict_interval":
            arguments = (self.one(0.9, 0.5, 1.0, 0, np.nan),)
        if name == "sample_y":
            arguments = (self.one(1, 3, 0, -1),)
        getattr(estimator, name)(X, *arguments, **keywords)

    def score(self):
        estimator, X = self.asked()
        getattr(estimator, self.one("score", "metrics"))(X, self.target(len(X)))

    def keep(self):
        estimator, X = self.asked()
        path = os.path.join(self.folder, "model.hf")
        kind = self.random.integers(4)
        if kind == 0:
            self.fitted.append(pickle.loads(pickle.dumps(estimator)))
        elif kind == 1:
            estimator.save(path)
            self.fitted.append(self.one(holdfast.GPRegressor, holdfast.GPClassifier, holdfast.CountRegressor).load(path))
        elif kind == 2:
            content = bytearray(estimator.model_.to_bytes())
            content[self.random.integers(len(content))] ^= 1 << self.random.integers(8)
            holdfast.Model.from_bytes(bytes(content))
        else:
            vars(estimator.model_.readings), estimator.model_.settings, estimator.model_.parameters, estimator.model_.notes

    def certify(self):
        estimator, _ = self.asked()
        d = self.one(estimator.n_features_in_, estimator.n_features_in_, 2)
        low = self.random.standard_normal(d)
        keywords = {"tolerance": self.one(0.1, 0.0, -1.0, np.nan), "node_limit": 50, "output": self.one(0, 0, 1)}
        if isinstance(estimator, holdfast.GPClassifier):
            keywords["class_"] = self.one(None, *estimator.classes_.tolist(), "z")
            keywords["loss"] = self.one(None, None, self.array(self.rows(), len(estimator.classes_)), [1.0] * len(estimator.classes_))
        kinds = ("probability", "loss", "decision", "decision") if "class_" in keywords else ("mean", "sd", "mean-plus")
        what = self.one(None, "no", *kinds)
        if what == "decision" and self.random.integers(4):
            keywords = {"loss": keywords["loss"], "node_limit": 50, "x": self.one(None, low, low + 0.05, low[:1])}
        holdfast.certify(estimator, low, low + self.one(0.1, 0.0, -0.1, np.inf), what, **keywords)

    def envelope(self):
        if self.envelopes and self.random.integers(3):
            old = self.envelopes[self.random.integers(len(self.envelopes))]
            if self.random.integers(3):
                old.query(self.array(self.rows(), old.dimension), gap=self.one(0.0, 0.1))
            else:
                old.add(self.array(1, old.dimension), self.number(), self.one(0.1, 1.0, -1.0))
            return
        rows = self.rows()
        X = self.array(rows, int(self.one(1, 2)))
        made = holdfast.Envelope(X, self.target(rows), kernel=self.one("se(lengthscale=1)", "4*matern52(lengthscale=0.5)", "linear", "se(", "white"),
                                 norm=self.one(1.0, 10.0, 100.0, -1.0, np.inf), noise=self.one(0.0, 0.5, 2.0, -1.0),
                                 reserve=int(self.one(0, 3)), rigorous=bool(self.random.integers(2)))
        self.envelopes = self.envelopes[-8:] + [made]

    def study(self):
        if self.studies and self.random.integers(12):
            study = self.studies[self.random.integers(len(self.studies))]
            kind = self.random.integers(8)
            pending = [trial.id for trial in study.trials if trial.state == "pending"] or [1]
            value = self.one(self.number(), [self.number() for _ in study.outcomes], {study.outcomes[0]: 1.0}, None)
            if kind <= 1:
                study.ask(self.one(None, 1, 2, 0))
            elif kind <= 4:
                study.tell(self.one(pending[0], pending[-1], 99), value, noise=self.one(None, None, 0.1, -1.0))
            elif kind == 5:
                study.fail(pending[0], note=self.one(None, "broken"))
            elif kind == 6:
                study.add({name: self.one(0.5, 1, "a", None) for name in study.variables}, value, failed=bool(self.random.integers(2)))
            else:
                study.best, study.front
            return
        variables = {"x": self.one((0.0, 1.0), (1, 5), ["a", "b"], holdfast.Real(1e-3, 1.0, True), (1.0, 0.0), 3),
                     "y": self.one((0.0, 1.0), holdfast.Ordered(["s", "m"]), [1, 2, 3])}
        goal = self.one("minimise", "maximise", {"f": "maximise", "g": holdfast.AtMost(0.5)}, {"f": "minimise", "g": "maximise"}, "no")
        self.studies = self.studies[-5:] + [holdfast.Study(variables, goal, start=int(self.one(0, 3)), draws=8, threads=1)]

    def track(self):
        if self.tracks and self.random.integers(8):
            track = self.tracks[self.random.integers(len(self.tracks))]
            time, kind = float(self.random.integers(30)), self.random.integers(6)
            if kind <= 1:
                track.tell(self.one(time, self.number()), self.array(1, self.one(track.dimension, 2)), self.number())
            elif kind == 2:
                track.ask(time)
            elif kind == 3:
                for request in track.request(time)[:2]:
                    track.answer(request, float(self.random.standard_normal()))
            elif kind == 4:
                track.predict(time, self.array(3, track.dimension))
            else:
                track.summary, track.readings, track.kernel
            return
        made = holdfast.Track(self.one([0.0], [0.0, 0.0], [1.0]), self.one([1.0], [1.0, 1.0]), rate=self.one(0.1, None, -1.0),
                              method=self.one("ui-gp-ucb", "gp-ucb", "sparq", "sparq-reuse", "w-gp-ucb", "no"),
                              kernel=self.one(None, "se(lengthscale=0.3)"), threads=1)
        self.tracks = self.tracks[-5:] + [made]

    def run(self, calls):
        actions = [self.fit, self.fit, self.predict, self.predict, self.predict, self.predict, self.score, self.keep, self.certify,
                   self.envelope, self.envelope, self.study, self.study, self.track]
        for _ in range(calls):
            action = actions[self.random.integers(len(actions))]
            try:
                action()
                self.counts[f"{action.__name__}: done"] += 1
            except PROMISED as refused:
                if type(refused) is AttributeError and "not fitted" not in str(refused):
                    raise
                self.counts[f"{action.__name__}: {type(refused).__name__}"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="as if scikit-learn were not installed")
    arguments = parser.parse_args()
    if arguments.alone:
        sys.modules["sklearn"] = None
    warnings.simplefilter("ignore")
    fuzzer = Fuzzer(arguments.seed)
    with np.errstate(all="ignore"):
        fuzzer.run(arguments.calls)
    for name, count in sorted(fuzzer.counts.items()):
        print(f"{count:6d}  {name}")
    print(f"{arguments.calls} calls, library {os.environ['HOLDFAST_LIBRARY']}")


if __name__ == "__main__":
    main()
