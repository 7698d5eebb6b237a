/* SPDX-License-Identifier: Apache-2.0 */
/* Equal rows, beside every pair compared. */
#include "core/core.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

enum {
    ROWS = 300,
    STRIDE = 3,
    D = 2
};

/* Few values, both zeros among them, so that most rows are equal to others; the third column is not looked at. */
static void make(double *x)
{
    static const double values[] = {0.0, -0.0, 1.0, 1.0 + 0x1p-52, -1.0, 1e300, 0x1p-1074};
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        x[i] = values[hfi_stream_below(&stream, sizeof values / sizeof *values)];
}

static bool equal(const double *a, const double *b)
{
    for (size_t j = 0; j < D; j++)
        if (a[j] != b[j]) return false;
    return true;
}

static size_t by_pairs(const double *x, size_t n, size_t *first, size_t *number)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < count && !equal(x + first[k] * STRIDE, x + i * STRIDE)) k++;
        if (k == count) first[count++] = i;
        number[i] = k;
    }
    return count;
}

static void rows_are_numbered_as_pairs_say(void **state)
{
    (void)state;
    double x[ROWS * STRIDE];
    size_t first[ROWS], number[ROWS], other_first[ROWS], other_number[ROWS];
    hf_context *ctx = hf_context_create();
    make(x);
    for (size_t n = 1; n <= ROWS; n += 13) {
        size_t count = 0;
        assert_int_equal(hfi_rows_distinct(ctx, n, D, x, STRIDE, n, first, number, &count), HF_OK);
        assert_int_equal(count, by_pairs(x, n, other_first, other_number));
        assert_memory_equal(first, other_first, count * sizeof *first);
        assert_memory_equal(number, other_number, n * sizeof *number);
    }
    hf_context_free(ctx);
}

static void as_many_as_asked_for(void **state)
{
    (void)state;
    double x[ROWS * STRIDE];
    size_t first[ROWS], all[ROWS], number[ROWS];
    hf_context *ctx = hf_context_create();
    make(x);
    const size_t most = by_pairs(x, ROWS, all, number);
    for (size_t m = 1; m <= most + 3; m++) {
        size_t count = 0;
        assert_int_equal(hfi_rows_distinct(ctx, ROWS, D, x, STRIDE, m, first, NULL, &count), HF_OK);
        assert_int_equal(count, m < most ? m : most);
        assert_memory_equal(first, all, count * sizeof *first);
    }
    hf_context_free(ctx);
}

static void indices_are_sorted(void **state)
{
    (void)state;
    size_t index[] = {5, SIZE_MAX, 0, 3, 3, 1};
    const size_t sorted[] = {0, 1, 3, 3, 5, SIZE_MAX};
    hfi_sort_indices(index, 6);
    assert_memory_equal(index, sorted, sizeof sorted);
    hfi_sort_indices(index, 0);
    assert_memory_equal(index, sorted, sizeof sorted);
}

static void ranked_by_value_then_index(void **state)
{
    (void)state;
    hfi_ranked list[] = {{2.0, 0}, {-INFINITY, 1}, {0.5, 5}, {2.0, 3}, {0.5, 4}, {-1e-300, 2}};
    const size_t sorted[] = {1, 2, 4, 5, 0, 3};
    hfi_sort_ranked(list, 6);
    for (size_t i = 0; i < 6; i++) assert_int_equal(list[i].index, sorted[i]);
    assert_true(list[4].value == 2.0 && list[0].value == -INFINITY);
    hfi_sort_ranked(list, 0);
    assert_int_equal(list[0].index, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_numbered_as_pairs_say),
        cmocka_unit_test(as_many_as_asked_for),
        cmocka_unit_test(indices_are_sorted),
        cmocka_unit_test(ranked_by_value_then_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
