/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validation of several models on the same folds. */
#include "core/settings.h"
#include "core/settings_rows.h"
#include "data/text.h"
#include "model/inputs.h"
#include "model/model.h"
#include "settings/settings.h"

#include <holdfast/compare.h>
#include <holdfast/contaminate.h>

#include <math.h>

/* ---- what a comparison tells ----------------------------------------------------------------------------------- */

struct hf_comparison {
    hfi_memory memory;
    hf_compare_settings settings;
    size_t models, n;
    char **name;         /* models */
    hf_compared *scores; /* models */
    size_t *row;         /* n */
    double *y;           /* n */
    size_t *fold;        /* repeats x n */
    double *mean, *sd;   /* models x repeats x n: moments of the target */
    hf_metrics *each;    /* the same: scores of one prediction */
};

/* Number k of a program's contenders. Their settings end the struct, so that the size of these
 * says how far one contender is from the next. */
static const hf_contender *contender_at(const hf_contender *contenders, size_t k)
{
    const size_t bytes = offsetof(hf_contender, settings) + contenders->settings.size;
    return (const hf_contender *)(const void *)((const char *)contenders + k * bytes);
}

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

static hf_status allocate_comparison(hf_context *ctx, hf_comparison *c, const hf_contender *contenders)
{
    size_t dealt, predicted;
    if (!hfi_size_mul(c->n, c->settings.repeats, &dealt) || !hfi_size_mul(dealt, c->models, &predicted))
        return hfi_out_of_memory(ctx);
    if (HFI_ALLOC(ctx, HFI_ROOM(c->name, c->models), HFI_ROOM(c->scores, c->models), HFI_ROOM(c->row, c->n),
                  HFI_ROOM(c->y, c->n), HFI_ROOM(c->fold, dealt), HFI_ROOM(c->mean, predicted),
                  HFI_ROOM(c->sd, predicted), HFI_ROOM(c->each, predicted)) < 0)
        return HF_ERR_MEMORY;
    for (size_t m = 0; m < c->models; m++) {
        c->name[m] = hfi_memory_strdup(&c->memory, contender_at(contenders, m)->name);
        if (c->name[m] == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

/* Room for the predictions of models for n readings; HF_ERR_MEMORY. */
static hf_status create_comparison(hf_context *ctx, size_t count, const hf_contender *contenders, size_t n,
                                   const hf_compare_settings *settings, hf_comparison **out)
{
    hf_comparison *c = hfi_alloc(ctx, 1, sizeof *c);
    if (c == NULL) return HF_ERR_MEMORY;
    *c = (hf_comparison){.memory = hfi_context_memory(ctx), .settings = *settings, .models = count, .n = n};
    const hf_status status = allocate_comparison(ctx, c, contenders);
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

const hf_compare_settings *hf_comparison_settings_of(const hf_comparison *c)
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

/* Metrics and median error of every model from those of its predictions. */
static hf_status score_all(hf_context *ctx, hf_comparison *c)
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

/* ---- a comparison that is under way ------------------------------------------------------------------------- */

/* Below so many readings a fit has too little to do for several threads, and fits share them. */
enum {
    LEAST_FOR_THREADS = 512
};

/* One fit: of a model, without a fold. */
typedef struct fit_outcome {
    hf_status status;
    double seconds;
    char message[512]; /* unless status is HF_OK */
} fit_outcome;

/* A comparison that is under way. */
typedef struct comparison_job {
    hf_context *ctx; /* the caller's: who is told of progress */
    hf_context *own; /* the same seed; its progress is that of the whole */
    const hf_table *table;
    hf_columns columns; /* with the inputs by name */
    const hf_contender *contenders;
    hf_comparison *c;
    bool together; /* fits share the threads */
    size_t total;
    fit_outcome *outcome; /* total */
    atomic_size_t fits;   /* done */
    atomic_size_t failed; /* the first fit that failed */
    hfi_watch watch;
} comparison_job;

/* Called by the thread that called hf_compare(). */
static bool report(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    comparison_job *j = user;
    return hfi_progress(j->ctx, "compare", (double)atomic_load(&j->fits) / (double)j->total, (double)NAN);
}

/* Called by any thread, from within a fit. */
static bool check_fit_watch(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    return hfi_watch_ok(user);
}

/* ---- one fit ---------------------------------------------------------------------------------------------- */

/* Where among all fits: models of a fold come one after the other, folds of a repeat too. */
typedef struct fold_place {
    size_t model, fold, repeat;
} fold_place;

static fold_place fit_place(const hf_comparison *c, size_t fit)
{
    const size_t folds = c->settings.folds;
    return (fold_place){fit % c->models, fit / c->models % folds, fit / c->models / folds};
}

/* Rows of the fold, or of all others, in the order of the table. */
static hf_status pick(const comparison_job *j, hf_context *ctx, const fold_place *at, bool held,
                      hf_table **out)
{
    const hf_comparison *c = j->c;
    size_t count = 0, *picked = hfi_alloc(ctx, c->n, sizeof *picked);
    if (picked == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < c->n; i++)
        if ((c->fold[at->repeat * c->n + i] == at->fold) == held) picked[count++] = c->row[i];
    const hf_status status = hf_table_select(ctx, j->table, picked, count, out);
    hfi_free(ctx, picked);
    return status;
}

/* Predictions for the rows of `held`, and their scores, into the places of the fold's readings. */
static hf_status predict_fold(const comparison_job *j, hf_context *ctx, const fold_place *at,
                              const hf_model *fitted, const hf_table *held)
{
    const hf_comparison *c = j->c;
    const hf_transform transform = fitted->settings.transform;
    const bool rates = hfi_model_has_likelihood(fitted);
    hfi_predictions p;
    hf_status status = hfi_model_predict(ctx, fitted, held, false, false, &p);
    if (status < 0) return status;
    const size_t *folds = c->fold + at->repeat * c->n;
    const size_t first = (at->model * c->settings.repeats + at->repeat) * c->n;
    size_t k = 0;
    for (size_t i = 0; i < c->n && status >= 0; i++) {
        if (folds[i] != at->fold) continue;
        const double sd = sqrt(rates ? p.var_latent[k] : p.var_observed[k]);
        double variance = NAN;
        if (rates)
            hfi_likelihood_reading(fitted, p.mean[k], p.var_latent[k], &c->mean[first + i],
                                   &c->sd[first + i]);
        else
            hf_transform_moments(transform, p.mean[k], p.var_observed[k], &c->mean[first + i], &variance);
        if (!rates) c->sd[first + i] = sqrt(variance);
        status = hfi_model_metrics(ctx, fitted, 1, &c->y[i], &p.mean[k++], &sd, &c->each[first + i]);
    }
    hfi_predictions_free(ctx, &p);
    return status;
}

static void run_fit(const comparison_job *j, hf_context *ctx, const fold_place *at, fit_outcome *out)
{
    const double begin = hfi_now();
    hf_table *train = NULL, *held = NULL;
    hf_model *fitted = NULL;
    hf_status status = pick(j, ctx, at, false, &train), predicted = HF_OK;
    if (status >= 0) status = pick(j, ctx, at, true, &held);
    if (status >= 0)
        status =
            hf_fit(ctx, train, &j->columns, &contender_at(j->contenders, at->model)->settings, &fitted, NULL);
    if (status != HF_OK) hfi_print(out->message, sizeof out->message, "%s", hf_context_message(ctx));
    if (status >= 0) predicted = predict_fold(j, ctx, at, fitted, held);
    if (predicted < 0) hfi_print(out->message, sizeof out->message, "%s", hf_context_message(ctx));
    hf_model_free(fitted);
    hf_table_free(held);
    hf_table_free(train);
    out->status = predicted < 0 ? predicted : status;
    out->seconds = hfi_now() - begin;
}

static void task(size_t fit, int thread, void *arg)
{
    (void)thread;
    comparison_job *j = arg;
    if (fit > atomic_load(&j->failed)) return; /* an earlier fit's failure is what will be told */
    const fold_place at = fit_place(j->c, fit);
    fit_outcome *out = &j->outcome[fit];
    hf_context *ctx = hfi_context_borrow(j->own);
    out->status = HF_ERR_MEMORY;
    if (ctx != NULL) {
        if (j->together) hf_context_set_threads(ctx, 1);
        hf_context_set_progress(ctx, check_fit_watch, &j->watch);
        run_fit(j, ctx, &at, out);
        hf_context_free(ctx);
    }
    atomic_fetch_add(&j->fits, 1);
    size_t first = atomic_load(&j->failed);
    while (out->status < 0 && fit < first && !atomic_compare_exchange_weak(&j->failed, &first, fit)) continue;
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static hf_status deal(const comparison_job *j)
{
    const hf_comparison *c = j->c;
    size_t train, *order = hfi_alloc(j->own, c->n, sizeof *order);
    hf_status status = order != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t r = 0; r < c->settings.repeats && status >= 0; r++) {
        status = hf_split(j->own, hf_context_seed(j->own) + r, 0.0, c->n, order, &train);
        for (size_t k = 0; k < c->n && status >= 0; k++) c->fold[r * c->n + order[k]] = k % c->settings.folds;
    }
    hfi_free(j->own, order);
    return status;
}

/* The first failure, with whose it was; else seconds and warnings of each model. */
static hf_status gather_fold_outcomes(const comparison_job *j)
{
    const size_t failed = atomic_load(&j->failed);
    if (failed < j->total) {
        const fit_outcome *out = &j->outcome[failed];
        const fold_place at = fit_place(j->c, failed);
        if (out->status == HF_ERR_MEMORY) return hfi_out_of_memory(j->own);
        return hfi_fail(j->own, out->status, "%s, without fold %zu: %s", j->c->name[at.model], at.fold + 1,
                        out->message);
    }
    for (size_t k = 0; k < j->total; k++) {
        const fit_outcome *out = &j->outcome[k];
        hf_compared *scores = &j->c->scores[fit_place(j->c, k).model];
        scores->seconds += out->seconds;
        if (out->status == HF_OK) continue;
        scores->warnings++;
        hfi_print(scores->warning, sizeof scores->warning, "%.159s", out->message);
    }
    return HF_OK;
}

static hf_status run_fold_fits(comparison_job *j)
{
    hf_comparison *c = j->c;
    const int threads = hf_context_threads(j->own);
    if (!hfi_size_mul(c->models * c->settings.folds, c->settings.repeats, &j->total))
        return hfi_out_of_memory(j->own);
    j->outcome = hfi_alloc(j->own, j->total, sizeof *j->outcome);
    if (j->outcome == NULL) return HF_ERR_MEMORY;
    atomic_init(&j->fits, 0);
    atomic_init(&j->failed, SIZE_MAX);
    /* Several processes make the same calls one after the other. */
    j->together = threads > 1 && c->n < LEAST_FOR_THREADS && hfi_group_size(j->own) == 1;
    hf_context_set_progress(j->own, report, j);
    hfi_watch_begin(&j->watch, j->own, "compare", 0.0);
    hf_status status = deal(j);
    hf_context *loop = status >= 0 ? hfi_context_borrow(j->own) : NULL;
    if (status >= 0 && loop == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) {
        hf_context_set_threads(loop, j->together ? threads : 1);
        if (!hfi_watch_ok(&j->watch) || !hfi_watched_for(loop, &j->watch, j->total, task, j))
            status = hfi_cancelled(j->own);
        hf_context_free(loop);
    }
    if (status >= 0) status = gather_fold_outcomes(j);
    if (status >= 0) status = score_all(j->own, c);
    hfi_free(j->own, j->outcome);
    return status;
}

/* ---- which readings --------------------------------------------------------------------------------------- */

static hf_status check_readings(hf_context *ctx, const hf_model *all, size_t n,
                                const hf_compare_settings *settings)
{
    char target[HFI_SHOWN_BYTES];
    if (n < settings->folds)
        return hfi_refuse(ctx, "%s: %zu folds need as many readings of \"%s\", there are %zu", all->source,
                          settings->folds, hfi_text_shown(all->target, target), n);
    if (hfi_is_constant(all->y, all->n, 1))
        return hfi_refuse(ctx,
                          "%s: the target \"%s\" has the same value in every row; every model predicts that",
                          all->source, hfi_text_shown(all->target, target));
    return HF_OK;
}

/* `all`: the whole table as a fit would take it. */
static hf_status begin_comparison(hf_context *ctx, const hf_model *all, size_t count,
                                  const hf_contender *contenders, const hf_compare_settings *settings,
                                  hf_comparison **out)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) n += isnan(all->y[i]) ? 0 : 1;
    hf_comparison *c = NULL;
    hf_status status = check_readings(ctx, all, n, settings);
    if (status >= 0) status = create_comparison(ctx, count, contenders, n, settings, &c);
    if (status < 0) return status;
    size_t k = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (isnan(all->y[i])) continue;
        c->row[k] = all->row[i] - 1;
        c->y[k++] = all->y[i];
    }
    *out = c;
    return HF_OK;
}

static hf_status check_contender(hf_context *ctx, const hf_contender *contender)
{
    if (contender->name == NULL) return hfi_refuse(ctx, "hf_compare: every contender must have a name");
    hf_fit_settings own;
    const hf_status status = hfi_settings_take(ctx, hf_fit_settings_table(), &contender->settings, &own);
    if (status < 0) return status;
    if (hfi_likelihood_is_class(own.sites))
        return hfi_refuse(ctx, "%s: a comparison is of readings; %s sites are for labels", contender->name,
                          hf_enum_name(HF_ENUM_LIKELIHOOD, own.sites));
    if (own.checkpoint != NULL)
        return hfi_refuse(ctx, "%s: the fits of a comparison have no checkpoint", contender->name);
    if (own.action_matrix != NULL)
        return hfi_refuse(ctx,
                          "%s: a matrix of actions is of all rows, and the fits of a comparison have fewer",
                          contender->name);
    return HF_OK;
}

static hf_status check_contenders(hf_context *ctx, const hf_columns *columns, size_t count,
                                  const hf_contender *contenders)
{
    if (hfi_columns_outputs(columns) > 1)
        return hfi_refuse(ctx, "hf_compare: models of several outputs cannot be compared");
    if (columns->target == NULL && columns->target_count == 0)
        return hfi_refuse(ctx, "hf_compare: columns->target is NULL; name the column to predict");
    if (count == 0) return hfi_refuse(ctx, "hf_compare: there is no model to compare");
    hf_status status = HF_OK;
    for (size_t m = 0; m < count && status >= 0; m++)
        status = check_contender(ctx, contender_at(contenders, m));
    return status;
}

hf_status hf_compare(hf_context *ctx, const hf_table *table, const hf_columns *columns, size_t count,
                     const hf_contender *contenders, const hf_compare_settings *settings, hf_comparison **out)
{
    if (table == NULL || columns == NULL || contenders == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_compare: table, columns, contenders and out must not be NULL");
    hf_columns named;
    hf_compare_settings how;
    hf_status status = hfi_settings_open(ctx, hf_compare_settings_table(), settings, &how);
    if (status >= 0) status = hfi_settings_take(ctx, hf_columns_table(), columns, &named);
    if (status >= 0) status = check_contenders(ctx, &named, count, contenders);
    const hf_fit_settings plain = hf_fit_settings_default();
    hf_model *all = NULL;
    if (status >= 0) status = hfi_model_prepare(ctx, table, &named, &plain, &all);
    if (status < 0) return status;
    hf_comparison *c = NULL;
    hf_table *encoded = NULL;
    status = hfi_model_encoded(ctx, all, table, &encoded);
    if (status >= 0) status = begin_comparison(ctx, all, count, contenders, &how, &c);
    hf_context *own = status >= 0 ? hfi_context_borrow(ctx) : NULL;
    if (status >= 0 && own == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) {
        comparison_job j = {.ctx = ctx,
                            .own = own,
                            .table = encoded != NULL ? encoded : table,
                            .contenders = contenders,
                            .c = c};
        j.columns = (hf_columns){.size = sizeof(hf_columns),
                                 .target = all->target,
                                 .features = (const char *const *)all->feature,
                                 .feature_count = all->d,
                                 .noise = all->noise_column,
                                 .exposure = named.exposure,
                                 .mean = named.exposure != NULL ? NULL : all->mean_column};
        status = run_fold_fits(&j);
        hfi_context_give_back(ctx, own);
    }
    hf_table_free(encoded);
    hf_model_free(all);
    if (status < 0) {
        hf_comparison_free(c);
        return status;
    }
    *out = c;
    return hfi_fail(ctx, HF_OK, "%s", "");
}
