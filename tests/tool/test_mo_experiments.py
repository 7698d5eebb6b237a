# SPDX-License-Identifier: Apache-2.0
"""Experiments with several outputs: every program runs on little, prints the paper's numbers beside its own, draws, and says plainly what it lacks."""
import math
import os
import random
import re
import shutil
import unittest

from test_experiments import FOLDER, Experiment

FILES = {"mo-rcgp-table2": "energy/energy.csv", "mo-rcgp-table3": "energy/energy.csv",
         "mo-rcgp-navitoclax": "gdsc_navitoclax/navitoclax_p12_arh77.csv",
         "mo-rcgp-mbs": "finra_mbs/finra_mbs_2025-09-08_09.csv", "mo-rcgp-reference": "mo_rcgp_reference/train.csv"}
DRAWN = ["mo-rcgp-table1", "mo-rcgp-fig2", "mo-rcgp-fig4", "mo-rcgp-fig5"]
NUMBERS = r" -?[\d.]+ ± [\d.]+ \| -?[\d.]+ ± [\d.]+ \|"


class SeveralOutputs(Experiment):
    def data(self, name, text):
        os.makedirs(os.path.dirname(self.path("data/" + name)), exist_ok=True)
        self.write("data/" + name, text)

    def energy(self, rows=48):
        rng = random.Random(2)
        text = "X1,X2,X3,X4,X5,X6,X7,X8,Y1,Y2\n"
        for _ in range(rows):
            x = [rng.random() for _ in range(8)]
            heat = 10 * math.sin(3 * x[0]) + 5 * x[1]
            text += ",".join(f"{v:.6f}" for v in [*x, heat + 0.1 * rng.gauss(0, 1), 0.8 * heat + 2 * x[2]]) + "\n"
        self.data(FILES["mo-rcgp-table2"], text)

    def wide(self, name, header, rows, start, step, wrong, by):
        """Waves of which one reading is off; the programs know its place."""
        text = header + "\n"
        for i in range(rows):
            values = [1.0 / (1.0 + math.exp(0.3 * (i - rows / 2 + t))) for t in range(header.count(",") - header.count("time,"))]
            if i == wrong[0]:
                values[wrong[1]] += by
            cells = [f"{start + step * i:.4f}", *(f"{100 + v:.6f}" if rows > 30 else f"{v:.6f}" for v in values)]
            text += ",".join(["t", *cells] if "time," in header else cells) + "\n"
        self.data(name, text)

    def picture(self, stem):
        if shutil.which("gnuplot"):
            self.assertTrue(self.read(stem + ".svg").rstrip().endswith("</svg>"))
            self.assertTrue(self.read(stem + ".png", "rb").startswith(b"\x89PNG"))


class EveryProgram(SeveralOutputs):
    def test_help_and_mistakes(self):
        for name in [*DRAWN, *FILES]:
            with self.subTest(name):
                self.assertTrue(self.good(name, "--help").startswith(f"usage: {name} "))
                code, out, err = self.start(name, "--no-such-option")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("usage:", err)

    def test_nothing_runs_without_its_data(self):
        for name, file in FILES.items():
            with self.subTest(name):
                code, out, err = self.start(name, "--data", "nowhere")
                self.assertEqual((code, out), (77, ""), err)
                self.assertIn(os.path.dirname(file), err)
                self.assertIn("nothing was run", err)

    def test_the_tool_lists_them(self):
        listed = self.ok("reproduce").split()
        for name in [*DRAWN, *FILES]:
            self.assertIn(name, listed)


