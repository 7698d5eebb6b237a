/* SPDX-License-Identifier: Apache-2.0 */
/* Functions drawn from a posterior by Matheron's rule.
 *
 * With g drawn from the prior and R R' = S, f = m + k(x, Z) t + g - k(x, Z) R (R' g(Z) + w) has the
 * posterior's covariance if w is normal with covariance I - R'KR. Where Z are readings R'(K + D)R = I, and w
 * = R'e does, e being noise of variances D. Else that matrix is factored. */
#include "posterior/workspace.h"

#include <holdfast/path.h>

#include "kernel/features.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    USUAL = 1024,   /* features */
    MOST = 1 << 20, /* features */
    BLOCK = 64      /* points of a task */
};

struct hf_path {
    hfi_memory memory;
    hf_posterior *mean; /* m(x) + k(x, Z) v: a posterior that is only asked for its mean */
    hfi_features prior; /* scaled units, as the rest */
};

struct hf_path_workspace {
    hfi_memory memory;
    hf_posterior_workspace *mean;
};

/* ---- the function at points -------------------------------------------------------------------------------------- */

typedef struct path_look {
    const hfi_features *prior;
    size_t m;
    const double *x; /* m x d, scaled units */
    double *value;   /* m: g is added */
} path_look;

static void look_at_block(size_t task, int thread, void *arg)
{
    (void)thread;
    const path_look *job = arg;
    const size_t begin = task * BLOCK, d = job->prior->d;
    for (size_t i = begin; i < job->m && i < begin + BLOCK; i++)
        job->value[i] += hfi_features_evaluate(job->prior, job->x + i * d, NULL);
}

/* value += g at m scaled rows. */
static hf_status add_prior(hf_context *ctx, const hfi_features *prior, size_t m, const double *x,
                           double *value)
{
    path_look job = {.prior = prior, .m = m, .x = x, .value = value};
    return hfi_parallel_rounds(ctx, "path", (m + BLOCK - 1) / BLOCK, look_at_block, &job);
}

/* ---- the update -------------------------------------------------------------------------------------------------- */

typedef struct left_over {
    const hf_posterior *posterior;
    hf_context *ctx;
    double *kr; /* n x rank: K R */
    double *k;  /* n x n */
} left_over;

/* I - R'KR, lower triangle. */
static hf_status fill_left_over(void *arg, double *a, size_t lda)
{
    const left_over *job = arg;
    const hfi_solution *s = &job->posterior->solution;
    const size_t n = s->n, rank = s->rank;
    hf_status status = hfi_kernel_gram_lower(job->ctx, job->posterior->kernel, n, s->z, s->d, job->k, n);
    if (status < 0) return status;
    for (size_t a_ = 0; a_ < rank; a_++) hfi_symv(n, job->k, n, s->r + a_ * n, job->kr + a_ * n);
    hfi_gemm_tn(rank, rank, n, -1.0, s->r, n, job->kr, n, 0.0, a, lda);
    for (size_t i = 0; i < rank; i++) a[i * (lda + 1)] += 1.0;
    return HF_OK;
}

/* w += a draw of covariance I - R'KR, for inducing inputs. */
static hf_status add_left_over(hf_context *ctx, const hf_posterior *posterior, hfi_stream *stream, double *w)
{
    const hfi_solution *s = &posterior->solution;
    const size_t n = s->n, rank = s->rank;
    double jitter, *factor;
    left_over job = {.posterior = posterior, .ctx = ctx};
    hf_status status =
        HFI_ALLOC(ctx, HFI_ROOMS(factor, rank, rank), HFI_ROOMS(job.k, n, n), HFI_ROOMS(job.kr, n, rank));
    if (status >= 0) status = hfi_chol_jitter(ctx, rank, factor, rank, 1.0, fill_left_over, &job, &jitter);
    for (size_t a = 0; a < rank && status >= 0; a++)
        hfi_axpy(rank - a, hfi_stream_normal(stream), factor + a * (rank + 1), w + a);
    HFI_FREE(ctx, job.kr, job.k, factor);
    return status;
}

