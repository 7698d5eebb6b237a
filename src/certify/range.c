/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the range over one box, or over many. */
#include "certify/certify.h"

#include <math.h>

/* One box's answers on the way to the caller. */
typedef struct box_range {
    hf_status status;
    hf_range range;
    double *argmin, *argmax; /* inputs of the data */
} box_range;

/* Whether a range says on which side of decide_at all values are. */
static bool is_decided(const hfi_certify_problem *q, const hf_range *range)
{
    return !isnan(q->settings.decide_at) &&
           (range->lower > q->settings.decide_at || range->upper < q->settings.decide_at);
}

static void answer_point(hfi_certify_problem *q, box_range *a)
{
    double value, lower, upper;
    q->functions->at_point(q, a->argmin, &value, &lower, &upper);
    memcpy(a->argmax, a->argmin, q->inputs * sizeof *a->argmax);
    if (!isfinite(lower) || !isfinite(upper)) {
        a->status = HF_ERR_NOT_FINITE;
        return;
    }
    a->range = (hf_range){.lower = lower,
                          .upper = upper,
                          .lower_attained = value,
                          .upper_attained = value,
                          .rounding = fmax(value - lower, upper - value)};
    if (is_decided(q, &a->range))
        a->range.stop = HF_CERTIFY_DECIDED;
    else if (a->range.rounding > q->settings.tolerance)
        a->range.stop = HF_CERTIFY_ROUNDING;
    if (q->settings.lower_only) {
        a->range.upper = (double)INFINITY;
        a->range.upper_attained = (double)NAN;
    }
    if (q->settings.upper_only) {
        a->range.lower = -(double)INFINITY;
        a->range.lower_attained = (double)NAN;
    }
}

/* Searches the box, or the region in it. */
static hf_status search_box(const hf_context *ctx, hfi_certify_problem *q, size_t threads,
                            const hfi_region_centre *place, double deadline, box_range *a)
{
    const bool cuts = hfi_region_cuts(q->settings.region);
    hfi_branch_problem whole;
    hf_status status = q->functions->begin(q, threads, &whole);
    if (status < 0) return status;
    if (cuts) status = hfi_region_cut(q, threads, place, &whole);
    if (status >= 0) {
        status =
            hfi_search_ends(ctx, q->watch, &whole, &q->settings, deadline, &a->range, a->argmin, a->argmax);
        if (cuts) hfi_region_uncut(&whole);
    }
    q->functions->end(q);
    return status;
}

/* In intervals nothing is left to rounding, but what they hold may be nothing. */
static hf_status finish_rigorous(hf_range *range)
{
    range->rounding = 0.0;
    range->rigorous = true;
    return isinf(range->lower_attained) || isinf(range->upper_attained) ? HF_ERR_NOT_FINITE : HF_OK;
}

static void answer_problem(const hf_context *ctx, hfi_certify_problem *q, size_t threads,
                           const hfi_region_centre *place, double deadline, box_range *a)
{
    const double start = hfi_now();
    if (q->subject.free_count == 0 && q->functions->at_point)
        answer_point(q, a);
    else
        a->status = search_box(ctx, q, threads, place, deadline, a);
    if (a->status >= 0 && q->settings.rigorous) a->status = finish_rigorous(&a->range);
    if (a->status == HF_ERR_NOT_FINITE) {
        a->range = hfi_unknown_range(q->quantity, &q->settings, q->inputs, a->argmin, a->argmax);
        a->range.rigorous = q->settings.rigorous;
        a->status = HF_OK;
    }
    a->range.seconds = hfi_now() - start;
    if (a->status >= 0 && a->range.stop > HF_CERTIFY_DECIDED) a->status = HF_WARN_NOT_CONVERGED;
}

