# SPDX-License-Identifier: Apache-2.0
"""Runs other optimisers on the test problems of bo-problem, clean and with wrong values.

    peer_optimisers.py --program hf-reproduce-bo-problem --out FILE.csv [--peers A,B] [--problems A,B] [--seeds A..B]
                       [--shares 0,0.25] [--recommend told|clean] [--minutes N]

Runs that FILE.csv holds already are not made again. Each row is a run: problem, peer, share of wrong values, seed,
evaluations, and the simple regret after each tenth of them. A peer recommends the point with the best value that it was
told; the regret is the problem's best clean value less the clean value of that point. With --recommend clean it is given
the point with the best clean value instead, as if somebody told it afterwards which values were wrong.

Peers, all from Debian (python3-optuna, python3-cmaes, python3-nlopt, python3-sklearn):
  random     uniform points
  tpe        Optuna's TPESampler, its defaults; the common random design counts as its start-up trials
  cmaes      Optuna's CmaEsSampler with restarts (ipop), begun at the best told point of the common design; it leaves
             categories to random draws
  direct     NLopt's GN_DIRECT_L on the unit cube; it chooses its own first points
  crs2       NLopt's GN_CRS2_LM on the unit cube, as many points as the common design has; draws its own, but for one
  sklearn    scikit-learn's GaussianProcessRegressor: constant times Matern 5/2 with a lengthscale for each input, plus
             WhiteKernel; targets standardised; expected improvement over the best told value, the largest of 2000 uniform
             points (a quarter of them near the best), then 30 steps of L-BFGS-B in the continuous inputs. Hyperparameters
             by its own optimiser after each evaluation up to 50, then after each fifth, always begun at 1, 0.5 and 1e-3
             (begun at the last ones it stays where all is noise). Categories are one-hot, integers levels in [0, 1],
             logarithms scaled."""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import time
import warnings

import numpy as np

TENTHS = 10
FIELDS = ["problem", "peer", "wrong", "seed", "evaluations"] + [f"r{10 * (i + 1)}" for i in range(TENTHS)]


class Finished(Exception):
    """All evaluations are spent."""


