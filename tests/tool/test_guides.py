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
# Commands of half a minute and more, for the longer tests. Their seconds, and optima of a search that is long, are not compared.
LONG = ("compare data/diamonds-train.csv", "fit data/diamonds-train.csv --target length_mm,", "plot sides.hf -o outputs.svg", "large.csv",
        "reproduce mo-rcgp-fig2 ", "reproduce envelope-example3 --json", "reproduce certified-fig3 --sets digits38",
        "certify iris.hf --at data/iris.csv")
# Commands that do not run here: the page or "" for any, words of the command, and why. An experiment is then still asked whether
# it knows its options, make whether it has the target, and scripts have to be there.
BUILDS, MINUTES, MEASURES = "builds, installs or tests the whole", "minutes to hours", "times a program for minutes"
EXCEPT = (
    ("", "--data DATA", "data of others"),
    *(("", f"reproduce {name}", MINUTES) for name in (
        "synthetic-noise", "robust-uci", "default-bed", "certified-values", "certified-fig2", "certified-fig4", "certified-fig5",
        "certified-fig6", "mo-rcgp-fig4", "mo-rcgp-fig5", "mo-rcgp-table", "envelope-example2", "envelope-example3 --exact",
        "envelope-tables", "envelope-effort", "rcagp-bo-", "rcagp-complexity", "bo-study", "sparq-", "class-accuracy")),
    ("", "reproduce rcagp-table1 --models", "data of others, and minutes"),
    ("", "certified-fig3 --sets synthetic2d,spam,mnist38 --json", "draws runs of hours"),
    ("", "make ", BUILDS),
    ("", "scripts/bench ", MEASURES),
    ("", "scripts/scaling", MEASURES),
    ("../README.md", "cc program.c", "needs the installed library: house.install"),
    ("building.md", "apt-get ", "needs root, and a mirror of Debian"),
    ("building.md", "dpkg-buildpackage", BUILDS),
    ("building.md", "scripts/compare-builds", "needs two builds: tool.test_compare_builds"),
    ("building.md", "scripts/aarch64-sysroot", "needs a mirror of Debian: the stage aarch64"),
    ("experiments.md", "peer_optimisers.py", "hours, with the software of others: tool.test_peer_optimisers"),
    ("export.md", "arm-none-eabi-gcc", "another processor: tool.test_export"),
    ("export.md", "qemu-system-arm", "another processor: tool.test_export"),
    ("performance.md", "million.csv", "a gigabyte, and minutes"),
    ("performance.md", "fit T.csv", "100 000 rows, and minutes"),
    ("python.md", "fuzz_calls.py", "a build with sanitizers, and minutes"),
    ("r.md", "time.R", "needs the installed package: r.test_package"),
    ("scaling.md", "mpirun", "another build: mpi.test_tool"),
)
# Replacements that make loops of a page short.
SHORTER = {"study.md": (("$(seq 40)", "$(seq 6)"), ("sleep 2", "sleep 0.1"), ("src/model/*.c", "src/model/c*.c")),
           "../README.md": (("$(seq 80)", "$(seq 40)"), ("$(seq 25)", "$(seq 12)"))}
# Files that a page takes for granted: commands, or a block of another page, by words in it.
GIVEN = {
    "experiments.md": ["cp experiments/peers/optimisers.csv peers.csv"],
    "tables.md": ["awk 'BEGIN { print \"a,b;c\"; print \"1,5;2\" }' | gzip > large.csv.gz"],
    "gallery.md": [("../README.md", "track create oven.hf"), ("study.md", "study create xz.hf")],
    "../README.md": ["""awk 'BEGIN { print "x,y"; for (i = 0; i < 20; i++) print i "," 1.1 * i + 1 + 60 * (i == 6) }' > readings.csv
        printf 'x\\n2.5\\n3.5\\n' > new.csv
        awk 'BEGIN { print "x,hours,faults"; for (i = 0; i < 20; i++) print i "," 10 + i "," i * i % 7 }' > repairs.csv"""],
}


def shorter(page, script):
    for long, short in SHORTER.get(page, ()):
        script = script.replace(long, short)
    return script


def given(page):
    """Scripts before those of a page."""
    for entry in GIVEN.get(page, []):
        if isinstance(entry, str):
            yield entry
            continue
        yield shorter(entry[0], next(script for script, _ in page_commands(entry[0]) if entry[1] in script))


def page_commands(page):
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
        return list(guide.commands(file.read()))


