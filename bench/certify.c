/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify.c
 * @brief How long certified ranges of the posterior mean take on one thread, and how many boxes: the global
 * minimum over a box to a tolerance, the range that the bound of the whole box alone gives; and how many
 * boxes the kernel decomposition (bound A) needs alone. Before that, both ends of means and sds with the
 * lengthscale 0.7 root(d), in seconds of the processor.
 *
 * Readings of a smooth function at standard normal inputs with noise of variance 0.01; the first rows with
 * the kernel of a default fit, matern52, the others with the squared exponential. Times are medians over
 * boxes around standard normal points (clipped to [-1.5, 1.5]); what is computed once for a box, the norm of
 * the mean, is in them.
 */
#include "common/bench.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    const char *kernel; /* a name, or with (...) an expression whose lengthscale is the row's */
    size_t n, d;
    double lengthscale, half; /* half < 0: the whole domain [-2, 2]^d */
    double tolerance;
    size_t boxes;
    size_t alone; /* of them the first so many by bound A too */
} problem;

static const problem PROBLEMS[] = {
    {"matern52", 200, 10, 3.0, 0.1, 0.01, 9, 0},
    {"matern52", 200, 10, 3.0, 0.3, 0.01, 9, 0},
    {"matern52", 200, 10, 3.0, 0.4, 0.01, 9, 0},
    {"matern52", 200, 20, 5.0, 0.1, 0.01, 9, 0},
    {"matern52", 200, 20, 5.0, 0.2, 0.01, 9, 0},
    /* se */
    {"se", 500, 2, 1.0, 0.1, 0.01, 20, 5},
    {"se", 1000, 2, 0.5, 0.1, 0.01, 20, 5},
    {"se", 1000, 2, 0.5, -1.0, 0.01, 20, 1},
    {"se", 500, 5, 1.0, 0.1, 0.01, 20, 2},
    {"se", 500, 5, 1.0, 0.5, 0.01, 10, 1},
    {"se", 1000, 10, 1.0, 0.1, 0.01, 10, 2},
    {"se", 1000, 10, 1.0, 0.3, 0.01, 5, 1},
    {"se", 1000, 10, 1.5, 0.3, 0.01, 5, 0},
    {"se", 1000, 10, 2.0, 0.3, 0.01, 5, 1},
    /* amplitudes and waves that are no product of stationary factors of one input */
    {"se(lengthscale=1)*wave(frequency=0.2)", 500, 2, 1.0, 0.1, 0.01, 20, 5},
    {"se(lengthscale=1)*wave(frequency=0.2)", 500, 2, 1.0, 0.5, 0.01, 20, 5},
    {"se(lengthscale=2)*wave(frequency=0.1)", 500, 5, 2.0, 0.1, 0.01, 20, 2},
    {"se(lengthscale=1)*swell(frequency=0.1)", 500, 2, 1.0, 0.1, 0.01, 20, 5},
    {"se(lengthscale=1)*swell(frequency=0.1)", 500, 2, 1.0, 0.5, 0.01, 20, 5},
    {"se(lengthscale=2)*swell(frequency=0.05)", 500, 5, 2.0, 0.1, 0.01, 20, 2},
    {"se(lengthscale=1)*tilt(rate=0.2)", 500, 2, 1.0, 0.1, 0.01, 20, 5},
    {"se(lengthscale=1)*tilt(rate=0.2)", 500, 2, 1.0, 0.5, 0.01, 20, 5},
    {"se(lengthscale=2)*tilt(rate=0.2)", 500, 5, 2.0, 0.1, 0.01, 20, 2},
    /* against the tolerance */
    {"se", 1000, 2, 0.5, -1.0, 1e-4, 5, 0},
    {"se", 1000, 2, 0.5, -1.0, 1e-6, 5, 0},
    {"se", 1000, 10, 2.0, 0.3, 1e-3, 5, 0},
    {"se", 1000, 10, 2.0, 0.3, 1e-4, 5, 0},
    /* against the number of readings */
    {"se", 250, 5, 1.0, 0.3, 0.01, 10, 0},
    {"se", 500, 5, 1.0, 0.3, 0.01, 10, 0},
    {"se", 1000, 5, 1.0, 0.3, 0.01, 10, 0},
    {"se", 2000, 5, 1.0, 0.3, 0.01, 10, 0},
    {"se", 4000, 5, 1.0, 0.3, 0.01, 5, 0},
    /* against the number of inputs */
    {"se", 1000, 1, 2.0, 0.3, 0.01, 10, 0},
    {"se", 1000, 2, 2.0, 0.3, 0.01, 10, 0},
    {"se", 1000, 4, 2.0, 0.3, 0.01, 10, 0},
    {"se", 1000, 8, 2.0, 0.3, 0.01, 10, 0},
    {"se", 1000, 12, 2.0, 0.3, 0.01, 5, 0},
    {"se", 1000, 16, 2.0, 0.3, 0.01, 3, 0},
    /* against the size of the box */
    {"se", 1000, 4, 1.0, 0.05, 0.01, 10, 0},
    {"se", 1000, 4, 1.0, 0.1, 0.01, 10, 0},
    {"se", 1000, 4, 1.0, 0.2, 0.01, 10, 0},
    {"se", 1000, 4, 1.0, 0.4, 0.01, 5, 0},
    {"se", 1000, 4, 1.0, 0.8, 0.01, 5, 0},
    {"se", 1000, 4, 1.0, -1.0, 0.01, 2, 0},
};

