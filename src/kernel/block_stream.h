/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_stream.h
 * @brief One call of a product with the matrix of covariances that is never stored, as its paths see it.
 */
#ifndef HFI_KERNEL_BLOCK_STREAM_H
#define HFI_KERNEL_BLOCK_STREAM_H

#include "kernel/block_rounds.h"
#include "kernel/kernel.h"

/** What is asked for: exactly one of the three groups of results is set. */
typedef struct hfi_block_job {
    const hf_kernel *kernel;
    size_t n;
    const double *x;
    size_t ldx;

    /* Block-sparse actions; NULL for dense columns. */
    const uint32_t *owner; /**< block of every row */
    const double *s;

    /* The product: B, zero on entry. */
    double *b;
    size_t ldb;

    /* The adjoint: Bbar, and what it is turned into. Either result may be NULL. Both zero on entry. */
    const double *b_bar;
    double *s_bar;
    double *theta; /**< one row of parameters for every chunk, added up by the caller */

    /* Dense columns, and their product, zero on entry. */
    size_t columns;
    const double *v;
    size_t ldv;
    double *p;
    size_t ldp;
} hfi_block_job;

/** Rows in a chunk of the path for any kernel. */
#define HFI_BLOCK_CHUNK 128u

/** Any kernel, in double precision, by tiles. `scratch`: hfi_kernel_scratch() doubles for each thread.
 *  The results are spoilt when it is cancelled. */
hf_status hfi_block_tiles(hf_context *ctx, const hfi_block_job *job, double *scratch);

#endif
