# SPDX-License-Identifier: Apache-2.0
"""Experiments with envelopes: the data are those of a published program, every program runs at its smallest, goes on where it was, and says what it lacks."""
import csv
import json
import math
import os
import random
import re
import shutil
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

BUILD = os.environ.get("HF_BUILD", os.path.join(SOURCE, "build"))
FOLDER = os.path.join(BUILD, "experiments")
DATA = os.path.join(SOURCE, "..", "shared", "data")
SMALL = {"fig2": ["--side", "3"]}
PROGRAMS = ["tables", "fig2", "fig3", "example2", "example3", "norm", "effort"]
AUTHORS = os.path.exists(os.path.join(DATA, "rkhs_henon_grid_delta1", "bounds.csv"))


def henon(a, b):
    return 1 - 0.8 * a * a + b + 8 * math.sin(0.8 * b)


class Envelopes(ToolCase):
    def start(self, name, *arguments):
        program = os.path.join(FOLDER, "hf-reproduce-envelope-" + name)
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, check=False)
        return done.returncode, done.stdout, done.stderr

    def good(self, name, *arguments):
        code, out, err = self.start(name, *arguments)
        self.assertEqual((code, err), (0, ""))
        return out

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def row(self, text, start):
        """The fields of the table row that begins so."""
        found = [line for line in text.splitlines() if line.startswith("| " + start + " |")]
        self.assertEqual(len(found), 1, text)
        return [field.strip() for field in found[0].strip("|").split("|")]


class EveryProgram(Envelopes):
    def test_help_and_mistakes(self):
        listed = self.ok("reproduce").split()
        for name in PROGRAMS:
            with self.subTest(name):
                self.assertIn("envelope-" + name, listed)
                self.assertTrue(self.good(name, "--help").startswith(f"usage: envelope-{name} "))
                code, out, err = self.start(name, "--no-such-option")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("usage:", err)
                code, _, err = self.start(name, "operand")
                self.assertEqual(code, 2)
                self.assertIn('"operand" is no option', err)
        code, _, err = self.start("example3", "--solver", "none")
        self.assertEqual(code, 2)

    def test_nothing_kept_nothing_computed(self):
        for name in PROGRAMS:
            with self.subTest(name):
                self.good(name, "--report", "--json", "none.jsonl")
        self.assertEqual(self.files(), [])

    def test_kept_lines_are_checked(self):
        self.write("bad.jsonl", '{"case": "x"}\nnot json\n')
        code, _, err = self.start("fig3", "--json", "bad.jsonl", "--report")
        self.assertEqual(code, 1)
        self.assertIn("bad.jsonl: line 2", err)


