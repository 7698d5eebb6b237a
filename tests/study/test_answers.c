/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a study beside the next trial: proofs, fronts, constraints that surely hold, what matters. */
#include "studies.h"

#include "study/propose.h"

static void answers_before_anything_was_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    hf_study *study = studies_create(ctx, &s);
    double at[2], mean, share[2], low[2], high[2];
    uint64_t trial[1];
    size_t count;
    hf_study_certificate c;
    hf_trial t;
    assert_int_equal(hf_study_look(ctx, study), HF_ERR_NO_DATA);
    at[0] = at[1] = 1.0;
    assert_int_equal(hf_study_predict(ctx, study, 0, 1, at, &mean, NULL), HF_ERR_NO_DATA);
    assert_int_equal(hf_study_front(ctx, study, trial, &count), HF_ERR_NO_DATA);
    assert_int_equal(hf_study_relevance(ctx, study, 0, share, low, high), HF_ERR_NO_DATA);
    assert_int_equal(hf_study_certify(ctx, study, 0.1, NULL, at, NULL, &c), HF_ERR_NO_DATA);
    assert_int_equal(hf_study_certify(ctx, study, 0.0, NULL, at, NULL, &c), HF_ERR_ARGUMENT);
    hf_certify_settings limits = hf_certify_settings_default();
    limits.time_limit = -1.0;
    assert_int_equal(hf_study_certify(ctx, study, 0.1, &limits, at, NULL, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_trial(ctx, study, 1, &t), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_predict(ctx, study, 1, 1, at, &mean, NULL), HF_ERR_ARGUMENT);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* ---- proofs --------------------------------------------------------------------------------------------- */

static double mixed_value(const double *at)
{
    const double r = log10(at[0]) + 2.0, c = (at[1] - 3.0) / 6.0, k = log10(at[4]) - 1.0;
    return 5.0 - r * r - c * c - k * k + 0.3 * at[2] + (at[3] == 1.0 ? 0.7 : 0.0);
}

/* No place that anybody thinks of has a posterior mean beyond the bound. */
static void attack(hf_context *ctx, hf_study *study, size_t d, double bound, double sign, size_t places)
{
    const hf_study_settings *s = hf_study_settings_of(study);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    double *at = malloc(places * d * sizeof *at), *mean = malloc(places * sizeof *mean);
    assert_true(at != NULL && mean != NULL);
    for (size_t i = 0; i < places; i++)
        for (size_t j = 0; j < d; j++) {
            const double top =
                s->variable[j].kind == HF_VARIABLE_CATEGORY ? (double)(s->variable[j].levels - 1) : 1.0;
            at[i * d + j] = hfi_variable_decode(&s->variable[j], top * hfi_stream_uniform(&stream));
        }
    assert_true(hf_study_predict(ctx, study, 0, places, at, mean, NULL) >= 0);
    for (size_t i = 0; i < places; i++)
        if (sign * mean[i] > sign * bound + 1e-9) fail_msg("%.12g is beyond %.12g", mean[i], bound);
    free(at);
    free(mean);
}

static void the_best_is_proved(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 16, studies_hill, NULL);
    hf_study_certificate c;
    hf_best best;
    double at[2];
    if (hf_study_certify(ctx, study, 0.01, NULL, at, &best, &c) != HF_OK)
        fail_msg("%s (mean %g bound %g)", hf_context_message(ctx), c.mean, c.bound);
    assert_true(c.proved && c.gap >= 0.0 && c.gap <= 0.01 && c.bound >= c.mean && c.boxes > 0);
    assert_true(fabs(best.mean - c.mean) < 1e-9);
    assert_true(studies_hill(at) > -0.01);
    attack(ctx, study, 2, c.bound, 1.0, 20000);
    hf_study_free(study);
    hf_context_free(ctx);
}

static double mixed_loss(const double *at)
{
    return -mixed_value(at);
}

