/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation, all sites at once (Rasmussen and Williams 2006, section 3.6; Minka 2001): accelerated steps, damped where they lead away. Sites of
 * log-concave likelihoods have precisions >= 0, so that there always is a posterior. */
#include "inference/latent.h"
#include "search/anderson.h"
#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 200,
    MOST_HALVINGS = 20,
    MOST_MEANS = 6,
    READINGS = 16 /* in one task */
};

/* Largest distance of a site from the one wanted, in units of the marginal posterior, at which they have settled; and the one at which they have for all
 * purposes where rounding keeps them from it. */
static const double exact = 1e-10, rough = 1e-6, lost = 1e-6;
static const double least_step = 0.05;
/* The distance below which steps have to shorten it. Farther off sites chase each other where many labels say the same, and a detour may be the way. */
static const double near = 0.3, leeway = 2.0;

typedef struct loop {
    hfi_latent_problem *p;
    double *cavity;               /* 2 n: means, then variances */
    double *at, *residual, *next; /* 2 n each: precisions, then pulls, in units of `unit` */
    double *unit; /* n: marginal variances to begin with, so that all numbers are of one size */
    bool scaled;
    double *numbers;
    double step;   /* share of the way to the wanted sites that a step makes */
    double before; /* `change` of the point before */
    double change; /* distance to the wanted sites */
    hfi_anderson history;
} loop;

static void tilt(size_t task, int thread, void *arg)
{
    (void)thread;
    const loop *l = arg;
    const hfi_latent_problem *p = l->p;
    const size_t n = p->n, first = task * READINGS, end = first + READINGS < n ? first + READINGS : n;
    for (size_t i = first; i < end; i++)
        p->tilted[i] =
            hfi_likelihood_tilt(p->likelihood, &p->seen[i], p->offset[i] + l->cavity[i], l->cavity[n + i]);
}

/* Cavities and their tilted moments; false where a site has no cavity. */
static bool look(loop *l)
{
    hfi_latent_problem *p = l->p;
    const size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        const double left = 1.0 - p->w[i] * p->variance[i];
        if (!(left > 0.0 && p->variance[i] > 0.0)) return false;
        l->cavity[i] = (p->latent[i] - p->variance[i] * p->pull[i]) / left;
        l->cavity[n + i] = p->variance[i] / left;
    }
    hfi_parallel_for(p->ctx, (n + READINGS - 1) / READINGS, tilt, l);
    return true;
}

/* Sites whose marginals have the tilted means, their precisions and with them the factor held: it is the precisions that cost O(n^3). Near the end, where
 * the precisions are about right; as long as the means come together. */
static bool settle_means(loop *l)
{
    hfi_latent_problem *p = l->p;
    double before = INFINITY;
    bool fine = look(l);
    for (int k = 0; fine && k < MOST_MEANS && !p->inducing.inducing && l->before < near; k++) {
        double far = 0.0;
        for (size_t i = 0; i < p->n; i++) {
            const double slope = p->tilted[i].slope, mean = l->cavity[i] + l->cavity[p->n + i] * slope;
            far = fmax(far, fabs(mean - p->latent[i]) / sqrt(p->variance[i]));
            l->next[i] = p->w[i] * mean + slope;
        }
        if (!(far < 0.5 * before) || far < 0.1 * exact) break;
        before = far;
        memcpy(p->pull, l->next, p->n * sizeof *p->pull);
        hfi_latent_exact_mean(p, p->force, p->latent);
        fine = look(l);
    }
    return fine;
}

/* Posterior under the sites in place, cavities, and how far each site is from the one that has the tilted moments. */
static hf_status measure(loop *l)
{
    hfi_latent_problem *p = l->p;
    const size_t n = p->n;
    l->change = 0.0;
    const hf_status s = hfi_latent_condition(p, p->force, p->latent, p->variance);
    if (s < 0) return s;
    if (!settle_means(l)) {
        l->change = INFINITY;
        return HF_OK;
    }
    for (size_t i = 0; i < n; i++) {
        const hfi_likelihood_tilted t = p->tilted[i];
        const double share = t.share, v = p->variance[i];
        const double w_off = fmax(-t.bend / share, 0.0) - p->w[i],
                     pull_off = (t.slope - l->cavity[i] * t.bend) / share - p->pull[i],
                     off = fmax(fabs(w_off) * v, fabs(pull_off) * sqrt(v));
        if (!l->scaled) l->unit[i] = v;
        l->at[i] = p->w[i] * l->unit[i];
        l->at[n + i] = p->pull[i] * sqrt(l->unit[i]);
        l->residual[i] = w_off * l->unit[i];
        l->residual[n + i] = pull_off * sqrt(l->unit[i]);
        if (!isfinite(off)) return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        l->change = fmax(l->change, off);
    }
    l->scaled = true;
    return HF_OK;
}

