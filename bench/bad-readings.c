/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bad-readings.c
 * @brief How far what is certified about bad readings is from the worst that a search finds: medians over
 * points of certified / found.
 *
 * Robust sites of readings of a smooth function, one input, squared exponential kernel. The search replaces
 * one reading after another, each time the one and the number that move the mean the most. Then it goes
 * over them twice more. With one reading the certificate is exact, so that what is missing from 1 is the search's.
 */
#include "common/bench.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS = 8,
    VALUES = 24, /* replacements that are tried, on either side of the centre */
    MOST = 4
};

typedef struct problem {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    size_t n;
    double noise, *x, *y, *centre;
} problem;

static const double THRESHOLD = 0.5;

static hf_sites *make_sites(const problem *p, const double *y)
{
    hf_sites *sites;
    bench_must(p->ctx, hf_sites_robust(p->ctx, p->n, y, p->noise, NULL, p->centre, THRESHOLD, &sites),
               "sites");
    return sites;
}

static double mean_at(const problem *p, const double *y, double at)
{
    double mean;
    hf_posterior *posterior;
    hf_sites *sites = make_sites(p, y);
    bench_must(p->ctx, hf_solve_exact(p->ctx, p->kernel, p->mean, sites, p->x, 1, &posterior), "solve");
    bench_must(p->ctx, hf_predict(p->ctx, posterior, 1, &at, 1, &mean, NULL, NULL), "predict");
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    return mean;
}

/* The number for reading i that moves the mean farthest towards `sign`; how far the mean is then. */
static double best_value(const problem *p, double *y, size_t i, double at, double sign)
{
    const double kept = y[i];
    double best = sign * mean_at(p, y, at), value = kept;
    for (int k = 0; k < 2 * VALUES; k++) {
        y[i] = p->centre[i] + (k % 2 ? 1.0 : -1.0) * 0.05 * pow(1.3, (double)(k / 2));
        const double moved = sign * mean_at(p, y, at);
        if (moved > best) best = moved, value = y[i];
    }
    y[i] = value;
    return best;
}

static double search(const problem *p, size_t count, double at, double sign, double before)
{
    double *y = bench_doubles(p->n), reached = sign * before;
    size_t chosen[MOST];
    memcpy(y, p->y, p->n * sizeof *y);
    for (size_t c = 0; c < count; c++) {
        size_t best = 0;
        double top = -(double)INFINITY;
        for (size_t i = 0; i < p->n; i++) {
            const double kept = y[i], moved = best_value(p, y, i, at, sign);
            if (moved > top) top = moved, best = i;
            y[i] = kept;
        }
        chosen[c] = best;
        reached = best_value(p, y, best, at, sign);
    }
    for (int sweep = 0; sweep < 2; sweep++)
        for (size_t c = 0; c < count; c++) reached = best_value(p, y, chosen[c], at, sign);
    free(y);
    return reached - sign * before;
}

static void report(const problem *p)
{
    hf_sites *sites = make_sites(p, p->y);
    hf_posterior *posterior;
    bench_must(p->ctx, hf_solve_exact(p->ctx, p->kernel, p->mean, sites, p->x, 1, &posterior), "solve");
    double at[POINTS], before[POINTS], damage[POINTS];
    for (size_t k = 0; k < POINTS; k++) at[k] = 10.0 * ((double)k + 0.5) / POINTS;
    bench_must(p->ctx, hf_predict(p->ctx, posterior, POINTS, at, 1, before, NULL, NULL), "predict");
    for (size_t count = 1; count <= MOST; count++) {
        timings certified = {0}, ratio = {0};
        bench_must(p->ctx, hf_certify_readings(p->ctx, posterior, sites, count, POINTS, at, 1, damage, NULL),
                   "readings");
        for (size_t k = 0; k < POINTS; k++) {
            const double found =
                fmax(search(p, count, at[k], 1.0, before[k]), search(p, count, at[k], -1.0, before[k]));
            bench_add(&certified, damage[k]);
            bench_add(&ratio, damage[k] / found);
        }
        printf("| %zu | %g | %zu | %.3g | %.2f |\n", p->n, p->noise, count, bench_median(&certified),
               bench_median(&ratio));
        fflush(stdout);
    }
    hf_posterior_free(posterior);
    hf_sites_free(sites);
}

int main(int argc, char **argv)
{
    static const double NOISES[] = {0.01, 0.1};
    (void)bench_repeats(argc, argv, 1);
    problem p = {.ctx = hf_context_create()};
    if (!p.ctx) return 1;
    hf_context_set_threads(p.ctx, 1);
    bench_must(p.ctx, hf_kernel_parse(p.ctx, "se(lengthscale=1)", NULL, 1, &p.kernel), "kernel");
    bench_must(p.ctx, hf_mean_create(p.ctx, HF_MEAN_ZERO, 1, &p.mean), "mean");
    printf("| n | noise | readings replaced | certified | certified / found |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < 4; k++) {
        hfi_stream stream;
        hfi_stream_init(&stream, 5, HFI_PURPOSE_EXPERIMENT, k);
        p.n = k < 2 ? 15 : 30;
        p.noise = NOISES[k % 2];
        p.x = bench_doubles(p.n);
        p.y = bench_doubles(p.n);
        p.centre = bench_doubles(p.n);
        for (size_t i = 0; i < p.n; i++) {
            p.x[i] = 10.0 * ((double)i + hfi_stream_uniform(&stream)) / (double)p.n;
            p.centre[i] = sin(p.x[i]);
            p.y[i] = p.centre[i] + sqrt(p.noise) * hfi_stream_normal(&stream);
        }
        report(&p);
        free(p.x);
        free(p.y);
        free(p.centre);
    }
    hf_mean_free(p.mean);
    hf_kernel_free(p.kernel);
    hf_context_free(p.ctx);
    return 0;
}
