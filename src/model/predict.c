/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of readings for the rows of a table: of all outputs for each row, or of the one that a row is about. */
#include "data/table_set.h"
#include "data/text.h"
#include "model/inputs.h"
#include "model/look.h"
#include "model/pack.h"
#include "model/target.h"

#include <math.h>
#include <string.h>

/* Phi^-1(0.975) */
static const double normal_95 = 1.959963984540054;

/* ---- numbers ---------------------------------------------------------------------------------------------- */

/* The known noise of a table's rows if the model was fitted with such a column and the table has it, else NULL. */
static hf_status find_noise(hf_context *ctx, const hf_model *model, const hf_table *table,
                            const double **noise)
{
    const size_t column = hfi_column_named(table, model->noise_column);
    *noise = NULL;
    if (column == SIZE_MAX) return HF_OK;
    const hf_status status = hfi_finite_numbers(ctx, table, column, noise);
    return status < 0 ? status : hfi_check_noise(ctx, table, column, *noise);
}

static hf_status allocate_predictions(hf_context *ctx, size_t rows, size_t outputs, bool covariance,
                                      hfi_predictions *out)
{
    size_t cells, square = 0;
    if (!hfi_size_mul(rows, out->columns, &cells) || cells > SIZE_MAX / 3 ||
        (covariance && (!hfi_size_mul(outputs, outputs, &square) || !hfi_size_mul(rows, square, &square))))
        return hfi_out_of_memory(ctx);
    out->mean = hfi_alloc(ctx, cells, 3 * sizeof *out->mean);
    if (covariance) out->covariance = hfi_alloc(ctx, square, sizeof *out->covariance);
    if (out->mean == NULL || (covariance && out->covariance == NULL)) return HF_ERR_MEMORY;
    out->var_latent = out->mean + cells;
    out->var_observed = out->var_latent + cells;
    return HF_OK;
}

static hf_status predict_complete(hf_context *ctx, const hf_model *model, const hfi_complete *c,
                                  hfi_predictions *out)
{
    if (c->count == 0) return HF_OK;
    if (c->width == model->width)
        return hf_predict(ctx, model->posterior, c->count, c->x, c->width, out->mean, out->var_latent,
                          out->var_observed);
    return hf_predict_outputs(ctx, model->posterior, c->count, c->x, c->width, out->mean, out->var_latent,
                              out->var_observed, out->covariance);
}

/* Prior means and known noise are of rows with one prediction. */
static void add_known(const hf_model *model, const hfi_complete *c, const double *mean, const double *noise,
                      hfi_predictions *out)
{
    const double kappa = hf_posterior_calibration(model->posterior);
    const bool exposure = hfi_model_has_likelihood(model);
    if (out->columns != 1) return;
    for (size_t k = 0; k < c->count; k++) {
        const size_t i = c->row[k];
        if (mean != NULL) out->mean[k] += exposure ? log(mean[i]) : mean[i];
        if (noise != NULL && !isnan(noise[i])) out->var_observed[k] += kappa * noise[i];
    }
}

static hf_status predict_rows(hf_context *ctx, const hf_model *model, const hf_table *table,
                              hfi_predictions *out)
{
    const double *noise = NULL, *mean = NULL;
    hfi_complete c = {0};
    hf_status status = find_noise(ctx, model, table, &noise);
    if (status >= 0) status = hfi_model_find_mean(ctx, model, table, &mean);
    if (status >= 0) status = hfi_complete_find(ctx, model, table, out->output, mean, &c);
    if (status >= 0) status = predict_complete(ctx, model, &c, out);
    if (status >= 0) {
        add_known(model, &c, mean, noise, out);
        out->missing = c.rows - c.count;
        double *const arrays[] = {out->mean, out->var_latent, out->var_observed};
        for (size_t k = 0; k < 3; k++) hfi_complete_spread(&c, out->columns, arrays[k]);
        if (out->covariance != NULL)
            hfi_complete_spread(&c, model->outputs * model->outputs, out->covariance);
    }
    hfi_complete_free(ctx, &c);
    return status;
}

hf_status hfi_model_predict(hf_context *ctx, const hf_model *model, const hf_table *table, bool whole,
                            bool covariance, hfi_predictions *out)
{
    const size_t rows = hf_table_rows(table),
                 column = whole ? SIZE_MAX : hfi_column_named(table, model->output_column);
    *out = (hfi_predictions){.columns = column != SIZE_MAX ? 1 : model->outputs};
    hf_status status = HF_OK;
    if (column != SIZE_MAX) {
        out->output = hfi_alloc(ctx, rows, sizeof *out->output);
        status = out->output != NULL ? hfi_model_output_numbers(ctx, model, table, column, out->output)
                                     : HF_ERR_MEMORY;
    }
    if (status >= 0) status = allocate_predictions(ctx, rows, model->outputs, covariance, out);
    if (status >= 0) status = predict_rows(ctx, model, table, out);
    if (status < 0) hfi_predictions_free(ctx, out);
    return status;
}

