/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that must not matter (order of rows, memory running out) or not much (one wild reading), and limits in
 * which one model becomes another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    INPUTS = 2,
    QUERIES = 40
};

typedef struct answers {
    double mean[QUERIES], var[QUERIES];
} answers;

static answers ask(const problem *p, const hf_posterior *posterior)
{
    answers a;
    double *x = problem_inputs(QUERIES, INPUTS, 71);
    assert_int_equal(hf_predict(p->ctx, posterior, QUERIES, x, INPUTS, a.mean, a.var, NULL), HF_OK);
    free(x);
    return a;
}

static answers solve_and_ask(const problem *p)
{
    hf_posterior *posterior = support_solve(p);
    answers a = ask(p, posterior);
    hf_posterior_free(posterior);
    return a;
}

static void assert_close(const answers *a, const answers *b, double tolerance)
{
    for (size_t i = 0; i < QUERIES; i++) {
        assert_near(a->mean[i], b->mean[i], tolerance);
        assert_near(a->var[i], b->var[i], tolerance);
    }
}

static void make_robust(problem *p, double threshold)
{
    double *centre = naive_zeros(p->n);
    hf_sites_free(p->sites);
    assert_int_equal(hf_sites_robust(p->ctx, p->n, p->y, p->noise, p->extra, centre, threshold, &p->sites),
                     HF_OK);
    free(centre);
}

static void an_infinite_threshold_is_the_plain_process(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 50, INPUTS, 0.05);
    answers plain = solve_and_ask(&p);
    double difference[3];
    const double thresholds[] = {1e3, 1e7, INFINITY};
    for (size_t k = 0; k < 3; k++) {
        make_robust(&p, thresholds[k]);
        answers robust = solve_and_ask(&p);
        difference[k] = 0.0;
        for (size_t i = 0; i < QUERIES; i++)
            difference[k] = fmax(difference[k], fabs(robust.mean[i] - plain.mean[i]));
    }
    assert_true(difference[0] > 1e-9); /* the limit is approached, not built in */
    assert_true(difference[1] < 1e-10);
    assert_true(difference[2] == 0.0);
    problem_free(&p);
    hf_context_free(ctx);
}

static void one_wild_reading_moves_predictions_by_a_bounded_amount(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 40, INPUTS, 0.05);
    make_robust(&p, 1.0);
    answers before = solve_and_ask(&p);
    double kept = p.y[9], worst = 0.0, wild_plain = 0.0;
    for (double y = 10.0; y < 1e13; y *= 1e2) {
        p.y[9] = y;
        make_robust(&p, 1.0);
        answers after = solve_and_ask(&p);
        for (size_t i = 0; i < QUERIES; i++) worst = fmax(worst, fabs(after.mean[i] - before.mean[i]));
    }
    assert_true(worst < 2.0);
    /* Far out it is the process without that reading. */
    answers far = solve_and_ask(&p);
    assert_int_equal(hf_sites_set_present(ctx, p.sites, 9, false), HF_OK);
    answers without = solve_and_ask(&p);
    assert_close(&far, &without, 1e-8);
    /* The plain process follows it out of sight. */
    make_robust(&p, INFINITY);
    answers plain = solve_and_ask(&p);
    for (size_t i = 0; i < QUERIES; i++) wild_plain = fmax(wild_plain, fabs(plain.mean[i] - before.mean[i]));
    assert_true(wild_plain > 1e9);
    p.y[9] = kept;
    problem_free(&p);
    hf_context_free(ctx);
}

static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern32(ard) + linear", 60, INPUTS, 0.05);
    make_robust(&p, 2.0);
    answers before = solve_and_ask(&p);
    size_t order[60];
    for (size_t i = 0; i < 60; i++) order[i] = i;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    hfi_stream_shuffle(&stream, order, 60);
    double x[60 * INPUTS], y[60], extra[60];
    for (size_t i = 0; i < 60; i++) {
        memcpy(x + i * INPUTS, p.x + order[i] * INPUTS, INPUTS * sizeof *x);
        y[i] = p.y[order[i]];
        extra[i] = p.extra[order[i]];
    }
    memcpy(p.x, x, sizeof x);
    memcpy(p.y, y, sizeof y);
    memcpy(p.extra, extra, sizeof extra);
    make_robust(&p, 2.0);
    answers after = solve_and_ask(&p);
    assert_close(&before, &after, 1e-11);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Readings three times over without noise: the matrix is singular, the answer is not. */
