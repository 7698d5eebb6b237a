/* SPDX-License-Identifier: Apache-2.0 */
/* The change of units between the user and the solver. */
#include "kernel/kernel.h"
#include "posterior/posterior.h"

#include <math.h>
#include <string.h>

hf_status hfi_scaling_identity(hf_context *ctx, size_t d, hfi_scaling *out)
{
    hfi_scaling s = {.memory = hfi_context_memory(ctx), .d = d, .y_scale = 1.0, .outputs = 1};
    memset(out, 0, sizeof *out);
    if (HFI_ALLOC(ctx, HFI_ROOM(s.x_shift, d), HFI_ROOM(s.x_scale, d)) < 0) {
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
    if (scaling->shifts == NULL) return HF_OK;
    status = hfi_scaling_set_outputs(ctx, out, scaling->outputs, scaling->shifts, scaling->scales);
    if (status < 0) hfi_scaling_free(out);
    return status;
}

void hfi_scaling_free(hfi_scaling *scaling)
{
    if (scaling->memory.release != NULL) { /* a zeroed scaling owns nothing, not even an allocator */
        HFI_MEMORY_FREE(&scaling->memory, scaling->x_shift, scaling->x_scale, scaling->shifts);
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

hf_status hfi_scaling_set_outputs(hf_context *ctx, hfi_scaling *scaling, size_t outputs, const double *shifts,
                                  const double *scales)
{
    double *both = hfi_alloc(ctx, outputs, 2 * sizeof *both);
    if (both == NULL) return HF_ERR_MEMORY;
    memcpy(both, shifts, outputs * sizeof *both);
    memcpy(both + outputs, scales, outputs * sizeof *both);
    hfi_memory_free(&scaling->memory, scaling->shifts);
    scaling->outputs = outputs;
    scaling->shifts = both;
    scaling->scales = both + outputs;
    scaling->y_shift = shifts[0];
    scaling->y_scale = scales[0];
    scaling->x_shift[scaling->d - 1] = 0.0;
    scaling->x_scale[scaling->d - 1] = 1.0;
    return HF_OK;
}

size_t hfi_scaling_output(const hfi_scaling *scaling, const double *row)
{
    return (size_t)hfi_output_of(row[scaling->d - 1], scaling->outputs);
}

size_t hfi_scaling_own_inputs(const hfi_scaling *scaling)
{
    return scaling->outputs > 1 ? scaling->d - 1 : scaling->d;
}

bool hfi_scaling_has_output(const hfi_scaling *scaling, const double *row)
{
    return scaling->outputs == 1 || row[scaling->d - 1] == (double)hfi_scaling_output(scaling, row);
}

double hfi_scaling_shift(const hfi_scaling *scaling, size_t output)
{
    return scaling->shifts != NULL ? scaling->shifts[output] : scaling->y_shift;
}

double hfi_scaling_scale(const hfi_scaling *scaling, size_t output)
{
    return scaling->scales != NULL ? scaling->scales[output] : scaling->y_scale;
}

double hfi_scaling_mean(const hfi_scaling *scaling, size_t output, double scaled)
{
    return scaled * hfi_scaling_scale(scaling, output) + hfi_scaling_shift(scaling, output);
}

double hfi_scaling_variance(const hfi_scaling *scaling, size_t output, double scaled)
{
    /* Not by the square of the scale, which may overflow where the product does not. */
    const double scale = hfi_scaling_scale(scaling, output);
    return scaled * scale * scale;
}

double hfi_scaling_target(const hfi_scaling *scaling, size_t output, double target)
{
    return (target - hfi_scaling_shift(scaling, output)) / hfi_scaling_scale(scaling, output);
}

double hfi_scaling_site_variance(const hfi_scaling *scaling, size_t output, double variance)
{
    const double scale = hfi_scaling_scale(scaling, output);
    return variance / scale / scale;
}

/* ---- parameters in the units of the user ------------------------------------------------------------- */

/* The one scale of all inputs, or NaN when they differ. */
static double common_scale(const hfi_scaling *scaling)
{
    for (size_t j = 1; j < scaling->d; j++)
        if (scaling->x_scale[j] != scaling->x_scale[0]) return NAN;
    return scaling->x_scale[0];
}

double hfi_scaling_factor(const hfi_scaling *scaling, hf_unit unit, size_t column)
{
    const double x = column < scaling->d ? scaling->x_scale[column] : common_scale(scaling);
    /* With several outputs a parameter that measures targets is in standardised units. */
    const double y = scaling->outputs > 1 ? NAN : scaling->y_scale;
    const double factor[] = {[HF_UNIT_NONE] = 1.0,
                             [HF_UNIT_INPUT] = x,
                             [HF_UNIT_FREQUENCY] = 1.0 / x,
                             [HF_UNIT_FREQUENCY2] = 1.0 / x / x,
                             [HF_UNIT_OUTPUT] = y,
                             [HF_UNIT_OUTPUT2] = y * y,
                             [HF_UNIT_OUTPUT2_INPUT2] = y / x * (y / x)};
    return factor[unit];
}
