/* SPDX-License-Identifier: Apache-2.0 */
/* A further reading. */
#include "envelope/envelope.h"

#include <math.h>
#include <string.h>

static hf_status check_added_reading(hf_context *ctx, const hf_envelope *envelope, const double *x, double y,
                                     double below, double above)
{
    if (!ctx || !envelope || !x)
        return hfi_refuse(ctx, "hf_envelope_add needs a context, an envelope and an input");
    for (size_t j = 0; j < envelope->d; j++)
        if (!isfinite(x[j])) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu is %g", j + 1, x[j]);
    if (!isfinite(y)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the reading is %g", y);
    if (!(below >= 0.0) || !(above >= 0.0) || (isinf(below) && isinf(above)))
        return hfi_refuse(ctx, "the noise bounds are %g and %g; they must not be negative, nor both infinite",
                          below, above);
    return HF_OK;
}

/* The same envelope with more room; the kernel is lent. The support, which workspaces hold, is numbered as
 * before, but they have room for fewer. */
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
    larger->offset = old.offset;
    larger->settings = old.settings;
    larger->settings.reserve = larger->capacity - n;
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
                           envelope->ldk, envelope->work_area.scratch);
    hfi_kernel_diagonal(envelope->kernel, 1, x, d, false, &diagonal);
    if (!isfinite(diagonal)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the kernel overflows at the reading");
    column[n] = diagonal;
    for (size_t j = 0; j < n; j++) envelope->k[n + j * envelope->ldk] = column[j];
    envelope->sd[n] = sqrt(fmax(diagonal, 0.0));
    return HF_OK;
}

/* Interval that a refused reading asks for, in the units of f. */
typedef struct refused {
    double lower, upper;
} refused;

/* Notes the conflict of reading `place`, which is what remains of the chain, when no interval is empty by itself. */
static void note_conflict(hf_envelope *envelope, size_t place)
{
    hfi_chain *chain = &envelope->work_area.chain;
    hfi_active_problem problem = hfi_envelope_problem(envelope, HF_UPPER);
    problem.jitter = 0.0;
    envelope->conflict_count = 0;
    envelope->conflict_norm = INFINITY;
    if (!(envelope->sd[place] > 0.0)) return; /* every function of the space is zero there */
    envelope->conflict_norm = hfi_envelope_certified(envelope, &problem, chain, NULL);
    hfi_smallest_conflict(envelope, &problem, chain);
    for (size_t j = 0; j < chain->count; j++)
        if (chain->index[j] != place) envelope->conflict[envelope->conflict_count++] = chain->index[j];
    hfi_sort_indices(envelope->conflict, envelope->conflict_count);
}

static hf_status contradiction(hf_context *ctx, const hf_envelope *envelope, const refused *what)
{
    const size_t count = envelope->conflict_count;
    char numbers[HFI_NUMBERS], norm[64] = "no norm would do";
    hfi_list_numbers(count, envelope->conflict, numbers);
    if (isfinite(envelope->conflict_norm))
        (void)hfi_print(norm, sizeof norm, "the smallest norm that would do is %.6g",
                        envelope->conflict_norm);
    return hfi_fail(ctx, HF_ERR_INCONSISTENT,
                    "no function of norm %g or less meets the readings so far and one in [%g, %g] at this "
                    "input%s%s%s; %s; the envelope is left as it was",
                    envelope->norm, what->lower, what->upper,
                    count == 0   ? ""
                    : count == 1 ? ", which contradicts distinct reading "
                                 : ", which contradicts distinct readings ",
                    numbers,
                    count == 0   ? ""
                    : count == 1 ? " (counted from 1)"
                                 : " (counted from 1) together",
                    norm);
}

/* Limits of reading i, a new one if that is n, for which there is room. As it was on error, but for what is
 * known of a conflict. */
static hf_status take_reading_limits(hf_context *ctx, hf_envelope *envelope, size_t i, const double *x,
                                     double lower, double upper)
{
    const size_t n = envelope->n;
    const double old_lower = i < n ? envelope->lower[HF_UPPER][i] : -INFINITY;
    const double old_upper = i < n ? envelope->upper[HF_UPPER][i] : INFINITY;
    if (fmax(lower, old_lower) > fmin(upper, old_upper)) {
        envelope->conflict_count = 1;
        envelope->conflict[0] = i;
        envelope->conflict_norm = INFINITY;
        return HF_ERR_INCONSISTENT;
    }
    const bool keeps = envelope->work_area.limits != NULL;
    if (!hfi_envelope_equip(envelope)) return hfi_out_of_memory(ctx);
    hf_status status = i == n ? extend(ctx, envelope, x) : HF_OK;
    if (status >= 0) {
        if (i == n) envelope->n = n + 1;
        hfi_envelope_set_limits(envelope, i, fmax(lower, old_lower), fmin(upper, old_upper));
        status = hfi_envelope_find_smoothest(ctx, envelope);
    }
    if (status == HF_ERR_INCONSISTENT) note_conflict(envelope, i);
    if (!keeps) hfi_envelope_strip(envelope);
    if (status >= 0) {
        envelope->settings.reserve = envelope->capacity - envelope->n;
        envelope->conflict_count = 0;
        envelope->conflict_norm = NAN;
        return HF_OK;
    }
    envelope->n = n;
    if (i < n) hfi_envelope_set_limits(envelope, i, old_lower, old_upper);
    return status;
}

/* The larger one is given up: what it knows of the conflict is not. */
static void keep_conflict(hf_envelope *envelope, const hf_envelope *larger)
{
    envelope->conflict_count = larger->conflict_count;
    envelope->conflict_norm = larger->conflict_norm;
    memcpy(envelope->conflict, larger->conflict, larger->conflict_count * sizeof *larger->conflict);
}

/* Grows aside: what workspaces know must stay what it is until nothing can fail. */
static hf_status take_and_grow(hf_context *ctx, hf_envelope *envelope, const double *x, double lower,
                               double upper)
{
    hf_envelope *larger = NULL;
    hf_status status = enlarge(ctx, envelope, &larger);
    if (status < 0) return status;
    if (!hfi_envelope_equip(larger)) status = hfi_out_of_memory(ctx);
    if (status >= 0) status = take_reading_limits(ctx, larger, larger->n, x, lower, upper);
    if (status >= 0) {
        const hf_envelope old = *envelope;
        *envelope = *larger;
        *larger = old;
    } else if (status == HF_ERR_INCONSISTENT) {
        keep_conflict(envelope, larger);
    }
    larger->kernel = NULL;
    hf_envelope_free(larger);
    return status;
}

hf_status hf_envelope_add(hf_context *ctx, hf_envelope *envelope, const double *x, double y, double below,
                          double above)
{
    hf_status status = check_added_reading(ctx, envelope, x, y, below, above);
    if (status < 0) return status;
    const size_t n = envelope->n, i = hfi_envelope_reading_at(envelope, x);
    double lower, upper;
    hfi_reading_limits(y, below, above, envelope->offset, &lower, &upper);
    if ((isinf(lower) && !isinf(below)) || (isinf(upper) && !isinf(above)))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the limits of the reading %g overflow", y);
    status = i == n && n == envelope->capacity ? take_and_grow(ctx, envelope, x, lower, upper)
                                               : take_reading_limits(ctx, envelope, i, x, lower, upper);
    const refused what = {hfi_add_down(lower, envelope->offset), hfi_add_up(upper, envelope->offset)};
    return status == HF_ERR_INCONSISTENT ? contradiction(ctx, envelope, &what) : status;
}
