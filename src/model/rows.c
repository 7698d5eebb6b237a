/* SPDX-License-Identifier: Apache-2.0 */
/* The model's judgement of each reading it was fitted to. */
#include "model/target.h"

#include <math.h>
#include <string.h>

/* Columns of hf_model_rows(), in their order. */
enum {
    ROW,
    OUTPUT, /* of several outputs */
    READING,
    MEAN,
    MEDIAN, /* of a transformed target, and the residual of what is modelled */
    SD,
    RESIDUAL,
    WEIGHT,
    INFLUENCE,
    SUSPECTED,
    GROUP,
    COLUMNS
};

/* One number per row of the training table and column. */
typedef struct training_columns {
    double *at[COLUMNS];
} training_columns;

static training_columns split(double *block, size_t n)
{
    training_columns c;
    for (size_t k = 0; k < COLUMNS; k++) c.at[k] = block + k * n;
    return c;
}

/* The anchors are the readings that entered, in row order: every reading of positive weight. */
static bool is_anchor(const hf_model *model, size_t i)
{
    return model->reading[i].weight > 0.0;
}

static size_t count_anchors(const hf_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->n; i++) count += is_anchor(model, i);
    return count;
}

/* Standard deviation of a reading from its latent variance; the noise column counts. */
static double observed_sd(const hf_model *model, size_t i, double latent)
{
    if (hfi_model_has_likelihood(model)) return sqrt(latent);
    double noise = hf_posterior_output_noise(model->posterior, hfi_model_output_of(model, i)) +
                   (model->extra != NULL ? model->extra[i] : 0.0);
    return sqrt(hf_posterior_calibration(model->posterior) * (latent + noise));
}

/* Readings that entered: leave-one-out. `work` has 3 x anchors entries. */
static hf_status judge_anchors(hf_context *ctx, const hf_model *model, bool influence, training_columns *c,
                               double *work)
{
    size_t n = hf_posterior_anchors(model->posterior);
    double *mean = work, *var = work + n, *kl = work + 2 * n;
    hf_status status = hf_leave_one_out(ctx, model->posterior, mean, var);
    if (status >= 0 && influence) status = hf_influence_of_removal(ctx, model->posterior, kl);
    if (status < 0) return status;
    size_t k = 0;
    for (size_t i = 0; i < model->n; i++) {
        if (!is_anchor(model, i)) continue;
        c->at[MEAN][i] = mean[k] + hfi_model_prior(model, i);
        c->at[SD][i] = observed_sd(model, i, var[k]);
        c->at[INFLUENCE][i] = kl[k];
        k++;
    }
    return HF_OK;
}

/* Without that the fit told of every reading. */
static bool leaves_out(const hf_model *model)
{
    return hfi_solver_kind_of(hf_posterior_solver(model->posterior))->leaves_out;
}

static void judge_as_told(const hf_model *model, training_columns *c)
{
    for (size_t i = 0; i < model->n; i++) {
        const double exposure = hfi_model_has_likelihood(model) ? hfi_model_prior(model, i) : 0.0;
        c->at[MEAN][i] = model->reading[i].loo_mean + exposure;
        c->at[SD][i] = observed_sd(model, i, model->reading[i].loo_var);
    }
}

static bool is_judged(const hf_model *model, size_t i)
{
    return is_anchor(model, i) || (!leaves_out(model) && !isnan(model->reading[i].loo_mean));
}

/* Readings that did not enter: prediction from those that did. A wide table may have many more gaps than
 * suspected readings. */
static hf_status judge_others(hf_context *ctx, const hf_model *model, bool only_suspected,
                              training_columns *c)
{
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, model->posterior);
    if (workspace == NULL) return hfi_out_of_memory(ctx);
    hf_status status = HF_OK;
    for (size_t i = 0; i < model->n && status >= 0; i++) {
        if (is_judged(model, i) || (only_suspected && !model->reading[i].suspected)) continue;
        double mean, var;
        status = hf_predict_latent(model->posterior, workspace, model->x + i * model->width, &mean, &var,
                                   NULL, NULL);
        if (status < 0) break;
        c->at[MEAN][i] = mean + hfi_model_prior(model, i);
        c->at[SD][i] = observed_sd(model, i, var);
        c->at[INFLUENCE][i] = 0.0;
    }
    hf_posterior_workspace_free(workspace);
    return status;
}

