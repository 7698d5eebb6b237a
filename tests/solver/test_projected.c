/* SPDX-License-Identifier: Apache-2.0 */
/* Projections against the book, and what must hold for any actions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/projected_naive.h"

static const char *const KERNELS[] = {
    "matern52(ard)",
    "se(ard) + linear",
    "1.7*matern32(x1) + 0.3*periodic(x2, period=3) + white",
    "rq * constant(variance=2)",
};
enum {
    KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS,
    POINTS = 30
};

/* Actions with every entry random, column-major. */
static double *random_actions(size_t n, size_t count, uint64_t seed)
{
    double *a = naive_zeros(n * count);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < n * count; i++) a[i] = hfi_stream_normal(&stream);
    return a;
}

static double *transposed(size_t n, size_t count, const double *a)
{
    double *rows = naive_zeros(n * count);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++) rows[i * count + c] = a[i + c * n];
    return rows;
}

/* Given actions of the readings that are present. */
static hf_status solve_dense(const problem *p, size_t count, const double *a, hfi_solution *out,
                             hf_projection_report *report)
{
    const size_t n = hf_sites_present(p->sites);
    double *matrix = naive_zeros(p->n * count);
    for (size_t i = 0, at = 0; i < p->n; i++) {
        if (!hf_sites_is_present(p->sites, i)) continue;
        for (size_t c = 0; c < count; c++) matrix[i * count + c] = a[at + c * n];
        at++;
    }
    const hf_projection choice = {
        .size = sizeof choice, .actions = HF_ACTIONS_GIVEN, .count = count, .matrix = matrix};
    const hf_status status =
        hfi_projected_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, &choice, out, report);
    free(matrix);
    return status;
}

static void assert_equals_naive(const problem *p, const naive_projection *naive, const hfi_solution *s)
{
    double *x = problem_inputs(POINTS, p->d, 77);
    for (size_t q = 0; q < POINTS; q++) {
        const prediction got = predict(p->kernel, s, x + q * p->d), want = naive_predict(naive, x + q * p->d);
        assert_near(got.mean, want.mean, 1e-9);
        assert_near(got.variance, want.variance, 1e-9);
    }
    assert_near(hfi_solution_log_evidence(s), naive_projection_bound(naive), 1e-7);
    assert_true(s->condition >= 1.0 && s->backward < 1e-13);
    free(x);
}

/* ---- against the book ------------------------------------------------------------------------------------- */

