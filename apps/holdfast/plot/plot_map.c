/* SPDX-License-Identifier: Apache-2.0 */
/* Two inputs: maps of the mean and of the standard deviation, with the readings on them. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE = 81,         /* cells along either input */
    STEPS = 10000,     /* of the range of what a map shows */
    MOST_POINTS = 4000 /* plain readings drawn; more only make the file large */
};

static double place_at(const plot_map *map, size_t axis, size_t k)
{
    return map->low[axis] + (map->high[axis] - map->low[axis]) * (double)k / (SIDE - 1);
}

/* From what is modelled to the units of the target, as along a slice. */
static void to_units(const plot_data *data, plot_map *map)
{
    for (size_t k = 0; k < SIDE * SIDE; k++) {
        const double mean = map->mean[k] + data->offset;
        double variance = map->sd[k];
        if (data->transform != HF_TRANSFORM_NONE)
            hf_transform_moments(data->transform, mean, map->sd[k], NULL, &variance);
        map->mean[k] = hf_transform_inverse(data->transform, mean);
        map->sd[k] = sqrt(variance);
    }
}

hf_status plot_map_make(hf_context *ctx, plot_data *data)
{
    plot_map *map = &data->map;
    for (size_t axis = 0; axis < 2; axis++) {
        plot_spread s;
        if (!plot_spread_of(data->x[axis], data->n, &s)) return HF_ERR_MEMORY;
        plot_margins(&s, &map->low[axis], &map->high[axis]);
    }
    double *x = malloc(2 * SIDE * SIDE * sizeof *x);
    map->mean = malloc(2 * SIDE * SIDE * sizeof *map->mean);
    hf_status status = x != NULL && map->mean != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        map->sd = map->mean + SIDE * SIDE;
        for (size_t k = 0; k < SIDE * SIDE; k++) {
            x[2 * k] = place_at(map, 0, k % SIDE);
            x[2 * k + 1] = place_at(map, 1, k / SIDE);
        }
        status =
            hf_predict(ctx, hf_model_posterior(data->model), SIDE * SIDE, x, 2, map->mean, map->sd, NULL);
    }
    free(x);
    if (status >= 0) to_units(data, map);
    return status;
}

void plot_map_free(plot_map *map)
{
    free(map->mean);
}

/* ---- the script --------------------------------------------------------------------------------------------- */

/* The cells as a matrix, whose columns and rows stand for the inputs, in steps of the range: no colour tells
 * finer ones, and whole numbers are printed ten times as fast. */
static void print_cells(FILE *out, const char *name, const double *values, const double range[2])
{
    fprintf(out, "$%s << EOD\n", name);
    for (size_t k = 0; k < SIDE * SIDE; k++) {
        const char *end = (k + 1) % SIDE == 0 ? "\n" : " ";
        const double step = (values[k] - range[0]) / (range[1] - range[0]) * STEPS;
        if (isfinite(step))
            fprintf(out, "%ld%s", lround(step), end);
        else
            fprintf(out, "NaN%s", end);
    }
    fputs("EOD\n", out);
}

static size_t print_readings(FILE *out, const plot_data *data, const char *name, bool suspected)
{
    size_t count = 0, printed = 0;
    for (size_t i = 0; i < data->n; i++)
        count += !isnan(data->y[i]) && (data->suspected[i] != 0.0) == suspected ? 1 : 0;
    const size_t step = !suspected && count > MOST_POINTS ? (count + MOST_POINTS - 1) / MOST_POINTS : 1;
    if (count == 0) return 0;
    fprintf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < data->n; i++) {
        if (isnan(data->y[i]) || (data->suspected[i] != 0.0) != suspected || printed++ % step != 0) continue;
        PLOT_ROW(out, data->x[0][i], data->x[1][i]);
    }
    fputs("EOD\n", out);
    return count;
}

static void print_marks(FILE *out, const plot_data *data)
{
    size_t marked[PLOT_MARKED];
    const size_t count = plot_find_marked(data, marked);
    fputs("$mapmarks << EOD\n", out);
    for (size_t k = 0; k < count; k++)
        fprintf(out, " %.9g %.9g %.0f\n", data->x[0][marked[k]], data->x[1][marked[k]], data->row[marked[k]]);
    fputs("EOD\n", out);
}

/* Least and largest value; a surface that is level gets colours about its height. */
static void find_map_range(const double *values, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t k = 0; k < SIDE * SIDE; k++) plot_include(range, values[k]);
    if (!(range[0] <= range[1])) range[0] = range[1] = 0.0;
    if (range[1] - range[0] > 1e-9 * fabs(range[0])) return;
    const double room = fmax(0.01 * fabs(range[0]), 1e-9);
    range[0] -= room;
    range[1] += room;
}

