/* SPDX-License-Identifier: Apache-2.0 */
/* Fits that start from an earlier one, fits that are held at it, and readings that are set aside without asking. */
#include "core/core.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 120,
    BEFORE = 100, /* of them an earlier fit has seen */
    D = 3,
    NAMES = 8
};

static double x[N * D], y[N];

/* Every tenth of the readings is wrong by `wrong`. */
static hf_data readings(size_t n, double wrong)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        double *u = x + i * D;
        for (size_t j = 0; j < D; j++) u[j] = hfi_stream_uniform(&stream);
        y[i] = 3.0 + sin(6.0 * u[0]) + 2.0 * u[1] * u[2] + 0.05 * hfi_stream_normal(&stream);
        if (i % 10 == 3) y[i] += wrong;
    }
    return (hf_data){.n = n, .d = D, .x = x, .ldx = D, .y = y};
}

typedef struct fitted {
    hf_posterior *posterior;
    hf_fit_report report;
    hf_reading reading[N];
} fitted;

static void fit(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings, fitted *out)
{
    if (hf_fit_data(ctx, data, settings, &out->posterior, &out->report, out->reading) < 0)
        fail_msg("%s", hf_context_message(ctx));
}

static double total(const fitted *f)
{
    return f->report.objective + f->report.log_prior;
}

static hf_fit_settings settings_for(hf_solver solver, hf_outliers suspects)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.solver = solver;
    settings.suspects = suspects;
    settings.unit_inputs = true;
    settings.lengthscale_prior = HF_PRIOR_DIMENSION;
    settings.inducing = solver == HF_SOLVER_EXACT ? 0 : 30;
    settings.inducing_choice = HF_INDUCING_KMEANS; /* the same ones wherever the kernel starts */
    return settings;
}

static double largest_difference(hf_context *ctx, const fitted *a, const fitted *b)
{
    double most = 0.0;
    for (size_t k = 0; k < 5; k++) {
        const double at[D] = {0.1 + 0.2 * (double)k, 0.7, 0.9 - 0.15 * (double)k};
        double mean[2], var[2];
        assert_int_equal(hf_predict(ctx, a->posterior, 1, at, D, &mean[0], &var[0], NULL), HF_OK);
        assert_int_equal(hf_predict(ctx, b->posterior, 1, at, D, &mean[1], &var[1], NULL), HF_OK);
        most = fmax(most, fmax(fabs(mean[0] - mean[1]), fabs(sqrt(var[0]) - sqrt(var[1]))));
    }
    return most;
}

/* With a fifth more readings: the same place, in a part of the evaluations. */
static void assert_warm_ends_where_cold_does(hf_solver solver, hf_outliers suspects, double wrong)
{
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = settings_for(solver, suspects);
    hf_assignment start[NAMES];
    fitted before, cold, warm;
    const hf_data some = readings(BEFORE, wrong), all = readings(N, wrong);
    fit(ctx, &some, &settings, &before);
    fit(ctx, &all, &settings, &cold);
    settings.start_count = hf_fit_assignments(before.posterior, NAMES, start);
    assert_int_equal(settings.start_count, 1 + D + 2);
    settings.start = start;
    settings.warm = true;
    fit(ctx, &all, &settings, &warm);
    assert_true(fabs(total(&warm) - total(&cold)) < 0.05);
    assert_true(largest_difference(ctx, &warm, &cold) < 0.02);
    assert_true(10 * warm.report.evaluations <= 7 * cold.report.evaluations);
    assert_int_equal(warm.report.suspects_adopted, cold.report.suspects_adopted);
    assert_int_equal(cold.report.suspects_adopted, wrong != 0.0);
    for (size_t i = 0; i < N; i++) assert_true(warm.reading[i].weight == cold.reading[i].weight);
    hf_posterior_free(before.posterior);
    hf_posterior_free(cold.posterior);
    hf_posterior_free(warm.posterior);
    hf_context_free(ctx);
}

static void warm_fits_end_where_cold_ones_do(void **state)
{
    (void)state;
    assert_warm_ends_where_cold_does(HF_SOLVER_EXACT, HF_OUTLIERS_OFF, 0.0);
    assert_warm_ends_where_cold_does(HF_SOLVER_EXACT, HF_OUTLIERS_AUTO, 0.0);
    assert_warm_ends_where_cold_does(HF_SOLVER_EXACT, HF_OUTLIERS_AUTO, 2.0);
}

