# SPDX-License-Identifier: Apache-2.0
"""The tool under mpirun: the model of one process, one output, and errors that end all processes."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tool"))
from toolcase import TOOL, ToolCase, table  # noqa: E402

MPIEXEC = os.environ["MPIEXEC"].split(";")


class Processes(ToolCase):
    def together(self, *arguments):
        """(exit status, standard output, standard error) of two processes"""
        done = subprocess.run([*MPIEXEC, "2", TOOL, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=100, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def same(self, rows, *options):
        """One fit by one process and by two: the same report but for the time it took, predictions within what training makes of rounding."""
        data = self.wave(rows=rows, bad=(7, 20))
        fit = ["fit", data, "--target", "y", "--iterations", 3, *options, "-o"]
        self.ok(*fit, "one.hf", quiet=False)
        code, out, err = self.together(*fit, "two.hf")
        self.assertEqual(code, 0, err)
        self.assertEqual(sum(line.count("two.hf") for line in (out + err).split("\n")), 1, out + err)
        answers = [table(self.ok("predict", model, data, quiet=False)) for model in ("one.hf", "two.hf")]
        self.assertEqual(answers[0].keys(), answers[1].keys())
        for name, column in answers[0].items():
            for one, two in zip(column, answers[1][name]):
                self.assertAlmostEqual(one, two, delta=1e-6 * (1 + abs(one)), msg=name)

    def test_exact(self):
        self.same(1100, "--solver", "exact", "--preset", "gp")  # rows enough for the matrix to be shared

    def test_inducing(self):
        self.same(600, "--solver", "inducing", "--preset", "sgpr", "--inducing", 20)

    def test_projected(self):
        self.same(600, "--preset", "cagp", "--actions", 10)

    def test_errors(self):
        data = self.wave()
        before = self.files()
        for arguments, words in ((["--target", "nobody"], "nobody"), (["--target", "y", "--kernel", "sea"], "sea")):
            code, out, err = self.together("fit", data, *arguments)
            self.assertNotEqual(code, 0)
            self.assertEqual(out, "")
            self.assertEqual(err.count("holdfast: "), 1, err)
            self.assertIn(words, err)
            self.assertEqual(self.files(), before)

    def test_an_error_of_the_second(self):
        """It has another table, which is not there: the first would wait for it."""
        data = self.wave()
        arguments = ["--target", "y", "--solver", "inducing", "--inducing", "10"]
        done = subprocess.run([*MPIEXEC, "1", TOOL, "fit", data, *arguments, ":", MPIEXEC[1], "1", TOOL, "fit", "gone.csv", *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("gone.csv", done.stderr)
        self.assertEqual(self.files(), [data])


if __name__ == "__main__":
    unittest.main()
