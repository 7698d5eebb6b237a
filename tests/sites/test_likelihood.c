/* SPDX-License-Identifier: Apache-2.0 */
/* The table of likelihoods against differences, sums and integrals that are slow and plain. */
#include "core/core.h"
#include "sites/kind.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

static const char *const names[] = {"probit", "logit", "poisson", "negative-binomial", "gamma"};
enum {
    KINDS = 5,
    READINGS = 4
};

static const char *const all[] = {"probit", "logit", "poisson", "negative-binomial", "gamma", "student-t"};
enum {
    ALL = 6
};

/* Readings that a likelihood allows. */
static hfi_seen reading(const hfi_likelihood *l, size_t k, double dispersion)
{
    static const double counts[READINGS] = {0.0, 1.0, 7.0, 250.0},
                        amounts[READINGS] = {1e-3, 0.4, 7.0, 250.0};
    hfi_seen seen = {.y = l->labels  ? (k % 2 ? 1.0 : -1.0)
                          : l->whole ? counts[k]
                                     : amounts[k],
                     .shift = l->labels ? 0.0 : 0.3,
                     .dispersion = dispersion};
    hfi_likelihood_place(l, &seen);
    return seen;
}

static void every_name_has_its_row(void **state)
{
    (void)state;
    for (size_t k = 0; k < ALL; k++) assert_string_equal(hfi_likelihood_named(all[k])->name, all[k]);
    assert_null(hfi_likelihood_named("gaussian"));
    assert_null(hfi_likelihood_named(NULL));
}

/* Every value of hf_likelihood, and one that there is not. */
static void every_kind_of_sites_has_its_row(void **state)
{
    (void)state;
    size_t others = 0;
    for (unsigned k = 0; k <= HF_LIKELIHOOD_GAMMA; k++) {
        const hfi_sites_kind *kind = hfi_sites_kind_of((hf_likelihood)k);
        assert_ptr_equal(kind->likelihood, hfi_likelihood_named(hf_enum_name(HF_ENUM_LIKELIHOOD, k)));
        others += kind->likelihood == NULL ? 1 : 0;
        assert_true(kind->direct == (kind->plain || kind->weighed));
        assert_false(kind->plain && kind->weighed);
    }
    assert_int_equal(others, 4);
    const hfi_sites_kind *gaussian = hfi_sites_kind_of(HF_LIKELIHOOD_GAUSSIAN),
                         *robust = hfi_sites_kind_of(HF_LIKELIHOOD_ROBUST),
                         *student = hfi_sites_kind_of(HF_LIKELIHOOD_STUDENT_T);
    assert_true(gaussian->plain && robust->weighed && hfi_sites_kind_of(HF_LIKELIHOOD_SOFTMAX)->every_class);
    assert_true(hfi_sites_observed_noise(gaussian, 0.3, 4.0, 1.0) == 0.3);
    assert_true(hfi_sites_observed_noise(robust, 0.3, 4.0, INFINITY) == 0.3);
    assert_true(hfi_sites_observed_noise(robust, 0.3, 4.0, 1.0) > 0.3);
    assert_true(hfi_sites_observed_noise(student, 0.3, 4.0, INFINITY) ==
                student->likelihood->observed(0.3, 4.0));
    const hfi_sites_kind *none = hfi_sites_kind_of((hf_likelihood)99);
    assert_false(none->likelihood || none->plain || none->weighed || none->direct || none->every_class);
}

/* Each derivative in f against a difference of the one before it. */
static void derivatives_agree_with_differences(void **state)
{
    (void)state;
    const double h = 1e-4;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t r = 0; r < READINGS; r++)
            for (double f = -6.0; f < 6.0; f += 0.37) {
                const hfi_likelihood *l = hfi_likelihood_named(names[k]);
                const hfi_seen seen = reading(l, r, 0.7);
                const hfi_likelihood_slopes at = hfi_likelihood_density(l, &seen, f),
                                            up = hfi_likelihood_density(l, &seen, f + h),
                                            down = hfi_likelihood_density(l, &seen, f - h);
                const double size = 1.0 + fabs(at.value) + fabs(at.f) + at.w;
                assert_near(at.f, (up.value - down.value) / (2.0 * h), 1e-7 * size);
                assert_near(-at.w, (up.f - down.f) / (2.0 * h), 1e-7 * size);
                assert_near(-at.fff, (up.w - down.w) / (2.0 * h), 1e-7 * size);
                assert_true(at.w >= 0.0);
            }
}

