/* SPDX-License-Identifier: Apache-2.0 */
/* Certain constraints under attack: many functions of bounded norm, with the worst noise. The long attack is
 * bench/certain-constraints.c. */
#include "studies.h"

#include "certain.h"

static void no_constraint_of_many_functions_is_ever_broken(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    certain_tally t = {.nearest = INFINITY};
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (size_t kernel = 0; kernel < CERTAIN_KERNELS; kernel++) {
            if (certain_attack(ctx, seed, kernel, 2, CERTAIN_ROUNDS, 1.0, &t) < 0)
                fail_msg("function %llu of %s: %s", (unsigned long long)seed, certain_kernels[kernel],
                         hf_context_message(ctx));
            if (t.violations > 0)
                fail_msg("function %llu of %s was violated", (unsigned long long)seed,
                         certain_kernels[kernel]);
        }
    assert_true(t.worlds == 5 * CERTAIN_KERNELS && t.stuck < t.worlds / 3);
    assert_true(t.asked == 4 * (t.worlds - t.stuck) && t.admitted > t.looked / 50);
    hf_context_free(ctx);
}

/* The attack would see it: a study that is told an eighth of the norm is led astray. */
static void a_norm_bound_that_does_not_hold_is_punished(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    certain_tally t = {.nearest = INFINITY};
    for (uint64_t seed = 1; seed <= 12 && t.violations == 0; seed++) {
        const hf_status s = certain_attack(ctx, seed, 1, 2, CERTAIN_ROUNDS, 8.0, &t);
        assert_true(s >= 0 || s == HF_ERR_INCONSISTENT);
    }
    assert_true(t.violations > 0 && t.nearest < 0.0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_constraint_of_many_functions_is_ever_broken),
                                       cmocka_unit_test(a_norm_bound_that_does_not_hold_is_punished)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
