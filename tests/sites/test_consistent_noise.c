/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"

/* E[u^2 / (1 + a u^2)] for u ~ N(0, 1). With u = sinh(s) / sqrt(a) the bump of width 1/sqrt(a) at zero is
 * spread out. The trapezoidal rule does the rest: it is exact to rounding for analytic integrands that die at both
 * ends. */
static double down_weighted_variance(double a)
{
    double root = sqrt(a), end = asinh(12.0 * root), sum = 0.0;
    const int intervals = 20000;
    double h = 2.0 * end / intervals;
    for (int i = 0; i <= intervals; i++) {
        double s = -end + h * i, u = sinh(s) / root;
        sum += u * u / (1.0 + a * u * u) * exp(-0.5 * u * u - HFI_HALF_LOG_2PI) * cosh(s) / root;
    }
    return h * sum;
}

static void the_integral_itself_is_right(void **state)
{
    (void)state;
    assert_near(down_weighted_variance(1e-12), 1.0, 1e-11);
    assert_near(down_weighted_variance(1e-3), 1.0 - 3e-3 + 15e-6 - 105e-9 + 945e-12, 2e-11);
}

static void it_satisfies_the_defining_equation(void **state)
{
    (void)state;
    for (double sigma = 1e-6; sigma < 0.88; sigma *= 1.07) { /* noise / c^2 */
        for (double c = 1e-3; c <= 1e3; c *= 1e3) {
            double noise = sigma * c * c, v = hf_robust_consistent_noise(noise, c);
            assert_true(v >= noise);
            assert_near(v * down_weighted_variance(v / (c * c)) / noise, 1.0, 1e-11);
        }
    }
}

static void it_tends_to_the_noise_for_large_thresholds(void **state)
{
    (void)state;
    assert_true(hf_robust_consistent_noise(0.3, INFINITY) == 0.3);
    assert_true(hf_robust_consistent_noise(0.3, 1e200) == 0.3);
    assert_true(hf_robust_consistent_noise(0.0, 2.0) == 0.0);
    for (double c = 1e2; c < 1e8; c *= 10.0) {
        double v = hf_robust_consistent_noise(0.3, c);
        /* v = noise (1 + 3 noise / c^2 + ...) */
        assert_near((v / 0.3 - 1.0) * c * c, 0.9, 1e-2 + 1e-15 * c * c);
    }
}

static void it_grows_with_the_noise_without_a_jump(void **state)
{
    (void)state;
    double last = 0.0;
    for (double noise = 0.5; noise < 3.0;
         noise *= 1.001) { /* through noise = c^2, where no solution is left */
        double v = hf_robust_consistent_noise(noise, 1.0);
        assert_true(isfinite(v) && v > last);
        assert_true(last == 0.0 || v < 1.1 * last);
        last = v;
    }
}

static void extremes_stay_finite_and_nonsense_is_nan(void **state)
{
    (void)state;
    const double noises[] = {5e-324, 1e-300, 1.0, 1e300}, thresholds[] = {5e-324, 1e-300, 1.0, 1e300};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            double v = hf_robust_consistent_noise(noises[i], thresholds[j]);
            assert_true(isfinite(v) && v >= noises[i]);
        }
    }
    assert_true(isnan(hf_robust_consistent_noise(-1.0, 1.0)));
    assert_true(isnan(hf_robust_consistent_noise(1.0, 0.0)));
    assert_true(isnan(hf_robust_consistent_noise(NAN, 1.0)));
    assert_true(isnan(hf_robust_consistent_noise(1.0, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_integral_itself_is_right),
        cmocka_unit_test(it_satisfies_the_defining_equation),
        cmocka_unit_test(it_tends_to_the_noise_for_large_thresholds),
        cmocka_unit_test(it_grows_with_the_noise_without_a_jump),
        cmocka_unit_test(extremes_stay_finite_and_nonsense_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
