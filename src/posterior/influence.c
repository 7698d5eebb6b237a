/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far one reading moves the posterior.
 *
 * Let p be the posterior of the latent values f at the anchors and q the same with the site of reading i
 * replaced. Both are the cavity of i times one site, and that site sees f through f_i alone. Hence p(f) =
 * p(f_i) h(f_-i | f_i) and q(f) = q(f_i) h(f_-i | f_i) with the same conditional h, and
 *
 *     KL(p || q) = KL(p(f_i) || q(f_i)),
 *
 * a divergence of two normals on the line. With the cavity N(c, v), the site (r, d) and its replacement (s,
 * e)
 *
 *     p(f_i) = N(c + v (r - c) / (v + d), v d / (v + d)),   q(f_i) the same with (s, e), or N(c, v) without a
 * site,
 *
 *     KL = (x - log(1 + x) + u^2) / 2,     x = var_p / var_q - 1 = v / (v + d) (d / e - 1),
 *                                          u = (mean_p - mean_q) / sd_q
 *                                            = sqrt(v (1 + v / e)) ((r - c) / (v + d) - (s - c) / (v + e)).
 *
 * Nothing here cancels or overflows when e or d is huge, which is what a robust site makes of a gross error:
 * then (s - c) / (v + e) goes to zero and the influence stays below that of removing the reading. With a
 * Gaussian site e stays and u^2 grows with s^2.
 */
#include "posterior/influence.h"

#include <math.h>

double hfi_influence_excess(double x)
{
    if (fabs(x) > 1e-4) return x - log1p(x);
    return x * x * (1.0 / 2.0 - x * (1.0 / 3.0 - x * (1.0 / 4.0 - x / 5.0)));
}

double hfi_influence_divergence(double c, double v, double r, double d, double s, double e)
{
    if (v == 0.0) return 0.0; /* the other readings leave nothing open that a site could change */
    double x = v / (v + d) * (d / e - 1.0), pull = isinf(e) ? 0.0 : (s - c) / (v + e);
    double u = sqrt(v * (1.0 + v / e)) * ((r - c) / (v + d) - pull);
    return 0.5 * (hfi_influence_excess(x) + u * u);
}

hf_status hfi_check_site(hf_context *ctx, const char *which, double target, double variance)
{
    if (!(variance > 0.0))
        return hfi_refuse(ctx, "the %s site's variance is %g; give a positive one, or infinity for removal",
                          which, variance);
    if (!isinf(variance) && !isfinite(target))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the %s site's target is %g", which, target);
    return HF_OK;
}

/* The anchors have to be the readings. */
static hf_status check(hf_context *ctx, const hf_posterior *posterior, size_t i, const double *kl)
{
    if (posterior == NULL || kl == NULL)
        return hfi_refuse(ctx, "hf_influence: %s is NULL",
                          posterior == NULL ? "the posterior" : "the result");
    const hfi_solution *s = &posterior->solution;
    if (s->residual == NULL || s->variance == NULL)
        return hfi_refuse(ctx, "the anchors of an inducing posterior are not its readings; "
                               "hf_influence_inducing() takes the reading itself");
    if (i >= s->n) return hfi_refuse(ctx, "anchor %zu of %zu (counted from 0) does not exist", i, s->n);
    return HF_OK;
}

void hfi_site_to_solver(const hf_posterior *p, const double *z, double *target, double *variance)
{
    const size_t output = hfi_scaling_output(&p->scaling, z);
    double prior;
    hf_mean_evaluate(p->mean, 1, z, p->solution.d, &prior);
    *target = isinf(*variance) ? 0.0 : hfi_scaling_target(&p->scaling, output, *target) - prior;
    *variance = hfi_scaling_site_variance(&p->scaling, output, *variance);
}

hf_status hf_influence(hf_context *ctx, const hf_posterior *posterior, size_t i, double target,
                       double variance, double *kl)
{
    hf_status status = check(ctx, posterior, i, kl);
    if (status >= 0) status = hfi_check_site(ctx, "replacing", target, variance);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    double c, v, r = target, e = variance;
    hfi_site_to_solver(posterior, s->z + i * s->d, &r, &e);
    if (s->form != HFI_FORM_EXACT) return hfi_influence_projected(ctx, posterior, i, r, e, kl);
    status = hfi_solution_cavity(ctx, posterior->kernel, s, i, &c, &v);
    if (status < 0) return status;
    *kl = hfi_influence_divergence(c, v, s->residual[i], s->variance[i] + s->jitter, r, e + s->jitter);
    return HF_OK;
}

hf_status hf_influence_of_removal(hf_context *ctx, const hf_posterior *posterior, double *kl)
{
    hf_status status =
        hfi_posterior_need_exact(ctx, posterior, "the influence of removing each reading",
                                 "hf_influence() answers for one reading of a projected posterior");
    if (status < 0) return status;
    if (kl == NULL) return hfi_refuse(ctx, "hf_influence_of_removal: the result is NULL");
    const hfi_solution *s = &posterior->solution;
    double *c = hfi_alloc(ctx, s->n, 2 * sizeof *c);
    if (c == NULL) return HF_ERR_MEMORY;
    status = hfi_solution_cavities(ctx, posterior->kernel, s, c, c + s->n);
    for (size_t i = 0; i < s->n && status >= 0; i++)
        kl[i] = hfi_influence_divergence(c[i], c[s->n + i], s->residual[i], s->variance[i] + s->jitter, 0.0,
                                         INFINITY);
    hfi_free(ctx, c);
    return status;
}
