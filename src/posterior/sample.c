/* SPDX-License-Identifier: Apache-2.0 */
/* Joint draws of the latent function: mean + L z with L L' the covariance and z standard normal. */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <string.h>

typedef struct draw {
    const hf_posterior *posterior;
    size_t m;
    const double *x; /* user's units */
    size_t ldx;
    const double *mean;   /* scaled units */
    const double *factor; /* m x m, lower */
    double *samples;      /* rows of standard normals, then the draws */
} draw;

typedef struct copy {
    size_t m;
    const double *covariance;
} copy;

static hf_status fill_covariance(void *arg, double *a, size_t lda)
{
    const copy *job = arg;
    for (size_t j = 0; j < job->m; j++)
        memcpy(a + j * (lda + 1), job->covariance + j * (job->m + 1), (job->m - j) * sizeof *a);
    return HF_OK;
}

/* One row: z := mean + L z in place, from the last column of L to the first so that what is read is still z.
 */
static void colour(size_t index, int thread, void *arg)
{
    (void)thread;
    const draw *job = arg;
    size_t m = job->m;
    double *row = job->samples + index * m;
    for (size_t j = m; j-- > 0;) {
        const double *column = job->factor + j * (m + 1);
        double z = row[j];
        row[j] = z * column[0];
        hfi_axpy(m - j - 1, z, column + 1, row + j + 1);
    }
    const hfi_scaling *scaling = &job->posterior->scaling;
    for (size_t j = 0; j < m; j++)
        row[j] = hfi_scaling_mean(scaling, hfi_scaling_output(scaling, job->x + j * job->ldx),
                                  row[j] + job->mean[j]);
}

static hf_status draw_all(hf_context *ctx, draw *job, size_t count, uint64_t index)
{
    /* In the order of the samples, so that asking for more of them does not change the first ones. */
    hfi_stream stream;
    hfi_watch watch;
    hfi_watch_begin(&watch, ctx, "draw", 0.0);
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_SAMPLE, index);
    for (size_t k = 0; k < count; k++) {
        if (!hfi_watch_glance(&watch)) return hfi_cancelled(ctx);
        for (size_t j = 0; j < job->m; j++) job->samples[k * job->m + j] = hfi_stream_normal(&stream);
    }
    return hfi_parallel_rounds(ctx, "draw", count, colour, job);
}

hf_status hf_sample(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x, size_t ldx,
                    size_t count, uint64_t stream, double *samples)
{
    if (posterior == NULL) return hfi_refuse(ctx, "the posterior is NULL");
    if (samples == NULL && m > 0 && count > 0) return hfi_refuse(ctx, "samples is NULL");
    hf_status status = hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
    if (status < 0 || m == 0 || count == 0) return status;
    double *mean, *covariance, *factor, jitter;
    status = HFI_ALLOC(ctx, HFI_ROOM(mean, m), HFI_ROOMS(covariance, m, m), HFI_ROOMS(factor, m, m));
    if (status >= 0) status = hfi_posterior_joint(ctx, posterior, m, x, ldx, mean, covariance);
    if (status >= 0) {
        const hfi_solution *s = &posterior->solution;
        copy source = {.m = m, .covariance = covariance};
        double scale = hfi_jitter_scale(posterior->kernel, s->n, s->z, s->d);
        status = hfi_chol_jitter(ctx, m, factor, m, scale, fill_covariance, &source, &jitter);
    }
    if (status >= 0) {
        draw job = {.posterior = posterior,
                    .m = m,
                    .x = x,
                    .ldx = ldx,
                    .mean = mean,
                    .factor = factor,
                    .samples = samples};
        status = hfi_worse(status, draw_all(ctx, &job, count, stream));
    }
    HFI_FREE(ctx, mean, covariance, factor);
    return status;
}
