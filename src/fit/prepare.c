/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel, mean and sites before training; the trainer's boxes, priors and start. */
#include "fit/fit.h"
#include "settings/settings.h"
#include <math.h>

/* Start values in standardised units; docs/methods/robust-default.md says where they come
 * from. */
static const double noise_start = 0.1, outputs_noise_start = 0.03, noise_upper = 1e3;

/* In standardised units. Of several outputs one is easily explained away as noise: starting from much noise a
 * search loses sight of inputs that matter little before it sees them. Weights that come with a start of
 * their own, and Student-t noise, do not ask for that. */
static double start_of_noise(const hfi_fit *fit)
{
    if (fit->settings->common_start > 0.0) return fit->settings->common_start;
    return fit->outputs > 1 && fit->settings->sites == HF_LIKELIHOOD_GAUSSIAN ? outputs_noise_start
                                                                              : noise_start;
}

/* Equal kernels of a sum would stay equal: each starts four times as short as the one before, and they share
 * the amplitude of one. Independent outputs have one each. */
static double part_twins(const hfi_fit *fit, size_t i, hf_unit unit)
{
    size_t before = 0, all = 1;
    if (fit->settings->independent) return 1.0;
    if (unit != HF_UNIT_INPUT && unit != HF_UNIT_OUTPUT2) return 1.0;
    hfi_kernel_twins(fit->kernel, i, &before, &all);
    return unit == HF_UNIT_INPUT ? pow(0.25, (double)before) : 1.0 / (double)all;
}

static hf_status start_kernel(hfi_fit *fit)
{
    hfi_fit_array found = {0};
    for (size_t i = 0; i < hf_kernel_parameters(fit->kernel); i++) {
        hf_parameter p;
        hf_kernel_parameter(fit->kernel, i, &p);
        const double unit = hfi_fit_reference(fit, &p);
        double value = p.value * unit;
        if (hfi_kernel_parameter_given(fit->kernel, i))
            value = hfi_fit_to_internal(fit, &p, p.value);
        else if (fit->settings->common_start > 0.0 &&
                 (hfi_fit_is_lengthscale(&p) || p.unit == HF_UNIT_OUTPUT2))
            value = fit->settings->common_start * unit;
        else if (hfi_fit_is_lengthscale(&p))
            value = exp(0.5 * log((double)hfi_fit_inputs_of(fit, i, &p, &found)) + 0.3) * unit;
        if (!hfi_kernel_parameter_given(fit->kernel, i)) value *= part_twins(fit, i, p.unit);
        const double lower = fmin(p.lower * unit, value), upper = fmax(p.upper * unit, value);
        const hf_status s = hfi_kernel_set_parameter(fit->kernel, i, value, lower, upper, p.fixed);
        if (s < 0) return hfi_fail(fit->ctx, s, "kernel parameter %s cannot be %g", p.name, value);
    }
    return HF_OK;
}

/* In the units that the fit gives an output. */
static double beta_of(const hfi_fit *fit, size_t output)
{
    const hf_fit_settings *settings = fit->settings;
    const double beta = settings->output_beta ? settings->output_beta[output] : settings->beta;
    return settings->scaled_beta ? beta : beta / hfi_scaling_scale(&fit->scaling, output);
}

hf_status hfi_fit_amplitude(const hfi_fit *fit, hf_sites *sites)
{
    if (fit->settings->sites != HF_LIKELIHOOD_ROBUST) return HF_OK;
    if (fit->outputs <= 1) return hf_sites_set_beta(fit->ctx, sites, beta_of(fit, 0));
    double *beta = hfi_alloc(fit->ctx, fit->n, sizeof *beta);
    if (!beta) return HF_ERR_MEMORY;
    for (size_t i = 0; i < fit->n; i++)
        beta[i] = beta_of(fit, hfi_scaling_output(&fit->scaling, fit->x + i * fit->d));
    const hf_status s = hfi_sites_set_betas(fit->ctx, sites, beta);
    hfi_free(fit->ctx, beta);
    return s;
}

