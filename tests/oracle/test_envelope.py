#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Optimal envelopes against an interior-point method on the primal problem, and against bounds that others have computed.

With features B B' = K over readings and query, an f of norm up to G has values B z with |z| <= G, so the bound is the largest last entry of B z subject
to the ball and the intervals. The barrier method follows its central path and knows how far it is from the optimum."""
import csv
import os
import unittest

from oracle import SKIPPED, ask, np, numbers  # noqa: F401

DATA = os.environ.get("HF_SHARED_DATA", os.path.join(os.environ.get("HF_SOURCE", "."), "../shared/data"))
HENON = os.path.join(DATA, "rkhs_henon_grid_delta1")

KERNELS = {
    "se": lambda r: np.exp(-0.5 * r * r),
    "matern12": lambda r: np.exp(-r),
    "matern32": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
    "matern52": lambda r: (1 + np.sqrt(5) * r + 5 * r * r / 3) * np.exp(-np.sqrt(5) * r),
}


def gram(form, length, scale, x, z):
    r = np.sqrt(((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)) / length
    return scale * KERNELS[form](r)


class Barrier:
    """Largest a'z with |z| <= norm and lower <= B z <= upper (strict inside at `z`), to within `gap`."""

    def __init__(self, b, lower, upper, norm):
        above, below = np.isfinite(upper), np.isfinite(lower)
        self.rows = np.vstack([b[above], -b[below]])
        self.most = np.concatenate([upper[above], -lower[below]])
        self.square = norm * norm

    def value(self, s, a, z):
        ball, slack = self.square - z @ z, self.most - self.rows @ z
        if ball <= 0 or (slack <= 0).any():
            return np.inf
        return -s * (a @ z) - np.log(ball) - np.log(slack).sum()

    def centre(self, s, a, z):
        for _ in range(200):
            ball, slack = self.square - z @ z, self.most - self.rows @ z
            gradient = -s * a + 2 * z / ball + self.rows.T @ (1 / slack)
            hessian = (self.rows.T / slack**2) @ self.rows + 4 * np.outer(z, z) / ball**2
            hessian[np.diag_indices_from(hessian)] += 2 / ball
            step = -np.linalg.solve(hessian, gradient)
            decrement = -gradient @ step
            if decrement < 1e-3: # the path is followed, not reached; what is reached is a bound all the same
                break
            length, here = 1.0, self.value(s, a, z)
            while self.value(s, a, z + length * step) > here - 0.1 * length * decrement and length > 1e-12:
                length *= 0.5
            if length <= 1e-12:
                break
            z = z + length * step
        return z

    def maximise(self, a, z, gap):
        """A value that is reached: at most the optimum, and below it by no more than `gap` unless rounding is in the way."""
        s = 1.0 / max(np.linalg.norm(a) * np.sqrt(self.square), 1e-300)
        best = a @ z
        while (len(self.most) + 2) / s > gap:
            s *= 8.0
            try:
                z = self.centre(s, a, z)
            except np.linalg.LinAlgError:
                break
            best = max(best, a @ z)
        return best


def features(k):
    values, vectors = np.linalg.eigh(k)
    return vectors * np.sqrt(np.clip(values, 0, None))


