/* SPDX-License-Identifier: Apache-2.0 */
/* Settings and lists: every member has a default that does not come from what was in memory; presets are what their
 * names say; names and numbers of choices belong together; a status says its severity by its sign. */
#include "data/support.h"

#include <holdfast/holdfast.h>

#include <math.h>

/* ---- defaults -------------------------------------------------------------------------------- */

/* A member that a setter forgot keeps the bytes it had, which are no choice, flag or number in its range. */
static void every_member_has_a_default(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const presets[] = {"default", "gp",      "rcgp",       "cagp",         "rcagp",
                                          "sgpr",    "rcsvgp",  "svgp",       "student-t",    "rrp",
                                          "mogp",    "morcgp",  "t-mogp",     "independent",  "probit",
                                          "logit",   "softmax", "rcagp-text", "rcagp-program"};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        hf_fit_settings s;
        memset(&s, 0xAA, sizeof s);
        assert_int_equal(hf_fit_settings_preset(ctx, presets[i], &s, sizeof s), HF_OK);
        for (size_t k = 0; k < hf_setting_count(hf_fit_settings_table()); k++) {
            const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), k);
            char text[64];
            if (setting->type >= HF_SETTING_LIST) continue;
            assert_int_equal(
                hf_settings_get(ctx, hf_fit_settings_table(), &s, setting->name, sizeof text, text), HF_OK);
            assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, setting->name, text), HF_OK);
        }
        assert_true(!s.inducing_inputs && !s.action_matrix && s.action_rows == 0 && !s.output_eps);
        assert_true(s.output_eps_count == 0 && !s.output_beta && s.output_beta_count == 0 && !s.set);
        assert_true(s.set_count == 0 && !s.start && s.start_count == 0);
    }
    hf_context_free(ctx);
}

/* ---- by name --------------------------------------------------------------------------------- */

/* Every member but this one has the text that it had. */
static void others_stay(hf_context *ctx, const hf_fit_settings *a, const hf_fit_settings *b, const char *name)
{
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *other = hf_setting_at(hf_fit_settings_table(), i);
        char left[64], right[64];
        if (other->type >= HF_SETTING_LIST || strcmp(other->name, name) == 0) continue;
        assert_int_equal(hf_settings_get(ctx, hf_fit_settings_table(), a, other->name, sizeof left, left),
                         HF_OK);
        assert_int_equal(hf_settings_get(ctx, hf_fit_settings_table(), b, other->name, sizeof right, right),
                         HF_OK);
        assert_string_equal(left, right);
    }
}

static void goes_there_and_back(hf_context *ctx, const char *name, const char *value)
{
    const hf_fit_settings before = hf_fit_settings_default();
    hf_fit_settings s = before;
    char text[64];
    if (hf_settings_set(ctx, hf_fit_settings_table(), &s, name, value) < 0)
        fail_msg("%s = %s: %s", name, value, hf_context_message(ctx));
    assert_int_equal(hf_settings_get(ctx, hf_fit_settings_table(), &s, name, sizeof text, text), HF_OK);
    assert_string_equal(text, value);
    others_stay(ctx, &s, &before, name);
    assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, name, "default"), HF_OK);
    others_stay(ctx, &s, &before, "");
}

static void is_refused(hf_context *ctx, const char *name, const char *value, const char *said)
{
    const hf_fit_settings before = hf_fit_settings_default();
    hf_fit_settings s = before;
    assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, name, value), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), name);
    assert_contains(hf_context_message(ctx), said);
    others_stay(ctx, &s, &before, "");
}

