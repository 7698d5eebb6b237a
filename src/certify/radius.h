/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file radius.h
 * @brief The largest radius about a point for which something holds, by bisection.
 */
#ifndef HFI_CERTIFY_RADIUS_H
#define HFI_CERTIFY_RADIUS_H

#include "branch/search.h"
#include <holdfast/certify_uses.h>

/** Verdict of a search about a box. */
typedef struct hfi_judged {
    hf_verdict verdict;
    size_t nodes;
} hfi_judged;

/** A point and a box about it, and how far to look. */
typedef struct hfi_around {
    const hf_certify_settings *settings;
    const double *x, *lower, *upper;
} hfi_around;

/** Something that holds at a point and may not hold elsewhere. */
typedef struct hfi_held_kind {
    /** Whether it surely does not hold at a point. */
    hf_status (*broken)(hf_context *ctx, void *of, const double *point, bool *out);
    /** A point of a box where it may not; NULL: nothing looks for one. */
    hf_status (*attack)(hf_context *ctx, void *of, const hfi_around *box, double *found);
    /** Whether it holds in a whole box; `at` := a point where it does not. */
    hf_status (*judge)(hf_context *ctx, void *of, const hfi_around *box, hfi_judged *j, double *at);
} hfi_held_kind;

/** Request for a radius: as the arguments of hf_certify_radius(). */
typedef struct hfi_far {
    hf_certify_settings settings;
    size_t d;
    const double *x, *unit;
    double most, accuracy;
} hfi_far;

typedef struct hfi_reach {
    double certified, broken;
    size_t nodes;
} hfi_reach;

/** A classifier and the class that a point has. */
typedef struct hfi_named {
    const hf_classifier *classifier;
    size_t winner;
} hfi_named;

/** The kind whose `of` is a hfi_named: that the class stays. */
extern const hfi_held_kind hfi_held_class;

/** HF_ERR_ARGUMENT for what hf_certify_radius() refuses. */
hf_status hfi_check_radius(hf_context *ctx, const hfi_far *far);
/** As hf_certify_radius(), of checked arguments; `counterexample` has d entries or is NULL. */
hf_status hfi_find_radius(hf_context *ctx, const hfi_held_kind *kind, void *of, const hfi_far *far,
                          hfi_reach *out, double *counterexample);

#endif
