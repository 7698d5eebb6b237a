/* SPDX-License-Identifier: Apache-2.0 */
/* Functions drawn from a posterior: over the streams they have its mean and covariance, whoever solved it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

#include <holdfast/path.h>

enum {
    N = 24,
    D = 2,
    POINTS = 5,
    PATHS = 2000
};

static hf_path *drawn(hf_context *ctx, const hf_posterior *posterior, uint64_t stream, size_t features)
{
    hf_path *path = NULL;
    const hf_status status = hf_path_create(ctx, posterior, stream, features, &path);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return path;
}

/* ---- the distribution ---------------------------------------------------------------------------------- */

/* Averages over the paths, each as far off as its own spread says at most. `slack`: of the variance, for jitter. */
static void check_moments(hf_context *ctx, const hf_posterior *posterior, const double *x)
{
    double mean[POINTS], covariance[POINTS * POINTS], value[POINTS];
    double sum[POINTS] = {0.0}, product[POINTS][POINTS] = {{0.0}}, square[POINTS][POINTS] = {{0.0}};
    assert_int_equal(hf_predict(ctx, posterior, POINTS, x, D, mean, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict_covariance(ctx, posterior, POINTS, x, D, covariance, POINTS), HF_OK);
    for (uint64_t k = 0; k < PATHS; k++) {
        hf_path *path = drawn(ctx, posterior, k, 32);
        assert_int_equal(hf_path_many_rows(ctx, path, POINTS, x, D, value), HF_OK);
        hf_path_free(path);
        for (size_t i = 0; i < POINTS; i++) {
            value[i] -= mean[i];
            sum[i] += value[i] / PATHS;
            for (size_t j = 0; j <= i; j++) {
                product[i][j] += value[i] * value[j] / PATHS;
                square[i][j] += value[i] * value[j] * value[i] * value[j] / PATHS;
            }
        }
    }
    for (size_t i = 0; i < POINTS; i++) {
        assert_near(sum[i], 0.0, 4.5 * sqrt(covariance[i * POINTS + i] / PATHS));
        for (size_t j = 0; j <= i; j++) {
            const double error = sqrt((square[i][j] - product[i][j] * product[i][j]) / PATHS);
            assert_near(product[i][j], covariance[i * POINTS + j], 4.5 * error);
        }
    }
}

static void exact_posteriors(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "se(x1)*periodic(x2, period=3) + 0.2*linear",
                                          "rq + constant"};
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        problem p = problem_make(ctx, kernels[k], N, D, 0.1);
        hf_posterior *posterior = support_scaled(&p, 1.3);
        double *z = problem_inputs(POINTS, D, 51), x[POINTS * D];
        for (size_t i = 0; i < POINTS; i++) support_to_user(&posterior->scaling, z + i * D, x + i * D);
        check_moments(ctx, posterior, x);
        free(z);
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void inducing_posteriors(void **state)
{
    (void)state;
    enum {
        M = 6
    };
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.1);
    double *x = problem_inputs(POINTS, D, 51), *z = problem_inputs(M, D, 5);
    for (int method = 0; method < 3; method++) {
        hf_posterior *posterior = NULL;
        assert_int_equal(hf_solve_inducing(ctx, p.kernel, p.mean, p.sites, p.x, D, (hf_inducing_method)method,
                                           M, z, D, &posterior),
                         HF_OK);
        check_moments(ctx, posterior, x);
        hf_posterior_free(posterior);
    }
    free(x);
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static void projected_posteriors(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.1);
    double *x = problem_inputs(POINTS, D, 51);
    for (int krylov = 0; krylov < 2; krylov++) {
        hf_projection projection = {.size = sizeof projection, .count = 5};
        projection.actions = krylov ? HF_ACTIONS_KRYLOV : HF_ACTIONS_BLOCKS;
        hf_posterior *posterior = NULL;
        assert_true(
            hf_solve_projected(ctx, p.kernel, p.mean, p.sites, p.x, D, &projection, &posterior, NULL) >= 0);
        check_moments(ctx, posterior, x);
        hf_posterior_free(posterior);
    }
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Several outputs: the last input is the number of one, and each has units of its own. */
static void posteriors_of_several_outputs(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "coregion(x2, outputs=2) * matern52(x1)", N, D, 0.1);
    const double shifts[] = {3.0, -50.0}, scales[] = {0.5, 20.0};
    const double x[POINTS * D] = {0.1, 0.0, 0.1, 1.0, -0.4, 0.0, 1.2, 1.0, 0.9, 0.0};
    for (size_t i = 0; i < N; i++) p.x[i * D + 1] = (double)(i % 2);
    hfi_scaling scaling = support_scaling(ctx, D);
    hfi_solution solution;
    hf_posterior *posterior = NULL;
    scaling.x_shift[0] = 0.0;
    scaling.x_scale[0] = 1.5;
    assert_int_equal(hfi_scaling_set_outputs(ctx, &scaling, 2, shifts, scales), HF_OK);
    assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, D, p.x, D, &solution), HF_OK);
    assert_int_equal(
        hfi_posterior_create(ctx, p.kernel, p.mean, &solution, &scaling, p.noise, 1.0, &posterior), HF_OK);
    hfi_scaling_free(&scaling);
    check_moments(ctx, posterior, x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- one path ------------------------------------------------------------------------------------------ */

static void a_path_goes_through_readings_without_noise(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern32(ard)", N, D, 1e-12);
    hf_posterior *posterior = support_scaled(&p, 1.0);
    const hfi_scaling *scaling = &posterior->scaling;
    double x[N * D], value[N];
    for (size_t i = 0; i < N; i++) support_to_user(scaling, p.x + i * D, x + i * D);
    for (uint64_t k = 0; k < 5; k++) {
        hf_path *path = drawn(ctx, posterior, k, 0);
        assert_int_equal(hf_path_many_rows(ctx, path, N, x, D, value), HF_OK);
        for (size_t i = 0; i < N; i++)
            assert_near(value[i], hfi_scaling_mean(scaling, 0, p.y[i]), 2e-5 * scaling->y_scale);
        hf_path_free(path);
    }
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void slopes_are_differences_in_the_users_units(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard) + 0.3*linear*se", N, D, 0.1);
    hf_posterior *posterior = support_scaled(&p, 1.0);
    const hfi_scaling *scaling = &posterior->scaling;
    hf_path *path = drawn(ctx, posterior, 3, 100);
    hf_posterior_free(posterior); /* the path does without, but for the scaling looked at here */
    posterior = support_scaled(&p, 1.0);
    scaling = &posterior->scaling;
    hf_path_workspace *workspace = hf_path_workspace_create(ctx, path);
    assert_non_null(workspace);
    assert_int_equal(hf_path_dimension(path), D);
    double *z = problem_inputs(POINTS, D, 51);
    for (size_t i = 0; i < POINTS; i++) {
        double x[D], value, gradient[D], many;
        support_to_user(scaling, z + i * D, x);
        assert_int_equal(hf_path_evaluate(path, workspace, x, &value, gradient), HF_OK);
        assert_int_equal(hf_path_many_rows(ctx, path, 1, x, D, &many), HF_OK);
        assert_near(many, value, 1e-12 * scaling->y_scale);
        for (size_t j = 0; j < D; j++) {
            double ends[2], at = x[j], step = 1e-5 * scaling->x_scale[j];
            for (int end = 0; end < 2; end++) {
                x[j] = at + (end ? step : -step);
                assert_int_equal(hf_path_evaluate(path, workspace, x, &ends[end], NULL), HF_OK);
            }
            x[j] = at;
            assert_near(gradient[j] * scaling->x_scale[j],
                        (ends[1] - ends[0]) / (2.0 * step) * scaling->x_scale[j], 1e-6 * scaling->y_scale);
        }
    }
    free(z);
    hf_path_workspace_free(workspace);
    hf_path_free(path);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void a_stream_is_one_path_whatever_the_threads(void **state)
{
    (void)state;
    enum {
        MANY = 500
    };
    hf_context *one = problem_context(1), *four = problem_context(4);
    problem p = problem_make(one, "matern52(ard)", N, D, 0.1);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(MANY, D, 51), *a = naive_zeros(MANY), *b = naive_zeros(MANY);
    hf_path *first = drawn(one, posterior, 7, 0), *second = drawn(four, posterior, 7, 0);
    hf_path *other = drawn(one, posterior, 8, 0);
    assert_int_equal(hf_path_many_rows(one, first, MANY, x, D, a), HF_OK);
    assert_int_equal(hf_path_many_rows(four, second, MANY, x, D, b), HF_OK);
    assert_memory_equal(a, b, MANY * sizeof *a);
    assert_int_equal(hf_path_many_rows(one, other, MANY, x, D, b), HF_OK);
    assert_true(fabs(a[0] - b[0]) > 1e-9);
    hf_path_free(first);
    hf_path_free(second);
    hf_path_free(other);
    free(x);
    free(a);
    free(b);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(one);
    hf_context_free(four);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)stage, (void)done, (void)value, (void)user;
    return false;
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se + 0.1*white", N, D, 0.1), q = problem_make(ctx, "se", N, D, 0.1);
    hf_posterior *white = support_solve(&p), *posterior = support_solve(&q);
    hf_path *path = NULL;
    double x[D] = {0.1, NAN}, value = 77.0;
    assert_int_equal(hf_path_create(ctx, white, 0, 0, &path), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "white"));
    assert_int_equal(hf_path_create(ctx, posterior, 0, (size_t)1 << 30, &path), HF_ERR_ARGUMENT);
    assert_null(path);
    path = drawn(ctx, posterior, 0, 4);
    hf_path_workspace *workspace = hf_path_workspace_create(ctx, path);
    assert_int_equal(hf_path_evaluate(path, workspace, x, &value, NULL), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_path_evaluate(path, NULL, x, &value, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_path_many_rows(ctx, path, 1, x, D, &value), HF_ERR_NOT_FINITE);
    x[1] = 0.0;
    assert_int_equal(hf_path_many_rows(ctx, path, 1, x, D - 1, &value), HF_ERR_DIMENSION);
    hf_context_set_progress(ctx, stop, NULL);
    assert_int_equal(hf_path_many_rows(ctx, path, 1, x, D, &value), HF_ERR_CANCELLED);
    assert_true(value == 77.0);
    hf_path *cancelled = NULL;
    assert_int_equal(hf_path_create(ctx, posterior, 0, 4, &cancelled), HF_ERR_CANCELLED);
    assert_null(cancelled);
    hf_path_workspace_free(workspace);
    hf_path_free(path);
    hf_posterior_free(white);
    hf_posterior_free(posterior);
    problem_free(&p);
    problem_free(&q);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_posteriors),
        cmocka_unit_test(inducing_posteriors),
        cmocka_unit_test(projected_posteriors),
        cmocka_unit_test(posteriors_of_several_outputs),
        cmocka_unit_test(a_path_goes_through_readings_without_noise),
        cmocka_unit_test(slopes_are_differences_in_the_users_units),
        cmocka_unit_test(a_stream_is_one_path_whatever_the_threads),
        cmocka_unit_test(bad_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
