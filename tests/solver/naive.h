/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file naive.h
 * @brief Textbook Gaussian process regression with explicit inverses, to hold solver and posterior
 * against; and the small problems and allocators their tests share. Include after <cmocka.h>.
 */
#ifndef HF_TEST_NAIVE_H
#define HF_TEST_NAIVE_H

#include "core/assert_near.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices, row-major
 * ---------------------------------------------------------------------------------------- */

static inline double *naive_zeros(size_t count)
{
    double *v = calloc(count > 0 ? count : 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static inline void naive_swap_rows(size_t n, double *a, size_t i, size_t j)
{
    for (size_t k = 0; k < n; k++) {
        double value = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = value;
    }
}

/* The inverse by Gauss-Jordan elimination with row pivoting, and log |det| when wanted. */
static inline double *naive_inverse(size_t n, const double *matrix, double *log_det)
{
    double *a = naive_zeros(n * n), *inverse = naive_zeros(n * n), sum = 0.0;
    memcpy(a, matrix, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1.0;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        naive_swap_rows(n, a, k, pivot);
        naive_swap_rows(n, inverse, k, pivot);
        double head = a[k * n + k];
        assert_true(head != 0.0);
        sum += log(fabs(head));
        for (size_t j = 0; j < n; j++) {
            a[k * n + j] /= head;
            inverse[k * n + j] /= head;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = a[i * n + k];
            for (size_t j = 0; j < n && i != k; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    if (log_det != NULL) *log_det = sum;
    free(a);
    return inverse;
}

static inline double naive_norm1(size_t n, const double *a)
{
    double most = 0.0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) sum += fabs(a[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}

/* ---- the posterior by the book
 * ------------------------------------------------------------------------------------ */

typedef struct naive_gp {
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t n, d;
    const double *x;  /* n x d */
    double *residual; /* target - m(x) */
    double *a;        /* K + diag(variance) */
    double *g;        /* its inverse */
    double *t;        /* g residual */
    double log_det;
} naive_gp;

static inline naive_gp naive_make(const hf_kernel *kernel, const hf_mean *mean, size_t n,
                                  const double *x, const double *target, const double *variance)
{
    naive_gp gp = {
        .kernel = kernel, .mean = mean, .n = n, .d = hf_kernel_dimension(kernel), .x = x};
    gp.residual = naive_zeros(n);
    gp.t = naive_zeros(n);
    gp.a = naive_zeros(n * n);
    for (size_t i = 0; i < n; i++) {
        double prior;
        hf_mean_evaluate(mean, 1, x + i * gp.d, gp.d, &prior);
        gp.residual[i] = target[i] - prior;
        for (size_t j = 0; j < n; j++)
            gp.a[i * n + j] = hfi_kernel_value(kernel, x + i * gp.d, x + j * gp.d, i == j) +
                              (i == j ? variance[i] : 0.0);
    }
    gp.g = naive_inverse(n, gp.a, &gp.log_det);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) gp.t[i] += gp.g[i * n + j] * gp.residual[j];
    return gp;
}

static inline void naive_free(naive_gp *gp)
{
    free(gp->residual);
    free(gp->a);
    free(gp->g);
    free(gp->t);
}

static inline double naive_mean(const naive_gp *gp, const double *x)
{
    double value;
    hf_mean_evaluate(gp->mean, 1, x, gp->d, &value);
    for (size_t i = 0; i < gp->n; i++)
        value += hfi_kernel_value(gp->kernel, x, gp->x + i * gp->d, false) * gp->t[i];
    return value;
}

/* Latent covariance of x and z; `same` says that they are one point. */
static inline double naive_covariance(const naive_gp *gp, const double *x, const double *z,
                                      bool same)
{
    double value = hfi_kernel_value(gp->kernel, x, z, same);
    for (size_t i = 0; i < gp->n; i++)
        for (size_t j = 0; j < gp->n; j++)
            value -= hfi_kernel_value(gp->kernel, x, gp->x + i * gp->d, false) *
                     gp->g[i * gp->n + j] *
                     hfi_kernel_value(gp->kernel, z, gp->x + j * gp->d, false);
    return value;
}

static inline double naive_evidence(const naive_gp *gp)
{
    double fit = 0.0;
    for (size_t i = 0; i < gp->n; i++) fit += gp->residual[i] * gp->t[i];
    return -0.5 * (fit + gp->log_det) - 0.5 * (double)gp->n * log(2.0 * HFI_PI);
}

/* ---- problems ---------------------------------------------------------------- */

/* Readings of a smooth function on [-2, 2]^d with noise, as Gaussian sites, some of them with noise
 * of their own. */
typedef struct problem {
    hf_context *ctx;
    size_t n, d;
    double *x, *y, *extra;
    double noise;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
} problem;

static inline double *problem_inputs(size_t m, size_t d, uint64_t seed)
{
    double *x = naive_zeros(m * d);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < m * d; i++) x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
    return x;
}

static inline double problem_truth(const double *x, size_t d)
{
    double value = 0.7;
    for (size_t j = 0; j < d; j++)
        value += sin(1.3 * x[j] + (double)j) - 0.2 * x[j] * x[(j + 1) % d];
    return value;
}

static inline hf_mean *problem_linear_mean(hf_context *ctx, size_t d)
{
    hf_mean *mean = NULL;
    double *values = naive_zeros(d + 1);
    for (size_t j = 0; j <= d; j++) values[j] = 0.3 - 0.1 * (double)j;
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, d, &mean), HF_OK);
    assert_int_equal(hf_mean_set(ctx, mean, values, true), HF_OK);
    free(values);
    return mean;
}

static inline problem problem_make(hf_context *ctx, const char *expression, size_t n, size_t d,
                                   double noise)
{
    problem p = {.ctx = ctx, .n = n, .d = d, .noise = noise};
    p.x = problem_inputs(n, d, 11);
    p.y = naive_zeros(n);
    p.extra = naive_zeros(n);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < n; i++) {
        p.extra[i] = i % 3 == 0 ? noise * hfi_stream_uniform(&stream) : 0.0;
        p.y[i] = problem_truth(p.x + i * d, d) + sqrt(noise) * hfi_stream_normal(&stream);
    }
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, &p.kernel), HF_OK);
    p.mean = problem_linear_mean(ctx, d);
    assert_int_equal(hf_sites_gaussian(ctx, n, p.y, noise, p.extra, &p.sites), HF_OK);
    return p;
}

