/* SPDX-License-Identifier: Apache-2.0 */
/* Krylov actions: what they converge to, when they stop, and what inducing actions among them are worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/projected_naive.h"

enum {
    POINTS = 40
};

static double mean_at(const problem *p, const hfi_solution *s, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++) sum += hfi_kernel_value(p->kernel, x, s->z + i * s->d, false) * s->t[i];
    return sum;
}

static double average_variance(const problem *p, const hfi_solution *s, const double *x)
{
    double *k = naive_zeros(s->n), *room = naive_zeros(hfi_solution_room(s, 1) + 1), sum = 0.0;
    double *scratch = naive_zeros(hfi_kernel_scratch(p->kernel));
    size_t ld;
    for (size_t q = 0; q < POINTS; q++) {
        hfi_kernel_cross_block(p->kernel, 1, x + q * s->d, s->d, s->n, s->z, s->d, k, s->n, scratch);
        const double *w = hfi_solution_whiten(s, 1, k, s->n, room, &ld);
        sum += hfi_kernel_value(p->kernel, x + q * s->d, x + q * s->d, true);
        for (size_t a = 0; a < hfi_solution_rank(s); a++) sum -= w[a] * w[a];
    }
    free(k);
    free(room);
    free(scratch);
    return sum / POINTS;
}

static double mean_error(const problem *p, const hfi_solution *s, const hfi_solution *exact, const double *x)
{
    double worst = 0.0;
    for (size_t q = 0; q < POINTS; q++)
        worst = fmax(worst, fabs(mean_at(p, s, x + q * p->d) - mean_at(p, exact, x + q * p->d)));
    return worst;
}

static hf_status solve(const problem *p, const hf_projection *choice, hfi_solution *s,
                       hf_projection_report *report)
{
    return hfi_projected_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, choice, s, report);
}

static problem robust_problem(hf_context *ctx, size_t n)
{
    problem p = problem_make(ctx, "matern52(ard)", n, 2, 0.05);
    double *centre = naive_zeros(n);
    memcpy(centre, p.y, n * sizeof *centre);
    for (size_t i = 0; i < n; i += 9) p.y[i] += 50.0;
    p.y[4] = NAN;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, n, p.y, p.noise, p.extra, centre, 0.7, &p.sites), HF_OK);
    free(centre);
    return p;
}

static void converges_to_the_exact_mean(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (int robust = 0; robust < 2; robust++)
        for (size_t inducing = 0; inducing <= 20; inducing += 20) {
            problem p = robust ? robust_problem(ctx, 150) : problem_make(ctx, "matern52(ard)", 150, 2, 0.05);
            double *x = problem_inputs(POINTS, p.d, 81);
            const hf_projection choice = {.size = sizeof choice,
                                          .actions = HF_ACTIONS_KRYLOV,
                                          .count = 100,
                                          .inducing = inducing,
                                          .tolerance = 1e-9};
            hfi_solution s, exact;
            hf_projection_report report;
            assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
            assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
            assert_true(report.residual <= 1e-9 && report.passes < 101);
            assert_true(mean_error(&p, &s, &exact, x) < 1e-6);
            hfi_solution_free(&s);
            hfi_solution_free(&exact);
            free(x);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

/* Spans without inducing inputs: t of k steps is the k-th iterate of conjugate gradients on D^-1/2 (K + D) D^-1/2. */
static void is_conjugate_gradients(void **state)
{
    (void)state;
    enum {
        STEPS = 6
    };
    hf_context *ctx = problem_context(1);
    problem p = robust_problem(ctx, 40);
    double *any = problem_inputs(p.n, 1, 83); /* an action, to have K and D by the book */
    naive_projection gp = naive_projection_make(p.kernel, p.mean, p.sites, p.x, 1, any);
    free(any);
    const size_t n = gp.n;
    double *t = naive_zeros(4 * n), *r = t + n, *direction = t + 2 * n, *product = t + 3 * n, rho = 0.0;
    for (size_t i = 0; i < n; i++) {
        r[i] = direction[i] = gp.residual[i] / sqrt(gp.noise[i]);
        rho += r[i] * r[i];
    }
    for (size_t step = 1; step <= STEPS; step++) {
        double curvature = 0.0, next = 0.0;
        for (size_t i = 0; i < n; i++) {
            product[i] = direction[i];
            for (size_t j = 0; j < n; j++)
                product[i] += gp.k[i * n + j] / sqrt(gp.noise[i] * gp.noise[j]) * direction[j];
            curvature += direction[i] * product[i];
        }
        for (size_t i = 0; i < n; i++) {
            t[i] += rho / curvature * direction[i];
            r[i] -= rho / curvature * product[i];
            next += r[i] * r[i];
        }
        for (size_t i = 0; i < n; i++) direction[i] = r[i] + next / rho * direction[i];
        rho = next;
        const hf_projection choice = {.size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = step};
        hfi_solution s;
        hf_projection_report report;
        assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
        assert_int_equal(report.actions, step);
        assert_int_equal(report.passes, step);
        for (size_t i = 0; i < n; i++) assert_near(s.t[i], t[i] / sqrt(gp.noise[i]), 1e-8);
        hfi_solution_free(&s);
    }
    free(t);
    naive_projection_free(&gp);
    problem_free(&p);
    hf_context_free(ctx);
}

