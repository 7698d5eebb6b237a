/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that a fit of several outputs has beside that of one: a location, a scale, a noise and a constant for each, and
 * the covariances between them. */
#include "fit/fit.h"
#include "settings/settings.h"
#include "sites/mcd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char given_covariance[] = "coregionalisation[";

static const char *output_name(const hf_data *data, size_t t, char buffer[32])
{
    if (data->output_names) return data->output_names[t];
    hfi_print(buffer, 32, "%zu", t);
    return buffer;
}

hf_status hfi_fit_check_outputs(hf_context *ctx, const hf_data *data)
{
    if (data->outputs <= 1) return HF_OK;
    if (data->d < 2)
        return hfi_fail(
            ctx, HF_ERR_DIMENSION,
            "several outputs need an input beside the number of the output, which is the last one");
    size_t *count = hfi_alloc(ctx, data->outputs, sizeof *count);
    if (!count) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < data->n; i++) {
        const double number = data->x[i * data->ldx + data->d - 1];
        if (!(number >= 0.0 && number < (double)data->outputs && number == floor(number)))
            s = hfi_refuse(ctx, "row %zu is of output %g; there are %zu, counted from 0", i + 1, number,
                           data->outputs);
        else if (!isnan(data->y[i]))
            count[(size_t)number]++;
    }
    char buffer[32];
    for (size_t t = 0; s >= 0 && t < data->outputs; t++)
        if (count[t] == 0)
            s = hfi_fail(ctx, HF_ERR_NO_DATA, "output '%s' has no readings; leave it out",
                         output_name(data, t, buffer));
    hfi_free(ctx, count);
    return s;
}

size_t hfi_fit_own_inputs(const hfi_fit *fit)
{
    return fit->outputs > 1 ? fit->d - 1 : fit->d;
}

hf_status hfi_fit_identity(hf_context *ctx, size_t d, size_t outputs, hfi_scaling *out)
{
    hf_status s = hfi_scaling_identity(ctx, d, out);
    if (s < 0 || outputs <= 1) return s;
    double *both = hfi_alloc(ctx, outputs, 2 * sizeof *both);
    if (!both) return HF_ERR_MEMORY; /* what was made goes with its owner */
    for (size_t t = 0; t < outputs; t++) both[outputs + t] = 1.0;
    s = hfi_scaling_set_outputs(ctx, out, outputs, both, both + outputs);
    hfi_free(ctx, both);
    return s;
}

hf_status hfi_fit_measure_outputs(hfi_fit *fit, bool centred, hfi_scaling *scaling)
{
    const size_t outputs = fit->outputs, d = fit->d;
    double *both, *own;
    if (outputs <= 1) return HF_OK;
    hf_status s = HFI_ALLOC(fit->ctx, HFI_ROOMS(both, outputs, 4), HFI_ROOM(own, fit->n),
                            HFI_ROOM(fit->readings, outputs));
    for (size_t t = 0; s >= 0 && t < outputs; t++) {
        size_t count = 0;
        for (size_t i = 0; i < fit->n; i++)
            if (fit->x[i * d + d - 1] == (double)t) own[count++] = fit->y[i];
        s = hfi_fit_robust_scale(fit->ctx, count, own, &both[t], &both[outputs + t]);
        fit->readings[t] = count;
    }
    if (s >= 0) hfi_fit_scale_sparse(fit, scaling->y_scale, both, both + outputs, both + 2 * outputs);
    for (size_t t = 0; s >= 0 && !centred && t < outputs; t++) both[t] = 0.0;
    if (s >= 0) s = hfi_scaling_set_outputs(fit->ctx, scaling, outputs, both, both + outputs);
    HFI_FREE(fit->ctx, both, own);
    return s;
}

/* ---- kernel and mean ------------------------------------------------------------------------- */

enum {
    FULL_RANK = 8, /* up to so many outputs every covariance between them is a parameter */
    USUAL_RANK = 3
};

static size_t coregion_rank(const hfi_fit *fit)
{
    /* A covariance that is given may be any. */
    for (size_t i = 0; i < fit->settings->set_count; i++)
        if (fit->settings->set[i].name &&
            strncmp(fit->settings->set[i].name, given_covariance, sizeof given_covariance - 1) == 0)
            return fit->outputs;
    const size_t wanted = fit->settings->coregion_rank;
    if (wanted > 0) return wanted < fit->outputs ? wanted : fit->outputs;
    return fit->outputs <= FULL_RANK ? fit->outputs : USUAL_RANK;
}

