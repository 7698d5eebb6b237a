/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of every reading by a model that does not use it. */
#include "objective/holdout.h"
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
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

/* ---- from a solution whose anchors are the present readings ---------------------------------------------- */

enum {
    BLOCK = 64 /* absent readings predicted together */
};

/* Readings that a solution does not know, a block at a time. */
typedef struct absentees {
    const hfi_evaluator *e;
    const hfi_solution *solution;
    size_t count;
    const size_t *row;
    double *arena; /* per thread */
    size_t arena_size;
    hfi_holdout *out;
} absentees;

static void predict_absent(size_t task, int thread, void *arg)
{
    const absentees *a = arg;
    const hfi_evaluator *e = a->e;
    const hfi_solution *s = a->solution;
    const size_t begin = task * BLOCK, count = a->count - begin < BLOCK ? a->count - begin : BLOCK;
    double *x = a->arena + (size_t)thread * a->arena_size, *k = x + BLOCK * e->d, *prior = k + BLOCK * s->n;
    double *offset = prior + BLOCK, *room = offset + BLOCK, *scratch = room + hfi_solution_room(s, BLOCK);
    for (size_t q = 0; q < count; q++)
        memcpy(x + q * e->d, e->x + a->row[begin + q] * e->ldx, e->d * sizeof *x);
    hfi_kernel_cross_block(e->kernel, count, x, e->d, s->n, s->z, s->d, k, s->n, scratch);
    hfi_kernel_diagonal(e->kernel, count, x, e->d, false, prior);
    hf_mean_evaluate(e->mean, count, x, e->d, offset);
    for (size_t q = 0; q < count; q++) offset[q] += hfi_dot(s->n, k + q * s->n, s->t);
    size_t ld, rank = hfi_solution_rank(s);
    const double *whitened = hfi_solution_whiten(s, count, k, s->n, room, &ld);
    for (size_t q = 0; q < count; q++) {
        const size_t row = a->row[begin + q];
        const double *w = whitened + q * ld;
        a->out->mean[row] = offset[q];
        a->out->sd[row] = fmax(prior[q] - hfi_dot(rank, w, w), 0.0);
    }
}

static hf_status fill_absent(hfi_evaluator *e, const hfi_solution *solution, hfi_holdout *r)
{
    const size_t missing = e->rows - hf_sites_present(e->sites);
    if (missing == 0) return HF_OK;
    const size_t blocks = (missing + BLOCK - 1) / BLOCK, threads = (size_t)hf_context_threads(e->ctx);
    absentees a = {.e = e, .solution = solution, .out = r};
    a.arena_size =
        BLOCK * (e->d + solution->n + 2) + hfi_solution_room(solution, BLOCK) + hfi_kernel_scratch(e->kernel);
    size_t *row = hfi_alloc(e->ctx, missing, sizeof *row);
    a.arena = hfi_alloc_unset(e->ctx, threads < blocks ? threads : blocks, a.arena_size * sizeof *a.arena);
    const bool ready = row && a.arena;
    for (size_t i = 0; ready && i < e->rows; i++)
        if (!hf_sites_is_present(e->sites, i)) row[a.count++] = i;
    a.row = row;
    if (ready) hfi_parallel_for(e->ctx, blocks, predict_absent, &a);
    HFI_FREE(e->ctx, row, a.arena);
    return ready ? HF_OK : HF_ERR_MEMORY;
}

/* A solution, and what there is beside it. */
typedef struct holdout_source {
    const hfi_solution *solution;
    hfi_solution *spent;    /* the solution if it is not needed any more, else NULL */
    const double *diagonal; /* of (K + D)^-1; NULL: not known */
} holdout_source;

static hf_status find_cavities(hfi_evaluator *e, const holdout_source *from, double *mean, double *variance)
{
    if (from->solution->form != HFI_FORM_EXACT)
        return hfi_projected_cavities(e->ctx, e->kernel, from->solution, mean, variance);
    if (from->diagonal)
        return hfi_known_cavities(e->ctx, e->kernel, from->solution, from->diagonal, mean, variance);
    return from->spent ? hfi_last_cavities(e->ctx, e->kernel, from->spent, mean, variance)
                       : hfi_solution_cavities(e->ctx, e->kernel, from->solution, mean, variance);
}

