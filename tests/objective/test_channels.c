/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of sites with a noise per channel: gradients by finite differences for every solver, and what
 * must not change. */
#include "objective/evaluator.h"
#include "objective/projected_impl.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 30,
    D = 2,
    M = 8,
    CHANNELS = 3,
    MOST = 160
};

typedef struct fixture {
    hf_context *ctx;
    hfi_evaluator e;
    double x[N * D];
} fixture;

static void make_evaluator(fixture *f, hf_solver solver)
{
    hfi_evaluator *e = &f->e;
    if (solver == HF_SOLVER_EXACT) {
        assert_int_equal(hfi_evaluator_init(f->ctx, e, true, N, D, f->x, D), HF_OK);
    } else if (solver == HF_SOLVER_INDUCING) {
        hfi_inducing u;
        assert_int_equal(hfi_inducing_init(f->ctx, HF_INDUCING_VFE, M, D, f->x, D, &u), HF_OK);
        u.train_inputs = true;
        assert_int_equal(hfi_evaluator_init_inducing(f->ctx, e, N, D, f->x, D, &u), HF_OK);
    } else {
        hfi_block_actions actions;
        assert_int_equal(hfi_block_actions_init(f->ctx, HF_BLOCKS_CONTIGUOUS, N, D, f->x, D, M, &actions),
                         HF_OK);
        assert_int_equal(hfi_block_actions_start(f->ctx, &actions, HF_ACTION_START_RANDOM, f->e.kernel, f->x,
                                                 D, NULL, NULL),
                         HF_OK);
        assert_int_equal(hfi_evaluator_init_projected(f->ctx, e, N, D, f->x, D, &actions, true, HFI_DOUBLE),
                         HF_OK);
    }
}

static void make(fixture *f, hf_solver solver, bool robust)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 5);
    double y[N], extra[N], centre[N];
    size_t channel[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        channel[i] = (i * 7 + i / 3) % CHANNELS;
        y[i] = sin(f->x[i * D]) + 0.1 * (1.0 + (double)channel[i]) * hfi_stream_normal(&stream);
        extra[i] = i % 4 == 0 ? 0.05 : 0.0;
        centre[i] = 0.2 * f->x[i * D];
    }
    y[5] += 4.0;
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    const double thresholds[CHANNELS] = {0.8, 0.5, 1.1}, noise[CHANNELS] = {0.07, 0.2, 0.013};
    assert_int_equal(hf_kernel_parse(f->ctx, "matern52(ard)", NULL, D, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, HF_MEAN_CONSTANT, D, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(f->ctx, N, y, 0.07, extra, &sites), HF_OK);
    assert_int_equal(hf_sites_set_channels(f->ctx, sites, CHANNELS, channel), HF_OK);
    assert_int_equal(hf_sites_set_channel_noise(f->ctx, sites, noise), HF_OK);
    if (robust) assert_int_equal(hf_sites_recentre_channels(f->ctx, sites, centre, thresholds), HF_OK);
    f->e.kernel = kernel;
    make_evaluator(f, solver);
    f->e.kernel = kernel;
    f->e.mean = mean;
    f->e.sites = sites;
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
}

static void drop(fixture *f)
{
    hf_kernel_free(f->e.kernel);
    hf_mean_free(f->e.mean);
    hf_sites_free(f->e.sites);
    hfi_evaluator_free(&f->e);
    hf_context_free(f->ctx);
}

static size_t shared(const fixture *f)
{
    return hf_kernel_parameters(f->e.kernel) + hf_mean_coefficients(f->e.mean);
}

/* The objective with the noise of channel c times exp(h). */
static double shifted(fixture *f, hf_objective objective, size_t c, double h)
{
    double noise[CHANNELS], value = 0.0;
    for (size_t k = 0; k < CHANNELS; k++) noise[k] = hf_sites_channel_noise(f->e.sites, k);
    const double before = noise[c];
    noise[c] *= exp(h);
    assert_int_equal(hf_sites_set_channel_noise(f->ctx, f->e.sites, noise), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f->e, objective, &value, NULL), HF_OK);
    noise[c] = before;
    assert_int_equal(hf_sites_set_channel_noise(f->ctx, f->e.sites, noise), HF_OK);
    return value;
}

static void check_gradient(hf_solver solver, bool robust, hf_objective objective)
{
    fixture f;
    make(&f, solver, robust);
    double value = 0.0, gradient[MOST], scale = 1.0;
    assert_true(shared(&f) + CHANNELS + hfi_evaluator_extras(&f.e) <= MOST);
    assert_int_equal(hfi_evaluator_run(&f.e, objective, &value, gradient), HF_OK);
    const double *noise = gradient + shared(&f), h = 1e-4;
    for (size_t c = 0; c < CHANNELS; c++) scale = fmax(scale, fabs(noise[c]));
    for (size_t c = 0; c < CHANNELS; c++) {
        const double near = shifted(&f, objective, c, h) - shifted(&f, objective, c, -h);
        const double far = shifted(&f, objective, c, 2.0 * h) - shifted(&f, objective, c, -2.0 * h);
        const double difference = (8.0 * near - far) / (12.0 * h);
        if (fabs(difference - noise[c]) > 1e-7 * scale)
            fail_msg("solver %d, objective %d, channel %zu: %.12g by differences, %.12g", (int)solver,
                     (int)objective, c, difference, noise[c]);
    }
    drop(&f);
}

static void test_gradients(void **state)
{
    (void)state;
    for (int robust = 0; robust < 2; robust++) {
        check_gradient(HF_SOLVER_EXACT, robust, HF_OBJECTIVE_EVIDENCE);
        check_gradient(HF_SOLVER_EXACT, robust, HF_OBJECTIVE_LOO);
        check_gradient(HF_SOLVER_EXACT, robust, HF_OBJECTIVE_WLOO);
        check_gradient(HF_SOLVER_INDUCING, robust, HF_OBJECTIVE_EVIDENCE);
        check_gradient(HF_SOLVER_INDUCING, robust, HF_OBJECTIVE_WEIGHTED);
        check_gradient(HF_SOLVER_INDUCING, robust, HF_OBJECTIVE_WLOO);
        check_gradient(HF_SOLVER_PROJECTED, robust, HF_OBJECTIVE_EVIDENCE);
        check_gradient(HF_SOLVER_PROJECTED, robust, HF_OBJECTIVE_WEIGHTED);
    }
}

/* With the same noise in all channels everything is as without them: bit for bit, but for the sum over channels. */
static void test_equal_noise_is_one_noise(void **state)
{
    (void)state;
    const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        make(&f, solvers[k], false);
        double with = 0.0, without = 0.0, a[MOST], b[MOST];
        assert_int_equal(hf_sites_set_noise(f.ctx, f.e.sites, 0.05), HF_OK);
        assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &with, a), HF_OK);
        const size_t one[N] = {0};
        assert_int_equal(hf_sites_set_channels(f.ctx, f.e.sites, 1, one), HF_OK);
        assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &without, b), HF_OK);
        assert_true(with == without);
        const size_t at = shared(&f), extras = hfi_evaluator_extras(&f.e);
        for (size_t p = 0; p < at; p++) assert_true(a[p] == b[p]);
        for (size_t p = 0; p < extras; p++) assert_true(a[at + CHANNELS + p] == b[at + 1 + p]);
        double sum = 0.0;
        for (size_t c = 0; c < CHANNELS; c++) sum += a[at + c];
        assert_true(fabs(sum - b[at]) <= 1e-12 * fmax(1.0, fabs(b[at])));
        drop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_equal_noise_is_one_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
