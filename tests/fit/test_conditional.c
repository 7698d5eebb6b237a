/* SPDX-License-Identifier: Apache-2.0 */
/* Robust weights from the other outputs: the table of samples, the closed form, bounded influence, fits with
 * wrong readings. */
#include "linalg/linalg.h"
#include "objective/samples.h"
#include <holdfast/holdfast.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROWS = 60,
    T = 3,
    MOST = ROWS * T
};

typedef struct problem {
    hf_context *ctx;
    size_t n, sample[MOST];
    double x[MOST * 2], y[MOST], clean[MOST];
    hf_data data;
} problem;

static const double noise_sd[T] = {0.1, 0.05, 0.08};

static void make(problem *p, bool gaps)
{
    memset(p, 0, sizeof *p);
    p->ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 4);
    for (size_t i = 0; i < ROWS; i++) {
        const double x = -5.0 + 10.0 * hfi_stream_uniform(&stream);
        const double f = sin(1.1 * x), g = cos(0.7 * x);
        const double own[T] = {f + 0.1 * g, 0.9 * f + 0.2 * g, 0.8 * f - 0.2 * g};
        for (size_t t = 0; t < T; t++) {
            const double error = noise_sd[t] * hfi_stream_normal(&stream);
            if (gaps && (i * 7 + t * 5) % 6 == 0) continue;
            const size_t k = p->n++;
            p->x[2 * k] = x;
            p->x[2 * k + 1] = (double)t;
            p->clean[k] = own[t];
            p->y[k] = own[t] + error;
            p->sample[k] = i;
        }
    }
    p->data = (hf_data){.n = p->n, .d = 2, .x = p->x, .ldx = 2, .y = p->y, .outputs = T, .sample = p->sample};
}

/* Output 0 is shifted towards the far side at every tenth of its readings. */
static void damage(problem *p)
{
    size_t k = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->x[2 * i + 1] == 0.0 && k++ % 10 == 3) p->y[i] += p->y[i] > 0.0 ? -2.5 : 2.5;
}

static void test_samples(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    /* Two readings of output 1 at input 3; output 0 of the second is missing. */
    const double x[] = {3, 1, 1, 0, 3, 0, 3, 1, 1, 1, 2, 1}, y[] = {10, 20, 30, 40, 50, 60};
    hfi_samples s;
    assert_int_equal(hfi_samples_init(ctx, 6, 2, 2, x, y, NULL, NULL, &s), HF_OK);
    assert_int_equal(s.count, 4);
    const double wanted[4][2] = {{20, 50}, {NAN, 60}, {30, 10}, {NAN, 40}};
    for (size_t i = 0; i < 4; i++)
        for (size_t t = 0; t < 2; t++) {
            const double got = s.y[i * 2 + t];
            assert_true(isnan(wanted[i][t]) ? isnan(got) && s.reading[i * 2 + t] == SIZE_MAX
                                            : got == wanted[i][t] && y[s.reading[i * 2 + t]] == got);
        }
    hfi_samples_free(&s);
    /* By number, whatever the inputs are. */
    const size_t sample[] = {7, 3, 3, 9, 9, 7};
    assert_int_equal(hfi_samples_init(ctx, 6, 2, 2, x, y, sample, NULL, &s), HF_OK);
    assert_int_equal(s.count, 6); /* each has two of one output */
    hfi_samples_free(&s);
    hf_context_free(ctx);
}

static const double outputs_b[T * T] = {1.0, 0.9, 0.7, 0.9, 1.0, 0.8, 0.7, 0.8, 1.0};
static const double noise[T] = {0.01, 0.02, 0.015};

