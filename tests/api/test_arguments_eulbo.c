/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments for trust regions and EULBO: an error with a message, outputs as they were. */
#include "api/refused.h"

#include <holdfast/eulbo.h>
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
    const char *const words[] = {"side 2", "smallest is 0", "successes is 0", "improvement is -1",
                                 "largest is nan"};
    const hf_trust_outcome outcome = {.after = 1.0};
    hf_trust_region region = {.side = 0.25, .failures_allowed = 3};
    for (size_t k = 0; k < 5; k++) {
        ARGUMENT(hf_trust_region_create(w->ctx, &s[k], 2, 1, &region));
        assert_contains(hf_context_message(w->ctx), words[k]);
        ARGUMENT(hf_trust_region_update(w->ctx, &s[k], &outcome, &region, NULL));
        ARGUMENT(hf_trust_region_restart(w->ctx, &s[k], &region));
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

static void climbs(workshop *w)
{
    const double lower[] = {0.0, 0.0}, upper[] = {1.0, 1.0}, lost[] = {NAN, 0.5};
    const hf_domain box = {.dimension = 2, .lower = lower, .upper = upper};
    const hf_domain list = {.dimension = 2, .candidates = 1, .points = lower};
    const hf_domain line = {.dimension = 1, .lower = lower, .upper = upper};
    const hf_data data = {.n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y};
    hf_data meant = data, many = data;
    meant.mean = w->y;
    many.outputs = 2;
    hf_fit_settings good, bad[7];
    hf_eulbo_settings fine = hf_eulbo_settings_default(), wrong[9];
    assert_int_equal(hf_fit_settings_preset(w->ctx, "sgpr", &good, sizeof good), HF_OK);
    good.inducing = 3;
    for (size_t k = 0; k < 7; k++) bad[k] = good;
    for (size_t k = 0; k < 9; k++) wrong[k] = fine;
    bad[0].train = false;
    bad[1].solver = HF_SOLVER_EXACT;
    bad[2].solver = HF_SOLVER_AUTO;
    bad[3].objective = HF_OBJECTIVE_LOO;
    bad[4].sites = HF_LIKELIHOOD_STUDENT_T;
    bad[5].minibatch = 4;
    bad[6].checkpoint = w->out;
    wrong[0].batch = 0;
    wrong[1].steps = 0;
    wrong[2].weight = 0.0;
    wrong[3].rate_points = -1.0;
    wrong[4].rate_model = NAN;
    wrong[5].clip = 0.0;
    wrong[6].draws = 0;
    wrong[7].temperature = 0.0;
    wrong[8].utility = (hf_eulbo_utility)7;
    hf_eulbo_utility utility = HF_UTILITY_EXPECTED_LOG;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EULBO_UTILITY, "best", &utility));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EULBO_UTILITY, NULL, &utility));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EULBO_UTILITY, "log-expected", NULL));
    assert_true(utility == HF_UTILITY_EXPECTED_LOG);
    assert_non_null(hf_enum_name(HF_ENUM_EULBO_UTILITY, (unsigned)7));
    double x[2] = {7.0, 7.0};
    hf_eulbo_report report = {.epochs = 77};
    for (size_t k = 0; k < 7; k++)
        ARGUMENT(hf_eulbo(w->ctx, &data, &bad[k], &fine, &box, 0, NULL, x, NULL, &report));
    for (size_t k = 0; k < 9; k++)
        ARGUMENT(hf_eulbo(w->ctx, &data, &good, &wrong[k], &box, 0, NULL, x, NULL, &report));
    fine.best = INFINITY;
    ARGUMENT(hf_eulbo(w->ctx, &data, &good, &fine, &box, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, NULL, &good, NULL, &box, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &data, NULL, NULL, &box, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &meant, &good, NULL, &box, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &many, &good, NULL, &box, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &data, &good, NULL, NULL, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &data, &good, NULL, &list, 0, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &data, &good, NULL, &box, 1, NULL, x, NULL, &report));
    ARGUMENT(hf_eulbo(w->ctx, &data, &good, NULL, &box, 0, NULL, NULL, NULL, &report));
    REFUSED(HF_ERR_DIMENSION, hf_eulbo(w->ctx, &data, &good, NULL, &line, 0, NULL, x, NULL, &report));
    REFUSED(HF_ERR_NOT_FINITE, hf_eulbo(w->ctx, &data, &good, NULL, &box, 1, lost, x, NULL, &report));
    assert_true(x[0] == 7.0 && report.epochs == 77);
}

