/* SPDX-License-Identifier: Apache-2.0 */
/* The Student-t density of one reading: derivatives, integrals against normal densities by brute force,
 * limits, extremes. */
#include "sites/student.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

static const double residuals[] = {0.0, 0.3, -1.0, 4.0, -25.0}, scales[] = {0.04, 1.0, 9.0},
                    freedoms[] = {1.5, 2.0, 4.0, 30.0};

enum {
    RESIDUALS = sizeof residuals / sizeof *residuals,
    SCALES = sizeof scales / sizeof *scales,
    FREEDOMS = sizeof freedoms / sizeof *freedoms,
    CASES = RESIDUALS * SCALES * FREEDOMS
};

typedef struct sample {
    double r, s, nu;
} sample;

static sample at(int k)
{
    return (sample){residuals[k % RESIDUALS], scales[k / RESIDUALS % SCALES],
                    freedoms[k / RESIDUALS / SCALES]};
}

static void near_relative(double actual, double expected, double tolerance)
{
    assert_near(actual, expected, tolerance * (1.0 + fabs(expected)));
}

/* ---- special functions ---------------------------------------------------------------------------------------- */

static void log_gamma_and_its_derivative(void **state)
{
    (void)state;
    for (double x = 1e-3; x < 1e6; x *= 1.37) {
        near_relative(hfi_log_gamma(x), lgamma(x), 2e-14);
        const double h = 1e-3 * x;
        const double quotient = (8.0 * (hfi_log_gamma(x + h) - hfi_log_gamma(x - h)) -
                                 (hfi_log_gamma(x + 2.0 * h) - hfi_log_gamma(x - 2.0 * h))) /
                                (12.0 * h);
        near_relative(hfi_digamma(x), quotient, 1e-9);
    }
    assert_near(hfi_digamma(1.0), -0.57721566490153286061, 1e-14);
    assert_near(hfi_log_gamma(0.5), 0.57236494292470008707, 1e-14);
}

/* ---- the density ------------------------------------------------------------------------------------------------- */

static double log_density(double r, double s, double nu)
{
    const hfi_student t = hfi_student_make(nu);
    hfi_student_slopes out;
    hfi_student_density(&t, r, s, &out);
    return out.value;
}

static void densities_are_the_formula_and_integrate_to_one(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        const sample c = at(k);
        const double formula = lgamma(0.5 * (c.nu + 1.0)) - lgamma(0.5 * c.nu) -
                               0.5 * log(HFI_PI * c.nu * c.s) -
                               0.5 * (c.nu + 1.0) * log1p(c.r * c.r / (c.nu * c.s));
        near_relative(log_density(c.r, c.s, c.nu), formula, 1e-13);
    }
    for (int k = 0; k < FREEDOMS; k++) {
        /* r = tan(u), from -pi/2 to pi/2. */
        double sum = 0.0;
        const int steps = 200000;
        for (int i = 0; i < steps; i++) {
            const double u = HFI_PI * ((i + 0.5) / steps - 0.5), c = cos(u);
            sum += exp(log_density(tan(u), 1.0, freedoms[k])) / (c * c) * (HFI_PI / steps);
        }
        assert_near(sum, 1.0, 1e-6);
    }
}

/* Fourth-order quotient of a member of the slopes; `what` moves f, log s or nu. */
static double quotient(sample c, int what, size_t member)
{
    const double h = 1e-3, weight[4] = {1.0, -8.0, 8.0, -1.0}, place[4] = {-2.0, -1.0, 1.0, 2.0};
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        const double move = place[k] * h * (what == 0 ? sqrt(c.s) : 1.0);
        const hfi_student t = hfi_student_make(c.nu + (what == 2 ? move : 0.0));
        hfi_student_slopes out;
        hfi_student_density(&t, c.r - (what == 0 ? move : 0.0), what == 1 ? c.s * exp(move) : c.s, &out);
        double value;
        memcpy(&value, (const char *)&out + member, sizeof value);
        sum += weight[k] * value;
    }
    return sum / (12.0 * h * (what == 0 ? sqrt(c.s) : 1.0));
}

static void slopes_are_difference_quotients(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        const sample c = at(k);
        const hfi_student t = hfi_student_make(c.nu);
        hfi_student_slopes out;
        hfi_student_density(&t, c.r, c.s, &out);
        const size_t value = offsetof(hfi_student_slopes, value), f = offsetof(hfi_student_slopes, f),
                     ff = offsetof(hfi_student_slopes, ff);
        const double unit = 1e-8 / fmin(c.s, 1.0);
        near_relative(out.f, quotient(c, 0, value), unit);
        near_relative(out.ff, quotient(c, 0, f), unit);
        near_relative(out.fff, quotient(c, 0, ff), unit / sqrt(c.s));
        near_relative(out.scale, quotient(c, 1, value), 1e-8);
        near_relative(out.f_scale, quotient(c, 1, f), unit);
        near_relative(out.ff_scale, quotient(c, 1, ff), unit);
        near_relative(out.nu, quotient(c, 2, value), 1e-8);
        near_relative(out.f_nu, quotient(c, 2, f), unit);
        near_relative(out.ff_nu, quotient(c, 2, ff), unit);
    }
}

