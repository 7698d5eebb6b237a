/* SPDX-License-Identifier: Apache-2.0 */
/* Several trials asked for in one call: worth no less together than asked for one after the other. */
#include "studies.h"

#include <holdfast/acquire.h>

/* Two hills of nearly one height. */
static double hills(const double *at)
{
    const double a = at[0] + 0.4, b = at[1] - 0.7, c = at[0] - 1.4, e = at[1] - 2.3;
    return exp(-2.0 * (a * a + b * b)) + 0.9 * exp(-2.0 * (c * c + e * e));
}

static double mixed(const double *at)
{
    const double r = log10(at[0]) + 2.0, c = (at[1] - 3.0) / 6.0, k = log10(at[4]) - 1.0;
    return 5.0 - r * r - c * c - k * k + 0.3 * at[2] + (at[3] == 1.0 ? 0.7 : 0.0);
}

typedef struct history {
    hf_study_settings settings;
    double (*value)(const double *at);
    size_t told, failed;
} history;

/* A study with so many trials told, every fifth failed if some fail. */
static hf_study *study_of(hf_context *ctx, const history *h)
{
    hf_study *study = studies_create(ctx, &h->settings);
    for (size_t k = 0; k < h->told; k++) {
        hf_proposal p;
        hf_trial t;
        double y[2] = {0.0, 0.0};
        if (hf_study_ask(ctx, study, 1, 1e9, &p) < 0) fail_msg("%s", hf_context_message(ctx));
        assert_true(hf_study_trial(ctx, study, p.trial, &t) >= 0);
        y[0] = h->value(t.at);
        y[1] = t.at[0];
        if (h->failed > 0 && k % 5 == 4)
            assert_true(hf_study_fail(ctx, study, p.trial, NULL, NULL) >= 0);
        else
            assert_true(hf_study_tell(ctx, study, p.trial, y, NULL, NULL) >= 0);
    }
    return study;
}

enum {
    Q = 4
};

/* Asks for Q trials, one after the other, or all at once when those are forgotten; their inputs into u. */
static void ask(hf_context *ctx, hf_study *study, bool at_once, hf_proposal *p, double *u)
{
    for (size_t k = 0; k < (at_once ? 1 : Q); k++)
        if (hf_study_ask(ctx, study, at_once ? Q : 1, at_once ? 3e9 : 2e9, p + k) < 0)
            fail_msg("%s", hf_context_message(ctx));
    for (size_t k = 0; k < Q; k++)
        memcpy(u + k * study->d, hfi_study_find(study, p[k].trial)->u, study->d * sizeof *u);
}

/* The logarithm of their joint improvement over the incumbent, by the study's own surrogate. */
static double worth(hf_context *ctx, hf_study *study, const double *u)
{
    uint64_t id;
    hfi_verdict_at best;
    double value;
    assert_true(hfi_study_incumbent(ctx, study, &id, &best) >= 0);
    const double limit = -0.3;
    const hf_posterior *constraint[] = {study->surrogate[study->outcomes - 1].posterior};
    const hf_acquire a = {.size = sizeof a,
                          .posterior = study->surrogate[0].posterior,
                          .best = best.mean[0],
                          .constraints = study->outcomes - 1,
                          .constraint = constraint,
                          .limit = &limit,
                          .draws = 512,
                          .stream = 5};
    assert_true(hf_acquire_joint(ctx, &a, Q, u, &value, NULL) >= 0);
    return value;
}

static void a_batch_is_worth_no_less_than_its_places_in_turn(void **state)
{
    (void)state;
    const hf_outcome two[] = {studies_gain, {.name = "heat", .goal = HF_GOAL_AT_MOST, .limit = -0.3}};
    history all[] = {{studies_settings(2, studies_plane, &studies_gain), hills, 8, 0},
                     {studies_settings(2, studies_plane, &studies_gain), hills, 10, 1},
                     {studies_settings(2, studies_plane, two), hills, 8, 0},
                     {studies_settings(5, studies_mixed, &studies_gain), mixed, 12, 0}};
    all[2].settings.outcomes = 2;
    double most = 0.0;
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        hf_context *ctx = hf_context_create();
        hf_proposal p[2][Q], again[Q];
        double u[2][Q * 5], same[Q * 5];
        all[c].settings.repeats = 0;
        all[c].settings.expires = 1e8;
        hf_study *study = study_of(ctx, &all[c]);
        ask(ctx, study, false, p[0], u[0]);
        ask(ctx, study, true, p[1], u[1]);
        const double before = worth(ctx, study, u[0]), after = worth(ctx, study, u[1]);
        if (!(after > before - 0.1)) fail_msg("case %zu: %g in turn, %g at once", c, before, after);
        most = fmax(most, after - before);
        for (size_t k = 0; k < Q; k++) {
            hf_trial t;
            assert_true(hf_study_trial(ctx, study, p[1][k].trial, &t) >= 0);
            for (size_t j = 0; j < study->d; j++)
                assert_int_equal(hfi_variable_admits(ctx, &all[c].settings.variable[j], t.at[j]), HF_OK);
            assert_true(isfinite(p[1][k].mean) && p[1][k].sd > 0.0);
        }
        hf_context *threads = c == 0 ? hf_context_create() : NULL;
        if (threads == NULL) {
            hf_study_free(study);
            hf_context_free(ctx);
            continue;
        }
        assert_int_equal(hf_context_set_threads(threads, 3), HF_OK);
        hf_study *third = study_of(threads, &all[c]);
        ask(threads, third, false, again, same);
        ask(threads, third, true, again, same);
        assert_memory_equal(u[1], same, Q * study->d * sizeof(double));
        for (size_t k = 0; k < Q; k++)
            assert_true(p[1][k].reason == again[k].reason && p[1][k].value == again[k].value &&
                        p[1][k].mean == again[k].mean && p[1][k].sd == again[k].sd);
        hf_study_free(third);
        hf_study_free(study);
        hf_context_free(threads);
        hf_context_free(ctx);
    }
    if (!(most > 1e-3)) fail_msg("no batch has become better: %g", most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_batch_is_worth_no_less_than_its_places_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
