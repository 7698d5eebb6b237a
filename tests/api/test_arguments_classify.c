/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to the classification calls; see test_arguments.c. */
#include "api/refused.h"

#include <holdfast/classify.h>

static const size_t label[WORKSHOP_N] = {0, 1, 1, 0, 1, HF_LABEL_MISSING, 0, 0, 1, 1, 0, 1};

static void names(workshop *w)
{
    hf_link link = HF_LINK_LOGIT;
    hf_inference inference = HF_INFERENCE_EP;
    const char *const bad[] = {NULL, "", "Probit", "laplace "};
    for (size_t i = 0; i < 4; i++) {
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_LINK, bad[i], &link));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INFERENCE, bad[i], &inference));
    }
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_LINK, "logit", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INFERENCE, "ep", NULL));
    assert_true(link == HF_LINK_LOGIT && inference == HF_INFERENCE_EP);
    assert_non_null(hf_enum_name(HF_ENUM_LINK, (unsigned)99));
    assert_non_null(hf_enum_name(HF_ENUM_INFERENCE, (unsigned)-1));
}

static hf_status evidence(const workshop *w, const hf_kernel *kernel, const hf_mean *mean, const double *x,
                          size_t ldx, const size_t *labels, size_t classes, double *value)
{
    return hf_class_evidence(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, kernel, mean, WORKSHOP_N, x, ldx,
                             labels, classes, value, NULL);
}

static void evidences(workshop *w)
{
    double value = 77.0, x[WORKSHOP_N * WORKSHOP_D];
    size_t other[WORKSHOP_N];
    ARGUMENT(evidence(w, NULL, w->mean, w->x, WORKSHOP_D, label, 2, &value));
    ARGUMENT(evidence(w, w->kernel, NULL, w->x, WORKSHOP_D, label, 2, &value));
    ARGUMENT(evidence(w, w->kernel, w->mean, NULL, WORKSHOP_D, label, 2, &value));
    ARGUMENT(evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, NULL, 2, &value));
    ARGUMENT(evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, label, 2, NULL));
    ARGUMENT(evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, label, 1, &value));
    ARGUMENT(evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, label, 0, &value));
    REFUSED(HF_ERR_DIMENSION, evidence(w, w->kernel, w->mean, w->x, 1, label, 2, &value));
    ARGUMENT(hf_class_evidence(w->ctx, (hf_link)44, HF_INFERENCE_EP, w->kernel, w->mean, WORKSHOP_N, w->x,
                               WORKSHOP_D, label, 2, &value, NULL));
    ARGUMENT(hf_class_evidence(w->ctx, HF_LINK_LOGIT, (hf_inference)44, w->kernel, w->mean, WORKSHOP_N, w->x,
                               WORKSHOP_D, label, 2, &value, NULL));
    memcpy(other, label, sizeof other);
    other[2] = 5;
    ARGUMENT(evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, other, 2, &value));
    assert_contains(hf_context_message(w->ctx), "row 3");
    for (size_t i = 0; i < WORKSHOP_N; i++) other[i] = HF_LABEL_MISSING;
    REFUSED(HF_ERR_NO_DATA, evidence(w, w->kernel, w->mean, w->x, WORKSHOP_D, other, 2, &value));
    memcpy(x, w->x, sizeof x);
    x[3] = NAN;
    REFUSED(HF_ERR_NOT_FINITE, evidence(w, w->kernel, w->mean, x, WORKSHOP_D, label, 2, &value));
    assert_true(value == 77.0);
}

static void classifiers(workshop *w)
{
    hf_classifier *out = NULL;
    double value = 77.0, p[2 * WORKSHOP_M] = {77.0};
    ARGUMENT(hf_classify_exact(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_EP, w->kernel, w->mean, WORKSHOP_N, w->x,
                               WORKSHOP_D, label, 2, NULL, &value));
    ARGUMENT(hf_classify_exact(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_EP, NULL, w->mean, WORKSHOP_N, w->x,
                               WORKSHOP_D, label, 2, &out, &value));
    ARGUMENT(hf_classifier_create(w->ctx, NULL, HF_LINK_PROBIT, 2, &out));
    ARGUMENT(hf_classifier_create(w->ctx, w->posterior, HF_LINK_PROBIT, 2, NULL));
    ARGUMENT(hf_classifier_create(w->ctx, w->posterior, HF_LINK_LOGIT, 3, &out));
    ARGUMENT(hf_classifier_create(w->ctx, w->posterior, (hf_link)9, 2, &out));
    assert_true(out == NULL && value == 77.0);
    assert_true(hf_classify_exact(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_EP, w->kernel, w->mean, WORKSHOP_N,
                                  w->x, WORKSHOP_D, label, 2, &out, NULL) >= 0);
    const double bad[WORKSHOP_D] = {0.5, INFINITY};
    ARGUMENT(hf_classify_predict(w->ctx, NULL, 1, w->at, WORKSHOP_D, p, NULL, NULL, NULL, NULL));
    ARGUMENT(hf_classify_predict(w->ctx, out, 1, NULL, WORKSHOP_D, p, NULL, NULL, NULL, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_classify_predict(w->ctx, out, 1, w->at, 1, p, NULL, NULL, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_classify_predict(w->ctx, out, 1, bad, WORKSHOP_D, p, NULL, NULL, NULL, NULL));
    assert_true(p[0] == 77.0);
    assert_non_null(hf_classifier_posterior(out));
    assert_int_equal(hf_classifier_classes(out), 2);
    assert_int_equal(hf_classifier_link(out), HF_LINK_PROBIT);
    hf_classifier_free(out);
    hf_classifier_free(NULL);
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, NAN, 1.0, p, NULL), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, 0.0, -1.0, p, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, 0.0, 1.0, NULL, NULL), HF_ERR_ARGUMENT);
    assert_false(hf_likelihood_has_rate(HF_LIKELIHOOD_LOGIT));
    assert_false(hf_likelihood_has_labels((hf_likelihood)44));
    hf_reading_moments moments;
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_LOGIT, 1.0, 0.0, 1.0, &moments), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_quantile(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 1.0, p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_crps(HF_LIKELIHOOD_LOGIT, 1.0, 0.0, 1.0, 1.0, p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_cumulative(HF_LIKELIHOOD_POISSON, 1.0, 0.0, -1.0, 1.0, p),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 0.5, p), HF_ERR_ARGUMENT);
}

