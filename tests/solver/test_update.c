/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors that come, go and change against solutions made from scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/naive.h"

#include "linalg/linalg.h"

/* Readings beside the solution, changed in step with it. */
typedef struct shadow {
    size_t n, d;
    double *x, *target, *variance; /* room for ROOM */
} shadow;

enum {
    ROOM = 128,
    INPUTS = 2
};

static shadow shadow_make(const problem *p)
{
    shadow s = {.n = p->n, .d = p->d};
    s.x = naive_zeros(ROOM * p->d);
    s.target = naive_zeros(ROOM);
    s.variance = naive_zeros(ROOM);
    memcpy(s.x, p->x, p->n * p->d * sizeof *s.x);
    memcpy(s.target, hf_sites_targets(p->sites), p->n * sizeof *s.target);
    memcpy(s.variance, hf_sites_variances(p->sites), p->n * sizeof *s.variance);
    return s;
}

static void shadow_free(shadow *s)
{
    free(s->x);
    free(s->target);
    free(s->variance);
}

static double residual_at(const problem *p, const double *x, double target)
{
    double prior;
    hf_mean_evaluate(p->mean, 1, x, p->d, &prior);
    return target - prior;
}

static hf_status append(const problem *p, hfi_solution *s, const double *x, double target, double variance)
{
    double *column = naive_zeros(s->n);
    for (size_t i = 0; i < s->n; i++) column[i] = hfi_kernel_value(p->kernel, s->z + i * p->d, x, false);
    hf_status status = hfi_solution_append(p->ctx, s, x, residual_at(p, x, target), variance, column,
                                           hfi_kernel_value(p->kernel, x, x, true));
    free(column);
    return status;
}

static hf_status replace(const problem *p, hfi_solution *s, size_t i, double target, double variance)
{
    const double *x = s->z + i * p->d;
    return hfi_solution_replace(p->ctx, s, i, residual_at(p, x, target), variance,
                                hfi_kernel_value(p->kernel, x, x, true));
}

/* Solution against the textbook on the shadow. */
static void assert_same(const problem *p, const hfi_solution *s, const shadow *by, double tolerance)
{
    assert_int_equal(s->n, by->n);
    naive_gp gp = naive_make(p->kernel, p->mean, by->n, by->x, by->target, by->variance);
    double size = 0.0;
    for (size_t i = 0; i < s->n; i++) size = fmax(size, fabs(gp.t[i]));
    for (size_t i = 0; i < s->n; i++) {
        assert_near(s->t[i], gp.t[i], tolerance * size);
        assert_true(s->variance[i] == by->variance[i]);
        for (size_t j = 0; j < p->d; j++) assert_true(s->z[i * p->d + j] == by->x[i * p->d + j]);
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0, scale = sqrt(gp.a[i * by->n + i] * gp.a[j * by->n + j]);
            for (size_t k = 0; k <= j; k++)
                sum += s->factor[i + k * s->capacity] * s->factor[j + k * s->capacity];
            assert_near(sum, gp.a[i * by->n + j], tolerance * scale);
        }
    }
    assert_near(s->log_det, gp.log_det, tolerance * 100.0);
    naive_free(&gp);
}

static hfi_solution solve(const problem *p)
{
    hfi_solution s;
    assert_int_equal(hfi_exact_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, &s), HF_OK);
    return s;
}

static void shadow_remove(shadow *s, size_t i)
{
    memmove(s->x + i * s->d, s->x + (i + 1) * s->d, (s->n - i - 1) * s->d * sizeof *s->x);
    memmove(s->target + i, s->target + i + 1, (s->n - i - 1) * sizeof *s->target);
    memmove(s->variance + i, s->variance + i + 1, (s->n - i - 1) * sizeof *s->variance);
    s->n--;
}

static void random_step(const problem *p, hfi_solution *s, shadow *by, hfi_stream *stream)
{
    size_t kind = hfi_stream_below(stream, 3);
    double target = 2.0 * hfi_stream_normal(stream), variance = 0.02 + hfi_stream_uniform(stream);
    if (by->n < 8 || (kind == 0 && by->n < 60)) {
        double *x = by->x + by->n * by->d;
        for (size_t j = 0; j < by->d; j++) x[j] = 2.0 * hfi_stream_normal(stream);
        assert_int_equal(append(p, s, x, target, variance), HF_OK);
        by->target[by->n] = target;
        by->variance[by->n++] = variance;
        return;
    }
    size_t i = hfi_stream_below(stream, by->n);
    if (kind == 1) {
        assert_int_equal(hfi_solution_delete(p->ctx, s, i), HF_OK);
        shadow_remove(by, i);
    } else {
        assert_int_equal(replace(p, s, i, target, variance), HF_OK);
        by->target[i] = target;
        by->variance[i] = variance;
    }
}

