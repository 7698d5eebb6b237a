# SPDX-License-Identifier: Apache-2.0
"""Words of holdfast track about a track, in words, tables, JSON and pictures: nothing cut short, nothing left out."""
import json
import math
import os
import re
import shutil
import subprocess
import unittest

from toolcase import TOOL, ToolCase, table

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the systems are small


class ShowCase(ToolCase):
    def track(self, verb, *arguments):
        return self.ok("track", verb, *arguments)

    def parsed(self, verb, *arguments):
        return json.loads(self.track(verb, *arguments, "--json"))

    def create(self, name="t.hf", *arguments, drift="0.1"):
        return self.track("create", name, "--box", "x=-5:5", "--drift", drift, "-k", "se(lengthscale~1)", *arguments)

    def stations(self):
        return self.write("stations.csv", "station,east,north\nQueens,0,1\nBronx,2,0\nO'Hare,4,5\n\"a, b\",3,3\n7,1,1\n")


class Times(ShowCase):
    start, step = 1795064400, 3600  # seconds since 1970 are long numbers

    def told(self, start, step, *arguments, name="t.hf"):
        """A track of twelve readings, a list of requests and a place asked for."""
        self.create(name, drift=repr(0.1 / step))
        rows = ["%r,%r,%r" % (start + k * step, (k * 37 % 10) - 4.5, math.sin(k)) for k in range(12)]
        self.write("rows.csv", "time,x,y\n" + "\n".join(rows) + "\n")
        self.track("tell", name, "--csv", "rows.csv")
        self.track("refresh", name, "--time", repr(start + 12 * step))
        self.track("ask", name, "--time", repr(start + 12 * step))
        return name

    def texts(self, picture):
        """[(x, y, text)] of an SVG."""
        found = re.findall(r"translate\(([-\d.]+),([-\d.]+)[^>]*>\s*<text>(.*?)</text>", self.read(picture), re.S)
        return [(float(x), float(y), re.sub(r"<.*?>", "", text).strip()) for x, y, text in found]

    def test_a_long_kernel_is_told_whole(self):
        kernel = " + ".join(["se(lengthscale=1)"] * 6)
        self.track("create", "t.hf", "--box", "x=-5:5", "--drift", "0.1", "-k", kernel)
        self.assertEqual(self.parsed("show", "t.hf")["settings"]["kernel"], kernel)

    def test_as_many_digits_as_they_need(self):
        for start, step, now in (1795064400, 3600, "1795107600"), (1795064400.25, 0.125, "1795064401.75"), (-1e12, 1, "-999999999988"):
            shown = self.track("show", self.told(start, step))
            self.assertIn("At time %s: " % now, shown)
            waiting = re.findall(r"^  \d+  time (\S+)  x = ", shown, re.M)
            self.assertEqual(set(waiting), {now})
            os.remove(self.path("t.hf"))
        self.track("create", "w.hf", "--box", "x=1795064400:1795064401", "-m", "sw-gp-ucb", "--window", "1234567.5")
        shown = self.track("show", "w.hf")
        self.assertIn("x from 1795064400 to 1795064401\n", shown)
        self.assertIn("window     1234567.5\n", shown)
        self.fails(["track", "create", "v.hf", "--box", "x=1795064401:1795064400", "--drift", "1"],
                   "begins at 1795064401 and ends below, at 1795064400", code=2)

    def test_a_regret_of_one_step(self):
        self.create()
        self.track("tell", "t.hf", "--time", 0, "--x", 1, "--y", 2, "--best", 3, "--value", 2)
        self.assertIn("Regret: 1 in 1 step, ", self.track("show", "t.hf"))

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_the_axis_of_a_picture_can_be_read(self):
        cases = ((1795064400, 3600, "time − 1795064400"), (-2e9, 86400 * 30, "time + 2000000000"),
                 (2026.0, 1e-6, "time − 2026"), (0, 1, "time"), (0, 1e8, "time"), (20000.5, 1, "time"))
        for start, step, label in cases:
            self.told(start, step)
            self.track("plot", "t.hf", "-o", "t.svg")
            texts = self.texts("t.svg")
            labels = [(x, y) for x, y, text in texts if text == label]
            self.assertEqual(len(labels), 2, (label, texts))  # values, and places
            origin = float(label[7:]) * (-1 if "+" in label else 1) if len(label) > 4 else 0.0
            for middle, below in labels:
                tics = sorted((x, text) for x, y, text in texts if below - 30 < y < below and abs(x - middle) < 290)
                self.assertGreater(len(tics), 1)
                for (x, text), (after, other) in zip(tics, tics[1:]):
                    self.assertGreater(after - x, 4 * (len(text) + len(other)), (label, text, other))
                    self.assertLess(float(text), float(other))
                self.assertLessEqual(start, float(tics[0][1]) + origin + step)
                self.assertLessEqual(float(tics[-1][1]) + origin, start + 14 * step)
            if step == 3600:
                self.assertTrue(any("at time 1795107600:" in text for _, _, text in texts))
            os.remove(self.path("t.hf"))


