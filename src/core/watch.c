/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelling of computations that run on several threads. */
#include "core/core.h"

#include <math.h>
#include <omp.h>
#include <time.h>

enum {
    SHORTEST = 50000, /* nanoseconds between two looks of a thread that waits for others */
    LONGEST = 5000000
};

static const double SELDOM = 0.01; /* seconds */

void hfi_watch_begin(hfi_watch *watch, hf_context *ctx, const char *stage, double done)
{
    *watch = (hfi_watch){.ctx = ctx, .stage = stage, .done = done, .thread = omp_get_thread_num()};
}

bool hfi_watch_ok(hfi_watch *watch)
{
    if (watch == NULL) return true;
    if (atomic_load(&watch->stopped)) return false;
    if (omp_get_thread_num() != watch->thread) return true;
    if (hfi_progress(watch->ctx, watch->stage, watch->done, (double)NAN)) return true;
    atomic_store(&watch->stopped, true);
    return false;
}

bool hfi_watch_glance(hfi_watch *watch)
{
    if (watch == NULL || omp_get_thread_num() != watch->thread) return !hfi_watch_stopped(watch);
    const double now = hfi_now();
    if (now - watch->asked < SELDOM) return !hfi_watch_stopped(watch);
    watch->asked = now;
    return hfi_watch_ok(watch);
}

bool hfi_watch_stopped(hfi_watch *watch)
{
    return watch != NULL && atomic_load(&watch->stopped);
}

static void wait_for_others(hfi_watch *watch, atomic_size_t *left)
{
    for (long pause = SHORTEST; atomic_load(left) > 0; pause = pause < LONGEST ? 2 * pause : LONGEST) {
        const struct timespec rest = {.tv_nsec = pause};
        (void)hfi_watch_ok(watch);
        (void)nanosleep(&rest, NULL);
    }
}

bool hfi_watched_for(const hf_context *ctx, hfi_watch *watch, size_t count, hfi_loop_body body, void *arg)
{
    const int threads = hfi_loop_threads(ctx, count);
    if (threads == 1) {
        for (size_t i = 0; i < count && hfi_watch_ok(watch); i++) body(i, 0, arg);
        return !hfi_watch_stopped(watch);
    }
    atomic_size_t left = count;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (size_t i = 0; i < count; i++) {
            if (hfi_watch_ok(watch)) body(i, omp_get_thread_num(), arg);
            atomic_fetch_sub(&left, 1);
        }
        if (watch != NULL && omp_get_thread_num() == watch->thread) wait_for_others(watch, &left);
    }
    return !hfi_watch_stopped(watch);
}
