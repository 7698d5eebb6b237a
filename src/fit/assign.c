/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters by name: held, started from, and told. */
#include "fit/fit.h"
#include <math.h>
#include <string.h>

double hfi_fit_to_internal(const hfi_fit *fit, const hf_parameter *parameter, double value)
{
    const double factor = hfi_scaling_factor(&fit->scaling, parameter->unit, parameter->column);
    return isfinite(factor) ? value / factor : value;
}

/* Places a parameter: a held value, its box growing to hold it; or a start of training, within the box. */
static hf_status place(hfi_fit *fit, size_t i, double user, bool held)
{
    hf_parameter p;
    hf_kernel_parameter(fit->kernel, i, &p);
    const double value = hfi_fit_to_internal(fit, &p, user);
    if (held)
        return hfi_kernel_set_parameter(fit->kernel, i, value, fmin(p.lower, value), fmax(p.upper, value),
                                        true);
    if (p.fixed) return HF_OK;
    hfi_kernel_give_parameter(fit->kernel, i);
    return hfi_kernel_set_parameter(fit->kernel, i, fmin(fmax(value, p.lower), p.upper), p.lower, p.upper,
                                    false);
}

static hf_status assign_kernel(hfi_fit *fit, const hf_assignment *a, bool held)
{
    const size_t count = hf_kernel_parameters(fit->kernel);
    size_t matches = 0;
    hf_kernel *checked = NULL; /* name and value, with the message */
    hf_status s = hf_kernel_copy(fit->ctx, fit->kernel, &checked);
    if (s >= 0) s = hf_kernel_set(fit->ctx, checked, a->name, a->value);
    hf_kernel_free(checked);
    if (s < 0) return s;
    size_t *which = hfi_alloc(fit->ctx, count, sizeof *which);
    if (!which) return HF_ERR_MEMORY;
    hfi_kernel_match(fit->kernel, a->name, which, &matches);
    for (size_t k = 0; s >= 0 && k < matches; k++) s = place(fit, which[k], a->value, held);
    hfi_free(fit->ctx, which);
    return s;
}

static hf_status assign_mean(hfi_fit *fit, double value, bool held)
{
    if (hf_mean_get_kind(fit->mean) != HF_MEAN_CONSTANT)
        return hfi_refuse(fit->ctx, "only a constant mean can be set; this one is %s",
                          hf_enum_name(HF_ENUM_MEAN_KIND, hf_mean_get_kind(fit->mean)));
    const double internal = (value - fit->scaling.y_shift) / fit->scaling.y_scale;
    fit->mean_started = fit->mean_started || !held;
    return hf_mean_set(fit->ctx, fit->mean, &internal, held);
}

static hf_status assign_noise(hfi_fit *fit, double value, bool held)
{
    if (!(value >= 0.0)) return hfi_refuse(fit->ctx, "noise is a variance and cannot be %g", value);
    if (!held && value == 0.0)
        return hfi_refuse(fit->ctx, "training cannot start from a noise variance of 0");
    if (value == 0.0 && !fit->data->noise)
        return hfi_refuse(fit->ctx,
                          "the noise variance must be positive; for readings that are exact, %.3g is small "
                          "beside the spread of the target and keeps the covariance invertible",
                          1e-8 * fit->measured.y_scale * fit->measured.y_scale);
    fit->noise = value / fit->scaling.y_scale / fit->scaling.y_scale;
    fit->noise_held = held;
    return HF_OK;
}

static hf_status assign_threshold(hfi_fit *fit, double value)
{
    if (!(value > 0.0)) return hfi_refuse(fit->ctx, "the threshold must be positive, not %g", value);
    fit->threshold = value / fit->scaling.y_scale;
    return HF_OK;
}

static hf_status assign(hfi_fit *fit, const hf_assignment *a, bool held)
{
    if (!a->name || !isfinite(a->value))
        return hfi_refuse(fit->ctx, "%s cannot %s %g", a->name ? a->name : "(null)",
                          held ? "be set to" : "start from", a->value);
    bool done = false;
    const hf_status s = fit->outputs > 1 ? hfi_fit_assign_output(fit, a, &done) : HF_OK;
    if (s < 0 || done) return s;
    const char *noise = hfi_fit_noise_name(fit);
    if (noise && strcmp(a->name, noise) == 0) return assign_noise(fit, a->value, held);
    if (strcmp(a->name, "mean") == 0) return assign_mean(fit, a->value, held);
    if (strcmp(a->name, "threshold") != 0) return assign_kernel(fit, a, held);
    return held ? assign_threshold(fit, a->value)
                : hfi_refuse(fit->ctx, "the threshold is not trained, and so has no start");
}

/* Assigns starts, then held values: these come last, so that they stay. */
hf_status hfi_fit_assign(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < settings->start_count; k++) s = assign(fit, &settings->start[k], false);
    for (size_t k = 0; s >= 0 && k < settings->set_count; k++) s = assign(fit, &settings->set[k], true);
    return s < 0 || fit->outputs == 1 ? s : hfi_fit_finish_assignments(fit);
}

/* In the order of the list. */
static void tell(const char *name, double value, size_t room, size_t *count, hf_assignment *out)
{
    if (*count < room) out[*count] = (hf_assignment){name, value};
    *count += 1;
}

size_t hf_fit_assignments(const hf_posterior *posterior, size_t room, hf_assignment *out)
{
    size_t count = 0;
    if (!posterior || hf_posterior_outputs(posterior) > 1) return 0;
    if (!out) room = 0;
    const hfi_scaling *scaling = &posterior->scaling;
    for (size_t i = 0; i < hf_kernel_parameters(posterior->kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(posterior->kernel, i, &p) < 0) return 0;
        const double factor = hfi_scaling_factor(scaling, p.unit, p.column);
        tell(p.name, isfinite(factor) ? p.value * factor : p.value, room, &count, out);
    }
    tell("noise", hf_posterior_noise(posterior), room, &count, out);
    if (hf_mean_get_kind(posterior->mean) == HF_MEAN_CONSTANT)
        tell("mean", hfi_scaling_mean(scaling, 0, hf_mean_values(posterior->mean)[0]), room, &count, out);
    return count;
}