static void rules(workshop *w)
{
    hf_classifier *classifier = NULL;
    double threshold = 0.25;
    const hf_class_rule rule = {sizeof(hf_class_rule), 2.0, 0.3, NULL};
    ARGUMENT(hf_class_threshold(w->ctx, 1.0, 0.0, &threshold));
    ARGUMENT(hf_class_threshold(w->ctx, NAN, 1.0, &threshold));
    ARGUMENT(hf_class_threshold(w->ctx, 1.0, 1.0, NULL));
    assert_true(threshold == 0.25);
    assert_int_equal(hf_classify_exact(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, w->kernel, w->mean,
                                       WORKSHOP_N, w->x, WORKSHOP_D, label, 2, &classifier, NULL),
                     HF_OK);
    assert_int_equal(hf_classifier_set_rule(w->ctx, classifier, &rule), HF_OK);
    ARGUMENT(hf_classifier_set_rule(w->ctx, NULL, &rule));
    ARGUMENT(
        hf_classifier_set_rule(w->ctx, classifier, &(hf_class_rule){sizeof(hf_class_rule), 2.0, 1.0, NULL}));
    ARGUMENT(
        hf_classifier_set_rule(w->ctx, classifier, &(hf_class_rule){sizeof(hf_class_rule), 0.0, 0.3, NULL}));
    assert_contains(hf_context_message(w->ctx), "is 0;");
    const double loss[] = {0.0, 3.0, 1.0, 0.0}, probability[] = {0.75, 0.25};
    double expected[2] = {-1.0, -1.0};
    ARGUMENT(
        hf_classifier_set_rule(w->ctx, classifier, &(hf_class_rule){sizeof(hf_class_rule), 1.0, 0.3, loss}));
    assert_contains(hf_context_message(w->ctx), "threshold 0.25");
    hf_class_expected_loss(2, loss, NULL, expected);
    hf_class_expected_loss(2, loss, probability, NULL);
    assert_true(expected[0] == -1.0);
    hf_class_expected_loss(2, loss, probability, expected);
    assert_true(expected[0] == 0.75 && expected[1] == 0.75);
    assert_true(hf_classifier_rule(classifier)->threshold == 0.3 && !hf_classifier_rule(NULL));
    assert_int_equal(hf_classifier_set_rule(w->ctx, classifier, NULL), HF_OK);
    assert_true(hf_classifier_rule(classifier)->threshold == hf_class_rule_default().threshold);
    hf_classifier_free(classifier);
}

static void fits(workshop *w)
{
    hf_class_data data = {
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .label = label, .classes = 2};
    hf_class_settings settings = hf_class_settings_default();
    hf_classifier *out = NULL;
    ARGUMENT(hf_classifier_fit(w->ctx, NULL, &settings, &out, NULL));
    ARGUMENT(hf_classifier_fit(w->ctx, &data, NULL, &out, NULL));
    ARGUMENT(hf_classifier_fit(w->ctx, &data, &settings, NULL, NULL));
    assert_int_equal(hf_classifier_fit(NULL, &data, &settings, &out, NULL), HF_ERR_ARGUMENT);
    data.ldx = 1;
    REFUSED(HF_ERR_DIMENSION, hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.ldx = WORKSHOP_D;
    data.d = 0;
    REFUSED(HF_ERR_NO_DATA, hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.d = WORKSHOP_D;
    data.n = 0;
    REFUSED(HF_ERR_NO_DATA, hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.n = WORKSHOP_N;
    data.classes = 1;
    ARGUMENT(hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.classes = 2;
    data.label = NULL;
    ARGUMENT(hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.label = label;
    data.x = NULL;
    ARGUMENT(hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    data.x = w->x;
    memset(&settings, 0xAA, sizeof settings);
    settings.set_count = 0;
    settings.kernel = NULL;
    ARGUMENT(hf_classifier_fit(w->ctx, &data, &settings, &out, NULL));
    assert_null(out);
}

REFUSED_TEST(names)
REFUSED_TEST(evidences)
REFUSED_TEST(classifiers)
REFUSED_TEST(rules)
REFUSED_TEST(fits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_refuse),       cmocka_unit_test(evidences_refuse),
        cmocka_unit_test(classifiers_refuse), cmocka_unit_test(rules_refuse),
        cmocka_unit_test(fits_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
