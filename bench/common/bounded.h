/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bounded.h
 * @brief Readings with bounded errors of a function of known norm in two inputs, for timings of
 * optimal bounds.
 */
#ifndef BENCH_BOUNDED_H
#define BENCH_BOUNDED_H

#include <holdfast/holdfast.h>

enum {
    BOUNDED_D = 2
};

typedef struct bounded {
    size_t n;
    hf_kernel *kernel;
    double *x, *y, noise; /* n x BOUNDED_D, n, the largest error */
    double norm;          /* what is said about f: 1.5 times its norm */
} bounded;

/** n readings; their noise bound is `share` of the largest |f| among them. Ends the program with
 * the reason if it cannot. Freed by bounded_free(). */
bounded bounded_make(hf_context *ctx, const char *kernel, size_t n, double share);
void bounded_free(bounded *b);

/** Point q of `count` along a line through the inputs. */
void bounded_path(size_t q, size_t count, double x[BOUNDED_D]);

/** Seconds of processor time of this process, which other work on the machine disturbs less than a
 * clock. */
double bounded_seconds(void);

#endif
