/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of labels: the maximum, units, missing labels, order of rows, what is refused. */
#include "classify/labels.h"

static const hf_inducing_method methods[] = {HF_INDUCING_VFE, HF_INDUCING_FITC, HF_INDUCING_DTC};

static hf_class_data data_of(const labels *l)
{
    return (hf_class_data){.n = ROWS, .d = INPUTS, .x = l->x, .ldx = INPUTS, .label = l->label, .classes = 2};
}

static hf_classifier *fit(labels *l, const hf_class_settings *settings, hf_class_report *report)
{
    const hf_class_data data = data_of(l);
    hf_classifier *out = NULL;
    const hf_status s = hf_classifier_fit(l->ctx, &data, settings, &out, report);
    if (s != HF_OK) print_error("%s\n", hf_context_message(l->ctx));
    assert_true(s >= 0);
    assert_non_null(out);
    return out;
}

static void ask(labels *l, const hf_classifier *c, const double *x, double p[2])
{
    assert_int_equal(hf_classify_predict(l->ctx, c, 1, x, INPUTS, p, NULL, NULL, NULL, NULL), HF_OK);
}

/* The report's evidence is that at the hyperparameters of the posterior, and no step from there gains. */
static void training_ends_at_a_maximum(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        labels l;
        labels_make(&l, "se", HF_MEAN_CONSTANT);
        hf_class_settings settings = hf_class_settings_default();
        settings.kernel = "se(ard)";
        settings.link = k % 2 ? HF_LINK_LOGIT : HF_LINK_PROBIT;
        settings.inference = k / 2 ? HF_INFERENCE_EP : HF_INFERENCE_LAPLACE;
        settings.standardise = false;
        hf_class_report report;
        hf_classifier *c = fit(&l, &settings, &report);
        const hf_posterior *posterior = hf_classifier_posterior(c);
        double value = NAN, gradient[8];
        assert_int_equal(hf_class_evidence(l.ctx, settings.link, settings.inference,
                                           hf_posterior_kernel(posterior),
                                           hf_posterior_mean_function(posterior), ROWS, l.x, INPUTS, l.label,
                                           2, &value, gradient),
                         HF_OK);
        assert_near(value, report.objective, 1e-7);
        assert_near(gradient[3], 0.0, 0.05); /* the mean has no prior */
        assert_true(report.stop == HF_STOP_CONVERGED && report.labels == ROWS && report.missing == 0);
        settings.train = false;
        hf_class_report untrained;
        hf_classifier_free(fit(&l, &settings, &untrained));
        assert_true(report.objective > untrained.objective);
        hf_classifier_free(c);
        labels_free(&l);
    }
}

static void units_of_inputs_change_nothing(void **state)
{
    (void)state;
    labels l, other;
    labels_make(&l, "se", HF_MEAN_ZERO);
    labels_make(&other, "se", HF_MEAN_ZERO);
    for (size_t i = 0; i < ROWS; i++) other.x[i * INPUTS] = 1000.0 * l.x[i * INPUTS] - 7.0;
    const hf_class_settings settings = hf_class_settings_default();
    hf_classifier *a = fit(&l, &settings, NULL), *b = fit(&other, &settings, NULL);
    for (double u = -2.0; u < 2.1; u += 1.0) {
        const double x[] = {u, 0.3}, y[] = {1000.0 * u - 7.0, 0.3};
        double p[2], q[2];
        ask(&l, a, x, p);
        ask(&other, b, y, q);
        assert_near(p[1], q[1], 1e-4);
    }
    hf_classifier_free(a);
    hf_classifier_free(b);
    labels_free(&l);
    labels_free(&other);
}

static void order_of_rows_changes_nothing(void **state)
{
    (void)state;
    labels l, other;
    labels_make(&l, "se", HF_MEAN_ZERO);
    labels_make(&other, "se", HF_MEAN_ZERO);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t from = (7 * i + 3) % ROWS;
        memcpy(other.x + i * INPUTS, l.x + from * INPUTS, INPUTS * sizeof *l.x);
        other.label[i] = l.label[from];
    }
    hf_class_settings settings = hf_class_settings_default();
    settings.inference = HF_INFERENCE_LAPLACE;
    hf_classifier *a = fit(&l, &settings, NULL), *b = fit(&other, &settings, NULL);
    const double x[] = {0.4, -0.2};
    double p[2], q[2];
    ask(&l, a, x, p);
    ask(&other, b, x, q);
    assert_near(p[1], q[1], 1e-5);
    hf_classifier_free(a);
    hf_classifier_free(b);
    labels_free(&l);
    labels_free(&other);
}

