/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of certified ranges fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/certify.h>

static const double LOWER[2 * WORKSHOP_D] = {0.0, -0.2, 1.0, 0.0},
                              UPPER[2 * WORKSHOP_D] = {1.0, 0.2, 1.2, 0.0};

static hf_status ask(workshop *w, hf_certify_what what, bool rigorous)
{
    hf_range range = {.lower = -77.0};
    double argmin[WORKSHOP_D] = {-77.0}, argmax[WORKSHOP_D] = {-77.0};
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 40;
    settings.rigorous = rigorous;
    const hf_status s =
        hf_certify(w->ctx, w->posterior, what, &settings, LOWER, UPPER, &range, argmin, argmax);
    assert_string_not_equal(hf_enum_name(HF_ENUM_CERTIFY_STOP, range.stop), "unknown");
    assert_true((range.lower == -77.0) == (s < 0) && (argmin[0] == -77.0) == (s < 0) &&
                (argmax[0] == -77.0) == (s < 0));
    return s < 0 ? s : HF_OK;
}

static hf_status mean(workshop *w)
{
    return ask(w, HF_CERTIFY_MEAN, false);
}

static hf_status both(workshop *w)
{
    return ask(w, HF_CERTIFY_MEAN_PLUS, false);
}

static hf_status rigorous(workshop *w)
{
    return ask(w, HF_CERTIFY_MEAN, true);
}

static hf_status boxes(workshop *w)
{
    hf_range range[2] = {{.lower = -77.0}, {.lower = -77.0}};
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 20;
    const hf_status s =
        hf_certify_boxes(w->ctx, w->posterior, HF_CERTIFY_SD, &settings, 2, LOWER, UPPER, range, NULL, NULL);
    assert_true((range[0].lower == -77.0) == (s < 0));
    return s < 0 ? s : HF_OK;
}

static void ranges(void **state)
{
    (void)state;
    RUN(CASE(mean, 20), CASE(both, 20), CASE(rigorous, 3), CASE(boxes, 30));
}

/* These allocate nothing at all: hf_certify_settings_default(), hf_enum_name(HF_ENUM_CERTIFY_STOP, ). */
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
