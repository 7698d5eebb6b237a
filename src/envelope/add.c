/* SPDX-License-Identifier: Apache-2.0 */
/* A further reading. */
#include "envelope/envelope.h"

#include <math.h>
#include <string.h>

static hf_status check(hf_context *ctx, const hf_envelope *envelope, const double *x, double y, double below,
                       double above)
{
    if (!ctx || !envelope || !x)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_envelope_add needs a context, an envelope and an input");
    for (size_t j = 0; j < envelope->d; j++)
        if (!isfinite(x[j])) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu is %g", j + 1, x[j]);
    if (!isfinite(y)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the reading is %g", y);
    if (!(below >= 0.0) || !(above >= 0.0) || (isinf(below) && isinf(above)))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the noise bounds are %g and %g; they must not be negative, nor both infinite", below,
                        above);
    return HF_OK;
}

/* The same envelope with more room; the kernel is lent. The support, which workspaces hold, is numbered as before, but they have room for fewer. */
static hf_status enlarge(hf_context *ctx, const hf_envelope *envelope, hf_envelope **out)
{
    const size_t n = envelope->n;
    hf_status status = hfi_envelope_allocate(ctx, envelope->memory, envelope->d, n + n / 2 + 8, out);
    if (status < 0) return status;
    const hf_envelope old = *envelope;
    hf_envelope *larger = *out;
    larger->kernel = old.kernel;
    larger->n = n;
    larger->norm = old.norm;
    larger->jitter = old.jitter;
    larger->offset = old.offset;
    larger->rigorous = old.rigorous;
    larger->minimum_norm = old.minimum_norm;
    memcpy(larger->x, old.x, n * old.d * sizeof *old.x);
    for (size_t j = 0; j < n; j++)
        memcpy(larger->k + j * larger->ldk, old.k + j * old.ldk, n * sizeof *old.k);
    memcpy(larger->sd, old.sd, n * sizeof *old.sd);
    for (size_t i = 0; i < n; i++)
        hfi_envelope_set_limits(larger, i, old.lower[HF_UPPER][i], old.upper[HF_UPPER][i]);
    larger->smooth_count = old.smooth_count;
    memcpy(larger->smooth_index, old.smooth_index, old.smooth_count * sizeof *old.smooth_index);
    memcpy(larger->smooth_sign, old.smooth_sign, old.smooth_count * sizeof *old.smooth_sign);
    memcpy(larger->smooth_nu, old.smooth_nu, old.smooth_count * sizeof *old.smooth_nu);
    larger->has_centre = old.has_centre;
    larger->centre_norm = old.centre_norm;
    larger->centre_count = old.centre_count;
    memcpy(larger->centre_index, old.centre_index, old.centre_count * sizeof *old.centre_index);
    memcpy(larger->centre_nu, old.centre_nu, old.centre_count * sizeof *old.centre_nu);
    memcpy(larger->centre_value, old.centre_value, n * sizeof *old.centre_value);
    return HF_OK;
}

/* Row and column n of K. */
static hf_status extend(hf_context *ctx, hf_envelope *envelope, const double *x)
{
    const size_t n = envelope->n, d = envelope->d;
    double diagonal;
    for (size_t j = 0; j < d; j++) envelope->x[n * d + j] = x[j] + 0.0;
    double *column = envelope->k + n * envelope->ldk;
    hfi_kernel_cross_block(envelope->kernel, 1, envelope->x + n * d, d, n, envelope->x, d, column,
                           envelope->ldk, envelope->bench.scratch);
    hfi_kernel_diagonal(envelope->kernel, 1, x, d, false, &diagonal);
    if (!isfinite(diagonal)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the kernel overflows at the reading");
    column[n] = diagonal;
    for (size_t j = 0; j < n; j++) envelope->k[n + j * envelope->ldk] = column[j];
    envelope->sd[n] = sqrt(fmax(diagonal, 0.0));
    return HF_OK;
}

static hf_status contradiction(hf_context *ctx, const hf_envelope *envelope, double lower, double upper)
{
    return hfi_fail(
        ctx, HF_ERR_INCONSISTENT,
        "no function of norm %g or less meets the readings so far and one in [%g, %g] at this input; the "
        "envelope is left as it was",
        envelope->norm, lower, upper);
}

/* Limits of reading i, a new one if that is n, for which there is room. As it was on error. */
static hf_status take(hf_context *ctx, hf_envelope *envelope, size_t i, const double *x, double lower,
                      double upper)
{
    const size_t n = envelope->n;
    const double old_lower = i < n ? envelope->lower[HF_UPPER][i] : -INFINITY;
    const double old_upper = i < n ? envelope->upper[HF_UPPER][i] : INFINITY;
    if (fmax(lower, old_lower) > fmin(upper, old_upper)) return contradiction(ctx, envelope, lower, upper);
    const bool keeps = envelope->bench.limits != NULL;
    if (!hfi_envelope_equip(envelope)) return hfi_out_of_memory(ctx);
    hf_status status = i == n ? extend(ctx, envelope, x) : HF_OK;
    if (status >= 0) {
        if (i == n) envelope->n = n + 1;
        hfi_envelope_set_limits(envelope, i, fmax(lower, old_lower), fmin(upper, old_upper));
        status = hfi_envelope_settle(ctx, envelope);
    }
    if (!keeps) hfi_envelope_strip(envelope);
    if (status >= 0) return HF_OK;
    envelope->n = n;
    if (i < n) hfi_envelope_set_limits(envelope, i, old_lower, old_upper);
    return status == HF_ERR_INCONSISTENT ? contradiction(ctx, envelope, lower, upper) : status;
}

/* Grows aside: what workspaces know must stay what it is until nothing can fail. */
static hf_status take_and_grow(hf_context *ctx, hf_envelope *envelope, const double *x, double lower,
                               double upper)
{
    hf_envelope *larger = NULL;
    hf_status status = enlarge(ctx, envelope, &larger);
    if (status < 0) return status;
    if (!hfi_envelope_equip(larger)) status = hfi_out_of_memory(ctx);
    if (status >= 0) status = take(ctx, larger, larger->n, x, lower, upper);
    if (status >= 0) {
        const hf_envelope old = *envelope;
        *envelope = *larger;
        *larger = old;
    }
    larger->kernel = NULL;
    hf_envelope_free(larger);
    return status;
}

hf_status hf_envelope_add(hf_context *ctx, hf_envelope *envelope, const double *x, double y, double below,
                          double above)
{
    hf_status status = check(ctx, envelope, x, y, below, above);
    if (status < 0) return status;
    const size_t n = envelope->n, i = hfi_envelope_reading_at(envelope, x);
    double lower, upper;
    hfi_reading_limits(y, below, above, envelope->offset, &lower, &upper);
    if ((isinf(lower) && !isinf(below)) || (isinf(upper) && !isinf(above)))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the limits of the reading %g overflow", y);
    return i == n && n == envelope->capacity ? take_and_grow(ctx, envelope, x, lower, upper)
                                             : take(ctx, envelope, i, x, lower, upper);
}
