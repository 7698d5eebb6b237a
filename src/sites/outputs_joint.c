/* SPDX-License-Identifier: Apache-2.0 */
/* One weight for each row, from its Mahalanobis distance over the outputs that are observed there. */
#include "linalg/linalg.h"
#include "sites/chi_squared.h"
#include "sites/outputs.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FURTHEST = 1e100; /* thresholds, as in site.c */

typedef struct distances {
    double *root;    /* n: sqrt(q_i); NaN for a row without a reading */
    double *zero;    /* n zeros: the centre of the roots */
    double *typical; /* n: root by the median of its chi-squared distribution, or NaN */
} distances;

/* A^-1 r of one row into `slope` (T, zero where missing) and sqrt(r' A^-1 r / p). */
static double measure(const hf_outputs_model *model, const double *y, size_t count, const size_t *observed,
                      const double *factor, double *work, double *slope)
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
            d->root[i] = measure(&at, y + i * ldy, count, observed, block, block + outputs * outputs,
                                 slope + i * outputs);
            d->typical[i] = d->root[i] / median;
        }
    }
    for (size_t i = 0; i < n; i++) d->zero[i] = 0.0;
    return status;
}

static hf_status choose(hf_context *ctx, const hf_outputs_rule *rule, size_t n, size_t outputs, distances *d,
                        double *c)
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

hf_status hfi_outputs_weigh_rows(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
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
        if (status >= 0) status = hfi_worse(status, choose(ctx, rule, n, outputs, &d, &c));
        for (size_t i = 0; i < n && status >= 0; i++)
            weigh_row(outputs, d.root[i], c, y + i * ldy, out->weight + i * outputs,
                      out->shift + i * outputs);
        for (size_t t = 0; t < outputs; t++) out->scale[t] = c;
    }
    hfi_patterns_free(ctx, &patterns);
    HFI_FREE(ctx, block, observed);
    return status;
}
