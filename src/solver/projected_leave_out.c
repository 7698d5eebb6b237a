/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leave-one-out of a projected solution, all anchors at once. For blocks as in projected_system.h; for a
 * dense R, which is A in coordinates with G = I, leaving out reading j zeroes row a of R. With b its row of K
 * R, u = R'r, and
 *
 *     alpha = a'a      H = b'b - (a'b)^2 / alpha           tau = k - H
 *                      M = b'u - (a'b)(a'u) / alpha
 *     kappa = a'b / alpha - tau                            omega = a'u / alpha - (r - M)
 *     sigma = 1 / alpha - D - 2 a'b / alpha + tau
 *
 * mean and variance are again M + kappa omega / sigma and tau - kappa^2 / sigma: the directions of the projection
 * orthogonal to a stay, the one along it is seen without the reading.
 */
#include "solver/projected_system.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* The actions of a solution, sorted by block, readings within a block in their order. */
static hf_status recover_actions(hf_context *ctx, const hfi_solution *s, hfi_block_actions *out)
{
    hfi_block_actions a = {.n = s->n, .count = s->rank};
    memset(out, 0, sizeof *out);
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(a.order, s->n), HFI_ROOM(a.first, s->rank + 1), HFI_ROOM(a.entry, s->n));
    if (status < 0) {
        hfi_block_actions_free(ctx, &a);
        return HF_ERR_MEMORY;
    }
    for (size_t b = 0; b <= s->rank; b++) a.first[b] = 0;
    for (size_t l = 0; l < s->n; l++) a.first[s->block[l] + 1]++;
    for (size_t b = 0; b < s->rank; b++) a.first[b + 1] += a.first[b];
    /* Each block's beginning moves to its end while it is filled, which is the next one's beginning. */
    for (size_t l = 0; l < s->n; l++) {
        const size_t place = a.first[s->block[l]]++;
        a.order[place] = l;
        a.entry[place] = s->entry[l];
    }
    memmove(a.first + 1, a.first, s->rank * sizeof *a.first);
    a.first[0] = 0;
    *out = a;
    return HF_OK;
}

static hf_status leave_out_of_blocks(hf_context *ctx, hfi_block_system *s, double *mean, double *variance)
{
    const size_t n = s->count;
    double *inverse = hfi_alloc(ctx, n, (n + 4) * sizeof *inverse);
    double *places = hfi_alloc(ctx, s->n, 4 * sizeof *places);
    if (inverse && places) {
        double *small = inverse + n * n, *square = places + 2 * s->n, *weighted = places + 3 * s->n;
        hfi_block_rest rest = {.precision = small,
                               .latent = small + n,
                               .weight = small + 2 * n,
                               .shift = small + 3 * n,
                               .noise = places,
                               .target = places + s->n};
        hfi_block_system_rows(s, weighted, square);
        hfi_block_system_inverse_rows(s);
        hfi_block_rest_prepare(s, inverse, &rest);
        for (size_t b = 0; b < n; b++)
            for (size_t l = s->actions->first[b]; l < s->actions->first[b + 1]; l++) {
                const hfi_block_cavity c =
                    hfi_block_cavity_at(s, &rest, b, l, square[l], s->b[l + b * s->n], weighted[l]);
                mean[s->row[l]] = c.mean;
                variance[s->row[l]] = c.variance;
            }
    }
    const bool ok = inverse && places;
    HFI_FREE(ctx, inverse, places);
    return ok ? HF_OK : HF_ERR_MEMORY;
}

static hf_status block_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, double *mean,
                                double *variance)
{
    hfi_block_actions actions;
    hfi_block_system system = {0};
    hf_status status = recover_actions(ctx, s, &actions);
    if (status < 0) return status;
    status = hfi_block_system_init(ctx, &actions, NULL, s->d, s->z, s->d, &system);
    if (status >= 0) {
        for (size_t l = 0; l < s->n; l++) {
            system.r[l] = s->residual[system.row[l]];
            system.noise[l] = s->variance[system.row[l]];
        }
        status = hfi_block_system_project(&system, kernel, HFI_DOUBLE);
    }
    if (status >= 0) status = hfi_worse(leave_out_of_blocks(ctx, &system, mean, variance), status);
    hfi_block_system_free(&system);
    hfi_block_actions_free(ctx, &actions);
    return status;
}

