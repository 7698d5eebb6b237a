/* SPDX-License-Identifier: Apache-2.0 */
/* Starts beside the cold one: where a single start ends in noise, where it does not, and what stays as it is. */
#include "objective/thin.h"
#include "search/explore.h"
#include "search/trainer.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MOST = 640
};

static double x[3 * MOST], y[MOST];

/* `cycles` waves along one input, with a little noise. */
static hf_data waves(size_t n, double cycles)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 1);
    const double turn = 2.0 * acos(-1.0) * cycles / (double)n;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = sin(turn * (double)i) + 0.05 * hfi_stream_normal(&stream);
    }
    return (hf_data){.n = n, .d = 1, .x = x, .ldx = 1, .y = y};
}

/* Curves in time with a level of their own each, by number: two inputs, one slow and one without any order. */
static hf_data curves(size_t n, size_t each)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 2);
    double slope = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (i % each == 0) slope = 2.0 * hfi_stream_normal(&stream);
        x[2 * i] = (double)(i % each);
        x[2 * i + 1] = (double)(i / each);
        y[i] = slope * (double)(i % each) / (double)each + 0.03 * hfi_stream_normal(&stream);
    }
    return (hf_data){.n = n, .d = 2, .x = x, .ldx = 2, .y = y};
}

static hf_fit_report fit(const hf_data *data, hf_fit_settings settings, int threads, double *mean)
{
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, threads);
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    assert_true(hf_fit_data(ctx, data, &settings, &posterior, &report, NULL) >= 0);
    const double at[2] = {(double)data->n / 3.0 + 0.37, 4.0};
    double variance = 0.0;
    assert_true(hf_predict(ctx, posterior, 1, at, data->d, mean, &variance, NULL) >= 0);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    return report;
}

static double total(const hf_fit_report *report)
{
    return report->objective + report->log_prior;
}

static hf_fit_settings plain(void)
{
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, "gp", &settings, sizeof settings), HF_OK);
    return settings;
}

/* Noise alone has no more evidence than -n (log(2 pi) + 1) / 2 + n log(scale / sd): the fits below are far above it. */
static void a_wave_that_looks_like_noise_is_found(void **state)
{
    (void)state;
    const size_t rows[3] = {90, 250, 600};
    const double cycles[3] = {9.0, 25.0, 60.0};
    for (size_t k = 0; k < 3; k++) {
        double mean = 0.0;
        const hf_data data = waves(rows[k], cycles[k]);
        hf_fit_settings settings = plain();
        const hf_fit_report report = fit(&data, settings, 1, &mean);
        assert_true(report.objective > 0.0);
        assert_true(report.gradient_norm < 0.1);
        const double turn = 2.0 * acos(-1.0) * cycles[k] / (double)rows[k];
        assert_true(fabs(mean - sin(turn * ((double)rows[k] / 3.0 + 0.37))) < 0.15);
        settings.restarts = 3;
        const hf_fit_report more = fit(&data, settings, 1, &mean);
        assert_true(total(&more) < total(&report) + 5.0);
        assert_true(total(&more) > total(&report) - 0.5);
    }
}

static void an_input_without_order_is_found(void **state)
{
    (void)state;
    for (size_t n = 240; n <= 480; n *= 2) {
        double mean = 0.0;
        const hf_data data = curves(n, 12);
        hf_fit_settings settings = plain();
        const hf_fit_report report = fit(&data, settings, 1, &mean);
        assert_true(report.objective > 0.3 * (double)n);
        settings.restarts = 2;
        const hf_fit_report more = fit(&data, settings, 1, &mean);
        assert_true(total(&more) < total(&report) + 5.0);
    }
}

/* With these the wave is noise to every start; the fit of the others ends at the wave. */
static void wrong_readings_on_a_wave_are_found(void **state)
{
    (void)state;
    const hf_data data = waves(200, 20.0);
    for (size_t i = 7; i < 200; i += 20) y[i] += 12.0;
    double mean = 0.0;
    const hf_fit_report report = fit(&data, hf_fit_settings_default(), 1, &mean);
    assert_true(report.suspects_adopted);
    assert_int_equal(report.suspects, 10);
    assert_true(report.objective > 0.0);
}

/* Here the fits go on from noise after the wrong readings have been flagged: a shorter start has to be tried again. */
static void wrong_readings_on_a_quick_wave_are_found(void **state)
{
    (void)state;
    for (size_t n = 160; n <= 280; n += 60) {
        const hf_data data = waves(n, 0.18 * (double)n);
        size_t wrong = 0;
        for (size_t i = 5; i < n; i += 19 + i % 3, wrong++) y[i] += 4.2;
        double mean = 0.0;
        const hf_fit_report report = fit(&data, hf_fit_settings_default(), 1, &mean);
        assert_true(report.suspects_adopted);
        assert_int_equal(report.suspects, wrong);
        assert_true(fabs(mean - sin(2.0 * acos(-1.0) * 0.18 * ((double)n / 3.0 + 0.37))) < 0.2);
    }
}

