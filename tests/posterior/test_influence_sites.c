/* SPDX-License-Identifier: Apache-2.0 */
/* The influence of several sites at once, against the divergence of dense vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    D = 2, /* an input, and the number of the output */
    OUTPUTS = 3,
    ROWS = 6,
    N = ROWS * OUTPUTS,
    M = 5,
    ALL = N + M
};

static const char *const KERNELS[] = {"coregion(x2, outputs=3) * matern32(x1)",
                                      "coregion(x2, outputs=3) * matern52(x1) + 0.2*white"};

/* Rows of three readings at the same place, sites of which are all different. */
static problem make(hf_context *ctx, const char *kernel)
{
    problem p = problem_make(ctx, kernel, N, D, 0.05);
    for (size_t i = 0; i < N; i++) {
        p.x[i * D] = 0.8 * (double)(i / OUTPUTS) + 0.05 * (double)(i / OUTPUTS % 2);
        p.x[i * D + 1] = (double)(i % OUTPUTS);
        p.sites->variance[i] = i == 4 ? 1e7 : 0.02 * (double)(1 + i % 5);
    }
    return p;
}

/* Places of one output: two of the rows', and others. */
static void places(size_t output, double *x)
{
    for (size_t j = 0; j < M; j++) {
        x[j * D] = j < 2 ? 0.8 * (double)j + 0.05 * (double)(j % 2) : 0.33 + 1.1 * (double)j;
        x[j * D + 1] = (double)output;
    }
}

/* Means and covariance of f at the anchors, then at the places: the prior times the sites. */
typedef struct normal {
    double mean[ALL], covariance[ALL * ALL];
} normal;

static normal dense(const problem *p, const double *target, const double *variance, const double *x)
{
    normal result;
    double k[ALL * ALL], a[N * N] = {0.0}, rest[N];
    for (size_t i = 0; i < ALL; i++)
        for (size_t j = 0; j < ALL; j++) {
            const double *u = i < N ? p->x + i * D : x + (i - N) * D;
            const double *v = j < N ? p->x + j * D : x + (j - N) * D;
            k[i * ALL + j] = hfi_kernel_value(p->kernel, u, v, i == j && i < N);
        }
    size_t present[N], count = 0;
    for (size_t i = 0; i < N; i++)
        if (!isinf(variance[i])) present[count++] = i;
    for (size_t i = 0; i < count; i++) {
        double prior;
        hf_mean_evaluate(p->mean, 1, p->x + present[i] * D, D, &prior);
        rest[i] = target[present[i]] - prior;
        for (size_t j = 0; j < count; j++)
            a[i * count + j] = k[present[i] * ALL + present[j]] + (i == j ? variance[present[i]] : 0.0);
    }
    double *inverse = naive_inverse(count, a, NULL);
    for (size_t q = 0; q < ALL; q++) {
        result.mean[q] = 0.0;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                result.mean[q] += k[q * ALL + present[i]] * inverse[i * count + j] * rest[j];
        for (size_t s = 0; s < ALL; s++) {
            double less = 0.0;
            for (size_t i = 0; i < count; i++)
                for (size_t j = 0; j < count; j++)
                    less += k[q * ALL + present[i]] * inverse[i * count + j] * k[present[j] * ALL + s];
            result.covariance[q * ALL + s] = k[q * ALL + s] - less;
        }
    }
    free(inverse);
    return result;
}

/* KL(p || q) of the entries from `first` on. */
static double divergence(const normal *p, const normal *q, size_t first, size_t count)
{
    double *cp = naive_zeros(count * count), *cq = naive_zeros(count * count), det_p, det_q;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            cp[i * count + j] = p->covariance[(first + i) * ALL + first + j];
            cq[i * count + j] = q->covariance[(first + i) * ALL + first + j];
        }
    double *inverse = naive_inverse(count, cq, &det_q), trace = 0.0, square = 0.0;
    free(naive_inverse(count, cp, &det_p));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const double a = p->mean[first + i] - q->mean[first + i];
            trace += inverse[i * count + j] * cp[j * count + i];
            square += a * inverse[i * count + j] * (p->mean[first + j] - q->mean[first + j]);
        }
    free(inverse);
    free(cp);
    free(cq);
    return 0.5 * (trace - (double)count + square + det_q - det_p);
}

/* Changes of a row's three sites. */
static const struct {
    double target[OUTPUTS], variance[OUTPUTS];
} CHANGES[] = {
    {{0.4, -1.0, 2.0}, {0.5, 0.01, 3.0}},
    {{3.0, NAN, 0.1}, {0.02, INFINITY, 1e8}},
    {{NAN, NAN, NAN}, {INFINITY, INFINITY, INFINITY}},
};

