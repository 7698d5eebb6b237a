/* SPDX-License-Identifier: Apache-2.0 */
/* Norms that readings ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include "kernel/gram_reference.h"
#include "linalg/linalg.h"
#include <holdfast/closed_envelope.h>

enum {
    INPUTS = 2
};

/* sqrt(y'K^-1 y) of the first n readings. */
static double interpolation_norm(const support_world *world, size_t n)
{
    hf_context *ctx = support_context(1);
    double *k = calloc(n * n, sizeof *k), *y = calloc(n, sizeof *y);
    assert_true(k && y);
    gram_reference(world->kernel, n, world->x, world->d, k, n);
    memcpy(y, world->y, n * sizeof *y);
    assert_int_equal(hfi_chol(ctx, n, k, n), HF_OK);
    hfi_chol_forward(n, k, n, y);
    const double norm = sqrt(hfi_dot(n, y, y));
    free(k);
    free(y);
    hf_context_free(ctx);
    return norm;
}

static void exact_readings_have_a_known_curve(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "matern32", INPUTS);
    for (uint64_t seed = 0; seed < 5; seed++) {
        support_world *world = support_make(kernel, 60, INPUTS, 0.0, 1.0, seed);
        hf_norm_point curve[6];
        assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, 6, curve), HF_OK);
        assert_int_equal(curve[5].readings, 60);
        for (size_t k = 0; k < 6; k++) {
            const double wanted = interpolation_norm(world, curve[k].readings);
            assert_near(curve[k].norm, wanted, 1e-8 * wanted);
            assert_true(curve[k].norm <= world->norm * (1.0 + 1e-12));
            if (k > 0) assert_true(curve[k].readings > curve[k - 1].readings);
            if (k > 0) assert_true(curve[k].norm >= curve[k - 1].norm);
        }
        support_free(world);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* A lower estimate of the truth's norm, whatever the noise; less noise asks for more. */
static void noise_only_lowers_the_estimate(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", INPUTS);
    for (uint64_t seed = 0; seed < 10; seed++) {
        support_world *world = support_make(kernel, 40, INPUTS, 0.02, 1.0, seed);
        double before = INFINITY;
        for (int k = 0; k < 5; k++) {
            hf_norm_point point;
            world->readings.noise_bound = 0.02 * pow(3.0, k);
            assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, 1, &point), HF_OK);
            assert_int_equal(point.readings, 40);
            assert_true(point.norm <= before && point.norm <= world->norm && point.norm >= 0.0);
            before = point.norm;
        }
        assert_true(before < 0.9 * world->norm);
        support_free(world);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* Every number of points is served by as many counts, however few readings there are. */
static void counts_rise_to_all_readings(void **state)
{
    (void)state;
    enum {
        MOST = 12
    };
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "matern12", INPUTS);
    for (size_t n = 1; n <= MOST; n++) {
        support_world *world = support_make(kernel, n, INPUTS, 0.1, 1.0, n);
        for (size_t points = 1; points <= n; points++) {
            hf_norm_point curve[MOST];
            assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, points, curve), HF_OK);
            assert_true(curve[0].readings >= 1 && curve[points - 1].readings == n);
            for (size_t k = 1; k < points; k++) assert_true(curve[k].readings > curve[k - 1].readings);
        }
        hf_norm_point curve[MOST + 1];
        assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, n + 1, curve), HF_ERR_ARGUMENT);
        assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, 0, curve), HF_ERR_ARGUMENT);
        support_free(world);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void contradictions_are_named(void **state)
{
    (void)state;
    const double x[] = {0.0, 1.0, 1.0, 2.0}, y[] = {0.0, 1.0, 1.5, 0.0};
    const hf_bounded_readings readings = {.n = 4, .x = x, .ldx = 1, .y = y, .noise_bound = 0.2};
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 1);
    hf_norm_point curve[4] = {{77, 77.0}};
    assert_int_equal(hf_norm_estimate(ctx, kernel, &readings, 4, curve), HF_ERR_INCONSISTENT);
    assert_true(curve[0].readings == 77);
    assert_non_null(strstr(hf_context_message(ctx), "first 3 readings"));
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static bool stop_later(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)value;
    (void)user;
    return done < 0.4;
}

static void cancelling_leaves_the_curve_alone(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", INPUTS);
    support_world *world = support_make(kernel, 30, INPUTS, 0.1, 1.0, 1);
    hf_norm_point curve[4] = {{77, 77.0}};
    hf_context_set_progress(ctx, stop_later, NULL);
    assert_int_equal(hf_norm_estimate(ctx, kernel, &world->readings, 4, curve), HF_ERR_CANCELLED);
    assert_true(curve[0].readings == 77);
    support_free(world);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_readings_have_a_known_curve), cmocka_unit_test(noise_only_lowers_the_estimate),
        cmocka_unit_test(counts_rise_to_all_readings),       cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(cancelling_leaves_the_curve_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
