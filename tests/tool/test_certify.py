# SPDX-License-Identifier: Apache-2.0
"""Certified ranges, optima, attacks and explanations: what they say holds for predictions in the boxes, and bad input is told."""
import json
import math
import random
import shutil
import unittest

from toolcase import ToolCase, table


class Certify(ToolCase):
    def model(self):
        self.wave("wave.csv", 40)
        self.ok("fit", "wave.csv", "-t", "y", "-k", "se(ard)", "-q", "-o", "wave.hf")
        self.write("at.csv", "b,a,extra\n0.1,1.5,7\n-0.4,3,7\n")
        return "wave.hf"

    def classes(self):
        """Two clouds that overlap along a."""
        draw = random.Random(5)
        lines = ["a,b,kind"]
        for i in range(60):
            kind = i % 2
            lines.append("%.4f,%.4f,%s" % (draw.gauss(1.6 * kind, 0.8), draw.gauss(0, 1), "yes" if kind else "no"))
        self.write("kinds.csv", "\n".join(lines) + "\n")
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "probit", "-k", "se(ard)", "-q", "-o", "kinds.hf")
        self.write("at.csv", "a,b\n0.7,0.2\n2.4,-0.3\n-1.1,0.5\n")
        return "kinds.hf"

    def inside(self, model, boxes, column, count=200):
        """Predictions at random points of boxes ({a: (low, high), ...}), row by row."""
        draw = random.Random(7)
        lines, names = [], sorted(boxes[0])
        for box in boxes:
            for _ in range(count):
                lines.append(",".join("%.17g" % draw.uniform(*box[name]) for name in names))
        self.write("inside.csv", ",".join(names) + "\n" + "\n".join(lines) + "\n")
        self.ok("predict", model, "inside.csv", "-o", "inside.out.csv")
        values = table(self.read("inside.out.csv"))[column]
        return [values[k * count:(k + 1) * count] for k in range(len(boxes))]


