/* SPDX-License-Identifier: Apache-2.0 */
/* The closed form as an object: memory, factor, and the direction in which the unknown is known. */
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

void hf_closed_envelope_free(hf_closed_envelope *closed)
{
    if (!closed) return;
    const hfi_memory memory = closed->memory;
    hf_kernel_free(closed->kernel);
    hf_mean_free(closed->mean);
    hfi_scaling_free(&closed->scaling);
    HFI_MEMORY_FREE(&memory, closed->x, closed->matrix, closed->factor, closed->sd, closed->weight, closed);
}

double hf_closed_envelope_radius(const hf_closed_envelope *closed)
{
    if (!closed) return NAN;
    return sqrt((closed->whole - closed->along) * (closed->whole + closed->along));
}

static hf_status allocate_arrays(hf_context *ctx, hf_closed_envelope *c)
{
    enum {
        VECTORS = 4
    };
    size_t square;
    if (!hfi_size_mul(c->n, c->n, &square)) return hfi_out_of_memory(ctx);
    c->x = hfi_alloc(ctx, c->all, c->d * sizeof *c->x);
    c->matrix = c->x ? hfi_alloc(ctx, square, sizeof *c->matrix) : NULL;
    c->factor = c->matrix ? hfi_alloc(ctx, square, sizeof *c->factor) : NULL;
    c->sd = c->factor ? hfi_alloc(ctx, c->n, VECTORS * sizeof *c->sd) : NULL;
    c->weight = c->sd ? hfi_alloc(ctx, c->all, sizeof *c->weight) : NULL;
    if (!c->weight) return HF_ERR_MEMORY;
    c->target = c->sd + c->n;
    c->noise = c->target + c->n;
    c->dual = c->noise + c->n;
    return HF_OK;
}

hf_status hfi_closed_allocate(hf_context *ctx, const hf_kernel *kernel, size_t n, size_t all,
                              hf_closed_envelope **out)
{
    hf_status status = hfi_require_memory(ctx, "a closed envelope", n, 16.0 * (double)n * (double)n);
    if (status < 0) return status;
    hf_closed_envelope *closed = hfi_alloc(ctx, 1, sizeof *closed);
    if (!closed) return HF_ERR_MEMORY;
    closed->memory = hfi_context_memory(ctx);
    closed->d = hf_kernel_dimension(kernel);
    closed->n = n;
    closed->all = all;
    closed->length = 1.0;
    status = allocate_arrays(ctx, closed);
    if (status >= 0) status = hf_kernel_copy(ctx, kernel, &closed->kernel);
    if (status >= 0) status = hfi_scaling_identity(ctx, closed->d, &closed->scaling);
    if (status >= 0)
        *out = closed;
    else
        hf_closed_envelope_free(closed);
    return status;
}

/* ---- factor ---------------------------------------------------------------------------------- */

typedef struct filling {
    const hf_closed_envelope *closed;
    const double *d; /* NULL: it is in the matrix */
} filling;

static hf_status fill(void *arg, double *a, size_t lda)
{
    const filling *job = arg;
    const size_t n = job->closed->n;
    for (size_t j = 0; j < n; j++) {
        memcpy(a + j * lda + j, job->closed->matrix + j * n + j, (n - j) * sizeof *a);
        if (job->d) a[j * lda + j] += job->d[j];
    }
    return HF_OK;
}

hf_status hfi_closed_factor(hf_context *ctx, hf_closed_envelope *closed, const double *d, bool into_matrix,
                            double *jitter)
{
    const size_t n = closed->n;
    const double scale = hfi_jitter_scale(closed->kernel, n, closed->x, closed->d);
    filling job = {closed, into_matrix ? NULL : d};
    double added = 0.0;
    for (size_t i = 0; i < n && into_matrix && d; i++) closed->matrix[i * (n + 1)] += d[i];
    hf_status status = HF_OK;
    if (n > 0) status = hfi_chol_jitter(ctx, n, closed->factor, n, scale, fill, &job, &added);
    if (status < 0) return status;
    for (size_t i = 0; i < n && into_matrix; i++) closed->matrix[i * (n + 1)] += added;
    for (size_t i = 0; i < n; i++) closed->sd[i] = sqrt(closed->matrix[i * (n + 1)]);
    if (jitter) *jitter = added;
    return status;
}

/* ---- direction ------------------------------------------------------------------------------- */

double hfi_closed_unit(const hf_closed_envelope *closed)
{
    return (double)HFI_KERNEL_ROUNDING + 2.0 * DBL_EPSILON * (double)closed->n;
}

void hfi_closed_direction(hf_closed_envelope *closed, double *work)
{
    const size_t n = closed->n;
    const double unit = hfi_closed_unit(closed);
    double inner = 0.0, bulk = 0.0, spread = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double held = closed->dual[i] * closed->target[i],
                     lost = fabs(closed->dual[i]) * closed->noise[i];
        inner += held - lost;
        bulk += fabs(held) + lost;
        spread += fabs(closed->dual[i]) * closed->sd[i];
    }
    hfi_symv(n, closed->matrix, n, closed->dual, work);
    const double square = fmax(0.0, hfi_dot(n, closed->dual, work)) + unit * spread * spread;
    closed->along = 0.0;
    if (!(square > 0.0)) return;
    closed->length = sqrt(square);
    closed->spread = spread;
    closed->along = fmax(0.0, inner - unit * bulk) / closed->length;
}
