# SPDX-License-Identifier: Apache-2.0
"""Median seconds of scikit-learn for one job, on the data that bench/common/bench.c makes:

    peer_sklearn.py evaluation|prediction N D ROWS REPEATS

Prints one number; says on standard error which BLAS numpy and scipy have loaded."""
import statistics
import sys
import time

try:
    import numpy as np
    import scipy
    import sklearn
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
except ImportError as missing:
    sys.exit(f"peer left out: {missing} (Debian: python3-sklearn)")


def inputs(n, d, seed):
    state, out = seed, np.empty(n * d)
    for i in range(n * d):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[i] = (state >> 11) * 2.0**-53
    return out.reshape(n, d)


def blas():
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        files = {line.split()[-1] for line in maps if "/libblas.so" in line or "/libopenblas" in line}
    return ", ".join(sorted(files)) or "none found"


def main():
    job, (n, d, rows, repeats) = sys.argv[1], map(int, sys.argv[2:])
    x = inputs(n, d, 1)
    y = np.sum(np.sin(3 * x + np.arange(d)) + 0.1 * np.sin(1e4 * x), axis=1)
    kernel = ConstantKernel(1.5) * Matern(0.5 + 0.1 * np.arange(d), nu=2.5) + WhiteKernel(0.01)
    gp = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(x, y)
    query = inputs(rows, d, 2)
    work = {"evaluation": lambda: gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True, clone_kernel=False),
            "prediction": lambda: gp.predict(query, return_std=True)}[job]
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    print(statistics.median(seconds))
    print(f"peer: scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, BLAS {blas()}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