class Readings(Certify):
    def test_ranges_hold_predictions(self):
        model = self.model()
        for what, column in (("mean", "y_mean"), ("sd", "y_sd_latent")):
            with self.subTest(what):
                out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3", "--what", what))
                self.assertEqual(list(out), ["a", "b", "lower", "upper", "lower_attained", "upper_attained", "status", "nodes",
                                             "seconds"])
                self.assertEqual(out["a"], [1.5, 3])
                boxes = [{"a": (a - 0.3, a + 0.3), "b": (b - 0.3, b + 0.3)} for a, b in zip(out["a"], out["b"])]
                for k, values in enumerate(self.inside(model, boxes, column)):
                    self.assertLessEqual(out["lower"][k], min(values))
                    self.assertGreaterEqual(out["upper"][k], max(values))
                    self.assertLessEqual(out["lower_attained"][k] - out["lower"][k], 0.0101)
                    self.assertEqual(out["status"][k], "tolerance")

    def test_limits_count_after_many_groups(self):
        model, groups = self.model(), ["--group", "a"] * 100
        arguments = ["certify", model, "--at", "at.csv", "--radius", "0.3", *groups]
        asked = json.loads(self.ok(*arguments, "--rigorous", "--json", "-o", "r.csv"))
        self.assertTrue(asked["rigorous"])
        self.fails([*arguments, "--tolerance", "-5"], "--tolerance: tolerance is -5", code=2)

    def test_a_point_and_what_stays(self):
        model = self.model()
        self.ok("predict", model, "at.csv", "-o", "p.csv")
        mean = table(self.read("p.csv"))["y_mean"]
        point = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0"))
        for k in range(2):
            self.assertAlmostEqual(point["lower"][k], mean[k], places=9)
            self.assertAlmostEqual(point["upper"][k], mean[k], places=9)
        narrow = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3", "--features", "a"))
        wide = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3"))
        for k in range(2):
            self.assertLess(narrow["upper"][k] - narrow["lower"][k], wide["upper"][k] - wide["lower"][k])

    def test_boxes_limits_and_json(self):
        model = self.model()
        self.write("low.csv", "a,b\n1,0\n")
        self.write("high.csv", "a,b\n2,0.5\n")
        out = json.loads(self.ok("certify", model, "--box", "low.csv,high.csv", "--json", "-o", "r.csv"))
        self.assertEqual((out["boxes"], out["unfinished"], out["rigorous"]), (1, 0, False))
        exact = table(self.read("r.csv"))
        words = self.ok("certify", model, "--box", "low.csv,high.csv", "--rigorous", "-o", "rigorous.csv")
        self.assertIn("proof against rounding", words)
        proof = table(self.read("rigorous.csv"))
        self.assertAlmostEqual(proof["lower"][0], exact["lower"][0], delta=0.02)
        stopped = table(self.ok("certify", model, "--box", "low.csv,high.csv", "--tolerance", "1e-9", "--time-limit", "1e-6", "-q"))
        self.assertEqual(stopped["status"], ["time limit"])
        self.assertLessEqual(stopped["lower"][0], exact["lower_attained"][0])

    def test_a_box_by_name(self):
        model = self.model()
        self.write("low.csv", "a,b\n1,0\n")
        self.write("high.csv", "a,b\n2,0.5\n")
        files, told = (self.ok("certify", model, "--box", box) for box in ("low.csv,high.csv", "b=0:0.5,a=1:2"))
        self.assertEqual([row.rsplit(",", 1)[0] for row in files.split("\n")], [row.rsplit(",", 1)[0] for row in told.split("\n")])
        a = table(self.read("wave.csv"))["a"]
        whole = table(self.ok("certify", model, "--box", "b=0:0.5"))
        self.assertEqual(whole["a"], [(min(a) + max(a)) / 2])
        best = table(self.ok("extremum", model, "--maximum", "--box", "b=0.2:0.2", "--box", "a=1:2", "--tolerance", "1e-9", "--node-limit", "1", "-q"))
        self.assertEqual((best["b"], best["status"]), ([0.2], ["node limit"]))
        self.assertTrue(1 <= best["a"][0] <= 2 and best["value"][0] <= best["bound"][0])
        for box in ("c=0:1", "a=0", "a=1:x", "a=1:2,3", "a=0:inf"):
            self.fails(["certify", model, "--box", box], "--box", code=2)
        self.fails(["extremum", model, "--minimum", "--box", "a=2:1"], '"a" goes from 2 down to 1')
        self.ok("fit", "wave.csv", "-t", "y", "--stream", "--no-train", "-q", "-o", "streamed.hf")
        self.ok("extremum", "streamed.hf", "--minimum", "--box", "a=1:2,b=0:1")
        self.fails(["extremum", "streamed.hf", "--minimum", "--box", "a=1:2"], "not kept its rows", "b=LOW:HIGH")
        self.fails(["certify", "streamed.hf", "--at", "at.csv", "--radius", "1", "--sds"], "not kept its rows")

    def test_mean_plus(self):
        model = self.model()
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3", "--what", "mean-plus", "--beta", "-2"))
        boxes = [{"a": (a - 0.3, a + 0.3), "b": (b - 0.3, b + 0.3)} for a, b in zip(out["a"], out["b"])]
        means, sds = self.inside(model, boxes, "y_mean"), self.inside(model, boxes, "y_sd_latent")
        for k in range(2):
            values = [mean - 2 * sd for mean, sd in zip(means[k], sds[k])]
            self.assertTrue(out["lower"][k] <= min(values) and max(values) <= out["upper"][k])
            self.assertLessEqual(out["upper"][k] - out["upper_attained"][k], 0.0101)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--what", "mean-plus"], "--beta is missing", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--beta", "1"], "--what mean-plus", code=2)

    def test_several_radii(self):
        model = self.model()
        more = ["--plot", "p.svg"] if shutil.which("gnuplot") else []
        self.ok("certify", model, "--at", "at.csv", "--radius", "0,0.1,0.3", "-o", "r.csv", *more)
        out = table(self.read("r.csv"))
        self.assertEqual((out["radius"], out["a"]), ([0, 0.1, 0.3] * 2, [1.5] * 3 + [3] * 3))
        for k in (0, 1, 3, 4):  # wider boxes have wider ranges
            self.assertLess(out["lower"][k + 1], out["lower_attained"][k] + 1e-9)
            self.assertGreater(out["upper"][k + 1], out["upper_attained"][k] - 1e-9)
        if more:
            self.assertIn("<svg", self.read("p.svg"))
        self.fails(["certify", model, "--at", "at.csv", "--radius", "0.3,0.1"], "rising order", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "0.3,x"], "not a number", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--plot", "p.gif"], "neither in .svg", code=2)

    def test_bad_readings(self):
        model = self.model()
        self.ok("fit", "wave.csv", "-t", "y", "-k", "se(ard)", "--sites", "robust", "-q", "-o", "robust.hf")
        one = table(self.ok("certify", "robust.hf", "--at", "at.csv", "--what", "readings"))
        two = table(self.ok("certify", "robust.hf", "--at", "at.csv", "--what", "readings", "--count", "2"))
        for k in range(2):
            self.assertTrue(0 < one["damage"][k] < two["damage"][k] < math.inf)
            self.assertTrue(1 <= one["worst_row"][k] <= 40)
        said = self.ok("certify", "robust.hf", "--at", "at.csv", "--what", "readings", "-o", "damage.csv")
        self.assertRegex(said, "with hyperparameters, noise, centres and thresholds held, replacing any 1 of the readings")
        said = json.loads(self.ok("certify", "robust.hf", "--at", "at.csv", "--what", "readings", "-o", "damage.csv", "--json"))
        self.assertEqual(said["held"], "hyperparameters, noise, centres and thresholds")
        code, out, err = self.run_tool("certify", model, "--at", "at.csv", "--what", "readings")
        self.assertEqual((code, table(out)["damage"]), (0, [math.inf] * 2))
        self.assertIn("--sites robust", err)
        self.fails(["certify", model, "--at", "at.csv", "--what", "readings", "--count", "41"], "41 readings")
        self.fails(["certify", model, "--at", "at.csv", "--what", "readings", "--radius", "1"], "for boxes", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--count", "2"], "--what readings", code=2)

    def test_sds(self):
        model = self.model()
        wave = table(self.read("wave.csv"))["a"]
        mean = sum(wave) / len(wave)
        sd = math.sqrt(sum((a - mean) ** 2 for a in wave) / len(wave))
        by_sds = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.1", "--sds", "-f", "a"))
        by_hand = table(self.ok("certify", model, "--at", "at.csv", "--radius", repr(0.1 * sd), "-f", "a"))
        self.assertAlmostEqual(by_sds["lower"][0], by_hand["lower"][0], places=3)

    def test_extremum(self):
        model = self.model()
        wave = table(self.read("wave.csv"))
        box = {name: (min(wave[name]), max(wave[name])) for name in "ab"}
        values = self.inside(model, [box], "y_mean", 3000)[0]
        for which, sign in (("--minimum", 1), ("--maximum", -1)):
            out = table(self.ok("extremum", model, which, "--tolerance", "0.01"))
            self.assertEqual(list(out), ["a", "b", "value", "bound", "status", "nodes", "seconds"])
            self.assertLessEqual(sign * out["bound"][0], min(sign * v for v in values))
            self.assertLessEqual(sign * (out["value"][0] - out["bound"][0]), 0.0101)
            self.write("there.csv", "a,b\n%.17g,%.17g\n" % (out["a"][0], out["b"][0]))
            self.ok("predict", model, "there.csv", "-o", "there.out.csv")
            self.assertAlmostEqual(table(self.read("there.out.csv"))["y_mean"][0], out["value"][0], places=6)
        less = table(self.ok("extremum", model, "--minimum", "--beta", "-2"))
        plain = table(self.ok("extremum", model, "--minimum"))
        self.assertLess(less["value"][0], plain["value"][0])

    def test_explain(self):
        model = self.model()
        out = table(self.ok("explain", model, "--at", "at.csv", "--step", "0.2", "--tolerance", "0.001"))
        self.assertEqual((out["row"], out["input"]), ([1, 1, 2, 2], ["a", "b", "a", "b"]))
        self.assertTrue(all(0 < u - l < 0.005 for l, u in zip(out["lower"], out["upper"])))
        self.assertGreater(out["lower"][1], 0)  # y grows with b
        mean = table(self.ok("explain", model, "--at", "at.csv", "--step", "0.2", "--tolerance", "0.001", "--mean"))
        self.assertAlmostEqual(mean["lower"][0], (out["lower"][0] + out["lower"][2]) / 2, places=9)
        linear = table(self.ok("explain", model, "--at", "at.csv", "--step", "0.2", "--method", "linear"))
        self.assertEqual(linear["lower"], linear["upper"])
        self.assertAlmostEqual(linear["lower"][1], out["lower"][1], delta=0.05)

    @unittest.skipUnless(shutil.which("gnuplot"), "there is no gnuplot")
    def test_pictures_of_scores(self):
        model = self.model()
        self.ok("explain", model, "--at", "at.csv", "--step", "0.2", "--plot", "bars.svg", "-o", "s.csv")
        self.assertIn(">b<", self.read("bars.svg"))
        self.write("four.csv", "a,b,c,d,y\n" + "".join("%d,%d,%d,%d,%d\n" % (i, i % 2, i % 3, i % 5, i * i % 7) for i in range(9)))
        self.ok("fit", "four.csv", "-t", "y", "--no-train", "-q", "-o", "four.hf")
        self.ok("explain", "four.hf", "--at", "four.csv", "--step", "0.2", "--plot", "map.svg", "--shape", "2x2", "-o", "s.csv")
        self.assertIn("<image", self.read("map.svg"))
        scores = ["explain", model, "--at", "at.csv", "--step", "0.2"]
        self.fails(scores + ["--plot", "map.svg", "--shape", "2x2"], "4 pixels", "2 inputs")
        self.fails(scores + ["--plot", "map.svg", "--shape", "two"], "ROWSxCOLUMNS", code=2)
        self.fails(scores + ["--plot", "map.svg", "--shape", "1x2"], "two rows", code=2)
        self.fails(scores + ["--shape", "2x2"], "--plot", code=2)
        self.fails(scores + ["--method", "linear", "--tolerance", "1"], "--method ranges", code=2)
        self.fails(scores + ["--method", "guess"], "ranges or linear", code=2)

    def test_bad_input(self):
        model = self.model()
        self.write("low.csv", "a,b\n1,0\n")
        self.write("high.csv", "a,b\n0.5,0.5\n")
        self.write("short.csv", "a\n1\n")
        self.write("gap.csv", "a,b\n1,\n")
        at = ["certify", model, "--at", "at.csv"]
        self.fails(["certify", model, "--box", "low.csv,high.csv"], "row 1", '"a" goes from 1 down to 0.5')
        self.fails(["certify", model, "--box", "low.csv"], "two tables", code=2)
        self.fails(["certify", model, "--at", "short.csv", "--radius", "1"], "b")
        self.fails(["certify", model, "--at", "gap.csv", "--radius", "1"], "line 2", '"b" is missing')
        self.write("endless.csv", "a,b\n1,0\n1,inf\n")
        self.fails(["certify", model, "--at", "endless.csv", "--radius", "1"], "line 3", '"b": the value is infinite')
        self.fails(["certify", model], "--at or --box is missing", code=2)
        self.fails(at, "--radius is missing", code=2)
        self.fails(at + ["--radius", "-1"], "--radius: -1", code=2)
        self.fails(at + ["--radius", "1", "--what", "mode"], "there is no 'mode'", code=2)
        self.fails(at + ["--radius", "1", "--what", "decision"], "about classes")
        self.fails(at + ["--radius", "1", "--max-radius"], "about classes")
        self.fails(at + ["--radius", "1", "--features", "c"], 'no input "c"')
        self.fails(at + ["--radius", "1", "--of", "z"], 'no output "z"')
        self.fails(at + ["--radius", "1", "--tolerance", "0"], "tolerance is 0; give a positive number", code=2)
        self.fails(at + ["--radius", "1", "--json"], "--json and the table", code=2)
        self.fails(["extremum", model], "--minimum or --maximum is missing", code=2)
        self.fails(["extremum", model, "--minimum", "--maximum"], "exclude", code=2)
        self.fails(["explain", model, "--at", "at.csv", "--step", "0"], "above 0", code=2)
        self.write("far.csv", "a,b\n100,0\n")
        code, _, err = self.run_tool("certify", model, "--box", "far.csv,far.csv")
        self.assertEqual(code, 0)
        self.assertIn("outside of the readings", err)


class Outputs(Certify):
    def test_all_of_them_together(self):
        draw = random.Random(11)
        lines = ["a,b,u,v"]
        for _ in range(40):
            a, b = draw.uniform(0, 3), draw.uniform(0, 3)
            lines.append("%.4f,%.4f,%.4f,%.4f" % (a, b, math.sin(2 * a) + 0.3 * b, 5 * math.cos(a + b)))
        self.write("uv.csv", "\n".join(lines) + "\n")
        self.ok("fit", "uv.csv", "-t", "u,v", "-k", "se(ard)", "-q", "-o", "uv.hf")
        self.write("at.csv", "a,b\n1,1.5\n2.2,0.4\n")
        ask = ["certify", "uv.hf", "--at", "at.csv", "--radius", "0.4", "--what", "outputs", "--tolerance", "0.02"]
        centre = table(self.ok("predict", "uv.hf", "at.csv"))
        box = [{"a": (a - 0.4, a + 0.4), "b": (b - 0.4, b + 0.4)} for a, b in zip(centre["a"], centre["b"])]
        lines = ["%.17g,%.17g" % (draw.uniform(*own["a"]), draw.uniform(*own["b"])) for own in box for _ in range(300)]
        self.write("in.csv", "a,b\n" + "\n".join(lines) + "\n")
        inside = table(self.ok("predict", "uv.hf", "in.csv"))
        for norm, size in (("1", lambda u, v: u + 0.2 * v), ("2", lambda u, v: math.hypot(u, 0.2 * v)),
                           ("inf", lambda u, v: max(u, 0.2 * v)), ("3", lambda u, v: (u ** 3 + (0.2 * v) ** 3) ** (1 / 3))):
            out = table(self.ok(*ask, "--norm", norm, "--weights", "1,0.2", "--where"))
            self.write("far.csv", "a,b\n" + "\n".join("%.17g,%.17g" % p for p in zip(out["a_at_worst"], out["b_at_worst"])) + "\n")
            far = table(self.ok("predict", "uv.hf", "far.csv"))
            for k in range(2):
                self.assertEqual(out["status"][k], "tolerance")
                away = lambda t, i: size(abs(t["u_mean"][i] - centre["u_mean"][k]), abs(t["v_mean"][i] - centre["v_mean"][k]))
                self.assertAlmostEqual(away(far, k), out["attained"][k], delta=1e-6)
                self.assertLessEqual(out["upper"][k], out["attained"][k] + 0.02)
                self.assertLessEqual(max(away(inside, 300 * k + i) for i in range(300)), out["upper"][k] + 1e-12)
        most = max(out["upper"])
        words = self.ok(*ask, "--norm", "3", "--weights", "1,0.2", "--delta", 1.01 * most, "-o", "v.csv")
        self.assertIn("2 certified, 0 with a counterexample", words)
        code, _, err = self.run_tool(*ask, "--norm", "3", "--weights", "1,0.2", "--delta", 0.5 * min(out["attained"]),
                                     "--counterexamples", "c.csv", "--fail-on", "counterexample", "-o", "v.csv")
        self.assertEqual((code, err), (3, ""))
        self.assertEqual(len(table(self.read("c.csv"))["row"]), 2)

    def test_bad_input(self):
        model = self.model()
        ask = ["certify", model, "--at", "at.csv", "--radius", "0.1"]
        for options, words in ((["--norm", "2"], "are for --what outputs"), (["--what", "outputs", "--norm", "0.5"], "from 1 on"),
                               (["--what", "outputs", "--weights", "1,2"], "2 for 1 outputs"),
                               (["--what", "outputs", "--weights", "0"], "above 0"),
                               (["--what", "outputs", "--never-above", "1"], "not for --what outputs"),
                               (["--what", "outputs", "--rigorous", "--norm", "3"], "--rigorous"),
                               (["--what", "outputs", "--fail-on", "open"], "need --delta"),
                               (["--what", "outputs", "--of", "y"], "about all of them")):
            self.fails(ask + options, words, code=2)
        self.fails(["certify", self.classes(), "--at", "at.csv", "--radius", "1", "--what", "outputs"], "about readings")


class Verdicts(Certify):
    def test_limits(self):
        model = self.model()
        at = [model, "--at", "at.csv", "--radius", "0.3"]
        ranges = table(self.ok("certify", *at, "--where", "--sides"))
        self.assertEqual(list(ranges)[2:6] + list(ranges)[-4:], ["a_from", "b_from", "a_to", "b_to", "a_at_lower", "b_at_lower",
                                                                 "a_at_upper", "b_at_upper"])
        for k in range(2):
            self.assertAlmostEqual(ranges["a_to"][k] - ranges["a_from"][k], 0.6, places=9)
        self.write("there.csv", "a,b\n%.17g,%.17g\n" % (ranges["a_at_upper"][0], ranges["b_at_upper"][0]))
        self.ok("predict", model, "there.csv", "-o", "p.csv")
        self.assertAlmostEqual(table(self.read("p.csv"))["y_mean"][0], ranges["upper_attained"][0], places=6)
        limit = (ranges["upper"][0] + ranges["lower"][0]) / 2
        out = json.loads(self.ok("certify", *at, "--never-above", str(limit), "--json", "-o", "v.csv", "--counterexamples", "c.csv"))
        verdicts, found = table(self.read("v.csv")), table(self.read("c.csv"))
        self.assertEqual(list(verdicts), ["a", "b", "value", "lower", "upper", "worst", "margin", "status", "nodes", "seconds"])
        self.assertEqual((verdicts["status"][0], found["row"][0]), ("counterexample", 1))
        self.assertEqual((out["what"], out["value"], out["never_above"], out["delta"]), ("verdict", "mean", limit, None))
        self.assertEqual(out["counterexamples"] + out["certified"], 2)
        self.ok("predict", model, "c.csv", "-o", "p.csv")
        for mean in table(self.read("p.csv"))["y_mean"]:
            self.assertGreater(mean, limit)
        above, below = str(max(ranges["upper"]) + 0.1), str(min(ranges["lower"]) - 0.1)
        both = table(self.ok("certify", *at, "--never-above", above, "--never-below", below, "--fail-on", "open", "--where"))
        self.assertEqual(both["status"], ["certified"] * 2)
        self.assertLess(abs(both["a_at_worst"][0] - 1.5), 0.3001)

    def test_exit_status(self):
        model = self.model()
        at = ["certify", model, "--at", "at.csv", "--radius", "0.3"]
        for more, expected in ((["--delta", "100"], 0), (["--delta", "1e-6"], 3), (["--delta", "0.001", "--max-radius"], 3)):
            code, out, _ = self.run_tool(*at, *more, "--fail-on", "counterexample")
            self.assertEqual((code, "status" in out or "radius" in out), (expected, True))
        stopped = at + ["--delta", "2.5", "--node-limit", "1", "-q"]
        statuses = set(table(self.ok(*stopped))["status"])
        self.assertEqual(self.run_tool(*stopped, "--fail-on", "open")[0], 0 if statuses == {"certified"} else 3)

    def test_radii(self):
        model = self.model()
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "3", "--delta", "0.2", "--max-radius"))
        self.assertEqual(list(out), ["a", "b", "value", "certified_radius", "broken_radius", "nodes", "seconds"])
        for k in range(2):
            self.assertTrue(0 < out["certified_radius"][k] < out["broken_radius"][k] < 3)
        boxes = [{"a": (a - r, a + r), "b": (b - r, b + r)} for a, b, r in zip(out["a"], out["b"], out["certified_radius"])]
        for k, values in enumerate(self.inside(model, boxes, "y_mean")):
            self.assertLessEqual(max(abs(v - out["value"][k]) for v in values), 0.2001)
        never = table(self.ok("certify", model, "--at", "at.csv", "--radius", "3", "--never-above", "-99", "--max-radius"))
        self.assertTrue(all(map(math.isnan, never["certified_radius"])))
        self.assertEqual(never["broken_radius"], [0, 0])

    def test_probabilities(self):
        model = self.classes()
        at = ["certify", model, "--at", "at.csv", "--radius", "0.2", "--of", "yes"]
        ranges = table(self.ok(*at))
        out = table(self.ok(*at, "--never-above", repr(ranges["upper"][0] + 1e-3)))
        self.assertEqual(out["status"][0], "certified")
        self.assertEqual(table(self.ok(*at, "--never-above", repr(ranges["upper_attained"][0] - 1e-3)))["status"][0], "counterexample")

    @unittest.skipUnless(shutil.which("gnuplot"), "there is no gnuplot")
    def test_picture(self):
        model = self.model()
        self.ok("certify", model, "--at", "at.csv", "--radius", "0.1,0.3", "--delta", "0.2", "--plot", "v.svg", "-o", "v.csv")
        self.assertIn("keeps to its limits", self.read("v.svg"))
        self.ok("certify", model, "--at", "at.csv", "--radius", "1", "--delta", "0.2", "--max-radius", "--plot", "v.svg", "-o", "v.csv")

    def test_bad_input(self):
        model = self.model()
        at = ["certify", model, "--at", "at.csv", "--radius", "1"]
        self.fails(at + ["--never-above", "x"], "--never-above", code=2)
        self.fails(at + ["--never-above", "nan"], "never-above", code=2)
        self.fails(at + ["--delta", "-1"], "--delta: -1", code=2)
        self.fails(at + ["--never-above", "1", "--never-below", "2"], "is above --never-above", code=2)
        self.fails(at + ["--never-above", "1", "--fail-on", "rain"], "there is no 'rain'", code=2)
        self.fails(at + ["--fail-on", "open"], "--fail-on is for", code=2)
        self.fails(at + ["--counterexamples", "c.csv"], "--counterexamples is for", code=2)
        self.fails(at + ["--delta", "1", "--max-radius", "--where"], "--where is for", code=2)
        self.fails(at + ["--delta", "1", "--max-radius", "--sides"], "--sides is for", code=2)
        self.fails(at + ["--delta", "1", "--what", "decision"], "about classes")
        self.fails(["certify", model, "--at", "at.csv", "--what", "readings", "--delta", "1"], "not for --what readings", code=2)
        self.fails(["certify", model, "--box", "a=0:1", "--delta", "1"], "--delta is about points", code=2)
        self.write("odd.csv", "a,a_from,y\n1,2,3\n2,3,5\n4,4,4\n")
        self.ok("fit", "odd.csv", "-t", "y", "--no-train", "-q", "-o", "odd.hf")
        self.fails(["certify", "odd.hf", "--at", "odd.csv", "--radius", "1", "--sides"], '"a_from"', "rename")


