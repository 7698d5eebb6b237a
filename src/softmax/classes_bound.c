/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of G(x) = a'E[softmax(f)], f ~ N(m(x), S(x)), from below over a box; docs/methods/certify.md derives them.
 *
 * Let D be the change of the means from the centre, X that of the covariance; osc v = max v - min v, and nu X
 * the least sum of |l_k| osc^2 v_k over the ways to write X as sum_k l_k v_k v_k' up to constants,
 *
 *     G >= G_0 + w'D + H : X / 2 - osc a (c3 osc^2 D / 2 + c4 osc D nu X / 2 + c5 nu^2 X / 8)                   Taylor
 *
 * Besides, the probability of one class is a logarithmically concave function of the means. */
#include "softmax/classes_impl.h"
#include "taylor/quadratic.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- functionals ------------------------------------------------------------------------------------------------- */

/* How far H : X / 2 can be from the model's. With features, H : (<r, phi> + <phi, r>) = 2 sum_j <r_j, sum_i
 * H_ij phi_i>. */
static double lost_of_curve(const hfi_box *x)
{
    const size_t n = x->n;
    const double *h = x->b->curve;
    const hfi_covariance_model *s = &x->s;
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) {
        double length = 0.0, moved = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += fabs(h[i * n + j]) * (s->lost[i * n + j] + s->remainder[i] * s->remainder[j]);
            moved += fabs(h[i * n + j]) * (s->moved[i] + s->remainder[i]);
            for (size_t k = 0; k < n; k++) length += h[i * n + j] * s->meets[i * n + k] * h[k * n + j];
        }
        sum += 2.0 * s->remainder[j] * (sqrt(fmax(length, 0.0)) + moved);
    }
    return 0.5 * sum * (1.0 + 1e-12);
}

/* Takes the functional a (n weights) in hand: gradient w, Hessian and the quadratic function H : X / 2. */
void hfi_box_take(hfi_box *x, double constant, double osc)
{
    const size_t n = x->n, m = x->m, square = n * n;
    const hfi_box_scratch *b = x->b;
    double *g = b->tilt, *h = g + m, most = 0.0;
    hfi_moments_slopes(n, b->third, b->a, b->w, b->curve);
    x->osc = osc;
    x->base = x->constant = constant;
    x->most = 0.0;
    for (size_t i = 0; i < n; i++) {
        x->base += b->a[i] * b->p[i];
        x->most = fmax(x->most, fabs(b->a[i]));
    }
    size_t pair = 0;
    for (size_t a = 0; a < m; a++) {
        g[a] = 0.0;
        for (size_t k = 0; k < square; k++) g[a] += 0.5 * b->curve[k] * x->s.linear[a * square + k];
        most += fabs(g[a]);
        for (size_t c = a; c < m; c++, pair++) {
            double sum = 0.0;
            for (size_t k = 0; k < square; k++) sum += 0.5 * b->curve[k] * x->s.square[pair * square + k];
            most += fabs(sum);
            h[a * m + c] = h[c * m + a] = a == c ? 2.0 * sum : sum;
        }
    }
    x->tilt_lost = lost_of_curve(x) + 64.0 * DBL_EPSILON * most;
    x->fine = false;
    x->fine_lost = 0.0;
}

void hfi_box_refine(hfi_box *x)
{
    const hfi_box_scratch *b = x->b;
    x->fine = hfi_tensors_wanted(x->n) && x->scaled_spread < 0.9;
    if (!x->fine) return;
    if (!x->fifth) {
        for (size_t i = 0; i < x->n; i++) b->at[i] = x->mean[i].value;
        x->error =
            fmax(x->error, hfi_moments_fifth(&x->c->quick, b->at, x->s.here, b->q, b->fifth, b->moments));
        x->fifth = true;
    }
    memcpy(b->fine, b->tilt + x->m, x->m * x->m * sizeof *b->fine);
    x->fine_lost = x->most * hfi_tensor_tilt(x, b->fine);
}

