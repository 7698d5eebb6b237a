# SPDX-License-Identifier: Apache-2.0
"""holdfast study: the whole loop from the shell, what bad input says and leaves, and several programs at one study."""
import csv
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import time
import unittest
import xml.etree.ElementTree

from toolcase import SOURCE, TOOL, ToolCase, table

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the systems are small


class StudyCase(ToolCase):
    def study(self, verb, *arguments, quiet=True):
        return self.ok("study", verb, *arguments, quiet=quiet)

    def parsed(self, verb, *arguments):
        return json.loads(self.study(verb, *arguments, "--json"))

    def content(self, name="s.hf"):
        """Everything in the file, whatever SQLite did to its header."""
        with sqlite3.connect("file:%s?mode=ro" % self.path(name), uri=True) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
            rows = [db.execute("SELECT * FROM %s ORDER BY 1" % name).fetchall() for name in tables]
        db.close()
        return repr(rows)

    def refused(self, arguments, *parts, code=1, file="s.hf"):
        """Fails with a message, and the file is as it was."""
        before = self.content(file)
        self.fails(["study", *arguments], *parts, code=code)
        self.assertEqual(self.content(file), before, arguments)

    def create(self, *arguments, name="s.hf"):
        return self.study("create", name, "--real", "x=0:1", "--minimise", "loss", *arguments)

    def asked(self, name="s.hf", count=1):
        return list(csv.DictReader(io.StringIO(self.study("ask", name, "-n", count))))


def loss(x):
    return 2.0 + 8.0 * (x - 0.3) ** 2 + 0.05 * math.sin(991 * x)


