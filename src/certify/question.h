/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file question.h
 * @brief A question about a box in the user's units, and its bounds over parts of it.
 */
#ifndef HFI_CERTIFY_QUESTION_H
#define HFI_CERTIFY_QUESTION_H

#include "certify/link.h"
#include "certify/taylor.h"

#define HFI_MOST_KINDS 4u

struct hfi_classes;

typedef struct hfi_question {
    hfi_memory memory;
    hfi_subject subject;
    double *numbers; /* what the subject points to */
    size_t *free;
    hf_certify_what what;
    hf_certify_settings settings;          /* of a link, beta is its lambda */
    const double *user_lower, *user_upper; /* the caller's box, inputs of the data */
    size_t inputs;                         /* of the data */
    double shift, scale; /* value in the user's units = shift + scale value; shift is 0 for sd */
    /* Of a new reading: what adds to the latent variance in the solver's units and in the user's,
     * and what the sum is multiplied by: calibration, unless beta has its root. Else 0, 0, 1. */
    double noise, user_noise, stretch;
    hfi_taylor *taylor;
    hfi_point_rounding point;    /* where no input is free */
    struct hfi_classes *classes; /* of several classes, in place of all other bounds; else NULL */
    size_t kinds;
    const hfi_bound_kind *kind[HFI_MOST_KINDS];
    void *state[HFI_MOST_KINDS];
    size_t scratch;          /* doubles that one thread needs to bound boxes */
    hf_workspace *workspace; /* to look at points */
    hfi_watch *watch;        /* NULL, or hfi_question_watch() */
    double *x;               /* d: a point in the user's units */
    double *x_moved;         /* d */
    double *gradient;        /* 2 d */
    /* NULL, or moves a point (m) that steps lead to back into the region. */
    void (*project)(const void *region, double *point);
    const void *region;
} hfi_question;

/** Settings and the sides of a box; messages name the input. */
hf_status hfi_question_check(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                             const hf_certify_settings *settings, const double *lower, const double *upper);
/** Checks the arguments, changes units and makes what bounds need. The box stays the caller's. */
hf_status hfi_question_create(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                              const hf_certify_settings *settings, const double *lower, const double *upper,
                              hfi_question **out);
void hfi_question_free(hfi_question *question);
/** Which link a question is about that hfi_link_asked() tells. */
static inline hfi_link hfi_question_link(const hfi_question *question)
{
    return (hfi_link){question->what, question->settings.beta};
}

/** Watch that can stop its bounds where they take long: their result is then void. */
void hfi_question_watch(hfi_question *question, hfi_watch *watch);

/** The value at a point that is given in the solver's units by its free inputs (m); `user` := the point in the user's units, inside the box. A gradient along the free inputs
 * in the solver's units, or NULL. One thread at a time. */
double hfi_question_value(hfi_question *question, const double *point, double *user, double *gradient);

/** Where no input is free: a range around the value at the point, which rounding and, of several
 * classes, quadrature have not left; inside of it what a prediction says, in *value. `user` as
 * above. NaN where the value is not finite. */
void hfi_question_point(hfi_question *question, double *user, double *value, double *lower, double *upper);

/** Doubles of scratch beside that of the bounds. */
size_t hfi_question_own_scratch(size_t m, size_t d);
size_t hfi_question_sharp_scratch(const hfi_question *question); /* of models that are sharpened */

/** Answer for a box where a number is not finite, so that nothing is known; argmin and argmax
 * hold `inputs` entries. */
hf_range hfi_unknown_range(hf_certify_what what, const hf_certify_settings *settings, size_t inputs,
                           double *argmin, double *argmax);

/** What is known of a box. */
typedef struct hfi_box_bound {
    double bound;     /* sign value(x) >= bound in the whole box, user's units */
    double centre;    /* sign value at the centre, to rounding */
    double predicted; /* sign value that the model expects at `point` */
    double *point;    /* m: free inputs, solver's units. The caller's */
    signed char
        *face;       /* m: -1 (1): sign value grows (falls) along this input all over the box. The caller's */
    size_t split;    /* free input to split */
    double slack;    /* what splitting could gain; no more than rounding: leave it */
    double rounding; /* user's units */
} hfi_box_bound;

/** The input to split: that with the largest share of the gap, of equal ones the widest. Begins as { .most = -1, .widest = -1 }. */
typedef struct hfi_split {
    double most, widest;
    size_t input;
} hfi_split;

/** What input `a` would be chosen for; a share that is not a number counts as none. */
static inline void hfi_split_offer(hfi_split *best, size_t a, double share, double width)
{
    if (!(share >= 0.0)) share = 0.0;
    if (share > best->most || (share == best->most && width > best->widest))
        *best = (hfi_split){.most = share, .widest = width, .input = a};
}

/** Bounds of `count` <= HFI_TOGETHER boxes [low, high] (m entries each) for sign = 1 (minimum) or -1 (maximum). No allocation; several threads at once. */
void hfi_question_bounds(const hfi_question *question, double sign, double enough, size_t count,
                         const double *low, const double *high, hfi_box_bound *bounds, double *scratch);

#endif
