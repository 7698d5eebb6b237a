/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_reference.h
 * @brief The inducing approximations by the book: dense n x n matrices with explicit inverses;
 * problems to try them on, and groups of processes played by threads. Include after <cmocka.h>.
 *
 * The prior of the latent values is Q = K_XZ Kuu^-1 K_ZX instead of K, and site j has the variance
 * D_j = d_j + white_j, FITC adding k_jj - q_jj. Absent readings are not there.
 */
#ifndef HF_TEST_INDUCING_REFERENCE_H
#define HF_TEST_INDUCING_REFERENCE_H

#include "solver/inducing.h"
#include "solver/naive.h"

#include <pthread.h>

typedef struct reference {
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t n, m, d;
    const double *z;
    double *x;        /* n x d: present rows */
    double *residual; /* target - prior mean */
    double *noise;    /* D_j */
    double *k;        /* n x m: k(x_j, z_i) */
    double *kuu, *kuu_inverse;
    double *a;      /* Q + D */
    double *g;      /* its inverse */
    double *gap;    /* k_jj - q_jj */
    double log_det; /* log det (Q + D) */
    double trace;   /* sum of gap / (d + white) */
} reference;

static inline double reference_white(const hf_kernel *kernel, const double *x)
{
    return hfi_kernel_value(kernel, x, x, true) - hfi_kernel_value(kernel, x, x, false);
}

/* u' A v for a square matrix. */
static inline double reference_form(size_t n, const double *a, const double *u, const double *v)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += u[i] * a[i * n + j] * v[j];
    return sum;
}

static inline void reference_prior(reference *r)
{
    const double jitter = HFI_INDUCING_JITTER * hfi_jitter_scale(r->kernel, r->m, r->z, r->d);
    r->kuu = naive_zeros(r->m * r->m);
    for (size_t i = 0; i < r->m; i++)
        for (size_t j = 0; j < r->m; j++)
            r->kuu[i * r->m + j] =
                hfi_kernel_value(r->kernel, r->z + i * r->d, r->z + j * r->d, false) +
                (i == j ? jitter : 0.0);
    r->kuu_inverse = naive_inverse(r->m, r->kuu, NULL);
}

static inline reference reference_make(const hf_kernel *kernel, const hf_mean *mean,
                                       const hf_sites *sites, const double *x, size_t d,
                                       hf_inducing_method method, size_t m, const double *z)
{
    reference r = {
        .kernel = kernel, .mean = mean, .n = hf_sites_present(sites), .m = m, .d = d, .z = z};
    r.x = naive_zeros(r.n * d);
    r.residual = naive_zeros(r.n);
    r.noise = naive_zeros(r.n);
    r.gap = naive_zeros(r.n);
    r.k = naive_zeros(r.n * m);
    r.a = naive_zeros(r.n * r.n);
    reference_prior(&r);
    size_t j = 0;
    for (size_t i = 0; i < hf_sites_count(sites); i++) {
        if (!hf_sites_is_present(sites, i)) continue;
        double *row = r.x + j * d, *k = r.k + j * m, prior;
        memcpy(row, x + i * d, d * sizeof *row);
        hf_mean_evaluate(mean, 1, row, d, &prior);
        for (size_t u = 0; u < m; u++) k[u] = hfi_kernel_value(kernel, row, z + u * d, false);
        r.residual[j] = hf_sites_targets(sites)[i] - prior;
        r.noise[j] = hf_sites_variances(sites)[i] + reference_white(kernel, row);
        r.gap[j] =
            hfi_kernel_value(kernel, row, row, false) - reference_form(m, r.kuu_inverse, k, k);
        r.trace += r.gap[j] / r.noise[j];
        if (method == HF_INDUCING_FITC) r.noise[j] += r.gap[j];
        j++;
    }
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < r.n; k++)
            r.a[i * r.n + k] = reference_form(m, r.kuu_inverse, r.k + i * m, r.k + k * m) +
                               (i == k ? r.noise[i] : 0.0);
    r.g = naive_inverse(r.n, r.a, &r.log_det);
    return r;
}

