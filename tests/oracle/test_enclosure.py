# SPDX-License-Identifier: Apache-2.0
"""Enclosures of covariances hold the exact value, in 60 digits: random expressions, near, far and equal points."""
import random
import sys
import unittest
from fractions import Fraction

from oracle import SKIPPED, ask

try:
    import mpmath as mp
except ImportError:
    print("mpmath is missing (Debian: python3-mpmath)")
    sys.exit(SKIPPED)

mp.mp.dps = 60
D = 3


def exact(text):
    """The number of a %La text, which may be longer than a double."""
    if "inf" in text:
        return -mp.inf if text.startswith("-") else mp.inf
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    digits, exponent = text[2:].split("p")
    whole, _, part = digits.partition(".")
    value = Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** int(exponent)
    with mp.workdps(400):
        return sign * mp.mpf(value.numerator) / mp.mpf(value.denominator)


class Leaf:
    """A random kernel of the language: its text, with every parameter written, and the formula it stands for."""

    AMPLITUDES = ("linear", "constant", "sm", "coregion", "white")
    FORMS = ("se", "matern12", "matern32", "matern52", "rq", "periodic") + AMPLITUDES

    def __init__(self, rng):
        self.form = rng.choice(self.FORMS)
        self.columns = sorted(rng.sample(range(D - 1), rng.randint(1, D - 1)))
        self.ard, self.values, self.rng = rng.random() < 0.5, {}, rng
        self.arguments = [f"x{c + 1}" for c in self.columns]
        self.has_amplitude = self.form in self.AMPLITUDES
        getattr(self, "make_" + self.form, self.make_radial)()

    def number(self, name):
        value = self.rng.lognormvariate(0, 0.7)
        self.arguments.append(f"{name}={value!r}")
        return mp.mpf(value)

    def array(self, name):
        if not self.ard:
            return [self.number(name)] * len(self.columns)
        return [self.number(f"{name}[{j}]") for j in range(len(self.columns))]

    def make_radial(self):
        if self.ard:
            self.arguments.append("ard")
        self.lengthscale = self.array("lengthscale")
        if self.form == "rq":
            self.alpha = self.number("alpha")
        if self.form == "periodic":
            self.period = self.array("period")

    def make_linear(self):
        if self.ard:
            self.arguments.append("ard")
        self.variance = self.array("variance")

    def make_constant(self):
        self.arguments, self.ard = [], False
        self.amount = self.number("variance")

    make_white = make_constant

    def make_sm(self):
        self.components = self.rng.randint(1, 3)
        self.arguments.append(f"components={self.components}")
        q, c = range(self.components), range(len(self.columns))
        self.weight = [self.number(f"weight[{i}]") for i in q]
        self.mean = [[self.number(f"mean[{i},{j}]") for j in c] for i in q]
        self.variance = [[self.number(f"variance[{i},{j}]") for j in c] for i in q]

    def make_coregion(self):
        """The last input is the number of the output."""
        outputs = self.rng.randint(2, 4)
        rank = self.rng.randint(1, outputs)
        self.arguments = [f"x{D}", f"outputs={outputs}", f"rank={rank}"]
        w = mp.matrix(outputs, rank)
        for s in range(outputs):
            for q in range(min(s + 1, rank)):
                value = self.rng.gauss(0, 1)
                self.arguments.append(f"factor[{s},{q}]={value!r}")
                w[s, q] = mp.mpf(value)
        self.b = w * w.T
        if rank < outputs:
            for s in range(outputs):
                self.b[s, s] += self.number(f"own[{s}]")

    def text(self, extra=()):
        return f"{self.form}({', '.join(self.arguments + list(extra))})"

    def value(self, x, z, same):
        t = [mp.mpf(x[c]) - mp.mpf(z[c]) for c in self.columns]
        if self.form == "white":
            return self.amount if same else mp.mpf(0)
        if self.form == "constant":
            return self.amount
        if self.form == "linear":
            return sum(v * mp.mpf(x[c]) * mp.mpf(z[c]) for v, c in zip(self.variance, self.columns))
        if self.form == "coregion":
            last = self.b.rows - 1
            return self.b[min(int(x[-1]), last), min(int(z[-1]), last)]
        if self.form == "sm":
            return sum(w * mp.fprod(mp.exp(-2 * mp.pi**2 * u * u * s) * mp.cos(2 * mp.pi * u * m)
                                    for u, s, m in zip(t, self.variance[q], self.mean[q]))
                       for q, w in enumerate(self.weight))
        if self.form == "periodic":
            return mp.exp(-2 * sum((mp.sin(mp.pi * u / p) / l) ** 2
                                   for u, p, l in zip(t, self.period, self.lengthscale)))
        r2 = sum((u / l) ** 2 for u, l in zip(t, self.lengthscale))
        r = mp.sqrt(r2)
        if self.form == "se":
            return mp.exp(-r2 / 2)
        if self.form == "matern12":
            return mp.exp(-r)
        if self.form == "matern32":
            return (1 + mp.sqrt(3) * r) * mp.exp(-mp.sqrt(3) * r)
        if self.form == "matern52":
            return (1 + mp.sqrt(5) * r + 5 * r2 / 3) * mp.exp(-mp.sqrt(5) * r)
        return (1 + r2 / (2 * self.alpha)) ** -self.alpha


