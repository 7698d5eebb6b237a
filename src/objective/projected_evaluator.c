/* SPDX-License-Identifier: Apache-2.0 */
/* Life of an evaluator for block actions, and the entries as parameters. */
#include "objective/evaluator_impl.h"
#include "objective/projected_impl.h"

#include <string.h>

hf_status hfi_evaluator_init_projected(hf_context *ctx, hfi_evaluator *e, size_t rows, size_t d,
                                       const double *x, size_t ldx, hfi_block_actions *actions,
                                       bool train_actions, hfi_precision precision)
{
    memset(e, 0, sizeof *e);
    if (actions->n != rows)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the actions are over %zu readings, but there are %zu rows",
                        actions->n, rows);
    hfi_projected_evaluator *p = hfi_alloc(ctx, 1, sizeof *p);
    if (!p) return HF_ERR_MEMORY;
    const size_t count = actions->count;
    p->ctx = ctx;
    p->train_actions = train_actions;
    p->precision = precision;
    if (HFI_ALLOC(ctx, HFI_ROOMS(p->work, rows, HFI_PROJECTED_VECTORS),
                  HFI_ROOMS(p->squares, count, 3 * count), HFI_ROOMS(p->small, count, 4)) < 0) {
        HFI_FREE(ctx, p->work, p->squares, p->small, p);
        return HF_ERR_MEMORY;
    }
    p->actions = *actions;
    memset(actions, 0, sizeof *actions);
    *e = hfi_evaluator_bare(ctx, rows, d, x, ldx);
    e->kind = &hfi_projected_kind;
    e->projected = p;
    return HF_OK;
}

hf_status hfi_projected_start(hfi_evaluator *e, hf_action_start rule)
{
    hfi_projected_evaluator *p = e->projected;
    double *residual = hfi_projected_vector(p, HFI_PV_MEAN);
    hf_mean_evaluate(e->mean, e->rows, e->x, e->ldx, residual);
    for (size_t i = 0; i < e->rows; i++) residual[i] = hf_sites_targets(e->sites)[i] - residual[i];
    return hfi_block_actions_start(e->ctx, &p->actions, rule, e->kernel, e->x, e->ldx, residual,
                                   hf_sites_variances(e->sites));
}

static void renumber(hfi_evaluator *e, const size_t *order)
{
    hfi_projected_evaluator *p = e->projected;
    hfi_projected_rest(p);
    for (size_t k = 0; k < p->actions.n; k++) p->actions.order[k] = order[p->actions.order[k]];
}

const hfi_block_actions *hfi_projected_actions(const hfi_projected_evaluator *p)
{
    return &p->actions;
}

static hf_status projected_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    const bool leave_one_out = objective == HF_OBJECTIVE_LOO || objective == HF_OBJECTIVE_WLOO;
    if (leave_one_out && e->projected->train_actions)
        return hfi_refuse(e->ctx,
                          "the objective '%s' with trained actions overfits: its noise goes to zero; train "
                          "them by a bound, or leave them fixed",
                          hf_enum_name(HF_ENUM_OBJECTIVE, objective));
    return leave_one_out ? hfi_projected_leave_one_out(e, objective == HF_OBJECTIVE_WLOO, value, gradient)
                         : hfi_projected_bound(e, objective, value, gradient);
}

static double *extras(const hfi_evaluator *e, size_t *count)
{
    *count = e->projected->train_actions ? e->projected->actions.n : 0;
    return e->projected->actions.entry;
}

static size_t query_rows(const hfi_evaluator *e)
{
    return e->rows;
}

static void projected_release(hfi_evaluator *e)
{
    hfi_projected_evaluator *p = e->projected;
    hfi_projected_rest(p);
    hfi_block_actions_free(p->ctx, &p->actions);
    HFI_FREE(p->ctx, p->work, p->squares, p->small, p);
}

const hfi_evaluator_kind hfi_projected_kind = {.run = projected_run,
                                               .holdout = hfi_projected_residuals,
                                               .extras = extras,
                                               .start_actions = hfi_projected_start,
                                               .renumber = renumber,
                                               .query_rows = query_rows,
                                               .release = projected_release};
