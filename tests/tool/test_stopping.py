# SPDX-License-Identifier: Apache-2.0
"""Ends of a search of certified ranges: a signal within one big box, limits of time and memory, and what is told then."""
import math
import random
import signal
import subprocess
import time
import unittest

from toolcase import TOOL, ToolCase, table

BOX = "a=-2:2,b=-2:2,c=-2:2,d=-2:2,e=-2:2"
ENDLESS = ["--tolerance", "1e-9", "--time-limit", "0", "--memory-limit", "0"]


class Stopping(ToolCase):
    def rough(self):
        """A model whose means take far longer than anybody waits for, over a box: nothing in it is trained, so that this holds everywhere."""
        draw = random.Random(3)
        rows = [[draw.uniform(-2, 2) for _ in range(5)] for _ in range(300)]
        lines = [",".join("%.4f" % number for number in row + [math.sin(2 * row[0]) + math.sin(2 * row[1] + row[2]) + math.cos(2 * row[3]) * row[4]]) for row in rows]
        self.write("five.csv", "a,b,c,d,e,y\n" + "\n".join(lines) + "\n")
        self.ok("fit", "five.csv", "-t", "y", "-k", "matern32(lengthscale=1.5)", "--no-train", "--preset", "gp", "-q", "-o", "rough.hf")
        return "rough.hf"

    def kinds(self):
        draw = random.Random(5)
        lines = ["a,b,kind"]
        for i in range(60):
            angle = 2 * math.pi * (i % 3) / 3
            lines.append("%.4f,%.4f,%s" % (math.cos(angle) + draw.gauss(0, 0.5), math.sin(angle) + draw.gauss(0, 0.5), "uvw"[i % 3]))
        self.write("kinds.csv", "\n".join(lines) + "\n")
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "softmax", "--no-train", "-q", "-o", "kinds.hf")
        return "kinds.hf"

    def started(self, process):
        """Waits until the tool listens to signals."""
        for _ in range(600):
            self.assertIsNone(process.poll(), "it was over at once")
            with open("/proc/%d/status" % process.pid) as status:
                caught = [line for line in status if line.startswith("SigCgt")]
            if int(caught[0].split()[1], 16) >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.1)
        self.fail("it never listened to signals")

    def stops(self, *arguments):
        """It is told to stop within a search that would take minutes, and does so without leaving anything."""
        before = self.files()
        process = subprocess.Popen([TOOL, *arguments, "-q"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.started(process)
            time.sleep(0.5)
            self.assertIsNone(process.poll(), arguments)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
        self.assertEqual((process.returncode, out), (128 + signal.SIGTERM, ""), (arguments, err))
        self.assertIn("stopped; nothing was written", err)
        self.assertEqual(self.files(), before)

    def test_a_signal_ends_the_search_of_one_box(self):
        model, box = self.rough(), ["--box", BOX]
        for more in (["certify", model, *box], ["certify", model, *box, "--threads", "2", "--what", "sd"],
                     ["certify", model, *box, "--rigorous", "--threads", "2"],
                     ["extremum", model, "--maximum", "--beta", "1", *box],
                     ["certify", model, "--at", "five.csv", "--radius", "2", "--threads", "2", "--what", "sd"]):
            with self.subTest(more):
                self.stops(*more, *ENDLESS, "-o", "out.csv")

    def test_a_signal_ends_searches_about_classes(self):
        model = self.kinds()
        self.stops("certify", model, "--at", "kinds.csv", "--radius", "1", "--tolerance", "1e-4", *ENDLESS[2:], "-o", "out.csv")
        self.stops("attack", model, "--at", "kinds.csv", "--radius", "1", "--steps", "1000000", "-o", "out.csv")

    def test_memory_has_a_limit(self):
        model = self.rough()
        for verb in (["certify", "--what", "sd"], ["extremum", "--minimum", "--beta", "-1"]):
            code, out, err = self.run_tool(*verb, model, "--box", BOX, "--tolerance", "1e-9", "--memory-limit", "1")
            self.assertEqual((code, table(out)["status"]), (0, ["memory limit"]), err)
            self.assertIn("1 of 1 box ended at the memory limit, 1 MiB a box (--memory-limit)", err)

    def test_time_is_shared_by_all_boxes(self):
        model = self.rough()
        self.write("at.csv", "a,b,c,d,e\n1,0,0,0,0\n0,0.3,0,1,1\n0,-0.2,1,0,1\n")
        where = [model, "--at", "at.csv", "--radius", "1", "--what", "sd", "--tolerance", "1e-9"]
        code, out, err = self.run_tool("certify", *where, "--total-time", "0.3")
        self.assertEqual((code, table(out)["status"]), (0, ["time limit"] * 3), err)
        self.assertIn("3 of 3 boxes ended at a time limit, 60 s a box (--time-limit), 0.3 s for all (--total-time)", err)
        whole = table(self.ok("certify", *where, "--node-limit", "1"))
        for k in range(3):
            self.assertLessEqual(whole["lower"][k], table(out)["lower"][k])
            self.assertGreaterEqual(whole["upper"][k], table(out)["upper"][k])
        code, out, err = self.run_tool("certify", *where, "--time-limit", "0.05")
        self.assertIn("3 of 3 boxes ended at a time limit, 0.05 s a box (--time-limit):", err)
        code, out, err = self.run_tool("explain", model, "--at", "at.csv", "--step", "1", "--tolerance", "1e-9", "--total-time", "1e-6")
        self.assertEqual(code, 0, err)
        self.assertIn("stopped by a limit", err)
        for name, value in (("--total-time", "-1"), ("--time-limit", "-0.5"), ("--memory-limit", "x"), ("--total-time", "nan")):
            self.fails(["certify", *where, name, value], name, code=2)

    def test_time_is_shared_by_questions_about_classes(self):
        model = self.kinds()
        where = ["certify", model, "--at", "kinds.csv", "--total-time", "0.5", "-q"]
        decided = table(self.ok(*where, "--radius", "0.3,0.6", "--what", "decision"))
        self.assertEqual(len(decided["status"]), 120)
        radii = table(self.ok(*where, "--radius", "1", "--max-radius"))
        for least, broken in zip(radii["certified_radius"], radii["broken_radius"]):
            self.assertFalse(least >= broken)
        counts = table(self.ok(*where, "--radius", "0.3,0.6", "--what", "accuracy"))
        self.assertEqual(counts["rows"], [60, 60])


if __name__ == "__main__":
    unittest.main()
