# SPDX-License-Identifier: Apache-2.0
"""Runs of optimisers summed up: medians, quartiles, the best peer, ours beside it, pictures."""
import os
import shutil
import statistics
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

PROGRAM = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments", "hf-reproduce-bo-table")
HEAD = "problem,peer,wrong,seed,evaluations," + ",".join("r%d" % (10 * k) for k in range(1, 11)) + "\n"


def line(problem, method, wrong, seed, last):
    return ",".join(map(str, [problem, method, wrong, seed, 100] + [last * (11 - k) for k in range(1, 11)])) + "\n"


class Table(ToolCase):
    def start(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)

    def cells(self, out, share):
        part = out.split("### %s %% wrong values" % share)[1].split("###")[0]
        rows = [[c.strip() for c in row.strip("|").split("|")] for row in part.strip().splitlines()]
        return {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}

    def test_table(self):
        ours, good, bad = [0.2, 0.1, 0.4, 0.3], [0.5, 0.25, 1.0, 0.75], [7, 8, 9]
        text = HEAD + "".join(line("one", "good", 0, s, v) for s, v in enumerate(good)) \
            + "".join(line("one", "bad", 0, s, v) for s, v in enumerate(bad)) \
            + "".join(line("one", "good", 0.25, s, v) for s, v in enumerate(good)) + line("two", "bad", 0, 0, 0)
        self.write("peers.csv", text)
        self.write("ours.csv", HEAD + "".join(line("one", "mine", w, s, v) for w in (0, 0.25) for s, v in enumerate(ours))
                   + line("two", "mine", 0, 0, 0) + "one,torn,0,1,10")
        done = self.start("--runs", "peers.csv,ours.csv", "--ours", "mine", "--out", "all.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        clean, wrong = self.cells(done.stdout, "0"), self.cells(done.stdout, "25")
        low, middle, high = statistics.quantiles(good, n=4, method="inclusive")
        self.assertEqual(clean["one"]["good"], "**%.3g** (%.2g, %.2g)" % (middle, low, high))
        self.assertEqual(clean["one"]["bad"], "8 (7.5, 8.5), 3 seeds")
        self.assertEqual([clean["one"][c] for c in ("best peer", "ratio", "reached")], ["good", "0.4", "yes"])
        self.assertEqual([clean["two"][c] for c in ("best peer", "ratio", "reached")], ["bad", "-", "yes"])
        # On wrong values a third is asked, and 0.25 is not a third of 0.625.
        self.assertEqual([wrong["one"][c] for c in ("best peer", "ratio", "reached")], ["good", "0.4", "no"])
        self.assertEqual(wrong["two"]["good"], "-")
        # Tables that were written together are read as what they were.
        self.assertEqual(self.start("--runs", "all.csv", "--ours", "mine").stdout, done.stdout)
        self.assertTrue(self.read("all.csv").startswith(HEAD))

    def test_pairs(self):
        first, second = [1.0, 2.0, 3.0, 2.0], [4.0, 5.0, 2.5, 4.5]
        self.write("a.csv", HEAD + "".join(line("one", "a", 0.25, s, v) for s, v in enumerate(first))
                   + "".join(line("one", "b", 0.25, s, v) for s, v in enumerate(second))
                   + line("one", "b", 0.25, 9, 1000) + line("two", "a", 0.25, 0, 1))
        for pair, verdict, lower in ((["a", "b"], "lower", 3), (["b", "a"], "higher", 1)):
            done = self.start("--runs", "a.csv", "--pair", ",".join(pair))
            self.assertEqual(done.returncode, 0, done.stderr)
            row = self.cells(done.stdout.split("+- its")[1], "25")
            values = {"a": first, "b": second}
            for name in pair:
                error = statistics.stdev(values[name]) / 2
                self.assertEqual(row["one"][name], "%.3g +- %.2g" % (statistics.mean(values[name]), error))
            self.assertEqual((row["one"]["lower on"], row["one"]["intervals"]), ("%d of 4" % lower, verdict))
            self.assertNotIn("two", row)
        self.assertIn("takes two methods, not 1", self.start("--runs", "a.csv", "--pair", "a").stderr)

    def test_mistakes(self):
        self.write("a.csv", HEAD + line("one", "good", 0, 0, 1))
        self.write("b.csv", HEAD + "one,good,0,1,100,1,2\n")
        for arguments, words in ((["--runs", "a.csv,a.csv"], "a.csv:2: this run is there already"), (["--runs", "b.csv"], "b.csv:2: no run"),
                                 (["--runs", "none.csv"], "none.csv"), ([], "no --runs"),
                                 (["--runs", "a.csv", "--wrong", "25", "--picture", "p"], "no run has a share of 0.25")):
            done = self.start(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        self.assertTrue(self.start("--help").stdout.startswith("usage: bo-table "))

    def test_picture(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        self.write("a.csv", HEAD + line("one", "good", 0, 0, 1) + line("one", "good", 0, 1, 2) + line("two", "it's", 0, 0, 0))
        done = self.start("--runs", "a.csv", "--picture", "p")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("simple regret", self.read("p.svg"))


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
