/* SPDX-License-Identifier: Apache-2.0 */
/* A question about a box: arguments, units, and the value at points. */
#include "certify/question.h"
#include "certify/classes.h"
#include "certify/link.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
            return hfi_fail(ctx, HF_ERR_ARGUMENT,
                            "input %zu of the box goes from %g down to %g: the lower side is above the upper",
                            j + 1, lower[j], upper[j]);
        const double scale = posterior->scaling.x_scale[j];
        if (!isfinite((upper[j] - lower[j]) / scale) || !(fabs(lower[j] / scale) < 1e150) ||
            !(fabs(upper[j] / scale) < 1e150))
            return hfi_fail(ctx, HF_ERR_ARGUMENT, "input %zu of the box goes from %g to %g: too far out",
                            j + 1, lower[j], upper[j]);
    }
    return HF_OK;
}

static hf_status check_settings(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                                const hf_certify_settings *settings)
{
    const size_t outputs = posterior->scaling.outputs;
    if ((int)what < 0 || (int)what > HFI_CERTIFY_MARGIN)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no value number %d to certify", (int)what);
    if (settings->output >= outputs)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no output %zu: the posterior has %zu (from 0)",
                        settings->output, outputs);
    if (!(settings->tolerance > 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the tolerance is %g; it must be above 0", settings->tolerance);
    if (!(settings->time_limit >= 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the time limit is %g; it must be 0 (none) or above",
                        settings->time_limit);
    if (!(settings->total_time >= 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the time for all boxes is %g; it must be 0 (no limit) or above",
                        settings->total_time);
    if (!isfinite(settings->beta))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "beta is %g; it must be finite", settings->beta);
    if (settings->observed && (int)what > HF_CERTIFY_MEAN_PLUS)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "classes have no noise that a new reading would have");
    if (settings->lower_only && settings->upper_only)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "lower_only and upper_only together leave nothing to find");
    return HF_OK;
}

/* A box that spans several outputs or categories has no one value to bound. */
static hf_status check_outputs(hf_context *ctx, const hf_posterior *posterior, size_t inputs,
                               const double *lower, const double *upper)
{
    for (size_t j = 0; j < inputs; j++)
        if (lower[j] < upper[j] && hfi_terms_free_output(posterior->kernel, 1, &j) == j)
            return hfi_fail(
                ctx, HF_ERR_ARGUMENT,
                "input %zu is the number of an output or a category and cannot move: ask about one at a time",
                j + 1);
    return HF_OK;
}