static void values_of(hf_context *ctx, const hf_setting *setting)
{
    const char *name = setting->name;
    switch (setting->type) {
    case HF_SETTING_CHOICE:
        for (size_t k = 0; k < setting->choices; k++)
            goes_there_and_back(ctx, name, hf_setting_choice(setting, k));
        assert_null(hf_setting_choice(setting, setting->choices));
        is_refused(ctx, name, "neither", hf_setting_choice(setting, 0));
        is_refused(ctx, name, "unknown", hf_setting_choice(setting, 0));
        return;
    case HF_SETTING_FLAG:
        goes_there_and_back(ctx, name, "on");
        goes_there_and_back(ctx, name, "off");
        is_refused(ctx, name, "yes", "neither on nor off");
        return;
    case HF_SETTING_COUNT:
        goes_there_and_back(ctx, name, "1");
        goes_there_and_back(ctx, name, "4503599627370497");
        is_refused(ctx, name, "1.5", "whole number");
        is_refused(ctx, name, "-1", "whole number");
        is_refused(ctx, name, "1e300", "below 2^53");
        is_refused(ctx, name, " 7", "not a number");
        is_refused(ctx, name, "7 or 8", "not a number");
        if (setting->zero || setting->least == 0.0) goes_there_and_back(ctx, name, "0");
        return;
    case HF_SETTING_SEED:
        goes_there_and_back(ctx, name, "18446744073709551615");
        is_refused(ctx, name, "-1", "whole number");
        return;
    case HF_SETTING_NUMBER:
        if (setting->most > 2.0) goes_there_and_back(ctx, name, "1.1000000000000008");
        if (setting->least < 0.5) goes_there_and_back(ctx, name, "0.10000000000000007");
        is_refused(ctx, name, "-0.5", "give a");
        is_refused(ctx, name, "nan", "not a number");
        is_refused(ctx, name, " 0.5", "not a number");
        is_refused(ctx, name, "", "not a number");
        return;
    case HF_SETTING_TEXT:
        goes_there_and_back(ctx, name, "a text");
        return;
    case HF_SETTING_LIST:
    case HF_SETTING_LENGTH:
        is_refused(ctx, name, "1", "array");
        return;
    }
}

static void unknown_names_are_told_what_there_is(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    is_refused(ctx, "itertions", "1", "did you mean 'iterations'?");
    is_refused(ctx, "zzzzzzzzzzzz", "1", "there are kernel, mean, sites, ");
    hf_context_free(ctx);
}

static void every_member_is_set_by_its_name(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), i);
        assert_ptr_equal(hf_setting_find(hf_fit_settings_table(), setting->name), setting);
        values_of(ctx, setting);
    }
    assert_null(hf_setting_at(hf_fit_settings_table(), hf_setting_count(hf_fit_settings_table())));
    assert_null(hf_setting_find(hf_fit_settings_table(), "iteration"));
    is_refused(ctx, "iteration", "1", "no setting");
    hf_context_free(ctx);
}

static void names_are_members(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings s = hf_fit_settings_default();
    static const char *const pairs[][2] = {{"kernel", "se"},
                                           {"sites", "student-t"},
                                           {"eps", "0.25"},
                                           {"threshold", "2"},
                                           {"threshold_rule", "given"},
                                           {"student_nu", "5"},
                                           {"inducing", "12"},
                                           {"train", "off"},
                                           {"solver", "projected"},
                                           {"tolerance", "0"},
                                           {"resume", "on"},
                                           {"max_noise", "3"},
                                           {"inference", "laplace"},
                                           {"restarts", "2"},
                                           {"unit_inputs", "on"},
                                           {"blocks", "clustered"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, pairs[i][0], pairs[i][1]), HF_OK);
    assert_string_equal(s.kernel, "se");
    assert_true(s.sites == HF_LIKELIHOOD_STUDENT_T && s.eps == 0.25 && s.threshold == 2.0 &&
                s.student_nu == 5.0);
    assert_true(s.threshold_rule == HF_THRESHOLD_GIVEN && s.inducing == 12 && !s.train && s.tolerance == 0.0);
    assert_true(s.solver == HF_SOLVER_PROJECTED && s.resume && s.max_noise == 3.0 && s.restarts == 2);
    assert_true(s.inference == HF_INFERENCE_LAPLACE && s.unit_inputs && s.blocks == HF_BLOCKS_CLUSTERED);
    char small[2];
    assert_int_equal(hf_settings_get(ctx, hf_fit_settings_table(), &s, "sites", sizeof small, small),
                     HF_ERR_DIMENSION);
    s.solver = (hf_solver)77;
    char text[64] = "untouched";
    assert_int_equal(hf_settings_get(ctx, hf_fit_settings_table(), &s, "solver", sizeof text, text),
                     HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "77");
    assert_string_equal(text, "untouched");
    hf_context_free(ctx);
}

