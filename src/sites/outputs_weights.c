/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of single readings, and the choice between them and those of rows and outputs. */
#include "sites/outputs.h"

#include <math.h>
#include <string.h>

static const double FURTHEST = 1e100; /* thresholds, as in site.c */

static void weigh(double y, double centre, double c, double *weight, double *shift)
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
            weigh(y[i * ldy + t], used[i * outputs + t], out->scale[t], &out->weight[i * outputs + t],
                  &out->shift[i * outputs + t]);
    hfi_free(ctx, own);
    return status;
}

static hf_status check(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y, size_t ldy,
                       const hf_outputs_model *model, const hf_outputs_sites *out)
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

hf_status hf_outputs_weights(hf_context *ctx, const hf_outputs_rule *rule, size_t n, const double *y,
                             size_t ldy, const hf_outputs_model *model, const double *centre,
                             const hf_outputs_sites *out)
{
    hf_status status = check(ctx, rule, n, y, ldy, model, out);
    if (status < 0) return status;
    const size_t outputs = model->outputs, size = n * outputs;
    double *block = hfi_alloc(ctx, 2 * size + outputs, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    const hf_outputs_sites made = {
        .scale = block, .weight = block + outputs, .shift = block + outputs + size};
    if (rule->weighting == HF_OUTPUTS_READING)
        status = weigh_readings(ctx, rule, n, y, ldy, model, centre, &made);
    else if (rule->weighting == HF_OUTPUTS_JOINT)
        status = hfi_outputs_weigh_rows(ctx, rule, n, y, ldy, model, &made);
    else
        status = hfi_outputs_weigh_channels(ctx, n, y, ldy, model, &made);
    if (status >= 0) {
        if (n > 0) memcpy(out->weight, made.weight, size * sizeof *block);
        if (n > 0) memcpy(out->shift, made.shift, size * sizeof *block);
        if (out->scale) memcpy(out->scale, made.scale, outputs * sizeof *block);
    }
    hfi_free(ctx, block);
    return status;
}
