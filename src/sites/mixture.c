/* SPDX-License-Identifier: Apache-2.0 */
/* EM for (1 - pi) T_nu(0, tau) + pi U(window).
 *
 * With u = 1 / (1 + t^2 / (nu tau^2)) the Student-t density is (c_nu / tau) u^((nu+1)/2), and for the degrees
 * of freedom in use that power takes square roots only: a step costs one division per residual, which is
 * what makes it possible to try hundreds of mixtures on every flagging round. */
#include "sites/mixture.h"

#include <math.h>

static const double NU[HFI_NU_COUNT] = {1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0};

/* The share of outliers is kept off zero, where EM could not leave it, and at half, where the two parts would
 * change roles. */
static const double SMALLEST_PI = 1e-12;
static const double LARGEST_PI = 0.5;

/* Ties would collapse the inlier density onto themselves; this many scales is as narrow as it gets. */
static const double SMALLEST_TAU = 1e-3;

/* EM has arrived when a step changes log tau and pi by less. */
static const double STEP_TOLERANCE = 1e-10;

/* Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(nu pi)); tgamma, since lgamma writes a global. */
static double normaliser(size_t nu)
{
    return tgamma(0.5 * (NU[nu] + 1.0)) / (tgamma(0.5 * NU[nu]) * sqrt(NU[nu] * HFI_PI));
}

/* u^((nu + 1) / 2). */
static inline double tail(double u, size_t nu)
{
    double u2 = u * u, u5 = u2 * u2 * u;
    switch (nu) {
    case 0:
        return u;
    case 1:
        return u * sqrt(sqrt(u));
    case 2:
        return u * sqrt(u);
    case 3:
        return u2;
    case 4:
        return u2 * u;
    case 5:
        return u5 * sqrt(u);
    default:
        return u5 * u5 * u5 * sqrt(u);
    }
}

/* The outliers' density at t inside the window, where `level` is that of log |t| or of t. */
static inline double outlying(const hfi_window *window, double level, double t)
{
    return window->log_uniform ? level / fabs(t) : level;
}

/* Sums over the residuals of r, r u and r u t^2, where r is the probability of being an inlier. */
typedef struct mixture_sums {
    double r, u, ut2;
} mixture_sums;

/* Residuals outside the window: r = 1. */
static void add_inliers(const double *t, size_t begin, size_t end, double inverse_nu_tau2, mixture_sums *s)
{
    double u_sum = 0.0, ut2_sum = 0.0;
    for (size_t i = begin; i < end; i++) {
        double t2 = t[i] * t[i], u = 1.0 / (1.0 + t2 * inverse_nu_tau2);
        u_sum += u;
        ut2_sum += u * t2;
    }
    if (end > begin) s->r += (double)(end - begin);
    s->u += u_sum;
    s->ut2 += ut2_sum;
}

/* Residuals inside: r = tail / (tail + odds), odds = pi o / ((1 - pi) c_nu / tau). */
static void add_window(const double *t, size_t begin, size_t end, double inverse_nu_tau2, size_t nu,
                       double odds, const hfi_window *window, mixture_sums *s)
{
    for (size_t i = begin; i < end; i++) {
        double t2 = t[i] * t[i], u = 1.0 / (1.0 + t2 * inverse_nu_tau2), p = tail(u, nu);
        double r = p / (p + outlying(window, odds, t[i]));
        s->r += r;
        s->u += r * u;
        s->ut2 += r * u * t2;
    }
}

/* One step of EM in its parameter-expanded form (Liu, Rubin and Wu 1998): tau^2 = sum(r u t^2) / sum(r u)
 * where plain EM divides by sum(r). Same fixed points, still monotone, several times faster. */
static double step_mixture_em(const hfi_residuals *residuals, hfi_mixture *m)
{
    size_t n = residuals->n, left = m->pi > 0.0 ? m->window.left_end : 0;
    size_t right = m->pi > 0.0 ? m->window.right_begin : n;
    double inverse = 1.0 / (NU[m->nu] * m->tau * m->tau);
    double odds = m->pi * m->window.density * m->tau / ((1.0 - m->pi) * m->peak);
    mixture_sums s = {0};
    add_window(residuals->t, 0, left, inverse, m->nu, odds, &m->window, &s);
    add_inliers(residuals->t, left, right, inverse, &s);
    add_window(residuals->t, right, n, inverse, m->nu, odds, &m->window, &s);
    double tau = fmax(sqrt(s.ut2 / s.u), SMALLEST_TAU);
    double pi = m->pi > 0.0 ? fmin(fmax(1.0 - s.r / (double)n, SMALLEST_PI), LARGEST_PI) : 0.0;
    double change = fmax(fabs(tau / m->tau - 1.0), fabs(pi - m->pi));
    m->tau = tau;
    m->pi = pi;
    return change;
}

/* Log likelihood of the residuals, in their units, under the mixture. */
static double likelihood_of(const hfi_residuals *residuals, const hfi_mixture *m)
{
    double inlier = (1.0 - m->pi) * m->peak / m->tau, outlier = m->pi * m->window.density;
    double inverse = 1.0 / (NU[m->nu] * m->tau * m->tau), total = 0.0;
    for (size_t i = 0; i < residuals->n; i++) {
        double t = residuals->t[i], p = inlier * tail(1.0 / (1.0 + t * t * inverse), m->nu);
        if (i < m->window.left_end || i >= m->window.right_begin) p += outlying(&m->window, outlier, t);
        total += log(p);
    }
    return total;
}

static void climb_mixture_likelihood(const hfi_residuals *residuals, hfi_mixture *m, int steps)
{
    for (int i = 0; i < steps; i++)
        if (step_mixture_em(residuals, m) < STEP_TOLERANCE) break;
    m->log_likelihood = likelihood_of(residuals, m);
}

hfi_mixture hfi_mixture_inliers(const hfi_residuals *residuals, size_t nu)
{
    hfi_mixture m = {.nu = nu, .peak = normaliser(nu), .tau = 1.0, .window = {.right_begin = residuals->n}};
    if (residuals->n > 0) climb_mixture_likelihood(residuals, &m, 200);
    return m;
}

hfi_mixture hfi_mixture_fit(const hfi_residuals *residuals, size_t nu, const hfi_window *window, double pi,
                            int steps)
{
    hfi_mixture m = {.nu = nu, .peak = normaliser(nu), .tau = 1.0, .window = *window};
    m.pi = fmin(fmax(pi, SMALLEST_PI), LARGEST_PI);
    climb_mixture_likelihood(residuals, &m, steps);
    return m;
}

double hfi_mixture_probability(const hfi_residuals *residuals, const hfi_mixture *m, double t)
{
    t /= residuals->scale;
    if (fabs(t) > residuals->furthest) return 1.0;
    bool inside = (m->window.left && t <= -m->window.from) || (m->window.right && t >= m->window.from);
    if (!inside || m->pi == 0.0) return 0.0;
    double inverse = 1.0 / (NU[m->nu] * m->tau * m->tau);
    double inlier = (1.0 - m->pi) * m->peak / m->tau * tail(1.0 / (1.0 + t * t * inverse), m->nu);
    double outlier = outlying(&m->window, m->pi * m->window.density, t);
    return outlier / (outlier + inlier);
}

void hfi_mixture_report(const hfi_residuals *residuals, const hfi_mixture *mixture, size_t n, const double *t,
                        const bool *skip, double *probability, double *tau)
{
    for (size_t i = 0; i < n; i++)
        probability[i] = skip != NULL && skip[i] ? 1.0 : hfi_mixture_probability(residuals, mixture, t[i]);
    *tau = mixture->tau * residuals->scale;
}
