/* SPDX-License-Identifier: Apache-2.0 */
/* hf_solve_projected: what users see of a projection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    N = 60,
    D = 2,
    POINTS = 50
};

static hf_status solve(const problem *p, const hf_projection *choice, hf_posterior **out,
                       hf_projection_report *report)
{
    return hf_solve_projected(p->ctx, p->kernel, p->mean, p->sites, p->x, p->d, choice, out, report);
}

/* Combined variance = exact + computational, for every kind of action; and the report says what was done. */
static void combined_is_exact_and_computational(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard) + 0.2*white", N, D, 0.05);
    double *x = problem_inputs(POINTS, D, 31), mean[POINTS], variance[POINTS], exact_mean[POINTS];
    double exact_variance[POINTS], computational[POINTS];
    hf_posterior *exact = support_solve(&p);
    const hfi_solution *s = &exact->solution;
    double bound = 0.0;
    for (size_t i = 0; i < N; i++) bound += s->residual[i] * s->t[i];
    bound = sqrt(bound);
    assert_int_equal(hf_predict(ctx, exact, POINTS, x, D, exact_mean, exact_variance, NULL), HF_OK);
    for (int kind = HF_ACTIONS_KRYLOV; kind <= HF_ACTIONS_BLOCKS; kind++) {
        const hf_projection choice = {
            .size = sizeof choice, .actions = (hf_actions)kind, .count = 6, .inducing = 5};
        hf_posterior *posterior = NULL;
        hf_projection_report report;
        hf_solve_report solved;
        assert_int_equal(solve(&p, &choice, &posterior, &report), HF_OK);
        assert_int_equal(hf_posterior_solver(posterior), HF_SOLVER_PROJECTED);
        assert_int_equal(hf_posterior_anchors(posterior), N);
        assert_int_equal(hf_posterior_rank(posterior), report.actions);
        assert_int_equal(report.actions, kind == HF_ACTIONS_KRYLOV     ? 11
                                         : kind == HF_ACTIONS_INDUCING ? 5
                                                                       : 6);
        assert_int_equal(report.passes, kind == HF_ACTIONS_KRYLOV ? 7 : 1);
        assert_true(kind == HF_ACTIONS_BLOCKS ? isnan(report.residual) : report.residual > 0.0);
        assert_true(report.jitter == 0.0);
        solved = *hf_posterior_report_of(posterior);
        assert_true(solved.condition >= 1.0 && solved.backward < 1e-13);
        assert_true(hfi_solution_log_evidence(&posterior->solution) < hfi_solution_log_evidence(s));
        assert_int_equal(hf_predict(ctx, posterior, POINTS, x, D, mean, variance, NULL), HF_OK);
        assert_int_equal(hf_predict_computational(ctx, posterior, POINTS, x, D, computational), HF_OK);
        for (size_t q = 0; q < POINTS; q++) {
            assert_true(computational[q] > 0.0);
            assert_near(variance[q], exact_variance[q] + computational[q], 1e-12);
            /* Worst case (Wenger et al. 2022): |error of the mean| <= sqrt(computational) x sqrt(r'(K + D)^-1 r). */
            assert_true(fabs(mean[q] - exact_mean[q]) <= bound * sqrt(computational[q]) + 1e-9);
        }
        hf_posterior_free(posterior);
    }
    hf_posterior_free(exact);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

static void failures_leave_the_outputs(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.05);
    hf_posterior *posterior = NULL;
    hf_projection_report report = {.actions = 77};
    const hf_projection bad[] = {
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = N + 1},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = 4, .blocks = (hf_blocks)5},
        {.size = sizeof(hf_projection),
         .actions = HF_ACTIONS_BLOCKS,
         .count = 4,
         .start = (hf_action_start)5},
        {.size = sizeof(hf_projection),
         .actions = HF_ACTIONS_INDUCING,
         .count = 4,
         .choice = (hf_inducing_choice)9},
        {.size = sizeof(hf_projection), .actions = (hf_actions)3, .count = 4},
        {.size = sizeof(hf_projection), .count = 0},
        {.size = sizeof(hf_projection), .count = 3, .tolerance = INFINITY}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(solve(&p, bad + k, &posterior, &report), HF_ERR_ARGUMENT);
        assert_true(strlen(hf_context_message(ctx)) > 10);
    }
    p.x[3] = INFINITY;
    const hf_projection good = {.size = sizeof good, .count = 4};
    assert_int_equal(solve(&p, &good, &posterior, &report), HF_ERR_NOT_FINITE);
    assert_null(posterior);
    assert_int_equal(report.actions, 77);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The warning comes with a posterior, and the report may be left out. */
static void what_has_not_converged_is_usable(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.001);
    const hf_projection choice = {.size = sizeof choice, .count = 2, .tolerance = 1e-8};
    hf_posterior *posterior = NULL;
    double mean, variance, x[D] = {0.1, 0.2};
    assert_int_equal(solve(&p, &choice, &posterior, NULL), HF_WARN_NOT_CONVERGED);
    assert_non_null(strstr(hf_context_message(ctx), "2 Krylov actions"));
    assert_int_equal(hf_predict(ctx, posterior, 1, x, D, &mean, &variance, NULL), HF_OK);
    assert_true(isfinite(mean) && variance > 0.0);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combined_is_exact_and_computational),
        cmocka_unit_test(failures_leave_the_outputs),
        cmocka_unit_test(what_has_not_converged_is_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
