/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study undo */
#include "study/studied.h"

static const tool_option options[] = {
    {"entries", 'n', "N", "take back the last N entries (default: 1)", false},
    {"after", 0, "NUMBER", "take back all entries after this one, as study show --journal\nnumbers them",
     false},
};

/* The study's history before, and how much of its end went. */
typedef struct study_undoing {
    study_journal journal;
    bool known; /* false: the file is damaged, and what was in it cannot be told */
    uint64_t removed;
} study_undoing;

static hf_status undo(studied *run, study_undoing *u)
{
    uint64_t entries = 1, after = 0;
    hf_status status = session_entries(&run->session, &entries, &after);
    if (status < 0) return status;
    const bool numbered = has_argument(run->arguments, "after");
    status = studied_open(run, false);
    u->known = status >= 0;
    if (u->known) status = study_journal_read(run, &u->journal);
    /* A damaged end can be taken back all the same, by how many they are: the message says that. */
    if (status < 0 && (u->known || status != HF_ERR_MODEL_FILE)) return status;
    if (numbered) entries = 0;
    for (size_t i = 0; numbered && i < u->journal.count; i++) entries += u->journal.entry[i].number > after;
    status = hf_study_file_undo(run->session.ctx, run->arguments->operand[0], entries, &u->removed);
    progress_clear(run->session.progress);
    return status;
}

static void print_entry(const void *of, size_t i)
{
    const study_undoing *u = of;
    study_journal_print(u->journal.run, &u->journal.entry[i], true);
}

static json_t *json_entry(const void *of, size_t i)
{
    const study_undoing *u = of;
    return study_journal_json(u->journal.run, &u->journal.entry[i]);
}

static hf_status run_undo(studied *run)
{
    study_undoing u = {0};
    const hf_status status = undo(run, &u);
    if (status >= 0)
        session_tell_removed(&run->session, u.known, u.removed, u.journal.count, print_entry, json_entry, &u);
    study_journal_free(&u.journal);
    return status;
}

const tool_verb verb_study_undo = {
    .name = "study undo",
    .operands = "FILE [-n N|--after NUMBER] [OPTION]...",
    .summary = "Take back what was told last",
    .text =
        "A wrong value, a trial that nobody wanted: the file is then what it was before. What went is said,\n"
        "and cannot be brought back. A study that is refused because its last entries are damaged is opened\n"
        "again by taking these back; the message says how many they are.",
    .example = "  holdfast study create wrong.hf --real x=0:1 --minimise loss\n"
               "  holdfast study ask wrong.hf\n"
               "  holdfast study tell wrong.hf 1 31\n"
               "  holdfast study undo wrong.hf\n"
               "  holdfast study tell wrong.hf 1 0.31",
    TOOL_OPTIONS(options),
    .changes = true,
    STUDIED(1, 1, run_undo),
};