static void blocks_equal_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t counts[] = {1, 4, 7, 40};
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (size_t c = 0; c < 4; c++) {
            problem p = problem_make(ctx, KERNELS[k], 40, 3, 0.05);
            hfi_block_actions actions;
            assert_int_equal(hfi_block_actions_init(ctx, c % 2 ? HF_BLOCKS_CLUSTERED : HF_BLOCKS_CONTIGUOUS,
                                                    p.n, p.d, p.x, p.d, counts[c], &actions),
                             HF_OK);
            assert_int_equal(hfi_block_actions_start(ctx, &actions, HF_ACTION_START_RANDOM, p.kernel, p.x,
                                                     p.d, NULL, NULL),
                             HF_OK);
            hfi_solution s;
            hf_projection_report report;
            assert_int_equal(hfi_projected_solve_blocks(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d,
                                                        &actions, HFI_DOUBLE, &s, &report),
                             HF_OK);
            assert_int_equal(s.form, HFI_FORM_BLOCKS);
            assert_int_equal(s.solver, HF_SOLVER_PROJECTED);
            assert_int_equal(report.actions, counts[c]);
            assert_int_equal(report.passes, 1);
            double *a = naive_block_matrix(&actions);
            naive_projection naive = naive_projection_make(p.kernel, p.mean, p.sites, p.x, counts[c], a);
            assert_equals_naive(&p, &naive, &s);
            naive_projection_free(&naive);
            free(a);
            hfi_solution_free(&s);
            hfi_block_actions_free(ctx, &actions);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

static void dense_equals_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k], 40, 3, 0.05);
        double *a = random_actions(p.n, 6, k), *rows = transposed(p.n, 6, a);
        hfi_solution s;
        hf_projection_report report;
        assert_int_equal(solve_dense(&p, 6, a, &s, &report), HF_OK);
        assert_int_equal(s.form, HFI_FORM_DENSE);
        naive_projection naive = naive_projection_make(p.kernel, p.mean, p.sites, p.x, 6, rows);
        assert_equals_naive(&p, &naive, &s);
        /* The residual by its definition. */
        double above = 0.0, below = 0.0;
        for (size_t i = 0; i < p.n; i++) {
            double left = naive.residual[i] - naive.noise[i] * naive.t[i];
            for (size_t j = 0; j < p.n; j++) left -= naive.k[i * p.n + j] * naive.t[j];
            above += left * left / naive.noise[i];
            below += naive.residual[i] * naive.residual[i] / naive.noise[i];
        }
        assert_near(report.residual, sqrt(above / below), 1e-10);
        naive_projection_free(&naive);
        free(a);
        free(rows);
        hfi_solution_free(&s);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void dependent_actions_are_dropped(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 30, 2, 0.05);
    double *a = random_actions(p.n, 5, 9);
    for (size_t i = 0; i < p.n; i++) {
        a[i + 2 * p.n] = 0.0;                            /* nothing */
        a[i + 3 * p.n] = 3.0 * a[i] - 2e-7 * a[i + p.n]; /* nothing new */
        a[i + 4 * p.n] *= 1e-150;                        /* small, but new */
    }
    hfi_solution s, three;
    hf_projection_report report;
    assert_int_equal(solve_dense(&p, 5, a, &s, &report), HF_OK);
    assert_int_equal(report.actions, 3);
    for (size_t i = 0; i < p.n; i++) a[i + 2 * p.n] = a[i + 4 * p.n] * 1e150;
    assert_int_equal(solve_dense(&p, 3, a, &three, &report), HF_OK);
    for (size_t i = 0; i < p.n; i++) assert_near(s.t[i], three.t[i], 1e-9);
    hfi_solution_free(&s);
    hfi_solution_free(&three);
    memset(a, 0, p.n * 5 * sizeof *a);
    assert_int_equal(solve_dense(&p, 5, a, &s, &report), HF_OK);
    assert_int_equal(report.actions, 1); /* any will do */
    hfi_solution_free(&s);
    free(a);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- what holds for any actions --------------------------------------------------------------------------- */

static void as_many_actions_as_readings_are_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k], 35, 2, 0.05);
        hfi_solution exact;
        assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
        double *x = problem_inputs(POINTS, p.d, 78), *a = random_actions(p.n, p.n, 4);
        for (int kind = 0; kind < 4; kind++) {
            const hf_projection choice = {.size = sizeof choice,
                                          .actions = kind == 0   ? HF_ACTIONS_BLOCKS
                                                     : kind == 1 ? HF_ACTIONS_INDUCING
                                                                 : HF_ACTIONS_KRYLOV,
                                          .count = p.n};
            hfi_solution s;
            hf_projection_report report;
            if (kind < 3)
                assert_true(hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s,
                                                &report) >= 0);
            else
                assert_int_equal(solve_dense(&p, p.n, a, &s, &report), HF_OK);
            for (size_t q = 0; q < POINTS; q++) {
                const prediction got = predict(p.kernel, &s, x + q * p.d),
                                 want = predict(p.kernel, &exact, x + q * p.d);
                assert_near(got.mean, want.mean, 1e-8);
                assert_near(got.variance, want.variance, 1e-8);
            }
            assert_near(hfi_solution_log_evidence(&s), hfi_solution_log_evidence(&exact), 1e-6);
            hfi_solution_free(&s);
        }
        free(a);
        free(x);
        hfi_solution_free(&exact);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* A problem of random size with robust sites around gross errors, some of them absent. */