class Problem:
    def __init__(self, seed, n, form, slack, noise, repeats, one_sided):
        r = np.random.default_rng(seed)
        self.form, self.d = form, int(r.integers(1, 4))
        self.length, self.scale = float(r.uniform(0.5, 2.0)), float(r.uniform(0.5, 4.0))
        self.x = r.uniform(-2, 2, (n, self.d))
        if repeats and n > 3:
            self.x[r.integers(0, n, n // 3)] = self.x[r.integers(0, n, n // 3)]
        centres, weights = r.uniform(-2, 2, (10, self.d)), r.normal(size=10)
        self.norm = slack * float(np.sqrt(weights @ self.k(centres, centres) @ weights))
        self.truth = lambda z: self.k(z, centres) @ weights
        self.noise = noise * float(np.abs(self.truth(self.x)).max() + 0.1)
        f = self.truth(self.x)
        self.y = f + self.noise * r.uniform(-0.95, 0.95, n)
        self.below, self.above = np.full(n, self.noise), np.full(n, self.noise)
        if one_sided:
            which = r.integers(0, 3, n)
            self.below[which == 1], self.above[which == 2] = np.inf, np.inf
        self.query = np.vstack([r.uniform(-2.5, 2.5, (1, self.d)), self.x[:1]])

    def k(self, x, z):
        return gram(self.form, self.length, self.scale, x, z)

    def text(self):
        head = f"kernel {self.scale!r}*{self.form}(lengthscale={self.length!r})\nnorm {self.norm!r}\n"
        rows = np.column_stack([self.x, self.y, self.below, self.above])
        return head + f"data {len(self.y)} {self.d} {len(self.query)}\n" + numbers(rows) + numbers(self.query)

    def bounds(self, query, gap):
        lower, upper = self.y - self.below, self.y + self.above
        x, which = np.unique(self.x, axis=0, return_inverse=True)
        lower = np.array([lower[which == i].max() for i in range(len(x))])
        upper = np.array([upper[which == i].min() for i in range(len(x))])
        same = np.flatnonzero((x == query).all(axis=1))
        points = x if len(same) else np.vstack([x, query[None]])
        b = features(self.k(points, points))
        start = np.linalg.lstsq(b, self.truth(points), rcond=1e-13)[0]
        # The function itself is strictly inside, but for rounding in the norm.
        barrier, a = Barrier(b[:len(x)], lower, upper, self.norm), b[same[0] if len(same) else -1]
        return -barrier.maximise(-a, start, gap), barrier.maximise(a, start, gap)


class AgainstInteriorPoint(unittest.TestCase):
    def compare(self, seed, n, **how):
        problem = Problem(seed, n, **how)
        answer = ask("envelope_values", problem.text())[0]
        self.assertEqual(answer["status"], "HF_OK", answer["message"])
        scale = problem.norm * np.sqrt(problem.scale)
        for q, query in enumerate(problem.query):
            width = answer["upper"][q] - answer["lower"][q]
            lower, upper = problem.bounds(query, 1e-8 * width)
            with self.subTest(seed=seed, n=n, query=q, **how):
                # A value that is reached is no more than the optimum, and a bound no less: close together they are both right. The share of the prior scale is what
                # the square root makes of the rounding of the kernel: in the bound, next to readings, and in the features of the oracle, for se.
                self.assertLess(max(lower - answer["lower"][q], answer["upper"][q] - upper), 1e-6 * width + 1e-8 * scale)
                self.assertGreater(min(lower - answer["lower"][q], answer["upper"][q] - upper), -1e-7 * scale)
                # Functions that surely keep everything are few where G leaves little room.
                self.assertLess(max(answer["gap_lower"][q], answer["gap_upper"][q]), 1e-3 * width + 1e-7 * scale)

    def test_random_problems(self):
        forms = sorted(KERNELS)
        for seed in range(200):
            n = [1, 2, 4, 8, 14, 22, 32, 45][seed % 8] if seed % 100 else 100
            self.compare(seed, n, form=forms[seed // 2 % 4], slack=[1.01, 1.2, 2.0, 10.0][seed // 3 % 4],
                         noise=[0.3, 0.05, 0.003][seed // 5 % 3], repeats=seed % 3 == 0, one_sided=seed % 4 == 1)


@unittest.skipUnless(os.path.isdir(HENON), f"{HENON} is not there; set HF_SHARED_DATA to the folder that holds rkhs_henon_grid_delta1")
class AgainstConicSolver(unittest.TestCase):
    def test_henon(self):
        with open(os.path.join(HENON, "readings.csv"), encoding="ascii") as file:
            readings = np.array([[float(row[c]) for c in ("z1", "z2", "y")] for row in csv.DictReader(file)])
        with open(os.path.join(HENON, "bounds.csv"), encoding="ascii") as file:
            bounds = np.array([[float(row[c]) for c in ("z1", "z2", "opt_lb", "opt_ub")] for row in csv.DictReader(file)])
        rows = np.column_stack([readings, np.ones((len(readings), 2))])
        text = (f"kernel se(lengthscale=5)\nnorm 1200\njitter 1e-5\ndata {len(rows)} 2 {len(bounds)}\n"
                + numbers(rows) + numbers(bounds[:, :2]))
        answer = ask("envelope_values", text)[0]
        self.assertEqual(answer["status"], "HF_OK", answer["message"])
        self.assertEqual(len(answer["lower"]), 441)
        self.assertLess(np.abs(np.array(answer["lower"]) - bounds[:, 2]).max(), 2e-4)
        self.assertLess(np.abs(np.array(answer["upper"]) - bounds[:, 3]).max(), 2e-4)


if __name__ == "__main__":
    unittest.main()
