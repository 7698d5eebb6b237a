/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the classification calls fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/classify.h>

static const size_t two[WORKSHOP_N] = {0, 1, 1, 0, 1, HF_LABEL_MISSING, 0, 0, 1, 1, 0, 1};
static const size_t three[WORKSHOP_N] = {0, 1, 2, 0, 1, HF_LABEL_MISSING, 2, 0, 1, 2, 0, 1};

static hf_status evidence_by(workshop *w, hf_link link, hf_inference inference)
{
    double value = -77.0, gradient[16] = {0.0};
    const hf_status s = hf_class_evidence(w->ctx, link, inference, w->kernel, w->mean, WORKSHOP_N, w->x,
                                          WORKSHOP_D, two, 2, &value, gradient);
    assert_true((value == -77.0) == (s < 0));
    return s;
}

static hf_status laplace(workshop *w)
{
    return evidence_by(w, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE);
}

static hf_status propagation(workshop *w)
{
    return evidence_by(w, HF_LINK_PROBIT, HF_INFERENCE_EP);
}

static hf_status exact(workshop *w)
{
    hf_classifier *out = UNTOUCHED;
    double value = 0.0;
    const hf_status s = settled(hf_classify_exact(w->ctx, HF_LINK_PROBIT, HF_INFERENCE_EP, w->kernel, w->mean,
                                                  WORKSHOP_N, w->x, WORKSHOP_D, two, 2, &out, &value),
                                out);
    if (s >= 0) hf_classifier_free(out);
    return s;
}

static hf_status fit_by(workshop *w, hf_inference inference, hf_solver solver, hf_inducing_method method)
{
    const hf_class_data data = {
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .label = two, .classes = 2};
    hf_class_settings settings = hf_class_settings_default();
    settings.kernel = "se";
    settings.inference = inference;
    settings.solver = solver;
    settings.inducing = 5;
    settings.inducing_method = method;
    settings.iterations = 1;
    settings.restarts =
        solver == HF_SOLVER_EXACT ? 1 : 0; /* the sweep's cost is the square of the allocations */
    hf_classifier *out = UNTOUCHED;
    hf_class_report report;
    const hf_status s = settled(hf_classifier_fit(w->ctx, &data, &settings, &out, &report), out);
    if (s >= 0) hf_classifier_free(out);
    return s;
}

static hf_status fit_exact(workshop *w)
{
    return fit_by(w, HF_INFERENCE_EP, HF_SOLVER_EXACT, HF_INDUCING_FITC);
}

static hf_status fit_fitc(workshop *w)
{
    return fit_by(w, HF_INFERENCE_LAPLACE, HF_SOLVER_INDUCING, HF_INDUCING_FITC);
}

static hf_status fit_vfe(workshop *w)
{
    return fit_by(w, HF_INFERENCE_EP, HF_SOLVER_INDUCING, HF_INDUCING_VFE);
}

/* A classifier that no failing allocation had a part in. */
static hf_classifier *given(const workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_classifier *out = NULL;
    assert_true(hf_classify_exact(ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, w->kernel, w->mean, WORKSHOP_N,
                                  w->x, WORKSHOP_D, two, 2, &out, NULL) >= 0);
    hf_context_free(ctx);
    return out;
}

static hf_status predict(workshop *w)
{
    hf_classifier *classifier = given(w);
    double p[2 * WORKSHOP_M] = {-77.0}, error[WORKSHOP_M];
    size_t winner[WORKSHOP_M];
    const hf_status s =
        hf_classify_predict(w->ctx, classifier, WORKSHOP_M, w->at, WORKSHOP_D, p, winner, NULL, NULL, error);
    assert_true((p[0] == -77.0) == (s < 0));
    hf_classifier_free(classifier);
    return s;
}

static hf_status create(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *posterior = NULL;
    assert_true(hf_solve_exact(ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &posterior) >= 0);
    hf_classifier *out = UNTOUCHED;
    const hf_status s = settled(hf_classifier_create(w->ctx, posterior, HF_LINK_PROBIT, 2, &out), out);
    if (s >= 0)
        hf_classifier_free(out);
    else
        hf_posterior_free(posterior);
    hf_context_free(ctx);
    return s;
}

