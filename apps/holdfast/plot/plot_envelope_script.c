/* SPDX-License-Identifier: Apache-2.0 */
/* The gnuplot script of an envelope. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

/* ---- readings ------------------------------------------------------------------------------------------------ */

/* Limits of a reading: both sides, a value, or one side. */
typedef enum limit_kind {
    INTERVAL,
    EXACT,
    OPEN
} limit_kind;

typedef struct limited_reading {
    const double *x;
    double low, high;
    limit_kind is;
} limited_reading;

static bool get_reading(const plot_envelope *data, size_t i, limited_reading *r)
{
    if (hf_envelope_reading(data->envelope, i, &r->x, &r->low, &r->high) < 0) return false;
    r->is = r->low == r->high ? EXACT : isfinite(r->low) && isfinite(r->high) ? INTERVAL : OPEN;
    return true;
}

/* True for readings that lie on the slice: with one input all. */
static bool lies_on_slice(const plot_envelope *data, const double *x)
{
    for (size_t j = 0; j < data->d; j++)
        if (j != data->column && x[j] != data->place[j]) return false;
    return true;
}

/* ---- along one input ------------------------------------------------------------------------------------------ */

/* The range of the bounds and of the limits that are drawn. */
static void find_bounds_range(const plot_envelope *data, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t k = 0; k < data->m; k++) {
        plot_include(range, data->lower[k]);
        plot_include(range, data->upper[k]);
    }
    for (size_t i = 0; i < hf_envelope_readings(data->envelope); i++) {
        limited_reading r;
        if (!get_reading(data, i, &r) || !lies_on_slice(data, r.x)) continue;
        plot_include(range, r.low);
        plot_include(range, r.high);
    }
    double margin = 0.05 * (range[1] - range[0]);
    if (!(margin > 0.0)) margin = fmax(0.1 * fabs(range[0]), 0.5);
    range[0] -= margin;
    range[1] += margin;
}

/* Intervals as "x middle low high", values as "x value", one-sided ones as "x limit length", an arrow to
 * where the function may be. False when there is none. */
static bool print_readings(FILE *out, const plot_envelope *data, const double range[2], limit_kind which,
                           const char *name)
{
    bool any = false;
    for (size_t i = 0; i < hf_envelope_readings(data->envelope); i++) {
        limited_reading r;
        if (!get_reading(data, i, &r) || r.is != which || !lies_on_slice(data, r.x)) continue;
        if (!any) fprintf(out, "$%s << EOD\n", name);
        any = true;
        const double arrow = 0.06 * (range[1] - range[0]);
        if (which == OPEN)
            PLOT_ROW(out, r.x[data->column], isfinite(r.low) ? r.low : r.high,
                     isfinite(r.low) ? arrow : -arrow);
        else
            PLOT_ROW(out, r.x[data->column], r.low + 0.5 * (r.high - r.low), r.low, r.high);
    }
    if (any) fputs("EOD\n", out);
    return any;
}

static void print_slice_labels(FILE *out, const plot_envelope *data)
{
    fputs("set xlabel \"", out);
    plot_quoted(out, data->labels->features[data->column]);
    for (size_t j = 0, said = 0; j < data->d; j++) {
        if (j == data->column) continue;
        fputs(said++ == 0 ? "  (at " : ", ", out);
        plot_quoted(out, data->labels->features[j]);
        fprintf(out, " %.4g", data->place[j]);
    }
    fputs(data->d > 1 ? ")\"\nset ylabel \"" : "\"\nset ylabel \"", out);
    plot_quoted(out, data->labels->target);
    fputs("\"\n", out);
}

static void print_slice_data(FILE *out, const plot_envelope *data, bool *has_centre)
{
    *has_centre = true;
    fputs("$slice << EOD\n", out);
    for (size_t k = 0; k < data->m; k++) {
        *has_centre = *has_centre && !isnan(data->centre[k]);
        PLOT_ROW(out, data->x[k * data->d + data->column], data->lower[k], data->upper[k], data->centre[k]);
    }
    fputs("EOD\n", out);
}

