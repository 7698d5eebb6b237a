# SPDX-License-Identifier: Apache-2.0
"""Fits scikit-learn's exact Gaussian process to arrays and predicts: a peer for rcagp-scale.

    peer_sklearn.py IN OUT

IN holds the 8-byte integers n, d, m and the doubles x (n x d), y (n), tx (m x d); OUT receives the seconds of the fit, its
processor time, the seconds of the prediction, m means and m standard deviations of a new reading. Matern 5/2 with a lengthscale for each input and
white noise; inputs and targets standardised; scikit-learn's own optimiser."""
import sys
import time

try:
    import numpy as np
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
except ImportError as missing:
    sys.exit(f"peer left out: {missing} (Debian: python3-sklearn)")


def main():
    with open(sys.argv[1], "rb") as file:
        n, d, m = (int(v) for v in np.fromfile(file, dtype=np.int64, count=3))
        x = np.fromfile(file, count=n * d).reshape(n, d)
        y = np.fromfile(file, count=n)
        tx = np.fromfile(file, count=m * d).reshape(m, d)
    middle, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0.0] = 1.0
    kernel = (ConstantKernel(1.0, (1e-4, 1e4)) * Matern(np.full(d, np.sqrt(d)), (1e-2, 1e4), nu=2.5)
              + WhiteKernel(0.1, (1e-6, 1e3)))
    begin, busy = time.perf_counter(), time.process_time()
    gp = GaussianProcessRegressor(kernel, alpha=0.0, normalize_y=True).fit((x - middle) / scale, y)
    fitted, busy = time.perf_counter(), time.process_time() - busy
    mean, sd = gp.predict((tx - middle) / scale, return_std=True)
    with open(sys.argv[2], "wb") as file:
        np.concatenate([[fitted - begin, busy, time.perf_counter() - fitted], mean, sd]).tofile(file)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")  # of lengthscales at their bounds
    main()
