/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of Laplace's evidence under the softmax link. Let v = (I + W K)^-1 c, c_i = -W_i (diag Sigma_i
 * - 2 Sigma_i p_i) / 2 for the C x C blocks Sigma_i of the posterior covariance of a reading's latent values.
 * c is half of what -log det(I + K W) answers to a move of the mode:
 *
 *     d value / dK = (aa' - S + va' + av')/2          d value / dm = a + v
 *
 * and, with M = L L', G_c = L^-1 E_c, T_c = L^-1 - G_c D_c^-1,
 *
 *     S_cc = E_c - G_c'G_c        Sigma_ab = [a = b] (K_a^-1 + D_a)^-1 + T_a'T_b        sum_b T_b D_b = L^-1 - L'
 */
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <string.h>

enum {
    COLUMNS = 32 /* of a matrix in one task */
};

/* A probability below which a class takes no part in a reading: squares of it must not vanish. */
static const double least_probability = 1e-150;

typedef struct softmax_gradient_job {
    hfi_softmax_problem *p;
    size_t class;
    double *inverse, *g; /* n x n: L^-1, G_c */
    double *q;           /* C n: diag Sigma - 2 Sigma p */
    bool answers;        /* of the mode */
} softmax_gradient_job;

static size_t end_of(const softmax_gradient_job *j, size_t task)
{
    const size_t end = (task + 1) * COLUMNS;
    return end < j->p->n ? end : j->p->n;
}

static void invert_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const softmax_gradient_job *j = arg;
    const size_t n = j->p->n, first = task * COLUMNS, end = end_of(j, task);
    memset(j->inverse + first * n, 0, (end - first) * n * sizeof *j->inverse);
    for (size_t i = first; i < end; i++) j->inverse[i + i * n] = 1.0;
    hfi_chol_forward_block(n, end - first, j->p->m, n, j->inverse + first * n, n);
}

/* Columns of G_c, and from them this class's entries of q for the readings of these columns. */
static void class_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const softmax_gradient_job *j = arg;
    const hfi_softmax_problem *p = j->p;
    const size_t n = p->n, first = task * COLUMNS, end = end_of(j, task);
    const double *e = p->e + j->class * n * n;
    for (size_t i = first; i < end; i++) {
        double *column = j->g + i * n;
        for (size_t k = 0; k < i; k++) column[k] = e[i + k * n];
        memcpy(column + i, e + i + i * n, (n - i) * sizeof *column);
    }
    hfi_chol_forward_block(n, end - first, p->m, n, j->g + first * n, n);
    for (size_t i = first; i < end; i++) {
        const double probability = p->probability[j->class * n + i];
        const double *column = j->g + i * n, *inverse = j->inverse + i * n;
        if (!(probability > least_probability)) {
            j->q[j->class * n + i] = 0.0; /* it would be multiplied by the probability */
            continue;
        }
        double own = (1.0 - e[i + i * n] / probability) / probability, with_all = own * probability;
        for (size_t k = 0; k < n; k++) {
            const double t = inverse[k] - column[k] / probability;
            own += t * t;
            with_all += t * (inverse[k] - (k <= i ? p->m[i + k * n] : 0.0));
        }
        j->q[j->class * n + i] = own - 2.0 * with_all;
    }
}

/* Lower triangle of (aa' - E + G'G)/2 of one class in place of G'G, or of what the mode answers. */
static void weigh_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const softmax_gradient_job *j = arg;
    const hfi_softmax_problem *p = j->p;
    const size_t n = p->n, first = task * COLUMNS, end = end_of(j, task);
    const double *a = p->alpha + j->class * n, *v = p->v + j->class * n, *e = p->e + j->class * n * n;
    double *w = p->spare + 2 * n * n;
    for (size_t c = first; c < end; c++)
        for (size_t i = c; i < n; i++)
            w[i + c * n] = j->answers ? 0.5 * (v[i] * a[c] + a[i] * v[c])
                                      : 0.5 * (a[i] * a[c] - e[i + c * n] + w[i + c * n]);
}

static hf_status add_weighed(softmax_gradient_job *j, double *gradient)
{
    const hfi_softmax_problem *p = j->p;
    hfi_parallel_for(p->ctx, (p->n + COLUMNS - 1) / COLUMNS, weigh_columns, j);
    return hfi_kernel_gram_adjoint(p->ctx, p->kernel, p->n, p->inputs + j->class * p->n * p->d, p->d,
                                   p->spare + 2 * p->n * p->n, p->n, gradient);
}

/* v from q. */
static void answers(hfi_softmax_problem *p, const double *q)
{
    const size_t n = p->n, length = p->classes * n;
    double *c = p->work + length, *kc = p->work + 2 * length;
    for (size_t i = 0; i < n; i++) {
        double mean = 0.0;
        for (size_t b = 0; b < p->classes; b++) mean += p->probability[b * n + i] * q[b * n + i];
        for (size_t b = 0; b < p->classes; b++)
            c[b * n + i] = -0.5 * p->probability[b * n + i] * (q[b * n + i] - mean);
    }
    hfi_softmax_k(p, c, kc);
    hfi_softmax_s(p, kc, p->v);
    for (size_t k = 0; k < length; k++) p->v[k] = c[k] - p->v[k];
}

hf_status hfi_softmax_gradient(hfi_softmax_problem *p, double *gradient)
{
    const size_t n = p->n, length = p->classes * n, tasks = (n + COLUMNS - 1) / COLUMNS;
    const size_t kernel_count = hf_kernel_parameters(p->kernel), mean_count = hf_mean_coefficients(p->mean);
    softmax_gradient_job j = {.p = p, .inverse = p->spare, .g = p->spare + n * n, .q = p->work};
    hf_status s = HF_OK;
    memset(gradient, 0, (kernel_count + mean_count) * sizeof *gradient);
    hfi_parallel_for(p->ctx, tasks, invert_columns, &j);
    for (j.class = 0; s >= 0 && j.class < p->classes; j.class ++) {
        hfi_parallel_for(p->ctx, tasks, class_columns, &j);
        s = hfi_tall_square(p->ctx, n, n, j.g, n, NULL, p->spare + 2 * n * n, n);
        if (s < 0) return s;
        s = add_weighed(&j, gradient);
    }
    if (s < 0) return s;
    answers(p, j.q);
    j.answers = true;
    for (j.class = 0; s >= 0 && j.class < p->classes; j.class ++) s = add_weighed(&j, gradient);
    double *mean_bar = p->work;
    for (size_t k = 0; k < length; k++) mean_bar[k] = p->alpha[k] + p->v[k];
    hfi_mean_adjoint(p->mean, length, p->inputs, p->d, mean_bar, gradient + kernel_count);
    return s;
}
