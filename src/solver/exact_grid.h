/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exact_grid.h
 * @brief K + D of an exact solve, held by all processes of a group together (linalg/grid.h).
 *
 * Every process knows all inputs (n d numbers) and evaluates the covariances of its own part. Those
 * are about n^2 / p, and half of that because only the lower triangle counts. Nobody holds n^2
 * numbers.
 */
#ifndef HFI_SOLVER_EXACT_GRID_H
#define HFI_SOLVER_EXACT_GRID_H

#include "linalg/grid.h"
#include "solver/solver.h"

typedef struct hfi_exact_grid {
    hf_context *ctx;
    hfi_grid grid;
    size_t capacity, d; /**< most readings; inputs */
    size_t part;        /**< numbers of a part for that many, at least 1 */
    double *row_inputs; /**< grid.rows x d: of the rows of this process's part */
    double *column_inputs;
    double *diagonal; /**< grid.n */
    double *a;        /**< this process's part: K + D, then whatever is made of it */
    double *scratch;  /**< for each thread */
    size_t scratch_each;
} hfi_exact_grid;

/** Bytes of one part of a matrix for n readings among the processes of the context's group. */
double hfi_exact_grid_part_bytes(const hf_context *ctx, size_t n);

/** Room for `capacity` readings. Collective, as everything here: all processes succeed or none
 * does. */
hf_status hfi_exact_grid_init(hf_context *ctx, size_t capacity, size_t d, hfi_exact_grid *out);
/** NULL and zeroed ones are allowed. */
void hfi_exact_grid_free(hfi_exact_grid *grid);
/** These n <= capacity readings from now on; inputs n x d without gaps. */
hf_status hfi_exact_grid_select(hfi_exact_grid *grid, size_t n, const double *inputs);
/** Makes K + D (variance: n) and factors it; the jitter rules of hfi_chol_jitter(). `inputs` as in
 * the selection. */
hf_status hfi_exact_grid_factor(hfi_exact_grid *grid, const hf_kernel *kernel, const double *inputs,
                                const double *variance, double scale, double *jitter);
/** log det of the last factorisation, while `a` holds the factor. */
hf_status hfi_exact_grid_log_det(hfi_exact_grid *grid, double *log_det);
/** theta[p] += sum_ij W_ij dK_ij/dtheta_p over ALL i, j, for the symmetric W of which w is this
 * process's part (lower triangle), white included. `diagonal` (n) is that of W. Entries on and
 * above the diagonal of w are spoilt, those below are doubled. */
hf_status hfi_exact_grid_adjoint(hfi_exact_grid *grid, const hf_kernel *kernel,
                                 const double *inputs, double *w, const double *diagonal,
                                 double *theta);

#endif
