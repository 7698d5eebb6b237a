# SPDX-License-Identifier: Apache-2.0
"""holdfast track: the whole loop from the shell, what bad input says and leaves, and that nothing that was taken is ever lost."""
import csv
import hashlib
import io
import json
import math
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import threading
import time
import unittest

from test_model_file import content_digest, text, u64
from toolcase import SOURCE, TOOL, ToolCase, table

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the systems are small


def truth(x, t):
    return 1.0 + math.exp(-0.5 * (x - math.sin(0.2 * t)) ** 2)


class TrackCase(ToolCase):
    def track(self, verb, *arguments, quiet=True):
        return self.ok("track", verb, *arguments, quiet=quiet)

    def parsed(self, verb, *arguments):
        return json.loads(self.track(verb, *arguments, "--json"))

    def content(self, name):
        """A checksum of everything in the file, whatever SQLite did to its header."""
        with sqlite3.connect("file:%s?mode=ro" % self.path(name), uri=True) as db:
            digest = hashlib.sha256()
            for name in ("meta", "input", "candidate", "array", "head", "journal"):
                digest.update(repr(db.execute("SELECT * FROM %s ORDER BY 1" % name).fetchall()).encode())
        db.close()
        return digest.hexdigest()

    def refused(self, arguments, *parts, code=1, file="t.hf"):
        """Fails with a message, and the file is as it was."""
        before = self.content(file)
        self.fails(["track", *arguments], *parts, code=code)
        self.assertEqual(self.content(file), before, arguments)

    def create(self, name="t.hf", *arguments):
        return self.track("create", name, "--box", "x=-5:5", "--drift", "0.1", "-k", "se(lengthscale=1)", *arguments)

    def stations(self):
        self.write("stations.csv", "station,east,north\nQueens,0,1\nBronx,2,0\nO'Hare,4,5\n\"a, b\",3,3\n7,1,1\n")