/* Boxes that bound A may take. */
#define MOST_ALONE 200000u

static double truth(size_t d, const double *x)
{
    double sum = 0.0;
    for (size_t j = 0; j < d; j++) sum += sin(1.5 * x[j] + (double)j);
    return sum * sqrt(2.0 / (double)d) + 0.5 * cos(x[0] * x[d - 1]);
}

static hf_posterior *build(hf_context *ctx, const problem *p)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 1, HFI_PURPOSE_EXPERIMENT, p->n + p->d);
    double *x = bench_doubles(p->n * p->d), *y = bench_doubles(p->n);
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->d; j++) x[i * p->d + j] = hfi_stream_normal(&stream);
        y[i] = truth(p->d, x + i * p->d) + 0.1 * hfi_stream_normal(&stream);
    }
    char expression[64];
    if (strchr(p->kernel, '('))
        snprintf(expression, sizeof expression, "%s", p->kernel);
    else
        snprintf(expression, sizeof expression, "%s(lengthscale=%g)", p->kernel, p->lengthscale);
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    hf_posterior *posterior;
    bench_must(ctx, hf_kernel_parse(ctx, expression, NULL, p->d, &kernel), "kernel");
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_ZERO, p->d, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, p->n, y, 0.01, NULL, &sites), "sites");
    bench_must(ctx, hf_solve_exact(ctx, kernel, mean, sites, x, p->d, &posterior), "solve");
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    return posterior;
}

typedef struct outcome {
    timings seconds, nodes, width, whole, range;
    size_t alone, beside; /* boxes of bound A, and of all bounds for the same */
    bool unfinished;
} outcome;

static void place_box(const problem *p, hfi_stream *stream, double *lower, double *upper)
{
    for (size_t j = 0; j < p->d; j++) {
        const double centre = fmax(-1.5, fmin(1.5, hfi_stream_normal(stream)));
        lower[j] = p->half < 0.0 ? -2.0 : centre - p->half;
        upper[j] = p->half < 0.0 ? 2.0 : centre + p->half;
    }
}

/* The least value to 0.01, then both ends: of the whole box's own bound, and found. */
static void ask(hf_context *ctx, const problem *p, const hf_posterior *posterior, hfi_stream *stream,
                outcome *o)
{
    double *lower = bench_doubles(p->d), *upper = bench_doubles(p->d);
    hf_range range;
    hf_certify_settings settings = hf_certify_settings_default();
    place_box(p, stream, lower, upper);
    settings.lower_only = true;
    settings.time_limit = 30.0;
    settings.tolerance = p->tolerance;
    const double start = bench_now();
    bench_must(ctx, hf_certify(ctx, posterior, HF_CERTIFY_MEAN, &settings, lower, upper, &range, NULL, NULL),
               "certify");
    bench_add(&o->seconds, bench_now() - start);
    bench_add(&o->nodes, (double)range.nodes);
    bench_add(&o->width, range.lower_attained - range.lower);
    if (o->nodes.count <= p->alone) {
        o->beside += range.nodes;
        settings.bounds = HF_BOUND_DECOMPOSITION;
        settings.node_limit = MOST_ALONE;
        settings.time_limit = 60.0;
        bench_must(ctx,
                   hf_certify(ctx, posterior, HF_CERTIFY_MEAN, &settings, lower, upper, &range, NULL, NULL),
                   "bound A");
        o->alone += range.nodes;
        o->unfinished = o->unfinished || range.stop != HF_CERTIFY_TOLERANCE;
        settings.bounds = HF_BOUND_ALL;
    }
    settings.lower_only = false;
    settings.node_limit = 1;
    bench_must(ctx, hf_certify(ctx, posterior, HF_CERTIFY_MEAN, &settings, lower, upper, &range, NULL, NULL),
               "certify");
    bench_add(&o->whole, range.upper - range.lower);
    bench_add(&o->range, range.upper_attained - range.lower_attained);
    free(lower);
    free(upper);
}