static void print_map(FILE *out, const plot_map *map, const char *name, const double range[2],
                      const char *palette)
{
    fprintf(out, "set palette defined %s\nset cbrange [%.9g:%.9g]\n", palette, range[0], range[1]);
    const double step = plot_vertical_step(range);
    if (step > 0.0) fprintf(out, "set cbtics %.9g\n", step);
    fprintf(out, "plot $%s matrix using ($1*%.9g+%.9g):($2*%.9g+%.9g):($3*%.17g+%.17g) with image", name,
            place_at(map, 0, 1) - map->low[0], map->low[0], place_at(map, 1, 1) - map->low[1], map->low[1],
            (range[1] - range[0]) / STEPS, range[0]);
}

static void print_points(FILE *out, const plot_data *data, bool plain, bool suspected)
{
    const double size = data->n <= 200 ? 0.5 : data->n <= 1000 ? 0.35 : 0.2;
    if (plain)
        fprintf(out,
                ", $mapped using 1:2 with points pointtype 7 pointsize %g linecolor rgb 'white', $mapped "
                "using 1:2 with points pointtype 7 pointsize %g linecolor rgb '#30343b'",
                1.5 * size, size);
    if (suspected)
        fputs(
            ", $mapsuspects using 1:2 with points pointtype 2 pointsize 0.9 linewidth 4 linecolor rgb "
            "'white', $mapsuspects using 1:2 with points pointtype 2 pointsize 0.75 linewidth 1.8 linecolor "
            "rgb red, $mapmarks using 1:2:3 with labels left offset 1,0 boxed font ',9' textcolor rgb red",
            out);
    fputc('\n', out);
}

static void print_heading(FILE *out, const char *text, const char *after)
{
    fprintf(out, "set label 1 \"%s%s\" at graph 0,1.045 left font ',14' textcolor '#1d2026'\n", text, after);
}

/* `left`, `width`, `bottom`, `top`: in shares of the picture. */
static void print_panel(FILE *out, double left, double width, double bottom, double top)
{
    plot_panel(out, left, left + width - 0.075, bottom, top);
    fprintf(out, "set colorbox user origin %.4f,%.4f size 0.01,%.4f noborder\n", left + width - 0.065, bottom,
            top - bottom);
}

void plot_map_script(FILE *out, const plot_data *data, const double left[2], double width, double bottom,
                     double top)
{
    const plot_map *map = &data->map;
    const double vertical[2] = {map->low[1], map->high[1]};
    double mean[2], sd[2];
    find_map_range(map->mean, mean);
    find_map_range(map->sd, sd);
    print_cells(out, "means", map->mean, mean);
    print_cells(out, "deviations", map->sd, sd);
    const bool plain = print_readings(out, data, "mapped", false) > 0,
               suspected = print_readings(out, data, "mapsuspects", true) > 0;
    if (suspected) print_marks(out, data);
    fprintf(out,
            "unset label\nset grid noxtics noytics\nset style textbox opaque fillcolor rgb 'white' noborder "
            "margins 0.6,0.4\n"
            "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n",
            map->low[0], map->high[0], map->low[1], map->high[1]);
    const double step = plot_vertical_step(vertical);
    fputs("set ytics autofreq\n", out);
    if (step > 0.0) fprintf(out, "set ytics %.9g\n", step);
    plot_label(out, "x", hf_model_feature(data->model, 0));
    plot_label(out, "y", hf_model_feature(data->model, 1));
    print_heading(out, data->transform == HF_TRANSFORM_NONE ? "Mean" : "Median",
                  hf_model_mean_column(data->model) != NULL ? ", prior mean at its median"
                                                            : " over both inputs");
    print_panel(out, left[0], width, bottom, top);
    print_map(out, map, "means", mean,
              "(0 '#2b2a5b', 0.25 '#2f6690', 0.5 '#3a9188', 0.75 '#9cc25b', 1 '#f6e652')");
    print_points(out, data, plain, suspected);
    print_heading(out, "Standard deviation of the function", "");
    print_panel(out, left[1], width, bottom, top);
    print_map(out, map, "deviations", sd, "(0 '#f7f4ee', 0.35 '#f0c27b', 0.7 '#d5683a', 1 '#7a1f1f')");
    print_points(out, data, plain, suspected);
}
