# SPDX-License-Identifier: Apache-2.0
"""Results pages: what they print is what the commands print today, for commands of a few seconds.

Columns of seconds are not compared. Figures may differ by 2 % or by two units of the last digit that is printed, which is
far more than another processor makes of them and far less than another verdict does."""
import os
import re
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

BUILD = os.environ.get("HF_BUILD", os.path.join(SOURCE, "build"))
DATA = os.environ.get("HOLDFAST_DATA", os.path.join(SOURCE, "../shared/data"))
NUMBER = re.compile(r"^-?[\d.]+(?:e[+-]?\d+)?$")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables(text):
    """By header: rows of cells by their first cell, and which columns are times."""
    found, header = {}, None
    for line in text.split("\n"):
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = line
            found[header] = {}
        elif not line.startswith("|---"):
            found[header][cells(line)[0]] = cells(line)
    return found


def digits(text):
    return len(text.partition("e")[0].partition(".")[2])


class Pages(ToolCase):
    def same(self, printed, now, where):
        for a, b in zip(re.split("[;%±/ ]+", printed), re.split("[;%±/ ]+", now), strict=True):
            if not NUMBER.match(a):
                self.assertEqual(a, b, where)
                continue
            last = 10.0 ** -digits(a) * (10.0 ** int(a.partition("e")[2]) if "e" in a else 1.0)
            self.assertAlmostEqual(float(a), float(b), delta=max(0.02 * abs(float(a)), 2 * last), msg=where)

    def compare(self, page, name, *arguments):
        with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
            printed = tables(file.read())
        program = os.path.join(BUILD, "experiments", "hf-reproduce-" + name)
        done = subprocess.run([program, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 77:
            self.skipTest("the data of %s are not here" % name)
        self.assertEqual(done.returncode, 0, done.stderr)
        fresh = tables(done.stdout)
        self.assertTrue(fresh)
        for header, rows in fresh.items():
            self.assertIn(header, printed, page)
            times = {k for k, cell in enumerate(cells(header)) if cell in ("s", "CPU s")}
            for first, row in rows.items():
                self.assertIn(first, printed[header], page)
                self.assertEqual(len(row), len(printed[header][first]))
                for k in set(range(len(row))) - times:
                    self.same(printed[header][first][k], row[k], "%s: %s, column %d" % (page, first, k))

    def test_influence(self):
        self.compare("results-rcagp.md", "rcagp-influence")

    def test_kernels(self):
        self.compare("kernels.md", "kernel-draws")

    def test_flash_crash(self):
        self.compare("results-rcagp.md", "rcagp-flash-crash", "--data", DATA)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "experiments", "hf-reproduce-rcagp-influence")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
