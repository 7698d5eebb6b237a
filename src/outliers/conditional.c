/* SPDX-License-Identifier: Apache-2.0 */
/* MO-RCGP's two steps: weights from a robust covariance of the outputs, then from the fitted one, to a fixed point. */
#include "outliers/outliers.h"
#include "settings/settings.h"
#include <holdfast/robust_covariance.h>
#include <math.h>
#include <string.h>

/* Entries of covariances that differ by this share of their size are the same but for rounding. */
static const double SAME = 1e-13;

/* A variance, in standardised units, of readings that are all the same. */
static const double NOTHING = 1e-24;

/* Parts of `model`. */
static double *mean_of(const hfi_conditional *c)
{
    return c->model;
}
static double *noise_of(const hfi_conditional *c)
{
    return c->model + c->samples.outputs;
}
static double *covariance_of(const hfi_conditional *c)
{
    return c->model + 2 * c->samples.outputs;
}

bool hfi_conditional_chooses(const hf_fit_settings *settings)
{
    return settings->train && settings->rounds > 1 && settings->weighting == HF_OUTPUTS_READING;
}

static hf_status set_rule(hf_context *ctx, const hf_fit_settings *settings, size_t outputs,
                          hfi_conditional *out)
{
    if (settings->output_eps && settings->output_eps_count != outputs)
        return hfi_refuse(ctx, "%zu shares of outliers (eps) are given for %zu outputs",
                          settings->output_eps_count, outputs);
    for (size_t k = 0; k < outputs; k++) {
        const size_t t = out->samples.output[k];
        out->eps[k] = settings->output_eps ? settings->output_eps[t] : settings->eps;
        if (!(out->eps[k] >= 0.0 && out->eps[k] < 1.0))
            return hfi_refuse(ctx,
                              "eps of output %zu is %g; it is a share of outliers, from 0 to less than 1", t,
                              out->eps[k]);
    }
    if (settings->threshold_rule == HF_THRESHOLD_GIVEN)
        return hfi_refuse(ctx, "weights centred on the other outputs have a threshold for each by the rule "
                               "'quantile' or 'mad', not a given one");
    /* Interpolated, the quantile has a part of the smallest wrong residual where just that share is wrong. It
     * then goes with it as far as it likes. */
    out->rule = (hf_outputs_rule){
        .size = sizeof(hf_outputs_rule),
        .weighting = settings->weighting,
        .threshold = settings->threshold_rule == HF_THRESHOLD_MAD ? HF_OUTPUTS_MAD : HF_OUTPUTS_LOWER,
        .eps = out->eps};
    return HF_OK;
}

hf_status hfi_conditional_init(hf_context *ctx, const hf_fit_settings *settings, size_t n, size_t d,
                               size_t outputs, const double *x, const double *y, const size_t *sample,
                               const size_t *place_of, const size_t *readings, hfi_conditional *out)
{
    memset(out, 0, sizeof *out);
    hf_status s = hfi_samples_init(ctx, n, d, outputs, x, y, sample, place_of, &out->samples);
    if (s < 0) return s;
    out->readings = readings;
    const size_t rows = out->samples.count;
    s = HFI_ALLOC(ctx, HFI_ROOM(out->eps, outputs), HFI_ROOMS(out->weight, rows, outputs),
                  HFI_ROOMS(out->shift, rows, outputs), HFI_ROOMS(out->model, outputs, 2 + outputs),
                  HFI_ROOMS(out->rows, outputs, 2 + outputs),
                  HFI_ROOMS(out->covariances, rows, outputs * outputs));
    out->chooses = hfi_conditional_chooses(settings);
    if (s >= 0) s = set_rule(ctx, settings, outputs, out);
    if (s < 0) hfi_conditional_free(out);
    return s;
}

void hfi_conditional_free(hfi_conditional *c)
{
    hf_context *ctx = c->samples.ctx;
    HFI_FREE(ctx, c->eps, c->weight, c->shift, c->model, c->rows, c->covariances);
    hfi_samples_free(&c->samples);
    memset(c, 0, sizeof *c);
}

