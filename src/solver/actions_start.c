/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of block actions before any training.
 *
 * Only the span of the actions matters to a posterior, and each block spans one line. So every block is
 * scaled to a unit norm (random ones have it on average): entries then are of one size for whoever trains
 * them. */
#include "solver/projected.h"

#include "linalg/linalg.h"
#include <math.h>

enum {
    POWER_STEPS = 30, /* a start, not a result: a hundred times the digits would not train better */
    ROWS = 32         /* of K that a power step makes at a time */
};

static void constant(size_t count, double *entry)
{
    for (size_t l = 0; l < count; l++) entry[l] = 1.0 / sqrt((double)count);
}

/* To unit norm, whatever the size of the entries. Where there is nothing to scale (targets all equal to the prior mean,
 * say) the block's average is taken instead: a block of zeros would waste its action and leave G singular. */
static void normalise(size_t count, double *entry)
{
    double most = 0.0, sum = 0.0;
    for (size_t l = 0; l < count; l++) most = fmax(most, fabs(entry[l]));
    if (!(most > 0.0 && isfinite(most))) {
        constant(count, entry);
        return;
    }
    for (size_t l = 0; l < count; l++) {
        entry[l] /= most;
        sum += entry[l] * entry[l];
    }
    for (size_t l = 0; l < count; l++) entry[l] /= sqrt(sum);
}

typedef struct eigen_job {
    hf_context *ctx;
    hfi_block_actions *actions;
    const hf_kernel *kernel;
    const double *x;
    size_t ldx, d;
    size_t largest;
    double *arena; /* per thread: inputs and vector of a block, ROWS rows of its K, the kernel's scratch */
    size_t arena_size;
} eigen_job;

/* next := K entry, over the rows `x` of a block. */
static void block_times(const eigen_job *job, size_t count, const double *x, const double *entry,
                        double *next, double *k, double *scratch)
{
    for (size_t row = 0; row < count; row += ROWS) {
        const size_t rows = count - row < ROWS ? count - row : ROWS;
        hfi_kernel_cross_block(job->kernel, rows, x + row * job->d, job->d, count, x, job->d, k, count,
                               scratch);
        for (size_t q = 0; q < rows; q++) next[row + q] = hfi_dot(count, k + q * count, entry);
    }
}

/* Power iteration from the average; K has no negative eigenvalue, so the norm only grows. */
static void power_block(size_t block, int thread, void *arg)
{
    const eigen_job *job = arg;
    const hfi_block_actions *a = job->actions;
    const size_t first = a->first[block], count = a->first[block + 1] - first;
    double *x = job->arena + (size_t)thread * job->arena_size, *next = x + job->largest * job->d;
    double *k = next + job->largest, *scratch = k + ROWS * job->largest, *entry = a->entry + first;
    for (size_t l = 0; l < count; l++)
        for (size_t c = 0; c < job->d; c++) x[l * job->d + c] = job->x[a->order[first + l] * job->ldx + c];
    constant(count, entry);
    for (int step = 0; step < POWER_STEPS; step++) {
        block_times(job, count, x, entry, next, k, scratch);
        normalise(count, next);
        double change = 0.0;
        for (size_t l = 0; l < count; l++) {
            change = fmax(change, fabs(next[l] - entry[l]));
            entry[l] = next[l];
        }
        if (change < 1e-6) break;
    }
}

static hf_status start_eigen(hf_context *ctx, hfi_block_actions *a, const hf_kernel *kernel, const double *x,
                             size_t ldx)
{
    eigen_job job = {
        .ctx = ctx, .actions = a, .kernel = kernel, .x = x, .ldx = ldx, .d = hf_kernel_dimension(kernel)};
    for (size_t b = 0; b < a->count; b++)
        if (a->first[b + 1] - a->first[b] > job.largest) job.largest = a->first[b + 1] - a->first[b];
    job.arena_size = job.largest * (job.d + 1 + ROWS) + hfi_kernel_scratch(kernel);
    job.arena = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), job.arena_size * sizeof *job.arena);
    if (!job.arena) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, a->count, power_block, &job);
    hfi_free(ctx, job.arena);
    return HF_OK;
}

static void start_random(hf_context *ctx, hfi_block_actions *a, size_t block)
{
    const size_t first = a->first[block], count = a->first[block + 1] - first;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_ACTIONS, block);
    double most = 0.0;
    for (size_t l = first; l < first + count; l++) {
        a->entry[l] = hfi_stream_normal(&stream) / sqrt((double)count);
        most = fmax(most, fabs(a->entry[l]));
    }
    if (!(most > 0.0)) constant(count, a->entry + first);
}

hf_status hfi_block_actions_start(hf_context *ctx, hfi_block_actions *a, hf_action_start start,
                                  const hf_kernel *kernel, const double *x, size_t ldx,
                                  const double *residual, const double *variance)
{
    if ((unsigned)start > HF_ACTION_START_PRECISION)
        return hfi_refuse(ctx, "there is no start %d for actions", (int)start);
    if (start == HF_ACTION_START_EIGEN) return start_eigen(ctx, a, kernel, x, ldx);
    for (size_t b = 0; b < a->count; b++) {
        const size_t first = a->first[b], count = a->first[b + 1] - first;
        if (start == HF_ACTION_START_RANDOM) {
            start_random(ctx, a, b);
            continue;
        }
        for (size_t l = first; l < first + count; l++)
            a->entry[l] =
                start == HF_ACTION_START_TARGETS ? residual[a->order[l]] : 1.0 / variance[a->order[l]];
        normalise(count, a->entry + first);
    }
    return HF_OK;
}
