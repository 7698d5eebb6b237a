/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation: Newton's method to a mode of the posterior, with steps that never lower the density. The mode is the only one where log
 * densities are concave. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 200
};

/* The Newton decrement, nats: the factor is then that at a place 1e-10 of a standard deviation from the mode, and the last step goes there. */
static const double tolerance = 1e-20;
/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

static void look(hfi_latent_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->at[i] = hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i]);
        p->w[i] = p->at[i].w;
        p->pull[i] = p->at[i].w * p->latent[i] + p->at[i].f;
    }
}

/* Newton's direction, to the posterior under the sites at the present place. *slope: what a unit step gains to first order. */
static hf_status direction(hfi_latent_problem *p, double *force, double *latent, double *slope)
{
    look(p);
    const hf_status s = hfi_latent_condition(p, force, latent, NULL);
    if (s < 0) return s;
    *slope = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        force[i] -= p->force[i];
        latent[i] -= p->latent[i];
        *slope += (p->at[i].f - p->force[i]) * latent[i];
    }
    if (!isfinite(*slope)) return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
    return s;
}

/* To the mode; w, the factor and the slopes are those at it. */
static hf_status find_mode(hfi_latent_problem *p)
{
    double *force = p->work + 2 * p->n, *latent = p->work + 3 * p->n, before = INFINITY, slope = 0.0;
    p->converged = false;
    for (p->rounds = 1; p->rounds < MOST_STEPS; p->rounds++) {
        hf_status s = direction(p, force, latent, &slope);
        if (s == HF_ERR_NOT_POSITIVE_DEFINITE && p->escape) {
            s = hfi_latent_leave_saddle(p);
            if (s < 0) return s;
            continue;
        }
        if (s < 0) return s;
        p->converged = slope < tolerance || (slope < below_rounding && slope > 0.25 * before);
        before = slope;
        if (slope < below_rounding) {
            hfi_axpy(p->n, 1.0, force, p->force);
            hfi_axpy(p->n, 1.0, latent, p->latent);
        }
        if (p->converged) return HF_OK;
        if (slope >= below_rounding && !hfi_latent_climb(p, 1.0, slope, force, latent)) {
            p->converged = slope < lost;
            return HF_OK;
        }
    }
    return direction(p, force, latent, &slope);
}

/* Where the evaluation before ended: by the weights of the mean, which are K^-1 g for any kernel; the first time at the prior mean, or where outliers
 * have little say. */
static hf_status begin(hfi_latent_problem *p)
{
    memset(p->force, 0, p->n * sizeof *p->force);
    memset(p->latent, 0, p->n * sizeof *p->latent);
    if (!p->started) return p->likelihood->touch ? hfi_latent_cold(p) : HF_OK;
    if (!p->inducing.inducing) {
        memcpy(p->force, p->kept_force, p->n * sizeof *p->force);
        hfi_curved_k(&p->curved, p->force, p->latent);
        return HF_OK;
    }
    memcpy(p->w, p->kept_w, p->n * sizeof *p->w);
    memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
    return hfi_latent_condition(p, p->force, p->latent, NULL);
}

static hf_status settle(hfi_latent_problem *p, double *value)
{
    hf_status s = begin(p);
    p->escape = p->likelihood->touch ? p->work + 4 * p->n : NULL;
    if (s >= 0) s = find_mode(p);
    p->escape = NULL;
    double log_det = p->log_det, sum = 0.0;
    if (s >= 0 && !p->inducing.inducing) s = hfi_latent_exact_soften(p, &log_det);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) {
        const double f = p->offset[i] + p->latent[i];
        sum += hfi_likelihood_density(p->likelihood, &p->seen[i], f).value - 0.5 * p->force[i] * p->latent[i];
        p->bend[i] = 0.5 * p->at[i].fff;
        p->pull[i] = p->force[i] + p->w[i] * p->latent[i];
    }
    *value = sum - 0.5 * log_det;
    return HF_OK;
}

/* The densities, the determinant and the answer of the mode. */
static void slopes(const hfi_latent_problem *p, double bar[2])
{
    bar[0] = bar[1] = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const hfi_likelihood_slopes at =
            hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i]);
        const double own = p->dispersion / p->seen[i].dispersion, half = 0.5 * p->variance[i];
        bar[0] += own * (at.d - half * at.w_d + p->answer[i] * at.f_d);
        bar[1] += at.n - half * at.w_n + p->answer[i] * at.f_n;
    }
}

const hfi_latent_method hfi_latent_laplace = {.settle = settle, .slopes = slopes, .mode = true, .tilt = 1.0};
