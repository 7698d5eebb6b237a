/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what is about several classes fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/classify.h>
#include <holdfast/metrics.h>

static const size_t LABEL[WORKSHOP_N] = {0, 1, 2, 0, 1, 2, 2, 1, 0, 0, SIZE_MAX, 1};
static const char KERNEL[] = "coregion(x3, outputs=3, rank=1, factor=0, own=1)*constant*se";

static hf_status fit_with(workshop *w, bool own)
{
    const hf_class_data data = {.n = WORKSHOP_N,
                                .d = WORKSHOP_D,
                                .x = w->x,
                                .ldx = WORKSHOP_D,
                                .label = LABEL,
                                .classes = 3,
                                .names = (const char *const[]){"a", "class"}};
    hf_class_settings settings = hf_class_settings_default();
    hf_class_report report = {.labels = 77};
    hf_classifier *out = UNTOUCHED;
    settings.link = HF_LINK_SOFTMAX;
    settings.own_kernels = own;
    settings.iterations = 2;
    const hf_status s = hf_classifier_fit(w->ctx, &data, &settings, &out, &report);
    if (s < 0)
        assert_true(report.labels == 77);
    else
        hf_classifier_free(out);
    return settled(s, s < 0 ? out : NULL);
}

static hf_status fit_shared(workshop *w)
{
    return fit_with(w, false);
}

static hf_status fit_own(workshop *w)
{
    return fit_with(w, true);
}

static hf_status evidence_and_prediction(workshop *w)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_classifier *out = NULL;
    double value = 7.0, gradient[16], probability[3 * WORKSHOP_M] = {7.0};
    hf_status s = hf_kernel_parse(w->ctx, KERNEL, NULL, 3, &kernel);
    if (s >= 0) s = hf_mean_create(w->ctx, HF_MEAN_ZERO, 3, &mean);
    if (s >= 0)
        s = hf_class_evidence(w->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, kernel, mean, WORKSHOP_N, w->x,
                              WORKSHOP_D, LABEL, 3, &value, gradient);
    if (s < 0) assert_true(value == 7.0);
    if (s >= 0)
        s = hf_classify_exact(w->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_CORRECTED, kernel, mean, WORKSHOP_N, w->x,
                              WORKSHOP_D, LABEL, 3, &out, NULL);
    if (s >= 0)
        s = hf_classify_predict(w->ctx, out, WORKSHOP_M, w->at, WORKSHOP_D, probability, NULL, NULL, NULL,
                                NULL);
    if (s < 0) assert_true(probability[0] == 7.0);
    hf_classifier_free(out);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return s;
}

static hf_status scores(workshop *w)
{
    static const double probability[] = {0.2, 0.8, 0.6, 0.4};
    static const size_t label[] = {1, 0};
    hf_class_metrics metrics = {.n = 77};
    const hf_status s = hf_metrics_class(w->ctx, 2, 2, label, probability, 10, NULL, &metrics);
    assert_true(metrics.n == (s < 0 ? 77 : 2));
    return s;
}

static void classes_survive(void **state)
{
    (void)state;
    RUN(CASE(fit_shared, 20), CASE(fit_own, 20), CASE(evidence_and_prediction, 15), CASE(scores, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
