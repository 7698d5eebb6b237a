# SPDX-License-Identifier: Apache-2.0
"""Labels of two classes: Laplace's method under the logit link by scikit-learn; expectation propagation by one site at a time with the whole
covariance in hand (Rasmussen and Williams 2006, algorithm 3.5, written here), moments by quadrature; probabilities by integration; the priors of
inducing inputs as dense matrices."""
import sys
import unittest

from oracle import SKIPPED, ask, np, numbers

try:
    from scipy import integrate, special, stats
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
except ImportError:
    print("scipy or scikit-learn is missing (Debian: python3-sklearn)")
    sys.exit(SKIPPED)

INDUCING = 9


def draw(seed, n=60, q=25):
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.45).astype(int)
    x = rng.normal(size=(n, 2)) + np.outer(label, [1.3, -0.4])
    return x, label, rng.uniform(-3, 4, (q, 2))


def values(kernel, theta, mean, x, label, query):
    head = [len(theta), *theta, mean, len(x), x.shape[1], INDUCING, len(query)]
    return ask("class_values", f"{kernel}\n" + numbers(np.array(head)) + numbers(x) + numbers(label) + numbers(query))[0]


def rbf(theta, a, b):
    r2 = np.sum(((a[:, None, :] - b[None, :, :]) / np.exp(theta[1:])) ** 2, axis=2)
    return np.exp(theta[0] - 0.5 * r2)


# ---- expectation propagation, one site at a time --------------------------------------------------------------------------


NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def tilted(link, sign, mean, var):
    """log Z, mean and variance of the link times a normal density."""
    sd = np.sqrt(var)
    if link == "probit":
        root = np.sqrt(1 + var)
        z = sign * mean / root
        log_z = special.log_ndtr(z)
        r = np.exp(stats.norm.logpdf(z) - log_z)
        return log_z, mean + sign * var * r / root, var - var * var * r * (z + r) / (1 + var)
    low, high = mean - 12 * sd + min(0, sign * var), mean + 12 * sd + max(0, sign * var)
    f = 0.5 * (high + low) + 0.5 * (high - low) * NODES
    p = 0.5 * (high - low) * WEIGHTS * special.expit(sign * f) * stats.norm.pdf(f, mean, sd)
    z = p.sum()
    m = (p * f).sum() / z
    return np.log(z), m, (p * (f - m) ** 2).sum() / z


def slow_ep(link, k, m, sign):
    """Evidence, and the posterior (mean less m, covariance)."""
    n = len(sign)
    tau, nu = np.zeros(n), np.zeros(n)
    sigma, mu, log_z, cavity = k.copy(), np.zeros(n), np.zeros(n), np.zeros((n, 2))
    for _ in range(400):
        before = np.concatenate([tau, nu])
        for i in range(n):
            t = 1 / sigma[i, i] - tau[i]
            v = mu[i] / sigma[i, i] - nu[i]
            log_z[i], mean, var = tilted(link, sign[i], m + v / t, 1 / t)
            cavity[i] = v / t, 1 / t
            step = 1 / var - t - tau[i]
            tau[i] += step
            nu[i] = (mean - m) / var - v
            sigma -= step / (1 + step * sigma[i, i]) * np.outer(sigma[i], sigma[i])
            mu = sigma @ nu
        root = np.sqrt(np.maximum(tau, 0))
        b = np.eye(n) + root[:, None] * k * root
        half = np.linalg.solve(np.linalg.cholesky(b), root[:, None] * k)
        sigma = k - half.T @ half
        mu = sigma @ nu
        if np.max(np.abs(np.concatenate([tau, nu]) - before)) < 1e-11:
            break
    # Normal densities with the cavities' and the sites' own constants: equation 3.65 without its rearrangement.
    value = log_z.sum() - 0.5 * np.linalg.slogdet(b)[1] + 0.5 * nu @ mu
    c, v = cavity.T
    value -= np.sum(-0.5 * np.log1p(tau * v) + 0.5 * (nu * nu * v + 2 * nu * c - tau * c * c) / (1 + tau * v))
    return value, mu, sigma, tau, nu


def mode(link, k, m, sign):
    """Laplace's evidence and mode less m, by plain Newton steps."""
    g = np.zeros(len(sign))
    for _ in range(100):
        u = sign * (m + g)
        if link == "logit":
            slope, w = sign * special.expit(-u), special.expit(u) * special.expit(-u)
        else:
            r = np.exp(stats.norm.logpdf(u) - special.log_ndtr(u))
            slope, w = sign * r, r * (r + u)
        a = np.linalg.solve(np.eye(len(g)) + w[:, None] * k, w * g + slope)
        g = k @ a
    u = sign * (m + g)
    likely = special.log_expit(u).sum() if link == "logit" else special.log_ndtr(u).sum()
    return likely - 0.5 * a @ g - 0.5 * np.linalg.slogdet(np.eye(len(g)) + w[:, None] * k)[1], g, w


