# SPDX-License-Identifier: Apache-2.0
"""Envelopes, studies, tracks, certificates and pictures: what they promise holds, and the tool reads their files."""
import csv
import functools
import os
import pickle
import subprocess
import tempfile
import threading
import unittest

import testing
from testing import TOOL, Case, holdfast, np, wavy

try:
    import matplotlib
    matplotlib.use("agg")
except ImportError:
    matplotlib = None


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True)


class Envelopes(Case):
    KERNEL = "2*se(lengthscale=0.7)"

    def truth(self, X):
        """A function of known norm: a few kernels with weights."""
        centres, weights = np.array([0.5, 1.8, 3.1]), np.array([0.8, -0.6, 0.9])

        def k(a, b):
            return 2 * np.exp(-(a[:, None] - b[None, :]) ** 2 / (2 * 0.7 ** 2))

        return k(np.ravel(X), centres) @ weights, np.sqrt(weights @ k(centres, centres) @ weights)

    def test_bounds_hold_and_are_tight_with_more_readings(self):
        at, widths = np.linspace(0, 4, 200)[:, None], []
        for n in (4, 16):
            X = np.linspace(0.2, 3.8, n)[:, None]
            f, norm = self.truth(X)
            readings = f + 0.05 * np.random.default_rng(1).uniform(-1, 1, n)
            envelope = holdfast.Envelope(X, readings, kernel=self.KERNEL, norm=1.05 * norm, noise=0.05)
            lower, upper = envelope.bounds(at)
            value = self.truth(at)[0]
            self.assertTrue(((lower <= value) & (value <= upper)).all())
            self.assertLessEqual(envelope.minimum_norm, 1.05 * norm)
            widths.append((upper - lower).mean())
        self.assertLess(widths[1], widths[0] / 2)

    def test_readings_that_contradict(self):
        X, y = [[0.0], [0.01], [2.0]], [0.0, 1.5, 0.5]
        self.refused(holdfast.HoldfastError, "norm", holdfast.Envelope, X, y, kernel=self.KERNEL, norm=2.0, noise=0.1)
        found = holdfast.Envelope.consistency(X, y, kernel=self.KERNEL, norm=2.0, noise=0.1)
        self.assertEqual(found.conflict, [0, 1])
        self.assertGreater(found.minimum_norm, 2.0)
        self.assertGreater(found.noise_factor, 1.0)

    def test_add_and_files(self):
        X = np.linspace(0, 4, 5)[:, None]
        f, norm = self.truth(X)
        envelope = holdfast.Envelope(X, f, kernel=self.KERNEL, norm=1.2 * norm, noise=0.1, reserve=2)
        before = np.subtract(*envelope.bounds([[0.5]])[::-1])
        envelope.add([0.5], self.truth([[0.5]])[0][0], 0.1)
        self.assertLess(np.subtract(*envelope.bounds([[0.5]])[::-1]), before)
        self.assertEqual(envelope.n_readings, 6)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "e.hf")
            envelope.save(path, target="height")
            again = holdfast.Envelope.load(path)
            for one, other in zip(again.bounds(X), envelope.bounds(X)):
                self.close(one, other, 1e-9)
            self.assertIn("height", tool("inspect", path).stdout)
        copy = pickle.loads(pickle.dumps(envelope))
        for one, other in zip(copy.bounds(X), envelope.bounds(X)):
            self.close(one, other, 1e-9)
        self.refused(ValueError, "expecting 1", envelope.bounds, [[1.0, 2.0]])
        self.refused(ValueError, "lenghtscale", holdfast.Envelope, X, f, kernel="se(lenghtscale=1)", norm=2.0)


