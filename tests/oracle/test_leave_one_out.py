# SPDX-License-Identifier: Apache-2.0
"""Leave-one-out by leaving one out, the objectives made of it, and the influence of each reading, by brute force."""
import unittest

from oracle import Oracle, Problem, leave_one_out, np
from sk_kernels import C, data, lengthscales

from sklearn.gaussian_process.kernels import Matern

NOISE = 0.06
NAMES = ["outputscale"] + lengthscales("", 3)
KERNEL = C(1.1) * Matern([0.7, 1.6, 0.9], nu=2.5)


def log_normal(y, mean, var):
    return -0.5 * np.log(2 * np.pi * var) - 0.5 * (y - mean) ** 2 / var


class LeaveOneOut(Oracle):
    def problem(self, robust=False, extra=False, mean=("linear", [0.3, -0.2, 0.5, 0.1])):
        x, y, query = data(7, n=25)
        y = y.copy()
        y[[3, 11]] += [4.0, -6.0]
        rng = np.random.RandomState(3)
        centre = rng.normal(0.5, 0.4, len(y)) if robust else None
        return Problem("matern52(ard)", x, y, query, NOISE, dict(zip(NAMES, np.exp(KERNEL.theta))), mean=mean, centre=centre,
                       threshold=0.8 if robust else None, extra=rng.uniform(0, 0.2, len(y)) if extra else None)

    def brute(self, p, theta=None, noise=None, coefficients=None, weights=None):
        """Evidence, leave-one-out and weighted leave-one-out objectives from the definitions."""
        kernel = KERNEL if theta is None else KERNEL.clone_with_theta(theta)
        q = Problem(p.kernel, p.x, p.y, p.query, p.noise, mean=(p.mean[0], coefficients or p.mean[1]))
        z, d, rho = p.sites(noise)
        m, gram = q.prior_mean(p.x), kernel(p.x)
        c = gram + np.diag(d)
        evidence = -0.5 * (z - m) @ np.linalg.solve(c, z - m) - 0.5 * np.linalg.slogdet(c)[1] - 0.5 * len(z) * np.log(2 * np.pi)
        mu, v = leave_one_out(gram, z, d, m)
        terms = log_normal(p.y, mu, v + (p.noise if noise is None else noise) + p.extra)
        return {"evidence": evidence, "loo": np.sum(terms), "wloo": np.sum((rho if weights is None else weights) * terms)}

    def check(self, p):
        ours = p.solve()
        z, d, rho = p.sites()
        self.close(ours["targets"], z, "site targets", 1e-12)
        self.close(ours["variances"], d, "site variances", 1e-12)
        self.close(ours["weights"], rho, "site weights", 1e-12)
        mu, v = leave_one_out(KERNEL(p.x), z, d, p.prior_mean(p.x))
        self.close(ours["loo_mean"], mu, "leave-one-out mean")
        self.close(ours["loo_var"], v, "leave-one-out variance")
        for name, value in self.brute(p).items():
            self.close(ours["objectives"][name]["value"], value, name)
            self.close(ours["objectives"][name]["alone"], value, name + " without gradient")
            self.gradient(p, ours, name)

    def gradient(self, p, ours, name):
        """Fourth-order central differences of the brute-force objective; the weights stay where they are."""
        order = [q["name"] for q in ours["parameters"]]
        theta, coefficients, h = KERNEL.theta, list(p.mean[1]), 2e-3

        def slope(f):
            return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

        def moved(i):
            return lambda t: self.brute(p, theta=theta + t * np.eye(len(theta))[i])[name]

        def tilted(k):
            return lambda t: self.brute(p, coefficients=[c + (t if j == k else 0) for j, c in enumerate(coefficients)])[name]

        wanted = [slope(moved(NAMES.index(n))) for n in order] + [slope(tilted(k)) for k in range(len(coefficients))]
        wanted.append(slope(lambda t: self.brute(p, noise=p.noise * np.exp(t))[name]))
        self.close(ours["objectives"][name]["gradient"], wanted, f"gradient of {name}", 1e-8)

    def test_gaussian_sites(self):
        self.check(self.problem())

    def test_gaussian_sites_with_known_noise(self):
        self.check(self.problem(extra=True))

    def test_robust_sites(self):
        self.check(self.problem(robust=True))

    def test_robust_sites_with_known_noise(self):
        self.check(self.problem(robust=True, extra=True))

    def test_prediction_from_robust_sites(self):
        p = self.problem(robust=True)
        ours = p.solve()
        z, d, _ = p.sites()
        cross, c = KERNEL(p.query, p.x), KERNEL(p.x) + np.diag(d)
        mean = p.prior_mean(p.query) + cross @ np.linalg.solve(c, z - p.prior_mean(p.x))
        cov = KERNEL(p.query) - cross @ np.linalg.solve(c, cross.T)
        self.close(ours["mean"], mean, "mean")
        self.close(np.reshape(ours["covariance"], cov.shape), cov, "covariance")
        self.close(ours["observed"], np.diag(cov) + p.noise, "observed variance")

    def test_influence_of_removal(self):
        """KL(posterior || posterior without reading i) over the values at the readings, both written out as normals."""
        for robust in (False, True):
            p = self.problem(robust=robust)
            ours = p.solve()
            z, d, _ = p.sites()
            gram, m = KERNEL(p.x), p.prior_mean(p.x)
            n = len(z)

            def posterior(kept):
                c = gram[np.ix_(kept, kept)] + np.diag(d[kept])
                k = gram[:, kept]
                return m + k @ np.linalg.solve(c, z[kept] - m[kept]), gram - k @ np.linalg.solve(c, k.T)

            mean, cov = posterior(np.arange(n))
            wanted = []
            for i in range(n):
                mean_i, cov_i = posterior(np.delete(np.arange(n), i))
                ratio = np.linalg.solve(cov_i, cov)
                step = mean_i - mean
                wanted.append(0.5 * (np.trace(ratio) - n + step @ np.linalg.solve(cov_i, step) - np.linalg.slogdet(ratio)[1]))
            with self.subTest(robust=robust):
                self.close(ours["influence"], wanted, "influence", 1e-7)


if __name__ == "__main__":
    unittest.main()
