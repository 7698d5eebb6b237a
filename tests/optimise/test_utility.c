/* SPDX-License-Identifier: Apache-2.0 */
/* Expected log utilities: against sums over many points, limits, and difference quotients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "optimise/eulbo.h"
#include <stdlib.h>
#include <string.h>

static void softplus_has_its_logarithm_everywhere(void **state)
{
    (void)state;
    const double r[] = {-700.0, -40.0, -36.1, -35.9, -3.0, 0.0, 0.5, 40.0, 1e8};
    for (size_t k = 0; k < sizeof r / sizeof *r; k++) {
        double slope, ignored;
        const long double exact = logl(r[k] > 0.0 ? (long double)r[k] + log1pl(expl(-(long double)r[k]))
                                                  : log1pl(expl((long double)r[k])));
        assert_near(hfi_log_softplus(r[k], &slope), (double)exact, 2e-15 * fmax(1.0, fabs((double)exact)));
        assert_near(hfi_log_softplus(r[k], NULL), (double)exact, 2e-15 * fmax(1.0, fabs((double)exact)));
        const double h = 1e-4 * fmax(1.0, r[k]);
        const double difference =
            (hfi_log_softplus(r[k] + h, &ignored) - hfi_log_softplus(r[k] - h, &ignored)) / (2.0 * h);
        assert_near(slope, difference, 1e-7 * fabs(slope) + 1e-11 * fabs(r[k]));
    }
    double slope;
    assert_true(hfi_log_softplus(-1e300, &slope) == -1e300 && slope == 1.0);
}

/* The rule of 20 nodes is exact for polynomials up to degree 39. */
static void the_rule_knows_the_moments(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hfi_utility u;
    assert_int_equal(hfi_utility_init(ctx, 1, 7, &u), HF_OK);
    double expected = 1.0;
    for (int power = 0; power <= 38; power += 2) {
        double sum = 0.0, odd = 0.0;
        for (size_t k = 0; k < HFI_UTILITY_NODES; k++) {
            sum += u.weight[k] * pow(u.node[k], power);
            odd += u.weight[k] * pow(u.node[k], power + 1);
        }
        assert_near(sum, expected, 1e-12 * expected);
        assert_near(odd, 0.0, 1e-12 * expected);
        expected *= (double)(power + 1);
    }
    hfi_utility_free(&u);
    hf_context_free(ctx);
}

/* E[log softplus] or log E[softplus] by a fine sum over the normal density. */
static double fine_sum(bool expected_log, double mean, double sd, double best, double unit)
{
    double sum = 0.0, total = 0.0;
    for (int k = -4000; k <= 4000; k++) {
        const double e = 0.0025 * k, w = exp(-0.5 * e * e);
        const double log_u = hfi_log_softplus((mean + sd * e - best) / unit, NULL);
        sum += w * (expected_log ? log_u : exp(log_u));
        total += w;
    }
    return expected_log ? sum / total : log(sum / total);
}

static void one_point(bool expected_log)
{
    hf_context *ctx = hf_context_create();
    hfi_utility u;
    assert_int_equal(hfi_utility_init(ctx, 1, 1, &u), HF_OK);
    u.expected_log = expected_log;
    u.best = 0.7;
    u.unit = 2.0;
    for (int place = 0; place < 9; place++)
        for (int width = 0; width < 4; width++) {
            const double mean = -9.0 + 1.7 * place, sd = 0.01 * pow(5.0, width);
            double by_mean, by_variance, ignored[2];
            const double value = hfi_utility_single(&u, mean, sd * sd, &by_mean, &by_variance);
            assert_near(value, fine_sum(expected_log, mean, sd, 0.7, 2.0), 1e-7);
            const double h = 1e-4, v = 1e-4 * sd * sd;
            const double of_mean = (hfi_utility_single(&u, mean + h, sd * sd, ignored, ignored + 1) -
                                    hfi_utility_single(&u, mean - h, sd * sd, ignored, ignored + 1)) /
                                   (2.0 * h);
            const double of_variance = (hfi_utility_single(&u, mean, sd * sd + v, ignored, ignored + 1) -
                                        hfi_utility_single(&u, mean, sd * sd - v, ignored, ignored + 1)) /
                                       (2.0 * v);
            assert_near(by_mean, of_mean, 1e-7 * fabs(by_mean));
            assert_near(by_variance, of_variance, 1e-6 * fabs(by_variance) + 1e-14 / v);
        }
    /* Nothing is left of the variance: the limit from above. */
    double at_zero, near_zero, ignored;
    (void)hfi_utility_single(&u, 1.0, 0.0, &ignored, &at_zero);
    (void)hfi_utility_single(&u, 1.0, 1e-6, &ignored, &near_zero);
    assert_near(at_zero, near_zero, 1e-5 * fabs(at_zero));
    hfi_utility_free(&u);
    hf_context_free(ctx);
}

