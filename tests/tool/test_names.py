# SPDX-License-Identifier: Apache-2.0
"""Names of files, columns, classes and candidates are names, in pictures, scripts and on the terminal: nothing runs, nothing is lost, every SVG is XML."""
import json
import os
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from toolcase import TOOL, ToolCase

NAMES = ["'; system \"touch RAN\"; #", "`touch RAN`", "a''; system 'touch RAN' #", "@x", "'t", "a'''b", "100% cotton", "%s%n",
         "rate [%]", "]]>", "{/Symbol a}\\", "<b>&amp;", "x\n!touch RAN", "\x1b[31m", "\x01\x7f\x9b", "\ufffe", b"\x80\xff", "\u00e9"]
NAMES = [os.fsdecode(name) if isinstance(name, bytes) else name for name in NAMES]
# Names that a picture shows whole.
SHOWN = ["'t", "a'''b", "100% cotton", "%s%n", "rate [%]", "@x", "`touch RAN`", "<b>&amp;", "{/Symbol a}\\", "\u00e9"]
FILES = ["|touch RAN;.svg", "`touch RAN`.svg", "$(touch RAN).svg", "'p.svg", "a''b.svg", '"q".svg', "a\nb.svg", "t\tu.svg", "~/p.svg",
         "%d \u00e9.svg", "back\\slash.svg"]


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class Names(ToolCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("~"))
        os.mkdir(self.path("home"))
        self.environment = dict(os.environ, HOME=self.path("home"))

    def raw(self, *arguments, program=TOOL):
        """A run that must succeed and touch nothing; what it printed, of bytes that a terminal obeys none."""
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, capture_output=True, env=self.environment, timeout=200)
        printed = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, (arguments, printed))
        self.assertEqual(sorted(set(printed) & (set(range(32)) - {9, 10} | {127})), [], arguments)
        self.assertNotIn("\x9b", printed.decode("utf-8", "replace"), arguments)
        self.assertFalse([name for _, _, files in os.walk(self.folder) for name in files if "RAN" == name], arguments)
        return printed

    def texts(self, name):
        """Texts of a picture, which must be XML."""
        root = ElementTree.parse(self.path(name)).getroot()
        return "\n".join("".join(item.itertext()) for item in root.iter("{http://www.w3.org/2000/svg}text"))

    def quoted(self, name):
        return '"%s"' % name.replace('"', '""')

    def table(self, name, header, rows):
        return self.write(name, os.fsencode("\n".join([",".join(map(self.quoted, header))] + [",".join(row) for row in rows]) + "\n"))

    def fit_all(self):
        """A model whose inputs have all the names."""
        self.table("t.csv", NAMES + ["y"], [["%d" % (i * (j + 3) % 7) for j in range(len(NAMES))] + [str(i % 5)] for i in range(12)])
        self.raw("fit", "t.csv", "-t", "y", "--no-train", "--preset", "gp", "-o", "m.hf", "-q")

    def test_names_of_files(self):
        self.wave()
        self.raw("fit", "wave.csv", "-t", "y", "--no-train", "-o", "m.hf", "-q")
        self.raw("track", "create", "k.hf", "--box", "x=0:1", "--drift", "0.1", "-q")
        self.raw("track", "tell", "k.hf", "--time", "0", "--x", "0.5", "--y", "1")
        at = ["--at", "wave.csv", "--node-limit", "1", "-o", "answers.csv", "--plot"]
        for name in FILES:
            self.raw("plot", "m.hf", "-o", name)
            self.texts(name)
            self.raw("plot", "m.hf", "-o", name, "--data-only")
            os.remove(self.path(name))
            script = name.replace(".svg", ".gp")  # gnuplot's own command line would take the name apart
            with open(self.path(script), "rb") as file:
                subprocess.run(["gnuplot", "-d"], stdin=file, cwd=self.folder, env=self.environment, check=True)
            self.texts(name)
        for name in FILES[:3]:
            self.raw("track", "plot", "k.hf", "-o", name)
            self.raw("certify", "m.hf", "--radius", "0.1,0.2", *at, name)
            self.texts(name)
            self.raw("explain", "m.hf", "--step", "0.1", *at, name)
            self.texts(name)
        os.rename(self.path("m.hf"), self.path("|touch RAN;.hf"))
        self.raw("plot", "|touch RAN;.hf")
        self.texts("|touch RAN;.svg")
        self.assertEqual([name for _, _, files in os.walk(self.folder) for name in files if ".part-" in name or name.endswith(".tmp")], [])
        self.assertEqual(os.listdir(self.path("home")), [])

    def test_names_of_inputs(self):
        self.fit_all()
        for verb in (["inspect", "m.hf"], ["explain", "m.hf", "--at", "t.csv", "--step", "0.1", "--node-limit", "1", "--mean", "-o", "e.csv",
                                           "--plot", "e.svg"]):
            self.raw(*verb)
        shown = self.texts("e.svg")
        for name in SHOWN:
            self.assertIn(name, shown)
        for name in NAMES[1::3]:
            self.raw("plot", "m.hf", "--x", name, "-o", "p.svg")
            shown = self.texts("p.svg")
            if name in SHOWN:
                self.assertIn(name, shown)

    def test_names_of_targets_and_envelopes(self):
        for name in NAMES[::3]:
            self.table("t.csv", ["a", name], [[str(i), str(i % 3)] for i in range(6)])
            self.raw("bound", "t.csv", "--target=" + name, "-k", "se(lengthscale=1)", "-b", "2", "--norm", "9", "--save", "e.hf")
            self.raw("inspect", "e.hf")
            self.raw("plot", "e.hf", "-o", "p.svg")
            shown = self.texts("p.svg")
            if name in SHOWN:
                self.assertIn(name, shown)
            self.raw("fit", "t.csv", "--target=" + name, "--no-train", "--preset", "gp", "-o", "m.hf")

    def test_names_of_classes(self):
        # Once six, then four: probabilities of more classes take long.
        for names in [NAMES[:6]] + [NAMES[k:k + 4] for k in range(6, len(NAMES), 4)]:
            self.table("t.csv", ["a", "class"], [[str(i % 11), self.quoted(names[i % len(names)])] for i in range(24)])
            self.raw("fit", "t.csv", "-t", "class", "--sites", "softmax", "--no-train", "-o", "m.hf", "-q")
            self.raw("inspect", "m.hf")
            self.raw("plot", "m.hf", "-o", "p.svg")
            shown = self.texts("p.svg")
            for name in set(names) & set(SHOWN):
                self.assertIn(name, shown)

    def test_names_of_candidates(self):
        names = NAMES[:-2] + NAMES[-1:]  # candidates are UTF-8
        self.table("places.csv", ["place", "x"], [[self.quoted(name), str(k)] for k, name in enumerate(names)])
        self.raw("track", "create", "k.hf", "--candidates", "places.csv", "--drift", "0.1", "-q")
        for time, name in enumerate(names):
            self.raw("track", "tell", "k.hf", "--time", time, "--candidate=" + name, "--y", "1")
        for verb in (["ask", "k.hf", "--time", len(names)], ["show", "k.hf"], ["undo", "k.hf"], ["plot", "k.hf", "-o", "p.svg"]):
            self.raw("track", *verb)
        shown = self.texts("p.svg")
        for name in set(names) & set(SHOWN):
            self.assertIn(name, shown)

    def test_json_of_outputs_that_are_not_utf8(self):
        name = os.fsdecode(b"y\xe9")
        self.table("t.csv", ["a", name, "z"], [[str(i), str(i % 4), str(i % 3)] for i in range(9)])
        self.raw("fit", "t.csv", "--target=" + name + ",z", "--no-train", "--preset", "gp", "-o", "m.hf", "-q")
        made = json.loads(self.raw("inspect", "m.hf", "--moved", "3:z=2", "--json"))
        self.assertEqual(list(made["outputs"]), ["y\\xE9", "z"])

    def test_json_of_names_that_are_not_utf8(self):
        name = os.fsdecode(b"\x80\xff")
        self.table("t.csv", [name, name + "b", name + "y"], [[str(i), str(i % 4), str(i % 3)] for i in range(9)])
        self.raw("fit", "t.csv", "--target=" + name + "y", "--no-train", "--preset", "gp", "-o", name + ".hf", "-q")
        for verb in (["inspect", name + ".hf"], ["score", name + ".hf", "t.csv"], ["predict", name + ".hf", "t.csv", "-o", "p.csv"],
                     ["plot", name + ".hf", "-o", name + ".svg"],
                     ["extremum", name + ".hf", "--maximum", "--node-limit", "1", "-o", name + ".csv"],
                     ["bound", "t.csv", "--target=" + name + "y", "-k", "se(lengthscale=1)", "-b", "2", "--norm", "9", "--save", name + "e.hf"],
                     ["inspect", name + "e.hf"]):
            made = json.loads(self.raw(*verb, "--json", "-q"))
            if verb[0] == "inspect":
                self.assertEqual(len(made.get("features", made.get("inputs"))), 2)

    def test_settings_of_the_user_change_no_picture(self):
        self.wave()
        self.raw("fit", "wave.csv", "-t", "y", "--no-train", "-o", "m.hf", "-q")
        self.raw("plot", "m.hf", "-o", "plain.svg")
        for line in ('set datafile separator ","', "set logscale y", "set samples 5"):
            self.write("home/.gnuplot", line + "\n")
            self.raw("plot", "m.hf", "-o", "p.svg")
            self.assertEqual(self.read("p.svg"), self.read("plain.svg"), line)


if __name__ == "__main__":
    unittest.main()