static bool suspected_among_anchors(const hf_model *model)
{
    for (size_t i = 0; i < model->n; i++)
        if (is_anchor(model, i) && model->reading[i].suspected) return true;
    return false;
}

static hf_status judge_training_rows(hf_context *ctx, const hf_model *model, bool only_suspected,
                                     bool influence, training_columns *c)
{
    for (size_t i = 0; i < model->n; i++) {
        c->at[ROW][i] = (double)model->row[i];
        c->at[READING][i] = model->y[i];
        c->at[WEIGHT][i] = model->reading[i].weight;
        c->at[SUSPECTED][i] = model->reading[i].suspected ? 1.0 : 0.0;
        c->at[GROUP][i] = (double)model->reading[i].group;
        c->at[OUTPUT][i] = (double)hfi_model_output_of(model, i);
    }
    if (!leaves_out(model)) judge_as_told(model, c);
    hf_status status = judge_others(ctx, model, only_suspected, c);
    const bool anchors = !only_suspected || suspected_among_anchors(model);
    if (status < 0 || !anchors || !leaves_out(model)) return status;
    double *work = hfi_alloc(ctx, hf_posterior_anchors(model->posterior), 3 * sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    status = judge_anchors(ctx, model, influence, c, work);
    hfi_free(ctx, work);
    return status;
}

/* Mean and sd of what is modelled become those of the target. */
static void to_target(const hf_model *model, training_columns *c)
{
    const hf_transform transform = model->settings.transform;
    for (size_t i = 0; i < model->n && hfi_model_has_likelihood(model); i++)
        hfi_likelihood_reading(model, c->at[MEAN][i], c->at[SD][i] * c->at[SD][i], &c->at[MEAN][i],
                               &c->at[SD][i]);
    for (size_t i = 0; i < model->n && transform != HF_TRANSFORM_NONE; i++) {
        const double mean = c->at[MEAN][i], variance = c->at[SD][i] * c->at[SD][i];
        double y_variance;
        c->at[RESIDUAL][i] = hf_transform_residual(transform, c->at[READING][i], mean, variance);
        c->at[MEDIAN][i] = hf_transform_inverse(transform, mean);
        hf_transform_moments(transform, mean, variance, &c->at[MEAN][i], &y_variance);
        c->at[SD][i] = sqrt(y_variance);
    }
}

/* Moves the suspected rows to the front of every column; returns how many there are. */
static size_t keep_suspected(size_t n, const training_columns *c)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (c->at[SUSPECTED][i] == 0.0) continue;
        for (size_t k = 0; k < COLUMNS; k++) c->at[k][count] = c->at[k][i];
        count++;
    }
    return count;
}

static hf_status make_table(hf_context *ctx, const hf_model *model, size_t rows, const training_columns *c,
                            bool influence, hf_table **out)
{
    static const char *const names[COLUMNS] = {"row",    "output",       "y",      "loo_mean",  "loo_median",
                                               "loo_sd", "loo_residual", "weight", "influence", "suspected",
                                               "group"};
    const bool plain = model->settings.transform == HF_TRANSFORM_NONE;
    const bool left_out[COLUMNS] = {
        [OUTPUT] = model->outputs == 1, [MEDIAN] = plain, [RESIDUAL] = plain, [INFLUENCE] = !influence};
    hf_table *table = NULL;
    hf_status status = hf_table_create(ctx, rows, &table);
    for (size_t k = 0; k < COLUMNS && status >= 0; k++)
        if (!left_out[k]) status = hf_table_set_numbers(ctx, table, names[k], c->at[k]);
    if (status < 0) {
        hf_table_free(table);
        return status;
    }
    *out = table;
    return HF_OK;
}

static hf_status check_anchors(hf_context *ctx, const hf_model *model)
{
    const size_t count = count_anchors(model);
    if (!leaves_out(model) || count == hf_posterior_anchors(model->posterior)) return HF_OK;
    return hfi_fail(ctx, HF_ERR_INTERNAL, "%zu readings have a weight but the posterior has %zu anchors",
                    count, hf_posterior_anchors(model->posterior));
}

