/* SPDX-License-Identifier: Apache-2.0 */
/* A posterior given values of f: against one that was given them as readings, for every solver; gradients;
 * threads; memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/given.h"
#include "posterior/support.h"

enum {
    D = 2,
    P = 3,
    M = 70
};

/* mean + w'e and var - |w|^2 against hf_posterior_add() of the values mean_P + L e as readings of next to no noise. */
static void it_is_the_posterior_with_these_readings(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(lengthscale=0.8)", "se(lengthscale=0.7) + 0.3*linear"};
    hf_context *ctx = problem_context(2);
    for (size_t c = 0; c < 4; c++) {
        problem p = problem_make(ctx, kernels[c % 2], 15, D, 0.05);
        hf_posterior *before = c < 2 ? support_solve(&p) : support_scaled(&p, 1.3),
                     *after = c < 2 ? support_solve(&p) : support_scaled(&p, 1.3);
        double *points = problem_inputs(P, D, 3), *x = problem_inputs(M, D, 4), e[] = {0.7, -1.1, 0.4};
        for (size_t i = 0; c >= 2 && i < P; i++)
            support_to_user(&before->scaling, points + i * D, points + i * D);
        for (size_t i = 0; c >= 2 && i < M; i++) support_to_user(&before->scaling, x + i * D, x + i * D);
        hfi_given given;
        assert_int_equal(hfi_given_begin(ctx, before, P, points, &given), HF_OK);
        for (size_t k = 0; k < P; k++) {
            double value = given.mean[k];
            for (size_t j = 0; j <= k; j++) value += given.factor[k + j * P] * e[j];
            assert_int_equal(hf_posterior_add(ctx, after, points + k * D, value, 1e-11), HF_OK);
        }
        double mean[2][M], var[2][M], w[M * P], one[P];
        assert_int_equal(hf_predict(ctx, before, M, x, D, mean[0], var[0], NULL), HF_OK);
        assert_int_equal(hf_predict(ctx, after, M, x, D, mean[1], var[1], NULL), HF_OK);
        assert_int_equal(hfi_given_many(ctx, &given, M, x, w), HF_OK);
        for (size_t i = 0; i < M; i++) {
            hfi_given_at(&given, x + i * D, one);
            for (size_t k = 0; k < P; k++) {
                assert_near(w[i * P + k], one[k], 1e-12 * given.scale);
                mean[0][i] += one[k] * e[k];
                var[0][i] -= one[k] * one[k];
            }
            assert_near(mean[0][i], mean[1][i], 1e-6 * given.scale);
            assert_near(var[0][i], var[1][i], 1e-6 * given.scale * given.scale);
        }
        hfi_given_end(ctx, &given);
        free(points), free(x);
        hf_posterior_free(before), hf_posterior_free(after);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static hf_posterior *solve(const problem *p, size_t way)
{
    hf_posterior *out = NULL;
    const hf_projection projection = {.size = sizeof projection, .actions = HF_ACTIONS_BLOCKS, .count = 6};
    if (way == 0) return support_solve(p);
    const hf_status status = way == 1 ? hf_solve_inducing(p->ctx, p->kernel, p->mean, p->sites, p->x, p->d,
                                                          HF_INDUCING_FITC, 6, p->x, p->d, &out)
                                      : hf_solve_projected(p->ctx, p->kernel, p->mean, p->sites, p->x, p->d,
                                                           &projection, &out, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(p->ctx));
    return out;
}

/* |w|^2 and w'w' are what the joint covariance says, whoever solved; gradients against differences. */
static void every_solver_has_it(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (size_t way = 0; way < 3; way++) {
        problem p = problem_make(ctx, "matern52(lengthscale=0.8)", 20, D, 0.05);
        hf_posterior *posterior = solve(&p, way);
        double *x = problem_inputs(P + 1, D, 3), c[(P + 1) * (P + 1)], w[P], moved[P], q[] = {0.3, -0.8, 1.1};
        double gradient[D];
        hfi_given given;
        assert_int_equal(hf_predict_covariance(ctx, posterior, P + 1, x, D, c, P + 1), HF_OK);
        assert_int_equal(hfi_given_begin(ctx, posterior, P, x, &given), HF_OK);
        hfi_given_at(&given, x + P * D, w);
        for (size_t k = 0; k < P; k++) { /* L w is the covariance with the points */
            double covariance = 0.0;
            for (size_t j = 0; j <= k; j++) covariance += given.factor[k + j * P] * w[j];
            assert_near(covariance, c[P * (P + 1) + k], 1e-10);
        }
        hfi_given_gradient(&given, x + P * D, q, gradient);
        for (size_t j = 0; j < D; j++) {
            const double h = 1e-5;
            double slope = 0.0;
            for (int sign = -1; sign <= 1; sign += 2) {
                x[P * D + j] += sign * h;
                hfi_given_at(&given, x + P * D, moved);
                x[P * D + j] -= sign * h;
                for (size_t k = 0; k < P; k++) slope += sign * q[k] * moved[k] / (2.0 * h);
            }
            assert_near(gradient[j], slope, 1e-8);
        }
        hfi_given_end(ctx, &given);
        free(x);
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* Points that repeat each other get jitter; none at all is nothing. */
static void repeated_points_and_none(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "se", 10, D, 0.05);
    hf_posterior *posterior = support_solve(&p);
    const double points[] = {0.3, 0.1, 0.3, 0.1, -0.5, 0.2};
    double w[P], var;
    hfi_given given;
    assert_int_equal(hfi_given_begin(ctx, posterior, P, points, &given), HF_OK);
    hfi_given_at(&given, points, w);
    hf_posterior_workspace *room = hf_posterior_workspace_create(ctx, posterior);
    double mean;
    assert_int_equal(hf_predict_latent(posterior, room, points, &mean, &var, NULL, NULL), HF_OK);
    assert_near(var, w[0] * w[0] + w[1] * w[1] + w[2] * w[2], 1e-7);
    hfi_given_end(ctx, &given);
    assert_int_equal(hfi_given_begin(ctx, posterior, 0, NULL, &given), HF_OK);
    assert_int_equal(hfi_given_many(ctx, &given, 1, points, NULL), HF_OK);
    hfi_given_end(ctx, &given);
    hf_posterior_workspace_free(room);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_posterior_with_these_readings),
        cmocka_unit_test(every_solver_has_it),
        cmocka_unit_test(repeated_points_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
