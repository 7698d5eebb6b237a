/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope.c
 * @brief Optimal bounds on one thread: a query without a start, one of 1000 along a line, and setting up, beside a bare Cholesky factorisation of order n.
 *
 * A function of known norm in two inputs is read with bounded errors; G is 1.5 times its norm. Times are of the processor, for each of the two bounds. With --sizes A,B,... other
 * numbers of readings.
 */
#include "common/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    D = 2,
    CENTRES = 20,
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

/* Of this process, which other work on the machine disturbs less than a clock. */
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

typedef struct world {
    hf_envelope *envelope;
    double setup;
} world;

static world build(hf_context *ctx, const setting *s, size_t n)
{
    double *x = bench_doubles(n * D), *y = bench_doubles(n), *error = bench_doubles(n),
           *cross = bench_doubles(n * CENTRES);
    double centre[CENTRES * D], weight[CENTRES], gram[CENTRES * CENTRES], square = 0.0, largest = 0.0;
    hf_kernel *kernel = NULL;
    world w = {0};
    bench_must(ctx, hf_kernel_parse(ctx, s->kernel, NULL, D, &kernel), "kernel");
    bench_inputs(n, D, 1, x);
    bench_inputs(CENTRES, D, 2, centre);
    bench_inputs(CENTRES, 1, 3, weight);
    bench_inputs(n, 1, 4, error);
    for (size_t j = 0; j < CENTRES; j++) weight[j] -= 0.5;
    bench_must(ctx, hf_kernel_gram(ctx, kernel, CENTRES, centre, D, gram, CENTRES), "gram");
    bench_must(ctx, hf_kernel_cross(ctx, kernel, n, x, D, CENTRES, centre, D, cross, CENTRES), "cross");
    for (size_t i = 0; i < CENTRES; i++)
        for (size_t j = 0; j < CENTRES; j++) square += weight[i] * weight[j] * gram[i * CENTRES + j];
    for (size_t i = 0; i < n; i++) {
        y[i] = 0.0;
        for (size_t j = 0; j < CENTRES; j++) y[i] += weight[j] * cross[i * CENTRES + j];
        largest = fmax(largest, fabs(y[i]));
    }
    for (size_t i = 0; i < n; i++) y[i] += s->noise * largest * (2.0 * error[i] - 1.0);
    const hf_bounded_readings readings = {.n = n, .x = x, .ldx = D, .y = y, .noise = s->noise * largest};
    const double start = cpu_seconds();
    bench_must(ctx, hf_envelope_create(ctx, kernel, &readings, 1.5 * sqrt(square), NULL, &w.envelope),
               "envelope");
    w.setup = cpu_seconds() - start;
    hf_kernel_free(kernel);
    free(x);
    free(y);
    free(error);
    free(cross);
    return w;
}

static double factor_alone(size_t n, double *a)
{
    int order = (int)n, info;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[j * n + i] = i == j ? 2.0 : 1.0 / (double)n;
    const double start = cpu_seconds();
    dpotrf_("L", &order, a, &order, &info, 1);
    return cpu_seconds() - start;
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
    double query[COLD * D], *a = bench_doubles(n * n);
    world w = build(ctx, s, n);
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, w.envelope);
    timings cold = {0}, warm = {0}, bare = {0};
    tally c = {0}, p = {0};
    if (!workspace) exit(1);
    bench_inputs(COLD, D, 5, query);
    for (size_t k = 0; k <= repeats; k++) {
        c = p = (tally){0};
        const double alone = factor_alone(n, a);
        const double first = cpu_seconds();
        for (size_t q = 0; q < COLD; q++) {
            hf_envelope_workspace_reset(workspace);
            ask(&w, workspace, query + q * D, &c);
        }
        const double second = cpu_seconds();
        for (size_t q = 0; q < PATH; q++) {
            const double at = ((double)q + 0.5) / PATH, x[D] = {at, 0.2 + 0.6 * at};
            ask(&w, workspace, x, &p);
        }
        const double third = cpu_seconds();
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