static void duplicates_without_noise(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 30, INPUTS, 1e-30);
    for (size_t i = 10; i < 30; i++) {
        memcpy(p.x + i * INPUTS, p.x + i % 10 * INPUTS, INPUTS * sizeof *p.x);
        p.sites->target[i] = p.sites->target[i % 10];
    }
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, p.x, INPUTS, &posterior), HF_WARN_JITTER);
    const hf_solve_report *report = hf_posterior_report_of(posterior);
    assert_true(report->jitter > 0.0 && report->jitter < 1e-6);
    answers a = ask(&p, posterior);
    for (size_t i = 0; i < QUERIES; i++)
        assert_true(isfinite(a.mean[i]) && a.var[i] >= 0.0 && a.var[i] <= 1.0);
    double mean[30], var[30], kl[30];
    assert_int_equal(hf_predict(ctx, posterior, 30, p.x, INPUTS, mean, var, NULL), HF_OK);
    for (size_t i = 0; i < 30; i++) assert_near(mean[i], p.sites->target[i], 1e-5);
    assert_int_equal(hf_leave_one_out(ctx, posterior, mean, var), HF_OK);
    assert_int_equal(hf_influence_of_removal(ctx, posterior, kl), HF_OK);
    for (size_t i = 0; i < 30; i++) {
        assert_near(mean[i], p.sites->target[i], 1e-3);
        assert_true(var[i] >= 0.0 && kl[i] >= 0.0 && isfinite(kl[i]));
    }
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void parts_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 8, INPUTS, 0.1);
    hf_mean *wrong = problem_linear_mean(ctx, 3);
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_solve_exact(ctx, p.kernel, wrong, p.sites, p.x, INPUTS, &posterior),
                     HF_ERR_DIMENSION);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, p.x, 1, &posterior), HF_ERR_DIMENSION);
    assert_int_equal(hf_solve_exact(ctx, NULL, p.mean, p.sites, p.x, INPUTS, &posterior), HF_ERR_ARGUMENT);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, NULL, p.sites, p.x, INPUTS, &posterior), HF_ERR_ARGUMENT);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, NULL, p.x, INPUTS, &posterior), HF_ERR_ARGUMENT);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, NULL, INPUTS, &posterior),
                     HF_ERR_ARGUMENT);
    assert_null(posterior);
    double bytes, flops;
    hf_exact_cost(1000, 8, &bytes, &flops);
    assert_true(bytes > 8e6 && bytes < 9e6 && flops > 3e8 && flops < 5e8);
    hf_mean_free(wrong);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- memory running out at every place ----------------------------------------------------------------- */

typedef struct sweep {
    problem p;
    hf_posterior *posterior;
} sweep;

static hf_status solve_once(sweep *s)
{
    hf_posterior *posterior = NULL;
    hf_status status =
        hf_solve_exact(s->p.ctx, s->p.kernel, s->p.mean, s->p.sites, s->p.x, INPUTS, &posterior);
    assert_true((status >= 0) == (posterior != NULL));
    hf_posterior_free(posterior);
    return status;
}

static hf_status workspace_once(sweep *s)
{
    hf_posterior_workspace *w = hf_posterior_workspace_create(s->p.ctx, s->posterior);
    if (w == NULL) return HF_ERR_MEMORY;
    hf_posterior_workspace_free(w);
    return HF_OK;
}

static hf_status predict_once(sweep *s)
{
    double mean[8], latent[8], observed[8];
    return hf_predict(s->p.ctx, s->posterior, 8, s->p.x, INPUTS, mean, latent, observed);
}

static hf_status covariance_once(sweep *s)
{
    double c[64];
    return hf_predict_covariance(s->p.ctx, s->posterior, 8, s->p.x, INPUTS, c, 8);
}

static hf_status sample_once(sweep *s)
{
    double samples[16];
    return hf_sample(s->p.ctx, s->posterior, 8, s->p.x, INPUTS, 2, 0, samples);
}

static hf_status leave_one_out_once(sweep *s)
{
    double mean[32], var[32];
    return hf_leave_one_out(s->p.ctx, s->posterior, mean, var);
}

static hf_status influence_once(sweep *s)
{
    double kl;
    return hf_influence(s->p.ctx, s->posterior, 1, 0.0, 1.0, &kl);
}

static hf_status removal_once(sweep *s)
{
    double kl[32];
    return hf_influence_of_removal(s->p.ctx, s->posterior, kl);
}

static hf_status add_once(sweep *s)
{
    double x[INPUTS] = {0.1, 0.2};
    return hf_posterior_add(s->p.ctx, s->posterior, x, 0.1, 0.2);
}

static hf_status remove_once(sweep *s)
{
    return hf_posterior_remove(s->p.ctx, s->posterior, 2);
}

static hf_status replace_once(sweep *s)
{
    return hf_posterior_replace(s->p.ctx, s->posterior, 2, 0.5, 0.5);
}

static hf_status check_once(sweep *s)
{
    double backward;
    return hf_posterior_backward_error(s->p.ctx, s->posterior, &backward);
}

static hf_status refresh_once(sweep *s)
{
    return hf_posterior_refresh(s->p.ctx, s->posterior);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    hf_status (*const calls[])(sweep *) = {solve_once,  workspace_once,     predict_once,   covariance_once,
                                           sample_once, leave_one_out_once, influence_once, removal_once,
                                           add_once,    remove_once,        replace_once,   check_once,
                                           refresh_once};
    counter c = {0};
    sweep s = {.p = problem_make(counter_context(&c), "matern52(ard)", 12, INPUTS, 0.1)};
    s.p.sites->variance[4] = 1e9; /* a weak reading: leave-one-out takes its second way, too */
    s.posterior = support_solve(&s.p);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        answers before = ask(&s.p, s.posterior);
        size_t failures = 0;
        for (;; failures++) {
            long live = c.live;
            c.calls = 0;
            c.fail = failures + 1;
            hf_status status = calls[k](&s);
            c.fail = 0;
            if (status >= 0) break;
            assert_int_equal(status, HF_ERR_MEMORY);
            assert_int_equal(c.live, live);
            answers after = ask(&s.p, s.posterior);
            assert_memory_equal(&before, &after, sizeof after);
        }
        assert_true(failures >= 1);
    }
    hf_posterior_free(s.posterior);
    hf_context *ctx = s.p.ctx;
    problem_free(&s.p);
    hf_context_free(ctx);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_infinite_threshold_is_the_plain_process),
        cmocka_unit_test(one_wild_reading_moves_predictions_by_a_bounded_amount),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(duplicates_without_noise),
        cmocka_unit_test(parts_that_do_not_fit_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
