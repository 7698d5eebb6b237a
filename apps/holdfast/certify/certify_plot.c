/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of certified ranges: against the radius, and how wide they are; or the share of rows that are
 * certified. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>

enum {
    CURVES = 6,   /* rows whose ranges are drawn against the radius */
    BARS = 200,   /* rows whose ranges are drawn side by side */
    QUANTILES = 5 /* least, quartiles, largest */
};

/* Told apart by people who see few colours too (Okabe and Ito). */
static const char *const colours[CURVES] = {"#2f6690", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#5a5046"};

typedef struct certify_picture {
    const certified *run;
    const certify_request *asked;
    double *quantile; /* of the widths at each radius: QUANTILES of each */
} certify_picture;

/* ---- ranges -------------------------------------------------------------------------------------------------- */

static hf_status find_quantiles(certify_picture *data)
{
    const certified *run = data->run;
    const size_t points = run->points;
    data->quantile = calloc(run->radii * QUANTILES, sizeof *data->quantile);
    double *width = calloc(points, sizeof *width);
    for (size_t r = 0; r < run->radii && width != NULL && data->quantile != NULL; r++) {
        for (size_t k = 0; k < points; k++)
            width[k] = data->asked->high[k * run->radii + r] - data->asked->low[k * run->radii + r];
        qsort(width, points, sizeof *width, by_size);
        for (size_t q = 0; q < QUANTILES; q++) {
            const double at = (double)q / (QUANTILES - 1) * (double)(points - 1);
            const size_t low = (size_t)at, high = low + 1 < points ? low + 1 : low;
            data->quantile[r * QUANTILES + q] = width[low] + (at - (double)low) * (width[high] - width[low]);
        }
    }
    const bool made = width != NULL && data->quantile != NULL;
    free(width);
    return made ? HF_OK : HF_ERR_MEMORY;
}

static void print_value(FILE *out, const certify_picture *data)
{
    const certify_request *asked = data->asked;
    const hf_model *model = data->run->model;
    const bool several = data->run->classifier != NULL || hf_model_outputs(model) > 1;
    fprintf(out, "set ylabel \"%s of ", certify_tasks[asked->what]);
    if (data->run->classifier != NULL)
        plot_quoted(out, hf_model_class(model, asked->of));
    else
        plot_quoted(out, several ? hf_model_output(model, asked->of) : hf_model_target(model));
    fputs("\"\n", out);
}

/* Ranges of the first rows, each of its colour, against the radius. */
static void print_curves(FILE *out, const certify_picture *data)
{
    const certified *run = data->run;
    const size_t curves = run->points < CURVES ? run->points : CURVES;
    for (size_t p = 0; p < curves; p++) {
        fprintf(out, "$row%zu << EOD\n", p);
        for (size_t r = 0; r < run->radii; r++)
            PLOT_ROW(out, data->asked->radius[r], data->asked->low[p * run->radii + r],
                     data->asked->high[p * run->radii + r]);
        fputs("EOD\n", out);
    }
    fprintf(out, "set label 1 'What predictions surely keep to'%sset xlabel 'radius'\n", certified_heading);
    print_value(out, data);
    fprintf(out, "%sset xrange [%.9g:%.9g]\nplot ", certified_key, data->asked->radius[0],
            data->asked->radius[run->radii - 1]);
    for (size_t p = 0; p < curves; p++)
        fprintf(out,
                "%s$row%zu using 1:2 with lines linewidth 2 linecolor rgb '%s' title 'row %zu', $row%zu "
                "using 1:3 with lines linewidth 2 linecolor rgb '%s' notitle",
                p > 0 ? ", " : "", p, colours[p], p + 1, p, colours[p]);
    fputs("\nunset key\n", out);
}

/* One range a row, side by side. */
static void print_bars(FILE *out, const certify_picture *data)
{
    const size_t bars = data->run->points < BARS ? data->run->points : BARS;
    fputs("$bars << EOD\n", out);
    for (size_t k = 0; k < bars; k++)
        PLOT_ROW(out, (double)(k + 1), data->asked->low[k], data->asked->high[k]);
    fprintf(out, "EOD\nset label 1 'What predictions surely keep to'%sset xlabel 'row'\n", certified_heading);
    print_value(out, data);
    fprintf(out, "set xrange [0.3:%.9g]\n", (double)bars + 0.7);
    fprintf(out,
            "plot $bars using 1:2:(0):($3-$2) with vectors nohead linewidth %d linecolor rgb blue, $bars "
            "using 1:2 with points pointtype 7 pointsize 0.3 linecolor rgb blue, $bars using 1:3 with points "
            "pointtype 7 pointsize 0.3 linecolor rgb blue\n",
            bars > 60 ? 2 : 4);
}

/* Box plots of the widths: quartiles and extremes. */
static void print_widths(FILE *out, const certify_picture *data)
{
    const certified *run = data->run;
    const bool several = data->asked->radii > 1;
    double gap = 1.0;
    fputs("$widths << EOD\n", out);
    for (size_t r = 0; r < run->radii; r++) {
        const double at = data->asked->radii > 0 ? data->asked->radius[r] : 0.0;
        plot_number(out, at);
        for (size_t q = 0; q < QUANTILES; q++) plot_number(out, data->quantile[r * QUANTILES + q]);
        fputc('\n', out);
        if (r > 0) gap = fmin(r > 1 ? gap : (double)INFINITY, at - data->asked->radius[r - 1]);
    }
    fprintf(out, "EOD\nset label 1 'How wide they are'%sset ylabel 'upper - lower'\nset yrange [0:*]\n",
            certified_heading);
    const double first = data->asked->radii > 0 ? data->asked->radius[0] : 0.0,
                 last = several ? data->asked->radius[run->radii - 1] : first;
    fprintf(out, "set xrange [%.9g:%.9g]\nset boxwidth %.9g\nset xlabel '%s'\n", first - gap, last + gap,
            0.5 * gap, several ? "radius" : "");
    if (!several) fputs("set xtics scale 0 ('' 0)\n", out);
    fputs("plot $widths using 1:3:2:6:5 with candlesticks whiskerbars 0.6 linewidth 1.5 linecolor rgb blue "
          "fillstyle transparent solid 0.2, $widths using 1:4:4:4:4 with candlesticks linewidth 3 linecolor "
          "rgb red\n",
          out);
}

static bool ranges_script(FILE *out, const void *any, plot_format format, const char *output)
{
    const certify_picture *data = any;
    plot_begin(out, format, 520, output);
    fputs("set multiplot layout 1,2\n", out);
    if (data->asked->radii > 1)
        print_curves(out, data);
    else
        print_bars(out, data);
    print_widths(out, data);
    return plot_end(out, "unset multiplot\nset output\n");
}

/* ---- shares -------------------------------------------------------------------------------------------------- */

static bool shares_script(FILE *out, const void *any, plot_format format, const char *output)
{
    const certify_picture *data = any;
    const certify_request *asked = data->asked;
    const bool steps = certify_finds_radius(asked->what);
    plot_begin(out, format, 560, output);
    fputs("$shares << EOD\n", out);
    for (size_t r = 0; r < asked->shares; r++) {
        /* The corners of steps: shares at a radius hold up to it. */
        if (steps && r > 0) PLOT_ROW(out, asked->share_at[r - 1], asked->low[r], asked->high[r]);
        PLOT_ROW(out, asked->share_at[r], asked->low[r], asked->high[r]);
    }
    fprintf(out, "EOD\n%sset yrange [0:1.02]\nset xlabel 'radius'\n", certified_key);
    fprintf(out, "set ylabel 'share of rows'\nset label 1 '%s'%s",
            asked->what == CERTIFY_ACCURACY ? "Rows that are classified rightly, wherever they move"
            : asked->what == CERTIFY_CLAIM || asked->what == CERTIFY_REACH
                ? "Rows whose value keeps to its limits, wherever they move"
                : "Rows whose class stays, wherever they move",
            certified_heading);
    /* The two lines are one where nothing was left open. */
    fprintf(out,
            "plot $shares using 1:2:3 with filledcurves fillcolor rgb '#d9dde3' title 'not known', $shares "
            "using 1:3 with lines linewidth 5 linecolor rgb '#e8a29c' title 'no counterexample', $shares "
            "using 1:2 with %s linewidth 2 linecolor rgb blue title 'certified'\n",
            steps ? "lines" : "linespoints pointtype 7");
    return plot_end(out, "set output\n");
}

hf_status certify_draw(certified *run, const certify_request *asked)
{
    certify_picture data = {.run = run, .asked = asked};
    if (!has_argument(run->arguments, "plot")) return HF_OK;
    if (asked->shares > 0) return certified_draw(run, shares_script, &data);
    hf_status status = find_quantiles(&data);
    if (status >= 0) status = certified_draw(run, ranges_script, &data);
    free(data.quantile);
    return status;
}
