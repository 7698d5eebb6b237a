# SPDX-License-Identifier: Apache-2.0
"""The bed of tables: files, index and README agree; the program that judges the default by them damages what it says,
goes on where it was stopped, and sums up."""
import csv
import glob
import json
import os
import random
import re
import unittest

from test_experiments import FOLDER, Experiment
from toolcase import SOURCE

BED = os.path.join(SOURCE, "data", "bed")


LOOKED_AT = ("beaver", "nottem", "rock", "www_usage")  # by choices about the default


def half_of(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return "tune" if value % 2 or name in LOOKED_AT else "held"


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def index():
    with open(os.path.join(BED, "tables.csv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Tables(unittest.TestCase):
    def test_the_index_names_each_file(self):
        names = [row["name"] for row in index()]
        files = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(BED, "*.csv"))} - {"tables"}
        self.assertEqual(names, sorted(files))
        self.assertGreaterEqual(len(names), 60)

    def test_the_index_agrees_with_the_files(self):
        for entry in index():
            with self.subTest(entry["name"]):
                head, *rows = rows_of(os.path.join(BED, entry["name"] + ".csv"))
                self.assertEqual((len(rows), len(head) - 1), (int(entry["rows"]), int(entry["inputs"])))
                self.assertEqual(len(set(head)), len(head))
                self.assertEqual(entry["half"], half_of(entry["name"]))
                for row in rows:
                    self.assertEqual(len([float(value) for value in row]), len(head))
                self.assertGreater(len({row[-1] for row in rows}), 3)
                known = [int(row) for row in entry["known"].split()]
                self.assertTrue(all(1 <= row <= len(rows) for row in known))
                self.assertEqual(known, sorted(set(known)))

    def test_the_halves_are_about_even(self):
        held = [entry for entry in index() if entry["half"] == "held"]
        self.assertTrue(0.4 < len(held) / len(index()) < 0.6)

    def test_the_readme_tells_of_each_table(self):
        with open(os.path.join(BED, "README.md"), encoding="utf-8") as file:
            text = " ".join(file.read().split())
        for entry in index():
            *inputs, target = rows_of(os.path.join(BED, entry["name"] + ".csv"))[0]
            self.assertIn(f"- `{entry['name']}` ({entry['package']}): {entry['what']}. `{target}` from {', '.join(inputs)}.",
                          text)


TIMES = ("seconds", "cpu_seconds", "predict_seconds", "megabytes")
ONE = ("one_6", "one_10", "one_20", "one_x10", "one_zero", "one_sign")
PROGRAM = os.path.join(FOLDER, "hf-reproduce-default-bed")


@unittest.skipUnless(os.path.exists(PROGRAM), "the experiments are not built")
class Program(Experiment):
    def bed(self, *options):
        return self.good("default-bed", "--tables", "women,pressure", "--splits", "0..1", *options)

    def own(self):
        """A folder with two tables of its own: one of a line far from zero, one too small to be split."""
        rng = random.Random(3)
        os.makedirs(self.path("data/bed"))
        self.write("data/bed/tables.csv", "name,known\nline,3 4\nfew,2\n")
        text = "x,y\n"
        for i in range(40):
            text += f"{i},{1000 + 10 * i + 5 * rng.gauss(0, 1) + 2000 * (i in (2, 3))}\n"
        self.write("data/bed/line.csv", text)
        self.write("data/bed/few.csv", "x,y\n1,2\n2,9\n3,3\n4,4.5\n")
        return ["--data", "data"]

    def test_help_and_mistakes(self):
        self.assertTrue(self.good("default-bed", "--help").startswith("usage: default-bed "))
        for options in (["--half", "both"], ["--tables", "boston"], ["--kinds", "one"], ["--methods", "rcgp"], ["--most", "5"]):
            code, out, err = self.start("default-bed", *options)
            self.assertEqual((code, out), (2, ""), options)
            self.assertIn(options[1], err)
        self.assertIn("default-bed", self.ok("reproduce").split())

    def test_records_and_report(self):
        out = self.bed("--json", "r.jsonl")
        lines = self.lines("r.jsonl")
        self.assertEqual({line["set"] for line in lines}, {"women", "pressure"})
        for line in lines:
            self.assertNotEqual((line["kind"], line["method"]), ("none", "oracle"))
            if line["kind"] in ONE:
                self.assertEqual(line["wrong"], 1)
            if line["kind"] == "clustered" and line["share"] == 0.25:
                self.assertEqual(line["wrong"], line["train"] // 4)
            self.assertGreater(line["band"], 0)
            self.assertLessEqual(line["found"], line["suspected"])
            aside = line["aside"].split()
            self.assertEqual(len(aside), line["found"] + line["false"])
            self.assertTrue(set(aside) <= set(line["suspect"].split()))
        self.assertTrue(any(line["found"] for line in lines))
        self.assertEqual({line["test"] for line in lines}, {3})
        # A share of 2 % of 12 or 16 rows is no reading; women weigh so much that zero is always wrong.
        self.assertEqual({line["share"] for line in lines}, {0.0, 0.1, 0.25})
        zeros = [line for line in lines if (line["kind"], line["set"], line["method"]) == ("one_zero", "women", "gp")]
        self.assertEqual(len(zeros), 2)
        clean = [line for line in lines if line["kind"] == "none" and line["method"] == "default" and line["set"] == "women"]
        self.assertEqual([line["split"] for line in clean], [0, 1])
        half = out[out.index("### The half tune"):]
        row = re.search(r"^\| women \| 15 \| 1 \| [\d.]+ \| ([\d.]+) \|", half, re.M)
        self.assertAlmostEqual(float(row[1]), sum(line["rmse"] for line in clean) / 2, delta=6e-4)
        ten = [line for line in lines if (line["kind"], line["method"], line["set"]) == ("one_10", "default", "women")]
        found, suspected = (sum(line[key] for line in ten) for key in ("found", "suspected"))
        self.assertIn(f"| one_10 | 2 | 2 | {suspected} | {found} |", half)
        self.assertEqual(out, self.bed("--json", "r.jsonl", "--report"))

    def test_it_goes_on_and_reads_old_lines(self):
        options = ["--kinds", "none,one_10,shift", "--json", "r.jsonl"]
        self.bed(*options)
        whole = self.lines("r.jsonl")
        kept = [{key: value for key, value in line.items() if key not in ("suspected", "band", "objective", "aside", "suspect")}
                for line in whole[:4]]
        self.write("r.jsonl", "".join(json.dumps(line) + "\n" for line in kept))
        self.bed(*options)
        again = self.lines("r.jsonl")
        self.assertEqual(again[:4], kept)
        for new, old in zip(again[4:], whole[4:], strict=True):
            self.assertEqual({k: v for k, v in new.items() if k not in TIMES}, {k: v for k, v in old.items() if k not in TIMES})

    def test_rows_known_to_be_odd(self):
        out = self.good("default-bed", *self.own(), "--kinds", "known", "--json", "r.jsonl")
        self.assertIn("| line | 40 | 3 4 | 3 4 | | | |", out)
        self.assertEqual({(line["set"], line["wrong"], line["train"]) for line in self.lines("r.jsonl")},
                         {("line", 2, 40), ("few", 1, 4)})

    def test_fewer_rows_and_halves(self):
        options = [*self.own(), "--kinds", "none", "--splits", "0", "--methods", "gp", "--json"]
        self.good("default-bed", *options, "most.jsonl", "--most", "20")
        self.assertEqual([(line["train"], line["test"]) for line in self.lines("most.jsonl")], [(16, 4)])
        self.good("default-bed", *options, "half.jsonl", "--half", "tune" if half_of("line") == "held" else "held")
        self.assertEqual(self.lines("half.jsonl"), [])

    def test_restarts(self):
        out = self.bed("--restarts", "--json", "r.jsonl")
        lines = self.lines("r.jsonl")
        gain = {}
        for line in lines:
            sign = 1 if line["method"] == "restarts" else -1
            place = line["set"], line["split"]
            gain[place] = gain.get(place, 0) + sign * line["objective"]
        self.assertEqual(len(gain), 4)
        self.assertTrue(all(value > -1e-3 for value in gain.values()))
        named = sum(value > 5 for value in gain.values())
        self.assertIn(f"{named} of 4 fits gained more than 5 nats", out)


if __name__ == "__main__":
    unittest.main()
