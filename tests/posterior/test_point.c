/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction at one point: values, gradients, no allocation, many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

#include <pthread.h>

static const char *const KERNELS[] = {
    "matern52(ard)",
    "se(ard) + 0.4*linear",
    "1.7*matern32(x1) + 0.3*periodic(x2, period=3) * se(x3)",
    "rq + 0.2*white",
    "sm(x1, components=2) + 0.5*se",
};
enum {
    KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS,
    INPUTS = 3
};

static void equals_the_textbook(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k], 30, INPUTS, 0.05);
        naive_gp gp = problem_naive(&p);
        hf_posterior *posterior = support_solve(&p);
        hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
        assert_non_null(w);
        assert_int_equal(hf_posterior_anchors(posterior), 30);
        assert_int_equal(hf_posterior_dimension(posterior), INPUTS);
        assert_near(hf_posterior_noise(posterior), 0.05, 1e-17);
        assert_true(hf_posterior_calibration(posterior) == 1.0);
        const hf_solve_report *report = hf_posterior_report_of(posterior);
        assert_near(report->log_evidence, naive_evidence(&gp), 1e-9);
        assert_int_equal(report->anchors, 30);
        assert_true(report->bytes > 8.0 * 30.0 * 30.0 && report->bytes < 20000.0);
        double *x = problem_inputs(10, INPUTS, 21);
        for (size_t i = 0; i < 10; i++) {
            const double *at = i == 0 ? p.x : x + i * INPUTS; /* an anchor's own place, too */
            double mean, var, observed, lone;
            assert_int_equal(hf_predict_latent(posterior, w, at, &mean, &var, NULL, NULL), HF_OK);
            assert_near(mean, naive_mean(&gp, at), 1e-10);
            assert_near(var, naive_covariance(&gp, at, at, true), 1e-10);
            assert_int_equal(hf_predict_observed(posterior, w, at, NULL, &observed, NULL, NULL), HF_OK);
            assert_near(observed, var + 0.05, 1e-14);
            assert_int_equal(hf_predict_latent(posterior, w, at, &lone, NULL, NULL, NULL), HF_OK);
            assert_true(lone == mean);
        }
        free(x);
        hf_posterior_workspace_free(w);
        hf_posterior_free(posterior);
        naive_free(&gp);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* Scaled by the library and scaled by hand are the same posterior. */
