/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel, mean and sites before training; the trainer's boxes, priors and start. */
#include "fit/fit.h"
#include "settings/settings.h"
#include <math.h>
#include <string.h>

/* ---- values that the user gives ---------------------------------------------------------------------- */

/* The user's number of a kernel parameter in the units of the fit. */
static double to_internal(const hfi_fit *fit, const hf_parameter *parameter, double value)
{
    const double factor = hfi_scaling_factor(&fit->scaling, parameter->unit, parameter->column);
    return isfinite(factor) ? value / factor : value;
}

/* Places a parameter: a held value, its box growing to hold it; or a start of training, within the box. */
static hf_status place_fit_parameter(hfi_fit *fit, size_t i, double user, bool held)
{
    hf_parameter p;
    hf_kernel_parameter(fit->kernel, i, &p);
    const double value = to_internal(fit, &p, user);
    if (held) return hfi_kernel_hold_parameter(fit->kernel, i, value);
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
    for (size_t k = 0; s >= 0 && k < matches; k++) s = place_fit_parameter(fit, which[k], a->value, held);
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
    const hf_status s = hfi_fit_assign_output(fit, a, &done);
    if (s < 0 || done) return s;
    const char *noise = hfi_fit_noise_name(fit);
    if (noise && strcmp(a->name, noise) == 0) return assign_noise(fit, a->value, held);
    if (strcmp(a->name, "mean") == 0) return assign_mean(fit, a->value, held);
    if (strcmp(a->name, "threshold") != 0) return assign_kernel(fit, a, held);
    return held ? assign_threshold(fit, a->value)
                : hfi_refuse(fit->ctx, "the threshold is not trained, and so has no start");
}

/* Assigns starts, then held values: these come last, so that they stay. */
static hf_status assign_all(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < settings->start_count; k++) s = assign(fit, &settings->start[k], false);
    for (size_t k = 0; s >= 0 && k < settings->set_count; k++) s = assign(fit, &settings->set[k], true);
    return s < 0 ? s : hfi_fit_finish_assignments(fit);
}

/* In the order of the list. */
static void tell_assignment(const char *name, double value, size_t room, size_t *count, hf_assignment *out)
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
        tell_assignment(p.name, isfinite(factor) ? p.value * factor : p.value, room, &count, out);
    }
    tell_assignment("noise", hf_posterior_noise(posterior), room, &count, out);
    if (hf_mean_get_kind(posterior->mean) == HF_MEAN_CONSTANT)
        tell_assignment("mean", hfi_scaling_mean(scaling, 0, hf_mean_values(posterior->mean)[0]), room,
                        &count, out);
    return count;
}

/* ---- priors of hyperparameters ----------------------------------------------------------------------- */

/* In standardised units; docs/methods/robust-default.md says where they come from. */
static const double noise_lower = 1e-6, noise_prior = -3.506557897319982; /* log 0.03 */
static const double noise_prior_sd = 3.0, scale_prior_sd = 2.0, factor_prior_sd = 2.0;

/* Scaled with the inputs' number (Hvarfner, Hellsten and Nardi 2024), for inputs in [0, 1]: a density of l
 * with parameters sqrt 2 + log(d) / 2 and sqrt 3 is largest where its logarithm is sqrt 2 + log(d) / 2 - 3. As a
 * function of that logarithm it is a normal one about there, to a factor. Searches are often of functions without
 * noise: there may be less of it. */
static const double dimension_mode = -1.585786437626905, dimension_prior_sd = 1.7320508075688772;
static const double dimension_noise_lower = 1e-7;

/* How many inputs share the distance that lengthscale i is part of. The array found last is remembered in *last
 * (zero at first): going through all parameters in order takes time linear in their number, which may be 100 000. */
static size_t inputs_of(const hfi_fit *fit, size_t i, const hf_parameter *parameter, hfi_fit_array *last)
{
    const hf_kernel *kernel = fit->kernel;
    const char *bracket = strchr(parameter->name, '[');
    if (!bracket && parameter->column != SIZE_MAX) return 1;
    if (!bracket) return hf_kernel_dimension(kernel) - (fit->d - hfi_fit_measured_inputs(fit));
    if (i >= last->end) {
        const size_t length = (size_t)(bracket - parameter->name) + 1;
        hf_parameter other = *parameter;
        *last = (hfi_fit_array){.begin = i, .end = i};
        while (hf_kernel_parameter(kernel, last->end, &other) >= 0 &&
               strncmp(other.name, parameter->name, length) == 0)
            last->end++;
    }
    return last->end - last->begin;
}

