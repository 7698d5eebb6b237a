/* SPDX-License-Identifier: Apache-2.0 */
/* Joint distribution of several points, and draws from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

#include "linalg/linalg.h"

enum {
    INPUTS = 2
};

static void covariance_equals_the_textbook(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "se + 0.2*white", "linear + 0.5*periodic"};
    hf_context *ctx = problem_context(2);
    enum {
        M = 150,
        LD = M + 3
    };
    for (size_t k = 0; k < 3; k++) {
        problem p = problem_make(ctx, kernels[k], 20, INPUTS, 0.05);
        naive_gp gp = problem_naive(&p);
        hf_posterior *posterior = support_scaled(&p, 1.0);
        const hfi_scaling *scaling = &posterior->scaling;
        double *z = problem_inputs(M, INPUTS, 51), *x = naive_zeros(M * INPUTS), *c = naive_zeros(M * LD);
        double *mean = naive_zeros(M), *var = naive_zeros(M), unit = scaling->y_scale * scaling->y_scale;
        for (size_t i = 0; i < M; i++) support_to_user(scaling, z + i * INPUTS, x + i * INPUTS);
        c[M] = 123.0; /* between the rows */
        assert_int_equal(hf_predict_covariance(ctx, posterior, M, x, INPUTS, c, LD), HF_OK);
        assert_int_equal(hf_predict(ctx, posterior, M, x, INPUTS, mean, var, NULL), HF_OK);
        assert_true(c[M] == 123.0);
        for (size_t i = 0; i < M; i++) {
            assert_near(c[i * LD + i], var[i], 1e-12 * unit);
            for (size_t j = 0; j <= i; j += 7)
                assert_near(c[i * LD + j],
                            unit * naive_covariance(&gp, z + i * INPUTS, z + j * INPUTS, i == j),
                            1e-10 * unit);
            for (size_t j = 0; j < i; j++) assert_true(c[i * LD + j] == c[j * LD + i]);
        }
        free(z);
        free(x);
        free(c);
        free(mean);
        free(var);
        hf_posterior_free(posterior);
        naive_free(&gp);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    enum {
        M = 200
    };
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern32(ard)", 40, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(M, INPUTS, 52), *c[2], *s[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(hf_context_set_threads(ctx, k == 0 ? 1 : 4), HF_OK);
        c[k] = naive_zeros(M * M);
        s[k] = naive_zeros(5 * M);
        assert_int_equal(hf_predict_covariance(ctx, posterior, M, x, INPUTS, c[k], M), HF_OK);
        assert_true(hf_sample(ctx, posterior, M, x, INPUTS, 5, 9, s[k]) >= 0);
    }
    assert_memory_equal(c[0], c[1], M * M * sizeof *c[0]);
    assert_memory_equal(s[0], s[1], 5 * M * sizeof *s[0]);
    for (int k = 0; k < 2; k++) {
        free(c[k]);
        free(s[k]);
    }
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Whitened draws, inv(L) (sample - mean), have mean 0 and covariance 1 to within 5 standard errors. */
static void samples_have_the_right_moments(void **state)
{
    (void)state;
    enum {
        M = 4,
        COUNT = 20000
    };
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern32(ard)", 12, INPUTS, 0.3);
    hf_posterior *posterior = support_scaled(&p, 1.0);
    double *x = problem_inputs(M, INPUTS, 53), mean[M], c[M * M], *s = naive_zeros(COUNT * M);
    for (size_t i = 0; i < M; i++) support_to_user(&posterior->scaling, x + i * INPUTS, x + i * INPUTS);
    assert_int_equal(hf_predict(ctx, posterior, M, x, INPUTS, mean, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict_covariance(ctx, posterior, M, x, INPUTS, c, M), HF_OK);
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, COUNT, 0, s), HF_OK);
    assert_int_equal(hfi_chol(ctx, M, c, M), HF_OK);
    double first[M] = {0.0}, second[M][M] = {{0.0}}, root = sqrt((double)COUNT);
    for (size_t k = 0; k < COUNT; k++) {
        double u[M];
        for (size_t i = 0; i < M; i++) u[i] = s[k * M + i] - mean[i];
        hfi_chol_forward(M, c, M, u);
        for (size_t i = 0; i < M; i++) {
            first[i] += u[i] / COUNT;
            for (size_t j = 0; j < M; j++) second[i][j] += u[i] * u[j] / COUNT;
        }
    }
    for (size_t i = 0; i < M; i++) {
        assert_near(first[i], 0.0, 5.0 / root);
        for (size_t j = 0; j < M; j++) assert_near(second[i][j], i == j, (i == j ? 7.1 : 5.0) / root);
    }
    free(s);
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void samples_follow_seed_and_stream(void **state)
{
    (void)state;
    enum {
        M = 6
    };
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern12(ard)", 12, INPUTS, 0.3);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(M, INPUTS, 54), a[3 * M], b[9 * M];
    hf_context_set_seed(ctx, 7);
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, 3, 2, a), HF_OK);
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, 9, 2, b), HF_OK);
    assert_memory_equal(a, b, sizeof a); /* more draws do not change the first ones */
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, 3, 3, b), HF_OK);
    assert_memory_not_equal(a, b, sizeof a);
    hf_context_set_seed(ctx, 8);
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, 3, 2, b), HF_OK);
    assert_memory_not_equal(a, b, sizeof a);
    assert_int_equal(hf_sample(ctx, posterior, M, x, INPUTS, 0, 2, NULL), HF_OK);
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The same point twice makes the covariance singular: jitter, said so, and the two values agree to its size. */
static void singular_covariances_are_sampled_with_jitter(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 12, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p);
    double x[8] = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2, -1.0, 1.0}, s[4];
    assert_int_equal(hf_sample(ctx, posterior, 4, x, INPUTS, 1, 0, s), HF_WARN_JITTER);
    assert_true(strlen(hf_context_message(ctx)) > 0);
    assert_near(s[0], s[1], 1e-3);
    assert_near(s[0], s[2], 1e-3);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    return strcmp(stage, user) != 0;
}