/* Inducing inputs that are given. */
static void given(workshop *w)
{
    const double z[] = {0.1, 0.2, NAN, 0.4};
    const hf_data data = {.n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y};
    hf_fit_settings good, bad[4];
    hf_posterior *out = NULL;
    assert_int_equal(hf_fit_settings_preset(w->ctx, "sgpr", &good, sizeof good), HF_OK);
    good.inducing = 2;
    good.inducing_inputs = z;
    REFUSED(HF_ERR_NOT_FINITE, hf_fit_data(w->ctx, &data, &good, &out, NULL, NULL));
    for (size_t k = 0; k < 4; k++) bad[k] = good;
    bad[0].inducing = 0;
    bad[1].inducing = WORKSHOP_N + 1;
    bad[2].solver = HF_SOLVER_EXACT;
    bad[3].minibatch = 4;
    for (size_t k = 0; k < 4; k++) ARGUMENT(hf_fit_data(w->ctx, &data, &bad[k], &out, NULL, NULL));
    hf_projection p = {
        .size = sizeof p, .actions = HF_ACTIONS_INDUCING, .count = 2, .inducing = 2, .inputs = z};
    REFUSED(HF_ERR_NOT_FINITE,
            hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &p, &out, NULL));
    p.inducing = 0;
    ARGUMENT(hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &p, &out, NULL));
    p.inducing = 2;
    p.actions = HF_ACTIONS_BLOCKS;
    ARGUMENT(hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &p, &out, NULL));
    assert_null(out);
}

static void qualities(workshop *w)
{
    size_t rows[3] = {77}, count = 77;
    const double x[] = {0.1, INFINITY};
    ARGUMENT(hf_dpp_quality(w->ctx, NULL, WORKSHOP_N, w->x, WORKSHOP_D, 3, rows, &count));
    ARGUMENT(hf_dpp_quality(w->ctx, w->posterior, 0, w->x, WORKSHOP_D, 3, rows, &count));
    ARGUMENT(hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, NULL, WORKSHOP_D, 3, rows, &count));
    ARGUMENT(hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, w->x, WORKSHOP_D, 0, rows, &count));
    ARGUMENT(hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, w->x, WORKSHOP_D, 3, NULL, &count));
    ARGUMENT(hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, w->x, WORKSHOP_D, 3, rows, NULL));
    REFUSED(HF_ERR_DIMENSION,
            hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, w->x, WORKSHOP_D - 1, 3, rows, &count));
    REFUSED(HF_ERR_NOT_FINITE, hf_dpp_quality(w->ctx, w->posterior, 1, x, WORKSHOP_D, 3, rows, &count));
    assert_true(rows[0] == 77 && count == 77);
}

REFUSED_TEST(climbs)
REFUSED_TEST(given)
REFUSED_TEST(qualities)
REFUSED_TEST(settings)
REFUSED_TEST(regions)
REFUSED_TEST(boxes)
REFUSED_TEST(draws)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(climbs_refuse),    cmocka_unit_test(given_refuse),
        cmocka_unit_test(qualities_refuse), cmocka_unit_test(settings_refuse),
        cmocka_unit_test(regions_refuse),   cmocka_unit_test(boxes_refuse),
        cmocka_unit_test(draws_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
