/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig3.c
 * @brief Figure 3: how far class probabilities can move within gamma = 0.1 of test points, for Laplace and EP after 10, 40 and 100 evaluations of the evidence.
 *
 * delta = largest - least, from certified bounds, so that it is too large by at most two tolerances.
 */
#include "common/cert_data.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGETS = 3,
    METHODS = 2,
    MOST_POINTS = 1000
};

static const long budgets[BUDGETS] = {10, 40, 100};

typedef enum field {
    DELTA,
    DELTA_ATTAINED,
    SECONDS,
    STOPPED,
    ACCURACY,
    EVALUATIONS,
    FIELDS
} field;

static const char *const columns[FIELDS] = {"delta",   "delta_attained", "seconds",
                                            "stopped", "accuracy",       "evaluations"};

typedef struct run {
    hf_context *ctx;
    const char *data;
    words sets;
    long train, points, seed, limit, most;
    double gamma;
    env_rows rows;
} run;

static void name_of(const char *set, size_t method, size_t budget, long point, char *out, size_t size)
{
    snprintf(out, size, "%s %s %ld %ld", set, hf_inference_name((hf_inference)method), budgets[budget],
             point);
}

static bool measure(run *r, const cert_set *set, const hf_classifier *classifier, size_t method,
                    size_t budget, double accuracy, size_t used)
{
    const size_t d = set->d;
    double *room = malloc(3 * d * sizeof *room);
    bool ok = room != NULL;
    double *moves = room, *lower = room + d, *upper = room + 2 * d;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = 1;
    settings.time_limit = (double)r->limit;
    for (long k = 0; ok && k < r->points && (size_t)k < set->m; ++k) {
        char name[64];
        hf_range range;
        name_of(set->kind->name, method, budget, k, name, sizeof name);
        if (env_rows_find(&r->rows, name)) continue;
        cert_salient(set, r->ctx, classifier, set->at + (size_t)k * d, moves);
        cert_box(set, set->at + (size_t)k * d, moves, r->gamma, lower, upper);
        ok = hf_certify_class(r->ctx, classifier, &settings, 1, lower, upper, &range, NULL, NULL) >= 0;
        const double values[FIELDS] = {range.upper - range.lower,
                                       range.upper_attained - range.lower_attained,
                                       range.seconds,
                                       range.stop > HF_CERTIFY_DECIDED,
                                       accuracy,
                                       (double)used};
        if (ok) env_rows_add(&r->rows, name, values);
    }
    if (!ok) fprintf(stderr, "%s: %s\n", set->kind->name, hf_context_message(r->ctx));
    free(room);
    return ok;
}