static void derivatives_in_dispersion_agree_with_differences(void **state)
{
    (void)state;
    const double h = 1e-4, dispersions[] = {1e-5, 0.02, 0.7, 5.0};
    for (size_t k = 3; k < KINDS; k++)
        for (size_t r = 0; r < READINGS; r++)
            for (size_t j = 0; j < 4; j++)
                for (double f = -3.0; f < 6.0; f += 0.77) {
                    const hfi_likelihood *l = hfi_likelihood_named(names[k]);
                    const double d = dispersions[j];
                    const hfi_seen seen = reading(l, r, d), more = reading(l, r, d * exp(h)),
                                   less = reading(l, r, d * exp(-h));
                    const hfi_likelihood_slopes at = hfi_likelihood_density(l, &seen, f),
                                                up = hfi_likelihood_density(l, &more, f),
                                                down = hfi_likelihood_density(l, &less, f);
                    const double size = 1.0 + fabs(at.value) + fabs(at.f) + at.w;
                    assert_near(at.d, (up.value - down.value) / (2.0 * h), 1e-6 * size);
                    assert_near(at.f_d, (up.f - down.f) / (2.0 * h), 1e-7 * size);
                    assert_near(at.w_d, (up.w - down.w) / (2.0 * h), 1e-7 * size);
                }
}

/* Probabilities of all counts are 1 together and have the mean and variance that they should; so has a
 * density of amounts. */
static void densities_are_those_of_a_distribution(void **state)
{
    (void)state;
    for (size_t k = 2; k < KINDS; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k]);
        const double d = 0.3, f = 1.1, mu = exp(f), step = l->whole ? 1.0 : 1e-3;
        double sum = 0.0, first = 0.0, second = 0.0, linear = 0.0, square = 0.0;
        for (double y = l->whole ? 0.0 : step; y < 120.0; y += step) {
            hfi_seen seen = {.y = y, .dispersion = d};
            hfi_likelihood_place(l, &seen);
            const double p = step * exp(hfi_likelihood_density(l, &seen, f).value);
            if (l->whole) assert_near(sum + p, l->cumulative(d, mu, y), 1e-12);
            if (l->whole) assert_near(sum + p, l->cumulative(d, mu, y + 0.6), 1e-12);
            if (!l->whole && fmod(y, 10.0) < step) assert_near(sum + 0.5 * p, l->cumulative(d, mu, y), 1e-6);
            sum += p;
            first += p * y;
            second += p * y * y;
        }
        l->variance(d, &linear, &square);
        assert_near(sum, 1.0, 1e-6);
        assert_near(first, mu, 1e-5);
        assert_near(second - first * first, linear * mu + square * mu * mu, 1e-4);
    }
}

/* As its dispersion falls, the negative binomial is Poisson. */
static void no_dispersion_is_poisson(void **state)
{
    (void)state;
    for (double y = 0.0; y < 40.0; y += 1.0)
        for (double f = -3.0; f < 4.0; f += 0.5) {
            hfi_seen wide = {.y = y, .dispersion = 1e-12}, plain = {.y = y};
            hfi_likelihood_place(&hfi_likelihood_negative_binomial, &wide);
            hfi_likelihood_place(&hfi_likelihood_poisson, &plain);
            const hfi_likelihood_slopes a = hfi_likelihood_density(&hfi_likelihood_negative_binomial, &wide,
                                                                   f),
                                        b = hfi_likelihood_density(&hfi_likelihood_poisson, &plain, f);
            assert_near(a.value, b.value, 1e-8);
            assert_near(a.f, b.f, 1e-8);
            assert_near(a.w, b.w, 1e-8);
        }
}

/* Sums over counts beyond those that are added one by one go on smoothly. */
static void many_counts_go_on_from_few(void **state)
{
    (void)state;
    for (double d = 0.01; d < 2.0; d *= 3.0) {
        double before = 0.0;
        for (double y = 998.0; y < 1004.0; y += 1.0) {
            hfi_seen seen = {.y = y, .dispersion = d};
            hfi_likelihood_place(&hfi_likelihood_negative_binomial, &seen);
            const double value = hfi_likelihood_density(&hfi_likelihood_negative_binomial, &seen, 6.0).value;
            if (y > 998.0)
                assert_near(value - before, log1p((y - 1.0) * d) - log(y) + 6.0 - log1p(d * exp(6.0)), 1e-9);
            before = value;
        }
    }
}

