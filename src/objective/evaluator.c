/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluators answer by the functions of their kind. */
#include "objective/evaluator_impl.h"
#include <string.h>

hfi_evaluator hfi_evaluator_bare(hf_context *ctx, size_t rows, size_t d, const double *x, size_t ldx)
{
    return (hfi_evaluator){.ctx = ctx, .rows = rows, .d = d, .x = x, .ldx = ldx};
}

/* The context may be NULL, in a zeroed struct as in one made without a context. */
void hfi_evaluator_free(hfi_evaluator *e)
{
    HFI_FREE(e->ctx, e->row, e->inputs, e->a, e->b, e->c, e->vectors);
    if (e->kind && e->kind->release) e->kind->release(e);
    hfi_kept_free(e);
    memset(e, 0, sizeof *e);
}

hf_status hfi_evaluator_select(hfi_evaluator *e)
{
    e->n = hf_sites_present(e->sites);
    const hf_status s = e->kind->select ? e->kind->select(e) : HF_OK;
    return s < 0 || e->n > 0 ? s : hfi_fail(e->ctx, HF_ERR_NO_DATA, "no reading is left to fit");
}

hf_status hfi_evaluator_keep(hfi_evaluator *e)
{
    return e->kept || !e->kind->keep ? HF_OK : e->kind->keep(e);
}

static double *extras(const hfi_evaluator *e, size_t *count)
{
    *count = 0;
    return e->kind && e->kind->extras ? e->kind->extras(e, count) : NULL;
}

size_t hfi_evaluator_extras(const hfi_evaluator *e)
{
    size_t count;
    (void)extras(e, &count);
    return count;
}

void hfi_evaluator_get_extras(const hfi_evaluator *e, double *values)
{
    size_t count;
    const double *own = extras(e, &count);
    if (count > 0) memcpy(values, own, count * sizeof *values);
}

void hfi_evaluator_set_extras(hfi_evaluator *e, const double *values)
{
    size_t count;
    double *own = extras(e, &count);
    if (count > 0) memcpy(own, values, count * sizeof *values);
}

bool hfi_evaluator_knows_curvature(const hfi_evaluator *e, hf_objective objective)
{
    return e->kind && e->kind->matrix && !(e->kind->unfactored && objective == HF_OBJECTIVE_EVIDENCE);
}

hf_status hfi_evaluator_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    const bool left_out = objective == HF_OBJECTIVE_LOO || objective == HF_OBJECTIVE_WLOO;
    if (e->query && (left_out || !e->kind->query_rows))
        return hfi_refuse(
            e->ctx, "points beside the readings go with a bound of the inducing solver or of block actions");
    if (!left_out && objective != HF_OBJECTIVE_EVIDENCE && !e->kind->query_rows)
        return hfi_refuse(e->ctx,
                          "the objective '%s' is a bound for the inducing or the projected solver; the exact "
                          "one has the evidence",
                          hf_enum_name(HF_ENUM_OBJECTIVE, objective));
    return e->kind->run(e, objective, value, gradient);
}
