# SPDX-License-Identifier: Apache-2.0
"""Pictures: every format, odd names, no gnuplot, nothing half-drawn."""
import json
import math
import os
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
            self.assertEqual([row[2] for row in self.block(script, "marks")], [i + 1 for i in farthest])
            self.assertIn("the farthest ten", script)

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
        self.assertEqual(summary, {"output": "m.svg", "target": "y", "x": "b", "readings": 60})

    def test_shapes(self):
        """One row, constants, gaps, a reading a million million away, names with quotes, many rows: drawn without a word."""
        cases = {"one": "a,y\n1,5\n", "constant": "a,y\n1,5\n1,5\n1,5\n", "gaps": "a,y\n1,5\n2,\n3,6\n",
                 "far": "a,y\n" + "".join("%d,%r\n" % (i, i % 3 if i != 9 else 1e12) for i in range(30)),
                 "name": "\"it's a\",y_1\n1,2\n2,3\n4,5\n",
                 "huge": "a,y\n-1e300,1\n0,3\n1e300,2\n",
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
