/* SPDX-License-Identifier: Apache-2.0 */
/* The one parallel loop of the library. */
#include "core/core.h"

#include <math.h>

#include <omp.h>

int hfi_loop_threads(const hf_context *ctx, size_t count)
{
    int threads = hf_context_threads(ctx);
    if ((size_t)threads > count) threads = (int)count;
    /* Nested regions oversubscribe the processors; whoever is outside has the threads already. */
    return threads <= 1 || omp_in_parallel() ? 1 : hfi_threads_with_room(threads);
}

void hfi_parallel_for(const hf_context *ctx, size_t count, hfi_loop_body body, void *arg)
{
    const int threads = hfi_loop_threads(ctx, count);
    if (threads == 1) {
        for (size_t i = 0; i < count; i++) body(i, 0, arg);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < count; i++) body(i, omp_get_thread_num(), arg);
}

enum {
    TASKS_PER_WAVE = 4 /* of every thread between two reports of progress */
};

typedef struct task_wave {
    hfi_loop_body body;
    void *arg;
    size_t first; /* task that it begins with */
} task_wave;

static void task_of_wave(size_t index, int thread, void *arg)
{
    const task_wave *now = arg;
    now->body(now->first + index, thread, now->arg);
}

hf_status hfi_parallel_rounds(hf_context *ctx, const char *stage, size_t count, hfi_loop_body body, void *arg)
{
    const size_t most = TASKS_PER_WAVE * (size_t)hf_context_threads(ctx);
    for (task_wave now = {.body = body, .arg = arg}; now.first < count; now.first += most) {
        if (!hfi_progress(ctx, stage, (double)now.first / (double)count, NAN)) return hfi_cancelled(ctx);
        hfi_parallel_for(ctx, hfi_smaller(count - now.first, most), task_of_wave, &now);
    }
    return HF_OK;
}
