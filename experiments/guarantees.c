/* SPDX-License-Identifier: Apache-2.0 */
/* guarantees: two promises of docs/guarantees.md, measured and drawn. The variance of the projected solver against that
 * of the exact posterior; and a fit by several numbers of threads, against what rounding alone changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/draws.h"
#include "common/options.h"
#include "common/picture.h"

#include <holdfast/holdfast.h>

enum {
    READINGS = 60,
    ALONG = 161, /* places of the curves, from -5 to 5 */
    BUDGETS = 4,
    ROWS = 600, /* of the fits; with fewer than 512 readings one thread does it all */
    INPUTS = 2,
    ASKED = 400, /* rows that are predicted */
    FITS = 7
};
static const size_t budgets[BUDGETS] = {4, 8, 16, 32};

static void write_data(FILE *out, const char *name, size_t rows, size_t columns, const double *values)
{
    fprintf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
            fprintf(out, "%.4g%c", values[i * columns + j], j + 1 < columns ? ' ' : '\n');
    fputs("EOD\n", out);
}

/* ---- a small budget ---------------------------------------------------------------------------------------- */

typedef struct line {
    double x[READINGS], y[READINGS];
    double at[ALONG], mean[1 + BUDGETS][ALONG], sd[1 + BUDGETS][ALONG]; /* the exact one first */
} line;

/* Readings left and right of a gap. */
static void line_make(line *l)
{
    draws d = {0x9e3779b97f4a7c15u};
    for (size_t i = 0; i < READINGS; ++i) {
        const double u = draw_uniform(&d);
        l->x[i] = i % 3 ? -5.0 + 5.0 * u : 2.5 + 2.5 * u;
        l->y[i] = sin(2.0 * l->x[i]) + 0.3 * l->x[i] + 0.2 * draw_normal(&d);
    }
    for (size_t i = 0; i < ALONG; ++i) l->at[i] = -5.0 + 10.0 * (double)i / (ALONG - 1);
}

static hf_status line_predict(hf_context *ctx, line *l, size_t which, const hf_kernel *kernel,
                              const hf_mean *mean, const hf_sites *sites)
{
    const hf_projection blocks = {.size = sizeof blocks,
                                  .actions = HF_ACTIONS_BLOCKS,
                                  .count = which ? budgets[which - 1] : 0,
                                  .blocks = HF_BLOCKS_CLUSTERED,
                                  .start = HF_ACTION_START_PRECISION};
    hf_posterior *posterior = NULL;
    hf_status status = which
                           ? hf_solve_projected(ctx, kernel, mean, sites, l->x, 1, &blocks, &posterior, NULL)
                           : hf_solve_exact(ctx, kernel, mean, sites, l->x, 1, &posterior);
    if (status >= 0) status = hf_predict(ctx, posterior, ALONG, l->at, 1, l->mean[which], l->sd[which], NULL);
    for (size_t i = 0; i < ALONG; ++i) l->sd[which][i] = sqrt(l->sd[which][i]);
    hf_posterior_free(posterior);
    return status;
}

static hf_status line_measure(hf_context *ctx, line *l)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    line_make(l);
    hf_status status = hf_kernel_parse(ctx, "matern52(lengthscale=1)", NULL, 1, &kernel);
    if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_ZERO, 1, &mean);
    if (status >= 0) status = hf_sites_gaussian(ctx, READINGS, l->y, 0.04, NULL, &sites);
    for (size_t k = 0; k <= BUDGETS && status >= 0; ++k)
        status = line_predict(ctx, l, k, kernel, mean, sites);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}

static void line_print(const line *l)
{
    printf("sd of the projected solver over that of the exact posterior, %d readings, %d places\n\n"
           "| actions | least | mean | largest |\n|---|---|---|---|\n",
           READINGS, ALONG);
    for (size_t k = 1; k <= BUDGETS; ++k) {
        double least = INFINITY, most = 0.0, sum = 0.0;
        for (size_t i = 0; i < ALONG; ++i) {
            const double ratio = l->sd[k][i] / l->sd[0][i];
            least = fmin(least, ratio);
            most = fmax(most, ratio);
            sum += ratio / ALONG;
        }
        printf("| %zu | %.4f | %.4f | %.4f |\n", budgets[k - 1], least, sum, most);
    }
}

