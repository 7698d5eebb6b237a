/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of two classes: a scale of the link and a threshold. Probabilities are those of slow sums, and
 * verdicts agree with points anywhere in the box. */
#include "classify/labels.h"

#include <holdfast/certify_classes.h>
#include <holdfast/certify_flip.h>
#include <holdfast/certify_uses.h>

enum {
    SAMPLES = 300,
    RULES = 5
};

static const hf_class_rule rules[RULES] = {{sizeof(hf_class_rule), 0.4, 0.5, NULL},
                                           {sizeof(hf_class_rule), 2.5, 0.03, NULL},
                                           {sizeof(hf_class_rule), 1.0, 0.9, NULL},
                                           {sizeof(hf_class_rule), 1.7, 0.35, NULL},
                                           {sizeof(hf_class_rule), 1.0, 1e-4, NULL}};

typedef struct trial {
    labels l;
    hf_classifier *classifier;
    hf_class_rule rule;
    hfi_stream stream;
} trial;

static void begin(trial *t, hf_link link, hf_class_rule rule)
{
    labels_make(&t->l, "3*matern52(ard, lengthscale=1.3)", HF_MEAN_CONSTANT);
    assert_true(hf_classify_exact(t->l.ctx, link, HF_INFERENCE_LAPLACE, t->l.kernel, t->l.mean, ROWS, t->l.x,
                                  INPUTS, t->l.label, 2, &t->classifier, NULL) >= 0);
    t->rule = rule;
    assert_int_equal(hf_classifier_set_rule(t->l.ctx, t->classifier, &rule), HF_OK);
    hfi_stream_init(&t->stream, 23, HFI_PURPOSE_TEST, 3);
}

static void end(trial *t)
{
    hf_classifier_free(t->classifier);
    labels_free(&t->l);
}

/* E[link(lambda f)] by a fine sum over f, which knows nothing of the library's. */
static double slow_probability(trial *t, const double *x)
{
    double mean, var, sum = 0.0;
    const double step = 0.002;
    assert_int_equal(
        hf_predict(t->l.ctx, hf_classifier_posterior(t->classifier), 1, x, INPUTS, &mean, &var, NULL), HF_OK);
    for (int k = -4500; k <= 4500; k++) {
        const double z = step * k, f = t->rule.lambda * (mean + sqrt(var) * z);
        const double link = hf_classifier_link(t->classifier) == HF_LINK_PROBIT ? 0.5 * erfc(-f / sqrt(2.0))
                                                                                : 1.0 / (1.0 + exp(-f));
        sum += step * link * exp(-0.5 * z * z) / sqrt(2.0 * acos(-1.0));
    }
    return sum;
}

static double probability_of(trial *t, const double *x, size_t *winner)
{
    double both[2];
    assert_int_equal(
        hf_classify_predict(t->l.ctx, t->classifier, 1, x, INPUTS, both, winner, NULL, NULL, NULL), HF_OK);
    return both[1];
}

static void draw_box(trial *t, double half, double *x, double *lower, double *upper)
{
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 4.0 * hfi_stream_uniform(&t->stream) - 1.8;
        lower[j] = x[j] - half * hfi_stream_uniform(&t->stream);
        upper[j] = x[j] + half * hfi_stream_uniform(&t->stream);
    }
}

static void draw_inside(trial *t, const double *lower, const double *upper, double *x)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double u = hfi_stream_uniform(&t->stream);
        x[j] = u < 0.1 ? lower[j] : u > 0.9 ? upper[j] : lower[j] + u * (upper[j] - lower[j]);
    }
}

static bool is_inside(const double *lower, const double *upper, const double *x)
{
    for (size_t j = 0; j < INPUTS; j++)
        if (!(x[j] >= lower[j]) || !(x[j] <= upper[j])) return false;
    return true;
}

static void for_all(void (*check)(trial *t))
{
    for (int link = HF_LINK_PROBIT; link <= HF_LINK_LOGIT; link++)
        for (size_t r = 0; r < RULES; r++) {
            trial t;
            begin(&t, (hf_link)link, rules[r]);
            check(&t);
            end(&t);
        }
}

