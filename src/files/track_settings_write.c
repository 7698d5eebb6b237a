/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a track into its file. */
#include "files/track_store.h"

#include <holdfast/version.h>

static const char *const methods[] = {"gp-ucb",   "r-gp-ucb",  "sw-gp-ucb", "tv-gp-ucb",
                                      "w-gp-ucb", "ui-gp-ucb", "sparq",     "sparq-reuse"};
static const char *const laws[] = {"none", "quadratic", "linear", "exponential", "wiener", "table"};
static const char *const discards[] = {"negligible", "log", "variance"};
static const char *const betas[] = {"practical", "theory", "given"};
static const char *const places[] = {"variance", "upper", "dpp", "anywhere", "dpp-falling"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SETTING(field, type)                                                                                 \
    {                                                                                                        \
        "settings." #field, type, offsetof(hf_track_settings, field), NULL, 0, 1                             \
    }
#define SETTING_CHOICE(field, list)                                                                          \
    {                                                                                                        \
        "settings." #field, HFI_CHOICE, offsetof(hf_track_settings, field), list, COUNT(list), 1             \
    }

const hfi_file_field hfi_track_fields[] = {
    SETTING_CHOICE(method, methods),
    SETTING(minimise, HFI_FLAG),
    SETTING(noise, HFI_REAL),
    SETTING(expert_noise, HFI_REAL),
    SETTING(mean_given, HFI_FLAG),
    SETTING(mean, HFI_REAL),
    SETTING_CHOICE(age.kind, laws),
    SETTING(age.rate, HFI_REAL),
    SETTING_CHOICE(discard, discards),
    SETTING(discard_variance, HFI_REAL),
    SETTING(negligible, HFI_REAL),
    SETTING(window, HFI_REAL),
    SETTING(forgetting, HFI_REAL),
    SETTING_CHOICE(beta_rule, betas),
    SETTING(beta, HFI_REAL),
    SETTING(norm_bound, HFI_REAL),
    SETTING(delta, HFI_REAL),
    SETTING(robust, HFI_REAL),
    SETTING_CHOICE(places, places),
    SETTING(query_factor, HFI_REAL),
    SETTING(query_power, HFI_REAL),
    SETTING(queries, HFI_SIZE),
    SETTING(every, HFI_REAL),
    SETTING(tolerance, HFI_REAL),
    SETTING(superseded, HFI_REAL),
    SETTING(expert_after, HFI_FLAG),
    SETTING(most_places, HFI_SIZE),
    SETTING(search.samples, HFI_SIZE),
    SETTING(search.starts, HFI_SIZE),
    SETTING(search.iterations, HFI_SIZE),
    SETTING(search.resolution, HFI_REAL),
};
const size_t hfi_track_field_count = COUNT(hfi_track_fields);

static void write_meta(hfi_writer *w, const hf_track_settings *settings, const char *target, bool labelled)
{
    hf_track_settings s = *settings;
    hfi_writer_shorten(&s.queries);
    hfi_writer_shorten(&s.most_places);
    hfi_writer_shorten(&s.search.samples);
    hfi_writer_shorten(&s.search.starts);
    hfi_writer_shorten(&s.search.iterations);
    sqlite3_stmt *statement = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    hfi_writer_meta_text(w, statement, "format", "holdfast track");
    hfi_writer_meta_text(w, statement, "library", hf_version());
    hfi_writer_meta_text(w, statement, "target", target);
    hfi_writer_meta_text(w, statement, "kernel", s.kernel);
    hfi_writer_meta_size(w, statement, "inputs", s.domain.dimension);
    hfi_writer_meta_size(w, statement, "named", s.names != NULL ? 1 : 0);
    hfi_writer_meta_size(w, statement, "candidates", s.domain.candidates);
    hfi_writer_meta_size(w, statement, "labelled", labelled ? 1 : 0);
    hfi_writer_meta_size(w, statement, "age_entries", s.age.kind == HF_AGE_TABLE ? s.age.entries : 0);
    for (size_t i = 0; i < hfi_track_field_count; i++) {
        hfi_writer_bind_text(w, statement, 1, hfi_track_fields[i].key);
        if (w->rc == SQLITE_OK) w->rc = hfi_file_field_bind(statement, 2, &hfi_track_fields[i], &s);
        hfi_writer_step(w, statement);
    }
    sqlite3_finalize(statement);
}

void hfi_track_write_settings(hfi_writer *w, const hf_track_settings *settings, const char *target,
                              const char *const *labels)
{
    const hf_domain *domain = &settings->domain;
    const size_t d = domain->dimension;
    write_meta(w, settings, target, labels != NULL);
    if (settings->names != NULL) hfi_writer_texts(w, &hfi_track_inputs, 0, d, settings->names);
    if (labels != NULL) hfi_writer_texts(w, &hfi_track_candidates, 0, domain->candidates, labels);
    if (domain->candidates > 0) {
        hfi_writer_array(w, "points", domain->candidates, d, domain->points);
    } else {
        hfi_writer_array(w, "lower", d, 1, domain->lower);
        hfi_writer_array(w, "upper", d, 1, domain->upper);
    }
    if (settings->age.kind != HF_AGE_TABLE) return;
    hfi_writer_array(w, "ages", settings->age.entries, 1, settings->age.ages);
    hfi_writer_array(w, "added", settings->age.entries, 1, settings->age.added);
}