static bool line_draw(const line *l, const char *stem)
{
    static const char *const colours[BUDGETS] = {"#d1495b", "#e0a030", "#4dac6e", "#1f7a8c"};
    double curve[ALONG][5 + BUDGETS], reading[READINGS][2];
    char path[1000];
    picture p;
    for (size_t i = 0; i < ALONG; ++i) {
        curve[i][0] = l->at[i];
        for (size_t k = 0; k < 2; ++k) { /* exact, and 8 actions */
            curve[i][1 + 2 * k] = l->mean[2 * k][i] - 2.0 * l->sd[2 * k][i];
            curve[i][2 + 2 * k] = l->mean[2 * k][i] + 2.0 * l->sd[2 * k][i];
        }
        for (size_t k = 0; k < BUDGETS; ++k) curve[i][5 + k] = l->sd[k + 1][i] / l->sd[0][i];
    }
    for (size_t i = 0; i < READINGS; ++i) {
        reading[i][0] = l->x[i];
        reading[i][1] = l->y[i];
    }
    picture_begin(&p);
    write_data(p.script, "c", ALONG, 5 + BUDGETS, curve[0]);
    write_data(p.script, "r", READINGS, 2, reading[0]);
    fputs(
        "set multiplot layout 1,2 margins 0.06,0.985,0.15,0.9 spacing 0.08,0.1\nset xrange [-5:5]\nset "
        "xlabel 'x'\n"
        "set title 'Mean and two sd'\nset key bottom right Left reverse\nset yrange [-4:3.5]\n"
        "plot $c using 1:4:5 with filledcurves fc rgb '#f3d9a4' title '8 actions', "
        "$c using 1:2:3 with filledcurves fc rgb '#8fb8d8' title 'exact', "
        "$r using 1:2 with points pt 7 ps 0.35 lc rgb '#404040' title 'readings'\n"
        "set title 'sd over that of the exact posterior: never below 1'\nset key top left maxrows 2\nset "
        "yrange [0.85:20]\n"
        "set logscale y\nset ytics (1, 2, 4, 8, 16)\nplot 1 with lines lw 1.5 dt 2 lc rgb '#404040' notitle",
        p.script);
    for (size_t k = 0; k < BUDGETS; ++k)
        fprintf(p.script, ", $c using 1:%zu with lines lw 2 lc rgb '%s' title '%zu actions'", 6 + k,
                colours[k], budgets[k]);
    fputs("\nunset multiplot\n", p.script);
    snprintf(path, sizeof path, "%s-budget", stem);
    return picture_draw(&p, path, 1100, 400);
}

/* ---- threads, and rounding --------------------------------------------------------------------------------- */

typedef struct again {
    const char *name;
    int threads;
    bool reversed, moved;
} again;

static const again fits[FITS] = {{"1 thread", 1, false, false},        {"the same again", 1, false, false},
                                 {"2 threads", 2, false, false},       {"4 threads", 4, false, false},
                                 {"8 threads", 8, false, false},       {"rows in reverse", 1, true, false},
                                 {"a reading + 1e-12", 1, false, true}};

/* The table in one order or the other; what is asked for keeps its order. */
static hf_status table_make(hf_context *ctx, const again *how, bool target, size_t rows, hf_table **out)
{
    static const char *const names[INPUTS + 1] = {"a", "b", "y"};
    static double column[INPUTS + 1][ROWS];
    draws d = {target ? 7u : 8u};
    for (size_t i = 0; i < rows; ++i) {
        const size_t row = how->reversed && target ? rows - 1 - i : i;
        for (size_t j = 0; j < INPUTS; ++j) column[j][row] = 4.0 * draw_uniform(&d);
        column[INPUTS][row] =
            sin(2.0 * column[0][row]) * column[1][row] + 0.2 * draw_normal(&d) + (i % 29 ? 0.0 : 6.0);
    }
    if (how->moved && target) column[INPUTS][1] += 1e-12;
    hf_status status = hf_table_create(ctx, rows, out);
    for (size_t j = 0; j < INPUTS + (target ? 1u : 0u) && status >= 0; ++j)
        status = hf_table_set_numbers(ctx, *out, names[j], column[j]);
    return status;
}

