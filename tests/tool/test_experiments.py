# SPDX-License-Identifier: Apache-2.0
"""Experiments: every program runs on tiny data, goes on where it was stopped, and says plainly what it lacks."""
import json
import math
import os
import random
import re
import shutil
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

BUILD = os.environ.get("HF_BUILD", os.path.join(SOURCE, "build"))
FOLDER = os.path.join(BUILD, "experiments")
TABLES = {"rcagp-table1": 48, "rcagp-s1": 16, "rcagp-s2": 16, "rcagp-s3": 40}
PROGRAMS = [*TABLES, "rcagp-flash-crash", "rcagp-ablation-eps", "rcagp-expert", "rcagp-scale", "robust-uci",
            "synthetic-noise", "kernel-draws", "guarantees"]


class Experiment(ToolCase):
    def start(self, name, *arguments):
        program = os.path.join(FOLDER, "hf-reproduce-" + name)
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, check=False)
        return done.returncode, done.stdout, done.stderr

    def good(self, name, *arguments):
        code, out, err = self.start(name, *arguments)
        self.assertEqual(code, 0, err)
        return out

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def yacht(self, rows=60):
        """A small table under the name and with the columns of a set of the tables."""
        rng = random.Random(1)
        text = "a,b,residuary_resistance\n"
        for _ in range(rows):
            a, b = rng.random(), rng.random()
            text += f"{a},{b},{math.sin(5 * a) + b * b + 0.05 * rng.gauss(0, 1)}\n"
        os.makedirs(self.path("data/yacht"))
        self.write("data/yacht/yacht.csv", text)

    def crash(self, rows=60):
        os.makedirs(self.path("data/djia_flash_crash"))
        text = "time,minutes_since_midnight,open,is_selloff_point\n"
        for i in range(rows):
            inside = i in (30, 31)
            text += f"t,{600 + 2 * i},{14700 + 10 * math.sin(i / 8) - 90 * inside},{int(inside)}\n"
        self.write("data/djia_flash_crash/djia_2013-04-23_open_2min.csv", text)


class EveryProgram(Experiment):
    def test_help_mistakes_and_no_data(self):
        for name in PROGRAMS:
            with self.subTest(name):
                out = self.good(name, "--help")
                self.assertTrue(out.startswith(f"usage: {name} "), out)
                code, out, err = self.start(name, "--no-such-option")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("usage:", err)
                code, _, err = self.start(name, "operand")
                self.assertEqual(code, 2)
                self.assertIn('"operand" is no option', err)
                if name in ("synthetic-noise", "kernel-draws", "guarantees"):
                    continue
                sets = ["--sets", "yacht"] if "--sets LIST" in self.good(name, "--help") and name != "rcagp-scale" else []
                code, out, err = self.start(name, "--data", "nowhere", *sets)
                self.assertEqual((code, out), (77, ""))
                self.assertIn("--data DIR", err)
                self.assertRegex(err, r"what: .*\n    source: .*http.*\n    place:  DIR/")

    def test_the_tool_lists_them(self):
        listed = self.ok("reproduce").split()
        for name in PROGRAMS:
            self.assertIn(name, listed)


    def test_where_data_are_looked_for(self):
        self.yacht()
        options = ["--sets", "yacht", "--splits", "0", "--methods", "gp", "--kinds", "none"]
        code, _, err = self.start("robust-uci", *options)
        self.assertEqual(code, 77, err)
        os.environ["HOLDFAST_DATA"] = self.path("data")
        self.addCleanup(os.environ.pop, "HOLDFAST_DATA")
        self.assertIn("### yacht", self.good("robust-uci", *options))
        code, _, err = self.start("robust-uci", *options, "--data", "elsewhere")
        self.assertEqual(code, 77)
        self.assertIn("elsewhere/yacht/yacht.csv is not there", err)
        # Data that come with Holdfast need no folder, and a folder that has them goes before.
        options = ["--data", "elsewhere", "--sets", "boston", "--splits", "0", "--methods", "gp", "--kinds", "none"]
        self.assertIn("### boston", self.good("robust-uci", *options))
        os.makedirs(self.path("elsewhere/boston"))
        self.write("elsewhere/boston/boston.csv", "a,medv\nx,1\n")
        self.assertEqual(self.start("robust-uci", *options)[0], 1)


