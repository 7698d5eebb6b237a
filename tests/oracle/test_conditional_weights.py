# SPDX-License-Identifier: Apache-2.0
"""Weights from the other outputs against the published formula in numpy, where k(x, x) is the same everywhere and where it is not."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

from oracle import Oracle, np

TOOL = os.environ["HOLDFAST"]
B = np.array([[1.2, 0.7, -0.3], [0.7, 0.9, 0.1], [-0.3, 0.1, 0.8]])
NOISE = np.array([0.04, 0.09, 0.02])
MEAN = np.array([0.5, -1.0, 2.0])
EPS = (0.1, 0.0, 0.2)  # no outliers are expected in the second output


def expected(y, scale):
    """MO-RCGP: the centre of a reading is its conditional mean given the others of its row, C = B k(x, x) + diag(noise)."""
    centre = np.full(y.shape, np.nan)
    for i in range(len(y)):
        c = B * scale[i] + np.diag(NOISE)
        for t in range(3):
            others = [s for s in range(3) if s != t and np.isfinite(y[i, s])]
            inner = np.linalg.solve(c[np.ix_(others, others)], y[i, others] - MEAN[others]) if others else np.zeros(0)
            centre[i, t] = MEAN[t] + c[t, others] @ inner
    weight = np.full(y.shape, np.nan)
    for t in range(3):
        r = y[:, t] - centre[:, t]
        weight[:, t] = 1 / (1 + (r / np.quantile(np.abs(r[np.isfinite(r)]), 1 - EPS[t], method="lower")) ** 2)
    return weight


class Weights(Oracle):
    def compare(self, kernel, scale):
        rng = np.random.RandomState(3)
        n = 40
        x = rng.uniform(-4, 4, n)
        y = MEAN + rng.normal(size=(n, 3)) @ np.linalg.cholesky(B).T * np.sqrt(scale(x))[:, None]
        y += np.sqrt(NOISE) * rng.normal(size=y.shape)
        y[rng.uniform(size=y.shape) < 0.15] = np.nan
        words = [f"noise[{t}]={NOISE[t]!r}" for t in range(3)] + [f"mean[{t}]={MEAN[t]!r}" for t in range(3)]
        words += [f"coregionalisation[{s},{t}]={B[s, t]!r}" for s in range(3) for t in range(s + 1)]
        with tempfile.TemporaryDirectory() as folder:
            table, model = os.path.join(folder, "t.csv"), os.path.join(folder, "m.hf")
            with open(table, "w", encoding="utf-8") as file:
                file.write("x,y1,y2,y3\n")
                for i in range(n):
                    file.write(",".join([repr(float(x[i]))] + ["" if np.isnan(v) else repr(float(v)) for v in y[i]]) + "\n")
            command = [TOOL, "fit", table, "--target", "y1,y2,y3", "--preset", "morcgp", "--no-train", "-k", kernel]
            command += ["--standardise", "off", "--eps", ",".join(map(repr, EPS)), "-o", model, "-q"]
            for word in words:
                command += ["--set", word]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            out = subprocess.run([TOOL, "inspect", model, "--rows", "-"], check=True, stdout=subprocess.PIPE).stdout.decode()
        ours = np.full(y.shape, np.nan)
        for row in csv.DictReader(out.splitlines()):
            if row["y"]:
                ours[int(row["row"]) - 1, int(row["output"])] = float(row["weight"])
        present = np.isfinite(y)
        self.close(ours[present], expected(y, scale(x))[present], f"weights under {kernel}", 1e-9)

    def test_stationary(self):
        self.compare("matern52(lengthscale=1.5)", lambda x: np.ones(len(x)))

    def test_linear(self):
        self.compare("linear(variance=1)", lambda x: x ** 2)

    def test_sum(self):
        self.compare("linear(variance=1)+constant(variance=0.5)", lambda x: x ** 2 + 0.5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
