/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the features of radial kernels: norms of the remainders of their Taylor polynomials. With
 * kappa(s) = psi(tau^2 s^2) the kernel along a line, the functional
 *
 *     L f = f(c + v) - sum_{j <= p} D^j f(c) / j!
 *     |L|^2 = kappa(0) - 2 sum_j (-1)^j kappa^(j)(1) / j! + sum_jk (-1)^k kappa^(j+k)(0) / (j! k!)
 *
 * has its norm in closed form, and grows with tau. Where psi has three derivatives at 0 there is also |L|^2
 * <= -kappa^(2p+2)(0) / ((p+1)!)^2, without cancellation. */
#include "taylor/terms.h"

#include <float.h>
#include <math.h>

/* The degree of the polynomial, and bounds of 2 |psi'| and of 4 psi'' but for rq's; 0: there is none. */
static const struct {
    int degree;
    double slope, curve;
} facts[] = {[HFI_FORM_SE] = {2, 1.0, 1.0},
             [HFI_FORM_MATERN12] = {0, 0.0, 0.0},
             [HFI_FORM_MATERN32] = {1, 3.0, 0.0},
             [HFI_FORM_MATERN52] = {2, 5.0 / 3.0, 25.0 / 3.0},
             [HFI_FORM_RQ] = {2, 1.0, 0.0}};

int hfi_radial_degree(hfi_form form)
{
    return facts[form].degree;
}

double hfi_radial_slope_bound(hfi_form form)
{
    return facts[form].slope;
}

double hfi_radial_square_share(hfi_form form)
{
    return form == HFI_FORM_SE ? 3.0 : 1.6;
}

double hfi_radial_curve_bound(hfi_form form, double alpha)
{
    return form == HFI_FORM_RQ ? (alpha + 1.0) / alpha : facts[form].curve;
}

/* psi, 2 psi', 4 psi'' at one q. */
typedef struct jet {
    double value, slope, curve;
} jet;

static jet psi(hfi_form form, double alpha, double q)
{
    const double one = 1.0;
    jet j;
    hfi_radial_weights(form, alpha, 1, &q, &one, &j.value, &j.slope, &j.curve);
    return j;
}

/* Beyond, powers of tau overflow, and no bound is of use. */
#define TAU_MOST 1e70

/* A bound of |L|^2 without cancellation where psi has no more derivatives at 0 than the polynomial takes, or
 * none is taken: with s the argument of matern's exponential
 * |L|^2 = s^4 (1 - e) / 4 + 2 e (s^5 / 5! + ...) for matern52, s^2 (1 - e) + 2 e (s^3 / 3! + ...) for matern32,
 * e = exp(-s). */
static double small_square(hfi_form form, double u, int degree)
{
    const double up = 1.0 + 16.0 * DBL_EPSILON;
    if (form == HFI_FORM_MATERN12) return 2.0 * sqrt(u) * up;
    if (degree == 0) return hfi_radial_slope_bound(form) * u * up; /* psi is convex */
    if (form == HFI_FORM_MATERN32) return 4.0 / 3.0 * 3.0 * u * sqrt(3.0 * u) * up;
    if (form == HFI_FORM_MATERN52 && degree == 2) return 4.0 / 15.0 * 25.0 * u * u * sqrt(5.0 * u) * up;
    return INFINITY;
}

/* |L|^2 for the polynomial of that degree. */
static double closed_form(hfi_form form, double alpha, double tau, int degree)
{
    const double u = tau * tau;
    const jet at = psi(form, alpha, u);
    double square = 2.0 - 2.0 * at.value, size = 4.0;
    if (degree >= 1) {
        const double slope = u * at.slope, second = u * hfi_radial_slope_bound(form);
        square += 2.0 * slope;
        size += 2.0 * fabs(slope) + second;
        if (degree == 1) square += second;
        if (degree == 2) {
            const double curve = slope + u * u * at.curve,
                         fourth = 0.75 * u * u * hfi_radial_curve_bound(form, alpha);
            square += fourth - curve;
            size += fabs(curve) + fourth;
        }
    }
    return sqrt(fmin(fmax(square, 0.0) + 32.0 * DBL_EPSILON * size, small_square(form, u, degree)));
}

/* E lambda^3 of the Gaussian scale mixture that se and rq are; infinite for the others. */
static double third_moment(hfi_form form, double alpha)
{
    if (form == HFI_FORM_SE) return 1.0;
    if (form == HFI_FORM_RQ) return (alpha + 1.0) * (alpha + 2.0) / (alpha * alpha);
    return INFINITY;
}

double hfi_radial_remainder(hfi_form form, double alpha, double tau)
{
    if (!(tau > 0.0)) return 0.0;
    if (tau > TAU_MOST) return INFINITY;
    const double closed = closed_form(form, alpha, tau, hfi_radial_degree(form));
    const double series = sqrt(third_moment(form, alpha) * (5.0 / 12.0)) * tau * tau * tau;
    return fmin(closed, series) * (1.0 + 16.0 * DBL_EPSILON);
}

double hfi_radial_linear_remainder(hfi_form form, double alpha, double tau)
{
    if (!(tau > 0.0)) return 0.0;
    if (form == HFI_FORM_MATERN12 || tau > TAU_MOST) return INFINITY;
    const double closed = closed_form(form, alpha, tau, 1);
    /* The fourth derivative of kappa is 12 tau^4 times the second of psi at 0. */
    const double fourth = form == HFI_FORM_MATERN32 ? INFINITY : 3.0 * hfi_radial_curve_bound(form, alpha);
    return fmin(closed, 0.5 * sqrt(fourth) * tau * tau) * (1.0 + 16.0 * DBL_EPSILON);
}

double hfi_radial_distance_bound(hfi_form form, double alpha, double tau)
{
    return tau > 0.0 ? closed_form(form, alpha, fmin(tau, TAU_MOST), 0) : 0.0;
}

double hfi_radial_slope_remainder(hfi_form form, double alpha, double tau, double v)
{
    if (form == HFI_FORM_SE || form == HFI_FORM_RQ)
        return 0.5 * v * tau * sqrt(third_moment(form, alpha) * (3.0 * tau * tau + 12.0 * v * v)) *
               (1.0 + 16.0 * DBL_EPSILON);
    if (form != HFI_FORM_MATERN52) return INFINITY;
    return v * sqrt(25.0 / 3.0 * (tau * tau + 2.0 * v * v)) * (1.0 + 16.0 * DBL_EPSILON);
}

/* 8 psi''' r^3 + 12 psi'' r at its largest, term by term; each falls beyond r^2 = 3. */
double hfi_radial_third(hfi_form form, double alpha, double q)
{
    if (!(q >= 3.0)) return INFINITY;
    const double r = sqrt(q), up = 1.0 + 64.0 * DBL_EPSILON;
    const jet at = psi(form, alpha, q);
    switch (form) {
    case HFI_FORM_SE:
        return at.value * r * (q + 3.0) * up;
    case HFI_FORM_RQ:
        return at.curve * r * (3.0 + (alpha + 2.0) / alpha * q / (1.0 + q / (2.0 * alpha))) * up;
    case HFI_FORM_MATERN52:
        return at.curve * (sqrt(5.0) * q + 3.0 * r) * up;
    default:
        return INFINITY;
    }
}

double hfi_radial_third_size(hfi_form form, double alpha, double q)
{
    const double most = form == HFI_FORM_SE ? 1.3802 : 2.9797;
    return q < 3.0 ? most : fmin(most, hfi_radial_third(form, alpha, q));
}
