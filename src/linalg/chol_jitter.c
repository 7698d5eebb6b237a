/* SPDX-License-Identifier: Apache-2.0 */
/* A factor that does not give up at the first rounding error. */
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

/* Jitter relative to the scale: none, then from FIRST on by factors of ten. */
#define FIRST_JITTER 1e-10
enum {
    JITTER_STEPS = 9,
    CHECK_COLUMNS = 256
};

typedef struct finite_check {
    size_t n;
    const double *a;
    size_t lda;
    int bad; /* set by whoever finds something; written atomically */
} finite_check;

/* The exponent bits of infinities and NaN are all ones: adding one at their lowest place carries into the
 * sign bit. Integer arithmetic, because compilers vectorise it. */
static bool all_finite(const double *values, size_t count)
{
    const uint64_t exponent = UINT64_C(0x7FF) << 52;
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        carry |= (bits & exponent) + (UINT64_C(1) << 52);
    }
    return carry >> 63 == 0;
}

static void check_block_is_finite(size_t block, int thread, void *arg)
{
    (void)thread;
    finite_check *check = arg;
    size_t end = (block + 1) * CHECK_COLUMNS;
    if (end > check->n) end = check->n;
    bool good = true;
    for (size_t j = block * CHECK_COLUMNS; j < end; j++)
        good = all_finite(check->a + j + j * check->lda, check->n - j) && good;
    if (!good) __atomic_store_n(&check->bad, 1, __ATOMIC_RELAXED);
}

static bool lower_is_finite(const hf_context *ctx, size_t n, const double *a, size_t lda)
{
    finite_check check = {.n = n, .a = a, .lda = lda, .bad = 0};
    hfi_parallel_for(ctx, (n + CHECK_COLUMNS - 1) / CHECK_COLUMNS, check_block_is_finite, &check);
    return check.bad == 0;
}

hf_status hfi_jitter_steps(hf_context *ctx, size_t n, double scale, hfi_factor factor, void *arg,
                           double *jitter)
{
    if (!(scale > 0.0 && isfinite(scale)))
        return hfi_refuse(ctx, "the scale of a %zu x %zu matrix is %g; it must be positive", n, n, scale);
    const hf_status reserved = hfi_blas_reserve(ctx);
    if (reserved < 0) return reserved;
    double added = 0.0;
    for (int step = 0; step <= JITTER_STEPS; step++) {
        if (step > 0) added = step == 1 ? FIRST_JITTER * scale : 10.0 * added;
        const hf_status status = factor(arg, added);
        if (status == HF_ERR_NOT_POSITIVE_DEFINITE) continue;
        if (status == HF_ERR_NOT_FINITE)
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the %zu x %zu covariance matrix has entries that are not finite; look for huge "
                            "values in inputs or hyperparameters",
                            n, n);
        if (status == HF_ERR_TOO_LARGE)
            return hfi_fail(ctx, status, "a %zu x %zu matrix is too large for this BLAS (limit %zu)", n, n,
                            HFI_BLAS_MAX);
        if (status < 0) return status;
        *jitter = added;
        if (step == 0) return HF_OK;
        return hfi_fail(ctx, HF_WARN_JITTER,
                        "the %zu x %zu covariance matrix was not positive definite; jitter %g (%.0e of its "
                        "scale) was added to the diagonal",
                        n, n, added, added / scale);
    }
    return hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                    "the %zu x %zu covariance matrix is not positive definite, even with jitter %g (%.0e of "
                    "its scale) on the diagonal",
                    n, n, added, added / scale);
}

typedef struct local_factor {
    hf_context *ctx;
    size_t n;
    double *a;
    size_t lda;
    hfi_fill fill;
    void *arg;
    hf_status filled; /* what the fill said: its errors are the caller's, whatever their number */
} local_factor;

static hf_status factor_local(void *arg, double added)
{
    local_factor *job = arg;
    job->filled = job->fill(job->arg, job->a, job->lda);
    if (job->filled < 0) return HF_ERR_INTERNAL;
    if (!lower_is_finite(job->ctx, job->n, job->a, job->lda)) return HF_ERR_NOT_FINITE;
    for (size_t i = 0; i < job->n && added > 0.0; i++) job->a[i + i * job->lda] += added;
    return hfi_chol(job->ctx, job->n, job->a, job->lda);
}

hf_status hfi_chol_jitter(hf_context *ctx, size_t n, double *a, size_t lda, double scale, hfi_fill fill,
                          void *arg, double *jitter)
{
    local_factor job = {.ctx = ctx, .n = n, .a = a, .lda = lda, .fill = fill, .arg = arg};
    const hf_status status = hfi_jitter_steps(ctx, n, scale, factor_local, &job, jitter);
    return job.filled < 0 ? job.filled : status;
}
