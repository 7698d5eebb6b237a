/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_stream.h
 * @brief One call of a product with the matrix of covariances that is never stored, as its paths
 * see it.
 */
#ifndef HFI_KERNEL_BLOCK_STREAM_H
#define HFI_KERNEL_BLOCK_STREAM_H

#include "kernel/expression.h"
#include "kernel/kernel.h"

/** Request: b, or b_bar with s_bar or theta or both, or p. */
typedef struct hfi_block_job {
    const hf_kernel *kernel;
    size_t n;
    const double *x;
    size_t ldx;

    /* Block-sparse actions. For dense columns one block of all rows, without entries. */
    size_t blocks;
    const size_t *first;
    const uint32_t *owner; /**< block of every row */
    const double *s;

    /* The product: B, zero on entry. */
    double *b;
    size_t ldb;

    /* The adjoint: Bbar (ldb apart as well) and what it is turned into; either may be NULL, both
     * are zero on entry. */
    const double *b_bar;
    double *s_bar, *theta;

    /* Dense columns, and their product, zero on entry. */
    size_t columns;
    const double *v;
    size_t ldv;
    double *p;
    size_t ldp;
} hfi_block_job;

/** Any kernel, in double precision, by tiles. Results are spoilt by a failure. */
hf_status hfi_block_tiles(hf_context *ctx, const hfi_block_job *job);

/* ---- rounds (block_rounds.c) ----------------------------------------------------------------- */

/**
 * All pairs of chunks of rows, in rounds that never touch a row twice.
 *
 * A symmetric matrix that is never stored is worked through in pairs (p, q), p <= q, of chunks:
 * what is computed for the pair is added to the rows of p and to the rows of q. Round r consists of
 * the pairs with p + q = r modulo the number of chunks, so that every chunk is in exactly one pair
 * of a round: pairs of one round share no row and run on as many threads as there are. Each row
 * receives its sums in the order of the rounds, whoever computes them. No partial results, no
 * locks, the same digits for any number of threads.
 *
 * Rounds are also what the processes of a group share: each works through some of them, and all
 * cost the same. The results are what its rounds add up to (block_stream.c adds those of all
 * processes).
 */
typedef void (*hfi_pair_body)(size_t p, size_t q, int thread, void *arg);

/** Calls body(p, q) once for every pair p <= q < chunks of this process's rounds: of all without a
 * group. `pairs_of_rows` is the work of all, about n (n + 1) / 2: progress is reported
 *  under `stage` now and then, from the calling thread, which may cancel between rounds.
 *  @return HF_OK or HF_ERR_CANCELLED */
hf_status hfi_pair_rounds(hf_context *ctx, const char *stage, size_t chunks, double pairs_of_rows,
                          hfi_pair_body body, void *arg);

/* ---- radial kernels: what is common to both precisions (block_plan.c) ------------------------ */

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
