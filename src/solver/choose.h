/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file choose.h
 * @brief Placing inducing inputs; for the solver room only (see hf_choose_inducing() for the public
 * face).
 *
 * Rows are row-major with stride ldx. Arguments are taken as checked: n and m at least 1, finite
 * rows, a kernel of d inputs. Results do not depend on the number of threads.
 */
#ifndef HFI_CHOOSE_H
#define HFI_CHOOSE_H

#include "solver/solver.h"

/** A conditional prior variance below this share of the largest prior variance is nothing: the row
 * is determined by those chosen already, as a duplicate is. */
#define HFI_CHOICE_RESOLUTION 1e-10

enum {
    HFI_KMEANS_STEPS = 25,      /* Lloyd steps, at most */
    HFI_KMEANS_ROWS = 50000,    /* more rows than this are represented by a sample of so many */
    HFI_MDPP_STEPS_PER_ROW = 20 /* every other step is a proposal */
};
/** Bytes that the greedy choice may hold; beyond, it looks at a sample of the rows. */
#define HFI_GREEDY_BYTES 1073741824.0

/** HF_ERR_DIMENSION or HF_ERR_NOT_FINITE, with the row, if these are no rows of inputs of the
 * kernel. */
hf_status hfi_choose_check_rows(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx);

/** Pivoted Cholesky of the latent prior covariance: each time the row of largest conditional
 * variance, the lowest of equals, until it is at most `enough` or below HFI_CHOICE_RESOLUTION; at
 * least one row. `q` (qualities: n entries, at most 1, one of them positive; NULL: all 1)
 * multiplies rows and columns of the covariance: variances count times its square, and rows of
 * quality 0 never. `rows` m entries; log_det that of their covariance times qualities, or NULL.
 * O(n m^2), 8 n m bytes. */
hf_status hfi_choose_greedy(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                            size_t ldx, const double *q, size_t m, double enough, size_t *rows,
                            size_t *chosen, double *log_det);

/** k-means++ and at most `steps` Lloyd steps; a centre that lost all rows moves to the row farthest
 * from its own.
 * @param z     m x d: centres, no two equal
 * @param costs steps + 1 entries or NULL: sums of squared distances to the nearest centre, at the
 *              start and after every
 *              step, in units of the square of a power of two that scales x; *done of the steps
 *              were made
 * O(n m d) a step. */
hf_status hfi_choose_kmeans(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                            size_t m, size_t steps, double *z, size_t *chosen, double *costs,
                            size_t *done);

/** Record of a chain of swaps. */
typedef struct hfi_swap_log {
    size_t proposals, accepted;
    double log_det; /* of the last set's covariance */
    double *trace;  /* the caller's: that after every step; or NULL */
} hfi_swap_log;

/**
 * A lazy Metropolis chain on sets of `chosen` rows. A step does nothing with probability 1/2, so
 * that no chain has a period (two rows without covariance would change places for ever); else it
 * proposes to swap one chosen row with one that is not, accepted with probability min(1, det K' /
 * det K), K the latent prior covariance of the chosen rows. The distribution of the set tends to
 * the determinantal point process P(Z) ~ det K_ZZ over sets of `chosen` rows. Sets within
 * HFI_CHOICE_RESOLUTION of singular count as singular.
 * @param rows `chosen` different rows on entry (hfi_choose_greedy's) and on return
 * @param log  or NULL
 * O(chosen^2) a proposal, 16 chosen^2 + n bytes.
 */
hf_status hfi_choose_mdpp(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                          size_t ldx, size_t chosen, size_t *rows, size_t steps, hfi_stream *stream,
                          hfi_swap_log *log);

/** `count` < n of the numbers 0 .. n-1, ascending, drawn without replacement from the context's
 * seed. */
void hfi_choose_sample(const hf_context *ctx, size_t n, size_t count, size_t *rows);

#endif