class Candidates(ShowCase):
    def test_tables_say_which(self):
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale~3)")
        self.write("r.csv", "time,candidate,ozone\n0,Queens,40\n1,\"a, b\",44\n2,7,41\n")
        self.track("tell", "t.hf", "--csv", "r.csv")
        self.track("tell", "t.hf", "--time", 3, "--candidate", "O'Hare", "--y", 39, "--best", 50, "--value", 40)
        readings = table(self.track("show", "t.hf", "-r", "-"))
        self.assertEqual(list(readings)[:6], ["reading", "time", "candidate", "east", "north", "ozone"])
        self.assertEqual(readings["candidate"], ["Queens", "a, b", "7", "O'Hare"])
        self.assertEqual(readings["east"], [0, 3, 1, 4])
        self.track("ask", "t.hf", "--time", 4)
        history = table(self.track("show", "t.hf", "--history", "-"))
        self.assertEqual(list(history)[list(history).index("candidate") + 1], "east")
        names = {place: name for name, place in zip(["Queens", "Bronx", "O'Hare", "a, b", "7"], [(0, 1), (2, 0), (4, 5), (3, 3), (1, 1)])}
        for event, name, east, north in zip(history["event"], history["candidate"], history["east"], history["north"]):
            self.assertEqual(name, names.get((east, north), ""), event)
            self.assertEqual(name == "", event == "truth")
        self.assertIn("asked", history["event"])
        # Readings that were written can be told elsewhere.
        self.track("create", "u.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale~3)")
        self.track("show", "t.hf", "-r", "readings.csv")
        self.track("tell", "u.hf", "--csv", "readings.csv")
        self.assertEqual(table(self.track("show", "u.hf", "-r", "-"))["candidate"], readings["candidate"])

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_numbers_stand_below_their_tics(self):
        """Names of candidates are aslant and end at their tic; times below are upright and stand in the middle of theirs."""
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "--drift", "1")
        self.write("r.csv", "time,candidate,y\n100,Queens,40\n200,Bronx,44\n300,7,41\n")
        self.track("tell", "t.hf", "--csv", "r.csv")
        self.track("plot", "t.hf")
        found = {re.sub("<.*?>", "", text).strip(): anchor for anchor, text in
                 re.findall(r'text-anchor="(\w+)">\s*<text>(.*?)</text>', self.read("t.svg"), re.S)}
        self.assertEqual((found["Queens"], found["200"]), ("end", "middle"))

    def test_columns_of_the_same_name(self):
        """An input or a target keeps its name; what the track has to say stands beside it under another."""
        self.write("p.csv", "id,weight,event\n1,5,0\n2,6,0\n3,7,1\n")
        self.track("create", "t.hf", "--candidates", "p.csv", "--drift", "1", "-t", "value")
        self.track("tell", "t.hf", "--time", 0, "--candidate", 2, "--y", 4, "--best", 9, "--value", 8)
        readings = table(self.track("show", "t.hf", "-r", "-"))
        self.assertEqual((readings["id"], readings["weight"], readings["track_weight"], readings["value"]), ([2], [6], [1], [4]))
        history = table(self.track("show", "t.hf", "--history", "-"))
        self.assertEqual((history["track_event"], history["track_id"][0], history["id"][0]), (["told", "truth"], 1, 2))
        self.assertEqual((history["value"][0], history["track_value"][1], history["best"][1]), (4, 8, 9))
        self.create("b.hf")
        self.assertFalse([name for name in table(self.track("show", "b.hf", "--history", "-")) if name.startswith("track_")])

    def test_numbers_where_there_are_no_names(self):
        self.write("p.csv", "a,b\n1,1\n2,1\n3,1\n")
        self.track("create", "t.hf", "--candidates", "p.csv", "--drift", "1")
        self.track("tell", "t.hf", "--time", 0, "--candidate", 3, "--y", 1)
        self.assertEqual(table(self.track("show", "t.hf", "-r", "-"))["candidate"], [3])
        self.create("b.hf")
        self.assertNotIn("candidate", table(self.track("show", "b.hf", "--history", "-")))

    def test_create_says_what_it_made_of_the_table(self):
        """A number that identifies is an input unless something is said: whoever reads what was made notices."""
        self.write("p.csv", "id,station,east\n1,Queens,2\n2,Bronx,3\n")
        made = self.track("create", "a.hf", "--candidates", "p.csv", "--drift", "1")
        self.assertEqual(made, 'a.hf: sparq-reuse, to maximise "y" over 2 candidates\n2 inputs: id, east; candidates are called by "station"\n')
        made = self.track("create", "b.hf", "--candidates", "p.csv", "--drift", "1", "--label", "id", "--minimise")
        self.assertEqual(made, 'b.hf: sparq-reuse, to minimise "y" over 2 candidates\n1 input: east; candidates are called by "id"\n')
        made = self.parsed("create", "c.hf", "--candidates", "p.csv", "--drift", "1", "-f", "east")
        self.assertEqual((made["inputs"], made["names"], made["candidates"], made["label"]), (1, ["east"], 2, "station"))
        self.write("q.csv", "u,v\n1,2\n2,3\n")
        made = self.track("create", "d.hf", "--candidates", "q.csv", "--drift", "1")
        self.assertTrue(made.endswith("\n2 inputs: u, v; candidates are called 1 to 2\n"), made)
        made = self.track("create", "e.hf", "--box", "u=0:1,v=2", "--drift", "1")
        self.assertTrue(made.endswith(" in a box\n2 inputs: u, v\n"), made)
        made = self.parsed("create", "f.hf", "--box", "u=0:1,v=2", "--drift", "1")
        self.assertEqual((made["names"], made["candidates"], made["label"]), (["u", "v"], 0, None))

    def test_faults_of_tables_have_a_line(self):
        self.write("p.csv", "station,a\nQueens,2\nBronx,3\n\nQueens,4\n")
        create = ["track", "create", "t.hf", "--candidates", "p.csv"]
        self.fails(create + ["--drift", "1"], 'p.csv, lines 2 and 5: two candidates are called "Queens"')
        self.write("p.csv", "station,a\nQueens,2\nBronx,3\n")
        for rows, line in (("0,1\n1,2\n", 2), ("1,1\n2,2\n2,3\n", 4), ("1,1\n2,0.5\n3,2\n", 3), ("1,-1\n", 2), ("2,1\n3,2\n1,3\n5,1\n", 4)):
            self.write("ages.csv", "age,added\n" + rows)
            self.fails(create + ["--age-law", "table", "--age-table", "ages.csv"], "ages.csv, line %d: " % line)
        self.write("ages.csv", "age,added\n")
        self.fails(create + ["--age-law", "table", "--age-table", "ages.csv"], "ages.csv: the table of the law of ageing is empty")
        self.write("ages.csv", "age,added\n1,1\n2,1\n5,3\n")
        self.ok(*create, "--age-law", "table", "--age-table", "ages.csv")


