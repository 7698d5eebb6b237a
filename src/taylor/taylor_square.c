/* SPDX-License-Identifier: Apache-2.0 */
/* The variance as a polynomial of third degree. In the space of the posterior's features
 *
 *     phi(c + u) = phi(c) + J u + R_2 = phi(c) + J u + H(u, u) / 2 + R_3
 *     |phi|^2 = |phi(c) + J u|^2 + 2 <phi(c), R_2> + <J u, H(u, u)> + 2 <J u, R_3> + |R_2|^2
 *
 * <phi(c), phi(x)> is a posterior covariance: k(c, x) less a sum over the anchors with the weights S k(Z, c), of which
 * third derivatives are known and fourth ones bounded by their sizes; these weights, unlike those of a mean, are small.
 * <J u, H(u, u)> is such a sum with the weights S J. The lengths of R_2 and R_3 are those of the prior's features. */
#include "taylor/taylor.h"

#include "linalg/linalg.h"
#include "taylor/quadratic.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    SQUARES = 4
};

typedef struct square_arrays {
    hfi_third_scratch third;
    double *weights;  /* n x (1 + m): S k(Z, c), then S times its derivatives along the box */
    double *scaled;   /* n: of one term */
    double *value;    /* n */
    double *slope;    /* n */
    double *curve;    /* n */
    double *products; /* n x axes (axes + 1) / 2: second derivatives of a term's covariances */
    double *sums;     /* axes (axes + 1) / 2 x (1 + m) */
    double *work;     /* 3 m x m */
} square_arrays;

/* Sizes that bounds of the remainders are made of, over all terms: the posterior's features, [0], and those
 * that the data explain, [1], w = R'k(Z, x) with |w|^2 = k(x, x) - |phi|^2. */
typedef struct remainder_sizes {
    double fourth[2]; /* |<phi(c), R_4>| */
    double along[2];  /* |<J u, R_3>| */
    double moved[2];  /* |J u|, anywhere in the box */
    double length[2]; /* |phi(c)| */
    double second;    /* |R_2|^2, of either */
    double third;     /* |R_3|^2 */
} remainder_sizes;

static size_t pairs_of(size_t m)
{
    return m * (m + 1) / 2;
}

static size_t lay_out_square_arrays(const hfi_taylor *taylor, double *scratch, square_arrays *b)
{
    const size_t n = taylor->n, m = taylor->m, pairs = pairs_of(m);
    const size_t third = hfi_third_lay_out(taylor, scratch, &b->third);
    return third + HFI_LAY_OUT(scratch ? scratch + third : NULL, HFI_ROOMS(b->weights, n, 1 + m),
                               HFI_ROOM(b->scaled, n), HFI_ROOM(b->value, n), HFI_ROOM(b->slope, n),
                               HFI_ROOM(b->curve, n), HFI_ROOMS(b->products, n, pairs),
                               HFI_ROOMS(b->sums, pairs, 1 + m), HFI_ROOMS(b->work, 3 * m, m));
}

bool hfi_taylor_has_square(const hfi_taylor *taylor)
{
    return taylor->terms->smooth_radial && hfi_taylor_has_third(taylor);
}

size_t hfi_taylor_square_scratch(const hfi_taylor *taylor)
{
    square_arrays b;
    return hfi_taylor_has_square(taylor) ? lay_out_square_arrays(taylor, NULL, &b) : 0;
}

/* ---- the polynomial ---------------------------------------------------------------------------------------------- */

/* Second derivatives of factor_i psi(x - z_i) along the box, one column for each pair a <= c; after the third ones. */
static void fill_products(const hfi_taylor *taylor, const hfi_term *term, const square_arrays *b)
{
    const size_t n = taylor->n;
    double *out = b->products;
    hfi_radial_distance(n, term->axes, b->third.x, term->z, n, b->third.q);
    for (size_t i = 0; term->offset && i < n; i++) b->third.q[i] += term->offset[i];
    hfi_radial_weights(term->form, term->alpha, n, b->third.q, term->factor, b->value, b->slope, b->curve);
    for (size_t a = 0; a < term->axes; a++)
        for (size_t c = a; c < term->axes; c++, out += n) {
            const double *ya = b->third.columns + a * n, *yc = b->third.columns + c * n;
            const double own = a == c ? b->third.w[a] * b->third.w[a] : 0.0;
            for (size_t i = 0; i < n; i++) out[i] = b->curve[i] * ya[i] * yc[i] + own * b->slope[i];
        }
}

