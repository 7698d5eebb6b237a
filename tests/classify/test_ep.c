/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation of two classes: moments, fixed point, gradient, limits. */
#include "classify/labels.h"

static const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};

static double evidence(labels *l, hf_link link, double *gradient)
{
    return labels_evidence(l, link, HF_INFERENCE_EP, gradient);
}

/* By the trapezoidal rule over the latent value. It is exact to rounding where the step is short beside the
 * likelihood and the ends are far. */
static void slow_moments(hf_link link, double sign, double mean, double var, double *log_z, double *m,
                         double *v)
{
    enum {
        POINTS = 20000
    };
    /* The slope of a log likelihood is below 1 where the label is likely: the mode is between the mean and
     * the further of 0 and a variance on. */
    const double sd = sqrt(var), far = sign * fmax(0.0, sign * mean + var), low = fmin(mean, far) - 12.0 * sd,
                 high = fmax(mean, far) + 12.0 * sd, h = (high - low) / POINTS;
    double top = -INFINITY;
    long double sums[3] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k <= POINTS; k++) {
            const double f = low + k * h, u = f - mean;
            const double log_p = label_density(link, sign, f).value - 0.5 * u * u / var;
            if (pass == 0) top = fmax(top, log_p);
            if (pass == 0) continue;
            const long double weight = expl((long double)(log_p - top));
            sums[0] += weight;
            sums[1] += weight * u;
            sums[2] += weight * u * u;
        }
    *log_z = top + (double)logl(sums[0] * h) - 0.5 * log(var) - HFI_HALF_LOG_2PI;
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
                for (int label = 0; label < 2; label++) {
                    const double sign = label ? 1.0 : -1.0;
                    double log_z, m, v;
                    const hfi_likelihood_tilted t = label_tilt(links[k], sign, means[i], vars[j]);
                    slow_moments(links[k], sign, means[i], vars[j], &log_z, &m, &v);
                    assert_near(t.log_z, log_z, 1e-10 * (1.0 + fabs(log_z)));
                    assert_near(vars[j] * t.slope, m, 1e-10 * sqrt(vars[j]) * (1.0 + fabs(m)));
                    assert_near(vars[j] + vars[j] * vars[j] * t.curvature, v, 1e-9 * vars[j]);
                }
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        labels_compare_gradient("se(ard)", links[k], HF_INFERENCE_EP, 1e-8);
        labels_compare_gradient("20*matern52 + linear + 0.1*white", links[k], HF_INFERENCE_EP, 1e-8);
    }
}

/* Site after site, each followed by the whole posterior, as in Rasmussen and Williams's algorithm 3.5: mean
 * and variance of the latent values less the prior mean. */
static void one_after_the_other(const labels *l, hf_link link, double offset, double *mean, double *sigma)
{
    double w[ROWS] = {0}, linear[ROWS] = {0}, column[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            sigma[i * ROWS + j] = hfi_kernel_value(l->kernel, l->x + i * INPUTS, l->x + j * INPUTS, i == j);
    memset(mean, 0, ROWS * sizeof *mean);
    for (int sweep = 0; sweep < 300; sweep++)
        for (size_t i = 0; i < ROWS; i++) {
            const double v = sigma[i * (ROWS + 1)], left = 1.0 - w[i] * v, cavity_v = v / left,
                         cavity = (mean[i] - v * linear[i]) / left;
            const hfi_likelihood_tilted t =
                label_tilt(link, l->label[i] ? 1.0 : -1.0, offset + cavity, cavity_v);
            const double share = 1.0 + cavity_v * t.curvature, more = -t.curvature / share - w[i];
            w[i] += more;
            linear[i] = (t.slope - cavity * t.curvature) / share;
            memcpy(column, sigma + i * ROWS, sizeof column);
            for (size_t a = 0; a < ROWS; a++)
                for (size_t b = 0; b < ROWS; b++)
                    sigma[a * ROWS + b] -= more / (1.0 + more * v) * column[a] * column[b];
            for (size_t a = 0; a < ROWS; a++) {
                mean[a] = 0.0;
                for (size_t b = 0; b < ROWS; b++) mean[a] += sigma[a * ROWS + b] * linear[b];
            }
        }
}

static void fixed_point_is_that_of_one_after_the_other(void **state)
{
    (void)state;
    static const char *const kernels[] = {"2*se", "30*matern52", "1000*se(lengthscale=0.7)"};
    for (size_t e = 0; e < 3; e++)
        for (size_t k = 0; k < 2; k++) {
            labels l;
            labels_make(&l, kernels[e], HF_MEAN_CONSTANT);
            const double offset = -0.4;
            assert_int_equal(hf_mean_set(l.ctx, l.mean, &offset, false), HF_OK);
            double mean[ROWS], var[ROWS], slow[ROWS], sigma[ROWS * ROWS];
            hf_classifier *c = NULL;
            assert_int_equal(hf_classify_exact(l.ctx, links[k], HF_INFERENCE_EP, l.kernel, l.mean, ROWS, l.x,
                                               INPUTS, l.label, 2, &c, NULL),
                             HF_OK);
            assert_int_equal(hf_classify_predict(l.ctx, c, ROWS, l.x, INPUTS, NULL, NULL, mean, var, NULL),
                             HF_OK);
            one_after_the_other(&l, links[k], offset, slow, sigma);
            for (size_t i = 0; i < ROWS; i++) {
                assert_near(var[i], sigma[i * (ROWS + 1)], 1e-8 * var[i]);
                assert_near(mean[i], offset + slow[i], 1e-8 * sqrt(var[i]));
            }
            hf_classifier_free(c);
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
        cmocka_unit_test(fixed_point_is_that_of_one_after_the_other),
        cmocka_unit_test(one_label_is_exact),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(threads_change_no_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
