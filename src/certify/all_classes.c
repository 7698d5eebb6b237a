/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of all classes, and which of them a box has. */
#include <holdfast/certify_classes.h>

#include "certify/certify.h"

#include <math.h>

typedef struct class_ranges_job {
    const hf_classifier *classifier;
    hf_certify_settings settings; /* both ends, without a decision */
    double end;                   /* of the time for all */
    size_t m, d, classes;
    bool two; /* one latent function for both classes */
    const double *lower, *upper;
    hf_class_range *out; /* m x classes */
    double *at;          /* m x classes x d: where each is most probable, then points of it */
    hf_range *range;     /* m: of one class */
    double *least;       /* m x d */
    double *most;        /* m x d */
    hfi_lead lead;       /* once it is asked for */
    bool led;
} class_ranges_job;

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void keep(class_ranges_job *j, size_t class, const double *most)
{
    for (size_t k = 0; k < j->m; k++) {
        const size_t at = k * j->classes + class;
        j->out[at] = (hf_class_range){.range = j->range[k], .chance = HF_CHANCE_OPEN};
        memcpy(j->at + at * j->d, most + k * j->d, j->d * sizeof *most);
    }
}

static hf_status find_ranges(hf_context *ctx, class_ranges_job *j)
{
    hf_status worst = HF_OK;
    for (size_t c = j->two ? 1 : 0; c < j->classes && worst >= 0; c++) {
        hf_certify_settings own = hfi_share_time(&j->settings, j->end, 2 * (j->classes - c));
        own.output = c;
        const hf_status status = hfi_certify_class_boxes(ctx, j->classifier, &own, j->m, j->lower, j->upper,
                                                         j->range, j->least, j->most);
        worst = hfi_worse(worst, status);
        if (status >= 0) keep(j, c, j->most);
    }
    if (worst < 0 || !j->two) return worst;
    hfi_turn_ranges(j->m, j->range);
    keep(j, 0, j->least);
    return worst;
}

/* The probabilities add up to 1; what is attained stays inside. */
static void share_out(size_t classes, hf_class_range *of)
{
    const double slack = 4.0 * DBL_EPSILON * (double)classes;
    double least = 0.0, most = 0.0;
    for (size_t c = 0; c < classes; c++) {
        least += of[c].range.lower;
        most += of[c].range.upper;
    }
    for (size_t c = 0; c < classes; c++) {
        hf_range *r = &of[c].range;
        const double lower = 1.0 - (most - r->upper) - slack, upper = 1.0 - (least - r->lower) + slack;
        const bool attained = isfinite(r->lower_attained) && isfinite(r->upper_attained);
        if (lower > r->lower) r->lower = attained ? fmin(lower, r->lower_attained) : lower;
        if (upper < r->upper) r->upper = attained ? fmax(upper, r->upper_attained) : upper;
    }
}

/* ---- chances ----------------------------------------------------------------------------------------------------- */

/* The classes of points, surely so where probabilities are estimates; else `classes`. */
static hf_status classes_of(hf_context *ctx, const class_ranges_job *j, size_t m, const double *x,
                            size_t *class)
{
    const bool estimate = hf_certify_is_estimate(j->classifier);
    double *p = hfi_alloc(ctx, m, (j->classes + 1) * sizeof *p);
    if (!p) return HF_ERR_MEMORY;
    double *error = p + m * j->classes;
    const hf_status status = hf_classify_predict(ctx, j->classifier, m, x, j->d, p, class, NULL, NULL, error);
    for (size_t k = 0; status >= 0 && estimate && k < m; k++) {
        const double *own = p + k * j->classes;
        const size_t c = class[k];
        double size;
        for (size_t i = 0; i < j->classes; i++)
            if (i != c && !(hfi_class_margin(j->classifier, own, c, i, &size) > 2.0 * size * error[k]))
                class[k] = j->classes;
    }
    hfi_free(ctx, p);
    return status;
}

/* Where each class is most probable it may be the class. Points without one are left out. */
static hf_status look_at_most(hf_context *ctx, class_ranges_job *j)
{
    const size_t all = j->m * j->classes;
    size_t *class;
    double *x;
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(class, all), HFI_ROOMS(x, all, j->d));
    for (size_t k = 0; status >= 0 && k < all; k++)
        for (size_t i = 0; i < j->d; i++)
            x[k * j->d + i] =
                isfinite(j->at[k * j->d]) ? j->at[k * j->d + i] : j->lower[k / j->classes * j->d + i];
    if (status >= 0) status = classes_of(ctx, j, all, x, class);
    for (size_t k = 0; status >= 0 && k < all; k++)
        if (isfinite(j->at[k * j->d]) && class[k] == k % j->classes) j->out[k].chance = HF_CHANCE_TAKEN;
    HFI_FREE(ctx, class, x);
    return status;
}

/* Another class is decided for wherever in the box. */
static bool is_below(const class_ranges_job *j, const hf_class_range *of, size_t c)
{
    const size_t classes = j->classes;
    const hf_class_rule rule = *hf_classifier_rule(j->classifier);
    const double *loss = j->two ? NULL : rule.loss;
    if (j->two && rule.threshold != 0.5)
        return c == 1 ? of[1].range.upper <= rule.threshold : of[1].range.lower > rule.threshold;
    for (size_t i = 0; i < classes; i++) {
        /* The least by which c costs more than i. */
        double more = 0.0, size = 0.0;
        for (size_t b = 0; b < classes; b++) {
            const double v = hfi_decision_excess(classes, loss, c, i, b);
            more += v * (v > 0.0 ? of[b].range.lower : of[b].range.upper);
            size += fabs(v);
        }
        if (more > 4.0 * DBL_EPSILON * size) return true;
    }
    return false;
}

