# SPDX-License-Identifier: Apache-2.0
"""Rigorous ranges against ball arithmetic in 256 bits: the function that a posterior's stored numbers define, evaluated by Arb at points and over tiny boxes,
lies in what is certified, to the last digit."""
import ctypes
import ctypes.util
import random
import sys
import unittest

from oracle import SKIPPED, ask

NAMES = [ctypes.util.find_library(name) for name in ("flint-arb", "arb", "flint")] + ["libflint-arb.so.2"]
ARB = None
for found in filter(None, NAMES):
    try:
        ARB = ctypes.CDLL(found)
        ARB.arb_init
        break
    except (OSError, AttributeError):
        ARB = None
if ARB is None:
    print("Arb is missing (Debian: libflint-arb2)")
    sys.exit(SKIPPED)

BITS = 256


class Raw(ctypes.Structure):
    """arb_struct: a midpoint of four words and a radius of two."""
    _fields_ = [("words", ctypes.c_longlong * 6)]


class Ball:
    """A real number known to be in a ball."""

    def __init__(self, value=0.0):
        self.raw = Raw()
        ARB.arb_init(ctypes.byref(self.raw))
        ARB.arb_set_d(ctypes.byref(self.raw), ctypes.c_double(value))

    def __del__(self):
        ARB.arb_clear(ctypes.byref(self.raw))

    @staticmethod
    def of(value):
        return value if isinstance(value, Ball) else Ball(float(value))

    def call(self, name, *others):
        out = Ball()
        arguments = [ctypes.byref(Ball.of(o).raw) for o in (self, *others)]
        getattr(ARB, name)(ctypes.byref(out.raw), *arguments, ctypes.c_long(BITS))
        return out

    def __add__(self, other):
        return self.call("arb_add", Ball.of(other))

    __radd__ = __add__

    def __mul__(self, other):
        return self.call("arb_mul", Ball.of(other))

    __rmul__ = __mul__

    def __sub__(self, other):
        return self.call("arb_sub", Ball.of(other))

    def __rsub__(self, other):
        return Ball.of(other) - self

    def __truediv__(self, other):
        return self.call("arb_div", Ball.of(other))

    def __rtruediv__(self, other):
        return Ball.of(other) / self

    def __neg__(self):
        return Ball() - self

    def square(self):
        return self.call("arb_sqr")

    def sqrt(self):
        return self.call("arb_sqrtpos")

    def exp(self):
        return self.call("arb_exp")

    def power(self, other):
        return self.call("arb_pow", Ball.of(other))

    def sin_pi(self):
        return self.call("arb_sin_pi")

    def cos_pi(self):
        return self.call("arb_cos_pi")

    def union(self, other):
        return self.call("arb_union", Ball.of(other))

    def surely_at_most(self, other):
        return bool(ARB.arb_le(ctypes.byref(self.raw), ctypes.byref(Ball.of(other).raw)))

    def overlaps(self, other):
        return bool(ARB.arb_overlaps(ctypes.byref(self.raw), ctypes.byref(Ball.of(other).raw)))

    def __repr__(self):
        ARB.arb_get_str.restype = ctypes.c_char_p
        return ARB.arb_get_str(ctypes.byref(self.raw), ctypes.c_long(25), ctypes.c_ulong(0)).decode()


def pi():
    out = Ball()
    ARB.arb_const_pi(ctypes.byref(out.raw), ctypes.c_long(BITS))
    return out


def normal(r):
    """The normal distribution function."""
    out = Ball()
    ARB.arb_hypgeom_erfc(ctypes.byref(out.raw), ctypes.byref((-r / Ball(2.0).sqrt()).raw), ctypes.c_long(BITS))
    return out / 2


def total(values):
    out = Ball()
    for v in values:
        out = out + v
    return out


