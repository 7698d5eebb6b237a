/* SPDX-License-Identifier: Apache-2.0 */
/* Directions in which a posterior with negative precisions is all but flat; curved.h has the formulas. */
#include "inference/curved.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* p_j = E s u = F L' u, as H = L L', and K p_j. The eigenvector is in `u`; `room` takes o numbers. */
static void place_direction(hfi_curved *c, size_t j, const double *u, double *room)
{
    const size_t n = c->n, o = c->negatives;
    double *p = c->flat_r + j * n;
    for (size_t q = 0; q < o; q++) room[q] = hfi_dot(o - q, c->h + q * (o + 1), u + q);
    hfi_gemv(n, o, 1.0, c->f, n, room, 0.0, p);
    hfi_curved_k(c, p, c->flat_k + j * n);
}

hf_status hfi_curved_soften(hfi_curved *c, double limit, double *log_det)
{
    const size_t n = c->n, o = c->negatives;
    *log_det = c->log_det;
    c->flat = 0;
    if (o == 0) return HF_OK;
    double *vectors = hfi_alloc(c->ctx, o, (o + 2) * sizeof *vectors);
    if (!vectors) return HF_ERR_MEMORY;
    double *values = vectors + o * o, *room = values + o;
    memcpy(vectors, c->h + o * o, o * o * sizeof *vectors);
    hf_status s = hfi_symmetric_eigen(c->ctx, o, vectors, o, values);
    size_t flat = 0;
    while (s >= 0 && flat < o && values[flat] < limit) flat++;
    if (s >= 0 && flat > 0) {
        hfi_free(c->ctx, c->flat_excess);
        c->flat_excess = hfi_alloc(c->ctx, flat, (2 * n + 1) * sizeof *c->flat_excess);
        if (!c->flat_excess) s = HF_ERR_MEMORY;
    }
    if (s >= 0 && flat > 0) {
        c->flat = flat;
        c->flat_r = c->flat_excess + flat;
        c->flat_k = c->flat_r + flat * n;
        for (size_t j = 0; j < flat; j++) {
            const double h = fmax(values[j], 1e-12); /* the factorisation says that it is positive */
            c->flat_excess[j] = 1.0 / h - 1.0 / limit;
            *log_det += log(limit) + (h / limit - 1.0) - log(h);
            place_direction(c, j, vectors + j * o, room);
        }
    }
    hfi_free(c->ctx, vectors);
    return s;
}

void hfi_curved_soften_variances(const hfi_curved *c, double limit, double *variance)
{
    for (size_t j = 0; j < c->flat; j++) {
        const double excess = c->flat_excess[j], h = 1.0 / (excess + 1.0 / limit);
        const double *k = c->flat_k + j * c->n;
        for (size_t i = 0; i < c->n; i++)
            variance[i] -= excess * k[i] * k[i] / (c->w[i] < 0.0 ? 1.0 - h : 1.0);
    }
}

void hfi_curved_soften_r(hfi_curved *c)
{
    const size_t n = c->n;
    for (size_t q = 0; q < c->flat; q++) {
        const double *p = c->flat_r + q * n;
        for (size_t j = 0; j < n; j++) hfi_axpy(n - j, c->flat_excess[q] * p[j], p + j, c->b + j * (n + 1));
    }
}
