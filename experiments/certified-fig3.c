/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig3.c
 * @brief Figure 3: how far class probabilities can move within gamma = 0.1 of test points, for Laplace and EP
 * after 10, 40 and 100 evaluations of the evidence.
 */
#include "common/cert_delta.h"
#include "common/env_run.h"
#include "common/picture.h"

enum {
    BUDGETS = 3,
    METHODS = 2
};

static const long budgets[BUDGETS] = {10, 40, 100};
static const double gamma_of_boxes = 0.1;

typedef struct run {
    hf_context *ctx;
    cert_options common;
    long points, most;
    env_rows rows;
} run;

static void name_of(const char *set, size_t method, size_t budget, char *out, size_t size)
{
    snprintf(out, size, "%s %s %ld", set, hf_enum_name(HF_ENUM_INFERENCE, (unsigned)method), budgets[budget]);
}

static bool study(void *state, const cert_set *set)
{
    run *r = state;
    bool ok = true;
    for (size_t budget = 0; ok && budget < BUDGETS && budgets[budget] <= r->most; ++budget)
        for (size_t method = 0; ok && method < METHODS; ++method) {
            char name[48];
            name_of(set->kind->name, method, budget, name, sizeof name);
            const cert_delta_task task = {
                .name = name,
                .set = set,
                .n = set->n,
                .model = {.inference = (hf_inference)method, .evaluations = budgets[budget]},
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
    return cert_each(r->ctx, &r->common, (size_t)r->common.train, CERT_POINTS_MOST, study, r);
}

static void report(const void *state)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    puts("\n| set | method | evaluations (used) | accuracy: printed | here | points | delta: median | "
         "quartiles | largest | "
         "mean | s a point | stopped |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k)
        for (size_t budget = 0; budget < BUDGETS; ++budget)
            for (size_t method = 0; method < METHODS; ++method) {
                char name[48];
                cert_delta_summary s;
                char printed[8];
                cert_printed(sets->items[k], printed);
                name_of(sets->items[k], method, budget, name, sizeof name);
                if (!cert_delta_sum(&r->rows, name, &s)) continue;
                printf("| %s | %s | %ld (%.0f) | %s | %.3f | %zu | %.3f | %.3f to %.3f | %.3f | %.3f | "
                       "%.2f | %.0f |\n",
                       sets->items[k], hf_enum_name(HF_ENUM_INFERENCE, (unsigned)method), budgets[budget],
                       s.evaluations, printed, s.accuracy, s.count, s.median, s.quarter, s.three_quarters,
                       s.delta[s.count - 1], s.mean, s.seconds, s.stopped);
            }
}

static void print_panel(FILE *out, const run *r, const char *set)
{
    for (size_t method = 0; method < METHODS; ++method)
        for (size_t budget = 0; budget < BUDGETS; ++budget) {
            char name[48], block[48];
            name_of(set, method, budget, name, sizeof name);
            snprintf(block, sizeof block, "boxes%zu", 2 * budget + method);
            cert_delta_block(out, &r->rows, name, block);
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
            r->common.sets.count);
    for (size_t k = 0; k < r->common.sets.count; ++k) print_panel(p.script, r, r->common.sets.items[k]);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 420);
}

int main(int argc, char **argv)
{
    run r = {.points = 50, .most = 100, .rows = {.columns = cert_delta_columns, .width = CERT_DELTA_FIELDS}};
    option_row options[2 + CERT_OPTIONS] = {
        option_number("points", "N", "test points (default 50)", &r.points, 1, CERT_POINTS_MOST),
        option_number("most", "N", "most evaluations (default 100, after 10 and 40)", &r.most, 10, 100)};
    cert_options_rows(&r.common, "synthetic2d,spam,mnist38,digits38", false, options + 2);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "certified-fig3", "Figure 3: certified robustness of Laplace and EP.",
                   "--json fig3.jsonl --picture fig3", sizeof options / sizeof *options, options, &program);
}