/* The numbers the header promises. */
static void defaults_are_as_documented(void **state)
{
    (void)state;
    const hf_fit_settings s = hf_fit_settings_default();
    assert_null(s.kernel);
    assert_int_equal(s.mean, HF_MEAN_CONSTANT);
    assert_int_equal(s.sites, HF_LIKELIHOOD_GAUSSIAN);
    assert_int_equal(s.suspects, HF_OUTLIERS_AUTO);
    assert_true(s.groups && s.calibrate && s.consistent_noise && s.train && s.priors && s.train_mean);
    assert_true(s.standardise && !s.unit_inputs);
    assert_int_equal(s.lengthscale_prior, HF_PRIOR_WEAK);
    assert_int_equal(s.centre, HF_CENTRE_LEAVE_ONE_OUT);
    assert_int_equal(s.threshold_rule, HF_THRESHOLD_MAD);
    assert_true(s.eps == 0.1 && s.threshold > 0.0);
    assert_int_equal(s.rounds, 8);
    assert_int_equal(s.objective, HF_OBJECTIVE_EVIDENCE);
    assert_int_equal(s.restarts, 0);
    assert_int_equal(s.iterations, 60);
    assert_int_equal(s.solver, HF_SOLVER_AUTO);
    assert_int_equal(s.inducing_method, HF_INDUCING_VFE);
    assert_int_equal(s.inducing_choice, HF_INDUCING_GREEDY);
    assert_int_equal(s.action_kind, HF_ACTIONS_KRYLOV);
    assert_int_equal(s.blocks, HF_BLOCKS_CONTIGUOUS);
    assert_int_equal(s.action_start, HF_ACTION_START_RANDOM);
    assert_int_equal(s.optimiser, HF_OPTIMISER_LBFGS);
    assert_int_equal(s.inference, HF_INFERENCE_AUTO);
    assert_int_equal(s.transform, HF_TRANSFORM_NONE);
    assert_true(s.inducing == 0 && s.actions == 0 && s.minibatch == 0);
    assert_true(s.train_actions && !s.train_inducing && !s.single_precision && !s.resume);
    assert_true(s.tolerance == 0.01 && s.learning_rate == 0.01);
    assert_true(s.max_noise == 0.0 && s.coregion_rank == 0 && !s.shared_noise && !s.independent);
    assert_true(s.weighting == HF_OUTPUTS_READING && !s.output_eps && s.output_eps_count == 0);
    assert_true(s.noise_start == 0.0 && s.common_start == 0.0 && s.student_nu == 0.0);
    assert_true(s.beta == 0.0 && !s.scaled_beta && !s.output_beta && s.output_beta_count == 0);
    assert_true(s.set == NULL && s.set_count == 0 && s.checkpoint == NULL);
    assert_true(s.start == NULL && s.start_count == 0 && !s.warm && s.inducing_inputs == NULL);
    assert_true(s.action_matrix == NULL && s.action_rows == 0);
}

/* Checks what a preset says on top of the plain Gaussian process. */
static void published(hf_context *ctx, const char *name, const char *kernel, size_t actions)
{
    hf_fit_settings s;
    assert_int_equal(hf_fit_settings_preset(ctx, name, &s, sizeof s), HF_OK);
    assert_string_equal(s.kernel, kernel);
    assert_int_equal(s.actions, actions);
    assert_true(s.sites == HF_LIKELIHOOD_ROBUST && s.suspects == HF_OUTLIERS_OFF && !s.calibrate);
    assert_true(s.solver == HF_SOLVER_PROJECTED && s.action_kind == HF_ACTIONS_BLOCKS && s.train_actions);
    assert_true(s.action_start == HF_ACTION_START_RANDOM && s.objective == HF_OBJECTIVE_RCAGP);
    assert_true(s.centre == HF_CENTRE_PRIOR && s.threshold_rule == HF_THRESHOLD_QUANTILE && s.eps == 0.2);
    assert_true(s.rounds == 1 && !s.consistent_noise && !s.priors && s.standardise && s.train_mean);
    assert_true(s.beta == 1.0 && s.scaled_beta && fabs(s.common_start - log(2.0)) < 1e-15);
    assert_true(s.optimiser == HF_OPTIMISER_ADAM && s.iterations == 50 && s.learning_rate == 0.01);
}

