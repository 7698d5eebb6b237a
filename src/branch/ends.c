/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a range share what limits there are. */
#include "branch/search.h"

#include <math.h>

/* The lower end, the upper end. */
typedef struct ends {
    hfi_search *search[2];  /* NULL: that end is not asked for */
    bool begun[2], over[2]; /* the whole box is bounded; nothing more is to be done */
    size_t rounds[2];
    hf_certify_stop stop[2];
    double decide;         /* NaN, or decide_at */
    double half, deadline; /* of the time */
} ends;

/* ---- what is known ----------------------------------------------------------------------------------------------- */

static hf_range range_of(const ends *e)
{
    hf_range out = {.lower = -(double)INFINITY,
                    .upper = (double)INFINITY,
                    .lower_attained = (double)NAN,
                    .upper_attained = (double)NAN};
    for (int k = 0; k < 2; k++) {
        const double sign = k == 0 ? 1.0 : -1.0;
        if (!e->begun[k]) continue;
        const hfi_end end = hfi_search_end(e->search[k]);
        *(k == 0 ? &out.lower : &out.upper) = sign * end.bound;
        *(k == 0 ? &out.lower_attained : &out.upper_attained) = sign * end.attained;
        out.nodes += end.nodes;
        out.rounding = fmax(out.rounding, end.rounding);
        if (e->stop[k] > out.stop) out.stop = e->stop[k];
    }
    return out;
}

/* Whether one end alone says on which side of decide_at all values are. */
static bool is_decided(const ends *e, const hf_range *range)
{
    return range->lower > e->decide || range->upper < e->decide;
}

/* ---- whose turn it is -------------------------------------------------------------------------------------------- */

/* 0 or 1, or 2: both are over. Decisions mostly need one end only: then the upper one waits until
 * the lower one is over or half of the time is. */
static int whose_turn(const ends *e)
{
    const bool low = e->search[0] && !e->over[0], high = e->search[1] && !e->over[1];
    if (!low || !high) return low ? 0 : high ? 1 : 2;
    if (isnan(e->decide)) return e->rounds[1] < e->rounds[0] ? 1 : 0;
    return hfi_now() >= e->half ? 1 : 0;
}

static hf_status advance(ends *e, int which)
{
    const hf_status status = hfi_search_round(e->search[which]);
    if (status < 0) return status;
    e->begun[which] = true;
    e->rounds[which]++;
    e->over[which] = hfi_search_is_over(e->search[which], &e->stop[which]);
    return status;
}

/* An end stops when a value on its side of decide_at is attained. It then counts on the other end
 * to tell what is on the other side. Where that one met the tolerance without telling, this one
 * goes on to the tolerance too. */
static bool goes_on(ends *e)
{
    const hf_range range = range_of(e);
    if (isnan(e->decide) || !e->begun[0] || !e->begun[1] || range.stop != HF_CERTIFY_DECIDED ||
        is_decided(e, &range) || (range.lower_attained <= e->decide && range.upper_attained >= e->decide))
        return false;
    e->decide = (double)NAN;
    for (int k = 0; k < 2; k++) {
        if (e->stop[k] != HF_CERTIFY_DECIDED) continue;
        hfi_search_go_on(e->search[k]);
        e->over[k] = hfi_search_is_over(e->search[k], &e->stop[k]);
    }
    return true;
}

static bool time_is_up(const ends *e)
{
    return e->deadline < (double)INFINITY && hfi_now() >= e->deadline;
}

/* The whole box is bounded for each end in any case. */
static hf_status search_both_ends(ends *e)
{
    hf_status status = HF_OK;
    for (;;) {
        const int which = whose_turn(e);
        if (which == 2 && !goes_on(e)) break;
        if (which == 2) continue;
        if (e->begun[which] && time_is_up(e)) break;
        status = advance(e, which);
        if (status < 0) return status;
        if (!e->over[which]) continue;
        const hf_range range = range_of(e);
        if (is_decided(e, &range)) break;
    }
    for (int k = 0; k < 2 && status >= 0; k++)
        if (e->search[k] && !e->begun[k]) status = advance(e, k);
    for (int k = 0; k < 2; k++)
        if (e->search[k] && !e->over[k]) e->stop[k] = HF_CERTIFY_TIME;
    return status;
}

hf_status hfi_search_ends(const hf_context *ctx, hfi_watch *watch, const hfi_branch_problem *problem,
                          const hf_certify_settings *settings, double deadline, hf_range *out, double *argmin,
                          double *argmax)
{
    const double now = hfi_now();
    const bool both = !settings->lower_only && !settings->upper_only;
    const size_t bytes = both ? (settings->memory_limit + 1) / 2 : settings->memory_limit;
    ends e = {.decide = settings->decide_at, .deadline = deadline, .half = now + 0.5 * (deadline - now)};
    hf_status status = HF_OK;
    for (int k = 0; k < 2 && status >= 0; k++) {
        if (k == 0 ? settings->upper_only : settings->lower_only) continue;
        e.search[k] = hfi_search_create(ctx, watch, problem, k == 0 ? 1.0 : -1.0, settings, bytes,
                                        k == 0 ? argmin : argmax);
        if (!e.search[k]) status = HF_ERR_MEMORY;
    }
    if (status >= 0) status = search_both_ends(&e);
    if (status >= 0) {
        *out = range_of(&e);
        if (is_decided(&e, out)) out->stop = HF_CERTIFY_DECIDED;
    }
    for (int k = 0; k < 2; k++) hfi_search_free(e.search[k]);
    return status;
}

/* ---- time of many boxes ------------------------------------------------------------------------------------------ */

double hfi_call_deadline(const hf_certify_settings *settings)
{
    return settings->total_time > 0.0 ? hfi_now() + settings->total_time : (double)INFINITY;
}

static double share_time_of_lanes(double end, size_t left, size_t at_once)
{
    const size_t lanes = at_once < left ? at_once : left;
    return fmax(0.0, end - hfi_now()) * (double)lanes / (double)left;
}

double hfi_box_deadline(const hf_certify_settings *settings, double end, size_t left, size_t at_once)
{
    const double now = hfi_now(), limit = settings->time_limit;
    const double own = limit > 0.0 ? now + limit : (double)INFINITY;
    return end < (double)INFINITY ? fmin(own, now + share_time_of_lanes(end, left, at_once)) : own;
}

hf_certify_settings hfi_share_time(const hf_certify_settings *settings, double end, size_t left)
{
    hf_certify_settings own = *settings;
    if (end < (double)INFINITY)
        own.total_time = fmax(share_time_of_lanes(end, left, 1), DBL_MIN); /* 0 would be no limit */
    return own;
}