class Tables(Envelopes):
    def test_readings_are_those_of_the_published_program(self):
        self.good("tables", "--readings", "r.csv")
        ours = list(csv.DictReader(self.read("r.csv").splitlines()))
        self.assertEqual(len(ours), 400)
        for noise in (1, 5):
            random.seed(1)
            expected = {"random": [], "grid": []}

            def read(layout, a, b):
                error = min(max(random.normalvariate(0, noise / 2.58), -noise), noise)
                expected[layout].append((a, b, henon(a, b) + error))

            for _ in range(100):
                a, b = random.uniform(-10, 10), random.uniform(-10, 10)
                read("random", a, b)
            for i in range(100):
                read("grid", -10 + 20 * (i // 10) / 9, -10 + 20 * (i % 10) / 9)
            for layout, rows in expected.items():
                found = [tuple(float(line[k]) for k in ("z1", "z2", "y")) for line in ours
                         if line["noise"] == str(noise) and line["layout"] == layout]
                self.assertEqual(len(found), len(rows))
                for one, other in zip(found, rows):
                    for x, y in zip(one, other):
                        self.assertAlmostEqual(x, y, delta=1e-12)

    def test_ranking_and_resuming(self):
        options = ["--side", "4", "--json", "kept"]
        out = self.good("tables", *options)
        kept = self.lines("kept")
        self.assertEqual(len(kept), 36)
        for line in kept:
            self.assertLess(line["optimal"], line["closed_coded"])
            self.assertTrue(line["optimal"] < line["optimal_coded"] < 1.5 * line["optimal"])
            self.assertLessEqual(line["optimal"], min(line["closed"], line["ellipsoid"]))
            self.assertLess(10 * line["optimal"], min(line["gp"], line["gp_coded"]))
            self.assertEqual((line["outside"], line["truth_outside"]), (0, 0))
        self.assertEqual(self.good("tables", *options), out)
        self.assertEqual(self.good("tables", *options, "--report"), out)
        self.assertEqual(self.lines("kept"), kept)


class Figures(Envelopes):
    def test_without_the_authors_data(self):
        for name in ("fig2", "fig3"):
            code, out, err = self.start(name, "--data", "nowhere", "--seeds", "0", *SMALL.get(name, []))
            self.assertEqual(code, 0)
            self.assertIn("not in nowhere (--data DIR)", out)
            self.assertRegex(err, r"nowhere/rkhs_henon_grid_delta1/readings.csv is not there: .*\n    what: .*\n    source: .*http")

    @unittest.skipUnless(AUTHORS, "no authors' data")
    def test_the_authors_bounds(self):
        out = self.good("fig2", "--data", DATA, "--seeds", "0", *SMALL["fig2"])
        self.assertLess(float(re.search(r"bounds within (\S+) of", out).group(1)), 2e-4)
        self.assertAlmostEqual(float(re.search(r"mean C - f ([\d.]+) with", out).group(1)), 4.819, delta=2e-3)

    @unittest.skipUnless(AUTHORS, "no authors' data")
    def test_the_authors_slice(self):
        fields = self.row(self.good("fig3", "--data", DATA, "--seeds", "0"), "the authors' grid")
        self.assertEqual(fields[5:7], ["8.93", "21.13"])  # as printed
        self.assertLess(float(fields[1]), float(fields[5]))

    def test_a_printed_average_to_the_digit(self):
        # All but one kind from a coarse mesh, which is kept, so that only that one takes its time.
        self.start("fig2", "--data", "nowhere", "--seeds", "0", "--json", "coarse", *SMALL["fig2"])
        kept = [line for line in self.read("coarse").splitlines() if "grid, noise 1" not in line]
        self.assertEqual(len(kept), 6)
        self.write("kept", "\n".join(kept) + "\n")
        _, out, _ = self.start("fig2", "--data", "nowhere", "--seeds", "0", "--json", "kept")
        above = {line["case"]: line["above"] for line in self.lines("kept")}
        coded = above["the paper's readings, grid, noise 1, with 1e-8"]
        self.assertAlmostEqual(coded, 3.0125, delta=1e-3)  # 3.01 is printed
        self.assertLess(above["the paper's readings, grid, noise 1"], coded)
        self.assertIn(f"| grid, noise 1 | 3.01 | {coded:.4f} |", out)

    def test_draws(self):
        done = self.start("fig2", "--data", "nowhere", "--seeds", "1", "--json", "kept", *SMALL["fig2"])
        self.assertEqual(done[0], 0)
        above = {line["case"]: line["above"] for line in self.lines("kept") if "seed" in line["case"]}
        self.assertEqual(len(above), 4)
        self.assertGreater(min(above.values()), 0)
        self.assertLess(above["grid, noise 1, seed 0"], above["grid, noise 5, seed 0"])
        code, _, _ = self.start("fig3", "--data", "nowhere", "--seeds", "1", "--points", "11", "--json", "slices", "--picture", "p")
        self.assertEqual(code, 0)
        for line in self.lines("slices"):
            self.assertLess(line["optimal"], min(line["closed"], line["minimum_norm"], line["ellipsoid"]))
        if shutil.which("gnuplot"):
            self.assertTrue(self.read("p.svg").rstrip().endswith("</svg>"))


class Others(Envelopes):
    def test_effort(self):
        out = self.good("effort", "--json", "kept")
        kept = {line["case"]: line for line in self.lines("kept")}
        exact = kept["two readings, off by all of it, up and down"]
        self.assertLess(exact["second"] - exact["first"], 1e-12)  # Figure 1, right: f itself
        self.assertTrue(exact["first"] <= exact["third"] + 1e-15 and exact["third"] <= exact["second"] + 1e-15)
        widths = [kept[f"effort, {k}"]["first"] for k in (1, 2, 5, 10, 20, 30, 50, 100, "no limit")]
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.assertGreater(widths[0], 2 * widths[-1])
        norms = [kept[f"norm, grid of {n * n}"] for n in (8, 10, 12, 15, 20)]
        self.assertTrue(all(line["third"] <= line["second"] * (1 + 1e-9) for line in norms))
        self.assertEqual(self.good("effort", "--json", "kept", "--report"), out)
        self.assertEqual(self.start("effort", "--picture", "p")[0], 2)  # it draws none

    def test_norm(self):
        out = self.good("norm", "--readings", "40", "--json", "kept", "--picture", "p")
        norm = float(re.search(r"Its norm is ([\d.]+)\.$", out, re.M).group(1))
        curves = {}
        for line in self.lines("kept"):
            curves.setdefault(line["case"].rsplit(",", 1)[0], []).append((line["readings"], line["norm"]))
        self.assertEqual(len(curves), 8)
        for name, curve in curves.items():
            self.assertEqual(curve[-1][0], 40)
            for one, other in zip(curve, curve[1:]):
                self.assertLess(one[0], other[0])
                self.assertLessEqual(one[1], other[1] * (1 + 1e-9))
            if name.startswith("sum"):
                self.assertLessEqual(curve[-1][1], norm + 0.05)
        self.assertGreater(curves["sum, noise 0.0001"][-1][1], 0.9 * norm)

    def test_unknown_constraint(self):
        self.good("example2", "--draws", "1", "--json", "kept")
        found = {line["case"]: line for line in self.lines("kept")}
        truth = found.pop("truth")
        self.assertAlmostEqual(truth["best"], 5.691, delta=1e-3)
        self.assertEqual(len(found), 6)
        for line in found.values():
            for kind in ("best", "refined"):
                a, b = line[kind + "_z1"], line[kind + "_z2"]
                self.assertAlmostEqual(line[kind], (a - 1) ** 2 + (b - 5) ** 2, delta=1e-9)
                self.assertLessEqual(henon(a, b), -10)
                self.assertGreaterEqual(line[kind], truth["best"] - 1e-6)
        self.assertAlmostEqual(found["grid, 64 readings, draw 0"]["published"], 10.671, delta=5e-3)  # 10.67 is printed

    def test_reactor(self):
        small = ["--initial", "40", "--samples", "40", "--steps", "2"]
        out = self.good("example3", *small, "--json", "kept", "--picture", "p")
        self.assertRegex(out, r"Plans by (NLopt|Ipopt)")
        kept = self.lines("kept")
        self.assertEqual([line["case"] for line in kept], [f"start {i}, step {k}" for k in (1, 2) for i in (1, 2, 3, 4)])
        areas = {"_": [], "_closed_": []}
        for line in kept:
            self.assertTrue(3 <= line["feed"] <= 25)
            for kind, found in areas.items():
                sides = [line[f"{state}{kind}high"] - line[f"{state}{kind}low"] for state in ("cA", "cB")]
                found.append(sides[0] * sides[1])
            for state in ("cA", "cB"):
                inner = line[state + "_low"], line[state + "_high"]
                self.assertTrue(inner[0] <= line[state] <= inner[1], line)
                self.assertLess(inner[1] - inner[0], line[state + "_closed_high"] - line[state + "_closed_low"])
        for field, found in zip(self.row(out, "all")[1:], areas.values()):
            self.assertAlmostEqual(float(field), sum(found) / len(found), delta=6e-5)
        self.assertIn(self.good("example3", *small, "--json", "kept", "--report"), out)
        self.assertEqual(self.lines("kept"), kept)

    def test_late_readings_ask_for_larger_norms(self):
        norms = {}
        for name, options in (("late", []), ("exact", ["--exact"])):
            self.good("example3", "--initial", "40", "--samples", "40", "--steps", "2", "--json", name, *options)
            norms[name] = {line["case"]: (line["cA_norm"], line["cB_norm"]) for line in self.lines(name)}
        for start in (1, 2, 3, 4):
            last = f"start {start}, step 2"
            for late, exact in zip(norms["late"][last], norms["exact"][last]):
                self.assertAlmostEqual(late / exact, 1, delta=0.01)  # the last state of a plan is not late
            for late, exact in zip(*(norms[name][f"start {start}, step 1"] for name in ("late", "exact"))):
                self.assertGreater(late, 1.1 * exact)

    def test_reactor_against_scipy(self):
        try:
            from scipy.integrate import solve_ivp
        except ImportError:
            self.skipTest("no scipy")
        self.good("example3", "--initial", "20", "--samples", "20", "--steps", "2", "--json", "kept")
        kelvin = 273.15 + 114.19108442079495
        one, three = 1.287e12 * math.exp(-9758.3 / kelvin), 9.043e9 * math.exp(-8560 / kelvin)
        state = [2.7, 0.544]
        for line in [line for line in self.lines("kept") if line["case"].startswith("start 1,")]:
            u = line["feed"]
            state = solve_ivp(lambda _, x, u=u: [u * (5.1 - x[0]) - one * x[0] - three * x[0] ** 2,
                                                 -u * x[1] + one * x[0] - one * x[1]],
                              (0, 30 / 3600), state, rtol=1e-11, atol=1e-12).y[:, -1]
            self.assertAlmostEqual(line["cA"], state[0], delta=1e-8)
            self.assertAlmostEqual(line["cB"], state[1], delta=1e-8)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-envelope-tables")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
