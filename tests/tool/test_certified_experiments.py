# SPDX-License-Identifier: Apache-2.0
"""Experiments with certified probabilities: each runs at its smallest, goes on where it was, and says what it lacks."""
import json
import os
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

FOLDER = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments")


class Certified(ToolCase):
    def good(self, name, *arguments):
        done = subprocess.run([os.path.join(FOLDER, "hf-reproduce-certified-" + name), *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def test_help(self):
        listed = self.ok("reproduce").split()
        for name in ("fig2", "fig3", "fig4"):
            self.assertIn("certified-" + name, listed)
            self.assertTrue(self.good(name, "--help").startswith("usage: certified-%s " % name))

    def test_fig2_sweeps_are_nested(self):
        small = ["--sets", "synthetic2d", "--train", 60, "--evaluations", 8, "--json", "r.jsonl"]
        first = self.good("fig2", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual(len(rows), 14)
        for row, wider in zip(rows, rows[1:]):
            self.assertLessEqual(row["lower"], row["lower_attained"])
            self.assertLessEqual(row["upper_attained"], row["upper"])
            self.assertGreaterEqual(row["attack"], row["lower"])
            self.assertLessEqual(wider["lower"], row["lower_attained"])
            self.assertGreaterEqual(wider["upper"], row["upper_attained"])
        self.assertEqual(self.good("fig2", *small, "--report"), first)
        self.assertEqual(self.good("fig2", *small), first)

    def test_fig3(self):
        small = ["--sets", "synthetic2d", "--train", 60, "--points", 3, "--most", 10, "--json", "r.jsonl"]
        first = self.good("fig3", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual(len(rows), 6)
        self.assertTrue(all(0 <= row["delta_attained"] <= row["delta"] <= row["delta_attained"] + 0.0201 for row in rows))
        self.assertIn("| synthetic2d | ep | 10 (", first)
        self.assertEqual(self.good("fig3", *small, "--report"), first)

    def test_fig4(self):
        small = ["--sets", "synthetic2d", "--training", "40,60", "--inducing", "10,50", "--methods", "dtc,var", "--points", 3,
                 "--evaluations", 6, "--json", "r.jsonl"]
        first = self.good("fig4", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual({row["case"].rsplit(" ", 1)[0] for row in rows},
                         {f"synthetic2d {method} {sizes}" for method in ("dtc", "var") for sizes in ("40 10", "60 10", "60 50")})
        self.assertTrue(all(0 <= row["delta_attained"] <= row["delta"] <= row["delta_attained"] + 0.0201 for row in rows))
        self.assertEqual(first.count("| falls"), 1)
        self.assertEqual(self.good("fig4", *small, "--report"), first)

    def test_data_that_are_not_there(self):
        self.assertIn("spam is left out", self.good("fig2", "--sets", "spam", "--data", "nowhere"))
        self.assertIn("mnist38 is left out", self.good("fig3", "--sets", "mnist38", "--data", "nowhere"))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-certified-fig2")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
