/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to what follows from certificates; see test_arguments.c. */
#include "api/classifiers.h"
#include "api/refused.h"

#include <math.h>

static const double point[2] = {0.4, 0.5}, low[2] = {0.3, 0.4}, high[2] = {0.5, 0.6};

static void classes(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range r;
    ARGUMENT(hf_certify_class(w->ctx, NULL, NULL, 1, low, high, &r, NULL, NULL));
    ARGUMENT(hf_certify_loss(w->ctx, NULL, NULL, NULL, 1, low, high, &r, NULL, NULL));
    ARGUMENT(hf_certify_loss(w->ctx, c, (const double[]){0, 1, -1, 0}, NULL, 1, low, high, &r, NULL, NULL));
    ARGUMENT(hf_certify_loss(w->ctx, c, NULL, NULL, 1, NULL, high, &r, NULL, NULL));
    ARGUMENT(hf_certify_loss(w->ctx, c, NULL, NULL, 1, low, NULL, &r, NULL, NULL));
    ARGUMENT(hf_certify_loss(w->ctx, c, NULL, NULL, 1, low, high, NULL, NULL, NULL));
    ARGUMENT(hf_certify_class(w->ctx, c, NULL, 1, NULL, high, &r, NULL, NULL));
    ARGUMENT(hf_certify_class(w->ctx, c, NULL, 1, low, NULL, &r, NULL, NULL));
    ARGUMENT(hf_certify_class(w->ctx, c, NULL, 1, low, high, NULL, NULL, NULL));
    ARGUMENT(hf_certify_class(w->ctx, c, NULL, 1, high, low, &r, NULL, NULL));
    assert_contains(hf_context_message(w->ctx), "above");
    assert_int_equal(hf_certify_class(NULL, c, NULL, 1, low, high, &r, NULL, NULL), HF_ERR_ARGUMENT);
    settings.output = 2;
    ARGUMENT(hf_certify_class(w->ctx, c, &settings, 1, low, high, &r, NULL, NULL));
    settings = hf_certify_settings_default();
    settings.observed = true;
    ARGUMENT(hf_certify_class(w->ctx, c, &settings, 1, low, high, &r, NULL, NULL));
    settings = hf_certify_settings_default();
    settings.tolerance = 0.0;
    ARGUMENT(hf_certify_class(w->ctx, c, &settings, 1, low, high, &r, NULL, NULL));
    assert_string_equal(hf_enum_name(HF_ENUM_VERDICT, (unsigned)7), "unknown");
    hf_classifier_free(c);
}

