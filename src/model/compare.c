/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validation of several models on the same folds. */
#include "model/comparison.h"

#include "data/text.h"
#include "train/train.h"

#include <holdfast/contaminate.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A comparison that is under way. */
typedef struct job {
    hf_context *ctx; /* the caller's: who is told of progress */
    hf_context *own; /* that of the fits */
    const hf_table *table;
    hf_columns columns; /* with the inputs by name */
    const hf_contender *contenders;
    hf_comparison *c;
    size_t *picked;     /* n: scratch */
    size_t fits, total; /* done, to be done */
} job;

static bool report(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)value;
    const job *j = user;
    const double part = done > 0.0 && done < 1.0 ? done : 0.0;
    return hfi_progress(j->ctx, "compare", ((double)j->fits + part) / (double)j->total, (double)NAN);
}

/* ---- one fit ---------------------------------------------------------------------------------------------- */

/* The fit's message, and whose it was. */
static hf_status name_failure(job *j, size_t model, size_t fold, hf_status status)
{
    char message[600];
    if (status == HF_ERR_CANCELLED) return status;
    snprintf(message, sizeof message, "%s", hf_context_message(j->own));
    return hfi_fail(j->own, status, "%s, without fold %zu: %s", j->c->name[model], fold + 1, message);
}

static void take_warning(const job *j, hf_compared *scores)
{
    scores->warnings++;
    snprintf(scores->warning, sizeof scores->warning, "%s", hf_context_message(j->own));
}

/* Predictions for the rows of `held`, and their scores, into the places of the fold's readings. */
static hf_status predict_fold(job *j, size_t model, size_t repeat, size_t fold, const hf_model *fitted,
                              const hf_table *held)
{
    hf_comparison *c = j->c;
    const hf_transform transform = fitted->settings.transform;
    hfi_predictions p;
    hf_status status = hfi_model_predict(j->own, fitted, held, &p);
    if (status < 0) return status;
    const size_t *folds = c->fold + repeat * c->n;
    const size_t first = (model * c->settings.repeats + repeat) * c->n;
    size_t k = 0;
    for (size_t i = 0; i < c->n && status >= 0; i++) {
        if (folds[i] != fold) continue;
        const double sd = sqrt(p.var_observed[k]);
        double variance;
        hf_transform_moments(transform, p.mean[k], p.var_observed[k], &c->mean[first + i], &variance);
        c->sd[first + i] = sqrt(variance);
        status =
            hf_metrics_transformed(j->own, 1, transform, &c->y[i], &p.mean[k++], &sd, &c->each[first + i]);
    }
    hfi_free(j->own, p.mean);
    return status;
}

static hf_status run_model(job *j, size_t model, size_t repeat, size_t fold, const hf_table *train,
                           const hf_table *held)
{
    hf_compared *scores = &j->c->scores[model];
    const double begin = hfi_now();
    hf_model *fitted = NULL;
    hf_status status = hf_fit(j->own, train, &j->columns, &j->contenders[model].settings, &fitted, NULL);
    if (status > 0) take_warning(j, scores);
    if (status >= 0) status = predict_fold(j, model, repeat, fold, fitted, held);
    hf_model_free(fitted);
    scores->seconds += hfi_now() - begin;
    j->fits++;
    return status < 0 ? name_failure(j, model, fold, status) : HF_OK;
}

/* ---- folds ------------------------------------------------------------------------------------------------ */

/* Rows of the fold, or of all others, in the order of the table. */
static hf_status pick(job *j, size_t repeat, size_t fold, bool held, hf_table **out)
{
    const hf_comparison *c = j->c;
    size_t count = 0;
    for (size_t i = 0; i < c->n; i++)
        if ((c->fold[repeat * c->n + i] == fold) == held) j->picked[count++] = c->row[i];
    return hf_table_select(j->own, j->table, j->picked, count, out);
}

static hf_status run_fold(job *j, size_t repeat, size_t fold)
{
    hf_table *train = NULL, *held = NULL;
    hf_status status = pick(j, repeat, fold, false, &train);
    if (status >= 0) status = pick(j, repeat, fold, true, &held);
    for (size_t m = 0; m < j->c->models && status >= 0; m++)
        status = run_model(j, m, repeat, fold, train, held);
    hf_table_free(held);
    hf_table_free(train);
    return status;
}

static hf_status deal(job *j, size_t repeat)
{
    hf_comparison *c = j->c;
    size_t train;
    const hf_status status = hf_split(j->own, hf_context_seed(j->ctx) + repeat, 0.0, c->n, j->picked, &train);
    for (size_t k = 0; k < c->n && status >= 0; k++)
        c->fold[repeat * c->n + j->picked[k]] = k % c->settings.folds;
    return status;
}

