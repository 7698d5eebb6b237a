/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file failing_allocator.h
 * @brief An allocator that fails once, at a chosen allocation, and counts what is still held: every
 * function that allocates must survive the failure of each of its allocations and give back the
 * others. Include after <cmocka.h>.
 */
#ifndef HF_TEST_FAILING_ALLOCATOR_H
#define HF_TEST_FAILING_ALLOCATOR_H

#include <holdfast/context.h>
#include <stdlib.h>
#include <string.h>

typedef struct failing_allocator {
    size_t allocations; /* so far */
    size_t fail_at;     /* the allocation to refuse, from 1; 0 = none */
    size_t held;        /* blocks not given back yet */
} failing_allocator;

static inline void *failing_allocate(size_t bytes, void *user)
{
    failing_allocator *state = user;
    state->allocations++;
    if (state->allocations == state->fail_at) return NULL;
    void *block = malloc(bytes);
    if (block != NULL) {
        memset(block, 0x5a, bytes); /* nobody may count on zeros from here */
        state->held++;
    }
    return block;
}

static inline void failing_release(void *block, void *user)
{
    failing_allocator *state = user;
    state->held--;
    free(block);
}

/** One call to be swept: makes what it needs, frees everything it made, returns the status. */
typedef hf_status (*failing_call)(hf_context *ctx);

/** Runs `call` with its k-th allocation failing, for every k, and once with none. */
static inline void failing_sweep(failing_call call)
{
    for (size_t k = 1;; k++) {
        failing_allocator state = {0};
        hf_allocator allocator = {
            .allocate = failing_allocate, .release = failing_release, .user = &state};
        hf_context *ctx = hf_context_create_with(&allocator);
        assert_non_null(ctx);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        size_t own = state.held;
        state.allocations = 0;
        state.fail_at = k;
        hf_status status = call(ctx);
        assert_int_equal(state.held, own);
        bool reached = state.allocations >= k;
        assert_int_equal(status, reached ? HF_ERR_MEMORY : HF_OK);
        if (reached) assert_true(strlen(hf_context_message(ctx)) > 0);
        hf_context_free(ctx);
        assert_int_equal(state.held, 0);
        if (!reached) {
            assert_true(k > 1); /* a sweep over nothing proves nothing */
            return;
        }
    }
}

#endif