static hf_status report_range_failure(hf_context *ctx, const box_range *a)
{
    if (a->status == HF_ERR_MEMORY) return hfi_out_of_memory(ctx);
    if (a->status == HF_ERR_CANCELLED) return hfi_cancelled(ctx);
    if (a->status == HF_WARN_NOT_CONVERGED && a->range.stop == HF_CERTIFY_NOT_FINITE)
        return hfi_fail(
            ctx, a->status,
            "a bound or value of the box is not finite, so that its range says nothing; take a smaller box");
    if (a->status == HF_WARN_NOT_CONVERGED)
        return hfi_fail(ctx, a->status,
                        "stopped by %s after %zu boxes: the range [%g, %g] holds, attained are %g and %g",
                        hf_enum_name(HF_ENUM_CERTIFY_STOP, a->range.stop), a->range.nodes, a->range.lower,
                        a->range.upper, a->range.lower_attained, a->range.upper_attained);
    return a->status;
}

/* ---- many boxes -------------------------------------------------------------------------------------------------- */

/* Boxes are made ready by the caller's thread, which may use the context, and searched on all. */
typedef struct box_wave {
    hf_context *ctx;
    hfi_watch *watch;
    size_t count, left; /* boxes of this one, and those without an answer */
    double end;         /* of the time for all */
    hfi_certify_problem **problem;
    box_range *answers;
    const double *centre, *half; /* of the boxes in a region, `inputs` entries each; NULL: none */
} box_wave;

static void answer_box(size_t k, int thread, void *arg)
{
    box_wave *w = arg;
    (void)thread;
    hfi_certify_problem *q = w->problem[k];
    const size_t threads = (size_t)hf_context_threads(w->ctx);
    const double deadline = hfi_box_deadline(&q->settings, w->end, w->left - k, w->count == 1 ? 1 : threads);
    const hfi_region_centre place = {w->centre ? w->centre + k * q->inputs : NULL,
                                     w->half ? w->half + k * q->inputs : NULL};
    answer_problem(w->ctx, q, w->count == 1 ? threads : 1, &place, deadline, &w->answers[k]);
}

hf_status hfi_boxes_name(hf_context *ctx, const hfi_boxes *job, size_t box, hf_status status)
{
    if (status >= 0 || job->m == 1) return status;
    char said[256];
    const char *message = hf_context_message(ctx);
    const size_t length = strlen(message) < sizeof said - 1 ? strlen(message) : sizeof said - 1;
    memcpy(said, message, length);
    said[length] = '\0';
    return hfi_fail(ctx, status, "box %zu: %s", box + 1, said);
}

hf_status hfi_boxes_check(hf_context *ctx, const hfi_boxes *job)
{
    hf_status status = HF_OK;
    for (size_t k = 0; status >= 0 && k < job->m; k++)
        status =
            hfi_boxes_name(ctx, job, k,
                           hfi_problem_check(ctx, job->posterior, job->quantity, job->settings,
                                             job->lower + k * job->inputs, job->upper + k * job->inputs));
    return status;
}

static hf_status ready_box(hf_context *ctx, const hfi_boxes *job, size_t box, hfi_certify_problem **out)
{
    return hfi_boxes_name(ctx, job, box,
                          hfi_problem_create(ctx, job->posterior, job->quantity, job->settings, job->shared,
                                             job->lower + box * job->inputs, job->upper + box * job->inputs,
                                             out));
}

static hf_status run_wave(const hfi_boxes *job, size_t first, box_wave *w)
{
    hf_status status = HF_OK;
    for (size_t k = 0; status >= 0 && k < w->count; k++) {
        status =
            hfi_watch_ok(w->watch) ? ready_box(w->ctx, job, first + k, &w->problem[k]) : HF_ERR_CANCELLED;
        if (status >= 0) w->problem[k]->watch = w->watch;
    }
    /* A box alone has the threads for its parts. */
    if (status >= 0 && w->count == 1)
        answer_box(0, 0, w);
    else if (status >= 0 && !hfi_watched_for(w->ctx, w->watch, w->count, answer_box, w))
        status = HF_ERR_CANCELLED;
    for (size_t k = 0; k < w->count; k++) {
        hfi_problem_free(w->problem[k]);
        w->problem[k] = NULL;
    }
    return status == HF_ERR_CANCELLED ? hfi_cancelled(w->ctx) : status;
}

