# SPDX-License-Identifier: Apache-2.0
"""Thresholds, centres, consistent noise, metrics and damage against numpy and scipy."""
import sys
import unittest

from oracle import SKIPPED, Oracle, ask, np, numbers

try:
    from scipy import integrate, optimize, spatial, stats
except ImportError:
    print("scipy is missing (Debian: python3-scipy)")
    sys.exit(SKIPPED)


class Thresholds(Oracle):
    def test_quantile_and_mad(self):
        rng = np.random.RandomState(2)
        for n in (1, 2, 3, 10, 101):
            y, g = rng.standard_t(3, n), rng.normal(0, 0.3, n)
            r = y - g
            for eps in (0.05, 0.1, 0.33):
                ours = ask("small_values", f"threshold quantile {eps!r} {n}\n" + numbers(np.column_stack([y, g])))[0]["value"]
                self.close(ours, np.quantile(np.abs(r), 1 - eps), f"quantile of {n}", 1e-13)
            if n > 2:
                ours = ask("small_values", f"threshold mad 0.1 {n}\n" + numbers(np.column_stack([y, g])))[0]["value"]
                self.close(ours, 3 / stats.norm.ppf(0.75) * np.median(np.abs(r - np.median(r))), f"MAD of {n}", 1e-12)

    def test_neighbours(self):
        rng = np.random.RandomState(4)
        for n, d in ((2, 1), (7, 2), (60, 3)):
            x, y = rng.normal(size=(n, d)), rng.normal(size=n)
            ours = ask("small_values", f"neighbours {n} {d}\n" + numbers(np.column_stack([x, y])))[0]["centre"]
            far = spatial.distance.cdist(x, x) + np.diag(np.full(n, np.inf))
            nearest = np.argsort(far, axis=1)[:, :min(11, n - 1)]
            self.close(ours, np.median(y[nearest], axis=1), f"centres of {n}", 1e-13)


class ConsistentNoise(Oracle):
    def test_against_quadrature(self):
        """v E[u^2 / (1 + u^2 v / c^2)] = noise for a standard normal u, solved with scipy's quad and brentq."""
        def shrunk(v, c):
            def f(u):
                return u * u / (1 + u * u * v / (c * c)) * np.exp(-0.5 * u * u)
            return v * 2 * integrate.quad(f, 0, 40, epsabs=1e-14, epsrel=1e-13, limit=400)[0] / np.sqrt(2 * np.pi)

        for noise in (1e-6, 0.04, 3.0):
            for ratio in (1.3, 2.0, 4.5, 30.0):
                c = ratio * np.sqrt(noise)
                ours = ask("small_values", f"noise {noise!r} {c!r}")[0]["value"]
                top = noise
                while shrunk(top, c) < noise:
                    top *= 2
                self.assertLess(top, 1e6 * noise, "the test's own bracket")
                theirs = optimize.brentq(lambda v: shrunk(v, c) - noise, 0.5 * noise, top, xtol=1e-16 * noise, rtol=1e-13)
                with self.subTest(noise=noise, ratio=ratio):
                    self.close(ours, theirs, "consistent noise", 1e-8)
                    self.assertGreaterEqual(ours, noise)


class Metrics(Oracle):
    def test_against_scipy(self):
        rng = np.random.RandomState(8)
        n = 500
        mean, sd = rng.normal(5, 3, n), rng.uniform(0.01, 4, n)
        y = mean + sd * rng.standard_t(4, n)
        y[17] = np.nan
        ours = ask("small_values", f"metrics {n}\n" + numbers(np.column_stack([y, mean, sd])))[0]
        ok = np.isfinite(y)
        e, z = (y - mean)[ok], ((y - mean) / sd)[ok]
        self.assertEqual(ours["n"], n - 1)
        self.close(ours["mae"], np.mean(np.abs(e)), "mae", 1e-12)
        self.close(ours["rmse"], np.sqrt(np.mean(e * e)), "rmse", 1e-12)
        self.close(ours["nlpd"], -np.mean(stats.norm.logpdf(y[ok], mean[ok], sd[ok])), "nlpd", 1e-12)
        for level in (50, 90, 95):
            inside = np.mean(np.abs(z) <= stats.norm.ppf(0.5 + level / 200))
            self.close(ours[f"coverage{level}"], inside, f"coverage {level}", 1e-12)
        crps = sd[ok] * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
        self.close(ours["crps"], np.mean(crps), "crps", 1e-12)

    def test_crps_is_the_integral(self):
        """The closed form itself: the integral of (F(t) - 1{t >= y})^2."""
        y, mean, sd = 1.7, 0.4, 0.8
        ours = ask("small_values", f"metrics 1\n{y} {mean} {sd}\n")[0]["crps"]
        below = integrate.quad(lambda t: stats.norm.cdf(t, mean, sd) ** 2, -20, y)[0]
        above = integrate.quad(lambda t: stats.norm.sf(t, mean, sd) ** 2, y, 20)[0]
        self.close(ours, below + above, "crps", 1e-8)


