/* SPDX-License-Identifier: Apache-2.0 */
/* Log likelihoods of labels, and probabilities of normal latent values. */
#include "classify/labels.h"
#include "core/normal.h"

static const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};

static void likelihoods_are_log_probabilities(void **state)
{
    (void)state;
    for (double f = -3.5; f < 3.6; f += 0.5) {
        const double phi = 0.5 * erfc(-f / sqrt(2.0));
        assert_near(label_density(HF_LINK_PROBIT, 1.0, f).value, log(phi), 1e-13);
        assert_near(label_density(HF_LINK_PROBIT, -1.0, -f).value, log(phi), 1e-13);
        assert_near(label_density(HF_LINK_LOGIT, 1.0, f).value, -log(1.0 + exp(-f)), 1e-14);
        assert_near(exp(label_density(HF_LINK_LOGIT, 1.0, f).value) +
                        exp(label_density(HF_LINK_LOGIT, -1.0, f).value),
                    1.0, 1e-14);
    }
}

/* Each derivative against a difference of the one before it, also across the place where the far tail begins. */
static void derivatives_agree_with_differences(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (double sign = -1.0; sign < 2.0; sign += 2.0)
            for (double f = -30.0; f < 30.0; f += 0.37) {
                const double h = 1e-4;
                const hfi_likelihood_slopes at = label_density(links[k], sign, f),
                                            up = label_density(links[k], sign, f + h),
                                            down = label_density(links[k], sign, f - h);
                assert_near(at.f, (up.value - down.value) / (2.0 * h), 1e-7 * (1.0 + fabs(at.f)));
                assert_near(-at.w, (up.f - down.f) / (2.0 * h), 1e-7);
                assert_near(-at.fff, (up.w - down.w) / (2.0 * h), 1e-7);
            }
}

/* Where the label is most improbable: asymptotic series of Mills' ratio. */
static void far_tail_keeps_its_digits(void **state)
{
    (void)state;
    for (double t = 100.0; t < 1e9; t *= 10.0) {
        const hfi_likelihood_slopes at = label_density(HF_LINK_PROBIT, 1.0, -t);
        const double s = 1.0 / (t * t);
        assert_near(at.f / (t * (1.0 + s * (1.0 - 2.0 * s))), 1.0, 20.0 * s * s * s + 1e-15);
        assert_near(at.w / (1.0 - s * (1.0 - 6.0 * s)), 1.0, 200.0 * s * s * s + 1e-15);
        assert_near(at.fff / (2.0 * s / t), 1.0, 20.0 * s + 1e-12);
        assert_true(at.w > 0.0 && at.w <= 1.0);
    }
    assert_near(hfi_log_normal_cdf(-40.0), -804.60844201375379, 1e-11);
}

static void probit_probability_is_the_closed_form(void **state)
{
    (void)state;
    double p = 0.0, error = 1.0;
    assert_int_equal(hf_class_probability(HF_LINK_PROBIT, 0.7, 0.0, &p, &error), HF_OK);
    assert_near(p, 0.5 * erfc(-0.7 / sqrt(2.0)), 1e-15);
    assert_true(error == 0.0);
    assert_int_equal(hf_class_probability(HF_LINK_PROBIT, 3.0, 8.0, &p, NULL), HF_OK);
    assert_near(p, 0.5 * erfc(-1.0 / sqrt(2.0)), 1e-15);
}

/* By Simpson's rule, at many points, of the integral as it stands. */
static double slow_logit(double mean, double sd)
{
    enum {
        POINTS = 400000
    };
    const double h = 24.0 / POINTS;
    long double sum = 0.0L;
    for (int k = 0; k <= POINTS; k++) {
        const double t = -12.0 + k * h, weight = k == 0 || k == POINTS ? 1.0 : k % 2 ? 4.0 : 2.0;
        sum += (long double)weight * exp(-0.5 * t * t - HFI_HALF_LOG_2PI) / (1.0 + exp(-(mean + sd * t)));
    }
    return (double)sum * h / 3.0;
}

static void logit_probability_keeps_its_bound(void **state)
{
    (void)state;
    const double means[] = {0.0, 1e-3, 0.5, -2.0, 7.0, -30.0, 200.0},
                 sds[] = {0.0, 1e-6, 0.3, 0.999, 1.001, 3.0, 20.0, 300.0};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 8; j++) {
            double p = -1.0, error = -1.0, other = -1.0;
            assert_int_equal(hf_class_probability(HF_LINK_LOGIT, means[i], sds[j] * sds[j], &p, &error),
                             HF_OK);
            assert_near(p, slow_logit(means[i], sds[j]), error + 2e-14);
            assert_true(error > 0.0 && error < 1e-13);
            assert_int_equal(hf_class_probability(HF_LINK_LOGIT, -means[i], sds[j] * sds[j], &other, NULL),
                             HF_OK);
            assert_near(p + other, 1.0, 2.0 * error);
        }
}

static void impossible_questions_are_refused(void **state)
{
    (void)state;
    double p = 3.0, error = 4.0;
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, 0.0, -1e-3, &p, &error), HF_ERR_ARGUMENT);
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, NAN, 1.0, &p, &error), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_class_probability(HF_LINK_PROBIT, 0.0, INFINITY, &p, &error), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_class_probability((hf_link)77, 0.0, 1.0, &p, &error), HF_ERR_ARGUMENT);
    assert_int_equal(hf_class_probability(HF_LINK_LOGIT, 0.0, 1.0, NULL, &error), HF_ERR_ARGUMENT);
    assert_true(p == 3.0 && error == 4.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihoods_are_log_probabilities),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(far_tail_keeps_its_digits),
        cmocka_unit_test(probit_probability_is_the_closed_form),
        cmocka_unit_test(logit_probability_keeps_its_bound),
        cmocka_unit_test(impossible_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