static bool is_lengthscale(const hf_parameter *parameter)
{
    return parameter->unit == HF_UNIT_INPUT && strstr(parameter->name, "lengthscale") != NULL;
}

/* Range of an input among the readings, in the units of the fit: what [0, 1] is there. */
static double range_of(const hfi_fit *fit, size_t column)
{
    if (fit->settings->unit_inputs) return 1.0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < fit->n; i++) {
        low = fmin(low, fit->x[i * fit->d + column]);
        high = fmax(high, fit->x[i * fit->d + column]);
    }
    return high > low ? high - low : 1.0;
}

/* Its logarithm; of a lengthscale that inputs share, their mean. */
static double log_range(const hfi_fit *fit, const hf_parameter *p)
{
    const size_t own = hfi_fit_own_inputs(fit);
    const double inputs = (double)(hfi_fit_measured_inputs(fit) - (fit->d - own));
    double sum = 0.0;
    if (p->column != SIZE_MAX) return log(range_of(fit, p->column));
    for (size_t j = 0; j < own; j++)
        if (hfi_fit_is_measured(fit, j)) sum += log(range_of(fit, j)) / inputs;
    return sum;
}

static bool scales_with_dimension(const hfi_fit *fit)
{
    return fit->settings->lengthscale_prior == HF_PRIOR_DIMENSION;
}

double hfi_least_noise(hf_prior_kind lengthscale_prior)
{
    return lengthscale_prior == HF_PRIOR_DIMENSION ? dimension_noise_lower : noise_lower;
}

static double least_noise(const hfi_fit *fit)
{
    return hfi_least_noise(fit->settings->lengthscale_prior);
}

static void prior_of_noise(hfi_trainer *t, size_t at, double unit)
{
    t->prior_mean[at] = noise_prior + unit;
    t->prior_sd[at] = noise_prior_sd;
}

/* The prior of kernel parameter i. */
static void kernel_prior(const hfi_fit *fit, hfi_trainer *t, size_t i, const hf_parameter *p,
                         hfi_fit_array *last)
{
    const double unit = log(hfi_fit_reference(fit, p));
    if (is_lengthscale(p)) {
        const double share = 0.5 * log((double)inputs_of(fit, i, p, last));
        const bool scaled = scales_with_dimension(fit);
        t->prior_mean[i] = share + (scaled ? dimension_mode + log_range(fit, p) : 0.5 + unit);
        t->prior_sd[i] = scaled ? dimension_prior_sd : scale_prior_sd;
    } else if (hfi_kernel_is_of_codes(fit->kernel, i)) {
        t->prior_mean[i] = 0.0;
        t->prior_sd[i] = scale_prior_sd;
    } else if (p->unit == HF_UNIT_OUTPUT) {
        /* Entries of a coregionalisation's factor, of either sign: what keeps scale and lengthscale from
         * running away together. */
        t->prior_mean[i] = 0.0;
        t->prior_sd[i] = factor_prior_sd * exp(unit);
    } else if (p->unit == HF_UNIT_OUTPUT2 || p->unit == HF_UNIT_OUTPUT2_INPUT2) {
        t->prior_mean[i] = unit;
        t->prior_sd[i] = scale_prior_sd;
    }
}

/* ---- preparing ---------------------------------------------------------------------------------------- */

/* Start values in standardised units; docs/methods/robust-default.md says where they come
 * from. */
static const double noise_start = 0.1, outputs_noise_start = 0.03, noise_upper = 1e3;

/* In standardised units. One of several outputs is easily explained away as noise: starting from much noise a
 * search loses sight of inputs that matter little before it sees them. Weights that come with a start of
 * their own, and Student-t noise, do not ask for that. */