class ScikitLearn(unittest.TestCase):
    """Laplace's method under the logit link, zero mean."""

    def compare(self, kernel, ours, theta, seed):
        x, label, query = draw(seed)
        got = values(ours, theta, 0.0, x, label, query)["logit laplace"]
        model = GaussianProcessClassifier(kernel=kernel, optimizer=None, max_iter_predict=1000).fit(x, label)
        value, gradient = model.log_marginal_likelihood(np.asarray(theta), eval_gradient=True)
        self.assertAlmostEqual(got["evidence"], value, delta=1e-6)
        np.testing.assert_allclose(got["gradient"][: len(theta)], gradient, atol=1e-6, rtol=1e-6)
        base = model.base_estimator_
        cross = base.kernel_(x, query)
        v = np.linalg.solve(base.L_, base.W_sr_[:, None] * cross)
        np.testing.assert_allclose(got["mean"], cross.T @ (label - base.pi_), atol=1e-6)
        np.testing.assert_allclose(got["variance"], base.kernel_.diag(query) - np.sum(v * v, axis=0), atol=1e-6)
        # Its probability is an approximation by five error functions.
        np.testing.assert_allclose(got["probability"], model.predict_proba(query)[:, 1], atol=2e-3)

    def test_squared_exponential(self):
        theta = [np.log(4.0), np.log(0.9), np.log(1.7)]
        self.compare(ConstantKernel(4.0) * RBF([0.9, 1.7]), "se(ard)", theta, 3)

    def test_matern(self):
        theta = [np.log(30.0), np.log(0.6)]
        self.compare(ConstantKernel(30.0) * Matern(0.6, nu=2.5), "matern52", theta, 4)


class SlowInference(unittest.TestCase):
    """Both links and both methods, with a mean."""

    def setUp(self):
        self.theta, self.m = np.array([np.log(6.0), np.log(0.8), np.log(1.4)]), -0.3
        self.x, self.label, self.query = draw(8, 40)
        self.got = values("se(ard)", self.theta, self.m, self.x, self.label, self.query)
        self.sign = 2.0 * self.label - 1
        self.k = rbf(self.theta, self.x, self.x)

    def test_expectation_propagation(self):
        cross = rbf(self.theta, self.x, self.query)
        for link in ("probit", "logit"):
            got = self.got[f"{link} ep"]
            value, mu, _, tau, _ = slow_ep(link, self.k, self.m, self.sign)
            self.assertAlmostEqual(got["evidence"], value, delta=1e-6)
            site = self.k + np.diag(1 / tau)
            np.testing.assert_allclose(got["mean"], self.m + cross.T @ np.linalg.solve(self.k, mu), atol=1e-5)
            var = np.exp(self.theta[0]) - np.sum(cross * np.linalg.solve(site, cross), axis=0)
            np.testing.assert_allclose(got["variance"], var, atol=1e-6)

    def test_laplace(self):
        cross = rbf(self.theta, self.x, self.query)
        for link in ("probit", "logit"):
            got = self.got[f"{link} laplace"]
            value, _, w = mode(link, self.k, self.m, self.sign)
            self.assertAlmostEqual(got["evidence"], value, delta=1e-6)
            var = np.exp(self.theta[0]) - np.sum(cross * np.linalg.solve(self.k + np.diag(1 / w), cross), axis=0)
            np.testing.assert_allclose(got["variance"], var, atol=1e-6)

    def test_inducing_inputs(self):
        kuf = self.k[:INDUCING]
        q = kuf.T @ np.linalg.solve(self.k[:INDUCING, :INDUCING] + 1e-10 * np.exp(self.theta[0]) * np.eye(INDUCING), kuf)
        rest = np.diag(self.k - q)
        for method, prior in (("fitc", q + np.diag(rest)), ("dtc", q), ("vfe", q)):
            for link in ("probit", "logit"):
                ep, laplace = self.got[f"{link} ep"][method], self.got[f"{link} laplace"][method]
                self.assertTrue(ep["converged"] and laplace["converged"])
                value, mu, _, tau, _ = slow_ep(link, prior, self.m, self.sign)
                value -= 0.5 * tau @ rest if method == "vfe" else 0.0
                self.assertAlmostEqual(ep["evidence"], value, delta=2e-6)
                np.testing.assert_allclose(ep["latent"], mu, atol=1e-5)
                value, g, w = mode(link, prior, self.m, self.sign)
                value -= 0.5 * w @ rest if method == "vfe" else 0.0
                self.assertAlmostEqual(laplace["evidence"], value, delta=2e-6)
                np.testing.assert_allclose(laplace["latent"], g, atol=1e-5)

    def test_probabilities(self):
        for name, got in self.got.items():
            link = special.expit if name.startswith("logit") else stats.norm.cdf
            for mean, var, p, error in zip(got["mean"], got["variance"], got["probability"], got["error"]):
                sd = np.sqrt(var)
                exact, doubt = integrate.quad(lambda t: link(mean + sd * t) * stats.norm.pdf(t), -12, 12, epsabs=1e-13, epsrel=1e-13, limit=500)
                self.assertLessEqual(abs(p - exact), error + doubt + 1e-13)
                self.assertLess(error, 1e-13)


if __name__ == "__main__":
    unittest.main()
