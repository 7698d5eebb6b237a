/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of class probabilities, and decisions. */
#include "certify/certify.h"

#include "classify/softmax.h"

#include <math.h>

/* ---- arguments --------------------------------------------------------------------------------------------------- */

hf_status hfi_class_quantity(hf_context *ctx, const hf_classifier *classifier, size_t class,
                             const hfi_quantity **quantity)
{
    static const hfi_quantity *const rows[] = {[HF_LINK_PROBIT] = &hfi_quantity_probit,
                                               [HF_LINK_LOGIT] = &hfi_quantity_logit,
                                               [HF_LINK_SOFTMAX] = &hfi_quantity_softmax};
    const size_t classes = hf_classifier_classes(classifier);
    const hfi_scaling *scaling = &hf_classifier_posterior(classifier)->scaling;
    if (class >= classes)
        return hfi_refuse(ctx, "there is no class %zu: the classifier has %zu (from 0)", class, classes);
    *quantity = rows[hf_classifier_link(classifier)];
    if (!(*quantity)->of_class &&
        (hfi_scaling_shift(scaling, 0) != 0.0 || hfi_scaling_scale(scaling, 0) != 1.0))
        return hfi_refuse(ctx, "the classifier's latent function is in other units than its link's");
    return HF_OK;
}

bool hf_certify_is_estimate(const hf_classifier *classifier)
{
    return hf_classifier_link(classifier) == HF_LINK_SOFTMAX &&
           hfi_softmax_is_estimate(hf_classifier_classes(classifier));
}

hf_status hfi_certify_is_other(hf_context *ctx, const hf_classifier *classifier, const double *point,
                               size_t winner, bool *out)
{
    const size_t d = hfi_class_inputs(classifier);
    double *p = hfi_alloc(ctx, hf_classifier_classes(classifier), sizeof *p), error;
    size_t other;
    if (!p) return HF_ERR_MEMORY;
    const hf_status status = hf_classify_predict(ctx, classifier, 1, point, d, p, &other, NULL, NULL, &error);
    *out = status >= 0 && other != winner;
    /* Three standard errors are given; each probability gets six. */
    if (*out && hf_certify_is_estimate(classifier)) {
        double size;
        const double margin = hfi_class_margin(classifier, p, other, winner, &size);
        *out = margin > 2.0 * size * error;
    }
    hfi_free(ctx, p);
    return status;
}

double hfi_class_margin(const hf_classifier *classifier, const double *p, size_t decision, size_t other,
                        double *size)
{
    const size_t classes = hf_classifier_classes(classifier);
    const double *loss =
        hf_classifier_link(classifier) == HF_LINK_SOFTMAX ? hf_classifier_rule(classifier)->loss : NULL;
    double margin = 0.0;
    *size = 0.0;
    for (size_t b = 0; b < classes; b++) {
        const double v = hfi_decision_excess(classes, loss, other, decision, b);
        margin += v * p[b];
        *size += fabs(v);
    }
    return margin;
}

size_t hfi_class_inputs(const hf_classifier *classifier)
{
    return hf_posterior_dimension(hf_classifier_posterior(classifier)) -
           (hf_classifier_link(classifier) == HF_LINK_SOFTMAX ? 1 : 0);
}

/* Proofs are those of two classes. */
static hf_status check_rigorous(hf_context *ctx, const hfi_quantity *quantity,
                                const hf_certify_settings *settings)
{
    if (!settings->rigorous || quantity->proof) return HF_OK;
    return hfi_refuse(ctx,
                      "certificates of the softmax link are not proof against rounding; ranges of the latent "
                      "means are");
}

/* ---- probabilities ----------------------------------------------------------------------------------------------- */

/* Turns the ranges of class 1 into those of class 0: one less each, and least and most change places. */
void hfi_turn_ranges(size_t m, hf_range *ranges)
{
    for (size_t k = 0; k < m; k++) {
        hf_range *r = &ranges[k];
        const hf_range of_1 = *r;
        /* Infinite ends are those that were not asked for. */
        r->lower = 1.0 - of_1.upper;
        r->upper = 1.0 - of_1.lower;
        if (isfinite(r->lower)) r->lower = fmax(0.0, r->lower * (1.0 - 4.0 * DBL_EPSILON));
        if (isfinite(r->upper)) r->upper = fmin(1.0, r->upper * (1.0 + 4.0 * DBL_EPSILON));
        r->lower_attained = 1.0 - of_1.upper_attained;
        r->upper_attained = 1.0 - of_1.lower_attained;
        if (!r->rigorous) continue;
        r->lower_attained *= 1.0 + 4.0 * DBL_EPSILON;
        r->upper_attained *= 1.0 - 4.0 * DBL_EPSILON;
    }
}