static hf_outputs_model model_of(const hfi_conditional *c)
{
    return (hf_outputs_model){.outputs = c->samples.outputs,
                              .mean = mean_of(c),
                              .covariance = covariance_of(c),
                              .covariances = c->varies ? c->covariances : NULL,
                              .noise = noise_of(c)};
}

/* Weights by the model in `model`, into the sites. */
static hf_status weigh_conditional_sites(hfi_trainer *t, hfi_conditional *c, double *change)
{
    const hfi_evaluator *e = &t->evaluator;
    const hfi_samples *g = &c->samples;
    const hf_outputs_model model = model_of(c);
    const hf_outputs_sites sites = {.weight = c->weight, .shift = c->shift};
    const hf_status s =
        hf_outputs_weights(e->ctx, &c->rule, g->count, g->y, g->outputs, &model, NULL, &sites);
    if (s < 0) return s;
    *change = 0.0;
    for (size_t cell = 0; cell < g->count * g->outputs; cell++) {
        const size_t i = g->reading[cell];
        if (i == SIZE_MAX) continue;
        if (c->rule.weighting == HF_OUTPUTS_READING &&
            hfi_output_is_sparse(c->readings[g->output[cell % g->outputs]])) {
            /* Too few for a threshold. */
            c->weight[cell] = 1.0;
            c->shift[cell] = 0.0;
        }
        *change = fmax(*change, fabs(c->weight[cell] - hf_sites_weights(e->sites)[i]));
        hfi_sites_weigh_as(e->sites, i, c->weight[cell], c->shift[cell]);
    }
    return HF_OK;
}

/* Covariance between outputs at the inputs of one sample: those of the first of its readings. */
static void covariance_at(const hfi_trainer *t, const hfi_samples *g, size_t row, double *b)
{
    const hfi_evaluator *e = &t->evaluator;
    const size_t outputs = g->outputs;
    double *u = t->work, *v = u + e->d; /* work: 6 x count, and count > d with a coregion */
    size_t i = SIZE_MAX;
    for (size_t s = 0; s < outputs && i == SIZE_MAX; s++) i = g->reading[row * outputs + s];
    memcpy(u, e->x + i * e->ldx, e->d * sizeof *u);
    memcpy(v, u, e->d * sizeof *v);
    for (size_t s = 0; s < outputs; s++)
        for (size_t q = 0; q < outputs; q++) {
            u[e->d - 1] = (double)g->output[s];
            v[e->d - 1] = (double)g->output[q];
            b[s * outputs + q] = hfi_kernel_value(e->kernel, u, v, false);
        }
}

/* Those of all samples; one is enough where they differ by rounding only. */
static void kernel_covariance(const hfi_trainer *t, hfi_conditional *c)
{
    const hfi_samples *g = &c->samples;
    const size_t square = g->outputs * g->outputs;
    c->varies = false;
    for (size_t row = 0; row < g->count; row++) {
        double *b = c->covariances + row * square;
        covariance_at(t, g, row, b);
        for (size_t k = 0; k < square; k++)
            c->varies = c->varies || fabs(b[k] - c->covariances[k]) > SAME * fabs(c->covariances[k]);
    }
    memcpy(covariance_of(c), c->covariances, square * sizeof(double));
}

static void present_means(const hfi_trainer *t, const hfi_conditional *c)
{
    const hf_mean *mean = t->evaluator.mean;
    const size_t *output = c->samples.output;
    for (size_t k = 0; k < c->samples.outputs; k++)
        mean_of(c)[k] = hf_mean_get_kind(mean) == HF_MEAN_OUTPUTS ? hf_mean_values(mean)[output[k]] : 0.0;
}

/* ---- location and covariance of the readings themselves ------------------------------------------ */

/* Outputs that have nothing to do with each other, each as wide as its readings are. */
static hf_status unrelated(hf_context *ctx, const hfi_samples *g, double *mean, double *covariance)
{
    double *own = hfi_alloc(ctx, g->count, 2 * sizeof *own);
    if (!own) return HF_ERR_MEMORY;
    memset(covariance, 0, g->outputs * g->outputs * sizeof *own);
    for (size_t t = 0; t < g->outputs; t++) {
        size_t count = 0;
        for (size_t i = 0; i < g->count; i++)
            if (!isnan(g->y[i * g->outputs + t])) own[count++] = g->y[i * g->outputs + t];
        const double mad = count > 0 ? hfi_mad(own, count, own + g->count) : 0.0;
        mean[t] = count > 0 ? hfi_median(own, count) : 0.0;
        covariance[t * g->outputs + t] = mad > 0.0 ? mad * mad : 1.0;
    }
    hfi_free(ctx, own);
    return HF_OK;
}

