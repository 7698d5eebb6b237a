/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges over boxes, cut to regions, and over unions of parts of boxes in which few inputs move. */
#include "certify/certify.h"

#include <math.h>

/* ---- which inputs move ------------------------------------------------------------------------------------------- */

enum {
    TOGETHER = 64 /* parts that are searched before the next are made */
};

typedef struct region_parts {
    const hfi_boxes *job;
    hf_region rest; /* the region but for its parts */
    hf_certify_settings settings;
    size_t *mover, movers; /* inputs that move in this box */
    size_t *chosen;        /* of them, `rest.moves` ascending */
    size_t moves;
    double *lower, *upper, *centre, *argmin, *argmax; /* TOGETHER x inputs each */
    hf_range *range;                                  /* TOGETHER */
} region_parts;

/* Number of the parts of the box; more than HF_MOST_PARTS counts as one more. */
static size_t count_parts(const region_parts *p)
{
    const hf_region *region = p->job->settings->region;
    if (region->sets) return region->set_count;
    double count = 1.0;
    for (size_t k = 0; k < p->moves; k++) count *= (double)(p->movers - k) / (double)(k + 1);
    return count > HF_MOST_PARTS + 0.5 ? (size_t)HF_MOST_PARTS + 1 : (size_t)(count + 0.5);
}

/* The inputs that move in a box, and the first choice of them. */
static void begin_box(region_parts *p, const double *lower, const double *upper)
{
    const size_t moves = p->job->settings->region->moves;
    p->movers = 0;
    for (size_t j = 0; j < p->job->inputs; j++)
        if (lower[j] < upper[j]) p->mover[p->movers++] = j;
    p->moves = moves < p->movers ? moves : p->movers;
    for (size_t k = 0; k < p->moves; k++) p->chosen[k] = k;
}

/* The next choice in the order of words. */
static void next_choice(region_parts *p)
{
    size_t k = p->moves;
    while (k > 0 && p->chosen[k - 1] == p->movers - p->moves + k - 1) k--;
    if (k == 0) return;
    p->chosen[k - 1]++;
    for (; k < p->moves; k++) p->chosen[k] = p->chosen[k - 1] + 1;
}

/* Part number `part` of a box, into place `slot`. */
static void make_part(region_parts *p, size_t box, size_t part, size_t slot)
{
    const size_t d = p->job->inputs;
    const hf_region *region = p->job->settings->region;
    const double *low = p->job->lower + box * d, *high = p->job->upper + box * d,
                 *centre = p->job->centre + box * d;
    double *lower = p->lower + slot * d, *upper = p->upper + slot * d;
    memcpy(p->centre + slot * d, centre, d * sizeof *centre);
    memcpy(lower, centre, d * sizeof *centre);
    memcpy(upper, centre, d * sizeof *centre);
    for (size_t k = 0; k < (region->sets ? d : p->moves); k++) {
        const size_t j = region->sets ? k : p->mover[p->chosen[k]];
        if (region->sets && !region->sets[part * d + j]) continue;
        lower[j] = low[j];
        upper[j] = high[j];
    }
    if (!region->sets) next_choice(p);
}

/* ---- joining ranges ---------------------------------------------------------------------------------------------- */

/* Into the range of the union; points go along. */
static void join(const region_parts *p, size_t slot, bool first, hf_range *out, double *argmin,
                 double *argmax)
{
    const size_t d = p->job->inputs;
    const hf_range *r = &p->range[slot];
    const bool low = first || r->lower_attained < out->lower_attained,
               high = first || r->upper_attained > out->upper_attained;
    if (argmin && low) memcpy(argmin, p->argmin + slot * d, d * sizeof *argmin);
    if (argmax && high) memcpy(argmax, p->argmax + slot * d, d * sizeof *argmax);
    if (first) {
        *out = *r;
        return;
    }
    if (low) out->lower_attained = r->lower_attained;
    if (high) out->upper_attained = r->upper_attained;
    out->lower = fmin(out->lower, r->lower);
    out->upper = fmax(out->upper, r->upper);
    out->nodes += r->nodes;
    out->seconds += r->seconds;
    out->rounding = fmax(out->rounding, r->rounding);
    if (r->stop > out->stop) out->stop = r->stop;
}

