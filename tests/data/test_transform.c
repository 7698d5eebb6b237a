/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms of a target against their definitions, by quadrature and differences. */
#include "data/support.h"

#include "core/core.h"

#include <holdfast/metrics.h>

#include <math.h>

static const hf_transform all[] = {HF_TRANSFORM_NONE, HF_TRANSFORM_SQRT, HF_TRANSFORM_LOG};

enum {
    ALL = sizeof all / sizeof all[0],
    STEPS = 40000
};

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g is not %.17g", value, expected);
}

static double cdf(double u)
{
    return 0.5 * erfc(-u / sqrt(2.0));
}

/* z ~ N(m, s^2), from well below 0 to far above. */
static const struct {
    double m, s;
} normals[] = {{2.0, 0.5}, {0.3, 0.4}, {-0.5, 0.6}, {6.0, 0.5}, {1.0, 0.01}, {-3.0, 0.7}};

enum {
    NORMALS = sizeof normals / sizeof normals[0]
};

/* Simpson's rule for the expectation of a function of y under the density of z. */
typedef double of_number(double y, const void *arg);

static double expect(hf_transform t, double m, double s, of_number *f, const void *arg)
{
    double sum = 0.0;
    const double low = m - 12.0 * s, step = 24.0 * s / STEPS;
    for (size_t k = 0; k <= STEPS; k++) {
        const double z = low + step * (double)k, u = (z - m) / s;
        const double weight = k == 0 || k == STEPS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        sum += weight * f(hf_transform_inverse(t, z), arg) * exp(-0.5 * u * u);
    }
    return sum * step / 3.0 / (s * sqrt(2.0 * HFI_PI));
}

static double itself(double y, const void *arg)
{
    (void)arg;
    return y;
}

static double squared_from(double y, const void *arg)
{
    const double centre = *(const double *)arg;
    return (y - centre) * (y - centre);
}

static void inverses_undo(void **state)
{
    (void)state;
    static const double values[] = {1e-9, 0.25, 1.0, 7.3, 1e6};
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            const double y = values[i], z = hf_transform_forward(all[k], y);
            assert_true(hf_transform_accepts(all[k], y));
            assert_close(hf_transform_inverse(all[k], z), y, 4e-15 * y);
            const double step = 1e-5 * y;
            const double slope =
                (hf_transform_forward(all[k], y + step) - hf_transform_forward(all[k], y - step)) /
                (2.0 * step);
            assert_close(hf_transform_log_derivative(all[k], y), log(slope), 1e-8);
        }
    assert_true(hf_transform_inverse(HF_TRANSFORM_SQRT, -2.0) == 0.0);
    assert_true(hf_transform_inverse(HF_TRANSFORM_LOG, -2.0) > 0.0);
}

static void domains_are_as_documented(void **state)
{
    (void)state;
    assert_true(hf_transform_accepts(HF_TRANSFORM_NONE, -1.0));
    assert_true(hf_transform_accepts(HF_TRANSFORM_SQRT, 0.0));
    assert_false(hf_transform_accepts(HF_TRANSFORM_SQRT, -1e-300));
    assert_false(hf_transform_accepts(HF_TRANSFORM_LOG, 0.0));
    assert_string_equal(hf_transform_domain(HF_TRANSFORM_LOG), "positive");
    assert_null(hf_transform_domain(HF_TRANSFORM_AUTO));
    for (size_t k = 0; k < ALL; k++) {
        assert_false(hf_transform_accepts(all[k], NAN));
        assert_false(hf_transform_accepts(all[k], INFINITY));
        assert_true(isnan(hf_transform_forward(all[k], NAN)));
        assert_true(isnan(hf_transform_inverse(all[k], NAN)));
        assert_true(isnan(hf_transform_crps(all[k], NAN, 0.0, 1.0)));
        assert_true(isnan(hf_transform_residual(all[k], 1.0, NAN, 1.0)));
    }
    assert_true(isnan(hf_transform_forward(HF_TRANSFORM_LOG, -1.0)));
    assert_true(isnan(hf_transform_log_derivative(HF_TRANSFORM_LOG, 0.0)));
    assert_true(hf_transform_log_derivative(HF_TRANSFORM_SQRT, 0.0) == INFINITY);
    assert_true(hf_transform_log_density(HF_TRANSFORM_LOG, -1.0, 0.0, 1.0) == -INFINITY);
    assert_true(hf_transform_residual(HF_TRANSFORM_LOG, 0.0, 0.0, 1.0) == -INFINITY);
    assert_true(isnan(hf_transform_forward(HF_TRANSFORM_AUTO, 1.0)));
    assert_true(isnan(hf_transform_inverse(HF_TRANSFORM_AUTO, 1.0)));
    double mean = 0.0;
    hf_transform_moments(HF_TRANSFORM_AUTO, 1.0, 1.0, &mean, NULL);
    assert_true(isnan(mean));
}

