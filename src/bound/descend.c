/* SPDX-License-Identifier: Apache-2.0 */
/* Projected gradient steps with step lengths of Barzilai and Borwein, for attained values. */
#include "bound/problem.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 24,
    HALVINGS = 6
};

/* In units of the box: u = (x - middle) / extent in [-1, 1]. */
static void take_descent_step(const hfi_certify_problem *q, const double *point, const double *slope,
                              double step, double *moved)
{
    for (size_t f = 0; f < q->subject.free_count; f++) {
        const double extent = q->subject.extent[f], middle = q->subject.middle[q->free[f]];
        const double u = (point[f] - middle) / extent - step * slope[f];
        moved[f] = middle + extent * fmin(fmax(u, -1.0), 1.0);
    }
    if (q->project) q->project(q->region, moved);
}

void hfi_descend(hfi_certify_problem *q, double sign, double *point, double *value, double *user,
                 double *work)
{
    const size_t m = q->subject.free_count;
    /* A look at the sd costs n^2: it need not be the last digit of what is certified to the tolerance only. */
    const double stop = q->quantity->sd ? 0.1 : 1e-3;
    double *slope = work, *next_slope = work + m, *moved = work + 2 * m, step = 0.0, steepest = 0.0;
    const double start = q->functions->value(q, point, user, slope);
    if (!isfinite(start)) return;
    *value = sign * start;
    for (size_t f = 0; f < m; f++) {
        slope[f] *= sign * q->subject.extent[f];
        steepest = fmax(steepest, fabs(slope[f]));
    }
    if (steepest > 0.0) step = 0.25 / steepest;
    for (int k = 0; k < STEPS && step > 0.0; k++) {
        double *there = work + 3 * m, value_there = (double)INFINITY;
        int halving = 0;
        for (; halving < HALVINGS && hfi_watch_ok(q->watch); halving++, step *= 0.25) {
            take_descent_step(q, point, slope, step, moved);
            value_there = sign * q->functions->value(q, moved, q->x_moved, next_slope);
            if (value_there < *value) break;
        }
        if (!(value_there < *value)) return;
        double ss = 0.0, sy = 0.0, gain = *value - value_there;
        for (size_t f = 0; f < m; f++) {
            next_slope[f] *= sign * q->subject.extent[f];
            const double s = (moved[f] - point[f]) / q->subject.extent[f];
            ss += s * s;
            sy += s * (next_slope[f] - slope[f]);
        }
        *value = value_there;
        memcpy(there, moved, m * sizeof *there);
        memcpy(point, there, m * sizeof *point);
        memcpy(slope, next_slope, m * sizeof *slope);
        memcpy(user, q->x_moved, q->inputs * sizeof *user);
        if (gain < stop * q->settings.tolerance) return;
        step = sy > 0.0 ? ss / sy : 4.0 * step;
    }
}
