/* SPDX-License-Identifier: Apache-2.0 */
/* Readings added, removed and replaced, in the user's units, against fits from scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    INPUTS = 2,
    ROOM = 80,
    QUERIES = 25
};

/* Readings that the posterior should know, in scaled units. */
typedef struct ledger {
    size_t n;
    double x[ROOM * INPUTS], target[ROOM], variance[ROOM];
} ledger;

static ledger open_ledger(const problem *p)
{
    ledger l = {.n = p->n};
    memcpy(l.x, p->x, p->n * INPUTS * sizeof *l.x);
    memcpy(l.target, hf_sites_targets(p->sites), p->n * sizeof *l.target);
    memcpy(l.variance, hf_sites_variances(p->sites), p->n * sizeof *l.variance);
    return l;
}

static void assert_predicts_like_a_refit(const problem *p, const hf_posterior *posterior, const ledger *l,
                                         double tolerance)
{
    assert_int_equal(hf_posterior_anchors(posterior), l->n);
    naive_gp gp = naive_make(p->kernel, p->mean, l->n, l->x, l->target, l->variance);
    const hfi_scaling *scaling = &posterior->scaling;
    double *z = problem_inputs(QUERIES, INPUTS, 61), x[QUERIES * INPUTS], mean[QUERIES], var[QUERIES];
    for (size_t i = 0; i < QUERIES; i++) support_to_user(scaling, z + i * INPUTS, x + i * INPUTS);
    assert_int_equal(hf_predict(p->ctx, posterior, QUERIES, x, INPUTS, mean, var, NULL), HF_OK);
    for (size_t i = 0; i < QUERIES; i++) {
        const double *at = z + i * INPUTS;
        assert_near(hfi_scaling_target(scaling, 0, mean[i]), naive_mean(&gp, at), tolerance);
        assert_near(hfi_scaling_site_variance(scaling, 0, var[i]), naive_covariance(&gp, at, at, true),
                    tolerance);
    }
    const hf_solve_report *report = hf_posterior_report_of(posterior);
    assert_near(report->log_evidence, naive_evidence(&gp), 1e3 * tolerance);
    free(z);
    naive_free(&gp);
}

static void random_step(const problem *p, hf_posterior *posterior, ledger *l, hfi_stream *stream)
{
    const hfi_scaling *scaling = &posterior->scaling;
    size_t kind = hfi_stream_below(stream, 3), i = hfi_stream_below(stream, l->n);
    double target = hfi_stream_normal(stream), variance = 0.02 + hfi_stream_uniform(stream);
    double y = hfi_scaling_mean(scaling, 0, target), v = hfi_scaling_variance(scaling, 0, variance),
           x[INPUTS];
    if (l->n < 5 || (kind == 0 && l->n < ROOM)) {
        i = l->n++;
        for (size_t j = 0; j < INPUTS; j++) l->x[i * INPUTS + j] = hfi_stream_normal(stream);
        support_to_user(scaling, l->x + i * INPUTS, x);
        assert_int_equal(hf_posterior_add(p->ctx, posterior, x, y, v), HF_OK);
    } else if (kind == 1) {
        size_t behind = --l->n - i;
        assert_int_equal(hf_posterior_remove(p->ctx, posterior, i), HF_OK);
        memmove(l->x + i * INPUTS, l->x + (i + 1) * INPUTS, behind * INPUTS * sizeof *l->x);
        memmove(l->target + i, l->target + i + 1, behind * sizeof *l->target);
        memmove(l->variance + i, l->variance + i + 1, behind * sizeof *l->variance);
        return;
    } else {
        assert_int_equal(hf_posterior_replace(p->ctx, posterior, i, y, v), HF_OK);
    }
    l->target[i] = target;
    l->variance[i] = variance;
}

