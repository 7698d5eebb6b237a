/* SPDX-License-Identifier: Apache-2.0 */
/* The cut that large tables take over from their first stage. */
#include "fit/fit.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    N = 16000,
    ROWS = 4000
};

static size_t count_beyond(const double *t, hfi_cut cut)
{
    size_t count = 0;
    for (size_t i = 0; i < N; i++) count += t[i] <= cut.low || t[i] >= cut.high;
    return count;
}

/* Residuals -a, +a, of sizes from 0 to 20 in even steps. */
static void spread(double *t)
{
    for (size_t i = 0; i < N; i++) t[i] = (i % 2 == 0 ? 20.0 : -20.0) * (double)(i + 1) / N;
}

/* A smaller noise makes tails of many standard deviations: the share of the first stage bounds what is set aside. */
static void test_no_more_than_the_share(void **unused)
{
    (void)unused;
    static double t[N];
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    spread(t);
    const double p = 40.0 / ROWS, most = p * N + 4.0 * sqrt(p * (1.0 - p) * N * (1.0 + (double)N / ROWS));
    const hfi_cut first = {.low = -8.0, .high = 10.0, .suspects = 40, .rows = ROWS};
    hfi_cut cut = {.low = -8.0, .high = 10.0};
    assert_true(count_beyond(t, cut) > 8000);
    assert_int_equal(hfi_fit_bound_cut(ctx, N, t, &first, &cut), HF_OK);
    assert_int_equal(count_beyond(t, cut), (size_t)most);
    assert_true(fabs(cut.low / cut.high + 0.8) < 1e-12); /* one factor */
    hf_context_free(ctx);
}

/* A cut that few are beyond stays as it is, and so does one of which no share is known; ties go together. */
static void test_what_stays(void **unused)
{
    (void)unused;
    static double t[N];
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    spread(t);
    hfi_cut cut = {.low = -19.9, .high = INFINITY};
    const hfi_cut first = {.low = -8.0, .high = 10.0, .suspects = 40, .rows = ROWS},
                  unknown = {.low = -8.0, .high = 10.0};
    assert_int_equal(hfi_fit_bound_cut(ctx, N, t, &first, &cut), HF_OK);
    assert_true(cut.low == -19.9 && cut.high == INFINITY);
    cut = (hfi_cut){.low = -1.0, .high = 1.0};
    assert_int_equal(hfi_fit_bound_cut(ctx, N, t, &unknown, &cut), HF_OK);
    assert_true(cut.low == -1.0 && cut.high == 1.0);
    for (size_t i = 0; i < N; i++) t[i] = 3.0;
    assert_int_equal(hfi_fit_bound_cut(ctx, N, t, &first, &cut), HF_OK);
    assert_int_equal(count_beyond(t, cut), 0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_more_than_the_share),
                                       cmocka_unit_test(test_what_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
