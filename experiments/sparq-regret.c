/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq-regret.c
 * @brief Regret against T: what the average loss of the synthetic problem falls to in thousands of steps, and
 * what levels off.
 *
 * The realisations are those of sparq-synthetic. Kept are R_t / t and the mean regret of the steps (t/2, t],
 * with t doubling: where regret vanishes as the theorem says, R_t of the order sqrt(t), the second falls by
 * 1/sqrt(2) with every doubling; where it levels off, that is the floor.
 */
#include "common/env_run.h"
#include "common/picture.h"
#include "common/pool.h"
#include "common/sparq_cases.h"

#include <math.h>
#include <stdlib.h>

enum {
    CHECKS = 8, /* 31, 62, ... 4000 */
    COLUMNS = 2 * CHECKS + 2,
    ANSWERS = 2 * CHECKS,
    PLACES,
    QUICK_STEPS = 62,
    TASK_SEEDS = 4096
};

static const size_t checks[CHECKS] = {31, 62, 125, 250, 500, 1000, 2000, 4000};
static const char *const columns[COLUMNS] = {"t31",   "t62",   "t125",  "t250",  "t500",    "t1000",
                                             "t2000", "t4000", "h31",   "h62",   "h125",    "h250",
                                             "h500",  "h1000", "h2000", "h4000", "answers", "places"};

/* A case, to how many steps, and its line. */
typedef struct long_case {
    sparq_case c;
    size_t most;
    const char *colour;
} long_case;

#define PRINTED .after = true, .beta = -1.0, .rule = HF_BETA_THEORY, .robust = -1.0, .printed = true
static const long_case cases[] = {
    {{"long", "sparq, the same day", .method = HF_TRACK_SPARQ}, 4000, "#d1495b"},
    {{"long", "sparq, the paper's order", .method = HF_TRACK_SPARQ, .after = true}, 4000, "#e0a030"},
    {{"long", "as printed, lists by variance", .method = HF_TRACK_SPARQ, PRINTED}, 4000, "#8d6a9f"},
    {{"long", "as printed", .method = HF_TRACK_SPARQ, .places = HF_PLACES_DPP, PRINTED}, 1000, "#0b2545"},
    {{"long", "sparq, 200 answers a step", .method = HF_TRACK_SPARQ, .queries = 200, .enough = 1e-6},
     4000,
     "#b05020"},
    {{"long", "sparq anywhere", .method = HF_TRACK_SPARQ, .places = HF_PLACES_ANYWHERE}, 4000, "#20a0a0"},
    {{"long", "an even grid, 6 log t", .method = HF_TRACK_SW_GP_UCB, .number = 1.0,
      .survey = {.kind = SPARQ_SURVEY_EVEN, .factor = 6.0}},
     4000,
     "#5a8f3c"},
    {{"long", "tv-gp-ucb, 0.03", .method = HF_TRACK_TV_GP_UCB, .number = 0.03}, 4000, "#1f7a8c"},
    {{"long", "sw-gp-ucb, 10", .method = HF_TRACK_SW_GP_UCB, .number = 10.0}, 4000, "#a0a0a0"},
    {{"long", "gp-ucb", .method = HF_TRACK_GP_UCB}, 4000, "#606060"},
};
enum {
    CASES = sizeof cases / sizeof *cases
};

typedef struct run {
    hf_context *ctx;
    long realisations, steps;
    bool quick;
    env_rows rows;
    size_t *tasks; /* case * TASK_SEEDS + seed */
    size_t count;
} run;

/* ---- work -------------------------------------------------------------------------------------- */

static bool run_case(hf_context *ctx, const run *r, const long_case *one, uint64_t seed,
                     double values[COLUMNS])
{
    const size_t wanted = (size_t)r->steps, steps = one->most < wanted ? one->most : wanted;
    drift_survey survey;
    hf_track_settings settings;
    sparq_trace trace;
    sparq_world world = drift_world(steps);
    world.survey = one->c.survey;
    if (!drift_survey_make(ctx, seed, &survey) ||
        !sparq_case_settings(ctx, &one->c, &survey, steps, &settings) ||
        !sparq_run(ctx, &world, &settings, seed, &trace))
        return false;
    for (size_t k = 0; k < CHECKS; ++k) {
        values[k] = sparq_average(&trace, 0, checks[k]);
        values[CHECKS + k] = sparq_average(&trace, checks[k] / 2, checks[k]);
    }
    values[ANSWERS] = sparq_answers(&trace);
    values[PLACES] = (double)trace.summary.places;
    sparq_trace_free(&trace);
    return true;
}

static bool run_task(size_t task, FILE *out, void *user)
{
    const run *r = user;
    const long_case *one = &cases[task / TASK_SEEDS];
    double values[COLUMNS];
    char name[64];
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 1);
    const bool ok = ctx && run_case(ctx, r, one, task % TASK_SEEDS, values);
    if (ok) {
        sparq_row_name("", &one->c, (long)(task % TASK_SEEDS), name, sizeof name);
        env_rows_send(out, &r->rows, name, COLUMNS, values);
    }
    hf_context_free(ctx);
    return ok;
}

