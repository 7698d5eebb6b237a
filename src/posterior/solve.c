/* SPDX-License-Identifier: Apache-2.0 */
/* The inducing and the projected solver as the public interface has them. */
#include "core/settings.h"
#include "posterior/posterior.h"
#include "solver/inducing.h"
#include "solver/projected.h"

#include <math.h>
#include <stdlib.h>

/* ---- inducing inputs ------------------------------------------------------------------------- */

typedef struct inducing_row {
    const double *row;
    size_t d, index;
} inducing_row;

static int compare_inducing_rows(const void *a, const void *b)
{
    const inducing_row *p = a, *q = b;
    for (size_t j = 0; j < p->d; j++)
        if (p->row[j] != q->row[j]) return p->row[j] < q->row[j] ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Equal rows are neighbours once sorted. */
static hf_status check_distinct(hf_context *ctx, size_t m, size_t d, const double *z, size_t ldz)
{
    inducing_row *places = hfi_alloc(ctx, m, sizeof *places);
    if (!places) return HF_ERR_MEMORY;
    for (size_t i = 0; i < m; i++) places[i] = (inducing_row){z + i * ldz, d, i};
    qsort(places, m, sizeof *places, compare_inducing_rows);
    hf_status status = HF_OK;
    for (size_t i = 1; i < m && status >= 0; i++) {
        bool equal = true;
        for (size_t j = 0; j < d; j++) equal = equal && places[i - 1].row[j] == places[i].row[j];
        if (equal)
            status = hfi_refuse(ctx, "inducing inputs %zu and %zu (counted from 0) are equal",
                                places[i - 1].index, places[i].index);
    }
    hfi_free(ctx, places);
    return status;
}

static hf_status check_inducing(hf_context *ctx, hf_inducing_method method, size_t m, size_t d,
                                const double *z, size_t ldz)
{
    if ((unsigned)method > HF_INDUCING_DTC)
        return hfi_refuse(ctx, "hf_solve_inducing: there is no inducing method %d", (int)method);
    if (m == 0) return hfi_refuse(ctx, "hf_solve_inducing: there are no inducing inputs");
    if (z == NULL) return hfi_refuse(ctx, "hf_solve_inducing: z is NULL");
    if (ldz < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of z are %zu apart, but the kernel has %zu inputs", ldz,
                        d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(z[i * ldz + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                                "input %zu of inducing input %zu (counted from 0) is %g", j, i,
                                z[i * ldz + j]);
    return check_distinct(ctx, m, d, z, ldz);
}

/* ---- readings -------------------------------------------------------------------------------- */

static hf_status check_readings(hf_context *ctx, const hf_mean *mean, const hf_sites *sites, size_t d,
                                const double *x, size_t ldx)
{
    if (hf_sites_present(sites) == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "none of the %zu readings is present: there is nothing to learn from",
                        hf_sites_count(sites));
    for (size_t i = 0; i < hf_sites_count(sites); i++) {
        if (!hf_sites_is_present(sites, i)) continue;
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
        double prior;
        hf_mean_evaluate(mean, 1, x + i * ldx, ldx, &prior);
        if (!isfinite(hf_sites_targets(sites)[i] - prior))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the target %g less the prior mean %g of row %zu (counted from 0) is not finite",
                            hf_sites_targets(sites)[i], prior, i);
    }
    return HF_OK;
}

/* ---- solve ----------------------------------------------------------------------------------- */

static hf_status solve_inducing_posterior(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                          const hf_sites *sites, const double *x, size_t ldx,
                                          hfi_inducing *inducing, hf_posterior **out)
{
    hfi_solution solution = {0};
    hfi_scaling scaling;
    hf_status status = hfi_scaling_identity(ctx, inducing->d, &scaling);
    if (status < 0) return status;
    status = hfi_inducing_factor(inducing, kernel, mean, sites, hf_sites_count(sites), x, ldx);
    if (status >= 0) status = hfi_worse(hfi_inducing_solution(inducing, &solution), status);
    if (status >= 0)
        status = hfi_worse(
            hfi_posterior_create(ctx, kernel, mean, &solution, &scaling, hf_sites_noise(sites), 1.0, out),
            status);
    hfi_solution_free(&solution);
    hfi_scaling_free(&scaling);
    return status;
}

hf_status hf_solve_inducing(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                            const hf_sites *sites, const double *x, size_t ldx, hf_inducing_method method,
                            size_t m, const double *z, size_t ldz, hf_posterior **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_solve_inducing: out is NULL");
    hf_status status = hfi_posterior_check_parts(ctx, kernel, mean, sites, x, ldx);
    if (status < 0) return status;
    const size_t d = hf_kernel_dimension(kernel);
    status = check_inducing(ctx, method, m, d, z, ldz);
    if (status >= 0) status = check_readings(ctx, mean, sites, d, x, ldx);
    hfi_inducing inducing = {0};
    if (status >= 0) status = hfi_inducing_init(ctx, method, m, d, z, ldz, &inducing);
    if (status >= 0) status = solve_inducing_posterior(ctx, kernel, mean, sites, x, ldx, &inducing, out);
    hfi_inducing_free(&inducing);
    return status;
}

/* ---- the projected solver ---------------------------------------------------------------------------- */

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
    hf_projection own;
    hf_status status = hfi_posterior_check_parts(ctx, kernel, mean, sites, x, ldx);
    if (status >= 0) status = hfi_settings_take(ctx, hf_projection_table(), projection, &own);
    if (status >= 0) status = check_choices(ctx, &own);
    if (status >= 0) status = check_inputs(ctx, &own, hf_kernel_dimension(kernel), hf_sites_present(sites));
    if (status >= 0) status = check_matrix(ctx, &own, hf_sites_count(sites));
    if (status < 0) return status;
    hfi_scaling scaling;
    status = hfi_scaling_identity(ctx, hf_kernel_dimension(kernel), &scaling);
    if (status < 0) return status;
    hfi_solution solution = {0};
    hf_projection_report done = {.residual = NAN};
    status = hfi_projected_solve(ctx, kernel, mean, sites, scaling.d, x, ldx, &own, &solution, &done);
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
