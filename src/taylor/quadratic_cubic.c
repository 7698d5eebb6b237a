/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials of degree 3 over the cube, by a branch and bound of their own: a part of the cube costs a few
 * microseconds, a box of the search a thousand times as much. */
#include "taylor/quadratic.h"

#include "core/core.h"
#include "taylor/loops.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    SQUARES = 4,
    FEW = 16 /* parts that are looked at even in vain: the search goes by the bound */
};

/* A part of the cube: the polynomial's Taylor coefficients at its centre, not scaled by its half-widths. */
typedef struct cubic_part {
    double value, bound;
    size_t split;
    double *side; /* m: half-widths */
    double *at;   /* m: centre */
    double *g;    /* m */
    double *h;    /* m x m */
} cubic_part;

typedef struct cubic_problem {
    const hfi_cubic *cubic;
    size_t m, used;
    cubic_part *parts;
    double *size; /* m^3: |T| */
    double norm;  /* |T(u, u, u)| <= norm |u|^3 */
    double rounding;
    double *gs, *hs;     /* of one part, scaled */
    double *slices;      /* m */
    double *local;       /* m: a point of a part */
    double *shares;      /* m */
    double *ball;        /* 2 m: the ball of a part */
    double *work;        /* of the quadratic bound */
    double *point, best; /* the least value met */
} cubic_problem;

static size_t lay_out_cubic(size_t m, size_t parts, double *work, cubic_problem *p)
{
    const size_t places = parts / 2 + 2, of_part = m * m + 3 * m;
    double *heads, *rest;
    const size_t numbers = HFI_LAY_OUT(
        work, HFI_ROOMS(heads, places, (sizeof(cubic_part) + sizeof(double) - 1) / sizeof(double)),
        HFI_ROOMS(rest, places, of_part), HFI_ROOMS(p->size, m, m * m), HFI_ROOMS(p->hs, 3 * m, m),
        HFI_ROOM(p->gs, m), HFI_ROOM(p->slices, m), HFI_ROOM(p->local, m), HFI_ROOM(p->shares, 2 * m),
        HFI_ROOM(p->ball, 2 * m), HFI_ROOM(p->work, hfi_quadratic_work(m)));
    p->parts = (cubic_part *)heads;
    for (size_t k = 0; work != NULL && k < places; k++, rest += of_part)
        p->parts[k] = (cubic_part){.side = rest, .at = rest + m, .g = rest + 2 * m, .h = rest + 3 * m};
    return numbers;
}

size_t hfi_cubic_work(size_t m, size_t parts)
{
    cubic_problem p;
    return lay_out_cubic(m, parts, NULL, &p);
}

/* |T(u, u, u)| <= |u| |sum_bc T_abc u_b u_c|_a <= (largest eigenvalue of sum_cd T_acd T_bcd)^(1/2) |u|^3,
 * bounded by the trace of a power. */
static double cubic_norm(size_t m, const double *t, double *work)
{
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++) {
            double sum = 0.0;
            for (size_t k = 0; k < m * m; k++) sum += t[a * m * m + k] * t[b * m * m + k];
            work[a * m + b] = work[b * m + a] = sum;
        }
    /* Underflow loses less than the least normal number. */
    return sqrt(hfi_largest_eigenvalue(m, work, SQUARES, work + m * m) + DBL_MIN);
}

static void place_whole(cubic_problem *p)
{
    const hfi_cubic *c = p->cubic;
    const size_t m = p->m;
    cubic_part *whole = &p->parts[p->used++];
    double size = 0.0;
    for (size_t a = 0; a < m; a++) {
        whole->side[a] = 1.0;
        whole->at[a] = 0.0;
        whole->g[a] = c->sign * c->g[a];
        size += fabs(c->g[a]);
    }
    for (size_t k = 0; k < m * m; k++) {
        whole->h[k] = c->sign * c->h[k];
        size += fabs(c->h[k]);
    }
    for (size_t k = 0; k < m * m * m; k++) {
        p->size[k] = fabs(c->t[k]);
        size += p->size[k];
    }
    whole->value = 0.0;
    p->norm = cubic_norm(m, c->t, p->hs);
    p->rounding = 4096.0 * DBL_EPSILON * size;
}

/* The ball in the coordinates of a part. */
static hfi_ball part_ball(const cubic_problem *p, const cubic_part *q)
{
    const hfi_ball *whole = p->cubic->ball;
    hfi_ball own = {p->ball, p->ball + p->m, whole->k};
    for (size_t a = 0; a < p->m; a++) {
        const double at = q->at[a], side = q->side[a];
        own.k += at * (whole->p[a] + 0.5 * whole->r[a] * at);
        p->ball[a] = side * (whole->p[a] + whole->r[a] * at);
        p->ball[p->m + a] = side * side * whole->r[a];
    }
    return own;
}

