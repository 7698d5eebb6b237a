# SPDX-License-Identifier: Apache-2.0
"""The bound of the kernel decomposition, constructed a second time in numpy after the paper: estimators of each covariance, linear in phi, from the
leaves up; their weighted sum minimised coordinate by coordinate. And soundness by sampling."""
import unittest

import numpy as np
from oracle import ask

PSI = {
    "se": lambda phi, _: np.exp(-phi / 2),
    "rq": lambda phi, alpha: (1 + phi / (2 * alpha)) ** -alpha,
    "matern12": lambda phi, _: np.exp(-np.sqrt(phi)),
    "matern32": lambda phi, _: (1 + np.sqrt(3 * phi)) * np.exp(-np.sqrt(3 * phi)),
    "matern52": lambda phi, _: (1 + np.sqrt(5 * phi) + 5 * phi / 3) * np.exp(-np.sqrt(5 * phi)),
    "periodic": lambda phi, _: np.exp(-2 * phi),
}
SLOPE = {
    "se": lambda phi, _: -np.exp(-phi / 2) / 2,
    "rq": lambda phi, alpha: -((1 + phi / (2 * alpha)) ** (-alpha - 1)) / 2,
    "matern12": lambda phi, _: -np.exp(-np.sqrt(phi)) / (2 * np.sqrt(phi)),
    "matern32": lambda phi, _: -1.5 * np.exp(-np.sqrt(3 * phi)),
    "matern52": lambda phi, _: -5 / 6 * (1 + np.sqrt(5 * phi)) * np.exp(-np.sqrt(5 * phi)),
    "periodic": lambda phi, _: -2 * np.exp(-2 * phi),
}


class Affine:
    """c + sum_j a_j x_j^2 + b_j x_j + sum of sinusoids {(column, frequency): (cos, sin)}, in x itself."""

    def __init__(self, d, c=0.0):
        self.c, self.a, self.b, self.waves = c, np.zeros(d), np.zeros(d), {}

    def add(self, other, weight):
        self.c += weight * other.c
        self.a += weight * other.a
        self.b += weight * other.b
        for key, (cos, sin) in other.waves.items():
            old = self.waves.get(key, (0.0, 0.0))
            self.waves[key] = (old[0] + weight * cos, old[1] + weight * sin)

    def minimum(self, lower, upper):
        total = self.c
        for a, b, lo, hi in zip(self.a, self.b, lower, upper):
            ends = [lo, hi] + ([-b / (2 * a)] if a > 0 and lo < -b / (2 * a) < hi else [])
            total += min(a * x * x + b * x for x in ends)
        for (j, f), (cos, sin) in self.waves.items():
            turn = 2 * np.pi * f
            stationary = (np.arctan2(sin, cos) + np.pi * np.arange(-2000, 2000)) / turn
            at = np.concatenate([[lower[j], upper[j]], stationary[(stationary > lower[j]) & (stationary < upper[j])]])
            total += np.min(cos * np.cos(turn * at) + sin * np.sin(turn * at))
        return total


class Estimate:
    """below <= k(., z) <= above, affine; the range over the box; the value at its centre."""

    def __init__(self, below, above, low, high, centre):
        self.below, self.above, self.low, self.high, self.centre = below, above, low, high, centre


