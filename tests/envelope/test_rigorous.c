/* SPDX-License-Identifier: Apache-2.0 */
/* Rigorous bounds: not below what a far more precise evaluation gives, and hardly above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "core/interval.h"
#include "envelope/support.h"

/* U(nu) for the squared exponential of unit scale, in long double throughout, with the certificate of the
 * last query. */
static long double precisely(const hf_envelope *envelope, const hf_envelope_workspace *workspace,
                             hf_side side, const double *x)
{
    size_t count, reading[64];
    double nu[64], lower, upper;
    const double *z[65];
    long double square = 0.0L, sum = 0.0L, weight[65];
    hf_envelope_active(workspace, side, &count, reading, nu);
    for (size_t a = 0; a < count; a++) {
        assert_int_equal(hf_envelope_reading(envelope, reading[a], &z[a], &lower, &upper), HF_OK);
        weight[a] = -(long double)nu[a];
        const long double low = (long double)nu[a] * lower, high = (long double)nu[a] * upper;
        sum += side == HF_UPPER ? fmaxl(low, high) : -fminl(low, high);
    }
    z[count] = x;
    weight[count] = 1.0L;
    for (size_t a = 0; a <= count; a++)
        for (size_t b = 0; b <= count; b++) {
            long double r2 = 0.0L;
            for (size_t j = 0; j < 2; j++)
                r2 += ((long double)z[a][j] - z[b][j]) * ((long double)z[a][j] - z[b][j]);
            square += weight[a] * weight[b] * expl(-0.5L * r2);
        }
    return hf_envelope_norm(envelope) * sqrtl(fmaxl(square, 0.0L)) + sum;
}

static void rigorous_bounds_hold(void **state)
{
    (void)state;
    if (!hfi_interval_usable()) skip(); /* valgrind */
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 2);
    for (uint64_t seed = 0; seed < 5; seed++) {
        support_world *world = support_make(kernel, 40, 2, seed % 2 == 0 ? 0.1 : 1e-4, 1.4, 300 + seed);
        hf_envelope_settings settings = hf_envelope_settings_default();
        hf_envelope *plain = support_envelope(ctx, kernel, &world->readings, world->norm), *rigorous = NULL;
        settings.rigorous = true;
        assert_int_equal(hf_envelope_create(ctx, kernel, &world->readings, world->norm, &settings, &rigorous),
                         HF_OK);
        hf_envelope_workspace *a = hf_envelope_workspace_create(ctx, plain);
        hf_envelope_workspace *b = hf_envelope_workspace_create(ctx, rigorous);
        for (size_t q = 0; q < 60; q++) {
            double x[2];
            hf_bound usual, sure;
            support_query(world, q, x);
            if (q % 4 == 0) memcpy(x, world->x + 2 * (q % 40), sizeof x);
            if (q % 4 == 1) x[0] = world->x[2 * (q % 40)] + 1e-7, x[1] = world->x[2 * (q % 40) + 1];
            assert_true(hf_envelope_bounds(plain, a, x, NULL, &usual, NULL, NULL) >= 0);
            assert_true(hf_envelope_bounds(rigorous, b, x, NULL, &sure, NULL, NULL) >= 0);
            const long double upper = precisely(rigorous, b, HF_UPPER, x),
                              lower = -precisely(rigorous, b, HF_LOWER, x);
            /* Error of the comparison itself, at most: roots of roundings of long double. */
            const long double off = 1e-8L * world->norm;
            assert_true(sure.upper >= upper - off * (q % 4 == 1 ? 1.0L : 1e-6L));
            assert_true(sure.lower <= lower + off * (q % 4 == 1 ? 1.0L : 1e-6L));
            assert_near(sure.upper, usual.upper, 1e-6 * world->norm);
            assert_near(sure.lower, usual.lower, 1e-6 * world->norm);
            const double truth = support_truth(world, x);
            assert_true(sure.lower <= truth + 1e-14 * world->norm &&
                        truth <= sure.upper + 1e-14 * world->norm);
        }
        hf_envelope_workspace_free(a);
        hf_envelope_workspace_free(b);
        hf_envelope_free(plain);
        hf_envelope_free(rigorous);
        support_free(world);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* A reading's limit in decimal fractions is not a double: the exact limit is inside. */
static void limits_are_moved_outwards(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 1);
    const double x = 0.0, y = 0.1, noise = 1e-17;
    const hf_bounded_readings readings = {.n = 1, .x = &x, .ldx = 1, .y = &y, .noise_bound = noise};
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.rigorous = true;
    hf_envelope *envelope = NULL;
    double lower, upper;
    assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 1.0, &settings, &envelope), HF_OK);
    assert_int_equal(hf_envelope_reading(envelope, 0, NULL, &lower, &upper), HF_OK);
    assert_true(lower < y && y < upper);
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rigorous_bounds_hold),
                                       cmocka_unit_test(limits_are_moved_outwards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
