/* SPDX-License-Identifier: Apache-2.0 */
/* The ellipsoid around a fitted posterior. Everything here is in the solver's units, in which the posterior
 * is f = m + g. */
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A site variance that differs from the noise by more than this, relatively, is not that of a plain reading. */
#define SAME 1e-9
/* How far below zero the square of the radius may come out by rounding, relative to what it is the difference of. */
#define EMPTY 1e-9

static hf_status check_posterior(hf_context *ctx, const hf_posterior *posterior, double norm)
{
    hf_status status = hfi_posterior_need_exact(
        ctx, posterior, "a guaranteed envelope",
        "its weights are not those of the readings alone, so solve exactly, or use hf_envelope");
    if (status < 0) return status;
    if (!(norm > 0.0 && isfinite(norm)))
        return hfi_refuse(ctx, "the norm is %g; it must be positive and finite", norm);
    const double *z = posterior->solution.z;
    if (hfi_kernel_value(posterior->kernel, z, z, true) != hfi_kernel_value(posterior->kernel, z, z, false))
        return hfi_refuse(ctx, "the kernel has a white term, whose functions have no values in between");
    return HF_OK;
}

/* How far the target of anchor i is from f, at most, in the solver's units. */
static hf_status find_bound(hf_context *ctx, const hf_posterior *posterior, size_t i, double noise_bound,
                            const double *bounds, double *out)
{
    const hfi_solution *s = &posterior->solution;
    const size_t output = hfi_scaling_output(&posterior->scaling, s->z + i * s->d);
    const double noise = hfi_posterior_noise(posterior, output);
    const double bound = bounds ? bounds[i] : noise_bound;
    if (!(bound >= 0.0 && isfinite(bound)))
        return hfi_refuse(ctx, "the noise bound of anchor %zu is %g; it must be finite and not negative", i,
                          bound);
    if (!bounds && !(fabs(s->variance[i] - noise) <= SAME * noise))
        return hfi_refuse(ctx,
                          "anchor %zu has a site of its own, of variance %g where a plain reading has %g, so "
                          "its target need not be the reading: give a bound for each anchor",
                          i, s->variance[i], noise);
    *out = bound / hfi_scaling_scale(&posterior->scaling, output) * (1.0 + 4.0 * DBL_EPSILON);
    return HF_OK;
}

static hf_status find_bounds(hf_context *ctx, const hf_posterior *posterior, double noise_bound,
                             const double *bounds, double *out)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < posterior->solution.n && status >= 0; i++)
        status = find_bound(ctx, posterior, i, noise_bound, bounds, &out[i]);
    return status;
}

/* K + D with jitter and the posterior's own factor and weights. */
static hf_status take_over(hf_context *ctx, const hf_posterior *posterior, hf_closed_envelope *closed)
{
    const hfi_solution *s = &posterior->solution;
    const size_t n = s->n;
    memcpy(closed->x, s->z, n * s->d * sizeof *closed->x);
    memcpy(closed->target, s->residual, n * sizeof *closed->target);
    memcpy(closed->dual, s->t, n * sizeof *closed->dual);
    memcpy(closed->weight, s->t, n * sizeof *closed->weight);
    for (size_t j = 0; j < n; j++)
        memcpy(closed->factor + j * n + j, s->factor + j * s->capacity + j, (n - j) * sizeof *s->factor);
    hf_status status = hfi_kernel_gram_lower(ctx, closed->kernel, n, closed->x, s->d, closed->matrix, n);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        closed->matrix[i * (n + 1)] += s->variance[i] + s->jitter;
        closed->sd[i] = sqrt(closed->matrix[i * (n + 1)]);
    }
    hfi_symmetrise(ctx, n, closed->matrix, n);
    hfi_scaling_free(&closed->scaling);
    status = hfi_scaling_copy(ctx, &posterior->scaling, &closed->scaling);
    return status < 0 ? status : hf_mean_copy(ctx, posterior->mean, &closed->mean);
}

/* The radius from the noise bounds, which go into it. `work` n. */
static hf_status set_radius(hf_context *ctx, const hf_posterior *posterior, double norm,
                            hf_closed_envelope *closed, double *work)
{
    const hfi_solution *s = &posterior->solution;
    double whole = norm * norm;
    for (size_t i = 0; i < s->n; i++) {
        whole += closed->noise[i] * closed->noise[i] / (s->variance[i] + s->jitter);
        closed->noise[i] = 0.0;
    }
    hfi_closed_direction(closed, work);
    closed->whole = sqrt(whole) * (1.0 + (double)s->n * DBL_EPSILON);
    if (closed->along > closed->whole * (1.0 + EMPTY))
        return hfi_fail(ctx, HF_ERR_INCONSISTENT,
                        "no function of norm %g is within the noise bounds of all %zu readings: the targets "
                        "and their sites ask for %.6g where norm and noise allow %.6g",
                        norm, s->n, closed->along, closed->whole);
    closed->along = fmin(closed->along, closed->whole);
    return HF_OK;
}

hf_status hf_closed_envelope_posterior(hf_context *ctx, const hf_posterior *posterior, double norm,
                                       double noise_bound, const double *bounds, hf_closed_envelope **out)
{
    if (!ctx || !out) return hfi_refuse(ctx, "a closed envelope needs a context and a place for the result");
    hf_status status = check_posterior(ctx, posterior, norm);
    if (status < 0) return status;
    const size_t n = posterior->solution.n;
    hf_closed_envelope *closed = NULL;
    double *work = hfi_alloc(ctx, n, sizeof *work);
    status = work ? hfi_closed_allocate(ctx, posterior->kernel, n, n, &closed) : HF_ERR_MEMORY;
    if (status >= 0) status = find_bounds(ctx, posterior, noise_bound, bounds, closed->noise);
    if (status >= 0) status = take_over(ctx, posterior, closed);
    if (status >= 0) status = set_radius(ctx, posterior, norm, closed, work);
    hfi_free(ctx, work);
    if (status >= 0)
        *out = closed;
    else
        hf_closed_envelope_free(closed);
    return status;
}