/* An output that is constant has no variance: it gets that of standardised readings, and nothing to
 * do with the others. */
static void free_constants(size_t outputs, double *b)
{
    for (size_t t = 0; t < outputs; t++) {
        if (b[t * (outputs + 1)] > NOTHING) continue;
        for (size_t s = 0; s < outputs; s++) b[t * outputs + s] = b[s * outputs + t] = 0.0;
        b[t * (outputs + 1)] = 1.0;
    }
}

static size_t count_complete(const hfi_samples *g)
{
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t t = 0;
        while (t < g->outputs && !isnan(g->y[i * g->outputs + t])) t++;
        count += t == g->outputs;
    }
    return count;
}

hf_status hfi_conditional_estimate(hf_context *ctx, const hfi_samples *samples, const double *eps,
                                   double *mean, double *covariance, size_t *complete)
{
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    double wrong = 0.0;
    for (size_t t = 0; t < samples->outputs; t++) wrong += eps[t];
    settings.support_fraction = fmax(0.5, 1.0 - wrong);
    const hf_robust_covariance_arrays out = {.location = mean, .covariance = covariance};
    const hf_status s = hf_robust_covariance(ctx, samples->count, samples->outputs, samples->y,
                                             samples->outputs, &settings, &out, NULL);
    *complete = 0;
    if (s == HF_ERR_NO_DATA) return unrelated(ctx, samples, mean, covariance);
    if (s < 0) return s;
    *complete = count_complete(samples);
    free_constants(samples->outputs, covariance);
    return HF_OK;
}

static hf_status estimate_rows(hf_context *ctx, hfi_conditional *c)
{
    const size_t outputs = c->samples.outputs;
    memset(c->rows, 0, 2 * outputs * sizeof *c->rows);
    const hf_status s =
        hfi_conditional_estimate(ctx, &c->samples, c->eps, c->rows, c->rows + 2 * outputs, &c->complete);
    c->estimated = s >= 0;
    return s;
}

/* The readings' own location and covariance, without noise, as the model. */
static void take_rows(hfi_conditional *c)
{
    const size_t outputs = c->samples.outputs;
    memcpy(c->model, c->rows, outputs * (2 + outputs) * sizeof *c->rows);
    c->varies = false;
}

/* ---- weights by the fitted covariance, or by that of the readings -------------------------------- */

/* Thresholds (one for each output) of the model in `model`; the weights there are spoilt. */
static hf_status find_thresholds(hf_context *ctx, hfi_conditional *c, const hf_outputs_model *model,
                                 double *threshold)
{
    const hfi_samples *g = &c->samples;
    const hf_outputs_sites sites = {.weight = c->weight, .shift = c->shift, .scale = threshold};
    return hf_outputs_weights(ctx, &c->rule, g->count, g->y, g->outputs, model, NULL, &sites);
}

/* Whether the readings are nearer to the centres of `rows`, by more than those T numbers for each output
 * would bring about by chance. Wrong readings, within their share, have no say: thresholds are quantiles. */
static hf_status compare_centres(hf_context *ctx, hfi_conditional *c)
{
    const size_t outputs = c->samples.outputs;
    if (c->complete <= outputs) return HF_OK;
    double *fitted = hfi_alloc(ctx, outputs, 2 * sizeof *fitted), gain = 0.0;
    if (!fitted) return HF_ERR_MEMORY;
    double *own = fitted + outputs;
    const hf_outputs_model model = model_of(c), rows = {.outputs = outputs,
                                                        .mean = c->rows,
                                                        .covariance = c->rows + 2 * outputs,
                                                        .noise = c->rows + outputs};
    hf_status s = find_thresholds(ctx, c, &model, fitted);
    if (s >= 0) s = find_thresholds(ctx, c, &rows, own);
    const double n = (double)c->complete, p = (double)outputs, chance = 0.5 * log((n + p) / (n - p));
    for (size_t t = 0; s >= 0 && t < outputs; t++) gain += log(fitted[t] / own[t]) - chance;
    c->by_rows = s >= 0 && gain > 0.0;
    hfi_free(ctx, fitted);
    return s;
}

