/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file moments.h
 * @brief Quantities of mean and sd over boxes: bounds up to a rounding allowance, by Taylor's
 * models (taylor.h), links (link.h) and bound A (decomposition.h).
 */
#ifndef HFI_MOMENTS_MOMENTS_H
#define HFI_MOMENTS_MOMENTS_H

#include "bound/problem.h"

/** Problems of mean and sd. */
extern const hfi_problem_functions hfi_problem_of_moments;

/** Rows of quantities have these as `bound`: each sets bound, predicted, best_gap and `own` of the
 * box. */
void hfi_bound_mean(struct hfi_bounds_box *x, double *point);
void hfi_bound_sd(struct hfi_bounds_box *x, double *point);
void hfi_bound_both(struct hfi_bounds_box *x, double *point);
void hfi_bound_probit(struct hfi_bounds_box *x, double *point);
void hfi_bound_logit(struct hfi_bounds_box *x, double *point);

#endif
