/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to certificates of all outputs together; see test_arguments.c. */
#include "api/refused.h"

#include <holdfast/certify_outputs.h>
#include <math.h>

static const double at[WORKSHOP_D] = {0.4, 0.5}, low[WORKSHOP_D] = {0.3, 0.4}, high[WORKSHOP_D] = {0.5, 0.6};

#define ASK(p, x, lower, upper, out)                                                                         \
    hf_certify_outputs(w->ctx, p, &norm, &settings, 1, x, lower, upper, out, NULL)

static void outputs(workshop *w)
{
    hf_output_shift out = {.nodes = 77};
    hf_output_norm norm = hf_output_norm_default();
    hf_certify_settings settings = hf_certify_settings_default();
    const double far[WORKSHOP_D] = {0.5, NAN};
    ARGUMENT(ASK(NULL, at, low, high, &out));
    ARGUMENT(ASK(w->posterior, NULL, low, high, &out));
    ARGUMENT(ASK(w->posterior, at, NULL, high, &out));
    ARGUMENT(ASK(w->posterior, at, low, NULL, &out));
    ARGUMENT(ASK(w->posterior, at, low, high, NULL));
    ARGUMENT(ASK(w->posterior, at, high, low, &out));
    REFUSED(HF_ERR_NOT_FINITE, ASK(w->posterior, at, low, far, &out));
    norm.p = 0.5;
    ARGUMENT(ASK(w->posterior, at, low, high, &out));
    assert_contains(hf_context_message(w->ctx), "0.5");
    norm = hf_output_norm_default();
    settings.tolerance = 0.0;
    ARGUMENT(ASK(w->posterior, at, low, high, &out));
    assert_contains(hf_context_message(w->ctx), "tolerance");
    assert_int_equal(hf_certify_outputs(NULL, w->posterior, NULL, NULL, 1, at, low, high, &out, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_outputs(w->ctx, w->posterior, NULL, NULL, 0, at, low, high, &out, NULL),
                     HF_OK);
    assert_int_equal(out.nodes, 77);
}

REFUSED_TEST(outputs)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