class Loop(StudyCase):
    def test_the_whole_loop(self):
        self.assertIn("minimise loss", self.create("--start", "5", "--seed", "3"))
        for k in range(12):
            row = self.asked()[0]
            self.assertEqual((row["trial"], row["loss"]), (str(k + 1), ""))
            value = loss(float(row["x"]))
            told = self.study("tell", "s.hf", row["trial"], repr(40.0 if k == 7 else value))
            self.assertIn("Trial %d told: loss = " % (k + 1), told)
        best = self.parsed("best", "s.hf")
        self.assertAlmostEqual(best["at"]["x"], 0.3, delta=0.1)
        self.assertAlmostEqual(best["mean"], 2.0, delta=0.2)
        self.assertTrue(best["lower"] <= best["mean"] <= best["upper"])
        self.assertEqual(best["outcomes"][0]["name"], "loss")
        self.assertEqual([t["trial"] for t in best["outcomes"][0]["told"]][0], best["trial"])
        text = self.study("best", "s.hf")
        self.assertRegex(text, r"^x = 0\.[23]\d*\n  loss \(minimise\): [\d.]+, 95 % interval [\d.]+ to [\d.]+; told ")
        shown = self.parsed("show", "s.hf")
        self.assertEqual((shown["trials"], shown["states"]["told"]), (12, 12))
        self.assertEqual([s["trial"] for s in shown["suspects"] if s["aside"]], [8])
        wrong = [s for s in shown["suspects"] if s["aside"]][0]
        self.assertGreater(40 - wrong["expected"], 5 * wrong["expected_sd"])
        self.assertEqual(shown["relevance"][0]["variable"], "x")
        self.assertIn("set aside: told loss = 40, the others say", self.study("show", "s.hf"))
        self.assertIn("told loss = 40", self.study("show", "s.hf", "--suspects"))
        self.assertEqual(self.study("show", "s.hf", "--trials").count("\n"), 12)
        self.assertEqual(len(self.parsed("show", "s.hf", "--trials")["trials"]), 12)
        journal = self.parsed("show", "s.hf", "--journal")["journal"]
        self.assertEqual([e["event"] for e in journal], ["asked", "told"] * 12)
        self.assertEqual(self.study("show", "s.hf", "--journal").count("\n"), 24)
        exported = table(self.study("export", "s.hf"))
        self.assertEqual(exported["suspected"].count("aside"), 1)
        self.assertRegex(exported["asked"][0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(self.files(), ["s.hf"])

    def test_the_largest_seed_is_told_to_the_digit(self):
        self.create("--seed", 2**64 - 1)
        self.assertEqual(self.parsed("show", "s.hf")["settings"]["seed"], str(2**64 - 1))

    def test_looking_changes_nothing(self):
        self.create()
        self.study("ask", "s.hf", "-n", "3")
        self.study("tell", "s.hf", "2", "4")
        self.study("tell", "s.hf", "1", "3")
        before = self.content()
        for arguments in (["best"], ["show"], ["show", "--trials"], ["show", "--journal"], ["show", "--suspects"], ["export"]):
            self.study(arguments[0], "s.hf", *arguments[1:])
        self.study("best", "s.hf", "--certify")
        self.assertEqual(self.content(), before)

    def test_many_kinds_of_variables(self):
        said = self.study("create", "s.hf", "--log", "rate=1e-5:1", "--integer", "depth=1:8", "--log-integer", "width=1:1024",
                          "--ordered", 'size=small,"middle, or so",large', "--real", "x=-1:1", "--maximise", "yield",
                          "--at-most", "memory=100", "--at-least", "speed=.5", "--start", "8")
        self.assertIn("maximise yield, memory at most 100, speed at least 0.5 over 5 variables: rate, depth, width, size, x", said)
        asked = self.parsed("ask", "s.hf", "-n", "8")["trials"]
        for trial in asked:
            at = trial["at"]
            self.assertEqual((type(at["depth"]), type(at["width"]), trial["why"]), (int, int, "start"))
            self.assertTrue(1e-5 <= at["rate"] <= 1 and 1 <= at["depth"] <= 8 and -1 <= at["x"] <= 1)
            self.assertIn(at["size"], ("small", "middle, or so", "large"))
        self.assertGreater(len({t["at"]["size"] for t in asked}), 1)
        self.study("tell", "s.hf", "1", "3.5", "88", "0.75")
        self.study("tell", "s.hf", "2", "speed=0.25", "yield=-3.5", "--noise", "yield=0.01", "--note", "old one")
        self.study("tell", "s.hf", "3", "-4", "nan", "-.5")
        shown = self.parsed("show", "s.hf", "--trials")["trials"]
        self.assertEqual([t["outcomes"] for t in shown[:3]], [{"yield": 3.5, "memory": 88.0, "speed": 0.75},
                                                              {"yield": -3.5, "speed": 0.25}, {"yield": -4.0, "speed": -0.5}])
        self.assertEqual((shown[1]["note"], shown[1]["noise"]["yield"], shown[2]["note"]), ("old one", 0.01, None))
        self.assertIn("size, ordered: small, middle, or so, large", self.study("show", "s.hf"))

    def test_a_list_is_filled_in(self):
        self.create("--at-most", "memory=5")
        self.assertEqual(self.study("ask", "s.hf", "-n", "4", "-o", "todo.csv"), "")
        rows = list(csv.DictReader(io.StringIO(self.read("todo.csv"))))
        self.assertEqual(list(rows[0]), ["trial", "x", "loss", "memory", "why", "repeats"])
        for k, row in enumerate(rows):
            row["loss"], row["memory"] = ("", "") if k == 2 else (repr(loss(float(row["x"]))), "" if k == 1 else "3")
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        self.write("done.csv", text.getvalue())
        self.assertEqual(self.parsed("tell", "s.hf", "--from", "done.csv"), {"told": 3, "left": 1})
        self.assertEqual(self.study("tell", "s.hf", "--from", "done.csv"), "Told 3 trials; 1 row without an outcome left out\n")
        states = [t["state"] for t in self.parsed("show", "s.hf", "--trials")["trials"]]
        self.assertEqual(states, ["told", "told", "pending", "told"])
        self.write("wrong.csv", text.getvalue().replace(rows[3]["x"], "0.123"))
        self.refused(["tell", "s.hf", "--from", "wrong.csv"], "wrong.csv, line 5: trial 4 has x = " + rows[3]["x"])
        self.write("late.csv", "trial,loss\n3,1\n9,2\n")
        self.refused(["tell", "s.hf", "--from", "late.csv"], "late.csv, line 3", "there is no trial 9; the study has 4")
        self.write("half.csv", "trial,loss\n1.5,1\n")
        self.refused(["tell", "s.hf", "--from", "half.csv"], "half.csv, line 2: 1.5 is no number of a trial")

    def test_failures_and_late_trials(self):
        self.create("--expires", "0.01")
        self.study("ask", "s.hf", "-n", "2")
        self.assertEqual(self.study("fail", "s.hf", "1", "--note", "out of memory"), "Trial 1 failed\n")
        time.sleep(0.05)
        self.study("ask", "s.hf")
        states = [t["state"] for t in self.parsed("show", "s.hf", "--trials")["trials"]]
        self.assertEqual(states, ["failed", "expired", "pending"])
        self.study("tell", "s.hf", "2", "4")
        shown = self.parsed("show", "s.hf", "--trials")["trials"]
        self.assertEqual((shown[1]["state"], shown[0]["note"]), ("told", "out of memory"))
        self.refused(["fail", "s.hf", "2"], "trial 2 has told", "already")

    def test_several_objectives_have_a_front(self):
        self.study("create", "s.hf", "--real", "x=0:1", "--minimise", "cost", "--minimise", "waste")
        self.write("past.csv", "x,cost,waste\n" + "".join("%g,%g,%g\n" % (x, x * x, (1 - x) ** 2) for x in (0, .2, .4, .6, .8, 1)))
        self.study("import", "s.hf", "past.csv")
        front = self.parsed("best", "s.hf")["front"]
        self.assertGreater(len(front), 3)
        costs = [f["outcomes"][0]["mean"] for f in front]
        self.assertEqual(costs, sorted(costs))
        self.assertIn("trials that no other is better than in everything", self.study("best", "s.hf"))
        self.fails(["study", "best", "s.hf", "--certify"], "--certify is for one objective", code=2)

    def test_a_proof(self):
        self.create()
        self.write("past.csv", "x,loss\n" + "".join("%g,%g\n" % (x / 10, loss(x / 10)) for x in range(11)))
        self.study("import", "s.hf", "past.csv")
        proof = self.parsed("best", "s.hf", "--certify", "--tolerance", "0.01")["certificate"]
        self.assertTrue(proof["proved"] and proof["bound"] <= proof["mean"] <= 2.1 and proof["gap"] <= 0.01, proof)
        self.assertRegex(self.study("best", "s.hf", "--certify"), "No setting has a posterior mean of loss below .*: proved to within ")


class Tables(StudyCase):
    def test_past_data_come_in_and_go_out(self):
        self.study("create", "s.hf", "--real", "x=0:1", "--ordered", "kind=1,2,10", "--minimise", "loss", "--at-most", "note=3")
        self.write("past.csv", "kind,loss,x,note,loss_noise\n1.0,3,0.1,,0.5\n10,2,0.7,2.5,\n2,,0.4,1,\n")
        self.assertEqual(self.study("import", "s.hf", "past.csv"), "Added 3 trials\n")
        exported = self.study("export", "s.hf")
        rows = table(exported)
        self.assertEqual((rows["kind"], rows["study_note"], rows["why"]), ([1.0, 10.0, 2.0], [""] * 3 if rows["study_note"][0] == "" else rows["study_note"], ["added"] * 3))
        self.assertEqual(rows["loss"][:2] + rows["note"][1:], [3, 2, 2.5, 1])
        self.assertEqual(rows["loss_noise"][0], 0.5)
        self.study("ask", "s.hf", "-n", "2")
        self.study("fail", "s.hf", "4", "--note", "a, b\nand \"c\"")
        self.assertEqual(self.study("export", "s.hf", "-o", "all.csv"), "")
        self.study("create", "u.hf", "--real", "x=0:1", "--ordered", "kind=1,2,10", "--minimise", "loss", "--at-most", "note=3")
        self.assertEqual(self.parsed("import", "u.hf", "all.csv"), {"added": 4, "failed": 1, "left": 1})
        again = table(self.study("export", "u.hf"))
        for column in ("x", "kind", "loss", "note", "loss_noise"):
            self.assertEqual(repr(again[column][:3]), repr(rows[column]), column)
        self.assertEqual((again["state"], again["study_note"][3]), (["told"] * 3 + ["failed"], "a, b\nand \"c\""))

    def test_failures_come_in_and_go_out(self):
        def create(name):
            self.study("create", name, "--real", "x=0:1", "--minimise", "cost", "--minimise", "waste", "--at-most", "heat=3")
        create("s.hf")
        self.write("past.csv", "x,cost,waste,heat,state,note\n0.1,1,2,0.5,,\n0.2,,,,,burst\n0.3,,4,,failed,leaked\n0.4,,5,,told,half\n"
                   "0.5,,,,pending,\n0.6,7,8,1,expired,\n0.7,,,,failed,\n")
        self.assertEqual(self.study("import", "s.hf", "past.csv"),
                         "Added 5 trials, 3 of them failed; 2 rows of trials that told nothing left out\n")
        self.study("ask", "s.hf", "-n", "2")
        self.study("export", "s.hf", "-o", "one.csv")
        create("u.hf")
        self.assertEqual(self.parsed("import", "u.hf", "one.csv"), {"added": 5, "failed": 3, "left": 2})
        self.study("export", "u.hf", "-o", "two.csv")
        with open(self.path("one.csv"), encoding="utf8") as one, open(self.path("two.csv"), encoding="utf8") as two:
            first, second = list(csv.DictReader(one)), list(csv.DictReader(two))
        for before, after in zip(first, second):
            for column in ("trial", "x", "cost", "waste", "heat", "state", "note", "why"):
                self.assertEqual(before[column], after[column], column)
        self.assertEqual([r["state"] for r in second], ["told", "failed", "failed", "told", "failed"])
        self.assertEqual((second[2]["waste"], second[1]["waste"], second[3]["cost"]), ("4", "", ""))
        self.assertIn("added as failed trial 2 (burst)", self.study("show", "u.hf", "--journal"))
        # Told later it counts, and an undone failure is gone.
        self.assertEqual(self.study("tell", "u.hf", "2", "1", "1", "1"), "Trial 2 told: cost = 1, waste = 1, heat = 1\n")
        self.assertIn("past, failed trial 5", self.study("undo", "u.hf", "-n", "2"))
        self.assertEqual(len(table(self.study("export", "u.hf"))["x"]), 4)

    def test_failures_keep_the_study_away(self):
        def worst(rows, name):
            self.write("past.csv", "x,loss\n" + rows)
            self.study("create", name, "--real", "x=0:1", "--minimise", "loss", "--seed", "3")
            self.study("import", name, "past.csv")
            return table(self.study("ask", name, "-n", "3"))["x"]
        good = "".join("%g,%g\n" % (x / 20, -x / 20) for x in range(11))
        self.assertGreater(max(worst(good, "s.hf")), 0.8)
        self.assertLess(max(worst(good + "".join("%g,\n" % (x / 20) for x in range(12, 21)), "u.hf")), 0.6)

    def test_wrong_tables_change_nothing(self):
        self.study("create", "s.hf", "--real", "x=0:1", "--ordered", "kind=a,b", "--minimise", "loss")
        head = "x,kind,loss\n0.5,a,1\n"
        for text, *parts in (
                (head + "1.5,a,2\n", "line 3", "x = 1.5", "outside the study's space: 0 to 1"), (head + "0.5,c,2\n", "line 3", 'no label "c"', "a or b"),
                ("x,kind,loss,state\n0.5,a,,told\n", "line 2", "needs an outcome"),
                ("x,kind,loss,state\n0.5,a,1,told\n0.5,a,1,done\n", 'line 3, column "state": "done" is none of told, failed, pending and expired'),
                ("trial,x,kind,loss,why\n1,0.5,a,,start\n", "line 2", "holdfast study tell --from"), ("x,kind\n0.5,a\n", 'outcome of the study ("loss")'),
                (head + ",a,2\n", 'line 3, column "x": the value is missing'),
                (head + "0.5,a,inf\n", "line 3", "infinite"), ("x,kind,loss\n", "a header and no rows"), ("x,loss\n1,2\n", 'kind'),
                ("x,kind,loss,speed\n1,a,2,3\n", 'column "speed" is neither a variable nor an outcome of the study'),
                ("x,kind,loss,loss_noise\n1,a,2,-1\n", "line 2", "is no variance"), (head + "0.5,a,many\n", "many")):
            self.write("bad.csv", text)
            self.refused(["import", "s.hf", "bad.csv"], "bad.csv", *parts)
        self.write("wide.csv", "x,kind,loss,speed\n1,a,2,3\n")
        self.assertEqual(self.study("import", "s.hf", "wide.csv", "--drop", "speed"), "Added 1 trial\n")
        self.write("states.csv", "x,kind,loss,state\n1,a,2,Ohio\n")
        self.assertEqual(self.study("import", "s.hf", "states.csv", "--drop", "state"), "Added 1 trial\n")
        self.refused(["import", "s.hf", "wide.csv", "--drop", "sped"], "sped")
        self.refused(["import", "s.hf", "none.csv"], "none.csv", "No such file")


class Refusals(StudyCase):
    def test_what_makes_no_study(self):
        for arguments, part, code in (
                (["--real", "x=1:0", "--minimise", "y"], "variable x: its bounds 1 and 0 are reversed", 1),
                (["--real", "x=1:1", "--minimise", "y"], "x can only be 1", 1), (["--log", "x=0:1", "--minimise", "y"], "must be positive", 1),
                (["--integer", "x=0.5:3", "--minimise", "y"], "whole numbers", 1), (["--ordered", "x=a", "--minimise", "y"], "it needs two or more", 1),
                (["--ordered", "x=a,a", "--minimise", "y"], 'the label "a" twice', 1), (["--real", "x=0:1", "--real", "x=0:2", "--minimise", "y"], "two variables are named x", 1),
                (["--real", "x=0:1", "--minimise", "x"], "x names a variable and an outcome", 1), (["--real", "x=0", "--minimise", "y"], "NAME=LOW:HIGH", 2),
                (["--real", "x=a:b", "--minimise", "y"], "NAME=LOW:HIGH", 2), (["--ordered", "x", "--minimise", "y"], "NAME=LABEL,LABEL", 2),
                (["--minimise", "y"], "there is nothing to set", 2), (["--real", "x=0:1"], "what is looked for?", 2),
                (["--real", "x=0:1", "--at-most", "y=3"], "what is looked for?", 2), (["--real", "x=0:1", "--minimise", "y", "--at-most", "z"], "NAME=LIMIT", 2),
                (["--real", "x=0:1", "--minimise", "y", "--acquisition", "luck"], "log-ei", 2), (["--real", "x=0:1", "--minimise", "y", "--reach", "far"], "regions", 2),
                (["--real", "x=0:1", "--minimise", "y", "--surrogate", "best"], "rcagp", 1), (["--real", "x=0:1", "--minimise", "y", "--beta", "3"], "--acquisition ucb", 2),
                (["--real", "x=0:1", "--minimise", "y", "--regions", "3", "--reach", "global"], "not for --reach global", 2),
                (["--real", "x=0:1", "--minimise", "y", "--minimise", "z", "--acquisition", "ei"], "one objective", 2),
                (["--real", "x=0:1", "--minimise", "y", "--certain", "y:noise=1,norm=2,kernel=se"], "an objective is no certain constraint", 1),
                (["--real", "x=0:1", "--minimise", "y", "--certain", "z:noise=1,norm=2,kernel=se"], "name of a constraint", 2),
                (["--real", "x=0:1", "--minimise", "y", "--at-most", "z=1", "--certain", "z:norm=2,noise=1"], "NAME:noise=V,norm=B,kernel=EXPR", 2),
                (["--real", "x=0:1", "--minimise", "y", "--if", "x>3"], "unknown option --if", 2), (["--real", b"x\xe9=0:1", "--minimise", "y"], "UTF-8", 1),
                (["--real", "x=0:1", "--minimise", "y", "--start", "-1"], "whole number", 2)):
            code_seen, out, err = self.run_tool_bytes("study", "create", "s.hf", *arguments)
            self.assertEqual((code_seen, out), (code, ""), (arguments, err))
            self.assertIn(part, err)
        self.assertEqual(self.files(), [])

    def run_tool_bytes(self, *arguments):
        done = subprocess.run([TOOL, *[a if isinstance(a, bytes) else str(a) for a in arguments]], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=100)
        return done.returncode, done.stdout, done.stderr

    def test_what_is_refused(self):
        self.create("--at-most", "memory=5")
        self.study("ask", "s.hf", "-n", "2")
        self.study("tell", "s.hf", "1", "3", "2")
        self.study("tell", "s.hf", "1", "3", "2")  # the same again is one
        for arguments, part, code in (
                (["tell", "s.hf", "7", "1", "1"], "there is no trial 7; the study has 2", 1), (["tell", "s.hf", "1", "4", "2"], "told loss = 3 already, not 4", 1),
                (["tell", "s.hf", "2"], "the outcome of trial 2 is missing", 2), (["tell", "s.hf"], "which trial?", 2), (["tell", "s.hf", "2", "1"], "1 value for 2 outcomes", 2),
                (["tell", "s.hf", "2", "1", "2", "3"], "a value too many", 2), (["tell", "s.hf", "2", "cost=1"], 'no outcome "cost", but loss, memory', 1),
                (["tell", "s.hf", "two", "1", "2"], "no number of a trial", 2), (["tell", "s.hf", "2", "fast", "2"], "'fast' is no value", 2),
                (["tell", "s.hf", "2", "nan", "nan"], "nothing is told of trial 2", 1), (["tell", "s.hf", "2", "inf", "2"], "loss is inf", 1),
                (["tell", "s.hf", "2", "1", "2", "--noise", "-1"], "--noise: -1 is no variance", 2), (["tell", "s.hf", "2", "1", "2", "--wait", "-1"], "no time to wait", 2),
                (["tell", "s.hf", "2", "--from", "x.csv"], "leave out '2'", 2), (["fail", "s.hf", "1"], "already", 1),
                (["ask", "s.hf", "-n", "0"], "0 trials are none", 2), (["ask", "s.hf", "-n", "20000"], "10", 1), (["best", "s.hf", "--tolerance", "1"], "is for --certify", 2),
                (["show", "s.hf", "--trials", "--journal"], "exclude each other", 2), (["create", "s.hf", "--real", "x=0:1", "--minimise", "y"], "s.hf", 1),
                (["export", "s.hf", "-o", "s.hf"], "cannot be written", 1), (["export", "s.hf", "--json"], "cannot both go to standard output", 2),
                (["undo", "s.hf", "-n", "0"], "nothing to take back", 2), (["frob", "s.hf"], "nothing that can be done with a study", 2)):
            self.refused(arguments, part, code=code)
        self.fails(["study"], "what is to be done with a study? create, ask, tell", code=2)
        self.study("create", "empty.hf", "--real", "x=0:1", "--minimise", "y")
        self.fails(["study", "best", "empty.hf"], "two are needed")

    def test_other_files(self):
        self.create()
        self.wave()
        self.write("text.txt", "hello\n")
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        self.ok("track", "create", "t.hf", "--box", "x=0:1", "--drift", "0.1")
        for name, part in (("none.hf", "No such file"), ("m.hf", "a model, not a study"), ("t.hf", "a track, not a study"), ("wave.csv", "text; is it the data?"), ("text.txt", "text")):
            for verb in (["ask", name], ["tell", name, "1", "2"], ["best", name], ["show", name], ["export", name], ["undo", name]):
                self.fails(["study", *verb], name, part)
        for arguments in (["inspect", "s.hf"], ["plot", "s.hf", "--data-only", "-o", "p.svg"], ["predict", "s.hf", "wave.csv"], ["track", "show", "s.hf"]):
            self.fails(arguments, "s.hf: a study, not a ")
        before = self.content()
        self.fails(["fit", "wave.csv", "--target", "y", "-o", "s.hf"], "s.hf: cannot be written: it is a study")
        self.fails(["predict", "m.hf", "wave.csv", "-o", "s.hf-journal"], "it is the journal of the study")
        self.assertEqual(self.content(), before)

    def test_a_locked_file(self):
        self.create()
        self.study("ask", "s.hf")
        db = sqlite3.connect(self.path("s.hf"), isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        try:
            status, out, err = self.run_tool("study", "tell", "s.hf", "1", "2", "--wait", "0.2")
            self.assertEqual((status, out), (1, ""))
            self.assertIn("s.hf", err)
            self.assertIn("another program", err)
            self.study("show", "s.hf")  # looking goes on
        finally:
            db.execute("ROLLBACK")
            db.close()
        self.study("tell", "s.hf", "1", "2")


@unittest.skipIf(shutil.which("gnuplot") is None, "needs gnuplot")
class Plots(StudyCase):
    def mixed(self):
        """Every kind of variable, two objectives, a constraint, a wrong value, a failure, one that is pending."""
        self.study("create", "s.hf", "--log", "rate=0.01:1", "--integer", "depth=1:8", "--category", "kind=tree,100 %,a <b> & 'c'",
                   "--ordered", "size=small,large", "--minimise", "loss", "--maximise", "gain", "--at-most", "memory=60", "--start", "14")
        for row in csv.DictReader(io.StringIO(self.study("ask", "s.hf", "-n", "14"))):
            k, rate, depth = int(row["trial"]), math.log10(float(row["rate"])), int(row["depth"])
            value = (rate + 1) ** 2 + 0.1 * abs(depth - 4) + (row["size"] == "small") + (row["kind"] == "tree") * 0.5
            if k == 13:
                self.study("fail", "s.hf", "13")
            elif k < 14:
                self.study("tell", "s.hf", k, 500 if k == 5 else value, depth - rate, 10 * depth)

    def svg(self, *arguments):
        self.assertEqual(self.study("plot", "s.hf", *arguments, "-o", "p.svg"), "Drew p.svg\n")
        root = xml.etree.ElementTree.fromstring(self.read("p.svg"))
        return " ".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))

    def test_every_picture(self):
        self.mixed()
        text = self.svg("--what", "progress")
        for part in ("loss, minimise: 14 trials, 1 told and set aside", "set aside", "breaks a constraint", "failed", "best so far"):
            self.assertIn(part, text)
        for part in ("rate", "depth", "kind", "size", "tree", "100 %", "a <b> & 'c'", "through the best place"):
            self.assertIn(part, self.svg("--what", "slices"))
        self.assertIn("memory, at most 60", self.svg("--what", "slices", "--of", "memory"))
        for part in ("rate", "depth", "kind", "size", "large", "loss", "by rank"):
            self.assertIn(part, self.svg("--what", "parallel"))
        for part in ("rate", "depth", "kind", "size", "what matters"):
            self.assertIn(part, self.svg("--what", "relevance", "--of", "gain"))
        self.assertIn("of them on the front", self.svg())
        said = self.parsed("plot", "s.hf", "--of", "gain", "-o", "q.png")
        self.assertEqual((said["what"], said["of"], said["trials"]), ("progress", "gain", 14))
        self.assertEqual(self.read("q.png", "rb")[:4], b"\x89PNG")
        self.study("plot", "s.hf")
        self.assertIn("s.svg", self.files())

    def test_a_proof_in_the_picture_and_nothing_to_draw(self):
        self.create()
        self.assertIn("0 trials", self.svg())
        self.fails(["study", "plot", "s.hf", "--what", "slices"], "two are needed")
        self.write("past.csv", "x,loss\n" + "".join("%g,%g\n" % (x / 10, loss(x / 10)) for x in range(11)))
        self.study("import", "s.hf", "past.csv")
        self.assertRegex(self.svg("--certify"), r"no mean beyond [\d.]+")
        for arguments, part, code in ((["--what", "front"], "several objectives", 2), (["--what", "tea"], "progress, slices", 2), (["--of", "x"], 'no outcome "x"', 1),
                                      (["-o", "p.bmp"], ".svg", 2), (["--what", "slices", "--certify"], "--certify is for --what progress", 2)):
            self.fails(["study", "plot", "s.hf", *arguments], part, code=code)


class Expert(StudyCase):
    def test_somebody_knows(self):
        self.create()
        self.write("past.csv", "x,loss\n" + "".join("%g,%r\n" % (x / 10, 9.0 if x == 3 else loss(x / 10)) for x in range(11)))
        self.study("import", "s.hf", "past.csv")
        asked = self.parsed("expert", "s.hf", "-n", "3")
        self.assertEqual((asked["due"], len(asked["trials"])), (1, 3))
        self.assertEqual(asked["trials"][0]["trial"], 4)
        words = self.study("expert", "s.hf").splitlines()
        self.assertEqual(words[0], "1 value of loss is due to be looked at, one in twenty")
        self.assertRegex(words[1], r"^4  x = 0.3: loss = 9$")
        self.assertEqual(len(words), 2)
        self.assertEqual(self.study("label", "s.hf", "4", "believed", "--note", "seen twice"), "loss of trial 4 is believed\n")
        self.assertEqual(self.study("expert", "s.hf"), "no value of loss is due to be looked at: one in twenty was\n")
        self.assertEqual(self.parsed("expert", "s.hf"), {"due": 0, "trials": []})
        self.assertFalse(self.parsed("show", "s.hf", "--trials")["trials"][3]["aside"])
        said = self.parsed("label", "s.hf", "4", "doubted", "--correction", "2.01")
        self.assertEqual(said["labels"], {"loss": {"label": "doubted", "correction": 2.01}})
        self.assertAlmostEqual(self.parsed("best", "s.hf")["mean"], 2.0, delta=0.3)
        self.assertEqual(self.parsed("show", "s.hf", "--journal")["journal"][-1]["event"], "labelled")
        self.assertIn("Took back the label of trial 4", self.study("undo", "s.hf"))
        for arguments, part, code in ((["4"], "believed, doubted or unknown", 2), (["4", "odd"], "believed", 1), (["40", "doubted"], "no trial 40", 1),
                                      (["4", "believed", "--correction", "3"], "correction", 1), ([], "holdfast study expert", 2),
                                      (["4", "doubted", "--of", "x"], 'no outcome "x"', 1)):
            self.refused(["label", "s.hf", *arguments], part, code=code)
        self.refused(["expert", "s.hf", "-n", "x"], "count", code=2)

    def test_corrections_as_a_prior_mean(self):
        self.fails(["study", "create", "t.hf", "--real", "x=0:1", "--minimise", "loss", "--expert", "nobody"], "replace", code=2)
        self.study("create", "m.hf", "--real", "x=0:1", "--minimise", "loss", "--expert", "prior-mean")
        self.assertEqual(self.parsed("show", "m.hf")["settings"]["expert"], "prior-mean")
        self.assertIn("for a prior mean", self.study("show", "m.hf"))
        self.write("past.csv", "x,loss\n" + "".join("%g,%r\n" % (x / 10, 9.0 if x == 3 else loss(x / 10)) for x in range(11)))
        self.study("import", "m.hf", "past.csv")
        self.study("label", "m.hf", "4", "doubted", "--correction", "2.01")
        self.assertTrue(self.parsed("show", "m.hf", "--trials")["trials"][3]["aside"])
        self.assertAlmostEqual(self.parsed("best", "m.hf")["mean"], 2.0, delta=0.3)
        self.study("ask", "m.hf")
        self.refused(["best", "m.hf", "--certify"], "expert", file="m.hf")


@unittest.skipIf(shutil.which("xz") is None or shutil.which("bash") is None, "needs xz and bash")
class Guide(StudyCase):
    def test_the_loop_of_the_guide(self):
        """docs/study.md as printed, with fewer trials and less waiting."""
        with open(os.path.join(SOURCE, "docs/study.md")) as page:
            script = page.read().split("```bash\n")[1].split("```")[0]
        for long, short in (("$(seq 40)", "$(seq 13)"), ("sleep 2", "sleep 0.5"), ("src/model/*.c", "src/model/c*.c")):
            self.assertIn(long, script)
            script = script.replace(long, short)
        os.mkdir(self.path("build"))
        os.symlink(TOOL, self.path("build/holdfast"))
        os.symlink(os.path.join(SOURCE, "src"), self.path("src"))
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"mf = \w+, nice = \d+, lc = \d, lp = \d\n  seconds \(minimise\): ")
        shown = self.parsed("show", "xz.hf", "--trials")["trials"]
        self.assertEqual(len(shown), 13)
        failed = [t for t in shown if t["state"] == "failed"]
        self.assertTrue(failed and all(t["at"]["lc"] + t["at"]["lp"] > 4 for t in failed))
        self.assertTrue(all(t["outcomes"]["bytes"] > 1000 for t in shown if t["state"] == "told"))


