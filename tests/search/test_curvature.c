/* SPDX-License-Identifier: Apache-2.0 */
/* Second derivatives of the evidence against what their definition says in dense matrices, and the search
 * that uses them against the one that does not. */
#include "linalg/linalg.h"
#include "search/trainer.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 90,
    D = 3,
    MOST = 24 /* parameters */
};

typedef struct fixture {
    hf_context *ctx;
    double x[N * D], y[N];
    hfi_evaluator e;
    size_t kernel, mean, count;
} fixture;

static void make(fixture *f, const char *expression, hf_mean_kind kind, bool channels)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < N * D; i++) f->x[i] = 1.5 * hfi_stream_normal(&stream);
    for (size_t i = 0; i < N; i++)
        f->y[i] = sin(f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.2 * hfi_stream_normal(&stream);
    f->y[7] = NAN;
    if (strstr(expression, "coregion"))
        for (size_t i = 0; i < N; i++) f->x[i * D + 2] = (double)(i % 2);
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, kind, D, &mean), HF_OK);
    assert_int_equal(hfi_mean_start(f->ctx, mean, N, f->x, D, f->y, NULL), HF_OK);
    assert_int_equal(hf_sites_gaussian(f->ctx, N, f->y, 0.05, NULL, &sites), HF_OK);
    if (channels) {
        size_t channel[N];
        const double noise[2] = {0.03, 0.09};
        for (size_t i = 0; i < N; i++) channel[i] = i % 3 == 0;
        assert_int_equal(hf_sites_set_channels(f->ctx, sites, 2, channel), HF_OK);
        assert_int_equal(hf_sites_set_channel_noise(f->ctx, sites, noise), HF_OK);
    }
    assert_int_equal(hfi_evaluator_init(f->ctx, &f->e, true, N, D, f->x, D), HF_OK);
    f->e.kernel = kernel;
    f->e.mean = mean;
    f->e.sites = sites;
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
    f->kernel = hf_kernel_parameters(kernel);
    f->mean = hf_mean_coefficients(mean);
    f->count = f->kernel + f->mean + hf_sites_channels(sites);
    assert_true(f->count <= MOST);
}

static void drop(fixture *f)
{
    hf_kernel_free(f->e.kernel);
    hf_mean_free(f->e.mean);
    hf_sites_free(f->e.sites);
    hfi_evaluator_free(&f->e);
    hf_context_free(f->ctx);
}

/* K + D and r of the present readings at a state, both triangles. */
static void system_at(fixture *f, const double *state, double *a, double *r)
{
    hfi_evaluator *e = &f->e;
    const size_t n = e->n, channels = hf_sites_channels(e->sites);
    double noise[2] = {0.0};
    hfi_kernel_set_theta(e->kernel, state);
    assert_int_equal(hf_mean_set(f->ctx, e->mean, state + f->kernel, false), HF_OK);
    for (size_t c = 0; c < channels; c++) noise[c] = exp(state[f->kernel + f->mean + c]);
    if (channels > 1)
        assert_int_equal(hf_sites_set_channel_noise(f->ctx, e->sites, noise), HF_OK);
    else
        assert_int_equal(hf_sites_set_noise(f->ctx, e->sites, noise[0]), HF_OK);
    assert_int_equal(hf_kernel_gram(f->ctx, e->kernel, n, e->inputs, D, a, n), HF_OK);
    hf_mean_evaluate(e->mean, n, e->inputs, D, r);
    for (size_t i = 0; i < n; i++) {
        a[i + i * n] += hf_sites_variances(e->sites)[e->row[i]];
        r[i] = hf_sites_targets(e->sites)[e->row[i]] - r[i];
    }
}

static void state_of(const fixture *f, double *state)
{
    hfi_kernel_theta(f->e.kernel, state);
    memcpy(state + f->kernel, hf_mean_values(f->e.mean), f->mean * sizeof *state);
    for (size_t c = 0; c < hf_sites_channels(f->e.sites); c++)
        state[f->kernel + f->mean + c] = log(hf_sites_channel_noise(f->e.sites, c));
}

/* slope[p] := d((K + D) alpha - r) / d(parameter p), by differences; alpha is left in `alpha`, the factor in `l`. */
static void slopes_by_differences(fixture *f, double *state, double *l, double *alpha, double (*slope)[N])
{
    static double above[N * N], below[N * N];
    const size_t n = f->e.n;
    const double step = 1e-5;
    double r[N], r_below[N];
    system_at(f, state, l, alpha);
    assert_int_equal(hfi_chol(f->ctx, n, l, n), HF_OK);
    hfi_chol_solve(n, l, n, alpha);
    for (size_t p = 0; p < f->count; p++) {
        const double at = state[p];
        state[p] = at + step;
        system_at(f, state, above, r);
        state[p] = at - step;
        system_at(f, state, below, r_below);
        state[p] = at;
        for (size_t i = 0; i < n; i++) {
            double sum = r_below[i] - r[i];
            for (size_t j = 0; j < n; j++) sum += (above[i + j * n] - below[i + j * n]) * alpha[j];
            slope[p][i] = sum / (2.0 * step);
        }
    }
    system_at(f, state, above, r);
}

