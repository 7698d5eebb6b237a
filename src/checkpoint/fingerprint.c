/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a fit: everything its result depends on. */
#include "checkpoint/journal.h"
#include "core/settings.h"
#include <holdfast/version.h>
#include <math.h>

static void add_optional(hfi_sha256 *hash, const char *text)
{
    hfi_sha256_add_u64(hash, text != NULL);
    if (text) hfi_sha256_add_text(hash, text);
}

/* Every NaN is the same missing number. */
static void add_numbers(hfi_sha256 *hash, size_t count, const double *values)
{
    hfi_sha256_add_u64(hash, values != NULL);
    for (size_t i = 0; values && i < count; i++)
        hfi_sha256_add_double(hash, isnan(values[i]) ? NAN : values[i]);
}

static void add_assignments(hfi_sha256 *hash, size_t count, const hf_assignment *list)
{
    for (size_t i = 0; i < count; i++) {
        hfi_sha256_add_text(hash, list[i].name);
        hfi_sha256_add_double(hash, list[i].value);
    }
}

/* By the table; lists whose length is a matter of the data are added with the data. */
static void add_settings(hfi_sha256 *hash, const hf_fit_settings *s)
{
    const hf_settings_table *table = hf_fit_settings_table();
    for (size_t i = 0; i < table->count; i++) {
        const hfi_setting *row = &table->row[i];
        const hf_setting_type type = row->face.type;
        if (row->unhashed || type == HF_SETTING_TEXT || type == HF_SETTING_LIST) continue;
        if (type == HF_SETTING_NUMBER)
            hfi_sha256_add_double(hash, hfi_setting_value(row, s));
        else
            hfi_sha256_add_u64(hash, hfi_setting_whole(row, s));
    }
    add_optional(hash, s->kernel);
    add_numbers(hash, s->output_eps_count, s->output_eps);
    add_numbers(hash, s->output_beta_count, s->output_beta);
    add_assignments(hash, s->set_count, s->set);
    add_assignments(hash, s->start_count, s->start);
}

static void begin(const hf_context *ctx, const hf_fit_settings *settings, size_t n, size_t d,
                  hfi_sha256 *hash)
{
    hfi_sha256_init(hash);
    hfi_sha256_add_text(hash, hf_version());
    hfi_sha256_add_u64(hash, hf_context_seed(ctx));
    add_settings(hash, settings);
    hfi_sha256_add_u64(hash, n);
    hfi_sha256_add_u64(hash, d);
}

static void add_names(hfi_sha256 *hash, size_t d, const char *const *names)
{
    for (size_t j = 0; names && j < d; j++) add_optional(hash, names[j]);
}

void hfi_fit_fingerprint(const hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                         unsigned char fingerprint[HFI_SHA256_BYTES])
{
    hfi_sha256 hash;
    begin(ctx, settings, data->n, data->d, &hash);
    for (size_t i = 0; i < data->n; i++)
        hfi_sha256_add(&hash, data->x + i * data->ldx, data->d * sizeof *data->x);
    add_numbers(&hash, data->n, data->y);
    add_numbers(&hash, data->n, data->noise);
    if (settings->inducing_inputs)
        add_numbers(&hash, settings->inducing * data->d, settings->inducing_inputs);
    if (settings->action_matrix)
        add_numbers(&hash, settings->action_rows * settings->actions, settings->action_matrix);
    add_names(&hash, data->d, data->names);
    hfi_sha256_add_u64(&hash, data->aside != NULL);
    for (size_t i = 0; data->aside && i < data->n; i++) hfi_sha256_add_u64(&hash, data->aside[i]);
    hfi_sha256_add_u64(&hash, data->outputs > 1 ? data->outputs : 1);
    hfi_sha256_add_u64(&hash, data->sample != NULL);
    for (size_t i = 0; data->sample && i < data->n; i++) hfi_sha256_add_u64(&hash, data->sample[i]);
    hfi_sha256_end(&hash, fingerprint);
}

void hfi_rows_fingerprint_begin(const hf_context *ctx, size_t n, size_t d, const char *const *names,
                                bool extra, const hf_fit_settings *settings, hfi_sha256 *hash)
{
    begin(ctx, settings, n, d, hash);
    hfi_sha256_add_text(hash, extra ? "rows with noise" : "rows");
    hfi_sha256_add_u64(hash, names != NULL);
    add_names(hash, d, names);
}

void hfi_rows_fingerprint_add(size_t d, size_t count, const double *x, const double *y, const double *extra,
                              hfi_sha256 *hash)
{
    for (size_t i = 0; i < count; i++) {
        hfi_sha256_add(hash, x + i * d, d * sizeof *x);
        add_numbers(hash, 1, y + i);
        add_numbers(hash, 1, extra + i);
    }
}
