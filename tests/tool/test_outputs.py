# SPDX-License-Identifier: Apache-2.0
"""Several outputs from end to end: wide and long tables, gaps, what is told comes back, what cannot be is said."""
import json
import math
import os
import sqlite3
import unittest

from toolcase import ToolCase, table

TARGETS = ("y1", "y2", "y3")
FIT = ("--preset", "mogp")


def numbers(state):
    """Numbers in (-1, 1) that are the same everywhere."""
    while True:
        state = (state * 1103515245 + 12345) % 2 ** 31
        yield 2 * (state >> 8) / 2 ** 23 - 1


class Outputs(ToolCase):
    def rows(self, count=30, gaps=True, bad=()):
        """Rows (x, z, y1, y2, y3) with None for what was not read; `bad`: pairs of row (from 1) and output."""
        noise, made = numbers(5), []
        for i in range(count):
            x, z = i / 6 + 0.05 * next(noise), next(noise)
            y = [math.sin(x) + 0.3 * z + 0.08 * next(noise),
                 40 + 20 * (math.sin(x) + 0.3 * math.cos(2 * x)) + 2 * next(noise),
                 -0.01 * math.sin(x + 0.4) + 0.001 * next(noise)]
            for t in range(3):
                if (i + 1, t) in bad:
                    y[t] += (9, -150, 0.1)[t]
                if gaps and (i * 5 + t * 3) % 7 == 0:
                    y[t] = None
            made.append([x, z] + y)
        return made

    def wide(self, rows, name="wide.csv", order=("x", "z") + TARGETS):
        names = ("x", "z") + TARGETS
        text = ",".join(order) + "\n"
        for row in rows:
            text += ",".join("" if row[names.index(n)] is None else repr(row[names.index(n)]) for n in order) + "\n"
        return self.write(name, text)

    def long(self, rows, name="long.csv", words=TARGETS):
        text = "x,z,which,y\n"
        for row in rows:
            for t in range(3):
                if row[2 + t] is not None:
                    text += "%r,%r,%s,%r\n" % (row[0], row[1], words[t], row[2 + t])
        return self.write(name, text)

    def fit(self, *arguments, model="m.hf", quiet=True):
        return json.loads(self.ok("fit", *arguments, "-o", model, "--json", quiet=quiet))

    def places(self, name="new.csv"):
        return self.write(name, "x,z\n" + "".join("%r,%r\n" % (0.37 * k - 0.5, 0.4 * math.sin(k)) for k in range(17)))

    def predicted(self, model, new="new.csv", *arguments):
        return table(self.ok("predict", model, new, *arguments, quiet=False))

    def close(self, a, b, relative=1e-8, names=None):
        """All numbers of two tables agree, relative to the size of a column."""
        for name in names or [n for n in a if "_" in n]:
            size = max(abs(v) for v in a[name] if v == v)
            for u, v in zip(a[name], b[name]):
                self.assertTrue(abs(u - v) <= relative * size or (u != u and v != v), (name, u, v))