static inline void problem_free(problem *p)
{
    hf_sites_free(p->sites);
    hf_mean_free(p->mean);
    hf_kernel_free(p->kernel);
    free(p->x);
    free(p->y);
    free(p->extra);
}

/* Everything of the problem, taken as it stands. */
static inline naive_gp problem_naive(const problem *p)
{
    return naive_make(p->kernel, p->mean, p->n, p->x, hf_sites_targets(p->sites),
                      hf_sites_variances(p->sites));
}

static inline hf_context *problem_context(int threads)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    return ctx;
}

/* ---- an allocator that counts, and fails when told to
 * ------------------------------------------------------------- */

typedef struct counter {
    size_t calls; /* so far */
    size_t fail;  /* this call fails, counted from 1; 0: none */
    long live;    /* blocks not yet released */
} counter;

static inline void *counter_allocate(size_t bytes, void *user)
{
    counter *c = user;
    c->calls++;
    if (c->calls == c->fail) return NULL;
    void *block = malloc(bytes);
    c->live += block != NULL;
    return block;
}

static inline void counter_release(void *memory, void *user)
{
    counter *c = user;
    c->live--;
    free(memory);
}

/* One thread, so that the counter needs no lock. */
static inline hf_context *counter_context(counter *c)
{
    hf_allocator allocator = {.allocate = counter_allocate, .release = counter_release, .user = c};
    hf_context *ctx = hf_context_create_with(&allocator);
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    return ctx;
}

#endif
