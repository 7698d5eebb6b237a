/* SPDX-License-Identifier: Apache-2.0 */
/* The gnuplot script. Names from files are only ever written inside single quotes, where gnuplot expands nothing. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_POINTS = 4000 /* plain readings drawn per panel; more only make the file large */
};

/* ---- what fits ---------------------------------------------------------------------------------------------- */

/* A vertical axis that shows the plain readings well. Wrong readings can be a million times further out; what
 * lies beyond the limits is drawn at the edge as an arrow head. */
typedef struct vertical {
    double low, high;
} vertical;

static void include(vertical *range, double value)
{
    if (!isfinite(value)) return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* Room for suspected readings as far out as this many times the range of the others. */
static const double room = 2.5;

static vertical limits(const plot_data *data, const double *values, vertical range)
{
    for (size_t i = 0; i < data->n; i++)
        if (data->suspected[i] == 0.0) include(&range, values[i]);
    if (!(range.high >= range.low)) range = (vertical){-1.0, 1.0};
    double span = range.high > range.low ? range.high - range.low : fmax(fabs(range.low), 1.0);
    vertical all = range;
    for (size_t i = 0; i < data->n; i++)
        if (values[i] >= range.low - room * span && values[i] <= range.high + room * span)
            include(&all, values[i]);
    double margin = 0.06 * (all.high - all.low);
    if (!(margin > 0.0)) margin = 0.1 * span;
    return (vertical){all.low - margin, all.high + margin};
}

static void print_axis(FILE *out, vertical range)
{
    const double step = plot_vertical_step((double[]){range.low, range.high});
    fprintf(out, "set yrange [%.9g:%.9g]\nset ytics autofreq\n", range.low, range.high);
    if (step > 0.0) fprintf(out, "set ytics %.9g\n", step);
}

static double room_of(vertical range)
{
    return plot_vertical_room((double[]){range.low, range.high});
}

/* A horizontal axis that shows all values with a little room on both sides. */
static void print_horizontal(FILE *out, const double *values, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    double margin = 0.02 * (high - low);
    if (!(margin > 1e-9 * fabs(low))) margin = fmax(0.1 * fabs(low), 0.5);
    fprintf(out, "set xrange [%.9g:%.9g]\n", low - margin, high + margin);
}

/* ---- data --------------------------------------------------------------------------------------------------- */

/* Readings as lines "x y weight". Suspected ones go to a block of their own. Those beyond the axis go to
 * another, with the point type of their arrow head in place of the weight. */
typedef enum reading_part {
    PLAIN,
    SUSPECTED,
    BEYOND
} reading_part;

static bool belongs(const plot_data *data, size_t i, double y, vertical range, reading_part which)
{
    if (isnan(data->y[i])) return false;
    bool beyond = y < range.low || y > range.high;
    if (which == BEYOND) return beyond;
    return !beyond && (data->suspected[i] != 0.0) == (which == SUSPECTED);
}

static size_t print_block(FILE *out, const plot_data *data, const double *x, const double *y, vertical range,
                          reading_part which, const char *name)
{
    size_t count = 0, printed = 0;
    for (size_t i = 0; i < data->n; i++) count += belongs(data, i, y[i], range, which);
    if (count == 0) return 0;
    size_t step = which == PLAIN && count > MOST_POINTS ? (count + MOST_POINTS - 1) / MOST_POINTS : 1;
    fprintf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < data->n; i++) {
        if (!belongs(data, i, y[i], range, which) || printed++ % step != 0) continue;
        plot_number(out, x[i]);
        if (which == BEYOND)
            fprintf(out, " %.9g %d\n", y[i] > range.high ? range.high : range.low,
                    y[i] > range.high ? 9 : 11);
        else
            fprintf(out, " %.9g %.3g\n", y[i], data->weight[i]);
    }
    fputs("EOD\n", out);
    return count;
}

/* Lines "x y row" of the marked readings within the axis: side by side at its edge, numbers would cover each
 * other. One that is not drawn must not be in the block, either: gnuplot 5.4 crashes on a single label at NaN. */
