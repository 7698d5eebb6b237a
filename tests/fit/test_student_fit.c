/* SPDX-License-Identifier: Apache-2.0 */
/* Fits with Student-t noise as a user sees them: wild readings, normal noise, given degrees of freedom, the
 * three methods, odd tables. */
#include "core/core.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 80,
    MANY = 410, /* more than the search for a start looks at */
    D = 2,
    M = 25
};

typedef struct table {
    size_t n;
    double x[MANY * D], y[MANY], noise[MANY], test[M * D];
} table;

typedef struct outcome {
    hf_status status;
    double mean[M], latent[M], variance[M];
    hf_fit_report report;
    hf_reading readings[MANY];
} outcome;

static double truth(const double *x)
{
    return sin(2.0 * x[0]) + 0.4 * x[1];
}

/* Normal noise of sd 0.1; every `each`-th reading, if not 0, is off by 2 to 10. */
static void make(table *t, size_t n, size_t each)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 31, HFI_PURPOSE_TEST, 6);
    memset(t, 0, sizeof *t);
    t->n = n;
    for (size_t k = 0; k < M * D; k++) t->test[k] = 3.0 * hfi_stream_uniform(&stream) - 1.5;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++) t->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        const double shift = 2.0 + 8.0 * hfi_stream_uniform(&stream);
        t->y[i] = truth(t->x + i * D) + 0.1 * hfi_stream_normal(&stream) +
                  (each > 0 && i % each == 2 ? shift : 0.0);
    }
}

static void fit_with(const table *t, const hf_fit_settings *settings, outcome *out)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    const hf_data data = {.n = t->n, .d = D, .x = t->x, .ldx = D, .y = t->y, .noise = t->noise};
    hf_posterior *posterior = NULL;
    out->status = hf_fit_data(ctx, &data, settings, &posterior, &out->report, out->readings);
    if (out->status >= 0)
        assert_int_equal(hf_predict(ctx, posterior, M, t->test, D, out->mean, out->latent, out->variance),
                         HF_OK);
    else
        assert_null(posterior);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

static hf_fit_settings preset(void)
{
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "student-t", &settings, sizeof settings), HF_OK);
    hf_context_free(ctx);
    return settings;
}

static double error_of(const table *t, const outcome *o)
{
    double sum = 0.0;
    for (size_t k = 0; k < M; k++) sum += fabs(o->mean[k] - truth(t->test + k * D)) / M;
    return sum;
}

static void wild_readings_hardly_count(void **state)
{
    (void)state;
    table t;
    outcome o;
    make(&t, N, 10);
    hf_fit_settings settings = preset();
    assert_int_equal(settings.inference, HF_INFERENCE_AUTO);
    for (int m = 0; m <= HF_INFERENCE_VARIATIONAL; m++) {
        settings.inference = (hf_inference)m;
        fit_with(&t, &settings, &o);
        assert_true(o.status >= 0);
        assert_true(error_of(&t, &o) < 0.08);
        assert_true(o.report.nu >= 2.0 && o.report.nu <= 50.0);
        for (size_t i = 0; i < N; i++)
            if (i % 10 == 2) assert_true(o.readings[i].suspected && o.readings[i].weight < 0.05);
    }
}

static void normal_noise_is_fitted_like_normal_noise(void **state)
{
    (void)state;
    table t;
    outcome o, gp;
    make(&t, N, 0);
    hf_fit_settings settings = preset(), plain = settings;
    plain.sites = HF_LIKELIHOOD_GAUSSIAN;
    fit_with(&t, &plain, &gp);
    for (int m = 0; m <= HF_INFERENCE_VARIATIONAL; m++) {
        settings.inference = (hf_inference)m;
        settings.student_nu = 0.0;
        fit_with(&t, &settings, &o);
        assert_true(o.report.nu > 3.0);
        for (size_t k = 0; k < M; k++) assert_near(o.mean[k], gp.mean[k], 0.05);
        /* The limit itself. */
        settings.student_nu = 1e5;
        fit_with(&t, &settings, &o);
        assert_true(o.status >= 0);
        assert_near(o.report.nu, 1e5, 0.0);
        assert_near(o.report.objective, gp.report.objective, 0.02);
        for (size_t k = 0; k < M; k++) {
            assert_near(o.mean[k], gp.mean[k], 2e-3);
            assert_near(o.variance[k], gp.variance[k], 2e-2 * gp.variance[k]);
        }
    }
}

