/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model_testing.h
 * @brief Tables and models that several tests of the model room use.
 */
#ifndef TESTS_MODEL_TESTING_H
#define TESTS_MODEL_TESTING_H

#include "data/support.h"

#include <holdfast/model.h>

#include "core/core.h"

#include <math.h>

/* n rows of y = sin(2 a) + b/2 + noise, with `bad` of them far off, as CSV text. free() it. */
static inline char *wavy_csv(size_t n, size_t bad)
{
    size_t bytes = 64 + 96 * n, used;
    char *text = malloc(bytes);
    assert_non_null(text);
    used = (size_t)snprintf(text, bytes, "a,b,y\n");
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        double a = 4.0 * hfi_stream_uniform(&stream), b = hfi_stream_normal(&stream);
        double y = sin(2.0 * a) + 0.5 * b + 0.05 * hfi_stream_normal(&stream);
        if (bad > 0 && i % (n / bad) == 1) y += i % 2 == 0 ? 8.0 : -9.0;
        used += (size_t)snprintf(text + used, bytes - used, "%.17g,%.17g,%.17g\n", a, b, y);
    }
    return text;
}

static inline hf_table *wavy_table(hf_context *ctx, size_t n, size_t bad)
{
    char *text = wavy_csv(n, bad);
    hf_table *table = table_of(ctx, text);
    free(text);
    return table;
}

/* Settings that need no training: every value is given. */
static const hf_assignment plain_values[] = {{"outputscale", 1.3},
                                             {"lengthscale[0]", 0.8},
                                             {"lengthscale[1]", 2.5},
                                             {"noise", 0.04},
                                             {"mean", 0.25}};

static inline hf_fit_settings untrained(void)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    settings.standardise = false;
    settings.set = plain_values;
    settings.set_count = sizeof plain_values / sizeof plain_values[0];
    return settings;
}

static inline hf_model *model_of(hf_context *ctx, const hf_table *table,
                                 const hf_fit_settings *settings)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    hf_status status = hf_fit(ctx, table, &columns, settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

/* Numbers of a column that must be there. */
static inline const double *column_of(hf_context *ctx, const hf_table *table, const char *name)
{
    size_t column = 0;
    const double *numbers = NULL;
    if (hf_table_find(ctx, table, name, &column) < 0 ||
        hf_table_numbers(ctx, table, column, &numbers) < 0)
        fail_msg("%s", hf_context_message(ctx));
    return numbers;
}

static inline void assert_close(double a, double b, double relative)
{
    if (fabs(a - b) > relative * fmax(1.0, fabs(b))) fail_msg("%.17g is not near %.17g", a, b);
}

#endif
