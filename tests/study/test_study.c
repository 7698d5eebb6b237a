/* SPDX-License-Identifier: Apache-2.0 */
/* Studies: asking, telling, wrong values, failures, batches, and the same answers from the same history. */
#include "studies.h"

#include <stdio.h>

static hf_study *plane(hf_context *ctx)
{
    const hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    return studies_create(ctx, &s);
}

static void a_hill_is_climbed(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    hf_best best;
    double at[2];
    assert_int_equal(hf_study_best(ctx, study, at, &best), HF_ERR_NO_DATA);
    studies_run(ctx, study, 1, studies_hill, NULL);
    assert_int_equal(hf_study_best(ctx, study, at, &best), HF_OK);
    assert_true(best.trial == 1 && best.mean == studies_hill(at) && best.upper == INFINITY);
    studies_run(ctx, study, 21, studies_hill, NULL);
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    assert_true(studies_hill(at) > -1e-3);
    assert_true(fabs(best.mean - studies_hill(at)) < 1e-2);
    assert_true(best.lower <= best.mean && best.mean <= best.upper);
    assert_true(best.trial >= 1 && best.trial <= 22 && best.feasible == 1.0 && best.readings >= 1);
    assert_true(hf_study_trials(study) == 22);
    hf_study_free(study);
    hf_context_free(ctx);
}

static double valley(const double *at)
{
    return 100.0 - 3.0 * studies_hill(at);
}

static double downhill(const double *at)
{
    return -studies_hill(at);
}

static double cheap(double y, size_t step)
{
    return step == 9 ? y - 8.0 : y;
}

/* The others' prediction of a suspect is in the user's unit and sign. */
static void a_suspect_is_told_in_the_users_unit(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings down = studies_settings(2, studies_plane, &studies_loss);
    hf_study *study = studies_create(ctx, &down);
    studies_run(ctx, study, 20, downhill, cheap);
    hf_trial t;
    assert_true(hf_study_look(ctx, study) >= 0);
    assert_int_equal(hf_study_trial(ctx, study, 10, &t), HF_OK);
    assert_true(t.aside);
    if (!(fabs(t.mean - downhill(t.at)) < 0.5)) fail_msg("%g for %g", t.mean, downhill(t.at));
    hf_study_free(study);
    hf_context_free(ctx);
}

/* The mirror image of a study, in another unit, asks for the same places. */
static void minimising_is_the_mirror_image(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings down = studies_settings(2, studies_plane, &studies_loss);
    hf_study *a = plane(ctx), *b = studies_create(ctx, &down);
    studies_run(ctx, a, 12, studies_hill, NULL);
    studies_run(ctx, b, 12, valley, NULL);
    hf_trial ta, tb;
    for (uint64_t id = 1; id <= 9; id++) {
        assert_int_equal(hf_study_trial(ctx, a, id, &ta), HF_OK);
        assert_int_equal(hf_study_trial(ctx, b, id, &tb), HF_OK);
        for (size_t j = 0; j < 2; j++) assert_true(fabs(ta.at[j] - tb.at[j]) < 1e-3);
    }
    hf_best best;
    double at[2];
    assert_true(hf_study_best(ctx, b, at, &best) >= 0);
    assert_true(best.lower <= best.mean && best.mean <= best.upper && best.mean < 110.0);
    hf_study_free(a);
    hf_study_free(b);
    hf_context_free(ctx);
}

/* Every fifth evaluation looks much better than it is. */
static double flatter(double y, size_t step)
{
    return step % 5 == 3 ? y + 6.0 + 0.1 * (double)step : y;
}

static void wrong_values_are_set_aside(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    studies_run(ctx, study, 40, studies_hill, flatter);
    hf_best best;
    double at[2];
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    if (!(studies_hill(at) > -0.05)) fail_msg("best at %g %g: %g", at[0], at[1], studies_hill(at));
    size_t right = 0, aside = 0;
    for (uint64_t id = 1; id <= 40; id++) {
        hf_trial t;
        assert_int_equal(hf_study_trial(ctx, study, id, &t), HF_OK);
        const bool wrong = fabs(t.value[0] - studies_hill(t.at)) > 1e-9;
        aside += t.aside;
        right += t.aside && wrong;
        if (t.suspected) assert_true(isfinite(t.mean) && t.sd > 0.0);
    }
    assert_true(right >= 6 && aside - right <= 1);
    hf_study_free(study);
    hf_context_free(ctx);
}