static size_t print_marks(FILE *out, const plot_data *data, const double *x, const double *y, vertical range)
{
    size_t marked[PLOT_MARKED], printed = 0;
    const size_t count = plot_find_marked(data, marked);
    for (size_t k = 0; k < count; k++) {
        const size_t i = marked[k];
        if (!(y[i] >= range.low && y[i] <= range.high)) continue;
        if (printed++ == 0) fputs("$marks << EOD\n", out);
        plot_number(out, x[i]);
        fprintf(out, " %.9g %.0f\n", y[i], data->row[i]);
    }
    if (printed > 0) fputs("EOD\n", out);
    return printed;
}

/* Which blocks a panel has. */
typedef struct drawn_blocks {
    size_t plain, suspected, beyond, marks;
} drawn_blocks;

static drawn_blocks print_blocks(FILE *out, const plot_data *data, const double *x, const double *y,
                                 vertical range)
{
    return (drawn_blocks){print_block(out, data, x, y, range, PLAIN, "plain"),
                          print_block(out, data, x, y, range, SUSPECTED, "suspected"),
                          print_block(out, data, x, y, range, BEYOND, "beyond"),
                          print_marks(out, data, x, y, range)};
}

static void print_model_slice(FILE *out, const plot_data *data)
{
    fputs("$slice << EOD\n", out);
    for (size_t k = 0; k < data->points; k++) {
        const double *latent = data->sd_latent, *observed = data->sd_observed;
        PLOT_ROW(out, data->at[k], plot_band(data, k, latent, 0.0), plot_band(data, k, latent, -1.96),
                 plot_band(data, k, latent, 1.96), plot_band(data, k, observed, -1.96),
                 plot_band(data, k, observed, 1.96));
    }
    fputs("EOD\n", out);
}

/* Few readings are drawn large and dark, many small and light. */
static void print_points(FILE *out, const plot_data *data, drawn_blocks blocks, bool sized, const char *first)
{
    const char *separator = first;
    double size = data->n <= 100 ? 0.65 : data->n <= 1000 ? 0.5 : 0.35;
    const char *colour = data->n <= 100 ? "#305d6570" : data->n <= 1000 ? "#805d6570" : "#b05d6570";
    /* Plain ones first, so that the suspected ones lie on top. */
    if (blocks.plain > 0) {
        fprintf(
            out,
            "%s$plain using 1:2:(%g * (%s)) with points pointtype 7 pointsize variable linecolor rgb '%s'",
            separator, size, sized ? "0.35 + 0.65 * $3" : "0.8", colour);
        separator = ", ";
    }
    if (blocks.suspected > 0) {
        fprintf(
            out,
            "%s$suspected using 1:2 with points pointtype 2 pointsize 0.75 linewidth 1.8 linecolor rgb red",
            separator);
        separator = ", ";
    }
    if (blocks.beyond > 0)
        fprintf(out, "%s$beyond using 1:2:3 with points pointtype variable pointsize 0.9 linecolor rgb red",
                separator);
    if (blocks.marks > 0)
        fputs(", $marks using 1:2:3 with labels left offset 0.7,0 font ',9' textcolor rgb "
              "red",
              out);
    fputc('\n', out);
}

static void label(FILE *out, const char *axis, const char *before, const char *name, const char *after)
{
    fprintf(out, "set %slabel \"%s", axis, before);
    plot_quoted(out, name);
    fprintf(out, "%s\"\n", after);
}

/* Heading of a panel, and to its right what does not fit on its axis. */
static void heading(FILE *out, const char *before, const char *name, size_t beyond)
{
    fprintf(out, "set label 1 \"%s", before);
    plot_quoted(out, name);
    fputs("\" at graph 0,1.045 left font ',14' textcolor '#1d2026'\nunset label 3\n", out);
    if (beyond > 0)
        fprintf(out, "set label 3 '%zu beyond the axis' at graph 1,1.045 right textcolor rgb red\n", beyond);
}

