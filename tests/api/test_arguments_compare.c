/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to comparisons of models; see test_arguments.c. */
#include "api/refused.h"

static void comparisons(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"},
                     nothing = {.size = sizeof nothing, .target = "nosuch"};
    const hf_contender rivals[] = {{"one", workshop_untrained()}, {"two", workshop_untrained()}};
    const hf_contender nameless = {NULL, workshop_untrained()};
    const hf_compare_settings settings = {.size = sizeof(hf_compare_settings), .folds = 3, .repeats = 1},
                              one = {.size = sizeof(hf_compare_settings), .folds = 1, .repeats = 1},
                              many = {.folds = 100, .repeats = 1},
                              never = {.size = sizeof(hf_compare_settings), .folds = 3, .repeats = 0};
    hf_comparison *out = NULL;
    hf_criterion by = HF_CRITERION_MAE;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CRITERION, "luck", &by));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CRITERION, NULL, &by));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CRITERION, "crps", NULL));
    assert_int_equal(by, HF_CRITERION_MAE);
    /* The usual ten folds are more than the readings of the workshop. */
    const hf_compare_settings usual = hf_compare_settings_default();
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, rivals, &usual, &out));
    assert_string_equal(hf_enum_name(HF_ENUM_CRITERION, (unsigned)99), "unknown");
    ARGUMENT(hf_compare(w->ctx, NULL, &columns, 2, rivals, &settings, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, NULL, 2, rivals, &settings, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 0, rivals, &settings, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, NULL, &settings, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, rivals, &settings, NULL));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, rivals, &one, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, rivals, &many, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 2, rivals, &never, &out));
    ARGUMENT(hf_compare(w->ctx, w->table, &columns, 1, &nameless, &settings, &out));
    REFUSED(HF_ERR_NO_COLUMN, hf_compare(w->ctx, w->table, &nothing, 2, rivals, &settings, &out));
    assert_null(out);
    assert_int_equal(hf_compare(w->ctx, w->table, &columns, 2, rivals, &settings, &out), HF_OK);
    double difference = 77.0;
    ARGUMENT(hf_comparison_difference(w->ctx, NULL, HF_CRITERION_CRPS, 0, 1, &difference, NULL));
    ARGUMENT(hf_comparison_difference(w->ctx, out, HF_CRITERION_CRPS, 2, 1, &difference, NULL));
    ARGUMENT(hf_comparison_difference(w->ctx, out, HF_CRITERION_CRPS, 0, 2, &difference, NULL));
    ARGUMENT(hf_comparison_difference(w->ctx, out, HF_CRITERION_CRPS, 0, 1, NULL, NULL));
    assert_true(difference == 77.0);
    assert_null(hf_comparison_name(out, 2));
    assert_null(hf_comparison_scores(out, 2));
    assert_null(hf_comparison_folds(out, 1));
    assert_null(hf_comparison_means(out, 0, 1));
    assert_null(hf_comparison_means(out, 2, 0));
    assert_null(hf_comparison_sds(NULL, 0, 0));
    assert_null(hf_comparison_rows(NULL));
    assert_null(hf_comparison_targets(NULL));
    assert_null(hf_comparison_settings_of(NULL));
    assert_int_equal(hf_comparison_models(NULL), 0);
    assert_int_equal(hf_comparison_readings(NULL), 0);
    assert_int_equal(hf_comparison_best(NULL, HF_CRITERION_CRPS), 0);
    hf_comparison_free(NULL);
    hf_comparison_free(out);
}

REFUSED_TEST(comparisons)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comparisons_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