static void long_random_sequence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard) + 0.1*linear + 0.05*white", 12, INPUTS, 0.05);
    hf_posterior *posterior = support_scaled(&p, 1.2);
    ledger l = open_ledger(&p);
    hfi_stream stream;
    hfi_stream_init(&stream, 91, HFI_PURPOSE_TEST, 0);
    for (size_t step = 0; step < 500; step++) {
        random_step(&p, posterior, &l, &stream);
        if (step % 50 != 49) continue;
        double backward = 1.0;
        assert_predicts_like_a_refit(&p, posterior, &l, 1e-11);
        assert_int_equal(hf_posterior_backward_error(ctx, posterior, &backward), HF_OK);
        assert_true(backward < 1e-12);
    }
    assert_int_equal(hf_posterior_refresh(ctx, posterior), HF_OK);
    assert_predicts_like_a_refit(&p, posterior, &l, 1e-12);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void drift_is_noticed_and_cured(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 30, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    ledger l = open_ledger(&p);
    double backward = 0.0;
    posterior->solution.factor[20 + 10 * posterior->solution.capacity] *= 1.0 + 1e-6;
    assert_int_equal(hf_posterior_backward_error(ctx, posterior, &backward), HF_WARN_DRIFT);
    assert_non_null(strstr(hf_context_message(ctx), "hf_posterior_refresh"));
    assert_true(backward > 1e-10);
    const hf_solve_report *report = hf_posterior_report_of(posterior);
    assert_true(report->backward == backward);
    assert_int_equal(hf_posterior_refresh(ctx, posterior), HF_OK);
    assert_int_equal(hf_posterior_backward_error(ctx, posterior, NULL), HF_OK);
    assert_predicts_like_a_refit(&p, posterior, &l, 1e-12);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The jitter that a fit needed stays on readings that come later, so that a refresh gives the same posterior. */
static void jitter_stays(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 10, INPUTS, 1e-30);
    memcpy(p.x + INPUTS, p.x, INPUTS * sizeof *p.x);
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, p.x, INPUTS, &posterior), HF_WARN_JITTER);
    assert_true(strstr(hf_context_message(ctx), "jitter") != NULL);
    double x[INPUTS] = {0.3, 0.4}, at[INPUTS] = {0.5, 0.5}, mean, var, mean_fresh, var_fresh;
    assert_int_equal(hf_posterior_add(ctx, posterior, x, 0.1, 0.2), HF_OK);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    assert_int_equal(hf_predict_latent(posterior, w, at, &mean, &var, NULL, NULL), HF_OK);
    assert_int_equal(hf_posterior_refresh(ctx, posterior), HF_WARN_JITTER);
    assert_int_equal(hf_predict_latent(posterior, w, at, &mean_fresh, &var_fresh, NULL, NULL), HF_OK);
    assert_near(mean, mean_fresh, 1e-5);
    assert_near(var, var_fresh, 1e-9);
    assert_true(isfinite(var) && var >= 0.0);
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Predictions before and after are the same bits. */
static void assert_refused(const problem *p, hf_posterior *posterior, hf_status status, hf_status expected,
                           const double *before)
{
    double x[3 * INPUTS] = {0.1, 0.2, -0.4, 1.0, 2.0, -1.0}, mean[3];
    assert_int_equal(status, expected);
    assert_true(strlen(hf_context_message(p->ctx)) > 0);
    assert_int_equal(hf_predict(p->ctx, posterior, 3, x, INPUTS, mean, NULL, NULL), HF_OK);
    assert_memory_equal(mean, before, sizeof mean);
}

static void errors_change_nothing(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard) + linear", 8, INPUTS, 0.05);
    hf_posterior *q = support_solve(&p);
    double x[3 * INPUTS] = {0.1, 0.2, -0.4, 1.0, 2.0, -1.0}, b[3];
    assert_int_equal(hf_predict(ctx, q, 3, x, INPUTS, b, NULL, NULL), HF_OK);
    double bad[INPUTS] = {NAN, 0.0}, huge[INPUTS] = {1e200, 0.0};
    assert_refused(&p, q, hf_posterior_add(ctx, q, bad, 0.0, 1.0), HF_ERR_NOT_FINITE, b);
    assert_refused(&p, q, hf_posterior_add(ctx, q, huge, 0.0, 1.0), HF_ERR_NOT_FINITE, b);
    assert_refused(&p, q, hf_posterior_add(ctx, q, NULL, 0.0, 1.0), HF_ERR_ARGUMENT, b);
    assert_refused(&p, q, hf_posterior_add(ctx, q, x, NAN, 1.0), HF_ERR_NOT_FINITE, b);
    assert_refused(&p, q, hf_posterior_add(ctx, q, x, 1.7e308, 1e-10), HF_ERR_NOT_FINITE, b);
    assert_refused(&p, q, hf_posterior_replace(ctx, q, 3, 1.7e308, 1e-10), HF_ERR_NOT_FINITE, b);
    const double variances[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t k = 0; k < 4; k++) {
        assert_refused(&p, q, hf_posterior_add(ctx, q, x, 0.0, variances[k]), HF_ERR_ARGUMENT, b);
        assert_refused(&p, q, hf_posterior_replace(ctx, q, 3, 0.0, variances[k]), HF_ERR_ARGUMENT, b);
    }
    assert_refused(&p, q, hf_posterior_replace(ctx, q, 8, 0.0, 1.0), HF_ERR_ARGUMENT, b);
    assert_refused(&p, q, hf_posterior_replace(ctx, q, 3, INFINITY, 1.0), HF_ERR_NOT_FINITE, b);
    assert_refused(&p, q, hf_posterior_remove(ctx, q, 8), HF_ERR_ARGUMENT, b);
    /* The same place again with no noise to speak of, once it has been told almost exactly. */
    assert_int_equal(hf_posterior_add(ctx, q, x, 0.3, 1e-20), HF_OK);
    assert_int_equal(hf_predict(ctx, q, 3, x, INPUTS, b, NULL, NULL), HF_OK);
    assert_refused(&p, q, hf_posterior_add(ctx, q, x, 0.3, 1e-20), HF_ERR_NOT_POSITIVE_DEFINITE, b);
    assert_int_equal(hf_posterior_add(ctx, NULL, x, 0.0, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_posterior_remove(ctx, NULL, 0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_posterior_backward_error(ctx, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_posterior_refresh(ctx, NULL), HF_ERR_ARGUMENT);
    while (hf_posterior_anchors(q) > 1) assert_int_equal(hf_posterior_remove(ctx, q, 0), HF_OK);
    assert_int_equal(hf_posterior_remove(ctx, q, 0), HF_ERR_NO_DATA);
    assert_int_equal(hf_posterior_anchors(q), 1);
    hf_posterior_free(q);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_random_sequence),
        cmocka_unit_test(drift_is_noticed_and_cured),
        cmocka_unit_test(jitter_stays),
        cmocka_unit_test(errors_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
