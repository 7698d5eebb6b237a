/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of several outputs: against the formula, in everybody's units, with gaps and wrong readings. */
#include "linalg/linalg.h"
#include <holdfast/holdfast.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

#include <cmocka.h>

enum {
    ROWS = 40,
    T = 3,
    MOST = ROWS * T
};

typedef struct problem {
    hf_context *ctx;
    size_t n;
    double x[MOST * 2], y[MOST], clean[MOST];
    hf_data data;
} problem;

static const double shift[T] = {5.0, -200.0, 0.01}, scale[T] = {1.0, 30.0, 1e-3};

/* Three outputs that share two waves, each in units of its own; some readings are missing. */
static void make(problem *p)
{
    memset(p, 0, sizeof *p);
    p->ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < ROWS; i++) {
        const double x = -3.0 + 6.0 * ((double)i + 0.3 * hfi_stream_uniform(&stream)) / ROWS;
        const double a = sin(2.0 * x), b = cos(1.3 * x);
        const double f[T] = {a + 0.2 * b, 0.8 * a - 0.4 * b, -0.5 * a + 0.7 * b};
        for (size_t t = 0; t < T; t++) {
            if ((i * 5 + t * 3) % 7 == 0) continue; /* nobody looked */
            const size_t k = p->n++;
            p->x[k * 2] = x;
            p->x[k * 2 + 1] = (double)t;
            p->clean[k] = shift[t] + scale[t] * f[t];
            p->y[k] = p->clean[k] + 0.05 * (double)(t + 1) * scale[t] * hfi_stream_normal(&stream);
        }
    }
    p->data = (hf_data){.n = p->n, .d = 2, .x = p->x, .ldx = 2, .y = p->y, .outputs = T};
}

static const double lengthscale = 0.9,
                    outputs_b[T][T] = {{1.0, 0.6, -0.3}, {0.6, 0.9, 0.1}, {-0.3, 0.1, 0.7}};
static const double means[T] = {5.2, -190.0, 0.0101}, noises[T] = {0.01, 9.0, 3e-8};

static double covariance(const double *u, const double *v)
{
    const size_t s = (size_t)u[1], t = (size_t)v[1];
    const double r = (u[0] - v[0]) / lengthscale;
    return outputs_b[s][t] * scale[s] * scale[t] * exp(-0.5 * r * r);
}

/* The closed form at given values, in the user's own units, from definitions. */
static void expected(const problem *p, const double *at, double *mean, double *var)
{
    const size_t n = p->n;
    double *a = calloc(n * n, sizeof *a), *r = calloc(n, sizeof *r), *k = calloc(n, sizeof *k);
    for (size_t i = 0; i < n; i++) {
        const double *u = p->x + 2 * i;
        for (size_t j = 0; j <= i; j++) a[i + j * n] = covariance(u, p->x + 2 * j);
        a[i + i * n] += noises[(size_t)u[1]];
        r[i] = p->y[i] - means[(size_t)u[1]];
        k[i] = covariance(u, at);
    }
    assert_int_equal(hfi_chol(p->ctx, n, a, n), HF_OK);
    hfi_chol_forward(n, a, n, r);
    hfi_chol_forward(n, a, n, k);
    *mean = means[(size_t)at[1]] + hfi_dot(n, k, r);
    *var = covariance(at, at) - hfi_dot(n, k, k);
    free(a);
    free(r);
    free(k);
}

/* Sets noises, constants and B; order[t] is the place of output t. */
static size_t name_all(size_t outputs, const size_t *order, const double b[T][T], hf_assignment *set,
                       char (*names)[32])
{
    size_t count = 0;
    for (size_t t = 0; t < outputs; t++) {
        snprintf(names[count], 32, "noise[%zu]", order[t]);
        set[count] = (hf_assignment){names[count], noises[t]};
        count++;
        snprintf(names[count], 32, "mean[%zu]", order[t]);
        set[count] = (hf_assignment){names[count], means[t]};
        count++;
        for (size_t s = t; s < outputs; s++) {
            snprintf(names[count], 32, "coregionalisation[%zu,%zu]", order[s], order[t]);
            set[count] = (hf_assignment){names[count], b[s][t] * scale[s] * scale[t]};
            count++;
        }
    }
    set[count++] = (hf_assignment){"lengthscale", lengthscale};
    return count;
}

