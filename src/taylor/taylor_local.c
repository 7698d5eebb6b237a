/* SPDX-License-Identifier: Apache-2.0 */
/* Sharper remainders of se terms, by what the function is around one centre. In units of the lengthscales z_i
 * are the anchors and V u the points of the box, both from its centre; then
 *
 *     f(c + u) exp(|V u|^2 / 2) = sum_i w_i exp(z_i'V u) = sum_k P_k(u),
 *     w_i = a_i exp(-|z_i|^2 / 2),     P_k(u) = sum_i w_i (z_i'V u)^k / k!
 *
 * P_0 to P_3 are computed. This file also computes the assumption of the kernel's constants about the others:
 * with y_i = r V z_i, r^2 the number of inputs that move, so that
 * |u| <= r, and any eta_k > 0,
 *
 *     |sum_{k > 3} P_k(u)|^2 <= lambda_max(M) sum eta_k,
 *     M = sum_ij w_i w_j y_i y_j' sum_{k > 3} (y_i'y_j)^(k-1) / (eta_k k!^2)
 *
 * because P_k(u) = u'Q_k(u) with Q_k linear in the (k-1)-fold products of u. Anchors and degrees that add
 * next to nothing count one by one by their sizes. */
#include "taylor/taylor.h"

#include "linalg/linalg.h"
#include "taylor/loops.h"
#include "taylor/quadratic.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FIRST = 4,  /* degree that is bounded, not computed */
    LAST = 16,  /* degrees that are looked at one by one */
    SQUARES = 5 /* of M, for its largest eigenvalue */
};

/* Anchors that together add less than this share of what they would if none knew of the others are not taken
 * by pairs. */
static const double neglect = 0.2;

typedef struct local_arrays {
    double *x;       /* m: the centre in units of a term */
    double *v;       /* m: half-widths of inputs that move, likewise */
    double *axis;    /* m: their places among the term's */
    double *q;       /* n: squared distances, later powers */
    double *w;       /* n: w_i; later those of the kept anchors */
    double *size;    /* n: |y_i| */
    double *add;     /* n: what an anchor may add alone */
    double *columns; /* padded x m: y */
    double *product; /* n */
    double *matrix;  /* m x m: M */
    double *square;  /* 2 m x m */
} local_arrays;

/* Number of entries that hfi_pair_sums() reads. */
static size_t padded(size_t n)
{
    return (n + HFI_PAIR_LANES - 1) / HFI_PAIR_LANES * HFI_PAIR_LANES;
}

static size_t lay_out_local_arrays(const hfi_taylor *taylor, double *scratch, local_arrays *b)
{
    const size_t n = taylor->n, m = taylor->m, wide = padded(n);
    return HFI_LAY_OUT(scratch, HFI_ROOM(b->x, m), HFI_ROOM(b->v, m), HFI_ROOM(b->axis, m), HFI_ROOM(b->q, n),
                       HFI_ROOM(b->w, wide), HFI_ROOM(b->size, n), HFI_ROOM(b->add, n),
                       HFI_ROOMS(b->columns, wide, m), HFI_ROOM(b->product, n), HFI_ROOMS(b->matrix, m, m),
                       HFI_ROOMS(b->square, 2 * m, m));
}

/* The one term that moves, if it is an se and the prior mean is all that moves beside it. */
static const hfi_term *only_term(const hfi_taylor *taylor)
{
    const hfi_term *found = NULL;
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind == HFI_TERM_CONSTANT) continue;
        if (found || term->kind != HFI_TERM_RADIAL || term->form != HFI_FORM_SE) return NULL;
        found = term;
    }
    return found;
}

bool hfi_taylor_can_sharpen(const hfi_taylor *taylor)
{
    return taylor->m <= HFI_SHARP_INPUTS && only_term(taylor) != NULL;
}

size_t hfi_taylor_sharpen_scratch(const hfi_taylor *taylor)
{
    local_arrays b;
    return hfi_taylor_can_sharpen(taylor) ? lay_out_local_arrays(taylor, NULL, &b) : 0;
}