class Leaf:
    FORMS = ("se", "matern12", "matern32", "matern52", "rq", "periodic", "linear", "sm", "constant")

    def __init__(self, rng, form, d):
        number = lambda low, high: rng.uniform(low, high)  # noqa: E731
        self.form, self.d = form, d
        self.l = [number(0.4, 2.0) for _ in range(d)]
        self.period, self.alpha, self.v = [number(0.5, 3.0) for _ in range(d)], number(0.4, 3.0), number(0.3, 2.0)
        self.m, self.s = [number(0.05, 0.4) for _ in range(d)], [number(0.005, 0.05) for _ in range(d)]

    def text(self, extra=""):
        if self.form == "constant":
            return f"constant(variance={self.v!r})"
        entries = {"linear": [("variance", self.l)], "periodic": [("lengthscale", self.l), ("period", self.period)],
                   "sm": [("mean", self.m), ("variance", self.s)]}.get(self.form, [("lengthscale", self.l)])
        index = "[0,{}]" if self.form == "sm" else "[{}]"
        names = ["components=1", f"weight[0]={self.v!r}"] if self.form == "sm" else ["ard"]
        names += [f"{name}{index.format(k)}={v!r}" for name, values in entries for k, v in enumerate(values)]
        if self.form == "rq":
            names.append(f"alpha={self.alpha!r}")
        return f"{self.form}({', '.join(names)}{extra})"

    def value(self, x, z):
        """x: balls; z: doubles, or balls (the same as x)."""
        t = [Ball() if x is z else x_j - z_j for x_j, z_j in zip(x, z)]
        if self.form == "constant":
            return Ball(self.v)
        if self.form == "linear":
            return total(v * (x_j.square() if x is z else x_j * z_j) for v, x_j, z_j in zip(self.l, x, z))
        if self.form == "periodic":
            return (-2 * total(((t_j / p).sin_pi() / l).square() for t_j, p, l in zip(t, self.period, self.l))).exp()
        if self.form == "sm":
            value = Ball(self.v)
            for t_j, m, s in zip(t, self.m, self.s):
                value = value * (-2 * pi().square() * t_j.square() * s).exp() * (2 * t_j * m).cos_pi()
            return value
        r2 = total((t_j / l).square() for t_j, l in zip(t, self.l))
        if self.form == "se":
            return (r2 / -2).exp()
        if self.form == "rq":
            return (1 + r2 / (2 * Ball(self.alpha))).power(-Ball(self.alpha))
        if self.form == "matern12":
            return (-r2.sqrt()).exp()
        nu = 3 if self.form == "matern32" else 5
        s = (nu * r2).sqrt()
        return (1 + s + (5 * r2 / 3 if nu == 5 else 0)) * (-s).exp()