static void given_degrees_of_freedom_are_kept(void **state)
{
    (void)state;
    table t;
    outcome o;
    make(&t, N, 10);
    hf_fit_settings settings = preset();
    settings.student_nu = 1.2;
    fit_with(&t, &settings, &o);
    assert_near(o.report.nu, 1.2, 0.0);
    assert_true(error_of(&t, &o) < 0.1);
    for (size_t k = 0; k < M; k++) assert_true(isfinite(o.variance[k]) && o.variance[k] > o.latent[k]);
    settings.student_nu = 1.0;
    fit_with(&t, &settings, &o);
    assert_int_equal(o.status, HF_ERR_ARGUMENT);
}

/* A start from some of the rows leads to where all of them lead. */
static void large_tables_start_from_some_of_their_rows(void **state)
{
    (void)state;
    table *t = malloc(sizeof *t);
    outcome *a = malloc(sizeof *a);
    assert_true(t && a);
    make(t, MANY, 12);
    t->y[3] = NAN;
    hf_fit_settings settings = preset();
    settings.iterations = 10;
    fit_with(t, &settings, a);
    assert_true(a->status >= 0);
    assert_true(error_of(t, a) < 0.04);
    assert_int_equal(a->report.readings, MANY - 1);
    for (size_t i = 0; i < MANY; i++) {
        if (i == 3) assert_near(a->readings[i].weight, 0.0, 0.0);
        if (i != 3) assert_true(a->readings[i].weight > 0.0); /* all are back */
        if (i != 3 && i % 12 == 2) assert_true(a->readings[i].suspected);
    }
    free(t);
    free(a);
}

static void known_variances_widen_the_noise_of_their_reading(void **state)
{
    (void)state;
    table t;
    outcome plain, known;
    make(&t, N, 0);
    const hf_fit_settings settings = preset();
    t.y[40] += 1.0;
    fit_with(&t, &settings, &plain);
    t.noise[40] = 1.0;
    fit_with(&t, &settings, &known);
    assert_true(plain.readings[40].weight < 0.3);
    assert_true(known.readings[40].weight > 0.6);
}

/* Readings that contradict each other with next to no noise: expectation propagation has no fixed point, and
 * says so. */
static void what_took_the_place_of_expectation_propagation_is_told(void **state)
{
    (void)state;
    table t;
    make(&t, N, 4);
    const hf_assignment set[] = {{"noise", 1e-6}, {"outputscale", 100.0}, {"mean", 0.0}};
    hf_fit_settings settings = preset();
    settings.inference = HF_INFERENCE_EP;
    settings.student_nu = 1.5;
    settings.train = false;
    settings.set = set;
    settings.set_count = 3;
    hf_context *ctx = hf_context_create();
    const hf_data data = {.n = t.n, .d = D, .x = t.x, .ldx = D, .y = t.y};
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL), HF_WARN_NOT_CONVERGED);
    assert_non_null(strstr(hf_context_message(ctx), "Laplace"));
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

static void odd_tables_have_an_answer(void **state)
{
    (void)state;
    table t;
    outcome o;
    const hf_fit_settings settings = preset();
    make(&t, N, 0);
    for (size_t i = 0; i < N; i++) t.y[i] = 3.0; /* constant */
    fit_with(&t, &settings, &o);
    assert_true(o.status >= 0);
    for (size_t k = 0; k < M; k++) assert_near(o.mean[k], 3.0, 1e-3);
    make(&t, 3, 0);
    fit_with(&t, &settings, &o);
    assert_true(o.status >= 0);
    make(&t, N, 10);
    t.y[5] = 1e12;                                                  /* hopelessly far out */
    for (size_t i = 0; i < D; i++) t.x[7 * D + i] = t.x[6 * D + i]; /* a place with two readings */
    fit_with(&t, &settings, &o);
    assert_true(o.status >= 0);
    assert_true(error_of(&t, &o) < 0.1);
    assert_true(o.readings[5].weight < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_readings_hardly_count),
        cmocka_unit_test(normal_noise_is_fitted_like_normal_noise),
        cmocka_unit_test(given_degrees_of_freedom_are_kept),
        cmocka_unit_test(large_tables_start_from_some_of_their_rows),
        cmocka_unit_test(known_variances_widen_the_noise_of_their_reading),
        cmocka_unit_test(what_took_the_place_of_expectation_propagation_is_told),
        cmocka_unit_test(odd_tables_have_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