/* The least in the box of sum_j weight_j D_j + tilt Y, Y being H : X / 2, or that with another Hessian. */
static double least_of(const hfi_box *x, const double *weight, double tilt, const double *hessian,
                       double *predicted, double *gap)
{
    const size_t m = x->m;
    const hfi_box_scratch *b = x->b;
    double lost = fabs(tilt) * (x->tilt_lost + x->fine_lost), size = 0.0;
    for (size_t a = 0; a < m; a++) b->g[a] = tilt * b->tilt[a];
    for (size_t k = 0; k < m * m; k++) b->h[k] = tilt * hessian[k];
    for (size_t j = 0; j < x->n; j++) {
        const hfi_mean_model *mean = &x->mean[j];
        if (weight[j] == 0.0) continue;
        lost += fabs(weight[j]) * (mean->remainder + mean->rounding);
        for (size_t a = 0; a < m; a++) {
            b->g[a] += weight[j] * mean->g[a];
            size += fabs(weight[j] * mean->g[a]);
        }
        for (size_t k = 0; k < m * m; k++) {
            b->h[k] += weight[j] * mean->h[k];
            size += fabs(weight[j] * mean->h[k]);
        }
    }
    return hfi_quadratic_lower(m, 1.0, b->g, b->h, x->ball, b->point, predicted, gap, b->work) - lost -
           8.0 * DBL_EPSILON * (double)x->n * size;
}

/* Error of gradient and Hessian when they are taken by quadrature. */
static double slope_error(const hfi_box *x, double moves)
{
    const double n = (double)x->n;
    return 6.0 * x->error * x->most * (n * moves + n * n * x->spread);
}

/* D^3 G [D] : X with the covariance at the centre, for osc a = 1. */
static double third_order(const hfi_box *x)
{
    const double q = (double)x->n - 1.0;
    const double smooth = fmin(HFI_SMOOTH_3, HFI_SMOOTH_3_SAME + (q - 1.0) * HFI_SMOOTH_3_OTHER);
    return fmin(HFI_CUMULANT_4 * x->moves * x->spread, smooth * x->scaled_moves * x->scaled_spread);
}

/* The integral of (1 - t) D^4 G : X X / 4 along S + t X, for osc a = 1. The covariance is at least (1 - t r) S. */
static double fourth_order(const hfi_box *x)
{
    const double q = (double)x->n - 1.0, r = x->scaled_spread;
    const double smooth = fmin(HFI_SMOOTH_4, HFI_SMOOTH_4_SAME + (q - 1.0) * HFI_SMOOTH_4_OTHER);
    const double by_cumulants = 0.125 * HFI_CUMULANT_5 * x->spread * x->spread;
    if (!(r < 0.9)) return by_cumulants;
    const double weight = r > 1e-3 ? (-log1p(-r) - r) / (r * r) : 0.5 + r;
    return fmin(by_cumulants, 0.25 * smooth * r * r * weight * (1.0 + 1e-9));
}

/* The most that the covariance's part can lose when D^3 G [D] : X / 2 + D^4 G : X X / 8 is taken at the centre with
 * linear D and X, instead of both anywhere; for osc a = 1. */
static double fifth_order(const hfi_box *x)
{
    static const double mixed[] = HFI_SMOOTH_4_MIXED, fifth[] = HFI_SMOOTH_5, sixth[] = HFI_SMOOTH_6;
    const size_t differences = x->n > 2 ? 1 : 0; /* two: HFI_TENSOR_CLASSES at most */
    const double q = (double)x->n - 1.0, d = x->scaled_moves, r = x->scaled_spread;
    const double third = fmin(HFI_SMOOTH_3, HFI_SMOOTH_3_SAME + (q - 1.0) * HFI_SMOOTH_3_OTHER),
                 fourth = fmin(HFI_SMOOTH_4, HFI_SMOOTH_4_SAME + (q - 1.0) * HFI_SMOOTH_4_OTHER);
    /* Integrals of (1 - t) / (1 - t r)^2, (1 - t) / (1 - t r)^3 and t (1 - t) / (1 - t r)^3. */
    const double one = r > 1e-2 ? (-log1p(-r) - r) / (r * r) : 0.5 + r, two = 0.5 / (1.0 - r),
                 three = r > 1e-2 ? (two - one) / r : 1.0 / 6.0 + r;
    return (0.5 * third * (x->moves_rest * r + d * x->spread_rest) + 0.25 * fourth * r * x->spread_rest +
            0.25 * mixed[differences] * d * d * r + 0.25 * fifth[differences] * d * r * r * two +
            0.125 * sixth[differences] * r * r * r * three) *
           (1.0 + 1e-9);
}

