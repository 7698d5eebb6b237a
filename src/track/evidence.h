/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file evidence.h
 * @brief The evidence of readings of something that drifts.
 *
 *     log N(y; m 1, A),   A_ij = k(x_i, x_j) exp(-(t_i - t_j)^2 / (2 T^2)) + [i = j] (known_i + noise share_i)
 *
 * with the constant m that maximises it. A point is (kernel parameters on the training scale, log
 * noise, log T).
 */
#ifndef HFI_TRACK_EVIDENCE_H
#define HFI_TRACK_EVIDENCE_H

#include "core/core.h"
#include "kernel/kernel.h"
#include <math.h>

typedef struct hfi_evidence {
    hf_context *ctx;
    size_t n, d;
    hf_kernel *kernel;    /* a copy, whose parameters are the last point's */
    double *x, *time, *y; /* n x d, n, n: the caller fills them in, and the next two */
    double *known;        /* n: noise variance that is not trained */
    double *share;        /* n: multiple of the trained noise */
    double *ones, *alpha;
    double *prior, *factor, *weights; /* n x n */
} hfi_evidence;

/** The correlation of f at two times, on the time scale `period`. */
static inline double hfi_in_time(double a, double b, double period)
{
    const double gap = (a - b) / period;
    return exp(-0.5 * gap * gap);
}

hf_status hfi_evidence_create(hf_context *ctx, const hf_kernel *kernel, size_t n,
                              hfi_evidence *out);
void hfi_evidence_free(hfi_evidence *evidence);
/** Value, and gradient (parameters + 2) or NULL. HF_ERR_NOT_POSITIVE_DEFINITE without a message.
 * O(n^3). */
hf_status hfi_evidence_evaluate(hfi_evidence *evidence, const double *point, double *value,
                                double *gradient);

#endif
