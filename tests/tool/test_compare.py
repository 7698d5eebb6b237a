# SPDX-License-Identifier: Apache-2.0
"""holdfast compare: which models take part, what is said of them, and that nothing is left of one that was stopped."""
import json
import os
import re
import signal
import statistics
import subprocess
import time
import unittest

from toolcase import TOOL, ToolCase, table

COMPARE = ["compare", "wave.csv", "-t", "y", "--folds", "3"]


class Compare(ToolCase):
    def names(self, *options):
        return {model["name"] for model in json.loads(self.ok(*COMPARE, "--json", "-q", *options))["models"]}

    def test_table_and_verdict(self):
        self.wave(rows=60, bad=(5, 23, 48))
        out = self.ok(*COMPARE, "-q")
        self.assertTrue(out.startswith("3-fold cross-validation of 60 readings of y; the same folds for every model\n"), out)
        rows = re.findall(r"^  (\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +\d+\.\d\d$", out, re.M)
        report = json.loads(self.ok(*COMPARE, "--json", "-q"))
        self.assertEqual([row[0] for row in rows], [model["name"] for model in report["models"]])
        self.assertEqual({row[0] for row in rows}, {"default", "gp", "student-t"})
        for row, model in zip(rows, report["models"]):
            for text, key in zip(row[1:], ("rmse", "mae", "median_error", "nlpd", "crps", "coverage95")):
                self.assertAlmostEqual(float(text), model[key], delta=6e-3 * max(1, abs(model[key])))
        self.assertEqual(report["by"], "crps")
        self.assertEqual(report["take"], report["models"][0]["name"])
        self.assertIn("\nTake %s: its crps is the least" % report["take"], out)
        self.assertNotEqual(report["take"], "gp")
        scores = [model["crps"] for model in report["models"]]
        self.assertEqual(scores, sorted(scores))
        for model in report["models"]:
            self.assertAlmostEqual(model["difference"], model["crps"] - scores[0], delta=1e-9)
            self.assertEqual(model["distinguishable"], abs(model["difference"]) >= 2 * model["standard_error"] and model["difference"] != 0)
            line = "  %s: %.3g more" % (model["name"], model["difference"])
            self.assertEqual(line in out, model["name"] != report["take"])

    def test_models(self):
        self.wave(rows=24)
        self.assertEqual(self.names("--preset", "gp,rcgp"), {"gp", "rcgp"})
        self.assertEqual(self.names("--preset", "gp", "-k", "se(ard)", "-k", "matern32(a, b)"), {"gp, se(ard)", "gp, matern32(a, b)"})
        self.assertEqual(self.names("-k", "se(ard)", "-m", "zero,linear"), {"se(ard), zero", "se(ard), linear"})
        self.assertEqual(self.names("--mean", "zero,linear"), {"zero", "linear"})
        self.assertEqual(self.names("--model", "rough: --preset gp -k 'matern12( ard )'", "--model", "--sites robust"),
                         {"rough", "--sites robust"})
        self.assertEqual(self.names("--model", 'x y: -k "se" --set noise=0.1', "--preset", "gp"), {"x y", "gp"})

    def test_tables_of_any_name(self):
        self.wave("-w.csv", rows=24)
        out = self.ok("compare", "-ty", "--preset", "gp", "--folds", "3", "-q", "-o", "-", "--", "-w.csv")
        self.assertEqual(self.ok("compare", "-ty", "--preset", "gp", "--folds", "3", "-q", "-o", "-", "-", stdin=self.read("-w.csv")), out)
        self.assertEqual(len(table(out)["row"]), 24)

    def test_options_of_a_model_reach_it(self):
        """A model is what fit makes of the same options: its predictions are those of fit and predict without the fold."""
        self.wave(rows=24)
        options = ["--preset", "gp", "-k", "se(ard)", "--mean", "linear", "--set", "noise=0.02"]
        self.ok(*COMPARE, "-q", "-o", "out.csv", "--model", "m: --preset gp -k 'se(ard)' --mean linear --set noise=0.02")
        out = table(self.read("out.csv"))
        lines = self.read("wave.csv").split("\n")
        self.assertEqual(out["row"], list(range(1, 25)))
        self.assertEqual(out["line"], list(range(2, 26)))
        self.assertEqual(sorted(out["fold"]), sorted([1, 2, 3] * 8))
        self.write("train.csv", "\n".join([lines[0]] + [lines[i + 1] for i in range(24) if out["fold"][i] != 2]) + "\n")
        self.write("held.csv", "\n".join([lines[0]] + [lines[i + 1] for i in range(24) if out["fold"][i] == 2]) + "\n")
        self.ok("fit", "train.csv", "-t", "y", "-o", "m.hf", "-q", *options)
        predicted = table(self.ok("predict", "m.hf", "held.csv"))
        held = [i for i in range(24) if out["fold"][i] == 2]
        self.assertEqual([out["m_mean"][i] for i in held], predicted["y_mean"])
        self.assertEqual([out["m_sd"][i] for i in held], predicted["y_sd_observed"])
        self.assertEqual([out["reading"][i] for i in held], predicted["y"])

    def test_predictions_give_the_scores(self):
        self.wave(rows=24, bad=(5,))
        text = self.ok(*COMPARE, "-q", "--repeats", "2", "--preset", "gp,rcgp", "-o", "-")
        out = table(text)
        self.assertEqual(out["repeat"], [1] * 24 + [2] * 24)
        report = json.loads(self.ok(*COMPARE, "-q", "--repeats", "2", "--preset", "gp,rcgp", "--json", "--by", "rmse"))
        for model in report["models"]:
            errors = [abs(y - mean) for y, mean in zip(out["reading"], out[model["name"] + "_mean"])]
            self.assertEqual(model["n"], 48)
            self.assertAlmostEqual(model["mae"], statistics.fmean(errors), delta=1e-9)
            self.assertAlmostEqual(model["median_error"], statistics.median(errors), delta=1e-9)
            self.assertAlmostEqual(model["rmse"] ** 2, statistics.fmean(e * e for e in errors), delta=1e-9)
        self.assertEqual(self.ok(*COMPARE, "-q", "--repeats", "2", "--preset", "gp,rcgp", "-o", "-", "--threads", "2"), text)
        self.assertNotEqual(self.ok(*COMPARE, "-q", "--repeats", "2", "--preset", "gp,rcgp", "-o", "-", "--seed", "1"), text)

    def test_wrong_usage(self):
        self.wave()
        cases = [
            (["compare", "wave.csv"], "--target is missing"), (COMPARE[:4] + ["--folds", "1"], "folds is 1; give a whole number, at least 2"),
            (COMPARE + ["--repeats", "0"], "repeats is 0; give a whole number, at least 1"), (COMPARE + ["--by", "luck"], "crps, nlpd, mae or rmse"),
            (COMPARE + ["--preset", "best"], "rcagp"), (COMPARE + ["--preset", "gp,gp"], "two models are called 'gp'"),
            (COMPARE + ["--mean", "cubic"], "linear"), (COMPARE + ["--features", "a", "--drop", "b"], "give one"),
            (COMPARE + ["--json", "-o", "-"], "cannot both"), (COMPARE + ["--model", "gp"], "NAME: OPTIONS"),
            (COMPARE + ["--model", "m: --target b"], "--target is no option of a model"),
            (COMPARE + ["--model", "m: -o x.hf"], "--output is no option of a model"),
            (COMPARE + ["--model", "m: more.csv"], "more.csv"), (COMPARE + ["--model", "m: -k 'se"], "quote is not closed"),
            (COMPARE + ["--model", "m: --no-train --restarts 3"], "--no-train"), (COMPARE + ["--model", "m: --frob"], "unknown option"),
            (COMPARE + ["--mean", "zero,linear,median"] + [o for i in range(7) for o in ("-k", "se(lengthscale=%d)" % (i + 1))], "more than 20"),
        ]
        for arguments, part in cases:
            self.fails(arguments, part, code=2)
        self.fails(["compare", "wave.csv", "-t", "y", "--folds", "41"], "wave.csv", "41 folds", "there are 40")
        self.fails(COMPARE + ["-k", "frob(a)"], "frob(a), without fold 1: ")
        self.fails(COMPARE + ["--preset", "probit"], "probit", "labels")
        self.fails(["compare", "wave.csv", "-t", "z"], "z")
        self.write("flat.csv", "a,y\n" + "".join("%d,5\n" % i for i in range(12)))
        self.fails(["compare", "flat.csv", "-t", "y"], "same value in every row")

    def test_warnings_are_told(self):
        self.wave(rows=24)
        code, out, err = self.run_tool(*COMPARE, "--preset", "gp", "--model", "short: --preset gp --iterations 1")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"holdfast: warning: short: \d of 3 fits ended with a warning, such as: ")
        report = json.loads(self.ok(*COMPARE, "-q", "--json", "--model", "short: --preset gp --iterations 1"))
        self.assertGreater(report["models"][0]["warnings"], 0)
        self.assertEqual(report["models"][0]["difference"], 0)

    def test_stopping_leaves_nothing(self):
        self.wave(rows=400, bad=(5, 23, 48))
        before = self.files()
        run = subprocess.Popen([TOOL, *COMPARE, "--repeats", "1000", "-o", "out.csv"], cwd=self.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (130, ""), err)
        self.assertIn("stopped; nothing was written", err)
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