static void the_touching_normal_density_lies_below(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        const sample c = at(k);
        const hfi_student t = hfi_student_make(c.nu);
        const double w = hfi_student_precision(&t, c.r, c.s), here = log_density(c.r, c.s, c.nu);
        for (double other = -30.0; other < 30.0; other += 0.37) {
            const double bound = here - 0.5 * w * (other * other - c.r * c.r);
            assert_true(bound <= log_density(other, c.s, c.nu) + 1e-12 * (1.0 + fabs(bound)));
        }
    }
}

/* ---- products with a cavity ---------------------------------------------------------------------------- */

/* Log mass, mean and variance of density^power N(f; 0, v) with r = y - f at f = 0, by a fine sum in f. */
static void brute_force(sample c, double power, double v, double *log_z, double *mean, double *variance)
{
    const int steps = 6000;
    const double reach = 12.0 * sqrt(v);
    double total = 0.0, first = 0.0, second = 0.0, top = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= steps; i++) {
            const double f = reach * (2.0 * i / steps - 1.0);
            const double log_p = power * log_density(c.r - f, c.s, c.nu) - 0.5 * f * f / v;
            if (pass == 0) {
                top = fmax(top, log_p);
                continue;
            }
            const double p = exp(log_p - top);
            total += p;
            first += p * f;
            second += p * f * f;
        }
    *mean = first / total;
    *variance = second / total - *mean * *mean;
    *log_z = top + log(total * 2.0 * reach / steps) - 0.5 * log(v) - HFI_HALF_LOG_2PI;
}

static void check_tilt(sample c, double power, double v)
{
    const hfi_student t = hfi_student_make(c.nu), powered = hfi_student_power(&t, power);
    hfi_student_tilted out;
    double log_z, mean, variance;
    hfi_student_tilt_power(&t, &powered, power, c.r, v, c.s, &out);
    brute_force(c, power, v, &log_z, &mean, &variance);
    near_relative(out.log_z, log_z, 1e-8);
    assert_near(out.shift, mean, 1e-7 * sqrt(v));
    near_relative(out.variance / v, variance / v, 1e-7);
    near_relative(out.precision * v, v / out.variance - 1.0, 1e-8);
    near_relative(out.slope * v, out.shift, 1e-12);
}

static void tilted_moments_are_those_of_the_product(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int w = 0; w < 3; w++) {
            const double v = (double[]){0.02, 1.0, 6.0}[w];
            check_tilt(at(k), 1.0, v);
            check_tilt(at(k), 0.7, v);
        }
}

static double tilted_log_z(sample c, double power, double v)
{
    const hfi_student t = hfi_student_make(c.nu), powered = hfi_student_power(&t, power);
    hfi_student_tilted out;
    hfi_student_tilt_power(&t, &powered, power, c.r, v, c.s, &out);
    return out.log_z;
}

static void tilted_masses_are_differentiated(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int p = 0; p < 2; p++) {
            const sample c = at(k);
            const double power = p ? 0.7 : 1.0, v = 0.5, h = 1e-4;
            const hfi_student t = hfi_student_make(c.nu), powered = hfi_student_power(&t, power);
            hfi_student_tilted out;
            hfi_student_tilt_power(&t, &powered, power, c.r, v, c.s, &out);
            sample up = c, down = c;
            up.r -= h; /* m grows */
            down.r += h;
            near_relative(out.slope, (tilted_log_z(up, power, v) - tilted_log_z(down, power, v)) / (2.0 * h),
                          1e-5);
            up = down = c;
            up.s *= exp(h);
            down.s *= exp(-h);
            near_relative(out.scale, (tilted_log_z(up, power, v) - tilted_log_z(down, power, v)) / (2.0 * h),
                          1e-6);
            up = down = c;
            up.nu += h;
            down.nu -= h;
            near_relative(out.nu, (tilted_log_z(up, power, v) - tilted_log_z(down, power, v)) / (2.0 * h),
                          1e-6);
        }
}

/* ---- expectations -------------------------------------------------------------------------------------- */

static double expected(sample c, double v)
{
    const int steps = 4000;
    double sum = 0.0, total = 0.0;
    for (int i = 0; i <= steps; i++) {
        const double x = 10.0 * (2.0 * i / steps - 1.0), weight = exp(-0.5 * x * x);
        total += weight;
        sum += weight * log_density(c.r - sqrt(v) * x, c.s, c.nu);
    }
    return sum / total;
}

