# SPDX-License-Identifier: Apache-2.0
"""holdfast track create --minimise: the mirror of a track that maximises, and a valley that is found from the shell."""
import csv
import io
import json
import math
import re
import subprocess
import unittest

from toolcase import ToolCase, table


def cost(x, t):
    """A valley of depth 2 whose bottom moves from side to side."""
    return 3.0 - 2.0 * math.exp(-0.5 * (x - 2 * math.sin(0.2 * t)) ** 2)


class Minimise(ToolCase):
    def track(self, verb, *arguments):
        return self.ok("track", verb, *arguments)

    def parsed(self, verb, *arguments):
        return json.loads(self.track(verb, *arguments, "--json"))

    def answer(self, name, t, function):
        """Answers as an expert would: fills in the list and gives it back."""
        rows = list(csv.DictReader(io.StringIO(self.track("refresh", name, "--time", t))))
        target = json.loads(self.track("show", name, "--json"))["target"]
        for row in rows:
            row[target] = repr(function(float(row["x"]), t))
        with open(self.path("answers.csv"), "w", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        self.track("refresh", name, "--answers", "answers.csv")

    def step(self, name, t, function):
        """A step of the loop; what was asked."""
        if t > 0:
            self.answer(name, t, function)
        asked = self.parsed("ask", name, "--time", t)
        x = asked["place"]["x"]
        best = function(2 * math.sin(0.2 * t), t)
        self.track("tell", name, "--time", t, "--x=%r" % x, "--y=%r" % function(x, t), "--best=%r" % best, "--value=%r" % function(x, t))
        return asked

    def create(self, name, *arguments):
        return self.track("create", name, "--box", "x=-5:5", "--drift", "0.5", "--queries", "4", "--noise", "0.01", "-k", "4*se(lengthscale=1)",
                          *arguments)

    def test_the_valley_is_found(self):
        self.assertIn('to minimise "cost" in a box', self.create("t.hf", "--target", "cost", "--minimise"))
        for t in range(15):
            asked = self.step("t.hf", t, cost)
            self.assertIs(asked["minimise"], True)
            if t > 0:
                self.assertAlmostEqual(asked["bound"], asked["mean"] - asked["beta"] * asked["sd"])
        late = [v - b for v, b in [self.truth_of("t.hf", t) for t in range(10, 15)]]
        self.assertLess(max(late), 0.2)  # of 2; anywhere else than in the valley it is most of that
        shown = self.parsed("show", "t.hf")
        self.assertIs(shown["settings"]["minimise"], True)
        history = table(self.track("show", "t.hf", "--history", "-"))
        regret = sum(v - b for b, v in zip(history["best"], history["value"]) if b == b)
        self.assertGreater(regret, 0)
        self.assertAlmostEqual(shown["regret"], regret)
        self.assertIn('to minimise "cost"', self.track("show", "t.hf"))
        self.assertIn("lower bound", self.track("ask", "t.hf", "--time", "15"))

    def truth_of(self, name, t):
        """Value and best of a time, as the track remembers them."""
        history = table(self.track("show", name, "--history", "-"))
        return next((v, b) for time, v, b in zip(history["time"], history["value"], history["best"]) if time == t and b == b)

    def test_a_mirror(self):
        """To minimise y is to maximise -y: the same places, and numbers of the other sign, to the last digit."""
        for case, (options, *means) in enumerate((([],), (["--places", "upper", "--beta", "0.5"],), (["--method", "sparq"], "--mean=1", "--mean=-1"))):
            names = ["down%d.hf" % case, "up%d.hf" % case]
            self.create(names[0], "--minimise", *options, *means[:1])
            self.create(names[1], *options, *means[1:])
            for t in range(5):
                down, up = self.step(names[0], t, cost), self.step(names[1], t, lambda x, t: -cost(x, t))
                self.assertEqual((down["minimise"], up["minimise"]), (True, False))
                self.assertEqual(down["place"], up["place"])
                signed = [[asked[key] for key in ("mean", "bound", "prior_mean")] for asked in (down, up)]
                self.assertEqual(signed[0], [None if number is None else -number for number in signed[1]])
                self.assertEqual([down[key] for key in ("sd", "beta", "readings", "answers", "information")],
                                 [up[key] for key in ("sd", "beta", "readings", "answers", "information")])
            tables = [table(self.track("show", name, "--history", "-")) for name in names]
            for name, column in tables[0].items():
                sign = -1 if name in ("y", "mean", "bound", "best", "value") else 1
                other = tables[1][name]
                if name != "event":
                    column, other = [repr(value) for value in column], [repr(sign * value) for value in other]
                self.assertEqual(column, [value.replace("-nan", "nan").replace("-0.0", "0.0") for value in other], name)
            self.assertGreater(tables[0]["event"].count("answered"), 5)
            shown = [self.parsed("show", name) for name in names]
            self.assertEqual(shown[0]["regret"], shown[1]["regret"])

    def test_pictures(self):
        if subprocess.run(["which", "gnuplot"], capture_output=True).returncode:
            self.skipTest("gnuplot is not installed")
        self.write("places.csv", "name,x\n" + "".join("p%d,%d\n" % (i, i) for i in range(40)))
        told = "time,candidate,cost\n" + "".join("0,p%d,%r\n" % (i, (i - 20) ** 2 / 10) for i in range(40))
        self.write("told.csv", told)
        drawn = {}
        for name, options in (("least", ["--minimise"]), ("most", [])):
            self.track("create", name + ".hf", "--candidates", "places.csv", "-t", "cost", "--drift", "1", "-k", "100*se(lengthscale=2)", *options)
            self.track("tell", name + ".hf", "--csv", "told.csv")
            self.track("plot", name + ".hf")
            drawn[name] = re.findall(r">\s*(p\d+)\s*<", self.read(name + ".svg"))
        self.assertEqual(len(drawn["least"]), 30)
        self.assertEqual(drawn["least"][0], "p20")
        self.assertEqual(drawn["most"][0], "p0")
        self.assertNotIn("p20", drawn["most"])
        self.assertNotIn("p0", drawn["least"])
        for name, words in (("least", "with the lowest bounds"), ("most", "with the highest bounds")):
            self.assertIn(words, self.read(name + ".svg"))


if __name__ == "__main__":
    unittest.main()
