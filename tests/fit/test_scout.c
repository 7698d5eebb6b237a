/* SPDX-License-Identifier: Apache-2.0 */
/* Where periods start: the spectrum's proposals, and fits of kernels whose period nobody has given. */
#include "kernel/kernel.h"
#include "posterior/posterior.h"
#include "search/spectrum.h"

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
    MOST = 600
};

static double x[2 * MOST], y[MOST];
static size_t row[MOST];

static double wave(double at, double period)
{
    return sin(2.0 * HFI_PI * at / period);
}

/* Places that are not even, from 0 to about `span`; a line, waves of these periods, and noise. */
static hf_data uneven(size_t n, double span, double period, double other)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 1);
    double at = 0.0;
    for (size_t i = 0; i < n; i++) {
        at += span / (double)n * (0.2 + 1.6 * hfi_stream_uniform(&stream));
        x[i] = at;
        y[i] = 3.0 * at / span + wave(at, period) + (other > 0.0 ? 0.8 * wave(at, other) : 0.0) +
               0.15 * hfi_stream_normal(&stream);
        row[i] = i;
    }
    return (hf_data){.n = n, .d = 1, .x = x, .ldx = 1, .y = y};
}

static hfi_spectrum_data spectrum_of(const hf_data *data)
{
    return (hfi_spectrum_data){
        .n = data->n, .row = row, .d = data->d, .x = data->x, .ldx = data->ldx, .y = data->y, .groups = 1};
}

static bool proposes(size_t count, const double *period, double wanted, double share)
{
    for (size_t k = 0; k < count; k++)
        if (fabs(period[k] / wanted - 1.0) < share) return true;
    return false;
}

/* ---- proposals --------------------------------------------------------------------------------------------- */

static void peaks_are_proposed_in_units_of_the_input(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_data data = uneven(150, 40.0, 2.3, 0.7);
    hfi_spectrum_data asked = spectrum_of(&data);
    double period[HFI_PERIODS_MOST];
    size_t count = 0;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_true(count >= 2 && count <= HFI_PERIODS_MOST);
    assert_true(fabs(period[0] / 2.3 - 1.0) < 0.01);
    assert_true(fabs(period[1] / 0.7 - 1.0) < 0.01);
    assert_true(proposes(count, period, 4.6, 0.01)); /* of which the peak may be a harmonic */
    const double known = 2.3;
    asked.known = &known;
    asked.knowns = 1;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_true(fabs(period[0] / 0.7 - 1.0) < 0.01);
    assert_false(proposes(count, period, 2.3, 0.02));
    hf_context_free(ctx);
}

/* A walk has most power at the lowest frequencies, a wrong reading at all. */
static void walks_and_wrong_readings_hide_no_peak(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_data data = uneven(400, 100.0, 1.7, 0.0);
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 1);
    double walk = 0.0;
    for (size_t i = 0; i < data.n; i++) {
        walk += 0.4 * hfi_stream_normal(&stream);
        y[i] += walk + (i % 40 == 7 ? 60.0 : 0.0);
    }
    const hfi_spectrum_data asked = spectrum_of(&data);
    double period[HFI_PERIODS_MOST];
    size_t count = 0;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_true(proposes(count, period, 1.7, 0.01));
    hf_context_free(ctx);
}

/* Two outputs whose waves are each other's negative, at the same places. */
static void outputs_have_amplitudes_of_their_own(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t i = 0; i < 200; i++) {
        const double at = (double)(i / 2);
        x[2 * i] = at;
        x[2 * i + 1] = (double)(i % 2);
        y[i] = (i % 2 == 0 ? 1.0 : -1.0) * wave(at, 7.3);
        row[i] = i;
    }
    const hf_data data = {.n = 200, .d = 2, .x = x, .ldx = 2, .y = y};
    hfi_spectrum_data asked = spectrum_of(&data);
    asked.groups = 2;
    asked.group_column = 1;
    double period[HFI_PERIODS_MOST];
    size_t count = 0;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_true(count > 0 && fabs(period[0] / 7.3 - 1.0) < 0.01);
    hf_context_free(ctx);
}

static void little_to_see_proposes_nothing(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_data data = uneven(150, 40.0, 2.3, 0.0);
    hfi_spectrum_data asked = spectrum_of(&data);
    double period[HFI_PERIODS_MOST];
    size_t count = 1;
    asked.n = 9;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < data.n; i++) x[i] = (double)(i % 4);
    asked.n = data.n;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_int_equal(count, 0);
    data = uneven(150, 40.0, 2.3, 0.0);
    for (size_t i = 0; i < data.n; i++) y[i] = 4.0;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < data.n; i++) x[i] *= 1e300;
    assert_int_equal(hfi_find_periods(ctx, &asked, period, &count), HF_OK);
    hf_context_free(ctx);
}

/* ---- fits -------------------------------------------------------------------------------------------------- */

/* The fit's unit of an input. */
static double spread(const hf_data *data)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < data->n; i++) sum += data->x[i] / (double)data->n;
    for (size_t i = 0; i < data->n; i++) square += (data->x[i] - sum) * (data->x[i] - sum) / (double)data->n;
    return sqrt(square);
}

typedef struct result {
    double total;
    double period[2]; /* in units of the input */
    size_t evaluations;
} result;