static void print_envelope_slice(FILE *out, const plot_envelope *data)
{
    static const char grey[] = "'#3a4048'";
    double range[2];
    bool centre;
    find_bounds_range(data, range);
    print_slice_data(out, data, &centre);
    const bool intervals = print_readings(out, data, range, INTERVAL, "intervals"),
               exact = print_readings(out, data, range, EXACT, "exact"),
               open = print_readings(out, data, range, OPEN, "open");
    print_slice_labels(out, data);
    fprintf(out,
            "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
            "set margins at screen 0.075, at screen 0.985, at screen 0.125, at screen 0.845\n"
            "set key at screen 0.004,0.925 left top horizontal Left reverse maxrows 1 maxcols 6 samplen 1.6 "
            "textcolor '#4a4f57'\n",
            data->low[0], data->high[0], range[0], range[1]);
    fputs("plot $slice using 1:2:3 with filledcurves fillcolor rgb blue fillstyle transparent solid 0.18 "
          "noborder title 'where the function can be', $slice using 1:2 with lines linewidth 1.5 linecolor "
          "rgb blue notitle, $slice using 1:3 with lines linewidth 1.5 linecolor rgb blue notitle",
          out);
    if (centre)
        fputs(", $slice using 1:4 with lines linewidth 1.8 dashtype 2 linecolor rgb red title 'smoothest "
              "function'",
              out);
    if (intervals)
        fprintf(out,
                ", $intervals using 1:3:(0):($4-$3) with vectors heads size graph 0.004,90 linewidth 1.3 "
                "linecolor rgb %s title 'reading, +- its noise bound'",
                grey);
    if (exact)
        fprintf(
            out,
            ", $exact using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb %s title 'exact reading'",
            grey);
    if (open)
        fprintf(out,
                ", $open using 1:2:(0):3 with vectors size graph 0.008,25 filled linewidth 1.3 linecolor rgb "
                "%s title 'reading, from one side'",
                grey);
    fputc('\n', out);
}

/* ---- over two inputs -------------------------------------------------------------------------------------------- */

/* Which number a map shows. */
typedef enum layer {
    UPPER,
    LOWER,
    WIDTH
} layer;

static double layer_value(const plot_envelope *data, layer which, size_t k)
{
    return which == UPPER   ? data->upper[k]
           : which == LOWER ? data->lower[k]
                            : data->upper[k] - data->lower[k];
}

/* Rows of the picture, from low to high values of the second input. */
static void print_map_data(FILE *out, const plot_envelope *data)
{
    fputs("$map << EOD\n", out);
    for (size_t b = 0; b < data->side; b++) {
        for (size_t a = 0; a < data->side; a++) {
            const size_t k = a * data->side + b;
            plot_number(out, data->x[2 * k]);
            plot_number(out, data->x[2 * k + 1]);
            for (layer which = UPPER; which <= WIDTH; which++) plot_number(out, layer_value(data, which, k));
            fputc('\n', out);
        }
        fputc('\n', out);
    }
    fputs("EOD\n$readings << EOD\n", out);
    for (size_t i = 0; i < hf_envelope_readings(data->envelope); i++) {
        limited_reading r;
        if (!get_reading(data, i, &r)) continue;
        PLOT_ROW(out, r.x[0], r.x[1]);
    }
    fputs("EOD\n", out);
}

/* Where most of the numbers are; what lies beyond has the colour of the end. Upper and lower bound have the
 * same colours for the same values. False when out of memory. */
static bool layer_range(const plot_envelope *data, layer which, double range[2])
{
    const size_t n = which == WIDTH ? data->m : 2 * data->m;
    double *values = malloc(n * sizeof *values);
    if (values == NULL) return false;
    for (size_t k = 0; k < data->m; k++) {
        values[k] = layer_value(data, which, k);
        if (which != WIDTH) values[data->m + k] = layer_value(data, which == UPPER ? LOWER : UPPER, k);
    }
    qsort(values, n, sizeof *values, by_size);
    range[0] = values[n / 50];
    range[1] = values[n - 1 - n / 50];
    free(values);
    if (!(range[1] > range[0])) range[1] = range[0] + fmax(fabs(range[0]), 1.0);
    return true;
}

