/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of tables with codes of categories: codes stay as they are, their order says nothing, and kinds learn
 * from each other. */
#include "posterior/posterior.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 90,
    D = 3,
    KINDS = 3
};

static const char expression[] = "matern52(ard)*category(x2)";
static double x[N * D], y[N];

/* One curve for each kind: two are alike, the third is another. `code` says what they are called. */
static hf_data readings(const double code[KINDS])
{
    hfi_stream stream;
    hfi_stream_init(&stream, 4, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        const size_t kind = i % KINDS;
        const double u = hfi_stream_uniform(&stream), v = hfi_stream_uniform(&stream);
        x[i * D] = 40.0 * u;
        x[i * D + 1] = code[kind];
        x[i * D + 2] = 0.01 * v;
        y[i] = sin(6.0 * u) + (kind == 2 ? 2.0 * cos(7.0 * v) : v) + 0.03 * hfi_stream_normal(&stream);
    }
    return (hf_data){.n = N, .d = D, .x = x, .ldx = D, .y = y};
}

static hf_fit_settings settings_for(hf_solver solver, bool unit)
{
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, "gp", &settings, sizeof settings), HF_OK);
    settings.kernel = expression;
    settings.solver = solver;
    settings.inducing = solver == HF_SOLVER_EXACT ? 0 : 80;
    settings.unit_inputs = unit;
    return settings;
}

static hf_posterior *fit(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                         hf_fit_report *report)
{
    hf_posterior *p = NULL;
    if (hf_fit_data(ctx, data, settings, &p, report, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    assert_true(p->scaling.x_shift[1] == 0.0 && p->scaling.x_scale[1] == 1.0);
    return p;
}

static double error_of(hf_context *ctx, const hf_posterior *p, const double code[KINDS])
{
    double most = 0.0;
    for (size_t k = 0; k < 7 * KINDS; k++) {
        const double u = 0.1 + 0.12 * (double)(k / KINDS), v = 0.55;
        const size_t kind = k % KINDS;
        const double at[D] = {40.0 * u, code[kind], 0.01 * v};
        double mean = 0.0, var = 0.0;
        assert_int_equal(hf_predict(ctx, p, 1, at, D, &mean, &var, NULL), HF_OK);
        most = fmax(most, fabs(mean - sin(6.0 * u) - (kind == 2 ? 2.0 * cos(7.0 * v) : v)));
    }
    return most;
}

static void every_solver_learns_the_kinds(void **state)
{
    (void)state;
    const double code[KINDS] = {0.0, 1.0, 2.0};
    const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < 3; k++) {
        const hf_data data = readings(code);
        hf_fit_settings settings = settings_for(solvers[k], false);
        hf_fit_report report;
        hf_posterior *p = fit(ctx, &data, &settings, &report);
        assert_true(error_of(ctx, p, code) < 0.3);
        hf_posterior_free(p);
    }
    hf_context_free(ctx);
}

/* Codes are names. */
static void other_codes_make_the_same_fit(void **state)
{
    (void)state;
    const double code[KINDS] = {0.0, 1.0, 2.0}, other[KINDS] = {17.0, -3.0, 4.0};
    hf_context *ctx = hf_context_create();
    for (int unit = 0; unit < 2; unit++) {
        hf_fit_settings settings = settings_for(HF_SOLVER_EXACT, unit);
        hf_fit_report a, b;
        hf_data data = readings(code);
        for (size_t i = 0; unit && i < N; i++) x[i * D] /= 40.0, x[i * D + 2] /= 0.01;
        hf_posterior *p = fit(ctx, &data, &settings, &a);
        data = readings(other);
        for (size_t i = 0; unit && i < N; i++) x[i * D] /= 40.0, x[i * D + 2] /= 0.01;
        hf_posterior *q = fit(ctx, &data, &settings, &b);
        assert_true(a.objective == b.objective && a.evaluations == b.evaluations);
        hf_parameter l;
        assert_int_equal(hf_kernel_parameter(hf_posterior_kernel(q), 3, &l), HF_OK);
        assert_string_equal(l.name, "category.lengthscale");
        assert_true(l.value > 0.05 && l.value < 20.0);
        hf_posterior_free(p);
        hf_posterior_free(q);
    }
    hf_context_free(ctx);
}

/* A fit tells the lengthscale that it is held at: no unit of the inputs is in it. */
static void lengthscales_of_codes_are_pure_numbers(void **state)
{
    (void)state;
    const double code[KINDS] = {0.0, 1.0, 2.0};
    const hf_assignment set[] = {{"category.lengthscale", 0.75}};
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(code);
    hf_fit_settings settings = settings_for(HF_SOLVER_EXACT, false);
    hf_assignment list[8];
    settings.set = set;
    settings.set_count = 1;
    hf_posterior *p = fit(ctx, &data, &settings, NULL);
    assert_int_equal(hf_fit_assignments(p, 8, list), 6);
    assert_string_equal(list[3].name, "category.lengthscale");
    assert_true(list[3].value == 0.75);
    hf_posterior_free(p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver_learns_the_kinds),
        cmocka_unit_test(other_codes_make_the_same_fit),
        cmocka_unit_test(lengthscales_of_codes_are_pure_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
