/* SPDX-License-Identifier: Apache-2.0 */
/* Influence of a reading on projected and inducing posteriors, against moving it and doing the linear algebra anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    N = 18,
    D = 2,
    PLACES = 6
};

/* Two readings far out, as robust sites around zero. */
static problem contaminated(hf_context *ctx, const char *kernel, double gross)
{
    problem p = problem_make(ctx, kernel, N, D, 0.05);
    const double centre[N] = {0.0};
    p.y[3] += gross;
    p.y[11] -= gross;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, N, p.y, p.noise, p.extra, centre, 1.5, &p.sites), HF_OK);
    return p;
}

typedef struct normal {
    size_t size;
    double mean[N], covariance[N * N];
} normal;

/* KL(p || q) of two normal vectors. */
static double divergence(const normal *p, const normal *q)
{
    const size_t n = p->size;
    double det_p, det_q, trace = 0.0, square = 0.0;
    double *inverse = naive_inverse(n, q->covariance, &det_q);
    free(naive_inverse(n, p->covariance, &det_p));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            trace += inverse[i * n + j] * p->covariance[j * n + i];
            square += (p->mean[i] - q->mean[i]) * inverse[i * n + j] * (p->mean[j] - q->mean[j]);
        }
    free(inverse);
    return 0.5 * (trace - (double)n + square + det_q - det_p);
}

/* ---- projections ------------------------------------------------------------------------------------------ */

typedef struct actions {
    size_t count;
    double a[N * N]; /* N x count, row-major */
} actions;

/* Block actions as they are; of dense ones only the span matters, and R spans it. */
static actions actions_of(const hf_posterior *posterior)
{
    const hfi_solution *s = &posterior->solution;
    actions a = {.count = hfi_solution_rank(s)};
    for (size_t i = 0; i < N && s->form == HFI_FORM_BLOCKS; i++) a.a[i * a.count + s->block[i]] = s->entry[i];
    for (size_t c = 0; c < a.count && s->form == HFI_FORM_DENSE; c++) {
        double unit[N] = {0.0}, column[N];
        unit[c] = 1.0;
        hfi_solution_spread(s, unit, column);
        for (size_t i = 0; i < N; i++) a.a[i * a.count + c] = column[i];
    }
    return a;
}

/* Without a reading, and without the columns that were its own. */
static actions actions_without(const actions *a, size_t out)
{
    actions b = {.count = 0};
    bool keep[N];
    for (size_t c = 0; c < a->count; c++) {
        double left = 0.0;
        for (size_t i = 0; i < N; i++) left += i == out ? 0.0 : fabs(a->a[i * a->count + c]);
        keep[c] = left > 0.0;
        b.count += keep[c] ? 1 : 0;
    }
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0, column = 0; c < a->count; c++)
            if (keep[c]) b.a[i * b.count + column++] = i == out ? 0.0 : a->a[i * a->count + c];
    return b;
}

/* f at the readings, less the prior mean, white noise left out: explicit inverses. */
static normal projected_normal(const problem *p, const actions *a, const double *residual,
                               const double *variance)
{
    normal f = {.size = N};
    const size_t q = a->count;
    double *k = naive_zeros(N * N), *ka = naive_zeros(N * q), *g = naive_zeros(q * q),
           *right = naive_zeros(q);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            k[i * N + j] = hfi_kernel_value(p->kernel, p->x + i * D, p->x + j * D, false);
            for (size_t c = 0; c < q; c++) ka[i * q + c] += k[i * N + j] * a->a[j * q + c];
        }
    for (size_t i = 0; i < N; i++) {
        const double white = hfi_kernel_value(p->kernel, p->x + i * D, p->x + i * D, true) - k[i * N + i];
        for (size_t c = 0; c < q; c++) {
            right[c] += a->a[i * q + c] * residual[i];
            for (size_t b = 0; b < q; b++)
                g[c * q + b] += a->a[i * q + c] * (ka[i * q + b] + (variance[i] + white) * a->a[i * q + b]);
        }
    }
    double *inverse = naive_inverse(q, g, NULL);
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < q; c++)
            for (size_t b = 0; b < q; b++) f.mean[i] += ka[i * q + c] * inverse[c * q + b] * right[b];
        for (size_t j = 0; j < N; j++) {
            f.covariance[i * N + j] = k[i * N + j];
            for (size_t c = 0; c < q; c++)
                for (size_t b = 0; b < q; b++)
                    f.covariance[i * N + j] -= ka[i * q + c] * inverse[c * q + b] * ka[j * q + b];
        }
    }
    free(k);
    free(ka);
    free(g);
    free(right);
    free(inverse);
    return f;
}

