/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file optimise.h
 * @brief Internal face of the optimise room.
 */
#ifndef HFI_OPTIMISE_H
#define HFI_OPTIMISE_H

#include "core/core.h"
#include <holdfast/optimise.h>

/** Input j at a share of the box's side, 0 at the lower bound and 1 at the upper one, exactly, and never outside. */
double hfi_domain_at(const hf_domain *domain, size_t j, double share);
/** Inputs whose bounds differ; their numbers into `free` (d entries) unless it is NULL. */
size_t hfi_domain_free_inputs(const hf_domain *domain, size_t *free);

/** HF_ERR_ARGUMENT for settings with which a box cannot be searched. */
hf_status hfi_search_check(hf_context *ctx, const hf_search_settings *settings);

/** The bound has all its parts, and is of points with d inputs. */
hf_status hfi_confidence_check(hf_context *ctx, const hf_confidence *bound, size_t d);
/** Whose standard deviation. */
const hf_posterior *hfi_confidence_spread(const hf_confidence *bound);

/** One point: what hf_confidence_evaluate() adds up. */
typedef struct hfi_confidence_parts {
    double value, mean;
    double sd; /* NaN for beta = 0 unless it is wanted all the same */
} hfi_confidence_parts;
hf_status hfi_confidence_at(const hf_confidence *bound, hf_workspace *mean, hf_workspace *spread, size_t d,
                            const double *x, bool want_sd, hfi_confidence_parts *parts, double *gradient);
/** The bound at m points (m x d, stride d) by hf_predict(). */
hf_status hfi_confidence_many(hf_context *ctx, const hf_confidence *bound, size_t m, size_t d,
                              const double *x, double *values);

/** Samples (`wanted`, or so many as is usual), the last anchors of the posterior that are in the box, at most as many, the guesses, put into the box, and the
 * corners, unless there are many: *points, count x d, to be freed with hfi_free(). HF_ERR_MEMORY. */
hf_status hfi_points_to_look_at(hf_context *ctx, const hf_posterior *posterior, const hf_domain *domain,
                                size_t free, const size_t *free_inputs, size_t wanted, size_t guess_count,
                                const double *guesses, double **points, size_t *count);
/** Which points a box is climbed from: the best, none that lies near a better one. `points` is count x d; `starts` has room for `most`. */
hf_status hfi_choose_starts(hf_context *ctx, const hf_domain *domain, size_t count, const double *points,
                            const double *values, size_t most, size_t *starts, size_t *chosen);

#endif
