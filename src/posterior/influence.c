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
#include "posterior/posterior.h"

#include <math.h>

/* x - log(1 + x) >= 0 for x >= -1 without cancellation. */
static double excess(double x)
{
    if (fabs(x) > 1e-4) return x - log1p(x);
    return x * x * (1.0 / 2.0 - x * (1.0 / 3.0 - x * (1.0 / 4.0 - x / 5.0)));
}

/* `e` = infinity: no site. */
static double divergence(double c, double v, double r, double d, double s, double e)
{
    if (v == 0.0) return 0.0; /* the other readings leave nothing open that a site could change */
    double x = v / (v + d) * (d / e - 1.0), pull = isinf(e) ? 0.0 : (s - c) / (v + e);
    double u = sqrt(v * (1.0 + v / e)) * ((r - c) / (v + d) - pull);
    return 0.5 * (excess(x) + u * u);
}

static hf_status check(hf_context *ctx, const hf_posterior *posterior, const double *kl)
{
    hf_status status = hfi_posterior_need_exact(
        ctx, posterior, "the influence of a reading",
        "compare with the posterior of the same readings less that one, or solve exactly");
    if (status < 0) return status;
    return kl != NULL ? HF_OK : hfi_fail(ctx, HF_ERR_ARGUMENT, "the result is NULL");
}

hf_status hf_influence(hf_context *ctx, const hf_posterior *posterior, size_t i, double target,
                       double variance, double *kl)
{
    hf_status status = check(ctx, posterior, kl);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    if (i >= s->n)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "anchor %zu of %zu (counted from 0) does not exist", i, s->n);
    if (!(variance > 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the replacing site's variance is %g; give a positive one, or infinity for removal",
                        variance);
    bool removed = isinf(variance);
    if (!removed && !isfinite(target))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the replacing site's target is %g", target);
    double c, v, prior;
    status = hfi_solution_cavity(ctx, posterior->kernel, &posterior->solution, i, &c, &v);
    if (status < 0) return status;
    hf_mean_evaluate(posterior->mean, 1, s->z + i * s->d, s->d, &prior);
    const size_t output = hfi_scaling_output(&posterior->scaling, s->z + i * s->d);
    double r = removed ? 0.0 : hfi_scaling_target(&posterior->scaling, output, target) - prior;
    double e = hfi_scaling_site_variance(&posterior->scaling, output, variance) + s->jitter;
    *kl = divergence(c, v, s->residual[i], s->variance[i] + s->jitter, r, e);
    return HF_OK;
}

hf_status hf_influence_of_removal(hf_context *ctx, const hf_posterior *posterior, double *kl)
{
    hf_status status = check(ctx, posterior, kl);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    double *c = hfi_alloc(ctx, s->n, 2 * sizeof *c);
    if (c == NULL) return HF_ERR_MEMORY;
    status = hfi_solution_cavities(ctx, posterior->kernel, s, c, c + s->n);
    for (size_t i = 0; i < s->n && status >= 0; i++)
        kl[i] = divergence(c[i], c[s->n + i], s->residual[i], s->variance[i] + s->jitter, 0.0, INFINITY);
    hfi_free(ctx, c);
    return status;
}