class Encodings(ShowCase):
    def test_names_that_json_could_not_have_are_refused(self):
        create = [b"track", b"create", b"t.hf", b"--drift", b"1"]
        self.fails([os.fsdecode(word) for word in create + [b"--box", b"x\xe9=0:1"]], 'an input is called "x\ufffd"', "UTF-8")
        for name in (b"\xff", b"y\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\x80"):
            self.fails([os.fsdecode(word) for word in create + [b"--box", b"x=0:1", b"-t", name]], "the target is called", "\ufffd", "UTF-8")
        self.write("p.csv", b"station,a\nQueens,2\nBr\xf6nx,3\n")
        self.fails(["track", "create", "t.hf", "--drift", "1", "--candidates", "p.csv"], 'p.csv, line 3: the candidate is called "Br\ufffdnx"', "UTF-8")
        self.write("p.csv", b"station,\xe4\nQueens,2\nBronx,3\n")
        self.fails(["track", "create", "t.hf", "--drift", "1", "--candidates", "p.csv"], 'an input is called "\ufffd"', "UTF-8")

    def test_others_are_taken(self):
        for k, name in enumerate(("é", "温度", "\U0001f525", "\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff")):
            self.track("create", "%d.hf" % k, "--box", "%s=0:1" % name, "-t", name + "t", "--drift", "1")
            asked = self.parsed("ask", "%d.hf" % k, "--time", 0)
            self.assertEqual(list(asked["place"]), [name])
            shown = self.parsed("show", "%d.hf" % k)
            self.assertEqual((shown["target"], [i["name"] for i in shown["inputs"]]), (name + "t", [name]))

    def test_a_file_of_any_name(self):
        name = os.fsdecode(b"a\xe9\xe2\x82.hf")
        try:
            made = self.parsed("create", name, "--box", "x=0:1", "--drift", "1")
        except OSError:
            self.skipTest("the file system takes no such name")
        self.assertEqual(made["file"], "a\\xE9\\xE2\\x82.hf")
        self.assertEqual(self.parsed("show", name)["file"], made["file"])
        if shutil.which("gnuplot"):
            self.assertEqual(self.parsed("plot", name)["picture"], "a\\xE9\\xE2\\x82.svg")
            self.assertIn(os.fsdecode(b"a\xe9\xe2\x82.svg"), self.files())


