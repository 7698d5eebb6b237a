# SPDX-License-Identifier: Apache-2.0
"""Studies on the test problems: the same starts and wrong values for all methods, regrets of clean values, runs that go
on where they were stopped, and what is summed up beside peers."""
import os
import shutil
import subprocess
import unittest

from test_experiments import FOLDER, Experiment

PROBLEM = os.path.join(FOLDER, "hf-reproduce-bo-problem")
SHORT = ["--problems", "branin,mixed-branin,gardner,dtlz2", "--seeds", "3..4", "--evaluations", "20", "--share", "0.25"]
HEAD = "problem,peer,wrong,seed,evaluations," + ",".join("r%d" % (10 * k) for k in range(1, 11)) + "\n"


def evaluations(name, seed, share, count):
    """Clean and told values of the common design, by the program that other optimisers use."""
    def ask(*lines):
        text = "".join(line + "\n" for line in ("%s %d %r" % (name, seed, share), *lines))
        done = subprocess.run([PROBLEM], input=text, capture_output=True, text=True, timeout=100, check=True)
        return done.stdout.splitlines()[1:]
    rows = [list(map(float, line.split())) for line in ask(*ask("start %d" % count))]
    half = len(rows[0]) // 2
    return [row[:half] for row in rows], [row[half:] for row in rows]


def volume(points, reference):
    """Area above the reference that the points dominate."""
    area, height = 0.0, reference[1]
    for x, y in sorted(points, reverse=True):
        if x > reference[0] and y > height:
            area += (x - reference[0]) * (y - height)
            height = y
    return area


class Studies(Experiment):
    def runs(self, name):
        return {(r["problem"], r["method"], r["share"], r["seed"]): r for r in self.lines(name)}

    def test_methods_meet_the_same(self):
        out = self.good("bo-study", *SHORT, "--jobs", 2, "--json", "a.jsonl")
        runs = self.runs("a.jsonl")
        self.assertEqual(len(runs), 4 * 2 * 3)
        for (problem, method, _, seed), r in runs.items():
            with self.subTest((problem, method, seed)):
                self.assertEqual(r["wrong"], runs[problem, "random", 0.25, seed]["wrong"])
                self.assertLessEqual(r["aside_wrong"], min(r["aside"], r["wrong"]))
                self.assertTrue(all(v >= 0 for v in r["regret"]) and r["seen"] <= r["regret"][-1])
                if method == "plain":
                    self.assertEqual((r["aside"], r["repeats"]), (0, 0))
        self.assertGreater(sum(r["wrong"] for r in runs.values()), 0)
        # The point recommended of random ones follows from the program that the peers use.
        for seed in (3, 4):
            clean, told = evaluations("branin", seed, 0.25, 20)
            for k in range(1, 11):
                best = max(range(2 * k), key=lambda i: told[i][0])
                self.assertAlmostEqual(runs["branin", "random", 0.25, seed]["regret"][k - 1], -0.39788735772973816 - clean[best][0])
            clean, told = evaluations("dtlz2", seed, 0.25, 20)
            front = [c for c, t in zip(clean, told) if not any(o != t and o[0] >= t[0] and o[1] >= t[1] for o in told)]
            best = 1.21 - 0.78539816339744830962
            r = runs["dtlz2", "random", 0.25, seed]
            self.assertAlmostEqual(r["regret"][-1], best - volume(front, (-1.1, -1.1)))
            self.assertAlmostEqual(r["seen"], best - volume(clean, (-1.1, -1.1)))
            clean, told = evaluations("gardner", seed, 0.25, 20)
            least = min(max(0, t[1]) for t in told)
            best = max((i for i in range(20) if max(0, told[i][1]) == least), key=lambda i: told[i][0])
            value = clean[best][0] if least == 0 else min(c[0] for c in clean[:6])
            r = runs["gardner", "random", 0.25, seed]
            self.assertAlmostEqual(r["regret"][-1], 2 - value)
            self.assertEqual(r["feasible"], least == 0)
        for words in ("### 25 % wrong values", "| default | plain |", "| dtlz2 | 25 % | random |"):
            self.assertIn(words, out)

    def test_goes_on_and_sums_up(self):
        short = ["--problems", "branin", "--seeds", "0..1", "--evaluations", "12", "--share", "0", "--methods", "plain,random"]
        first = self.good("bo-study", *short, "--json", "a.jsonl", "--csv", "a.csv")
        lines = self.read("a.jsonl").splitlines(keepends=True)
        self.assertEqual(len(lines), 4)
        self.write("a.jsonl", "".join(lines[:3]) + lines[3][:40])
        self.good("bo-study", *short, "--json", "a.jsonl")
        again = self.read("a.jsonl").splitlines(keepends=True)
        self.assertEqual((again[:3], len(again)), (lines[:3], 4))
        self.assertEqual([r["regret"] for r in self.lines("a.jsonl")], [r["regret"] for r in self.runs_of(lines)])
        report = self.good("bo-study", *short, "--json", "a.jsonl", "--report")
        self.assertEqual(report.split("\nMedian regret of")[0], first.split("\nMedian regret of")[0])
        self.assertEqual(self.read("a.csv").splitlines()[0] + "\n", HEAD)
        self.assertIn("| branin |", self.good("bo-table", "--runs", "a.csv", "--ours", "plain"))
        # Peers of the same problems, seeds and shares stand beside.
        regrets = ",1e-9" * 10 + "\n"
        self.write("peers.csv", HEAD + "branin,good,0,0,12" + regrets + "levy20,good,0,0,12" + regrets + "branin,late,0,7,12" + regrets)
        out = self.good("bo-study", *short, "--json", "a.jsonl", "--report", "--peers", "peers.csv")
        self.assertIn("**1e-09** (1e-09, 1e-09), 1 seeds", out)
        self.assertNotIn("levy20", out)
        self.assertNotIn("late", out)
        if shutil.which("gnuplot"):
            self.good("bo-study", *short, "--json", "a.jsonl", "--report", "--wrong", 0, "--picture", "p")
            self.assertIn("simple regret", self.read("p.svg"))

    def runs_of(self, lines):
        self.write("lines.jsonl", "".join(lines))
        return self.lines("lines.jsonl")

    def test_mistakes(self):
        self.write("bad.jsonl", '{"problem": "branin"}\n')
        for arguments, words in ((["--problems", "brain"], "brain"), (["--methods", "best"], "best"), (["--share", "2"], "2"),
                                 (["--report"], "--json"), (["--report", "--json", "bad.jsonl"], "bad.jsonl: line 1"),
                                 (["--problems", "lasso-dna", "--data", "nowhere"], "nowhere/")):
            code, _, err = self.start("bo-study", *arguments)
            self.assertNotEqual(code, 0, arguments)
            self.assertIn(words, err)
        self.assertTrue(self.good("bo-study", "--help").startswith("usage: bo-study "))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-bo-study")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
