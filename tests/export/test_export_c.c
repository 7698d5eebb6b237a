/* SPDX-License-Identifier: Apache-2.0 */
/* The factor in 16 bits is near enough, and numbers that a float has not are refused. tests/tool/test_export.py compiles. */
#include "export/export_c.h"
#include "model/model_testing.h"

#include <float.h>
#include <unistd.h>

static const char path[] = "model-export.c";

/* Columns that shrink: the first ones are beyond 16 bits, and the others lose half a step at most. */
static void sixteen_bits_are_half_a_step_off(void **state)
{
    (void)state;
    enum {
        N = 12
    };
    double l[N * N] = {0.0};
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++)
            l[i + j * N] = i == j ? 0.1 + pow(8.0, 3.0 - (double)j)
                                  : pow(8.0, 3.0 - (double)j) * cos((double)(3 * i + j));
    const size_t lead = hfi_compact_lead(N, l, N);
    assert_in_range(lead, 1, 5);
    for (size_t i = lead; i < N; i++) {
        const double step = hfi_compact_step(l, N, i, lead);
        for (size_t j = lead; j < i; j++) {
            const double entry = hfi_compact_entry(l[i + j * N], step);
            assert_true(fabs(entry) <= 32767.0 && entry == nearbyint(entry));
            assert_true(fabs(entry * step - l[i + j * N]) <= 0.5000001 * step);
        }
    }
    /* A factor of the unit matrix has nothing beyond 16 bits, and no step. */
    memset(l, 0, sizeof l);
    for (size_t j = 0; j < N; j++) l[j * (N + 1)] = 1.0;
    assert_int_equal(hfi_compact_lead(N, l, N), 0);
    assert_true(hfi_compact_step(l, N, 5, 0) == 0.0 && hfi_compact_entry(0.0, 0.0) == 0.0);
}

static hf_model *scaled_model(hf_context *ctx, double scale)
{
    char text[4000] = "a,y\n";
    size_t used = strlen(text);
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%.17g\n", i, scale * sin(0.7 * i));
    hf_table *table = table_of(ctx, text);
    const hf_columns columns = {.target = "y"};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = NULL;
    settings.train = false;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static void floats_have_their_range(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int k = 0; k < 2; k++) {
        hf_model *model = scaled_model(ctx, k == 0 ? 1e60 : 1e-60);
        hf_export_settings settings = hf_export_settings_default();
        hf_export_report report = {0};
        assert_int_equal(hf_export_c(ctx, model, &settings, path, &report), HF_OK);
        assert_true(report.probes == 0 && report.data_bytes > 20 * 19 / 2 * sizeof(double));
        unlink(path);
        settings.single = true;
        assert_int_equal(hf_export_c(ctx, model, &settings, path, &report), HF_ERR_NOT_FINITE);
        assert_non_null(strstr(hf_context_message(ctx), "double precision"));
        assert_int_not_equal(access(path, F_OK), 0);
        hf_model_free(model);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sixteen_bits_are_half_a_step_off),
                                       cmocka_unit_test(floats_have_their_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
