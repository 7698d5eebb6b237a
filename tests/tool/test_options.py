# SPDX-License-Identifier: Apache-2.0
"""Help, man pages and completion say the same, examples work as printed, wrong usage exits with 2."""
import os
import re
import subprocess
import unittest

from toolcase import PARTS, SOURCE, VERBS, ToolCase


def options_of_help(text):
    """{long name: (letter, argument)}"""
    found = {}
    for line in text.split("\n"):
        match = re.match(r"  (?:-(\w), |    )--([\w-]+)(?: ([A-Z][\w.,:=|]*|on\|off))?(?:  .*)?$", line)
        if match:
            found[match[2]] = (match[1], match[3])
    return found


class Options(ToolCase):
    helps = {}  # by verb: several tests read them

    def help(self, verb):
        if verb not in self.helps:
            self.helps[verb] = self.ok(*verb.split(), "--help")
        return self.helps[verb]

    def test_overview_lists_the_verbs(self):
        overview = self.ok("--help")
        self.assertEqual(re.findall(r"^  (\w+)  +\S", overview.split("Verbs")[1].split("Example")[0], re.M), VERBS)
        self.assertEqual(self.ok("help"), overview)
        self.assertEqual(self.ok("help", "fit"), self.help("fit"))
        self.assertEqual(self.ok("fit", "-h"), self.help("fit"))
        for part in PARTS:
            self.assertEqual(self.ok("help", *part.split()), self.help(part))
        self.fails(["help", "track", "frob"], "unknown verb 'track frob'", code=2)
        self.fails(["help", "fit", "ask"], "unknown verb 'fit ask'", code=2)

    def test_every_verb_has_the_common_options_and_an_example(self):
        for verb in VERBS + PARTS:
            text = self.help(verb)
            self.assertTrue(text.startswith("Usage: holdfast %s " % verb))
            self.assertIn("\nExample\n  holdfast ", text)
            options = options_of_help(text)
            for name in ("seed", "threads", "json", "quiet", "help"):
                self.assertIn(name, options, verb)
            self.assertTrue(all(len(line) <= 110 for line in text.split("\n")), verb)

    def test_the_contract(self):
        fixed = {
            "fit": "target features drop preset kernel mean sites noise-column mean-column objective centre eps threshold suspects "
                   "standardise set no-train restarts seed threads dry-run json output solver actions action-kind blocks "
                   "action-start inducing inducing-method inducing-choice train-inducing minibatch optimiser learning-rate "
                   "iterations single-precision nu beta tolerance checkpoint resume stream cache "
                   "output-column weighting coregion-rank shared-noise max-noise inference unit-inputs lengthscale-prior "
                   "scaled-beta common-start actions-file",
            "predict": "output computational worst-case covariance", "score": "json",
            "compare": "target features drop noise-column mean-column preset kernel mean model folds repeats by output seed json", "inspect": "json rows", "plot": "x output data-only",
            "bound": "target features kernel norm noise-bound noise-bound-column noise-below noise-above at grid method ridge jitter rigorous "
                     "pivots seconds cv save output",
            "norm": "target features kernel noise-bound points safety cv output",
            "expert": "target features label-column correction-column variance-column lengthscale kernel rule at ask model json output",
            "certify": "at radius box features what tolerance time-limit max-radius rigorous json output",
            "extremum": "box minimum maximum beta output", "attack": "at radius method output", "explain": "at step output",
            "certify": "at radius box features what tolerance time-limit max-radius rigorous json output",
            "extremum": "box minimum maximum beta output", "attack": "at radius method output", "explain": "at step output",
            "certify": "at radius box features what tolerance time-limit max-radius rigorous json output",
            "extremum": "box minimum maximum beta output", "attack": "at radius method output", "explain": "at step output",
            "contaminate": "target kind share seed output mask",
            "track create": "box candidates features label target minimise method noise drift age-law age-table kernel window forgetting beta norm delta robust "
                            "discard places queries query-factor every learn",
            "track advise": "queries costly step steps draws json",
            "track ask": "time json", "track tell": "time x candidate y noise request csv best value",
            "track refresh": "time answers fit output", "track show": "history readings json", "track plot": "time output",
            "study create": "real log integer ordered category minimise maximise at-most at-least certain surrogate acquisition reach regions "
                            "start expires seed no-doubt repeats",
            "study ask": "count json", "study tell": "noise note from", "study fail": "note", "study export": "output",
            "study best": "json certify tolerance time-limit", "study show": "trials journal suspects json", "study plot": "what of output",
            "study undo": "entries"}
        for verb, names in fixed.items():
            options = options_of_help(self.help(verb))
            for name in names.split():
                self.assertIn(name, options, verb)
            if "output" in names.split():
                self.assertEqual(options["output"][0], "o")

    def test_man_pages_agree(self):
        for verb in VERBS + PARTS:
            with open(os.path.join(SOURCE, "man", "holdfast-%s.1" % verb.replace(" ", "-"))) as file:
                page = file.read().replace("\\-", "-")
            described = {match[2]: (match[1], match[3]) for match in re.finditer(
                r"^\.TP\n(?:\\fB-(\w)\\fR, )?\\fB--([\w-]+)\\fR(?: \\fI(.*)\\fR)?$", page, re.M)}
            self.assertEqual(described, options_of_help(self.help(verb)), verb)
            synopsis = re.search(r"^Usage: (.*)$", self.help(verb), re.M)[1]
            self.assertIn(".B " + synopsis + "\n", page)
        with open(os.path.join(SOURCE, "man", "holdfast.1")) as file:
            overview = file.read()
        self.assertEqual(re.findall(r"^\.BR holdfast\\-(\w+) \(1\)$", overview, re.M), VERBS)

    def test_pages_are_made_from_help(self):
        made = subprocess.run([os.path.join(SOURCE, "scripts", "tool-pages"), os.environ["HOLDFAST"], "--check"],
                              capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "", ""), "run scripts/tool-pages TOOL")

    def test_completion_agrees(self):
        script = os.path.join(SOURCE, "completions", "holdfast")
        for verb in VERBS + PARTS:
            words = subprocess.run(["bash", "-c", 'complete() { :; }; source "$1"; _holdfast_options "$2"', "-", script, verb],
                                   capture_output=True, text=True, check=True).stdout.split()
            expected = set()
            for name, (letter, _) in options_of_help(self.help(verb)).items():
                expected.add("--" + name)
                if letter:
                    expected.add("-" + letter)
            self.assertEqual(set(words), expected, verb)
            self.assertEqual(len(words), len(expected), verb)

    def test_examples_work_as_printed(self):
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        os.mkdir(self.path("bin"))
        os.symlink(os.environ["HOLDFAST"], self.path("bin/holdfast"))
        environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"])
        done = set()
        texts = [self.help(verb) for verb in VERBS + PARTS if verb != "reproduce"] + [self.ok("--help")]
        for text in texts:
            for line in re.split(r"\nExample\n", text)[1].split("\n"):
                if not line.startswith("  holdfast ") or line in done:
                    continue
                if " plot " in line and subprocess.run(["which", "gnuplot"], capture_output=True).returncode:
                    continue
                done.add(line)
                run = subprocess.run(["sh", "-c", line], cwd=self.folder, env=environment, capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, line + "\n" + run.stderr)
        self.assertGreater(len(done), 6)

    def test_version(self):
        code, out, _ = self.run_tool("--version")
        self.assertEqual(code, 0)
        with open(os.path.join(SOURCE, "include/holdfast/version.h")) as file:
            version = re.search(r'HF_VERSION_STRING "(.*)"', file.read())[1]
        self.assertRegex(out, r"^holdfast %s\nBLAS: \S.*\nloops: \S.*\n$" % re.escape(version))

    def test_wrong_usage(self):
        self.wave()
        fit = ["fit", "wave.csv", "--target", "y"]
        cases = [
            ([], None), (["frobnicate"], "unknown verb"), (["--frob"], "unknown option"), (["fit"], "a file is missing"),
            (["fit", "wave.csv"], "--target is missing"), (["fit", "wave.csv", "more.csv", "--target", "y"], "more.csv"),
            (fit + ["--targte", "y"], "did you mean --target"), (fit + ["--target", "y"], "given twice"),
            (fit + ["--output"], "needs a value"), (fit + ["--no-train=yes"], "takes no value"),
            (fit + ["-Z"], "unknown option -Z"), (fit + ["--mean", "cubic"], "linear"),
            (fit + ["--preset", "best"], "rcagp"), (fit + ["--sites", "soft"], "robust"),
            (fit + ["--objective", "luck"], "wloo"), (fit + ["--centre", "here"], "neighbours"),
            (fit + ["--suspects", "maybe"], "force"), (fit + ["--standardise", "yes"], "neither on nor off"),
            (fit + ["--eps", "1.5"], "from 0 to less than 1"), (fit + ["--eps", "-0.1"], "from 0"), (fit + ["--eps", "x"], "not a number"),
            (fit + ["--threshold", "-1"], "positive"), (fit + ["--threshold", "1", "--eps", ".1"], "--eps"),
            (fit + ["--threshold", "1", "--set", "threshold=2"], "give one"),
            (fit + ["--sites", "gaussian", "--threshold", "1"], "--sites robust"),
            (fit + ["--preset", "gp", "--eps", "0.1"], "--sites robust"),
            (fit + ["--sites", "robust", "--suspects", "auto"], "--suspects auto"),
            (fit + ["--no-train", "--suspects", "force"], "leave out --no-train"),
            (fit + ["--no-train", "--restarts", "3"], "--no-train"), (fit + ["--lengthscale-prior", "strong"], "dimension"),
            (fit + ["--no-train", "--common-start", "1"], "--no-train"), (fit + ["--common-start", "0"], "positive"),
            (fit + ["--sites", "robust", "--scaled-beta"], "--beta"), (fit + ["--sites", "gaussian", "--scaled-beta"], "--sites robust"),
            (fit + ["--beta", "1", "--scaled-beta", "--standardise", "off"], "scales"),
            (fit + ["--no-train", "--lengthscale-prior", "dimension"], "--no-train"), (fit + ["--unit-inputs=1"], "takes no value"), (fit + ["--set", "noise"], "NAME=NUMBER"),
            (fit + ["--set", "noise=x"], "NAME=NUMBER"), (fit + ["--set", "noise=1", "--set", "noise=2"], "twice"),
            (fit + ["--features", "a,,b"], "list of names"), (fit + ["--features", "a", "--drop", "b"], "give one"),
            (fit + ["--seed", "-1"], "whole number"), (fit + ["--threads", "many"], "whole number"),
            (fit + ["-o", "-"], "give it a name"), (["predict", "m.hf"], "missing"),
            (["predict", "m.hf", "wave.csv", "--json"], "-o"), (["inspect", "m.hf", "--json", "--rows", "-"], "--json"),
            (["contaminate", "wave.csv", "--target", "y"], "--kind is missing"),
            (["contaminate", "wave.csv", "--target", "y", "--kind", "mild"], "focused"),
            (["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "--share", "2"], "between 0 and 1"),
            (["plot", "m.hf", "-o", "picture.bmp"], ".svg"), (["reproduce", "../x"], "not the name"),
        ]
        for arguments, part in cases:
            code, out, err = self.run_tool(*arguments)
            self.assertEqual((code, out), (2, ""), (arguments, err))
            if part is not None:
                self.assertIn(part, err, arguments)
        self.assertEqual(self.files(), ["wave.csv"])

    def test_options_count_after_many_repeated_ones(self):
        self.wave()
        many = [word for k in range(100) for word in ("--set", "p%d=1" % k)]
        self.fails(["fit", "wave.csv", "-t", "y", *many, "--solver", "exact", "--actions", "5"], "--actions 5 does not go with", code=2)

    def test_forms_of_options(self):
        self.wave()
        forms = [["fit", "wave.csv", "--target", "y"], ["fit", "--target=y", "wave.csv"], ["fit", "-t", "y", "--", "wave.csv"],
                 ["fit", "-ty", "wave.csv"], ["fit", "-ty", "wave.csv", "--features", "a", "-f", "b"],
                 ["fit", "-ty", "wave.csv", "-f", '"a",b']]
        results = {re.sub(r"[\d.]+ s\b", "", self.ok(*form)) for form in forms}
        self.assertEqual(len(results), 1)


if __name__ == "__main__":
    unittest.main()
