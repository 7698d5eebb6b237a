/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of Student-t fits: posteriors with precisions of either sign against dense formulas, accelerated fixed points,
 * searches in a box. */
#include "inference/curved.h"
#include "linalg/linalg.h"
#include "search/anderson.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 60
};

typedef struct fixture {
    hf_context *ctx;
    hfi_curved c;
    double b[N * N];
    double sigma[N * N], r[N * N]; /* by the book */
    double log_det;
} fixture;

/* out := A B, all N x N. */
static void multiply(const double *a, const double *b, double *out)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < N; k++) sum += a[i + k * N] * b[k + j * N];
            out[i + j * N] = sum;
        }
}

/* A := A^-1 by elimination with pivots; returns log |det A|, NaN for a negative determinant. */
static double invert(double *a)
{
    static double work[2 * N * N];
    double log_det = 0.0, sign = 1.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            work[i * 2 * N + j] = a[i + j * N];
            work[i * 2 * N + N + j] = i == j ? 1.0 : 0.0;
        }
    for (size_t k = 0; k < N; k++) {
        size_t pivot = k;
        for (size_t i = k; i < N; i++)
            if (fabs(work[i * 2 * N + k]) > fabs(work[pivot * 2 * N + k])) pivot = i;
        for (size_t j = 0; pivot != k && j < 2 * N; j++) {
            const double kept = work[k * 2 * N + j];
            work[k * 2 * N + j] = work[pivot * 2 * N + j];
            work[pivot * 2 * N + j] = kept;
        }
        const double head = work[k * 2 * N + k];
        sign *= (pivot == k ? 1.0 : -1.0) * (head < 0.0 ? -1.0 : 1.0);
        log_det += log(fabs(head));
        for (size_t j = 0; j < 2 * N; j++) work[k * 2 * N + j] /= head;
        for (size_t i = 0; i < N; i++) {
            const double factor = work[i * 2 * N + k];
            for (size_t j = 0; i != k && j < 2 * N; j++) work[i * 2 * N + j] -= factor * work[k * 2 * N + j];
        }
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) a[i + j * N] = work[i * 2 * N + N + j];
    return sign > 0.0 ? log_det : NAN;
}

/* Sigma = (I + K W)^-1 K and R = W (I + K W)^-1. */
static void by_the_book(fixture *f)
{
    static double inner[N * N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            inner[i + j * N] = f->c.k[i + j * N] * f->c.w[j] + (i == j ? 1.0 : 0.0);
    f->log_det = invert(inner);
    multiply(inner, f->c.k, f->sigma);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) f->r[i + j * N] = f->c.w[i] * inner[i + j * N];
}

/* A rough kernel; every `each`-th precision is negative, of size `depth` in units of the prior's inverse variance. */
static void make(fixture *f, size_t each, double depth)
{
    f->ctx = hf_context_create();
    assert_int_equal(hfi_curved_init(f->ctx, N, f->b, &f->c), HF_OK);
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) f->c.k[i + j * N] = 1.5 * exp(-fabs((double)i - (double)j) / 4.0);
        const double u = hfi_stream_uniform(&stream);
        f->c.w[i] = i % 9 == 4 ? 1e-6 * u : 20.0 * u; /* some say next to nothing */
        if (each > 0 && i % each == 1) f->c.w[i] = -depth * (i % 2 ? 1.0 : 1e-5);
    }
    by_the_book(f);
}

static void drop(fixture *f)
{
    hfi_curved_free(&f->c);
    hf_context_free(f->ctx);
}

static void posteriors_are_those_of_dense_formulas(void **state)
{
    (void)state;
    static fixture f;
    const size_t each[] = {0, 7, 4};
    for (size_t k = 0; k < 3; k++) {
        double variance[N], again[N], x[N], rx[N];
        make(&f, each[k], 0.8);
        assert_int_equal(hfi_curved_factor(&f.c, NULL), HF_OK);
        assert_near(f.c.log_det, f.log_det, 1e-10 * (1.0 + fabs(f.log_det)));
        for (size_t i = 0; i < N; i++) x[i] = sin((double)i);
        hfi_curved_r(&f.c, x, rx);
        for (size_t i = 0; i < N; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < N; j++) sum += f.r[i + j * N] * x[j];
            assert_near(rx[i], sum, 1e-9);
        }
        assert_int_equal(hfi_curved_variances(&f.c, variance), HF_OK);
        hfi_curved_r(&f.c, x, again); /* the factor has stayed */
        assert_memory_equal(rx, again, sizeof rx);
        for (size_t i = 0; i < N; i++) assert_near(variance[i], f.sigma[i * (N + 1)], 1e-9);
        assert_int_equal(hfi_curved_finish(&f.c, again), HF_OK);
        for (size_t i = 0; i < N; i++) {
            assert_near(again[i], f.sigma[i * (N + 1)], 1e-9);
            for (size_t j = 0; j <= i; j++) assert_near(f.b[i + j * N], f.r[i + j * N], 1e-9);
        }
        drop(&f);
    }
}

