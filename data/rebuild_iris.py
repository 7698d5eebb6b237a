#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes iris.csv from Debian's package python3-sklearn, number for number:

    data/rebuild_iris.py [FOLDER]

data/README.md says where the numbers come from.
"""
import csv
import os
import sys

import sklearn.datasets


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "data"
    iris = sklearn.datasets.load_iris()
    with open(os.path.join(folder, "iris.csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["sepal_length", "sepal_width", "petal_length", "petal_width", "species"])
        for row, label in zip(iris.data, iris.target):
            out.writerow(["%g" % value for value in row] + [iris.target_names[label]])


if __name__ == "__main__":
    main()
