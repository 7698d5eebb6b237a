/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of classes: decisions by the least expected loss, ranges of expected losses, attacked by random
 * points; of two classes the rule that a threshold makes. */
#include "certify/losses.h"

#include <holdfast/certify_classes.h>

static void test_predictions(void **state)
{
    (void)state;
    trial t;
    double x[SAMPLES * INPUTS], p[SAMPLES * C], e[C], lower[INPUTS] = {-2, -2}, upper[INPUTS] = {2, 2};
    size_t winner[SAMPLES], decided[LOSSES] = {0};
    begin(&t, HF_LINK_SOFTMAX, C);
    for (size_t l = 0; l < LOSSES; l++) {
        set_loss(&t, losses[l]);
        assert_memory_equal(hf_classifier_rule(t.classifier)->loss, losses[l], sizeof losses[l]);
        draw_inside(&t, lower, upper, x);
        predict(&t, SAMPLES, x, p, winner);
        for (size_t k = 0; k < SAMPLES; k++) {
            hf_class_expected_loss(C, losses[l], p + k * C, e);
            for (size_t a = 0; a < C; a++) {
                assert_near(e[a], expected(C, losses[l], p + k * C, a), 1e-12);
                assert_true(e[winner[k]] <= e[a]);
            }
            decided[l] += winner[k] == 2;
        }
    }
    hf_class_expected_loss(C, NULL, p, e);
    for (size_t a = 0; a < C; a++) assert_near(e[a], 1.0 - p[a], 1e-15);
    assert_true(decided[1] > decided[0] + 20); /* what must not be missed is decided for more often */
    end(&t);
}

/* Ranges of expected losses, whole and stopped early: no point is outside, and what is attained is a prediction. */
static void test_ranges(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_SOFTMAX, C);
    for (size_t b = 0; b < 3 * LOSSES; b++) {
        const double *loss = losses[b % LOSSES];
        double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2][INPUTS], y[SAMPLES * INPUTS], p[SAMPLES * C],
            most = 0.0;
        hf_certify_settings settings = hf_certify_settings_default();
        hf_range r;
        for (size_t k = 0; k < C * C; k++) most = fmax(most, loss[k]);
        set_loss(&t, loss);
        draw_box(&t, b < LOSSES ? 0.1 : 0.6, x, lower, upper);
        if (b == 5) memcpy(upper, lower, sizeof upper);
        settings.output = b % C;
        settings.tolerance = 0.01 * most;
        settings.node_limit = b >= 2 * LOSSES ? 9 : 0;
        const hf_status status =
            hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, lower, upper, &r, at[0], at[1]);
        assert_true(settings.node_limit > 0 ? status >= 0 : status == HF_OK);
        if (status == HF_OK) assert_true(r.upper - r.upper_attained <= settings.tolerance * (1.0 + 1e-9));
        predict(&t, 2, at[0], p, NULL);
        assert_near(expected(C, loss, p, settings.output), r.lower_attained, 1e-9 * most);
        assert_near(expected(C, loss, p + C, settings.output), r.upper_attained, 1e-9 * most);
        draw_inside(&t, lower, upper, y);
        predict(&t, SAMPLES, y, p, NULL);
        for (size_t k = 0; k < SAMPLES; k++) {
            const double value = expected(C, loss, p + k * C, settings.output);
            if (!(value >= r.lower - 1e-9 * most && value <= r.upper + 1e-9 * most))
                fail_msg("box %zu: %.12g is outside of [%.12g, %.12g]", b, value, r.lower, r.upper);
        }
    }
    end(&t);
}

/* A decision that is certified is that of every point; chances and counterexamples are those of predictions. */
static void test_decisions(void **state)
{
    (void)state;
    trial t;
    size_t seen[3] = {0}, none = 0;
    begin(&t, HF_LINK_SOFTMAX, C);
    for (size_t b = 0; b < 8 * LOSSES; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS], y[SAMPLES * INPUTS];
        size_t winner[SAMPLES], own;
        hf_decision d;
        hf_class_range all[C];
        set_loss(&t, losses[b % LOSSES]);
        draw_box(&t, b % 3 == 0 ? 1.5 : 0.2, x, lower, upper);
        assert_int_equal(hf_certify_decision(t.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &d, other),
                         HF_OK);
        seen[d.verdict]++;
        predict(&t, 1, x, NULL, &own);
        assert_int_equal(d.winner, own);
        draw_inside(&t, lower, upper, y);
        predict(&t, SAMPLES, y, NULL, winner);
        for (size_t k = 0; d.verdict == HF_VERDICT_CERTIFIED && k < SAMPLES; k++)
            assert_int_equal(winner[k], d.winner);
        if (d.verdict == HF_VERDICT_COUNTEREXAMPLE) {
            predict(&t, 1, other, NULL, &own);
            assert_int_not_equal(own, d.winner);
        }
        if (b >= 2 * LOSSES) continue;
        assert_int_equal(hf_certify_classes(t.ctx, t.classifier, NULL, 1, lower, upper, all, NULL), HF_OK);
        for (size_t k = 0; k < SAMPLES; k++) assert_int_not_equal(all[winner[k]].chance, HF_CHANCE_NONE);
        for (size_t c = 0; c < C; c++) none += all[c].chance == HF_CHANCE_NONE;
        assert_int_equal(all[d.winner].chance, HF_CHANCE_TAKEN);
    }
    if (seen[HF_VERDICT_CERTIFIED] < 4 || seen[HF_VERDICT_COUNTEREXAMPLE] < 4 || none < 4)
        fail_msg("%zu certified, %zu counterexamples, %zu classes ruled out: too few to tell",
                 seen[HF_VERDICT_CERTIFIED], seen[HF_VERDICT_COUNTEREXAMPLE], none);
    assert_int_equal(seen[HF_VERDICT_OPEN], 0);
    end(&t);
}

