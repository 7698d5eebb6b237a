/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot scripts of studies: slices of the surrogate, and parallel coordinates. */
#include "study/study_plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    COLUMNS = 4,   /* slices beside each other */
    MOST_TICS = 12 /* labels of a variable that are written out */
};

static const double width95 = 1.959963984540054;

/* ---- slices ----------------------------------------------------------------------------------------------------- */

static void print_study_slice(FILE *out, const study_slice *slice)
{
    fputs("$slice << EOD\n", out);
    for (size_t k = 0; k < slice->m; k++)
        PLOT_ROW(out, slice->x[k], slice->mean[k], slice->mean[k] - width95 * slice->sd[k],
                 slice->mean[k] + width95 * slice->sd[k]);
    fputs("EOD\n", out);
}

/* Values told, moved to the slice; those that are set aside at the edge where they are beyond it. */
static void print_told(FILE *out, const study_picture *data, const study_slice *slice, const double range[2])
{
    for (int aside = 0; aside < 2; aside++) {
        fprintf(out, "$%s << EOD\n", aside == 1 ? "aside" : "told");
        for (size_t i = 0; i < data->n; i++) {
            const hf_trial *t = &data->trial[i];
            if (isnan(slice->moved[i]) || study_is_aside(t, data->of) != (aside == 1)) continue;
            PLOT_ROW(out, t->at[slice->variable], fmin(fmax(slice->moved[i], range[0]), range[1]));
        }
        fputs("NaN NaN\nEOD\n", out);
    }
}

/* The bands of all slices, and what is not set aside. */
static void find_slices_range(const study_picture *data, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t s = 0; s < data->slices; s++) {
        const study_slice *slice = &data->slice[s];
        for (size_t k = 0; k < slice->m; k++) {
            plot_include(range, slice->mean[k] - width95 * slice->sd[k]);
            plot_include(range, slice->mean[k] + width95 * slice->sd[k]);
        }
        for (size_t i = 0; i < data->n; i++)
            if (!study_is_aside(&data->trial[i], data->of)) plot_include(range, slice->moved[i]);
    }
}

static void print_levels(FILE *out, const char *axis, const hf_variable *v)
{
    const size_t step = 1 + (v->levels - 1) / MOST_TICS;
    fprintf(out, "set %stics (", axis);
    for (size_t k = 0; k < v->levels; k += step) plot_tic(out, k == 0, v->level[k], k);
    fputs(")\n", out);
}

static void print_axis(FILE *out, const hf_variable *v, double points)
{
    plot_label(out, "x", v->name);
    fputs(v->log ? "set logscale x\n" : "unset logscale x\n", out);
    if (v->level != NULL) {
        fprintf(out, "set xrange [-0.5:%.9g]\n", (double)v->levels - 0.5);
        print_levels(out, "x", v);
        return;
    }
    const double range[2] = {v->lower, v->upper}, step = v->log ? 0.0 : plot_tic_step(range, points);
    fprintf(out, "set xrange [%.9g:%.9g]\n", v->lower, v->upper);
    if (step > 0.0)
        fprintf(out, "set xtics %.9g\n", step);
    else
        fputs("set xtics autofreq\n", out);
}

static void plot_slice(FILE *out, const study_picture *data, const study_slice *slice, const double range[2],
                       double points)
{
    const hf_variable *v = &data->run->settings->variable[slice->variable];
    print_study_slice(out, slice);
    print_told(out, data, slice, range);
    print_axis(out, v, points);
    const double at = data->at[slice->variable];
    fprintf(out,
            "set arrow 1 from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 2 linecolor rgb '#2f8f5b'\n", at,
            at);
    if (v->level == NULL)
        fputs("plot $slice using 1:3:4 with filledcurves linecolor rgb blue fillstyle transparent solid 0.15 "
              "noborder, $slice using 1:2 with lines linewidth 2 linecolor rgb blue",
              out);
    else
        fputs("plot $slice using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.7 linewidth 2 linecolor rgb "
              "blue",
              out);
    fputs(
        ", $told using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb '#7fa6c4', $aside using 1:2 "
        "with points pointtype 2 pointsize 0.8 linewidth 2 linecolor rgb red\nunset arrow 1\nunset label 1\n",
        out);
}

/* The first slice of a row has the numbers. */
static void print_left(FILE *out, const study_picture *data)
{
    fputs("set format y '%g'\n", out);
    plot_label(out, "y", data->run->settings->outcome[data->of].name);
}

bool study_slices_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const study_picture *data = any;
    double range[2];
    char text[160];
    const size_t columns = data->slices < COLUMNS ? data->slices : COLUMNS,
                 rows = (data->slices + columns - 1) / columns;
    const unsigned height = 110 + (rows == 1 ? 440 : 320) * (unsigned)rows;
    snprintf(text, sizeof text, ": slices through the best place (green), with 95 %% bands%s",
             data->slices < data->run->d ? "; what matters most" : "");
    study_plot_begin(script, data, format, height, output, text);
    find_slices_range(data, range);
    plot_range(script, "y", range);
    const double wide = 0.92 / (double)columns, high = (height - 70.0) / height / (double)rows;
    for (size_t s = 0; s < data->slices; s++) {
        const size_t row = s / columns;
        const double left = 0.075 + wide * (double)(s % columns);
        const double top = (height - 60.0) / height - high * (double)row;
        plot_panel(script, left, left + wide - 0.035, top - high + 70.0 / height, top);
        if (s % columns == 0)
            print_left(script, data);
        else
            fputs("set ylabel ''\nset format y ''\n", script);
        plot_slice(script, data, &data->slice[s], range, 1200.0 * (wide - 0.035));
    }
    return plot_end(script, "unset multiplot\nset output\n");
}

