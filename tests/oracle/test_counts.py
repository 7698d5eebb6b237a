# SPDX-License-Identifier: Apache-2.0
"""Counts and amounts: densities of scipy.stats; Laplace's method by a general optimiser; expectation propagation one site at a
time with the whole covariance in hand, moments by quadrature; the posterior of two readings by a grid; new readings by
integration over their rate."""
import sys
import unittest

from oracle import SKIPPED, ask, np, numbers

try:
    from scipy import integrate, optimize, stats
except ImportError:
    print("scipy is missing (Debian: python3-scipy)")
    sys.exit(SKIPPED)

KINDS = ("poisson", "negative-binomial", "gamma")
DISPERSION, MEAN, THETA = 0.3, 0.7, (0.2, -0.1)  # log outputscale, log lengthscale


def distribution(kind, mu):
    if kind == "poisson":
        return stats.poisson(mu)
    if kind == "negative-binomial":
        r = 1 / DISPERSION
        return stats.nbinom(r, r / (r + mu))
    return stats.gamma(1 / DISPERSION, scale=mu * DISPERSION)


def log_density(kind, y, f):
    d = distribution(kind, np.exp(f))
    return d.logpdf(y) if kind == "gamma" else d.logpmf(y)


def draw(kind, n=12, seed=3):
    rng = np.random.default_rng(seed)
    x, exposure = np.sort(rng.uniform(0, 6, n)), rng.choice([0.5, 1.0, 4.0], n)
    y = distribution(kind, exposure * np.exp(MEAN + np.sin(x))).rvs(random_state=rng)
    return x, np.asarray(y, float), exposure


def values(kind, x, y, exposure):
    head = [len(THETA), *THETA, MEAN, DISPERSION, len(x)]
    return ask("count_values", f"{kind}\nse(ard)\n" + numbers(np.array(head)) + numbers(np.c_[x, y, exposure]))[0]


def kernel(x):
    return np.exp(THETA[0] - 0.5 * ((x[:, None] - x[None, :]) / np.exp(THETA[1])) ** 2)


def second(kind, y, f, h=1e-3):
    """d^2 log p / d f^2, by differences of the fourth order."""
    p = [log_density(kind, y, f + k * h) for k in (-2, -1, 0, 1, 2)]
    return (-p[0] + 16 * p[1] - 30 * p[2] + 16 * p[3] - p[4]) / (12 * h * h)


def tilted(kind, y, mean, var):
    sd = np.sqrt(var)
    f = np.linspace(mean - 14 * sd, mean + 14 * sd, 20001)
    log_p = log_density(kind, y, f) + stats.norm.logpdf(f, mean, sd)
    p = np.exp(log_p - log_p.max())
    z = p.sum()
    m = (p * f).sum() / z
    return np.log(z * (f[1] - f[0])) + log_p.max(), m, (p * (f - m) ** 2).sum() / z


def slow_ep(kind, k, offset, y):
    n = len(y)
    tau, nu, sigma, mu, part = np.zeros(n), np.zeros(n), k.copy(), np.zeros(n), np.zeros(n)
    for _ in range(60):
        before = np.r_[tau, nu]
        for i in range(n):
            t, v = 1 / sigma[i, i] - tau[i], mu[i] / sigma[i, i] - nu[i]
            log_z, mean, var = tilted(kind, y[i], offset[i] + v / t, 1 / t)
            tau[i], nu[i] = 1 / var - t, (mean - offset[i]) / var - v
            part[i] = log_z + 0.5 * np.log(1 + tau[i] / t) - 0.5 * (nu[i] ** 2 + 2 * nu[i] * v - tau[i] * v * v / t) / (t + tau[i])
            root = np.sqrt(np.maximum(tau, 0))
            b = np.eye(n) + root[:, None] * k * root[None, :]
            sigma = k - (k * root) @ np.linalg.solve(b, root[:, None] * k)
            mu = sigma @ nu
        if np.abs(np.r_[tau, nu] - before).max() < 1e-10:
            break
    return part.sum() - 0.5 * np.linalg.slogdet(b)[1] + 0.5 * nu @ mu, mu, np.diag(sigma)


