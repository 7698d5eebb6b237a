# SPDX-License-Identifier: Apache-2.0
"""Functions that the oracle tests share: asking our programs, and plain numpy formulas to compare with."""
import json
import os
import subprocess
import sys
import unittest

SKIPPED = 77

# Matrices here are small: a BLAS that brings threads spends more on waking them than they save. Read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import numpy as np
except ImportError:
    print("numpy is missing (Debian: python3-numpy)")
    sys.exit(SKIPPED)


def program(name):
    path = os.path.join(os.environ.get("HF_BUILD", "build"), "oracle", name)
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: set HF_BUILD to the build directory")
    return path


def ask(name, text):
    """Feeds text to a program of ours; the answers, one JSON object per line."""
    done = subprocess.run([program(name)], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{name} failed with {done.returncode}: {done.stderr}")
    return [json.loads(line, parse_constant=float) for line in done.stdout.splitlines()]


def numbers(array):
    return "\n".join(" ".join(repr(float(v)) for v in row) for row in np.atleast_2d(array)) + "\n"


class Problem:
    """Readings, hyperparameters and points to predict at, as gp_values reads them."""

    def __init__(self, kernel, x, y, query, noise, values=None, mean=("zero", []), centre=None, threshold=None, extra=None):
        self.kernel, self.x, self.y, self.query, self.noise = kernel, np.asarray(x), np.asarray(y), np.asarray(query), noise
        self.values, self.mean, self.centre, self.threshold = dict(values or {}), mean, centre, threshold
        self.extra = np.zeros(len(self.y)) if extra is None else np.asarray(extra)
        self.has_extra = extra is not None

    def text(self):
        lines = [f"kernel {self.kernel}"]
        lines += [f"set {name} {float(value)!r}" for name, value in self.values.items()]
        kind, coefficients = self.mean
        lines.append(f"mean {kind} {len(coefficients)} " + " ".join(repr(float(c)) for c in coefficients))
        lines.append(f"noise {float(self.noise)!r}")
        rows = [self.x, self.y]
        if self.threshold is not None:
            lines.append(f"robust {float(self.threshold)!r}")
            rows.append(self.centre)
        if self.has_extra:
            lines.append("extra")
            rows.append(self.extra)
        lines.append(f"data {len(self.y)} {self.x.shape[1]} {len(self.query)}")
        return "\n".join(lines) + "\n" + numbers(np.column_stack(rows)) + numbers(self.query)

    def solve(self):
        return ask("gp_values", self.text())[0]

    def prior_mean(self, x):
        kind, c = self.mean
        if kind == "zero":
            return np.zeros(len(x))
        return c[0] + (x @ np.asarray(c[1:]) if kind == "linear" else np.zeros(len(x)))

    def sites(self, noise=None):
        """Targets, variances and weights by the closed form of robust conjugate sites; weights may not follow the noise."""
        s = (self.noise if noise is None else noise) + self.extra
        if self.threshold is None:
            return self.y, s, np.ones(len(self.y))
        r = self.y - self.centre
        rho = 1 / (1 + r * r / self.threshold**2)
        return self.y + 2 * s * r / (self.threshold**2 + r * r), s / rho, rho


def leave_one_out(gram, z, d, m):
    """Means and variances at each reading from the others only: one solve per reading, nothing clever."""
    means, variances = np.empty(len(z)), np.empty(len(z))
    for i in range(len(z)):
        rest = np.arange(len(z)) != i
        c = gram[np.ix_(rest, rest)] + np.diag(d[rest])
        k = gram[rest, i]
        means[i] = m[i] + k @ np.linalg.solve(c, z[rest] - m[rest])
        variances[i] = gram[i, i] - k @ np.linalg.solve(c, k)
    return means, variances


class Oracle(unittest.TestCase):
    def close(self, ours, theirs, what, tolerance=1e-8, scale=None):
        """Largest difference over the largest magnitude, so that a zero among larger numbers is no trouble."""
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        self.assertEqual(ours.shape, theirs.shape, what)
        self.assertTrue(np.all(np.isfinite(ours)), f"{what}: not finite: {ours}")
        size = np.max(np.abs(theirs)) if scale is None else scale
        error = np.max(np.abs(ours - theirs)) / size
        self.assertLessEqual(error, tolerance, f"{what}: relative difference {error:.2e}")
