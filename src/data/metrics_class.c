/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of predicted class probabilities. */
#include "core/core.h"

#include <holdfast/metrics.h>

#include <math.h>

/* How far from 1 a row of probabilities may sum: those that were printed with six digits still pass. */
static const double slack = 1e-6;

typedef struct task {
    size_t classes, bins;
    hf_calibration_bin *bin;
    size_t n, right;
    double nlpd, brier; /* running means */
} task;

static bool is_missing(size_t classes, size_t label, const double *p)
{
    bool missing = label == SIZE_MAX;
    for (size_t c = 0; c < classes; c++) missing = missing || isnan(p[c]);
    return missing;
}

static hf_status check_row(hf_context *ctx, size_t row, size_t classes, size_t label, const double *p)
{
    if (label >= classes)
        return hfi_refuse(ctx, "metrics: the label of row %zu is class %zu; there are %zu, counted from 0",
                          row + 1, label, classes);
    double sum = 0;
    for (size_t c = 0; c < classes; c++) {
        if (!(p[c] >= 0 && p[c] <= 1 + slack))
            return hfi_refuse(ctx,
                              "metrics: row %zu has probability %g of class %zu; it must lie between 0 and 1",
                              row + 1, p[c], c);
        sum += p[c];
    }
    if (!(fabs(sum - 1) <= slack))
        return hfi_refuse(ctx, "metrics: the probabilities of row %zu sum to %.9g, not to 1", row + 1, sum);
    return HF_OK;
}

/* The part of (0, 1] that a confidence lies in; exactly on an edge is the one below. */
static size_t bin_of(size_t bins, double confidence)
{
    const double above = ceil(confidence * (double)bins);
    if (!(above >= 1)) return 0;
    size_t b = above >= (double)bins ? bins - 1 : (size_t)above - 1;
    /* the product is rounded: the edges themselves decide */
    if (b > 0 && confidence <= (double)b / (double)bins) b--;
    if (b + 1 < bins && confidence > (double)(b + 1) / (double)bins) b++;
    return b;
}

static void add_row(task *t, size_t label, const double *p)
{
    const double count = (double)++t->n;
    size_t winner = 0;
    double brier = 0;
    for (size_t c = 0; c < t->classes; c++) {
        const double error = p[c] - (c == label ? 1.0 : 0.0);
        brier += error * error;
        if (p[c] > p[winner]) winner = c;
    }
    const double nlpd = -log(p[label]);
    t->nlpd = isinf(nlpd) || isinf(t->nlpd) ? INFINITY : t->nlpd + (nlpd - t->nlpd) / count;
    t->brier += (brier - t->brier) / count;
    t->right += winner == label ? 1 : 0;
    hf_calibration_bin *bin = &t->bin[bin_of(t->bins, p[winner])];
    bin->n++;
    bin->confidence += p[winner];
    bin->accuracy += winner == label ? 1 : 0;
}

/* From sums to means. */
static double calibration_error(task *t)
{
    double error = 0;
    for (size_t b = 0; b < t->bins; b++) {
        hf_calibration_bin *bin = &t->bin[b];
        error += fabs(bin->accuracy - bin->confidence) / (double)t->n;
        if (bin->n == 0) continue;
        bin->accuracy /= (double)bin->n;
        bin->confidence /= (double)bin->n;
    }
    return error;
}

static hf_status add_rows(hf_context *ctx, size_t n, const size_t *label, const double *probability, task *t)
{
    for (size_t i = 0; i < n; i++) {
        const double *p = probability + i * t->classes;
        if (is_missing(t->classes, label[i], p)) continue;
        const hf_status s = check_row(ctx, i, t->classes, label[i], p);
        if (s != HF_OK) return s;
        add_row(t, label[i], p);
    }
    if (t->n > 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NO_DATA, "metrics: none of %zu rows has a label and probabilities", n);
}

hf_status hf_metrics_class(hf_context *ctx, size_t n, size_t classes, const size_t *label,
                           const double *probability, size_t bins, hf_calibration_bin *bin,
                           hf_class_metrics *out)
{
    if (!out || (n > 0 && (!label || !probability)))
        return hfi_refuse(ctx, "hf_metrics_class: an array or out is NULL");
    if (classes == 0 || bins == 0)
        return hfi_refuse(ctx, "metrics: at least one class and one bin are needed");
    task t = {.classes = classes, .bins = bins, .bin = hfi_alloc(ctx, bins, sizeof *t.bin)};
    if (!t.bin) return HF_ERR_MEMORY;
    hf_status s = add_rows(ctx, n, label, probability, &t);
    if (s == HF_OK) {
        *out = (hf_class_metrics){.n = t.n,
                                  .accuracy = (double)t.right / (double)t.n,
                                  .nlpd = t.nlpd,
                                  .brier = t.brier,
                                  .calibration_error = calibration_error(&t)};
        for (size_t b = 0; bin && b < bins; b++) bin[b] = t.bin[b];
        if (t.n < n)
            s = hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                         "metrics: %zu of %zu rows have no label or no prediction and were left out", n - t.n,
                         n);
    }
    hfi_free(ctx, t.bin);
    return s;
}
