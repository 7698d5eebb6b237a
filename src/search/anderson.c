/* SPDX-License-Identifier: Apache-2.0 */
/* Anderson (1965), "Iterative procedures for nonlinear integral equations", in the form of Walker and Ni (2011). */
#include "search/anderson.h"
#include "linalg/linalg.h"
#include <string.h>

/* Relative size of what is added to the diagonal of the normal equations. */
static const double ridge = 1e-10;

hf_status hfi_anderson_init(hf_context *ctx, size_t size, hfi_anderson *out)
{
    *out = (hfi_anderson){.ctx = ctx, .size = size};
    out->steps = hfi_alloc(ctx, size, (2 * HFI_ANDERSON_DEPTH + 2) * sizeof *out->steps);
    if (!out->steps) return HF_ERR_MEMORY;
    out->differences = out->steps + HFI_ANDERSON_DEPTH * size;
    out->last_x = out->differences + HFI_ANDERSON_DEPTH * size;
    out->last_r = out->last_x + size;
    return HF_OK;
}

void hfi_anderson_free(hfi_anderson *a)
{
    hfi_free(a->ctx, a->steps);
    memset(a, 0, sizeof *a);
}

void hfi_anderson_reset(hfi_anderson *a)
{
    a->held = 0;
    a->started = false;
}

/* The newest difference; the oldest makes room. */
static void record(hfi_anderson *a, const double *x, const double *r)
{
    const size_t n = a->size;
    if (a->started) {
        if (a->held == HFI_ANDERSON_DEPTH) {
            memmove(a->steps, a->steps + n, (HFI_ANDERSON_DEPTH - 1) * n * sizeof *a->steps);
            memmove(a->differences, a->differences + n,
                    (HFI_ANDERSON_DEPTH - 1) * n * sizeof *a->differences);
            a->held--;
        }
        double *step = a->steps + a->held * n, *difference = a->differences + a->held * n;
        for (size_t i = 0; i < n; i++) {
            step[i] = x[i] - a->last_x[i];
            difference[i] = r[i] - a->last_r[i];
        }
        a->held++;
    }
    memcpy(a->last_x, x, n * sizeof *x);
    memcpy(a->last_r, r, n * sizeof *r);
    a->started = true;
}

/* Coefficients that bring r nearest to the span of the differences; false when these are dependent. */
static bool combine(const hfi_anderson *a, const double *r, double *coefficient)
{
    double normal[HFI_ANDERSON_DEPTH * HFI_ANDERSON_DEPTH];
    const size_t k = a->held;
    for (size_t q = 0; q < k; q++) {
        for (size_t p = q; p < k; p++)
            normal[p + q * k] = hfi_dot(a->size, a->differences + p * a->size, a->differences + q * a->size);
        normal[q * (k + 1)] *= 1.0 + ridge;
        coefficient[q] = hfi_dot(a->size, a->differences + q * a->size, r);
    }
    if (hfi_chol(a->ctx, k, normal, k) < 0) return false;
    hfi_chol_solve(k, normal, k, coefficient);
    return true;
}

void hfi_anderson_next(hfi_anderson *a, const double *x, const double *r, double share, double *next)
{
    double coefficient[HFI_ANDERSON_DEPTH];
    record(a, x, r);
    for (size_t i = 0; i < a->size; i++) next[i] = x[i] + share * r[i];
    if (a->held == 0) return;
    if (!combine(a, r, coefficient)) {
        a->held = 0;
        return;
    }
    for (size_t q = 0; q < a->held; q++) {
        hfi_axpy(a->size, -coefficient[q], a->steps + q * a->size, next);
        hfi_axpy(a->size, -share * coefficient[q], a->differences + q * a->size, next);
    }
}
