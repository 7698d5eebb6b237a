/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classes_order.h
 * @brief Boxes in which one class is surely more probable than another, by means and covariances
 * alone: no moment of the softmax is taken.
 *
 * For f ~ N(m, S) and classes w and j let d = f_w - f_j. Then E[softmax_w] > E[softmax_j] where
 *
 *     E[d] > 0   and   E[d] + Cov((f_w + f_j) / 2 - f_k, d) > 0 for every other class k
 *
 * (docs/methods/certify.md has the proof). Both sides are bounded over a box by a Taylor polynomial
 * of the second degree of one sum over the anchors.
 */
#ifndef HFI_SOFTMAX_CLASSES_ORDER_H
#define HFI_SOFTMAX_CLASSES_ORDER_H

#include "softmax/classes.h"

/** Matrices that all boxes of a posterior have in common. The data explain k(x)'M_ab k(x) of the
 * variance of f_a - f_b at x, where k holds the covariances of class 0 with its anchors. */
typedef struct hfi_order {
    hfi_memory memory;
    size_t classes, n; /* anchors of a class */
    size_t rank;
    double *ratio;  /* C: kernels in units of that of class 0 */
    double *matrix; /* C (C - 1) / 2 of n x n: M_ab */
    double *trace;  /* and their traces */
} hfi_order;

/** The place of M_ab among the matrices. */
static inline size_t hfi_order_pair(size_t a, size_t b)
{
    return a < b ? b * (b - 1) / 2 + a : a * (a - 1) / 2 + b;
}

/* ---- classes_matrices.c ---- */

/** *out := NULL where the classes differ in their anchors or the matrices take too much room. Also
 * where the question is not about the order of two probabilities. HF_ERR_MEMORY, and
 * HF_ERR_CANCELLED without a message. O(C^2 n^2 rank) for n anchors of a class. */
hf_status hfi_order_create(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                           const hfi_quantity *quantity, hfi_order **out);
void hfi_order_free(hfi_order *order);
/** Whether the kernels of the classes are multiples of each other with derivatives that are
 * known. */
bool hfi_order_serves(const hfi_order *order, const hfi_classes *classes);
/** Prior variance of a class at a point (d), white among it. */
double hfi_order_prior(const hfi_classes *classes, const double *point);
/* ---- classes_order.c ---- */

/** Doubles of scratch. */
size_t hfi_order_scratch(const hfi_order *order, const hfi_classes *classes);

/** Answer for a box. */
typedef struct hfi_ordered {
    /** Above 0: with sign 1 class `winner` is ahead of all others in the whole box, with sign -1
     * another one is ahead of it. */
    double least;
    double predicted; /* what the polynomials expect of it at their least points */
    double rounding;
    size_t split;
    unsigned char plan[HFI_PLAN]; /* as hfi_box_bound has it */
} hfi_ordered;

/** Answers for `count` <= HFI_TOGETHER boxes of a problem about several classes: centre count x d,
 * half count x m. Serial, no allocation. O(C^2 n^2 m) a box. */
void hfi_order_bounds(const hfi_order *order, const hfi_certify_problem *problem, double sign,
                      size_t count, const double *centre, const double *half, hfi_ordered *out,
                      double *scratch);

#endif