static void long_random_sequence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard) + 0.2*white", 10, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    shadow by = shadow_make(&p);
    hfi_stream stream;
    hfi_stream_init(&stream, 77, HFI_PURPOSE_TEST, 0);
    for (size_t step = 0; step < 600; step++) {
        random_step(&p, &s, &by, &stream);
        if (step % 50 == 49) {
            assert_same(&p, &s, &by, 1e-11);
            assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
            assert_true(s.backward < 1e-12);
        }
    }
    assert_true(s.capacity >= s.n);
    shadow_free(&by);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void storage_doubles(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 1, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    size_t grown = 0;
    double *x = problem_inputs(64, INPUTS, 4);
    for (size_t i = 0; i < 63; i++) {
        size_t before = s.capacity;
        assert_int_equal(append(&p, &s, x + i * INPUTS, 0.1, 0.3), HF_OK);
        grown += s.capacity != before;
    }
    assert_int_equal(s.n, 64);
    assert_int_equal(s.capacity, 64);
    assert_int_equal(grown, 6);
    free(x);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

/* From an ordinary variance to practically absent and back: after 1e24 the old diagonal entry has forgotten
 * the kernel, which a plain downdate by the difference of the variances would take for zero. */
static void variances_may_change_by_orders_of_magnitude(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 25, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    shadow by = shadow_make(&p);
    const double variances[] = {1e3, 1e12, 1e24, 1e-3, 1e100, 0.05, 1e-8, 0.05};
    for (size_t step = 0; step < sizeof variances / sizeof *variances; step++)
        for (size_t i = 0; i < p.n; i += 6) {
            by.variance[i] = variances[step];
            assert_int_equal(replace(&p, &s, i, by.target[i], variances[step]), HF_OK);
            assert_same(&p, &s, &by, 1e-11);
        }
    shadow_free(&by);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

/* A copy of everything a solution is, to see whether a failed change left a mark. */
typedef struct snapshot {
    hfi_solution s;
    double *t, *factor;
} snapshot;

static snapshot take(const hfi_solution *s)
{
    snapshot shot = {.s = *s, .t = naive_zeros(s->n), .factor = naive_zeros(s->n * s->n)};
    memcpy(shot.t, s->t, s->n * sizeof *s->t);
    for (size_t j = 0; j < s->n; j++)
        memcpy(shot.factor + j * (s->n + 1), s->factor + j * (s->capacity + 1),
               (s->n - j) * sizeof *s->factor);
    return shot;
}

static void assert_unchanged(snapshot *shot, const hfi_solution *s)
{
    assert_int_equal(s->n, shot->s.n);
    assert_true(s->log_det == shot->s.log_det && s->backward == shot->s.backward &&
                s->jitter == shot->s.jitter);
    assert_memory_equal(s->t, shot->t, s->n * sizeof *s->t);
    for (size_t j = 0; j < s->n; j++)
        assert_memory_equal(s->factor + j * (s->capacity + 1), shot->factor + j * (s->n + 1),
                            (s->n - j) * sizeof *s->factor);
    free(shot->t);
    free(shot->factor);
}

static void failures_leave_no_mark(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 14, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    snapshot shot = take(&s);
    const double *twin = p.x + 3 * INPUTS;
    assert_int_equal(append(&p, &s, twin, 0.1, -0.5), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_unchanged(&shot, &s);
    shot = take(&s);
    assert_int_equal(append(&p, &s, twin, 1e308, 1e-8), HF_ERR_NOT_FINITE);
    assert_unchanged(&shot, &s);
    /* A variance below what the matrix can bear, found out only by the downdate behind the pivot: the anchor
     * comes first, so that its own pivot is fine. */
    shot = take(&s);
    assert_int_equal(replace(&p, &s, 0, 0.1, -0.9), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_unchanged(&shot, &s);
    shot = take(&s);
    assert_int_equal(replace(&p, &s, 13, 0.1, -5.0), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_unchanged(&shot, &s);
    shot = take(&s);
    assert_int_equal(replace(&p, &s, 5, 1.7e308, 1e-12), HF_ERR_NOT_FINITE);
    assert_unchanged(&shot, &s);
    double column[14] = {[7] = INFINITY}, x[INPUTS] = {0.0};
    shot = take(&s);
    assert_int_equal(hfi_solution_append(ctx, &s, x, 0.0, 1.0, column, 1.0), HF_ERR_NOT_FINITE);
    assert_unchanged(&shot, &s);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static hf_status operation(const problem *p, hfi_solution *s, size_t which)
{
    double x[INPUTS] = {0.5, -0.25};
    switch (which) {
    case 0:
        return append(p, s, x, 0.3, 0.2);
    case 1:
        return hfi_solution_delete(p->ctx, s, 2);
    case 2:
        return replace(p, s, 3, 1.0, 0.7);
    case 3:
        return hfi_solution_refresh(p->ctx, p->kernel, s);
    case 4:
        return hfi_solution_check(p->ctx, p->kernel, s);
    default: {
        double mean[64], variance[64];
        return hfi_solution_cavities(p->ctx, p->kernel, s, mean, variance);
    }
    }
}

/* Also where a site is so weak that the factor is still needed. */
static void last_cavities_are_those_of_a_kept_factor(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 40, INPUTS, 0.05);
    for (int weak = 0; weak < 2; weak++) {
        double mean[3][40], variance[3][40];
        hfi_solution s = solve(&p);
        if (weak) assert_int_equal(replace(&p, &s, 5, 0.4, 1e20), HF_OK);
        assert_int_equal(hfi_solution_cavities(ctx, p.kernel, &s, mean[0], variance[0]), HF_OK);
        double work[40 * 40], known[40];
        hfi_chol_inverse_diagonal(ctx, 40, s.factor, s.capacity, work, known);
        assert_int_equal(hfi_known_cavities(ctx, p.kernel, &s, known, mean[2], variance[2]), HF_OK);
        assert_int_equal(hfi_last_cavities(ctx, p.kernel, &s, mean[1], variance[1]), HF_OK);
        for (size_t k = 1; k < 3; k++)
            for (size_t i = 0; i < 40; i++) {
                assert_near(mean[k][i], mean[0][i], 1e-12);
                assert_near(variance[k][i], variance[0][i], 1e-12);
            }
        hfi_solution_free(&s);
    }
    problem_free(&p);
    hf_context_free(ctx);
}

static void failed_allocations_leave_no_mark(void **state)
{
    (void)state;
    counter c = {0};
    hf_context *ctx = counter_context(&c);
    problem p = problem_make(ctx, "matern52(ard)", 12, INPUTS, 0.1);
    for (size_t which = 0; which < 6; which++) {
        hfi_solution s = solve(&p);
        size_t failures = 0;
        for (;; failures++) {
            snapshot shot = take(&s);
            long before = c.live;
            c.calls = 0;
            c.fail = failures + 1;
            hf_status status = operation(&p, &s, which);
            c.fail = 0;
            if (status == HF_OK) {
                free(shot.t);
                free(shot.factor);
                break;
            }
            assert_int_equal(status, HF_ERR_MEMORY);
            assert_int_equal(c.live, before);
            assert_unchanged(&shot, &s);
        }
        assert_true(failures >= 1);
        hfi_solution_free(&s);
    }
    problem_free(&p);
    hf_context_free(ctx);
    assert_int_equal(c.live, 0);
}

static void check_finds_a_damaged_factor_and_refresh_heals_it(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard)", 100, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    double condition = s.condition;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
    assert_near(s.condition, condition, 1e-9 * condition);
    /* One entry, then one weight, then a row of the anchors: each alone is noticed. */
    double kept = s.factor[70 + 40 * s.capacity];
    s.factor[70 + 40 * s.capacity] += 1e-7;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_WARN_DRIFT);
    assert_true(s.backward > 1e-10 && s.backward < 1e-6);
    assert_true(strlen(hf_context_message(ctx)) > 0);
    s.factor[70 + 40 * s.capacity] = kept;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
    s.t[50] += 1e-6;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_WARN_DRIFT);
    assert_int_equal(hfi_solution_refresh(ctx, p.kernel, &s), HF_OK);
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
    assert_true(s.backward < 1e-14);
    s.factor[3 + 3 * s.capacity] = NAN;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_WARN_DRIFT);
    assert_true(isinf(s.backward));
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Damage to one reading must show even beside one whose site variance is 1e24. */
static void check_is_not_blinded_by_a_huge_variance(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 40, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    assert_int_equal(replace(&p, &s, 7, 1e12, 1e24), HF_OK);
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
    s.factor[30 + 20 * s.capacity] += 1e-7;
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_WARN_DRIFT);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void refresh_keeps_the_room_and_may_change_the_jitter(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 10, INPUTS, 0.05);
    hfi_solution s = solve(&p);
    double x[INPUTS] = {0.0, 0.0};
    assert_int_equal(append(&p, &s, x, 0.5, 0.2), HF_OK);
    assert_int_equal(s.capacity, 20);
    assert_int_equal(hfi_solution_refresh(ctx, p.kernel, &s), HF_OK);
    assert_int_equal(s.capacity, 20);
    shadow by = shadow_make(&p);
    memcpy(by.x + 10 * INPUTS, x, sizeof x);
    by.target[10] = 0.5;
    by.variance[10] = 0.2;
    by.n = 11;
    assert_same(&p, &s, &by, 1e-12);
    for (size_t i = 0; i < s.n; i++) s.variance[i] = 0.0;
    memcpy(s.z + INPUTS, s.z, INPUTS * sizeof *s.z);
    assert_int_equal(hfi_solution_refresh(ctx, p.kernel, &s), HF_WARN_JITTER);
    assert_true(s.jitter > 0.0);
    assert_int_equal(hfi_solution_check(ctx, p.kernel, &s), HF_OK);
    shadow_free(&by);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_random_sequence),
        cmocka_unit_test(storage_doubles),
        cmocka_unit_test(variances_may_change_by_orders_of_magnitude),
        cmocka_unit_test(failures_leave_no_mark),
        cmocka_unit_test(last_cavities_are_those_of_a_kept_factor),
        cmocka_unit_test(failed_allocations_leave_no_mark),
        cmocka_unit_test(check_finds_a_damaged_factor_and_refresh_heals_it),
        cmocka_unit_test(check_is_not_blinded_by_a_huge_variance),
        cmocka_unit_test(refresh_keeps_the_room_and_may_change_the_jitter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
