# SPDX-License-Identifier: Apache-2.0
"""MO-RCGP at given hyperparameters: the experiment that stands beside the published program, and a dense numpy of our own, which knows missing readings too."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from oracle import SKIPPED, Oracle, np

SOURCE = os.environ.get("HF_SOURCE", ".")
PROGRAM = os.path.join(os.environ.get("HF_BUILD", "build"), "experiments", "hf-reproduce-mo-rcgp-reference")
DATA = os.environ.get("HF_SHARED_DATA", os.path.join(SOURCE, "../shared/data"))
FOLDER = os.path.join(DATA, "mo_rcgp_reference")

B = np.array([[1, .9, .7], [.9, 1, .8], [.7, .8, 1]])
NOISE, EPS = np.array([.01, .02, .015]), np.array([.1, .2, .15])
LENGTHSCALE, JITTER, RIDGE = 1.2, 1e-6, 1e-3
QUERY = -5.5 + 0.25 * np.arange(45)


def centres(y, noise):
    c, g = B + np.diag(noise), np.zeros_like(y)
    for i, row in enumerate(y):
        for t in range(3):
            o = [s for s in range(3) if s != t and np.isfinite(row[s])]
            if o:
                g[i, t] = c[t, o] @ np.linalg.solve(c[np.ix_(o, o)] + RIDGE * np.eye(len(o)), row[o])
    return g


def weights(y, g):
    """Thresholds, w / beta, d log w^2 / dy."""
    c = np.array([np.quantile(np.abs(y - g)[np.isfinite(y[:, t]), t], 1 - EPS[t], method="lower") for t in range(3)])
    r = y - g
    return c, (1 + (r / c) ** 2) ** -0.5, -2 * r / (c * c + r * r)


def covariance(xs, ts, xq, tq):
    return B[np.ix_(ts, tq)] * np.exp(-0.5 * (xs[:, None] - xq[None, :]) ** 2 / LENGTHSCALE**2)


class Dense:
    """The posterior of the readings there are, by an explicit inverse."""

    def __init__(self, x, y, w=None, slope=None):
        i, self.t = np.nonzero(np.isfinite(y))
        self.x, self.y, s = x[i], y[i, self.t], NOISE[self.t]
        self.w = np.ones(len(i)) if w is None else w[i, self.t]
        self.z = self.y if slope is None else self.y - s * slope[i, self.t]
        self.d = s / self.w**2
        k = covariance(self.x, self.t, self.x, self.t) + JITTER * np.eye(len(i))
        self.full = k + np.diag(self.d)
        self.inverse = np.linalg.inv(self.full)

    def predict(self):
        tq = np.tile(np.arange(3), len(QUERY))
        k = covariance(np.repeat(QUERY, 3), tq, self.x, self.t)
        return k @ self.inverse @ self.z, np.diag(B)[tq] + JITTER - np.einsum("qi,ij,qj->q", k, self.inverse, k)

    def leave_one_out(self, power):
        g = np.diag(self.inverse)
        mean, var = self.z - self.inverse @ self.z / g, 1 / g - self.d + NOISE[self.t]
        return np.sum(self.w**power * -0.5 * (np.log(2 * np.pi * var) + (self.y - mean) ** 2 / var))

    def evidence(self):
        return -0.5 * (self.z @ self.inverse @ self.z + np.linalg.slogdet(self.full)[1] + len(self.z) * np.log(2 * np.pi))


def expected(x, y):
    g = centres(y, NOISE)
    c, w, slope = weights(y, g)
    g0 = centres(y, np.zeros(3))
    c0, w0, slope0 = weights(y, g0)
    first, robust, plain = Dense(x, y, w0, slope0), Dense(x, y, w, slope), Dense(x, y)
    prior = Dense(x, y, *weights(y, np.zeros_like(y))[1:])
    values = {"centre": g, "weight": w, "shift": NOISE * slope, "threshold": c, "first_centre": g0, "first_weight": w0, "first_threshold": c0}
    for name, dense in (("", robust), ("mogp_", plain), ("prior_", prior)):
        values[name + "mean"], values[name + "var"] = dense.predict()
    values["objective"] = [first.leave_one_out(0), first.leave_one_out(1), first.leave_one_out(2), plain.evidence(), prior.leave_one_out(2)]
    return values


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=100, check=False)


class Reference(Oracle):
    def test_published_program(self):
        if not os.path.isdir(FOLDER):
            why = f"skipped: {FOLDER} is not there; set HF_SHARED_DATA to the folder that holds mo_rcgp_reference"
            print(why)
            self.skipTest(why)
        done = run("--data", DATA)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("| yes |"), 18, done.stdout)

    def test_without_the_folder_it_says_so(self):
        done = run("--data", "nowhere")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("--data DIR", done.stderr)

    def compare(self, share):
        rng = np.random.RandomState(7)
        n = 60
        x = np.sort(rng.uniform(-5, 5, n))
        f = np.linalg.cholesky(covariance(x, np.zeros(n, int), x, np.zeros(n, int)) + 1e-9 * np.eye(n)) @ rng.normal(size=(n, 3))
        y = f @ np.linalg.cholesky(B).T + np.sqrt(NOISE) * rng.normal(size=(n, 3))
        y[rng.uniform(size=y.shape) < 0.1] += 2.5
        y[rng.uniform(size=y.shape) < share] = np.nan
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("x,y1,y2,y3\n")
                for i in range(n):
                    file.write(",".join([repr(float(x[i]))] + ["" if np.isnan(v) else repr(float(v)) for v in y[i]]) + "\n")
            done = run("--train", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = json.loads(done.stdout)
        present = np.isfinite(y).ravel()
        for name, theirs in expected(x, y).items():
            mine, theirs = np.array(ours[name], dtype=float), np.asarray(theirs, dtype=float).ravel()
            if len(theirs) == y.size:
                mine, theirs = mine[present], theirs[present]
            self.close(mine, theirs, name, 1e-9)
            if name == "objective":
                np.testing.assert_allclose(mine, theirs, rtol=1e-9)

    def test_complete(self):
        self.compare(0.0)

    def test_gaps(self):
        self.compare(0.3)


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: the experiments are not built")
        sys.exit(SKIPPED)
    unittest.main()
