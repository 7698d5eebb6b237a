/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of labels of several classes: the maximum, units, missing labels, names, what is refused. */
#include "classify/labels.h"
#include "classify/softmax.h"

enum {
    CLASSES = 3
};

typedef struct rows {
    hf_context *ctx;
    double x[ROWS * INPUTS];
    size_t label[ROWS];
} rows;

static void make(rows *r)
{
    hfi_stream stream;
    r->ctx = hf_context_create();
    assert_non_null(r->ctx);
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < ROWS; i++) {
        r->label[i] = i % CLASSES;
        r->x[i * INPUTS] = hfi_stream_normal(&stream) + 1.5 * (r->label[i] == 1);
        r->x[i * INPUTS + 1] = hfi_stream_normal(&stream) + 1.5 * (r->label[i] == 2);
    }
}

static hf_class_settings softmax_settings(void)
{
    hf_class_settings settings = hf_class_settings_default();
    settings.link = HF_LINK_SOFTMAX;
    settings.kernel = "se(ard)";
    return settings;
}

static hf_class_data data_of(const rows *r)
{
    return (hf_class_data){
        .n = ROWS, .d = INPUTS, .x = r->x, .ldx = INPUTS, .label = r->label, .classes = CLASSES};
}

static hf_classifier *fit(rows *r, const hf_class_settings *settings, hf_class_report *report)
{
    const hf_class_data data = data_of(r);
    hf_classifier *out = NULL;
    if (hf_classifier_fit(r->ctx, &data, settings, &out, report) < 0)
        fail_msg("%s", hf_context_message(r->ctx));
    return out;
}

static void probabilities(rows *r, const hf_classifier *c, size_t m, const double *x, double *p)
{
    if (hf_classify_predict(r->ctx, c, m, x, INPUTS, p, NULL, NULL, NULL, NULL) != HF_OK)
        fail_msg("%s", hf_context_message(r->ctx));
}

/* The report's evidence is that at the hyperparameters of the posterior, where its gradient is 0 but for priors. */
static void training_ends_at_a_maximum(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        rows r;
        make(&r);
        hf_class_settings settings = softmax_settings();
        settings.standardise = settings.priors = false;
        settings.own_kernels = own;
        hf_class_report report, untrained;
        hf_classifier *c = fit(&r, &settings, &report);
        const hf_posterior *posterior = hf_classifier_posterior(c);
        const hf_kernel *kernel = hf_posterior_kernel(posterior);
        double value = NAN, gradient[32];
        assert_true(hf_kernel_parameters(kernel) + CLASSES <= 32);
        assert_int_equal(hf_class_evidence(r.ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, kernel,
                                           hf_posterior_mean_function(posterior), ROWS, r.x, INPUTS, r.label,
                                           CLASSES, &value, gradient),
                         HF_OK);
        assert_near(value, report.objective, 1e-7);
        for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
            hf_parameter p;
            assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
            if (!p.fixed && p.value > p.lower * 1.001 && p.value < p.upper * 0.999)
                assert_near(gradient[i], 0.0, 0.05);
        }
        assert_true(report.labels == ROWS && report.missing == 0 && report.evaluations > 3);
        settings.train = false;
        hf_classifier_free(fit(&r, &settings, &untrained));
        assert_true(report.objective > untrained.objective + 0.1);
        assert_true(untrained.stop == HF_STOP_NOT_TRAINED);
        hf_classifier_free(c);
        hf_context_free(r.ctx);
    }
}

static void own_hyperparameters_are_of_use(void **state)
{
    (void)state;
    rows r;
    hf_class_report shared, own;
    make(&r);
    hf_class_settings settings = softmax_settings();
    settings.priors = false;
    hf_classifier_free(fit(&r, &settings, &shared));
    settings.own_kernels = true;
    hf_classifier_free(fit(&r, &settings, &own));
    assert_true(own.objective > shared.objective - 1e-3);
    hf_context_free(r.ctx);
}

