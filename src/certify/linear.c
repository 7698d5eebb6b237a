/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of inputs by a linear function about a point: what the certified ones are compared with. */
#include "certify/certify.h"
#include "linalg/linalg.h"

#include <math.h>

static const double width_of_root =
    0.75; /* of the kernel, over the root of the number of inputs, as LIME's */

typedef struct linear {
    hf_context *ctx;
    const hf_posterior *posterior;
    const hf_classifier *classifier; /* NULL: the posterior's mean */
    hf_linear_settings settings;
    size_t d, wide, classes; /* inputs; columns of a row to predict; probabilities of a row */
    const double *step;
    size_t *moving, free;  /* inputs that move, and how many */
    double *u, *weighted;  /* pairs x free: draws, and draws times their weights */
    double *gram;          /* factor of sum w u u' */
    double *rows, *values; /* 2 pairs x wide, 2 pairs x classes */
    double *half, *b;      /* pairs, free */
} linear;

static hf_status check_linear_settings(const linear *l)
{
    const hf_linear_settings *s = &l->settings;
    const size_t outputs = l->classifier ? l->classes : l->posterior->scaling.outputs;
    for (size_t j = 0; j < l->d; j++)
        if (!(l->step[j] >= 0.0) || !isfinite(l->step[j]))
            return hfi_refuse(l->ctx, "the step of input %zu is %g; it must be 0 or above", j + 1,
                              l->step[j]);
    if (s->output >= outputs)
        return hfi_refuse(l->ctx, "there is no %s %zu; there are %zu", l->classifier ? "class" : "output",
                          s->output, outputs);
    return HF_OK;
}

static hf_status allocate_linear(linear *l)
{
    size_t draws, rows, values;
    const size_t pairs = l->settings.pairs;
    l->moving = hfi_alloc(l->ctx, l->d + 1, sizeof *l->moving);
    if (!l->moving) return HF_ERR_MEMORY;
    for (size_t j = 0; j < l->d; j++)
        if (l->step[j] > 0.0) l->moving[l->free++] = j;
    if (pairs < l->free)
        return hfi_refuse(l->ctx, "%zu pairs of points are too few for the %zu inputs that move", pairs,
                          l->free);
    if (!hfi_size_mul(pairs, l->free + 1, &draws) || !hfi_size_mul(2 * pairs, l->wide, &rows) ||
        !hfi_size_mul(2 * pairs, l->classes, &values))
        return hfi_out_of_memory(l->ctx);
    return HFI_ALLOC(l->ctx, HFI_ROOM(l->u, draws), HFI_ROOM(l->weighted, draws),
                     HFI_ROOM(l->gram, l->free * l->free + 1), HFI_ROOM(l->rows, rows + 1),
                     HFI_ROOM(l->values, values + 1), HFI_ROOM(l->half, pairs + 1),
                     HFI_ROOM(l->b, l->free + 1));
}

/* The same draws about every point, so that what is said of one does not depend on the others. */
static hf_status draw_linear_steps(linear *l)
{
    const size_t k = l->free, pairs = l->settings.pairs;
    const double width =
        l->settings.width > 0.0 ? l->settings.width : width_of_root * sqrt((double)(k > 0 ? k : 1));
    hfi_stream stream;
    hfi_stream_init(&stream, l->settings.seed, HFI_PURPOSE_SAMPLE, 0);
    for (size_t i = 0; i < pairs; i++) {
        double square = 0.0;
        for (size_t j = 0; j < k; j++) {
            const double u = hfi_stream_normal(&stream);
            l->u[j * pairs + i] = u;
            square += u * u;
        }
        const double weight = exp(-0.5 * square / (width * width));
        for (size_t j = 0; j < k; j++) l->weighted[j * pairs + i] = weight * l->u[j * pairs + i];
    }
    if (k == 0) return HF_OK;
    hfi_gemm_tn(k, k, pairs, 1.0, l->u, pairs, l->weighted, pairs, 0.0, l->gram, k);
    return hfi_chol(l->ctx, k, l->gram, k) < 0
               ? hfi_refuse(l->ctx, "a neighbourhood of width %g holds too few of %zu pairs of points", width,
                            pairs)
               : HF_OK;
}

