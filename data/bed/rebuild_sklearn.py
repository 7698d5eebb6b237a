#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of this folder that come from Debian's package python3-sklearn, number for number:

    data/bed/rebuild_sklearn.py [FOLDER]

data/bed/rebuild.R runs it; data/bed/README.md says where the numbers come from.
"""
import csv
import os
import sys

import sklearn.datasets


def write(folder, name, columns, rows):
    with open(os.path.join(folder, name + ".csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        for row in rows:
            out.writerow(["%.15g" % value for value in row])


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "data/bed"
    data = sklearn.datasets.load_diabetes(scaled=False)
    write(folder, "diabetes", list(data.feature_names) + ["progression"],
          [list(x) + [y] for x, y in zip(data.data, data.target)])
    data = sklearn.datasets.load_linnerud()
    write(folder, "linnerud", ["chins", "situps", "jumps", "weight"],
          [list(x) + [y[0]] for x, y in zip(data.data, data.target)])
    data = sklearn.datasets.load_breast_cancer()
    names = [name[len("mean "):].replace(" ", "_") for name in data.feature_names[:10]]
    write(folder, "cells", names, [list(x[:10]) for x in data.data])


if __name__ == "__main__":
    main()