/* The most that a linear model of means and covariance together can lose. */
static double second_order(const hfi_box *x)
{
    const double square = fmin(HFI_CUMULANT_3 * x->moves * x->moves,
                               HFI_SMOOTH_2 * x->scaled_moves * x->scaled_moves * x->thinner);
    return 0.5 * square + 0.5 * third_order(x) * x->thinner * sqrt(x->thinner) + fourth_order(x);
}

/* The same where the square of the means' linear part is in it too. */
static double all_third_orders(const hfi_box *x)
{
    const double d = x->scaled_moves;
    return fifth_order(x) + HFI_SMOOTH_3_SAME / 6.0 * d * d * d + HFI_SMOOTH_PAIR * x->moves_rest * d;
}

/* The whole of H : X / 2, for osc a = 1. */
static double whole_tilt(const hfi_box *x)
{
    return 0.5 * fmin(HFI_CUMULANT_3 * x->spread, HFI_SMOOTH_PAIR * x->scaled_spread * x->thinner);
}

bool hfi_box_may_do(const hfi_box *x)
{
    if (!(x->enough < (double)INFINITY)) return true;
    double lost = fmin(whole_tilt(x), 0.5 * third_order(x) + fourth_order(x));
    if (hfi_tensors_wanted(x->n) && x->scaled_spread < 0.9) lost = fmin(lost, fifth_order(x));
    return x->here - x->least_osc * lost > x->enough;
}

double hfi_box_by_taylor(hfi_box *x, double *point, double *gap)
{
    const hfi_box_scratch *b = x->b;
    const size_t m = x->m, n = x->n;
    const double *hessian = b->tilt + m;
    double predicted, lost = second_order(x);
    if (x->fine && all_third_orders(x) < lost) {
        lost = all_third_orders(x);
        hessian = b->bent;
        for (size_t a = 0; a < m; a++)
            for (size_t e = 0; e < m; e++) {
                double sum = b->fine[a * m + e];
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < n; j++)
                        sum += x->mean[i].g[a] * b->curve[i * n + j] * x->mean[j].g[e];
                b->bent[a * m + e] = sum;
            }
    }
    const double least = least_of(x, b->w, 1.0, hessian, &predicted, gap);
    memcpy(point, b->point, m * sizeof *point);
    x->predicted = x->base + predicted;
    return x->base + least - x->osc * lost - slope_error(x, x->moves) - 2.0 * x->osc * x->error;
}

/* ---- one class: concavity ---------------------------------------------------------------------------------------- */

/* The covariance's part: either it shifts the mean of the class by Y / w_c, Y about H : X / 2, or its whole
 * size is lost. */
typedef struct shift {
    double tilt;           /* 1 / w_c, or 0 */
    double osc;            /* of the shift */
    double lost;           /* besides */
    const double *hessian; /* of Y */
} shift;

/* Largest size of a quadratic function over the cube, without and with its linear part. */
static double square_size(size_t m, const double *hessian)
{
    double sum = 0.0;
    for (size_t k = 0; k < m * m; k++) sum += 0.5 * fabs(hessian[k]);
    return sum;
}

static double linear_size(size_t m, const double *slope)
{
    double sum = 0.0;
    for (size_t a = 0; a < m; a++) sum += fabs(slope[a]);
    return sum;
}

/* Without third derivatives: H : X / 2 alone. */
static shift plain_shift(const hfi_box *x, size_t c)
{
    const hfi_box_scratch *b = x->b;
    const double w = fabs(b->w[c]), unit = hfi_box_length(x, c),
                 osc = (linear_size(x->m, b->tilt) + square_size(x->m, b->tilt + x->m) + x->tilt_lost) / w;
    const double bent = osc * fmin(HFI_CUMULANT_3 * x->moves, HFI_SMOOTH_PAIR * unit * x->scaled_moves) +
                        0.5 * osc * osc * fmin(HFI_CUMULANT_3, HFI_SMOOTH_2 * unit * unit);
    return (shift){1.0 / w, osc, 0.5 * third_order(x) + fourth_order(x) + bent + slope_error(x, osc),
                   b->tilt + x->m};
}