static inline void reference_free(reference *r)
{
    free(r->x);
    free(r->residual);
    free(r->noise);
    free(r->gap);
    free(r->k);
    free(r->a);
    free(r->g);
    free(r->kuu);
    free(r->kuu_inverse);
}

static inline double reference_evidence(const reference *r, hf_inducing_method method)
{
    const double fit = reference_form(r->n, r->g, r->residual, r->residual);
    return -0.5 * (fit + r->log_det + (double)r->n * log(2.0 * HFI_PI)) -
           (method == HF_INDUCING_VFE ? 0.5 * r->trace : 0.0);
}

/* q(x, x_j) for all readings. */
static inline double *reference_column(const reference *r, const double *x)
{
    double *k = naive_zeros(r->m), *q = naive_zeros(r->n);
    for (size_t u = 0; u < r->m; u++) k[u] = hfi_kernel_value(r->kernel, x, r->z + u * r->d, false);
    for (size_t j = 0; j < r->n; j++)
        q[j] = reference_form(r->m, r->kuu_inverse, k, r->k + j * r->m);
    free(k);
    return q;
}

/* Mean and variance (white included) at a point: k(x, x) - q G q', as if Q were the covariance with
 * the readings. */
static inline void reference_predict(const reference *r, const double *x, double *mean,
                                     double *variance)
{
    double *q = reference_column(r, x), prior;
    hf_mean_evaluate(r->mean, 1, x, r->d, &prior);
    *mean = prior + reference_form(r->n, r->g, q, r->residual);
    *variance = hfi_kernel_value(r->kernel, x, x, true) - reference_form(r->n, r->g, q, q);
    free(q);
}

/* KL(q(u) || p(u)) for q(u) of mean Kuu Sigma^-1 b and covariance Kuu Sigma^-1 Kuu. */
static inline double reference_divergence(const reference *r)
{
    const size_t m = r->m;
    double *sigma = naive_zeros(m * m), *b = naive_zeros(m), *t = naive_zeros(m), of_sigma, of_kuu,
           trace = 0.0;
    memcpy(sigma, r->kuu, m * m * sizeof *sigma);
    for (size_t j = 0; j < r->n; j++)
        for (size_t u = 0; u < m; u++) {
            b[u] += r->k[j * m + u] * r->residual[j] / r->noise[j];
            for (size_t v = 0; v < m; v++)
                sigma[u * m + v] += r->k[j * m + u] * r->k[j * m + v] / r->noise[j];
        }
    double *inverse = naive_inverse(m, sigma, &of_sigma);
    free(naive_inverse(m, r->kuu, &of_kuu));
    for (size_t u = 0; u < m; u++)
        for (size_t v = 0; v < m; v++) {
            t[u] += inverse[u * m + v] * b[v];
            trace += inverse[u * m + v] * r->kuu[v * m + u];
        }
    const double kl =
        0.5 * (reference_form(m, r->kuu, t, t) + trace - (double)m + of_sigma - of_kuu);
    free(inverse);
    free(sigma);
    free(b);
    free(t);
    return kl;
}

/* ---- problems -------------------------------------------------------------------------------- */

typedef enum reference_sites {
    REFERENCE_GAUSSIAN,
    REFERENCE_ROBUST,
    REFERENCE_AMPLITUDE, /* robust with beta = 1 */
    REFERENCE_GIVEN,     /* targets and variances of their own */
    REFERENCE_SITES
} reference_sites;

/* Readings as in naive.h with gross errors; every ninth one is missing, and nothing is known about
 * its input. */
