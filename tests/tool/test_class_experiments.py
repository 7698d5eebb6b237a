# SPDX-License-Identifier: Apache-2.0
"""The accuracy of classifiers: the program runs on made-up data and on small files, and says plainly what it lacks."""
import os
import random
import re
import unittest

from test_experiments import FOLDER, Experiment

ROW = re.compile(r"^(\S+) +(laplace|ep|corrected) +1 +(\d+) +(\d+) +(-?[\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +\d+ +[\d.]+$", re.M)


class Accuracy(Experiment):
    def test_help_mistakes_and_no_data(self):
        self.assertTrue(self.good("class-accuracy", "--help").startswith("usage: class-accuracy "))
        for arguments in (["--no-such-option"], ["--sets", "boston"], ["--methods", "guess"]):
            code, out, err = self.start("class-accuracy", *arguments)
            self.assertEqual((code, out), (2, ""), arguments)
            self.assertTrue(err)
        code, out, err = self.start("class-accuracy", "--data", "nowhere", "--sets", "spam,mnist358")
        self.assertEqual(code, 77)
        self.assertFalse(ROW.search(out))
        self.assertIn("--data DIR", err)

    def test_clouds_that_hardly_overlap(self):
        out = self.good("class-accuracy", "--sets", "synthetic2d", "--train", 60, "--test", 50, "--iterations", 3)
        rows = ROW.findall(out)
        self.assertEqual([(row[0], row[1], row[2], row[3]) for row in rows],
                         [("synthetic2d", method, "60", "50") for method in ("laplace", "ep")])
        for row in rows:
            self.assertGreater(float(row[5]), 0.95)
            self.assertLess(float(row[6]), 0.4)

    def test_three_digits(self):
        """Pixels of which a block says what the digit is."""
        rng = random.Random(2)
        text = "label," + ",".join(f"s{i}_{j}" for i in range(14) for j in range(14)) + "\n"
        for k in range(60):
            digit = k % 3
            pixels = [rng.randrange(100) for _ in range(196)]
            pixels[50 * digit : 50 * digit + 40] = [1020] * 40
            text += f"{(3, 5, 8)[digit]}," + ",".join(map(str, pixels)) + "\n"
        os.makedirs(self.path("data/mnist_t10k_14x14"))
        self.write("data/mnist_t10k_14x14/mnist358_14x14_sum4.csv", text)
        out = self.good("class-accuracy", "--data", "data", "--sets", "mnist358", "--train", 45, "--test", 100, "--iterations", 2)
        rows = ROW.findall(out)
        self.assertEqual([row[:4] for row in rows], [("mnist358", method, "45", "15") for method in ("laplace", "corrected")])
        for row in rows:
            self.assertGreater(float(row[5]), 0.9)
        self.assertLess(float(rows[1][6]), float(rows[0][6]))


if __name__ == "__main__":
    if not os.access(os.path.join(FOLDER, "hf-reproduce-class-accuracy"), os.X_OK):
        print("skipped: the experiments are not built")
        raise SystemExit(77)
    unittest.main()