/* The bound of a part, its most promising point, and where to split it. */
static void bound_part(cubic_problem *p, cubic_part *q, double *gap)
{
    const size_t m = p->m;
    const double *r = q->side;
    double predicted, sizes = 0.0, square = 0.0, cubes = 0.0;
    for (size_t a = 0; a < m; a++) {
        p->gs[a] = r[a] * q->g[a];
        for (size_t b = 0; b < m; b++) p->hs[a * m + b] = r[a] * r[b] * q->h[a * m + b];
        square += r[a] * r[a];
    }
    const hfi_ball ball = p->cubic->ball ? part_ball(p, q) : (hfi_ball){0};
    const double least = hfi_quadratic_lower(m, 1.0, p->gs, p->hs, p->cubic->ball ? &ball : NULL, p->local,
                                             &predicted, gap, p->work);
    hfi_cube_slices(m, p->size, r, p->slices);
    for (size_t a = 0; a < m; a++) sizes += p->slices[a];
    const double third = fmin(sizes, p->norm * square * sqrt(square)) / 6.0 * (1.0 + 1e-12);
    q->bound = q->value + least - third - p->rounding;
    if (q->value + predicted - third < p->best) {
        double *step = p->shares;
        for (size_t a = 0; a < m; a++) step[a] = r[a] * p->local[a];
        hfi_cube_slices(m, p->cubic->t, step, step + m);
        for (size_t a = 0; a < m; a++) cubes += step[m + a];
        const double value = q->value + predicted + p->cubic->sign * cubes / 6.0;
        if (value < p->best) {
            p->best = value;
            for (size_t a = 0; a < m; a++) p->point[a] = q->at[a] + step[a];
        }
    }
    q->split = 0;
    for (size_t a = 0; a < m; a++) {
        gap[a] = fmax(gap[a], 0.0) + (sizes > 0.0 ? third * p->slices[a] / sizes : 0.0);
        if (gap[a] > gap[q->split]) q->split = a;
    }
}

/* to := one half of `from` along its split; they may be the same. */
static void halve(const cubic_problem *p, const cubic_part *from, double sign, cubic_part *to)
{
    const size_t m = p->m, a = from->split;
    const double *t = p->cubic->t + a * m * m, own = p->cubic->sign;
    const double half = 0.5 * from->side[a], d = sign * half;
    to->value =
        from->value + d * (from->g[a] + d * (0.5 * from->h[a * m + a] + d * own * t[a * m + a] / 6.0));
    for (size_t b = 0; b < m; b++) {
        to->g[b] = from->g[b] + d * (from->h[a * m + b] + 0.5 * d * own * t[a * m + b]);
        to->side[b] = from->side[b];
        to->at[b] = from->at[b];
    }
    for (size_t k = 0; k < m * m; k++) to->h[k] = from->h[k] + d * own * t[k];
    to->side[a] = half;
    to->at[a] += d;
}

double hfi_cubic_lower(const hfi_cubic *cubic, const hfi_cubic_effort *effort, double *point,
                       double *predicted, double *gap, double *work)
{
    const size_t m = cubic->m;
    cubic_problem p = {.cubic = cubic, .m = m, .point = point, .best = (double)INFINITY};
    (void)lay_out_cubic(m, effort->parts, work, &p);
    double *shares = p.hs + m * m; /* m of 2 m^2 that only the norm needs */
    place_whole(&p);
    bound_part(&p, &p.parts[0], gap);
    double first = 0.0, bound = p.parts[0].bound;
    for (size_t a = 0; a < m; a++) first += gap[a];
    for (size_t evaluated = 1; evaluated + 2 <= effort->parts; evaluated += 2) {
        size_t least = 0;
        for (size_t k = 1; k < p.used; k++)
            if (p.parts[k].bound < p.parts[least].bound) least = k;
        bound = fmax(bound, p.parts[least].bound);
        if (bound >= effort->enough || bound >= p.best - effort->want ||
            (evaluated >= FEW && p.best < effort->enough && effort->enough < (double)INFINITY))
            break;
        cubic_part *parent = &p.parts[least], *other = &p.parts[p.used++];
        halve(&p, parent, 1.0, other);
        halve(&p, parent, -1.0, parent);
        bound_part(&p, parent, shares);
        bound_part(&p, other, shares);
    }
    double least = p.parts[0].bound;
    for (size_t k = 1; k < p.used; k++) least = fmin(least, p.parts[k].bound);
    bound = fmax(bound, least);
    *predicted = p.best;
    /* The gap that is left, in the whole cube's shares. */
    const double left = fmax(p.best - bound, 0.0);
    for (size_t a = 0; a < m; a++) gap[a] = first > 0.0 ? gap[a] * fmin(1.0, left / first) : 0.0;
    return bound;
}
