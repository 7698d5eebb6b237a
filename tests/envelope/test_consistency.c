/* SPDX-License-Identifier: Apache-2.0 */
/* Consistency of readings and a norm bound that do, or do not, fit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"

static hf_consistency ask(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                          double norm, size_t *conflict)
{
    hf_consistency report;
    if (hf_envelope_consistency(ctx, kernel, readings, norm, &report, conflict) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    return report;
}

/* Two far readings: the smoothest function is the sum of two bumps, and its norm is known. */
static void two_far_readings(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "4*se", 1);
    const double x[] = {0.0, 1e3}, y[] = {3.0, -5.0};
    const hf_bounded_readings readings = {.n = 2, .x = x, .ldx = 1, .y = y, .noise_bound = 1.0};
    size_t conflict[2];
    /* |f|^2 = (2^2 + 4^2) / 4 */
    hf_consistency report = ask(ctx, kernel, &readings, 3.0, conflict);
    assert_near(report.minimum_norm, sqrt(5.0), 1e-14);
    assert_int_equal(report.conflicting, 0);
    assert_int_equal(report.distinct, 2);
    /* sqrt((3 - c)^2 + (5 - c)^2) = 2 G */
    const double norm = 1.5, root = 4.0 - sqrt(0.5 * (4.0 * norm * norm - 2.0));
    report = ask(ctx, kernel, &readings, norm, conflict);
    assert_near(report.noise_factor, root, 1e-9);
    assert_int_equal(report.conflicting, 1); /* 4 / 2 > 1.5 already */
    assert_int_equal(conflict[0], 1);
    report = ask(ctx, kernel, &readings, 2.1, conflict);
    assert_int_equal(report.conflicting, 2);
    report = ask(ctx, kernel, &readings, INFINITY, conflict);
    assert_int_equal(report.conflicting, 0);
    assert_near(report.noise_factor, 0.0, 0.0);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void one_input_read_twice(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 1);
    const double x[] = {0.0, 5.0, -0.0, 5.0}, y[] = {0.0, 1.0, 1.0, 1.1};
    const hf_bounded_readings readings = {.n = 4, .x = x, .ldx = 1, .y = y, .noise_bound = 0.25};
    size_t conflict[4];
    const hf_consistency report = ask(ctx, kernel, &readings, INFINITY, conflict);
    assert_int_equal(report.distinct, 2);
    assert_true(isinf(report.minimum_norm));
    assert_near(report.noise_factor, 2.0, 1e-9); /* halves of the distance: 0.5 / 0.25 */
    assert_int_equal(report.conflicting, 2);
    assert_int_equal(conflict[0], 0);
    assert_int_equal(conflict[1], 2);
    hf_envelope *envelope = NULL;
    assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 10.0, NULL, &envelope), HF_ERR_INCONSISTENT);
    assert_null(envelope);
    assert_non_null(strstr(hf_context_message(ctx), "rows 1, 3"));
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* The factor is where the norm of the smoothest function is G; the conflict is a conflict, and none without
 * any of its members. */
