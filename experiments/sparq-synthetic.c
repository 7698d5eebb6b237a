/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq-synthetic.c
 * @brief The paper's synthetic problem: average regret of all methods over realisations, tuned and as
 * recommended, with few answers, with outliers, in both orders.
 *
 * A realisation is a survey (which the kernel is fitted to), a first place and the errors of readings and
 * answers; all methods meet the same ones. Mean and standard deviation over realisations of the average
 * regret R_T / T.
 */
#include "common/env_run.h"
#include "common/pool.h"
#include "common/sparq_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TUNING_SEED = 1000,
    STEPS = 500,
    QUICK_STEPS = 40,
    QUICK_RUNS = 2
};

typedef struct run {
    hf_context *ctx;
    long realisations, others, steps;
    bool quick;
    words groups;
    const char *only; /* cases whose names hold it; NULL: all */
    env_rows rows;
    size_t *tasks; /* case * TASK_SEEDS + seed */
    size_t count;
} run;

enum {
    TASK_SEEDS = 4096
};

static const char requests_prefix[] = "requests: ";

/* ---- work ---------------------------------------------------------------------------------------------- */

static bool run_task(size_t task, FILE *out, void *user)
{
    const run *r = user;
    const sparq_case *c = &sparq_cases[task / TASK_SEEDS];
    const long seed = (long)(task % TASK_SEEDS);
    double values[SPARQ_COLUMNS], requests[SPARQ_CHECKS];
    char name[64];
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 1);
    const bool ok = ctx && sparq_case_run(ctx, c, (size_t)r->steps, (uint64_t)seed, values, requests);
    if (ok) {
        sparq_row_name("", c, seed, name, sizeof name);
        env_rows_send(out, &r->rows, name, SPARQ_COLUMNS, values);
        sparq_row_name(requests_prefix, c, seed, name, sizeof name);
        if (strcmp(c->group, "practical") == 0) env_rows_send(out, &r->rows, name, SPARQ_CHECKS, requests);
    }
    hf_context_free(ctx);
    return ok;
}

static bool take_line(const char *line, void *user)
{
    run *r = user;
    return env_rows_take(&r->rows, line);
}

/* How many realisations a case gets: all if an aim is about it, else few. */
static long runs_of(const run *r, const sparq_case *c)
{
    const bool aimed = strcmp(c->group, "practical") == 0 || strcmp(c->group, "growing") == 0 ||
                       c == sparq_case_find("outliers", "sparq") ||
                       c == sparq_case_find("few", "sparq-reuse, 1 a step");
    return aimed || r->realisations < r->others ? r->realisations : r->others;
}

static void list_tasks(run *r)
{
    for (size_t i = 0; i < sparq_case_count; ++i) {
        const sparq_case *c = &sparq_cases[i];
        const long first = strcmp(c->group, "tuning") == 0 ? TUNING_SEED : 0, runs = runs_of(r, c);
        if (!words_hold(&r->groups, c->group) || (r->only && !strstr(c->name, r->only))) continue;
        for (long seed = first; seed < first + runs; ++seed) {
            char name[64];
            sparq_row_name("", c, seed, name, sizeof name);
            if (!env_rows_find(&r->rows, name)) r->tasks[r->count++] = i * TASK_SEEDS + (size_t)seed;
        }
    }
}

