# SPDX-License-Identifier: Apache-2.0
"""holdfast track: what it says of standing still, and which method it chooses by a survey."""
import json
import math
import os
import random
import unittest

from toolcase import ToolCase

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the systems are small


def truth(x, t):
    return 80.0 + 15.0 * math.exp(-((x - 185.0 - 20.0 * math.sin(t / 25.0)) / 12.0) ** 2)


class Advice(ToolCase):
    def survey(self, name="survey.csv", moving=True, sign=1.0, target="y"):
        stream, rows = random.Random(3), ["time,temp,%s\n" % target]
        for t in range(1, 61):
            x = stream.uniform(120.0, 250.0)
            rows.append("%d,%.2f,%.3f\n" % (t, x, sign * (truth(x, t if moving else 0.0) + stream.gauss(0.0, 0.3))))
        self.write(name, "".join(rows))

    def told(self, method=("-m", "gp-ucb")):
        self.survey()
        self.ok("track", "create", "t.hf", "--box", "temp=120:250", "--noise", "0.09", "-k", "100*se(lengthscale~15)", *method)
        self.ok("track", "tell", "t.hf", "--csv", "survey.csv")

    def test_who_wanders_is_warned(self):
        self.told()
        code, _, warned = self.run_tool("track", "ask", "t.hf", "--time", "61")
        self.assertEqual(code, 0)
        self.assertIn("standing still at temp = ", warned)
        self.assertIn("holdfast track advise compares methods", warned)
        asked = json.loads(self.ok("track", "ask", "t.hf", "--time", "61", "--json", "-q"))["standing"]
        shown = json.loads(self.ok("track", "show", "t.hf", "--json"))["standing"]
        self.assertEqual(asked, shown)
        self.assertTrue(asked["better"] and asked["gain"] > 2.0 * asked["gain_sd"] and asked["compared"] == 30)
        self.assertEqual(asked["answers"], 0)
        self.assertIn("would have gained", self.ok("track", "show", "t.hf"))

    def test_few_readings_say_nothing(self):
        self.ok("track", "create", "f.hf", "--box", "temp=120:250", "--drift", "1")
        self.ok("track", "tell", "f.hf", "--time", "0", "--x", "150", "--y", "80")
        self.assertIsNone(json.loads(self.ok("track", "show", "f.hf", "--json"))["standing"])
        self.assertNotIn("Standing", self.ok("track", "show", "f.hf"))
        self.fails(["track", "advise", "f.hf"], "advice needs a survey", "16 readings")

    def test_advice(self):
        self.told()
        said = json.loads(self.ok("track", "advise", "t.hf", "--draws", "3", "--steps", "30", "--json"))
        self.assertTrue(said["moving_pays"])
        self.assertEqual(len(said["rows"]), 10)
        self.assertEqual([row["loss"] for row in said["rows"]], sorted(row["loss"] for row in said["rows"]))
        self.assertIn("--method " + said["rows"][0]["method"], said["options"])
        text = self.ok("track", "advise", "t.hf", "--draws", "3", "--steps", "30", "--queries", "3", "--costly")
        self.assertIn("standing still", text)
        self.assertIn("answers a step", text)
        self.assertIn("for track create: --method", text)

    def test_a_track_by_a_survey(self):
        self.survey(target="yield")
        made = json.loads(self.ok("track", "create", "l.hf", "--box", "temp=120:250", "-t", "yield", "--learn", "survey.csv", "--json",
                                  "--beta", "1.5", quiet=False))
        self.assertEqual(made["method"], next(row["method"] for row in made["advice"]["rows"] if row["method"]))
        settings = json.loads(self.ok("track", "show", "l.hf", "--json"))["settings"]
        self.assertEqual(settings["beta"], 1.5)
        self.assertAlmostEqual(settings["noise"], made["advice"]["noise"], delta=1e-12)
        self.survey("still.csv", moving=False, sign=-1.0)
        code, said, warned = self.run_tool("track", "create", "s.hf", "--box", "temp=120:250", "--minimise", "--learn", "still.csv")
        self.assertEqual(code, 0)
        self.assertIn("Stand still at temp = ", said)
        self.assertIn("standing still at temp = ", warned)

    def test_candidates_by_name(self):
        stream, rows = random.Random(1), []
        for t in range(40):
            k = stream.randrange(5)
            rows.append("%d,s%d,%.3f\n" % (t, k, math.cos(k - t / 20.0) + stream.gauss(0.0, 0.1)))
        self.write("places.csv", "name,east\n" + "".join("s%d,%d\n" % (k, k) for k in range(5)))
        self.write("seen.csv", "time,candidate,y\n" + "".join(rows))
        said = self.ok("track", "create", "c.hf", "--candidates", "places.csv", "--learn", "seen.csv", quiet=False)
        self.assertIn("still at s", said)

    def test_what_is_refused(self):
        self.survey()
        for option in (["-m", "sparq"], ["--drift", "1"], ["--noise", "1"], ["--window", "3"]):
            self.fails(["track", "create", "n.hf", "--box", "temp=120:250", "--learn", "survey.csv", *option],
                       "is what --learn learns", code=2)
        self.fails(["track", "create", "n.hf", "--box", "x=0:1", "--learn", "survey.csv"], "no column", '"x"')
        self.fails(["track", "create", "n.hf", "--box", "temp=120:250", "--learn", "none.csv"], "none.csv")
        self.write("few.csv", "time,temp,y\n1,130,80\n2,140,81\n")
        self.fails(["track", "create", "n.hf", "--box", "temp=120:250", "--learn", "few.csv"], "advice needs a survey")
        self.fails(["track", "create", "n.hf", "--box", "temp=120:250", "--learn", "survey.csv", "-k", "se(temp)+periodic(temp, period=5)"],
                   "kernels of one term")
        self.assertFalse(os.path.exists(self.path("n.hf")))
        self.told()
        code, said, told = self.run_tool("track", "create", "t.hf", "--box", "temp=120:250", "--learn", "survey.csv")
        self.assertEqual((code, said), (1, ""), "no advice before it is known that the track cannot be made")
        self.assertIn("t.hf: is there already", told)
        self.fails(["track", "advise", "t.hf", "--costly"], "needs queries", code=2)
        self.fails(["track", "advise", "t.hf", "--step", "-1"], "step is -1", code=2)
        self.fails(["track", "advise", "t.hf", "--draws", "1"], "draws is 1", code=2)


if __name__ == "__main__":
    unittest.main()
