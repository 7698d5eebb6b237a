/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to calls about studies: an error with a message, outputs and study as they were. */
#include "api/refused.h"
#include "api/studies.h"

static void names(workshop *w)
{
    hf_variable_kind kind = HF_VARIABLE_CATEGORY;
    hf_goal goal = HF_GOAL_AT_LEAST;
    hf_study_reach reach = HF_REACH_REGIONS;
    hf_expert_use use = HF_EXPERT_USE_MEAN;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_VARIABLE_KIND, "no such", &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_VARIABLE_KIND, NULL, &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_VARIABLE_KIND, "real", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_GOAL, "no such", &goal));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_GOAL, NULL, &goal));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_GOAL, "maximise", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_STUDY_REACH, "no such", &reach));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_STUDY_REACH, NULL, &reach));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_STUDY_REACH, "auto", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_USE, "no such", &use));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_USE, NULL, &use));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_USE, "replace", NULL));
    assert_true(use == HF_EXPERT_USE_MEAN);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_USE, (unsigned)(-1)), "unknown");
    assert_true(kind == HF_VARIABLE_CATEGORY && goal == HF_GOAL_AT_LEAST && reach == HF_REACH_REGIONS);
    assert_string_equal(hf_enum_name(HF_ENUM_VARIABLE_KIND, (unsigned)(-1)), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_GOAL, (unsigned)(-1)), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_STUDY_REACH, (unsigned)(-1)), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_TRIAL_STATE, (unsigned)(-1)), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_REASON, (unsigned)(-1)), "unknown");
}
REFUSED_TEST(names)

static void settings(workshop *w)
{
    const hf_study_settings good = studies_settings();
    hf_study_settings bad = good;
    hf_study *out = NULL;
    ARGUMENT(hf_study_create(w->ctx, NULL, &out));
    ARGUMENT(hf_study_create(w->ctx, &good, NULL));
    assert_int_equal(hf_study_create(NULL, &good, &out), HF_ERR_ARGUMENT);
    bad.variables = 0;
    ARGUMENT(hf_study_create(w->ctx, &bad, &out));
    bad = hf_study_settings_default(); /* without variables and outcomes */
    ARGUMENT(hf_study_create(w->ctx, &bad, &out));
    bad = good;
    bad.outcomes = 0;
    ARGUMENT(hf_study_create(w->ctx, &bad, &out));
    bad = good;
    bad.beta = -1.0;
    ARGUMENT(hf_study_create(w->ctx, &bad, &out));
    bad = good;
    bad.preset = "no such";
    ARGUMENT(hf_study_create(w->ctx, &bad, &out));
    bad = good;
    bad.kernel = "no such";
    REFUSED(HF_ERR_PARSE, hf_study_create(w->ctx, &bad, &out));
    assert_null(out);
    assert_null(hf_study_settings_of(NULL));
    assert_int_equal(hf_study_trials(NULL), 0);
    hf_study_free(NULL);
}
REFUSED_TEST(settings)

