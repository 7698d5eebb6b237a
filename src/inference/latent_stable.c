/* SPDX-License-Identifier: Apache-2.0 */
/* Where a log density is not concave: a start that outliers have little say in, steps that never lower the
 * posterior density, and a way out of saddles. Vanhatalo, Jylanki and Vehtari (2009), "Gaussian process
 * regression with Student-t likelihood". Exact solver alone. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    COLD_STEPS = 6
};

/* The first-order gain below which a direction is no way up. */
static const double below_rounding = 1e-9;

void hfi_latent_touch(hfi_latent_problem *p, double widening)
{
    for (size_t i = 0; i < p->n; i++) {
        p->w[i] = p->likelihood->touch(&p->seen[i], p->offset[i] + p->latent[i], widening);
        p->linear[i] = p->w[i] * (p->seen[i].y - p->offset[i]);
    }
}

/* One step of re-weighted least squares, which with a widening of 1 never lowers the posterior density. */
static hf_status reweigh(hfi_latent_problem *p, double widening)
{
    hfi_latent_touch(p, widening);
    return hfi_latent_condition(p, p->alpha, p->latent, NULL);
}

hf_status hfi_latent_cold(hfi_latent_problem *p)
{
    double mean = 0.0, squared = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->work[i] = fabs(p->seen[i].y - p->offset[i]);
        mean += p->seen[i].dispersion / (double)p->n;
    }
    squared = hfi_median(p->work, p->n) * 1.4826;
    squared *= squared;
    const double widest = fmax(squared / mean, 1.0);
    memset(p->latent, 0, p->n * sizeof *p->latent);
    hf_status s = HF_OK;
    for (int step = 0; s >= 0 && step < COLD_STEPS; step++)
        s = reweigh(p, pow(widest, 1.0 - step / (COLD_STEPS - 1.0)));
    return s;
}

/* Along the direction in which the posterior curves upwards. False where rounding made it look like one. */
static bool escape(hfi_mode_search *search, double *alpha)
{
    const hfi_latent_problem *p = search->self;
    double *latent = search->step_latent, largest = 0.0, scale = 0.0;
    hfi_curved_k(&p->curved, alpha, latent);
    for (size_t i = 0; i < p->n; i++) {
        largest = fmax(largest, fabs(latent[i]));
        scale = fmax(scale, sqrt(p->seen[i].dispersion));
    }
    if (!(largest > 0.0)) return false;
    for (size_t i = 0; i < p->n; i++) {
        latent[i] *= scale / largest;
        alpha[i] *= scale / largest;
    }
    return hfi_mode_climb(search, 1.0, 0.0, alpha, latent) ||
           hfi_mode_climb(search, -1.0, 0.0, alpha, latent);
}

/* The direction (K^-1 + W+)^-1 (l' - a), whose factor is in place. @return its first-order gain. */
static double positive_direction(hfi_latent_problem *p, double *alpha, double *latent)
{
    double *e = p->work, *ke = p->work + p->n;
    p->curved.negatives = 0;
    for (size_t i = 0; i < p->n; i++) e[i] = p->at[i].f - p->alpha[i];
    hfi_curved_k(&p->curved, e, ke);
    hfi_curved_r(&p->curved, ke, alpha);
    for (size_t i = 0; i < p->n; i++) alpha[i] = e[i] - alpha[i];
    hfi_curved_k(&p->curved, alpha, latent);
    return hfi_dot(p->n, e, latent);
}

hf_status hfi_latent_leave_saddle(hfi_mode_search *search)
{
    hfi_latent_problem *p = search->self;
    double *alpha = search->step_alpha, *latent = search->step_latent;
    const double slope = positive_direction(p, alpha, latent);
    if (slope > below_rounding && hfi_mode_climb(search, 1.0, slope, alpha, latent)) return HF_OK;
    if (slope > below_rounding) return reweigh(p, 1.0);
    return escape(search, p->escape) ? HF_OK : HF_ERR_NOT_POSITIVE_DEFINITE;
}
