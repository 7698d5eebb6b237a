/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that go together: the table against rules written as conditions, over all choices that they are about. */
#include "core/settings.h"

#include "core/core.h"
#include "settings/settings.h"

#include <holdfast/train.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the table itself ------------------------------------------------------------------------------------------- */

static void terms_name_settings(void **state)
{
    (void)state;
    for (size_t i = 0; i < hf_fit_settings_table()->count; i++)
        for (const hfi_clash *c = hf_fit_settings_table()->row[i].clashes; c && c->term[0].of; c++)
            for (size_t k = 0; k < HFI_TERMS && c->term[k].of; k++) {
                const hfi_setting *other = hfi_setting_find(hf_fit_settings_table(), c->term[k].of);
                const bool outputs = strcmp(c->term[k].of, "outputs") == 0;
                if (!other && !outputs)
                    fail_msg("%s: %s", hf_fit_settings_table()->row[i].face.name, c->term[k].of);
                assert_int_not_equal(c->term[k].with, 0);
                if (!other || other->face.type != HF_SETTING_CHOICE) continue;
                const unsigned all = (1u << other->face.choices) - 1u;
                assert_int_not_equal(c->term[k].with & all, 0);   /* something is in the way, */
                assert_int_not_equal(c->term[k].with & all, all); /* and something is not */
            }
}

static void presets_go_together(void **state)
{
    (void)state;
    static const char *const several[] = {"mogp", "morcgp", "t-mogp", "independent"};
    static const char *const all[] = {"default",       "gp",    "rcgp",   "cagp", "rcagp",     "rcagp-text",
                                      "rcagp-program", "sgpr",  "rcsvgp", "svgp", "student-t", "rrp",
                                      "probit",        "logit", "softmax"};
    hf_context *ctx = hf_context_create();
    hf_fit_settings s;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(hf_fit_settings_preset(ctx, all[i], &s, sizeof s), HF_OK);
        if (hf_settings_check(ctx, hf_fit_settings_table(), &s, 1, NULL, NULL) < 0)
            fail_msg("%s: %s", all[i], hf_context_message(ctx));
    }
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++) {
        assert_int_equal(hf_fit_settings_preset(ctx, several[i], &s, sizeof s), HF_OK);
        assert_int_equal(hf_settings_check(ctx, hf_fit_settings_table(), &s, 3, NULL, NULL), HF_OK);
    }
    hf_context_free(ctx);
}

/* ---- rules as conditions ---------------------------------------------------------------------------------------- */

typedef bool (*condition)(const hf_fit_settings *s);

static bool labels(const hf_fit_settings *s)
{
    return s->sites == HF_LIKELIHOOD_PROBIT || s->sites == HF_LIKELIHOOD_LOGIT ||
           s->sites == HF_LIKELIHOOD_SOFTMAX;
}

/* With "auto" the solver may turn out to be the one. */
static bool projected(const hf_fit_settings *s)
{
    return !labels(s) && (s->solver == HF_SOLVER_PROJECTED || s->solver == HF_SOLVER_AUTO);
}

static bool block_actions(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind == HF_ACTIONS_BLOCKS;
}

/* Without a matrix none are given. */
static bool chosen_actions(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind != HF_ACTIONS_GIVEN;
}

static bool counted(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind != HF_ACTIONS_INDUCING && s->action_kind != HF_ACTIONS_GIVEN;
}

static bool trained_blocks(const hf_fit_settings *s)
{
    return block_actions(s) && s->train;
}

static bool krylov(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind == HF_ACTIONS_KRYLOV;
}

static bool inducing(const hf_fit_settings *s)
{
    if (s->solver == HF_SOLVER_PROJECTED) return s->action_kind != HF_ACTIONS_BLOCKS;
    return s->solver != HF_SOLVER_EXACT;
}

static bool trained_inducing(const hf_fit_settings *s)
{
    return inducing(s) && s->train && !labels(s);
}