/* Findings about one term in one box. */
typedef struct local {
    size_t moving, kept;
    double value;     /* P_0 */
    double curvature; /* |V u|^2 / 2 at most */
    double sizes;     /* sum |w_i| exp |y_i|, at least */
    double tail,
        slope_tail; /* of degree FIRST and more: the largest value, and derivative along an input beside what M tells */
    double weight[LAST - FIRST + 1]; /* of (y_i'y_j)^(k-1), from FIRST on */
    size_t degrees;
    double shares, slope_shares; /* sum eta_k, sum k^2 eta_k */
    double reach;                /* bounds the sizes that add up to an entry of M */
} local;

static void place_local_box(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                            const double *half, const local_arrays *b, local *l)
{
    double width = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const size_t f = term->axis[a], column = taylor->subject->free[f];
        b->x[a] = (centre[column] - taylor->subject->middle[column]) / term->scale[a];
        if (!(half[f] > 0.0)) continue;
        b->v[l->moving] = half[f] / term->scale[a];
        width += b->v[l->moving] * b->v[l->moving];
        b->axis[l->moving++] = (double)a;
    }
    l->curvature = 0.5 * width * (1.0 + 1e-14);
}

static size_t axis_of(const local_arrays *b, size_t k)
{
    return (size_t)b->axis[k];
}

/* w, y and |y|. */
static void weigh_local_anchors(const hfi_taylor *taylor, const hfi_term *term, const local_arrays *b,
                                local *l)
{
    const size_t n = taylor->n, ld = padded(n);
    const double r = sqrt((double)l->moving);
    memset(b->w + n, 0, (ld - n) * sizeof *b->w);
    hfi_radial_distance(n, term->axes, b->x, term->z, n, b->q);
    hfi_radial_values(term->form, term->alpha, n, b->q, term->a, b->w);
    memset(b->size, 0, n * sizeof *b->size);
    for (size_t k = 0; k < l->moving; k++) {
        const double *z = term->z + axis_of(b, k) * n, x = b->x[axis_of(b, k)], v = r * b->v[k];
        double *out = b->columns + k * ld;
        memset(out + n, 0, (ld - n) * sizeof *out);
        for (size_t i = 0; i < n; i++) {
            out[i] = v * (z[i] - x);
            b->size[i] += out[i] * out[i];
        }
    }
    l->value = hfi_sum_anchors(n, b->w);
    for (size_t i = 0; i < n; i++) {
        const double y = sqrt(b->size[i]) * (1.0 + 1e-12);
        b->size[i] = y;
        b->add[i] = fabs(b->w[i]) * exp(fmin(y, 700.0));
    }
    l->sizes = hfi_sum_anchors(n, b->add);
}

/* Adds t u_i u_j u_k in all orders. */
static void add_entry(size_t m, size_t x, size_t y, size_t z, double entry, double *t)
{
    const size_t f[3] = {x, y, z};
    double *at[6];
    for (size_t e = 0; e < 3; e++) {
        at[2 * e] = &t[(f[e] * m + f[(e + 1) % 3]) * m + f[(e + 2) % 3]];
        at[2 * e + 1] = &t[(f[e] * m + f[(e + 2) % 3]) * m + f[(e + 1) % 3]];
    }
    const double sum = *at[0] + entry;
    for (size_t e = 0; e < 6; e++) *at[e] = sum;
}