hf_status hfi_fit_prepare(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    hf_status s = HF_OK;
    if (fit->outputs > 1) {
        s = hfi_fit_make_outputs(fit);
    } else {
        s = hf_kernel_parse(fit->ctx, settings->kernel, fit->data->names, fit->d, &fit->kernel);
        if (s >= 0) s = hf_mean_create(fit->ctx, settings->mean, fit->d, &fit->mean);
        if (s >= 0 && hfi_fit_integrates_slopes(fit)) s = hfi_fit_widen_slopes(fit);
    }
    if (s >= 0) s = start_kernel(fit);
    if (s >= 0 && hfi_fit_integrates_slopes(fit)) s = hfi_fit_hold_slopes(fit);
    const double unit = settings->standardise ? 1.0 : fit->measured.y_scale;
    fit->noise = settings->noise_start > 0.0
                     ? settings->noise_start / fit->scaling.y_scale / fit->scaling.y_scale
                     : start_of_noise(fit) * unit * unit;
    fit->threshold = settings->threshold_rule == HF_THRESHOLD_GIVEN
                         ? settings->threshold / fit->scaling.y_scale
                         : INFINITY;
    if (s >= 0 && fit->outputs > 1) s = hfi_fit_start_outputs(fit, start_of_noise(fit));
    if (s >= 0) s = hfi_fit_assign(fit);
    hfi_fit_hold_dispersion(fit);
    if (s >= 0) s = hf_sites_gaussian(fit->ctx, fit->n, fit->y, fit->noise, fit->extra, &fit->sites);
    if (s >= 0 && fit->outputs > 1) s = hfi_fit_output_sites(fit);
    return s < 0 ? s : hfi_fit_amplitude(fit, fit->sites);
}

static hf_status trainer_arrays(hfi_fit *fit, hfi_trainer *t)
{
    hf_context *ctx = fit->ctx;
    t->free_index = hfi_alloc(ctx, t->count, sizeof *t->free_index);
    t->lower = hfi_alloc(ctx, t->count, sizeof(double));
    t->upper = hfi_alloc(ctx, t->count, sizeof(double));
    t->prior_mean = hfi_alloc(ctx, t->count, sizeof(double));
    t->prior_sd = hfi_alloc(ctx, t->count, sizeof(double));
    t->start = hfi_alloc(ctx, t->count, sizeof(double));
    t->work = hfi_alloc(ctx, t->count, 6 * sizeof(double));
    const bool ok =
        t->free_index && t->lower && t->upper && t->prior_mean && t->prior_sd && t->start && t->work;
    return ok ? HF_OK : HF_ERR_MEMORY;
}

/* Inducing inputs and entries of actions. */
static void free_extras(hfi_trainer *t)
{
    for (size_t k = t->noise + hfi_trainer_noises(t); k < t->count; k++) t->free_index[t->free_count++] = k;
    hfi_trainer_bound_extras(t);
}

/* The step that the readings of a channel were rounded to. */
static hf_status channel_step(const hfi_fit *fit, size_t channel, double *step)
{
    double *own = hfi_alloc(fit->ctx, fit->n, sizeof *own);
    if (!own) return HF_ERR_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (hf_sites_channel(fit->sites, i) == channel) own[count++] = fit->y[i];
    const hf_status s = hfi_reading_step(fit->ctx, count, own, step);
    hfi_free(fit->ctx, own);
    return s;
}

/* Box, prior and freedom of the log noise of a channel. */
static hf_status noise_box(const hfi_fit *fit, hfi_trainer *t, size_t channel)
{
    const hf_fit_settings *settings = fit->settings;
    const size_t at = t->noise + channel;
    const double unit = settings->standardise ? 0.0 : 2.0 * log(hfi_scaling_scale(&fit->measured, channel));
    double step = 0.0;
    const hf_status s = fit->shift ? HF_OK : channel_step(fit, channel, &step);
    if (s < 0) return s;
    /* Rows that repeat can agree by chance on a rounded target; without this the noise may then collapse to nothing. */
    t->lower[at] = log(fmax(hfi_fit_least_noise(fit) * exp(unit), step * step / 12.0));
    t->upper[at] = log(noise_upper) + unit;
    if (settings->max_noise > 0.0)
        t->upper[at] =
            fmin(t->upper[at], log(hfi_scaling_site_variance(&fit->scaling, channel, settings->max_noise)));
    t->upper[at] = fmax(t->upper[at], t->lower[at]);
    if (settings->priors) hfi_fit_noise_prior(t, at, unit);
    const bool held = hfi_trainer_noises(t) > 1 ? fit->noises_held[channel] : fit->noise_held;
    if (settings->train && !held) t->free_index[t->free_count++] = at;
    return HF_OK;
}

