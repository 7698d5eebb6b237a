/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that mpirun started, as a group. In builds without MPI, and without mpirun, there
 * is one, and the same tests run.
 *
 * Whatever communicates is called by all processes before anything is asserted: an assertion that
 * fails leaves its test, and the others would wait. */
#ifndef MPI_PROCESSES_H
#define MPI_PROCESSES_H

#include "core/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HF_WITH_MPI

#include <mpi.h>

static inline void processes_join_with(hf_context *ctx)
{
    hf_group group;
    assert_int_equal(hf_group_mpi(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group), HF_OK);
    assert_int_equal(hf_context_set_group(ctx, &group), HF_OK);
}

/* Runs the tests of a program; its exit status. A process in which one failed takes the others with
 * it. */
static inline int processes_run(int (*tests)(void))
{
    int support = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support) != MPI_SUCCESS) return 1;
    const int failed = tests();
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return failed;
}

#else

static inline void processes_join_with(hf_context *ctx)
{
    (void)ctx;
}

static inline int processes_run(int (*tests)(void))
{
    return tests();
}

#endif

/* A context that has joined. */
static inline hf_context *processes_join(void)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    processes_join_with(ctx);
    return ctx;
}

#endif
