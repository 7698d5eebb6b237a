/* SPDX-License-Identifier: Apache-2.0 */
#include "bound/quadratic.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SWEEPS 8

static const double THETA[] = {0.0, 0.125, 0.25, 0.4, 0.6, 0.8};

typedef struct problem {
    size_t m;
    double *g;         /* m */
    double *h;         /* m x m */
    double *radius;    /* m: sum_b |H_ab| */
    double *slope;     /* m: g + H v, kept up to date */
    double *separable; /* m */
    double *shift;     /* m: D */
    double *factor;    /* m x m */
} problem;

size_t hfi_quadratic_work(size_t m)
{
    return 2 * m * m + 6 * m;
}

static problem prepare(size_t m, double sign, const double *g, const double *h, double *work)
{
    problem p = {.m = m};
    p.g = work;
    p.radius = work + m;
    p.slope = work + 2 * m;
    p.separable = work + 3 * m;
    p.shift = work + 4 * m;
    p.h = work + 6 * m;
    p.factor = p.h + m * m;
    for (size_t a = 0; a < m; a++) {
        p.g[a] = sign * g[a];
        p.radius[a] = 0.0;
        for (size_t b = 0; b < m; b++) {
            p.h[a * m + b] = sign * h[a * m + b];
            if (b != a) p.radius[a] += fabs(h[a * m + b]);
        }
    }
    return p;
}

/* Where linear u + quadratic u^2 / 2 is least in [-1, 1]. */
static double least_at(double linear, double quadratic)
{
    if (quadratic > 0.0 && fabs(linear) < quadratic) return -linear / quadratic;
    return linear > 0.0 ? -1.0 : 1.0;
}

static double along(double linear, double quadratic, double u)
{
    return u * (linear + 0.5 * quadratic * u);
}

/* Coordinate descent from `v`; slope := g + H v. */
static void descend(const problem *p, double *v)
{
    const size_t m = p->m;
    for (size_t a = 0; a < m; a++) {
        p->slope[a] = p->g[a];
        for (size_t b = 0; b < m; b++) p->slope[a] += p->h[a * m + b] * v[b];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double moved = 0.0;
        for (size_t a = 0; a < m; a++) {
            const double own = p->h[a * m + a], rest = p->slope[a] - own * v[a], u = least_at(rest, own);
            const double step = u - v[a];
            if (!(along(rest, own, u) < along(rest, own, v[a]))) continue;
            v[a] = u;
            for (size_t b = 0; b < m; b++) p->slope[b] += step * p->h[a * m + b];
            moved = fmax(moved, fabs(step));
        }
        if (moved < 1e-6) return;
    }
}

static double value_at(const problem *p, const double *v)
{
    /* slope = g + H v */
    double sum = 0.0;
    for (size_t a = 0; a < p->m; a++) sum += 0.5 * v[a] * (p->g[a] + p->slope[a]);
    return sum;
}

/* Whether H - D is positive definite with some room for rounding, D_a = H_aa - theta radius_a. */
static bool is_convex(const problem *p, double theta)
{
    const size_t m = p->m;
    for (size_t a = 0; a < m; a++) {
        double *row = p->factor + a * m;
        memcpy(row, p->h + a * m, (a + 1) * sizeof *row);
        row[a] = theta * p->radius[a] * (1.0 - 1e-9);
        for (size_t b = 0; b <= a; b++) {
            const double *other = p->factor + b * m;
            for (size_t k = 0; k < b; k++) row[b] -= row[k] * other[k];
            if (b < a) row[b] = other[b] > 0.0 ? row[b] / other[b] : 0.0;
        }
        if (!(row[a] > 1e-10 * p->radius[a])) return false;
        row[a] = sqrt(row[a]);
    }
    return true;
}

static bool is_diagonal(const problem *p)
{
    for (size_t a = 0; a < p->m; a++)
        if (p->radius[a] > 0.0) return false;
    return true;
}

static void choose_shift(const problem *p)
{
    double theta = 1.0;
    if (is_diagonal(p)) {
        theta = 0.0;
    } else {
        for (size_t k = 1; k < sizeof THETA / sizeof *THETA && theta == 1.0; k++)
            if (is_convex(p, THETA[k])) theta = THETA[k];
    }
    for (size_t a = 0; a < p->m; a++) p->shift[a] = p->h[a * p->m + a] - theta * p->radius[a];
}

/* The separable function that the tangent at v leaves, least over the cube. slope = g + H v. */
static double tangent_bound(const problem *p, const double *v, double *gap)
{
    double bound = 0.0;
    for (size_t a = 0; a < p->m; a++) {
        /* P v = H v - D v; the tangent's constant is -v'P v / 2. */
        const double pv = p->slope[a] - p->g[a] - p->shift[a] * v[a], linear = p->g[a] + pv;
        const double u = least_at(linear, p->shift[a]), low = along(linear, p->shift[a], u);
        bound += low - 0.5 * v[a] * pv;
        if (gap) gap[a] = along(linear, p->shift[a], v[a]) - low;
    }
    return bound;
}

/* The same at 0: no more than the diagonal split. `v`, not 0, shares out the gap. */
static double centre_bound(const problem *p, const double *v, double *gap)
{
    double bound = 0.0;
    for (size_t a = 0; a < p->m; a++) {
        const double u = least_at(p->g[a], p->shift[a]), low = along(p->g[a], p->shift[a], u);
        const double own = 0.5 * v[a] * (p->g[a] + p->slope[a]); /* what v has of the function here */
        bound += low;
        if (gap) gap[a] = fmax(0.0, own - low);
    }
    return bound;
}

double hfi_quadratic_lower(size_t m, double sign, const double *g, const double *h, double *point,
                           double *predicted, double *gap, double *work)
{
    const problem p = prepare(m, sign, g, h, work);
    double size = 0.0;
    for (size_t a = 0; a < m; a++) size += fabs(p.g[a]) + fabs(p.h[a * m + a]) + p.radius[a];
    choose_shift(&p);
    for (size_t a = 0; a < m; a++) point[a] = least_at(p.g[a], p.shift[a]);
    descend(&p, point);
    *predicted = value_at(&p, point);
    const double by_tangent = tangent_bound(&p, point, NULL), by_centre = centre_bound(&p, point, NULL);
    if (gap) {
        if (by_tangent >= by_centre)
            (void)tangent_bound(&p, point, gap);
        else
            (void)centre_bound(&p, point, gap);
    }
    return fmax(by_tangent, by_centre) - 4.0 * DBL_EPSILON * ((double)m + 8.0) * size;
}

double hfi_largest_eigenvalue(size_t m, const double *matrix, int squares, double *work)
{
    double *from = work, *to = work + m * m, scale = 0.0, root = 1.0;
    for (size_t a = 0; a < m; a++) scale += matrix[a * m + a];
    if (!(scale > DBL_MIN)) return fmax(scale, 0.0);
    double bound = scale;
    for (size_t k = 0; k < m * m; k++) from[k] = matrix[k] / scale;
    for (int s = 0; s < squares; s++) {
        double trace = 0.0;
        root *= 0.5;
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m; b++) {
                double sum = 0.0;
                for (size_t c = 0; c < m; c++) sum += from[a * m + c] * from[c * m + b];
                to[a * m + b] = sum;
                if (a == b) trace += sum;
            }
        bound *= pow(trace, root);
        for (size_t k = 0; k < m * m; k++) to[k] /= trace;
        double *swap = from;
        from = to;
        to = swap;
    }
    return bound * (1.0 + 1e-10);
}
