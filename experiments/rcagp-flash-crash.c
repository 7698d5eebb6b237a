/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-flash-crash.c
 * @brief A false report moved the Dow Jones for four minutes on 23 April 2013: which models follow it?
 *
 * 202 opening values, one every two minutes; time standardised, index (y - median) / sd. Two of them, 109 and
 * 110 counted from 0, lie in the sell-off. Nobody knows the index as it would have been without it: the
 * straight line from the reading before to the reading after stands for it.
 */
#include "common/draws.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/quantile.h"
#include "common/rcagp_protocol.h"
#include "common/sets.h"

#include <math.h>
#include <string.h>

enum {
    READINGS_MOST = 2000,
    MODELS_MOST = 10,
    SHOULDER = 10 /* readings on either side of the sell-off */
};

static const double eps = 0.2;

typedef struct series {
    size_t n, first, last; /* the sell-off */
    double minute[READINGS_MOST], index[READINGS_MOST], x[READINGS_MOST], y[READINGS_MOST];
    bool selloff[READINGS_MOST];
    double middle, unit; /* median and sd of the index */
} series;

typedef struct result {
    const char *model;
    double mean[READINGS_MOST], sd[READINGS_MOST]; /* points of the index */
    double weight[READINGS_MOST];
    bool suspected[READINGS_MOST];
    hf_fit_report report;
} result;

static void scale(series *s)
{
    double sorted[READINGS_MOST], time = 0.0, spread = 0.0, mean = 0.0, squares = 0.0;
    const double n = (double)s->n;
    memcpy(sorted, s->index, s->n * sizeof *sorted);
    s->middle = median_of(sorted, s->n);
    for (size_t i = 0; i < s->n; ++i) {
        time += s->minute[i] / n;
        mean += s->index[i] / n;
    }
    for (size_t i = 0; i < s->n; ++i) {
        spread += (s->minute[i] - time) * (s->minute[i] - time) / n;
        squares += (s->index[i] - mean) * (s->index[i] - mean) / n;
    }
    s->unit = sqrt(squares);
    for (size_t i = 0; i < s->n; ++i) {
        s->x[i] = (s->minute[i] - time) / sqrt(spread);
        s->y[i] = (s->index[i] - s->middle) / s->unit;
    }
}

static hf_status column(hf_context *ctx, const hf_table *table, const char *name, const double **out)
{
    size_t place;
    const hf_status status = hf_table_find(ctx, table, name, &place);
    return status < 0 ? status : hf_table_numbers(ctx, table, place, out);
}

static bool load(hf_context *ctx, const char *path, series *s)
{
    hf_table *table = NULL;
    const double *minute, *index, *selloff;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status >= 0) status = column(ctx, table, "minutes_since_midnight", &minute);
    if (status >= 0) status = column(ctx, table, "open", &index);
    if (status >= 0) status = column(ctx, table, "is_selloff_point", &selloff);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", path, hf_context_message(ctx));
    } else {
        s->n = hf_table_rows(table) < READINGS_MOST ? hf_table_rows(table) : READINGS_MOST;
        s->first = s->n;
        for (size_t i = 0; i < s->n; ++i) {
            s->minute[i] = minute[i];
            s->index[i] = index[i];
            s->selloff[i] = selloff[i] != 0.0;
            if (s->selloff[i] && i < s->first) s->first = i;
            if (s->selloff[i]) s->last = i;
        }
        scale(s);
        if (s->first < SHOULDER || s->last + SHOULDER >= s->n) {
            fprintf(stderr, "%s: no sell-off with %d readings on either side\n", path, SHOULDER);
            status = HF_ERR_NO_DATA;
        }
    }
    hf_table_free(table);
    return status >= 0;
}

static bool fit(hf_context *ctx, const series *s, const char *model, result *out)
{
    const hf_data data = {.n = s->n, .d = 1, .x = s->x, .ldx = 1, .y = s->y};
    hf_reading readings[READINGS_MOST];
    hf_posterior *posterior = NULL;
    hf_fit_settings settings;
    hf_context_set_seed(ctx, 0);
    hf_status status = rcagp_settings(ctx, model, RCAGP_PROGRAM, "matern32", eps, &settings);
    if (status >= 0) status = hf_fit_data(ctx, &data, &settings, &posterior, &out->report, readings);
    if (status >= 0) status = hf_predict(ctx, posterior, s->n, s->x, 1, out->mean, NULL, out->sd);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", model, hf_context_message(ctx));
    } else {
        out->model = model;
        for (size_t i = 0; i < s->n; ++i) {
            out->mean[i] = s->middle + s->unit * out->mean[i];
            out->sd[i] = s->unit * sqrt(out->sd[i]);
            out->weight[i] = readings[i].weight;
            out->suspected[i] = readings[i].suspected;
        }
    }
    hf_posterior_free(posterior);
    return status >= 0;
}

/* ---- numbers --------------------------------------------------------------------------------------------- */

