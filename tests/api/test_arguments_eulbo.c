/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments for trust regions: an error with a message, outputs as they were. */
#include "api/refused.h"

#include <holdfast/trust_region.h>

static void settings(workshop *w)
{
    hf_trust_settings s[] = {hf_trust_settings_default(), hf_trust_settings_default(),
                             hf_trust_settings_default(), hf_trust_settings_default(),
                             hf_trust_settings_default()};
    s[0].side = 2.0;
    s[1].smallest = 0.0;
    s[2].successes = 0;
    s[3].improvement = -1.0;
    s[4].largest = NAN;
    const char *const words[] = {"side 2", "0 < smallest", "0 successes", "-1", "not finite"};
    const hf_trust_outcome outcome = {.after = 1.0};
    hf_trust_region region = {.side = 0.25, .failures_allowed = 3};
    for (size_t k = 0; k < 5; k++) {
        const hf_status expected = k == 4 ? HF_ERR_NOT_FINITE : HF_ERR_ARGUMENT;
        REFUSED(expected, hf_trust_region_create(w->ctx, &s[k], 2, 1, &region));
        assert_contains(hf_context_message(w->ctx), words[k]);
        REFUSED(expected, hf_trust_region_update(w->ctx, &s[k], &outcome, &region, NULL));
        REFUSED(expected, hf_trust_region_restart(w->ctx, &s[k], &region));
    }
    ARGUMENT(hf_trust_region_create(w->ctx, NULL, 0, 1, &region));
    ARGUMENT(hf_trust_region_create(w->ctx, NULL, 1, 0, &region));
    ARGUMENT(hf_trust_region_create(w->ctx, NULL, 1, 1, NULL));
    assert_true(region.side == 0.25 && region.failures_allowed == 3 && region.successes == 0);
}

static void regions(workshop *w)
{
    const hf_trust_outcome good = {.after = 1.0}, lost = {.after = NAN}, odd = {.scale = -1.0};
    hf_trust_region region = {.side = 0.25, .failures_allowed = 3},
                    ended = {.side = 1e-3, .failures_allowed = 3};
    hf_trust_region wide = {.side = INFINITY, .failures_allowed = 3}, none = {.side = 0.25};
    hf_trust_event event = HF_TRUST_ENDED;
    REFUSED(HF_ERR_NOT_FINITE, hf_trust_region_update(w->ctx, NULL, &lost, &region, &event));
    ARGUMENT(hf_trust_region_update(w->ctx, NULL, &odd, &region, &event));
    ARGUMENT(hf_trust_region_update(w->ctx, NULL, NULL, &region, &event));
    ARGUMENT(hf_trust_region_update(w->ctx, NULL, &good, NULL, &event));
    ARGUMENT(hf_trust_region_update(w->ctx, NULL, &good, &none, &event));
    ARGUMENT(hf_trust_region_update(w->ctx, NULL, &good, &ended, &event));
    assert_contains(hf_context_message(w->ctx), "restart");
    assert_true(region.side == 0.25 && region.failures == 0 && event == HF_TRUST_ENDED);
    ARGUMENT(hf_trust_region_restart(w->ctx, NULL, NULL));
    ARGUMENT(hf_trust_region_restart(w->ctx, NULL, &none));
    REFUSED(HF_ERR_NOT_FINITE, hf_trust_region_restart(w->ctx, NULL, &wide));
}

static void boxes(workshop *w)
{
    const double lower[] = {0.0, 0.0}, upper[] = {1.0, 1.0}, in[] = {0.5, 0.5}, out[] = {0.5, 2.0};
    const double lost[] = {NAN, 0.5}, scales[] = {1.0, 0.0}, unknown[] = {1.0, NAN};
    const hf_domain box = {.dimension = 2, .lower = lower, .upper = upper};
    const hf_domain list = {.dimension = 2, .candidates = 1, .points = in};
    const hf_trust_region region = {.side = 0.25, .failures_allowed = 3};
    double from[2] = {7.0, 7.0}, to[2] = {7.0, 7.0};
    ARGUMENT(hf_trust_region_box(w->ctx, NULL, &box, in, NULL, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, NULL, in, NULL, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &list, in, NULL, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, NULL, NULL, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, out, NULL, from, to));
    REFUSED(HF_ERR_NOT_FINITE, hf_trust_region_box(w->ctx, &region, &box, lost, NULL, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, in, scales, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, in, unknown, from, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, in, NULL, NULL, to));
    ARGUMENT(hf_trust_region_box(w->ctx, &region, &box, in, NULL, from, NULL));
    ARGUMENT(hf_trust_candidates(w->ctx, &box, in, 0, 1, NULL));
    ARGUMENT(hf_trust_candidates(w->ctx, &box, NULL, 0, 1, from));
    ARGUMENT(hf_trust_candidates(w->ctx, NULL, in, 0, 1, from));
    assert_true(from[0] == 7.0 && from[1] == 7.0 && to[0] == 7.0 && to[1] == 7.0);
}

static void draws(workshop *w)
{
    const double samples[] = {1.0, 2.0}, broken[] = {0.0, NAN};
    size_t chosen[2] = {77, 77};
    REFUSED(HF_ERR_NOT_FINITE, hf_trust_choose(w->ctx, 1, 2, broken, chosen));
    ARGUMENT(hf_trust_choose(w->ctx, 3, 2, samples, chosen));
    ARGUMENT(hf_trust_choose(w->ctx, 0, 2, samples, chosen));
    ARGUMENT(hf_trust_choose(w->ctx, 1, 2, NULL, chosen));
    ARGUMENT(hf_trust_choose(w->ctx, 1, 2, samples, NULL));
    assert_true(chosen[0] == 77 && chosen[1] == 77);
}

REFUSED_TEST(settings)
REFUSED_TEST(regions)
REFUSED_TEST(boxes)
REFUSED_TEST(draws)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_refuse),
        cmocka_unit_test(regions_refuse),
        cmocka_unit_test(boxes_refuse),
        cmocka_unit_test(draws_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