static void the_best_of_a_mixed_space_is_proved(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings s = studies_settings(5, studies_mixed, &studies_loss);
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 30, mixed_loss, NULL);
    hf_study_certificate c;
    hf_best best;
    double at[5];
    hf_certify_settings limits = hf_certify_settings_default();
    limits.total_time = 20.0;
    const hf_status status = hf_study_certify(ctx, study, 0.2, &limits, at, &best, &c);
    assert_true(status == HF_OK || status == HF_WARN_NOT_CONVERGED);
    assert_true(c.bound <= c.mean && c.proved == (status == HF_OK));
    attack(ctx, study, 5, c.bound, -1.0, 20000);
    for (size_t j = 0; j < 5; j++) assert_int_equal(hfi_variable_admits(ctx, &s.variable[j], at[j]), HF_OK);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* ---- constraints --------------------------------------------------------------------------------------- */

static void constraints_are_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_outcome o[2] = {studies_gain, {.name = "heat", .goal = HF_GOAL_AT_MOST, .limit = 1.5}};
    hf_study_settings s = studies_settings(2, studies_plane, o);
    s.outcomes = 2;
    for (int kind = 0; kind < 2; kind++) {
        s.acquisition = kind == 0 ? HF_ACQUIRE_LOG_EI : HF_ACQUIRE_UCB;
        hf_study *study = studies_create(ctx, &s);
        for (size_t k = 0; k < 30; k++) {
            hf_proposal p;
            hf_trial t;
            if (hf_study_ask(ctx, study, 1, NAN, &p) < 0) fail_msg("%s", hf_context_message(ctx));
            assert_int_equal(hf_study_trial(ctx, study, p.trial, &t), HF_OK);
            const double y[2] = {studies_hill(t.at), t.at[0] + t.at[1]}; /* at most 1.5 */
            assert_int_equal(hf_study_tell(ctx, study, p.trial, y, NULL, NULL), HF_OK);
        }
        hf_best best;
        double at[2];
        assert_true(hf_study_best(ctx, study, at, &best) >= 0);
        assert_true(at[0] + at[1] <= 1.51 && best.feasible >= 0.5); /* learnt, not certain */
        /* On the edge a + b = 1.5 the hill is highest, -0.35, at a = 0.15 + 0.2 / 3 or so. */
        if (!(studies_hill(at) > -0.5)) fail_msg("%g at %g, %g", studies_hill(at), at[0], at[1]);
        hf_study_free(study);
    }
    hf_context_free(ctx);
}

/* c(x) = 0.4 k(x, p) - 0.3 k(x, q) + 0.3 k(x, r) has a norm below 1 for the kernel that the study is told. */
static double heat(const double *u)
{
    static const double centre[3][2] = {{0.2, 0.3}, {0.6, 0.2}, {0.7, 0.8}}, weight[3] = {0.4, -0.3, 0.3};
    double sum = 0.0;
    for (size_t i = 0; i < 3; i++) {
        const double a = u[0] - centre[i][0], b = u[1] - centre[i][1];
        sum += weight[i] * exp(-0.5 * (a * a + b * b) / 0.09);
    }
    return sum;
}

/* No place that the study would ask for violates the constraint. */
static void attack_safety(hf_context *ctx, const hf_study *study, size_t places)
{
    hfi_safe *safe = NULL;
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 2);
    double *u = malloc(2 * places * sizeof *u), *unknown = malloc(places * sizeof *unknown);
    bool *fine = malloc(places * sizeof *fine);
    assert_true(u != NULL && unknown != NULL && fine != NULL);
    for (size_t i = 0; i < 2 * places; i++) u[i] = hfi_stream_uniform(&stream);
    assert_int_equal(hfi_safe_open(ctx, study, &safe), HF_OK);
    assert_int_equal(hfi_safe_many(ctx, safe, places, u, fine, unknown), HF_OK);
    size_t admitted = 0;
    for (size_t i = 0; i < places; i++) {
        admitted += fine[i];
        if (fine[i] && !(heat(u + 2 * i) <= 0.25)) fail_msg("admits %g %g", u[2 * i], u[2 * i + 1]);
    }
    assert_true(admitted > places / 10);
    hfi_safe_close(ctx, safe);
    free(u);
    free(unknown);
    free(fine);
}

