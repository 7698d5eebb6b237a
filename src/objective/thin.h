/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file thin.h
 * @brief Some of the readings instead of all: where a search starts from is found at a fraction of
 * the cost.
 */
#ifndef HFI_TRAIN_THIN_H
#define HFI_TRAIN_THIN_H

#include "objective/evaluator.h"

/** Which readings are out; owned by whoever took them out. */
typedef struct hfi_thinned {
    hf_context *ctx;
    bool *absent;   /* rows of the evaluator */
    bool *stays;    /* rows, and as many for the choice */
    double *weight; /* what the sites had, to be put back: rows each */
    double *shift;
} hfi_thinned;

/** Takes all but about `wanted` of the present readings out of the evaluator's sites, at random but
 * deterministic in the context's seed, and selects. *out is zeroed on error, and the sites are then
 * as they were. Not for projected solvers, which know no missing readings. */
hf_status hfi_thin_out(hfi_evaluator *e, size_t wanted, hfi_thinned *out);
/** The same, but half of those that stay are near each other: the nearest rows (of `x`, rows x
 * e->d, the inputs in comparable units) of every one of some drawn before. A function that moves
 * quickly is seen by these, and a slow one by the others. The same ones whatever the seed. */
hf_status hfi_thin_near(hfi_evaluator *e, const double *x, size_t wanted, hfi_thinned *out);
/** Puts them back with the weights that they had, selects, and frees. Weights of the readings that
 * stayed are left alone. */
hf_status hfi_thin_back(hfi_evaluator *e, hfi_thinned *thinned);

#endif