class Term:
    def __init__(self, rng):
        self.leaves = [Leaf(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
        self.scale = None
        if not any(leaf.has_amplitude for leaf in self.leaves):
            self.scale = rng.lognormvariate(0, 1)

    def text(self):
        extra = () if self.scale is None else (f"outputscale={self.scale!r}",)
        return "*".join([self.leaves[0].text(extra)] + [leaf.text() for leaf in self.leaves[1:]])

    def value(self, x, z, same):
        product = mp.mpf(1 if self.scale is None else self.scale)
        return product * mp.fprod(leaf.value(x, z, same) for leaf in self.leaves)


class Sum:
    def __init__(self, rng):
        self.terms = [Term(rng) for _ in range(rng.choice((1, 1, 2, 3)))]

    def text(self):
        return " + ".join(term.text() for term in self.terms)

    def value(self, x, z, same):
        return sum(term.value(x, z, same) for term in self.terms)


def point(rng, size):
    return [rng.gauss(0, size) for _ in range(D - 1)] + [float(rng.randint(0, 3))]


def pairs(rng, count):
    """Ordinary, near, far and equal pairs."""
    for i in range(count):
        kind = rng.choice(("ordinary",) * 5 + ("near", "far", "shared", "equal"))
        x = point(rng, 1e3 if kind == "far" else 1)
        z = point(rng, 1e3 if kind == "far" else 1)
        if kind == "near":
            z = [v * (1 + rng.gauss(0, 1e-9)) for v in x[:-1]] + z[-1:]
        if kind == "shared":
            z[0] = x[0]
        yield kind, i % 2 == 0 if kind == "equal" else False, x, x if kind == "equal" else z


class Enclosures(unittest.TestCase):
    def test_random_expressions(self):
        rng = random.Random(3)
        text, wanted, used = [], [], set()
        for _ in range(250):
            kernel = Sum(rng)
            used |= {leaf.form for term in kernel.terms for leaf in term.leaves}
            text.append(f"kernel {D} {kernel.text()}")
            for kind, same, x, z in pairs(rng, 16):
                text.append(f"pair {int(same)} " + " ".join(v.hex() for v in x + z))
                size = sum(mp.sqrt(abs(term.value(x, x, same) * term.value(z, z, same))) for term in kernel.terms)
                wanted.append((kernel, kind, same, x, z, kernel.value(x, z, same), size))
        self.assertEqual(used, set(Leaf.FORMS))
        answers = ask("enclosure_values", "\n".join(text) + "\n")
        self.assertEqual(len(answers), len(wanted))
        narrow = []
        for answer, (kernel, kind, same, x, z, value, size) in zip(answers, wanted):
            lower, upper = exact(answer["lower"]), exact(answer["upper"])
            where = f"{kernel.text()} at {x}, {z}, same {same}"
            self.assertLessEqual(lower, value, where)
            self.assertLessEqual(value, upper, where)
            if kind != "far":  # far, the phases of cosines lose digits in double
                self.assertLessEqual(abs(answer["value"] - value), mp.mpf("2e-14") * size + mp.mpf("1e-300"), where)
                narrow.append((upper - lower) / size if size > 0 else mp.mpf(0))
        narrow.sort()
        print(f"width over the geometric mean of the variances, of {len(narrow)} pairs: median "
              f"{mp.nstr(narrow[len(narrow) // 2], 3)}, 99 % {mp.nstr(narrow[len(narrow) * 99 // 100], 3)}, "
              f"most {mp.nstr(narrow[-1], 3)}")
        self.assertLess(narrow[len(narrow) // 2], mp.mpf("2e-18"))
        self.assertLess(narrow[len(narrow) * 99 // 100], mp.mpf("1e-17"))

    def test_equal_rows_of_stationary_kernels_are_points(self):
        forms = ("se", "matern12", "matern32", "matern52", "rq", "periodic")
        text = "".join(f"kernel 1 {form}(x1, lengthscale=0.3, outputscale=0.7)\npair 1 0.1 0.1\n" for form in forms)
        for answer in ask("enclosure_values", text):
            self.assertEqual(exact(answer["lower"]), mp.mpf(0.7))
            self.assertEqual(exact(answer["upper"]), mp.mpf(0.7))

    def test_extreme_parameters(self):
        """Values that the double code rounds to 0, and scales from one end of the doubles to the other."""
        rng, text, wanted = random.Random(4), [], []
        for form in ("se", "matern12", "matern32", "matern52", "rq"):
            for lengthscale in (2.3e-308, 1e-150, 1e150, 1.7e308):
                text.append(f"kernel 1 {form}(x1, lengthscale={lengthscale!r}, outputscale=3.5)")
                for x, z in ((1.0, 2.0), (1e-300, 3e-300), (-1e308, 1.1e308), (0.0, lengthscale), (0.0, rng.random() * 50)):
                    leaf = Leaf.__new__(Leaf)
                    leaf.form, leaf.columns, leaf.lengthscale, leaf.alpha = form, [0], [mp.mpf(lengthscale)], mp.mpf(1)
                    text.append(f"pair 0 {x.hex()} {z.hex()}")
                    wanted.append((form, lengthscale, x, z, mp.mpf("3.5") * leaf.value([x], [z], False)))
        with mp.workdps(400):
            for answer, (form, lengthscale, x, z, value) in zip(ask("enclosure_values", "\n".join(text) + "\n"), wanted):
                where = f"{form}, lengthscale {lengthscale}, at {x}, {z}"
                self.assertLessEqual(exact(answer["lower"]), value, where)
                self.assertLessEqual(value, exact(answer["upper"]), where)
                self.assertGreaterEqual(exact(answer["lower"]), 0, where)


class Primitives(unittest.TestCase):
    FUNCTIONS = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b, "square": lambda a, b: a * a, "sqrt": lambda a, b: mp.sqrt(a),
        "exp": lambda a, b: mp.exp(a), "log1p": lambda a, b: mp.log1p(a),
        "sine2": lambda a, b: mp.sinpi(a) ** 2, "cosine": lambda a, b: mp.cospi(2 * a)}

    def arguments(self, rng, name):
        """An interval for each argument; a third of them points, some near where the functions turn."""
        result = []
        for which in range(2):
            size = 2.0 ** rng.uniform(-30, 8)
            at = rng.choice((-1, 1)) * size
            if name in ("sine2", "cosine") and rng.random() < 0.5:
                at = rng.randint(-40, 40) / 4 + rng.choice((0, 1, -1)) * 2.0 ** rng.randint(-52, -3)
            if name in ("sqrt", "log1p") or (name == "divide" and which):
                at = abs(at)
            width = rng.choice((0.0, 2.0 ** rng.uniform(-60, -2), 2.0 ** rng.uniform(-4, 2)))
            result.append((at, max(at, at + width * max(1.0, abs(at)))))
        return result

    def test_every_member_of_the_arguments(self):
        rng, text, asked = random.Random(5), [], []
        for name in self.FUNCTIONS:
            for _ in range(400):
                a, b = self.arguments(rng, name)
                text.append(f"{name} {a[0].hex()} {a[1].hex()} {b[0].hex()} {b[1].hex()}")
                asked.append((name, a, b))
        for answer, (name, a, b) in zip(ask("enclosure_values", "\n".join(text) + "\n"), asked):
            lower, upper = exact(answer["lower"]), exact(answer["upper"])
            for share in (0.0, 1.0, 0.5, rng.random(), rng.random()):
                other = rng.choice((0.0, 1.0, rng.random()))
                x = min(max(a[0] + share * (a[1] - a[0]), a[0]), a[1])
                y = min(max(b[0] + other * (b[1] - b[0]), b[0]), b[1])
                value = self.FUNCTIONS[name](mp.mpf(x), mp.mpf(y))
                self.assertTrue(lower <= value <= upper, f"{name} {a} {b} at {x}, {y}: {lower} {value} {upper}")


if __name__ == "__main__":
    unittest.main()