static void report(hf_context *ctx, const problem *p)
{
    hf_posterior *posterior = build(ctx, p);
    hfi_stream stream;
    hfi_stream_init(&stream, 2, HFI_PURPOSE_EXPERIMENT, p->n + p->d);
    outcome o = {0};
    for (size_t k = 0; k < p->boxes; k++) ask(ctx, p, posterior, &stream, &o);
    char half[32];
    snprintf(half, sizeof half, "%g", p->half);
    double worst = 0.0;
    for (size_t k = 0; k < o.seconds.count; k++) worst = fmax(worst, o.seconds.seconds[k]);
    printf("| %s | %zu | %zu | %g | %s | %g | %.3g | %.3g | %.1f | %.1f | %.0f | %.2g |", p->kernel, p->n,
           p->d, p->lengthscale, p->half < 0.0 ? "whole" : half, p->tolerance, bench_median(&o.range),
           bench_median(&o.whole), 1e3 * bench_median(&o.seconds), 1e3 * worst, bench_median(&o.nodes),
           bench_median(&o.width));
    if (o.beside > 0)
        printf(" %s%zu : %zu |\n", o.unfinished ? "> " : "", o.alone, o.beside);
    else
        printf("  |\n");
    fflush(stdout);
    hf_posterior_free(posterior);
}

/* Both ends, at most 60 s a box. */
typedef struct both {
    hf_certify_what what;
    problem of;
} both;

static const both BOTH[] = {
    {HF_CERTIFY_MEAN, {"matern52", 200, 10, 0.0, 0.3, 0.01, 5, 0}},
    {HF_CERTIFY_MEAN, {"matern52", 200, 20, 0.0, 0.1, 0.01, 5, 0}},
    {HF_CERTIFY_SD, {"se", 1000, 10, 0.0, 0.1, 0.01, 5, 0}},
    {HF_CERTIFY_SD, {"se", 1000, 10, 0.0, 0.3, 0.01, 5, 0}},
    {HF_CERTIFY_SD, {"matern52", 200, 10, 0.0, 0.1, 0.01, 5, 0}},
    {HF_CERTIFY_SD, {"matern52", 200, 10, 0.0, 0.3, 0.01, 5, 0}},
};

static void report_both(hf_context *ctx, const both *row)
{
    problem p = row->of;
    p.lengthscale = 0.7 * sqrt((double)p.d);
    hf_posterior *posterior = build(ctx, &p);
    hfi_stream stream;
    hfi_stream_init(&stream, 2, HFI_PURPOSE_EXPERIMENT, p.n + p.d);
    timings seconds = {0}, nodes = {0}, wide = {0};
    size_t stopped = 0;
    double *lower = bench_doubles(p.d), *upper = bench_doubles(p.d), worst = 0.0;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.time_limit = 60.0;
    settings.tolerance = p.tolerance;
    for (size_t k = 0; k < p.boxes; k++) {
        hf_range range;
        place_box(&p, &stream, lower, upper);
        const double start = bench_processor();
        bench_must(ctx, hf_certify(ctx, posterior, row->what, &settings, lower, upper, &range, NULL, NULL),
                   "certify");
        bench_add(&seconds, bench_processor() - start);
        bench_add(&nodes, (double)range.nodes);
        bench_add(&wide, range.upper_attained - range.lower_attained);
        worst = fmax(worst, seconds.seconds[k]);
        stopped += range.stop != HF_CERTIFY_TOLERANCE;
    }
    printf("| %s | %s | %zu | %zu | %g | %.3g | %.2g | %.2g | %.0f | %zu of %zu |\n",
           row->what == HF_CERTIFY_SD ? "sd" : "mean", p.kernel, p.n, p.d, p.half, bench_median(&wide),
           bench_median(&seconds), worst, bench_median(&nodes), stopped, p.boxes);
    fflush(stdout);
    free(lower);
    free(upper);
    hf_posterior_free(posterior);
}

int main(int argc, char **argv)
{
    (void)bench_repeats(argc, argv, 1);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    hf_context_set_threads(ctx, 1);
    printf("| what | kernel | N | d | half-width | range attained | processor, s: median | slowest | boxes | "
           "stopped |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof BOTH / sizeof *BOTH; k++) report_both(ctx, &BOTH[k]);
    printf(
        "\n| kernel | N | d | l | half-width | tolerance | range attained | range of one box | minimum: ms "
        "| slowest "
        "ms | boxes | left | boxes of A : of all |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof PROBLEMS / sizeof *PROBLEMS; k++) report(ctx, &PROBLEMS[k]);
    hf_context_free(ctx);
    return 0;
}
