/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file climb.h
 * @brief Gradient steps inside a box or a region: the attacks.
 */
#ifndef HFI_CERTIFY_CLIMB_H
#define HFI_CERTIFY_CLIMB_H

#include "branch/search.h"
#include <holdfast/certify_uses.h>

/** Points of one box whose score is to be small. */
typedef struct hfi_climb {
    /** The score at a point of the user's and its slope (d): errors end the climb. */
    hf_status (*look)(void *of, const double *point, double *score, double *slope);
    void *of;
    hfi_watch *watch;
    hf_attack_kind kind;
    size_t d, steps;             /* steps of projected climbs */
    const hf_region *region;     /* NULL: the whole box; without `moves` and `sets` */
    const double *lower, *upper; /* d each: the box, cut to what is physical */
    const double *centre, *half; /* of the region; NULL without one */
    double *x, *at, *slope;      /* d each: where steps lead, where that is in the region */
} hfi_climb;

/** From a point of the box: `out` := the best point on the way if its score is below *best, which
 * becomes it. HF_ATTACK_FGSM takes its one step as it comes. HF_ERR_CANCELLED. */
hf_status hfi_climb_from(const hfi_climb *climb, const double *from, double *out, double *best);

/** `at` := the point of the region that x of the box stands for: towards the centre. */
void hfi_climb_place(const hfi_climb *climb, const double *x, double *at);

#endif
