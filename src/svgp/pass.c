/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over rows: the bound's data term, and what natural gradients are made of. */
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

enum {
    CHUNK = 64 /* rows of one task */
};

/* ---- one piece of at most `capacity` rows ------------------------------------------------------------------- */

typedef struct piece {
    hfi_svgp *q;
    size_t count;
    const double *x, *y, *extra, *centre;
    bool natural, gradient;
    double *prior, *white, *offset, *linear; /* rows of q->row */
} piece;

/* Adjoint of a: mu g + 2 h (S - I) a. On entry t holds Lp^-1 a. */
static void solve_transposed(const piece *p, size_t begin, size_t count)
{
    const hfi_svgp *q = p->q;
    const size_t m = q->m;
    double *t = q->t + begin * m;
    const double *a = q->a + begin * m;
    hfi_chol_backward_block(m, count, q->lp, m, t, m);
    for (size_t i = 0; i < count; i++) {
        const double g = q->term[begin + i].mean, h = 2.0 * q->term[begin + i].variance;
        for (size_t j = 0; j < m; j++) t[j + i * m] = q->mu[j] * g + h * (t[j + i * m] - a[j + i * m]);
    }
}

static void evaluate_piece_chunk(size_t task, int thread, void *arg)
{
    const piece *p = arg;
    hfi_svgp *q = p->q;
    const size_t m = q->m, begin = task * CHUNK, count = hfi_smaller(CHUNK, p->count - begin);
    double *a = q->a + begin * m, *t = q->t + begin * m, *w = q->w + begin * m;
    hfi_kernel_cross_block(q->kernel, count, p->x + begin * q->d, q->d, m, q->z, q->d, a, m,
                           q->scratch + (size_t)thread * q->scratch_each);
    hfi_chol_forward_block(m, count, q->lu, m, a, m);
    memcpy(t, a, count * m * sizeof *a);
    hfi_chol_forward_block(m, count, q->lp, m, t, m);
    for (size_t i = 0; i < count; i++) {
        const size_t r = begin + i;
        const double *ai = a + i * m, *ti = t + i * m, moved = hfi_dot(m, ai, q->mu);
        const double mean = p->offset[r] + moved;
        const double variance = fmax(p->prior[r] - hfi_dot(m, ai, ai), 0.0) + hfi_dot(m, ti, ti);
        const hfi_svgp_term e = hfi_svgp_expected(&q->noise, p->y[r], p->extra[r], p->white[r], mean,
                                                  variance, p->centre ? p->centre[r] : mean);
        q->term[r] = e;
        p->linear[r] = e.mean - 2.0 * e.variance * moved;
        for (size_t j = 0; p->natural && j < m; j++) w[j + i * m] = -2.0 * e.variance * ai[j];
    }
    if (p->gradient) solve_transposed(p, begin, count);
}

/* Prior means and variances of the rows; white[i] is what white noise adds. */
static void prepare_piece(piece *p)
{
    hfi_svgp *q = p->q;
    p->prior = q->row;
    p->white = q->row + q->capacity;
    p->offset = q->row + 2 * q->capacity;
    p->linear = q->row + 3 * q->capacity;
    hfi_kernel_diagonal(q->kernel, p->count, p->x, q->d, false, p->prior);
    hfi_kernel_diagonal(q->kernel, p->count, p->x, q->d, true, p->white);
    for (size_t i = 0; i < p->count; i++) p->white[i] = fmax(p->white[i] - p->prior[i], 0.0);
    hf_mean_evaluate(q->mean, p->count, p->x, q->d, p->offset);
}

