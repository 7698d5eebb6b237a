/* SPDX-License-Identifier: Apache-2.0 */
/* The one parallel loop of the library. */
#include "core/core.h"

#include <omp.h>

void hfi_parallel_for(const hf_context *ctx, size_t count, hfi_loop_body body, void *arg)
{
    int threads = hf_context_threads(ctx);
    if ((size_t)threads > count) threads = (int)count;
    /* Nested regions oversubscribe the processors; whoever is outside has the threads already. */
    if (threads <= 1 || omp_in_parallel()) {
        for (size_t i = 0; i < count; i++) body(i, 0, arg);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < count; i++) body(i, omp_get_thread_num(), arg);
}
