/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_naive.h
 * @brief A projection by the book: explicit A, explicit inverses. Include after <cmocka.h>.
 */
#ifndef HF_TEST_PROJECTED_NAIVE_H
#define HF_TEST_PROJECTED_NAIVE_H

#include "solver/naive.h"
#include "solver/projected.h"

/** n present readings, i actions; matrices row-major. White noise of the kernel is in `noise`. */
typedef struct naive_projection {
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t n, count, d;
    double *x, *a, *k, *noise, *white, *residual, *ka, *inverse, *u, *t;
    double log_det;
} naive_projection;

static inline void naive_project(naive_projection *p)
{
    const size_t n = p->n, m = p->count;
    double *g = naive_zeros(m * m), *rhs = naive_zeros(m);
    memset(p->ka, 0, n * m * sizeof *p->ka);
    memset(p->u, 0, m * sizeof *p->u);
    memset(p->t, 0, n * sizeof *p->t);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < m; c++)
            for (size_t j = 0; j < n; j++) p->ka[i * m + c] += p->k[i * n + j] * p->a[j * m + c];
    for (size_t b = 0; b < m; b++)
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < n; i++)
                g[b * m + c] +=
                    p->a[i * m + b] * (p->ka[i * m + c] + p->noise[i] * p->a[i * m + c]);
    for (size_t b = 0; b < m; b++)
        for (size_t i = 0; i < n; i++) rhs[b] += p->a[i * m + b] * p->residual[i];
    free(p->inverse);
    p->inverse = naive_inverse(m, g, &p->log_det);
    for (size_t b = 0; b < m; b++)
        for (size_t c = 0; c < m; c++) p->u[b] += p->inverse[b * m + c] * rhs[c];
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < m; b++) p->t[i] += p->a[i * m + b] * p->u[b];
    free(g);
    free(rhs);
}

/** `a`: n x count by present reading, copied. */
static inline naive_projection naive_projection_make(const hf_kernel *kernel, const hf_mean *mean,
                                                     const hf_sites *sites, const double *x,
                                                     size_t count, const double *a)
{
    naive_projection p = {.kernel = kernel,
                          .mean = mean,
                          .n = hf_sites_present(sites),
                          .count = count,
                          .d = hf_kernel_dimension(kernel)};
    p.x = naive_zeros(p.n * p.d);
    p.a = naive_zeros(p.n * count);
    p.k = naive_zeros(p.n * p.n);
    p.noise = naive_zeros(p.n);
    p.white = naive_zeros(p.n);
    p.residual = naive_zeros(p.n);
    p.ka = naive_zeros(p.n * count);
    p.u = naive_zeros(count);
    p.t = naive_zeros(p.n);
    memcpy(p.a, a, p.n * count * sizeof *a);
    size_t at = 0;
    for (size_t i = 0; i < hf_sites_count(sites); i++) {
        if (!hf_sites_is_present(sites, i)) continue;
        double prior;
        memcpy(p.x + at * p.d, x + i * p.d, p.d * sizeof *x);
        hf_mean_evaluate(mean, 1, x + i * p.d, p.d, &prior);
        p.residual[at] = hf_sites_targets(sites)[i] - prior;
        p.noise[at++] = hf_sites_variances(sites)[i];
    }
    for (size_t i = 0; i < p.n; i++) {
        const double *z = p.x + i * p.d;
        for (size_t j = 0; j < p.n; j++)
            p.k[i * p.n + j] = hfi_kernel_value(kernel, z, p.x + j * p.d, false);
        p.white[i] = hfi_kernel_value(kernel, z, z, true) - p.k[i * p.n + i];
        p.noise[i] += p.white[i];
    }
    naive_project(&p);
    return p;
}

static inline void naive_projection_free(naive_projection *p)
{
    free(p->x);
    free(p->a);
    free(p->k);
    free(p->noise);
    free(p->white);
    free(p->residual);
    free(p->ka);
    free(p->inverse);
    free(p->u);
    free(p->t);
}

/** Latent variance, white noise of the kernel included, of a new point with covariances `cross` and
 * prior variance. */
static inline double naive_projection_variance(const naive_projection *p, const double *cross,
                                               double prior)
{
    double *w = naive_zeros(p->count), value = prior;
    for (size_t b = 0; b < p->count; b++)
        for (size_t i = 0; i < p->n; i++) w[b] += p->a[i * p->count + b] * cross[i];
    for (size_t b = 0; b < p->count; b++)
        for (size_t c = 0; c < p->count; c++) value -= w[b] * p->inverse[b * p->count + c] * w[c];
    free(w);
    return value;
}

/** The answer of a solution, or of the book, at a new point. */
typedef struct prediction {
    double mean, variance; /* less the prior mean; white noise included */
} prediction;

