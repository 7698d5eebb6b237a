/* SPDX-License-Identifier: Apache-2.0 */
/* Models compared: what each predicted, scores, and differences with their errors. */
#include "model/comparison.h"
#include "core/settings_rows.h"

#include <math.h>

#define SETTINGS hf_compare_settings
static const hfi_setting rows[] = {
    {COUNT(folds, 2), DEFAULT(10)},
    {COUNT(repeats, 1), DEFAULT(1)},
};
SETTINGS_TABLE(hf_compare_settings, "a comparison", rows)

/* ---- the object ------------------------------------------------------------------------------------------- */

void hf_comparison_free(hf_comparison *c)
{
    if (c == NULL) return;
    const hfi_memory memory = c->memory;
    for (size_t m = 0; c->name != NULL && m < c->models; m++) hfi_memory_free(&memory, c->name[m]);
    HFI_MEMORY_FREE(&memory, c->name, c->scores, c->row, c->y, c->fold, c->mean, c->sd, c->each, c);
}

static hf_status reserve(hf_context *ctx, hf_comparison *c, const hf_contender *contenders)
{
    size_t dealt, predicted;
    if (!hfi_size_mul(c->n, c->settings.repeats, &dealt) || !hfi_size_mul(dealt, c->models, &predicted))
        return hfi_out_of_memory(ctx);
    if (HFI_ALLOC(ctx, HFI_ROOM(c->name, c->models), HFI_ROOM(c->scores, c->models), HFI_ROOM(c->row, c->n),
                  HFI_ROOM(c->y, c->n), HFI_ROOM(c->fold, dealt), HFI_ROOM(c->mean, predicted),
                  HFI_ROOM(c->sd, predicted), HFI_ROOM(c->each, predicted)) < 0)
        return HF_ERR_MEMORY;
    for (size_t m = 0; m < c->models; m++) {
        c->name[m] = hfi_memory_strdup(&c->memory, hfi_contender_at(contenders, m)->name);
        if (c->name[m] == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

hf_status hfi_comparison_create(hf_context *ctx, size_t count, const hf_contender *contenders, size_t n,
                                const hf_compare_settings *settings, hf_comparison **out)
{
    hf_comparison *c = hfi_alloc(ctx, 1, sizeof *c);
    if (c == NULL) return HF_ERR_MEMORY;
    *c = (hf_comparison){.memory = hfi_context_memory(ctx), .settings = *settings, .models = count, .n = n};
    const hf_status status = reserve(ctx, c, contenders);
    if (status < 0) {
        hf_comparison_free(c);
        return status;
    }
    *out = c;
    return HF_OK;
}

size_t hf_comparison_models(const hf_comparison *c)
{
    return c != NULL ? c->models : 0;
}

size_t hf_comparison_readings(const hf_comparison *c)
{
    return c != NULL ? c->n : 0;
}

const hf_compare_settings *hf_comparison_settings(const hf_comparison *c)
{
    return c != NULL ? &c->settings : NULL;
}

const char *hf_comparison_name(const hf_comparison *c, size_t model)
{
    return model < hf_comparison_models(c) ? c->name[model] : NULL;
}

const hf_compared *hf_comparison_scores(const hf_comparison *c, size_t model)
{
    return model < hf_comparison_models(c) ? &c->scores[model] : NULL;
}

const size_t *hf_comparison_rows(const hf_comparison *c)
{
    return c != NULL ? c->row : NULL;
}

const double *hf_comparison_targets(const hf_comparison *c)
{
    return c != NULL ? c->y : NULL;
}

const size_t *hf_comparison_folds(const hf_comparison *c, size_t repeat)
{
    return c != NULL && repeat < c->settings.repeats ? c->fold + repeat * c->n : NULL;
}

/* Where a model's predictions in a repeat begin; SIZE_MAX if there are none. */
static size_t place_of(const hf_comparison *c, size_t model, size_t repeat)
{
    if (model >= hf_comparison_models(c) || repeat >= c->settings.repeats) return SIZE_MAX;
    return (model * c->settings.repeats + repeat) * c->n;
}

const double *hf_comparison_means(const hf_comparison *c, size_t model, size_t repeat)
{
    const size_t place = place_of(c, model, repeat);
    return place != SIZE_MAX ? c->mean + place : NULL;
}

const double *hf_comparison_sds(const hf_comparison *c, size_t model, size_t repeat)
{
    const size_t place = place_of(c, model, repeat);
    return place != SIZE_MAX ? c->sd + place : NULL;
}

/* ---- scores ----------------------------------------------------------------------------------------------- */

/* Means of scores of single predictions; `count` of them. */
static hf_metrics average(size_t count, const hf_metrics *each)
{
    hf_metrics all = {.n = count};
    const double n = (double)count;
    double largest = 0.0, squares = 0.0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, each[k].rmse);
    for (size_t k = 0; k < count; k++) {
        const double share = largest > 0.0 ? each[k].rmse / largest : 0.0;
        squares += share * share / n;
        all.mae += each[k].mae / n;
        all.nlpd += each[k].nlpd / n;
        all.crps += each[k].crps / n;
        all.coverage50 += each[k].coverage50;
        all.coverage90 += each[k].coverage90;
        all.coverage95 += each[k].coverage95;
    }
    all.rmse = largest * sqrt(squares);
    all.coverage50 /= n;
    all.coverage90 /= n;
    all.coverage95 /= n;
    return all;
}

hf_status hfi_comparison_score(hf_context *ctx, hf_comparison *c)
{
    const size_t count = c->n * c->settings.repeats;
    double *error = hfi_alloc(ctx, count, sizeof *error);
    if (error == NULL) return HF_ERR_MEMORY;
    for (size_t m = 0; m < c->models; m++) {
        const hf_metrics *each = c->each + m * count;
        for (size_t k = 0; k < count; k++) error[k] = each[k].mae;
        c->scores[m].metrics = average(count, each);
        c->scores[m].median_error = hfi_median(error, count);
    }
    hfi_free(ctx, error);
    return HF_OK;
}

/* ---- which is best ---------------------------------------------------------------------------------------- */

static double told(const hf_metrics *m, hf_criterion criterion)
{
    switch (criterion) {
    case HF_CRITERION_NLPD:
        return m->nlpd;
    case HF_CRITERION_MAE:
        return m->mae;
    case HF_CRITERION_RMSE:
        return m->rmse;
    case HF_CRITERION_CRPS:
        break;
    }
    return m->crps;
}

size_t hf_comparison_best(const hf_comparison *c, hf_criterion criterion)
{
    size_t best = 0;
    for (size_t m = 1; m < hf_comparison_models(c); m++)
        if (told(&c->scores[m].metrics, criterion) < told(&c->scores[best].metrics, criterion)) best = m;
    return best;
}

/* Loss of a for reading i less that of b, averaged over repeats. Squares are differences of squares
 * over the sum of both rmse, which gives the difference of these, and no overflow. */
static double loss_difference(const hf_comparison *c, hf_criterion criterion, size_t a, size_t b, size_t i)
{
    const double both = c->scores[a].metrics.rmse + c->scores[b].metrics.rmse;
    double sum = 0.0;
    for (size_t r = 0; r < c->settings.repeats; r++) {
        const hf_metrics *of_a = &c->each[place_of(c, a, r) + i], *of_b = &c->each[place_of(c, b, r) + i];
        if (criterion != HF_CRITERION_RMSE)
            sum += told(of_a, criterion) - told(of_b, criterion);
        else if (both > 0.0)
            sum += (of_a->rmse - of_b->rmse) * ((of_a->rmse + of_b->rmse) / both);
    }
    return sum / (double)c->settings.repeats;
}

hf_status hf_comparison_difference(hf_context *ctx, const hf_comparison *c, hf_criterion criterion, size_t a,
                                   size_t b, double *difference, double *standard_error)
{
    if (c == NULL || difference == NULL || a >= c->models || b >= c->models)
        return hfi_refuse(
            ctx,
            "hf_comparison_difference: comparison and difference must not be NULL, and both models be there");
    hfi_tally of = {.count = 0.0};
    for (size_t i = 0; i < c->n; i++) hfi_tally_add(&of, loss_difference(c, criterion, a, b, i));
    *difference = of.mean;
    if (standard_error != NULL) *standard_error = hfi_tally_error(&of);
    return HF_OK;
}
