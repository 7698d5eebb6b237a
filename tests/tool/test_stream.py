# SPDX-License-Identifier: Apache-2.0
"""Tables that are read in parts: the same use as any other fit, a cache that is trusted only while it fits its table."""
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import unittest

from toolcase import ToolCase, table

FIT = ["fit", "wave.csv", "--target", "y", "--stream", "--inducing", "30", "--iterations", "20", "--minibatch", "50"]


class Stream(ToolCase):
    def setUp(self):
        super().setUp()
        self.table(500)

    def table(self, rows):
        """y = sin(a) + b / 2 with every 25th reading far off, in a range that 30 inducing inputs can follow."""
        lines = ["a,b,y"]
        for i in range(1, rows + 1):
            a, b = i * 37 % 501 / 80, math.cos(3 * i)
            y = math.sin(a) + b / 2 + 0.03 * math.sin(61 * i * i) + (9 if i % 25 == 7 else 0)
            lines.append("%.6g,%.6g,%.6g" % (a, b, y))
        self.write("wave.csv", "\n".join(lines) + "\n")

    def test_a_streamed_fit_is_used_as_any_other(self):
        out = self.ok(*FIT, "-o", "m.hf", "-q")
        self.assertEqual(self.files(), ["m.hf", "wave.csv", "wave.csv.hfcache"])
        self.assertIn("\nsites        robust, ", out)
        self.assertRegex(out, r"\nsolver       inducing, 30 inducing inputs, vfe, 50 rows a step\n")
        self.assertRegex(out, r"\nSuspected readings: \d+ of 500, weight below 1/4\n\nHyperparameters")
        predicted = table(self.ok("predict", "m.hf", "wave.csv"))
        errors = [abs(m - math.sin(a) - b / 2) for m, a, b in zip(predicted["y_mean"], predicted["a"], predicted["b"])]
        self.assertLess(sum(errors) / len(errors), 0.1)
        report = json.loads(self.ok("inspect", "m.hf", "--json"))
        self.assertIsNone(report["suspects"])
        self.assertTrue(15 <= report["report"]["suspects"] <= 25)  # of 20; a twentieth is kept out to calibrate on
        self.assertIn("robust", report["notes"][0])
        self.assertEqual(self.ok("inspect", "m.hf").split("\n\nNotes")[0], out.split("\n\nSaved")[0])
        self.fails(["inspect", "m.hf", "--rows", "rows.csv"], "wave.csv", "read in parts")
        self.fails(["predict", "m.hf", "wave.csv", "--computational"], "inducing")

    def test_options_reach_it(self):
        report = json.loads(self.ok(*FIT, "-q", "--json", "--sites", "gaussian", "--cache", "numbers"))
        self.assertEqual((report["settings"]["minibatch"], report["settings"]["sites"]), (50, "gaussian"))
        self.assertEqual(self.files(), ["numbers", "wave.csv"])
        report = json.loads(self.ok(*FIT, "-q", "--json", "--preset", "student-t"))
        self.assertEqual(report["settings"]["sites"], "student-t")

    def test_the_cache_follows_the_table(self):
        def readings():
            return int(re.search(r"(\d+) readings", self.ok(*FIT, "-q"))[1])
        self.assertEqual(readings(), 500)
        made = os.stat(self.path("wave.csv.hfcache")).st_mtime_ns
        self.assertEqual(readings(), 500)
        self.assertEqual(os.stat(self.path("wave.csv.hfcache")).st_mtime_ns, made)
        self.table(400)
        self.assertEqual(readings(), 400)

    def test_packed_and_with_comments(self):
        def told(name):
            report = json.loads(self.ok("fit", name, *FIT[2:], "-q", "--json"))
            return report["parameters"], report["report"]["objective"], report["report"]["readings"], report["data_sha256"]
        plain = told("wave.csv")
        lines = self.read("wave.csv").splitlines(keepends=True)
        self.write("notes.csv", "# a wave\n" + "".join(lines[:200]) + "# changed, by hand\n#\n" + "".join(lines[200:]) + "# end")
        with open(self.path("notes.csv"), "rb") as file:
            text = file.read()
        with gzip.open(self.path("notes.csv.gz"), "wb") as file:
            file.write(text)
        names = ["notes.csv", "notes.csv.gz"]
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "notes.csv", "-o", "notes.csv.zst"], cwd=self.folder, check=True)
            names.append("notes.csv.zst")
        for name in names:
            self.assertEqual(told(name), plain, name)
        with open(self.path("notes.csv.gz"), "rb") as file:
            packed = file.read()
        self.write("cut.gz", packed[:len(packed) // 2])
        self.fails(["fit", "cut.gz", *FIT[2:]], "cut.gz: it is cut off: gzip expects more")
        self.assertNotIn("cut.gz.hfcache", self.files())

    def test_places_for_the_cache(self):
        self.write("mine.txt", "something of mine")
        self.fails(FIT + ["--cache", "mine.txt"], "mine.txt")
        self.assertEqual(self.read("mine.txt"), "something of mine")
        before = self.read("wave.csv")
        self.fails(FIT + ["--cache", "wave.csv"], "wave.csv")
        self.assertEqual(self.read("wave.csv"), before)
        self.fails(FIT + ["--cache", "no/such/cache"], "no/such/cache")
        self.fails(FIT + ["--cache", "/dev/full"], "/dev/full")

    def test_bad_tables(self):
        """The cache may stay: it is what the table says, good or bad."""
        for text, *parts in (("a,y\n1,2\n2,x\n", "wave.csv: line 3, column 2", '"x" is not a number'),
                             ("a,y\n1,2\n2\n", "wave.csv", "line 3"), ("a,y\n", "no rows")):
            self.write("wave.csv", text)
            code, out, err = self.run_tool(*FIT, "-o", "m.hf")
            self.assertEqual((code, out), (1, ""), text)
            for part in parts:
                self.assertIn(part, err)
            self.assertNotIn("m.hf", self.files())

    def test_wrong_usage(self):
        cases = [(FIT + ["--solver", "exact"], "--solver inducing"), (FIT + ["--suspects", "force"], "leave out --stream"),
                 (["fit", "-", "--target", "y", "--stream"], "standard input"), (FIT + ["--dry-run"], "leave it out"),
                 (["fit", "wave.csv", "--target", "y", "--cache", "c"], "--stream"), (FIT + ["--actions", "3"], "--solver projected"),
                 (FIT + ["--sites", "pursuit"], "relevance pursuit"), (FIT + ["--resume"], "--checkpoint"),
                 (FIT + ["--preset", "rcagp"], "--solver projected"), (FIT + ["--restarts", "2"], "--restarts")]
        for arguments, part in cases:
            code, out, err = self.run_tool(*arguments)
            self.assertEqual((code, out), (2, ""), (arguments, err))
            self.assertIn(part, err, arguments)
        self.assertEqual(self.files(), ["wave.csv"])


if __name__ == "__main__":
    unittest.main()
