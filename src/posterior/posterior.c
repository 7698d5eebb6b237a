/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a posterior and what it tells about itself. */
#include "posterior/posterior.h"

#include <math.h>
#include <string.h>

/* Eight bytes each. */
static double numbers_held(const hfi_solution *s)
{
    double rows = (double)s->capacity, rank = (double)s->rank, vectors = 1.0;
    double matrix = s->form == HFI_FORM_EXACT   ? rows * rows
                    : s->form == HFI_FORM_DENSE ? rows * rank
                                                : rank * rank;
    if (s->residual != NULL) vectors += 2.0; /* and the variances */
    if (s->form == HFI_FORM_BLOCKS) vectors += 2.0;
    return matrix + rows * ((double)s->d + vectors);
}

void hfi_posterior_report(hf_posterior *posterior)
{
    const hfi_solution *s = &posterior->solution;
    posterior->report = (hf_solve_report){
        .anchors = s->n,
        .jitter = s->jitter,
        .condition = s->condition,
        .backward = s->backward,
        .log_evidence = s->form == HFI_FORM_EXACT ? hfi_solution_log_evidence(s) : NAN,
        .bytes = (double)sizeof *posterior + (double)sizeof(double) * (numbers_held(s) + 2.0 * (double)s->d),
    };
}

const hf_solve_report *hf_posterior_report_of(const hf_posterior *posterior)
{
    return posterior != NULL ? &posterior->report : NULL;
}

hf_status hfi_posterior_create(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                               hfi_solution *solution, const hfi_scaling *scaling, double noise,
                               double calibration, hf_posterior **out)
{
    hf_posterior *p = hfi_alloc(ctx, 1, sizeof *p);
    if (p == NULL) return HF_ERR_MEMORY;
    p->memory = hfi_context_memory(ctx);
    p->noise = noise;
    p->calibration = calibration;
    hf_status status = hf_kernel_copy(ctx, kernel, &p->kernel);
    if (status >= 0) status = hf_mean_copy(ctx, mean, &p->mean);
    if (status >= 0) status = hfi_scaling_copy(ctx, scaling, &p->scaling);
    if (status < 0) {
        hf_posterior_free(p);
        return status;
    }
    p->solution = *solution;
    memset(solution, 0, sizeof *solution);
    hfi_posterior_report(p);
    *out = p;
    return HF_OK;
}

void hf_posterior_free(hf_posterior *posterior)
{
    if (posterior == NULL) return;
    hfi_memory memory = posterior->memory; /* by value: the posterior itself is about to go */
    hf_kernel_free(posterior->kernel);
    hf_mean_free(posterior->mean);
    hfi_solution_free(&posterior->solution);
    hfi_scaling_free(&posterior->scaling);
    HFI_MEMORY_FREE(&memory, posterior->noises, posterior);
}

hf_solver hf_posterior_solver(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->solution.solver : HF_SOLVER_AUTO;
}

size_t hf_posterior_rank(const hf_posterior *posterior)
{
    return posterior != NULL ? hfi_solution_rank(&posterior->solution) : 0;
}

void hf_exact_cost(size_t n, size_t d, double *bytes, double *flops)
{
    double b, f;
    hfi_exact_cost(n, d, &b, &f);
    if (bytes != NULL) *bytes = b;
    if (flops != NULL) *flops = f;
}

hf_status hfi_posterior_check_parts(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                    const hf_sites *sites, const double *x, size_t ldx)
{
    if (kernel == NULL || mean == NULL || sites == NULL || x == NULL)
        return hfi_refuse(ctx, "kernel, mean, sites and x are all needed; %s is NULL",
                          kernel == NULL  ? "kernel"
                          : mean == NULL  ? "mean"
                          : sites == NULL ? "sites"
                                          : "x");
    size_t d = hf_kernel_dimension(kernel);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs", ldx,
                        d);
    if (hf_mean_get_kind(mean) == HF_MEAN_LINEAR && hf_mean_coefficients(mean) != d + 1)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the linear mean has %zu inputs, but the kernel has %zu",
                        hf_mean_coefficients(mean) - 1, d);
    return HF_OK;
}

