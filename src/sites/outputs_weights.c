/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of single readings, and the choice between them and those of rows and outputs. */
#include "core/settings_rows.h"
#include "linalg/linalg.h"
#include "sites/mcd.h"
#include "sites/outputs.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- weights of rows --------------------------------------------------------------------------------- */

static const double FURTHEST = 1e100; /* thresholds, as in site.c */

typedef struct distances {
    double *root;    /* n: sqrt(q_i); NaN for a row without a reading */
    double *zero;    /* n zeros: the centre of the roots */
    double *typical; /* n: root by the median of its chi-squared distribution, or NaN */
} distances;

/* A^-1 r of one row into `slope` (T, zero where missing) and sqrt(r' A^-1 r / p). */
static double measure_row_distance(const hf_outputs_model *model, const double *y, size_t count,
                                   const size_t *observed, const double *factor, double *work, double *slope)
{
    double sum = 0.0;
    memset(slope, 0, model->outputs * sizeof *slope);
    if (count == 0) return NAN;
    for (size_t k = 0; k < count; k++) work[k] = hfi_outputs_deviation(model, observed[k], y[observed[k]]);
    hfi_chol_forward(count, factor, count, work);
    for (size_t k = 0; k < count; k++) sum += work[k] * work[k];
    hfi_chol_backward(count, factor, count, work);
    for (size_t k = 0; k < count; k++) slope[observed[k]] = work[k];
    return sqrt(sum / (double)count);
}

/* Roots and slopes of all rows. `block` holds T T + T doubles. */
static hf_status measure_all(hf_context *ctx, size_t n, const double *y, size_t ldy,
                             const hf_outputs_model *model, const hfi_patterns *patterns, double *block,
                             size_t *observed, distances *d, double *slope)
{
    const size_t outputs = model->outputs;
    hf_status status = HF_OK;
    for (size_t group = 0; group < patterns->groups && status >= 0; group++) {
        const size_t begin = patterns->begin[group], end = patterns->begin[group + 1];
        const double *first = y + patterns->row[begin] * ldy;
        const hf_outputs_model at = hfi_outputs_at(model, patterns->row[begin]);
        size_t count = 0;
        for (size_t t = 0; t < outputs; t++)
            if (!isnan(first[t])) observed[count++] = t;
        status = hfi_worse(status, hfi_outputs_factor(ctx, &at, count, observed, block));
        if (status < 0) return status;
        const double median = count > 0 ? sqrt(hfi_chi_squared_quantile(count, 0.5) / (double)count) : NAN;
        for (size_t k = begin; k < end; k++) {
            const size_t i = patterns->row[k];
            d->root[i] = measure_row_distance(&at, y + i * ldy, count, observed, block,
                                              block + outputs * outputs, slope + i * outputs);
            d->typical[i] = d->root[i] / median;
        }
    }
    for (size_t i = 0; i < n; i++) d->zero[i] = 0.0;
    return status;
}

static hf_status choose_weight_threshold(hf_context *ctx, const hf_outputs_rule *rule, size_t n,
                                         size_t outputs, distances *d, double *c)
{
    double eps = 0.0;
    size_t count = 0;
    if (rule->threshold != HF_OUTPUTS_MAD) {
        for (size_t t = 0; t < outputs; t++) eps = fmax(eps, rule->eps[t]);
        return hfi_outputs_threshold(ctx, rule->threshold, n, d->root, d->zero, eps, c);
    }
    /* The linear rule's lower limit, and its error when there is no reading at all. */
    double least = 0.0;
    hf_status status = hfi_outputs_threshold(ctx, HF_OUTPUTS_LINEAR, n, d->root, d->zero, 0.5, &least);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++)
        if (!isnan(d->typical[i])) d->typical[count++] = d->typical[i];
    const double value = 3.0 * hfi_median(d->typical, count);
    *c = value >= DBL_MIN ? value : least;
    return HF_OK;
}

static void weigh_row(size_t outputs, double root, double c, const double *y, double *weight, double *shift)
{
    /* shift holds A^-1 r; the row's p is how many readings there are. */
    size_t count = 0;
    for (size_t t = 0; t < outputs; t++) count += isnan(y[t]) ? 0 : 1;
    if (count == 0) {
        for (size_t t = 0; t < outputs; t++) weight[t] = shift[t] = 0.0;
        return;
    }
    /* Beyond the limit the row counts as lying on it, in its own direction. */
    const double q = fmin(root / c, FURTHEST), back = root > 0.0 ? q * c / root : 1.0;
    for (size_t t = 0; t < outputs; t++) {
        weight[t] = isnan(y[t]) ? 0.0 : 1.0 / (1.0 + q * q);
        shift[t] = 2.0 / (double)count * (shift[t] * back / c) / (1.0 + q * q) / c;
    }
}

