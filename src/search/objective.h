/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file objective.h
 * @brief Functions of a vector theta that searches maximise, as a table of functions for each kind.
 *
 * A search knows an objective only by this table: the evidence of readings, of labels or of
 * Student-t noise, relevance pursuit, an acquisition function. A checkpoint answers in place of the
 * objective, whatever its kind: hfi_objective_evaluate() looks into the journal first.
 */
#ifndef HFI_SEARCH_OBJECTIVE_H
#define HFI_SEARCH_OBJECTIVE_H

#include "core/core.h"

struct hfi_journal;

/** Functions of a kind of objective. All but `evaluate` may be NULL. */
typedef struct hfi_objective_kind {
    /** Puts theta into the model. Called before every answer, also before one of the journal. */
    hf_status (*place)(void *self, const double *theta);
    /** Value and gradient (every entry of theta, or NULL) at the theta in place. At
     * HF_ERR_NOT_POSITIVE_DEFINITE there is no value: searches step back. Other errors end them. */
    hf_status (*evaluate)(void *self, const double *theta, double *value, double *gradient);
    /** Log prior density of theta. Its derivatives are added to `gradient`, unless that is NULL. */
    double (*log_prior)(void *self, const double *theta, double *gradient);
    /** Minus the second derivatives of value and log prior, or nearly, in the free entries at the
     * theta evaluated last: a square matrix, both triangles. */
    hf_status (*curvature)(void *self, const double *theta, double *matrix);
    /** The status that a search makes of an answer's. */
    hf_status (*judge)(void *self, hf_status answer);
    /** Told by a search that the evaluation before was the best so far, with its value. */
    void (*accepted)(void *self, double value);
    /** Numbers of an answer beside value and gradient, for the journal: how many; to read them off
     * after an evaluation; and to put them back in place of one. */
    size_t (*beside)(const void *self);
    void (*tell)(const void *self, double *numbers);
    void (*take)(void *self, const double *numbers);
    /** Message of a search that found no point with a value. */
    const char *nowhere;
} hfi_objective_kind;

typedef struct hfi_objective {
    const hfi_objective_kind *kind;
    void *self;
    size_t count; /* entries of theta */
    /* Answers evaluations that an interrupted fit has made already; NULL: none. Not owned. */
    struct hfi_journal *journal;
} hfi_objective;

/** Whether the objective has no value where it was asked. */
static inline bool hfi_has_none(hf_status s)
{
    return s == HF_ERR_NOT_POSITIVE_DEFINITE;
}
/** The status of a trial, of which none is no error. */
static inline hf_status hfi_unless_none(hf_status s)
{
    return hfi_has_none(s) ? HF_OK : s;
}

/** Where a search may go: bounds of all entries of theta, and which of these are free. Not
 * owned. */
typedef struct hfi_space {
    size_t count, free_count;
    const size_t *free_index; /* positions in theta, free_count of them; NULL: all in order */
    const double *lower, *upper;
} hfi_space;

static inline size_t hfi_space_index(const hfi_space *space, size_t k)
{
    return space->free_index ? space->free_index[k] : k;
}

/** A space that is free in all of `count` entries. */
static inline hfi_space hfi_space_box(size_t count, const double *lower, const double *upper)
{
    return (hfi_space){.count = count, .free_count = count, .lower = lower, .upper = upper};
}

/** The answer at theta, without the prior: the journal's as long as that lasts, else the kind's.
 * The model is at theta either way. Errors: the kind's and the journal's; HF_ERR_MEMORY. */
hf_status hfi_objective_evaluate(hf_context *ctx, const hfi_objective *objective,
                                 const double *theta, double *value, double *gradient);

/** A `judge` for kinds whose answers that are not finite say as little about a place as none. */
hf_status hfi_judge_overflow(void *self, hf_status answer);

#endif
