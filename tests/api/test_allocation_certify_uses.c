/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what follows from certificates fails once; see test_allocation.c. */
#include "api/classifiers.h"
#include "api/sweep.h"

static const double point[2] = {0.4, 0.5}, low[2] = {0.3, 0.4}, high[2] = {0.5, 0.6}, side[2] = {0.1, 0.1};

static hf_status range(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_range out = {.lower = 77.0};
    const hf_status s = hf_certify_class(w->ctx, c, NULL, 1, low, high, &out, NULL, NULL);
    assert_true((out.lower == 77.0) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status expected_loss(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_range out = {.lower = 77.0};
    const hf_status s = hf_certify_loss(w->ctx, c, NULL, NULL, 1, low, high, &out, NULL, NULL);
    assert_true((out.lower == 77.0) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status decision(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_decision out = {.winner = 77};
    const double loss[4] = {0.0, 2.0, 1.0, 0.0};
    const hf_status s = hf_certify_decision(w->ctx, c, loss, NULL, 1, point, low, high, &out, NULL);
    assert_true((out.winner == 77) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status accuracy(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_certified_accuracy out = {.rows = 77};
    const size_t label = 0;
    const hf_status s = hf_certify_accuracy(w->ctx, c, NULL, 1, point, &label, side, &out);
    assert_true((out.rows == 77) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status radius(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_radius out = {.winner = 77};
    const hf_status s = hf_certify_radius(w->ctx, c, NULL, point, NULL, 2.0, 0.5, &out, NULL);
    assert_true((out.winner == 77) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status attack(workshop *w)
{
    hf_classifier *c = classifiers_make();
    double out[2] = {77.0, 77.0};
    const hf_status s = hf_attack(w->ctx, c, HF_ATTACK_PGD, 3, 1, point, low, high, out, NULL);
    assert_true((out[0] == 77.0) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status value(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_attack_settings how = hf_attack_settings_default(); /* allocates nothing */
    double out[2] = {77.0, 77.0};
    assert_string_equal(hf_enum_name(HF_ENUM_ATTACK_GOAL, how.goal), "farthest");
    how.steps = 2;
    const hf_status s =
        hf_attack_value(w->ctx, hf_classifier_posterior(c), &how, 1, point, low, high, out, NULL);
    assert_true((out[0] == 77.0) == (s < 0));
    hf_classifier_free(c);
    return s;
}

static hf_status scores(workshop *w)
{
    hf_classifier *c = classifiers_make();
    double a[2] = {77.0}, b[2];
    hf_status s = hf_explain_class(w->ctx, c, NULL, 1, point, side, a, b);
    assert_true((a[0] == 77.0) == (s < 0));
    if (s >= 0)
        s = hf_explain(w->ctx, hf_classifier_posterior(c), HF_CERTIFY_MEAN, NULL, 1, point, side, a, b);
    hf_classifier_free(c);
    return s;
}

/* hf_linear_settings_default() allocates nothing. */
static hf_status line(workshop *w)
{
    hf_classifier *c = classifiers_make();
    double a[2] = {77.0};
    hf_linear_settings settings = hf_linear_settings_default();
    settings.pairs = 9;
    hf_status s = hf_explain_linear_class(w->ctx, c, &settings, 1, point, side, a);
    assert_true((a[0] == 77.0) == (s < 0));
    if (s >= 0) s = hf_explain_linear(w->ctx, hf_classifier_posterior(c), &settings, 1, point, side, a);
    hf_classifier_free(c);
    return s;
}

static hf_status readings(workshop *w)
{
    const double x[WORKSHOP_D] = {0.1};
    double damage = 77.0;
    hf_status s = hf_certify_readings(w->ctx, w->posterior, w->sites, 1, 1, x, WORKSHOP_D, &damage, NULL);
    assert_true((damage == 77.0) == (s < 0));
    if (s >= 0) s = hf_certify_readings(w->ctx, w->posterior, w->sites, 2, 1, x, WORKSHOP_D, &damage, NULL);
    return s;
}

static hf_status model_readings(workshop *w)
{
    const double x[WORKSHOP_D] = {0.1};
    double damage = 77.0;
    size_t worst = 77;
    const hf_status s = hf_model_contamination_bound(w->ctx, w->model, 1, 1, x, &damage, &worst);
    assert_true((damage == 77.0) == (s < 0));
    return s;
}

static hf_status names(workshop *w)
{
    (void)w;
    assert_false(hf_certify_is_estimate(NULL)); /* allocates nothing either */
    assert_string_equal(hf_enum_name(HF_ENUM_VERDICT, HF_VERDICT_CERTIFIED), "certified");
    return HF_OK;
}

static void uses_survive(void **state)
{
    (void)state;
    RUN(CASE(range, 10), CASE(expected_loss, 10), CASE(decision, 10), CASE(accuracy, 10), CASE(radius, 10),
        CASE(attack, 2), CASE(value, 2), CASE(scores, 10), CASE(line, 8), CASE(readings, 5),
        CASE(model_readings, 5), CASE(names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uses_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