static double start_of_noise(const hfi_fit *fit)
{
    if (fit->settings->common_start > 0.0) return fit->settings->common_start;
    return fit->outputs > 1 && hfi_sites_kind_of(fit->settings->sites)->plain ? outputs_noise_start
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
            value = to_internal(fit, &p, p.value);
        else if (fit->settings->common_start > 0.0 && (is_lengthscale(&p) || p.unit == HF_UNIT_OUTPUT2))
            value = fit->settings->common_start * unit;
        else if (is_lengthscale(&p))
            value = exp(0.5 * log((double)inputs_of(fit, i, &p, &found)) + 0.3) * unit;
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
    if (!hfi_sites_kind_of(fit->settings->sites)->weighed) return HF_OK;
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
    hf_status s = hfi_fit_make_outputs(fit);
    if (s >= 0) s = start_kernel(fit);
    if (s >= 0 && hfi_fit_integrates_slopes(fit)) s = hfi_fit_hold_slopes(fit);
    const double unit = settings->standardise ? 1.0 : fit->measured.y_scale;
    fit->noise = settings->noise_start > 0.0
                     ? settings->noise_start / fit->scaling.y_scale / fit->scaling.y_scale
                     : start_of_noise(fit) * unit * unit;
    fit->threshold = settings->threshold_rule == HF_THRESHOLD_GIVEN
                         ? settings->threshold / fit->scaling.y_scale
                         : INFINITY;
    if (s >= 0) s = hfi_fit_start_outputs(fit, start_of_noise(fit));
    if (s >= 0) s = assign_all(fit);
    hfi_fit_hold_dispersion(fit);
    if (s >= 0) s = hf_sites_gaussian(fit->ctx, fit->n, fit->y, fit->noise, fit->extra, &fit->sites);
    if (s >= 0) s = hfi_fit_output_sites(fit);
    return s < 0 ? s : hfi_fit_amplitude(fit, fit->sites);
}

static hf_status trainer_arrays(hfi_fit *fit, hfi_trainer *t)
{
    const size_t count = t->count;
    return HFI_ALLOC(fit->ctx, HFI_ROOM(t->free_index, count), HFI_ROOM(t->lower, count),
                     HFI_ROOM(t->upper, count), HFI_ROOM(t->prior_mean, count), HFI_ROOM(t->prior_sd, count),
                     HFI_ROOM(t->start, count), HFI_ROOMS(t->work, count, 6));
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
    t->lower[at] = log(fmax(least_noise(fit) * exp(unit), step * step / 12.0));
    t->upper[at] = log(noise_upper) + unit;
    if (settings->max_noise > 0.0)
        t->upper[at] =
            fmin(t->upper[at], log(hfi_scaling_site_variance(&fit->scaling, channel, settings->max_noise)));
    t->upper[at] = fmax(t->upper[at], t->lower[at]);
    if (settings->priors) prior_of_noise(t, at, unit);
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
        if (settings->priors) kernel_prior(fit, t, i, &p, &found);
    }
}

/* The terms of independent outputs one after the other, in the order that does not depend on their numbers. */
static void kernel_boxes(const hfi_fit *fit, hfi_trainer *t, size_t kernel_count)
{
    if (!fit->settings->independent) {
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
    const hfi_sites_kind *sites = hfi_sites_kind_of(settings->sites);
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
    t->curved = sites->direct && settings->optimiser == HF_OPTIMISER_LBFGS &&
                hfi_evaluator_knows_curvature(&t->evaluator, t->objective);
    hfi_fit_bound_sparse(fit, t);
    hfi_trainer_get(t, t->start);
    t->warm = settings->warm;
    t->mean_started = fit->mean_started && (t->train_mean || !train);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        t->start[i] = fmin(fmax(t->start[i], t->lower[i]), t->upper[i]);
    }
    if (!sites->weighed || settings->centre != HF_CENTRE_CONDITIONAL) return HF_OK;
    t->conditional = &fit->conditional;
    s = hfi_conditional_init(fit->ctx, settings, fit->n, fit->d, fit->outputs, fit->x, fit->y, fit->sample,
                             fit->place_of, fit->readings, &fit->conditional);
    fit->conditional.by_rows = s >= 0 && fit->by_rows;
    return s;
}