static inline problem reference_problem(hf_context *ctx, const char *expression, size_t n, size_t d,
                                        reference_sites kind)
{
    problem p = problem_make(ctx, expression, n, d, 0.09);
    double *centre = naive_zeros(n);
    for (size_t i = 0; i < n; i++) {
        centre[i] = 0.2 * p.x[i * d];
        if (i % 7 == 3) p.y[i] += 5.0;
        if (i % 9 == 4) p.y[i] = NAN;
    }
    hf_sites_free(p.sites);
    if (kind == REFERENCE_ROBUST || kind == REFERENCE_AMPLITUDE)
        assert_int_equal(hf_sites_robust(ctx, n, p.y, p.noise, p.extra, centre, 0.8, &p.sites),
                         HF_OK);
    else
        assert_int_equal(hf_sites_gaussian(ctx, n, p.y, p.noise, p.extra, &p.sites), HF_OK);
    if (kind == REFERENCE_AMPLITUDE) assert_int_equal(hf_sites_set_beta(ctx, p.sites, 1.0), HF_OK);
    if (kind == REFERENCE_GIVEN) {
        double *variance = naive_zeros(n);
        for (size_t i = 0; i < n; i++)
            variance[i] = i % 11 == 5 ? INFINITY : 0.05 + 0.02 * (double)(i % 13);
        hfi_sites_give(p.sites, p.y, variance);
        free(variance);
    }
    free(centre);
    return p;
}

/* m places among the rows' neighbourhood. */
static inline double *reference_inputs(size_t m, size_t d)
{
    return problem_inputs(m, d, 23);
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum {
    REFERENCE_MOST_PROCESSES = 5
};

/* Threads that play processes: the last to arrive adds up, in the order of the ranks. */
typedef struct party {
    size_t size;
    pthread_barrier_t barrier;
    double *values[REFERENCE_MOST_PROCESSES];
} party;

typedef struct member {
    party *party;
    size_t rank;
    void (*body)(hf_context *ctx, size_t rank, void *arg);
    void *arg;
} member;

static inline bool party_sum(size_t count, double *values, void *user)
{
    member *me = user;
    party *p = me->party;
    p->values[me->rank] = values;
    pthread_barrier_wait(&p->barrier);
    double *sum = calloc(count + 1, sizeof *sum);
    for (size_t r = 0; r < p->size && sum; r++)
        for (size_t k = 0; k < count; k++) sum[k] += p->values[r][k];
    pthread_barrier_wait(&p->barrier);
    if (sum) memcpy(values, sum, count * sizeof *sum);
    free(sum);
    pthread_barrier_wait(&p->barrier);
    return sum != NULL;
}

static inline void *party_member(void *arg)
{
    member *me = arg;
    hf_context *ctx = hf_context_create();
    const hf_group group = {
        .rank = me->rank, .size = me->party->size, .sum = party_sum, .user = me};
    if (hf_context_set_threads(ctx, 1) == HF_OK && hf_context_set_group(ctx, &group) == HF_OK)
        me->body(ctx, me->rank, me->arg);
    hf_context_free(ctx);
    return NULL;
}

/* Runs body in `size` processes at once. No assertions inside: they would leave the others
 * waiting. */
static inline void party_run(size_t size, void (*body)(hf_context *ctx, size_t rank, void *arg),
                             void *arg)
{
    party p = {.size = size};
    member members[REFERENCE_MOST_PROCESSES];
    pthread_t threads[REFERENCE_MOST_PROCESSES];
    assert_int_equal(pthread_barrier_init(&p.barrier, NULL, (unsigned)size), 0);
    for (size_t r = 0; r < size; r++) {
        members[r] = (member){.party = &p, .rank = r, .body = body, .arg = arg};
        assert_int_equal(pthread_create(&threads[r], NULL, party_member, &members[r]), 0);
    }
    for (size_t r = 0; r < size; r++) assert_int_equal(pthread_join(threads[r], NULL), 0);
    pthread_barrier_destroy(&p.barrier);
}

#endif