class Loop(TrackCase):
    def test_the_whole_loop(self):
        self.create()
        best = max(truth(-5 + 0.01 * i, 0) for i in range(1001))
        for t in range(6):
            listed = self.track("refresh", "t.hf", "--time", t)
            if t > 0:
                rows = list(csv.DictReader(io.StringIO(listed)))
                self.assertEqual(list(rows[0]), ["request", "time", "x", "sd", "y"])
                for k, row in enumerate(rows):
                    self.assertEqual((float(row["time"]), row["y"]), (t, ""))
                    if k % 3 != 2:
                        row["y"] = repr(truth(float(row["x"]), t))
                with open(self.path("answers.csv"), "w", newline="") as out:
                    writer = csv.DictWriter(out, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
                answered = sum(row["y"] != "" for row in rows)
                self.assertEqual(self.parsed("refresh", "t.hf", "--answers", "answers.csv"), {"answered": answered})
            asked = self.parsed("ask", "t.hf", "--time", t)
            self.assertEqual({**asked, "seconds": 0}, {**self.parsed("ask", "t.hf", "--time", t), "seconds": 0})
            x = asked["place"]["x"]
            self.assertIn("x = ", self.track("ask", "t.hf", "--time", t))
            self.track("tell", "t.hf", "--time", t, "--x=%r" % x, "--y", truth(x, t), "--best", best, "--value", truth(x, t))
        shown = self.parsed("show", "t.hf")
        self.assertEqual((shown["told"], shown["asked"], shown["truths"], shown["clock"]), (6, 6, 6, 5.0))
        self.assertGreater(shown["answered"], 5)
        self.assertEqual(len(shown["requests"]), len({r["request"] for r in shown["requests"]}))
        self.assertAlmostEqual(shown["average_regret"], shown["regret"] / 6)
        history = table(self.track("show", "t.hf", "--history", "-"))
        self.assertEqual([history["event"].count(kind) for kind in ("told", "requested", "answered", "truth")],
                         [6, shown["requested"], shown["answered"], 6])
        self.assertEqual(len({t for t, event in zip(history["time"], history["event"]) if event == "asked"}), 6)
        regret = sum(b - v for b, v in zip(history["best"], history["value"]) if b == b)
        self.assertAlmostEqual(regret, shown["regret"])
        readings = table(self.track("show", "t.hf", "--readings", "-"))
        self.assertEqual(len(readings["x"]), shown["held"])
        self.assertEqual(sum(readings["answer"]), sum(r["answer"] for r in shown["readings"]))
        self.assertIn("Requests without an answer", self.track("show", "t.hf"))
        self.assertEqual(self.files(), ["answers.csv", "t.hf"])

    def test_the_expert_answers_one_by_one(self):
        self.create()
        self.track("tell", "t.hf", "--time", 0, "--x", 1, "--y", 2)
        listed = self.parsed("refresh", "t.hf", "--time", 1)["requests"]
        self.assertEqual(self.parsed("tell", "t.hf", "--request", listed[0]["request"], "--y", 1.5)["answered"], 1)
        self.track("tell", "t.hf", "--request", listed[1]["request"], "--time", 1.5, "--y", 1.5, "--noise", 0.5)
        self.refused(["tell", "t.hf", "--request", str(listed[0]["request"]), "--y", "2"], "no longer open")
        answers = [r for r in self.parsed("show", "t.hf")["readings"] if r["answer"]]
        self.assertEqual([(r["time"], r["noise"]) for r in answers], [(1.0, 0.01), (1.5, 0.5)])

    def test_a_survey_asks_anywhere(self):
        asked = {}
        for places in ("variance", "anywhere"):
            name = places + ".hf"
            self.create(name, "--places", places, "--queries", "8", "--tolerance", "0")
            self.track("tell", name, "--time", 0, "--x", 1, "--y", 2)
            lists = []
            for time in (1, 2):
                lists.append(self.parsed("refresh", name, "--time", time)["requests"])
                for request in lists[-1]:
                    self.track("tell", name, "--request", request["request"], "--y", truth(request["place"]["x"], time))
            asked[places] = [[r["place"]["x"] for r in one] for one in lists]
        self.assertEqual({x for one in asked["variance"] for x in one}, {1.0})
        first, second = asked["anywhere"]
        self.assertEqual((len(set(first)), len(set(second)), set(first) & set(second)), (8, 8, set()))
        # Spread over the box: no gap is longer than two of seven equal ones.
        for one in (first, second):
            ends = [-5.0, *sorted(one), 5.0]
            self.assertLess(max(b - a for a, b in zip(ends, ends[1:])), 20 / 7)
        # Questions are in the journal: taking back the answers leaves the list open.
        for _ in range(8):
            self.track("undo", "anywhere.hf")
        still = self.parsed("show", "anywhere.hf")["requests"]
        self.assertEqual([r["place"]["x"] for r in still], second)
        # All candidates are looked at.
        self.stations()
        self.track("create", "n.hf", "--candidates", "stations.csv", "--drift", "1", "--places", "anywhere")
        self.track("tell", "n.hf", "--time", 0, "--candidate", "Queens", "--y", 1)
        listed = self.parsed("refresh", "n.hf", "--time", 1)["requests"]
        self.assertGreater(len({r["candidate"] for r in listed}), 2)

    def test_candidates_are_known_by_name(self):
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale=3)")
        self.write("r.csv", "time,candidate,ozone,noise\n0,Queens,40,\n1,\"a, b\",44,0.5\n2,7,41,\n")
        self.assertEqual(self.parsed("tell", "t.hf", "--csv", "r.csv")["rows"], 3)
        self.track("tell", "t.hf", "--time", "2", "--candidate", "O'Hare", "--y", "39")
        readings = self.parsed("show", "t.hf")["readings"]
        self.assertEqual([(r["candidate"], r["place"], r["noise"]) for r in readings],
                         [("Queens", {"east": 0, "north": 1}, 2), ("a, b", {"east": 3, "north": 3}, 0.5),
                          ("7", {"east": 1, "north": 1}, 2), ("O'Hare", {"east": 4, "north": 5}, 2)])
        self.assertIn(self.parsed("ask", "t.hf", "--time", "3")["candidate"], ["Queens", "Bronx", "O'Hare", "a, b", "7"])
        rows = table(self.track("refresh", "t.hf", "--time", "3"))
        self.assertEqual(list(rows), ["request", "time", "candidate", "east", "north", "sd", "ozone"])
        self.refused(["tell", "t.hf", "--time", "3", "--candidate", "Queen", "--y", "1"], "no candidate 'Queen'", "Queens to 7")
        self.refused(["tell", "t.hf", "--time", "3", "--x", "1,2", "--y", "1"], "none of the 5 candidates")
        self.write("r.csv", "time,candidate,ozone\n4,Queens,40\n4,Manhattan,41\n")
        self.refused(["tell", "t.hf", "--csv", "r.csv"], 'r.csv, line 3, column "candidate": there is no candidate \'Manhattan\'')
        # Without labels they have numbers from 1 on; the inputs may be some of the columns.
        self.track("create", "n.hf", "--candidates", "stations.csv", "-f", "north", "--label", "east", "--method", "gp-ucb")
        self.write("plain.csv", "a\n1\n2\n")
        self.track("create", "p.hf", "--candidates", "plain.csv", "--method", "gp-ucb")
        self.track("tell", "p.hf", "--time", "0", "--candidate", "2", "--y", "1")
        self.assertEqual(self.parsed("show", "p.hf")["readings"][0]["place"], {"a": 2.0})
        self.refused(["tell", "p.hf", "--time", "0", "--candidate", "3", "--y", "1"], "no candidate '3'", file="p.hf")

    def test_fit_learns(self):
        self.track("create", "t.hf", "--box", "x=-5:5", "--drift", "5")
        rng = random.Random(2)
        rows = [(0.5 * t, rng.uniform(-5, 5)) for t in range(60)]
        self.write("r.csv", "time,x,y\n" + "".join("%r,%r,%r\n" % (t, x, truth(x, t) + 0.05 * rng.gauss(0, 1)) for t, x in rows))
        self.track("tell", "t.hf", "--csv", "r.csv")
        learnt = self.parsed("refresh", "t.hf", "--fit")
        shown = self.parsed("show", "t.hf")["settings"]
        self.assertEqual((shown["noise"], shown["drift"]), (learnt["noise"], learnt["drift"]))
        self.assertLess(learnt["drift"], 5)
        self.assertIn("Learnt from the readings", self.track("refresh", "t.hf", "--fit"))
        self.create("few.hf")
        self.refused(["refresh", "few.hf", "--fit"], "8", file="few.hf")

    def test_every_setting_reaches_the_file(self):
        self.write("ages.csv", "age,added\n1,0.1\n10,2\n")
        cases = [
            (["--drift", "0.2", "--expert-noise", "0.5", "--mean", "3", "--beta", "theory", "--norm", "4", "--delta", "0.1",
              "--robust", "off", "--discard", "0.7", "--negligible", "50", "--places", "dpp", "--queries", "3", "--query-factor", "2",
              "--query-power", "1.5", "--every", "2", "--tolerance", "0.2", "--superseded", "0.9", "--expert-after", "--most-places", "64",
              "--resolution", "0.25", "--samples", "100", "--starts", "2", "--noise", "0.3", "--age-law", "wiener", "--minimise"],
             {"drift": 0.2, "expert_noise": 0.5, "mean": 3, "beta_rule": "theory", "norm": 4, "delta": 0.1, "robust": 0,
              "discard": "variance", "discard_variance": 0.7, "negligible": 50, "places": "dpp", "queries": 3, "query_factor": 2,
              "query_power": 1.5, "every": 2, "tolerance": 0.2, "superseded": 0.9, "expert_after": True, "most_places": 64,
              "resolution": 0.25, "samples": 100, "starts": 2, "noise": 0.3, "age_law": "wiener", "method": "sparq-reuse",
              "minimise": True}),
            (["--method", "sparq", "--age-law", "table", "--age-table", "ages.csv", "--beta", "1.5", "--robust", "3", "--discard", "log"],
             {"method": "sparq", "age_law": "table", "beta_rule": "given", "beta": 1.5, "robust": 3, "discard": "log"}),
            (["--method", "sw-gp-ucb", "--window", "7", "--beta", "practical"], {"window": 7, "beta_rule": "practical"}),
            (["-m", "tv-gp-ucb", "--forgetting", "0.03"], {"forgetting": 0.03, "mean": None, "minimise": False}),
            (["--drift", "1", "--places", "anywhere"], {"places": "anywhere"}),
            (["--drift", "1", "--places", "dpp-falling"], {"places": "dpp-falling"}),
            (["-m", "ui-gp-ucb", "--age-law", "none"], {"age_law": "none", "robust": 0}),
        ]
        for k, (options, expected) in enumerate(cases):
            name = "s%d.hf" % k
            self.track("create", name, "--box", "a=0:1,b=2", *options)
            shown = self.parsed("show", name)
            self.assertEqual({key: shown["settings"][key] for key in expected}, expected)
            self.assertEqual(shown["inputs"], [{"name": "a", "lower": 0, "upper": 1}, {"name": "b", "lower": 2, "upper": 2}])
            self.track("tell", name, "--time", 0, "--x", "0.5,2", "--y", 1)
            self.assertEqual(self.parsed("ask", name, "--time", 1)["place"]["b"], 2)

    def test_defaults_are_the_ones_that_help_names(self):
        self.create()
        settings = self.parsed("show", "t.hf")["settings"]
        words = self.track("create", "--help").split("Options of all verbs")[0]
        found = re.findall(r"--([a-z-]+) [A-Z]+\s[^()]*\([^()]*?default ([\d./]+)", words)
        found += re.findall(r"--(query-factor) .*\(default (\d+)\)", words)
        self.assertGreater(len(found), 11)
        for name, value in found:
            number = float(value) if "/" not in value else 1 / float(value.split("/")[1])
            if name == "samples":
                number = 0  # which stands for that
            self.assertEqual(settings[name.replace("-", "_")], number, name)

    def test_pictures(self):
        if subprocess.run(["which", "gnuplot"], capture_output=True).returncode:
            self.skipTest("gnuplot is not installed")
        self.stations()
        self.create("line.hf")
        self.track("create", "sides.hf", "--box", "a=0:1,b=0:2,c=3", "--drift", "1")
        self.track("create", "places.hf", "--candidates", "stations.csv", "-t", "o'zone", "--drift", "1")
        for name, where in (("line.hf", ["--x", "1"]), ("sides.hf", ["--x", "0.5,1,3"]), ("places.hf", ["--candidate", "Bronx"])):
            self.assertIn("Drew empty.svg", self.track("plot", name, "-o", "empty.svg"))
            self.track("tell", name, "--time", 0, *where, "--y", 2, "--best", 3, "--value", 2)
            self.track("refresh", name, "--time", 1)
            self.track("ask", name, "--time", 1)
            before = self.content(name)
            self.assertEqual(self.parsed("plot", name), {"picture": name[:-2] + "svg", "time": 1.0, "known": True})
            self.assertEqual(self.content(name), before)
            picture = self.read(name[:-2] + "svg")
            self.assertIn("</svg>", picture)
            self.assertIn("regret a step", picture)
        self.assertIn("Bronx", picture)
        self.fails(["track", "plot", "line.hf", "-o", "x.bmp"], ".svg", code=2)
        self.fails(["track", "plot", "none.hf"], "none.hf")


