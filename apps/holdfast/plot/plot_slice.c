/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: where the other inputs are, the points that the curves need, and the readings beside them. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 4096,      /* rows predicted at once */
    CURVES = 3,        /* the mean, and the ends of the band of the function */
    LEAST_VALUES = 10, /* an input of fewer values follows nothing: it may be a code */
    READ_PLACES = 200, /* more different places of readings are not points of the slice */
    FINEST = 20000,    /* shares of the range that are not halved */
    ROUNDS = 12
};

static const double least_correlation = 0.5, most_curvature = 0.004;

/* ---- the other inputs --------------------------------------------------------------------------------------- */

static double mean_of(const double *x, size_t n)
{
    double mean = 0.0;
    for (size_t i = 0; i < n; i++) mean += (x[i] - mean) / (double)(i + 1);
    return mean;
}

/* `sorted`: scratch of n. */
static bool has_values(const double *x, size_t n, double *sorted)
{
    size_t different = 1;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, by_size);
    for (size_t i = 1; i < n; i++) different += sorted[i] > sorted[i - 1] ? 1 : 0;
    return different >= LEAST_VALUES;
}

/* The line of input j on that of the slice, where they correlate. */
static void follow(plot_route *route, size_t j)
{
    const double *along = route->x[route->column], *x = route->x[j];
    const double mean_along = mean_of(along, route->n), mean = mean_of(x, route->n);
    double aa = 0.0, ax = 0.0, xx = 0.0;
    for (size_t i = 0; i < route->n; i++) {
        const double a = along[i] - mean_along, b = x[i] - mean;
        aa += a * a;
        ax += a * b;
        xx += b * b;
    }
    const double r = ax / (sqrt(aa) * sqrt(xx));
    if (!(fabs(r) >= least_correlation) || !isfinite(ax / aa)) return;
    route->slope[j] = ax / aa;
    route->at[j] = mean + route->slope[j] * (route->anchor - mean_along);
}

hf_status plot_route_make(plot_route *route)
{
    double *sorted = malloc((route->n + 1) * sizeof *sorted);
    double *all = calloc(4 * route->d + 1, sizeof *all);
    route->slope = all;
    if (sorted == NULL || all == NULL) {
        free(sorted);
        return HF_ERR_MEMORY;
    }
    route->at = all + route->d;
    route->low = all + 2 * route->d;
    route->high = all + 3 * route->d;
    route->anchor = route->centre[route->column];
    for (size_t j = 0; j < route->d; j++) {
        const bool varied = has_values(route->x[j], route->n, sorted);
        route->at[j] = route->centre[j];
        route->low[j] = sorted[0];
        route->high[j] = sorted[route->n - 1];
        if (j != route->column && varied) follow(route, j);
    }
    free(sorted);
    return HF_OK;
}

void plot_route_free(plot_route *route)
{
    free(route->slope);
}

static void count_followers(plot_data *data, const plot_route *route)
{
    for (size_t j = route->d; j-- > 0;) {
        if (route->slope[j] == 0.0) continue;
        data->followers++;
        data->follower = j;
    }
}

static void place_on_route(const plot_data *data, const plot_route *route, double at, double *x)
{
    for (size_t j = 0; j < route->d; j++) {
        const double there = route->at[j] + route->slope[j] * (at - route->anchor);
        x[j] = route->slope[j] != 0.0 ? fmin(fmax(there, route->low[j]), route->high[j]) : route->at[j];
    }
    x[data->column] = at;
    if (data->width > data->d) x[data->d] = data->number;
}

/* ---- predictions -------------------------------------------------------------------------------------------- */

/* The prior mean at a place of the slice: between readings a straight line. */
static double offset_of(const plot_data *data, double at)
{
    const double *pair = data->offset_at;
    if (data->offsets == 0) return data->offset;
    size_t i = 0;
    while (i < data->offsets && pair[2 * i] < at) i++;
    if (i == 0) return pair[1];
    if (i == data->offsets) return pair[2 * i - 1];
    const double share = (at - pair[2 * i - 2]) / (pair[2 * i] - pair[2 * i - 2]);
    return pair[2 * i - 1] + share * (pair[2 * i + 1] - pair[2 * i - 1]);
}

