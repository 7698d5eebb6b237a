/* SPDX-License-Identifier: Apache-2.0 */
/* Between the units of a fit and those of the user. */
#include "posterior/posterior.h"
#include <math.h>

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
