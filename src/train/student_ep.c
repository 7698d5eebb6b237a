/* SPDX-License-Identifier: Apache-2.0 */
/* Expectation propagation for Student-t noise: all sites at once, damped. Jylanki, Vanhatalo and Vehtari (2011), "Robust Gaussian process
 * regression with a Student-t likelihood". Sites of wild readings have negative precision; a step that would leave no posterior, or
 * a cavity without a variance, is shortened. */
#include "linalg/linalg.h"
#include "train/student_impl.h"
#include <math.h>
#include <string.h>

enum {
    MOST_SWEEPS = 150,
    MOST_HALVINGS = 12,
    PATIENCE = 3 /* sweeps without progress before the damping is increased */
};

static const double first_step = 0.8, least_step = 0.1;
/* Largest change of a site, in units of the marginal posterior, at the fixed point. */
static const double tolerance = 1e-7;

/* What a sweep works on. */
typedef struct sweep {
    double *cavity_mean, *cavity_variance;
    double *good_precision, *good_pull; /* the last sites that had a posterior */
    double value;                       /* log Z at the sites the posterior was computed from */
    double change;                      /* to the sites with the tilted moments */
} sweep;

/* Posterior under the present sites; false if there is none or a cavity has no variance. */
static hf_status posterior(hfi_student_problem *p, sweep *w, bool *usable)
{
    *usable = false;
    p->factorisations++;
    hf_status s = hfi_curved_factor(&p->curved, NULL);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK;
    if (s < 0) return s;
    hfi_student_mean(p, p->pull);
    s = hfi_curved_finish(&p->curved, p->variance);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) {
        const double left = 1.0 - p->curved.w[i] * p->variance[i];
        if (!(left > 0.0 && p->variance[i] > 0.0)) return HF_OK;
        w->cavity_variance[i] = p->variance[i] / left;
        w->cavity_mean[i] = (p->latent[i] - p->variance[i] * p->pull[i]) / left;
    }
    *usable = true;
    return HF_OK;
}

typedef struct tilt_job {
    hfi_student_problem *p;
    sweep *w;
} tilt_job;

enum {
    READINGS = 16 /* in one task */
};

static void tilt(size_t task, int thread, void *arg)
{
    (void)thread;
    const tilt_job *job = arg;
    const hfi_student_problem *p = job->p;
    hfi_student_tilted *moments = p->moments;
    const size_t first = task * READINGS, end = first + READINGS < p->n ? first + READINGS : p->n;
    for (size_t i = first; i < end; i++)
        hfi_student_tilt(&p->t, p->residual[i] - job->w->cavity_mean[i], job->w->cavity_variance[i],
                         p->scale[i], &moments[i]);
}

/* Tilted moments, log Z and the distance to a fixed point, at the posterior in place. */
static void measure(hfi_student_problem *p, sweep *w)
{
    tilt_job job = {p, w};
    hfi_parallel_for(p->evaluator->ctx, (p->n + READINGS - 1) / READINGS, tilt, &job);
    const hfi_student_tilted *moments = p->moments;
    w->value = 0.5 * (hfi_dot(p->n, p->pull, p->latent) - p->curved.log_det);
    w->change = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double tau = p->curved.w[i], h = p->pull[i], m = w->cavity_mean[i], v = w->cavity_variance[i];
        const double grown = 1.0 + tau * v;
        w->value += moments[i].log_z + 0.5 * log(grown) - (h * m + 0.5 * (h * v * h - tau * m * m)) / grown;
        const double pull = moments[i].precision * (m + moments[i].shift) + moments[i].slope;
        w->change = fmax(w->change, fabs(moments[i].precision - tau) * p->variance[i]);
        w->change = fmax(w->change, fabs(pull - h) * sqrt(p->variance[i]));
    }
}

