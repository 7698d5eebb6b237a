/* SPDX-License-Identifier: Apache-2.0 */
/* Data of a picture of several outputs: a slice for each, all through the same place. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    OWN = 6,      /* arrays of readings beside their inputs */
    LEAST_GAP = 3 /* places in a row where an output was not read make a gap */
};

/* All readings with their inputs, and the place of them all. */
typedef struct outputs_source {
    hf_table *training;
    size_t readings, stride; /* readings; how many of them lie in a row of the training table */
    const double *output;
    const double *columns[OWN]; /* row, y, loo_mean, loo_sd, weight, suspected */
    const double **x;           /* d columns of the training table */
    double *centre;             /* d + 1 */
    plot_spread *spread;        /* d */
} outputs_source;

static void source_free(outputs_source *from)
{
    hf_table_free(from->training);
    TOOL_FREE(from->x, from->centre, from->spread);
}

static hf_status source_make(hf_context *ctx, const plot_outputs *data, outputs_source *from)
{
    static const char *const names[OWN] = {"row", "y", "loo_mean", "loo_sd", "weight", "suspected"};
    const size_t d = hf_model_features(data->model);
    hf_status status = hf_model_training(ctx, data->model, &from->training);
    if (status < 0) return status;
    from->readings = hf_table_rows(data->rows);
    from->stride = from->readings / hf_table_rows(from->training);
    from->output = table_column(ctx, data->rows, "output");
    from->x = calloc(d, sizeof *from->x);
    from->centre = calloc(d + 1, sizeof *from->centre);
    from->spread = calloc(d, sizeof *from->spread);
    if (from->output == NULL || from->x == NULL || from->centre == NULL || from->spread == NULL)
        return HF_ERR_MEMORY;
    for (size_t k = 0; k < OWN; k++)
        if ((from->columns[k] = table_column(ctx, data->rows, names[k])) == NULL) return HF_ERR_INTERNAL;
    for (size_t j = 0; j < d; j++) {
        from->x[j] = table_column(ctx, from->training, hf_model_feature(data->model, j));
        if (from->x[j] == NULL) return HF_ERR_INTERNAL;
        if (!plot_spread_of(from->x[j], hf_table_rows(from->training), &from->spread[j]))
            return HF_ERR_MEMORY;
        from->centre[j] = from->spread[j].median;
    }
    return HF_OK;
}

static bool is_reading_of(const outputs_source *from, size_t i, size_t output)
{
    return from->output[i] == (double)output && !isnan(from->columns[1][i]);
}

/* The readings of one output, in arrays of its own. */
static hf_status take_readings(const outputs_source *from, size_t output, plot_data *to)
{
    to->n = 0;
    for (size_t i = 0; i < from->readings; i++) to->n += is_reading_of(from, i, output);
    to->own = calloc(to->n * (OWN + to->d) + 1, sizeof *to->own);
    to->x = calloc(to->d, sizeof *to->x);
    if (to->own == NULL || to->x == NULL) return HF_ERR_MEMORY;
    const double **const columns[OWN] = {&to->row,    &to->y,      &to->loo_mean,
                                         &to->loo_sd, &to->weight, &to->suspected};
    for (size_t k = 0; k < OWN; k++) *columns[k] = to->own + k * to->n;
    for (size_t j = 0; j < to->d; j++) to->x[j] = to->own + (OWN + j) * to->n;
    size_t at = 0;
    for (size_t i = 0; i < from->readings; i++) {
        if (!is_reading_of(from, i, output)) continue;
        for (size_t k = 0; k < OWN; k++) to->own[k * to->n + at] = from->columns[k][i];
        for (size_t j = 0; j < to->d; j++) to->own[(OWN + j) * to->n + at] = from->x[j][i / from->stride];
        at++;
    }
    return HF_OK;
}

/* ---- which input ----------------------------------------------------------------------------- */

/* Slices of all outputs. */
typedef struct slices {
    const plot_outputs *data;
    const outputs_source *from;
} slices;

