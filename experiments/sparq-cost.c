/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq-cost.c
 * @brief The cost of a step as time goes by: seconds of one processor and bytes, to 10^5 steps, and how long
 * an answer takes with 40 expert answers.
 *
 * The synthetic problem with its tuned constants. A step is everything: requests, answers, the next place,
 * telling. Methods that forget run to the end, the others until their share of seconds is spent.
 */
#include "common/clock.h"
#include "common/env_run.h"
#include "common/picture.h"
#include "common/sparq_cases.h"

#include <math.h>
#include <stdlib.h>

enum {
    CHECKS = 7,
    BYTES = CHECKS,
    REACHED = 2 * CHECKS,
    COLUMNS,
    ASKS = 60,
    ANSWERS = 40,
    QUICK_STEPS = 120
};

static const size_t checks[CHECKS] = {100, 300, 1000, 3000, 10000, 30000, 100000};
static const char *const columns[COLUMNS] = {"ms_1e2",    "ms_3e2",    "ms_1e3",    "ms_3e3",    "ms_1e4",
                                             "ms_3e4",    "ms_1e5",    "bytes_1e2", "bytes_3e2", "bytes_1e3",
                                             "bytes_3e3", "bytes_1e4", "bytes_3e4", "bytes_1e5", "reached"};

static const struct {
    const char *name, *colour;
    bool bounded; /* by what it forgets: runs to the end; the others until their seconds are spent */
} methods[] = {{"sparq", "#d1495b", true},      {"sparq-reuse", "#e0a030", true},
               {"sw-gp-ucb", "#5a8f3c", true},  {"r-gp-ucb", "#0b2545", true},
               {"w-gp-ucb", "#7a5230", true},   {"tv-gp-ucb", "#1f7a8c", false},
               {"ui-gp-ucb", "#8d6a9f", false}, {"gp-ucb", "#606060", false}};

enum {
    METHODS = sizeof methods / sizeof *methods
};

typedef struct run {
    hf_context *ctx;
    long steps, seconds;
    bool quick;
    env_rows rows;
} run;

/* ---- steps --------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t count, double *values)
{
    qsort(values, count, sizeof *values, by_size);
    return count ? values[count / 2] : NAN;
}

/* Milliseconds of the last tenth of the steps up to each, and bytes there. */
static void take_checks(const sparq_trace *trace, double values[COLUMNS])
{
    for (size_t k = 0; k < CHECKS; ++k) {
        const size_t to = checks[k], from = to - to / 10;
        const bool there = to <= trace->steps;
        values[k] = there ? 1e3 * median(to - from, trace->seconds + from) : NAN;
        values[BYTES + k] = there ? trace->bytes[to - 1] : NAN;
    }
    values[REACHED] = (double)trace->steps;
}

static bool run_method(run *r, const drift_survey *survey, size_t which)
{
    const char *name = methods[which].name;
    hf_track_settings settings;
    sparq_trace trace;
    double values[COLUMNS];
    if (env_rows_find(&r->rows, name)) return true;
    sparq_world world = drift_world((size_t)r->steps);
    world.budget = methods[which].bounded ? 0.0 : (double)r->seconds;
    if (!sparq_case_settings(r->ctx, sparq_case_find("practical", name), survey, (size_t)r->steps,
                             &settings) ||
        !sparq_run(r->ctx, &world, &settings, 0, &trace))
        return false;
    fprintf(stderr, "%s: %zu steps\n", name, trace.steps);
    take_checks(&trace, values);
    env_rows_add(&r->rows, name, values);
    sparq_trace_free(&trace);
    return true;
}

/* ---- one question -------------------------------------------------------------------------------------- */

static bool fine(const run *r, hf_status status)
{
    if (status < 0) fprintf(stderr, "ask: %s\n", hf_context_message(r->ctx));
    return status >= 0;
}

/* A step with 40 answers; seconds of the question alone. */
static bool question(run *r, hf_track *track, const sparq_world *world, size_t step, double *seconds,
                     hf_suggestion *suggestion)
{
    size_t count = 0;
    double x;
    bool ok = fine(r, hf_track_requests(r->ctx, track, (double)step, &count));
    while (ok && hf_track_pending_count(track) > 0) {
        hf_track_request request;
        ok = fine(r, hf_track_request_at(track, 0, &request)) &&
             fine(r, hf_track_answer(r->ctx, track, request.id, NAN, world->value(NULL, step, request.x, 0),
                                     0.0));
    }
    const double start = cpu_clock();
    ok = ok && fine(r, hf_track_ask(r->ctx, track, (double)step, &x, suggestion));
    *seconds = cpu_clock() - start;
    return ok && fine(r, hf_track_tell(r->ctx, track, (double)step, &x, world->value(NULL, step, &x, 0), 0.0,
                                       NULL));
}

