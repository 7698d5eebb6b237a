/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to certified ranges; see test_arguments.c. */
#include "api/refused.h"

#include <holdfast/certify.h>

#define ASK(what, settings, lower, upper)                                                                    \
    hf_certify(w->ctx, w->posterior, what, settings, lower, upper, &range, argmin, argmax)

static void sides(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, -0.2}, upper[WORKSHOP_D] = {1.0, 0.2},
                 nan[WORKSHOP_D] = {0.0, NAN}, far[WORKSHOP_D] = {1.0, INFINITY},
                 below[WORKSHOP_D] = {1.0, -0.3}, out[WORKSHOP_D] = {1.0, 1e200};
    double argmin[WORKSHOP_D] = {-77.0}, argmax[WORKSHOP_D] = {-77.0};
    hf_range range = {.lower = -77.0};
    ARGUMENT(hf_certify(w->ctx, NULL, HF_CERTIFY_MEAN, NULL, lower, upper, &range, NULL, NULL));
    ARGUMENT(ASK(HF_CERTIFY_MEAN, NULL, NULL, upper));
    ARGUMENT(ASK(HF_CERTIFY_MEAN, NULL, lower, NULL));
    ARGUMENT(hf_certify(w->ctx, w->posterior, HF_CERTIFY_MEAN, NULL, lower, upper, NULL, NULL, NULL));
    assert_int_equal(hf_certify(NULL, w->posterior, HF_CERTIFY_MEAN, NULL, lower, upper, &range, NULL, NULL),
                     HF_ERR_ARGUMENT);
    ARGUMENT(ASK((hf_certify_what)17, NULL, lower, upper));
    ARGUMENT(ASK(HF_CERTIFY_MEAN, NULL, lower, below));
    assert_contains(hf_context_message(w->ctx), "input 2");
    assert_contains(hf_context_message(w->ctx), "above the upper");
    REFUSED(HF_ERR_NOT_FINITE, ASK(HF_CERTIFY_SD, NULL, nan, upper));
    REFUSED(HF_ERR_NOT_FINITE, ASK(HF_CERTIFY_MEAN, NULL, lower, far));
    ARGUMENT(ASK(HF_CERTIFY_MEAN, NULL, lower, out));
    assert_contains(hf_context_message(w->ctx), "too far out");
    const double two_lower[2 * WORKSHOP_D] = {0.0, 0.0, 0.5, 0.5},
                               two_upper[2 * WORKSHOP_D] = {1.0, 1.0, 0.4, 0.6};
    hf_range two[2] = {{.lower = -77.0}, {.lower = -77.0}};
    ARGUMENT(hf_certify_boxes(w->ctx, w->posterior, HF_CERTIFY_MEAN, NULL, 2, two_lower, two_upper, two, NULL,
                              NULL));
    assert_contains(hf_context_message(w->ctx), "box 2");
    assert_true(range.lower == -77.0 && two[0].lower == -77.0 && argmin[0] == -77.0 && argmax[0] == -77.0);
}

static void settings(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, -0.2}, upper[WORKSHOP_D] = {1.0, 0.2};
    double argmin[WORKSHOP_D] = {-77.0}, argmax[WORKSHOP_D] = {-77.0};
    hf_range range = {.lower = -77.0};
    hf_certify_settings s = hf_certify_settings_default();
    s.output = 1;
    ARGUMENT(ASK(HF_CERTIFY_MEAN, &s, lower, upper));
    assert_contains(hf_context_message(w->ctx), "output 1");
    const double tolerances[] = {0.0, -1.0, NAN};
    for (size_t k = 0; k < 3; k++) {
        s = hf_certify_settings_default();
        s.tolerance = tolerances[k];
        ARGUMENT(ASK(HF_CERTIFY_MEAN, &s, lower, upper));
        s = hf_certify_settings_default();
        s.time_limit = k == 0 ? -1e-3 : -tolerances[2];
        ARGUMENT(ASK(HF_CERTIFY_MEAN, &s, lower, upper));
    }
    s = hf_certify_settings_default();
    s.lower_only = s.upper_only = true;
    ARGUMENT(ASK(HF_CERTIFY_MEAN, &s, lower, upper));
    s = hf_certify_settings_default();
    s.beta = INFINITY;
    ARGUMENT(ASK(HF_CERTIFY_MEAN_PLUS, &s, lower, upper));
    assert_true(range.lower == -77.0 && argmin[0] == -77.0 && argmax[0] == -77.0);
}

REFUSED_TEST(sides)
REFUSED_TEST(settings)

static void names_of_reasons(void **state)
{
    (void)state;
    assert_string_equal(hf_enum_name(HF_ENUM_CERTIFY_STOP, HF_CERTIFY_TOLERANCE), "tolerance");
    assert_string_equal(hf_enum_name(HF_ENUM_CERTIFY_STOP, HF_CERTIFY_ROUNDING), "rounding");
    assert_string_equal(hf_enum_name(HF_ENUM_CERTIFY_STOP, HF_CERTIFY_NOT_FINITE), "not finite");
    assert_string_equal(hf_enum_name(HF_ENUM_CERTIFY_STOP, (unsigned)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_refuse),
        cmocka_unit_test(settings_refuse),
        cmocka_unit_test(names_of_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