/* Takes what the data explain by one term off the polynomial; of t the entries a <= b <= c, halved. */
static void take_off(const hfi_taylor *taylor, const hfi_term *term, const square_arrays *b,
                     hfi_square_model *out)
{
    const size_t n = taylor->n, m = taylor->m, pairs = pairs_of(term->axes), *axis = term->axis;
    fill_products(taylor, term, b);
    hfi_gemm_tn(pairs, 1 + m, n, 1.0, b->products, n, b->weights, n, 0.0, b->sums, pairs);
    for (size_t i = 0, at = 0; i < term->axes; i++)
        for (size_t j = i; j < term->axes; j++, at++) {
            const size_t a = axis[i], c = axis[j];
            const double curvature = 2.0 * b->sums[at];
            out->h[a * m + c] -= curvature;
            if (a != c) out->h[c * m + a] -= curvature;
            for (size_t f = 0; f < m; f++) {
                const double times = (f == a ? 1.0 : 0.0) + (f == c ? 1.0 : 0.0) + 1.0;
                hfi_third_add_sorted(m, f, a, c, times * b->sums[at + (1 + f) * pairs], out->t);
            }
        }
}

/* The prior's variance does not move, so that what J adds is taken off by curvature. */
static void begin_square_model(const hfi_taylor *taylor, const double *half, const hfi_spread_model *spread,
                               hfi_square_model *out)
{
    const size_t m = taylor->m;
    for (size_t a = 0; a < m; a++) out->g[a] = 2.0 * spread->b[a];
    for (size_t k = 0; k < m * m; k++) out->h[k] = 2.0 * spread->g[k];
    memset(out->t, 0, m * m * m * sizeof *out->t);
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        for (size_t i = 0; term->kind == HFI_TERM_RADIAL && i < term->axes; i++) {
            const double v = half[term->axis[i]] / term->scale[i];
            out->h[term->axis[i] * (m + 1)] -= 2.0 * term->self * hfi_radial_slope_bound(term->form) * v * v;
        }
    }
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

double hfi_taylor_longest(size_t m, const double *g, double rounding, double *work)
{
    double sum = 0.0;
    for (size_t k = 0; k < m * m; k++) sum += fabs(g[k]);
    const double by_length = (double)m * hfi_largest_eigenvalue(m, g, SQUARES, work);
    return sqrt(fmin(sum, by_length) * (1.0 + 1e-10) + rounding);
}

/* |J u| of posterior and explained features; `rest` m x m. */
static void find_moves(const hfi_taylor *taylor, const double *half, const hfi_spread_model *spread,
                       double *rest, double *work, remainder_sizes *s)
{
    const size_t m = taylor->m;
    for (size_t k = 0; k < m * m; k++) rest[k] = -spread->g[k];
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        for (size_t i = 0; term->kind == HFI_TERM_RADIAL && i < term->axes; i++) {
            const double v = half[term->axis[i]] / term->scale[i];
            rest[term->axis[i] * (m + 1)] += term->self * hfi_radial_slope_bound(term->form) * v * v;
        }
    }
    s->moved[0] = hfi_taylor_longest(m, spread->g, spread->rounding, work);
    s->moved[1] = hfi_taylor_longest(m, rest, spread->rounding, work);
}

/* sum_i |u'beta_i| E_3(q_i) from above, for the anchors' distances that hfi_third_fourth_size() has left. */
static double third_sum(const hfi_taylor *taylor, const hfi_term *term, const square_arrays *b)
{
    const size_t n = taylor->n;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double weight = 0.0;
        for (size_t a = 1; a <= taylor->m; a++) weight += fabs(b->weights[i + a * n]);
        sum += weight * fabs(term->factor[i]) * hfi_radial_third_size(term->form, term->alpha, b->third.q[i]);
    }
    return sum * (1.0 + 1e-10 + DBL_EPSILON * (double)(n + taylor->m));
}

/* Remainders of one term by the sizes of its derivatives (the prior's with `own`, and the data's) or by the lengths of
 * features; whichever is less. `fourth` and `third` are sums over the anchors. */
