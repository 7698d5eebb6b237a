/* SPDX-License-Identifier: Apache-2.0 */
/* The transform that fits choose, and the remark that one may help. */
#include "model/candidates.h"
#include "model/target.h"

#include <math.h>
#include <string.h>

/* ---- the transform that predicts the readings best, from fits with each --------------------- */

/* A tail that one transform explains and the other calls wrong is what the choice is about. */
static const hfi_contest contest = {"transform", "neither sqrt nor log has a place for all readings", false};

/* From the mildest to the strongest: a stronger one has to be better than the best before it. */
hf_status hfi_transform_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                               hf_transform *chosen)
{
    hfi_candidate list[HF_TRANSFORM_AUTO];
    size_t count = 0, best;
    for (unsigned t = 0; t < HF_TRANSFORM_AUTO; t++) {
        const hf_transform transform = (hf_transform)t;
        if (!hfi_transform_takes(model, transform)) continue;
        list[count] =
            (hfi_candidate){.name = hf_enum_name(HF_ENUM_TRANSFORM, transform), .settings = *settings};
        list[count++].settings.transform = transform;
    }
    const hf_status status = hfi_candidates_choose(ctx, model, &contest, list, count, &best);
    if (status >= 0) *chosen = list[best].settings.transform;
    return status;
}

/* ---- the remark that a transform may help: the target is positive, skewed, and its residuals fan out ----------- */

enum {
    LEAST = 30 /* readings whose ranks say something */
};

/* The upper half of the middle nine tenths over the lower: 2 for a log-normal target with a sd of
 * 0.42 of its log. */
static const double skewed = 2.0;
/* Phi^-1(0.999): where residuals do not fan, one table in a thousand is told that they do. */
static const double surely = 3.090232306167813;

/* The readings that are not set aside are enough, and all there are are positive. `y` has n entries. */
static bool is_skewed(const hf_model *model, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < model->n; i++) {
        if (isnan(model->y[i])) continue;
        if (!(model->y[i] > 0.0)) return false;
        if (hfi_model_is_kept(model, i)) y[count++] = model->y[i];
    }
    if (count < LEAST) return false;
    const double low = hfi_quantile(y, count, 0.05), middle = hfi_quantile(y, count, 0.5),
                 high = hfi_quantile(y, count, 0.95);
    return high - middle > skewed * (middle - low);
}

/* Ranks in place of values; equal ones share the middle of theirs. */
static void rank(size_t n, double *values, hfi_ranked *order)
{
    for (size_t i = 0; i < n; i++) order[i] = (hfi_ranked){values[i], i};
    hfi_sort_ranked(order, n);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && order[end].value == order[begin].value;) end++;
        const double middle = 0.5 * (double)(begin + end - 1);
        for (size_t k = begin; k < end; k++) values[order[k].index] = middle;
    }
}

/* Spearman's correlation; 0 where all of one are equal. */
static double rank_correlation(size_t n, double *a, double *b, hfi_ranked *order)
{
    rank(n, a, order);
    rank(n, b, order);
    const double centre = 0.5 * (double)(n - 1);
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (size_t i = 0; i < n; i++) {
        aa += (a[i] - centre) * (a[i] - centre);
        bb += (b[i] - centre) * (b[i] - centre);
        ab += (a[i] - centre) * (b[i] - centre);
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

/* Sizes of standardised residuals against predictions, which they replace. */
static bool fans_out(const hf_model *model, double *mean, double *sd, hfi_ranked *order)
{
    size_t count = 0;
    for (size_t i = 0; i < model->n; i++) {
        if (!hfi_model_is_kept(model, i)) continue;
        const double residual = fabs(model->y[i] - mean[i]) / sd[i];
        mean[count] = mean[i];
        sd[count++] = residual;
    }
    return count >= LEAST && rank_correlation(count, mean, sd, order) * sqrt((double)count - 1.0) > surely;
}

hf_status hfi_transform_advise(hf_context *ctx, hf_model *model)
{
    const size_t n = model->n;
    if (n < LEAST || !hfi_model_is_plain(model) || model->extra != NULL || model->prior != NULL) return HF_OK;
    double *block = hfi_alloc(ctx, n, 2 * sizeof *block);
    hfi_ranked *order = hfi_alloc(ctx, n, sizeof *order);
    hf_status status = block != NULL && order != NULL ? HF_OK : HF_ERR_MEMORY;
    const bool asked = status >= 0 && is_skewed(model, block);
    if (asked) status = model->kind->left_out(ctx, model, block, block + n);
    if (asked && status >= 0 && fans_out(model, block, block + n, order))
        status = hfi_model_note(ctx, model,
                                "the target is positive and skewed, and its residuals fan out: the transform "
                                "log, or auto, may give better intervals");
    HFI_FREE(ctx, block, order);
    return status;
}