class Fits(Outputs):
    def test_a_wide_table(self):
        self.wide(self.rows(bad=[(9, 0), (22, 1)]))
        self.places()
        told = self.fit("wide.csv", "--target", "y1,y2,y3")
        self.assertEqual([o["name"] for o in told["outputs"]], list(TARGETS))
        self.assertEqual(sum(o["readings"] for o in told["outputs"]), told["report"]["readings"])
        self.assertEqual([(s["row"], s["output"]) for s in told["suspects"]], [(9, "y1"), (22, "y2")])
        self.assertEqual([o["suspected"] for o in told["outputs"]], [1, 1, 0])
        for row in told["coregionalisation"][0]["correlation"]:
            self.assertTrue(all(-1 <= c <= 1 + 1e-12 for c in row))
        out = self.predicted("m.hf")
        expected = ["x", "z"] + [y + e for y in TARGETS for e in ("_mean", "_sd_latent", "_sd_observed", "_lo95", "_hi95")]
        self.assertEqual(list(out), expected)
        for k, x in enumerate(out["x"]):
            if 0 <= x <= 4.8:
                self.assertLess(abs(out["y2_mean"][k] - 40 - 20 * (math.sin(x) + 0.3 * math.cos(2 * x))), 6)
        text = self.ok("inspect", "m.hf")
        for part in ("y1, y2 and y3 from 2 inputs", "Outputs, in the units of the data", "sd and correlations"):
            self.assertIn(part, text)

    def test_wide_and_long_are_the_same_model(self):
        rows = self.rows()
        self.wide(rows)
        self.long(rows)
        self.places()
        for preset in ("mogp", "morcgp"):
            a = self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", preset, model="w.hf")
            b = self.fit("long.csv", "--target", "y", "--output-column", "which", "--preset", preset, model="l.hf")
            self.assertEqual([p["value"] for p in a["parameters"]], [p["value"] for p in b["parameters"]])
            wide, long = self.predicted("w.hf"), self.predicted("l.hf")
            for y in TARGETS:
                for e in ("_mean", "_sd_latent", "_sd_observed", "_lo95", "_hi95"):
                    self.assertEqual(wide[y + e], long["y_" + y + e])
        # A row about its own output has the target's columns.
        own = self.predicted("l.hf", "long.csv")
        self.assertEqual(list(own)[-5:], ["y_mean", "y_sd_latent", "y_sd_observed", "y_lo95", "y_hi95"])
        everything = self.predicted("w.hf", "wide.csv")
        at = 0
        for i, row in enumerate(rows):
            for t in range(3):
                if row[2 + t] is not None:
                    self.assertAlmostEqual(own["y_mean"][at], everything[TARGETS[t] + "_mean"][i], delta=1e-9 * 60)
                    at += 1
        self.assertEqual(self.ok("score", "w.hf", "wide.csv"), self.ok("score", "l.hf", "long.csv"))

    def test_outputs_of_a_long_table_do_not_depend_on_its_order(self):
        rows = self.rows()
        self.long(rows, words=("10", "9", "-1.5"))
        told = self.fit("long.csv", "--target", "y", "--output-column", "which", *FIT)
        self.assertEqual([o["name"] for o in told["outputs"]], ["-1.5", "9", "10"])
        self.long(rows[::-1], words=("10", "9", "-1.5"))
        self.assertEqual([o["name"] for o in self.fit("long.csv", "--target", "y", "--output-column", "which",
                                                      *FIT)["outputs"]], ["-1.5", "9", "10"])
        self.write("new.csv", "x,z,which\n1,0,9.0\n1,0,1e1\n1,0,\n")
        out = self.predicted("m.hf")
        self.assertTrue(out["y_mean"][0] > 30 and out["y_mean"][1] < 5 and math.isnan(out["y_mean"][2]))
        self.write("new.csv", "x,z,which\n1,0,9\n1,0,11\n")
        self.fails(["predict", "m.hf", "new.csv"], "new.csv, line 3", 'no output "11"', '"-1.5", "9", "10"')
        self.long(rows, words=("roof", "wall", "inlet, north"))
        self.write("text.csv", self.read("long.csv").replace("inlet, north", '"inlet, north"'))
        told = self.fit("text.csv", "--target", "y", "--output-column", "which", *FIT)
        self.assertEqual([o["name"] for o in told["outputs"]], ["inlet, north", "roof", "wall"])

    def test_one_target_is_as_ever(self):
        self.wave(bad=(7,))
        self.wave("copy.csv", bad=(7,))
        self.ok("fit", "wave.csv", "--target", "y", "-o", "a.hf")
        self.write("header.csv", self.read("wave.csv").replace("a,b,y", 'a,b,"y,1"'))
        for model in ("a.hf", "b.hf"):
            self.ok("fit", "wave.csv", "--target", "y", "-o", model)
            database = sqlite3.connect(self.path(model))
            self.assertEqual(database.execute("PRAGMA user_version").fetchone()[0], 2)
            self.assertEqual(database.execute("SELECT count(*) FROM meta WHERE key LIKE '%output%'").fetchone()[0], 0)
            database.execute("UPDATE meta SET value = 0.0 WHERE key IN ('report.seconds', 'content_sha256')")
            database.commit()
            dump = "\n".join(database.iterdump())
            database.close()
            self.write(model + ".sql", dump)
        self.assertEqual(self.read("a.hf.sql"), self.read("b.hf.sql"))
        # A comma in the name of a column does not make two of it.
        self.ok("fit", "header.csv", "--target", "y,1", "--no-train")
        self.ok("fit", "header.csv", "--target", '"y,1"', "--no-train")

    def test_order_of_columns_and_rows(self):
        rows = self.rows()
        self.wide(rows)
        self.wide(rows, "columns.csv", ("y3", "z", "y1", "x", "y2"))
        self.wide([rows[(7 * i) % 30] for i in range(30)], "rows.csv")
        self.places()
        told = self.fit("wide.csv", "--target", "y1,y2,y3", "--features", "x,z", *FIT)
        self.fit("columns.csv", "--target", "y1,y2,y3", "--features", "x,z", *FIT, model="c.hf")
        first = self.predicted("m.hf")
        self.assertEqual(first, self.predicted("c.hf"))
        # Held at what was learnt, rounding alone is left of the order of rows and outputs.
        held = self.held(told)
        self.fit("rows.csv", "--target", "y1,y2,y3", "--no-train", *held, model="r.hf")
        self.close(first, self.predicted("r.hf"))
        order = (2, 0, 1)  # of y3, y1, y2
        other = []
        for p in told["parameters"]:
            name = p["name"]
            for s in range(3):
                name = name.replace("noise[%d]" % s, "noise[<%d>]" % order.index(s)).replace("mean[%d]" % s, "mean[<%d>]" % order.index(s))
                for t in range(s + 1):
                    u, v = sorted((order.index(s), order.index(t)), reverse=True)
                    name = name.replace("coregionalisation[%d,%d]" % (s, t), "coregionalisation[<%d>,<%d>]" % (u, v))
            other += ["--set", "%s=%r" % (name.replace("<", "").replace(">", ""), p["value"])]
        self.fit("wide.csv", "--target", "y3,y1,y2", "--no-train", *other, model="o.hf")
        self.close(first, self.predicted("o.hf"))
        # Trained on rows, or columns of inputs, in another order: the same, to what an optimiser can tell.
        for name in ("rows.csv", "columns.csv"):
            self.fit(name, "--target", "y1,y2,y3", *FIT, model="t.hf")
            self.close(first, self.predicted("t.hf"), 1e-4)

    def unseen(self, *options):
        """Predictions after fits of three orders of the outputs."""
        self.fit("wide.csv", "--target", "y1,y2,y3", "--features", "x,z", *options, quiet=False)
        first = self.predicted("m.hf")
        for order in ("y3,y1,y2", "y2,y1,y3"):
            self.fit("wide.csv", "--target", order, "--features", "x,z", *options, model="o.hf", quiet=False)
            self.close(first, self.predicted("o.hf"), 1e-8)

    def test_order_of_outputs_is_not_seen(self):
        bad = [(4, 0), (11, 2), (20, 1)]
        self.places()
        for gaps, preset in [(True, "default"), (True, "mogp"), (True, "morcgp"), (True, "t-mogp"), (True, "independent"),
                             (False, "default"), (False, "mogp"), (False, "morcgp"), (True, "gp"), (True, "rcgp"),
                             (True, "rcagp"), (True, "rcsvgp"), (True, "sgpr"), (True, "cagp"), (True, "rrp"),
                             (False, "rcagp-text"), (False, "rcagp-program")]:
            with self.subTest(preset, gaps=gaps):
                self.wide(self.rows(30 if gaps else 60, gaps, bad))
                self.unseen("--preset", preset)
        self.wide(self.rows(30, True, bad))
        for options in (["--standardise", "off"], ["--sites", "robust", "--centre", "neighbours"],
                        ["--solver", "inducing", "--inducing", "20"], ["--preset", "cagp", "--blocks", "clustered"],
                        ["--preset", "morcgp", "--weighting", "joint"], ["--restarts", "2"]):
            with self.subTest(options):
                self.unseen(*options)
        self.wide([row[:4] + [7.25] for row in self.rows()])
        self.unseen("--preset", "independent")

    def test_one_wrong_reading_among_five_outputs(self):
        """In each of five tables it is set aside as surely as alone, and nothing else is."""
        names = ["y%d" % t for t in range(5)]
        for seed in range(1, 6):
            noise, text = numbers(seed), "x," + ",".join(names) + "\n"
            for i in range(50):
                x = 3 * next(noise)
                y = [math.sin(x + 0.3 * t) + 0.1 * sum(next(noise) for _ in range(3)) + (5 if (i, t) == (20, 2) else 0)
                     for t in range(5)]
                text += ",".join(map(repr, [x] + y)) + "\n"
            self.write("five.csv", text)
            for preset in ("default", "independent"):
                told = self.fit("five.csv", "--target", ",".join(names), "--preset", preset)
                self.assertEqual([(s["row"], s["output"]) for s in told["suspects"] if s["weight"] == 0], [(21, "y2")],
                                 "%s, table %d" % (preset, seed))
            told = self.fit("five.csv", "--target", "y2", "--features", "x")
            self.assertEqual([s["row"] for s in told["suspects"] if s["weight"] == 0], [21], "alone, table %d" % seed)

    def test_few_readings(self):
        """An output of one to five readings does not pretend to know more than they can."""
        noise = numbers(9)
        for few in (1, 2, 3, 5):
            rows = []
            for i in range(32):
                x = i / 3.2
                y = [math.sin(x), math.sin(x) + 0.5 * math.cos(2 * x), 5 + 3 * math.sin(x + 1) + math.cos(1.7 * x)]
                rows.append([x] + [v + 0.05 * next(noise) for v in y])
            kept = [(11 * k + 4 * few) % 32 for k in range(few)]
            self.write("few.csv", "x,a,b,c\n" + "".join(
                "%r,%r,%r,%s\n" % (r[0], r[1], r[2], repr(r[3]) if i in kept else "") for i, r in enumerate(rows)))
            self.write("at.csv", "x\n" + "".join("%r\n" % (0.31 * k) for k in range(32)))
            for preset in ("default", "mogp", "morcgp", "t-mogp", "independent"):
                code, _, err = self.run_tool("fit", "few.csv", "--target", "a,b,c", "--preset", preset, "-o", "m.hf")
                self.assertEqual(code, 0, err)
                self.assertIn('output "c" has %d reading' % few, err)
                said = self.predicted("m.hf", "at.csv")
                for k in range(32):
                    x = 0.31 * k
                    error = said["c_mean"][k] - (5 + 3 * math.sin(x + 1) + math.cos(1.7 * x))
                    self.assertLess(abs(error) / said["c_sd_latent"][k], 8, "%s, %d readings, at %g" % (preset, few, x))

    def test_constant_output(self):
        rows = [row[:4] + [7.25] for row in self.rows()]
        for gaps in (False, True):
            if gaps:
                rows = [row[:4] + [None if i % 6 == 1 else 7.25] for i, row in enumerate(rows)]
            self.wide(rows)
            self.places()
            for preset in ("default", "mogp", "morcgp", "t-mogp", "independent"):
                self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", preset, quiet=False)
                for mean in self.predicted("m.hf")["y3_mean"]:
                    self.assertAlmostEqual(mean, 7.25, delta=0.05)
            self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", "morcgp", "--weighting", "joint", quiet=False)

    @staticmethod
    def held(told):
        return [word for p in told["parameters"] for word in ("--set", "%s=%r" % (p["name"], p["value"]))]

    def test_what_is_told_is_the_model(self):
        rows = self.rows()
        self.wide(rows)
        self.places()
        lmc = "coregion(output, outputs=3)*se(ard) + coregion(output, outputs=3)*matern12(x)"
        for options in ((), ("--standardise", "off"), ("--coregion-rank", "1"), ("--kernel", "rq(x) + 0.5*linear(z)"),
                        ("--mean", "zero"), ("--preset", "independent", "--suspects", "off"), ("--shared-noise",),
                        ("--kernel", lmc)):
            recipe = options if "--preset" in options else options + FIT
            told = self.fit("wide.csv", "--target", "y1,y2,y3", *recipe, quiet=False)
            names = [p["name"] for p in told["parameters"]]
            self.assertFalse([n for n in names if "factor" in n or ".own" in n], names)
            again = tuple(o for o in options if o not in ("--coregion-rank", "1", "--suspects"))
            if "--suspects" in options:
                again = ("--preset", "independent")
            self.fit("wide.csv", "--target", "y1,y2,y3", "--no-train", *again, *self.held(told), model="h.hf")
            a, b = self.predicted("m.hf"), self.predicted("h.hf")
            self.close(a, b, 1e-9, [y + e for y in TARGETS for e in ("_mean", "_sd_latent")])
        # In the user's units whatever the fit works in.
        told = self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        self.fit("wide.csv", "--target", "y1,y2,y3", "--no-train", "--standardise", "off", *self.held(told), model="h.hf")
        self.close(self.predicted("m.hf"), self.predicted("h.hf"), 1e-9)

    def test_gaps_and_empty_rows(self):
        rows = self.rows(gaps=False)
        for i in range(12, 20):
            rows[i][3] = None
        rows.append([2.0, 0.0, None, None, None])
        self.wide(rows)
        code, out, err = self.run_tool("fit", "wide.csv", "--target", "y1,y2,y3", *FIT, "-o", "m.hf")
        self.assertEqual(code, 0, err)
        self.assertEqual(err, "holdfast: warning: 1 of 31 rows have no target and teach nothing\n")
        self.assertIn("82 readings", out)
        listed = table(self.ok("inspect", "m.hf", "--rows", "-"))
        self.assertEqual(len(listed["row"]), 93)
        self.assertEqual(sum(y != y for y in listed["y"]), 11)
        self.assertTrue(all(m == m and s > 0 for m, s in zip(listed["loo_mean"], listed["loo_sd"])))
        # The empty row changes nothing.
        self.places()
        before = self.predicted("m.hf")
        self.wide(rows[:-1])
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        self.assertEqual(before, self.predicted("m.hf"))
        # y1 says where y2 goes while it is not read.
        k = min(range(17), key=lambda i: abs(before["x"][i] - 2.6))
        alone = self.fit("wide.csv", "--target", "y2", "--drop", "y1,y3", "--preset", "gp", model="one.hf", quiet=False)
        self.assertEqual(alone["report"]["readings"], 22)
        self.assertLess(before["y2_sd_latent"][k], self.predicted("one.hf")["y2_sd_latent"][k])

    def test_covariances(self):
        self.wide(self.rows())
        self.long(self.rows())
        self.places()
        told = self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        out = self.predicted("m.hf", "new.csv", "--covariance")
        self.assertEqual(list(out)[-3:], ["y2_y1_cov", "y3_y1_cov", "y3_y2_cov"])
        for k in range(17):
            for a, b in (("y2", "y1"), ("y3", "y1"), ("y3", "y2")):
                self.assertLessEqual(abs(out["%s_%s_cov" % (a, b)][k]),
                                     out[a + "_sd_latent"][k] * out[b + "_sd_latent"][k] * (1 + 1e-9))
        # Far away from all readings it is the prior's.
        self.write("far.csv", "x,z\n1e6,0\n,0\n")
        far = self.predicted("m.hf", "far.csv", "--covariance")
        b = told["coregionalisation"][0]["covariance"]
        self.assertAlmostEqual(far["y2_y1_cov"][0] / b[1][0], 1, delta=1e-9)
        self.assertAlmostEqual(far["y3_sd_latent"][0] / math.sqrt(b[2][2]), 1, delta=1e-9)
        self.assertTrue(math.isnan(far["y3_y2_cov"][1]))
        self.fit("long.csv", "--target", "y", "--output-column", "which", *FIT, model="l.hf")
        self.assertIn("y_y2_y_y1_cov", self.predicted("l.hf", "new.csv", "--covariance"))
        self.wave()
        self.ok("fit", "wave.csv", "--target", "y", "--no-train", "-o", "one.hf")
        self.fails(["predict", "one.hf", "wave.csv", "--covariance"], "one")
        self.fails(["predict", "m.hf", "wide.csv", "--computational"], "one output")

    def test_scores(self):
        self.wide(self.rows())
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        self.wide(self.rows(12, gaps=False), "test.csv")
        told = json.loads(self.ok("score", "m.hf", "test.csv", "--json"))
        out, test = self.predicted("m.hf", "test.csv"), table(self.read("test.csv"))
        for entry in told["outputs"]:
            y = entry["name"]
            errors = [abs(a - b) for a, b in zip(out[y + "_mean"], test[y])]
            self.assertEqual(entry["n"], 12)
            self.assertAlmostEqual(entry["mae"], sum(errors) / 12, delta=1e-12 * 40)
        self.assertEqual(told["n"], 36)
        self.assertAlmostEqual(told["coverage95"], sum(o["coverage95"] for o in told["outputs"]) / 3)
        self.write("some.csv", "x,z,y1,y2,y3\n1,0,0.8,,\n2,0,,,\n")
        code, text, err = self.run_tool("score", "m.hf", "some.csv", "--json")
        told = json.loads(text)
        self.assertEqual((code, [o["n"] for o in told["outputs"]]), (0, [1, 0, 0]))
        self.assertIsNone(told["outputs"][1]["mae"])
        self.assertIn("1 of 2 rows not scored", err)
        self.write("none.csv", "x,z,y1,y2\n1,0,0.8,\n")
        self.fails(["score", "m.hf", "none.csv"], "y3")

    def test_robust_outputs(self):
        self.wide(self.rows(40, bad=[(9, 0), (22, 1), (31, 2)]))
        told = self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", "morcgp", "--eps", "0.05,0.1,0.2", "--max-noise", "5000",
                        quiet=False)
        self.assertEqual(told["settings"]["output_eps"], [0.05, 0.1, 0.2])
        rows = table(self.ok("inspect", "m.hf", "--rows", "-"))
        weight = {(int(r), int(o)): w for r, o, w in zip(rows["row"], rows["output"], rows["weight"])}
        for bad in ((9, 0), (22, 1), (31, 2)):
            self.assertLess(weight[bad], 0.1)
        for kind in ("joint", "channel"):
            told = self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", "morcgp", "--weighting", kind, quiet=False)
            self.assertEqual(told["settings"]["weighting"], kind)

    def moved(self, model, what, *arguments):
        return json.loads(self.ok("inspect", model, "--moved", what, "--json", *arguments))

    def test_influence_of_one_reading(self):
        rows = self.rows(gaps=False)
        self.wide(rows), self.long(rows)
        self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", "morcgp")
        told = self.moved("m.hf", "7:y2=70")
        self.assertEqual((told["row"], told["output"], told["y"]), (7, "y2", 70))
        self.assertEqual(set(told["outputs"]), set(TARGETS))
        for kl in told["outputs"].values():
            self.assertTrue(0 < kl <= told["influence"] * (1 + 1e-9))
        self.assertIsNone(self.moved("m.hf", "7:y2=")["y"])
        # As it is: nothing. However far off: bounded, where a plain process follows.
        self.assertLess(self.moved("m.hf", "7:y2=%r" % rows[6][3])["influence"], 1e-12)
        self.assertLess(self.moved("m.hf", "7:y2=1e9")["influence"], 100)
        text = self.ok("inspect", "m.hf", "--moved", "7:y2=70")
        self.assertRegex(text, r"(?m)^If y2 of row 7 were 70, .*\n\n  y1 +[\d.e-]+ nats$")
        self.assertRegex(self.ok("inspect", "m.hf", "--moved", "7:y2="), "^Without y2 of row 7 ")
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT, model="plain.hf")
        near, far = (self.moved("plain.hf", "7:y2=" + y)["influence"] for y in ("1e6", "1e9"))
        self.assertAlmostEqual(far / near / 1e6, 1, delta=0.01)
        # A long table: rows are readings, mates those at the same inputs.
        self.fit("long.csv", "--target", "y", "--output-column", "which", "--preset", "morcgp", model="long.hf")
        other = self.moved("long.hf", "20:y2=70")
        self.assertAlmostEqual(other["influence"] / told["influence"], 1, delta=1e-4)
        self.fit("wide.csv", "--target", "y1", model="one.hf")
        self.assertEqual(self.moved("one.hf", "3=2")["output"], "y1")
        self.assertEqual(self.moved("one.hf", "3=2")["outputs"], {})
        for what, says in (("7", "ROW:OUTPUT=VALUE"), ("y2=3", "ROW:OUTPUT=VALUE"), ("7:y2=x", "ROW:OUTPUT=VALUE")):
            self.fails(["inspect", "m.hf", "--moved", what], says, code=2)
        self.fails(["inspect", "m.hf", "--moved", "7=3"], "which of the 3 outputs")
        self.fails(["inspect", "m.hf", "--moved", "7:q=3"], 'no output "q"')
        self.fails(["inspect", "m.hf", "--moved", "31:y2=3"], "row 31 of wide.csv has no reading")
        self.fails(["inspect", "m.hf", "--moved", "7:y2=3", "--rows", "-"], "--rows", code=2)

    def test_amplitudes(self):
        self.wide(self.rows(40, bad=[(9, 0), (22, 1), (31, 2)]))
        fit = ["--target", "y1,y2,y3", "--sites", "robust", "--centre", "prior", "--iterations", "3"]
        told = self.fit("wide.csv", *fit, "--beta", "0.5,20,3", quiet=False)
        self.assertEqual(told["settings"]["output_beta"], [0.5, 20, 3])
        self.assertIsNone(told["settings"]["beta"])
        self.assertIn("beta 0.5, 20, 3", self.ok("inspect", "m.hf"))
        told = self.fit("wide.csv", *fit, "--beta", "0.5", quiet=False)
        self.assertEqual((told["settings"]["beta"], "output_beta" in told["settings"]), (0.5, False))
        told = self.fit("wide.csv", *fit, "--beta", "1,1,1", "--scaled-beta", quiet=False)
        kept = told["settings"]["output_beta"]
        self.assertEqual((len(kept), len(set(kept))), (3, 3))
        for wrong, words in (("0.5,2", "2 amplitudes for 3 outputs"), ("0.5,0,1", "must be positive"), ("a,1,2", "not a number")):
            self.fails(["fit", "wide.csv", *fit, "--beta", wrong, "-o", "n.hf"], words, code=2)
        self.fails(["fit", "wide.csv", "--target", "y1", "--sites", "robust", "--beta", "1,2", "-o", "n.hf"], "there is one output", code=2)

    def test_a_killed_fit_goes_on(self):
        self.wide(self.rows())
        self.places()
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT, "--checkpoint", "c", model="c.hf")
        self.assertEqual(self.predicted("m.hf"), self.predicted("c.hf"))
        # Half of a journal: what is there is used, the rest is computed.
        self.run_tool("fit", "wide.csv", "--target", "y1,y2,y3", *FIT, "--checkpoint", "c", "--json")
        self.ok("fit", "wide.csv", "--target", "y1,y2,y3", *FIT, "-o", "r.hf", "--resume")
        self.assertEqual(self.predicted("m.hf"), self.predicted("r.hf"))

    def test_threads_change_no_digit(self):
        self.wide(self.rows(bad=[(9, 0)]))
        self.places()
        for preset in ("default", "morcgp"):
            self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", preset, "--threads", "1", quiet=False)
            self.fit("wide.csv", "--target", "y1,y2,y3", "--preset", preset, "--threads", "3", model="t.hf", quiet=False)
            self.assertEqual(self.ok("predict", "m.hf", "new.csv", "--covariance", "--threads", "1", "-q"),
                             self.ok("predict", "t.hf", "new.csv", "--covariance", "--threads", "2", "-q"))

    def test_pictures(self):
        rows = self.rows(gaps=False)
        for i in range(10, 18):
            rows[i][3] = None
        self.wide(rows)
        self.fit("wide.csv", "--target", "y1,y2,y3", "--features", "x", *FIT)
        self.ok("plot", "m.hf", "--data-only", "-o", "p.svg")
        script, points = self.read("p.gp"), table(self.read("p-slice.csv"))
        self.assertEqual(list(points), ["x"] + [y + e for y in TARGETS for e in ("_mean", "_sd_latent", "_sd_observed")])
        self.assertEqual(script.count("plot $slice"), 3)
        self.assertEqual(script.count("set object 100 rectangle"), 1)
        self.fit("wide.csv", "--target", "y1,y2,y3", *FIT)
        told = json.loads(self.ok("plot", "m.hf", "--data-only", "-o", "p.svg", "--json"))
        self.assertEqual((told["x"], told["outputs"]), ("x", list(TARGETS)))


