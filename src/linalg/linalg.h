/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file linalg.h
 * @brief Internal face of the linalg room: the only room that touches BLAS and LAPACK.
 *
 * Conventions
 *  - A symmetric n x n matrix is given by its lower triangle in column-major order: entry (i, j), i
 *  >= j, is
 *    a[i + j*lda]. Unless a function says so, the strict upper triangle is neither read nor
 *    written.
 *  - A block of m right-hand sides is column-major n x m: right-hand side q is the contiguous
 *  column
 *    b + q*ldb. The same memory read row-major is "one row per query", which is how
 *    cross-covariances are laid out.
 *  - Tiled routines run on the context's threads; the tile size is a constant, so the result does
 *  not depend
 *    on the thread count, bit for bit. Inside hfi_parallel_for they run on one thread.
 *  - Any of these functions may be called from several threads at once, whatever BLAS is linked
 *  (blas_library.c).
 *  - Orders and leading dimensions are below 2^31: hfi_chol refuses larger ones, and the others
 *  take its results.
 */
#ifndef HFI_LINALG_H
#define HFI_LINALG_H

#include "core/core.h"

/* ---- factor ---------------------------------------------------------------------------------- */

/** A = L L'. Overwrites the lower triangle with L. O(n^3/3), tiled and parallel.
 *  @return HF_OK, or HF_ERR_NOT_POSITIVE_DEFINITE (then `a` is spoilt); sets no message (the
 *  callers retry).
 */
/** Makes sure that BLAS has its work space for as many calls at once as the context has threads:
 * OpenBLAS would wait for ever for what there is no room for. HF_ERR_MEMORY with a message.
 * Whoever makes what will call BLAS calls this first: kernels, factors, inner products,
 * eigenvalues. Cheap after the first time. Thread-safe. */
hf_status hfi_blas_reserve(hf_context *ctx);

hf_status hfi_chol(const hf_context *ctx, size_t n, double *a, size_t lda);

/** Fills the lower triangle of the matrix that is to be factored (without jitter). */
typedef hf_status (*hfi_fill)(void *arg, double *a, size_t lda);

/** Fill and factor, adding jitter*scale to the diagonal in escalating steps only if needed: 0,
 * 1e-10, 1e-9, ... 1e-2. `scale` is the typical diagonal (> 0). *jitter (required) receives the
 * absolute amount added, 0 if none.
 *  @return HF_OK, HF_WARN_JITTER (message set), HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_NOT_FINITE, or
 *  the
 * fill's error. */
hf_status hfi_chol_jitter(hf_context *ctx, size_t n, double *a, size_t lda, double scale,
                          hfi_fill fill, void *arg, double *jitter);

/** Makes and factors a matrix with `added` on its diagonal. HF_ERR_NOT_POSITIVE_DEFINITE asks for
 * more, HF_ERR_NOT_FINITE says that the entries are not, HF_ERR_TOO_LARGE that the BLAS has no
 * numbers for the order; those three set no message, other errors do. */
typedef hf_status (*hfi_factor)(void *arg, double added);
/** The steps of hfi_chol_jitter() for a matrix that is held in any way. */
hf_status hfi_jitter_steps(hf_context *ctx, size_t n, double scale, hfi_factor factor, void *arg,
                           double *jitter);

/** log det(L L') = 2 sum log L_ii. O(n). */
double hfi_chol_logdet(size_t n, const double *l, size_t ldl);

/** Solves L L' x = b in place for one vector. O(n^2). */
void hfi_chol_solve(size_t n, const double *l, size_t ldl, double *b);
/** b := L^-1 b, respectively b := L^-T b, one vector. O(n^2). */
void hfi_chol_forward(size_t n, const double *l, size_t ldl, double *b);
void hfi_chol_backward(size_t n, const double *l, size_t ldl, double *b);

/** B := L^-1 B for m columns; serial (callers are parallel over blocks of columns). O(n^2 m). */
void hfi_chol_forward_block(size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb);
void hfi_chol_backward_block(size_t n, size_t m, const double *l, size_t ldl, double *b,
                             size_t ldb);

/** Overwrites L by the lower triangle of (L L')^-1. O(2 n^3/3), tiled and parallel. */
void hfi_chol_inverse(const hf_context *ctx, size_t n, double *l, size_t ldl);

/** Overwrites the lower triangle T by that of T'T: after hfi_chol_inverse_diagonal() in place, the
 *  rest of hfi_chol_inverse(), to the same digits. O(n^3/3), tiled and parallel. */
void hfi_triangle_square(const hf_context *ctx, size_t n, double *t, size_t ldt);

/** diag((L L')^-1) into `diagonal`. `work` has n*n entries; where ldl = n it may be `l`, which then
 *  ends as L^-1. O(n^3/3). */
void hfi_chol_inverse_diagonal(const hf_context *ctx, size_t n, const double *l, size_t ldl,
                               double *work, double *diagonal);

/** Estimated 1-norm condition number of A from its factor and the 1-norm of A (dpocon). `work` 3n,
 * `iwork` n.
 */
double hfi_chol_condition(size_t n, const double *l, size_t ldl, double norm1, double *work,
                          int *iwork);