static hf_status search_chance(hf_context *ctx, class_ranges_job *j, size_t k, size_t c, size_t left)
{
    const size_t d = j->d;
    hf_certify_settings own = hfi_share_time(&j->settings, j->end, left);
    hf_region region;
    if (own.region && own.region->centre) hfi_region_about(&own, own.region->centre + k * d, &region);
    own.lower_only = j->two && c == 0;
    own.upper_only = !own.lower_only;
    hf_range range;
    double *at = j->most;
    hf_status status = j->led ? HF_OK : hfi_lead_open(ctx, j->classifier, own.rigorous, &j->lead);
    if (status < 0) return status;
    j->led = true;
    status = hfi_class_lead(ctx, &j->lead, c, &own, j->lower + k * d, j->upper + k * d, &range, at);
    if (status < 0) return status;
    hf_class_range *out = &j->out[k * j->classes + c];
    out->range.nodes += range.nodes;
    out->range.seconds += range.seconds;
    const double cut = own.decide_at;
    if (own.lower_only ? range.lower > cut : range.upper < cut || (j->two && range.upper <= cut))
        out->chance = HF_CHANCE_NONE;
    size_t class = j->classes;
    if (out->chance == HF_CHANCE_OPEN && isfinite(at[0])) {
        const hf_status asked = classes_of(ctx, j, 1, at, &class);
        if (asked < 0) return asked;
    }
    if (class == c) {
        out->chance = HF_CHANCE_TAKEN;
        memcpy(j->at + (k * j->classes + c) * d, at, d * sizeof *at);
    }
    return HF_OK;
}

static hf_status find_chances(hf_context *ctx, class_ranges_job *j)
{
    const size_t all = j->m * j->classes;
    hf_status status = look_at_most(ctx, j), worst = HF_OK;
    for (size_t k = 0; status >= 0 && k < all; k++) {
        hf_class_range *of = j->out + k / j->classes * j->classes, *own = &j->out[k];
        const size_t c = k % j->classes;
        if (own->chance == HF_CHANCE_OPEN && is_below(j, of, c)) own->chance = HF_CHANCE_NONE;
        if (own->chance == HF_CHANCE_OPEN) status = search_chance(ctx, j, k / j->classes, c, all - k);
        if (status >= 0 && own->chance == HF_CHANCE_OPEN)
            worst = hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                             "box %zu: whether any point is of class %zu is open after %zu boxes",
                             k / j->classes + 1, c, own->range.nodes);
        if (own->chance != HF_CHANCE_TAKEN)
            for (size_t i = 0; i < j->d; i++) j->at[k * j->d + i] = (double)NAN;
    }
    return status < 0 ? status : worst;
}

static hf_status answer(hf_context *ctx, class_ranges_job *j)
{
    hf_status status = find_ranges(ctx, j);
    for (size_t k = 0; status >= 0 && k < j->m && !j->two; k++)
        share_out(j->classes, j->out + k * j->classes);
    return status >= 0 ? hfi_worse(status, find_chances(ctx, j)) : status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

hf_status hf_certify_classes(hf_context *ctx, const hf_classifier *classifier,
                             const hf_certify_settings *settings, size_t m, const double *lower,
                             const double *upper, hf_class_range *out, double *at)
{
    if (!ctx || !classifier || !lower || !upper || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_classes", classifier, lower, upper, out);
    class_ranges_job j = {.classifier = classifier,
                          .m = m,
                          .d = hfi_class_inputs(classifier),
                          .classes = hf_classifier_classes(classifier),
                          .two = hf_classifier_link(classifier) != HF_LINK_SOFTMAX,
                          .lower = lower,
                          .upper = upper};
    size_t answers, numbers;
    hf_region region;
    hf_status status = hfi_certify_open(ctx, settings, &j.settings, &region);
    if (status < 0) return status;
    j.settings.lower_only = j.settings.upper_only = false;
    j.settings.decide_at = (double)NAN;
    j.end = hfi_call_deadline(&j.settings);
    if (m == 0) return HF_OK;
    if (!hfi_size_mul(m, j.classes, &answers) || !hfi_size_mul(answers, j.d, &numbers))
        return hfi_out_of_memory(ctx);
    status = HFI_ALLOC(ctx, HFI_ROOM(j.out, answers), HFI_ROOM(j.at, numbers), HFI_ROOM(j.range, m),
                       HFI_ROOMS(j.least, m, j.d), HFI_ROOMS(j.most, m, j.d));
    if (status >= 0) status = answer(ctx, &j);
    if (status >= 0) {
        memcpy(out, j.out, answers * sizeof *out);
        if (at) memcpy(at, j.at, numbers * sizeof *at);
    }
    if (j.led) hfi_lead_close(&j.lead);
    HFI_FREE(ctx, j.out, j.at, j.range, j.least, j.most);
    return status;
}
