/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file evaluation.c
 * @brief One objective with its gradient, n = 2000, d = 8, ARD Matern-5/2: beside bare dpotrf + dpotri and
 * scikit-learn.
 */
#include "common/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 2000,
    D = 8
};

typedef struct setup {
    double *x, *gradient;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *gaussian, *robust;
} setup;

static setup prepare(hf_context *ctx)
{
    setup s = {.x = bench_doubles(N * D), .gradient = bench_doubles(D + 3)};
    double *y = bench_doubles(N), *centre = bench_doubles(N), level = 0.0;
    bench_inputs(N, D, 1, s.x);
    bench_targets(N, D, s.x, y);
    for (size_t i = 0; i < N; ++i) level += y[i] / N;
    for (size_t i = 0; i < N; ++i) centre[i] = level;
    s.kernel = bench_kernel(ctx, D);
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_CONSTANT, D, &s.mean), "mean");
    bench_must(ctx, hf_mean_set(ctx, s.mean, &level, false), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, N, y, 0.01, NULL, &s.gaussian), "sites");
    bench_must(ctx, hf_sites_robust(ctx, N, y, 0.01, NULL, centre, 2.0, &s.robust), "sites");
    free(y);
    free(centre);
    return s;
}

static double evaluate(hf_context *ctx, const setup *s, hf_objective objective)
{
    const hf_sites *sites = objective == HF_OBJECTIVE_WLOO ? s->robust : s->gaussian;
    double value, start = bench_now();
    bench_must(ctx,
               hf_objective_evaluate(ctx, objective, s->kernel, s->mean, sites, s->x, D, &value, s->gradient),
               "objective");
    return bench_now() - start;
}

/* The factor and the inverse of a matrix of the same size, with whatever threads the BLAS has of itself. */
static double bare(const double *matrix, double *work)
{
    int n = N, info;
    memcpy(work, matrix, (size_t)N * N * sizeof *work);
    double start = bench_now();
    dpotrf_("L", &n, work, &n, &info, 1);
    if (info == 0) dpotri_("L", &n, work, &n, &info, 1);
    if (info != 0) {
        fputs("dpotrf or dpotri failed\n", stderr);
        exit(1);
    }
    return bench_now() - start;
}

static void row(const char *what, const char *threads, double ours, double lapack, double peer)
{
    char a[32], b[32], c[32], r[32], q[32];
    printf("| %s | %s | %s | %s | %s | %s | %s |\n", what, threads, bench_text(ours, a),
           bench_text(lapack, b), bench_text(ours / lapack, r), bench_text(peer, c),
           bench_text(peer / ours, q));
}

int main(int argc, char **argv)
{
    size_t repeats = bench_repeats(argc, argv, 7);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    setup s = prepare(ctx);
    double *matrix = bench_doubles((size_t)N * N), *work = bench_doubles((size_t)N * N);
    bench_must(ctx, hf_kernel_gram(ctx, s.kernel, N, s.x, D, matrix, N), "gram");
    for (size_t i = 0; i < N; ++i) matrix[i * N + i] += 0.01;
    printf("n = %d, d = %d, %s\n\n", N, D, hf_blas_description());
    double peer = bench_peer("evaluation", N, D, 1, repeats < 5 ? repeats : 5);
    puts("| objective + gradient | threads: ours, bare | ours, s | dpotrf + dpotri, s | ours / bare | "
         "scikit-learn, s | "
         "scikit-learn / ours |");
    puts("|---|---|---|---|---|---|---|");
    for (int threads = 1; threads <= 2; ++threads) {
        timings evidence = {0}, wloo = {0}, lapack = {0};
        bench_must(ctx, hf_context_set_threads(ctx, threads), "threads");
        char both[32];
        snprintf(both, sizeof both, "%d, %d", threads, bench_bare_threads(threads));
        for (size_t k = 0; k <= repeats; ++k) {
            double a = evaluate(ctx, &s, HF_OBJECTIVE_EVIDENCE), b = evaluate(ctx, &s, HF_OBJECTIVE_WLOO),
                   c = bare(matrix, work);
            if (k == 0) continue; /* first touch of memory, first use of threads */
            bench_add(&evidence, a);
            bench_add(&wloo, b);
            bench_add(&lapack, c);
        }
        row("evidence", both, bench_median(&evidence), bench_median(&lapack), peer);
        row("weighted leave-one-out", both, bench_median(&wloo), bench_median(&lapack), peer);
    }
    puts("\nAims: ours / bare at most 1.5, scikit-learn (one thread) / ours at least 5.");
    free(matrix);
    free(work);
    free(s.x);
    free(s.gradient);
    hf_sites_free(s.gaussian);
    hf_sites_free(s.robust);
    hf_mean_free(s.mean);
    hf_kernel_free(s.kernel);
    hf_context_free(ctx);
    return 0;
}
