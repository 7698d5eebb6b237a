/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation, all sites at once (Rasmussen and Williams 2006, section 3.6; Minka 2001; for log
 * densities that are not concave Jylanki, Vanhatalo and Vehtari 2011, "Robust Gaussian process regression
 * with a Student-t likelihood"). Each site loses a share `power` for its cavity. */
#include "inference/latent.h"
#include <math.h>
#include <string.h>

enum {
    MOST_MEANS = 6,
    READINGS = 16 /* in one task */
};

/* The distance from the wanted sites below which means are settled alone. */
static const double near = 0.3;

static void tilt(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_site_loop *l = arg;
    const hfi_latent_problem *p = l->p;
    const size_t n = p->n, first = task * READINGS, end = first + READINGS < n ? first + READINGS : n;
    for (size_t i = first; i < end; i++)
        p->tilted[i] = hfi_likelihood_tilt(p->likelihood, &p->seen[i], p->power, p->offset[i] + l->cavity[i],
                                           l->cavity[n + i]);
}

/* Cavities and their tilted moments; false where a site has no cavity. */
static bool compute_cavities(hfi_site_loop *l)
{
    hfi_latent_problem *p = l->p;
    const size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        const double left = 1.0 - p->power * p->w[i] * p->variance[i];
        if (!(left > 0.0 && p->variance[i] > 0.0)) return false;
        l->cavity[i] = (p->latent[i] - p->power * p->variance[i] * p->linear[i]) / left;
        l->cavity[n + i] = p->variance[i] / left;
    }
    hfi_parallel_for(p->ctx, (n + READINGS - 1) / READINGS, tilt, l);
    return true;
}

/* Sites whose marginals have the tilted means, their precisions and with them the factor held: it is the
 * precisions that cost O(n^3). Near the end, where the precisions are about right; as long as the means come
 * together. */
static bool iterate_means(hfi_site_loop *l)
{
    hfi_latent_problem *p = l->p;
    double before = INFINITY;
    bool fine = compute_cavities(l);
    const bool wanted = !p->inducing.inducing && !p->likelihood->touch && l->before < near;
    for (int k = 0; fine && wanted && k < MOST_MEANS; k++) {
        double far = 0.0;
        for (size_t i = 0; i < p->n; i++) {
            const double slope = p->tilted[i].slope, mean = l->cavity[i] + l->cavity[p->n + i] * slope;
            far = fmax(far, fabs(mean - p->latent[i]) / sqrt(p->variance[i]));
            l->next[i] = p->w[i] * mean + slope;
        }
        if (!(far < 0.5 * before) || far < 0.1 * p->tolerance) break;
        before = far;
        memcpy(p->linear, l->next, p->n * sizeof *p->linear);
        hfi_latent_exact_mean(p, p->alpha, p->latent);
        fine = compute_cavities(l);
    }
    return fine;
}

/* The part of reading i in log Z: the integral of its tilted density, less what its site says to its cavity. */
static double share_of_evidence(const hfi_site_loop *l, size_t i)
{
    const hfi_latent_problem *p = l->p;
    const double m = l->cavity[i], v = l->cavity[p->n + i], w = p->power * p->w[i],
                 h = p->power * p->linear[i],
                 site = 0.5 * (h * h * v + 2.0 * h * m - w * m * m) / (1.0 + w * v) - 0.5 * log1p(w * v);
    return (p->tilted[i].log_z - site) / p->power + 0.5 * p->linear[i] * p->latent[i];
}

/* Posterior under the sites in place, cavities, and the sites that have the tilted moments. */
static hf_status ep_measure(hfi_site_loop *l)
{
    hfi_latent_problem *p = l->p;
    const size_t n = p->n;
    l->usable = false;
    const hf_status s = hfi_latent_condition(p, p->alpha, p->latent, p->variance);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK;
    if (s < 0) return s;
    if (!iterate_means(l)) return HF_OK;
    l->usable = true;
    l->change = 0.0;
    l->value = -0.5 * p->log_det;
    for (size_t i = 0; i < n; i++) {
        const hfi_likelihood_tilted t = p->tilted[i];
        const double v = p->variance[i], precision = -t.curvature / t.share / p->power;
        l->wanted[i] = p->likelihood->touch ? precision : fmax(precision, 0.0);
        l->wanted[n + i] = (t.slope - l->cavity[i] * t.curvature) / t.share / p->power;
        const double off =
            fmax(fabs(l->wanted[i] - p->w[i]) * v, fabs(l->wanted[n + i] - p->linear[i]) * sqrt(v));
        if (!isfinite(off)) return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        l->change = fmax(l->change, off);
        l->value += share_of_evidence(l, i);
    }
    return HF_OK;
}

static hf_status find_ep_sites(hfi_latent_problem *p, double *value)
{
    const bool curved = p->likelihood->touch != NULL;
    hfi_site_loop loop = {.p = p, .measure = ep_measure, .step = curved ? 0.8 : 1.0};
    hf_status s = hfi_site_loop_run(&loop);
    if (curved && p->started && (s == HF_ERR_NOT_POSITIVE_DEFINITE || (s >= 0 && !p->converged))) {
        /* The sites of another place led nowhere; once more from this one's own. */
        p->started = false;
        loop = (hfi_site_loop){.p = p, .measure = ep_measure, .step = 0.5};
        s = hfi_site_loop_run(&loop);
        p->started = true;
    }
    if (s < 0) return s;
    *value = loop.value;
    memset(p->half_third, 0, p->n * sizeof *p->half_third);
    return HF_OK;
}

/* At a fixed point the sites need no differentiating: only the densities are left. */
static void ep_slopes(const hfi_latent_problem *p, double bar[2])
{
    bar[0] = bar[1] = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        bar[0] += p->dispersion / p->seen[i].dispersion * p->tilted[i].d / p->power;
        bar[1] += p->tilted[i].n / p->power;
    }
}

const hfi_latent_method hfi_latent_ep = {.find_sites = find_ep_sites, .slopes = ep_slopes};
