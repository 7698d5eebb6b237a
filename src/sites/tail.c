/* SPDX-License-Identifier: Apache-2.0 */
/* A Student-t tail from residuals. */
#include "sites/tail.h"
#include "sites/student.h"
#include <float.h>
#include <math.h>

/* The prior of log nu; sd 1 is a factor of e either way. */
static const double prior_nu = 8.0, prior_sd = 1.0;

/* Degrees of freedom looked at: from no variance to nearly normal. */
static const double least_nu = 1.0, most_nu = 64.0;

/* Standard deviations of log scale that are looked at. */
static const double reach = 4.0;

/* The continued fraction of I_x(a, b) by Lentz' method, for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 500; m++) {
        const double k = (double)m;
        const double term[2] = {k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k)),
                                -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0))};
        double change = 1.0;
        for (int j = 0; j < 2; j++) {
            d = 1.0 + term[j] * d;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = 1.0 + term[j] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            f *= change;
        }
        if (fabs(change - 1.0) < 1e-15) break;
    }
    return f;
}

/* Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(nu pi)). */
static double density_at_zero(double nu)
{
    return exp(hfi_student_make(nu).constant);
}

/* P(|T| > x) under nu > 0 degrees of freedom, `peak` the density at 0, by the continued fraction of the regularised
 * incomplete beta function I_(nu / (nu + x^2))(nu / 2, 1/2): relative accuracy 1e-12, also far out. */
static double student_beyond(double x, double nu, double peak)
{
    if (!(x > 0.0)) return 1.0;
    if (isinf(x)) return 0.0;
    const double a = 0.5 * nu, b = 0.5, u = x * x / nu;
    const double z = 1.0 / (1.0 + u), rest = u / (1.0 + u); /* z + rest = 1 */
    /* z^a (1 - z)^b / B(a, b), with 1 / B(nu/2, 1/2) = sqrt(nu) times the density at 0. */
    const double front = exp(-a * log1p(u)) * sqrt(rest) * sqrt(nu) * peak;
    if (z < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(z, a, b) / a;
    return 1.0 - front * beta_fraction(rest, b, a) / b;
}

/* The scale of largest likelihood for nu, by expectation maximisation in its parameter-expanded form, from
 * *scale on. */
static void find_scale(size_t n, const double *t, double nu, double *scale)
{
    double s2 = *scale * *scale;
    for (int round = 0; round < 200; round++) {
        double u = 0.0, ut2 = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double t2 = t[i] * t[i], w = 1.0 / (1.0 + t2 / (nu * s2));
            u += w;
            ut2 += w * t2;
        }
        const double next = fmax(ut2 / u, DBL_MIN), change = fabs(next / s2 - 1.0);
        s2 = next;
        if (change < 1e-8) break;
    }
    *scale = sqrt(s2);
}

/* `peak`: the density at 0. */
static double log_posterior(size_t n, const double *t, double nu, double peak, double scale)
{
    const double off = log(nu / prior_nu) / prior_sd;
    double sum = (double)n * log(peak / scale) - 0.5 * off * off;
    for (size_t i = 0; i < n; i++) {
        const double z = t[i] / scale;
        sum -= 0.5 * (nu + 1.0) * log1p(z * z / nu);
    }
    return sum;
}

/* sd of log scale: of a t distribution with known nu, n residuals have the information 2 n nu / (nu + 3). */
static double spread(size_t n, double nu)
{
    return sqrt((nu + 3.0) / (2.0 * nu * (double)n));
}

static void weigh_tail_grid(size_t n, const double *t, double scale, hfi_tail *out)
{
    double best = -INFINITY, sum = 0.0;
    for (size_t a = 0; a < HFI_TAIL_NU; a++) {
        const double place = (double)a / (HFI_TAIL_NU - 1), nu = least_nu * pow(most_nu / least_nu, place);
        const double sd = spread(n, nu), peak = density_at_zero(nu);
        find_scale(n, t, nu, &scale);
        out->nu[a] = nu;
        for (size_t b = 0; b < HFI_TAIL_SCALES; b++) {
            const double off = 2.0 * (double)b / (HFI_TAIL_SCALES - 1) - 1.0;
            out->scale[a][b] = scale * exp(reach * sd * off);
            /* The grid's step in log scale is sd times a constant. */
            out->weight[a][b] = log_posterior(n, t, nu, peak, out->scale[a][b]) + log(sd);
            best = fmax(best, out->weight[a][b]);
        }
    }
    for (size_t a = 0; a < HFI_TAIL_NU; a++)
        for (size_t b = 0; b < HFI_TAIL_SCALES; b++) sum += out->weight[a][b] = exp(out->weight[a][b] - best);
    for (size_t a = 0; a < HFI_TAIL_NU; a++)
        for (size_t b = 0; b < HFI_TAIL_SCALES; b++) out->weight[a][b] /= sum;
}

hf_status hfi_tail_fit(hf_context *ctx, size_t n, const double *t, hfi_tail *out)
{
    *out = (hfi_tail){.n = n};
    double *size = hfi_alloc(ctx, n, sizeof *size), squares = 0.0;
    if (!size) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) size[i] = fabs(t[i]);
    if (n > 0) (void)hfi_median(size, n); /* sorts */
    for (size_t i = 0; i < n; i++) squares += size[i] * size[i];
    if (squares > 0.0) weigh_tail_grid(n, size, sqrt(squares / (double)n), out);
    hfi_free(ctx, size);
    return HF_OK;
}

double hfi_tail_chance(const hfi_tail *tail, double t, size_t looks)
{
    if (!(tail->nu[0] > 0.0)) return tail->n > 0 && fabs(t) > 0.0 ? 0.0 : 1.0;
    double beyond = 0.0;
    for (size_t a = 0; a < HFI_TAIL_NU; a++) {
        const double nu = tail->nu[a], peak = density_at_zero(nu);
        for (size_t b = 0; b < HFI_TAIL_SCALES; b++)
            beyond += tail->weight[a][b] * student_beyond(fabs(t) / tail->scale[a][b], nu, peak);
    }
    return fmin(1.0, (double)looks * beyond);
}
