# SPDX-License-Identifier: Apache-2.0
"""Pictures: every format, odd names, no gnuplot, nothing half-drawn."""
import json
import math
import os
import random
import re
import shutil
import unittest

from toolcase import ToolCase, table


class Data(ToolCase):
    def test_data_only(self):
        self.wave(rows=60, bad=(5, 23))
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        self.assertEqual(self.ok("plot", "m.hf", "--data-only", "--x", "b", "-o", "p.svg"),
                         "Wrote p.gp, p-slice.csv and p-rows.csv\n")
        self.assertEqual(self.files(), ["m.hf", "p-rows.csv", "p-slice.csv", "p.gp", "wave.csv"])
        rows, points = table(self.read("p-rows.csv")), table(self.read("p-slice.csv"))
        self.assertEqual(self.read("p-rows.csv"), self.ok("inspect", "m.hf", "--rows", "-"))
        self.assertEqual(sum(rows["suspected"]), 2)
        # The slice goes through the medians: the tool itself says what is predicted there.
        data = table(self.read("wave.csv"))
        middle = sorted(data["a"])[30]
        self.write("on.csv", "a,b\n" + "".join("%r,%r\n" % (middle, b) for b in points["x"]))
        predicted = table(self.ok("predict", "m.hf", "on.csv"))
        for name, column in (("mean", "y_mean"), ("sd_latent", "y_sd_latent"), ("sd_observed", "y_sd_observed")):
            for ours, theirs in zip(points[name], predicted[column]):
                self.assertAlmostEqual(ours, theirs, delta=1e-9)
        self.assertLess(points["x"][0], min(data["b"]))
        self.assertGreater(points["x"][-1], max(data["b"]))

    def test_names_cannot_leave_their_quotes(self):
        self.write("t.csv", '"x\'`touch hacked`","it\'s @y ""z"""\n' + "".join("%d,%d\n" % (i, i * i % 7) for i in range(12)))
        self.ok("fit", "t.csv", "--target", "it's @y \"z\"", "--no-train", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        script = self.read("p.gp")
        self.assertIn('"it\'s \\100y \\042z\\042"', script)
        self.assertNotIn("`", script)
        for line in script.split("\n"):
            unquoted = re.sub(r'"[^"]*"', "", line)
            self.assertNotIn("hacked", unquoted)

    def block(self, script, name, panel=0):
        """The rows of numbers of a block of data, and of the panel-th one where several have its name."""
        return [[float(word) for word in line.split()] for line in re.findall(r"\$%s << EOD\n(.*?)EOD" % name, script, re.S)[panel].splitlines()]

    def test_coverage_takes_the_place_of_weights_that_are_all_one(self):
        self.wave(rows=60, bad=(5, 23))
        self.ok("fit", "wave.csv", "--target", "y", "--preset", "gp", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        script, rows = self.read("p.gp"), table(self.read("p-rows.csv"))
        self.assertEqual(set(rows["weight"]), {1.0})
        self.assertNotIn("Weights of the readings", script)
        z = [abs(y - m) / s for y, m, s in zip(rows["y"], rows["loo_mean"], rows["loo_sd"])]
        levels = self.block(script, "calibration")
        self.assertEqual(len(levels), 101)
        for level, share, low, high in levels:
            self.assertAlmostEqual(share, sum(math.erf(v / math.sqrt(2)) <= level for v in z) / 60, delta=1e-8)
            self.assertAlmostEqual(high - level, min(1.96 * math.sqrt(level * (1 - level) / 60), 1 - level), delta=1e-8)
            self.assertAlmostEqual(level - low, min(1.96 * math.sqrt(level * (1 - level) / 60), level), delta=1e-8)
        self.assertIn("x with lines", script)  # the diagonal
        # Readings set aside have weight 0: the panel of weights tells something.
        self.ok("fit", "wave.csv", "--target", "y", "-o", "s.hf")
        self.ok("plot", "s.hf", "--data-only", "-o", "s.svg")
        self.assertIn("Weights of the readings", self.read("s.gp"))
        self.assertNotIn("$calibration", self.read("s.gp"))

    def test_suspects_have_row_numbers_and_the_title_a_score(self):
        bad = (3, 9, 14, 20, 28, 33, 41, 50, 58, 66, 77, 90)
        self.wave(rows=150, bad=bad)
        for word, told in (("force", "set aside"), ("off", None)):
            self.ok("fit", "wave.csv", "--target", "y", "--suspects", word, "-o", "m.hf")
            self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
            script, rows = self.read("p.gp"), table(self.read("p-rows.csv"))
            kept = [i for i in range(150) if rows["weight"][i] >= 0.25]
            z = [(rows["y"][i] - rows["loo_mean"][i]) / rows["loo_sd"][i] for i in range(150)]
            rmse = math.sqrt(sum((rows["y"][i] - rows["loo_mean"][i]) ** 2 for i in kept) / len(kept))
            inside = sum(abs(z[i]) <= 1.959963984540054 for i in kept) / len(kept)
            self.assertIn("Leave-one-out: RMSE %.3g, %.3g %% of the kept" % (rmse, 100 * inside), script)
            suspected = [i for i in range(150) if rows["suspected"][i]]
            if told is None:
                self.assertEqual((suspected, "suspected" in script, "$marks" in script), ([], False, False))
                continue
            self.assertIn("y: 150 readings, %d suspected, %s" % (len(suspected), told), script)
            farthest = sorted(suspected, key=lambda i: -abs(z[i]))[:10]
            self.assertGreater(len(suspected), 10)
            # Beyond no axis of weights; in other panels some are not drawn.
            weights = max((self.block(script, "marks", k) for k in range(script.count("$marks << EOD"))), key=len)
            self.assertEqual([row[2] for row in weights], [i + 1 for i in farthest])
            self.assertIn("the farthest ten", script)

    def test_one_suspect_far_beyond_the_axis(self):
        """Its row number is left out where it is not drawn: gnuplot crashes on a single label at NaN."""
        draw = random.Random(4)
        lines = ["%r,%r" % (i / 200, math.sin(0.6 * i) + draw.gauss(0, 0.1) + 4 * (i == 77)) for i in range(200)]
        self.write("t.csv", "x,y\n" + "\n".join(lines) + "\n")
        self.ok("fit", "t.csv", "--target", "y", "-q", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        script = self.read("p.gp")
        self.assertIn("1 suspected, set aside", script)
        self.assertEqual((script.count("$beyond << EOD"), script.count("$marks << EOD")), (1, 3))
        self.assertNotIn("NaN):3 with labels", script)
        if shutil.which("gnuplot"):
            for name in ("p.svg", "p.png", "p.pdf"):
                self.ok("plot", "m.hf", "-o", name)
                self.assertTrue(os.path.getsize(self.path(name)), name)

    def test_letters_are_as_large_on_every_canvas(self):
        """Room for tics and names is laid out in parts of the canvas: letters of a PDF that were larger covered each other."""
        self.wave(rows=30, bad=())
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        sizes = []
        for name, unit in (("p.png", 1), ("p.pdf", 72)):  # pixels; inches of 72 points
            self.ok("plot", "m.hf", "--data-only", "-o", name)
            width, letter, scale = re.search(r"cairo size (\d+)\w*,.* font 'Sans,(\d+)' fontscale ([\d.]+)", self.read("p.gp")).groups()
            sizes.append(float(letter) * float(scale) / (float(width) * unit))
        self.assertLess(abs(sizes[1] / sizes[0] - 1), 0.05, sizes)

    def test_suspects_that_are_kept(self):
        draw = random.Random(0)
        lines = ["%r,%r" % (i / 4, math.sin(i / 4) + 0.3 * draw.gauss(0, 1) * (3.2 if draw.random() < 0.12 else 1)) for i in range(40)]
        self.write("t.csv", "x,y\n" + "\n".join(lines) + "\n")
        self.ok("fit", "t.csv", "--target", "y", "-q", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        rows, script = table(self.read("p-rows.csv")), self.read("p.gp")
        self.assertIn("y: 40 readings, 1 suspected, kept", script)
        self.assertEqual(self.block(script, "marks")[0][2], rows["suspected"].index(1) + 1)
        self.assertIn("$calibration", script)  # kept: its weight is 1 too

    def test_points_where_the_mean_bends(self):
        """Half of the line wiggles: there the points are close, and the broken line is near the model's own mean."""
        self.write("t.csv", "a,y\n" + "".join("%r,%r\n" % (i / 25, i / 500 + (math.sin(30 * i / 25) if 75 < i < 125 else 0)) for i in range(250)))
        self.ok("fit", "t.csv", "--target", "y", "--preset", "gp", "-q", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        points = table(self.read("p-slice.csv"))
        x, mean = points["x"], points["mean"]
        self.assertEqual(x, sorted(set(x)))
        self.assertLessEqual(len(x), 800)
        inside = sum(3 < v < 5 for v in x)
        self.assertGreater(inside, 241 * 2 / 10.8 * 2)
        self.assertLess(sum(6 < v < 8 for v in x), inside / 2)
        middles = [(a + b) / 2 for a, b in zip(x, x[1:])]
        self.write("on.csv", "a\n" + "".join("%r\n" % v for v in middles))
        between = table(self.ok("predict", "m.hf", "on.csv", "-q"))["y_mean"]
        for v, value, left, right in zip(middles, between, mean, mean[1:]):
            self.assertAlmostEqual(value, (left + right) / 2, delta=0.004 * (max(mean) - min(mean)), msg=str(v))

    def test_a_narrow_peak_at_a_reading_is_met(self):
        """A peak narrower than the first steps: the readings' own places are points."""
        self.write("t.csv", "a,y\n" + "".join("%r,%d\n" % (i + 0.37, i % 2) for i in range(60)))
        self.ok("fit", "t.csv", "--target", "y", "--kernel", "rbf(lengthscale=0.02)", "--no-train", "-q", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        self.assertLessEqual({i + 0.37 for i in range(60)}, set(table(self.read("p-slice.csv"))["x"]))

    def test_slices_of_collinear_inputs_stay_where_data_are(self):
        rows = [(i / 10, i / 5 + 0.1 * math.sin(7 * i), math.cos(3 * i), i % 2) for i in range(100)]
        self.write("t.csv", "a,b,c,d,y\n" + "".join("%r,%r,%r,%d,%r\n" % (*row, math.sin(row[0]) + row[1] / 9) for row in rows))
        self.ok("fit", "t.csv", "--target", "y", "--no-train", "-q", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-x", "a", "-o", "p.svg")
        points, script = table(self.read("p-slice.csv")), self.read("p.gp")
        self.assertIn('set xlabel "a  (b follows its regression on it, other inputs at their medians)"', script)
        n, middle = 100, lambda k: sorted(row[k] for row in rows)[50]
        ma, mb = (sum(row[k] for row in rows) / n for k in (0, 1))
        slope = sum((row[0] - ma) * (row[1] - mb) for row in rows) / sum((row[0] - ma) ** 2 for row in rows)
        low, high = min(row[1] for row in rows), max(row[1] for row in rows)
        on = [(x, min(max(mb + slope * (x - ma), low), high), middle(2), middle(3)) for x in points["x"]]
        self.write("on.csv", "a,b,c,d\n" + "".join("%r,%r,%r,%r\n" % row for row in on))
        for ours, theirs in zip(points["mean"], table(self.ok("predict", "m.hf", "on.csv", "-q"))["y_mean"]):
            self.assertAlmostEqual(ours, theirs, delta=1e-9)
        self.ok("plot", "m.hf", "--data-only", "-x", "c", "-o", "q.svg")
        self.assertIn('set xlabel "c  (other inputs at their medians)"', self.read("q.gp"))

    def test_two_inputs_have_maps(self):
        """The cells are what the tool predicts there; crosses are the suspects, with their rows; with --x there is none."""
        self.write("t.csv", "a,b,y\n" + "".join(
            "%r,%r,%r\n" % (i * 37 % 60 / 8, math.cos(3 * i), math.exp(math.sin(i * 37 % 60 / 8) + (9 if i in (5, 23) else 0.03 * math.sin(61 * i * i))))
            for i in range(60)))
        for transform in ("none", "log"):
            self.ok("fit", "t.csv", "--target", "y", "--transform", transform, "--suspects", "force", "-q", "-o", "m.hf")
            self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
            script, rows, data = self.read("p.gp"), table(self.read("p-rows.csv")), table(self.read("t.csv"))
            means, deviations = self.map(script, "means"), self.map(script, "deviations")
            self.assertLess(min(cell[0] for cell in means), min(data["a"]))
            self.assertGreater(max(cell[1] for cell in means), max(data["b"]))
            some = range(0, 81 * 81, 97)
            self.write("on.csv", "a,b\n" + "".join("%.9g,%.9g\n" % means[k][:2] for k in some))
            at = table(self.ok("predict", "m.hf", "on.csv", "-q"))
            middle = at["y_mean" if transform == "none" else "y_median"]
            for cells, expected in ((means, middle), (deviations, at["y_sd_latent"])):
                wide = max(cell[2] for cell in cells) - min(cell[2] for cell in cells)
                for k, value in zip(some, expected):
                    self.assertAlmostEqual(cells[k][2], value, delta=1e-4 * wide)
            suspects = [i for i in range(60) if rows["suspected"][i]]
            self.assertLessEqual({5, 23}, set(suspects))
            for ours, i in zip(self.block(script, "mapsuspects"), suspects):
                self.assertAlmostEqual(ours[0], data["a"][i], delta=1e-7)
                self.assertAlmostEqual(ours[1], data["b"][i], delta=1e-7)
            self.assertEqual(len(self.block(script, "mapped")), 60 - len(suspects))
            self.assertLessEqual({row[2] for row in self.block(script, "mapmarks")}, {i + 1.0 for i in suspects})
        self.ok("plot", "m.hf", "--data-only", "--x", "a", "-o", "p.svg")
        self.assertNotIn("$means", self.read("p.gp"))

    def map(self, script, name):
        """(first input, second input, value) of the cells of a map, by what the script makes of its matrix."""
        number = r"([-+.\de]+)"
        place = re.search(rf"\${name} matrix using " + ":".join(rf"\(\${k}\*{number}\+{number}\)" for k in (1, 2, 3)), script)
        a, b, c, d, e, f = map(float, place.groups())
        rows = self.block(script, name)
        self.assertEqual([len(row) for row in rows], [81] * 81)
        return [(i * a + b, j * c + d, step * e + f) for j, row in enumerate(rows) for i, step in enumerate(row)]

    def test_room_for_tics(self):
        """Longer numbers at the tics move the panels to the right."""
        room = []
        for scale in (1, 1000000):
            self.write("t.csv", "a,y\n" + "".join("%d,%r\n" % (i, scale * (1 + math.sin(i))) for i in range(40)))
            self.ok("fit", "t.csv", "--target", "y", "--no-train", "-q", "-o", "m.hf")
            self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
            room.append(1200 * float(re.search(r"margins ([\d.]+),", self.read("p.gp")).group(1)))
        self.assertGreater(room[1], room[0] + 15)

    def test_failures(self):
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        self.fails(["plot", "m.hf", "--x", "c", "--data-only"], "c")
        self.fails(["plot", "m.hf", "--x", "y", "--data-only"], '"y" is not an input')
        self.fails(["plot", "m.hf", "-o", "no/such.svg", "--data-only"], "no/such.svg")
        code, _, err = self.run_tool("plot", "m.hf", env={"PATH": "/nowhere"})
        self.assertEqual(code, 1)
        self.assertIn("gnuplot is not installed", err)
        self.assertIn("--data-only", err)

    def test_failing_gnuplot_leaves_nothing(self):
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        os.mkdir(self.path("bin"))
        for body in ("exit 3", "cat >/dev/null; exit 0", "exec 0<&-; exit 0"):
            self.write("bin/gnuplot", "#!/bin/sh\n%s\n" % body)
            os.chmod(self.path("bin/gnuplot"), 0o755)
            code, _, err = self.run_tool("plot", "m.hf", env={"PATH": self.path("bin") + ":/usr/bin:/bin"})
            self.assertEqual(code, 1)
            self.assertIn("gnuplot", err)
            self.assertEqual(self.files(), ["bin", "m.hf", "wave.csv"])


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class Pictures(ToolCase):
    def test_formats(self):
        self.wave(rows=60, bad=(5, 23))
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        for ending, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
            self.assertEqual(self.ok("plot", "m.hf", "-o", "p" + ending), "Wrote p%s\n" % ending)
            self.assertTrue(self.read("p" + ending, "rb").startswith(magic))
        self.assertEqual(self.files(), ["m.hf", "p.pdf", "p.png", "p.svg", "wave.csv"])
        picture = self.read("p.svg")
        self.assertIn("y: 60 readings, 2 suspected, set aside", picture)
        for heading in ("Slice along", "Observed against", "Weights of", "Residuals of"):
            self.assertIn(heading, picture)
        summary = json.loads(self.ok("plot", "m.hf", "--x", "b", "--json"))
        self.assertEqual(summary, {"output": "m.svg", "target": "y", "x": "b", "readings": 60, "maps": False})
        self.assertTrue(json.loads(self.ok("plot", "m.hf", "--json"))["maps"])
        self.assertIn("Mean over both inputs", self.read("m.svg"))

    def test_shapes(self):
        """One row, constants, gaps, a reading a million million away, names with quotes, many rows: drawn without a word."""
        cases = {"one": "a,y\n1,5\n", "constant": "a,y\n1,5\n1,5\n1,5\n", "gaps": "a,y\n1,5\n2,\n3,6\n",
                 "far": "a,y\n" + "".join("%d,%r\n" % (i, i % 3 if i != 9 else 1e12) for i in range(30)),
                 "name": "\"it's a\",y_1\n1,2\n2,3\n4,5\n",
                 "huge": "a,y\n-1e300,1\n0,3\n1e300,2\n",
                 "two": "a,b,y\n1,2,5\n1,2,5\n1,3,5\n", "level": "a,b,y\n" + "".join("%d,%d,7\n" % (i, i * i % 5) for i in range(20)),
                 "many": "a,y\n" + "".join("%d,%d\n" % (i, i * i % 11) for i in range(1200))}
        for name, text in cases.items():
            self.write(name + ".csv", text)
            target = "y_1" if name == "name" else "y"
            self.ok("fit", name + ".csv", "--target", target, "--no-train", "-q", "-o", name + ".hf")
            code, out, err = self.run_tool("plot", name + ".hf")
            self.assertEqual((code, out, err), (0, "Wrote %s.svg\n" % name, ""), name)
            self.assertIn("</svg>", self.read(name + ".svg"))


if __name__ == "__main__":
    unittest.main()
