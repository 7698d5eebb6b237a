# SPDX-License-Identifier: Apache-2.0
"""Guides: the commands that these pages show run as they are printed, one after the other, and what a page prints of their output
is what they say."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from toolcase import SANITIZED, SOURCE, TOOL, ToolCase

sys.path.insert(0, os.path.join(SOURCE, "tests"))
import guide  # noqa: E402

EXAMPLES = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "examples")
STARTS = ("build/holdfast ", "holdfast ", "awk ", "printf ", "head ", "sed ", "cat ", "twin=")
# Commands of minutes, for the longer tests. Their seconds, and optima of a search that is long, are not compared.
LONG = ("compare data/diamonds-train.csv", "fit data/diamonds-train.csv --target length_mm,", "large.csv")
# Tables of the reader, which a page takes for granted.
GIVEN = {
    "../README.md": """awk 'BEGIN { print "x,y"; for (i = 0; i < 20; i++) print i "," 1.1 * i + 1 + 60 * (i == 6) }' > readings.csv
        printf 'x\\n2.5\\n3.5\\n' > new.csv""",
    "methods/several-outputs.md": """awk 'BEGIN { print "x,y1,y2,y3"; for (i = 0; i < 30; i++)
        print i / 5 "," sin(i / 5) "," cos(i / 5) "," sin(i / 5 + 1) }' > T.csv
        holdfast fit T.csv --target y1,y2,y3 --preset morcgp -o m.hf""",
}


def blocks(text):
    """The indented blocks of a page, as lists of lines without their indentation."""
    return [re.sub(r"^    ", "", match.group(0), flags=re.M).rstrip("\n").split("\n")
            for match in re.finditer(r"(?:^    \S.*\n(?:^    .*\n|^\n(?=    ))*)", text, re.M)]


def commands(text):
    """Commands that a reader would type: blocks of them, and the lines behind a '$ ' with the output that follows. (script, printed)"""
    for lines in blocks(text):
        if lines[0].startswith("$ "):
            typed = next(k for k, line in enumerate(lines) if not line.endswith("\\")) + 1
            yield "\n".join(lines[:typed])[2:], [line.strip() for line in lines[typed:] if line.strip() not in ("", "...")]
        elif lines[0].startswith(STARTS) and " reproduce " not in lines[0]:
            yield "\n".join(lines), []


def same(printed, now):
    """Whether two lines have the same words and nearly the same numbers: within 2 %, or two units of the last digit printed. A line
    that ends in dots is printed in part."""
    if printed.endswith("..."):
        printed = " ".join(printed[:-3].split())
        now = " ".join(now.split())[:len(printed)]
    a, b = (re.split(r"(-?\d+(?:\.\d+)?)", " ".join(line.split())) for line in (printed, now))
    return a[::2] == b[::2] and all(
        abs(float(x) - float(y)) <= max(0.02 * abs(float(x)), 2 * 10.0 ** -len(x.partition(".")[2]) if "." in x else 0)
        for x, y in zip(a[1::2], b[1::2]))


@unittest.skipIf(shutil.which("bash") is None, "no bash")
class Guides(ToolCase):
    def runs(self, page, least):
        os.mkdir(self.path("build"))
        os.symlink(TOOL, self.path("build/holdfast"))
        os.symlink(EXAMPLES, self.path("build/examples"))
        for folder in ("data", "src"):
            os.symlink(os.path.join(SOURCE, folder), self.path(folder))
        with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
            found = list(commands(file.read()))
        self.assertGreaterEqual(len(found), least, page)
        environment = {**os.environ, "PATH": f"{self.path('build')}:{os.environ['PATH']}"}
        for script, printed in [(GIVEN.get(page, "true"), []), *found]:
            long = any(word in script for word in LONG)
            if long and not os.environ.get("HF_TEST_ALL"):
                continue
            if script.startswith("build/examples/") and not os.path.exists(self.path(script)):
                continue
            # A message of an error may be piped on, and is then compared.
            strict = [] if printed else ["-o", "pipefail"]
            done = subprocess.run(["bash", "-e", *strict, "-c", script], cwd=self.folder, env=environment,
                                  capture_output=True, text=True, timeout=1000 if long else 200, check=False)
            self.assertEqual(done.returncode, 0, (page, script, done.stderr))
            said = (done.stdout + done.stderr).split("\n")
            for line in [] if long else printed:
                self.assertTrue(any(same(line, other) for other in said), (page, script, line, said))

    def test_overview(self):
        self.runs("../README.md", 13)

    def test_kernels(self):
        self.runs("kernels.md", 5)

    def test_choosing(self):
        self.runs("choosing.md", 18)

    def test_posterior(self):
        self.runs("posterior.md", 7)

    def test_certificates(self):
        self.runs("certificates.md", 15)

    def test_export(self):
        self.runs("export.md", 2)

    def test_study(self):
        self.runs("study.md", 2)

    def test_large_tables(self):
        self.runs("methods/budget.md", 1)

    def test_certified_classes(self):
        self.runs("methods/certify.md", 1)

    def test_classification(self):
        self.runs("methods/classification.md", 2)

    def test_counts(self):
        self.runs("methods/counts.md", 1)

    def test_expert(self):
        self.runs("methods/expert.md", 2)

    def test_several_outputs(self):
        self.runs("methods/several-outputs.md", 4)

    def test_start(self):
        self.runs("start.md", 2)
        for name in ("predictions.csv", "boston.svg", "boston.html"):
            self.assertTrue(os.path.getsize(self.path(name)), name)

    def test_start_is_short(self):
        """A fit, a picture and a page: three commands, six lines of Python, fifteen of C."""
        for label, lines in (("Shell", 3), ("Python", 6), ("C", 15)):
            self.assertEqual(len(guide.tabs(SOURCE, label)[0].strip().split("\n")), lines, label)

    @unittest.skipIf(SANITIZED, "Python is not sanitized")
    def test_start_in_python(self):
        build = os.path.dirname(TOOL)
        environment = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "bindings", "python"),
                       "HOLDFAST_LIBRARY": os.path.join(build, "libholdfast.so"), "MPLBACKEND": "Agg"}
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        done = subprocess.run([sys.executable, "-c", "\n".join(guide.tabs(SOURCE, "Python"))], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.getsize(self.path("boston.png")) and os.path.getsize(self.path("boston.html")))

    @unittest.skipIf(SANITIZED, "programs of readers are not sanitized")
    def test_start_in_c(self):
        build, whole, rest = os.path.dirname(TOOL), *guide.tabs(SOURCE, "C")
        # The second block goes on in the first, before its model is freed.
        code = whole.replace("    hf_model_free(model);", "    hf_table *rows = NULL;\n    {" + rest + "    }\n"
                             "    hf_table_free(rows);\n    hf_model_free(model);")
        with open(self.path("start.c"), "w", encoding="utf-8") as file:
            file.write(code.replace("    {    hf_status s =", "    {\n    s ="))
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        shutil.copy(os.path.join(SOURCE, "data", "boston.csv"), self.path("new.csv"))
        made = subprocess.run(["cc", "-std=c17", "-Wall", "-Werror", f"-I{SOURCE}/include", "start.c", "-o", "start", f"-L{build}", "-lholdfast",
                               f"-Wl,-rpath,{build}"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(subprocess.run(["./start"], cwd=self.folder, timeout=100, check=False).returncode, 0)
        self.assertTrue(os.path.getsize(self.path("predictions.csv")) and os.path.getsize(self.path("boston.html")))


class Reader(unittest.TestCase):
    def test_same(self):
        self.assertTrue(same("  a 1.50 b, 7 of 12", "a 1.51 b, 7 of 12"))
        for other in ("a 1.50 b, 8 of 12", "a 1.50 c, 7 of 12", "a 1.60 b, 7 of 12", "a 1.50 b, 7"):
            self.assertFalse(same("a 1.50 b, 7 of 12", other), other)

    def test_blocks(self):
        text = "words\n\n    build/holdfast fit \\\n        -o m\n\n    $ build/holdfast x\n    ...\n      said\n\nwords\n\n    se + linear\n"
        self.assertEqual([lines[0] for lines in blocks(text)], ["build/holdfast fit \\", "se + linear"])
        text = text.replace("-o m\n\n", "-o m\n\nwords\n\n")
        self.assertEqual(list(commands(text)), [("build/holdfast fit \\\n    -o m", []), ("build/holdfast x", ["said"])])


if __name__ == "__main__":
    unittest.main()