static bool work(void *state)
{
    run *r = state;
    if (r->quick) {
        r->realisations = QUICK_RUNS;
        r->steps = QUICK_STEPS;
    }
    r->tasks = malloc(sparq_case_count * (size_t)r->realisations * sizeof *r->tasks);
    if (!r->tasks) return false;
    list_tasks(r);
    const pool_calls calls = {run_task, take_line, r};
    const size_t failed = pool_run(r->tasks, r->count, (size_t)hf_context_threads(r->ctx), &calls);
    free(r->tasks);
    return failed == 0;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static void print_group(const run *r, const sparq_group *group)
{
    bool begun = false;
    for (size_t i = 0; i < sparq_case_count; ++i) {
        const sparq_case *c = &sparq_cases[i];
        if (strcmp(c->group, group->name) != 0) continue;
        const sparq_summary all = sparq_case_summary(&r->rows, "", c, SPARQ_ALL),
                            half = sparq_case_summary(&r->rows, "", c, SPARQ_HALF),
                            answers = sparq_case_summary(&r->rows, "", c, SPARQ_ANSWERS);
        if (!all.count) continue;
        if (!begun)
            printf(
                "\n### %s\n\n| method | average regret | sd | least to most | second half | answers a step | "
                "regret per answer | realisations |\n|---|---|---|---|---|---|---|---|\n",
                group->heading);
        begun = true;
        printf("| %s | %.4f | %.4f | %.3f to %.3f | %.4f |", c->name, all.mean, all.sd, all.least, all.most,
               half.mean);
        if (answers.mean > 0.0)
            printf(" %.1f | %.4f | %zu |\n", answers.mean, all.mean / answers.mean, all.count);
        else
            printf(" | | %zu |\n", all.count);
    }
}

/* ---- aims ---------------------------------------------------------------------------------------------- */

static double mean_of(const run *r, const char *group, const char *name)
{
    const sparq_case *c = sparq_case_find(group, name);
    const sparq_summary s = sparq_case_summary(&r->rows, "", c, SPARQ_ALL);
    return s.count ? s.mean : NAN;
}

static void print_aim(const char *what, double value, double limit, bool below)
{
    if (isnan(value)) return;
    printf("| %s | %s %.3g | %.4f | %s |\n", what, below ? "at most" : "at least", limit, value,
           (below ? value <= limit : value >= limit) ? "met" : "**missed**");
}

static void print_aims(const run *r)
{
    static const char *const baselines[] = {"tv-gp-ucb", "ui-gp-ucb", "gp-ucb",
                                            "w-gp-ucb",  "sw-gp-ucb", "r-gp-ucb"};
    const double sparq = mean_of(r, "practical", "sparq");
    puts("\n### Aims\n\n| | aim | here | |\n|---|---|---|---|");
    print_aim("SparQ, average regret", sparq, 0.05, true);
    print_aim("SparQ, one in ten wrong", mean_of(r, "outliers", "sparq"), 0.12, true);
    print_aim("one answer a step, re-used with its age", mean_of(r, "few", "sparq-reuse, 1 a step"), 0.2,
              true);
    for (size_t i = 0; i < sizeof baselines / sizeof *baselines; ++i) {
        char what[64];
        snprintf(what, sizeof what, "%s, tuned, in units of SparQ's", baselines[i]);
        print_aim(what, mean_of(r, "practical", baselines[i]) / sparq, 3.0, false);
    }
}

static void report(const void *state)
{
    const run *r = state;
    double random, worst, fixed, largest, mean;
    const size_t steps = r->quick ? QUICK_STEPS : (size_t)r->steps;
    drift_references(steps, &random, &worst, &fixed);
    drift_change(steps, &largest, &mean);
    printf("%zu steps. What can be: the worst place in every step loses %.2f a step, a place at random %.2f, "
           "the "
           "best place that never moves %.2f. "
           "f changes by at most %.4f a step, %.4f on average over the steps.\n",
           steps, worst, random, fixed, largest, mean);
    for (size_t i = 0; i < sparq_group_count; ++i) print_group(r, &sparq_groups[i]);
    if (steps == STEPS) print_aims(r); /* that is what they are about */
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    return sparq_picture_synthetic(&r->rows, requests_prefix, stem);
}

int main(int argc, char **argv)
{
    run r = {.realisations = 40,
             .others = 10,
             .steps = STEPS,
             .rows = {.columns = sparq_columns, .width = SPARQ_COLUMNS}};
    const option_row options[] = {
        option_number("realisations", "N", "of cases that an aim is about (default 40)", &r.realisations, 1,
                      1000),
        option_number("others", "N",
                      "of the other cases at most (default 10; the tuning grids have their own)", &r.others,
                      1, 1000),
        option_number("steps", "T", "default 500", &r.steps, 2, 100000),
        OPTION_SOME("groups", &r.groups,
                    "practical,growing,theory,recommended,outliers,few,places,printed,controls,tuning"),
        option_text("only", "TEXT", "cases whose names hold this text", &r.only),
        option_flag("quick", "2 realisations of 40 steps: whether it works", &r.quick)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "sparq-synthetic",
                   "Average regret on a function that drifts, with and without an expert.",
                   "--json synthetic.jsonl --picture synthetic", sizeof options / sizeof *options, options,
                   &program);
}
