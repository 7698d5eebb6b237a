# SPDX-License-Identifier: Apache-2.0
"""Things around a fit: files, pickles, threads, forks, progress, Ctrl-C, what is told of a model."""
import contextlib
import copy
import io
import json
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import time
import warnings
import _thread

import testing
from testing import Case, holdfast, np, wavy


def child(queue, model, X):
    queue.put(model.fit(X, X[:, 0]).predict(X))


class Models(Case):
    def test_files_and_pickles(self):
        X, y = wavy(40, bad=[5])
        fitted = [holdfast.GPRegressor().fit(X, y), holdfast.GPClassifier().fit(X, np.where(y > 0, "b", "a")),
                  holdfast.CountRegressor().fit(X, np.floor(np.exp(y - y.min()))),
                  holdfast.GPRegressor(preset="mogp").fit(X, np.column_stack([y, X[:, 0] - y]))]
        with tempfile.TemporaryDirectory() as folder:
            for estimator in fitted:
                path = os.path.join(folder, "model.hf")
                estimator.save(path)
                for other in (type(estimator).load(path), pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
                    self.assertTrue((other.predict(X) == estimator.predict(X)).all())
                    self.assertEqual(other.report_.readings, estimator.report_.readings)
                self.assertEqual(holdfast.load(path).data_checksum, estimator.model_.data_checksum)
            self.refused(ValueError, "counts or amounts", holdfast.CountRegressor.load, path)
            self.refused(ValueError, "labels", holdfast.GPClassifier.load, path)
        self.refused(OSError, "nowhere", fitted[0].save, "/nowhere/model.hf")

    def test_page(self):
        """The page of a model, with certificates about it and a study; those about another model are refused."""
        X, y = wavy(12)
        study = holdfast.Study({"x": (0.0, 1.0)}, "minimise", seed=1)
        for x in (0.1, 0.5, 0.9):
            study.add({"x": x}, (x - 0.4) ** 2)
        with tempfile.TemporaryDirectory() as folder:
            path, page, lines = (os.path.join(folder, name) for name in ("m.hf", "page.html", "lines.jsonl"))
            gp = holdfast.GPRegressor(train=False)
            self.refused(ValueError, "not fitted", gp.report, page)
            fitted = gp.fit(X, y).model_
            fitted.save(path)
            gp.report(page, study=study)
            with open(page) as file:
                self.assertIn("Of 3 trials 3 told something", file.read())
            model = holdfast.load(path)
            checksum = holdfast._library.lib.hf_model_content_checksum(model._pointer).decode()
            told = {"model_sha256": checksum, "what": "mean", "row": 1, "options": {"at": ["x.csv"]}, "value": None,
                    "command": 'holdfast certify "m.hf"', "answer": {"lower": -1.25, "upper": 2.5, "status": "tolerance"}}
            with open(lines, "w") as file:
                file.write(json.dumps(told) + "\n")
            for certificates in (lines, [told]):
                model.report_html(page, certificates=certificates, study=study)
                with open(page) as file:
                    text = file.read()
                self.assertIn("stays within -1.25 and 2.5", text)
                self.assertIn("holdfast certify &quot;m.hf&quot;", text)
                self.assertIn("Of 3 trials 3 told something", text)
                self.assertRegex(text, "by a program, with settings other than the default:.* <code>train=off</code>")
            self.refused(ValueError, "this one has no file", fitted.report_html, page, certificates=lines)
            self.refused(ValueError, "0000", model.report_html, page, certificates=[{**told, "model_sha256": "0000"}])
        self.refused(OSError, "nowhere", model.report_html, "/nowhere/page.html")

    def test_what_is_told_of_a_model(self):
        X, y = wavy(50, bad=[5])
        gp = holdfast.GPRegressor().fit(X, y)
        model = gp.model_
        self.assertEqual(sorted(model.hyperparameters), sorted(["outputscale", "lengthscale[0]", "lengthscale[1]", "noise", "mean"]))
        self.assertEqual(model.settings["kernel"], "matern52(ard)")
        self.assertEqual(model.parameters[1].unit, "input")
        self.assertEqual(gp.report_.suspects, 1)
        self.assertIn("suspects_adopted  ", str(gp.report_))
        self.assertIn(gp.report_.stop, ("converged", "objective no longer changes", "no further progress in floating point"))
        self.assertEqual(list(model.relevance()), ["x0", "x1"])
        self.assertLess(model.leave_one_out().model.rmse, 0.3)
        self.assertEqual(model.readings.row[model.readings.suspected].tolist(), [5])
        self.assertIn("GPRegressor(iterations=3, preset='gp')", repr(holdfast.GPRegressor(preset="gp", iterations=3)))
        self.assertEqual(holdfast.GPRegressor(preset="gp").fit(X, y).suspected_.sum(), 0)
        held = holdfast.GPRegressor(preset="gp", hold={"noise": 0.25}).fit(X, y)
        self.close(held.hyperparameters_["noise"], 0.25)

    def test_draws(self):
        X, y = wavy()
        gp = holdfast.GPRegressor().fit(X, y)
        points = X[:5] + 0.1
        mean, covariance = gp.predict(points, return_cov=True)
        draws = gp.sample_y(points, 4000, random_state=1)
        self.assertEqual(draws.shape, (5, 4000))
        spread = np.sqrt(np.diag(covariance))
        self.assertLess((np.abs(draws.mean(axis=1) - mean) / spread).max(), 0.1)
        self.assertLess(np.abs(np.corrcoef(draws) - covariance / np.outer(spread, spread)).max(), 0.1)
        self.assertTrue((draws == gp.sample_y(points, 4000, random_state=1)).all())
        self.assertFalse((draws == gp.sample_y(points, 4000, random_state=2)).any())
        self.assertTrue((gp.sample_y(points, 10) == gp.sample_y(points, 10)).all())

    def test_many_rows(self):
        X, y = wavy()
        gp = holdfast.GPRegressor().fit(X, y)
        many = np.random.default_rng(0).uniform(size=(100000, 2))
        heard = []
        gp.set_params(progress=lambda stage, done, value: heard.append(done))
        mean, sd = gp.predict(many, return_std=True)
        self.close(mean[::999], gp.predict(many[::999]))
        self.assertGreater(len(heard), 10)
        self.assertEqual(heard, sorted(heard))
        calls = []
        gp.set_params(progress=lambda stage, done, value: calls.append(done) or done < 0.5)
        self.refused(holdfast.Cancelled, "cancelled", gp.predict, many)
        self.assertLess(calls[-1], 0.7)
        gp.set_params(progress=None)
        many[77777, 1] = np.nan
        self.refused(ValueError, "NaN", gp.predict, many)
        many[77777, 1] = np.inf
        self.refused(ValueError, "row 77777", gp.predict, many)


class Threads(Case):
    def test_threads_share_a_model(self):
        X, y = wavy()
        gp = holdfast.GPRegressor().fit(X, y)
        expected, failures = gp.predict(X), []

        def ask():
            for _ in range(200):
                if not (gp.predict(X) == expected).all():
                    failures.append(1)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_the_number_of_threads_changes_no_digit(self):
        X, y = wavy(80)
        one, two = (holdfast.GPRegressor(threads=n).fit(X, y).predict(X) for n in (1, 2))
        self.assertTrue((one == two).all())

    def test_forked_children_go_on(self):
        X, _ = wavy(200)
        model = holdfast.GPRegressor(preset="gp", threads=2)
        expected = model.fit(X, X[:, 0]).predict(X)  # after which the parent has threads
        fork = multiprocessing.get_context("fork")
        queue = fork.Queue()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            process = fork.Process(target=child, args=(queue, holdfast.GPRegressor(preset="gp", threads=2), X))
            process.start()
        self.assertTrue((queue.get(timeout=60) == expected).all())
        process.join()


class Interruptions(Case):
    def test_progress(self):
        X, y = wavy()
        heard = []
        holdfast.GPRegressor(progress=lambda stage, done, value: heard.append((stage, done, value))).fit(X, y)
        self.assertGreater(len(heard), 3)
        self.assertTrue(all(isinstance(stage, str) for stage, _, _ in heard))
        self.assertTrue(all(done is None or 0 <= done <= 1 for _, done, _ in heard))

    def test_a_function_that_says_no_cancels(self):
        X, y = wavy()
        calls = []

        def stop(stage, done, value):
            calls.append(stage)
            return len(calls) < 3

        self.refused(holdfast.Cancelled, "cancelled", holdfast.GPRegressor(progress=stop).fit, X, y)
        self.assertEqual(len(calls), 3)

    def test_failures_of_the_function_come_through(self):
        X, y = wavy()

        def fail(stage, done, value):
            raise KeyError("from the callback")

        self.refused(KeyError, "from the callback", holdfast.GPRegressor(progress=fail).fit, X, y)

    def test_bars(self):
        X, y = wavy()
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            holdfast.GPRegressor(progress=True).fit(X, y)
        self.assertIn("train", shown.getvalue())
        for progress in (None, False):
            shown = io.StringIO()
            with contextlib.redirect_stderr(shown):
                holdfast.GPRegressor(progress=progress).fit(X, y)
            self.assertEqual(shown.getvalue(), "")

    def check_interrupt(self, kind, interrupt):
        X, y = wavy(1500)
        timer = threading.Timer(0.3, interrupt)
        timer.start()
        begin = time.monotonic()
        try:
            with self.assertRaises(kind):
                holdfast.GPRegressor(solver="exact", restarts=50).fit(X, y)
        finally:
            timer.cancel()
        self.assertLess(time.monotonic() - begin, 20)

    def test_ctrl_c(self):
        before = signal.getsignal(signal.SIGINT)
        self.check_interrupt(KeyboardInterrupt, _thread.interrupt_main)
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        X, y = wavy()
        holdfast.GPRegressor().fit(X, y)  # and all goes on

    def test_handlers_of_the_program(self):
        class Own(Exception):
            pass

        def handler(number, frame):
            raise Own

        before = signal.signal(signal.SIGINT, handler)
        try:
            self.check_interrupt(Own, lambda: os.kill(os.getpid(), signal.SIGINT))
        finally:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    testing.main()