static bool ask_often(run *r, const char *kernel, const char *name)
{
    hf_track_settings settings = hf_track_settings_default(HF_TRACK_SPARQ);
    hf_track *track = NULL;
    hf_suggestion suggestion = {0};
    double seconds[ASKS], values[COLUMNS];
    const sparq_world world = drift_world(1);
    if (env_rows_find(&r->rows, name)) return true;
    settings.domain = world.domain;
    settings.kernel = kernel;
    settings.age.rate = DRIFT_RATE;
    settings.queries = ANSWERS;
    bool ok = fine(r, hf_track_create(r->ctx, &settings, &track));
    for (size_t step = 1; ok && step <= 200; ++step)
        ok = question(r, track, &world, step, &seconds[step % ASKS], &suggestion);
    for (size_t k = 0; k < COLUMNS; ++k) values[k] = NAN;
    values[0] = 1e3 * median(ASKS, seconds);
    values[1] = 1e3 * seconds[ASKS - 1];
    values[2] = (double)suggestion.answers;
    values[3] = (double)suggestion.places;
    if (ok) env_rows_add(&r->rows, name, values);
    hf_track_free(track);
    return ok;
}

static const char *const questions[][2] = {
    {"question: fitted lengthscale", "se(outputscale=0.3, lengthscale=5.5)"},
    {"question: lengthscale 1", "se(outputscale=0.3, lengthscale=1)"}};

static bool work(void *state)
{
    run *r = state;
    drift_survey survey;
    if (r->quick) r->steps = QUICK_STEPS;
    hf_context_set_threads(r->ctx, 1);
    bool ok = drift_survey_make(r->ctx, 0, &survey);
    for (size_t i = 0; ok && i < 2; ++i) ok = ask_often(r, questions[i][1], questions[i][0]);
    for (size_t i = 0; ok && i < METHODS; ++i) ok = run_method(r, &survey, i);
    return ok;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static void print_table(const run *r, const char *heading, size_t first, double unit)
{
    printf("\n### %s\n\n| method |", heading);
    for (size_t k = 0; k < CHECKS; ++k) printf(" t = %zu |", checks[k]);
    printf(" steps made |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < METHODS; ++i) {
        const double *v = env_rows_find(&r->rows, methods[i].name);
        if (!v) continue;
        printf("| %s |", methods[i].name);
        for (size_t k = 0; k < CHECKS; ++k) {
            if (isnan(v[first + k]))
                printf(" |");
            else
                printf(" %.3g |", v[first + k] / unit);
        }
        printf(" %.0f |\n", v[REACHED]);
    }
}

static void report(const void *state)
{
    const run *r = state;
    print_table(r, "Milliseconds a step (median of the last tenth)", 0, 1.0);
    print_table(r, "Memory of the track, 1000 bytes", BYTES, 1000.0);
    puts("\n### The next place, 40 answers in one dimension\n\n| kernel | answers that count | places | "
         "median ms "
         "| longest ms | aim: under 10 ms |\n|---|---|---|---|---|---|");
    for (size_t i = 0; i < 2; ++i) {
        const double *v = env_rows_find(&r->rows, questions[i][0]);
        if (!v) continue;
        printf("| %s | %.0f | %.0f | %.2f | %.2f | %s |\n", questions[i][1], v[2], v[3], v[0], v[1],
               v[0] < 10.0 ? "met" : "**missed**");
    }
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    picture p;
    picture_begin(&p);
    for (size_t i = 0; i < METHODS; ++i) {
        const double *v = env_rows_find(&r->rows, methods[i].name);
        fprintf(p.script, "$line%zu << EOD\n", i);
        for (size_t k = 0; v && k < CHECKS; ++k)
            if (!isnan(v[k])) fprintf(p.script, "%zu %.5g %.5g\n", checks[k], v[k], v[BYTES + k] / 1000.0);
        fputs("1 NaN NaN\nEOD\n", p.script);
    }
    fputs("set multiplot layout 1,2\nset logscale xy\nset xrange [100:100000]\nset xlabel 'step t'\nset "
          "format x "
          "'10^{%T}'\nset key top left font ',10'\n",
          p.script);
    for (int column = 2; column <= 3; ++column) {
        fprintf(p.script, "set ylabel '%s'\n%s\nplot", column == 2 ? "milliseconds a step" : "1000 bytes",
                column == 2 ? "set yrange [0.05:1000]" : "set yrange [1:100000]");
        for (size_t i = 0; i < METHODS; ++i)
            fprintf(p.script,
                    "%s $line%zu using 1:%d with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s' title '%s'",
                    i ? "," : "", i, column, methods[i].colour, methods[i].name);
        fputc('\n', p.script);
    }
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1100, 480);
}

int main(int argc, char **argv)
{
    run r = {.steps = 100000, .seconds = 60, .rows = {.columns = columns, .width = COLUMNS}};
    const option_row options[] = {
        option_number("steps", "T", "default 100000", &r.steps, 2, 10000000),
        option_number("seconds", "S",
                      "the methods that do not forget within a few steps end after so many (default 60)",
                      &r.seconds, 1, 1000000),
        option_flag("quick", "120 steps", &r.quick)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "sparq-cost", "Time and memory of a step as time goes by.",
                   "--json cost.jsonl --picture cost", sizeof options / sizeof *options, options, &program);
}
