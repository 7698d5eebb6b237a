/* SPDX-License-Identifier: Apache-2.0 */
/* Determinantal point processes against enumeration: every set's determinant, and the chain's whole
 * transition matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/enumeration.h"

#include "solver/choose.h"
#include <holdfast/dpp.h>

static hf_kernel *parse(hf_context *ctx, const char *expression, size_t d)
{
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, &kernel), HF_OK);
    return kernel;
}

/* ---- the greedy choice ------------------------------------------------------------------------------------- */

/* Each time the row that makes the determinant largest. @return how many. */
static size_t greedy_reference(const hf_kernel *kernel, size_t n, size_t d, const double *x,
                               const double *quality, size_t m, double enough, size_t *rows)
{
    double before = 1.0;
    size_t count = 0;
    while (count < m) {
        double best = -1.0;
        size_t winner = 0;
        for (size_t i = 0; i < n; i++) {
            rows[count] = i;
            double value = determinant(kernel, d, x, count + 1, rows);
            for (size_t k = 0; quality != NULL && k <= count; k++)
                value *= quality[rows[k]] * quality[rows[k]];
            if (value > best * (1.0 + 1e-9)) {
                best = value;
                winner = i;
            }
        }
        if (count > 0 && best / before <= enough) break;
        rows[count++] = winner;
        before = best;
    }
    return count;
}

static void greedy_takes_the_largest_determinant(void **state)
{
    (void)state;
    enum {
        N = 25,
        D = 2,
        M = 10
    };
    static const char *const kernels[] = {"matern52(ard)", "2.3*se(lengthscale=0.6) + 0.4*linear + white",
                                          "se(lengthscale=3)"};
    hf_context *ctx = problem_context(2);
    double *x = problem_inputs(N, D, 3);
    for (size_t k = 0; k < 3; k++) {
        hf_kernel *kernel = parse(ctx, kernels[k], D);
        for (double enough = 1e-6; enough < 4.0; enough *= 30.0) {
            size_t rows[M + 1], expected[M + 1], chosen = 0;
            double log_det = 0.0;
            assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, NULL, M, enough, rows, &chosen, &log_det),
                             HF_OK);
            assert_int_equal(chosen, greedy_reference(kernel, N, D, x, NULL, M, enough, expected));
            for (size_t i = 0; i < chosen; i++) assert_int_equal(rows[i], expected[i]);
            assert_near(log_det, log(determinant(kernel, D, x, chosen, rows)), 1e-7);
            assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, NULL, M, enough, rows, &chosen, NULL),
                             HF_OK);
        }
        hf_kernel_free(kernel);
    }
    free(x);
    hf_context_free(ctx);
}

