/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file front.h
 * @brief Several objectives at once: Pareto fronts, their hypervolume, and what a place may add.
 *
 * All objectives are maximised; a minimised one has its sign changed first. Values are n x m
 * row-major: a row for each point, a column for each of the m objectives. Point p dominates
 * point q if no value of p is below q's and one is above.
 *
 * Functions without a context allocate nothing, leave no message, and any threads may call them
 * at once.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_FRONT_H
#define HOLDFAST_FRONT_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/**
 * The points that no other point dominates; of equal points the first alone.
 * @param values n x m, finite
 * @param index  room for n numbers; receives *count numbers of points, ascending, counted from 0
 * Errors, which leave index and count alone: HF_ERR_ARGUMENT (NULL, m = 0), HF_ERR_NOT_FINITE with
 * the point, HF_ERR_MEMORY. O(n log n) for one or two objectives, else O(n log n + n m count).
 */
HF_API hf_status hf_front(hf_context *ctx, size_t n, size_t m, const double *values, size_t *index,
                          size_t *count);

/** Most objectives that hf_hypervolume() takes. */
#define HF_FRONT_OBJECTIVES 10

/**
 * The volume between a reference and the points: of all z >= reference that some point is nowhere
 * below. Points that are not above the reference in every objective add nothing; without points
 * the volume is 0. Unit: the product of the objectives' units.
 * @param m         1 to HF_FRONT_OBJECTIVES
 * @param reference m values, finite
 * Slices along the last objective, each the same problem with one objective less: sums of positive
 * terms, so that the relative error is rounding. O(n log n) for two objectives, O(n^(m-1) log n)
 * for more. Reports progress; can be cancelled. Errors, which leave volume alone: HF_ERR_ARGUMENT,
 * HF_ERR_NOT_FINITE (a value, or a volume beyond the largest number), HF_ERR_MEMORY,
 * HF_ERR_CANCELLED.
 */
HF_API hf_status hf_hypervolume(hf_context *ctx, size_t n, size_t m, const double *values,
                                const double *reference, double *volume);

/** A front and a reference, prepared for expected improvements. */
typedef struct hf_ehvi hf_ehvi;

/**
 * Cuts what lies above the reference and is dominated by no point into at most 2 n + 1 disjoint
 * boxes (m = 3; n + 1 for m = 2).
 * @param m      1, 2 or 3 objectives
 * @param values n x m, finite, copied: dominated points and repetitions change nothing; n may be 0
 * @param reference m values, finite, copied
 * Errors, with *out untouched: HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE, HF_ERR_MEMORY. O(n^2) at worst.
 */
HF_API hf_status hf_ehvi_create(hf_context *ctx, size_t n, size_t m, const double *values,
                                const double *reference, hf_ehvi **out);
HF_API void hf_ehvi_free(hf_ehvi *ehvi);
/** Number of objectives, m; 0 for NULL. */
HF_API size_t hf_ehvi_objectives(const hf_ehvi *ehvi);

/**
 * Expected hypervolume improvement of one place, whose m values are independent normals:
 *
 *     EHVI = E[ hypervolume(points and y) - hypervolume(points) ],   y_j ~ N(mean_j, sd_j^2)
 *          = sum over boxes  prod_j  integral from lower_j to upper_j of Phi((mean_j - z)/sd_j) dz
 *
 * exactly. One objective makes expected improvement over the largest point. With sd_j = 0, y_j is
 * mean_j. A feasibility probability of constraints multiplies from outside.
 * @param mean, sd m entries; sd >= 0
 * @param expected_improvement in the objectives' units, multiplied; 0 where it underflows
 * @param by_mean, by_sd m derivatives each, or NULL
 * Relative error: 1e-11 wherever the value is no denormal number; that of the derivatives is
 * relative to value / sd_j. O(m boxes). Errors, with outputs untouched: HF_ERR_ARGUMENT,
 * HF_ERR_NOT_FINITE.
 * Source: Emmerich, Yang, Deutz, Wang, Fonseca, A multicriteria generalization of Bayesian global
 * optimization, 2016; Yang, Emmerich, Deutz, Baeck, Efficient computation of expected hypervolume
 * improvement using box decomposition algorithms, 2019.
 */
HF_API hf_status hf_ehvi_value(const hf_ehvi *ehvi, const double *mean, const double *sd,
                               double *expected_improvement, double *by_mean, double *by_sd);
/**
 * log EHVI and its derivatives, the same sum with logarithms throughout: usable where EHVI
 * underflows, thousands of sd below the front. Where sd_j = 0 leaves nothing to hope for, the
 * value is -INFINITY and the derivatives are 0. Else as hf_ehvi_value().
 * Errors: those of hf_ehvi_value(). O(m boxes).
 */
HF_API hf_status hf_ehvi_log(const hf_ehvi *ehvi, const double *mean, const double *sd,
                             double *log_improvement, double *by_mean, double *by_sd);

HF_END_DECLS

#endif
