/* SPDX-License-Identifier: Apache-2.0 */
/* hf_solve_inducing: what it gives to predict with, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "posterior/support.h"
#include "solver/inducing_reference.h"

enum {
    N = 30,
    M = 6,
    D = 2,
    POINTS = 9
};

static hf_posterior *solve(const problem *p, hf_inducing_method method, size_t m, const double *z)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(
        hf_solve_inducing(p->ctx, p->kernel, p->mean, p->sites, p->x, D, method, m, z, D, &posterior), HF_OK);
    return posterior;
}

static void predictions_agree_with_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    double *z = reference_inputs(M, D), *x = problem_inputs(POINTS, D, 3);
    for (int kind = 0; kind < REFERENCE_SITES; kind++)
        for (int method = 0; method < 3; method++) {
            problem p = reference_problem(ctx, "matern52(ard) + white", N, D, (reference_sites)kind);
            hf_posterior *posterior = solve(&p, (hf_inducing_method)method, M, z);
            reference r = reference_make(p.kernel, p.mean, p.sites, p.x, D, (hf_inducing_method)method, M, z);
            double mean[POINTS], latent[POINTS], observed[POINTS];
            assert_int_equal(hf_predict(ctx, posterior, POINTS, x, D, mean, latent, observed), HF_OK);
            for (size_t i = 0; i < POINTS; i++) {
                double want_mean, want_variance;
                reference_predict(&r, x + i * D, &want_mean, &want_variance);
                assert_near(mean[i], want_mean, 1e-8);
                assert_near(latent[i], want_variance, 1e-8);
                assert_near(observed[i], want_variance + p.noise, 1e-8);
            }
            assert_int_equal(hf_posterior_solver(posterior), HF_SOLVER_INDUCING);
            assert_int_equal(hf_posterior_anchors(posterior), M);
            assert_int_equal(hf_posterior_rank(posterior), M);
            const hf_solve_report *report = hf_posterior_report_of(posterior);
            assert_true(report->jitter > 0.0 && report->condition >= 1.0 && report->backward < 1e-12);
            reference_free(&r);
            hf_posterior_free(posterior);
            problem_free(&p);
        }
    free(x);
    free(z);
    hf_context_free(ctx);
}

static void inducing_inputs_at_all_readings_are_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *x = problem_inputs(POINTS, D, 3);
    for (int method = 0; method < 3; method++) {
        problem p = problem_make(ctx, "matern52(ard)", N, D, 0.3);
        hf_posterior *exact = support_solve(&p), *inducing = solve(&p, (hf_inducing_method)method, N, p.x);
        double mean[2][POINTS], latent[2][POINTS], covariance[2][POINTS * POINTS], slope[2][D], bend[2][D];
        for (int k = 0; k < 2; k++) {
            const hf_posterior *posterior = k ? inducing : exact;
            hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
            double m, v;
            assert_int_equal(hf_predict(ctx, posterior, POINTS, x, D, mean[k], latent[k], NULL), HF_OK);
            assert_int_equal(hf_predict_covariance(ctx, posterior, POINTS, x, D, covariance[k], POINTS),
                             HF_OK);
            assert_int_equal(hf_predict_latent(posterior, workspace, x, &m, &v, slope[k], bend[k]), HF_OK);
            hf_posterior_workspace_free(workspace);
        }
        for (size_t i = 0; i < POINTS; i++) {
            assert_near(mean[1][i], mean[0][i], 1e-8);
            assert_near(latent[1][i], latent[0][i], 1e-8);
        }
        for (size_t i = 0; i < POINTS * POINTS; i++) assert_near(covariance[1][i], covariance[0][i], 1e-8);
        for (size_t c = 0; c < D; c++) {
            assert_near(slope[1][c], slope[0][c], 1e-7);
            assert_near(bend[1][c], bend[0][c], 1e-7);
        }
        hf_posterior_free(exact);
        hf_posterior_free(inducing);
        problem_free(&p);
    }
    free(x);
    hf_context_free(ctx);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

typedef struct call {
    const hf_kernel *kernel;
    const hf_mean *mean;
    const hf_sites *sites;
    const double *x;
    size_t ldx;
    hf_inducing_method method;
    size_t m;
    const double *z;
    size_t ldz;
} call;

static call good(const problem *p, const double *z)
{
    return (call){p->kernel, p->mean, p->sites, p->x, D, HF_INDUCING_VFE, M, z, D};
}

/* The error, with nothing made and a message that has `text` in it. */
static void refused(hf_context *ctx, call c, hf_status status, const char *text)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(
        hf_solve_inducing(ctx, c.kernel, c.mean, c.sites, c.x, c.ldx, c.method, c.m, c.z, c.ldz, &posterior),
        status);
    assert_null(posterior);
    if (!strstr(hf_context_message(ctx), text))
        fail_msg("'%s' does not say '%s'", hf_context_message(ctx), text);
}