static problem random_problem(hf_context *ctx, uint64_t seed, hfi_stream *stream)
{
    hfi_stream_init(stream, seed, HFI_PURPOSE_TEST, 8);
    const size_t n = 5 + hfi_stream_below(stream, 40), d = 1 + hfi_stream_below(stream, 3);
    const double noise = pow(10.0, -4.0 + 4.0 * hfi_stream_uniform(stream));
    problem p = problem_make(ctx, seed % 2 ? "matern32(ard)" : "se(ard) + 0.1*white", n, d, noise);
    double *centre = naive_zeros(n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) p.x[i * d + j] = 4.0 * hfi_stream_uniform(stream) - 2.0;
        centre[i] = p.y[i];
        if (hfi_stream_below(stream, 6) == 0) p.y[i] += pow(10.0, 6.0 * hfi_stream_uniform(stream));
        if (i > 2 && hfi_stream_below(stream, 8) == 0) p.y[i] = NAN;
    }
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, n, p.y, noise, p.extra, centre, 2.0 * sqrt(noise), &p.sites),
                     HF_OK);
    free(centre);
    return p;
}

static void variance_and_bound_are_never_optimistic(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        hfi_stream stream;
        problem p = random_problem(ctx, seed, &stream);
        const size_t present = hf_sites_present(p.sites);
        const hf_projection choice = {.size = sizeof choice,
                                      .actions = (hf_actions)hfi_stream_below(&stream, 3),
                                      .count = 1 + hfi_stream_below(&stream, present),
                                      .inducing = hfi_stream_below(&stream, 4),
                                      .choice = (hf_inducing_choice)hfi_stream_below(&stream, 4),
                                      .blocks = (hf_blocks)hfi_stream_below(&stream, 2),
                                      .start = (hf_action_start)hfi_stream_below(&stream, 4),
                                      .tolerance = seed % 3 ? 0.0 : 0.1};
        hfi_solution s, exact;
        hf_projection_report report;
        assert_true(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact) >= 0);
        assert_true(
            hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s, &report) >= 0);
        assert_true(report.actions > 0 && report.actions <= present);
        for (size_t q = 0; q < POINTS / 2; q++) {
            double x[3];
            for (size_t j = 0; j < p.d; j++) x[j] = 5.0 * hfi_stream_uniform(&stream) - 2.5;
            assert_true(predict(p.kernel, &s, x).variance >= predict(p.kernel, &exact, x).variance - 1e-9);
        }
        const double evidence = hfi_solution_log_evidence(&exact);
        assert_true(hfi_solution_log_evidence(&s) <= evidence + 1e-6 * (1.0 + fabs(evidence)));
        hfi_solution_free(&s);
        hfi_solution_free(&exact);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void variance_falls_as_actions_are_added(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard)", 50, 2, 0.02);
    double *x = problem_inputs(POINTS, p.d, 79), *a = random_actions(p.n, p.n, 5), before[POINTS];
    double bound = -INFINITY;
    for (size_t count = 1; count <= p.n; count++) {
        hfi_solution s;
        hf_projection_report report;
        assert_int_equal(solve_dense(&p, count, a, &s, &report), HF_OK);
        for (size_t q = 0; q < POINTS; q++) {
            const double variance = predict(p.kernel, &s, x + q * p.d).variance;
            if (count > 1) assert_true(variance <= before[q] + 1e-12);
            before[q] = variance;
        }
        assert_true(hfi_solution_log_evidence(&s) >= bound - 1e-9); /* so does the distance to the evidence */
        bound = hfi_solution_log_evidence(&s);
        hfi_solution_free(&s);
    }
    free(a);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- leave-one-out ---------------------------------------------------------------------------------------- */

/* Robust sites of a problem with one reading far out, whose site variance is some 1e8 times the others'. */
static void contaminate(problem *p, double far)
{
    double *centre = naive_zeros(p->n);
    memcpy(centre, p->y, p->n * sizeof *centre);
    p->y[4] += far;
    p->y[9] = NAN;
    hf_sites_free(p->sites);
    assert_int_equal(hf_sites_robust(p->ctx, p->n, p->y, p->noise, p->extra, centre, 0.5, &p->sites), HF_OK);
    free(centre);
}

