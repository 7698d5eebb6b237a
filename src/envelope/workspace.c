/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch of one thread, and many queries on all of them. */
#include "core/settings.h"
#include "envelope/envelope.h"

#include <math.h>

enum {
    CHUNK = 32 /* queries that go on from each other's supports */
};

void hf_envelope_workspace_free(hf_envelope_workspace *workspace)
{
    if (!workspace) return;
    const hfi_memory memory = workspace->memory;
    for (int side = 0; side < HFI_SIDES; side++) hfi_chain_free(&memory, &workspace->chain[side]);
    HFI_MEMORY_FREE(&memory, workspace->cross, workspace->scratch, workspace->near, workspace->close,
                    workspace->gradient, workspace);
}

hf_envelope_workspace *hf_envelope_workspace_create(hf_context *ctx, const hf_envelope *envelope)
{
    if (!ctx || !envelope) {
        (void)hfi_refuse(ctx, "hf_envelope_workspace_create needs a context and an envelope");
        return NULL;
    }
    hf_envelope_workspace *w = hfi_alloc(ctx, 1, sizeof *w);
    if (!w) return NULL;
    w->memory = hfi_context_memory(ctx);
    w->owner = envelope;
    w->capacity = envelope->capacity;
    w->d = envelope->d;
    bool there = true;
    for (int side = 0; side < HFI_SIDES; side++)
        there = there && hfi_chain_init(&w->memory, w->capacity, &w->chain[side]);
    if (there && HFI_ALLOC(ctx, HFI_ROOM(w->cross, w->capacity),
                           HFI_ROOM(w->scratch, hfi_kernel_scratch(envelope->kernel)),
                           HFI_ROOMS(w->near, w->capacity, w->d), HFI_ROOMS(w->gradient, w->d, 2),
                           HFI_ROOM(w->close, w->capacity)) >= 0)
        return w;
    (void)hfi_out_of_memory(ctx);
    hf_envelope_workspace_free(w);
    return NULL;
}

void hf_envelope_workspace_reset(hf_envelope_workspace *workspace)
{
    if (!workspace) return;
    for (int side = 0; side < HFI_SIDES; side++) hfi_chain_reset(&workspace->chain[side]);
}

/* ---- many queries -------------------------------------------------------------------------------------- */

typedef struct envelope_queries {
    const hf_envelope *envelope;
    size_t m;
    const double *x;
    size_t ldx;
    const hf_envelope_limits *limits;
    hf_bound *out;
    hf_status *status; /* one a chunk */
    hf_envelope_workspace **workspace;
    hfi_watch watch;
} envelope_queries;

static void ask_chunk(size_t chunk, int thread, void *arg)
{
    envelope_queries *job = arg;
    const size_t begin = chunk * CHUNK, end = job->m - begin < CHUNK ? job->m : begin + CHUNK;
    hf_envelope_workspace *workspace = job->workspace[thread];
    hf_envelope_workspace_reset(workspace);
    if (thread == job->watch.thread) job->watch.done = (double)begin / (double)job->m;
    for (size_t q = begin; q < end && hfi_watch_glance(&job->watch); q++)
        job->status[chunk] =
            hfi_worse(job->status[chunk], hf_envelope_bounds(job->envelope, workspace, job->x + q * job->ldx,
                                                             job->limits, &job->out[q], NULL, NULL));
}

static hf_status run_envelope_queries(hf_context *ctx, envelope_queries *job, size_t chunks)
{
    hfi_watch_begin(&job->watch, ctx, "bounds", 0.0);
    hf_status status = hfi_watched_for(ctx, &job->watch, chunks, ask_chunk, job) ? HF_OK : hfi_cancelled(ctx);
    for (size_t chunk = 0; chunk < chunks && status >= 0; chunk++)
        status = hfi_worse(status, job->status[chunk]);
    return status;
}

static hf_status check_envelope_queries(hf_context *ctx, const hf_envelope *envelope, size_t m,
                                        const double *x, size_t ldx, const hf_bound *out)
{
    if (!ctx || !envelope || (m > 0 && (!x || !out)))
        return hfi_refuse(
            ctx, "hf_envelope_bounds_batch needs a context, an envelope, queries and room for the result");
    if (ldx < envelope->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs", ldx,
                        envelope->d);
    for (size_t q = 0; q < m; q++)
        for (size_t j = 0; j < envelope->d; j++)
            if (!isfinite(x[q * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "x: row %zu, input %zu is %g", q + 1, j + 1,
                                x[q * ldx + j]);
    return HF_OK;
}

static hf_status report_bounds_status(hf_context *ctx, hf_status status)
{
    if (status == HF_WARN_NOT_CONVERGED)
        return hfi_fail(ctx, status,
                        "some bounds may be looser than need be: a limit stopped them, or rounding leaves a "
                        "gap above 1e-6 of the norm; they hold, and the gaps say how loose they may be");
    if (status == HF_ERR_NOT_FINITE) return hfi_fail(ctx, status, "a bound overflows");
    return status;
}

hf_status hf_envelope_bounds_batch(hf_context *ctx, const hf_envelope *envelope, size_t m, const double *x,
                                   size_t ldx, const hf_envelope_limits *limits, hf_bound *out)
{
    hf_envelope_limits own;
    hf_status status = check_envelope_queries(ctx, envelope, m, x, ldx, out);
    if (status >= 0) status = hfi_settings_take(ctx, hf_envelope_limits_table(), limits, &own);
    if (status < 0 || m == 0) return status;
    const size_t chunks = (m + CHUNK - 1) / CHUNK, all = (size_t)hf_context_threads(ctx);
    const size_t threads = all < chunks ? all : chunks;
    envelope_queries job = {.envelope = envelope, .m = m, .x = x, .ldx = ldx, .limits = &own};
    status =
        HFI_ALLOC(ctx, HFI_ROOM(job.out, m), HFI_ROOM(job.status, chunks), HFI_ROOM(job.workspace, threads));
    for (size_t t = 0; t < threads && status >= 0; t++) {
        job.workspace[t] = hf_envelope_workspace_create(ctx, envelope);
        if (!job.workspace[t]) status = HF_ERR_MEMORY;
    }
    if (status >= 0) status = run_envelope_queries(ctx, &job, chunks);
    for (size_t q = 0; q < m && status >= 0; q++) out[q] = job.out[q];
    for (size_t t = 0; job.workspace && t < threads; t++) hf_envelope_workspace_free(job.workspace[t]);
    HFI_FREE(ctx, job.workspace, job.status, job.out);
    return status < 0 && status != HF_ERR_NOT_FINITE ? status : report_bounds_status(ctx, status);
}
