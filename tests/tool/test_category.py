# SPDX-License-Identifier: Apache-2.0
"""Codes of categories from end to end: fit, file, prediction, what is told, and what cannot be is said."""
import json
import math
import sqlite3
import unittest

from toolcase import ToolCase

KERNEL = "matern52(ard)*category(kind)"


class Category(ToolCase):
    def kinds(self, codes=(0, 1, 2)):
        state, text = 5, "a,kind,b,y\n"
        for i in range(60):
            numbers = []
            for _ in range(3):
                state = (state * 1103515245 + 12345) % 2 ** 31
                numbers.append((state >> 8) / 2 ** 23)
            a, b, noise = numbers
            y = math.sin(6 * a) + (2 * math.cos(5 * b) if i % 3 == 2 else b) + 0.1 * (noise - 0.5)
            text += "%r,%d,%r,%r\n" % (a, codes[i % 3], b, y)
        return self.write("kinds.csv", text)

    def fit(self, *options):
        return json.loads(self.ok("fit", "kinds.csv", "--target", "y", "--kernel", KERNEL, "-o", "m.hf", "--json", *options))

    def test_a_model_of_kinds(self):
        self.kinds()
        for options in ((), ("--unit-inputs", "--lengthscale-prior", "dimension"), ("--solver", "inducing", "--inducing", "50")):
            told = self.fit(*options)
            names = [p["name"] for p in told["parameters"]]
            self.assertEqual(names, ["matern52.outputscale", "matern52.lengthscale[0]", "matern52.lengthscale[1]",
                                     "category.lengthscale", "mean", "noise"])
            self.assertEqual(told["settings"]["unit_inputs"], bool(options) and options[0] == "--unit-inputs")
            with sqlite3.connect(self.path("m.hf")) as file:
                self.assertEqual(file.execute("PRAGMA user_version").fetchone(), (6,))
            again = json.loads(self.ok("score", "m.hf", "kinds.csv", "--json"))
            self.assertLess(again["rmse"], 0.3)
        shown = self.ok("inspect", "m.hf")
        self.assertRegex(shown, r"category\.lengthscale +[\d.]+ +a pure number: kind\n")

    def test_codes_are_names(self):
        self.kinds()
        first = self.fit()
        self.kinds((70, -2, 5))
        self.assertEqual(self.fit()["report"]["objective"], first["report"]["objective"])

    def test_texts_are_kinds(self):
        """category(kind) of a column of text is the kernel of its codes: correlation exp(-1 / l) there, exp(-2 / l) here."""
        rows = [line.split(",") for line in self.read(self.kinds()).split()]
        self.write("texts.csv", "".join(",".join([a, kind if kind == "kind" else f"wood {kind}", b, y]) + "\n"
                                        for a, kind, b, y in rows))
        answers = []
        for table, held in (("kinds.csv", 0.7), ("texts.csv", 1.4)):
            kernel = f"matern52(a, b, ard)*category(kind, lengthscale={held})"
            self.ok("fit", table, "--target", "y", "--kernel", kernel, "--suspects", "off", "-q", "-o", "m.hf")
            answers.append(json.loads(self.ok("score", "m.hf", table, "--json")))
        for key in ("rmse", "nlpd"):
            self.assertAlmostEqual(answers[0][key], answers[1][key], delta=1e-6)
        self.ok("fit", "texts.csv", "--target", "y", "--kernel", KERNEL, "-q", "-o", "m.hf")
        self.assertLess(json.loads(self.ok("score", "m.hf", "texts.csv", "--json"))["rmse"], 0.3)
        self.fails(["fit", "texts.csv", "--target", "y", "--kernel", "se*category(kin)"], "there is no input 'kin'")

    def test_ranges_are_of_one_kind(self):
        self.kinds()
        self.fit()
        self.ok("certify", "m.hf", "--at", "kinds.csv", "--radius", "0.02", "--features", "a,b", "-o", "r.csv")
        self.fails(["certify", "m.hf", "--at", "kinds.csv", "--radius", "0.02"], "a category and cannot move")

    def test_what_cannot_be_is_said(self):
        self.kinds()
        fit = ["fit", "kinds.csv", "--target", "y", "--kernel"]
        self.fails(fit + ["se*category"], "needs the columns with the codes")
        self.fails(fit + ["se*category(knd)"], "did you mean 'kind'?")
        self.fails(fit + ["se*categroy(kind)"], "did you mean 'category'?")
        self.fails(fit + ["se*category(a, b, kind)"], "codes of categories")


if __name__ == "__main__":
    unittest.main()
