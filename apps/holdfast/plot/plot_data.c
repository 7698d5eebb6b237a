/* SPDX-License-Identifier: Apache-2.0 */
/* Data of a picture of a model. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROBES = 25,        /* points along an input when looking for the one that matters most */
    PROBED_INPUTS = 200 /* more inputs than this are not tried */
};

/* Medians of all inputs: where the slice goes through. */
static hf_status medians(const plot_data *data, double *centre)
{
    for (size_t j = 0; j < data->d; j++) {
        plot_spread s;
        if (!plot_spread_of(data->x[j], data->n, &s)) return HF_ERR_MEMORY;
        centre[j] = s.median;
    }
    return HF_OK;
}

/* Means at the same place become their average. Returns how many places there are. */
static size_t merge(double *pair, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        const size_t first = i;
        const double at = pair[2 * first];
        double sum = 0.0;
        for (; i < n && pair[2 * i] == at; i++) sum += pair[2 * i + 1];
        pair[2 * count] = at;
        pair[2 * count++ + 1] = sum / (double)(i - first);
    }
    return count;
}

static hf_status find_offset(hf_context *ctx, plot_data *data)
{
    const char *column = hf_model_mean_column(data->model);
    if (column == NULL) return HF_OK;
    plot_spread s;
    const double *prior = table_column(ctx, data->training, column);
    if (prior == NULL) return HF_ERR_INTERNAL;
    if (!plot_spread_of(prior, data->n, &s)) return HF_ERR_MEMORY;
    data->offset = s.median;
    if (data->d > 1) return HF_OK;
    data->offset_at = malloc((data->n + 1) * 2 * sizeof *data->offset_at);
    if (data->offset_at == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++) {
        data->offset_at[2 * i] = data->x[0][i];
        data->offset_at[2 * i + 1] = prior[i];
    }
    qsort(data->offset_at, data->n, 2 * sizeof *data->offset_at, by_size);
    data->offsets = merge(data->offset_at, data->n);
    return HF_OK;
}

hf_status plot_variation(hf_context *ctx, const plot_data *data, const double *centre, size_t j,
                         const plot_spread *s, double *out)
{
    double mean[PROBES], *x = malloc(PROBES * data->width * sizeof *x);
    if (x == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < PROBES; k++) {
        memcpy(x + k * data->width, centre, data->width * sizeof *x);
        x[k * data->width + j] = s->low + (s->high - s->low) * (double)k / (PROBES - 1);
    }
    hf_status status =
        hf_predict(ctx, hf_model_posterior(data->model), PROBES, x, data->width, mean, NULL, NULL);
    free(x);
    if (status < 0) return status;
    qsort(mean, PROBES, sizeof *mean, by_size);
    *out = mean[PROBES - 1] - mean[0];
    return HF_OK;
}

/* The input that somebody named. */
static hf_status find_input(hf_context *ctx, const hf_model *model, const hf_table *training, const char *x,
                            size_t *column)
{
    size_t position; /* in the training table, whose first column is the row number */
    for (size_t j = 0; j < hf_model_features(model); j++) {
        *column = j;
        if (strcmp(hf_model_feature(model, j), x) == 0) return HF_OK;
    }
    hf_status status = hf_table_find(ctx, training, x, &position);
    if (status < 0) return status;
    complain("--x: \"%s\" is not an input of the model", x);
    return HF_ERR_NO_COLUMN;
}

hf_status plot_choose_input(hf_context *ctx, const hf_model *model, const hf_table *training, const char *x,
                            size_t least, plot_mover *moves, void *drawn, size_t *column)
{
    const size_t d = hf_model_features(model);
    if (x != NULL) return find_input(ctx, model, training, x, column);
    double best = -1.0;
    for (size_t j = 0; j < d && j < PROBED_INPUTS && d >= least; j++) {
        double range = 0.0;
        const hf_status status = moves(ctx, drawn, j, &range);
        if (status < 0) return status;
        if (range <= best) continue;
        best = range;
        *column = j;
    }
    return HF_OK;
}

/* A slice of one output, through the medians of its inputs. */
typedef struct output_slice {
    const plot_data *data;
    const double *centre;
} output_slice;

static hf_status slice_moves(hf_context *ctx, void *drawn, size_t j, double *out)
{
    const output_slice *of = drawn;
    plot_spread s;
    if (!plot_spread_of(of->data->x[j], of->data->n, &s)) return HF_ERR_MEMORY;
    return plot_variation(ctx, of->data, of->centre, j, &s, out);
}

static hf_status load_tables(hf_context *ctx, plot_data *data)
{
    hf_status status = hf_model_rows(ctx, data->model, &data->rows);
    if (status >= 0) status = hf_model_training(ctx, data->model, &data->training);
    if (status < 0) return status;
    const bool plain = hf_model_settings_of(data->model)->transform == HF_TRANSFORM_NONE;
    const struct {
        const char *name;
        const double **numbers;
    } columns[] = {{"row", &data->row},
                   {"y", &data->y},
                   {plain ? "loo_mean" : "loo_median", &data->loo_mean},
                   {"loo_sd", &data->loo_sd},
                   {"weight", &data->weight},
                   {"suspected", &data->suspected},
                   {"loo_residual", &data->residual}};
    for (size_t k = 0; k + (plain ? 1 : 0) < sizeof columns / sizeof columns[0]; k++) {
        *columns[k].numbers = table_column(ctx, data->rows, columns[k].name);
        if (*columns[k].numbers == NULL) return HF_ERR_INTERNAL;
    }
    data->n = hf_table_rows(data->rows);
    data->x = malloc(data->d * sizeof *data->x);
    if (data->x == NULL) return HF_ERR_MEMORY;
    /* hf_model_training() has the inputs after "row", in order. */
    for (size_t j = 0; j < data->d; j++) {
        data->x[j] = table_column(ctx, data->training, hf_model_feature(data->model, j));
        if (data->x[j] == NULL) return HF_ERR_INTERNAL;
    }
    return HF_OK;
}

