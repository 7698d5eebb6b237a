/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file optimise.h
 * @brief Internal face of the optimise room.
 */
#ifndef HFI_OPTIMISE_H
#define HFI_OPTIMISE_H

#include "core/core.h"
#include <holdfast/front.h>
#include <holdfast/optimise.h>

/** Input j at a share of the box's side, 0 at the lower bound and 1 at the upper one, exactly, and
 * never outside. */
double hfi_domain_at(const hf_domain *domain, size_t j, double share);
/** Number of values of a lattice or a category, 0 for a continuous input; each of them, from 0 on;
 * the one nearest to x. */
size_t hfi_domain_levels(const hf_domain *domain, size_t j);
double hfi_domain_level(const hf_domain *domain, size_t j, size_t level);
size_t hfi_domain_level_of(const hf_domain *domain, size_t j, double x);
/** The value that input j can have nearest to x. */
double hfi_domain_nearest(const hf_domain *domain, size_t j, double x);
/** Whether input j is a category; whether it has one value only. */
bool hfi_domain_unordered(const hf_domain *domain, size_t j);
bool hfi_domain_fixed(const hf_domain *domain, size_t j);
/** Inputs that have more than one value; their numbers into `free` (d entries) unless it is NULL,
 * the continuous ones first, *smooth (or NULL) of them. */
size_t hfi_domain_free_inputs(const hf_domain *domain, size_t *free, size_t *smooth);

/** One point: what hf_ucb_evaluate() adds up. */
typedef struct hfi_ucb_parts {
    double value, mean;
    double sd; /* NaN for beta = 0 unless it is wanted all the same */
} hfi_ucb_parts;

/** A function that is to be maximised: a row of functions, and what they are of. */
typedef struct hfi_surface {
    const char *what; /* in messages: "the bound" */
    void *of;
    const hf_posterior *near; /* whose anchors are looked at too; NULL: none */
    double work;              /* multiplications a point, by which threads are asked to help */
    bool bottomless;          /* a logarithm: the better half of its values says how they spread */
    /** Values at m points (m x d, stride d), all of them numbers. */
    hf_status (*many)(hf_context *ctx, void *of, size_t m, size_t d, const double *x, double *out);
    /** Value at one point, and its gradient (d entries) unless that is NULL. HF_ERR_NOT_FINITE
     * where there is none. */
    hf_status (*at)(void *of, size_t d, const double *x, double *value, double *gradient);
    /** Value, mean and sd of what was found at x; NULL: nobody asks. HF_ERR_NOT_FINITE as above. */
    hf_status (*describe)(hf_context *ctx, void *of, size_t d, const double *x, hf_argmax *found);
    bool measured; /* without settings samples and starts are as many as its work allows */
} hfi_surface;

/** All that is the same for every surface: domain, settings (NULL: the defaults), guesses and the
 * room for the place make sense. */
hf_status hfi_maximise_check_call(hf_context *ctx, const hf_domain *domain,
                                  const hf_search_settings *settings, size_t guess_count,
                                  const double *guesses, const double *x);
/** The place (d entries) where a surface is largest, of a domain that has been checked, as
 * hf_maximise_ucb() says. x and found are left alone on error. */
hf_status hfi_maximise_surface(hf_context *ctx, const hfi_surface *surface, const hf_domain *domain,
                               const hf_search_settings *settings_or_null, size_t guess_count,
                               const double *guesses, double *x, hf_argmax *found);

/** Steps from value to value in the inputs that are not continuous, for a search that is
 * under way. */
typedef struct hfi_walk {
    const hf_domain *domain;
    size_t count; /* inputs that are not continuous */
    const size_t *inputs;
    size_t most;    /* neighbours that a point can have */
    double *points; /* most x d */
    double *values; /* most */
} hfi_walk;
/** Room for the walks of a search: `inputs` is the caller's. HF_ERR_MEMORY. */
hf_status hfi_walk_begin(hf_context *ctx, const hf_domain *domain, size_t n, const size_t *inputs,
                         hfi_walk *walk);
void hfi_walk_end(hf_context *ctx, hfi_walk *walk);
/** All points that differ from x in one of these inputs: on a lattice 1, 2, 4, ... steps up and
 * down, of a category every other code. Into walk->points; returns how many. */
size_t hfi_walk_neighbours(hfi_walk *walk, const double *x);

/** Samples (`asked`, or so many as is usual), guesses, put into the box, and the corners, unless
 * there are many. The last anchors of the posterior (or NULL) that are in the box come with them,
 * at most as many as samples. *points: count x d, to be freed with hfi_free(). Where the box is a
 * lattice of no more points than there would be samples, these instead of samples, anchors and
 * corners. HF_ERR_MEMORY. */
hf_status hfi_points_to_look_at(hf_context *ctx, const hf_posterior *near, const hf_domain *domain,
                                size_t free, const size_t *inputs, size_t asked, size_t guess_count,
                                const double *guesses, double **points, size_t *count);
/** Which points a box is climbed from: the best, none that lies near a better one. `x` is
 * count x d; `starts` has room for `most`. */
hf_status hfi_choose_starts(hf_context *ctx, const hf_domain *domain, size_t count, const double *x,
                            const double *values, size_t most, size_t *starts, size_t *chosen);

/* ---- what fronts, volumes and expected improvements share ------------------------------------ */

/** A point with what it is sorted by. */
typedef struct hfi_front_point {
    double key;
    const double *row;
} hfi_front_point;

/** Points that are above the reference in every objective, with the last value as key: *found (to
 * be freed with hfi_free()), sorted. Checks all arguments. */
hf_status hfi_front_above_reference(hf_context *ctx, size_t n, size_t m, const double *values,
                                    const double *reference, hfi_front_point **found, size_t *kept);

/** The integral of Phi((mean - z)/sd) over z from lower to upper (INFINITY allowed): its log, and
 * the derivatives of that if `slopes` are wanted. -INFINITY and zeros where it is 0. */
typedef struct hfi_slab {
    double log_value, by_mean, by_sd;
} hfi_slab;
hfi_slab hfi_front_strip(double lower, double upper, double mean, double sd, bool slopes);

#endif
