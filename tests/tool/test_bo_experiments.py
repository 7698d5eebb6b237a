# SPDX-License-Identifier: Apache-2.0
"""Experiments of optimisation with published surrogates: runs go on where they were, and say what they should."""
import json
import os
import shutil
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

FOLDER = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments")
NAMES = ["hartmann", "lunar", "rover", "dna", "dpp-ts", "turbo", "expert"]


class Optimisation(ToolCase):
    def start(self, name, *arguments):
        return subprocess.run([os.path.join(FOLDER, "hf-reproduce-rcagp-" + name), *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=200, check=False)

    def good(self, name, *arguments):
        done = self.start(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def runs(self, path):
        return {line["case"]: line for line in map(json.loads, self.read(path).splitlines())}

    def test_help_and_mistakes(self):
        for name in NAMES:
            out = self.good("bo-" + name, "--help")
            self.assertTrue(out.startswith("usage: rcagp-bo-%s " % name), out)
        for arguments, words in ((["--ask", "nothing"], "nothing"), (["--models", "none"], "none"), (["--wrong", "101"], "101"),
                                 (["--problems", "gardner"], "gardner"), (["--initial", "20"], "20"), (["--report"], "--report needs the file")):
            done = self.start("bo-hartmann", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    def test_no_data(self):
        done = self.start("bo-dna", "--data", "nowhere")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("nowhere/libsvm_dna", done.stderr)

    def test_every_question_of_every_model(self):
        small = ["--initial", 30, "--evaluations", 3, "--seeds", 0, "--epochs", 2, "--wrong", 25, "--json", "kept",
                 "--ask", "eulbo,eulbo-log,eulbo-turbo,dpp-ei,dpp-ts,dpp-turbo,ei,chance"]
        out = self.good("bo-hartmann", *small, "--models", "SVGP,RCSVGP,CaGP,RCaGP,default")
        runs = self.runs("kept")
        self.assertEqual(len(runs), 7 * 4 + 6)
        starts = {run["best0"] for run in runs.values()}
        self.assertEqual(len(starts), 1)  # a common design
        for name, run in runs.items():
            best = [run["best%d" % (10 * k)] for k in range(11)]
            self.assertEqual(best, sorted(best), name)
            self.assertLessEqual(best[-1], 3.3224)
            self.assertLessEqual(run["mean100"], best[-1])
        # Questions and models differ, or somebody is not asked.
        ends = {run["best100"] + 1000 * run["mean100"] for run in runs.values()}
        self.assertGreater(len(ends), 10)
        self.assertEqual(out.count("\n| hartmann6 |"), 34)
        # Nothing is run twice, and the file is enough for a report.
        again = self.good("bo-hartmann", *small, "--models", "SVGP,RCSVGP,CaGP,RCaGP,default")
        self.assertEqual((again, self.runs("kept")), (out, runs))
        self.assertEqual(self.good("bo-hartmann", *small, "--models", "SVGP,RCSVGP,CaGP,RCaGP,default", "--report"), out)
        # The same run elsewhere is the same; a longer one, or one of another manner, is another run.
        self.good("bo-hartmann", *small[:-4], "--ask", "ei", "--models", "SVGP", "--json", "fresh")
        (name, fresh), = self.runs("fresh").items()
        del fresh["seconds"], runs[name]["seconds"]
        self.assertEqual(fresh, runs[name])
        for more in (["--all"], ["--threshold-20"], ["--improve-on-mean"]):
            self.good("bo-hartmann", *small[:-2], "--ask", "ei", "--models", "RCaGP", *more)
        self.assertEqual(len(self.runs("kept")), 7 * 4 + 9)

    def test_wrong_readings_matter_and_pictures(self):
        small = ["--initial", 40, "--evaluations", 10, "--seeds", "0..1", "--models", "RCaGP", "--json", "kept"]
        out = self.good("bo-turbo", *small, "--problems", "hartmann6", "--ask", "eulbo-turbo", "--epochs", 2, "--wrong", "0,50")
        curves = {tuple(value for name, value in run.items() if name.startswith(("best", "mean"))) for run in self.runs("kept").values()}
        self.assertEqual(len(curves), 4)
        self.assertIn("| hartmann6 | eulbo-turbo | 50 % | RCaGP | 2 |", out)
        if shutil.which("gnuplot"):
            self.good("bo-turbo", *small, "--problems", "hartmann6", "--ask", "eulbo-turbo", "--epochs", 2, "--wrong", "0,50", "--picture", "p")
            self.assertIn("largest clean value", self.read("p.svg"))

    def test_an_expert(self):
        small = ["--initial", 40, "--evaluations", 2, "--seeds", 0, "--epochs", 1, "--problems", "hartmann6"]
        models = [model + use for model in ("RCSVGP", "RCaGP") for use in ("", "+alg1", "+average", "+replace")]
        out = self.good("bo-expert", *small, "--json", "kept", "--ask", "dpp-ei,eulbo")
        runs = self.runs("kept")
        name = "hartmann6 %s %s 25%% 0 40+2"
        self.assertEqual(set(runs), {name % (ask, model) for ask in ("dpp-ei", "eulbo") for model in models
                                     if ask == "dpp-ei" or "average" not in model})  # EULBO takes a constant only
        self.assertEqual(len({run["best0"] for run in runs.values()}), 1)  # a common design
        # The posterior means differ, or the expert is not heard.
        places = {model: [runs[name % ("dpp-ei", model)]["mean%d" % k] for k in range(0, 101, 10)] for model in models}
        for model in ("RCSVGP", "RCaGP"):
            self.assertNotEqual(places[model], places[model + "+average"])
        self.assertEqual(out.count("\n| hartmann6 |"), 14)
        again = self.good("bo-expert", *small, "--json", "kept", "--ask", "dpp-ei,eulbo", "--report")
        self.assertEqual((again, self.runs("kept")), (out, runs))
        # Where nothing is wrong nobody corrects anything.
        self.good("bo-expert", *small, "--json", "clean", "--ask", "dpp-ei", "--wrong", 0)
        clean = self.runs("clean")
        for model in ("RCSVGP", "RCaGP"):
            ends = {json.dumps([run[key] for key in sorted(run) if key not in ("case", "seconds")])
                    for case, run in clean.items() if " %s" % model in case}
            self.assertEqual(len(ends), 1)
        for model in ("RCaGP+nobody", "+alg1"):
            self.assertEqual(self.start("bo-expert", "--models", model).returncode, 2)

    def test_one_input(self):
        out = self.good("fig1", "--seeds", "0..2", *(["--picture", "p"] if shutil.which("gnuplot") else []))
        rows = {row.split("|")[1].strip(): [float(cell.split("±")[0]) for cell in row.split("|")[2:-1]]
                for row in out.splitlines() if "±" in row and row.startswith("| ") and "CaGP" in row or row.startswith("| SVGP")
                or row.startswith("| RCSVGP")}
        self.assertEqual(set(rows), {"SVGP", "RCSVGP", "CaGP", "RCaGP"})
        for robust, plain in (("RCSVGP", "SVGP"), ("RCaGP", "CaGP")):
            self.assertLess(rows[robust][0], 0.8 * rows[plain][0])
        self.assertNotEqual(out, self.good("fig1", "--seeds", "0..2", "--size", 12))
        self.assertEqual(self.start("fig1", "--size", 1).returncode, 2)

    def test_other_problems(self):
        for name in ("lunar", "rover"):
            out = self.good("bo-" + name, "--initial", 30, "--evaluations", 1, "--seeds", 0, "--ask", "dpp-ei", "--wrong", 25)
            self.assertEqual(out.count("dpp-ei | 25 % |"), 4)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-rcagp-bo-hartmann")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