/* The loss of every wrong decision 1 is none. */
static void test_plain(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_SOFTMAX, C);
    for (size_t b = 0; b < 6; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2][INPUTS];
        hf_decision with, without;
        hf_range loss, probability;
        hf_certify_settings settings = hf_certify_settings_default();
        settings.output = b % C;
        draw_box(&t, 0.4, x, lower, upper);
        set_loss(&t, NULL);
        assert_int_equal(
            hf_certify_decision(t.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &without, at[0]), HF_OK);
        assert_int_equal(
            hf_certify_class(t.ctx, t.classifier, &settings, 1, lower, upper, &probability, NULL, NULL),
            HF_OK);
        set_loss(&t, losses[0]);
        assert_int_equal(
            hf_certify_decision(t.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &with, at[1]), HF_OK);
        assert_int_equal(
            hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, lower, upper, &loss, NULL, NULL), HF_OK);
        assert_int_equal(with.verdict, without.verdict);
        assert_int_equal(with.nodes, without.nodes);
        assert_memory_equal(at[0], at[1], sizeof at[0]);
        assert_near(loss.lower, 1.0 - probability.upper, 0.01);
        assert_near(loss.upper, 1.0 - probability.lower, 0.01);
    }
    end(&t);
}

/* A loss of two classes is a threshold, digit for digit, and expected losses are linear in the probability. */
static void test_two_classes(void **state)
{
    (void)state;
    const double cost[][4] = {{0, 3, 1, 0}, {0, 0.2, 7, 0}, {1, 6, 2, 0.5}};
    for (int link = HF_LINK_PROBIT; link <= HF_LINK_LOGIT; link++) {
        trial t;
        begin(&t, (hf_link)link, 2);
        for (size_t k = 0; k < 3; k++) {
            double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2][INPUTS], threshold, y[SAMPLES * INPUTS],
                p[2 * SAMPLES];
            size_t winner[SAMPLES];
            hf_decision by_loss, by_threshold;
            hf_certify_settings settings = hf_certify_settings_default();
            draw_box(&t, 0.3, x, lower, upper);
            set_loss(&t, cost[k]);
            assert_int_equal(
                hf_class_threshold(t.ctx, cost[k][2] - cost[k][0], cost[k][1] - cost[k][3], &threshold),
                HF_OK);
            assert_true(hf_classifier_rule(t.classifier)->threshold == threshold);
            (void)hf_certify_decision(t.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &by_loss, at[0]);
            draw_inside(&t, lower, upper, y);
            predict(&t, SAMPLES, y, p, winner);
            for (size_t a = 0; a < 2; a++) {
                hf_range r;
                settings.output = a;
                settings.lower_only = a == 1 && k == 1;
                assert_int_equal(
                    hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, lower, upper, &r, NULL, NULL),
                    HF_OK);
                assert_true(settings.lower_only == isinf(r.upper));
                for (size_t i = 0; i < SAMPLES; i++) {
                    const double value = expected(2, cost[k], p + 2 * i, a);
                    assert_true(value >= r.lower - 1e-12 && value <= r.upper + 1e-12);
                    if (a == 0) assert_int_equal(winner[i], expected(2, cost[k], p + 2 * i, 1) < value);
                }
                assert_true(settings.lower_only || r.upper - r.upper_attained <= 0.01 + 1e-12);
            }
            const hf_class_rule rule = {sizeof(hf_class_rule), 1.0, threshold, NULL};
            assert_int_equal(hf_classifier_set_rule(t.ctx, t.classifier, &rule), HF_OK);
            assert_null(hf_classifier_rule(t.classifier)->loss);
            (void)hf_certify_decision(t.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &by_threshold,
                                      at[1]);
            assert_int_equal(by_loss.verdict, by_threshold.verdict);
            assert_int_equal(by_loss.nodes, by_threshold.nodes);
            assert_memory_equal(at[0], at[1], sizeof at[0]);
        }
        end(&t);
    }
}

