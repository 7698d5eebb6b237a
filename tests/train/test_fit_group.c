/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits by a group of three against fits by one, without message passing. */
#include "core/thread_group.h"
#include "train/group_fits.h"

enum {
    SIZE = 3
};

typedef struct fits {
    size_t which;
    fit_outcome by[SIZE];
} fits;

static void run_one(hf_context *ctx, size_t rank, void *arg)
{
    fits *f = arg;
    fit_run(ctx, f->which, &f->by[rank]);
}

static void three_end_where_one_does(void **state)
{
    (void)state;
    for (size_t which = 0; which < FIT_CASES; which++) {
        fits one = {.which = which}, three = {.which = which};
        thread_group_run(1, run_one, &one);
        thread_group_run(SIZE, run_one, &three);
        for (size_t r = 0; r < SIZE; r++) {
            assert_same_fit(which, &three.by[r], &one.by[0], 1e-10);
            assert_memory_equal(three.by[r].mean, three.by[0].mean, sizeof three.by[r].mean);
            assert_memory_equal(three.by[r].variance, three.by[0].variance, sizeof three.by[r].variance);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_end_where_one_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