static void check_predictions(trial *t)
{
    for (size_t k = 0; k < 20; k++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS];
        size_t winner;
        draw_box(t, 0.1, x, lower, upper);
        const double p = probability_of(t, x, &winner);
        assert_near(p, slow_probability(t, x), 1e-9);
        assert_int_equal(winner, p > t->rule.threshold);
    }
}

static void test_predictions(void **state)
{
    (void)state;
    for_all(check_predictions);
}

/* By default and with intervals. */
static void check_ranges(trial *t)
{
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 1e-3;
    for (size_t b = 0; b < 12; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], low[INPUTS], high[INPUTS];
        hf_range r;
        draw_box(t, b % 2 ? 0.4 : 0.05, x, lower, upper);
        settings.output = b % 3 == 0 ? 0 : 1;
        settings.rigorous = b == 2 || b == 3;
        settings.node_limit = settings.rigorous ? 40 : 0;
        if (b == 4) memcpy(upper, lower, sizeof lower);
        assert_true(hf_certify_class(t->l.ctx, t->classifier, &settings, 1, lower, upper, &r, low, high) >=
                    0);
        if (!settings.rigorous) assert_true(r.upper - r.upper_attained <= 1e-3 + 1e-11);
        const double attained = probability_of(t, low, NULL);
        assert_near(settings.output == 1 ? attained : 1.0 - attained, r.lower_attained, 1e-9);
        for (size_t k = 0; k < SAMPLES; k++) {
            draw_inside(t, lower, upper, x);
            const double p = probability_of(t, x, NULL), own = settings.output == 1 ? p : 1.0 - p;
            if (!(own >= r.lower - 1e-15 && own <= r.upper + 1e-15))
                fail_msg("p = %.15g is outside of [%.15g, %.15g]", own, r.lower, r.upper);
        }
    }
}

static void test_ranges(void **state)
{
    (void)state;
    for_all(check_ranges);
}

static size_t seen[3];

static void check_decisions(trial *t)
{
    for (size_t b = 0; b < 30; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS];
        size_t winner;
        hf_decision d;
        draw_box(t, 0.5, x, lower, upper);
        assert_true(hf_certify_decision(t->l.ctx, t->classifier, NULL, NULL, 1, x, lower, upper, &d, other) >=
                    0);
        seen[d.verdict]++;
        (void)probability_of(t, x, &winner);
        assert_int_equal(d.winner, winner);
        if (d.verdict == HF_VERDICT_COUNTEREXAMPLE) {
            (void)probability_of(t, other, &winner);
            assert_true(winner != d.winner && is_inside(lower, upper, other));
        }
        for (size_t k = 0; k < SAMPLES && d.verdict == HF_VERDICT_CERTIFIED; k++) {
            draw_inside(t, lower, upper, x);
            (void)probability_of(t, x, &winner);
            assert_int_equal(winner, d.winner);
        }
    }
}

static void test_decisions(void **state)
{
    (void)state;
    memset(seen, 0, sizeof seen);
    for_all(check_decisions);
    assert_true(seen[HF_VERDICT_CERTIFIED] > 50 && seen[HF_VERDICT_COUNTEREXAMPLE] > 20);
    assert_int_equal(seen[HF_VERDICT_OPEN], 0);
}

/* With 1/2 the scale moves no decision, and neither does a threshold that is 1/2 to a rounding. */
static void test_half(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_PROBIT, (hf_class_rule){sizeof(hf_class_rule), 3.0, 0.5, NULL});
    for (size_t b = 0; b < 20; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS];
        hf_decision with, without;
        const hf_class_rule nearly = {sizeof(hf_class_rule), 1.0, 0.5 + 1e-15, NULL};
        draw_box(&t, 0.4, x, lower, upper);
        assert_true(hf_certify_decision(t.l.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &with, NULL) >=
                    0);
        assert_int_equal(hf_classifier_set_rule(t.l.ctx, t.classifier, b % 2 ? NULL : &nearly), HF_OK);
        assert_true(
            hf_certify_decision(t.l.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &without, NULL) >= 0);
        assert_int_equal(with.verdict, without.verdict);
        assert_int_equal(with.winner, without.winner);
        assert_int_equal(hf_classifier_set_rule(t.l.ctx, t.classifier, &t.rule), HF_OK);
    }
    end(&t);
}

