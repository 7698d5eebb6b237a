# SPDX-License-Identifier: Apache-2.0
"""Bad tables, bad files, bad places: a message with file, line and column, exit status 1, nothing left behind."""
import os
import re
import signal
import subprocess
import time
import unittest

from toolcase import TOOL, ToolCase, table


class Tables(ToolCase):
    def refuse(self, text, *parts, more=()):
        self.write("t.csv", text)
        return self.fails(["fit", "t.csv", "--target", "y", "-o", "m.hf", *more], *parts)

    def test_text_in_numbers(self):
        self.refuse("a,y\n1,2\n2,3\n3,oops\n", 't.csv: line 4, column 2 ("y"): "oops" is not a number')
        self.refuse("a,y\n1,2\nx,3\n3,4\n", 't.csv: line 3, column 1 ("a"): "x" is not a number')
        self.refuse('a,y\n1,2\n2,"3,456"\n', "line 3, column 2", "say which the decimal mark is (--decimal point or comma)")

    def test_infinite_values(self):
        self.refuse("a,y\n1,2\n2,inf\n", 't.csv, line 3, column "y": the value is infinite')
        self.refuse("a,y\n1,2\n-Infinity,3\n", 't.csv, line 3, column "a"')
        self.refuse("a,y\n1,2\n2,1e999\n", "t.csv, line 3")

    def test_ragged_and_broken_csv(self):
        self.refuse("a,y\n1,2\n2\n", "t.csv", "line 3")
        self.refuse("a,y\n1,2\n2,3,4\n", "t.csv", "line 3")
        self.refuse('a,y\n1,"2\n3,4\n', "t.csv", "line")
        self.refuse("a,a,y\n1,2,3\n", "t.csv", '"a"')
        self.refuse("", "t.csv")
        self.fails(["fit", "none.csv", "--target", "y"], "none.csv")
        self.fails(["fit", ".", "--target", "y"], ".")

    def test_missing_columns(self):
        self.write("t.csv", "length,height\n1,2\n2,3\n")
        self.fails(["fit", "t.csv", "--target", "heigth"], "t.csv", "heigth", "height")
        self.fails(["fit", "t.csv", "--target", "height", "--features", "lenght"], "t.csv", "lenght", "length")
        self.fails(["fit", "t.csv", "--target", "height", "--drop", "x"], "t.csv", "x")
        self.fails(["fit", "t.csv", "--target", "height", "--noise-column", "heigh"], "height")

    def test_target_as_a_feature(self):
        self.refuse("a,y\n1,2\n", '"y" cannot be the target and an input', more=["--features", "a,y"])

    def test_no_rows(self):
        self.refuse("a,y\n", "t.csv: no rows")
        self.refuse("a,y\n1,\n2,NA\n", "t.csv", "no value")
        self.refuse("a,y\n,1\n", "t.csv", "missing input")

    def test_bad_settings(self):
        self.refuse("a,y\n1,2\n2,3\n", "^", more=["--kernel", "matern52(ard) + perodic(a)"])
        self.refuse("a,y\n1,2\n2,3\n", "zzz", more=["--set", "zzz=1"])
        self.refuse("a,y\n1,2\n2,3\n", "lengthscale", more=["--set", "lengthscale=-1"])

    def test_shapes_that_work(self):
        """One row, constants, duplicates, huge values, gaps: fitted, with a word on standard error where one is due."""
        cases = [("a,y\n1,5\n", None), ("a,y\n" + "1,5\n2,5\n3,5\n", "same value in every row"),
                 ("a,c,y\n1,7,5\n2,7,6\n3,7,5.5\n", 'input "c" has the same value'), ("a,y\n" + "1,5\n1,6\n" * 5, None),
                 ("a,y\n1e300,1\n2e300,2\n-1e300,3\n", None), ("a,y\n1,1e150\n2,-1e150\n3,0\n4,1e149\n", None),
                 ("a,y\n1,1\n,2\n3,3\n4,\n", "1 of 4 rows left out"), ("a,who,y\n1,ann,1\n2,bob,2\n", '"who"')]
        for text, warning in cases:
            self.write("t.csv", text)
            code, _, err = self.run_tool("fit", "t.csv", "--target", "y", "-o", "m.hf")
            self.assertEqual(code, 0, (text, err))
            if warning:
                self.assertIn(warning, err)
                self.assertTrue(err.startswith("holdfast: warning: "))
            predicted = table(self.ok("predict", "m.hf", "t.csv", "-q"))
            complete = [m for m, a in zip(predicted["y_mean"], predicted["a"]) if a == a]
            self.assertTrue(all(m == m and abs(m) < 1e301 for m in complete), text)

    def test_quiet_silences_warnings(self):
        self.write("t.csv", "a,y\n1,5\n2,5\n")
        self.assertEqual(self.run_tool("fit", "t.csv", "--target", "y", "-q")[2], "")

    def test_many_columns(self):
        columns = 100000
        header = ",".join("c%d" % j for j in range(columns))
        rows = [",".join(str((i * j * 31) % 97) for j in range(columns)) for i in range(1, 4)]
        self.write("wide.csv", header + "\n" + "\n".join(rows) + "\n")
        code, out, err = self.run_tool("fit", "wide.csv", "--target", "c5", "--features", "c1,c99999", "-o", "m.hf")
        self.assertEqual(code, 0, err)
        err = self.fails(["fit", "wide.csv", "--target", "c100001"], "wide.csv", "c100001")
        self.assertLess(len(err), 2000)

    def test_values_whose_squares_are_no_doubles(self):
        self.refuse("a,y\n1,1e300\n2,-1e300\n3,0\n4,1e299\n", "the target", "other units")