/* Inputs in other units, rows without a label, and a default that asks for another inference change nothing. */
static void units_and_missing_labels(void **state)
{
    (void)state;
    rows r, q;
    make(&r);
    make(&q);
    hf_class_settings settings = softmax_settings();
    hf_class_report report, scaled;
    double query[] = {0.2, 0.7, 3.0, -1.0}, p[2 * CLASSES], other[2 * CLASSES];
    r.label[5] = q.label[5] = HF_LABEL_MISSING;
    hf_classifier *c = fit(&r, &settings, &report);
    probabilities(&r, c, 2, query, p);
    for (size_t i = 0; i < ROWS; i++) q.x[i * INPUTS] = 1000.0 * q.x[i * INPUTS] - 7.0;
    for (size_t i = 0; i < 2; i++) query[2 * i] = 1000.0 * query[2 * i] - 7.0;
    hf_classifier *b = fit(&q, &settings, &scaled);
    probabilities(&q, b, 2, query, other);
    for (size_t k = 0; k < 2 * CLASSES; k++) assert_near(p[k], other[k], 1e-6);
    assert_true(report.labels == ROWS - 1 && report.missing == 1);
    assert_near(report.objective, scaled.objective, 1e-6);
    hf_classifier_free(b);
    hf_classifier_free(c);
    hf_context_free(q.ctx);
    hf_context_free(r.ctx);
}

static void given_values_are_held(void **state)
{
    (void)state;
    rows r;
    make(&r);
    const hf_assignment set[] = {{"lengthscale", 1.7}, {"mean", 0.3}};
    hf_class_settings settings = softmax_settings();
    settings.set = set;
    settings.set_count = 2;
    hf_classifier *c = fit(&r, &settings, NULL);
    const hf_kernel *kernel = hf_posterior_kernel(hf_classifier_posterior(c));
    size_t found = 0;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        found += strstr(p.name, "lengthscale") && p.fixed;
    }
    assert_int_equal(found, INPUTS);
    assert_near(hf_mean_values(hf_posterior_mean_function(hf_classifier_posterior(c)))[2], 0.3, 1e-15);
    hf_classifier_free(c);
    hf_context_free(r.ctx);
}

static void refused(rows *r, const hf_class_data *data, const hf_class_settings *settings, hf_status status,
                    const char *message)
{
    hf_classifier *out = NULL;
    assert_int_equal(hf_classifier_fit(r->ctx, data, settings, &out, NULL), status);
    assert_null(out);
    if (!strstr(hf_context_message(r->ctx), message)) fail_msg("%s", hf_context_message(r->ctx));
}

static void what_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"class", "it's"};
    rows r;
    make(&r);
    hf_class_data data = data_of(&r);
    hf_class_settings settings = softmax_settings();
    const hf_assignment noise = {"noise[1]", 0.1};
    settings.solver = HF_SOLVER_INDUCING;
    refused(&r, &data, &settings, HF_ERR_ARGUMENT, "solver inducing does not go with link softmax");
    settings = softmax_settings();
    settings.mean = HF_MEAN_LINEAR;
    refused(&r, &data, &settings, HF_ERR_ARGUMENT, "mean linear does not go with link softmax");
    settings = softmax_settings();
    settings.set = &noise;
    settings.set_count = 1;
    refused(&r, &data, &settings, HF_ERR_ARGUMENT, "no noise[1] to be set");
    settings = softmax_settings();
    settings.kernel = "nonsense";
    refused(&r, &data, &settings, HF_ERR_PARSE, "nonsense");
    settings = softmax_settings();
    data.classes = 4;
    refused(&r, &data, &settings, HF_ERR_NO_DATA, "no labelled row is of class 3");
    /* a feature may have the name that the number of the class would */
    data = data_of(&r);
    data.names = names;
    settings.iterations = 2;
    hf_classifier *c = NULL;
    assert_true(hf_classifier_fit(r.ctx, &data, &settings, &c, NULL) >= 0);
    assert_non_null(strstr(hf_kernel_expression(hf_posterior_kernel(hf_classifier_posterior(c))), "class_"));
    hf_classifier_free(c);
    hf_context_free(r.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_ends_at_a_maximum),
        cmocka_unit_test(own_hyperparameters_are_of_use),
        cmocka_unit_test(units_and_missing_labels),
        cmocka_unit_test(given_values_are_held),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
