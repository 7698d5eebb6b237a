/* SPDX-License-Identifier: Apache-2.0 */
/* One exact evaluation by several processes, each of which holds its part of the matrices
 * (solver/exact_grid.h). The formulas are those of exact.c. */
#include "objective/evaluator_impl.h"

#include "linalg/linalg.h"
#include <string.h>

static double *vector(const hfi_evaluator *e, int which)
{
    return hfi_evaluator_vector(e, which);
}

hf_status hfi_group_evaluator_init(hfi_evaluator *e, bool leave_one_out)
{
    hfi_group_evaluator *g = e->group = hfi_alloc(e->ctx, 1, sizeof *e->group);
    hf_status s = hfi_group_agree(e->ctx, g ? HF_OK : HF_ERR_MEMORY);
    if (s >= 0) s = hfi_exact_grid_init(e->ctx, e->rows, e->d, &g->system);
    if (s < 0) return s;
    bool ok = (g->diagonal = hfi_alloc(e->ctx, e->rows, sizeof *g->diagonal)) != NULL;
    if (ok && leave_one_out) {
        g->b = hfi_alloc(e->ctx, g->system.part, sizeof *g->b);
        g->c = g->b ? hfi_alloc(e->ctx, g->system.part, sizeof *g->c) : NULL;
        ok = g->c != NULL;
    }
    return hfi_group_agree(e->ctx, ok ? HF_OK : HF_ERR_MEMORY);
}

static void group_release(hfi_evaluator *e)
{
    if (!e->group) return;
    hfi_exact_grid_free(&e->group->system);
    HFI_FREE(e->ctx, e->group->diagonal, e->group->b, e->group->c, e->group);
    e->group = NULL;
}

static hf_status group_factor(hfi_evaluator *e, double *log_det)
{
    hfi_exact_grid *system = &e->group->system;
    double *alpha = vector(e, HFI_EV_ALPHA);
    hfi_evaluator_residuals(e);
    const hf_status factored = hfi_exact_grid_factor(system, e->kernel, e->inputs, vector(e, HFI_EV_VARIANCE),
                                                     hfi_kernel_typical_variance(e->kernel), &e->jitter);
    if (factored < 0) return factored;
    memcpy(alpha, vector(e, HFI_EV_RESIDUAL), e->n * sizeof *alpha);
    hf_status s = hfi_grid_solve(&system->grid, system->a, alpha);
    if (s >= 0) s = hfi_exact_grid_log_det(system, log_det);
    return s < 0 ? s : factored;
}

typedef struct weigh_job {
    const hfi_evaluator *e;
    bool leave_one_out;
} weigh_job;

/* This process's rows of a vector, one column of W below them: W_ij d objective = sum_ij W_ij d(K + D)_ij, in
 * place of G (evidence) or of G diag(g_bar) G (leave-one-out). */
static void weigh_column(size_t c, int thread, void *arg)
{
    (void)thread;
    const weigh_job *job = arg;
    const hfi_evaluator *e = job->e;
    const hfi_grid *grid = &e->group->system.grid;
    const double *alpha = vector(e, HFI_EV_ALPHA), *p = vector(e, HFI_EV_PRODUCT);
    double *w = (job->leave_one_out ? e->group->c : e->group->system.a) + c * grid->rows;
    const size_t j = hfi_grid_column(grid, c);
    for (size_t r = hfi_grid_rows_above(grid, j); r < grid->rows; r++) {
        const size_t i = hfi_grid_row(grid, r);
        w[r] = job->leave_one_out ? -0.5 * (p[i] * alpha[j] + alpha[i] * p[j]) - w[r]
                                  : 0.5 * (alpha[i] * alpha[j] - w[r]);
    }
}

static hf_status invert(hfi_evaluator *e)
{
    return hfi_grid_inverse(&e->group->system.grid, e->group->system.a);
}

static hf_status diagonal(hfi_evaluator *e, const double **g, size_t *step)
{
    *g = e->group->diagonal;
    *step = 1;
    return hfi_grid_diagonal(&e->group->system.grid, e->group->system.a, e->group->diagonal);
}

/* collect() has left twice the weights of the evidence. */
static hf_status group_multiply(const hfi_evaluator *e, bool inverse, const double *v, double *out)
{
    const hf_status s = hfi_grid_symv(&e->group->system.grid, e->group->system.a, v, out);
    for (size_t i = 0; s >= 0 && !inverse && i < e->n; i++) out[i] *= 0.5;
    return s;
}

static hf_status square(hfi_evaluator *e)
{
    hfi_group_evaluator *g = e->group;
    return hfi_grid_weighted_square(&g->system.grid, g->system.a, vector(e, HFI_EV_G_BAR), g->c, g->b);
}

static hf_status collect(hfi_evaluator *e, bool leave_one_out, double *gradient)
{
    hfi_group_evaluator *g = e->group;
    double *w = leave_one_out ? g->c : g->system.a;
    weigh_job job = {e, leave_one_out};
    hfi_parallel_for(e->ctx, g->system.grid.columns, weigh_column, &job);
    memset(gradient, 0, hf_kernel_parameters(e->kernel) * sizeof *gradient);
    hf_status s = hfi_grid_diagonal(&g->system.grid, w, g->diagonal);
    if (s >= 0) s = hfi_exact_grid_adjoint(&g->system, e->kernel, e->inputs, w, g->diagonal, gradient);
    if (s < 0) return s;
    /* It left twice W below the diagonal; the same on it, for those who multiply with W later. */
    for (size_t c = 0; c < g->system.grid.columns; c++) {
        const size_t at = hfi_grid_diagonal_at(&g->system.grid, c);
        if (at != SIZE_MAX) w[at] = 2.0 * g->diagonal[hfi_grid_column(&g->system.grid, c)];
    }
    hfi_evaluator_collect(e, g->diagonal, 1, leave_one_out, gradient);
    return HF_OK;
}

static hf_status group_agree(const hfi_evaluator *e, hf_status status)
{
    return hfi_grid_agree(&e->group->system.grid, status);
}

static const hfi_exact_matrix shared = {.factor = group_factor,
                                        .invert = invert,
                                        .diagonal = diagonal,
                                        .multiply = group_multiply,
                                        .square = square,
                                        .collect = collect,
                                        .agree = group_agree};

static hf_status select(hfi_evaluator *e)
{
    const hf_status s = hfi_exact_select(e);
    return s < 0 || e->n == 0 ? s : hfi_exact_grid_select(&e->group->system, e->n, e->inputs);
}

const hfi_evaluator_kind hfi_group_kind = {.absence = true,
                                           .select = select,
                                           .run = hfi_exact_run,
                                           .holdout = hfi_group_holdout,
                                           .solve = hfi_exact_posterior,
                                           .outlook = hfi_exact_outlook,
                                           .matrix = &shared,
                                           .release = group_release};
