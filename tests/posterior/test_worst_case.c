/* SPDX-License-Identifier: Apache-2.0 */
/* The largest error of a projection: against explicit inverses, and attacked with functions of the ball. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    N = 20,
    D = 2,
    M = 5,
    ATTACKS = 60
};

/* Robust sites about zero, two of them far out; prior mean zero. */
static problem robust(hf_context *ctx, const char *kernel)
{
    problem p = problem_make(ctx, kernel, N, D, 0.05);
    const double centre[N] = {0.0}, zero = 0.0;
    p.y[3] += 30.0;
    p.y[11] -= 30.0;
    hf_sites_free(p.sites);
    hf_mean_free(p.mean);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_CONSTANT, D, &p.mean), HF_OK);
    assert_int_equal(hf_mean_set(ctx, p.mean, &zero, true), HF_OK);
    assert_int_equal(hf_sites_robust(ctx, N, p.y, p.noise, p.extra, centre, 1.5, &p.sites), HF_OK);
    return p;
}

/* Actions that do not depend on targets: the rule is linear in them. */
static const hf_projection PROJECTIONS[] = {
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = 4},
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = N},
    {.size = sizeof(hf_projection), .actions = HF_ACTIONS_INDUCING, .count = 5}};

static hf_posterior *solve(const problem *p, const hf_sites *sites, const hf_projection *projection)
{
    hf_posterior *posterior = NULL;
    assert_true(
        hf_solve_projected(p->ctx, p->kernel, p->mean, sites, p->x, D, projection, &posterior, NULL) >= 0);
    return posterior;
}

/* ---- attacks ---------------------------------------------------------------------------------------------- */

/* The kernel k + noise at the readings and, last, at x. */
static double *noisy_kernel(const problem *p, const double *x)
{
    double *k = naive_zeros((N + 1) * (N + 1));
    for (size_t i = 0; i <= N; i++)
        for (size_t j = 0; j <= N; j++)
            k[i * (N + 1) + j] =
                hfi_kernel_value(p->kernel, i < N ? p->x + i * D : x, j < N ? p->x + j * D : x, i == j) +
                (i != j  ? 0.0
                 : i < N ? hf_sites_variances(p->sites)[i]
                         : p->noise);
    return k;
}

/* Values of a function of norm 1: K a / sqrt(a'K a). */
static void unit_function(const double *k, const double *a, double *h)
{
    double square = 0.0;
    for (size_t i = 0; i <= N; i++) {
        h[i] = 0.0;
        for (size_t j = 0; j <= N; j++) h[i] += k[i * (N + 1) + j] * a[j];
        square += a[i] * h[i];
    }
    for (size_t i = 0; i <= N; i++) h[i] /= sqrt(square);
}

/* The mean at x when the readings are those of h, by solving anew. */
static double mean_of(const problem *p, const hf_projection *projection, const double *h, const double *x)
{
    double extra[N], mean, var;
    for (size_t i = 0; i < N; i++) extra[i] = hf_sites_variances(p->sites)[i] - p->noise;
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(p->ctx, N, h, p->noise, extra, &sites), HF_OK);
    hf_posterior *posterior = NULL;
    if (projection != NULL)
        posterior = solve(p, sites, projection);
    else
        assert_int_equal(hf_solve_exact(p->ctx, p->kernel, p->mean, sites, p->x, D, &posterior), HF_OK);
    assert_int_equal(hf_predict(p->ctx, posterior, 1, x, D, &mean, &var, NULL), HF_OK);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    return mean;
}