static bool by_minibatches(const hf_fit_settings *s)
{
    return s->train && !labels(s) && s->solver != HF_SOLVER_EXACT && s->solver != HF_SOLVER_PROJECTED;
}

static bool trained(const hf_fit_settings *s)
{
    return s->train;
}

static bool trained_readings(const hf_fit_settings *s)
{
    return s->train && !labels(s);
}

static bool trained_noise(const hf_fit_settings *s)
{
    return trained_readings(s) && !hfi_likelihood_of_rates(s->sites);
}

static bool all_rows_trained(const hf_fit_settings *s)
{
    return s->train && s->minibatch == 0;
}

static bool robust(const hf_fit_settings *s)
{
    return s->sites == HF_LIKELIHOOD_ROBUST;
}

static bool weighed_at_once(const hf_fit_settings *s)
{
    return robust(s) && s->minibatch == 0;
}

static bool student(const hf_fit_settings *s)
{
    return s->sites == HF_LIKELIHOOD_STUDENT_T;
}

static const struct rule {
    const char *name;
    condition useful;
} rules[] = {
    {"actions", counted},
    {"action_kind", chosen_actions},
    {"single_precision", projected},
    {"tolerance", krylov},
    {"blocks", block_actions},
    {"action_start", block_actions},
    {"train_actions", trained_blocks},
    {"inducing", inducing},
    {"inducing_choice", inducing},
    {"train_inducing", trained_inducing},
    {"minibatch", by_minibatches},
    {"restarts", all_rows_trained},
    {"iterations", trained},
    {"lengthscale_prior", trained_readings},
    {"max_noise", trained_noise},
    {"noise_start", trained_readings},
    {"common_start", trained_readings},
    {"checkpoint", trained_readings},
    {"resume", trained_readings},
    {"rounds", robust},
    {"threshold_rule", robust},
    {"consistent_noise", robust},
    {"beta", weighed_at_once},
    {"student_nu", student},
};

static void check_rules(hf_context *ctx, const hf_fit_settings *s)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        hf_setting_clash clash = {0};
        const hf_status status = hf_settings_check(ctx, hf_fit_settings_table(), s, 1, rules[i].name, &clash);
        if ((status == HF_OK) != rules[i].useful(s))
            fail_msg("%s: sites %d, solver %d, actions %d, train %d, minibatch %zu: %s", rules[i].name,
                     (int)s->sites, (int)s->solver, (int)s->action_kind, s->train, s->minibatch,
                     hf_context_message(ctx));
        if (status == HF_OK) continue;
        assert_string_equal(clash.setting->name, rules[i].name);
        assert_non_null(strstr(hf_context_message(ctx), rules[i].name));
        assert_non_null(strstr(hf_context_message(ctx), clash.other->name));
    }
}

static void the_table_is_the_conditions(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings s = hf_fit_settings_default();
    for (unsigned sites = 0; sites <= HF_LIKELIHOOD_SOFTMAX; sites++)
        for (unsigned solver = 0; solver <= HF_SOLVER_PROJECTED; solver++)
            for (unsigned kind = 0; kind <= HF_ACTIONS_GIVEN; kind++)
                for (unsigned rest = 0; rest < 4; rest++) {
                    s.sites = (hf_likelihood)sites;
                    s.solver = (hf_solver)solver;
                    s.action_kind = (hf_actions)kind;
                    s.train = rest & 1u;
                    s.minibatch = rest & 2u ? 16 : 0;
                    check_rules(ctx, &s);
                }
    hf_context_free(ctx);
}

/* ---- what a fit refuses, and its words -------------------------------------------------------------------------- */

static void says(hf_context *ctx, const hf_fit_settings *s, size_t outputs, const char *name,
                 const char *words)
{
    if (hf_settings_check(ctx, hf_fit_settings_table(), s, outputs, name, NULL) != HF_ERR_ARGUMENT)
        fail_msg("%s: not refused", words);
    assert_string_equal(hf_context_message(ctx), words);
}

