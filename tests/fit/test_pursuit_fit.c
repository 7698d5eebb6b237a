/* SPDX-License-Identifier: Apache-2.0 */
/* Relevance pursuit as a user sees it: clean tables, wrong readings, the two solvers, the order of rows. */
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
    N = 90,
    D = 2,
    M = 25
};

typedef struct table {
    double x[N * D], y[N], test[M * D];
    bool wrong[N];
} table;

typedef struct outcome {
    double mean[M], variance[M];
    hf_fit_report report;
    hf_reading readings[N];
} outcome;

/* A smooth function with normal noise; `wrong` readings, spread over the table, are off by 1 to 9. */
static void make(table *t, size_t wrong)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 21, HFI_PURPOSE_TEST, 4);
    for (size_t k = 0; k < M * D; k++) t->test[k] = 3.0 * hfi_stream_uniform(&stream) - 1.5;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) t->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        const double shift = 1.0 + 8.0 * hfi_stream_uniform(&stream);
        t->wrong[i] = wrong > 0 && i % (N / wrong) == 1;
        t->y[i] = sin(2.0 * t->x[i * D]) + 0.4 * t->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream) +
                  (t->wrong[i] ? shift : 0.0);
    }
}

static void fit(const table *t, const hf_fit_settings *settings, outcome *out)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    const hf_data data = {.n = N, .d = D, .x = t->x, .ldx = D, .y = t->y};
    hf_posterior *posterior = NULL;
    assert_true(hf_fit_data(ctx, &data, settings, &posterior, &out->report, out->readings) >= 0);
    assert_int_equal(hf_predict(ctx, posterior, M, t->test, D, out->mean, NULL, out->variance), HF_OK);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

static hf_fit_settings preset(const char *name)
{
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, name, &settings, sizeof settings), HF_OK);
    hf_context_free(ctx);
    return settings;
}

static void clean_tables_are_fitted_as_if_nothing_had_been_looked_for(void **state)
{
    (void)state;
    table t;
    outcome plain, pursued;
    make(&t, 0);
    const hf_fit_settings gp = preset("gp");
    hf_fit_settings rrp = preset("rrp");
    assert_true(rrp.calibrate);
    rrp.calibrate = false; /* as the plain one */
    fit(&t, &gp, &plain);
    fit(&t, &rrp, &pursued);
    for (size_t i = 0; i < N; i++) assert_near(pursued.readings[i].weight, 1.0, 0.0);
    assert_near(pursued.report.objective, plain.report.objective, 1e-3);
    for (size_t k = 0; k < M; k++) {
        assert_near(pursued.mean[k], plain.mean[k], 2e-3);
        assert_near(pursued.variance[k], plain.variance[k], 2e-2 * plain.variance[k]);
    }
}

static void check_found(const table *t, const outcome *o)
{
    size_t others = 0;
    for (size_t i = 0; i < N; i++) {
        if (t->wrong[i]) assert_true(o->readings[i].suspected && o->readings[i].weight < 0.05);
        others += o->readings[i].suspected && !t->wrong[i];
    }
    assert_true(others <= 1);
    double error = 0.0, variance = 0.0;
    for (size_t k = 0; k < M; k++) {
        error += fabs(o->mean[k] - sin(2.0 * t->test[k * D]) - 0.4 * t->test[k * D + 1]) / M;
        variance += o->variance[k] / M;
    }
    assert_true(error < 0.06);
    /* Not the noise of what is left when too much was taken away: the true one is 0.01. */
    assert_true(variance > 0.009 && variance < 0.04);
}

static void wrong_readings_are_found_and_the_noise_is_that_of_the_others(void **state)
{
    (void)state;
    const size_t wrong[] = {3, 9, 18};
    hf_fit_settings settings = preset("rrp");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        for (int inducing = 0; inducing < 2; inducing++) {
            table t;
            outcome o;
            make(&t, wrong[k]);
            settings.solver = inducing ? HF_SOLVER_INDUCING : HF_SOLVER_EXACT;
            fit(&t, &settings, &o);
            check_found(&t, &o);
        }
}

static void all_rows_as_inducing_inputs_give_the_exact_fit(void **state)
{
    (void)state;
    table t;
    outcome exact, inducing;
    make(&t, 9);
    hf_fit_settings settings = preset("rrp");
    settings.kernel = "matern32(ard)"; /* rough enough for a choice of all rows */
    settings.calibrate = false;
    settings.solver = HF_SOLVER_EXACT;
    fit(&t, &settings, &exact);
    settings.solver = HF_SOLVER_INDUCING;
    settings.inducing = N;
    fit(&t, &settings, &inducing);
    assert_int_equal(inducing.report.inducing, N);
    assert_near(inducing.report.objective, exact.report.objective, 1e-2);
    for (size_t k = 0; k < M; k++) {
        assert_near(inducing.mean[k], exact.mean[k], 2e-3);
        assert_near(inducing.variance[k], exact.variance[k], 2e-2 * exact.variance[k]);
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(inducing.readings[i].suspected, exact.readings[i].suspected);
        assert_near(inducing.readings[i].weight, exact.readings[i].weight, 1e-2);
    }
}

static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    table t, turned;
    outcome a, b;
    make(&t, 9);
    turned = t;
    for (size_t i = 0; i < N; i++) {
        memcpy(turned.x + i * D, t.x + (N - 1 - i) * D, D * sizeof *t.x);
        turned.y[i] = t.y[N - 1 - i];
    }
    const hf_fit_settings settings = preset("rrp");
    fit(&t, &settings, &a);
    fit(&turned, &settings, &b);
    for (size_t k = 0; k < M; k++) assert_near(a.mean[k], b.mean[k], 2e-3);
    for (size_t i = 0; i < N; i++) assert_near(a.readings[i].weight, b.readings[N - 1 - i].weight, 1e-2);
}

static void missing_readings_and_held_hyperparameters(void **state)
{
    (void)state;
    table t;
    outcome o;
    make(&t, 9);
    t.y[0] = t.y[5] = NAN;
    const hf_assignment set[] = {{"noise", 0.01}, {"mean", 0.0}};
    hf_fit_settings settings = preset("rrp");
    settings.set = set;
    settings.set_count = 2;
    fit(&t, &settings, &o);
    check_found(&t, &o);
    assert_int_equal(o.report.missing, 2);
    assert_near(o.readings[5].weight, 0.0, 0.0);
    assert_false(o.readings[5].suspected);
    settings.train = false;
    fit(&t, &settings, &o);
    for (size_t i = 0; i < N; i++)
        if (t.wrong[i] && fabs(t.y[i]) > 4.0) assert_true(o.readings[i].suspected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_tables_are_fitted_as_if_nothing_had_been_looked_for),
        cmocka_unit_test(wrong_readings_are_found_and_the_noise_is_that_of_the_others),
        cmocka_unit_test(all_rows_as_inducing_inputs_give_the_exact_fit),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(missing_readings_and_held_hyperparameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