/* ---- the panels ---------------------------------------------------------------------------------------------- */

/* Where only other outputs have readings. */
static void print_gaps(FILE *out, const plot_data *data)
{
    for (size_t k = 0; k < data->gaps; k++)
        fprintf(out,
                "set object %zu rectangle from first %.9g, graph 0 to first %.9g, graph 1 behind fillcolor "
                "rgb '#eceef1' fillstyle solid noborder\n",
                k + 100, data->gap[2 * k], data->gap[2 * k + 1]);
}

static void unset_gaps(FILE *out, const plot_data *data)
{
    for (size_t k = 0; k < data->gaps; k++) fprintf(out, "unset object %zu\n", k + 100);
}

static vertical slice_range(const plot_data *data)
{
    vertical range = {INFINITY, -INFINITY};
    for (size_t k = 0; k < data->points; k++) {
        include(&range, plot_band(data, k, data->sd_observed, -1.96));
        include(&range, plot_band(data, k, data->sd_observed, 1.96));
    }
    return limits(data, data->reading_value, range);
}

static vertical agreement_range(const plot_data *data)
{
    vertical range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < data->n; i++) include(&range, data->loo_mean[i]);
    return limits(data, data->y, range);
}

/* The input of the slice, and where the other ones and the prior mean are along it. */
static void print_slice_label(FILE *out, const plot_data *data, bool readings)
{
    fputs("set xlabel \"", out);
    plot_quoted(out, hf_model_feature(data->model, data->column));
    if (data->d > 1) {
        fputs("  (", out);
        if (data->followers == 1) {
            plot_quoted(out, hf_model_feature(data->model, data->follower));
            fputs(" follows its regression on it", out);
        } else if (data->followers > 1) {
            fprintf(out, "%zu inputs follow their regressions on it", data->followers);
        }
        if (data->followers > 0 && data->followers + 1 < data->d) fputs(", ", out);
        if (data->followers + 1 < data->d) fputs("other inputs at their medians", out);
        if (hf_model_mean_column(data->model) != NULL) fputs(", prior mean at its median", out);
        fputs(readings ? "; readings: slice + residual)" : ")", out);
    }
    fputs("\"\n", out);
}

/* The slice with its bands, and the readings. `head` stands above it, before the name of the input if
 * `along`, else of the output. */
static void print_slice_plot(FILE *out, const plot_data *data, const char *head, bool along)
{
    const char *x = hf_model_feature(data->model, data->column);
    const vertical range = slice_range(data);
    drawn_blocks blocks = print_blocks(out, data, data->reading_at, data->reading_value, range);
    print_horizontal(out, data->at, data->points);
    print_axis(out, range);
    print_gaps(out, data);
    heading(out, head, along ? x : data->name, blocks.beyond);
    print_slice_label(out, data, !along);
    label(out, "y", "", data->name,
          !along        ? ""
          : data->rates ? "  for one unit of exposure"
          : data->d > 1 ? "  (readings: slice + residual)"
                        : "");
    fputs("plot $slice using 1:5:6 with filledcurves fillcolor rgb blue fillstyle transparent solid 0.13 "
          "noborder, $slice using 1:3:4 with filledcurves fillcolor rgb blue fillstyle transparent solid "
          "0.28 noborder, $slice using 1:2 with lines linewidth 2 linecolor rgb blue",
          out);
    print_points(out, data, blocks, data->d > 0, ", ");
    unset_gaps(out, data);
}

static void print_slice_panel(FILE *out, const plot_data *data)
{
    print_slice_plot(out, data, data->d > 1 ? "Slice along " : "Fit along ", true);
}