/* With them, and less what the curvature along the shift makes: D^2 G [D, s] + D^2 G [s, s] / 2, s = Y e_c / w_c. */
static shift fine_shift(const hfi_box *x, size_t c)
{
    const hfi_box_scratch *b = x->b;
    const size_t m = x->m, n = x->n;
    const double w = b->w[c], unit = hfi_box_length(x, c), d = x->scaled_moves;
    for (size_t a = 0; a < m; a++) {
        double row = 0.0;
        for (size_t i = 0; i < n; i++) row += b->curve[c * n + i] * x->mean[i].g[a] / w;
        b->gap[a] = row + 0.5 * b->curve[c * n + c] / (w * w) * b->tilt[a];
    }
    for (size_t a = 0; a < m; a++)
        for (size_t e = 0; e < m; e++)
            b->bent[a * m + e] = b->fine[a * m + e] - b->gap[a] * b->tilt[e] - b->gap[e] * b->tilt[a];
    const double rest = (square_size(m, b->bent) + x->tilt_lost + x->fine_lost) / fabs(w);
    const double osc = rest + linear_size(m, b->tilt) / fabs(w), s = unit * osc;
    const double bent = 0.5 * HFI_SMOOTH_3 * s * (d + s) * (d + s) +
                        HFI_SMOOTH_PAIR * (s * x->moves_rest + unit * rest * (d + s));
    return (shift){1.0 / fabs(w), osc, fifth_order(x) + bent + slope_error(x, osc), b->bent};
}

static shift choose_shift(const hfi_box *x, size_t c)
{
    const hfi_box_scratch *b = x->b;
    shift s = {0.0, 0.0, whole_tilt(x), b->tilt + x->m};
    if (!(fabs(b->w[c]) > 1e-9)) return s;
    const shift plain = plain_shift(x, c);
    if (plain.lost < s.lost) s = plain;
    if (!x->fine) return s;
    const shift fine = fine_shift(x, c);
    return fine.lost < s.lost ? fine : s;
}

/* Least differences of the mean of class c to the others, and of their combination by the gradient: the least
 * of a function with convex sets { P >= t } that grows with each difference is at a vertex of { d_j >= low_j,
 * w'd >= low }. */
double hfi_box_by_vertices(const hfi_box *x, size_t c)
{
    const hfi_box_scratch *b = x->b;
    const size_t n = x->n;
    const shift s = choose_shift(x, c);
    double unused, error = x->error, least = (double)INFINITY;
    double together = least_of(x, b->w, s.tilt * b->w[c], s.hessian, &unused, NULL);
    for (size_t j = 0; j < n; j++) {
        if (j == c) continue;
        memset(b->w2, 0, n * sizeof *b->w2);
        b->w2[c] = 1.0;
        b->w2[j] = -1.0;
        b->low[j] = least_of(x, b->w2, s.tilt, s.hessian, &unused, NULL);
        if (s.tilt == 0.0) {
            const hfi_mean_model *own = &x->mean[c], *other = &x->mean[j];
            b->low[j] = fmax(b->low[j], own->crude_lower - own->value - own->rounding - other->crude_upper +
                                            other->value - other->rounding);
        }
        if (!(b->low[j] >= -1e6)) return -(double)INFINITY;
        together += b->w[j] * b->low[j];
    }
    for (size_t j = 0; j < n; j++) {
        if (j == c) continue;
        for (size_t k = 0; k < n; k++) b->at[k] = x->mean[k].value - (k == c ? 0.0 : b->low[k]);
        if (together > 0.0 && b->w[j] < -1e-12) b->at[j] -= fmin(together / -b->w[j], 1e3);
        const double at = hfi_moments(&x->c->quick, b->at, x->s.here, b->q, NULL, b->moments);
        error = fmax(error, at);
        least = fmin(least, b->q[c]);
        if (!(together > 0.0)) break;
    }
    return least - error - s.lost;
}

/* Where the mean of every class is at a point of the box: scratch->low, from the centre, and scratch->at. */
static void move_means(const hfi_box *x, const double *point)
{
    const hfi_box_scratch *b = x->b;
    const size_t m = x->m;
    for (size_t j = 0; j < x->n; j++) {
        const hfi_mean_model *mean = &x->mean[j];
        double moved = 0.0;
        for (size_t a = 0; a < m; a++) {
            double row = 0.0;
            for (size_t k = 0; k < m; k++) row += mean->h[a * m + k] * point[k];
            moved += (mean->g[a] + 0.5 * row) * point[a];
        }
        b->low[j] = moved;
        b->at[j] = mean->value + moved;
    }
}