class Refusals(TrackCase):
    def setUp(self):
        super().setUp()
        self.create()
        self.track("tell", "t.hf", "--time", 100, "--x", 1, "--y", 2)

    def test_what_cannot_be_told(self):
        tell = ["tell", "t.hf", "--time", "100"]
        self.refused(tell + ["--x", "6", "--y", "1"], "x = 6 is outside of its box, -5 to 5")
        self.refused(tell + ["--x", "1,2", "--y", "1"], "--x has 2 numbers, the track 1 input")
        self.refused(tell + ["--candidate", "Queens", "--y", "1"], "no candidates")
        self.refused(["tell", "t.hf", "--time", "-100", "--x", "1", "--y", "1"], "behind the clock", "holdfast track undo")
        self.refused(["tell", "t.hf", "--request", "9", "--y", "1"], "never a request 9")
        self.refused(tell + ["--best", "1", "--value", "2"], "exceeds the best")
        # A reading with a truth that cannot be: neither is taken.
        self.refused(tell + ["--x", "1", "--y", "1", "--best", "1", "--value", "2"], "exceeds the best")
        self.track("create", "least.hf", "--box", "x=0:1", "--drift", "1", "--minimise")
        self.refused(["tell", "least.hf", "--time", "100", "--best", "2", "--value", "1"], "is below the best", file="least.hf")
        self.refused(["ask", "t.hf", "--time", "-1000"], "behind the clock", "holdfast track undo")
        self.refused(["refresh", "t.hf", "--time", "-1000"], "behind the clock")

    def test_wrong_usage(self):
        tell = ["tell", "t.hf", "--time", "100"]
        for arguments, part in (
                (tell + ["--x", "1", "--y", "nan"], "not a number"), (tell + ["--x", "1", "--y", "inf"], "not a finite number"),
                (tell + ["--x", "nan", "--y", "1"], "not a number"), (tell + ["--x", "1"], "--y is missing"),
                (tell + ["--y", "1"], "where was it measured"), (tell + ["--x", "1", "--candidate", "a", "--y", "1"], "exclude"),
                (["tell", "t.hf", "--x", "1", "--y", "1"], "--time is missing"), (tell + ["--best", "1"], "go together"),
                (tell + ["--x", "1", "--y", "1", "--noise", "0"], "positive"), (tell + ["--request", "1", "--x", "1", "--y", "1"], "leave out"),
                (tell + ["--request", "-1", "--y", "1"], "whole number"), (["tell", "t.hf", "--csv", "a.csv", "--x", "1"], "stands in the table"),
                (["ask", "t.hf"], "--time is missing"), (["refresh", "t.hf"], "what is to be refreshed"),
                (["refresh", "t.hf", "--time", "inf"], "finite"), (["refresh", "t.hf", "--fit", "-o", "x.csv"], "nothing to write"),
                (["refresh", "t.hf", "--time", "1", "-o", "-", "--json"], "--json"), (["show", "t.hf", "--history", "-", "--json"], "only one"),
                ([], "create, ask"), (["frob", "t.hf"], "'frob'")):
            self.refused(arguments, part, code=2)

    def test_create_refuses(self):
        box = ["create", "n.hf", "--box", "x=0:1"]
        self.write("c.csv", "x,y\n1,2\n1,\n")
        self.write("names.csv", "who,x\nann,1\nann,2\n")
        self.write("ages.csv", "age,added\n1,2\n2,1\n")
        for arguments, part in (
                (box, "--drift is missing"), (["create", "n.hf", "--drift", "1"], "--box or --candidates"),
                (box + ["--drift", "1", "--candidates", "c.csv"], "exclude"), (box + ["--drift", "1", "--window", "3"], "does not go with --method"),
                (box + ["--method", "gp-ucb", "--drift", "1"], "does not go with --method gp-ucb"), (box + ["--method", "best"], "sparq-reuse"),
                (box + ["--method", "gp-ucb", "--queries", "3"], "say --method sparq or sparq-reuse"), (box + ["--method", "sparq", "--superseded", "1"], "sparq-reuse"),
                (box + ["--method", "sw-gp-ucb"], "--window is missing"), (box + ["--method", "w-gp-ucb"], "--forgetting is missing"),
                (box + ["--drift", "1", "--norm", "3"], "--beta theory"), (box + ["--drift", "1", "--beta", "large"], "practical"),
                (box + ["--drift", "1", "--robust", "-1"], "robust is -1; give a number from 0"), (box + ["--drift", "1", "--places", "here"], "variance"),
                (box + ["--drift", "1", "--age-law", "table"], "--age-table"), (box + ["--age-table", "ages.csv", "--drift", "1"], "--age-law table"),
                (box + ["--age-law", "none", "--drift", "1"], "not for --age-law none"), (box + ["--drift", "x"], "not a number"),
                (["create", "n.hf", "--box", "x=1:0", "--drift", "1"], "ends below"), (["create", "n.hf", "--box", "x", "--drift", "1"], "NAME=LOW:HIGH"),
                (box + ["--drift", "1", "--noise", "-1"], "-1"), (box + ["--drift", "-1"], "-1"),
                (box + ["--drift", "1", "--label", "a"], "--label is for --candidates"),
                (["create", "n.hf", "--candidates", "c.csv", "--drift", "1", "--resolution", "0.1"], "--box")):
            self.fails(["track", *arguments], part, code=2)
        for arguments, part in (
                (box + ["--drift", "1", "-k", "se("], "^"), (["create", "t.hf", "--box", "x=0:1", "--drift", "1"], "t.hf: is there already"),
                (["create", "no/such/n.hf", "--box", "x=0:1", "--drift", "1"], "no/such"),
                (["create", "n.hf", "--box", "time=0:1", "--drift", "1"], "means something else"),
                (["create", "n.hf", "--box", "y=0:1", "--drift", "1"], "the target and an input"),
                (["create", "n.hf", "--box", "x=0:1,x=0:1", "--drift", "1"], "two inputs are called"),
                (["create", "n.hf", "--candidates", "c.csv", "--drift", "1", "-t", "z"], 'c.csv, line 3, column "y": the value is missing'),
                (["create", "n.hf", "--candidates", "names.csv", "--drift", "1"], 'two candidates are called "ann"'),
                (["create", "n.hf", "--candidates", "none.csv", "--drift", "1"], "none.csv"),
                (box + ["--age-law", "table", "--age-table", "ages.csv"], "ages.csv, line 3: the law of ageing adds 1")):
            self.fails(["track", *arguments], part)

    def test_tables_are_taken_whole_or_not_at_all(self):
        for words, part in (
                ("time,x,y\n101,1,2\n102,1,\n", 'r.csv, line 3, column "y": the value is missing'),
                ("time,x,y\n101,1,2\n102,nan,3\n", 'r.csv, line 3, column "x": the value is missing'),
                ("time,x,y\n101,1,2\n102,1,inf\n", 'r.csv, line 3, column "y": the value is infinite'),
                ("time,x,y\n101,1,2\n102,1,oops\n", 'line 3, column 3 ("y"): "oops" is not a number'),
                ("time,x,y\n101,1,2\n102,7,2\n", "r.csv, line 3: x = 7 is outside of its box"),
                ("time,x,y\n101,1,2\n-500,1,2\n", "r.csv, line 3: time -500 is"), ("x,y\n1,2\n", '"time"'),
                ("time,y\n1,2\n", '"x"'), ("time,x\n1,2\n", '"y"'), ("time,x,y\n", "no rows"),
                ("time,x,y,noise\n101,1,2,0.1\n102,1,2,-1\n", 'r.csv, line 3, column "noise": -1 is no variance')):
            self.write("r.csv", words)
            self.refused(["tell", "t.hf", "--csv", "r.csv"], part)
        self.track("refresh", "t.hf", "--time", "101")
        for words, part in (
                ("request,y\n1,2\n99,2\n", "r.csv, line 3: there was never a request 99"),
                ("request,y\n1,2\n1,2\n", "r.csv, line 3: request 1 is no longer open"),
                ("request,y\n1.5,2\n", 'line 2, column "request": 1.5 is no number of a request'),
                ("request,y,time\n1,2,3\n", "before it was requested"), ("request\n1\n", '"y"'), ("y\n1\n", '"request"'),
                ("request,y\n,2\n", 'column "request": the value is missing')):
            self.write("r.csv", words)
            self.refused(["refresh", "t.hf", "--answers", "r.csv"], part)
        self.write("r.csv", "request,y,time,noise\n1,2,,\n2,,,\n")
        self.assertIn("Took 1 answer; 1 row without one", self.track("refresh", "t.hf", "--answers", "r.csv"))

    def test_files_that_are_no_tracks(self):
        self.write("text.csv", "a,b\n1,2\n")
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        self.fails(["track", "show", "text.csv"], "text; is it the data?")
        self.fails(["track", "show", "m.hf"], "m.hf: a model, not a track")
        self.fails(["inspect", "t.hf"], "t.hf: a track, not a model")
        self.fails(["predict", "t.hf", "wave.csv"], "holdfast track read it")
        self.fails(["track", "ask", "none.hf", "--time", "1"], "none.hf", "No such file")
        data = bytearray(self.read("t.hf", "rb"))
        with sqlite3.connect(self.path("t.hf")) as db:
            db.execute("UPDATE journal SET id = 7 WHERE number = 1")
        db.close()
        self.fails(["track", "tell", "t.hf", "--time", "101", "--x", "1", "--y", "1"], "t.hf: damaged: entry 1 of its journal")
        self.write("t.hf", bytes(data[:-100]))
        self.fails(["track", "show", "t.hf"], "t.hf")

    def test_a_full_disk(self):
        """A file size limit stands in for a full disk."""
        self.write("r.csv", "time,x,y\n" + "".join("%d,1,2\n" % (101 + i) for i in range(2000)))
        before = self.content("t.hf")
        done = subprocess.run(["bash", "-c", 'ulimit -f 64; exec "$@"', "-", TOOL, "track", "tell", "t.hf", "--csv", "r.csv"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("t.hf: cannot be written", done.stderr)
        self.assertEqual(self.content("t.hf"), before)
        self.track("tell", "t.hf", "--csv", "r.csv")
        self.assertEqual(self.files(), ["r.csv", "t.hf"])


class Format(TrackCase):
    """The file is what docs/model-format.md says, checksums too: read here by Python alone."""

    def setUp(self):
        super().setUp()
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale=3)")
        self.track("tell", "t.hf", "--time", 0, "--candidate", "Queens", "--y", 40)
        self.track("refresh", "t.hf", "--time", 1)
        self.track("tell", "t.hf", "--request", 1, "--y", 41)
        self.track("ask", "t.hf", "--time", 1)
        self.track("tell", "t.hf", "--time", 1, "--best", 43, "--value", 42)
        self.database = sqlite3.connect(self.path("t.hf"))
        self.addCleanup(self.database.close)
        with open(os.path.join(SOURCE, "docs/model-format.md")) as page:
            self.words = page.read().split("\n## Tracks\n")[1].split("\n## ")[0]

    def test_marks_and_tables_are_the_documented_ones(self):
        self.assertEqual(self.database.execute("PRAGMA application_id").fetchone()[0], 0x48467472)
        self.assertEqual(self.database.execute("PRAGMA user_version").fetchone()[0], 1)
        stored = [row[0] for row in self.database.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
        self.assertEqual(stored, [line for line in self.words.replace(",\n  ", ", ").split("\n") if line.startswith("CREATE TABLE")])
        for (key,) in self.database.execute("SELECT key FROM meta WHERE key NOT LIKE 'settings.%'"):
            self.assertIn("`%s`" % key, self.words)
        for (kind,) in self.database.execute("SELECT DISTINCT kind FROM journal"):
            self.assertIn("| `%s` |" % kind, self.words)

    def test_checksums_are_the_documented_ones(self):
        tables = {"meta": "key", "input": "position", "candidate": "position", "array": "name"}
        stored, = self.database.execute("SELECT value FROM meta WHERE key = 'content_sha256'").fetchone()
        self.assertEqual(stored, content_digest(self.database, tables=tables))
        seal, count = bytes.fromhex(stored)[:16], 0
        for number, kind, i, of, numbers, kept in self.database.execute("SELECT * FROM journal ORDER BY number"):
            count += 1
            self.assertEqual(number, count)
            seal = hashlib.sha256(seal + u64(number) + text(kind) + u64(i) + u64(of) + u64(len(numbers)) + numbers).digest()[:16]
            self.assertEqual(seal, kept)
        self.assertEqual(self.database.execute("SELECT * FROM head").fetchall(), [(0, count, seal)])
        told = self.database.execute("SELECT id, numbers FROM journal WHERE kind = 'told'").fetchone()
        numbers = struct.unpack("<7d", told[1])
        self.assertEqual((told[0], numbers[:3], numbers[5:]), (1, (0.0, 40.0, 2.0), (0.0, 1.0)))
        truth_told, = self.database.execute("SELECT numbers FROM journal WHERE kind = 'truth'").fetchone()
        self.assertEqual(struct.unpack("<5d", truth_told)[:3], (1.0, 42.0, 43.0))


class Killed(TrackCase):
    """kill -9 at random instants of a loop that tells: whatever a command said it took is there afterwards."""
    KILLS = 40
    # The search for leaks at the end of a sanitized build is a thread that complains when the program dies under it.
    SILENT = {**os.environ, "ASAN_OPTIONS": ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))}

    def tell_until(self, name, stop, said, odd):
        """Tells reading after reading; what was acknowledged goes to `said`. Each command may be killed: any other end goes to `odd`."""
        k = 0
        while not stop.is_set() and not odd:
            k += 1
            self.child = subprocess.Popen([TOOL, "track", "tell", name, "--time", str(k), "--x=%r" % (k % 7 - 3), "--y", str(k)],
                                          cwd=self.folder, env=self.SILENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out, err = self.child.communicate()
            if self.child.returncode == 0 and "Took reading" in out:
                said.append(k)
            elif (self.child.returncode, err) != (-signal.SIGKILL, ""):
                odd.append((self.child.returncode, out, err))

    def test_nothing_that_was_taken_is_lost(self):
        self.create("t.hf", "--robust", "off")
        begin = time.monotonic()
        self.track("show", "t.hf")
        usual = time.monotonic() - begin  # what a command takes here and now: kills come before, during and after
        rng = random.Random(5)
        stop, said, odd = threading.Event(), [], []
        self.child = None
        teller = threading.Thread(target=self.tell_until, args=("t.hf", stop, said, odd))
        teller.start()
        kills = 0
        deadline = time.monotonic() + 30
        while (kills < self.KILLS or len(said) < 5) and time.monotonic() < deadline and teller.is_alive():
            time.sleep(rng.uniform(0, 3 * usual))
            child = self.child
            if child is not None and child.poll() is None:
                child.kill()
                kills += 1
        stop.set()
        teller.join()
        self.assertEqual(odd, [])
        self.assertGreater(kills, 10)
        history = table(self.track("show", "t.hf", "--history", "-"))
        kept = [int(y) for y in history["y"]]
        self.assertGreater(len(said), 3)
        self.assertEqual(set(said) - set(kept), set())
        self.assertEqual(kept, sorted(set(kept)))  # each once, in order, and nothing that was never told
        self.track("tell", "t.hf", "--time", max(kept) + 1, "--x", 1, "--y", 0)
        self.assertEqual(self.files(), ["t.hf"])

    def test_two_at_once(self):
        """Commands of several programs at the same time wait for each other."""
        self.create()
        running = [subprocess.Popen([TOOL, "track", "tell", "t.hf", "--time", "1", "--x=%d" % k, "--y", str(k)], cwd=self.folder,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for k in range(4)]
        taken = 0
        for process in running:
            _, err = process.communicate()
            if process.returncode:
                self.assertIn("another program has it open for changes", err)
            taken += process.returncode == 0
        self.assertGreater(taken, 0)
        self.assertEqual(self.parsed("show", "t.hf")["told"], taken)


if __name__ == "__main__":
    unittest.main()
