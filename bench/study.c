/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study.c
 * @brief Asking a study for its next trial on one thread: the first time, when its surrogate is trained, and after
 * each further trial that was told.
 *
 * Seconds of the processor: other work does not count. Trials are added at quasi-random settings with a wavy
 * outcome, then some are asked and told. Options: --repeats K; BENCH_STUDY_MOST in the environment leaves out
 * studies with more trials than that.
 */
#include "common/bench.h"

#include <holdfast/study.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_D = 12
};

typedef struct contents {
    const char *preset;
    size_t d, trials;
} contents;

static hf_study *make(hf_context *ctx, const contents *c)
{
    static char names[MOST_D][8];
    hf_variable variable[MOST_D] = {{0}};
    const hf_outcome outcome = {.name = "y"};
    hf_study_settings s = hf_study_settings_default();
    hf_study *study = NULL;
    for (size_t j = 0; j < c->d; ++j) {
        snprintf(names[j], sizeof names[j], "x%zu", j + 1);
        variable[j] = (hf_variable){.name = names[j], .lower = 0.0, .upper = 1.0};
    }
    s.variables = c->d;
    s.variable = variable;
    s.outcomes = 1;
    s.outcome = &outcome;
    s.preset = c->preset;
    s.seed = 1;
    bench_must(ctx, hf_study_create(ctx, &s, &study), "create");
    double *x = bench_doubles(c->trials * c->d), *y = bench_doubles(c->trials);
    bench_inputs(c->trials, c->d, 1, x);
    bench_targets(c->trials, c->d, x, y);
    for (size_t i = 0; i < c->trials; ++i)
        bench_must(ctx, hf_study_add(ctx, study, x + i * c->d, y + i, NULL, NULL, NULL), "add");
    free(x);
    free(y);
    return study;
}

/* Seconds of one proposal, which is then told its outcome. */
static double ask(hf_context *ctx, hf_study *study, size_t d)
{
    hf_proposal proposal;
    hf_trial trial;
    double y;
    const double start = bench_processor();
    bench_must(ctx, hf_study_ask(ctx, study, 1, 0.0, &proposal), "ask");
    const double seconds = bench_processor() - start;
    bench_must(ctx, hf_study_trial(ctx, study, proposal.trial, &trial), "trial");
    bench_targets(1, d, trial.at, &y);
    bench_must(ctx, hf_study_tell(ctx, study, proposal.trial, &y, NULL, NULL), "tell");
    return seconds;
}

int main(int argc, char **argv)
{
    static const contents all[] = {{"default", 6, 100},    {"default", 12, 300}, {"default", 12, 1000},
                                   {"default", 12, 10000}, {"sgpr", 12, 10000},  {"rcsvgp", 12, 10000},
                                   {"cagp", 12, 10000},    {"rcagp", 12, 10000}};
    const char *limit = getenv("BENCH_STUDY_MOST");
    const size_t most = limit ? strtoul(limit, NULL, 10) : SIZE_MAX;
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    bench_must(ctx, hf_context_set_threads(ctx, 1), "threads");
    printf("1 thread, %s\n\n", hf_blas_description());
    puts("| preset | variables | trials | first, s | next, s | longest, s |\n|---|---|---|---|---|---|");
    for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
        if (all[c].trials > most) continue;
        hf_study *study = make(ctx, &all[c]);
        timings next = {0};
        double longest = 0.0;
        const double first = ask(ctx, study, all[c].d);
        for (size_t k = 0; k < repeats; ++k) {
            const double seconds = ask(ctx, study, all[c].d);
            bench_add(&next, seconds);
            longest = fmax(longest, seconds);
        }
        printf("| %s | %zu | %zu | %.3f | %.3f | %.3f |\n", all[c].preset, all[c].d, all[c].trials, first,
               bench_median(&next), longest);
        (void)fflush(stdout);
        hf_study_free(study);
    }
    hf_context_free(ctx);
    return 0;
}
