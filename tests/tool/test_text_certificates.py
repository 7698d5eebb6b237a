# SPDX-License-Identifier: Apache-2.0
"""certify, attack and extremum of a model with texts and dates read the tables that predict reads, and hold its texts."""
import csv
import io
import random
import unittest

from toolcase import ToolCase

TOWNS = ["Bonn", "Rome", "Ulm"]


class Texts(ToolCase):
    def setUp(self):
        super().setUp()
        dice = random.Random(1)
        rows = []
        for i in range(45):
            town, x = TOWNS[i % 3], i * 0.37 % 5
            rows.append((town, "2024-01-%02d" % (1 + i % 28), x, [1, -2, 3][i % 3] + x * x / 5 + dice.random() / 5))
        self.write("t.csv", "town,day,x,y\n" + "".join("%s,%s,%.4f,%.4f\n" % row for row in rows))
        self.ok("fit", "t.csv", "-t", "y", "-o", "t.hf", quiet=False)
        self.ok("fit", "t.csv", "-t", "y", "--drop", "day", "-o", "n.hf", quiet=False)
        self.write("at.csv", "town,day,x\n" + "".join("%s,%s,%.4f\n" % row[:3] for row in rows[:4]))
        self.write("made.csv", "town=Bonn,town=Rome,town=Ulm,x\n" + "".join(
            "%d,%d,%d,%.4f\n" % (*(row[0] == town for town in TOWNS), row[2]) for row in rows[:4]))

    def answer(self, *arguments):
        """Rows of a table without the seconds."""
        self.ok(*arguments, "-o", "out.csv", quiet=False)
        return [{name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(io.StringIO(self.read("out.csv")))]

    def predicted(self, text, model="n.hf"):
        self.write("q.csv", text)
        self.ok("predict", model, "q.csv", "-o", "p.csv", quiet=False)
        return [float(row["y_mean"]) for row in csv.DictReader(io.StringIO(self.read("p.csv")))]

    def test_texts_are_the_prepared_columns(self):
        for question in (["certify", "n.hf", "--radius", "0.3"], ["certify", "n.hf", "--radius", "0.2", "--sds", "--delta", "1"],
                         ["attack", "n.hf", "--radius", "0.3"], ["certify", "n.hf", "--max-radius", "--radius", "2", "--delta", "0.5"]):
            texts, numbers = (self.answer(*question, "--at", name) for name in ("at.csv", "made.csv"))
            self.assertEqual(texts, numbers)

    def test_texts_are_held_unless_they_are_named(self):
        for row in self.answer("certify", "t.hf", "--at", "at.csv", "--radius", "0.3", "--sides"):
            self.assertEqual(set(name for name in row if name.endswith("_from")), {"day_from", "x_from"})
        whole = self.answer("certify", "n.hf", "--at", "at.csv", "--radius", "1", "--features", "town", "--where")
        own = self.answer("certify", "n.hf", "--at", "at.csv", "--radius", "0.5", "--features", "town")
        for row, still in zip(whole, own):
            ends = [row["town=%s_at_%s" % (town, end)] for town in TOWNS for end in ("lower", "upper")]
            self.assertLessEqual(set(ends), {"0", "1"})
            for value in self.predicted("town,x\n" + "".join("%s,%s\n" % (town, row["x"]) for town in TOWNS)):
                self.assertLessEqual(float(row["lower"]), value)
                self.assertGreaterEqual(float(row["upper"]), value)
            # Half a step is none.
            self.assertLess(float(still["upper"]) - float(still["lower"]), 1e-6)

    def test_a_box_for_each_text(self):
        found = self.answer("extremum", "n.hf", "--maximum", "--box", "x=0:4")
        self.assertEqual([[row["town=" + town] for town in TOWNS] for row in found], [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]])
        for town, row in zip(TOWNS, found):
            values = self.predicted("town,x\n" + "".join("%s,%g\n" % (town, k / 50) for k in range(201)))
            self.assertAlmostEqual(float(row["value"]), max(values), delta=0.05)
            self.assertGreaterEqual(float(row["bound"]), max(values))
        self.assertEqual(self.answer("extremum", "n.hf", "--maximum", "--box", "town=Rome,x=0:4"), found[1:2])
        ranges = self.answer("certify", "n.hf", "--box", "town=Ulm")
        self.assertEqual([[row["town=" + town] for town in TOWNS] for row in ranges], [["0", "0", "1"]])

    def test_dates(self):
        """A radius of a date counts days, as the model does."""
        row = self.answer("certify", "t.hf", "--at", "at.csv", "--radius", "day=2", "--where")[1]
        values = self.predicted("town,day,x\n" + "".join("Rome,2024-01-%02d,0.37\n" % day for day in (1, 2, 3, 4)), "t.hf")
        self.assertLessEqual(float(row["lower"]), min(values))
        self.assertGreaterEqual(float(row["upper"]), max(values))

    def test_refusals(self):
        self.write("new.csv", "town,x\nUlm,1\nParis,1\n")
        self.fails(["certify", "n.hf", "--at", "new.csv", "--radius", "1"], 'line 3: "town" is missing, or a text that the model has not seen')
        self.fails(["certify", "n.hf", "--box", "town=0:1"], "COLUMN=TEXT", code=2)
        self.fails(["certify", "n.hf", "--box", "town=Ulm=0:1"], "COLUMN=TEXT", code=2)
        self.fails(["certify", "n.hf", "--at", "at.csv", "--radius", "1", "--features", "city"], '"city"')
        self.fails(["certify", "n.hf", "--at", "at.csv", "--radius", "1", "--features", "town", "--rigorous"], "lattices")


if __name__ == "__main__":
    unittest.main()