static void presets_are_what_they_say(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings s;
    assert_int_equal(hf_fit_settings_preset(ctx, "default", &s, sizeof s), HF_OK);
    assert_int_equal(s.suspects, HF_OUTLIERS_AUTO);
    assert_true(s.calibrate);
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &s, sizeof s), HF_OK);
    assert_int_equal(s.sites, HF_LIKELIHOOD_GAUSSIAN);
    assert_int_equal(s.suspects, HF_OUTLIERS_OFF);
    assert_false(s.calibrate);
    assert_int_equal(hf_fit_settings_preset(ctx, "rcgp", &s, sizeof s), HF_OK);
    assert_int_equal(s.sites, HF_LIKELIHOOD_ROBUST);
    assert_int_equal(s.suspects, HF_OUTLIERS_OFF);
    assert_int_equal(s.centre, HF_CENTRE_PRIOR);
    assert_int_equal(s.threshold_rule, HF_THRESHOLD_QUANTILE);
    assert_int_equal(s.objective, HF_OBJECTIVE_LOO);
    assert_true(s.eps == 0.1 && !s.consistent_noise && !s.priors && !s.calibrate);
    assert_int_equal(hf_fit_settings_preset(ctx, "rcagp", &s, sizeof s), HF_OK);
    assert_int_equal(s.sites, HF_LIKELIHOOD_ROBUST);
    assert_int_equal(s.solver, HF_SOLVER_PROJECTED);
    assert_int_equal(hf_fit_settings_preset(ctx, "cagp", &s, sizeof s), HF_OK);
    assert_int_equal(s.action_kind, HF_ACTIONS_BLOCKS);
    assert_int_equal(hf_fit_settings_preset(ctx, "rcsvgp", &s, sizeof s), HF_OK);
    assert_int_equal(s.solver, HF_SOLVER_INDUCING);
    published(ctx, "rcagp-text", "matern52(iso)", 25);
    published(ctx, "rcagp-program", "matern32(iso)", 5);
    assert_int_equal(hf_fit_settings_preset(ctx, "rrp", &s, sizeof s), HF_OK);
    assert_int_equal(s.sites, HF_LIKELIHOOD_PURSUIT);
    static const hf_likelihood labels[] = {HF_LIKELIHOOD_PROBIT, HF_LIKELIHOOD_LOGIT, HF_LIKELIHOOD_SOFTMAX};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        assert_int_equal(
            hf_fit_settings_preset(ctx, hf_enum_name(HF_ENUM_LIKELIHOOD, labels[i]), &s, sizeof s), HF_OK);
        assert_true(s.sites == labels[i] && s.suspects == HF_OUTLIERS_OFF && !s.calibrate);
        assert_int_equal(s.inducing_method, HF_INDUCING_FITC);
    }
    assert_true(hf_fit_settings_preset(ctx, "rcapg", &s, sizeof s) < 0);
    assert_contains(hf_context_message(ctx), "default, gp, rcgp");
    hf_context_free(ctx);
}

/* ---- choices --------------------------------------------------------------------------------- */

/* The value of a value's name is that value, for every enum, and the message for another name lists them all. */
static void choices_have_one_name_each(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int of = 0; of < HF_ENUM_COUNT; of++) {
        const hf_enum which = (hf_enum)of;
        char message[1024];
        unsigned value = 77;
        assert_int_equal(hf_enum_parse(ctx, which, "no such thing", &value), HF_ERR_ARGUMENT);
        snprintf(message, sizeof message, "%s", hf_context_message(ctx));
        assert_contains(message, hf_enum_title(which));
        assert_true(hf_enum_count(which) >= 2);
        for (unsigned i = 0; i < hf_enum_count(which); i++) {
            assert_int_equal(hf_enum_parse(ctx, which, hf_enum_name(which, i), &value), HF_OK);
            assert_int_equal(value, i);
            assert_contains(message, hf_enum_name(which, i));
        }
        assert_string_equal(hf_enum_name(which, hf_enum_count(which)), "unknown");
        assert_string_equal(hf_enum_name(which, (unsigned)-1), "unknown");
        assert_int_equal(hf_enum_parse(ctx, which, NULL, &value), HF_ERR_ARGUMENT);
        assert_int_equal(hf_enum_parse(ctx, which, hf_enum_name(which, 0), NULL), HF_ERR_ARGUMENT);
    }
    unsigned value = 77;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_COUNT, "exact", &value), HF_ERR_ARGUMENT);
    assert_int_equal(value, 77);
    assert_string_equal(hf_enum_name(HF_ENUM_COUNT, 0), "unknown");
    assert_string_equal(hf_enum_title(HF_ENUM_COUNT), "unknown");
    assert_int_equal(hf_enum_count(HF_ENUM_COUNT), 0);
    hf_context_free(ctx);
}

