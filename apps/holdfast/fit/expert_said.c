/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table become what an expert says. */
#include "fit/expert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const options[EXPERT_SAID] = {"label-column", "correction-column", "variance-column"};
static const char *const endings[EXPERT_COLUMNS] = {"_label",    "_correction", "_correction_var", "_prior",
                                                    "_prior_sd", "_wrong",      "_right"};

hf_status expert_name_columns(expert_run *run)
{
    const char *target = argument(run->base.arguments, "target");
    for (size_t k = 0; k < EXPERT_COLUMNS && target != NULL; k++) {
        if (k < EXPERT_SAID) run->name[k] = argument(run->base.arguments, options[k]);
        if (run->name[k] != NULL) continue;
        run->own[k] = with_ending(target, strlen(target), endings[k]);
        if (run->own[k] == NULL) return HF_ERR_MEMORY;
        run->name[k] = run->own[k];
    }
    return HF_OK;
}

/* SIZE_MAX where it is not there and nobody named it. */
static hf_status find_expert_column(const expert_run *run, size_t which, size_t *column)
{
    const hf_table *table = run->base.table;
    *column = SIZE_MAX;
    for (size_t j = 0; j < hf_table_columns(table); j++)
        if (strcmp(hf_table_name(table, j), run->name[which]) == 0) *column = j;
    if (*column != SIZE_MAX || !has_argument(run->base.arguments, options[which])) return HF_OK;
    return hf_table_find(run->base.session.ctx, table, run->name[which], column);
}

/* A word without the blanks around it, or "" where it is missing. */
static void trim(const char *field, char *word, size_t bytes)
{
    const char *end = field != NULL ? field + strlen(field) : NULL;
    while (field != NULL && (*field == ' ' || *field == '\t')) field++;
    while (end != NULL && end > field && (end[-1] == ' ' || end[-1] == '\t')) end--;
    const size_t length = field != NULL ? (size_t)(end - field) : 0;
    snprintf(word, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), field != NULL ? field : "");
}

static hf_status read_labels(expert_run *run, size_t column)
{
    bounded *base = &run->base;
    for (size_t i = 0; i < base->n && column != SIZE_MAX; i++) {
        char buffer[32], word[64];
        trim(hf_table_field(base->table, base->row[i], column, buffer), word, sizeof word);
        if (*word == '\0') continue;
        if (hf_enum_parse(base->session.ctx, HF_ENUM_EXPERT_LABEL, word, &run->label[i]) < 0)
            return REFUSE(
                base, "%s, line %zu, column \"%s\": \"%s\" is no label; say believed, doubted, or nothing",
                hf_table_source(base->table), hf_table_line(base->table, base->row[i]),
                run->name[EXPERT_LABEL], word);
    }
    return HF_OK;
}

static hf_status read_numbers(expert_run *run, size_t column, double *out)
{
    const double *numbers = NULL;
    hf_status status = HF_OK;
    if (column != SIZE_MAX)
        status = hf_table_numbers(run->base.session.ctx, run->base.table, column, &numbers);
    for (size_t i = 0; i < run->base.n && status >= 0; i++)
        out[i] = numbers != NULL ? numbers[run->base.row[i]] : (double)NAN;
    return status;
}

static hf_status refuse_at(expert_run *run, size_t i, size_t which, const char *why, double value)
{
    bounded *base = &run->base;
    return REFUSE(base, "%s, line %zu, column \"%s\": %s (%g)", hf_table_source(base->table),
                  hf_table_line(base->table, base->row[i]), run->name[which], why, value);
}

/* An expert who gives a correction doubts the reading. */
static hf_status check_expert_statements(expert_run *run)
{
    for (size_t i = 0; i < run->base.n; i++) {
        const double value = run->correction[i], var = run->var[i];
        if (isinf(value)) return refuse_at(run, i, EXPERT_CORRECTION, "a correction is finite", value);
        if (!isnan(var) && !(var >= 0.0 && isfinite(var)))
            return refuse_at(run, i, EXPERT_VARIANCE, "a variance is finite and 0 or more", var);
        if (!isnan(value) && run->label[i] == HF_EXPERT_BELIEVED)
            return refuse_at(run, i, EXPERT_CORRECTION, "the reading is believed and has a correction",
                             value);
        if (!isnan(value)) run->label[i] = HF_EXPERT_DOUBTED;
    }
    return HF_OK;
}

hf_status expert_read_said(expert_run *run)
{
    const size_t n = run->base.n;
    size_t column[EXPERT_SAID];
    run->label = calloc(n + 1, sizeof *run->label);
    run->correction = calloc(n + 1, sizeof *run->correction);
    run->var = calloc(n + 1, sizeof *run->var);
    hf_status status =
        run->label != NULL && run->correction != NULL && run->var != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < EXPERT_SAID && status >= 0; k++) status = find_expert_column(run, k, &column[k]);
    if (status >= 0) status = read_labels(run, column[EXPERT_LABEL]);
    if (status >= 0) status = read_numbers(run, column[EXPERT_CORRECTION], run->correction);
    if (status >= 0) status = read_numbers(run, column[EXPERT_VARIANCE], run->var);
    return status < 0 ? status : check_expert_statements(run);
}

/* ---- what comes of it ----------------------------------------------------------------------------------------- */

