/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of five classes rest on an estimated error: at points near the boundaries of random
 * models they hold against a fine product rule, and say what they rest on. */
#include "certify/several.h"

#include <holdfast/certify_uses.h>

enum {
    CLASSES = 5,
    MODELS = 2,
    LINES = 1,  /* of each model */
    PLACES = 5, /* about each boundary */
    HALF = 9    /* points of a rule on either side of 0 */
};

/* Spacing of the nodes of the rules; their errors for differences of latent values with deviations below 3 are 1e-5. */
static const double step = 0.55;

typedef struct trial {
    several s;
    hfi_stream stream;
} trial;

static void begin(trial *t, uint64_t index)
{
    static const char *const kernels[MODELS] = {"@*4*(se(ard, lengthscale=1))",
                                                "@*2*(matern52(lengthscale=1.4))"};
    double x[ROWS * INPUTS];
    size_t label[ROWS];
    several_begin(&t->s, kernels[index % MODELS], CLASSES);
    hfi_stream_init(&t->stream, 51, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < INPUTS; j++) x[i * INPUTS + j] = 3.0 * hfi_stream_uniform(&t->stream) - 1.5;
        const double turn = atan2(x[i * INPUTS + 1], x[i * INPUTS]) / (2.0 * HFI_PI) + 0.5;
        label[i] = i < CLASSES ? i : (size_t)(turn * (CLASSES - 1e-9));
        if (hfi_stream_uniform(&t->stream) < 0.15) label[i] = (label[i] + 1) % CLASSES;
    }
    several_fit(&t->s, x, label);
}

/* ---- the reference ------------------------------------------------------------------------------------- */

/* Factor of the covariance of the differences to the last class. */
static void factor(const double *v, double *l)
{
    enum {
        Q = CLASSES - 1
    };
    for (size_t i = 0; i < Q; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = v[i * CLASSES + j] + v[Q * CLASSES + Q] - v[i * CLASSES + Q] - v[j * CLASSES + Q];
            for (size_t k = 0; k < j; k++) sum -= l[i * Q + k] * l[j * Q + k];
            l[i * Q + j] = i == j ? sqrt(sum) : sum / l[j * Q + j];
        }
}

static void add_terms(const double *l, size_t level, const double *f, double weight, double *p)
{
    double next[CLASSES] = {0.0}, share[CLASSES];
    for (int i = -HALF; i <= HALF; i++) {
        const double z = i * step, own = weight * step * exp(-0.5 * z * z) / sqrt(2.0 * HFI_PI);
        for (size_t c = 0; c < CLASSES - 1; c++)
            next[c] = f[c] + (c >= level ? l[c * (CLASSES - 1) + level] * z : 0.0);
        if (level + 2 < CLASSES) {
            add_terms(l, level + 1, next, own, p);
            continue;
        }
        double sum = 0.0;
        for (size_t c = 0; c < CLASSES; c++) sum += share[c] = exp(next[c]);
        for (size_t c = 0; c < CLASSES; c++) p[c] += own * share[c] / sum;
    }
}

static void reference(trial *t, const double *x, double *p)
{
    double mean[CLASSES], single[CLASSES], observed[CLASSES], v[CLASSES * CLASSES],
        l[(CLASSES - 1) * (CLASSES - 1)] = {0}, f[CLASSES] = {0}, sum = 0.0;
    assert_int_equal(hf_predict_outputs(t->s.ctx, hf_classifier_posterior(t->s.classifier), 1, x, INPUTS,
                                        mean, single, observed, v),
                     HF_OK);
    factor(v, l);
    for (size_t c = 0; c + 1 < CLASSES; c++) f[c] = mean[c] - mean[CLASSES - 1];
    memset(p, 0, CLASSES * sizeof *p);
    add_terms(l, 0, f, 1.0, p);
    for (size_t c = 0; c < CLASSES; c++) sum += p[c];
    assert_near(sum, 1.0, 1e-5);
}