static void add_remainders(const hfi_term *term, double tau, double own, double fourth, double third,
                           remainder_sizes *s)
{
    const bool smooth = term->form == HFI_FORM_SE;
    const double four = tau * tau * tau * tau, up = 1.0 + 1e-12;
    const double feature = smooth ? sqrt(term->self * 105.0) * four / 24.0 : (double)INFINITY;
    const double rest = sqrt(term->self) * hfi_radial_remainder(term->form, term->alpha, tau);
    for (int w = 0; w < 2; w++) {
        const double prior = w ? 0.0 : term->self * own * four;
        s->fourth[w] += fmin((prior + fourth * four) / 24.0, s->length[w] * feature) * up;
        s->along[w] += fmin((prior + third * tau * tau * tau) / 6.0, s->moved[w] * rest) * up;
    }
    s->third += rest * rest * up;
}

/* Adds what the slopes of the posterior's |phi|^2 may be off by one term, R' being derivatives of R along an input:
 * |<phi(c), R_4'>| + |<J u, R_3'>| + |R_3| |J'| + |R_2| |phi' - J'|, of which finish_square_model() has the third. */
static void add_slopes(const hfi_term *term, double tau, double own, double fourth, double third,
                       const remainder_sizes *s, const square_arrays *b, hfi_square_model *out)
{
    const double root = sqrt(term->self), curve = hfi_radial_curve_bound(term->form, term->alpha);
    const double prior = term->self * own * tau;
    for (size_t i = 0; i < term->axes; i++) {
        const double v = b->third.w[i], turn = v * sqrt(curve * (tau * tau + 2.0 * v * v)) * root;
        const double bent = term->form == HFI_FORM_SE
                                ? root * hfi_radial_slope_remainder(term->form, term->alpha, tau, v)
                                : 2.0 * turn;
        const double along = fmin(s->moved[0] * bent, (prior + third) * tau * tau * v / 2.0);
        out->slope_error[term->axis[i]] +=
            (prior + fourth * tau) * tau * tau * v / 6.0 + along + sqrt(s->second) * turn;
    }
}

/* Errors of solves and sums, a priori: those of whitened columns with features' lengths (see
 * hfi_taylor_variance_rounding()), those of third derivatives, which are no features, with their sizes. */
static double rounding_of(const hfi_taylor *taylor, const hfi_term *term, double tau, const square_arrays *b)
{
    const size_t n = taylor->n;
    const bool dense = taylor->subject->posterior->solution.form == HFI_FORM_DENSE;
    const double unit = hfi_taylor_variance_rounding(taylor, 1.0, 0.0), self = term->self;
    const double s1 = hfi_radial_slope_bound(term->form),
                 s2 = hfi_radial_curve_bound(term->form, term->alpha);
    const double gain =
        dense ? taylor->factor_norm * sqrt((double)n * self) : sqrt(taylor->condition * (double)n);
    const double first = sqrt(s1) * tau, second = sqrt(3.0 * s2) * tau * tau;
    const double solves = unit * self * ((1.0 + first) * second + 3.0 * s2 * gain * tau * tau * tau);
    double size = 0.0, moved = 0.0;
    for (size_t q = 0; q <= taylor->m; q++)
        for (size_t i = 0; i < n; i++) size += fabs(b->weights[i + q * n] * term->factor[i]);
    for (size_t i = 0; i < term->axes; i++) moved += b->third.w[i] * (term->reach[i] + fabs(b->third.x[i]));
    const double sums = 2.0 * hfi_third_rounding(term, n, size, tau, &b->third) +
                        DBL_EPSILON * ((double)n + 128.0) * size * (s1 * tau * tau + s2 * moved * moved);
    return 4.0 * (solves + sums);
}

static void share_out(const hfi_term *term, double tau, const square_arrays *b, hfi_square_model *out)
{
    for (size_t i = 0; tau > 0.0 && i < term->axes; i++)
        out->share[term->axis[i]] += term->self * b->third.w[i] * b->third.w[i];
}