/* The model at given values, with weights by the conditional centre. */
static hf_posterior *closed_form(problem *p, hf_outputs_weighting weighting)
{
    const hf_assignment set[] = {{"lengthscale", 1.2},
                                 {"noise[0]", noise[0]},
                                 {"noise[1]", noise[1]},
                                 {"noise[2]", noise[2]},
                                 {"mean", 0.0},
                                 {"coregionalisation[0,0]", 1.0},
                                 {"coregionalisation[1,0]", 0.9},
                                 {"coregionalisation[1,1]", 1.0},
                                 {"coregionalisation[2,0]", 0.7},
                                 {"coregionalisation[2,1]", 0.8},
                                 {"coregionalisation[2,2]", 1.0}};
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(p->ctx, "morcgp", &settings, sizeof settings), HF_OK);
    settings.kernel = "se";
    settings.train = settings.standardise = false;
    settings.weighting = weighting;
    settings.set = set;
    settings.set_count = sizeof set / sizeof set[0];
    hf_posterior *posterior = NULL;
    const hf_status s = hf_fit_data(p->ctx, &p->data, &settings, &posterior, NULL, NULL);
    if (s < 0) fail_msg("%s: %s", hf_status_name(s), hf_context_message(p->ctx));
    return posterior;
}

/* Sites of one's own, a dense solve of one's own. */
static void test_closed_form(void **state)
{
    (void)state;
    problem p;
    make(&p, true);
    damage(&p);
    hf_posterior *posterior = closed_form(&p, HF_OUTPUTS_READING);
    double table[ROWS * T], centre[ROWS * T], threshold[T];
    const double zero[T] = {0}, eps[T] = {0.1, 0.1, 0.1};
    for (size_t i = 0; i < ROWS * T; i++) table[i] = NAN;
    for (size_t i = 0; i < p.n; i++) table[p.sample[i] * T + (size_t)p.x[2 * i + 1]] = p.y[i];
    const hf_outputs_model model = {.outputs = T, .mean = zero, .covariance = outputs_b, .noise = noise};
    assert_int_equal(hf_outputs_conditional_centre(p.ctx, ROWS, table, T, &model, centre), HF_OK);
    assert_int_equal(
        hf_outputs_thresholds(p.ctx, HF_OUTPUTS_LOWER, ROWS, T, table, T, centre, eps, threshold), HF_OK);
    const size_t n = p.n;
    double *a = calloc(n * n, sizeof *a), *r = calloc(n, sizeof *r), *k = calloc(n, sizeof *k);
    for (size_t i = 0; i < n; i++) {
        const size_t t = (size_t)p.x[2 * i + 1];
        const double e = p.y[i] - centre[p.sample[i] * T + t], c = threshold[t];
        for (size_t j = 0; j <= i; j++) {
            const double u = (p.x[2 * i] - p.x[2 * j]) / 1.2;
            a[i + j * n] = outputs_b[t * T + (size_t)p.x[2 * j + 1]] * exp(-0.5 * u * u);
        }
        a[i + i * n] += noise[t] * (1.0 + e * e / c / c);
        r[i] = p.y[i] + noise[t] * 2.0 * e / (c * c + e * e);
    }
    assert_int_equal(hfi_chol(p.ctx, n, a, n), HF_OK);
    hfi_chol_forward(n, a, n, r);
    for (size_t q = 0; q < 5 * T; q++) {
        const double at[2] = {-4.0 + 2.0 * (double)(q / T), (double)(q % T)};
        double mean, var;
        for (size_t i = 0; i < n; i++) {
            const double u = (p.x[2 * i] - at[0]) / 1.2;
            k[i] = outputs_b[(q % T) * T + (size_t)p.x[2 * i + 1]] * exp(-0.5 * u * u);
        }
        hfi_chol_forward(n, a, n, k);
        assert_int_equal(hf_predict(p.ctx, posterior, 1, at, 2, &mean, &var, NULL), HF_OK);
        assert_true(fabs(mean - hfi_dot(n, k, r)) < 1e-9);
        assert_true(fabs(var - (1.0 - hfi_dot(n, k, k))) < 1e-9);
    }
    free(a);
    free(r);
    free(k);
    hf_posterior_free(posterior);
    hf_context_free(p.ctx);
}

