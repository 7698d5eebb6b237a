/* SPDX-License-Identifier: Apache-2.0 */
/* The projected solver as the public interface has it. */
#include "posterior/posterior.h"
#include "solver/projected.h"

#include <math.h>

static hf_status check_choices(hf_context *ctx, const hf_projection *p)
{
    if ((unsigned)p->actions > HF_ACTIONS_GIVEN)
        return hfi_refuse(ctx, "hf_solve_projected: there are no actions %d", (int)p->actions);
    if ((unsigned)p->blocks > HF_BLOCKS_CLUSTERED)
        return hfi_refuse(ctx, "hf_solve_projected: there is no rule %d for blocks", (int)p->blocks);
    if ((unsigned)p->start > HF_ACTION_START_PRECISION)
        return hfi_refuse(ctx, "hf_solve_projected: there is no start %d for actions", (int)p->start);
    if ((unsigned)p->choice > HF_INDUCING_FIRST)
        return hfi_refuse(ctx, "hf_solve_projected: there is no choice %d of inducing inputs",
                          (int)p->choice);
    return HF_OK;
}

/* Inducing inputs that are given rather than chosen. */
static hf_status check_inputs(hf_context *ctx, const hf_projection *p, size_t d, size_t present)
{
    if (p->inputs == NULL) return HF_OK;
    if (p->actions >= HF_ACTIONS_BLOCKS || p->inducing == 0 || p->inducing > present)
        return hfi_refuse(ctx,
                          "hf_solve_projected: %zu inducing inputs are given for %zu readings; give from one "
                          "to as many, and neither block nor given actions",
                          p->inducing, present);
    for (size_t k = 0; k < p->inducing * d; k++)
        if (!isfinite(p->inputs[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "hf_solve_projected: input %zu of inducing input %zu (both counted from 0) is %g",
                            k % d, k / d, p->inputs[k]);
    return HF_OK;
}

/* Actions that are given, over all rows. */
static hf_status check_matrix(hf_context *ctx, const hf_projection *p, size_t n)
{
    if (p->actions != HF_ACTIONS_GIVEN || p->matrix == NULL) return HF_OK;
    return hfi_given_actions_check(ctx, n, p->count, p->matrix);
}

hf_status hf_solve_projected(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                             const hf_sites *sites, const double *x, size_t ldx,
                             const hf_projection *projection, hf_posterior **out,
                             hf_projection_report *report)
{
    if (!out || !projection)
        return hfi_refuse(ctx, "hf_solve_projected: %s is NULL", !out ? "out" : "projection");
    hf_status status = hfi_posterior_check_parts(ctx, kernel, mean, sites, x, ldx);
    if (status >= 0) status = check_choices(ctx, projection);
    if (status >= 0)
        status = check_inputs(ctx, projection, hf_kernel_dimension(kernel), hf_sites_present(sites));
    if (status >= 0) status = check_matrix(ctx, projection, hf_sites_count(sites));
    if (status < 0) return status;
    hfi_scaling scaling;
    status = hfi_scaling_identity(ctx, hf_kernel_dimension(kernel), &scaling);
    if (status < 0) return status;
    hfi_solution solution = {0};
    hf_projection_report done = {.residual = NAN};
    status = hfi_projected_solve(ctx, kernel, mean, sites, scaling.d, x, ldx, projection, &solution, &done);
    if (status >= 0) {
        const hf_status created =
            hfi_posterior_create(ctx, kernel, mean, &solution, &scaling, hf_sites_noise(sites), 1.0, out);
        status = hfi_worse(created, status);
    }
    if (status >= 0 && report) *report = done;
    hfi_solution_free(&solution);
    hfi_scaling_free(&scaling);
    return status;
}