/* Simpson's rule over 24 standard deviations around the mode of the product, found by looking at all points. */
static void slow_moments(const hfi_likelihood *l, const hfi_seen *seen, double mean, double var,
                         double *log_z, double *first, double *second)
{
    enum {
        POINTS = 200000
    };
    const double sd = sqrt(var), from = mean - 40.0 * sd - 10.0, to = mean + 40.0 * sd + 10.0,
                 h = (to - from) / POINTS;
    double top = -INFINITY, at = mean;
    for (int k = 0; k <= POINTS; k++) {
        const double f = from + k * h,
                     value = hfi_likelihood_density(l, seen, f).value - 0.5 * (f - mean) * (f - mean) / var;
        if (value > top) at = f;
        top = fmax(top, value);
    }
    const double w = hfi_likelihood_density(l, seen, at).w, width = 1.0 / sqrt(1.0 / var + w),
                 low = fmax(from, at - fmax(60.0 * width, 12.0 * sd)),
                 high = fmin(to, at + fmax(60.0 * width, 12.0 * sd)), step = (high - low) / POINTS;
    long double z = 0.0L, m = 0.0L, v = 0.0L;
    for (int k = 0; k <= POINTS; k++) {
        const double f = low + k * step,
                     rule = k == 0 || k == POINTS ? 1.0
                            : k % 2               ? 4.0
                                                  : 2.0,
                     value =
                         hfi_likelihood_density(l, seen, f).value - 0.5 * (f - mean) * (f - mean) / var - top;
        const long double weight = rule * exp(value);
        z += weight;
        m += weight * (f - mean);
        v += weight * (f - mean) * (f - mean);
    }
    *log_z = top + log((double)(z * step / 3.0L)) - 0.5 * log(var) - HFI_HALF_LOG_2PI;
    *first = (double)(m / z);
    *second = (double)(v / z - (m / z) * (m / z));
}

static void tilted_moments_agree_with_an_integral(void **state)
{
    (void)state;
    const double means[] = {0.0, 2.0, -4.0}, vars[] = {1e-4, 0.3, 9.0};
    for (size_t k = 2; k < KINDS; k++)
        for (size_t r = 0; r < READINGS; r++)
            for (size_t i = 0; i < 9; i++) {
                const hfi_likelihood *l = hfi_likelihood_named(names[k]);
                const hfi_seen seen = reading(l, r, 0.4);
                const double mean = means[i / 3], var = vars[i % 3];
                double log_z, first, second;
                const hfi_likelihood_tilted t = hfi_likelihood_tilt(l, &seen, 1.0, mean, var);
                slow_moments(l, &seen, mean, var, &log_z, &first, &second);
                assert_near(t.log_z, log_z, 1e-9 * (1.0 + fabs(log_z)));
                assert_near(var * t.slope, first, 1e-9 * (sqrt(var) + fabs(first)));
                assert_near(var + var * var * t.curvature, second, 1e-8 * second);
                if (!l->parameter) continue;
                const hfi_seen more = reading(l, r, 0.4 * exp(1e-4)), less = reading(l, r, 0.4 * exp(-1e-4));
                assert_near(t.d,
                            (hfi_likelihood_tilt(l, &more, 1.0, mean, var).log_z -
                             hfi_likelihood_tilt(l, &less, 1.0, mean, var).log_z) /
                                2e-4,
                            1e-6 * (1.0 + fabs(log_z)));
            }
}

/* Readings of any row. */
static hfi_seen any_reading(const hfi_likelihood *l, size_t r)
{
    hfi_seen seen = reading(l, r, 0.4);
    seen.shape = 3.5;
    hfi_likelihood_place(l, &seen);
    return seen;
}

/* Expectations against Simpson's rule. */
static void expectations_agree_with_an_integral(void **state)
{
    (void)state;
    enum {
        POINTS = 20000
    };
    const double means[] = {0.3, 2.0, -3.0}, vars[] = {0.0, 1e-4, 0.3, 4.0};
    for (size_t k = 0; k < ALL; k++)
        for (size_t r = 0; r < READINGS; r++)
            for (size_t i = 0; i < 12; i++) {
                const hfi_likelihood *l = hfi_likelihood_named(all[k]);
                const hfi_seen seen = any_reading(l, r);
                const double mean = means[i / 4], sd = sqrt(vars[i % 4]);
                const hfi_likelihood_expected e = hfi_likelihood_expect(l, &seen, mean, sd * sd);
                double sum[6] = {0.0};
                for (int j = 0; j <= POINTS; j++) {
                    const double x = -14.0 + 28.0 * j / POINTS,
                                 weight =
                                     (j == 0 || j == POINTS ? 1.0 : 2.0 + 2.0 * (j % 2)) * exp(-0.5 * x * x);
                    const hfi_likelihood_slopes at = hfi_likelihood_density(l, &seen, mean + sd * x);
                    const double terms[6] = {1.0, at.value, at.f, at.w, at.d, at.n};
                    for (size_t t = 0; t < 6; t++) sum[t] += weight * terms[t];
                }
                const double found[5] = {e.value, e.f, e.w, e.d, e.n};
                for (size_t t = 0; t < 5; t++)
                    assert_near(found[t], sum[t + 1] / sum[0],
                                1e-9 * (1.0 + fabs(sum[t + 1] / sum[0]) + fabs(e.value)));
            }
}