static void decisions(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_decision d;
    hf_certified_accuracy a;
    const size_t label = 0;
    const double radius[2] = {0.1, -0.1}, far[2] = {0.5, NAN}, outside[2] = {0.4, 0.7}, free_of_cost[4] = {0};
    ARGUMENT(hf_certify_decision(w->ctx, NULL, NULL, NULL, 1, point, low, high, &d, NULL));
    ARGUMENT(hf_certify_decision(w->ctx, c, NULL, NULL, 1, NULL, low, high, &d, NULL));
    ARGUMENT(hf_certify_decision(w->ctx, c, NULL, NULL, 1, point, low, high, NULL, NULL));
    ARGUMENT(hf_certify_decision(w->ctx, c, NULL, NULL, 1, point, high, low, &d, NULL));
    ARGUMENT(hf_certify_decision(w->ctx, c, free_of_cost, NULL, 1, point, low, high, &d, NULL));
    assert_contains(hf_context_message(w->ctx), "must be less");
    ARGUMENT(hf_certify_decision(w->ctx, c, NULL, NULL, 1, outside, low, high, &d, NULL));
    assert_contains(hf_context_message(w->ctx), "not within");
    REFUSED(HF_ERR_NOT_FINITE, hf_certify_decision(w->ctx, c, NULL, NULL, 1, point, low, far, &d, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_certify_decision(w->ctx, c, NULL, NULL, 1, far, low, high, &d, NULL));
    assert_int_equal(hf_certify_decision(NULL, c, NULL, NULL, 1, point, low, high, &d, NULL),
                     HF_ERR_ARGUMENT);
    assert_false(hf_certify_is_estimate(c) || hf_certify_is_estimate(NULL));
    ARGUMENT(hf_certify_accuracy(w->ctx, c, NULL, 1, point, &label, radius, &a));
    assert_contains(hf_context_message(w->ctx), "input 2");
    ARGUMENT(hf_certify_accuracy(w->ctx, c, NULL, 1, point, NULL, high, &a));
    ARGUMENT(hf_certify_accuracy(w->ctx, NULL, NULL, 1, point, &label, high, &a));
    assert_int_equal(hf_certify_accuracy(NULL, c, NULL, 1, point, &label, high, &a), HF_ERR_ARGUMENT);
    hf_classifier_free(c);
}

static void radii(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_radius r;
    const double none[2] = {0.0, 0.0}, bad[2] = {1.0, -1.0};
    ARGUMENT(hf_certify_radius(w->ctx, NULL, NULL, point, NULL, 1.0, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, NULL, NULL, 1.0, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, none, 1.0, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, bad, 1.0, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, NULL, 0.0, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, NULL, INFINITY, 0.01, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, NULL, 1.0, 0.0, &r, NULL));
    ARGUMENT(hf_certify_radius(w->ctx, c, NULL, point, NULL, 1.0, 0.01, NULL, NULL));
    assert_int_equal(hf_certify_radius(NULL, c, NULL, point, NULL, 1.0, 0.01, &r, NULL), HF_ERR_ARGUMENT);
    hf_classifier_free(c);
}

static void attacks(workshop *w)
{
    hf_classifier *c = classifiers_make();
    double out[2] = {77.0, 77.0};
    const double outside[2] = {0.7, 0.5};
    ARGUMENT(hf_attack(w->ctx, NULL, HF_ATTACK_FGSM, 0, 1, point, low, high, out, NULL));
    ARGUMENT(hf_attack(w->ctx, c, (hf_attack_kind)5, 0, 1, point, low, high, out, NULL));
    ARGUMENT(hf_attack(w->ctx, c, HF_ATTACK_FGSM, 0, 1, outside, low, high, out, NULL));
    assert_contains(hf_context_message(w->ctx), "not within");
    ARGUMENT(hf_attack(w->ctx, c, HF_ATTACK_FGSM, 0, 1, point, low, high, NULL, NULL));
    assert_int_equal(hf_attack(NULL, c, HF_ATTACK_FGSM, 0, 1, point, low, high, out, NULL), HF_ERR_ARGUMENT);
    assert_true(out[0] == 77.0 && out[1] == 77.0);
    hf_classifier_free(c);
}

#define VALUE(p, how, x, out) hf_attack_value(w->ctx, p, how, 1, x, low, high, out, NULL)

static void values(workshop *w)
{
    hf_classifier *c = classifiers_make();
    const hf_posterior *p = hf_classifier_posterior(c);
    double out[2] = {77.0, 77.0};
    const double outside[2] = {0.7, 0.5}, far[2] = {0.5, INFINITY};
    hf_certify_settings value = hf_certify_settings_default();
    hf_region region = hf_region_default();
    ARGUMENT(VALUE(NULL, NULL, point, out));
    ARGUMENT(VALUE(p, NULL, NULL, out));
    ARGUMENT(VALUE(p, NULL, outside, out));
    ARGUMENT(VALUE(p, NULL, point, NULL));
    ARGUMENT(hf_attack_value(w->ctx, p, NULL, 1, point, high, low, out, NULL));
    ARGUMENT(hf_attack_value(w->ctx, p, NULL, 1, point, low, far, out, NULL));
    hf_attack_settings wrong[7];
    for (size_t k = 0; k < 7; k++) {
        wrong[k] = hf_attack_settings_default();
        wrong[k].value = &value;
    }
    wrong[0].what = (hf_certify_what)3;
    wrong[1].kind = (hf_attack_kind)5;
    wrong[2].goal = (hf_attack_goal)3;
    wrong[3].steps = 1000001;
    wrong[4].starts = 100001;
    for (size_t k = 0; k < 5; k++) ARGUMENT(VALUE(p, &wrong[k], point, out));
    value.output = 1;
    ARGUMENT(VALUE(p, &wrong[5], point, out));
    value.output = 0;
    value.region = &region;
    region.moves = 1;
    ARGUMENT(VALUE(p, &wrong[6], point, out));
    assert_contains(hf_context_message(w->ctx), "boxes and balls");
    assert_int_equal(hf_attack_value(NULL, p, NULL, 1, point, low, high, out, NULL), HF_ERR_ARGUMENT);
    assert_string_equal(hf_enum_name(HF_ENUM_ATTACK_GOAL, (unsigned)3), "unknown");
    assert_true(out[0] == 77.0 && out[1] == 77.0);
    hf_classifier_free(c);
}

static void scores(workshop *w)
{
    hf_classifier *c = classifiers_make();
    const hf_posterior *p = hf_classifier_posterior(c);
    double a[2] = {77.0}, b[2];
    const double bad[2] = {0.1, -0.1};
    hf_certify_settings half = hf_certify_settings_default();
    half.lower_only = true;
    ARGUMENT(hf_explain_class(w->ctx, NULL, NULL, 1, point, low, a, b));
    ARGUMENT(hf_explain_class(w->ctx, c, NULL, 1, point, bad, a, b));
    ARGUMENT(hf_explain_class(w->ctx, c, &half, 1, point, low, a, b));
    ARGUMENT(hf_explain_class(w->ctx, c, NULL, 1, point, low, NULL, b));
    assert_int_equal(hf_explain_class(NULL, c, NULL, 1, point, low, a, b), HF_ERR_ARGUMENT);
    ARGUMENT(hf_explain(w->ctx, NULL, HF_CERTIFY_MEAN, NULL, 1, point, low, a, b));
    ARGUMENT(hf_explain(w->ctx, p, (hf_certify_what)3, NULL, 1, point, low, a, b));
    ARGUMENT(hf_explain(w->ctx, p, HF_CERTIFY_MEAN, NULL, 1, point, bad, a, b));
    assert_int_equal(hf_explain(NULL, p, HF_CERTIFY_MEAN, NULL, 1, point, low, a, b), HF_ERR_ARGUMENT);
    assert_true(a[0] == 77.0);
    hf_classifier_free(c);
}

static void line(workshop *w)
{
    hf_classifier *c = classifiers_make();
    const hf_posterior *p = hf_classifier_posterior(c);
    double a[2] = {77.0};
    const double bad[2] = {0.1, -0.1}, nowhere[2] = {NAN, 0.0};
    hf_linear_settings other = hf_linear_settings_default();
    other.output = 2;
    ARGUMENT(hf_explain_linear_class(w->ctx, NULL, NULL, 1, point, low, a));
    ARGUMENT(hf_explain_linear_class(w->ctx, c, NULL, 1, point, bad, a));
    ARGUMENT(hf_explain_linear_class(w->ctx, c, &other, 1, point, high, a));
    assert_contains(hf_context_message(w->ctx), "class 2");
    ARGUMENT(hf_explain_linear_class(w->ctx, c, NULL, 1, point, high, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_explain_linear_class(w->ctx, c, NULL, 1, nowhere, high, a));
    assert_int_equal(hf_explain_linear_class(NULL, c, NULL, 1, point, high, a), HF_ERR_ARGUMENT);
    ARGUMENT(hf_explain_linear(w->ctx, NULL, NULL, 1, point, high, a));
    ARGUMENT(hf_explain_linear(w->ctx, p, NULL, 1, point, bad, a));
    ARGUMENT(hf_explain_linear(w->ctx, p, &other, 1, point, high, a));
    ARGUMENT(hf_explain_linear(w->ctx, p, NULL, 1, point, NULL, a));
    assert_int_equal(hf_explain_linear(NULL, p, NULL, 1, point, high, a), HF_ERR_ARGUMENT);
    other = (hf_linear_settings){.size = sizeof(hf_linear_settings), .pairs = 1};
    ARGUMENT(hf_explain_linear(w->ctx, p, &other, 1, point, high, a));
    assert_contains(hf_context_message(w->ctx), "too few");
    assert_true(a[0] == 77.0);
    hf_classifier_free(c);
}

static void readings(workshop *w)
{
    double damage = 77.0;
    const double x[WORKSHOP_D] = {0.1}, bad[WORKSHOP_D] = {NAN};
    ARGUMENT(hf_certify_readings(w->ctx, NULL, w->sites, 1, 1, x, WORKSHOP_D, &damage, NULL));
    ARGUMENT(hf_certify_readings(w->ctx, w->posterior, NULL, 1, 1, x, WORKSHOP_D, &damage, NULL));
    ARGUMENT(hf_certify_readings(w->ctx, w->posterior, w->sites, 0, 1, x, WORKSHOP_D, &damage, NULL));
    ARGUMENT(hf_certify_readings(w->ctx, w->posterior, w->sites, 1000, 1, x, WORKSHOP_D, &damage, NULL));
    ARGUMENT(hf_certify_readings(w->ctx, w->posterior, w->sites, 1, 1, NULL, WORKSHOP_D, &damage, NULL));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_certify_readings(w->ctx, w->posterior, w->sites, 1, 1, bad, WORKSHOP_D, &damage, NULL));
    assert_int_equal(hf_certify_readings(NULL, w->posterior, w->sites, 1, 1, x, WORKSHOP_D, &damage, NULL),
                     HF_ERR_ARGUMENT);
    ARGUMENT(hf_model_contamination_bound(w->ctx, NULL, 1, 1, x, &damage, NULL));
    ARGUMENT(hf_model_contamination_bound(w->ctx, w->model, 0, 1, x, &damage, NULL));
    ARGUMENT(hf_model_contamination_bound(w->ctx, w->model, 1000, 1, x, &damage, NULL));
    ARGUMENT(hf_model_contamination_bound(w->ctx, w->model, 1, 1, NULL, &damage, NULL));
    ARGUMENT(hf_model_contamination_bound(w->ctx, w->model, 1, 1, x, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_model_contamination_bound(w->ctx, w->model, 1, 1, bad, &damage, NULL));
    assert_int_equal(hf_model_contamination_bound(NULL, w->model, 1, 1, x, &damage, NULL), HF_ERR_ARGUMENT);
    assert_true(damage == 77.0);
}

REFUSED_TEST(classes)
REFUSED_TEST(decisions)
REFUSED_TEST(radii)
REFUSED_TEST(attacks)
REFUSED_TEST(values)
REFUSED_TEST(scores)
REFUSED_TEST(line)
REFUSED_TEST(readings)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_refuse), cmocka_unit_test(decisions_refuse),
                                       cmocka_unit_test(radii_refuse),   cmocka_unit_test(attacks_refuse),
                                       cmocka_unit_test(values_refuse),  cmocka_unit_test(scores_refuse),
                                       cmocka_unit_test(line_refuse),    cmocka_unit_test(readings_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
