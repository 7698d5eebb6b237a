/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions averaged over what f may be where it is not known yet. */
#include "optimise/acquire.h"

#include "core/normal.h"
#include "linalg/linalg.h"
#include <float.h>
#include <math.h>

/* Standard normal: a sequence of low discrepancy, moved by a random shift, through the quantile function.
 * Half of the draws; the others are their negatives, so that their mean is 0. */
hf_status hfi_draw_normals(hf_context *ctx, uint64_t number, size_t p, size_t count, double *e)
{
    const size_t half = (count + 1) / 2;
    double *ends = hfi_alloc(ctx, p, 3 * sizeof *ends);
    if (ends == NULL) return HF_ERR_MEMORY;
    double *shift = ends + 2 * p;
    hfi_stream stream;
    /* From the other end than where hf_sample() is counted from. */
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_SAMPLE, UINT64_MAX - number);
    for (size_t k = 0; k < p; k++) {
        ends[p + k] = 1.0;
        shift[k] = hfi_stream_uniform(&stream);
    }
    const hf_domain cube = {.dimension = p, .lower = ends, .upper = ends + p};
    hf_domain_quasirandom(&cube, 0, half, e);
    for (size_t s = 0; s < half; s++)
        for (size_t k = 0; k < p; k++) {
            const double u = e[s * p + k] + shift[k], share = u - floor(u);
            const double normal = hfi_normal_quantile(fmin(fmax(share, DBL_EPSILON), 1.0 - DBL_EPSILON));
            e[s * p + k] = normal;
            if (half + s < count) e[(half + s) * p + k] = -normal;
        }
    hfi_free(ctx, ends);
    return HF_OK;
}

/* The best that each draw knows: the caller's, and f at the points. */
static void find_best(const hf_acquire *a, hfi_draws *draws)
{
    const hfi_given *given = &draws->given;
    for (size_t s = 0; s < draws->count; s++) {
        const double *e = draws->e + s * given->p;
        draws->best[s] = a->best;
        for (size_t k = 0; k < given->p; k++) {
            double value = given->mean[k];
            for (size_t j = 0; j <= k; j++) value += given->factor[k + j * given->p] * e[j];
            draws->best[s] = fmax(draws->best[s], value);
        }
    }
}

static hf_status condition(hf_context *ctx, const hf_acquire *a, size_t d, hfi_draws *draws)
{
    const size_t p = a->pending + a->against;
    double *points = hfi_alloc_product(ctx, p, d, sizeof *points);
    if (points == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < a->pending * d; k++) points[k] = a->pending_x[k];
    for (size_t k = 0; k < a->against * d; k++) points[a->pending * d + k] = a->against_x[k];
    const hf_status status = hfi_given_begin(ctx, a->posterior, p, points, &draws->given);
    hfi_free(ctx, points);
    return status;
}

hf_status hfi_draws_begin(hf_context *ctx, const hf_acquire *a, size_t d, hfi_draws *draws)
{
    const size_t p = a->pending + a->against;
    /* The mean of the draws of a function that is linear in them is the function of the mean. */
    const hfi_acquisition_row *row = hfi_acquisition_of(a->kind);
    const bool linear = !row->improves;
    *draws = (hfi_draws){.row = row,
                         .beta = a->beta,
                         .count = p == 0 || linear ? 1
                                  : a->draws > 0   ? a->draws
                                                   : HFI_DRAWS};
    hf_status status = condition(ctx, a, d, draws);
    if (status < 0) return status;
    status = HFI_ALLOC(ctx, HFI_ROOMS(draws->e, draws->count, p), HFI_ROOM(draws->best, draws->count),
                       HFI_ROOMS(draws->w, p, 2));
    if (status < 0) return status;
    draws->q = draws->w + p;
    if (p > 0 && !linear) status = hfi_draw_normals(ctx, a->stream, p, draws->count, draws->e);
    if (status >= 0) find_best(a, draws);
    return status;
}

void hfi_draws_end(hf_context *ctx, hfi_draws *draws)
{
    hfi_given_end(ctx, &draws->given);
    HFI_FREE(ctx, draws->e, draws->best, draws->w);
    *draws = (hfi_draws){.count = 0};
}

double hfi_draws_sd(const hfi_draws *draws, double var, const double *w)
{
    return sqrt(fmax(var - hfi_dot(draws->given.p, w, w), 0.0));
}

/* Short products, many of them: a library's call would take longer than they do. */
static double product(size_t p, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < p; k++) sum += a[k] * b[k];
    return sum;
}

/* A mean of exponentials is kept as its logarithm: the largest one so far, and the sums in its units. */
typedef struct exponential_sums {
    double largest, value, mean, sd;
} exponential_sums;

static double weight_of(const hfi_acquisition_row *row, hfi_acquired at, double largest)
{
    return row->logarithm ? exp(at.value - largest) : 1.0;
}

hfi_acquired hfi_draws_mean(const hfi_draws *f, double mean, double sd, const double *w, double *q)
{
    const hfi_acquisition_row *row = f->row;
    const size_t p = f->given.p;
    exponential_sums sum = {.largest = -INFINITY};
    for (size_t k = 0; q != NULL && k < p; k++) q[k] = 0.0;
    for (size_t s = 0; s < f->count; s++) {
        const double *e = f->e + s * p;
        const hfi_acquired at = hfi_acquisition_at(row, mean + product(p, w, e), sd, f->best[s], f->beta);
        if (row->logarithm && at.value > sum.largest) {
            const double less = exp(sum.largest - at.value);
            sum = (exponential_sums){at.value, sum.value * less, sum.mean * less, sum.sd * less};
            for (size_t k = 0; q != NULL && k < p; k++) q[k] *= less;
        }
        const double weight = weight_of(row, at, sum.largest);
        sum.value += row->logarithm ? weight : at.value;
        sum.mean += weight * at.mean;
        sum.sd += weight * at.sd;
        for (size_t k = 0; q != NULL && k < p; k++) q[k] += weight * at.mean * e[k];
    }
    const double count = (double)f->count, all = row->logarithm ? sum.value : count;
    for (size_t k = 0; q != NULL && k < p; k++) q[k] /= all;
    return (hfi_acquired){.value = row->logarithm ? sum.largest + log(sum.value / count) : sum.value / count,
                          .mean = sum.mean / all,
                          .sd = sum.sd / all};
}
