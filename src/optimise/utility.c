/* SPDX-License-Identifier: Apache-2.0 */
/* The expectation of log softplus, or the logarithm of that of softplus, by quadrature for one point and by
 * quasi-random draws for several. */
#include "optimise/eulbo.h"

#include "core/normal.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* Share of the largest variance that is added to all of them, so that points next to each other have a factor. */
static const double least_share = 1e-9;

/* Nodes and weights for a standard normal variable: Newton's iteration from above each root of the Hermite
 * polynomial, the roots found so far divided out. */
static void make_rule(double *node, double *weight)
{
    const size_t n = HFI_UTILITY_NODES;
    double start = sqrt(4.0 * (double)n + 2.0); /* above the largest root */
    for (size_t i = 0; i < n / 2; i++) {
        double x = start, slope = 1.0;
        for (int step = 0; step < 200; step++) {
            /* Orthonormal polynomials of exp(-x^2 / 2): x p_k = sqrt(k + 1) p_k+1 + sqrt(k) p_k-1, p_n' =
             * sqrt(n) p_n-1. */
            double before = 0.0, p = 1.0, deflation = 0.0;
            for (size_t k = 0; k < n; k++) {
                const double next = (x * p - sqrt((double)k) * before) / sqrt((double)k + 1.0);
                before = p;
                p = next;
            }
            slope = sqrt((double)n) * before;
            for (size_t j = 0; j < i; j++) deflation += 1.0 / (x - node[j]) + 1.0 / (x + node[j]);
            const double move = p / (slope - p * deflation);
            x -= move;
            if (fabs(move) <= 1e-15 * fabs(x)) break;
        }
        node[i] = x;
        node[n - 1 - i] = -x;
        weight[i] = weight[n - 1 - i] = 1.0 / (slope * slope); /* slope is p_n' there */
        start = x + 0.1;                                       /* at the root itself the quotient is 0 / 0 */
    }
}

/* Points of a box of `count` sides, each to the quantile of that share. */
static hf_status make_normals(hfi_utility *u)
{
    double *bounds = hfi_alloc(u->ctx, u->count, 2 * sizeof *bounds);
    if (bounds == NULL) return HF_ERR_MEMORY;
    for (size_t a = 0; a < u->count; a++) bounds[u->count + a] = 1.0;
    const hf_domain cube = {.dimension = u->count, .lower = bounds, .upper = bounds + u->count};
    hf_domain_quasirandom(&cube, 0, u->draws, u->normals);
    for (size_t k = 0; k < u->draws * u->count; k++)
        u->normals[k] = hfi_normal_quantile(fmin(fmax(u->normals[k], 1e-12), 1.0 - 1e-12));
    hfi_free(u->ctx, bounds);
    return HF_OK;
}

hf_status hfi_utility_init(hf_context *ctx, size_t count, size_t draws, hfi_utility *out)
{
    *out = (hfi_utility){
        .ctx = ctx, .expected_log = true, .unit = 1.0, .count = count, .draws = count > 1 ? draws : 0};
    make_rule(out->node, out->weight);
    if (count == 1) return HF_OK;
    out->normals = hfi_alloc_product(ctx, out->draws, count, sizeof *out->normals);
    out->room = hfi_alloc(ctx, 3 * count * count + out->draws, sizeof *out->room);
    const hf_status status = out->normals != NULL && out->room != NULL ? make_normals(out) : HF_ERR_MEMORY;
    if (status < 0) hfi_utility_free(out);
    return status;
}

void hfi_utility_free(hfi_utility *utility)
{
    HFI_FREE(utility->ctx, utility->normals, utility->room);
    memset(utility, 0, sizeof *utility);
}

double hfi_log_softplus(double r, double *slope)
{
    if (r < -36.0) { /* softplus is exp(r) - exp(2 r) / 2 + ... */
        if (slope != NULL) *slope = 1.0 - 0.5 * exp(r);
        return r - 0.5 * exp(r);
    }
    const double softplus = r > 0.0 ? r + log1p(exp(-r)) : log1p(exp(r));
    if (slope != NULL) *slope = 1.0 / ((1.0 + exp(-r)) * softplus);
    return log(softplus);
}

/* Its second derivative. */
static double curvature_at(double r)
{
    double slope;
    (void)hfi_log_softplus(r, &slope);
    return slope * (1.0 / (1.0 + exp(r)) - slope);
}

double hfi_utility_sum(const hfi_utility *u, size_t count, const double *weight, const double *logs,
                       double *share)
{
    const double equal = 1.0 / (double)count;
    double largest = -INFINITY, sum = 0.0;
    if (!u->expected_log)
        for (size_t k = 0; k < count; k++) largest = fmax(largest, logs[k]);
    for (size_t k = 0; k < count; k++) {
        const double w = weight != NULL ? weight[k] : equal;
        const double term = u->expected_log ? w : w * exp(logs[k] - largest);
        sum += u->expected_log ? w * logs[k] : term;
        if (share != NULL) share[k] = term;
    }
    if (u->expected_log) return sum;
    for (size_t k = 0; share != NULL && k < count; k++) share[k] /= sum;
    return largest + log(sum);
}

