/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a box a small value is to be expected: the minimiser of the quadratic that was just bounded,
 * coordinate by coordinate. In double: it is a guess. */
#include "rigorous/rigorous_impl.h"

#define SWEEPS 12

static double middle_of(hfi_interval a)
{
    return (double)(0.5L * (a.lower + a.upper));
}

/* The point of [low, high] with the least slope delta + curvature delta^2 / 2. */
static double least_of(double slope, double curvature, double low, double high)
{
    if (curvature > 0.0) return fmin(fmax(-slope / curvature, low), high);
    const double at_low = (slope + 0.5 * curvature * low) * low,
                 at_high = (slope + 0.5 * curvature * high) * high;
    return at_low < at_high ? low : high;
}

bool hfi_rigorous_step(hfi_rigorous_work *work, double sign, const double *lower, const double *upper)
{
    const size_t d = work->of->posterior->solution.d;
    const hfi_interval *jet = !work->quantity->mean ? work->spread : work->jet;
    if (work->degree == 0) return false;
    for (size_t j = 0; j < d; j++) work->step[j] = 0.0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t j = 0; j < d; j++) {
            double slope = middle_of(jet[1 + j]), curvature = 0.0;
            for (size_t i = 0; i < d && work->degree == 2; i++) {
                const size_t k = 1 + d + (i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i);
                if (i == j)
                    curvature = sign * middle_of(jet[k]);
                else
                    slope += middle_of(jet[k]) * work->step[i];
            }
            work->step[j] =
                least_of(sign * slope, curvature, lower[j] - work->centre[j], upper[j] - work->centre[j]);
        }
    for (size_t j = 0; j < d; j++) {
        const double x = fmin(fmax(work->centre[j] + work->step[j], lower[j]), upper[j]);
        work->middle[j] = hfi_interval_point(x);
    }
    return true;
}