/* Every number by name: the result is the closed form. */
static void check_given(bool standardise)
{
    problem p;
    make(&p);
    hf_assignment set[16];
    char names[16][32];
    const size_t order[T] = {0, 1, 2};
    const size_t count = name_all(T, order, outputs_b, set, names);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.kernel = "se";
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    settings.standardise = standardise;
    settings.set = set;
    settings.set_count = count;
    hf_posterior *posterior = NULL;
    const hf_status status = hf_fit_data(p.ctx, &p.data, &settings, &posterior, NULL, NULL);
    if (status != HF_OK) fail_msg("%s: %s", hf_status_name(status), hf_context_message(p.ctx));
    assert_int_equal(hf_posterior_outputs(posterior), T);
    for (size_t t = 0; t < T; t++)
        assert_true(fabs(hf_posterior_output_noise(posterior, t) - noises[t]) <= 1e-12 * noises[t]);
    const double where[] = {-2.9, 0.0, 0.77, 3.6};
    double mean[4 * T], latent[4 * T], observed[4 * T], joint[4 * T * T];
    assert_int_equal(hf_predict_outputs(p.ctx, posterior, 4, where, 1, mean, latent, observed, joint), HF_OK);
    hf_posterior_workspace *w = hf_posterior_workspace_create(p.ctx, posterior);
    for (size_t i = 0; i < 4; i++)
        for (size_t t = 0; t < T; t++) {
            const double at[2] = {where[i], (double)t};
            double m, v, one, one_var, slope[2];
            expected(&p, at, &m, &v);
            const size_t k = i * T + t;
            assert_true(fabs(mean[k] - m) <= 1e-9 * (fabs(m) + scale[t]));
            assert_true(fabs(latent[k] - v) <= 1e-9 * scale[t] * scale[t]);
            assert_true(fabs(observed[k] - v - noises[t]) <= 1e-9 * scale[t] * scale[t]);
            assert_true(fabs(joint[(i * T + t) * T + t] - v) <= 1e-9 * scale[t] * scale[t]);
            assert_int_equal(hf_predict_latent(posterior, w, at, &one, &one_var, slope, NULL), HF_OK);
            assert_true(fabs(one - m) <= 1e-9 * (fabs(m) + scale[t]));
            assert_true(fabs(one_var - v) <= 1e-9 * scale[t] * scale[t]);
            assert_true(slope[1] == 0.0);
        }
    const double nowhere[2] = {0.0, 3.0}, between[2] = {0.0, 0.5};
    double m;
    assert_int_equal(hf_predict_latent(posterior, w, nowhere, &m, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict(p.ctx, posterior, 1, between, 2, &m, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(p.ctx), "output 0.5"));
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    hf_context_free(p.ctx);
}

static void test_given_values_give_the_closed_form(void **state)
{
    (void)state;
    check_given(true);
    check_given(false);
}

static double worst_error(const problem *p, const hf_posterior *posterior)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        double mean;
        assert_int_equal(hf_predict(p->ctx, posterior, 1, p->x + 2 * i, 2, &mean, NULL, NULL), HF_OK);
        const size_t t = (size_t)p->x[2 * i + 1];
        worst = fmax(worst, fabs(mean - p->clean[i]) / scale[t]);
    }
    return worst;
}

