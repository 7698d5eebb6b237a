/* SPDX-License-Identifier: Apache-2.0 */
/* What a model says about every reading without using it. */
#include "train/train.h"
#include <math.h>
#include <string.h>

hf_status hfi_holdout_init(hf_context *ctx, hfi_holdout *r, size_t rows)
{
    memset(r, 0, sizeof *r);
    r->mean = hfi_alloc(ctx, rows, 3 * sizeof *r->mean);
    if (!r->mean) return HF_ERR_MEMORY;
    r->sd = r->mean + rows;
    r->t = r->sd + rows;
    return HF_OK;
}

void hfi_holdout_free(hf_context *ctx, hfi_holdout *r)
{
    hfi_free(ctx, r->mean);
    memset(r, 0, sizeof *r);
}

/* Predicts one absent reading from the anchors; `k` has n entries. */
static void predict_absent(const hfi_evaluator *e, const hfi_solution *solution, size_t row, double *k,
                           double *scratch, double *mean, double *variance)
{
    const double *x = e->x + row * e->ldx;
    double prior = 0.0, offset = 0.0, shift = 0.0;
    hfi_kernel_cross_block(e->kernel, 1, x, e->ldx, solution->n, solution->z, solution->d, k, solution->n,
                           scratch);
    hfi_kernel_diagonal(e->kernel, 1, x, e->ldx, false, &prior);
    hf_mean_evaluate(e->mean, 1, x, e->ldx, &offset);
    for (size_t j = 0; j < solution->n; j++) shift += k[j] * solution->t[j];
    size_t ld;
    k = hfi_solution_whiten(solution, 1, k, solution->n, NULL, &ld);
    for (size_t j = 0; j < solution->n; j++) prior -= k[j] * k[j];
    *mean = offset + shift;
    *variance = fmax(prior, 0.0);
}

static hf_status fill_absent(hfi_evaluator *e, const hfi_solution *solution, hfi_holdout *r)
{
    double *k = hfi_alloc(e->ctx, solution->n, sizeof *k);
    double *scratch = hfi_alloc(e->ctx, hfi_kernel_scratch(e->kernel), sizeof *scratch);
    hf_status s = k && scratch ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; s == HF_OK && i < e->rows; i++)
        if (!hf_sites_is_present(e->sites, i))
            predict_absent(e, solution, i, k, scratch, &r->mean[i], &r->sd[i]);
    hfi_free(e->ctx, k);
    hfi_free(e->ctx, scratch);
    return s;
}

/* Leave-one-out of the anchors, scattered to their rows; the variance goes to `sd` for now. */
static hf_status fill_present(hfi_evaluator *e, const hfi_solution *solution, hfi_holdout *r)
{
    double *loo = hfi_alloc(e->ctx, solution->n, 3 * sizeof *loo);
    if (!loo) return HF_ERR_MEMORY;
    double *variance = loo + solution->n, *offset = variance + solution->n;
    const hf_status s = hfi_solution_cavities(e->ctx, e->kernel, solution, loo, variance);
    hf_mean_evaluate(e->mean, solution->n, solution->z, solution->d, offset);
    size_t a = 0;
    for (size_t i = 0; s >= 0 && i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        r->mean[i] = loo[a] + offset[a];
        r->sd[i] = variance[a];
        a++;
    }
    hfi_free(e->ctx, loo);
    return s;
}

hf_status hfi_holdout_compute(hfi_evaluator *e, hfi_holdout *r)
{
    hfi_solution solution;
    hf_status s = hfi_exact_solve(e->ctx, e->kernel, e->mean, e->sites, e->d, e->x, e->ldx, &solution);
    if (s < 0) return s;
    hf_status filled = fill_present(e, &solution, r);
    if (filled >= 0) filled = fill_absent(e, &solution, r);
    r->log_evidence = hfi_solution_log_evidence(&solution);
    hfi_solution_free(&solution);
    if (filled < 0) return filled;
    const double *y = hf_sites_readings(e->sites);
    for (size_t i = 0; i < e->rows; i++) {
        const double noise = e->sites->noise + e->sites->extra[i];
        r->sd[i] = sqrt(fmax(r->sd[i], 0.0) + fmax(noise, 1e-300));
        r->t[i] = (y[i] - r->mean[i]) / r->sd[i];
    }
    return s;
}