double hfi_utility_single(const hfi_utility *u, double mean, double variance, double *by_mean,
                          double *by_variance)
{
    const double sd = sqrt(variance), r = (mean - u->best) / u->unit;
    double logs[HFI_UTILITY_NODES], slope[HFI_UTILITY_NODES], of_mean = 0.0, of_sd = 0.0;
    for (size_t k = 0; k < HFI_UTILITY_NODES; k++)
        logs[k] = hfi_log_softplus(r + sd / u->unit * u->node[k], &slope[k]);
    const double value = hfi_utility_sum(u, HFI_UTILITY_NODES, u->weight, logs, logs);
    for (size_t k = 0; k < HFI_UTILITY_NODES; k++) {
        of_mean += logs[k] * slope[k];
        of_sd += logs[k] * u->node[k] * slope[k];
    }
    *by_mean = of_mean / u->unit;
    /* The limit where sd is next to nothing: the nodes' second moment is 1. */
    const double square = u->expected_log ? 0.0 : of_mean * of_mean;
    *by_variance =
        0.5 * (sd > 1e-7 * u->unit ? of_sd * u->unit / sd : curvature_at(r) + square) / (u->unit * u->unit);
    return value;
}

/* ---- several points ---------------------------------------------------------------------------------------------- */

typedef struct raised_covariance {
    const double *cov;
    size_t n;
    double added;
} raised_covariance;

static hf_status fill_raised_covariance(void *arg, double *a, size_t lda)
{
    const raised_covariance *f = arg;
    for (size_t j = 0; j < f->n; j++)
        for (size_t i = j; i < f->n; i++) a[i + j * lda] = f->cov[i + j * f->n] + (i == j ? f->added : 0.0);
    return HF_OK;
}

static hf_status factor_raised_covariance(const hfi_utility *u, const double *cov, double *l)
{
    const size_t n = u->count;
    double largest = 0.0, jitter;
    for (size_t a = 0; a < n; a++) largest = fmax(largest, cov[a + a * n]);
    if (!(largest > 0.0)) largest = 1e-300;
    raised_covariance f = {.cov = cov, .n = n, .added = least_share * largest};
    return hfi_chol_jitter(u->ctx, n, l, n, largest, fill_raised_covariance, &f, &jitter);
}

/* cov_bar = L^-T (P + P') L^-1 / 2, P the lower triangle of L' L_bar with half its diagonal (Murray 2016). */
static void factor_adjoint(size_t n, const double *l, const double *l_bar, double *p, double *cov_bar)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0.0;
            for (size_t k = i; k < n; k++) sum += l[k + i * n] * l_bar[k + j * n];
            p[i + j * n] = p[j + i * n] = 0.5 * sum; /* P + P', halved */
        }
    hfi_chol_backward_block(n, n, l, n, p, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) cov_bar[j + i * n] = p[i + j * n];
    hfi_chol_backward_block(n, n, l, n, cov_bar, n);
}

/* Which point is largest in a draw, and its value. */
static size_t largest_point(const hfi_utility *u, const double *mean, const double *l, const double *e,
                            double *value)
{
    const size_t n = u->count;
    size_t best = 0;
    for (size_t a = 0; a < n; a++) {
        double f = mean[a];
        for (size_t k = 0; k <= a; k++) f += l[a + k * n] * e[k];
        if (a > 0 && !(f > *value)) continue;
        *value = f;
        best = a;
    }
    return best;
}

hf_status hfi_utility_add(void *arg, size_t n, const double *mean, const double *cov, double *value,
                          double *mean_bar, double *cov_bar)
{
    const hfi_utility *u = arg;
    if (n == 1) {
        *value = hfi_utility_single(u, mean[0], cov[0], mean_bar, cov_bar);
        return HF_OK;
    }
    double *l = u->room, *l_bar = l + n * n, *p = l_bar + n * n, *share = p + n * n;
    const hf_status status = factor_raised_covariance(u, cov, l);
    if (status < 0) return status;
    memset(l_bar, 0, n * n * sizeof *l_bar);
    memset(mean_bar, 0, n * sizeof *mean_bar);
    for (size_t s = 0; s < u->draws; s++) {
        double f = 0.0;
        (void)largest_point(u, mean, l, u->normals + s * n, &f);
        share[s] = hfi_log_softplus((f - u->best) / u->unit, NULL);
    }
    *value = hfi_utility_sum(u, u->draws, NULL, share, share);
    for (size_t s = 0; s < u->draws; s++) {
        const double *e = u->normals + s * n;
        double f = 0.0, slope;
        const size_t a = largest_point(u, mean, l, e, &f);
        (void)hfi_log_softplus((f - u->best) / u->unit, &slope);
        slope *= share[s] / u->unit;
        mean_bar[a] += slope;
        for (size_t k = 0; k <= a; k++) l_bar[a + k * n] += slope * e[k];
    }
    factor_adjoint(n, l, l_bar, p, cov_bar);
    return HF_OK;
}
