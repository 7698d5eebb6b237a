/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits by all processes against fits by each of them alone. */
#include "core/context_impl.h"
#include "fit/group_fits.h"
#include "mpi/processes.h"

static void all_end_where_one_does(void **state)
{
    (void)state;
    hf_context *together = processes_join(), *alone = hf_context_create();
    together->shared_factor = 1;
    alone->shared_factor = 1; /* shares nothing, but is trained alike */
    for (size_t k = 0; k < 2 * FIT_CASES; k++) {
        const size_t which = k / 2;
        const bool train = k % 2 > 0;
        fit_outcome shared, own;
        fit_run(together, which, train, &shared);
        fit_run(alone, which, train, &own);
        assert_same_fit(which, train, &shared, &own);
    }
    hf_context_free(together);
    hf_context_free(alone);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_end_where_one_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return processes_run(run);
}