/* Whatever was evaluated before, it is the evidence's. */
static void compare(const char *expression, hf_mean_kind kind, bool channels, hf_objective objective)
{
    static double l[N * N], slope[MOST][N], solved[MOST][N];
    fixture f;
    double state[MOST], alpha[N], matrix[MOST * MOST], gradient[MOST], value = 0.0;
    make(&f, expression, kind, channels);
    const size_t n = f.e.n;
    state_of(&f, state);
    slopes_by_differences(&f, state, l, alpha, slope);
    memcpy(solved, slope, sizeof slope);
    for (size_t p = 0; p < f.count; p++) hfi_chol_solve(n, l, n, solved[p]);
    assert_true(hfi_evaluator_knows_curvature(&f.e, objective));
    assert_int_equal(hfi_evaluator_run(&f.e, objective, &value, gradient), HF_OK);
    assert_int_equal(hfi_evaluator_curvature(&f.e, objective, matrix), HF_OK);
    for (size_t p = 0; p < f.count; p++) {
        for (size_t q = 0; q < f.count; q++) {
            const bool a = p >= f.kernel && p < f.kernel + f.mean, b = q >= f.kernel && q < f.kernel + f.mean;
            const double expected = a != b ? 0.0 : (a ? 1.0 : 0.5) * hfi_dot(n, slope[p], solved[q]);
            const double scale = sqrt(hfi_dot(n, slope[p], solved[p]) * hfi_dot(n, slope[q], solved[q]));
            if (!(fabs(matrix[p + q * f.count] - expected) <= 1e-6 * (scale + 1e-6)))
                fail_msg("%s: entry %zu, %zu is %.10g instead of %.10g", expression, p, q,
                         matrix[p + q * f.count], expected);
            assert_true(matrix[p + q * f.count] == matrix[q + p * f.count]);
        }
    }
    drop(&f);
}

static void test_by_definition(void **state)
{
    (void)state;
    const hf_objective objectives[] = {HF_OBJECTIVE_EVIDENCE, HF_OBJECTIVE_LOO, HF_OBJECTIVE_WLOO};
    for (size_t o = 0; o < 3; o++) {
        compare("matern52(ard)", HF_MEAN_CONSTANT, false, objectives[o]);
        compare("se(x1)*periodic(x2) + 0.4*linear(ard) + 0.1*white", HF_MEAN_LINEAR, false, objectives[o]);
        compare("rq(ard)", HF_MEAN_ZERO, true, objectives[o]);
        compare("matern12", HF_MEAN_CONSTANT, true, objectives[o]);
        compare("coregion(x3, outputs=2)*matern32(x1)", HF_MEAN_CONSTANT, true, objectives[o]);
    }
}

/* A trainer around the fixture's evaluator, which it does not own; wide boxes, one prior. */
typedef struct training {
    hfi_trainer t;
    size_t index[MOST];
    double room[11 * MOST];
} training;

static void train(fixture *f, hf_objective objective, bool curved, training *out, double *state)
{
    memset(out, 0, sizeof *out);
    hfi_trainer *t = &out->t;
    double *at = out->room;
    t->evaluator = f->e;
    t->objective = objective;
    t->count = t->free_count = f->count;
    t->noise = f->kernel + f->mean;
    t->free_index = out->index;
    t->curved = curved;
    t->train_mean = true;
    t->budget = 100;
    t->lower = at;
    t->upper = at + MOST;
    t->prior_mean = at + 2 * MOST;
    t->prior_sd = at + 3 * MOST;
    t->start = at + 4 * MOST;
    t->work = at + 5 * MOST;
    for (size_t k = 0; k < f->count; k++) {
        out->index[k] = k;
        t->lower[k] = -7.0;
        t->upper[k] = 7.0;
        t->prior_sd[k] = k == 1 ? 1.5 : INFINITY;
    }
    assert_int_equal(hfi_trainer_maximise(t, state, 200), HF_OK);
    f->e = t->evaluator;
}

/* The same maximum, in fewer evaluations. */
static void test_search(void **unused)
{
    (void)unused;
    static const struct {
        const char *kernel;
        hf_objective objective;
    } cases[] = {{"matern52(ard)", HF_OBJECTIVE_EVIDENCE},
                 {"se(ard)", HF_OBJECTIVE_EVIDENCE},
                 {"rq", HF_OBJECTIVE_EVIDENCE},
                 {"matern52(ard)", HF_OBJECTIVE_LOO},
                 {"se(ard)", HF_OBJECTIVE_WLOO}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fixture f;
        training plain, curved;
        double start[MOST], a[MOST], b[MOST];
        make(&f, cases[k].kernel, HF_MEAN_CONSTANT, false);
        state_of(&f, start);
        memcpy(a, start, sizeof a);
        memcpy(b, start, sizeof b);
        train(&f, cases[k].objective, false, &plain, a);
        train(&f, cases[k].objective, true, &curved, b);
        assert_int_equal(curved.t.found.stop,
                         curved.t.found.gradient_norm < 1e-3 ? HF_STOP_CONVERGED : HF_STOP_LEVEL);
        assert_true(plain.t.found.gradient_norm < 1e-3 || plain.t.found.stop != HF_STOP_CONVERGED);
        const double before = plain.t.found.value + plain.t.found.log_prior,
                     now = curved.t.found.value + curved.t.found.log_prior;
        if (!(now > before - 1e-3))
            fail_msg("%s: %.8g with second derivatives, %.8g without", cases[k].kernel, now, before);
        if (!(curved.t.evaluations < plain.t.evaluations))
            fail_msg("%s: %zu evaluations with second derivatives, %zu without", cases[k].kernel,
                     curved.t.evaluations, plain.t.evaluations);
        drop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_definition),
        cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
