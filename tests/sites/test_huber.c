/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/huber.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 80,
    D = 3,
    MANY = 120 /* more inputs than readings */
};

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

static double *normals(size_t count, uint64_t index)
{
    double *values = malloc(count * sizeof *values);
    assert_non_null(values);
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < count; i++) values[i] = hfi_stream_normal(&stream);
    return values;
}

static double median_magnitude(const double *r, size_t n)
{
    double values[N];
    for (size_t i = 0; i < n; i++) values[i] = fabs(r[i]);
    return hfi_median(values, n);
}

static double weight_of(double sds)
{
    return sds <= 1.345 ? 1.0 : 1.345 / sds * (sds > 4.685 ? 0.05 : 1.0);
}

/* At the fixed point the weighted residuals are orthogonal to the intercept, and to each input up to the
 * ridge times its slope; the slopes come from the fitted surface y - r, which is linear. */
static void it_solves_its_own_normal_equations(void **state)
{
    double *x = normals(N * D, 0), *e = normals(N, 1), y[N], r[N], scratch[N];
    for (size_t i = 0; i < N; i++) y[i] = 2.0 + x[i * D] - 0.5 * x[i * D + 1] + 0.2 * e[i];
    for (size_t i = 0; i < N; i += 10) y[i] += 5.0;
    assert_int_equal(hfi_huber_residuals(*state, N, D, x, D, y, r), HF_OK);
    double sd = hfi_mad(r, N, scratch), intercept = 0.0, inputs[D] = {0.0};
    for (size_t i = 0; i < N; i++) {
        double w = weight_of(fabs(r[i]) / sd);
        intercept += w * r[i];
        for (size_t k = 0; k < D; k++) inputs[k] += w * r[i] * x[i * D + k];
    }
    assert_near(intercept, 0.0, 1e-6);
    const double slopes[D] = {1.0, -0.5, 0.0}; /* about */
    for (size_t k = 0; k < D; k++) assert_near(inputs[k], 1e-3 * N * slopes[k], 1e-3 * N * 0.2);
    free(e);
    free(x);
}

static void gross_errors_do_not_bend_it(void **state)
{
    double *x = normals(N * D, 2), *e = normals(N, 3), y[N], r[N];
    const double sizes[] = {10.0, 1e6, 1e12, 1e300};
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 0; i < N; i++) {
            y[i] = 3.0 + x[i * D] - 2.0 * x[i * D + 2] + 0.1 * e[i];
            if (i % 8 == 0) y[i] += i % 3 == 0 ? -0.5 * sizes[s] : sizes[s];
        }
        assert_int_equal(hfi_huber_residuals(*state, N, D, x, D, y, r), HF_OK);
        for (size_t i = 0; i < N; i++) {
            if (i % 8 == 0) assert_true(fabs(r[i]) > 0.4 * sizes[s]);
            if (i % 8 != 0) assert_near(r[i], 0.1 * e[i], 0.1);
        }
    }
    free(e);
    free(x);
}

/* Adding columns of zeros changes nothing, but goes from the primal to the dual form. */
static void both_forms_agree(void **state)
{
    double *x = normals(N * D, 4), *e = normals(N, 5), y[N], primal[N], dual[N];
    double *wide = calloc((size_t)N * MANY, sizeof *wide);
    assert_non_null(wide);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < D; k++) wide[i * MANY + k] = x[i * D + k];
        y[i] = 1.0 + x[i * D] + 0.3 * e[i] + (i % 9 == 0 ? 7.0 : 0.0);
    }
    assert_int_equal(hfi_huber_residuals(*state, N, D, x, D, y, primal), HF_OK);
    assert_int_equal(hfi_huber_residuals(*state, N, MANY, wide, MANY, y, dual), HF_OK);
    for (size_t i = 0; i < N; i++) assert_near(dual[i], primal[i], 1e-8);
    free(wide);
    free(e);
    free(x);
}

static void shift_and_scale_carry_over(void **state)
{
    double *x = normals(N * D, 6), *e = normals(N, 7), y[N], moved[N], r[N], r_moved[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = x[i * D] + e[i];
        moved[i] = -8.0 * y[i] + 1000.0;
    }
    assert_int_equal(hfi_huber_residuals(*state, N, D, x, D, y, r), HF_OK);
    assert_int_equal(hfi_huber_residuals(*state, N, D, x, D, moved, r_moved), HF_OK);
    for (size_t i = 0; i < N; i++) assert_near(r_moved[i], -8.0 * r[i], 1e-7);
    free(e);
    free(x);
}

static void degenerate_data_are_fine(void **state)
{
    double zeros[N * D] = {0.0}, constant[N], r[N];
    for (size_t i = 0; i < N; i++) constant[i] = 5.0;
    assert_int_equal(hfi_huber_residuals(*state, N, D, zeros, D, constant, r), HF_OK);
    for (size_t i = 0; i < N; i++) assert_near(r[i], 0.0, 1e-14);
    constant[3] = 9.0;
    assert_int_equal(hfi_huber_residuals(*state, N, D, zeros, D, constant, r), HF_OK);
    assert_near(median_magnitude(r, N), 0.0, 1e-9);
    assert_near(r[3], 4.0, 1e-6);
    for (size_t n = 1; n <= 5; n++) { /* fewer readings than coefficients, too */
        double *x = normals(n * D, 8), y[5] = {1.0, -2.0, 3.0, 0.5, 0.25};
        assert_int_equal(hfi_huber_residuals(*state, n, D, x, D, y, r), HF_OK);
        for (size_t i = 0; i < n; i++) assert_true(isfinite(r[i]));
        free(x);
    }
}

static hf_status every_allocation(hf_context *ctx)
{
    const double x[6] = {0.0, 1.0, -1.0, 0.5, 2.0, -2.0}, y[6] = {0.0, 1.1, -0.9, 0.4, 9.0, -2.1};
    double r[6];
    return hfi_huber_residuals(ctx, 6, 1, x, 1, y, r);
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_solves_its_own_normal_equations),
        cmocka_unit_test(gross_errors_do_not_bend_it),
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(shift_and_scale_carry_over),
        cmocka_unit_test(degenerate_data_are_fine),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
