# SPDX-License-Identifier: Apache-2.0
"""Laplace's approximation of several classes: the mode by Newton's method on all C n latent values at once with the whole covariance, its evidence, differences of
the evidence as its gradient, the latent covariance by inverting what it says to invert, and probabilities by quadrature of another kind."""
import unittest

from oracle import ask, np, numbers
from scipy import special, stats


def matern52(theta, a, b):
    """Parameters: log variance, log lengthscales."""
    r = np.sqrt(5 * np.sum(((a[:, None, :] - b[None, :, :]) / np.exp(theta[1:])) ** 2, axis=2))
    return np.exp(theta[0]) * (1 + r + r * r / 3) * np.exp(-r)


class Problem:
    """Labels and hyperparameters: per class a log variance and log lengthscales, or one set for all, and the prior means."""

    def __init__(self, seed, classes, n, d, shared, query=4, scale=1.0, label=None):
        rng = np.random.default_rng(seed)
        self.classes, self.n, self.d, self.shared = classes, n, d, shared
        self.x, self.query = rng.normal(0, 1, (n, d)), rng.normal(0, 1.2, (query, d))
        centres = rng.normal(0, 1.2, (classes, d))
        far = np.sum((self.x[:, None] - centres[None]) ** 2, axis=2)
        self.label = np.argmin(far + rng.gumbel(0, 0.6, far.shape), axis=1) if label is None else np.asarray(label)
        sets = 1 if shared else classes
        self.theta = np.column_stack([rng.normal(np.log(scale), 0.3, sets), rng.normal(0.1, 0.3, (sets, d))])
        self.means = rng.normal(0, 0.4, classes)

    def kernel(self):
        names = f"x{self.d + 1}, outputs={self.classes}"
        if self.shared:
            return f"coregion({names}, rank=1, factor=0, own=1)*constant*(matern52(ard))"
        entries = [(a, b) for a in range(self.classes) for b in range(a + 1)]
        terms = []
        for c in range(self.classes):
            held = "".join(f", factor[{a},{b}]" + ("~1" if a == b == c else "=0") for a, b in entries)
            terms.append(f"coregion({names}{held})*(matern52(ard))")
        return " + ".join(terms)

    def parameters(self):
        """The kernel's parameters on its training scale, and the places of ours among them."""
        if self.shared:
            factor = [0.0] * self.classes + [0.0] * self.classes
            return np.concatenate([factor, self.theta[0]]), [[len(factor) + k] for k in range(1 + self.d)]
        out, entries = [], [(a, b) for a in range(self.classes) for b in range(a + 1)]
        places = []
        for c in range(self.classes):
            row = [np.exp(0.5 * self.theta[c, 0]) if a == b == c else 0.0 for a, b in entries]
            places.append([len(out) + entries.index((c, c))] + [len(out) + len(row) + k for k in range(self.d)])
            out += row + list(self.theta[c, 1:])
        return np.array(out), places

    def text(self):
        theta, _ = self.parameters()
        head = [len(theta), *theta, self.classes, *self.means, self.n, self.d, len(self.query)]
        return self.kernel() + "\n" + numbers(np.array(head)) + numbers(np.column_stack([self.x, self.label])) + numbers(self.query)

    def block(self, a, b):
        """Covariance of all classes at a with those at b."""
        sets = [self.theta[0 if self.shared else c] for c in range(self.classes)]
        out = np.zeros((self.classes * len(a), self.classes * len(b)))
        for c, theta in enumerate(sets):
            out[c * len(a) : (c + 1) * len(a), c * len(b) : (c + 1) * len(b)] = matern52(theta, a, b)
        return out

    def mode(self):
        """Latent values less their mean, a = K^-1 g, W, the log of the approximate evidence."""
        n, classes = self.n, self.classes
        k = self.block(self.x, self.x)
        m, y = np.repeat(self.means, n), np.zeros(classes * n)
        y[self.label * n + np.arange(n)] = 1

        def slopes(g):
            f = (m + g).reshape(classes, n)
            log_p = f - special.logsumexp(f, axis=0)
            p = np.exp(log_p).ravel()
            stacked = np.vstack([np.diag(row) for row in np.exp(log_p)])
            return np.sum(log_p.ravel() * y), y - p, np.diag(p) - stacked @ stacked.T

        def density(a):
            return slopes(k @ a)[0] - 0.5 * a @ k @ a

        a = np.zeros(classes * n)
        for _ in range(200):
            _, slope, w = slopes(k @ a)
            step = np.linalg.solve(np.eye(classes * n) + w @ k, slope - a)
            share = 1.0
            while density(a + share * step) < density(a) - 1e-13 and share > 1e-9:
                share /= 2
            a = a + share * step
            if np.max(np.abs(k @ step)) < 1e-13:
                break
        value, _, w = slopes(k @ a)
        return k @ a, a, w, value - 0.5 * a @ k @ a - 0.5 * np.linalg.slogdet(np.eye(classes * n) + w @ k)[1]

    def predict(self):
        """Mean (m x C) and covariance (m x C x C) at the queries."""
        _, a, w, _ = self.mode()
        k = self.block(self.x, self.x)
        cross = self.block(self.query, self.x)
        # K - K S K with S = W (I + K W)^-1, which needs no inverse of W, that has none
        covariance = self.block(self.query, self.query) - cross @ w @ np.linalg.solve(np.eye(len(k)) + k @ w, cross.T)
        m, c = len(self.query), self.classes
        places = [[b * m + i for b in range(c)] for i in range(m)]
        return (np.repeat(self.means, m) + cross @ a).reshape(c, m).T, np.array([covariance[np.ix_(q, q)] for q in places])