/* By moving the reading; the site's variance infinite: its row of A is zero. */
static double reference(const problem *p, const hf_posterior *posterior, size_t i, double target,
                        double variance)
{
    const hfi_solution *s = &posterior->solution;
    const actions a = actions_of(posterior);
    double residual[N], d[N], prior;
    memcpy(residual, s->residual, sizeof residual);
    memcpy(d, s->variance, sizeof d);
    const normal before = projected_normal(p, &a, residual, d);
    if (isinf(variance)) {
        const actions b = actions_without(&a, i);
        const normal after = projected_normal(p, &b, residual, d);
        return divergence(&before, &after);
    }
    hf_mean_evaluate(p->mean, 1, p->x + i * D, D, &prior);
    residual[i] = target - prior;
    d[i] = variance;
    const normal after = projected_normal(p, &a, residual, d);
    return divergence(&before, &after);
}

static hf_posterior *solve(const problem *p, const hf_projection *projection)
{
    hf_posterior *posterior = NULL;
    assert_true(
        hf_solve_projected(p->ctx, p->kernel, p->mean, p->sites, p->x, D, projection, &posterior, NULL) >= 0);
    return posterior;
}

static const hf_projection PROJECTIONS[] = {
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = 4},
    {.size = sizeof(hf_projection),
     .actions = HF_ACTIONS_BLOCKS,
     .count = 5,
     .start = HF_ACTION_START_PRECISION},
    {.size = sizeof(hf_projection),
     .actions = HF_ACTIONS_BLOCKS,
     .count = 10}, /* some blocks of one reading */
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_INDUCING, .count = 5},
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 3, .inducing = 2}};
enum {
    PROJECTION_COUNT = sizeof PROJECTIONS / sizeof *PROJECTIONS
};

