# SPDX-License-Identifier: Apache-2.0
"""Other optimisers on the test problems: the script runs them, goes on where it was, and keeps honest regrets."""
import csv
import importlib.util
import os
import subprocess
import sys
import unittest

from toolcase import SOURCE, ToolCase

FOLDER = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments")
SCRIPT = os.path.join(FOLDER, "peer_optimisers.py")
NEEDS = {"random": (), "direct": ("nlopt",), "crs2": ("nlopt",), "cmaes": ("optuna", "cmaes")}


class Peers(ToolCase):
    def start(self, *arguments):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run([sys.executable, SCRIPT, "--out", self.path("r.csv"), *arguments], capture_output=True, text=True,
                              timeout=200, check=False, env=environment)

    def rows(self):
        return list(csv.DictReader(self.read("r.csv").splitlines()))

    def test_runs_and_goes_on(self):
        peers = [p for p, needs in NEEDS.items() if all(importlib.util.find_spec(n) for n in needs)]
        asked = ["--peers", ",".join(peers), "--problems", "branin,two-choices", "--seeds"]
        done = self.start(*asked, "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        first = self.rows()
        self.assertEqual(len(first), 4 * len(peers))
        for row in first:
            regrets = [float(row["r%d" % (10 * k)]) for k in range(1, 11)]
            self.assertTrue(all(r >= 0 for r in regrets), row)
            self.assertEqual(row["evaluations"], {"branin": "100", "two-choices": "150"}[row["problem"]])
            if row["wrong"] == "0":  # the best clean value told so far never gets worse
                self.assertEqual(regrets, sorted(regrets, reverse=True))
                self.assertLess(regrets[-1], 10)
        again = self.start(*asked, "0..1")
        self.assertEqual(again.returncode, 0, again.stderr)
        both = self.rows()
        self.assertEqual(both[:len(first)], first)
        self.assertEqual(sorted(r["seed"] for r in both), ["0"] * len(first) + ["1"] * len(first))
        os.rename(self.path("r.csv"), self.path("old.csv"))
        self.start(*asked, "0")
        self.assertEqual(self.rows(), first)

    def test_gift(self):
        asked = ["--peers", "random", "--problems", "branin", "--seeds", "0..4"]
        told, given = [], []
        for rows, more in ((told, []), (given, ["--recommend", "clean"])):
            self.assertEqual(self.start(*asked, *more).returncode, 0)
            rows += self.rows()
            os.remove(self.path("r.csv"))
        for a, b in zip(told, given):
            regrets = [float(b["r%d" % (10 * k)]) for k in range(1, 11)]
            self.assertEqual(regrets, sorted(regrets, reverse=True))
            self.assertLessEqual(regrets[-1], float(a["r100"]))
            if a["wrong"] == "0":
                self.assertEqual(a, b)
        self.assertNotEqual(told, given)

    def test_says_what_it_does_not_know(self):
        done = self.start("--peers", "random,nobody", "--problems", "nothing")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no problem or peer nothing, nobody", done.stderr)


if __name__ == "__main__":
    if not os.path.exists(SCRIPT):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
