# SPDX-License-Identifier: Apache-2.0
"""docs/model-format.md is true: the file is read and checked by a program written after that page alone."""
import hashlib
import math
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import unittest

from toolcase import SOURCE, ToolCase, table


def u64(value):
    return struct.pack("<Q", value % 2 ** 64)


def text(value):
    return u64(len(value.encode())) + value.encode()


def content_digest(database, more=None, tables=None):
    """`tables`: all of them, if they are not a model's; `more`: beside a model's."""
    digest = hashlib.sha256()
    model = {"meta": "key", "feature": "position", "parameter": "position", "array": "name", "note": "position"}
    keys = {**(tables or model), **(more or {})}
    for name, key in keys.items():
        digest.update(text(name))
        for row in database.execute("SELECT * FROM %s ORDER BY %s" % (name, key)):
            if name == "meta" and row[0] == "content_sha256":
                continue
            for value in row:
                if value is None:
                    digest.update(b"n")
                elif isinstance(value, int):
                    digest.update(b"i" + u64(value))
                elif isinstance(value, float):
                    digest.update(b"r" + struct.pack("<d", value))
                elif isinstance(value, str):
                    digest.update(b"t" + text(value))
                else:
                    digest.update(b"b" + u64(len(value)) + value)
    return digest.hexdigest()


