/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_control.h"
#include "common/env_matlab.h"
#include "common/env_nlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = REACTOR_STATES + 1,
    BOUNDS = 2 * REACTOR_STATES /* constraints a step */
};

hf_posterior *control_fit(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                          double lengthscale, double var)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    hf_status status = hf_kernel_parse(ctx, "se", NULL, d, &kernel);
    if (status >= 0) status = hf_kernel_set(ctx, kernel, "lengthscale", lengthscale);
    if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean);
    if (status >= 0) status = hf_sites_gaussian(ctx, n, y, var, NULL, &sites);
    if (status >= 0) status = hf_solve_exact(ctx, kernel, mean, sites, x, d, &posterior);
    if (status < 0) fprintf(stderr, "fit: %s: %s\n", hf_status_name(status), hf_context_message(ctx));
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return posterior;
}

bool control_model_create(hf_context *ctx, size_t samples, double noise, double var,
                          const double lengthscale[REACTOR_STATES], control_model *out)
{
    const double low[INPUTS] = {reactor_low[0], reactor_low[1], REACTOR_FEED_LOW},
                 high[INPUTS] = {reactor_high[0], reactor_high[1], REACTOR_FEED_HIGH};
    py_random stream;
    double *x = matlab_grid(&stream, samples, INPUTS, low, high), *y = malloc(2 * samples * sizeof *y);
    bool ok = y != NULL;
    *out = (control_model){0};
    for (size_t i = 0; ok && i < samples; ++i) {
        double next[REACTOR_STATES];
        reactor_step(x + i * INPUTS, x[i * INPUTS + 2], next);
        for (size_t j = 0; j < REACTOR_STATES; ++j)
            y[j * samples + i] = next[j] + py_between(&stream, -noise, noise);
    }
    for (size_t j = 0; ok && j < REACTOR_STATES; ++j) {
        out->posterior[j] = control_fit(ctx, samples, INPUTS, x, y + j * samples, lengthscale[j], var);
        if (out->posterior[j]) out->work[j] = hf_posterior_workspace_create(ctx, out->posterior[j]);
        ok = out->work[j] != NULL;
    }
    free(x);
    free(y);
    return ok;
}

void control_model_free(control_model *model)
{
    for (size_t j = 0; j < REACTOR_STATES; ++j) {
        hf_posterior_workspace_free(model->work[j]);
        hf_posterior_free(model->posterior[j]);
    }
}

/* ---- the control problem ------------------------------------------------------------------------------- */

typedef struct problem_of {
    const control_model *model;
    double start[REACTOR_STATES];
    size_t steps;
} problem_of;

/* (x - r)'W(x - r), W = {a, b; b, c}; adds its gradient in u, s being d x / d u. */
static double square(const double *x, double a, double b, double c, size_t steps,
                     const double s[REACTOR_STATES][CONTROL_STEPS], double *gradient)
{
    const double p = x[0] - reactor_target[0], q = x[1] - reactor_target[1];
    for (size_t k = 0; gradient && k < steps; ++k)
        gradient[k] += 2.0 * ((a * p + b * q) * s[0][k] + (b * p + c * q) * s[1][k]);
    return a * p * p + 2.0 * b * p * q + c * q * q;
}

/* One step of the model; s becomes d next / d u. */
static void advance(const control_model *model, const double *x, size_t k, size_t steps, double u,
                    double s[REACTOR_STATES][CONTROL_STEPS], double *next)
{
    const double input[INPUTS] = {x[0], x[1], u};
    double slope[REACTOR_STATES][INPUTS];
    for (size_t j = 0; j < REACTOR_STATES; ++j)
        hf_predict_latent(model->posterior[j], model->work[j], input, &next[j], NULL, slope[j], NULL);
    for (size_t i = 0; i < steps; ++i) {
        const double a = s[0][i], b = s[1][i], own = i == k ? 1.0 : 0.0;
        for (size_t j = 0; j < REACTOR_STATES; ++j)
            s[j][i] = slope[j][0] * a + slope[j][1] * b + slope[j][2] * own;
    }
}

static void constrain(const double *x, const double s[REACTOR_STATES][CONTROL_STEPS], size_t steps, double *g,
                      double *slopes)
{
    for (size_t j = 0; j < REACTOR_STATES; ++j) {
        g[2 * j] = x[j] - reactor_high[j];
        g[2 * j + 1] = reactor_low[j] - x[j];
        for (size_t i = 0; slopes && i < steps; ++i) {
            slopes[2 * j * steps + i] = s[j][i];
            slopes[(2 * j + 1) * steps + i] = -s[j][i];
        }
    }
}

static double evaluate(const double *u, double *gradient, double *g, double *slopes, void *user)
{
    const problem_of *p = user;
    const size_t steps = p->steps;
    double x[REACTOR_STATES] = {p->start[0], p->start[1]}, s[REACTOR_STATES][CONTROL_STEPS] = {{0}},
           sum = 0.0;
    if (gradient) memset(gradient, 0, steps * sizeof *gradient);
    for (size_t k = 0; k < steps; ++k) {
        double next[REACTOR_STATES];
        const double off = u[k] - REACTOR_FEED_TARGET;
        sum += square(x, 0.2, 0.0, 1.0, steps, (const double(*)[CONTROL_STEPS])s, gradient) + 0.1 * off * off;
        if (gradient) gradient[k] += 0.2 * off;
        advance(p->model, x, k, steps, u[k], s, next);
        memcpy(x, next, sizeof x);
        if (g)
            constrain(x, (const double(*)[CONTROL_STEPS])s, steps, g + BOUNDS * k,
                      slopes ? slopes + BOUNDS * k * steps : NULL);
    }
    return sum + square(x, 14.46, 13.56, 62.22, steps, (const double(*)[CONTROL_STEPS])s, gradient);
}

bool control_solve(const control_model *model, const double x[REACTOR_STATES], size_t steps, bool ipopt,
                   double *u)
{
    problem_of p = {.model = model, .start = {x[0], x[1]}, .steps = steps};
    const env_nlp nlp = {.n = steps,
                         .m = BOUNDS * steps,
                         .low = REACTOR_FEED_LOW,
                         .high = REACTOR_FEED_HIGH,
                         .evaluate = evaluate,
                         .user = &p};
    for (size_t k = 0; k < steps; ++k) u[k] = REACTOR_FEED_TARGET;
    return env_nlp_solve(&nlp, ipopt, u);
}
