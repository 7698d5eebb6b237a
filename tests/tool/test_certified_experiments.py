# SPDX-License-Identifier: Apache-2.0
"""Experiments with certified probabilities: each runs at its smallest, goes on where it was, and says what it lacks."""
import json
import os
import random
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

FOLDER = os.path.join(os.environ.get("HF_BUILD", os.path.join(SOURCE, "build")), "experiments")


class Certified(ToolCase):
    def start(self, name, *arguments):
        return subprocess.run([os.path.join(FOLDER, "hf-reproduce-certified-" + name), *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=200, check=False)

    def good(self, name, *arguments):
        done = self.start(name, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def test_help(self):
        listed = self.ok("reproduce").split()
        for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "values"):
            self.assertIn("certified-" + name, listed)
            self.assertTrue(self.good(name, "--help").startswith("usage: certified-%s " % name))

    def test_fig2_sweeps_are_nested(self):
        small = ["--sets", "synthetic2d", "--train", 60, "--evaluations", 8, "--json", "r.jsonl"]
        first = self.good("fig2", *small)
        everything = self.lines("r.jsonl")
        rows = everything[:14]
        self.assertEqual([row["case"] for row in rows], [f"synthetic2d {k + 1}" for k in range(14)])
        # The first row of the figure: a map of the probability in which the point lies, and test points.
        self.assertEqual({row["case"].split()[1] for row in everything[14:]}, {"map", "dot", "point"})
        self.assertEqual(sum(" map " in row["case"] for row in everything), 31 * 31)
        self.assertTrue(all(0 <= row["shown"] <= 1 for row in everything if " map " in row["case"]))
        for row, wider in zip(rows, rows[1:]):
            self.assertLessEqual(row["lower"], row["lower_attained"])
            self.assertLessEqual(row["upper_attained"], row["upper"])
            self.assertGreaterEqual(row["attack"], row["lower"])
            self.assertLessEqual(wider["lower"], row["lower_attained"])
            self.assertGreaterEqual(wider["upper"], row["upper_attained"])
        self.assertEqual(self.good("fig2", *small, "--report"), first)
        self.assertEqual(self.good("fig2", *small), first)

    def test_fig2_digits_come_with_holdfast(self):
        """Ten of 64 pixels move, of a picture that needs no folder of data."""
        first = self.good("fig2", "--sets", "digits358", "--data", "nowhere", "--train", 40, "--evaluations", 6, "--limit", 1, "--json",
                          "r.jsonl")
        rows = self.lines("r.jsonl")
        pixels = [row for row in rows if " pixel " in row["case"]]
        self.assertEqual(len(pixels), 64)
        self.assertEqual(sum(row["moves"] for row in pixels), 10)
        self.assertTrue(all(row["shown"] * 16 in range(17) for row in pixels))
        self.assertTrue(all(row["lower"] <= row["at_point"] <= row["upper"] for row in rows[:14]))
        self.assertIn("| digits358 | - | ", first)

    def test_digits(self):
        """The file is as data/README.md describes it."""
        lines = self.read(os.path.join(SOURCE, "data", "digits.csv")).splitlines()
        rows = [[int(number) for number in line.split(",")] for line in lines[1:]]
        self.assertEqual([sum(row[0] == digit for row in rows) for digit in (3, 5, 8)], [183, 182, 174])
        self.assertEqual(len(rows), 539)
        self.assertTrue(all(len(row) == 65 and 0 <= min(row) and max(row) <= 16 for row in rows))

    def test_fig3(self):
        small = ["--sets", "synthetic2d", "--train", 60, "--points", 3, "--most", 10, "--json", "r.jsonl"]
        first = self.good("fig3", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual(len(rows), 6)
        self.assertTrue(all(0 <= row["delta_attained"] <= row["delta"] <= row["delta_attained"] + 0.0201 for row in rows))
        self.assertIn("| synthetic2d | ep | 10 (", first)
        self.assertEqual(self.good("fig3", *small, "--report"), first)

    def test_fig4(self):
        small = ["--sets", "synthetic2d", "--training", "40,60", "--inducing", "10,50", "--methods", "dtc,var", "--points", 3,
                 "--evaluations", 6, "--json", "r.jsonl"]
        first = self.good("fig4", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual({row["case"].rsplit(" ", 1)[0] for row in rows},
                         {f"synthetic2d {method} {sizes}" for method in ("dtc", "var") for sizes in ("40 10", "60 10", "60 50")})
        self.assertTrue(all(0 <= row["delta_attained"] <= row["delta"] <= row["delta_attained"] + 0.0201 for row in rows))
        self.assertEqual(first.count("| falls"), 1)
        self.assertEqual(self.good("fig4", *small, "--report"), first)

    def test_fig4_moved(self):
        """Five sixths of the 357 threes and eights train; the rest of the training pictures are those, moved."""
        small = ["--sets", "digits38", "--data", "nowhere", "--training", "30,310", "--inducing", "10", "--methods", "fic", "--points", 2,
                 "--evaluations", 5]
        self.good("fig4", *small, "--json", "r.jsonl")
        self.good("fig4", *small, "--json", "m.jsonl", "--moved")
        cases = ["digits38 fic 30 10 0", "digits38 fic 30 10 1"]
        self.assertEqual([row["case"] for row in self.lines("r.jsonl")], cases)
        moved = self.lines("m.jsonl")
        self.assertEqual([row["case"] for row in moved], cases + ["digits38 fic 310 10 0", "digits38 fic 310 10 1"])
        for row, same in zip(self.lines("r.jsonl"), moved):
            self.assertEqual(row["delta"], same["delta"])

    def test_fig5(self):
        """Nearby, a linear fit and the certified scores say the same."""
        small = ["--sets", "synthetic2d", "--train", 60, "--points", 4, "--evaluations", 8, "--gammas", "0.05,2", "--json", "r.jsonl"]
        first = self.good("fig5", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual([row["case"] for row in rows], [f"synthetic2d {gamma} {i}" for gamma in ("0.05", "2") for i in (1, 2)])
        for row in rows:
            self.assertLess(row["lower"], row["upper"])
            self.assertLessEqual(row["upper"] - row["lower"], 0.0401)
        for row in rows[:2]:
            self.assertLess(row["lower"] - 0.01, row["linear"])
            self.assertGreater(row["upper"] + 0.01, row["linear"])
        self.assertIn("| synthetic2d | 2 | 4 | 2 | ", first)
        self.assertEqual(self.good("fig5", *small, "--report"), first)

    def test_fig6(self):
        """One block of pixels tells the digits apart, and an image is another once they have changed."""
        rng = random.Random(2)
        text = "label," + ",".join(f"s{i}_{j}" for i in range(14) for j in range(14)) + "\n"
        for k in range(40):
            pixels = [rng.randrange(500, 520) for _ in range(196)]
            pixels[90:94] = [rng.randrange(700, 1020) if k % 2 else rng.randrange(300)] * 4
            text += f"{8 if k % 2 else 3}," + ",".join(map(str, pixels)) + "\n"
        os.makedirs(self.path("data/mnist_t10k_14x14"))
        self.write("data/mnist_t10k_14x14/mnist38_14x14_sum4.csv", text)
        small = ["--sets", "mnist38", "--data", "data", "--train", 30, "--evaluations", 20, "--images", 2, "--json", "r.jsonl"]
        first = self.good("fig6", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual([row["case"] for row in rows], [f"mnist38 {image} {k}" for image in (0, 1) for k in range(196)])
        for image in (rows[:196], rows[196:]):
            score = [abs(row["lower"] + row["upper"]) for row in image]
            self.assertTrue(90 <= score.index(max(score)) < 94)
            self.assertTrue(all(row["lower"] <= row["upper"] <= row["lower"] + 0.0041 for row in image))
            self.assertGreater(image[0]["gap"], 0)
            self.assertEqual(image[0]["gap"], image[0]["linear_gap"])
            self.assertTrue(all(0 <= row["changed"] <= 1 for row in image))
        self.assertEqual(self.good("fig6", *small, "--report"), first)

    def test_fig6_digits(self):
        first = self.good("fig6", "--sets", "digits38", "--data", "nowhere", "--train", 40, "--evaluations", 6, "--images", 1, "--limit", 1,
                          "--json", "r.jsonl")
        self.assertEqual([row["case"] for row in self.lines("r.jsonl")], [f"digits38 0 {k}" for k in range(64)])
        self.assertIn("| digits38 | 1 | 3 | ", first)

    def test_values(self):
        """No attack leaves what is certified, and along one input an attack finds all of it."""
        small = ["--tables", "faithful,swiss", "--gammas", "0.2,1", "--points", 4, "--limit", 5, "--json", "r.jsonl"]
        first = self.good("values", *small)
        rows = self.lines("r.jsonl")
        self.assertEqual([row["case"] for row in rows], [f"{table} {value} {gamma} {k}" for table in ("faithful", "swiss")
                                                         for value in ("mean", "sd") for gamma in ("0.2", "1") for k in range(4)])
        for row in rows:
            self.assertLessEqual(max(row["attained"], row["sign"], row["projected"]), row["certified"])
            if not row["stopped"]:
                self.assertLessEqual(row["certified"], row["attained"] + 0.00501)
            if row["inputs"] == 1 and " 0.2 " in row["case"]:
                self.assertGreaterEqual(row["projected"], row["attained"] - 0.005)
        self.assertIn("| swiss, sd, 1 | 5 | 4 | ", first)
        self.assertEqual(self.good("values", *small, "--report"), first)
        done = self.start("values", "--tables", "nothing")
        self.assertEqual((done.returncode, done.stderr), (1, "nothing: there is no such table in data/bed\n"))

    def test_data_that_are_not_there(self):
        for name, sets in (("fig2", "spam"), ("fig3", "mnist38"), ("fig4", "mnist38"), ("fig5", "spam"), ("fig6", "mnist358")):
            done = self.start(name, "--sets", sets, "--data", "nowhere")
            self.assertEqual(done.returncode, 77, name)
            self.assertIn(sets + " is left out", done.stderr)
            self.assertIn("--data DIR", done.stderr)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(FOLDER, "hf-reproduce-certified-fig2")):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
