/* SPDX-License-Identifier: Apache-2.0 */
#include "common/scale_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void scale_check_heading(void)
{
    puts("\nVariance of the function at the test rows beside the exact posterior's, same hyperparameters and "
         "weights. Below: "
         "by more than 1e-9 of it.\n\n"
         "| set | n | solver | budget used | least ratio | mean ratio | below exact, % of rows | mean, off "
         "by (exact sd, "
         "rms) |\n|---|---|---|---|---|---|---|---|");
}

/* A problem in standardised units with sites that are fixed, and its exact posterior at the test rows. */
typedef struct bench {
    const problem *data;
    double *x, *tx; /* standardised */
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double *exact_mean, *exact_var, *other_mean, *other_var; /* m each */
} bench;

static void bench_free(bench *b)
{
    free(b->x);
    free(b->exact_mean);
    hf_kernel_free(b->kernel);
    hf_mean_free(b->mean);
    hf_sites_free(b->sites);
}

static bool standardise(bench *b)
{
    const problem *p = b->data;
    b->x = malloc((p->n + p->m) * p->d * sizeof *b->x);
    b->exact_mean = malloc(4 * p->m * sizeof *b->exact_mean);
    if (!b->x || !b->exact_mean) return false;
    b->tx = b->x + p->n * p->d;
    b->exact_var = b->exact_mean + p->m;
    b->other_mean = b->exact_var + p->m;
    b->other_var = b->other_mean + p->m;
    for (size_t j = 0; j < p->d; ++j) {
        double mean = 0.0, squares = 0.0;
        for (size_t i = 0; i < p->n; ++i) mean += p->x[i * p->d + j] / (double)p->n;
        for (size_t i = 0; i < p->n; ++i) squares += pow(p->x[i * p->d + j] - mean, 2.0) / (double)p->n;
        const double sd = squares > 0.0 ? sqrt(squares) : 1.0;
        for (size_t i = 0; i < p->n; ++i) b->x[i * p->d + j] = (p->x[i * p->d + j] - mean) / sd;
        for (size_t i = 0; i < p->m; ++i) b->tx[i * p->d + j] = (p->tx[i * p->d + j] - mean) / sd;
    }
    return true;
}

/* Gaussian sites with the variances that the weights make of the noise: d = noise / weight. */
static hf_status weighted_sites(hf_context *ctx, bench *b, double noise, const hf_reading *readings)
{
    const size_t n = b->data->n;
    double *extra = malloc(n * sizeof *extra);
    if (!extra) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; ++i) extra[i] = noise / fmax(readings[i].weight, 1e-6) - noise;
    const hf_status status = hf_sites_gaussian(ctx, n, b->data->y, noise, extra, &b->sites);
    free(extra);
    return status;
}

static hf_status learn(hf_context *ctx, bench *b)
{
    const problem *p = b->data;
    const hf_data data = {.n = p->n, .d = p->d, .x = b->x, .ldx = p->d, .y = p->y};
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    hf_reading *readings = calloc(p->n, sizeof *readings);
    hf_status status =
        readings ? hf_fit_settings_preset(ctx, "rcsvgp", &settings, sizeof settings) : HF_ERR_MEMORY;
    settings.standardise = false; /* so that kernel and mean are in the units of b->x and y */
    if (status >= 0) status = hf_fit_data(ctx, &data, &settings, &posterior, &report, readings);
    if (status >= 0) status = hf_kernel_copy(ctx, hf_posterior_kernel(posterior), &b->kernel);
    if (status >= 0) status = hf_mean_copy(ctx, hf_posterior_mean_function(posterior), &b->mean);
    if (status >= 0) status = weighted_sites(ctx, b, hf_posterior_noise(posterior), readings);
    hf_posterior_free(posterior);
    free(readings);
    return status;
}

static hf_status predict(hf_context *ctx, const bench *b, hf_posterior *posterior, double *mean, double *var)
{
    const hf_status status = hf_predict(ctx, posterior, b->data->m, b->tx, b->data->d, mean, var, NULL);
    hf_posterior_free(posterior);
    return status;
}

static void compare(const bench *b, const char *set, const char *solver, size_t used)
{
    double least = INFINITY, ratios = 0.0, squares = 0.0;
    size_t below = 0;
    const double m = (double)b->data->m;
    for (size_t i = 0; i < b->data->m; ++i) {
        const double ratio = b->other_var[i] / b->exact_var[i];
        least = fmin(least, ratio);
        ratios += ratio / m;
        below += ratio < 1.0 - 1e-9;
        squares += pow(b->other_mean[i] - b->exact_mean[i], 2.0) / b->exact_var[i] / m;
    }
    printf("| %s | %zu | %s | %zu | %.10f | %.3f | %.1f | %.3f |\n", set, b->data->n, solver, used, least,
           ratios, 100.0 * (double)below / m, sqrt(squares));
}

static hf_status projected(hf_context *ctx, const bench *b, const char *set, hf_actions actions, size_t size)
{
    const hf_projection choice = {.size = sizeof choice, .actions = actions, .count = size, .inducing = size};
    hf_projection_report report;
    hf_posterior *posterior = NULL;
    hf_status status =
        hf_solve_projected(ctx, b->kernel, b->mean, b->sites, b->x, b->data->d, &choice, &posterior, &report);
    if (status >= 0) status = predict(ctx, b, posterior, b->other_mean, b->other_var);
    if (status >= 0)
        compare(b, set, actions == HF_ACTIONS_KRYLOV ? "projected, Krylov" : "projected, inducing",
                report.actions);
    return status;
}

static hf_status inducing(hf_context *ctx, const bench *b, const char *set, size_t size)
{
    const size_t d = b->data->d;
    size_t chosen = 0;
    hf_posterior *posterior = NULL;
    double *z = malloc(size * d * sizeof *z);
    hf_status status =
        z ? hf_choose_inducing(ctx, b->kernel, HF_INDUCING_GREEDY, b->data->n, b->x, d, size, z, &chosen)
          : HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_solve_inducing(ctx, b->kernel, b->mean, b->sites, b->x, d, HF_INDUCING_VFE, chosen, z, d,
                                   &posterior);
    if (status >= 0) status = predict(ctx, b, posterior, b->other_mean, b->other_var);
    if (status >= 0) compare(b, set, "inducing, VFE", chosen);
    free(z);
    return status;
}

bool scale_check(hf_context *ctx, const char *set, const problem *data, const words *sizes)
{
    bench b = {.data = data};
    hf_posterior *posterior = NULL;
    hf_status status = standardise(&b) ? learn(ctx, &b) : HF_ERR_MEMORY;
    if (status >= 0) status = hf_solve_exact(ctx, b.kernel, b.mean, b.sites, b.x, data->d, &posterior);
    if (status >= 0) status = predict(ctx, &b, posterior, b.exact_mean, b.exact_var);
    for (size_t k = 0; k < sizes->count && status >= 0; ++k) {
        const size_t size = (size_t)strtoul(sizes->items[k], NULL, 10);
        if (size > data->n) continue;
        status = projected(ctx, &b, set, HF_ACTIONS_KRYLOV, size);
        if (status >= 0) status = projected(ctx, &b, set, HF_ACTIONS_INDUCING, size);
        if (status >= 0) status = inducing(ctx, &b, set, size);
    }
    if (status < 0) fprintf(stderr, "%s: %s: %s\n", set, hf_status_name(status), hf_context_message(ctx));
    bench_free(&b);
    return status >= 0;
}
