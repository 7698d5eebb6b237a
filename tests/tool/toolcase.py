# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests of the tool share: running it in a folder of its own, and looking at what came out."""
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ.get("HF_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TOOL = os.path.abspath(os.environ.get("HOLDFAST", "holdfast"))
SANITIZED = os.environ.get("HF_SANITIZED") == "ON"
VERBS = ["fit", "predict", "score", "compare", "inspect", "export", "report", "plot", "bound", "norm", "certify", "extremum", "attack", "explain",
         "expert", "track", "study", "contaminate", "reproduce", "doctor"]
PARTS = ["track " + part for part in ("create", "ask", "tell", "refresh", "show", "plot", "advise", "undo")]  # verbs of a verb
PARTS += ["study " + part for part in ("create", "ask", "tell", "fail", "import", "export", "best", "show", "plot", "label", "expert", "undo")]


class ToolCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-tool-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name, mode="r"):
        with open(self.path(name), mode) as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def run_tool(self, *arguments, stdin=None, env=None):
        """(exit status, standard output, standard error)"""
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              input=stdin, timeout=200, env=env, stdin=None if stdin is not None else subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def ok(self, *arguments, stdin=None, quiet=True):
        """Output of a run that must succeed, and say nothing on standard error."""
        code, out, err = self.run_tool(*arguments, stdin=stdin)
        self.assertEqual(code, 0, err)
        if quiet:
            self.assertEqual(err, "")
        return out

    def fails(self, arguments, *parts, code=1, stdin=None):
        """A run that must fail with a message holding the parts, print nothing else, and leave the folder as it was."""
        before = self.files()
        status, out, err = self.run_tool(*arguments, stdin=stdin)
        self.assertEqual(status, code, (arguments, out, err))
        self.assertEqual(out, "", arguments)
        self.assertTrue(err.startswith("holdfast: "), err)
        for part in parts:
            self.assertIn(part, err)
        self.assertEqual(self.files(), before)
        return err

    def wave(self, name="wave.csv", rows=40, bad=()):
        """y = wavy(a) + b / 2, with the rows in `bad` (from 1) far off."""
        import math
        lines = ["a,b,y"]
        for i in range(1, rows + 1):
            a, b = (i * 37 % rows) / 8, math.cos(3 * i)
            y = math.sin(a) + b / 2 + 0.03 * math.sin(61 * i * i) + (9 if i in bad else 0)
            lines.append("%.6g,%.6g,%.6g" % (a, b, y))
        return self.write(name, "\n".join(lines) + "\n")


def table(text):
    """CSV text as a dictionary of columns; numbers where all fields are."""
    import csv
    import io
    rows = list(csv.reader(io.StringIO(text)))
    columns = {}
    for j, name in enumerate(rows[0]):
        column = [row[j] for row in rows[1:]]
        try:
            columns[name] = [float(field) if field else float("nan") for field in column]
        except ValueError:
            columns[name] = column
    return columns
