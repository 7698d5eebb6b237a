/* SPDX-License-Identifier: Apache-2.0 */
/* Around the panels of a picture of a model: title, legend, and room for the numbers at the tics. */
#include "plot/plot.h"

#include <math.h>

enum {
    MOST_TICS = 9 /* steps between the tics of a vertical axis */
};

double plot_vertical_step(const double range[2])
{
    static const double nice[] = {1.0, 2.0, 5.0, 10.0};
    const double least = (range[1] - range[0]) / MOST_TICS, power = pow(10.0, floor(log10(least)));
    if (!(least > 0.0) || !isfinite(least) || !(power > 0.0)) return 0.0;
    for (size_t k = 0; k < 3; k++)
        if (nice[k] * power >= least) return nice[k] * power;
    return nice[3] * power;
}

double plot_vertical_room(const double range[2])
{
    const double step = plot_vertical_step(range);
    const size_t longest = step > 0.0 ? plot_longest_tic(range, step) : 6;
    return 60.0 + 8.0 * (double)longest;
}

void plot_print_suspects(FILE *out, const hf_fit_report *report)
{
    if (report->suspects > 0)
        fprintf(out, ", %zu suspected, %s", report->suspects,
                report->suspects_adopted ? "set aside" : "kept");
}

/* A model of a stream, or one whose readings were all set aside, has no score: the line is left out. */
hf_status plot_score_make(hf_context *ctx, const hf_model *model, plot_score *out)
{
    hf_leave_one_out_scores scores;
    *out = (plot_score){false, NAN, NAN};
    const hf_status status = hf_model_leave_one_out(ctx, model, &scores);
    if (status == HF_ERR_NO_DATA) return HF_OK;
    if (status >= 0) *out = (plot_score){true, scores.model.rmse, scores.model.coverage95};
    return status;
}

void plot_print_score(FILE *out, const plot_score *score, bool scaled, unsigned height)
{
    if (!score->known) return;
    fprintf(out,
            "set label 4 'Leave-one-out: RMSE %.3g%s, %.3g %% of the kept readings lie in their 95 %% "
            "intervals' at screen 0.012,%.4f left font ',12' textcolor '#4a4f57'\n",
            score->rmse, scaled ? " in units of the scaled outputs" : "", 100.0 * score->coverage,
            1.0 - 50.0 / height);
}

static const char *suspects_of(const plot_legend *legend)
{
    return legend->suspected > PLOT_MARKED ? "suspected (the farthest ten: row)" : "suspected (row)";
}

/* The legend is the key of an empty plot as wide as the picture: a panel's own key breaks into lines. */
void plot_print_legend(FILE *out, const plot_legend *legend, unsigned height)
{
    fputs("unset label\nunset xlabel\nunset ylabel\nunset border\nunset tics\nunset grid\n"
          "set origin 0,0\nset size 1,1\nset xrange [0:1]\nset yrange [0:1]\n",
          out);
    plot_panel(out, 0.005, 0.995, 4.0 / height, 34.0 / height);
    fputs("set key at graph 0,0.5 left center horizontal Left reverse maxrows 1 samplen 1.6 font ',10' "
          "textcolor '#4a4f57'\n"
          "plot NaN with boxes fillcolor rgb blue fillstyle transparent solid 0.13 noborder title '95 % of "
          "readings', NaN with boxes fillcolor rgb blue fillstyle transparent solid 0.28 noborder title '95 "
          "% of the function', NaN with lines linewidth 2 linecolor rgb blue title ",
          out);
    fputs(legend->median ? "'median'" : "'mean'", out);
    if (legend->shaded)
        fputs(", NaN with boxes fillcolor rgb '#eceef1' fillstyle solid noborder title 'not read here'", out);
    fputs(
        ", NaN with points pointtype 7 pointsize 0.65 linecolor rgb '#5d6570' title 'reading, size: weight'",
        out);
    if (legend->suspected > 0)
        fprintf(out,
                ", NaN with points pointtype 2 pointsize 0.75 linewidth 1.8 linecolor rgb red title '%s'",
                suspects_of(legend));
    fputc('\n', out);
}
