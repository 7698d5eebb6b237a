/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far one reading moves an inducing posterior.
 *
 * The posterior is a normal u at the inducing inputs and the prior given u everywhere else, so that the
 * divergence over all of f is that over u. A reading's site sees u through q = k_x'Kuu^-1 u alone: two
 * normals on the line again (influence.c), with the site's variance that of the reading given q. The
 * posterior of q has the variance
 *
 *     h = k'Kuu^-1 k - k'S k,      without the reading's site h / (1 - h / d).
 */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>

/* The posterior's knowledge of f(x) through the inducing inputs. */
typedef struct resolved {
    double mean;     /* less the prior mean */
    double prior;    /* k'Kuu^-1 k */
    double variance; /* h */
    double left;     /* k(x, x) less that, white noise left out */
    double white;
} resolved;

/* Kuu as the solver had it. `work`: m entries. */
static hf_status factor_inducing(hf_context *ctx, const hf_posterior *p, double *k, double *work)
{
    const hfi_solution *s = &p->solution;
    const hf_status status = hfi_kernel_gram_lower(ctx, p->kernel, s->n, s->z, s->d, k, s->n);
    if (status < 0) return status;
    hfi_kernel_diagonal(p->kernel, s->n, s->z, s->d, false, work);
    for (size_t j = 0; j < s->n; j++) k[j * (s->n + 1)] = work[j] + s->jitter;
    return hfi_chol(ctx, s->n, k, s->n);
}

static hf_status resolve(hf_context *ctx, const hf_posterior *p, const double *x, resolved *out)
{
    const hfi_solution *s = &p->solution;
    const size_t m = s->n;
    double *k = hfi_alloc(ctx, m, m * sizeof *k), *column = hfi_alloc(ctx, m, 2 * sizeof *column);
    double *scratch =
        hfi_alloc(ctx, hfi_kernel_scratch(p->kernel) + hfi_solution_room(s, 1) + 1, sizeof *scratch);
    hf_status status = k && column && scratch ? factor_inducing(ctx, p, k, column) : HF_ERR_MEMORY;
    if (status >= 0) {
        double *whitened = column + m, diagonal = 0.0, white = 0.0;
        size_t ld;
        hfi_kernel_cross_block(p->kernel, 1, x, s->d, m, s->z, s->d, column, m, scratch);
        hfi_kernel_diagonal(p->kernel, 1, x, s->d, false, &diagonal);
        hfi_kernel_diagonal(p->kernel, 1, x, s->d, true, &white);
        for (size_t j = 0; j < m; j++) whitened[j] = column[j];
        hfi_chol_forward(m, k, m, whitened);
        out->prior = fmin(hfi_dot(m, whitened, whitened), diagonal);
        out->left = diagonal - out->prior;
        out->white = fmax(white - diagonal, 0.0);
        out->mean = hfi_dot(m, column, s->t);
        const double *seen =
            hfi_solution_whiten(s, 1, column, m, scratch + hfi_kernel_scratch(p->kernel), &ld);
        out->variance = hfi_variance_clamp(out->prior - hfi_dot(hfi_solution_rank(s), seen, seen));
    }
    HFI_FREE(ctx, k, column, scratch);
    return status;
}

static hf_status check_inducing_influence(hf_context *ctx, const hf_posterior *p, hf_inducing_method method,
                                          const double *x, const double *kl)
{
    if (p == NULL || x == NULL || kl == NULL)
        return hfi_refuse(ctx, "hf_influence_inducing: %s is NULL",
                          p == NULL   ? "the posterior"
                          : x == NULL ? "x"
                                      : "the result");
    if (hfi_solver_kind_of(p->solution.solver)->readings)
        return hfi_refuse(ctx,
                          "hf_influence_inducing needs an inducing posterior, but this one is %s; "
                          "hf_influence() answers for its anchors",
                          hf_enum_name(HF_ENUM_SOLVER, p->solution.solver));
    if ((unsigned)method > HF_INDUCING_DTC)
        return hfi_refuse(ctx, "hf_influence_inducing: there is no inducing method %d", (int)method);
    return hfi_posterior_check_rows(ctx, p, 1, x, p->solution.d);
}

hf_status hf_influence_inducing(hf_context *ctx, const hf_posterior *posterior, hf_inducing_method method,
                                const double *x, double target, double variance, double moved_to, double with,
                                double *kl)
{
    hf_status status = check_inducing_influence(ctx, posterior, method, x, kl);
    if (status >= 0 && !isfinite(variance))
        return hfi_refuse(ctx, "the present site's variance is %g; give a positive number", variance);
    if (status >= 0) status = hfi_check_site(ctx, "present", target, variance);
    if (status >= 0) status = hfi_check_site(ctx, "replacing", moved_to, with);
    if (status < 0) return status;
    const size_t d = posterior->solution.d;
    double *z = hfi_alloc(ctx, d, sizeof *z);
    if (z == NULL) return HF_ERR_MEMORY;
    hfi_scaling_inputs(&posterior->scaling, 1, x, d, z);
    hfi_site_to_solver(posterior, z, &target, &variance);
    hfi_site_to_solver(posterior, z, &moved_to, &with);
    resolved r = {0};
    status = resolve(ctx, posterior, z, &r);
    hfi_free(ctx, z);
    if (status < 0) return status;
    const double more = r.white + (method == HF_INDUCING_FITC ? r.left : 0.0);
    const double p = 1.0 / (variance + more), least = 1.0 / (1.0 + p * r.prior);
    const double share = fmax(1.0 - p * r.variance, least);
    const double mean = (r.mean - p * r.variance * target) / share;
    *kl = hfi_influence_divergence(mean, r.variance / share, target, 1.0 / p, moved_to, with + more);
    return HF_OK;
}
