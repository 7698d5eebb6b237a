/* SPDX-License-Identifier: Apache-2.0 */
#include "taylor/quadratic.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SWEEPS 8

static const double THETA[] = {0.0, 0.125, 0.25, 0.4, 0.6, 0.8};

typedef struct quadratic_problem {
    size_t m;
    double *g;         /* m */
    double *h;         /* m x m */
    double *radius;    /* m: sum_b |H_ab| */
    double *slope;     /* m: g + H v, kept up to date */
    double *separable; /* m */
    double *shift;     /* m: D */
    double *factor;    /* m x m */
    const hfi_ball *ball;
    double mu;   /* of what the ball adds to g, h and shift now */
    double most; /* mu so far */
} quadratic_problem;

size_t hfi_quadratic_work(size_t m)
{
    return 2 * m * m + 6 * m;
}

static quadratic_problem prepare_quadratic(size_t m, double sign, const double *g, const double *h,
                                           double *work)
{
    quadratic_problem p = {.m = m};
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
static void descend(const quadratic_problem *p, double *v)
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

static double value_at(const quadratic_problem *p, const double *v)
{
    /* slope = g + H v */
    double sum = 0.0;
    for (size_t a = 0; a < p->m; a++) sum += 0.5 * v[a] * (p->g[a] + p->slope[a]);
    return sum;
}

/* Whether H - D is positive definite with some room for rounding, D_a = H_aa - theta radius_a. */
static bool is_convex(const quadratic_problem *p, double theta)
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

static bool is_diagonal(const quadratic_problem *p)
{
    for (size_t a = 0; a < p->m; a++)
        if (p->radius[a] > 0.0) return false;
    return true;
}

static void choose_shift(const quadratic_problem *p)
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

/* ---- balls ------------------------------------------------------------------------------------------------------- */

/* With another mu. The slopes at v follow; v is NULL where there are none yet. */
static void set_multiplier(quadratic_problem *p, double mu, const double *v)
{
    const double more = mu - p->mu;
    p->mu = mu;
    p->most = fmax(p->most, mu);
    for (size_t a = 0; a < p->m && more != 0.0; a++) {
        p->g[a] += more * p->ball->p[a];
        p->h[a * p->m + a] += more * p->ball->r[a];
        p->shift[a] += more * p->ball->r[a];
        if (v) p->slope[a] += more * (p->ball->p[a] + p->ball->r[a] * v[a]);
    }
}

/* The ball's function where linear u + shift u^2 / 2 and `more` times it are least over the cube. */
static double ball_at(const quadratic_problem *p, const double *linear, double more)
{
    const hfi_ball *b = p->ball;
    double sum = b->k;
    for (size_t a = 0; a < p->m; a++) {
        const double u = least_at(linear[a] + more * b->p[a], p->shift[a] + more * b->r[a]);
        sum += along(b->p[a], b->r[a], u);
    }
    return sum;
}

/* How much mu should grow from 0, or from what it is, so that the minimiser comes to the ball's border. */
static double best_multiplier(const quadratic_problem *p, const double *linear)
{
    enum {
        DOUBLINGS = 48,
        HALVINGS = 24
    };
    double size = 0.0, slope = 0.0, low = -p->mu, high;
    if (ball_at(p, linear, low) <= 0.0) return low;
    for (size_t a = 0; a < p->m; a++) {
        size += fabs(linear[a]) + fabs(p->shift[a]);
        slope += fabs(p->ball->p[a]) + p->ball->r[a];
    }
    double step = slope > 0.0 ? 1e-3 * size / slope : 0.0;
    if (!(step > 0.0) || !(step < 1e300)) return 0.0;
    for (int k = 0; k < DOUBLINGS && ball_at(p, linear, low + step) > 0.0; k++) step *= 2.0;
    high = low + step;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        if (ball_at(p, linear, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The separable function that the tangent at v leaves, least over the cube. slope = g + H v. */
static double tangent_bound(const quadratic_problem *p, const double *v, double *gap)
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
static double centre_bound(const quadratic_problem *p, const double *v, double *gap)
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

/* The largest of a bound over mu, with slopes at v; the problem keeps that mu. */
static void improve_multiplier(quadratic_problem *p, const double *v)
{
    for (size_t a = 0; a < p->m; a++)
        p->separable[a] = v ? p->slope[a] - p->shift[a] * v[a] : p->g[a]; /* g + P v */
    set_multiplier(p, fmax(0.0, p->mu + best_multiplier(p, p->separable)), v);
}

/* Added to the function at v, what the ball has put there already being part of it: nothing inside of the ball. */
static double added_at(const quadratic_problem *p, const double *v)
{
    double sum = p->ball->k, inside = 0.0;
    for (size_t a = 0; a < p->m; a++) inside += along(p->ball->p[a], p->ball->r[a], v[a]);
    sum += inside;
    return p->mu * (fmax(sum, 0.0) - inside);
}

/* Size of all that is added up, for its rounding. */
static double size_of(const quadratic_problem *p)
{
    double size = p->ball ? p->most * fabs(p->ball->k) : 0.0;
    for (size_t a = 0; a < p->m; a++) {
        size += fabs(p->g[a]) + fabs(p->h[a * p->m + a]) + p->radius[a];
        if (p->ball) size += 2.0 * p->most * (fabs(p->ball->p[a]) + p->ball->r[a]);
    }
    return size;
}

double hfi_quadratic_lower(size_t m, double sign, const double *g, const double *h, const hfi_ball *ball,
                           double *point, double *predicted, double *gap, double *work)
{
    quadratic_problem p = prepare_quadratic(m, sign, g, h, work);
    const double unit = 4.0 * DBL_EPSILON * ((double)m + 8.0);
    p.ball = ball;
    choose_shift(&p);
    if (ball) improve_multiplier(&p, NULL);
    for (size_t a = 0; a < m; a++) point[a] = least_at(p.g[a], p.shift[a]);
    descend(&p, point);
    *predicted = value_at(&p, point) + (ball ? added_at(&p, point) : 0.0);
    double by_centre = centre_bound(&p, point, gap) - unit * size_of(&p);
    if (ball) {
        by_centre += p.mu * ball->k;
        improve_multiplier(&p, point);
    }
    const double by_tangent =
        tangent_bound(&p, point, NULL) + (ball ? p.mu * ball->k : 0.0) - unit * size_of(&p);
    if (!(by_tangent >= by_centre)) return by_centre;
    if (gap) (void)tangent_bound(&p, point, gap);
    return by_tangent;
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
