/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of inputs: what raising one does against lowering it. */
#include "certify/certify.h"

#include <math.h>

typedef struct row_scores {
    hfi_value value;
    hf_certify_settings settings;
    size_t m, d;
    const double *x, *step;
} row_scores;

/* How far the attained values of 2 d boxes may be off, the least and then the largest ones: by the
 * quadrature of several classes at the points where they are, else by rounding. */
static hf_status find_errors(hf_context *ctx, const row_scores *job, const double *x, const hf_range *ranges,
                             double *at, double *error)
{
    const size_t d = job->d, boxes = 2 * d;
    for (size_t k = 0; k < boxes; k++) error[k] = error[boxes + k] = ranges[k].rounding;
    const hf_classifier *classifier = job->value.classifier;
    if (!classifier || hf_classifier_link(classifier) != HF_LINK_SOFTMAX) return HF_OK;
    for (size_t k = 0; k < boxes; k++)
        for (size_t i = k; i <= boxes + k && ranges[k].stop == HF_CERTIFY_NOT_FINITE; i += boxes)
            memcpy(at + i * d, x, d * sizeof *at);
    const hf_status status =
        hf_classify_predict(ctx, classifier, 2 * boxes, at, d, NULL, NULL, NULL, NULL, error);
    /* An estimate comes with three standard errors. */
    for (size_t k = 0; k < 2 * boxes && hf_certify_is_estimate(classifier); k++) error[k] *= 2.0;
    return status;
}

/* Two boxes for each input, up and down. */
static hf_status score_point(hf_context *ctx, const row_scores *job, const hf_certify_settings *settings,
                             const double *x, double *boxes, hf_range *ranges, double *lower, double *upper)
{
    const size_t d = job->d;
    double *low = boxes, *high = low + 2 * d * d, *at = high + 2 * d * d, *error = at + 4 * d * d;
    for (size_t k = 0; k < 2 * d; k++) {
        memcpy(low + k * d, x, d * sizeof *low);
        memcpy(high + k * d, x, d * sizeof *high);
    }
    for (size_t j = 0; j < d; j++) {
        high[j * d + j] += job->step[j];
        low[(d + j) * d + j] -= job->step[j];
    }
    hf_status status =
        hfi_value_certify_boxes(ctx, &job->value, settings, 2 * d, low, high, ranges, at, at + 2 * d * d);
    if (status >= 0) status = hfi_worse(status, find_errors(ctx, job, x, ranges, at, error));
    const double *of_least = error, *of_most = error + 2 * d;
    for (size_t j = 0; j < d && status >= 0; j++) {
        const hf_range *up = &ranges[j], *down = &ranges[d + j];
        const double least = (up->upper_attained - down->upper) + (up->lower - down->lower_attained);
        const double most = (up->upper - down->upper_attained) + (up->lower_attained - down->lower);
        const double unit = 8.0 * DBL_EPSILON *
                            (fabs(up->upper) + fabs(down->upper) + fabs(up->lower) + fabs(down->lower)),
                     off_low = unit + of_most[j] + of_least[d + j],
                     off_high = unit + of_most[d + j] + of_least[j];
        /* Nothing is attained where a bound is not finite. */
        const bool fixed = job->step[j] == 0.0;
        lower[j] = fixed ? 0.0 : isnan(least) ? -(double)INFINITY : least - off_low;
        upper[j] = fixed ? 0.0 : isnan(most) ? (double)INFINITY : most + off_high;
    }
    return status;
}

static hf_status check_explain_job(hf_context *ctx, const row_scores *job)
{
    for (size_t j = 0; j < job->d; j++)
        if (!(job->step[j] >= 0.0) || !isfinite(job->step[j]))
            return hfi_refuse(ctx, "the step of input %zu is %g; it must be 0 or above", j + 1, job->step[j]);
    if (job->settings.lower_only || job->settings.upper_only)
        return hfi_refuse(ctx, "a score needs both ends of ranges");
    if (job->settings.region) return hfi_refuse(ctx, "a score is about steps of one input, without a region");
    return HF_OK;
}

static hf_status score_inputs_of_rows(hf_context *ctx, const row_scores *job, double *lower, double *upper)
{
    hf_status status = check_explain_job(ctx, job);
    const double end = hfi_call_deadline(&job->settings);
    size_t square, numbers;
    if (status < 0) return status;
    if (!hfi_size_mul(8 * job->d, job->d, &square) || !hfi_size_mul(job->m, 2 * job->d, &numbers))
        return hfi_out_of_memory(ctx);
    double *boxes, *out;
    hf_range *ranges;
    status = HFI_ALLOC(ctx, HFI_ROOM(boxes, square + 4 * job->d), HFI_ROOM(out, numbers + 1),
                       HFI_ROOM(ranges, 2 * job->d));
    for (size_t k = 0; k < job->m && status >= 0; k++) {
        double *own = out + k * job->d;
        const hf_certify_settings share = hfi_share_time(&job->settings, end, job->m - k);
        status = hfi_worse(status, score_point(ctx, job, &share, job->x + k * job->d, boxes, ranges, own,
                                               own + job->m * job->d));
    }
    if (status >= 0) {
        memcpy(lower, out, job->m * job->d * sizeof *out);
        memcpy(upper, out + job->m * job->d, job->m * job->d * sizeof *out);
    }
    HFI_FREE(ctx, boxes, out, ranges);
    return status;
}

/* Sets out what is asked about. */
static hf_status explain(hf_context *ctx, const hfi_value *value, const hf_certify_settings *settings,
                         size_t m, const double *x, const double *step, double *lower, double *upper)
{
    hf_region region;
    row_scores job = {.value = *value, .m = m, .d = value->inputs, .x = x, .step = step};
    const hf_status status = hfi_certify_open(ctx, settings, &job.settings, &region);
    return status < 0 ? status : score_inputs_of_rows(ctx, &job, lower, upper);
}

hf_status hf_explain(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                     const hf_certify_settings *settings, size_t m, const double *x, const double *step,
                     double *lower, double *upper)
{
    hfi_value value;
    if (!ctx || !posterior || !x || !step || !lower || !upper)
        return HFI_REFUSE_NULL(ctx, "hf_explain", posterior, x, step, lower, upper);
    const hf_status status = hfi_value_of(ctx, posterior, what, &value);
    return status >= 0 ? explain(ctx, &value, settings, m, x, step, lower, upper) : status;
}

hf_status hf_explain_class(hf_context *ctx, const hf_classifier *classifier,
                           const hf_certify_settings *settings, size_t m, const double *x, const double *step,
                           double *lower, double *upper)
{
    hfi_value value;
    if (!ctx || !classifier || !x || !step || !lower || !upper)
        return HFI_REFUSE_NULL(ctx, "hf_explain_class", classifier, x, step, lower, upper);
    const hf_status status = hfi_value_of_class(ctx, classifier, &value);
    return status >= 0 ? explain(ctx, &value, settings, m, x, step, lower, upper) : status;
}
