# SPDX-License-Identifier: Apache-2.0
"""The output and the files of each verb when all is well."""
import contextlib
import json
import math
import os
import re
import shlex
import sqlite3
import statistics
import unittest

from toolcase import ToolCase, table


class Fit(ToolCase):
    def test_finds_the_bad_readings_and_says_so(self):
        self.wave(rows=60, bad=(5, 23, 48))
        out = self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")
        self.assertTrue(out.startswith("y from 2 inputs: 60 readings of wave.csv\n\nkernel       matern52(ard)\n"), out)
        self.assertIn("Suspected readings: 3 of 60, set aside", out)
        rows = re.findall(r"^ +(\d+) +(\d+) +(\S+) +(\S+) +(\S+) +0$", out, re.M)
        self.assertEqual({int(row[1]) for row in rows}, {5, 23, 48})
        for line, row, reading, expected, _ in rows:
            self.assertEqual(int(line), int(row) + 1)
            self.assertAlmostEqual(float(reading) - float(expected), 9, delta=1.5)
        self.assertRegex(out, r"  noise +\S+  target\^2, sd \S+\n")
        self.assertTrue(out.endswith("Saved as m.hf\n"))
        # The file's lines are known while it is read, its rows for ever.
        shown = re.sub(r"^ +(?:line|\d+)(?= +(?:row|\d+)(?: +\S+){4}$)", "", out, flags=re.M)
        self.assertEqual(self.ok("inspect", "m.hf").split("\n\nTo make")[0], shown.split("\n\nSaved")[0])

    def test_lines_are_those_of_the_file(self):
        """Blank lines and fields of several lines count: the line is where an editor finds the reading, in all verbs."""
        self.wave(rows=60, bad=(5,))
        text = self.read("wave.csv").split("\n")
        self.write("wave.csv", "\n".join([*text[:3], "", "", *text[3:]]))
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "--suspects", "force"))
        self.assertEqual({(entry["row"], entry["line"]) for entry in report["suspects"] if entry["row"] == 5}, {(5, 8)})

    def test_converged_means_a_flat_objective(self):
        """Training is called converged where the gradient says so; where the objective only stopped changing, that is what is told."""
        self.wave(rows=40, bad=(5,))
        seen = set()
        for preset in ("gp", "rcgp", "student-t", "cagp"):
            for kernel in ("rq", "matern52(ard)", "se + linear"):
                report = json.loads(self.run_tool("fit", "wave.csv", "--target", "y", "--preset", preset, "-k", kernel, "--json")[1])["report"]
                if report["stop"] in ("converged", "objective no longer changes"):
                    self.assertEqual(report["stop"] == "converged", report["gradient_norm"] < 1e-3, (preset, kernel, report))
                seen.add(report["stop"])
        self.assertTrue({"converged", "objective no longer changes"} <= seen, seen)

    def test_clean_data_are_left_alone(self):
        self.wave(rows=60)
        default = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json"))
        plain = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--preset", "gp", "--json"))
        self.assertFalse(default["report"]["suspects_adopted"])
        self.assertEqual(default["parameters"], plain["parameters"])
        self.assertEqual(self.files(), ["wave.csv"])

    def test_json(self):
        self.wave(rows=60, bad=(5, 23, 48))
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-o", "m.hf"))
        self.assertEqual(report["features"], ["a", "b"])
        self.assertEqual(report["model"], "m.hf")
        self.assertEqual({entry["row"] for entry in report["suspects"]}, {5, 23, 48})
        self.assertEqual([entry["name"] for entry in report["parameters"]],
                         ["outputscale", "lengthscale[0]", "lengthscale[1]", "mean", "noise"])
        self.assertEqual(report["parameters"][1]["column"], "a")
        self.assertEqual(report["report"]["suspects"], 3)
        self.assertIsNone(report["report"]["threshold"])
        inspected = json.loads(self.ok("inspect", "m.hf", "--json"))
        self.assertEqual({entry.pop("line") for entry in report["suspects"]}, {6, 24, 49})
        self.assertRegex(inspected.pop("content_sha256"), "^[0-9a-f]{64}$")
        self.assertEqual(inspected, report)

    def test_the_command_is_kept(self):
        """The command that inspect prints makes the same file; names of other files and what is only told are no part of it."""
        self.wave("it's a.csv", rows=12)
        self.ok("fit", "it's a.csv", "-t", "y", "-k", "se(ard)", "--set", "noise=0.1", "--seed", "7", "-o", "m.hf", "--json", "-q", quiet=False)
        printed = self.ok("inspect", "m.hf")
        command = re.search("^To make it again: holdfast (.*)$", printed, re.M).group(1)
        self.assertEqual(command, r"fit 'it'\''s a.csv' --target y --kernel 'se(ard)' --set noise=0.1 --seed 7")
        self.assertRegex(printed, r"(?m)^Written by Holdfast \d+\.\d+\.\d+, seed 7$")
        self.ok(*shlex.split(command), "-o", "again.hf", quiet=False)
        self.assertEqual(self.meta("again.hf")["command"], self.meta("m.hf")["command"])
        told = json.loads(self.ok("inspect", "again.hf", "--json"))
        self.assertEqual((told["command"], told["seed"]), ("holdfast " + command, 7))

    def meta(self, name):
        with contextlib.closing(sqlite3.connect(self.path(name))) as database:
            return dict(database.execute("SELECT key, value FROM meta"))

    def test_says_how_good_it_is(self):
        """Scores of this model, the plain one and the mean, on the same readings; which inputs matter."""
        self.wave(rows=60, bad=(5, 23, 48))
        out = self.ok("fit", "wave.csv", "--target", "y")
        self.assertIn("Leave-one-out: each of 57 readings that were kept, predicted from the others\n", out)
        rows = re.findall(r"^  (this model|plain Gaussian process|mean of the others) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$",
                          out, re.M)
        self.assertEqual([row[0] for row in rows], ["this model", "plain Gaussian process", "mean of the others"])
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json"))
        scores = report["leave_one_out"]
        for row, key in zip(rows, ("model", "plain", "mean")):
            self.assertEqual(scores[key]["n"], 57)
            for text, name in zip(row[1:], ("rmse", "r2", "nlpd", "coverage50", "coverage90", "coverage95")):
                self.assertAlmostEqual(float(text), scores[key][name], delta=6e-3 * max(1, abs(scores[key][name])))
        self.assertLess(scores["model"]["rmse"], 0.5 * scores["plain"]["rmse"])
        self.assertGreater(scores["model"]["r2"], 0.9)
        a, b = report["relevance"]
        self.assertTrue(a > b > 0.05)
        self.assertIn("\n  a matters most (%.2f), then b (%.2f)\n" % (a, b), out)

        for inputs in (100, 501):  # many take fewer pairs of rows, and too many take too long
            rows = [[(i * (j + 3) * 7 % 13) - 6 for j in range(inputs)] for i in range(14)]
            self.write("wide.csv", "\n".join([",".join("x%d" % j for j in range(inputs)) + ",y"] +
                                             [",".join(map(str, row)) + ",%d" % row[0] for row in rows]) + "\n")
            wide = json.loads(self.ok("fit", "wide.csv", "--target", "y", "--json", "-q", "--no-train", "-k", "linear(x0)"))
            relevance = wide["relevance"]
            self.assertEqual(relevance is None, inputs > 500)
            if relevance is not None:
                self.assertEqual(len(relevance), inputs)
                self.assertTrue(relevance[0] > 0.9 and max(relevance[1:]) == 0, relevance[:3])

        clean = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "--preset", "gp"))
        self.assertIsNone(clean["leave_one_out"]["plain"])
        streamed = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-q", "--stream", "--cache", "c.hfcache"))
        self.assertIsNone(streamed["leave_one_out"])
        self.assertIsNone(streamed["relevance"])

    def test_recipes(self):
        self.wave(rows=30, bad=(5, 23))
        cases = [([], "gaussian", "auto", True), (["--preset", "gp"], "gaussian", "off", False),
                 (["--preset", "rcgp"], "robust", "off", False), (["--sites", "gaussian"], "gaussian", "off", True),
                 (["--sites", "robust"], "robust", "off", True), (["--eps", "0.2"], "robust", "off", True),
                 (["--threshold", "1"], "robust", "off", True), (["--set", "threshold=1"], "robust", "off", True),
                 (["--no-train"], "gaussian", "off", False), (["--preset", "gp", "--suspects", "force"], "gaussian", "force", False)]
        rules = {"--sites": ("loo", "mad"), "--eps": ("loo", "quantile"), "--threshold": ("loo", "given"),
                 "--set": ("loo", "given"), "--preset": ("prior", "quantile")}
        for options, sites, suspects, calibrate in cases:
            settings = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-q", *options))["settings"]
            self.assertEqual((settings["sites"], settings["suspects"], settings["calibrate"]), (sites, suspects, calibrate), options)
            if sites == "robust":
                self.assertEqual((settings["centre"], settings["threshold_rule"]), rules[options[0]], options)

    def test_a_long_kernel_is_told_whole(self):
        self.wave()
        long = " + ".join("se(%s)" % "ab"[k % 2] for k in range(12))
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-q", "--kernel", long, "--no-train"))
        self.assertEqual(report["settings"]["kernel"], long)

    def test_other_choices_reach_the_fit(self):
        self.wave(rows=30)
        report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-q", "--kernel", "se(a) + linear(b)", "--mean",
                                    "linear", "--objective", "loo", "--standardise", "off", "--set", "noise=0.01",
                                    "--preset", "gp", "--restarts", "2"))
        self.assertEqual(report["settings"]["kernel"], "se(a) + linear(b) + constant + linear(ard)")
        self.assertEqual(report["settings"]["objective"], "loo")
        self.assertEqual(report["settings"]["restarts"], 2)
        self.assertFalse(report["settings"]["standardise"])
        noise = report["parameters"][-1]
        self.assertEqual((noise["name"], noise["held"]), ("noise", True))
        self.assertAlmostEqual(noise["value"], 0.01, delta=1e-15)
        self.assertIn("mean[2]", [entry["name"] for entry in report["parameters"]])

    def test_threads_and_seed(self):
        self.wave(rows=150, bad=(5, 23))
        def numbers(*options):
            report = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--json", "-q", *options))
            del report["report"]["seconds"]
            return report
        self.assertEqual(numbers("--threads", "1"), numbers("--threads", "3"))
        self.assertEqual(numbers("--seed", "4", "--restarts", "2"), numbers("--seed", "4", "--restarts", "2"))

    def test_standard_input_and_dry_run(self):
        self.wave(rows=30)
        text = self.read("wave.csv")
        out = self.ok("fit", "-", "--target", "y", "--no-train", stdin=text)
        self.assertIn("30 readings of standard input", out)
        out = self.ok("fit", "wave.csv", "--target", "y", "--dry-run", "-o", "m.hf")
        self.assertIn("30 readings of 2 inputs", out)
        cost = json.loads(self.ok("fit", "wave.csv", "--target", "y", "--dry-run", "--json"))
        self.assertTrue(cost["fits"] and cost["bytes"] >= 2 * 8 * 30 * 30 and cost["flops"] > 30 ** 3)
        self.assertEqual(self.files(), ["wave.csv"])

    def test_features_and_drop(self):
        self.write("t.csv", "id,a,name,y\n1,2.5,ann,3\n2,3.5,bob,4\n3,1.5,eve,2\n")
        code, out, err = self.run_tool("fit", "t.csv", "--target", "y", "--drop", "id", "--json")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["features"], ["a"])
        self.assertEqual(err.split("\n")[0], 'holdfast: warning: t.csv: 1 text column left out of the inputs: "name"')
        self.assertEqual(json.loads(out)["notes"][0], 't.csv: 1 text column left out of the inputs: "name"')
        self.assertEqual(json.loads(self.ok("fit", "t.csv", "--target", "y", "--features", "a,id", "--json", "-q"))["features"],
                         ["a", "id"])


