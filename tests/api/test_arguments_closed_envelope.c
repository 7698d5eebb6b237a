/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to closed envelopes and norm estimates; see test_arguments.c. */
#include "api/envelopes.h"
#include "api/refused.h"

#include <holdfast/closed_envelope.h>

static void creating(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    hf_closed_envelope *out = NULL;
    const hf_closed_method ridge = HF_CLOSED_RIDGE;
    const double bad[] = {-1.0, NAN, INFINITY};
    ARGUMENT(hf_closed_envelope_create(w->ctx, NULL, ridge, NULL, &out));
    ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, ridge, NULL, NULL));
    ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, (hf_closed_method)17, NULL, &out));
    ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, (hf_closed_method)-1, NULL, &out));
    assert_int_equal(hf_closed_envelope_create(NULL, envelope, ridge, NULL, &out), HF_ERR_ARGUMENT);
    for (size_t i = 0; i < 3; i++) {
        hf_closed_settings settings = hf_closed_settings_default();
        settings.ridge = bad[i];
        ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, ridge, &settings, &out));
        assert_contains(hf_context_message(w->ctx), "ridge");
        settings = hf_closed_settings_default();
        settings.site = bad[i];
        ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, HF_CLOSED_ELLIPSOID, &settings, &out));
        settings = hf_closed_settings_default();
        settings.noise_sd = bad[i];
        ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, HF_CLOSED_GP, &settings, &out));
        settings = hf_closed_settings_default();
        settings.probability = bad[i];
        ARGUMENT(hf_closed_envelope_create(w->ctx, envelope, HF_CLOSED_GP, &settings, &out));
    }
    double alpha[ENVELOPES_READINGS] = {0.0};
    ARGUMENT(hf_closed_envelope_model(w->ctx, NULL, alpha, &out));
    ARGUMENT(hf_closed_envelope_model(w->ctx, envelope, NULL, &out));
    ARGUMENT(hf_closed_envelope_model(w->ctx, envelope, alpha, NULL));
    alpha[3] = NAN;
    REFUSED(HF_ERR_NOT_FINITE, hf_closed_envelope_model(w->ctx, envelope, alpha, &out));
    assert_null(out);
    hf_envelope_free(envelope);
}

static void around_posteriors(workshop *w)
{
    hf_closed_envelope *out = NULL;
    double bounds[WORKSHOP_N] = {0.0};
    const double bad[] = {-1.0, NAN, INFINITY};
    ARGUMENT(hf_closed_envelope_posterior(w->ctx, NULL, 1.0, 1.0, NULL, &out));
    ARGUMENT(hf_closed_envelope_posterior(w->ctx, w->posterior, 1.0, 1.0, NULL, NULL));
    /* Robust sites without a bound for each. */
    ARGUMENT(hf_closed_envelope_posterior(w->ctx, w->posterior, 1.0, 1.0, NULL, &out));
    ARGUMENT(hf_closed_envelope_posterior(w->ctx, w->posterior, 0.0, 1.0, bounds, &out));
    for (size_t i = 0; i < 3; i++) {
        ARGUMENT(hf_closed_envelope_posterior(w->ctx, w->posterior, bad[i], 1.0, bounds, &out));
        bounds[2] = bad[i];
        ARGUMENT(hf_closed_envelope_posterior(w->ctx, w->posterior, 1.0, 1.0, bounds, &out));
        assert_contains(hf_context_message(w->ctx), "anchor 2");
    }
    bounds[2] = 0.0;
    REFUSED(HF_ERR_INCONSISTENT, hf_closed_envelope_posterior(w->ctx, w->posterior, 1e-3, 0.0, bounds, &out));
    assert_null(out);
}

static void asking(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    hf_closed_envelope *closed = NULL;
    const double x[ENVELOPES_INPUTS] = {0.5, 0.5}, bad[ENVELOPES_INPUTS] = {0.5, NAN};
    double lower = 77.0;
    assert_int_equal(hf_closed_envelope_create(w->ctx, envelope, HF_CLOSED_MINIMUM_NORM, NULL, &closed),
                     HF_OK);
    ARGUMENT(hf_closed_envelope_bounds(w->ctx, NULL, 1, x, ENVELOPES_INPUTS, &lower, NULL, NULL));
    ARGUMENT(hf_closed_envelope_bounds(w->ctx, closed, 1, NULL, ENVELOPES_INPUTS, &lower, NULL, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_closed_envelope_bounds(w->ctx, closed, 1, x, 1, &lower, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_closed_envelope_bounds(w->ctx, closed, 1, bad, ENVELOPES_INPUTS, &lower, NULL, NULL));
    assert_true(lower == 77.0);
    assert_int_equal(hf_closed_envelope_bounds(w->ctx, closed, 0, NULL, ENVELOPES_INPUTS, NULL, NULL, NULL),
                     HF_OK);
    assert_int_equal(hf_closed_envelope_bounds(w->ctx, closed, 1, x, ENVELOPES_INPUTS, NULL, NULL, NULL),
                     HF_OK);
    assert_true(hf_closed_envelope_radius(closed) > 0.0);
    hf_closed_envelope_free(closed);
    hf_closed_envelope_free(NULL);
    hf_envelope_free(envelope);
}

static void norms(workshop *w)
{
    hf_bounded_readings readings = envelopes_readings();
    hf_norm_point curve = {77, 77.0};
    ARGUMENT(hf_norm_estimate(w->ctx, NULL, &readings, 1, &curve));
    ARGUMENT(hf_norm_estimate(w->ctx, w->kernel, NULL, 1, &curve));
    ARGUMENT(hf_norm_estimate(w->ctx, w->kernel, &readings, 1, NULL));
    ARGUMENT(hf_norm_estimate(w->ctx, w->kernel, &readings, 0, &curve));
    ARGUMENT(hf_norm_estimate(w->ctx, w->kernel, &readings, ENVELOPES_READINGS + 1, &curve));
    assert_int_equal(hf_norm_estimate(NULL, w->kernel, &readings, 1, &curve), HF_ERR_ARGUMENT);
    readings.noise_bound = -1.0;
    ARGUMENT(hf_norm_estimate(w->ctx, w->kernel, &readings, 1, &curve));
    readings.n = 0;
    REFUSED(HF_ERR_NO_DATA, hf_norm_estimate(w->ctx, w->kernel, &readings, 1, &curve));
    assert_int_equal(curve.readings, 77);
}

REFUSED_TEST(creating)
REFUSED_TEST(around_posteriors)
REFUSED_TEST(asking)
REFUSED_TEST(norms)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating_refuse),
                                       cmocka_unit_test(around_posteriors_refuse),
                                       cmocka_unit_test(asking_refuse), cmocka_unit_test(norms_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