class Regions(Certify):
    def width(self, out):
        return [u - l for u, l in zip(out["upper"], out["lower"])]

    def test_balls(self):
        at = [self.model(), "--at", "at.csv", "--radius", "0.4", "--tolerance", "0.001"]
        widths = [self.width(table(self.ok("certify", *at, *more))) for more in
                  ([], ["--ball", "l2"], ["--ball", "l1"], ["--at-most", "1"])]
        for k in range(2):
            self.assertGreater(widths[0][k] - 0.002, widths[1][k])
            self.assertGreater(widths[1][k] - 0.002, widths[2][k])
            self.assertLess(widths[3][k], widths[2][k] + 0.004)  # the axes of the diamond
        out = table(self.ok("certify", *at, "--ball", "l2", "--where"))
        for k, (a, b) in enumerate(zip(out["a"], out["b"])):
            for end in ("lower", "upper"):
                self.assertLessEqual(math.hypot(out["a_at_" + end][k] - a, out["b_at_" + end][k] - b), 0.4 + 1e-9)
        sets = self.width(table(self.ok("certify", *at, "--group", "a", "--group", "b")))
        patch = self.width(table(self.ok("certify", *at, "--patch", "1x1@1x2")))
        for k in range(2):
            self.assertAlmostEqual(sets[k], widths[3][k], places=9)
            self.assertAlmostEqual(patch[k], widths[3][k], places=9)
        said = json.loads(self.ok("certify", *at, "--ball", "l1", "--at-most", "1", "-o", "r.csv", "--json"))
        self.assertEqual(said["region"], {"ball": "l1", "at_most": 1, "sets": None, "limits": False, "steps": False})
        self.assertIsNone(json.loads(self.ok("certify", *at, "-o", "r.csv", "--json"))["region"])

    def test_radii_limits_and_steps(self):
        model = self.model()
        own = table(self.ok("certify", model, "--at", "at.csv", "--radius", "a=0.4", "--sides"))
        held = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.4", "-f", "a", "--sides"))
        for column in ("lower", "upper", "a_from", "a_to"):
            self.assertEqual(own[column], held[column])
        self.assertNotIn("b_from", own)
        cut = table(self.ok("certify", model, "--at", "at.csv", "--radius", "a=0.4,b=0.2", "--within", "a=1.4:3,b=-inf:0.1", "--sides"))
        self.assertEqual((cut["a_from"][0], cut["a_to"][1], cut["b_to"]), (1.4, 3, [0.1, -0.2]))
        steps = table(self.ok("certify", model, "--at", "at.csv", "--radius", "a=1.2", "--step", "a=0.5", "--where"))
        for k, a in enumerate(steps["a"]):
            for end in ("lower", "upper"):
                self.assertIn(round(steps["a_at_" + end][k] - a, 9), (-1, -0.5, 0, 0.5, 1))
        self.write("places.csv", "a,b\n" + "".join("%r,0.1\n" % (1.5 + 0.5 * k) for k in range(-2, 3)))
        self.ok("predict", model, "places.csv", "-o", "p.csv")
        means = table(self.read("p.csv"))["y_mean"]
        self.assertAlmostEqual(min(means), steps["lower_attained"][0], places=6)
        self.assertAlmostEqual(max(means), steps["upper_attained"][0], places=6)
        far = table(self.ok("certify", model, "--at", "at.csv", "--radius", "a=3,b=3", "--delta", "0.2", "--max-radius", "--ball", "l2"))
        near = table(self.ok("certify", model, "--at", "at.csv", "--radius", "a=3,b=3", "--delta", "0.2", "--max-radius"))
        self.assertGreaterEqual(far["broken_radius"][0], near["certified_radius"][0])

    def test_classes(self):
        model = self.classes()
        at = ["certify", model, "--at", "at.csv", "--radius", "0.8", "--what", "decision"]
        box, ball = (table(self.ok(*at, *more, "--counterexamples", "c.csv"))["status"] for more in ([], ["--ball", "l2"]))
        for b, c in zip(box, ball):
            self.assertFalse(b == "certified" and c == "counterexample")
        found = table(self.read("c.csv"))
        rows = table(self.read("at.csv"))
        for k, row in enumerate(found["row"]):
            i = int(row) - 1
            self.assertLessEqual(math.hypot(found["a"][k] - rows["a"][i], found["b"][k] - rows["b"][i]), 0.8 + 1e-9)
        radii = table(self.ok("certify", model, "--at", "at.csv", "--radius", "5", "--max-radius", "--ball", "l2"))
        for k in range(3):
            self.assertEqual(ball[k], "certified" if radii["certified_radius"][k] > 0.8 else "counterexample")

    def test_bad_input(self):
        model = self.model()
        at = ["certify", model, "--at", "at.csv", "--radius", "1"]
        self.fails(at + ["--ball", "cube"], "there is no 'cube'", code=2)
        self.fails(at + ["--within", "a=2:1"], "--within", code=2)
        self.fails(at + ["--within", "c=0:1"], 'no input "c"')
        self.fails(at + ["--within", "a=5:9"], "row 1", '"a" is 1.5')
        self.fails(at + ["--step", "a=0"], "not above 0", code=2)
        self.fails(at + ["--step", "a=x"], "INPUT=NUMBER", code=2)
        self.fails(at + ["--at-most", "0"], "from 1 on", code=2)
        self.fails(at + ["--at-most", "1", "--group", "a"], "exclude", code=2)
        self.fails(at + ["--group", "a,c"], 'no input "c"')
        self.fails(at + ["--patch", "2x2"], "ROWSxCOLUMNS", code=2)
        self.fails(at + ["--patch", "2x2@28x28"], "784 pixels", "2 inputs")
        self.fails(at + ["--ball", "l2", "--rigorous"], "--rigorous is for boxes", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--what", "readings", "--ball", "l2"], "are for boxes", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "a=-1"], "from 0 on", code=2)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "c=1"], 'no input "c"')
        self.fails(["certify", model, "--at", "at.csv", "--radius", "a=1,2"], "INPUT=NUMBER", code=2)


class Lines(Certify):
    """A line of JSON for each row, with all that the row is about."""

    def lines(self, *arguments):
        return [json.loads(line) for line in self.ok("certify", *arguments, "--format", "jsonl").splitlines()]

    def test_a_line_can_be_checked_by_itself(self):
        model = self.model()
        asked = [model, "--at", "at.csv", "--radius", "0,0.2", "--within", "a=1:9", "--tolerance", "0.05", "--where"]
        lines, rows = self.lines(*asked), table(self.ok("certify", *asked))
        self.assertEqual([line["row"] for line in lines], [1, 1, 2, 2])
        self.assertEqual([line["answer"]["radius"] for line in lines], [0, 0.2] * 2)
        for k, line in enumerate(lines):
            self.assertEqual((line["at"]["a"], line["answer"]["upper"]), (rows["a"][k], rows["upper"][k]))
            self.assertEqual(line["answer"]["a_at_upper"], rows["a_at_upper"][k])
        said = json.loads(self.ok("inspect", model, "--json"))
        last = lines[3]
        self.assertEqual((last["model_sha256"], last["data_sha256"]), (said["content_sha256"], said["data_sha256"]))
        self.assertIn(last["model_sha256"], self.ok("inspect", model))
        self.assertEqual((last["what"], last["of"], last["settings"]["tolerance"]), ("mean", "y", 0.05))
        self.assertEqual(last["options"]["within"], ["a=1:9"])
        # From the line alone: the same box, the same range.
        for name in ("from", "to"):
            self.write(name + ".csv", "a,b\n%.17g,%.17g\n" % (last[name]["a"], last[name]["b"]))
        again = self.lines(model, "--box", "from.csv,to.csv", "--tolerance", "%.17g" % last["settings"]["tolerance"])[0]
        self.assertEqual((again["answer"]["lower"], again["unit"]), (last["answer"]["lower"], None))

    def test_every_question_has_lines(self):
        classes, model = self.classes(), self.model()
        claim = self.lines(model, "--at", "at.csv", "--radius", "0.2", "--never-above", "100", "--max-radius")
        self.assertEqual((claim[0]["value"], claim[0]["options"]["never-above"]), ("mean", ["100"]))
        self.assertEqual((claim[0]["answer"]["certified_radius"], claim[0]["answer"]["broken_radius"]), (0.2, None))
        self.assertEqual((claim[0]["unit"], claim[0]["from"]), ({"a": 1, "b": 1}, None))
        self.write("labelled.csv", "a,b,kind\n0,0,no\n3,0,yes\n")
        accuracy = self.lines(classes, "--at", "labelled.csv", "--radius", "0,0.1", "--what", "accuracy")
        self.assertEqual([(line["row"], line["answer"]["rows"]) for line in accuracy], [(None, 2)] * 2)
        decision = self.lines(classes, "--at", "labelled.csv", "--radius", "0.1", "--what", "decision")
        self.assertEqual([(line["of"], line["answer"]["status"]) for line in decision], [(None, "certified")] * 2)
        damage = self.lines(model, "--at", "at.csv", "--what", "readings", "-q")
        self.assertEqual(damage[0]["answer"], {"damage": "inf", "worst_row": None})
        self.assertEqual(([line["row"] for line in damage], damage[0]["from"]), ([1, 2], None))
        words = self.ok("certify", model, "--at", "at.csv", "--radius", "0.1", "--format", "csv", "--json", "-o", "r.csv")
        self.assertEqual(json.loads(words)["model_sha256"], damage[0]["model_sha256"])
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--format", "xml"], "'xml'; give csv or jsonl", code=2)


class Classes(Certify):
    def test_probabilities(self):
        model = self.classes()
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3"))
        other = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3", "--of", "no"))
        boxes = [{"a": (a - 0.3, a + 0.3), "b": (b - 0.3, b + 0.3)} for a, b in zip(out["a"], out["b"])]
        for k, values in enumerate(self.inside(model, boxes, "p_yes")):
            self.assertLessEqual(out["lower"][k], min(values))
            self.assertGreaterEqual(out["upper"][k], max(values))
            self.assertLessEqual(out["upper"][k] - out["upper_attained"][k], 0.0101)
            self.assertAlmostEqual(other["lower"][k], 1 - out["upper"][k], delta=0.011)
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--of", "maybe"], 'no class "maybe"')
        proof = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.3", "--rigorous", "--time-limit", "1", "-q"))
        for k, at in enumerate(zip(out["lower_attained"], out["upper_attained"])):
            self.assertLessEqual(proof["lower"][k], at[0])
            self.assertGreaterEqual(proof["upper"][k], at[1])

    def test_decisions_radii_and_attacks(self):
        model = self.classes()
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.8", "--what", "decision"))
        self.assertEqual(set(out["status"]), {"certified", "counterexample"})
        words = self.ok("certify", model, "--at", "at.csv", "--radius", "5", "--max-radius", "--counterexamples", "c.csv", "-o", "r.csv")
        self.assertIn("with a counterexample", words)
        radii, found = table(self.read("r.csv")), table(self.read("c.csv"))
        self.ok("predict", model, "c.csv", "-o", "c.out.csv")
        classes = table(self.read("c.out.csv"))["kind_class"]
        for k, row in enumerate(found["row"]):
            i = int(row) - 1
            self.assertNotEqual(classes[k], radii["class"][i])
            self.assertLess(radii["certified_radius"][i], radii["broken_radius"][i])
            self.assertLessEqual(radii["broken_radius"][i], radii["certified_radius"][i] * 1.02)
            self.assertEqual(out["status"][i], "certified" if radii["certified_radius"][i] > 0.8 else "counterexample")
        attacked = table(self.ok("attack", model, "--at", "at.csv", "--radius", "0.8"))
        for i in range(3):
            if out["status"][i] == "certified":
                self.assertEqual(attacked["class_before"][i], attacked["class_after"][i])
            self.assertLessEqual(abs(attacked["a"][i] - out["a"][i]), 0.8000001)
        best = table(self.ok("extremum", model, "--maximum", "--of", "yes"))  # of the one latent function
        self.assertGreater(best["a"][0], 1)
        self.assertIn("changed their class", self.ok("attack", model, "--at", "at.csv", "--radius", "0.8", "-m", "fgsm", "-o", "x.csv"))

    def test_rules(self):
        model = self.classes()
        loss = ["--loss", "1,9", "--lambda", "1.5"]
        said = table(self.ok("predict", model, "kinds.csv", *loss))
        plain = table(self.ok("predict", model, "kinds.csv"))
        for p, own, kind, mean, sd in zip(plain["p_yes"], said["p_yes"], said["kind_class"], said["kind_mean"], said["kind_sd"]):
            self.assertAlmostEqual(own, 0.5 * math.erfc(-mean / math.sqrt(2 * (1.5 ** -2 + sd * sd))), delta=1e-12)
            self.assertEqual(kind, "yes" if own > 0.1 else "no")
        self.assertNotEqual(plain["kind_class"], said["kind_class"])
        out = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.6", "--what", "decision", *loss,
                            "--counterexamples", "c.csv"))
        self.assertEqual(set(out["status"]), {"certified", "counterexample"})
        boxes = [{"a": (a - 0.6, a + 0.6), "b": (b - 0.6, b + 0.6)} for a, b in zip(out["a"], out["b"])]
        ranges = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.6", "--lambda", "1.5"))
        draw, lines = random.Random(3), ["a,b"]
        for box in boxes:
            lines += ["%.17g,%.17g" % (draw.uniform(*box["a"]), draw.uniform(*box["b"])) for _ in range(200)]
        self.write("in.csv", "\n".join(lines) + "\n")
        inside = table(self.ok("predict", model, "in.csv", *loss))
        for k in range(3):
            own = slice(200 * k, 200 * k + 200)
            self.assertLessEqual(ranges["lower"][k], min(inside["p_yes"][own]))
            self.assertGreaterEqual(ranges["upper"][k], max(inside["p_yes"][own]))
            if out["status"][k] == "certified":
                self.assertEqual(set(inside["kind_class"][own]), {out["class"][k]})
        found = table(self.ok("predict", model, "c.csv", "--threshold", "0.1", "--lambda", "1.5"))
        for row, kind in zip(found["row"], found["kind_class"]):
            self.assertNotEqual(kind, out["class"][int(row) - 1])
        flips = table(self.ok("explain", model, "--at", "at.csv", "--step", "3", "--flip", "nearest", *loss))
        radii = table(self.ok("certify", model, "--at", "at.csv", "--radius", "3", "--max-radius", *loss))
        self.assertEqual(flips["class_before"], radii["class"])
        self.assertEqual(flips["class_before"], out["class"])
        self.ok("attack", model, "--at", "at.csv", "--radius", "0.6", *loss)
        at = ["certify", model, "--at", "at.csv", "--radius", "0.6"]
        for options, words in ((["--threshold", "1"], "between 0 and 1"), (["--lambda", "0"], "1e-6 to 1e6"),
                               (["--loss", "1"], "2 costs, one a class"), (["--loss", "1,-2"], "none below 0"),
                               (["--loss", "0,1,1,1"], "must be less"),
                               (["--loss", "1,2", "--threshold", "0.2"], "leave out --threshold"),
                               (["--threshold", "x"], "--threshold"), (["--threshold", "0.2"], "are for --what loss"),
                               (["--what", "mean", "--lambda", "2"], "--lambda is for")):
            self.fails(at + options, words, code=2)
        self.fails(["explain", model, "--at", "at.csv", "--step", "1", "--threshold", "0.2"], "--flip", code=2)
        self.fails(["predict", self.model(), "at.csv", "--threshold", "0.2"], "two classes")

    def test_losses_of_three(self):
        self.write("three.csv", "a,b,kind\n" + "".join(f"{math.sin(3 * i):.6f},{math.cos(5 * i):.6f},{'uvw'[i % 3]}\n" for i in range(40)))
        self.ok("fit", "three.csv", "--target", "kind", "--sites", "softmax", "--no-train", "-o", "three.hf")
        self.write("at3.csv", "a,b\n0.3,0.2\n-0.5,0.6\n")
        matrix = "0,2,9,1,0,4,3,1,0.5"
        cost = [[float(c) for c in matrix.split(",")][3 * a:3 * a + 3] for a in range(3)]
        said = table(self.ok("predict", "three.hf", "three.csv", "--loss", matrix))
        for row in zip(said["p_u"], said["p_v"], said["p_w"], said["kind_class"]):
            losses = [sum(c * p for c, p in zip(line, row)) for line in cost]
            self.assertEqual(row[3], "uvw"[losses.index(min(losses))])
        at = ["certify", "three.hf", "--at", "at3.csv", "--radius", "0.1"]
        here = table(self.ok("predict", "three.hf", "at3.csv"))
        for name, line in zip("uvw", cost):
            out = table(self.ok(*at, "--what", "loss", "--of", name, "--loss", matrix, "--tolerance", "0.1"))
            for k in range(2):
                value = sum(c * here["p_" + kind][k] for kind, c in zip("uvw", line))
                self.assertLessEqual(out["lower"][k], value)
                self.assertGreaterEqual(out["upper"][k], value)
                self.assertLessEqual(out["upper"][k] - out["upper_attained"][k], 0.1 + 1e-9)
        weights = table(self.ok(*at, "--what", "decision", "--loss", "1,1,50"))
        self.assertEqual(set(weights["class"]), {"w"})  # is never to be missed
        self.fails(at + ["--what", "decision", "--loss", "1,2"], "3 costs, one a class, or 9", code=2)
        self.fails(at + ["--what", "decision", "--threshold", "0.2"], "two classes", code=1)

    def test_accuracy(self):
        model = self.classes()
        labelled = self.read("at.csv").split("\n")
        self.write("labelled.csv", "\n".join([labelled[0] + ",kind"] + [row + "," + label for row, label in
                                                                       zip(labelled[1:], ("yes", "yes", "yes"))] + ["1,1,"]))
        out = json.loads(self.ok("certify", model, "--at", "labelled.csv", "--radius", "0,0.8", "--what", "accuracy", "--json", "-o",
                                 "a.csv"))
        decisions = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.8", "--what", "decision"))
        right = decisions["class"].count("yes")
        surely = sum(pair == ("yes", "certified") for pair in zip(decisions["class"], decisions["status"]))
        self.assertEqual([(c["radius"], c["rows"], c["right"], c["certified"]) for c in out["accuracy"]],
                         [(0, 3, right, right), (0.8, 3, right, surely)])
        self.assertEqual(table(self.read("a.csv"))["certified_accuracy"], [right / 3, surely / 3])
        self.write("foreign.csv", "a,b,kind\n0,0,no\n0,1,maybe\n")
        self.fails(["certify", model, "--at", "foreign.csv", "--radius", "1", "--what", "accuracy"], "foreign.csv, line 3", "maybe", '"no", "yes"')
        self.fails(["certify", model, "--at", "at.csv", "--radius", "1", "--what", "accuracy"], "kind")
        self.write("none.csv", "a,b,kind\n0,0,\n")
        self.fails(["certify", model, "--at", "at.csv", "--what", "readings"], 'classes of "kind"')
        self.fails(["certify", model, "--at", "none.csv", "--radius", "1", "--what", "accuracy"], "no row has a label")
        self.write("empty.csv", "a,b\n")
        self.fails(["certify", model, "--at", "empty.csv", "--radius", "1"], "no rows")

    def test_labels_that_look_like_numbers(self):
        self.classes()
        self.write("kinds.csv", self.read("kinds.csv").replace("yes", "1").replace("no", "0"))
        self.ok("fit", "kinds.csv", "-t", "kind", "--sites", "probit", "-k", "se(ard)", "-q", "-o", "kinds.hf")
        self.write("at.csv", "a,b,kind\n2.4,-0.3,1.0\n-1.1,0.5,0\n")
        out = table(self.ok("certify", "kinds.hf", "--at", "at.csv", "--radius", "0", "--what", "accuracy"))
        self.assertEqual((out["rows"], out["right"]), ([2], [2]))
        out = table(self.ok("certify", "kinds.hf", "--at", "at.csv", "--radius", "0", "--what", "decision"))
        self.assertEqual(out["class"], [1, 0])

    def test_three_classes(self):
        draw = random.Random(3)
        lines = ["a,b,kind"] + ["%.3f,%.3f,%s" % (draw.gauss(2 * (i % 3), 0.6), draw.gauss(0, 1), "pqr"[i % 3]) for i in range(36)]
        self.write("three.csv", "\n".join(lines) + "\n")
        self.ok("fit", "three.csv", "-t", "kind", "--sites", "softmax", "-q", "-o", "three.hf")
        self.write("at.csv", "a,b\n0.7,0.2\n")
        out = table(self.ok("certify", "three.hf", "--at", "at.csv", "--radius", "0.1", "--what", "probability", "--of", "q"))
        self.assertLess(out["lower"][0], out["upper"][0])
        out = table(self.ok("certify", "three.hf", "--at", "at.csv", "--radius", "0.1", "--what", "mean", "--of", "q"))
        self.assertLess(out["lower"][0], out["upper"][0])


    def test_all_classes(self):
        draw = random.Random(3)
        lines = ["a,b,kind"] + ["%.3f,%.3f,%s" % (draw.gauss(2 * (i % 3), 0.6), draw.gauss(0, 1), "pqr"[i % 3]) for i in range(36)]
        self.write("three.csv", "\n".join(lines) + "\n")
        self.ok("fit", "three.csv", "-t", "kind", "--sites", "softmax", "-k", "se", "-q", "-o", "three.hf")
        self.write("at.csv", "a,b\n0.7,0.2\n0,0\n")
        out = table(self.ok("certify", "three.hf", "--at", "at.csv", "--radius", "0.5", "--what", "classes"))
        self.assertEqual(list(out), ["a", "b", "possible"] + [name % c for c in "pqr" for name in ("p_%s_lower", "p_%s_upper", "class_%s")] +
                         ["status", "nodes", "seconds"])
        boxes = [{"a": (a - 0.5, a + 0.5), "b": (b - 0.5, b + 0.5)} for a, b in zip(out["a"], out["b"])]
        for c in "pqr":
            for k, values in enumerate(self.inside("three.hf", boxes, "p_" + c)):
                self.assertLessEqual(out["p_%s_lower" % c][k], min(values))
                self.assertGreaterEqual(out["p_%s_upper" % c][k], max(values))
        for k, classes in enumerate(self.inside("three.hf", boxes, "kind_class")):
            for c in set(classes):
                self.assertEqual(out["class_" + c][k], "possible")
            self.assertEqual(out["possible"][k], sum(out["class_" + c][k] != "ruled out" for c in "pqr"))
        self.assertEqual(out["class_r"], ["ruled out"] * 2)
        lines = [json.loads(line) for line in self.ok("certify", "three.hf", "--at", "at.csv", "--radius", "0,0.1", "--what", "classes",
                                                      "--sides", "--format", "jsonl").splitlines()]
        self.assertEqual([(line["row"], line["of"], line["answer"]["radius"]) for line in lines],
                         [(1, None, 0), (1, None, 0.1), (2, None, 0), (2, None, 0.1)])
        at = ["certify", "three.hf", "--at", "at.csv", "--radius", "0.1", "--what", "classes"]
        self.fails(at + ["--of", "q"], "--of is not for --what classes", code=2)
        self.fails(at + ["--plot", "x.svg", "-o", "x.csv"], "--plot is not for --what classes", code=2)
        self.fails(at + ["--never-above", "0.5"], "not for --what classes", code=2)
        model = self.classes()
        two = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.8", "--what", "classes"))
        decided = table(self.ok("certify", model, "--at", "at.csv", "--radius", "0.8", "--what", "decision"))
        for k in range(3):
            self.assertAlmostEqual(two["p_no_lower"][k], 1 - two["p_yes_upper"][k], places=9)
            self.assertEqual(two["possible"][k] == 1, decided["status"][k] == "certified")
        readings = self.model()
        self.fails(["certify", readings, "--at", "at.csv", "--radius", "1", "--what", "classes"], "classes is about classes")


