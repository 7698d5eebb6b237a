/* SPDX-License-Identifier: Apache-2.0 */
/* Random restarts gain next to nothing over the starts that a fit tries by itself, on the data that come with it. */
#include <holdfast/holdfast.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static double total(const char *file, const char *target, size_t restarts)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL;
    hf_model *model = NULL;
    hf_fit_settings settings;
    hf_fit_report report;
    const hf_columns columns = {.size = sizeof columns, .target = target};
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &settings, sizeof settings), HF_OK);
    settings.restarts = restarts;
    assert_true(hf_table_read_csv(ctx, file, &table) >= 0);
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, &report) >= 0);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
    return report.objective + report.log_prior;
}

static void restarts_gain_little(void **state)
{
    (void)state;
    const char *const tables[][2] = {{"data/boston.csv", "medv"}, {"data/hills.csv", "minutes"}};
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        const double alone = total(tables[k][0], tables[k][1], 0);
        const double more = total(tables[k][0], tables[k][1], 3);
        assert_true(more > alone - 0.5);
        assert_true(more < alone + 5.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restarts_gain_little)};
    return cmocka_run_group_tests_name("restarts", tests, NULL, NULL);
}