static void assert_leave_one_out(const problem *p, const naive_projection *naive, const hfi_solution *s,
                                 double tolerance)
{
    double *mean = naive_zeros(s->n), *variance = naive_zeros(s->n);
    assert_int_equal(hfi_projected_cavities(p->ctx, p->kernel, s, mean, variance), HF_OK);
    for (size_t j = 0; j < s->n; j++) {
        double m, v;
        naive_projection_without(naive, j, &m, &v);
        assert_near(mean[j], m, tolerance);
        assert_near(variance[j], v, tolerance);
    }
    free(mean);
    free(variance);
}

static void leave_one_out_of_blocks_is_brute_force(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t counts[] = {1, 5, 11, 24};
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (size_t c = 0; c < 4; c++) {
            problem p = problem_make(ctx, KERNELS[k], 25, 3, 0.05);
            contaminate(&p, c == 0 ? 1e2 : 1e4);
            const size_t n = hf_sites_present(p.sites);
            hfi_block_actions actions;
            assert_int_equal(
                hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, n, p.d, p.x, p.d, counts[c], &actions),
                HF_OK);
            assert_int_equal(hfi_block_actions_start(ctx, &actions, HF_ACTION_START_RANDOM, p.kernel, p.x,
                                                     p.d, NULL, NULL),
                             HF_OK);
            if (c < 3) actions.entry[1] = 0.0; /* leaving out what is not in changes nothing */
            hfi_solution s;
            hf_projection_report report;
            assert_int_equal(hfi_projected_solve_blocks(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d,
                                                        &actions, HFI_DOUBLE, &s, &report),
                             HF_OK);
            double *a = naive_block_matrix(&actions);
            naive_projection naive = naive_projection_make(p.kernel, p.mean, p.sites, p.x, counts[c], a);
            assert_leave_one_out(&p, &naive, &s, 1e-7);
            naive_projection_free(&naive);
            free(a);
            hfi_solution_free(&s);
            hfi_block_actions_free(ctx, &actions);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

static void leave_one_out_of_dense_actions_is_brute_force(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t counts[] = {1, 4, 12};
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (size_t c = 0; c < 3; c++) {
            problem p = problem_make(ctx, KERNELS[k], 25, 3, 0.05);
            contaminate(&p, 30.0);
            const size_t n = hf_sites_present(p.sites);
            double *a = random_actions(n, counts[c], c);
            for (size_t q = 0; q < counts[c]; q++) a[7 + q * n] = 0.0;
            double *rows = transposed(n, counts[c], a);
            hfi_solution s;
            hf_projection_report report;
            assert_int_equal(solve_dense(&p, counts[c], a, &s, &report), HF_OK);
            naive_projection naive = naive_projection_make(p.kernel, p.mean, p.sites, p.x, counts[c], rows);
            assert_leave_one_out(&p, &naive, &s, 1e-7);
            naive_projection_free(&naive);
            free(a);
            free(rows);
            hfi_solution_free(&s);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

/* With as many actions as readings it is the exact leave-one-out, a reading at 1e9 included. */
static void leave_one_out_with_all_actions_is_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (int blocks = 0; blocks < 2; blocks++) {
        problem p = problem_make(ctx, "matern52(ard) + 0.1*white", 25, 2, 0.05);
        contaminate(&p, 1e9);
        const size_t n = hf_sites_present(p.sites);
        const hf_projection choice = {
            .size = sizeof choice, .actions = blocks ? HF_ACTIONS_BLOCKS : HF_ACTIONS_INDUCING, .count = n};
        double *mean = naive_zeros(4 * n), *variance = mean + n, *exact_mean = mean + 2 * n,
               *exact_variance = mean + 3 * n;
        hfi_solution s, exact;
        hf_projection_report report;
        assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
        assert_true(
            hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s, &report) >= 0);
        assert_int_equal(hfi_projected_cavities(ctx, p.kernel, &s, mean, variance), HF_OK);
        assert_int_equal(hfi_solution_cavities(ctx, p.kernel, &exact, exact_mean, exact_variance), HF_OK);
        for (size_t i = 0; i < n && blocks; i++) {
            assert_near(mean[i], exact_mean[i], 1e-7);
            assert_near(variance[i], exact_variance[i], 1e-7);
        }
        /* Dense actions minus a row are fewer than the others need: only conservative. */
        for (size_t i = 0; i < n; i++) assert_true(variance[i] >= exact_variance[i] - 1e-8);
        hfi_solution_free(&s);
        hfi_solution_free(&exact);
        free(mean);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* ---- the house rules -------------------------------------------------------------------------------------- */

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        hfi_solution s[2];
        double cavity[2][900];
        hf_projection_report report;
        for (int t = 0; t < 2; t++) {
            hf_context *ctx = problem_context(t == 0 ? 1 : 3);
            problem p = problem_make(ctx, "matern52(ard)", 450, 3, 0.05);
            const hf_projection choice = {.size = sizeof choice,
                                          .actions = (hf_actions)kind,
                                          .count = 70,
                                          .inducing = 40,
                                          .blocks = HF_BLOCKS_CLUSTERED};
            assert_true(hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, s + t,
                                            &report) >= 0);
            assert_true(hfi_projected_cavities(ctx, p.kernel, s + t, cavity[t], cavity[t] + 450) >= 0);
            problem_free(&p);
            hf_context_free(ctx);
        }
        const size_t rank = s[0].rank;
        assert_int_equal(rank, s[1].rank);
        assert_memory_equal(s[0].t, s[1].t, 450 * sizeof(double));
        assert_memory_equal(cavity[0], cavity[1], sizeof cavity[0]);
        assert_true(s[0].log_det == s[1].log_det);
        if (s[0].r)
            assert_memory_equal(s[0].r, s[1].r, 450 * rank * sizeof(double));
        else
            for (size_t j = 0; j < rank; j++)
                assert_memory_equal(s[0].factor + j * rank + j, s[1].factor + j * rank + j,
                                    (rank - j) * sizeof(double));
        hfi_solution_free(s);
        hfi_solution_free(s + 1);
    }
}

