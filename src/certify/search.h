/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file search.h
 * @brief Best-first branch and bound, whatever bounds boxes: one end of a range, round by round, and both ends of it.
 */
#ifndef HFI_CERTIFY_SEARCH_H
#define HFI_CERTIFY_SEARCH_H

#include "certify/question.h"
#include <float.h>
#include <math.h>

/** A value over a box of `sides` sides in units of its own, which its kind knows. */
typedef struct hfi_ground {
    const struct hfi_ground_kind *kind;
    void *of;
    size_t sides, inputs;
    const double *lower, *upper, *middle; /* of the whole box: `sides` entries each */
    hfi_memory memory;
    bool costly; /* to look at a point takes as long as to bound boxes */
} hfi_ground;

typedef struct hfi_ground_kind {
    /** Bounds of `count` <= HFI_TOGETHER boxes (sides entries each) for sign = 1 (minimum) or -1
     * (maximum). No allocation; several threads at once. A bound that is not finite is -infinity;
     * NaN: nothing is known of the whole box. */
    void (*bounds)(void *of, int thread, double sign, double enough, size_t count, const double *low,
                   const double *high, hfi_box_bound *bounds);
    /** Sign value at a point (sides entries), where wanted at a better one near it; `user` := that
     * point. What is returned is attained there. One thread. */
    double (*look)(void *of, double sign, bool descend, const double *point, double *user);
} hfi_ground_kind;

/** Whether a side can be halved. */
static inline bool hfi_side_splits(double low, double high)
{
    const double middle = 0.5 * low + 0.5 * high;
    return middle - low > 16.0 * DBL_EPSILON * fabs(middle) && middle > low && middle < high;
}

/** A question whose box is not a point, for so many threads; it is not to be used otherwise
 * meanwhile. HF_ERR_MEMORY without a message; then there is nothing to free. */
hf_status hfi_question_ground(hfi_question *question, size_t threads, hfi_ground *out);
void hfi_question_ground_free(hfi_ground *ground);

/** The search for one end. */
typedef struct hfi_search hfi_search;

/** Looks for the least of sign value; `at` (inputs entries) := where what is attained is. NULL when
 * out of memory.
 * @param bytes that the boxes which are still open may take; 0 for any number */
hfi_search *hfi_search_create(const hf_context *ctx, hfi_watch *watch, const hfi_ground *ground, double sign,
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
hf_status hfi_search_ends(const hf_context *ctx, hfi_watch *watch, const hfi_ground *ground,
                          const hf_certify_settings *settings, double deadline, hf_range *out, double *argmin,
                          double *argmax);

/** The deadline of the next box: its own limit, and its share of the time that is left to the call
 * until `end` (infinity: no such limit) when `left` boxes have no answer and `at_once` of them are
 * looked at at the same time. */
double hfi_box_deadline(const hf_certify_settings *settings, double end, size_t left, size_t at_once);
/** On hfi_now()'s clock, of a call that begins now. */
double hfi_call_deadline(const hf_certify_settings *settings);
/** Settings of a call that is one of `left` in the time until `end`. */
hf_certify_settings hfi_share_time(const hf_certify_settings *settings, double end, size_t left);

/** hf_certify_boxes(), also of the probabilities in link.h. */
hf_status hfi_certify_boxes(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                            const hf_certify_settings *settings, size_t m, const double *lower,
                            const double *upper, hf_range *out, double *argmin, double *argmax);

/** Improves a point by projected gradient steps; `point` holds free inputs in the solver's units and is moved, sign value of it is *value, `user` the same point in
 * the user's units. `work` holds 4 m doubles. */
void hfi_descend(hfi_question *question, double sign, double *point, double *value, double *user,
                 double *work);

#endif
