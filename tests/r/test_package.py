# SPDX-License-Identifier: Apache-2.0
"""The R package: `R CMD check` has nothing to say, the guide docs/r.md does what it says, and a model is the tool's to the digit."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, TOOL = os.environ["HF_SOURCE"], os.environ["HF_BUILD"], os.environ["HOLDFAST"]
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import guide  # noqa: E402

# No network, no second architecture; the clock of a machine without network is not to be compared with a server's.
ENVIRONMENT = {**os.environ, "HOLDFAST_BUILD": BUILD, "R_PROFILE_USER": os.devnull, "R_REPOSITORIES": "NULL", "R_LIBS_USER": "",
               "_R_CHECK_SYSTEM_CLOCK_": "0", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"}
DIGITS = """
library(holdfast)
hills <- read.csv("data/hills.csv")
model <- holdfast(minutes ~ miles + feet, hills)
save_model(model, "r.hf")
cat(sprintf("%.17g", predict(model, hills)), sep = "\\n")
cat(sprintf("%.17g", predict(load_model("tool.hf"), hills)), sep = "\\n")
"""
LOADED = """
library(holdfast)
long <- load_model("long.hf")
stream <- load_model("stream.hf")
print(summary(long))
print(summary(stream))
new <- data.frame(x = c(1, 2))
cat(dim(predict(long, new)), !anyNA(predict(stream, new)), names(which(suspected(long)[, 1])), "")
cat(inherits(try(suspected(stream), silent = TRUE), "try-error"), "")
cat(tryCatch(residuals(long), error = function(condition) sub(".* has ", "", conditionMessage(condition))))
"""


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, env={**ENVIRONMENT, **more}, capture_output=True, text=True)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        os.symlink(os.path.join(SOURCE, "data"), os.path.join(cls.folder, "data"))
        made = run(["R", "CMD", "build", os.path.join(SOURCE, "bindings", "r")], cls.folder)
        cls.check = run(["R", "CMD", "check", "--no-manual", "holdfast_0.1.0.tar.gz"], cls.folder) if made.returncode == 0 else made
        cls.library = os.path.join(cls.folder, "holdfast.Rcheck")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def told(self, program):
        """Runs an R program that uses the package, and returns what it prints."""
        done = run(["Rscript", "--vanilla", "-e", program], self.folder, R_LIBS=self.library)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_check(self):
        self.assertEqual(self.check.returncode, 0, self.check.stdout[-4000:] + self.check.stderr)
        self.assertIn("Status: OK", self.check.stdout)

    def test_guide(self):
        found = guide.steps(SOURCE, "r.md", "r")
        self.assertGreater(len(found), 5)
        for number, (program, _) in enumerate(found):
            with open(os.path.join(self.folder, f"{number}.R"), "w", encoding="utf-8") as file:
                file.write(program)
        printed = self.told("".join(f"source('{k}.R', print.eval = TRUE); cat('@@\\n');" for k in range(len(found)))).split("@@\n")
        for (_, expected), own in zip(found, printed):
            guide.compare(self, own, expected)

    def test_start(self):
        with open(os.path.join(self.folder, "start.R"), "w", encoding="utf-8") as file:
            file.write("\n".join(guide.tabs(SOURCE, "R")))
        self.assertIn("fit      lwr      upr", self.told("pdf(NULL); source('start.R', print.eval = TRUE)"))

    def test_models_of_the_tool(self):
        """Tables with a row for each reading, and tables read in parts: their models can be asked, as far as they know rows."""
        with open(os.path.join(self.folder, "long.csv"), "w", encoding="utf-8") as file:
            file.write("x,kind,y\n" + "".join(f"{i / 5},{'ab'[i % 2]},{9 if i == 20 else i % 2 + i / 40}\n" for i in range(40)))
        for options in (["--output-column", "kind", "-o", "long.hf"], ["-f", "x", "--stream", "--inducing", "5", "-o", "stream.hf"]):
            done = run([TOOL, "fit", "long.csv", "-t", "y", *options, "-q"], self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        told = self.told(LOADED)
        self.assertIn("a, b by x", told)
        self.assertIn("solver inducing", told)
        self.assertTrue(told.endswith("2 2 TRUE 21 TRUE no table of responses"), told)

    def test_digits(self):
        fitted = run([TOOL, "fit", "data/hills.csv", "-t", "minutes", "-f", "miles,feet", "-o", "tool.hf", "-q"], self.folder)
        self.assertEqual(fitted.returncode, 0, fitted.stderr)
        numbers = [float(line) for line in self.told(DIGITS).split()]
        for model, own in (("r.hf", numbers[:35]), ("tool.hf", numbers[35:])):
            told = run([TOOL, "predict", model, "data/hills.csv"], self.folder)
            self.assertEqual(told.returncode, 0, told.stderr)
            column = told.stdout.split("\n")[0].split(",").index("minutes_mean")
            self.assertEqual([float(row.split(",")[column]) for row in told.stdout.split("\n")[1:-1]], own)


if __name__ == "__main__":
    if shutil.which("R") is None or shutil.which("Rscript") is None:
        print("skipped: R is not installed (Debian: r-base-core)")
        sys.exit(77)
    unittest.main()
