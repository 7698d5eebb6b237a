/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a track's file. */
#include "files/track_store.h"

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

const hfi_text_rows hfi_track_inputs = {.noun = "input",
                                        .insert = "INSERT INTO input (position, name) VALUES (?1, ?2)",
                                        .select = "SELECT position, name FROM input ORDER BY position"};
const hfi_text_rows hfi_track_candidates = {
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
