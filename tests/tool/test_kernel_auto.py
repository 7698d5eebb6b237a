# SPDX-License-Identifier: Apache-2.0
"""fit --kernel auto: the kernel that predicts best is kept, named and told of, or the tool says what stands in the way."""
import json
import math
import unittest

from toolcase import ToolCase, table


class KernelAuto(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=60)
        data = table(self.read("wave.csv"))
        rows = [(6 * b + 2 * math.sin(12 * a), a, b, i % 7, i % 5) for i, (a, b) in enumerate(zip(data["a"], data["b"]))]
        rows = [(y - 4 * c + 5 * d, a, b, c, d) for y, a, b, c, d in rows]
        self.write("plane.csv", "y,a,b,c,d\n" + "".join("%r,%r,%r,%r,%r\n" % row for row in rows))
        self.fit = ["fit", "plane.csv", "--target", "y", "--kernel", "auto"]

    def test_the_chosen_kernel_is_kept_and_told(self):
        linear = "matern52(ard) + linear(ard)"
        report = json.loads(self.ok(*self.fit, "-o", "auto.hf", "--json", quiet=False))
        self.assertEqual(report["settings"]["kernel"], linear)
        told = [note for note in report["notes"] if note.startswith("kernel: %s (leave-one-out density better by " % linear)]
        self.assertEqual(len(told), 1)
        self.assertTrue(told[0].endswith(" nats a reading than with matern52(ard))"))
        self.assertIn("kernel       " + linear, self.ok("inspect", "auto.hf"))
        self.ok("fit", "plane.csv", "-t", "y", "--kernel", linear, "-o", "hand.hf")
        self.assertEqual(self.ok("predict", "auto.hf", "plane.csv"), self.ok("predict", "hand.hf", "plane.csv"))

    def test_what_stands_in_the_way_is_told(self):
        self.fails(self.fit + ["--stream"], "--stream", code=2)
        self.fails(self.fit + ["--checkpoint", "c"], "checkpoint", code=2)
        self.fails(self.fit + ["--output-column", "c"], "--output-column", code=2)
        self.fails(["fit", "plane.csv", "-t", "y,a", "--kernel", "auto"], "one output", code=2)
        self.fails(self.fit + ["--set", "lengthscale[0]=1"], "'lengthscale[0]'")
        self.fails(["fit", "plane.csv", "-t", "c", "--sites", "softmax", "--kernel", "auto"], "kernel auto", code=2)
        self.assertIn("flops", self.ok(*self.fit, "--dry-run"))


if __name__ == "__main__":
    unittest.main()