static size_t best_of(const double *p)
{
    size_t best = 0;
    for (size_t c = 1; c < CLASSES; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static size_t winner_of(trial *t, const double *x)
{
    size_t winner;
    assert_int_equal(
        hf_classify_predict(t->s.ctx, t->s.classifier, 1, x, INPUTS, NULL, &winner, NULL, NULL, NULL), HF_OK);
    return winner;
}

/* Where predictions change their mind on the way from one random point to another; false where they do not. */
static bool find_boundary(trial *t, double *middle, double *way)
{
    double from[INPUTS], to[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) {
        from[j] = 2.0 * hfi_stream_uniform(&t->stream) - 1.0;
        to[j] = 2.0 * hfi_stream_uniform(&t->stream) - 1.0;
        way[j] = to[j] - from[j];
    }
    const size_t first = winner_of(t, from);
    if (winner_of(t, to) == first) return false;
    for (int k = 0; k < 14; k++) {
        for (size_t j = 0; j < INPUTS; j++) middle[j] = 0.5 * (from[j] + to[j]);
        memcpy(winner_of(t, middle) == first ? from : to, middle, sizeof from);
    }
    return true;
}

/* The range of a class and the decision at a point; counts verdicts. */
static void check_point(trial *t, const double *x, size_t *seen)
{
    double p[CLASSES], away[INPUTS];
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range r;
    hf_decision d;
    reference(t, x, p);
    const size_t best = best_of(p);
    settings.output = best;
    assert_true(hf_certify_class(t->s.ctx, t->s.classifier, &settings, 1, x, x, &r, NULL, NULL) >= 0);
    assert_true(r.estimate && r.lower < r.upper && r.lower <= p[best] && p[best] <= r.upper);
    assert_true(r.upper - r.lower < 0.02);
    assert_true(hf_certify_decision(t->s.ctx, t->s.classifier, NULL, NULL, 1, x, x, x, &d, away) >= 0);
    assert_true(d.estimate);
    if (d.verdict == HF_VERDICT_CERTIFIED) assert_int_equal(d.winner, best);
    assert_int_not_equal(d.verdict, HF_VERDICT_COUNTEREXAMPLE);
    seen[d.verdict]++;
}

static void points_near_boundaries_are_never_wrong(void **state)
{
    static const double places[PLACES] = {0.0, -1e-4, 1e-4, -0.03, 0.03};
    size_t seen[3] = {0};
    (void)state;
    for (uint64_t m = 0; m < MODELS; m++) {
        trial t;
        begin(&t, m);
        for (size_t line = 0; line < LINES;) {
            double middle[INPUTS], way[INPUTS], x[INPUTS];
            if (!find_boundary(&t, middle, way)) continue;
            line++;
            for (size_t k = 0; k < PLACES; k++) {
                for (size_t j = 0; j < INPUTS; j++) x[j] = middle[j] + places[k] * way[j];
                check_point(&t, x, seen);
            }
        }
        several_end(&t.s);
    }
    assert_true(seen[HF_VERDICT_CERTIFIED] >= 1 && seen[HF_VERDICT_OPEN] >= MODELS * LINES * 2);
}

/* Boxes across a boundary: never certified, and what is said to be of another class is. */
static void boxes_across_boundaries_are_never_wrong(void **state)
{
    trial t;
    double middle[INPUTS], way[INPUTS], p[CLASSES];
    (void)state;
    begin(&t, 0);
    while (!find_boundary(&t, middle, way)) continue;
    for (int k = 0; k < 2; k++) {
        const double half = k == 0 ? 1e-3 : 0.1;
        double lower[INPUTS], upper[INPUTS], other[INPUTS];
        hf_certify_settings settings = hf_certify_settings_default();
        hf_decision d;
        for (size_t j = 0; j < INPUTS; j++) {
            lower[j] = middle[j] - half;
            upper[j] = middle[j] + half;
        }
        settings.node_limit = 12;
        assert_true(hf_certify_decision(t.s.ctx, t.s.classifier, NULL, &settings, 1, middle, lower, upper, &d,
                                        other) >= 0);
        assert_int_not_equal(d.verdict, HF_VERDICT_CERTIFIED);
        if (d.verdict == HF_VERDICT_OPEN) continue;
        reference(&t, other, p);
        assert_int_not_equal(best_of(p), d.winner);
    }
    several_end(&t.s);
}

/* Everything else that rests on the estimate says so too. */
static void answers_say_what_they_rest_on(void **state)
{
    const double x[INPUTS] = {0.9, 0.1}, radius[INPUTS] = {0.0, 0.0};
    const size_t label = 0;
    trial t;
    hf_radius r;
    hf_certified_accuracy a;
    (void)state;
    begin(&t, 0);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 4;
    assert_true(hf_certify_is_estimate(t.s.classifier));
    assert_true(hf_certify_radius(t.s.ctx, t.s.classifier, &settings, x, NULL, 0.01, 0.5, &r, NULL) >= 0);
    assert_true(hf_certify_accuracy(t.s.ctx, t.s.classifier, &settings, 1, x, &label, radius, &a) >= 0);
    assert_true(r.estimate && a.estimate);
    several_end(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_near_boundaries_are_never_wrong),
                                       cmocka_unit_test(boxes_across_boundaries_are_never_wrong),
                                       cmocka_unit_test(answers_say_what_they_rest_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
