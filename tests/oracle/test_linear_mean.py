#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A linear mean whose slopes are integrated out, against the formulas for explicit basis functions with a flat prior
(Rasmussen and Williams 2006, eqs. 2.41 and 2.42, B to infinity), and how often its bands hold far outside of few readings."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

TOOL = os.environ["HOLDFAST"]


def write(path, names, rows):
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")


class LinearMean(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def fit(self, n, d, seed, *options):
        """Readings of a plane, and what a fit says at points three times as far out."""
        rng = np.random.default_rng(seed)
        spread, slopes = np.arange(1, d + 1), rng.normal(size=d) / np.arange(1, d + 1)
        self.x = rng.normal(size=(n, d)) * spread + 10
        self.y = self.x @ slopes + 0.5 * rng.normal(size=n)
        self.far = rng.normal(size=(40, d)) * spread * 3 + 10
        self.there = self.far @ slopes + 0.5 * rng.normal(size=40)
        names = [f"x{j + 1}" for j in range(d)]
        at = {name: os.path.join(self.folder.name, name) for name in ("a.csv", "b.csv", "p.csv", "m.hf")}
        write(at["a.csv"], names + ["y"], np.c_[self.x, self.y])
        write(at["b.csv"], names, self.far)
        said = subprocess.run([TOOL, "fit", at["a.csv"], "-t", "y", "--mean", "linear", "--preset", "gp", "--json", "-o",
                               at["m.hf"], *options], check=True, capture_output=True, text=True).stdout
        subprocess.run([TOOL, "predict", at["m.hf"], at["b.csv"], "-o", at["p.csv"]], check=True, capture_output=True)
        self.predicted = np.genfromtxt(at["p.csv"], delimiter=",", names=True)
        return {p["name"]: p["value"] for p in json.loads(said)["parameters"]}

    def check(self, p, tolerance):
        n, d = self.x.shape
        lengths = np.array([p[f"matern52.lengthscale[{j}]"] for j in range(d)])

        def kernel(a, b):
            r = np.sqrt(5.0) * np.sqrt((((a[:, None] - b[None]) / lengths) ** 2).sum(-1))
            return p["matern52.outputscale"] * (1 + r + r * r / 3) * np.exp(-r)

        a = kernel(self.x, self.x) + p["noise"] * np.eye(n)
        cross, h, there = kernel(self.far, self.x), np.c_[np.ones(n), self.x], np.c_[np.ones(40), self.far]
        known = np.linalg.solve(a, h)
        m = h.T @ known
        slopes = np.linalg.solve(m, known.T @ self.y)
        mean = there @ slopes + cross @ np.linalg.solve(a, self.y - h @ slopes)
        rest = there - cross @ known
        variance = (p["matern52.outputscale"] - np.einsum("ij,ji->i", cross, np.linalg.solve(a, cross.T))
                    + np.einsum("ij,ji->i", rest, np.linalg.solve(m, rest.T)))
        np.testing.assert_allclose([p[f"mean[{j}]"] for j in range(d + 1)], slopes, rtol=0, atol=1e-6)
        np.testing.assert_allclose(self.predicted["y_mean"], mean, rtol=0, atol=1e-6)
        np.testing.assert_allclose(self.predicted["y_sd_latent"] ** 2, variance, rtol=tolerance)

    def test_mean_and_variance(self):
        # Without standardisation the inputs are ten standard deviations from the place that the intercept is about.
        for n, d, seed, options, tolerance in ((20, 5, 0, (), 2e-5), (60, 2, 1, (), 2e-5), (300, 3, 1, (), 2e-5),
                                               (40, 2, 2, ("--standardise", "off"), 2e-3)):
            with self.subTest(n=n, d=d):
                self.check(self.fit(n, d, seed, *options), tolerance)

    def test_bands_hold_far_out(self):
        inside = []
        for seed in range(12):
            self.fit(20, 5, seed)
            inside.append(np.mean(abs(self.there - self.predicted["y_mean"]) < 1.96 * self.predicted["y_sd_observed"]))
        self.assertGreater(np.mean(inside), 0.9)

    def test_given_back_it_is_the_same_model(self):
        p = self.fit(30, 2, 5)
        before = self.predicted["y_mean"], self.predicted["y_sd_latent"]
        held = [f"--set={name}={value!r}" for name, value in p.items() if not name.startswith("mean")]
        self.fit(30, 2, 5, "--no-train", *held)
        np.testing.assert_allclose(self.predicted["y_mean"], before[0], rtol=0, atol=1e-7)
        np.testing.assert_allclose(self.predicted["y_sd_latent"], before[1], rtol=1e-7)


if __name__ == "__main__":
    unittest.main()
