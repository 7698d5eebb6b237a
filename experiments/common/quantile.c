/* SPDX-License-Identifier: Apache-2.0 */
#include "common/quantile.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double quantile_of(double *values, size_t count, double probability)
{
    if (count == 0) return NAN;
    qsort(values, count, sizeof *values, ascending);
    const double position = (double)(count - 1) * probability;
    const size_t below = (size_t)position;
    if (below >= count - 1) return values[count - 1];
    return values[below] + (values[below + 1] - values[below]) * (position - (double)below);
}

double median_of(double *values, size_t count)
{
    return quantile_of(values, count, 0.5);
}
