/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a study's file. Names and keys are part of the format: never
 * rename one. */
#include "files/study_store.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const hfi_file_table tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"},
    {"variable",
     "CREATE TABLE variable (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, "
     "lower REAL, upper REAL, log INTEGER NOT NULL)",
     "SELECT position, name, kind, lower, upper, log FROM variable ORDER BY position"},
    {"level",
     "CREATE TABLE level (variable INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY "
     "KEY (variable, position))",
     "SELECT variable, position, name FROM level ORDER BY variable, position"},
    {"outcome",
     "CREATE TABLE outcome (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, goal TEXT NOT NULL, "
     "bound REAL, certain INTEGER NOT NULL, noise_bound REAL, norm_bound REAL, centre REAL, kernel TEXT)",
     "SELECT position, name, goal, bound, certain, noise_bound, norm_bound, centre, kernel FROM outcome "
     "ORDER BY position"},
};

/* Whatever was learnt on the way to a question goes with that question. */
static const hfi_ledger_kind kinds[HFI_STUDY_KINDS] = {
    [HFI_STUDY_ASKED] = {"asked", HFI_ENTRY_ALONE},
    [HFI_STUDY_ADDED] = {"added", HFI_ENTRY_ALONE},
    [HFI_STUDY_TOLD] = {"told", HFI_ENTRY_ALONE},
    [HFI_STUDY_FAILED] = {"failed", HFI_ENTRY_ALONE},
    [HFI_STUDY_EXPIRED] = {"expired", HFI_ENTRY_ALONE},
    [HFI_STUDY_FITTED] = {"fitted", HFI_ENTRY_AHEAD},
    [HFI_STUDY_REGION] = {"region", HFI_ENTRY_AHEAD},
    [HFI_STUDY_LABELLED] = {"labelled", HFI_ENTRY_ALONE},
    [HFI_STUDY_ADDED_FAILED] = {"added_failed", HFI_ENTRY_ALONE}};

const hfi_ledger_form hfi_study_form = {.file = &hfi_kind_study,
                                        .version = HFI_STUDY_VERSION,
                                        .tables = {.count = COUNT(tables), .table = tables},
                                        .kinds = HFI_STUDY_KINDS,
                                        .kind = kinds,
                                        .payload = "payload"};

/* ---- settings -------------------------------------------------------------------------------------------------- */

static const char *const variable_kinds[] = {"real", "integer", "ordered", "category"};
static const char *const goals[] = {"maximise", "minimise", "at-most", "at-least"};

#define FIELD(object, field, type)                                                                           \
    {                                                                                                        \
        "settings." #field, type, offsetof(object, field), NULL, 0, 1                                        \
    }
#define CHOICE(object, field, list)                                                                          \
    {                                                                                                        \
        "settings." #field, HFI_CHOICE, offsetof(object, field), list, COUNT(list), 1                        \
    }

#define TEXT(object, field, called, type)                                                                    \
    {                                                                                                        \
        called, type, offsetof(object, field), NULL, 0, 1                                                    \
    }

static const hfi_file_field variable_fields[] = {
    TEXT(hf_variable, name, "variable", HFI_TEXT),
    CHOICE(hf_variable, kind, variable_kinds),
    FIELD(hf_variable, lower, HFI_REAL),
    FIELD(hf_variable, upper, HFI_REAL),
    FIELD(hf_variable, log, HFI_FLAG),
};
static const hfi_file_field outcome_fields[] = {
    TEXT(hf_outcome, name, "outcome", HFI_TEXT), CHOICE(hf_outcome, goal, goals),
    FIELD(hf_outcome, limit, HFI_REAL),          FIELD(hf_outcome, certain, HFI_FLAG),
    FIELD(hf_outcome, noise_bound, HFI_REAL),    FIELD(hf_outcome, norm_bound, HFI_REAL),
    FIELD(hf_outcome, centre, HFI_REAL),         TEXT(hf_outcome, kernel, "a kernel", HFI_TEXT_OR_NULL),
};

const hfi_file_rows hfi_study_variables = {
    .noun = "variable",
    .insert =
        "INSERT INTO variable (position, name, kind, lower, upper, log) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    .select = "SELECT position, name, kind, lower, upper, log FROM variable ORDER BY position",
    .fields = COUNT(variable_fields),
    .field = variable_fields};

const hfi_file_rows hfi_study_outcomes = {
    .noun = "outcome",
    .insert = "INSERT INTO outcome (position, name, goal, bound, certain, noise_bound, norm_bound, centre, "
              "kernel) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    .select = "SELECT position, name, goal, bound, certain, noise_bound, norm_bound, centre, kernel FROM "
              "outcome ORDER BY position",
    .fields = COUNT(outcome_fields),
    .field = outcome_fields};

const hfi_text_rows hfi_study_levels = {
    .noun = "level",
    .insert = "INSERT INTO level (position, name, variable) VALUES (?1, ?2, ?3)",
    .select = "SELECT position, name FROM level WHERE variable = ?1 ORDER BY position"};
