/* SPDX-License-Identifier: Apache-2.0 */
/* q(v): natural gradients, its divergence from the prior, its closed form, and the solution it stands for. */
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

enum {
    MOST_HALVINGS = 12
};

static void exchange(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

/* (1 - rho) P + rho (I + scale square) into `spare`, its factor into `another`. */
static hf_status try_precision(hfi_svgp *q, const hfi_svgp_sums *sums, double scale, double rho)
{
    const size_t m = q->m;
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i++)
            q->spare[i + j * m] =
                (1.0 - rho) * q->precision[i + j * m] + rho * scale * sums->square[i + j * m];
        q->spare[j + j * m] += rho;
        memcpy(q->another + j + j * m, q->spare + j + j * m, (m - j) * sizeof(double));
    }
    return hfi_chol(q->ctx, m, q->another, m);
}

hf_status hfi_svgp_natural(hfi_svgp *q, const hfi_svgp_sums *sums, double scale, double rho)
{
    const size_t m = q->m;
    hf_status s = try_precision(q, sums, scale, rho);
    for (int k = 0; s == HF_ERR_NOT_POSITIVE_DEFINITE && k < MOST_HALVINGS; k++) {
        rho *= 0.5;
        s = try_precision(q, sums, scale, rho);
    }
    if (s < 0) return s;
    exchange(&q->precision, &q->spare);
    exchange(&q->lp, &q->another);
    for (size_t j = 0; j < m; j++) {
        q->shift[j] = (1.0 - rho) * q->shift[j] + rho * scale * sums->linear[j];
        q->mu[j] = q->shift[j];
    }
    hfi_chol_solve(m, q->lp, m, q->mu);
    return HF_OK;
}

hf_status hfi_svgp_renew(hfi_svgp *q)
{
    const size_t m = q->m;
    for (size_t j = 0; j < m; j++)
        memcpy(q->lp + j + j * m, q->precision + j + j * m, (m - j) * sizeof(double));
    const hf_status s = hfi_chol(q->ctx, m, q->lp, m);
    if (s < 0) return s;
    memcpy(q->mu, q->shift, m * sizeof *q->mu);
    hfi_chol_solve(m, q->lp, m, q->mu);
    return HF_OK;
}

/* S into `spare`, lower triangle. */
static void covariance(hfi_svgp *q)
{
    memcpy(q->spare, q->lp, q->m * q->m * sizeof(double));
    hfi_chol_inverse(q->ctx, q->m, q->spare, q->m);
}

double hfi_svgp_kl(hfi_svgp *q)
{
    const size_t m = q->m;
    double trace = 0.0;
    covariance(q);
    for (size_t j = 0; j < m; j++) trace += q->spare[j + j * m];
    return 0.5 * (trace + hfi_dot(m, q->mu, q->mu) - (double)m + hfi_chol_logdet(m, q->lp, m));
}

/* sum_ij A_ij B_ij of symmetric matrices, from their lower triangles. */
static double inner(size_t m, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t j = 0; j < m; j++)
        sum += 2.0 * hfi_dot(m - j, a + j + j * m, b + j + j * m) - a[j + j * m] * b[j + j * m];
    return sum;
}

/*
 * For conjugate noise the data term at any q is c + mu'e - (mu'C mu + tr(S C)) / 2, where C and e are the
 * sums and c is what it would be without q; at the optimum P = I + C, P mu = e, the bound is c + e'P^-1 e / 2
 * - log det P / 2.
 */
hf_status hfi_svgp_collapse(hfi_svgp *q, const hfi_svgp_sums *sums, double *bound)
{
    const size_t m = q->m;
    covariance(q);
    const double resolved = inner(m, q->spare, sums->square);
    double *product = q->another;
    hfi_symv(m, sums->square, m, q->mu, product);
    const double constant =
        sums->value - hfi_dot(m, q->mu, sums->linear) + 0.5 * (hfi_dot(m, q->mu, product) + resolved);
    const hf_status s = hfi_svgp_natural(q, sums, 1.0, 1.0);
    if (s < 0) return s;
    *bound = constant + 0.5 * hfi_dot(m, sums->linear, q->mu) - 0.5 * hfi_chol_logdet(m, q->lp, m);
    return HF_OK;
}

/* R = Lu^-T U diag(sqrt(1 - 1/lambda)) with P = U diag(lambda) U'. Where noise that is not log-concave leaves
 * lambda below 1, the readings added to the uncertainty in that direction, which this form cannot say: it
 * takes nothing away. */
static hf_status make_root(hfi_svgp *q, double *r, double *values)
{
    const size_t m = q->m;
    memcpy(r, q->precision, m * m * sizeof *r);
    const hf_status s = hfi_symmetric_eigen(q->ctx, m, r, m, values);
    if (s < 0) return s;
    for (size_t k = 0; k < m; k++) {
        const double root = values[k] > 1.0 ? sqrt((values[k] - 1.0) / values[k]) : 0.0;
        for (size_t j = 0; j < m; j++) r[j + k * m] *= root;
    }
    hfi_chol_backward_block(m, m, q->lu, m, r, m);
    return s;
}

/* max |P mu - shift| in units of |P| |mu| + |shift|. */
static double backward_error(hfi_svgp *q)
{
    const size_t m = q->m;
    double *product = q->spare, error = 0.0, right = 0.0, left = 0.0;
    hfi_symv(m, q->precision, m, q->mu, product);
    for (size_t j = 0; j < m; j++) {
        error = fmax(error, fabs(product[j] - q->shift[j]));
        right = fmax(right, fabs(q->shift[j]));
        left = fmax(left, fabs(q->mu[j]));
    }
    return error > 0.0 ? error / (hfi_symmetric_norm1(m, q->precision, m, product) * left + right) : 0.0;
}

hf_status hfi_svgp_solution(hfi_svgp *q, hfi_solution *out)
{
    const size_t m = q->m;
    hfi_solution made;
    memset(out, 0, sizeof *out);
    hf_status s = hfi_solution_alloc_low_rank(q->ctx, HFI_FORM_DENSE, m, q->d, m, false, &made);
    if (s < 0) return s;
    double *work = hfi_alloc(q->ctx, m, 3 * sizeof *work);
    int *iwork = hfi_alloc(q->ctx, m, sizeof *iwork);
    s = work && iwork ? make_root(q, made.r, work) : HF_ERR_MEMORY;
    if (s >= 0) {
        memcpy(made.z, q->z, m * q->d * sizeof *made.z);
        memcpy(made.t, q->mu, m * sizeof *made.t);
        hfi_chol_backward(m, q->lu, m, made.t);
        made.solver = HF_SOLVER_INDUCING;
        made.jitter = q->jitter;
        made.log_det = hfi_chol_logdet(m, q->lp, m);
        made.condition = hfi_chol_condition(m, q->lu, m, q->norm, work, iwork);
        made.backward = backward_error(q);
        *out = made;
    } else {
        hfi_solution_free(&made);
    }
    HFI_FREE(q->ctx, work, iwork);
    return s;
}
