/* SPDX-License-Identifier: Apache-2.0 */
/* Continuous ranked probability score of a normal prediction. */
#include "sites/sites.h"

#include <math.h>

static const double INVERSE_SQRT_PI = 0.56418958354775628695;
static const double SQRT_HALF = 0.70710678118654752440;

double hfi_crps(double y, double mean, double sd)
{
    double error = y - mean, z = error / sd;
    /* Here the normal's tail is below rounding; the product sd * z must not be formed when z overflowed, and
     * sd = 0, a certain prediction, scores its absolute error. */
    if (!(fabs(z) < 40.0)) return fabs(error) - sd * INVERSE_SQRT_PI;
    double twice_density = 2.0 * exp(-0.5 * z * z - HFI_HALF_LOG_2PI);
    return sd * (z * erf(z * SQRT_HALF) + twice_density - INVERSE_SQRT_PI);
}
