# SPDX-License-Identifier: Apache-2.0
"""Smallest moves: examples are what predictions say they are, nothing nearer is found, and wrong usage is told."""
import json
import random
import unittest

from toolcase import ToolCase, table

COLUMNS = ["value", "flipped", "certified", "distance", "spared", "moved", "nodes", "seconds"]


class Flips(ToolCase):
    def readings(self):
        draw = random.Random(3)
        rows = [[draw.uniform(-2, 2) for _ in range(3)] for _ in range(40)]
        self.write("r.csv", "a,b,c,y\n" + "".join("%g,%g,%g,%g\n" % (*x, x[0] + 0.5 * x[1] + 0.1 * draw.gauss(0, 1)) for x in rows))
        self.ok("fit", "r.csv", "-t", "y", "-k", "se", "--suspects", "off", "-q", "-o", "r.hf")
        self.write("at.csv", "a,b,c\n0.1,0.2,0.3\n-1,0.5,0\n")
        return "r.hf"

    def classes(self):
        draw = random.Random(5)
        lines = ["a,b,kind"]
        for i in range(60):
            lines.append("%.4f,%.4f,%s" % (draw.gauss(1.6 * (i % 2), 0.8), draw.gauss(0, 1), "yes" if i % 2 else "no"))
        self.write("kinds.csv", "\n".join(lines) + "\n")
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "probit", "-k", "se", "-q", "-o", "kinds.hf")
        self.write("two.csv", "a,b\n2.2,0.2\n-1.1,0.5\n")
        return "kinds.hf"

    def predicted(self, model, text, column):
        self.write("there.csv", text)
        self.ok("predict", model, "there.csv", "-o", "there.out.csv")
        return table(self.read("there.out.csv"))[column]

    def examples(self, out, names):
        return ",".join(names) + "\n" + "".join(",".join("%.17g" % out[n][k] for n in names) + "\n" for k in range(len(out[names[0]])))

    def test_readings(self):
        model = self.readings()
        at = {"a": [0.1, -1], "b": [0.2, 0.5], "c": [0.3, 0]}
        out = table(self.ok("explain", model, "--at", "at.csv", "--step", "3", "--flip", "nearest", "--delta", "0.4"))
        self.assertEqual(list(out), ["a", "b", "c"] + COLUMNS)
        there = self.predicted(model, self.examples(out, ["a", "b", "c"]), "y_mean")
        for k, value in enumerate(there):
            self.assertAlmostEqual(value, out["flipped"][k], places=6)
            self.assertGreater(abs(value - out["value"][k]), 0.4)
            self.assertLessEqual(out["certified"][k], out["distance"][k])
            self.assertAlmostEqual(max(abs(out[n][k] - at[n][k]) for n in at), out["distance"][k], places=6)
        lines = []
        draw = random.Random(9)
        for _ in range(200):
            lines.append(",".join("%.17g" % (at[n][0] + out["certified"][0] * draw.uniform(-1, 1)) for n in at))
        inside = self.predicted(model, "a,b,c\n" + "\n".join(lines) + "\n", "y_mean")
        self.assertLessEqual(max(abs(v - out["value"][0]) for v in inside), 0.4 + 1e-9)
        few = table(self.ok("explain", model, "--at", "at.csv", "--step", "2", "--flip", "fewest", "--delta", "0.4", "--beta", "-1", "--observed"))
        self.assertEqual(few["moved"], [1, 1])
        self.assertEqual(few["spared"], [0, 0])
        none = table(self.ok("explain", model, "--at", "at.csv", "--step", "0.01", "--flip", "fewest", "--never-above", "9"))
        self.assertEqual((none["certified"], none["spared"]), ([0.01, 0.01], [3, 3]))
        self.assertTrue(all(v != v for v in none["a"] + none["distance"] + none["moved"]))

    def test_classes_and_json(self):
        model = self.classes()
        out = table(self.ok("explain", model, "--at", "two.csv", "--step", "3", "--flip", "nearest"))
        self.assertEqual(list(out), ["a", "b", "class_before", "class_after"] + COLUMNS)
        self.assertEqual((out["class_before"], out["class_after"]), (["yes", "no"], ["no", "yes"]))
        self.assertEqual(self.predicted(model, self.examples(out, ["a", "b"]), "kind_class"), ["no", "yes"])
        told = json.loads(self.ok("explain", model, "--at", "two.csv", "--step", "3", "--flip", "fewest", "-o", "f.csv", "--json"))
        self.assertEqual({k: told[k] for k in ("rows", "flip", "found", "unfinished", "estimate")},
                         {"rows": 2, "flip": "fewest", "found": 2, "unfinished": 0, "estimate": False})
        held = table(self.ok("explain", model, "--at", "two.csv", "--step", "3", "--flip", "nearest", "-f", "a", "--of", "no",
                             "--never-above", "0.5"))
        self.assertEqual(list(held), ["a", "b"] + COLUMNS)
        self.assertEqual(held["b"][0], 0.2)
        self.assertGreater(held["flipped"][0], 0.5)
        self.assertTrue(held["certified"][1] != held["certified"][1] and held["distance"][1] == 0)  # broken in the row itself

    def test_wrong_usage(self):
        model, kinds = self.readings(), self.classes()
        flip = ["explain", model, "--at", "at.csv", "--step", "1", "--flip"]
        self.fails(flip + ["near"], "nearest or fewest", code=2)
        self.fails(flip + ["nearest"], "--never-above", code=2)
        self.fails(flip + ["nearest", "--delta", "1", "--mean"], "--mean is not for --flip", code=2)
        self.fails(flip + ["nearest", "--delta", "-1"], "delta", code=2)
        self.fails(flip + ["nearest", "--delta", "1", "--beta", "inf"], "--beta", code=2)
        self.fails(flip + ["nearest", "--delta", "1", "--observed"], "--observed is for --beta", code=2)
        self.fails(flip[:-1] + ["--delta", "1"], "--delta is for --flip", code=2)
        flip = ["explain", kinds, "--at", "two.csv", "--step", "1", "--flip", "nearest"]
        self.fails(flip + ["--of", "no"], "--of is for limits", code=2)
        self.fails(flip + ["--beta", "1"], "--beta is for models of readings", code=2)


if __name__ == "__main__":
    unittest.main()