class ClassMetrics(Oracle):
    def test_against_scikit_learn(self):
        try:
            from sklearn import metrics
        except ImportError:
            self.skipTest("scikit-learn is missing (Debian: python3-sklearn)")
        rng = np.random.RandomState(9)
        for classes, bins in ((2, 10), (3, 15), (7, 4)):
            n = 400
            p = rng.dirichlet(np.full(classes, 0.5), n)
            p = (p + 1e-4) / np.sum(p + 1e-4, axis=1, keepdims=True)
            label = np.array([rng.choice(classes, p=0.7 * row + 0.3 / classes) for row in p])
            ours = ask("small_values", f"classes {n} {classes} {bins}\n" + numbers(np.column_stack([label, p])))[0]
            self.assertEqual(ours["n"], n)
            winner, largest = np.argmax(p, axis=1), np.max(p, axis=1)
            self.close(ours["accuracy"], metrics.accuracy_score(label, winner), "accuracy", 1e-12)
            self.close(ours["nlpd"], metrics.log_loss(label, p, labels=range(classes)), "nlpd", 1e-12)
            self.close(ours["brier"], np.mean(np.sum((p - np.eye(classes)[label]) ** 2, axis=1)), "Brier", 1e-12)
            if classes == 2:
                self.close(ours["brier"], 2 * metrics.brier_score_loss(label, p[:, 1]), "Brier of two", 1e-12)
            part = np.clip(np.digitize(largest, np.linspace(0, 1, bins + 1), right=True) - 1, 0, bins - 1)
            error = sum(
                np.mean(part == b) * abs(np.mean((winner == label)[part == b]) - np.mean(largest[part == b])) for b in np.unique(part)
            )
            self.close(ours["calibration_error"], error, "calibration error", 1e-12)


class Damage(Oracle):
    def setUp(self):
        rng = np.random.RandomState(6)
        self.n, self.d = 203, 4
        self.x, self.y = rng.normal(2, 5, (self.n, self.d)), rng.gamma(2.0, 3.0, self.n)

    def damaged(self, kind, share=0.1, seed=5):
        text = f"damage {kind} {share} {seed} {self.n} {self.d}\n" + numbers(np.column_stack([self.x, self.y]))
        ours = ask("small_values", text)[0]
        return np.reshape(ours["x"], self.x.shape), np.array(ours["y"]), np.array(ours["mask"])

    def test_untouched_rows_are_untouched(self):
        for kind in ("uniform", "asymmetric", "focused"):
            x, y, hit = self.damaged(kind)
            with self.subTest(kind=kind):
                self.assertEqual(hit.sum(), round(0.1 * self.n))
                np.testing.assert_array_equal(y[~hit], self.y[~hit])
                np.testing.assert_array_equal(x[~hit], self.x[~hit])
                if kind != "focused":
                    np.testing.assert_array_equal(x, self.x)

    def test_shifts(self):
        s = np.std(self.y, ddof=1)
        x, y, hit = self.damaged("asymmetric", 0.4)
        shift = (self.y - y)[hit] / s
        self.assertTrue(np.all((shift >= 3) & (shift <= 9)))
        self.assertGreater(stats.kstest(shift, stats.uniform(3, 6).cdf).pvalue, 1e-3)
        x, y, hit = self.damaged("uniform", 0.4)
        shift = (y - self.y)[hit] / s
        self.assertTrue(np.all((np.abs(shift) >= 3) & (np.abs(shift) <= 9)))
        self.assertEqual(np.sum(shift > 0) - np.sum(shift < 0), hit.sum() % 2)

    def test_focus(self):
        def mad(v):
            return np.median(np.abs(v - np.median(v)))

        x, y, hit = self.damaged("focused", 0.2)
        for j in range(self.d):
            u = (x[hit, j] - np.median(self.x[:, j])) / (0.1 * mad(self.x[:, j]))
            self.assertTrue(np.all((u >= 0) & (u <= 1)), "inputs beside the medians")
            self.assertGreater(len(set(u)), hit.sum() // 2, "drawn for each row")
        u = (y[hit] - np.median(self.y) + 3 * np.std(self.y, ddof=1)) / (0.1 * mad(self.y))
        self.assertTrue(np.all((u >= -1e-9) & (u <= 1 + 1e-9)))

    def test_rows_are_chosen_evenly(self):
        """Every row is damaged about equally often over 400 seeds: chi-square."""
        text = "".join(f"damage asymmetric 0.2 {seed} 40 1\n" + numbers(np.column_stack([self.x[:40, :1], self.y[:40]]))
                       for seed in range(400))
        counts = np.sum([a["mask"] for a in ask("small_values", text)], axis=0)
        self.assertEqual(counts.sum(), 400 * 8)
        self.assertGreater(stats.chisquare(counts).pvalue, 1e-4)


if __name__ == "__main__":
    unittest.main()