static void batches_are_different_places(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    studies_run(ctx, study, 8, studies_hill, NULL);
    hf_proposal p[5];
    hf_trial t[5];
    assert_true(hf_study_ask(ctx, study, 5, NAN, p) >= 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(p[i].trial, 9 + i);
        assert_int_equal(hf_study_trial(ctx, study, p[i].trial, &t[i]), HF_OK);
        assert_int_equal(t[i].state, HF_TRIAL_PENDING);
        for (size_t k = 0; k < i; k++) {
            const double a = t[i].at[0] - t[k].at[0], b = t[i].at[1] - t[k].at[1];
            if (p[i].reason != HF_REASON_REPEAT && p[k].reason != HF_REASON_REPEAT)
                assert_true(a * a + b * b > 1e-8);
        }
    }
    /* Told late and out of order. */
    for (size_t i = 5; i-- > 0;) {
        const double y = studies_hill(t[i].at);
        assert_int_equal(hf_study_tell(ctx, study, p[i].trial, &y, NULL, NULL), HF_OK);
    }
    hf_study_free(study);
    hf_context_free(ctx);
}

static void what_is_told_is_checked(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    hf_proposal p;
    const double y = 1.5, other = 1.6, none = NAN, huge = INFINITY, bad_noise = -1.0;
    const double outside[2] = {5.0, 1.0}, inside[2] = {0.5, 1.0};
    assert_int_equal(hf_study_ask(ctx, study, 1, NAN, &p), HF_OK);
    assert_int_equal(hf_study_tell(ctx, study, 2, &y, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "no trial 2"));
    assert_int_equal(hf_study_tell(ctx, study, 1, &none, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_tell(ctx, study, 1, &huge, NULL, NULL), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_study_tell(ctx, study, 1, &y, &bad_noise, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_tell(ctx, study, 1, &y, NULL, "first"), HF_OK);
    assert_int_equal(hf_study_tell(ctx, study, 1, &y, NULL, NULL), HF_OK);
    assert_int_equal(hf_study_tell(ctx, study, 1, &other, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "already"));
    assert_int_equal(hf_study_fail(ctx, study, 1, NULL, "broken"), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_add(ctx, study, outside, &y, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "a = 5"));
    assert_int_equal(hf_study_add(ctx, study, inside, &none, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_add_failed(ctx, study, outside, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_add_failed(ctx, study, inside, &huge, NULL, NULL), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_study_ask(ctx, study, 0, NAN, &p), HF_ERR_ARGUMENT);
    hf_trial t;
    assert_int_equal(hf_study_trial(ctx, study, 1, &t), HF_OK);
    assert_true(t.value[0] == y && t.state == HF_TRIAL_TOLD);
    assert_string_equal(t.note, "first");
    assert_true(hf_study_trials(study) == 1);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* Trials fail where a > 1; the best of the rest is at a = 1. */
static void failures_are_avoided(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    size_t far = 0;
    for (size_t k = 0; k < 40; k++) {
        hf_proposal p;
        hf_trial t;
        if (hf_study_ask(ctx, study, 1, NAN, &p) < 0) fail_msg("%s", hf_context_message(ctx));
        assert_int_equal(hf_study_trial(ctx, study, p.trial, &t), HF_OK);
        const double y = t.at[0];
        const bool fails = t.at[0] > 1.0;
        far += k >= 20 && t.at[0] > 1.1; /* at the edge itself every second trial may fail */
        assert_int_equal(fails ? hf_study_fail(ctx, study, p.trial, NULL, "melted")
                               : hf_study_tell(ctx, study, p.trial, &y, NULL, NULL),
                         HF_OK);
    }
    hf_best best;
    double at[2];
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    assert_true(at[0] <= 1.0 && at[0] > 0.9);
    assert_true(far <= 4);
    hf_study_free(study);
    hf_context_free(ctx);
}

static void pending_trials_expire(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    s.expires = 100.0;
    hf_study *study = studies_create(ctx, &s);
    hf_proposal p;
    hf_trial t;
    assert_int_equal(hf_study_ask(ctx, study, 1, 1000.0, &p), HF_OK);
    assert_int_equal(hf_study_ask(ctx, study, 1, 1090.0, &p), HF_OK);
    assert_int_equal(hf_study_trial(ctx, study, 1, &t), HF_OK);
    assert_int_equal(t.state, HF_TRIAL_PENDING);
    assert_int_equal(hf_study_ask(ctx, study, 1, 1150.0, &p), HF_OK);
    assert_int_equal(hf_study_trial(ctx, study, 1, &t), HF_OK);
    assert_int_equal(t.state, HF_TRIAL_EXPIRED);
    assert_int_equal(hf_study_trial(ctx, study, 2, &t), HF_OK);
    assert_int_equal(t.state, HF_TRIAL_PENDING);
    const double y = 2.0;
    assert_int_equal(hf_study_tell(ctx, study, 1, &y, NULL, NULL), HF_OK); /* late, but welcome */
    assert_int_equal(hf_study_trial(ctx, study, 1, &t), HF_OK);
    assert_int_equal(t.state, HF_TRIAL_TOLD);
    hf_study_free(study);
    hf_context_free(ctx);
}

static double by_levels(const double *at)
{
    return at[0] == 2.0 ? 2.0 + at[1] : at[0] - at[1];
}

static void a_finite_space_is_exhausted(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_variable v[2] = {studies_mixed[3], {.name = "k", .kind = HF_VARIABLE_INTEGER, .upper = 2.0}};
    hf_study_settings s = studies_settings(2, v, &studies_gain);
    s.repeats = 0;
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 12, by_levels, NULL);
    bool seen[12] = {false};
    for (uint64_t id = 1; id <= 12; id++) {
        hf_trial t;
        assert_int_equal(hf_study_trial(ctx, study, id, &t), HF_OK);
        const size_t k = (size_t)t.at[0] * 3 + (size_t)t.at[1];
        assert_false(seen[k]);
        seen[k] = true;
    }
    hf_proposal p;
    assert_int_equal(hf_study_ask(ctx, study, 1, NAN, &p), HF_ERR_NO_DATA);
    assert_non_null(strstr(hf_context_message(ctx), "every combination"));
    hf_best best;
    double at[2];
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    assert_true(at[0] == 2.0 && at[1] == 2.0);
    hf_study_free(study);
    hf_context_free(ctx);
}

/* ---- an expert -------------------------------------------------------------------------------------- */

static double lie(double y, size_t step)
{
    return step == 6 ? y + 3.0 : y;
}

static void an_expert_is_heard(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    s.robust = false; /* whatever is set aside, the expert has doubted */
    hf_study *study = studies_create(ctx, &s);
    studies_run(ctx, study, 12, studies_hill, lie);
    uint64_t ask[12];
    size_t count = 0;
    if (hf_study_expert(ctx, study, &count, ask) < 0) fail_msg("%s", hf_context_message(ctx));
    assert_int_equal(count, 1);
    assert_int_equal(ask[0], 7);
    assert_int_equal(hf_study_expert_due(study), 1);
    hf_trial t;
    hf_best best;
    double at[2], mean;
    assert_int_equal(hf_study_label(ctx, study, 13, 0, HF_EXPERT_BELIEVED, NAN, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_label(ctx, study, 7, 1, HF_EXPERT_BELIEVED, NAN, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_label(ctx, study, 7, 0, HF_EXPERT_BELIEVED, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_label(ctx, study, 7, 0, HF_EXPERT_DOUBTED, 1.0, -1.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_label(ctx, study, 7, 0, HF_EXPERT_DOUBTED, NAN, 0.0, "odd"), HF_OK);
    assert_true(hf_study_best(ctx, study, at, &best) >= 0);
    assert_true(best.trial != 7);
    assert_int_equal(hf_study_expert_due(study), 0);
    count = 0;
    assert_true(hf_study_expert(ctx, study, &count, ask) >= 0 && count == 0);
    assert_int_equal(hf_study_trial(ctx, study, 7, &t), HF_OK);
    assert_true(t.aside && t.suspected && t.label[0] == (double)HF_EXPERT_DOUBTED);
    const double right = studies_hill(t.at), place[2] = {t.at[0], t.at[1]};
    assert_int_equal(hf_study_label(ctx, study, 7, 0, HF_EXPERT_DOUBTED, right, 1e-6, NULL), HF_OK);
    assert_true(hf_study_predict(ctx, study, 0, 1, place, &mean, NULL) >= 0);
    assert_true(fabs(mean - right) < 0.05);
    assert_int_equal(hf_study_trial(ctx, study, 7, &t), HF_OK);
    assert_true(!t.aside && t.value[0] > right + 2.9); /* what was told is shown as it was */
    hf_study_free(study);
    hf_context_free(ctx);
}

/* Ten trials in one corner, and one far away from them, whose value is wrong. */
static hf_study *corrected(hf_context *ctx, hf_expert_use use, double correction, studies_log *log)
{
    hf_study_settings s = studies_settings(2, studies_plane, &studies_loss);
    s.robust = false;
    s.expert = use;
    s.kernel = "se(lengthscale=0.15)";
    hf_study *study = studies_create(ctx, &s);
    if (log != NULL) studies_log_to(study, log);
    for (size_t i = 0; i <= 10; i++) {
        const double at[2] = {i < 10 ? -1.0 + 0.1 * (double)i : 2.0, i < 10 ? 0.05 * (double)(i % 4) : 3.0};
        const double y = i < 10 ? -studies_hill(at) : 30.0;
        assert_true(hf_study_add(ctx, study, at, &y, NULL, NULL, NULL) >= 0);
    }
    assert_int_equal(hf_study_label(ctx, study, 11, 0, HF_EXPERT_DOUBTED, correction, 0.0, NULL), HF_OK);
    hf_proposal p; /* a training becomes an event */
    assert_true(hf_study_ask(ctx, study, 1, 2e9, &p) >= 0);
    return study;
}

static double there(hf_context *ctx, hf_study *study)
{
    const double at[2] = {2.0, 3.0};
    double mean;
    if (hf_study_predict(ctx, study, 0, 1, at, &mean, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    return mean;
}

static void corrections_make_a_prior_mean(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static studies_log log;
    log.count = log.used = 0;
    hf_study *study[4] = {corrected(ctx, HF_EXPERT_USE_REPLACE, 9.0, NULL),
                          corrected(ctx, HF_EXPERT_USE_MEAN, 9.0, &log),
                          corrected(ctx, HF_EXPERT_USE_MEAN, (double)NAN, NULL)};
    hf_study_settings s = *hf_study_settings_of(study[1]);
    study[3] = studies_create(ctx, &s);
    for (size_t i = 0; i < log.count; i++)
        assert_int_equal(hfi_study_replay(ctx, study[3], &log.event[i]), HF_OK);
    double mean[4];
    for (int k = 0; k < 4; k++) {
        hf_trial t;
        mean[k] = there(ctx, study[k]);
        assert_int_equal(hf_study_trial(ctx, study[k], 11, &t), HF_OK);
        assert_true(t.aside == (k > 0)); /* a doubted reading has no say, a correction in its place has */
        assert_true(t.value[0] == 30.0);
    }
    assert_true(fabs(mean[0] - 9.0) < 1.0);
    assert_true(mean[1] > 5.8 && mean[1] < 9.5); /* the nearest readings have a say in it */
    assert_true(mean[2] < 5.2);                  /* and here nobody else has; they are at most 5 */
    assert_true(mean[3] == mean[1]);
    double at[2];
    hf_study_certificate proof;
    hf_best best;
    assert_int_equal(hf_study_certify(ctx, study[1], 0.1, NULL, at, &best, &proof), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "expert"));
    assert_true(hf_study_certify(ctx, study[0], 0.1, NULL, at, &best, &proof) >= 0);
    for (int k = 0; k < 4; k++) hf_study_free(study[k]);
    hf_context_free(ctx);
}

/* ---- the same history, the same answers --------------------------------------------------------------- */

static void same_proposal(hf_context *ctx, hf_study *a, hf_study *b)
{
    hf_proposal p, q;
    hf_trial s, t;
    assert_true(hf_study_ask(ctx, a, 1, 2e9, &p) >= 0);
    assert_true(hf_study_ask(ctx, b, 1, 2e9, &q) >= 0);
    assert_true(p.trial == q.trial && p.reason == q.reason && p.repeats == q.repeats);
    assert_true(p.mean == q.mean && p.sd == q.sd && p.value == q.value);
    assert_int_equal(hf_study_trial(ctx, a, p.trial, &s), HF_OK);
    assert_int_equal(hf_study_trial(ctx, b, q.trial, &t), HF_OK);
    assert_memory_equal(s.at, t.at, 2 * sizeof(double));
}

static studies_log log_of_study;

static void a_replayed_study_goes_on_the_same(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx), *again = plane(ctx);
    studies_log_to(study, &log_of_study);
    studies_run(ctx, study, 17, studies_hill, flatter);
    for (size_t i = 0; i < log_of_study.count; i++)
        assert_int_equal(hfi_study_replay(ctx, again, &log_of_study.event[i]), HF_OK);
    assert_int_equal(again->facts, study->facts);
    same_proposal(ctx, study, again);
    hf_study_free(study);
    hf_study_free(again);
    hf_context_free(ctx);
}

static void looking_changes_nothing(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx), *looked = plane(ctx);
    for (size_t k = 0; k < 14; k++) {
        studies_run(ctx, study, 1, studies_hill, NULL);
        studies_run(ctx, looked, 1, studies_hill, NULL);
        if (k > 2 && k % 3 == 0) assert_true(hf_study_look(ctx, looked) >= 0);
    }
    same_proposal(ctx, study, looked);
    hf_study_free(study);
    hf_study_free(looked);
    hf_context_free(ctx);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    hf_context *one = hf_context_create(), *three = hf_context_create();
    hf_context_set_threads(one, 1);
    hf_context_set_threads(three, 3);
    hf_context_set_seed(three, 99); /* the study's seed counts, not the context's */
    hf_study *a = plane(one), *b = plane(three);
    studies_run(one, a, 12, studies_hill, NULL);
    studies_run(three, b, 12, studies_hill, NULL);
    hf_trial s, t;
    for (uint64_t id = 1; id <= 12; id++) {
        assert_int_equal(hf_study_trial(one, a, id, &s), HF_OK);
        assert_int_equal(hf_study_trial(three, b, id, &t), HF_OK);
        assert_memory_equal(s.at, t.at, 2 * sizeof(double));
    }
    hf_study_free(a);
    hf_study_free(b);
    hf_context_free(one);
    hf_context_free(three);
}

static void damaged_events_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study *study = plane(ctx);
    const double asked[7] = {0.0, 1.0, 1.0, 0.0, 0.0, 0.0, -1.0};
    const double outside[7] = {9.0, 1.0, 1.0, 0.0, 0.0, 0.0, -1.0};
    const double fitted[6] = {2.0, 0.0, 0.0, 0.0, 1.0, 1.0};
    const hfi_study_event bad[] = {{.kind = HFI_STUDY_ASKED, .id = 2, .count = 7, .values = asked},
                                   {.kind = HFI_STUDY_ASKED, .id = 1, .count = 6, .values = asked},
                                   {.kind = HFI_STUDY_ASKED, .id = 1, .of = 1, .count = 7, .values = asked},
                                   {.kind = HFI_STUDY_ASKED, .id = 1, .count = 7, .values = outside},
                                   {.kind = HFI_STUDY_TOLD, .id = 1, .count = 2, .values = asked},
                                   {.kind = HFI_STUDY_FITTED, .id = 0, .count = 6, .values = fitted},
                                   {.kind = HFI_STUDY_FITTED, .id = 2, .count = 6, .values = fitted},
                                   {.kind = HFI_STUDY_REGION, .id = 0, .count = 7, .values = asked},
                                   {.kind = HFI_STUDY_KINDS}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(hfi_study_replay(ctx, study, &bad[i]), HF_ERR_MODEL_FILE);
    assert_true(hf_study_trials(study) == 0 && study->changes == 0);
    hf_study_free(study);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hill_is_climbed),
                                       cmocka_unit_test(minimising_is_the_mirror_image),
                                       cmocka_unit_test(wrong_values_are_set_aside),
                                       cmocka_unit_test(batches_are_different_places),
                                       cmocka_unit_test(what_is_told_is_checked),
                                       cmocka_unit_test(failures_are_avoided),
                                       cmocka_unit_test(pending_trials_expire),
                                       cmocka_unit_test(a_finite_space_is_exhausted),
                                       cmocka_unit_test(a_replayed_study_goes_on_the_same),
                                       cmocka_unit_test(looking_changes_nothing),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(damaged_events_are_refused),
                                       cmocka_unit_test(an_expert_is_heard),
                                       cmocka_unit_test(corrections_make_a_prior_mean),
                                       cmocka_unit_test(a_suspect_is_told_in_the_users_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