/* The line across the sell-off. */
static double undisturbed(const series *s, size_t i)
{
    const size_t a = s->first - 1, b = s->last + 1;
    if (i < s->first || i > s->last) return s->index[i];
    return s->index[a] +
           (s->index[b] - s->index[a]) * (s->minute[i] - s->minute[a]) / (s->minute[b] - s->minute[a]);
}

/* Mean |mean - index| over readings [begin, end) without the sell-off, or of the sell-off alone. */
static double error(const series *s, const result *r, size_t begin, size_t end, bool selloff)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = begin; i < end && i < s->n; ++i) {
        if (s->selloff[i] != selloff) continue;
        sum += fabs(r->mean[i] - undisturbed(s, i));
        count += 1;
    }
    return count ? sum / (double)count : NAN;
}

typedef struct opinion {
    double weight; /* largest of the sell-off, mean of the others */
    size_t suspected;
} opinion;

static void ask(const series *s, const result *r, opinion *inside, opinion *outside)
{
    const double others = (double)(s->n - (s->last - s->first + 1));
    *inside = *outside = (opinion){0};
    for (size_t i = 0; i < s->n; ++i) {
        opinion *o = s->selloff[i] ? inside : outside;
        o->suspected += r->suspected[i];
        o->weight = s->selloff[i] ? fmax(o->weight, r->weight[i]) : o->weight + r->weight[i] / others;
    }
}

static void print_table(const series *s, size_t count, const result *results)
{
    printf("Flash crash, %zu readings, sell-off at %zu..%zu. Errors are mean |mean - index| in points of the "
           "index; in the "
           "sell-off the index is replaced by\nthe line from the reading before to the reading after. "
           "Published settings "
           "for the first models, then ours. holdfast %s.\n\n",
           s->n, s->first, s->last, hf_version());
    printf("| model | sell-off | %d readings on either side | all but the sell-off | readings 50..99, sd | "
           "weight in the sell-off | "
           "mean weight elsewhere; suspected | s |\n|---|---|---|---|---|---|---|---|\n",
           SHOULDER);
    for (size_t m = 0; m < count; ++m) {
        const result *r = &results[m];
        opinion inside, outside;
        ask(s, r, &inside, &outside);
        printf("| %s%s | %.2f | %.2f | %.2f | %.3f | %.3f; %zu | %.3f; %zu | %.3f |\n",
               rcagp_model_is_ours(r->model) ? "**ours:** " : "", r->model,
               error(s, r, s->first, s->last + 1, true),
               error(s, r, s->first - SHOULDER, s->last + SHOULDER + 1, false), error(s, r, 0, s->n, false),
               error(s, r, 50, 100, false) / s->unit, inside.weight, inside.suspected, outside.weight,
               outside.suspected, r->report.seconds);
    }
}

/* ---- is the verdict on an edge? -------------------------------------------------------------------------- */

typedef struct verdicts {
    size_t inside, others, undecided; /* draws with those set aside, and with verdicts near a limit */
    double chance[2], error[2];       /* least and most */
} verdicts;

