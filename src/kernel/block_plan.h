/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_plan.h
 * @brief Radial kernels in the streamed products: what is common to both precisions.
 */
#ifndef HFI_KERNEL_BLOCK_PLAN_H
#define HFI_KERNEL_BLOCK_PLAN_H

#include "kernel/block_stream.h"
#include "kernel/expression.h"

/**
 * sigma^2 k(r) as a function of t = sqrt(c) r, so that k needs one multiplication less:
 *
 *     form      c     k(t)                        -2 u^2 dk/d(t^2) is u^2 times the slope below
 *     times
 *     matern12  1     exp(-t)                     exp(-t) / t               1
 *     matern32  3     (1 + t) exp(-t)             exp(-t)                   1
 *     matern52  5     (1 + t + t^2/3) exp(-t)     (1 + t) exp(-t)           1/3
 *     se        1/2   exp(-t^2)                   exp(-t^2)                 2
 *
 * where u is a coordinate's share of t: the last two columns make dk/d(log lengthscale).
 */
typedef struct hfi_block_plan {
    hfi_form form;
    bool ard;
    size_t axes, padded;   /**< columns of the kernel; the same in fours */
    const size_t *columns; /**< of the table */
    double *factor;        /**< sqrt(c) / lengthscale of each column */
    double *centre;        /**< of each column: the middle of its range */
    double reach;          /**< largest scaled distance from the centre along an axis */
    double scale;          /**< sigma^2 */
    size_t scale_at;       /**< parameters */
    size_t lengthscale_at;
    double slope; /**< the last column of the table above */

    /* Chunks: rows begin[c] .. begin[c+1]-1. A block that is large enough is a chunk of its own or
     * some of nearly equal size; small ones share a chunk. */
    size_t chunks;
    size_t *begin;
} hfi_block_plan;

/** Largest reach of which the squares do not overflow. */
#define HFI_REACH_DOUBLE 1e100
#define HFI_REACH_SINGLE 1e15

/** The kernel is one radial leaf (but not rq) with an outputscale, white terms aside. */
bool hfi_block_plan_fits(const hf_kernel *kernel);
/** For a kernel that fits. hfi_block_plan_free() also after a failure. */
hf_status hfi_block_plan_make(hf_context *ctx, const hfi_block_job *job, hfi_block_plan *plan);
void hfi_block_plan_free(hf_context *ctx, hfi_block_plan *plan);

/** Any job, within the reach of the precision. */
hf_status hfi_block_radial_double(hf_context *ctx, const hfi_block_job *job,
                                  const hfi_block_plan *plan);
hf_status hfi_block_radial_single(hf_context *ctx, const hfi_block_job *job,
                                  const hfi_block_plan *plan);

#endif