/* Weight and shift n x T, scale T; weigh_channels() too. */
static hf_status weigh_rows(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
                            size_t ldy, const hf_outputs_model *model, const hf_outputs_sites *out)
{
    const size_t outputs = model->outputs;
    hfi_patterns patterns = {0};
    double *block = hfi_alloc(ctx, 3 * n + outputs * outputs + outputs, sizeof *block), c = 0.0;
    size_t *observed = hfi_alloc(ctx, outputs, sizeof *observed);
    hf_status status =
        block && observed ? hfi_patterns_create(ctx, n, y, ldy, model, &patterns) : HF_ERR_MEMORY;
    if (status >= 0) {
        distances d = {.root = block, .zero = block + n, .typical = block + 2 * n};
        status = measure_all(ctx, n, y, ldy, model, &patterns, block + 3 * n, observed, &d, out->shift);
        if (status >= 0) status = hfi_worse(status, choose_weight_threshold(ctx, rule, n, outputs, &d, &c));
        for (size_t i = 0; i < n && status >= 0; i++)
            weigh_row(outputs, d.root[i], c, y + i * ldy, out->weight + i * outputs,
                      out->shift + i * outputs);
        for (size_t t = 0; t < outputs; t++) out->scale[t] = c;
    }
    hfi_patterns_free(ctx, &patterns);
    HFI_FREE(ctx, block, observed);
    return status;
}

/* ---- weights of outputs ------------------------------------------------------------------------------ */

static const double MEDIAN_TO_SD = 1.482602218505602;

/* Standard errors of a robust scale, 1.17 / sqrt(count) each, that pass for chance. */
static const double CHANCE = 3.5;

enum {
    ROUNDS = 10 /* per output; each bad output takes one or two */
};

typedef struct channel {
    double scale;    /* robust standard deviation over the expected one */
    double variance; /* median of the expected ones */
    size_t count;
} channel;

/* `scratch` holds 2 n. */
static channel measure_channel_scale(size_t n, size_t outputs, size_t t, const double *y, size_t ldy,
                                     const double *mean, const double *variance, double *scratch)
{
    channel c = {.scale = 1.0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i * ldy + t])) continue;
        const double v = variance[i * outputs + t];
        scratch[c.count] = fabs(y[i * ldy + t] - mean[i * outputs + t]) / sqrt(v);
        scratch[n + c.count++] = v;
    }
    if (c.count == 0) return c;
    /* So that its square is finite too. */
    c.scale = fmin(1e100, MEDIAN_TO_SD * hfi_median(scratch, c.count));
    c.variance = hfi_median(scratch + n, c.count);
    return c;
}

/* The output that stands out most, by more than chance; `outputs` when there is none. */
static size_t find_worst(size_t n, size_t outputs, const double *y, size_t ldy, const double *mean,
                         const double *variance, double *scratch, channel *worst)
{
    size_t found = outputs;
    *worst = (channel){.scale = 0.0};
    for (size_t t = 0; t < outputs; t++) {
        const channel c = measure_channel_scale(n, outputs, t, y, ldy, mean, variance, scratch);
        if (c.count == 0 || c.scale <= 1.0 + CHANCE / sqrt((double)c.count) || c.scale <= worst->scale)
            continue;
        found = t;
        *worst = c;
    }
    return found;
}

/* excess (T) := e. `block` holds 2 n T + 2 n. */
static hf_status iterate_scales(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                const hf_outputs_model *model, double *block, double *noise, double *excess)
{
    const size_t outputs = model->outputs, size = n * outputs;
    hf_status status = HF_OK;
    for (size_t round = 0; round < ROUNDS * outputs && status >= 0; round++) {
        hf_outputs_model widened = *model;
        channel worst;
        for (size_t t = 0; t < outputs; t++) noise[t] = model->noise[t] + excess[t];
        widened.noise = noise;
        status = hfi_worse(status, hfi_outputs_condition(ctx, n, y, ldy, &widened, block, block + size));
        if (status < 0) return status;
        const size_t t = find_worst(n, outputs, y, ldy, block, block + size, block + 2 * size, &worst);
        if (t == outputs) return status;
        excess[t] += (worst.scale * worst.scale - 1.0) * worst.variance;
    }
    return hfi_worse(status, hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                                      "after %zu rounds some output still varies more than it should",
                                      (size_t)ROUNDS * outputs));
}

