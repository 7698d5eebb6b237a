/* SPDX-License-Identifier: Apache-2.0 */
/* Readings with bounded noise: checked, and those of one input merged into one interval. */
#include "envelope/envelope.h"

#include <float.h>
#include <math.h>

double hfi_noise_below(const hf_bounded_readings *readings, size_t row)
{
    return readings->below ? readings->below[row] : readings->noise_bound;
}

double hfi_noise_above(const hf_bounded_readings *readings, size_t row)
{
    return readings->above ? readings->above[row] : hfi_noise_below(readings, row);
}

/* y less `noise`, rounded so far down that it is not above the real difference of the decimals that
 * y and `noise` were read from: each of the three is off by half a unit of its last place at most.
 */
static double below_of(double y, double noise)
{
    if (!(noise > 0.0)) return y;
    const double slack = DBL_EPSILON * fabs(y) + DBL_EPSILON * noise;
    return nextafter((y - noise) - slack, -INFINITY);
}

double hfi_add_down(double a, double b)
{
    const double sum = a + b, taken = sum - a;
    const double lost = (a - (sum - taken)) + (b - taken); /* of the sum, exactly */
    return lost < 0.0 ? nextafter(sum, -INFINITY) : sum;
}

double hfi_add_up(double a, double b)
{
    return -hfi_add_down(-a, -b);
}

void hfi_reading_limits(double y, double below, double above, double less, double *lower, double *upper)
{
    *lower = below_of(y, below);
    *upper = -below_of(-y, above);
    if (less == 0.0) return;
    *lower = hfi_add_down(*lower, -less);
    *upper = hfi_add_up(*upper, -less);
}

static hf_status check_row(hf_context *ctx, const hf_bounded_readings *readings, size_t d, size_t row)
{
    for (size_t j = 0; j < d; j++) {
        const double x = readings->x[row * readings->ldx + j];
        if (!isfinite(x))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "row %zu, input %zu is %g", row + 1, j + 1, x);
    }
    if (!isfinite(readings->y[row]))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the reading of row %zu is %g", row + 1, readings->y[row]);
    const double below = hfi_noise_below(readings, row), above = hfi_noise_above(readings, row);
    if (!(below >= 0.0) || !(above >= 0.0))
        return hfi_refuse(ctx, "the noise bound of row %zu is %g; it must not be negative", row + 1,
                          below >= 0.0 ? above : below);
    if (isinf(below) && isinf(above))
        return hfi_refuse(ctx, "both noise bounds of row %zu are infinite: it says nothing", row + 1);
    double lower, upper;
    hfi_reading_limits(readings->y[row], isinf(below) ? 0.0 : below, isinf(above) ? 0.0 : above,
                       readings->offset, &lower, &upper);
    if (!isfinite(lower) || !isfinite(upper))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the limits of row %zu overflow", row + 1);
    return HF_OK;
}

hf_status hfi_readings_check(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings)
{
    if (!kernel || !readings) return hfi_refuse(ctx, "an envelope needs a kernel and readings");
    if (readings->n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "an envelope needs at least one reading");
    if (!readings->x || !readings->y) return hfi_refuse(ctx, "inputs or readings are NULL");
    if (!isfinite(readings->offset))
        return hfi_refuse(ctx, "the offset of the readings is %g; give a finite one", readings->offset);
    const size_t d = hf_kernel_dimension(kernel);
    if (readings->ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs",
                        readings->ldx, d);
    for (size_t row = 0; row < readings->n; row++) {
        hf_status status = check_row(ctx, readings, d, row);
        if (status < 0) return status;
    }
    const double *x = readings->x;
    if (hfi_kernel_value(kernel, x, x, true) != hfi_kernel_value(kernel, x, x, false))
        return hfi_refuse(ctx, "the kernel has a white term, whose functions have no values in between: "
                               "leave it out, noise is what the bounds of the readings are for");
    return HF_OK;
}

/* ---- equal inputs ----------------------------------------------------------------------------------------------- */

void hfi_distinct_free(hf_context *ctx, hfi_distinct *distinct)
{
    HFI_FREE(ctx, distinct->of_row, distinct->first, distinct->lower, distinct->upper, distinct->lower_row,
             distinct->upper_row);
    *distinct = (hfi_distinct){0};
}

hf_status hfi_distinct_find(hf_context *ctx, size_t d, const hf_bounded_readings *readings,
                            hfi_distinct *distinct)
{
    const size_t n = readings->n;
    *distinct = (hfi_distinct){.rows = n};
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(distinct->of_row, n), HFI_ROOM(distinct->first, n),
                                 HFI_ROOM(distinct->lower, n), HFI_ROOM(distinct->upper, n),
                                 HFI_ROOM(distinct->lower_row, n), HFI_ROOM(distinct->upper_row, n));
    if (status >= 0)
        status = hfi_rows_distinct(ctx, n, d, readings->x, readings->ldx, n, distinct->first,
                                   distinct->of_row, &distinct->n);
    if (status < 0) hfi_distinct_free(ctx, distinct);
    return status;
}

/* No bound at all stays none, also at factor 0. */
static double scaled(double noise, double factor)
{
    return isinf(noise) ? noise : factor * noise;
}

bool hfi_distinct_limits(const hf_bounded_readings *readings, double factor, hfi_distinct *distinct)
{
    for (size_t i = 0; i < distinct->n; i++) {
        distinct->lower[i] = -INFINITY;
        distinct->upper[i] = INFINITY;
        distinct->lower_row[i] = distinct->upper_row[i] = distinct->first[i];
    }
    for (size_t row = 0; row < distinct->rows; row++) {
        const size_t i = distinct->of_row[row];
        double lower, upper;
        hfi_reading_limits(readings->y[row], scaled(hfi_noise_below(readings, row), factor),
                           scaled(hfi_noise_above(readings, row), factor), readings->offset, &lower, &upper);
        if (lower > distinct->lower[i]) {
            distinct->lower[i] = lower;
            distinct->lower_row[i] = row;
        }
        if (upper < distinct->upper[i]) {
            distinct->upper[i] = upper;
            distinct->upper_row[i] = row;
        }
    }
    for (size_t i = 0; i < distinct->n; i++)
        if (distinct->lower[i] > distinct->upper[i]) return false;
    return true;
}
