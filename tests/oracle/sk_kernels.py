# SPDX-License-Identifier: Apache-2.0
"""Kernels written in our language and in scikit-learn's, with the names that our parameters have in scikit-learn's order."""
import sys

from oracle import SKIPPED, np

try:
    from sklearn.gaussian_process.kernels import (RBF, ConstantKernel, ExpSineSquared, Kernel, Matern,
                                                  RationalQuadratic)
except ImportError:
    print("scikit-learn is missing (Debian: python3-sklearn)")
    sys.exit(SKIPPED)


class Columns(Kernel):
    """A kernel of scikit-learn that sees some columns only."""

    def __init__(self, kernel, columns):
        self.kernel, self.columns = kernel, columns

    @property
    def hyperparameters(self):
        return self.kernel.hyperparameters

    @property
    def theta(self):
        return self.kernel.theta

    @theta.setter
    def theta(self, theta):
        self.kernel.theta = theta

    @property
    def bounds(self):
        return self.kernel.bounds

    def __call__(self, X, Y=None, eval_gradient=False):
        return self.kernel(X[:, self.columns], None if Y is None else Y[:, self.columns], eval_gradient)

    def diag(self, X):
        return self.kernel.diag(X[:, self.columns])

    def is_stationary(self):
        return self.kernel.is_stationary()


def C(value):
    return ConstantKernel(value)


def lengthscales(prefix, count):
    return [f"{prefix}lengthscale[{j}]" for j in range(count)]


# Our expression; scikit-learn's kernel; our names in the order of its theta (alphabetical within a kernel, from left to
# right). The one outputscale of a product goes by the name of its first kernel.
L3 = [0.7, 1.9, 0.4]
CASES = [
    ("matern12(ard)", C(1.7) * Matern(L3, nu=0.5), ["outputscale"] + lengthscales("", 3)),
    ("matern32(ard)", C(0.3) * Matern(L3, nu=1.5), ["outputscale"] + lengthscales("", 3)),
    ("matern52(ard)", C(2.5) * Matern(L3, nu=2.5), ["outputscale"] + lengthscales("", 3)),
    ("se(ard)", C(1.2) * RBF(L3), ["outputscale"] + lengthscales("", 3)),
    ("matern12(iso)", C(1.7) * Matern(0.8, nu=0.5), ["outputscale", "lengthscale"]),
    ("matern32(iso)", C(0.6) * Matern(1.1, nu=1.5), ["outputscale", "lengthscale"]),
    ("matern52(iso)", C(0.9) * Matern(0.9, nu=2.5), ["outputscale", "lengthscale"]),
    ("se(iso)", C(3.1) * RBF(0.8), ["outputscale", "lengthscale"]),
    ("rq(iso)", C(1.4) * RationalQuadratic(length_scale=0.9, alpha=0.6), ["outputscale", "alpha", "lengthscale"]),
    ("periodic(x2)", C(1.1) * Columns(ExpSineSquared(length_scale=1.3, periodicity=0.7), [1]),
     ["outputscale", "lengthscale", "period"]),
    ("matern52(ard) + se(iso)", C(1.5) * Matern(L3, nu=2.5) + C(0.4) * RBF(2.2),
     ["matern52.outputscale"] + lengthscales("matern52.", 3) + ["se.outputscale", "se.lengthscale"]),
    ("matern32(ard) + periodic(x1) + constant",
     C(0.8) * Matern(L3, nu=1.5) + C(0.5) * Columns(ExpSineSquared(length_scale=0.9, periodicity=1.7), [0]) + C(0.25),
     ["matern32.outputscale"] + lengthscales("matern32.", 3) +
     ["periodic.outputscale", "periodic.lengthscale", "periodic.period", "constant.variance"]),
    ("matern52(x1, x3, ard) * rq(x2)",
     C(1.3) * Columns(Matern([0.6, 1.4], nu=2.5), [0, 2]) * Columns(RationalQuadratic(length_scale=0.8, alpha=1.7), [1]),
     ["matern52.outputscale"] + lengthscales("matern52.", 2) + ["rq.alpha", "rq.lengthscale"]),
    ("se(x1) * periodic(x1) + matern12(x2, x3, ard)",
     C(0.9) * Columns(RBF(2.5), [0]) * Columns(ExpSineSquared(length_scale=1.1, periodicity=0.6), [0]) +
     C(0.7) * Columns(Matern([0.5, 1.2], nu=0.5), [1, 2]),
     ["se.outputscale", "se.lengthscale", "periodic.lengthscale", "periodic.period", "matern12.outputscale"] +
     lengthscales("matern12.", 2)),
]


def data(seed, n=40, d=3, m=12):
    rng = np.random.RandomState(seed)
    x, query = rng.uniform(-1.5, 1.5, (n, d)), rng.uniform(-2.0, 2.0, (m, d))
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=n) + 0.7
    return x, y, query
