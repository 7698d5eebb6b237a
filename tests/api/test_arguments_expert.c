/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to calls about an expert's mean; see test_arguments.c. */
#include "api/refused.h"

static const hf_expert_label labels[WORKSHOP_N] = {[2] = HF_EXPERT_BELIEVED, [4] = HF_EXPERT_DOUBTED};

static void creating(workshop *w)
{
    const hf_expert_data good = {
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y, .label = labels};
    hf_expert_data data = good;
    hf_expert *out = NULL;
    ARGUMENT(hf_expert_create(w->ctx, NULL, NULL, &out));
    ARGUMENT(hf_expert_create(w->ctx, &good, NULL, NULL));
    assert_int_equal(hf_expert_create(NULL, &good, NULL, &out), HF_ERR_ARGUMENT);
    data.x = NULL;
    ARGUMENT(hf_expert_create(w->ctx, &data, NULL, &out));
    data = good;
    data.y = NULL;
    ARGUMENT(hf_expert_create(w->ctx, &data, NULL, &out));
    data = good;
    data.label = NULL;
    ARGUMENT(hf_expert_create(w->ctx, &data, NULL, &out));
    data = good;
    data.ldx = 1;
    REFUSED(HF_ERR_DIMENSION, hf_expert_create(w->ctx, &data, NULL, &out));
    data = good;
    data.d = 0;
    REFUSED(HF_ERR_DIMENSION, hf_expert_create(w->ctx, &data, NULL, &out));
    hf_expert_settings settings = hf_expert_settings_default();
    settings.rule = (hf_expert_rule)7;
    ARGUMENT(hf_expert_create(w->ctx, &good, &settings, &out));
    settings = hf_expert_settings_default();
    data = good;
    data.d = 1;
    settings.kernel = w->kernel;
    REFUSED(HF_ERR_DIMENSION, hf_expert_create(w->ctx, &data, &settings, &out));
    assert_null(out);
    hf_expert_free(NULL);
}
REFUSED_TEST(creating)

static void asking(workshop *w)
{
    const hf_expert_data data = {
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y, .label = labels};
    hf_expert *expert = NULL;
    hf_expert_reading reading;
    hf_expert_label label;
    hf_expert_rule rule;
    double mean;
    size_t row, count = 1;
    assert_int_equal(hf_expert_create(w->ctx, &data, NULL, &expert), HF_OK);
    assert_int_equal(hf_expert_labelled(NULL), 0);
    assert_true(isnan(hf_expert_base(NULL)));
    ARGUMENT(hf_expert_reading_of(w->ctx, NULL, 0, &reading));
    ARGUMENT(hf_expert_reading_of(w->ctx, expert, 0, NULL));
    ARGUMENT(hf_expert_reading_of(w->ctx, expert, WORKSHOP_N, &reading));
    ARGUMENT(hf_expert_mean(w->ctx, NULL, 1, w->at, WORKSHOP_D, &mean, NULL));
    ARGUMENT(hf_expert_mean(w->ctx, expert, 1, NULL, WORKSHOP_D, &mean, NULL));
    assert_int_equal(hf_expert_mean(w->ctx, expert, 0, NULL, WORKSHOP_D, NULL, NULL), HF_OK);
    ARGUMENT(hf_expert_ask(w->ctx, NULL, NULL, NULL, &count, &row, NULL));
    ARGUMENT(hf_expert_ask(w->ctx, expert, NULL, NULL, NULL, &row, NULL));
    ARGUMENT(hf_expert_ask(w->ctx, expert, NULL, NULL, &count, NULL, NULL));
    ARGUMENT(hf_posterior_lift(w->ctx, NULL, expert));
    ARGUMENT(hf_posterior_lift(w->ctx, w->posterior, NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_LABEL, "nobody", &label));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_LABEL, NULL, &label));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_LABEL, "doubted", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_RULE, "nothing", &rule));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_RULE, NULL, &rule));
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_LABEL, (unsigned)9), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_RULE, (unsigned)9), "unknown");
    assert_int_equal(count, 1);
    hf_expert_free(expert);
    (void)hf_expert_settings_default();
}
REFUSED_TEST(asking)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating_refuse), cmocka_unit_test(asking_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
