# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests of the Python package share. Without numpy a test says so and is skipped (exit status 77)."""
import os
import sys
import unittest

SOURCE = os.environ.get("HF_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("HF_BUILD", os.path.join(SOURCE, "build"))
TOOL = os.environ.get("HOLDFAST", os.path.join(BUILD, "holdfast"))
os.environ["HOLDFAST_LIBRARY"] = os.path.join(BUILD, "libholdfast.so")
sys.path.insert(0, os.path.join(SOURCE, "bindings", "python"))


def skip(why):
    """Ends the program as a skipped test."""
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy as np
except ImportError:
    skip("numpy is not installed (Debian: python3-numpy)")

import holdfast  # noqa: E402


def need(module, package):
    """The module; without it the whole program is skipped."""
    try:
        return __import__(module)
    except ImportError:
        skip(f"{module} is not installed (Debian: {package})")


def wavy(n=50, seed=3, bad=()):
    """X (n, 2) and y = sin(2 a) + b / 2 with a little noise; `bad` rows are far off."""
    random = np.random.default_rng(seed)
    X = np.column_stack([4 * random.uniform(size=n), random.standard_normal(n)])
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * random.standard_normal(n)
    y[list(bad)] += 8
    return X, y


class Case(unittest.TestCase):
    def refused(self, kind, words, call, *arguments, **keywords):
        """The call raises `kind` with these words in its text."""
        with self.assertRaises(kind) as caught:
            call(*arguments, **keywords)
        self.assertIn(words, str(caught.exception))

    def close(self, a, b, relative=1e-12):
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        self.assertEqual(a.shape, b.shape)
        wrong = np.abs(a - b) > relative * np.maximum(1, np.abs(b))
        self.assertFalse(wrong.any(), f"{a[wrong][:3]} is not {b[wrong][:3]}")


def main():
    unittest.main(verbosity=1)
