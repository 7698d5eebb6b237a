/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_rounds.h
 * @brief All pairs of chunks of rows, in rounds that never touch a row twice.
 *
 * A symmetric matrix that is never stored is worked through in pairs (p, q), p <= q, of chunks:
 * what is computed for the pair is added to the rows of p and to the rows of q. Round r consists of
 * the pairs with p + q = r modulo the number of chunks, so that every chunk is in exactly one pair
 * of a round: pairs of one round share no row and run on as many threads as there are, and each row
 * receives its sums in the order of the rounds, whoever computes them. No partial results, no
 * locks, the same digits for any number of threads.
 *
 * Rounds are also what the processes of a group share: each works through some of them, all cost
 * the same, and the results are what its rounds add up to (block_stream.c adds those of all
 * processes).
 */
#ifndef HFI_KERNEL_BLOCK_ROUNDS_H
#define HFI_KERNEL_BLOCK_ROUNDS_H

#include "core/core.h"

typedef void (*hfi_pair_body)(size_t p, size_t q, int thread, void *arg);

/** Calls body(p, q) once for every pair p <= q < chunks of this process's rounds: of all without a
 * group. `pairs_of_rows` is the work of all, about n (n + 1) / 2: progress is reported
 *  under `stage` now and then, from the calling thread, which may cancel between rounds.
 *  @return HF_OK or HF_ERR_CANCELLED */
hf_status hfi_pair_rounds(hf_context *ctx, const char *stage, size_t chunks, double pairs_of_rows,
                          hfi_pair_body body, void *arg);

#endif
