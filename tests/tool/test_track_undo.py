# SPDX-License-Identifier: Apache-2.0
"""holdfast track undo: what was told last is taken back, whole and for good, whatever happens meanwhile."""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
import unittest

import test_track
from toolcase import TOOL, table


class Undo(test_track.TrackCase):
    def history(self, name="t.hf"):
        return table(self.track("show", name, "--history", "-"))

    def story(self, name="t.hf"):
        """Commands of every kind, each with its event and how many entries it makes."""
        self.write("r.csv", "time,x,y\n" + "".join("%d,%g,%g\n" % (k, k - 4, k % 3) for k in range(9)))
        return ((("tell", name, "--csv", "r.csv"), "told", 9), (("refresh", name, "--time", "9"), "requested", None),
                (("tell", name, "--request", "1", "--y", "1.25"), "answered", 1), (("ask", name, "--time", "9"), "asked", 1),
                (("refresh", name, "--fit", "-q"), "fitted", 1), (("tell", name, "--time", "9", "--best", "3", "--value", "2"), "truth", 1),
                (("tell", name, "--time", "10", "--x", "1.5", "--y", "4"), "told", 1))

    def test_each_kind_of_entry(self):
        self.create()
        for command, event, entries in self.story():
            before, entries_before = self.content("t.hf"), len(self.history()["event"])
            self.track(*command)
            gone = len(self.history()["event"]) - entries_before
            if entries is None:
                self.assertGreater(gone, 1)
            else:
                self.assertEqual(gone, entries)
            shutil.copy(self.path("t.hf"), self.path("u.hf"))
            said = self.track("undo", "u.hf", *([] if event == "requested" else ["--entries", gone]))  # a list goes whole
            self.assertEqual(said.count("Took back"), gone, said)
            self.assertEqual(self.content("u.hf"), before, command)
            shutil.copy(self.path("t.hf"), self.path("u.hf"))
            last = self.history()["number"][entries_before - 1] if entries_before else 0
            listed = self.parsed("undo", "u.hf", "--after", "%d" % last)
            self.assertEqual((listed["removed"], {e["event"] for e in listed["entries"]}), (gone, {event}))
            self.assertEqual(self.content("u.hf"), before, command)
        count = len(self.history()["event"])
        self.assertEqual(self.parsed("undo", "t.hf", "--after", "0")["removed"], count)
        self.assertEqual(self.parsed("show", "t.hf")["told"], 0)

    def test_what_went_is_said(self):
        self.stations()
        self.track("create", "t.hf", "--candidates", "stations.csv", "-t", "ozone", "--drift", "1", "--noise", "2", "-k", "60*se(lengthscale=3)")
        self.track("tell", "t.hf", "--time", "0", "--candidate", "Queens", "--y", "40")
        self.track("refresh", "t.hf", "--time", "1")
        self.track("tell", "t.hf", "--request", "1", "--y", "41.5", "--best", "43", "--value", "42", "--time", "1")
        self.assertEqual(self.track("undo", "t.hf"), "Took back truth: time 1, best 43, value 42\n")
        self.assertEqual(self.track("undo", "t.hf"), "Took back answer to request 1: time 1, Queens (east = 0, north = 1), ozone = 41.5\n")
        self.assertIn("Took back request 1: time 1, Queens (east = 0, north = 1)\n", self.track("undo", "t.hf"))
        self.assertEqual(self.track("undo", "t.hf", "--entries", "9"), "Took back reading 1: time 0, Queens (east = 0, north = 1), ozone = 40\n")
        self.assertEqual(self.track("undo", "t.hf"), "There was nothing to take back\n")
        self.track("tell", "t.hf", "--time", "0", "--candidate", "O'Hare", "--y", "40", "--noise", "3")
        self.assertEqual(self.parsed("undo", "t.hf"), {"removed": 1, "entries": [
            {"event": "told", "number": 1, "time": 0.0, "reading": 1, "place": {"east": 4.0, "north": 5.0}, "candidate": "O'Hare",
             "y": 40.0, "noise": 3.0}]})
        self.assertEqual(self.parsed("undo", "t.hf"), {"removed": 0, "entries": []})

    def test_a_wrong_time_is_taken_back(self):
        self.create()
        for command, _, _ in self.story():
            self.track(*command)
        before = self.content("t.hf")
        asked = self.parsed("ask", "t.hf", "--time", "11")
        self.track("undo", "t.hf")
        for wrong in (["ask", "t.hf", "--time", "1e12"], ["tell", "t.hf", "--time", "1e12", "--x", "0", "--y", "1"],
                      ["tell", "t.hf", "--request", "2", "--y", "1", "--time", "1e12"]):
            self.track(*wrong)
            self.assertIn("1000000000000", self.track("undo", "t.hf"))
            self.assertEqual(self.content("t.hf"), before, wrong)
            again = self.parsed("ask", "t.hf", "--time", "11")
            self.assertEqual({**again, "seconds": 0}, {**asked, "seconds": 0})
            self.track("undo", "t.hf")
        self.track("tell", "t.hf", "--time", "11", "--x", "0", "--y", "1")

    def test_a_list_goes_whole(self):
        self.create()
        for command, _, _ in self.story()[:3]:
            self.track(*command)
        numbers = [n for n, event in zip(self.history()["number"], self.history()["event"]) if event == "requested"]
        self.assertGreater(len(numbers), 2)
        for choice in (["--after", "%d" % numbers[1]], ["--entries", "2"], ["--entries", len(numbers)]):
            shutil.copy(self.path("t.hf"), self.path("u.hf"))
            self.assertEqual(self.parsed("undo", "u.hf", *choice)["removed"], 1 + len(numbers), choice)
            self.assertEqual(self.history("u.hf")["event"], ["told"] * 9)

    def test_a_damaged_tail(self):
        self.create()
        contents = []
        for k in range(5):
            contents.append(self.content("t.hf"))
            self.track("tell", "t.hf", "--time", k, "--x", k, "--y", k)
        with sqlite3.connect(self.path("t.hf")) as db:
            db.execute("UPDATE journal SET id = 77 WHERE number = 4")
        db.close()
        self.fails(["track", "show", "t.hf"], "entry 4 of its journal")
        self.refused(["undo", "t.hf"], "t.hf: damaged: entry 4 of its journal", "taking back the last 2 entries helps")
        self.refused(["undo", "t.hf", "--after", "3"], "taking back the last 2 entries helps")
        shutil.copy(self.path("t.hf"), self.path("u.hf"))
        self.assertEqual(self.track("undo", "t.hf", "--entries", "2"), "Took back the last 2 entries\n")
        self.assertEqual(self.content("t.hf"), contents[3])
        self.assertEqual(self.parsed("undo", "u.hf", "--entries", "3"), {"removed": 3, "entries": None})
        self.assertEqual(self.content("u.hf"), contents[2])
        self.track("tell", "t.hf", "--time", 9, "--x", 1, "--y", 2)

    def test_what_is_refused(self):
        self.create()
        self.track("tell", "t.hf", "--time", 1, "--x", 1, "--y", 2)
        for arguments, part in (
                (["--entries", "1", "--after", "1"], "exclude each other"), (["--entries", "0"], "nothing to take back"),
                (["--entries", "-1"], "whole number"), (["--entries", "all"], "whole number"), (["--after", "1.5"], "whole number")):
            self.refused(["undo", "t.hf", *arguments], part, code=2)
        self.fails(["track", "undo"], "a file is missing", code=2)
        self.write("text.csv", "a,b\n1,2\n")
        self.fails(["track", "undo", "text.csv"], "text; is it the data?")
        self.fails(["track", "undo", "none.hf"], "none.hf", "No such file")
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "m.hf")
        self.fails(["track", "undo", "m.hf"], "m.hf: a model, not a track")
        code, out, err = self.run_tool("predict", "m.hf", "wave.csv")
        self.assertEqual((code, err), (0, ""))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_file_that_may_only_be_read(self):
        self.create()
        self.track("tell", "t.hf", "--time", 1, "--x", 1, "--y", 2)
        os.chmod(self.path("t.hf"), 0o444)
        self.refused(["undo", "t.hf"], "t.hf: cannot be opened: Permission denied")

    def test_what_cannot_be_printed_went_all_the_same(self):
        self.create()
        before = self.content("t.hf")
        for form in ([], ["--json"]):
            self.track("tell", "t.hf", "--time", 1, "--x", 1, "--y", 2)
            with open("/dev/full", "w") as full:
                done = subprocess.run([TOOL, "track", "undo", "t.hf", *form], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the track has kept what was done all the same", done.stderr)
            self.assertEqual(self.content("t.hf"), before)


class KilledUndo(test_track.TrackCase):
    """kill -9 at random instants of an undo: it is done or it is not."""
    KILLS = 30

    def test_it_is_whole_or_not_at_all(self):
        self.create()
        self.write("r.csv", "time,x,y\n" + "".join("%g,%g,%g\n" % (k / 100, k % 10 - 5, k % 3) for k in range(400)))
        before = self.content("t.hf")
        self.track("tell", "t.hf", "--csv", "r.csv")
        after = self.content("t.hf")
        shutil.copy(self.path("t.hf"), self.path("full"))
        begin = time.monotonic()
        self.track("undo", "t.hf", "--entries", "400")
        usual = time.monotonic() - begin
        self.assertEqual(self.content("t.hf"), before)
        rng, kills, seen = random.Random(7), 0, set()
        deadline = time.monotonic() + 60
        while kills < self.KILLS and time.monotonic() < deadline:
            shutil.copy(self.path("full"), self.path("t.hf"))
            child = subprocess.Popen([TOOL, "track", "undo", "t.hf", "--entries", "400"], cwd=self.folder, env=test_track.Killed.SILENT,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(rng.uniform(0, 1.1 * usual))
            child.kill()
            _, err = child.communicate()
            self.assertEqual(err, "")
            kills += child.returncode < 0
            left = self.parsed("show", "t.hf")["told"]  # puts in order what was under way
            self.assertIn(left, (0, 400))
            self.assertEqual(self.content("t.hf"), before if left == 0 else after)
            seen.add(left)
            self.track("tell", "t.hf", "--time", 9, "--x", 1, "--y", 0)
            self.track("undo", "t.hf")
            self.assertEqual(self.files(), ["full", "r.csv", "t.hf"])
        self.assertGreater(kills, 5)
        self.assertIn(400, seen)


if __name__ == "__main__":
    unittest.main()
