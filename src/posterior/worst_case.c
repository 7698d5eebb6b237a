/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest error of a projection over all functions of a ball (Proposition 4.2, Corollary E.1, F.2 and F.3 of the
 * RCaGP paper). With Kw = K + D, C = A (A'Kw A)^-1 A' = R R' and r = z - m,
 *
 *     M = Kw^-1 - C >= 0,      M Kw M = M
 *
 * so that, v = Kw^-1 r, the distance of the representer weights is |v - C r|^2_Kw = r'Mr. It is the part of
 * |v|^2_Kw = r'v that was not computed: rho^2 is their quotient. Taken from v - C r itself, it is small to the last
 * digit where r'v - r'C r is not.
 */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>

/* |w|_K: w'Kw, white noise left out, which belongs to D. */
static hf_status norm_in_kernel(hf_context *ctx, const hf_posterior *p, const double *w, double *room,
                                double *result)
{
    const hfi_solution *s = &p->solution;
    hf_status status =
        hfi_kernel_dense_product(ctx, p->kernel, s->n, s->z, s->d, 1, w, s->n, HFI_DOUBLE, room, s->n);
    if (status >= 0) *result = sqrt(fmax(hfi_dot(s->n, w, room), 0.0));
    return status;
}

/* sqrt(1 + largest d / smallest eigenvalue of K): infinite where K is singular to rounding. */
static hf_status find_factor(hf_context *ctx, const hf_posterior *p, double *room, double *factor)
{
    const hfi_solution *s = &p->solution;
    hf_status status =
        hfi_require_memory(ctx, "the eigenvalues", s->n, 2.0 * 8.0 * (double)s->n * (double)s->n);
    if (status < 0) return status;
    double *k = hfi_alloc(ctx, s->n, s->n * sizeof *k);
    if (k == NULL) return HF_ERR_MEMORY;
    status = hfi_kernel_gram_lower(ctx, p->kernel, s->n, s->z, s->d, k, s->n);
    double most = 0.0;
    hfi_kernel_diagonal(p->kernel, s->n, s->z, s->d, false, room);
    for (size_t i = 0; i < s->n && status >= 0; i++) {
        const double white = fmax(k[i * (s->n + 1)] - room[i], 0.0);
        most = fmax(most, s->variance[i] + white);
        k[i * (s->n + 1)] = room[i];
    }
    if (status >= 0) status = hfi_symmetric_eigen(ctx, s->n, k, s->n, room);
    hfi_free(ctx, k);
    if (status < 0) return status;
    double least = room[0], largest = room[0];
    for (size_t i = 1; i < s->n; i++) {
        least = fmin(least, room[i]);
        largest = fmax(largest, room[i]);
    }
    const double rounding = (double)s->n * 2.220446049250313e-16 * largest;
    *factor = least > rounding ? sqrt(1.0 + most / least) : INFINITY;
    return HF_OK;
}

/* |w|^2 in D, with the white noise of the kernel. `room`: 2 n entries. */
static double square_in_noise(const hf_posterior *p, const double *w, double *room)
{
    const hfi_solution *s = &p->solution;
    double *plain = room + s->n, sum = 0.0;
    hfi_kernel_diagonal(p->kernel, s->n, s->z, s->d, true, room);
    hfi_kernel_diagonal(p->kernel, s->n, s->z, s->d, false, plain);
    for (size_t i = 0; i < s->n; i++) sum += w[i] * w[i] * (s->variance[i] + fmax(room[i] - plain[i], 0.0));
    return sum;
}

/* Everything but the factor. `t`: v = Kw^-1 r; `room`: 3 n entries. */
static hf_status measure_projection_error(hf_context *ctx, const hf_posterior *p, const double *t,
                                          double *room, hf_projection_error *e)
{
    const hfi_solution *s = &p->solution;
    const bool exact = s->form == HFI_FORM_EXACT;
    double *difference = room + 2 * s->n;
    hf_status status = norm_in_kernel(ctx, p, t, room, &e->mean_norm);
    for (size_t i = 0; i < s->n; i++) difference[i] = exact ? 0.0 : t[i] - s->t[i];
    if (status >= 0) status = norm_in_kernel(ctx, p, difference, room, &e->mean_error);
    if (status < 0) return status;
    e->norm = sqrt(e->mean_norm * e->mean_norm + square_in_noise(p, t, room));
    e->remaining = sqrt(e->mean_error * e->mean_error + square_in_noise(p, difference, room));
    e->rho = e->norm > 0.0 ? e->remaining / e->norm : 0.0;
    return HF_OK;
}

/* The exact weights: the posterior's own, or a factor's made for the purpose. */
static hf_status with_exact(hf_context *ctx, const hf_posterior *p, bool factor, hf_projection_error *e)
{
    hfi_solution exact = p->solution;
    double *room = hfi_alloc(ctx, p->solution.n, 3 * sizeof *room);
    if (room == NULL) return HF_ERR_MEMORY;
    const bool made = p->solution.form != HFI_FORM_EXACT;
    hf_status status = made ? hfi_solve_exactly(ctx, p, &exact) : HF_OK;
    if (status >= 0) {
        status = hfi_worse(measure_projection_error(ctx, p, exact.t, room, e), status);
        if (made) hfi_free(ctx, exact.t);
        if (made) hfi_free(ctx, exact.factor);
    }
    e->factor = NAN;
    if (status >= 0 && factor) status = hfi_worse(find_factor(ctx, p, room, &e->factor), status);
    e->bound = e->rho == 0.0 || e->mean_norm == 0.0 ? 0.0 : e->rho * e->factor * e->mean_norm;
    hfi_free(ctx, room);
    return status;
}

hf_status hf_projected_error(hf_context *ctx, const hf_posterior *posterior, bool factor,
                             hf_projection_error *out)
{
    hf_status status = hfi_need_readings(ctx, posterior, "bound on what was not computed");
    if (status < 0) return status;
    if (out == NULL) return hfi_refuse(ctx, "hf_projected_error: the result is NULL");
    hf_projection_error e = {0};
    status = with_exact(ctx, posterior, factor, &e);
    if (status >= 0) *out = e;
    return status;
}

/* sqrt(latent + noise), without calibration. */
static void add_noise(const hf_posterior *p, size_t m, const double *x, size_t ldx, double *total)
{
    const hfi_scaling *scaling = &p->scaling;
    for (size_t q = 0; q < m; q++) {
        const size_t output = hfi_scaling_output(scaling, x + q * ldx);
        const double noise = hfi_scaling_variance(scaling, output, hfi_posterior_noise(p, output));
        total[q] = sqrt(total[q] + noise);
    }
}

hf_status hf_predict_worst_case(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                                size_t ldx, double *total, double *part)
{
    hf_status status = hfi_need_readings(ctx, posterior, "worst case");
    if (status < 0) return status;
    if (m > 0 && total == NULL) return hfi_refuse(ctx, "hf_predict_worst_case: total is NULL");
    double *work = hfi_alloc(ctx, m + 1, 3 * sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    double *mean = work, *latent = work + m, *missing = work + 2 * m;
    status = hf_predict(ctx, posterior, m, x, ldx, mean, latent, NULL);
    if (status >= 0 && part != NULL)
        status = hfi_worse(hf_predict_computational(ctx, posterior, m, x, ldx, missing), status);
    if (status >= 0) {
        add_noise(posterior, m, x, ldx, latent);
        for (size_t q = 0; q < m; q++) total[q] = latent[q];
        for (size_t q = 0; q < m && part != NULL; q++) part[q] = sqrt(missing[q]);
    }
    hfi_free(ctx, work);
    return status;
}
