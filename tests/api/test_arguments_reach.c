/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to the calls about tubes; see test_arguments.c. */
#include "api/envelopes.h"
#include "api/refused.h"

#include <holdfast/reach.h>

static void creating(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    const hf_envelope *const known[2] = {envelope, NULL};
    hf_reach_settings settings = hf_reach_settings_default();
    hf_reach *out = NULL;
    ARGUMENT(hf_reach_create(w->ctx, 1, 1, NULL, NULL, &out));
    ARGUMENT(hf_reach_create(w->ctx, 1, 1, known, NULL, NULL));
    ARGUMENT(hf_reach_create(w->ctx, 0, 2, known, NULL, &out));
    ARGUMENT(hf_reach_create(w->ctx, 2, 0, known, NULL, &out));
    REFUSED(HF_ERR_DIMENSION, hf_reach_create(w->ctx, 1, 2, known, NULL, &out));
    REFUSED(HF_ERR_DIMENSION, hf_reach_create(w->ctx, 1, SIZE_MAX, known, NULL, &out));
    settings.splits = 0;
    ARGUMENT(hf_reach_create(w->ctx, 1, 1, known, &settings, &out));
    settings.splits = 70000;
    ARGUMENT(hf_reach_create(w->ctx, 1, 1, known, &settings, &out));
    assert_int_equal(hf_reach_create(NULL, 1, 1, known, NULL, &out), HF_ERR_ARGUMENT);
    assert_null(out);
    hf_reach_free(NULL);
    hf_envelope_free(envelope);
}

static void asking(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    const hf_envelope *const known[1] = {envelope};
    hf_reach *reach = NULL;
    assert_int_equal(hf_reach_create(w->ctx, 1, 1, known, NULL, &reach), HF_OK);
    const double low = 0.2, high = 0.3, u[2] = {0.5, 0.6}, bad[2] = {0.5, NAN}, negative = -1.0,
                 endless = INFINITY, not_a_number = NAN;
    double lower[2] = {77.0, 77.0}, upper[2] = {77.0, 77.0};
    assert_int_equal(hf_reach_tube(NULL, 2, &low, &high, u, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, NULL, &high, u, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, NULL, u, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, NULL, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, NULL, NULL, NULL, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, NULL, NULL, lower, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &high, &low, u, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, &negative, NULL, lower, upper), HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, &not_a_number, NULL, lower, upper),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, &endless, NULL, lower, upper),
                     HF_ERR_NOT_FINITE);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, bad, NULL, NULL, lower, upper), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &endless, u, NULL, NULL, lower, upper), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_reach_tube(reach, 2, &not_a_number, &high, u, NULL, NULL, lower, upper),
                     HF_ERR_NOT_FINITE);
    assert_true(lower[0] == 77.0 && upper[1] == 77.0);
    assert_int_equal(hf_reach_tube(reach, 0, &low, &high, NULL, NULL, NULL, NULL, NULL), HF_OK);
    /* Grown beyond its reserve, which is none: a step on it is refused. */
    const double x[ENVELOPES_INPUTS] = {9.0, 9.0};
    assert_int_equal(hf_envelope_add(w->ctx, envelope, x, 0.0, 1.0, 1.0), HF_OK);
    assert_int_equal(hf_reach_tube(reach, 2, &low, &high, u, NULL, NULL, lower, upper), HF_ERR_ARGUMENT);
    hf_reach_free(reach);
    hf_envelope_free(envelope);
}

REFUSED_TEST(creating)
REFUSED_TEST(asking)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating_refuse), cmocka_unit_test(asking_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
