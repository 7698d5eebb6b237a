# SPDX-License-Identifier: Apache-2.0
"""Experiments with tracks: each runs at its smallest, goes on where it was, gives the same numbers again, and says what it lacks."""
import json
import math
import os
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

FOLDER = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments")
DATA = os.path.join(SOURCE, "..", "shared", "data")


class Sparq(ToolCase):
    def start(self, name, *arguments):
        return subprocess.run([os.path.join(FOLDER, "hf-reproduce-sparq-" + name), *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=200, check=False)

    def good(self, name, *arguments):
        done = self.start(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def lines(self, name):
        return {line["case"]: line for line in map(json.loads, self.read(name).splitlines())}

    def test_help(self):
        listed = self.ok("reproduce").split()
        for name in ("synthetic", "ozone", "cost", "regret", "kl"):
            self.assertIn("sparq-" + name, listed)
            self.assertTrue(self.good(name, "--help").startswith("usage: sparq-%s " % name))

    def test_synthetic(self):
        small = ["--quick", "--groups", "practical,few", "--jobs", 2]
        first = self.good("synthetic", *small, "--json", "r.jsonl")
        rows = self.lines("r.jsonl")
        self.assertEqual(len([name for name in rows if name.startswith("practical: ")]), 16)
        for name, row in rows.items():
            if name.startswith("requests: "):
                continue
            self.assertTrue(0 <= row["all"] <= 1.91 and row["t500"] is None, name)
            self.assertEqual(row["answers"] > 0, "sparq" in name, name)
        # Two realisations meet different errors, and a method meets the same ones again, whatever the processes.
        self.assertNotEqual(rows["practical: sparq #0"]["all"], rows["practical: sparq #1"]["all"])
        self.good("synthetic", "--quick", "--groups", "practical", "--jobs", 1, "--json", "again.jsonl")
        for name, row in self.lines("again.jsonl").items():
            self.assertEqual(row, rows[name])
        self.assertEqual(self.good("synthetic", *small, "--json", "r.jsonl"), first)
        self.assertEqual(len(self.lines("r.jsonl")), len(rows))
        # Q_t = ceil(6 log t) and what one answer a step comes to
        self.assertEqual([rows["requests: practical: sparq #0"][t] for t in ("t2", "t5", "t10", "t20")], [5, 10, 14, 18])
        self.assertEqual(rows["few: sparq-reuse, 1 a step #0"]["answers"], 39 / 40)

    def test_controls(self):
        self.good("synthetic", "--quick", "--groups", "controls", "--json", "r.jsonl", "--jobs", 2)
        rows = self.lines("r.jsonl")
        # A survey has as many readings as a list, but at the first step, when a list has none either.
        sizes = [0] + [math.ceil(6 * math.log(t)) for t in range(2, 41)]
        for name in ("an even grid, 6 log t", "random places, 6 log t"):
            self.assertAlmostEqual(rows[f"controls: {name} #0"]["answers"], sum(sizes) / 40, places=12)
        self.assertEqual(rows["controls: an even grid of 20 #0"]["answers"], 20 * 39 / 40)
        # There are at most t - 1 visited places.
        few = rows["controls: even among visited places, 6 log t #0"]["answers"]
        self.assertTrue(0 < few <= sum(min(size, t) for t, size in enumerate(sizes)) / 40)
        # Five readings see less of the function than twenty.
        for seed in (0, 1):
            self.assertLess(rows[f"controls: an even grid of 20 #{seed}"]["all"],
                            rows[f"controls: an even grid of 5 #{seed}"]["all"])
        anywhere = {name: row for name, row in rows.items() if "anywhere" in name}
        self.assertEqual(len(anywhere), 16)
        for name, row in anywhere.items():
            self.assertGreater(row["answers"], 4, name)

    def test_only(self):
        self.good("synthetic", "--quick", "--groups", "controls", "--only", "an even grid of 5", "--json", "r.jsonl")
        self.assertEqual(set(self.lines("r.jsonl")), {f"controls: an even grid of 5 #{seed}" for seed in (0, 1)})

    def test_regret(self):
        small = ["--quick", "--json", "r.jsonl", "--jobs", 2]
        first = self.good("regret", *small)
        rows = self.lines("r.jsonl")
        for name, row in rows.items():
            # R_62 / 62 is the mean of both halves.
            self.assertAlmostEqual(2 * row["t62"], row["t31"] + row["h62"], places=12, msg=name)
            self.assertIsNone(row["t125"])
        # The same realisation as in the other experiment.
        self.good("synthetic", "--steps", 62, "--groups", "practical", "--only", "tv", "--realisations", 1, "--json", "s.jsonl")
        self.assertEqual(rows["long: tv-gp-ucb, 0.03 #0"]["t62"], self.lines("s.jsonl")["practical: tv-gp-ucb #0"]["all"])
        self.assertEqual(self.good("regret", *small), first)

    def test_kl(self):
        first = self.good("kl", "--quick", "--json", "r.jsonl")
        row = self.lines("r.jsonl")["T = 62 #0"]
        # Both formulas for expectations are what draws of the readings come to.
        for expected, drawn in (("half_variational", "drawn_variational"), ("answers_list", "drawn_list")):
            error = row[drawn.replace("drawn", "error")]
            self.assertTrue(0 < error < 0.1 * row[expected])
            self.assertLess(abs(row[drawn] - row[expected]), 4 * error)
        # The proof's distance is below the proof's bounds, Proposition 3 holds, and the algorithm's distance is another one.
        self.assertLess(row["variational"], row["trace_bound"] + 1e-9)
        self.assertLess(row["trace_bound"], row["bound"])
        self.assertTrue(0 < row["eta"] <= 0.2 and row["mean_share"] < 1 and row["variance_share"] < 1)
        self.assertGreater(row["answers_list"], 1)
        self.assertTrue(row["places_needed"] < row["rank"] < row["answers_needed"] <= 60)
        self.assertEqual(self.good("kl", "--report", "--json", "r.jsonl"), first)

    def test_ozone(self):
        done = self.start("ozone", "--data", "nowhere")
        self.assertEqual(done.returncode, 77)
        self.assertIn("nowhere/ny_ozone/nysptime.csv is not there", done.stderr)
        if not os.path.exists(os.path.join(DATA, "ny_ozone", "nysptime.csv")):
            self.skipTest("the readings of ozone are not there")
        first = self.good("ozone", "--data", DATA, "--quick", "--json", "r.jsonl")
        rows = self.lines("r.jsonl")
        # Readings of the day decide better than those of the day before, and these better than none.
        for start in (1, 2):
            same, before, none = (rows[f"{name} #{start}"]["all"] for name in
                                  ("sparq, the same day", "sparq, the day before", "gp-ucb"))
            self.assertLess(same, before)
            self.assertLess(same, none)
            best, mean = (rows[f"15 random stations, the best {which} #{start}"] for which in ("answer", "mean"))
            self.assertEqual(best["answers"], mean["answers"])  # the same stations
            self.assertGreater(rows[f"sparq, as printed #{start}"]["all"], same)
        self.assertIn("the best fixed station in hindsight (20) 8.25", first)
        self.assertEqual(self.good("ozone", "--data", DATA, "--report", "--starts", 2, "--json", "r.jsonl"), first)

    def test_cost(self):
        self.good("cost", "--quick", "--json", "r.jsonl")
        rows = self.lines("r.jsonl")
        self.assertEqual(rows["sparq"]["reached"], 120)
        self.assertTrue(rows["sparq"]["ms_1e2"] > 0 and rows["sparq"]["bytes_1e2"] > 0 and rows["sparq"]["ms_3e2"] is None)
        self.assertIn("| se(outputscale=0.3, lengthscale=1) | 40 |", self.good("cost", "--report", "--json", "r.jsonl"))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-sparq-synthetic")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
