/* SPDX-License-Identifier: Apache-2.0 */
/* Tall matrices: as many rows as there are readings, a few hundred columns. All of it is cut into blocks of constant
 * size. Each of these sums its long dimension from the first row to the last, so that the number of threads changes
 * nothing. */
#include "linalg/blas.h"

enum {
    SIDE = 64,  /* columns of a block of A'B */
    STRIP = 512 /* rows that are weighted, multiplied or solved at a time */
};

typedef struct inner_job {
    size_t n, p, q;
    const double *a, *b;
    size_t lda, ldb;
    const double *weight; /* n, or NULL for ones */
    double *c;
    size_t ldc;
    bool lower;      /* blocks above the diagonal are left alone */
    double *buffers; /* STRIP x SIDE for every thread; NULL without weights */
} inner_job;

static void multiply_tn(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                        size_t ldb, double beta, double *c, size_t ldc)
{
    const double one = 1.0;
    int rows = hfi_blas_int(m), cols = hfi_blas_int(n), inner = hfi_blas_int(k);
    int stride_a = hfi_blas_int(lda), stride_b = hfi_blas_int(ldb), stride_c = hfi_blas_int(ldc);
    dgemm_("T", "N", &rows, &cols, &inner, &one, a, &stride_a, b, &stride_b, &beta, c, &stride_c, 1, 1);
}

static void inner_block(size_t task, int thread, void *arg)
{
    const inner_job *job = arg;
    const size_t across = (job->q + SIDE - 1) / SIDE;
    const size_t i = task / across * SIDE, j = task % across * SIDE;
    if (job->lower && j > i) return;
    const size_t rows = hfi_smaller(SIDE, job->p - i), cols = hfi_smaller(SIDE, job->q - j);
    const double *a = job->a + i * job->lda, *b = job->b + j * job->ldb;
    double *c = job->c + i + j * job->ldc;
    if (!job->weight) {
        multiply_tn(rows, cols, job->n, a, job->lda, b, job->ldb, 0.0, c, job->ldc);
        return;
    }
    double *buffer = job->buffers + (size_t)thread * STRIP * SIDE;
    for (size_t row = 0; row < job->n; row += STRIP) {
        const size_t count = hfi_smaller(STRIP, job->n - row);
        for (size_t k = 0; k < cols; k++)
            for (size_t l = 0; l < count; l++)
                buffer[l + k * STRIP] = job->weight[row + l] * b[row + l + k * job->ldb];
        multiply_tn(rows, cols, count, a + row, job->lda, buffer, STRIP, row > 0 ? 1.0 : 0.0, c, job->ldc);
    }
}

static hf_status run_inner(hf_context *ctx, inner_job *job)
{
    if (job->p == 0 || job->q == 0) return HF_OK;
    if (job->n == 0) {
        for (size_t j = 0; j < job->q; j++)
            for (size_t i = 0; i < job->p; i++) job->c[i + j * job->ldc] = 0.0;
        return HF_OK;
    }
    if (job->n > HFI_BLAS_MAX || job->lda > HFI_BLAS_MAX || job->ldb > HFI_BLAS_MAX)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows are more than this BLAS can address (%zu)", job->n,
                        HFI_BLAS_MAX);
    const hf_status reserved = hfi_blas_reserve(ctx);
    if (reserved < 0) return reserved;
    if (job->weight) {
        job->buffers = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), STRIP * SIDE * sizeof *job->buffers);
        if (!job->buffers) return HF_ERR_MEMORY;
    }
    const size_t down = (job->p + SIDE - 1) / SIDE, across = (job->q + SIDE - 1) / SIDE;
    hfi_blas_parallel_for(ctx, down * across, inner_block, job);
    hfi_free(ctx, job->buffers);
    return HF_OK;
}

hf_status hfi_tall_inner(hf_context *ctx, size_t n, size_t p, const double *a, size_t lda, size_t q,
                         const double *b, size_t ldb, double *c, size_t ldc)
{
    inner_job job = {.n = n, .p = p, .q = q, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc};
    return run_inner(ctx, &job);
}

hf_status hfi_tall_square(hf_context *ctx, size_t n, size_t p, const double *a, size_t lda,
                          const double *weight, double *c, size_t ldc)
{
    inner_job job = {.n = n,
                     .p = p,
                     .q = p,
                     .a = a,
                     .lda = lda,
                     .b = a,
                     .ldb = lda,
                     .weight = weight,
                     .c = c,
                     .ldc = ldc,
                     .lower = true};
    return run_inner(ctx, &job);
}

typedef struct tall_rows_job {
    size_t n, p, q;
    double alpha;
    const double *a, *b; /* b: the factor when solving */
    size_t lda, ldb;
    bool transposed;
    double *c;
    size_t ldc;
} tall_rows_job;

static void add_rows(size_t task, int thread, void *arg)
{
    (void)thread;
    const tall_rows_job *job = arg;
    const double one = 1.0;
    const size_t row = task * STRIP;
    int rows = hfi_blas_int(hfi_smaller(STRIP, job->n - row)), cols = hfi_blas_int(job->q);
    int inner = hfi_blas_int(job->p), stride_a = hfi_blas_int(job->lda), stride_b = hfi_blas_int(job->ldb);
    int stride_c = hfi_blas_int(job->ldc);
    dgemm_("N", "N", &rows, &cols, &inner, &job->alpha, job->a + row, &stride_a, job->b, &stride_b, &one,
           job->c + row, &stride_c, 1, 1);
}

void hfi_tall_add(const hf_context *ctx, size_t n, size_t p, size_t q, double alpha, const double *a,
                  size_t lda, const double *b, size_t ldb, double *c, size_t ldc)
{
    if (n == 0 || p == 0 || q == 0) return;
    tall_rows_job job = {
        .n = n, .p = p, .q = q, .alpha = alpha, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc};
    hfi_blas_parallel_for(ctx, (n + STRIP - 1) / STRIP, add_rows, &job);
}

static void divide_rows(size_t task, int thread, void *arg)
{
    (void)thread;
    const tall_rows_job *job = arg;
    const double one = 1.0;
    const size_t row = task * STRIP;
    int rows = hfi_blas_int(hfi_smaller(STRIP, job->n - row)), cols = hfi_blas_int(job->q);
    int stride = hfi_blas_int(job->ldb), stride_c = hfi_blas_int(job->ldc);
    dtrsm_("R", "L", job->transposed ? "T" : "N", "N", &rows, &cols, &one, job->b, &stride, job->c + row,
           &stride_c, 1, 1, 1, 1);
}

void hfi_tall_divide(const hf_context *ctx, size_t n, size_t q, const double *l, size_t ldl, bool transposed,
                     double *b, size_t ldb)
{
    if (n == 0 || q == 0) return;
    tall_rows_job job = {.n = n, .q = q, .b = l, .ldb = ldl, .transposed = transposed, .c = b, .ldc = ldb};
    hfi_blas_parallel_for(ctx, (n + STRIP - 1) / STRIP, divide_rows, &job);
}