static void warm_fits_by_inducing_inputs_too(void **state)
{
    (void)state;
    assert_warm_ends_where_cold_does(HF_SOLVER_INDUCING, HF_OUTLIERS_OFF, 0.0);
    assert_warm_ends_where_cold_does(HF_SOLVER_PROJECTED, HF_OUTLIERS_OFF, 0.0);
}

/* Hyperparameters and verdicts of a fit are all that its posterior hangs on. */
static void a_held_fit_is_the_same_posterior(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = settings_for(HF_SOLVER_EXACT, HF_OUTLIERS_AUTO);
    hf_data data = readings(N, 2.0);
    fitted trained, held;
    hf_assignment set[NAMES];
    bool aside[N];
    fit(ctx, &data, &settings, &trained);
    assert_int_equal(trained.report.suspects, N / 10);
    for (size_t i = 0; i < N; i++) aside[i] = trained.reading[i].weight == 0.0;
    settings.set = set;
    settings.set_count = hf_fit_assignments(trained.posterior, NAMES, set);
    settings.train = settings.calibrate = false;
    settings.suspects = HF_OUTLIERS_OFF;
    data.aside = aside;
    fit(ctx, &data, &settings, &held);
    assert_true(largest_difference(ctx, &held, &trained) < 1e-9);
    assert_true(held.report.evaluations <= 1);
    assert_int_equal(held.report.stop, HF_STOP_NOT_TRAINED);
    assert_true(held.report.aside == N / 10 && held.report.readings == N - N / 10);
    assert_true(held.report.suspects == 0 && held.report.missing == 0);
    for (size_t i = 0; i < N; i++) {
        assert_true(held.reading[i].weight == trained.reading[i].weight);
        assert_int_equal(held.reading[i].suspected, aside[i]);
    }
    /* The same values as a start that nothing moves away from. */
    fitted still;
    settings.start = settings.set;
    settings.start_count = settings.set_count;
    settings.set = NULL;
    settings.set_count = 0;
    fit(ctx, &data, &settings, &still);
    assert_true(largest_difference(ctx, &still, &trained) < 1e-9);
    hf_posterior_free(still.posterior);
    hf_posterior_free(trained.posterior);
    hf_posterior_free(held.posterior);
    hf_context_free(ctx);
}

/* Neither values nor units know of what is set aside. */
static void what_is_set_aside_has_no_say(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    for (size_t k = 0; k < 3; k++) {
        const hf_fit_settings settings = settings_for(solvers[k], HF_OUTLIERS_OFF);
        hf_data data = readings(N, 0.0);
        bool aside[N] = {false};
        fitted a, b;
        for (size_t i = 0; i < N; i++) aside[i] = i % 10 == 3;
        y[7] = NAN;
        aside[7] = true; /* missing it is, and nothing to be set aside */
        data.aside = aside;
        fit(ctx, &data, &settings, &a);
        for (size_t i = 3; i < N; i += 10) y[i] = 1e200;
        fit(ctx, &data, &settings, &b);
        assert_true(largest_difference(ctx, &a, &b) == 0.0);
        assert_true(b.report.missing == 1 && b.report.aside == N / 10);
        assert_true(b.reading[3].weight == 0.0 && b.reading[3].suspected && !b.reading[7].suspected);
        hf_posterior_free(a.posterior);
        hf_posterior_free(b.posterior);
    }
    hf_context_free(ctx);
}

/* A value that is held stays, whatever it was to start from; one out of its box starts at the edge. */
static void what_is_held_wins(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(BEFORE, 0.0);
    hf_fit_settings settings = settings_for(HF_SOLVER_EXACT, HF_OUTLIERS_OFF);
    const hf_assignment set[] = {{"noise", 0.25}},
                        start[] = {{"noise", 1e9}, {"lengthscale", 1e300}, {"mean", 2.0}};
    fitted f;
    settings.set = set;
    settings.set_count = 1;
    settings.start = start;
    settings.start_count = 3;
    fit(ctx, &data, &settings, &f);
    assert_true(fabs(hf_posterior_noise(f.posterior) - 0.25) < 1e-12);
    assert_true(f.report.gradient_norm < 1e-2);
    hf_posterior_free(f.posterior);
    settings.set_count = 0;
    settings.warm = true;
    fit(ctx, &data, &settings, &f);
    assert_true(hf_posterior_noise(f.posterior) < 1e6);
    hf_posterior_free(f.posterior);
    hf_context_free(ctx);
}

