# SPDX-License-Identifier: Apache-2.0
"""Attacks on values: where they end predictions say what they tell, inside what is certified, and wrong usage is told."""
import json
import unittest

from toolcase import ToolCase, table


class Values(ToolCase):
    def model(self):
        self.wave("wave.csv", 40)
        self.ok("fit", "wave.csv", "-t", "y", "-k", "se(ard)", "-q", "-o", "wave.hf")
        self.write("at.csv", "a,b\n1.5,0.1\n3,-0.4\n")
        return "wave.hf"

    def predicted(self, model, out):
        self.write("in.csv", "a,b\n" + "".join("%.17g,%.17g\n" % row for row in zip(out["a"], out["b"])))
        self.ok("predict", model, "in.csv", "-o", "out.csv")
        return table(self.read("out.csv"))

    def test_values(self):
        model = self.model()
        at = ["--at", "at.csv", "--radius", "0.3"]
        certified = table(self.ok("certify", model, *at))
        out = {goal: table(self.ok("attack", model, *at, "--goal", goal)) for goal in ("largest", "smallest", "farthest")}
        self.assertEqual(list(out["largest"]), ["a", "b", "value_before", "value_after"])
        for goal, sign in (("largest", 1), ("smallest", -1)):
            there = self.predicted(model, out[goal])["y_mean"]
            for k in range(2):
                before, after = out[goal]["value_before"][k], out[goal]["value_after"][k]
                self.assertAlmostEqual(there[k], after, places=6)
                self.assertGreaterEqual(sign * after, sign * before)
                self.assertTrue(certified["lower"][k] <= after <= certified["upper"][k])
                self.assertLessEqual(abs(out[goal]["a"][k] - (1.5, 3)[k]), 0.3 + 1e-12)
        for k in range(2):
            most = max(abs(out[goal]["value_after"][k] - out[goal]["value_before"][k]) for goal in ("largest", "smallest"))
            far = out["farthest"]
            self.assertAlmostEqual(abs(far["value_after"][k] - far["value_before"][k]), most, places=9)
        ball = table(self.ok("attack", model, *at, "--goal", "largest", "--ball", "l2", "--what", "mean-plus", "--beta", "2", "--observed"))
        p = self.predicted(model, ball)
        for k in range(2):
            self.assertAlmostEqual(p["y_mean"][k] + 2 * p["y_sd_observed"][k], ball["value_after"][k], places=6)
            self.assertLessEqual(((ball["a"][k] - (1.5, 3)[k]) ** 2 + (ball["b"][k] - (0.1, -0.4)[k]) ** 2) ** 0.5, 0.3 + 1e-9)

    def test_json_and_words(self):
        model = self.model()
        attack = ["attack", model, "--at", "at.csv", "--radius", "a=0.3", "-o", "o.csv"]
        told = json.loads(self.ok(*attack, "--json"))
        self.assertEqual((told["rows"], told["what"], told["goal"]), (2, "mean", "farthest"))
        out = table(self.read("o.csv"))
        self.assertEqual(out["b"], [0.1, -0.4])
        self.assertAlmostEqual(told["farthest"], max(abs(x - y) for x, y in zip(out["value_before"], out["value_after"])), places=9)
        self.assertIn("sd of 2 rows moved by up to", self.ok(*attack, "--what", "sd", "--starts", "2", "--steps", "10"))

    def test_wrong_usage(self):
        attack = ["attack", self.model(), "--at", "at.csv", "--radius", "1"]
        self.fails(attack + ["--goal", "up"], "farthest, largest or smallest", code=2)
        self.fails(attack + ["--what", "median"], "mean, sd or mean-plus", code=2)
        self.fails(attack + ["--what", "mean-plus"], "--beta is missing", code=2)
        self.fails(attack + ["--beta", "1"], "--beta is for", code=2)
        self.fails(attack + ["--observed"], "--observed is for", code=2)
        self.fails(attack + ["--starts", "0"], "--starts", code=2)
        self.fails(attack + ["--method", "fgsm", "--starts", "3"], "--method pgd", code=2)
        self.fails(attack + ["--within", "a=2:3"], "not within 2 and 3")
        self.fails(attack + ["--of", "z"], 'no output "z"')
        self.write("kinds.csv", "a,b,kind\n" + "".join("%d,%d,%s\n" % (i, i % 3, "yes" if i > 9 else "no") for i in range(20)))
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "probit", "-q", "-o", "kinds.hf")
        self.fails(["attack", "kinds.hf", "--at", "at.csv", "--radius", "1", "--goal", "largest"], "models of readings", code=2)


if __name__ == "__main__":
    unittest.main()