/* The determinant of q_i K_ij q_j, whatever the units of q; where q is 0 nothing is chosen. */
static void greedy_weighs_with_quality(void **state)
{
    (void)state;
    enum {
        N = 40,
        D = 2,
        M = 12
    };
    hf_context *ctx = problem_context(2);
    hf_kernel *kernel = parse(ctx, "1.7*matern52(ard) + white", D);
    double *x = problem_inputs(N, D, 5), quality[N];
    const double units[] = {1.0, 1e-200, 1e200};
    for (size_t k = 0; k < 3; k++) {
        size_t rows[M], expected[M], plain[M], chosen = 0, same = 0;
        double log_det = 0.0;
        for (size_t i = 0; i < N; i++) quality[i] = i % 7 == 3 ? 0.0 : exp(3.0 * sin(1.3 * (double)i));
        assert_int_equal(greedy_reference(kernel, N, D, x, quality, M, 0.0, expected), M);
        for (size_t i = 0; i < N; i++) quality[i] *= units[k];
        assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, quality, M, 0.0, rows, &chosen, &log_det),
                         HF_OK);
        assert_int_equal(chosen, M);
        assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, NULL, M, 0.0, plain, &chosen, NULL), HF_OK);
        double squares = 0.0;
        for (size_t i = 0; i < M; i++) {
            assert_int_equal(rows[i], expected[i]);
            squares += 2.0 * log(quality[rows[i]]);
            same += rows[i] == plain[i];
        }
        assert_true(same < M);
        assert_near(log_det, log(determinant(kernel, D, x, M, rows)) + squares, 1e-9 * fabs(squares) + 1e-9);
        /* Three rows have any quality: no more are chosen. */
        for (size_t i = 0; i < N; i++) quality[i] = i == 5 || i == 11 || i == 17 ? units[k] : 0.0;
        assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, quality, M, 0.0, rows, &chosen, NULL), HF_OK);
        assert_int_equal(chosen, 3);
    }
    free(x);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void greedy_at_its_edges(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "4*se", 1), *none = parse(ctx, "white", 1);
    const double x[] = {0.0, 5.0, 0.0, 5.0, -0.0, 1e-7};
    size_t rows[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7}, chosen = 0;
    double log_det = 0.0;
    /* The lowest of equals is taken, and none that a chosen one nearly equals; more than there are may be asked for. */
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 6, x, 1, NULL, 9, 0.0, rows, &chosen, &log_det), HF_OK);
    assert_true(chosen == 2 && rows[0] == 0 && rows[1] == 1 && rows[2] == 7);
    assert_near(log_det, log(16.0 - 16.0 * exp(-25.0)), 1e-12);
    /* A row whatever it is worth, even nothing. */
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 6, x, 1, NULL, 9, 5.0, rows, &chosen, &log_det), HF_OK);
    assert_true(chosen == 1 && rows[0] == 0);
    assert_near(log_det, log(4.0), 1e-15);
    assert_int_equal(hf_dpp_greedy(ctx, none, 6, x, 1, NULL, 9, 0.0, rows, &chosen, &log_det), HF_OK);
    assert_true(chosen == 1 && rows[0] == 0 && isinf(log_det) && log_det < 0.0);
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 6, x, 1, NULL, 9, INFINITY, rows, &chosen, &log_det), HF_OK);
    assert_int_equal(chosen, 1);
    hf_kernel_free(kernel);
    hf_kernel_free(none);
    hf_context_free(ctx);
}

/* ---- all sets of a size -------------------------------------------------------------------------------------- */

/* How often each set comes out of so many independent chains. */
static void count_sets(hf_context *ctx, const hf_kernel *kernel, const double *x, const enumeration *e,
                       size_t steps, size_t runs, size_t *counts)
{
    memset(counts, 0, MOST_SETS * sizeof *counts);
    for (size_t run = 0; run < runs; run++) {
        size_t rows[MOST];
        assert_int_equal(hf_dpp_sample(ctx, kernel, e->n, x, 1, e->m, steps, run, rows, NULL), HF_OK);
        for (size_t i = 1; i < e->m; i++) assert_true(rows[i] > rows[i - 1]);
        counts[set_of(e, rows)]++;
    }
}

typedef struct process {
    const char *kernel;
    size_t n, m;
    double x[MOST];
} process;

static const process PROCESSES[] = {
    {"se(lengthscale=1.1)", 7, 3, {-1.0, -0.7, 0.1, 0.4, 0.5, 1.6, 2.2}},
    {"se(lengthscale=0.9)",
     7,
     3,
     {-1.0, -0.97, 0.1, 0.13, 0.13, 1.6, 1.7}}, /* near duplicates, and two that are equal */
    {"matern12(lengthscale=0.5) + 0.7*linear", 7, 4, {-2.0, -0.7, 0.1, 0.4, 0.9, 1.6, 2.5}},
    {"0.1 + linear", 9, 1, {0.0, 0.3, 0.6, 1.0, 1.1, 1.5, -1.0, -2.0, 3.0}},
    {"matern32", 2, 1, {0.0, 40.0}},
};
enum {
    PROCESS_COUNT = sizeof PROCESSES / sizeof *PROCESSES
};

/* The whole chain, not its limit alone: after a few steps from the greedy set the sets have the probabilities that the
 * transition matrix says. That has the lazy half, uniform proposals and the ratios of determinants in it. */
