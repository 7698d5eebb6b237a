/* SPDX-License-Identifier: Apache-2.0 */
/* Which readings share a block, and the entries blocks start with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "linalg/linalg.h"
#include "solver/projected_naive.h"

/* Every reading once, sizes that differ by at most one, no block empty. */
static void assert_partition(const hfi_block_actions *a)
{
    bool *seen = calloc(a->n, sizeof *seen);
    assert_non_null(seen);
    for (size_t l = 0; l < a->n; l++) {
        assert_true(a->order[l] < a->n && !seen[a->order[l]]);
        seen[a->order[l]] = true;
    }
    free(seen);
    assert_int_equal(a->first[0], 0);
    assert_int_equal(a->first[a->count], a->n);
    for (size_t b = 0; b < a->count; b++) {
        const size_t size = a->first[b + 1] - a->first[b];
        assert_true(size == a->n / a->count || size == a->n / a->count + 1);
    }
}

static void ragged_blocks_use_every_row(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *x = problem_inputs(200, 3, 1);
    for (size_t n = 1; n <= 200; n = n * 2 + 3)
        for (size_t count = 1; count <= n; count += 1 + count / 3)
            for (int rule = HF_BLOCKS_CONTIGUOUS; rule <= HF_BLOCKS_CLUSTERED; rule++) {
                hfi_block_actions a;
                assert_int_equal(hfi_block_actions_init(ctx, (hf_blocks)rule, n, 3, x, 3, count, &a), HF_OK);
                assert_partition(&a);
                for (size_t l = 0; l < n; l++) {
                    assert_true(a.entry[l] == 0.0);
                    if (rule == HF_BLOCKS_CONTIGUOUS) assert_int_equal(a.order[l], l);
                }
                hfi_block_actions_free(ctx, &a);
                assert_null(a.order);
            }
    free(x);
    hf_context_free(ctx);
}

/* Two groups of rows far apart, mixed in the table: no block has rows of both. */
static void clusters_are_near_each_other(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double x[64 * 2], spread[2] = {0.0, 0.0};
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < 64; i++) {
        x[2 * i] = hfi_stream_uniform(&stream);
        x[2 * i + 1] = hfi_stream_uniform(&stream) + (i % 2 ? 9.0 : 0.0);
    }
    for (int rule = 0; rule < 2; rule++) {
        hfi_block_actions a;
        assert_int_equal(hfi_block_actions_init(ctx, (hf_blocks)rule, 64, 2, x, 2, 8, &a), HF_OK);
        for (size_t b = 0; b < 8; b++)
            for (size_t l = a.first[b]; l < a.first[b + 1]; l++) {
                const double *p = x + 2 * a.order[l], *q = x + 2 * a.order[a.first[b]];
                spread[rule] += fabs(p[0] - q[0]) + fabs(p[1] - q[1]);
                if (rule == HF_BLOCKS_CLUSTERED) assert_int_equal(a.order[l] % 2, a.order[a.first[b]] % 2);
            }
        hfi_block_actions_free(ctx, &a);
    }
    assert_true(spread[HF_BLOCKS_CLUSTERED] < 0.1 * spread[HF_BLOCKS_CONTIGUOUS]);
    hf_context_free(ctx);
}

/* Rows all equal: ties go by the reading's number, and every rule still has blocks. */
static void equal_rows_have_blocks(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double x[10] = {0.0};
    hfi_block_actions a;
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CLUSTERED, 10, 1, x, 1, 3, &a), HF_OK);
    assert_partition(&a);
    for (size_t l = 0; l < 10; l++) assert_int_equal(a.order[l], l);
    hfi_block_actions_free(ctx, &a);
    hf_context_free(ctx);
}

