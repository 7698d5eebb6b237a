/* SPDX-License-Identifier: Apache-2.0 */
/* All classes at once: no point of a box is outside of a range or of a class that is ruled out; classes that
 * are possible have a point. */
#include "classify/labels.h"

#include <holdfast/certify_classes.h>
#include <stdio.h>

enum {
    MOST = 5,
    GRID = 15,
    POINTS = GRID * GRID
};

typedef struct trial {
    labels l;
    hf_classifier *classifier;
    size_t classes;
    hfi_stream stream;
} trial;

/* Clouds around a circle, by softmax; of two classes by a link of one latent function. */
static void begin(trial *t, size_t classes, hf_link link)
{
    char expression[120];
    const bool soft = link == HF_LINK_SOFTMAX;
    t->l.ctx = hf_context_create();
    t->l.mean = NULL;
    t->classes = classes;
    assert_int_equal(hf_context_set_threads(t->l.ctx, 1), HF_OK);
    hfi_stream_init(&t->stream, 71, HFI_PURPOSE_TEST, classes);
    for (size_t i = 0; i < ROWS; i++) {
        const double angle = 2.0 * HFI_PI * (double)(i % classes) / (double)classes;
        t->l.x[i * INPUTS] = 0.5 * hfi_stream_normal(&t->stream) + cos(angle);
        t->l.x[i * INPUTS + 1] = 0.5 * hfi_stream_normal(&t->stream) + sin(angle);
        t->l.label[i] = i % classes;
    }
    snprintf(expression, sizeof expression,
             soft ? "coregion(x3, outputs=%zu, rank=1, factor=0, own=1)*%s" : "%.0zu%s", soft ? classes : 0,
             "5*(se(lengthscale=0.9))");
    assert_int_equal(hf_kernel_parse(t->l.ctx, expression, NULL, INPUTS + (soft ? 1u : 0u), &t->l.kernel),
                     HF_OK);
    if (soft)
        assert_int_equal(hf_mean_create_outputs(t->l.ctx, INPUTS + 1, classes, &t->l.mean), HF_OK);
    else
        assert_int_equal(hf_mean_create(t->l.ctx, HF_MEAN_ZERO, INPUTS, &t->l.mean), HF_OK);
    if (hf_classify_exact(t->l.ctx, link, HF_INFERENCE_LAPLACE, t->l.kernel, t->l.mean, ROWS, t->l.x, INPUTS,
                          t->l.label, classes, &t->classifier, NULL) < 0)
        fail_msg("%s", hf_context_message(t->l.ctx));
}

static void end(trial *t)
{
    hf_classifier_free(t->classifier);
    labels_free(&t->l);
}

static void draw_box(trial *t, double half, double *lower, double *upper)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double x = 2.4 * hfi_stream_uniform(&t->stream) - 1.2;
        lower[j] = x - half * hfi_stream_uniform(&t->stream);
        upper[j] = x + half * hfi_stream_uniform(&t->stream);
    }
}

/* How often each class is the class of a point, and whether one is outside of its range. */
static void visit(trial *t, const double *lower, const double *upper, const hf_class_range *of, size_t *seen)
{
    static double x[POINTS * INPUTS], p[POINTS * MOST];
    static size_t winner[POINTS];
    const double slack = t->classes > 4 ? 1e-4 : 1e-9;
    for (size_t k = 0; k < POINTS; k++) {
        const size_t row = k / GRID;
        x[k * INPUTS] = lower[0] + (double)row / (GRID - 1.0) * (upper[0] - lower[0]);
        x[k * INPUTS + 1] = lower[1] + (double)(k % GRID) / (GRID - 1.0) * (upper[1] - lower[1]);
    }
    assert_int_equal(
        hf_classify_predict(t->l.ctx, t->classifier, POINTS, x, INPUTS, p, winner, NULL, NULL, NULL), HF_OK);
    for (size_t k = 0; k < POINTS; k++) {
        const double *own = p + k * t->classes;
        double second = 0.0;
        for (size_t c = 0; c < t->classes; c++) {
            assert_true(own[c] >= of[c].range.lower - slack && own[c] <= of[c].range.upper + slack);
            if (c != winner[k]) second = fmax(second, own[c]);
        }
        if (own[winner[k]] > second + slack) seen[winner[k]]++;
    }
}

static void check(trial *t, const hf_certify_settings *settings, const double *lower, const double *upper,
                  size_t *counts)
{
    hf_class_range out[MOST];
    double at[MOST * INPUTS];
    size_t seen[MOST] = {0}, winner;
    assert_true(hf_certify_classes(t->l.ctx, t->classifier, settings, 1, lower, upper, out, at) >= 0);
    visit(t, lower, upper, out, seen);
    for (size_t c = 0; c < t->classes; c++) {
        const hf_range *r = &out[c].range;
        const double *x = at + c * INPUTS;
        counts[out[c].chance]++;
        assert_true(r->lower <= r->lower_attained && r->upper_attained <= r->upper);
        if (out[c].chance == HF_CHANCE_NONE) assert_int_equal(seen[c], 0);
        assert_true((out[c].chance == HF_CHANCE_TAKEN) == !isnan(x[0]));
        if (out[c].chance != HF_CHANCE_TAKEN) continue;
        assert_int_equal(
            hf_classify_predict(t->l.ctx, t->classifier, 1, x, INPUTS, NULL, &winner, NULL, NULL, NULL),
            HF_OK);
        assert_int_equal(winner, c);
        for (size_t j = 0; j < INPUTS; j++) assert_true(x[j] >= lower[j] && x[j] <= upper[j]);
    }
}