class Mistakes(Outputs):
    def setUp(self):
        super().setUp()
        self.wide(self.rows())
        self.long(self.rows())

    def test_columns(self):
        fit = ["fit", "wide.csv", "--target"]
        self.fails(fit + ["y1,y2,y1"], '"y1" is named twice as the target')
        self.fails(fit + ["y1,y2", "--features", "x,y2"], '"y2" cannot be the target and an input')
        self.fails(fit + ["y1,y4"], "y4")
        self.fails(fit + ["y1,,y2"], "not a list of names", code=2)
        self.fails(fit + ["y1,y2", "--output-column", "y3"], "--output-column goes with one target", code=2)
        self.fails(fit + ["y1,y2", "--noise-column", "z"], "--noise-column goes with one target", code=2)
        self.fails(["fit", "long.csv", "--target", "y", "--output-column", "nowhere"], "nowhere")
        self.fails(["fit", "long.csv", "--target", "y", "--output-column", "y"], "cannot be the target and the output column")
        self.write("same.csv", "x,of,y\n1,p,1\n2,p,2\n3,,5\n")
        self.fails(["fit", "same.csv", "--target", "y", "--output-column", "of"], '"of" has the same value in every row')

    def test_readings(self):
        self.write("t.csv", "x,y1,y2\n1,1,\n2,2,\n3,1,\n4,2,\n")
        self.fails(["fit", "t.csv", "--target", "y1,y2"], 'output "y2" has no reading')
        self.write("t.csv", "x,y1,y2\n" + "".join("%d,%g,%g\n" % (i, math.sin(i), math.sin(i)) for i in range(12)))
        code, out, err = self.run_tool("fit", "t.csv", "--target", "y1,y2", "-o", "m.hf")
        self.assertEqual(code, 0, err)
        self.assertIn('outputs "y1" and "y2" have the same readings', err)
        self.write("new.csv", "x\n3.5\n")
        out = self.predicted("m.hf")
        self.assertAlmostEqual(out["y1_mean"][0], out["y2_mean"][0], delta=1e-3)
        self.write("t.csv", "x,a,b,c\n1,1,2,3\n2,2,1,5\n")
        code, out, err = self.run_tool("fit", "t.csv", "--target", "a,b,c", "-o", "m.hf")
        self.assertEqual(code, 0, err)
        self.assertIn("3 outputs from 2 rows", err)
        self.write("t.csv", "x,a,b\n1,1,2\n2,x,1\n")
        self.fails(["fit", "t.csv", "--target", "a,b"], "t.csv: line 3")

    def test_settings(self):
        several = ["fit", "wide.csv", "--target", "y1,y2,y3"]
        for options in (["--minibatch", "10"], ["--preset", "svgp"], ["--stream"]):
            self.fails(several + options, "one output", code=2)
        self.fails(["fit", "long.csv", "--target", "y", "--output-column", "which", "--minibatch", "5"], "one output", code=2)
        self.fails(several + ["--mean", "linear"], "linear", code=2)
        self.fails(several + ["--eps", "0.1,0.2"], "--eps", code=2)
        self.fails(several + ["--preset", "morcgp", "--eps", "0.1,0.2"], "2 shares of outliers for 3 outputs", code=2)
        self.fails(several + ["--preset", "morcgp", "--eps", "0.1,2,0.2"], "2 is not a share from 0", code=2)
        self.fails(several + ["--weighting", "joint"], "--weighting", code=2)
        self.fails(several + ["--preset", "independent", "--coregion-rank", "2"], "independent", code=2)
        self.fails(several + ["--max-noise", "0"], "--max-noise", code=2)
        self.fails(several + ["--preset", "student-t"], "one scale of it", "t-mogp", code=2)
        self.fails(several + ["--no-train", "--set", "coregionalisation[0,0]=1"], "coregionalisation[1,0] is not given")
        self.fails(several + ["--no-train", "--set", "coregion2.coregionalisation[0,0]=1"], "1 coregions")
        for option in (["--coregion-rank", "2"], ["--shared-noise"], ["--weighting", "joint"]):
            self.fails(["fit", "wide.csv", "--target", "y1"] + option, "several outputs", code=2)
        self.fails(["fit", "wide.csv", "--target", "y1", "--preset", "morcgp"], "several outputs", code=2)
        self.fails(["contaminate", "wide.csv", "--target", "y1,y2", "--kind", "uniform", "--share", "0.1"], "names one column")


if __name__ == "__main__":
    unittest.main()
