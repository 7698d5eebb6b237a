/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file advice.h
 * @brief Functions that a survey allows, drawn at some places and times, to compare on.
 */
#ifndef HFI_TRACK_ADVICE_H
#define HFI_TRACK_ADVICE_H

#include "track/evidence.h"
#include "track/track.h"

#include <holdfast/track_advice.h>

enum {
    HFI_WORLD_PLACES = 101, /* at most */
    HFI_WORLD_READINGS = 256
};

/** Places, times, and the last draw of f over them given the survey. */
typedef struct hfi_world {
    hf_context *ctx;
    const hf_track *learnt;
    hfi_evidence evidence; /* of the survey, factored */
    size_t n, d, places, steps;
    double noise, mean, period, step;
    double first, last;          /* of the survey's times */
    double *x;                   /* (places + n) x d: places, then the survey's */
    double *place_factor;        /* of their prior covariance */
    double *cross;               /* places x n */
    double *time;                /* steps + n */
    double *time_factor, *waves; /* scratch */
    double *value;               /* places x steps, column-major: f there */
    double *residual, *normals;
    double *best; /* steps: the best of value */
    size_t still; /* the place of the best posterior mean over the survey's times */
} hfi_world;

/** A world over the readings of a track that has learnt from them. hfi_world_free() also after
 * an error. */
hf_status hfi_world_create(hf_context *ctx, const hf_track *learnt, size_t steps, double step,
                           hfi_world *out);
void hfi_world_free(hfi_world *world);
/** Draw number k of a seed: a window of the survey's time, and f there.
 * HF_ERR_NOT_POSITIVE_DEFINITE. */
hf_status hfi_world_draw(hfi_world *world, uint64_t seed, uint64_t k);

#endif
