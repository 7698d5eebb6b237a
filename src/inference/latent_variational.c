/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution that is nearest to the posterior: natural gradient steps on the ELBO, which may not
 * fall. Its covariance is (K^-1 + W)^-1 for some W; where a log density is not concave, entries of wild
 * readings come out negative (Opper and Archambeau 2009, "The variational Gaussian approximation
 * revisited"). */
#include "inference/latent.h"
#include <math.h>
#include <string.h>

enum {
    READINGS = 16 /* in one task */
};

static void expect(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_latent_problem *p = arg;
    const size_t first = task * READINGS, end = first + READINGS < p->n ? first + READINGS : p->n;
    for (size_t i = first; i < end; i++)
        p->expected[i] = hfi_likelihood_expect(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i],
                                               fmax(p->variance[i], 0.0));
}

/* The ELBO at the present sites, and the sites that the expectations there ask for. */
static hf_status variational_measure(hfi_site_loop *loop)
{
    hfi_latent_problem *p = loop->p;
    loop->usable = false;
    const hf_status s = hfi_latent_condition(p, p->alpha, p->latent, p->variance);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK;
    if (s < 0) return s;
    hfi_parallel_for(p->ctx, (p->n + READINGS - 1) / READINGS, expect, p);
    loop->usable = true;
    loop->value = -0.5 * p->log_det;
    loop->change = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const hfi_likelihood_expected at = p->expected[i];
        const double w = p->w[i], v = p->variance[i];
        loop->value += at.value + 0.5 * (w * v - p->alpha[i] * p->latent[i]);
        loop->wanted[i] = at.w;
        loop->wanted[p->n + i] = at.f + at.w * p->latent[i];
        loop->change = fmax(loop->change, fabs(at.w - w) * v);
        loop->change = fmax(loop->change, fabs(at.f - p->alpha[i]) * sqrt(v));
    }
    return s;
}

static hf_status find_variational_sites(hfi_latent_problem *p, double *value)
{
    hfi_site_loop loop = {.p = p, .measure = variational_measure, .ascends = true, .step = 1.0};
    const hf_status s = hfi_site_loop_run(&loop);
    if (s < 0) return s;
    *value = loop.value;
    memset(p->half_third, 0, p->n * sizeof *p->half_third);
    return HF_OK;
}

/* At the maximum the sites need no differentiating. */
static void variational_slopes(const hfi_latent_problem *p, double bar[2])
{
    bar[0] = bar[1] = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        bar[0] += p->dispersion / p->seen[i].dispersion * p->expected[i].d;
        bar[1] += p->expected[i].n;
    }
}

const hfi_latent_method hfi_latent_variational = {
    .find_sites = find_variational_sites, .slopes = variational_slopes, .tilt = 1.0};
