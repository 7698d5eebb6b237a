/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>

/* Steps of the rover and points at which its way is looked at. */
enum {
    STEPS = 30,
    LOOKS = 1000
};

static const double start_at = 0.05, goal_at = 0.95;

/* A cubic spline through the points of one coordinate: values and second derivatives at the knots. */
typedef struct curve {
    double y[STEPS + 1], bend[STEPS + 1];
} curve;

/*
 * Second derivatives of a spline for at least four knots t. It is one cubic across the first two and the last
 * two intervals ("not a knot"). The two conditions are put into their neighbours' equations; what is
 * left is tridiagonal.
 */
static void bend_curve(size_t count, const double *t, curve *c)
{
    double diagonal[STEPS + 1], above[STEPS + 1], *m = c->bend;
    const size_t last = count - 1;
    for (size_t i = 1; i < last; ++i) {
        const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
        double below = before;
        diagonal[i] = 2.0 * (before + after);
        above[i] = after;
        m[i] = 6.0 * ((c->y[i + 1] - c->y[i]) / after - (c->y[i] - c->y[i - 1]) / before);
        if (i == 1) {
            diagonal[i] += before * (before + after) / after;
            above[i] -= before * before / after;
            below = 0.0;
        }
        if (i + 1 == last) {
            diagonal[i] += after * (before + after) / before;
            below -= after * after / before;
            above[i] = 0.0;
        }
        if (i > 1) {
            diagonal[i] -= below / diagonal[i - 1] * above[i - 1];
            m[i] -= below / diagonal[i - 1] * m[i - 1];
        }
    }
    for (size_t i = last - 1; i >= 1; --i)
        m[i] = (m[i] - (i + 1 < last ? above[i] * m[i + 1] : 0.0)) / diagonal[i];
    const double first = (t[1] - t[0]) / (t[2] - t[1]);
    const double end = (t[last] - t[last - 1]) / (t[last - 1] - t[last - 2]);
    m[0] = (1.0 + first) * m[1] - first * m[2];
    m[last] = (1.0 + end) * m[last - 1] - end * m[last - 2];
}

/* The curve between knots i and i + 1. */
static double on_curve(const curve *c, const double *t, size_t i, double at)
{
    const double h = t[i + 1] - t[i], left = (t[i + 1] - at) / h, right = (at - t[i]) / h;
    return left * c->y[i] + right * c->y[i + 1] +
           h * h / 6.0 *
               ((left * left * left - left) * c->bend[i] + (right * right * right - right) * c->bend[i + 1]);
}

/* Obstacles: squares of side 0.08 around the multiples of 0.2, but for start and goal's corners, and all that
 * is outside of the unit square. */
static bool is_blocked(double x, double y)
{
    if (!(x >= 0.0 && x < 1.0 && y >= 0.0 && y < 1.0)) return true;
    const double cx = 0.2 * floor(5.0 * x + 0.5), cy = 0.2 * floor(5.0 * y + 0.5);
    const bool corner = (cx < 0.1 && cy < 0.1) || (cx > 0.9 && cy > 0.9);
    return !corner && x >= cx - 0.04 && x < cx + 0.04 && y >= cy - 0.04 && y < cy + 0.04;
}

/* Where the steps lead, points that repeat their predecessor left out, and the share of the whole length at each. */
static size_t walk(const double *x, curve *across, curve *up, double *t)
{
    size_t count = 1;
    double px = start_at, py = start_at;
    across->y[0] = up->y[0] = start_at;
    t[0] = 0.0;
    for (size_t i = 0; i < STEPS; ++i) {
        px += x[2 * i];
        py += x[2 * i + 1];
        const double dx = px - across->y[count - 1], dy = py - up->y[count - 1];
        if (fabs(dx) + fabs(dy) == 0.0) continue;
        across->y[count] = px;
        up->y[count] = py;
        t[count] = t[count - 1] + sqrt(dx * dx + dy * dy);
        ++count;
    }
    for (size_t i = 1; i + 1 < count; ++i) t[i] /= t[count - 1];
    if (count > 1) t[count - 1] = 1.0;
    return count;
}

/*
 * Rover of Wang, Gehring, Kohli and Jegelka (2018) with the obstacles of Maus et al. (2023), who make the
 * numbers steps from point to point, each in [-1/30, 1/15]. The way is the cubic spline through the points,
 * by its chord lengths, and looked at in 1000 places; it costs 0.05 a unit of length, 20 more inside
 * obstacles, and 100 times the distance (sum of absolute differences) from its end to the goal. The reward is
 * 5 less the cost. Ways of fewer than four different points, which have no such spline, are straight from
 * point to point.
 */
void bo_rover(const bo_problem *p, const double *x, double *values)
{
    curve across = {.y = {0}}, up = {.y = {0}};
    double t[STEPS + 1], cost = 0.0, px = start_at, py = start_at, toll = 0.0;
    const size_t count = walk(x, &across, &up, t);
    size_t at = 0;
    (void)p;
    if (count >= 4) {
        bend_curve(count, t, &across);
        bend_curve(count, t, &up);
    }
    for (size_t i = 0; i < LOOKS && count > 1; ++i) {
        const double now = (double)i / (LOOKS - 1);
        while (at + 2 < count && now >= t[at + 1]) ++at;
        const double nx = on_curve(&across, t, at, now), ny = on_curve(&up, t, at, now);
        const double next = 0.05 + (is_blocked(nx, ny) ? 20.0 : 0.0);
        if (i > 0) cost += 0.5 * (toll + next) * sqrt((nx - px) * (nx - px) + (ny - py) * (ny - py));
        px = nx;
        py = ny;
        toll = next;
    }
    values[0] = 5.0 - cost - 100.0 * (fabs(px - goal_at) + fabs(py - goal_at));
}
