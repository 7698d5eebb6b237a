/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file blas.h
 * @brief The Fortran routines that the linalg room calls; no other room includes this header.
 *
 * Integers are 32 bits wide (LP64). Every character argument has a hidden length at the end of the
 * list. Compilers that rely on it need it to be passed (gfortran 8 and later optimise tail calls
 * with it).
 */
#ifndef HFI_BLAS_H
#define HFI_BLAS_H

#include "linalg/linalg.h"

#include <limits.h>

/** Largest size a call can take. A square matrix of this order is beyond any address space. */
#define HFI_BLAS_MAX ((size_t)INT_MAX)

/** A size as BLAS wants it. Callers with sizes that can exceed HFI_BLAS_MAX cut them to pieces
 * first; beyond it the answer is 0, with which every routine does nothing rather than something
 * wrong. */
static inline int hfi_blas_int(size_t size)
{
    return size > HFI_BLAS_MAX ? 0 : (int)size;
}

/**
 * Every call of BLAS or LAPACK stands between these two. They make it run on one thread, beside
 * others where the library can (blas_library.c says how). Sections do not nest. `before` is what
 * hfi_blas_enter() returned.
 */
int hfi_blas_enter(void);
void hfi_blas_leave(int before);

/** False when only one call at a time may be running: then a section must not start threads that
 * call BLAS.
 */
bool hfi_blas_is_concurrent(void);

/** hfi_parallel_for inside a section, for bodies that call BLAS; on one thread where BLAS is not
 * concurrent.
 */
void hfi_blas_parallel_for(const hf_context *ctx, size_t count, hfi_loop_body body, void *arg);

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *incx, const double *beta, double *y,
            const int *incy, size_t trans_length);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy,
            size_t uplo_length);
void dtrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a,
            const int *lda, double *x, const int *incx, size_t uplo_length, size_t trans_length,
            size_t diag_length);

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length,
            size_t transb_length);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc,
            size_t uplo_length, size_t trans_length);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t side_length, size_t uplo_length, size_t trans_length,
            size_t diag_length);
void dtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t side_length, size_t uplo_length, size_t trans_length,
            size_t diag_length);

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length, size_t diag_length);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);
void dpocon_(const char *uplo, const int *n, const double *a, const int *lda, const double *anorm,
             double *rcond, double *work, int *iwork, int *info, size_t uplo_length);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);

#endif
