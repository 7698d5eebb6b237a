/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation: Newton's method to a mode of the posterior, with steps that never lower the
 * density. The mode is the only one where log densities are concave. */
#include "inference/latent.h"
#include <string.h>

/* Nats: the factor is then that at a place 1e-10 of a standard deviation from the mode. */
static const double tolerance = 1e-20;

static void compute_laplace_densities(hfi_latent_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->at[i] = hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i]);
        p->w[i] = p->at[i].w;
        p->linear[i] = p->at[i].w * p->latent[i] + p->at[i].f;
    }
}

/* Newton's direction, to the posterior under the sites at the present place. */
static hf_status direction(void *self, double *alpha, double *latent, double *slope)
{
    hfi_latent_problem *p = self;
    compute_laplace_densities(p);
    const hf_status s = hfi_latent_condition(p, alpha, latent, NULL);
    if (s < 0) return s;
    *slope = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        alpha[i] -= p->alpha[i];
        latent[i] -= p->latent[i];
        *slope += (p->at[i].f - p->alpha[i]) * latent[i];
    }
    return s;
}

static double density(void *self, double step, const double *alpha, const double *latent)
{
    const hfi_latent_problem *p = self;
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double g = p->latent[i] + step * latent[i], a = p->alpha[i] + step * alpha[i];
        sum += hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + g).value - 0.5 * a * g;
    }
    return sum;
}

/* To the mode; w, the factor and the slopes are those at it. */
static hf_status find_mode(hfi_latent_problem *p)
{
    const bool concave = p->likelihood->touch == NULL;
    hfi_mode_search search = {.ctx = p->ctx,
                              .self = p,
                              .length = p->n,
                              .alpha = p->alpha,
                              .latent = p->latent,
                              .step_alpha = p->work + 2 * p->n,
                              .step_latent = p->work + 3 * p->n,
                              .tolerance = tolerance,
                              .direction = direction,
                              .density = density,
                              .leave = concave ? NULL : hfi_latent_leave_saddle};
    p->escape = concave ? NULL : p->work + 4 * p->n;
    const hf_status s = hfi_mode_find(&search);
    p->escape = NULL;
    p->converged = search.converged;
    p->rounds = search.rounds;
    return s;
}

/* Where the evaluation before ended: by the weights of the mean, which are K^-1 g for any kernel; the first
 * time at the prior mean, or where outliers have little say. */
static hf_status laplace_begin(hfi_latent_problem *p)
{
    memset(p->alpha, 0, p->n * sizeof *p->alpha);
    memset(p->latent, 0, p->n * sizeof *p->latent);
    if (!p->started) return p->likelihood->touch ? hfi_latent_cold(p) : HF_OK;
    if (!p->inducing.inducing) {
        memcpy(p->alpha, p->kept_alpha, p->n * sizeof *p->alpha);
        hfi_curved_k(&p->curved, p->alpha, p->latent);
        return HF_OK;
    }
    memcpy(p->w, p->kept_w, p->n * sizeof *p->w);
    memcpy(p->linear, p->kept_linear, p->n * sizeof *p->linear);
    return hfi_latent_condition(p, p->alpha, p->latent, NULL);
}

static hf_status find_mode_sites(hfi_latent_problem *p, double *value)
{
    hf_status s = laplace_begin(p);
    if (s >= 0) s = find_mode(p);
    double log_det = p->log_det, sum = 0.0;
    if (s >= 0 && !p->inducing.inducing) s = hfi_latent_exact_soften(p, &log_det);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) {
        const double f = p->offset[i] + p->latent[i];
        sum += hfi_likelihood_density(p->likelihood, &p->seen[i], f).value - 0.5 * p->alpha[i] * p->latent[i];
        p->half_third[i] = 0.5 * p->at[i].fff;
        p->linear[i] = p->alpha[i] + p->w[i] * p->latent[i];
    }
    *value = sum - 0.5 * log_det;
    return HF_OK;
}

/* The densities, the determinant and the answer of the mode. */
static void laplace_slopes(const hfi_latent_problem *p, double bar[2])
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

const hfi_latent_method hfi_latent_laplace = {
    .find_sites = find_mode_sites, .slopes = laplace_slopes, .mode = true, .tilt = 1.0};
