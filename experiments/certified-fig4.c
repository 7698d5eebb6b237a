/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig4.c
 * @brief Figure 4: how far class probabilities can move within gamma = 0.15 of test points when EP runs on
 * inducing inputs: FIC, DTC and VAR, for numbers of training points and of inducing inputs.
 *
 * Inducing inputs are training points drawn at random, as in the paper; fewer than there are training points.
 * With --moved, more training pictures than a set has are the same ones moved by one pixel, as long
 * as nine rounds suffice; test pictures are not moved.
 */
#include "common/cert_delta.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <stdlib.h>
#include <string.h>

enum {
    OWN = 6 /* options */
};

static const double gamma_of_boxes = 0.15;

static const struct {
    const char *name;
    hf_inducing_method method;
    const char *printed; /* what the paper says about it, on MNIST38 */
} methods[] = {{"fic", HF_INDUCING_FITC, "falls"},
               {"dtc", HF_INDUCING_DTC, "grows slightly"},
               {"var", HF_INDUCING_VFE, "falls, until EP becomes unstable (after 2500)"}};

typedef struct run {
    hf_context *ctx;
    cert_options common;
    words methods, train, inducing;
    long points, evaluations;
    env_rows rows;
} run;

static size_t method_of(const char *name)
{
    size_t k = 0;
    while (k < sizeof methods / sizeof *methods && strcmp(methods[k].name, name) != 0) ++k;
    return k;
}

static bool count_known(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    return *end == '\0' && n >= 2 && n <= 10000;
}

static void name_of(const char *set, const char *method, const char *train, const char *inducing, char *out,
                    size_t size)
{
    snprintf(out, size, "%s %s %s %s", set, method, train, inducing);
}

static bool study(void *state, const cert_set *set)
{
    run *r = state;
    bool ok = true;
    for (size_t i = 0; ok && i < r->train.count; ++i)
        for (size_t j = 0; ok && j < r->inducing.count; ++j)
            for (size_t k = 0; ok && k < r->methods.count; ++k) {
                char name[48];
                const size_t n = strtoul(r->train.items[i], NULL, 10),
                             m = strtoul(r->inducing.items[j], NULL, 10);
                if (m >= n || n > set->n) continue;
                name_of(set->kind->name, r->methods.items[k], r->train.items[i], r->inducing.items[j], name,
                        sizeof name);
                const cert_delta_task task = {
                    .name = name,
                    .set = set,
                    .n = n,
                    .model = {.inference = HF_INFERENCE_EP,
                              .evaluations = r->evaluations,
                              .inducing = m,
                              .method = methods[method_of(r->methods.items[k])].method},
                    .gamma = gamma_of_boxes,
                    .points = r->points,
                    .limit = r->common.limit};
                ok = cert_delta_measure(r->ctx, &task, &r->rows);
            }
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    size_t most = 0;
    for (size_t i = 0; i < r->train.count; ++i) {
        const size_t n = strtoul(r->train.items[i], NULL, 10);
        if (n > most) most = n;
    }
    return cert_each(r->ctx, &r->common, most, CERT_POINTS_MOST, study, r);
}

/* Sums up the rows of one model: a summary of nothing where it was not measured. */
static bool sum_of(const run *r, const char *set, const char *method, const char *train, const char *inducing,
                   cert_delta_summary *out)
{
    char name[48];
    name_of(set, method, train, inducing, name, sizeof name);
    return cert_delta_sum(&r->rows, name, out);
}

static void report_set(const run *r, const char *set)
{
    for (size_t k = 0; k < r->methods.count; ++k)
        for (size_t i = 0; i < r->train.count; ++i)
            for (size_t j = 0; j < r->inducing.count; ++j) {
                cert_delta_summary s;
                if (!sum_of(r, set, r->methods.items[k], r->train.items[i], r->inducing.items[j], &s))
                    continue;
                printf("| %s | %s | %s | %s | %.0f | %.3f | %zu | %.3f | %.3f to %.3f | %.3f | %.2f | %.0f "
                       "|\n",
                       set, r->methods.items[k], r->train.items[i], r->inducing.items[j], s.evaluations,
                       s.accuracy, s.count, s.median, s.quarter, s.three_quarters, s.delta[s.count - 1],
                       s.seconds, s.stopped);
            }
}

static void report_tendencies(const run *r, const char *set)
{
    const char *few = r->train.items[0], *many = r->train.items[r->train.count - 1];
    const char *small = r->inducing.items[0], *large = r->inducing.items[r->inducing.count - 1];
    for (size_t k = 0; k < r->methods.count; ++k) {
        const char *method = r->methods.items[k];
        cert_delta_summary first, last, wide;
        if (sum_of(r, set, method, few, small, &first) && sum_of(r, set, method, many, small, &last) &&
            sum_of(r, set, method, many, large, &wide))
            printf("| %s | %s | %s | %.3f to %.3f | little | %.3f to %.3f | %.3f to %.3f |\n", set, method,
                   methods[method_of(method)].printed, first.median, last.median, last.median, wide.median,
                   first.accuracy, wide.accuracy);
    }
}

