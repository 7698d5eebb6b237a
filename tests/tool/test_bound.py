# SPDX-License-Identifier: Apache-2.0
"""holdfast bound and holdfast norm, and the envelope files that they, inspect and plot read."""
import csv
import json
import math
import os
import shutil
import signal
import subprocess
import time
import unittest

from toolcase import SOURCE, TOOL, ToolCase, table

KERNEL = "se(lengthscale=1.5)"
CENTRES = [(1.0, 3.0), (4.0, -2.0), (7.5, 2.5)]


def kernel(a, b):
    return math.exp(-0.5 * ((a - b) / 1.5) ** 2)


def truth(x):
    return sum(w * kernel(x, c) for c, w in CENTRES)


def norm_of_truth():
    return math.sqrt(sum(v * w * kernel(a, b) for a, v in CENTRES for b, w in CENTRES))


class Readings(ToolCase):
    def readings(self, name="r.csv", rows=25, noise=0.2):
        """Readings of a function whose norm is known, off by up to `noise`."""
        lines = ["x,y"]
        for i in range(rows):
            x = round((i * 0.6180339887 % 1) * 8, 4)
            lines.append("%.4f,%.6f" % (x, truth(x) + noise * math.sin(77 * i)))
        return self.write(name, "\n".join(lines) + "\n")

    def bound(self, *more, target="y", norm=5, noise=0.2, operand="r.csv"):
        return self.ok("bound", operand, "--target", target, "--kernel", KERNEL, "--norm", norm, "--noise-bound", noise, *more)


