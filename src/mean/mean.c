/* SPDX-License-Identifier: Apache-2.0 */
/* Life and coefficients of a prior mean. */
#include "mean/mean_impl.h"

#include <math.h>
#include <string.h>

/* How many coefficients a kind has over d inputs; false for a kind that does not exist. */
static bool coefficient_count(hf_mean_kind kind, size_t d, size_t *count)
{
    switch (kind) {
    case HF_MEAN_ZERO:
        *count = 0;
        return true;
    case HF_MEAN_CONSTANT:
    case HF_MEAN_MEDIAN:
        *count = 1;
        return true;
    case HF_MEAN_LINEAR:
        *count = d + 1;
        return true;
    case HF_MEAN_OUTPUTS:
        break;
    }
    return false;
}

static hf_status allocate_mean(hf_context *ctx, hf_mean_kind kind, size_t d, size_t count, hf_mean **out)
{
    hf_mean *mean = hfi_alloc(ctx, 1, sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    *mean = (hf_mean){.memory = hfi_context_memory(ctx), .kind = kind, .d = d, .count = count};
    mean->values = hfi_alloc(ctx, count, sizeof *mean->values);
    if (mean->values == NULL) {
        hf_mean_free(mean);
        return HF_ERR_MEMORY;
    }
    *out = mean;
    return HF_OK;
}

hf_status hf_mean_create(hf_context *ctx, hf_mean_kind kind, size_t d, hf_mean **out)
{
    size_t count = 0;
    if (out == NULL) return hfi_refuse(ctx, "hf_mean_create: out is NULL");
    if (d == 0 || d == SIZE_MAX) return hfi_refuse(ctx, "a mean needs at least one input, d is %zu", d);
    if (kind == HF_MEAN_OUTPUTS)
        return hfi_refuse(
            ctx,
            "the prior mean 'outputs' is for models of several outputs; hf_mean_create_outputs() makes it");
    if (!coefficient_count(kind, d, &count)) return hfi_refuse(ctx, "%d is no kind of prior mean", (int)kind);
    return allocate_mean(ctx, kind, d, count, out);
}

hf_status hf_mean_create_outputs(hf_context *ctx, size_t d, size_t outputs, hf_mean **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_mean_create_outputs: out is NULL");
    if (d == 0 || outputs == 0)
        return hfi_refuse(ctx, "a mean of outputs needs an input and an output; there are %zu and %zu", d,
                          outputs);
    return allocate_mean(ctx, HF_MEAN_OUTPUTS, d, outputs, out);
}

hf_status hf_mean_copy(hf_context *ctx, const hf_mean *mean, hf_mean **out)
{
    if (mean == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_mean_copy: %s is NULL", mean == NULL ? "mean" : "out");
    hf_mean *copy = NULL;
    hf_status status = allocate_mean(ctx, mean->kind, mean->d, mean->count, &copy);
    if (status < 0) return status;
    if (mean->count > 0) memcpy(copy->values, mean->values, mean->count * sizeof *copy->values);
    copy->held = mean->held;
    if (mean->lift != NULL) status = hfi_lift_copy(ctx, mean->lift, &copy->lift);
    if (status < 0) {
        hf_mean_free(copy);
        return status;
    }
    *out = copy;
    return HF_OK;
}

void hf_mean_free(hf_mean *mean)
{
    if (mean == NULL) return;
    hfi_memory memory = mean->memory; /* by value: the mean itself is about to go */
    hfi_lift_free(mean->lift);
    HFI_MEMORY_FREE(&memory, mean->values, mean);
}

hf_mean_kind hf_mean_get_kind(const hf_mean *mean)
{
    return mean != NULL ? mean->kind : HF_MEAN_ZERO;
}

size_t hf_mean_coefficients(const hf_mean *mean)
{
    return mean != NULL ? mean->count : 0;
}

const double *hf_mean_values(const hf_mean *mean)
{
    return mean != NULL ? mean->values : NULL;
}

hf_status hf_mean_set(hf_context *ctx, hf_mean *mean, const double *values, bool held)
{
    if (mean == NULL) return hfi_refuse(ctx, "hf_mean_set: mean is NULL");
    if (mean->count > 0 && values == NULL)
        return hfi_refuse(ctx, "hf_mean_set: values is NULL, %zu coefficients are needed", mean->count);
    for (size_t k = 0; k < mean->count; k++) {
        if (!isfinite(values[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "coefficient %zu of the prior mean is %g; give a finite number", k, values[k]);
    }
    for (size_t k = 0; k < mean->count; k++) mean->values[k] = values[k];
    mean->held = held;
    return HF_OK;
}

bool hf_mean_held(const hf_mean *mean)
{
    return mean != NULL && mean->held;
}
