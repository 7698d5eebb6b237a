/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation: Newton's method to the only mode of a log-concave posterior, with steps that never lower the density. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 100,
    MOST_HALVINGS = 40
};

/* The Newton decrement, nats: the factor is then that at a place 1e-10 of a standard deviation from the mode, and the last step goes there. */
static const double tolerance = 1e-20;
/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

static void slopes(hfi_latent_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->at[i] = hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i]);
        p->w[i] = p->at[i].w;
        p->pull[i] = p->at[i].w * p->latent[i] + p->at[i].f;
    }
}

/* Log density of the posterior up to a constant, a step along the direction. */
static double density(const hfi_latent_problem *p, double step, const double *force, const double *latent)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double g = p->latent[i] + step * latent[i], a = p->force[i] + step * force[i];
        sum += hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + g).value - 0.5 * a * g;
    }
    return sum;
}

/* Newton's direction, to the posterior under the sites at the present place. *slope: what a unit step gains to first order. */
static hf_status direction(hfi_latent_problem *p, double *force, double *latent, double *slope)
{
    slopes(p);
    const hf_status s = hfi_latent_condition(p, force, latent, NULL);
    *slope = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        force[i] -= p->force[i];
        latent[i] -= p->latent[i];
        *slope += (p->at[i].f - p->force[i]) * latent[i];
    }
    if (s >= 0 && !isfinite(*slope))
        return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
    return s;
}

static void move(hfi_latent_problem *p, double step, const double *force, const double *latent)
{
    hfi_axpy(p->n, step, force, p->force);
    hfi_axpy(p->n, step, latent, p->latent);
}

/* The first of the steps 1, 1/2, 1/4, ... that raises the density enough; false if none does. */
static bool climb(hfi_latent_problem *p, double slope, const double *force, const double *latent)
{
    const double here = density(p, 0.0, force, latent);
    double step = 1.0;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        if (!(density(p, step, force, latent) > here + 1e-4 * step * slope)) continue;
        move(p, step, force, latent);
        return true;
    }
    return false;
}

/* To the mode; w, the factor and the slopes are those at it. */
static hf_status find_mode(hfi_latent_problem *p)
{
    double *force = p->work + 2 * p->n, *latent = p->work + 3 * p->n, before = INFINITY, slope = 0.0;
    p->converged = false;
    for (p->rounds = 1; p->rounds < MOST_STEPS; p->rounds++) {
        const hf_status s = direction(p, force, latent, &slope);
        if (s < 0) return s;
        p->converged = slope < tolerance || (slope < below_rounding && slope > 0.25 * before);
        before = slope;
        if (slope < below_rounding) move(p, 1.0, force, latent);
        if (p->converged) return HF_OK;
        if (slope >= below_rounding && !climb(p, slope, force, latent)) {
            p->converged = slope < lost;
            return HF_OK;
        }
    }
    return direction(p, force, latent, &slope);
}

/* Where the evaluation before ended: by the weights of the mean, which are K^-1 g for any kernel; at the prior mean the first time. */
static hf_status begin(hfi_latent_problem *p)
{
    memset(p->force, 0, p->n * sizeof *p->force);
    memset(p->latent, 0, p->n * sizeof *p->latent);
    if (!p->started) return HF_OK;
    memcpy(p->w, p->kept_w, p->n * sizeof *p->w);
    memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
    return hfi_latent_condition(p, p->force, p->latent, NULL);
}

hf_status hfi_latent_laplace(hfi_latent_problem *p, double *value)
{
    hf_status s = begin(p);
    if (s >= 0) s = find_mode(p);
    if (s < 0) return s;
    double sum = -0.5 * p->log_det;
    for (size_t i = 0; i < p->n; i++) {
        const double f = p->offset[i] + p->latent[i];
        sum += hfi_likelihood_density(p->likelihood, &p->seen[i], f).value - 0.5 * p->force[i] * p->latent[i];
        p->bend[i] = 0.5 * p->at[i].fff;
        p->pull[i] = p->force[i] + p->w[i] * p->latent[i];
    }
    *value = sum;
    return HF_OK;
}