/* Wrong readings in two outputs, found by default; each output's noise is its own. */
static void test_default_finds_wrong_readings(void **state)
{
    (void)state;
    const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    for (size_t k = 0; k < 3; k++) {
        problem p;
        make(&p);
        size_t wrong = 0;
        bool bad[MOST] = {false};
        for (size_t i = 3; i < p.n; i += 11) {
            const size_t t = (size_t)p.x[2 * i + 1];
            p.y[i] += (i % 2 ? 4.0 : -3.0) * scale[t];
            bad[i] = true;
            wrong++;
        }
        hf_fit_settings settings = hf_fit_settings_default();
        settings.solver = solvers[k];
        settings.inducing = 60;
        hf_reading reading[MOST];
        hf_posterior *posterior = NULL;
        const hf_status status = hf_fit_data(p.ctx, &p.data, &settings, &posterior, NULL, reading);
        if (status < 0) fail_msg("%s: %s", hf_status_name(status), hf_context_message(p.ctx));
        size_t found = 0, false_alarms = 0;
        for (size_t i = 0; i < p.n; i++) {
            found += bad[i] && reading[i].suspected;
            false_alarms += !bad[i] && reading[i].suspected;
        }
        if (found != wrong || false_alarms > 2 || worst_error(&p, posterior) > 0.3)
            fail_msg("solver %zu: %zu of %zu found, %zu false, worst error %.3g", k, found, wrong,
                     false_alarms, worst_error(&p, posterior));
        /* 0.05, 0.10 and 0.15 of each scale. */
        for (size_t t = 0; t < T; t++) {
            const double sd =
                sqrt(hf_posterior_output_noise(posterior, t)) / scale[t] / (0.05 * (double)(t + 1));
            if (!(sd > 0.5 && sd < 1.7))
                fail_msg("solver %zu: noise of output %zu is %.2g times its own", k, t, sd);
        }
        hf_posterior_free(posterior);
        hf_context_free(p.ctx);
    }
}

/* Other units, another order of rows: the same answers. */
static void test_units_and_order_do_not_matter(void **state)
{
    (void)state;
    problem p, q;
    make(&p);
    make(&q);
    for (size_t i = 0; i < p.n; i++) {
        const size_t from = (i * 37) % p.n, t = (size_t)p.x[2 * from + 1];
        memcpy(q.x + 2 * i, p.x + 2 * from, 2 * sizeof *q.x);
        q.y[i] = p.y[from] * (double)(4 << (2 * t)) + 3.0 * (double)t;
    }
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    hf_posterior *a = NULL, *b = NULL;
    assert_true(hf_fit_data(p.ctx, &p.data, &settings, &a, NULL, NULL) >= 0);
    assert_true(hf_fit_data(q.ctx, &q.data, &settings, &b, NULL, NULL) >= 0);
    for (size_t k = 0; k < 12; k++) {
        const double x = -3.0 + 0.5 * (double)k;
        double u[T], v[T], uv[T], vv[T];
        assert_int_equal(hf_predict_outputs(p.ctx, a, 1, &x, 1, u, uv, NULL, NULL), HF_OK);
        assert_int_equal(hf_predict_outputs(q.ctx, b, 1, &x, 1, v, vv, NULL, NULL), HF_OK);
        for (size_t t = 0; t < T; t++) {
            const double unit = (double)(4 << (2 * t));
            assert_true(fabs(u[t] - (v[t] - 3.0 * (double)t) / unit) <= 2e-4 * scale[t]);
            assert_true(fabs(uv[t] - vv[t] / unit / unit) <= 2e-3 * uv[t]);
        }
    }
    hf_posterior_free(a);
    hf_posterior_free(b);
    hf_context_free(p.ctx);
    hf_context_free(q.ctx);
}

static hf_posterior *fit_given(problem *p, const hf_assignment *set, size_t count)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.kernel = "se";
    settings.train = settings.calibrate = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.set = set;
    settings.set_count = count;
    hf_posterior *posterior = NULL;
    const hf_status status = hf_fit_data(p->ctx, &p->data, &settings, &posterior, NULL, NULL);
    if (status != HF_OK) fail_msg("%s: %s", hf_status_name(status), hf_context_message(p->ctx));
    return posterior;
}