static hf_status evaluate_linear_rows(linear *l, const double *x)
{
    const size_t k = l->free, count = 2 * l->settings.pairs;
    for (size_t i = 0; i < count; i++) {
        double *row = l->rows + i * l->wide;
        memcpy(row, x, l->d * sizeof *row);
        if (l->wide > l->d) row[l->d] = (double)l->settings.output;
        for (size_t j = 0; j < k; j++) {
            const double by = l->step[l->moving[j]] * l->u[j * l->settings.pairs + i / 2];
            row[l->moving[j]] += i % 2 ? -by : by;
        }
    }
    return l->classifier ? hf_classify_predict(l->ctx, l->classifier, count, l->rows, l->wide, l->values,
                                               NULL, NULL, NULL, NULL)
                         : hf_predict(l->ctx, l->posterior, count, l->rows, l->wide, l->values, NULL, NULL);
}

/* Half the difference of a pair has no constant in it: least squares of slopes alone. */
static hf_status fit_point(linear *l, const double *x, double *score)
{
    const size_t k = l->free, pairs = l->settings.pairs, column = l->classifier ? l->settings.output : 0;
    const hf_status status = evaluate_linear_rows(l, x);
    if (status < 0) return status;
    for (size_t i = 0; i < pairs; i++) {
        const double *pair = l->values + 2 * i * l->classes + column;
        l->half[i] = 0.5 * (pair[0] - pair[l->classes]);
    }
    if (k > 0) {
        hfi_gemv_t(pairs, k, 1.0, l->weighted, pairs, l->half, 0.0, l->b);
        hfi_chol_solve(k, l->gram, k, l->b);
    }
    for (size_t j = 0; j < l->d; j++) score[j] = 0.0;
    for (size_t j = 0; j < k; j++) score[l->moving[j]] = 2.0 * l->b[j];
    return status;
}

static hf_status score_linear_points(linear *l, size_t m, const double *x, double *out)
{
    size_t numbers;
    hf_status status = check_linear_settings(l);
    if (status < 0) return status;
    if (!hfi_size_mul(m, l->d, &numbers)) return hfi_out_of_memory(l->ctx);
    double *scores = hfi_alloc(l->ctx, numbers + 1, sizeof *scores);
    status = scores ? allocate_linear(l) : HF_ERR_MEMORY;
    if (status >= 0) status = draw_linear_steps(l);
    for (size_t k = 0; k < m && status >= 0; k++) {
        if (!hfi_progress(l->ctx, "explain", (double)k / (double)m, (double)NAN))
            status = hfi_cancelled(l->ctx);
        else
            status = hfi_worse(status, fit_point(l, x + k * l->d, scores + k * l->d));
    }
    if (status >= 0) memcpy(out, scores, numbers * sizeof *out);
    HFI_FREE(l->ctx, scores, l->moving, l->u, l->weighted, l->gram, l->rows, l->values, l->half, l->b);
    return status;
}

hf_status hf_explain_linear(hf_context *ctx, const hf_posterior *posterior,
                            const hf_linear_settings *settings, size_t m, const double *x, const double *step,
                            double *scores)
{
    if (!ctx || !posterior || !x || !step || !scores)
        return HFI_REFUSE_NULL(ctx, "hf_explain_linear", posterior, x, step, scores);
    const hfi_scaling *scaling = &posterior->scaling;
    linear l = {.ctx = ctx,
                .posterior = posterior,
                .d = hfi_scaling_own_inputs(scaling),
                .wide = scaling->d,
                .classes = 1,
                .step = step};
    const hf_status status = hfi_settings_open(ctx, hf_linear_settings_table(), settings, &l.settings);
    return status < 0 ? status : score_linear_points(&l, m, x, scores);
}

hf_status hf_explain_linear_class(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_linear_settings *settings, size_t m, const double *x,
                                  const double *step, double *scores)
{
    if (!ctx || !classifier || !x || !step || !scores)
        return HFI_REFUSE_NULL(ctx, "hf_explain_linear_class", classifier, x, step, scores);
    const size_t columns = hf_posterior_dimension(hf_classifier_posterior(classifier)),
                 inputs = hf_classifier_link(classifier) == HF_LINK_SOFTMAX ? columns - 1 : columns;
    linear l = {.ctx = ctx,
                .posterior = hf_classifier_posterior(classifier),
                .classifier = classifier,
                .d = inputs,
                .wide = inputs,
                .classes = hf_classifier_classes(classifier),
                .step = step};
    const hf_status status = hfi_settings_open(ctx, hf_linear_settings_table(), settings, &l.settings);
    return status < 0 ? status : score_linear_points(&l, m, x, scores);
}