class Posterior:
    """A random one: its text for our program, and after the answer the function it defines."""

    def __init__(self, rng, forms, n=9, d=2, noise=0.02):
        self.d, self.n, self.noise = d, n, noise
        self.terms = [([Leaf(rng, f, d) for f in term], rng.uniform(0.5, 2.0)) for term in forms]
        self.rows = [[rng.uniform(-1.5, 1.5) for _ in range(d + 1)] for _ in range(n)]
        self.b = [rng.uniform(-1, 1) for _ in range(d + 1)]
        self.x_shift, self.x_scale = [rng.uniform(-1, 1) for _ in range(d)], [rng.uniform(0.5, 2) for _ in range(d)]
        self.y_shift, self.y_scale = rng.uniform(-1, 1), rng.uniform(0.5, 2)

    def text(self):
        numbers = lambda values: " ".join(v.hex() for v in values)  # noqa: E731
        terms = []
        for leaves, scale in self.terms:
            own = any(leaf.form in ("linear", "sm", "constant") for leaf in leaves)
            first = leaves[0].text("" if own else f", outputscale={scale!r}")
            terms.append("*".join([first] + [leaf.text() for leaf in leaves[1:]]))
        rows = numbers(v for row in self.rows for v in row)
        return (f"posterior {self.d} {' + '.join(terms)}\nmean linear {self.d + 1} {numbers(self.b)}\n"
                f"data {self.n} {self.noise!r} {rows}\n"
                f"units {numbers(self.x_shift + self.x_scale)} {self.y_shift!r} {self.y_scale!r}\n")

    def read(self, answer):
        self.t = [float.fromhex(v) for v in answer["t"]]
        z = [float.fromhex(v) for v in answer["z"]]
        self.z = [z[i * self.d:(i + 1) * self.d] for i in range(self.n)]
        self.jitter, self.factor = float.fromhex(answer["jitter"]), None

    def kernel(self, x, z):
        out = Ball()
        for leaves, scale in self.terms:
            own = any(leaf.form in ("linear", "sm", "constant") for leaf in leaves)
            product = Ball(1.0 if own else scale)
            for leaf in leaves:
                product = product * leaf.value(x, z)
            out = out + product
        return out

    def scaled(self, x):
        return [(Ball.of(v) - shift) / scale for v, shift, scale in zip(x, self.x_shift, self.x_scale)]

    def mean(self, x):
        x = self.scaled(x)
        m = self.b[0] + total(b * x_j for b, x_j in zip(self.b[1:], x))
        return (m + total(t * self.kernel(x, z) for t, z in zip(self.t, self.z))) * self.y_scale + self.y_shift

    def sd(self, x):
        """By Cholesky in balls: L w = k, variance k(x, x) - w'w."""
        x = self.scaled(x)
        if self.factor is None:
            self.factor = []
            for i, z_i in enumerate(self.z):
                row = []
                for j in range(i + 1):
                    points = [Ball(v) for v in z_i]
                    a = self.kernel(points, points if i == j else self.z[j]) - total(p * q for p, q in zip(row, self.factor[j] if j < i else row))
                    row.append((a + self.noise + self.jitter).sqrt() if i == j else a / self.factor[j][j])
                self.factor.append(row)
        w = []
        for row, z in zip(self.factor, self.z):
            w.append((self.kernel(x, z) - total(p * q for p, q in zip(row, w))) / row[-1])
        return (self.kernel(x, x) - total(v.square() for v in w)).sqrt() * self.y_scale


    def probit(self, x):
        return normal(self.mean(x) / (1 + self.sd(x).square()).sqrt())

    def logit(self, x):
        """E[sigma(q + s z)] by the trapezoidal rule in z. Where |Im z| <= a = 3/2 / max(1, s), |sigma| is below 1 and the normal density integrates to exp(a^2 / 2), so that it errs by
        less than 7 / (exp(2 pi a / h) - 1), here below 1e-40; and beyond 14 there is less than 1e-43."""
        q, s = self.mean(x), self.sd(x)
        step = 2.0 ** -5 * (1.0 if s.surely_at_most(2.0) else 2.0 ** -3)
        if not s.surely_at_most(16.0):
            raise ValueError("a standard deviation this large is not expected")
        nodes = [k * step for k in range(-int(14 / step), int(14 / step) + 1)]
        value = total((Ball(z).square() / -2).exp() / (1 + (-(q + s * z)).exp()) for z in nodes) * step / (2 * pi()).sqrt()
        return value + Ball(-1e-40).union(1e-40)


KERNELS = [[["se"]], [["matern12"]], [["matern32"]], [["matern52"]], [["rq"]], [["periodic"]], [["linear"], ["se"]], [["sm"]],
           [["se", "periodic"]], [["linear", "rq"], ["matern12"]], [["constant"], ["matern52", "periodic"]], [["sm", "se"], ["linear"]]]


