/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/block_stream.h"

#include <math.h>

#define REPORT 3e7 /* pairs of rows between two reports of progress: some hundredths of a second */

typedef struct round_job {
    size_t chunks, round,
        straight; /* straight: pairs with p + q = round; the others have p + q = round + chunks */
    hfi_pair_body body;
    void *arg;
} round_job;

static void run_pair(size_t index, int thread, void *arg)
{
    const round_job *job = arg;
    if (index < job->straight) {
        job->body(index, job->round - index, thread, job->arg);
    } else {
        const size_t p = job->round + 1 + (index - job->straight);
        job->body(p, job->round + job->chunks - p, thread, job->arg);
    }
}

hf_status hfi_pair_rounds(hf_context *ctx, const char *stage, size_t chunks, double pairs_of_rows,
                          hfi_pair_body body, void *arg)
{
    round_job job = {.chunks = chunks, .body = body, .arg = arg};
    const double each = pairs_of_rows / (double)(chunks > 0 ? chunks : 1);
    double since = INFINITY; /* so that the first round reports */
    size_t begin, end;
    hfi_group_share(ctx, chunks, &begin, &end);
    for (job.round = begin; job.round < end; job.round++) {
        if (since >= REPORT) {
            const double done = (double)(job.round - begin) / (double)(end - begin);
            if (!hfi_progress(ctx, stage, done, NAN)) return hfi_cancelled(ctx);
            since = 0.0;
        }
        job.straight = job.round / 2 + 1;
        hfi_parallel_for(ctx, job.straight + (job.round + chunks) / 2 - job.round, run_pair, &job);
        since += each;
    }
    return HF_OK;
}