/* Which covariance counts. A fit that goes on from another one has the answer of that one. */
static hf_status choose_covariance(hf_context *ctx, hfi_conditional *c)
{
    if (!c->by_rows) return c->estimated ? compare_centres(ctx, c) : HF_OK;
    if (c->estimated) return HF_OK;
    const hf_status s = estimate_rows(ctx, c);
    c->by_rows = s >= 0 && c->complete > c->samples.outputs;
    return s;
}

hf_status hfi_conditional_reweigh(hfi_trainer *t, hfi_conditional *c, double *change)
{
    const hf_sites *sites = t->evaluator.sites;
    hf_status s = HF_OK;
    kernel_covariance(t, c);
    present_means(t, c);
    for (size_t k = 0; k < c->samples.outputs; k++)
        noise_of(c)[k] = hf_sites_channel_noise(sites, hfi_sites_output_channel(sites, c->samples.output[k]));
    if (c->chooses) s = choose_covariance(t->evaluator.ctx, c);
    if (s >= 0 && c->by_rows) take_rows(c);
    return s < 0 ? s : weigh_conditional_sites(t, c, change);
}

/* ---- the first weights ----------------------------------------------------------------------- */

/* One free coregion of full rank. */
static bool takes_covariance(const hf_kernel *kernel, size_t outputs)
{
    size_t first = 0, factors = 0, own = 0;
    if (hf_kernel_coregions(kernel) != 1 || !hfi_kernel_coregion(kernel, 0, &first, &factors, &own, NULL))
        return false;
    if (own > 0 || hf_kernel_coregion_outputs(kernel, 0) != outputs) return false;
    for (size_t i = first; i < first + factors; i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) < 0 || p.fixed || hfi_kernel_parameter_given(kernel, i))
            return false;
    }
    return true;
}

/* Mean and, if `related`, covariance of the estimate into the model, by the numbers of the outputs. */
static hf_status start_from(hfi_trainer *t, hfi_conditional *c, bool related)
{
    const hfi_evaluator *e = &t->evaluator;
    const size_t outputs = c->samples.outputs, *output = c->samples.output;
    double *mean = hfi_alloc(e->ctx, outputs, (outputs + 1) * sizeof *mean);
    if (!mean) return HF_ERR_MEMORY;
    double *b = mean + outputs;
    for (size_t k = 0; k < outputs; k++) {
        mean[output[k]] = mean_of(c)[k];
        for (size_t q = 0; q < outputs; q++)
            b[output[k] * outputs + output[q]] = covariance_of(c)[k * outputs + q];
    }
    hf_status s = HF_OK;
    if (hf_mean_get_kind(e->mean) == HF_MEAN_OUTPUTS && !hf_mean_held(e->mean))
        s = hf_mean_set(e->ctx, e->mean, mean, false);
    else
        present_means(t, c);
    if (s >= 0 && related) s = hf_kernel_set_coregion(e->ctx, e->kernel, 0, b);
    hfi_free(e->ctx, mean);
    return s;
}

hf_status hfi_conditional_start(hfi_trainer *t, hfi_conditional *c, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    double change = 0.0;
    hf_status s = hfi_trainer_set(t, state);
    if (s >= 0) s = estimate_rows(e->ctx, c);
    if (s < 0) return s;
    take_rows(c);
    c->by_rows = false;
    const bool related = c->complete > 0;
    s = start_from(t, c, related && t->free_count > 0 && takes_covariance(e->kernel, c->samples.outputs));
    for (size_t k = 0; k < c->samples.outputs; k++)
        noise_of(c)[k] = c->rule.weighting == HF_OUTPUTS_CHANNEL
                             ? 0.1 * covariance_of(c)[k * (c->samples.outputs + 1)]
                             : 0.0;
    if (s >= 0) s = weigh_conditional_sites(t, c, &change);
    hfi_trainer_get(t, state);
    return s;
}
