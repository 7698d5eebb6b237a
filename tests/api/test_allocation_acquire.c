/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of acquisition functions fails once; see test_allocation.c. */
#include "api/sweep.h"

static const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0},
                    step[WORKSHOP_D] = {0.0, 0.125}, limit[] = {0.5};

static hf_acquire constrained(const workshop *w, const hf_posterior **constraint)
{
    *constraint = w->posterior;
    return (hf_acquire){.size = sizeof(hf_acquire),
                        .posterior = w->posterior,
                        .best = 0.5,
                        .constraints = 1,
                        .constraint = constraint,
                        .limit = limit};
}

static hf_status evaluate(workshop *w)
{
    const hf_posterior *constraint;
    const hf_acquire a = constrained(w, &constraint);
    double value = 7.0, gradient[WORKSHOP_D] = {7.0, 7.0};
    const hf_status status = hf_acquire_evaluate(w->ctx, &a, 1, w->at, &value, gradient);
    assert_true((status < 0) == (value == 7.0) && (status < 0) == (gradient[0] == 7.0));
    return status;
}

static hf_status maximise(workshop *w)
{
    const hf_posterior *constraint;
    const hf_acquire a = constrained(w, &constraint);
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper, .step = step};
    double x[WORKSHOP_D] = {7.0, 7.0};
    hf_argmax found = {.evaluations = 77};
    hf_search_settings settings = hf_search_settings_default();
    settings.samples = 8;
    settings.starts = 2;
    const hf_status status = hf_acquire_maximise(w->ctx, &a, &box, &settings, 0, NULL, x, &found);
    assert_true((status < 0) == (x[0] == 7.0) && (status < 0) == (found.evaluations == 77));
    return status;
}

static hf_status batch(workshop *w)
{
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const double pending[WORKSHOP_D] = {0.25, 0.75}, against[WORKSHOP_D] = {0.5, 0.5};
    const hf_acquire a = {.size = sizeof a,
                          .posterior = w->posterior,
                          .best = -INFINITY,
                          .pending = 1,
                          .pending_x = pending,
                          .against = 1,
                          .against_x = against,
                          .draws = 8};
    double x[2 * WORKSHOP_D] = {7.0}, values[2] = {7.0};
    hf_search_settings settings = hf_search_settings_default();
    settings.samples = 8;
    settings.starts = 1;
    const hf_status status = hf_acquire_batch(w->ctx, &a, &box, &settings, 2, 1, 0, NULL, x, values);
    assert_true((status < 0) == (x[0] == 7.0) && (status < 0) == (values[0] == 7.0));
    return status;
}

static hf_status together(workshop *w)
{
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const double pending[WORKSHOP_D] = {0.25, 0.75}, at[2 * WORKSHOP_D] = {0.3, 0.4, 0.8, 0.6};
    const hf_acquire a = {.size = sizeof a,
                          .posterior = w->posterior,
                          .best = 0.5,
                          .pending = 1,
                          .pending_x = pending,
                          .draws = 4};
    double x[2 * WORKSHOP_D], slopes[2 * WORKSHOP_D] = {7.0}, value = 7.0, gain = 7.0;
    memcpy(x, at, sizeof x);
    hf_status status = hf_acquire_joint(w->ctx, &a, 2, x, &value, slopes);
    assert_true((status < 0) == (value == 7.0) && (status < 0) == (slopes[0] == 7.0));
    if (status < 0) return status;
    status = hf_acquire_ascend(w->ctx, &a, &box, 3, 2, x, &gain);
    assert_true((status < 0) == (gain == 7.0) && (status >= 0 || memcmp(x, at, sizeof x) == 0));
    return status;
}

/* Calls functions that allocate nothing. */
static hf_status formulas(workshop *w)
{
    hf_acquisition kind;
    double dmean, dsd;
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_ACQUISITION, "ei", &kind), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_ACQUISITION, kind), "ei");
    assert_true(hf_acquisition_value(kind, 0.0, 1.0, 0.0, 0.0, &dmean, &dsd) > 0.39 && dmean == 0.5);
    return HF_OK;
}

static void acquiring_survives(void **state)
{
    (void)state;
    RUN(CASE(evaluate, 6), CASE(maximise, 20), CASE(batch, 50), CASE(together, 20), CASE(formulas, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acquiring_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
