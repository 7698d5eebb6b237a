/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: which share of the readings lies in leave-one-out intervals, against the share that should. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEVELS = 101 /* nominal levels from 0 to 1 */
};

double *plot_residuals(const plot_data *data)
{
    double *t = malloc((data->n + 1) * sizeof *t);
    for (size_t i = 0; i < data->n && t != NULL; i++)
        t[i] =
            data->residual != NULL ? data->residual[i] : (data->y[i] - data->loo_mean[i]) / data->loo_sd[i];
    return t;
}

bool plot_all_weigh_one(const plot_data *data)
{
    for (size_t i = 0; i < data->n; i++)
        if (!isnan(data->y[i]) && data->weight[i] != 1.0) return false;
    return true;
}

/* Lines "level coverage low high": the share of |t| within the half width of the level, and a band.
 * There 95 % of shares of so many independent readings lie when the level is right. */
static void print_levels(FILE *out, const double *t, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += isnan(t[i]) ? 0 : 1;
    fputs("$calibration << EOD\n", out);
    for (size_t k = 0; k < LEVELS; k++) {
        const double level = (double)k / (LEVELS - 1);
        size_t inside = 0;
        for (size_t i = 0; i < n; i++) inside += erf(fabs(t[i]) * 0.70710678118654752440) <= level ? 1 : 0;
        const double half = count > 0 ? 1.96 * sqrt(level * (1.0 - level) / (double)count) : 1.0;
        PLOT_ROW(out, level, count > 0 ? (double)inside / (double)count : NAN, fmax(level - half, 0.0),
                 fmin(level + half, 1.0));
    }
    fputs("EOD\n", out);
}

bool plot_calibration(FILE *out, const plot_data *data)
{
    double *t = plot_residuals(data);
    if (t == NULL) return false;
    print_levels(out, t, data->n);
    free(t);
    fputs("set xrange [0:1]\nset yrange [0:1]\nset ytics 0.2\n"
          "set xlabel 'nominal level of the interval'\nset ylabel 'share of readings in it'\n"
          "plot $calibration using 1:3:4 with filledcurves fillcolor rgb '#e4e6ea' fillstyle solid noborder "
          "title '95 % of calibrated models', x with lines linewidth 1.4 linecolor rgb '#8a8f98' title "
          "'diagonal', $calibration using 1:2 with lines linewidth 2 linecolor rgb blue title 'coverage'\n",
          out);
    return true;
}