/* No covariance between outputs: each is the model of its readings alone. */
static void test_diagonal_is_one_by_one(void **state)
{
    (void)state;
    static const double diagonal[T][T] = {{1.0, 0, 0}, {0, 0.9, 0}, {0, 0, 0.7}};
    const size_t order[T] = {0, 1, 2};
    hf_assignment set[16];
    char names[16][32];
    problem p;
    make(&p);
    hf_posterior *all = fit_given(&p, set, name_all(T, order, diagonal, set, names));
    for (size_t t = 0; t < T; t++) {
        problem q;
        make(&q);
        size_t n = 0;
        for (size_t i = 0; i < q.n; i++)
            if (q.x[2 * i + 1] == (double)t) {
                q.x[n] = q.x[2 * i];
                q.y[n++] = q.y[i];
            }
        q.data = (hf_data){.n = n, .d = 1, .x = q.x, .ldx = 1, .y = q.y};
        const hf_assignment one[] = {{"noise", noises[t]},
                                     {"mean", means[t]},
                                     {"outputscale", diagonal[t][t] * scale[t] * scale[t]},
                                     {"lengthscale", lengthscale}};
        hf_posterior *alone = fit_given(&q, one, 4);
        for (double x = -3.5; x < 3.6; x += 0.5) {
            const double at[2] = {x, (double)t};
            double a, b, va, vb;
            assert_int_equal(hf_predict(p.ctx, all, 1, at, 2, &a, &va, NULL), HF_OK);
            assert_int_equal(hf_predict(q.ctx, alone, 1, at, 1, &b, &vb, NULL), HF_OK);
            assert_true(fabs(a - b) <= 1e-11 * (fabs(b) + scale[t]));
            assert_true(fabs(va - vb) <= 1e-11 * scale[t] * scale[t]);
        }
        hf_posterior_free(alone);
        hf_context_free(q.ctx);
    }
    hf_posterior_free(all);
    hf_context_free(p.ctx);
}

/* Outputs in another order: the same model. */
static void test_order_of_outputs_does_not_matter(void **state)
{
    (void)state;
    const size_t before[T] = {0, 1, 2}, after[T] = {2, 0, 1};
    hf_assignment set[16];
    char names[16][32];
    problem p, q;
    make(&p);
    make(&q);
    for (size_t i = 0; i < q.n; i++) q.x[2 * i + 1] = (double)after[(size_t)q.x[2 * i + 1]];
    hf_posterior *a = fit_given(&p, set, name_all(T, before, outputs_b, set, names));
    hf_posterior *b = fit_given(&q, set, name_all(T, after, outputs_b, set, names));
    for (double x = -3.5; x < 3.6; x += 0.5) {
        double u[T], v[T], uv[T], vv[T];
        assert_int_equal(hf_predict_outputs(p.ctx, a, 1, &x, 1, u, uv, NULL, NULL), HF_OK);
        assert_int_equal(hf_predict_outputs(q.ctx, b, 1, &x, 1, v, vv, NULL, NULL), HF_OK);
        for (size_t t = 0; t < T; t++) {
            assert_true(fabs(u[t] - v[after[t]]) <= 1e-10 * (fabs(u[t]) + scale[t]));
            assert_true(fabs(uv[t] - vv[after[t]]) <= 1e-10 * scale[t] * scale[t]);
        }
    }
    hf_posterior_free(a);
    hf_posterior_free(b);
    hf_context_free(p.ctx);
    hf_context_free(q.ctx);
}