class Run:
    """One run of one problem: evaluates points, tells values, keeps the regret of what would be recommended."""

    def __init__(self, program, row, seed, share, gift=False):
        self.row, self.parameters, self.seed, self.gift = row, row["parameters"], seed, gift
        self.limit, self.told, self.points, self.regrets = row["evaluations"], [], [], []
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = self.ask(f"{row['name']} {seed} {share!r}")
        if not answer.startswith("ok "):
            raise RuntimeError(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def design(self, count):
        lines = [self.ask(f"start {count}")] + [self.process.stdout.readline() for _ in range(count - 1)]
        return [[float(v) for v in line.split()] for line in lines]

    def value(self, x):
        """The value that is told at x, in the problem's units; larger is better."""
        if len(self.told) == self.limit:
            raise Finished
        answer = self.ask(" ".join(repr(float(v)) for v in x))
        if answer.startswith("error"):
            raise RuntimeError(answer)
        clean, told = (float(v) for v in answer.split())
        if not self.told or (clean > self.best if self.gift else told > max(self.told)):
            self.best = clean
        self.told.append(told)
        self.points.append(list(x))
        self.regrets.append(self.row["best"] - self.best)
        return told

    def from_unit(self, u):
        """As bo_from_unit() in common/bo_problem.h."""
        x = []
        for v, p in zip(np.clip(u, 0.0, 1.0), self.parameters):
            low, high = p["lower"], p["upper"]
            if p["kind"] == "real":
                x.append(min(low + v * (high - low), high))
            elif p["kind"] == "log":
                x.append(max(low, min(low * (high / low) ** v, high)))
            else:
                x.append(min(low + math.floor(v * (high - low + 1)), high))
        return x

    def to_unit(self, x):
        u = []
        for v, p in zip(x, self.parameters):
            low, high = p["lower"], p["upper"]
            if p["kind"] == "real":
                u.append((v - low) / (high - low))
            elif p["kind"] == "log":
                u.append(math.log(v / low) / math.log(high / low))
            else:
                u.append((v - low + 0.5) / (high - low + 1))
        return np.array(u)

    def starts(self):
        for x in self.design(self.row["starts"]):
            self.value(x)


def run_random(run):
    for x in run.design(run.limit):
        run.value(x)


def optuna_space(run):
    from optuna import distributions as d
    kinds = {"real": lambda p: d.FloatDistribution(p["lower"], p["upper"]),
             "log": lambda p: d.FloatDistribution(p["lower"], p["upper"], log=True),
             "integer": lambda p: d.IntDistribution(int(p["lower"]), int(p["upper"])),
             "category": lambda p: d.CategoricalDistribution(list(range(int(p["upper"]) + 1)))}
    return {p["name"]: kinds[p["kind"]](p) for p in run.parameters}


def run_optuna(run, make):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = optuna_space(run)
    run.starts()
    names = [p["name"] for p in run.parameters]
    whole = [p["kind"] in ("integer", "category") for p in run.parameters]

    def named(x):
        return {name: int(v) if w else v for name, v, w in zip(names, x, whole)}

    study = optuna.create_study(direction="maximize", sampler=make(run, named))
    for x, told in zip(run.points, run.told):
        study.add_trial(optuna.trial.create_trial(params=named(x), distributions=space, value=told))
    while len(run.told) < run.limit:
        trial = study.ask(space)
        study.tell(trial, run.value([trial.params[name] for name in names]))


def make_tpe(run, _named):
    from optuna.samplers import TPESampler
    return TPESampler(seed=run.seed, n_startup_trials=run.row["starts"])


def make_cmaes(run, named):
    from optuna.samplers import CmaEsSampler
    best = named(run.points[int(np.argmax(run.told))])
    for p in run.parameters:
        if p["kind"] == "category":
            del best[p["name"]]
    return CmaEsSampler(x0=best, seed=run.seed, n_startup_trials=1, restart_strategy="ipop", warn_independent_sampling=False)


def run_nlopt(run, algorithm):
    import nlopt
    d = len(run.parameters)
    opt = nlopt.opt(getattr(nlopt, algorithm), d)
    nlopt.srand(run.seed + 1)
    opt.set_lower_bounds(np.zeros(d))
    opt.set_upper_bounds(np.ones(d))
    opt.set_max_objective(lambda u, _gradient: run.value(run.from_unit(u)))
    opt.set_maxeval(run.limit)
    if algorithm == "GN_CRS2_LM":
        opt.set_population(run.row["starts"])
    try:
        opt.optimize(run.to_unit(run.design(1)[0]))
    except (Finished, nlopt.RoundoffLimited, RuntimeError) as stopped:
        if len(run.told) < run.limit and not isinstance(stopped, nlopt.RoundoffLimited):
            raise


class Features:
    """Points of the unit cube as inputs of a Gaussian process."""

    def __init__(self, run):
        self.parameters = run.parameters
        self.free = [j for j, p in enumerate(run.parameters) if p["kind"] in ("real", "log")]

    def of(self, units):
        columns = []
        for j, p in enumerate(self.parameters):
            levels = int(p["upper"] - p["lower"]) + 1
            at = np.minimum(np.floor(units[:, j] * levels), levels - 1)
            if p["kind"] == "category":
                columns += [(at == k).astype(float) for k in range(levels)]
            elif p["kind"] == "integer":
                columns.append((at + 0.5) / levels)
            else:
                columns.append(units[:, j])
        return np.stack(columns, axis=1)


def expected_improvement(gp, features, units, best):
    from scipy.special import ndtr
    mean, sd = gp.predict(features.of(units), return_std=True)
    sd = np.maximum(sd, 1e-12)
    z = (mean - best) / sd
    return sd * (z * ndtr(z) + np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))


def climb(gp, features, unit, best):
    """L-BFGS-B on the logarithm of the expected improvement, differences for its gradient, whole inputs held."""
    from scipy.optimize import minimize
    free, step = features.free, 1e-6

    def loss(values):
        points = np.repeat(unit[None, :], len(free) + 1, axis=0)
        points[:, free] = values
        signs = np.where(values > 0.5, -step, step)
        for i, j in enumerate(free):
            points[i + 1, j] += signs[i]
        logs = -np.log(np.maximum(expected_improvement(gp, features, points, best), 1e-300))
        return logs[0], (logs[1:] - logs[0]) / signs

    if not free:
        return unit
    found = minimize(loss, unit[free], jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(free), options={"maxiter": 30})
    better = unit.copy()
    better[free] = np.clip(found.x, 0, 1)
    return better


