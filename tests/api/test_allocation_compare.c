/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a comparison of models fails once; see test_allocation.c. */
#include "api/sweep.h"

#include <math.h>

static hf_status compare(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_contender rivals[] = {{"one", workshop_untrained()}, {"two", workshop_untrained()}};
    const hf_compare_settings settings = {.size = sizeof(hf_compare_settings), .folds = 2, .repeats = 2};
    hf_comparison *out = UNTOUCHED;
    double difference = 77.0;
    hf_status s = settled(hf_compare(w->ctx, w->table, &columns, 2, rivals, &settings, &out), out);
    if (s < 0) return s;
    s = hf_comparison_difference(w->ctx, out, HF_CRITERION_CRPS, 0, 1, &difference, NULL);
    assert_true((difference == 77.0) == (s < 0));
    hf_comparison_free(out);
    return s;
}

/* Nothing here needs memory. */
static hf_status ask(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_contender rival = {"one", workshop_untrained()};
    hf_compare_settings settings = hf_compare_settings_default();
    hf_comparison *out = NULL;
    hf_criterion by = HF_CRITERION_NLPD;
    settings.folds = 2;
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_compare(ctx, w->table, &columns, 1, &rival, &settings, &out), HF_OK);
    hf_context_free(ctx);
    const hf_status s = hf_enum_parse(w->ctx, HF_ENUM_CRITERION, "mae", &by);
    assert_string_equal(hf_enum_name(HF_ENUM_CRITERION, by), "mae");
    assert_int_equal(hf_comparison_models(out), 1);
    assert_int_equal(hf_comparison_settings_of(out)->folds, 2);
    assert_string_equal(hf_comparison_name(out, 0), "one");
    assert_int_equal(hf_comparison_scores(out, 0)->metrics.n, hf_comparison_readings(out));
    assert_int_equal(hf_comparison_rows(out)[0], 0);
    assert_true(hf_comparison_targets(out)[0] == 0.3 && hf_comparison_folds(out, 0)[0] < 2);
    assert_true(isfinite(hf_comparison_means(out, 0, 0)[0]) && hf_comparison_sds(out, 0, 0)[0] > 0.0);
    assert_int_equal(hf_comparison_best(out, by), 0);
    hf_comparison_free(out);
    return s;
}

static void comparisons_survive(void **state)
{
    (void)state;
    RUN(CASE(compare, 40), CASE(ask, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comparisons_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