/* ---- status ---------------------------------------------------------------------------------- */

typedef struct entry {
    const char *name, *text;
    int value;
} entry;

static void a_status_says_what_it_is(void **state)
{
    (void)state;
#define ENTRY(name, value, text) {#name, text, value},
    static const entry list[] = {HF_STATUS_LIST(ENTRY)};
#undef ENTRY
    const size_t count = sizeof list / sizeof *list;
    for (size_t i = 0; i < count; i++) {
        const hf_status s = (hf_status)list[i].value;
        assert_string_equal(hf_status_name(s), list[i].name);
        assert_string_equal(hf_status_text(s), list[i].text);
        /* Severity by sign, and the name says the same. */
        const char *prefix = s == 0 ? "HF_OK" : s > 0 ? "HF_WARN_" : "HF_ERR_";
        assert_int_equal(strncmp(list[i].name, prefix, strlen(prefix)), 0);
        assert_true(strlen(list[i].text) > 0 && list[i].text[strlen(list[i].text) - 1] != '.');
        for (size_t j = 0; j < i; j++) assert_int_not_equal(list[i].value, list[j].value);
    }
    /* Numbers are part of the interface and never change. */
    assert_int_equal(HF_OK, 0);
    assert_int_equal(HF_WARN_JITTER, 1);
    assert_int_equal(HF_WARN_DRIFT, 5);
    assert_int_equal(HF_WARN_SINGULAR, 6);
    assert_int_equal(HF_ERR_MEMORY, -1);
    assert_int_equal(HF_ERR_INTERNAL, -13);
}

static void every_reason_to_stop_has_words(void **state)
{
    (void)state;
    for (int a = HF_STOP_NOT_TRAINED; a <= HF_STOP_LEVEL; a++) {
        assert_true(strlen(hf_enum_name(HF_ENUM_STOP, (hf_stop)a)) > 3);
        for (int b = HF_STOP_NOT_TRAINED; b < a; b++)
            assert_string_not_equal(hf_enum_name(HF_ENUM_STOP, (hf_stop)a),
                                    hf_enum_name(HF_ENUM_STOP, (hf_stop)b));
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A lengthscale for each of so many inputs has second derivatives that fit nowhere: the message says what does. */
static void many_inputs_want_one_lengthscale(void **state)
{
    (void)state;
    enum {
        N = 4,
        D = 400000
    };
    hf_context *ctx = hf_context_create();
    double *x = malloc(N * (size_t)D * sizeof *x);
    const double y[N] = {0.1, 0.9, -0.4, 0.3};
    assert_non_null(x);
    for (size_t i = 0; i < N * (size_t)D; i++) x[i] = sin((double)i);
    const hf_data data = {.n = N, .d = D, .x = x, .ldx = D, .y = y};
    hf_fit_settings settings = hf_fit_settings_default();
    settings.iterations = 2;
    hf_posterior *p = NULL;
    assert_int_equal(hf_fit_data(ctx, &data, &settings, &p, NULL, NULL), HF_ERR_TOO_LARGE);
    assert_non_null(strstr(hf_context_message(ctx), "400003 hyperparameters"));
    assert_non_null(strstr(hf_context_message(ctx), "one lengthscale for all 400000 inputs"));
    assert_non_null(strstr(hf_context_message(ctx), "-k se"));
    settings.kernel = "se";
    if (hf_fit_data(ctx, &data, &settings, &p, NULL, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_posterior_free(p);
    free(x);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_inputs_want_one_lengthscale),
        cmocka_unit_test(every_member_has_a_default),
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(unknown_names_are_told_what_there_is),
        cmocka_unit_test(every_member_is_set_by_its_name),
        cmocka_unit_test(names_are_members),
        cmocka_unit_test(presets_are_what_they_say),
        cmocka_unit_test(choices_have_one_name_each),
        cmocka_unit_test(a_status_says_what_it_is),
        cmocka_unit_test(every_reason_to_stop_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
