/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of states through steps that envelopes know: corners of cells, and how far a function can be from
 * what it is between them. */
#include "core/settings.h"
#include "envelope/envelope.h"
#include "kernel/enclosure.h"
#include <holdfast/reach.h>

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_CORNERS = 65536
};

/* Sums of some numbers that are rounded up by more than they can lose. */
#define UPWARDS 1e-15L

struct hf_reach {
    hfi_memory memory;
    size_t s, m;
    hf_reach_settings settings;
    const hf_envelope **envelope;      /* s */
    hf_envelope_workspace **workspace; /* s */
    size_t *corner;                    /* s: place along each side */
    bool *backwards;                   /* s: which way the corners go there */
    hfi_interval *box;                 /* s + m */
    long double *half;                 /* s + m */
    double *at;                        /* s + m */
    double *low, *high;                /* s: the present box */
    double *next_low, *next_high;      /* s */
};

void hf_reach_free(hf_reach *reach)
{
    if (!reach) return;
    const hfi_memory memory = reach->memory;
    for (size_t i = 0; reach->workspace && i < reach->s; i++) hf_envelope_workspace_free(reach->workspace[i]);
    HFI_MEMORY_FREE(&memory, reach->envelope, reach->workspace, reach->corner, reach->backwards, reach->box,
                    reach->half, reach->at, reach);
}

/* ---- creating ------------------------------------------------------------------------------------------- */

static hf_status check_reach_system(hf_context *ctx, size_t states, size_t inputs,
                                    const hf_envelope *const *envelope, const hf_reach_settings *settings)
{
    double corners = 1.0;
    if (states == 0) return hfi_refuse(ctx, "hf_reach_create: a system has one state or more");
    for (size_t i = 0; i < states && corners <= MOST_CORNERS; i++) corners *= (double)settings->splits + 1.0;
    if (corners > MOST_CORNERS)
        return hfi_refuse(ctx, "hf_reach_create: %zu states and %zu splits make more than %d corners", states,
                          settings->splits, MOST_CORNERS);
    for (size_t i = 0; i < states; i++) {
        if (!envelope[i]) return hfi_refuse(ctx, "hf_reach_create: envelope %zu (from 0) is NULL", i);
        const size_t d = envelope[i]->d;
        if (d < states || d - states != inputs)
            return hfi_fail(ctx, HF_ERR_DIMENSION,
                            "envelope %zu (from 0) has %zu inputs; %zu states and %zu inputs are asked for",
                            i, d, states, inputs);
    }
    return HF_OK;
}

static hf_status allocate_reach(hf_context *ctx, hf_reach *r)
{
    const size_t s = r->s, d = s + r->m;
    if (HFI_ALLOC(ctx, HFI_ROOM(r->envelope, s), HFI_ROOM(r->workspace, s), HFI_ROOM(r->corner, s),
                  HFI_ROOM(r->backwards, s), HFI_ROOM(r->box, d), HFI_ROOM(r->half, d),
                  HFI_ROOM(r->at, d + 4 * s)) < 0)
        return HF_ERR_MEMORY;
    r->low = r->at + d;
    r->high = r->low + s;
    r->next_low = r->high + s;
    r->next_high = r->next_low + s;
    return HF_OK;
}

hf_status hf_reach_create(hf_context *ctx, size_t states, size_t inputs, const hf_envelope *const *known,
                          const hf_reach_settings *settings, hf_reach **out)
{
    hf_reach_settings chosen;
    if (!ctx || !known || !out)
        return hfi_refuse(ctx, "hf_reach_create needs a context, envelopes and a place for the result");
    hf_status status = hfi_settings_open(ctx, hf_reach_settings_table(), settings, &chosen);
    if (status >= 0) status = check_reach_system(ctx, states, inputs, known, &chosen);
    if (status < 0) return status;
    hf_reach *r = hfi_alloc(ctx, 1, sizeof *r);
    if (!r) return HF_ERR_MEMORY;
    r->memory = hfi_context_memory(ctx);
    r->s = states;
    r->m = inputs;
    r->settings = chosen;
    status = allocate_reach(ctx, r);
    for (size_t i = 0; status >= 0 && i < states; i++) {
        r->envelope[i] = known[i];
        r->workspace[i] = hf_envelope_workspace_create(ctx, known[i]);
        if (!r->workspace[i]) status = HF_ERR_MEMORY;
    }
    if (status >= 0)
        *out = r;
    else
        hf_reach_free(r);
    return status;
}

/* ---- between corners -------------------------------------------------------------------------------------- */

/* Half the side of a cell along state j, rounding of corners allowed for. */
static double half_side(const hf_reach *r, size_t j)
{
    const double low = r->low[j], high = r->high[j];
    if (low == high) return 0.0;
    return 0.5 * (high - low) / (double)r->settings.splits * (1.0 + 4.0 * DBL_EPSILON) +
           2.0 * DBL_EPSILON * fmax(fabs(low), fabs(high));
}

/* How far f_i can be from what its values at the corners of a cell make of it, anywhere in the box; infinite
 * where nothing is known. */
