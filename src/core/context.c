/* SPDX-License-Identifier: Apache-2.0 */
/* Life and settings of a context. */
#include "core/context_impl.h"

#include <omp.h>
#include <string.h>

/* More threads than this is a mistyped number, and starting them would bring the process down. */
enum {
    MAX_THREADS = 4096
};

/* OpenMP counts the processors of the affinity mask, not those of the machine. It allows fewer threads where
 * OMP_NUM_THREADS or the host says so; more would only wait for each other. */
static int default_threads(void)
{
    const int processors = omp_get_num_procs(), allowed = omp_get_max_threads();
    const int count = allowed < processors ? allowed : processors;
    if (count < 1) return 1;
    return count > MAX_THREADS ? MAX_THREADS : count;
}

hf_context *hf_context_create(void)
{
    return hf_context_create_with(NULL);
}

hf_context *hf_context_create_with(const hf_allocator *allocator)
{
    hfi_memory memory = allocator != NULL ? *allocator : hfi_memory_default();
    if (memory.allocate == NULL || memory.release == NULL) return NULL;
    hf_context *ctx = hfi_memory_alloc(&memory, 1, sizeof *ctx);
    if (ctx == NULL) return NULL;
    ctx->memory = memory;
    ctx->threads = default_threads();
    return ctx;
}

void hf_context_free(hf_context *ctx)
{
    if (ctx == NULL) return;
    hfi_memory memory = ctx->memory; /* by value: the context itself is about to go */
    hfi_memory_free(&memory, ctx);
}

hf_context *hfi_context_borrow(hf_context *ctx)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    hf_context *own = hfi_memory_alloc(&memory, 1, sizeof *own);
    if (own == NULL) {
        (void)hfi_out_of_memory(ctx);
        return NULL;
    }
    if (ctx != NULL)
        *own = *ctx;
    else
        *own = (hf_context){.memory = memory, .threads = 1};
    return own;
}

void hfi_context_give_back(hf_context *ctx, hf_context *own)
{
    if (ctx != NULL) memcpy(ctx->message, own->message, sizeof ctx->message);
    hf_context_free(own);
}

hf_status hf_context_set_threads(hf_context *ctx, int threads)
{
    if (ctx == NULL) return HF_ERR_ARGUMENT;
    if (threads < 0 || threads > MAX_THREADS)
        return hfi_refuse(ctx, "threads is %d; give 1 to %d, or 0 for all processors", threads,
                          (int)MAX_THREADS);
    ctx->threads = threads == 0 ? default_threads() : threads;
    return HF_OK;
}

int hf_context_threads(const hf_context *ctx)
{
    return ctx != NULL ? ctx->threads : 1;
}

void hf_context_set_seed(hf_context *ctx, uint64_t seed)
{
    if (ctx != NULL) ctx->seed = seed;
}

uint64_t hf_context_seed(const hf_context *ctx)
{
    return ctx != NULL ? ctx->seed : 0;
}

void hf_context_set_progress(hf_context *ctx, hf_progress progress, void *user)
{
    if (ctx == NULL) return;
    ctx->progress = progress;
    ctx->progress_user = user;
}

const char *hf_context_message(const hf_context *ctx)
{
    return ctx != NULL ? ctx->message : "";
}

bool hfi_progress(hf_context *ctx, const char *stage, double done, double value)
{
    if (ctx == NULL || ctx->progress == NULL) return true;
    return ctx->progress(stage, done, value, ctx->progress_user);
}
