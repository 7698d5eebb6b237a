/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file search.h
 * @brief Best-first branch and bound, whatever bounds boxes: one end of a range, round by round,
 * and both ends of it.
 */
#ifndef HFI_BRANCH_SEARCH_H
#define HFI_BRANCH_SEARCH_H

#include "core/core.h"
#include <float.h>
#include <holdfast/certify.h>
#include <math.h>

/** Boxes that are bounded together. A constant: what stands beside a box must not change its
 * digits. */
#define HFI_TOGETHER 8u

/** Parts that a box may be split into at once, and a tree of their splits. */
#define HFI_LEAVES 8u
#define HFI_PLAN   (2u * HFI_LEAVES - 1u)

/** A box, as far as it is known. */
typedef struct hfi_box_bound {
    double bound;     /* sign value(x) >= bound in the whole box, user's units */
    double centre;    /* sign value at the centre, to rounding */
    double predicted; /* sign value that the model expects at `point` */
    double *point;    /* m: free inputs, solver's units. The caller's */
    /* m: -1 (1): sign value grows (falls) along this input all over the box. The caller's */
    signed char *face;
    size_t split; /* free input to split */
    /* Begins with 0: halves are all that is asked for. Else a tree in the order of its writing: 1 +
     * the input to split, then the lower and the upper half; 0: a part that is to be bounded. Set
     * to 0 by the caller. */
    unsigned char plan[HFI_PLAN];
    double slack;    /* what splitting could gain; no more than rounding: leave it */
    double rounding; /* user's units */
} hfi_box_bound;

/** The input to split: that with the largest share of the gap, of equal ones the widest. Begins as
 * { .most = -1, .widest = -1 }. */
typedef struct hfi_split {
    double most, widest;
    size_t input;
} hfi_split;

/** Offers input `a`; a share that is not a number counts as none. */
static inline void hfi_split_offer(hfi_split *best, size_t a, double share, double width)
{
    if (!(share >= 0.0)) share = 0.0;
    if (share > best->most || (share == best->most && width > best->widest))
        *best = (hfi_split){.most = share, .widest = width, .input = a};
}

/** How a value over boxes is bounded. */
typedef struct hfi_branch_functions {
    /** Bounds of `count` <= HFI_TOGETHER boxes (sides entries each) for sign = 1 (minimum) or -1
     * (maximum). No allocation; several threads at once. A bound that is not finite is -infinity;
     * NaN: nothing is known of the whole box. A bound of at least `enough` need not be better. */
    void (*bounds)(void *of, int thread, double sign, double enough, size_t count,
                   const double *low, const double *high, hfi_box_bound *bounds);
    /** Sign value at a point (sides entries), where wanted at a better one near it; `user` := that
     * point. The value returned is attained there. One thread. */
    double (*look)(void *of, double sign, bool descend, const double *point, double *user);
} hfi_branch_functions;

/** A value over a box of `sides` sides in units of its own. */
typedef struct hfi_branch_problem {
    const hfi_branch_functions *functions;
    void *of;
    size_t sides, inputs;                 /* entries of boxes, and of points in the user's units */
    const double *lower, *upper, *middle; /* of the whole box: `sides` entries each */
    hfi_memory memory;
    bool costly; /* to look at a point takes as long as to bound boxes */
} hfi_branch_problem;

/** Whether a side can be halved. */
static inline bool hfi_side_splits(double low, double high)
{
    const double middle = 0.5 * low + 0.5 * high;
    return middle - low > 16.0 * DBL_EPSILON * fabs(middle) && middle > low && middle < high;
}

/** The search for one end. */
typedef struct hfi_search hfi_search;

/** Looks for the least of sign value; `at` (inputs entries) := where what is attained is. NULL when
 * out of memory.
 * @param bytes that the boxes which are still open may take; 0 for any number */
hfi_search *hfi_search_create(const hf_context *ctx, hfi_watch *watch,
                              const hfi_branch_problem *problem, double sign,
                              const hf_certify_settings *settings, size_t bytes, double *at);
void hfi_search_free(hfi_search *search);
/** The whole box at first, then the best boxes are halved: HF_ERR_MEMORY, HF_ERR_NOT_FINITE,
 * HF_ERR_CANCELLED without a message. Threads over boxes, the same result for any number; inside
 * another parallel loop it is serial. */
hf_status hfi_search_round(hfi_search *search);
/** Whether it need not go on, and why. */
bool hfi_search_is_over(const hfi_search *search, hf_certify_stop *stop);
/** Decisions no longer end it. */
void hfi_search_go_on(hfi_search *search);

/** State of the search after any round. */
typedef struct hfi_end {
    double bound;    /* sign value(x) >= bound in the whole box */
    double attained; /* sign value at `at` */
    size_t nodes;
    double rounding; /* of the whole box */
} hfi_end;
hfi_end hfi_search_end(const hfi_search *search);

/** Both ends of the range, or the one that is asked for (ends.c): rounds of both take turns until
 * `deadline` on hfi_now()'s clock (infinity: none). Errors of rounds; then *out is not written.
 * argmin and argmax have `inputs` entries each; `seconds` is left 0. */
hf_status hfi_search_ends(const hf_context *ctx, hfi_watch *watch,
                          const hfi_branch_problem *problem, const hf_certify_settings *settings,
                          double deadline, hf_range *out, double *argmin, double *argmax);

/** The deadline of the next box: its own limit, and its share of the time that is left to the call
 * until `end` (infinity: no such limit) when `left` boxes have no answer and `at_once` of them are
 * looked at at the same time. */
double hfi_box_deadline(const hf_certify_settings *settings, double end, size_t left,
                        size_t at_once);
/** On hfi_now()'s clock, of a call that begins now. */
double hfi_call_deadline(const hf_certify_settings *settings);
/** Settings of a call that is one of `left` in the time until `end`. */
hf_certify_settings hfi_share_time(const hf_certify_settings *settings, double end, size_t left);

#endif