static void report(const void *state)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    puts("\n| set | method | training points | inducing | evaluations | accuracy | points | delta: median | "
         "quartiles | largest | s a point | stopped |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k) report_set(r, sets->items[k]);
    printf("\nMedian delta from %s to %s training points (%s inducing inputs) and from %s to %s inducing "
           "inputs (%s training points); accuracy over both:\n\n"
           "| set | method | more training points: printed of MNIST38 | here | more inducing inputs: printed "
           "| here | "
           "accuracy |\n|---|---|---|---|---|---|---|\n",
           r->train.items[0], r->train.items[r->train.count - 1], r->inducing.items[0], r->inducing.items[0],
           r->inducing.items[r->inducing.count - 1], r->train.items[r->train.count - 1]);
    for (size_t k = 0; k < sets->count; ++k) report_tendencies(r, sets->items[k]);
}

/* One method: boxes grouped by training points, one box for each number of inducing inputs, and dots for the
 * accuracy. */
static void print_panel(FILE *out, const run *r, const char *set, const char *method)
{
    const double width = 0.8 / (double)r->inducing.count;
    fputs("$accuracy << EOD\n", out);
    for (size_t i = 0; i < r->train.count; ++i)
        for (size_t j = 0; j < r->inducing.count; ++j) {
            cert_delta_summary s;
            if (sum_of(r, set, method, r->train.items[i], r->inducing.items[j], &s))
                fprintf(out, "%g %g\n", (double)i + width * (double)j, s.accuracy);
        }
    fputs("EOD\n", out);
    for (size_t i = 0; i < r->train.count; ++i)
        for (size_t j = 0; j < r->inducing.count; ++j) {
            char name[48], block[48];
            name_of(set, method, r->train.items[i], r->inducing.items[j], name, sizeof name);
            snprintf(block, sizeof block, "b%zu_%zu", i, j);
            cert_delta_block(out, &r->rows, name, block);
        }
    fprintf(out, "set title '%s, %s'\nset boxwidth %g\nset xtics %s(", set, method, 0.8 * width,
            r->train.count > 4 ? "rotate by -40 " : "");
    for (size_t i = 0; i < r->train.count; ++i)
        fprintf(out, "%s'%s' %g", i ? ", " : "", r->train.items[i], (double)i + 0.4 - 0.5 * width);
    fputs(")\nplot ", out);
    for (size_t i = 0; i < r->train.count; ++i)
        for (size_t j = 0; j < r->inducing.count; ++j)
            fprintf(out, "$b%zu_%zu using (%g):1 with boxplot fs solid %.2f lc rgb '#1f5fa8' %s%s%s, ", i, j,
                    (double)i + width * (double)j, 0.15 + 0.6 * (double)j / (double)r->inducing.count,
                    i == 0 ? "title '" : "notitle", i == 0 ? r->inducing.items[j] : "", i == 0 ? "'" : "");
    fputs("$accuracy using 1:2 axes x1y2 with points pt 7 ps 0.5 lc rgb '#c03030' title 'accuracy'\n", out);
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    const size_t sets = r->common.sets.count;
    picture p;
    picture_begin(&p);
    fprintf(p.script,
            "set multiplot layout %zu,%zu\nset key outside top center horizontal maxrows 1\nset style "
            "boxplot outliers "
            "pt 7\nset pointsize 0.3\nset yrange [0:1]\nset y2range [0.8:1]\nset y2tics\nset ytics "
            "nomirror\nset xrange [-0.3:%g]\nset ylabel 'delta'\nset xlabel 'training points'\n",
            sets, r->methods.count, (double)r->train.count);
    for (size_t i = 0; i < sets; ++i)
        for (size_t k = 0; k < r->methods.count; ++k)
            print_panel(p.script, r, r->common.sets.items[i], r->methods.items[k]);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 420 * (int)sets);
}

int main(int argc, char **argv)
{
    run r = {
        .points = 50, .evaluations = 20, .rows = {.columns = cert_delta_columns, .width = CERT_DELTA_FIELDS}};
    option_row options[OWN + CERT_OPTIONS] = {
        option_choice("methods", "A,B", "of fic, dtc, var (default all)", &r.methods, "fic,dtc,var",
                      "fic,dtc,var"),
        option_list("training", "A,B", "numbers of training points (default 250,500,1000,1500)", &r.train,
                    "250,500,1000,1500", count_known),
        option_list("inducing", "A,B", "numbers of inducing inputs (default 100,200,300,400,500)",
                    &r.inducing, "100,200,300,400,500", count_known),
        option_flag("moved", "more training points than there are: the same pictures moved by a pixel",
                    &r.common.moved),
        option_number("points", "N", "test points (default 50)", &r.points, 1, CERT_POINTS_MOST),
        option_number("evaluations", "N", "of the evidence, about (default 20)", &r.evaluations, 1, 1000)};
    /* The last option of these, --train, is left out. */
    cert_options_rows(&r.common, "mnist38,digits38", false, options + OWN);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "certified-fig4", "Figure 4: certified robustness with inducing inputs.",
                   "--json fig4.jsonl --picture fig4", OWN + CERT_OPTIONS - 1, options, &program);
}
