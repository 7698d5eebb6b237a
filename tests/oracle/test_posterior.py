# SPDX-License-Identifier: Apache-2.0
"""Posterior, evidence and its gradient against scikit-learn: every kernel both have, with sums, products and columns."""
import unittest
import warnings

from oracle import Oracle, Problem, np
from sk_kernels import CASES, C, data, lengthscales

from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel

NOISE = 0.037
MEAN = 0.4


def fitted(kernel, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianProcessRegressor(kernel + WhiteKernel(NOISE), alpha=0.0, optimizer=None).fit(x, y - MEAN)


class Posterior(Oracle):
    def compare(self, expression, kernel, names, seed):
        x, y, query = data(seed)
        values = dict(zip(names, np.exp(kernel.theta)))
        ours = Problem(expression, x, y, query, NOISE, values, mean=("constant", [MEAN])).solve()
        self.assertEqual(sorted(p["name"] for p in ours["parameters"]), sorted(names))
        self.assertEqual(ours["jitter"], 0.0)
        gp = fitted(kernel, x, y)
        mean, cov = gp.predict(query, return_cov=True)
        prior = np.max(kernel.diag(query))
        self.close(ours["mean"], mean + MEAN, "mean")
        # scikit-learn's white kernel adds the noise to the covariance of the points asked for.
        self.close(np.reshape(ours["covariance"], cov.shape), cov - NOISE * np.eye(len(cov)), "covariance", scale=prior)
        self.close(ours["latent"], np.diag(cov) - NOISE, "latent variance", scale=prior)
        self.close(ours["observed"], np.diag(cov), "observed variance", scale=prior)
        self.evidence(ours, gp, names, y)

    def evidence(self, ours, gp, names, y):
        value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
        got = ours["objectives"]["evidence"]
        self.close(got["value"], value, "evidence")
        self.close(got["alone"], value, "evidence without gradient")
        self.close(ours["log_evidence"], value, "evidence in the solver's report")
        order = [p["name"] for p in ours["parameters"]]
        ours_by_name = dict(zip(order, got["gradient"]))
        size = np.max(np.abs(gradient))
        self.close([ours_by_name[n] for n in names], gradient[:-1], "gradient", scale=size)
        self.close(got["gradient"][-1], gradient[-1], "gradient of the noise", scale=size)
        # d/dmean log N = 1' G (z - m), scikit-learn's alpha summed.
        self.close(got["gradient"][-2], np.sum(gp.alpha_), "gradient of the mean", scale=max(size, abs(np.sum(gp.alpha_))))

    def test_kernels(self):
        for seed, (expression, kernel, names) in enumerate(CASES):
            with self.subTest(kernel=expression):
                self.compare(expression, kernel, names, seed)

    def test_linear(self):
        """The linear kernel's variances are scales of the columns; scikit-learn's has one for all, sigma_0 = 0."""
        x, y, query = data(91)
        v = 0.35
        ours = Problem("linear(iso) + se(iso)", x, y, query, NOISE,
                       {"linear.variance": v, "se.outputscale": 0.6, "se.lengthscale": 1.3},
                       mean=("constant", [MEAN])).solve()
        gp = fitted(C(v) * DotProduct(1e-12, "fixed") + C(0.6) * RBF(1.3), x, y)
        mean, cov = gp.predict(query, return_cov=True)
        self.close(ours["mean"], mean + MEAN, "mean")
        self.close(np.reshape(ours["covariance"], cov.shape), cov - NOISE * np.eye(len(cov)), "covariance")
        value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
        self.close(ours["objectives"]["evidence"]["value"], value, "evidence")
        by_name = dict(zip([p["name"] for p in ours["parameters"]], ours["objectives"]["evidence"]["gradient"]))
        self.close([by_name[n] for n in ("linear.variance", "se.outputscale", "se.lengthscale")], gradient[:3], "gradient",
                   scale=np.max(np.abs(gradient)))

    def test_white_is_noise_that_is_not_predicted(self):
        x, y, query = data(92)
        white = Problem("matern52(iso) + white", x, y, query, 0.02,
                        {"matern52.outputscale": 0.8, "matern52.lengthscale": 0.9, "white.variance": 0.03}).solve()
        plain = Problem("matern52(iso)", x, y, query, 0.05, {"outputscale": 0.8, "lengthscale": 0.9}).solve()
        self.close(white["mean"], plain["mean"], "mean")
        self.close(white["objectives"]["evidence"]["value"], plain["objectives"]["evidence"]["value"], "evidence")

    def test_known_noise_of_each_reading(self):
        x, y, query = data(93)
        extra = np.random.RandomState(5).uniform(0.0, 0.4, len(y))
        names = ["outputscale"] + lengthscales("", 3)
        kernel = C(1.3) * Matern([0.8, 1.4, 0.5], nu=1.5)
        ours = Problem("matern32(ard)", x, y, query, NOISE, dict(zip(names, np.exp(kernel.theta))), extra=extra).solve()
        gp = GaussianProcessRegressor(kernel, alpha=NOISE + extra, optimizer=None).fit(x, y)
        mean, cov = gp.predict(query, return_cov=True)
        self.close(ours["mean"], mean, "mean")
        self.close(np.reshape(ours["covariance"], cov.shape), cov, "covariance")
        value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
        self.close(ours["objectives"]["evidence"]["value"], value, "evidence")
        by_name = dict(zip([p["name"] for p in ours["parameters"]], ours["objectives"]["evidence"]["gradient"]))
        self.close([by_name[n] for n in names], gradient, "gradient", scale=np.max(np.abs(gradient)))

    def test_gradients_in_the_inputs(self):
        """Central differences of scikit-learn's mean and variance."""
        for expression, kernel, names in CASES[1:4] + CASES[10:]:
            if "matern12" in expression:
                continue  # a kink, but only at a reading
            x, y, query = data(94)
            ours = Problem(expression, x, y, query, NOISE, dict(zip(names, np.exp(kernel.theta))),
                           mean=("constant", [MEAN])).solve()
            gp, h = fitted(kernel, x, y), 1e-5
            for j in range(x.shape[1]):
                step = np.zeros(x.shape[1])
                step[j] = h
                (up, up_sd), (down, down_sd) = (gp.predict(query + s, return_std=True) for s in (step, -step))
                with self.subTest(kernel=expression, column=j):
                    self.close(np.reshape(ours["gradient_mean"], query.shape)[:, j], (up - down) / (2 * h),
                               "gradient of the mean", 1e-6, scale=1.0)
                    self.close(np.reshape(ours["gradient_var"], query.shape)[:, j], (up_sd**2 - down_sd**2) / (2 * h),
                               "gradient of the variance", 1e-6, scale=1.0)


if __name__ == "__main__":
    unittest.main()
