# SPDX-License-Identifier: Apache-2.0
"""Several correlated outputs beside explicit Kronecker products: coregion(output) * k is kron(B, K) for complete data."""
import unittest

from oracle import Oracle, Problem, np


def squared_exponential(x, lengthscales):
    u = x / lengthscales
    return np.exp(-0.5 * np.sum((u[:, None] - u[None]) ** 2, axis=2))


def matern32(x, lengthscale):
    r = np.sqrt(3 * np.sum((x[:, None] - x[None]) ** 2, axis=2)) / lengthscale
    return (1 + r) * np.exp(-r)


def table(x, outputs):
    """All inputs for the first output, then all for the second, and so on; the last column says which."""
    return np.vstack([np.column_stack([x, np.full(len(x), float(t))]) for t in range(outputs)])


def evidence(c, y):
    sign, logdet = np.linalg.slogdet(c)
    assert sign > 0
    return -0.5 * y @ np.linalg.solve(c, y) - 0.5 * logdet - 0.5 * len(y) * np.log(2 * np.pi)


class Coregion(Oracle):
    def setUp(self):
        random = np.random.default_rng(4)
        self.x, self.new = random.normal(size=(14, 2)), random.normal(size=(5, 2))
        self.noise = 0.07
        self.random = random

    def names(self, prefix, factor):
        return {f"{prefix}factor[{s},{q}]": factor[s, q] for s in range(factor.shape[0]) for q in range(min(s + 1, factor.shape[1]))}

    def check(self, problem, k, y, n):
        """k: covariances of readings and then of what is predicted."""
        ours, c = problem.solve(), k[:n, :n] + self.noise * np.eye(n)
        gain = np.linalg.solve(c, k[:n, n:]).T
        covariance = k[n:, n:] - gain @ k[:n, n:]
        self.close(ours["objectives"]["evidence"]["value"], evidence(c, y), "evidence")
        self.close(ours["mean"], gain @ y, "mean")
        self.close(ours["latent"], np.diag(covariance), "variance")
        self.close(ours["covariance"], covariance.ravel(), "covariance")
        return ours, c

    def test_intrinsic_model(self):
        outputs, lengthscales = 3, np.array([0.8, 1.7])
        w = np.array([[1.3, 0, 0], [-0.6, 0.9, 0], [0.0, 0.4, -0.2]])
        b, every = w @ w.T, squared_exponential(np.vstack([self.x, self.new]), lengthscales)
        n, count = outputs * len(self.x), len(self.x)
        y = self.random.normal(size=n)
        values = {"se.lengthscale[0]": lengthscales[0], "se.lengthscale[1]": lengthscales[1], **self.names("coregion.", w)}
        problem = Problem("coregion(x3, outputs=3)*se(ard)", table(self.x, outputs), y, table(self.new, outputs), self.noise, values)
        blocks = [np.kron(b, every[rows, columns]) for rows in (slice(count), slice(count, None)) for columns in (slice(count), slice(count, None))]
        ours, c = self.check(problem, np.block([blocks[:2], blocks[2:]]), y, n)
        weights = np.linalg.solve(c, y)
        residual = 0.5 * (np.outer(weights, weights) - np.linalg.inv(c))
        gradient = []
        for parameter in ours["parameters"]:
            if "factor" not in parameter["name"]:
                continue
            s, q = (int(v) for v in parameter["name"].split("[")[1].rstrip("]").split(","))
            step = np.zeros_like(w)
            step[s, q] = 1
            gradient.append(np.sum(residual * np.kron(step @ w.T + w @ step.T, every[:count, :count])))
        theirs = ours["objectives"]["evidence"]["gradient"]
        self.close(theirs[: len(gradient)], gradient, "gradient in the factor")

    def test_linear_model_with_missing_readings(self):
        outputs = 4
        w = [self.random.normal(size=(outputs, 1)), np.tril(self.random.normal(size=(outputs, 2)))]
        own = [self.random.uniform(0.1, 1, outputs) for _ in w]
        values = {"se.lengthscale": 0.9, "matern32.lengthscale": 1.4}
        for q, (factor, variances) in enumerate(zip(w, own)):
            values.update(self.names(f"coregion{q + 1}.", factor))
            values.update({f"coregion{q + 1}.own[{s}]": v for s, v in enumerate(variances)})
        full = np.vstack([table(self.x, outputs), table(self.new, outputs)])
        which = full[:, 2].astype(int)
        parts = squared_exponential(full[:, :2], 0.9), matern32(full[:, :2], 1.4)
        k = sum((f @ f.T + np.diag(o))[np.ix_(which, which)] * part for f, o, part in zip(w, own, parts))
        readings, rows = outputs * len(self.x), self.random.permutation(outputs * len(self.x))[:35]
        kept = np.concatenate([rows, np.arange(readings, len(full))])
        y = self.random.normal(size=len(rows))
        problem = Problem("coregion(x3, outputs=4, rank=1)*se + coregion(x3, outputs=4, rank=2)*matern32", full[rows], y, full[readings:], self.noise, values)
        self.check(problem, k[np.ix_(kept, kept)], y, len(rows))

    def test_outputs_apart(self):
        """With a diagonal B each output is a process of its own, and their evidences add up."""
        scales, y = [0.7, 2.0], self.random.normal(size=2 * len(self.x))
        values = {"coregion.factor[0,0]": np.sqrt(scales[0]), "coregion.factor[1,0]": 0.0, "coregion.factor[1,1]": -np.sqrt(scales[1]),
                  "matern52.lengthscale": 1.1}
        together = Problem("matern52*coregion(x3, outputs=2)", table(self.x, 2), y, table(self.new, 2), self.noise, values).solve()
        alone = [Problem("matern52", self.x, y[t * len(self.x):(t + 1) * len(self.x)], self.new, self.noise,
                         {"outputscale": scales[t], "lengthscale": 1.1}).solve() for t in range(2)]
        self.close(together["objectives"]["evidence"]["value"], sum(a["objectives"]["evidence"]["value"] for a in alone), "evidence")
        self.close(together["mean"], np.concatenate([a["mean"] for a in alone]), "mean")
        self.close(together["latent"], np.concatenate([a["latent"] for a in alone]), "variance")
        self.close(together["loo_mean"], np.concatenate([a["loo_mean"] for a in alone]), "leave-one-out")


if __name__ == "__main__":
    unittest.main()