static void expectations_and_their_derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int w = 0; w < 3; w++) {
            const sample c = at(k);
            const double v = (double[]){1e-3, 0.3, 2.0}[w], h = 1e-4;
            const hfi_student t = hfi_student_make(c.nu);
            hfi_student_expected out;
            hfi_student_expect(&t, c.r, v, c.s, &out);
            near_relative(out.value, expected(c, v), 1e-8);
            sample up = c, down = c;
            up.r -= h;
            down.r += h;
            near_relative(out.m, (expected(up, v) - expected(down, v)) / (2.0 * h), 1e-4);
            near_relative(out.v, (expected(c, v * (1.0 + h)) - expected(c, v * (1.0 - h))) / (2.0 * h * v),
                          1e-4);
            up = down = c;
            up.s *= exp(h);
            down.s *= exp(-h);
            near_relative(out.scale, (expected(up, v) - expected(down, v)) / (2.0 * h), 1e-6);
            up = down = c;
            up.nu += h;
            down.nu -= h;
            near_relative(out.nu, (expected(up, v) - expected(down, v)) / (2.0 * h), 1e-6);
        }
}

/* ---- limits and extremes ------------------------------------------------------------------------------- */

static void many_degrees_of_freedom_are_normal(void **state)
{
    (void)state;
    const double nu = 1e7, v = 0.7, s = 0.3, r = 1.1;
    const hfi_student t = hfi_student_make(nu);
    hfi_student_slopes density;
    hfi_student_tilted tilted;
    hfi_student_density(&t, r, s, &density);
    assert_near(density.value, -HFI_HALF_LOG_2PI - 0.5 * log(s) - 0.5 * r * r / s, 1e-6);
    assert_near(density.ff, -1.0 / s, 1e-5);
    const hfi_student fewer = hfi_student_make(1e5);
    hfi_student_tilt(&fewer, r, v, s, &tilted);
    assert_near(tilted.log_z, -HFI_HALF_LOG_2PI - 0.5 * log(s + v) - 0.5 * r * r / (s + v), 1e-4);
    assert_near(tilted.precision, 1.0 / s, 1e-3);
    assert_near(hfi_student_normal_variance(&t, s), s, 1e-6);
}

static void the_observed_variance_has_the_interval_of_the_noise(void **state)
{
    (void)state;
    /* 0.975 quantiles of the t distribution. */
    const struct {
        double nu, quantile;
    } table[] = {{2.0, 4.3026527299112747},
                 {4.0, 2.7764451051977987},
                 {10.0, 2.2281388519649385},
                 {50.0, 2.0085591121007610}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const hfi_student t = hfi_student_make(table[k].nu);
        const double sd = table[k].quantile / 1.9599639845400542;
        near_relative(hfi_student_normal_variance(&t, 0.3), 0.3 * sd * sd, 1e-8);
    }
    const hfi_student heavy = hfi_student_make(1.5);
    assert_true(isfinite(hfi_student_normal_variance(&heavy, 1.0)));
}

static void no_residual_is_too_large(void **state)
{
    (void)state;
    const hfi_student t = hfi_student_make(3.0);
    for (double r = 1e3; r < 1e150; r *= 1e10) {
        hfi_student_slopes density;
        hfi_student_tilted tilted;
        hfi_student_expected mean;
        hfi_student_density(&t, r, 0.1, &density);
        hfi_student_tilt(&t, r, 2.0, 0.1, &tilted);
        hfi_student_expect(&t, r, 2.0, 0.1, &mean);
        assert_true(isfinite(density.value) && isfinite(density.fff) && isfinite(density.ff_nu));
        assert_true(density.ff >= 0.0 && density.f >= 0.0);
        assert_true(isfinite(tilted.log_z) && isfinite(tilted.nu) && isfinite(mean.value));
        /* A reading that far out says nothing: the cavity is what is left. */
        assert_near(tilted.variance, 2.0, 1e-4);
        assert_near(tilted.shift, 0.0, 1e-1);
        near_relative(tilted.log_z, density.value, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_gamma_and_its_derivative),
        cmocka_unit_test(densities_are_the_formula_and_integrate_to_one),
        cmocka_unit_test(slopes_are_difference_quotients),
        cmocka_unit_test(the_touching_normal_density_lies_below),
        cmocka_unit_test(tilted_moments_are_those_of_the_product),
        cmocka_unit_test(tilted_masses_are_differentiated),
        cmocka_unit_test(expectations_and_their_derivatives),
        cmocka_unit_test(many_degrees_of_freedom_are_normal),
        cmocka_unit_test(the_observed_variance_has_the_interval_of_the_noise),
        cmocka_unit_test(no_residual_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
