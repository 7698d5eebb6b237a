# SPDX-License-Identifier: Apache-2.0
"""Robust covariances against scikit-learn's MinCovDet, chi-squared against scipy."""
import sys
import unittest

from oracle import SKIPPED, Oracle, ask, np, numbers

try:
    from scipy import stats
    from sklearn.covariance import MinCovDet, empirical_covariance
except ImportError:
    print("scipy or scikit-learn is missing (Debian: python3-scipy, python3-sklearn)")
    sys.exit(SKIPPED)

PROGRAM = "robust_covariance_values"


def ours(x, fraction, seed=0, reweight=1, starts=500):
    n, p = x.shape
    a = ask(PROGRAM, f"mcd {n} {p} {float(fraction)!r} {seed} {starts} {reweight}\n" + numbers(x))[0]
    for name in ("covariance", "raw_covariance"):
        a[name] = np.reshape(a[name], (p, p))
    for name in ("location", "raw_location", "distance", "support", "kept"):
        a[name] = np.array(a[name])
    return a


def table(seed, n, p, share, away):
    """Correlated normal rows, the first `share` of them moved away along a random direction."""
    rng = np.random.RandomState(seed)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(0, 5, p)
    direction = rng.normal(size=p)
    bad = int(share * n)
    x[:bad] += away * np.sqrt(p) * x.std() * direction / np.linalg.norm(direction)
    return x


def reweighted(x, support, factor):
    """The estimate that follows from a support, with the factors of Croux and Haesbroeck (1999) by scipy."""
    p = x.shape[1]
    m, s = x[support].mean(0), factor * empirical_covariance(x[support])
    d2 = np.einsum("ij,ij->i", x - m, np.linalg.solve(s, (x - m).T).T)
    q = stats.chi2.ppf(0.975, p)
    kept = d2 <= q
    return kept, x[kept].mean(0), 0.975 / stats.chi2.cdf(q, p + 2) * empirical_covariance(x[kept])


class AgainstMinCovDet(Oracle):
    def compare(self, x, peer, seed, same):
        n, p = x.shape
        h = int(peer.raw_support_.sum())  # one more than the share says where its rounding goes astray
        a = ours(x, (h + 0.5) / n, seed)
        self.assertEqual(a["h"], h)
        theirs = np.linalg.slogdet(empirical_covariance(x[peer.raw_support_]))[1]
        self.assertAlmostEqual(a["log_determinant"],
                               np.linalg.slogdet(empirical_covariance(x[a["support"]]))[1], delta=1e-9)
        self.assertLessEqual(a["log_determinant"], theirs + 1e-3, "our determinant is hardly ever larger, and never by much")
        alpha = a["h"] / n
        factor = alpha / stats.chi2.cdf(stats.chi2.ppf(alpha, p), p + 2)
        self.close(a["raw_factor"], factor, "raw factor", 1e-11)
        if same:
            np.testing.assert_array_equal(a["support"], peer.raw_support_)
        support = peer.raw_support_ if same else a["support"]
        kept, location, covariance = reweighted(x, support, factor)
        np.testing.assert_array_equal(a["kept"], kept)
        size = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        self.close((a["location"] - location) / np.sqrt(np.diag(covariance)), np.zeros(p), "location", 1e-9, 1.0)
        self.close((a["covariance"] - covariance) / size, np.zeros((p, p)), "covariance", 1e-6, 1.0)
        d2 = np.einsum("ij,ij->i", x - location, np.linalg.solve(covariance, (x - location).T).T)
        self.close(a["distance"] / np.sqrt(d2), np.ones(n), "distances", 1e-6)
        return a["log_determinant"] - theirs

    def test_contaminated_tables(self):
        """Both searches end in local minima that differ in a few rows. On nineteen of twenty tables ours is not above that of
        scikit-learn, and nowhere by more than a thousandth."""
        gaps = []
        for seed in range(20):
            p = 1 + seed // 2
            n = [60, 150, 400, 800, 2000][seed % 5] if p < 8 else [150, 400][seed % 2]
            x = table(seed, n, p, [0.1, 0.2, 0.3, 0.4][seed % 4], [3.0, 10.0][seed % 2])
            with self.subTest(seed=seed, n=n, p=p):
                fraction = [0.55, 0.6, 0.75][seed % 3] if p < 8 else 0.6
                peer = MinCovDet(support_fraction=fraction, random_state=seed).fit(x)
                gaps.append(self.compare(x, peer, seed, False))
        self.assertGreaterEqual(np.sum(np.array(gaps) < 1e-10), 19)
        self.assertLess(np.mean(gaps), 0.0)

    def test_separated_tables(self):
        """As many good rows as the support holds, the others far away: there is nothing to choose."""
        agreed = 0
        for seed in range(20):
            p = 2 + seed % 9
            n = [100, 240][seed % 2]
            x = table(100 + seed, n, p, 0.25, 200.0)
            good = np.arange(n) >= n // 4
            np.testing.assert_array_equal(ours(x, 0.75)["support"], good)
            # Its 30 starts (ours: 501) miss the good rows now and then; its support is then a mixture.
            peer = MinCovDet(support_fraction=0.75, random_state=seed).fit(x)
            with self.subTest(seed=seed, n=n, p=p):
                same = bool(np.all(peer.raw_support_ == good))
                gap = self.compare(x, peer, seed, same)
                self.assertEqual(abs(gap) < 1e-10, same)
                agreed += same
        self.assertGreaterEqual(agreed, 8, "tables on which scikit-learn finds the good rows")

    def test_without_reweighting(self):
        x = table(5, 120, 3, 0.2, 8.0)
        a = ours(x, 0.0, reweight=0)
        self.assertEqual(a["h"], (120 + 3 + 1) // 2)
        self.close(a["covariance"], a["raw_factor"] * a["raw_covariance"], "the raw estimate times its factor", 1e-14)
        self.close(a["raw_covariance"], empirical_covariance(x[a["support"]]), "the support's covariance", 1e-10)

    def test_normal_rows_are_estimated_consistently(self):
        """Twenty thousand normal rows: both estimates are near the truth, which wrong factors would miss (the raw one, of half of the rows,
        is a rough estimate, but without its factor would be a third of the truth)."""
        rng = np.random.RandomState(1)
        for p in (1, 2, 6):
            x = rng.normal(size=(20000, p))
            for fraction in (0.0, 0.75):
                a = ours(x, fraction)
                with self.subTest(p=p, fraction=fraction):
                    self.close(a["covariance"], np.eye(p), "reweighted", 0.05)
                    self.close(a["raw_factor"] * a["raw_covariance"], np.eye(p), "raw", 0.2)


class ChiSquared(Oracle):
    def test_against_scipy(self):
        questions, want = "", []
        for k in list(range(1, 12)) + [40, 101, 500]:
            for share in (0.001, 0.3, 0.5, 0.75, 0.975, 0.9999):
                x = float(k * share * 2.5)
                questions += f"chi {k} {x!r} {share!r}\n"
                q = stats.chi2.ppf(share, k)
                want.append((stats.chi2.cdf(x, k), q, share / stats.chi2.cdf(q, k + 2)))
        for answer, (cdf, quantile, factor) in zip(ask(PROGRAM, questions), want):
            self.close(answer["cdf"], cdf, "distribution function", 1e-12, 1.0)
            self.close(answer["quantile"] / quantile, 1.0, "quantile", 1e-9)
            self.close(answer["consistency"] / factor, 1.0, "consistency", 1e-9)


if __name__ == "__main__":
    unittest.main()
