# SPDX-License-Identifier: Apache-2.0
"""Test problems of optimisation: known optima, the common starts, and wrong values that all methods share."""
import json
import math
import os
import random
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

PROGRAM = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments", "hf-reproduce-bo-problem")
PI = math.pi
HARTMANN6 = [0.20168951397760904, 0.15001069019946628, 0.4768739709136298, 0.27533243023964377, 0.3116516154723292,
             0.6573005311849274]
DATA = os.path.join(SOURCE, "..", "shared", "data")
# a point where the best value is reached
WHERE = {"branin": [PI, 2.275], "hartmann3": [0.11458889702441237, 0.5556488967529246, 0.8525469840241771],
         "hartmann6": HARTMANN6,
         "michalewicz5": [2.202905522369465, 1.5707963267637917, 1.284991570550051, 1.9230584704165414, 1.720469772552923],
         "ackley10": [0.0] * 10, "levy20": [1.0] * 20, "rosenbrock8": [1.0] * 8,
         "mixed-branin": [3, 15 - (5.1 / (4 * PI ** 2) * 9 - 15 / PI + 6), 1], "two-choices": [1, 1, -0.04492101, 0.3563282],
         "mixed-ackley": [0, 0, 0, 0, 0, 2, 3], "tuning": [10 ** -1.3, 10 ** -3.4, 6, 0.3, 1],
         "branin-disc": [PI, 2.275], "gardner": [1.5 * PI, 0.0]}


