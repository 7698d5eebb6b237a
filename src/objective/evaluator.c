/* SPDX-License-Identifier: Apache-2.0 */
/* Life of evaluators, and what is asked of them whatever their kind is. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

double hfi_evaluator_bytes(size_t rows, size_t d, bool leave_one_out)
{
    const double n = (double)rows;
    return 8.0 * ((leave_one_out ? 3.0 : 1.0) * n * n + n * ((double)d + HFI_EV_COUNT + 1.0));
}

static hf_status refuse_bytes(hf_context *ctx, size_t rows, double bytes)
{
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(
        ctx, HF_ERR_TOO_LARGE,
        "an exact fit of %zu readings needs %.3g GB of memory, %.3g GB are available; use fewer rows", rows,
        bytes / 1e9, (double)available / 1e9);
}

/* Allocates the arrays that an evaluator has whoever holds its matrices. */
static bool allocate_rows(hf_context *ctx, hfi_evaluator *e, size_t rows, size_t d, const double *x,
                          size_t ldx)
{
    *e = hfi_evaluator_bare(ctx, rows, d, x, ldx);
    return HFI_ALLOC(ctx, HFI_ROOM(e->row, rows), HFI_ROOMS(e->inputs, rows, d),
                     HFI_ROOMS(e->vectors, rows, HFI_EV_COUNT)) == HF_OK;
}

hf_status hfi_evaluator_init(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows, size_t d,
                             const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const hf_status refused = refuse_bytes(ctx, rows, hfi_evaluator_bytes(rows, d, leave_one_out));
    if (refused < 0) return refused;
    size_t square;
    if (!hfi_size_mul(rows, rows, &square)) return hfi_out_of_memory(ctx);
    bool ok = allocate_rows(ctx, e, rows, d, x, ldx);
    e->kind = &hfi_exact_evaluator;
    if (ok) ok = (e->a = hfi_alloc(ctx, square, sizeof *e->a)) != NULL;
    if (ok && leave_one_out) ok = HFI_ALLOC(ctx, HFI_ROOM(e->b, square), HFI_ROOM(e->c, square)) == HF_OK;
    if (ok) return HF_OK;
    hfi_evaluator_free(e);
    return HF_ERR_MEMORY;
}

hf_status hfi_evaluator_init_group(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows,
                                   size_t d, const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const double parts = leave_one_out ? 3.0 : 1.0;
    hf_status s = refuse_bytes(ctx, rows, parts * hfi_exact_grid_part_bytes(ctx, rows));
    if (s >= 0 && !allocate_rows(ctx, e, rows, d, x, ldx)) s = HF_ERR_MEMORY;
    e->kind = &hfi_group_kind;
    s = hfi_group_agree(ctx, s);
    if (s >= 0) s = hfi_group_evaluator_init(e, leave_one_out);
    if (s < 0) hfi_evaluator_free(e);
    return s;
}

/* The context may be NULL, in a zeroed struct as in one made without a context. */
void hfi_evaluator_free(hfi_evaluator *e)
{
    HFI_FREE(e->ctx, e->row, e->inputs, e->a, e->b, e->c, e->vectors);
    if (e->kind && e->kind->release) e->kind->release(e);
    hfi_kept_free(e);
    memset(e, 0, sizeof *e);
}

hfi_evaluator hfi_evaluator_bare(hf_context *ctx, size_t rows, size_t d, const double *x, size_t ldx)
{
    return (hfi_evaluator){.ctx = ctx, .rows = rows, .d = d, .x = x, .ldx = ldx};
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

static hf_status check_objective(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                 const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx)
{
    const size_t d = hf_kernel_dimension(kernel);
    if ((unsigned)objective > HF_OBJECTIVE_WLOO)
        return hfi_refuse(ctx, "hf_objective_evaluate: there is no objective %d", (int)objective);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu is less than the %zu inputs of the kernel",
                        ldx, d);
    if (hf_mean_get_kind(mean) == HF_MEAN_LINEAR && hf_mean_coefficients(mean) != d + 1)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the linear mean has %zu inputs, but the kernel has %zu",
                        hf_mean_coefficients(mean) - 1, d);
    for (size_t i = 0; i < hf_sites_count(sites); i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
    return HF_OK;
}

hf_status hf_objective_evaluate(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx,
                                double *value, double *gradient)
{
    if (!kernel || !mean || !sites || !x || !value)
        return hfi_refuse(ctx, "hf_objective_evaluate: kernel, mean, sites, x and value are required");
    hf_status s = check_objective(ctx, objective, kernel, mean, sites, x, ldx);
    if (s < 0) return s;
    hfi_evaluator e;
    const bool leave_one_out = gradient && objective != HF_OBJECTIVE_EVIDENCE;
    const size_t rows = hf_sites_count(sites), d = hf_kernel_dimension(kernel);
    s = hfi_grid_wanted(ctx, rows) ? hfi_evaluator_init_group(ctx, &e, leave_one_out, rows, d, x, ldx)
                                   : hfi_evaluator_init(ctx, &e, leave_one_out, rows, d, x, ldx);
    if (s < 0) return s;
    /* Collected aside: a call that fails leaves the caller's numbers alone. */
    const size_t count = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean) + hf_sites_channels(sites);
    double *found = hfi_alloc(ctx, count, sizeof *found), result = 0.0;
    s = found ? hf_kernel_copy(ctx, kernel, &e.kernel) : HF_ERR_MEMORY;
    if (s >= 0) s = hf_mean_copy(ctx, mean, &e.mean);
    if (s >= 0) s = hf_sites_copy(ctx, sites, &e.sites);
    if (s >= 0) s = hfi_evaluator_select(&e);
    if (s >= 0) s = hfi_evaluator_run(&e, objective, &result, gradient ? found : NULL);
    if (s >= 0 && !isfinite(result))
        s = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the objective overflows; give the target in other units");
    if (s >= 0) {
        *value = result;
        if (gradient) memcpy(gradient, found, count * sizeof *gradient);
    }
    hfi_free(ctx, found);
    hf_kernel_free(e.kernel);
    hf_mean_free(e.mean);
    hf_sites_free(e.sites);
    hfi_evaluator_free(&e);
    return s;
}