class Tables(SeveralOutputs):
    def test_printed_numbers_stand_beside_ours(self):
        out = self.good("mo-rcgp-table1", "--splits", "0", "--models", "MOGP,MO-RCGP,morcgp", "--json", "kept")
        for row in (r"MOGP \| 0.2 ± 0.03 \| -0.37 ± 0.04", r"MO-RCGP \| 0.11 ± 0.01 \| -0.67 ± 0.08",
                    r"MO-RCGP \| 0.093 ± 0.004 \| -0.95 ± 0.04", r"\*\*ours:\*\* morcgp \|  \| "):
            self.assertRegex(out, r"(?m)^\| " + row + r" \|" + NUMBERS)
        scored = {(r["kind"], r["method"]): r["rmse"] for r in self.lines("kept") if r["set"] == "functions"}
        self.assertLess(scored["outliers", "MO-RCGP"], 0.7 * scored["outliers", "MOGP"])
        self.assertEqual(self.good("mo-rcgp-table1", "--splits", "0", "--models", "MOGP,MO-RCGP,morcgp", "--json",
                                   "kept", "--report"), out)

    def test_buildings(self):
        self.energy()
        out = self.good("mo-rcgp-table2", "--data", "data", "--splits", "0", "--models", "MO-RCGP,t-MOGP,morcgp,morcgp-told",
                        "--json", "kept")
        for row in (r"MO-RCGP \| 0.12 ± 0.01 \| -0.86 ± 0.11", r"MO-RCGP \| 0.13 ± 0.01 \| -0.36 ± 0.06",
                    r"t-MOGP \| 0.16 ± 0.01 \| -0.2 ± 0.02"):
            self.assertRegex(out, r"(?m)^\| " + row + r" \|" + NUMBERS)
        wrong = {(r["kind"], r["wrong"]) for r in self.lines("kept")}
        self.assertEqual(wrong, {("none", 0), ("uniform", 4), ("asymmetric", 4), ("focused", 3)})
        told = {(r["method"], r["kind"]): r["rmse"] for r in self.lines("kept")}
        self.assertNotEqual(told["morcgp", "focused"], told["morcgp-told", "focused"])

    def test_seconds(self):
        self.energy()
        out = self.good("mo-rcgp-table3", "--data", "data", "--models", "MOGP,MO-RCGP", "--kinds", "none",
                        "--splits", "0..1")
        self.assertEqual(len(re.findall(r"(?m)^\| \w+ lengthscales? \| \w+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", out)), 4)
        self.assertRegex(out, r"(?m)^\| none \| MOGP \| [\d.]+ ± [\d.]+ \| [\d.]+ \| \d+ \| 53.9 \| 52 \|")
        self.assertRegex(out, r"(?m)^\| none \| MO-RCGP \| [\d.]+ ± [\d.]+ \| [\d.]+ \| \d+ \| 47.9 \| 174 \| \d+ \| 2 \|")

    def test_seconds_of_fits_that_were_kept(self):
        self.energy()
        self.good("mo-rcgp-table2", "--data", "data", "--splits", "0..1", "--kinds", "none", "--models", "MOGP,t-MOGP,morcgp",
                  "--json", "kept")
        out = self.good("mo-rcgp-table3", "--kept", "kept", "--models", "MOGP,t-MOGP,morcgp")
        rows = re.findall(r"(?m)^\| none \| (?:\*\*ours:\*\* )?([\w-]+) \| ([\d.]+) ± ([\d.]+) \|.*\| 2 \|$", out)
        self.assertEqual([row[0] for row in rows], ["MOGP", "t-MOGP", "morcgp"])
        for name, mean, sd in rows:
            spent = [r["cpu_seconds"] for r in self.lines("kept") if r["method"] == name]
            self.assertAlmostEqual(float(mean), sum(spent) / 2, delta=0.051)
            self.assertAlmostEqual(float(sd), abs(spent[0] - spent[1]) / 2, delta=0.051)
        self.assertNotIn("uniform", out)


class Figures(SeveralOutputs):
    def test_waves(self):
        for name, kind in (("mo-rcgp-fig2", "outliers"), ("mo-rcgp-fig4", "focused")):
            with self.subTest(name):
                out = self.good(name, "--splits", "0", "--models", "MOGP,recentred", "--json", name, "--picture", name)
                self.assertRegex(out, r"(?m)^\| MOGP \|  \|  \|" + NUMBERS)
                scored = {(r["kind"], r["method"]): r["rmse"] for r in self.lines(name) if r["set"] == "functions"}
                self.assertLess(scored[kind, "recentred"], scored[kind, "MOGP"])
                self.picture(name)

    def test_growth(self):
        out = self.good("mo-rcgp-fig5", "--splits", "0", "--kinds", "0,2", "--models", "MOGP,MO-RCGP,joint", "--picture",
                        "p")
        grown = re.search(r"(?m)^\| 2 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", out)
        self.assertIn("| 0 | 1.00 | 1.00 | 1.00 |", out)
        self.assertLess(float(grown[2]), float(grown[1]))
        self.picture("p")


class Cases(SeveralOutputs):
    def test_dose_and_response(self):
        self.wide(FILES["mo-rcgp-navitoclax"], "log10_dose,P12_ICHIKAWA,ARH_77", 21, -2.7, 0.25, (15, 0), 1.2)
        out = self.good("mo-rcgp-navitoclax", "--data", "data", "--models", "MOGP,MO-RCGP,recentred", "--folds", "3",
                        "--picture", "p")
        move = {name: float(by) for name, by in re.findall(
            r"(?m)^\| (?:\*\*ours:\*\* )?([\w-]+) \| [\d.]+ \| \S+ \| \S+ \| \S+ \| (\S+) \|", out)}
        self.assertEqual(set(move), {"MOGP", "MO-RCGP", "recentred"})
        self.assertLess(move["MO-RCGP"], move["MOGP"])
        self.picture("p")

    def test_prices_have_gaps(self):
        header = "time,minutes,fncl5,fncl5_5,fncl6"
        self.wide(FILES["mo-rcgp-mbs"], header, 70, 0.0, 9.5, (61, 1), 0.3)
        lines = self.read("data/" + FILES["mo-rcgp-mbs"]).splitlines()
        lines[2::3] = [line.rsplit(",", 1)[0] + "," for line in lines[2::3]]
        self.data(FILES["mo-rcgp-mbs"], "\n".join(lines) + "\n")
        out = self.good("mo-rcgp-mbs", "--data", "data", "--models", "MOGP,recentred", "--folds", "2", "--picture", "p")
        self.assertEqual(len(re.findall(r"(?m)^\| (?:MOGP|\*\*ours:\*\* recentred) \|", out)), 4)
        self.picture("p")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-mo-rcgp-table1")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