class Tables(Experiment):
    def test_printed_cells(self):
        self.write("none.jsonl", "")
        for name, cells in TABLES.items():
            with self.subTest(name):
                out = self.good(name, "--report", "--json", "none.jsonl")
                rows = re.findall(r"^\| [\w-]+ \| [\d.]+ ± [\d.]+ \| [\d.]+ ± [\d.]+ \| [\d.]+ \|", out, re.M)
                self.assertEqual(len(rows), cells)
        self.assertIn("| RCaGP | 0.477 ± 0.046 | 1.272 ± 0.036 | 2.45 |",
                      self.good("rcagp-table1", "--report", "--json", "none.jsonl"))

    def test_published_and_own_models(self):
        self.yacht()
        for name, kind in (("rcagp-table1", "asymmetric"), ("rcagp-s1", "uniform"), ("rcagp-s2", "focused"),
                           ("rcagp-s3", "none")):
            with self.subTest(name):
                out = self.good(name, "--data", "data", "--sets", "yacht", "--kinds", kind, "--splits", "0",
                                "--json", name)
                fitted = self.lines(name)
                models = {line["method"] for line in fitted}
                self.assertLessEqual({"SVGP", "CaGP", "RCSVGP", "RCaGP", "default", "rcagp", "rcsvgp"}, models)
                self.assertEqual(len(fitted), len(models))
                self.assertEqual({line["wrong"] for line in fitted}, {0 if kind == "none" else 5})
                self.assertIn("### Verdict", out)
                for line in fitted:
                    self.assertLess(line["mae"], 2.0, line)

    def test_settings_of_the_text(self):
        self.yacht()
        options = ["--data", "data", "--sets", "yacht", "--splits", "0", "--kinds", "asymmetric", "--models",
                   "SVGP,RCSVGP,RCaGP", "--json", "both"]
        out = self.good("rcagp-table1", *options, "--settings", "text")
        self.assertIn("as the paper's text has them", out)
        self.assertRegex(out, r"RCaGP is worse than RCSVGP in \d of 1 cells of MAE and \d of 1 of NLPD")
        self.good("rcagp-table1", *options)
        lines = self.lines("both")
        self.assertEqual([line["set"] for line in lines], 3 * ["yacht, matern52"] + 3 * ["yacht, matern32"])
        for model in range(3):
            self.assertNotEqual(lines[model]["mae"], lines[3 + model]["mae"])
        self.assertEqual(self.start("rcagp-table1", *options, "--settings", "both")[0], 2)

    def test_goes_on_where_it_was(self):
        self.yacht()
        options = ["--data", "data", "--sets", "yacht", "--splits", "0..1", "--models", "default", "--json", "kept"]
        self.good("rcagp-table1", *options, "--kinds", "none")
        first = self.lines("kept")
        out = self.good("rcagp-table1", *options)
        self.assertEqual(self.lines("kept")[:len(first)], first)
        self.assertEqual(len(self.lines("kept")), 2 * len(first))
        self.assertEqual(self.good("rcagp-table1", *options), out)
        self.assertEqual(self.good("rcagp-table1", *options, "--report"), out)


