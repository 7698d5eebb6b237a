/* SPDX-License-Identifier: Apache-2.0 */
/* The factor in few bits is near enough, and numbers that a float has not are refused.
 * tests/tool/test_export.py compiles. */
#include "export/export_c.h"
#include "model/model_testing.h"

#include <float.h>
#include <unistd.h>

static const char path[] = "model-export.c";

enum {
    N = 40
};

/* The factor of a smooth kernel's matrix, 50 in size, and little noise: columns shrink to it. */
static void shrinking(double noise, double *l)
{
    memset(l, 0, N * N * sizeof *l);
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++) {
            const double apart = (double)(i - j) / 3.0;
            double rest = 50.0 * exp(-0.5 * apart * apart) + (i == j ? noise : 0.0);
            for (size_t k = 0; k < j; k++) rest -= l[i + k * N] * l[j + k * N];
            l[i + j * N] = i == j ? sqrt(rest) : rest / l[j * (N + 1)];
        }
}

/* The largest entry of L L' - T T'. */
static double apart(const double *l, const double *t)
{
    double most = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k <= j; k++) sum += l[i + k * N] * l[j + k * N] - t[i + k * N] * t[j + k * N];
            most = fmax(most, fabs(sum));
        }
    return most;
}

/* Each entry is a whole number of steps, and T T' is off by half a step times a pivot: far less than by
 * rounding of L. */
static void later_columns_make_up_for_rounding(void **state)
{
    (void)state;
    double l[N * N], t[N * N], step[N], room[2 * N], rounded[N * N];
    hfi_split_factor s = {.n = N, .lead = 8, .compact = true, .t = t, .step = step};
    shrinking(0.01, l);
    assert_true(hfi_split_make(&s, l, N, true, room));
    double bound = 1e-12;
    memcpy(rounded, l, sizeof l);
    for (size_t j = 0; j < N; j++) {
        const double most = j < 8 ? 2147483647.0 : 32767.0;
        for (size_t i = j + 1; i < N; i++) {
            const double entry = t[i + j * N] / step[j];
            assert_true(fabs(entry) <= most + 1e-5 && fabs(entry - nearbyint(entry)) < 1e-5);
            rounded[i + j * N] = step[j] * nearbyint(l[i + j * N] / step[j]);
        }
        bound = fmax(bound, 0.5001 * step[j] * t[j * (N + 1)]);
    }
    assert_true(apart(l, t) <= bound);
    assert_true(apart(l, t) < 0.2 * apart(l, rounded));
    /* With all columns in 32 bits it is L, rounded. */
    s.lead = N;
    assert_true(hfi_split_make(&s, l, N, false, room));
    for (size_t k = 0; k < N * N; k++) assert_true(fabs(t[k] - l[k]) <= 1e-8);
    /* A factor of the unit matrix has nothing to round, and no step. */
    memset(l, 0, sizeof l);
    for (size_t j = 0; j < N; j++) l[j * (N + 1)] = 1.0;
    s.lead = 0;
    assert_true(hfi_split_make(&s, l, N, true, room));
    for (size_t j = 0; j < N; j++) assert_true(step[j] == 0.0 && t[j * (N + 1)] == 1.0);
}

/* Where a step of 16 bits is more than the last pivots, there is nothing left to factor, and it says so. */
static void too_few_leading_columns_are_noticed(void **state)
{
    (void)state;
    double l[N * N], t[N * N], step[N], room[2 * N];
    hfi_split_factor s = {.n = N, .compact = true, .t = t, .step = step};
    shrinking(1e-9, l);
    assert_false(hfi_split_make(&s, l, N, true, room));
    s.lead = N;
    assert_true(hfi_split_make(&s, l, N, true, room));
    assert_true(apart(l, t) < 1e-7);
}

static hf_model *scaled_model(hf_context *ctx, double scale)
{
    char text[4000] = "a,y\n";
    size_t used = strlen(text);
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%.17g\n", i, scale * sin(0.7 * i));
    hf_table *table = table_of(ctx, text);
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
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

static bool no_work(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    (void)user;
    fail_msg("%s comes before the name is looked at", stage);
    return false;
}

/* A word of the file is found before the factor is rounded, and before the file is opened. */
static void names_of_the_file_come_first(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_model *model = scaled_model(ctx, 1.0);
    hf_export_settings settings = hf_export_settings_default();
    settings.single = true;
    hf_context_set_progress(ctx, no_work, NULL);
    static const char *const names[] = {"main", "kernel", "factor_lead", "factor_rest", "squared"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        settings.name = names[i];
        assert_int_equal(hf_export_c(ctx, model, &settings, "no/such/folder.c", NULL), HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(ctx), names[i]));
    }
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Numbers that no type has come with advice where there is any. */
static void advice_is_for_single_precision(void **state)
{
    (void)state;
    static const double values[] = {NAN, INFINITY, 1e60};
    hf_context *ctx = hf_context_create();
    for (int k = 0; k < 6; k++) {
        hf_export_settings settings = hf_export_settings_default();
        hfi_emitter e;
        settings.single = k >= 3;
        assert_int_equal(hfi_emit_begin(ctx, &settings, &e), HF_OK);
        assert_int_equal(hfi_emit_to(&e, path), HF_OK);
        hfi_emit_real(&e, values[k % 3]);
        assert_int_equal(hfi_emit_end(&e), k == 2 ? HF_OK : HF_ERR_NOT_FINITE);
        if (k != 2) assert_true((strstr(hf_context_message(ctx), "double precision") != NULL) == (k >= 3));
        assert_int_equal(access(path, F_OK) == 0, k == 2);
        unlink(path);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_columns_make_up_for_rounding),
        cmocka_unit_test(too_few_leading_columns_are_noticed), cmocka_unit_test(floats_have_their_range),
        cmocka_unit_test(names_of_the_file_come_first), cmocka_unit_test(advice_is_for_single_precision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
