#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predict from a Holdfast model with Python's standard library alone: a model file is a SQLite database.

    read_model.py MODEL.hf INPUT=VALUE...      prints the mean and the two standard deviations
    read_model.py                              fits and shows a small model first (needs the tool: $HOLDFAST or PATH)

Knows the kernel of the default, matern52(ard). The format is described in docs/model-format.md.
"""
import math
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile


class Model:
    def __init__(self, path):
        database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        if database.execute("PRAGMA application_id").fetchone()[0] != 0x48466D64:
            raise ValueError(path + " is not a Holdfast model")
        if database.execute("PRAGMA user_version").fetchone()[0] not in (1, 2):
            raise ValueError(path + " has another format version than 1 or 2")
        self.meta = dict(database.execute("SELECT key, value FROM meta"))
        self.features = database.execute("SELECT name, shift, scale FROM feature ORDER BY position").fetchall()
        parameters = dict(database.execute("SELECT name, value FROM parameter"))
        pieces = {}
        for name, rows, columns, data in database.execute("SELECT name, rows, columns, data FROM array"):
            numbers = struct.unpack("<%dd" % (rows * columns), data)
            name, _, piece = name.partition("/")  # large arrays come in pieces: name/0, name/1, ...
            pieces.setdefault(name, {})[int(piece or 0)] = [numbers[i * columns:(i + 1) * columns] for i in range(rows)]
        self.arrays = {name: [row for k in sorted(parts) for row in parts[k]] for name, parts in pieces.items()}
        database.close()
        if self.meta["kernel"] != "matern52(ard)":
            raise ValueError("this example only knows matern52(ard), not " + self.meta["kernel"])
        self.outputscale = parameters["outputscale"]
        self.lengthscale = [parameters.get("lengthscale[%d]" % j, parameters.get("lengthscale"))
                            for j in range(len(self.features))]
        self.anchors = self.arrays["anchor_inputs"]
        self.form = self.meta.get("form", "exact")
        if self.form == "exact":
            self.factor = self.cholesky()

    def covariance(self, u, z):
        r = math.sqrt(5 * sum(((a - b) / l) ** 2 for a, b, l in zip(u, z, self.lengthscale)))
        return self.outputscale * (1 + r + r * r / 3) * math.exp(-r)

    def cholesky(self):
        """The lower factor of K + D."""
        factor = []
        for i, (z, (variance,)) in enumerate(zip(self.anchors, self.arrays["anchor_variance"])):
            row = []
            for j in range(i):
                done = sum(a * b for a, b in zip(row, factor[j]))
                row.append((self.covariance(z, self.anchors[j]) - done) / factor[j][j])
            diagonal = self.covariance(z, z) + variance + self.meta["report.jitter"]
            row.append(math.sqrt(diagonal - sum(a * a for a in row)))
            factor.append(row)
        return factor

    def explained(self, k):
        """Part of the prior variance that the readings take off: k' S k."""
        if self.form == "dense":
            return sum(sum(a * b for a, b in zip(row, k)) ** 2 for row in self.arrays["projection"])
        if self.form == "exact":
            factor, rest = self.factor, k
        else:
            factor, rest = self.arrays["action_factor"], [0.0] * self.meta["rank"]
            for (block,), (entry,), value in zip(self.arrays["anchor_block"], self.arrays["anchor_entry"], k):
                rest[int(block)] += entry * value
        solved = []
        for row, value in zip(factor, rest):
            solved.append((value - sum(a * b for a, b in zip(row, solved))) / row[len(solved)])
        return sum(v * v for v in solved)

    def predict(self, inputs):
        """Mean, sd of the function and sd of a new reading at {name: value}."""
        u = [(inputs[name] - shift) / scale for name, shift, scale in self.features]
        k = [self.covariance(u, z) for z in self.anchors]
        basis = [1.0] + u
        mean = sum(b * c for (b,), c in zip(self.arrays["mean"], basis))
        mean += sum(a * t for a, (t,) in zip(k, self.arrays["anchor_weight"]))
        latent = max(0.0, self.outputscale - self.explained(k))
        observed = self.meta["calibration"] * (latent + self.meta["noise"])
        scale = self.meta["target_scale"]
        return self.meta["target_shift"] + scale * mean, scale * math.sqrt(latent), scale * math.sqrt(observed)


def demonstrate():
    tool = os.environ.get("HOLDFAST", "holdfast")
    with tempfile.TemporaryDirectory() as folder:
        table, path = os.path.join(folder, "wave.csv"), os.path.join(folder, "wave.hf")
        with open(table, "w") as out:
            out.write("time,height\n")
            for i in range(40):
                out.write("%.2f,%.4f\n" % (i / 5, math.sin(i / 5) + 0.05 * math.cos(37 * i) + (4 if i == 17 else 0)))
        subprocess.run([tool, "fit", table, "--target", "height", "-o", path, "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        model = Model(path)
        print("suspected rows:", [int(number) for (number,), (flag,) in
                                  zip(model.arrays["row_number"], model.arrays["row_suspected"]) if flag])
        for time in (1.0, 3.45, 7.0):
            print("time %.2f: height %.4f, sd %.4f of the function, %.4f of a reading" % ((time,) + model.predict({"time": time})))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        demonstrate()
    else:
        given = dict(word.rsplit("=", 1) for word in sys.argv[2:])
        print("%.17g %.17g %.17g" % Model(sys.argv[1]).predict({name: float(value) for name, value in given.items()}))
