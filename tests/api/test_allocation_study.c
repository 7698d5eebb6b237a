/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of calls about studies fails once; see test_allocation.c. A study that a call failed for is
 * as it was, and goes on. */
#include "api/studies.h"
#include "api/sweep.h"

static hf_status names(workshop *w)
{
    hf_variable_kind kind;
    hf_goal goal;
    hf_study_reach reach;
    hf_expert_use use;
    assert_string_equal(hf_enum_name(HF_ENUM_VARIABLE_KIND, HF_VARIABLE_REAL), "real");
    assert_string_equal(hf_enum_name(HF_ENUM_GOAL, HF_GOAL_MINIMISE), "minimise");
    assert_string_equal(hf_enum_name(HF_ENUM_STUDY_REACH, HF_REACH_AUTO), "auto");
    assert_string_equal(hf_enum_name(HF_ENUM_TRIAL_STATE, HF_TRIAL_TOLD), "told");
    assert_string_equal(hf_enum_name(HF_ENUM_REASON, HF_REASON_START), "start");
    assert_string_equal(hf_study_settings_default().preset, "default");
    hf_status s = hf_enum_parse(w->ctx, HF_ENUM_VARIABLE_KIND, "integer", &kind);
    if (s >= 0) s = hf_enum_parse(w->ctx, HF_ENUM_GOAL, "at-most", &goal);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_USE, HF_EXPERT_USE_MEAN), "prior-mean");
    if (s >= 0) s = hf_enum_parse(w->ctx, HF_ENUM_EXPERT_USE, "replace", &use);
    return s >= 0 ? hf_enum_parse(w->ctx, HF_ENUM_STUDY_REACH, "global", &reach) : s;
}

static hf_status create(workshop *w)
{
    const hf_study_settings settings = studies_settings();
    hf_study *study = UNTOUCHED;
    const hf_status s = settled(hf_study_create(w->ctx, &settings, &study), study);
    if (s >= 0) {
        assert_int_equal(hf_study_settings_of(study)->seed, 3);
        hf_study_free(study);
    }
    return s;
}

static hf_study *kept; /* what the calls are about: allocated with a context of its own */

static hf_status texts(workshop *w)
{
    double value = 0.0;
    char text[32];
    hf_trial trial;
    assert_int_equal(hf_study_format(kept, 1, 1.0, sizeof text, text), 5);
    assert_string_equal(text, "green");
    assert_int_equal(hf_study_trials(kept), STUDIES_TOLD + 1);
    const hf_status s = hf_study_trial(w->ctx, kept, 7, &trial);
    return s >= 0 ? hf_study_parse(w->ctx, kept, 1, "green", &value) : s;
}

static hf_status ask(workshop *w)
{
    hf_study *study = studies_make(NULL);
    hf_proposal p[2];
    const hf_status s = hf_study_ask(w->ctx, study, 2, 1e9, p);
    assert_int_equal(hf_study_trials(study), s >= 0 ? 9 : 7);
    hf_study_free(study);
    return s;
}

static hf_status tell(workshop *w)
{
    hf_study *study = studies_make(NULL);
    const double y = 0.25;
    const hf_status s = hf_study_tell(w->ctx, study, 7, &y, NULL, "told");
    assert_int_equal(studies_trial(study, 7).state, s >= 0 ? HF_TRIAL_TOLD : HF_TRIAL_PENDING);
    hf_study_free(study);
    return s;
}

static hf_status fall(workshop *w)
{
    hf_study *study = studies_make(NULL);
    const hf_status s = hf_study_fail(w->ctx, study, 7, NULL, "broken");
    assert_int_equal(studies_trial(study, 7).state, s >= 0 ? HF_TRIAL_FAILED : HF_TRIAL_PENDING);
    hf_study_free(study);
    return s;
}

static hf_status add(workshop *w)
{
    hf_study *study = studies_make(NULL);
    const double at[2] = {0.5, 1.0}, y = 0.25;
    uint64_t id = 99;
    const hf_status s = hf_study_add(w->ctx, study, at, &y, NULL, "past", &id);
    assert_int_equal(id, s >= 0 ? 8 : 99);
    assert_int_equal(hf_study_trials(study), s >= 0 ? 8 : 7);
    const hf_status failed = s < 0 ? s : hf_study_add_failed(w->ctx, study, at, NULL, "lost", &id);
    assert_int_equal(hf_study_trials(study), failed >= 0 ? 9 : s >= 0 ? 8 : 7);
    hf_study_free(study);
    return failed;
}

static hf_status look(workshop *w)
{
    hf_study *study = studies_make(NULL);
    const hf_status s = hf_study_look(w->ctx, study);
    hf_study_free(study);
    return s;
}

/* With a surrogate that is there. */
static hf_status answer(workshop *w)
{
    double at[2], mean, sd;
    hf_best best;
    uint64_t list[STUDIES_TOLD + 1];
    size_t count;
    hf_status s = hf_study_best(w->ctx, kept, at, &best);
    if (s >= 0) s = hf_study_front(w->ctx, kept, list, &count);
    return s >= 0 ? hf_study_predict(w->ctx, kept, 0, 1, at, &mean, &sd) : s;
}

static hf_status expert(workshop *w)
{
    uint64_t list[STUDIES_TOLD + 1];
    size_t count = 0;
    const hf_status s = hf_study_expert(w->ctx, kept, &count, list);
    if (s >= 0) assert_true(count == hf_study_expert_due(kept) && count < 2);
    return s < 0 || count == 0
               ? s
               : hf_study_label(w->ctx, kept, list[0], 0, HF_EXPERT_BELIEVED, NAN, 0.0, "seen");
}

/* Corrections for a prior mean. */
static hf_status lifted(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_study_settings settings = studies_settings();
    hf_study *study = NULL;
    double mean;
    const double place[2] = {0.3, 1.0};
    settings.expert = HF_EXPERT_USE_MEAN;
    hf_status s = hf_study_create(ctx, &settings, &study);
    for (int i = 0; i < STUDIES_TOLD && s >= 0; i++) {
        const double at[2] = {0.17 * i, (double)(i % 2)}, y = at[0] * (1.0 - at[0]);
        s = hf_study_add(ctx, study, at, &y, NULL, NULL, NULL);
    }
    if (s >= 0) s = hf_study_label(ctx, study, 3, 0, HF_EXPERT_DOUBTED, 0.1, 0.0, NULL);
    if (s < 0) fail_msg("%s", hf_context_message(ctx));
    s = hf_study_predict(w->ctx, study, 0, 1, place, &mean, NULL);
    hf_study_free(study);
    hf_context_free(ctx);
    return s;
}

static hf_status relevance(workshop *w)
{
    double share[2], lower[2], upper[2];
    return hf_study_relevance(w->ctx, kept, 0, share, lower, upper);
}

static hf_status certify(workshop *w)
{
    double at[2];
    hf_best best;
    hf_study_certificate proof;
    hf_certify_settings limits = hf_certify_settings_default();
    limits.node_limit = 20;
    return hf_study_certify(w->ctx, kept, 0.1, &limits, at, &best, &proof);
}

static void studies_survive(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    kept = studies_make(NULL);
    assert_true(hf_study_look(ctx, kept) >= 0);
    RUN(CASE(names, 0), CASE(create, 10), CASE(texts, 0), CASE(tell, 1), CASE(fall, 1), CASE(add, 2));
    RUN(CASE(answer, 3), CASE(relevance, 2), CASE(certify, 2), CASE(expert, 2), CASE(lifted, 10));
    RUN(CASE(look, 10), CASE(ask, 10));
    hf_study_free(kept);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(studies_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