/* P_c with the covariance `fixed` and a shift of its mean, above which it is nowhere: its logarithm is
 * concave in the means, so that the tangent at scratch->at, scratch->low from the centre, is above it. `a` is
 * - e_c; infinite where that point tells nothing. */
static double highest_by_tangent(hfi_box *x, size_t c, const double *fixed, const shift *s)
{
    const hfi_box_scratch *b = x->b;
    const size_t n = x->n;
    double offset = 0.0, most = 0.0, unused;
    const double error = hfi_moments(&x->c->quick, b->at, fixed, b->q, b->third2, b->moments), top = b->q[c];
    if (!(top > 100.0 * error)) return (double)INFINITY;
    hfi_moments_slopes(n, b->third2, b->a, b->w2, b->spare);
    for (size_t j = 0; j < n; j++) {
        offset -= b->w2[j] * b->low[j];
        most = fmax(most, fabs(b->low[j]));
    }
    /* b->tilt is that of - P: the shift of the mean is - tilt H : X / 2 of it. */
    const double least = least_of(x, b->w2, -s->tilt * b->w2[c], s->hessian, &unused, NULL);
    const double rise = -least - offset + 6.0 * error * (double)n * (x->moves + s->osc + 2.0 * most);
    return (top + error) * exp(rise / (rise > 0.0 ? top - error : top + error)) * (1.0 + 1e-12);
}

/* The largest: the tangent of log P at the point where the model expects it. `a` is - e_c here, and w the
 * gradient of - P. */
double hfi_box_by_tangent(hfi_box *x, size_t c, const double *point)
{
    const hfi_box_scratch *b = x->b;
    const size_t m = x->m;
    const shift s = choose_shift(x, c);
    double tilt = 0.0;
    for (size_t a = 0; a < m; a++) {
        double row = 0.0;
        for (size_t k = 0; k < m; k++) row += s.hessian[a * m + k] * point[k];
        tilt -= (b->tilt[a] + 0.5 * row) * point[a];
    }
    move_means(x, point);
    b->low[c] += s.tilt * tilt;
    b->at[c] += s.tilt * tilt;
    return -highest_by_tangent(x, c, x->s.here, &s) - s.lost;
}

/* ---- one class: densities ---------------------------------------------------------------------------------------- */

/* Above P_c in the box. The covariance of the differences is between (1 - r) and (1 + r) times that at the
 * centre. Where one covariance is no less than another, no density is more than the other times the root of the
 * quotient of their determinants: P_c <= (det (1 + r) S_0 / det S)^(1/2) P_c(m, (1 + r) S_0). With |Y| <= r, the length
 * of Y = S_0^-1/2 X S_0^-1/2,
 * - log det(1 + Y) <= (q^(1/2) - 1) r - log(1 - r), as the sums of the k-th powers of eigenvalues are at most
 *   r^k. The loss is a share of P_c, however small that is. */
double hfi_box_by_density(hfi_box *x, size_t c)
{
    const hfi_box_scratch *b = x->b;
    const size_t n = x->n, m = x->m;
    const double r = x->scaled_spread, q = (double)n - 1.0;
    const shift none = {0.0, 0.0, 0.0, b->tilt + m};
    double unused;
    if (!(r < 0.9)) return (double)INFINITY;
    const double grown = pow(1.0 + r, 0.5 * q) * exp(0.5 * ((sqrt(q) - 1.0) * r - log1p(-r)));
    for (size_t k = 0; k < n * n; k++) b->wide[k] = (1.0 + r) * x->s.here[k];
    memset(b->a, 0, n * sizeof *b->a);
    b->a[c] = -1.0;
    hfi_moments_slopes(n, b->third, b->a, b->w2, b->spare);
    (void)least_of(x, b->w2, 0.0, none.hessian, &unused, NULL);
    move_means(x, b->point);
    double highest = highest_by_tangent(x, c, b->wide, &none);
    if (!(highest < (double)INFINITY)) {
        /* It grows with each difference to the others. */
        for (size_t j = 0; j < n; j++) b->at[j] = x->mean[j].value + (j == c ? x->moves : 0.0);
        const double error = hfi_moments(&x->c->quick, b->at, b->wide, b->q, NULL, b->moments);
        highest = b->q[c] + error;
    }
    return highest * grown * (1.0 + 1e-9);
}
