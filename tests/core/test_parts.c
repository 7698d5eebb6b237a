/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the parts of a table: each row once, and the same digits however many add them up. */
#include "core/thread_group.h"

#include <math.h>

enum {
    NUMBERS = 7,
    SIZES = 6
};

static const size_t sizes[SIZES] = {1, 2, 3, 4, 5, 8};

typedef struct sums {
    size_t rows, parts[THREAD_GROUP_MOST];
    double total[THREAD_GROUP_MOST][NUMBERS];
    hf_status status[THREAD_GROUP_MOST];
    size_t fails; /* rank that fails, or none */
} sums;

/* Terms of all sizes, so that their order shows in the last digits; the last number counts rows. */
static void add_up(hf_context *ctx, size_t rank, void *arg)
{
    sums *s = arg;
    hfi_parts parts;
    size_t begin, end;
    double *own;
    hf_status status = hfi_parts_init(ctx, s->rows, NUMBERS, s->total[rank], &parts);
    while (status >= 0 && hfi_parts_next(&parts, &begin, &end, &own)) {
        s->parts[rank]++;
        for (size_t i = begin; i < end; i++) {
            for (size_t k = 0; k + 1 < NUMBERS; k++) own[k] += exp(8.0 * sin(1.0 + (double)(i * (k + 3))));
            own[NUMBERS - 1] += 1.0;
        }
        if (rank == s->fails) status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "row %zu is odd", begin);
    }
    s->status[rank] = hfi_parts_finish(&parts, status);
}

static void same_digits(void **state)
{
    (void)state;
    const size_t rows[] = {0, 1, 2048, 2049, 5000, 16384, 40001};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        sums one = {.rows = rows[k], .fails = SIZE_MAX};
        thread_group_run(1, add_up, &one);
        assert_true(one.total[0][NUMBERS - 1] == (double)rows[k]);
        for (size_t z = 0; z < SIZES; z++) {
            sums some = {.rows = rows[k], .fails = SIZE_MAX};
            size_t parts = 0;
            thread_group_run(sizes[z], add_up, &some);
            for (size_t r = 0; r < sizes[z]; r++) {
                assert_int_equal(some.status[r], HF_OK);
                assert_memory_equal(some.total[r], one.total[0], sizeof one.total[0]);
                parts += some.parts[r];
            }
            assert_int_equal(parts, one.parts[0]);
        }
    }
}

/* More processes than parts that there would be otherwise: one part for each, and rounding. */
static void many_processes(void **state)
{
    (void)state;
    sums one = {.rows = 40001, .fails = SIZE_MAX}, many = one;
    thread_group_run(1, add_up, &one);
    thread_group_run(11, add_up, &many);
    for (size_t r = 0; r < 11; r++) {
        assert_int_equal(many.parts[r], 1);
        assert_memory_equal(many.total[r], many.total[0], sizeof many.total[0]);
        for (size_t k = 0; k < NUMBERS; k++)
            assert_true(fabs(many.total[r][k] - one.total[0][k]) <= 1e-12 * one.total[0][k]);
    }
}

static void work_is_shared(void **state)
{
    (void)state;
    sums four = {.rows = 40000, .fails = SIZE_MAX};
    thread_group_run(4, add_up, &four);
    for (size_t r = 0; r < 4; r++) assert_int_equal(four.parts[r], 2);
}

static void one_failure_is_everybodys(void **state)
{
    (void)state;
    sums three = {.rows = 9000, .fails = 1};
    thread_group_run(3, add_up, &three);
    for (size_t r = 0; r < 3; r++) assert_int_equal(three.status[r], HF_ERR_NOT_FINITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_digits),
        cmocka_unit_test(many_processes),
        cmocka_unit_test(work_is_shared),
        cmocka_unit_test(one_failure_is_everybodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
