/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of trust regions fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/trust_region.h>

static hf_domain unit_box(void)
{
    static const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0};
    return (hf_domain){.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
}

static hf_status choose(workshop *w)
{
    const double samples[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    size_t chosen[2] = {77, 77};
    const hf_status status = hf_trust_choose(w->ctx, 2, 3, samples, chosen);
    assert_int_equal(chosen[0], status < 0 ? 77 : 2);
    return status;
}

/* What allocates nothing. */
static hf_status regions(workshop *w)
{
    const double centre[WORKSHOP_D] = {0.5, 0.5};
    const hf_domain box = unit_box();
    const hf_trust_settings settings = hf_trust_settings_default();
    const hf_trust_outcome outcome = {.before = 0.0, .after = 1.0, .scale = 1.0};
    double lower[WORKSHOP_D], upper[WORKSHOP_D], x[WORKSHOP_D];
    hf_trust_region region;
    hf_status s = hf_trust_region_create(w->ctx, &settings, WORKSHOP_D, 1, &region);
    if (s >= 0) s = hf_trust_region_update(w->ctx, &settings, &outcome, &region, NULL);
    if (s >= 0) s = hf_trust_region_restart(w->ctx, &settings, &region);
    if (s >= 0) s = hf_trust_region_box(w->ctx, &region, &box, centre, NULL, lower, upper);
    if (s >= 0) s = hf_trust_candidates(w->ctx, &box, centre, 3, 1, x);
    return s;
}

static void eulbo_survives(void **state)
{
    (void)state;
    RUN(CASE(choose, 2), CASE(regions, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eulbo_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