/* One reading of any size, in any output: no prediction of any output moves by more than a bound. */
static void test_bounded_influence(void **state)
{
    (void)state;
    const hf_outputs_weighting weightings[] = {HF_OUTPUTS_READING, HF_OUTPUTS_JOINT};
    for (size_t w = 0; w < 2; w++)
        for (size_t t = 0; t < T; t++) {
            problem p;
            make(&p, true);
            size_t at = 20;
            while ((size_t)p.x[2 * at + 1] != t) at++;
            double before[9 * T], after[9 * T], x[9];
            for (size_t q = 0; q < 9; q++) x[q] = -4.0 + (double)q;
            hf_posterior *clean = closed_form(&p, weightings[w]);
            assert_int_equal(hf_predict_outputs(p.ctx, clean, 9, x, 1, before, NULL, NULL, NULL), HF_OK);
            hf_posterior_free(clean);
            for (double size = 10.0; size < 2e15; size *= 10.0) {
                p.y[at] = size;
                hf_posterior *posterior = closed_form(&p, weightings[w]);
                assert_int_equal(hf_predict_outputs(p.ctx, posterior, 9, x, 1, after, NULL, NULL, NULL),
                                 HF_OK);
                for (size_t q = 0; q < 9 * T; q++)
                    if (!(fabs(after[q] - before[q]) < 0.6))
                        fail_msg("weighting %zu, output %zu at %.0e: a prediction moved by %.3g", w, t, size,
                                 after[q] - before[q]);
                hf_posterior_free(posterior);
            }
            hf_context_free(p.ctx);
        }
}

/* As many wrong readings of an output as were told, however far off: the threshold stays among the sound residuals. */
static void test_told_share(void **state)
{
    (void)state;
    double before[9 * T], after[9 * T], x[9];
    for (size_t q = 0; q < 9; q++) x[q] = -4.0 + (double)q;
    for (double size = 10.0; size < 1e13; size *= 1e3) {
        problem p;
        make(&p, false);
        size_t k = 0; /* eps is 0.1: 6 of 60 */
        for (size_t i = 0; i < p.n; i++)
            if (p.x[2 * i + 1] == 0.0 && k++ % 10 == 3) p.y[i] += size;
        hf_posterior *posterior = closed_form(&p, HF_OUTPUTS_READING);
        assert_int_equal(hf_predict_outputs(p.ctx, posterior, 9, x, 1, after, NULL, NULL, NULL), HF_OK);
        if (size == 10.0) memcpy(before, after, sizeof before);
        for (size_t q = 0; q < 9 * T; q++)
            if (!(fabs(after[q] - before[q]) < 0.6))
                fail_msg("at %.0e a prediction moved by %.3g", size, after[q] - before[q]);
        hf_posterior_free(posterior);
        hf_context_free(p.ctx);
    }
}

static double rmse(problem *p, const hf_fit_settings *settings, hf_reading *reading)
{
    hf_posterior *posterior = NULL;
    const hf_status s = hf_fit_data(p->ctx, &p->data, settings, &posterior, NULL, reading);
    if (s < 0) fail_msg("%s: %s", hf_status_name(s), hf_context_message(p->ctx));
    double sum = 0.0, mean[MOST];
    assert_int_equal(hf_predict(p->ctx, posterior, p->n, p->x, 2, mean, NULL, NULL), HF_OK);
    for (size_t i = 0; i < p->n; i++) sum += (mean[i] - p->clean[i]) * (mean[i] - p->clean[i]);
    hf_posterior_free(posterior);
    return sqrt(sum / (double)p->n);
}

static void test_fits(void **state)
{
    (void)state;
    const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    for (size_t k = 0; k < 3; k++) {
        problem p, q;
        make(&p, k % 2 == 1);
        make(&q, k % 2 == 1);
        damage(&p);
        hf_fit_settings robust, plain;
        assert_int_equal(hf_fit_settings_preset(p.ctx, "morcgp", &robust, sizeof robust), HF_OK);
        assert_int_equal(hf_fit_settings_preset(p.ctx, "mogp", &plain, sizeof plain), HF_OK);
        robust.solver = plain.solver = solvers[k];
        robust.inducing = plain.inducing = 70;
        const double clean = rmse(&q, &plain, NULL), hurt = rmse(&p, &plain, NULL),
                     held = rmse(&p, &robust, NULL), unharmed = rmse(&q, &robust, NULL);
        if (!(held < 0.75 * hurt && held < 2.0 * clean && unharmed < 1.3 * clean))
            fail_msg("solver %zu: rmse clean %.3g, hurt %.3g, robust %.3g, robust on clean %.3g", k, clean,
                     hurt, held, unharmed);
        hf_context_free(p.ctx);
        hf_context_free(q.ctx);
    }
}

