/* SPDX-License-Identifier: Apache-2.0 */
/* Prior and buffers. */
#include "svgp/impl.h"
#include <string.h>

enum {
    ROW_ARRAYS = 4,
    MOST_ROWS = 1024 /* looked at together: three m x 1024 matrices */
};

static hf_status allocate_svgp(hfi_svgp *q)
{
    hf_context *ctx = q->ctx;
    const size_t m = q->m, d = q->d, c = q->capacity;
    size_t square, wide;
    if (!hfi_size_mul(m, m, &square) || !hfi_size_mul(m, c, &wide)) return hfi_out_of_memory(ctx);
    q->scratch_each = hfi_kernel_scratch(q->kernel);
    const bool ready =
        HFI_ALLOC(ctx, HFI_ROOMS(q->z, m, d), HFI_ROOM(q->lu, square), HFI_ROOM(q->precision, square),
                  HFI_ROOM(q->lp, square), HFI_ROOM(q->spare, square), HFI_ROOM(q->another, square),
                  HFI_ROOM(q->shift, m), HFI_ROOM(q->mu, m), HFI_ROOM(q->a, wide), HFI_ROOM(q->t, wide),
                  HFI_ROOM(q->w, wide), HFI_ROOMS(q->row, c, ROW_ARRAYS), HFI_ROOM(q->term, c),
                  HFI_ROOMS(q->x, c, d), HFI_ROOMS(q->y, c, 2),
                  HFI_ROOMS(q->scratch, (size_t)hf_context_threads(ctx), q->scratch_each)) == HF_OK;
    if (!ready) return HF_ERR_MEMORY;
    q->extra = q->y + c;
    return HF_OK;
}

hf_status hfi_svgp_init(hf_context *ctx, hf_kernel *kernel, hf_mean *mean, const hfi_svgp_noise *noise,
                        size_t m, size_t d, const double *z, size_t capacity, hfi_svgp *out)
{
    *out = (hfi_svgp){.ctx = ctx, .kernel = kernel, .mean = mean, .noise = *noise, .m = m, .d = d};
    out->capacity = capacity > MOST_ROWS ? MOST_ROWS : capacity > 0 ? capacity : 1;
    const hf_status s = allocate_svgp(out);
    if (s < 0) {
        hfi_svgp_free(out);
        return s;
    }
    memcpy(out->z, z, m * d * sizeof *z);
    for (size_t j = 0; j < m; j++) out->precision[j + j * m] = out->lp[j + j * m] = 1.0;
    return HF_OK;
}

void hfi_svgp_free(hfi_svgp *q)
{
    HFI_FREE(q->ctx, q->z, q->lu, q->precision, q->lp, q->spare, q->another, q->shift, q->mu, q->a, q->t,
             q->w, q->row, q->term, q->x, q->y, q->scratch);
    *q = (hfi_svgp){0};
}

/* White noise is no part of Kuu: no reading shares it with an inducing input. */
static hf_status fill_prior(void *arg, double *a, size_t lda)
{
    hfi_svgp *q = arg;
    const size_t m = q->m;
    double *work = q->spare;
    const hf_status s = hfi_kernel_gram_lower(q->ctx, q->kernel, m, q->z, q->d, a, lda);
    if (s < 0) return s;
    const double jitter = HFI_INDUCING_JITTER * hfi_jitter_scale(q->kernel, m, q->z, q->d);
    hfi_kernel_diagonal(q->kernel, m, q->z, q->d, false, work);
    for (size_t j = 0; j < m; j++) a[j + j * lda] = work[j] + jitter;
    q->norm = hfi_symmetric_norm1(m, a, lda, work);
    return HF_OK;
}

hf_status hfi_svgp_prior(hfi_svgp *q)
{
    const double scale = hfi_jitter_scale(q->kernel, q->m, q->z, q->d);
    double more = 0.0;
    const hf_status s = hfi_chol_jitter(q->ctx, q->m, q->lu, q->m, scale, fill_prior, q, &more);
    if (s < 0) return s;
    q->jitter = HFI_INDUCING_JITTER * scale + more;
    q->strained = more > 0.0;
    return HF_OK;
}
