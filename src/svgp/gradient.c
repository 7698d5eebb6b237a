/* SPDX-License-Identifier: Apache-2.0 */
/* The bound's gradient at fixed q(v). Let Abar be the adjoint of A = Lu^-1 K. That of K is Lu^-T Abar, and that
 * of Kuu is Lu^-T M Lu^-1. M is symmetric with the lower triangle of -Abar A' / 2 (Murray 2016, differentiation of
 * Cholesky's factor). */
#include "svgp/impl.h"

enum {
    CHUNK = 64 /* columns of one task */
};

typedef struct solve_job {
    size_t m, count;
    const double *l;
    double *b;
} solve_job;

static void solve_chunk(size_t task, int thread, void *arg)
{
    (void)thread;
    const solve_job *job = arg;
    const size_t begin = task * CHUNK, left = job->count - begin;
    hfi_chol_backward_block(job->m, left < CHUNK ? left : CHUNK, job->l, job->m, job->b + begin * job->m,
                            job->m);
}

/* B := L^-T B for `count` columns. */
static void solve_transposed(const hfi_svgp *q, size_t count, double *b)
{
    solve_job job = {.m = q->m, .count = count, .l = q->lu, .b = b};
    hfi_parallel_for(q->ctx, (count + CHUNK - 1) / CHUNK, solve_chunk, &job);
}

static double *z_part(const hfi_svgp *q, const hfi_svgp_sums *sums)
{
    const size_t before = hf_kernel_parameters(q->kernel) + hf_mean_coefficients(q->mean) + 1;
    return sums->z_trained ? sums->gradient + before : NULL;
}

hf_status hfi_svgp_add_gradient(hfi_svgp *q, size_t count, const double *x, hfi_svgp_sums *sums)
{
    const size_t m = q->m, kernel_count = hf_kernel_parameters(q->kernel);
    const size_t mean_count = hf_mean_coefficients(q->mean);
    const size_t last = hfi_svgp_gradient_length(q, sums->z_trained) - 1;
    double *by_mean = q->row, *by_variance = q->row + q->capacity, *by_white = q->row + 2 * q->capacity;
    for (size_t i = 0; i < count; i++) {
        const hfi_svgp_term *e = &q->term[i];
        by_mean[i] = e->mean;
        by_variance[i] = e->variance;
        by_white[i] = e->white;
        sums->gradient[kernel_count + mean_count] += e->noise;
        sums->gradient[last] += e->nu;
    }
    hfi_lower_product(q->ctx, m, count, q->t, m, q->a, m, sums->corner, m);
    solve_transposed(q, count, q->t);
    hfi_mean_adjoint(q->mean, count, x, q->d, by_mean, sums->gradient + kernel_count);
    hfi_kernel_diagonal_adjoint(q->kernel, count, x, q->d, by_variance, by_white, sums->gradient);
    return hfi_kernel_cross_adjoint(q->ctx, q->kernel, count, x, q->d, m, q->z, q->d, q->t, m, sums->gradient,
                                    z_part(q, sums));
}

static void transpose(size_t m, const double *from, double *to)
{
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++) to[j + i * m] = from[i + j * m];
}

hf_status hfi_svgp_close(hfi_svgp *q, hfi_svgp_sums *sums)
{
    const size_t m = q->m;
    double *b = q->spare, *kuu = q->another;
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++) b[i + j * m] = b[j + i * m] = -0.5 * sums->corner[i + j * m];
    solve_transposed(q, m, b);
    transpose(m, b, kuu);
    solve_transposed(q, m, kuu);
    hf_status s = hfi_kernel_gram_adjoint(q->ctx, q->kernel, m, q->z, q->d, kuu, m, sums->gradient);
    if (s >= 0 && sums->z_trained)
        s = hfi_kernel_gram_input_adjoint(q->ctx, q->kernel, m, q->z, q->d, kuu, m, z_part(q, sums));
    /* Kuu is without white noise, the Gram matrix that was differentiated is not. */
    for (size_t j = 0; j < m; j++) b[j] = -kuu[j + j * m];
    hfi_kernel_diagonal_adjoint(q->kernel, m, q->z, q->d, NULL, b, sums->gradient);
    return s;
}