/* ---- dense ------------------------------------------------------------------------------------------------ */

typedef struct dense_job {
    const hfi_solution *solution;
    const double *b, *u, *prior, *white;
    double *sums; /* 5 x n: a'a, a'b, b'b, a'u, b'u */
    double *mean, *variance;
} dense_job;

enum {
    ROWS = 256
};

/* Below this, a reading's row of R is zero and leaving it out changes nothing. */
static const double NOTHING = 1e-200;

static void finish_row(const dense_job *job, size_t i)
{
    const hfi_solution *s = job->solution;
    const double *sum = job->sums + i, r = s->residual[i], noise = s->variance[i] + job->white[i];
    const size_t n = s->n;
    const double alpha = sum[0], bb = sum[2 * n];
    double mean = sum[4 * n], variance = job->prior[i] - bb;
    if (alpha > NOTHING) {
        const double along = sum[n] / alpha, weight = sum[3 * n] / alpha;
        const double tau = variance + along * sum[n], rest = mean - along * sum[3 * n];
        const double sigma = 1.0 / alpha - noise - 2.0 * along + tau;
        mean = rest;
        variance = tau;
        /* Nothing but rounding is left of an action that was this reading's own. */
        if (sigma > 1e-12 / alpha) {
            const double kappa = along - tau;
            mean += kappa * (weight - (r - rest)) / sigma;
            variance -= kappa * kappa / sigma;
        }
    }
    job->mean[i] = mean;
    job->variance[i] = fmax(variance, 0.0) + job->white[i];
}

static void leave_out_rows(size_t task, int thread, void *arg)
{
    (void)thread;
    const dense_job *job = arg;
    const hfi_solution *s = job->solution;
    const size_t n = s->n, begin = task * ROWS, end = begin + ROWS < n ? begin + ROWS : n;
    for (size_t k = 0; k < 5; k++)
        for (size_t i = begin; i < end; i++) job->sums[k * n + i] = 0.0;
    for (size_t c = 0; c < s->rank; c++) {
        const double *a = s->r + c * n, *b = job->b + c * n, u = job->u[c];
        for (size_t i = begin; i < end; i++) {
            job->sums[i] += a[i] * a[i];
            job->sums[n + i] += a[i] * b[i];
            job->sums[2 * n + i] += b[i] * b[i];
            job->sums[3 * n + i] += a[i] * u;
            job->sums[4 * n + i] += b[i] * u;
        }
    }
    for (size_t i = begin; i < end; i++) finish_row(job, i);
}

static hf_status dense_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, double *mean,
                                double *variance)
{
    double *b = hfi_alloc(ctx, s->n, s->rank * sizeof *b), *work = hfi_alloc(ctx, s->n, 7 * sizeof *work);
    double *u = hfi_alloc(ctx, s->rank, sizeof *u);
    hf_status status = hfi_group_agree(ctx, b && work && u ? HF_OK : HF_ERR_MEMORY);
    if (status >= 0)
        status =
            hfi_kernel_dense_product(ctx, kernel, s->n, s->z, s->d, s->rank, s->r, s->n, HFI_DOUBLE, b, s->n);
    if (status >= 0)
        status = hfi_tall_inner(ctx, s->n, s->rank, s->r, s->n, 1, s->residual, s->n, u, s->rank);
    if (status >= 0) {
        double *prior = work + 5 * s->n, *white = prior + s->n;
        hfi_kernel_diagonal(kernel, s->n, s->z, s->d, false, prior);
        hfi_kernel_diagonal(kernel, s->n, s->z, s->d, true, white);
        for (size_t i = 0; i < s->n; i++) white[i] = fmax(white[i] - prior[i], 0.0);
        dense_job job = {.solution = s,
                         .b = b,
                         .u = u,
                         .prior = prior,
                         .white = white,
                         .sums = work,
                         .mean = mean,
                         .variance = variance};
        hfi_parallel_for(ctx, (s->n + ROWS - 1) / ROWS, leave_out_rows, &job);
    }
    HFI_FREE(ctx, b, work, u);
    return status;
}

hf_status hfi_projected_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                                 double *mean, double *variance)
{
    return s->form == HFI_FORM_BLOCKS ? block_cavities(ctx, kernel, s, mean, variance)
                                      : dense_cavities(ctx, kernel, s, mean, variance);
}