/* Predictions along the route at the given values of its input; variances. */
static hf_status predict_along(hf_context *ctx, const plot_data *data, const plot_route *route, size_t count,
                               const double *at, double *mean, double *latent, double *observed)
{
    size_t block = count < BLOCK ? count : BLOCK;
    double *x = malloc((block * data->width + 1) * sizeof *x);
    hf_status status = x != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t begin = 0; begin < count && status >= 0; begin += block) {
        size_t rows = count - begin < block ? count - begin : block;
        for (size_t k = 0; k < rows; k++) place_on_route(data, route, at[begin + k], x + k * data->width);
        status =
            hf_predict(ctx, hf_model_posterior(data->model), rows, x, data->width, mean + begin,
                       latent != NULL ? latent + begin : NULL, observed != NULL ? observed + begin : NULL);
        for (size_t k = 0; k < rows; k++) mean[begin + k] += offset_of(data, at[begin + k]);
    }
    free(x);
    return status;
}

/* ---- points ------------------------------------------------------------------------------------------------- */

/* New points of all slices, and how much each interval between old ones curves. */
typedef struct refinement {
    size_t count; /* new points */
    double at[PLOT_MOST_POINTS], value[3][PLOT_MOST_POINTS];
    double curvature[PLOT_MOST_POINTS], sorted[PLOT_MOST_POINTS], curve[PLOT_MOST_POINTS];
} refinement;

/* Predicts at the new points and puts them in their places, from the back. */
static hf_status add_points(hf_context *ctx, plot_data *slice, const plot_route *route, refinement *add)
{
    hf_status status =
        predict_along(ctx, slice, route, add->count, add->at, add->value[0], add->value[1], add->value[2]);
    if (status < 0) return status;
    size_t old = slice->points, new = add->count;
    slice->points += new;
    for (size_t k = slice->points; k-- > 0 && new > 0;) {
        const bool take = old == 0 || add->at[new - 1] > slice->at[old - 1];
        const size_t i = take ? --new : --old;
        slice->at[k] = take ? add->at[i] : slice->at[i];
        slice->mean[k] = take ? add->value[0][i] : slice->mean[i];
        slice->sd_latent[k] = take ? sqrt(add->value[1][i]) : slice->sd_latent[i];
        slice->sd_observed[k] = take ? sqrt(add->value[2][i]) : slice->sd_observed[i];
    }
    return HF_OK;
}

/* Raises the curvature of the intervals beside each point to how far the curve leaves the chord there, in
 * shares of `range`. */
static void refine_curve(const plot_data *slice, refinement *add, double range)
{
    for (size_t k = 1; k + 1 < slice->points; k++) {
        const double *at = slice->at + k, *f = add->curve + k;
        const double share = (at[0] - at[-1]) / (at[1] - at[-1]);
        const double curvature = fabs(f[0] - f[-1] - share * (f[1] - f[-1])) / range;
        if (!isfinite(curvature)) continue;
        add->curvature[k - 1] = fmax(add->curvature[k - 1], curvature);
        add->curvature[k] = fmax(add->curvature[k], curvature);
    }
}

static void refine_slice(const plot_data *slice, refinement *add)
{
    double range[2] = {INFINITY, -INFINITY};
    for (size_t c = 0; c < 2 * CURVES; c++) {
        const double sds = 1.96 * ((double)(c % CURVES) - 1.0);
        for (size_t k = 0; k < slice->points; k++) {
            add->curve[k] = plot_band(slice, k, slice->sd_latent, sds);
            if (c < CURVES) plot_include(range, add->curve[k]);
        }
        if (c >= CURVES) refine_curve(slice, add, range[1] - range[0]);
    }
}

/* Middles of the intervals that curve, of those that curve most where there is no room for all. */
static void halve(const plot_data *slice, refinement *add)
{
    const size_t intervals = slice->points - 1, room = PLOT_MOST_POINTS - slice->points;
    const double finest = (slice->at[intervals] - slice->at[0]) / FINEST;
    double least = most_curvature;
    for (size_t k = 0; k < intervals; k++)
        if (!(slice->at[k + 1] - slice->at[k] > finest)) add->curvature[k] = 0.0;
    memcpy(add->sorted, add->curvature, intervals * sizeof *add->sorted);
    qsort(add->sorted, intervals, sizeof *add->sorted, by_size);
    if (room < intervals) least = fmax(least, add->sorted[intervals - room - 1]);
    add->count = 0;
    for (size_t k = 0; k < intervals; k++)
        if (add->curvature[k] > least) add->at[add->count++] = 0.5 * slice->at[k] + 0.5 * slice->at[k + 1];
}

