/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file eulbo.h
 * @brief EULBO: the utility of points, and a climb under way, between the training of a fit and its
 * end.
 *
 * The utility under a normal posterior is u = softplus((max_a f_a - best) / unit): the expectation
 * of its logarithm, or the logarithm of its expectation. One point: Gauss-Hermite's rule of
 * HFI_UTILITY_NODES nodes. Several: f = mean + L e, L L' the covariance, over quasi-random normal e
 * that stay the same. So the sum is a smooth function of mean and covariance but where the largest
 * point changes.
 */
#ifndef HFI_EULBO_H
#define HFI_EULBO_H

#include "core/core.h"
#include "fit/fit.h"
#include "objective/query.h"
#include "optimise/optimise.h"
#include <holdfast/eulbo.h>

/* ---- utility (utility.c) --------------------------------------------------------------------- */

enum {
    HFI_UTILITY_NODES = 20
};

typedef struct hfi_utility {
    hf_context *ctx;
    bool expected_log; /* E[log u]; false: log E[u] */
    double best, unit; /* in the units of the mean; may be changed between calls */
    size_t count;      /* points */
    size_t draws;      /* of several points */
    double node[HFI_UTILITY_NODES], weight[HFI_UTILITY_NODES]; /* of a standard normal variable */
    double *normals;                                           /* draws x count */
    double *room;                                              /* 3 count^2, then draws */
} hfi_utility;

/** Draws for E[log u]. HF_ERR_MEMORY. `draws` >= 1 are made for several points. */
hf_status hfi_utility_init(hf_context *ctx, size_t count, size_t draws, hfi_utility *out);
void hfi_utility_free(hfi_utility *utility);
/** log softplus(r), softplus(r) = log(1 + exp(r)), for any finite r; its slope, unless NULL. */
double hfi_log_softplus(double r, double *slope);
/** U where log u is `logs` with the probabilities `weight` (NULL: equal ones); unless NULL, `share`
 * receives the derivatives of U in logs, `count` entries, which may be `logs`. */
double hfi_utility_sum(const hfi_utility *u, size_t count, const double *weight, const double *logs,
                       double *share);
/** One point of this mean and variance >= 0, with the derivatives in both of the rule itself. */
double hfi_utility_single(const hfi_utility *utility, double mean, double variance, double *by_mean,
                          double *by_variance);
/** All n = `count` points; an hfi_query_add with the utility as its argument.
 * HF_ERR_NOT_POSITIVE_DEFINITE. */
hf_status hfi_utility_add(void *arg, size_t n, const double *mean, const double *cov, double *value,
                          double *mean_bar, double *cov_bar);

/* ---- the climb ------------------------------------------------------------------------------- */

typedef struct hfi_eulbo {
    hf_context *ctx;
    hf_eulbo_settings settings;
    hf_search_settings search;
    const hf_domain *domain;
    size_t guess_count;
    const double *guesses;
    hfi_fit *fit;
    hf_posterior *start; /* the surrogate that the bound has trained */
    hf_posterior_workspace *workspace;
    double *gradients; /* 2 d, of a prediction */
    double *points;    /* q x d, user's units */
    double best, unit; /* user's units */
    hfi_utility utility;
    hf_eulbo_report report;
} hfi_eulbo;

/** The surrogate, what is to be improved upon, and the points to start from (eulbo_start.c). */
hf_status hfi_eulbo_begin(hfi_eulbo *e, double *state);
/** Climbs from there: state and points become the best that was seen (eulbo_climb.c). */
hf_status hfi_eulbo_climb(hfi_eulbo *e, double *state);

#endif
