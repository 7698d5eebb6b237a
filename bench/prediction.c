/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file prediction.c
 * @brief Mean and variance of 10 000 rows from n = 2000, d = 8: beside the bare triangular solve and scikit-learn.
 */
#include "common/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 2000,
    D = 8,
    ROWS = 10000
};

static hf_posterior *prepare(hf_context *ctx)
{
    double *x = bench_doubles(N * D), *y = bench_doubles(N);
    hf_kernel *kernel = bench_kernel(ctx, D);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    bench_inputs(N, D, 1, x);
    bench_targets(N, D, x, y);
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_ZERO, D, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, N, y, 0.01, NULL, &sites), "sites");
    bench_must(ctx, hf_solve_exact(ctx, kernel, mean, sites, x, D, &posterior), "solve");
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    return posterior;
}

/* A well-conditioned lower factor: the time of the solve does not depend on its entries. */
static double *make_factor(void)
{
    double *l = bench_doubles((size_t)N * N);
    for (size_t j = 0; j < N; ++j)
        for (size_t i = 0; i < N; ++i) l[j * N + i] = i == j ? 2.0 : (i > j ? 1.0 / N : 0.0);
    return l;
}

/* L^-1 B, with the threads that the BLAS has of itself. */
static double solve(const double *l, double *b)
{
    int n = N, columns = ROWS;
    double one = 1.0;
    for (size_t i = 0; i < (size_t)N * ROWS; ++i) b[i] = 1.0;
    double start = bench_now();
    dtrsm_("L", "L", "N", "N", &n, &columns, &one, l, &n, b, &n, 1, 1, 1, 1);
    return bench_now() - start;
}

int main(int argc, char **argv)
{
    size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    hf_posterior *posterior = prepare(ctx);
    double *query = bench_doubles(ROWS * D), *mean = bench_doubles(ROWS), *var = bench_doubles(ROWS);
    double *l = make_factor(), *b = bench_doubles((size_t)N * ROWS);
    bench_inputs(ROWS, D, 2, query);
    printf("n = %d, d = %d, %d rows, %s\n\n", N, D, ROWS, hf_blas_description());
    double peer = bench_peer("prediction", N, D, ROWS, repeats);
    puts("| mean + variance | threads: ours, bare | ours, s | dtrsm alone, s | ours / bare | scikit-learn, s "
         "| "
         "scikit-learn / ours | mean only, s |");
    puts("|---|---|---|---|---|---|---|---|");
    for (int threads = 1; threads <= 2; ++threads) {
        timings ours = {0}, bare = {0}, fast = {0};
        bench_must(ctx, hf_context_set_threads(ctx, threads), "threads");
        int bare_threads = bench_bare_threads(threads);
        for (size_t k = 0; k <= repeats; ++k) {
            double start = bench_now();
            bench_must(ctx, hf_predict(ctx, posterior, ROWS, query, D, mean, var, NULL), "predict");
            double a = bench_now() - start, c = solve(l, b);
            start = bench_now();
            bench_must(ctx, hf_predict(ctx, posterior, ROWS, query, D, mean, NULL, NULL), "predict");
            double m = bench_now() - start;
            if (k == 0) continue;
            bench_add(&ours, a);
            bench_add(&bare, c);
            bench_add(&fast, m);
        }
        char t[5][32];
        double a = bench_median(&ours), c = bench_median(&bare);
        printf("| %d rows | %d, %d | %s | %s | %s | %s | %s | %.4f |\n", ROWS, threads, bare_threads,
               bench_text(a, t[0]), bench_text(c, t[1]), bench_text(a / c, t[2]), bench_text(peer, t[3]),
               bench_text(peer / a, t[4]), bench_median(&fast));
    }
    puts("\nAims: ours / bare at most 1.3, scikit-learn (one thread) / ours at least 2.5.");
    free(query);
    free(mean);
    free(var);
    free(l);
    free(b);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    return 0;
}
