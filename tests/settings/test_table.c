/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings: what its rows say agrees with itself, and what is wrong with settings is told. */
#include "core/settings.h"

#include "core/core.h"

#include <holdfast/train.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void rows_make_sense(void **state)
{
    (void)state;
    for (size_t i = 0; i < hf_fit_settings_table()->count; i++) {
        const hfi_setting *row = &hf_fit_settings_table()->row[i];
        const hf_setting *face = &row->face;
        const bool choice = face->type == HF_SETTING_CHOICE, list = face->type >= HF_SETTING_TEXT;
        assert_true((face->choices > 0) == choice);
        assert_true(hfi_setting_kept(row) <= HFI_MOST_CHOICES && face->choices <= HFI_MOST_CHOICES);
        for (size_t k = 0; choice && k < face->choices; k++)
            assert_string_not_equal(hf_enum_name(row->names, (unsigned)k), "unknown");
        const size_t most = hfi_setting_kept(row) > face->choices ? hfi_setting_kept(row) : face->choices;
        if (choice) assert_string_equal(hf_enum_name(row->names, (unsigned)most), "unknown");
        if (face->zero) assert_true(row->initial == 0.0 && (face->above || face->least > 0.0));
        assert_false(list && (row->initial != 0.0 || row->since > 0));
        assert_true(face->option == NULL || face->help != NULL);
        assert_true(face->option || !face->argument);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(face->name, hf_fit_settings_table()->row[k].face.name);
            if (face->option && hf_fit_settings_table()->row[k].face.option)
                assert_string_not_equal(face->option, hf_fit_settings_table()->row[k].face.option);
        }
        if (face->type == HF_SETTING_LENGTH) assert_int_equal(row[-1].face.type, HF_SETTING_LIST);
    }
}

/* Spoils one member; the message names it, its value and what is possible. */
static void is_told(hf_context *ctx, const char *name, double value, const char *said)
{
    hf_fit_settings s = hf_fit_settings_default();
    size_t i = 0;
    while (strcmp(hf_fit_settings_table()->row[i].face.name, name) != 0) i++;
    hfi_setting_assign(&hf_fit_settings_table()->row[i], value, &s);
    assert_int_equal(hfi_settings_ranges(ctx, hf_fit_settings_table(), &s), HF_ERR_ARGUMENT);
    if (!strstr(hf_context_message(ctx), said)) fail_msg("%s: %s", said, hf_context_message(ctx));
    assert_non_null(strstr(hf_context_message(ctx), name));
}

static void values_out_of_range_are_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings s = hf_fit_settings_default();
    assert_int_equal(hfi_settings_ranges(ctx, hf_fit_settings_table(), &s), HF_OK);
    is_told(ctx, "eps", 1.0, "eps is 1; give a number from 0 to less than 1");
    is_told(ctx, "eps", -0.25, "-0.25");
    is_told(ctx, "eps", NAN, "nan");
    is_told(ctx, "student_nu", 1.0, "a number more than 1, or 0: trained");
    is_told(ctx, "learning_rate", 0.0, "a positive number");
    is_told(ctx, "learning_rate", INFINITY, "inf");
    is_told(ctx, "rounds", 0.0, "rounds is 0; give a whole number, at least 1");
    is_told(ctx, "sites", 99.0, "'99'; give gaussian");
    is_told(ctx, "mean", HF_MEAN_OUTPUTS, "give zero"); /* what a fit makes by itself */
    is_told(ctx, "set_count", 2.0, "set_count is 2, but set is NULL");
    s.threshold = INFINITY, s.inducing = 0, s.beta = 0.0;
    assert_int_equal(hfi_settings_ranges(ctx, hf_fit_settings_table(), &s), HF_OK);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_make_sense),
        cmocka_unit_test(values_out_of_range_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
