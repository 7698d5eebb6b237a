# SPDX-License-Identifier: Apache-2.0
"""holdfast expert: labels and corrections of a table become a prior mean, which fit and predict take."""
import json
import unittest

import numpy as np

from toolcase import ToolCase, table

WRONG = (4, 12, 25)


class Expert(ToolCase):
    def setUp(self):
        super().setUp()
        self.x = np.linspace(0, 10, 41)
        self.truth = np.sin(self.x) + 3
        y = self.truth.copy()
        y[list(WRONG)] += 6
        rows = ["x,y,y_label,y_correction,y_correction_var"]
        for i in range(41):
            said = {4: "doubted,%r,1e-4" % float(self.truth[4]), 12: ",%r," % float(self.truth[12]), 25: " doubted ,,",
                    30: "believed,,"}.get(i, ",,")
            rows.append("%r,%r,%s" % (float(self.x[i]), float(y[i]), said))
        self.y = y
        self.write("said.csv", "\n".join(rows) + "\n")
        self.said = ["expert", "said.csv", "-t", "y"]

    def reference(self, lengthscale, weight=10.0):
        """The formulas of include/holdfast/expert.h, by numpy."""
        x, y = self.x, self.y
        length, sound = lengthscale * x.std(ddof=1), [i for i in range(41) if i not in WRONG]
        z = np.abs(y - y.mean()) / y.std(ddof=1)
        near = lambda i: sorted((j for j in sound if j != i), key=lambda j: abs(x[j] - x[i]))
        right, spread, wrong = {}, {}, {}
        for i in WRONG + (30,):
            around = near(i)[:3]
            edge = abs(x[around[-1]] - x[i])
            around = [j for j in sound if j != i and abs(x[j] - x[i]) < edge + 1e-9]
            m, v = y[around].mean(), y[around].var(ddof=1)
            if i in (4, 12):
                s = 1e-4 if i == 4 else 0.01 * y[sound].var(ddof=1)
                m, v = (m / v + self.truth[i] / s) / (1 / v + 1 / s), 1 / (1 / v + 1 / s)
            wrong[i] = (z[i] + weight * (i != 30)) / (z[i] + weight)
            right[i] = (1 - wrong[i]) * y[i] + wrong[i] * m
            spread[i] = wrong[i] * v + wrong[i] * (1 - wrong[i]) * (m - y[i]) ** 2
        base, mean, sd = np.median(y[sound]), [], []
        for at in x:
            l = np.array([np.exp(-0.5 * ((at - x[i]) / length) ** 2) for i in right])
            w = l / max(1.0, l.sum())
            mean.append(base + w @ [right[i] - base for i in right])
            sd.append(np.sqrt(w ** 2 @ list(spread.values())))
        return mean, sd, wrong, right

    def test_columns_are_the_formulas(self):
        for options, lengthscale in ((["--lengthscale", "0.3"], 0.3), ([], 4 ** -0.2)):
            mean, sd, wrong, right = self.reference(lengthscale)
            out = table(self.ok(*self.said, *options))
            for told, expected in ((out["y_prior"], mean), (out["y_prior_sd"], sd)):
                self.assertTrue(np.allclose(told, expected, rtol=0, atol=1e-9))
            for i in range(41):
                if i in wrong:
                    self.assertAlmostEqual(out["y_wrong"][i], wrong[i], 12)
                    self.assertAlmostEqual(out["y_right"][i], right[i], 9)
                else:
                    self.assertTrue(np.isnan(out["y_wrong"][i]) and np.isnan(out["y_right"][i]))

    def test_from_labels_to_predictions(self):
        self.write("new.csv", "x\n0.1\n5.5\n\n")
        self.assertIn("41 readings of y: 1 believed, 3 doubted, 2 of these corrected", self.ok(*self.said, "-o", "out.csv"))
        self.ok(*self.said, "--at", "new.csv", "-o", "at.csv")
        self.assertEqual(list(table(self.read("at.csv"))), ["x", "y_prior", "y_prior_sd"])
        fit = json.loads(self.ok("fit", "out.csv", "-t", "y", "--preset", "rcgp", "--mean-column", "y_prior", "--json", "-o", "m.hf",
                                 quiet=False))
        self.assertEqual(fit["features"], ["x"])
        self.ok("predict", "m.hf", "at.csv", "-o", "p.csv")
        at, predicted = table(self.read("at.csv")), table(self.read("p.csv"))
        self.assertTrue(np.allclose(predicted["y_mean"], np.sin(at["x"]) + 3, atol=0.3), predicted["y_mean"])
        # Columns that were added before are no inputs of a second run, and are replaced.
        again = table(self.ok("expert", "out.csv", "-t", "y"))
        self.assertEqual(again["y_prior"], table(self.read("out.csv"))["y_prior"])

    def test_other_columns_and_kernels(self):
        text = self.read("said.csv").replace("y_label,y_correction,y_correction_var", "who,should,var")
        self.write("other.csv", text)
        named = ["--label-column", "who", "--correction-column", "should", "--variance-column", "var"]
        plain = table(self.ok(*self.said, "--lengthscale", "0.5"))
        other = table(self.ok("expert", "other.csv", "-t", "y", *named, "-k",
                              "2*se(lengthscale=%r)" % float(0.5 * self.x.std(ddof=1))))
        self.assertTrue(np.allclose(plain["y_prior"], other["y_prior"], atol=1e-12))
        flat = table(self.ok(*self.said, "--lengthscale", "inf", "--rule", "published", "--base", "0"))
        self.assertEqual(len(set(flat["y_prior"])), 1)
        right = table(self.ok(*self.said, "--rule", "published", "--base", "0"))["y_right"]
        self.assertAlmostEqual(flat["y_prior"][0], np.nanmean(right), 1)

    def test_questions(self):
        self.write("silent.csv", "x,y\n" + "".join("%r,%r\n" % pair for pair in zip(self.x.tolist(), self.y.tolist())))
        self.ok("fit", "silent.csv", "-t", "y", "-o", "m.hf", quiet=False)
        asked = json.loads(self.ok("expert", "silent.csv", "-t", "y", "--ask", "3", "--model", "m.hf", "--json", "--lengthscale", "0.1"))
        self.assertEqual({q["row"] for q in asked["questions"]}, {i + 1 for i in WRONG})
        moves = [q["move"] for q in asked["questions"]]
        self.assertEqual(moves, sorted(moves, reverse=True))
        self.assertIn("Ask about these", self.ok("expert", "silent.csv", "-t", "y", "--ask", "2"))
        code, out, err = self.run_tool("expert", "silent.csv", "-t", "y")
        self.assertEqual(code, 0)
        self.assertIn("nothing is said of any reading", err)
        self.assertEqual(set(table(out)["y_prior"]), {float(np.median(self.y))})

    def test_what_is_wrong_is_told(self):
        good = self.read("said.csv")
        self.fails(["expert", "said.csv"], "--target is missing", code=2)
        self.fails([*self.said, "--rule", "best"], "average", code=2)
        self.fails([*self.said, "--label-weight", "0"], "--label-weight: label_weight is 0; give a positive number", code=2)
        self.fails([*self.said, "--neighbours", "0"], "--neighbours", code=2)
        self.fails([*self.said, "--ask", "0", "-o", "q.csv"], "--ask", code=2)
        self.fails([*self.said, "--model", "m.hf"], "--model is for --ask", code=2)
        self.fails([*self.said, "--kernel", "se(lengthscale=1)", "--lengthscale", "1"], "exclude", code=2)
        self.fails([*self.said, "--kernel", "se"], "lengthscale has no written value")
        self.fails([*self.said, "--json"], "standard output", code=2)
        self.fails([*self.said, "--label-column", "nowhere"], "nowhere")
        self.fails([*self.said, "-f", "y_label"], "what is said of it")
        self.write("said.csv", good.replace("believed", "sure"))
        self.fails(self.said, "line 32", "\"sure\" is no label; say believed")
        self.write("said.csv", good.replace("believed,,", "believed,4,"))
        self.fails(self.said, "line 32", "believed and has a correction (4)")
        self.write("said.csv", good.replace("1e-4", "-1"))
        self.fails(self.said, "line 6", "a variance is finite and 0 or more (-1)")


if __name__ == "__main__":
    unittest.main()
