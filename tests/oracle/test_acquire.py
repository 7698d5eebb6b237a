# SPDX-License-Identifier: Apache-2.0
"""Acquisition functions and their slopes in fifty digits more than they have."""
import sys
import unittest

from oracle import SKIPPED, ask

try:
    from mpmath import mp, mpf
except ImportError:
    print("mpmath is missing (Debian: python3-mpmath)")
    sys.exit(SKIPPED)

mp.dps = 60


def cdf(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def density(z):
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def log_tail(t):
    """log Phi(-t) and log h(-t) for t that large that erfc has no exponent to spare: Mills' ratio by its
    continued fraction, backwards."""
    g = mpf(0)
    for k in range(400, 1, -1):
        g = k / (t + g)
    c = 1 / (t + g)
    return -t * t / 2 - mp.log(2 * mp.pi) / 2 - mp.log(t + c), c


def exact(name, mean, sd, best, beta):
    """Value, d/dmean, d/dsd."""
    mean, sd, best, beta = mpf(mean), mpf(sd), mpf(best), mpf(beta)
    z = (mean - best) / sd
    if name == "ucb":
        return mean + beta * sd, mpf(1), beta
    if z < -60:
        log_phi, c = log_tail(-z)
        log_h, hazard = log_phi + mp.log(c), -z + c
        by_h, density_by_h = 1 / c, hazard / c
    else:
        h = density(z) + z * cdf(z)
        log_phi, hazard = mp.log(cdf(z)), density(z) / cdf(z)
        log_h, by_h, density_by_h = mp.log(h), cdf(z) / h, density(z) / h
    if name == "log-ei":
        return mp.log(sd) + log_h, by_h / sd, density_by_h / sd
    if name == "ei":
        return sd * mp.exp(log_h), cdf(z), density(z)
    if name == "log-pi":
        return log_phi, hazard / sd, -z * hazard / sd
    return mp.exp(log_phi), density(z) / sd, -z * density(z) / sd


GRID = [-1e9, -1e6, -1e4, -3000.3, -100.7, -50.0, -39.1, -37.5, -30.2, -20.0, -10.1, -5.0, -4.0001, -4.0,
        -3.9999, -3.0, -1.5, -1.0, -0.3, 0.0, 1e-9, 0.2, 0.7, 0.99, 1.01, 2.0, 4.0, 8.3, 20.0, 40.0, 1e3, 1e6]
SDS = [1.0, 1e-8, 0.37, 123.0, 1e-150, 1e100]


class Formulas(unittest.TestCase):
    def check(self, name, questions, logarithm):
        text = "".join(f"{name} {m!r} {s!r} {b!r} {beta!r}\n" for m, s, b, beta in questions)
        for question, answer in zip(questions, ask("acquire_values", text)):
            value, dmean, dsd = exact(name, *question)
            sd = mpf(question[1])
            with self.subTest(name=name, question=question):
                size = max(abs(value), 1) if logarithm else abs(value)
                underflow = mpf("1e-307") * (1 + sd + 1 / sd)  # of phi, before it is multiplied or divided by sd
                self.assertLessEqual(abs(answer["value"] - value), 1e-12 * size + underflow)
                for key, slope in (("mean", dmean), ("sd", dsd)):
                    if abs(slope) > 1e308:
                        self.assertEqual(answer[key], 0)
                    else:
                        self.assertLessEqual(abs(answer[key] - slope), 2e-12 * abs(slope) + underflow)

    def test_against_sixty_digits(self):
        for name in ("log-ei", "ei", "log-pi", "pi", "ucb"):
            # best = 0, so that the gap is what the doubles say; and a gap that is a difference without rounding
            questions = [(z * s, s, 0.0, 1.7) for z in GRID for s in SDS if abs(z * s) < 1e150]
            questions += [(1.5 + z / 1024, 0.25, 1.5, -2.0) for z in (-3000, -700, -1, 1, 300, 5000)]
            self.check(name, questions, name.startswith("log"))

    def test_exponential_of_the_logarithm(self):
        """Where ei is a number, log-ei is its logarithm to 1e-10 in it."""
        zs = [z for z in GRID if z > -37.6]
        logs = ask("acquire_values", "".join(f"log-ei {z!r} 1 0 0\n" for z in zs))
        for z, answer in zip(zs, logs):
            value = exact("ei", z, 1.0, 0.0, 0.0)[0]
            self.assertLessEqual(abs(mp.exp(mpf(answer["value"])) / value - 1), 1e-10, z)


if __name__ == "__main__":
    unittest.main()
