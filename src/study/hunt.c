/* SPDX-License-Identifier: Apache-2.0 */
/* The best of many admitted places, then of smaller and smaller neighbourhoods of the best so far. */
#include "study/propose.h"

#include <math.h>
#include <string.h>

enum {
    SPREAD = 512, /* places that fill the space */
    NEAR = 256,   /* about what is known to be safe */
    ROUNDS = 6,   /* neighbourhoods of the best place so far */
    ROUND = 64
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
    const hfi_places_among *among;
    const hf_acquire *acquire; /* NULL: nothing is acquired, only learnt */
    double *u;                 /* SPREAD + NEAR places */
    double *value, *unknown;
    bool *fine;
    double *best, *widest; /* places: the largest acquisition, and the least known */
    double top, width;
} hunt;

/* Looks at `count` places of h->u. */
static hf_status evaluate_hunted_places(hf_context *ctx, hunt *h, size_t count)
{
    const size_t d = h->study->d;
    for (size_t i = 0; i < count; i++) snap(h->study, h->u + i * d);
    hf_status s = h->among->admits(ctx, h->among->self, count, h->u, h->fine, h->unknown);
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

static hf_status search_hunted_places(hf_context *ctx, hunt *h, uint64_t number)
{
    const hf_study *study = h->study;
    hfi_stream stream;
    hfi_stream_init(&stream, study->s.seed, HFI_PURPOSE_STUDY, number);
    hf_domain_quasirandom(&study->domain, (size_t)(number * SPREAD), SPREAD, h->u);
    for (size_t i = 0; i < NEAR; i++)
        neighbours(study, &stream, some_trial(study, i)->u, 0.25, 1, h->u + (SPREAD + i) * study->d);
    hf_status s = evaluate_hunted_places(ctx, h, SPREAD + NEAR);
    double reach = 0.1, narrow = 0.02;
    for (size_t round = 0; round < ROUNDS && s >= 0; round++, reach *= 0.5) {
        const bool use = h->acquire != NULL && h->top > -INFINITY;
        if (!use && !(h->width > -INFINITY)) { /* nothing yet: nearer and nearer to what is known */
            reach = narrow;
            narrow *= 0.25;
        }
        for (size_t i = 0; i < ROUND; i++) {
            const double *centre = use ? h->best : h->width > -INFINITY ? h->widest : some_trial(study, i)->u;
            neighbours(study, &stream, centre, reach, 1, h->u + i * study->d);
        }
        s = evaluate_hunted_places(ctx, h, ROUND);
    }
    return s;
}

hf_status hfi_hunt(hf_context *ctx, const hfi_places_among *among, const hf_acquire *acquire,
                   uint64_t ordinal, double nothing, double *u, double *value, bool *acquired)
{
    const size_t places = SPREAD + NEAR, d = among->study->d;
    double *room = hfi_alloc_product(ctx, places + 2, d + 2, sizeof *room);
    hunt h = {
        .study = among->study, .among = among, .acquire = acquire, .top = -INFINITY, .width = -INFINITY};
    hf_status s = HF_OK;
    h.fine = hfi_alloc(ctx, places, sizeof *h.fine);
    h.u = room;
    if (room == NULL || h.fine == NULL) {
        s = HF_ERR_MEMORY;
    } else {
        h.value = room + places * d;
        h.unknown = h.value + places;
        h.best = h.unknown + places;
        h.widest = h.best + d;
        s = search_hunted_places(ctx, &h, ordinal);
    }
    if (s >= 0 && h.width == -INFINITY) s = hfi_fail(ctx, HF_ERR_NO_DATA, "no place is admitted");
    if (s >= 0) {
        *acquired = h.top > nothing;
        *value = h.top;
        memcpy(u, *acquired ? h.best : h.widest, d * sizeof *u);
    }
    HFI_FREE(ctx, room, h.fine);
    return s;
}
