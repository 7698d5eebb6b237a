/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bounded_ipopt.h
 * @brief One optimal bound by Ipopt, where the build found it (Debian: coinor-libipopt-dev).
 */
#ifndef BENCH_BOUNDED_IPOPT_H
#define BENCH_BOUNDED_IPOPT_H

#include <holdfast/holdfast.h>

/** The values of f at n readings and, last, at the query, in units of G: low <= c <= high for the
 * n, c'Mc <= 1. */
typedef struct bounded_program {
    size_t n;
    /* M = K^-1 over readings and query, order n + 1, lower triangle by columns */
    const double *inverse;
    const double *low, *high; /* n */
    const double *start;      /* n + 1; pushed inside its limits by Ipopt */
} bounded_program;

typedef struct bounded_answer {
    double value,
        /* NaN without Ipopt or where it did not succeed; processor time of IpoptSolve() alone */
        seconds;
    int iterations;
} bounded_answer;

bool bounded_has_ipopt(void);

/** The least (HF_LOWER) or the largest value at the query, tolerance 1e-8, exact first and second
 * derivatives. */
bounded_answer bounded_ipopt(const bounded_program *program, hf_side side);

#endif
