/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire.c
 * @brief Finding where log-ei is largest in the unit cube on one thread, alone and with points pending; how
 * good the place is, beside a search with ten times the samples and starts.
 */
#include "common/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_D = 12
};

static hf_posterior *prepare(hf_context *ctx, size_t n, size_t d, double *best)
{
    double *x = bench_doubles(n * d), *y = bench_doubles(n);
    hf_kernel *kernel = bench_kernel(ctx, d);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    bench_inputs(n, d, 1, x);
    bench_targets(n, d, x, y);
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, n, y, 0.01, NULL, &sites), "sites");
    bench_must(ctx, hf_solve_exact(ctx, kernel, mean, sites, x, d, &posterior), "solve");
    bench_must(ctx, hf_predict(ctx, posterior, n, x, d, y, NULL, NULL), "predict");
    *best = y[0];
    for (size_t i = 1; i < n; i++) *best = fmax(*best, y[i]);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    return posterior;
}

int main(int argc, char **argv)
{
    static const size_t cases[][3] = {{2, 30, 0},   {6, 100, 0},   {6, 100, 4},
                                      {12, 300, 0}, {12, 1000, 0}, {12, 1000, 4}};
    const double lower[MOST_D] = {0.0};
    double upper[MOST_D], pending[4 * MOST_D];
    const size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    bench_must(ctx, hf_context_set_threads(ctx, 1), "threads");
    for (size_t j = 0; j < MOST_D; ++j) upper[j] = 1.0;
    printf("1 thread, %s\n\n", hf_blas_description());
    puts("| inputs | readings | pending | ms | evaluations | log-ei | ten times as thorough |");
    puts("|---|---|---|---|---|---|---|");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const size_t d = cases[c][0], n = cases[c][1];
        double best, x[MOST_D];
        hf_posterior *posterior = prepare(ctx, n, d, &best);
        const hf_domain box = {.dimension = d, .lower = lower, .upper = upper};
        hf_search_settings thorough = hf_search_settings_default();
        hf_argmax found, top;
        timings times = {0};
        bench_inputs(4, d, 7, pending);
        const hf_acquire a = {.size = sizeof a,
                              .posterior = posterior,
                              .best = best,
                              .pending = cases[c][2],
                              .pending_x = pending};
        for (size_t k = 0; k <= repeats; ++k) {
            const double start = bench_now();
            bench_must(ctx, hf_acquire_maximise(ctx, &a, &box, NULL, 0, NULL, x, &found), "maximise");
            if (k > 0) bench_add(&times, bench_now() - start);
        }
        thorough.samples = 10 * 256 * d;
        thorough.starts = 60;
        thorough.iterations = 200;
        bench_must(ctx, hf_acquire_maximise(ctx, &a, &box, &thorough, 0, NULL, x, &top), "maximise");
        printf("| %zu | %zu | %zu | %.2f | %zu | %.4f | %.4f |\n", d, n, cases[c][2],
               1e3 * bench_median(&times), found.evaluations, found.value, top.value);
        hf_posterior_free(posterior);
    }
    puts("\nAim: at most 40 ms for 6 inputs and 100 readings, 500 ms for 12 and 1000.");
    hf_context_free(ctx);
    return 0;
}