/* The preset with a kernel for each output is a fit of its own for each. */
static void test_independent_preset(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_fit_settings settings, single = hf_fit_settings_default();
    assert_int_equal(hf_fit_settings_preset(p.ctx, "independent", &settings, sizeof settings), HF_OK);
    settings.suspects = single.suspects = HF_OUTLIERS_OFF;
    settings.iterations = single.iterations = 300;
    hf_posterior *all = NULL;
    assert_true(hf_fit_data(p.ctx, &p.data, &settings, &all, NULL, NULL) >= 0);
    for (size_t t = 0; t < T; t++) {
        problem q;
        make(&q);
        size_t n = 0;
        for (size_t i = 0; i < q.n; i++)
            if (q.x[2 * i + 1] == (double)t) {
                q.x[n] = q.x[2 * i];
                q.y[n++] = q.y[i];
            }
        q.data = (hf_data){.n = n, .d = 1, .x = q.x, .ldx = 1, .y = q.y};
        hf_posterior *alone = NULL;
        assert_true(hf_fit_data(q.ctx, &q.data, &single, &alone, NULL, NULL) >= 0);
        for (double x = -3.0; x < 3.1; x += 0.5) {
            const double at[2] = {x, (double)t};
            double a, b;
            assert_int_equal(hf_predict(p.ctx, all, 1, at, 2, &a, NULL, NULL), HF_OK);
            assert_int_equal(hf_predict(q.ctx, alone, 1, at, 1, &b, NULL, NULL), HF_OK);
            /* The inputs are standardised over all outputs there, over one here; priors are as weak as that
             * difference. */
            if (!(fabs(a - b) <= 0.02 * scale[t]))
                fail_msg("output %zu at %g: %.6g with the others, %.6g alone", t, x, a, b);
        }
        hf_posterior_free(alone);
        hf_context_free(q.ctx);
    }
    hf_posterior_free(all);
    hf_context_free(p.ctx);
}

/* The message says what is wrong. */
static void refuse(problem *p, const hf_fit_settings *settings, const char *word)
{
    hf_posterior *posterior = NULL;
    const hf_status status = hf_fit_data(p->ctx, &p->data, settings, &posterior, NULL, NULL);
    if (status >= 0 || posterior || !strstr(hf_context_message(p->ctx), word))
        fail_msg("'%s' expected, but %s: %s", word, hf_status_name(status), hf_context_message(p->ctx));
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    problem p;
    make(&p);
    const char *const names[T + 1] = {"inlet", "outlet", "wall", "roof"};
    hf_fit_settings settings = hf_fit_settings_default();
    p.data.outputs = T + 1;
    p.data.output_names = names;
    refuse(&p, &settings, "'roof' has no readings");
    p.data.outputs = T - 1;
    refuse(&p, &settings, "there are 2");
    p.data.outputs = T;
    settings.mean = HF_MEAN_LINEAR;
    refuse(&p, &settings, "linear");
    settings = hf_fit_settings_default();
    settings.kernel = "coregion(x2, outputs=2)*se(x1)";
    refuse(&p, &settings, "for 2 outputs, but there are 3");
    const hf_assignment half[] = {{"coregionalisation[0,0]", 1.0}, {"coregionalisation[1,0]", 0.2}};
    settings = hf_fit_settings_default();
    settings.set = half;
    settings.set_count = 2;
    refuse(&p, &settings, "[1,1] is not given");
    const hf_assignment beyond[] = {{"noise[3]", 1.0}};
    settings.set = beyond;
    settings.set_count = 1;
    refuse(&p, &settings, "there are 3 outputs");
    const hf_assignment one[] = {{"mean[1]", 1.0}};
    settings.set = one;
    refuse(&p, &settings, "give all of them");
    const hf_assignment indefinite[] = {{"coregionalisation[0,0]", 1.0}, {"coregionalisation[1,0]", 2.0},
                                        {"coregionalisation[1,1]", 1.0}, {"coregionalisation[2,0]", 0.0},
                                        {"coregionalisation[2,1]", 0.0}, {"coregionalisation[2,2]", 1.0}};
    settings.set = indefinite;
    settings.set_count = 6;
    settings.standardise = false;
    refuse(&p, &settings, "semi-definite");
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_values_give_the_closed_form),
        cmocka_unit_test(test_default_finds_wrong_readings),
        cmocka_unit_test(test_units_and_order_do_not_matter),
        cmocka_unit_test(test_diagonal_is_one_by_one),
        cmocka_unit_test(test_order_of_outputs_does_not_matter),
        cmocka_unit_test(test_independent_preset),
        cmocka_unit_test(test_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
