/* SPDX-License-Identifier: Apache-2.0 */
/* Actions that are given: any matrix against the book, those of the rules, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solver/projected_naive.h"

enum {
    N = 40,
    POINTS = 25
};

/* The fifth reading is missing, and the weights of the robust sites go over orders of magnitude. */
static problem gappy_problem(hf_context *ctx)
{
    problem p = problem_make(ctx, "matern52(ard) + 0.1*white", N, 2, 0.05);
    double *centre = naive_zeros(N);
    memcpy(centre, p.y, N * sizeof *centre);
    for (size_t i = 0; i < N; i += 9) p.y[i] += 50.0;
    p.y[4] = NAN;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, N, p.y, p.noise, p.extra, centre, 0.7, &p.sites), HF_OK);
    free(centre);
    return p;
}

/* Row-major, rows of missing readings included. */
static double *random_matrix(size_t count, uint64_t seed)
{
    double *a = naive_zeros(N * count);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 3);
    for (size_t k = 0; k < N * count; k++) a[k] = hfi_stream_normal(&stream);
    return a;
}

static hf_status solve(const problem *p, const hf_projection *choice, hfi_solution *s,
                       hf_projection_report *report)
{
    return hfi_projected_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, choice, s, report);
}

static hfi_solution solve_given(const problem *p, size_t count, const double *matrix, size_t expected)
{
    const hf_projection choice = {
        .size = sizeof choice, .actions = HF_ACTIONS_GIVEN, .count = count, .matrix = matrix};
    hfi_solution s;
    hf_projection_report report;
    assert_int_equal(solve(p, &choice, &s, &report), HF_OK);
    assert_int_equal(report.actions, expected);
    assert_int_equal(report.passes, 1);
    assert_true(report.jitter == 0.0);
    return s;
}

/* Mean (less the prior mean) and variance at places between the readings. */
static void assert_same_answers(const problem *p, const hfi_solution *first, const hfi_solution *second)
{
    double *x = problem_inputs(POINTS, p->d, 77);
    for (size_t q = 0; q < POINTS; q++) {
        const prediction a = predict(p->kernel, first, x + q * p->d);
        const prediction b = predict(p->kernel, second, x + q * p->d);
        assert_near(a.mean, b.mean, 1e-8);
        assert_near(a.variance, b.variance, 1e-8);
    }
    free(x);
}

static void any_matrix_equals_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t counts[] = {1, 3, 17, N - 1};
    for (size_t c = 0; c < 4; c++) {
        problem p = gappy_problem(ctx);
        double *matrix = random_matrix(counts[c], c), *x = problem_inputs(POINTS, p.d, 77);
        double *present = naive_zeros((N - 1) * counts[c]);
        for (size_t i = 0, at = 0; i < N; i++)
            if (i != 4)
                memcpy(present + at++ * counts[c], matrix + i * counts[c], counts[c] * sizeof(double));
        naive_projection naive = naive_projection_make(p.kernel, p.mean, p.sites, p.x, counts[c], present);
        hfi_solution s = solve_given(&p, counts[c], matrix, counts[c]);
        for (size_t q = 0; q < POINTS; q++) {
            const prediction got = predict(p.kernel, &s, x + q * p.d);
            const prediction want = naive_predict(&naive, x + q * p.d);
            assert_near(got.mean, want.mean, 1e-7);
            assert_near(got.variance, want.variance, 1e-7);
        }
        assert_near(hfi_solution_log_evidence(&s), naive_projection_bound(&naive), 1e-6);
        hfi_solution_free(&s);
        naive_projection_free(&naive);
        free(matrix);
        free(present);
        free(x);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* The identity, and an action more than the readings that are present. */
static void the_identity_is_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = gappy_problem(ctx);
    double *matrix = naive_zeros((size_t)N * N), *x = problem_inputs(POINTS, p.d, 77);
    for (size_t i = 0; i < N; i++) matrix[i * N + i] = i % 2 ? 1e6 : -1e-6;
    hfi_solution exact, s = solve_given(&p, N, matrix, N - 1);
    assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, p.d, p.x, p.d, &exact), HF_OK);
    assert_same_answers(&p, &s, &exact);
    hfi_solution_free(&s);
    /* Fewer: never surer. */
    for (size_t i = 0; i < (size_t)N * 6; i++) matrix[i] = cos(0.1 * (double)(i % 6 + 1) * (double)(i / 6));
    s = solve_given(&p, 6, matrix, 6);
    for (size_t q = 0; q < POINTS; q++)
        assert_true(predict(p.kernel, &s, x + q * p.d).variance >=
                    predict(p.kernel, &exact, x + q * p.d).variance - 1e-12);
    hfi_solution_free(&s);
    hfi_solution_free(&exact);
    free(matrix);
    free(x);
    problem_free(&p);
    hf_context_free(ctx);
}

