/* SPDX-License-Identifier: Apache-2.0 */
/* Logs and ratios of the standard normal distribution against 60 digits, and their own differential equations. */
#include "core/normal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"

/* z, log h, Phi / h, phi / h, log Phi, phi / Phi; made with mpmath 1.2.1. */
static const double known[][6] = {
    {-10000, -50000019.339619307, 10000.000199999994, 100000002.99999994, -50000010.129278915,
     10000.000099999998},
    {-300, -45012.326536814554, 300.00666644446173, 90002.999933338518, -45006.622732118663,
     300.00333325926337},
    {-38, -730.19618340211374, 38.052522760041328, 1446.9958648815705, -726.55721601882013,
     38.026279466575869},
    {-10, -55.553122036122356, 10.194383033412553, 102.94383033412553, -53.231285150512471,
     10.098093233962512},
    {-5, -16.74430116266099, 5.3618162412880885, 27.809081206440443, -15.064998393988726, 5.1865039671258421},
    {-4.0001, -11.84950483050974, 4.4325754397314651, 18.730745016469832, -10.360524052008378,
     4.2257024772949112},
    {-3.9999, -11.848618333761356, 4.4323920443005741, 18.729124937997865, -10.359678930579474,
     4.2255118118625939},
    {-2, -4.7687835239171142, 2.679416883955586, 6.358833767911172, -3.7831843336820319, 2.3732155328228409},
    {-1, -2.4851210257126413, 1.9042712333296918, 2.9042712333296918, -1.8410216450092635,
     1.5251352761609812},
    {-0.25, -1.2505589553352224, 1.4014356710866813, 1.3503589177716703, -0.91306176481113506,
     0.96355397941640391},
    {0, -0.91893853320467274, 1.2533141373155003, 1.0, -0.69314718055994531, 0.79788456080286536},
    {0.5, -0.35982768374506382, 0.99092271800410996, 0.50453864099794502, -0.36894641528865639,
     0.50916043383703349},
    {2, 0.69738354578822831, 0.48655931878528387, 0.026881362429432263, -0.023012909328963488,
     0.055247862678989959},
    {8, 2.0794415416798359, 0.12499999999999992, 6.3153388544211153e-16, -6.2209605742717861e-16,
     5.0522710835368954e-15},
    {40, 3.6888794541139363, 0.025, 0.0, 0.0, 0.0},
};

static void near(double actual, double expected)
{
    assert_near(actual, expected, 2e-13 * fabs(expected));
}

static void values_of_sixty_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double *row = known[i];
        const hfi_normal_excess at = hfi_normal_excess_at(row[0]);
        near(at.log_h, row[1]);
        near(at.slope, row[2]);
        near(at.density, row[3]);
        near(hfi_log_normal_cdf(row[0]), row[4]);
        near(hfi_normal_hazard(row[0]), row[5]);
    }
}

/* Where h is an ordinary number it is its definition; where it underflows, phi/h = -z Phi/h + 1 still holds. */
static void the_parts_agree(void **state)
{
    (void)state;
    for (double z = -3.0; z <= 12.0; z += 0.37) {
        const hfi_normal_excess at = hfi_normal_excess_at(z);
        const double h = hfi_normal_density(z) + z * hfi_normal_cdf(z);
        assert_near(exp(at.log_h), h, 1e-14 * h);
        assert_near(at.slope * h, hfi_normal_cdf(z), 1e-14);
        assert_near(hfi_normal_cdf(z) + hfi_normal_cdf(-z), 1.0, 1e-15);
    }
    for (double t = 1.0; t < 1e8; t *= 3.1) {
        const hfi_normal_excess at = hfi_normal_excess_at(-t);
        assert_near(at.density, 1.0 + t * at.slope, 1e-13 * at.density);
        assert_true(isfinite(at.log_h));
    }
}

/* No step where one formula takes over from the other: the slope of log h is Phi / h on both sides. */
static void the_formulas_meet(void **state)
{
    (void)state;
    const double step = 1e-3, below = -HFI_NORMAL_TAIL - step, above = -HFI_NORMAL_TAIL + step;
    const double rise = hfi_normal_excess_at(above).log_h - hfi_normal_excess_at(below).log_h;
    assert_near(rise / (2.0 * step), hfi_normal_excess_at(-HFI_NORMAL_TAIL).slope, 1e-7);
    assert_near(hfi_log_normal_cdf(above) - hfi_log_normal_cdf(below),
                2.0 * step * hfi_normal_hazard(-HFI_NORMAL_TAIL), 1e-9);
}

/* The quantile is the inverse, far into both tails. */
static void quantiles_are_where_the_probability_is(void **state)
{
    (void)state;
    for (double u = -37.0; u < 8.0; u += 0.173) {
        const double p = hfi_normal_cdf(u);
        if (u < 0.0) assert_near(hfi_normal_quantile(p), u, 1e-14 * (1.0 - u));
        if (u >= 0.0) /* 1 - p has lost digits */
            assert_near(hfi_normal_quantile(p), u, 1e-15 * (1.0 + u) + 2e-16 / hfi_normal_density(u));
    }
    assert_near(hfi_normal_quantile(0.5), 0.0, 1e-15);
    assert_near(hfi_normal_quantile(0.25), -hfi_normal_quantile(0.75), 0.0);
    assert_near(hfi_normal_quantile(0.025), -1.9599639845400542355, 1e-14);
    assert_near(hfi_normal_quantile(1e-300), -37.047096299361193, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_sixty_digits),
        cmocka_unit_test(the_parts_agree),
        cmocka_unit_test(the_formulas_meet),
        cmocka_unit_test(quantiles_are_where_the_probability_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
