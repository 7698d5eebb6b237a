# SPDX-License-Identifier: Apache-2.0
"""Optimal bounds as second-order cone programs, solved by cvxopt on one thread:

    peer_envelope.py FILE

FILE holds numbers: n, queries, lengthscale (Matern-5/2, two inputs), G; then n rows (input, lower limit, upper limit), then the queries. With B B' = K over
readings and query, the functions of norm up to G have the values G B z there, |z| <= 1.

Two ways: "chol" takes z as the variables and the fastest of cvxopt's own methods for the linear systems of a step; "own" takes the values B z, so that the readings
are bounds on variables, and solves the systems with one factor of order n a step. That is less accurate: where rounding ends it early (a few in a hundred), "chol"
does it again. B and its inverse are made before the clock starts. Prints for each query and way: way, least and largest value, processor seconds a bound,
iterations a bound."""
import sys
import time

try:
    import cvxopt
    import numpy as np
    from cvxopt import blas, lapack, matrix, misc, mul, solvers
except ImportError as missing:
    sys.exit(f"peer left out: {missing} (Debian: python3-cvxopt)")

solvers.options.update(show_progress=False, abstol=1e-8, reltol=1e-8, feastol=1e-8, maxiters=40)


def matern52(length, x, z):
    r = np.sqrt(5.0 * ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)) / length
    return (1.0 + r + r * r / 3.0) * np.exp(-r)


class Whitened:
    """max a'z subject to lower <= B z <= upper, |z| <= 1; a is the last row of the factor, B the others."""
    refinement = 1

    def __init__(self, factor, lower, upper):
        n = len(lower)
        b = factor[:-1]
        self.cost = matrix(factor[-1].copy())
        self.rows = matrix(np.vstack([b, -b, np.zeros(n + 1), -np.eye(n + 1)]))
        self.h = matrix(np.concatenate([upper, -lower, [1.0], np.zeros(n + 1)]))
        self.dims = {"l": 2 * n, "q": [n + 2], "s": []}
        self.solver = "chol"


class Values:
    """max the last of f subject to lower <= f <= upper for the others, |B^-1 f| <= 1."""

    def __init__(self, factor, lower, upper):
        self.n = n = len(lower)
        self.refinement = 2 if n <= 300 else 4  # the least with which few runs end early
        inverse = np.linalg.inv(factor)
        self.inverse, self.precision = matrix(np.tril(inverse)), matrix(inverse.T @ inverse)
        self.cost = matrix([0.0] * n + [1.0])
        self.rows, self.solver = self.product, self.system
        self.h = matrix(np.concatenate([upper, -lower, [1.0], np.zeros(n + 1)]))
        self.dims = {"l": 2 * n, "q": [n + 2], "s": []}

    def product(self, x, y, trans="N", alpha=1.0, beta=0.0):
        """y := alpha G x + beta y, or with G'; the rows of G are an identity without its last row, the negative, 0 and -B^-1."""
        n = self.n
        blas.scal(beta, y)
        if trans == "N":
            white = +x
            blas.trmv(self.inverse, white)
            blas.axpy(x, y, alpha=alpha, n=n)
            blas.axpy(x, y, alpha=-alpha, n=n, offsety=n)
            blas.axpy(white, y, alpha=-alpha, offsety=2 * n + 1)
        else:
            white = x[2 * n + 1:]
            blas.trmv(self.inverse, white, trans="T")
            blas.axpy(x, y, alpha=alpha, n=n)
            blas.axpy(x, y, alpha=-alpha, n=n, offsetx=n)
            blas.axpy(white, y, alpha=-alpha)

    def system(self, w):
        """The linear systems of one step: without uz the matrix is D + s (K^-1 + 8 v0^2 u u'), D diagonal, u = B^-T v."""
        n, s, v = self.n, w["beta"][0] ** -2, w["v"][0]
        above, below, turned = w["di"][:n], w["di"][n:], v[1:]
        blas.trmv(self.inverse, turned, trans="T")
        factor = s * self.precision
        blas.syr(turned, factor, alpha=8.0 * s * v[0] ** 2)
        factor[:-1:n + 2] += mul(above, above) + mul(below, below)
        lapack.potrf(factor)

        def solve(x, _y, z):
            scaled = +z
            misc.scale(scaled, w, trans="T", inverse="I")
            misc.scale(scaled, w, inverse="I")
            self.product(scaled, x, trans="T", beta=1.0)
            lapack.potrs(factor, x)
            self.product(x, z, beta=-1.0)
            misc.scale(z, w, trans="T", inverse="I")

        return solve


def largest(problems, sign):
    """By the first problem that is solved. The time of those that are not counts."""
    value, iterations, start = float("nan"), 0, time.process_time()
    for problem in problems:
        options = dict(solvers.options, refinement=problem.refinement)
        try:
            answer = solvers.conelp(-sign * problem.cost, problem.rows, problem.h, problem.dims, kktsolver=problem.solver, options=options)
        except (ValueError, ArithmeticError):  # how it ends when rounding has made an iterate negative
            continue
        iterations = answer["iterations"]
        left = (answer["gap"], answer["primal infeasibility"], answer["dual infeasibility"])
        if answer["status"] == "optimal" or None not in left and max(left) < 1e-6:  # "unknown" is often as good
            value = blas.dot(problem.cost, answer["x"])
            break
    return value, time.process_time() - start, iterations


def main():
    numbers = np.fromfile(sys.argv[1], sep=" ")
    n, queries, length, norm = int(numbers[0]), int(numbers[1]), numbers[2], numbers[3]
    rows, query = numbers[4:4 + 4 * n].reshape(n, 4), numbers[4 + 4 * n:].reshape(queries, 2)
    for q in range(queries):
        points = np.vstack([rows[:, :2], query[q]])
        factor = np.linalg.cholesky(matern52(length, points, points))
        whitened, values = (form(factor, rows[:, 2] / norm, rows[:, 3] / norm) for form in (Whitened, Values))
        for way, problems in (("chol", [whitened]), ("own", [values, whitened])):
            high, first, steps = largest(problems, 1.0)
            low, second, more = largest(problems, -1.0)
            print(way, repr(norm * low), repr(norm * high), 0.5 * (first + second), 0.5 * (steps + more))
    print(f"peer: cvxopt {cvxopt.__version__}, numpy {np.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