/* Bounds of several classes carry their allowances beyond 0 and 1. */
static void clip_ranges(size_t m, hf_range *ranges)
{
    for (size_t k = 0; k < m; k++) {
        if (isfinite(ranges[k].lower)) ranges[k].lower = fmax(0.0, ranges[k].lower);
        if (isfinite(ranges[k].upper)) ranges[k].upper = fmin(1.0, ranges[k].upper);
    }
}

hf_status hfi_certify_class_boxes(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m, const double *lower,
                                  const double *upper, hf_range *out, double *argmin, double *argmax)
{
    const hfi_quantity *quantity = &hfi_quantity_mean;
    hf_certify_settings own = *settings;
    const size_t class = own.output;
    hf_status status = hfi_class_quantity(ctx, classifier, class, &quantity);
    if (status >= 0) status = check_rigorous(ctx, quantity, &own);
    if (status < 0) return status;
    if (quantity->of_class) {
        status = hfi_certify_boxes(ctx, hf_classifier_posterior(classifier), quantity, &own, m, lower, upper,
                                   out, argmin, argmax);
        if (status >= 0) clip_ranges(m, out);
        for (size_t k = 0; status >= 0 && k < m; k++) out[k].estimate = hf_certify_is_estimate(classifier);
        return status;
    }
    own.output = 0;
    own.beta = hf_classifier_rule(classifier)->lambda;
    if (class == 0) {
        const bool lower_only = own.lower_only;
        own.lower_only = own.upper_only;
        own.upper_only = lower_only;
        own.decide_at = 1.0 - own.decide_at;
    }
    status = hfi_certify_boxes(ctx, hf_classifier_posterior(classifier), quantity, &own, m, lower, upper, out,
                               class == 0 ? argmax : argmin, class == 0 ? argmin : argmax);
    if (status >= 0 && class == 0) hfi_turn_ranges(m, out);
    return status;
}

