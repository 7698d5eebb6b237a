/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation of two classes: mode, gradient, limits. */
#include "classify/labels.h"

static const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};

static double evidence(labels *l, hf_link link, double *gradient)
{
    return labels_evidence(l, link, HF_INFERENCE_LAPLACE, gradient);
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        labels_compare_gradient("se(ard)", links[k], HF_INFERENCE_LAPLACE, 1e-8);
        labels_compare_gradient("2*matern52 + linear + 0.1*white", links[k], HF_INFERENCE_LAPLACE, 1e-8);
    }
}

/* At the mode K^-1 (f - m) = l'(f); the posterior of the sites has that mean and the variances of (K^-1 + W)^-1. */
static void classifier_has_the_mode(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        labels l;
        labels_make(&l, "3*se", HF_MEAN_CONSTANT);
        const double start = 0.4;
        assert_int_equal(hf_mean_set(l.ctx, l.mean, &start, false), HF_OK);
        hf_classifier *classifier = NULL;
        double value = NAN;
        assert_int_equal(hf_classify_exact(l.ctx, links[k], HF_INFERENCE_LAPLACE, l.kernel, l.mean, ROWS, l.x,
                                           INPUTS, l.label, 2, &classifier, &value),
                         HF_OK);
        assert_near(value, evidence(&l, links[k], NULL), 1e-10);
        double mean[ROWS], var[ROWS], p[2 * ROWS], error[ROWS], gram[ROWS * ROWS];
        size_t winner[ROWS];
        assert_int_equal(
            hf_classify_predict(l.ctx, classifier, ROWS, l.x, INPUTS, p, winner, mean, var, error), HF_OK);
        assert_int_equal(hf_kernel_gram(l.ctx, l.kernel, ROWS, l.x, INPUTS, gram, ROWS), HF_OK);
        for (size_t i = 0; i < ROWS; i++) {
            double f = start, q = NAN;
            for (size_t j = 0; j < ROWS; j++)
                f += gram[i * ROWS + j] * label_density(links[k], l.label[j] ? 1.0 : -1.0, mean[j]).f;
            assert_near(mean[i], f, 1e-9);
            assert_int_equal(hf_class_probability(links[k], mean[i], var[i], &q, NULL), HF_OK);
            assert_near(p[2 * i + 1], q, 1e-15);
            assert_near(p[2 * i] + p[2 * i + 1], 1.0, 1e-15);
            assert_int_equal(winner[i], p[2 * i + 1] > 0.5);
        }
        hf_classifier_free(classifier);
        labels_free(&l);
    }
}

/* One label: the evidence of an even prior is log 1/2 to first order whatever the kernel, and exactly with
 * hardly any kernel. */
static void tiny_outputscale_knows_nothing(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "1e-8*se", HF_MEAN_ZERO);
    assert_near(evidence(&l, HF_LINK_PROBIT, NULL), ROWS * log(0.5), 1e-5);
    hf_classifier *classifier = NULL;
    assert_int_equal(hf_classify_exact(l.ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, l.kernel, l.mean, 1, l.x,
                                       INPUTS, l.label, 2, &classifier, NULL),
                     HF_OK);
    double p[2];
    assert_int_equal(hf_classify_predict(l.ctx, classifier, 1, l.x, INPUTS, p, NULL, NULL, NULL, NULL),
                     HF_OK);
    assert_near(p[0], 0.5, 1e-6);
    hf_classifier_free(classifier);
    labels_free(&l);
}

/* Huge outputscales, one class, equal rows, missing labels. */
static void extremes_stay_finite(void **state)
{
    (void)state;
    labels l;
    double gradient[8];
    labels_make(&l, "1e6*se", HF_MEAN_ZERO);
    assert_true(isfinite(evidence(&l, HF_LINK_PROBIT, gradient)) && isfinite(gradient[0]));
    assert_true(isfinite(evidence(&l, HF_LINK_LOGIT, gradient)) && isfinite(gradient[0]));
    for (size_t i = 0; i < ROWS; i++) memcpy(l.x + i * INPUTS, l.x, INPUTS * sizeof *l.x);
    assert_true(isfinite(evidence(&l, HF_LINK_PROBIT, gradient)) && isfinite(gradient[0]));
    for (size_t i = 0; i < ROWS; i++) l.label[i] = 1;
    assert_true(isfinite(evidence(&l, HF_LINK_LOGIT, gradient)) && isfinite(gradient[0]));
    labels_free(&l);
}

static void rows_without_a_label_say_nothing(void **state)
{
    (void)state;
    labels l, fewer;
    labels_make(&l, "se", HF_MEAN_ZERO);
    labels_make(&fewer, "se", HF_MEAN_ZERO);
    size_t kept = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (i % 4 == 1) {
            l.label[i] = HF_LABEL_MISSING;
            l.x[i * INPUTS] = NAN;
            continue;
        }
        memcpy(fewer.x + kept * INPUTS, l.x + i * INPUTS, INPUTS * sizeof *l.x);
        fewer.label[kept++] = l.label[i];
    }
    double value = NAN;
    assert_int_equal(hf_class_evidence(fewer.ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, fewer.kernel,
                                       fewer.mean, kept, fewer.x, INPUTS, fewer.label, 2, &value, NULL),
                     HF_OK);
    assert_true(evidence(&l, HF_LINK_LOGIT, NULL) == value);
    labels_free(&l);
    labels_free(&fewer);
}

static void expect(labels *l, size_t classes, hf_status wanted, const char *words)
{
    double value = 5.0;
    const hf_status s = hf_class_evidence(l->ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, l->kernel, l->mean,
                                          ROWS, l->x, INPUTS, l->label, classes, &value, NULL);
    assert_int_equal(s, wanted);
    assert_non_null(strstr(hf_context_message(l->ctx), words));
    assert_true(value == 5.0);
}

static void bad_labels_are_named(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "se", HF_MEAN_ZERO);
    expect(&l, 3, HF_ERR_ARGUMENT, "2 classes, not 3");
    l.label[6] = 2;
    expect(&l, 2, HF_ERR_ARGUMENT, "row 7 has label 2");
    l.label[6] = 0;
    l.x[9 * INPUTS + 1] = INFINITY;
    expect(&l, 2, HF_ERR_NOT_FINITE, "input 2 of row 10");
    for (size_t i = 0; i < ROWS; i++) l.label[i] = HF_LABEL_MISSING;
    expect(&l, 2, HF_ERR_NO_DATA, "none of the 40 rows");
    labels_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_agrees_with_differences), cmocka_unit_test(classifier_has_the_mode),
        cmocka_unit_test(tiny_outputscale_knows_nothing),   cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(rows_without_a_label_say_nothing), cmocka_unit_test(bad_labels_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