static void two_classes_survive(void **state)
{
    (void)state;
    RUN(CASE(laplace, 8), CASE(propagation, 10), CASE(exact, 15), CASE(fit_exact, 20), CASE(fit_fitc, 20),
        CASE(fit_vfe, 20), CASE(predict, 2), CASE(create, 1));
}

/* Kernel and mean have one input more, the number of the class; they are made with another context, in which
 * nothing fails. */
static hf_status by_softmax(workshop *w, bool classifier)
{
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_classifier *out = UNTOUCHED;
    double value = -77.0;
    const char *expression = "coregion(x3, outputs=3, rank=1, factor=0, own=1)*constant*(matern52(ard))";
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, WORKSHOP_D + 1, &kernel), HF_OK);
    assert_int_equal(hf_mean_create_outputs(ctx, WORKSHOP_D + 1, 3, &mean), HF_OK);
    hf_status s = classifier ? hf_classify_exact(w->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, kernel, mean,
                                                 WORKSHOP_N, w->x, WORKSHOP_D, three, 3, &out, &value)
                             : hf_class_evidence(w->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, kernel, mean,
                                                 WORKSHOP_N, w->x, WORKSHOP_D, three, 3, &value, NULL);
    s = settled(s, out);
    assert_true((value == -77.0) == (s < 0));
    if (s >= 0 && classifier) hf_classifier_free(out);
    hf_kernel_free(kernel);
    hf_mean_free(mean);
    hf_context_free(ctx);
    return s;
}

static hf_status softmax(workshop *w)
{
    return by_softmax(w, false);
}

static hf_status softmax_exact(workshop *w)
{
    return by_softmax(w, true);
}

static void several_classes_survive(void **state)
{
    (void)state;
    RUN(CASE(softmax, 5), CASE(softmax_exact, 10));
}

static hf_status questions(workshop *w)
{
    hf_classifier *classifier = given(w);
    const hf_class_rule rule = {sizeof(hf_class_rule), 1.5, 0.2, NULL};
    double threshold = 0.0;
    assert_int_equal(hf_class_threshold(w->ctx, 1.0, 3.0, &threshold), HF_OK);
    assert_int_equal(hf_classifier_set_rule(w->ctx, classifier, &rule), HF_OK);
    assert_true(hf_classifier_rule(classifier)->lambda == 1.5 && hf_class_rule_default().lambda == 1.0);
    hf_classifier_free(classifier);
    hf_link link = HF_LINK_PROBIT;
    hf_inference inference = HF_INFERENCE_EP;
    double p = 0.0, error = 0.0;
    const double loss[] = {0.0, 3.0, 1.0, 0.0};
    classifier = given(w);
    assert_int_equal(
        hf_classifier_set_rule(w->ctx, classifier, &(hf_class_rule){sizeof(hf_class_rule), 1.0, 0.5, loss}),
        HF_OK);
    assert_true(hf_classifier_rule(classifier)->threshold == 0.25 &&
                hf_classifier_rule(classifier)->loss != loss);
    hf_classifier_free(classifier);
    hf_class_expected_loss(1, NULL, &p, &error);
    assert_true(error == 1.0);
    assert_int_equal(hf_enum_parse(NULL, HF_ENUM_LINK, "logit", &link), HF_OK);
    assert_int_equal(hf_enum_parse(NULL, HF_ENUM_INFERENCE, "laplace", &inference), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_LINK, link), "logit");
    assert_string_equal(hf_enum_name(HF_ENUM_INFERENCE, inference), "laplace");
    assert_int_equal(hf_class_probability(link, 0.3, 2.0, &p, &error), HF_OK);
    assert_true(hf_class_settings_default().set_count == 0);
    assert_null(hf_classifier_posterior(NULL));
    assert_int_equal(hf_classifier_classes(NULL), 0);
    assert_int_equal(hf_classifier_link(NULL), HF_LINK_PROBIT);
    return HF_OK;
}

static void questions_need_no_memory(void **state)
{
    (void)state;
    RUN(CASE(questions, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes_survive),
        cmocka_unit_test(several_classes_survive),
        cmocka_unit_test(questions_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
