/* SPDX-License-Identifier: Apache-2.0 */
/* Asking: proposals are computed from what is known, and are written if nothing has come in meanwhile. */
#include "study/propose.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 10000, /* proposals of a call */
    TRIES = 3     /* after so many disturbed ones the study stays locked while proposals are computed */
};

/* A call, and its room. */
typedef struct trial_asking {
    hf_study *study;
    size_t count;
    double now;
    hfi_proposed *proposed; /* count */
    double *at;             /* count x d */
    double *pending;        /* (pending + count) x d */
    double *values;         /* count x (d + 5) */
    hfi_study_event *events;
    bool heard;          /* `region` is news */
    hfi_region *region;  /* of the study, after what was told */
    double *region_room; /* their numbers for the journal */
} trial_asking;

static void done(hf_context *ctx, trial_asking *a)
{
    HFI_FREE(ctx, a->proposed, a->at, a->pending, a->values, a->events, a->region, a->region_room);
    a->region = NULL;
    a->region_room = NULL;
    a->proposed = NULL;
    a->at = a->pending = a->values = NULL;
    a->events = NULL;
}

static hf_status allocate_trial_asking(hf_context *ctx, trial_asking *a)
{
    const size_t d = a->study->d, pending = a->study->pending;
    const size_t regions = a->study->regions, events = a->count + a->study->outcomes + 1 + pending + regions;
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(a->proposed, a->count), HFI_ROOMS(a->at, a->count, d),
                  HFI_ROOMS(a->pending, a->count + pending, d), HFI_ROOMS(a->values, a->count, d + 5),
                  HFI_ROOM(a->events, events), HFI_ROOM(a->region, regions + 1),
                  HFI_ROOMS(a->region_room, regions + 1, HFI_REGION_NUMBERS));
    if (status < 0) return status;
    for (size_t i = 0; i < a->count; i++) a->proposed[i].at = a->at + i * d;
    return HF_OK;
}

/* ---- computing ----------------------------------------------------------------------------------------- */

static bool expired(const hf_study *study, const hfi_trial *trial, double now)
{
    return trial->state == HF_TRIAL_PENDING && study->s.expires > 0.0 &&
           now - trial->asked > study->s.expires;
}

/* Inputs of the trials that stay pending. */
static size_t list_pending(const trial_asking *a)
{
    size_t n = 0;
    for (uint64_t id = 1; id <= a->study->trials; id++) {
        const hfi_trial *trial = a->study->trial[id - 1];
        if (trial->state != HF_TRIAL_PENDING || expired(a->study, trial, a->now)) continue;
        memcpy(a->pending + n++ * a->study->d, trial->u, a->study->d * sizeof *a->pending);
    }
    return n;
}

/* Few readings, or none of some outcome, are no error here: the space is filled until there are more. */
static hf_status make_surrogates(hf_context *ctx, trial_asking *a, size_t pending, bool *made)
{
    *made = false;
    if (a->study->told + pending + a->count <= a->study->s.start) return HF_OK;
    const hf_status s = hfi_study_surrogates(ctx, a->study);
    *made = s >= 0;
    return s == HF_ERR_NO_DATA ? HF_OK : s;
}

