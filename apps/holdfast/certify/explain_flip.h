/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explain_flip.h
 * @brief holdfast explain --flip: the smallest move of a row that changes its class or breaks a
 * limit.
 */
#ifndef HF_TOOL_EXPLAIN_FLIP_H
#define HF_TOOL_EXPLAIN_FLIP_H

#include "certify/certified.h"

/** The question about each row. */
typedef struct explain_flip {
    bool asked; /* --flip is there; else nothing else is */
    hf_flip_kind kind;
    hf_claim claim; /* without limits: that the class stays */
    bool limits;
    /* Counts: rows with an example, and rows left open by a limit. */
    size_t found, unfinished;
} explain_flip;

/** --flip and what goes with it; `settings` are those of the verb. */
hf_status explain_parse_flip(certified *run, hf_certify_settings *settings, explain_flip *out);
/** The answers into the run's table, for moves of up to `most` units. */
hf_status explain_find_flips(certified *run, const hf_certify_settings *settings, double most,
                             explain_flip *asked);

#endif