static hf_status measure_at(loop *l, const double *sites)
{
    hfi_latent_problem *p = l->p;
    for (size_t i = 0; i < p->n; i++) {
        p->w[i] = fmax(sites[i], 0.0) / l->unit[i];
        p->pull[i] = sites[p->n + i] / sqrt(l->unit[i]);
    }
    return measure(l);
}

/* From Laplace's sites, which are near, or those kept. */
static hf_status begin(loop *l)
{
    hfi_latent_problem *p = l->p;
    hf_status s = HF_OK;
    l->change = INFINITY;
    if (p->started) {
        memcpy(p->w, p->kept_w, p->n * sizeof *p->w);
        memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
        s = measure(l);
    }
    if (s < 0 || isfinite(l->change)) return s;
    double ignored = 0.0;
    p->started = false;
    s = hfi_latent_laplace(p, &ignored);
    p->rounds = 0;
    if (s >= 0) s = measure(l);
    return s;
}

/* From where the last measured point was a damped step, shortened until it leads to a place with cavities. */
static hf_status walk(loop *l, const double *from, const double *residual)
{
    const size_t count = 2 * l->p->n;
    hf_status s = HF_OK;
    hfi_anderson_reset(&l->history);
    l->step = fmax(0.5 * l->step, least_step);
    l->change = INFINITY;
    double share = l->step;
    for (int halving = 0; s >= 0 && halving < MOST_HALVINGS && !isfinite(l->change);
         halving++, share *= 0.5) {
        for (size_t i = 0; i < count; i++) l->next[i] = from[i] + share * residual[i];
        s = measure_at(l, l->next);
    }
    return s;
}

static hf_status iterate(loop *l)
{
    hfi_latent_problem *p = l->p;
    const size_t count = 2 * p->n;
    double *from = l->numbers + 4 * count, *residual = l->numbers + 5 * count, best = INFINITY;
    hf_status s = begin(l);
    const double tolerance = p->rough ? rough : exact;
    size_t waited = 0;
    p->converged = false;
    for (; s >= 0 && isfinite(l->change) && p->rounds < MOST_ROUNDS; p->rounds++) {
        p->converged = l->change < tolerance || (l->change < lost && waited > 5);
        if (p->converged) break;
        waited = l->change < 0.9 * best ? 0 : waited + 1;
        best = fmin(best, l->change);
        l->before = l->change;
        memcpy(from, l->at, count * sizeof *from);
        memcpy(residual, l->residual, count * sizeof *residual);
        hfi_anderson_next(&l->history, from, residual, l->step, l->next);
        s = measure_at(l, l->next);
        if (s >= 0 && !(l->change <= (l->before < near ? 1.0 : leeway) * l->before))
            s = walk(l, from, residual);
        else
            l->step = fmin(2.0 * l->step, 1.0);
    }
    return s;
}

/* log Z of the approximation: what the tilted densities integrate to, and what the sites say together less what each says to its cavity. */
static double evidence(const loop *l)
{
    const hfi_latent_problem *p = l->p;
    double sum = -0.5 * p->log_det;
    for (size_t i = 0; i < p->n; i++) {
        const double m = l->cavity[i], v = l->cavity[p->n + i], w = p->w[i], h = p->pull[i],
                     share = 1.0 + w * v;
        sum += p->tilted[i].log_z + 0.5 * h * p->latent[i] + 0.5 * log1p(w * v) -
               0.5 * (h * h * v + 2.0 * h * m - w * m * m) / share;
    }
    return sum;
}

hf_status hfi_latent_ep(hfi_latent_problem *p, double *value)
{
    const size_t count = 2 * p->n;
    loop l = {.p = p, .before = p->started ? 0.0 : INFINITY, .step = 1.0, .unit = p->work};
    p->rounds = 0;
    l.numbers = hfi_alloc(p->ctx, count, 6 * sizeof *l.numbers);
    if (!l.numbers) return HF_ERR_MEMORY;
    l.cavity = l.numbers;
    l.at = l.numbers + count;
    l.residual = l.numbers + 2 * count;
    l.next = l.numbers + 3 * count;
    hf_status s = hfi_anderson_init(p->ctx, count, &l.history);
    if (s >= 0) s = iterate(&l);
    if (s >= 0 && !isfinite(l.change)) s = HF_ERR_NOT_POSITIVE_DEFINITE; /* nothing to report of this place */
    if (s >= 0) {
        *value = evidence(&l);
        memset(p->bend, 0, p->n * sizeof *p->bend);
    }
    hfi_anderson_free(&l.history);
    hfi_free(p->ctx, l.numbers);
    return s;
}
