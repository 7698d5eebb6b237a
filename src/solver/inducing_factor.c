/* SPDX-License-Identifier: Apache-2.0 */
/* The one pass of the inducing solver: Kuu, then B and b row by row, then their factors. */
#include "linalg/linalg.h"
#include "solver/inducing.h"
#include "solver/inducing_chunk.h"
#include <math.h>
#include <string.h>

/* ---- Kuu ------------------------------------------------------------------------------------- */

typedef struct prior_job {
    hfi_inducing *inducing;
    const hf_kernel *kernel;
} prior_job;

/* White belongs to the readings, and Kuu never comes without some jitter: inducing inputs crowd, or coincide. */
static hf_status fill_prior(void *arg, double *a, size_t lda)
{
    const prior_job *job = arg;
    hfi_inducing *u = job->inducing;
    double *work = u->w; /* free until the pass is over */
    const hf_status status = hfi_kernel_gram_lower(u->ctx, job->kernel, u->m, u->z, u->d, a, lda);
    if (status < 0) return status;
    hfi_kernel_diagonal(job->kernel, u->m, u->z, u->d, false, work);
    for (size_t i = 0; i < u->m; i++) a[i + i * lda] = work[i] + HFI_INDUCING_JITTER * u->scale;
    u->norm = hfi_symmetric_norm1(u->m, a, lda, work);
    return HF_OK;
}

static hf_status factor_prior(hfi_inducing *u, const hf_kernel *kernel)
{
    prior_job job = {.inducing = u, .kernel = kernel};
    u->scale = hfi_jitter_scale(kernel, u->m, u->z, u->d);
    const hf_status status =
        hfi_chol_jitter(u->ctx, u->m, u->lu, u->m, u->scale, fill_prior, &job, &u->jitter);
    if (status < 0) return status;
    u->norm += u->jitter;
    u->jitter += HFI_INDUCING_JITTER * u->scale;
    return status;
}

/* ---- the pass -------------------------------------------------------------------------------- */

typedef struct inducing_pass {
    hfi_inducing_chunk chunk;
    double *right; /* one share of Lu^-1 b for each job of a chunk */
} inducing_pass;

/* v_j sqrt(p_j), whose outer products are wanted; their share of the right side; the scalars are added up by
 * one thread. */
static void weigh_job(size_t job, int thread, void *arg)
{
    (void)thread;
    inducing_pass *p = arg;
    hfi_inducing_chunk *c = &p->chunk;
    const size_t m = c->inducing->m;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(c, job, &first);
    double *right = p->right + job * m;
    memset(right, 0, m * sizeof *right);
    for (size_t j = first; j < first + count; j++) {
        double *column = c->v + j * m;
        const double root = sqrt(c->precision[j]), linear = root * c->residual[j];
        for (size_t i = 0; i < m; i++) {
            column[i] *= root;
            right[i] += linear * column[i];
        }
    }
}

static void add_chunk(hfi_inducing *u, inducing_pass *p, double *sums)
{
    hfi_inducing_chunk *c = &p->chunk;
    double *right = sums + u->m * u->m, *scalar = right + u->m;
    double log_precision = 0.0, squares = 0.0, unresolved = 0.0;
    for (size_t j = 0; j < c->count; j++) {
        log_precision += log(c->precision[j]);
        squares += c->precision[j] * c->residual[j] * c->residual[j];
        unresolved += fmax(c->prior[j] - c->resolved[j], 0.0) / (c->sites.variance[j] + c->white[j]);
    }
    scalar[HFI_INDUCING_LOG_PRECISION] += log_precision;
    scalar[HFI_INDUCING_SQUARES] += squares;
    scalar[HFI_INDUCING_UNRESOLVED] += unresolved;
    const size_t jobs = hfi_inducing_chunk_jobs(c);
    hfi_parallel_for(u->ctx, jobs, weigh_job, p);
    for (size_t b = 0; b < jobs; b++) hfi_axpy(u->m, 1.0, p->right + b * u->m, right);
    hfi_lower_product(u->ctx, u->m, c->count, c->v, u->m, c->v, u->m, sums, u->m);
}