/* One reading; rows that repeat; inputs all equal; hardly any noise. */
static void degenerate_tables_have_posteriors(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (int which = 0; which < 4; which++)
        for (int kind = 0; kind < 3; kind++) {
            const size_t n = which == 0 ? 1 : 24;
            problem p = problem_make(ctx, "se(ard)", n, 2, which == 3 ? 1e-13 : 0.05);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < 2; j++)
                    p.x[i * 2 + j] = which == 1 ? p.x[i / 8 * 16 + j] : which == 2 ? 0.3 : p.x[i * 2 + j];
            const hf_projection choice = {
                .size = sizeof choice, .actions = (hf_actions)kind, .count = n < 10 ? n : 10, .inducing = 5};
            hfi_solution s, exact;
            hf_projection_report report;
            assert_true(hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s,
                                            &report) >= 0);
            assert_true(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact) >= 0);
            double *mean = naive_zeros(2 * n);
            assert_true(hfi_projected_cavities(ctx, p.kernel, &s, mean, mean + n) >= 0);
            for (size_t i = 0; i < n; i++) {
                const prediction got = predict(p.kernel, &s, p.x + i * 2),
                                 want = predict(p.kernel, &exact, p.x + i * 2);
                assert_true(isfinite(got.mean) && isfinite(mean[i]) && isfinite(mean[n + i]));
                assert_true(mean[n + i] >= 0.0);
                assert_true(got.variance >= want.variance - 1e-8);
            }
            if (which == 0) assert_near(mean[1], hfi_kernel_value(p.kernel, p.x, p.x, true), 1e-12);
            free(mean);
            hfi_solution_free(&s);
            hfi_solution_free(&exact);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

static void single_precision_is_close_and_careful(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard)", 200, 3, 0.05);
    double *x = problem_inputs(POINTS, p.d, 80);
    for (int kind = 0; kind < 3; kind++) {
        hf_projection choice = {
            .size = sizeof choice, .actions = (hf_actions)kind, .count = 20, .inducing = 20};
        hfi_solution s, twin, exact;
        hf_projection_report report;
        assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
        assert_true(
            hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s, &report) >= 0);
        choice.single_precision = true;
        assert_true(
            hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &twin, &report) >= 0);
        for (size_t q = 0; q < POINTS; q++) {
            const prediction a = predict(p.kernel, &s, x + q * p.d),
                             b = predict(p.kernel, &twin, x + q * p.d);
            assert_near(a.variance, b.variance, 1e-5);
            assert_near(a.mean, b.mean, 1e-3);
            assert_true(b.variance >= predict(p.kernel, &exact, x + q * p.d).variance - 1e-5);
        }
        hfi_solution_free(&s);
        hfi_solution_free(&twin);
        hfi_solution_free(&exact);
    }
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