/* A logarithmic scale of colours, with a number at 1, 2 and 5 times each power of ten. */
static void print_logarithmic(FILE *out, const double range[2])
{
    static const double steps[] = {1.0, 2.0, 5.0};
    const char *separator = "set logscale cb\nset cbtics (";
    for (int power = (int)floor(log10(range[0])); pow(10.0, power) <= range[1]; power++)
        for (size_t k = 0; k < 3; k++) {
            const double at = steps[k] * pow(10.0, power);
            if (at < range[0] || at > range[1]) continue;
            fprintf(out, "%s'%.3g' %.9g", separator, at, at);
            separator = ", ";
        }
    fputs(")\n", out);
}

static bool print_map(FILE *out, const plot_envelope *data, layer which)
{
    static const char *const names[] = {"Upper bound", "Lower bound", "Width"};
    static const char values[] = "(0 '#2b2a5b', 0.25 '#2f6690', 0.5 '#3a9188', 0.75 '#9cc25b', 1 '#f6e652')",
                      widths[] = "(0 '#f7f4ee', 0.35 '#f0c27b', 0.7 '#d5683a', 1 '#7a1f1f')";
    const double left = 0.075 + 0.32 * (double)which;
    double range[2];
    if (!layer_range(data, which, range)) return false;
    /* Widths differ by orders of magnitude between readings and the edge. */
    if (which == WIDTH && range[0] > 0.0 && range[1] > 20.0 * range[0]) print_logarithmic(out, range);
    fprintf(out,
            "set margins at screen %.4f, at screen %.4f, at screen 0.13, at screen 0.79\n"
            "set label 1 '%s' at graph 0,1.05 left font ',14' textcolor '#1d2026'\n"
            "set palette defined %s\nset cbrange [%.9g:%.9g]\n"
            "set colorbox user origin screen %.4f,0.13 size screen 0.01,0.66 noborder\n"
            "plot $map using 1:2:%d with image pixels notitle, $readings using 1:2 with points pointtype 6 "
            "pointsize 0.35 linecolor rgb '%s' notitle\n",
            left, left + 0.225, names[which], which == WIDTH ? widths : values, range[0], range[1],
            left + 0.235, 3 + (int)which, which == WIDTH ? "#2a2d33" : "#ffffff");
    return true;
}

static bool print_maps(FILE *out, const plot_envelope *data)
{
    print_map_data(out, data);
    fprintf(out,
            "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nset grid noxtics noytics\n"
            "set xlabel \"",
            data->low[0], data->high[0], data->low[1], data->high[1]);
    plot_quoted(out, data->labels->features[0]);
    fputs("\"\nset ylabel \"", out);
    plot_quoted(out, data->labels->features[1]);
    fputs("\"\nset multiplot\n", out);
    bool complete = true;
    for (layer which = UPPER; which <= WIDTH; which++) {
        complete = print_map(out, data, which) && complete;
        fputs("unset label 2\nset ylabel ''\n", out);
    }
    fputs("unset multiplot\n", out);
    return complete;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

bool plot_envelope_script(FILE *script, const plot_envelope *data, plot_format format, const char *output)
{
    plot_begin(script, format, data->maps ? 460 : 560, output);
    fputs("set label 2 \"", script);
    plot_quoted(script, data->labels->target);
    fprintf(script,
            ": where it surely is, by %zu readings and a norm of at most %.4g\" at screen 0.012,0.955 left "
            "font ',17' textcolor '#1d2026'\n",
            hf_envelope_readings(data->envelope), hf_envelope_norm(data->envelope));
    bool complete = true;
    if (data->maps)
        complete = print_maps(script, data);
    else
        print_envelope_slice(script, data);
    return plot_end(script, "unset output\n") && complete;
}