/* Leave-one-out of the anchors, scattered to their rows; the variance goes to `sd` for now. */
static hf_status fill_present(hfi_evaluator *e, const holdout_source *from, hfi_holdout *r)
{
    const hfi_solution *solution = from->solution;
    double *loo = hfi_alloc(e->ctx, solution->n, 3 * sizeof *loo);
    if (!loo) return HF_ERR_MEMORY;
    double *variance = loo + solution->n, *offset = variance + solution->n;
    const hf_status s = find_cavities(e, from, loo, variance);
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

/* From latent means and variances (in `sd`) to standardised residuals of the readings, or of absent ones alone. */
static void standardise(const hfi_evaluator *e, bool absent, hfi_holdout *r)
{
    const double *y = hf_sites_readings(e->sites);
    for (size_t i = 0; i < e->rows; i++) {
        if (absent && hf_sites_is_present(e->sites, i)) continue;
        const double noise = hfi_sites_noise(e->sites, i);
        r->sd[i] = sqrt(fmax(r->sd[i], 0.0) + fmax(noise, 1e-300));
        r->t[i] = (y[i] - r->mean[i]) / r->sd[i];
    }
}

static hf_status fill_holdout(hfi_evaluator *e, const holdout_source *from, bool absent, hfi_holdout *r)
{
    hf_status s = fill_absent(e, from->solution, r);
    if (s >= 0 && !absent && hf_sites_present(e->sites) > 0) s = fill_present(e, from, r);
    if (s >= 0) standardise(e, absent, r);
    return s;
}

hf_status hfi_holdout_from_solution(hfi_evaluator *e, const hfi_solution *solution, hfi_holdout *r)
{
    return fill_holdout(e, &(holdout_source){.solution = solution}, false, r);
}

/* ---- from an evaluator ------------------------------------------------------------------------------------ */

static bool is_finite(size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* In the evaluator's own matrix, or from what was kept of the last evaluation. */
hf_status hfi_exact_holdout(hfi_evaluator *e, bool absent, hfi_holdout *r)
{
    hf_status s = hfi_evaluator_select(e);
    if (s < 0) return s;
    const bool known = hfi_kept_knows(e);
    if (!known) s = hfi_evaluator_factor(e);
    if (s < 0) return s;
    hfi_solution solution = {.form = HFI_FORM_EXACT,
                             .solver = HF_SOLVER_EXACT,
                             .n = e->n,
                             .d = e->d,
                             .capacity = e->n,
                             .z = e->inputs,
                             .residual = hfi_evaluator_vector(e, HFI_EV_RESIDUAL),
                             .variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE),
                             .t = known ? e->kept->alpha : hfi_evaluator_vector(e, HFI_EV_ALPHA),
                             .factor = known ? e->kept->factor : e->a,
                             .jitter = known ? e->kept->jitter : e->jitter};
    if (!is_finite(e->n, solution.t))
        return hfi_fail(e->ctx, HF_ERR_NOT_FINITE,
                        "the weight of a reading overflows; scale the targets or give more noise");
    solution.log_det = hfi_chol_logdet(e->n, solution.factor, e->n);
    r->log_evidence = hfi_solution_log_evidence(&solution);
    const holdout_source from = {.solution = &solution,
                                 .spent = known ? NULL : &solution,
                                 .diagonal = known ? e->kept->diagonal : NULL};
    const hf_status filled = fill_holdout(e, &from, absent, r);
    return filled < 0 ? filled : s;
}

/* Where several processes hold the evaluator's matrix together. */
hf_status hfi_group_holdout(hfi_evaluator *e, bool absent, hfi_holdout *r)
{
    (void)absent;
    hfi_solution solution;
    const hf_status s = hfi_exact_solve(e->ctx, e->kernel, e->mean, e->sites, e->d, e->x, e->ldx, &solution);
    if (s < 0) return s;
    const hf_status filled = hfi_holdout_from_solution(e, &solution, r);
    r->log_evidence = hfi_solution_log_evidence(&solution);
    hfi_solution_free(&solution);
    return filled < 0 ? filled : s;
}

hf_status hfi_inducing_holdout(hfi_evaluator *e, bool absent, hfi_holdout *r)
{
    (void)absent;
    const hf_status s = hfi_inducing_factor(e->inducing, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    if (s < 0) return s;
    r->log_evidence = hfi_inducing_log_evidence(e->inducing);
    const hf_status filled = hfi_inducing_marginals(e->inducing, e->kernel, e->mean, e->sites, e->rows, e->x,
                                                    e->ldx, true, r->mean, r->sd);
    if (filled < 0) return filled;
    standardise(e, false, r);
    return s;
}

hf_status hfi_projected_residuals(hfi_evaluator *e, bool absent, hfi_holdout *r)
{
    (void)absent;
    hf_status s = hfi_evaluator_run(e, HF_OBJECTIVE_EVIDENCE, &r->log_evidence, NULL);
    if (s < 0) return s;
    const hf_status filled = hfi_projected_holdout(e, r->mean, r->sd);
    if (filled < 0) return filled;
    standardise(e, false, r);
    return s;
}

hf_status hfi_holdout_compute(hfi_evaluator *e, hfi_holdout *r)
{
    return e->kind->holdout(e, false, r);
}

hf_status hfi_holdout_absent(hfi_evaluator *e, hfi_holdout *r)
{
    return e->kind->holdout(e, true, r);
}
