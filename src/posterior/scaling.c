/* SPDX-License-Identifier: Apache-2.0 */
/* The change of units between the user and the solver. */
#include "posterior/posterior.h"

#include <string.h>

hf_status hfi_scaling_identity(hf_context *ctx, size_t d, hfi_scaling *out)
{
    hfi_scaling s = {.memory = hfi_context_memory(ctx), .d = d, .y_scale = 1.0};
    memset(out, 0, sizeof *out);
    s.x_shift = hfi_alloc(ctx, d, sizeof *s.x_shift);
    s.x_scale = hfi_alloc(ctx, d, sizeof *s.x_scale);
    if (s.x_shift == NULL || s.x_scale == NULL) {
        hfi_scaling_free(&s);
        return HF_ERR_MEMORY;
    }
    for (size_t j = 0; j < d; j++) s.x_scale[j] = 1.0;
    *out = s;
    return HF_OK;
}

hf_status hfi_scaling_copy(hf_context *ctx, const hfi_scaling *scaling, hfi_scaling *out)
{
    hf_status status = hfi_scaling_identity(ctx, scaling->d, out);
    if (status < 0) return status;
    memcpy(out->x_shift, scaling->x_shift, scaling->d * sizeof *out->x_shift);
    memcpy(out->x_scale, scaling->x_scale, scaling->d * sizeof *out->x_scale);
    out->y_shift = scaling->y_shift;
    out->y_scale = scaling->y_scale;
    return HF_OK;
}

void hfi_scaling_free(hfi_scaling *scaling)
{
    if (scaling->memory.release != NULL) { /* a zeroed scaling owns nothing, not even an allocator */
        hfi_memory_free(&scaling->memory, scaling->x_shift);
        hfi_memory_free(&scaling->memory, scaling->x_scale);
    }
    memset(scaling, 0, sizeof *scaling);
}

void hfi_scaling_inputs(const hfi_scaling *scaling, size_t m, const double *x, size_t ldx, double *out)
{
    size_t d = scaling->d;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = (x[i * ldx + j] - scaling->x_shift[j]) / scaling->x_scale[j];
}

double hfi_scaling_mean(const hfi_scaling *scaling, double scaled)
{
    return scaled * scaling->y_scale + scaling->y_shift;
}

double hfi_scaling_variance(const hfi_scaling *scaling, double scaled)
{
    /* Not by the square of the scale, which may overflow where the product does not. */
    return scaled * scaling->y_scale * scaling->y_scale;
}

double hfi_scaling_target(const hfi_scaling *scaling, double target)
{
    return (target - scaling->y_shift) / scaling->y_scale;
}

double hfi_scaling_site_variance(const hfi_scaling *scaling, double variance)
{
    return variance / scaling->y_scale / scaling->y_scale;
}
