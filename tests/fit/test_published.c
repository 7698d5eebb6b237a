/* SPDX-License-Identifier: Apache-2.0 */
/* The presets of the published RCaGP: the settings that one would have to give, in any units. */
#include "posterior/posterior.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 90
};

typedef struct problem {
    hf_context *ctx;
    double x[N], y[N];         /* as measured */
    double u[N], v[N];         /* standardised */
    double width, level, unit; /* sd of x, median and robust scale of y */
} problem;

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(const double *values)
{
    double sorted[N];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, ascending);
    return 0.5 * (sorted[N / 2 - 1] + sorted[N / 2]);
}

static void make(problem *p)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 3);
    p->ctx = hf_context_create();
    double centre = 0.0, square = 0.0, away[N];
    for (size_t i = 0; i < N; i++) {
        p->x[i] = 1000.0 + 70.0 * hfi_stream_uniform(&stream);
        p->y[i] = -40.0 + 8.0 * sin(p->x[i] / 9.0) + hfi_stream_normal(&stream) + (i % 10 == 3 ? 60.0 : 0.0);
        centre += p->x[i] / N;
    }
    for (size_t i = 0; i < N; i++) square += (p->x[i] - centre) * (p->x[i] - centre) / N;
    p->width = sqrt(square);
    p->level = median(p->y);
    for (size_t i = 0; i < N; i++) away[i] = fabs(p->y[i] - p->level);
    p->unit = 1.482602218505602 * median(away);
    for (size_t i = 0; i < N; i++) {
        p->u[i] = (p->x[i] - centre) / p->width;
        p->v[i] = (p->y[i] - p->level) / p->unit;
    }
}

/* Means and observed variances at the readings. */
static void fit(const problem *p, const double *x, const double *y, const hf_fit_settings *settings,
                double *mean, double *variance)
{
    const hf_data data = {.n = N, .d = 1, .x = x, .ldx = 1, .y = y};
    hf_posterior *posterior = NULL;
    assert_true(hf_fit_data(p->ctx, &data, settings, &posterior, NULL, NULL) >= 0);
    assert_int_equal(hf_predict(p->ctx, posterior, N, x, 1, mean, NULL, variance), HF_OK);
    hf_posterior_free(posterior);
}

/* The nine things to say: sites, solver with its actions, objective, centre and threshold, eps, Adam, its
 * steps, kernel with starts, and beta. */
static hf_fit_settings by_hand(const char *kernel, size_t actions, double beta)
{
    hf_fit_settings s = hf_fit_settings_default();
    s.suspects = HF_OUTLIERS_OFF;
    s.calibrate = s.priors = s.consistent_noise = false;
    s.sites = HF_LIKELIHOOD_ROBUST;
    s.solver = HF_SOLVER_PROJECTED;
    s.action_kind = HF_ACTIONS_BLOCKS;
    s.actions = actions;
    s.objective = HF_OBJECTIVE_RCAGP;
    s.centre = HF_CENTRE_PRIOR;
    s.threshold_rule = HF_THRESHOLD_QUANTILE;
    s.eps = 0.2;
    s.rounds = 1;
    s.optimiser = HF_OPTIMISER_ADAM;
    s.iterations = 50;
    s.learning_rate = 0.01;
    s.kernel = kernel;
    s.noise_start = 0.6931471805599453;
    s.beta = beta;
    return s;
}

static void assert_close(const double *left, const double *right, double scale, double shift)
{
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(left[i] - (shift + scale * right[i])) < 1e-7 * (fabs(shift) + scale));
}

/* On a standardised table they are the numbers of the paper. */
static void presets_are_the_paper_in_any_units(void **state)
{
    (void)state;
    static const char *const kernels[] = {
        "matern52(iso, lengthscale~0.693147180559945, outputscale~0.693147180559945)",
        "matern32(iso, lengthscale~0.693147180559945, outputscale~0.693147180559945)"};
    static const char *const names[] = {"rcagp-text", "rcagp-program"};
    static const size_t actions[] = {25, 5};
    problem p;
    make(&p);
    for (size_t k = 0; k < 2; k++) {
        hf_fit_settings preset, hand = by_hand(kernels[k], actions[k], 1.0);
        hand.standardise = false;
        double mean[N], variance[N], other[N], its[N];
        assert_int_equal(hf_fit_settings_preset(p.ctx, names[k], &preset, sizeof preset), HF_OK);
        fit(&p, p.x, p.y, &preset, mean, variance);
        fit(&p, p.u, p.v, &hand, other, its);
        assert_close(mean, other, p.unit, p.level);
        assert_close(variance, its, p.unit * p.unit, 0.0);
    }
    hf_context_free(p.ctx);
}

/* And beta without scales is in units of the target. */
static void beta_counts_in_scales_or_in_units(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_fit_settings scaled, plain;
    double mean[N], variance[N], other[N], its[N];
    assert_int_equal(hf_fit_settings_preset(p.ctx, "rcagp-text", &scaled, sizeof scaled), HF_OK);
    plain = scaled;
    plain.scaled_beta = false;
    plain.beta = p.unit;
    fit(&p, p.x, p.y, &scaled, mean, variance);
    fit(&p, p.x, p.y, &plain, other, its);
    assert_close(mean, other, 1.0, 0.0);
    plain.beta = 1.0;
    fit(&p, p.x, p.y, &plain, other, its);
    double most = 0.0;
    for (size_t i = 0; i < N; i++) most = fmax(most, fabs(mean[i] - other[i]));
    assert_true(most > 0.01);
    hf_context_free(p.ctx);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_posterior *posterior = NULL;
    const hf_data data = {.n = N, .d = 1, .x = p.x, .ldx = 1, .y = p.y};
    hf_fit_settings s;
    assert_int_equal(hf_fit_settings_preset(p.ctx, "rcagp-text", &s, sizeof s), HF_OK);
    s.standardise = false;
    assert_int_equal(hf_fit_data(p.ctx, &data, &s, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(p.ctx), "scaled_beta"));
    const double starts[] = {-1.0, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        s = hf_fit_settings_default();
        s.common_start = starts[i];
        assert_int_equal(hf_fit_data(p.ctx, &data, &s, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(p.ctx), "common_start"));
    }
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_the_paper_in_any_units),
        cmocka_unit_test(beta_counts_in_scales_or_in_units),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
