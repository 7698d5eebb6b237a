/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tasks on tiles run. */
#include "linalg/tiles.h"

#include <omp.h>

void hfi_tiles_run(const hf_context *ctx, hfi_tiles *t, hfi_tile_tasks tasks)
{
    /* The path from the first to the last diagonal tile keeps more threads than that waiting; and with two tiles
     * there is nothing to share that would pay for waking a thread up. */
    const int threads = t->count <= 2 || !hfi_blas_is_concurrent() ? 1 : hfi_loop_threads(ctx, t->count);
    int before = hfi_blas_enter();
    if (threads == 1 && !omp_in_parallel()) { /* NOLINT(bugprone-branch-clone): pragmas tell them apart */
        /* By the only thread there is: to set up a region takes as long as to factor a tile of order 20. */
        tasks(t);
#pragma omp taskwait
    } else {
        /* A region of its own even for one thread: tasks of an outer region would be taken by its threads and
         * not be finished when this function returns. */
#pragma omp parallel num_threads(threads)
#pragma omp single
        tasks(t);
    }
    hfi_blas_leave(before);
}