class Format(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=30, bad=(7, 21))
        lines = self.read("wave.csv").split("\n")
        lines[5] = lines[5].rsplit(",", 1)[0] + ","
        lines[9] = "," + lines[9].split(",", 1)[1]
        self.write("wave.csv", "\n".join(lines))
        self.report = self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf", "-q")
        self.database = sqlite3.connect(self.path("m.hf"))
        self.addCleanup(self.database.close)
        self.meta = dict(self.database.execute("SELECT key, value FROM meta"))

    def array(self, name):
        rows, columns, data = self.database.execute("SELECT rows, columns, data FROM array WHERE name = ?", (name,)).fetchone()
        self.assertEqual(len(data), 8 * rows * columns)
        numbers = struct.unpack("<%dd" % (rows * columns), data)
        return [numbers[i * columns:(i + 1) * columns] for i in range(rows)]

    def test_marks(self):
        self.assertEqual(self.database.execute("PRAGMA application_id").fetchone()[0], 0x48466D64)
        self.assertEqual(self.database.execute("PRAGMA user_version").fetchone()[0], 2)
        self.assertEqual(self.database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        self.assertEqual(self.database.execute("PRAGMA journal_mode").fetchone()[0], "delete")
        self.assertEqual(self.files(), ["m.hf", "wave.csv"])

    def test_schema_is_the_documented_one(self):
        with open(os.path.join(SOURCE, "docs/model-format.md")) as page:
            models = page.read().split("\n## Tracks\n")[0].replace(",\n  ", ", ")  # the file has each in one line
        documented = [line.strip() for line in models.split("\n") if line.startswith("CREATE TABLE")]
        query = "SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"
        stored = [row[0] for row in self.database.execute(query)]
        self.assertEqual(stored, [line for line in documented if not line.startswith(("CREATE TABLE output ", "CREATE TABLE class "))])
        # Several outputs bring the table of outputs with them, and version 3.
        rows = "".join("%g,%g,%g\n" % (i / 7, math.sin(i / 7), math.cos(i / 9)) for i in range(25))
        self.write("two.csv", "x,y,z\n" + rows)
        self.ok("fit", "two.csv", "--target", "y,z", "--preset", "mogp", "-o", "two.hf", "-q")
        two = sqlite3.connect(self.path("two.hf"))
        self.addCleanup(two.close)
        self.assertEqual(sorted(row[0] for row in two.execute(query)),
                         sorted(line for line in documented if not line.startswith("CREATE TABLE class ")))
        self.assertEqual(two.execute("PRAGMA user_version").fetchone()[0], 3)
        # Classes bring theirs, and version 4.
        labels = self.labels()
        self.assertEqual(sorted(row[0] for row in labels.execute(query)), sorted(documented))
        self.assertEqual(labels.execute("PRAGMA user_version").fetchone()[0], 4)

    def labels(self, sites="probit"):
        """A classifier of three rows in four with a label."""
        self.write("labels.csv", "x,kind\n" + "".join(
            "%g,%s\n" % (i / 7, "" if i % 4 == 3 else "up" if math.sin(i / 4) > 0 else "down") for i in range(40)))
        self.ok("fit", "labels.csv", "--target", "kind", "--sites", sites, "-o", "labels.hf", "-q")
        database = sqlite3.connect(self.path("labels.hf"))
        self.addCleanup(database.close)
        return database

    def test_classes_are_documented(self):
        with open(os.path.join(SOURCE, "docs/model-format.md")) as page:
            words = page.read()
        for sites in ("probit", "softmax"):
            self.database = self.labels(sites)
            self.meta = meta = dict(self.database.execute("SELECT key, value FROM meta"))
            for key in meta:
                if not key.startswith(("settings.", "report.")):
                    self.assertIn("`%s`" % key, words)
            self.assertEqual(meta["class_input"], "class" if sites == "softmax" else None)
            classes = self.database.execute("SELECT position, name, rows FROM class ORDER BY position").fetchall()
            self.assertEqual([row[:2] for row in classes], [(0, "down"), (1, "up")])
            inputs, targets = self.array("row_inputs"), self.array("row_target")
            self.assertEqual([rows for _, _, rows in classes], [sum(y == c for y, in targets) for c in (0, 1)])
            digest = hashlib.sha256(u64(40) + u64(1) + text("kind") + text("x") + u64(2) + text("down") + text("up"))
            for row, (y,) in zip(inputs, targets):
                digest.update(struct.pack("<d", *row))
                digest.update(u64(1) + struct.pack("<d", y) if y == y else u64(0) + struct.pack("<d", 0.0))
            self.assertEqual(meta["data_sha256"], digest.hexdigest())
            self.assertEqual(self.meta["content_sha256"], content_digest(self.database, {"output": "position", "class": "position"}))

    def test_every_key_is_documented(self):
        with open(os.path.join(SOURCE, "docs/model-format.md")) as page:
            words = page.read()
        for key in self.meta:
            if not key.startswith(("settings.", "report.")):
                self.assertIn("`%s`" % key, words)
        for name, in self.database.execute("SELECT name FROM array"):
            self.assertIn("`%s`" % name, words)

    def test_checksums(self):
        self.assertEqual(self.meta["content_sha256"], content_digest(self.database))
        inputs, targets = self.array("row_inputs"), self.array("row_target")
        digest = hashlib.sha256(u64(len(inputs)) + u64(2) + text("y") + text("a") + text("b"))
        for row, (y,) in zip(inputs, targets):
            digest.update(struct.pack("<2d", *row))
            digest.update(u64(1) + struct.pack("<d", y) if y == y else u64(0) + struct.pack("<d", 0.0))
        self.assertEqual(self.meta["data_sha256"], digest.hexdigest())
        self.assertIn(digest.hexdigest(), self.ok("inspect", "m.hf"))

    def test_rows(self):
        self.assertEqual((self.meta["rows"], self.meta["rows_skipped"]), (29, 1))
        numbers = [int(number) for number, in self.array("row_number")]
        self.assertEqual(numbers, [i for i in range(1, 31) if i != 9])
        suspected = [n for n, (flag,) in zip(numbers, self.array("row_suspected")) if flag]
        self.assertEqual(suspected, [7, 21])
        self.assertEqual(self.meta["anchors"], sum(weight > 0 for weight, in self.array("row_weight")))

    def test_same_model_same_bytes(self):
        first = self.read("m.hf", "rb")
        import re
        self.ok("fit", "wave.csv", "--target", "y", "-o", "n.hf", "-q")
        second = self.read("n.hf", "rb")
        self.assertEqual(len(first), len(second))
        other = dict(sqlite3.connect(self.path("n.hf")).execute("SELECT key, value FROM meta"))
        different = {key for key in self.meta if self.meta[key] != other[key]}
        self.assertLessEqual(different, {"report.seconds", "content_sha256"})
        self.assertTrue(re.fullmatch("[0-9a-f]{64}", self.meta["content_sha256"]))

    def test_python_predicts_what_the_tool_predicts(self):
        predicted = table(self.ok("predict", "m.hf", "wave.csv", "-q"))
        for i in (0, 6, 13, 29):
            words = ["%s=%r" % (name, predicted[name][i]) for name in ("a", "b")]
            out = subprocess.run([sys.executable, os.path.join(SOURCE, "examples/read_model.py"), self.path("m.hf"), *words],
                                 capture_output=True, text=True, check=True).stdout
            for value, name in zip(map(float, out.split()), ("mean", "sd_latent", "sd_observed")):
                expected = predicted["y_" + name][i]
                self.assertLessEqual(abs(value - expected), 1e-8 * max(1, abs(expected)), name)


class LowRank(ToolCase):
    """Models of every form, written by the tool and by an earlier format 2."""

    def compare(self, model):
        self.write("at.csv", "a,b\n" + "".join("%r,%r\n" % (0.7 * i, 0.4 * i - 1) for i in range(5)))
        predicted = table(self.ok("predict", model, "at.csv", "-q"))
        for i in range(5):
            words = ["%s=%r" % (name, predicted[name][i]) for name in ("a", "b")]
            out = subprocess.run([sys.executable, os.path.join(SOURCE, "examples/read_model.py"), self.path(model), *words],
                                 capture_output=True, text=True, check=True).stdout
            for value, name in zip(map(float, out.split()), ("mean", "sd_latent", "sd_observed")):
                expected = predicted["y_" + name][i]
                self.assertLessEqual(abs(value - expected), 1e-8 * max(1, abs(expected)), (model, name))

    def test_python_predicts_what_the_tool_predicts(self):
        for name in ("blocks", "dense", "inducing"):
            shutil.copy(os.path.join(SOURCE, "tests/fuzz/corpus/model", name), self.path(name + ".hf"))
            self.compare(name + ".hf")

    def test_fits_with_every_solver(self):
        self.wave(rows=60, bad=(7, 21))
        for solver, form, anchors in (("exact", "exact", 58), ("inducing", "dense", 9), ("projected", "dense", 58)):
            self.ok("fit", "wave.csv", "--target", "y", "-o", "m.hf", "-q", "--solver", solver,
                    *(["--inducing", "9"] if solver != "exact" else []))
            meta = dict(sqlite3.connect(self.path("m.hf")).execute("SELECT key, value FROM meta"))
            self.assertEqual((meta["solver"], meta["form"], meta["anchors"]), (solver, form, anchors))
            self.assertEqual(meta["report.solver"], solver)
            self.compare("m.hf")


if __name__ == "__main__":
    unittest.main()