static void a_moved_reading_is_a_divergence_of_refits(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "matern32 + 0.1*white"};
    static const double gross[] = {0.0, 30.0, 1e3};
    hf_context *ctx = problem_context(1);
    for (size_t c = 0; c < 2 * 3 * PROJECTION_COUNT; c++) {
        problem p = contaminated(ctx, kernels[c % 2], gross[c / 2 % 3]);
        hf_posterior *posterior = solve(&p, &PROJECTIONS[c / 6]);
        for (size_t i = c % 3; i < N; i += 4) {
            double kl = -1.0;
            const double targets[] = {0.7, -40.0, 0.0}, variances[] = {0.3, 2e3, INFINITY};
            for (size_t k = 0; k < 3; k++) {
                assert_int_equal(hf_influence(ctx, posterior, i, targets[k], variances[k], &kl), HF_OK);
                assert_near(kl, reference(&p, posterior, i, targets[k], variances[k]), 1e-7 * (1.0 + kl));
            }
            /* Its own site moves nothing. */
            assert_int_equal(hf_influence(ctx, posterior, i, hf_sites_targets(p.sites)[i],
                                          hf_sites_variances(p.sites)[i], &kl),
                             HF_OK);
            assert_near(kl, 0.0, 1e-10);
        }
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* With as many actions as readings it is the exact posterior's. */
static void all_actions_have_the_exact_influence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = contaminated(ctx, "matern52(ard)", 30.0);
    hf_posterior *exact = support_solve(&p);
    hf_posterior *projected =
        solve(&p, &(hf_projection){.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = N});
    for (size_t i = 0; i < N; i++) {
        double a, b;
        assert_int_equal(hf_influence(ctx, exact, i, 2.0, 0.5, &a), HF_OK);
        assert_int_equal(hf_influence(ctx, projected, i, 2.0, 0.5, &b), HF_OK);
        assert_near(a, b, 1e-8 * (1.0 + a));
        assert_int_equal(hf_influence(ctx, exact, i, 0.0, INFINITY, &a), HF_OK);
        assert_int_equal(hf_influence(ctx, projected, i, 0.0, INFINITY, &b), HF_OK);
        assert_near(a, b, 1e-8 * (1.0 + a));
    }
    hf_posterior_free(exact);
    hf_posterior_free(projected);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Influence of moving reading i to y. */
static double moved(const problem *p, const hf_posterior *posterior, bool robust, size_t i, double y)
{
    const double centre[N] = {0.0};
    double readings[N], kl = -1.0;
    hf_sites *sites = NULL;
    memcpy(readings, p->y, sizeof readings);
    readings[i] = y;
    assert_int_equal(robust ? hf_sites_robust(p->ctx, N, readings, p->noise, p->extra, centre, 1.5, &sites)
                            : hf_sites_gaussian(p->ctx, N, readings, p->noise, p->extra, &sites),
                     HF_OK);
    assert_int_equal(
        hf_influence(p->ctx, posterior, i, hf_sites_targets(sites)[i], hf_sites_variances(sites)[i], &kl),
        HF_OK);
    hf_sites_free(sites);
    return kl;
}

/* Proposition 4.1 and F.1. */
static void robust_sites_bound_what_gaussian_ones_do_not(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.05);
    const double centre[N] = {0.0};
    hf_sites *robust = NULL;
    assert_int_equal(hf_sites_robust(ctx, N, p.y, p.noise, p.extra, centre, 1.5, &robust), HF_OK);
    for (size_t c = 0; c < PROJECTION_COUNT; c++) {
        hf_posterior *cagp = solve(&p, &PROJECTIONS[c]), *rcagp = NULL;
        assert_true(
            hf_solve_projected(ctx, p.kernel, p.mean, robust, p.x, D, &PROJECTIONS[c], &rcagp, NULL) >= 0);
        const double far = moved(&p, rcagp, true, 5, 1e9);
        assert_true(far < 1e3);
        assert_near(moved(&p, rcagp, true, 5, 1e12), far, 1e-5 * far);
        const double near = moved(&p, cagp, false, 5, 1e6);
        assert_near(moved(&p, cagp, false, 5, 1e8) / near, 1e4, 1.0);
        hf_posterior_free(cagp);
        hf_posterior_free(rcagp);
    }
    hf_sites_free(robust);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- inducing inputs --------------------------------------------------------------------------------------- */

static const double *place(const problem *p, size_t j)
{
    return p->x + 3 * j * D;
}

/* u at the inducing inputs: prior precision and those of the sites. */
static normal inducing_normal(const problem *p, hf_inducing_method method, const double *target,
                              const double *variance)
{
    normal u = {.size = PLACES};
    double k[PLACES * PLACES], shift[PLACES] = {0.0};
    for (size_t a = 0; a < PLACES; a++)
        for (size_t b = 0; b < PLACES; b++)
            k[a * PLACES + b] = hfi_kernel_value(p->kernel, place(p, a), place(p, b), false);
    double *inverse = naive_inverse(PLACES, k, NULL), *precision = naive_inverse(PLACES, k, NULL);
    for (size_t i = 0; i < N; i++) {
        const double *x = p->x + i * D;
        double c[PLACES], w[PLACES] = {0.0}, prior, own = hfi_kernel_value(p->kernel, x, x, false);
        double d = variance[i] + hfi_kernel_value(p->kernel, x, x, true) - own;
        for (size_t a = 0; a < PLACES; a++) c[a] = hfi_kernel_value(p->kernel, x, place(p, a), false);
        for (size_t a = 0; a < PLACES; a++)
            for (size_t b = 0; b < PLACES; b++) w[a] += inverse[a * PLACES + b] * c[b];
        for (size_t a = 0; a < PLACES; a++) own -= w[a] * c[a];
        d += method == HF_INDUCING_FITC ? own : 0.0;
        hf_mean_evaluate(p->mean, 1, x, D, &prior);
        for (size_t a = 0; a < PLACES; a++) {
            shift[a] += isinf(d) ? 0.0 : w[a] * (target[i] - prior) / d;
            for (size_t b = 0; b < PLACES; b++) precision[a * PLACES + b] += w[a] * w[b] / d;
        }
    }
    double *covariance = naive_inverse(PLACES, precision, NULL);
    memcpy(u.covariance, covariance, PLACES * PLACES * sizeof *covariance);
    for (size_t a = 0; a < PLACES; a++)
        for (size_t b = 0; b < PLACES; b++) u.mean[a] += covariance[a * PLACES + b] * shift[b];
    free(inverse);
    free(precision);
    free(covariance);
    return u;
}

static void an_inducing_posterior_moves_by_the_divergence(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "matern32 + 0.1*white"};
    hf_context *ctx = problem_context(1);
    for (size_t c = 0; c < 6; c++) {
        problem p = contaminated(ctx, kernels[c % 2], 30.0);
        const hf_inducing_method method = (hf_inducing_method)(c / 2);
        double z[PLACES * D], target[N], variance[N];
        hf_posterior *posterior = NULL;
        for (size_t j = 0; j < PLACES; j++) memcpy(z + j * D, place(&p, j), D * sizeof *z);
        assert_int_equal(
            hf_solve_inducing(ctx, p.kernel, p.mean, p.sites, p.x, D, method, PLACES, z, D, &posterior),
            HF_OK);
        for (size_t i = 0; i < N; i++) {
            const double targets[] = {0.7, -40.0, 0.0}, variances[] = {0.3, 2e3, INFINITY};
            for (size_t k = 0; k < 3; k++) {
                double kl = -1.0;
                memcpy(target, hf_sites_targets(p.sites), sizeof target);
                memcpy(variance, hf_sites_variances(p.sites), sizeof variance);
                const normal before = inducing_normal(&p, method, target, variance);
                assert_int_equal(hf_influence_inducing(ctx, posterior, method, p.x + i * D, target[i],
                                                       variance[i], targets[k], variances[k], &kl),
                                 HF_OK);
                target[i] = targets[k];
                variance[i] = variances[k];
                const normal after = inducing_normal(&p, method, target, variance);
                assert_near(kl, divergence(&before, &after), 1e-6 * (1.0 + kl));
            }
        }
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_moved_reading_is_a_divergence_of_refits),
                                       cmocka_unit_test(all_actions_have_the_exact_influence),
                                       cmocka_unit_test(robust_sites_bound_what_gaussian_ones_do_not),
                                       cmocka_unit_test(an_inducing_posterior_moves_by_the_divergence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