hf_status hfi_question_check(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                             const hf_certify_settings *settings, const double *lower, const double *upper)
{
    const hfi_scaling *scaling = &posterior->scaling;
    const size_t inputs = scaling->outputs > 1 ? scaling->d - 1 : scaling->d;
    hf_status status = check_settings(ctx, posterior, what, settings);
    if (status >= 0) status = check_sides(ctx, posterior, inputs, lower, upper);
    if (status >= 0) status = check_outputs(ctx, posterior, inputs, lower, upper);
    if (status >= 0 && hfi_mean_lifted(posterior->mean))
        status = hfi_fail(ctx, HF_ERR_ARGUMENT,
                          "the posterior was lifted by an expert's mean, which has no bound over a box");
    return status;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Sides in the solver's units, moved outward by more than the rounding of the change; what is equal stays exactly what a prediction makes of it. */
static void place_sides(hfi_question *q, const double *lower, const double *upper)
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

static bool is_of_classes(hf_certify_what what)
{
    return (int)what == HFI_CERTIFY_SOFTMAX || (int)what == HFI_CERTIFY_MARGIN;
}

static hf_status make_classes(hf_context *ctx, hfi_question *q)
{
    const hf_status status =
        hfi_classes_create(ctx, q->subject.posterior, &q->subject, q->settings.output,
                           (int)q->what == HFI_CERTIFY_MARGIN, q->settings.tolerance, &q->classes);
    if (status >= 0 && q->subject.free_count > 0) q->scratch = hfi_classes_scratch(q->classes);
    return status;
}

static hf_status make_bounds(hf_context *ctx, hfi_question *q)
{
    hf_status status = hfi_taylor_create(ctx, &q->subject, &q->taylor);
    const size_t m = q->subject.free_count, d = q->subject.d;
    const unsigned own = (q->what == HF_CERTIFY_SD ? 0u : (unsigned)HF_BOUND_TAYLOR) |
                         (q->what == HF_CERTIFY_MEAN ? 0u : (unsigned)HF_BOUND_FEATURE);
    const bool rough = status >= 0 && hfi_taylor_is_rough(q->taylor, q->what != HF_CERTIFY_MEAN);
    size_t most = 0;
    for (size_t k = 0; status >= 0 && hfi_bound_kinds[k] && q->kinds < HFI_MOST_KINDS; k++) {
        const hfi_bound_kind *kind = hfi_bound_kinds[k];
        void *state = NULL;
        if (!(q->settings.bounds & kind->bit)) continue;
        /* Where Taylor's bounds are allowed too they are far narrower, and the time is better spent on more boxes. */
        if ((q->settings.bounds & own) == own && !rough) continue;
        status = kind->create(ctx, &q->subject, &state);
        if (status < 0 || !state) continue;
        q->kind[q->kinds] = kind;
        q->state[q->kinds++] = state;
        const size_t need = kind->scratch(state);
        if (need > most) most = need;
    }
    if (status < 0) return status;
    const size_t mean = hfi_taylor_mean_scratch(q->taylor),
                 spread = q->what == HF_CERTIFY_MEAN ? 0 : hfi_taylor_spread_scratch(q->taylor);
    q->scratch = hfi_question_own_scratch(m, d) + mean + spread + most + hfi_question_sharp_scratch(q);
    return status;
}

static hf_status make_question(hf_context *ctx, hfi_question *q, const double *lower, const double *upper)
{
    const size_t d = q->subject.d;
    q->numbers = hfi_alloc(ctx, d, 4 * sizeof *q->numbers);
    q->free = hfi_alloc(ctx, d, sizeof *q->free);
    q->x = hfi_alloc(ctx, d, sizeof *q->x);
    q->x_moved = hfi_alloc(ctx, d, sizeof *q->x_moved);
    q->gradient = hfi_alloc(ctx, d, 2 * sizeof *q->gradient);
    q->workspace = hf_workspace_create(ctx, q->subject.posterior);
    if (!q->numbers || !q->free || !q->x || !q->x_moved || !q->gradient || !q->workspace)
        return HF_ERR_MEMORY;
    place_sides(q, lower, upper);
    if (is_of_classes(q->what)) return make_classes(ctx, q);
    if (q->subject.free_count > 0) return make_bounds(ctx, q);
    const hf_status status = hfi_taylor_create(ctx, &q->subject, &q->taylor);
    return status < 0 ? status : hfi_taylor_at_point(ctx, q->taylor, &q->point);
}

/* White noise is one more feature that does not move; the calibration goes where the value is scaled. */
static void place_noise(hfi_question *q)
{
    const hf_posterior *posterior = q->subject.posterior;
    const size_t output = q->settings.output;
    q->noise = hfi_posterior_noise(posterior, output);
    q->user_noise = hfi_scaling_variance(&posterior->scaling, output, q->noise);
    if (q->what == HF_CERTIFY_MEAN_PLUS) {
        q->settings.beta *= sqrt(posterior->calibration);
        return;
    }
    q->stretch = posterior->calibration;
    q->scale *= sqrt(posterior->calibration);
}

hf_status hfi_question_create(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                              const hf_certify_settings *settings, const double *lower, const double *upper,
                              hfi_question **out)
{
    const hfi_scaling *scaling = &posterior->scaling;
    const size_t d = scaling->d, inputs = scaling->outputs > 1 ? d - 1 : d;
    hf_status status = hfi_question_check(ctx, posterior, what, settings, lower, upper);
    if (status < 0) return status;
    hfi_question *q = hfi_alloc(ctx, 1, sizeof *q);
    if (!q) return HF_ERR_MEMORY;
    *q = (hfi_question){.memory = hfi_context_memory(ctx),
                        .subject = {.posterior = posterior, .d = d},
                        .what = what,
                        .settings = *settings,
                        .user_lower = lower,
                        .user_upper = upper,
                        .inputs = inputs,
                        .scale = hfi_scaling_scale(scaling, settings->output),
                        .stretch = 1.0};
    if (settings->observed && what != HF_CERTIFY_MEAN) place_noise(q);
    if (hfi_link_asked(what) || is_of_classes(what)) q->scale = 1.0;
    if (what == HF_CERTIFY_MEAN || what == HF_CERTIFY_MEAN_PLUS)
        q->shift = hfi_scaling_shift(scaling, settings->output);
    status = make_question(ctx, q, lower, upper);
    if (status < 0) {
        hfi_question_free(q);
        return status;
    }
    *out = q;
    return status;
}

void hfi_question_watch(hfi_question *question, hfi_watch *watch)
{
    question->watch = watch;
    if (question->classes) question->classes->watch = watch;
}

void hfi_question_free(hfi_question *question)
{
    if (!question) return;
    const hfi_memory memory = question->memory;
    for (size_t k = 0; k < question->kinds; k++) question->kind[k]->destroy(question->state[k]);
    hfi_taylor_free(question->taylor);
    hfi_classes_free(question->classes);
    hf_workspace_free(question->workspace);
    void *blocks[] = {question->numbers, question->free,     question->x,
                      question->x_moved, question->gradient, question};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) hfi_memory_free(&memory, blocks[b]);
}