static void figures_are_what_they_say(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "matern32(lengthscale=0.8)", 2);
    for (uint64_t seed = 0; seed < 6; seed++) {
        support_world *world = support_make(kernel, 40, 2, 0.05, 1.0, 100 + seed);
        hf_bounded_readings readings = world->readings;
        size_t conflict[40];
        const double smooth = ask(ctx, kernel, &readings, INFINITY, NULL).minimum_norm;
        assert_true(smooth <= world->norm);
        for (int step = 0; step < 5; step++) {
            const double norm = (0.3 + 0.4 * step) * smooth;
            const hf_consistency report = ask(ctx, kernel, &readings, norm, conflict);
            assert_near(report.minimum_norm, smooth, 1e-9);
            assert_int_equal(report.conflicting > 0, smooth > norm);
            assert_int_equal(report.noise_factor > 1.0, smooth > norm);
            readings.noise_bound = report.noise_factor * world->readings.noise_bound;
            const double there = ask(ctx, kernel, &readings, norm, NULL).minimum_norm;
            if (report.noise_factor > 0.0)
                assert_near(there, norm, 1e-8);
            else /* even exact readings would do */
                assert_true(there <= norm);
            readings.noise_bound = world->readings.noise_bound;
            /* The members alone, and all but one of them. */
            for (size_t without = 0; report.conflicting > 0 && without <= report.conflicting; without++) {
                double x[80], y[40];
                size_t count = 0;
                for (size_t k = 0; k < report.conflicting; k++) {
                    if (k == without) continue;
                    memcpy(x + 2 * count, world->x + 2 * conflict[k], 2 * sizeof *x);
                    y[count++] = world->y[conflict[k]];
                }
                const hf_bounded_readings some = {
                    .n = count, .x = x, .ldx = 2, .y = y, .noise_bound = readings.noise_bound};
                if (count == 0) continue;
                const double needed = ask(ctx, kernel, &some, INFINITY, NULL).minimum_norm;
                assert_int_equal(needed > norm, without == report.conflicting);
            }
        }
        support_free(world);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* Twins 1e-9 apart that differ by 0.1 at least: |f| is at least that over their distance in the
 * space, 1e-9 / 1.5, which doubles take for nothing. */
static void near_twins_ask_for_what_they_ask_for(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se(lengthscale=1.5)", 1);
    const double x[] = {0.0, 1.0, 1.000000001, 2.5}, y[] = {0.3, 0.5, 0.8, -0.2}, least = 0.1 * 1.5 / 1e-9;
    const hf_bounded_readings readings = {.n = 4, .x = x, .ldx = 1, .y = y, .noise_bound = 0.1};
    size_t conflict[4];
    hf_consistency report = ask(ctx, kernel, &readings, 5e6, conflict);
    assert_true(report.minimum_norm > 0.3 * least && report.norm_open > 1e-3);
    assert_int_equal(report.conflicting, 2);
    assert_true(conflict[0] == 1 && conflict[1] == 2);
    assert_true(report.noise_factor > 1.4 && report.noise_factor < 1.5);
    hf_envelope *envelope = NULL;
    assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 5e6, NULL, &envelope), HF_ERR_INCONSISTENT);
    assert_non_null(strstr(hf_context_message(ctx), "at least"));
    /* Readings far apart leave nothing open. */
    const double apart[] = {0.0, 1.0, 2.0, 3.5};
    const hf_bounded_readings others = {.n = 4, .x = apart, .ldx = 1, .y = y, .noise_bound = 0.1};
    report = ask(ctx, kernel, &others, 0.1, conflict);
    assert_true(report.conflicting > 0 && report.norm_open < 1e-9);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* Where every function of the space is zero, a reading that is not contradicts any norm. */
static void a_zero_that_is_not_read_as_one(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "linear", 1);
    const double x[] = {1.0, 0.0}, y[] = {2.0, 1.0};
    hf_bounded_readings readings = {.n = 2, .x = x, .ldx = 1, .y = y, .noise_bound = 0.5};
    size_t conflict[2];
    hf_consistency report = ask(ctx, kernel, &readings, 100.0, conflict);
    assert_int_equal(report.conflicting, 1);
    assert_int_equal(conflict[0], 1);
    assert_near(report.noise_factor, 2.0, 1e-9);
    readings.noise_bound = 1.5;
    report = ask(ctx, kernel, &readings, 100.0, conflict);
    assert_int_equal(report.conflicting, 0);
    assert_near(report.minimum_norm, 0.5, 1e-14);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* No kernel of the language is of that kind; a matrix that is not positive semi-definite is told from one
 * that is so but for rounding. */
static void an_indefinite_matrix_is_noticed(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    const hfi_memory heap = hfi_context_memory(ctx);
    const double indefinite[] = {1.0, 2.0, 2.0, 1.0}, flat[] = {1.0, 1.0, 1.0, 1.0}, sd[] = {1.0, 1.0};
    const double lower[] = {1.0, -2.0}, upper[] = {2.0, -1.0};
    hfi_active_problem problem = {
        .n = 2, .k = indefinite, .ldk = 2, .lower = lower, .upper = upper, .sd = sd};
    hfi_chain chain;
    assert_true(hfi_chain_init(&heap, 2, &chain));
    (void)hfi_active_solve(&problem, &chain, 0, 0.0, NULL, NULL);
    assert_true(chain.indefinite);
    hfi_chain_free(&heap, &chain);
    problem.k = flat;
    assert_true(hfi_chain_init(&heap, 2, &chain));
    (void)hfi_active_solve(&problem, &chain, 0, 0.0, NULL, NULL);
    assert_false(chain.indefinite);
    const hfi_dual_value dual = hfi_dual_evaluate(&problem, chain.count, chain.index, chain.nu);
    assert_true(dual.support < 0.0L && -dual.support > 1e6L * sqrtl(dual.square));
    hfi_chain_free(&heap, &chain);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_indefinite_matrix_is_noticed),
                                       cmocka_unit_test(two_far_readings),
                                       cmocka_unit_test(one_input_read_twice),
                                       cmocka_unit_test(near_twins_ask_for_what_they_ask_for),
                                       cmocka_unit_test(figures_are_what_they_say),
                                       cmocka_unit_test(a_zero_that_is_not_read_as_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
