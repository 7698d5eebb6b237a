# SPDX-License-Identifier: Apache-2.0
"""Remarks on odd inputs and series: printed as warnings, kept in the model, silenced by -q."""
import json
import math
import unittest

from toolcase import ToolCase


def wind_table(odd):
    """60 rows of a row number, two inputs and a target; with codes and a far place if `odd`."""
    lines = ["stone,wind,place,y"]
    for i in range(60):
        wind, place = round(10 + 9 * math.sin(1.7 * i), 3), round(math.cos(2.3 * i), 3)
        y = round(math.sin(wind / 3) + place, 3)
        lines.append(f"{i + 1},{-999 if odd and i % 10 == 3 else wind},{950 if odd and i == 7 else place},{y}")
    return "\n".join(lines) + "\n"


class Inputs(ToolCase):
    fast = ["--no-train", "--suspects", "off"]

    def test_odd_inputs_are_told(self):
        self.write("t.csv", wind_table(odd=True))
        fit = ["fit", "t.csv", "-t", "y", *self.fast, "-o", "m.hf"]
        code, out, err = self.run_tool(*fit)
        self.assertEqual(code, 0)
        self.assertEqual(err.split("\n"), [
            'holdfast: warning: input "wind": -999 stands in 6 of 60 rows (lines 5, 15, 25, 35, 45, ...), far from the '
            'other values (1.017 to 18.998); if it is a code for "missing", leave those fields empty',
            'holdfast: warning: 1 of 60 rows has an input far from those of all other rows, which can bend the whole '
            'fit: line 9, "place" = 950 (others -1 to 1)',
            'holdfast: warning: input "stone" looks like a number of the row (different integers, in order); if it is, '
            '--drop stone leaves it out', ""])
        self.ok(*fit, "-q")
        notes = [line[len("holdfast: warning: "):] for line in err.split("\n")[:-1]]
        self.assertEqual(json.loads(self.ok(*fit, "-q", "--json"))["notes"], notes)
        self.assertEqual(json.loads(self.ok("inspect", "m.hf", "--json"))["notes"], notes)

    def test_what_the_remarks_advise_ends_them(self):
        self.write("t.csv", wind_table(odd=True).replace(",-999,", ",,").replace(",950,", ",0.5,"))
        code, out, err = self.run_tool("fit", "t.csv", "-t", "y", "--drop", "stone", *self.fast, "--json")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["notes"], ["6 of 60 rows left out: an input is missing there (\"wind\" in 6)"])

    def test_plain_tables_have_none(self):
        self.write("t.csv", wind_table(odd=False).replace("stone", "day"))
        self.ok("fit", "t.csv", "-t", "y", *self.fast)


class Cycles(ToolCase):
    def series(self, name, rows, column="year"):
        """Rows of a cycle of eleven years with a trend; a few are wrong."""
        lines = [f"{column},y"]
        for i in rows:
            y = 5 * math.sin(2 * math.pi * i / 11) + 0.02 * i + math.sin(97.3 * i * i) / 2 + (40 if i % 50 == 17 else 0)
            lines.append(f"{1700 + i},{y:.3f}")
        self.write(name, "\n".join(lines) + "\n")

    remark = ('the series repeats every 11 units of "year" (autocorrelation 0.', 'may predict better beyond the readings')

    def test_what_is_offered_predicts_better(self):
        self.series("t.csv", range(150))
        self.series("later.csv", range(150, 167))
        code, out, err = self.run_tool("fit", "t.csv", "-t", "y", "-o", "m.hf", "--json")
        self.assertEqual(code, 0)
        note = [note for note in json.loads(out)["notes"] if note.startswith(self.remark[0])]
        self.assertEqual(len(note), 1, out)
        self.assertTrue(note[0].endswith(self.remark[1]), note)
        self.assertIn("holdfast: warning: " + note[0], err)
        kernel = note[0].split('--kernel "')[1].split('"')[0]
        self.assertEqual(kernel, "matern52(ard) + periodic(year, period~11)")
        again = self.ok("fit", "t.csv", "-t", "y", "-o", "n.hf", "--json", "-q", "--kernel", kernel)
        self.assertEqual([note for note in json.loads(again)["notes"] if "repeats" in note], [])
        scores = [json.loads(self.ok("score", model, "later.csv", "--json", "-q"))["rmse"] for model in ("m.hf", "n.hf")]
        self.assertLess(scores[1], 0.4 * scores[0])

    def test_series_that_do_not_repeat(self):
        self.write("t.csv", "year,y\n" + "".join(f"{i},{0.01 * i * i + math.sin(97.3 * i * i):.3f}\n" for i in range(80)))
        self.ok("fit", "t.csv", "-t", "y", "--no-train", "--suspects", "off")


class Outside(ToolCase):
    def setUp(self):
        super().setUp()
        self.write("t.csv", "carat,y\n" + "".join(f"{(i * 7 % 30) / 10 + 0.2:.1f},{math.sin(97.3 * i * i):.3f}\n" for i in range(30)))
        self.ok("fit", "t.csv", "-t", "y", "--no-train", "--suspects", "off", "-o", "m.hf")
        self.write("new.csv", "carat\n1\n9.5\n3.2\n-1.25\n")

    remark = ('new.csv: 2 of 4 rows have inputs outside those of the training rows (furthest: new.csv, line 3, "carat" = '
              '9.5, training 0.2 to 3.1); predictions there are extrapolated')

    def test_extrapolation_is_told(self):
        code, out, err = self.run_tool("predict", "m.hf", "new.csv")
        self.assertEqual((code, err), (0, "holdfast: warning: " + self.remark + "\n"))
        self.assertNotIn("y_outside", out)
        self.assertEqual(self.ok("predict", "m.hf", "new.csv", "-q"), out)
        code, out, err = self.run_tool("predict", "m.hf", "new.csv", "--json", "-o", "p.csv")
        self.assertEqual(json.loads(out)["notes"], [self.remark])
        self.ok("predict", "m.hf", "t.csv")

    def test_distances(self):
        out = self.ok("predict", "m.hf", "new.csv", "--outside", "-q").split("\n")
        self.assertEqual(out[0].split(",")[-1], "y_outside")
        distances = [float(line.split(",")[-1]) for line in out[1:-1]]
        for distance, expected in zip(distances, (0, 6.4 / 2.9, 0.1 / 2.9, 0.5)):
            self.assertAlmostEqual(distance, expected, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