static void refuses_what_makes_no_projection(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 12, 2, 0.05);
    const hf_projection bad[] = {
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS, .count = 13},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 13},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_INDUCING},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_BLOCKS},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 2, .tolerance = NAN},
        {.size = sizeof(hf_projection), .actions = (hf_actions)7, .count = 2},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 2, .tolerance = -1.0},
    };
    hfi_solution s;
    hf_projection_report report;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        memset(&s, 7, sizeof s);
        assert_int_equal(
            hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, bad + k, &s, &report),
            HF_ERR_ARGUMENT);
        assert_null(s.t);
    }
    const hf_projection good = {.size = sizeof good, .actions = HF_ACTIONS_BLOCKS, .count = 2};
    p.x[5] = NAN;
    assert_int_equal(hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &good, &s, &report),
                     HF_ERR_NOT_FINITE);
    for (size_t i = 0; i < p.n; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
    assert_int_equal(hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &good, &s, &report),
                     HF_ERR_NO_DATA);
    problem_free(&p);
    hf_context_free(ctx);
}

static void out_of_memory_loses_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool done = false;
        for (size_t fail = 1; !done; fail++) {
            counter c = {0};
            hf_context *ctx = counter_context(&c);
            problem p = problem_make(ctx, "matern52(ard)", 20, 2, 0.05);
            double cavity[40];
            const hf_projection choice = {
                .size = sizeof choice, .actions = (hf_actions)kind, .count = 4, .inducing = 3};
            hfi_solution s;
            hf_projection_report report;
            const long before = c.live;
            c.fail = c.calls + fail;
            hf_status status =
                hfi_projected_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &choice, &s, &report);
            if (status >= 0) status = hfi_projected_cavities(ctx, p.kernel, &s, cavity, cavity + 20);
            done = status >= 0;
            if (!done) assert_int_equal(status, HF_ERR_MEMORY);
            hfi_solution_free(&s);
            assert_int_equal(c.live, before);
            problem_free(&p);
            hf_context_free(ctx);
        }
    }
}

static void costs_grow_as_told(void **state)
{
    (void)state;
    double bytes, flops, more_bytes, more_flops;
    const hf_projection blocks = {.size = sizeof blocks, .actions = HF_ACTIONS_BLOCKS, .count = 512};
    hfi_projected_cost(1000000, 8, &blocks, &bytes, &flops);
    assert_true(bytes > 4.1e9 && bytes < 8.0 * 1024 * 1024 * 1024);
    hf_projection krylov = {
        .size = sizeof krylov, .actions = HF_ACTIONS_KRYLOV, .count = 64, .inducing = 256};
    hfi_projected_cost(20000, 8, &krylov, &bytes, &flops);
    krylov.count = 128;
    hfi_projected_cost(20000, 8, &krylov, &more_bytes, &more_flops);
    assert_true(more_bytes > bytes && more_flops > 1.5 * flops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_equal_the_book),
        cmocka_unit_test(dense_equals_the_book),
        cmocka_unit_test(dependent_actions_are_dropped),
        cmocka_unit_test(as_many_actions_as_readings_are_exact),
        cmocka_unit_test(variance_and_bound_are_never_optimistic),
        cmocka_unit_test(variance_falls_as_actions_are_added),
        cmocka_unit_test(leave_one_out_of_blocks_is_brute_force),
        cmocka_unit_test(leave_one_out_of_dense_actions_is_brute_force),
        cmocka_unit_test(leave_one_out_with_all_actions_is_exact),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(degenerate_tables_have_posteriors),
        cmocka_unit_test(single_precision_is_close_and_careful),
        cmocka_unit_test(refuses_what_makes_no_projection),
        cmocka_unit_test(out_of_memory_loses_nothing),
        cmocka_unit_test(costs_grow_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