static void one_point_by_quadrature(void **state)
{
    (void)state;
    one_point(true);
    one_point(false);
    /* Far below, where u itself is 0. */
    hf_context *ctx = hf_context_create();
    hfi_utility u;
    double by_mean, by_variance;
    assert_int_equal(hfi_utility_init(ctx, 1, 1, &u), HF_OK);
    u.expected_log = false;
    u.best = 1e4;
    assert_near(hfi_utility_single(&u, 0.0, 4.0, &by_mean, &by_variance), -1e4 + 2.0, 1e-6);
    assert_near(by_mean, 1.0, 1e-9);
    assert_near(by_variance, 0.5, 1e-6); /* log E exp(f) = mean + variance / 2 */
    hfi_utility_free(&u);
    hf_context_free(ctx);
}

enum {
    POINTS = 3
};

static void make_covariance(double *cov)
{
    const double l[] = {1.1, 0.0, 0.0, 0.4, 0.9, 0.0, -0.3, 0.2, 0.5};
    for (size_t a = 0; a < POINTS; a++)
        for (size_t b = 0; b < POINTS; b++) {
            cov[a + b * POINTS] = 0.0;
            for (size_t k = 0; k < POINTS; k++) cov[a + b * POINTS] += l[a * POINTS + k] * l[b * POINTS + k];
        }
}

static double batch_value(hfi_utility *u, const double *mean, const double *cov)
{
    double value, mean_bar[POINTS], cov_bar[POINTS * POINTS];
    assert_true(hfi_utility_add(u, POINTS, mean, cov, &value, mean_bar, cov_bar) >= 0);
    return value;
}

static void several_points(bool expected_log)
{
    hf_context *ctx = hf_context_create();
    hfi_utility u;
    assert_int_equal(hfi_utility_init(ctx, POINTS, 32, &u), HF_OK);
    u.expected_log = expected_log;
    u.best = 0.4;
    u.unit = 1.5;
    double mean[] = {0.1, 0.3, -0.2}, cov[POINTS * POINTS], mean_bar[POINTS], cov_bar[POINTS * POINTS], value;
    make_covariance(cov);
    assert_true(hfi_utility_add(&u, POINTS, mean, cov, &value, mean_bar, cov_bar) >= 0);
    const double h = 1e-6; /* so little that no draw changes its largest point */
    double total = 0.0;
    for (size_t a = 0; a < POINTS; a++) {
        const double kept = mean[a];
        mean[a] = kept + h;
        const double up = batch_value(&u, mean, cov);
        mean[a] = kept - h;
        assert_near(mean_bar[a], (up - batch_value(&u, mean, cov)) / (2.0 * h), 1e-8);
        mean[a] = kept;
        total += mean_bar[a];
    }
    assert_true(total > 0.1);
    for (size_t a = 0; a < POINTS; a++)
        for (size_t b = 0; b <= a; b++) {
            double other[POINTS * POINTS];
            memcpy(other, cov, sizeof cov);
            other[a + b * POINTS] += h;
            if (a != b) other[b + a * POINTS] += h;
            const double up = batch_value(&u, mean, other);
            memcpy(other, cov, sizeof cov);
            other[a + b * POINTS] -= h;
            if (a != b) other[b + a * POINTS] -= h;
            const double bar =
                a == b ? cov_bar[a + a * POINTS] : cov_bar[a + b * POINTS] + cov_bar[b + a * POINTS];
            assert_near(bar, (up - batch_value(&u, mean, other)) / (2.0 * h), 1e-7);
        }
    hfi_utility_free(&u);
    hf_context_free(ctx);
}

static void several_points_have_their_derivatives(void **state)
{
    (void)state;
    several_points(true);
    several_points(false);
}

/* Many draws: of points without covariance and one far above the others, that one's; of equals, no less than one's. */
static void several_points_by_draws(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hfi_utility u;
    assert_int_equal(hfi_utility_init(ctx, POINTS, 4096, &u), HF_OK);
    double far[] = {-30.0, 1.0, -30.0}, same[] = {0.0, 0.0, 0.0}, cov[POINTS * POINTS] = {0.0};
    for (size_t a = 0; a < POINTS; a++) cov[a + a * POINTS] = 0.49;
    const double single = fine_sum(true, 1.0, 0.7, 0.0, 1.0), alone = fine_sum(true, 0.0, 0.7, 0.0, 1.0);
    assert_near(batch_value(&u, far, cov), single, 2e-3);
    assert_true(batch_value(&u, same, cov) > alone + 0.1);
    /* The same point three times is one point, and its singular covariance has a factor. */
    for (size_t a = 0; a < POINTS * POINTS; a++) cov[a] = 0.49;
    assert_near(batch_value(&u, same, cov), alone, 2e-3);
    hfi_utility_free(&u);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softplus_has_its_logarithm_everywhere),
        cmocka_unit_test(the_rule_knows_the_moments),
        cmocka_unit_test(one_point_by_quadrature),
        cmocka_unit_test(several_points_have_their_derivatives),
        cmocka_unit_test(several_points_by_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