static void print_agreement_panel(FILE *out, const plot_data *data)
{
    const char *y = data->name;
    const vertical range = agreement_range(data);
    drawn_blocks blocks = print_blocks(out, data, data->loo_mean, data->y, range);
    print_horizontal(out, data->loo_mean, data->n);
    print_axis(out, range);
    heading(out, "Observed against left-out predictions", "", blocks.beyond);
    label(out, "x", "leave-one-out prediction of ", y, "");
    label(out, "y", "observed ", y, "");
    fputs("plot x with lines linewidth 1.4 linecolor rgb blue", out);
    print_points(out, data, blocks, false, ", ");
}

static bool print_calibration_panel(FILE *out, const plot_data *data)
{
    heading(out, "Coverage of leave-one-out intervals", "", 0);
    fputs("set key at graph 0.98,0.04 right bottom Left reverse samplen 1.6 font ',10' textcolor '#4a4f57'\n",
          out);
    const bool complete = plot_calibration(out, data);
    fputs("unset key\n", out);
    return complete;
}

static void print_weight_panel(FILE *out, const plot_data *data)
{
    vertical range = {-0.06, 1.06};
    drawn_blocks blocks = print_blocks(out, data, data->row, data->weight, range);
    print_horizontal(out, data->row, data->n);
    print_axis(out, range);
    heading(out, "Weights of the readings", "", blocks.beyond);
    fputs("set xlabel 'row of the table'\nset ylabel 'weight'\n", out);
    print_points(out, data, blocks, false, "plot ");
}

static bool print_residual_panel(FILE *out, const plot_data *data)
{
    double *t = plot_residuals(data);
    if (t == NULL) return false;
    vertical range = limits(data, t, (vertical){-3.0, 3.0});
    drawn_blocks blocks = print_blocks(out, data, data->loo_mean, t, range);
    free(t);
    print_horizontal(out, data->loo_mean, data->n);
    print_axis(out, range);
    heading(out, "Residuals of left-out readings", "", blocks.beyond);
    label(out, "x", "leave-one-out prediction of ", data->name, "");
    fputs("set ylabel 'residual / sd'\n"
          "set object 1 rectangle from graph 0, first -1.96 to graph 1, first 1.96 behind fillcolor rgb blue "
          "fillstyle transparent solid 0.13 noborder\nplot 0 with lines linewidth 1.4 linecolor rgb blue",
          out);
    print_points(out, data, blocks, false, ", ");
    fputs("unset object 1\n", out);
    return true;
}

static size_t count_suspected(const plot_data *data)
{
    size_t count = 0;
    for (size_t i = 0; i < data->n; i++) count += !isnan(data->y[i]) && data->suspected[i] != 0.0 ? 1 : 0;
    return count;
}

static void print_title(FILE *out, const plot_data *data, unsigned height)
{
    const hf_fit_report *report = hf_model_report_of(data->model);
    fputs("set label 2 \"", out);
    plot_quoted(out, data->name);
    fprintf(out, ": %zu readings", report->readings);
    plot_print_suspects(out, report);
    fprintf(out, "\" at screen 0.012,%.4f left font ',17' textcolor '#1d2026'\n", 1.0 - 24.0 / height);
    plot_print_score(out, &data->score, false, height);
}

enum {
    MAPS_HEIGHT = 400 /* more of the picture where it has maps */
};

/* Where the columns of panels begin, and how wide they are, in shares of the picture: beside each
 * there is room for its numbers. */
typedef struct panel_grid {
    double left[2], width;
} panel_grid;

static panel_grid find_grid(const plot_data *data)
{
    const vertical fixed = {0.0, 1.0}; /* of weights and coverage */
    double left = fmax(room_of(slice_range(data)), room_of(fixed)),
           right = fmax(room_of(agreement_range(data)), room_of(fixed));
    if (data->map.drawn) {
        const vertical second = {data->map.low[1], data->map.high[1]};
        left = fmax(left, room_of(second));
        right = fmax(right, room_of(second));
    }
    const double width = (0.985 * 1200.0 - left - right) / 2.0;
    return (panel_grid){{left / 1200.0, (left + width + right) / 1200.0}, width / 1200.0};
}