static hf_status compute_proposals(hf_context *ctx, trial_asking *a)
{
    hf_status s = allocate_trial_asking(ctx, a);
    if (s < 0) return s;
    hfi_round round = {.ahead = a->proposed, .pending_u = a->pending};
    round.pending = list_pending(a);
    s = make_surrogates(ctx, a, round.pending, &round.surrogates);
    if (s >= 0 && round.surrogates && a->study->regions > 0) {
        s = hfi_worse(s, hfi_regions_hear(ctx, a->study, a->region));
        round.region = a->region;
    }
    a->heard = round.region != NULL;
    for (; round.count < a->count && s >= 0; round.count++, round.pending++) {
        hfi_proposed *p = &a->proposed[round.count];
        round.number = a->study->trials + round.count + 1;
        if (!hfi_progress(ctx, "ask", (double)round.count / (double)a->count, NAN)) return hfi_cancelled(ctx);
        s = hfi_worse(s, hfi_study_propose(ctx, a->study, &round, p));
        round.doubted = round.doubted || p->reason == HF_REASON_REPEAT;
    }
    round.number = a->study->trials + 1;
    return s < 0 ? s : hfi_worse(s, hfi_study_together(ctx, a->study, &round, a->proposed));
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Regions that have changed; how many. */
static size_t write_regions(const trial_asking *a, hfi_study_event *events)
{
    size_t n = 0;
    for (size_t r = 0; r < a->study->regions; r++) {
        const hfi_region *g = &a->region[r], *before = &a->study->region[r];
        double *v = a->region_room + r * HFI_REGION_NUMBERS;
        const double numbers[HFI_REGION_NUMBERS] = {g->state.side,
                                                    (double)g->state.successes,
                                                    (double)g->state.failures,
                                                    (double)g->state.failures_allowed,
                                                    (double)g->state.restarts,
                                                    (double)g->centre,
                                                    (double)g->heard};
        if (g->heard == before->heard && g->centre == before->centre) continue;
        memcpy(v, numbers, sizeof numbers);
        events[n++] = (hfi_study_event){
            .kind = HFI_STUDY_REGION, .id = r, .time = a->now, .count = HFI_REGION_NUMBERS, .values = v};
    }
    return n;
}

static hf_status write(hf_context *ctx, trial_asking *a)
{
    hf_study *study = a->study;
    const size_t d = study->d;
    double *numbers = NULL;
    size_t n = 0;
    for (uint64_t id = 1; id <= study->trials; id++)
        if (expired(study, study->trial[id - 1], a->now))
            a->events[n++] = (hfi_study_event){.kind = HFI_STUDY_EXPIRED, .id = id, .time = a->now};
    size_t news = 0;
    hf_status s = hfi_study_news(ctx, study, a->events + n, &news, &numbers);
    n += news;
    if (s >= 0 && a->heard) n += write_regions(a, a->events + n);
    for (size_t i = 0; i < a->count && s >= 0; i++) {
        const hfi_proposed *p = &a->proposed[i];
        double *v = a->values + i * (d + 5);
        const double tail[5] = {(double)p->reason, p->mean, p->sd, p->value, p->region};
        memcpy(v, p->at, d * sizeof *v);
        memcpy(v + d, tail, sizeof tail);
        a->events[n++] = (hfi_study_event){.kind = HFI_STUDY_ASKED,
                                           .id = study->trials + i + 1,
                                           .of = p->repeats,
                                           .time = a->now,
                                           .count = d + 5,
                                           .values = v};
    }
    if (s >= 0) s = hfi_study_commit(ctx, study, n, a->events);
    if (s >= 0) hfi_study_news_told(study);
    hfi_free(ctx, numbers);
    return s;
}

static void fill_proposals(const trial_asking *a, hf_proposal *out)
{
    for (size_t i = 0; i < a->count; i++) {
        const hfi_proposed *p = &a->proposed[i];
        out[i] = (hf_proposal){.trial = a->study->trials - a->count + i + 1,
                               .reason = p->reason,
                               .repeats = p->repeats,
                               .mean = p->mean,
                               .sd = p->sd,
                               .value = p->value};
    }
}

/* ---- the call ------------------------------------------------------------------------------------------ */

/* Computed without the lock, written with it if nothing has come in; else all over again, at last locked. */
static hf_status ask_for_trials(hf_context *ctx, trial_asking *a, hf_proposal *out)
{
    hf_study *study = a->study;
    hf_status s = HF_OK;
    for (int attempt = 1; s >= 0; attempt++) {
        const bool locked = attempt >= TRIES;
        s = hfi_study_enter(ctx, study, locked);
        if (!locked && s >= 0) hfi_study_leave(study);
        const uint64_t changes = study->changes;
        done(ctx, a);
        if (s >= 0) s = compute_proposals(ctx, a);
        if (!locked && s >= 0) s = hfi_worse(s, hfi_study_enter(ctx, study, true));
        const bool same = study->changes == changes;
        if (s >= 0 && same) s = hfi_worse(s, write(ctx, a));
        if (s >= 0 && same) fill_proposals(a, out);
        hfi_study_leave(study);
        if (same) break;
    }
    return s;
}

hf_status hf_study_ask(hf_context *ctx, hf_study *study, size_t count, double now, hf_proposal *proposal)
{
    if (ctx == NULL || study == NULL || proposal == NULL)
        return hfi_refuse(ctx, "hf_study_ask: a context, a study and a place are needed");
    if (count == 0 || count > MOST)
        return hfi_refuse(ctx, "%zu trials are asked for; 1 to %d are possible", count, (int)MOST);
    const hf_status writable = hfi_study_writable(ctx, study);
    if (writable < 0) return writable;
    hf_context *own = hfi_context_borrow(ctx);
    if (own == NULL) return HF_ERR_MEMORY;
    hf_context_set_seed(own, study->s.seed);
    trial_asking a = {.study = study, .count = count, .now = hfi_study_clock(now)};
    const hf_status s = ask_for_trials(own, &a, proposal);
    done(own, &a);
    hfi_context_give_back(ctx, own);
    return s;
}
