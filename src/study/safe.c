/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certain constraints: an envelope of each, and the places where all of them surely hold. Where the
 * acquisition sees nothing to gain there, the place whose constraints are known least is asked for, so that
 * the safe set grows.
 */
#include "study/propose.h"

#include <holdfast/envelope.h>
#include <math.h>
#include <string.h>

static const double near_enough = 1e-3;

struct hfi_safe {
    const hf_study *study;
    size_t count;
    hf_envelope *envelope[HFI_STUDY_OUTCOMES];
    size_t outcome[HFI_STUDY_OUTCOMES];
};

bool hfi_study_is_certain(const hf_study *study)
{
    for (size_t o = 0; o < study->outcomes; o++)
        if (study->s.outcome[o].certain) return true;
    return false;
}

/* ---- envelopes ----------------------------------------------------------------------------------------- */

static hf_status gather_outcome_readings(hf_context *ctx, const hf_study *study, size_t outcome, double **x,
                                         double **y, size_t *count)
{
    const size_t most = study->told + study->failed + 1, d = study->d;
    *count = 0;
    const hf_status room = HFI_ALLOC(ctx, HFI_ROOMS(*x, most, d), HFI_ROOM(*y, most));
    if (room < 0) return room;
    for (uint64_t id = 1; id <= study->trials; id++) {
        const hfi_trial *t = study->trial[id - 1];
        if (isnan(t->value[outcome])) continue;
        memcpy(*x + *count * d, t->u, d * sizeof **x);
        (*y)[(*count)++] = t->value[outcome] - study->s.outcome[outcome].centre;
    }
    return HF_OK;
}

static hf_status add_envelope(hf_context *ctx, hfi_safe *safe, size_t outcome)
{
    const hf_outcome *o = &safe->study->s.outcome[outcome];
    hf_kernel *kernel = NULL;
    double *x = NULL, *y = NULL;
    size_t n = 0;
    hf_status s = hf_kernel_parse(ctx, o->kernel, NULL, safe->study->d, &kernel);
    if (s >= 0) s = gather_outcome_readings(ctx, safe->study, outcome, &x, &y, &n);
    if (s >= 0 && n == 0)
        s = hfi_refuse(ctx, "no trial has told %s yet: add one whose settings surely satisfy it", o->name);
    if (s >= 0) {
        const hf_bounded_readings readings = {
            .n = n, .x = x, .ldx = safe->study->d, .y = y, .noise_bound = o->noise_bound};
        hf_envelope_settings settings = hf_envelope_settings_default();
        settings.rigorous = true;
        s = hf_envelope_create(ctx, kernel, &readings, o->norm_bound, &settings,
                               &safe->envelope[safe->count]);
    }
    if (s >= 0) safe->outcome[safe->count++] = outcome;
    hf_kernel_free(kernel);
    HFI_FREE(ctx, x, y);
    return s;
}

hf_status hfi_safe_open(hf_context *ctx, const hf_study *study, hfi_safe **out)
{
    hfi_safe *safe = hfi_alloc(ctx, 1, sizeof *safe);
    if (safe == NULL) return HF_ERR_MEMORY;
    safe->study = study;
    hf_status s = HF_OK;
    for (size_t o = 0; o < study->outcomes && s >= 0; o++)
        if (study->s.outcome[o].certain) s = hfi_worse(s, add_envelope(ctx, safe, o));
    if (s < 0)
        hfi_safe_close(ctx, safe);
    else
        *out = safe;
    return s;
}

void hfi_safe_close(hf_context *ctx, hfi_safe *safe)
{
    if (safe == NULL) return;
    for (size_t i = 0; i < safe->count; i++) hf_envelope_free(safe->envelope[i]);
    hfi_free(ctx, safe);
}

/* ---- places -------------------------------------------------------------------------------------------- */

/* Room below the limit that a bound leaves, >= 0 where the constraint surely holds. */
static double margin(const hf_outcome *o, const hf_bound *b)
{
    return o->goal == HF_GOAL_AT_MOST ? o->limit - (b->upper + o->centre) : b->lower + o->centre - o->limit;
}

hf_status hfi_safe_many(hf_context *ctx, const hfi_safe *safe, size_t m, const double *u, bool *ok,
                        double *unknown)
{
    hf_bound *bound = hfi_alloc(ctx, m + 1, sizeof *bound);
    if (bound == NULL) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t i = 0; i < m; i++) {
        ok[i] = true;
        unknown[i] = 0.0;
    }
    for (size_t k = 0; k < safe->count && s >= 0; k++) {
        const hf_outcome *o = &safe->study->s.outcome[safe->outcome[k]];
        /* A bound that is nearly as tight as it can be is as true, and found sooner. */
        const hf_envelope_limits limits = {.size = sizeof limits, .gap = near_enough * o->norm_bound};
        s = hf_envelope_bounds_batch(ctx, safe->envelope[k], m, u, safe->study->d, &limits, bound);
        for (size_t i = 0; i < m && s >= 0; i++) {
            ok[i] = ok[i] && margin(o, &bound[i]) >= 0.0;
            unknown[i] = fmax(unknown[i], (bound[i].upper - bound[i].lower) / o->norm_bound);
        }
    }
    hfi_free(ctx, bound);
    return s < 0 ? s : HF_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

static hf_status surely(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                        double *unknown)
{
    return hfi_safe_many(ctx, self, m, u, fine, unknown);
}

hf_status hfi_safe_propose(hf_context *ctx, const hf_study *study, const hf_acquire *acquire,
                           uint64_t ordinal, double none, double *u, double *value, bool *acquired)
{
    hfi_safe *safe = NULL;
    hf_status s = hfi_safe_open(ctx, study, &safe);
    if (s < 0) return s;
    const hfi_places_among among = {.study = study, .admits = surely, .self = safe};
    s = hfi_hunt(ctx, &among, acquire, ordinal, none, u, value, acquired);
    if (s == HF_ERR_NO_DATA)
        s = hfi_refuse(ctx,
                       "no settings are known to satisfy the certain constraints: add a trial that does, or "
                       "check their norm and noise bounds");
    hfi_safe_close(ctx, safe);
    return s;
}