static hf_status add_rows(hfi_inducing *u, const hf_kernel *kernel, const hf_mean *mean,
                          const hf_sites *sites, size_t rows, const double *x, size_t ldx)
{
    const size_t jobs = HFI_INDUCING_ROWS / HFI_INDUCING_COLUMNS;
    size_t begin, end;
    double *sums;
    hfi_parts parts;
    hf_status status =
        hfi_parts_init(u->ctx, rows, u->m * u->m + u->m + HFI_INDUCING_SCALARS, u->sums, &parts);
    inducing_pass p = {.right = hfi_alloc(u->ctx, jobs, u->m * sizeof *p.right)};
    if (status >= 0 && !p.right) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_inducing_chunk_init(&p.chunk, u, kernel, mean, sites, hfi_parts_rows(u->ctx, rows), x,
                                         ldx, false);
    while (status >= 0 && hfi_parts_next(&parts, &begin, &end, &sums))
        for (size_t at = begin; at < end; at += p.chunk.capacity) {
            const size_t left = end - at;
            hfi_inducing_chunk_load(&p.chunk, at, at + (left < p.chunk.capacity ? left : p.chunk.capacity),
                                    false);
            add_chunk(u, &p, sums);
        }
    hfi_inducing_chunk_free(&p.chunk);
    hfi_free(u->ctx, p.right);
    return hfi_parts_finish(&parts, status);
}

/* ---- what follows from the sums -------------------------------------------------------------- */

static hf_status finish_inducing_factor(hfi_inducing *u)
{
    const size_t m = u->m;
    double *b = u->sums, *right = b + m * m, *scalar = right + m;
    for (size_t i = 0; i < m; i++) b[i + i * m] += 1.0;
    memcpy(u->lb, b, m * m * sizeof *b);
    /* B is at least the identity: only overflow keeps it from having a factor. */
    const hf_status status = hfi_chol(u->ctx, m, u->lb, m);
    bool finite = status >= 0 && isfinite(scalar[HFI_INDUCING_SQUARES]) &&
                  isfinite(scalar[HFI_INDUCING_LOG_PRECISION]) && isfinite(scalar[HFI_INDUCING_UNRESOLVED]);
    memcpy(u->whitened, right, m * sizeof *right);
    if (finite) {
        hfi_chol_forward(m, u->lb, m, u->whitened);
        memcpy(u->w, u->whitened, m * sizeof *u->w);
        hfi_chol_backward(m, u->lb, m, u->w);
        memcpy(u->t, u->w, m * sizeof *u->t);
        hfi_chol_backward(m, u->lu, m, u->t);
    }
    for (size_t i = 0; i < m && finite; i++) finite = isfinite(u->t[i]);
    if (!finite)
        return hfi_fail(
            u->ctx, HF_ERR_NOT_FINITE,
            "the sums over %zu readings overflow; look for huge inputs or targets, or tiny site variances",
            u->present);
    u->log_det = hfi_chol_logdet(m, u->lb, m) - scalar[HFI_INDUCING_LOG_PRECISION];
    u->quadratic = scalar[HFI_INDUCING_SQUARES] - hfi_dot(m, u->whitened, u->whitened);
    u->unresolved = scalar[HFI_INDUCING_UNRESOLVED];
    return HF_OK;
}

hf_status hfi_inducing_factor(hfi_inducing *u, const hf_kernel *kernel, const hf_mean *mean,
                              const hf_sites *sites, size_t rows, const double *x, size_t ldx)
{
    u->present = hf_sites_present(sites);
    if (u->present == 0)
        return hfi_fail(u->ctx, HF_ERR_NO_DATA,
                        "none of the %zu readings is present: there is nothing to learn from", rows);
    const hf_status prior = factor_prior(u, kernel);
    if (prior < 0) return prior; /* the same in every process of a group */
    hf_status status = add_rows(u, kernel, mean, sites, rows, x, ldx);
    if (status >= 0) status = finish_inducing_factor(u);
    return status < 0 ? status : prior;
}
