/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(a_loop_inside_a_loop_is_serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
