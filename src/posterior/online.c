/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that come, go and change after the fit. */
#include "posterior/posterior.h"

#include <math.h>

static hf_status check_site(hf_context *ctx, double target, double variance)
{
    if (!isfinite(target)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the target is %g", target);
    if (!(variance > 0.0 && isfinite(variance)))
        return hfi_refuse(ctx, "the site variance is %g; give a positive, finite one", variance);
    return HF_OK;
}

static hf_status check_exact(hf_context *ctx, const hf_posterior *posterior)
{
    return hfi_posterior_need_exact(ctx, posterior, "changing a posterior reading by reading",
                                    "solve again with the readings as they are now");
}

static hf_status check_anchor(hf_context *ctx, const hf_posterior *posterior, size_t i)
{
    hf_status status = check_exact(ctx, posterior);
    if (status < 0 || i < posterior->solution.n) return status;
    return hfi_refuse(ctx, "anchor %zu of %zu (counted from 0) does not exist", i, posterior->solution.n);
}

/* Target less prior mean at the scaled input z. */
static double residual_at(const hf_posterior *posterior, const double *z, double target)
{
    double prior;
    hf_mean_evaluate(posterior->mean, 1, z, posterior->solution.d, &prior);
    return hfi_scaling_target(&posterior->scaling, hfi_scaling_output(&posterior->scaling, z), target) -
           prior;
}

/* The end of every change, made or refused: an append that fails may leave more room than there was. */
static hf_status changed(hf_posterior *posterior, hf_status status)
{
    hfi_posterior_report(posterior);
    return status;
}

hf_status hf_posterior_add(hf_context *ctx, hf_posterior *posterior, const double *x, double target,
                           double variance)
{
    hf_status status = check_exact(ctx, posterior);
    if (status < 0) return status;
    hfi_solution *s = &posterior->solution;
    status = hfi_posterior_check_rows(ctx, posterior, 1, x, s->d);
    if (status >= 0) status = check_site(ctx, target, variance);
    if (status < 0) return status;
    double *z = hfi_alloc(ctx, s->d, sizeof *z), *column = hfi_alloc(ctx, s->n, sizeof *column);
    double *scratch = hfi_alloc(ctx, hfi_kernel_scratch(posterior->kernel), sizeof *scratch);
    status = HF_ERR_MEMORY;
    if (z != NULL && column != NULL && scratch != NULL) {
        double prior;
        hfi_scaling_inputs(&posterior->scaling, 1, x, s->d, z);
        hfi_kernel_cross_block(posterior->kernel, 1, z, s->d, s->n, s->z, s->d, column, s->n, scratch);
        hfi_kernel_diagonal(posterior->kernel, 1, z, s->d, true, &prior);
        status = hfi_solution_append(ctx, s, z, residual_at(posterior, z, target),
                                     hfi_scaling_site_variance(&posterior->scaling,
                                                               hfi_scaling_output(&posterior->scaling, z),
                                                               variance),
                                     column, prior);
    }
    HFI_FREE(ctx, z, column, scratch);
    return changed(posterior, status);
}

hf_status hf_posterior_remove(hf_context *ctx, hf_posterior *posterior, size_t i)
{
    hf_status status = check_anchor(ctx, posterior, i);
    if (status < 0) return status;
    if (posterior->solution.n == 1)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "the last anchor cannot be removed: a posterior needs one; replace it");
    return changed(posterior, hfi_solution_delete(ctx, &posterior->solution, i));
}

hf_status hf_posterior_replace(hf_context *ctx, hf_posterior *posterior, size_t i, double target,
                               double variance)
{
    hf_status status = check_anchor(ctx, posterior, i);
    if (status >= 0) status = check_site(ctx, target, variance);
    if (status < 0) return status;
    hfi_solution *s = &posterior->solution;
    const double *z = s->z + i * s->d;
    double prior;
    hfi_kernel_diagonal(posterior->kernel, 1, z, s->d, true, &prior);
    status = hfi_solution_replace(
        ctx, s, i, residual_at(posterior, z, target),
        hfi_scaling_site_variance(&posterior->scaling, hfi_scaling_output(&posterior->scaling, z), variance),
        prior);
    return changed(posterior, status);
}

hf_status hf_posterior_backward_error(hf_context *ctx, hf_posterior *posterior, double *backward)
{
    hf_status status =
        hfi_posterior_need_exact(ctx, posterior, "checking a factor for drift",
                                 "no other kind is changed reading by reading, so none drifts");
    if (status < 0) return status;
    status = changed(posterior, hfi_solution_check(ctx, posterior->kernel, &posterior->solution));
    if (status >= 0 && backward != NULL) *backward = posterior->solution.backward;
    return status;
}

hf_status hf_posterior_refresh(hf_context *ctx, hf_posterior *posterior)
{
    hf_status status = hfi_posterior_need_exact(
        ctx, posterior, "factoring afresh", "no other kind is changed reading by reading, so none drifts");
    if (status < 0) return status;
    return changed(posterior, hfi_solution_refresh(ctx, posterior->kernel, &posterior->solution));
}