static void points_are_of_possible_classes(void **state)
{
    (void)state;
    const struct {
        size_t classes;
        hf_link link;
    } cases[] = {{2, HF_LINK_PROBIT},
                 {2, HF_LINK_LOGIT},
                 {2, HF_LINK_SOFTMAX},
                 {3, HF_LINK_SOFTMAX},
                 {4, HF_LINK_SOFTMAX}};
    size_t counts[HF_CHANCE_OPEN + 1] = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trial t;
        begin(&t, cases[k].classes, cases[k].link);
        hf_certify_settings settings = hf_certify_settings_default();
        settings.tolerance = 0.02;
        for (size_t b = 0; b < (cases[k].classes < 4 ? 6u : 2u); b++) {
            double lower[INPUTS], upper[INPUTS];
            draw_box(&t, b % 3 == 0 ? 0.05 : b % 3 == 1 ? 0.3 : 0.8, lower, upper);
            settings.node_limit = b % 2 ? 40 : 400;
            check(&t, &settings, lower, upper, counts);
        }
        end(&t);
    }
    assert_true(counts[HF_CHANCE_TAKEN] > 20 && counts[HF_CHANCE_NONE] > 20);
}

/* Five classes rest on an estimate, and say so. */
static void five_classes_are_estimates(void **state)
{
    (void)state;
    trial t;
    size_t counts[HF_CHANCE_OPEN + 1] = {0};
    begin(&t, 5, HF_LINK_SOFTMAX);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 0.1;
    settings.node_limit = 2;
    const double lower[] = {0.9, -0.1}, upper[] = {1.0, 0.1};
    check(&t, &settings, lower, upper, counts);
    hf_class_range out[MOST];
    assert_true(hf_certify_classes(t.l.ctx, t.classifier, &settings, 1, lower, lower, out, NULL) >= 0);
    for (size_t c = 0; c < MOST; c++) assert_true(out[c].range.estimate);
    assert_int_equal(out[0].chance, HF_CHANCE_TAKEN);
    end(&t);
}

/* Two boxes are answered as each alone, a ball holds no more than its box, and threads change no digit. */
static void boxes_regions_and_threads(void **state)
{
    (void)state;
    trial t;
    begin(&t, 3, HF_LINK_SOFTMAX);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 0.05;
    settings.node_limit = 60;
    const double lower[] = {-0.3, -0.3, 0.6, -0.4}, upper[] = {0.3, 0.3, 1.2, 0.4},
                 centre[] = {0.1, 0.0, 0.9, 0.0};
    hf_class_range both[6], one[3], ball[6];
    assert_true(hf_certify_classes(t.l.ctx, t.classifier, &settings, 2, lower, upper, both, NULL) >= 0);
    assert_int_equal(hf_context_set_threads(t.l.ctx, 3), HF_OK);
    for (size_t k = 0; k < 2; k++) {
        assert_true(hf_certify_classes(t.l.ctx, t.classifier, &settings, 1, lower + 2 * k, upper + 2 * k, one,
                                       NULL) >= 0);
        for (size_t c = 0; c < 3; c++) {
            assert_true(one[c].range.lower == both[3 * k + c].range.lower &&
                        one[c].range.upper == both[3 * k + c].range.upper);
            assert_int_equal(one[c].chance, both[3 * k + c].chance);
        }
    }
    hf_region region = hf_region_default();
    region.shape = HF_SHAPE_L2;
    region.centre = centre;
    settings.region = &region;
    double at[12];
    assert_true(hf_certify_classes(t.l.ctx, t.classifier, &settings, 2, lower, upper, ball, at) >= 0);
    for (size_t k = 0; k < 6; k++) {
        double size = 0.0;
        assert_true(ball[k].range.lower >= both[k].range.lower - 0.05 &&
                    ball[k].range.upper <= both[k].range.upper + 0.05);
        if (both[k].chance == HF_CHANCE_NONE) assert_int_not_equal(ball[k].chance, HF_CHANCE_TAKEN);
        for (size_t j = 0; j < INPUTS && ball[k].chance == HF_CHANCE_TAKEN; j++) {
            const size_t s = k / 3 * INPUTS + j;
            const double half = fmax(upper[s] - centre[s], centre[s] - lower[s]);
            size += pow((at[k * INPUTS + j] - centre[s]) / half, 2.0);
        }
        assert_true(size <= 1.0 + 1e-9);
    }
    end(&t);
}

/* A class that is nowhere most probable, although its probability is above another's least: only the search
 * rules it out. */
static void a_search_rules_out(void **state)
{
    (void)state;
    trial t;
    begin(&t, 3, HF_LINK_SOFTMAX);
    hf_certify_settings settings = hf_certify_settings_default();
    size_t by_search = 0;
    for (size_t b = 0; b < 12; b++) {
        double lower[INPUTS], upper[INPUTS];
        hf_class_range out[3];
        draw_box(&t, 0.7, lower, upper);
        assert_true(hf_certify_classes(t.l.ctx, t.classifier, &settings, 1, lower, upper, out, NULL) >= 0);
        for (size_t c = 0; c < 3; c++) {
            double most = 0.0;
            for (size_t i = 0; i < 3; i++)
                if (i != c) most = fmax(most, out[i].range.lower);
            by_search += out[c].chance == HF_CHANCE_NONE && out[c].range.upper >= most;
        }
    }
    assert_true(by_search > 0);
    assert_string_equal(hf_enum_name(HF_ENUM_CHANCE, HF_CHANCE_NONE), "ruled out");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_of_possible_classes), cmocka_unit_test(five_classes_are_estimates),
        cmocka_unit_test(boxes_regions_and_threads), cmocka_unit_test(a_search_rules_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
