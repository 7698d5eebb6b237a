/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that are present, checked and standardised. */
#include "core/settings.h"
#include "fit/fit.h"
#include "settings/settings.h"
#include <math.h>
#include <string.h>

static const char *input_name(const hf_data *data, size_t j, char buffer[32])
{
    if (data->names) return data->names[j];
    hfi_print(buffer, 32, "x%zu", j + 1);
    return buffer;
}

static hf_status check_inducing_inputs(hf_context *ctx, const hf_data *data, const hf_fit_settings *s)
{
    if (s->inducing > data->n)
        return hfi_refuse(ctx, "%zu inducing inputs are given for %zu readings; give from one to as many",
                          s->inducing, data->n);
    for (size_t k = 0; k < s->inducing * data->d; k++)
        if (!isfinite(s->inducing_inputs[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "input %zu of inducing input %zu (both counted from 0) is %g", k % data->d,
                            k / data->d, s->inducing_inputs[k]);
    return HF_OK;
}

static hf_status check_action_matrix(hf_context *ctx, const hf_data *data, const hf_fit_settings *s)
{
    if (s->action_rows != data->n)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the matrix of actions has %zu rows for %zu rows of data; give one for each",
                        s->action_rows, data->n);
    return hfi_given_actions_check(ctx, data->n, s->actions, s->action_matrix);
}

/* Inducing inputs and actions that are given beside the data, and have to fit it. */
static hf_status check_given(hf_context *ctx, const hf_data *data, const hf_fit_settings *s)
{
    const hf_status status = s->inducing_inputs ? check_inducing_inputs(ctx, data, s) : HF_OK;
    return status >= 0 && s->action_matrix ? check_action_matrix(ctx, data, s) : status;
}

/* One amplitude for each output: entries of an array, and how many outputs the data has. */
static hf_status check_betas(hf_context *ctx, const hf_data *data, const hf_fit_settings *s)
{
    const size_t outputs = hfi_larger(data->outputs, 1);
    if (!s->output_beta) return HF_OK;
    if (s->output_beta_count != outputs)
        return hfi_refuse(ctx, "%zu amplitudes (beta) are given for %zu output%s", s->output_beta_count,
                          outputs, outputs == 1 ? "" : "s");
    for (size_t t = 0; t < outputs; t++)
        if (!(s->output_beta[t] >= 0.0 && isfinite(s->output_beta[t])))
            return hfi_refuse(ctx,
                              "beta %zu of %zu is %g; give a positive number, or 0 for the usual amplitude",
                              t + 1, outputs, s->output_beta[t]);
    return HF_OK;
}

static hf_status check_data_settings(hf_context *ctx, const hf_data *data, const hf_fit_settings *s)
{
    hf_status status = hfi_fit_settings_use(ctx, s, HFI_USE_ARRAYS);
    if (status >= 0) status = hfi_settings_agree(ctx, hf_fit_settings_table(), s, data->outputs, NULL);
    if (status >= 0) status = check_betas(ctx, data, s);
    return status < 0 ? status : check_given(ctx, data, s);
}

hf_status hfi_fit_check(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings)
{
    if (!data || !settings || !data->x || !data->y) return hfi_refuse(ctx, "a fit needs data and settings");
    if (data->n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there are no readings to fit");
    if (data->d == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there are no inputs to fit on");
    if (data->ldx < data->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu is less than the %zu inputs", data->ldx,
                        data->d);
    char buffer[32];
    for (size_t i = 0; i < data->n; i++) {
        if (isinf(data->y[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the target of row %zu is infinite", i + 1);
        for (size_t j = 0; j < data->d; j++)
            if (!isfinite(data->x[i * data->ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input '%s' of row %zu is not finite",
                                input_name(data, j, buffer), i + 1);
        if (data->noise && !isnan(data->y[i]) && !(data->noise[i] >= 0.0 && isfinite(data->noise[i])))
            return hfi_refuse(ctx, "the noise variance of row %zu is %g; it must be finite and not negative",
                              i + 1, data->noise[i]);
    }
    hf_status s = hfi_fit_check_outputs(ctx, data);
    if (s >= 0) s = check_data_settings(ctx, data, settings);
    return s < 0 ? s : hfi_fit_check_likelihood(ctx, data, settings);
}

/* Location and scale of columns: mean and sd; of the target: median (0 if `centred` is false) and a robust scale. */
static hf_status measure_scaling(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                                 bool centred, hfi_scaling *out)
{
    hf_status s = hfi_scaling_identity(ctx, d, out);
    if (s < 0) return s;
    for (size_t j = 0; j < d; j++) hfi_fit_mean_and_sd(n, x + j, d, &out->x_shift[j], &out->x_scale[j]);
    s = hfi_fit_robust_scale(ctx, n, y, &out->y_shift, &out->y_scale);
    if (!centred) out->y_shift = 0.0;
    if (s < 0) hfi_scaling_free(out);
    return s;
}

/* Beyond these sizes variances and squared residuals leave the range of a double. */
static const double smallest_spread = 1e-150, largest_spread = 1e151, furthest_reading = 1e150;

/* The largest scale of an output. */
static double widest(const hfi_scaling *scaling)
{
    double most = 0.0;
    for (size_t t = 0; t < scaling->outputs; t++) most = fmax(most, hfi_scaling_scale(scaling, t));
    return most;
}

static hf_status check_range(const hfi_fit *fit)
{
    const double spread = widest(&fit->measured);
    if (!(spread >= smallest_spread && spread <= largest_spread))
        return hfi_fail(fit->ctx, HF_ERR_NOT_FINITE,
                        "the target varies by about %.3g, and variances, its square, leave the range of a "
                        "double; give it in other units",
                        spread);
    /* Robust weights need no squares of what is far off; the leave-one-out objectives do. */
    if (hfi_sites_kind_of(fit->settings->sites)->weighed && fit->settings->objective == HF_OBJECTIVE_EVIDENCE)
        return HF_OK;
    for (size_t k = 0; k < fit->n; k++) {
        const double y = fit->data->y[fit->row[k]];
        const double shift =
            hfi_scaling_shift(&fit->measured, hfi_scaling_output(&fit->measured, fit->x + k * fit->d));
        if (fabs(y / spread - shift / spread) <= furthest_reading && fabs(fit->y[k]) <= furthest_reading)
            continue;
        return hfi_fail(
            fit->ctx, HF_ERR_NOT_FINITE,
            "the target %g (row %zu of those with complete inputs) is %.3g times the usual spread from the "
            "others. Its square leaves the range of a double; correct it, or leave it empty",
            y, fit->row[k] + 1, fabs(y / spread));
    }
    return HF_OK;
}

/* Mean and standard deviation of numbers spread evenly over [0, 1]. */
static const double unit_mean = 0.5, unit_sd = 0.2886751345948129;

/* Codes of categories are no measurements: they stay as they are. */
static hf_status find_codes(hfi_fit *fit)
{
    hf_kernel *kernel = NULL;
    if (!fit->settings->kernel || !strstr(fit->settings->kernel, "category")) return HF_OK;
    hf_status s = hf_kernel_parse(fit->ctx, fit->settings->kernel, fit->data->names, fit->data->d, &kernel);
    if (s < 0) return s;
    fit->code = hfi_alloc(fit->ctx, fit->data->d, sizeof *fit->code);
    s = fit->code ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) (void)hfi_kernel_codes(kernel, fit->code);
    hf_kernel_free(kernel);
    return s;
}

void hfi_fit_scale_inputs(hfi_fit *fit, const double *mean, const double *sd)
{
    for (size_t j = 0; j < hfi_fit_own_inputs(fit); j++) {
        const bool code = fit->code && fit->code[j], unit = fit->settings->unit_inputs;
        const bool as_it_is = code || unit || !fit->settings->standardise;
        fit->measured.x_shift[j] = code ? 0.0 : unit ? unit_mean : mean[j];
        fit->measured.x_scale[j] = code ? 1.0 : unit ? unit_sd : sd[j];
        fit->scaling.x_shift[j] = as_it_is ? 0.0 : mean[j];
        fit->scaling.x_scale[j] = as_it_is ? 1.0 : sd[j];
    }
}

/* From the user's units to those of the fit, in place. */
static hf_status scale(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    const bool centred = settings->mean != HF_MEAN_ZERO;
    hf_status s = measure_scaling(fit->ctx, fit->n, fit->d, fit->x, fit->y, centred, &fit->measured);
    if (s >= 0) s = hfi_fit_measure_outputs(fit, centred, &fit->measured);
    if (s >= 0 && fit->shift) { /* latent values are logarithms */
        fit->measured.y_shift = 0.0;
        fit->measured.y_scale = 1.0;
    }
    if (s >= 0)
        s = settings->standardise ? hfi_scaling_copy(fit->ctx, &fit->measured, &fit->scaling)
                                  : hfi_fit_identity(fit->ctx, fit->d, fit->outputs, &fit->scaling);
    if (s < 0) return s;
    hfi_fit_scale_inputs(fit, fit->measured.x_shift, fit->measured.x_scale);
    if (!settings->standardise && !settings->unit_inputs) {
        fit->comparable = hfi_alloc(fit->ctx, fit->n, fit->d * sizeof *fit->comparable);
        if (!fit->comparable) return HF_ERR_MEMORY;
        hfi_scaling_inputs(&fit->measured, fit->n, fit->x, fit->d, fit->comparable);
    }
    const hfi_scaling *scaling = &fit->scaling;
    hfi_scaling_inputs(scaling, fit->n, fit->x, fit->d, fit->x);
    for (size_t i = 0; i < fit->n; i++) {
        const size_t output = hfi_scaling_output(scaling, fit->x + i * fit->d);
        fit->y[i] = hfi_scaling_target(scaling, output, fit->y[i]);
        fit->extra[i] = hfi_scaling_site_variance(scaling, output, fit->extra[i]);
    }
    return check_range(fit);
}

bool hfi_fit_is_aside(const hf_data *data, size_t i)
{
    return data->aside && data->aside[i] && !isnan(data->y[i]);
}

hf_status hfi_fit_gather(hfi_fit *fit)
{
    const hf_data *data = fit->data;
    fit->way = hfi_fit_way_of(fit->settings->sites);
    fit->d = data->d;
    fit->outputs = hfi_larger(data->outputs, 1);
    for (size_t i = 0; i < data->n; i++) {
        const bool aside = hfi_fit_is_aside(data, i);
        fit->aside += aside ? 1 : 0;
        fit->n += aside || isnan(data->y[i]) ? 0 : 1;
    }
    if (fit->n == 0 && fit->aside > 0)
        return hfi_fail(fit->ctx, HF_ERR_NO_DATA, "all %zu readings are set aside", fit->aside);
    if (fit->n == 0) return hfi_fail(fit->ctx, HF_ERR_NO_DATA, "none of the %zu rows has a target", data->n);
    hf_status s = find_codes(fit);
    if (s < 0) return s;
    fit->solver = hfi_choose_solver(fit->settings, fit->n, fit->d, &fit->inducing, &fit->actions);
    const double bytes = hfi_fit_bytes(fit), available = (double)hfi_available_memory();
    if (bytes > available)
        return hfi_fail(
            fit->ctx, HF_ERR_TOO_LARGE,
            "this fit of %zu readings with the %s solver needs %.4g GB of memory, %.4g GB are available; %s",
            fit->n, hf_enum_name(HF_ENUM_SOLVER, fit->solver), bytes / 1e9, available / 1e9,
            hfi_fit_solver_of(fit->solver)->smaller);
    s = HFI_ALLOC(fit->ctx, HFI_ROOM(fit->row, fit->n), HFI_ROOMS(fit->x, fit->n, fit->d),
                  HFI_ROOMS(fit->y, fit->n, 2));
    if (s >= 0 && data->sample) s = HFI_ALLOC(fit->ctx, HFI_ROOM(fit->sample, fit->n));
    if (s < 0) return s;
    fit->extra = fit->y + fit->n;
    size_t k = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (isnan(data->y[i]) || hfi_fit_is_aside(data, i)) continue;
        memcpy(fit->x + k * fit->d, data->x + i * data->ldx, fit->d * sizeof *fit->x);
        if (fit->sample) fit->sample[k] = data->sample[i];
        fit->y[k] = data->y[i];
        fit->extra[k] = data->noise ? data->noise[i] : 0.0;
        fit->row[k++] = i;
    }
    s = hfi_fit_gather_likelihood(fit);
    return s < 0 ? s : scale(fit);
}