hf_status hf_solve_exact(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, const hf_sites *sites,
                         const double *x, size_t ldx, hf_posterior **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_solve_exact: out is NULL");
    hf_status status = hfi_posterior_check_parts(ctx, kernel, mean, sites, x, ldx);
    if (status < 0) return status;
    hfi_solution solution = {0};
    hfi_scaling scaling;
    status = hfi_scaling_identity(ctx, hf_kernel_dimension(kernel), &scaling);
    if (status < 0) return status;
    status = hfi_exact_solve(ctx, kernel, mean, sites, scaling.d, x, ldx, &solution);
    if (status >= 0) {
        hf_status created =
            hfi_posterior_create(ctx, kernel, mean, &solution, &scaling, hf_sites_noise(sites), 1.0, out);
        status = hfi_worse(created, status);
    }
    hfi_solution_free(&solution);
    hfi_scaling_free(&scaling);
    return status;
}

size_t hf_posterior_dimension(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->solution.d : 0;
}

size_t hf_posterior_anchors(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->solution.n : 0;
}

double hf_posterior_noise(const hf_posterior *posterior)
{
    return hf_posterior_output_noise(posterior, 0);
}

size_t hf_posterior_outputs(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->scaling.outputs : 0;
}

double hf_posterior_output_noise(const hf_posterior *posterior, size_t output)
{
    if (output >= hf_posterior_outputs(posterior)) return NAN;
    return hfi_scaling_variance(&posterior->scaling, output, hfi_posterior_noise(posterior, output));
}

double hf_posterior_calibration(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->calibration : NAN;
}

const hf_kernel *hf_posterior_kernel(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->kernel : NULL;
}

const hf_mean *hf_posterior_mean_function(const hf_posterior *posterior)
{
    return posterior != NULL ? posterior->mean : NULL;
}

double hfi_variance_clamp(double variance)
{
    return variance < 0.0 ? 0.0 : variance;
}

hf_status hfi_posterior_set_noises(hf_context *ctx, hf_posterior *posterior, const double *noises)
{
    const size_t outputs = posterior->scaling.outputs;
    double *copy = hfi_alloc(ctx, outputs, sizeof *copy);
    if (copy == NULL) return HF_ERR_MEMORY;
    memcpy(copy, noises, outputs * sizeof *copy);
    hfi_memory_free(&posterior->memory, posterior->noises);
    posterior->noises = copy;
    posterior->noise = noises[0];
    return HF_OK;
}

double hfi_posterior_noise(const hf_posterior *posterior, size_t output)
{
    return posterior->noises != NULL ? posterior->noises[output] : posterior->noise;
}

double hfi_posterior_observed(const hf_posterior *posterior, size_t output, double latent)
{
    return posterior->calibration * (latent + hfi_posterior_noise(posterior, output));
}

hf_status hfi_posterior_need_exact(hf_context *ctx, const hf_posterior *posterior, const char *what,
                                   const char *instead)
{
    if (posterior == NULL) return hfi_refuse(ctx, "%s: the posterior is NULL", what);
    if (posterior->solution.form == HFI_FORM_EXACT) return HF_OK;
    return hfi_refuse(ctx, "%s needs the exact solver, but this posterior is %s; %s", what,
                      hf_enum_name(HF_ENUM_SOLVER, posterior->solution.solver), instead);
}

hf_status hfi_need_readings(hf_context *ctx, const hf_posterior *posterior, const char *what)
{
    if (posterior == NULL) return hfi_refuse(ctx, "%s: the posterior is NULL", what);
    const hfi_solution *s = &posterior->solution;
    if (s->residual != NULL && s->variance != NULL) return HF_OK;
    return hfi_refuse(ctx,
                      "an inducing posterior has no %s: what its variance lacks to the exact one has no "
                      "sign; solve by projection to have one",
                      what);
}

bool hfi_posterior_has_output(const hf_posterior *posterior, const double *row)
{
    return hfi_scaling_has_output(&posterior->scaling, row);
}

hf_status hfi_posterior_need_one(hf_context *ctx, const hf_posterior *posterior, const char *what)
{
    const size_t outputs = posterior->scaling.outputs;
    if (outputs == 1) return HF_OK;
    return hfi_refuse(ctx, "%s: one output is wanted, but the posterior has %zu", what, outputs);
}

hf_status hfi_posterior_check_rows(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                                   size_t ldx)
{
    size_t d = posterior->solution.d;
    if (m > 0 && x == NULL) return hfi_refuse(ctx, "x is NULL, but has %zu rows", m);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the posterior has %zu inputs",
                        ldx, d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
    for (size_t i = 0; i < m; i++)
        if (!hfi_posterior_has_output(posterior, x + i * ldx))
            return hfi_refuse(ctx,
                              "row %zu (counted from 0) asks for output %g; there are %zu, counted from 0", i,
                              x[i * ldx + d - 1], posterior->scaling.outputs);
    return HF_OK;
}
