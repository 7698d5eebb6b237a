/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study-file.c
 * @brief Opening the file of a study; milliseconds of the processor.
 */
#include "common/bench.h"

#include <holdfast/study_file.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    D = 6
};

static void fill(hf_context *ctx, size_t trials, const char *path)
{
    static const char *const names[D] = {"x1", "x2", "x3", "x4", "x5", "x6"};
    hf_variable variable[D] = {{0}};
    const hf_outcome outcome = {.name = "y"};
    hf_study_settings s = hf_study_settings_default();
    hf_study *study = NULL;
    for (size_t j = 0; j < D; ++j) variable[j] = (hf_variable){.name = names[j], .lower = 0.0, .upper = 1.0};
    s.variables = D;
    s.variable = variable;
    s.outcomes = 1;
    s.outcome = &outcome;
    s.start = 2 * trials; /* quasi-random ones: asked and told without a surrogate */
    bench_must(ctx, hf_study_file_create(ctx, path, &s, &study), "create");
    bench_must(ctx, hf_study_file_begin(ctx, study), "begin");
    for (size_t i = 0; i < trials; ++i) {
        hf_proposal proposal;
        const double y = sin(1e-2 * (double)i);
        bench_must(ctx, hf_study_ask(ctx, study, 1, (double)i, &proposal), "ask");
        bench_must(ctx, hf_study_tell(ctx, study, proposal.trial, &y, NULL, NULL), "tell");
    }
    bench_must(ctx, hf_study_file_end(ctx, study, true), "end");
    hf_study_free(study);
}

int main(int argc, char **argv)
{
    static const size_t all[] = {100, 1000, 10000};
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    puts("| trials, asked and told | open, ms |\n|---|---|");
    for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
        char folder[] = "/tmp/holdfast-bench-XXXXXX", path[64];
        timings t = {0};
        if (mkdtemp(folder) == NULL) return 1;
        snprintf(path, sizeof path, "%s/study.hf", folder);
        fill(ctx, all[c], path);
        for (size_t k = 0; k <= repeats; ++k) {
            hf_study *study = NULL;
            const double start = bench_processor();
            bench_must(ctx, hf_study_file_open(ctx, path, true, &study), "open");
            if (k > 0) bench_add(&t, bench_processor() - start);
            hf_study_free(study);
        }
        printf("| %zu | %.2f |\n", all[c], 1e3 * bench_median(&t));
        remove(path);
        rmdir(folder);
    }
    hf_context_free(ctx);
    return 0;
}
