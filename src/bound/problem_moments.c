/* SPDX-License-Identifier: Apache-2.0 */
/* Problems about functions of mean and sd: bounds up to a rounding allowance, values that are predictions. */
#include "bound/bound.h"
#include "bound/problem.h"

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
static bool wants_decomposition(const hfi_certify_problem *q)
{
    const size_t bounds = q->settings.bounds;
    return !q->quantity->sd && (bounds & HF_BOUND_DECOMPOSITION) &&
           (!(bounds & HF_BOUND_TAYLOR) || hfi_taylor_is_rough(q->taylor));
}

static hf_status create(hf_context *ctx, hfi_certify_problem *q)
{
    if (q->settings.observed && q->quantity->sd) place_noise(q);
    q->workspace = hf_posterior_workspace_create(ctx, q->subject.posterior);
    if (!q->workspace) return HF_ERR_MEMORY;
    hf_status status = hfi_taylor_create(ctx, &q->subject, &q->taylor);
    if (status < 0) return status;
    if (q->subject.free_count == 0) return hfi_taylor_at_point(ctx, q->taylor, &q->point);
    if (wants_decomposition(q)) status = hfi_decomposition_create(ctx, &q->subject, &q->decomposition);
    if (status < 0) return status;
    q->scratch =
        hfi_problem_own_scratch(q->subject.free_count, q->subject.d) + hfi_taylor_mean_scratch(q->taylor) +
        (q->quantity->sd ? hfi_taylor_spread_scratch(q->taylor) : 0) +
        (q->decomposition ? hfi_decomposition_scratch(q->decomposition) : 0) + hfi_problem_sharp_scratch(q);
    return status;
}

static void destroy(hfi_certify_problem *q)
{
    hfi_decomposition_free(q->decomposition);
    hfi_taylor_free(q->taylor);
    hf_posterior_workspace_free(q->workspace);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static hf_status find_moments(hfi_certify_problem *q, bool slopes, double *mean, double *var)
{
    const bool sd = q->quantity->sd;
    *var = 0.0;
    const hf_status status =
        hf_predict_latent(q->subject.posterior, q->workspace, q->x, mean, sd ? var : NULL,
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
    const hfi_quantity *of = q->quantity;
    const double unit = 4.0 * DBL_EPSILON, beta = q->settings.beta;
    double mean, var;
    hfi_problem_place(q, q->subject.middle, user); /* nothing of it is read, as nothing is free */
    if (find_moments(q, false, &mean, &var) < 0) mean = (double)NAN;
    const double of_mean = q->scale * q->point.mean + unit * (fabs(mean) + fabs(q->shift)),
                 of_var = q->scale * q->scale * q->point.variance + unit * var;
    const hfi_moments_box box = {mean - of_mean, mean + of_mean, sqrt(fmax(0.0, var - of_var)) * (1.0 - unit),
                                 sqrt(var + of_var) * (1.0 + unit)};
    *value = of->value(of, beta, mean, sqrt(var));
    of->enclose(of, beta, &box, lower, upper);
    if (isnan(*value)) *lower = *upper = *value;
    *lower = fmin(*lower, *value);
    *upper = fmax(*upper, *value);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* For several classes, steps may use a cheaper approximation of the value. */
double hfi_problem_look(void *of, double sign, bool descend, const double *point, double *user)
{
    hfi_certify_problem *q = of;
    const size_t m = q->subject.free_count;
    double found = (double)NAN, *place = q->room + 3 * m;
    memcpy(place, point, m * sizeof *point);
    if (descend) hfi_descend(q, sign, place, &found, user, place + m);
    if (!descend || q->classes) found = sign * q->functions->value(q, place, user, NULL);
    return found;
}

hf_status hfi_problem_begin(hfi_certify_problem *q, size_t threads, const hfi_branch_functions *functions,
                            hfi_branch_problem *out)
{
    const hfi_subject *whole = &q->subject;
    const size_t m = whole->free_count;
    size_t all;
    q->scratch = (q->scratch + 7) / 8 * 8;
    q->room_scratch = (8 * m + 7) / 8 * 8;
    if (!hfi_size_mul(threads, q->scratch, &all)) return HF_ERR_MEMORY;
    q->room = hfi_memory_alloc(&q->memory, all + q->room_scratch, sizeof *q->room);
    if (!q->room) return HF_ERR_MEMORY;
    for (size_t f = 0; f < m; f++) {
        q->room[f] = whole->lower[whole->free[f]];
        q->room[m + f] = whole->upper[whole->free[f]];
        q->room[2 * m + f] = whole->middle[whole->free[f]];
    }
    *out = (hfi_branch_problem){.functions = functions,
                                .of = q,
                                .sides = m,
                                .inputs = q->inputs,
                                .lower = q->room,
                                .upper = q->room + m,
                                .middle = q->room + 2 * m,
                                .memory = q->memory,
                                .costly = q->quantity->sd};
    return HF_OK;
}

void hfi_problem_end(hfi_certify_problem *q)
{
    hfi_memory_free(&q->memory, q->room);
    q->room = NULL;
}

static hf_status begin(hfi_certify_problem *q, size_t threads, hfi_branch_problem *out)
{
    static const hfi_branch_functions functions = {hfi_problem_bounds, hfi_problem_look};
    return hfi_problem_begin(q, threads, &functions, out);
}

const hfi_problem_functions hfi_problem_of_moments = {.create = create,
                                                      .destroy = destroy,
                                                      .begin = begin,
                                                      .end = hfi_problem_end,
                                                      .at_point = at_point,
                                                      .value = value};
