/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify.h
 * @brief Internal face of the certify room: ranges of whatever can be certified, and what its uses
 * share.
 */
#ifndef HFI_CERTIFY_H
#define HFI_CERTIFY_H

#include "bound/problem.h"
#include "branch/search.h"
#include "certify/quantities.h"
#include "classify/classify.h"
#include "core/settings.h"
#include <float.h>
#include <holdfast/certify_claims.h>
#include <holdfast/certify_uses.h>
#include <string.h>

/* ---- settings, as a caller gives them (settings.c) ------------------------------------------- */

enum {
    /* of an attack at most */
    HFI_ATTACK_STEPS = 1000000,
    HFI_ATTACK_STARTS = 100000
};

/** hfi_settings_open() of the settings and of the region that they name, which is then *region. */
hf_status hfi_certify_open(hf_context *ctx, const hf_certify_settings *given,
                           hf_certify_settings *own, hf_region *region);

/* ---- ranges over boxes (boxes.c) ------------------------------------------------------------- */

/** hf_certify_boxes() of any row of the table. */
hf_status hfi_certify_boxes(hf_context *ctx, const hf_posterior *posterior,
                            const hfi_quantity *quantity, const hf_certify_settings *settings,
                            size_t m, const double *lower, const double *upper, hf_range *out,
                            double *argmin, double *argmax);

/* ---- what the uses share (class.c) ----------------------------------------------------------- */

/** HF_ERR_ARGUMENT unless the classifier has this class; *quantity is its probability of class 1,
 * under the softmax link of settings.output. */
hf_status hfi_class_quantity(hf_context *ctx, const hf_classifier *classifier, size_t class,
                             const hfi_quantity **quantity);
/** Whether a prediction at a point is surely of another class than `winner`: ahead of it by more
 * than the quadrature's error where that is an estimate. */
hf_status hfi_certify_is_other(hf_context *ctx, const hf_classifier *classifier,
                               const double *point, size_t winner, bool *out);
/** Inputs of the data, without the number of a class. */
size_t hfi_class_inputs(const hf_classifier *classifier);
/** hf_certify_class() of arguments that are not NULL. */
hf_status hfi_certify_class_boxes(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m,
                                  const double *lower, const double *upper, hf_range *out,
                                  double *argmin, double *argmax);

/** A value that decides for a class, for as many boxes as a call has. For several classes it is by
 * how much a class is ahead of the next. For two it is the latent mean, or with another threshold
 * than 1/2 the probability of class 1. The classifier stays the caller's. */
typedef struct hfi_lead {
    const hf_classifier *classifier;
    hfi_quantity quantity;
    const hfi_problem_functions *functions; /* of what is prepared; NULL: nothing is */
} hfi_lead;

/** Prepares what all boxes have in common; *lead is to be closed unless it fails. */
hf_status hfi_lead_open(hf_context *ctx, const hf_classifier *classifier, bool rigorous,
                        hfi_lead *lead);
void hfi_lead_close(hfi_lead *lead);
/** The range of it over one box. *own gets the cut (decide_at), a tolerance that is a small share
 * of it, and output; the caller says which end is looked for. */
hf_status hfi_class_lead(hf_context *ctx, const hfi_lead *lead, size_t class,
                         hf_certify_settings *own, const double *lower, const double *upper,
                         hf_range *range, double *at);

/** By how much a decision is expected to cost less than another one, of two classes by a threshold
 * the lead of its probability; *size times the error of a probability is how far that may be
 * off. */
double hfi_class_margin(const hf_classifier *classifier, const double *p, size_t decision,
                        size_t other, double *size);

/** Ranges of class 1 of two become those of class 0. */
void hfi_turn_ranges(size_t m, hf_range *ranges);

/* ---- a value over boxes, of a posterior or the probability of a class (value.c) -------------- */

typedef struct hfi_value {
    const hf_posterior *posterior;
    const hf_classifier *classifier; /* NULL: a value of the posterior */
    const hfi_quantity *quantity;
    size_t inputs; /* of the data */
} hfi_value;

