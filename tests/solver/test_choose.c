/* SPDX-License-Identifier: Apache-2.0 */
/* Inducing inputs against plain references: pivoted Cholesky on the full matrix, k-means by its cost, and the point
 * process by its probabilities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/naive.h"

#include "solver/choose.h"

static hf_kernel *parse(hf_context *ctx, const char *expression, size_t d)
{
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, &kernel), HF_OK);
    return kernel;
}

/* Gaussian elimination on the whole covariance, the largest diagonal first. @return how many rows. */
static size_t greedy_reference(const hf_kernel *kernel, size_t n, size_t d, const double *x, size_t m,
                               size_t *rows)
{
    double *k = naive_zeros(n * n), most = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) k[i * n + j] = hfi_kernel_value(kernel, x + i * d, x + j * d, false);
    for (size_t i = 0; i < n; i++) most = fmax(most, k[i * n + i]);
    size_t count = 0;
    while (count < m) {
        size_t p = 0;
        for (size_t i = 1; i < n; i++)
            if (k[i * n + i] > k[p * n + p]) p = i;
        if (k[p * n + p] < 1e-10 * most) break;
        rows[count++] = p;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (i != p && j != p) k[i * n + j] -= k[i * n + p] * k[p * n + j] / k[p * n + p];
        for (size_t i = 0; i < n; i++) k[i * n + p] = k[p * n + i] = 0.0;
    }
    free(k);
    return count;
}

static void greedy_is_pivoted_elimination(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "se(lengthscale=0.4) + linear + white",
                                          "1.7*matern32(x1) + 0.3*periodic(x2, period=3)"};
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        enum {
            N = 150,
            D = 2,
            M = 40
        };
        hf_kernel *kernel = parse(ctx, kernels[k], D);
        double *x = problem_inputs(N, D, 3 + k);
        size_t rows[M], expected[M], chosen = 0;
        assert_int_equal(hfi_choose_greedy(ctx, kernel, N, x, D, NULL, M, 0.0, rows, &chosen, NULL), HF_OK);
        assert_int_equal(chosen, greedy_reference(kernel, N, D, x, M, expected));
        for (size_t i = 0; i < chosen; i++) assert_int_equal(rows[i], expected[i]);
        free(x);
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

/* More rows than one chunk: every chosen row is the one of largest variance given those before. */
static void greedy_takes_the_largest_in_many_chunks(void **state)
{
    (void)state;
    enum {
        N = 5000,
        D = 3,
        M = 12
    };
    hf_context *ctx = problem_context(3);
    hf_kernel *kernel = parse(ctx, "matern32(ard)", D);
    double *x = problem_inputs(N, D, 8);
    size_t rows[M], chosen = 0, expected[M];
    assert_int_equal(hfi_choose_greedy(ctx, kernel, N, x, D, NULL, M, 0.0, rows, &chosen, NULL), HF_OK);
    assert_int_equal(chosen, M);
    /* The reference on a subset that holds all chosen rows would choose the same. */
    double part[(M + 300) * D];
    size_t at[M + 300], count = 0;
    for (size_t i = 0; i < N; i++) {
        bool wanted = i < 300;
        for (size_t k = 0; k < M; k++) wanted = wanted || rows[k] == i;
        if (!wanted) continue;
        memcpy(part + count * D, x + i * D, D * sizeof *part);
        at[count++] = i;
    }
    assert_int_equal(greedy_reference(kernel, count, D, part, M, expected), M);
    for (size_t k = 0; k < M; k++) assert_int_equal(at[expected[k]], rows[k]);
    free(x);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* A linear kernel in two inputs without offset has rank two: no third row. */
static void greedy_ends_where_nothing_is_left(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "linear", 2);
    double *x = problem_inputs(30, 2, 4);
    size_t rows[10], chosen = 0, expected[10];
    assert_int_equal(hfi_choose_greedy(ctx, kernel, 30, x, 2, NULL, 10, 0.0, rows, &chosen, NULL), HF_OK);
    assert_int_equal(chosen, greedy_reference(kernel, 30, 2, x, 10, expected));
    assert_true(chosen <= 3);
    free(x);
    hf_kernel_free(kernel);
    kernel = parse(ctx, "white", 2); /* no latent variance at all: still a place */
    double one[2] = {0.5, 1.5}, z[6];
    assert_int_equal(hf_choose_inducing(ctx, kernel, HF_INDUCING_GREEDY, 1, one, 2, 3, z, &chosen), HF_OK);
    assert_int_equal(chosen, 1);
    assert_true(z[0] == 0.5 && z[1] == 1.5);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static double kmeans_cost(size_t n, size_t d, const double *x, size_t m, const double *z)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double best = INFINITY;
        for (size_t k = 0; k < m; k++) {
            double square = 0.0;
            for (size_t j = 0; j < d; j++) square += pow(x[i * d + j] - z[k * d + j], 2.0);
            best = fmin(best, square);
        }
        sum += best;
    }
    return sum;
}