static hf_status make_kernel(hfi_fit *fit)
{
    const char *given = fit->settings->kernel ? fit->settings->kernel : "matern52(ard)";
    const hf_data *data = fit->data;
    hf_status s = hf_kernel_parse(fit->ctx, given, data->names, fit->d, &fit->kernel);
    if (s < 0) return s;
    const size_t coregions = hf_kernel_coregions(fit->kernel);
    for (size_t i = 0; i < coregions; i++)
        if (hf_kernel_coregion_outputs(fit->kernel, i) != fit->outputs)
            return hfi_refuse(fit->ctx,
                              "coregion number %zu of the kernel is for %zu outputs, but there are %zu",
                              i + 1, hf_kernel_coregion_outputs(fit->kernel, i), fit->outputs);
    if (coregions > 0 && fit->settings->independent)
        return hfi_refuse(fit->ctx, "independent outputs and a coregion in the kernel exclude each other");
    if (coregions > 0) return HF_OK;
    hf_kernel_free(fit->kernel);
    fit->kernel = NULL;
    char shared[64];
    hfi_print(shared, sizeof shared, ", rank=%zu)*(", coregion_rank(fit));
    char *text = hfi_kernel_of_outputs(fit->ctx, given, data->names ? data->names[fit->d - 1] : NULL, fit->d,
                                       fit->outputs, fit->settings->independent ? NULL : shared);
    if (!text) return HF_ERR_MEMORY;
    s = hf_kernel_parse(fit->ctx, text, data->names, fit->d, &fit->kernel);
    hfi_free(fit->ctx, text);
    return s;
}

static hf_status make_of_one(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    hf_status s = hf_kernel_parse(fit->ctx, settings->kernel, fit->data->names, fit->d, &fit->kernel);
    if (s >= 0) s = hf_mean_create(fit->ctx, settings->mean, fit->d, &fit->mean);
    return s >= 0 && hfi_fit_integrates_slopes(fit) ? hfi_fit_widen_slopes(fit) : s;
}

hf_status hfi_fit_make_outputs(hfi_fit *fit)
{
    if (fit->outputs <= 1) return make_of_one(fit);
    const hf_status s = make_kernel(fit);
    if (s < 0) return s;
    if (fit->settings->mean == HF_MEAN_ZERO)
        return hf_mean_create(fit->ctx, HF_MEAN_ZERO, fit->d, &fit->mean);
    return hf_mean_create_outputs(fit->ctx, fit->d, fit->outputs, &fit->mean);
}

/* ---- noise ----------------------------------------------------------------------------------- */

hf_status hfi_fit_start_outputs(hfi_fit *fit, double usual)
{
    const hf_fit_settings *settings = fit->settings;
    if (fit->outputs <= 1) return HF_OK;
    if (HFI_ALLOC(fit->ctx, HFI_ROOM(fit->noises, fit->outputs), HFI_ROOM(fit->noises_held, fit->outputs),
                  HFI_ROOM(fit->means_given, fit->outputs)) < 0)
        return HF_ERR_MEMORY;
    for (size_t t = 0; t < fit->outputs; t++) {
        const double unit = settings->standardise ? 1.0 : hfi_scaling_scale(&fit->measured, t);
        fit->noises[t] = settings->noise_start > 0.0
                             ? hfi_scaling_site_variance(&fit->scaling, t, settings->noise_start)
                             : usual * unit * unit;
    }
    return HF_OK;
}

hf_status hfi_fit_output_sites(hfi_fit *fit)
{
    if (fit->outputs <= 1 || fit->settings->shared_noise) return HF_OK;
    size_t *channel = hfi_alloc(fit->ctx, fit->n, sizeof *channel);
    if (!channel) return HF_ERR_MEMORY;
    for (size_t i = 0; i < fit->n; i++) channel[i] = (size_t)fit->x[i * fit->d + fit->d - 1];
    hf_status s = hf_sites_set_channels(fit->ctx, fit->sites, fit->outputs, channel);
    hfi_free(fit->ctx, channel);
    if (s >= 0) s = hf_sites_set_channel_noise(fit->ctx, fit->sites, fit->noises);
    return s;
}

/* ---- values given by name -------------------------------------------------------------------- */