static void moments_are_expectations(void **state)
{
    (void)state;
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < NORMALS; i++) {
            const double m = normals[i].m, s = normals[i].s;
            double mean, variance;
            hf_transform_moments(all[k], m, s * s, &mean, &variance);
            const double expected = expect(all[k], m, s, itself, NULL);
            assert_close(mean, expected, 1e-10 * fmax(fabs(expected), 1e-3));
            const double second = expect(all[k], m, s, squared_from, &expected);
            assert_close(variance, second, 1e-9 * fmax(second, 1e-4));
        }
    /* The two branches of sqrt meet. */
    double mean[2], variance[2];
    hf_transform_moments(HF_TRANSFORM_SQRT, 9.0, 1.0, &mean[0], &variance[0]);
    hf_transform_moments(HF_TRANSFORM_SQRT, 9.0 - 1e-13, 1.0, &mean[1], &variance[1]);
    assert_close(mean[0], mean[1], 1e-11);
    assert_close(variance[0], variance[1], 1e-9);
    hf_transform_moments(HF_TRANSFORM_SQRT, -1e200, 1.0, &mean[0], &variance[0]);
    assert_close(mean[0], 0.0, 1e-100);
    hf_transform_moments(HF_TRANSFORM_SQRT, -1.0, 0.0, &mean[0], &variance[0]);
    assert_true(mean[0] == 0.0 && variance[0] == 0.0);
}

/* Over y, in pieces that are finer where the density is steep; with what lies at the border it is 1. */
static void densities_integrate_to_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < NORMALS; i++) {
            const double m = normals[i].m, s = normals[i].s;
            double sum = 0.0, before = hf_transform_inverse(all[k], m - 10.0 * s);
            for (size_t j = 1; j <= STEPS; j++) {
                const double next = hf_transform_inverse(all[k], m - 10.0 * s + 20.0 * s * (double)j / STEPS);
                if (next > before)
                    sum += (next - before) *
                           exp(hf_transform_log_density(all[k], 0.5 * (before + next), m, s * s));
                before = next;
            }
            if (all[k] == HF_TRANSFORM_SQRT) {
                const double border = hf_transform_log_density(all[k], 0.0, m, s * s);
                assert_close(exp(border), cdf(-m / s), 1e-13);
                sum += exp(border);
            }
            assert_close(sum, 1.0, 2e-4);
        }
    assert_close(hf_transform_log_density(HF_TRANSFORM_SQRT, 0.0, 29.999999, 1.0),
                 hf_transform_log_density(HF_TRANSFORM_SQRT, 0.0, 30.000001, 1.0), 1e-4);
}

static void residuals_count_intervals(void **state)
{
    (void)state;
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < NORMALS; i++) {
            const double m = normals[i].m, s = normals[i].s;
            const double low = hf_transform_inverse(all[k], m - s),
                         high = hf_transform_inverse(all[k], m + s);
            for (double y = 0.001; y < 40.0; y *= 1.03) {
                if (fabs(y - low) < 1e-9 || fabs(y - high) < 1e-9) continue;
                const bool inside = y >= low && y <= high;
                assert_int_equal(fabs(hf_transform_residual(all[k], y, m, s * s)) <= 1.0, inside);
            }
        }
    assert_true(hf_transform_residual(HF_TRANSFORM_SQRT, 0.0, -3.0, 1.0) == 0.0);
    assert_close(hf_transform_residual(HF_TRANSFORM_SQRT, 0.0, 3.0, 1.0), -3.0, 1e-15);
}

/* E |Y - y| - E |Y - Y'| / 2, the latter by its quantiles: 2 E Y (2 Phi(u) - 1) of u normal. */
typedef struct around {
    double y;
} around;

