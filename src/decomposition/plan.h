/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h
 * @brief The tree that a kernel is compiled to for bound A (decomposition.h), and what is known of
 * its nodes at an anchor over a box.
 */
#ifndef HFI_DECOMPOSITION_PLAN_H
#define HFI_DECOMPOSITION_PLAN_H

#include "core/core.h"
#include "kernel/forms.h"
#include <holdfast/kernel.h>

typedef enum hfi_plan_kind {
    HFI_PLAN_SUM,
    HFI_PLAN_PRODUCT,
    HFI_PLAN_CONVEX,
    HFI_PLAN_WAVE,
    HFI_PLAN_LINEAR,
    HFI_PLAN_PLANE,
    HFI_PLAN_CONSTANT,
    HFI_PLAN_TABLE,
    HFI_PLAN_CODES
} hfi_plan_kind;

/** Children come before their parents. */
typedef struct hfi_plan_node {
    hfi_plan_kind kind;
    size_t child, next;  /**< SIZE_MAX: none */
    size_t first, count; /**< its parts: plan->parts[first .. first + count) */
    /** convex: exp(-phi / 2), matern's of r = sqrt(phi), rq's, exp(-2 phi) of periodic; plane: its
     * kernel */
    hfi_form psi;
    bool waves; /**< convex: phi is of sin^2 */
    /** constant; what a product is multiplied by; alpha of rq; plane: u has value w z besides, and
     * with 0 the plane is multiplied by that of z */
    double value;
    size_t outputs;      /**< table: rows and columns */
    const double *table; /**< owned by the kernel */
} hfi_plan_node;

/** One coordinate of a node. */
typedef struct hfi_plan_part {
    size_t column;
    double weight; /**< in phi, or of linear; 1 of a wave; factor of a category that differs */
    size_t wave;   /**< which sinusoid; SIZE_MAX where it is a parabola */
} hfi_plan_part;

/** cos and sin of 2 pi frequency (x - c) in one coordinate. */
typedef struct hfi_plan_wave {
    size_t column;
    double frequency;
} hfi_plan_wave;

typedef struct hfi_plan {
    hfi_memory memory;
    size_t d, nodes, parts, waves; /**< the last node is the root */
    hfi_plan_node *node;
    hfi_plan_part *part;
    hfi_plan_wave *wave;
} hfi_plan;

/** The plan of a kernel, which it must not outlive. White is 0, as between two rows. */
hf_status hfi_plan_create(hf_context *ctx, const hf_kernel *kernel, hfi_plan *out);
void hfi_plan_free(hfi_plan *plan);

/** Knowledge about a node at one anchor over the box. */
typedef struct hfi_plan_value {
    double lower, upper, centre; /**< range; at the box's centre */
    double most;                 /**< no value is larger in size; 1 of a wave */
    /** what turns by an angle is wrong by its rounding: those angles, relative to `most` */
    double phase;
    double below[2], above[2]; /**< convex: lines a + b phi under and over psi */
    double slack;              /**< convex: how far apart they are in the middle */
    double phi;                /**< convex: the largest */
} hfi_plan_value;

/** Sum of estimates over the anchors, in delta = x - centre. */
typedef struct hfi_plan_sums {
    double constant;
    double size;       /**< of the numbers that were added up, for the allowance */
    double *curvature; /**< d: curvature delta^2 + slope delta */
    double *slope;     /**< d */
    double *even;      /**< waves: even cos(2 pi f delta) + odd sin(2 pi f delta) */
    double *odd;       /**< waves */
    double *slack;     /**< nodes: |weight| times distance between the lines */
} hfi_plan_sums;

/** A box and an anchor; `value` has an entry per node and `turn` two per part, both written by
 * hfi_plan_range(). */
typedef struct hfi_plan_anchor {
    const hfi_plan *plan;
    const double *centre, *half, *z;
    hfi_plan_value *value;
    double *turn; /**< cos, sin of the phase at the centre; or centre - z */
} hfi_plan_anchor;

/** Ranges and lines of all nodes. */
void hfi_plan_range(const hfi_plan_anchor *at);
/** sums += an estimate from below of weight k(x, z), weight of either sign. */
void hfi_plan_estimate(const hfi_plan_anchor *at, double weight, hfi_plan_sums *sums);
/** The cosine over [angle - half, angle + half]. */
void hfi_cosine_range(double angle, double half, double *lower, double *upper);

#endif
