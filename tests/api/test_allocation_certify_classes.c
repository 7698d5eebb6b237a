/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in certificates of all classes; see test_allocation.c. */
#include "api/classifiers.h"
#include "api/sweep.h"

#include <holdfast/certify_classes.h>

static const double low[2] = {0.3, 0.4}, high[2] = {0.9, 0.6};

static hf_status classes(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_class_range out[2] = {{.range = {.nodes = 77}}};
    double at[4];
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 1;
    const hf_status s = hf_certify_classes(w->ctx, c, &settings, 1, low, high, out, at);
    assert_true((out[0].range.nodes == 77) == (s < 0));
    assert_string_equal(hf_enum_name(HF_ENUM_CHANCE, HF_CHANCE_OPEN), "open"); /* allocates nothing */
    hf_classifier_free(c);
    return s;
}

static void classes_survive(void **state)
{
    (void)state;
    RUN(CASE(classes, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
