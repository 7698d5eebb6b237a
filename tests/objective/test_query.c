/* SPDX-License-Identifier: Apache-2.0 */
/* Points beside the readings: their mean and covariance are the posterior's. A function of these adds to an objective;
 * that part has the derivatives that difference quotients say, in everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "objective/evaluator.h"
#include "objective/query.h"
#include "solver/naive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 29,
    D = 2,
    M = 5,       /* inducing inputs or actions */
    POINTS = 3,  /* beside the readings */
    MOST = 128,  /* entries of a gradient */
    SOLVERS = 4, /* three methods of inducing inputs, then block actions */
};

static const char *const EXPRESSIONS[] = {"1.4*matern52(ard)", "se + 0.3*linear(ard)",
                                          "rq(x1)*periodic(x2) + 0.2*white"};
static const hf_objective OBJECTIVES[] = {HF_OBJECTIVE_EVIDENCE, HF_OBJECTIVE_WEIGHTED, HF_OBJECTIVE_RCAGP};

/* Some function of all entries, without any symmetry. */
static hf_status some_function(void *arg, size_t count, const double *mean, const double *covariance,
                               double *value, double *mean_bar, double *covariance_bar)
{
    const double *scale = arg;
    double sum = 0.0;
    for (size_t a = 0; a < count; a++) {
        sum += *scale * sin(mean[a] + (double)a);
        mean_bar[a] = *scale * cos(mean[a] + (double)a);
        for (size_t b = 0; b < count; b++) {
            const double weight = 1.0 / (1.0 + (double)a + 2.0 * (double)b), c = covariance[a + b * count];
            sum += *scale * weight * (c + c * c);
            covariance_bar[a + b * count] = *scale * weight * (1.0 + 2.0 * c);
        }
    }
    *value = sum;
    return HF_OK;
}

static hf_status fails(void *arg, size_t count, const double *mean, const double *covariance, double *value,
                       double *mean_bar, double *covariance_bar)
{
    (void)mean;
    (void)covariance;
    memset(mean_bar, 0, count * sizeof *mean_bar);
    memset(covariance_bar, 0, count * count * sizeof *covariance_bar);
    *value = *(const double *)arg;
    return HF_OK;
}

typedef struct fixture {
    problem p;
    hfi_evaluator e;
    hfi_query query;
    double scale;
} fixture;

static void open_fixture(fixture *f, hf_context *ctx, const char *expression, int solver, bool robust)
{
    f->p = problem_make(ctx, expression, N, D, 0.09);
    f->scale = 3.0;
    if (robust) {
        double centre[N] = {0.0};
        hf_sites_free(f->p.sites);
        f->p.y[4] += 5.0;
        assert_int_equal(hf_sites_robust(ctx, N, f->p.y, 0.09, f->p.extra, centre, 0.8, &f->p.sites), HF_OK);
    }
    if (solver < SOLVERS - 1) {
        double *z = problem_inputs(M, D, 23);
        hfi_inducing u;
        assert_int_equal(hfi_inducing_init(ctx, (hf_inducing_method)solver, M, D, z, D, &u), HF_OK);
        u.train_inputs = true;
        assert_int_equal(hfi_evaluator_init_inducing(ctx, &f->e, N, D, f->p.x, D, &u), HF_OK);
        free(z);
    } else {
        hfi_block_actions actions;
        assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CLUSTERED, N, D, f->p.x, D, M, &actions),
                         HF_OK);
        assert_int_equal(hfi_block_actions_start(ctx, &actions, HF_ACTION_START_RANDOM, f->p.kernel, f->p.x,
                                                 D, NULL, NULL),
                         HF_OK);
        assert_int_equal(
            hfi_evaluator_init_projected(ctx, &f->e, N, D, f->p.x, D, &actions, true, HFI_DOUBLE), HF_OK);
    }
    f->e.kernel = f->p.kernel;
    f->e.mean = f->p.mean;
    f->e.sites = f->p.sites;
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
    assert_int_equal(hfi_query_init(ctx, POINTS, D, N, some_function, &f->scale, &f->query), HF_OK);
    double *x = problem_inputs(POINTS, D, 31);
    memcpy(f->query.x, x, (size_t)POINTS * D * sizeof *x);
    free(x);
    f->e.query = &f->query;
}

