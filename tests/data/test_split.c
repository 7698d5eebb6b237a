/* SPDX-License-Identifier: Apache-2.0 */
/* Train/test splits: permutations of the right size, decided by the seed alone. */
#include "data/support.h"

#include <holdfast/contaminate.h>

#include <math.h>

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void splits_are_permutations_of_the_right_size(void **state)
{
    static const double shares[] = {0, 0.1, 0.2, 0.25, 0.5, 1};
    enum {
        LARGEST = 300
    };
    size_t order[LARGEST], train = 0;
    for (size_t n = 0; n <= LARGEST; n += n < 10 ? 1 : 29) {
        for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
            bool seen[LARGEST] = {false};
            assert_int_equal(hf_split(*state, n, shares[k], n, order, &train), HF_OK);
            assert_int_equal(train, n - (size_t)floor(shares[k] * (double)n + 0.5));
            for (size_t i = 0; i < n; i++) {
                assert_true(order[i] < n && !seen[order[i]]);
                seen[order[i]] = true;
            }
        }
    }
    assert_int_equal(hf_split(*state, 1, 0.2, 0, NULL, &train), HF_OK);
    assert_int_equal(train, 0);
}

static void seeds_decide(void **state)
{
    size_t first[100], second[100], third[100], train = 0;
    hf_context_set_seed(*state, 1);
    hf_split(*state, 11, 0.2, 100, first, &train);
    hf_context_set_seed(*state, 2);
    hf_split(*state, 11, 0.5, 100, second, &train);
    hf_split(*state, 12, 0.2, 100, third, &train);
    assert_memory_equal(first, second, sizeof first);
    assert_memory_not_equal(first, third, sizeof first);
}

/* Every row is equally often among the test rows: 20 % of 4000 splits, within five standard errors. */
static void no_row_is_preferred(void **state)
{
    size_t order[20], train = 0, tested[20] = {0};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        hf_split(*state, seed, 0.2, 20, order, &train);
        for (size_t i = train; i < 20; i++) tested[order[i]]++;
    }
    for (size_t i = 0; i < 20; i++) assert_true(fabs((double)tested[i] - 800) < 5 * sqrt(4000 * 0.2 * 0.8));
}

static void errors(void **state)
{
    size_t order[3] = {7, 7, 7}, train = 9;
    assert_int_equal(hf_split(*state, 1, 1.5, 3, order, &train), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "the test share is 1.5; it must lie between 0 and 1");
    assert_int_equal(hf_split(*state, 1, NAN, 3, order, &train), HF_ERR_ARGUMENT);
    assert_int_equal(hf_split(*state, 1, 0.5, 3, NULL, &train), HF_ERR_ARGUMENT);
    assert_int_equal(hf_split(*state, 1, 0.5, 3, order, NULL), HF_ERR_ARGUMENT);
    assert_true(order[0] == 7 && order[2] == 7 && train == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_are_permutations_of_the_right_size),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(no_row_is_preferred),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
