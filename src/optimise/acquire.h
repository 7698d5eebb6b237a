/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire.h
 * @brief Acquisition functions inside the optimise room.
 */
#ifndef HFI_ACQUIRE_H
#define HFI_ACQUIRE_H

#include "optimise/optimise.h"
#include "posterior/given.h"
#include <holdfast/acquire.h>

/** A value, and its derivatives in the mean and in the standard deviation. */
typedef struct hfi_acquired {
    double value, mean, sd;
} hfi_acquired;

typedef struct hfi_acquisition_row {
    const char *name;
    /** sd >= 0. A logarithm may be -infinity, a slope may overflow. */
    hfi_acquired (*formula)(double mean, double sd, double best, double beta);
    bool logarithm;
    bool improves; /* upon `best`: not negative, or the logarithm of such a one */
} hfi_acquisition_row;

/** NULL for a kind that is none. */
const hfi_acquisition_row *hfi_acquisition_of(hf_acquisition kind);
/** Numbers only: -DBL_MAX for logarithms of 0, 0 for slopes that are none. */
hfi_acquired hfi_acquisition_at(const hfi_acquisition_row *row, double mean, double sd, double best,
                                double beta);
/** log P(c <= limit) for c ~ N(mean, sd^2), with derivatives in mean and sd. */
hfi_acquired hfi_acquisition_feasible(double limit, double mean, double sd);

/** Values that f may have at the pending points and those to be improved upon: joint draws f = mean
 * + L e, the best of each, and what they make of f elsewhere. Without such points there is one
 * draw, of nothing. */
typedef struct hfi_draws {
    const hfi_acquisition_row *row; /* F */
    double beta;
    hfi_given given;
    size_t count;  /* S >= 1 */
    double *e;     /* S x p, standard normal */
    double *best;  /* S */
    double *w, *q; /* p each: room of the one-point functions */
} hfi_draws;

/** So many draws when nothing is said. */
#define HFI_DRAWS 128
/** `count` quasi-random draws of p standard normal variables, each with its negative (e: count x
 * p); `number` and the context's seed determine them. HF_ERR_MEMORY. */
hf_status hfi_draw_normals(hf_context *ctx, uint64_t number, size_t p, size_t count, double *e);
/** `a` has been checked. HF_ERR_MEMORY and those of hfi_given_begin(); then it can only be ended.
 * */
hf_status hfi_draws_begin(hf_context *ctx, const hf_acquire *a, size_t d, hfi_draws *draws);
void hfi_draws_end(hf_context *ctx, hfi_draws *draws);
/** The standard deviation that is left, sqrt(var - |w|^2). */
double hfi_draws_sd(const hfi_draws *draws, double var, const double *w);
/** 1/S sum_s F(mean + w'e_s, sd, best_s), or the logarithm of that mean where F is one; its slopes
 * in mean and sd, and in w (q, p entries, or NULL), sd being held. Thread-safe. */
hfi_acquired hfi_draws_mean(const hfi_draws *f, double mean, double sd, const double *w, double *q);

/** An acquisition function that has been checked, with the room that its values need. */
typedef struct hfi_acquiring {
    const hf_acquire *a;
    const hfi_acquisition_row *row;
    size_t d, posteriors;
    bool feasibility;               /* alone */
    hf_posterior_workspace **rooms; /* of f, then of the constraints */
    double *slopes;                 /* 2 d: gradients of mean and variance */
    double *total;                  /* d: gradient so far */
    hfi_draws draws;
} hfi_acquiring;

/** Pending points, and those to be improved upon, at most: their covariance is factored. */
#define HFI_MOST_POINTS 4096
/** HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE: what is wrong with it, in a domain of d
 * inputs. */
hf_status hfi_acquire_check(hf_context *ctx, const hf_acquire *a, size_t d);
/** Copies the caller's struct over the defaults. HF_ERR_ARGUMENT: NULL, or its size. */
hf_status hfi_acquire_take(hf_context *ctx, const hf_acquire *given, hf_acquire *own);
/** On error it can only be ended. */
hf_status hfi_acquiring_begin(hf_context *ctx, const hf_acquire *a, size_t d, hfi_acquiring *p);
void hfi_acquiring_end(hf_context *ctx, hfi_acquiring *p);
/** Logarithms that are numbers. */
double hfi_not_below(double value);
/** total (d) += slopes in mean and sd times the gradients of mean and variance (2 d). An sd of 0
 * has no gradient, and one that overflows none worth having. */
void hfi_add_slopes(size_t d, double by_mean, double by_sd, double sd, const double *slopes,
                    double *total);
/** As hfi_surface has it; `of` is an hfi_acquiring. */
hf_status hfi_acquiring_at(void *of, size_t d, const double *x, double *value, double *gradient);
/** Values of a surface, and its gradients unless these are NULL, at m rows of d inputs. On an error
 * both are as they were. HF_ERR_MEMORY, HF_ERR_CANCELLED, and the surface's own errors. */
hf_status hfi_surface_at(hf_context *ctx, const hfi_surface *f, size_t d, size_t m, const double *x,
                         double *values, double *gradients);
/** The place where it is largest, with value, mean and sd. x and found (neither NULL) are left
 * alone on error. */
hf_status hfi_acquiring_maximise(hf_context *ctx, hfi_acquiring *p, const hf_domain *domain,
                                 const hf_search_settings *settings, size_t guess_count,
                                 const double *guesses, double *x, hf_argmax *found);

#endif
