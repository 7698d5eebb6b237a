/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution that is nearest to the posterior under Student-t noise: natural gradient steps on the ELBO, which may not
 * fall. Its covariance is (K^-1 + W)^-1 for some W; those of wild readings come out negative (Opper and Archambeau 2009, "The variational
 * Gaussian approximation revisited"). */
#include "inference/student_sites.h"
#include "linalg/linalg.h"
#include <math.h>

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

/* The ELBO at the present sites, and the sites that the expectations there ask for. */
static hf_status measure(hfi_site_loop *loop)
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
    hfi_parallel_for(p->evaluator->ctx, (p->n + READINGS - 1) / READINGS, expect, p);
    const hfi_student_expected *at = p->moments;
    loop->usable = true;
    loop->value = -0.5 * p->curved.log_det;
    loop->change = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double w = p->curved.w[i], v = p->variance[i];
        loop->value += at[i].value + 0.5 * (w * v - p->force[i] * p->latent[i]);
        loop->wanted[i] = -2.0 * at[i].v;
        loop->wanted[p->n + i] = at[i].m + loop->wanted[i] * p->latent[i];
        loop->change = fmax(loop->change, fabs(loop->wanted[i] - w) * v);
        loop->change = fmax(loop->change, fabs(at[i].m - p->force[i]) * sqrt(v));
    }
    return s;
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
    hfi_site_loop loop = {.p = p, .measure = measure, .ascends = true, .step = 1.0};
    hf_status s = hfi_site_loop_run(&loop);
    if (s < 0) return s;
    if (gradient) {
        s = hfi_curved_finish(&p->curved, p->variance);
        if (s < 0) return s;
        answers(p);
    }
    *value = loop.value;
    return s;
}