/* Equal steps, and the places of readings where they are few. */
static void begin_grid(const plot_route *route, const plot_spread *s, double *sorted, refinement *add)
{
    double begin, end;
    plot_margins(s, &begin, &end);
    const double finest = (end - begin) / FINEST;
    size_t different = 0, count = 0;
    memcpy(sorted, route->x[route->column], route->n * sizeof *sorted);
    qsort(sorted, route->n, sizeof *sorted, by_size);
    for (size_t i = 0; i < route->n; i++)
        if (different == 0 || sorted[i] - sorted[different - 1] > finest) sorted[different++] = sorted[i];
    for (size_t k = 0; k < PLOT_POINTS; k++)
        add->at[count++] = begin + (end - begin) * (double)k / (PLOT_POINTS - 1);
    for (size_t i = 0; i < different && different <= READ_PLACES; i++) add->at[count++] = sorted[i];
    qsort(add->at, count, sizeof *add->at, by_size);
    add->count = 0;
    for (size_t k = 0; k < count; k++)
        if (add->count == 0 || add->at[k] > add->at[add->count - 1]) add->at[add->count++] = add->at[k];
}

static hf_status refine(hf_context *ctx, plot_data *slices, size_t count, const plot_route *route,
                        refinement *add)
{
    hf_status status = HF_OK;
    for (size_t round = 0; round <= ROUNDS && add->count > 0 && status >= 0; round++) {
        for (size_t t = 0; t < count && status >= 0; t++) status = add_points(ctx, &slices[t], route, add);
        if (status < 0) break;
        memset(add->curvature, 0, sizeof add->curvature);
        for (size_t t = 0; t < count; t++) refine_slice(&slices[t], add);
        halve(&slices[0], add);
    }
    return status;
}

/* ---- readings ----------------------------------------------------------------------------------------------- */

/* Counts and amounts are shown beside the rate: for one unit of exposure each. */
static hf_status per_exposure(hf_context *ctx, const plot_data *data)
{
    const char *column = hf_model_exposure_column(data->model);
    if (column == NULL) return HF_OK;
    const double *exposure = table_column(ctx, data->training, column);
    for (size_t i = 0; exposure != NULL && i < data->n; i++) data->reading_value[i] /= exposure[i];
    return exposure != NULL ? HF_OK : HF_ERR_INTERNAL;
}

/* With one input the readings themselves; with several, what is left of them when the other inputs'
 * part is replaced by that of the route: the slice at the reading's input plus its leave-one-out
 * residual, both of what is modelled. */
static hf_status place_readings(hf_context *ctx, plot_data *data, const plot_route *route)
{
    const double *values = data->x[data->column];
    data->reading_at = malloc(data->n * sizeof *data->reading_at);
    data->reading_value = malloc(data->n * sizeof *data->reading_value);
    if (data->reading_at == NULL || data->reading_value == NULL) return HF_ERR_MEMORY;
    memcpy(data->reading_at, values, data->n * sizeof *values);
    if (data->d == 1) {
        memcpy(data->reading_value, data->y, data->n * sizeof *data->y);
        return per_exposure(ctx, data);
    }
    hf_status status = predict_along(ctx, data, route, data->n, values, data->reading_value, NULL, NULL);
    const hf_transform g = data->transform;
    for (size_t i = 0; i < data->n && status >= 0; i++) {
        data->reading_value[i] +=
            hf_transform_forward(g, data->y[i]) - hf_transform_forward(g, data->loo_mean[i]);
        data->reading_value[i] = hf_transform_inverse(g, data->reading_value[i]);
    }
    return status;
}

hf_status plot_slices_make(hf_context *ctx, plot_data *slices, size_t count, const plot_route *route,
                           const plot_spread *s)
{
    refinement *add = calloc(1, sizeof *add);
    double *sorted = malloc((route->n + 1) * sizeof *sorted);
    hf_status status = add != NULL && sorted != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) begin_grid(route, s, sorted, add);
    if (status >= 0) status = refine(ctx, slices, count, route, add);
    TOOL_FREE(sorted, add);
    for (size_t t = 0; t < count && status >= 0; t++) {
        count_followers(&slices[t], route);
        status = place_readings(ctx, &slices[t], route);
    }
    return status;
}