/* Towards the sites with the tilted moments; `step` of the way, from the sites known to be good. */
static void propose(hfi_student_problem *p, const sweep *w, double step)
{
    const hfi_student_tilted *moments = p->moments;
    for (size_t i = 0; i < p->n; i++) {
        const double pull = moments[i].precision * (w->cavity_mean[i] + moments[i].shift) + moments[i].slope;
        p->curved.w[i] = w->good_precision[i] + step * (moments[i].precision - w->good_precision[i]);
        p->pull[i] = w->good_pull[i] + step * (pull - w->good_pull[i]);
    }
}

static hf_status start(hfi_student_problem *p, sweep *w, bool cold)
{
    hf_status s = HF_OK;
    bool usable = false;
    if (!cold) {
        memcpy(p->curved.w, p->kept_precision, p->n * sizeof *p->curved.w);
        memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
        s = posterior(p, w, &usable);
        if (s < 0 || usable) return s;
    }
    s = hfi_student_cold(p);
    if (s < 0) return s;
    hfi_student_positive(p);
    return posterior(p, w, &usable);
}

/* One damped step with a posterior at its end; *moved is false when no step is short enough. */
static hf_status advance(hfi_student_problem *p, sweep *w, double step, bool *moved)
{
    memcpy(w->good_precision, p->curved.w, p->n * sizeof *p->curved.w);
    memcpy(w->good_pull, p->pull, p->n * sizeof *p->pull);
    *moved = false;
    /* The proposals are all made from the moments at the good sites: keep their cavities until one is taken. */
    double *mean = p->work + 4 * p->n;
    memcpy(mean, w->cavity_mean, p->n * sizeof *mean);
    for (int halving = 0; halving < MOST_HALVINGS && !*moved; halving++, step *= 0.5) {
        memcpy(w->cavity_mean, mean, p->n * sizeof *mean);
        propose(p, w, step);
        const hf_status s = posterior(p, w, moved);
        if (s < 0) return s;
    }
    if (*moved) return HF_OK;
    memcpy(p->curved.w, w->good_precision, p->n * sizeof *p->curved.w);
    memcpy(p->pull, w->good_pull, p->n * sizeof *p->pull);
    return posterior(p, w, &(bool){false});
}

static hf_status iterate(hfi_student_problem *p, sweep *w)
{
    double step = first_step, best = INFINITY;
    int waited = 0;
    p->converged = false;
    for (int count = 0; count < MOST_SWEEPS; count++) {
        measure(p, w);
        p->converged = w->change < tolerance;
        if (p->converged) return HF_OK;
        waited = w->change < best ? 0 : waited + 1;
        best = fmin(best, w->change);
        if (waited >= PATIENCE) {
            step = fmax(0.6 * step, least_step);
            waited = 0;
            best = w->change;
        }
        bool moved;
        const hf_status s = advance(p, w, step, &moved);
        if (s < 0) return s;
        if (!moved) break;
    }
    measure(p, w);
    return HF_OK;
}

/* At a fixed point the sites need no differentiating: only the prior and the densities are left. */
static void answers(hfi_student_problem *p)
{
    const hfi_student_tilted *moments = p->moments;
    p->nu_bar = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->v[i] = 0.0;
        p->scale_bar[i] = moments[i].scale;
        p->nu_bar += moments[i].nu;
    }
}

hf_status hfi_student_ep(hfi_student_problem *p, bool gradient, double *value)
{
    double *arrays = hfi_alloc(p->evaluator->ctx, p->n, 4 * sizeof *arrays);
    if (!arrays) return HF_ERR_MEMORY;
    sweep w = {.cavity_mean = arrays,
               .cavity_variance = arrays + p->n,
               .good_precision = arrays + 2 * p->n,
               .good_pull = arrays + 3 * p->n};
    hf_status s = start(p, &w, !p->started);
    if (s >= 0) s = iterate(p, &w);
    if (s >= 0 && !p->converged && p->started) {
        /* The sites of another place led nowhere; once more from this one's own. */
        s = start(p, &w, true);
        if (s >= 0) s = iterate(p, &w);
    }
    if (s >= 0 && gradient) answers(p);
    hfi_free(p->evaluator->ctx, arrays);
    if (s >= 0) *value = w.value;
    return s;
}