static void says_when_it_is_not_there_yet(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 100, 2, 0.001);
    hf_projection choice = {
        .size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = 3, .tolerance = 1e-6};
    hfi_solution s;
    hf_projection_report report;
    assert_int_equal(solve(&p, &choice, &s, &report), HF_WARN_NOT_CONVERGED);
    assert_int_equal(report.actions, 3);
    assert_true(report.residual > 1e-6 && s.t != NULL);
    hfi_solution_free(&s);
    choice.tolerance = 0.0; /* never asked */
    assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
    assert_int_equal(report.actions, 3);
    hfi_solution_free(&s);
    choice = (hf_projection){.size = sizeof(hf_projection),
                             .actions = HF_ACTIONS_KRYLOV,
                             .count = 100,
                             .inducing = 30,
                             .tolerance = 0.5};
    assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
    assert_true(report.actions < 40 && report.residual <= 0.5); /* stops early */
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The reason for inducing actions among them: at equal numbers of passes a smaller error and a smaller variance. */
static void inducing_actions_help(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = robust_problem(ctx, 200);
    double *x = problem_inputs(POINTS, p.d, 82);
    const hf_projection plain = {.size = sizeof plain, .actions = HF_ACTIONS_KRYLOV, .count = 9},
                        both = {.size = sizeof both,
                                .actions = HF_ACTIONS_KRYLOV,
                                .count = 8,
                                .inducing = 30},
                        alone = {.size = sizeof alone, .actions = HF_ACTIONS_INDUCING, .count = 30};
    hfi_solution a, b, c, exact;
    hf_projection_report report;
    assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
    assert_int_equal(solve(&p, &plain, &a, &report), HF_OK);
    assert_int_equal(solve(&p, &both, &b, &report), HF_OK);
    assert_int_equal(report.passes, 9);
    assert_int_equal(report.actions, 38);
    assert_int_equal(solve(&p, &alone, &c, &report), HF_OK);
    assert_int_equal(report.passes, 1);
    assert_true(mean_error(&p, &b, &exact, x) < 0.5 * mean_error(&p, &a, &exact, x));
    assert_true(mean_error(&p, &b, &exact, x) < 0.5 * mean_error(&p, &c, &exact, x));
    assert_true(average_variance(&p, &b, x) < 0.8 * average_variance(&p, &a, x));
    assert_true(average_variance(&p, &b, x) >= average_variance(&p, &exact, x));
    hfi_solution_free(&a);
    hfi_solution_free(&b);
    hfi_solution_free(&c);
    hfi_solution_free(&exact);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Nothing to explain: targets at the prior mean. */
static void targets_at_the_prior_mean_are_fine(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 20, 2, 0.05);
    for (size_t i = 0; i < p.n; i++) hf_mean_evaluate(p.mean, 1, p.x + i * p.d, p.d, p.y + i);
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_gaussian(ctx, p.n, p.y, p.noise, NULL, &p.sites), HF_OK);
    const hf_projection choice = {
        .size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = 5, .tolerance = 1e-3};
    hfi_solution s;
    hf_projection_report report;
    assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
    assert_true(report.residual == 0.0 && report.actions == 1);
    for (size_t i = 0; i < p.n; i++) assert_true(s.t[i] == 0.0);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- past the end of the residual ------------------------------------------------------------------------------ */

enum {
    PROBES = 10
};

