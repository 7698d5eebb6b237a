# SPDX-License-Identifier: Apache-2.0
"""An ill-conditioned posterior in 60 digits: what is lost is what the condition number says, not more."""
import sys
import unittest

from oracle import SKIPPED, Oracle, Problem, np

try:
    import mpmath as mp
except ImportError:
    print("mpmath is missing (Debian: python3-mpmath)")
    sys.exit(SKIPPED)

mp.mp.dps = 60


def matern52(a, b, lengthscale):
    r = mp.sqrt(5) * abs(mp.mpf(float(a)) - mp.mpf(float(b))) / mp.mpf(lengthscale)
    return (1 + r + r * r / 3) * mp.exp(-r)


class Precision(Oracle):
    def test_small_noise(self):
        n, lengthscale, noise = 30, 1.0, 1e-9
        x = np.linspace(0, 3, n)
        y, query = np.sin(3 * x), np.array([0.05, 1.234, 2.9, 3.4])
        ours = Problem("matern52(iso)", x[:, None], y, query[:, None], noise,
                       {"outputscale": 1.0, "lengthscale": lengthscale}).solve()
        c = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                c[i, j] = matern52(x[i], x[j], lengthscale) + (mp.mpf(noise) if i == j else 0)
        target = mp.matrix([mp.mpf(float(v)) for v in y])
        weights = mp.lu_solve(c, target)
        logdet = 2 * sum(mp.log(mp.cholesky(c)[i, i]) for i in range(n))
        evidence = -(target.T * weights)[0] / 2 - logdet / 2 - mp.mpf(n) / 2 * mp.log(2 * mp.pi)
        means, variances = [], []
        for q in query:
            k = mp.matrix([matern52(q, v, lengthscale) for v in x])
            means.append(float((k.T * weights)[0]))
            variances.append(float(1 - (k.T * mp.lu_solve(c, k))[0]))
        self.assertEqual(ours["jitter"], 0.0)
        # The condition number is about 1e10: ten of sixteen digits may go in the weights, none beyond.
        self.close(ours["mean"], means, "mean", 1e-9)
        self.close(ours["latent"], variances, "variance", 1e-9, scale=1.0)
        self.close(ours["objectives"]["evidence"]["value"], float(evidence), "evidence", 1e-8)


if __name__ == "__main__":
    unittest.main()