hf_status hf_certify_class(hf_context *ctx, const hf_classifier *classifier,
                           const hf_certify_settings *settings, size_t m, const double *lower,
                           const double *upper, hf_range *out, double *argmin, double *argmax)
{
    if (!ctx || !classifier || !lower || !upper || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_class", classifier, lower, upper, out);
    hf_certify_settings own;
    hf_region region;
    const hf_status status = hfi_certify_open(ctx, settings, &own, &region);
    return status < 0 ? status
                      : hfi_certify_class_boxes(ctx, classifier, &own, m, lower, upper, out, argmin, argmax);
}

/* ---- expected losses ----------------------------------------------------------------------------------- */

/* A loss of two classes is base + slope P, P of class 1. */
static hf_status loss_of_two(hf_context *ctx, const hf_classifier *classifier, hf_certify_settings own,
                             const double cost[2], const hfi_boxes *job, hf_range *out, double *argmin,
                             double *argmax)
{
    const double base = cost[0], slope = cost[1] - cost[0], slack = 8.0 * DBL_EPSILON * (cost[0] + cost[1]);
    const bool falls = slope < 0.0, lower_only = own.lower_only;
    own.output = 1;
    own.tolerance = fmin(own.tolerance / fabs(slope), 1.0);
    own.decide_at = (own.decide_at - base) / slope;
    if (falls) own.lower_only = own.upper_only, own.upper_only = lower_only;
    const hf_status status = hfi_certify_class_boxes(ctx, classifier, &own, job->m, job->lower, job->upper,
                                                     out, falls ? argmax : argmin, falls ? argmin : argmax);
    for (size_t k = 0; status >= 0 && k < job->m; k++) {
        hf_range *r = &out[k];
        const double ends[] = {base + slope * r->lower, base + slope * r->upper},
                     attained[] = {base + slope * r->lower_attained, base + slope * r->upper_attained};
        r->lower = fmax(fmin(cost[0], cost[1]), ends[falls] - slack);
        r->upper = fmin(ends[!falls] + slack, isinf(ends[!falls]) ? ends[!falls] : fmax(cost[0], cost[1]));
        r->lower_attained = attained[falls];
        r->upper_attained = attained[!falls];
    }
    return status;
}

hf_status hf_certify_loss(hf_context *ctx, const hf_classifier *classifier, const double *loss,
                          const hf_certify_settings *settings, size_t m, const double *lower,
                          const double *upper, hf_range *out, double *argmin, double *argmax)
{
    if (!ctx || !classifier || !lower || !upper || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_loss", classifier, lower, upper, out);
    const hfi_quantity *quantity = &hfi_quantity_mean;
    const size_t classes = hf_classifier_classes(classifier);
    hf_certify_settings own;
    hf_region region;
    hf_status status = hfi_certify_open(ctx, settings, &own, &region);
    if (status >= 0 && loss) status = hfi_class_check_loss(ctx, classes, loss);
    if (!loss) loss = hf_classifier_rule(classifier)->loss;
    if (status >= 0) status = hfi_class_quantity(ctx, classifier, own.output, &quantity);
    if (status >= 0) status = check_rigorous(ctx, quantity, &own);
    if (status < 0) return status;
    if (!quantity->of_class) {
        const double cost[2] = {hfi_decision_cost(classes, loss, own.output, 0),
                                hfi_decision_cost(classes, loss, own.output, 1)};
        const hfi_boxes job = {.m = m, .lower = lower, .upper = upper};
        return loss_of_two(ctx, classifier, own, cost, &job, out, argmin, argmax);
    }
    hfi_quantity expected = hfi_quantity_loss;
    expected.loss = loss;
    status = hfi_certify_boxes(ctx, hf_classifier_posterior(classifier), &expected, &own, m, lower, upper,
                               out, argmin, argmax);
    const double most = hfi_largest_cost(classes, loss);
    for (size_t k = 0; status >= 0 && k < m; k++) {
        out[k].lower = fmax(out[k].lower, 0.0);
        if (isfinite(out[k].upper)) out[k].upper = fmin(out[k].upper, most);
        out[k].estimate = hf_certify_is_estimate(classifier);
    }
    return status;
}

/* ---- decisions --------------------------------------------------------------------------------------------------- */

static bool has_threshold(const hf_classifier *classifier)
{
    return hf_classifier_link(classifier) != HF_LINK_SOFTMAX &&
           hf_classifier_rule(classifier)->threshold != 0.5;
}

hf_status hfi_lead_open(hf_context *ctx, const hf_classifier *classifier, bool rigorous, hfi_lead *lead)
{
    const bool several = hf_classifier_link(classifier) == HF_LINK_SOFTMAX;
    *lead =
        (hfi_lead){.classifier = classifier, .quantity = several ? hfi_quantity_margin : hfi_quantity_mean};
    if (several) lead->quantity.loss = hf_classifier_rule(classifier)->loss;
    const hfi_problem_functions *functions = hfi_problem_choose(&lead->quantity, rigorous);
    if (has_threshold(classifier) || !functions || !functions->prepare) return HF_OK;
    hfi_watch watch;
    hfi_watch_begin(&watch, ctx, "certify", -1.0);
    const hf_status status = functions->prepare(ctx, &watch, hf_classifier_posterior(classifier),
                                                &lead->quantity, &lead->quantity.prepared);
    if (status < 0) {
        functions->forget(lead->quantity.prepared);
        return status == HF_ERR_CANCELLED ? hfi_cancelled(ctx) : status;
    }
    lead->functions = functions;
    return status;
}

void hfi_lead_close(hfi_lead *lead)
{
    if (lead->functions) lead->functions->forget(lead->quantity.prepared);
    lead->functions = NULL;
}

hf_status hfi_class_lead(hf_context *ctx, const hfi_lead *lead, size_t class, hf_certify_settings *own,
                         const double *lower, const double *upper, hf_range *range, double *at)
{
    /* Nearer to the cut than this, or than this share of a threshold or of 1 less it, is left open. */
    static const double undecided_mean = 1e-8, undecided_margin = 1e-6, undecided_share = 1e-7;
    const hf_classifier *classifier = lead->classifier;
    const hf_class_rule rule = *hf_classifier_rule(classifier);
    const bool several = lead->quantity.of_margin;
    own->decide_at = 0.0;
    own->output = several ? class : 0;
    own->tolerance = several
                         ? undecided_margin * hfi_largest_cost(hf_classifier_classes(classifier), rule.loss)
                         : undecided_mean;
    if (!has_threshold(classifier))
        return hfi_certify_boxes(ctx, hf_classifier_posterior(classifier), &lead->quantity, own, 1, lower,
                                 upper, range, at, at);
    own->decide_at = rule.threshold;
    own->output = 1;
    own->tolerance = undecided_share * fmin(rule.threshold, 1.0 - rule.threshold);
    return hfi_certify_class_boxes(ctx, classifier, own, 1, lower, upper, range, at, at);
}

/* One box: only the end that could cross matters. A counterexample is one by a prediction. */
static hf_status decide_one(hf_context *ctx, const hfi_lead *lead, hf_certify_settings settings,
                            size_t winner, const double *lower, const double *upper, hf_decision *out,
                            double *at)
{
    const hf_classifier *classifier = lead->classifier;
    const bool top = winner == 1 || hf_classifier_link(classifier) == HF_LINK_SOFTMAX;
    hf_range range;
    bool broken = false;
    settings.lower_only = top;
    settings.upper_only = !top;
    const hf_status status = hfi_class_lead(ctx, lead, winner, &settings, lower, upper, &range, at);
    if (status < 0) return status;
    const double cut = settings.decide_at;
    *out = (hf_decision){
        .winner = winner, .verdict = HF_VERDICT_OPEN, .nodes = range.nodes, .seconds = range.seconds};
    if (top ? range.lower > cut : range.upper <= cut) out->verdict = HF_VERDICT_CERTIFIED;
    if (top ? range.lower_attained <= cut + settings.tolerance
            : range.upper_attained > cut - settings.tolerance) {
        const hf_status asked = hfi_certify_is_other(ctx, classifier, at, winner, &broken);
        if (asked < 0) return asked;
    }
    if (broken) out->verdict = HF_VERDICT_COUNTEREXAMPLE;
    return status;
}

typedef struct decisions {
    const hf_classifier *classifier;
    size_t m, d;
    const double *x, *lower, *upper;
    size_t *winner;
    hf_decision *out; /* m */
    double *at;       /* m x d */
} decisions;

/* Sides and points that are not finite are refused with the box. */
static hf_status check_points(hf_context *ctx, const decisions *job)
{
    for (size_t k = 0; k < job->m * job->d; k++)
        if (job->x[k] < job->lower[k] || job->x[k] > job->upper[k])
            return hfi_refuse(ctx, "box %zu: input %zu of its point is %g, which is not within [%g, %g]",
                              k / job->d + 1, k % job->d + 1, job->x[k], job->lower[k], job->upper[k]);
    return HF_OK;
}

static hf_status decide_all(hf_context *ctx, const decisions *job, const hfi_lead *lead,
                            const hf_certify_settings *settings, double end)
{
    hf_status worst = HF_OK;
    for (size_t k = 0; k < job->m && worst >= 0; k++) {
        double *at = job->at + k * job->d;
        hf_certify_settings share = hfi_share_time(settings, end, job->m - k);
        hf_region region;
        hfi_region_about(&share, job->x + k * job->d, &region);
        const hf_status status = decide_one(ctx, lead, share, job->winner[k], job->lower + k * job->d,
                                            job->upper + k * job->d, &job->out[k], at);
        if (status < 0) return status;
        job->out[k].estimate = hf_certify_is_estimate(job->classifier);
        if (job->out[k].verdict == HF_VERDICT_OPEN)
            worst = hfi_fail(ctx, HF_WARN_NOT_CONVERGED, "box %zu: the decision is open after %zu boxes",
                             k + 1, job->out[k].nodes);
        if (job->out[k].verdict != HF_VERDICT_COUNTEREXAMPLE)
            for (size_t j = 0; j < job->d; j++) at[j] = (double)NAN;
        if (job->m > 1 && !hfi_progress(ctx, "certify", (double)(k + 1) / (double)job->m, (double)NAN))
            return hfi_cancelled(ctx);
    }
    return worst;
}

static hf_status decide(hf_context *ctx, const decisions *job, const hf_certify_settings *settings)
{
    const double end = hfi_call_deadline(settings);
    hfi_lead lead;
    hf_status status = hfi_lead_open(ctx, job->classifier, settings->rigorous, &lead);
    if (status < 0) return status;
    status = hfi_worse(status, decide_all(ctx, job, &lead, settings, end));
    hfi_lead_close(&lead);
    return status;
}

hf_status hf_certify_decision(hf_context *ctx, const hf_classifier *classifier, const double *loss,
                              const hf_certify_settings *settings, size_t m, const double *x,
                              const double *lower, const double *upper, hf_decision *out,
                              double *counterexample)
{
    const hfi_quantity *quantity = &hfi_quantity_mean;
    if (!ctx || !classifier || !x || !lower || !upper || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_decision", classifier, x, lower, upper, out);
    hf_certify_settings own;
    hf_region region;
    hf_classifier decides;
    hf_status status = hfi_certify_open(ctx, settings, &own, &region);
    own.output = 0;
    if (status >= 0) status = hfi_class_quantity(ctx, classifier, 0, &quantity);
    if (status >= 0) status = hfi_classifier_with_loss(ctx, classifier, loss, &decides);
    if (status >= 0) status = check_rigorous(ctx, quantity, &own);
    if (status < 0 || m == 0) return status;
    decisions job = {&decides, m, hfi_class_inputs(classifier), x, lower, upper, NULL, NULL, NULL};
    size_t numbers;
    if (!hfi_size_mul(m, job.d, &numbers)) return hfi_out_of_memory(ctx);
    status = check_points(ctx, &job);
    if (status < 0) return status;
    status = HFI_ALLOC(ctx, HFI_ROOM(job.winner, m), HFI_ROOM(job.out, m), HFI_ROOM(job.at, numbers));
    if (status >= 0)
        status = hf_classify_predict(ctx, &decides, m, x, job.d, NULL, job.winner, NULL, NULL, NULL);
    if (status >= 0) status = hfi_worse(status, decide(ctx, &job, &own));
    if (status >= 0) {
        memcpy(out, job.out, m * sizeof *out);
        if (counterexample) memcpy(counterexample, job.at, numbers * sizeof *counterexample);
    }
    HFI_FREE(ctx, job.winner, job.out, job.at);
    return status;
}

/* ---- a table ----------------------------------------------------------------------------------------------------- */

/* Labelled points and their boxes. */
static size_t gather_labelled_boxes(size_t m, size_t d, const double *x, const size_t *label,
                                    const double *radius, double *boxes, size_t *row)
{
    size_t count = 0;
    double *centre = boxes, *lower = boxes + m * d, *upper = boxes + 2 * m * d;
    for (size_t i = 0; i < m; i++) {
        if (label[i] == HF_LABEL_MISSING) continue;
        for (size_t j = 0; j < d; j++) {
            centre[count * d + j] = x[i * d + j];
            lower[count * d + j] = x[i * d + j] - radius[j];
            upper[count * d + j] = x[i * d + j] + radius[j];
        }
        row[count++] = i;
    }
    return count;
}

hf_status hf_certify_accuracy(hf_context *ctx, const hf_classifier *classifier,
                              const hf_certify_settings *settings, size_t m, const double *x,
                              const size_t *label, const double *radius, hf_certified_accuracy *out)
{
    if (!ctx || !classifier || !x || !label || !radius || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_accuracy", classifier, x, label, radius, out);
    const size_t d = hfi_class_inputs(classifier);
    for (size_t j = 0; j < d; j++)
        if (!(radius[j] >= 0.0) || !isfinite(radius[j]))
            return hfi_refuse(ctx, "the radius of input %zu is %g; it must be 0 or above", j + 1, radius[j]);
    size_t numbers;
    if (!hfi_size_mul(m, 3 * d, &numbers)) return hfi_out_of_memory(ctx);
    double *boxes;
    size_t *row;
    hf_decision *found;
    hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(boxes, numbers + 1), HFI_ROOM(row, m + 1), HFI_ROOM(found, m + 1));
    if (status >= 0) {
        hf_certified_accuracy sum = {.rows = gather_labelled_boxes(m, d, x, label, radius, boxes, row),
                                     .estimate = hf_certify_is_estimate(classifier)};
        status = hf_certify_decision(ctx, classifier, NULL, settings, sum.rows, boxes, boxes + m * d,
                                     boxes + 2 * m * d, found, NULL);
        for (size_t k = 0; status >= 0 && k < sum.rows; k++) {
            if (found[k].winner != label[row[k]]) continue;
            sum.right++;
            sum.certified += found[k].verdict == HF_VERDICT_CERTIFIED;
            sum.broken += found[k].verdict == HF_VERDICT_COUNTEREXAMPLE;
        }
        if (status >= 0) *out = sum;
    }
    HFI_FREE(ctx, boxes, row, found);
    return status;
}