static hf_status weigh_channels(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                const hf_outputs_model *model, const hf_outputs_sites *out)
{
    const size_t outputs = model->outputs, size = n * outputs;
    double *block = hfi_alloc(ctx, 2 * size + 2 * n + outputs, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    memset(out->scale, 0, outputs * sizeof *out->scale);
    hf_status status = iterate_scales(ctx, n, y, ldy, model, block, block + 2 * size + 2 * n, out->scale);
    for (size_t i = 0; i < n && status >= 0; i++) {
        for (size_t t = 0; t < outputs; t++) {
            const double s = model->noise[t];
            out->weight[i * outputs + t] = isnan(y[i * ldy + t]) ? 0.0 : s / (s + out->scale[t]);
            out->shift[i * outputs + t] = 0.0;
        }
    }
    hfi_free(ctx, block);
    return status;
}

/* ---- the choice --------------------------------------------------------------------------------------- */

static void weigh_single_reading(double y, double centre, double c, double *weight, double *shift)
{
    if (isnan(y)) {
        *weight = *shift = 0.0;
        return;
    }
    const double q = fmax(-FURTHEST, fmin(FURTHEST, (y - centre) / c));
    *weight = 1.0 / (1.0 + q * q);
    *shift = fabs(q) <= 1.0 ? 2.0 * q / (1.0 + q * q) / c : 2.0 / q / (1.0 + 1.0 / (q * q)) / c;
}

static hf_status weigh_readings(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
                                size_t ldy, const hf_outputs_model *model, const double *centre,
                                const hf_outputs_sites *out)
{
    const size_t outputs = model->outputs;
    hf_status status = HF_OK;
    double *own = centre == NULL ? hfi_alloc_product(ctx, n, outputs, sizeof *own) : NULL;
    if (centre == NULL && own == NULL) return HF_ERR_MEMORY;
    if (own != NULL) status = hfi_outputs_condition(ctx, n, y, ldy, model, own, NULL);
    const double *used = own != NULL ? own : centre;
    if (status >= 0)
        status = hfi_worse(status, hf_outputs_thresholds(ctx, rule->threshold, n, outputs, y, ldy, used,
                                                         rule->eps, out->scale));
    for (size_t i = 0; i < n && status >= 0; i++)
        for (size_t t = 0; t < outputs; t++)
            weigh_single_reading(y[i * ldy + t], used[i * outputs + t], out->scale[t],
                                 &out->weight[i * outputs + t], &out->shift[i * outputs + t]);
    hfi_free(ctx, own);
    return status;
}

static hf_status check_weights_call(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
                                    size_t ldy, const hf_outputs_model *model, const hf_outputs_sites *out)
{
    hf_status status = hfi_outputs_check(ctx, "hf_outputs_weights", n, y, ldy, model);
    if (status < 0) return status;
    if (rule == NULL || out == NULL || (n > 0 && (out->weight == NULL || out->shift == NULL)))
        return hfi_refuse(ctx, "hf_outputs_weights: the rule or an array for results is NULL");
    if ((unsigned)rule->weighting >= hf_enum_count(HF_ENUM_OUTPUTS_WEIGHTING))
        return hfi_refuse(ctx, "%d is no weighting of outputs", (int)rule->weighting);
    if (rule->weighting != HF_OUTPUTS_CHANNEL)
        return hfi_outputs_check_threshold(ctx, rule->threshold, model->outputs, rule->eps);
    for (size_t t = 0; t < model->outputs; t++)
        if (!(model->noise[t] > 0.0))
            return hfi_refuse(
                ctx, "weights for whole outputs divide by their noise variance; that of output %zu is 0", t);
    return HF_OK;
}

#define SETTINGS hf_outputs_rule
static const hfi_setting rule_rows[] = {
    {CHOICE(weighting, hf_outputs_weighting, OUTPUTS_WEIGHTING, HF_OUTPUTS_CHANNEL)},
    {CHOICE(threshold, hf_outputs_threshold, OUTPUTS_THRESHOLD, HF_OUTPUTS_MAD)},
    {LIST(eps)},
};
SETTINGS_TABLE(hf_outputs_rule, "a rule of weights", rule_rows)
#undef SETTINGS

hf_status hf_outputs_weights(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
                             size_t ldy, const hf_outputs_model *model, const double *centre,
                             const hf_outputs_sites *out)
{
    hf_outputs_rule own;
    hf_status status = hfi_settings_take(ctx, hf_outputs_rule_table(), rule, &own);
    if (status >= 0) status = check_weights_call(ctx, rule != NULL ? &own : NULL, n, y, ldy, model, out);
    if (status < 0) return status;
    const size_t outputs = model->outputs, size = n * outputs;
    double *block = hfi_alloc(ctx, 2 * size + outputs, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    const hf_outputs_sites made = {
        .scale = block, .weight = block + outputs, .shift = block + outputs + size};
    if (own.weighting == HF_OUTPUTS_READING)
        status = weigh_readings(ctx, &own, n, y, ldy, model, centre, &made);
    else if (own.weighting == HF_OUTPUTS_JOINT)
        status = weigh_rows(ctx, &own, n, y, ldy, model, &made);
    else
        status = weigh_channels(ctx, n, y, ldy, model, &made);
    if (status >= 0) {
        if (n > 0) memcpy(out->weight, made.weight, size * sizeof *block);
        if (n > 0) memcpy(out->shift, made.shift, size * sizeof *block);
        if (out->scale) memcpy(out->scale, made.scale, outputs * sizeof *block);
    }
    hfi_free(ctx, block);
    return status;
}