/* How much of the spread of its readings each output's mean covers along input j, all outputs together. */
static hf_status outputs_move(hf_context *ctx, void *drawn, size_t j, double *out)
{
    const plot_outputs *data = ((const slices *)drawn)->data;
    const outputs_source *from = ((const slices *)drawn)->from;
    const size_t d = hf_model_features(data->model);
    *out = 0.0;
    for (size_t t = 0; t < data->count; t++) {
        double range;
        plot_spread readings;
        from->centre[d] = (double)t;
        hf_status status = plot_variation(ctx, &data->output[t], from->centre, j, &from->spread[j], &range);
        if (status < 0) return status;
        if (!plot_spread_of(data->output[t].y, data->output[t].n, &readings)) return HF_ERR_MEMORY;
        if (readings.high > readings.low) *out += range / (readings.high - readings.low);
    }
    return HF_OK;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* A place on the axis, and whether the output was read there. */
typedef struct axis_place {
    double at;
    bool read;
} axis_place;

static int by_place(const void *a, const void *b)
{
    const axis_place *left = a, *right = b;
    if (left->at != right->at) return left->at < right->at ? -1 : 1;
    return (int)left->read - (int)right->read;
}

/* Where readings of the output would have been between those there are: from halfway after the last one to
 * halfway before the next. */
static hf_status find_gaps(const outputs_source *from, size_t output, plot_data *to)
{
    axis_place *list = calloc(from->readings, sizeof *list);
    to->gap = calloc(from->readings / LEAST_GAP + 1, 2 * sizeof *to->gap);
    if (list == NULL || to->gap == NULL) {
        free(list);
        return HF_ERR_MEMORY;
    }
    for (size_t i = 0; i < from->readings; i++)
        list[i] = (axis_place){from->x[to->column][i / from->stride], is_reading_of(from, i, output)};
    qsort(list, from->readings, sizeof *list, by_place);
    for (size_t i = 0; i < from->readings;) {
        size_t end = i, different = 0;
        for (; end < from->readings && !list[end].read; end++)
            different += end == i || list[end].at != list[end - 1].at ? 1 : 0;
        /* Other outputs read at the same place do not make a gap of it. */
        if (end < from->readings && different > 0 && list[end].at == list[end - 1].at) different--;
        if (different >= LEAST_GAP) {
            to->gap[2 * to->gaps] = i > 0 ? 0.5 * (list[i - 1].at + list[i].at) : to->at[0];
            to->gap[2 * to->gaps + 1] =
                end < from->readings ? 0.5 * (list[end - 1].at + list[end].at) : to->at[to->points - 1];
            to->gaps++;
        }
        i = end > i ? end : i + 1;
    }
    free(list);
    return HF_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static hf_status make_outputs(hf_context *ctx, const char *x, plot_outputs *out, outputs_source *from)
{
    const size_t d = hf_model_features(out->model), outputs = hf_model_outputs(out->model);
    const size_t count = outputs < PLOT_OUTPUTS ? outputs : PLOT_OUTPUTS;
    out->output = calloc(count, sizeof *out->output);
    if (out->output == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t t = 0; t < count && status >= 0; t++) {
        plot_data *to = &out->output[t];
        out->count = t + 1;
        to->model = out->model;
        to->name = hf_model_output(out->model, t);
        to->d = d;
        to->width = d + 1;
        to->number = (double)t;
        status = take_readings(from, t, to);
    }
    slices all = {.data = out, .from = from};
    if (status >= 0)
        status = plot_choose_input(ctx, out->model, from->training, x, 2, outputs_move, &all, &out->column);
    plot_route route = {.centre = from->centre,
                        .x = from->x,
                        .n = hf_table_rows(from->training),
                        .d = d,
                        .column = out->column};
    for (size_t t = 0; t < out->count; t++) out->output[t].column = out->column;
    if (status >= 0) status = plot_route_make(&route);
    if (status >= 0) status = plot_slices_make(ctx, out->output, count, &route, &from->spread[out->column]);
    for (size_t t = 0; t < count && d == 1 && status >= 0; t++) status = find_gaps(from, t, &out->output[t]);
    plot_route_free(&route);
    return status;
}

hf_status plot_outputs_make(hf_context *ctx, const hf_model *model, const char *x, plot_outputs *out)
{
    outputs_source from = {0};
    *out = (plot_outputs){.model = model};
    hf_status status = hf_model_rows(ctx, model, &out->rows);
    if (status >= 0) status = source_make(ctx, out, &from);
    if (status >= 0) status = make_outputs(ctx, x, out, &from);
    if (status >= 0) status = plot_score_make(ctx, model, &out->score);
    source_free(&from);
    return status;
}

void plot_outputs_free(plot_outputs *data)
{
    for (size_t t = 0; t < data->count; t++) plot_data_free(&data->output[t]);
    free(data->output);
    hf_table_free(data->rows);
}

hf_status plot_outputs_table(hf_context *ctx, const plot_outputs *data, hf_table **out)
{
    hf_status status = hf_table_create(ctx, data->output[0].points, out);
    if (status >= 0) status = hf_table_set_numbers(ctx, *out, "x", data->output[0].at);
    for (size_t t = 0; t < data->count && status >= 0; t++) {
        const plot_data *one = &data->output[t];
        status = table_set_named(ctx, *out, one->name, "_mean", one->mean);
        if (status >= 0) status = table_set_named(ctx, *out, one->name, "_sd_latent", one->sd_latent);
        if (status >= 0) status = table_set_named(ctx, *out, one->name, "_sd_observed", one->sd_observed);
    }
    return status;
}