static void scaling_is_undone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard) + linear", 25, INPUTS, 0.05);
    hf_posterior *plain = support_solve(&p), *scaled = support_scaled(&p, 1.75);
    hfi_scaling scaling = support_scaling(ctx, INPUTS);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, plain),
                           *v = hf_posterior_workspace_create(ctx, scaled);
    double *x = problem_inputs(8, INPUTS, 22), user[INPUTS], unit = scaling.y_scale * scaling.y_scale;
    assert_near(hf_posterior_noise(scaled), 0.05 * unit, 1e-13);
    assert_true(hf_posterior_calibration(scaled) == 1.75);
    for (size_t i = 0; i < 8; i++) {
        double mean, var, gm[INPUTS], gv[INPUTS], mean_user, var_user, gm_user[INPUTS], gv_user[INPUTS];
        support_to_user(&scaling, x + i * INPUTS, user);
        assert_int_equal(hf_predict_latent(plain, w, x + i * INPUTS, &mean, &var, gm, gv), HF_OK);
        assert_int_equal(hf_predict_latent(scaled, v, user, &mean_user, &var_user, gm_user, gv_user), HF_OK);
        assert_near(mean_user, mean * scaling.y_scale + scaling.y_shift, 1e-10);
        assert_near(var_user, var * unit, 1e-10);
        for (size_t j = 0; j < INPUTS; j++) {
            assert_near(gm_user[j], gm[j] * scaling.y_scale / scaling.x_scale[j], 1e-9);
            assert_near(gv_user[j], gv[j] * unit / scaling.x_scale[j], 1e-8);
        }
        double observed, gradient[INPUTS];
        assert_int_equal(hf_predict_observed(scaled, v, user, &mean, &observed, NULL, gradient), HF_OK);
        assert_true(mean == mean_user);
        assert_near(observed, 1.75 * (var_user + 0.05 * unit), 1e-12);
        for (size_t j = 0; j < INPUTS; j++)
            assert_near(gradient[j], 1.75 * gv_user[j], 1e-12 * fabs(gv_user[j]));
    }
    free(x);
    hf_posterior_workspace_free(w);
    hf_posterior_workspace_free(v);
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    hfi_scaling_free(&scaling);
    problem_free(&p);
    hf_context_free(ctx);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k], 20, INPUTS, 0.1);
        hf_posterior *posterior = support_scaled(&p, 1.5);
        const hfi_scaling *scaling = &posterior->scaling;
        hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
        double *points = problem_inputs(5, INPUTS, 23), x[INPUTS], gm[INPUTS], gv[INPUTS];
        for (size_t i = 0; i < 5; i++) {
            support_to_user(scaling, points + i * INPUTS, x);
            assert_int_equal(hf_predict_observed(posterior, w, x, NULL, NULL, gm, gv), HF_OK);
            for (size_t j = 0; j < INPUTS; j++) {
                double h = 1e-5 * scaling->x_scale[j], at = x[j], mean[2], var[2];
                for (int side = 0; side < 2; side++) {
                    x[j] = side == 0 ? at - h : at + h;
                    assert_int_equal(
                        hf_predict_observed(posterior, w, x, mean + side, var + side, NULL, NULL), HF_OK);
                }
                x[j] = at;
                double size = scaling->y_scale / scaling->x_scale[j];
                assert_near((mean[1] - mean[0]) / (2.0 * h), gm[j], 2e-8 * size);
                assert_near((var[1] - var[0]) / (2.0 * h), gv[j], 2e-8 * size * scaling->y_scale);
            }
        }
        free(points);
        hf_posterior_workspace_free(w);
        hf_posterior_free(posterior);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void bad_input_leaves_outputs_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se + linear", 10, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e200}; /* the last one overflows in the linear kernel */
    for (size_t i = 0; i < 4; i++) {
        double x[INPUTS] = {0.0, bad[i], 0.0}, mean = 5.0, var = 6.0, gm[INPUTS] = {7.0}, gv[INPUTS] = {8.0};
        assert_int_equal(hf_predict_latent(posterior, w, x, &mean, &var, gm, gv), HF_ERR_NOT_FINITE);
        assert_int_equal(hf_predict_observed(posterior, w, x, &mean, &var, gm, gv), HF_ERR_NOT_FINITE);
        assert_true(mean == 5.0 && var == 6.0 && gm[0] == 7.0 && gv[0] == 8.0);
    }
    double x[INPUTS] = {0.0}, mean;
    assert_int_equal(hf_predict_latent(NULL, w, x, &mean, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_latent(posterior, NULL, x, &mean, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_latent(posterior, w, NULL, &mean, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    hf_posterior_workspace_free(w);
    hf_posterior_workspace_free(NULL);
    hf_posterior_free(posterior);
    hf_posterior_free(NULL);
    problem_free(&p);
    hf_context_free(ctx);
}

/* A workspace that is too small, or another posterior's, is refused rather than overrun. */
static void workspaces_must_fit(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 10, INPUTS, 0.1), q = problem_make(ctx, "se", 10, 2, 0.1);
    problem r =
        problem_make(ctx, "se*matern32*(rq + matern12 + periodic) + sm(components=4)", 4, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p), *flat = support_solve(&q), *rich = support_solve(&r);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior),
                           *small = hf_posterior_workspace_create(ctx, flat);
    double x[INPUTS] = {0.1, 0.2, 0.3}, mean, var;
    assert_int_equal(hf_predict_latent(posterior, small, x, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_latent(rich, w, x, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_posterior_add(ctx, posterior, x, 0.1, 0.2), HF_OK);
    assert_int_equal(hf_predict_latent(posterior, w, x, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    /* A new one has the room that the posterior has, so that further readings fit. */
    hf_posterior_workspace_free(w);
    w = hf_posterior_workspace_create(ctx, posterior);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(hf_posterior_add(ctx, posterior, x, 0.1, 0.2), HF_OK);
        assert_int_equal(hf_predict_latent(posterior, w, x, &mean, &var, NULL, NULL), HF_OK);
    }
    hf_posterior_workspace_free(w);
    hf_posterior_workspace_free(small);
    hf_posterior_free(posterior);
    hf_posterior_free(flat);
    hf_posterior_free(rich);
    problem_free(&p);
    problem_free(&q);
    problem_free(&r);
    hf_context_free(ctx);
}

static void allocates_nothing(void **state)
{
    (void)state;
    counter c = {0};
    hf_context *ctx = counter_context(&c);
    problem p = problem_make(ctx, "matern52(ard) + linear", 40, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    double x[INPUTS] = {0.1, 0.2, 0.3}, mean, var, gm[INPUTS], gv[INPUTS];
    size_t before = c.calls;
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(hf_predict_latent(posterior, w, x, &mean, &var, gm, gv), HF_OK);
        assert_int_equal(hf_predict_observed(posterior, w, x, &mean, &var, gm, gv), HF_OK);
    }
    assert_int_equal(c.calls, before);
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
    assert_int_equal(c.live, 0);
}

static void one_reading_by_hand(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "2*se", 1, 1, 0.5);
    hf_posterior *posterior = support_solve(&p);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    double x = p.x[0] + 0.8, mean, var, k = 2.0 * exp(-0.32), a = 2.0 + hf_sites_variances(p.sites)[0];
    double prior, prior_here;
    hf_mean_evaluate(p.mean, 1, p.x, 1, &prior);
    hf_mean_evaluate(p.mean, 1, &x, 1, &prior_here);
    assert_int_equal(hf_predict_latent(posterior, w, &x, &mean, &var, NULL, NULL), HF_OK);
    assert_near(mean, prior_here + k / a * (p.y[0] - prior), 1e-14);
    assert_near(var, 2.0 - k * k / a, 1e-14);
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Without noise the variance at an anchor is zero but for rounding, on either side. */
static void variances_are_never_negative(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern12(ard)", 60, 2, 1e-30);
    hf_posterior *posterior = NULL;
    assert_true(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, p.x, 2, &posterior) >= 0);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    size_t zeros = 0;
    double var[60], *mean = naive_zeros(60);
    assert_int_equal(hf_predict(ctx, posterior, 60, p.x, 2, mean, var, NULL), HF_OK);
    for (size_t i = 0; i < 60; i++) {
        double one;
        assert_int_equal(hf_predict_latent(posterior, w, p.x + 2 * i, NULL, &one, NULL, NULL), HF_OK);
        assert_true(one >= 0.0 && one < 1e-9 && var[i] >= 0.0 && var[i] < 1e-9);
        zeros += one == 0.0;
    }
    assert_true(zeros > 0); /* else this test has tested nothing */
    free(mean);
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

enum {
    THREADS = 4,
    POINTS = 50
};

typedef struct reader {
    const hf_posterior *posterior;
    hf_posterior_workspace *workspace;
    const double *x;
    double mean[POINTS], var[POINTS], gradient[POINTS][INPUTS];
    bool good;
} reader;

static void *read_all(void *arg)
{
    reader *r = arg;
    r->good = true;
    for (size_t i = 0; i < POINTS; i++)
        r->good = hf_predict_latent(r->posterior, r->workspace, r->x + i * INPUTS, r->mean + i, r->var + i,
                                    NULL, r->gradient[i]) == HF_OK &&
                  r->good;
    return NULL;
}

static void many_threads_may_predict_at_once(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard) + linear", 60, INPUTS, 0.1);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(POINTS, INPUTS, 31);
    reader readers[THREADS];
    pthread_t threads[THREADS];
    for (size_t k = 0; k < THREADS; k++) {
        readers[k] = (reader){.posterior = posterior, .x = x};
        readers[k].workspace = hf_posterior_workspace_create(ctx, posterior);
        assert_non_null(readers[k].workspace);
    }
    for (size_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(threads + k, NULL, read_all, readers + k), 0);
    for (size_t k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (size_t k = 0; k < THREADS; k++) {
        assert_true(readers[k].good);
        assert_memory_equal(readers[k].mean, readers[0].mean, sizeof readers[0].mean);
        assert_memory_equal(readers[k].var, readers[0].var, sizeof readers[0].var);
        assert_memory_equal(readers[k].gradient, readers[0].gradient, sizeof readers[0].gradient);
        hf_posterior_workspace_free(readers[k].workspace);
    }
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_textbook),
        cmocka_unit_test(scaling_is_undone),
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(bad_input_leaves_outputs_alone),
        cmocka_unit_test(workspaces_must_fit),
        cmocka_unit_test(allocates_nothing),
        cmocka_unit_test(one_reading_by_hand),
        cmocka_unit_test(variances_are_never_negative),
        cmocka_unit_test(many_threads_may_predict_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