class Leaf:
    def __init__(self, rng, form, d):
        self.form, self.d = form, d
        self.columns = sorted(rng.choice(d, rng.integers(1, d + 1), replace=False))
        self.l = rng.uniform(0.5, 2.0, len(self.columns))
        self.alpha = rng.uniform(0.5, 3.0)
        self.period = rng.uniform(0.8, 3.0, len(self.columns))
        self.v = rng.uniform(0.3, 2.0, len(self.columns))

    def text(self, extra=""):
        names = [f"x{c + 1}" for c in self.columns] + ["ard"]
        if self.form == "linear":
            names += [f"variance[{k}]={v!r}" for k, v in enumerate(self.v.tolist())]
        else:
            names += [f"lengthscale[{k}]={v!r}" for k, v in enumerate(self.l.tolist())]
        if self.form == "rq":
            names.append(f"alpha={self.alpha!r}")
        if self.form == "periodic":
            names += [f"period[{k}]={v!r}" for k, v in enumerate(self.period.tolist())]
        return f"{self.form}({', '.join(names)}{extra})"

    def phi_parts(self, lower, upper, z):
        """Range of each coordinate's function, and its value at the centre."""
        for k, c in enumerate(self.columns):
            t0, t1, tm = lower[c] - z[c], upper[c] - z[c], (lower[c] + upper[c]) / 2 - z[c]
            if self.form != "periodic":
                low = 0.0 if t0 <= 0 <= t1 else min(t0 * t0, t1 * t1)
                yield low / self.l[k]**2, max(t0 * t0, t1 * t1) / self.l[k]**2, tm * tm / self.l[k]**2
                continue
            s = [np.sin(np.pi * t / self.period[k])**2 for t in (t0, t1)]
            low = 0.0 if np.floor(t1 / self.period[k]) != np.floor(t0 / self.period[k]) else min(s)
            odd = np.floor(t1 / self.period[k] - 0.5) != np.floor(t0 / self.period[k] - 0.5)
            yield low / self.l[k]**2, (1.0 if odd else max(s)) / self.l[k]**2, np.sin(np.pi * tm / self.period[k])**2 / self.l[k]**2

    def line(self, a, b, z):
        out = Affine(self.d, a)
        for k, c in enumerate(self.columns):
            w = b / self.l[k]**2
            if self.form != "periodic":
                out.a[c] += w
                out.b[c] -= 2 * w * z[c]
                out.c += w * z[c]**2
            else:
                turn = 2 * np.pi / self.period[k]
                out.c += w / 2
                out.waves[(c, 1 / self.period[k])] = (-w / 2 * np.cos(turn * z[c]), -w / 2 * np.sin(turn * z[c]))
        return out

    def estimate(self, lower, upper, z):
        centre = (lower + upper) / 2
        if self.form == "linear":
            line = Affine(self.d)
            slope = self.v * z[self.columns]
            line.b[self.columns] = slope
            at, half = slope @ centre[self.columns], np.abs(slope) @ (upper - lower)[self.columns] / 2
            return Estimate(line, line, at - half, at + half, at)
        parts = np.array(list(self.phi_parts(lower, upper, z)))
        p0, p1, pm = parts.sum(axis=0)
        psi, middle = (lambda phi: PSI[self.form](phi, self.alpha)), (p0 + p1) / 2
        tangent = SLOPE[self.form](middle, self.alpha)
        chord = (psi(p1) - psi(p0)) / (p1 - p0)
        return Estimate(self.line(psi(middle) - tangent * middle, tangent, z), self.line(psi(p0) - chord * p0, chord, z),
                        psi(p1), psi(p0), psi(pm))

    def value(self, x, z):
        x, z = x[..., self.columns], z[self.columns]
        if self.form == "linear":
            return (x * z) @ self.v
        phi = (np.sin(np.pi * (x - z) / self.period)**2 if self.form == "periodic" else (x - z)**2) / self.l**2
        return PSI[self.form](phi.sum(axis=-1), self.alpha)


def mccormick(d, f, g):
    """Estimates of f g: of the two planes on each side the better one at the centre."""
    def plane(u, v, side):
        # u f + v g - u v with u from g's range, v from f's
        out = Affine(d, -u * v)
        below = side == "below"
        out.add(f.below if (u > 0) == below else f.above, u)
        out.add(g.below if (v > 0) == below else g.above, v)
        return u * f.centre + v * g.centre - u * v, out
    below = max((plane(g.low, f.low, "below"), plane(g.high, f.high, "below")), key=lambda p: p[0])[1]
    above = min((plane(g.high, f.low, "above"), plane(g.low, f.high, "above")), key=lambda p: p[0])[1]
    ends = [a * b for a in (f.low, f.high) for b in (g.low, g.high)]
    return Estimate(below, above, min(ends), max(ends), f.centre * g.centre)


