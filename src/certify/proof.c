/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that are proof against rounding: rigorous.h, for many boxes. */
#include "certify/proof.h"

#include "certify/question.h"
#include "certify/rigorous.h"
#include "certify/search.h"
#include <math.h>
#include <string.h>

typedef struct proof {
    const hfi_rigorous *rigorous;
    hf_certify_what what;
    const hf_certify_settings *settings;
    size_t d, inputs;
    const double *lower, *upper; /* of the wave's first box */
    double *sides;               /* 4 d a box: lower, upper, argmin, argmax */
    hf_context *ctx;
    hfi_watch *watch;
    size_t m;
    double end; /* of the time for all */
    hf_range *range;
    hf_status *status;
} proof;

static void prove(size_t k, int thread, void *arg)
{
    const proof *job = arg;
    double *lower = job->sides + 4 * job->d * k, *upper = lower + job->d;
    memcpy(lower, job->lower + k * job->inputs, job->inputs * sizeof *lower);
    memcpy(upper, job->upper + k * job->inputs, job->inputs * sizeof *upper);
    if (job->inputs < job->d) lower[job->d - 1] = upper[job->d - 1] = (double)job->settings->output;
    const size_t threads = (size_t)hf_context_threads(job->ctx);
    const double deadline = hfi_box_deadline(job->settings, job->end, job->m - k, job->m == 1 ? 1 : threads);
    job->status[k] = hfi_rigorous_range(job->ctx, job->watch, job->rigorous, job->what, job->settings,
                                        deadline, job->m == 1 ? threads : 1, lower, upper, &job->range[k],
                                        upper + job->d, upper + 2 * job->d);
    if (job->m > 1 && thread == 0) job->watch->done = (double)(k + 1) / (double)job->m;
}

hf_status hfi_prove_boxes(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                          hf_certify_what what, const hf_certify_settings *settings, size_t m, size_t inputs,
                          const double *lower, const double *upper, hf_range *range, double *argmin,
                          double *argmax)
{
    hfi_rigorous *rigorous = NULL;
    hf_status status = hfi_rigorous_create(ctx, watch, posterior, what != HF_CERTIFY_MEAN, &rigorous);
    if (status < 0) return status;
    proof job = {.rigorous = rigorous,
                 .what = what,
                 .settings = settings,
                 .d = posterior->scaling.d,
                 .inputs = inputs,
                 .lower = lower,
                 .upper = upper,
                 .ctx = ctx,
                 .watch = watch,
                 .m = m,
                 .end = hfi_call_deadline(settings),
                 .range = range};
    job.sides = hfi_alloc(ctx, m, 4 * job.d * sizeof *job.sides);
    job.status = hfi_alloc(ctx, m, sizeof *job.status);
    status = job.sides && job.status ? HF_OK : HF_ERR_MEMORY;
    /* A box alone has the threads for its parts. */
    if (status >= 0 && m == 1)
        prove(0, 0, &job);
    else if (status >= 0 && !hfi_watched_for(ctx, watch, m, prove, &job))
        status = HF_ERR_CANCELLED;
    for (size_t k = 0; status >= 0 && k < m; k++) {
        const double *at = job.sides + 4 * job.d * k + 2 * job.d;
        memcpy(argmin + k * inputs, at, inputs * sizeof *argmin);
        memcpy(argmax + k * inputs, at + job.d, inputs * sizeof *argmax);
        if (job.status[k] == HF_ERR_NOT_FINITE)
            range[k] = hfi_unknown_range(what, settings, inputs, argmin + k * inputs, argmax + k * inputs);
        else if (job.status[k] < 0)
            status = job.status[k];
    }
    hfi_free(ctx, job.sides);
    hfi_free(ctx, job.status);
    hfi_rigorous_free(rigorous);
    if (status == HF_ERR_MEMORY) return hfi_out_of_memory(ctx);
    return status == HF_ERR_CANCELLED ? hfi_cancelled(ctx) : status;
}
