/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file readings.h
 * @brief Readings of a smooth function with noise and, if wanted, wrong ones; a fit of them and
 * predictions.
 */
#ifndef TESTS_API_READINGS_H
#define TESTS_API_READINGS_H

#include "api/workshop.h"

typedef struct readings {
    size_t n, d;
    double *x, *y;
} readings;

/* About normal: twelve uniforms. */
static inline double readings_noise(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += workshop_uniform(state);
    return sum;
}

/* y = sin(2 x_0) + x_1 + x_1 x_2 / 2 ... + 0.1 noise; `wrong` of them are far off. */
static inline readings readings_make(size_t n, size_t d, size_t wrong, uint64_t seed)
{
    readings r = {
        .n = n, .d = d, .x = malloc(n * d * sizeof(double)), .y = malloc(n * sizeof(double))};
    assert_true(r.x != NULL && r.y != NULL);
    uint64_t state = seed * 2654435761U + 1;
    for (size_t i = 0; i < n; i++) {
        double *x = r.x + i * d;
        for (size_t j = 0; j < d; j++) x[j] = 3.0 * workshop_uniform(&state);
        r.y[i] = sin(2.0 * x[0]) + 0.1 * readings_noise(&state);
        for (size_t j = 1; j < d; j++) r.y[i] += 0.5 * x[j] * x[j - 1];
        if (wrong > 0 && i % (n / wrong) == 2) r.y[i] += i % 4 < 2 ? 12.0 : -15.0;
    }
    return r;
}

static inline void readings_free(readings *r)
{
    free(r->x);
    free(r->y);
}

/* Fits; the test fails with the message if that does not work. */
static inline hf_posterior *readings_fit(hf_context *ctx, const readings *r,
                                         const hf_fit_settings *settings, hf_fit_report *report)
{
    const hf_data data = {.n = r->n, .d = r->d, .x = r->x, .ldx = r->d, .y = r->y};
    hf_posterior *posterior = NULL;
    if (hf_fit_data(ctx, &data, settings, &posterior, report, NULL) < 0)
        fail_msg("%s", hf_context_message(ctx));
    return posterior;
}

/* Mean and observed variance at the rows of `at`. */
static inline void readings_predict(hf_context *ctx, const hf_posterior *posterior,
                                    const readings *at, double *mean, double *var)
{
    if (hf_predict(ctx, posterior, at->n, at->x, at->d, mean, NULL, var) < 0)
        fail_msg("%s", hf_context_message(ctx));
}

#endif