/* v (n) := t - R (R' g + w), g being the prior's draw at the anchors; `g` is destroyed. */
static hf_status update(hf_context *ctx, const hf_posterior *posterior, hfi_stream *stream, double *g,
                        double *v)
{
    const hfi_solution *s = &posterior->solution;
    const double jitter = s->form == HFI_FORM_EXACT ? s->jitter : 0.0;
    if (s->variance != NULL)
        for (size_t i = 0; i < s->n; i++) g[i] += sqrt(s->variance[i] + jitter) * hfi_stream_normal(stream);
    double *room = hfi_alloc(ctx, hfi_solution_room(s, 1), sizeof *room);
    if (room == NULL) return HF_ERR_MEMORY;
    size_t ld;
    double *w = hfi_solution_whiten(s, 1, g, s->n, room, &ld);
    hf_status status = HF_OK;
    if (s->variance == NULL) status = add_left_over(ctx, posterior, stream, w);
    if (status >= 0) {
        hfi_solution_spread(s, w, v);
        for (size_t i = 0; i < s->n; i++) v[i] = s->t[i] - v[i];
    }
    hfi_free(ctx, room);
    return status;
}

/* A solution that has anchors and weights alone. */
static hf_status drawn_solution(hf_context *ctx, const hf_posterior *posterior, const hfi_features *prior,
                                hfi_stream *stream, hfi_solution *out)
{
    const hfi_solution *s = &posterior->solution;
    hf_status status = hfi_solution_alloc_low_rank(ctx, HFI_FORM_BLOCKS, s->n, s->d, 1, false, out);
    if (status < 0) return status;
    out->solver = s->solver;
    memcpy(out->z, s->z, s->n * s->d * sizeof *s->z);
    double *g = hfi_alloc(ctx, s->n, sizeof *g);
    status = g != NULL ? add_prior(ctx, prior, s->n, s->z, g) : HF_ERR_MEMORY;
    if (status >= 0) status = update(ctx, posterior, stream, g, out->t);
    for (size_t i = 0; i < s->n && status >= 0; i++)
        if (!isfinite(out->t[i]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the path overflows at anchor %zu (counted from 0)", i);
    hfi_free(ctx, g);
    return status;
}

/* ---- a path ------------------------------------------------------------------------------------------------------ */

void hf_path_free(hf_path *path)
{
    if (path == NULL) return;
    hfi_memory memory = path->memory;
    hf_posterior_free(path->mean);
    hfi_features_free(&path->prior);
    hfi_memory_free(&memory, path);
}

static hf_status draw_path(hf_context *ctx, const hf_posterior *posterior, uint64_t index, size_t features,
                           hf_path *path)
{
    hfi_solution solution = {0};
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_PATH, index);
    hf_status status = hfi_features_create(ctx, posterior->kernel, features, &stream, &path->prior);
    if (status >= 0) status = drawn_solution(ctx, posterior, &path->prior, &stream, &solution);
    if (status >= 0) {
        const hf_status created = hfi_posterior_create(ctx, posterior->kernel, posterior->mean, &solution,
                                                       &posterior->scaling, 0.0, 1.0, &path->mean);
        status = hfi_worse(created, status);
    }
    hfi_solution_free(&solution);
    return status;
}

hf_status hf_path_create(hf_context *ctx, const hf_posterior *posterior, uint64_t stream, size_t features,
                         hf_path **out)
{
    if (posterior == NULL) return hfi_refuse(ctx, "hf_path_create: the posterior is NULL");
    if (out == NULL) return hfi_refuse(ctx, "hf_path_create: out is NULL");
    if (features > MOST)
        return hfi_refuse(ctx, "a path of %zu features is asked for; at most %d", features, MOST);
    hf_path *path = hfi_alloc(ctx, 1, sizeof *path);
    if (path == NULL) return HF_ERR_MEMORY;
    path->memory = hfi_context_memory(ctx);
    const hf_status status = draw_path(ctx, posterior, stream, features > 0 ? features : USUAL, path);
    if (status >= 0)
        *out = path;
    else
        hf_path_free(path);
    return status;
}

size_t hf_path_dimension(const hf_path *path)
{
    return path != NULL ? path->prior.d : 0;
}

hf_path_workspace *hf_path_workspace_create(hf_context *ctx, const hf_path *path)
{
    if (path == NULL) {
        hfi_refuse(ctx, "hf_path_workspace: the path is NULL");
        return NULL;
    }
    hf_path_workspace *workspace = hfi_alloc(ctx, 1, sizeof *workspace);
    if (workspace == NULL) return NULL;
    workspace->memory = hfi_context_memory(ctx);
    workspace->mean = hf_posterior_workspace_create(ctx, path->mean);
    if (workspace->mean != NULL) return workspace;
    hf_path_workspace_free(workspace);
    return NULL;
}

void hf_path_workspace_free(hf_path_workspace *workspace)
{
    if (workspace == NULL) return;
    const hfi_memory memory = workspace->memory;
    hf_posterior_workspace_free(workspace->mean);
    hfi_memory_free(&memory, workspace);
}

hf_status hf_path_evaluate(const hf_path *path, hf_path_workspace *workspace, const double *x, double *value,
                           double *gradient)
{
    if (path == NULL || workspace == NULL || value == NULL) return HF_ERR_ARGUMENT;
    const size_t d = path->prior.d;
    const hfi_scaling *scaling = &path->mean->scaling;
    double mean, *own = hfi_workspace_spare(workspace->mean, d), *slope = own + d;
    if (own == NULL) return HF_ERR_ARGUMENT;
    hf_status status =
        hf_predict_latent(path->mean, workspace->mean, x, &mean, NULL, gradient != NULL ? own : NULL, NULL);
    if (status < 0) return status;
    /* The workspace holds the point in scaled units. */
    memset(slope, 0, d * sizeof *slope);
    const double scale = hfi_scaling_scale(scaling, hfi_scaling_output(scaling, x));
    const double total = mean + scale * hfi_features_evaluate(&path->prior, workspace->mean->x,
                                                              gradient != NULL ? slope : NULL);
    bool finite = isfinite(total);
    for (size_t j = 0; j < d && gradient != NULL; j++) {
        own[j] += scale * slope[j] / scaling->x_scale[j];
        finite = finite && isfinite(own[j]);
    }
    if (!finite) return HF_ERR_NOT_FINITE;
    *value = total;
    if (gradient != NULL) memcpy(gradient, own, d * sizeof *gradient);
    return HF_OK;
}

hf_status hf_path_many_rows(hf_context *ctx, const hf_path *path, size_t m, const double *x, size_t ldx,
                            double *values)
{
    if (path == NULL) return hfi_refuse(ctx, "hf_path_many_rows: the path is NULL");
    if (values == NULL && m > 0) return hfi_refuse(ctx, "hf_path_many_rows: values is NULL");
    hf_status status = hfi_posterior_check_rows(ctx, path->mean, m, x, ldx);
    if (status < 0 || m == 0) return status;
    const hfi_scaling *scaling = &path->mean->scaling;
    double *scaled, *mean, *prior;
    status = HFI_ALLOC(ctx, HFI_ROOMS(scaled, m, path->prior.d), HFI_ROOM(mean, m), HFI_ROOM(prior, m));
    if (status >= 0) {
        hfi_scaling_inputs(scaling, m, x, ldx, scaled);
        status = add_prior(ctx, &path->prior, m, scaled, prior);
    }
    if (status >= 0) status = hf_predict(ctx, path->mean, m, x, ldx, mean, NULL, NULL);
    for (size_t i = 0; i < m && status >= 0; i++) {
        prior[i] = mean[i] + hfi_scaling_scale(scaling, hfi_scaling_output(scaling, x + i * ldx)) * prior[i];
        if (!isfinite(prior[i]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the path overflows at row %zu (counted from 0)", i);
    }
    if (status >= 0) memcpy(values, prior, m * sizeof *values);
    HFI_FREE(ctx, scaled, mean, prior);
    return status;
}
