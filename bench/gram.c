/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gram.c
 * @brief Gram matrix, n = 10 000, d = 8: beside libmvec's exp over n (n + 1) / 2 entries into the same touched memory.
 */
#include "common/bench.h"
#include "common/exp_alone.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    N = 10000,
    D = 8,
    ARGUMENTS = 2048
};

/* The limit on several threads: each takes a share of the entries. */
static double limit(const double *arguments, double *memory, int threads)
{
    const size_t count = (size_t)N * (N + 1) / 2, share = count / (size_t)threads;
    double start = bench_now();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; ++t) {
        size_t begin = (size_t)t * share, end = t + 1 == threads ? count : begin + share;
        bench_exp_alone(end - begin, arguments, memory + begin);
    }
    return bench_now() - start;
}

/* `full`: both triangles, as the public function gives them; otherwise the lower one, which is all that fits use. */
static void compare(hf_context *ctx, const char *expression, bool full, size_t repeats, const double *x,
                    const double *arguments, double *memory)
{
    const int threads = hf_context_threads(ctx);
    hf_kernel *kernel = NULL;
    timings ours = {0}, alone = {0};
    bench_must(ctx, hf_kernel_parse(ctx, expression, NULL, D, &kernel), expression);
    for (size_t k = 0; k <= repeats; ++k) {
        double start = bench_now();
        bench_must(ctx,
                   full ? hf_kernel_gram(ctx, kernel, N, x, D, memory, N)
                        : hfi_kernel_gram_lower(ctx, kernel, N, x, D, memory, N),
                   "gram");
        double a = bench_now() - start, b = limit(arguments, memory, threads);
        if (k == 0) continue;
        bench_add(&ours, a);
        bench_add(&alone, b);
    }
    double a = bench_median(&ours), b = bench_median(&alone);
    printf("| %s, %s | %d | %.3f | %.3f | %.0f %% |\n", expression,
           full ? "both triangles" : "lower triangle", threads, a, b, 100.0 * b / a);
    hf_kernel_free(kernel);
}

int main(int argc, char **argv)
{
    size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    double *x = bench_doubles(N * D), *memory = bench_doubles((size_t)N * N), arguments[ARGUMENTS];
    bench_inputs(N, D, 1, x);
    for (size_t i = 0; i < ARGUMENTS; ++i) arguments[i] = -5.0 * (double)i / ARGUMENTS;
    printf("n = %d, d = %d\n\n| Gram matrix | threads | ours, s | exp alone, s | exp alone / ours "
           "|\n|---|---|---|---|---|\n",
           N, D);
    for (int threads = 1; threads <= 2; ++threads) {
        bench_must(ctx, hf_context_set_threads(ctx, threads), "threads");
        compare(ctx, "matern52(ard)", false, repeats, x, arguments, memory);
        compare(ctx, "se(ard)", false, repeats, x, arguments, memory);
        compare(ctx, "matern52(ard)", true, repeats, x, arguments, memory);
    }
    puts("\nAim: exp alone / ours at least 50 % for the triangle that is computed; the other one is a copy.");
    free(x);
    free(memory);
    hf_context_free(ctx);
    return 0;
}
