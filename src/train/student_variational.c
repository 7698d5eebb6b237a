/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution that is nearest to the posterior under Student-t noise: natural gradient steps on the ELBO, shortened until it
 * rises. Its covariance is (K^-1 + W)^-1 for some W; those of wild readings come out negative (Opper and Archambeau 2009, "The variational
 * Gaussian approximation revisited"). */
#include "linalg/linalg.h"
#include "train/student_impl.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 200,
    MOST_HALVINGS = 12
};

/* Largest change of a precision or a force, in units of the marginal posterior, at the maximum. */
static const double tolerance = 1e-7;

typedef struct ascent {
    double *precision, *force; /* before the step */
    double *wanted, *pulled;   /* the step's end: precisions, and (K^-1 + W) g for the wanted mean */
    double value, change;
} ascent;

enum {
    READINGS = 16 /* in one task */
};

static void expect(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_student_problem *p = arg;
    hfi_student_expected *at = p->moments;
    const size_t first = task * READINGS, end = first + READINGS < p->n ? first + READINGS : p->n;
    for (size_t i = first; i < end; i++)
        hfi_student_expect(&p->t, p->residual[i] - p->latent[i], fmax(p->variance[i], 0.0), p->scale[i],
                           &at[i]);
}

/* ELBO at the precisions w and the force a; g, the marginal variances and the expectations follow. R is left in the matrix. */
static hf_status elbo(hfi_student_problem *p, double *value)
{
    hf_status s = hfi_curved_finish(&p->curved, p->variance);
    if (s < 0) return s;
    hfi_parallel_for(p->evaluator->ctx, (p->n + READINGS - 1) / READINGS, expect, p);
    const hfi_student_expected *at = p->moments;
    double sum = -0.5 * p->curved.log_det;
    for (size_t i = 0; i < p->n; i++)
        sum += at[i].value + 0.5 * (p->curved.w[i] * p->variance[i] - p->force[i] * p->latent[i]);
    *value = sum;
    return HF_OK;
}

/* The sites that the expectations at the present q ask for. */
static void ask(const hfi_student_problem *p, ascent *to)
{
    const hfi_student_expected *at = p->moments;
    to->change = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        to->wanted[i] = -2.0 * at[i].v;
        to->change = fmax(to->change, fabs(to->wanted[i] - p->curved.w[i]) * p->variance[i]);
        to->change = fmax(to->change, fabs(at[i].m - p->force[i]) * sqrt(p->variance[i]));
    }
}

/* A share `step` of the way in the natural parameters: precision, and pull = force + precision x latent. -infinity where there is no
 * such posterior. */
static hf_status take(hfi_student_problem *p, const ascent *from, double step, double *value)
{
    *value = -INFINITY;
    double *pull = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) {
        p->curved.w[i] = from->precision[i] + step * (from->wanted[i] - from->precision[i]);
        pull[i] = p->pull[i] + step * (from->pulled[i] - p->pull[i]);
    }
    p->factorisations++;
    const hf_status s = hfi_curved_factor(&p->curved, NULL);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK;
    if (s < 0) return s;
    hfi_student_mean(p, pull);
    return elbo(p, value);
}

static hf_status start(hfi_student_problem *p, double *value)
{
    hf_status s = HF_ERR_NOT_POSITIVE_DEFINITE;
    if (p->started) {
        memcpy(p->curved.w, p->kept_precision, p->n * sizeof *p->curved.w);
        memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
        p->factorisations++;
        s = hfi_curved_factor(&p->curved, NULL);
    }
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) {
        s = hfi_student_cold(p);
        if (s < 0) return s;
        hfi_student_positive(p);
        p->factorisations++;
        s = hfi_curved_factor(&p->curved, NULL);
    }
    if (s < 0) return s;
    hfi_student_mean(p, p->pull);
    return elbo(p, value);
}

/* One step that raises the ELBO; *moved is false when none does, which is as far as rounding lets it rise. */
static hf_status rise(hfi_student_problem *p, ascent *at, bool *moved)
{
    const hfi_student_expected *moments = p->moments;
    memcpy(at->precision, p->curved.w, p->n * sizeof *p->curved.w);
    memcpy(at->force, p->force, p->n * sizeof *p->force);
    for (size_t i = 0; i < p->n; i++) {
        p->pull[i] = at->force[i] + at->precision[i] * p->latent[i];
        at->pulled[i] = moments[i].m + at->wanted[i] * p->latent[i];
    }
    const double slack = at->change < 1e-4 ? 1e-12 * (1.0 + fabs(at->value)) : 0.0;
    double step = 1.0, value = 0.0;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        const hf_status s = take(p, at, step, &value);
        if (s < 0) return s;
        *moved = value >= at->value - slack;
        if (!*moved) continue;
        at->value = value;
        return HF_OK;
    }
    return take(p, at, 0.0, &at->value);
}

/* At the maximum q needs no differentiating. */
static void answers(hfi_student_problem *p)
{
    const hfi_student_expected *at = p->moments;
    p->nu_bar = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->v[i] = 0.0;
        p->scale_bar[i] = at[i].scale;
        p->nu_bar += at[i].nu;
    }
}

hf_status hfi_student_variational(hfi_student_problem *p, bool gradient, double *value)
{
    double *arrays = hfi_alloc(p->evaluator->ctx, p->n, 4 * sizeof *arrays);
    if (!arrays) return HF_ERR_MEMORY;
    ascent at = {.precision = arrays,
                 .force = arrays + p->n,
                 .wanted = arrays + 2 * p->n,
                 .pulled = arrays + 3 * p->n};
    hf_status s = start(p, &at.value);
    p->converged = false;
    bool moved = true;
    for (int step = 0; s >= 0 && moved && step < MOST_STEPS; step++) {
        ask(p, &at);
        p->converged = at.change < tolerance;
        if (p->converged) break;
        s = rise(p, &at, &moved);
    }
    for (size_t i = 0; s >= 0 && i < p->n; i++) p->pull[i] = p->force[i] + p->curved.w[i] * p->latent[i];
    if (s >= 0 && gradient) answers(p);
    hfi_free(p->evaluator->ctx, arrays);
    if (s >= 0) *value = at.value;
    return s;
}
