# SPDX-License-Identifier: Apache-2.0
"""--no-train --standardise off is the closed form at exactly the values given, to 1e-9; numpy is the judge."""
import json
import unittest

import numpy as np

from toolcase import ToolCase, table

TRUTH = {"outputscale": 1.7, "lengthscale[0]": 0.9, "lengthscale[1]": 2.2, "noise": 0.05, "mean": 0.3}


def matern52(x, z):
    scaled = (x[:, None, :] - z[None, :, :]) / np.array([0.9, 2.2])
    r = np.sqrt(5 * (scaled ** 2).sum(2))
    return 1.7 * (1 + r + r * r / 3) * np.exp(-r)


class ClosedForm(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=35, bad=(4, 19))
        self.wave("new.csv", rows=11)
        data, new = table(self.read("wave.csv")), table(self.read("new.csv"))
        self.x, self.y = np.array([data["a"], data["b"]]).T, np.array(data["y"])
        self.z = np.array([new["a"], new["b"]]).T

    def fit(self, *more):
        values = [word for name, value in TRUTH.items() for word in ("--set", "%s=%r" % (name, value))]
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--no-train", "--standardise", "off", "--json",
                                    "-o", "m.hf", *values, *more))
        self.assertEqual(report["report"]["jitter"], 0)
        self.assertEqual(report["report"]["calibration"], 1)
        told = {entry["name"]: entry for entry in report["parameters"]}
        for name, value in TRUTH.items():
            self.assertTrue(abs(told[name]["value"] - value) <= 1e-14 * value and told[name]["held"], name)
        return report, table(self.ok("predict", "m.hf", "new.csv"))

    def check(self, predicted, targets, variances, noise=0.05):
        gram, cross = matern52(self.x, self.x) + np.diag(variances), matern52(self.z, self.x)
        mean = 0.3 + cross @ np.linalg.solve(gram, targets - 0.3)
        latent = 1.7 - (cross * np.linalg.solve(gram, cross.T).T).sum(1)
        observed = np.sqrt(latent + noise)
        for name, expected in (("mean", mean), ("sd_latent", np.sqrt(latent)), ("sd_observed", observed),
                               ("lo95", mean - 1.959963984540054 * observed), ("hi95", mean + 1.959963984540054 * observed)):
            np.testing.assert_allclose(predicted["y_" + name], expected, rtol=1e-9, atol=1e-12, err_msg=name)

    def robust_sites(self, centre, threshold):
        r = self.y - centre
        return self.y + 2 * 0.05 * r / (threshold ** 2 + r ** 2), 0.05 * (1 + (r / threshold) ** 2)

    def test_gaussian(self):
        for recipe in ([], ["--preset", "gp"], ["--sites", "gaussian"]):
            report, predicted = self.fit(*recipe)
            self.assertEqual(report["suspects"], [])
            self.check(predicted, self.y, np.full(35, 0.05))

    def test_prior_centre_and_quantile(self):
        c = np.quantile(np.abs(self.y - 0.3), 0.9)
        for options in (["--centre", "prior", "--eps", "0.1"], ["--sites", "robust", "--centre", "prior"],
                        ["--preset", "rcgp"]):
            report, predicted = self.fit(*options)
            self.assertAlmostEqual(report["report"]["threshold"], c, delta=1e-12 * c)
            self.check(predicted, *self.robust_sites(0.3, c))

    def test_prior_centre_and_given_threshold(self):
        for options in (["--threshold", "1.25"], ["--set", "threshold=1.25"]):
            report, predicted = self.fit("--centre", "prior", *options)
            self.assertEqual(report["report"]["threshold"], 1.25)
            self.check(predicted, *self.robust_sites(0.3, 1.25))

    def test_leave_one_out_centre_is_a_fixed_point(self):
        """Slow reference: re-centre on leave-one-out means until nothing moves."""
        _, predicted = self.fit("--sites", "robust", "--threshold", "1.25")
        centre = np.full(35, 0.3)
        for _ in range(200):
            targets, variances = self.robust_sites(centre, 1.25)
            inverse = np.linalg.inv(matern52(self.x, self.x) + np.diag(variances))
            centre = targets - inverse @ (targets - 0.3) / np.diag(inverse)
        gram, cross = matern52(self.x, self.x) + np.diag(variances), matern52(self.z, self.x)
        mean = 0.3 + cross @ np.linalg.solve(gram, targets - 0.3)
        # At most eight rounds are made: near the fixed point, not at it.
        np.testing.assert_allclose(predicted["y_mean"], mean, atol=0.02)

    def test_neighbours(self):
        _, predicted = self.fit("--centre", "neighbours", "--threshold", "1.25")
        centre, scaled = [], self.x / self.x.std(0)  # near is meant in comparable units
        for i in range(35):
            distance = ((scaled - scaled[i]) ** 2).sum(1)
            distance[i] = np.inf
            centre.append(np.median(self.y[np.argsort(distance, kind="stable")[:11]]))
        self.check(predicted, *self.robust_sites(np.array(centre), 1.25))

    def test_infinite_threshold_is_the_plain_process(self):
        _, predicted = self.fit("--centre", "prior", "--threshold", "inf")
        self.check(predicted, self.y, np.full(35, 0.05))

    def test_noise_column(self):
        extra = 0.01 * (np.arange(35) % 4)
        lines = self.read("wave.csv").split("\n")
        self.write("wave.csv", lines[0] + ",s2\n" + "".join("%s,%r\n" % row for row in zip(lines[1:], extra.tolist())))
        _, predicted = self.fit("--noise-column", "s2")
        self.check(predicted, self.y, 0.05 + extra)

    def test_mean_column(self):
        def add(name, means, *others):
            lines = self.read(name).rstrip("\n").split("\n")
            head = lines[0] + ",m" + "".join("," + other for other, _ in others)
            columns = [means] + [values for _, values in others]
            rows = [line + "".join(",%r" % float(v) for v in row) for line, row in zip(lines[1:], zip(*columns))]
            self.write(name, "\n".join([head] + rows) + "\n")

        means, new = 10 + self.x @ [3, -2], 10 + self.z @ [3, -2]
        add("wave.csv", means)
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "--standardise", "off", "--mean-column", "m", "-o", "m.hf",
                *[word for name, value in TRUTH.items() for word in ("--set", "%s=%r" % (name, value))])
        self.fails(["predict", "m.hf", "new.csv"], "prior mean of each row")
        add("new.csv", new)
        predicted = table(self.ok("predict", "m.hf", "new.csv"))
        predicted["y_mean"] = [mean - m for mean, m in zip(predicted["y_mean"], new)]
        for bound in ("y_lo95", "y_hi95"):
            predicted[bound] = [value - m for value, m in zip(predicted[bound], new)]
        self.check(predicted, self.y - means, np.full(35, 0.05))
        self.assertIn("of the target less column m", self.ok("inspect", "m.hf"))
        self.assertEqual(json.loads(self.ok("inspect", "m.hf", "--json"))["mean_column"], "m")
        self.ok("score", "m.hf", "wave.csv")
        self.fails(["extremum", "m.hf"], "--mean-column m")
        self.fails(["fit", "wave.csv", "-t", "y,a", "--mean-column", "m"], "one target", code=2)
        self.fails(["fit", "wave.csv", "-t", "y", "--mean-column", "m", "--transform", "log"], "--mean-column", code=2)
        compared = json.loads(self.ok("compare", "wave.csv", "-t", "y", "--mean-column", "m", "--preset", "gp", "--folds", "2",
                                      "--json"))
        self.assertEqual(compared["models"][0]["name"], "gp")

    def test_picture_of_a_mean_column(self):
        rows = ["%r,%r,%r" % (x, x * x, x * x + 0.1 * (i % 3)) for i, x in enumerate(np.linspace(-4, 4, 33).tolist())]
        self.write("line.csv", "x,m,y\n" + "\n".join(rows) + "\n")
        self.ok("fit", "line.csv", "-t", "y", "--mean-column", "m", "-o", "m.hf")
        self.ok("plot", "m.hf", "--data-only", "-o", "m.svg")
        slice_ = table(self.read("m-slice.csv"))
        # Between readings the mean goes straight: off by at most a quarter of a quarter squared.
        self.assertTrue(all(abs(m - x * x - 0.1) < 0.17 for x, m in zip(slice_["x"], slice_["mean"]) if abs(x) < 3.9))


if __name__ == "__main__":
    unittest.main()
