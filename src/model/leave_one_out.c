/* SPDX-License-Identifier: Apache-2.0 */
/* How well the readings of a model are predicted without themselves. */
#include "fit/fit.h"
#include "model/target.h"

#include <float.h>
#include <math.h>

static const hf_metrics unknown = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* Kept readings and a prediction of each, in units that can be compared. */
typedef struct kept {
    size_t count;
    size_t *row;  /* of the model's */
    double *unit; /* what a reading is divided by */
    double *y;    /* in that unit, as are the next two */
    double *mean, *sd;
} kept;

static hf_status kept_init(hf_context *ctx, const hf_model *model, kept *k)
{
    *k = (kept){.row = hfi_alloc(ctx, model->n, sizeof *k->row),
                .unit = hfi_alloc(ctx, model->n, 4 * sizeof *k->unit)};
    if (k->row == NULL || k->unit == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < model->n; i++)
        if (hfi_model_is_kept(model, i)) k->row[k->count++] = i;
    if (k->count == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no reading was kept that could be predicted",
                        model->source);
    k->y = k->unit + k->count;
    k->mean = k->y + k->count;
    k->sd = k->mean + k->count;
    for (size_t p = 0; p < k->count; p++) {
        const size_t i = k->row[p];
        k->unit[p] = hfi_model_unit(model, hfi_model_output_of(model, i));
        k->y[p] = model->y[i] / k->unit[p];
    }
    return HF_OK;
}

static void kept_free(hf_context *ctx, kept *k)
{
    HFI_FREE(ctx, k->row, k->unit);
}

static hf_status score_kept(hf_context *ctx, const hf_model *model, const kept *k, hf_metrics *out)
{
    return hfi_model_metrics(ctx, model, k->count, k->y, k->mean, k->sd, out);
}

/* ---- this model, and the plain one ----------------------------------------------------------- */

static hf_status score_model(hf_context *ctx, const hf_model *model, kept *k, hf_metrics *out)
{
    double *mean = hfi_alloc(ctx, model->n, 2 * sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    double *sd = mean + model->n;
    hf_status status = model->kind->left_out(ctx, model, mean, sd);
    for (size_t p = 0; p < k->count && status >= 0; p++) {
        k->mean[p] = mean[k->row[p]] / k->unit[p];
        k->sd[p] = sd[k->row[p]] / k->unit[p];
    }
    if (status >= 0) status = score_kept(ctx, model, k, out);
    hfi_free(ctx, mean);
    return status;
}

static hf_status score_plain(hf_context *ctx, const hf_model *model, kept *k, hf_metrics *out)
{
    *out = unknown;
    for (size_t p = 0; p < k->count; p++) {
        const hf_reading *reading = &model->reading[k->row[p]];
        if (!(reading->plain_sd > 0.0)) return HF_OK;
        k->mean[p] = reading->plain_mean / k->unit[p];
        k->sd[p] = reading->plain_sd / k->unit[p];
    }
    return score_kept(ctx, model, k, out);
}

/* ---- the mean of the others ------------------------------------------------------------------ */

/* False where there are too few others, or all of an output are the same. */
static bool predict_by_mean(const hf_model *model, const hfi_tally *all, kept *k)
{
    for (size_t p = 0; p < k->count; p++) {
        const hfi_tally *m = &all[hfi_model_output_of(model, k->row[p])];
        const double others = m->count - 1.0, away = k->y[p] - m->mean;
        if (others < 2.0 || !(m->squares > 0.0)) return false;
        const double left = fmax(m->squares - away * away * m->count / others, 0.0);
        k->mean[p] = m->mean - away / others;
        k->sd[p] = fmax(sqrt(left / (others - 1.0) * (1.0 + 1.0 / others)), DBL_MIN);
        if (!isfinite(k->sd[p])) return false;
    }
    return true;
}

static hf_status score_mean(hf_context *ctx, const hf_model *model, kept *k, hf_metrics *out)
{
    *out = unknown;
    hfi_tally *all = hfi_alloc(ctx, model->outputs, sizeof *all);
    if (all == NULL) return HF_ERR_MEMORY;
    for (size_t p = 0; p < k->count; p++) hfi_tally_add(&all[hfi_model_output_of(model, k->row[p])], k->y[p]);
    const hf_status status = predict_by_mean(model, all, k)
                                 ? hf_metrics_gaussian(ctx, k->count, k->y, k->mean, k->sd, out)
                                 : HF_OK;
    hfi_free(ctx, all);
    return status;
}

static double share_saved(const hf_metrics *scores, const hf_metrics *mean)
{
    const double ratio = scores->rmse / mean->rmse;
    return 1.0 - ratio * ratio;
}

hf_status hf_model_leave_one_out(hf_context *ctx, const hf_model *model, hf_leave_one_out_scores *out)
{
    if (model == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_model_leave_one_out: model and out must not be NULL");
    if (model->kind->left_out == NULL) return hfi_target_lacks(ctx, model, "hf_model_leave_one_out");
    hf_status status = hfi_model_check_rows(ctx, model);
    if (status < 0) return status;
    kept k;
    hf_leave_one_out_scores scores = {.model = unknown};
    status = kept_init(ctx, model, &k);
    if (status >= 0) status = score_model(ctx, model, &k, &scores.model);
    if (status >= 0) status = score_plain(ctx, model, &k, &scores.plain);
    if (status >= 0) status = score_mean(ctx, model, &k, &scores.mean);
    kept_free(ctx, &k);
    if (status < 0) return status;
    scores.model_r2 = share_saved(&scores.model, &scores.mean);
    scores.plain_r2 = share_saved(&scores.plain, &scores.mean);
    *out = scores;
    return HF_OK;
}
