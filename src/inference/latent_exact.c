/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning on sites, and the gradient, by the exact solver: B = I + W^1/2 K W^1/2 and what hfi_curved
 * makes of it. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <string.h>

enum {
    COLUMNS = 32 /* of the weight matrix in one task */
};

hf_status hfi_latent_exact_prepare(hfi_latent_problem *p)
{
    const hf_status s = hfi_kernel_gram_lower(p->ctx, p->kernel, p->n, p->inputs, p->d, p->curved.k, p->n);
    if (s >= 0) hfi_symmetrise(p->ctx, p->n, p->curved.k, p->n);
    return s;
}

void hfi_latent_exact_mean(hfi_latent_problem *p, double *alpha, double *latent)
{
    const hfi_curved *c = &p->curved;
    hfi_curved_k(c, p->linear, latent);
    hfi_curved_r(c, latent, alpha);
    for (size_t i = 0; i < p->n; i++) alpha[i] = p->linear[i] - alpha[i];
    hfi_curved_k(c, alpha, latent);
}

hf_status hfi_latent_exact_condition(hfi_latent_problem *p, double *alpha, double *latent, double *variance)
{
    hfi_curved *c = &p->curved;
    memcpy(c->w, p->w, p->n * sizeof *c->w);
    const hf_status s = hfi_curved_factor(c, p->escape);
    if (s < 0) return s;
    p->log_det = c->log_det;
    hfi_latent_exact_mean(p, alpha, latent);
    return variance ? hfi_curved_variances(c, variance) : HF_OK;
}

/* Share of its curvature below which a direction counts by a tangent in the determinant. Where one vanishes,
 * a mode is about to be lost, the approximation means nothing, and its logarithm would be infinite: a search
 * would go there and stay. */
static const double flat_limit = 0.5;

hf_status hfi_latent_exact_soften(hfi_latent_problem *p, double *log_det)
{
    return hfi_curved_soften(&p->curved, flat_limit, log_det);
}

typedef struct weights {
    const hfi_latent_problem *p;
    const double *v;
} weights;

/* Lower triangle of (aa' - R + va' + av')/2 in place of R, some columns. */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const weights *job = arg;
    const hfi_latent_problem *p = job->p;
    const double *a = p->alpha, *v = job->v;
    const size_t n = p->n, first = task * COLUMNS, end = first + COLUMNS < n ? first + COLUMNS : n;
    for (size_t j = first; j < end; j++) {
        double *w = p->matrix + j * n;
        for (size_t i = j; i < n; i++) w[i] = 0.5 * (a[i] * a[j] - w[i] + v[i] * a[j] + a[i] * v[j]);
    }
}

/* v = (I + W K)^-1 c = c - R K c, with c what the determinant answers to a move of the mode; K v is (K^-1 + W)^-1 c. */
static void answer(hfi_latent_problem *p, double *v)
{
    double *c = p->work, *kc = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) c[i] = p->variance[i] * p->half_third[i];
    hfi_curved_k(&p->curved, c, kc);
    hfi_symv(p->n, p->matrix, p->n, kc, v);
    for (size_t i = 0; i < p->n; i++) v[i] = c[i] - v[i];
    if (p->likelihood->parameter) hfi_curved_k(&p->curved, v, p->answer);
}

hf_status hfi_latent_exact_gradient(hfi_latent_problem *p, double *gradient)
{
    const size_t kernel_count = hf_kernel_parameters(p->kernel), mean_count = hf_mean_coefficients(p->mean);
    double *v = p->work + 2 * p->n, *mean_bar = p->work;
    hf_status s = hfi_curved_finish(&p->curved, p->variance);
    if (s < 0) return s;
    hfi_curved_soften_variances(&p->curved, flat_limit, p->variance);
    answer(p, v);
    hfi_curved_soften_r(&p->curved);
    weights job = {p, v};
    hfi_parallel_for(p->ctx, (p->n + COLUMNS - 1) / COLUMNS, weight_columns, &job);
    memset(gradient, 0, (kernel_count + mean_count) * sizeof *gradient);
    s = hfi_kernel_gram_adjoint(p->ctx, p->kernel, p->n, p->inputs, p->d, p->matrix, p->n, gradient);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) mean_bar[i] = p->alpha[i] + v[i];
    hfi_mean_adjoint(p->mean, p->n, p->inputs, p->d, mean_bar, gradient + kernel_count);
    return s;
}
