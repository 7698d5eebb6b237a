/* SPDX-License-Identifier: Apache-2.0 */
/* A journal, entry by entry; see studied.h. */
#include "study/studied.h"

#include <stdlib.h>
#include <string.h>

static bool take_entry(const hf_study_entry *from, void *user)
{
    study_journal *j = user;
    if (j->count == j->room) {
        const size_t room = j->room > 0 ? 2 * j->room : 256;
        study_entry *grown = realloc(j->entry, room * sizeof *grown);
        j->failed = grown == NULL;
        if (j->failed) return false;
        j->entry = grown;
        j->room = room;
    }
    const size_t bytes = j->run->outcomes * sizeof(double);
    study_entry *to = &j->entry[j->count++];
    *to = (study_entry){.kind = from->kind,
                        .number = from->number,
                        .trial = from->trial,
                        .time = from->time,
                        .note = strdup(from->note),
                        .value = from->value != NULL ? malloc(bytes) : NULL};
    if (to->value != NULL) memcpy(to->value, from->value, bytes);
    j->failed = to->note == NULL || (from->value != NULL && to->value == NULL);
    return !j->failed;
}

hf_status study_journal_read(studied *run, study_journal *out)
{
    *out = (study_journal){.run = run};
    const hf_status status = hf_study_file_history(run->session.ctx, run->study, take_entry, out);
    return out->failed ? HF_ERR_MEMORY : status;
}

void study_journal_free(study_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) TOOL_FREE(journal->entry[i].value, journal->entry[i].note);
    free(journal->entry);
}

void study_journal_print(const studied *run, const study_entry *entry, bool gone)
{
    static const char *const nouns[] = {
        [HF_STUDY_ENTRY_ASKED] = "the question for",   [HF_STUDY_ENTRY_ADDED] = "past",
        [HF_STUDY_ENTRY_TOLD] = "the outcome of",      [HF_STUDY_ENTRY_FAILED] = "the failure of",
        [HF_STUDY_ENTRY_EXPIRED] = "the end of",       [HF_STUDY_ENTRY_LABELLED] = "the label of",
        [HF_STUDY_ENTRY_ADDED_FAILED] = "past, failed"};
    char told[STUDIED_WORDS];
    printf("%s trial %llu", gone ? nouns[entry->kind] : hf_enum_name(HF_ENUM_STUDY_ENTRY_KIND, entry->kind),
           (unsigned long long)entry->trial);
    *told = '\0';
    if (entry->value != NULL) studied_told(run, entry->value, sizeof told, told);
    if (*told != '\0') say(stdout, ": %s", told);
    if (*entry->note != '\0') say(stdout, " (%s)", entry->note);
    putchar('\n');
}

json_t *study_journal_json(const studied *run, const study_entry *entry)
{
    return JSON_OF({"number", json_count(entry->number)},
                   {"event", json_string(hf_enum_name(HF_ENUM_STUDY_ENTRY_KIND, entry->kind))},
                   {"trial", json_count(entry->trial)}, {"time", studied_json_time(entry->time)},
                   {"outcomes", entry->value != NULL ? studied_json_told(run, entry->value) : json_null()},
                   {"note", *entry->note != '\0' ? json_text(entry->note) : json_null()});
}