/* ---- answers ------------------------------------------------------------------------------------------------------ */

hf_range hfi_unknown_range(hf_certify_what what, const hf_certify_settings *settings, size_t inputs,
                           double *argmin, double *argmax)
{
    hf_range range = {.lower = -(double)INFINITY,
                      .upper = (double)INFINITY,
                      .lower_attained = (double)NAN,
                      .upper_attained = (double)NAN,
                      .stop = HF_CERTIFY_NOT_FINITE};
    if (!settings->upper_only &&
        (what == HF_CERTIFY_SD || hfi_link_asked(what) || (int)what == HFI_CERTIFY_SOFTMAX))
        range.lower = 0.0;
    if (!settings->lower_only && (hfi_link_asked(what) || (int)what == HFI_CERTIFY_SOFTMAX))
        range.upper = 1.0;
    for (size_t j = 0; j < inputs; j++) argmin[j] = argmax[j] = (double)NAN;
    return range;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* d (mean + beta sd) from the gradients of mean and variance. */
static void join_gradients(hfi_question *q, double mean, double sd, double *gradient)
{
    double link_of_mean = 0.0, link_of_sd = 0.0;
    if (hfi_link_asked(q->what)) hfi_link_slopes(hfi_question_link(q), mean, sd, &link_of_mean, &link_of_sd);
    const double *of_mean = q->gradient, *of_var = q->gradient + q->subject.d;
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    for (size_t f = 0; f < q->subject.free_count; f++) {
        const size_t j = q->free[f];
        const double of_sd = sd > 0.0 ? 0.5 * q->stretch * of_var[j] / sd : 0.0;
        double slope = of_mean[j];
        if (q->what == HF_CERTIFY_SD) slope = of_sd;
        if (q->what == HF_CERTIFY_MEAN_PLUS) slope += q->settings.beta * of_sd;
        if (hfi_link_asked(q->what)) slope = link_of_mean * slope + link_of_sd * of_sd;
        gradient[f] = slope * scaling->x_scale[j];
    }
}

/* Of several classes. Where a look at a point takes long, a value that comes with a gradient is the models'. */
static double value_of_classes(hfi_question *q, const double *point, double *gradient)
{
    if (gradient && q->classes->heavy) return hfi_classes_sketch(q->classes, point, gradient);
    const double value = hfi_classes_value(q->classes, q->x, gradient ? q->gradient : NULL);
    for (size_t f = 0; gradient && f < q->subject.free_count; f++)
        gradient[f] = q->gradient[q->free[f]] * q->subject.posterior->scaling.x_scale[q->free[f]];
    return value;
}

/* q->x and `user`: the point, in the user's box. */
static void place_point(hfi_question *q, const double *point, double *user)
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

static double value_of(const hfi_question *q, double mean, double sd)
{
    if (q->what == HF_CERTIFY_MEAN) return mean;
    if (hfi_link_asked(q->what)) return hfi_link_value(hfi_question_link(q), mean, sd);
    return q->what == HF_CERTIFY_SD ? sd : mean + q->settings.beta * sd;
}

double hfi_question_value(hfi_question *q, const double *point, double *user, double *gradient)
{
    const size_t d = q->subject.d;
    const bool spread = q->what != HF_CERTIFY_MEAN;
    place_point(q, point, user);
    if (q->classes) return value_of_classes(q, point, gradient);
    double mean, var = 0.0;
    const hf_status status =
        hf_predict_latent(q->subject.posterior, q->workspace, q->x, &mean, spread ? &var : NULL,
                          gradient ? q->gradient : NULL, gradient && spread ? q->gradient + d : NULL);
    if (status < 0) return (double)NAN;
    const double sd = sqrt(q->stretch * (var + q->user_noise));
    if (gradient) join_gradients(q, mean, sd, gradient);
    return value_of(q, mean, sd);
}

/* An interval of the sd, and one of the mean, in user's units; `var` has the noise in it. */
static void join_point(const hfi_question *q, double mean, double var, double *lower, double *upper)
{
    const double unit = 4.0 * DBL_EPSILON;
    const double of_mean = q->scale * q->point.mean + unit * (fabs(mean) + fabs(q->shift)),
                 of_var = q->scale * q->scale * q->point.variance + unit * var;
    const double low = sqrt(fmax(0.0, var - of_var)) * (1.0 - unit), high = sqrt(var + of_var) * (1.0 + unit);
    if (q->what == HF_CERTIFY_MEAN) {
        *lower = mean - of_mean;
        *upper = mean + of_mean;
    } else if (q->what == HF_CERTIFY_SD) {
        *lower = low;
        *upper = high;
    } else if (hfi_link_asked(q->what)) {
        *lower = hfi_link_least(hfi_question_link(q), mean - of_mean, low, high);
        *upper = 1.0 - hfi_link_least(hfi_question_link(q), -mean - of_mean, low, high);
    } else {
        const double beta = q->settings.beta, slack = unit * (fabs(mean) + fabs(beta) * high);
        *lower = mean - of_mean + beta * (beta > 0.0 ? low : high) - slack;
        *upper = mean + of_mean + beta * (beta > 0.0 ? high : low) + slack;
    }
}

void hfi_question_point(hfi_question *q, double *user, double *value, double *lower, double *upper)
{
    double mean = (double)NAN, var = 0.0, error;
    place_point(q, q->subject.middle, user); /* nothing of it is read, as nothing is free */
    if (q->classes) {
        *value = hfi_classes_point(q->classes, q->x, &error);
        *lower = *value - error;
        *upper = *value + error;
    } else {
        const hf_status status = hf_predict_latent(q->subject.posterior, q->workspace, q->x, &mean,
                                                   q->what == HF_CERTIFY_MEAN ? NULL : &var, NULL, NULL);
        if (status < 0) mean = (double)NAN;
        var = q->stretch * (var + q->user_noise);
        *value = value_of(q, mean, sqrt(var));
        join_point(q, mean, var, lower, upper);
    }
    if (isnan(*value)) *lower = *upper = *value;
    *lower = fmin(*lower, *value);
    *upper = fmax(*upper, *value);
}
