/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to the envelope's calls; see test_arguments.c. */
#include "api/envelopes.h"
#include "api/refused.h"

static void creating(workshop *w)
{
    const hf_bounded_readings good = envelopes_readings();
    double negative[ENVELOPES_READINGS] = {0.0}, infinite[ENVELOPES_READINGS], y[ENVELOPES_READINGS] = {0.0};
    hf_envelope *out = NULL;
    hf_bounded_readings bad = good;
    ARGUMENT(hf_envelope_create(w->ctx, NULL, &good, 1.0, NULL, &out));
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, NULL, 1.0, NULL, &out));
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &good, 1.0, NULL, NULL));
    assert_int_equal(hf_envelope_create(NULL, w->kernel, &good, 1.0, NULL, &out), HF_ERR_ARGUMENT);
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &good, 0.0, NULL, &out));
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &good, NAN, NULL, &out));
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &good, INFINITY, NULL, &out));
    bad.n = 0;
    REFUSED(HF_ERR_NO_DATA, hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad = good;
    bad.x = NULL;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad = good;
    bad.ldx = 1;
    REFUSED(HF_ERR_DIMENSION, hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad = good;
    bad.noise_bound = -1.0;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad.noise_bound = NAN;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad.noise_bound = INFINITY;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    negative[3] = -1e-9;
    for (size_t i = 0; i < ENVELOPES_READINGS; i++) infinite[i] = INFINITY;
    bad = good;
    bad.above = negative;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    assert_contains(hf_context_message(w->ctx), "row 4");
    bad.above = bad.below = infinite;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    bad = good;
    y[2] = NAN;
    bad.y = y;
    REFUSED(HF_ERR_NOT_FINITE, hf_envelope_create(w->ctx, w->kernel, &bad, 1.0, NULL, &out));
    assert_contains(hf_context_message(w->ctx), "row 3");
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.jitter = -1.0;
    ARGUMENT(hf_envelope_create(w->ctx, w->kernel, &good, 1.0, &settings, &out));
    REFUSED(HF_ERR_INCONSISTENT, hf_envelope_create(w->ctx, w->kernel, &good, 1e-3, NULL, &out));
    assert_contains(hf_context_message(w->ctx), "smallest norm");
    hf_kernel *white = NULL;
    assert_int_equal(hf_kernel_parse(w->ctx, "se + white", NULL, ENVELOPES_INPUTS, &white), HF_OK);
    ARGUMENT(hf_envelope_create(w->ctx, white, &good, 1.0, NULL, &out));
    assert_contains(hf_context_message(w->ctx), "white");
    hf_kernel_free(white);
    assert_null(out);
}

static void judging(workshop *w)
{
    hf_bounded_readings readings = envelopes_readings();
    hf_consistency report = {.distinct = 77};
    ARGUMENT(hf_envelope_consistency(w->ctx, NULL, &readings, 1.0, &report, NULL));
    ARGUMENT(hf_envelope_consistency(w->ctx, w->kernel, NULL, 1.0, &report, NULL));
    ARGUMENT(hf_envelope_consistency(w->ctx, w->kernel, &readings, 1.0, NULL, NULL));
    ARGUMENT(hf_envelope_consistency(w->ctx, w->kernel, &readings, NAN, &report, NULL));
    ARGUMENT(hf_envelope_consistency(w->ctx, w->kernel, &readings, 0.0, &report, NULL));
    readings.noise_bound = -1.0;
    ARGUMENT(hf_envelope_consistency(w->ctx, w->kernel, &readings, 1.0, &report, NULL));
    assert_int_equal(report.distinct, 77);
}

static void asking(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel), *other = envelopes_make(w->ctx, w->kernel);
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(w->ctx, envelope);
    double x[ENVELOPES_INPUTS] = {0.5, 0.5};
    const double bad[ENVELOPES_INPUTS] = {0.5, NAN};
    hf_bound bound = {.lower = 77.0};
    refused_mark(w);
    assert_null(hf_envelope_workspace_create(w->ctx, NULL));
    assert_int_equal(hf_envelope_bounds(NULL, workspace, x, NULL, &bound, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_envelope_bounds(envelope, NULL, x, NULL, &bound, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_envelope_bounds(envelope, workspace, NULL, NULL, &bound, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_envelope_bounds(envelope, workspace, x, NULL, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_envelope_bounds(other, workspace, x, NULL, &bound, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_envelope_bounds(envelope, workspace, bad, NULL, &bound, NULL, NULL),
                     HF_ERR_NOT_FINITE);
    ARGUMENT(hf_envelope_bounds_batch(w->ctx, NULL, 1, x, ENVELOPES_INPUTS, NULL, &bound));
    ARGUMENT(hf_envelope_bounds_batch(w->ctx, envelope, 1, NULL, ENVELOPES_INPUTS, NULL, &bound));
    ARGUMENT(hf_envelope_bounds_batch(w->ctx, envelope, 1, x, ENVELOPES_INPUTS, NULL, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_envelope_bounds_batch(w->ctx, envelope, 1, x, 1, NULL, &bound));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_envelope_bounds_batch(w->ctx, envelope, 1, bad, ENVELOPES_INPUTS, NULL, &bound));
    assert_int_equal(hf_envelope_reading(envelope, 1000, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_true(bound.lower == 77.0);
    size_t count = 77;
    hf_envelope_active(NULL, HF_UPPER, &count, NULL, NULL);
    assert_int_equal(count, 0);
    hf_envelope_workspace_reset(NULL);
    hf_envelope_workspace_free(NULL);
    assert_int_equal(hf_envelope_readings(NULL) + hf_envelope_dimension(NULL), 0);
    assert_true(isnan(hf_envelope_norm(NULL)) && isnan(hf_envelope_minimum_norm(NULL)));
    assert_true(isnan(hf_envelope_offset(NULL)));
    hf_envelope_conflict(NULL, NULL, NULL, NULL);
    assert_true(hf_envelope_bytes(NULL) == 0.0 && hf_envelope_kernel(NULL) == NULL);
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    hf_envelope_free(other);
    hf_envelope_free(NULL);
}

static void adding(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    const double x[ENVELOPES_INPUTS] = {0.5, 0.5}, bad[ENVELOPES_INPUTS] = {INFINITY, 0.0};
    const double *known = NULL;
    double lower, upper, lower_after, upper_after;
    const size_t before = hf_envelope_readings(envelope);
    ARGUMENT(hf_envelope_add(w->ctx, NULL, x, 0.0, 1.0, 1.0));
    ARGUMENT(hf_envelope_add(w->ctx, envelope, NULL, 0.0, 1.0, 1.0));
    ARGUMENT(hf_envelope_add(w->ctx, envelope, x, 0.0, -1.0, 1.0));
    ARGUMENT(hf_envelope_add(w->ctx, envelope, x, 0.0, 1.0, NAN));
    ARGUMENT(hf_envelope_add(w->ctx, envelope, x, 0.0, INFINITY, INFINITY));
    REFUSED(HF_ERR_NOT_FINITE, hf_envelope_add(w->ctx, envelope, x, NAN, 1.0, 1.0));
    REFUSED(HF_ERR_NOT_FINITE, hf_envelope_add(w->ctx, envelope, bad, 0.0, 1.0, 1.0));
    REFUSED(HF_ERR_INCONSISTENT, hf_envelope_add(w->ctx, envelope, x, 1e6, 1.0, 1.0));
    assert_int_equal(hf_envelope_reading(envelope, 0, &known, &lower, &upper), HF_OK);
    REFUSED(HF_ERR_INCONSISTENT, hf_envelope_add(w->ctx, envelope, known, upper + 1.0, 0.5, 0.5));
    assert_int_equal(hf_envelope_reading(envelope, 0, NULL, &lower_after, &upper_after), HF_OK);
    assert_true(lower_after == lower && upper_after == upper);
    assert_int_equal(hf_envelope_readings(envelope), before);
    hf_envelope_free(envelope);
}

REFUSED_TEST(creating)
REFUSED_TEST(judging)
REFUSED_TEST(asking)
REFUSED_TEST(adding)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating_refuse), cmocka_unit_test(judging_refuse),
                                       cmocka_unit_test(asking_refuse), cmocka_unit_test(adding_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
