/* SPDX-License-Identifier: Apache-2.0 */
/* A group of threads that behave as the processes of a group do: what shares its work is tested
 * without message passing. */
#ifndef THREAD_GROUP_H
#define THREAD_GROUP_H

#include "core/core.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREAD_GROUP_MOST = 12
};

/* The work of one member. Assertions belong behind thread_group_run(): none may leave a thread. */
typedef void (*thread_group_body)(hf_context *ctx, size_t rank, void *arg);

typedef struct thread_group {
    pthread_barrier_t barrier;
    size_t size;
    double *values[THREAD_GROUP_MOST]; /* of every member, in a sum */
    size_t counts[THREAD_GROUP_MOST];
    thread_group_body body;
    void *arg;
} thread_group;

typedef struct thread_group_member {
    thread_group *group;
    size_t rank;
} thread_group_member;

/* False in all members when their numbers of numbers differ. */
static inline bool thread_group_sum(size_t count, double *values, void *user)
{
    const thread_group_member *me = user;
    thread_group *g = me->group;
    g->values[me->rank] = values;
    g->counts[me->rank] = count;
    pthread_barrier_wait(&g->barrier);
    double *total = calloc(count + 1, sizeof *total);
    bool good = total != NULL;
    for (size_t r = 0; r < g->size; r++) good = good && g->counts[r] == count;
    for (size_t r = 0; good && r < g->size; r++)
        for (size_t k = 0; k < count; k++) total[k] += g->values[r][k];
    pthread_barrier_wait(&g->barrier);
    if (good) memcpy(values, total, count * sizeof *values);
    free(total);
    return good;
}

static inline void *thread_group_member_run(void *arg)
{
    thread_group_member *me = arg;
    hf_context *ctx = hf_context_create();
    const hf_group group = {
        .rank = me->rank, .size = me->group->size, .sum = thread_group_sum, .user = me};
    if (ctx != NULL && hf_context_set_threads(ctx, 1) >= 0 &&
        hf_context_set_group(ctx, &group) >= 0)
        me->group->body(ctx, me->rank, me->group->arg);
    hf_context_free(ctx);
    return NULL;
}

/* Runs body in `size` threads, each with a context of its own that has joined the group. */
static inline void thread_group_run(size_t size, thread_group_body body, void *arg)
{
    thread_group group = {.size = size, .body = body, .arg = arg};
    thread_group_member members[THREAD_GROUP_MOST];
    pthread_t threads[THREAD_GROUP_MOST];
    assert_in_range(size, 1, THREAD_GROUP_MOST);
    assert_int_equal(pthread_barrier_init(&group.barrier, NULL, (unsigned)size), 0);
    for (size_t r = 0; r < size; r++) {
        members[r] = (thread_group_member){.group = &group, .rank = r};
        assert_int_equal(pthread_create(&threads[r], NULL, thread_group_member_run, &members[r]),
                         0);
    }
    for (size_t r = 0; r < size; r++) assert_int_equal(pthread_join(threads[r], NULL), 0);
    pthread_barrier_destroy(&group.barrier);
}

#endif