class Problems(ToolCase):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
        cls.rows = {row["name"]: row for row in map(json.loads, listed.splitlines())}

    def answers(self, *lines):
        text = "".join(line + "\n" for line in lines)
        done = subprocess.run([PROGRAM], input=text, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def dna(self, *lines):
        done = subprocess.run([PROGRAM, "--data", DATA], input="".join(line + "\n" for line in ("lasso-dna 1 0", *lines)),
                              capture_output=True, text=True, timeout=100, check=False)
        return done.stdout.splitlines(), done.stderr

    def values(self, name, points, seed=1, share=0.25):
        lines = self.answers("%s %d %r" % (name, seed, share), *(" ".join(map(repr, p)) for p in points))
        self.assertTrue(lines[0].startswith("ok " + name), lines[0])
        return [list(map(float, line.split())) for line in lines[1:]]

    def starts(self, name, seed, count):
        return [list(map(float, line.split())) for line in self.answers("%s %d" % (name, seed), "start %d" % count)[1:]]

    def test_help(self):
        self.assertIn("bo-problem", self.ok("reproduce").split())
        done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=False)
        self.assertTrue(done.stdout.startswith("usage: bo-problem "))

    def test_known_optima(self):
        for name, point in WHERE.items():
            with self.subTest(name):
                row = self.rows[name]
                clean = self.values(name, [point])[0]
                self.assertAlmostEqual(clean[0], row["best"], delta=1e-9 * max(1, abs(row["best"])))
                if row["constraints"]:
                    self.assertLessEqual(clean[1], 0)

    def test_nothing_is_better_nearby_or_anywhere(self):
        rng = random.Random(1)
        for name, point in WHERE.items():
            row = self.rows[name]
            points = self.starts(name, 3, 300)
            for _ in range(300):
                near = []
                for value, p in zip(point, row["parameters"]):
                    if p["kind"] in ("real", "log") and rng.random() < 0.7:
                        value += rng.gauss(0, 1) * 10 ** rng.uniform(-4, -1) * (p["upper"] - p["lower"])
                    near.append(min(max(value, p["lower"]), p["upper"]))
                points.append(near)
            allowed = [v[0] for v in self.values(name, points) if not row["constraints"] or v[1] <= 0]
            self.assertLessEqual(max(allowed), row["best"] + 1e-9, name)
            self.assertGreater(max(allowed), min(allowed))

    def test_fronts(self):
        for name, count in (("zdt1", 6), ("dtlz2", 6)):
            middle = 0.0 if name == "zdt1" else 0.5
            for first in (0.0, 0.3, 1.0):
                a, b = (-v for v in self.values(name, [[first] + [middle] * (count - 1)])[0][:2])
                self.assertAlmostEqual(b if name == "zdt1" else a * a + b * b, 1 - math.sqrt(a) if name == "zdt1" else 1, 12)
        # Branin's minimum at (pi, 2.275), and Currin's value where its second input is 0 by the formula's limit
        a, b = self.values("branin-currin", [[(PI + 5) / 15, 2.275 / 15]])[0][:2]
        self.assertAlmostEqual(a, -0.39788735772973816, 12)
        self.assertAlmostEqual(self.values("branin-currin", [[1.0, 0.0]])[0][1], -(2300 + 1900 + 2092 + 60) / 624, 12)

    def test_lander(self):
        """The controller that the environment comes with lands everywhere, one that never fires crashes, and turning the
        engines' roles around does too."""
        known, idle = [0.5, 1, 0.4, 0.55, 0.5, 1, 0.5, 0.5, 0, 0.5, 0.05, 0.05], [0.0] * 10 + [2.0, 2.0]
        weak = known[:6] + [0.1, 0.1] + known[8:]
        values = self.values("lander", [known, idle, weak, known])
        self.assertGreater(values[0][0], 250)  # 100 for a rest and about as many for the way down; a crash costs 200
        self.assertLess(values[1][0], -100)
        self.assertLess(values[2][0], values[0][0] - 50)
        self.assertEqual(values[0][0], values[3][0])
        best = [0.87262, 0.767287, 0.470492, 0.854132, 1.80875, 1.53778, 0.276795, 0.663064, 0.0856544, 1.75543, 0.168512,
                0.124962]
        self.assertAlmostEqual(self.values("lander", [best])[0][0], self.rows["lander"]["best"], delta=3)

    def test_rover(self):
        """Its cheap ways, and the same reward as SciPy's splines give."""
        from numpy import array, c_, diff, hypot, interp, r_
        ways = []
        for way in ([(0.05, 0.05), (0.242, 0.157), (0.843, 0.757), (0.95, 0.95)], [(0.05, 0.05), (0.1, 0.05), (0.9, 0.1), (0.95, 0.95)],
                    [(0.05, 0.05), (0.95, 0.95)]):
            way = array(way)
            at = r_[0, hypot(*diff(way, axis=0).T).cumsum()]
            t = [at[-1] * i / 30 for i in range(31)]
            ways.append(diff(c_[interp(t, at, way[:, 0]), interp(t, at, way[:, 1])], axis=0).ravel().tolist())
        stop = [0.0] * 60
        values = [v[0] for v in self.values("rover", [*ways, stop, [0.01, 0.02] + [0.0] * 58])]
        self.assertTrue(4.93 < values[0] < self.rows["rover"]["best"] < 5 - 0.05 * math.sqrt(2) * 0.9)
        self.assertLess(values[1], values[0])
        self.assertLess(values[2], -3)  # through four squares of 0.08, at 20 a unit: 4 * 20 * 0.08 * sqrt(2)
        self.assertAlmostEqual(values[2], 5 - 0.05 * 0.9 * math.sqrt(2) - 4 * 20 * 0.08 * math.sqrt(2), delta=0.15)
        self.assertAlmostEqual(values[3], 5 - 180, 9)
        self.assertAlmostEqual(values[4], 5 - 0.05 * math.sqrt(5e-4) - 100 * 1.77, 9)
        starts = self.starts("rover", 1, 30)
        for x, value in zip(starts + ways, self.values("rover", starts + ways)):
            self.assertAlmostEqual(value[0], rover_of_scipy(x), 9)

    def test_data_that_are_not_there(self):
        done = subprocess.run([PROGRAM, "--data", "nowhere"], input="lasso-dna 1\n1 2\n", capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.splitlines()[0], 'error the data of "lasso-dna" are not there')
        self.assertIn("nowhere/libsvm_dna/dna_train.csv is not there", done.stderr)
        os.makedirs(self.path("libsvm_dna"))
        self.write("libsvm_dna/dna_train.csv", "y,x1\n1,0\n")
        done = subprocess.run([PROGRAM, "--data", self.folder], input="lasso-dna 1\n", capture_output=True, text=True, check=False)
        self.assertIn("error the data", done.stdout)
        self.assertIn("has 1 rows and 2 columns, not 2000 and 181", done.stderr)

    def test_lasso_dna(self):
        """The published benchmark's rows and folds, beside scikit-learn's lasso."""
        if not os.path.exists(os.path.join(DATA, "libsvm_dna", "dna_train.csv")):
            self.skipTest("the pieces of DNA are not there")
        import numpy as np
        from sklearn.linear_model import Lasso
        from sklearn.model_selection import KFold, train_test_split
        table = np.loadtxt(os.path.join(DATA, "libsvm_dna", "dna_train.csv"), delimiter=",", skiprows=1)
        table = table[train_test_split(np.arange(2000), test_size=0.15, random_state=42)[0]]
        x, y = table[:, 1:], table[:, 0]
        most = math.log(abs(x.T @ y).max() / 1700)
        rng = np.random.default_rng(1)
        points = [np.ones(180), rng.uniform(0, 1, 180)]
        lines, _ = self.dna(*(" ".join(map(repr, map(float, p))) for p in points))
        for p, line in zip(points, lines[1:]):
            weights = np.exp(most + (p - 1) / 2 * math.log(1e5))
            errors = []
            for kept, held in KFold(5, shuffle=True, random_state=42).split(x):
                fit = Lasso(alpha=1.0, fit_intercept=False, max_iter=20000, tol=1e-8).fit(x[kept] / weights, y[kept])
                errors.append(np.mean((y[held] - x[held] / weights @ fit.coef_) ** 2))
            self.assertAlmostEqual(float(line.split()[0]), -np.mean(errors), 6)

    def test_standard_deviations_are_those_of_uniform_points(self):
        for name, row in self.rows.items():
            if name in SLOW:
                continue
            done = subprocess.run([PROGRAM, "--spread", name], capture_output=True, text=True, check=True)
            for value, kept in zip(done.stdout.split()[1:], row["sd"]):
                self.assertAlmostEqual(float(value) / kept, 1, 9, name)

    def test_starts_lie_inside_and_depend_on_the_seed(self):
        for name, row in self.rows.items():
            if row["needs"]:
                continue
            first, other = self.starts(name, 1, 60), self.starts(name, 2, 60)
            self.assertEqual(first, self.starts(name, 1, 60))
            self.assertNotEqual(first, other)
            self.assertEqual(first[:7], self.starts(name, 1, 7))
            for j, p in enumerate(row["parameters"]):
                column = [x[j] for x in first]
                self.assertTrue(p["lower"] <= min(column) < max(column) <= p["upper"], (name, p))
                if p["kind"] in ("integer", "category"):
                    self.assertTrue(all(v == int(v) for v in column))
                    levels = int(p["upper"] - p["lower"]) + 1
                    self.assertGreater(len(set(column)), 0.7 * min(levels, 60 / 4))
                if p["kind"] == "log":
                    self.assertTrue(0.2 < sum(v < math.sqrt(p["lower"] * p["upper"]) for v in column) / 60 < 0.8)

    def test_wrong_values(self):
        for name in ("hartmann3", "mixed-branin"):
            row = self.rows[name]
            points = self.starts(name, 5, 2000)
            told = self.values(name, points, seed=9)
            steps = [(t - c) / row["sd"][0] for c, t in told]
            wrong = [s for s in steps if s != 0]
            self.assertTrue(430 < len(wrong) < 570, len(wrong))  # 3.6 sd of a share of 0.25
            self.assertTrue(1 <= min(wrong) < 1.02 and 1.98 < max(wrong) <= 2 + 1e-12)
            self.assertAlmostEqual(sum(wrong) / len(wrong), 1.5, delta=0.05)
            # The same evaluations are wrong wherever they are made, other ones in another run; none when none is asked for.
            moved = self.values(name, points[::-1], seed=9)
            self.assertEqual([t != c for c, t in moved], [s != 0 for s in steps])
            again = self.values(name, points, seed=10)
            self.assertNotEqual([t != c for c, t in again], [s != 0 for s in steps])
            self.assertTrue(all(t == c for c, t in self.values(name, points[:50], seed=9, share=0.0)))
            self.assertTrue(all(t > c for c, t in self.values(name, points[:50], seed=9, share=1.0)))
        clean = [v[1] == v[3] for v in self.values("branin-disc", self.starts("branin-disc", 1, 40))]
        self.assertTrue(all(clean))  # constraints are told as they are

    def test_mistakes_are_told_and_not_counted(self):
        good = "3.25 7.5"
        lines = self.answers("branin 4", good, "1", "1 2 3", "1 x", "nan 2", "11 2", "start x", "nothing 1", "branin", "branin 1 2",
                             good)
        errors = [line for line in lines if line.startswith("error ")]
        self.assertEqual(len(errors), 9, lines)
        self.assertIn("x1 = 11 is not in [-5, 10]", errors[4])
        self.assertEqual(lines[1:2] + lines[-1:], self.answers("branin 4", good, good)[1:])
        self.assertIn("not a whole number", self.answers("mixed-branin 1", "1.5 2 0")[1])
        self.assertTrue(self.answers("1 2")[0].startswith("error "))
        self.assertTrue(self.answers("start 2")[0].startswith("error "))
        done = subprocess.run([PROGRAM, "--spread", "nothing"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('no problem "nothing"', done.stderr)


def rover_of_scipy(x):
    import numpy as np
    from scipy.interpolate import splev, splprep
    centres = np.array([(a / 5, b / 5) for a in range(6) for b in range(6)])[1:-1]
    points = np.vstack([[0.05, 0.05], np.reshape(x, (-1, 2))]).cumsum(axis=0)
    spline = splprep(points.T, k=3, s=0)[0]
    way = np.array(splev(np.linspace(0, 1, 1000), spline)).T
    inside = (np.abs(way[:, None, :] - centres) < 0.04).all(2).any(1) | ~((way >= 0) & (way < 1)).all(1)
    cost = 0.05 + 20 * inside
    lengths = np.linalg.norm(np.diff(way, axis=0), axis=1)
    return 5 - np.sum(lengths * (cost[1:] + cost[:-1]) / 2) - 100 * np.abs(way[-1] - 0.95).sum()


SLOW = ("lander", "lasso-dna")

if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