/* "word[12]" or, with `pair`, "word[3,1]". */
static bool parse_index(const char *name, const char *word, bool pair, size_t *s, size_t *t)
{
    const size_t length = strlen(word);
    char *end = NULL;
    if (strncmp(name, word, length) != 0 || name[length] != '[') return false;
    const char *at = name + length + 1;
    if (*at < '0' || *at > '9') return false;
    *s = (size_t)strtoull(at, &end, 10);
    if (pair) {
        if (*end != ',' || end[1] < '0' || end[1] > '9') return false;
        *t = (size_t)strtoull(end + 1, &end, 10);
    }
    return strcmp(end, "]") == 0;
}

static hf_status no_output(const hfi_fit *fit, const hf_assignment *a)
{
    return hfi_refuse(fit->ctx, "%s: there are %zu outputs, counted from 0", a->name, fit->outputs);
}

static hf_status assign_noise(hfi_fit *fit, const hf_assignment *a, size_t first, size_t end)
{
    if (!(a->value > 0.0))
        return hfi_refuse(fit->ctx, "%s is a variance and must be positive, not %g", a->name, a->value);
    if (fit->settings->shared_noise && end - first < fit->outputs)
        return hfi_refuse(fit->ctx, "%s: the outputs share one noise, which is 'noise' in standardised units",
                          a->name);
    for (size_t t = first; t < end; t++) {
        fit->noises[t] = hfi_scaling_site_variance(&fit->scaling, t, a->value);
        fit->noises_held[t] = true;
    }
    if (fit->settings->shared_noise) {
        fit->noise = fit->settings->standardise ? a->value : fit->noises[0];
        fit->noise_held = true;
    }
    return HF_OK;
}

/* One constant is given: those that are not are started from the readings and then held with it. */
static hf_status assign_mean(hfi_fit *fit, const hf_assignment *a, size_t first, size_t end)
{
    if (hf_mean_get_kind(fit->mean) != HF_MEAN_OUTPUTS)
        return hfi_refuse(fit->ctx, "%s: only constant means can be set; this one is %s", a->name,
                          hf_enum_name(HF_ENUM_MEAN_KIND, hf_mean_get_kind(fit->mean)));
    double *values = hfi_alloc(fit->ctx, fit->outputs, sizeof *values);
    if (!values) return HF_ERR_MEMORY;
    memcpy(values, hf_mean_values(fit->mean), fit->outputs * sizeof *values);
    for (size_t t = first; t < end; t++) {
        values[t] = hfi_scaling_target(&fit->scaling, t, a->value);
        fit->means_given[t] = true;
    }
    const hf_status s = hf_mean_set(fit->ctx, fit->mean, values, false);
    hfi_free(fit->ctx, values);
    return s;
}

/* The coregion that "coregion2.coregionalisation[..]" is about, and *rest what follows; without a number the
 * only one. */
static hf_status find_coregion(const hfi_fit *fit, const char *name, const char **rest, size_t *term)
{
    static const char word[] = "coregion";
    const size_t count = hf_kernel_coregions(fit->kernel);
    char *end = NULL;
    *rest = name;
    *term = 0;
    if (strncmp(name, word, sizeof word - 1) != 0) return HF_OK;
    const char *number = name + sizeof word - 1;
    if (*number < '1' || *number > '9') return HF_OK;
    const unsigned long long which = strtoull(number, &end, 10);
    if (strncmp(end, ".coregionalisation[", 19) != 0) return HF_OK;
    if (which > count) return hfi_refuse(fit->ctx, "%s: the kernel has %zu coregions", name, count);
    *term = (size_t)which - 1;
    *rest = end + 1;
    return HF_OK;
}

static hf_status assign_covariance(hfi_fit *fit, const hf_assignment *a, bool numbered, size_t term,
                                   size_t row, size_t column)
{
    const size_t n = fit->outputs, count = hf_kernel_coregions(fit->kernel);
    if (!numbered && fit->settings->independent) {
        if (row != column) return hfi_refuse(fit->ctx, "%s: independent outputs have no covariance", a->name);
        term = row;
    } else if (!numbered && count != 1)
        return hfi_refuse(fit->ctx, "%s: the kernel has %zu coregions; say of which, as in coregion1.%s",
                          a->name, count, a->name);
    if (!fit->coregionalisation) {
        fit->coregionalisation = hfi_alloc_product(fit->ctx, count, n, n * sizeof *fit->coregionalisation);
        if (!fit->coregionalisation) return HF_ERR_MEMORY;
        for (size_t k = 0; k < count * n * n; k++) fit->coregionalisation[k] = NAN;
    }
    double *b = fit->coregionalisation + term * n * n;
    const double value =
        a->value / hfi_scaling_scale(&fit->scaling, row) / hfi_scaling_scale(&fit->scaling, column);
    b[row * n + column] = b[column * n + row] = value;
    return HF_OK;
}

