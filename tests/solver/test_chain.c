/* SPDX-License-Identifier: Apache-2.0 */
/* How well a chain has mixed: autoregressions, whose correlation is known, and the definitions term by term. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/naive.h"

#include "solver/chain.h"

/* y_t = rho y_{t-1} + noise, from its own distribution. */
static void autoregress(uint64_t number, double rho, size_t count, double *y)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, number);
    const double noise = sqrt(1.0 - rho * rho);
    double now = hfi_stream_normal(&stream);
    for (size_t i = 0; i < count; i++) {
        y[i] = now;
        now = rho * now + noise * hfi_stream_normal(&stream);
    }
}

/* The correlation of a trace whose second half is the series. */
static double correlation_of(hf_context *ctx, size_t count, const double *series)
{
    double *trace = naive_zeros(2 * count);
    hfi_chain_summary s;
    memcpy(trace + count, series, count * sizeof *trace);
    assert_int_equal(hfi_chain_summarise(ctx, 2 * count, trace, &s), HF_OK);
    free(trace);
    return s.correlation;
}

/* (1 + rho) / (1 - rho), whatever unit and origin; the longest is several times what is summed without averaging. */
static void correlation_is_that_of_an_autoregression(void **state)
{
    (void)state;
    enum {
        COUNT = 200000
    };
    const double rho[] = {0.0, 0.5, 0.9, 0.99, 0.998};
    hf_context *ctx = problem_context(1);
    double *y = naive_zeros(COUNT);
    for (size_t k = 0; k < 5; k++) {
        const double expected = (1.0 + rho[k]) / (1.0 - rho[k]);
        autoregress(k, rho[k], COUNT, y);
        for (size_t i = 0; i < COUNT; i++) y[i] = 1e6 + 0.01 * y[i];
        assert_near(correlation_of(ctx, COUNT, y) / expected, 1.0, k < 4 ? 0.1 : 0.25);
    }
    for (size_t i = 0; i < COUNT; i++) y[i] = 0.3;
    assert_true(isnan(correlation_of(ctx, COUNT, y)));
    for (size_t i = 0; i < COUNT; i++) y[i] = (double)(i % 2); /* no lazy chain does that */
    assert_true(correlation_of(ctx, COUNT, y) == 1.0);
    free(y);
    hf_context_free(ctx);
}

/* Geyer's sum term by term, on series so short that some sums of neighbours are larger than those before. */
static void correlation_is_geyers_sum(void **state)
{
    (void)state;
    enum {
        COUNT = 301
    };
    hf_context *ctx = problem_context(1);
    double *y = naive_zeros(COUNT), smaller = 0.0;
    for (uint64_t number = 0; number < 20; number++) {
        autoregress(500 + number, 0.9, COUNT, y);
        double mean = 0.0, covariance[COUNT + 1] = {0.0}, sum = 0.0, least = INFINITY;
        for (size_t i = 0; i < COUNT; i++) mean += y[i] / COUNT;
        for (size_t lag = 0; lag < COUNT; lag++)
            for (size_t i = lag; i < COUNT; i++) covariance[lag] += (y[i] - mean) * (y[i - lag] - mean);
        for (size_t lag = 0; lag < COUNT; lag += 2) {
            const double pair = covariance[lag] + covariance[lag + 1];
            if (pair <= 0.0) break;
            smaller += pair > least;
            least = fmin(least, pair);
            sum += least;
        }
        const double expected = fmax(1.0, 2.0 * sum / covariance[0] - 1.0);
        assert_near(correlation_of(ctx, COUNT, y), expected, 1e-11 * expected);
    }
    assert_true(smaller > 0.0);
    free(y);
    hf_context_free(ctx);
}

/* Over many stationary chains the drift is a standard normal number without its sign; a trend is noticed. */
static void drift_is_in_standard_errors(void **state)
{
    (void)state;
    enum {
        COUNT = 4000,
        CHAINS = 150
    };
    hf_context *ctx = problem_context(1);
    double *y = naive_zeros(COUNT), squares = 0.0;
    size_t beyond = 0;
    hfi_chain_summary s;
    for (size_t c = 0; c < CHAINS; c++) {
        autoregress(100 + c, 0.9, COUNT, y);
        assert_int_equal(hfi_chain_summarise(ctx, COUNT, y, &s), HF_OK);
        squares += s.drift * s.drift / CHAINS;
        beyond += s.drift > 3.0;
        assert_true(s.drift >= 0.0 && s.correlation > 5.0 && s.correlation < 60.0);
        assert_near(s.mean, 0.0, 0.5);
        assert_near(s.sd, 1.0, 0.35);
        for (size_t i = 0; i < COUNT; i++) y[i] += 4.0 * (double)i / COUNT;
        assert_int_equal(hfi_chain_summarise(ctx, COUNT, y, &s), HF_OK);
        assert_true(s.drift > 3.0);
    }
    assert_true(squares > 0.75 && squares < 1.5 && beyond < 4);
    /* A step between the quarters, each of which stays as it is; and no step. */
    for (size_t i = 0; i < COUNT; i++) y[i] = i < COUNT / 2 ? 1.0 : 2.0;
    assert_int_equal(hfi_chain_summarise(ctx, COUNT, y, &s), HF_OK);
    assert_true(isinf(s.drift) && isnan(s.correlation) && s.mean == 2.0 && s.sd == 0.0);
    assert_int_equal(hfi_chain_summarise(ctx, COUNT / 2, y, &s), HF_OK);
    assert_true(isnan(s.drift) && isnan(s.correlation) && s.mean == 1.0);
    free(y);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlation_is_that_of_an_autoregression),
        cmocka_unit_test(correlation_is_geyers_sum),
        cmocka_unit_test(drift_is_in_standard_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
