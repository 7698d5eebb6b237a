/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that are unions of boxes: in each some inputs move, and the others are held. */
#include "certify/range.h"
#include "certify/region.h"

#include <math.h>
#include <string.h>

enum {
    TOGETHER = 64 /* parts that are searched before the next are made */
};

typedef struct parts {
    const hfi_part_boxes *job;
    hf_region rest; /* the region but for its parts */
    hf_certify_settings settings;
    size_t *mover, movers; /* inputs that move in this box */
    size_t *chosen;        /* of them, `rest.moves` ascending */
    size_t moves;
    double *lower, *upper, *centre, *argmin, *argmax; /* TOGETHER x inputs each */
    hf_range *range;                                  /* TOGETHER */
} parts;

/* ---- which inputs move ------------------------------------------------------------------------------------------- */

/* Number of the parts of the box; more than HF_MOST_PARTS counts as one more. */
static size_t count_parts(const parts *p)
{
    const hf_region *region = p->job->settings->region;
    if (region->sets) return region->set_count;
    double count = 1.0;
    for (size_t k = 0; k < p->moves; k++) count *= (double)(p->movers - k) / (double)(k + 1);
    return count > HF_MOST_PARTS + 0.5 ? (size_t)HF_MOST_PARTS + 1 : (size_t)(count + 0.5);
}

/* The inputs that move in a box, and the first choice of them. */
static void begin_box(parts *p, const double *lower, const double *upper)
{
    const size_t moves = p->job->settings->region->moves;
    p->movers = 0;
    for (size_t j = 0; j < p->job->inputs; j++)
        if (lower[j] < upper[j]) p->mover[p->movers++] = j;
    p->moves = moves < p->movers ? moves : p->movers;
    for (size_t k = 0; k < p->moves; k++) p->chosen[k] = k;
}

/* The next choice in the order of words. */
static void next_choice(parts *p)
{
    size_t k = p->moves;
    while (k > 0 && p->chosen[k - 1] == p->movers - p->moves + k - 1) k--;
    if (k == 0) return;
    p->chosen[k - 1]++;
    for (; k < p->moves; k++) p->chosen[k] = p->chosen[k - 1] + 1;
}

/* Part number `part` of a box, into place `slot`. */
static void make_part(parts *p, size_t box, size_t part, size_t slot)
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
static void join(const parts *p, size_t slot, bool first, hf_range *out, double *argmin, double *argmax)
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
static bool is_broken(const parts *p, const hf_range *r)
{
    const hf_certify_settings *s = &p->settings;
    const bool below = r->lower_attained<s->decide_at, above = r->upper_attained> s->decide_at;
    if (isnan(s->decide_at)) return false;
    return s->lower_only ? below : s->upper_only ? above : below && above;
}

/* ---- one box ----------------------------------------------------------------------------------------------------- */

/* Time for the parts at hand: their share of what is left until `end`. */
static void share_time(parts *p, double end, size_t now, size_t left)
{
    if (!(end < (double)INFINITY)) return;
    const double time = fmax(end - hfi_now(), 0.0) * (double)now / (double)left;
    p->settings.total_time = fmax(time, DBL_MIN);
    p->settings.time_limit = 0.0;
}

static hf_status answer_box(hf_context *ctx, parts *p, size_t box, double end, hf_range *out, double *argmin,
                            double *argmax)
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

static bool make_room(hf_context *ctx, parts *p)
{
    const size_t d = p->job->inputs;
    p->mover = hfi_alloc(ctx, 2 * d, sizeof *p->mover);
    p->chosen = p->mover ? p->mover + d : NULL;
    p->lower = hfi_alloc(ctx, 5 * (size_t)TOGETHER, d * sizeof *p->lower);
    p->range = hfi_alloc(ctx, TOGETHER, sizeof *p->range);
    if (!p->mover || !p->lower || !p->range) return false;
    p->upper = p->lower + TOGETHER * d, p->centre = p->upper + TOGETHER * d;
    p->argmin = p->centre + TOGETHER * d, p->argmax = p->argmin + TOGETHER * d;
    return true;
}

hf_status hfi_certify_parts(hf_context *ctx, const hfi_part_boxes *job, hf_range *out, double *argmin,
                            double *argmax)
{
    const size_t d = job->inputs;
    const double end = hfi_call_deadline(job->settings);
    parts p = {.job = job, .rest = *job->settings->region, .settings = *job->settings};
    size_t numbers;
    if (!hfi_size_mul(job->m, 2 * d, &numbers)) return hfi_out_of_memory(ctx);
    hf_range *ranges = hfi_alloc(ctx, job->m, sizeof *ranges);
    double *points = hfi_alloc(ctx, numbers, sizeof *points);
    hf_status status = make_room(ctx, &p) && ranges && points ? HF_OK : HF_ERR_MEMORY;
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