hf_status hfi_fit_assign_output(hfi_fit *fit, const hf_assignment *a, bool *done)
{
    size_t s = 0, t = 0;
    *done = fit->outputs > 1;
    if (!*done) return HF_OK;
    if (strcmp(a->name, "noise") == 0) return assign_noise(fit, a, 0, fit->outputs);
    if (strcmp(a->name, "mean") == 0) return assign_mean(fit, a, 0, fit->outputs);
    if (parse_index(a->name, "noise", false, &s, &t))
        return s < fit->outputs ? assign_noise(fit, a, s, s + 1) : no_output(fit, a);
    if (parse_index(a->name, "mean", false, &s, &t))
        return s < fit->outputs ? assign_mean(fit, a, s, s + 1) : no_output(fit, a);
    const char *rest = a->name;
    size_t term = 0;
    const hf_status found = find_coregion(fit, a->name, &rest, &term);
    if (found < 0) return found;
    if (parse_index(rest, "coregionalisation", true, &s, &t))
        return s < fit->outputs && t < fit->outputs ? assign_covariance(fit, a, rest != a->name, term, s, t)
                                                    : no_output(fit, a);
    *done = false;
    return HF_OK;
}

/* Constants that were given are held, and if any is, all are. */
static hf_status hold_means(hfi_fit *fit)
{
    size_t given = 0;
    for (size_t t = 0; t < fit->outputs; t++) given += fit->means_given[t] ? 1 : 0;
    if (given == 0) return HF_OK;
    if (given < fit->outputs)
        return hfi_refuse(
            fit->ctx,
            "%zu of %zu constants of the mean are given; give all of them, mean[0] to mean[%zu], or none",
            given, fit->outputs, fit->outputs - 1);
    double *values = hfi_alloc(fit->ctx, fit->outputs, sizeof *values);
    if (!values) return HF_ERR_MEMORY;
    memcpy(values, hf_mean_values(fit->mean), fit->outputs * sizeof *values);
    const hf_status s = hf_mean_set(fit->ctx, fit->mean, values, true);
    hfi_free(fit->ctx, values);
    return s;
}

/* All entries of a coregion stay as they are. */
static hf_status hold_coregion(hfi_fit *fit, size_t term)
{
    size_t first = 0, factors = 0, own = 0;
    hf_status status = HF_OK;
    if (!hfi_kernel_coregion(fit->kernel, term, &first, &factors, &own, NULL)) return HF_OK;
    for (size_t i = first; status >= 0 && i < first + factors + own; i++) {
        hf_parameter p;
        hf_kernel_parameter(fit->kernel, i, &p);
        status = hfi_kernel_hold_parameter(fit->kernel, i, p.value);
    }
    return status;
}

/* Sets the variance of an independent output: the square of the one entry that is not 0. */
static hf_status set_variance(hfi_fit *fit, size_t output, double variance)
{
    size_t first = 0;
    if (!(variance > 0.0))
        return hfi_refuse(fit->ctx, "coregionalisation[%zu,%zu] is a variance and must be positive", output,
                          output);
    if (!hfi_kernel_coregion(fit->kernel, output, &first, NULL, NULL, NULL)) return HF_OK;
    const size_t entry = first + output * (output + 1) / 2 + output;
    return hfi_kernel_hold_parameter(fit->kernel, entry, sqrt(variance));
}

static hf_status set_covariance(hfi_fit *fit, size_t term)
{
    const size_t n = fit->outputs;
    const double *b = fit->coregionalisation + term * n * n;
    size_t given = 0, missing = SIZE_MAX;
    for (size_t s = 0; s < n; s++)
        for (size_t t = 0; t <= s; t++) {
            const bool there = !isnan(b[s * n + t]);
            given += there ? 1 : 0;
            if (!there && missing == SIZE_MAX) missing = s * n + t;
        }
    if (given == 0) return HF_OK;
    if (fit->settings->independent) return set_variance(fit, term, b[term * n + term]);
    if (missing != SIZE_MAX)
        return hfi_refuse(
            fit->ctx,
            "coregionalisation[%zu,%zu] is not given; give the whole lower triangle or nothing of it",
            missing / n, missing % n);
    const hf_status s = hf_kernel_set_coregion(fit->ctx, fit->kernel, term, b);
    return s < 0 ? s : hold_coregion(fit, term);
}

