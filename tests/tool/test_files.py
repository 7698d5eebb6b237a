# SPDX-License-Identifier: Apache-2.0
"""No file of a command is lost to another one of the same command, whatever the two are called."""
import os
import shutil
import unittest

from toolcase import ToolCase

GNUPLOT = shutil.which("gnuplot") is not None


class Files(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf", "-q")
        os.symlink("wave.csv", self.path("link.csv"))
        os.link(self.path("wave.csv"), self.path("hard.csv"))
        os.mkdir(self.path("in"))

    def content(self):
        return {name: self.read(name, "rb") for name in self.files() if os.path.isfile(self.path(name))}

    def each_is_refused(self, commands, words, code):
        for arguments in commands:
            before = self.content()
            self.fails(arguments, words, code=code)
            self.assertEqual(self.content(), before, arguments)

    def test_nothing_that_is_read_is_written(self):
        """The first operand is in test_track_tables.py."""
        at = ["--at", "wave.csv", "--radius", "0.1"]
        bound = ["bound", "wave.csv", "-t", "y", "-k", "se(lengthscale=1)", "-b", "1", "--norm", "9", "--at"]
        shutil.copy(self.path("wave.csv"), self.path("q.csv"))
        self.ok("track", "create", "t.hf", "--box", "a=0:1", "--drift", "0.1", "-q")
        commands = [["attack", "m.hf", *at, "-o", name] for name in ("wave.csv", "./wave.csv", "in/../wave.csv", "link.csv", "hard.csv")]
        commands += [["certify", "m.hf", *at, "-o", self.path("wave.csv")],
                     ["certify", "m.hf", "--box", "q.csv,wave.csv", "-o", "hard.csv"],
                     ["certify", "m.hf", *at, "--max-radius", "-o", "c.csv", "--counterexamples", "wave.csv"],
                     ["explain", "m.hf", "--at", "wave.csv", "--step", "0.1", "-o", "wave.csv"],
                     ["extremum", "m.hf", "--maximum", "--box", "q.csv,wave.csv", "-o", "q.csv"],
                     bound + ["q.csv", "-o", "q.csv"], bound + ["q.csv", "-o", "b.csv", "--save", "q.csv"],
                     ["fit", "wave.csv", "-t", "y", "-o", "n.hf", "--checkpoint", "link.csv"],
                     ["fit", "wave.csv", "-t", "y", "--preset", "svgp", "--stream", "--cache", "hard.csv"],
                     ["track", "refresh", "t.hf", "--time", "1", "--answers", "q.csv", "-o", "./q.csv"]]
        self.each_is_refused(commands, "it is what the command reads", 1)

    def test_no_two_outputs_are_one_file(self):
        self.ok("track", "create", "t.hf", "--box", "a=0:1", "--drift", "0.1", "-q")
        self.write("old", "")
        os.link(self.path("old"), self.path("same"))
        at = ["--at", "wave.csv", "--radius", "0.1"]
        commands = [["fit", "wave.csv", "-t", "y", "-o", "x.hf", "--checkpoint", name] for name in ("x.hf", "in/../x.hf", self.path("x.hf"))]
        commands += [["fit", "wave.csv", "-t", "y", "-o", "old", "--checkpoint", "same"],
                     ["certify", "m.hf", *at, "-o", "d.csv", "--counterexamples", "./d.csv", "--max-radius"],
                     ["contaminate", "wave.csv", "-t", "y", "--kind", "uniform", "-o", "d.csv", "--mask", "d.csv"],
                     ["bound", "wave.csv", "-t", "y", "-k", "se(lengthscale=1)", "-b", "1", "--norm", "9", "--at", "wave.csv",
                      "-o", "e.hf", "--save", "./e.hf"],
                     ["track", "show", "t.hf", "-r", "x.csv", "--history", "x.csv"]]
        if GNUPLOT:
            commands.append(["certify", "m.hf", *at, "-o", "p.svg", "--plot", "./p.svg"])
            commands.append(["explain", "m.hf", "--at", "wave.csv", "--step", "0.1", "-o", "p.svg", "--plot", "p.svg"])
        self.each_is_refused(commands, "name the same file", 2)
        self.fails(["contaminate", "wave.csv", "-t", "y", "--kind", "uniform", "-o", "-", "--mask", "/dev/stdout"], "standard output", code=2)

    def test_files_without_an_option_count(self):
        """The default picture, the files of --data-only, the default cache and the default checkpoint."""
        shutil.copy(self.path("m.hf"), self.path("m.svg"))
        os.symlink("m.hf", self.path("p-rows.csv"))
        self.each_is_refused([["plot", "m.svg", "--data-only"], ["plot", "m.hf", "-o", "p.svg", "--data-only"]],
                             "it is what the command reads", 1)
        os.symlink("wave.csv", self.path("n.hf.checkpoint"))
        os.symlink("wave.csv", self.path("wave.csv.hfcache"))
        self.each_is_refused([["fit", "wave.csv", "-t", "y", "-o", "n.hf", "--resume"],
                              ["fit", "wave.csv", "-t", "y", "--preset", "svgp", "--stream"]], "it is what the command reads", 1)
        self.write("twins", "")
        os.symlink("twins", self.path("t.gp"))
        os.symlink("twins", self.path("t-slice.csv"))
        self.each_is_refused([["plot", "m.hf", "-o", "t.svg", "--data-only"]], "name the same file", 2)

    def test_what_goes_together_is_allowed(self):
        self.ok("predict", "m.hf", "wave.csv", "-o", "wave.csv")
        self.assertIn("y_mean", self.read("wave.csv"))
        self.ok("fit", "hard.csv", "-t", "y", "-o", "n.hf", "--checkpoint", "n.hf.checkpoint", "-q")
        self.assertTrue(os.path.exists(self.path("n.hf")))
        self.ok("fit", "wave.csv", "-t", "y", "--stream", "--no-train", "-q", "-o", "n.hf", "--cache", "c")
        self.ok("certify", "m.hf", "--at", "hard.csv", "--radius", "0", "--node-limit", "1", "-o", "/dev/null")


if __name__ == "__main__":
    unittest.main()