static void certain_constraints_are_never_violated(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_outcome o[2] = {studies_gain,
                             {.name = "heat",
                              .goal = HF_GOAL_AT_MOST,
                              .limit = 0.25,
                              .certain = true,
                              .noise_bound = 0.01,
                              .norm_bound = 1.0,
                              .kernel = "se(lengthscale=0.3, outputscale=1)"}};
    const hf_variable v[2] = {{.name = "a", .upper = 1.0}, {.name = "b", .upper = 1.0}};
    hf_study_settings s = studies_settings(2, v, o);
    s.outcomes = 2;
    hf_study *study = studies_create(ctx, &s);
    hf_proposal p[2];
    assert_int_equal(hf_study_ask(ctx, study, 1, NAN, p), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "starts from a trial"));
    const double safe[2] = {0.6, 0.2}, first[2] = {0.5, heat(safe)};
    assert_int_equal(hf_study_add(ctx, study, safe, first, NULL, NULL, NULL), HF_OK);
    hfi_stream noise;
    hfi_stream_init(&noise, 3, HFI_PURPOSE_TEST, 1);
    double farthest = 0.0;
    for (size_t k = 0; k < 8; k++) {
        if (hf_study_ask(ctx, study, 2, NAN, p) < 0) fail_msg("%s", hf_context_message(ctx));
        for (size_t i = 0; i < 2; i++) {
            hf_trial t;
            assert_int_equal(hf_study_trial(ctx, study, p[i].trial, &t), HF_OK);
            const double c = heat(t.at);
            if (!(c <= 0.25)) fail_msg("violated at %g %g: %g", t.at[0], t.at[1], c);
            farthest = fmax(farthest, hypot(t.at[0] - 0.6, t.at[1] - 0.2));
            const double y[2] = {t.at[0] + 0.5 * t.at[1], c + 0.02 * hfi_stream_uniform(&noise) - 0.01};
            assert_int_equal(hf_study_tell(ctx, study, p[i].trial, y, NULL, NULL), HF_OK);
        }
    }
    assert_true(farthest > 0.3); /* the safe set has grown */
    attack_safety(ctx, study, 2000);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* ---- two objectives ------------------------------------------------------------------------------------ */

