/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_journal.h
 * @brief What happened to a study, entry by entry.
 */
#ifndef HF_TOOL_STUDY_JOURNAL_H
#define HF_TOOL_STUDY_JOURNAL_H

#include "study/studied.h"

/** An entry with texts and numbers of its own. */
typedef struct study_entry {
    hf_study_entry_kind kind;
    uint64_t number, trial;
    double time;
    double *value; /* outcomes, or NULL */
    char *note;
} study_entry;

typedef struct study_journal {
    studied *run;
    size_t count, room;
    study_entry *entry;
    bool failed; /* out of memory */
} study_journal;

hf_status study_journal_read(studied *run, study_journal *out);
void study_journal_free(study_journal *journal);
/** "told trial 3: loss = 0.31 (note)", or of one that is `gone` "the outcome of trial 3: ...", and
 * a newline. */
void study_journal_print(const studied *run, const study_entry *entry, bool gone);
json_t *study_journal_json(const studied *run, const study_entry *entry);

#endif