/* D^-1 (z - m), D^-1 K D^-1 (z - m), ... span what Krylov actions do. */
static void krylov_vectors_are_krylov_actions(void **state)
{
    (void)state;
    enum {
        STEPS = 4
    };
    hf_context *ctx = problem_context(1);
    problem p = gappy_problem(ctx);
    double *any = problem_inputs(N, 1, 83), *v = naive_zeros((size_t)N * STEPS);
    naive_projection gp = naive_projection_make(p.kernel, p.mean, p.sites, p.x, 1, any);
    double *matrix = naive_zeros((size_t)N * STEPS);
    for (size_t i = 0; i < gp.n; i++) v[i * STEPS] = gp.residual[i] / gp.noise[i];
    for (size_t k = 1; k < STEPS; k++)
        for (size_t i = 0; i < gp.n; i++)
            for (size_t j = 0; j < gp.n; j++)
                v[i * STEPS + k] += gp.k[i * gp.n + j] * v[j * STEPS + k - 1] / gp.noise[i];
    for (size_t i = 0, at = 0; i < N; i++)
        for (size_t k = 0; k < STEPS; k++) matrix[i * STEPS + k] = i == 4 ? NAN : v[at++];
    hfi_solution krylov, given = solve_given(&p, STEPS, matrix, STEPS);
    hf_projection_report report;
    assert_int_equal(
        solve(&p, &(hf_projection){.size = sizeof(hf_projection), .count = STEPS}, &krylov, &report), HF_OK);
    assert_same_answers(&p, &given, &krylov);
    hfi_solution_free(&given);
    hfi_solution_free(&krylov);
    naive_projection_free(&gp);
    free(any);
    free(v);
    free(matrix);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Entries of blocks as a matrix, each column in another unit. */
static void targets_by_blocks_are_block_actions(void **state)
{
    (void)state;
    enum {
        BLOCKS = 6
    };
    hf_context *ctx = problem_context(1);
    problem p = gappy_problem(ctx);
    double *any = problem_inputs(N, 1, 83), matrix[N * BLOCKS] = {0.0};
    naive_projection gp = naive_projection_make(p.kernel, p.mean, p.sites, p.x, 1, any);
    const size_t small = gp.n / BLOCKS, longer = gp.n % BLOCKS;
    for (size_t i = 0, at = 0; i < N; i++) {
        if (i == 4) continue;
        const size_t edge = longer * (small + 1);
        const size_t b = at < edge ? at / (small + 1) : longer + (at - edge) / small;
        matrix[i * BLOCKS + b] = gp.residual[at++] * pow(10.0, 3.0 * (double)b - 7.0);
    }
    const hf_projection blocks = {.size = sizeof blocks,
                                  .actions = HF_ACTIONS_BLOCKS,
                                  .count = BLOCKS,
                                  .start = HF_ACTION_START_TARGETS};
    hfi_solution s, given = solve_given(&p, BLOCKS, matrix, BLOCKS);
    hf_projection_report report;
    assert_int_equal(solve(&p, &blocks, &s, &report), HF_OK);
    assert_same_answers(&p, &given, &s);
    hfi_solution_free(&given);
    hfi_solution_free(&s);
    naive_projection_free(&gp);
    free(any);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Columns that are new over all rows may say nothing where readings are present. */
static void what_a_missing_reading_leaves_is_dropped(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = gappy_problem(ctx);
    double matrix[N * 2] = {0.0}, ones[N];
    for (size_t i = 0; i < N; i++) matrix[2 * i] = ones[i] = 1.0;
    matrix[2 * 4 + 1] = 1.0;
    assert_int_equal(hfi_given_actions_check(ctx, N, 2, matrix), HF_OK);
    hfi_solution s = solve_given(&p, 2, matrix, 1), one = solve_given(&p, 1, ones, 1);
    assert_same_answers(&p, &s, &one);
    hfi_solution_free(&s);
    hfi_solution_free(&one);
    /* Nothing is left: the answer is still a posterior. */
    for (size_t i = 0; i < N; i++) ones[i] = i == 4 ? 1.0 : 0.0;
    s = solve_given(&p, 1, ones, 1);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void assert_refused(hf_context *ctx, hf_status status, size_t n, size_t count, const double *matrix,
                           const char *part)
{
    assert_int_equal(hfi_given_actions_check(ctx, n, count, matrix), status);
    assert_non_null(strstr(hf_context_message(ctx), part));
}

static void wrong_matrices_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *a = random_matrix(5, 9), *late = random_matrix(N - 1, 10);
    assert_int_equal(hfi_given_actions_check(ctx, N, 5, a), HF_OK);
    for (size_t i = 0; i < N; i++) a[i * 5 + 4] *= 1e-150; /* small, but new */
    assert_int_equal(hfi_given_actions_check(ctx, N, 5, a), HF_OK);
    assert_refused(ctx, HF_ERR_ARGUMENT, N, 0, a, "0 columns");
    assert_refused(ctx, HF_ERR_ARGUMENT, 4, 5, a, "5 columns for 4 readings");
    for (size_t i = 0; i < N; i++) a[i * 5 + 3] = 3.0 * a[i * 5] - 2e-7 * a[i * 5 + 1];
    assert_refused(ctx, HF_ERR_ARGUMENT, N, 5, a, "column 4 of 5");
    for (size_t i = 0; i < N; i++) a[i * 5 + 1] = 0.0;
    assert_refused(ctx, HF_ERR_ARGUMENT, N, 5, a, "column 2 of 5");
    a[7 * 5 + 2] = NAN;
    assert_refused(ctx, HF_ERR_NOT_FINITE, N, 5, a, "row 8, column 3");
    a[7 * 5 + 2] = -INFINITY;
    assert_refused(ctx, HF_ERR_NOT_FINITE, N, 5, a, "-inf");
    /* Beyond the first panel of the basis. */
    for (size_t i = 0; i < N; i++) late[i * (N - 1) + 37] = late[i * (N - 1) + 2] + late[i * (N - 1) + 36];
    assert_refused(ctx, HF_ERR_ARGUMENT, N, N - 1, late, "column 38 of 39");
    free(a);
    free(late);
    problem p = gappy_problem(ctx);
    const double ones[N] = {1.0};
    const hf_projection bad[] = {
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_GIVEN, .count = 1},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_GIVEN, .matrix = ones},
        {.size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 1, .matrix = ones}};
    for (size_t k = 0; k < 3; k++) {
        hfi_solution s;
        hf_projection_report report;
        assert_int_equal(solve(&p, bad + k, &s, &report), HF_ERR_ARGUMENT);
    }
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_matrix_equals_the_book),
        cmocka_unit_test(the_identity_is_exact),
        cmocka_unit_test(krylov_vectors_are_krylov_actions),
        cmocka_unit_test(targets_by_blocks_are_block_actions),
        cmocka_unit_test(what_a_missing_reading_leaves_is_dropped),
        cmocka_unit_test(wrong_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