static void no_function_of_the_ball_is_worse(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = robust(ctx, "matern52(ard)");
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 0);
    double *x = problem_inputs(M, D, 77);
    for (size_t c = 0; c < sizeof PROJECTIONS / sizeof *PROJECTIONS; c++) {
        const hf_projection *projection = &PROJECTIONS[c];
        hf_posterior *posterior = solve(&p, p.sites, projection);
        double total[M], part[M], a[N + 1], h[N + 1];
        assert_int_equal(hf_predict_worst_case(ctx, posterior, M, x, D, total, part), HF_OK);
        for (size_t q = 0; q < M; q++) {
            double *k = noisy_kernel(&p, x + q * D);
            for (size_t t = 0; t < ATTACKS; t++) {
                for (size_t i = 0; i <= N; i++) a[i] = hfi_stream_normal(&stream);
                unit_function(k, a, h);
                const double mean = mean_of(&p, projection, h, x + q * D);
                assert_true(fabs(h[N] - mean) <= total[q] * (1.0 + 1e-9));
                assert_true(fabs(mean_of(&p, NULL, h, x + q * D) - mean) <= part[q] + 1e-9);
            }
            free(k);
        }
        hf_posterior_free(posterior);
    }
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The suprema are attained: at kw(., x) - sum_j w_j kw(., x_j), w the weights of the rule. */
static void the_worst_functions_attain_it(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = robust(ctx, "matern52(ard)");
    double *x = problem_inputs(M, D, 77);
    const hf_projection *projection = &PROJECTIONS[0];
    hf_posterior *posterior = solve(&p, p.sites, projection);
    double total[M], part[M], rule[N + 1], exact[N + 1], h[N + 1];
    assert_int_equal(hf_predict_worst_case(ctx, posterior, M, x, D, total, part), HF_OK);
    for (size_t q = 0; q < M; q++) {
        double *k = noisy_kernel(&p, x + q * D);
        for (size_t i = 0; i < N; i++) {
            double unit[N] = {0.0};
            unit[i] = 1.0;
            rule[i] = -mean_of(&p, projection, unit, x + q * D);
            exact[i] = mean_of(&p, NULL, unit, x + q * D) + rule[i];
        }
        rule[N] = 1.0;
        exact[N] = 0.0;
        unit_function(k, rule, h);
        assert_near(h[N] - mean_of(&p, projection, h, x + q * D), total[q], 1e-8);
        unit_function(k, exact, h);
        assert_near(mean_of(&p, NULL, h, x + q * D) - mean_of(&p, projection, h, x + q * D), part[q], 1e-8);
        free(k);
    }
    hf_posterior_free(posterior);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- what was left uncomputed ------------------------------------------------------------------------------- */

static double norm(const double *g, const double *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) sum += w[i] * g[i * N + j] * w[j];
    return sqrt(fmax(sum, 0.0));
}

/* Largest d over the least eigenvalue of K, by inverse iteration on the explicit inverse. */
static double published_factor(const problem *p, const double *k)
{
    double *inverse = naive_inverse(N, k, NULL), v[N], w[N], least = 0.0, most = 0.0;
    for (size_t i = 0; i < N; i++) v[i] = sin(3.0 * (double)i + 1.0);
    for (int step = 0; step < 5000; step++) {
        double length = 0.0;
        for (size_t i = 0; i < N; i++) {
            w[i] = 0.0;
            for (size_t j = 0; j < N; j++) w[i] += inverse[i * N + j] * v[j];
            length += w[i] * w[i];
        }
        for (size_t i = 0; i < N; i++) v[i] = w[i] / sqrt(length);
        least = 1.0 / sqrt(length);
    }
    for (size_t i = 0; i < N; i++) most = fmax(most, hf_sites_variances(p->sites)[i]);
    free(inverse);
    return sqrt(1.0 + most / least);
}

