/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a fit: everything its result depends on. */
#include "checkpoint/journal.h"
#include "core/settings.h"
#include <holdfast/version.h>
#include <math.h>
#include <string.h>

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

/* By the table. */
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

static uint64_t end_part(hfi_sha256 *hash)
{
    unsigned char digest[HFI_SHA256_BYTES];
    uint64_t part;
    hfi_sha256_end(hash, digest);
    memcpy(&part, digest, sizeof part);
    return part;
}

/* All parts but the data. Inputs and actions have a length by the data, or none. */
static hfi_fingerprint begin_fingerprint(const hf_context *ctx, size_t d, const hf_fit_settings *settings)
{
    hfi_sha256 version, hash;
    hf_fit_settings others = *settings;
    others.sites = HF_LIKELIHOOD_GAUSSIAN;
    hfi_sha256_init(&version);
    hfi_sha256_add_text(&version, hf_version());
    hfi_sha256_init(&hash);
    add_settings(&hash, &others);
    if (settings->inducing_inputs) add_numbers(&hash, settings->inducing * d, settings->inducing_inputs);
    if (settings->action_matrix)
        add_numbers(&hash, settings->action_rows * settings->actions, settings->action_matrix);
    return (hfi_fingerprint){{[HFI_FINGERPRINT_LIKELIHOOD] = (uint64_t)settings->sites,
                              [HFI_FINGERPRINT_SETTINGS] = end_part(&hash),
                              [HFI_FINGERPRINT_SEED] = hf_context_seed(ctx),
                              [HFI_FINGERPRINT_VERSION] = end_part(&version)}};
}

static void add_names(hfi_sha256 *hash, size_t d, const char *const *names)
{
    for (size_t j = 0; names && j < d; j++) add_optional(hash, names[j]);
}

hfi_fingerprint hfi_fit_fingerprint(const hf_context *ctx, const hf_data *data,
                                    const hf_fit_settings *settings)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add_u64(&hash, data->n);
    hfi_sha256_add_u64(&hash, data->d);
    for (size_t i = 0; i < data->n; i++)
        hfi_sha256_add(&hash, data->x + i * data->ldx, data->d * sizeof *data->x);
    add_numbers(&hash, data->n, data->y);
    add_numbers(&hash, data->n, data->noise);
    add_numbers(&hash, data->n, data->exposure);
    add_names(&hash, data->d, data->names);
    hfi_sha256_add_u64(&hash, data->aside != NULL);
    for (size_t i = 0; data->aside && i < data->n; i++) hfi_sha256_add_u64(&hash, data->aside[i]);
    hfi_sha256_add_u64(&hash, hfi_larger(data->outputs, 1));
    hfi_sha256_add_u64(&hash, data->sample != NULL);
    for (size_t i = 0; data->sample && i < data->n; i++) hfi_sha256_add_u64(&hash, data->sample[i]);
    hfi_fingerprint made = begin_fingerprint(ctx, data->d, settings);
    hfi_rows_fingerprint_end(&hash, &made);
    return made;
}

hfi_fingerprint hfi_rows_fingerprint_begin(const hf_context *ctx, size_t n, size_t d,
                                           const char *const *names, bool extra,
                                           const hf_fit_settings *settings, hfi_sha256 *hash)
{
    hfi_sha256_init(hash);
    hfi_sha256_add_u64(hash, n);
    hfi_sha256_add_u64(hash, d);
    hfi_sha256_add_text(hash, extra ? "rows with noise" : "rows");
    hfi_sha256_add_u64(hash, names != NULL);
    add_names(hash, d, names);
    return begin_fingerprint(ctx, d, settings);
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

void hfi_rows_fingerprint_end(hfi_sha256 *hash, hfi_fingerprint *fingerprint)
{
    fingerprint->part[HFI_FINGERPRINT_DATA] = end_part(hash);
}

void hfi_fingerprint_difference(const hfi_fingerprint *a, const hfi_fingerprint *b, char text[64])
{
    static const char *const names[HFI_FINGERPRINT_PARTS] = {"data", "likelihood", "settings", "seed",
                                                             "version of the library"};
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < HFI_FINGERPRINT_PARTS; k++)
        if (a->part[k] != b->part[k])
            used += (size_t)hfi_print(text + used, 64 - used, "%s%s", used > 0 ? ", " : "", names[k]);
}
