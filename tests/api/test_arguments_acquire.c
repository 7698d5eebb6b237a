/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments for acquisition functions: an error with a message, outputs as they were. */
#include "api/refused.h"

static void formulas(workshop *w)
{
    hf_acquisition kind = HF_ACQUIRE_PI;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACQUISITION, "no such", &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACQUISITION, NULL, &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACQUISITION, "ei", NULL));
    assert_true(kind == HF_ACQUIRE_PI);
    assert_string_equal(hf_enum_name(HF_ENUM_ACQUISITION, (unsigned)(-1)), "unknown");
    assert_true(isnan(hf_acquisition_value((hf_acquisition)(-1), 0.0, 1.0, 0.0, 0.0, NULL, NULL)));
    assert_true(isnan(hf_acquisition_value(HF_ACQUIRE_EI, NAN, 1.0, 0.0, 0.0, NULL, NULL)));
}

static void places(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0}, none[] = {0.0, NAN};
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const hf_acquire a = {.size = sizeof a, .posterior = w->posterior, .best = 0.5},
                     empty = {.size = sizeof empty, .best = 0.5},
                     lost = {.size = sizeof lost, .posterior = w->posterior, .best = NAN};
    hf_search_settings settings = hf_search_settings_default();
    double x[WORKSHOP_D] = {7.0, 7.0}, value = 7.0;
    ARGUMENT(hf_acquire_evaluate(w->ctx, NULL, 1, w->at, &value, NULL));
    ARGUMENT(hf_acquire_evaluate(w->ctx, &empty, 1, w->at, &value, NULL));
    ARGUMENT(hf_acquire_evaluate(w->ctx, &a, 1, NULL, &value, NULL));
    ARGUMENT(hf_acquire_evaluate(w->ctx, &a, 1, w->at, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_evaluate(w->ctx, &a, 1, none, &value, x));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_evaluate(w->ctx, &lost, 1, w->at, &value, x));
    ARGUMENT(hf_acquire_maximise(w->ctx, NULL, &box, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_maximise(w->ctx, &empty, &box, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_maximise(w->ctx, &a, NULL, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_maximise(w->ctx, &a, &box, NULL, 1, NULL, x, NULL));
    ARGUMENT(hf_acquire_maximise(w->ctx, &a, &box, NULL, 0, NULL, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_maximise(w->ctx, &a, &box, NULL, 1, none, x, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_maximise(w->ctx, &lost, &box, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, NULL, &box, NULL, 1, 0, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, &empty, &box, NULL, 1, 0, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, &a, NULL, NULL, 1, 0, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, &a, &box, NULL, 0, 0, 0, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, &a, &box, NULL, 1, 0, 1, NULL, x, NULL));
    ARGUMENT(hf_acquire_batch(w->ctx, &a, &box, NULL, 1, 0, 0, NULL, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_batch(w->ctx, &a, &box, NULL, 1, 0, 1, none, x, NULL));
    settings.resolution = NAN;
    ARGUMENT(hf_acquire_maximise(w->ctx, &a, &box, &settings, 0, NULL, x, NULL));
    assert_true(x[0] == 7.0 && x[1] == 7.0 && value == 7.0);
}

static void together(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0}, none[] = {0.0, NAN};
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const hf_acquire a = {.size = sizeof a, .posterior = w->posterior, .best = 0.5},
                     empty = {.size = sizeof empty, .best = 0.5},
                     lost = {.size = sizeof lost, .posterior = w->posterior, .best = NAN};
    double x[WORKSHOP_D] = {0.5, 0.5}, outside[WORKSHOP_D] = {0.5, 1.5}, value = 7.0, gain = 7.0;
    ARGUMENT(hf_acquire_joint(w->ctx, NULL, 1, w->at, &value, NULL));
    ARGUMENT(hf_acquire_joint(w->ctx, &empty, 1, w->at, &value, NULL));
    ARGUMENT(hf_acquire_joint(w->ctx, &a, 0, w->at, &value, NULL));
    ARGUMENT(hf_acquire_joint(w->ctx, &a, 1, NULL, &value, NULL));
    ARGUMENT(hf_acquire_joint(w->ctx, &a, 1, w->at, NULL, x));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_joint(w->ctx, &a, 1, none, &value, x));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_joint(w->ctx, &lost, 1, w->at, &value, x));
    ARGUMENT(hf_acquire_ascend(w->ctx, NULL, &box, 0, 1, x, &gain));
    ARGUMENT(hf_acquire_ascend(w->ctx, &empty, &box, 0, 1, x, &gain));
    ARGUMENT(hf_acquire_ascend(w->ctx, &a, NULL, 0, 1, x, &gain));
    ARGUMENT(hf_acquire_ascend(w->ctx, &a, &box, 0, 0, x, &gain));
    ARGUMENT(hf_acquire_ascend(w->ctx, &a, &box, 0, 1, NULL, &gain));
    ARGUMENT(hf_acquire_ascend(w->ctx, &a, &box, 0, 1, outside, &gain));
    REFUSED(HF_ERR_NOT_FINITE, hf_acquire_ascend(w->ctx, &lost, &box, 0, 1, x, &gain));
    assert_true(x[0] == 0.5 && x[1] == 0.5 && value == 7.0 && gain == 7.0);
}

REFUSED_TEST(formulas)
REFUSED_TEST(places)
REFUSED_TEST(together)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_refuse),
        cmocka_unit_test(places_refuse),
        cmocka_unit_test(together_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
