/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file problem.h
 * @brief A quantity over a box in the user's units: its bounds over parts of it, and its values at
 * points.
 */
#ifndef HFI_BOUND_PROBLEM_H
#define HFI_BOUND_PROBLEM_H

#include "bound/quadratic.h"
#include "bound/quantity.h"
#include "bound/taylor.h"

struct hfi_classes;

typedef struct hfi_certify_problem hfi_certify_problem;

/** How boxes of a problem are bounded and points of it looked at. */
typedef struct hfi_problem_functions {
    /** Makes what all boxes of a call have in common, into *shared; NULL: nothing. Errors with a
     * message. */
    hf_status (*prepare)(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                         const hfi_quantity *quantity, void **shared);
    void (*forget)(void *shared);
    /** Makes what bounds need once for the box. */
    hf_status (*create)(hf_context *ctx, hfi_certify_problem *problem);
    void (*destroy)(hfi_certify_problem *problem); /* also of one that create() has not finished */
    /** Makes what is searched, for so many threads; HF_ERR_MEMORY or HF_ERR_NOT_FINITE without a
     * message, and then nothing is to be freed. */
    hf_status (*begin)(hfi_certify_problem *problem, size_t threads, hfi_branch_problem *out);
    void (*end)(hfi_certify_problem *problem);
    /** Where no input is free: a range around the value at the point, which rounding and, of
     * several classes, quadrature have not left; inside of it what a prediction says, in *value.
     * `user` := the point. NaN where the value is not finite. NULL: such a box is searched as
     * others are. */
    void (*at_point)(hfi_certify_problem *problem, double *user, double *value, double *lower,
                     double *upper);
    /** The value at a point that is given in the solver's units by its free inputs (m); `user` :=
     * the point in the user's units, inside the box. A gradient along the free inputs in the
     * solver's units, or NULL. One thread at a time. NULL: nothing descends. */
    double (*value)(hfi_certify_problem *problem, const double *point, double *user,
                    double *gradient);
} hfi_problem_functions;

/** Problems of mean and sd (problem_moments.c), of several classes (classes_problem.c), proof
 * against rounding (rigorous_problem.c). */
extern const hfi_problem_functions hfi_problem_of_moments, hfi_problem_of_classes,
    hfi_problem_rigorous;
/** The row's own. */
static inline const hfi_problem_functions *hfi_problem_choose(const hfi_quantity *quantity,
                                                              bool rigorous)
{
    return rigorous ? quantity->proof : quantity->functions;
}

struct hfi_certify_problem {
    hfi_memory memory;
    const hfi_quantity *quantity;
    const hfi_problem_functions *functions;
    void *shared; /* of prepare() */
    hfi_subject subject;
    double *numbers; /* what the subject points to */
    size_t *free;
    hf_certify_settings settings;
    const double *user_lower, *user_upper; /* the caller's box, inputs of the data */
    size_t inputs;                         /* of the data */
    double shift, scale; /* value in the user's units = shift + scale value; shift is 0 for sd */
    /* A new reading: what adds to the latent variance in the solver's units and in the user's,
     * and what the sum is multiplied by: calibration, unless beta has its root. Else 0, 0, 1. */
    double noise, user_noise, stretch;
    hfi_watch *watch; /* what stops bounds that take long: they are void then. NULL */
    double *x;        /* d: a point in the user's units */
    double *x_moved;  /* d */
    double *gradient; /* 3 d */
    /* NULL, or moves a point (m) that steps lead to back into the region. */
    void (*project)(const void *region, double *point);
    const void *region;
    /* NULL, or the region in coordinates u of a part, x = centre + half u of the free inputs (p and
     * r have m entries each). False: the part is inside, or nothing is said of it. */
    bool (*ball)(const void *region, const double *centre, const double *half, double *p, double *r,
                 double *k);
    const hfi_certify_problem *whole; /* whose region cuts this one too; NULL: its own */

    /* Problems of mean and sd, and of several classes. */
    hfi_taylor *taylor;
    hfi_point_rounding point;    /* where no input is free */
    void *decomposition;         /* bound A, or NULL */
    struct hfi_classes *classes; /* of several classes, in place of all other bounds; else NULL */
    hf_posterior_workspace *workspace; /* to look at points */
    size_t scratch;                    /* doubles that one thread needs to bound boxes */
    double *room;        /* from begin() to end(): sides, a point, scratch of all threads */
    size_t room_scratch; /* where the last begins */
    void *state;         /* of other functions */
};

/** Inputs of the data, without the number of an output. */
size_t hfi_posterior_inputs(const hf_posterior *posterior);
/** Settings and the sides of a box; messages name the input. */
hf_status hfi_problem_check(hf_context *ctx, const hf_posterior *posterior,
                            const hfi_quantity *quantity, const hf_certify_settings *settings,
                            const double *lower, const double *upper);
/** Changes units and makes what bounds need, of checked arguments. The box and `shared` stay the
 * caller's. */
hf_status hfi_problem_create(hf_context *ctx, const hf_posterior *posterior,
                             const hfi_quantity *quantity, const hf_certify_settings *settings,
                             void *shared, const double *lower, const double *upper,
                             hfi_certify_problem **out);
void hfi_problem_free(hfi_certify_problem *q);

/** Answer for a box where a number is not finite, so that nothing is known; argmin and argmax
 * hold `inputs` entries. */
hf_range hfi_unknown_range(const hfi_quantity *quantity, const hf_certify_settings *settings,
                           size_t inputs, double *argmin, double *argmax);

/* ---- for the functions of problems ----------------------------------------------------------- */

/** q->x and `user` := the point (m) in the user's box. */
void hfi_problem_place(hfi_certify_problem *q, const double *point, double *user);
/** Projected gradient steps (descend.c): `point` holds free inputs in the solver's units and is
 * moved, sign value of it is *value, `user` the same point in the user's units. `work` holds 4 m
 * doubles. */
void hfi_descend(hfi_certify_problem *q, double sign, double *point, double *value, double *user,
                 double *work);
/** begin() and end() where scratch is doubles (problem_moments.c). */
hf_status hfi_problem_begin(hfi_certify_problem *q, size_t threads,
                            const hfi_branch_functions *functions, hfi_branch_problem *out);
void hfi_problem_end(hfi_certify_problem *q);
/** Scratch of a thread. */
static inline double *hfi_problem_scratch(const hfi_certify_problem *problem, int thread)
{
    return problem->room + problem->room_scratch + (size_t)thread * problem->scratch;
}
/** The region that cuts the part x = centre + half u of the free inputs; `room` 2 m. False: none
 * does. */
static inline bool hfi_problem_ball(const hfi_certify_problem *problem, const double *centre,
                                    const double *half, double *room, hfi_ball *out)
{
    const hfi_certify_problem *of = problem->whole ? problem->whole : problem;
    *out = (hfi_ball){room, room + of->subject.free_count, 0.0};
    return of->ball &&
           of->ball(of->region, centre, half, room, room + of->subject.free_count, &out->k);
}
/** look() of such problems. */
double hfi_problem_look(void *of, double sign, bool descend, const double *point, double *user);

/** Doubles of scratch beside that of the bounds. */
size_t hfi_problem_own_scratch(size_t m, size_t d);
/* of models that are sharpened */
size_t hfi_problem_sharp_scratch(const hfi_certify_problem *problem);
/** hfi_branch_functions of mean and sd. */
void hfi_problem_bounds(void *of, int thread, double sign, double enough, size_t count,
                        const double *low, const double *high, hfi_box_bound *bounds);

#endif
