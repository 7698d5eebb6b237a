/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a track's file; its settings into them, and out of them. */
#include "files/track_store.h"

#include <holdfast/version.h>

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static const hfi_file_table tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"},
    {"input", "CREATE TABLE input (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL)",
     "SELECT position, name FROM input ORDER BY position"},
    {"candidate", "CREATE TABLE candidate (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL)",
     "SELECT position, name FROM candidate ORDER BY position"},
    {"array",
     "CREATE TABLE array (name TEXT PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, columns INTEGER NOT NULL, "
     "data BLOB NOT NULL)",
     "SELECT name, rows, columns, data FROM array ORDER BY name"},
};

static const hfi_text_rows input_rows = {.noun = "input",
                                         .insert = "INSERT INTO input (position, name) VALUES (?1, ?2)",
                                         .select = "SELECT position, name FROM input ORDER BY position"};
static const hfi_text_rows candidate_rows = {
    .noun = "candidate",
    .insert = "INSERT INTO candidate (position, name) VALUES (?1, ?2)",
    .select = "SELECT position, name FROM candidate ORDER BY position"};

static const hfi_ledger_kind kinds[HFI_EVENTS] = {[HFI_EVENT_TOLD] = {"told", HFI_ENTRY_ALONE},
                                                  [HFI_EVENT_ASKED] = {"asked", HFI_ENTRY_ALONE},
                                                  [HFI_EVENT_REQUESTED] = {"requested", HFI_ENTRY_LISTED},
                                                  [HFI_EVENT_ANSWERED] = {"answered", HFI_ENTRY_ALONE},
                                                  [HFI_EVENT_TRUTH] = {"truth", HFI_ENTRY_ALONE},
                                                  [HFI_EVENT_FITTED] = {"fitted", HFI_ENTRY_ALONE},
                                                  [HFI_EVENT_BATCH] = {"batch", HFI_ENTRY_LIST}};

const hfi_ledger_form hfi_track_form = {
    .file = &hfi_kind_track,
    .version = HFI_TRACK_PLAIN,
    .tables = {.count = sizeof tables / sizeof tables[0], .table = tables},
    .kinds = HFI_EVENTS,
    .kind = kinds,
    .payload = "numbers"};

/* ---- into the file -------------------------------------------------------------------------------------------- */

static void write_meta(hfi_writer *w, const hf_track_settings *s, const char *target, bool labelled)
{
    hfi_writer_meta(w, "format", hfi_text("holdfast track"));
    hfi_writer_meta(w, "library", hfi_text(hf_version()));
    hfi_writer_meta(w, "target", hfi_text(target));
    hfi_writer_meta(w, "kernel", hfi_text(s->kernel));
    hfi_writer_meta(w, "inputs", hfi_whole(s->domain.dimension));
    hfi_writer_meta(w, "named", hfi_whole(s->names != NULL ? 1 : 0));
    hfi_writer_meta(w, "candidates", hfi_whole(s->domain.candidates));
    hfi_writer_meta(w, "labelled", hfi_whole(labelled ? 1 : 0));
    hfi_writer_meta(w, "age_entries", hfi_whole(s->age.kind == HF_AGE_TABLE ? s->age.entries : 0));
    hfi_writer_settings(w, hf_track_settings_table(), s);
}

void hfi_track_write_settings(hfi_writer *w, const hf_track_settings *settings, const char *target,
                              const char *const *labels)
{
    const hf_domain *domain = &settings->domain;
    const size_t d = domain->dimension;
    write_meta(w, settings, target, labels != NULL);
    if (settings->names != NULL) hfi_writer_texts(w, &input_rows, 0, d, settings->names);
    if (labels != NULL) hfi_writer_texts(w, &candidate_rows, 0, domain->candidates, labels);
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

/* ---- out of it ------------------------------------------------------------------------------------------------ */

static hf_status read_arrays(const hfi_reader *r, hfi_track_own *out)
{
    hf_track_settings *s = &out->s;
    const size_t d = s->domain.dimension, m = s->domain.candidates, entries = s->age.entries;
    hf_status status = HF_OK;
    if (m > 0) {
        status = hfi_array_new(r, "points", m, d, false, &out->points);
    } else {
        status = hfi_array_new(r, "lower", d, 1, false, &out->lower);
        if (status >= 0) status = hfi_array_new(r, "upper", d, 1, false, &out->upper);
    }
    if (status >= 0 && entries > 0) status = hfi_array_new(r, "ages", entries, 1, false, &out->ages);
    if (status >= 0 && entries > 0) status = hfi_array_new(r, "added", entries, 1, false, &out->added);
    s->domain.points = out->points;
    s->domain.lower = out->lower;
    s->domain.upper = out->upper;
    s->age.ages = out->ages;
    s->age.added = out->added;
    return status;
}

/* Nothing is allocated for more than the file has bytes for. */
static hf_status read_sizes(const hfi_reader *r, hf_track_settings *s, bool *named, bool *labelled)
{
    size_t d = 0, m = 0, entries = 0;
    hf_status status = hfi_meta_size(r, "inputs", &d);
    if (status >= 0) status = hfi_meta_size(r, "candidates", &m);
    if (status >= 0) status = hfi_meta_size(r, "age_entries", &entries);
    if (status >= 0) status = hfi_meta_flag(r, "named", named);
    if (status >= 0) status = hfi_meta_flag(r, "labelled", labelled);
    if (status < 0) return status;
    if (d == 0 || !hfi_reader_has_room(r, 1, d) || !hfi_reader_has_room(r, m, d) ||
        !hfi_reader_has_room(r, entries, 1) || (s->age.kind == HF_AGE_TABLE) != (entries > 0) ||
        (*labelled && m == 0))
        return hfi_meta_bad(r, "inputs");
    s->domain.dimension = d;
    s->domain.candidates = m;
    s->age.entries = entries;
    return HF_OK;
}

hf_status hfi_track_read_settings(const hfi_reader *r, hfi_track_store *store, hfi_track_own *out)
{
    *out = (hfi_track_own){.s = hf_track_settings_default(HF_TRACK_GP_UCB)};
    hf_track_settings *s = &out->s;
    bool named = false, labelled = false;
    hf_status status = hfi_meta_settings(r, hf_track_settings_table(), s);
    if (status >= 0) status = read_sizes(r, s, &named, &labelled);
    if (status >= 0) status = hfi_meta_text(r, "target", false, &store->target);
    if (status >= 0) status = hfi_meta_text(r, "kernel", true, &out->kernel);
    if (status >= 0) status = read_arrays(r, out);
    if (status >= 0 && named) status = hfi_reader_texts(r, &input_rows, 0, s->domain.dimension, &out->names);
    if (status >= 0 && labelled) {
        status = hfi_reader_texts(r, &candidate_rows, 0, s->domain.candidates, &store->label);
        store->labels = store->label != NULL ? s->domain.candidates : 0;
    }
    s->kernel = out->kernel;
    s->names = (const char *const *)out->names;
    if (status < 0) hfi_track_own_free(&r->memory, out);
    return status;
}
