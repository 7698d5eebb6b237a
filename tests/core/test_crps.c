/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"
#include "core/normal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"

/* integral of (F(x) - [x >= y])^2 dx by Simpson on either side of y. */
static double simpson(double from, double to, double mean, double sd, double step)
{
    const int intervals = 4000;
    double h = (to - from) / intervals, sum = 0.0;
    for (int i = 0; i <= intervals; i++) {
        double x = from + h * i, f = 0.5 * erfc((mean - x) / (sd * sqrt(2.0))) - step;
        sum += f * f * (i == 0 || i == intervals ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
    }
    return sum * h / 3.0;
}

static double crps_by_integration(double y, double mean, double sd)
{
    double low = fmin(y, mean) - 12.0 * sd, high = fmax(y, mean) + 12.0 * sd;
    return simpson(low, y, mean, sd, 0.0) + simpson(y, high, mean, sd, 1.0);
}

static void it_is_the_integral(void **state)
{
    (void)state;
    for (double z = -9.0; z <= 9.0; z += 0.75) {
        double y = 1.5 + 0.4 * z;
        assert_near(hfi_normal_crps(y - 1.5, 0.4), crps_by_integration(y, 1.5, 0.4), 1e-9);
    }
}

static void it_scales(void **state)
{
    (void)state;
    for (double z = -50.0; z <= 50.0; z += 0.5) {
        double unit = hfi_normal_crps(z, 1.0);
        assert_near(hfi_normal_crps(8.0 * z, 8.0), 8.0 * unit, 1e-12 * (1.0 + unit));
        assert_near(hfi_normal_crps(-z, 1.0), unit, 0.0);
    }
}

static void far_out_it_is_the_absolute_error(void **state)
{
    (void)state;
    assert_near(hfi_normal_crps(1e12, 1.0), 1e12, 1.0);
    assert_true(isfinite(hfi_normal_crps(1e300, 1e-300)));
    assert_true(hfi_normal_crps(1.5, 0.0) == 1.5); /* a certain prediction */
    assert_true(hfi_normal_crps(0.0, 0.0) == 0.0);
    double below = hfi_normal_crps(nextafter(40.0, 0.0), 1.0), above = hfi_normal_crps(40.0, 1.0);
    assert_near(below, above, 1e-13); /* where the two forms meet */
}

static void the_truth_scores_best(void **state)
{
    (void)state;
    /* Proper: over y ~ N(0, 1), sd 1 beats other sds. Expectation by the trapezoidal rule. */
    double scores[3] = {0.0};
    const double sds[3] = {0.8, 1.0, 1.25};
    for (int j = 0; j < 3; j++)
        for (double y = -9.0; y <= 9.0; y += 0.01)
            scores[j] += 0.01 * exp(-0.5 * y * y - HFI_HALF_LOG_2PI) * hfi_normal_crps(y, sds[j]);
    assert_near(scores[1], 1.0 / sqrt(HFI_PI), 1e-9);
    assert_true(scores[1] < scores[0] && scores[1] < scores[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_integral),
        cmocka_unit_test(it_scales),
        cmocka_unit_test(far_out_it_is_the_absolute_error),
        cmocka_unit_test(the_truth_scores_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
