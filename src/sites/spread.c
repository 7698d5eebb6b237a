/* SPDX-License-Identifier: Apache-2.0 */
/* The principal axes of the correlation matrix: they tell a singular covariance, its plane, and distances within it. */
#include "sites/spread.h"
#include "linalg/linalg.h"

#include <math.h>

/* An eigenvalue below this times p is zero (the search's own limit, mcd.c); then the deviations in that
 * direction are below some 1e-6, and one ten times as large leaves the plane. A column with a standard
 * deviation below 1e-12 of its robust scale is constant. */
static const double FLAT_VALUE = 1e-13, OFF_PLANE = 1e-5, CONSTANT_SD = 1e-12, UNIT_OF_CONSTANT = 1e-6;

static void correlate(hfi_spread *s)
{
    const size_t p = s->p;
    for (size_t j = 0; j < p; j++) {
        const double sd = sqrt(s->covariance[j + j * p]);
        s->sd[j] = sd > CONSTANT_SD ? sd : UNIT_OF_CONSTANT;
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++) {
            const bool flat = hfi_spread_is_constant(s, j) || hfi_spread_is_constant(s, k);
            s->vectors[k + j * p] = flat ? 0.0 : s->covariance[k + j * p] / (s->sd[j] * s->sd[k]);
        }
    }
}

hf_status hfi_spread_create(hf_context *ctx, const hfi_mcd_rows *rows, const bool *chosen, size_t count,
                            hfi_spread *out)
{
    const size_t p = rows->p;
    double *block = hfi_alloc(ctx, 4 * p + 2 * p * p, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    hfi_spread s = {.p = p,
                    .block = block,
                    .mean = block,
                    .sd = block + p,
                    .values = block + 2 * p,
                    .work = block + 3 * p,
                    .covariance = block + 4 * p,
                    .vectors = block + 4 * p + p * p};
    hfi_mcd_moments(rows, chosen, count, s.mean, s.covariance);
    correlate(&s);
    hf_status status = hfi_symmetric_eigen(ctx, p, s.vectors, p, s.values);
    if (status < 0) {
        hfi_free(ctx, block);
        return status;
    }
    while (s.rank < p && s.values[p - 1 - s.rank] > (double)p * FLAT_VALUE) s.rank++;
    *out = s;
    return HF_OK;
}

void hfi_spread_free(hf_context *ctx, hfi_spread *spread)
{
    hfi_free(ctx, spread->block);
    *spread = (hfi_spread){0};
}

double hfi_spread_squared(const hfi_spread *s, const double *u)
{
    const size_t p = s->p;
    double sum = 0.0;
    for (size_t j = 0; j < p; j++) s->work[j] = (u[j] - s->mean[j]) / s->sd[j];
    for (size_t k = 0; k < p; k++) {
        const double along = hfi_dot(p, s->vectors + k * p, s->work);
        if (k >= p - s->rank)
            sum += along * along / s->values[k];
        else if (!(fabs(along) <= OFF_PLANE))
            return INFINITY;
    }
    return sum;
}

double hfi_spread_log_determinant(const hfi_spread *s)
{
    double sum = 0.0;
    if (s->rank < s->p) return -INFINITY;
    for (size_t j = 0; j < s->p; j++) sum += log(s->values[j]) + 2.0 * log(s->sd[j]);
    return sum;
}

bool hfi_spread_is_constant(const hfi_spread *s, size_t j)
{
    return !(s->covariance[j + j * s->p] > CONSTANT_SD * CONSTANT_SD);
}
