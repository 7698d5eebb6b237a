/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file propose.h
 * @brief A call of hf_study_ask(), proposal after proposal.
 */
#ifndef HFI_STUDY_PROPOSE_H
#define HFI_STUDY_PROPOSE_H

#include "study/study.h"

/** Knowledge of the next proposal. */
typedef struct hfi_round {
    uint64_t number;           /* of the trial to come */
    bool surrogates;           /* they are made */
    bool doubted;              /* a repetition is among the proposals already */
    const hfi_proposed *ahead; /* proposals of this call so far */
    size_t count;
    double *pending_u; /* inputs of pending trials and of these proposals; room for one more */
    size_t pending;
    const hfi_region *region; /* trust regions as of now; NULL: none */
} hfi_round;

/** The next proposal: fills `to` (its `at` has room) and the next row of `pending_u`. */
hf_status hfi_study_propose(hf_context *ctx, hf_study *study, const hfi_round *r, hfi_proposed *to);
/** After the last proposal of a call: moves those that the acquisition chose all at once, to where
 * their joint improvement is largest, if that is affordable. r->count and r->pending count them;
 * r->number is that of the first. `proposed` is what r->ahead looks at. */
hf_status hfi_study_together(hf_context *ctx, const hf_study *study, const hfi_round *r,
                             hfi_proposed *proposed);

/* ---- several.c, explore.c, regions.c --------------------------------------------------------- */

/** The place of the largest expected hypervolume improvement, of `constraints` with its
 * constraints. */
hf_status hfi_study_widen_front(hf_context *ctx, const hf_study *study, const hfi_round *round,
                                const hf_acquire *constraints, double *u, double *value);
/** A place elsewhere, for searches outside of the niches that were found (explore.c); one whose
 * acquisition is below `low` has ended. HF_ERR_NO_DATA: there is no such place. */
hf_status hfi_study_explore(hf_context *ctx, const hf_study *study, const hfi_round *round,
                            const hf_acquire *acquisition, double low, hfi_proposed *to, double *u);
/** Regions after what was told since they last heard; `next` has room for all. */
hf_status hfi_regions_hear(hf_context *ctx, const hf_study *study, hfi_region *next);
/** The box that a region restricts proposals to: all of the space while it has no centre. */
hf_status hfi_regions_box(hf_context *ctx, const hf_study *study, const hfi_region *of, double *low,
                          double *upper);

/* ---- hunt.c: an acquisition function among places that a predicate admits -------------------- */

/** Places of a study's space. */
typedef struct hfi_places_among {
    const hf_study *study;
    /** Which of m places u are admitted, and how little is known of them, >= 0. */
    hf_status (*admits)(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                        double *unknown);
    const void *self;
} hfi_places_among;

/**
 * The admitted place where `acquire` (NULL: none) is largest, if it is above `nothing` there
 * (*acquired), else where least is known. *value is the acquisition's. HF_ERR_NO_DATA: no place is
 * admitted.
 */
hf_status hfi_hunt(hf_context *ctx, const hfi_places_among *among, const hf_acquire *acquire,
                   uint64_t ordinal, double nothing, double *u, double *value, bool *acquired);

/* ---- safe.c: places where certain constraints surely hold ------------------------------------ */

typedef struct hfi_safe hfi_safe;

/** Whether the study has a certain constraint. */
bool hfi_study_is_certain(const hf_study *study);
/** Envelopes of all certain constraints. HF_ERR_ARGUMENT: one has no reading;
 * HF_ERR_INCONSISTENT. */
hf_status hfi_safe_open(hf_context *ctx, const hf_study *study, hfi_safe **out);
void hfi_safe_close(hf_context *ctx, hfi_safe *safe);
/** Whether all constraints surely hold at m places u (m x d), and how little is known of them
 * there. */
hf_status hfi_safe_many(hf_context *ctx, const hfi_safe *safe, size_t m, const double *u, bool *ok,
                        double *unknown);
/**
 * A place that is surely feasible: where `acquire` (NULL: none) is largest, if it is above
 * `none` there, else where least is known. *value is the acquisition's. HF_ERR_ARGUMENT: no such
 * place is known.
 */
hf_status hfi_safe_propose(hf_context *ctx, const hf_study *study, const hf_acquire *acquire,
                           uint64_t ordinal, double none, double *u, double *value, bool *acquired);

#endif