static void errors_leave_outputs_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se + linear", 12, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p);
    double x[4] = {0.1, 0.2, 0.3, 0.4}, c[4] = {1.0, 2.0, 3.0, 4.0}, kept[4] = {1.0, 2.0, 3.0, 4.0};
    char *stages[] = {"whiten", "covariance"};
    for (int k = 0; k < 2; k++) {
        hf_context_set_progress(ctx, stop, stages[k]);
        assert_int_equal(hf_predict_covariance(ctx, posterior, 2, x, INPUTS, c, 2), HF_ERR_CANCELLED);
        assert_int_equal(hf_sample(ctx, posterior, 2, x, INPUTS, 2, 0, c), HF_ERR_CANCELLED);
    }
    hf_context_set_progress(ctx, NULL, NULL);
    assert_int_equal(hf_predict_covariance(ctx, posterior, 2, x, INPUTS, c, 1), HF_ERR_DIMENSION);
    assert_int_equal(hf_predict_covariance(ctx, NULL, 2, x, INPUTS, c, 2), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sample(ctx, NULL, 2, x, INPUTS, 1, 0, c), HF_ERR_ARGUMENT);
    x[3] = 1e200;
    assert_int_equal(hf_predict_covariance(ctx, posterior, 2, x, INPUTS, c, 2), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_sample(ctx, posterior, 2, x, INPUTS, 2, 0, c), HF_ERR_NOT_FINITE);
    x[3] = NAN;
    assert_int_equal(hf_predict_covariance(ctx, posterior, 2, x, INPUTS, c, 2), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "input 1 of row 1"));
    assert_int_equal(hf_sample(ctx, posterior, 2, x, INPUTS, 2, 0, c), HF_ERR_NOT_FINITE);
    assert_memory_equal(c, kept, sizeof c);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariance_equals_the_textbook),
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(samples_have_the_right_moments),
        cmocka_unit_test(samples_follow_seed_and_stream),
        cmocka_unit_test(singular_covariances_are_sampled_with_jitter),
        cmocka_unit_test(errors_leave_outputs_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
