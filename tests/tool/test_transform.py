# SPDX-License-Identifier: Apache-2.0
"""fit --transform: a model of a logarithm that speaks of the target itself, in every verb, or says that it does not."""
import json
import math
import unittest

from toolcase import ToolCase, table


class Transform(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=60)
        data = table(self.read("wave.csv"))
        self.rows = [(a, b, math.exp(1 + y), 1 + y) for a, b, y in zip(data["a"], data["b"], data["y"])]
        self.write("t.csv", "a,b,y,z\n" + "".join("%r,%r,%r,%r\n" % row for row in self.rows))
        self.fit = ["fit", "t.csv", "--target", "y", "--features", "a,b"]

    def test_predictions_and_pictures_are_of_the_target(self):
        report = json.loads(self.ok(*self.fit, "--transform", "log", "-o", "y.hf", "--json"))
        self.ok("fit", "t.csv", "--target", "z", "--features", "a,b", "-o", "z.hf")
        self.assertEqual(report["settings"]["transform"], "log")
        self.assertIn("transform    log of the target", self.ok("inspect", "y.hf"))
        ours, hand = table(self.ok("predict", "y.hf", "t.csv")), table(self.ok("predict", "z.hf", "t.csv"))
        for name, column in (("y_median", "z_mean"), ("y_lo95", "z_lo95"), ("y_hi95", "z_hi95")):
            for value, z in zip(ours[name], hand[column]):
                self.assertAlmostEqual(value / math.exp(z), 1, delta=1e-9)
        for mean, z, sd in zip(ours["y_mean"], hand["z_mean"], hand["z_sd_observed"]):
            self.assertAlmostEqual(mean / math.exp(z + sd * sd / 2), 1, delta=1e-9)
        scores = [json.loads(self.ok("score", name, "t.csv", "--json")) for name in ("y.hf", "z.hf")]
        slope = sum(-math.log(row[2]) for row in self.rows) / len(self.rows)
        self.assertAlmostEqual(scores[0]["nlpd"], scores[1]["nlpd"] - slope, delta=1e-9)
        self.ok("plot", "y.hf", "--data-only", "--x", "b", "-o", "p.svg")
        points = table(self.read("p-slice.csv"))
        middle = sorted(row[0] for row in self.rows)[30]
        self.write("on.csv", "a,b\n" + "".join("%r,%r\n" % (middle, b) for b in points["x"]))
        predicted = table(self.ok("predict", "y.hf", "on.csv"))
        for name in ("mean", "sd_latent", "sd_observed", "lo95", "hi95", "median"):
            for value, expected in zip(points[name], predicted["y_" + name]):
                self.assertAlmostEqual(value / expected, 1, delta=1e-9)
        self.assertIn("'median'", self.read("p.gp"))
        # Predicted columns are no inputs of the next fit.
        self.ok("predict", "y.hf", "t.csv", "-o", "more.csv")
        features = json.loads(self.ok("fit", "more.csv", "-t", "y", "--drop", "z", "--no-train", "--json", quiet=False))
        self.assertEqual(features["features"], ["a", "b"])

    def test_auto_tells_its_choice(self):
        report = json.loads(self.ok(*self.fit, "--transform", "auto", "--json", quiet=False))
        self.assertEqual(report["settings"]["transform"], "log")
        self.assertTrue(report["notes"][0].startswith("transform: log (leave-one-out density better by "))

    def test_what_is_not_told_is_refused(self):
        self.ok(*self.fit, "--transform", "log", "-o", "y.hf")
        self.write("at.csv", "a,b\n0.5,0.5\n")
        self.fails(["certify", "y.hf", "--at", "at.csv", "--radius", "0.1"], "--transform", "log")
        self.fails(["extremum", "y.hf", "--minimum"], "--transform")
        self.fails(["explain", "y.hf", "--at", "at.csv"], "--transform")
        self.fails(["attack", "y.hf", "--at", "at.csv", "--radius", "0.1"], "--transform")
        self.fails(["predict", "y.hf", "at.csv", "--computational"], "--transform")
        self.fails(self.fit + ["--transform", "ln"], "none, sqrt, log or auto", code=2)
        self.fails(self.fit + ["--transform", "log", "--stream"], "--stream", code=2)
        self.fails(self.fit + ["--transform", "log", "--noise-column", "z"], "noise", code=2)
        self.fails(self.fit + ["--transform", "auto", "--checkpoint", "c"], "checkpoint", code=2)
        self.fails(["fit", "t.csv", "--target", "y,z", "--transform", "log"], "one output", code=2)
        self.fails(self.fit + ["--sites", "probit", "--transform", "log"], "--transform", code=2)
        self.write("zero.csv", "a,y\n1,2\n2,0\n3,-4\n")
        self.fails(["fit", "zero.csv", "-t", "y", "--transform", "log"], "line 3", "this one is 0", "also line 4")


if __name__ == "__main__":
    unittest.main()
