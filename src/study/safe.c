/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certain constraints: an envelope of each, and the places where all of them surely hold. A proposal is the best of
 * many such places by the acquisition, then the best of smaller and smaller neighbourhoods; where the acquisition
 * sees nothing to gain it is the place whose constraints are known least, so that the safe set grows.
 */
#include "study/safe.h"

#include <holdfast/envelope.h>
#include <math.h>
#include <string.h>

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

/* ---- envelopes ---------------------------------------------------------------------------------------------- */

static hf_status gather(hf_context *ctx, const hf_study *study, size_t outcome, double **x, double **y,
                        size_t *count)
{
    const size_t most = study->told + study->failed + 1, d = study->d;
    *x = hfi_alloc_product(ctx, most, d, sizeof **x);
    *y = hfi_alloc(ctx, most, sizeof **y);
    *count = 0;
    if (*x == NULL || *y == NULL) return HF_ERR_MEMORY;
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
    if (s >= 0) s = gather(ctx, safe->study, outcome, &x, &y, &n);
    if (s >= 0 && n == 0)
        s = hfi_fail(ctx, HF_ERR_ARGUMENT,
                     "no trial has told %s yet: add one whose settings surely satisfy it", o->name);
    if (s >= 0) {
        const hf_bounded_readings readings = {
            .n = n, .x = x, .ldx = safe->study->d, .y = y, .noise = o->noise_bound};
        const hf_envelope_settings settings = {.rigorous = true};
        s = hf_envelope_create(ctx, kernel, &readings, o->norm_bound, &settings,
                               &safe->envelope[safe->count]);
    }
    if (s >= 0) safe->outcome[safe->count++] = outcome;
    hf_kernel_free(kernel);
    hfi_free(ctx, x);
    hfi_free(ctx, y);
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

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* Room below the limit that a bound leaves, >= 0 where the constraint surely holds. */
static double margin(const hf_outcome *o, const hf_bound *b)
{
    return o->goal == HF_GOAL_AT_MOST ? o->limit - (b->upper + o->centre) : b->lower + o->centre - o->limit;
}

hf_status hfi_safe_many(hf_context *ctx, const hfi_safe *safe, size_t m, const double *u, bool *fine,
                        double *unknown)
{
    hf_bound *bound = hfi_alloc(ctx, m + 1, sizeof *bound);
    if (bound == NULL) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t i = 0; i < m; i++) {
        fine[i] = true;
        unknown[i] = 0.0;
    }
    for (size_t k = 0; k < safe->count && s >= 0; k++) {
        const hf_outcome *o = &safe->study->s.outcome[safe->outcome[k]];
        s = hf_envelope_bounds_batch(ctx, safe->envelope[k], m, u, safe->study->d, NULL, bound);
        for (size_t i = 0; i < m && s >= 0; i++) {
            fine[i] = fine[i] && margin(o, &bound[i]) >= 0.0;
            unknown[i] = fmax(unknown[i], (bound[i].upper - bound[i].lower) / o->norm_bound);
        }
    }
    hfi_free(ctx, bound);
    return s < 0 ? s : HF_OK;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

enum {
    SPREAD = 1024, /* places that fill the space */
    NEAR = 512,    /* about what is known to be safe */
    ROUNDS = 6,    /* neighbourhoods of the best place so far */
    ROUND = 128
};

/* Onto the settings that there are. */
static void snap(const hf_study *study, double *u)
{
    for (size_t j = 0; j < study->d; j++) {
        const hf_variable *v = &study->s.variable[j];
        u[j] = hfi_variable_encode(v, hfi_variable_decode(v, u[j]));
    }
}

/* `count` places about `centre`, at most `reach` of the sides away. */
static void neighbours(const hf_study *study, hfi_stream *stream, const double *centre, double reach,
                       size_t count, double *u)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < study->d; j++) {
            const double upper = study->domain.upper[j], r = hfi_stream_uniform(stream);
            double at = centre[j] + reach * (2.0 * r - 1.0) * upper;
            if (study->domain.category[j])
                at = r < reach ? floor(hfi_stream_uniform(stream) * (upper + 1.0)) : centre[j];
            u[i * study->d + j] = fmin(fmax(at, 0.0), upper);
        }
}

typedef struct hunt {
    const hf_study *study;
    const hfi_safe *safe;
    const hf_acquire *acquire; /* NULL: nothing is acquired, only learnt */
    double *u;                 /* SPREAD + NEAR places */
    double *value, *unknown;
    bool *fine;
    double *best, *widest; /* places: the largest acquisition, and the least known */
    double top, width;
} hunt;

