/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in certificates of all outputs together; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/certify_outputs.h>

static hf_status outputs(workshop *w)
{
    const double x[WORKSHOP_D] = {0.4, 0.5}, low[WORKSHOP_D] = {0.3, 0.4}, high[WORKSHOP_D] = {0.5, 0.6};
    hf_output_shift out = {.nodes = 77};
    double at[WORKSHOP_D];
    hf_output_norm norm = hf_output_norm_default();
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 1;
    norm.p = 1.0;
    const hf_status s = hf_certify_outputs(w->ctx, w->posterior, &norm, &settings, 1, x, low, high, &out, at);
    assert_true((out.nodes == 77) == (s < 0));
    return s;
}

static void outputs_survive(void **state)
{
    (void)state;
    RUN(CASE(outputs, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