static hf_status add_piece(piece *p, hfi_svgp_sums *sums)
{
    hfi_svgp *q = p->q;
    const size_t m = q->m;
    prepare_piece(p);
    hfi_parallel_for(q->ctx, (p->count + CHUNK - 1) / CHUNK, evaluate_piece_chunk, p);
    for (size_t i = 0; i < p->count; i++) {
        const hfi_svgp_term *e = &q->term[i];
        sums->value += e->value;
        sums->readings += isnan(p->y[i]) ? 0 : 1;
        sums->far += e->far ? 1 : 0;
    }
    if (!isfinite(sums->value))
        return hfi_fail(q->ctx, HF_ERR_NOT_FINITE, "the bound is not finite for the rows of this batch");
    if (p->natural) {
        hfi_lower_product(q->ctx, m, p->count, q->w, m, q->a, m, sums->square, m);
        hfi_gemv(m, p->count, 1.0, q->a, m, p->linear, 1.0, sums->linear);
    }
    return p->gradient ? hfi_svgp_add_gradient(q, p->count, p->x, sums) : HF_OK;
}

/* ---- many rows --------------------------------------------------------------------------------------------- */

hf_status hfi_svgp_add(hfi_svgp *q, size_t count, const double *x, const double *y, const double *extra,
                       const double *centre, hfi_svgp_sums *sums)
{
    hf_status s = HF_OK;
    for (size_t begin = 0; s >= 0 && begin < count; begin += q->capacity) {
        piece p = {.q = q,
                   .count = hfi_smaller(q->capacity, count - begin),
                   .x = x + begin * q->d,
                   .y = y + begin,
                   .extra = extra + begin,
                   .centre = centre ? centre + begin : NULL,
                   .natural = sums->square != NULL,
                   .gradient = sums->gradient != NULL};
        s = add_piece(&p, sums);
    }
    return s;
}

hf_status hfi_svgp_add_all(hfi_svgp *q, const hfi_row_source *rows, hfi_svgp_sums *sums)
{
    hf_status s = HF_OK;
    for (size_t begin = 0; s >= 0 && begin < rows->n; begin += q->capacity) {
        const size_t count = hfi_smaller(q->capacity, rows->n - begin);
        s = rows->read(rows->arg, begin, count, q->x, q->y, q->extra);
        if (s >= 0) s = hfi_svgp_add(q, count, q->x, q->y, q->extra, NULL, sums);
        if (s >= 0 && !hfi_progress(q->ctx, "solve", (double)begin / (double)rows->n, NAN))
            return hfi_cancelled(q->ctx);
    }
    return s;
}

/* ---- means only -------------------------------------------------------------------------------------------- */

typedef struct mean_job {
    hfi_svgp *q;
    size_t count;
    const double *x, *weight;
    double *mean;
} mean_job;

static void mean_chunk(size_t task, int thread, void *arg)
{
    const mean_job *job = arg;
    hfi_svgp *q = job->q;
    const size_t m = q->m, begin = task * CHUNK, count = hfi_smaller(CHUNK, job->count - begin);
    double *k = q->a + begin * m;
    hfi_kernel_cross_block(q->kernel, count, job->x + begin * q->d, q->d, m, q->z, q->d, k, m,
                           q->scratch + (size_t)thread * q->scratch_each);
    for (size_t i = 0; i < count; i++) job->mean[begin + i] += hfi_dot(m, k + i * m, job->weight);
}

hf_status hfi_svgp_means(hfi_svgp *q, size_t count, const double *x, double *mean)
{
    double *weight = q->spare;
    memcpy(weight, q->mu, q->m * sizeof *weight);
    hfi_chol_backward(q->m, q->lu, q->m, weight);
    for (size_t begin = 0; begin < count; begin += q->capacity) {
        mean_job job = {.q = q,
                        .count = hfi_smaller(q->capacity, count - begin),
                        .x = x + begin * q->d,
                        .weight = weight,
                        .mean = mean + begin};
        hf_mean_evaluate(q->mean, job.count, job.x, q->d, job.mean);
        hfi_parallel_for(q->ctx, (job.count + CHUNK - 1) / CHUNK, mean_chunk, &job);
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(mean[i]))
            return hfi_fail(q->ctx, HF_ERR_NOT_FINITE, "the posterior mean of row %zu is not finite", i + 1);
    return HF_OK;
}
