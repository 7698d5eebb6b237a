/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: what they may be, as numbers, as inputs of a surrogate and as text; settings that are refused. */
#include "studies.h"

#include <stdio.h>

static void refuse(hf_context *ctx, hf_study_settings s, const char *word)
{
    hf_study *study = NULL;
    assert_int_equal(hf_study_create(ctx, &s, &study), HF_ERR_ARGUMENT);
    assert_null(study);
    if (strstr(hf_context_message(ctx), word) == NULL)
        fail_msg("'%s' does not say '%s'", hf_context_message(ctx), word);
}

#define BAD_VARIABLE(word, assignment)                                                                       \
    (memcpy(v, studies_mixed, sizeof v), (assignment), s = studies_settings(5, v, &studies_gain),            \
     refuse(ctx, s, word))

static void bad_variables_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_variable v[5];
    hf_study_settings s;
    const char *const twice[3] = {"a", "b", "a"}, *const hollow[3] = {"a", "", "b"};
    BAD_VARIABLE("reversed", (v[0].lower = 2.0));
    BAD_VARIABLE("can only be", (v[0].lower = 1.0));
    BAD_VARIABLE("must be finite", (v[0].upper = INFINITY));
    BAD_VARIABLE("must be positive", (v[0].lower = 0.0));
    BAD_VARIABLE("whole numbers", (v[1].lower = 0.5));
    BAD_VARIABLE("two or more", (v[2].levels = 1));
    BAD_VARIABLE("no logarithm", (v[3].log = true));
    BAD_VARIABLE("label \"a\" twice", (v[2].level = twice));
    BAD_VARIABLE("label 2 is empty", (v[2].level = hollow));
    BAD_VARIABLE("two variables are named rate", (v[4].name = "rate"));
    BAD_VARIABLE("has no name", (v[1].name = ""));
    BAD_VARIABLE("names a variable and an outcome", (v[0].name = "gain"));
    BAD_VARIABLE("unknown kind", (v[0].kind = (hf_variable_kind)9));
    hf_context_free(ctx);
}

#define BAD_SETTING(word, assignment)                                                                        \
    (s = studies_settings(2, studies_plane, &studies_gain), (assignment), refuse(ctx, s, word))

static void bad_settings_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_study_settings s;
    hf_outcome o[3] = {studies_gain, {.name = "c", .goal = HF_GOAL_AT_MOST, .limit = NAN}, studies_gain};
    hf_outcome certain[2] = {studies_gain, {.name = "c", .goal = HF_GOAL_AT_MOST, .certain = true}};
    const hf_outcome limited = {.name = "c", .goal = HF_GOAL_AT_LEAST};
    BAD_SETTING("at least one variable", (s.variables = 0));
    BAD_SETTING("needs an outcome", (s.outcomes = 0));
    BAD_SETTING("0 objectives", (s.outcome = &limited));
    BAD_SETTING("must be finite", (s.outcomes = 2, s.outcome = o));
    o[1].limit = 1.0;
    BAD_SETTING("two outcomes are named gain", (s.outcomes = 3, s.outcome = o));
    BAD_SETTING("noise bound", (s.outcomes = 2, s.outcome = certain));
    certain[1].noise_bound = 0.1;
    BAD_SETTING("norm bound", (s.outcomes = 2, s.outcome = certain));
    certain[1].norm_bound = 1.0;
    BAD_SETTING("kernel", (s.outcomes = 2, s.outcome = certain));
    BAD_SETTING("no preset", (s.preset = "best"));
    BAD_SETTING("no surrogate", (s.preset = "logit"));
    BAD_SETTING("beta is", (s.beta = -1.0));
    BAD_SETTING("regions is", (s.regions = 0));
    BAD_SETTING("expires is", (s.expires = -1.0));
    BAD_SETTING("start is", (s.start = 1000000));
    BAD_SETTING("reach", (s.reach = (hf_study_reach)7));
    BAD_SETTING("there is no choice of expert", (s.expert = (hf_expert_use)7));
    hf_context_free(ctx);
}

