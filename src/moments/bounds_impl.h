/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bounds_impl.h
 * @brief Shared by the bounds of one box: scratch, and what is known of the box so far.
 *
 * Everything is about sign value, whose least is looked for.
 */
#ifndef HFI_MOMENTS_BOUNDS_IMPL_H
#define HFI_MOMENTS_BOUNDS_IMPL_H

#include "moments/moments.h"
#include "taylor/quadratic.h"
#include "taylor/taylor.h"

#include <math.h>

/** Parts that the cube is split into for the bound of a cubic model, at most. */
#define HFI_PARTS 256u

/** The `state` of a problem: all that its boxes have in common. */
typedef struct hfi_moments_state {
    hfi_taylor *taylor;
    hfi_point_rounding point;          /* where no input is free */
    void *decomposition;               /* bound A, or NULL */
    hf_posterior_workspace *workspace; /* to look at points */
} hfi_moments_state;

/** Scratch of one call, beside that of the models. */
typedef struct hfi_bounds_scratch {
    double *centre; /* d x together */
    double *half;   /* m x together */
    double *mean;   /* (m m + 3 m) x together */
    double *spread; /* (m m + 2 m) x together */
    double *g, *h;  /* m, m x m: a quadratic function */
    double *gap;    /* m */
    double *point;  /* m */
    double *best_gap;
    double *full;   /* d: half-widths of all inputs */
    double *sides;  /* 4 d: of the decomposition */
    double *work;   /* of the quadratic bound */
    double *cubic;  /* m x m x m, where models are of third degree */
    double *square; /* m m + 3 m: of the model of the variance */
    double *ball;   /* 2 m */
    double *plan;   /* of plans of parts */
    double *models;
} hfi_bounds_scratch;

/** A box and its bounds so far. */
typedef struct hfi_bounds_box {
    const hfi_certify_problem *problem;
    const hfi_moments_state *made; /* the problem's */
    const hfi_bounds_scratch *b;
    double sign;
    size_t m;
    const double *centre, *half;
    bool of_mean, of_spread; /* what matters */
    const hfi_ball *ball;    /* that the box is cut by; NULL: none */
    hfi_mean_model *mean;
    hfi_spread_model *spreads; /* of this box and those after it */
    size_t spread_count;
    hfi_spread_model spread;
    double bound, predicted; /* the best so far, solver's units without the shift */
    double rounding;
    bool own; /* best_gap comes from a model */
    /* A bound of sign value that need not be better, solver's units without the shift. */
    double enough;
    unsigned char *plan; /* of the box */
} hfi_bounds_box;

static inline double hfi_root(double square)
{
    return sqrt(fmax(square, 0.0));
}

/** The sd at the centre, of what is asked about. */
double hfi_centre_sd(const hfi_bounds_box *x);
/** The least and the largest sd in the box. */
double hfi_lowest_sd(const hfi_bounds_box *x, double *point, double *gap);
double hfi_highest_sd(const hfi_bounds_box *x, double *point, double *gap);
/** Doubles of scratch beside that of the models and the decomposition. */
size_t hfi_moments_scratch(size_t m, size_t d);
/** And of models that are sharpened. */
size_t hfi_moments_sharp_scratch(const hfi_taylor *taylor);
/** hfi_branch_functions of mean and sd. */
void hfi_moments_bounds(void *of, int thread, double sign, double enough, size_t count,
                        const double *low, const double *high, hfi_box_bound *bounds);
/** Doubles of scratch for plans. */
size_t hfi_plan_scratch(size_t m);
/** Bounds sign sd by the variance's cubic model, where the features' linear one was not enough.
 * Where that model is hopeless the box has a plan of its parts instead. */
void hfi_bound_square(hfi_bounds_box *x, double *point, signed char *face);
/** Inputs along which a value surely grows (-1) or falls (1): its slope is within `error` (m) and
 * `rounding` of sign (g + H u). */
void hfi_find_faces(const hfi_bounds_box *x, const double *g, const double *h, const double *error,
                    double rounding, signed char *face);

#endif
