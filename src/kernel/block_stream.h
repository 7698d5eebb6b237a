/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_stream.h
 * @brief One call of a product with the matrix of covariances that is never stored, as its paths
 * see it.
 */
#ifndef HFI_KERNEL_BLOCK_STREAM_H
#define HFI_KERNEL_BLOCK_STREAM_H

#include "kernel/block_rounds.h"
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

#endif
