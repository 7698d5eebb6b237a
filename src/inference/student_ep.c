/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation for Student-t noise: all sites at once. Jylanki, Vanhatalo and Vehtari (2011), "Robust Gaussian process
 * regression with a Student-t likelihood". Sites of wild readings have negative precision; a step that would leave no posterior, or
 * a cavity without a variance, is shortened. */
#include "inference/student_sites.h"
#include "linalg/linalg.h"
#include <math.h>

enum {
    READINGS = 16 /* in one task */
};

/* Posterior under the present sites, and its cavities; unusable if there is none or a cavity has no variance. */
static hf_status posterior(hfi_site_loop *loop)
{
    hfi_student_problem *p = loop->p;
    loop->usable = false;
    p->factorisations++;
    hf_status s = hfi_curved_factor(&p->curved, NULL);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK;
    if (s < 0) return s;
    hfi_student_mean(p, p->pull);
    s = hfi_curved_variances(&p->curved, p->variance);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) {
        const double left = 1.0 - p->power * p->curved.w[i] * p->variance[i];
        if (!(left > 0.0 && p->variance[i] > 0.0)) return HF_OK;
        loop->cavity[i] = (p->latent[i] - p->power * p->variance[i] * p->pull[i]) / left;
        loop->cavity[p->n + i] = p->variance[i] / left;
    }
    loop->usable = true;
    return HF_OK;
}

static void tilt(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_site_loop *loop = arg;
    const hfi_student_problem *p = loop->p;
    hfi_student_tilted *moments = p->moments;
    const size_t first = task * READINGS, end = first + READINGS < p->n ? first + READINGS : p->n;
    for (size_t i = first; i < end; i++)
        hfi_student_tilt_power(&p->t, &p->powered, p->power, p->residual[i] - loop->cavity[i],
                               loop->cavity[p->n + i], p->scale[i], &moments[i]);
}

/* Tilted moments, the sites that have them, and log Z. Of each site a share `power` is taken out for the cavity. */
static hf_status measure(hfi_site_loop *loop)
{
    hfi_student_problem *p = loop->p;
    const hf_status s = posterior(loop);
    if (s < 0 || !loop->usable) return s;
    p->powered = hfi_student_power(&p->t, p->power);
    hfi_parallel_for(p->evaluator->ctx, (p->n + READINGS - 1) / READINGS, tilt, loop);
    const hfi_student_tilted *moments = p->moments;
    loop->value = 0.5 * (hfi_dot(p->n, p->pull, p->latent) - p->curved.log_det);
    loop->change = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double tau = p->power * p->curved.w[i], h = p->power * p->pull[i];
        const double m = loop->cavity[i], v = loop->cavity[p->n + i], grown = 1.0 + tau * v;
        const double site = (h * m + 0.5 * (h * v * h - tau * m * m)) / grown - 0.5 * log(grown);
        loop->value += (moments[i].log_z - site) / p->power;
        loop->wanted[i] = moments[i].precision / p->power;
        loop->wanted[p->n + i] =
            (moments[i].precision * (m + moments[i].shift) + moments[i].slope) / p->power;
        const double pull = fabs(loop->wanted[p->n + i] - p->pull[i]) * sqrt(p->variance[i]);
        loop->change = fmax(loop->change, fabs(loop->wanted[i] - p->curved.w[i]) * p->variance[i]);
        loop->change = fmax(loop->change, pull);
    }
    return s;
}

/* At a fixed point the sites need no differentiating: only the prior and the densities are left. */
static void answers(hfi_student_problem *p)
{
    const hfi_student_tilted *moments = p->moments;
    p->nu_bar = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->v[i] = 0.0;
        p->scale_bar[i] = moments[i].scale / p->power;
        p->nu_bar += moments[i].nu / p->power;
    }
}

hf_status hfi_student_ep(hfi_student_problem *p, bool gradient, double *value)
{
    hfi_site_loop loop = {.p = p, .measure = measure, .step = 0.8};
    hf_status s = hfi_site_loop_run(&loop);
    if (p->started && (s == HF_ERR_NOT_POSITIVE_DEFINITE || (s >= 0 && !p->converged))) {
        /* The sites of another place led nowhere; once more from this one's own. */
        p->started = false;
        loop = (hfi_site_loop){.p = p, .measure = measure, .step = 0.5};
        s = hfi_site_loop_run(&loop);
        p->started = true;
    }
    if (s < 0) return s;
    if (gradient) {
        s = hfi_curved_finish(&p->curved, p->variance);
        if (s < 0) return s;
        answers(p);
    }
    *value = loop.value;
    return s;
}
