# SPDX-License-Identifier: Apache-2.0
"""Solvers for budgets: every preset and every choice fits a table, options without effect are told, costs are announced."""
import json
import math
import os
import re
import unittest

from toolcase import ToolCase, table

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tables are so small that threads would mostly wait for each other
FIT = ["fit", "wave.csv", "--target", "y"]


class Choices(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=90, bad=(5, 23, 48))
        self.truth = [math.sin((i * 37 % 90) / 8) + math.cos(3 * i) / 2 for i in range(1, 91)]

    def fit(self, *options):
        """The report as JSON; predictions must be finite, and not further from the truth than a broken fit would be."""
        report = json.loads(self.ok(*FIT, "--json", "-q", "-o", "m.hf", *options))
        predicted = table(self.ok("predict", "m.hf", "wave.csv", "-q"))
        for name in ("y_mean", "y_sd_latent", "y_sd_observed", "y_lo95", "y_hi95"):
            self.assertTrue(all(math.isfinite(value) for value in predicted[name]), (options, name))
        for latent, observed in zip(predicted["y_sd_latent"], predicted["y_sd_observed"]):
            self.assertLess(latent, observed)
        report["mae"] = sum(abs(m - t) for m, t in zip(predicted["y_mean"], self.truth)) / 90
        self.assertEqual(json.loads(self.ok("inspect", "m.hf", "--json", "-q"))["report"], report["report"], options)
        return report

    def test_presets(self):
        #          preset    sites      solver       robust
        presets = [("default", "gaussian", "exact", True), ("gp", "gaussian", "exact", False), ("rcgp", "robust", "exact", False),
                   ("cagp", "gaussian", "projected", False), ("rcagp", "robust", "projected", True),
                   ("rcagp-text", "robust", "projected", False), ("rcagp-program", "robust", "projected", False),
                   ("sgpr", "gaussian", "inducing", False), ("rcsvgp", "robust", "inducing", True),
                   ("svgp", "gaussian", "inducing", False), ("student-t", "student-t", "exact", True),
                   ("rrp", "pursuit", "exact", True)]
        for name, sites, solver, robust in presets:
            report = self.fit("--preset", name)
            self.assertEqual((report["settings"]["sites"], report["report"]["solver"]), (sites, solver), name)
            self.assertLess(report["mae"], 0.1 if robust else 1.0, name)
            self.assertEqual(report["settings"]["suspects"], "auto" if name == "default" else "off")

    def test_options_imply_a_solver(self):
        cases = [(["--actions", "20"], "projected"), (["--tolerance", "0.1"], "projected"), (["--blocks", "clustered"], "projected"),
                 (["--inducing", "20"], "inducing"), (["--inducing-method", "fitc"], "inducing"), (["--minibatch", "30", "--iterations", "10"], "inducing"),
                 (["--actions", "20", "--inducing", "15"], "projected"), (["--solver", "auto", "--inducing", "15"], "inducing"),
                 ([], "exact")]
        for options, solver in cases:
            report = self.fit(*options)
            self.assertEqual(report["report"]["solver"], solver, options)

    def test_inducing_inputs(self):
        for method in ("vfe", "fitc", "dtc"):
            report = self.fit("--solver", "inducing", "--inducing", "40", "--inducing-method", method)
            self.assertEqual((report["report"]["inducing"], report["report"]["actions"]), (40, 0))
            self.assertLess(report["mae"], 0.1, method)
        for choice in ("greedy", "kmeans", "mdpp", "first"):
            report = self.fit("--preset", "rcsvgp", "--inducing", "40", "--inducing-choice", choice)
            self.assertEqual(report["settings"]["inducing_choice"], choice)
            self.assertLess(report["mae"], 0.3, choice)
        fixed = self.fit("--preset", "sgpr", "--inducing", "8")
        trained = self.fit("--preset", "sgpr", "--inducing", "8", "--train-inducing")
        self.assertGreater(trained["report"]["objective"], fixed["report"]["objective"])

    def test_actions(self):
        for kind in ("krylov", "inducing", "blocks"):
            report = self.fit("--preset", "rcagp", "--inducing" if kind == "inducing" else "--actions", "30", "--action-kind", kind)
            self.assertEqual(report["settings"]["action_kind"], kind)
            self.assertGreater(report["report"]["passes"], 0)
        for start in ("random", "targets", "eigen", "precision"):
            report = self.fit("--preset", "cagp", "--actions", "30", "--action-start", start, "--fixed-actions")
            self.assertEqual((report["report"]["actions"], report["report"]["inducing"]), (30, 0))
        for blocks in ("contiguous", "clustered"):
            self.assertEqual(self.fit("--preset", "cagp", "--actions", "30", "--blocks", blocks)["settings"]["blocks"], blocks)

    def test_as_many_actions_as_readings_are_exact(self):
        values = ["--set", "noise=0.01", "--set", "lengthscale=1", "--set", "outputscale=1", "--set", "mean=0", "--no-train"]
        self.ok(*FIT, "--solver", "exact", *values, "-o", "exact.hf", "-q")
        exact = table(self.ok("predict", "exact.hf", "wave.csv"))
        for options in (["--actions", "90", "--action-start", "precision"], ["--action-kind", "inducing", "--inducing", "90"]):
            self.ok(*FIT, "--solver", "projected", *options, *values, "-o", "m.hf", "-q")
            projected = table(self.ok("predict", "m.hf", "wave.csv", "--computational"))
            for name in ("y_mean", "y_sd_latent"):
                for a, b in zip(exact[name], projected[name]):
                    self.assertAlmostEqual(a, b, delta=1e-6)
            self.assertLess(max(projected["y_sd_computational"]), 1e-4)

    def test_actions_of_a_file(self):
        values = ["--set", "noise=0.01", "--set", "lengthscale=1", "--set", "outputscale=1", "--set", "mean=0", "--no-train"]

        def predicted(*options):
            self.ok(*FIT, *options, *values, "-o", "m.hf", "-q")
            return table(self.ok("predict", "m.hf", "wave.csv"))

        def assert_same(first, second):
            for name in ("y_mean", "y_sd_latent"):
                for a, b in zip(first[name], second[name]):
                    self.assertAlmostEqual(a, b, delta=1e-6)

        y = table(self.read("wave.csv"))["y"]
        blocks = "".join(",".join(repr(y[i]) if i // 18 == b else "0" for b in range(5)) + "\n" for i in range(90))
        self.write("blocks.csv", "a,b,c,d,e\n" + blocks)
        assert_same(predicted("--actions-file", "blocks.csv"),
                    predicted("--preset", "gp", "--solver", "projected", "--actions", "5", "--action-start", "targets"))
        names = ",".join("r%d" % i for i in range(90))
        self.write("all.csv", names + "\n" + "".join(",".join(str(int(i == j)) for j in range(90)) + "\n" for i in range(90)))
        assert_same(predicted("--actions-file", "all.csv"), predicted("--preset", "gp", "--solver", "exact"))
        # A row without an input is left out, and its row of the actions with it.
        whole = predicted("--actions-file", "blocks.csv")
        head, *lines = self.read("wave.csv").rstrip("\n").split("\n")
        self.write("gap.csv", "\n".join([head] + lines[:7] + [",1,5"] + lines[7:]) + "\n")
        self.write("gap_blocks.csv", "a,b,c,d,e\n" + "".join(line + "\n" for line in blocks.split("\n")[:7] + ["7,7,7,7,7"] +
                                                           blocks.rstrip("\n").split("\n")[7:]))
        self.assertEqual(self.run_tool("fit", "gap.csv", *FIT[2:], "--actions-file", "gap_blocks.csv", *values, "-o", "m.hf", "-q")[0], 0)
        assert_same(whole, table(self.ok("predict", "m.hf", "wave.csv")))
        report = self.fit("--actions-file", "blocks.csv")
        self.assertEqual((report["settings"]["action_kind"], report["report"]["actions"], report["report"]["passes"]), ("given", 5, 1))
        self.assertEqual(json.loads(self.ok("inspect", "m.hf", "--json"))["settings"]["action_kind"], "given")
        self.assertIn(", 5 given actions, 1 pass,", self.ok("inspect", "m.hf"))
        self.assertIn("with 5 actions", self.ok(*FIT, "--actions-file", "blocks.csv", "--dry-run"))

    def test_actions_of_a_file_that_are_none(self):
        rows = ["%d,%d,%d" % (i, i * i, i + 2 * i * i) for i in range(90)]
        self.write("a.csv", "a,b,c\n" + "\n".join(rows) + "\n")
        self.fails(FIT + ["--actions-file", "a.csv"], "column 3 of 3", "combination of those before it")
        self.write("a.csv", "a,b\n1,2\n3,4\n")
        self.fails(FIT + ["--actions-file", "a.csv"], "has 2 rows", "wave.csv has 90")
        self.write("a.csv", "a,b\n1,2\n3,\n")
        self.fails(FIT + ["--actions-file", "a.csv"], "a.csv, line 3", 'column "b"', "finite")
        self.write("a.csv", "a,b\n1,2\n3,four\n")
        self.fails(FIT + ["--actions-file", "a.csv"], "a.csv", "four")
        self.write("a.csv", "a\n")
        self.fails(FIT + ["--actions-file", "a.csv"], "no rows")
        self.fails(FIT + ["--actions-file", "nowhere.csv"], "nowhere.csv")

    def test_the_computational_part(self):
        self.ok(*FIT, "--preset", "cagp", "--actions", "6", "-o", "m.hf", "-q")
        self.write("new.csv", "a,b\n1,2\n,2\n40,1\n")
        plain = self.run_tool("predict", "m.hf", "new.csv", "-q")[1].split("\n")
        code, out, _ = self.run_tool("predict", "m.hf", "new.csv", "--computational", "-q")
        self.assertEqual(code, 0)
        self.assertEqual([line.rsplit(",", 1)[0] for line in out.split("\n")[:4]], plain[:4])
        columns = table(out)
        self.assertTrue(math.isnan(columns["y_sd_computational"][1]))
        for i in (0, 2):
            self.assertGreater(columns["y_sd_computational"][i], 0)
            self.assertLess(columns["y_sd_computational"][i], columns["y_sd_latent"][i])
        self.ok(*FIT, "--preset", "gp", "-o", "exact.hf", "-q")
        self.assertEqual(table(self.ok("predict", "exact.hf", "wave.csv", "--computational"))["y_sd_computational"], [0] * 90)
        self.ok(*FIT, "--preset", "sgpr", "-o", "sparse.hf", "-q")
        self.fails(["predict", "sparse.hf", "wave.csv", "--computational"], "inducing", "computational part")

    def test_the_worst_case(self):
        self.ok(*FIT, "--preset", "rcagp", "--action-kind", "blocks", "--actions", "6", "-o", "m.hf", "-q")
        self.ok("predict", "m.hf", "wave.csv", "--worst-case", "least", "-o", "least.csv", "-q")
        said = json.loads(self.ok("predict", "m.hf", "wave.csv", "--worst-case", "500", "-o", "p.csv", "--json", "-q"))["worst_case"]
        self.assertEqual(said["norm"], 500)
        self.assertTrue(0 < said["rho"] < 1 and abs(said["rho"] * said["least_norm"] - said["remaining"]) < 1e-9 * said["remaining"])
        self.assertIn("norm", said["condition"])
        self.assertIn("robust weights", said["condition"])
        wide, least = table(self.read("p.csv")), table(self.read("least.csv"))
        for i in range(90):
            self.assertAlmostEqual(wide["y_worst_case"][i] / least["y_worst_case"][i], 500 / said["least_norm"], delta=1e-6)
            self.assertEqual(wide["y_worst_case_computational"][i], least["y_worst_case_computational"][i])
            self.assertGreater(wide["y_worst_case_computational"][i], 0)
        code, _, err = self.run_tool("predict", "m.hf", "wave.csv", "--worst-case", "least")
        self.assertEqual(code, 0)
        self.assertIn("whatever the function", err)
        self.fails(["predict", "m.hf", "wave.csv", "--worst-case", "1e-6"], "least norm")
        for bad in ("-1", "inf", "many"):
            self.assertEqual(self.run_tool("predict", "m.hf", "wave.csv", "--worst-case", bad)[0], 2, bad)
        self.ok(*FIT, "--preset", "sgpr", "-o", "sparse.hf", "-q")
        self.fails(["predict", "sparse.hf", "wave.csv", "--worst-case", "least"], "inducing")

    def test_single_precision_is_nearly_double(self):
        double = self.fit("--preset", "rcagp", "--actions", "30", "--inducing", "30")
        single = self.fit("--preset", "rcagp", "--actions", "30", "--inducing", "30", "--single-precision")
        self.assertEqual(double["parameters"], single["parameters"])
        self.assertAlmostEqual(double["mae"], single["mae"], delta=1e-3)

    def test_training_choices(self):
        hard = ["--preset", "gp", "--kernel", "sm(components=3)"]
        few = self.fit(*hard, "--iterations", "1")
        many = self.fit(*hard, "--iterations", "60")
        # Cold start, values of shorter ones, two climbs, and the better one finished.
        self.assertLessEqual(few["report"]["evaluations"], 5 * (1 + 5))
        self.assertLess(few["report"]["evaluations"], many["report"]["evaluations"])
        self.assertLess(few["report"]["objective"], many["report"]["objective"] - 1)
        adam = self.fit("--preset", "gp", "--optimiser", "adam", "--iterations", "50", "--learning-rate", "0.05")
        self.assertEqual(adam["settings"]["optimiser"], "adam")
        slow = self.fit("--preset", "gp", "--optimiser", "adam", "--iterations", "50", "--learning-rate", "0.0001")
        self.assertLess(slow["report"]["objective"], adam["report"]["objective"])
        start = self.fit("--preset", "gp", "--optimiser", "adam", "--iterations", "50", "--learning-rate", "0.0001",
                         "--noise-start", "0.0004")
        self.assertAlmostEqual(start["parameters"][-1]["value"], 0.0004, delta=0.00002)

    def test_student_t(self):
        for method in ("laplace", "ep", "variational"):
            report = self.fit("--sites", "student-t", "--inference", method, "--iterations", "1" if method == "ep" else "60")
            self.assertEqual(report["settings"]["inference"], method)
            self.assertLess(report["mae"], 0.1)
        report = self.fit("--nu", "3")
        self.assertEqual((report["settings"]["sites"], report["report"]["nu"]), ("student-t", 3))
        report = self.fit("--sites", "student-t", "--solver", "inducing", "--inducing", "40")
        self.assertEqual(report["report"]["solver"], "inducing")
        self.assertLess(report["mae"], 0.1)

    def test_objectives_of_approximations(self):
        for options in (["--preset", "rcsvgp", "--objective", "weighted"], ["--preset", "sgpr", "--objective", "loo"],
                        ["--preset", "rcsvgp", "--objective", "rcagp", "--beta", "0.6"],
                        ["--preset", "cagp", "--objective", "loo", "--fixed-actions", "--actions", "30"]):
            report = self.fit(*options)
            self.assertEqual(report["settings"]["objective"], options[3])

    def test_threads_do_not_change_a_digit(self):
        for preset in ("cagp", "rcagp", "rcsvgp", "svgp"):
            reports = [self.fit("--preset", preset, "--iterations", "20", "--threads", threads) for threads in ("1", "3")]
            for report in reports:
                del report["report"]["seconds"]
            self.assertEqual(reports[0], reports[1], preset)

    def test_more_than_there_are(self):
        self.fails(FIT + ["--solver", "projected", "--actions", "91"], "91 actions", "90 readings")
        self.assertEqual(self.fit("--preset", "sgpr", "--inducing", "1000")["report"]["inducing"], 90)
        report = self.fit("--solver", "inducing", "--minibatch", "1000", "--iterations", "5")
        self.assertEqual(report["settings"]["minibatch"], 1000)

    def test_inputs_that_repeat(self):
        self.write("wave.csv", "a,y\n" + "".join("%d,%g\n" % (i % 3, i % 3 + 0.01 * (i * 7 % 5)) for i in range(40)))
        report = json.loads(self.ok(*FIT, "--json", "-q", "--preset", "sgpr", "--inducing", "20"))
        self.assertEqual(report["report"]["inducing"], 3)
        for preset in ("rcagp", "cagp", "rcsvgp", "svgp"):
            self.ok(*FIT, "-q", "--preset", preset, "-o", "m.hf")
            means = table(self.ok("predict", "m.hf", "wave.csv"))["y_mean"]
            for i in range(3):
                self.assertAlmostEqual(means[i], i + 0.02, delta=0.1, msg=preset)

    def test_one_reading(self):
        self.write("wave.csv", "a,y\n1,5\n")
        for preset in ("cagp", "rcagp", "sgpr", "rcsvgp", "svgp", "student-t", "rrp"):
            self.ok(*FIT, "-q", "--preset", preset, "-o", "m.hf")
            self.assertAlmostEqual(table(self.ok("predict", "m.hf", "wave.csv"))["y_mean"][0], 5, delta=1e-6, msg=preset)

    def test_the_report_in_words(self):
        text = self.ok(*FIT, "-q", "--preset", "rcagp", "--actions", "30", "--inducing", "20")
        self.assertRegex(text, r"\nsolver       projected, \d+ Krylov actions, \d+ pass(es)?, residual \S+; "
                               r"hyperparameters from 20 inducing inputs\n")
        text = self.ok(*FIT, "-q", "--preset", "sgpr", "--inducing", "20")
        self.assertIn("\nsolver       inducing, 20 inducing inputs, vfe\n", text)
        text = self.ok(*FIT, "-q", "--preset", "student-t", "--nu", "3")
        self.assertIn("\nsites        student-t, variational, 3 degrees of freedom\n", text)


class NoEffect(ToolCase):
    def test_what_has_no_effect_is_told(self):
        self.wave()
        cases = [
            (["--solver", "exact", "--actions", "5"], "--solver projected"), (["--preset", "sgpr", "--actions", "5"], "--actions"),
            (["--preset", "gp", "--solver", "exact", "--inducing", "5"], "--solver inducing"), (["--actions", "0"], "at least 1"),
            (["--preset", "cagp", "--inducing", "5"], "--inducing"), (["--preset", "cagp", "--tolerance", "0.1"], "krylov"),
            (["--preset", "rcagp", "--blocks", "clustered", "--action-kind", "krylov"], "--action-kind blocks"),
            (["--preset", "sgpr", "--single-precision"], "--solver projected"), (["--tolerance", "2"], "from 0 to less than 1"),
            (["--solver", "exact", "--minibatch", "5"], "--solver inducing"), (["--minibatch", "5", "--optimiser", "lbfgs"], "adam"),
            (["--actions", "5", "--minibatch", "5"], "--solver inducing"), (["--minibatch", "5", "--suspects", "auto"], "all rows"),
            (["--sites", "pursuit", "--minibatch", "5"], "relevance pursuit"), (["--minibatch", "5", "--restarts", "2"], "--restarts"),
            (["--learning-rate", "0.1"], "--optimiser adam"), (["--learning-rate", "-1", "--optimiser", "adam"], "positive"),
            (["--no-train", "--iterations", "5"], "--no-train"), (["--iterations", "0"], "at least 1"),
            (["--no-train", "--noise-start", "1"], "leave out --no-train"), (["--no-train", "--inducing", "5", "--train-inducing"], "--train-inducing"),
            (["--no-train", "--preset", "cagp", "--fixed-actions"], "--fixed-actions"), (["--nu", "1"], "more than 1"),
            (["--nu", "3", "--sites", "robust"], "--sites student-t"), (["--nu", "3", "--preset", "gp"], "--sites student-t"),
            (["--preset", "student-t", "--solver", "inducing", "--inference", "ep"], "variational"),
            (["--preset", "student-t", "--objective", "loo"], "evidence"), (["--suspects", "auto", "--sites", "student-t"], "student-t"),
            (["--suspects", "auto", "--blocks", "clustered"], "block actions"),
            (["--action-kind", "given"], "--actions-file"), (["--actions-file", "a.csv", "--actions", "5"], "as the matrix has columns"),
            (["--actions-file", "a.csv", "--action-kind", "krylov"], "--action-kind given"), (["--actions-file", "a.csv", "--solver", "exact"], "--solver projected"),
            (["--actions-file", "a.csv", "--tolerance", "0.1"], "krylov"), (["--actions-file", "a.csv", "--blocks", "clustered"], "blocks"),
            (["--action-kind", "inducing", "--actions", "5"], "as many as inducing inputs"), (["--nu", "3", "--actions", "5"], "--solver exact or inducing"),
            (["--sites", "pursuit", "--blocks", "clustered"], "--action-kind krylov"),
            (["--beta", "1", "--sites", "gaussian"], "--sites robust"), (["--beta", "0"], "positive"),
            (["--objective", "weighted"], "--solver inducing"), (["--objective", "rcagp", "--preset", "rcagp"], "--beta"),
            (["--objective", "rcagp", "--preset", "sgpr"], "--sites robust"), (["--preset", "cagp", "--objective", "loo"], "--fixed-actions"),
            (["--minibatch", "5", "--objective", "loo"], "--minibatch"), (["--solver", "fast"], "projected"),
            (["--inducing-method", "x"], "fitc"), (["--inducing-choice", "x"], "mdpp"), (["--action-kind", "x"], "krylov"),
            (["--blocks", "x"], "clustered"), (["--action-start", "x"], "eigen"), (["--inference", "x"], "laplace"),
            (["--optimiser", "x"], "lbfgs"), (["--resume"], "--checkpoint"), (["--checkpoint", "-"], "give it a name"),
            (["--checkpoint", "c", "--no-train"], "leave out --no-train"), (["--resume", "-o", "m.hf", "--no-train"], "leave out --no-train"),
        ]
        for options, part in cases:
            code, out, err = self.run_tool(*FIT, *options)
            self.assertEqual((code, out), (2, ""), (options, err))
            self.assertIn(part, err, options)
            self.assertIn("Try 'holdfast fit --help'", err)
        self.assertEqual(self.files(), ["wave.csv"])


class Costs(ToolCase):
    def cost(self, *options):
        return json.loads(self.ok(*FIT, "--dry-run", "--json", *options))

    def test_a_dry_run_counts_what_the_fit_will_hold(self):
        self.wave(rows=400)
        for options in ([], ["--preset", "sgpr"], ["--preset", "cagp", "--actions", "20"], ["--preset", "rcagp", "--inducing", "30"],
                        ["--solver", "exact", "--objective", "loo", "--suspects", "off"], ["--preset", "svgp", "--iterations", "3"],
                        ["--inducing", "100", "--iterations", "3"]):
            cost = self.cost(*options)
            report = json.loads(self.ok(*FIT, "--json", "-q", *options))["report"]
            self.assertEqual(cost["solver"], report["solver"], options)
            self.assertEqual(cost["inducing"], report["inducing"], options)
            self.assertEqual(cost["bytes"], report["bytes"], options)
            self.assertTrue(cost["fits"])
            self.assertGreater(cost["seconds"], 0)

    def test_costs_follow_the_solver(self):
        self.wave(rows=1000)
        exact, sparse = self.cost("--solver", "exact"), self.cost("--solver", "inducing", "--inducing", "50")
        projected = self.cost("--preset", "cagp", "--actions", "50")
        self.assertEqual(exact["bytes"], exact["exact_bytes"])
        self.assertEqual(exact["exact_bytes"], sparse["exact_bytes"])
        self.assertLess(sparse["bytes"], exact["bytes"] / 5)
        self.assertLess(projected["bytes"], exact["bytes"] / 5)
        self.assertLess(sparse["flops"], exact["flops"] / 5)
        self.assertLess(sparse["evaluation_flops"], projected["evaluation_flops"])
        more = self.cost("--solver", "inducing", "--inducing", "100")
        self.assertTrue(2 < more["flops"] / sparse["flops"] < 5)

    def test_large_tables_choose_for_themselves(self):
        self.wave(rows=2500)
        text = self.ok(*FIT, "--dry-run")
        self.assertRegex(text, r"(?m)^2500 readings of 2 inputs\nsolver       projected solver with at most \d+ actions beyond \d+ inducing inputs\n")
        code, out, err = self.run_tool(*FIT, "--iterations", "2", "--suspects", "off")
        self.assertEqual(code, 0)
        self.assertRegex(err.split("\n")[0], r"^holdfast: 2500 readings: projected solver with at most \d+ actions beyond \d+ inducing inputs; "
                                             r"--solver exact would take about [\d.]+ MB and [\d.]+ \w+$")
        self.assertEqual(self.run_tool(*FIT, "--no-train", "-q")[2], "")

    def test_a_table_that_does_not_fit(self):
        self.write("wave.csv", "a,y\n" + "".join("%d,%d\n" % (i, i % 7) for i in range(300000)))
        code, out, err = self.run_tool(*FIT, "--solver", "exact", "--dry-run")
        self.assertEqual(code, 1)
        needed = int(re.search(r"\((\d+) bytes\)", out)[1])
        self.assertGreaterEqual(needed, 8 * 300000 ** 2)
        self.assertIn("needs %d bytes" % needed, err)
        self.assertIn("--solver inducing", err)
        err = self.fails(FIT + ["--solver", "exact", "-o", "m.hf"], "300000 readings", "memory", "inducing solver")
        cost = self.cost()
        self.assertTrue(cost["fits"])
        self.assertEqual(cost["solver"], "inducing")
        self.assertLess(cost["training_rows"], 300000)


if __name__ == "__main__":
    unittest.main()