/* Looks at `count` places of h->u. */
static hf_status look(hf_context *ctx, hunt *h, size_t count)
{
    const size_t d = h->study->d;
    for (size_t i = 0; i < count; i++) snap(h->study, h->u + i * d);
    hf_status s = hfi_safe_many(ctx, h->safe, count, h->u, h->fine, h->unknown);
    size_t kept = 0;
    for (size_t i = 0; i < count && s >= 0; i++) {
        if (!h->fine[i]) continue;
        memmove(h->u + kept * d, h->u + i * d, d * sizeof *h->u);
        h->unknown[kept++] = h->unknown[i];
    }
    if (s >= 0 && kept > 0 && h->acquire != NULL)
        s = hf_acquire_evaluate(ctx, h->acquire, kept, h->u, h->value, NULL);
    for (size_t i = 0; i < kept && s >= 0; i++) {
        if (h->acquire != NULL && h->value[i] > h->top) {
            h->top = h->value[i];
            memcpy(h->best, h->u + i * d, d * sizeof *h->best);
        }
        if (h->unknown[i] > h->width) {
            h->width = h->unknown[i];
            memcpy(h->widest, h->u + i * d, d * sizeof *h->widest);
        }
    }
    return s;
}

/* A trial that told something, the number `k` modulo how many there are. */
static const hfi_trial *some_trial(const hf_study *study, uint64_t k)
{
    uint64_t left = k % study->told;
    for (uint64_t id = 1; id <= study->trials; id++)
        if (study->trial[id - 1]->state == HF_TRIAL_TOLD && left-- == 0) return study->trial[id - 1];
    return NULL;
}

static hf_status search(hf_context *ctx, hunt *h, uint64_t number)
{
    const hf_study *study = h->study;
    hfi_stream stream;
    hfi_stream_init(&stream, study->s.seed, HFI_PURPOSE_STUDY, number);
    hf_domain_fill(&study->domain, (size_t)(number * SPREAD), SPREAD, h->u);
    for (size_t i = 0; i < NEAR; i++)
        neighbours(study, &stream, some_trial(study, i)->u, 0.25, 1, h->u + (SPREAD + i) * study->d);
    hf_status s = look(ctx, h, SPREAD + NEAR);
    double reach = 0.1;
    for (size_t round = 0; round < ROUNDS && s >= 0; round++, reach *= 0.5) {
        const bool use = h->acquire != NULL && h->top > -INFINITY;
        if (!use && !(h->width > -INFINITY)) reach = 0.02; /* nothing yet: nearer to what is known */
        for (size_t i = 0; i < ROUND; i++) {
            const double *centre = use ? h->best : h->width > -INFINITY ? h->widest : some_trial(study, i)->u;
            neighbours(study, &stream, centre, reach, 1, h->u + i * study->d);
        }
        s = look(ctx, h, ROUND);
    }
    return s;
}

/* ---- the call ------------------------------------------------------------------------------------------------------ */

hf_status hfi_safe_propose(hf_context *ctx, const hf_study *study, const hf_acquire *acquire, uint64_t number,
                           double nothing, double *u, double *value, bool *acquired)
{
    const size_t places = SPREAD + NEAR, d = study->d;
    hfi_safe *safe = NULL;
    hf_status s = hfi_safe_open(ctx, study, &safe);
    if (s < 0) return s;
    double *room = hfi_alloc_product(ctx, places + 2, d + 2, sizeof *room);
    hunt h = {.study = study, .safe = safe, .acquire = acquire, .top = -INFINITY, .width = -INFINITY};
    h.fine = hfi_alloc(ctx, places, sizeof *h.fine);
    h.u = room;
    if (room == NULL || h.fine == NULL) {
        s = HF_ERR_MEMORY;
    } else {
        h.value = room + places * d;
        h.unknown = h.value + places;
        h.best = h.unknown + places;
        h.widest = h.best + d;
        s = search(ctx, &h, number);
    }
    if (s >= 0 && h.width == -INFINITY)
        s = hfi_fail(ctx, HF_ERR_ARGUMENT,
                     "no settings are known to satisfy the certain constraints: add a trial that does, or "
                     "check their norm and noise bounds");
    if (s >= 0) {
        *acquired = h.top > nothing;
        *value = h.top;
        memcpy(u, *acquired ? h.best : h.widest, d * sizeof *u);
    }
    hfi_free(ctx, room);
    hfi_free(ctx, h.fine);
    hfi_safe_close(ctx, safe);
    return s;
}
