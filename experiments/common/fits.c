/* SPDX-License-Identifier: Apache-2.0 */
#include "common/fits.h"
#include "common/clock.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NORMAL_975 = 1.959963984540054; /* 0.975 quantile of the normal distribution */

problem problem_create(size_t n, size_t m, size_t d)
{
    return (problem){.n = n,
                     .m = m,
                     .d = d,
                     .x = room(n * d, sizeof(double)),
                     .y = room(n, sizeof(double)),
                     .wrong = room(n, sizeof(bool)),
                     .tx = room(m * d, sizeof(double)),
                     .ty = room(m, sizeof(double)),
                     .unit = 1.0};
}

void problem_free(problem *p)
{
    free(p->x);
    free(p->y);
    free(p->wrong);
    free(p->tx);
    free(p->ty);
    *p = (problem){0};
}

double sample_sd(size_t n, const double *y)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; ++i) mean += y[i] / (double)n;
    for (size_t i = 0; i < n; ++i) squares += (y[i] - mean) * (y[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

static hf_status settings_of(hf_context *ctx, const char *method, hf_fit_settings *out)
{
    if (strcmp(method, "gp") == 0 || strcmp(method, "oracle") == 0)
        return hf_fit_settings_preset(ctx, "gp", out, sizeof *out);
    if (strcmp(method, "rcgp") == 0) return hf_fit_settings_preset(ctx, "rcgp", out, sizeof *out);
    *out = hf_fit_settings_default();
    if (strcmp(method, "smooth") == 0) {
        out->sites = HF_LIKELIHOOD_ROBUST;
        out->suspects = HF_OUTLIERS_OFF;
    }
    return HF_OK;
}

bool score_predictions(hf_context *ctx, const problem *p, const double *mean, const double *sd, record *out)
{
    hf_metrics metrics;
    if (hf_metrics_gaussian(ctx, p->m, p->ty, mean, sd, &metrics) < 0) {
        fprintf(stderr, "%s\n", hf_context_message(ctx));
        return false;
    }
    out->mae = metrics.mae / p->unit;
    out->rmse = metrics.rmse / p->unit;
    out->nlpd = metrics.nlpd - log(p->unit); /* density of y / unit */
    out->coverage50 = metrics.coverage50;
    out->coverage90 = metrics.coverage90;
    out->coverage95 = metrics.coverage95;
    out->band = 0.0;
    for (size_t i = 0; i < p->m; ++i) out->band += 2.0 * NORMAL_975 * sd[i] / (p->unit * (double)p->m);
    return true;
}

/* `prior`: means of the test rows, or NULL. */
static bool score(hf_context *ctx, const hf_posterior *posterior, const double *prior, const problem *p,
                  record *out)
{
    double *mean = room(p->m, sizeof *mean), *sd = room(p->m, sizeof *sd);
    const double begin = wall_clock();
    bool ok = hf_predict(ctx, posterior, p->m, p->tx, p->d, mean, NULL, sd) >= 0;
    out->predict_seconds = wall_clock() - begin;
    if (!ok) fprintf(stderr, "%s\n", hf_context_message(ctx));
    for (size_t i = 0; ok && i < p->m; ++i) {
        sd[i] = sqrt(sd[i]);
        if (prior) mean[i] += prior[i];
    }
    ok = ok && score_predictions(ctx, p, mean, sd, out);
    free(mean);
    free(sd);
    return ok;
}

/* Adds a row, counted from 1, to a list of rows as text. */
static void list_row(char text[RECORD_ROWS], size_t row)
{
    const size_t used = strlen(text);
    const bool cut = used >= 3 && strcmp(text + used - 3, "...") == 0;
    char word[24];
    if (cut) return;
    const int length = snprintf(word, sizeof word, "%s%zu", used ? " " : "", row + 1);
    const bool fits = used + (size_t)length + sizeof " ..." <= RECORD_ROWS;
    snprintf(text + used, RECORD_ROWS - used, "%s", fits ? word : " ...");
}

static void count_flags(const problem *p, const hf_reading *readings, record *out)
{
    for (size_t i = 0; i < p->n; ++i) {
        if (p->wrong[i]) out->wrong += 1;
        if (!readings[i].suspected) continue;
        if (p->wrong[i]) out->suspected += 1;
        list_row(out->suspect, i);
        /* Suspects of an attempt that was declined are told to the user but have not changed the fit. */
        if (readings[i].weight > 0.25) continue;
        list_row(out->aside, i);
        if (p->wrong[i])
            out->found += 1;
        else
            out->false_flags += 1;
    }
}

bool settings_run(hf_context *ctx, const hf_fit_settings *settings, const problem *p, record *out)
{
    return settings_run_about(ctx, settings, NULL, NULL, p, out);
}

bool settings_run_about(hf_context *ctx, const hf_fit_settings *settings, const double *train,
                        const double *test, const problem *p, record *out)
{
    const hf_data data = {.n = p->n, .d = p->d, .ldx = p->d, .x = p->x, .y = p->y, .mean = train};
    hf_reading *readings = room(p->n, sizeof *readings);
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    const double begin = cpu_clock();
    hf_status status = hf_fit_data(ctx, &data, settings, &posterior, &report, readings);
    if (status >= 0) {
        out->train = p->n;
        out->test = p->m;
        out->wrong = out->found = out->false_flags = out->suspected = 0;
        out->aside[0] = out->suspect[0] = '\0';
        out->adopted = report.suspects_adopted;
        out->kappa = report.calibration;
        out->objective = report.objective + report.log_prior;
        out->evaluations = report.evaluations;
        out->seconds = report.seconds;
        out->cpu_seconds = cpu_clock() - begin;
        count_flags(p, readings, out);
    } else {
        fprintf(stderr, "%s: %s\n", hf_status_name(status), hf_context_message(ctx));
    }
    const bool ok = status >= 0 && score(ctx, posterior, test, p, out);
    hf_posterior_free(posterior);
    free(readings);
    return ok;
}

/* The problem as the oracle sees it: without the damaged rows, and without their inputs (a missing target would
 * leave those in the scaling). */
static problem without_wrong(const problem *p)
{
    problem kept = problem_create(p->n, p->m, p->d);
    kept.n = 0;
    for (size_t i = 0; i < p->n; ++i) {
        if (p->wrong[i]) continue;
        memcpy(kept.x + kept.n * p->d, p->x + i * p->d, p->d * sizeof *p->x);
        kept.y[kept.n++] = p->y[i];
    }
    memcpy(kept.tx, p->tx, p->m * p->d * sizeof *p->tx);
    memcpy(kept.ty, p->ty, p->m * sizeof *p->ty);
    kept.unit = p->unit;
    return kept;
}

bool method_run(hf_context *ctx, const char *method, const problem *p, record *out)
{
    hf_fit_settings settings;
    hf_status status = settings_of(ctx, method, &settings);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", method, hf_context_message(ctx));
        return false;
    }
    if (strcmp(method, "oracle") != 0) return settings_run(ctx, &settings, p, out);
    problem kept = without_wrong(p);
    const bool ok = settings_run(ctx, &settings, &kept, out);
    out->train = p->n;
    problem_free(&kept);
    for (size_t i = 0; i < p->n; ++i) out->wrong += p->wrong[i];
    return ok;
}