class Others(Experiment):
    def test_flash_crash(self):
        self.crash()
        out = self.good("rcagp-flash-crash", "--data", "data", "--picture", "p")
        rows = re.findall(r"^\| ((?:\*\*ours:\*\* )?\w+) \| ([\d.]+) \| ([\d.]+) \|", out, re.M)
        self.assertEqual([name for name, _, _ in rows],
                         ["SVGP", "CaGP", "RCSVGP", "RCaGP", *("**ours:** " + m for m in ("default", "forced", "rcagp", "rcsvgp"))])
        far = {name: float(inside) for name, inside, _ in rows}
        self.assertLess(far["**ours:** forced"], 20.0)  # of 90 points
        if shutil.which("gnuplot"):
            self.assertIn("Pictures: p.svg, p.png", out)
            self.assertTrue(self.read("p.svg").rstrip().endswith("</svg>"))
            self.assertTrue(self.read("p.png", "rb").startswith(b"\x89PNG"))

    def test_expected_share_of_outliers(self):
        self.yacht(40)
        out = self.good("rcagp-ablation-eps", "--data", "data", "--sets", "yacht", "--splits", "0", "--models",
                        "RCaGP,rcsvgp", "--json", "kept", "--picture", "p")
        self.assertEqual(len(self.lines("kept")), 16)
        for name in ("RCaGP", r"\*\*ours:\*\* rcsvgp"):
            self.assertEqual(len(re.findall(rf"^\| yacht \| {name} \|(?: -?[\d.]+ ± [\d.]+ \|){{8}}$", out, re.M)), 2)
        if shutil.which("gnuplot"):
            self.assertTrue(self.read("p.svg").rstrip().endswith("</svg>"))

    def test_normalised_means(self):
        self.yacht(40)
        options = ["--data", "data", "--sets", "boston,yacht", "--splits", "0", "--models", "RCaGP,rcsvgp", "--json", "kept"]
        out = self.good("rcagp-ablation-eps", *options, "--models", "RCaGP", "--settings", "text")
        self.assertIn("### NLPD, settings of the text\n", out)
        rows = {name: [float(cell.split()[0]) for cell in row.split("|")[:8]]
                for name, row in re.findall(r"^\| (boston|yacht|MAE) \| RCaGP \|(.*)$", out.partition("### NLPD")[0] +
                                            out.partition("### Normalised means, settings of the text")[2], re.M)}
        for k in range(8):
            parts = [rows[name][k] / (sum(rows[name]) / 8) for name in ("boston", "yacht")]
            self.assertAlmostEqual(rows["MAE"][k], sum(parts) / 2, delta=0.003)
        # Both settings are in one file and apart.
        self.assertEqual({line["set"] for line in self.lines("kept")}, {"boston, text", "yacht, text"})
        self.assertNotRegex(self.good("rcagp-ablation-eps", *options, "--report"), r"\d ± \d")

    def test_experts(self):
        self.yacht(40)
        options = ["--data", "data", "--sets", "toy,yacht", "--splits", "0", "--models", "RCSVGP,rcgp", "--means",
                   "const,average,replace", "--json", "kept"]
        out = self.good("rcagp-expert", *options, "--picture", "p")
        fitted = self.lines("kept")
        self.assertEqual(len(fitted), 2 * 2 * 7)
        mae = {(line["set"], line["method"], line["share"]): line["mae"] for line in fitted}
        self.assertEqual({share for _, method, share in mae if method == "rcgp const"}, {0})
        for name in ("toy", "yacht"):
            self.assertLess(mae[name, "rcgp replace", 1], mae[name, "rcgp const", 0])
            self.assertNotEqual(mae[name, "rcgp average", 1], mae[name, "rcgp const", 0])
            self.assertEqual(len(re.findall(rf"^\| {name} \| RCSVGP \|(?: [\d.]+ ± [\d.]+ \|| +\|)(?: -?[\d.]+ ± [\d.]+ \|){{7}}$", out, re.M)), 2)
        self.assertIn("| yacht | RCSVGP | 0.", out)  # printed
        self.assertEqual(self.good("rcagp-expert", *options, "--report"), out.split("\nPictures")[0])
        if shutil.which("gnuplot"):
            self.assertTrue(self.read("p.svg").rstrip().endswith("</svg>"))

    def test_scale(self):
        out = self.good("rcagp-scale", "--sets", "synthetic", "--rows", "100,200,300", "--sizes", "16", "--solvers",
                        "inducing,projected,plain,default,exact", "--json", "kept")
        fitted = self.lines("kept")
        self.assertEqual(len(fitted), 3 * 2 * 5)
        for line in fitted:
            self.assertEqual(line["wrong"], 0 if line["kind"] == "none" else line["train"] // 20)
            self.assertGreater(line["megabytes"], 1.0)
        self.assertRegex(out, r"\| synthetic \| projected 16 \| 3 \| ")

    def test_scale_check(self):
        out = self.good("rcagp-scale", "--sets", "synthetic", "--rows", "200", "--sizes", "8,32", "--check")
        rows = re.findall(r"^\| synthetic \| 200 \| (\w+)[^|]*\| (\d+) \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|", out, re.M)
        self.assertEqual(len(rows), 6)
        for solver, _, least, below in rows:
            if solver == "projected":
                self.assertGreaterEqual(float(least), 1.0 - 1e-8)
                self.assertEqual(float(below), 0.0)

    def test_robust_uci(self):
        self.yacht()
        out = self.good("robust-uci", "--data", "data", "--sets", "yacht", "--splits", "0", "--share", "10",
                        "--methods", "gp,default,oracle", "--kinds", "none,asymmetric")
        self.assertIn("### yacht", out)

    def test_guarantees(self):
        """The pictures of docs/guarantees.md: a budget's sd is never below the exact one, and no thread changes a bit; order does."""
        out = self.good("guarantees")
        rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|$", out, re.M)
        self.assertEqual([count for count, _, _ in rows], ["4", "8", "16", "32"])
        self.assertTrue(all(float(least) >= 1.0 for _, least, _ in rows), out)
        self.assertGreater(float(rows[0][2]), 2.0)
        for threads in (2, 4, 8):
            self.assertIn(f"| {threads} threads | none |", out)
        self.assertRegex(out, r"\| rows in reverse \| \de-\d\d \|")

    def test_synthetic_noise(self):
        out = self.good("synthetic-noise", "--noises", "gauss", "--splits", "0", "--methods", "gp,oracle")
        self.assertIn("### gauss, n = 60, d = 1", out)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-rcagp-table1")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