/* Inputs that mirror each other leave equal variances but for rounding; inputs that differ by a
 * rounding stand for a processor that rounds otherwise, and the same rows are chosen. */
static void greedy_leaves_nothing_to_rounding(void **state)
{
    (void)state;
    enum {
        SIDE = 15,
        N = SIDE * SIDE,
        M = 60,
        OTHERS = 4
    };
    static const char *const kernels[] = {"se", "matern52(lengthscale=3)", "rq"};
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        hf_kernel *kernel = parse(ctx, kernels[k], 2);
        size_t rows[OTHERS][M], chosen[OTHERS];
        double x[N * 2];
        for (size_t other = 0; other < OTHERS; other++) {
            hfi_stream stream;
            hfi_stream_init(&stream, other, HFI_PURPOSE_TEST, 0);
            for (size_t i = 0; i < N * 2; i++) {
                const size_t step = i % 2 ? i / 2 % SIDE : i / 2 / SIDE;
                x[i] = 0.3 * ((double)step - (SIDE - 1) / 2);
                if (other > 0) x[i] *= 1.0 + 4e-16 * (hfi_stream_uniform(&stream) - 0.5);
            }
            assert_int_equal(
                hfi_choose_greedy(ctx, kernel, N, x, 2, NULL, M, 0.0, rows[other], &chosen[other], NULL),
                HF_OK);
            assert_int_equal(chosen[other], chosen[0]);
            for (size_t i = 0; i < chosen[0]; i++) assert_int_equal(rows[other][i], rows[0][i]);
        }
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

static void kmeans_goes_down_and_beats_chance(void **state)
{
    (void)state;
    enum {
        N = 1200,
        D = 3,
        M = 25
    };
    hf_context *ctx = problem_context(2);
    double *x = problem_inputs(N, D, 21), z[M * D], costs[HFI_KMEANS_STEPS + 1];
    size_t chosen = 0, done = 0;
    assert_int_equal(hfi_choose_kmeans(ctx, N, D, x, D, M, HFI_KMEANS_STEPS, z, &chosen, costs, &done),
                     HF_OK);
    assert_int_equal(chosen, M);
    assert_true(done > 3);
    for (size_t k = 1; k <= done; k++) assert_true(costs[k] <= costs[k - 1]);
    /* The inputs are within 2, so that the power of two is 2 and costs are in units of 4. */
    double final = kmeans_cost(N, D, x, M, z);
    assert_near(final, 4.0 * costs[done], 1e-9 * final);
    assert_true(final < 0.8 * kmeans_cost(N, D, x, M, x)); /* the first rows are as random as any */
    free(x);
    hf_context_free(ctx);
}

/* Seeding alone finds well separated clumps, and the centres end in their middles. */
static void kmeans_finds_clumps(void **state)
{
    (void)state;
    enum {
        CLUMPS = 6,
        EACH = 40
    };
    hf_context *ctx = problem_context(2);
    double x[CLUMPS * EACH], z[CLUMPS];
    for (size_t i = 0; i < CLUMPS * EACH; i++)
        x[i] = 100.0 * (double)(i % CLUMPS) + 0.01 * ((double)(i / CLUMPS) - 19.5);
    size_t chosen = 0, found = 0;
    hf_kernel *kernel = parse(ctx, "se", 1);
    assert_int_equal(
        hf_choose_inducing(ctx, kernel, HF_INDUCING_KMEANS, CLUMPS * EACH, x, 1, CLUMPS, z, &chosen), HF_OK);
    assert_int_equal(chosen, CLUMPS);
    for (size_t k = 0; k < CLUMPS; k++)
        for (size_t c = 0; c < CLUMPS; c++) found += fabs(z[k] - 100.0 * (double)c) < 1e-9;
    assert_int_equal(found, CLUMPS);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static double determinant(const hf_kernel *kernel, size_t d, const double *x, size_t m, const size_t *rows)
{
    double k[16], log_det;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            k[i * m + j] = hfi_kernel_value(kernel, x + rows[i] * d, x + rows[j] * d, false);
    free(naive_inverse(m, k, &log_det));
    return exp(log_det);
}

static size_t bits_of(size_t m, const size_t *rows)
{
    size_t bits = 0;
    for (size_t i = 0; i < m; i++) bits |= (size_t)1 << rows[i];
    return bits;
}

static size_t ones(size_t bits)
{
    size_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

/* Independent runs end in sets with probabilities as their determinants: Pearson's statistic over all sets. */
static void swaps_have_the_probabilities(void **state)
{
    (void)state;
    enum {
        N = 6,
        M = 3,
        SETS = 1 << N,
        RUNS = 20000,
        STEPS = 120 /* about half of them proposals */
    };
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se(lengthscale=1.1)", 1);
    const double x[N] = {-1.0, -0.7, 0.1, 0.4, 0.5, 1.6};
    double probability[SETS] = {0.0}, total = 0.0, statistic = 0.0;
    size_t counts[SETS] = {0}, classes = 0;
    for (size_t set = 0; set < SETS; set++) {
        if (ones(set) != M) continue;
        size_t rows[M], at = 0;
        for (size_t i = 0; i < N; i++)
            if ((set >> i & 1) != 0) rows[at++] = i;
        probability[set] = determinant(kernel, 1, x, M, rows);
        total += probability[set];
    }
    for (size_t run = 0; run < RUNS; run++) {
        size_t rows[M] = {0, 3, 5};
        hfi_stream stream;
        hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_TEST, run);
        assert_int_equal(hfi_choose_mdpp(ctx, kernel, N, x, 1, M, rows, STEPS, &stream, NULL), HF_OK);
        assert_int_equal(ones(bits_of(M, rows)), M);
        counts[bits_of(M, rows)]++;
    }
    double rare = 0.0, rare_count = 0.0; /* sets that are hardly ever expected count as one class */
    for (size_t set = 0; set < SETS; set++) {
        double expected = RUNS * probability[set] / total;
        if (expected < 10.0) {
            rare += expected;
            rare_count += (double)counts[set];
            continue;
        }
        classes++;
        statistic += pow((double)counts[set] - expected, 2.0) / expected;
    }
    if (rare > 0.0) statistic += pow(rare_count - rare, 2.0) / rare;
    assert_true(classes >= 10);
    /* Mean and three standard deviations and a half of the chi-square distribution. */
    double freedom = (double)classes - (rare > 0.0 ? 0.0 : 1.0);
    assert_true(statistic < freedom + 3.5 * sqrt(2.0 * freedom));
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void assert_distinct(size_t chosen, size_t d, const double *z)
{
    for (size_t i = 0; i < chosen; i++)
        for (size_t j = 0; j < i; j++) {
            bool equal = true;
            for (size_t k = 0; k < d; k++) equal = equal && z[i * d + k] == z[j * d + k];
            assert_false(equal);
        }
}

/* Seven places, each there many times: no more than seven are chosen, and each of them once. */
static void no_place_twice(void **state)
{
    (void)state;
    enum {
        PLACES = 7,
        N = 700,
        M = 20,
        D = 2
    };
    hf_context *ctx = problem_context(2);
    hf_kernel *kernel = parse(ctx, "matern32(ard, lengthscale=0.3)", D);
    double *places = problem_inputs(PLACES, D, 2), x[N * D], z[M * D];
    places[0] = 0.0;
    for (size_t i = 0; i < N; i++) {
        memcpy(x + i * D, places + i * 3 % PLACES * D, D * sizeof *x);
        if (i % 2 == 0 && x[i * D] == 0.0) x[i * D] = -0.0;
    }
    for (int choice = HF_INDUCING_GREEDY; choice <= HF_INDUCING_FIRST; choice++) {
        size_t chosen = 0;
        assert_int_equal(hf_choose_inducing(ctx, kernel, (hf_inducing_choice)choice, N, x, D, M, z, &chosen),
                         HF_OK);
        assert_int_equal(chosen, PLACES);
        assert_distinct(chosen, D, z);
        assert_int_equal(hf_choose_inducing(ctx, kernel, (hf_inducing_choice)choice, N, x, D, 4, z, &chosen),
                         HF_OK);
        assert_int_equal(chosen, 4);
        assert_distinct(chosen, D, z);
    }
    free(places);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void first_is_the_first(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se", 1);
    const double x[] = {3.0, 99.0, 3.0, 99.0, -1.0, 99.0, 3.0, 99.0, 2.0, 99.0}; /* stride 2 */
    double z[3];
    size_t chosen = 0;
    assert_int_equal(hf_choose_inducing(ctx, kernel, HF_INDUCING_FIRST, 5, x, 2, 3, z, &chosen), HF_OK);
    assert_int_equal(chosen, 3);
    assert_true(z[0] == 3.0 && z[1] == -1.0 && z[2] == 2.0);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* All digits are the same for any number of threads; another seed moves what is random and nothing else. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum {
        N = 1500,
        D = 2,
        M = 30
    };
    double *x = problem_inputs(N, D, 12), first[M * D], again[M * D];
    for (int choice = HF_INDUCING_GREEDY; choice <= HF_INDUCING_FIRST; choice++) {
        for (int run = 0; run < 3; run++) {
            hf_context *ctx = problem_context(run == 0 ? 1 : 3);
            hf_context_set_seed(ctx, run == 2 ? 77 : 5);
            hf_kernel *kernel = parse(ctx, "matern52(ard)", D);
            size_t chosen = 0;
            assert_int_equal(hf_choose_inducing(ctx, kernel, (hf_inducing_choice)choice, N, x, D, M,
                                                run == 0 ? first : again, &chosen),
                             HF_OK);
            assert_int_equal(chosen, M);
            bool random = choice == HF_INDUCING_KMEANS || choice == HF_INDUCING_MDPP;
            if (run > 0) assert_int_equal(memcmp(first, again, sizeof first) == 0, run == 1 || !random);
            hf_kernel_free(kernel);
            hf_context_free(ctx);
        }
    }
    free(x);
}

static void a_sample_is_a_sample(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    size_t rows[300], low = 0;
    hfi_choose_sample(ctx, 100000, 300, rows);
    for (size_t i = 0; i < 300; i++) {
        assert_true(rows[i] < 100000 && (i == 0 || rows[i] > rows[i - 1]));
        low += rows[i] < 50000;
    }
    assert_true(low > 110 && low < 190);
    hf_context_free(ctx);
}

/* Rows beyond what k-means looks at, and inputs of any size. */
static void many_rows_and_wild_units(void **state)
{
    (void)state;
    enum {
        N = HFI_KMEANS_ROWS + 5000,
        M = 4
    };
    hf_context *ctx = problem_context(2);
    hf_kernel *kernel = parse(ctx, "se", 1);
    double *x = problem_inputs(N, 1, 6), z[M];
    size_t chosen = 0;
    for (double unit = 1e-300; unit < 1e305; unit *= 1e150) {
        for (size_t i = 0; i < N; i++)
            x[i] = unit * ((double)(i % 4) + (i < 8 ? 0.0 : 1e-3 * (double)(i % 7)));
        assert_int_equal(hf_choose_inducing(ctx, kernel, HF_INDUCING_KMEANS, N, x, 1, M, z, &chosen), HF_OK);
        assert_int_equal(chosen, M);
        for (size_t k = 0; k < M; k++) assert_near(z[k] / unit, round(z[k] / unit), 0.0031);
        assert_distinct(chosen, 1, z);
    }
    free(x);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static bool stop_at_once(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    (void)user;
    assert_string_equal(stage, "choose");
    return false;
}

static void refuses_and_leaves_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hf_kernel *kernel = parse(ctx, "se", 2), *steep = parse(ctx, "linear", 2);
    double *x = problem_inputs(200, 2, 9), z[20];
    for (size_t i = 0; i < 20; i++) z[i] = 7.0;
    size_t chosen = 123;
    for (int c = HF_INDUCING_GREEDY; c <= HF_INDUCING_FIRST; c++) {
        hf_inducing_choice choice = (hf_inducing_choice)c;
        assert_int_equal(hf_choose_inducing(ctx, kernel, choice, 0, x, 2, 5, z, &chosen), HF_ERR_NO_DATA);
        assert_int_equal(hf_choose_inducing(ctx, kernel, choice, 200, x, 2, 0, z, &chosen), HF_ERR_ARGUMENT);
        assert_int_equal(hf_choose_inducing(ctx, kernel, choice, 200, x, 1, 5, z, &chosen), HF_ERR_DIMENSION);
        double kept = x[101];
        x[101] = NAN;
        assert_int_equal(hf_choose_inducing(ctx, kernel, choice, 200, x, 2, 5, z, &chosen),
                         HF_ERR_NOT_FINITE);
        assert_non_null(strstr(hf_context_message(ctx), "row 50"));
        x[101] = kept;
        if (choice == HF_INDUCING_FIRST) continue;
        hf_context_set_progress(ctx, stop_at_once, NULL);
        assert_int_equal(hf_choose_inducing(ctx, kernel, choice, 200, x, 2, 5, z, &chosen), HF_ERR_CANCELLED);
        hf_context_set_progress(ctx, NULL, NULL);
    }
    x[40] = 1e200; /* the square of it is no number */
    assert_int_equal(hf_choose_inducing(ctx, steep, HF_INDUCING_GREEDY, 200, x, 2, 5, z, &chosen),
                     HF_ERR_NOT_FINITE);
    assert_int_equal(chosen, 123);
    for (size_t i = 0; i < 20; i++) assert_true(z[i] == 7.0);
    free(x);
    hf_kernel_free(kernel);
    hf_kernel_free(steep);
    hf_context_free(ctx);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    double *x = problem_inputs(60, 2, 9);
    for (int c = HF_INDUCING_GREEDY; c <= HF_INDUCING_FIRST; c++) {
        bool done = false;
        for (size_t fail = 1; !done; fail++) {
            counter count = {0};
            hf_context *ctx = counter_context(&count);
            hf_kernel *kernel = parse(ctx, "matern52", 2);
            double z[12];
            size_t chosen = 99;
            count.fail = count.calls + fail;
            hf_status status =
                hf_choose_inducing(ctx, kernel, (hf_inducing_choice)c, 60, x, 2, 6, z, &chosen);
            done = status == HF_OK;
            assert_true(done ? chosen == 6 : status == HF_ERR_MEMORY && chosen == 99);
            hf_kernel_free(kernel);
            hf_context_free(ctx);
            assert_int_equal(count.live, 0);
        }
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_is_pivoted_elimination),
        cmocka_unit_test(greedy_takes_the_largest_in_many_chunks),
        cmocka_unit_test(greedy_ends_where_nothing_is_left),
        cmocka_unit_test(greedy_leaves_nothing_to_rounding),
        cmocka_unit_test(kmeans_goes_down_and_beats_chance),
        cmocka_unit_test(kmeans_finds_clumps),
        cmocka_unit_test(swaps_have_the_probabilities),
        cmocka_unit_test(no_place_twice),
        cmocka_unit_test(first_is_the_first),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_sample_is_a_sample),
        cmocka_unit_test(many_rows_and_wild_units),
        cmocka_unit_test(refuses_and_leaves_alone),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
