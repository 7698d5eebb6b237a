/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes at one fit: sums, shares, and how an error of one becomes an error of all. */
#include "core/thread_group.h"

#include <stdio.h>

enum {
    SIZE = 3
};

typedef struct answers {
    hf_status status[SIZE];
    double sums[SIZE][2];
    char message[SIZE][256];
} answers;

static void add(hf_context *ctx, size_t rank, void *arg)
{
    answers *a = arg;
    a->sums[rank][0] = (double)rank;
    a->sums[rank][1] = 0.1;
    a->status[rank] = hfi_group_sum(ctx, 2, a->sums[rank]);
}

static void sums_are_the_same_in_all(void **state)
{
    (void)state;
    answers a;
    thread_group_run(SIZE, add, &a);
    for (size_t r = 0; r < SIZE; r++) {
        assert_int_equal(a.status[r], HF_OK);
        assert_true(a.sums[r][0] == 3.0 && a.sums[r][1] == 0.1 + 0.1 + 0.1);
    }
}

static void fail_in_the_second(hf_context *ctx, size_t rank, void *arg)
{
    answers *a = arg;
    const hf_status own = rank == 1 ? hfi_fail(ctx, HF_ERR_NOT_FINITE, "mine") : HF_WARN_JITTER;
    a->status[rank] = hfi_group_agree(ctx, own);
    snprintf(a->message[rank], sizeof a->message[rank], "%s", hf_context_message(ctx));
}

static void one_error_is_everybodys(void **state)
{
    (void)state;
    answers a;
    thread_group_run(SIZE, fail_in_the_second, &a);
    for (size_t r = 0; r < SIZE; r++) assert_int_equal(a.status[r], HF_ERR_NOT_FINITE);
    assert_string_equal(a.message[1], "mine");
    assert_string_equal(a.message[0], "1 of the 3 processes of this fit failed: a value is not finite");
    assert_string_equal(a.message[2], a.message[0]);
}

static void warn(hf_context *ctx, size_t rank, void *arg)
{
    answers *a = arg;
    a->status[rank] = hfi_group_agree(ctx, rank == 0 ? HF_WARN_DRIFT : HF_OK);
}

static void a_warning_stays_ones_own(void **state)
{
    (void)state;
    answers a;
    thread_group_run(SIZE, warn, &a);
    assert_int_equal(a.status[0], HF_WARN_DRIFT);
    assert_int_equal(a.status[1], HF_OK);
}

static void differ(hf_context *ctx, size_t rank, void *arg)
{
    answers *a = arg;
    double values[3] = {1.0, 2.0, 3.0};
    a->status[rank] = hfi_group_sum(ctx, rank == 2 ? 3 : 2, values);
}

static void a_sum_that_fails_is_an_error(void **state)
{
    (void)state;
    answers a;
    thread_group_run(SIZE, differ, &a);
    for (size_t r = 0; r < SIZE; r++) assert_int_equal(a.status[r], HF_ERR_INTERNAL);
}

static void nobody_else(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double value = 0.25;
    size_t begin = 9, end = 9;
    assert_int_equal(hfi_group_sum(ctx, 1, &value), HF_OK);
    assert_true(value == 0.25);
    assert_int_equal(hfi_group_agree(ctx, HF_ERR_PARSE), HF_ERR_PARSE);
    hfi_group_share(ctx, 7, &begin, &end);
    assert_int_equal(begin, 0);
    assert_int_equal(end, 7);
    assert_int_equal(hfi_group_size(NULL), 1);
    hf_context_free(ctx);
}

static bool no_sum(size_t count, double *values, void *user)
{
    (void)count;
    (void)values;
    (void)user;
    return false;
}

static void shares_cover_everything_once(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t count = 0; count < 12; count++) {
        size_t next = 0;
        for (size_t r = 0; r < 5; r++) {
            size_t begin = 0, end = 0;
            const hf_group group = {.rank = r, .size = 5, .sum = no_sum};
            assert_int_equal(hf_context_set_group(ctx, &group), HF_OK);
            hfi_group_share(ctx, count, &begin, &end);
            assert_int_equal(begin, next);
            assert_in_range(end - begin, count / 5, count / 5 + 1);
            next = end;
        }
        assert_int_equal(next, count);
    }
    hf_context_free(ctx);
}

static void what_makes_no_group(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_group wrong[] = {
        {.rank = 2, .size = 2, .sum = no_sum}, {.rank = 0, .size = 0, .sum = no_sum}, {.rank = 0, .size = 2}};
    for (size_t i = 0; i < 3; i++) assert_int_equal(hf_context_set_group(ctx, &wrong[i]), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_group_size(ctx), 1);
    const hf_group good = {.rank = 1, .size = 2, .sum = no_sum};
    assert_int_equal(hf_context_set_group(ctx, &good), HF_OK);
    assert_int_equal(hfi_group_size(ctx), 2);
    assert_int_equal(hf_context_set_group(ctx, NULL), HF_OK);
    assert_int_equal(hfi_group_size(ctx), 1);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_same_in_all),
        cmocka_unit_test(one_error_is_everybodys),
        cmocka_unit_test(a_warning_stays_ones_own),
        cmocka_unit_test(a_sum_that_fails_is_an_error),
        cmocka_unit_test(nobody_else),
        cmocka_unit_test(shares_cover_everything_once),
        cmocka_unit_test(what_makes_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
