/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of weights of the classes, of whose expectations a quantity is the least. */
#include "classify/classify.h"
#include "softmax/classes.h"

#include <math.h>
#include <string.h>

bool hfi_classes_row(const hfi_classes *c, size_t row, double *v)
{
    const hfi_quantity *of = c->quantity;
    if (of->of_margin ? row == c->winner || row >= c->classes : row > 0) return false;
    for (size_t b = 0; b < c->classes; b++)
        v[b] = of->of_margin    ? hfi_decision_excess(c->classes, of->loss, row, c->winner, b)
               : of->of_loss    ? hfi_decision_cost(c->classes, of->loss, c->winner, b)
               : b == c->winner ? 1.0
                                : 0.0;
    return true;
}

double hfi_classes_centre(size_t count, double *a, double *size)
{
    double centre = 0.0;
    *size = (double)INFINITY;
    for (size_t k = 0; k <= count; k++) {
        const double at = k == 0 ? 0.0 : a[k - 1];
        double sum = 0.0;
        for (size_t b = 0; b < count; b++) sum += fabs(a[b] - at);
        if (!(sum < *size)) continue;
        *size = sum;
        centre = at;
    }
    for (size_t b = 0; b < count; b++) a[b] -= centre;
    return centre;
}

double hfi_classes_least(const hfi_classes *c, const double *p, double *a, double *spare)
{
    double least = (double)INFINITY;
    for (size_t row = 0; row < c->classes; row++) {
        double value = 0.0;
        if (!hfi_classes_row(c, row, spare)) continue;
        for (size_t b = 0; b < c->classes; b++) value += spare[b] * p[b];
        if (!(value < least)) continue;
        least = value;
        memcpy(a, spare, c->classes * sizeof *a);
    }
    return least;
}
