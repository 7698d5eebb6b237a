# SPDX-License-Identifier: Apache-2.0
"""fit --sites poisson, negative-binomial and gamma: counts and amounts with exposures in every verb, or a message."""
import json
import math
import random
import unittest

from toolcase import ToolCase, table

KINDS = ("poisson", "negative-binomial", "gamma")


class Counts(ToolCase):
    def setUp(self):
        super().setUp()
        lines = ["x,hours,faults"]
        for i in range(50):
            x, hours = i / 8, 1 + i % 4
            lines.append("%r,%d,%d" % (x, hours, max(1, round(hours * math.exp(1 + math.sin(x)) * (1 + 0.5 * math.sin(61 * i * i))))))
        self.write("c.csv", "\n".join(lines) + "\n")
        self.fit = ["fit", "c.csv", "-t", "faults", "--exposure", "hours"]

    def test_every_kind_in_every_verb(self):
        for kind in KINDS:
            for solver in ("exact", "inducing"):
                report = json.loads(self.ok(*self.fit, "--sites", kind, "--solver", solver, "-o", "m.hf", "--json"))
                self.assertEqual(report["settings"]["sites"], kind)
                self.assertEqual(report["settings"]["inference"], "ep")
                self.assertEqual((report["exposure_column"], report["mean_column"]), ("hours", None))
                self.assertEqual(report["features"], ["x"])
                names = [parameter["name"] for parameter in report["parameters"]]
                self.assertEqual("dispersion" in names, kind != "poisson")
                self.assertNotIn("noise", names)
                self.assertIn("exposure     column hours", self.ok("inspect", "m.hf"))
                rows = table(self.ok("predict", "m.hf", "c.csv"))
                for i, hours in enumerate(rows["hours"]):
                    self.assertAlmostEqual(rows["faults_mean"][i] / (hours * rows["faults_rate"][i]), 1, delta=1e-9)
                    self.assertTrue(rows["faults_lo95"][i] <= rows["faults_median"][i] <= rows["faults_hi95"][i])
                    self.assertTrue(rows["faults_rate_lo95"][i] < rows["faults_rate"][i] < rows["faults_rate_hi95"][i])
                    if kind != "gamma":
                        self.assertEqual(rows["faults_hi95"][i] % 1, 0)
                scores = json.loads(self.ok("score", "m.hf", "c.csv", "--json"))
                self.assertTrue(scores["nlpd"] < 4 and scores["coverage95"] >= 0.9, scores)
                self.assertGreater(scores["crps"], 0)
                self.assertLess(scores["crps"], scores["mae"])
                # Predicted columns are no inputs of the next fit.
                self.ok("predict", "m.hf", "c.csv", "-o", "more.csv")
                again = json.loads(self.ok("fit", "more.csv", *self.fit[2:], "--sites", kind, "--no-train", "--json", quiet=False))
                self.assertEqual(again["features"], ["x"])

    def test_models_are_compared_by_exposure(self):
        out = self.ok("compare", *self.fit[1:], "--preset", "poisson,negative-binomial", "--folds", "3", quiet=False)
        self.assertRegex(out, "(?m)^ +poisson .*[0-9]$")
        self.assertNotIn("nan", out)
        self.fails(["compare", *self.fit[1:], "--preset", "gp"], "exposure column", "gaussian")

    def test_the_rate_is_certified(self):
        self.ok(*self.fit, "--sites", "poisson", "-o", "m.hf")
        self.write("at.csv", "x\n1\n2.5\n")
        words = self.ok("certify", "m.hf", "--at", "at.csv", "--radius", "0.2", "-o", "r.csv", quiet=False)
        self.assertIn("The median of the rate, faults of one unit, stays between", words)
        rows = table(self.read("r.csv"))
        rng = random.Random(3)
        for k, x in enumerate((1, 2.5)):
            self.assertAlmostEqual(math.log(rows["rate_lower"][k]), rows["lower"][k], delta=1e-12)
            self.assertAlmostEqual(math.log(rows["rate_upper"][k]), rows["upper"][k], delta=1e-12)
            places = [x - 0.2 + 0.4 * rng.random() for _ in range(200)]
            self.write("p.csv", "x\n" + "".join(f"{place!r}\n" for place in places))
            rates = table(self.ok("predict", "m.hf", "p.csv"))
            for mean, sd in zip(rates["faults_rate"], rates["faults_sd_latent"]):
                median = mean / math.sqrt(1 + (sd / mean) ** 2)
                self.assertTrue(rows["rate_lower"][k] - 1e-9 <= median <= rows["rate_upper"][k] + 1e-9)
        self.assertNotIn("rate_lower", self.ok("certify", "m.hf", "--at", "at.csv", "--radius", "0.2", "--what", "sd"))

    def test_rows_without_exposure_are_of_one_unit(self):
        self.ok(*self.fit, "--sites", "poisson", "-o", "m.hf")
        self.write("bare.csv", "x\n1\n2.5\n")
        self.write("one.csv", "x,hours\n1,1\n2.5,1\n")
        bare, one = (table(self.ok("predict", "m.hf", name)) for name in ("bare.csv", "one.csv"))
        self.assertEqual(bare["faults_mean"], one["faults_mean"])
        self.assertEqual(bare["faults_hi95"], one["faults_hi95"])

    def test_pictures_are_of_the_rate(self):
        self.ok(*self.fit, "--sites", "negative-binomial", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        points = table(self.read("p-slice.csv"))
        self.write("on.csv", "x\n" + "".join("%r\n" % x for x in points["x"]))
        predicted = table(self.ok("predict", "m.hf", "on.csv", quiet=False))
        for name in ("mean", "sd_latent", "sd_observed", "lo95", "hi95", "median"):
            for value, expected in zip(points[name], predicted["faults_" + name]):
                self.assertAlmostEqual(value, expected, delta=1e-9 * (1 + abs(expected)))
        self.assertIn("for one unit of exposure", self.read("p.gp"))

    def test_log_rate_is_certified(self):
        self.ok(*self.fit, "--sites", "poisson", "-o", "m.hf")
        self.write("at.csv", "x\n2\n")
        answer = table(self.ok("certify", "m.hf", "--at", "at.csv", "--radius", "0", "--what", "mean"))
        predicted = table(self.ok("predict", "m.hf", "at.csv"))
        middle = math.sqrt(predicted["faults_rate_lo95"][0] * predicted["faults_rate_hi95"][0])
        low, high = (answer[name][0] for name in ("lower", "upper"))
        self.assertTrue(low - 1e-9 <= math.log(middle) <= high + 1e-9, answer)

    def test_what_means_nothing_is_told(self):
        poisson = self.fit + ["--sites", "poisson"]
        self.write("half.csv", "x,hours,faults\n1,1,2\n2,1,2.5\n")
        self.write("zero.csv", "x,hours,faults\n1,1,2\n2,0,2\n")
        self.fails(["fit", "half.csv"] + poisson[2:], "line 3", "poisson sites take counts", "2.5")
        self.fails(["fit", "zero.csv"] + poisson[2:], "line 3", "exposure must be positive")
        self.fails(self.fit, "exposure column", "gaussian")
        self.fails(self.fit + ["--sites", "probit"], "--exposure", code=2)
        self.fails(poisson + ["--solver", "projected"], "projected", code=2)
        self.fails(poisson + ["--transform", "log"], "--exposure", code=2)
        self.fails(["fit", "c.csv", "-t", "faults", "--sites", "poisson", "--transform", "log"], "logarithms already", code=2)
        self.fails(poisson + ["--objective", "loo"], "--objective loo does not go with --sites poisson", code=2)
        self.fails(poisson + ["--set", "noise=1"], "noise")
        self.fails(poisson + ["--suspects", "auto"], "--suspects auto does not go with --sites poisson", code=2)
        self.fails(poisson + ["--nu", "4"], "--nu", code=2)
        self.fails(poisson + ["--inference", "corrected"], "it is for softmax", code=2)
        self.fails(poisson + ["--mean", "median"], "median", code=2)


if __name__ == "__main__":
    unittest.main()
