/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expert.h
 * @brief holdfast expert: what is said in the columns of a table, and what comes of it.
 */
#ifndef HF_TOOL_EXPERT_H
#define HF_TOOL_EXPERT_H

#include "envelope/bounded.h"

/** Columns of what is said, then of what comes of it. */
enum {
    EXPERT_LABEL,
    EXPERT_CORRECTION,
    EXPERT_VARIANCE,
    EXPERT_SAID, /* as many can be named by options */
    EXPERT_PRIOR = EXPERT_SAID,
    EXPERT_PRIOR_SD,
    EXPERT_WRONG,
    EXPERT_RIGHT,
    EXPERT_COLUMNS
};

/** A run of the verb. `base` is first: bounded_close() ends it. */
typedef struct expert_run {
    bounded base;
    const char *name[EXPERT_COLUMNS];
    char *own[EXPERT_COLUMNS]; /* <target>_label and the like, unless an option names it */
    hf_expert_settings settings;
    hf_expert_label *label; /* base.n, as the next two */
    double *correction, *var;
    hf_expert *expert;
    hf_table *out;      /* what is written: the table, or that of --at */
    const char *output; /* its file, NULL: none */
    size_t asked;       /* questions */
    size_t *question;   /* their readings */
    double *move;
} expert_run;

/** Names of all these columns, which are no inputs. */
hf_status expert_name_columns(expert_run *run);
/** Labels, corrections and variances of the readings. */
hf_status expert_read_said(expert_run *run);
/** Adds what is known to the table that is written: the prior mean of every row with its inputs,
 * and
 * of the table of readings what became of them. */
hf_status expert_add_columns(expert_run *run);
/** Finds the questions of --ask. */
hf_status expert_find_questions(expert_run *run);

#endif