static result fit(const hf_data *data, const char *kernel, int threads, uint64_t seed)
{
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, threads);
    hf_context_set_seed(ctx, seed);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, "gp", &settings, sizeof settings), HF_OK);
    settings.kernel = kernel;
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    assert_true(hf_fit_data(ctx, data, &settings, &posterior, &report, NULL) >= 0);
    result r = {.total = report.objective + report.log_prior, .evaluations = report.evaluations};
    const hf_kernel *fitted = hf_posterior_kernel(posterior);
    size_t found = 0;
    for (size_t i = 0; i < hf_kernel_parameters(fitted); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(fitted, i, &p), HF_OK);
        if (strstr(p.name, "period") && strstr(p.name, ".period") && found < 2)
            r.period[found++] = p.value * spread(data);
    }
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    return r;
}

static void a_period_is_found_as_if_it_had_been_given(void **state)
{
    (void)state;
    const double periods[3] = {0.9, 2.3, 6.1};
    for (size_t k = 0; k < 3; k++) {
        char given[64];
        const hf_data data = uneven(160, 40.0, periods[k], 0.0);
        snprintf(given, sizeof given, "matern52 + periodic(x1, period~%g)", periods[k]);
        const result found = fit(&data, "matern52 + periodic(x1)", 1, 0), by_hand = fit(&data, given, 1, 0);
        assert_true(found.total > by_hand.total - 1.0);
        assert_true(fabs(found.period[0] / periods[k] - 1.0) < 0.02);
    }
}

/* More rows than starts are compared on, and a period shorter than what a kernel's box allows. */
static void a_short_period_of_many_rows_is_found(void **state)
{
    (void)state;
    const hf_data data = uneven(600, 600.0, 2.6, 0.0);
    const result found = fit(&data, "matern52 + periodic(x1)", 1, 0),
                 by_hand = fit(&data, "matern52 + periodic(x1, period~2.6)", 1, 0);
    assert_true(found.total > by_hand.total - 1.0);
    assert_true(fabs(found.period[0] / 2.6 - 1.0) < 0.01);
}

static void two_periods_start_apart(void **state)
{
    (void)state;
    const hf_data data = uneven(200, 40.0, 2.3, 0.83);
    const result found = fit(&data, "matern52 + periodic(x1) + periodic(x1)", 1, 0),
                 by_hand =
                     fit(&data, "matern52 + periodic(x1, period~2.3) + periodic(x1, period~0.83)", 1, 0);
    assert_true(found.total > by_hand.total - 1.0);
    assert_true(fabs(fmax(found.period[0], found.period[1]) / 2.3 - 1.0) < 0.02);
    assert_true(fabs(fmin(found.period[0], found.period[1]) / 0.83 - 1.0) < 0.02);
}

static void a_period_that_is_given_is_kept(void **state)
{
    (void)state;
    const hf_data data = uneven(160, 40.0, 2.3, 0.0);
    const result held = fit(&data, "matern52 + periodic(x1, period=3.7)", 1, 0);
    assert_true(fabs(held.period[0] / 3.7 - 1.0) < 0.01);
    const result from = fit(&data, "matern52 + periodic(x1, period~14)", 1, 0),
                 found = fit(&data, "matern52 + periodic(x1)", 1, 0);
    assert_true(fabs(from.period[0] / 2.3 - 1.0) > 0.1); /* it started there, and the search stayed near */
    assert_true(found.total > from.total + 10.0);
}

static void threads_and_seeds_do_not_matter(void **state)
{
    (void)state;
    const hf_data data = uneven(160, 40.0, 2.3, 0.0);
    const result a = fit(&data, "matern52 + periodic(x1)", 1, 0),
                 b = fit(&data, "matern52 + periodic(x1)", 3, 17);
    assert_memory_equal(&a.total, &b.total, sizeof a.total);
    assert_memory_equal(a.period, b.period, sizeof a.period[0]);
    assert_int_equal(a.evaluations, b.evaluations);
}

static void parameters_that_are_periods_are_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, "se(ard) + periodic(x2, x1, ard) * matern12(x2) + periodic(x2, x3)",
                                     NULL, 3, &kernel),
                     HF_OK);
    size_t found = 0;
    const size_t columns[3] = {1, 0, 1};
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        size_t column = 9, lengthscale = 0;
        hf_parameter p, l;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        if (!hfi_kernel_is_period(kernel, i, &column, &lengthscale)) {
            assert_null(strstr(p.name, ".period"));
            continue;
        }
        assert_non_null(strstr(p.name, ".period"));
        assert_int_equal(column, columns[found++]);
        assert_int_equal(hf_kernel_parameter(kernel, lengthscale, &l), HF_OK);
        assert_non_null(strstr(l.name, "lengthscale"));
        assert_true(p.column == l.column);
        assert_memory_equal(p.name, l.name, 9); /* of the same kernel: periodic1, periodic2 */
    }
    assert_int_equal(found, 3);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_proposed_in_units_of_the_input),
        cmocka_unit_test(walks_and_wrong_readings_hide_no_peak),
        cmocka_unit_test(outputs_have_amplitudes_of_their_own),
        cmocka_unit_test(little_to_see_proposes_nothing),
        cmocka_unit_test(a_period_is_found_as_if_it_had_been_given),
        cmocka_unit_test(a_short_period_of_many_rows_is_found),
        cmocka_unit_test(two_periods_start_apart),
        cmocka_unit_test(a_period_that_is_given_is_kept),
        cmocka_unit_test(threads_and_seeds_do_not_matter),
        cmocka_unit_test(parameters_that_are_periods_are_told),
    };
    return cmocka_run_group_tests_name("scout", tests, NULL, NULL);
}