static void robust_weights_find_a_wave(void **state)
{
    (void)state;
    const hf_data data = waves(200, 20.0);
    hf_fit_settings settings = plain();
    settings.sites = HF_LIKELIHOOD_ROBUST;
    double mean = 0.0;
    const hf_fit_report report = fit(&data, settings, 1, &mean);
    assert_true(report.objective > 0.0);
    assert_true(fabs(mean - sin(2.0 * acos(-1.0) * 0.1 * (200.0 / 3.0 + 0.37))) < 0.15);
}

/* Student-t noise and relevance pursuit, with and without wrong readings: where all is noise the mean is nearly 0. */
static void heavy_tails_find_a_wave(void **state)
{
    (void)state;
    const hf_likelihood kinds[2] = {HF_LIKELIHOOD_STUDENT_T, HF_LIKELIHOOD_PURSUIT};
    for (int wrong = 0; wrong < 2; wrong++)
        for (int k = 0; k < 2; k++) {
            const hf_data data = waves(120, 17.0);
            for (size_t i = 7; i < 120 && wrong; i += 20) y[i] += 5.0;
            hf_fit_settings settings = plain();
            settings.sites = kinds[k];
            double mean = 0.0;
            const hf_fit_report report = fit(&data, settings, 1, &mean);
            assert_true(wrong || report.objective > -60.0);
            assert_true(fabs(mean - sin(2.0 * acos(-1.0) * 17.0 / 120.0 * 40.37)) < 0.2);
        }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const hf_data data = curves(420, 12);
    double one = 0.0, three = 0.0;
    const hf_fit_report a = fit(&data, plain(), 1, &one), b = fit(&data, plain(), 3, &three);
    assert_memory_equal(&one, &three, sizeof one);
    assert_memory_equal(&a.objective, &b.objective, sizeof a.objective);
    assert_int_equal(a.evaluations, b.evaluations);
}

/* A slow rise and a quick wave: two equal kernels end as two, better than one does, and with either in front. */
static void equal_kernels_start_apart(void **state)
{
    (void)state;
    const hf_data data = waves(150, 30.0);
    for (size_t i = 0; i < 150; i++) {
        const double far = ((double)i - 75.0) / 25.0;
        y[i] += 4.0 * far - far * far;
    }
    hf_fit_settings settings = plain();
    double mean = 0.0;
    const hf_fit_report one = fit(&data, settings, 1, &mean);
    settings.kernel = "matern52 + matern52";
    hf_context *ctx = hf_context_create();
    hf_posterior *posterior = NULL;
    hf_fit_report two;
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, &two, NULL) >= 0);
    const hf_kernel *kernel = hf_posterior_kernel(posterior);
    double length[2];
    size_t found = 0;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        if (strstr(p.name, "lengthscale")) length[found++] = p.value;
    }
    assert_int_equal(found, 2);
    assert_true(fabs(log(length[0] / length[1])) > 1.0);
    assert_true(two.objective > one.objective + 5.0);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

/* ---- the parts ----------------------------------------------------------------------------------------------- */

static void moves_touch_what_is_free_alone(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_sites *sites = NULL;
    const double readings[2] = {1.0, 2.0};
    assert_int_equal(hf_kernel_parse(ctx, "se(ard) + periodic(x1) + sm(x2, components=1)", NULL, 2, &kernel),
                     HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 2, readings, 0.1, NULL, &sites), HF_OK);
    const size_t count = hf_kernel_parameters(kernel);
    assert_true(count < 15);
    double lower[16], upper[16], at[16] = {0.0};
    size_t free_index[16], free_count = 0;
    for (size_t i = 0; i <= count; i++) {
        lower[i] = -2.5;
        upper[i] = 50.0;
        if (i != 1) free_index[free_count++] = i; /* the first lengthscale is held */
    }
    const hfi_trainer trainer = {.evaluator = {.kernel = kernel, .sites = sites},
                                 .count = count + 1,
                                 .noise = count,
                                 .free_count = free_count,
                                 .free_index = free_index,
                                 .lower = lower,
                                 .upper = upper};
    const hfi_start start = {"test", 0.25, 0.01};
    hfi_trainer_move(&trainer, &start, at);
    for (size_t i = 0; i < count; i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        double expected = 0.0;
        if (p.unit == HF_UNIT_INPUT && strstr(p.name, "lengthscale") && i != 1) expected = log(0.25);
        if (p.unit == HF_UNIT_FREQUENCY) expected = log(4.0);
        if (p.unit == HF_UNIT_FREQUENCY2) expected = log(16.0);
        assert_true(fabs(at[i] - expected) < 1e-15);
    }
    assert_true(at[count] == -2.5); /* at the bound */
    hf_sites_free(sites);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void held_parameters_stay(void **state)
{
    (void)state;
    const hf_data data = waves(90, 9.0);
    hf_fit_settings settings = plain();
    const hf_assignment set[2] = {{"lengthscale[0]", 30.0}, {"noise", 0.4}};
    settings.set = set;
    settings.set_count = 2;
    double mean = 0.0;
    const hf_fit_report held = fit(&data, settings, 1, &mean);
    assert_true(held.objective < -50.0); /* all noise, as was asked for */
    settings.kernel = "matern52(outputscale=1)";
    const hf_fit_report nothing = fit(&data, settings, 1, &mean);
    assert_int_equal(nothing.stop == HF_STOP_ITERATIONS, 0);
    settings.train_mean = false;
    const hf_fit_report still = fit(&data, settings, 1, &mean);
    assert_int_equal(still.stop, HF_STOP_NOT_TRAINED);
    assert_int_equal(still.evaluations, 1);
}