static void inputs_and_settings_agree(void **state)
{
    (void)state;
    const double values[5][3] = {
        {1e-4, 0.02, 1.0}, {-3.0, 4.0, 9.0}, {0.0, 1.0, 2.0}, {0.0, 3.0, 2.0}, {1.0, 30.0, 1000.0}};
    for (size_t j = 0; j < 5; j++)
        for (size_t k = 0; k < 3; k++) {
            const double u = hfi_variable_encode(&studies_mixed[j], values[j][k]);
            const double back = hfi_variable_decode(&studies_mixed[j], u);
            if (studies_mixed[j].kind == HF_VARIABLE_REAL)
                assert_true(fabs(back - values[j][k]) <= 1e-14 * fabs(values[j][k]));
            else
                assert_true(back == values[j][k]);
        }
    /* Anything in the cube is some setting, and ends stay ends. */
    for (size_t j = 0; j < 5; j++)
        for (double u = -0.2; u < 4.0; u += 0.0625)
            assert_int_equal(
                hfi_variable_admits(NULL, &studies_mixed[j], hfi_variable_decode(&studies_mixed[j], u)),
                HF_OK);
    assert_true(fabs(hfi_variable_encode(&studies_mixed[0], 0.01) - 0.5) < 1e-12);
}

static void text_reads_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_study_settings s = studies_settings(5, studies_mixed, &studies_gain);
    hf_study *study = studies_create(ctx, &s);
    const double at[5] = {0.1 / 3.0, -2.0, 1.0, 3.0, 77.0};
    char text[64];
    for (size_t j = 0; j < 5; j++) {
        double back = NAN;
        assert_true(hf_study_format(study, j, at[j], sizeof text, text) > 0);
        assert_int_equal(hf_study_parse(ctx, study, j, text, &back), HF_OK);
        assert_true(back == at[j]);
    }
    assert_string_equal(text, "77");
    assert_int_equal(hf_study_format(study, 5, 0.0, sizeof text, text), 0);
    const char *const bad[][2] = {{"0", "2"},    {"1", "1.5"}, {"1", "12"},
                                  {"2", "huge"}, {"0", "x"},   {"3", ""}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        double value = 5.0;
        const size_t j = (size_t)(bad[k][0][0] - '0');
        assert_int_equal(hf_study_parse(ctx, study, j, bad[k][1], &value), HF_ERR_ARGUMENT);
        assert_true(value == 5.0);
        assert_non_null(strstr(hf_context_message(ctx), studies_mixed[j].name));
    }
    hf_study_free(study);
    hf_context_free(ctx);
}

static void names_read_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int i = 0; i < 4; i++) {
        hf_variable_kind kind;
        hf_goal goal;
        assert_int_equal(hf_enum_parse(ctx, HF_ENUM_VARIABLE_KIND,
                                       hf_enum_name(HF_ENUM_VARIABLE_KIND, (unsigned)i), &kind),
                         HF_OK);
        assert_int_equal(hf_enum_parse(ctx, HF_ENUM_GOAL, hf_enum_name(HF_ENUM_GOAL, (unsigned)i), &goal),
                         HF_OK);
        assert_int_equal(kind, i);
        assert_int_equal(goal, i);
        assert_string_not_equal(hf_enum_name(HF_ENUM_TRIAL_STATE, (unsigned)i), "unknown");
        assert_string_not_equal(hf_enum_name(HF_ENUM_REASON, (unsigned)i), "unknown");
    }
    hf_study_reach reach;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_STUDY_REACH, "regions", &reach), HF_OK);
    assert_int_equal(reach, HF_REACH_REGIONS);
    assert_string_equal(hf_enum_name(HF_ENUM_STUDY_REACH, HF_REACH_AUTO), "auto");
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_STUDY_REACH, "here", &reach), HF_ERR_ARGUMENT);
    assert_string_equal(hf_enum_name(HF_ENUM_REASON, (unsigned)99), "unknown");
    hf_expert_use use;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_USE, "prior-mean", &use), HF_OK);
    assert_int_equal(use, HF_EXPERT_USE_MEAN);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_USE, HF_EXPERT_USE_REPLACE), "replace");
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_USE, "ignore", &use), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_variables_are_refused),
                                       cmocka_unit_test(bad_settings_are_refused),
                                       cmocka_unit_test(inputs_and_settings_agree),
                                       cmocka_unit_test(text_reads_back), cmocka_unit_test(names_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
