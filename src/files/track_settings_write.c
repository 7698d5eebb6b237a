/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a track into its file. */
#include "files/track_store.h"

#include <holdfast/version.h>

static void write_meta(hfi_writer *w, const hf_track_settings *s, const char *target, bool labelled)
{
    sqlite3_stmt *statement = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    hfi_writer_meta_text(w, statement, "format", "holdfast track");
    hfi_writer_meta_text(w, statement, "library", hf_version());
    hfi_writer_meta_text(w, statement, "target", target);
    hfi_writer_meta_text(w, statement, "kernel", s->kernel);
    hfi_writer_meta_size(w, statement, "inputs", s->domain.dimension);
    hfi_writer_meta_size(w, statement, "named", s->names != NULL ? 1 : 0);
    hfi_writer_meta_size(w, statement, "candidates", s->domain.candidates);
    hfi_writer_meta_size(w, statement, "labelled", labelled ? 1 : 0);
    hfi_writer_meta_size(w, statement, "age_entries", s->age.kind == HF_AGE_TABLE ? s->age.entries : 0);
    hfi_writer_settings(w, statement, hf_track_settings_table(), s);
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