/* Products with a likelihood's power: log Z against the same rule, moments against differences of log Z in the mean. */
static void powers_of_likelihoods_have_moments(void **state)
{
    (void)state;
    enum {
        POINTS = 40000
    };
    const double power = 0.5, mean = 0.4, var = 0.7, h = 1e-3;
    for (size_t k = 0; k < ALL; k++)
        for (size_t r = 0; r < READINGS; r++) {
            const hfi_likelihood *l = hfi_likelihood_named(all[k]);
            const hfi_seen seen = any_reading(l, r);
            const hfi_likelihood_tilted t = hfi_likelihood_tilt(l, &seen, power, mean, var),
                                        up = hfi_likelihood_tilt(l, &seen, power, mean + h, var),
                                        down = hfi_likelihood_tilt(l, &seen, power, mean - h, var);
            double sum = 0.0;
            for (int j = 0; j <= POINTS; j++) {
                const double x = -20.0 + 40.0 * j / POINTS;
                sum +=
                    (j == 0 || j == POINTS ? 1.0 : 2.0 + 2.0 * (j % 2)) *
                    exp(power * hfi_likelihood_density(l, &seen, mean + sqrt(var) * x).value - 0.5 * x * x);
            }
            const double log_z = log(sum * 40.0 / POINTS / 3.0) - HFI_HALF_LOG_2PI;
            assert_near(t.log_z, log_z, 1e-8 * (1.0 + fabs(log_z)));
            assert_near(t.slope, (up.log_z - down.log_z) / (2.0 * h), 1e-5 * (1.0 + fabs(t.slope)));
            assert_near(t.curvature, (up.slope - down.slope) / (2.0 * h), 1e-5 * (1.0 + fabs(t.curvature)));
            assert_near(t.share, 1.0 + var * t.curvature, 1e-9);
        }
}

/* A normal density without width is the density at its mean, and a wide one has moments. */
static void narrow_and_wide_products_have_moments(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t r = 0; r < READINGS; r++) {
            const hfi_likelihood *l = hfi_likelihood_named(names[k]);
            const hfi_seen seen = reading(l, r, 0.4);
            const hfi_likelihood_tilted none = hfi_likelihood_tilt(l, &seen, 1.0, 0.5, 0.0),
                                        wide = hfi_likelihood_tilt(l, &seen, 1.0, 200.0, 1e6);
            assert_near(none.log_z, hfi_likelihood_density(l, &seen, 0.5).value, 1e-14 * fabs(none.log_z));
            assert_true(isfinite(wide.log_z) && isfinite(wide.slope) && wide.curvature <= 0.0);
            assert_true(1.0 + 1e6 * wide.curvature > 0.0);
        }
}

/* The distribution function and quantiles of a new reading, by sums of the densities' integrals. */
static void predictive_quantiles_agree_with_sums(void **state)
{
    (void)state;
    const double means[] = {-1.0, 2.0, 5.0}, vars[] = {1e-6, 0.05, 1.5};
    for (size_t i = 0; i < 9; i++)
        for (size_t k = 2; k < 4; k++) {
            const hfi_likelihood *l = hfi_likelihood_named(names[k]);
            const double mean = means[i / 3], var = vars[i % 3], p = 0.9, d = 0.2;
            double sum = 0.0, y = 0.0;
            for (;; y += 1.0) {
                hfi_seen seen = {.y = y, .dispersion = d};
                hfi_likelihood_place(l, &seen);
                sum += exp(hfi_likelihood_tilt(l, &seen, 1.0, mean, var).log_z);
                assert_near(hfi_likelihood_cumulative(l, d, mean, var, y), sum, 1e-9);
                if (sum >= p) break;
            }
            assert_near(hfi_likelihood_quantile(l, d, mean, var, p), y, 0.0);
        }
    assert_true(hfi_likelihood_cumulative(&hfi_likelihood_poisson, 1.0, 0.0, 1.0, -0.5) == 0.0);
}