static void close_fixture(fixture *f)
{
    hfi_query_free(&f->query);
    hfi_evaluator_free(&f->e);
    problem_free(&f->p);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static hf_posterior *posterior_of(const fixture *f)
{
    hf_context *ctx = f->p.ctx;
    hf_posterior *out = NULL;
    if (f->e.inducing != NULL) {
        assert_true(hf_solve_inducing(ctx, f->p.kernel, f->p.mean, f->p.sites, f->p.x, D,
                                      f->e.inducing->method, M, f->e.inducing->z, D, &out) >= 0);
        return out;
    }
    hfi_solution solution;
    hfi_scaling scaling;
    hf_projection_report report;
    assert_true(hfi_projected_solve_blocks(ctx, f->p.kernel, f->p.mean, f->p.sites, D, f->p.x, D,
                                           hfi_projected_actions(f->e.projected), HFI_DOUBLE, &solution,
                                           &report) >= 0);
    assert_int_equal(hfi_scaling_identity(ctx, D, &scaling), HF_OK);
    assert_true(hfi_posterior_create(ctx, f->p.kernel, f->p.mean, &solution, &scaling, 0.09, 1.0, &out) >= 0);
    hfi_scaling_free(&scaling);
    return out;
}

static void they_are_the_posteriors(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < 3; k++)
        for (int solver = 0; solver < SOLVERS; solver++) {
            fixture f = {.scale = 0.0};
            double mean[POINTS], covariance[POINTS * POINTS], value, without;
            open_fixture(&f, ctx, EXPRESSIONS[k], solver, k == 1);
            hf_posterior *posterior = posterior_of(&f);
            assert_true(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &value, NULL) >= 0);
            f.e.query = NULL;
            assert_true(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &without, NULL) >= 0);
            assert_near(value, without + f.query.value, 1e-11 * fabs(value));
            assert_true(fabs(f.query.value) > 1e-3);
            assert_int_equal(hf_predict(ctx, posterior, POINTS, f.query.x, D, mean, NULL, NULL), HF_OK);
            assert_int_equal(hf_predict_covariance(ctx, posterior, POINTS, f.query.x, D, covariance, POINTS),
                             HF_OK);
            for (size_t a = 0; a < POINTS; a++) assert_near(f.query.mean[a], mean[a], 1e-9);
            for (size_t a = 0; a < POINTS * POINTS; a++)
                assert_near(f.query.covariance[a], covariance[a], 1e-9);
            hf_posterior_free(posterior);
            close_fixture(&f);
        }
    hf_context_free(ctx);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

static size_t count_of(const hfi_evaluator *e)
{
    return hf_kernel_parameters(e->kernel) + hf_mean_coefficients(e->mean) + 1 + hfi_evaluator_extras(e);
}

/* Moves entry k of the state by h; behind the state come the points. */
static void move(fixture *f, size_t k, double h)
{
    hfi_evaluator *e = &f->e;
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double state[MOST];
    if (k < kernel_count) {
        hfi_kernel_theta(e->kernel, state);
        state[k] += h;
        hfi_kernel_set_theta(e->kernel, state);
    } else if (k < kernel_count + mean_count) {
        memcpy(state, hf_mean_values(e->mean), mean_count * sizeof *state);
        state[k - kernel_count] += h;
        assert_int_equal(hf_mean_set(e->ctx, e->mean, state, true), HF_OK);
    } else if (k == kernel_count + mean_count) {
        assert_int_equal(hf_sites_set_noise(e->ctx, e->sites, hf_sites_noise(e->sites) * exp(h)), HF_OK);
    } else if (k < count_of(e)) {
        hfi_evaluator_get_extras(e, state);
        state[k - kernel_count - mean_count - 1] += h;
        hfi_evaluator_set_extras(e, state);
    } else {
        f->query.x[k - count_of(e)] += h;
    }
}

