/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 240,
    D = 3,
    LDX = 4,
    EVERY = 12 /* one reading in so many is planted */
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

/* A tilted surface, curved or not, with noise 0.1 and planted errors of size 3 to 9. */
static void make_surface(double *x, double *y, double curvature, double planted, uint64_t seed)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) {
        double *row = x + i * LDX;
        for (size_t k = 0; k < D; k++) row[k] = hfi_stream_normal(&stream);
        row[D] = NAN;
        y[i] = 5.0 + 3.0 * row[0] - row[1] + curvature * sin(2.0 * row[0]) + 0.1 * hfi_stream_normal(&stream);
        double size = planted * (3.0 + 6.0 * hfi_stream_uniform(&stream));
        if (i % EVERY == 0) y[i] += i % (2 * EVERY) == 0 ? -size : size;
    }
}

static void planted_errors_are_flagged(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N];
    bool flag[N];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        for (int curved = 0; curved < 2; curved++) {
            size_t found = 0, wrong = 0;
            make_surface(x, y, curved ? 0.5 : 0.0, 1.0, seed);
            assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y, flag), HF_OK);
            for (size_t i = 0; i < N; i++) {
                found += i % EVERY == 0 && flag[i];
                wrong += i % EVERY != 0 && flag[i];
            }
            assert_int_equal(found, N / EVERY);
            assert_true(wrong <= (curved ? 20 : 4)); /* a start may flag too many */
        }
    }
}

static void clean_readings_mostly_are_not(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N];
    bool flag[N];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        size_t wrong = 0;
        make_surface(x, y, 0.0, 0.0, seed);
        assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y, flag), HF_OK);
        for (size_t i = 0; i < N; i++) wrong += flag[i];
        assert_true(wrong <= 6);
    }
}

static void missing_readings_are_passed_over(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], x2[N * LDX], y2[N];
    bool flag[N], flag2[N];
    size_t kept = 0;
    make_surface(x, y, 0.5, 1.0, 3);
    for (size_t i = 0; i < N; i++) {
        if (i % 7 == 1) y[i] = NAN;
        if (isnan(y[i])) continue;
        memcpy(x2 + kept * LDX, x + i * LDX, LDX * sizeof *x);
        y2[kept++] = y[i];
    }
    assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y, flag), HF_OK);
    assert_int_equal(hfi_suspect_start(ctx, kept, D, x2, LDX, y2, flag2), HF_OK);
    for (size_t i = 0, j = 0; i < N; i++) assert_true(flag[i] == (isnan(y[i]) ? false : flag2[j++]));
}

static void units_threads_and_distance_do_not_matter(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], y2[N];
    bool flag[N], flag2[N];
    make_surface(x, y, 0.5, 1.0, 4);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y, flag), HF_OK);
    for (size_t i = 0; i < N; i++) y2[i] = ldexp(y[i], 100);
    assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
    assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y2, flag2), HF_OK);
    assert_memory_equal(flag, flag2, sizeof flag);
    /* One reading moved to 1e12: the others are judged nearly as before. */
    size_t changed = 0;
    y[0] = 1e12;
    assert_int_equal(hfi_suspect_start(ctx, N, D, x, LDX, y, flag2), HF_OK);
    assert_true(flag2[0]);
    for (size_t i = 0; i < N; i++) changed += flag[i] != flag2[i];
    assert_true(changed <= 3);
}

static void few_and_constant_readings_are_not_flagged(void **state)
{
    hf_context *ctx = *state;
    double x[20], y[20];
    bool flag[20];
    for (size_t i = 0; i < 20; i++) {
        x[i] = (double)i / 10.0 - 1.0;
        y[i] = 3.7;
    }
    for (size_t n = 0; n <= 20; n++) {
        memset(flag, 1, sizeof flag);
        assert_int_equal(hfi_suspect_start(ctx, n, 1, x, 1, y, flag), HF_OK);
        for (size_t i = 0; i < n; i++) assert_false(flag[i]);
    }
    y[1] = 1e6;
    assert_int_equal(hfi_suspect_start(ctx, 3, 1, x, 1, y, flag), HF_OK);
    for (size_t i = 0; i < 3; i++) assert_false(flag[i]);
    assert_int_equal(hfi_suspect_start(ctx, 20, 1, x, 1, y, flag), HF_OK);
    assert_true(flag[1]);
}

static hf_status every_allocation(hf_context *ctx)
{
    const double x[6] = {0.0, 1.0, -1.0, 0.5, 2.0, -2.0}, y[6] = {0.0, 1.1, -0.9, 0.4, 9.0, -2.1};
    bool flag[6] = {true, true, true, true, true, true};
    hf_status status = hfi_suspect_start(ctx, 6, 1, x, 1, y, flag);
    if (status < 0)
        for (size_t i = 0; i < 6; i++) assert_true(flag[i]); /* untouched */
    return status;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_errors_are_flagged),
        cmocka_unit_test(clean_readings_mostly_are_not),
        cmocka_unit_test(missing_readings_are_passed_over),
        cmocka_unit_test(units_threads_and_distance_do_not_matter),
        cmocka_unit_test(few_and_constant_readings_are_not_flagged),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
