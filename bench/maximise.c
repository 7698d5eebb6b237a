/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file maximise.c
 * @brief Finding where mean + 2 sd is largest: in boxes, and among as many candidates as a box is sampled at.
 */
#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_D = 4,
    CALLS = 20 /* between two looks at the clock, with other multipliers */
};

static hf_posterior *prepare(hf_context *ctx, size_t n, size_t d)
{
    double *x = bench_doubles(n * d), *y = bench_doubles(n);
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    bench_inputs(n, d, 1, x);
    bench_targets(n, d, x, y);
    bench_must(ctx, hf_kernel_parse(ctx, "se(lengthscale=0.1)", NULL, d, &kernel), "kernel");
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, n, y, 0.01, NULL, &sites), "sites");
    bench_must(ctx, hf_solve_exact(ctx, kernel, mean, sites, x, d, &posterior), "solve");
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    return posterior;
}

/* Seconds of a call, and its evaluations. */
static double search(hf_context *ctx, const hf_posterior *posterior, const hf_domain *domain,
                     size_t *evaluations)
{
    double x[MOST_D];
    hf_argmax found;
    *evaluations = 0;
    const double start = bench_now();
    for (int k = 0; k < CALLS; ++k) {
        const hf_ucb bound = {.size = sizeof bound, .mean = posterior, .beta = 2.0 + 0.01 * k};
        bench_must(ctx, hf_maximise_ucb(ctx, &bound, domain, NULL, 0, NULL, x, &found), "maximise");
        *evaluations += found.evaluations;
    }
    *evaluations /= CALLS;
    return (bench_now() - start) / CALLS;
}

int main(int argc, char **argv)
{
    static const size_t cases[][2] = {{1, 10}, {1, 60}, {1, 500}, {2, 60}, {2, 500}, {4, 60}, {4, 500}};
    const double lower[MOST_D] = {0.0, 0.0, 0.0, 0.0}, upper[MOST_D] = {1.0, 1.0, 1.0, 1.0};
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    printf("%d threads, %s\n\n", hf_context_threads(ctx), hf_blas_description());
    puts("| inputs | anchors | box, ms | evaluations | 256 d candidates, ms |\n|---|---|---|---|---|");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const size_t d = cases[c][0], n = cases[c][1];
        double *points = bench_doubles(256 * d * d);
        hf_posterior *posterior = prepare(ctx, n, d);
        const hf_domain box = {.dimension = d, .lower = lower, .upper = upper};
        const hf_domain list = {.dimension = d, .candidates = 256 * d, .points = points};
        timings climbing = {0}, looking = {0};
        size_t evaluations, all;
        hf_domain_quasirandom(&box, 0, 256 * d, points);
        for (size_t k = 0; k <= repeats; ++k) {
            const double a = search(ctx, posterior, &list, &all),
                         b = search(ctx, posterior, &box, &evaluations);
            if (k == 0) continue;
            bench_add(&looking, a);
            bench_add(&climbing, b);
        }
        printf("| %zu | %zu | %.3f | %zu | %.3f |\n", d, n, 1e3 * bench_median(&climbing), evaluations,
               1e3 * bench_median(&looking));
        hf_posterior_free(posterior);
        free(points);
    }
    puts("\nAim: at most 1 ms for one input and 60 anchors.");
    hf_context_free(ctx);
    return 0;
}