static void print_grid(FILE *out, const plot_data *data, const panel_grid *at, unsigned height)
{
    const double above = 100.0 + (data->map.drawn ? MAPS_HEIGHT : 0);
    fprintf(out, "set multiplot layout 2,2 margins %.4f,0.985,%.4f,%.4f spacing %.4f,%.4f\n", at->left[0],
            90.0 / height, 1.0 - above / height, at->left[1] - at->left[0] - at->width, 110.0 / height);
}

bool plot_script(FILE *script, const plot_data *data, plot_format format, const char *output)
{
    const unsigned height = 900 + (data->map.drawn ? MAPS_HEIGHT : 0);
    const panel_grid at = find_grid(data);
    const plot_legend legend = {data->transform != HF_TRANSFORM_NONE, false, count_suspected(data)};
    print_model_slice(script, data);
    plot_begin(script, format, height, output);
    print_grid(script, data, &at, height);
    print_title(script, data, height);
    print_slice_panel(script, data);
    fputs("unset label 2\nunset label 4\n", script);
    print_agreement_panel(script, data);
    bool complete = true;
    if (plot_all_weigh_one(data))
        complete = print_calibration_panel(script, data);
    else
        print_weight_panel(script, data);
    complete = complete && print_residual_panel(script, data);
    if (data->map.drawn)
        plot_map_script(script, data, at.left, at.width, 1.0 - (100.0 + MAPS_HEIGHT - 110.0) / height,
                        1.0 - 100.0 / height);
    plot_print_legend(script, &legend, height);
    return plot_end(script, "unset multiplot\nunset output\n") && complete;
}

/* ---- several outputs ------------------------------------------------------------------------------------------ */

static bool any_gaps(const plot_outputs *data)
{
    for (size_t t = 0; t < data->count; t++)
        if (data->output[t].gaps > 0) return true;
    return false;
}

static void print_outputs_title(FILE *out, const plot_outputs *data, unsigned height)
{
    const hf_fit_report *report = hf_model_report_of(data->model);
    const size_t outputs = hf_model_outputs(data->model);
    fputs("set label 2 '", out);
    if (data->count < outputs) fprintf(out, "The first %zu of ", data->count);
    fprintf(out, "%zu outputs: %zu readings", outputs, report->readings);
    plot_print_suspects(out, report);
    fprintf(out, "' at screen 0.012,%.4f left font ',17' textcolor '#1d2026'\n", 1.0 - 24.0 / height);
    plot_print_score(out, &data->score, true, height);
}

/* Room for the numbers at the tics beside the panels of every column. */
static double widest_room(const plot_outputs *data)
{
    double room_needed = 0.0;
    for (size_t t = 0; t < data->count; t++)
        room_needed = fmax(room_needed, room_of(slice_range(&data->output[t])));
    return room_needed / 1200.0;
}

bool plot_outputs_script(FILE *script, const plot_outputs *data, plot_format format, const char *output)
{
    const size_t columns = data->count > 3 ? 2 : 1, rows = (data->count + columns - 1) / columns;
    const unsigned top = 95, foot = 85, panel = 260, height = top + foot - 75 + panel * (unsigned)rows;
    const double beside = widest_room(data);
    plot_legend legend = {false, any_gaps(data), 0};
    plot_begin(script, format, height, output);
    fprintf(script, "set multiplot layout %zu,%zu margins %.4f,0.985,%.4f,%.4f spacing %.4f,%.4f\n", rows,
            columns, beside, (double)foot / height, 1.0 - (double)top / height, beside, 75.0 / height);
    print_outputs_title(script, data, height);
    for (size_t t = 0; t < data->count; t++) {
        if (t == 1) fputs("unset label 2\nunset label 4\n", script);
        const size_t suspected = count_suspected(&data->output[t]);
        if (suspected > legend.suspected) legend.suspected = suspected;
        print_model_slice(script, &data->output[t]);
        print_slice_plot(script, &data->output[t], "", false);
    }
    plot_print_legend(script, &legend, height);
    return plot_end(script, "unset multiplot\nunset output\n");
}
