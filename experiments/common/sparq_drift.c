/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_drift.h"

#include <math.h>
#include <string.h>

enum {
    SURVEY = 60,
    EVEN = 500,
    GRID = 2000
};

static const double lower = -50.0, upper = 50.0;

static double f(double x, double t)
{
    const double from = x - 5.0 * sin(0.1 * t);
    return exp(-0.05 * from * from) + 0.5 * cos(0.2 * x) + 1.5;
}

static double grid_place(size_t i)
{
    return lower + (upper - lower) * (double)i / GRID;
}

static double value(const void *user, size_t step, const double *x, size_t index)
{
    (void)user;
    (void)index;
    return f(*x, (double)step);
}

/* The best of the grid, then golden sections between its neighbours. */
static double best(const void *user, size_t step)
{
    (void)user;
    const double t = (double)step, golden = 0.6180339887498949;
    size_t at = 0;
    for (size_t i = 1; i <= GRID; ++i)
        if (f(grid_place(i), t) > f(grid_place(at), t)) at = i;
    double a = grid_place(at > 0 ? at - 1 : 0), b = grid_place(at < GRID ? at + 1 : GRID);
    for (int k = 0; k < 60; ++k) {
        const double left = b - golden * (b - a), right = a + golden * (b - a);
        if (f(left, t) > f(right, t))
            b = right;
        else
            a = left;
    }
    return fmax(f(0.5 * (a + b), t), f(grid_place(at), t));
}

sparq_world drift_world(size_t steps)
{
    return (sparq_world){.domain = {.dimension = 1, .lower = &lower, .upper = &upper},
                         .steps = steps,
                         .noise_sd = sqrt(DRIFT_NOISE),
                         .least = 1.0,
                         .most = 3.0,
                         .value = value,
                         .best = best};
}

static bool fine(hf_context *ctx, hf_status status)
{
    if (status < 0) fprintf(stderr, "survey: %s\n", hf_context_message(ctx));
    return status >= 0;
}

/* A track that only remembers. */
static hf_track *recorder(hf_context *ctx, const char *kernel, size_t count, const double *x, const double *y)
{
    hf_track_settings settings = hf_track_settings_default(HF_TRACK_GP_UCB);
    const sparq_world world = drift_world(1);
    hf_track *track = NULL;
    settings.domain = world.domain;
    settings.noise = DRIFT_NOISE;
    settings.kernel = kernel;
    bool ok = fine(ctx, hf_track_create(ctx, &settings, &track));
    for (size_t i = 0; ok && i < count; ++i)
        ok = fine(ctx, hf_track_tell(ctx, track, 0.0, x + i, y[i], 0.0, NULL));
    if (ok) return track;
    hf_track_free(track);
    return NULL;
}

static bool fit_kernel(hf_context *ctx, const double *x, const double *y, drift_survey *out)
{
    hf_track *track = recorder(ctx, "se(outputscale~0.3, lengthscale~5)", SURVEY, x, y);
    bool ok = track && fine(ctx, hf_track_fit(ctx, track));
    const hf_kernel *kernel = ok ? hf_track_kernel(track) : NULL;
    for (size_t i = 0; ok && i < hf_kernel_parameters(kernel); ++i) {
        hf_parameter parameter;
        ok = fine(ctx, hf_kernel_parameter(kernel, i, &parameter));
        if (!ok) break;
        if (strcmp(parameter.name, "lengthscale") == 0) out->lengthscale = parameter.value;
        if (strcmp(parameter.name, "outputscale") == 0) out->variance = parameter.value;
    }
    hf_track_free(track);
    snprintf(out->kernel, sizeof out->kernel, "se(outputscale=%.6g, lengthscale=%.6g)", out->variance,
             out->lengthscale);
    return ok;
}

static bool ask_norm(hf_context *ctx, const double *x, const double *y, drift_survey *out)
{
    double centred[SURVEY], mean = 0.0;
    hf_kernel *kernel = NULL;
    hf_norm_point whole;
    for (size_t i = 0; i < SURVEY; ++i) mean += y[i] / SURVEY;
    for (size_t i = 0; i < SURVEY; ++i) centred[i] = y[i] - mean;
    const hf_bounded_readings readings = {
        .n = SURVEY, .x = x, .ldx = 1, .y = centred, .noise_bound = 4.0 * sqrt(DRIFT_NOISE)};
    const bool ok = fine(ctx, hf_kernel_parse(ctx, out->kernel, NULL, 1, &kernel)) &&
                    fine(ctx, hf_norm_estimate(ctx, kernel, &readings, 1, &whole));
    if (ok) out->norm = whole.norm;
    hf_kernel_free(kernel);
    return ok;
}

static bool ask_information(hf_context *ctx, drift_survey *out)
{
    double x[EVEN], y[EVEN] = {0.0}, place;
    hf_suggestion suggestion = {0};
    for (size_t i = 0; i < EVEN; ++i) x[i] = lower + (upper - lower) * ((double)i + 0.5) / EVEN;
    hf_track *track = recorder(ctx, out->kernel, EVEN, x, y);
    const bool ok = track && fine(ctx, hf_track_ask(ctx, track, 0.0, &place, &suggestion));
    out->information = suggestion.information;
    hf_track_free(track);
    return ok;
}

bool drift_survey_make(hf_context *ctx, uint64_t seed, drift_survey *out)
{
    draws stream = {.state = 0x5eed0000u + seed};
    double x[SURVEY], y[SURVEY];
    for (size_t i = 0; i < SURVEY; ++i) {
        x[i] = lower + (upper - lower) * draw_uniform(&stream);
        y[i] = f(x[i], 0.0) + sqrt(DRIFT_NOISE) * draw_normal(&stream);
    }
    *out = (drift_survey){0};
    return fit_kernel(ctx, x, y, out) && ask_norm(ctx, x, y, out) && ask_information(ctx, out);
}

void drift_change(size_t steps, double *largest, double *mean)
{
    *largest = *mean = 0.0;
    for (size_t t = 1; t <= steps; ++t) {
        double change = 0.0;
        for (size_t i = 0; i <= GRID; ++i)
            change = fmax(change, fabs(f(grid_place(i), (double)t + 1.0) - f(grid_place(i), (double)t)));
        *largest = fmax(*largest, change);
        *mean += change / (double)steps;
    }
}

void drift_references(size_t steps, double *random, double *worst, double *fixed)
{
    double bests = 0.0, worsts = 0.0;
    for (size_t t = 1; t <= steps; ++t) {
        double least = INFINITY;
        for (size_t i = 0; i <= GRID; ++i) least = fmin(least, f(grid_place(i), (double)t));
        bests += best(NULL, t) / (double)steps;
        worsts += least / (double)steps;
    }
    *random = *fixed = 0.0;
    double highest = -INFINITY;
    for (size_t i = 0; i <= GRID; ++i) {
        double average = 0.0;
        for (size_t t = 1; t <= steps; ++t) average += f(grid_place(i), (double)t) / (double)steps;
        highest = fmax(highest, average);
        *random += (bests - average) / (GRID + 1);
    }
    *worst = bests - worsts;
    *fixed = bests - highest;
}