class Term:
    def __init__(self, rng, forms, d):
        self.leaves, self.d = [Leaf(rng, form, d) for form in forms], d
        self.scale = None if "linear" in forms else rng.uniform(0.4, 2.0)

    def text(self):
        extra = "" if self.scale is None else f", outputscale={self.scale!r}"
        return "*".join([self.leaves[0].text(extra)] + [leaf.text() for leaf in self.leaves[1:]])

    def estimate(self, lower, upper, z):
        parts = [leaf.estimate(lower, upper, z) for leaf in self.leaves]
        product = parts[-1]
        for factor in reversed(parts[:-1]):
            product = mccormick(self.d, factor, product)
        scale = 1.0 if self.scale is None else self.scale
        below, above = Affine(self.d), Affine(self.d)
        below.add(product.below, scale)
        above.add(product.above, scale)
        return Estimate(below, above, 0, 0, 0)

    def value(self, x, z):
        return (1.0 if self.scale is None else self.scale) * np.prod([leaf.value(x, z) for leaf in self.leaves], axis=0)


def bound(terms, z, t, lower, upper):
    """The paper's: the sum of t_i times the estimator that t_i's sign asks for, minimised; the maximum likewise."""
    low, high = Affine(z.shape[1]), Affine(z.shape[1])
    for z_i, t_i in zip(z, t):
        for term in terms:
            e = term.estimate(lower, upper, z_i)
            low.add(e.below if t_i > 0 else e.above, t_i)
            high.add(e.above if t_i > 0 else e.below, -t_i)
    return low.minimum(lower, upper), -high.minimum(lower, upper)


KERNELS = [[["se"]], [["rq"]], [["matern12"]], [["matern32"]], [["matern52"]], [["periodic"]], [["linear"]], [["se"], ["periodic"]],
           [["se", "periodic"]], [["linear", "matern52"], ["rq"]], [["se", "linear", "periodic"]], [["periodic", "rq", "matern32"], ["linear"]]]


class Decomposition(unittest.TestCase):
    def test_the_papers_construction(self):
        rng, text, wanted = np.random.default_rng(2), [], []
        for forms in KERNELS * 3:
            d, n = int(rng.integers(1, 4)), 12
            terms = [Term(rng, f, d) for f in forms]
            x = rng.uniform(-1.5, 1.5, (n, d))
            y = rng.normal(size=n)
            text.append(f"posterior {d} " + " + ".join(term.text() for term in terms))
            text.append(f"data {n} 0.05 " + " ".join(v.hex() for v in np.column_stack([x, y]).ravel().tolist()))
            wanted.append((terms, d))
            for half in (0.02, 0.2, 1.0):
                centre = rng.uniform(-1, 1, d)
                sides = np.concatenate([centre - half, centre + half])
                text.append("bound " + " ".join(v.hex() for v in sides.tolist()))
                wanted.append((sides[:d], sides[d:]))
        answers, worst = ask("certify_values", "\n".join(text) + "\n"), 0.0
        self.assertEqual(len(answers), len(wanted))
        for answer, (first, second) in zip(answers, wanted):
            if "t" in answer:
                terms, t = first, np.array([float.fromhex(v) for v in answer["t"]])
                z = np.array([float.fromhex(v) for v in answer["z"]]).reshape(len(t), second)
                continue
            low, high = bound(terms, z, t, first, second)
            size = 1e-9 * (1 + np.abs(t).sum())
            self.assertLess(abs(answer["lower"] - low), size)
            self.assertLess(abs(answer["upper"] - high), size)
            worst = max(worst, abs(answer["lower"] - low) / size * 1e-9, abs(answer["upper"] - high) / size * 1e-9)
            points = rng.uniform(first, second, (200, len(first)))
            mean = sum(t_i * sum(term.value(points, z_i) for term in terms) for t_i, z_i in zip(t, z))
            self.assertTrue(answer["lower"] <= mean.min() and mean.max() <= answer["upper"])
        print(f"largest difference over 1 + sum |t|: {worst:.1e}")


if __name__ == "__main__":
    unittest.main()