static void quantiles_of_amounts_invert_their_distribution(void **state)
{
    (void)state;
    const hfi_likelihood *l = &hfi_likelihood_gamma;
    const double ps[] = {0.025, 0.5, 0.975}, vars[] = {0.0, 1e-4, 0.3, 9.0}, dispersions[] = {1e-4, 0.1, 3.0};
    for (size_t i = 0; i < 36; i++) {
        const double p = ps[i % 3], var = vars[i / 3 % 4], d = dispersions[i / 12],
                     y = hfi_likelihood_quantile(l, d, 1.3, var, p);
        assert_near(hfi_likelihood_cumulative(l, d, 1.3, var, y), p, 1e-9);
    }
    /* The integral of the density up to a place. */
    double sum = 0.0;
    const double step = 2e-3;
    for (double z = log(5.0) - 0.5 * step; z > -25.0; z -= step) {
        hfi_seen seen = {.y = exp(z), .dispersion = 0.5};
        hfi_likelihood_place(l, &seen);
        sum += step * seen.y * exp(hfi_likelihood_tilt(l, &seen, 1.0, 1.0, 0.4).log_z);
    }
    assert_near(hfi_likelihood_cumulative(l, 0.5, 1.0, 0.4, 5.0), sum, 1e-6);
}

/* Mean and variance of a new reading by sums over what it can be. */
static void moments_agree_with_sums(void **state)
{
    (void)state;
    for (size_t k = 2; k < 4; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k]);
        double reading_mean, sd_mean, sd_reading, first = 0.0, second = 0.0;
        hfi_likelihood_moments(l, 0.2, 0.7, 0.09, &reading_mean, &sd_mean, &sd_reading);
        for (double y = 0.0; y < 200.0; y += 1.0) {
            hfi_seen seen = {.y = y, .dispersion = 0.2};
            hfi_likelihood_place(l, &seen);
            const double p = exp(hfi_likelihood_tilt(l, &seen, 1.0, 0.7, 0.09).log_z);
            first += p * y;
            second += p * y * y;
        }
        assert_near(reading_mean, first, 1e-9);
        assert_near(sd_reading, sqrt(second - first * first), 1e-8);
        assert_near(sd_mean, exp(0.745) * sqrt(expm1(0.09)), 1e-12);
    }
}

/* DLMF 8.17(iv) and special cases: I_x(1, b) = 1 - (1-x)^b, I_x(a, 1) = x^a, symmetry. */
static void incomplete_beta_has_its_special_cases(void **state)
{
    (void)state;
    for (double x = 0.01; x < 1.0; x += 0.07)
        for (double a = 0.3; a < 500.0; a *= 3.1) {
            assert_near(hfi_beta_below(1.0, a, x, 1.0 - x), -expm1(a * log1p(-x)), 1e-13);
            assert_near(hfi_beta_below(a, 1.0, x, 1.0 - x), pow(x, a), 1e-13);
            assert_near(hfi_beta_below(a, 2.5, x, 1.0 - x) + hfi_beta_below(2.5, a, 1.0 - x, x), 1.0, 1e-12);
        }
    assert_near(hfi_gamma_below(1.0, 2.0), 1.0 - exp(-2.0), 1e-14);
    assert_near(hfi_gamma_above(1.0, 200.0), exp(-200.0), 1e-13 * exp(-200.0));
    assert_true(hfi_gamma_below(2.0, 0.0) == 0.0 && hfi_gamma_above(2.0, INFINITY) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_has_its_row),
        cmocka_unit_test(every_kind_of_sites_has_its_row),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(derivatives_in_dispersion_agree_with_differences),
        cmocka_unit_test(densities_are_those_of_a_distribution),
        cmocka_unit_test(no_dispersion_is_poisson),
        cmocka_unit_test(many_counts_go_on_from_few),
        cmocka_unit_test(tilted_moments_agree_with_an_integral),
        cmocka_unit_test(expectations_agree_with_an_integral),
        cmocka_unit_test(powers_of_likelihoods_have_moments),
        cmocka_unit_test(narrow_and_wide_products_have_moments),
        cmocka_unit_test(predictive_quantiles_agree_with_sums),
        cmocka_unit_test(quantiles_of_amounts_invert_their_distribution),
        cmocka_unit_test(moments_agree_with_sums),
        cmocka_unit_test(incomplete_beta_has_its_special_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