hf_status hfi_fit_finish_assignments(hfi_fit *fit)
{
    if (fit->outputs <= 1) return HF_OK;
    const hf_status s = hold_means(fit);
    if (s < 0 || !fit->coregionalisation) return s;
    hf_status status = HF_OK;
    for (size_t k = 0; status >= 0 && k < hf_kernel_coregions(fit->kernel); k++)
        status = set_covariance(fit, k);
    return status;
}

/* ---- outputs of few readings ------------------------------------------------------------------------- */

/* Outputs of so few readings that these say little about how widely the output varies, and that a
 * fit could explain them by chance. */

/* Factor that shrinks the prior's sd of their part in the other outputs' variation. */
static const double COUPLED = 0.25;

/* The chance of a spread of readings as small as that, or smaller. */
static const double CHANCE = 0.1;

/* Prior knowledge of one output from the others: their typical scale, and their typical spread relative to the
 * size of the readings. Without others that have enough readings, the scale of all readings
 * together. `work`: 2 x outputs. */
static void look_at_others(const hfi_fit *fit, const double *location, const double *scale, double all,
                           double *typical, double *relative, double *work)
{
    double *share = work + fit->outputs;
    size_t others = 0;
    for (size_t t = 0; t < fit->outputs; t++) {
        if (hfi_output_is_sparse(fit->readings[t])) continue;
        work[others] = log(scale[t]);
        share[others++] = log(scale[t] / hypot(scale[t], location[t]));
    }
    *typical = others > 0 ? exp(hfi_sum_sorted(work, others) / (double)others) : all;
    *relative = others > 0 ? exp(hfi_sum_sorted(share, others) / (double)others) : 0.0;
}

/* Root mean square, and standard deviation, of the readings of one output. */
static void measure_output_spread(const hfi_fit *fit, size_t output, double *size, double *sd)
{
    const double count = (double)fit->readings[output];
    double mean = 0.0, squares = 0.0;
    *size = *sd = 0.0;
    for (size_t i = 0; i < fit->n; i++) {
        if (fit->x[i * fit->d + fit->d - 1] != (double)output) continue;
        *size = hypot(*size, fit->y[i] / sqrt(count));
        mean += fit->y[i] / count;
    }
    for (size_t i = 0; i < fit->n; i++)
        if (fit->x[i * fit->d + fit->d - 1] == (double)output) squares = hypot(squares, fit->y[i] - mean);
    if (fit->readings[output] > 1) *sd = squares / sqrt(count - 1.0);
}

void hfi_fit_scale_sparse(const hfi_fit *fit, double all, const double *location, double *scale, double *work)
{
    double typical, relative;
    look_at_others(fit, location, scale, all, &typical, &relative, work);
    for (size_t t = 0; t < fit->outputs; t++) {
        const size_t count = fit->readings[t];
        if (!hfi_output_is_sparse(count)) continue;
        double size, sd;
        measure_output_spread(fit, t, &size, &sd);
        scale[t] = fmax(typical, relative * size);
        if (!(sd > 1e-13 * size)) continue;
        const double widest = sd * sqrt((double)(count - 1) / hfi_chi_squared_quantile(count - 1, CHANCE));
        scale[t] = fmin(fmax(scale[t], sd), widest);
    }
}

void hfi_fit_bound_sparse(const hfi_fit *fit, hfi_trainer *t)
{
    const size_t coregions = hf_kernel_coregions(fit->kernel);
    for (size_t i = 0; fit->outputs > 1 && i < coregions; i++)
        for (size_t s = 0; s < fit->outputs; s++) {
            bool squared;
            size_t first, end;
            if (!hfi_output_is_sparse(fit->readings[s])) continue;
            const size_t p = hfi_kernel_coregion_own(fit->kernel, i, s, &squared, &first, &end);
            for (size_t k = first; k < end; k++) t->prior_sd[k] *= fit->settings->priors ? COUPLED : 1.0;
            if (p == SIZE_MAX) continue;
            const double unit = fit->settings->standardise ? 1.0 : hfi_scaling_scale(&fit->measured, s);
            const double least = unit * sqrt(1.0 - (double)fit->readings[s] / HFI_SPARSE_READINGS);
            t->lower[p] = fmax(t->lower[p], squared ? 2.0 * log(least) : least);
            t->upper[p] = fmax(t->upper[p], t->lower[p]);
        }
}