/* T: the third derivatives of P_3, from all anchors, and of the prior mean's slope times |V u|^2 / 2. */
static void make_cubic(const hfi_taylor *taylor, const hfi_term *term, const double *half,
                       const local_arrays *b, const local *l, double *t)
{
    const size_t n = taylor->n, ld = padded(n), m = taylor->m;
    const double r = sqrt((double)l->moving), unit = 1.0 / (r * r * r);
    memset(t, 0, m * m * m * sizeof *t);
    for (size_t i = 0; i < l->moving; i++)
        for (size_t j = i; j < l->moving; j++) {
            const double *yi = b->columns + i * ld, *yj = b->columns + j * ld;
            for (size_t p = 0; p < n; p++) b->product[p] = b->w[p] * yi[p] * yj[p];
            for (size_t k = j; k < l->moving; k++)
                add_entry(m, term->axis[axis_of(b, i)], term->axis[axis_of(b, j)], term->axis[axis_of(b, k)],
                          unit * hfi_dot(n, b->product, b->columns + k * ld), t);
        }
    for (size_t a = 0; a < m; a++) {
        const double slope = half[a] * taylor->mean_slope[a];
        for (size_t k = 0; slope != 0.0 && k < l->moving; k++) {
            const size_t f = term->axis[axis_of(b, k)];
            add_entry(m, a, f, f, slope * b->v[k] * b->v[k] * (f == a ? 3.0 : 1.0), t);
        }
    }
}

/* Moves what is taken by pairs to the front; the others add at most y^4 exp(y) / 24 each, and to a derivative
 * y^3 exp(y) / 6. */
static void keep(const hfi_taylor *taylor, const local_arrays *b, local *l)
{
    const size_t n = taylor->n, ld = padded(n);
    double square = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double y = b->size[i];
        b->add[i] *= y * y * y;
        square += b->add[i] * y * b->add[i] * y;
    }
    double least = neglect * sqrt(square) / (double)n;
    for (int k = 0; k < 60; k++, least *= 2.0) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) count += b->add[i] * b->size[i] > least;
        if (count <= HFI_SHARP_ANCHORS) break;
    }
    for (size_t i = 0; i < n; i++) {
        const double y = b->size[i];
        if (!(b->add[i] * y > least) || l->kept == HFI_SHARP_ANCHORS) {
            l->tail += b->add[i] * y / 24.0;
            l->slope_tail += b->add[i] / 6.0 * y;
            continue;
        }
        b->w[l->kept] = b->w[i];
        b->size[l->kept] = y;
        for (size_t k = 0; k < l->moving; k++) b->columns[k * ld + l->kept] = b->columns[k * ld + i];
        l->kept++;
    }
}

/* eta: shares of the degrees, by what each has if the anchors do not know of each other. */
static void share_out(const local_arrays *b, local *l)
{
    double alone[LAST + 1], own[LAST + 1], total = 0.0, *power = b->q, *square = b->product;
    for (size_t i = 0; i < l->kept; i++) power[i] = fabs(b->w[i]);
    for (int k = 1; k <= LAST; k++) {
        for (size_t i = 0; i < l->kept; i++) {
            power[i] *= b->size[i] / k;
            square[i] = power[i] * power[i];
        }
        alone[k] = hfi_sum_anchors(l->kept, power);
        own[k] = sqrt(hfi_sum_anchors(l->kept, square));
        if (k >= FIRST) total += own[k];
    }
    for (size_t i = 0; i < l->kept; i++) power[i] *= b->size[i] / (LAST + 1) * exp(fmin(b->size[i], 700.0));
    double beyond = hfi_sum_anchors(l->kept, power), sum = 0.0, factorial = 6.0;
    double slope = beyond * (LAST + 1);
    int last = LAST;
    for (; last > FIRST && beyond + alone[last] < 0.02 * total; last--) {
        beyond += alone[last];
        slope += last * alone[last];
    }
    l->tail += beyond;
    l->slope_tail += slope;
    for (int k = FIRST; k <= last; k++) sum += own[k];
    for (int k = FIRST; k <= last; k++) {
        const double share = sum > 0.0 ? fmax(own[k] / sum, 1e-3) : 1.0;
        factorial *= k;
        l->weight[l->degrees++] = 1.0 / (share * factorial * factorial);
        l->shares += share;
        l->slope_shares += share * k * k;
        l->reach += alone[k] * alone[k] / share;
    }
}

