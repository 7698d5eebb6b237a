# SPDX-License-Identifier: Apache-2.0
"""Expected hypervolume improvement against its definition on the grid of all cells, with 60 digits and by quadrature."""
import itertools
import sys
import unittest

from oracle import SKIPPED, Oracle, ask, np, numbers

try:
    import mpmath as mp
except ImportError:
    print("mpmath is missing (Debian: python3-mpmath)")
    sys.exit(SKIPPED)

mp.mp.dps = 60


def excess(mean, sd, c):
    """E[max(y - c, 0)], 0 at infinity, and its derivatives."""
    if c == mp.inf:
        return mp.mpf(0), mp.mpf(0), mp.mpf(0)
    z = (mean - c) / sd
    phi, cdf = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi), mp.erfc(-z / mp.sqrt(2)) / 2
    return sd * (phi + z * cdf), cdf, phi


def by_cells(points, reference, mean, sd):
    """Value and derivatives: the sum over every cell of the grid that the points make, above the reference and not dominated."""
    m = len(reference)
    lines = [sorted({float(reference[j])} | {float(p[j]) for p in points if p[j] > reference[j]}) + [mp.inf] for j in range(m)]
    sides = [[[a - b for a, b in zip(excess(mean[j], sd[j], lo), excess(mean[j], sd[j], up))]
              for lo, up in zip(lines[j], lines[j][1:])] for j in range(m)]
    value, by_mean, by_sd = mp.mpf(0), [mp.mpf(0)] * m, [mp.mpf(0)] * m
    for cell in itertools.product(*[range(len(line) - 1) for line in lines]):
        low = [lines[j][cell[j]] for j in range(m)]
        if any(all(p[j] > low[j] for j in range(m)) for p in points):
            continue
        parts = [sides[j][cell[j]] for j in range(m)]
        value += mp.fprod(p[0] for p in parts)
        for j in range(m):
            rest = mp.fprod(parts[k][0] for k in range(m) if k != j)
            by_mean[j] += rest * parts[j][1]
            by_sd[j] += rest * parts[j][2]
    return value, by_mean, by_sd


def problem(points, reference, mean, sd):
    m = len(reference)
    rows = [np.reshape(points, (-1, m)), reference, mean, sd]
    return f"{len(points)} {m}\n" + "".join(numbers(r) for r in rows if np.size(r))


class Improvements(Oracle):
    def compare(self, points, reference, mean, sd, what):
        ours = ask("front_values", problem(points, reference, mean, sd))[0]
        mean, sd = [mp.mpf(float(v)) for v in mean], [mp.mpf(float(v)) for v in sd]
        value, by_mean, by_sd = by_cells(points, reference, mean, sd)
        with self.subTest(what):
            log = mp.log(value)
            # The log is that of the rounded arguments: what a last digit of them is worth grows with the square of the distance.
            self.assertLess(abs(ours["log"] - log), 1e-11 + 1e-15 * abs(log))
            for name, theirs in (("mean", by_mean), ("sd", by_sd)):
                slopes = np.array([float(t / value * s) for t, s in zip(theirs, sd)])
                self.close(np.array(ours[f"log_by_{name}"]) * np.array(sd, dtype=float), slopes, f"log by {name}", 1e-10,
                           1 + np.max(np.abs(slopes)))
            if log > -650:
                self.assertLess(abs(ours["value"] / value - 1), 1e-10)

    def test_against_sixty_digits(self):
        rng = np.random.RandomState(1)
        for m, counts in ((1, (0, 1, 4)), (2, (0, 1, 3, 12, 30)), (3, (0, 1, 3, 8))):
            for count in counts:
                for size in (1e-3, 0.05, 0.5, 20.0):
                    points, reference = rng.uniform(-0.2, 2.0, (count, m)), np.zeros(m)
                    if count > 3:
                        points[1, 0] = points[0, 0]
                        points[2] = points[3]
                    mean, sd = rng.uniform(-0.5, 2.5, m), size * np.exp(rng.normal(size=m))
                    self.compare(points, reference, mean, sd, f"{m} objectives, {count} points, sd {size}")

    def test_far_below_and_far_above(self):
        rng = np.random.RandomState(2)
        for m in (2, 3):
            points = rng.uniform(0.1, 2.0, (6, m))
            for depth in (-300.0, -40.0, -5.0, 5.0, 40.0, 1e4):
                self.compare(points, np.zeros(m), np.full(m, depth), rng.uniform(0.5, 2.0, m), f"{m} objectives, means {depth}")

    def test_narrow_strips(self):
        """Many points close together: what a strip adds is a difference of numbers that agree to most digits."""
        t = np.linspace(0.0, 1e-6, 25)
        for mean in ([0.5, 0.5], [-3.0, 2.0], [4.0, 4.0], [-20.0, -25.0]):
            self.compare(np.column_stack([1 + t, 2 - t]), np.zeros(2), mean, [1.0, 0.3], f"means {mean}")

    def test_by_quadrature(self):
        """The definition, not the sum over cells: the volume added by y, integrated over its density."""
        points, reference, mean, sd = [[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], [1.3, 1.4], [0.6, 0.8]

        def added(a, b):
            a, b = max(a, 0), max(b, 0)
            covered = min(a, 1) * min(b, 2) + min(a, 2) * min(b, 1) - min(a, 1) * min(b, 1)
            return a * b - covered

        def density(j, y):
            return mp.npdf(y, mean[j], sd[j])

        lines = [-8, 0, 1, 2, 4, 10]
        with mp.workdps(15):
            theirs = mp.quad(lambda a: density(0, a) * mp.quad(lambda b: density(1, b) * added(a, b), lines, maxdegree=3),
                             lines, maxdegree=3)
        ours = ask("front_values", problem(points, reference, mean, sd))[0]["value"]
        self.close(ours, float(theirs), "by quadrature", 1e-9)


if __name__ == "__main__":
    unittest.main()