void hfi_predictions_free(hf_context *ctx, hfi_predictions *predictions)
{
    HFI_FREE(ctx, predictions->output, predictions->mean, predictions->covariance);
    *predictions = (hfi_predictions){0};
}

/* ---- columns ---------------------------------------------------------------------------------------------- */

enum {
    GAUSSIAN_COLUMNS = 5,
    TRANSFORMED_COLUMNS = 6, /* and the median */
    RATE_COLUMNS = 9         /* and the rate */
};

static const struct {
    const char *ending, *meaning;
} described[RATE_COLUMNS] = {
    {"_mean", "mean of a new reading"},
    {"_sd_latent", "standard deviation of that mean"},
    {"_sd_observed", "standard deviation of a new reading"},
    {"_lo95", "lower end of the central 95 % interval of a new reading"},
    {"_hi95", "upper end of the central 95 % interval of a new reading"},
    {"_median", "median of a new reading"},
    {"_rate", "rate for one unit of exposure"},
    {"_rate_lo95", "lower end of the central 95 % interval of the rate"},
    {"_rate_hi95", "upper end of the central 95 % interval of the rate"},
};

static size_t columns_each(const hf_model *model)
{
    return hfi_model_has_likelihood(model)                  ? RATE_COLUMNS
           : model->settings.transform != HF_TRANSFORM_NONE ? TRANSFORMED_COLUMNS
                                                            : GAUSSIAN_COLUMNS;
}

/* Mean and variances of what is modelled. */
typedef struct modelled {
    double mean, latent, observed, exposure;
} modelled;

typedef void fill_row(const hf_model *model, const modelled *a, double *row);

static void fill_gaussian(const hf_model *model, const modelled *a, double *row)
{
    (void)model;
    const double sd = sqrt(a->observed);
    row[0] = a->mean;
    row[1] = sqrt(a->latent);
    row[2] = sd;
    row[3] = a->mean - normal_95 * sd;
    row[4] = a->mean + normal_95 * sd;
}

/* A transformed target has moments of what is predicted, and quantiles, one by one. */
static void fill_transformed(const hf_model *model, const modelled *a, double *row)
{
    const hf_transform transform = model->settings.transform;
    const double half = normal_95 * sqrt(a->observed);
    double latent, observed;
    hf_transform_moments(transform, a->mean, a->latent, NULL, &latent);
    hf_transform_moments(transform, a->mean, a->observed, &row[0], &observed);
    row[1] = sqrt(latent);
    row[2] = sqrt(observed);
    row[3] = hf_transform_inverse(transform, a->mean - half);
    row[4] = hf_transform_inverse(transform, a->mean + half);
    row[5] = hf_transform_inverse(transform, a->mean);
}

/* Counts and amounts likewise, at the exposure of the row; then the rate. */
static void fill_rate(const hf_model *model, const modelled *a, double *row)
{
    const double log_rate = a->mean - log(a->exposure), half = normal_95 * sqrt(a->latent);
    hfi_likelihood_summary(model, a->mean, a->latent, row);
    row[6] = exp(log_rate + 0.5 * a->latent);
    row[7] = exp(log_rate - half);
    row[8] = exp(log_rate + half);
}

static hf_status fill_target_columns(hf_context *ctx, const hf_model *model, const hfi_predictions *from,
                                     size_t t, size_t rows, const double *exposure, size_t count,
                                     double *const *column)
{
    fill_row *const fill = count == GAUSSIAN_COLUMNS      ? fill_gaussian
                           : count == TRANSFORMED_COLUMNS ? fill_transformed
                                                          : fill_rate;
    double row[RATE_COLUMNS];
    for (size_t i = 0; i < rows; i++) {
        const size_t k = i * from->columns + t;
        const modelled a = {from->mean[k], from->var_latent[k], from->var_observed[k],
                            exposure != NULL ? exposure[i] : 1.0};
        fill(model, &a, row);
        for (size_t c = 0; c < count; c++) column[c][i] = row[c];
        /* Quantiles of counts take time. */
        if (count == RATE_COLUMNS && !hfi_progress(ctx, "predict", (double)i / (double)rows, NAN))
            return hfi_cancelled(ctx);
    }
    return HF_OK;
}

