/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: one noise and one threshold each, against sites made one by one. */
#include "sites/sites.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 7,
    CHANNELS = 3
};

static const double readings[N] = {1.0, -2.0, NAN, 40.0, 0.5, -0.25, 3.0};
static const double known[N] = {0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.0};
static const double centre[N] = {0.5, 0.5, 0.0, -0.5, 0.25, 0.0, 1.0};
static const size_t channel[N] = {0, 1, 2, 1, 2, 0, 1};
static const double noise[CHANNELS] = {0.3, 0.02, 1.5};
static const double threshold[CHANNELS] = {0.7, 2.0, INFINITY};

/* The site of reading i alone, without channels. */
static void compare_with_single(hf_context *ctx, const hf_sites *sites, bool robust)
{
    for (size_t i = 0; i < N; i++) {
        hf_sites *one = NULL;
        const size_t c = channel[i];
        assert_int_equal(robust ? hf_sites_robust(ctx, 1, readings + i, noise[c], known + i, centre + i,
                                                  threshold[c], &one)
                                : hf_sites_gaussian(ctx, 1, readings + i, noise[c], known + i, &one),
                         HF_OK);
        assert_int_equal(hf_sites_channel(sites, i), c);
        assert_true(hf_sites_weights(sites)[i] == hf_sites_weights(one)[0]);
        assert_true(hf_sites_variances(sites)[i] == hf_sites_variances(one)[0]);
        if (!isnan(readings[i])) assert_true(hf_sites_targets(sites)[i] == hf_sites_targets(one)[0]);
        hf_sites_free(one);
    }
}

static void test_each_channel_is_its_own(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_sites *sites = NULL, *copy = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, readings, 0.5, known, &sites), HF_OK);
    assert_int_equal(hf_sites_channels(sites), 1);
    assert_int_equal(hf_sites_set_channels(ctx, sites, CHANNELS, channel), HF_OK);
    assert_int_equal(hf_sites_channels(sites), CHANNELS);
    assert_true(hf_sites_channel_noise(sites, 2) == 0.5);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, noise), HF_OK);
    compare_with_single(ctx, sites, false);
    assert_int_equal(hf_sites_recentre_channels(ctx, sites, centre, threshold), HF_OK);
    compare_with_single(ctx, sites, true);
    assert_int_equal(hf_sites_copy(ctx, sites, &copy), HF_OK);
    hf_sites_free(sites);
    compare_with_single(ctx, copy, true);
    assert_true(hf_sites_channel_noise(copy, 1) == noise[1] && hf_sites_noise(copy) == noise[0]);
    /* One number for all of them. */
    assert_int_equal(hf_sites_set_noise(ctx, copy, 0.9), HF_OK);
    for (size_t c = 0; c < CHANNELS; c++) assert_true(hf_sites_channel_noise(copy, c) == 0.9);
    hf_sites_free(copy);
    hf_context_free(ctx);
}

/* d = s^2 / (2 beta^2 weight), or s / weight where beta is 0. */
static void compare_amplitudes(const hf_sites *sites, const double *beta)
{
    for (size_t i = 0; i < N; i++) {
        if (isnan(readings[i])) continue;
        const double b = beta[channel[i]], s = hf_sites_channel_noise(sites, channel[i]) + known[i];
        const double weight = hf_sites_weights(sites)[i];
        const double wanted = b > 0.0 ? s * s / (2.0 * b * b * weight) : s / weight;
        assert_true(hf_sites_beta(sites, i) == b);
        assert_true(fabs(hf_sites_variances(sites)[i] / wanted - 1.0) < 1e-14);
        assert_true(fabs(hfi_sites_variance_slope(sites, i) * s / wanted - (b > 0.0 ? 2.0 : 1.0)) < 1e-14);
    }
}

static void test_amplitudes_of_channels(void **state)
{
    (void)state;
    static const double beta[CHANNELS] = {0.5, 0.0, 3.0}, same[CHANNELS] = {2.0, 2.0, 2.0};
    static const double wrong[3][CHANNELS] = {{1.0, 1.0, NAN}, {1.0, -1.0, 1.0}, {INFINITY, 1.0, 1.0}};
    hf_context *ctx = hf_context_create();
    hf_sites *sites = NULL, *copy = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, readings, 0.5, known, &sites), HF_OK);
    assert_int_equal(hf_sites_set_channels(ctx, sites, CHANNELS, channel), HF_OK);
    assert_int_equal(hf_sites_recentre_channels(ctx, sites, centre, threshold), HF_OK);
    assert_int_equal(hf_sites_set_channel_beta(ctx, sites, beta), HF_OK);
    compare_amplitudes(sites, beta);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, noise), HF_OK);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(hf_sites_set_channel_beta(ctx, sites, wrong[k]), HF_ERR_ARGUMENT);
    compare_amplitudes(sites, beta);
    assert_int_equal(hf_sites_copy(ctx, sites, &copy), HF_OK);
    hf_sites_free(sites);
    compare_amplitudes(copy, beta);
    assert_int_equal(hf_sites_set_beta(ctx, copy, 2.0), HF_OK);
    compare_amplitudes(copy, same);
    hf_sites_free(copy);
    hf_context_free(ctx);
}

static void test_refusals_leave_sites_alone(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_sites *sites = NULL;
    size_t wrong[N] = {0};
    const double zero[CHANNELS] = {0.3, 0.0, 0.4}, endless[CHANNELS] = {0.3, 0.1, INFINITY};
    const double no_threshold[CHANNELS] = {1.0, 0.0, 1.0};
    assert_int_equal(hf_sites_gaussian(ctx, N, readings, 0.5, known, &sites), HF_OK);
    wrong[4] = CHANNELS;
    assert_int_equal(hf_sites_set_channels(ctx, sites, CHANNELS, wrong), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "reading 4"));
    assert_int_equal(hf_sites_channels(sites), 1);
    assert_int_equal(hf_sites_set_channels(ctx, sites, 0, channel), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_channels(ctx, sites, CHANNELS, channel), HF_OK);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, noise), HF_OK);
    /* Reading 3 of channel 1 has no known variance. */
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, zero), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, endless), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_recentre_channels(ctx, sites, centre, no_threshold), HF_ERR_ARGUMENT);
    compare_with_single(ctx, sites, false);
    hf_sites_free(sites);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_channel_is_its_own),
        cmocka_unit_test(test_refusals_leave_sites_alone),
        cmocka_unit_test(test_amplitudes_of_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