static void clashes_are_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings s = hf_fit_settings_default();
    s.solver = HF_SOLVER_EXACT;
    s.actions = 25;
    assert_int_equal(hf_settings_check(ctx, hf_fit_settings_table(), &s, 1, NULL, NULL),
                     HF_OK); /* without effect */
    says(ctx, &s, 1, "actions", "actions 25 does not go with solver exact, but with projected");
    s = hf_fit_settings_default();
    s.sites = HF_LIKELIHOOD_ROBUST;
    says(ctx, &s, 1, NULL,
         "suspects auto does not go with sites robust, but with gaussian: switch it off, or start from "
         "a preset");
    s.suspects = HF_OUTLIERS_OFF;
    s.centre = HF_CENTRE_CONDITIONAL;
    says(ctx, &s, 1, NULL, "centre conditional does not go with one output");
    assert_int_equal(hf_settings_check(ctx, hf_fit_settings_table(), &s, 2, NULL, NULL), HF_OK);
    s.scaled_beta = true;
    says(ctx, &s, 2, "scaled_beta", "scaled_beta on needs beta");
    s = hf_fit_settings_default();
    s.suspects = HF_OUTLIERS_FORCE;
    s.train = false;
    says(ctx, &s, 1, NULL, "suspects force needs train on");
    s.suspects = HF_OUTLIERS_AUTO;
    assert_int_equal(hf_settings_check(ctx, hf_fit_settings_table(), &s, 1, NULL, NULL), HF_OK);
    s = hf_fit_settings_default();
    s.minibatch = 5;
    says(ctx, &s, 2, NULL, "minibatch 5 does not go with several outputs");
    says(ctx, &s, 1, "restarts", "restarts 0 does not go with minibatch 5");
    s.minibatch = 0;
    s.iterations = 0;
    says(ctx, &s, 1, "iterations", "iterations is 0; give a whole number, at least 1");
    hf_context_free(ctx);
}

/* A preset with a member that is set, and what is said. */
static void fits_of_other_likelihoods_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *name, *value;
        size_t outputs;
        const char *words;
    } cases[] = {
        {"poisson", "objective", "loo", 1, "objective loo does not go with sites poisson, but with "},
        {"poisson", "calibrate", "on", 1, "calibrate on does not go with sites poisson, but with "},
        {"poisson", "minibatch", "5", 1, "minibatch 5 does not go with sites poisson, but with "},
        {"poisson", "optimiser", "adam", 1, "optimiser adam does not go with sites poisson, but with "},
        {"poisson", "max_noise", "1", 1, "max_noise 1 does not go with sites poisson, but with "},
        {"gamma", "noise_start", "1", 1, NULL},
        {"gamma", "optimiser", "lbfgs", 1, NULL},
        {"gamma", "transform", "log", 1, "transform log does not go with sites gamma, but with "},
        {"gamma", "mean", "median", 1, "mean median does not go with sites gamma, but with "},
        {"gamma", "solver", "projected", 1, "sites gamma does not go with solver projected, but with "},
        {"gamma", "kernel", "auto", 1, "kernel auto does not go with sites gamma, but with "},
        {"gamma", "sites", "gamma", 2, "sites gamma does not go with several outputs"},
        {"probit", "sites", "probit", 2, "sites probit does not go with several outputs"},
        {"probit", "mean", "median", 1, "mean median does not go with sites probit, but with "},
        {"probit", "mean", "linear", 1, NULL},
        {"softmax", "mean", "linear", 1, "mean linear does not go with sites softmax, but with "},
        {"softmax", "solver", "inducing", 1, "sites softmax does not go with solver inducing, but with "},
        {"softmax", "inference", "ep", 1, "inference ep does not go with sites softmax, but with "},
        {"student-t", "sites", "student-t", 2, "sites student-t needs shared_noise on: "},
        {"student-t", "solver", "inducing", 1, NULL},
        {"sgpr", "inducing_choice", "kmeans", 2, "inducing_choice kmeans does not go with several outputs"},
        {"gp", "mean", "linear", 2, "mean linear does not go with several outputs: "},
        {"cagp", "action_kind", "given", 1, "action_kind given needs action_matrix"},
        {"svgp", "objective", "loo", 1, "objective loo does not go with minibatch 1024"},
        {"svgp", "inducing_method", "fitc", 1, "inducing_method fitc does not go with minibatch 1024: "},
    };
    hf_context *ctx = hf_context_create();
    hf_fit_settings s;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        assert_int_equal(hf_fit_settings_preset(ctx, cases[k].preset, &s, sizeof s), HF_OK);
        assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, cases[k].name, cases[k].value),
                         HF_OK);
        const hf_status status =
            hf_settings_check(ctx, hf_fit_settings_table(), &s, cases[k].outputs, NULL, NULL);
        if ((status == HF_OK) != (cases[k].words == NULL))
            fail_msg("%s, %s %s: %s", cases[k].preset, cases[k].name, cases[k].value,
                     hf_context_message(ctx));
        if (cases[k].words && strstr(hf_context_message(ctx), cases[k].words) != hf_context_message(ctx))
            fail_msg("%s, but: %s", cases[k].words, hf_context_message(ctx));
    }
    hf_context_free(ctx);
}