PROBLEMS = {
    "three shared": dict(seed=1, classes=3, n=23, d=2, shared=True),
    "three own": dict(seed=2, classes=3, n=19, d=2, shared=False),
    "four": dict(seed=3, classes=4, n=21, d=3, shared=True, scale=4.0),
    "five": dict(seed=8, classes=5, n=20, d=2, shared=True),
    "two": dict(seed=4, classes=2, n=15, d=1, shared=False),
    "sharp": dict(seed=5, classes=3, n=20, d=2, shared=True, scale=200.0),
    "one reading of a class": dict(seed=6, classes=3, n=12, d=2, shared=True, label=[0] * 6 + [1] * 5 + [2]),
    "a class without readings": dict(seed=7, classes=3, n=10, d=2, shared=True, label=[0] * 6 + [1] * 4),
}


class Softmax(unittest.TestCase):
    def test_mode_evidence_and_latent_distribution(self):
        for name, settings in PROBLEMS.items():
            with self.subTest(name):
                p = Problem(**settings)
                ours = ask("softmax_values", p.text())[0]
                g, _, _, value = p.mode()
                mean, covariance = p.predict()
                self.assertTrue(ours["converged"])
                np.testing.assert_allclose(ours["latent"], g, atol=1e-9 * np.max(np.abs(g)))
                np.testing.assert_allclose(ours["value"], value, rtol=1e-10)
                np.testing.assert_allclose(ours["mean"], mean.ravel(), atol=1e-9 * np.max(np.abs(g)))
                np.testing.assert_allclose(ours["covariance"], covariance.ravel(), atol=1e-9 * np.max(covariance))
                np.testing.assert_allclose(ours["variance"], np.einsum("iaa->ia", covariance).ravel(), atol=1e-9 * np.max(covariance))

    def test_gradient(self):
        for name, settings in PROBLEMS.items():
            with self.subTest(name):
                p = Problem(**settings)
                ours = ask("softmax_values", p.text())[0]["gradient"]
                _, places = p.parameters()
                h = 1e-5
                for index in np.ndindex(*p.theta.shape):
                    there = [Problem(**settings) for _ in range(2)]
                    for q, sign in zip(there, (1, -1)):
                        q.theta[index] += sign * h
                    slope = (there[0].mode()[3] - there[1].mode()[3]) / (2 * h)
                    place = places[index[1]][0] if p.shared else places[index[0]][index[1]]
                    found = ours[place]
                    if not p.shared and index[1] == 0:  # by the root of the variance
                        found *= 0.5 * np.exp(0.5 * p.theta[index])
                    self.assertLess(abs(found - slope), 2e-7 * (1 + abs(slope)) + 1e-7, (index, found, slope))
                for c in range(p.classes):
                    there = [Problem(**settings) for _ in range(2)]
                    for q, sign in zip(there, (1, -1)):
                        q.means[c] += sign * h
                    slope = (there[0].mode()[3] - there[1].mode()[3]) / (2 * h)
                    self.assertLess(abs(ours[len(ours) - p.classes + c] - slope), 1e-6 * (1 + abs(slope)))

    def test_probabilities(self):
        """Probabilities are those of the latent distribution as it is told, by other rules."""
        for name, settings in PROBLEMS.items():
            with self.subTest(name):
                p = Problem(**settings)
                ours = ask("softmax_values", p.text())[0]
                m, c = len(p.query), p.classes
                found, mean = np.reshape(ours["probability"], (m, c)), np.reshape(ours["mean"], (m, c))
                covariance = np.reshape(ours["covariance"], (m, c, c))
                np.testing.assert_allclose(np.sum(found, axis=1), 1, atol=1e-14)
                for i in range(m):
                    exact, accuracy = expectation(mean[i], covariance[i])
                    self.assertLess(np.max(np.abs(found[i] - exact)), ours["error"][i] + accuracy)
                    self.assertLess(ours["error"][i], {2: 1e-12, 3: 1e-9, 4: 1e-6}.get(c, 2e-3))


def expectation(mean, covariance):
    """By a fine grid for one and two differences to the last class, by Gauss-Hermite products for more; and how accurate."""
    c = len(mean)
    difference = np.hstack([np.eye(c - 1), -np.ones((c - 1, 1))])
    values, vectors = np.linalg.eigh(difference @ covariance @ difference.T)
    root = vectors * np.sqrt(np.maximum(values, 0))
    if c <= 3:
        points = np.linspace(-9, 9, 501)
        weights, accuracy = stats.norm.pdf(points) * (points[1] - points[0]), 1e-12
    else:
        points, weights = np.polynomial.hermite_e.hermegauss(60 if c == 4 else 24)
        weights, accuracy = weights / np.sqrt(2 * np.pi), 1e-6 if c == 4 else 1e-4
    z = np.stack([axis.ravel() for axis in np.meshgrid(*[points] * (c - 1))], axis=1)
    w = np.prod(np.stack([axis.ravel() for axis in np.meshgrid(*[weights] * (c - 1))]), axis=0)
    f = np.column_stack([difference @ mean + z @ root.T, np.zeros(len(z))])
    return w @ special.softmax(f, axis=1), accuracy


if __name__ == "__main__":
    unittest.main()
