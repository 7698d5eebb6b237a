/* SPDX-License-Identifier: Apache-2.0 */
/* Products and copies of symmetric matrices. */
#include "linalg/blas.h"

enum {
    TILE = 64
};

typedef struct mirror {
    size_t n;
    double *a;
    size_t lda;
} mirror;

/* One block row of the upper triangle, tile by tile so that both sides of the copy stay in the cache. */
static void mirror_rows(size_t block, int thread, void *arg)
{
    (void)thread;
    const mirror *job = arg;
    size_t begin = block * TILE, end = begin + TILE < job->n ? begin + TILE : job->n;
    for (size_t from = begin; from < job->n; from += TILE) {
        size_t to = from + TILE < job->n ? from + TILE : job->n;
        for (size_t i = from; i < to; i++)
            for (size_t j = begin; j < end && j < i; j++) job->a[j + i * job->lda] = job->a[i + j * job->lda];
    }
}

void hfi_symmetrise(const hf_context *ctx, size_t n, double *a, size_t lda)
{
    mirror job = {.n = n, .a = a, .lda = lda};
    hfi_parallel_for(ctx, (n + TILE - 1) / TILE, mirror_rows, &job);
}
