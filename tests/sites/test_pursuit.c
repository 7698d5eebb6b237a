/* SPDX-License-Identifier: Apache-2.0 */
/* Variances of a few readings' own: where they lie while they are being found, and what they are in the end. */
#include "sites/sites.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 4
};

static const double y[N] = {1.0, -2.0, 0.5, NAN}, known[N] = {0.0, 0.3, 0.1, 0.2};

static hf_sites *make(hf_context *ctx)
{
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, y, 0.2, known, &sites), HF_OK);
    return sites;
}

static void own_variances_add_to_noise_and_known_ones(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_sites *sites = make(ctx);
    hfi_sites_set_own_variance(sites, 1, known[1], 5.0);
    assert_near(hf_sites_variances(sites)[1], 0.2 + 0.3 + 5.0, 1e-15);
    assert_near(hf_sites_variances(sites)[0], 0.2, 1e-15);
    assert_near(hf_sites_targets(sites)[1], -2.0, 0.0);
    assert_near(hf_sites_weights(sites)[1], 1.0, 0.0);
    /* A held variance: d follows the noise with slope 1. */
    assert_near(hfi_sites_variance_slope(sites, 1), 1.0, 0.0);
    assert_int_equal(hf_sites_set_noise(ctx, sites, 0.7), HF_OK);
    assert_near(hf_sites_variances(sites)[1], 0.7 + 0.3 + 5.0, 1e-15);
    hfi_sites_set_own_variance(sites, 1, known[1], 0.0);
    assert_near(hf_sites_variances(sites)[1], 0.7 + 0.3, 1e-15);
    hf_sites_free(sites);
    hf_context_free(ctx);
}

static void folded_variances_are_weights(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_sites *sites = make(ctx);
    const double rho[N] = {0.0, 5.0, 1e12, 3.0};
    for (size_t i = 0; i < N; i++) hfi_sites_set_own_variance(sites, i, known[i], rho[i]);
    hfi_sites_fold_own_variances(sites, known, rho);
    for (size_t i = 0; i < 3; i++) {
        const double s = 0.2 + known[i], d = s + rho[i];
        assert_near(hf_sites_variances(sites)[i], d, 1e-12 * d);
        assert_near(hf_sites_weights(sites)[i], s / d, 1e-14);
        assert_near(sites->extra[i], known[i], 0.0);
        assert_near(hf_sites_targets(sites)[i], y[i], 0.0);
    }
    assert_false(hf_sites_is_present(sites, 3));
    assert_int_equal(hf_sites_present(sites), 3);
    hf_sites_free(sites);
    /* The reading's own noise, of several. */
    const size_t channel[N] = {0, 1, 1, 0};
    const double noise[2] = {0.2, 0.05};
    sites = make(ctx);
    assert_int_equal(hf_sites_set_channels(ctx, sites, 2, channel), HF_OK);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, noise), HF_OK);
    for (size_t i = 0; i < N; i++) hfi_sites_set_own_variance(sites, i, known[i], rho[i]);
    hfi_sites_fold_own_variances(sites, known, rho);
    for (size_t i = 0; i < 3; i++) {
        const double s = noise[channel[i]] + known[i], d = s + rho[i];
        assert_near(hf_sites_variances(sites)[i], d, 1e-12 * d);
        assert_near(hf_sites_weights(sites)[i], s / d, 1e-14);
    }
    hf_sites_free(sites);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_variances_add_to_noise_and_known_ones),
        cmocka_unit_test(folded_variances_are_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
