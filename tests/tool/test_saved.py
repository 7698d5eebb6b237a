# SPDX-License-Identifier: Apache-2.0
"""Every verb opens what `fit` saved, and a model that was saved twice predicts the same to the digit."""
import math
import random
import unittest

from toolcase import SOURCE, ToolCase

HILLS = SOURCE + "/data/hills.csv"


class Saved(ToolCase):
    def opens(self, name, at, *, certify=(), draws=True):
        """Looks at a model with each verb that reads one."""
        self.ok("inspect", name, "-q")
        self.ok("inspect", name, "--json", "-q")
        self.ok("inspect", name, "--rows", "rows.csv", "-q")
        first = self.ok("predict", name, at, "-q")
        self.assertEqual(first, self.ok("predict", name, at, "-q"))
        self.ok("score", name, at, "-q")
        if draws:
            self.ok("plot", name, "--data-only", "-o", "picture.svg", "-q")
        if certify is not None:
            self.ok("certify", name, "--at", at, "--radius", "0", "-q", *certify)
            self.ok("explain", name, "--at", at, "--step", "0.01", "--node-limit", "10", "-q")

    def test_lengthscales_of_all_sizes(self):
        draw = random.Random(5)
        with open(HILLS) as hills:
            self.write("three.csv", "".join(hills.readlines()[:4]))
        for k in range(24):
            # Three digits, as people write them, and ends of the box that a trained one would have.
            value = "%.3g" % 10 ** draw.uniform(-6, 6)
            self.ok("fit", HILLS, "-t", "minutes", "-f", "miles", "-k", "se(lengthscale=%s)" % value, "--standardise",
                    draw.choice(("on", "off")), "--preset", "gp", "--iterations", "2", "-o", "h.hf", "-q")
            self.ok("inspect", "h.hf", "-q")
            if k % 6 == 0:
                self.opens("h.hf", "three.csv")

    def test_presets(self):
        self.wave(rows=40, bad=(9, 30))
        for options in ([], ["--preset", "rcgp"], ["--preset", "rcagp", "--actions", "8", "--inducing", "8"],
                        ["--preset", "sgpr", "--inducing", "8"], ["--preset", "student-t"], ["--preset", "rrp"],
                        ["-k", "sm(components=1,weight[0]~500000)"], ["-k", "linear + white", "-m", "linear"]):
            with self.subTest(options):
                self.ok("fit", "wave.csv", "-t", "y", *options, "--iterations", "8", "-o", "m.hf", "-q")
                self.opens("m.hf", "wave.csv", certify=None if "sm(" in str(options) else ())

    def test_outputs_and_classes(self):
        lines = ["a,u,v,kind"]
        for i in range(24):
            a = i * 7 % 24 / 4
            u = math.sin(a) + 0.02 * math.sin(31 * i)
            lines.append("%g,%.4f,%.4f,%s" % (a, u, 0.5 * u + math.cos(a) / 5, "hot" if u > 0.1 else "cold"))
        self.write("t.csv", "\n".join(lines) + "\n")
        for preset in ([], ["--preset", "morcgp"]):
            self.ok("fit", "t.csv", "-t", "u,v", "-f", "a", *preset, "--iterations", "8", "-o", "m.hf", "-q")
            self.opens("m.hf", "t.csv", certify=None)
        for kind in ("probit", "softmax"):
            self.ok("fit", "t.csv", "-t", "kind", "-f", "a", "--sites", kind, "--iterations", "8", "-o", "m.hf", "-q")
            self.opens("m.hf", "t.csv", certify=("--what", "probability"))


if __name__ == "__main__":
    unittest.main()
