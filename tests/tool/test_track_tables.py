# SPDX-License-Identifier: Apache-2.0
"""holdfast track: tables that are taken and written: what they may not replace, in what order rows come, what contradicts a track."""
import csv
import io
import math
import os
import random
import re
import shlex
import subprocess
import unittest

from test_track import TrackCase, truth
from toolcase import TOOL


class Outputs(TrackCase):
    def test_nothing_is_written_over_a_track(self):
        self.create()
        self.track("tell", "t.hf", "--time", 0, "--x", 1, "--y", 2)
        os.symlink("t.hf", self.path("link.csv"))
        os.link(self.path("t.hf"), self.path("hard.csv"))
        os.symlink("link.csv", self.path("link.svg"))
        self.wave()
        for name in ("t.hf", "link.csv", "hard.csv", "./t.hf"):
            for verb in (["show", "t.hf", "-r"], ["show", "t.hf", "--history"], ["show", "link.csv", "-r"],
                         ["refresh", "t.hf", "--time", "3", "-o"], ["refresh", "hard.csv", "--time", "3", "-o"]):
                self.refused([*verb, name], name + ": cannot be written: it is a track")
        self.refused(["show", "t.hf", "-r", "t.hf-journal"], "it is the journal of the track t.hf")
        self.refused(["refresh", "link.csv", "--time", "3", "-o", self.path("t.hf-journal")], "it is the journal of the track")
        before = self.content("t.hf")
        self.fails(["fit", "wave.csv", "--target", "y", "-o", "t.hf"], "t.hf: cannot be written: it is a track")
        self.fails(["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "-o", "t.hf"],
                   "t.hf: cannot be written: it is a track")
        self.assertEqual(self.content("t.hf"), before)
        if subprocess.run(["which", "gnuplot"], capture_output=True).returncode:
            return
        self.refused(["plot", "t.hf", "-o", "link.svg"], "link.svg: cannot be written: it is a track")
        self.create("drawn.svg")
        self.refused(["plot", "drawn.svg"], "drawn.svg: cannot be written: it is a track", file="drawn.svg")

    def test_no_verb_writes_over_what_it_reads(self):
        self.wave()
        os.symlink("wave.csv", self.path("again.csv"))
        self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf", "-q")
        os.link(self.path("m.hf"), self.path("m.csv"))
        os.link(self.path("m.hf"), self.path("m.gp"))
        before = self.read("m.hf", "rb"), self.read("wave.csv")
        for arguments in (["predict", "m.hf", "wave.csv", "-o", "m.csv"], ["inspect", "m.hf", "--rows", "m.hf"],
                          ["certify", "m.hf", "--at", "wave.csv", "--radius", "0.1", "-o", "m.csv"],
                          ["extremum", "m.hf", "--maximum", "-o", "m.hf"], ["plot", "m.hf", "-o", "m.svg", "--data-only"],
                          ["fit", "wave.csv", "--target", "y", "-o", "again.csv"], ["norm", "wave.csv", "--target", "y", "--kernel", "se", "-o", "wave.csv"],
                          ["bound", "wave.csv", "--target", "y", "--at", "wave.csv", "--kernel", "se", "--norm", "9", "--noise-bound", "1", "-o", "again.csv"],
                          ["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "-o", "again.csv"]):
            self.fails(arguments, "cannot be written: it is what the command reads")
            self.assertEqual((self.read("m.hf", "rb"), self.read("wave.csv")), before, arguments)
        self.ok("predict", "m.hf", "wave.csv", "-o", "wave.csv", quiet=False)  # a table with more in it
        self.assertIn("y_mean", self.read("wave.csv"))


class Readings(TrackCase):
    def rows(self, count=40, step=700.0):
        rng = random.Random(5)
        return [(step * (i // 2), round(rng.uniform(-5, 5), 3), round(rng.uniform(0, 2), 3)) for i in range(count)]

    def tell_rows(self, name, rows):
        self.write("r.csv", "time,x,y\n" + "".join("%r,%r,%r\n" % row for row in rows))
        self.create(name)
        self.assertEqual(self.parsed("tell", name, "--csv", "r.csv")["rows"], len(rows))
        return self.parsed("show", name)["readings"]

    def test_the_order_of_rows_does_not_matter(self):
        rows = self.rows()
        shuffled = sorted(rows, key=lambda row: random.Random(row[1]).random())
        self.assertNotEqual([row[0] for row in shuffled], sorted(row[0] for row in shuffled))
        sorted_stably = sorted(shuffled, key=lambda row: row[0])
        self.assertNotEqual(sorted_stably, rows)
        expected = self.tell_rows("sorted.hf", sorted_stably)
        self.assertEqual([(r["time"], r["place"]["x"], r["y"]) for r in expected], sorted_stably[-len(expected):])
        self.assertEqual(self.tell_rows("shuffled.hf", shuffled), expected)
        self.assertEqual([r["time"] for r in self.tell_rows("newest.hf", rows[::-1])], [r["time"] for r in expected])

    def test_messages_have_the_line_of_the_file(self):
        self.create()
        self.track("tell", "t.hf", "--time", 50000, "--x", 1, "--y", 2)
        self.write("r.csv", "time,x,y\n50001,1,2\n50002,1,2\n3,1,2\n50000,1,2\n")
        self.refused(["tell", "t.hf", "--csv", "r.csv"], "r.csv, line 4: ", "behind the clock")
        self.write("r.csv", "time,x,y\n50001,1,2\n,1,2\n3,1,2\n")
        self.refused(["tell", "t.hf", "--csv", "r.csv"], 'r.csv, line 3, column "time": the value is missing')

    def test_a_place_beside_a_name_must_be_its_own(self):
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "-k", "60*se(lengthscale=3)")
        for header, row in (("candidate,east,north", "Bronx,1,1"), ("candidate,north", "Bronx,1e-3")):
            self.write("r.csv", "time,%s,ozone\n0,%s,4\n0,%s,5\n" % (header, "Queens" + ",0" * header.count("east") + ",1", row))
            self.refused(["tell", "t.hf", "--csv", "r.csv"], "r.csv, line 3, column ", "contradicts candidate 'Bronx', which is Bronx (east = 2, north = 0)")
        self.write("r.csv", "time,candidate,east,north,ozone\n0,Queens,0,1.000001,4\n0,Bronx,,,5\n")
        self.assertEqual(self.parsed("tell", "t.hf", "--csv", "r.csv")["rows"], 2)
        self.write("r.csv", "time,station,ozone\n1,Queens,4\n")
        self.refused(["tell", "t.hf", "--csv", "r.csv"], 'r.csv: there is no column "candidate"', '"east"')


class AnswersCase(TrackCase):
    def listed(self, name="t.hf", at=1, y=1.5):
        """The list, its rows filled in."""
        rows = list(csv.DictReader(io.StringIO(self.track("refresh", name, "--time", at))))
        target = self.parsed("show", name)["target"]
        return [{**row, target: repr(y)} for row in rows]

    def fill(self, rows, name="a.csv"):
        with open(self.path(name), "w", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return name


class Answers(AnswersCase):
    def test_an_empty_list_can_be_given_back(self):
        self.stations()
        self.create()
        self.track("create", "s.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2")
        for name in ("t.hf", "s.hf"):
            self.track("refresh", name, "--time", 0, "-o", "r.csv")
            self.assertEqual(self.track("refresh", name, "--answers", "r.csv"), "Took 0 answers\n")
            self.assertEqual(self.parsed("refresh", name, "--answers", "r.csv"), {"answered": 0})
        self.write("r.csv", "time,x,y\n")
        self.refused(["tell", "t.hf", "--csv", "r.csv"], "r.csv: a header and no rows")

    def test_an_answer_belongs_to_its_request(self):
        self.create()
        for x in (-3, 1 / 3):
            self.track("tell", "t.hf", "--time", 0, "--x=%r" % x, "--y", 2)
        rows = self.listed()
        wrong = [dict(row) for row in rows]
        wrong[1]["x"] = "2"
        self.refused(["refresh", "t.hf", "--answers", self.fill(wrong)], 'a.csv, line 3, column "x": 2 contradicts request 2, which is x = ')
        for row, form in zip(rows, ("%.6g", "%r", "")):
            row["x"] = form and form % float(row["x"])
        self.assertEqual(self.parsed("refresh", "t.hf", "--answers", self.fill(rows)), {"answered": len(rows)})

    def test_so_does_that_of_a_candidate(self):
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale=3)")
        for name in ("Queens", "7", "a, b"):
            self.track("tell", "t.hf", "--time", 0, "--candidate", name, "--y", 40)
        rows = self.listed(y=41)
        wrong = [dict(row) for row in rows]
        wrong[0]["candidate"] = "O'Hare"
        self.refused(["refresh", "t.hf", "--answers", self.fill(wrong)],
                     'a.csv, line 2, column "candidate": \'O\'Hare\' contradicts request 1, which is ' + rows[0]["candidate"])
        self.assertEqual(self.parsed("refresh", "t.hf", "--answers", self.fill(rows)), {"answered": len(rows)})


class Failures(AnswersCase):
    """A call that fails has changed nothing, or says that it has."""

    def setUp(self):
        super().setUp()
        self.create()
        self.track("tell", "t.hf", "--time", 0, "--x", 1, "--y", 2)

    def test_a_command_is_done_whole_or_not_at_all(self):
        answers = self.fill(self.listed())
        self.refused(["refresh", "t.hf", "--answers", answers, "--fit"], "a fit needs 8 readings")
        self.refused(["refresh", "t.hf", "--answers", answers, "--time=-1e9"], "behind the clock")
        self.write("r.csv", "time,x,y\n" + "".join("%d,%r,%r\n" % (t, t % 7 - 3, truth(t % 7 - 3, t)) for t in range(20)))
        self.track("tell", "t.hf", "--csv", "r.csv")
        self.refused(["refresh", "t.hf", "--fit", "--time=-1e9"], "behind the clock")
        self.track("refresh", "t.hf", "--answers", answers, "--fit")

    def full(self, *arguments):
        """Standard error of a run whose standard output is full."""
        with open("/dev/full", "w") as out:
            done = subprocess.run([TOOL, "track", *map(str, arguments)], cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output: cannot be written", done.stderr)
        return done.stderr

    def test_what_was_taken_is_said_to_be(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        kept = "the track has kept what was done all the same: do not repeat it"
        answers = self.fill(self.listed())
        self.write("r.csv", "time,x,y\n1,1,2\n")
        for command in (["tell", "t.hf", "--time", 1, "--x", 1, "--y", 2], ["tell", "t.hf", "--csv", "r.csv"], ["refresh", "t.hf", "--answers", answers],
                        ["refresh", "t.hf", "--answers", self.fill(self.listed(at=2), "b.csv"), "--time", 3]):
            before = self.parsed("show", "t.hf")
            self.assertIn(kept, self.full(*command))
            after = self.parsed("show", "t.hf")
            self.assertGreater(after["told"] + after["answered"], before["told"] + before["answered"])
        for command in (["refresh", "t.hf", "--time", 3], ["ask", "t.hf", "--time", 3], ["show", "t.hf"]):
            self.assertNotIn(kept, self.full(*command))
        self.assertIn(kept, self.full("create", "new.hf", "--box", "x=0:1", "--drift", 1))
        self.assertEqual(self.parsed("show", "new.hf")["told"], 0)
        self.refused(["tell", "t.hf", "--time=-1e9", "--x", "1", "--y", "2"], "behind the clock")


class Learnt(TrackCase):
    """Weights are decided when a reading is told: what a fit says where that was by defaults that do not fit."""

    def readings(self):
        rng = random.Random(1)
        rows = [(t, rng.uniform(700, 1100), rng.gauss(0, 0.5)) for t in range(60)]
        lines = ["%d,%r,%r\n" % (t, x, 75 + 20 * math.exp(-0.5 * ((x - 900 - 0.5 * t) / 80) ** 2) + e) for t, x, e in rows]
        return self.write("r.csv", "time,it's,yield\n" + "".join(lines))

    def learn(self, name, *options):
        """(share of low weights, what --fit printed, its warnings)"""
        self.track("create", name, "--box", "it's=700:1100", "-t", "yield", *options)
        self.track("tell", name, "--csv", self.readings())
        code, out, err = self.run_tool("track", "refresh", name, "--fit")
        self.assertEqual(code, 0, err)
        weights = [r["weight"] for r in self.parsed("show", name)["readings"]]
        return sum(w < 0.5 for w in weights) / len(weights), out, err

    def test_low_weights_are_told_with_what_helps(self):
        low, out, err = self.learn("first.hf", "--drift", 0.0005)
        self.assertGreater(low, 0.5)
        self.assertRegex(err, r"warning: \d+ of the 60 readings in memory have a weight below 1/2")
        self.assertEqual(self.run_tool("track", "refresh", "first.hf", "--fit", "-q")[2], "")
        options = shlex.split(re.search(r"holdfast track create \.\.\. (.*)", err)[1])
        self.assertEqual(options[:2], ["--robust", "off"])
        low, out, err = self.learn("second.hf", *options)
        self.assertEqual((low, err), (0, ""))
        options = shlex.split(re.search(r"for track create: (.*)", out)[1])
        self.assertEqual(options[0::2], ["--kernel", "--noise", "--drift"])
        noise = float(options[3])
        self.assertTrue(0.1 < noise < 0.5, noise)  # 0.25
        low, out, err = self.learn("third.hf", *options)
        self.assertLess(low, 0.25)
        self.assertEqual(err, "")

    def test_the_options_make_the_same_kernel(self):
        rows = "".join("%d,%r,%r,%r\n" % (t, t % 7 - 3, t % 5, truth(t % 7 - 3, t)) for t in range(20))
        self.write("r.csv", "time,it's,b,y\n" + rows)
        for kernel in ("se", "3*matern52(ard, lengthscale[1]=2)", "1e1 * rq( 'it''s', alpha~2 )", "(se(\"b\", iso, lengthscale=1))", "linear(ard)",
                       "sm(b, components=2, mean[0,0]~0.2)"):
            options = ["--box", "it's=-5:5,b=0:4", "--drift", "0.1"]
            self.track("create", "a.hf", *options, "--kernel", kernel)
            self.track("tell", "a.hf", "--csv", "r.csv")
            code, out, err = self.run_tool("track", "refresh", "a.hf", "--fit", "-q")
            learnt = shlex.split(re.search(r"for track create: (.*)", out)[1])
            self.assertEqual(learnt[0], "--kernel", kernel)
            self.track("create", "b.hf", *options[:2], *learnt)
            one, other = (self.parsed("show", name)["settings"] for name in ("a.hf", "b.hf"))
            self.assertEqual(list(one["parameters"]), list(other["parameters"]))
            for name, value in one["parameters"].items():
                self.assertAlmostEqual(other["parameters"][name], value, delta=1e-3 * abs(value))
            self.assertAlmostEqual(other["noise"], one["noise"], delta=1e-3 * one["noise"])
            self.assertAlmostEqual(other["drift"], one["drift"], delta=1e-3 * one["drift"])
            os.remove(self.path("a.hf"))
            os.remove(self.path("b.hf"))
        self.track("create", "a.hf", *options, "--kernel", "se + linear")
        self.track("tell", "a.hf", "--csv", "r.csv")
        self.assertRegex(self.run_tool("track", "refresh", "a.hf", "--fit", "-q")[1], "for track create: --noise [^ ]+ --drift [^ ]+\n")


if __name__ == "__main__":
    unittest.main()
