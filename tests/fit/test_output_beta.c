/* SPDX-License-Identifier: Apache-2.0 */
/* Amplitudes of robust weights for each output: units, order of the outputs, mistakes. */
#include "posterior/posterior.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROWS = 30,
    T = 3,
    N = ROWS * T
};

typedef struct problem {
    hf_context *ctx;
    double x[2 * N], y[N];
    hf_data data;
} problem;

static const double betas[T] = {0.4, 1.5, 0.7};

/* Outputs in the order `of`, each times its unit. */
static void make(problem *p, const size_t *of, const double *unit)
{
    static const double slope[T] = {1.0, -0.6, 0.3}, level[T] = {2.0, 0.0, -5.0};
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 2);
    p->ctx = hf_context_create();
    double u[ROWS], y[N];
    for (size_t i = 0; i < ROWS; i++) {
        u[i] = 6.0 * hfi_stream_uniform(&stream);
        for (size_t t = 0; t < T; t++) {
            y[i * T + t] = level[t] + sin(u[i] + 0.2 * (double)t) + slope[t] * 0.3 * u[i] +
                           0.1 * hfi_stream_normal(&stream);
            if ((i * T + t) % 17 == 3) y[i * T + t] += 5.0;
        }
    }
    for (size_t k = 0; k < N; k++) {
        const size_t i = k / T, t = of[k % T];
        p->x[2 * k] = u[i];
        p->x[2 * k + 1] = (double)(k % T);
        p->y[k] = unit[t] * y[i * T + t];
    }
    p->data = (hf_data){.n = N, .d = 2, .x = p->x, .ldx = 2, .y = p->y, .outputs = T};
}

static const size_t straight[T] = {0, 1, 2}, turned[T] = {2, 0, 1};
static const double ones[T] = {1.0, 1.0, 1.0};

/* A few steps of Adam, which a rounding error does not carry far. */
static hf_fit_settings robust(void)
{
    hf_fit_settings s = hf_fit_settings_default();
    s.kernel = "matern52(iso)";
    s.sites = HF_LIKELIHOOD_ROBUST;
    s.suspects = HF_OUTLIERS_OFF;
    s.calibrate = s.consistent_noise = false;
    s.centre = HF_CENTRE_PRIOR;
    s.threshold_rule = HF_THRESHOLD_QUANTILE;
    s.rounds = 1;
    s.optimiser = HF_OPTIMISER_ADAM;
    s.iterations = 5;
    s.solver = HF_SOLVER_EXACT;
    return s;
}

static void fit(const problem *p, const hf_fit_settings *settings, double mean[N], double variance[N])
{
    hf_posterior *posterior = NULL;
    if (hf_fit_data(p->ctx, &p->data, settings, &posterior, NULL, NULL) < 0)
        fail_msg("%s", hf_context_message(p->ctx));
    assert_true(hf_predict(p->ctx, posterior, N, p->x, 2, mean, variance, NULL) >= 0);
    hf_posterior_free(posterior);
}