static void every_step_is_the_chains(void **state)
{
    (void)state;
    enum {
        RUNS = 2000
    };
    hf_context *ctx = problem_context(1);
    for (size_t p = 0; p < PROCESS_COUNT; p++) {
        hf_kernel *kernel = parse(ctx, PROCESSES[p].kernel, 1);
        const double *x = PROCESSES[p].x;
        const enumeration e = enumerate(kernel, PROCESSES[p].n, x, PROCESSES[p].m);
        size_t start[MOST], chosen = 0, counts[MOST_SETS];
        assert_int_equal(hf_dpp_greedy(ctx, kernel, e.n, x, 1, NULL, e.m, 0.0, start, &chosen, NULL), HF_OK);
        assert_int_equal(chosen, e.m);
        double probability[MOST_SETS] = {0.0};
        probability[set_of(&e, start)] = 1.0;
        for (size_t steps = 1; steps <= 7; steps++) {
            step(&e, probability);
            if (steps != 1 && steps != 3 && steps != 7) continue;
            count_sets(ctx, kernel, x, &e, steps, RUNS, counts);
            assert_true(surprise(&e, probability, counts, RUNS) < 4.0);
        }
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

/* Chains of the length that the rule gives end in sets as probable as their determinants; and so they should:
 * the transition matrix's power is as near to that as the rule promises. */
static void sets_are_as_probable_as_their_determinants(void **state)
{
    (void)state;
    enum {
        RUNS = 2000
    };
    hf_context *ctx = problem_context(1);
    for (size_t p = 0; p < PROCESS_COUNT; p++) {
        hf_kernel *kernel = parse(ctx, PROCESSES[p].kernel, 1);
        const double *x = PROCESSES[p].x;
        const enumeration e = enumerate(kernel, PROCESSES[p].n, x, PROCESSES[p].m);
        size_t start[MOST], chosen = 0, counts[MOST_SETS];
        assert_int_equal(hf_dpp_greedy(ctx, kernel, e.n, x, 1, NULL, e.m, 0.0, start, &chosen, NULL), HF_OK);
        double probability[MOST_SETS] = {0.0}, far = 0.0;
        probability[set_of(&e, start)] = 1.0;
        for (size_t s = hf_dpp_mixing_steps(e.n, e.m, 0.01); s > 0; s--) step(&e, probability);
        for (size_t s = 0; s < e.sets; s++) far += 0.5 * fabs(probability[s] - e.probability[s]);
        assert_true(far < 0.01);
        count_sets(ctx, kernel, x, &e, 0, RUNS, counts);
        assert_true(surprise(&e, e.probability, counts, RUNS) < 4.0);
        if (e.sets > 10) { /* and the count would notice another process */
            double even[MOST_SETS], inverse[MOST_SETS], total = 0.0;
            for (size_t s = 0; s < e.sets; s++) total += inverse[s] = 1.0 / fmax(e.probability[s], 1e-3);
            for (size_t s = 0; s < e.sets; s++) {
                even[s] = 1.0 / (double)e.sets;
                inverse[s] /= total;
            }
            assert_true(surprise(&e, even, counts, RUNS) > 20.0);
            assert_true(surprise(&e, inverse, counts, RUNS) > 20.0);
        }
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

/* ---- long chains --------------------------------------------------------------------------------------------- */

/* One stream, stopped after ever more steps, is one chain: log det, which comes from a factor that thousands
 * of swaps have changed, is that of the rows that are there. */
static void determinants_stay_exact(void **state)
{
    (void)state;
    enum {
        N = 60,
        D = 2,
        M = 12,
        STEPS = 12000,
        STOP = 1500
    };
    static const char *const kernels[] = {"matern52(lengthscale=0.5)",
                                          "1e-6*se(lengthscale=0.8) + 1e-7*linear"};
    hf_context *ctx = problem_context(1);
    double *x = problem_inputs(N, D, 14), *trace = naive_zeros(STEPS);
    for (size_t k = 0; k < 2; k++) {
        hf_kernel *kernel = parse(ctx, kernels[k], D);
        size_t start[M], rows[M], chosen = 0;
        double log_det = 0.0;
        assert_int_equal(hf_dpp_greedy(ctx, kernel, N, x, D, NULL, M, 0.0, start, &chosen, &log_det), HF_OK);
        hf_dpp_report report;
        for (size_t steps = STEPS; steps > 0; steps -= STOP) {
            hfi_stream stream;
            hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
            hfi_swap_log did = {.trace = steps == STEPS ? trace : NULL};
            memcpy(rows, start, sizeof rows);
            assert_int_equal(hfi_choose_mdpp(ctx, kernel, N, x, D, M, rows, steps, &stream, &did), HF_OK);
            assert_true(did.accepted > steps / 100 && did.accepted < did.proposals);
            const double scale = hfi_kernel_value(kernel, x, x, false);
            double fresh[M * M], expected;
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < M; j++)
                    fresh[i * M + j] =
                        hfi_kernel_value(kernel, x + rows[i] * D, x + rows[j] * D, false) / scale;
            free(naive_inverse(M, fresh, &expected));
            expected += M * log(scale);
            assert_near(did.log_det, expected, 1e-6);
            assert_near(trace[steps - 1], expected, 1e-6);
            assert_int_equal(hf_dpp_sample(ctx, kernel, N, x, D, M, steps, steps, rows, &report), HF_OK);
            assert_true(report.log_det_start == log_det && report.steps == steps && report.chosen == M);
        }
        hf_kernel_free(kernel);
    }
    free(x);
    free(trace);
    hf_context_free(ctx);
}

/* Five places, each there several times, some of them nearly: never two rows of one place, and no more rows
 * than places. */
static void singular_sets_never_come(void **state)
{
    (void)state;
    enum {
        PLACES = 5,
        N = 30,
        RUNS = 200
    };
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "matern32(lengthscale=2)", 1);
    double x[N];
    size_t seen[N] = {0};
    for (size_t i = 0; i < N; i++) x[i] = (double)(i % PLACES) + (i < 15 ? 0.0 : 1e-13);
    for (size_t run = 0; run < RUNS; run++)
        for (size_t m = 3; m <= 8; m += 5) {
            size_t rows[8], places = 0;
            hf_dpp_report report;
            assert_int_equal(hf_dpp_sample(ctx, kernel, N, x, 1, m, 100, run, rows, &report), HF_OK);
            assert_int_equal(report.chosen, m < PLACES ? m : PLACES);
            for (size_t i = 0; i < report.chosen; i++) {
                assert_true(i == 0 || rows[i] > rows[i - 1]);
                places |= (size_t)1 << rows[i] % PLACES;
                seen[rows[i]]++;
            }
            assert_int_equal(ones(places), report.chosen);
        }
    for (size_t i = 0; i < N; i++) assert_true(seen[i] > 0);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* Three rows of which every two are nearly one; the two that are nearest count as one, though their
 * determinant is not so much smaller. */
static void nearly_singular_sets_are_singular(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se(lengthscale=1)", 1);
    const double x[] = {0.0, 8e-6, 5e-5}; /* given the first, variances of 0.64e-10 and 25e-10 */
    size_t rows[2], other = 0;
    for (size_t run = 0; run < 1000; run++) {
        assert_int_equal(hf_dpp_sample(ctx, kernel, 3, x, 1, 2, 60, run, rows, NULL), HF_OK);
        assert_int_equal(rows[1], 2);
        other += rows[0] == 1;
    }
    assert_true(other > 330 && other < 510); /* 1764 / (1764 + 2500) of them */
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void all_or_one_of_the_rows(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se", 2), *none = parse(ctx, "white", 2);
    double *x = problem_inputs(5, 2, 1);
    size_t rows[9];
    hf_dpp_report report;
    for (size_t m = 5; m < 9; m++) {
        assert_int_equal(hf_dpp_sample(ctx, kernel, 5, x, 2, m, 50, 1, rows, &report), HF_OK);
        assert_true(report.chosen == 5 && report.steps == 0 && report.proposals == 0 && report.accepted == 0);
        for (size_t i = 0; i < 5; i++) assert_int_equal(rows[i], i);
        assert_near(report.log_det, log(determinant(kernel, 2, x, 5, rows)), 1e-9);
        assert_true(report.log_det == report.log_det_start && report.log_det == report.log_det_mean);
        assert_true(report.log_det_sd == 0.0 && isnan(report.acceptance) && isnan(report.drift));
        assert_true(isnan(report.correlation) && isnan(report.independent));
    }
    assert_int_equal(hf_dpp_sample(ctx, kernel, 1, x, 2, 1, 0, 1, rows, &report), HF_OK);
    assert_true(report.chosen == 1 && rows[0] == 0 && report.steps == 0);
    /* No set of no variance is more probable than another: the greedy row. */
    assert_int_equal(hf_dpp_sample(ctx, none, 5, x, 2, 3, 0, 1, rows, &report), HF_OK);
    assert_true(report.chosen == 1 && rows[0] == 0 && report.steps == 0 && isinf(report.log_det));
    /* One step, of which the first half is empty. */
    assert_int_equal(hf_dpp_sample(ctx, kernel, 5, x, 2, 3, 1, 1, rows, &report), HF_OK);
    assert_true(report.steps == 1 && report.log_det_mean == report.log_det && report.log_det_sd == 0.0);
    assert_true(isnan(report.drift) && isnan(report.correlation));
    free(x);
    hf_kernel_free(kernel);
    hf_kernel_free(none);
    hf_context_free(ctx);
}

static void steps_by_the_rule(void **state)
{
    (void)state;
    const double t = 0.05;
    assert_int_equal(hf_dpp_mixing_steps(1000, 20, t),
                     (size_t)ceil(1000.0 * 20.0 * (log(log(1000.0)) + log(20.0) + log(1.0 / (t * t)))));
    assert_int_equal(hf_dpp_mixing_steps(7, 7, t), 0);
    assert_int_equal(hf_dpp_mixing_steps(0, 1, t), 0);
    assert_int_equal(hf_dpp_mixing_steps(7, 0, t), 0);
    assert_int_equal(hf_dpp_mixing_steps(2, 1, 1.0), 1); /* nothing is asked for */
    assert_int_equal(hf_dpp_mixing_steps(2, 1, INFINITY), 1);
    assert_true(hf_dpp_mixing_steps(100, 5, 1e-6) > hf_dpp_mixing_steps(100, 5, 1e-3));
    assert_true(hf_dpp_mixing_steps(100, 5, 0.0) == SIZE_MAX &&
                hf_dpp_mixing_steps(100, 5, -0.1) == SIZE_MAX);
    assert_true(hf_dpp_mixing_steps(100, 5, NAN) == SIZE_MAX);
    assert_true(hf_dpp_mixing_steps(SIZE_MAX, SIZE_MAX - 1, t) == SIZE_MAX);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    enum {
        N = 3000,
        M = 15
    };
    double *x = problem_inputs(N, 2, 12);
    size_t first[M], again[M];
    hf_dpp_report reports[2];
    for (int run = 0; run < 4; run++) { /* other threads, another seed, another stream */
        hf_context *ctx = problem_context(run == 1 ? 3 : 1);
        hf_context_set_seed(ctx, run == 2 ? 77 : 5);
        hf_kernel *kernel = parse(ctx, "matern52(ard)", 2);
        assert_int_equal(hf_dpp_sample(ctx, kernel, N, x, 2, M, 300, run == 3 ? 9 : 8,
                                       run == 0 ? first : again, &reports[run > 0]),
                         HF_OK);
        assert_true(reports[run > 0].log_det_start == reports[0].log_det_start);
        if (run > 0) assert_int_equal(memcmp(first, again, sizeof first) == 0, run == 1);
        if (run == 1) assert_memory_equal(&reports[0], &reports[1], sizeof reports[0]);
        hf_kernel_free(kernel);
        hf_context_free(ctx);
    }
    free(x);
}

/* Rows far apart: nearly every swap is made. Many rows within few lengthscales: few are, and the report says
 * that there are few sets to be had. */
static void sticky_chains_are_told_from_free_ones(void **state)
{
    (void)state;
    enum {
        N = 80,
        M = 8,
        STEPS = 20000
    };
    hf_context *ctx = problem_context(1);
    double x[N];
    for (size_t i = 0; i < N; i++) x[i] = (double)i / N;
    hf_kernel *rough = parse(ctx, "matern12(lengthscale=0.01)", 1),
              *smooth = parse(ctx, "se(lengthscale=0.2)", 1);
    hf_dpp_report sticky, loose;
    size_t rows[M];
    assert_int_equal(hf_dpp_sample(ctx, rough, N, x, 1, M, STEPS, 1, rows, &loose), HF_OK);
    assert_int_equal(hf_dpp_sample(ctx, smooth, N, x, 1, M, STEPS, 1, rows, &sticky), HF_OK);
    const hf_dpp_report *both[] = {&sticky, &loose};
    for (size_t k = 0; k < 2; k++) {
        assert_near((double)both[k]->proposals, 0.5 * STEPS, 4.0 * sqrt(0.25 * STEPS));
        assert_near(both[k]->acceptance, (double)both[k]->accepted / (double)both[k]->proposals, 1e-15);
        assert_near(both[k]->independent, 0.5 * STEPS / both[k]->correlation, 1e-9 * STEPS);
        assert_true(both[k]->drift < 3.0 && both[k]->log_det_sd > 0.0);
        assert_near(both[k]->log_det, both[k]->log_det_mean, 6.0 * both[k]->log_det_sd);
        assert_true(both[k]->log_det_start > both[k]->log_det_mean); /* greedy is better than usual */
    }
    assert_true(loose.acceptance > 0.8 && sticky.acceptance < 0.4);
    assert_true(sticky.correlation > 4.0 * loose.correlation && loose.correlation > 1.0);
    hf_kernel_free(rough);
    hf_kernel_free(smooth);
    hf_context_free(ctx);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

/* Says no when asked for the `user`-th time. */
static bool stop_later(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    size_t *left = user;
    assert_string_equal(stage, "choose");
    return --*left > 0;
}

static void refuses_and_leaves_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se", 2), *steep = parse(ctx, "linear", 2);
    double *x = problem_inputs(30, 2, 9), log_det = 7.0;
    size_t rows[5] = {7, 7, 7, 7, 7}, chosen = 7;
    hf_dpp_report report = {.chosen = 7};
#define BOTH(expected, kernel, n, x, ldx, m)                                                                 \
    do {                                                                                                     \
        assert_int_equal(hf_dpp_greedy(ctx, kernel, n, x, ldx, NULL, m, 0.0, rows, &chosen, &log_det),       \
                         expected);                                                                          \
        assert_int_equal(hf_dpp_sample(ctx, kernel, n, x, ldx, m, 9, 0, rows, &report), expected);           \
    } while (0)
    BOTH(HF_ERR_ARGUMENT, NULL, 30, x, 2, 5);
    BOTH(HF_ERR_ARGUMENT, kernel, 30, NULL, 2, 5);
    BOTH(HF_ERR_ARGUMENT, kernel, 30, x, 2, 0);
    BOTH(HF_ERR_ARGUMENT, kernel, 0, x, 2, 5);
    BOTH(HF_ERR_DIMENSION, kernel, 30, x, 1, 5);
    double kept = x[41];
    x[41] = NAN;
    BOTH(HF_ERR_NOT_FINITE, kernel, 30, x, 2, 5);
    assert_non_null(strstr(hf_context_message(ctx), "row 20"));
    x[41] = 1e200; /* whose square is not */
    BOTH(HF_ERR_NOT_FINITE, steep, 30, x, 2, 5);
    assert_non_null(strstr(hf_context_message(ctx), "row 20"));
    x[41] = kept;
#undef BOTH
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 30, x, 2, NULL, 5, -1.0, rows, &chosen, &log_det),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 30, x, 2, NULL, 5, NAN, rows, &chosen, &log_det),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 30, x, 2, NULL, 5, 0.0, NULL, &chosen, &log_det),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_dpp_greedy(ctx, kernel, 30, x, 2, NULL, 5, 0.0, rows, NULL, &log_det),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_dpp_sample(ctx, kernel, 30, x, 2, 5, 9, 0, NULL, &report), HF_ERR_ARGUMENT);
    for (size_t asked = 1; asked <= 6; asked += 2) { /* on the way to the greedy set, and in the chain */
        size_t left = asked;
        hf_context_set_progress(ctx, stop_later, &left);
        assert_int_equal(hf_dpp_sample(ctx, kernel, 30, x, 2, 5, 500, 0, rows, &report), HF_ERR_CANCELLED);
        left = 1;
        assert_int_equal(hf_dpp_greedy(ctx, kernel, 30, x, 2, NULL, 5, 0.0, rows, &chosen, &log_det),
                         HF_ERR_CANCELLED);
        hf_context_set_progress(ctx, NULL, NULL);
    }
    for (size_t i = 0; i < 5; i++) assert_int_equal(rows[i], 7);
    assert_true(chosen == 7 && log_det == 7.0 && report.chosen == 7);
    free(x);
    hf_kernel_free(kernel);
    hf_kernel_free(steep);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_takes_the_largest_determinant),
        cmocka_unit_test(greedy_weighs_with_quality),
        cmocka_unit_test(greedy_at_its_edges),
        cmocka_unit_test(every_step_is_the_chains),
        cmocka_unit_test(sets_are_as_probable_as_their_determinants),
        cmocka_unit_test(determinants_stay_exact),
        cmocka_unit_test(singular_sets_never_come),
        cmocka_unit_test(nearly_singular_sets_are_singular),
        cmocka_unit_test(all_or_one_of_the_rows),
        cmocka_unit_test(steps_by_the_rule),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(sticky_chains_are_told_from_free_ones),
        cmocka_unit_test(refuses_and_leaves_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
