/* SPDX-License-Identifier: Apache-2.0 */
/* The joint distribution of the latent function at several points. */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>

enum {
    BLOCK = 64 /* points of a task, and side of a tile of the covariance */
};

typedef struct joint_covariance {
    const hf_posterior *posterior;
    size_t m;
    const double *x;  /* m x d, scaled units */
    double *v;        /* anchors x m: k(Z, x) */
    double *whitened; /* rank x m: R' k(Z, x); for the exact form v itself */
    double *mean;     /* m */
    double *c;        /* m x m: k(x, x), then less V' V */
    double *scratch;  /* per thread, the kernel's */
    size_t scratch_size;
} joint_covariance;

static size_t extent(const joint_covariance *job, size_t block)
{
    size_t begin = block * BLOCK;
    return job->m - begin < BLOCK ? job->m - begin : BLOCK;
}

/* A block of V, and its mean on the way. */
static void whiten_covariance_block(size_t block, int thread, void *arg)
{
    const joint_covariance *job = arg;
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    size_t begin = block * BLOCK, count = extent(job, block);
    const double *x = job->x + begin * s->d;
    double *v = job->v + begin * s->n, *mean = job->mean + begin;
    hfi_kernel_cross_block(p->kernel, count, x, s->d, s->n, s->z, s->d, v, s->n,
                           job->scratch + (size_t)thread * job->scratch_size);
    hf_mean_evaluate(p->mean, count, x, s->d, mean);
    for (size_t q = 0; q < count; q++) mean[q] += hfi_dot(s->n, v + q * s->n, s->t);
    size_t ld;
    double *room = job->whitened + begin * hfi_solution_rank(s);
    hfi_solution_whiten(s, count, v, s->n, s->form == HFI_FORM_EXACT ? NULL : room, &ld);
}

/* One block column of the lower triangle of C -= V' V. */
static void subtract(size_t column, int thread, void *arg)
{
    (void)thread;
    const joint_covariance *job = arg;
    size_t n = hfi_solution_rank(&job->posterior->solution), begin = column * BLOCK;
    const double *right = job->whitened + begin * n;
    for (size_t row = column; row * BLOCK < job->m; row++)
        hfi_gemm_tn(extent(job, row), extent(job, column), n, -1.0, job->whitened + row * BLOCK * n, n, right,
                    n, 1.0, job->c + row * BLOCK + begin * job->m, job->m);
    for (size_t i = begin; i < begin + extent(job, column); i++)
        job->c[i + i * job->m] = hfi_variance_clamp(job->c[i + i * job->m]);
}

static hf_status check_result(hf_context *ctx, const joint_covariance *job)
{
    for (size_t j = 0; j < job->m; j++) {
        bool finite = isfinite(job->mean[j]);
        for (size_t i = j; i < job->m; i++) finite = finite && isfinite(job->c[i + j * job->m]);
        if (!finite)
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the joint distribution overflows at row %zu (counted from 0)", j);
    }
    return HF_OK;
}

hf_status hfi_posterior_joint_scaled(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                     const double *x, double *mean, double *covariance)
{
    const hfi_solution *s = &posterior->solution;
    hf_status status = hfi_require_memory(ctx, "a joint prediction", m,
                                          (double)sizeof *x * (double)m * ((double)s->n + (double)s->d));
    if (status < 0) return status;
    joint_covariance job = {.posterior = posterior, .m = m, .x = x, .mean = mean, .c = covariance};
    job.scratch_size = hfi_kernel_scratch(posterior->kernel);
    job.v = hfi_alloc(ctx, m, s->n * sizeof *job.v);
    job.scratch = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), job.scratch_size * sizeof *job.scratch);
    const bool in_place = s->form == HFI_FORM_EXACT;
    const size_t blocks = (m + BLOCK - 1) / BLOCK;
    job.whitened = in_place ? job.v : hfi_alloc(ctx, hfi_solution_room(s, m), sizeof *job.whitened);
    if (job.v == NULL || job.whitened == NULL || job.scratch == NULL) {
        status = HF_ERR_MEMORY;
    } else {
        status = hfi_parallel_rounds(ctx, "whiten", blocks, whiten_covariance_block, &job);
        if (status >= 0)
            status = hfi_kernel_gram_lower(ctx, posterior->kernel, m, job.x, s->d, covariance, m);
        if (status >= 0) status = hfi_parallel_rounds(ctx, "covariance", blocks, subtract, &job);
        if (status >= 0) status = check_result(ctx, &job);
    }
    hfi_free(ctx, job.v);
    if (!in_place) hfi_free(ctx, job.whitened);
    hfi_free(ctx, job.scratch);
    return status;
}

hf_status hfi_posterior_joint(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                              size_t ldx, double *mean, double *covariance)
{
    double *z = hfi_alloc(ctx, m, posterior->solution.d * sizeof *z);
    if (z == NULL) return HF_ERR_MEMORY;
    hfi_scaling_inputs(&posterior->scaling, m, x, ldx, z);
    const hf_status status = hfi_posterior_joint_scaled(ctx, posterior, m, z, mean, covariance);
    hfi_free(ctx, z);
    return status;
}

hf_status hf_predict_covariance(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                                size_t ldx, double *covariance, size_t ldc)
{
    if (posterior == NULL) return hfi_refuse(ctx, "the posterior is NULL");
    if (covariance == NULL && m > 0) return hfi_refuse(ctx, "the covariance is NULL");
    if (ldc < m)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of the covariance are %zu apart, fewer than %zu", ldc,
                        m);
    hf_status status = hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
    if (status < 0 || m == 0) return status;
    double *mean, *c;
    status = HFI_ALLOC(ctx, HFI_ROOM(mean, m), HFI_ROOMS(c, m, m));
    if (status >= 0) status = hfi_posterior_joint(ctx, posterior, m, x, ldx, mean, c);
    const hfi_scaling *scaling = &posterior->scaling;
    for (size_t j = 0; j < m && status >= 0; j++) {
        const double scale = hfi_scaling_scale(scaling, hfi_scaling_output(scaling, x + j * ldx));
        for (size_t i = j; i < m; i++) {
            const double other = hfi_scaling_scale(scaling, hfi_scaling_output(scaling, x + i * ldx));
            const double value = c[i + j * m] * scale * other;
            covariance[i * ldc + j] = value;
            covariance[j * ldc + i] = value;
        }
    }
    HFI_FREE(ctx, mean, c);
    return status;
}
