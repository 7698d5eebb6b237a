#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Optimal envelopes of a hundred to three hundred readings against a conic solver, cvxopt.

With B B' = K over readings and query (B lower triangular), an f of norm up to G has values B z with |z| <= G: the bound is the largest last entry of B z
subject to one second-order cone and the intervals."""
import sys
import unittest

from oracle import SKIPPED, ask, np, numbers  # noqa: F401

try:
    from cvxopt import matrix, solvers
except ImportError:
    print("cvxopt is not there (Debian: python3-cvxopt)")
    sys.exit(SKIPPED)


def matern52(length, x, z):
    r = np.sqrt(((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)) / length
    return (1 + np.sqrt(5) * r + 5 * r * r / 3) * np.exp(-np.sqrt(5) * r)


def matern32(length, x, z):
    r = np.sqrt(3) * np.sqrt(((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)) / length
    return (1 + r) * np.exp(-r)


KERNELS = {"matern52": matern52, "matern32": matern32}


def largest(a, b, lower, upper, norm, accuracy):
    """max a'z, |z| <= norm, lower <= B z <= upper, to within `accuracy`; None where the solver's scaling breaks down on the way."""
    size = len(a)
    above, below = np.isfinite(upper), np.isfinite(lower)
    g = np.vstack([b[above], -b[below], np.zeros(size), -np.eye(size)])
    h = np.concatenate([upper[above], -lower[below], [norm], np.zeros(size)]) / norm
    dims = {"l": int(above.sum() + below.sum()), "q": [size + 1], "s": []}
    solvers.options.update(show_progress=False, abstol=accuracy / norm, reltol=1e-12, feastol=1e-9, maxiters=200)
    try:
        answer = solvers.conelp(matrix(-a), matrix(g), matrix(h), dims)
    except (ArithmeticError, ValueError):
        return None
    return norm * float(a @ np.array(answer["x"]).ravel()) if answer["status"] == "optimal" else None


class AgainstConicSolver(unittest.TestCase):
    def compare(self, seed, n, form, slack, noise, one_sided):
        r = np.random.default_rng(seed)
        length = float(r.uniform(0.5, 1.5))
        x, centres, weights = r.uniform(-2, 2, (n, 2)), r.uniform(-2, 2, (10, 2)), r.normal(size=10)
        k = lambda p, q: KERNELS[form](length, p, q)  # noqa: E731
        norm = slack * float(np.sqrt(weights @ k(centres, centres) @ weights))
        f = k(x, centres) @ weights
        bound = noise * float(np.abs(f).max())
        y = f + bound * r.uniform(-0.95, 0.95, n)
        below, above = np.full(n, bound), np.full(n, bound)
        if one_sided:
            which = r.integers(0, 4, n)
            below[which == 1], above[which == 2] = np.inf, np.inf
        query = r.uniform(-2.2, 2.2, (1, 2))
        answer = ask("envelope_values",
                     f"kernel {form}(lengthscale={length!r})\nnorm {norm!r}\ndata {n} 2 1\n"
                     + numbers(np.column_stack([x, y, below, above])) + numbers(query))[0]
        self.assertEqual(answer["status"], "HF_OK", answer["message"])
        points = np.vstack([x, query])
        b = np.linalg.cholesky(k(points, points))
        width = answer["upper"][0] - answer["lower"][0]
        compared = 0
        for sign, ours in ((1.0, answer["upper"][0]), (-1.0, -answer["lower"][0])):
            theirs = largest(sign * b[-1], b[:-1], y - below, y + above, norm, 2e-7 * width)
            if theirs is not None:
                compared += 1
                with self.subTest(seed=seed, n=n, form=form, slack=slack, noise=noise, sign=sign):
                    self.assertLess(abs(ours - theirs), 1e-6 * width + 1e-8 * norm)
        return compared

    def test_many_readings(self):
        compared = 0
        for seed in range(12):
            compared += self.compare(seed, n=[100, 150, 200, 300][seed % 4], form=["matern52", "matern32"][seed // 2 % 2],
                                     slack=[1.2, 2.0, 10.0][seed % 3], noise=[0.3, 0.05, 0.01][seed // 3 % 3], one_sided=seed % 2 == 1)
        self.assertGreaterEqual(compared, 18)  # of 24 bounds; the solver must have got through with most


if __name__ == "__main__":
    unittest.main()
