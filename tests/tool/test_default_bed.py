# SPDX-License-Identifier: Apache-2.0
"""The bed of tables: files, index and README agree."""
import csv
import glob
import os
import unittest

from toolcase import SOURCE

BED = os.path.join(SOURCE, "data", "bed")


def half_of(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return "tune" if value % 2 else "held"


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
            self.assertIn(f"- `{entry['name']}` ({entry['package']}): {entry['what']}. ", text)


if __name__ == "__main__":
    unittest.main()
