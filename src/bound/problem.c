/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: arguments and units; which functions it has is in its quantity. */
#include "bound/problem.h"
#include "kernel/expression.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t hfi_posterior_inputs(const hf_posterior *posterior)
{
    return hfi_scaling_own_inputs(&posterior->scaling);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static hf_status check_sides(hf_context *ctx, const hf_posterior *posterior, size_t inputs,
                             const double *lower, const double *upper)
{
    for (size_t j = 0; j < inputs; j++) {
        if (!isfinite(lower[j]) || !isfinite(upper[j]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "input %zu of the box goes from %g to %g; both must be finite", j + 1, lower[j],
                            upper[j]);
        if (lower[j] > upper[j])
            return hfi_refuse(
                ctx, "input %zu of the box goes from %g down to %g: the lower side is above the upper", j + 1,
                lower[j], upper[j]);
        const double scale = posterior->scaling.x_scale[j];
        if (!isfinite((upper[j] - lower[j]) / scale) || !(fabs(lower[j] / scale) < 1e150) ||
            !(fabs(upper[j] / scale) < 1e150))
            return hfi_refuse(ctx, "input %zu of the box goes from %g to %g: too far out", j + 1, lower[j],
                              upper[j]);
    }
    return HF_OK;
}

static hf_status check_problem_settings(hf_context *ctx, const hf_posterior *posterior,
                                        const hfi_quantity *quantity, const hf_certify_settings *settings)
{
    const size_t outputs = posterior->scaling.outputs;
    if (settings->output >= outputs)
        return hfi_refuse(ctx, "there is no output %zu: the posterior has %zu (from 0)", settings->output,
                          outputs);
    if (settings->observed && !quantity->scaled)
        return hfi_refuse(ctx, "classes have no noise that a new reading would have");
    return HF_OK;
}

/* Whether an input is the number of an output or of a category, of which nothing is known in between. */
static bool is_code(const hf_kernel *kernel, size_t input)
{
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *leaf = &kernel->leaves[l];
        for (size_t a = 0; hfi_form_sees_codes(leaf->form) && a < leaf->columns; a++)
            if (kernel->columns[leaf->column_at + a] == input) return true;
    }
    return false;
}

/* A box that spans several outputs or categories has no one value to bound. */
static hf_status check_outputs(hf_context *ctx, const hf_posterior *posterior, size_t inputs,
                               const double *lower, const double *upper)
{
    for (size_t j = 0; j < inputs; j++)
        if (lower[j] < upper[j] && is_code(posterior->kernel, j))
            return hfi_refuse(
                ctx,
                "input %zu is the number of an output or a category and cannot move: ask about one at a time",
                j + 1);
    return HF_OK;
}

hf_status hfi_problem_check(hf_context *ctx, const hf_posterior *posterior, const hfi_quantity *quantity,
                            const hf_certify_settings *settings, const double *lower, const double *upper)
{
    const size_t inputs = hfi_posterior_inputs(posterior);
    hf_status status = check_problem_settings(ctx, posterior, quantity, settings);
    if (status >= 0) status = check_sides(ctx, posterior, inputs, lower, upper);
    if (status >= 0) status = check_outputs(ctx, posterior, inputs, lower, upper);
    if (status >= 0 && hfi_mean_lifted(posterior->mean))
        status =
            hfi_refuse(ctx, "the posterior was lifted by an expert's mean, which has no bound over a box");
    return status;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Sides in the solver's units, moved outward by more than the rounding of the change; what is equal stays
 * exactly what a prediction makes of it. */
static void place_sides(hfi_certify_problem *q, const double *lower, const double *upper)
{
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    const size_t d = q->subject.d;
    double *low = q->numbers, *high = low + d, *middle = high + d, *extent = middle + d;
    size_t count = 0;
    memcpy(q->x, lower, q->inputs * sizeof *q->x);
    if (q->inputs < d) q->x[d - 1] = (double)q->settings.output;
    hfi_scaling_inputs(scaling, 1, q->x, d, low);
    memcpy(high, low, d * sizeof *high);
    memcpy(middle, low, d * sizeof *middle);
    for (size_t j = 0; j < q->inputs; j++) {
        if (lower[j] == upper[j]) continue;
        const double shift = scaling->x_shift[j], scale = scaling->x_scale[j];
        const double slack =
            4.0 * DBL_EPSILON * (fmax(fabs(lower[j]), fabs(upper[j])) + fabs(shift)) / scale + DBL_MIN;
        low[j] = (lower[j] - shift) / scale - slack;
        high[j] = (upper[j] - shift) / scale + slack;
        middle[j] = 0.5 * (low[j] + high[j]);
        extent[count] = fmax(high[j] - middle[j], middle[j] - low[j]) * (1.0 + 2.0 * DBL_EPSILON);
        q->free[count++] = j;
    }
    q->subject.free_count = count;
    q->subject.lower = low;
    q->subject.upper = high;
    q->subject.middle = middle;
    q->subject.extent = extent;
    q->subject.free = q->free;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static hf_status make_certify_problem(hf_context *ctx, hfi_certify_problem *q)
{
    const size_t d = q->subject.d;
    if (HFI_ALLOC(ctx, HFI_ROOMS(q->numbers, d, 4), HFI_ROOM(q->free, d), HFI_ROOM(q->x, d),
                  HFI_ROOM(q->x_moved, d), HFI_ROOMS(q->gradient, d, 3)) < 0)
        return HF_ERR_MEMORY;
    place_sides(q, q->user_lower, q->user_upper);
    return q->functions->create(ctx, q);
}

hf_status hfi_problem_create(hf_context *ctx, const hf_posterior *posterior, const hfi_quantity *quantity,
                             const hf_certify_settings *settings, void *shared, const double *lower,
                             const double *upper, hfi_certify_problem **out)
{
    const hfi_scaling *scaling = &posterior->scaling;
    const size_t d = scaling->d;
    hfi_certify_problem *q = hfi_alloc(ctx, 1, sizeof *q);
    if (!q) return HF_ERR_MEMORY;
    *q = (hfi_certify_problem){.memory = hfi_context_memory(ctx),
                               .subject = {.posterior = posterior, .d = d},
                               .quantity = quantity,
                               .functions = hfi_problem_choose(quantity, settings->rigorous),
                               .shared = shared,
                               .settings = *settings,
                               .user_lower = lower,
                               .user_upper = upper,
                               .inputs = hfi_posterior_inputs(posterior),
                               .scale = 1.0,
                               .stretch = 1.0};
    if (quantity->scaled) q->scale = hfi_scaling_scale(scaling, settings->output);
    if (quantity->shifted) q->shift = hfi_scaling_shift(scaling, settings->output);
    const hf_status status = make_certify_problem(ctx, q);
    if (status < 0) {
        hfi_problem_free(q);
        return status;
    }
    *out = q;
    return status;
}

void hfi_problem_free(hfi_certify_problem *q)
{
    if (!q) return;
    const hfi_memory memory = q->memory;
    q->functions->destroy(q);
    HFI_MEMORY_FREE(&memory, q->numbers, q->free, q->x, q->x_moved, q->gradient, q);
}

hf_range hfi_unknown_range(const hfi_quantity *quantity, const hf_certify_settings *settings, size_t inputs,
                           double *argmin, double *argmax)
{
    for (size_t j = 0; j < inputs; j++) argmin[j] = argmax[j] = (double)NAN;
    return (hf_range){.lower = settings->upper_only ? -(double)INFINITY : quantity->least,
                      .upper = settings->lower_only ? (double)INFINITY : quantity->most,
                      .lower_attained = (double)NAN,
                      .upper_attained = (double)NAN,
                      .stop = HF_CERTIFY_NOT_FINITE};
}

void hfi_problem_place(hfi_certify_problem *q, const double *point, double *user)
{
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    const size_t d = q->subject.d;
    memcpy(q->x, q->user_lower, q->inputs * sizeof *q->x);
    if (q->inputs < d) q->x[d - 1] = (double)q->settings.output;
    for (size_t f = 0; f < q->subject.free_count; f++) {
        const size_t j = q->free[f];
        const double x = point[f] * scaling->x_scale[j] + scaling->x_shift[j];
        q->x[j] = fmin(fmax(x, q->user_lower[j]), q->user_upper[j]);
    }
    memcpy(user, q->x, q->inputs * sizeof *user);
}
