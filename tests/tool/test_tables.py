# SPDX-License-Identifier: Apache-2.0
"""Tables as people have them: what the tool understands, says, remembers for the next table, and refuses."""
import csv
import gzip
import io
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import unittest

from toolcase import SOURCE, TOOL, ToolCase, table

FAST = ("--suspects", "off", "--restarts", "1")


def weather(rows=60):
    """Rows of (date, town, temperature, open, ozone)."""
    rng = random.Random(5)
    for i in range(rows):
        town = ("Bonn", "Ulm", "York")[rng.randrange(3)]
        warm = round(rng.uniform(-5, 25), 2)
        yield (f"{i % 28 + 1:02d}.{i // 28 + 3:02d}.2024", town, warm, i % 2 == 0,
               round(len(town) + math.sin(warm / 5) + 0.01 * i, 3))


def comma(number):
    return str(number).replace(".", ",")


class Tables(ToolCase):
    def german(self, name="german.csv"):
        lines = ["Datum;Ort;Temperatur;offen;Ozon;", ";;[°C];;[ppb];"]
        lines += [f"{day};{town};{comma(warm)};{'TRUE' if o else 'FALSE'};{comma(y)};" for day, town, warm, o, y in weather()]
        return self.write(name, "# Messnetz\r\n" + "\r\n".join(lines) + "\r\n")

    def plain(self, name="plain.csv"):
        lines = ["Datum,Ort=Bonn,Ort=Ulm,Ort=York,Temperatur,offen,Ozon"]
        for i, (_, town, warm, o, y) in enumerate(weather()):
            day = i % 28 + (31 if i // 28 == 1 else 61 if i // 28 == 2 else 0)
            lines.append(f"{day},{town == 'Bonn':d},{town == 'Ulm':d},{town == 'York':d},{warm},{o:d},{y}")
        return self.write(name, "\n".join(lines) + "\n")

    def test_a_foreign_table_is_the_plain_one(self):
        code, out, err = self.run_tool("fit", self.german(), "-t", "Ozon", "-o", "g.hf", *FAST, "--json")
        self.assertEqual(code, 0, err)
        for said in ("1 line of comments (#) left out", "1 empty column without a name left out", "line 3 has units and is no row: [°C], [ppb]",
                     'the comma is the decimal mark: "Temperatur", "Ozon"', 'TRUE is 1 and FALSE is 0: "offen"'):
            self.assertIn(f"holdfast: german.csv: {said}\n", err)
        for said in ('the input "Datum" is the time in days since 2024-03-01, the first', 'the text column "Ort" has 3 values, each an input'):
            self.assertIn(said, err)
        german, plain = json.loads(out), json.loads(self.ok("fit", self.plain(), "-t", "Ozon", "-o", "p.hf", *FAST, "--json", "-q"))
        for key in ("features", "parameters", "leave_one_out"):
            self.assertEqual(german[key], plain[key], key)
        # New rows in a plain dress and in the foreign one: the model reads both.
        self.write("new.csv", "Datum;Ort;Temperatur;offen\n17.04.2024;Ulm;3,5;TRUE\n01.03.2024;Rom;4;FALSE\n")
        self.write("alike.csv", "Datum,Ort=Bonn,Ort=Ulm,Ort=York,Temperatur,offen\n47,0,1,0,3.5,1\n0,,,,4,0\n")
        code, foreign, err = self.run_tool("predict", "g.hf", "new.csv")
        self.assertEqual(code, 0)
        self.assertIn('1 of them for a "Ort" that the model has not seen ("Rom")', err)
        ours, theirs = table(foreign), table(self.run_tool("predict", "p.hf", "alike.csv")[1])
        self.assertEqual(ours["Ozon_mean"][0], theirs["Ozon_mean"][0])
        self.assertTrue(math.isnan(ours["Ozon_mean"][1]))
        self.assertEqual(ours["Temperatur"][0], "3,5")
        # The table that was written is read again.
        self.write("out.csv", foreign)
        again = table(self.run_tool("predict", "g.hf", "out.csv")[1])
        self.assertEqual(again["Ozon_mean"][0], ours["Ozon_mean"][0])

    def test_dry_run_shows_how_columns_are_read(self):
        out = self.ok("fit", self.german(), "-t", "Ozon", "--dry-run", "-q")
        rows = [re.split(r" {2,}", line) for line in out.split("\n\n")[0].split("\n")]
        self.assertEqual(rows, [
            ["column", "read as", "used as", "missing", "example"],
            ["Datum", "date (days since 2024-03-01)", "input", "0", "01.03.2024"],
            ["Ort", "category (3 values)", "3 inputs", "0", next(weather())[1]],
            ["Temperatur", "number (decimal comma)", "input", "0", comma(next(weather())[2])],
            ["offen", "TRUE/FALSE", "input", "0", "TRUE"],
            ["Ozon", "number (decimal comma)", "target", "0", comma(next(weather())[4])]])
        told = json.loads(self.ok("fit", "german.csv", "-t", "Ozon", "--dry-run", "-q", "--json", "--numbers-only"))["columns"]
        self.assertEqual([entry["used_as"] for entry in told], ["not used", "not used", "input", "input", "target"])

    def test_descriptions_of_columns_are_whole(self):
        self.write("t.csv", "x;y\n<2 EUR;1\n1.234,5 EUR;2\n4,5 EUR;3\n")
        self.assertIn("x       number (decimal comma, thousands, currency, limits)  input",
                      self.ok("fit", "t.csv", "-t", "y", "--dry-run", "-q"))

    def test_packed_tables_and_databases(self):
        self.plain()
        expected = self.ok("fit", "plain.csv", "-t", "Ozon", "--json", *FAST, "-q")
        with open(self.path("plain.csv"), "rb") as file:
            text = file.read()
        with gzip.open(self.path("t.csv.gz"), "wb") as file:
            file.write(text)
        made = ["t.csv.gz"]
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "plain.csv", "-o", "t.csv.zst"], cwd=self.folder, check=True)
            made.append("t.csv.zst")
        rows = list(csv.reader(io.StringIO(text.decode())))
        with sqlite3.connect(self.path("t.db")) as db:
            db.execute("CREATE TABLE \"weather 24\" (%s)" % ", ".join('"%s" REAL' % name for name in rows[0]))
            db.executemany("INSERT INTO \"weather 24\" VALUES (?,?,?,?,?,?,?)", [[float(f) for f in row] for row in rows[1:]])
        made.append("t.db:weather 24")
        keys = ("features", "parameters", "leave_one_out", "data_sha256")
        for name in made:
            code, out, err = self.run_tool("fit", name, "-t", "Ozon", "--json", *FAST)
            self.assertEqual(code, 0, err)
            for key in keys:
                self.assertEqual(json.loads(out).get(key), json.loads(expected).get(key), (name, key))
        self.fails(["fit", "t.db:none", "-t", "Ozon"], 't.db:none: the database has no table "none"; its tables and views are: "weather 24"')
        self.fails(["fit", "t.db", "-t", "Ozon"], "FILE:TABLE")
        with open(self.path("t.csv.gz"), "rb") as file:
            packed = file.read()
        self.write("cut.gz", packed[:len(packed) // 2])
        self.fails(["fit", "cut.gz", "-t", "Ozon"], "cut.gz: it is cut off: gzip expects more")
        self.write("bad.gz", packed[:40] + b"\xff\xff\xff" + packed[43:])
        self.fails(["fit", "bad.gz", "-t", "Ozon"], "bad.gz: it is damaged: gzip finds an error near byte")

    def test_codes_and_limits(self):
        rows = "".join(f"{i},{'<2' if i % 9 == 0 else i % 7 + 3},{-999 if i % 8 == 1 else i % 5},{math.sin(i):.4f}\n" for i in range(40))
        self.write("t.csv", "a,b,c,y\n" + rows)
        fit = ("fit", "t.csv", "-t", "y", *FAST, "-o", "m.hf", "--missing", "-999,n.n.")
        code, _, err = self.run_tool(*fit)
        self.assertEqual(code, 0, err)
        for said in ('5 fields beyond a limit of detection (<2) count as missing: "b"', '"-999" is a missing value: 5 fields',
                     '"n.n." is a missing value: 0 fields', '("b" in 5, "c" in 5)'):
            self.assertIn(said, err)
        # The model remembers the codes, and a table that is predicted need not be told of.
        self.write("new.csv", "a,b,c\n1,4,-999\n1,4,2\n1,<2,2\n")
        code, out, err = self.run_tool("predict", "m.hf", "new.csv")
        self.assertEqual([math.isnan(v) for v in table(out)["y_mean"]], [True, False, True], err)
        code, out, err = self.run_tool("predict", "m.hf", "new.csv", "--limits", "half")
        self.assertEqual([math.isnan(v) for v in table(out)["y_mean"]], [True, False, False], err)
        self.write("one.csv", "a,b,c\n1,1,2\n")
        self.assertEqual(table(out)["y_mean"][2], table(self.ok("predict", "m.hf", "one.csv", "-q"))["y_mean"][0])

    def test_ambiguity_is_asked_about(self):
        self.write("t.csv", 'a,y\n' + "".join(f'{i},"{i % 9 + 1},{100 + i}"\n' for i in range(20)))
        self.fails(["fit", "t.csv", "-t", "y"], 't.csv: line 2, column 2 ("y"): "1,100" has a thousands separator or a decimal mark',
                   "--decimal point or comma")
        scale = [p["value"] for mark in ("point", "comma")
                 for p in json.loads(self.run_tool("fit", "t.csv", "-t", "y", "--decimal", mark, *FAST, "--json")[1])["parameters"] if p["name"] == "mean"]
        self.assertAlmostEqual(scale[0] / scale[1], 1000, delta=1)
        self.fails(["fit", "t.csv", "-t", "y", "--decimal", "dot"], "--decimal:", "auto, point or comma", code=2)
        self.fails(["fit", "t.csv", "-t", "y", "--stream", "--decimal", "comma"], "--stream reads CSV as it should be", code=2)
        rows = "".join(f"{i % 12 + 1:02d}/{i // 12 + 1:02d}/2024;{i}\n" for i in range(24))
        self.write("d.csv", "when;y\n" + rows)
        self.fails(["fit", "d.csv", "-t", "y", "-f", "when"], "--dates day or month")
        for order, first in (("day", "2024-01-01"), ("month", "2024-01-01")):
            code, out, err = self.run_tool("fit", "d.csv", "-t", "y", "--dates", order, "--dry-run")
            self.assertIn(f"date (days since {first})", out)

    def test_r_and_numpy(self):
        """Files as write.csv, write.table(sep = ",") and numpy.savetxt write them."""
        rows = [(i / 4, round(math.cos(i), 3)) for i in range(20)]
        plain = "a,y\n" + "".join(f"{a},{y}\n" for a, y in rows)
        made = {"csv": '"","a","y"\n' + "".join(f'"{i + 1}",{a},{y}\n' for i, (a, y) in enumerate(rows)),
                "table": '"a","y"\n' + "".join(f'"{i + 1}",{a},{y}\n' for i, (a, y) in enumerate(rows)),
                "pandas": ",a,y\n" + "".join(f"{i},{a},{y}\n" for i, (a, y) in enumerate(rows)),
                "numpy": "# a,y\n" + "".join(f"{a:.18e},{y:.18e}\n" for a, y in rows)}
        self.write("plain.csv", plain)
        expected = json.loads(self.ok("fit", "plain.csv", "-t", "y", "--json", *FAST))
        for name, text in made.items():
            self.write("t.csv", text)
            code, out, err = self.run_tool("fit", "t.csv", "-t", "y", "--json", *FAST)
            self.assertEqual(code, 0, (name, err))
            self.assertEqual(json.loads(out)["parameters"], expected["parameters"], name)
            self.assertIn("names of rows" if name != "numpy" else "behind a #", err)
        self.write("t.csv", plain.split("\n", 1)[1])
        code, out, err = self.run_tool("fit", "t.csv", "-t", "V2", "--json", *FAST)
        self.assertIn("the columns are called V1 to V2", err)
        self.assertEqual([p["value"] for p in json.loads(out)["parameters"]], [p["value"] for p in expected["parameters"]])


if __name__ == "__main__":
    unittest.main()