/* Functions that do not take all settings: arrays, files read in parts, EULBO. */
static void uses_are_told(void **state)
{
    (void)state;
    static const struct {
        hfi_fit_use use;
        const char *name, *value, *words;
    } cases[] = {
        {HFI_USE_ARRAYS, "sites", "probit", "sites probit does not go with arrays, but with "},
        {HFI_USE_ARRAYS, "transform", "log", "transform log does not go with arrays, but with none: "},
        {HFI_USE_ARRAYS, "kernel", "auto", "kernel auto does not go with arrays: "},
        {HFI_USE_STREAM, "solver", "exact",
         "solver exact does not go with a file that is read in parts, but with inducing"},
        {HFI_USE_STREAM, "sites", "poisson", "sites poisson does not go with a file that is read in parts, "},
        {HFI_USE_PARTS, "suspects", "force",
         "suspects force does not go with a file that is read in parts, "},
        {HFI_USE_EULBO, "solver", "exact", "solver exact does not go with EULBO, but with inducing or proj"},
        {HFI_USE_EULBO, "sites", "student-t", "sites student-t does not go with EULBO, but with "},
        {HFI_USE_EULBO, "train", "off", "train off does not go with EULBO: "},
        {HFI_USE_EULBO, "minibatch", "5", "minibatch 5 does not go with EULBO"},
    };
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_fit_settings s = hf_fit_settings_default();
        s.solver = HF_SOLVER_INDUCING;
        assert_int_equal(hf_settings_set(ctx, hf_fit_settings_table(), &s, cases[k].name, cases[k].value),
                         HF_OK);
        assert_int_equal(hfi_fit_settings_use(ctx, &s, cases[k].use), HF_ERR_ARGUMENT);
        if (strstr(hf_context_message(ctx), cases[k].words) != hf_context_message(ctx))
            fail_msg("%s, but: %s", cases[k].words, hf_context_message(ctx));
    }
    hf_context_free(ctx);
}

/* ---- one choice implies another --------------------------------------------------------------------------------- */

/* The settings with that solver and these members chosen. */
static hf_fit_settings completed(size_t count, const char *const *names, hf_solver solver)
{
    hf_context *ctx = hf_context_create();
    hf_fit_settings s = hf_fit_settings_default();
    s.solver = solver;
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], "minibatch") == 0) s.minibatch = 20;
    assert_int_equal(hf_fit_settings_complete(ctx, &s, false, count, names), HF_OK);
    hf_context_free(ctx);
    return s;
}