class Studies(Case):
    def test_a_study_finds_the_best_with_wrong_readings(self):
        study = holdfast.Study({"x": (-2.0, 3.0), "kind": ["a", "b", None], "n": (1, 5)}, "minimise", seed=3)
        for k in range(24):
            trial = study.ask()
            s = trial.settings
            self.assertIsInstance(s["n"], int)
            value = (s["x"] - 1) ** 2 + (s["kind"] is not None) + abs(s["n"] - 3)
            study.tell(trial, value - (30 if k == 11 else 0), note="measured")
        best = study.best
        self.assertEqual((best.settings["kind"], best.settings["n"]), (None, 3))
        self.assertLess(abs(best.settings["x"] - 1), 0.4)
        self.assertEqual([trial.id for trial in study.trials if trial.aside], [12])
        self.assertEqual(study.trials[0].note, "measured")
        self.assertEqual(len(study.predict([best.settings])[0]), 1)
        self.assertEqual(list(study.relevance()), ["x", "kind", "n"])

    def test_several_outcomes_and_batches(self):
        study = holdfast.Study({"a": holdfast.Real(0.01, 10, log=True), "b": holdfast.Ordered(["s", "m", "l"])},
                               {"gain": "maximise", "cost": holdfast.AtMost(1.0)}, seed=1)
        for _ in range(4):
            for trial in study.ask(3):
                a = np.log(trial.settings["a"])
                study.tell(trial, {"gain": a, "cost": a + 0.5 * "sml".index(trial.settings["b"])})
        best = study.best
        self.assertGreater(best.feasible, 0.5)
        self.assertEqual(study.outcomes, ["gain", "cost"])
        two = holdfast.Study({"x": (0.0, 1.0)}, {"f": "maximise", "g": "maximise"}, seed=2)
        for k in range(9):
            two.add({"x": k / 8}, {"f": k / 8, "g": -(k / 8) ** 2})
        self.assertGreater(len(two.front), 3)

    def test_files_and_certificates(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.hf")
            study = holdfast.Study({"x": (0.0, 4.0)}, "maximise", path=path, seed=2)
            for _ in range(8):
                trial = study.ask()
                study.tell(trial, np.sin(trial.settings["x"]))
            proof = study.certify(0.01)
            self.assertTrue(proof.proved)
            self.assertLess(abs(proof.settings["x"] - np.pi / 2), 0.5)
            best = study.best
            other = pickle.loads(pickle.dumps(study))
            self.assertEqual(other.best, best)
            other.tell(other.ask(), 0.3)
            self.assertEqual([trial.state for trial in study.trials], ["told"] * 9)
            best = study.best
            del study, other
            again = holdfast.Study(path=path)
            self.assertEqual((again.variables, again.outcomes, len(again.trials)), (["x"], ["value"], 9))
            self.assertEqual(again.best, best)
            told = tool("study", "best", path)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn(f"{best.settings['x']:.6g}"[:6], told.stdout)
            self.refused(OSError, "is there already", holdfast.Study, {"x": (0.0, 1.0)}, path=path)

    def test_what_is_refused(self):
        study = holdfast.Study({"x": (0.0, 1.0), "k": ["a", "b"]}, "minimise")
        trial = study.ask()
        self.refused(TypeError, "needs a dictionary", holdfast.Study, "x")
        self.refused(ValueError, "'c'", study.add, {"x": 0.5, "k": "c"}, 1.0)
        self.refused(ValueError, "x, k", study.add, {"x": 0.5}, 1.0)
        self.refused(ValueError, "2", study.add, {"x": 2.0, "k": "a"}, 1.0)
        self.refused(ValueError, "needed for each", study.tell, trial, [1.0, 2.0])
        self.refused(ValueError, "77", study.tell, 77, 1.0)
        self.refused(TypeError, "colour", holdfast.Study, {"x": (0.0, 1.0)}, colour=3)
        self.refused(TypeError, "'x'", holdfast.Study, {"x": 3})
        self.refused(ValueError, "upwards", holdfast.Study, {"x": (0.0, 1.0)}, "upwards")
        self.refused(ValueError, "told", lambda: study.best)
        self.refused(ValueError, "-1", study.ask, -1)
        self.refused(ValueError, "no outcome 'cost'; there are value", study.predict, [{"x": 0.5, "k": "a"}], "cost")
        self.refused(ValueError, "no outcome 'cost'", study.relevance, "cost")
        self.refused(TypeError, "path=", pickle.dumps, study)
        self.refused(ValueError, "beta 3 does not go with acquisition", holdfast.Study, {"x": (0.0, 1.0)}, beta=3.0)
        study.fail(trial, note="broke")
        self.assertEqual(study.trials[0].state, "failed")


    def test_threads_share_a_study(self):
        study = holdfast.Study({"x": (0.0, 4.0)}, "maximise", seed=2)

        def work():
            for _ in range(6):
                trial = study.ask()
                study.tell(trial, np.sin(trial.settings["x"]))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([trial.state for trial in study.trials], ["told"] * 24)


class Tracks(Case):
    def test_a_track_follows(self):
        track = holdfast.Track([0.0], [1.0], rate=0.3, kernel="se(lengthscale=0.2)", noise=1e-4, names=["place"])
        errors = []
        for t in range(40):
            asked = track.ask(t)
            best = 0.5 + 0.3 * np.sin(t / 15)
            track.tell(t, asked.x, -4 * (asked.x[0] - best) ** 2)
            errors.append(abs(asked.x[0] - best))
        self.assertLess(np.mean(errors[20:]), 0.3)
        mean, sd = track.predict(39, [[0.2], [0.8]])
        self.assertEqual((mean.shape, sd.shape), ((2,), (2,)))
        self.assertEqual((track.summary.told, track.names, track.dimension), (40, ["place"], 1))
        self.assertLess(abs(track.readings[-1].x[0] - asked.x[0]), 1e-12)
        kernel = track.kernel
        self.assertNotEqual(track.fit().kernel + "", "")
        self.assertIn("se", kernel)

    def test_an_expert_and_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.hf")
            track = holdfast.Track(candidates=[[0.0], [0.5], [1.0]], method="sparq-reuse", rate=0.2, path=path, target="yield",
                                   labels=["left", "middle", "right"], kernel="se(lengthscale=0.3)")
            for t in range(6):
                for request in track.request(t):
                    track.answer(request, -abs(request.x[0] - 0.5), noise=1e-4)
                asked = track.ask(t)
                track.tell(t, asked.x, -abs(asked.x[0] - 0.5))
            self.assertGreater(track.summary.answered, 0)
            self.assertEqual(track.requests, [])
            again = track.ask(6).x
            kept = pickle.dumps(track)
            self.refused(OSError, "another program has it open", pickle.loads, kept)
            del track
            self.close(pickle.loads(kept).ask(6).x, again)
            self.close(holdfast.Track(path=path).ask(6).x, again)

    def test_what_is_refused(self):
        self.refused(ValueError, "rate", holdfast.Track, [0.0], [1.0])
        self.refused(ValueError, "no-such", holdfast.Track, [0.0], [1.0], method="no-such")
        self.refused(TypeError, "colour", holdfast.Track, [0.0], [1.0], rate=1, colour=2)
        self.refused(TypeError, "lower", holdfast.Track)
        track = holdfast.Track([0.0], [1.0], rate=1)
        self.refused(ValueError, "1 are needed", track.tell, 0, [1.0, 2.0], 3)
        self.refused(ValueError, "request 7", track.answer, 7, 1.0)
        self.refused(TypeError, "path=", pickle.dumps, track)
        self.refused(ValueError, "window 5 does not go with method", holdfast.Track, [0.0], [1.0], rate=1, window=5)


class Certificates(Case):
    def test_ranges_hold_all_points(self):
        X, y = wavy(40)
        gp = holdfast.GPRegressor().fit(X, y)
        lower, upper = np.array([[1.0, -0.2], [2.0, 0.0]]), np.array([[1.5, 0.2], [2.1, 1.0]])
        inside = np.random.default_rng(0).uniform(size=(2000, 2))
        for what, of in (("mean", 0), ("sd", 1)):
            found = holdfast.certify(gp, lower, upper, what, tolerance=0.02)
            for box in range(2):
                value = gp.predict(lower[box] + inside * (upper[box] - lower[box]), return_std=True)[of]
                self.assertTrue(((found.lower[box] <= value) & (value <= found.upper[box])).all())
                self.assertLess(found.upper[box] - found.upper_attained[box], 0.021)
                self.close(gp.predict([found.argmax[box]], return_std=True)[of], [found.upper_attained[box]], 1e-9)
        one = holdfast.certify(gp, lower[0], upper[0])
        self.assertEqual(one.stop, "tolerance")
        self.assertEqual(one.argmin.shape, (2,))

    def test_probabilities(self):
        X, y = wavy(60)
        for labels in (np.where(y > 0, "up", "down"), np.array(["10", "9", "b"])[np.digitize(y, [-0.5, 0.5])]):
            model = holdfast.GPClassifier().fit(X, labels)
            low, high = X[3] - 0.05, X[3] + 0.05
            points = low + np.random.default_rng(0).uniform(size=(500, 2)) * (high - low)
            p = model.predict_proba(points)
            for k, label in enumerate(model.classes_):
                found = holdfast.certify(model, low, high, class_=label)
                self.assertTrue(((found.lower <= p[:, k]) & (p[:, k] <= found.upper)).all())
        self.refused(ValueError, "which class", holdfast.certify, model, low, high)
        self.refused(ValueError, "'z'", holdfast.certify, model, low, high, class_="z")
        cost = np.array([[0.0, 2.0, 5.0], [1.0, 0.5, 9.0], [3.0, 4.0, 0.0]])
        for loss in (cost, np.asfortranarray(cost), [1.0, 2.0, 30.0]):
            whole = np.where(np.eye(3), 0.0, [loss] * 3) if np.ndim(loss) == 1 else cost
            for k, label in enumerate(model.classes_):
                found = holdfast.certify(model, low, high, class_=label, loss=loss)
                value = p @ whole[k]
                self.assertTrue(((found.lower <= value) & (value <= found.upper)).all())
                self.assertLess(found.upper - found.upper_attained, 0.0101)
        points = points[:20]  # each call of progress asks for them
        decided, before = [], model.predict(points)

        def ask(*_):
            thread = threading.Thread(target=lambda: decided.append(model.predict(points)))
            thread.start()
            thread.join()

        heavy = holdfast.certify(model, np.tile(low, (8, 1)), np.tile(high, (8, 1)), class_=label, loss=[1.0, 2.0, 900.0],
                                 tolerance=1.0, progress=ask)
        self.assertEqual(len(heavy.lower), 8)
        self.assertTrue(decided and all((answer == before).all() for answer in decided))
        self.refused(ValueError, "one a class", holdfast.certify, model, low, high, class_=label, loss=[1.0, 2.0])
        self.refused(ValueError, "must be less", holdfast.certify, model, low, high, class_=label, loss=1.0 - 0.0 * cost)

    def check_decisions(self, model, lower, upper, loss, whole, known=None):
        """Verdicts of boxes about what numpy decides by the loss (k, k): no point beats a certified one. Or they are those known."""
        def decide(points):
            return model.classes_[(model.predict_proba(points) @ whole.T).argmin(axis=1)]

        random = np.random.default_rng(1)
        x = lower + random.uniform(size=lower.shape) * (upper - lower)
        found = holdfast.certify(model, lower, upper, "decision", loss=loss, x=np.asfortranarray(x))
        if known is not None:  # of the same loss: what was checked there is not checked again
            for name in ("winner", "verdict", "nodes", "counterexample"):
                np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
            return found
        self.assertEqual(found.winner.tolist(), decide(x).tolist())
        for box, verdict in enumerate(found.verdict):
            inside = lower[box] + random.uniform(size=(200, 2)) * (upper[box] - lower[box])
            other = found.counterexample[box]
            if verdict == "counterexample":
                self.assertTrue(((lower[box] <= other) & (other <= upper[box])).all())
                self.assertNotEqual(decide([other])[0], found.winner[box])
            else:
                self.assertEqual(verdict, "certified")
                self.assertTrue(np.isnan(other).all() and (decide(inside) == found.winner[box]).all())
        return found

    def test_decisions(self):
        X, y = wavy(60)
        random = np.random.default_rng(2)
        half = np.where(np.arange(12) % 2, 0.5, 0.05)[:, np.newaxis]
        lower, upper = X[:12] - half * random.uniform(size=(12, 2)), X[:12] + half
        costs = {2: np.array([[0.0, 3.0], [1.0, 0.2]]), 3: np.array([[0.0, 2.0, 5.0], [1.0, 0.5, 9.0], [3.0, 4.0, 0.0]])}
        for labels in (np.where(y > 0, "up", "down"), np.array(["10", "9", "b"])[np.digitize(y, [-0.5, 0.5])]):
            model = holdfast.GPClassifier().fit(X, labels)
            before, k = model.predict(X), len(model.classes_)
            plain, cost, miss = 1.0 - np.eye(k), costs[k], np.arange(k, 0.0, -1.0) ** 6
            given = self.check_decisions(model, lower, upper, cost, cost)
            self.check_decisions(model, lower, upper, np.asfortranarray(cost), cost, given)
            missed = self.check_decisions(model, lower, upper, miss, np.where(np.eye(k), 0.0, [miss] * k))
            without = self.check_decisions(model, lower, upper, None, plain)
            self.check_decisions(model, lower, upper, plain, plain, without)
            self.assertEqual(set(given.verdict), {"certified", "counterexample"})
            self.assertNotEqual(given.winner.tolist() + missed.winner.tolist(), 2 * without.winner.tolist())
            self.assertEqual(model.predict(X).tolist(), before.tolist())
            one = holdfast.certify(model, lower[0], upper[0], "decision", loss=cost)
            middle = model.predict_proba([0.5 * (lower[0] + upper[0])])[0]
            self.assertEqual((one.winner, one.verdict), (model.classes_[(cost @ middle).argmin()], given.verdict[0]))
            self.assertEqual((one.counterexample.shape, bool(one.estimate)), ((2,), False))
            self.assertEqual(holdfast.certify(model, lower, upper, "decision", loss=cost, node_limit=1).winner.shape, (12,))
            low, high, refused = lower[0], upper[0], functools.partial(self.refused, ValueError)
            for loss in (1.0, np.ones(k + 1), np.ones((k, k + 1)), cost[:, :, np.newaxis], cost[:0]):
                refused("loss has the shape", holdfast.certify, model, low, high, "decision", loss=loss)
                refused("loss has the shape", holdfast.certify, model, low, high, class_=labels[0], loss=loss)
            refused("must be less", holdfast.certify, model, low, high, "decision", loss=np.ones((k, k)))
            refused("not below 0", holdfast.certify, model, low, high, "decision", loss=-cost)
            refused("x has the shape", holdfast.certify, model, low, high, "decision", x=[1.0])
            refused("must agree", holdfast.certify, model, low, high, "decision", x=X[:2])
            refused("not within", holdfast.certify, model, low, high, "decision", x=high + 1.0)
            refused("class_ and tolerance", holdfast.certify, model, low, high, "decision", class_=labels[0], tolerance=0.1)
            refused("with x", holdfast.certify, model, low, high, class_=labels[0], x=low)
            refused("with loss", holdfast.certify, model, low, high, "probability", class_=labels[0], loss=cost)
            refused("loss or decision", holdfast.certify, model, low, high, "sd", class_=labels[0])

    def test_tool_says_the_same(self):
        X, y = wavy(40)
        labels, at = np.array(["10", "9", "b"])[np.digitize(y, [-0.5, 0.5])], X[:8]
        model = holdfast.GPClassifier().fit(X, labels)
        with tempfile.TemporaryDirectory() as folder:
            file, rows, out = (os.path.join(folder, name) for name in ("model.hf", "at.csv", "out.csv"))
            model.save(file)
            np.savetxt(rows, at, delimiter=",", header=",".join(model.model_.feature_names), comments="", fmt="%.17g")
            for loss in (None, np.array([[0.0, 2.0, 5.0], [1.0, 0.5, 9.0], [3.0, 4.0, 0.0]])):
                # The model's classes have an order of their own.
                order = [model.classes_.tolist().index(name) for name in model.model_.classes]
                costs = [] if loss is None else ["--loss", ",".join(map(str, loss[np.ix_(order, order)].ravel()))]
                done = tool("certify", file, "--at", rows, "--radius", "0.1", "--what", "decision", *costs, "-o", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(out, encoding="utf-8") as lines:
                    said = list(csv.DictReader(lines))
                found = holdfast.certify(model, at - 0.1, at + 0.1, "decision", loss=loss, x=at)
                self.assertEqual([row["class"] for row in said], found.winner.tolist())
                self.assertEqual([row["status"] for row in said], found.verdict.tolist())
                self.assertEqual([int(row["nodes"]) for row in said], found.nodes.tolist())

    def test_what_is_refused(self):
        X, y = wavy(30)
        gp = holdfast.GPRegressor(target_transform="log").fit(X, np.exp(y))
        self.refused(ValueError, "transform", holdfast.certify, gp, X[0], X[0])
        gp = holdfast.GPRegressor().fit(X, y)
        self.refused(ValueError, "classifiers", holdfast.certify, gp, X[0], X[0], loss=[1.0, 2.0])
        self.refused(ValueError, "mean-plus", holdfast.certify, gp, X[0], X[0], "decision")
        self.refused(ValueError, "with x", holdfast.certify, gp, X[0], X[0], x=X[0])
        self.refused(ValueError, "'sd' does not go with beta", holdfast.certify, gp, X[0], X[0], "sd", beta=2.0)
        self.refused(ValueError, "'mean-plus' does not go with class_", holdfast.certify, gp, X[0], X[0], "mean-plus", beta=2.0, class_=1)
        self.refused(ValueError, "2 sides", holdfast.certify, gp, [0.0], [1.0])
        self.refused(ValueError, "above", holdfast.certify, gp, [1.0, 1.0], [0.0, 2.0])
        self.refused(TypeError, "estimator", holdfast.certify, "gp", [0.0], [1.0])


@unittest.skipIf(matplotlib is None, "matplotlib is not installed")
class Pictures(Case):
    def test_pictures(self):
        from matplotlib import pyplot
        X, y = wavy(40, bad=[4])
        gp = holdfast.GPRegressor().fit(X, y)
        ax = gp.plot(X, y, feature=1)
        self.assertIn("suspected", [text.get_text() for text in ax.get_legend().get_texts()])
        self.assertEqual(ax.get_xlabel(), "x1")
        several = holdfast.GPRegressor(preset="mogp").fit(X, np.column_stack([y, -y + X[:, 0]]))
        self.assertEqual(several.plot(X, np.column_stack([y, -y]), output=1).get_ylabel(), "y1")
        study = holdfast.Study({"x": (0.0, 1.0)}, "minimise")
        for k in range(7):
            study.add({"x": k / 6}, (k - 3) ** 2)
        self.assertEqual(study.plot().get_xlabel(), "trial")
        envelope = holdfast.Envelope([[0.0], [1.0]], [0.0, 1.0], kernel="se(lengthscale=1)", norm=2, noise=0.1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bounds.svg")
            envelope.plot(low=-1, high=2).figure.savefig(path)
            self.assertGreater(os.path.getsize(path), 1000)
        self.refused(ValueError, "'c'", gp.plot, X, y, feature="c")
        self.refused(ValueError, "needs X", gp.plot)
        pyplot.close("all")


class Documentation(Case):
    def test_every_setting_is_told(self):
        from holdfast import study, track
        for made, module in ((holdfast.Study, study), (holdfast.Track, track)):
            for name in module.known_settings():
                self.assertRegex(made.__doc__, rf"\b{name}\b")

    def test_examples_in_docstrings_run(self):
        import doctest
        for made in (holdfast.GPRegressor, holdfast.Study):
            runner = doctest.DocTestRunner()
            for test in doctest.DocTestFinder(recurse=False).find(made, globs={"holdfast": holdfast}):
                runner.run(test)
            self.assertGreater(runner.summarize(verbose=False).attempted, 2)
            self.assertEqual(runner.summarize(verbose=False).failed, 0)


if __name__ == "__main__":
    testing.main()
