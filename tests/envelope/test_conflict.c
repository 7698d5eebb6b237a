/* SPDX-License-Identifier: Apache-2.0 */
/* A reading that is refused: which others it contradicts, none of them for nothing, and what norm would do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"

#include <stdio.h>

enum {
    READINGS = 24,
    WORLDS = 12
};

/* The smallest norm of the readings chosen, with the refused one at the end. */
static double norm_of(const support_problem *p, const size_t *chosen, size_t count, size_t without,
                      const double *x, double y)
{
    double inputs[(READINGS + 1) * 2], values[READINGS + 1];
    size_t n = 0;
    for (size_t k = 0; k <= count; k++) {
        if (k == without) continue;
        memcpy(inputs + n * p->world->d, k < count ? p->world->x + chosen[k] * p->world->d : x,
               p->world->d * sizeof *x);
        values[n++] = k < count ? p->world->y[chosen[k]] : y;
    }
    const hf_bounded_readings readings = {
        .n = n, .x = inputs, .ldx = p->world->d, .y = values, .noise_bound = p->world->readings.noise_bound};
    hf_consistency report;
    assert_int_equal(hf_envelope_consistency(p->ctx, p->kernel, &readings, INFINITY, &report, NULL), HF_OK);
    return report.minimum_norm;
}

static void check_conflict(const support_problem *p, const hf_envelope *envelope, const double *x, double y)
{
    size_t conflict[READINGS], count = READINGS + 1, all[READINGS];
    double norm;
    char number[32];
    hf_envelope_conflict(envelope, &count, conflict, &norm);
    assert_true(count <= READINGS);
    /* Alone, it contradicts nothing but the norm bound. */
    assert_true((count == 0) == (norm_of(p, NULL, 0, SIZE_MAX, x, y) > p->world->norm));
    for (size_t k = 0; k < count; k++) {
        assert_true(conflict[k] < READINGS && (k == 0 || conflict[k] > conflict[k - 1]));
        if (k >= 8) continue;
        (void)snprintf(number, sizeof number, "%zu", conflict[k] + 1);
        assert_non_null(strstr(hf_context_message(p->ctx), number));
    }
    /* All of them and the refused one: too long; any one less: short enough. */
    const double bound = p->world->norm;
    assert_true(norm_of(p, conflict, count, SIZE_MAX, x, y) > bound * (1.0 - 1e-9));
    for (size_t k = 0; k < count; k++)
        assert_true(norm_of(p, conflict, count, k, x, y) < bound * (1.0 + 1e-9));
    for (size_t i = 0; i < READINGS; i++) all[i] = i;
    const double least = norm_of(p, all, READINGS, SIZE_MAX, x, y);
    assert_near(norm / least, 1.0, 1e-6);
    assert_true(least > bound);
}

static void none_is_named_for_nothing(void **state)
{
    (void)state;
    for (uint64_t w = 0; w < WORLDS; w++) {
        support_problem p =
            support_begin(w % 2 ? "se(lengthscale=0.8)" : "matern52", READINGS, 1 + w % 2, 0.1, 1.3, 300 + w);
        const hf_envelope_settings settings = {.size = sizeof(hf_envelope_settings),
                                               .reserve = w % 3 == 0 ? 2 : 0};
        hf_envelope *envelope = NULL;
        double x[2];
        assert_int_equal(
            hf_envelope_create(p.ctx, p.kernel, &p.world->readings, p.world->norm, &settings, &envelope),
            HF_OK);
        for (size_t q = 0; q < 4; q++) {
            support_query(p.world, q, x);
            hf_bound allowed;
            assert_true(hf_envelope_bounds_batch(p.ctx, envelope, 1, x, p.world->d, NULL, &allowed) >= 0);
            /* Beyond what the others allow by a little, or by much. */
            const double beyond = 0.1 + (q % 2 ? 0.05 : 2.0) * p.world->norm,
                         y = q < 2 ? allowed.upper + beyond : allowed.lower - beyond;
            const double before = hf_envelope_minimum_norm(envelope);
            assert_int_equal(hf_envelope_add(p.ctx, envelope, x, y, 0.1, 0.1), HF_ERR_INCONSISTENT);
            check_conflict(&p, envelope, x, y);
            assert_int_equal(hf_envelope_readings(envelope), READINGS);
            assert_true(hf_envelope_minimum_norm(envelope) == before);
        }
        size_t count = 9;
        double norm = 1.0;
        assert_int_equal(hf_envelope_add(p.ctx, envelope, x, support_truth(p.world, x), 0.1, 0.1), HF_OK);
        hf_envelope_conflict(envelope, &count, NULL, &norm);
        assert_true(count == 0 && isnan(norm));
        hf_envelope_free(envelope);
        support_close(&p);
    }
}

static void intervals_that_do_not_meet(void **state)
{
    (void)state;
    support_problem p = support_begin("se", 5, 1, 0.1, 2.0, 3);
    hf_envelope *envelope = NULL;
    size_t count = 9, conflict[5] = {9};
    double norm = 0.0;
    for (size_t i = 0; i < 5; i++) p.world->y[i] += 200.0;
    p.world->readings.offset = 200.0;
    assert_int_equal(hf_envelope_create(p.ctx, p.kernel, &p.world->readings, p.world->norm, NULL, &envelope),
                     HF_OK);
    hf_envelope_conflict(envelope, &count, conflict, &norm);
    assert_true(count == 0 && conflict[0] == 9 && isnan(norm));
    assert_int_equal(hf_envelope_add(p.ctx, envelope, p.world->x + 3, p.world->y[3] + 1.0, 0.1, 0.1),
                     HF_ERR_INCONSISTENT);
    hf_envelope_conflict(envelope, &count, conflict, &norm);
    assert_int_equal(count, 1);
    assert_int_equal(conflict[0], 3);
    assert_true(isinf(norm));
    assert_non_null(strstr(hf_context_message(p.ctx), "contradicts distinct reading 4 (counted from 1);"));
    assert_non_null(strstr(hf_context_message(p.ctx), "no norm would do"));
    char limit[48]; /* in the units of the readings */
    (void)snprintf(limit, sizeof limit, "one in [%g, ", p.world->y[3] + 0.9);
    assert_non_null(strstr(hf_context_message(p.ctx), limit));
    hf_envelope_conflict(envelope, NULL, NULL, NULL);
    hf_envelope_conflict(NULL, &count, conflict, &norm);
    assert_true(count == 0 && isnan(norm));
    hf_envelope_free(envelope);
    support_close(&p);
}

/* Where every function of the space is zero nothing else is needed for a contradiction. */
static void a_place_where_all_are_zero(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "linear", 1);
    const double x = 1.0, y = 2.0, zero = 0.0;
    const hf_bounded_readings readings = {.n = 1, .x = &x, .ldx = 1, .y = &y, .noise_bound = 0.5};
    hf_envelope *envelope = support_envelope(ctx, kernel, &readings, 100.0);
    size_t count = 9;
    double norm = 0.0;
    assert_int_equal(hf_envelope_add(ctx, envelope, &zero, 1.0, 0.5, 0.5), HF_ERR_INCONSISTENT);
    hf_envelope_conflict(envelope, &count, NULL, &norm);
    assert_true(count == 0 && isinf(norm));
    assert_null(strstr(hf_context_message(ctx), "contradicts"));
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_is_named_for_nothing),
                                       cmocka_unit_test(intervals_that_do_not_meet),
                                       cmocka_unit_test(a_place_where_all_are_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