static bool take_line(const char *line, void *user)
{
    run *r = user;
    return env_rows_take(&r->rows, line);
}

static bool work(void *state)
{
    run *r = state;
    if (r->quick) {
        r->realisations = 1;
        r->steps = QUICK_STEPS;
    }
    r->tasks = malloc(CASES * (size_t)r->realisations * sizeof *r->tasks);
    if (!r->tasks) return false;
    for (long seed = 0; seed < r->realisations; ++seed)
        for (size_t i = 0; i < CASES; ++i) {
            char name[64];
            sparq_row_name("", &cases[i].c, seed, name, sizeof name);
            if (!env_rows_find(&r->rows, name)) r->tasks[r->count++] = i * TASK_SEEDS + (size_t)seed;
        }
    const pool_calls calls = {run_task, take_line, r};
    const size_t failed = pool_run(r->tasks, r->count, (size_t)hf_context_threads(r->ctx), &calls);
    free(r->tasks);
    return failed == 0;
}

/* ---- tables and picture -------------------------------------------------------------------------- */

static sparq_summary of_case(const run *r, const long_case *one, size_t column)
{
    return sparq_case_summary(&r->rows, "", &one->c, column);
}

static void print_table(const run *r, const char *heading, size_t first)
{
    printf("\n### %s\n\n| method |", heading);
    for (size_t k = 0; k < CHECKS; ++k) printf(" t = %zu |", checks[k]);
    puts(" realisations |\n|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < CASES; ++i) {
        printf("| %s |", cases[i].c.name);
        for (size_t k = 0; k < CHECKS; ++k) {
            const sparq_summary s = of_case(r, &cases[i], first + k);
            if (s.count)
                printf(" %.4f |", s.mean);
            else
                fputs(" |", stdout);
        }
        printf(" %zu |\n", of_case(r, &cases[i], ANSWERS).count);
    }
}

/* Slope of log R_t on log t over the last three checks that there are: 1 where regret a step is constant, 1/2
 * where the theorem's rate holds. */
static double exponent(const run *r, const long_case *one)
{
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (size_t k = CHECKS; k-- > 0 && n < 4.0;) {
        const sparq_summary s = of_case(r, one, k);
        if (!s.count) continue;
        const double x = log((double)checks[k]), y = x + log(s.mean);
        n += 1.0;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return n > 2.0 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
}

static void report(const void *state)
{
    const run *r = state;
    print_table(r, "Average regret R_t / t", 0);
    print_table(r, "Mean regret of the steps from t/2 to t", CHECKS);
    puts(
        "\n### How R_t grows\n\n| method | exponent of R_t over the last four t | answers a step | places in "
        "memory |\n|---|---|---|---|");
    for (size_t i = 0; i < CASES; ++i)
        if (of_case(r, &cases[i], ANSWERS).count)
            printf("| %s | %.2f | %.1f | %.0f |\n", cases[i].c.name, exponent(r, &cases[i]),
                   of_case(r, &cases[i], ANSWERS).mean, of_case(r, &cases[i], PLACES).mean);
}

static void print_line(FILE *out, const run *r, size_t i)
{
    fprintf(out, "$line%zu << EOD\n", i);
    size_t lines = 0;
    for (size_t k = 0; k < CHECKS; ++k) {
        const sparq_summary s = of_case(r, &cases[i], CHECKS + k);
        if (s.count && ++lines) fprintf(out, "%zu %.5g %.5g %.5g\n", checks[k], s.mean, s.least, s.most);
    }
    fputs(lines ? "EOD\n" : "1 NaN NaN NaN\nEOD\n", out);
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    picture p;
    picture_begin(&p);
    for (size_t i = 0; i < CASES; ++i) print_line(p.script, r, i);
    fputs("set xlabel 'step t'\nset ylabel 'mean regret of the steps t/2 to t'\nset logscale xy\nset xrange "
          "[25:5000]\nset key outside right samplen 1.5\nset title 'What levels off'\nplot",
          p.script);
    for (size_t i = 0; i < CASES; ++i)
        fprintf(p.script,
                " $line%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.12 notitle, "
                "$line%zu using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s' title \"%s\",",
                i, cases[i].colour, i, cases[i].colour, cases[i].c.name);
    fputs(" 0.3/sqrt(x) with lines dt 2 lw 1.5 lc rgb '#000000' title \"as 1/sqrt(t)\"\n", p.script);
    return picture_draw(&p, stem, 900, 520);
}

int main(int argc, char **argv)
{
    run r = {.realisations = 5, .steps = 4000, .rows = {.columns = columns, .width = COLUMNS}};
    const option_row options[] = {
        option_number("realisations", "N", "default 5", &r.realisations, 1, 1000),
        option_number("steps", "T", "default 4000, the most that is kept; the row as printed ends at 1000",
                      &r.steps, 2, 4000),
        option_flag("quick", "one realisation of 62 steps: whether it works", &r.quick)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "sparq-regret", "Regret against T on a function that drifts: what levels off.",
                   "--json regret.jsonl --picture sparq-regret", sizeof options / sizeof *options, options,
                   &program);
}