class Use(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=60, bad=(5, 23, 48))
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf")

    def test_names_of_any_encoding_are_in_json(self):
        head = b"caf\xe9,caf\xe8,\xff,kind\xe9\n"
        self.write("t.csv", head + b"".join(b"%d,%d,%d,%d\n" % (i, i % 3, i * i % 7, i // 4) for i in range(12)))
        target = os.fsdecode(b"\xff")
        made = json.loads(self.ok("fit", "t.csv", "-t", target, "--no-train", "-k", "se(ard)", "-o", "m.hf", "--json", "-q"))
        names = ["caf\\xE9", "caf\\xE8", "kind\\xE9"]
        self.assertEqual((made["target"], made["features"]), ("\\xFF", names))
        self.assertEqual([p["column"] for p in made["parameters"] if "lengthscale" in p["name"]], names)
        seen = json.loads(self.ok("inspect", "m.hf", "--json"))
        self.assertEqual((seen["target"], seen["features"]), ("\\xFF", names))
        self.assertEqual(json.loads(self.ok("predict", "m.hf", "t.csv", "-o", "p.csv", "--json"))["target"], "\\xFF")
        self.assertEqual(json.loads(self.ok("norm", "t.csv", "-t", target, "-k", "se(lengthscale=1)", "-b", "1", "--json", quiet=False))["target"], "\\xFF")
        self.ok("fit", "t.csv", "-t", target + "," + os.fsdecode(b"caf\xe9"), "--no-train", "-o", "m.hf", "--json", "-q")
        scored = json.loads(self.ok("score", "m.hf", "t.csv", "--json"))
        self.assertEqual([output["name"] for output in scored["outputs"]], ["\\xFF", "caf\\xE9"])

    def test_robust_weights_are_those_of_the_mean_shown(self):
        self.write("t.csv", "a,y\n" + "".join(f"{i},{10 + 3 * math.sin(i) + (9 if i % 6 == 5 else 0)}\n" for i in range(30)))
        made = json.loads(self.ok("fit", "t.csv", "-t", "y", "--preset", "rcgp", "-o", "m.hf", "--json", quiet=False))
        self.ok("inspect", "m.hf", "--rows", "rows.csv")
        mean, threshold = made["parameters"][-2], made["report"]["threshold"]
        self.assertEqual(mean["name"], "mean")
        rows = table(self.read("rows.csv"))
        for y, weight in zip(rows["y"], rows["weight"]):
            self.assertAlmostEqual(float(weight), 1 / (1 + ((float(y) - mean["value"]) / threshold) ** 2), delta=1e-11)

    def test_robust_noise_as_trained_and_as_observed(self):
        self.write("t.csv", "a,y\n" + "".join(f"{i},{math.sin(i) + (9 if i == 5 else 0)}\n" for i in range(20)))
        fit = ["fit", "t.csv", "-t", "y", "--preset", "rcgp", "--sites", "robust", "-o", "m.hf", "--json"]
        self.ok(*fit, "--no-train", "--set", "noise=0.04", quiet=False)
        seen = json.loads(self.ok("inspect", "m.hf", "--json"))
        parameter = [p["value"] for p in seen["parameters"] if p["name"] == "noise"][0]
        self.assertEqual(seen["noise"]["observed"], parameter)
        self.assertAlmostEqual(seen["noise"]["trained"], 0.04, delta=1e-10)
        if seen["settings"].get("consistent_noise", True) and parameter > 0.04 * (1 + 1e-9):
            self.assertIn("noise as trained", self.ok("inspect", "m.hf"))

    def test_predictions_are_no_inputs_of_a_refit(self):
        self.write("t.csv", "a,b,y,z\n" + "".join(f"{i},{i % 3},{i * i % 7},{i % 4}\n" for i in range(12)))
        fast = ["--no-train", "--threads", "1"]
        self.ok("fit", "t.csv", "-t", "y", *fast, "-o", "m.hf", quiet=False)
        self.ok("predict", "m.hf", "t.csv", "-o", "p.csv")
        out = json.loads(self.ok("fit", "p.csv", "-t", "y", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertEqual(out["features"], ["a", "b", "z"])
        self.assertTrue(any("5 columns of predictions of the target left out of the inputs: \"y_mean\"" in note
                            for note in out["notes"]), out["notes"])
        # Named, they are inputs; of another target they are; and a column of that name alone is one.
        out = json.loads(self.ok("fit", "p.csv", "-t", "y", "-f", "a,y_mean", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertEqual(out["features"], ["a", "y_mean"])
        out = json.loads(self.ok("fit", "p.csv", "-t", "z", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertIn("y_mean", out["features"])
        self.write("one.csv", self.read("t.csv").replace("b,y", "y_mean,y"))
        out = json.loads(self.ok("fit", "one.csv", "-t", "y", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertEqual(out["features"], ["a", "y_mean", "z"])
        # Several outputs with their covariances, and classes.
        self.ok("fit", "t.csv", "-t", "y,z", *fast, "-o", "m.hf", quiet=False)
        self.ok("predict", "m.hf", "t.csv", "--covariance", "-o", "p.csv")
        out = json.loads(self.ok("fit", "p.csv", "-t", "y,z", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertEqual(out["features"], ["a", "b"])
        self.write("c.csv", "a,kind\n" + "".join(f"{i},{i // 4}\n" for i in range(12)))
        self.ok("fit", "c.csv", "-t", "kind", "--preset", "softmax", *fast, "-o", "m.hf", quiet=False)
        self.ok("predict", "m.hf", "c.csv", "-o", "p.csv")
        out = json.loads(self.ok("fit", "p.csv", "-t", "kind", "--preset", "softmax", *fast, "-o", "n.hf", "--json", quiet=False))
        self.assertEqual(out["features"], ["a"])

    def test_labels_are_the_same_as_numbers(self):
        self.write("c.csv", "a,kind\n" + "".join(f"{i},{i // 4}.0\n" for i in range(12)))
        self.ok("fit", "c.csv", "-t", "kind", "--preset", "softmax", "--no-train", "-o", "m.hf", quiet=False)
        ask = ["certify", "m.hf", "--at", "c.csv", "--radius", "0.1", "--what", "mean", "--of"]
        first, second = ([line.rsplit(",", 1)[0] for line in self.ok(*ask, name, quiet=False).splitlines()]
                         for name in ("1", "1.0"))
        self.assertEqual(first, second)  # but for the seconds
        self.fails(ask + ["1.5"], 'no class "1.5"')
        self.fails(ask + ["one"], 'no class "one"')

    def test_predict_keeps_rows_and_columns(self):
        text = 'label,b,a\n"x, y",0.250,1\nz,-1e-1,2\n"x, y",0.250,1\n'
        self.write("new.csv", text)
        out = self.ok("predict", "m.hf", "new.csv")
        lines = out.split("\n")
        self.assertEqual(lines[0], "label,b,a,y_mean,y_sd_latent,y_sd_observed,y_lo95,y_hi95")
        for before, after in zip(text.split("\n")[1:4], lines[1:4]):
            self.assertTrue(after.startswith(before + ","))
        columns = table(out)
        for name in lines[0].split(",")[1:]:  # the same row twice; where it stands in a block may move the last digits
            self.assertAlmostEqual(columns[name][0], columns[name][2], delta=1e-9)
        for i in range(3):
            self.assertLess(columns["y_sd_latent"][i], columns["y_sd_observed"][i])
            self.assertAlmostEqual((columns["y_lo95"][i] + columns["y_hi95"][i]) / 2, columns["y_mean"][i], delta=1e-12)
        self.assertEqual(self.ok("predict", "m.hf", "new.csv", "-o", "out.csv"), "")
        self.assertEqual(self.read("out.csv"), out)
        self.assertEqual(self.ok("predict", "m.hf", "-", stdin=text), out)
        summary = json.loads(self.ok("predict", "m.hf", "new.csv", "-o", "out.csv", "--json"))
        added = summary.pop("columns")
        self.assertEqual([column["name"] for column in added], lines[0].split(",")[-5:])
        self.assertEqual(added[0]["meaning"], "mean of a new reading")
        self.assertEqual(summary, {"output": "out.csv", "target": "y", "rows": 3, "without_prediction": 0, "notes": []})

    def test_score(self):
        self.wave("test.csv", rows=25)
        columns = table(self.ok("predict", "m.hf", "test.csv"))
        errors = [y - m for y, m in zip(columns["y"], columns["y_mean"])]
        sds = columns["y_sd_observed"]
        score = json.loads(self.ok("score", "m.hf", "test.csv", "--json"))
        self.assertEqual(score["n"], 25)
        self.assertAlmostEqual(score["mae"], statistics.fmean(map(abs, errors)), delta=1e-12)
        self.assertAlmostEqual(score["rmse"], math.sqrt(statistics.fmean(e * e for e in errors)), delta=1e-12)
        self.assertAlmostEqual(score["nlpd"], statistics.fmean(0.5 * (e / s) ** 2 + math.log(s * math.sqrt(2 * math.pi))
                                                               for e, s in zip(errors, sds)), delta=1e-12)
        for level in (50, 90, 95):
            width = statistics.NormalDist().inv_cdf(0.5 + level / 200)
            inside = statistics.fmean(abs(e) <= width * s for e, s in zip(errors, sds))
            self.assertAlmostEqual(score["coverage%d" % level], inside, delta=1e-12)
        printed = dict(line.split() for line in self.ok("score", "m.hf", "test.csv").strip().split("\n"))
        self.assertEqual(printed.keys(), score.keys())
        self.assertAlmostEqual(float(printed["mae"]), score["mae"], delta=1e-5 * score["mae"])

    def test_inspect_rows(self):
        self.ok("inspect", "m.hf", "--rows", "rows.csv")
        rows = self.read("rows.csv")
        self.assertEqual(rows.split("\n")[0], "row,y,loo_mean,loo_sd,weight,influence,suspected,group")
        self.assertEqual(self.ok("inspect", "m.hf", "--rows", "-"), rows)
        columns = table(rows)
        self.assertEqual(columns["row"], list(range(1, 61)))
        self.assertEqual(columns["y"], table(self.read("wave.csv"))["y"])
        for i in range(60):
            bad = i + 1 in (5, 23, 48)
            self.assertEqual((columns["weight"][i], columns["suspected"][i]), (0, 1) if bad else (1, 0))
            self.assertTrue(columns["influence"][i] == 0 if bad else columns["influence"][i] > 0)

    def test_contaminate(self):
        arguments = ["contaminate", "wave.csv", "--target", "y", "--kind", "asymmetric", "--share", "0.2", "--seed", "3"]
        out = self.ok(*arguments)
        self.assertEqual(self.ok(*arguments, "-o", "bad.csv", "--mask", "mask.csv"), "")
        self.assertEqual(self.read("bad.csv"), out)
        before, after, mask = table(self.read("wave.csv")), table(out), table(self.read("mask.csv"))
        self.assertEqual(mask["row"], list(range(1, 61)))
        self.assertEqual(sum(mask["damaged"]), 12)
        sd = statistics.stdev(before["y"])
        for old, new, damaged in zip(before["y"], after["y"], mask["damaged"]):
            self.assertTrue(3 * sd <= old - new <= 9 * sd if damaged else old == new)
        self.assertEqual((before["a"], before["b"]), (after["a"], after["b"]))
        self.assertNotEqual(self.ok(*arguments[:-1], "4"), out)
        summary = json.loads(self.ok(*arguments, "-o", "bad.csv", "--json"))
        self.assertEqual((summary["rows"], summary["damaged"], summary["seed"]), (60, 12, 3))
        for seed, told in ((2**63 - 1, 2**63 - 1), (2**63, str(2**63)), (2**64 - 1, str(2**64 - 1))):
            largest = json.loads(self.ok(*arguments[:-1], seed, "-o", "bad.csv", "--json"))
            self.assertEqual(largest["seed"], told)
        focused = table(self.ok("contaminate", "wave.csv", "--target", "y", "--kind", "focused", "--share", "0.1"))
        self.assertEqual(sum(new != old for new, old in zip(focused["a"], before["a"])), 6)

    def test_reproduce_finds_and_runs_experiments(self):
        import os
        import shutil
        from toolcase import TOOL
        os.makedirs(self.path("prefix/bin"))
        os.makedirs(self.path("prefix/libexec/holdfast"))
        shutil.copy(TOOL, self.path("prefix/bin/holdfast"))
        self.write("prefix/libexec/holdfast/hf-reproduce-demo", '#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
        os.chmod(self.path("prefix/libexec/holdfast/hf-reproduce-demo"), 0o755)
        import subprocess
        libraries = os.path.dirname(os.path.realpath(TOOL))
        def run(*arguments):
            return subprocess.run([self.path("prefix/bin/holdfast"), "reproduce", *arguments], capture_output=True, text=True,
                                  env=dict(os.environ, LD_LIBRARY_PATH=libraries))
        self.assertEqual(run().stdout, "demo\n")
        done = run("--seed", "3", "demo", "--set", "x y", "-h")
        self.assertEqual((done.returncode, done.stdout), (7, "--set|x y|-h|--seed|3|"))
        missing = run("other")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no experiment 'other'", missing.stderr)


if __name__ == "__main__":
    unittest.main()
