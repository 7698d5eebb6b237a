/* SPDX-License-Identifier: Apache-2.0 */
/* Problems about functions of mean and sd: bounds up to a rounding allowance, values that are predictions. */
#include "decomposition/decomposition.h"
#include "moments/bounds_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* White noise is one more feature that does not move; the calibration goes where the value is scaled. */
static void place_noise(hfi_certify_problem *q)
{
    const hf_posterior *posterior = q->subject.posterior;
    const size_t output = q->settings.output;
    q->noise = hfi_posterior_noise(posterior, output);
    q->user_noise = hfi_scaling_variance(&posterior->scaling, output, q->noise);
    if (q->quantity->mean) {
        q->settings.beta *= sqrt(posterior->calibration);
        return;
    }
    q->stretch = posterior->calibration;
    q->scale *= sqrt(posterior->calibration);
}

/* Where Taylor's bounds are allowed too they are far narrower, and the time is better spent on more boxes. */
static bool wants_decomposition(const hfi_certify_problem *q, const hfi_taylor *taylor)
{
    const size_t bounds = q->settings.bounds;
    return !q->quantity->sd && (bounds & HF_BOUND_DECOMPOSITION) &&
           (!(bounds & HF_BOUND_TAYLOR) || hfi_taylor_is_rough(taylor));
}

static size_t scratch_of(const hfi_certify_problem *q, const hfi_moments_state *s)
{
    return hfi_moments_scratch(q->subject.free_count, q->subject.d) + hfi_taylor_mean_scratch(s->taylor) +
           (q->quantity->sd ? hfi_taylor_spread_scratch(s->taylor) : 0) +
           (s->decomposition ? hfi_decomposition_scratch(s->decomposition) : 0) +
           hfi_moments_sharp_scratch(s->taylor);
}

static hf_status moments_problem_create(hf_context *ctx, hfi_certify_problem *q)
{
    hfi_moments_state *s = q->state = hfi_alloc(ctx, 1, sizeof *s);
    if (!s) return HF_ERR_MEMORY;
    *s = (hfi_moments_state){0};
    if (q->settings.observed && q->quantity->sd) place_noise(q);
    s->workspace = hf_posterior_workspace_create(ctx, q->subject.posterior);
    if (!s->workspace) return HF_ERR_MEMORY;
    hf_status status = hfi_taylor_create(ctx, &q->subject, &s->taylor);
    if (status < 0) return status;
    if (q->subject.free_count == 0) return hfi_taylor_at_point(ctx, s->taylor, &s->point);
    if (wants_decomposition(q, s->taylor))
        status = hfi_decomposition_create(ctx, &q->subject, &s->decomposition);
    if (status >= 0) q->scratch = scratch_of(q, s);
    return status;
}

static void destroy(hfi_certify_problem *q)
{
    hfi_moments_state *s = q->state;
    if (!s) return;
    hfi_decomposition_free(s->decomposition);
    hfi_taylor_free(s->taylor);
    hf_posterior_workspace_free(s->workspace);
    hfi_memory_free(&q->memory, s);
    q->state = NULL;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static hf_status find_moments(hfi_certify_problem *q, bool slopes, double *mean, double *var)
{
    const hfi_moments_state *s = q->state;
    const bool sd = q->quantity->sd;
    *var = 0.0;
    const hf_status status =
        hf_predict_latent(q->subject.posterior, s->workspace, q->x, mean, sd ? var : NULL,
                          slopes ? q->gradient : NULL, slopes && sd ? q->gradient + q->subject.d : NULL);
    *var = q->stretch * (*var + q->user_noise);
    return status;
}

static double value(hfi_certify_problem *q, const double *point, double *user, double *gradient)
{
    const hfi_quantity *of = q->quantity;
    const double beta = q->settings.beta;
    const size_t d = q->subject.d;
    double mean, var, *slope = q->gradient + 2 * d;
    hfi_problem_place(q, point, user);
    if (find_moments(q, gradient, &mean, &var) < 0) return (double)NAN;
    const double sd = sqrt(var);
    if (gradient)
        hfi_quantity_gradient(of, beta, q->inputs, mean, sd, q->stretch, q->gradient, q->gradient + d, slope);
    for (size_t f = 0; gradient && f < q->subject.free_count; f++)
        gradient[f] = slope[q->free[f]] * q->subject.posterior->scaling.x_scale[q->free[f]];
    return of->value(of, beta, mean, sd);
}

static void at_point(hfi_certify_problem *q, double *user, double *value, double *lower, double *upper)
{
    const hfi_moments_state *s = q->state;
    const hfi_quantity *of = q->quantity;
    const double unit = 4.0 * DBL_EPSILON, beta = q->settings.beta;
    double mean, var;
    hfi_problem_place(q, q->subject.middle, user); /* nothing of it is read, as nothing is free */
    if (find_moments(q, false, &mean, &var) < 0) mean = (double)NAN;
    const double of_mean = q->scale * s->point.mean + unit * (fabs(mean) + fabs(q->shift)),
                 of_var = q->scale * q->scale * s->point.variance + unit * var;
    const hfi_moments_box box = {mean - of_mean, mean + of_mean, sqrt(fmax(0.0, var - of_var)) * (1.0 - unit),
                                 sqrt(var + of_var) * (1.0 + unit)};
    *value = of->value(of, beta, mean, sqrt(var));
    of->enclose(of, beta, &box, lower, upper);
    if (isnan(*value)) *lower = *upper = *value;
    *lower = fmin(*lower, *value);
    *upper = fmax(*upper, *value);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

static hf_status moments_problem_begin(hfi_certify_problem *q, size_t threads, hfi_branch_problem *out)
{
    static const hfi_branch_functions functions = {hfi_moments_bounds, hfi_problem_look};
    return hfi_problem_begin(q, threads, &functions, out);
}

const hfi_problem_functions hfi_problem_of_moments = {.create = moments_problem_create,
                                                      .destroy = destroy,
                                                      .begin = moments_problem_begin,
                                                      .end = hfi_problem_end,
                                                      .at_point = at_point,
                                                      .value = value};