class Places(ToolCase):
    def test_unwritable_output(self):
        self.wave()
        fit = ["fit", "wave.csv", "--target", "y", "-o"]
        self.fails(fit + ["no/such/m.hf"], "no/such/m.hf", "No such file")
        self.fails(fit + ["."], ".")
        self.fails(fit + ["/dev/full"], "/dev/full")
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        for arguments in (["predict", "m.hf", "wave.csv", "-o"], ["inspect", "m.hf", "--rows"],
                          ["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "-o"]):
            self.fails(arguments + ["no/such.csv"], "no/such.csv")
            self.fails(arguments + ["/dev/full"], "/dev/full")
        self.fails(["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "-o", "/dev/full", "--mask", "k.csv"],
                   "/dev/full")
        self.assertEqual(self.files(), ["m.hf", "wave.csv"])

    def test_an_older_file_survives_a_failure(self):
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        before = self.read("m.hf", "rb")
        self.write("bad.csv", "a,y\n1,inf\n")
        self.fails(["fit", "bad.csv", "--target", "y", "-o", "m.hf"], "bad.csv")
        self.assertEqual(self.read("m.hf", "rb"), before)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        self.wave()
        os.mkdir(self.path("locked"), 0o500)
        self.fails(["fit", "wave.csv", "--target", "y", "-o", "locked/m.hf"], "Permission denied")

    def test_standard_output_full(self):
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        for arguments in (["predict", "m.hf", "wave.csv"], ["score", "m.hf", "wave.csv"], ["inspect", "m.hf"],
                          ["inspect", "m.hf", "--json"], ["fit", "wave.csv", "--target", "y"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TOOL, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, arguments)

    def test_json_that_standard_output_does_not_take(self):
        """JSON beyond the first buffer fails before the end of the verb, and the reason is told all the same."""
        self.wave(rows=12)
        self.ok("study", "create", "s.hf", "--real", "x=0:1", "--minimise", "loss")
        models = [option for k in range(20) for option in ("-k", "se(lengthscale=%d)" % (k + 1))]
        for arguments in (["compare", "wave.csv", "--target", "y", *models, "--folds", "2"],
                          ["study", "ask", "s.hf", "-n", "40"], ["study", "show", "s.hf", "--trials"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TOOL, *arguments, "--json", "-q"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("holdfast: standard output: cannot be written: No space left on device\n", done.stderr, arguments)

    def test_disk_full(self):
        """A file size limit stands in for a full disk: the write fails half-way."""
        self.wave(rows=300)
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        os.rename(self.path("m.hf"), self.path("old.hf"))
        before = self.files()
        for arguments in (["fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf"],
                          ["predict", "old.hf", "wave.csv", "-o", "p.csv"]):
            done = subprocess.run(["bash", "-c", 'ulimit -f 4; exec "$@"', "-", TOOL, *arguments],
                                  cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("too large", done.stderr)
            self.assertEqual(self.files(), before)


class Models(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=12)
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        self.bytes = self.read("m.hf", "rb")

    def refuse(self, content, *parts):
        self.write("bad.hf", content)
        for arguments in (["predict", "bad.hf", "wave.csv", "-o", "p.csv"], ["score", "bad.hf", "wave.csv"],
                          ["inspect", "bad.hf"], ["plot", "bad.hf", "--data-only", "-o", "p.svg"]):
            self.fails(arguments, "bad.hf: ", *parts)

    def test_files_that_are_no_models(self):
        self.refuse(b"", "empty")
        self.refuse(self.read("wave.csv", "rb"), "not a Holdfast model file but text")
        self.refuse(os.urandom(5000), "not a Holdfast model")
        self.fails(["score", "none.hf", "wave.csv"], "none.hf")
        import sqlite3
        sqlite3.connect(self.path("other.hf")).executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        self.refuse(self.read("other.hf", "rb"), "SQLite database, but not a Holdfast model")

    def test_truncated(self):
        for size in (1, 15, 100, 600, 4096, len(self.bytes) // 2, len(self.bytes) - 1):
            self.refuse(self.bytes[:size], "not a Holdfast model" if size < 16 else "truncated")

    def test_flipped_bits(self):
        for needle in (b"wave.csv", b"matern52(ard)", b"anchor_weight", b"content_sha256"):
            at = self.bytes.rindex(needle)
            flipped = bytearray(self.bytes)
            flipped[at + 2] ^= 4
            self.refuse(bytes(flipped), "damaged")
        import struct
        first = table(self.read("wave.csv"))["y"][0]
        flipped = bytearray(self.bytes)
        flipped[self.bytes.index(struct.pack("<d", first)) + 5] ^= 1
        self.refuse(bytes(flipped), "checksum")

    def test_newer_version(self):
        newer = bytearray(self.bytes)
        newer[63] = 9
        self.refuse(bytes(newer), "newer Holdfast (format 9")

    def test_tables_that_do_not_fit_the_model(self):
        self.write("lacking.csv", "a,B\n1,2\n")
        self.fails(["predict", "m.hf", "lacking.csv"], "lacking.csv", '"b"', "B")
        self.write("text.csv", "a,b\n1,2\n1,x\n")
        self.fails(["predict", "m.hf", "text.csv"], "text.csv: line 3, column 2")
        self.write("inf.csv", "a,b\n1,2\n1,inf\n")
        self.fails(["predict", "m.hf", "inf.csv"], 'inf.csv, line 3, column "b"')
        self.write("blind.csv", "a,b\n1,2\n")
        self.fails(["score", "m.hf", "blind.csv"], "blind.csv", '"y"')
        self.write("gaps.csv", "a,b\n1,0.5\n,2\n")
        code, out, err = self.run_tool("predict", "m.hf", "gaps.csv")
        self.assertEqual((code, err), (0, "holdfast: warning: gaps.csv: 1 of 2 rows have a missing input and get no prediction\n"))
        self.assertEqual(out.split("\n")[2], ",2,,,,,")


class Interrupts(ToolCase):
    def test_one_signal_stops_and_leaves_nothing(self):
        self.wave(rows=900)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            run = subprocess.Popen([TOOL, "fit", "wave.csv", "--target", "y", "--restarts", "50", "-o", "m.hf"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1.5)
            run.send_signal(number)
            out, err = run.communicate(timeout=120)
            self.assertEqual((run.returncode, out), (code, ""), err)
            self.assertEqual(err, "holdfast: stopped; nothing was written\n")
            self.assertEqual(self.files(), ["wave.csv"])

    def test_while_waiting_for_standard_input(self):
        run = subprocess.Popen([TOOL, "fit", "-", "--target", "y", "-o", "m.hf"], cwd=self.folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), 130)
        self.assertEqual(self.files(), [])
        run.stdin.close()
        run.stdout.close()
        run.stderr.close()


if __name__ == "__main__":
    unittest.main()
