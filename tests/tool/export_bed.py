# SPDX-License-Identifier: Apache-2.0
"""How near exported files are to the library, over a bed of fitted models. No test of every day; run by hand:

    python3 tests/tool/export_bed.py build/holdfast

prints the table of docs/export.md: each line is a fit, looked at in 400 places, the readings among them. Errors are the largest, in
scales of the target. `double` and `library` are differences from the file's own formulas in 80-bit arithmetic; the others are
differences from the library.
"""
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/holdfast")
KERNELS = ["se(ard)", "matern52(ard)", "matern32", "matern12(ard)", "rq", "periodic(x0, period=3) + se"]
SIZES = [(50, 1), (200, 4), (500, 10)]
NOISES = [1e-3, 0.3]
PLACES = 200  # beside as many readings
FIELDS = ["mean", "sd_latent", "sd_observed"]


def tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def rows_of(text):
    lines = [line.split(",") for line in text.strip().splitlines()]
    return [dict(zip(lines[0], map(float, line))) for line in lines[1:]]


def write(path, names, rows):
    with open(path, "w") as file:
        file.write("\n".join([",".join(names)] + [",".join(map(repr, row)) for row in rows]) + "\n")


class Exported:
    made = 0

    def __init__(self, folder, model, options, real):
        Exported.made += 1
        source, library = os.path.join(folder, "p.c"), os.path.join(folder, "p%d.so" % Exported.made)
        self.report = json.loads(tool("export", model, *options, "-o", source, "--json"))
        with open(source) as file:
            text = file.read()
        self.scale = float(re.findall(r"target_scale\[1\] = \{\s*([-+.e\d]+)\}", text)[0])
        if real is ctypes.c_longdouble:
            text = re.sub(r"\b(exp|sqrt|sin|fabs|log1p)\(", r"\1l(", re.sub(r"\bdouble\b", "long double", text))
            with open(source, "w") as file:
                file.write(text)
        subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        self.real, self.function = real, ctypes.CDLL(library).predict

    def __call__(self, row):
        result = (self.real * 3)()
        if self.function((self.real * len(row))(*row), result) != 0:
            sys.exit("an input is refused")
        return [float(value) for value in result]


def worst(answers, others, scale, field):
    return max(abs(a[field] - b[field]) for a, b in zip(answers, others)) / scale


def measure(folder, kernel, n, d, noise):
    random.seed(n)
    names = ["x%d" % j for j in range(d)]
    inputs = [[random.uniform(-2, 2) for _ in names] for _ in range(n)]
    turn = [1.5 / (1 + j) for j in range(d)]
    readings = [row + [sum(math.sin(t * a + j) for j, (t, a) in enumerate(zip(turn, row))) + random.gauss(0, noise)] for row in inputs]
    single = lambda row: [ctypes.c_float(value).value for value in row]
    places = [single(row) for row in inputs[:PLACES] + [[random.uniform(-2, 2) for _ in names] for _ in range(PLACES)]]
    paths = {name: os.path.join(folder, name) for name in ("t.csv", "new.csv", "m.hf")}
    write(paths["t.csv"], names + ["y"], readings)
    write(paths["new.csv"], names, places)
    tool("fit", paths["t.csv"], "-t", "y", "-k", kernel, "--iterations", "30", "--suspects", "off", "-o", paths["m.hf"], "-q")
    want = [[row["y_" + field] for field in FIELDS] for row in rows_of(tool("predict", paths["m.hf"], paths["new.csv"]))]
    told, sizes = {}, {}
    for name, options, real in (("exact", [], ctypes.c_longdouble), ("double", [], ctypes.c_double),
                                ("single", ["--single"], ctypes.c_float), ("compact", ["--compact"], ctypes.c_float)):
        made = Exported(folder, paths["m.hf"], options, real)
        told[name], sizes[name] = [made(row) for row in places], made.report["data_bytes"]
    off = lambda a, b, field: "%.0e" % worst(a, b, made.scale, field)
    print("|", " | ".join([kernel, str(n), str(d), "%g" % noise,
                           off(want, told["exact"], 0), off(told["double"], told["exact"], 0), off(told["double"], want, 0),
                           off(told["single"], want, 0), off(told["single"], want, 1),
                           off(told["compact"], want, 0), off(told["compact"], want, 1),
                           "%.1f" % (sizes["single"] / 1024), "%.1f" % (sizes["compact"] / 1024)]), "|", flush=True)


def main():
    print("| kernel | n | d | noise | library, mean | double, mean | double to library | single, mean | single, sd | compact, mean "
          "| compact, sd | single, KiB | compact, KiB |")
    print("|" + "---|" * 13)
    with tempfile.TemporaryDirectory() as folder:
        for n, d in SIZES:
            for kernel in KERNELS:
                for noise in NOISES:
                    measure(folder, kernel, n, d, noise)


if __name__ == "__main__":
    main()