/** HF_ERR_ARGUMENT for a value that there is not. */
hf_status hfi_value_of(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                       hfi_value *out);
hf_status hfi_value_of_class(hf_context *ctx, const hf_classifier *classifier, hfi_value *out);
bool hfi_value_is_estimate(const hfi_value *value);
/** hf_certify_boxes() or hf_certify_class(). */
hf_status hfi_value_certify_boxes(hf_context *ctx, const hfi_value *value,
                                  const hf_certify_settings *settings, size_t m, const double *low,
                                  const double *high, hf_range *out, double *least, double *most);
/** The range at one point, which the allowance for rounding makes; `spare` holds inputs doubles. */
hf_status hfi_value_at(hf_context *ctx, const hfi_value *value, const hf_certify_settings *settings,
                       const double *x, double *spare, hf_range *out);

/* ---- parts of boxes that inputs stay in: balls, lattices (region.c) -------------------------- */

/** The region's view of one box: `inputs` entries each, in the user's units. */
typedef struct hfi_region_centre {
    const double *centre, *half;
} hfi_region_centre;

/** HF_ERR_ARGUMENT for a region that there is not. */
hf_status hfi_region_check(hf_context *ctx, const hf_region *region, size_t inputs, bool rigorous);
/** A box and its place, `inputs` entries each, all written or changed. */
typedef struct hfi_sides {
    double *lower, *upper, *centre, *half;
} hfi_sides;

/** The place of box number k, and its sides cut to what is physical. */
hf_status hfi_region_place(hf_context *ctx, const hf_region *region, size_t k, size_t inputs,
                           hfi_sides *box);
/** Lets the region of settings, if there is one, be about x; they then point to *into. */
void hfi_region_about(hf_certify_settings *settings, const double *x, hf_region *into);
/** Whether it is more than boxes: a shape or a lattice. NULL: false. */
bool hfi_region_cuts(const hf_region *region);
/** Whether it is a union of boxes. */
bool hfi_region_has_parts(const hf_region *region);
/** Size of a move by its shape, rounded up; infinite where what is held (unit 0) moves. */
double hfi_region_size(const hf_region *region, size_t inputs, const double *from, const double *to,
                       const double *unit);

/** Cuts what is searched to the region of the problem's settings: *whole becomes that, and needs
 * what it was. HF_ERR_MEMORY without a message, and *whole is as it was. */
hf_status hfi_region_cut(hfi_certify_problem *q, size_t threads, const hfi_region_centre *place,
                         hfi_branch_problem *whole);
/** *whole becomes what it was. */
void hfi_region_uncut(hfi_branch_problem *whole);

/* ---- boxes as they are, or as their regions cut them (range.c) ------------------------------- */

/** Request for the ranges over some boxes. */
typedef struct hfi_boxes {
    const hf_posterior *posterior;
    const hfi_quantity *quantity;
    const hf_certify_settings *settings;
    void *shared; /* by all boxes */
    size_t m, inputs;
    const double *lower, *upper;
    const double *centre, *half; /* m x inputs each: of the balls in a region; NULL: none */
} hfi_boxes;

/** The status, with the box's number before the message where there are several. */
hf_status hfi_boxes_name(hf_context *ctx, const hfi_boxes *job, size_t box, hf_status status);
/** HF_ERR_ARGUMENT for a box that there is not. */
hf_status hfi_boxes_check(hf_context *ctx, const hfi_boxes *job);
/** The ranges over checked boxes; a region of theirs has no parts. */
hf_status hfi_boxes_answer(hf_context *ctx, hfi_boxes *job, hf_range *out, double *argmin,
                           double *argmax);

/* ---- the largest radius about a point for which something holds, by bisection (radius.c) ----- */

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

/* ---- a claim about a point: its limits, and whether it holds there and in boxes (claims.c) --- */

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