static void starts_are_what_they_say(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard)", 50, 2, 0.05);
    double residual[50], variance[50];
    for (size_t i = 0; i < 50; i++) {
        residual[i] = p.y[i] - 0.5;
        variance[i] = i == 7 ? 1e24 : 0.1 + 0.01 * (double)i;
    }
    hfi_block_actions a;
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CLUSTERED, 50, 2, p.x, 2, 6, &a), HF_OK);
    for (int start = HF_ACTION_START_TARGETS; start <= HF_ACTION_START_PRECISION; start++) {
        assert_int_equal(
            hfi_block_actions_start(ctx, &a, (hf_action_start)start, p.kernel, p.x, 2, residual, variance),
            HF_OK);
        for (size_t b = 0; b < a.count; b++) {
            const size_t first = a.first[b], size = a.first[b + 1] - first;
            double k[100], values[10], norm = 0.0;
            for (size_t l = 0; l < size; l++) {
                norm += a.entry[first + l] * a.entry[first + l];
                for (size_t q = 0; q < size; q++)
                    k[l + q * size] = hfi_kernel_value(p.kernel, p.x + 2 * a.order[first + l],
                                                       p.x + 2 * a.order[first + q], l == q);
            }
            assert_near(norm, 1.0, 1e-12);
            assert_int_equal(hfi_symmetric_eigen(ctx, size, k, size, values), HF_OK);
            for (size_t l = 0; l < size; l++) {
                const size_t i = a.order[first + l], j = a.order[first];
                if (start == HF_ACTION_START_EIGEN)
                    assert_near(fabs(a.entry[first + l]), fabs(k[l + (size - 1) * size]), 1e-4);
                else if (start == HF_ACTION_START_TARGETS)
                    assert_near(a.entry[first + l] * residual[j], a.entry[first] * residual[i], 1e-12);
                else
                    assert_near(a.entry[first + l] * variance[i], a.entry[first] * variance[j],
                                1e-12 * fmax(1.0, variance[i] * fabs(a.entry[first + l])));
            }
        }
    }
    hfi_block_actions_free(ctx, &a);
    problem_free(&p);
    hf_context_free(ctx);
}

static void random_entries_come_from_the_seed(void **state)
{
    (void)state;
    double entry[3][1000];
    double *x = problem_inputs(1000, 1, 2), square = 0.0, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        hf_context *ctx = problem_context(1 + k);
        hf_context_set_seed(ctx, k == 2 ? 5 : 4);
        hfi_block_actions a;
        assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 1000, 1, x, 1, 10, &a), HF_OK);
        assert_int_equal(hfi_block_actions_start(ctx, &a, HF_ACTION_START_RANDOM, NULL, x, 1, NULL, NULL),
                         HF_OK);
        memcpy(entry[k], a.entry, sizeof entry[k]);
        hfi_block_actions_free(ctx, &a);
        hf_context_free(ctx);
    }
    free(x);
    assert_memory_equal(entry[0], entry[1], sizeof entry[0]);
    assert_memory_not_equal(entry[0], entry[2], sizeof entry[0]);
    for (size_t l = 0; l < 1000; l++) {
        square += entry[0][l] * entry[0][l];
        sum += entry[0][l];
    }
    assert_near(square, 10.0, 2.0); /* 1 for each block */
    assert_near(sum, 0.0, 10.0);
}

/* Targets equal to the prior mean, or values that overflow, would make a block of zeros: the average then. */
static void no_block_is_all_zero(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *x = problem_inputs(12, 1, 2), residual[12] = {0.0}, variance[12];
    for (size_t i = 0; i < 12; i++) variance[i] = i < 3 ? INFINITY : 1.0;
    hfi_block_actions a;
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 12, 1, x, 1, 4, &a), HF_OK);
    assert_int_equal(
        hfi_block_actions_start(ctx, &a, HF_ACTION_START_TARGETS, NULL, x, 1, residual, variance), HF_OK);
    for (size_t l = 0; l < 12; l++) assert_near(a.entry[l], 1.0 / sqrt(3.0), 1e-15);
    assert_int_equal(
        hfi_block_actions_start(ctx, &a, HF_ACTION_START_PRECISION, NULL, x, 1, residual, variance), HF_OK);
    for (size_t l = 0; l < 12; l++) assert_near(a.entry[l], 1.0 / sqrt(3.0), 1e-15);
    hfi_block_actions_free(ctx, &a);
    free(x);
    hf_context_free(ctx);
}

static void refuses_what_makes_no_blocks(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double x[4] = {0.0};
    hfi_block_actions a;
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 0, 1, x, 1, 1, &a), HF_ERR_NO_DATA);
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 4, 1, x, 1, 0, &a), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 4, 1, x, 1, 5, &a), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_block_actions_init(ctx, (hf_blocks)9, 4, 1, x, 1, 2, &a), HF_ERR_ARGUMENT);
    assert_null(a.order);
    assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 4, 1, x, 1, 2, &a), HF_OK);
    assert_int_equal(hfi_block_actions_start(ctx, &a, (hf_action_start)9, NULL, x, 1, NULL, NULL),
                     HF_ERR_ARGUMENT);
    hfi_block_actions_free(ctx, &a);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ragged_blocks_use_every_row),
        cmocka_unit_test(clusters_are_near_each_other),
        cmocka_unit_test(equal_rows_have_blocks),
        cmocka_unit_test(starts_are_what_they_say),
        cmocka_unit_test(random_entries_come_from_the_seed),
        cmocka_unit_test(no_block_is_all_zero),
        cmocka_unit_test(refuses_what_makes_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
