# SPDX-License-Identifier: Apache-2.0
"""An installed tool lists the experiments and runs them, wherever its prefix was moved to; each that needs the data of
others says what they are, who has them and where to put them, and nothing of it makes the installation large."""
import glob
import os

import house
from trial import installation

MISSING = 77
MOST_BYTES = 4_000_000  # of one, with what helps to debug it; the library is as large
DRAWN = {"synthetic-noise", "envelope-tables", "envelope-norm", "envelope-example2", "envelope-example3", "envelope-effort", "mo-rcgp-table1",
         "mo-rcgp-fig2", "mo-rcgp-fig4", "mo-rcgp-fig5", "several-outputs", "sparq-synthetic", "sparq-cost", "sparq-regret", "sparq-kl",
         "default-bed", "bo-problem", "bo-table", "bo-study", "rcagp-bo-hartmann", "rcagp-bo-lunar",
         "rcagp-bo-rover", "rcagp-bo-expert", "certified-values", "rcagp-fig1", "rcagp-influence",
         "rcagp-complexity",
         "kernel-draws", "guarantees"}  # or their data come with Holdfast
SOME_DRAWN = {"envelope-fig2", "envelope-fig3"}  # the data of others are one part of it
ARGUMENTS = {"certified-fig2": ["--sets", "spam"], "certified-fig3": ["--sets", "spam"], "certified-fig4": ["--sets", "mnist38"],
             "certified-fig6": ["--sets", "mnist358"], "certified-fig5": ["--sets", "spam"],
             "class-accuracy": ["--sets", "spam"], "envelope-fig2": ["--seeds", "0"], "envelope-fig3": ["--seeds", "0"],
             "robust-uci": ["--sets", "energy,wine"], "rcagp-table1": ["--sets", "energy"], "rcagp-s1": ["--sets", "yacht"],
             "rcagp-s2": ["--sets", "parkinsons"], "rcagp-s3": ["--sets", "energy"], "rcagp-ablation-eps": ["--sets", "yacht"],
             "rcagp-expert": ["--sets", "yacht"], "rcagp-bo-dpp-ts": ["--problems", "lasso-dna"],
             "rcagp-bo-turbo": ["--problems", "lasso-dna"]}


def reproduce(trial, *arguments):
    environment = {name: value for name, value in trial.environment.items() if name != "HOLDFAST_DATA"}
    return house.run([os.path.join(trial.prefix, "bin", "holdfast"), "reproduce", *arguments], cwd=trial.folder,
                     env=environment)


def check_listed(trial):
    programs = {os.path.basename(path)[:-2] for path in glob.glob(os.path.join(trial.source, "experiments", "*.c"))}
    listed = reproduce(trial).stdout.split()
    trial.expect(listed == sorted(programs), f"reproduce lists {listed}, not {sorted(programs)}")
    return listed


def check_size(trial):
    sizes = {path: os.path.getsize(path) for path in glob.glob(os.path.join(trial.prefix, "libexec", "holdfast", "*"))}
    for path, size in sizes.items():
        trial.expect(size < MOST_BYTES, f"{os.path.basename(path)} has {size} bytes")
    print(f"{len(sizes)} files of {sum(sizes.values()) / 1e6:.1f} MB in libexec/holdfast")
    trial.expect(sum(sizes.values()) < 5 * MOST_BYTES, f"the experiments have {sum(sizes.values())} bytes")


def check_missing_data(trial, name):
    done = reproduce(trial, name, *ARGUMENTS.get(name, []), "--data", "nowhere")
    trial.expect(done.returncode == (0 if name in SOME_DRAWN else MISSING), f"{name} without its data ends with {done.returncode}\n{done.stdout}{done.stderr}")
    for words in ("nowhere/", "--data DIR", "what:", "source:", "place:", "HOLDFAST_DATA"):
        trial.expect(words in done.stderr, f"{name} does not say '{words}' of data that are not there:\n{done.stderr}")


def find_problems(source, build):
    with installation(source, build) as trial:
        if trial.problems:
            return trial.problems
        first, trial.prefix = trial.prefix, os.path.join(trial.folder, "moved")
        os.rename(first, trial.prefix)
        for name in check_listed(trial):
            done = reproduce(trial, name, "--help")
            trial.expect(done.returncode == 0 and done.stdout.startswith(f"usage: {name} "),
                         f"{name} --help\n{done.stdout}{done.stderr}")
            if name not in DRAWN:
                check_missing_data(trial, name)
        check_size(trial)
        done = reproduce(trial, "synthetic-noise", "--noises", "gauss", "--splits", "0", "--methods", "gp")
        trial.expect(done.returncode == 0 and "### gauss" in done.stdout, f"synthetic-noise\n{done.stdout}{done.stderr}")
        # One of the tables comes with the package.
        done = reproduce(trial, "robust-uci", "--sets", "boston", "--kinds", "none", "--splits", "0", "--methods", "gp")
        trial.expect(done.returncode == 0 and "### boston" in done.stdout, f"robust-uci\n{done.stdout}{done.stderr}")
        done = reproduce(trial, "default-bed", "--tables", "women", "--kinds", "none", "--splits", "0", "--methods", "gp,default")
        trial.expect(done.returncode == 0 and "| women | 15 | 1 |" in done.stdout, f"default-bed\n{done.stdout}{done.stderr}")
        trial.expect(os.path.exists(os.path.join(trial.prefix, "libexec", "holdfast", "peer_sklearn.py")),
                     "peer_sklearn.py is not installed")
        return trial.problems


if __name__ == "__main__":
    house.main(find_problems)
