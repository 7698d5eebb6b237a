/* SPDX-License-Identifier: Apache-2.0 */
/* Data of a picture of a classifier: probabilities along one input, or over two. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 121, /* of a map */
    PROBES = 25 /* points along an input when looking for the one that matters most */
};

static hf_status load_class_rows(hf_context *ctx, plot_classes *data)
{
    size_t label = 0;
    hf_status status = hf_model_rows(ctx, data->model, &data->rows);
    if (status >= 0) status = hf_model_training(ctx, data->model, &data->training);
    if (status >= 0) status = hf_table_find(ctx, data->rows, "label", &label);
    if (status < 0) return status;
    data->n = hf_table_rows(data->rows);
    data->label = malloc((data->n + 1) * sizeof *data->label);
    data->inputs = malloc((data->d + 1) * sizeof *data->inputs);
    data->place = malloc((data->d + 1) * sizeof *data->place);
    if (data->label == NULL || data->inputs == NULL || data->place == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++) {
        char buffer[32];
        const char *text = hf_table_field(data->rows, i, label, buffer);
        data->label[i] = data->classes;
        for (size_t c = 0; c < data->classes; c++)
            if (strcmp(text, hf_model_class(data->model, c)) == 0) data->label[i] = c;
    }
    for (size_t j = 0; j < data->d; j++) {
        data->inputs[j] = table_column(ctx, data->training, hf_model_feature(data->model, j));
        if (data->inputs[j] == NULL) return HF_ERR_INTERNAL;
    }
    return HF_OK;
}

static hf_status ask_class_probabilities(hf_context *ctx, plot_classes *data, size_t m, const double *x,
                                         double *probability, double *mean, double *var)
{
    return hf_classify_predict(ctx, hf_model_classifier(data->model), m, x, data->d, probability, NULL, mean,
                               var, NULL);
}

/* How much the probabilities move along input j, between its 5 % and 95 % quantiles. */
static hf_status classes_move(hf_context *ctx, void *drawn, size_t j, double *out)
{
    plot_classes *data = drawn;
    const size_t classes = data->classes;
    plot_spread s;
    if (!plot_spread_of(data->inputs[j], data->n, &s)) return HF_ERR_MEMORY;
    double *x = malloc((PROBES * data->d + 1) * sizeof *x), *p = malloc((PROBES * classes + 1) * sizeof *p);
    hf_status status = x != NULL && p != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < PROBES && status >= 0; k++) {
        memcpy(x + k * data->d, data->place, data->d * sizeof *x);
        x[k * data->d + j] = s.low + (s.high - s.low) * (double)k / (PROBES - 1);
    }
    if (status >= 0) status = ask_class_probabilities(ctx, data, PROBES, x, p, NULL, NULL);
    *out = 0.0;
    for (size_t k = 1; k < PROBES && status >= 0; k++)
        for (size_t c = 0; c < classes; c++) *out += fabs(p[k * classes + c] - p[(k - 1) * classes + c]);
    TOOL_FREE(p, x);
    return status;
}

/* Range of an input with a margin. */
static bool find_input_range(plot_classes *data, size_t j, size_t axis)
{
    plot_spread s;
    if (!plot_spread_of(data->inputs[j], data->n, &s)) return false;
    plot_margins(&s, &data->low[axis], &data->high[axis]);
    return true;
}

static double compute_grid_coordinate(const plot_classes *data, size_t axis, size_t k, size_t count)
{
    return data->low[axis] + (data->high[axis] - data->low[axis]) * (double)k / (double)(count - 1);
}

static void place_points(plot_classes *data)
{
    for (size_t k = 0; k < data->m; k++) {
        double *x = data->x + k * data->d;
        memcpy(x, data->place, data->d * sizeof *x);
        if (data->maps) {
            x[0] = compute_grid_coordinate(data, 0, k / SIDE, SIDE);
            x[1] = compute_grid_coordinate(data, 1, k % SIDE, SIDE);
        } else {
            x[data->column] = compute_grid_coordinate(data, 0, k, data->m);
        }
    }
}

static hf_status predict_class_picture(hf_context *ctx, plot_classes *data)
{
    const size_t latents = hf_model_latents(data->model);
    data->m = data->maps ? SIDE * SIDE : PLOT_POINTS;
    data->side = SIDE;
    data->banded = latents == 1 && !data->maps;
    data->x = malloc((data->m * data->d + 1) * sizeof *data->x);
    data->probability = malloc((data->m * data->classes + 1) * sizeof *data->probability);
    data->mean = malloc((2 * data->m * latents + 1) * sizeof *data->mean);
    if (data->x == NULL || data->probability == NULL || data->mean == NULL) return HF_ERR_MEMORY;
    place_points(data);
    return ask_class_probabilities(ctx, data, data->m, data->x, data->probability, data->mean,
                                   data->mean + data->m * latents);
}

hf_status plot_classes_make(hf_context *ctx, const hf_model *model, const char *x, plot_classes *out)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    out->d = hf_model_features(model);
    out->classes = hf_model_classes(model);
    hf_status status = load_class_rows(ctx, out);
    for (size_t j = 0; j < out->d && status >= 0; j++) {
        plot_spread s;
        if (!plot_spread_of(out->inputs[j], out->n, &s)) return HF_ERR_MEMORY;
        out->place[j] = s.median;
    }
    out->maps = out->d == 2 && x == NULL;
    if (status >= 0)
        status = plot_choose_input(ctx, model, out->training, x, 3, classes_move, out, &out->column);
    if (status >= 0 && !find_input_range(out, out->column, 0)) status = HF_ERR_MEMORY;
    if (status >= 0 && out->maps && !find_input_range(out, 1, 1)) status = HF_ERR_MEMORY;
    return status < 0 ? status : predict_class_picture(ctx, out);
}

void plot_classes_free(plot_classes *data)
{
    hf_table_free(data->rows);
    hf_table_free(data->training);
    TOOL_FREE(data->label, data->inputs, data->place, data->x, data->probability, data->mean);
}

hf_status plot_classes_table(hf_context *ctx, const plot_classes *data, hf_table **out)
{
    hf_status status = hf_table_create(ctx, data->m, out);
    for (size_t j = 0; j < data->d && status >= 0; j++)
        status = table_set(ctx, *out, hf_model_feature(data->model, j), data->x + j, data->d);
    for (size_t c = 0; c < data->classes && status >= 0; c++) {
        char *name = with_ending("p_", 2, hf_model_class(data->model, c));
        status =
            name != NULL ? table_set(ctx, *out, name, data->probability + c, data->classes) : HF_ERR_MEMORY;
        free(name);
    }
    return status;
}