class Folders(ShowCase):
    def test_a_folder_that_is_read_only(self):
        """Looking goes; a change says that it is the folder."""
        self.create()
        os.chmod(self.path("t.hf"), 0o666)
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}  # root may write everywhere

        def run(*arguments):
            return subprocess.run([TOOL, "track", *arguments], cwd=self.folder, capture_output=True, text=True, **other)

        try:
            shown = run("show", "t.hf")
        except OSError:
            self.skipTest("another user does not reach the tool")
        if "error while loading shared libraries" in shown.stderr:
            self.skipTest("another user does not reach the library")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        told = run("tell", "t.hf", "--time", "0", "--x=1", "--y", "1")
        self.assertEqual(told.returncode, 1)
        self.assertIn("t.hf: cannot be written: its folder is read-only", told.stderr)
        self.assertEqual(self.parsed("show", "t.hf")["told"], 0)


class Help(ShowCase):
    def test_what_holds_and_what_starts(self):
        text = self.ok("track", "create", "--help")
        self.assertIn("lengthscale=6 is held at 6, and lengthscale~6 starts there", text)
        self.assertIn("(default, and 0: by --query-factor)", text)
        self.track("create", "t.hf", "--box", "x=-5:5", "--drift", "1", "--queries", 0)
        self.track("create", "u.hf", "--box", "x=-5:5", "--drift", "1")
        self.write("r.csv", "time,x,y\n" + "".join("%d,%r,1\n" % (k, -5 + k * 0.3) for k in range(30)))
        for name in ("t.hf", "u.hf"):
            self.track("tell", name, "--csv", "r.csv")
        listed = self.track("refresh", "t.hf", "--time", 31)
        self.assertEqual(listed, self.track("refresh", "u.hf", "--time", 31))
        self.assertGreater(len(listed.splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
