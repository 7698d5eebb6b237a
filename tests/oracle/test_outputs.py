# SPDX-License-Identifier: Apache-2.0
"""Several outputs: against figures of the published MO-RCGP program, where they are at hand, and against numpy."""
import os
import sys
import unittest

from oracle import SKIPPED, Oracle, ask, np, numbers

try:
    from scipy import optimize, stats
except ImportError:
    print("scipy is missing (Debian: python3-scipy)")
    sys.exit(SKIPPED)

REFERENCE = os.environ.get("HF_MO_RCGP_REFERENCE", os.path.join(os.environ.get("HF_SOURCE", "."), "../shared/data/mo_rcgp_reference"))
B = np.array([[1, .9, .7], [.9, 1, .8], [.7, .8, 1]])
NOISE, EPS = np.array([.01, .02, .015]), np.array([.1, .2, .15])


def ours(weighting, rule, y, mean, covariance, noise, eps, ridge=0.0):
    n, outputs = y.shape
    text = f"{weighting} {rule} {ridge!r} {n} {outputs}\n"
    text += numbers(mean) + numbers(covariance) + numbers(noise) + numbers(eps) + numbers(y)
    answer = ask("outputs_values", text)[0]
    for name in ("centre", "weight", "shift"):
        answer[name] = np.reshape(np.array(answer[name], dtype=float), (n, outputs))
    answer["scale"] = np.array(answer["scale"])
    return answer


class PublishedProgram(Oracle):
    """Its files hold sqrt(weight) (w over beta) and its shifted mean is minus noise times our shift, prior mean 0."""

    def read(self, name):
        path = os.path.join(REFERENCE, name)
        if not os.path.exists(path):
            why = f"skipped: {path} is not there; set HF_MO_RCGP_REFERENCE to the folder with the figures of the published program"
            print(why)
            self.skipTest(why)
        return np.genfromtxt(path, delimiter=",", names=True)

    def columns(self, table, name):
        return np.column_stack([table[f"{name}{t}"] for t in (1, 2, 3)])

    def compare(self, name, noise):
        y = self.columns(self.read("train.csv"), "y")
        want = self.read(name)
        a = ours("reading", "lower", y, np.zeros(3), B, noise, EPS, 1e-3)
        for key, column in (("centre", "gamma"), ("weight", "w")):
            theirs = self.columns(want, column)
            present = np.isfinite(y)
            mine = np.sqrt(a[key]) if key == "weight" else a[key]
            self.close(mine[present], theirs[present], f"{name}: {column}", 1e-7)
            np.testing.assert_allclose(mine[present], theirs[present], rtol=1e-7, atol=1e-12)
        self.close(a["scale"], self.columns(want, "c")[0], f"{name}: thresholds", 1e-7)
        return y, want, a

    def test_fixed_weights(self):
        y, want, a = self.compare("fixed_weights.csv", NOISE)
        present = np.isfinite(y)
        np.testing.assert_allclose((-NOISE * a["shift"])[present], self.columns(want, "mw")[present], rtol=1e-7, atol=1e-13)

    def test_weights_before_the_first_fit(self):
        self.compare("loo_init_weights.csv", np.zeros(3))

    def test_a_ridge_left_out_would_be_noticed(self):
        y = self.columns(self.read("train.csv"), "y")
        want = self.columns(self.read("fixed_weights.csv"), "gamma")
        a = ours("reading", "lower", y, np.zeros(3), B, NOISE, EPS, 0.0)
        self.assertGreater(np.nanmax(np.abs(a["centre"] - want)), 1e-4)


class AgainstNumpy(Oracle):
    def setUp(self):
        rng = np.random.RandomState(3)
        w = rng.normal(size=(5, 5))
        self.b, self.noise, self.mean = w @ w.T, rng.uniform(0.05, 0.2, 5), rng.normal(size=5)
        self.c = self.b + np.diag(self.noise)
        self.eps = np.array([.1, .05, .2, .15, .1])
        self.y = rng.multivariate_normal(self.mean, self.c, 80)
        self.y[rng.uniform(size=self.y.shape) < 0.25] = np.nan

    def centres(self):
        g = np.tile(self.mean, (len(self.y), 1))
        for i, row in enumerate(self.y):
            for t in range(5):
                o = [s for s in range(5) if s != t and np.isfinite(row[s])]
                if o:
                    g[i, t] += self.c[t, o] @ np.linalg.solve(self.c[np.ix_(o, o)], row[o] - self.mean[o])
        return g

    def test_reading(self):
        g = self.centres()
        for rule in ("linear", "lower", "mad"):
            a = ours("reading", rule, self.y, self.mean, self.b, self.noise, self.eps)
            self.close(a["centre"], g, "centres", 1e-10)
            for t in range(5):
                r = (self.y - g)[np.isfinite(self.y[:, t]), t]
                if rule == "mad":
                    c = 3 * stats.median_abs_deviation(r, scale="normal")
                else:
                    c = np.quantile(np.abs(r), 1 - self.eps[t], method=rule)
                self.close(a["scale"][t], c, f"{rule} threshold", 1e-9)
                present = np.isfinite(self.y[:, t])
                self.close(a["weight"][present, t], 1 / (1 + (r / c) ** 2), "weights", 1e-9)
                self.close(a["shift"][present, t], 2 * r / (c * c + r * r), "shifts", 1e-9)

    def test_joint_site_minimises_the_loss(self):
        """z and d from the robust loss itself: its divergence by numerical derivatives, its minimum in f by a solver."""
        a = ours("joint", "linear", self.y, self.mean, self.b, self.noise, self.eps)
        c = a["scale"][0]
        for i in range(6):
            o = np.flatnonzero(np.isfinite(self.y[i]))
            inverse, s = np.linalg.inv(self.c[np.ix_(o, o)]), self.noise[o]

            def weights(y):
                r = y - self.mean[o]
                return s / 2 / (1 + r @ inverse @ r / len(o) / c**2)  # w_t^2

            def loss(f):
                y, h = self.y[i, o], 1e-5
                value = np.sum(weights(y) / s**2 * (f - y) ** 2)
                for t in range(len(o)):
                    e = h * np.eye(len(o))[t]
                    value += 2 * ((weights(y + e) * (f - y - e) / s)[t] - (weights(y - e) * (f - y + e) / s)[t]) / (2 * h)
                return value

            z = optimize.minimize(loss, self.y[i, o], tol=1e-12).x
            self.close(self.y[i, o] + s * a["shift"][i, o], z, "target", 1e-4)
            d = s / a["weight"][i, o]
            zero = loss(z)
            for t in range(len(o)):
                self.close(loss(z + np.eye(len(o))[t]) - zero, 0.5 / d[t], "half the precision", 1e-5)


if __name__ == "__main__":
    unittest.main()