static void widen(double range[2], double value)
{
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

static void count_verdict(const series *s, const result *r, verdicts *v)
{
    opinion inside, outside;
    ask(s, r, &inside, &outside);
    v->inside += r->report.suspects_adopted && inside.suspected == s->last - s->first + 1;
    v->others += r->report.suspects_adopted && outside.suspected > 0;
    v->undecided += r->report.suspects_undecided;
    widen(v->chance, r->report.chance);
    widen(v->error, error(s, r, s->first, s->last + 1, true));
}

/* Fits of the default to the index with noise of `sd` points; errors are those against the index. */
static bool shake(hf_context *ctx, const series *s, double sd, size_t times, verdicts *out)
{
    static series shaken;
    static result r;
    draws d = {0x2545f4914f6cdd1du};
    *out = (verdicts){.chance = {INFINITY, -INFINITY}, .error = {INFINITY, -INFINITY}};
    for (size_t k = 0; k < times; ++k) {
        shaken = *s;
        for (size_t i = 0; i < s->n; ++i) shaken.index[i] += sd * draw_normal(&d);
        scale(&shaken);
        if (!fit(ctx, &shaken, "default", &r)) return false;
        count_verdict(s, &r, out);
    }
    return true;
}

static bool print_shaken(hf_context *ctx, const series *s, size_t times)
{
    static const double sds[] = {0.3, 1.0, 3.0};
    printf("\nThe default on the index with noise added, %zu draws each; in how many draws the verdict was "
           "that, and least and most of two figures.\n\n"
           "| noise, sd in points | sell-off set aside | others set aside | undecided | one table in | error "
           "in the sell-off |\n|---|---|---|---|---|---|\n",
           times);
    for (size_t k = 0; k < sizeof sds / sizeof *sds; ++k) {
        verdicts v;
        if (!shake(ctx, s, sds[k], times, &v)) return false;
        printf("| %.1f | %zu | %zu | %zu | %.0f %.0f | %.2f %.2f |\n", sds[k], v.inside, v.others,
               v.undecided, 1.0 / v.chance[1], 1.0 / v.chance[0], v.error[0], v.error[1]);
    }
    return true;
}

/* ---- picture --------------------------------------------------------------------------------------------- */

static void print_data(FILE *out, const series *s, size_t count, const result *results)
{
    fputs("$data << EOD\n", out);
    for (size_t i = 0; i < s->n; ++i) {
        fprintf(out, "%.6f %.2f %d", s->minute[i] / 60.0, s->index[i], s->selloff[i]);
        for (size_t m = 0; m < count; ++m)
            fprintf(out, " %.3f %.5f", results[m].mean[i], results[m].weight[i]);
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

/* Lines of some models; column 4 + 2 m is a mean, 5 + 2 m a weight. */
static void print_lines(FILE *out, size_t count, const result *results, bool weight)
{
    static const struct {
        const char *model, *title, *line;
    } lines[] = {{"CaGP", "CaGP, published", "lw 2 lc rgb '#e0a030'"},
                 {"RCSVGP", "RCSVGP, published", "lw 2 lc rgb '#a79fd0'"},
                 {"RCaGP", "RCaGP, published", "lw 2 lc rgb '#4dac6e'"},
                 {"default", "Holdfast, default", "lw 2 dt (6,4) lc rgb '#6fa8dc'"},
                 {"rcagp", "Holdfast, preset rcagp", "lw 2.5 lc rgb '#1f4e79'"}};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k)
        for (size_t m = 0; m < count; ++m) {
            if (strcmp(results[m].model, lines[k].model) != 0) continue;
            if (weight && strcmp(lines[k].model, "CaGP") == 0) continue; /* all ones */
            fprintf(out, ", \\\n $data using 1:%zu with lines %s title '%s'", (weight ? 5 : 4) + 2 * m,
                    lines[k].line, lines[k].title);
        }
}

static void draw(const series *s, size_t count, const result *results, const char *stem)
{
    picture p;
    picture_begin(&p);
    FILE *out = p.script;
    print_data(out, s, count, results);
    fprintf(out,
            "set multiplot layout 1,2 margins 0.07,0.985,0.16,0.90 spacing 0.07\n"
            "set xrange [%.3f:%.3f]\nset xtics 1 format '%%.0f:00'\n"
            "set xlabel 'time of day, 23 April 2013'\n",
            s->minute[0] / 60.0, s->minute[s->n - 1] / 60.0);
    fputs("set title 'Means: what each model makes of the sell-off'\nset ylabel 'Dow Jones, points' offset "
          "1,0\n"
          "set yrange [14580:14740]\nset key bottom left Left reverse\n"
          "plot $data using 1:($3 == 0 ? $2 : NaN) with points pt 7 ps 0.3 lc rgb '#80404040' title 'index', "
          "\\\n"
          " $data using 1:($3 != 0 ? $2 : NaN) with points pt 2 ps 1 lw 2 lc rgb '#c0392b' title 'sell-off'",
          out);
    print_lines(out, count, results, false);
    fputs("\nset title 'Weights: how much each reading counts (colours as on the left)'\nset ylabel 'weight' "
          "offset 1,0\nset yrange "
          "[0:1.05]\n"
          "unset key\n"
          "plot $data using 1:($3 != 0 ? 0.01 : NaN) with points pt 2 ps 1 lw 2 lc rgb '#c0392b' title "
          "'sell-off'",
          out);
    print_lines(out, count, results, true);
    fputs("\nunset multiplot\n", out);
    picture_draw(&p, stem, 1200, 460);
}

int main(int argc, char **argv)
{
    const char *data = sets_folder(), *stem = NULL;
    words models;
    static series s;
    static result results[MODELS_MOST];
    char path[SETS_PATH];
    size_t count = 0;
    long times = 12;
    const option_row rows[] = {
        option_text("data", "DIR", "folder with djia_flash_crash/ " SETS_DEFAULT, &data),
        option_list("models", "LIST",
                    "of SVGP,CaGP,RCSVGP,RCaGP,Student-t,RRP (published settings) "
                    "and\ndefault,forced,rcagp,rcsvgp (ours)",
                    &models, "SVGP,CaGP,RCSVGP,RCaGP,default,forced,rcagp,rcsvgp", rcagp_model_known),
        option_number("draws", "K", "fits of the default to the index with noise added (default 12)", &times,
                      0, 1000),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &stem)};
    options_read(argc, argv,
                 "usage: rcagp-flash-crash [option]...\n"
                 "The sell-off of 23 April 2013: means, weights and errors of several models.\n",
                 "rcagp-flash-crash --picture docs/pictures/flash-crash", sizeof rows / sizeof *rows, rows);
    if (!sets_need(data, "djia_flash_crash/djia_2013-04-23_open_2min.csv", path)) return SETS_MISSING;
    hf_context *ctx = hf_context_create();
    bool ok = ctx && load(ctx, path, &s);
    for (size_t m = 0; ok && m < models.count && count < MODELS_MOST; ++m)
        count += fit(ctx, &s, models.items[m], &results[count]);
    if (ok) print_table(&s, count, results);
    if (ok && times > 0) ok = print_shaken(ctx, &s, (size_t)times);
    if (ok && stem) draw(&s, count, results, stem);
    hf_context_free(ctx);
    return ok && count == models.count ? 0 : 1;
}
