/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of calls about an expert's mean fails once; see test_allocation.c. */
#include "api/sweep.h"

static const hf_expert_label labels[WORKSHOP_N] = {[2] = HF_EXPERT_BELIEVED, [4] = HF_EXPERT_DOUBTED};

static hf_expert_data said(const workshop *w)
{
    return (hf_expert_data){
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y, .label = labels};
}

static hf_status create(workshop *w)
{
    const hf_expert_data data = said(w);
    hf_expert *expert = UNTOUCHED;
    const hf_status s = settled(hf_expert_create(w->ctx, &data, NULL, &expert), expert);
    if (s >= 0) hf_expert_free(expert);
    return s;
}

static hf_expert *made(workshop *w)
{
    hf_context *ctx = hf_context_create();
    const hf_expert_data data = said(w);
    hf_expert *expert = NULL;
    assert_int_equal(hf_expert_create(ctx, &data, NULL, &expert), HF_OK);
    hf_context_free(ctx);
    return expert;
}

static hf_status mean(workshop *w)
{
    hf_expert *expert = made(w);
    double out[WORKSHOP_M];
    const hf_status s = hf_expert_mean(w->ctx, expert, WORKSHOP_M, w->at, WORKSHOP_D, out, NULL);
    hf_expert_free(expert);
    return s;
}

static hf_status ask(workshop *w)
{
    hf_expert *expert = made(w);
    size_t rows[2], count = 2;
    const hf_status s = hf_expert_ask(w->ctx, expert, NULL, NULL, &count, rows, NULL);
    assert_true(s >= 0 || count == 2);
    hf_expert_free(expert);
    return s;
}

static hf_status lift(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_expert *expert = made(w);
    hf_posterior *own = NULL;
    double before, after;
    assert_int_equal(hf_solve_exact(ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &own), HF_OK);
    assert_int_equal(hf_predict(ctx, own, 1, w->at, WORKSHOP_D, &before, NULL, NULL), HF_OK);
    const hf_status s = hf_posterior_lift(w->ctx, own, expert);
    assert_int_equal(hf_predict(ctx, own, 1, w->at, WORKSHOP_D, &after, NULL, NULL), HF_OK);
    assert_true((before == after) == (s < 0));
    hf_posterior_free(own);
    hf_expert_free(expert);
    hf_context_free(ctx);
    return s;
}

static hf_status quiet(workshop *w)
{
    hf_expert_label label;
    hf_expert_rule rule;
    hf_expert_reading reading;
    hf_expert *expert = made(w);
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_LABEL, "doubted", &label), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_LABEL, label), "doubted");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_EXPERT_RULE, "average", &rule), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_RULE, rule), "average");
    assert_int_equal(hf_expert_settings_default().neighbours, 3);
    assert_int_equal(hf_expert_labelled(expert), 2);
    assert_true(isfinite(hf_expert_base(expert)));
    assert_int_equal(hf_expert_reading_of(w->ctx, expert, 4, &reading), HF_OK);
    hf_expert_free(expert);
    return HF_OK;
}

static void experts_survive(void **state)
{
    (void)state;
    RUN(CASE(create, 12), CASE(mean, 1), CASE(ask, 2), CASE(lift, 3), CASE(quiet, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(experts_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