/* The names of an output's columns begin with this: those of a long table are known by their target. */
static hfi_column_name stem_of(const hf_model *model, bool single, size_t t)
{
    hfi_column_name c = {.part = {"", "", model->target, ""}, .is = {.of = single ? SIZE_MAX : t}};
    if (single || model->outputs == 1) return c;
    c.part[2] = model->output[t];
    if (model->output_column == NULL) return c;
    c.part[0] = model->target;
    c.part[1] = "_";
    return c;
}

size_t hfi_outputs_columns(const hf_model *model, bool single)
{
    return columns_each(model) * (single ? 1 : model->outputs);
}

hfi_column_name hfi_outputs_column(const hf_model *model, bool single, size_t i)
{
    const size_t each = columns_each(model);
    hfi_column_name c = stem_of(model, single, i / each);
    c.part[3] = described[i % each].ending;
    c.is.meaning = described[i % each].meaning;
    return c;
}

static hf_status add_predictions(hf_context *ctx, const hf_model *model, const double *exposure,
                                 const hfi_predictions *from, hfi_pack *pack)
{
    const size_t count = columns_each(model);
    const bool single = from->output != NULL;
    hf_status status = hfi_pack_init(ctx, pack, pack->rows, hfi_outputs_columns(model, single));
    for (size_t t = 0; t < from->columns && status >= 0; t++) {
        double *column[RATE_COLUMNS];
        for (size_t c = 0; c < count && status >= 0; c++) {
            column[c] = hfi_pack_predicted(pack, model, single, t * count + c);
            if (column[c] == NULL) status = HF_ERR_MEMORY;
        }
        if (status >= 0)
            status = fill_target_columns(ctx, model, from, t, pack->rows, exposure, count, column);
    }
    return status;
}

static hf_status add_covariances(hf_context *ctx, const hf_model *model, const hfi_predictions *from,
                                 hfi_pack *pack)
{
    const size_t outputs = model->outputs;
    hf_status status = hfi_pack_init(ctx, pack, pack->rows, outputs * (outputs - 1) / 2);
    for (size_t s = 1; s < outputs && status >= 0; s++)
        for (size_t t = 0; t < s && status >= 0; t++) {
            const hfi_column_name a = stem_of(model, false, s), b = stem_of(model, false, t);
            double *column = hfi_pack_column(pack, "%s%s%s_%s%s%s_cov", a.part[0], a.part[1], a.part[2],
                                             b.part[0], b.part[1], b.part[2]);
            if (column == NULL) status = HF_ERR_MEMORY;
            for (size_t i = 0; i < pack->rows && status >= 0; i++)
                column[i] = from->covariance[(i * outputs + s) * outputs + t];
        }
    return status;
}

static hf_status into_table(hf_context *ctx, const hf_model *model, hf_table *table, bool covariance)
{
    hfi_pack pack = {.ctx = ctx, .rows = hf_table_rows(table)};
    hfi_predictions predictions;
    const double *exposure = NULL;
    hf_status status = hfi_model_predict(ctx, model, table, covariance, covariance, &predictions);
    if (status < 0) return status;
    if (hfi_model_has_likelihood(model)) status = hfi_model_find_mean(ctx, model, table, &exposure);
    if (status >= 0)
        status = covariance ? add_covariances(ctx, model, &predictions, &pack)
                            : add_predictions(ctx, model, exposure, &predictions, &pack);
    if (status >= 0) status = hfi_pack_into(&pack, table);
    const size_t missing = predictions.missing;
    hfi_pack_free(&pack);
    hfi_predictions_free(ctx, &predictions);
    return status < 0 ? status : hfi_predict_message(ctx, model, table, missing);
}

hf_status hfi_outputs_predict(hf_context *ctx, const hf_model *model, hf_table *table)
{
    return into_table(ctx, model, table, false);
}

hf_status hfi_outputs_covariances(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model->outputs == 1)
        return hfi_refuse(ctx, "the model has one output, \"%s\"; covariances are between several",
                          model->target);
    return into_table(ctx, model, table, true);
}

/* ---- of any target ---------------------------------------------------------------------------------------- */

hf_status hf_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model == NULL || table == NULL)
        return hfi_refuse(ctx, "hf_predict_into_table: model and table must not be NULL");
    hfi_outside outside;
    hf_status status = hfi_outside_find(ctx, model, table, &outside);
    if (status < 0) return status;
    status = model->kind->predict(ctx, model, table);
    return hfi_outside_message(ctx, model, table, &outside, status);
}

hf_status hf_predict_covariances_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model == NULL || table == NULL)
        return hfi_refuse(ctx, "hf_predict_covariances_into_table: model and table must not be NULL");
    if (model->kind->covariances == NULL)
        return hfi_target_lacks(ctx, model, "hf_predict_covariances_into_table()");
    return model->kind->covariances(ctx, model, table);
}
