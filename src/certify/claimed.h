/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file claimed.h
 * @brief A claim about a point: its limits, and whether it holds there and in boxes.
 */
#ifndef HFI_CERTIFY_CLAIMED_H
#define HFI_CERTIFY_CLAIMED_H

#include "certify/radius.h"
#include "certify/value.h"
#include <holdfast/certify_claims.h>

/** The limits on one side of a value, all times `sign`: the claim is always "never above". */
typedef struct hfi_limit {
    double sign;
    double kept; /* nothing above this: the claim holds; infinite: no limit on this side */
    /* Above this it does not; more than `kept` by what the value at the point may be off. */
    double broken;
} hfi_limit;

/** A claim of one value, and both sides of it about one point. */
typedef struct hfi_claimed {
    hfi_value value;
    hf_claim claim;
    hf_certify_settings settings;
    hf_region region; /* the one that they name */
    double *spare;    /* the caller's: 2 inputs */
    double at_point;
    hfi_limit side[2];
} hfi_claimed;

/** Checks a claim; `spare` is still to be set. */
hf_status hfi_claim_check_and_begin(hf_context *ctx, const hf_claim *claim,
                                    const hf_certify_settings *settings, hfi_claimed *out);
/** The limits about a point. */
hf_status hfi_claim_about(hf_context *ctx, hfi_claimed *c, const double *x);
/** The claim at the point, of which that is the range: kept, broken, or neither for sure. */
hf_verdict hfi_claim_at_point(const hfi_claimed *c, const hf_range *at);

/** Tolerance of searches about the point: a small share of how far its value is from its limits, as
 * boxes whose extremes are next to a limit are looked at. At most that of the settings. */
double hfi_claim_tolerance(const hfi_claimed *c);

/** The kind whose `of` is a hfi_claimed about a point. */
extern const hfi_held_kind hfi_held_claim;

#endif