static void is_the_divergence_of_dense_vectors(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (size_t kind = 0; kind < 2; kind++) {
        problem p = make(ctx, KERNELS[kind]);
        hf_posterior *posterior = support_solve(&p);
        double target[N], variance[N], x[M * D];
        memcpy(target, hf_sites_targets(p.sites), sizeof target);
        memcpy(variance, hf_sites_variances(p.sites), sizeof variance);
        for (size_t c = 0; c < 3; c++)
            for (size_t row = 0; row < ROWS; row++) {
                const size_t anchor[] = {row * OUTPUTS + 2, row * OUTPUTS, row * OUTPUTS + 1};
                double moved[N], with[N], joint = NAN;
                memcpy(moved, target, sizeof moved);
                memcpy(with, variance, sizeof with);
                for (size_t t = 0; t < OUTPUTS; t++) {
                    moved[anchor[t]] = CHANGES[c].target[t];
                    with[anchor[t]] = CHANGES[c].variance[t];
                }
                for (size_t output = 0; output < OUTPUTS; output++) {
                    double kl = NAN;
                    places(output, x);
                    const normal before = dense(&p, target, variance, x), after = dense(&p, moved, with, x);
                    const double at = divergence(&before, &after, N, M);
                    assert_int_equal(hf_influence_sites(ctx, posterior, OUTPUTS, anchor, CHANGES[c].target,
                                                        CHANGES[c].variance, M, x, D, &kl),
                                     HF_OK);
                    assert_near(kl, at, 1e-8 * (1.0 + at));
                    assert_int_equal(hf_influence_sites(ctx, posterior, OUTPUTS, anchor, CHANGES[c].target,
                                                        CHANGES[c].variance, 0, NULL, 0, &joint),
                                     HF_OK);
                    const double all = divergence(&before, &after, 0, N);
                    assert_near(joint, all, 1e-8 * (1.0 + all));
                    assert_true(kl >= 0.0 && kl <= joint * (1.0 + 1e-12));
                }
            }
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void one_site_is_hf_influence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = make(ctx, KERNELS[1]);
    hf_posterior *posterior = support_solve(&p);
    const double targets[] = {0.3, 40.0, -2.0, NAN, 1e200}, variances[] = {0.5, 0.05, 1e4, INFINITY, 1e300};
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 5; k++) {
            double one, kl;
            assert_int_equal(hf_influence(ctx, posterior, i, targets[k], variances[k], &one), HF_OK);
            assert_int_equal(
                hf_influence_sites(ctx, posterior, 1, &i, targets + k, variances + k, 0, NULL, 0, &kl),
                HF_OK);
            assert_near(kl, one, 1e-9 * (1.0 + one));
            /* Sites replaced by themselves change nothing. */
            assert_int_equal(hf_influence_sites(ctx, posterior, 1, &i, hf_sites_targets(p.sites) + i,
                                                hf_sites_variances(p.sites) + i, 0, NULL, 0, &kl),
                             HF_OK);
            assert_near(kl, 0.0, 1e-25);
        }
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Without any anchor only the prior is left; an output that nothing is shared with stays where it is. */
static void ends_of_the_range(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = make(ctx, KERNELS[0]);
    const double apart[OUTPUTS * OUTPUTS] = {1.0, 0.6, 0.0, 0.6, 2.0, 0.0, 0.0, 0.0, 0.7};
    assert_int_equal(hf_kernel_set_coregion(ctx, p.kernel, 0, apart), HF_OK);
    hf_posterior *posterior = support_solve(&p);
    double target[N], variance[N], gone[N], x[M * D], kl;
    size_t anchor[N];
    memcpy(target, hf_sites_targets(p.sites), sizeof target);
    memcpy(variance, hf_sites_variances(p.sites), sizeof variance);
    places(0, x);
    const normal before = dense(&p, target, variance, x);
    for (size_t i = 0; i < N; i++) {
        anchor[i] = i;
        gone[i] = INFINITY;
    }
    const normal after = dense(&p, target, gone, x);
    const double all = divergence(&before, &after, 0, N), at = divergence(&before, &after, N, M);
    assert_int_equal(hf_influence_sites(ctx, posterior, N, anchor, target, gone, 0, NULL, 0, &kl), HF_OK);
    assert_near(kl, all, 1e-8 * (1.0 + all));
    assert_int_equal(hf_influence_sites(ctx, posterior, N, anchor, target, gone, M, x, D, &kl), HF_OK);
    assert_near(kl, at, 1e-8 * (1.0 + at));
    const double wild = 1e6, narrow = 0.01;
    places(2, x);
    assert_int_equal(hf_influence_sites(ctx, posterior, 1, anchor, &wild, &narrow, M, x, D, &kl), HF_OK);
    assert_near(kl, 0.0, 1e-9);
    places(1, x);
    assert_int_equal(hf_influence_sites(ctx, posterior, 1, anchor, &wild, &narrow, M, x, D, &kl), HF_OK);
    assert_true(kl > 1e3);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Many places close together, whose values follow from each other to rounding: no more than over all of f. */
static void crowded_places(void **state)
{
    (void)state;
    enum {
        CROWD = 150
    };
    hf_context *ctx = problem_context(2);
    problem p = make(ctx, "coregion(x2, outputs=3) * se(x1)");
    hf_posterior *posterior = support_solve(&p);
    double *x = naive_zeros(CROWD * D), kl, joint;
    const size_t anchor[] = {7, 6};
    const double target[] = {2.0, -1.0}, variance[] = {0.01, INFINITY};
    for (size_t j = 0; j < CROWD; j++) {
        x[j * D] = 4.5 * (double)j / (CROWD - 1.0);
        x[j * D + 1] = 1.0;
    }
    assert_int_equal(hf_influence_sites(ctx, posterior, 2, anchor, target, variance, 0, NULL, 0, &joint),
                     HF_OK);
    assert_int_equal(hf_influence_sites(ctx, posterior, 2, anchor, target, variance, CROWD, x, D, &kl),
                     HF_OK);
    assert_true(kl > 0.1 && kl <= joint * (1.0 + 1e-6));
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void units_and_threads(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 40, D, 0.1);
    hf_posterior *plain = support_solve(&p), *scaled = support_scaled(&p, 1.3);
    const hfi_scaling *scaling = &scaled->scaling;
    const size_t anchor[] = {3, 17};
    const double target[] = {0.7, -2.0}, variance[] = {0.4, INFINITY};
    double there[2], with[2], x[2 * D], kl, same, threads;
    for (size_t i = 0; i < 2; i++) {
        there[i] = target[i] * scaling->y_scale + scaling->y_shift;
        with[i] = variance[i] * scaling->y_scale * scaling->y_scale;
        support_to_user(scaling, p.x + 4 * i * D, x + i * D);
    }
    const double at[] = {p.x[0], p.x[1], p.x[4 * D], p.x[4 * D + 1]};
    assert_int_equal(hf_influence_sites(ctx, plain, 2, anchor, target, variance, 2, at, D, &kl), HF_OK);
    assert_int_equal(hf_influence_sites(ctx, scaled, 2, anchor, there, with, 2, x, D, &same), HF_OK);
    assert_near(kl, same, 1e-10 * (1.0 + kl));
    assert_int_equal(hf_context_set_threads(ctx, 4), HF_OK);
    assert_int_equal(hf_influence_sites(ctx, plain, 2, anchor, target, variance, 2, at, D, &threads), HF_OK);
    assert_memory_equal(&kl, &threads, sizeof kl);
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    problem_free(&p);
    hf_context_free(ctx);
}

static void bad_arguments(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = make(ctx, KERNELS[0]);
    hf_posterior *posterior = support_solve(&p);
    const size_t anchor[] = {0, 1}, twice[] = {1, 1}, beyond[] = {0, N};
    const double target[] = {0.0, 1.0}, variance[] = {1.0, 1.0}, none[] = {1.0, 0.0}, wild[] = {0.0, NAN};
    const double x[] = {0.5, 1.0}, bad[] = {NAN, 1.0};
    double kl = 3.0;
    const struct {
        const hf_posterior *posterior;
        size_t count;
        const size_t *anchor;
        const double *target, *variance;
        size_t m;
        const double *x;
        double *kl;
        hf_status expected;
    } cases[] = {
        {NULL, 2, anchor, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 0, anchor, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, N + 1, anchor, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, NULL, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, twice, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, beyond, target, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, anchor, NULL, variance, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, anchor, wild, variance, 0, NULL, &kl, HF_ERR_NOT_FINITE},
        {posterior, 2, anchor, target, NULL, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, anchor, target, none, 0, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, anchor, target, variance, 1, NULL, &kl, HF_ERR_ARGUMENT},
        {posterior, 2, anchor, target, variance, 1, bad, &kl, HF_ERR_NOT_FINITE},
        {posterior, 2, anchor, target, variance, 1, x, NULL, HF_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hf_influence_sites(ctx, cases[i].posterior, cases[i].count, cases[i].anchor,
                                            cases[i].target, cases[i].variance, cases[i].m, cases[i].x, D,
                                            cases[i].kl),
                         cases[i].expected);
    assert_true(kl == 3.0);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_divergence_of_dense_vectors),
        cmocka_unit_test(one_site_is_hf_influence),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(crowded_places),
        cmocka_unit_test(units_and_threads),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
