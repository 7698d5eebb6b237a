/* SPDX-License-Identifier: Apache-2.0 */
/* How fast this machine is at what fits are made of, and amounts in words. */
#include "shell/tool.h"

#include <math.h>
#include <stdlib.h>

/* One evaluation of the exact objective on so many readings: a fifth of a second on a small machine. */
enum {
    READINGS = 1000
};

typedef struct trial {
    double *x, *y, *gradient;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
} trial;

static hf_status prepare_speed_trial(hf_context *ctx, trial *t)
{
    t->x = calloc(READINGS, sizeof *t->x);
    t->y = calloc(READINGS, sizeof *t->y);
    if (t->x == NULL || t->y == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < READINGS; i++) {
        t->x[i] = 0.01 * (double)i;
        t->y[i] = sin(t->x[i]);
    }
    hf_status status = hf_kernel_parse(ctx, NULL, NULL, 1, &t->kernel);
    if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_ZERO, 1, &t->mean);
    if (status >= 0) status = hf_sites_gaussian(ctx, READINGS, t->y, 0.1, NULL, &t->sites);
    if (status < 0) return status;
    t->gradient = calloc(hf_kernel_parameters(t->kernel) + 1, sizeof *t->gradient);
    return t->gradient != NULL ? HF_OK : HF_ERR_MEMORY;
}

double flops_per_second(hf_context *ctx)
{
    const double n = READINGS, flops = n * n * n + 20.0 * n * n; /* as hf_fit_cost() counts */
    trial t = {0};
    double value, best = INFINITY;
    hf_status status = prepare_speed_trial(ctx, &t);
    /* The first one pays for pages and threads. */
    for (int k = 0; k < 2 && status >= 0; k++) {
        const double begin = tool_now();
        status = hf_objective_evaluate(ctx, HF_OBJECTIVE_EVIDENCE, t.kernel, t.mean, t.sites, t.x, 1, &value,
                                       t.gradient);
        best = fmin(best, tool_now() - begin);
    }
    hf_sites_free(t.sites);
    hf_mean_free(t.mean);
    hf_kernel_free(t.kernel);
    TOOL_FREE(t.gradient, t.y, t.x);
    return status >= 0 ? flops / best : NAN;
}

const char *time_in_words(double seconds, char words[TOOL_WORDS])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (seconds < 2 * units[i].seconds) continue;
        snprintf(words, TOOL_WORDS, "%.0f %s", seconds / units[i].seconds, units[i].name);
        return words;
    }
    snprintf(words, TOOL_WORDS, seconds < 0.95 ? "%.1f seconds" : "%.0f seconds", fmax(seconds, 0.1));
    return words;
}

const char *bytes_in_words(double bytes, char words[TOOL_WORDS])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    size_t i = 0;
    double amount = bytes / 1e3;
    while (amount >= 999.5 && i + 1 < sizeof units / sizeof units[0]) {
        amount /= 1e3;
        i++;
    }
    snprintf(words, TOOL_WORDS, "%.3g %s", amount, units[i]);
    return words;
}