static void check_radii_and_flips(trial *t)
{
    for (size_t b = 0; b < 4; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS];
        size_t winner, here;
        hf_radius r;
        hf_flip f;
        hf_claim claim = hf_claim_default();
        claim.classifier = t->classifier;
        draw_box(t, 0.5, x, lower, upper);
        (void)probability_of(t, x, &here);
        assert_true(hf_certify_radius(t->l.ctx, t->classifier, NULL, x, NULL, 2.0, 0.02, &r, other) >= 0);
        assert_int_equal(r.winner, here);
        assert_true(isfinite(r.broken) ? r.broken - r.certified <= 0.021 * r.broken : r.certified == 2.0);
        for (int k = 0; k < 2; k++) {
            const hf_flip_kind kind = k ? HF_FLIP_FEWEST : HF_FLIP_NEAREST;
            assert_true(hf_certify_flip(t->l.ctx, &claim, kind, NULL, x, NULL, 2.0, 0.02, &f, other) >= 0);
            assert_int_equal(f.winner, here);
            assert_int_equal(isfinite(f.distance), isfinite(r.broken));
            if (!isfinite(f.distance)) continue;
            (void)probability_of(t, other, &winner);
            assert_true(winner != here && winner == f.other);
        }
        for (size_t j = 0; j < INPUTS; j++) {
            lower[j] = x[j] - r.certified;
            upper[j] = x[j] + r.certified;
        }
        for (size_t k = 0; k < SAMPLES; k++) {
            draw_inside(t, lower, upper, other);
            (void)probability_of(t, other, &winner);
            assert_int_equal(winner, here);
        }
    }
}

static void test_radii_and_flips(void **state)
{
    (void)state;
    for_all(check_radii_and_flips);
}

/* Which classes are possible; attacks that end beyond the threshold; accuracy as predictions count it. */
static void check_others(trial *t)
{
    double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2 * INPUTS], left;
    size_t winner;
    for (size_t b = 0; b < 12; b++) {
        hf_class_range both[2];
        bool found[2] = {false, false};
        draw_box(t, 0.5, x, lower, upper);
        assert_true(hf_certify_classes(t->l.ctx, t->classifier, NULL, 1, lower, upper, both, at) >= 0);
        for (size_t k = 0; k < SAMPLES; k++) {
            draw_inside(t, lower, upper, x);
            (void)probability_of(t, x, &winner);
            found[winner] = true;
        }
        for (size_t c = 0; c < 2; c++) {
            assert_true(both[c].chance != HF_CHANCE_OPEN);
            if (found[c]) assert_int_equal(both[c].chance, HF_CHANCE_TAKEN);
            if (both[c].chance != HF_CHANCE_TAKEN) continue;
            (void)probability_of(t, at + c * INPUTS, &winner);
            assert_true(winner == c && is_inside(lower, upper, at + c * INPUTS));
        }
        (void)probability_of(t, lower, &winner);
        assert_int_equal(
            hf_attack(t->l.ctx, t->classifier, HF_ATTACK_PGD, 0, 1, lower, lower, upper, x, &left), HF_OK);
        const double p = probability_of(t, x, NULL), before = probability_of(t, lower, NULL);
        assert_near(left, winner ? p : 1.0 - p, 1e-12);
        assert_true(left <= (winner ? before : 1.0 - before) + 1e-15);
    }
    const double radius[INPUTS] = {0.02, 0.02};
    hf_certified_accuracy sum;
    size_t right = 0;
    assert_true(hf_certify_accuracy(t->l.ctx, t->classifier, NULL, ROWS, t->l.x, t->l.label, radius, &sum) >=
                0);
    for (size_t i = 0; i < ROWS; i++) {
        (void)probability_of(t, t->l.x + i * INPUTS, &winner);
        right += winner == t->l.label[i];
    }
    assert_int_equal(sum.right, right);
}