/** 1-norm of a symmetric matrix given by its lower triangle. `work` n. */
double hfi_symmetric_norm1(size_t n, const double *a, size_t lda, double *work);

/* ---- change a factor by one row -------------------------------------------------------------- */

/** L L' + x x' -> L. `x` (n) is destroyed. O(n^2). */
void hfi_chol_update(size_t n, double *l, size_t ldl, double *x);
/** L L' - x x' -> L; HF_ERR_NOT_POSITIVE_DEFINITE if it is not (then L is spoilt). `x` destroyed.
 * O(n^2). */
hf_status hfi_chol_downdate(size_t n, double *l, size_t ldl, double *x);
/** Grows L (n x n, ldl > n) by the row (column, diagonal) of A: `column` (n) is A[n, 0..n-1].
 * O(n^2).
 *  On error L is untouched, but row n of the storage may be overwritten. */
hf_status hfi_chol_append(size_t n, double *l, size_t ldl, const double *column, double diagonal);
/** Removes row and column `k` of A from L; leaves an (n-1) x (n-1) factor. `work` n. O((n-k)^2 + n
 * (n-k)). */
void hfi_chol_delete(size_t n, double *l, size_t ldl, size_t k, double *work);

/* ---- products -------------------------------------------------------------------------------- */

double hfi_dot(size_t n, const double *x, const double *y);
/** y := alpha x + y */
void hfi_axpy(size_t n, double alpha, const double *x, double *y);
/** y := A x for a symmetric A given by its lower triangle. O(n^2). */
void hfi_symv(size_t n, const double *a, size_t lda, const double *x, double *y);
/** y := alpha A x + beta y, A column-major rows x cols. */
void hfi_gemv(size_t rows, size_t cols, double alpha, const double *a, size_t lda, const double *x,
              double beta, double *y);
/** y := alpha A' x + beta y, A column-major rows x cols. */
void hfi_gemv_t(size_t rows, size_t cols, double alpha, const double *a, size_t lda,
                const double *x, double beta, double *y);
/** C := alpha A' B + beta C; A is k x m, B is k x n, C is m x n, all column-major. Serial. */
void hfi_gemm_tn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                 const double *b, size_t ldb, double beta, double *c, size_t ldc);

/** Copies the strict lower triangle into the upper one. O(n^2). */
void hfi_symmetrise(const hf_context *ctx, size_t n, double *a, size_t lda);

/** lower(C) := G diag(w) G, for a symmetric G of which BOTH triangles are stored; w of any sign. C
 * must not overlap G. `work` holds n*n entries. n^3 flops (the symmetric half only), tiled and
 * parallel. */
void hfi_weighted_square(const hf_context *ctx, size_t n, const double *g, size_t ldg,
                         const double *w, double *c, size_t ldc, double *work);

/* ---- tall matrices (tall.c): n rows, few columns, column-major; threads, same result for any
 * number  */

/** C := A'B, A n x p, B n x q, C p x q. O(n p q). */
hf_status hfi_tall_inner(hf_context *ctx, size_t n, size_t p, const double *a, size_t lda, size_t q,
                         const double *b, size_t ldb, double *c, size_t ldc);
/** lower(C) := A' diag(weight) A, weights of any sign, NULL for ones. (Some of the strict upper
 * triangle is written too.) */
hf_status hfi_tall_square(hf_context *ctx, size_t n, size_t p, const double *a, size_t lda,
                          const double *weight, double *c, size_t ldc);
/** C := C + alpha A B, A n x p, B p x q, C n x q. */
void hfi_tall_add(const hf_context *ctx, size_t n, size_t p, size_t q, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double *c, size_t ldc);
/** B := B L^-T (transposed) or B L^-1, for a lower triangular q x q L and n rows of B. */
void hfi_tall_divide(const hf_context *ctx, size_t n, size_t q, const double *l, size_t ldl,
                     bool transposed, double *b, size_t ldb);

/** lower(C) += A B' for column-major A and B (m x n): with a symmetric product A B' the sum of
 * outer products of their columns. The strict upper triangle of C is scratch. m^2 n flops, tiled
 * and parallel over C. */
void hfi_lower_product(const hf_context *ctx, size_t m, size_t n, const double *a, size_t lda,
                       const double *b, size_t ldb, double *c, size_t ldc);

/** Makes the columns have .. have+count-1 of Q (n rows) orthonormal to each other and to the `have`
 * orthonormal ones before them. Columns of which less than `tolerance` of their length is left, or
 * which are zero or not finite, are dropped and the others move up: *total columns are there at the
 * end. O(n count (have + count)). */
hf_status hfi_orthonormalise(hf_context *ctx, size_t n, size_t have, size_t count, double *q,
                             size_t ldq, double tolerance, size_t *total);

/* ---- eigenvalues and least squares ----------------------------------------------------------- */

/** Eigenvalues (ascending) and eigenvectors (columns of a) of a symmetric matrix; lower triangle
 * read, all of `a` overwritten. */
hf_status hfi_symmetric_eigen(hf_context *ctx, size_t n, double *a, size_t lda, double *values);

#endif
