/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope.c
 * @brief Optimal bounds on one thread: a query without a start, one of 1000 along a line, and setting up,
 * beside a bare Cholesky factorisation of order n.
 *
 * A function of known norm in two inputs is read with bounded errors; G is 1.5 times its norm. Times are of
 * the processor, for each of the two bounds. Other solvers of the same problems are in envelope-peers.c.
 */
#include "common/bench.h"
#include "common/bounded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COLD = 20,
    PATH = 1000
};

typedef struct setting {
    const char *name, *kernel;
    double noise; /* share of the largest |f| */
} setting;

static const setting settings[] = {
    {"Matern-5/2", "matern52(lengthscale=0.3)", 0.05},
    {"Matern-5/2, noise 1e-4", "matern52(lengthscale=0.3)", 1e-4},
    {"se, noise 1e-3", "se(lengthscale=0.3)", 1e-3},
};

typedef struct world {
    hf_envelope *envelope;
    double setup;
} world;

static world build(hf_context *ctx, const setting *s, size_t n)
{
    bounded b = bounded_make(ctx, s->kernel, n, s->noise);
    world w = {0};
    const hf_bounded_readings readings = {
        .n = n, .x = b.x, .ldx = BOUNDED_D, .y = b.y, .noise_bound = b.noise};
    const double start = bounded_seconds();
    bench_must(ctx, hf_envelope_create(ctx, b.kernel, &readings, b.norm, NULL, &w.envelope), "envelope");
    w.setup = bounded_seconds() - start;
    bounded_free(&b);
    return w;
}

static double factor_alone(size_t n, double *a)
{
    int order = (int)n, info;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[j * n + i] = i == j ? 2.0 : 1.0 / (double)n;
    const double start = bounded_seconds();
    dpotrf_("L", &order, a, &order, &info, 1);
    return bounded_seconds() - start;
}

typedef struct tally {
    double active, pivots, worst_gap;
    size_t late;
} tally;

static void ask(const world *w, hf_envelope_workspace *workspace, const double *x, tally *t)
{
    hf_bound bound;
    const hf_status status = hf_envelope_bounds(w->envelope, workspace, x, NULL, &bound, NULL, NULL);
    t->active += 0.5 * (double)(bound.active_lower + bound.active_upper);
    t->pivots += 0.5 * (double)bound.pivots;
    t->worst_gap = fmax(t->worst_gap, fmax(bound.gap_lower, bound.gap_upper) / hf_envelope_norm(w->envelope));
    if (status != HF_OK) t->late++;
}

static void report(hf_context *ctx, const setting *s, size_t n, size_t repeats)
{
    double query[COLD * BOUNDED_D], *a = bench_doubles(n * n);
    world w = build(ctx, s, n);
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, w.envelope);
    timings cold = {0}, warm = {0}, bare = {0};
    tally c = {0}, p = {0};
    if (!workspace) exit(1);
    bench_inputs(COLD, BOUNDED_D, 5, query);
    for (size_t k = 0; k <= repeats; k++) {
        c = p = (tally){0};
        const double alone = factor_alone(n, a);
        const double first = bounded_seconds();
        for (size_t q = 0; q < COLD; q++) {
            hf_envelope_workspace_reset(workspace);
            ask(&w, workspace, query + q * BOUNDED_D, &c);
        }
        const double second = bounded_seconds();
        for (size_t q = 0; q < PATH; q++) {
            double x[BOUNDED_D];
            bounded_path(q, PATH, x);
            ask(&w, workspace, x, &p);
        }
        const double third = bounded_seconds();
        if (k == 0) continue;
        bench_add(&bare, alone);
        bench_add(&cold, 0.5 * (second - first) / COLD);
        bench_add(&warm, 0.5 * (third - second) / PATH);
    }
    const double factor = bench_median(&bare);
    printf("| %s | %zu | %.4f | %.1f | %.1f | %.4f | %.1f | %.2f | %.3g | %.3g | %.1f | %.0e | %zu |\n",
           s->name, n, 1e3 * bench_median(&cold), c.active / COLD, c.pivots / COLD, 1e3 * bench_median(&warm),
           p.active / PATH, p.pivots / PATH, bench_median(&cold) / factor, bench_median(&warm) / factor,
           1e3 * w.setup, fmax(c.worst_gap, p.worst_gap), c.late + p.late);
    (void)fflush(stdout);
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(w.envelope);
    free(a);
}

int main(int argc, char **argv)
{
    const size_t sizes[] = {20, 100, 300, 1000, 2000, 5000};
    const size_t repeats = bench_repeats(argc, argv, 3);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    bench_must(ctx, hf_context_set_threads(ctx, 1), "threads");
    (void)bench_bare_threads(1);
    printf("One thread, two inputs, %s\n\n", hf_blas_description());
    puts("| kernel, noise | n | cold, ms | active | pivots | on a path, ms | active | pivots | cold / dpotrf "
         "| path / dpotrf "
         "| setting up, ms | worst gap / G | late |");
    puts("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (k == 0 || sizes[i] <= 1000) report(ctx, &settings[k], sizes[i], repeats);
    hf_context_free(ctx);
    return 0;
}
