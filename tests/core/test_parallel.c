/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    MOST = 1000,
    THREADS = 4
};

typedef struct visits {
    int seen[MOST];
    int bad_thread;
    const hf_context *inner; /* for the nested loop */
} visits;

static void visit(size_t index, int thread, void *arg)
{
    visits *v = arg;
    __atomic_fetch_add(&v->seen[index], 1, __ATOMIC_RELAXED);
    if (thread < 0 || thread >= THREADS) __atomic_store_n(&v->bad_thread, 1, __ATOMIC_RELAXED);
}

static void every_index_is_visited_once(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const size_t counts[] = {0, 1, 2, 3, 17, MOST};
    for (int threads = 1; threads <= THREADS; threads++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            visits v = {.bad_thread = 0};
            assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
            hfi_parallel_for(ctx, counts[c], visit, &v);
            for (size_t i = 0; i < MOST; i++) assert_int_equal(v.seen[i], i < counts[c] ? 1 : 0);
            assert_int_equal(v.bad_thread, 0);
        }
    hf_context_free(ctx);
}

static void inner_visit(size_t index, int thread, void *arg)
{
    visits *v = arg;
    if (thread != 0) __atomic_store_n(&v->bad_thread, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&v->seen[index], 1, __ATOMIC_RELAXED);
}

static void outer_visit(size_t index, int thread, void *arg)
{
    (void)index;
    (void)thread;
    visits *v = arg;
    hfi_parallel_for(v->inner, 50, inner_visit, v);
}

static void a_loop_inside_a_loop_is_serial(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_context_set_threads(ctx, THREADS), HF_OK);
    visits v = {.inner = ctx};
    hfi_parallel_for(ctx, 20, outer_visit, &v);
    for (size_t i = 0; i < 50; i++) assert_int_equal(v.seen[i], 20);
    assert_int_equal(v.bad_thread, 0);
    hf_context_free(ctx);
}

/* ---- loops that are watched ------------------------------------------------------------------------------------- */

typedef struct asked {
    pthread_t caller;
    size_t calls, stop_at;
    atomic_size_t heard, done;
} asked;

static bool answer(const char *stage, double done, double value, void *user)
{
    asked *a = user;
    (void)value;
    assert_string_equal(stage, "loop");
    assert_true(done == 0.25 && pthread_equal(pthread_self(), a->caller));
    atomic_store(&a->heard, ++a->calls);
    return a->calls != a->stop_at;
}

static void count(size_t index, int thread, void *arg)
{
    asked *a = arg;
    (void)index;
    (void)thread;
    atomic_fetch_add(&a->done, 1);
}

static void a_watched_loop_stops_when_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int threads = 1; threads <= THREADS; threads++)
        for (size_t stop_at = 0; stop_at < 4; stop_at++) {
            asked a = {.caller = pthread_self(), .stop_at = stop_at};
            hfi_watch watch;
            assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
            hf_context_set_progress(ctx, answer, &a);
            hfi_watch_begin(&watch, ctx, "loop", 0.25);
            const bool all = hfi_watched_for(ctx, &watch, MOST, count, &a);
            /* One that is early has done all before the caller asks for the third time. */
            assert_true(all == (stop_at == 0 || a.calls < stop_at));
            assert_true(hfi_watch_stopped(&watch) == !all && (!all || a.done == MOST));
            if (threads == 1) assert_int_equal(a.done, stop_at == 0 ? MOST : stop_at - 1);
            if (!all) assert_false(hfi_watch_ok(&watch) || hfi_watch_glance(&watch));
            if (!all) assert_int_equal(a.calls, stop_at);
        }
    assert_true(hfi_watched_for(ctx, NULL, 5, count, &(asked){.calls = 0}));
    hf_context_free(ctx);
}

/* Other threads than the caller's wait until it has asked ten times; at most ten seconds. */
static void wait_to_be_heard(size_t index, int thread, void *arg)
{
    asked *a = arg;
    (void)index;
    const double begin = hfi_now();
    while (thread != 0 && atomic_load(&a->heard) < 10 && hfi_now() - begin < 10.0) continue;
    atomic_fetch_add(&a->done, 1);
}

static void who_waits_for_others_goes_on_asking(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    asked a = {.caller = pthread_self(), .stop_at = 0};
    hfi_watch watch;
    assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
    hf_context_set_progress(ctx, answer, &a);
    hfi_watch_begin(&watch, ctx, "loop", 0.25);
    const double begin = hfi_now();
    assert_true(hfi_watched_for(ctx, &watch, 2, wait_to_be_heard, &a));
    assert_true(a.done == 2 && hfi_now() - begin < 9.0);
    hf_context_free(ctx);
}

static bool stop_later(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)value;
    return done < *(double *)user;
}

static void waves_visit_every_index_until_they_are_told_to_stop(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double until = 2.0;
    assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
    hf_context_set_progress(ctx, stop_later, &until);
    visits v = {.bad_thread = 0}, part = {.bad_thread = 0};
    assert_int_equal(hfi_parallel_rounds(ctx, "loop", 101, visit, &v), HF_OK);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(v.seen[i], i < 101 ? 1 : 0);
    until = 0.5;
    assert_int_equal(hfi_parallel_rounds(ctx, "loop", 101, visit, &part), HF_ERR_CANCELLED);
    assert_true(part.seen[0] == 1 && part.seen[100] == 0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(waves_visit_every_index_until_they_are_told_to_stop),
        cmocka_unit_test(a_loop_inside_a_loop_is_serial),
        cmocka_unit_test(a_watched_loop_stops_when_told),
        cmocka_unit_test(who_waits_for_others_goes_on_asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