/* One term's part of the polynomial and of the remainders. */
static void add_term(const hfi_taylor *taylor, const hfi_term *term, const double *centre, const double *half,
                     remainder_sizes *s, const square_arrays *b, hfi_square_model *out)
{
    const size_t n = taylor->n;
    const double tau = hfi_taylor_place(taylor, term, centre, half, b->third.x, b->third.w), none = 0.0;
    double own;
    hfi_radial_fourth(term->form, 1, &none, &own);
    own *= 1.0 + 1e-10;
    for (size_t i = 0; i < n; i++) b->scaled[i] = b->weights[i] * term->factor[i];
    const double fourth = hfi_third_fourth_size(term, n, b->scaled, &b->third),
                 third = third_sum(taylor, term, b);
    add_remainders(term, tau, own, fourth, third, s);
    hfi_third_add_cubic(taylor, term, b->scaled, &b->third, out->t);
    take_off(taylor, term, b, out);
    add_slopes(term, tau, own, fourth, third, s, b, out);
    out->rounding += rounding_of(taylor, term, tau, b);
    share_out(term, tau, b, out);
}

static void finish_square_model(size_t m, const hfi_spread_model *spread, const remainder_sizes *s,
                                hfi_square_model *out)
{
    const double up = 1.0 + 1e-12, third = sqrt(s->third);
    const double of_posterior = 2.0 * (s->fourth[0] + s->along[0]) * up,
                 of_data = 2.0 * (s->fourth[1] + s->along[1]) * up;
    double shares = 0.0;
    for (size_t k = 0; k < m * m * m; k++) out->t[k] *= -2.0;
    hfi_third_fill_up(m, out->t);
    out->below = fmin(of_posterior, (of_data + s->second) * up);
    out->above = fmin(of_data, (of_posterior + s->second) * up);
    for (size_t a = 0; a < m; a++) {
        const double own = sqrt(fmax(spread->g[a * (m + 1)], 0.0) + spread->rounding);
        double bent = 0.0;
        for (size_t k = 0; k < m * m; k++) bent += fabs(out->t[a * m * m + k]);
        out->slope_error[a] = (2.0 * (out->slope_error[a] + third * own) + 0.5 * bent) * up;
        shares += out->share[a];
    }
    for (size_t a = 0; a < m; a++) out->share[a] = shares > 0.0 ? out->share[a] / shares : 0.0;
}

void hfi_taylor_square(const hfi_taylor *taylor, const double *centre, const double *half,
                       const hfi_spread_model *spread, hfi_square_model *out, double *scratch)
{
    square_arrays b;
    (void)lay_out_square_arrays(taylor, scratch, &b);
    const hfi_solution *solution = &taylor->subject->posterior->solution;
    const size_t m = taylor->m;
    remainder_sizes s = {.second = spread->remainder * spread->remainder};
    s.length[0] = sqrt(fmax(spread->var, 0.0) + spread->rounding);
    s.length[1] = sqrt(fmax(spread->ceiling * spread->ceiling - spread->var, 0.0) + spread->rounding);
    find_moves(taylor, half, spread, b.work + 2 * m * m, b.work, &s);
    if (spread->solved)
        b.weights = spread->white;
    else
        for (size_t q = 0; q < 1 + m; q++)
            hfi_solution_spread(solution, spread->white + q * spread->white_ld, b.weights + q * solution->n);
    memset(out->slope_error, 0, m * sizeof *out->slope_error);
    memset(out->share, 0, m * sizeof *out->share);
    out->rounding = spread->rounding;
    begin_square_model(taylor, half, spread, out);
    for (size_t k = 0; k < taylor->terms->count; k++)
        if (taylor->terms->term[k].kind == HFI_TERM_RADIAL)
            add_term(taylor, &taylor->terms->term[k], centre, half, &s, &b, out);
    finish_square_model(m, spread, &s, out);
}

double hfi_taylor_square_estimate(const hfi_taylor *taylor, const double *half,
                                  const hfi_spread_model *spread)
{
    double traces = 0.0, along = 0.0;
    for (size_t a = 0; a < taylor->m; a++) traces += fmax(spread->g[a * (taylor->m + 1)], 0.0);
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        double square = 0.0, own, none = 0.0;
        if (term->kind != HFI_TERM_RADIAL) continue;
        for (size_t i = 0; i < term->axes; i++) {
            const double v = half[term->axis[i]] / term->scale[i];
            square += v * v;
        }
        hfi_radial_fourth(term->form, 1, &none, &own);
        const double rest =
            sqrt(traces * term->self) * hfi_radial_remainder(term->form, term->alpha, sqrt(square));
        along += hfi_radial_square_share(term->form) * fmin(term->self * own * square * square / 3.0, rest);
    }
    return 2.0 * along;
}
