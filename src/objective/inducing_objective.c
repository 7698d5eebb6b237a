/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of the inducing solver: factorise, add up what the readings say, differentiate. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include "objective/inducing_impl.h"
#include "objective/query.h"
#include <string.h>

hf_status hfi_evaluator_init_inducing(hf_context *ctx, hfi_evaluator *e, size_t rows, size_t d,
                                      const double *x, size_t ldx, hfi_inducing *inducing)
{
    memset(e, 0, sizeof *e);
    hfi_inducing *own = hfi_alloc(ctx, 1, sizeof *own);
    if (!own) return HF_ERR_MEMORY;
    *own = *inducing;
    memset(inducing, 0, sizeof *inducing);
    *e = hfi_evaluator_bare(ctx, rows, d, x, ldx);
    e->kind = &hfi_inducing_kind;
    e->inducing = own;
    return HF_OK;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool make_buffers(hfi_inducing_reverse *run)
{
    hf_context *ctx = run->e->ctx;
    const size_t m = run->e->inducing->m, jobs = HFI_INDUCING_ROWS / HFI_INDUCING_COLUMNS;
    size_t room;
    if (!hfi_size_mul(m * HFI_INDUCING_COLUMNS, (size_t)hf_context_threads(ctx), &room)) return false;
    run->alpha = hfi_alloc(ctx, m, 2 * sizeof *run->alpha);
    run->gamma = run->alpha ? run->alpha + m : NULL;
    run->vbar = hfi_alloc(ctx, run->chunk.capacity, m * sizeof *run->vbar);
    run->partial = hfi_alloc(ctx, jobs, m * sizeof *run->partial);
    run->sums = hfi_alloc(ctx, run->count + m * m, sizeof *run->sums);
    if (run->has_dense) run->room = hfi_alloc(ctx, room, sizeof *run->room);
    return run->alpha && run->vbar && run->partial && run->sums && (run->room || !run->has_dense);
}

hf_status hfi_inducing_reverse_init(hfi_evaluator *e, hf_objective objective, bool gradient,
                                    hfi_inducing_reverse *run)
{
    const hfi_inducing *u = e->inducing;
    *run = (hfi_inducing_reverse){.e = e, .objective = objective};
    run->penalty = objective == HF_OBJECTIVE_WEIGHTED || objective == HF_OBJECTIVE_RCAGP ? 1.0 : 0.0;
    run->has_dense = objective != HF_OBJECTIVE_EVIDENCE || e->query;
    run->count = hfi_evaluator_parameters(e) + (u->train_inputs ? u->m * u->d : 0);
    hf_status status = hfi_inducing_chunk_init(&run->chunk, u, e->kernel, e->mean, e->sites,
                                               hfi_parts_rows(e->ctx, e->rows), e->x, e->ldx, true);
    if (status >= 0) status = hfi_inducing_bars_init(e->ctx, run->chunk.capacity, &run->bars);
    if (status >= 0 && run->has_dense) {
        run->dense = hfi_alloc(e->ctx, u->m * u->m + u->m + 1, sizeof *run->dense);
        if (!run->dense) status = HF_ERR_MEMORY;
    }
    if (status >= 0 && gradient && !make_buffers(run)) status = HF_ERR_MEMORY;
    if (status < 0) hfi_inducing_reverse_free(run);
    return status;
}

void hfi_inducing_reverse_free(hfi_inducing_reverse *run)
{
    hf_context *ctx = run->e ? run->e->ctx : NULL;
    hfi_inducing_chunk_free(&run->chunk);
    HFI_FREE(ctx, run->bars.numbers, run->dense, run->alpha, run->vbar, run->partial, run->room, run->sums);
    memset(run, 0, sizeof *run);
}

/* ---- run ------------------------------------------------------------------------------------- */

/* The evidence is (|c|^2 - log det B) / 2 and what the readings have of their own. */
static void start_evidence(hfi_inducing_reverse *run)
{
    const hfi_inducing *u = run->e->inducing;
    for (size_t i = 0; i < u->m; i++) {
        run->alpha[i] = 0.5 * u->whitened[i];
        run->gamma[i] = u->whitened[i];
    }
    run->tau = -0.5;
}

static hf_status differentiate(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    hfi_inducing_reverse run;
    hf_status status =
        hfi_group_agree(e->ctx, hfi_inducing_reverse_init(e, objective, gradient != NULL, &run));
    double result = hfi_inducing_log_evidence(e->inducing);
    if (status >= 0 && objective != HF_OBJECTIVE_EVIDENCE)
        status = hfi_inducing_forward(&run, gradient != NULL, &result);
    else if (status >= 0 && gradient)
        start_evidence(&run);
    if (status >= 0 && e->query) status = hfi_inducing_query_forward(&run, gradient != NULL);
    if (status >= 0 && e->query) result += e->query->value;
    if (status >= 0 && gradient) status = hfi_inducing_backward(&run, gradient);
    hfi_inducing_reverse_free(&run);
    if (status >= 0) *value = result;
    return status;
}

hf_status hfi_inducing_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    hfi_inducing *u = e->inducing;
    const hf_status factored = hfi_inducing_factor(u, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    if (factored < 0) return factored;
    e->jitter = u->jitter;
    if (objective == HF_OBJECTIVE_EVIDENCE && !gradient && !e->query) {
        *value = hfi_inducing_log_evidence(u);
        return factored;
    }
    const hf_status status = differentiate(e, objective, value, gradient);
    return status < 0 ? status : factored;
}

/* ---- the kind ---------------------------------------------------------------------------------------------- */

static hf_status solve_inducing_evidence(hfi_evaluator *e, hfi_solution *out, double *log_evidence)
{
    hf_status s = hfi_inducing_factor(e->inducing, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    if (s >= 0) s = hfi_inducing_solution(e->inducing, out);
    if (s >= 0) *log_evidence = hfi_inducing_log_evidence(e->inducing);
    return s;
}

static double *extras(const hfi_evaluator *e, size_t *count)
{
    *count = e->inducing->train_inputs ? e->inducing->m * e->inducing->d : 0;
    return e->inducing->z;
}

static size_t query_rows(const hfi_evaluator *e)
{
    return e->inducing->m;
}

static void inducing_release(hfi_evaluator *e)
{
    hfi_inducing_free(e->inducing);
    hfi_free(e->ctx, e->inducing);
}

const hfi_evaluator_kind hfi_inducing_kind = {.absence = true,
                                              .coarse = true,
                                              .run = hfi_inducing_run,
                                              .holdout = hfi_inducing_holdout,
                                              .solve = solve_inducing_evidence,
                                              .outlook = hfi_inducing_outlook,
                                              .extras = extras,
                                              .query_rows = query_rows,
                                              .release = inducing_release};