/* Whether values beyond decide_at on the side that matters are attained, so that the rest changes nothing. */
static bool is_broken(const region_parts *p, const hf_range *r)
{
    const hf_certify_settings *s = &p->settings;
    const bool below = r->lower_attained<s->decide_at, above = r->upper_attained> s->decide_at;
    if (isnan(s->decide_at)) return false;
    return s->lower_only ? below : s->upper_only ? above : below && above;
}

/* ---- one box ----------------------------------------------------------------------------------------------------- */

/* Time for the parts at hand: their share of what is left until `end`. */
static void share_time(region_parts *p, double end, size_t now, size_t left)
{
    if (!(end < (double)INFINITY)) return;
    const double time = fmax(end - hfi_now(), 0.0) * (double)now / (double)left;
    p->settings.total_time = fmax(time, DBL_MIN);
    p->settings.time_limit = 0.0;
}

static hf_status answer_box(hf_context *ctx, region_parts *p, size_t box, double end, hf_range *out,
                            double *argmin, double *argmax)
{
    const size_t d = p->job->inputs;
    begin_box(p, p->job->lower + box * d, p->job->upper + box * d);
    const size_t count = count_parts(p);
    hf_status worst = HF_OK;
    if (count > HF_MOST_PARTS)
        return hfi_refuse(ctx, "box %zu: there are more than %d choices of %zu inputs that move among %zu",
                          box + 1, HF_MOST_PARTS, p->moves, p->movers);
    for (size_t first = 0; first < count; first += TOGETHER) {
        const size_t now = count - first < TOGETHER ? count - first : TOGETHER;
        for (size_t k = 0; k < now; k++) make_part(p, box, first + k, k);
        share_time(p, end, now, count - first);
        const hf_status status = hfi_certify_boxes(ctx, p->job->posterior, p->job->quantity, &p->settings,
                                                   now, p->lower, p->upper, p->range, p->argmin, p->argmax);
        if (status < 0) return status;
        worst = hfi_worse(worst, status);
        for (size_t k = 0; k < now; k++) join(p, k, first == 0 && k == 0, out, argmin, argmax);
        if (first + now == count || !is_broken(p, out)) continue;
        /* The other parts were not looked at. */
        if (!p->settings.upper_only) out->lower = -(double)INFINITY;
        if (!p->settings.lower_only) out->upper = (double)INFINITY;
        out->stop = HF_CERTIFY_DECIDED;
        return HF_OK;
    }
    return worst;
}

static bool allocate_region_parts(hf_context *ctx, region_parts *p)
{
    const size_t d = p->job->inputs;
    if (HFI_ALLOC(ctx, HFI_ROOM(p->mover, 2 * d), HFI_ROOMS(p->lower, 5 * (size_t)TOGETHER, d),
                  HFI_ROOM(p->range, TOGETHER)) < 0)
        return false;
    p->chosen = p->mover + d;
    p->upper = p->lower + TOGETHER * d, p->centre = p->upper + TOGETHER * d;
    p->argmin = p->centre + TOGETHER * d, p->argmax = p->argmin + TOGETHER * d;
    return true;
}

/* The ranges over the unions of their parts. */
static hf_status answer_parts(hf_context *ctx, const hfi_boxes *job, hf_range *out, double *argmin,
                              double *argmax)
{
    const size_t d = job->inputs;
    const double end = hfi_call_deadline(job->settings);
    region_parts p = {.job = job, .rest = *job->settings->region, .settings = *job->settings};
    size_t numbers;
    if (!hfi_size_mul(job->m, 2 * d, &numbers)) return hfi_out_of_memory(ctx);
    hf_range *ranges;
    double *points;
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(ranges, job->m), HFI_ROOM(points, numbers));
    if (status >= 0 && !allocate_region_parts(ctx, &p)) status = HF_ERR_MEMORY;
    p.rest.moves = 0;
    p.rest.sets = NULL;
    p.rest.set_count = 0;
    p.rest.centre = p.centre;
    p.settings.region = &p.rest;
    for (size_t k = 0; status >= 0 && k < job->m; k++) {
        double *least = points + 2 * k * d, *most = least + d;
        const double own = hfi_box_deadline(job->settings, end, job->m - k, 1);
        status = hfi_worse(status, answer_box(ctx, &p, k, own, &ranges[k], least, most));
    }
    for (size_t k = 0; status >= 0 && k < job->m; k++) {
        out[k] = ranges[k];
        if (argmin && !job->settings->upper_only)
            memcpy(argmin + k * d, points + 2 * k * d, d * sizeof *argmin);
        if (argmax && !job->settings->lower_only)
            memcpy(argmax + k * d, points + 2 * k * d + d, d * sizeof *argmax);
    }
    HFI_FREE(ctx, p.mover, p.lower, p.range, ranges, points);
    return status;
}

