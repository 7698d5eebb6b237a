/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits by a group of three against fits by one, without message passing. */
#include "core/thread_group.h"
#include "train/group_fits.h"

enum {
    SIZE = 3
};

typedef struct fits {
    size_t which;
    bool train;
    fit_outcome by[SIZE];
} fits;

static void run_one(hf_context *ctx, size_t rank, void *arg)
{
    fits *f = arg;
    fit_run(ctx, f->which, f->train, &f->by[rank]);
}

static void three_end_where_one_does(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * FIT_CASES; k++) {
        const size_t which = k / 2;
        fits one = {.which = which, .train = k % 2 > 0}, three = one;
        thread_group_run(1, run_one, &one);
        thread_group_run(SIZE, run_one, &three);
        for (size_t r = 0; r < SIZE; r++) {
            assert_same_fit(which, one.train, &three.by[r], &one.by[0]);
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