static void trials(workshop *w)
{
    hf_study *study = studies_make(NULL);
    hf_trial trial = {.id = 99};
    hf_proposal p = {.trial = 99};
    double value = 7.0;
    const double y = 0.5, none = NAN, huge = INFINITY, less = -1.0, outside[2] = {2.0, 0.0},
                 at[2] = {0.5, 0.0};
    uint64_t id = 99;
    ARGUMENT(hf_study_parse(w->ctx, NULL, 0, "1", &value));
    ARGUMENT(hf_study_parse(w->ctx, study, 2, "1", &value));
    ARGUMENT(hf_study_parse(w->ctx, study, 0, NULL, &value));
    ARGUMENT(hf_study_parse(w->ctx, study, 0, "1", NULL));
    ARGUMENT(hf_study_parse(w->ctx, study, 1, "blue", &value));
    assert_int_equal(hf_study_format(study, 2, 0.0, 0, NULL), 0);
    assert_int_equal(hf_study_format(NULL, 0, 0.0, 0, NULL), 0);
    ARGUMENT(hf_study_trial(w->ctx, NULL, 1, &trial));
    ARGUMENT(hf_study_trial(w->ctx, study, 8, &trial));
    ARGUMENT(hf_study_trial(w->ctx, study, 1, NULL));
    ARGUMENT(hf_study_ask(w->ctx, NULL, 1, 1e9, &p));
    ARGUMENT(hf_study_ask(w->ctx, study, 0, 1e9, &p));
    ARGUMENT(hf_study_ask(w->ctx, study, 10001, 1e9, &p));
    ARGUMENT(hf_study_ask(w->ctx, study, 1, 1e9, NULL));
    ARGUMENT(hf_study_tell(w->ctx, NULL, 7, &y, NULL, NULL));
    ARGUMENT(hf_study_tell(w->ctx, study, 8, &y, NULL, NULL));
    ARGUMENT(hf_study_tell(w->ctx, study, 7, NULL, NULL, NULL));
    ARGUMENT(hf_study_tell(w->ctx, study, 7, &none, NULL, NULL));
    ARGUMENT(hf_study_tell(w->ctx, study, 7, &y, &less, NULL));
    ARGUMENT(hf_study_tell(w->ctx, study, 1, &y, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_study_tell(w->ctx, study, 7, &huge, NULL, NULL));
    ARGUMENT(hf_study_fail(w->ctx, NULL, 7, NULL, NULL));
    ARGUMENT(hf_study_fail(w->ctx, study, 0, NULL, NULL));
    ARGUMENT(hf_study_fail(w->ctx, study, 1, NULL, NULL));
    ARGUMENT(hf_study_add(w->ctx, NULL, at, &y, NULL, NULL, &id));
    ARGUMENT(hf_study_add(w->ctx, study, NULL, &y, NULL, NULL, &id));
    ARGUMENT(hf_study_add(w->ctx, study, at, NULL, NULL, NULL, &id));
    ARGUMENT(hf_study_add(w->ctx, study, outside, &y, NULL, NULL, &id));
    ARGUMENT(hf_study_add_failed(w->ctx, NULL, at, &y, NULL, &id));
    ARGUMENT(hf_study_add_failed(w->ctx, study, NULL, &y, NULL, &id));
    ARGUMENT(hf_study_add_failed(w->ctx, study, outside, NULL, NULL, &id));
    assert_true(id == 99 && trial.id == 99 && p.trial == 99 && value == 7.0);
    assert_int_equal(hf_study_trials(study), STUDIES_TOLD + 1);
    assert_int_equal(studies_trial(study, 7).state, HF_TRIAL_PENDING);
    hf_study_free(study);
}
REFUSED_TEST(trials)

static void answers(workshop *w)
{
    hf_study *study = studies_make(NULL), *empty = NULL;
    const hf_study_settings good = studies_settings();
    assert_int_equal(hf_study_create(w->ctx, &good, &empty), HF_OK);
    hf_best best = {.trial = 99};
    hf_study_certificate proof = {.boxes = 99};
    double at[2] = {7.0, 7.0}, mean = 7.0, lower[2] = {7.0, 7.0}, upper[2] = {7.0, 7.0};
    uint64_t list[STUDIES_TOLD + 1] = {99};
    size_t count = 99;
    ARGUMENT(hf_study_best(w->ctx, NULL, at, &best));
    ARGUMENT(hf_study_best(w->ctx, study, NULL, &best));
    REFUSED(HF_ERR_NO_DATA, hf_study_best(w->ctx, empty, at, &best));
    ARGUMENT(hf_study_certify(w->ctx, NULL, 0.1, NULL, at, &best, &proof));
    ARGUMENT(hf_study_certify(w->ctx, study, 0.0, NULL, at, &best, &proof));
    ARGUMENT(hf_study_certify(w->ctx, study, NAN, NULL, at, &best, &proof));
    ARGUMENT(hf_study_front(w->ctx, NULL, list, &count));
    ARGUMENT(hf_study_front(w->ctx, study, NULL, &count));
    ARGUMENT(hf_study_front(w->ctx, study, list, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_study_front(w->ctx, empty, list, &count));
    assert_int_equal(hf_study_expert_due(NULL), 0);
    ARGUMENT(hf_study_expert(w->ctx, NULL, &count, list));
    ARGUMENT(hf_study_expert(w->ctx, study, NULL, list));
    ARGUMENT(hf_study_expert(w->ctx, study, &count, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_study_expert(w->ctx, empty, &count, list));
    ARGUMENT(hf_study_label(w->ctx, NULL, 1, 0, HF_EXPERT_BELIEVED, NAN, 0.0, NULL));
    ARGUMENT(hf_study_label(w->ctx, study, 999, 0, HF_EXPERT_BELIEVED, NAN, 0.0, NULL));
    ARGUMENT(hf_study_label(w->ctx, study, 1, 9, HF_EXPERT_BELIEVED, NAN, 0.0, NULL));
    ARGUMENT(hf_study_look(w->ctx, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_study_look(w->ctx, empty));
    ARGUMENT(hf_study_predict(w->ctx, NULL, 0, 1, w->at, &mean, NULL));
    ARGUMENT(hf_study_predict(w->ctx, study, 1, 1, w->at, &mean, NULL));
    ARGUMENT(hf_study_predict(w->ctx, study, 0, 1, NULL, &mean, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_study_predict(w->ctx, empty, 0, 1, w->at, &mean, NULL));
    ARGUMENT(hf_study_relevance(w->ctx, NULL, 0, at, lower, upper));
    ARGUMENT(hf_study_relevance(w->ctx, study, 1, at, lower, upper));
    ARGUMENT(hf_study_relevance(w->ctx, study, 0, NULL, lower, upper));
    REFUSED(HF_ERR_NO_DATA, hf_study_relevance(w->ctx, empty, 0, at, lower, upper));
    assert_true(best.trial == 99 && proof.boxes == 99 && count == 99 && list[0] == 99);
    assert_true(at[0] == 7.0 && mean == 7.0 && lower[0] == 7.0 && upper[0] == 7.0);
    hf_study_free(empty);
    hf_study_free(study);
}
REFUSED_TEST(answers)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_refuse),
        cmocka_unit_test(settings_refuse),
        cmocka_unit_test(trials_refuse),
        cmocka_unit_test(answers_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