class Undo(StudyCase):
    def test_what_was_told_last_is_taken_back(self):
        self.create()
        contents = [self.content()]
        self.study("ask", "s.hf", "-n", "2")
        contents.append(self.content())
        self.study("tell", "s.hf", "1", "31", "--note", "hm")
        contents.append(self.content())
        self.study("fail", "s.hf", "2")
        self.assertEqual(self.study("undo", "s.hf"), "Took back the failure of trial 2\n")
        self.assertEqual(self.content(), contents[2])
        said = self.parsed("undo", "s.hf")
        self.assertEqual((said["removed"], said["entries"][0]["event"], said["entries"][0]["outcomes"], said["entries"][0]["note"]), (1, "told", {"loss": 31.0}, "hm"))
        self.assertEqual(self.content(), contents[1])
        self.study("tell", "s.hf", "1", "0.31")
        number = self.parsed("show", "s.hf", "--journal")["journal"][0]["number"]
        self.assertEqual(self.parsed("undo", "s.hf", "--after", number)["removed"], 2)
        self.assertEqual(self.study("undo", "s.hf", "-n", "9"), "Took back the question for trial 1\n")
        self.assertEqual(self.study("undo", "s.hf"), "There was nothing to take back\n")
        self.assertEqual(self.content(), contents[0])


class Several(StudyCase):
    """Programs that ask and tell at once lose nothing and disturb each other in nothing."""
    CLIENTS, ROUNDS = 4, 4

    def test_many_at_once(self):
        self.create("--start", "40")
        script = """for k in $(seq %d); do
            trial=$("$0" study ask s.hf -q | sed -n '2s/,.*//p') || exit 1
            "$0" study tell s.hf $trial $trial -q || exit 1
        done""" % self.ROUNDS
        clients = [subprocess.Popen(["sh", "-c", script, TOOL], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for _ in range(self.CLIENTS)]
        for client in clients:
            _, err = client.communicate(timeout=200)
            self.assertEqual((client.returncode, err), (0, ""))
        trials = self.parsed("show", "s.hf", "--trials")["trials"]
        self.assertEqual([t["trial"] for t in trials], list(range(1, 1 + self.CLIENTS * self.ROUNDS)))
        self.assertTrue(all(t["outcomes"] == {"loss": float(t["trial"])} for t in trials))
        self.assertEqual(len({t["at"]["x"] for t in trials}), len(trials))
        self.assertEqual(self.files(), ["s.hf"])


if __name__ == "__main__":
    unittest.main()