/* Prior mean and its standard deviation of rows with all inputs; others get none. */
static hf_status prior_columns(expert_run *run, const double **input, double *mean, double *sd)
{
    const size_t rows = hf_table_rows(run->out), d = run->base.d;
    hf_context *ctx = run->base.session.ctx;
    double *x = calloc(d + 1, sizeof *x);
    hf_status status = x != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t j = 0; j < d && status >= 0; j++)
        status = table_numbers(ctx, run->out, run->base.feature[j], &input[j]);
    for (size_t i = 0; i < rows && status >= 0; i++) {
        bool complete = true;
        for (size_t j = 0; j < d; j++) {
            x[j] = input[j][i];
            complete = complete && !isnan(x[j]);
        }
        mean[i] = sd[i] = NAN;
        if (!complete) continue;
        status = hf_expert_mean(ctx, run->expert, 1, x, d, &mean[i], &sd[i]);
        sd[i] = sqrt(sd[i]);
        if (status == HF_ERR_NOT_FINITE)
            status = REFUSE(&run->base, "%s, line %zu: an input is infinite", hf_table_source(run->out),
                            hf_table_line(run->out, i));
    }
    free(x);
    return status;
}

static hf_status add_expert_column(expert_run *run, size_t which, const double *values)
{
    return hf_table_set_numbers(run->base.session.ctx, run->out, run->name[which], values);
}

/* Probability of being wrong, and the right value, of labelled readings. */
static hf_status add_verdicts(expert_run *run, size_t rows, double *wrong, double *right)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < rows; i++) wrong[i] = right[i] = NAN;
    for (size_t i = 0; i < run->base.n && status >= 0; i++) {
        hf_expert_reading r;
        status = hf_expert_reading_of(run->base.session.ctx, run->expert, i, &r);
        if (status < 0 || r.label == HF_EXPERT_UNKNOWN) continue;
        wrong[run->base.row[i]] = r.wrong;
        right[run->base.row[i]] = r.expected;
    }
    if (status >= 0) status = add_expert_column(run, EXPERT_WRONG, wrong);
    return status < 0 ? status : add_expert_column(run, EXPERT_RIGHT, right);
}

hf_status expert_add_columns(expert_run *run)
{
    const char *at = argument(run->base.arguments, "at");
    hf_status status = HF_OK;
    if (at != NULL)
        status = read_table(&run->base.session, at, NULL, &run->out);
    else
        run->out = run->base.table;
    const size_t rows = status >= 0 ? hf_table_rows(run->out) : 0;
    double *mean = calloc(2 * rows + 1, sizeof *mean);
    const double **input = calloc(run->base.d + 1, sizeof *input);
    if (status >= 0 && (mean == NULL || input == NULL)) status = HF_ERR_MEMORY;
    if (status >= 0) status = prior_columns(run, input, mean, mean + rows);
    if (status >= 0) status = add_expert_column(run, EXPERT_PRIOR, mean);
    if (status >= 0) status = add_expert_column(run, EXPERT_PRIOR_SD, mean + rows);
    if (status >= 0 && at == NULL) status = add_verdicts(run, rows, mean, mean + rows);
    TOOL_FREE(mean, input);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

/* Leave-one-out means and standard deviations of the model's readings; NaN of others. */
static hf_status left_out(expert_run *run, const char *file, double *expected, double *sd)
{
    bounded *base = &run->base;
    hf_model *model = NULL;
    hf_table *rows = NULL;
    for (size_t i = 0; i < base->n; i++) expected[i] = sd[i] = NAN;
    hf_status status = hf_model_load(base->session.ctx, file, &model);
    if (status >= 0 && strcmp(hf_model_target(model), base->target) != 0)
        status = REFUSE(base, "--model: %s is of \"%s\", not of \"%s\"", file, hf_model_target(model),
                        base->target);
    if (status >= 0 && hf_model_can(model, HF_ABILITY_COVARIANCES))
        status = REFUSE(base, "--model: %s is of several outputs; it takes one", file);
    if (status >= 0) status = hf_model_rows(base->session.ctx, model, &rows);
    if (status >= 0) {
        const double *row = table_column(base->session.ctx, rows, "row");
        const double *mean = table_column(base->session.ctx, rows, "loo_mean");
        const double *spread = table_column(base->session.ctx, rows, "loo_sd");
        for (size_t i = 0, k = 0; i < base->n && row != NULL && mean != NULL && spread != NULL; i++) {
            while (k < hf_table_rows(rows) && row[k] < (double)(base->row[i] + 1)) k++;
            if (k == hf_table_rows(rows) || row[k] != (double)(base->row[i] + 1)) continue;
            expected[i] = mean[k];
            sd[i] = spread[k] > 0.0 ? spread[k] : (double)NAN;
        }
    }
    hf_table_free(rows);
    hf_model_free(model);
    return status;
}

hf_status expert_find_questions(expert_run *run)
{
    if (!has_argument(run->base.arguments, "ask")) return HF_OK;
    const char *model = argument(run->base.arguments, "model");
    const size_t n = run->base.n;
    if (run->asked > n) run->asked = n;
    run->question = calloc(run->asked + 1, sizeof *run->question);
    run->move = calloc(run->asked + 1, sizeof *run->move);
    double *expected = calloc(2 * n + 1, sizeof *expected);
    hf_status status = run->question != NULL && run->move != NULL && expected != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 && model != NULL) status = left_out(run, model, expected, expected + n);
    if (status >= 0)
        status = hf_expert_ask(run->base.session.ctx, run->expert, model != NULL ? expected : NULL,
                               model != NULL ? expected + n : NULL, &run->asked, run->question, run->move);
    free(expected);
    return status;
}
