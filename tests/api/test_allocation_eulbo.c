/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of trust regions and of EULBO fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/eulbo.h>
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

static hf_status climb_with(workshop *w, hf_solver solver)
{
    const hf_domain box = unit_box();
    const hf_data data = {.n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y};
    hf_fit_settings fit = hf_fit_settings_default();
    fit.suspects = HF_OUTLIERS_OFF;
    fit.calibrate = false;
    fit.solver = solver;
    fit.action_kind = HF_ACTIONS_BLOCKS;
    fit.inducing = fit.actions = 3;
    fit.iterations = 1;
    hf_eulbo_settings settings = hf_eulbo_settings_default();
    settings.batch = 2;
    settings.draws = 4;
    settings.epochs = settings.steps = 1;
    hf_search_settings search = hf_search_settings_default();
    search.samples = 4;
    search.starts = 1;
    search.iterations = 2;
    settings.search = &search;
    double x[2 * WORKSHOP_D] = {77.0};
    hf_posterior *out = UNTOUCHED;
    hf_eulbo_report report = {.epochs = 77};
    const hf_status status =
        settled(hf_eulbo(w->ctx, &data, &fit, &settings, &box, 1, w->at, x, &out, &report), out);
    assert_true(status < 0 ? x[0] == 77.0 && report.epochs == 77 : report.epochs == 1);
    if (status >= 0) hf_posterior_free(out);
    return status;
}

static hf_status climb_inducing(workshop *w)
{
    return climb_with(w, HF_SOLVER_INDUCING);
}

static hf_status climb_projected(workshop *w)
{
    return climb_with(w, HF_SOLVER_PROJECTED);
}

static hf_status quality(workshop *w)
{
    size_t rows[3] = {77}, count = 77;
    const hf_status status =
        hf_dpp_quality(w->ctx, w->posterior, WORKSHOP_N, w->x, WORKSHOP_D, 3, rows, &count);
    assert_true(status < 0 ? rows[0] == 77 && count == 77 : count > 0);
    return status;
}

/* Calls functions that allocate nothing. */
static hf_status regions(workshop *w)
{
    const double centre[WORKSHOP_D] = {0.5, 0.5};
    const hf_domain box = unit_box();
    const hf_trust_settings settings = hf_trust_settings_default();
    const hf_trust_outcome outcome = {.before = 0.0, .after = 1.0, .scale = 1.0};
    double lower[WORKSHOP_D], upper[WORKSHOP_D], x[WORKSHOP_D];
    hf_trust_region region;
    hf_eulbo_utility utility;
    assert_string_equal(hf_enum_name(HF_ENUM_EULBO_UTILITY, HF_UTILITY_EXPECTED_LOG), "expected-log");
    hf_status s = hf_enum_parse(w->ctx, HF_ENUM_EULBO_UTILITY, "log-expected", &utility);
    if (s >= 0) s = hf_trust_region_create(w->ctx, &settings, WORKSHOP_D, 1, &region);
    if (s >= 0) s = hf_trust_region_update(w->ctx, &settings, &outcome, &region, NULL);
    if (s >= 0) s = hf_trust_region_restart(w->ctx, &settings, &region);
    if (s >= 0) s = hf_trust_region_box(w->ctx, &region, &box, centre, NULL, lower, upper);
    if (s >= 0) s = hf_trust_candidates(w->ctx, &box, centre, 3, 1, x);
    return s;
}

static void eulbo_survives(void **state)
{
    (void)state;
    RUN(CASE(choose, 2), CASE(regions, 0), CASE(quality, 5), CASE(climb_inducing, 50),
        CASE(climb_projected, 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eulbo_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
