/* SPDX-License-Identifier: Apache-2.0 */
/* Data of a picture of an envelope: bounds along one input or over two. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE = 361, /* places along a slice, beside those of the readings */
    SIDE = 61    /* places along each side of a map */
};

void plot_envelope_free(plot_envelope *data)
{
    hf_envelope_free(data->envelope);
    hf_envelope_labels_free(data->labels);
    TOOL_FREE(data->place, data->x, data->lower);
    *data = (plot_envelope){0};
}

/* ---- where --------------------------------------------------------------------------------------------------- */

static double input_of(const plot_envelope *data, size_t reading, size_t j)
{
    const double *x = NULL;
    return hf_envelope_reading(data->envelope, reading, &x, NULL, NULL) >= 0 ? x[j] : (double)NAN;
}

/* Range of an input, with a little room beside a slice, and its median. */
static hf_status range_of(const plot_envelope *data, size_t j, double *low, double *high, double *median)
{
    const size_t n = hf_envelope_readings(data->envelope);
    double *values = calloc(n, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) values[i] = input_of(data, i, j);
    qsort(values, n, sizeof *values, by_size);
    double room = data->maps ? 0.0 : 0.06 * (values[n - 1] - values[0]);
    if (!(values[n - 1] > values[0])) room = fmax(0.1 * fabs(values[0]), 0.5);
    *low = values[0] - room;
    *high = values[n - 1] + room;
    *median = values[n / 2];
    free(values);
    return HF_OK;
}

/* The input `x`, looked for in a table of the readings, whose message names what is near. */
static hf_status choose_envelope_input(hf_context *ctx, plot_envelope *data, const char *x)
{
    data->maps = x == NULL && data->d == 2;
    if (x == NULL) return HF_OK;
    hf_table *readings = NULL;
    hf_status status = plot_envelope_readings(ctx, data, &readings);
    if (status >= 0) status = hf_table_find(ctx, readings, x, &data->column);
    hf_table_free(readings);
    /* Behind the inputs are the limits. */
    if (status >= 0 && data->column >= data->d) data->column = 0;
    return status;
}

static hf_status allocate_envelope_picture(plot_envelope *data, size_t m)
{
    data->m = m;
    data->x = calloc(m * data->d + 1, sizeof *data->x);
    data->lower = calloc(3 * m, sizeof *data->lower);
    if (data->x == NULL || data->lower == NULL) return HF_ERR_MEMORY;
    data->upper = data->lower + m;
    data->centre = data->upper + m;
    return HF_OK;
}

/* The bounds have kinks at the readings: they are among the places. */
static hf_status make_slice(plot_envelope *data)
{
    const size_t n = hf_envelope_readings(data->envelope), d = data->d;
    hf_status status = allocate_envelope_picture(data, SLICE + n);
    if (status < 0) return status;
    double *at = data->lower; /* not needed yet */
    for (size_t k = 0; k < SLICE; k++)
        at[k] = data->low[0] + (data->high[0] - data->low[0]) * (double)k / (SLICE - 1);
    for (size_t i = 0; i < n; i++) at[SLICE + i] = input_of(data, i, data->column);
    qsort(at, data->m, sizeof *at, by_size);
    for (size_t k = 0; k < data->m; k++) {
        memcpy(data->x + k * d, data->place, d * sizeof *data->x);
        data->x[k * d + data->column] = at[k];
    }
    return HF_OK;
}

static hf_status make_map(plot_envelope *data)
{
    data->side = SIDE;
    hf_status status = allocate_envelope_picture(data, SIDE * SIDE);
    for (size_t k = 0; k < data->m && status >= 0; k++)
        for (size_t j = 0; j < 2; j++) {
            const double share = (double)(j == 0 ? k / SIDE : k % SIDE) / (SIDE - 1);
            data->x[2 * k + j] = data->low[j] + share * (data->high[j] - data->low[j]);
        }
    return status;
}