static void a_front_is_found(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_outcome o[2] = {{.name = "cost", .goal = HF_GOAL_MINIMISE}, {.name = "yield"}};
    hf_study_settings s = studies_settings(2, studies_plane, o);
    s.outcomes = 2;
    hf_study *study = studies_create(ctx, &s);
    uint64_t trial[40];
    size_t count = 0;
    for (size_t k = 0; k < 26; k++) {
        hf_proposal p;
        hf_trial t;
        if (hf_study_ask(ctx, study, 1, NAN, &p) < 0) fail_msg("%s", hf_context_message(ctx));
        assert_int_equal(hf_study_trial(ctx, study, p.trial, &t), HF_OK);
        /* Best at (0, 1) and at (1, 2): the front is the line between them. */
        const double a = t.at[0], b = t.at[1];
        const double y[2] = {a * a + (b - 1.0) * (b - 1.0), -(a - 1.0) * (a - 1.0) - (b - 2.0) * (b - 2.0)};
        assert_int_equal(hf_study_tell(ctx, study, p.trial, y, NULL, NULL), HF_OK);
    }
    assert_true(hf_study_front(ctx, study, trial, &count) >= 0);
    assert_true(count >= 6);
    double before = -INFINITY;
    size_t near = 0;
    for (size_t i = 0; i < count; i++) {
        hf_trial t;
        assert_int_equal(hf_study_trial(ctx, study, trial[i], &t), HF_OK);
        assert_true(t.value[0] > before - 0.02); /* cheapest first */
        before = t.value[0];
        near += fabs(t.at[1] - t.at[0] - 1.0) < 0.15;
    }
    assert_true(near * 3 >= count * 2);
    double at[2];
    hf_study_certificate c;
    assert_int_equal(hf_study_certify(ctx, study, 0.1, NULL, at, NULL, &c), HF_ERR_ARGUMENT);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* ---- what matters ----------------------------------------------------------------------------------------- */

static double one_matters(const double *at)
{
    return sin(2.0 * at[0]) + 0.02 * at[1];
}

static void what_matters_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    s.thompson = true;
    s.start = 16; /* enough of the space is seen */
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 20, one_matters, NULL);
    double share[2], low[2], high[2];
    if (hf_study_relevance(ctx, study, 0, share, low, high) < 0) fail_msg("%s", hf_context_message(ctx));
    if (!(share[0] > 0.8 && share[1] < 0.3)) fail_msg("%g %g", share[0], share[1]);
    for (size_t j = 0; j < 2; j++) assert_true(low[j] <= high[j] && low[j] >= 0.0 && high[j] <= 1.0);
    assert_true(low[0] > high[1]);
    hf_study_free(study);
    hf_context_free(ctx);
}

static void trust_regions_climb_too(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    s.reach = HF_REACH_REGIONS;
    s.regions = 2;
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 24, studies_hill, NULL);
    hf_best best;
    double at[2];
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    assert_true(studies_hill(at) > -0.02);
    hf_study_free(study);
    hf_context_free(ctx);
}

static double rough_hill(const double *at)
{
    return studies_hill(at) + 0.1 * sin(1e3 * at[0]) * cos(777.0 * at[1]);
}

/* The best among the trials that have a say, by posterior mean or by what they are worth. */
static double most_of(hf_context *ctx, hf_study *study, size_t trials, bool by_mean)
{
    double most = -INFINITY;
    for (uint64_t id = 1; id <= trials; id++) {
        hf_trial t;
        double mean;
        assert_int_equal(hf_study_trial(ctx, study, id, &t), HF_OK);
        assert_true(hf_study_predict(ctx, study, 0, 1, t.at, &mean, NULL) >= 0);
        if (by_mean || !t.suspected) most = fmax(most, by_mean ? mean : studies_hill(t.at));
    }
    return most;
}

/* Values without noise name the best that was tried; rough ones name what the surrogate thinks best. */
static void readings_decide_where_there_is_no_noise(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    for (s.seed = 1; s.seed < 6; s.seed++) {
        const bool rough = s.seed == 5;
        hf_study *study = studies_create(ctx, &s);
        studies_run(ctx, study, 30, rough ? rough_hill : studies_hill, NULL);
        hf_best best;
        double at[2];
        assert_true(hf_study_best(ctx, study, at, &best) >= 0);
        const double most = most_of(ctx, study, 30, rough);
        if (rough) assert_float_equal(best.mean, most, 1e-9);
        if (!rough && studies_hill(at) < most) fail_msg("%g, tried %g", studies_hill(at), most);
        hf_study_free(study);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_before_anything_was_told),
                                       cmocka_unit_test(the_best_is_proved),
                                       cmocka_unit_test(the_best_of_a_mixed_space_is_proved),
                                       cmocka_unit_test(constraints_are_kept),
                                       cmocka_unit_test(certain_constraints_are_never_violated),
                                       cmocka_unit_test(a_front_is_found),
                                       cmocka_unit_test(what_matters_is_told),
                                       cmocka_unit_test(trust_regions_climb_too),
                                       cmocka_unit_test(readings_decide_where_there_is_no_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