/* Relative rounding of w_i exp |y_i| and of sums over the anchors. */
static double unit_of(const hfi_taylor *taylor, const hfi_term *term, const local_arrays *b)
{
    double reach = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const double far = term->reach[a] + fabs(b->x[a]);
        reach += far * far;
    }
    return DBL_EPSILON * ((double)taylor->n + 32.0 * (double)term->axes + 256.0 + 16.0 * reach);
}

static double entry_sizes(size_t count, const double *entry)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) sum += fabs(entry[k]);
    return sum;
}

/* With F = (p + f - P_0) exp(|V u|^2 / 2) = g'u + u'H u / 2 + T(u, u, u) / 6 + ..., p the prior mean's
 * change: wherever F >= -b for all u, b >= 0, so is p + f - P_0, and its slopes have the sign of dF/du_a - F
 * v_a^2 u_a. */
static void close_in(const hfi_taylor *taylor, const hfi_term *term, const double *half,
                     const local_arrays *b, const local *l, double unit, hfi_mean_model *model)
{
    const size_t m = taylor->m;
    const double r = sqrt((double)l->moving), p0 = fabs(l->value), up = 1.0 + 1e-12;
    const double grown = expm1(l->curvature) * up, bent = grown - l->curvature * (1.0 - 1e-12);
    double prior = 0.0, trace = 0.0;
    for (size_t a = 0; a < m; a++) prior += fabs(half[a] * taylor->mean_slope[a]);
    const double third = entry_sizes(m * m * m, model->cubic) / 6.0;
    const double outside = (l->tail + (p0 + prior) * bent) * up;
    if (!(outside < model->outside)) return;
    const double known = entry_sizes(m, model->g) + 0.5 * entry_sizes(m * m, model->h);
    const double remainder =
        l->tail + third + l->curvature * (known + 2.0 * prior) + 0.5 * l->curvature * l->curvature * p0;
    const double most = outside + third + known;
    model->outside = outside;
    model->has_cubic = true;
    model->remainder = fmin(model->remainder, remainder * up);
    for (size_t k = 0; k < l->moving; k++) trace += b->matrix[k * l->moving + k];
    for (size_t k = 0; k < l->moving; k++) {
        const size_t f = term->axis[axis_of(b, k)];
        const double v = b->v[k], own = b->matrix[k * l->moving + k];
        const double tail = (sqrt((fmax(own, 0.0) + unit * l->reach) * l->slope_shares) + l->slope_tail) / r;
        const double slope = tail + 0.5 * entry_sizes(m * m, model->cubic + f * m * m) +
                             fabs(half[f] * taylor->mean_slope[f]) * bent +
                             v * v * ((p0 + prior) * grown + most) + unit * l->sizes;
        model->slope_error[f] = fmin(model->slope_error[f], slope * up);
        if (trace > 0.0) model->remainder_share[f] = outside * own / trace;
    }
}

void hfi_taylor_sharpen(const hfi_taylor *taylor, const double *centre, const double *half,
                        hfi_mean_model *model, double *scratch)
{
    local_arrays b;
    (void)lay_out_local_arrays(taylor, scratch, &b);
    const hfi_term *term = only_term(taylor);
    local l = {0};
    place_local_box(taylor, term, centre, half, &b, &l);
    if (l.moving == 0) return;
    weigh_local_anchors(taylor, term, &b, &l);
    if (!(l.sizes < 1e100) || !(l.curvature < 100.0)) return;
    model->has_cubic = false; /* what hfi_taylor_third() left */
    model->outside = model->remainder;
    make_cubic(taylor, term, half, &b, &l, model->cubic);
    keep(taylor, &b, &l);
    share_out(&b, &l);
    hfi_pair_sums(l.kept, l.moving, padded(taylor->n), b.columns, b.w, l.degrees, l.weight, b.matrix);
    const double unit = unit_of(taylor, term, &b);
    const double most = hfi_largest_eigenvalue(l.moving, b.matrix, SQUARES, b.square) + unit * l.reach;
    l.tail = (sqrt(most * l.shares) + l.tail) * (1.0 + 1e-12) + unit * l.sizes;
    close_in(taylor, term, half, &b, &l, unit, model);
}