/* ---- bounds -------------------------------------------------------------------------------------------------- */

static hf_status compute_envelope_bounds(hf_context *ctx, plot_envelope *data)
{
    hf_bound *bounds = calloc(data->m, sizeof *bounds);
    hf_status status = bounds != NULL ? hf_envelope_bounds_batch(ctx, data->envelope, data->m, data->x,
                                                                 data->d, NULL, bounds)
                                      : HF_ERR_MEMORY;
    for (size_t k = 0; k < data->m && status >= 0; k++) {
        data->lower[k] = bounds[k].lower;
        data->upper[k] = bounds[k].upper;
        data->centre[k] = NAN;
    }
    free(bounds);
    return status;
}

/* The smoothest function through the intervals; a picture without it is still one. */
static hf_status find_centre(hf_context *ctx, plot_envelope *data)
{
    hf_closed_envelope *closed = NULL;
    hf_status status = hf_closed_envelope_create(ctx, data->envelope, HF_CLOSED_MINIMUM_NORM, NULL, &closed);
    if (status >= 0)
        status = hf_closed_envelope_bounds(ctx, closed, data->m, data->x, data->d, NULL, NULL, data->centre);
    hf_closed_envelope_free(closed);
    return status == HF_ERR_MEMORY || status == HF_ERR_CANCELLED ? status : HF_OK;
}

hf_status plot_envelope_make(hf_context *ctx, const char *path, const char *x, plot_envelope *out)
{
    *out = (plot_envelope){0};
    hf_status status = hf_envelope_load(ctx, path, &out->envelope, &out->labels);
    if (status < 0) return status;
    out->d = hf_envelope_dimension(out->envelope);
    out->place = calloc(out->d, sizeof *out->place);
    if (out->place == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = choose_envelope_input(ctx, out, x);
    for (size_t j = 0; j < out->d && status >= 0; j++) {
        double low = 0.0, high = 0.0;
        status = range_of(out, j, &low, &high, &out->place[j]);
        if (!out->maps && j != out->column) continue;
        out->low[out->maps ? j : 0] = low;
        out->high[out->maps ? j : 0] = high;
    }
    if (status >= 0) status = out->maps ? make_map(out) : make_slice(out);
    if (status >= 0) status = compute_envelope_bounds(ctx, out);
    return status >= 0 && !out->maps ? find_centre(ctx, out) : status;
}

/* ---- tables -------------------------------------------------------------------------------------------------- */

hf_status plot_envelope_table(hf_context *ctx, const plot_envelope *data, hf_table **out)
{
    const char *const names[] = {"lower", "upper", data->maps ? NULL : "smoothest", NULL};
    hf_status status = hf_table_create(ctx, data->m, out);
    for (size_t j = 0; j < data->d && status >= 0; j++)
        status = table_set(ctx, *out, data->labels->features[j], data->x + j, data->d);
    return status >= 0 ? table_set_all(ctx, *out, names, data->lower) : status;
}

hf_status plot_envelope_readings(hf_context *ctx, const plot_envelope *data, hf_table **out)
{
    const size_t n = hf_envelope_readings(data->envelope);
    double *columns = calloc(3 * n, sizeof *columns);
    hf_status status = columns != NULL ? hf_table_create(ctx, n, out) : HF_ERR_MEMORY;
    for (size_t j = 0; j < data->d && status >= 0; j++) {
        for (size_t i = 0; i < n; i++) columns[i] = input_of(data, i, j);
        status = hf_table_set_numbers(ctx, *out, data->labels->features[j], columns);
    }
    for (size_t i = 0; i < n && status >= 0; i++)
        status = hf_envelope_reading(data->envelope, i, NULL, &columns[n + i], &columns[2 * n + i]);
    if (status >= 0) status = hf_table_set_numbers(ctx, *out, "lower", columns + n);
    if (status >= 0) status = hf_table_set_numbers(ctx, *out, "upper", columns + 2 * n);
    free(columns);
    return status;
}