static bool study(run *r, const cert_set *set)
{
    bool ok = true;
    for (size_t budget = 0; ok && budget < BUDGETS && budgets[budget] <= r->most; ++budget)
        for (size_t method = 0; ok && method < METHODS; ++method) {
            char last[64];
            double accuracy;
            size_t used;
            name_of(set->kind->name, method, budget,
                    (r->points < (long)set->m ? r->points : (long)set->m) - 1, last, sizeof last);
            if (env_rows_find(&r->rows, last)) continue;
            hf_classifier *classifier =
                cert_fit(r->ctx, set, (hf_inference)method, budgets[budget], &accuracy, &used);
            ok = classifier && measure(r, set, classifier, method, budget, accuracy, used);
            hf_classifier_free(classifier);
        }
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    bool ok = true;
    for (size_t k = 0; ok && k < r->sets.count; ++k) {
        cert_set set;
        if (!cert_load(r->ctx, cert_find(r->sets.items[k]), r->data, (size_t)r->train, MOST_POINTS,
                       (uint64_t)r->seed, &set))
            continue;
        ok = study(r, &set);
        cert_free(&set);
    }
    return ok;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The deltas of one model, sorted; what is the same for all points in `first`. */
static size_t collect(const run *r, const char *set, size_t method, size_t budget, double *delta,
                      double *seconds, double *stopped, const double **first)
{
    size_t count = 0;
    *seconds = *stopped = 0.0;
    for (long k = 0; k < MOST_POINTS; ++k) {
        char name[64];
        name_of(set, method, budget, k, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (!v) continue;
        delta[count++] = v[DELTA];
        *seconds += v[SECONDS];
        *stopped += v[STOPPED];
        *first = v;
    }
    qsort(delta, count, sizeof *delta, rising);
    return count;
}

static double quantile(const double *sorted, size_t count, double share)
{
    const double at = share * (double)(count - 1);
    const size_t below = (size_t)at;
    return below + 1 < count ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
                             : sorted[below];
}

static void report(const void *state)
{
    const run *r = state;
    double delta[MOST_POINTS], seconds, stopped;
    puts("\n| set | method | evaluations (used) | accuracy: printed | here | points | delta: median | "
         "quartiles | largest | "
         "mean | s a point | stopped |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < r->sets.count; ++k)
        for (size_t budget = 0; budget < BUDGETS; ++budget)
            for (size_t method = 0; method < METHODS; ++method) {
                const double *first = NULL;
                double mean = 0.0;
                const size_t count =
                    collect(r, r->sets.items[k], method, budget, delta, &seconds, &stopped, &first);
                if (count == 0) continue;
                for (size_t i = 0; i < count; ++i) mean += delta[i] / (double)count;
                printf("| %s | %s | %ld (%.0f) | %.2f | %.3f | %zu | %.3f | %.3f to %.3f | %.3f | %.3f | "
                       "%.2f | %.0f |\n",
                       r->sets.items[k], hf_inference_name((hf_inference)method), budgets[budget],
                       first[EVALUATIONS], cert_find(r->sets.items[k])->accuracy, first[ACCURACY], count,
                       quantile(delta, count, 0.5), quantile(delta, count, 0.25),
                       quantile(delta, count, 0.75), delta[count - 1], mean, seconds / (double)count,
                       stopped);
            }
}

static void print_panel(FILE *out, const run *r, const char *set)
{
    double delta[MOST_POINTS], seconds, stopped;
    for (size_t method = 0; method < METHODS; ++method)
        for (size_t budget = 0; budget < BUDGETS; ++budget) {
            const double *first = NULL;
            const size_t count = collect(r, set, method, budget, delta, &seconds, &stopped, &first);
            fprintf(out, "$boxes%zu << EOD\n", 2 * budget + method);
            for (size_t i = 0; i < count; ++i) fprintf(out, "%g\n", delta[i]);
            fputs(count ? "EOD\n" : "NaN\nEOD\n", out);
        }
    fprintf(out,
            "set title '%s'\nset xtics ('10' 0.17, '40' 1.17, '100' 2.17)\nset xrange [-0.5:2.9]\nset xlabel "
            "'evaluations'\n"
            "plot ",
            set);
    for (size_t box = 0; box < (size_t)METHODS * BUDGETS; ++box)
        fprintf(out, "%s$boxes%zu using (%g):1 with boxplot fs solid 0.35 lc rgb '%s' %s", box ? ", " : "",
                box, (double)(box / 2) + 0.35 * (double)(box % 2), box % 2 ? "#1f5fa8" : "#b5651d",
                box == 0   ? "title 'Laplace'"
                : box == 1 ? "title 'EP'"
                           : "notitle");
    fputc('\n', out);
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    picture p;
    picture_begin(&p);
    fprintf(p.script,
            "set multiplot layout 1,%zu\nset key outside top center horizontal\nset style boxplot outliers "
            "pt 7\nset pointsize 0.3\nset yrange [0:*]\n"
            "set ylabel 'delta'\nset boxwidth 0.28\n",
            r->sets.count);
    for (size_t k = 0; k < r->sets.count; ++k) print_panel(p.script, r, r->sets.items[k]);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 420);
}

int main(int argc, char **argv)
{
    run r = {.data = "../shared/data",
             .train = 1000,
             .points = 50,
             .limit = 30,
             .most = 100,
             .gamma = 0.1,
             .rows = {.columns = columns, .width = FIELDS}};
    words_parse(&r.sets, "--sets", "synthetic2d,spam,mnist38", cert_known);
    const option_row options[] = {
        {.name = "data",
         .value = "DIR",
         .help = "folder that holds spambase/ and mnist_t10k_14x14/ (default ../shared/data)",
         .text = &r.data},
        {.name = "sets",
         .value = "A,B",
         .help = "of synthetic2d, spam, mnist38 (default all)",
         .list = &r.sets,
         .known = cert_known},
        {.name = "train",
         .value = "N",
         .help = "training points (default 1000)",
         .number = &r.train,
         .least = 10,
         .most = 2000},
        {.name = "points",
         .value = "N",
         .help = "test points (default 50)",
         .number = &r.points,
         .least = 1,
         .most = MOST_POINTS},
        {.name = "most",
         .value = "N",
         .help = "most evaluations (default 100, after 10 and 40)",
         .number = &r.most,
         .least = 10,
         .most = 100},
        {.name = "limit",
         .value = "S",
         .help = "seconds for a box (default 30; 0: none)",
         .number = &r.limit,
         .least = 0,
         .most = 100000},
        {.name = "seed",
         .value = "S",
         .help = "of data and split (default 0)",
         .number = &r.seed,
         .least = 0,
         .most = 100000}};
    const env_program program = {.heading = "usage: certified-fig3 [option]...\n"
                                            "Figure 3: certified robustness of Laplace and EP.\n",
                                 .example = "certified-fig3 --json fig3.jsonl --picture fig3",
                                 .options = options,
                                 .count = sizeof options / sizeof *options,
                                 .rows = &r.rows,
                                 .ctx = &r.ctx,
                                 .state = &r,
                                 .work = work,
                                 .report = report,
                                 .picture = draw_picture};
    return env_run(argc, argv, &program);
}