/* ---- many boxes -------------------------------------------------------------------------------------------------- */

/* The boxes of a region: cut to what is physical, with what their balls are about. */
static hf_status answer_regions(hf_context *ctx, hfi_boxes *job, hf_range *out, double *argmin,
                                double *argmax)
{
    size_t numbers;
    if (!hfi_size_mul(job->m, 4 * job->inputs, &numbers)) return hfi_out_of_memory(ctx);
    double *room = hfi_alloc(ctx, numbers, sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    const size_t one = job->m * job->inputs;
    double *lower = room, *upper = room + one, *centre = room + 2 * one, *half = room + 3 * one;
    memcpy(lower, job->lower, one * sizeof *lower);
    memcpy(upper, job->upper, one * sizeof *upper);
    hf_status status = HF_OK;
    for (size_t k = 0; status >= 0 && k < job->m; k++) {
        const size_t at = k * job->inputs;
        hfi_sides sides = {lower + at, upper + at, centre + at, half + at};
        status =
            hfi_boxes_name(ctx, job, k, hfi_region_place(ctx, job->settings->region, k, job->inputs, &sides));
    }
    hfi_boxes own = *job;
    own.lower = lower, own.upper = upper, own.centre = centre, own.half = half;
    if (status >= 0)
        status = hfi_region_has_parts(job->settings->region)
                     ? answer_parts(ctx, &own, out, argmin, argmax)
                     : hfi_boxes_answer(ctx, &own, out, argmin, argmax);
    hfi_free(ctx, room);
    return status;
}

hf_status hfi_certify_boxes(hf_context *ctx, const hf_posterior *posterior, const hfi_quantity *quantity,
                            const hf_certify_settings *settings, size_t m, const double *lower,
                            const double *upper, hf_range *out, double *argmin, double *argmax)
{
    if (!ctx || !posterior || !lower || !upper || !out)
        return hfi_refuse(
            ctx, "certifying needs a context, a posterior, both sides of the box and a place for the range");
    hfi_boxes job = {.posterior = posterior,
                     .quantity = quantity,
                     .settings = settings,
                     .m = m,
                     .inputs = hfi_posterior_inputs(posterior),
                     .lower = lower,
                     .upper = upper};
    if (m == 0) return HF_OK;
    const hf_region *region = job.settings->region;
    hf_status status = HF_OK;
    if (region) status = hfi_region_check(ctx, region, job.inputs, job.settings->rigorous);
    if (status >= 0) status = hfi_boxes_check(ctx, &job);
    if (status < 0) return status;
    return region ? answer_regions(ctx, &job, out, argmin, argmax)
                  : hfi_boxes_answer(ctx, &job, out, argmin, argmax);
}

hf_status hf_certify_boxes(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                           const hf_certify_settings *settings, size_t m, const double *lower,
                           const double *upper, hf_range *out, double *argmin, double *argmax)
{
    const hfi_quantity *quantity = hfi_quantity_of(what);
    hf_certify_settings own;
    hf_region region;
    if (!quantity) return hfi_refuse(ctx, "there is no value number %d to certify", (int)what);
    const hf_status status = hfi_certify_open(ctx, settings, &own, &region);
    return status < 0
               ? status
               : hfi_certify_boxes(ctx, posterior, quantity, &own, m, lower, upper, out, argmin, argmax);
}

hf_status hf_certify(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                     const hf_certify_settings *settings, const double *lower, const double *upper,
                     hf_range *out, double *argmin, double *argmax)
{
    return hf_certify_boxes(ctx, posterior, what, settings, 1, lower, upper, out, argmin, argmax);
}
