#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes iris.csv and digits.csv from Debian's package python3-sklearn, number for number:

    data/rebuild_sklearn.py [FOLDER]

data/README.md says where the numbers come from.
"""
import csv
import os
import sys

import sklearn.datasets


def write(folder, name, columns, rows):
    with open(os.path.join(folder, name), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "data"
    iris = sklearn.datasets.load_iris()
    write(folder, "iris.csv", ["sepal_length", "sepal_width", "petal_length", "petal_width", "species"],
          [["%g" % value for value in row] + [iris.target_names[label]] for row, label in zip(iris.data, iris.target)])
    digits = sklearn.datasets.load_digits()
    write(folder, "digits.csv", ["digit"] + ["p%d_%d" % (i, j) for i in range(8) for j in range(8)],
          [[label] + ["%g" % value for value in row] for row, label in zip(digits.data, digits.target) if label in (3, 5, 8)])


if __name__ == "__main__":
    main()
