/* SPDX-License-Identifier: Apache-2.0 */
/* The main flows of a program, by one context with several threads, from fit to bounds: no digit
 * differs from what one thread gives. Small and short, so that ThreadSanitizer sees the parallel
 * loops of the library as they follow each other. */
#include "api/readings.h"

#include <holdfast/certify.h>
#include <holdfast/envelope.h>

enum {
    N = 530, /* above the 512 readings from which on a fit uses threads */
    D = 2,
    M = 300, /* several blocks of queries */
    BOXES = 6,
    BOUNDED = 40,
    THREADS = 4
};

static void take(uint64_t *print, const void *values, size_t bytes)
{
    fingerprint_bytes(print, values, bytes);
}

static uint64_t begin(void)
{
    return 14695981039346656037U;
}

/* Means, variances and ranges over boxes of a fit that begins with those settings. */
static uint64_t fit_and_use(hf_context *ctx, const hf_fit_settings *settings)
{
    readings r = readings_make(N, D, settings->suspects == HF_OUTLIERS_OFF ? 0 : 9, 5);
    hf_fit_report report;
    hf_posterior *p = readings_fit(ctx, &r, settings, &report);
    double mean[M], var[M], lower[BOXES * D], upper[BOXES * D];
    const readings at = {.n = M, .d = D, .x = r.x};
    readings_predict(ctx, p, &at, mean, var);
    for (size_t k = 0; k < (size_t)BOXES * D; k++) {
        lower[k] = r.x[k];
        upper[k] = r.x[k] + 0.02;
    }
    hf_range range[BOXES];
    hf_certify_settings limits = hf_certify_settings_default();
    limits.node_limit = 30;
    if (hf_certify_boxes(ctx, p, HF_CERTIFY_MEAN, &limits, BOXES, lower, upper, range, NULL, NULL) < 0)
        fail_msg("%s", hf_context_message(ctx));
    uint64_t print = begin();
    take(&print, mean, sizeof mean);
    take(&print, var, sizeof var);
    take(&print, &report.objective, sizeof report.objective);
    for (size_t k = 0; k < BOXES; k++) {
        take(&print, &range[k].lower, sizeof range[k].lower);
        take(&print, &range[k].upper, sizeof range[k].upper);
    }
    hf_posterior_free(p);
    readings_free(&r);
    return print;
}

static hf_fit_settings brief(const char *preset)
{
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, preset, &settings, sizeof settings), HF_OK);
    settings.iterations = 1;
    settings.rounds = 1;
    settings.restarts = 0;
    return settings;
}

static uint64_t exact(hf_context *ctx)
{
    const hf_fit_settings settings = brief("gp");
    return fit_and_use(ctx, &settings);
}

static uint64_t robust_default(hf_context *ctx)
{
    const hf_fit_settings settings = brief("default");
    return fit_and_use(ctx, &settings);
}

static uint64_t inducing(hf_context *ctx)
{
    hf_fit_settings settings = brief("sgpr");
    settings.inducing = 16;
    return fit_and_use(ctx, &settings);
}

static uint64_t projected(hf_context *ctx)
{
    hf_fit_settings settings = brief("rcagp");
    settings.actions = 16;
    return fit_and_use(ctx, &settings);
}

static uint64_t envelope(hf_context *ctx)
{
    readings r = readings_make(BOUNDED, D, 0, 7), at = readings_make(M, D, 0, 8);
    hf_kernel *kernel = NULL;
    hf_envelope *e = NULL;
    hf_bound *bound = calloc(M, sizeof *bound);
    assert_non_null(bound);
    assert_int_equal(hf_kernel_parse(ctx, "se(lengthscale=1)", NULL, D, &kernel), HF_OK);
    const hf_bounded_readings given = {.n = BOUNDED, .x = r.x, .ldx = D, .y = r.y, .noise_bound = 0.7};
    if (hf_envelope_create(ctx, kernel, &given, 60.0, NULL, &e) < 0 ||
        hf_envelope_bounds_batch(ctx, e, M, at.x, D, NULL, bound) < 0)
        fail_msg("%s", hf_context_message(ctx));
    uint64_t print = begin();
    for (size_t i = 0; i < M; i++) {
        take(&print, &bound[i].lower, sizeof bound[i].lower);
        take(&print, &bound[i].upper, sizeof bound[i].upper);
    }
    free(bound);
    hf_envelope_free(e);
    hf_kernel_free(kernel);
    readings_free(&r);
    readings_free(&at);
    return print;
}

static void same_with_threads(uint64_t (*flow)(hf_context *))
{
    uint64_t print[2];
    for (int k = 0; k < 2; k++) {
        hf_context *ctx = hf_context_create();
        assert_int_equal(hf_context_set_threads(ctx, k == 0 ? 1 : THREADS), HF_OK);
        print[k] = flow(ctx);
        hf_context_free(ctx);
    }
    assert_true(print[0] == print[1]);
}

static void exact_fits(void **state)
{
    (void)state;
    same_with_threads(exact);
}

static void robust_fits(void **state)
{
    (void)state;
    same_with_threads(robust_default);
}

static void inducing_fits(void **state)
{
    (void)state;
    same_with_threads(inducing);
}

static void projected_fits(void **state)
{
    (void)state;
    same_with_threads(projected);
}

static void envelopes(void **state)
{
    (void)state;
    same_with_threads(envelope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_fits),     cmocka_unit_test(robust_fits), cmocka_unit_test(inducing_fits),
        cmocka_unit_test(projected_fits), cmocka_unit_test(envelopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