/* Sum that the points add, entry k being moved. */
static double moved(fixture *f, hf_objective objective, size_t k, double h)
{
    double value;
    move(f, k, h);
    assert_true(hfi_evaluator_run(&f->e, objective, &value, NULL) >= 0);
    move(f, k, -h);
    return f->query.value;
}

static double quotient(fixture *f, hf_objective objective, size_t k)
{
    const double h = 2e-4;
    return (8.0 * (moved(f, objective, k, h) - moved(f, objective, k, -h)) -
            (moved(f, objective, k, 2 * h) - moved(f, objective, k, -2 * h))) /
           (12.0 * h);
}

/* Each block to a millionth of its own largest entry. */
static void check_blocks(fixture *f, hf_objective objective, const char *what)
{
    const size_t kernel_count = hf_kernel_parameters(f->p.kernel), count = count_of(&f->e);
    const size_t ends[] = {kernel_count, count - 1 - hfi_evaluator_extras(&f->e),
                           count - hfi_evaluator_extras(&f->e), count, count + (size_t)POINTS * D};
    double with[MOST], without[MOST], found[MOST], value, expected[MOST];
    assert_true(ends[4] <= MOST);
    assert_true(hfi_evaluator_run(&f->e, objective, &value, with) >= 0);
    memcpy(found + count, f->query.x_bar, (size_t)POINTS * D * sizeof *found);
    f->e.query = NULL;
    assert_true(hfi_evaluator_run(&f->e, objective, &value, without) >= 0);
    f->e.query = &f->query;
    for (size_t k = 0; k < count; k++) found[k] = with[k] - without[k];
    for (size_t block = 0, k = 0; block < 5; block++) {
        double size = 0.0;
        const size_t first = k;
        for (; k < ends[block]; k++) {
            expected[k] = quotient(f, objective, k);
            size = fmax(size, fabs(expected[k]));
        }
        assert_true(size > 1e-4);
        for (size_t i = first; i < ends[block]; i++)
            if (!(fabs(found[i] - expected[i]) <= 1e-6 * size))
                fail_msg("%s, block %zu, entry %zu: derivative %.12g, difference quotient %.12g", what, block,
                         i - first, found[i], expected[i]);
    }
}

static void every_block_has_its_difference_quotient(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < 3; k++)
        for (int solver = 0; solver < SOLVERS; solver++)
            for (int robust = 0; robust < 2; robust++) {
                fixture f = {.scale = 0.0};
                char what[96];
                open_fixture(&f, ctx, EXPRESSIONS[k], solver, robust);
                const hf_objective objective = OBJECTIVES[(k + (size_t)solver) % 3];
                snprintf(what, sizeof what, "%s, solver %d, %s, %s", EXPRESSIONS[k], solver,
                         robust ? "robust" : "Gaussian", hf_enum_name(HF_ENUM_OBJECTIVE, objective));
                check_blocks(&f, objective, what);
                close_fixture(&f);
            }
    hf_context_free(ctx);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void what_is_not_finite_ends_an_evaluation(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (int solver = 0; solver < SOLVERS; solver++) {
        fixture f = {.scale = 0.0};
        double value = 7.0, gradient[MOST];
        open_fixture(&f, ctx, EXPRESSIONS[0], solver, false);
        f.query.add = fails;
        f.scale = NAN;
        assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &value, gradient), HF_ERR_NOT_FINITE);
        assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_LOO, &value, gradient), HF_ERR_ARGUMENT);
        assert_true(value == 7.0);
        f.scale = 2.0;
        assert_true(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &value, gradient) >= 0);
        assert_true(f.query.value == 2.0);
        close_fixture(&f);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_the_posteriors),
        cmocka_unit_test(every_block_has_its_difference_quotient),
        cmocka_unit_test(what_is_not_finite_ends_an_evaluation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
