/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file studied.h
 * @brief Shared by the sub-verbs of holdfast study: a study in a file, its settings and outcomes
 * as text, JSON and columns of tables.
 */
#ifndef HF_TOOL_STUDIED_H
#define HF_TOOL_STUDIED_H

#include "shell/tool.h"

enum {
    STUDIED_WORDS = 2048, /* settings of a trial as text */
    STUDIED_NAME = 512    /* name of a column */
};

/** A run of a sub-verb. */
typedef struct studied {
    const tool_arguments *arguments;
    tool_session session;
    hf_study *study;
    const hf_study_settings *settings;
    size_t d, outcomes;
} studied;

/** Runs a verb whose work is its member `study`, in a session; the exit status. */
int studied_run(const tool_arguments *arguments);
/** Members of a verb about a study: how many operands it takes, and that work. */
#define STUDIED(fewest, largest, function)                                                         \
    TOOL_RUN(fewest, largest, studied_run), .study = (function)
/** Opens the study that the first operand names, waiting for others as long as --wait says. */
hf_status studied_open(studied *run, bool write);
/** The study's numbers for the members above. */
void studied_take(studied *run, hf_study *study);

/** Row for the tables of options of sub-verbs that change a study. */
#define STUDIED_WAIT                                                                               \
    {                                                                                              \
        "wait", 0, "S", "seconds to wait for another program's lock (default 30)", false           \
    }

/** hf_study_look(); too few readings are no error, and then nobody is suspected. */
hf_status studied_look(studied *run);
/** The trial that an operand names. HF_ERR_ARGUMENT after a message. */
hf_status studied_trial(studied *run, const char *text, hf_trial *out);
/** Outcomes from the operands from `first` on: a value each in their order, or NAME=VALUE; the
 * others are NaN. */
hf_status studied_values(studied *run, size_t first, double *value);
/** Outcomes' variances from --noise, likewise, 0 where nothing is said. */
hf_status studied_noise(studied *run, double *noise);

/** Objectives, and the first of them. */
size_t studied_objectives(const studied *run);
size_t studied_first(const studied *run);
bool studied_is_objective(const studied *run, size_t outcome);
/** The outcome that --of names; the first objective without it. */
hf_status studied_outcome(studied *run, size_t *outcome);
/** For certificates: a hundredth of the range of what was told of the first objective. */
double studied_tolerance(const studied *run);
/** "minimise", "maximise", "at most 100". */
const char *studied_goal(const studied *run, size_t outcome, char buffer[64]);

/** "level = 6, strategy = filtered" in `buffer`, which is returned. */
const char *studied_at(const studied *run, const double *at, size_t bytes, char *buffer);
/** "time = 3.2, size = 8" of the outcomes that are numbers; "" without any. */
const char *studied_told(const studied *run, const double *value, size_t bytes, char *buffer);
/** ISO 8601 to the millisecond, UTC; "" for NaN. */
const char *studied_time(double seconds, char buffer[32]);

/** The same as objects, new references: labels as texts, whole numbers as such. */
json_t *studied_json_at(const studied *run, const double *at);
json_t *studied_json_told(const studied *run, const double *value);
json_t *studied_json_time(double seconds);
/** Everything about a trial. */
json_t *studied_json_trial(const studied *run, const hf_trial *trial);

/* ---- tables (study_table.c, study_csv.c) ----------------------------------------------------- */

/** The name of a column of the study's own: where a variable or an outcome has its name, they keep
 * it. */
const char *studied_own(const studied *run, const char *name, char buffer[STUDIED_NAME]);
/** "time_noise": the column of an outcome's variances. */
const char *studied_noise_name(const studied *run, size_t outcome, char buffer[STUDIED_NAME]);

/** Proposals as a table that study tell --from takes when it is filled in. */
hf_status study_asked_table(studied *run, size_t count, const hf_proposal *proposal,
                            const char *path);
/** All trials. */
hf_status study_trials_table(studied *run, const char *path);

/** Rows of a table that were taken, those of them that failed, and rows that were left out. */
typedef struct study_counts {
    size_t taken, failed, left;
} study_counts;
/** Adds the rows of a table, or none of them. */
hf_status study_import_table(studied *run, const char *path, study_counts *counts);
/** Tells all rows of a table that have an outcome, or none. */
hf_status study_tell_table(studied *run, const char *path, study_counts *counts);

/* ---- what happened, entry by entry (study_journal.c) ----------------------------------------- */

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

/* ---- new studies (study_space.c, study_create.c) --------------------------------------------- */

/** Parts of a new study; settings point into the rest. */
typedef struct study_plan {
    hf_study_settings settings;
    hf_variable *variable;
    hf_outcome *outcome;
    tool_names *labels; /* of each variable */
    char **text;        /* values of options, cut in place */
    size_t texts;
} study_plan;

/** Variables and outcomes, in the order in which options name them. */
hf_status study_plan_space(studied *run, study_plan *plan);
void study_plan_free(study_plan *plan);

/* ---- sub-verbs ------------------------------------------------------------------------------- */

extern const tool_verb verb_study_create, verb_study_ask, verb_study_tell, verb_study_fail,
    verb_study_import, verb_study_export, verb_study_best, verb_study_show, verb_study_plot,
    verb_study_label, verb_study_expert, verb_study_undo;

#endif