class Bounds(Readings):
    # ---- what comes out ----------------------------------------------------------------------------------------

    def test_the_truth_is_inside(self):
        self.readings()
        self.assertLess(norm_of_truth(), 5)
        out = self.bound("--grid", "x=-1:9:101", "-o", "b.csv")
        bounds = table(self.read("b.csv"))
        self.assertEqual(list(bounds), ["x", "lower", "upper", "gap"])
        self.assertEqual(len(bounds["x"]), 101)
        self.assertEqual((bounds["x"][0], bounds["x"][-1]), (-1, 9))
        for x, low, high, gap in zip(*bounds.values()):
            self.assertTrue(low <= truth(x) <= high, x)
            self.assertTrue(0 <= gap < 1e-3)
        for word in ("readings         25\n", "norm bound       5; the readings ask for ", "queries          101\n", "width ", "pivots",
                     "seconds", "Wrote b.csv"):
            self.assertIn(word, out)
        self.assertNotIn("stopped early", out)

    def test_data_far_from_0(self):
        self.readings()
        self.write("far.csv", "x,y\n" + "".join("%s,%.6f\n" % (x, float(y) + 1000) for x, y in
                                                csv.reader(self.read("r.csv").splitlines()[1:])))
        grid = ["--grid", "x=-6:14:41", "-o"]
        self.bound(*grid, "here.csv")
        out = self.bound("--offset", 1000, *grid, "there.csv", "--save", "e.hf", operand="far.csv")
        self.assertIn("offset           1000: norms are those of the function less that\n", out)
        here, there = table(self.read("here.csv")), table(self.read("there.csv"))
        for side in ("lower", "upper"):
            for a, b in zip(here[side], there[side]):
                self.assertAlmostEqual(a + 1000, b, delta=1e-6)
        self.ok("bound", "e.hf", *grid, "again.csv")
        self.assertEqual(self.read("again.csv"), self.read("there.csv"))
        self.assertIn("offset           1000:", self.ok("inspect", "e.hf"))
        self.assertEqual(json.loads(self.ok("inspect", "e.hf", "--json"))["offset"], 1000)
        norm = ["norm", "far.csv", "-t", "y", "-k", KERNEL, "-b", 0.2, "--json"]
        told = json.loads(self.ok(*norm, "--offset", "median"))
        self.assertAlmostEqual(told["offset"], sorted(float(line.split(",")[1]) for line in
                                                     self.read("far.csv").splitlines()[1:])[12], delta=1e-9)
        self.assertLess(told["norm"], 10)
        _, out, err = self.run_tool(*norm)
        self.assertGreater(json.loads(out)["norm"], 1000)
        self.assertIn("--offset median", err)
        self.ok(*norm, "-q")
        self.ok("norm", "far.csv", "-t", "y", "-k", KERNEL + " + constant(variance=1e6)", "-b", 0.2)
        for bad in ("middle", "nan", "inf"):
            self.fails(["bound", "far.csv", "-t", "y", "-k", KERNEL, "-b", 0.2, "--norm", 5, "--offset", bad, *grid, "x.csv"],
                       "--offset", code=2)
        self.fails(["bound", "e.hf", "--offset", 3, *grid, "x.csv"], "--offset is for tables", code=2)

    def test_closed_forms_hold_the_optimal_bounds_inside(self):
        self.readings()
        grid = ["--grid", "x=0:8:33", "-o", "b.csv"]
        self.bound(*grid)
        best = table(self.read("b.csv"))
        for method in ("closed-form", "minimum-norm", "ellipsoid"):
            out = self.bound("--method", method, "-q", *grid)
            self.assertIn("radius", out)
            looser = table(self.read("b.csv"))
            self.assertEqual(list(looser), ["x", "lower", "upper"])
            slack = [1e-6 * (h - l) for l, h in zip(looser["lower"], looser["upper"])]
            self.assertTrue(all(a <= b + s for a, b, s in zip(looser["lower"], best["lower"], slack)), method)
            self.assertTrue(all(a >= b - s for a, b, s in zip(looser["upper"], best["upper"], slack)), method)
        self.assertIn("99 % probability", self.bound("--method", "gp", "-q", *grid))
        self.bound("--method", "closed-form", "-q", *grid)
        first = self.read("b.csv")
        self.bound("--method", "closed-form", "--ridge", "0.5", "-q", *grid)
        self.assertNotEqual(self.read("b.csv"), first)

    def test_looser_never_wrong(self):
        """Jitter, early stops and rigour widen, and hold the optimal bounds inside."""
        self.readings()
        grid = ["--grid", "x=0:8:33", "-o", "b.csv"]
        self.bound(*grid)
        best = table(self.read("b.csv"))
        for more in (["--jitter", "0.01"], ["--pivots", "3"], ["--rigorous"]):
            code, out, err = self.run_tool("bound", "r.csv", "--target", "y", "--kernel", KERNEL, "--norm", 5, "--noise-bound", 0.2,
                                           *grid, *more)
            self.assertEqual(code, 0, err)
            looser = table(self.read("b.csv"))
            self.assertTrue(all(a <= b + 1e-7 for a, b in zip(looser["lower"], best["lower"])), more)
            self.assertTrue(all(a >= b - 1e-7 for a, b in zip(looser["upper"], best["upper"])), more)
            self.assertEqual("stopped early" in out, more[0] == "--pivots", more)
            self.assertEqual(err.startswith("holdfast: warning: "), more[0] == "--pivots", err)

    def test_places_of_a_table_and_of_a_grid(self):
        self.write("r.csv", "a,note,b,y\n0,p,0,1\n1,q,0,2\n0,r,1,0.5\n1,s,1,1\n")
        run = ["bound", "r.csv", "--target", "y", "--kernel", "matern52(lengthscale=2)", "--norm", "6", "--noise-bound", "0.1"]
        self.ok(*run, "--grid", "b=0:1:3,a=-1:1:2", "-o", "grid.csv")
        grid = table(self.read("grid.csv"))
        self.assertEqual(grid["a"], [-1, -1, -1, 1, 1, 1])
        self.assertEqual(grid["b"], [0, 0.5, 1, 0, 0.5, 1])
        self.write("q.csv", "b,what,a\n" + "".join("%g,z,%g\n" % (b, a) for a, b in zip(grid["a"], grid["b"])))
        self.ok(*run, "--at", "q.csv", "-o", "at.csv")
        self.assertEqual(self.read("at.csv"), self.read("grid.csv"))
        # one value of an input, and the table on standard output
        slice_ = table(self.ok(*run, "--grid", "a=1,b=0:1:3"))
        self.assertEqual(slice_["upper"], grid["upper"][3:])

    def test_noise_bounds_of_readings(self):
        self.write("r.csv", "x,y,d,down,up\n0,1,0.1,0.1,0.1\n1,2,0.3,0.3,0.3\n2,0,0,0,0\n")
        run = ["bound", "r.csv", "--target", "y", "--features", "x", "--kernel", "se(lengthscale=1)", "--norm", "5", "--grid", "x=0:2:21"]
        column = self.ok(*run, "--noise-bound-column", "d")
        self.assertEqual(self.ok(*run, "--noise-below", "down", "--noise-above", "up"), column)
        bounds = table(column)
        self.assertAlmostEqual(bounds["lower"][-1], 0, 5)
        self.assertAlmostEqual(bounds["upper"][-1], 0, 5)
        self.write("r.csv", "x,y,down,up\n0,1,0.1,0.1\n1,2,inf,0\n2,0,0,Inf\n")
        one_sided = table(self.ok(*run, "--noise-below", "down", "--noise-above", "up"))
        self.assertLessEqual(one_sided["upper"][10], 2 + 1e-6)
        self.assertLess(one_sided["lower"][10], 1.5)

    def test_threads_change_no_digit(self):
        self.readings(rows=60)
        one = self.bound("--grid", "x=0:8:200", "--threads", 1)
        self.assertEqual(self.bound("--grid", "x=0:8:200", "--threads", 3), one)

    def test_json(self):
        self.readings()
        got = json.loads(self.bound("--grid", "x=0:8:9", "-o", "b.csv", "--json", "--save", "e.hf"))
        self.assertEqual(set(got), {"target", "kernel", "distinct", "offset", "norm", "minimum_norm", "readings", "left_out", "output", "method",
                                    "queries", "width", "volume", "active", "pivots", "gap", "stopped_early", "seconds", "saved"})
        self.assertEqual((got["readings"], got["queries"], got["norm"], got["saved"]), (25, 9, 5, "e.hf"))
        self.assertEqual(got["kernel"]["parameters"], {"outputscale": 1, "lengthscale": 1.5})
        bounds = table(self.read("b.csv"))
        widths = [h - l for l, h in zip(bounds["lower"], bounds["upper"])]
        self.assertAlmostEqual(got["width"]["mean"], sum(widths) / 9)
        self.assertAlmostEqual(got["volume"], 8 * sum(widths) / 9)
        self.assertEqual((got["width"]["least"], got["width"]["most"]), (min(widths), max(widths)))
        closed = json.loads(self.bound("--grid", "x=0:8:9", "-o", "b.csv", "--json", "-q", "-m", "ellipsoid"))
        self.assertIn("radius", closed)
        self.assertNotIn("pivots", closed)

    def test_rows_with_gaps_are_left_out(self):
        self.write("r.csv", "x,y\n0,1\n1,\n,2\n2,0\n")
        code, out, err = self.run_tool("bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2, "--grid", "x=1", "-o", "b.csv")
        self.assertEqual(code, 0)
        self.assertIn("warning: r.csv: 2 of 4 rows left out", err)
        self.assertIn("readings         2, 2 rows left out", out)

    def test_cross_validation_finds_a_lengthscale(self):
        self.readings(rows=40, noise=0.01)
        run = ["bound", "r.csv", "-t", "y", "-k", "se", "--norm", 30, "-b", 0.2, "--grid", "x=0:8:9", "-o", "b.csv"]
        self.fails(run, "lengthscale has no written value", "--cv")
        code, out, err = self.run_tool(*run, "--cv", "--save", "e.hf", "--json")
        self.assertEqual(code, 0, err)
        self.assertIn("cross-validation: 1 parameters", err)
        found = json.loads(out)["kernel"]["parameters"]
        self.assertEqual(found["outputscale"], 1)
        self.assertTrue(0.7 < found["lengthscale"] < 3, found)
        # The parameters that were found are kept.
        self.assertEqual(json.loads(self.ok("inspect", "e.hf", "--json"))["kernel"]["parameters"], found)
        self.assertEqual(self.run_tool("bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2, "--grid", "x=1", "--cv")[0], 2)

    # ---- contradictions -------------------------------------------------------------------------------------------

    def test_contradictions_are_named(self):
        self.write("r.csv", "x,y\n0,1\n5,0\n\n2,0\n2,1\n")
        run = ["bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 50, "--grid", "x=1"]
        err = self.fails(run + ["-b", 0.2], "r.csv: no function of norm 50 or less meets all readings: lines 5 and 6 cannot all be true",
                         "a noise bound of 0.5 would do", "a larger norm would not")
        self.assertNotIn("nan", err)
        self.fails(run + ["-b", 0], "lines 5 and 6", "no norm would do")
        self.write("r.csv", "x,y,d\n0,1,0.1\n5,0,0.1\n2,0,0.1\n2.1,1,0.1\n")
        err = self.fails(["bound", "r.csv", "-t", "y", "-f", "x", "-k", KERNEL, "--norm", 3, "--noise-bound-column", "d", "--grid", "x=1"],
                         "of norm 3 or less", "lines ", "noise bounds ", " times as large, or a norm of ", " would do")
        # The norm and the factor that it promises will do.
        norm = float(err.split("or a norm of ")[1].split()[0])
        factor = float(err.split("noise bounds ")[1].split()[0])
        run = ["bound", "r.csv", "-t", "y", "-f", "x", "-k", KERNEL, "--grid", "x=1"]
        self.ok(*run, "--norm", norm, "-b", 0.1)
        self.ok(*run, "--norm", 3, "-b", 0.1 * factor)
        self.fails(run + ["--norm", 0.99 * norm, "-b", 0.1], "cannot all be true")
        self.fails(run + ["--norm", 3, "-b", 0.099 * factor], "cannot all be true")

    def test_readings_at_both_ends_of_their_noise_agree(self):
        self.write("t.csv", "x,y\n0,0.8\n0,0.6\n1,0.5\n")
        run = ["bound", "t.csv", "-t", "y", "-k", "se(lengthscale=1)", "-b", "0.1", "--norm", "5", "--grid", "x=0:1:2"]
        for more in ([], ["--rigorous"]):
            rows = list(csv.DictReader(self.ok(*run, *more).splitlines()))
            self.assertTrue(0.7 - 1e-15 <= float(rows[0]["lower"]) <= 0.7 <= float(rows[0]["upper"]) <= 0.7 + 1e-15, rows)
        self.fails(run[:7] + ["0.0999999"] + run[8:], "lines 2 and 3 cannot all be true")

    def test_one_reading_contradicts_the_norm_alone(self):
        self.write("t.csv", "x,y\n0,0.1\n\n9,7\n")
        err = self.fails(["bound", "t.csv", "-t", "y", "-k", KERNEL, "-b", 0.1, "--norm", 5, "--grid", "x=1"],
                         "no function of norm 5 or less meets all readings: line 4 alone contradicts that; ", "a norm of 6.9 would do")
        self.assertNotIn("all be true", err)

    def test_near_twins_ask_for_a_norm_that_no_rounding_hides(self):
        self.write("t.csv", "x,y\n0,0.3\n1,0.5\n1.000000001,0.8\n2.5,-0.2\n")
        run = ["bound", "t.csv", "-t", "y", "-k", "se(lengthscale=1.5)", "-b", 0.1, "--grid", "x=1"]
        for norm in (5, 5e6):
            err = self.fails(run + ["--norm", norm], "lines 3 and 4 cannot all be true", "; or the norm would have to be ", " at least")
            # The difference of 0.1 over a distance of 1e-9 / 1.5: 1.5e8, by these two alone; more with the others.
            self.assertGreater(float(err.split("would have to be ")[1].split()[0]), 5e7)

    def test_a_wrong_reading_of_real_data(self):
        """The race whose record is off by an hour is among those that contradict each other, and without it there is no contradiction."""
        shutil.copy(os.path.join(SOURCE, "data", "hills.csv"), self.path("hills.csv"))
        lines = self.read("hills.csv").split("\n")
        wrong = [i + 1 for i, line in enumerate(lines) if line.startswith("Knock-Hill,")][0]
        self.write("others.csv", "\n".join(line for line in lines if not line.startswith("Knock-Hill,")))
        more = ["-t", "minutes", "-f", "miles,feet", "-k", "se(ard, lengthscale[0]=10, lengthscale[1]=4000)", "--norm", 400, "-b", 10,
                "--grid", "miles=3:10:8,feet=350"]
        self.assertRegex(self.fails(["bound", "hills.csv", *more], "cannot all be true"), r"\b%d\b" % wrong)
        self.ok("bound", "others.csv", *more)

    # ---- files ----------------------------------------------------------------------------------------------------

    def test_a_saved_envelope_answers_the_same(self):
        self.readings()
        first = self.bound("--grid", "x=0:8:33")
        self.assertIn("Wrote e.hf", self.bound("--save", "e.hf"))
        os.unlink(self.path("r.csv"))
        self.assertEqual(self.ok("bound", "e.hf", "--grid", "x=0:8:33"), first)
        self.assertIn("distinct ones", self.ok("bound", "e.hf", "--grid", "x=0:8:33", "-o", "b.csv"))
        self.assertEqual(self.read("b.csv"), first)
        self.ok("bound", "e.hf", "--grid", "x=0:8:33", "-q", "-m", "ellipsoid")
        shown = self.ok("inspect", "e.hf")
        for word in ("Envelope of y by x", "r.csv", "25: 25 intervals", KERNEL, "lengthscale 1.5", "norm bound       5;"):
            self.assertIn(word, shown)
        rows = table(self.ok("inspect", "e.hf", "--rows", "-"))
        self.assertEqual(list(rows), ["x", "lower", "upper"])
        self.assertTrue(all(abs(h - l - 0.4) < 1e-12 for l, h in zip(rows["lower"], rows["upper"])))
        got = json.loads(self.ok("inspect", "e.hf", "--json"))
        self.assertEqual((got["distinct"], got["intervals"], got["exact"], got["rigorous"]), (25, 25, 0, False))
        for option in (["--target", "y"], ["--norm", "3"], ["--noise-bound", "1"], ["--cv"], ["--save", "f.hf"], ["--rigorous"]):
            self.fails(["bound", "e.hf", "--grid", "x=1", *option], option[0] + " is for tables", code=2)

    def test_models_and_envelopes_are_told_apart(self):
        self.readings()
        self.bound("--save", "e.hf")
        self.ok("fit", "r.csv", "--target", "y", "-o", "m.hf", "-q")
        self.fails(["bound", "m.hf", "--grid", "x=1"], "m.hf: a model, not an envelope")
        for verb in ("predict", "score"):
            self.fails([verb, "e.hf", "r.csv"], "e.hf: an envelope, not a model", "holdfast bound")
        text = bytearray(self.read("e.hf", "rb"))
        self.write("cut.hf", bytes(text[:-100]))
        self.fails(["bound", "cut.hf", "--grid", "x=1"], "cut.hf: truncated")
        text[len(text) // 2] ^= 255
        self.write("bad.hf", bytes(text))
        self.fails(["inspect", "bad.hf"], "bad.hf: damaged")

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_pictures(self):
        self.readings()
        self.bound("--save", "e.hf")
        self.assertEqual(self.ok("plot", "e.hf", "-o", "e.svg"), "Wrote e.svg\n")
        picture = self.read("e.svg")
        for word in ("25 readings", "norm of at most 5", "smoothest function", "noise bound"):
            self.assertIn(word, picture)
        self.write("two.csv", "a,b,c,y\n" + "".join("%g,%g,%g,%g\n" % (i % 5, i // 5, i % 3, math.sin(i)) for i in range(20)))
        run = ["bound", "two.csv", "-t", "y", "-k", "se(lengthscale=2)", "--norm", 500, "-b", 0.5]
        self.ok(*run, "-f", "a,b", "--save", "two.hf")
        got = json.loads(self.ok("plot", "two.hf", "-o", "two.svg", "--json"))
        self.assertEqual((got["maps"], got["readings"]), (True, 20))
        for word in ("Upper bound", "Lower bound", "Width"):
            self.assertIn(word, self.read("two.svg"))
        self.ok("plot", "two.hf", "--x", "b", "-o", "slice.svg")
        self.assertIn("at a 2", self.read("slice.svg"))
        self.fails(["plot", "two.hf", "--x", "c", "-o", "none.svg"], '"c"')
        self.ok(*run, "-f", "a,b,c", "--save", "three.hf")
        self.assertEqual(json.loads(self.ok("plot", "three.hf", "-o", "three.svg", "--json"))["maps"], False)
        self.ok("plot", "e.hf", "--data-only", "-o", "parts.svg")
        parts = table(self.read("parts-slice.csv"))
        self.assertEqual(list(parts), ["x", "lower", "upper", "smoothest"])
        self.assertTrue(all(l - 1e-6 <= s <= h + 1e-6 for _, l, h, s in zip(*parts.values())))
        self.assertEqual(len(table(self.read("parts-rows.csv"))["x"]), 25)

    # ---- bad input ------------------------------------------------------------------------------------------------

    def test_bad_tables(self):
        run = ["-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2, "--grid", "x=1"]

        def refuse(text, *parts, more=run):
            self.write("t.csv", text)
            self.fails(["bound", "t.csv", *more], *parts)

        refuse("x,z\n1,2\n", "t.csv", '"y"')
        refuse("x,y\n1,2\n2,oops\n", 't.csv: line 3, column 2 ("y"): "oops" is not a number')
        refuse("x,y\n1,2\nz,3\n", "t.csv", "line 3", more=run + ["-f", "x"])
        refuse("x,y\n", "t.csv: no rows")
        refuse("x,y\n1,\n", "t.csv: no rows")
        refuse("x,y\n1,inf\n", 't.csv, line 2, column "y": the value is infinite')
        refuse("x,y\n-inf,1\n", 't.csv, line 2, column "x"')
        refuse("y\n1\n", "t.csv: no inputs")
        refuse("x,y\n1,2\n", '"w"', more=run + ["-f", "x,w"])
        refuse("x,y\n1,2\n", '"y" cannot be an input', more=run + ["-f", "x,y"])
        refuse("lower,y\n1,2\n", '"lower"', "rename it", more=run[:-2] + ["--grid", "lower=1"])
        column = ["-t", "y", "-k", KERNEL, "--norm", 5, "--noise-bound-column", "d", "--grid", "x=1"]
        refuse("x,y,d\n1,2,0.1\n2,2,-0.1\n", 't.csv, line 3, column "d": the noise bound -0.1 is negative', more=column)
        refuse("x,y,d\n1,2,\n", 't.csv, line 2, column "d": the noise bound is missing', more=column)
        refuse("x,y,d\n1,2,inf\n", 't.csv, line 2, column "d": the value is infinite', more=column)
        refuse("x,y\n1,2\n", '"d"', more=column)
        refuse("x,y,d,u\n1,2,inf,inf\n", "line 2", "says nothing",
               more=["-t", "y", "-k", KERNEL, "--norm", 5, "--noise-below", "d", "--noise-above", "u", "--grid", "x=1"])
        self.fails(["bound", "none.csv", *run], "none.csv: cannot be read")

    def test_bad_queries(self):
        self.readings()
        run = ["bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2]
        for text, parts in (("z\n1\n", ["q.csv", '"x"']), ("x\n1\n\"\"\n", ['q.csv, line 3, column "x": the value is missing']),
                            ("x\n1\nNaN\n", ["q.csv, line 3", "missing"]), ("x\ninf\n", ["q.csv, line 2", "infinite"]),
                            ("x\n", ["q.csv: no rows"]), ("x\n1\nhm\n", ["q.csv: line 3, column 1", "hm"])):
            self.write("q.csv", text)
            self.fails(run + ["--at", "q.csv"], *parts)
        for grid in ("x", "x=", "x=1:2", "x=1:2:0", "x=1:2:-3", "x=1:2:3:4", "x=1:2:3,", "x=a:2:3", "x=1:inf:3", "x=1:2:99999999999", "=1", ""):
            self.fails(run + ["--grid", grid], "--grid", code=2)
        self.fails(run + ["--grid", "x=1,x=2"], '"x" is given twice', code=2)
        self.fails(run + ["--grid", "z=1"], '--grid: there is no input "z"')
        self.fails(["bound", "r.csv", "-t", "x", "-f", "y", "-k", KERNEL, "--norm", 9e9, "-b", 9, "--grid", "x=1"], '"x"')

    def test_wrong_usage(self):
        self.readings()
        run = ["bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2, "--grid", "x=1"]

        def without(option):
            at = run.index(option)
            return run[:at] + run[at + 2:]

        for arguments, part in ((without("-t"), "--target is missing"), (without("-k"), "--kernel is missing"),
                                (without("--norm"), "--norm is missing"), (without("-b"), "--noise-bound is missing"),
                                (without("--grid"), "--at or --grid is missing"), (run + ["--at", "r.csv"], "exclude each other"),
                                (run + ["--method", "best"], "there is no method 'best'"), (run + ["--json"], "standard output"),
                                (without("--norm") + ["--norm", "0"], "--norm"), (without("--norm") + ["--norm", "inf"], "--norm"),
                                (without("-b") + ["-b", "-1"], "--noise-bound"), (without("-b") + ["-b", "inf"], "--noise-bound"),
                                (run + ["--noise-bound-column", "x"], "exclude each other"), (run + ["--noise-below", "x"], "go together"),
                                (run + ["--ridge", "-1"], "--ridge"), (run + ["--jitter", "-1"], "--jitter"),
                                (run + ["--seconds", "-1"], "--seconds"), (run + ["--pivots", "x"], "--pivots"),
                                (run + ["--save", "b.csv", "-o", "b.csv"], "same file"), (run + ["-f", "x,x"], "twice")):
            self.fails(arguments, part, code=2)
        self.fails(without("-k") + ["-k", "se(lengthscale=1"], "^")
        self.fails(without("-k") + ["-k", "se + white"], "no written value")
        self.fails(without("-k") + ["-k", "se(lengthscale=1) + white(variance=1)"], "white")

    def test_places_that_cannot_be_written(self):
        self.readings()
        run = ["bound", "r.csv", "-t", "y", "-k", KERNEL, "--norm", 5, "-b", 0.2, "--grid", "x=1"]
        self.fails(run + ["-o", "/dev/full"], "/dev/full")
        self.fails(run + ["-o", "no/such.csv"], "no/such.csv")
        self.fails(run + ["-o", "b.csv", "--save", "no/such.hf"], "no/such.hf")
        self.fails(run + ["-o", "/dev/full", "--save", "e.hf"], "/dev/full")
        self.fails(run + ["-o", "b.csv", "--save", "/dev/full"], "/dev/full")
        self.fails(["norm", "r.csv", "-t", "y", "-k", KERNEL, "-b", 0.2, "-o", "/dev/full"], "/dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, *map(str, run)], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("holdfast: ", done.stderr)

    def test_a_stop_leaves_nothing(self):
        self.write("r.csv", "a,b,y\n" + "".join("%g,%g,%g\n" % (i % 20, i // 20, math.sin(i)) for i in range(400)))
        run = ["bound", "r.csv", "-t", "y", "-k", "matern52(lengthscale=3)", "--norm", "5000", "-b", "0.2", "--grid", "a=0:20:500,b=0:20:500",
               "-o", "b.csv", "--save", "e.hf"]
        done = subprocess.Popen([TOOL, *run], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        done.send_signal(signal.SIGTERM)
        out, err = done.communicate(timeout=120)
        self.assertEqual((done.returncode, out, err), (128 + signal.SIGTERM, "", "holdfast: stopped; nothing was written\n"))
        self.assertEqual(self.files(), ["r.csv"])


class Norms(Readings):
    def test_the_curve_never_falls(self):
        self.readings()
        out = self.ok("norm", "r.csv", "-t", "y", "-k", KERNEL, "-b", 0.2, "-o", "c.csv", "--points", 6, "--safety", 1.5)
        curve = table(self.read("c.csv"))
        self.assertEqual(list(curve), ["readings", "norm"])
        self.assertEqual((len(curve["norm"]), curve["readings"][-1]), (6, 25))
        self.assertEqual(curve["norm"], sorted(curve["norm"]))
        self.assertEqual(curve["readings"], sorted(set(curve["readings"])))
        last = curve["norm"][-1]
        self.assertTrue(0 < last <= norm_of_truth())
        self.assertIn("at least %.6g" % last, out)
        self.assertIn("Times the safety factor 1.5: %.6g" % (1.5 * last), out)
        self.assertIn("No data can certify an upper bound", out)
        got = json.loads(self.ok("norm", "r.csv", "-t", "y", "-k", KERNEL, "-b", 0.2, "--json"))
        self.assertAlmostEqual(got["norm"], last)
        self.assertAlmostEqual(got["estimate"], 1.2 * last)
        self.assertEqual(len(got["curve"]), 10)
        self.assertIn("No data can certify", got["caveat"])
        # And it is what bound says.
        self.assertAlmostEqual(json.loads(self.bound("--save", "e.hf", "--json"))["minimum_norm"] / last, 1, 6)

    def test_small_tables_have_short_curves(self):
        self.write("t.csv", "x,y\n0,2\n5,0\n")
        curve = table(self.ok("norm", "t.csv", "-t", "y", "-k", KERNEL, "-o", "-"))
        self.assertEqual(curve["readings"], [1, 2])
        self.assertAlmostEqual(curve["norm"][0], 2)

    def test_wrong_usage(self):
        self.readings()
        run = ["norm", "r.csv", "-t", "y", "-k", KERNEL]
        self.fails(run + ["--points", 0], "--points", code=2)
        self.fails(run + ["--safety", 0.9], "--safety", code=2)
        self.fails(run + ["--json", "-o", "-"], "standard output", code=2)
        self.fails(["norm", "r.csv", "-k", KERNEL], "--target is missing", code=2)
        self.fails(["norm", "r.csv", "-t", "y", "-k", "se"], "no written value")

    def test_contradictions_are_named(self):
        self.write("r.csv", "x,y\n2,0\n1,1\n2,1\n")
        self.fails(["norm", "r.csv", "-t", "y", "-k", KERNEL], "lines 2 and 4 cannot all be true")


if __name__ == "__main__":
    unittest.main(verbosity=1)