hf_status plot_data_make(hf_context *ctx, const hf_model *model, const char *x, plot_data *out)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    out->name = hf_model_target(model);
    out->transform = hf_model_settings_of(model)->transform;
    out->rates = hf_likelihood_has_rate(hf_model_settings_of(model)->sites);
    if (out->rates) out->transform = HF_TRANSFORM_LOG; /* latent values are logarithms of the rate */
    out->d = out->width = hf_model_features(model);
    double *centre = malloc(out->d * sizeof *centre);
    plot_spread s;
    hf_status status = centre != NULL ? load_tables(ctx, out) : HF_ERR_MEMORY;
    if (status >= 0) status = medians(out, centre);
    if (status >= 0) status = find_offset(ctx, out);
    output_slice of = {.data = out, .centre = centre};
    if (status >= 0)
        status = plot_choose_input(ctx, model, out->training, x, 2, slice_moves, &of, &out->column);
    if (status >= 0 && !plot_spread_of(out->x[out->column], out->n, &s)) status = HF_ERR_MEMORY;
    plot_route route = {.centre = centre, .x = out->x, .n = out->n, .d = out->d, .column = out->column};
    if (status >= 0) status = plot_route_make(&route);
    if (status >= 0) status = plot_slices_make(ctx, out, 1, &route, &s);
    plot_route_free(&route);
    out->map.drawn = out->d == 2 && x == NULL;
    if (status >= 0 && out->map.drawn) status = plot_map_make(ctx, out);
    if (status >= 0) status = plot_score_make(ctx, model, &out->score);
    free(centre);
    return status;
}

void plot_data_free(plot_data *data)
{
    hf_table_free(data->rows);
    hf_table_free(data->training);
    plot_map_free(&data->map);
    TOOL_FREE(data->offset_at, data->reading_at, data->reading_value, data->x, data->own, data->gap);
}

static void reading_moments(const plot_data *data, size_t k, double *mean, double *sd)
{
    const double latent = data->sd_latent[k];
    hf_reading_moments m = {NAN, NAN, NAN};
    hf_likelihood_moments(hf_model_settings_of(data->model)->sites,
                          hf_posterior_noise(hf_model_posterior(data->model)), data->mean[k], latent * latent,
                          &m);
    *mean = m.mean;
    *sd = m.sd;
}

/* With a transformed target: the columns that hf_predict_into_table() would add. */
static hf_status add_transformed(hf_context *ctx, const plot_data *data, hf_table *table)
{
    static const char *const names[] = {"mean", "sd_latent", "sd_observed", "lo95", "hi95", "median"};
    enum {
        COLUMNS = sizeof names / sizeof names[0]
    };
    double column[COLUMNS][PLOT_MOST_POINTS];
    for (size_t k = 0; k < data->points; k++) {
        const double latent = data->sd_latent[k], observed = data->sd_observed[k];
        double variance[2];
        hf_transform_moments(data->transform, data->mean[k], latent * latent, NULL, &variance[0]);
        hf_transform_moments(data->transform, data->mean[k], observed * observed, &column[0][k],
                             &variance[1]);
        column[1][k] = sqrt(variance[0]);
        column[2][k] = sqrt(variance[1]);
        if (data->rates) reading_moments(data, k, &column[0][k], &column[2][k]);
        column[3][k] = plot_band(data, k, data->sd_observed, -HF_HALF_WIDTH_95);
        column[4][k] = plot_band(data, k, data->sd_observed, HF_HALF_WIDTH_95);
        column[5][k] = plot_band(data, k, data->sd_observed, 0.0);
    }
    hf_status status = hf_table_set_numbers(ctx, table, "x", data->at);
    for (size_t c = 0; c < COLUMNS && status >= 0; c++)
        status = hf_table_set_numbers(ctx, table, names[c], column[c]);
    return status;
}

hf_status plot_slice_table(hf_context *ctx, const plot_data *data, hf_table **out)
{
    const struct {
        const char *name;
        const double *numbers;
    } columns[] = {{"x", data->at},
                   {"mean", data->mean},
                   {"sd_latent", data->sd_latent},
                   {"sd_observed", data->sd_observed}};
    hf_status status = hf_table_create(ctx, data->points, out);
    if (status < 0 || data->transform != HF_TRANSFORM_NONE)
        return status < 0 ? status : add_transformed(ctx, data, *out);
    for (size_t k = 0; k < sizeof columns / sizeof columns[0] && status >= 0; k++)
        status = hf_table_set_numbers(ctx, *out, columns[k].name, columns[k].numbers);
    return status;
}