static void choices_follow(void **state)
{
    (void)state;
    static const char *const actions[] = {"inducing", "actions"}, *const batch[] = {"minibatch", "actions"};
    static const char *const robust_ones[] = {"eps"}, *const tails[] = {"student_nu"},
                             *const entries[] = {"blocks"};
    static const char *const plain[] = {"objective", "kernel", "iterations"};
    assert_int_equal(completed(1, actions, HF_SOLVER_AUTO).solver, HF_SOLVER_INDUCING);
    assert_int_equal(completed(2, actions, HF_SOLVER_AUTO).solver, HF_SOLVER_PROJECTED);
    assert_int_equal(completed(2, actions, HF_SOLVER_EXACT).solver, HF_SOLVER_EXACT); /* was chosen */
    assert_int_equal(completed(2, batch, HF_SOLVER_AUTO).solver, HF_SOLVER_INDUCING); /* the first counts */
    assert_int_equal(completed(3, plain, HF_SOLVER_AUTO).solver, HF_SOLVER_AUTO);
    assert_int_equal(completed(0, NULL, HF_SOLVER_AUTO).solver, HF_SOLVER_AUTO);
    assert_int_equal(completed(1, robust_ones, HF_SOLVER_AUTO).sites, HF_LIKELIHOOD_ROBUST);
    assert_int_equal(completed(1, tails, HF_SOLVER_AUTO).sites, HF_LIKELIHOOD_STUDENT_T);
    assert_int_equal(completed(3, plain, HF_SOLVER_AUTO).sites, HF_LIKELIHOOD_GAUSSIAN);
    assert_int_equal(completed(1, entries, HF_SOLVER_AUTO).action_kind, HF_ACTIONS_BLOCKS);
    assert_int_equal(completed(1, actions + 1, HF_SOLVER_AUTO).action_kind, HF_ACTIONS_KRYLOV);
}

/* Beside choices: rules, the optimiser, the suspect finder; what was chosen stays. */
static void others_follow(void **state)
{
    (void)state;
    static const char *const published[] = {"eps", "consistent_noise"}, *const batch[] = {"minibatch"},
                             *const both[] = {"minibatch", "optimiser"}, *const scale[] = {"beta"};
    hf_fit_settings s = completed(1, published, HF_SOLVER_AUTO);
    assert_int_equal(s.threshold_rule, HF_THRESHOLD_QUANTILE);
    assert_false(s.consistent_noise);
    assert_int_equal(s.suspects, HF_OUTLIERS_OFF); /* robust sites do without */
    assert_true(completed(2, published, HF_SOLVER_AUTO).consistent_noise);
    assert_int_equal(completed(1, batch, HF_SOLVER_AUTO).optimiser, HF_OPTIMISER_ADAM);
    assert_int_equal(completed(1, batch, HF_SOLVER_AUTO).suspects, HF_OUTLIERS_OFF);
    assert_int_equal(completed(2, both, HF_SOLVER_AUTO).optimiser, HF_OPTIMISER_LBFGS);
    assert_false(completed(1, scale, HF_SOLVER_AUTO).scaled_beta);
    assert_int_equal(completed(0, NULL, HF_SOLVER_AUTO).suspects, HF_OUTLIERS_AUTO);
    hf_context *ctx = hf_context_create();
    s = hf_fit_settings_default();
    s.train = false;
    assert_int_equal(hf_fit_settings_complete(ctx, &s, false, 0, NULL), HF_OK);
    assert_true(!s.calibrate && !s.consistent_noise && s.suspects == HF_OUTLIERS_OFF);
    s = hf_fit_settings_default(); /* the sites of a preset stay, and the check tells */
    assert_int_equal(hf_fit_settings_complete(ctx, &s, true, 1, published), HF_OK);
    assert_int_equal(s.sites, HF_LIKELIHOOD_GAUSSIAN);
    assert_int_equal(hf_settings_check(ctx, hf_fit_settings_table(), &s, 1, "eps", NULL), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_name_settings),
        cmocka_unit_test(presets_go_together),
        cmocka_unit_test(the_table_is_the_conditions),
        cmocka_unit_test(clashes_are_told),
        cmocka_unit_test(fits_of_other_likelihoods_are_told),
        cmocka_unit_test(uses_are_told),
        cmocka_unit_test(choices_follow),
        cmocka_unit_test(others_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