class Counts(unittest.TestCase):
    def test_laplace(self):
        for kind in KINDS:
            x, y, exposure = draw(kind)
            k, offset = kernel(x), MEAN + np.log(exposure)
            factor = np.linalg.cholesky(k + 1e-12 * np.eye(len(x)))  # f = L u, for which the optimiser's units are even
            def lost(u):
                return 0.5 * u @ u - log_density(kind, y, offset + factor @ u).sum()
            u = optimize.minimize(lost, np.zeros(len(x)), method="BFGS", options={"gtol": 1e-9}).x
            g = factor @ u
            w = -second(kind, y, offset + g)
            b = np.eye(len(x)) + np.sqrt(w)[:, None] * k * np.sqrt(w)[None, :]
            ours = values(kind, x, y, exposure)["laplace"]
            self.assertTrue(ours["converged"])
            np.testing.assert_allclose(ours["latent"], g, atol=2e-5)
            self.assertAlmostEqual(ours["evidence"], -lost(u) - 0.5 * np.linalg.slogdet(b)[1], delta=1e-6)

    def test_expectation_propagation(self):
        for kind in KINDS:
            x, y, exposure = draw(kind)
            value, mean, variance = slow_ep(kind, kernel(x), MEAN + np.log(exposure), y)
            ours = values(kind, x, y, exposure)["ep"]
            self.assertTrue(ours["converged"])
            self.assertAlmostEqual(ours["evidence"], value, delta=1e-7)
            np.testing.assert_allclose(ours["latent"], mean, atol=1e-7)
            np.testing.assert_allclose(ours["variance"], variance, rtol=1e-7)

    def test_two_readings_by_a_grid(self):
        """How near the approximations are: expectation propagation to thousandths, variances to hundredths; Laplace's to tenths."""
        for kind in KINDS:
            x, y, exposure = np.array([0.0, 0.4]), np.array([1.0, 3.0]), np.array([1.0, 2.0])
            offset, precision = MEAN + np.log(exposure), np.linalg.inv(kernel(x))
            g = np.linspace(-6, 6, 1201)
            a, b = np.meshgrid(g, g, indexing="ij")
            log_p = (log_density(kind, y[0], offset[0] + a) + log_density(kind, y[1], offset[1] + b)
                     - 0.5 * (precision[0, 0] * a * a + 2 * precision[0, 1] * a * b + precision[1, 1] * b * b)
                     - np.log(2 * np.pi) + 0.5 * np.linalg.slogdet(precision)[1])
            p = np.exp(log_p) * (g[1] - g[0]) ** 2
            z, mean = p.sum(), (p * a).sum() / p.sum()
            variance = (p * (a - mean) ** 2).sum() / z
            ours = values(kind, x, y, exposure)
            for name, near in (("ep", 0.005), ("laplace", 0.1)):
                self.assertAlmostEqual(ours[name]["evidence"], np.log(z), delta=near)
                self.assertAlmostEqual(ours[name]["latent"][0], mean, delta=2 * near)
                self.assertAlmostEqual(ours[name]["variance"][0] / variance, 1, delta=4 * near)
            self.assertLess(abs(ours["ep"]["evidence"] - np.log(z)), abs(ours["laplace"]["evidence"] - np.log(z)))

    def test_new_readings(self):
        for kind in KINDS:
            x, y, exposure = draw(kind)
            ours = values(kind, x, y, exposure)["ep"]
            for i in range(len(x)):
                m, sd = MEAN + np.log(exposure[i]) + ours["latent"][i], np.sqrt(ours["variance"][i])
                f = m + sd * np.linspace(-10, 10, 4001)
                weight = stats.norm.pdf(f, m, sd) * (f[1] - f[0])
                d = distribution(kind, np.exp(f))
                mean = (weight * np.exp(f)).sum()
                spread = (weight * (d.var() + np.exp(2 * f))).sum() - mean ** 2
                np.testing.assert_allclose(ours["moments"][i][::2], [mean, np.sqrt(spread)], rtol=1e-8)
                self.assertAlmostEqual(ours["score"][i], np.log((weight * np.exp(log_density(kind, y[i], f))).sum()), delta=1e-8)
                for level, q in zip((0.025, 0.5, 0.975), ours["quantiles"][i]):
                    if kind == "gamma":
                        self.assertAlmostEqual((weight * d.cdf(q)).sum(), level, delta=1e-8)
                    else:
                        self.assertGreaterEqual((weight * d.cdf(q)).sum(), level - 1e-9)
                        self.assertLess((weight * d.cdf(q - 1)).sum(), level + 1e-9)

    def test_log_score_of_a_far_reading(self):
        """Once more by adaptive quadrature, where the rate is uncertain and the reading far off."""
        x, y, exposure = np.array([0.0]), np.array([300.0]), np.array([1.0])
        for kind in KINDS:
            ours = values(kind, x, y, exposure)["ep"]
            exact = integrate.quad(lambda f: np.exp(log_density(kind, 300.0, f)) * stats.norm.pdf(f, MEAN, np.exp(0.1)),
                                   -5, 12, points=[np.log(300)], epsabs=0, epsrel=1e-11, limit=400)[0]
            self.assertAlmostEqual(ours["evidence"], np.log(exact), delta=1e-8)


if __name__ == "__main__":
    unittest.main()
