/* SPDX-License-Identifier: Apache-2.0 */
/* The tail of residuals, and how often one more of them would be as far out. */
#include "sites/tail.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"

/* P(|T| > x) where one scale and one nu are all that is probable. */
static double beyond(double x, double nu)
{
    hfi_tail tail = {.n = 1, .weight = {{1.0}}};
    for (size_t a = 0; a < HFI_TAIL_NU; a++) {
        tail.nu[a] = nu;
        for (size_t b = 0; b < HFI_TAIL_SCALES; b++) tail.scale[a][b] = 1.0;
    }
    return hfi_tail_chance(&tail, x, 1);
}

/* Against 2 scipy.stats.t.sf(x, nu). */
static void test_one_tail(void **state)
{
    static const double values[][3] = {
        {0.10000000000000001, 1, 0.93654896513889285},
        {1, 2, 0.42264973081037427},
        {3, 3.5, 0.047375239484746416},
        {10, 8, 8.4881815276284992e-06},
        {40, 8, 1.6785718879145774e-10},
        {2, 30, 0.054625044962983101},
        {6, 64, 1.0133103095172634e-07},
        {1000, 2, 9.9999850000250004e-07},
        {1e-08, 5, 0.99999999240786619},
        {1000000, 1, 6.3661977236736911e-07},
    };
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_near(beyond(values[i][0], values[i][1]) / values[i][2], 1.0, 1e-11);
    assert_true(beyond(0.0, 3.0) == 1.0 && beyond(INFINITY, 3.0) == 0.0);
    for (double x = 0.01; x < 1e4; x *= 1.3) /* falls, also where the two fractions meet */
        assert_true(beyond(1.3 * x, 4.0) < beyond(x, 4.0));
}

static double student(hfi_stream *stream, int nu)
{
    double chi2 = 0.0;
    for (int k = 0; k < nu; k++) chi2 += pow(hfi_stream_normal(stream), 2.0);
    return hfi_stream_normal(stream) / sqrt(chi2 / nu);
}

/* How often the furthest of n + 1 readings is at most as probable as `limit` under the tail of the n others. */
static double rate(size_t n, int nu, double limit, size_t rounds, uint64_t seed)
{
    hf_context *ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, n);
    double *t = calloc(n + 1, sizeof *t);
    size_t count = 0;
    assert_non_null(t);
    for (size_t round = 0; round < rounds; round++) {
        size_t furthest = 0;
        for (size_t i = 0; i <= n; i++) {
            t[i] = student(&stream, nu);
            if (fabs(t[i]) > fabs(t[furthest])) furthest = i;
        }
        const double last = t[furthest];
        t[furthest] = t[n];
        hfi_tail tail;
        assert_int_equal(hfi_tail_fit(ctx, n, t, &tail), HF_OK);
        count += hfi_tail_chance(&tail, last, n + 1) <= limit;
    }
    free(t);
    hf_context_free(ctx);
    return (double)count / (double)rounds;
}

/* A limit is an error rate, whatever the tails and however few the residuals. */
static void test_chance_is_honest(void **state)
{
    (void)state;
    const double limit = 0.05;
    assert_true(rate(12, 30, limit, 2000, 1) < 1.5 * limit);
    assert_true(rate(40, 30, limit, 1000, 2) < 1.5 * limit);
    assert_true(rate(150, 8, limit, 500, 3) < 2.0 * limit);
    assert_true(rate(150, 4, limit, 500, 4) < 2.5 * limit); /* heavier than the prior thinks */
}

/* Few residuals know less than many of the same shape; a wider scale and more looks make one less surprising. */
static void test_chance_grows_with_doubt(void **state)
{
    enum {
        MOST = 400
    };
    (void)state;
    hf_context *ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    double t[MOST], wider[MOST];
    for (size_t i = 0; i < MOST; i++) {
        t[i] = hfi_stream_normal(&stream);
        wider[i] = 2.0 * t[i];
    }
    hfi_tail few, many, wide;
    assert_int_equal(hfi_tail_fit(ctx, 8, t, &few), HF_OK);
    assert_int_equal(hfi_tail_fit(ctx, MOST, t, &many), HF_OK);
    assert_int_equal(hfi_tail_fit(ctx, MOST, wider, &wide), HF_OK);
    assert_true(hfi_tail_chance(&few, 8.0, 1) > 10.0 * hfi_tail_chance(&many, 8.0, 1));
    assert_near(hfi_tail_chance(&wide, 16.0, 1) / hfi_tail_chance(&many, 8.0, 1), 1.0, 1e-6);
    assert_near(hfi_tail_chance(&many, 8.0, 20) / hfi_tail_chance(&many, 8.0, 1), 20.0, 1e-9);
    assert_true(hfi_tail_chance(&many, 0.1, 400) == 1.0);
    hf_context_free(ctx);
}

/* The order of the residuals and their signs do not matter, to the bit; no residuals know nothing, zeros everything. */
static void test_edges(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double t[6] = {0.3, -1.2, 0.7, 2.0, -0.1, 0.9}, other[6] = {0.9, 0.1, -2.0, 0.7, 1.2, -0.3};
    const double zeros[6] = {0.0};
    hfi_tail a, b;
    assert_int_equal(hfi_tail_fit(ctx, 6, t, &a), HF_OK);
    assert_int_equal(hfi_tail_fit(ctx, 6, other, &b), HF_OK);
    assert_true(hfi_tail_chance(&a, 5.0, 6) == hfi_tail_chance(&b, -5.0, 6));
    assert_int_equal(hfi_tail_fit(ctx, 0, t, &a), HF_OK);
    assert_true(hfi_tail_chance(&a, 1e9, 6) == 1.0);
    assert_int_equal(hfi_tail_fit(ctx, 6, zeros, &a), HF_OK);
    assert_true(hfi_tail_chance(&a, 1e-9, 6) == 0.0 && hfi_tail_chance(&a, 0.0, 6) == 1.0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tail),
        cmocka_unit_test(test_chance_is_honest),
        cmocka_unit_test(test_chance_grows_with_doubt),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