/* Every method of inducing inputs, with as many as half of the rows, is near the exact fit. */
static void inducing_fits_are_near(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "se", HF_MEAN_ZERO);
    hf_class_settings settings = hf_class_settings_default();
    settings.kernel = "se";
    hf_class_report exact, report;
    hf_classifier *all = fit(&l, &settings, &exact);
    const double x[] = {0.4, -0.2};
    double p[2], q[2];
    ask(&l, all, x, p);
    for (int k = 0; k < 6; k++) {
        settings.inference = k % 2 ? HF_INFERENCE_EP : HF_INFERENCE_LAPLACE;
        settings.solver = HF_SOLVER_INDUCING;
        settings.inducing = 20;
        settings.inducing_method = methods[k / 2];
        hf_classifier *c = fit(&l, &settings, &report);
        assert_int_equal(hf_posterior_solver(hf_classifier_posterior(c)), HF_SOLVER_INDUCING);
        assert_true(report.inducing > 0 && report.inducing <= 20);
        assert_near(report.objective, exact.objective, 1.0);
        ask(&l, c, x, q);
        assert_near(q[1], p[1], 0.05);
        hf_classifier_free(c);
    }
    hf_classifier_free(all);
    labels_free(&l);
}

static void given_values_are_held(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "se", HF_MEAN_ZERO);
    const hf_assignment set[] = {{"outputscale", 4.0}, {"mean", -0.5}};
    hf_class_settings settings = hf_class_settings_default();
    settings.kernel = "se";
    settings.set = set;
    settings.set_count = 2;
    hf_classifier *c = fit(&l, &settings, NULL);
    const double far[] = {1e6, 1e6};
    double mean = NAN, var = NAN;
    assert_int_equal(hf_classify_predict(l.ctx, c, 1, far, INPUTS, NULL, NULL, &mean, &var, NULL), HF_OK);
    assert_near(mean, -0.5, 1e-12);
    assert_near(var, 4.0, 1e-12);
    hf_classifier_free(c);
    labels_free(&l);
}

static void refuse(labels *l, const hf_class_data *data, const hf_class_settings *settings, hf_status wanted,
                   const char *words)
{
    hf_classifier *out = (hf_classifier *)&words;
    assert_int_equal(hf_classifier_fit(l->ctx, data, settings, &out, NULL), wanted);
    assert_non_null(strstr(hf_context_message(l->ctx), words));
    assert_ptr_equal(out, &words);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "se", HF_MEAN_ZERO);
    const char *const names[] = {"ham", "spam"};
    hf_class_data data = data_of(&l);
    hf_class_settings settings = hf_class_settings_default();
    data.class_names = names;
    l.label[3] = 2;
    refuse(&l, &data, &settings, HF_ERR_ARGUMENT, "row 4 has label 2");
    for (size_t i = 0; i < ROWS; i++) l.label[i] = i ? 1 : HF_LABEL_MISSING;
    refuse(&l, &data, &settings, HF_ERR_NO_DATA, "all labelled rows are of one class, number 1 spam");
    l.label[0] = 0;
    l.x[5] = NAN;
    refuse(&l, &data, &settings, HF_ERR_NOT_FINITE, "row 3");
    l.x[5] = 0.0;
    settings.mean = HF_MEAN_MEDIAN;
    refuse(&l, &data, &settings, HF_ERR_ARGUMENT, "no median");
    settings.mean = HF_MEAN_ZERO;
    settings.solver = HF_SOLVER_PROJECTED;
    refuse(&l, &data, &settings, HF_ERR_ARGUMENT, "projected");
    settings.solver = HF_SOLVER_AUTO;
    const hf_assignment noise = {"noise", 1.0};
    settings.set = &noise;
    settings.set_count = 1;
    refuse(&l, &data, &settings, HF_ERR_ARGUMENT, "no noise");
    settings.set_count = 0;
    settings.kernel = "sponge";
    refuse(&l, &data, &settings, HF_ERR_PARSE, "sponge");
    settings.kernel = NULL;
    settings.inference = (hf_inference)99;
    refuse(&l, &data, &settings, HF_ERR_ARGUMENT, "there is no choice of inference '99'");
    labels_free(&l);
}

static void fits_of_labels_are_told(void **state)
{
    (void)state;
    static const char *const cases[][5] = {
        {"probit", "solver", "projected", "solver projected does not go with link probit"},
        {"softmax", "solver", "inducing", "solver inducing does not go with link softmax"},
        {"logit", "mean", "median", "mean median does not go with link logit"},
        {"softmax", "mean", "linear", "mean linear does not go with link softmax"},
        {"softmax", "inference", "ep", "inference ep does not go with link softmax"},
        {"probit", "inference", "corrected", "inference corrected does not go with link probit"},
    };
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_class_settings s = hf_class_settings_default();
        assert_int_equal(hf_settings_set(ctx, hf_class_settings_table(), &s, "link", cases[k][0]), HF_OK);
        assert_int_equal(hf_settings_set(ctx, hf_class_settings_table(), &s, cases[k][1], cases[k][2]),
                         HF_OK);
        assert_int_equal(hf_settings_check(ctx, hf_class_settings_table(), &s, 1, NULL, NULL),
                         HF_ERR_ARGUMENT);
        if (!strstr(hf_context_message(ctx), cases[k][3]))
            fail_msg("%s, but: %s", cases[k][3], hf_context_message(ctx));
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_ends_at_a_maximum),    cmocka_unit_test(units_of_inputs_change_nothing),
        cmocka_unit_test(order_of_rows_changes_nothing), cmocka_unit_test(inducing_fits_are_near),
        cmocka_unit_test(given_values_are_held),         cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(fits_of_labels_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