/* Means of the asked rows by a default fit, and their standard deviation. */
static hf_status fit_predict(hf_context *ctx, const again *how, double mean[ASKED], double *spread)
{
    const hf_fit_settings settings = hf_fit_settings_default();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_table *known = NULL, *asked = NULL;
    hf_model *model = NULL;
    const double *found;
    size_t column;
    hf_status status = hf_context_set_threads(ctx, how->threads);
    if (status >= 0) status = table_make(ctx, how, true, ROWS, &known);
    if (status >= 0) status = table_make(ctx, how, false, ASKED, &asked);
    if (status >= 0) status = hf_fit(ctx, known, &columns, &settings, &model, NULL);
    if (status >= 0) status = hf_predict_into_table(ctx, model, asked);
    if (status >= 0) status = hf_table_find(ctx, asked, "y_mean", &column);
    if (status >= 0) status = hf_table_numbers(ctx, asked, column, &found);
    if (status >= 0) {
        double square = 0.0;
        memcpy(mean, found, sizeof(double) * ASKED);
        for (size_t i = 0; i < ASKED; ++i) square += mean[i] * mean[i] / ASKED;
        *spread = sqrt(square);
    }
    hf_model_free(model);
    hf_table_free(asked);
    hf_table_free(known);
    return status;
}

/* The largest difference of a mean from the first fit's, over the size of the means; of the first one none. */
static hf_status fits_measure(hf_context *ctx, double difference[FITS])
{
    double first[ASKED], other[ASKED], spread;
    hf_status status = fit_predict(ctx, &fits[0], first, &spread);
    difference[0] = 0.0;
    for (size_t k = 1; k < FITS && status >= 0; ++k) {
        status = fit_predict(ctx, &fits[k], other, &spread);
        difference[k] = 0.0;
        for (size_t i = 0; i < ASKED; ++i)
            difference[k] = fmax(difference[k], fabs(other[i] - first[i]) / spread);
    }
    return status;
}

static void fits_print(const double difference[FITS])
{
    printf("\nA default fit of %d readings, %d means predicted: largest difference from one thread's\n\n"
           "| fit | difference |\n|---|---|\n",
           ROWS, ASKED);
    for (size_t k = 1; k < FITS; ++k)
        difference[k] > 0.0 ? printf("| %s | %.0e |\n", fits[k].name, difference[k])
                            : printf("| %s | none |\n", fits[k].name);
}

/* A difference of none is drawn on the floor of the logarithms. */
static bool fits_draw(const double difference[FITS], const char *stem)
{
    char path[1000];
    picture p;
    picture_begin(&p);
    fputs("$d << EOD\n", p.script);
    for (size_t k = 1; k < FITS; ++k)
        fprintf(p.script, "%zu %g %d \"%s\"\n", k, difference[k] > 0.0 ? log10(difference[k]) : -17.5,
                difference[k] > 0.0, fits[k].name);
    fputs("EOD\nset title 'Predictions of a fit: largest difference from that by one thread'\nunset key\n"
          "set xrange [0.4:6.6]\nset yrange [-18.3:-2]\nset ylabel 'relative difference'\n"
          "set ytics ('none' -17.5, '10^{-16}' -16, '10^{-12}' -12, '10^{-8}' -8, '10^{-4}' -4)\n"
          "plot $d using 1:(-18.3):(0):($2 + 18.3):xticlabels(4) with vectors nohead lw 1 lc rgb '#c8c8c8', "
          "$d using 1:($3 == 0 ? $2 : NaN) with points pt 7 ps 1.6 lc rgb '#1f7a8c', "
          "$d using 1:($3 == 1 ? $2 : NaN) with points pt 7 ps 1.6 lc rgb '#d1495b'\n",
          p.script);
    snprintf(path, sizeof path, "%s-threads", stem);
    return picture_draw(&p, path, 1000, 360);
}

int main(int argc, char **argv)
{
    static line l;
    const char *stem = NULL;
    const option_row options[] = {option_text(
        "picture", "STEM", "draw STEM-budget.svg, STEM-threads.svg and .png with gnuplot", &stem)};
    options_read(
        argc, argv,
        "usage: guarantees [option]...\nThe variance of a small budget beside the exact one, and a fit by "
        "several numbers of threads.\n",
        "guarantees --picture docs/pictures/guarantee", sizeof options / sizeof *options, options);
    double difference[FITS];
    hf_context *ctx = hf_context_create();
    hf_status status = ctx ? line_measure(ctx, &l) : HF_ERR_MEMORY;
    if (status >= 0) status = fits_measure(ctx, difference);
    bool good = status >= 0;
    if (good) {
        line_print(&l);
        fits_print(difference);
        if (stem) good = line_draw(&l, stem) && fits_draw(difference, stem);
    } else
        fprintf(stderr, "guarantees: %s\n", ctx ? hf_context_message(ctx) : "out of memory");
    hf_context_free(ctx);
    return good ? 0 : 1;
}