static double apart(const double *a, const double *b)
{
    double most = 0.0;
    for (size_t k = 0; k < N; k++) most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

/* The number means each output's own units, as a list of equal ones does. */
static void one_number_is_that_of_every_output(void **state)
{
    (void)state;
    problem p;
    make(&p, straight, ones);
    static const double same[T] = {0.7, 0.7, 0.7};
    hf_fit_settings one = robust(), list = robust();
    double mean[N], variance[N], other[N], its[N];
    one.beta = 0.7;
    list.output_beta = same;
    list.output_beta_count = T;
    for (int k = 0; k < 4; k++) {
        one.solver = list.solver = k == 1   ? HF_SOLVER_INDUCING
                                   : k == 2 ? HF_SOLVER_PROJECTED
                                            : HF_SOLVER_EXACT;
        one.inducing = list.inducing = one.actions = list.actions = k == 0 || k == 3 ? 0 : 12;
        one.shared_noise = list.shared_noise = k == 3;
        fit(&p, &one, mean, variance);
        fit(&p, &list, other, its);
        assert_true(apart(mean, other) == 0.0 && apart(variance, its) == 0.0);
        list.output_beta = betas;
        fit(&p, &list, other, its);
        assert_true(apart(mean, other) > 1e-3);
        list.output_beta = same;
    }
    hf_context_free(p.ctx);
}

static void columns_may_come_in_any_order(void **state)
{
    (void)state;
    problem p, q;
    make(&p, straight, ones);
    make(&q, turned, ones);
    double there[T], mean[N], variance[N], other[N], its[N];
    for (size_t t = 0; t < T; t++) there[t] = betas[turned[t]];
    hf_fit_settings s = robust(), r = robust();
    s.output_beta = betas;
    r.output_beta = there;
    s.output_beta_count = r.output_beta_count = T;
    for (int shared = 0; shared < 2; shared++) {
        s.shared_noise = r.shared_noise = shared == 1;
        fit(&p, &s, mean, variance);
        fit(&q, &r, other, its);
        for (size_t k = 0; k < N; k++) {
            const size_t at = k / T * T + turned[k % T];
            assert_true(fabs(other[k] - mean[at]) < 1e-8 && fabs(its[k] - variance[at]) < 1e-8);
        }
    }
    hf_context_free(p.ctx);
    hf_context_free(q.ctx);
}

/* An output in other units, and its beta too, is the same output. In scales it needs no change. */
static void units_are_those_of_each_output(void **state)
{
    (void)state;
    static const double unit[T] = {1.0, 1000.0, 0.01};
    problem p, q;
    make(&p, straight, ones);
    make(&q, straight, unit);
    double there[T], mean[N], variance[N], other[N], its[N];
    for (size_t t = 0; t < T; t++) there[t] = betas[t] * unit[t];
    for (int scaled = 0; scaled < 2; scaled++) {
        hf_fit_settings s = robust(), r = robust();
        s.output_beta = betas;
        r.output_beta = scaled ? betas : there;
        s.output_beta_count = r.output_beta_count = T;
        s.scaled_beta = r.scaled_beta = scaled == 1;
        fit(&p, &s, mean, variance);
        fit(&q, &r, other, its);
        for (size_t k = 0; k < N; k++) {
            const double by = unit[k % T];
            assert_true(fabs(other[k] / by - mean[k]) < 1e-8);
            assert_true(fabs(its[k] / by / by - variance[k]) < 1e-8);
        }
    }
    hf_context_free(p.ctx);
    hf_context_free(q.ctx);
}

static void refused(problem *p, const hf_fit_settings *s, const char *words)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_fit_data(p->ctx, &p->data, s, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_null(posterior);
    if (!strstr(hf_context_message(p->ctx), words)) fail_msg("%s", hf_context_message(p->ctx));
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const double wrong[3][T] = {{1.0, NAN, 1.0}, {1.0, 1.0, -1.0}, {INFINITY, 1.0, 1.0}};
    static const char *const words[] = {"beta 2 of 3", "beta 3 of 3", "beta 1 of 3"};
    problem p;
    make(&p, straight, ones);
    hf_fit_settings s = robust();
    s.output_beta = betas;
    s.output_beta_count = 2;
    refused(&p, &s, "2 amplitudes (beta) are given for 3 outputs");
    s.output_beta_count = T;
    for (size_t k = 0; k < 3; k++) {
        s.output_beta = wrong[k];
        refused(&p, &s, words[k]);
    }
    s.output_beta = betas;
    s.standardise = false;
    s.scaled_beta = true;
    refused(&p, &s, "scaled_beta");
    s = hf_fit_settings_default();
    s.output_beta = betas;
    s.output_beta_count = T;
    refused(&p, &s, "output_beta does not go with sites gaussian");
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_is_that_of_every_output),
        cmocka_unit_test(columns_may_come_in_any_order),
        cmocka_unit_test(units_are_those_of_each_output),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
