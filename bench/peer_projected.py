# SPDX-License-Identifier: Apache-2.0
"""Seconds of numpy for what the projected solver streams, on the data that bench/common/bench.c makes:

    peer_projected.py N D BLOCKS REPEATS

B = K A for block-sparse actions and, with Bbar = B, the gradient in the actions' entries and in the parameters, by batches of rows: the matrix
of covariances of a batch is made whole (distances by a matrix product, as batched code does) and then used. Prints the least processor time, the sum
of B, the sum of the gradient in the entries, and the sum of that in the parameters."""
import sys
import time

try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"peer left out: {missing} (Debian: python3-numpy)")

BATCH = 512


def inputs(n, d, seed):
    state, out = seed, np.empty(n * d)
    for i in range(n * d):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[i] = (state >> 11) * 2.0**-53
    return out.reshape(n, d)


def roots(x, norms, rows):
    """sqrt(5) times the scaled distances of a batch from all points."""
    r2 = norms[rows, None] + norms[None, :] - 2.0 * (x[rows] @ x.T)
    return np.sqrt(5.0 * np.maximum(r2, 0.0, out=r2), out=r2)


def product(x, norms, s, first, scale):
    b = np.empty((len(x), len(first)))
    for begin in range(0, len(x), BATCH):
        rows = slice(begin, min(begin + BATCH, len(x)))
        t = roots(x, norms, rows)
        k = scale * (1.0 + t + t * t / 3.0) * np.exp(-t)
        b[rows] = np.add.reduceat(k * s, first, axis=1)
    return b


def adjoint(x, norms, s, owner, scale, bar):
    s_bar, by_axis, by_scale = np.zeros(len(x)), np.zeros(x.shape[1]), 0.0
    for begin in range(0, len(x), BATCH):
        rows = slice(begin, min(begin + BATCH, len(x)))
        t = roots(x, norms, rows)
        e, facing = scale * np.exp(-t), bar[rows][:, owner]
        k = (1.0 + t + t * t / 3.0) * e
        s_bar += np.einsum("lj,lj->j", k, facing)
        weight = facing * s
        by_scale += np.vdot(weight, k)
        weight *= 5.0 / 3.0 * (1.0 + t) * e
        by_axis += weight.sum(1) @ x[rows] ** 2 + weight.sum(0) @ x**2 - 2.0 * np.sum(x[rows] * (weight @ x), axis=0)
    return s_bar, np.append(by_axis, by_scale)


def main():
    n, d, blocks, repeats = map(int, sys.argv[1:])
    x = inputs(n, d, 1) / (0.5 + 0.1 * np.arange(d))
    s = inputs(n, 1, 2)[:, 0]
    ends = np.arange(blocks + 1) * n // blocks
    owner = np.repeat(np.arange(blocks), np.diff(ends))
    norms = np.sum(x * x, axis=1)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        b = product(x, norms, s, ends[:-1], 1.5)
        s_bar, theta = adjoint(x, norms, s, owner, 1.5, b)
        best = min(best, time.process_time() - start)
    print(best, b.sum(), s_bar.sum(), theta.sum())
    print(f"peer: numpy {np.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