/* Two outputs with a trend in common and waves of their own. The waves decide on the fitted covariance, which
 * hardly knows of the trend; the readings themselves do. Every tenth reading of the second is 5 too high. */
static void make_trend(problem *p)
{
    memset(p, 0, sizeof *p);
    p->ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 4);
    p->n = MOST - MOST % 2;
    for (size_t k = 0; k < p->n; k++) {
        const double x = -4.0 + 16.0 * (double)(k / 2) / (double)p->n,
                     wave = k % 2 ? cos(5.0 * x) : sin(5.0 * x);
        p->x[2 * k] = x;
        p->x[2 * k + 1] = (double)(k % 2);
        p->clean[k] = 2.0 * x + wave;
        p->y[k] = p->clean[k] + 0.05 * hfi_stream_normal(&stream) + (k % 20 == 7 ? 5.0 : 0.0);
        p->sample[k] = k / 2;
    }
    p->data = (hf_data){.n = p->n, .d = 2, .x = p->x, .ldx = 2, .y = p->y, .outputs = 2, .sample = p->sample};
}

/* Weights follow the covariance to whose centres the readings are nearer. In one round it is the kernel's, as
 * published. */
static void test_nearer_centres(void **state)
{
    (void)state;
    problem p;
    make_trend(&p);
    hf_reading *reading = calloc(p.n, sizeof *reading);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(p.ctx, "morcgp", &settings, sizeof settings), HF_OK);
    double error[2], wrong[2] = {0.0, 0.0};
    for (size_t k = 0; k < 2; k++) {
        if (k == 1) settings.rounds = 1;
        error[k] = rmse(&p, &settings, reading);
        for (size_t i = 7; i < p.n; i += 20) wrong[k] = fmax(wrong[k], reading[i].weight);
    }
    if (!(wrong[0] < 0.2 && wrong[1] > 0.4 && error[0] < 0.8 * error[1]))
        fail_msg("weights of wrong readings up to %.3g, in one round %.3g; rmse %.3g and %.3g", wrong[0],
                 wrong[1], error[0], error[1]);
    free(reading);
    hf_context_free(p.ctx);
}

/* Fewer complete samples than the robust covariance needs, and a preset that has nothing to do with one output. */
static void test_edges(void **state)
{
    (void)state;
    problem p;
    make(&p, false);
    size_t kept = 0;
    for (size_t i = 0; i < p.n; i++) { /* no sample is complete */
        if (p.sample[i] % T == (size_t)p.x[2 * i + 1]) continue;
        p.x[2 * kept] = p.x[2 * i];
        p.x[2 * kept + 1] = p.x[2 * i + 1];
        p.y[kept] = p.y[i];
        p.clean[kept] = p.clean[i];
        p.sample[kept++] = p.sample[i];
    }
    p.data.n = p.n = kept;
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(p.ctx, "morcgp", &settings, sizeof settings), HF_OK);
    assert_true(rmse(&p, &settings, NULL) < 0.1);
    hf_posterior *posterior = NULL;
    p.data.outputs = 1;
    assert_int_equal(hf_fit_data(p.ctx, &p.data, &settings, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(p.ctx), "one output"));
    p.data.outputs = T;
    const double two[] = {0.1, 0.2};
    settings.output_eps = two;
    settings.output_eps_count = 2;
    assert_int_equal(hf_fit_data(p.ctx, &p.data, &settings, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(p.ctx), "for 3 outputs"));
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_bounded_influence),
        cmocka_unit_test(test_told_share),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_nearer_centres),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