static void test_others(void **state)
{
    (void)state;
    for_all(check_others);
}

/* The threshold of a loss is where both decisions cost the same, and the rule with it costs least. */
static void test_loss(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double costs[][2] = {{1.0, 1.0}, {1.0, 20.0}, {7.0, 0.3}, {1e-200, 1e-195}};
    for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
        double t = -1.0;
        const double wrong_1 = costs[k][0], wrong_0 = costs[k][1];
        assert_int_equal(hf_class_threshold(ctx, wrong_1, wrong_0, &t), HF_OK);
        assert_near(wrong_1 * (1.0 - t) / (wrong_0 * t), 1.0, 1e-13);
        for (double p = 0.005; p < 1.0; p += 0.01) assert_int_equal(p > t, wrong_1 * (1.0 - p) < wrong_0 * p);
    }
    double kept = 0.25;
    const double bad[][2] = {{0.0, 1.0}, {1.0, -1.0}, {NAN, 1.0}, {INFINITY, 1.0}, {1e-300, 1e300}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(hf_class_threshold(ctx, bad[k][0], bad[k][1], &kept), HF_ERR_ARGUMENT);
    assert_int_equal(hf_class_threshold(ctx, 1.0, 1.0, NULL), HF_ERR_ARGUMENT);
    assert_true(kept == 0.25);
    hf_context_free(ctx);
}

static void test_bad_rules(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_LOGIT, (hf_class_rule){sizeof(hf_class_rule), 2.0, 0.3, NULL});
    const hf_class_rule bad[] = {
        {sizeof(hf_class_rule), 0.0, 0.5, NULL}, {sizeof(hf_class_rule), -1.0, 0.5, NULL},
        {sizeof(hf_class_rule), NAN, 0.5, NULL}, {sizeof(hf_class_rule), 1e7, 0.5, NULL},
        {sizeof(hf_class_rule), 1.0, 0.0, NULL}, {sizeof(hf_class_rule), 1.0, 1.0, NULL},
        {sizeof(hf_class_rule), 1.0, NAN, NULL}, {0, 1.0, 0.5, NULL}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(hf_classifier_set_rule(t.l.ctx, t.classifier, &bad[k]), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.l.ctx), "size of the hf_class_rule is 0"));
    assert_int_equal(hf_classifier_set_rule(t.l.ctx, NULL, &bad[0]), HF_ERR_ARGUMENT);
    const hf_class_rule *kept = hf_classifier_rule(t.classifier);
    assert_true(kept->lambda == 2.0 && kept->threshold == 0.3 && hf_classifier_rule(NULL) == NULL);
    end(&t);
}

/* More classes have no one threshold. */
static void test_softmax(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[2 * ROWS];
    size_t label[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        label[i] = i % 3;
        x[2 * i] = cos(2.0 * (double)label[i]) + 0.3 * sin((double)i);
        x[2 * i + 1] = sin(2.0 * (double)label[i]) + 0.3 * cos(1.7 * (double)i);
    }
    const hf_class_data data = {.n = ROWS, .d = 2, .x = x, .ldx = 2, .label = label, .classes = 3};
    hf_class_settings fit = hf_class_settings_default();
    hf_classifier *classifier = NULL;
    fit.link = HF_LINK_SOFTMAX;
    fit.train = false;
    assert_true(hf_classifier_fit(ctx, &data, &fit, &classifier, NULL) >= 0);
    const hf_class_rule rule = {sizeof(hf_class_rule), 1.0, 0.4, NULL}, plain = hf_class_rule_default();
    assert_int_equal(hf_classifier_set_rule(ctx, classifier, &rule), HF_ERR_ARGUMENT);
    assert_int_equal(hf_classifier_set_rule(ctx, classifier, &plain), HF_OK);
    hf_classifier_free(classifier);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_radii_and_flips),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
