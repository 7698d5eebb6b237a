# SPDX-License-Identifier: Apache-2.0
"""The inducing solver against textbook implementations in numpy: the bound of Titsias (2009) and its predictions, FITC and DTC as in
Quinonero-Candela and Rasmussen (2005), leave-one-out by solving without each reading, and the bounds on weighted readings."""
import unittest

from oracle import Oracle, ask, np, numbers

LOG_2PI = np.log(2 * np.pi)
JITTER = 1e-10
METHODS = ("vfe", "fitc", "dtc")


def matern52(theta, a, b):
    """Parameters: log outputscale, log lengthscales."""
    r = np.sqrt(5 * np.sum(((a[:, None, :] - b[None, :, :]) / np.exp(theta[1:])) ** 2, axis=2))
    return np.exp(theta[0]) * (1 + r + r * r / 3) * np.exp(-r)


class Model:
    """Everything a function of the state: kernel parameters, mean, log noise, inducing inputs."""

    def __init__(self, method, state, x, y, centre, threshold, m):
        d = x.shape[1]
        self.method, self.x, self.y = method, x, y
        self.theta, self.mean, self.s = state[: d + 1], state[d + 1], np.exp(state[d + 2])
        self.z = state[d + 3 :].reshape(m, d)
        r = y - centre
        self.rho = 1 / (1 + r * r / threshold**2)
        shift = 2 * r / (threshold**2 + r * r)
        self.target, self.variance = y + self.s * shift, self.s / self.rho
        self.w2, self.slope = self.s / 2 * self.rho, -self.s / 2 * self.rho * shift
        self.kuu = matern52(self.theta, self.z, self.z) + JITTER * np.exp(self.theta[0]) * np.eye(m)
        self.factor = np.linalg.cholesky(self.kuu)
        self.v = np.linalg.solve(self.factor, matern52(self.theta, self.z, x))
        self.gap = np.exp(self.theta[0]) - np.sum(self.v**2, axis=0)
        self.noise = self.variance + (self.gap if method == "fitc" else 0.0)

    def weights(self, keep):
        """Sigma and b of the readings kept, whitened by the factor of Kuu."""
        v = self.v[:, keep] / self.noise[keep]
        return np.eye(len(self.z)) + v @ self.v[:, keep].T, v @ (self.target - self.mean)[keep]

    def marginals(self, v, gap, keep):
        b, right = self.weights(keep)
        return self.mean + v.T @ np.linalg.solve(b, right), gap + np.sum(v * np.linalg.solve(b, v), axis=0)

    def predict(self, query):
        v = np.linalg.solve(self.factor, matern52(self.theta, self.z, query))
        return self.marginals(v, np.exp(self.theta[0]) - np.sum(v**2, axis=0), np.ones(len(self.y), bool))

    def evidence(self):
        q = self.v.T @ self.v + np.diag(self.noise)
        r = self.target - self.mean
        value = -0.5 * (r @ np.linalg.solve(q, r) + np.linalg.slogdet(q)[1] + len(r) * LOG_2PI)
        return value - (0.5 * np.sum(self.gap / self.variance) if self.method == "vfe" else 0.0)

    def loo(self, weighted=False):
        total = 0.0
        for i in range(len(self.y)):
            keep = np.arange(len(self.y)) != i
            mean, variance = self.marginals(self.v[:, i : i + 1], self.gap[i], keep)
            v = variance[0] + self.s
            total -= (self.rho[i] if weighted else 1.0) * 0.5 * (LOG_2PI + np.log(v) + (self.y[i] - mean[0]) ** 2 / v)
        return total

    def divergence(self):
        b, right = self.weights(np.ones(len(self.y), bool))
        w = np.linalg.solve(b, right)
        return 0.5 * (w @ w + np.trace(np.linalg.inv(b)) - len(w) + np.linalg.slogdet(b)[1])

    def weighted(self):
        mean, variance = self.marginals(self.v, self.gap, np.ones(len(self.y), bool))
        terms = LOG_2PI + np.log(self.s) + ((self.y - mean) ** 2 + variance) / self.s
        return -0.5 * np.sum(self.rho * terms) - self.divergence()

    def rcagp(self):
        mean, variance = self.marginals(self.v, self.gap, np.ones(len(self.y), bool))
        error = self.y - mean
        loss = -self.w2 / self.s**2 * (error**2 + variance) + 2 / self.s * (self.slope * error + self.w2)
        return np.sum(loss) - self.divergence()

    def objective(self, name):
        return self.loo(name == "wloo") if name in ("loo", "wloo") else getattr(self, name)()


def differences(function, state):
    """Central differences of fourth order."""
    gradient, h = np.empty(len(state)), 1e-3
    for k in range(len(state)):
        step = np.zeros(len(state))
        step[k] = h
        gradient[k] = (8 * (function(state + step) - function(state - step))
                       - (function(state + 2 * step) - function(state - 2 * step))) / (12 * h)
    return gradient


class Inducing(Oracle):
    def setUp(self):
        random = np.random.RandomState(4)
        n, d, m = 45, 2, 6
        self.x = random.uniform(-2, 2, (n, d))
        self.y = np.sin(1.5 * self.x[:, 0]) + 0.3 * self.x[:, 1] + 0.2 * random.standard_normal(n)
        self.y[::8] += 4.0
        self.centre = 0.2 * self.x[:, 0]
        self.query = random.uniform(-3, 3, (11, d))
        self.state = np.concatenate([[0.3, -0.2, 0.4], [0.25], [np.log(0.06)], random.uniform(-1.8, 1.8, m * d)])
        self.m = m

    def ours(self, method, threshold):
        d = self.x.shape[1]
        numbers_of_model = [METHODS.index(method), d + 1, *self.state[: d + 1], self.state[d + 1],
                            np.exp(self.state[d + 2]), threshold, len(self.y), d, self.m, len(self.query)]
        text = "matern52(ard)\n" + numbers(numbers_of_model)
        text += numbers(np.column_stack([self.x, self.y, self.centre]))
        text += numbers(self.state[d + 3 :].reshape(self.m, d)) + numbers(self.query)
        return ask("inducing_values", text)[0]

    def model(self, method, threshold, state):
        return Model(method, state, self.x, self.y, self.centre, threshold, self.m)

    def test_everything(self):
        for method in METHODS:
            for threshold in (np.inf, 0.9):
                with self.subTest(method=method, threshold=threshold):
                    self.compare(method, threshold)

    def compare(self, method, threshold):
        ours, theirs = self.ours(method, threshold), self.model(method, threshold, self.state)
        self.close(ours["targets"], theirs.target, "targets")
        self.close(ours["variances"], theirs.variance, "site variances")
        mean, variance = theirs.predict(self.query)
        self.close(ours["mean"], mean, "mean")
        self.close(ours["latent"], variance, "variance")
        for name in ("evidence", "loo", "wloo", "weighted", "rcagp"):
            got = ours["objectives"][name]
            self.close(got["value"], theirs.objective(name), name, 1e-9)
            # The weights of robust sites are held while the noise moves, as in Model.
            gradient = differences(lambda s: self.model(method, threshold, s).objective(name), self.state)
            self.close(got["gradient"], gradient, f"gradient of {name}", 1e-7)


if __name__ == "__main__":
    unittest.main()