static void test_bad(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_SOFTMAX, C);
    set_loss(&t, losses[1]);
    const double bad[][C * C] = {{0, 1, 1, 1, 1, 1, 1, 1, 0},
                                 {0, 1, 1, -1, 0, 1, 1, 1, 0},
                                 {0, 1, 1, 1, 0, 1, 1, INFINITY, 0},
                                 {0, 1, 1, NAN, 0, 1, 1, 1, 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const hf_class_rule rule = {sizeof(hf_class_rule), 1.0, 0.5, bad[k]};
        assert_int_equal(hf_classifier_set_rule(t.ctx, t.classifier, &rule), HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(t.ctx), "loss of the decision"));
        hf_range none;
        const double at[INPUTS] = {0};
        assert_int_equal(hf_certify_loss(t.ctx, t.classifier, bad[k], NULL, 1, at, at, &none, NULL, NULL),
                         HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(t.ctx), "loss of the decision"));
    }
    assert_memory_equal(hf_classifier_rule(t.classifier)->loss, losses[1], sizeof losses[1]);
    hf_range r;
    const double x[INPUTS] = {0};
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = C;
    assert_int_equal(hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, x, x, &r, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_loss(t.ctx, NULL, NULL, NULL, 1, x, x, &r, NULL, NULL), HF_ERR_ARGUMENT);
    end(&t);
}

/* A loss that is given is that of a rule, digit for digit, and leaves the rule as it is. */
static void test_given_ranges(void **state)
{
    (void)state;
    const double of_two[] = {1, 6, 2, 0.5};
    for (int link = HF_LINK_PROBIT; link <= HF_LINK_SOFTMAX; link++) {
        const bool several = link == HF_LINK_SOFTMAX;
        const double *loss = several ? losses[2] : of_two;
        double x[INPUTS], lower[INPUTS], upper[INPUTS];
        hf_range given, of_rule;
        hf_certify_settings settings = hf_certify_settings_default();
        trial t;
        begin(&t, (hf_link)link, several ? C : 2);
        settings.output = 1;
        draw_box(&t, 0.3, x, lower, upper);
        assert_int_equal(
            hf_certify_loss(t.ctx, t.classifier, loss, &settings, 1, lower, upper, &given, NULL, NULL),
            HF_OK);
        assert_null(hf_classifier_rule(t.classifier)->loss);
        assert_true(hf_classifier_rule(t.classifier)->threshold == 0.5);
        set_loss(&t, loss);
        assert_int_equal(
            hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, lower, upper, &of_rule, NULL, NULL),
            HF_OK);
        assert_true(given.lower == of_rule.lower && given.upper == of_rule.upper);
        assert_true(given.lower_attained == of_rule.lower_attained);
        assert_true(given.upper_attained == of_rule.upper_attained);
        const double plain[] = {0, 1, 1, 1, 0, 1, 1, 1, 0}, plain_of_two[] = {0, 1, 1, 0};
        assert_int_equal(hf_certify_loss(t.ctx, t.classifier, several ? plain : plain_of_two, &settings, 1,
                                         lower, upper, &given, NULL, NULL),
                         HF_OK);
        set_loss(&t, NULL);
        assert_int_equal(
            hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, lower, upper, &of_rule, NULL, NULL),
            HF_OK);
        assert_near(given.lower, of_rule.lower, 1e-12);
        assert_near(given.upper, of_rule.upper, 1e-12);
        end(&t);
    }
}

/* Settings and region are read as those of hf_certify_class() are. */
static void test_settings(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_SOFTMAX, C);
    hf_range r;
    const double x[INPUTS] = {0};
    const double bad[] = {-1.0, (double)NAN};
    hf_certify_settings settings = hf_certify_settings_default();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        settings.tolerance = bad[k];
        assert_int_equal(hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, x, x, &r, NULL, NULL),
                         HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(t.ctx), "tolerance"));
    }
    settings = hf_certify_settings_default();
    settings.size = 0;
    assert_int_equal(hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, x, x, &r, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.ctx), "size"));
    hf_region region = hf_region_default();
    region.centre = x;
    region.shape = (hf_shape)77;
    settings = hf_certify_settings_default();
    settings.region = &region;
    assert_int_equal(hf_certify_loss(t.ctx, t.classifier, NULL, &settings, 1, x, x, &r, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.ctx), "shape"));
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_predictions),  cmocka_unit_test(test_ranges),
                                       cmocka_unit_test(test_decisions),    cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_two_classes),  cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_given_ranges), cmocka_unit_test(test_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