def run_sklearn(run):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
    rng = np.random.default_rng(run.seed)
    features = Features(run)
    run.starts()
    d, width = len(run.parameters), features.of(np.zeros((1, len(run.parameters)))).shape[1]
    first = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(np.full(width, 0.5), (1e-2, 1e2), nu=2.5) + WhiteKernel(1e-3, (1e-8, 1e1))
    last = first
    while len(run.told) < run.limit:
        n = len(run.told)
        units = np.array([run.to_unit(x) for x in run.points])
        told = np.array(run.told)
        y = (told - told.mean()) / (told.std() or 1.0)
        refit = n <= 50 or n % 5 == 0
        gp = GaussianProcessRegressor(first if refit else last, alpha=1e-10, optimizer="fmin_l_bfgs_b" if refit else None)
        last = gp.fit(features.of(units), y).kernel_
        near = np.clip(units[np.argmax(told)] + 0.05 * rng.standard_normal((500, d)), 0, 1)
        candidates = np.concatenate([rng.random((1500, d)), near])
        values = expected_improvement(gp, features, candidates, y.max())
        run.value(run.from_unit(climb(gp, features, candidates[np.argmax(values)], y.max())))


PEERS = {"random": run_random, "tpe": lambda run: run_optuna(run, make_tpe), "cmaes": lambda run: run_optuna(run, make_cmaes),
         "direct": lambda run: run_nlopt(run, "GN_DIRECT_L"), "crs2": lambda run: run_nlopt(run, "GN_CRS2_LM"),
         "sklearn": run_sklearn}


def line_of(program, row, peer, share, seed, gift):
    run = Run(program, row, seed, share, gift)
    try:
        PEERS[peer](run)
    except Finished:
        pass
    finally:
        run.close()
    tenths = [run.regrets[min(len(run.regrets), math.ceil(run.limit * (i + 1) / TENTHS)) - 1] for i in range(TENTHS)]
    return [row["name"], peer, f"{share:g}", seed, run.limit] + [f"{max(r, 0.0):.4g}" for r in tenths]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "hf-reproduce-bo-problem"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--peers", default="random,direct,crs2,cmaes,tpe,sklearn")
    parser.add_argument("--problems")
    parser.add_argument("--seeds", default="0..19")
    parser.add_argument("--shares", default="0,0.25")
    parser.add_argument("--recommend", choices=("told", "clean"), default="told")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after that many")
    return parser.parse_args()


def done_before(path):
    if not os.path.exists(path):
        with open(path, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(FIELDS)
        return set()
    with open(path, newline="") as file:
        return {(r["problem"], r["peer"], r["wrong"], int(r["seed"])) for r in csv.DictReader(file)}


def main():
    args = arguments()
    listed = subprocess.run([args.program, "--list"], capture_output=True, text=True, check=True).stdout
    rows = {row["name"]: row for row in map(json.loads, listed.splitlines())}
    problems = args.problems.split(",") if args.problems else \
        [n for n, r in rows.items() if r["objectives"] == 1 and r["constraints"] == 0 and r["best"] is not None and r["proved"]]
    first, _, last = args.seeds.partition("..")
    peers = args.peers.split(",")
    unknown = [n for n in problems if n not in rows] + [p for p in peers if p not in PEERS]
    if unknown:
        sys.exit(f"peer_optimisers.py: there is no problem or peer {', '.join(unknown)}")
    have, begin = done_before(args.out), time.time()
    for peer in peers:
        for seed in range(int(first), int(last or first) + 1):
            for name in problems:
                for share in map(float, args.shares.split(",")):
                    if (name, peer, f"{share:g}", seed) in have:
                        continue
                    if time.time() - begin > 60 * args.minutes:
                        return
                    line = line_of(args.program, rows[name], peer, share, seed, args.recommend == "clean")
                    with open(args.out, "a", newline="") as file:
                        csv.writer(file, lineterminator="\n").writerow(line)
        print(f"{peer}: {time.time() - begin:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of lengthscales at their bounds, and of samplers that Optuna calls experimental
    main()