static void the_errors_are_those_of_the_matrices(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = robust(ctx, "matern32(ard)");
    naive_gp gp = problem_naive(&p);
    double k[N * N], before = 2.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            k[i * N + j] = hfi_kernel_value(p.kernel, p.x + i * D, p.x + j * D, i == j);
    for (size_t count = 2; count <= N; count += 6) {
        hf_posterior *posterior = solve(
            &p, p.sites,
            &(hf_projection){.size = sizeof(hf_projection), .actions = HF_ACTIONS_INDUCING, .count = count});
        double difference[N];
        for (size_t i = 0; i < N; i++) difference[i] = gp.t[i] - posterior->solution.t[i];
        hf_projection_error e;
        assert_int_equal(hf_projected_error(ctx, posterior, true, &e), HF_OK);
        assert_near(e.norm, norm(gp.a, gp.t), 1e-9 * e.norm);
        assert_near(e.remaining, norm(gp.a, difference), 1e-6 * e.norm);
        assert_near(e.rho, e.remaining / e.norm, 1e-12);
        assert_near(e.mean_norm, norm(k, gp.t), 1e-9 * e.norm);
        assert_near(e.mean_error, norm(k, difference), 1e-6 * e.norm);
        assert_near(e.factor, published_factor(&p, k), 1e-6 * e.factor);
        assert_near(e.bound, e.rho * e.factor * e.mean_norm, 1e-9 * e.bound);
        assert_true(e.mean_error <= e.bound + 1e-9 * e.norm && e.mean_error <= e.remaining);
        assert_true(e.rho >= 0.0 && e.rho < before);
        before = e.rho;
        hf_posterior_free(posterior);
    }
    naive_free(&gp);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Without any condition on the function. */
static void the_mean_is_no_further_than_the_remainder_says(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = robust(ctx, "matern52(ard) + 0.1*white");
    double *x = problem_inputs(M, D, 78), mean[M], exact_mean[M], var[M], total[M], part[M];
    hf_posterior *exact = support_solve(&p);
    assert_int_equal(hf_predict(ctx, exact, M, x, D, exact_mean, var, NULL), HF_OK);
    for (size_t count = 1; count < N; count += 3) {
        hf_posterior *posterior =
            solve(&p, p.sites, &(hf_projection){.size = sizeof(hf_projection), .count = count});
        hf_projection_error e;
        assert_int_equal(hf_projected_error(ctx, posterior, false, &e), HF_OK);
        assert_true(isnan(e.factor));
        assert_int_equal(hf_predict(ctx, posterior, M, x, D, mean, var, NULL), HF_OK);
        assert_int_equal(hf_predict_worst_case(ctx, posterior, M, x, D, total, part), HF_OK);
        for (size_t q = 0; q < M; q++)
            assert_true(fabs(mean[q] - exact_mean[q]) <= e.remaining * part[q] + 1e-9);
        hf_posterior_free(posterior);
    }
    hf_projection_error e;
    assert_int_equal(hf_projected_error(ctx, exact, true, &e), HF_OK);
    assert_true(e.rho == 0.0 && e.remaining == 0.0 && e.mean_error == 0.0 && e.bound == 0.0);
    hf_posterior_free(exact);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

static void worst_cases_have_the_users_units(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = robust(ctx, "matern52(ard)");
    hf_posterior *plain = support_solve(&p), *scaled = support_scaled(&p, 1.3);
    double *z = problem_inputs(M, D, 79), x[M * D], a[M], b[M];
    for (size_t q = 0; q < M; q++) support_to_user(&scaled->scaling, z + q * D, x + q * D);
    assert_int_equal(hf_predict_worst_case(ctx, plain, M, z, D, a, NULL), HF_OK);
    assert_int_equal(hf_predict_worst_case(ctx, scaled, M, x, D, b, NULL), HF_OK);
    for (size_t q = 0; q < M; q++) assert_near(b[q], scaled->scaling.y_scale * a[q], 1e-9 * b[q]);
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_function_of_the_ball_is_worse),
                                       cmocka_unit_test(the_worst_functions_attain_it),
                                       cmocka_unit_test(the_errors_are_those_of_the_matrices),
                                       cmocka_unit_test(the_mean_is_no_further_than_the_remainder_says),
                                       cmocka_unit_test(worst_cases_have_the_users_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
