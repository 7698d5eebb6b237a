/* SPDX-License-Identifier: Apache-2.0 */
/* Optimal bounds: what must hold of every one of them, and where they are known in closed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"

/* With one exact reading the consistent functions are a ball around the interpolant: the bound is mean +- G sd. */
static void one_exact_reading_is_a_ball(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "2*matern52(lengthscale=1.5)", 1);
    const double x = 0.3, y = 1.2, norm = 3.0;
    const hf_bounded_readings readings = {.n = 1, .x = &x, .ldx = 1, .y = &y, .noise_bound = 0.0};
    hf_envelope *envelope = support_envelope(ctx, kernel, &readings, norm);
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, envelope);
    for (int k = -20; k <= 20; k++) {
        const double z = 0.25 * k, prior = hfi_kernel_value(kernel, &x, &x, false);
        const double cross = hfi_kernel_value(kernel, &x, &z, false);
        const double mean = cross / prior * y, power = prior - cross * cross / prior;
        const double radius = sqrt(power * (norm * norm - y * y / prior));
        hf_bound bound;
        assert_int_equal(hf_envelope_bounds(envelope, workspace, &z, NULL, &bound, NULL, NULL), HF_OK);
        assert_near(bound.upper, mean + radius, 1e-12);
        assert_near(bound.lower, mean - radius, 1e-12);
        assert_true(bound.gap_upper < 1e-11 && bound.gap_lower < 1e-11);
    }
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* The interval of a reading is never left, and bounds are attained: the gap to a function that meets
 * everything is small. */
static void bounds_are_tight_and_keep_the_readings(void **state)
{
    (void)state;
    const char *const kernels[] = {"matern52", "se(lengthscale=0.7)", "3*matern12 + 0.5*linear",
                                   "matern32(ard)"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        support_problem p = support_open(kernels[k], 60, 2, 0.1, 1.3, 5 + k);
        const double scale = p.world->norm * sqrt(hfi_kernel_typical_variance(p.kernel));
        for (size_t q = 0; q < 200; q++) {
            double x[2];
            support_query(p.world, q, x);
            const size_t at = q % 3 == 0 ? q % p.world->readings.n : SIZE_MAX;
            if (at != SIZE_MAX) memcpy(x, p.world->x + 2 * at, sizeof x);
            const hf_bound bound = support_bound(&p, x);
            const double truth = support_truth(p.world, x);
            assert_true(bound.lower <= truth && truth <= bound.upper);
            if (bound.gap_upper > 1e-7 * scale || bound.gap_lower > 1e-7 * scale)
                fail_msg("kernel %zu query %zu: gaps %g %g of %g, pivots %zu", k, q, bound.gap_lower,
                         bound.gap_upper, scale, bound.pivots);
            if (at != SIZE_MAX)
                assert_true(bound.upper - bound.lower <=
                            2.0 * p.world->readings.noise_bound * (1.0 + 1e-14) + 1e-15 * fabs(truth));
        }
        support_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_exact_reading_is_a_ball),
                                       cmocka_unit_test(bounds_are_tight_and_keep_the_readings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
