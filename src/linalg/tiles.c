/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tasks on tiles run. */
#include "linalg/tiles.h"

#include <omp.h>

void hfi_tiles_run(const hf_context *ctx, hfi_tiles *t, hfi_tile_tasks tasks)
{
    int threads = hf_context_threads(ctx);
    if (t->count == 1 || omp_in_parallel() || !hfi_blas_is_concurrent()) threads = 1;
    int before = hfi_blas_enter();
    /* A region of its own even for one thread: tasks of an outer region would be taken by its threads and not
     * be finished when this function returns. */
#pragma omp parallel num_threads(threads)
#pragma omp single
    tasks(t);
    hfi_blas_leave(before);
}