class RigorousRanges(unittest.TestCase):
    def holds(self, low, value, high, where):
        self.assertTrue(Ball(low).surely_at_most(value) and value.surely_at_most(high), f"{where}: {value} in [{low!r}, {high!r}]")

    def ranges(self, rng, halves, points, tolerance, nodes, asked=("mean", "sd"), kernels=KERNELS):
        """Posteriors, boxes and points; the answers, as (posterior, what, box, range, [(x, value)])."""
        text, questions = [], []
        for forms in kernels:
            p = Posterior(rng, forms)
            text.append(p.text())
            for half in halves:
                for what in asked:
                    centre = [rng.uniform(-1, 1) for _ in range(p.d)]
                    box = [c - half for c in centre], [c + half for c in centre]
                    inside = [[rng.uniform(lo, hi) for lo, hi in zip(*box)] for _ in range(points)] + [list(box[0]), list(box[1])]
                    text.append(f"range {what} {tolerance} {nodes} " + " ".join(v.hex() for v in box[0] + box[1]))
                    text += [f"value {what} " + " ".join(v.hex() for v in x) for x in inside]
                    questions.append((p, what, box, inside))
        answers = iter(ask("certify_values", "\n".join(text) + "\n"))
        current = None
        for p, what, box, inside in questions:
            if p is not current:
                p.read(next(answers))
                next(answers)  # units
                current = p
            decode = lambda a: {k: float.fromhex(v) if isinstance(v, str) and k != "stop" else v for k, v in a.items()}  # noqa: E731
            yield p, what, box, decode(next(answers)), [(x, decode(next(answers))) for x in inside]

    def look(self, *questions, **more):
        """Exact values at points and ends; how many there are, and how many predictions in double lie outside of the interval of the exact value."""
        outside = count = 0
        for p, what, _, answer, inside in self.ranges(*questions, **more):
            function = getattr(p, what)
            for x, value in inside:
                exact = function(x)
                self.holds(answer["lower"], exact, answer["upper"], (p.text(), what, x))
                self.holds(value["lower"], exact, value["upper"], (p.text(), what, x))
                count += 1
                outside += not value["lower"] <= value["double"] <= value["upper"]
            for end, sign in (("lower", 1), ("upper", -1)):
                at = [float.fromhex(v) for v in answer["argmin" if sign > 0 else "argmax"]]
                exact, attained = function(at), Ball(answer[f"{end}_attained"])
                self.assertTrue((exact if sign > 0 else attained).surely_at_most(attained if sign > 0 else exact))
        return count, outside

    def test_points_are_inside(self):
        count, outside = self.look(random.Random(6), (0.0, 1e-9, 0.2), 4, 0.01, 24)
        print(f"{count} values; {outside} predictions in double are outside of the interval of the exact value")
        self.assertGreater(outside, count // 4)  # intervals this narrow tell rounding apart

    def test_class_probabilities_are_inside(self):
        count, outside = self.look(random.Random(9), (0.0, 0.2), 2, 0.01, 24, asked=("probit",))
        print(f"{count} probabilities by probit; {outside} in double are outside of the interval of the exact value")
        self.assertGreater(outside, 0)
        count, _ = self.look(random.Random(10), (0.0, 0.2), 1, 0.01, 12, asked=("logit",), kernels=KERNELS[::4])
        print(f"{count} probabilities by logit")

    def test_tiny_boxes_agree_with_balls_over_them(self):
        for p, what, box, answer, _ in self.ranges(random.Random(7), (1e-12, 1e-7), 1, 1e-13, 40):
            function = getattr(p, what)
            hull = function([Ball(lo).union(hi) for lo, hi in zip(*box)])
            for end in ("lower", "upper"):
                # Between a bound and the attained value is the end of the true range, which the ball's image holds.
                ours = Ball(answer[end]).union(answer[f"{end}_attained"])
                self.assertTrue(hull.overlaps(ours), f"{p.text()} {what} {box}: {hull} and {ours}")

    def test_the_norm(self):
        rng = random.Random(8)
        for forms in KERNELS:
            p = Posterior(rng, forms)
            answers = ask("certify_values", p.text() + "range mean 0.01 1 " + " ".join("0.1" for _ in range(2 * p.d)) + "\n")
            p.read(answers[0])
            points = [[Ball(v) for v in z] for z in p.z]
            square = total(Ball(t) * u * p.kernel(points[i], points[i] if i == j else p.z[j])
                           for i, t in enumerate(p.t) for j, u in enumerate(p.t))
            norm = float.fromhex(answers[-1]["norm"])
            self.assertTrue(square.surely_at_most(Ball(norm).square()), f"{p.text()}: {square}, {norm!r}")
            self.assertTrue((Ball(norm).square() * (1 - 1e-9)).surely_at_most(square))


if __name__ == "__main__":
    unittest.main()