static double distance_from(double y, const void *arg)
{
    return fabs(y - ((const around *)arg)->y);
}

static double crps_by_quadrature(hf_transform t, double y, double m, double s)
{
    const around centre = {y};
    double spread = 0.0;
    const double step = 24.0 / STEPS;
    for (size_t k = 0; k <= STEPS; k++) {
        const double u = -12.0 + step * (double)k;
        const double weight = k == 0 || k == STEPS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        spread += weight * hf_transform_inverse(t, m + s * u) * (2.0 * cdf(u) - 1.0) * exp(-0.5 * u * u);
    }
    spread *= step / 3.0 / sqrt(2.0 * HFI_PI);
    return expect(t, m, s, distance_from, &centre) - spread;
}

static void crps_is_its_definition(void **state)
{
    (void)state;
    static const double readings[] = {-1.0, 0.0, 0.4, 2.0, 6.0, 90.0};
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < NORMALS; i++)
            for (size_t j = 0; j < sizeof readings / sizeof readings[0]; j++) {
                const double m = normals[i].m, s = normals[i].s, y = readings[j];
                const double expected = crps_by_quadrature(all[k], y, m, s);
                assert_close(hf_transform_crps(all[k], y, m, s * s), expected,
                             2e-6 * fmax(1.0, fmax(fabs(y), hf_transform_inverse(all[k], m))));
            }
}

static void metrics_are_means_of_the_rows(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const double y[] = {1.0, 4.0, NAN, 9.0, 0.5}, mean[] = {0.9, 2.2, 1.0, 2.0, 0.3},
                        sd[] = {0.1, 0.2, 0.3, 0.4, 0.8};
    for (size_t k = 0; k < ALL; k++) {
        hf_metrics m;
        assert_int_equal(hf_metrics_transformed(ctx, 5, all[k], y, mean, sd, &m), HF_WARN_ROWS_SKIPPED);
        double absolute = 0.0, squares = 0.0, nlpd = 0.0, crps = 0.0;
        size_t inside = 0;
        for (size_t i = 0; i < 5; i++) {
            if (isnan(y[i])) continue;
            const double v = sd[i] * sd[i], half = HF_HALF_WIDTH_90 * sd[i];
            double average;
            hf_transform_moments(all[k], mean[i], v, &average, NULL);
            absolute += fabs(y[i] - hf_transform_inverse(all[k], mean[i])) / 4.0;
            squares += (y[i] - average) * (y[i] - average) / 4.0;
            nlpd -= hf_transform_log_density(all[k], y[i], mean[i], v) / 4.0;
            crps += hf_transform_crps(all[k], y[i], mean[i], v) / 4.0;
            inside += y[i] >= hf_transform_inverse(all[k], mean[i] - half) &&
                      y[i] <= hf_transform_inverse(all[k], mean[i] + half);
        }
        assert_int_equal(m.n, 4);
        assert_close(m.mae, absolute, 1e-13);
        assert_close(m.rmse, sqrt(squares), 1e-13);
        assert_close(m.nlpd, nlpd, 1e-12);
        assert_close(m.crps, crps, 1e-13);
        assert_close(m.coverage90, (double)inside / 4.0, 1e-15);
    }
    hf_metrics m;
    static const double bad[] = {-1.0}, large[] = {800.0}, one[] = {1.0};
    assert_int_equal(hf_metrics_transformed(ctx, 1, HF_TRANSFORM_LOG, bad, one, one, &m), HF_OK);
    assert_true(m.nlpd == INFINITY && m.coverage95 == 0.0);
    assert_int_equal(hf_metrics_transformed(ctx, 1, HF_TRANSFORM_LOG, one, large, one, &m),
                     HF_ERR_NOT_FINITE);
    assert_int_equal(hf_metrics_transformed(ctx, 1, HF_TRANSFORM_AUTO, one, one, one, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_metrics_transformed(ctx, 1, HF_TRANSFORM_LOG, one, NULL, one, &m), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverses_undo),
        cmocka_unit_test(domains_are_as_documented),
        cmocka_unit_test(moments_are_expectations),
        cmocka_unit_test(densities_integrate_to_one),
        cmocka_unit_test(residuals_count_intervals),
        cmocka_unit_test(crps_is_its_definition),
        cmocka_unit_test(metrics_are_means_of_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
