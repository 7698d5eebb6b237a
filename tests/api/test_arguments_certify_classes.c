/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to certificates of all classes; see test_arguments.c. */
#include "api/classifiers.h"
#include "api/refused.h"

#include <holdfast/certify_classes.h>
#include <math.h>

static const double low[2] = {0.3, 0.4}, high[2] = {0.5, 0.6};

#define ASK(c, lower, upper, out) hf_certify_classes(w->ctx, c, &settings, 1, lower, upper, out, NULL)

static void classes(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_class_range out[2] = {{.range = {.nodes = 77}}};
    hf_certify_settings settings = hf_certify_settings_default();
    const double far[2] = {0.5, NAN};
    ARGUMENT(ASK(NULL, low, high, out));
    ARGUMENT(ASK(c, NULL, high, out));
    ARGUMENT(ASK(c, low, NULL, out));
    ARGUMENT(ASK(c, low, high, NULL));
    ARGUMENT(ASK(c, high, low, out));
    REFUSED(HF_ERR_NOT_FINITE, ASK(c, low, far, out));
    settings.tolerance = 0.0;
    ARGUMENT(ASK(c, low, high, out));
    assert_contains(hf_context_message(w->ctx), "tolerance");
    assert_int_equal(hf_certify_classes(NULL, c, NULL, 1, low, high, out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_classes(w->ctx, c, NULL, 0, low, high, out, NULL), HF_OK); /* no boxes */
    assert_string_equal(hf_enum_name(HF_ENUM_CHANCE, (unsigned)3), "unknown");
    assert_int_equal(out[0].range.nodes, 77);
    hf_classifier_free(c);
}

REFUSED_TEST(classes)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