static double rest(hf_reach *r, size_t i)
{
    const hf_envelope *e = r->envelope[i];
    long double sum = 0.0L;
    for (size_t j = 0; j < r->s; j++) {
        const double h = half_side(r, j);
        long double norm[4];
        if (h == 0.0) continue;
        for (size_t c = 0; c < r->s + r->m; c++) r->half[c] = c == j ? h : 0.0L;
        if (!hfi_kernel_feature_norms(e->kernel, r->box, r->half, norm)) return INFINITY;
        sum += fminl(fminl(0.5L * norm[2], norm[1]), 2.0L * norm[0]) * (1.0L + UPWARDS);
    }
    const long double all = (long double)e->norm * sum * (1.0L + UPWARDS);
    return all > 0.0L ? nextafter((double)all, INFINITY) : 0.0;
}

static double place_box_corner(const hf_reach *r, size_t j)
{
    const size_t k = r->corner[j], n = r->settings.splits;
    if (k == 0) return r->low[j];
    return k == n ? r->high[j] : r->low[j] + (r->high[j] - r->low[j]) * ((double)k / (double)n);
}

/* To the next corner, a neighbour of this one; false after the last. */
static bool advance(hf_reach *r)
{
    for (size_t j = 0; j < r->s; j++) {
        if (r->low[j] == r->high[j]) continue;
        if (r->corner[j] < r->settings.splits && !r->backwards[j]) {
            r->corner[j]++;
            return true;
        }
        if (r->corner[j] > 0 && r->backwards[j]) {
            r->corner[j]--;
            return true;
        }
        r->backwards[j] = !r->backwards[j];
    }
    return false;
}

/* ---- a step ------------------------------------------------------------------------------------------------ */

static hf_status step_state(hf_reach *r, size_t i, double disturbance, const hf_envelope_limits *limits)
{
    hf_status status = HF_OK;
    double low = INFINITY, high = -INFINITY;
    memset(r->corner, 0, r->s * sizeof *r->corner);
    memset(r->backwards, 0, r->s * sizeof *r->backwards);
    do {
        hf_bound b;
        for (size_t j = 0; j < r->s; j++) r->at[j] = place_box_corner(r, j);
        const hf_status here =
            hf_envelope_bounds(r->envelope[i], r->workspace[i], r->at, limits, &b, NULL, NULL);
        if (here < 0) return here;
        if (here != HF_OK) status = here;
        const double own = r->settings.increments ? r->at[i] : 0.0;
        low = fmin(low, hfi_add_down(own, b.lower));
        high = fmax(high, hfi_add_up(own, b.upper));
    } while (advance(r));
    const double beyond = hfi_add_up(rest(r, i), disturbance);
    r->next_low[i] = hfi_add_down(low, -beyond);
    r->next_high[i] = hfi_add_up(high, beyond);
    return isfinite(r->next_low[i]) && isfinite(r->next_high[i]) ? status : HF_ERR_NOT_FINITE;
}

static hf_status step_reach_box(hf_reach *r, const double *u, const double *disturbance,
                                const hf_envelope_limits *limits)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < r->s; j++) r->box[j] = (hfi_interval){r->low[j], r->high[j]};
    for (size_t j = 0; j < r->m; j++) {
        r->at[r->s + j] = u[j];
        r->box[r->s + j] = hfi_interval_point(u[j]);
    }
    for (size_t i = 0; i < r->s; i++) {
        const hf_status here = step_state(r, i, disturbance ? disturbance[i] : 0.0, limits);
        if (here < 0) return here;
        if (here != HF_OK) status = here;
    }
    memcpy(r->low, r->next_low, r->s * sizeof *r->low);
    memcpy(r->high, r->next_high, r->s * sizeof *r->high);
    return status;
}

static hf_status check_tube(const hf_reach *r, size_t steps, const double *low, const double *high,
                            const double *u, const double *disturbance)
{
    if (!low || !high || (r->m > 0 && steps > 0 && !u)) return HF_ERR_ARGUMENT;
    for (size_t j = 0; j < r->s; j++) {
        if (!isfinite(low[j]) || !isfinite(high[j])) return HF_ERR_NOT_FINITE;
        if (low[j] > high[j]) return HF_ERR_ARGUMENT;
        if (disturbance && !(disturbance[j] >= 0.0)) return HF_ERR_ARGUMENT;
        if (disturbance && !isfinite(disturbance[j])) return HF_ERR_NOT_FINITE;
    }
    for (size_t k = 0; k < steps * r->m; k++)
        if (!isfinite(u[k])) return HF_ERR_NOT_FINITE;
    return HF_OK;
}

hf_status hf_reach_tube(hf_reach *reach, size_t steps, const double *low, const double *high, const double *u,
                        const double *w, const hf_envelope_limits *limits, double *lower, double *upper)
{
    if (!reach || (steps > 0 && (!lower || !upper))) return HF_ERR_ARGUMENT;
    hf_reach *r = reach;
    hf_status status = check_tube(r, steps, low, high, u, w);
    if (status < 0) return status;
    memcpy(r->low, low, r->s * sizeof *r->low);
    memcpy(r->high, high, r->s * sizeof *r->high);
    for (size_t k = 0; k < steps; k++) {
        const hf_status here = step_reach_box(r, r->m > 0 ? u + k * r->m : NULL, w, limits);
        if (here < 0) return here;
        if (here != HF_OK) status = here;
        memcpy(lower + k * r->s, r->low, r->s * sizeof *lower);
        memcpy(upper + k * r->s, r->high, r->s * sizeof *upper);
    }
    return status;
}