static hf_status run_boxes(hf_context *ctx, const hfi_boxes *job, hfi_watch *watch, box_range *answers)
{
    const size_t most = job->m == 1 ? 1 : 2 * (size_t)hf_context_threads(ctx);
    const double end = hfi_call_deadline(job->settings);
    hfi_certify_problem **problem = hfi_alloc(ctx, most, sizeof(hfi_certify_problem *));
    if (!problem) return HF_ERR_MEMORY;
    hf_status worst = HF_OK;
    for (size_t first = 0; worst >= 0 && first < job->m; first += most) {
        const size_t left = job->m - first;
        box_wave w = {.ctx = ctx,
                      .watch = watch,
                      .count = left < most ? left : most,
                      .left = left,
                      .end = end,
                      .problem = problem,
                      .answers = answers + first,
                      .centre = job->centre ? job->centre + first * job->inputs : NULL,
                      .half = job->half ? job->half + first * job->inputs : NULL};
        hf_status status = run_wave(job, first, &w);
        for (size_t k = 0; status >= 0 && k < w.count; k++)
            if (w.answers[k].status != HF_OK)
                status = hfi_worse(status, report_range_failure(ctx, &w.answers[k]));
        worst = hfi_worse(worst, status);
        if (job->m > 1) watch->done = (double)(first + w.count) / (double)job->m;
        if (worst >= 0 && job->m > 1 && !hfi_watch_ok(watch)) worst = hfi_cancelled(ctx);
    }
    hfi_free(ctx, problem);
    return worst;
}

static void hand_out(const hfi_boxes *job, const box_range *answers, hf_range *out, double *argmin,
                     double *argmax)
{
    for (size_t k = 0; k < job->m; k++) {
        out[k] = answers[k].range;
        const bool low = !job->settings->upper_only, high = !job->settings->lower_only;
        if (argmin && low) memcpy(argmin + k * job->inputs, answers[k].argmin, job->inputs * sizeof *argmin);
        if (argmax && high) memcpy(argmax + k * job->inputs, answers[k].argmax, job->inputs * sizeof *argmax);
    }
}

static hf_status prepare_and_run(hf_context *ctx, hfi_boxes *job, hfi_watch *watch, box_range *answers)
{
    const hfi_problem_functions *functions = hfi_problem_choose(job->quantity, job->settings->rigorous);
    hf_status status = HF_OK;
    job->shared = job->quantity->prepared;
    const bool own = !job->shared && functions->prepare;
    if (own) status = functions->prepare(ctx, watch, job->posterior, job->quantity, &job->shared);
    if (status >= 0) status = run_boxes(ctx, job, watch, answers);
    if (own) functions->forget(job->shared);
    return status;
}

hf_status hfi_boxes_answer(hf_context *ctx, hfi_boxes *job, hf_range *out, double *argmin, double *argmax)
{
    size_t numbers;
    if (!hfi_size_mul(job->m, 2 * job->inputs, &numbers)) return hfi_out_of_memory(ctx);
    box_range *answers;
    double *points;
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(answers, job->m), HFI_ROOM(points, numbers));
    if (status >= 0) {
        for (size_t k = 0; k < job->m; k++) {
            answers[k].argmin = points + 2 * k * job->inputs;
            answers[k].argmax = answers[k].argmin + job->inputs;
        }
        hfi_watch watch;
        hfi_watch_begin(&watch, ctx, "certify", job->m > 1 ? 0.0 : -1.0);
        status = prepare_and_run(ctx, job, &watch, answers);
    }
    if (status >= 0) hand_out(job, answers, out, argmin, argmax);
    HFI_FREE(ctx, answers, points);
    return status;
}