/* Freedom and prior of the kernel's parameters from `begin` to before `end`. */
static void kernel_box(const hfi_fit *fit, hfi_trainer *t, size_t begin, size_t end)
{
    const hf_fit_settings *settings = fit->settings;
    hfi_fit_array found = {0};
    for (size_t i = begin; i < end; i++) {
        hf_parameter p;
        hf_kernel_parameter(fit->kernel, i, &p);
        if (settings->train && !p.fixed) t->free_index[t->free_count++] = i;
        if (settings->priors) hfi_fit_kernel_prior(fit, t, i, &p, &found);
    }
}

/* The terms of independent outputs one after the other, in the order that does not depend on their numbers. */
static void kernel_boxes(const hfi_fit *fit, hfi_trainer *t, size_t kernel_count)
{
    if (!fit->settings->independent || fit->outputs <= 1) {
        kernel_box(fit, t, 0, kernel_count);
        return;
    }
    for (size_t place = 0; place < fit->outputs; place++) {
        const size_t term = hfi_fit_output_at(fit, place);
        size_t begin = 0, end = kernel_count;
        if (term > 0) (void)hfi_kernel_coregion(fit->kernel, term, &begin, NULL, NULL, NULL);
        if (term + 1 < fit->outputs) (void)hfi_kernel_coregion(fit->kernel, term + 1, &end, NULL, NULL, NULL);
        kernel_box(fit, t, begin, end);
    }
}

hf_status hfi_fit_trainer(hfi_fit *fit)
{
    hfi_trainer *t = &fit->trainer;
    const hf_fit_settings *settings = fit->settings;
    const bool train = settings->train;
    t->journal = fit->journal;
    t->optimiser = settings->optimiser;
    t->learning_rate = settings->learning_rate;
    t->outputs = fit->outputs;
    t->budget = settings->suspects == HF_OUTLIERS_OFF ? 100 * (1 + settings->restarts) : 400;
    t->objective = settings->objective;
    t->comparable = fit->comparable ? fit->comparable : fit->x;
    const size_t kernel_count = hf_kernel_parameters(fit->kernel),
                 mean_count = hf_mean_coefficients(fit->mean);
    t->noise = kernel_count + mean_count;
    t->count = t->noise + hfi_trainer_noises(t) + hfi_evaluator_extras(&t->evaluator);
    hf_status s = trainer_arrays(fit, t);
    if (s < 0) return s;
    hfi_kernel_theta_bounds(fit->kernel, t->lower, t->upper);
    for (size_t i = 0; i < t->count; i++) t->prior_sd[i] = INFINITY;
    kernel_boxes(fit, t, kernel_count);
    const hf_mean_kind kind = hf_mean_get_kind(fit->mean);
    t->train_mean = train && settings->train_mean && !hf_mean_held(fit->mean) && kind != HF_MEAN_MEDIAN;
    if (kind == HF_MEAN_LINEAR)
        t->train_mean = train && !hf_mean_held(fit->mean) && !hfi_fit_integrates_slopes(fit);
    for (size_t k = 0; k < mean_count; k++) {
        const size_t own = kind == HF_MEAN_OUTPUTS ? hfi_fit_output_at(fit, k) : k, i = kernel_count + own;
        t->lower[i] = -INFINITY;
        t->upper[i] = INFINITY;
        const bool says_little = kind == HF_MEAN_OUTPUTS && hfi_output_is_sparse(fit->readings[own]);
        if (t->train_mean && !says_little) t->free_index[t->free_count++] = i;
    }
    for (size_t k = 0; s >= 0 && k < hfi_trainer_noises(t); k++)
        s = noise_box(fit, t, hfi_trainer_noises(t) > 1 ? hfi_fit_output_at(fit, k) : k);
    if (s < 0) return s;
    free_extras(t);
    t->curved = (settings->sites == HF_LIKELIHOOD_GAUSSIAN || settings->sites == HF_LIKELIHOOD_ROBUST) &&
                settings->optimiser == HF_OPTIMISER_LBFGS &&
                hfi_evaluator_knows_curvature(&t->evaluator, t->objective);
    hfi_fit_bound_sparse(fit, t);
    hfi_trainer_get(t, t->start);
    t->warm = settings->warm;
    t->mean_started = fit->mean_started && (t->train_mean || !train);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        t->start[i] = fmin(fmax(t->start[i], t->lower[i]), t->upper[i]);
    }
    if (settings->sites != HF_LIKELIHOOD_ROBUST || settings->centre != HF_CENTRE_CONDITIONAL) return HF_OK;
    t->conditional = &fit->conditional;
    return hfi_conditional_init(fit->ctx, settings, fit->n, fit->d, fit->outputs, fit->x, fit->y, fit->sample,
                                fit->place_of, fit->readings, &fit->conditional);
}