hf_status hfi_outputs_rows(hf_context *ctx, const hf_model *model, bool only_suspected, hf_table **out)
{
    hf_status status = check_anchors(ctx, model);
    if (status < 0) return status;
    double *block = hfi_alloc(ctx, model->n, COLUMNS * sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    training_columns c = split(block, model->n);
    const bool influence = !only_suspected && leaves_out(model);
    status = judge_training_rows(ctx, model, only_suspected, influence, &c);
    if (status >= 0) {
        to_target(model, &c);
        const size_t rows = only_suspected ? keep_suspected(model->n, &c) : model->n;
        status = make_table(ctx, model, rows, &c, influence, out);
    }
    hfi_free(ctx, block);
    return status;
}

hf_status hfi_outputs_left_out(hf_context *ctx, const hf_model *model, double *mean, double *sd)
{
    hf_status status = check_anchors(ctx, model);
    if (status < 0) return status;
    double *block = hfi_alloc(ctx, model->n, COLUMNS * sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    training_columns c = split(block, model->n);
    status = judge_training_rows(ctx, model, false, false, &c);
    if (status >= 0) memcpy(mean, c.at[MEAN], model->n * sizeof *mean);
    if (status >= 0) memcpy(sd, c.at[SD], model->n * sizeof *sd);
    hfi_free(ctx, block);
    return status;
}

hf_status hfi_outputs_training(hf_context *ctx, const hf_model *model, hf_table *table, double *column)
{
    const size_t rows = hf_table_rows(table), stride = hfi_model_stride(model);
    hf_status status = HF_OK;
    for (size_t t = 0; t < stride && status >= 0; t++) {
        for (size_t k = 0; k < rows; k++) column[k] = model->y[k * stride + t];
        status = hf_table_set_numbers(ctx, table, stride > 1 ? model->output[t] : model->target, column);
    }
    return status;
}

/* ---- of any target ------------------------------------------------------------------------------------------ */

static hf_status tabulate(hf_context *ctx, const char *function, const hf_model *model, bool only_suspected,
                          hf_table **out)
{
    if (model == NULL || out == NULL) return hfi_refuse(ctx, "%s: model and out must not be NULL", function);
    if (only_suspected && !model->kind->suspects) return hfi_target_lacks(ctx, model, function);
    const hf_status status = hfi_model_check_rows(ctx, model);
    return status < 0 ? status : model->kind->rows(ctx, model, only_suspected, out);
}

hf_status hf_model_rows(hf_context *ctx, const hf_model *model, hf_table **out)
{
    return tabulate(ctx, "hf_model_rows", model, false, out);
}

hf_status hf_model_suspects(hf_context *ctx, const hf_model *model, hf_table **out)
{
    return tabulate(ctx, "hf_model_suspects", model, true, out);
}

/* Row k of the table is of readings k * stride on: a wide table's readings lie side by side. */
static hf_status add_training(hf_context *ctx, const hf_model *model, hf_table *table, double *column)
{
    const size_t rows = hf_table_rows(table), stride = hfi_model_stride(model);
    for (size_t k = 0; k < rows; k++) column[k] = (double)model->row[k * stride];
    /* First, so that a feature of the name "row" replaces it rather than the other way round. */
    hf_status status = hf_table_set_numbers(ctx, table, "row", column);
    for (size_t j = 0; j < (stride > 1 ? model->d : model->width) && status >= 0; j++) {
        for (size_t k = 0; k < rows; k++) column[k] = model->x[k * stride * model->width + j];
        status = hf_table_set_numbers(ctx, table, model->feature[j], column);
    }
    if (status >= 0) status = model->kind->training(ctx, model, table, column);
    if (model->prior != NULL && status >= 0)
        status = hf_table_set_numbers(ctx, table, model->mean_column, model->prior);
    return status;
}

hf_status hf_model_training(hf_context *ctx, const hf_model *model, hf_table **out)
{
    if (model == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_model_training: model and out must not be NULL");
    hf_status status = hfi_model_check_rows(ctx, model);
    if (status < 0) return status;
    double *column = hfi_alloc(ctx, model->n, sizeof *column);
    if (column == NULL) return HF_ERR_MEMORY;
    hf_table *table = NULL;
    status = hf_table_create(ctx, model->n / hfi_model_stride(model), &table);
    if (status >= 0) status = add_training(ctx, model, table, column);
    hfi_free(ctx, column);
    if (status < 0) {
        hf_table_free(table);
        return status;
    }
    *out = table;
    return HF_OK;
}
