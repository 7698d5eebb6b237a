/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/mcd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"

static void closed_forms(void **state)
{
    (void)state;
    const double points[] = {1e-8, 0.01, 0.3, 1.0, 2.9, 3.1, 4.0, 7.0, 20.0, 90.0};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const double x = points[i];
        assert_near(hfi_chi_squared_cdf(1, x), erf(sqrt(0.5 * x)), 2e-15);
        assert_near(hfi_chi_squared_cdf(2, x), -expm1(-0.5 * x), 2e-15);
        assert_near(hfi_chi_squared_cdf(4, x), 1.0 - exp(-0.5 * x) * (1.0 + 0.5 * x), 2e-15);
    }
}

/* F_{k+2}(x) = F_k(x) - (x/2)^{k/2} e^{-x/2} / Gamma(k/2 + 1), across the change from series to fraction. */
static void recurrence_in_the_degrees(void **state)
{
    (void)state;
    for (size_t k = 1; k < 60; k++) {
        for (double x = 0.05; x < 200.0; x *= 1.3) {
            const double a = 0.5 * (double)k;
            const double step = exp(a * log(0.5 * x) - 0.5 * x - log(tgamma(a + 1.0)));
            assert_near(hfi_chi_squared_cdf(k + 2, x), hfi_chi_squared_cdf(k, x) - step, 2e-13);
        }
    }
}

static void quantile_inverts(void **state)
{
    (void)state;
    const double shares[] = {1e-6, 0.01, 0.3, 0.5, 0.75, 0.975, 0.999999};
    for (size_t k = 1; k < 200; k += 7) {
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            const double x = hfi_chi_squared_quantile(k, shares[i]);
            assert_near(hfi_chi_squared_cdf(k, x), shares[i], 1e-13);
        }
    }
    assert_near(hfi_chi_squared_quantile(1, 0.5), 0.454936423119573, 1e-14);
    assert_near(hfi_chi_squared_quantile(2, 0.975), -2.0 * log(0.025), 1e-13);
}

static void ends_and_nonsense(void **state)
{
    (void)state;
    assert_true(hfi_chi_squared_cdf(3, 0.0) == 0.0 && hfi_chi_squared_cdf(3, -1.0) == 0.0);
    assert_true(hfi_chi_squared_cdf(3, INFINITY) == 1.0);
    assert_true(isnan(hfi_chi_squared_cdf(3, NAN)) && isnan(hfi_chi_squared_cdf(0, 1.0)));
    assert_true(hfi_chi_squared_quantile(3, 0.0) == 0.0 && isinf(hfi_chi_squared_quantile(3, 1.0)));
    assert_true(isnan(hfi_chi_squared_quantile(3, 1.5)) && isnan(hfi_chi_squared_quantile(3, NAN)));
    assert_true(hfi_chi_squared_consistency(3, 1.0) == 1.0);
}

/* E[Z^2; |Z| <= r] / P(|Z| <= r) by the trapezium rule, and in two dimensions in closed form. */
static void consistency_is_the_truncated_variance(void **state)
{
    (void)state;
    for (double share = 0.5; share < 0.99; share += 0.1) {
        const double end = sqrt(hfi_chi_squared_quantile(1, share));
        const size_t steps = 200000;
        double mass = 0.0, second = 0.0;
        for (size_t i = 0; i < steps; i++) {
            const double z = end * ((double)i + 0.5) / (double)steps, density = exp(-0.5 * z * z);
            mass += density;
            second += z * z * density;
        }
        assert_near(hfi_chi_squared_consistency(1, share), mass / second, 1e-8);
        const double q = -2.0 * log(1.0 - share); /* E[R^2/2; R^2 <= q] = 1 - e^{-q/2} (1 + q/2) */
        assert_near(hfi_chi_squared_consistency(2, share), share / (1.0 - exp(-0.5 * q) * (1.0 + 0.5 * q)),
                    1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(recurrence_in_the_degrees),
        cmocka_unit_test(quantile_inverts),
        cmocka_unit_test(ends_and_nonsense),
        cmocka_unit_test(consistency_is_the_truncated_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
