# SPDX-License-Identifier: Apache-2.0
"""Certified intervals of a new reading: they hold what predictions say in the boxes, and agree with them at points."""
import json
import random
import unittest

from toolcase import ToolCase, table


class Intervals(ToolCase):
    def model(self):
        self.wave("wave.csv", 40)
        self.ok("fit", "wave.csv", "-t", "y", "-k", "se(ard)", "-q", "-o", "wave.hf")
        self.write("at.csv", "a,b\n1.5,0.1\n3,-0.4\n")
        return "wave.hf"

    def predicted(self, model, rows):
        self.write("in.csv", "a,b\n" + "".join("%.17g,%.17g\n" % row for row in rows))
        self.ok("predict", model, "in.csv", "-o", "out.csv")
        return table(self.read("out.csv"))

    def test_intervals_hold_predictions(self):
        model = self.model()
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0,0.3", "--what", "interval", "--where"))
        self.assertEqual(out["radius"], [0, 0.3, 0, 0.3])
        draw = random.Random(3)
        for k in (1, 3):
            p = self.predicted(model, [(out["a"][k] + draw.uniform(-0.3, 0.3), out["b"][k] + draw.uniform(-0.3, 0.3)) for _ in range(300)])
            self.assertLessEqual(out["lower"][k], min(p["y_lo95"]))
            self.assertGreaterEqual(out["upper"][k], max(p["y_hi95"]))
            self.assertLessEqual(out["lower_attained"][k] - out["lower"][k], 0.0101)
            ends = self.predicted(model, [(out["a_at_lower"][k], out["b_at_lower"][k]), (out["a_at_upper"][k], out["b_at_upper"][k])])
            self.assertAlmostEqual(ends["y_lo95"][0], out["lower_attained"][k], places=6)
            self.assertAlmostEqual(ends["y_hi95"][1], out["upper_attained"][k], places=6)
        here = self.predicted(model, [(1.5, 0.1), (3, -0.4)])
        for k in (0, 2):
            self.assertAlmostEqual(here["y_lo95"][k // 2], out["lower"][k], places=6)
            self.assertAlmostEqual(here["y_hi95"][k // 2], out["upper"][k], places=6)

    def test_sd_quantiles_and_verdicts(self):
        model = self.model()
        at = ["certify", model, "--at", "at.csv", "--radius", "0.2"]
        here = self.predicted(model, [(1.5, 0.1), (3, -0.4)])
        latent = table(self.ok(*at, "--what", "sd", "--tolerance", "0.001"))
        sd = table(self.ok(*at, "--what", "sd", "--observed", "--tolerance", "0.001"))
        for k in range(2):
            self.assertTrue(sd["lower"][k] <= here["y_sd_observed"][k] <= sd["upper"][k])
            self.assertGreater(sd["lower"][k], latent["lower"][k])
        high = max(here["y_hi95"]) + 3
        self.ok(*at, "--what", "mean-plus", "--beta", "1.96", "--observed", "--never-above", "%g" % high, "-o", "v.csv")
        self.assertEqual(table(self.read("v.csv"))["status"], ["certified", "certified"])
        self.ok(*at, "--what", "interval", "--format", "jsonl", "-o", "v.jsonl")
        line = json.loads(self.read("v.jsonl").split("\n")[0])
        self.assertEqual((line["what"], line["settings"]["observed"]), ("interval", True))
        self.assertLess(line["answer"]["lower"], line["answer"]["upper"])
        told = json.loads(self.ok(*at, "--what", "interval", "-o", "i.csv", "--json"))
        self.assertEqual((told["what"], told["boxes"], told["unfinished"]), ("interval", 2, 0))

    def test_wrong_usage(self):
        at = ["certify", self.model(), "--at", "at.csv", "--radius", "0.2"]
        self.fails(at + ["--observed"], "--observed is for", code=2)
        self.fails(at + ["--what", "interval", "--observed"], "--observed is for", code=2)
        self.fails(at + ["--what", "interval", "--beta", "2"], "--beta is for", code=2)
        self.fails(at + ["--what", "interval", "--never-above", "2"], "not for --what interval", code=2)
        self.write("kinds.csv", "a,b,kind\n" + "".join("%d,%d,%s\n" % (i, i % 3, "yes" if i > 9 else "no") for i in range(20)))
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "probit", "-q", "-o", "kinds.hf")
        self.fails(["certify", "kinds.hf", "--at", "at.csv", "--radius", "0.2", "--what", "interval"], "about readings")
        self.fails(["certify", "kinds.hf", "--at", "at.csv", "--radius", "1", "--what", "sd", "--observed"], "models of readings", code=2)

    def test_counts_have_no_noise_beside_the_rate(self):
        self.write("n.csv", "a,n\n" + "".join("%d,%d\n" % (i, (i * 7) % 5) for i in range(20)))
        self.ok("fit", "n.csv", "-t", "n", "--sites", "poisson", "-q", "-o", "n.hf")
        self.write("at.csv", "a\n3\n")
        at = ["--at", "at.csv", "--radius", "1"]
        self.fails(["certify", "n.hf", *at, "--what", "interval"], "counts or amounts")
        self.fails(["certify", "n.hf", *at, "--what", "sd", "--observed"], "counts and amounts", code=2)
        self.fails(["certify", "n.hf", *at, "--what", "mean-plus", "--beta", "2", "--observed", "--never-above", "3"], "counts and amounts", code=2)
        self.fails(["attack", "n.hf", *at, "--what", "sd", "--observed"], "counts and amounts", code=2)
        self.fails(["explain", "n.hf", "--at", "at.csv", "--step", "1", "--flip", "nearest", "--never-above", "3", "--beta", "2", "--observed"],
                   "counts and amounts", code=2)


if __name__ == "__main__":
    unittest.main()