static void variances_at(const problem *p, const hfi_solution *s, const double *x, double *out)
{
    double *k = naive_zeros(s->n), *room = naive_zeros(hfi_solution_room(s, 1) + 1);
    double *scratch = naive_zeros(hfi_kernel_scratch(p->kernel));
    size_t ld;
    for (size_t q = 0; q < PROBES; q++) {
        hfi_kernel_cross_block(p->kernel, 1, x + q * s->d, s->d, s->n, s->z, s->d, k, s->n, scratch);
        const double *w = hfi_solution_whiten(s, 1, k, s->n, room, &ld);
        out[q] = hfi_kernel_value(p->kernel, x + q * s->d, x + q * s->d, true);
        for (size_t a = 0; a < hfi_solution_rank(s); a++) out[q] -= w[a] * w[a];
    }
    free(k);
    free(room);
    free(scratch);
}

static void give_targets(problem *p, const double *y)
{
    hf_sites_free(p->sites);
    assert_int_equal(hf_sites_gaussian(p->ctx, p->n, y, p->noise, NULL, &p->sites), HF_OK);
}

/* Readings so far apart that one action explains them all: the residual is then 0 or its rounding,
 * and the others are asked for still. */
static void an_exhausted_space_is_no_end(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 24, 2, 0.05);
    double x[PROBES * 2], variance[PROBES], want[PROBES];
    hfi_solution s, exact;
    hf_projection_report report;
    for (size_t i = 0; i < p.n; i++) p.x[2 * i] = 1e3 * (double)i;
    for (size_t q = 0; q < PROBES; q++) {
        x[2 * q] = 1e3 * (double)(2 * q) + 0.1;
        x[2 * q + 1] = p.x[4 * q + 1];
    }
    assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
    variances_at(&p, &exact, x, want);
    for (size_t count = 1; count <= p.n; count++) {
        const hf_projection choice = {.size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = count};
        assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
        assert_int_equal(report.actions, count);
        if (count == p.n) {
            variances_at(&p, &s, x, variance);
            for (size_t q = 0; q < PROBES; q++) assert_near(variance[q], want[q], 1e-10);
        }
        hfi_solution_free(&s);
    }
    hfi_solution_free(&exact);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Targets that differ by a rounding stand for a processor that rounds otherwise: no action may be made of that. */
static void rounding_makes_no_action(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "se(ard) + linear",
                                          "1.7*matern32(x1) + 0.3*periodic(x2, period=3) + white"};
    hf_context *ctx = problem_context(1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        problem p = problem_make(ctx, kernels[k], 35, 2, 0.05);
        double *x = problem_inputs(PROBES, p.d, 84), *other = naive_zeros(p.n);
        for (size_t i = 0; i < p.n; i++) other[i] = p.y[i] * (1.0 + (i % 3 == 0 ? 2.3e-16 : 0.0));
        for (size_t count = 1; count <= p.n; count++) {
            const hf_projection choice = {
                .size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = count};
            double variance[2][PROBES];
            for (int round = 0; round < 2; round++) {
                hfi_solution s;
                hf_projection_report report;
                give_targets(&p, round ? other : p.y);
                assert_int_equal(solve(&p, &choice, &s, &report), HF_OK);
                assert_int_equal(report.actions, count);
                variances_at(&p, &s, x, variance[round]);
                hfi_solution_free(&s);
            }
            for (size_t q = 0; q < PROBES; q++) assert_near(variance[1][q], variance[0][q], 1e-8);
        }
        free(x);
        free(other);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static bool refuse(const char *stage, double done, double value, void *user)
{
    (void)user;
    (void)done;
    (void)value;
    return strcmp(stage, "actions") != 0;
}

static void can_be_cancelled(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 30, 2, 0.05);
    const hf_projection choice = {.size = sizeof choice, .actions = HF_ACTIONS_KRYLOV, .count = 5};
    hfi_solution s;
    hf_projection_report report;
    hf_context_set_progress(ctx, refuse, NULL);
    assert_int_equal(solve(&p, &choice, &s, &report), HF_ERR_CANCELLED);
    assert_null(s.t);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_to_the_exact_mean),        cmocka_unit_test(is_conjugate_gradients),
        cmocka_unit_test(says_when_it_is_not_there_yet),      cmocka_unit_test(inducing_actions_help),
        cmocka_unit_test(targets_at_the_prior_mean_are_fine), cmocka_unit_test(an_exhausted_space_is_no_end),
        cmocka_unit_test(rounding_makes_no_action),           cmocka_unit_test(can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
