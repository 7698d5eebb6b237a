# SPDX-License-Identifier: Apache-2.0
"""Labels: holdfast fit --sites probit|logit|softmax and what follows, on real flowers and on tables that are not as they should be."""
import csv
import json
import math
import os
import shutil
import unittest

from toolcase import SOURCE, ToolCase, table

FIT = ["fit", "two.csv", "--target", "species"]


class Classes(ToolCase):
    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(SOURCE, "data", "iris.csv"), self.path("iris.csv"))
        lines = self.read("iris.csv").split("\n")
        self.write("two.csv", "\n".join(line for line in lines if not line.endswith("setosa")))
        kept = [line for line in lines[1:] if line]
        self.write("train.csv", "\n".join([lines[0]] + [line for i, line in enumerate(kept) if i % 3]) + "\n")
        self.write("test.csv", "\n".join([lines[0]] + [line for i, line in enumerate(kept) if i % 3 == 0]) + "\n")

    def scores(self, model, file):
        return json.loads(self.ok("score", model, file, "--json"))

    # ---- what a newcomer does

    def test_two_classes(self):
        for options in (["--sites", "probit"], ["--sites", "logit"], ["--sites", "probit", "--inference", "laplace"],
                        ["--sites", "logit", "--inference", "variational"],
                        ["--sites", "logit", "--solver", "inducing", "--inducing", "12"], ["--preset", "probit"]):
            out = self.ok(*FIT, *options, "-o", "m.hf")
            for part in ("species (2 classes) from 4 inputs: 100 labels", "versicolor", "virginica", "petal_width", "evidence"):
                self.assertIn(part, out)
            columns = table(self.ok("predict", "m.hf", "two.csv"))
            self.assertEqual(list(columns)[5:], ["species_class", "p_versicolor", "p_virginica", "species_mean", "species_sd"])
            self.assertEqual(columns["species"][:50], ["versicolor"] * 50)
            right = 0
            for truth, said, first, second, mean, sd in zip(*(columns[name] for name in (
                    "species", "species_class", "p_versicolor", "p_virginica", "species_mean", "species_sd"))):
                self.assertAlmostEqual(first + second, 1, delta=1e-12)
                self.assertEqual(said, "virginica" if second > first else "versicolor")
                self.assertEqual(mean > 0, second > 0.5)
                self.assertGreater(sd, 0)
                if "probit" in options:
                    self.assertAlmostEqual(second, 0.5 * math.erfc(-mean / math.sqrt(2 * (1 + sd * sd))), delta=1e-12)
                right += truth == said
            score = self.scores("m.hf", "two.csv")
            self.assertEqual(score["n"], 100)
            self.assertAlmostEqual(score["accuracy"], right / 100, delta=1e-12)
            self.assertGreater(score["accuracy"], 0.93)
            nlpd = -sum(math.log(p if t == "virginica" else q) for t, p, q in zip(
                columns["species"], columns["p_virginica"], columns["p_versicolor"])) / 100
            self.assertAlmostEqual(score["nlpd"], nlpd, delta=1e-12)
            self.assertEqual(sum(bin["n"] for bin in score["bins"]), 100)
            report = json.loads(self.ok("inspect", "m.hf", "--json"))
            self.assertEqual(report["classes"], [{"name": "versicolor", "rows": 50}, {"name": "virginica", "rows": 50}])
            self.assertEqual(report["settings"]["inference"], options[-1] if "--inference" in options else "ep")
            self.assertLess(report["report"]["objective"], 0)
            self.assertNotIn("noise", [p["name"] for p in report["parameters"]])

    def test_three_classes_held_out(self):
        self.ok("fit", "train.csv", "--target", "species", "--sites", "softmax", "-o", "m.hf")
        columns = table(self.ok("predict", "m.hf", "test.csv", "-q"))
        names = ["setosa", "versicolor", "virginica"]
        self.assertEqual(list(columns)[5:9], ["species_class"] + ["p_" + name for name in names])
        self.assertEqual(list(columns)[9:11], ["species_setosa_mean", "species_setosa_sd"])
        for said, *p in zip(columns["species_class"], *(columns["p_" + name] for name in names)):
            self.assertAlmostEqual(sum(p), 1, delta=1e-9)
            self.assertEqual(said, names[p.index(max(p))])
        score = self.scores("m.hf", "test.csv")
        self.assertEqual(score["n"], 50)
        self.assertGreater(score["accuracy"], 0.9)
        self.assertLess(score["nlpd"], 0.5 * math.log(3))
        self.assertIn("accuracy", self.ok("score", "m.hf", "test.csv"))
        self.assertIn("softmax", self.ok("inspect", "m.hf"))

    def test_rows_say_how_probable_each_label_is(self):
        swapped = self.read("two.csv").replace("7,3.2,4.7,1.4,versicolor", "7,3.2,4.7,1.4,virginica")
        self.write("swapped.csv", swapped)
        self.ok("fit", "swapped.csv", "--target", "species", "--sites", "probit", "-o", "m.hf")
        rows = list(csv.DictReader(self.ok("inspect", "m.hf", "--rows", "-").splitlines()))
        self.assertEqual(list(rows[0]), ["row", "label", "predicted", "p_label"])
        least = min(rows, key=lambda row: float(row["p_label"]))
        self.assertEqual((least["row"], least["label"], least["predicted"]), ("1", "virginica", "versicolor"))

    def test_pictures(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is not installed")
        for sites, file in (("probit", "two.csv"), ("softmax", "iris.csv")):
            for features, maps in (("petal_width", False), ("petal_length,petal_width", True),
                                   ("petal_length,petal_width,sepal_width", False)):
                self.ok("fit", file, "--target", "species", "--sites", sites, "-f", features, "-o", "m.hf")
                out = json.loads(self.ok("plot", "m.hf", "-o", "m.png", "--json"))
                self.assertEqual(out["maps"], maps)
                self.assertTrue(self.read("m.png", "rb").startswith(b"\x89PNG"))
                self.assertGreater(len(self.read("m.png", "rb")), 5000)
        self.ok("plot", "m.hf", "-o", "m.svg", "--data-only", "--x", "sepal_width")
        slice_ = table(self.read("m-slice.csv"))
        self.assertEqual(list(slice_), ["petal_length", "petal_width", "sepal_width", "p_setosa", "p_versicolor", "p_virginica"])
        self.assertEqual(len(set(slice_["petal_length"])), 1)
        self.fails(["plot", "m.hf", "--x", "nothing"], "nothing")

    def test_dry_run(self):
        out = json.loads(self.ok(*FIT, "--sites", "probit", "-n", "--json"))
        self.assertEqual((out["readings"], out["inputs"], out["solver"]), (100, 4, "exact"))
        self.assertGreater(out["bytes"], 100 * 100 * 8)

    # ---- labels as they come

    def small(self, labels, name="small.csv"):
        return self.write(name, "x,y\n" + "".join("%d,%s\n" % (i, label) for i, label in enumerate(labels)))

    def classes(self, labels, sites="softmax"):
        out = self.ok("fit", self.small(labels), "-t", "y", "--sites", sites, "--no-train", "--json", "-q")
        return {entry["name"]: entry["rows"] for entry in json.loads(out)["classes"]}

    def test_equal_numbers_are_one_class(self):
        self.assertEqual(self.classes(["1", "1.0", "01", "2", "2", "10"]), {"1": 3, "2": 2, "10": 1})
        self.assertEqual(list(self.classes(["10", "9", "-1", "10"])), ["-1", "9", "10"])
        self.assertEqual(self.classes(["01", "01", "02"]), {"01": 2, "02": 1})
        self.assertEqual(self.classes(["1e0", "1", "b", "B", "b"]), {"1": 2, "B": 1, "b": 2})

    def test_blanks_quotes_and_missing(self):
        self.assertEqual(self.classes(["a", " a", "\"a \"", "b", "\"c,d\""]), {"a": 3, "b": 1, "c,d": 1})
        code, out, err = self.run_tool("fit", self.small(["a", "", "b", "NA", "b", "?", "a"]), "-t", "y", "--sites", "probit", "--json")
        self.assertEqual(code, 0)
        self.assertIn("3 of 7 rows have no target", err)
        report = json.loads(out)
        self.assertEqual(report["classes"], [{"name": "a", "rows": 2}, {"name": "b", "rows": 2}])
        self.assertEqual(report["report"]["missing"], 3)

    def test_scores_know_other_spellings(self):
        self.ok("fit", self.small(["0", "0", "0", "1", "1", "1"]), "-t", "y", "--sites", "probit", "-o", "m.hf")
        plain = self.scores("m.hf", "small.csv")
        self.assertEqual(self.scores("m.hf", self.small(["0.0", " 0", "00", "1.0", "1e0", "1"], "other.csv")), plain)

    # ---- what is wrong

    def test_wrong_labels(self):
        few = ["fit", "small.csv", "-t", "y", "--sites"]
        self.small(["a"] * 5)
        self.fails(few + ["probit"], "all 5 labels", '"a"', "two")
        self.small(["a", "b", "c"])
        self.fails(few + ["probit"], "3 classes", '"a", "b", "c"', "softmax")
        self.fails(few + ["logit"], "3 classes", "softmax")
        self.small(range(101))
        self.fails(few + ["softmax"], "101 different labels", "quantity")
        self.small(["", "NA", "?"])
        self.fails(few + ["probit"], "no label")
        self.write("small.csv", "x,y\n,a\n1,b\n2,b\n,a\n")
        self.fails(few + ["probit"], "all 2 labels")
        self.write("small.csv", "x,y\n")
        self.fails(few + ["probit"], "no rows")
        self.small(["a", "b", "b", "b"])
        code, _, err = self.run_tool(*few, "probit")
        self.assertEqual(code, 0)
        self.assertIn('class "a" has one row only', err)

    def test_text_targets_without_sites(self):
        self.fails(["fit", "iris.csv", "-t", "species"], "not a number", "3 labels", "--sites softmax")
        self.fails(FIT, "not a number", "2 labels", "--sites probit")
        self.small(["1", "2", "3", "x"])
        self.assertNotIn("--sites", self.fails(["fit", "small.csv", "-t", "y"], '"x" is not a number'))
        self.small(["t%d" % i for i in range(200)])
        self.assertNotIn("--sites", self.fails(["fit", "small.csv", "-t", "y"], "not a number"))

    def test_options_that_mean_nothing(self):
        probit = FIT + ["--sites", "probit"]
        for options in (["--suspects", "auto"], ["--objective", "loo"], ["--eps", "0.1"], ["--nu", "4"], ["--minibatch", "8"],
                        ["--noise-start", "1"], ["--max-noise", "1"], ["--checkpoint", "c"], ["--stream"], ["--train-inducing"],
                        ["--noise-column", "petal_width"], ["--shared-noise"], ["--optimiser", "adam"], ["--single-precision"]):
            self.fails(probit + options, options[0], code=2)
        self.fails(probit + ["--solver", "projected"], "exact or inducing", code=2)
        self.fails(probit + ["--preset", "gp"], "--preset gp", code=2)
        self.fails(FIT + ["--sites", "softmax", "--inference", "ep"], "laplace", code=2)
        self.fails(FIT + ["--inference", "ep"], "--sites student-t, probit", code=2)
        self.fails(probit + ["--inference", "mcmc"], "laplace, ep, variational, corrected or auto", code=2)
        self.fails(probit + ["--set", "noise=1"], "noise")
        self.fails(["fit", "two.csv", "-t", "species,petal_width", "--sites", "probit"], "one output", code=2)
        self.fails(probit + ["--mean", "median"], "median", code=2)

    def test_wrong_queries(self):
        self.ok(*FIT, "--sites", "probit", "-o", "m.hf")
        self.write("q.csv", "sepal_length,sepal_width,petal_length\n5,3,4\n")
        self.fails(["predict", "m.hf", "q.csv"], 'no column "petal_width"')
        self.write("q.csv", "sepal_length,sepal_width,petal_length,petal_width\n5,3,4,\n5,3,4,1.3\n5,nan,4,1.3\n")
        code, out, err = self.run_tool("predict", "m.hf", "q.csv")
        self.assertEqual(code, 0)
        self.assertIn("2 of 3 rows have a missing input", err)
        lines = out.splitlines()
        self.assertTrue(lines[1].endswith(",,,,,"), lines[1])
        self.assertIn(",versicolor,", lines[2])
        self.write("q.csv", "sepal_length,sepal_width,petal_length,petal_width\n5,inf,4,1\n")
        self.fails(["predict", "m.hf", "q.csv"], "infinite")
        self.fails(["score", "m.hf", "iris.csv"], "line 2", 'no class "setosa"', '"versicolor", "virginica"')
        self.fails(["predict", "m.hf", "two.csv", "--covariance"], "classifier")
        self.fails(["predict", "m.hf", "two.csv", "--computational"], "classifier")

    def test_files(self):
        self.ok(*FIT, "--sites", "probit", "-o", "m.hf")
        if os.path.exists("/dev/full"):
            self.fails(FIT + ["--sites", "probit", "-o", "/dev/full"], "/dev/full")
        good = self.read("m.hf", "rb")
        for where in (70, len(good) // 3, len(good) // 2, len(good) - 40):
            spoilt = bytearray(good)
            spoilt[where] ^= 0x55
            self.write("bad.hf", bytes(spoilt))
            code, _, err = self.run_tool("predict", "bad.hf", "two.csv")
            if code != 0:
                self.assertIn("bad.hf", err)
            else:  # a byte that no table uses
                self.assertEqual(self.ok("predict", "bad.hf", "two.csv"), self.ok("predict", "m.hf", "two.csv"))
        self.write("bad.hf", good[:-100])
        self.fails(["inspect", "bad.hf"], "bad.hf")

    def test_same_model_whatever_the_order_of_rows_and_threads(self):
        lines = self.read("two.csv").strip().split("\n")
        self.write("back.csv", "\n".join([lines[0]] + lines[:0:-1]) + "\n")
        self.ok(*FIT, "--sites", "probit", "-o", "a.hf", "--threads", "1")
        self.ok(*FIT, "--sites", "probit", "-o", "c.hf", "--threads", "3")
        self.ok("fit", "back.csv", "--target", "species", "--sites", "probit", "-o", "b.hf")
        left, right = (table(self.ok("predict", name, "two.csv"))["p_virginica"] for name in ("a.hf", "b.hf"))
        for a, b in zip(left, right):
            self.assertAlmostEqual(a, b, delta=1e-3)
        one, three = (self.ok("predict", name, "two.csv") for name in ("a.hf", "c.hf"))
        self.assertEqual(one, three)


if __name__ == "__main__":
    unittest.main()