static void what_has_no_posterior_is_told_with_a_way_out(void **state)
{
    (void)state;
    static fixture f;
    double u[N], direction[N];
    make(&f, 4, 60.0);
    assert_int_equal(hfi_curved_factor(&f.c, NULL), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_int_equal(hfi_curved_factor(&f.c, u), HF_ERR_NOT_POSITIVE_DEFINITE);
    hfi_curved_k(&f.c, u, direction);
    double curvature = hfi_dot(N, u, direction); /* f' K^-1 f */
    for (size_t i = 0; i < N; i++) curvature += direction[i] * f.c.w[i] * direction[i];
    assert_true(curvature < 0.0);
    drop(&f);
}

/* The softened log determinant as a function of one precision. */
static double softened(fixture *f, size_t i, double step, double limit)
{
    const double kept = f->c.w[i];
    double log_det;
    f->c.w[i] += step;
    assert_int_equal(hfi_curved_factor(&f->c, NULL), HF_OK);
    assert_int_equal(hfi_curved_soften(&f->c, limit, &log_det), HF_OK);
    f->c.w[i] = kept;
    return log_det;
}

static void softened_determinants_are_differentiated(void **state)
{
    (void)state;
    static fixture f;
    const double limit = 0.9; /* takes in several directions */
    double variance[N];
    make(&f, 7, 0.8);
    const double soft = softened(&f, 0, 0.0, limit);
    assert_true(f.c.flat > 0 && soft > f.c.log_det);
    /* Nothing is changed where nothing is flat. */
    assert_near(softened(&f, 0, 0.0, 1e-6), f.c.log_det, 0.0);
    softened(&f, 0, 0.0, limit);
    assert_int_equal(hfi_curved_finish(&f.c, variance), HF_OK);
    hfi_curved_soften_variances(&f.c, limit, variance);
    for (size_t i = 0; i < N; i++) {
        if (fabs(f.c.w[i]) < 1e-2) continue; /* a difference would change its sign */
        const double h = 1e-5;
        const double quotient = (softened(&f, i, h, limit) - softened(&f, i, -h, limit)) / (2.0 * h);
        assert_near(variance[i], quotient, 1e-6);
    }
    drop(&f);
}

static void accelerated_steps_reach_a_fixed_point_soon(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    int steps[2];
    for (int accelerated = 0; accelerated < 2; accelerated++) {
        hfi_anderson a;
        double x[5] = {0}, r[5], next[5], largest = 1.0;
        assert_int_equal(hfi_anderson_init(ctx, 5, &a), HF_OK);
        for (steps[accelerated] = 0; largest > 1e-10 && steps[accelerated] < 2000; steps[accelerated]++) {
            largest = 0.0;
            for (size_t i = 0; i < 5; i++) {
                /* A contraction with rates up to 0.97, slightly bent. */
                r[i] = (1.0 - x[i]) * (0.03 + 0.2 * (double)i) + 0.01 * sin(x[(i + 1) % 5]);
                largest = fmax(largest, fabs(r[i]));
            }
            if (!accelerated) hfi_anderson_reset(&a);
            hfi_anderson_next(&a, x, r, 1.0, next);
            memcpy(x, next, sizeof x);
        }
        assert_true(largest <= 1e-10);
        hfi_anderson_free(&a);
    }
    assert_true(steps[1] * 5 < steps[0]);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posteriors_are_those_of_dense_formulas),
        cmocka_unit_test(what_has_no_posterior_is_told_with_a_way_out),
        cmocka_unit_test(softened_determinants_are_differentiated),
        cmocka_unit_test(accelerated_steps_reach_a_fixed_point_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