/* ---- parallel coordinates --------------------------------------------------------------------------------------- */

/* Trials that told the outcome and are not set aside, worst first; NULL when out of memory. */
static ranked *rank(const study_picture *data, size_t *count, double range[2])
{
    const hf_goal goal = data->run->settings->outcome[data->of].goal;
    const double sign = goal == HF_GOAL_MINIMISE || goal == HF_GOAL_AT_MOST ? 1.0 : -1.0;
    ranked *list = calloc(data->n + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < data->n && list != NULL; i++) {
        const double value = data->trial[i].value[data->of];
        if (isnan(value) || study_is_aside(&data->trial[i], data->of)) continue;
        list[(*count)++] = (ranked){sign * value, i};
        plot_include(range, value);
    }
    if (list != NULL) qsort(list, *count, sizeof *list, largest_first);
    return list;
}

/* A polyline each: over the axes of the variables, then that of the outcome. */
static void print_lines(FILE *out, const study_picture *data, const ranked *list, size_t count, size_t axes,
                        const double range[2])
{
    fputs("$lines << EOD\n", out);
    for (size_t k = 0; k < count; k++) {
        const hf_trial *t = &data->trial[list[k].index];
        const double rank = count > 1 ? (double)k / (double)(count - 1) : 1.0;
        const double size = range[1] - range[0];
        for (size_t a = 0; a <= axes; a++) {
            const size_t j = a < axes ? data->order[a] : 0;
            const double at = a < axes     ? study_share_of(&data->run->settings->variable[j], t->at[j])
                              : size > 0.0 ? (t->value[data->of] - range[0]) / size
                                           : 0.5;
            fprintf(out, "%zu %.6g %.6g\n", a, at, rank);
        }
        fputs("\n\n", out);
    }
    fputs("EOD\n", out);
}

static void print_end(FILE *out, size_t axis, double y, const char *text)
{
    fputs("set label \"", out);
    plot_quoted(out, text);
    fprintf(out, "\" at first %zu, first %.6g offset 0.6, 0 left font ',9' textcolor rgb '#4a4f57' front\n",
            axis, y);
}

/* Ends of an axis, or its labels. */
static void print_ends(FILE *out, const study_picture *data, size_t axis, size_t j)
{
    char words[64];
    const hf_variable *v = &data->run->settings->variable[j];
    if (v->level == NULL) {
        print_end(out, axis, 0.0, hf_format_double(v->lower, words));
        print_end(out, axis, 1.0, hf_format_double(v->upper, words));
        return;
    }
    const size_t step = 1 + (v->levels - 1) / MOST_TICS;
    for (size_t k = 0; k < v->levels; k += step)
        print_end(out, axis, (double)k / (double)(v->levels - 1), v->level[k]);
}

static void print_axes(FILE *out, const study_picture *data, size_t axes, const double range[2])
{
    char words[32];
    fputs("set xtics scale 0 (", out);
    for (size_t a = 0; a <= axes; a++)
        plot_tic(out, a == 0,
                 a < axes ? data->run->settings->variable[data->order[a]].name
                          : data->run->settings->outcome[data->of].name,
                 a);
    fputs(")\n", out);
    for (size_t a = 0; a <= axes; a++) {
        fprintf(out, "set arrow from %zu, 0 to %zu, 1 nohead linewidth 1.2 linecolor rgb '#8a8f98' front\n",
                a, a);
        if (a < axes) print_ends(out, data, a, data->order[a]);
    }
    snprintf(words, sizeof words, "%.4g", range[0]);
    print_end(out, axes, 0.0, words);
    snprintf(words, sizeof words, "%.4g", range[1]);
    print_end(out, axes, 1.0, words);
}

bool study_parallel_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const study_picture *data = any;
    const size_t axes = data->run->d < STUDY_AXES ? data->run->d : STUDY_AXES;
    double range[2] = {INFINITY, -INFINITY};
    size_t count;
    ranked *list = rank(data, &count, range);
    if (list == NULL) return false;
    study_plot_begin(script, data, format, 560, output,
                     ": trials by rank, the best in red, without those set aside");
    print_lines(script, data, list, count, axes, range);
    print_axes(script, data, axes, range);
    plot_panel(script, 0.06, 0.96, 0.09, 0.86);
    fprintf(script,
            "unset border\nunset grid\nunset ytics\nset xrange [-0.05:%.9g]\nset yrange [-0.03:1.03]\n",
            (double)axes + 0.45);
    fputs("set palette defined (0 '#e3e8ee', 0.6 '#9dbbd3', 0.9 '#2f6690', 1 '#c8372d')\nset cbrange [0:1]\n"
          "unset colorbox\n",
          script);
    fputs(count > 0 ? "plot $lines using 1:2:3 with lines linewidth 1.3 linecolor palette\n"
                    : "plot NaN with lines\n",
          script);
    free(list);
    return plot_end(script, "unset multiplot\nset output\n");
}
