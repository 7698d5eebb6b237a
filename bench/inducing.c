/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing.c
 * @brief Objectives of the inducing solver, n = 20 000, m = 512, d = 8: beside bare matrix products of as
 * many operations.
 */
#include "common/bench.h"
#include "objective/evaluator.h"

#include <stdio.h>
#include <stdlib.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length, size_t transb_length);

enum {
    N = 20000,
    M = 512,
    D = 8,
    CHUNK = 2048
};

/* Passes of n m^2 multiplications and additions: whitening, solving and sums of outer products are half a one
 * each, a product with a square one. */
typedef struct job {
    const char *name;
    hf_inducing_method method;
    hf_objective objective;
    bool gradient, train_inputs;
    double passes;
} job;

static const job JOBS[] = {
    {"VFE bound", HF_INDUCING_VFE, HF_OBJECTIVE_EVIDENCE, false, false, 1.0},
    {"VFE bound, gradient", HF_INDUCING_VFE, HF_OBJECTIVE_EVIDENCE, true, false, 3.5},
    {"VFE bound, gradient in Z too", HF_INDUCING_VFE, HF_OBJECTIVE_EVIDENCE, true, true, 3.5},
    {"FITC evidence, gradient", HF_INDUCING_FITC, HF_OBJECTIVE_EVIDENCE, true, false, 3.5},
    {"weighted bound, gradient", HF_INDUCING_VFE, HF_OBJECTIVE_WEIGHTED, true, false, 6.5},
    {"leave-one-out, gradient", HF_INDUCING_VFE, HF_OBJECTIVE_LOO, true, false, 6.5},
};

/* Seconds of one pass of products as the solver's chunks have them. */
static double products(int threads)
{
    static double *a, *b, *c;
    const int m = M, n = CHUNK;
    const double one = 1.0, zero = 0.0;
    if (!a) {
        a = bench_doubles((size_t)M * M);
        b = bench_doubles((size_t)M * CHUNK);
        c = bench_doubles((size_t)M * CHUNK);
        for (size_t i = 0; i < (size_t)M * M; ++i) a[i] = 1e-3 * (double)(i % 333);
        for (size_t i = 0; i < (size_t)M * CHUNK; ++i) b[i] = 1e-3 * (double)(i % 777);
    }
    (void)bench_bare_threads(threads);
    const double start = bench_now();
    dgemm_("N", "N", &m, &n, &m, &one, a, &m, b, &m, &zero, c, &m, 1, 1);
    const double seconds = (bench_now() - start) * (double)N / (double)CHUNK;
    return seconds;
}

static hfi_evaluator make(hf_context *ctx, const job *j, const double *x)
{
    hfi_inducing inducing;
    hfi_evaluator e;
    bench_must(ctx, hfi_inducing_init(ctx, j->method, M, D, x, D, &inducing), "inducing");
    inducing.train_inputs = j->train_inputs;
    bench_must(ctx, hfi_evaluator_init_inducing(ctx, &e, N, D, x, D, &inducing), "evaluator");
    return e;
}

static void compare(hf_context *ctx, const job *j, size_t repeats, hf_kernel *kernel, hf_mean *mean,
                    hf_sites *sites, const double *x, double *gradient)
{
    const int threads = hf_context_threads(ctx);
    hfi_evaluator e = make(ctx, j, x);
    timings ours = {0}, bare = {0};
    double value;
    e.kernel = kernel;
    e.mean = mean;
    e.sites = sites;
    for (size_t k = 0; k <= repeats; ++k) {
        const double start = bench_now();
        bench_must(ctx, hfi_evaluator_run(&e, j->objective, &value, j->gradient ? gradient : NULL), j->name);
        const double a = bench_now() - start, b = products(threads);
        if (k == 0) continue;
        bench_add(&ours, a);
        bench_add(&bare, b);
    }
    const double a = bench_median(&ours), b = bench_median(&bare),
                 flops = 2.0 * (double)N * (double)M * (double)M * 1e-9;
    printf("| %s | %d | %.3f | %.1f | %.1f | %.1f | %.0f %% |\n", j->name, threads, a, j->passes,
           j->passes * flops / a, flops / b, 100.0 * j->passes * b / a);
    hfi_evaluator_free(&e);
}

int main(int argc, char **argv)
{
    const size_t repeats = bench_repeats(argc, argv, 3);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    double *x = bench_doubles((size_t)N * D), *y = bench_doubles(N), *gradient = bench_doubles(64 + M * D);
    hf_kernel *kernel = bench_kernel(ctx, D);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    bench_inputs(N, D, 1, x);
    bench_targets(N, D, x, y);
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_CONSTANT, D, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, N, y, 0.1, NULL, &sites), "sites");
    printf("n = %d, m = %d, d = %d\n\n| objective | threads | ours, s | passes of n m^2 | ours, GF/s | "
           "dgemm, GF/s | "
           "dgemm / ours |\n|---|---|---|---|---|---|---|\n",
           N, M, D);
    for (int threads = 1; threads <= 2; ++threads) {
        bench_must(ctx, hf_context_set_threads(ctx, threads), "threads");
        for (size_t j = 0; j < sizeof JOBS / sizeof *JOBS; ++j)
            compare(ctx, &JOBS[j], repeats, kernel, mean, sites, x, gradient);
    }
    puts("\nAim: at least 60 % of what the products alone take, covariances and their derivatives included.");
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    free(gradient);
    hf_context_free(ctx);
    return 0;
}
