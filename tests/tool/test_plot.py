# SPDX-License-Identifier: Apache-2.0
"""Pictures: every format, odd names, no gnuplot, nothing half-drawn."""
import json
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
        self.assertIn("y: 60 readings, 2 suspected and set aside", picture)
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