def exception(page, piece):
    """The first exception that a command falls under, or None."""
    return next((entry for entry in EXCEPT if entry[0] in ("", page) and entry[1] in piece), None)


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
    made = set()  # pictures that several pages, or a page several times, show how to make

    def prepare(self):
        os.mkdir(self.path("build"))
        os.makedirs(self.path("docs/pictures"))
        os.symlink(TOOL, self.path("build/holdfast"))
        os.symlink(EXAMPLES, self.path("build/examples"))
        for folder in ("data", "experiments", "src"):
            os.symlink(os.path.join(SOURCE, folder), self.path(folder))

    def one(self, page, script, printed):
        long = any(word in script for word in LONG)
        if long and not os.environ.get("HF_TEST_ALL"):
            return
        if script.startswith("build/examples/") and not os.path.exists(self.path(script)):
            return
        # A message of an error may be piped on, and is then compared.
        strict = [] if printed else ["-o", "pipefail"]
        done = subprocess.run(["bash", "-e", *strict, "-c", script], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.path('build')}:{os.environ['PATH']}"}, timeout=1000 if long else 200)
        self.assertEqual(done.returncode, 0, (page, script, done.stderr))
        said = (done.stdout + done.stderr).split("\n")
        for line in [] if long else printed:
            self.assertTrue(any(same(line, other) for other in said), (page, script, line, said))

    def runs(self, page):
        self.prepare()
        for script in given(page):
            self.one(page, script, [])
        for script, printed in page_commands(page):
            script = "\n".join(piece for piece in guide.pieces(script) if exception(page, piece) is None)
            if script and script not in self.made:
                self.one(page, shorter(page, script), printed)
            if re.match(r"(?:build/)?holdfast reproduce \S+ --picture \S+$", script):
                self.made.add(script)

    def test_exceptions(self):
        """Each has a command, which is as right as can be said without running it."""
        used = set()
        for page in guide.site(SOURCE):
            for piece in (piece for script, _ in page_commands(page) for piece in guide.pieces(script)):
                entry = exception(page, piece)
                if entry:
                    used.add(entry)
                    self.plausible(page, piece)
        self.assertEqual([entry for entry in EXCEPT if entry not in used], [], "exceptions without a command")

    def plausible(self, page, piece):
        piece = re.sub(r"\\\n|#.*", " ", piece)
        for target in re.findall(r"(?:^|&& )make ([a-z][a-z-]*)", piece):
            self.assertEqual(subprocess.run(["make", "-n", target], cwd=SOURCE, capture_output=True, check=False).returncode, 0, (page, piece))
        for program in re.findall(r"scripts/[a-z0-9-]+", piece):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, program)), (page, piece))
        for name, options in re.findall(r"holdfast reproduce ([a-z0-9-]+)([^|]*)", piece):
            done = subprocess.run([TOOL, "reproduce", name, "--help"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, (page, piece, done.stderr))
            for option in re.findall(r"(?<=\s)--[a-z0-9-]+", options):
                self.assertRegex(done.stdout, rf"{option}\b", (page, piece))

    def test_start(self):
        self.runs("start.md")
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


def tested(page):
    return lambda self: self.runs(page)


for place in guide.site(SOURCE):
    title = "test_page_" + re.sub(r"\W+", "_", place.replace("../", "").replace(".md", ""))
    if place != "start.md" and page_commands(place):
        setattr(Guides, title, tested(place))


class Reader(unittest.TestCase):
    def test_same(self):
        self.assertTrue(same("  a 1.50 b, 7 of 12", "a 1.51 b, 7 of 12"))
        for other in ("a 1.50 b, 8 of 12", "a 1.50 c, 7 of 12", "a 1.60 b, 7 of 12", "a 1.50 b, 7"):
            self.assertFalse(same("a 1.50 b, 7 of 12", other), other)

    def test_commands(self):
        text = ("words\n\n    build/holdfast fit \\\n        -o m\n\nor `holdfast fit t.csv\n-t y`\n\n    $ build/holdfast x\n    ...\n"
                "      said\n\nwords of `holdfast fit`\n\n    se + linear\n\n```sh\nmake a\n```\n\n```c\n    make b\n```\n")
        self.assertEqual(list(guide.commands(text)),
                         [("build/holdfast fit \\\n    -o m", []), ("holdfast fit t.csv -t y", []), ("build/holdfast x", ["said"]), ("make a", [])])

    def test_pieces(self):
        found = ["a \\\n b", "for k in 1; do\n c\ndone", "cat <<'E'\nd\nE", "e 'f\ng'"]
        self.assertEqual(guide.pieces("\n".join(found)), found)

    def test_enough_is_found(self):
        """No page lost its commands, nor the reader of pages its sense of them."""
        found = [len(page_commands(page)) for page in guide.site(SOURCE)]
        self.assertGreater(sum(found), 190)
        self.assertGreater(sum(count > 0 for count in found), 30)


if __name__ == "__main__":
    unittest.main()