/* Rows along a line: as many as wanted stay, absent ones stay absent, some keep their neighbours, all come back. */
static void neighbours_stay_together(void **state)
{
    (void)state;
    enum {
        N = 400,
        WANTED = 120
    };
    hf_context *ctx = hf_context_create();
    hf_sites *sites = NULL;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        y[i] = 0.0;
    }
    y[17] = NAN;
    assert_int_equal(hf_sites_gaussian(ctx, N, y, 0.1, NULL, &sites), HF_OK);
    hfi_evaluator e;
    assert_int_equal(hfi_evaluator_init(ctx, &e, false, N, 1, x, 1), HF_OK);
    e.sites = sites;
    assert_int_equal(hfi_evaluator_select(&e), HF_OK);
    hfi_thinned near, spread;
    size_t runs[2] = {0};
    assert_int_equal(hfi_thin_near(&e, x, WANTED, &near), HF_OK);
    assert_int_equal(e.n, WANTED);
    assert_false(hf_sites_is_present(sites, 17));
    for (size_t k = 1; k < e.n; k++) runs[0] += e.row[k] == e.row[k - 1] + 1 ? 1 : 0;
    assert_int_equal(hfi_thin_back(&e, &near), HF_OK);
    assert_int_equal(e.n, N - 1);
    assert_int_equal(hfi_thin_out(&e, WANTED, &spread), HF_OK);
    assert_int_equal(e.n, WANTED);
    for (size_t k = 1; k < e.n; k++) runs[1] += e.row[k] == e.row[k - 1] + 1 ? 1 : 0;
    assert_int_equal(hfi_thin_back(&e, &spread), HF_OK);
    assert_int_equal(e.n, N - 1);
    assert_true(runs[0] > runs[1] + 15);
    hfi_evaluator_free(&e);
    hf_sites_free(sites);
    hf_context_free(ctx);
}

/* The state of two that predicts each reading from the others better is told; of equal ones neither. */
static void predictions_judge_a_maximum(void **state)
{
    (void)state;
    const hf_data data = waves(120, 5.0);
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hfi_evaluator e;
    assert_int_equal(hf_kernel_parse(ctx, "se", NULL, 1, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, data.n, y, 0.01, NULL, &sites), HF_OK);
    assert_int_equal(hfi_evaluator_init(ctx, &e, false, data.n, 1, x, 1), HF_OK);
    e.kernel = kernel;
    e.mean = mean;
    e.sites = sites;
    hfi_trainer t = {.evaluator = e, .count = 3, .noise = 2};
    /* lengthscale, outputscale, noise by logarithms, in the kernel's order */
    double right[3], noisy[3];
    for (size_t i = 0; i < 2; i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        right[i] = log(strstr(p.name, "lengthscale") ? 6.0 : 1.0);
        noisy[i] = log(strstr(p.name, "lengthscale") ? 300.0 : 1.0);
    }
    right[2] = log(0.0025);
    noisy[2] = log(0.5);
    bool worse = true;
    assert_int_equal(hfi_trainer_predicts_worse(&t, right, noisy, &worse), HF_OK);
    assert_false(worse);
    assert_int_equal(hfi_trainer_predicts_worse(&t, noisy, right, &worse), HF_OK);
    assert_true(worse);
    assert_int_equal(hfi_trainer_predicts_worse(&t, right, right, &worse), HF_OK);
    assert_false(worse);
    hfi_evaluator_free(&t.evaluator);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_that_looks_like_noise_is_found),
        cmocka_unit_test(an_input_without_order_is_found),
        cmocka_unit_test(wrong_readings_on_a_wave_are_found),
        cmocka_unit_test(wrong_readings_on_a_quick_wave_are_found),
        cmocka_unit_test(robust_weights_find_a_wave),
        cmocka_unit_test(heavy_tails_find_a_wave),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(equal_kernels_start_apart),
        cmocka_unit_test(moves_touch_what_is_free_alone),
        cmocka_unit_test(held_parameters_stay),
        cmocka_unit_test(neighbours_stay_together),
        cmocka_unit_test(predictions_judge_a_maximum),
    };
    return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}
