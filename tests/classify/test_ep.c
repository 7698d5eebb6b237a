/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation of two classes: moments, fixed point, gradient, limits. */
#include "classify/labels.h"
#include "kernel/kernel.h"

static const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};

static double evidence(labels *l, hf_link link, double *gradient)
{
    double value = NAN;
    assert_int_equal(hf_class_evidence(l->ctx, link, HF_INFERENCE_EP, l->kernel, l->mean, ROWS, l->x, INPUTS,
                                       l->label, 2, &value, gradient),
                     HF_OK);
    return value;
}

/* By Simpson's rule over the latent value. */
static void slow_moments(hf_link link, double sign, double mean, double var, double *log_z, double *m,
                         double *v)
{
    enum {
        POINTS = 200000
    };
    /* The slope of a log likelihood is below 1 where the label is likely: the mode is between the mean and the further of 0 and a variance on. */
    const double sd = sqrt(var), far = sign * fmax(0.0, sign * mean + var), low = fmin(mean, far) - 12.0 * sd,
                 high = fmax(mean, far) + 12.0 * sd, h = (high - low) / POINTS;
    double top = -INFINITY;
    long double sums[3] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k <= POINTS; k++) {
            const double f = low + k * h, u = f - mean;
            const double log_p = hfi_class_density(link, sign, f).value - 0.5 * u * u / var;
            const double simpson = k == 0 || k == POINTS ? 1.0 : k % 2 ? 4.0 : 2.0;
            if (pass == 0) top = fmax(top, log_p);
            if (pass == 0) continue;
            const long double weight = (long double)simpson * expl((long double)(log_p - top));
            sums[0] += weight;
            sums[1] += weight * u;
            sums[2] += weight * u * u;
        }
    *log_z = top + (double)logl(sums[0] * h / 3.0L) - 0.5 * log(var) - HFI_HALF_LOG_2PI;
    *m = (double)(sums[1] / sums[0]);
    *v = (double)(sums[2] / sums[0]) - *m * *m;
}

static void tilted_moments_agree_with_an_integral(void **state)
{
    (void)state;
    const double means[] = {0.0, 0.7, -3.0, 12.0, -40.0}, vars[] = {1e-4, 0.3, 1.0, 9.0, 400.0};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < 5; j++)
                for (double sign = -1.0; sign < 2.0; sign += 2.0) {
                    double log_z, m, v;
                    const hfi_class_tilted t = hfi_class_tilt(links[k], sign, means[i], vars[j]);
                    slow_moments(links[k], sign, means[i], vars[j], &log_z, &m, &v);
                    assert_near(t.log_z, log_z, 1e-10 * (1.0 + fabs(log_z)));
                    assert_near(vars[j] * t.slope, m, 1e-10 * sqrt(vars[j]) * (1.0 + fabs(m)));
                    assert_near(vars[j] + vars[j] * vars[j] * t.bend, v, 1e-9 * vars[j]);
                }
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    const char *const expressions[] = {"se(ard)", "20*matern52 + linear + 0.1*white"};
    for (size_t e = 0; e < 2; e++)
        for (size_t k = 0; k < 2; k++) {
            labels l;
            labels_make(&l, expressions[e], HF_MEAN_LINEAR);
            const double start[] = {0.3, -0.2, 0.1};
            assert_int_equal(hf_mean_set(l.ctx, l.mean, start, false), HF_OK);
            const size_t kernel_count = hf_kernel_parameters(l.kernel), count = kernel_count + INPUTS + 1;
            double gradient[16], theta[16];
            assert_true(count <= 16);
            evidence(&l, links[k], gradient);
            hfi_kernel_theta(l.kernel, theta);
            memcpy(theta + kernel_count, start, sizeof start);
            for (size_t i = 0; i < count; i++) {
                double side[2];
                for (int s = 0; s < 2; s++) {
                    double moved[16];
                    memcpy(moved, theta, sizeof moved);
                    moved[i] += s ? 1e-5 : -1e-5;
                    hfi_kernel_set_theta(l.kernel, moved);
                    assert_int_equal(hf_mean_set(l.ctx, l.mean, moved + kernel_count, false), HF_OK);
                    side[s] = evidence(&l, links[k], NULL);
                }
                assert_near(gradient[i], (side[1] - side[0]) / 2e-5, 1e-7 * (1.0 + fabs(gradient[i])));
            }
            labels_free(&l);
        }
}

/* With one label everything is an integral in one dimension, of which EP has all moments. */
static void one_label_is_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        labels l;
        labels_make(&l, "5*se", HF_MEAN_CONSTANT);
        const double start = -0.8;
        assert_int_equal(hf_mean_set(l.ctx, l.mean, &start, false), HF_OK);
        hf_classifier *classifier = NULL;
        double value = NAN, log_z, m, v, mean, var;
        assert_int_equal(hf_classify_exact(l.ctx, links[k], HF_INFERENCE_EP, l.kernel, l.mean, 1, l.x, INPUTS,
                                           l.label, 2, &classifier, &value),
                         HF_OK);
        slow_moments(links[k], l.label[0] ? 1.0 : -1.0, start, 5.0, &log_z, &m, &v);
        assert_near(value, log_z, 1e-10);
        assert_int_equal(
            hf_classify_predict(l.ctx, classifier, 1, l.x, INPUTS, NULL, NULL, &mean, &var, NULL), HF_OK);
        assert_near(mean, start + m, 1e-9);
        assert_near(var, v, 1e-9);
        hf_classifier_free(classifier);
        labels_free(&l);
    }
}

/* May warn: many equal rows of one class under a wide prior leave the sites next to nothing to settle by. */
static void expect_finite(labels *l)
{
    for (size_t k = 0; k < 2; k++) {
        double value = NAN, gradient[8] = {NAN};
        const hf_status s = hf_class_evidence(l->ctx, links[k], HF_INFERENCE_EP, l->kernel, l->mean, ROWS,
                                              l->x, INPUTS, l->label, 2, &value, gradient);
        assert_true(s == HF_OK || s == HF_WARN_NOT_CONVERGED);
        assert_true(isfinite(value) && value < 0.0 && isfinite(gradient[0]) && isfinite(gradient[1]));
    }
}

static void extremes_stay_finite(void **state)
{
    (void)state;
    labels l;
    labels_make(&l, "400*se", HF_MEAN_ZERO);
    expect_finite(&l);
    for (size_t i = 0; i < ROWS; i++) l.label[i] = l.x[i * INPUTS] > 0.0; /* separable */
    expect_finite(&l);
    for (size_t i = 0; i < ROWS; i++) memcpy(l.x + i * INPUTS, l.x, INPUTS * sizeof *l.x);
    expect_finite(&l);
    for (size_t i = 0; i < ROWS; i++) l.label[i] = 1;
    expect_finite(&l);
    labels_free(&l);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        labels l;
        labels_make(&l, "3*se", HF_MEAN_ZERO);
        double one[8], two[8];
        assert_int_equal(hf_context_set_threads(l.ctx, 1), HF_OK);
        const double first = evidence(&l, links[k], one);
        assert_int_equal(hf_context_set_threads(l.ctx, 3), HF_OK);
        assert_true(evidence(&l, links[k], two) == first);
        assert_memory_equal(one, two, 2 * sizeof *one);
        labels_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tilted_moments_agree_with_an_integral),
        cmocka_unit_test(gradient_agrees_with_differences),
        cmocka_unit_test(one_label_is_exact),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(threads_change_no_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