class FiveClasses(Certify):
    def test_certificates_say_that_they_rest_on_an_estimate(self):
        draw = random.Random(11)
        lines = ["a,b,kind"] + ["%.3f,%.3f,k%d" % (draw.gauss(i % 5, 0.6), draw.gauss(0, 1), i % 5) for i in range(40)]
        self.write("five.csv", "\n".join(lines) + "\n")
        self.ok("fit", "five.csv", "-t", "kind", "--sites", "softmax", "-k", "se", "--no-train", "-q", "-o", "five.hf")
        self.write("at.csv", "a,b,kind\n0.1,0.2,k0\n3.9,0,k4\n")
        at = ["five.hf", "--at", "at.csv", "--radius", "0"]
        point = table(self.ok("certify", *at))
        self.assertEqual(point["status"], ["tolerance (estimate)"] * 2)
        self.assertTrue(all(low < high for low, high in zip(point["lower"], point["upper"])))
        self.assertTrue(all(text.endswith(" (estimate)") for text in table(self.ok("certify", *at, "--what", "decision"))["status"]))
        self.assertIn("is an estimate: it rests on six standard errors", self.ok("certify", *at, "-o", "r.csv"))
        self.assertIs(json.loads(self.ok("certify", *at, "-o", "r.csv", "--json"))["estimate"], True)
        for more in (["certify", *at, "--what", "accuracy"],
                     ["certify", "five.hf", "--at", "at.csv", "--radius", "0.001", "--max-radius", "--node-limit", "2"],
                     ["explain", "five.hf", "--at", "at.csv", "--step", "0.001", "--node-limit", "2"]):
            self.assertIn("certificates of 5 classes rest on an estimate", self.run_tool(*more)[2])
        model = self.classes()
        self.assertNotIn("estimate", self.ok("certify", model, "--at", "at.csv", "--radius", "0"))
        self.assertIs(json.loads(self.ok("certify", model, "--at", "at.csv", "--radius", "0", "-o", "r.csv", "--json"))["estimate"], False)


if __name__ == "__main__":
    unittest.main()