static inline prediction predict(const hf_kernel *kernel, const hfi_solution *s, const double *x)
{
    double *k = naive_zeros(s->n), *room = naive_zeros(hfi_solution_room(s, 1) + 1);
    double *scratch = naive_zeros(hfi_kernel_scratch(kernel));
    prediction p = {0};
    size_t ld;
    hfi_kernel_cross_block(kernel, 1, x, s->d, s->n, s->z, s->d, k, s->n, scratch);
    hfi_kernel_diagonal(kernel, 1, x, s->d, true, &p.variance);
    for (size_t i = 0; i < s->n; i++) p.mean += k[i] * s->t[i];
    const double *w = hfi_solution_whiten(s, 1, k, s->n, room, &ld);
    for (size_t a = 0; a < hfi_solution_rank(s); a++) p.variance -= w[a] * w[a];
    free(k);
    free(room);
    free(scratch);
    return p;
}

static inline prediction naive_predict(const naive_projection *p, const double *x)
{
    double *cross = naive_zeros(p->n);
    prediction out = {0};
    for (size_t i = 0; i < p->n; i++) {
        cross[i] = hfi_kernel_value(p->kernel, x, p->x + i * p->d, false);
        out.mean += cross[i] * p->t[i];
    }
    out.variance = naive_projection_variance(p, cross, hfi_kernel_value(p->kernel, x, x, true));
    free(cross);
    return out;
}

/** ELBO of the sites. */
static inline double naive_projection_bound(const naive_projection *p)
{
    const size_t n = p->n, m = p->count;
    double sum = 0.0, divergence = p->log_det - (double)m;
    double *lambda = naive_zeros(m * m), log_lambda, *inverse;
    for (size_t i = 0; i < n; i++) {
        double mean = 0.0;
        for (size_t b = 0; b < m; b++) mean += p->ka[i * m + b] * p->u[b];
        double v = p->k[i * n + i];
        for (size_t b = 0; b < m; b++)
            for (size_t c = 0; c < m; c++)
                v -= p->ka[i * m + b] * p->inverse[b * m + c] * p->ka[i * m + c];
        const double error = p->residual[i] - mean;
        sum -= 0.5 * (log(2.0 * HFI_PI * p->noise[i]) + (error * error + v) / p->noise[i]);
        divergence += p->t[i] * mean; /* u'A'K A u */
        for (size_t b = 0; b < m; b++)
            for (size_t c = 0; c < m; c++)
                lambda[b * m + c] += p->a[i * m + b] * p->noise[i] * p->a[i * m + c];
    }
    inverse = naive_inverse(m, lambda, &log_lambda);
    divergence -= log_lambda;
    for (size_t b = 0; b < m; b++)
        for (size_t c = 0; c < m; c++) divergence += p->inverse[b * m + c] * lambda[c * m + b];
    free(inverse);
    free(lambda);
    return sum - 0.5 * divergence;
}

/** The same projection with reading j's row of A set to zero: latent mean (less the prior mean) and
 * variance (white noise included) of f_j. Columns of A that become zero are dropped. */
static inline void naive_projection_without(const naive_projection *p, size_t j, double *mean,
                                            double *variance)
{
    naive_projection q = *p;
    const size_t n = p->n, m = p->count;
    q.a = naive_zeros(n * m);
    q.ka = naive_zeros(n * m);
    q.u = naive_zeros(m);
    q.t = naive_zeros(n);
    q.inverse = NULL;
    q.count = 0;
    for (size_t b = 0; b < m; b++) {
        double most = 0.0;
        for (size_t i = 0; i < n; i++) most = fmax(most, i == j ? 0.0 : fabs(p->a[i * m + b]));
        q.count += most > 0.0;
    }
    size_t column = 0;
    for (size_t b = 0; b < m; b++) {
        double most = 0.0;
        for (size_t i = 0; i < n; i++) most = fmax(most, i == j ? 0.0 : fabs(p->a[i * m + b]));
        if (!(most > 0.0)) continue;
        for (size_t i = 0; i < n; i++) q.a[i * q.count + column] = i == j ? 0.0 : p->a[i * m + b];
        column++;
    }
    naive_project(&q);
    *mean = 0.0;
    for (size_t i = 0; i < n; i++) *mean += p->k[j * n + i] * q.t[i];
    *variance = naive_projection_variance(&q, p->k + j * n, p->k[j * n + j]) + p->white[j];
    free(q.a);
    free(q.ka);
    free(q.u);
    free(q.t);
    free(q.inverse);
}

/** Block actions as a matrix, n x count row-major. */
static inline double *naive_block_matrix(const hfi_block_actions *actions)
{
    double *a = naive_zeros(actions->n * actions->count);
    for (size_t b = 0; b < actions->count; b++)
        for (size_t l = actions->first[b]; l < actions->first[b + 1]; l++)
            a[actions->order[l] * actions->count + b] = actions->entry[l];
    return a;
}

#endif