static void assert_refused(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                           const char *word)
{
    hf_posterior *p = NULL;
    assert_int_equal(hf_fit_data(ctx, data, settings, &p, NULL, NULL), HF_ERR_ARGUMENT);
    if (!strstr(hf_context_message(ctx), word)) fail_msg("'%s' is not in: %s", word, hf_context_message(ctx));
    assert_null(p);
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_data data = readings(BEFORE, 0.0);
    hf_fit_settings good = settings_for(HF_SOLVER_EXACT, HF_OUTLIERS_OFF);
    good.inducing_choice = HF_INDUCING_GREEDY;
    hf_fit_settings settings = good;
    hf_assignment start = {"noise", 0.1};
    settings.warm = true;
    assert_refused(ctx, &data, &settings, "start");
    settings.start_count = 1;
    assert_refused(ctx, &data, &settings, "start is NULL");
    settings.start = &start;
    settings.restarts = 2;
    assert_refused(ctx, &data, &settings, "restarts 2");
    settings.restarts = 0;
    settings.train = false;
    assert_refused(ctx, &data, &settings, "train on");
    settings = good;
    settings.start = &start;
    settings.start_count = 1;
    static const struct {
        const char *name;
        double value;
        const char *word;
    } wrong[] = {{"noise", 0.0, "noise variance of 0"}, {"noise", -1.0, "-1"},
                 {"lenghtscale", 1.0, "lenghtscale"},   {"threshold", 1.0, "threshold"},
                 {"lengthscale", NAN, "start from"},    {NULL, 1.0, "(null)"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start = (hf_assignment){wrong[i].name, wrong[i].value};
        assert_refused(ctx, &data, &settings, wrong[i].word);
    }
    start = (hf_assignment){"noise", 0.1};
    for (size_t i = 0; i < N; i++) x[i * D + D - 1] = (double)(i % 2);
    data.outputs = 2;
    assert_refused(ctx, &data, &settings, "several outputs");
    data.outputs = 1;
    bool aside[N];
    for (size_t i = 0; i < N; i++) aside[i] = true;
    data.aside = aside;
    hf_posterior *p = NULL;
    assert_int_equal(hf_fit_data(ctx, &data, &good, &p, NULL, NULL), HF_ERR_NO_DATA);
    assert_non_null(strstr(hf_context_message(ctx), "set aside"));
    hf_context_free(ctx);
}

static void the_list_is_as_long_as_asked(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(BEFORE, 0.0);
    hf_fit_settings settings = settings_for(HF_SOLVER_EXACT, HF_OUTLIERS_OFF);
    fitted f;
    fit(ctx, &data, &settings, &f);
    hf_assignment list[NAMES] = {{"untouched", 1.0}, {"untouched", 1.0}, {"untouched", 1.0}};
    assert_int_equal(hf_fit_assignments(f.posterior, 2, list), 6);
    assert_string_equal(list[0].name, "outputscale");
    assert_string_equal(list[1].name, "lengthscale[0]");
    assert_string_equal(list[2].name, "untouched");
    assert_int_equal(hf_fit_assignments(f.posterior, 9, NULL), 6);
    assert_int_equal(hf_fit_assignments(NULL, NAMES, list), 0);
    assert_int_equal(hf_fit_assignments(f.posterior, NAMES, list), 6);
    assert_string_equal(list[4].name, "noise");
    assert_true(list[4].value == hf_posterior_noise(f.posterior));
    assert_string_equal(list[5].name, "mean");
    assert_true(list[5].value > 2.0 && list[5].value < 5.0);
    hf_posterior_free(f.posterior);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_fits_end_where_cold_ones_do),
        cmocka_unit_test(warm_fits_by_inducing_inputs_too),
        cmocka_unit_test(a_held_fit_is_the_same_posterior),
        cmocka_unit_test(what_is_set_aside_has_no_say),
        cmocka_unit_test(what_is_held_wins),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(the_list_is_as_long_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