static void wrong_arguments(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", N, D, 0.1);
    double *z = reference_inputs(M, D);
    call c = good(&p, z);
    assert_int_equal(hf_solve_inducing(ctx, c.kernel, c.mean, c.sites, c.x, D, c.method, M, z, D, NULL),
                     HF_ERR_ARGUMENT);
    c = good(&p, z);
    c.kernel = NULL;
    refused(ctx, c, HF_ERR_ARGUMENT, "kernel");
    c = good(&p, z);
    c.mean = NULL;
    refused(ctx, c, HF_ERR_ARGUMENT, "mean");
    c = good(&p, z);
    c.sites = NULL;
    refused(ctx, c, HF_ERR_ARGUMENT, "sites");
    c = good(&p, z);
    c.x = NULL;
    refused(ctx, c, HF_ERR_ARGUMENT, "x is NULL");
    c = good(&p, z);
    c.ldx = 1;
    refused(ctx, c, HF_ERR_DIMENSION, "x");
    c = good(&p, z);
    c.method = (hf_inducing_method)3;
    refused(ctx, c, HF_ERR_ARGUMENT, "method 3");
    c = good(&p, z);
    c.m = 0;
    refused(ctx, c, HF_ERR_ARGUMENT, "no inducing inputs");
    c = good(&p, z);
    c.z = NULL;
    refused(ctx, c, HF_ERR_ARGUMENT, "z is NULL");
    c = good(&p, z);
    c.ldz = 1;
    refused(ctx, c, HF_ERR_DIMENSION, "z");
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static void wrong_numbers(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", N, D, 0.1);
    double *z = reference_inputs(M, D);
    memcpy(z + 4 * D, z + 1 * D, D * sizeof *z);
    refused(ctx, good(&p, z), HF_ERR_ARGUMENT, "inputs 1 and 4");
    z[4 * D] += 1.0;
    z[2 * D + 1] = INFINITY;
    refused(ctx, good(&p, z), HF_ERR_NOT_FINITE, "input 1 of inducing input 2");
    z[2 * D + 1] = 0.5;
    p.x[7 * D] = NAN;
    refused(ctx, good(&p, z), HF_ERR_NOT_FINITE, "row 7");
    /* A row that nobody looks at may hold anything. */
    assert_int_equal(hf_sites_set_present(ctx, p.sites, 7, false), HF_OK);
    hf_posterior_free(solve(&p, HF_INDUCING_VFE, M, z));
    p.sites->target[5] = 1e200;
    refused(ctx, good(&p, z), HF_ERR_NOT_FINITE, "overflow");
    for (size_t i = 0; i < N; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
    refused(ctx, good(&p, z), HF_ERR_NO_DATA, "30 readings");
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    hf_context *maker = problem_context(1);
    problem p = problem_make(maker, "se", N, D, 0.1);
    double *z = reference_inputs(M, D);
    counter count = {0};
    hf_context *ctx = counter_context(&count);
    const long live = count.live;
    const size_t before = count.calls;
    p.ctx = ctx;
    hf_posterior_free(solve(&p, HF_INDUCING_VFE, M, z));
    const size_t calls = count.calls - before;
    assert_true(calls > 15);
    for (size_t k = 1; k <= calls; k++) {
        hf_posterior *posterior = NULL;
        count.fail = count.calls + k;
        assert_int_equal(
            hf_solve_inducing(ctx, p.kernel, p.mean, p.sites, p.x, D, HF_INDUCING_VFE, M, z, D, &posterior),
            HF_ERR_MEMORY);
        assert_null(posterior);
        assert_int_equal(count.live, live);
    }
    hf_context_free(ctx);
    free(z);
    problem_free(&p);
    hf_context_free(maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_agree_with_the_book),
        cmocka_unit_test(inducing_inputs_at_all_readings_are_exact),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(wrong_numbers),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