static hf_status run(job *j)
{
    hf_comparison *c = j->c;
    hf_status status = HF_OK;
    j->total = c->models * c->settings.folds * c->settings.repeats;
    j->picked = hfi_alloc(j->own, c->n, sizeof *j->picked);
    if (j->picked == NULL) return HF_ERR_MEMORY;
    hf_context_set_progress(j->own, report, j);
    for (size_t r = 0; r < c->settings.repeats && status >= 0; r++) {
        status = deal(j, r);
        for (size_t f = 0; f < c->settings.folds && status >= 0; f++) status = run_fold(j, r, f);
    }
    if (status >= 0) status = hfi_comparison_score(j->own, c);
    hfi_free(j->own, j->picked);
    return status;
}

/* ---- which readings --------------------------------------------------------------------------------------- */

static hf_status check_readings(hf_context *ctx, const hf_model *all, size_t n,
                                const hf_compare_settings *settings)
{
    char target[HFI_SHOWN_BYTES];
    if (n < settings->folds)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: %zu folds need as many readings of \"%s\", there are %zu",
                        all->source, settings->folds, hfi_text_shown(all->target, target), n);
    if (hfi_is_constant(all->y, all->n, 1))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "%s: the target \"%s\" has the same value in every row; every model predicts that",
                        all->source, hfi_text_shown(all->target, target));
    return HF_OK;
}

/* `all`: the whole table as a fit would take it. */
static hf_status begin(hf_context *ctx, const hf_model *all, size_t count, const hf_contender *contenders,
                       const hf_compare_settings *settings, hf_comparison **out)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) n += isnan(all->y[i]) ? 0 : 1;
    hf_comparison *c = NULL;
    hf_status status = check_readings(ctx, all, n, settings);
    if (status >= 0) status = hfi_comparison_create(ctx, count, contenders, n, settings, &c);
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
    if (contender->name == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_compare: every contender must have a name");
    if (hfi_site_kind_is_class(contender->settings.sites))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: a comparison is of readings; %s sites are for labels",
                        contender->name, hf_site_kind_name(contender->settings.sites));
    if (contender->settings.checkpoint != NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: the fits of a comparison have no checkpoint",
                        contender->name);
    return HF_OK;
}

static hf_status check(hf_context *ctx, const hf_columns *columns, size_t count,
                       const hf_contender *contenders, const hf_compare_settings *settings)
{
    if (columns->target_count > 1 || columns->output_column != NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_compare: models of several outputs cannot be compared");
    if (columns->target == NULL && columns->target_count == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_compare: columns->target is NULL; name the column to predict");
    if (count == 0) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_compare: there is no model to compare");
    if (settings->folds < 2)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_compare: there are %zu folds; it takes 2 or more",
                        settings->folds);
    if (settings->repeats < 1)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_compare: there are 0 repeats; it takes 1 or more");
    hf_status status = HF_OK;
    for (size_t m = 0; m < count && status >= 0; m++) status = check_contender(ctx, &contenders[m]);
    return status;
}

hf_status hf_compare(hf_context *ctx, const hf_table *table, const hf_columns *columns, size_t count,
                     const hf_contender *contenders, const hf_compare_settings *settings, hf_comparison **out)
{
    if (table == NULL || columns == NULL || contenders == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_compare: table, columns, contenders and out must not be NULL");
    const hf_compare_settings how = settings != NULL ? *settings : hf_compare_settings_default();
    hf_status status = check(ctx, columns, count, contenders, &how);
    const hf_fit_settings plain = hf_fit_settings_default();
    hf_model *all = NULL;
    if (status >= 0) status = hfi_model_prepare(ctx, table, columns, &plain, &all);
    if (status < 0) return status;
    hf_comparison *c = NULL;
    status = begin(ctx, all, count, contenders, &how, &c);
    hf_context *own = status >= 0 ? hfi_context_borrow(ctx) : NULL;
    if (status >= 0 && own == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) {
        job j = {.ctx = ctx, .own = own, .table = table, .contenders = contenders, .c = c};
        j.columns = (hf_columns){.target = all->target,
                                 .features = (const char *const *)all->feature,
                                 .feature_count = all->d,
                                 .noise = all->noise_column};
        status = run(&j);
        hfi_context_give_back(ctx, own);
    }
    hf_model_free(all);
    if (status < 0) {
        hf_comparison_free(c);
        return status;
    }
    *out = c;
    return hfi_fail(ctx, HF_OK, "%s", "");
}
