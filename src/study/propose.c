/* SPDX-License-Identifier: Apache-2.0 */
/* The next trial: one of the first, one to repeat, or where the acquisition is largest. */
#include "study/propose.h"
#include "study/study.h"
#include <holdfast/acquire_front.h>

#include <math.h>
#include <string.h>

/* Gains, as shares of the readings' spread, below which the surrogate sees little and nothing to gain. */
static const double little = 1e-3, nothing = 1e-6;

/* Least gain of the logarithm of a batch's value: a batch that gains less stays. */
static const double least_gain = 1e-6;
/* Multiplications of a batch's climb. */
static const double batch_work = 1e9;

enum {
    FEWEST_STEPS = 10, /* evaluations of such a climb */
    MOST_STEPS = 60,
    GUESSES = 4,  /* best trials from which the acquisition is climbed */
    OTHERS = 2048 /* places that are looked at when the best one was tried already */
};

/* ---- filling the space --------------------------------------------------------------------------------- */

static void decode(const hf_study *study, const double *u, double *at)
{
    for (size_t j = 0; j < study->d; j++) at[j] = hfi_variable_decode(&study->s.variable[j], u[j]);
}

/* Whether a trial with these settings is pending or was told; failed ones are not asked again either. */
static bool tried(const hf_study *study, const hfi_proposed *ahead, size_t count, const double *at)
{
    const size_t bytes = study->d * sizeof *at;
    for (uint64_t id = 1; id <= study->trials; id++)
        if (study->trial[id - 1]->state != HF_TRIAL_EXPIRED &&
            memcmp(study->trial[id - 1]->at, at, bytes) == 0)
            return true;
    for (size_t i = 0; i < count; i++)
        if (memcmp(ahead[i].at, at, bytes) == 0) return true;
    return false;
}

static hf_status propose_start_point(const hf_study *study, const hfi_round *round, hfi_proposed *out,
                                     double *u)
{
    out->reason = HF_REASON_START;
    for (uint64_t k = 0; k < 64; k++) {
        hfi_study_fill(study, round->number + k * 7919, u);
        decode(study, u, out->at);
        if (!tried(study, round->ahead, round->count, out->at)) break;
    }
    return HF_OK;
}

/* ---- the acquisition ----------------------------------------------------------------------------------- */

/* The best trials' inputs, best first. */
static hf_status best_places(hf_context *ctx, const hf_study *study, double *guesses, size_t *count,
                             hfi_verdict_at *incumbent)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t n;
    *count = 0;
    const hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &n);
    if (s < 0) return s;
    for (; *count < GUESSES && *count < n; ++*count) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (ids[i] != 0 && (best == n || hfi_place_better(&places[i], &places[best]))) best = i;
        memcpy(guesses + *count * study->d, hfi_study_find(study, ids[best])->u, study->d * sizeof *guesses);
        if (*count == 0) *incumbent = places[best];
        ids[best] = 0;
    }
    HFI_FREE(ctx, ids, places);
    return s;
}

/* Constraints of an acquisition: room for all outcomes and failure. */
typedef struct constraints {
    const hf_posterior *of[HFI_STUDY_OUTCOMES + 1];
    double limit[HFI_STUDY_OUTCOMES + 1];
} constraints;

/* The acquisition of a round, which points into `room`. */
static hf_acquire acquisition(const hf_study *study, const hfi_round *round, const hfi_verdict_at *incumbent,
                              constraints *room)
{
    hf_acquire a = {.size = sizeof a,
                    .kind = study->s.acquisition,
                    .posterior = study->surrogate[study->objective[0]].posterior,
                    .best = incumbent->log_feasible >= log(0.5) ? incumbent->mean[0] : -INFINITY,
                    .beta = study->s.beta,
                    .pending = round->pending,
                    .pending_x = round->pending_u,
                    .draws = study->s.draws,
                    .stream = round->number,
                    .constraint = room->of,
                    .limit = room->limit};
    for (size_t o = 0; o <= study->outcomes; o++) {
        const bool used = o == study->outcomes
                              ? study->failed > 0
                              : !hfi_study_is_objective(study, o) && !study->s.outcome[o].certain;
        if (!used) continue;
        room->of[a.constraints] = study->surrogate[o].posterior;
        room->limit[a.constraints++] = hfi_study_limit(study, o);
    }
    return a;
}

/* Conditions on a place that is asked for. */
typedef struct gate {
    const hf_study *study;
    bool constraints; /* hold as likely as not; false: the acquisition sees to that */
} gate;

static hf_status passes(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                        double *unknown)
{
    const gate *g = self;
    hfi_verdict_at *place = hfi_alloc(ctx, m, sizeof *place);
    if (place == NULL) return HF_ERR_MEMORY;
    const hf_status s = hfi_study_judge(ctx, g->study, m, u, place);
    for (size_t i = 0; i < m && s >= 0; i++) {
        fine[i] = place[i].log_success >= log(0.5) && (!g->constraints || place[i].log_feasible >= log(0.5));
        unknown[i] = place[i].sd[0];
    }
    hfi_free(ctx, place);
    return s;
}

/* The best place where a trial succeeds as likely as not: a gain that is large enough would outweigh any
 * small probability. A confidence bound cannot be multiplied by the probability of constraints either. Where
 * no place passes, the one most likely to. */
static hf_status maximise_among(hf_context *ctx, const hf_study *study, const hfi_round *round,
                                const hf_acquire *with, const hf_domain *domain, double *u, double *value)
{
    const bool bound = with->kind == HF_ACQUIRE_UCB;
    const gate g = {.study = study, .constraints = bound};
    const hfi_places_among among = {.study = study, .admits = passes, .self = &g};
    hf_acquire a = *with;
    hf_argmax report;
    bool acquired;
    if (bound) a.constraints = 0;
    hf_status s = hfi_hunt(ctx, &among, &a, round->number, -INFINITY, u, value, &acquired);
    if (s != HF_ERR_NO_DATA) return s;
    a = *with;
    a.kind = HF_ACQUIRE_LOG_EI;
    a.best = -INFINITY;
    a.pending = 0;
    s = hf_acquire_maximise(ctx, &a, domain, NULL, 0, NULL, u, &report);
    *value = report.value;
    return s;
}

static hf_status maximise(hf_context *ctx, const hf_study *study, const hfi_round *round,
                          const hf_domain *domain, hfi_proposed *out, double *u)
{
    constraints room;
    hfi_verdict_at incumbent = {.log_feasible = -INFINITY};
    size_t guesses;
    double *guess = hfi_alloc_product(ctx, GUESSES, study->d, sizeof *guess);
    if (guess == NULL) return HF_ERR_MEMORY;
    hf_argmax report = {.mean = NAN};
    hf_status s = best_places(ctx, study, guess, &guesses, &incumbent);
    if (s >= 0) {
        const hf_acquire a = acquisition(study, round, &incumbent, &room);
        if (study->objectives > 1)
            s = hfi_study_widen_front(ctx, study, round, &a, u, &report.value);
        else if (study->failed > 0 || (a.kind == HF_ACQUIRE_UCB && a.constraints > 0))
            s = maximise_among(ctx, study, round, &a, domain, u, &report.value);
        else if (study->s.thompson)
            s = hf_thompson_maximise(ctx, a.posterior, a.stream, domain, NULL, guesses, guess, u, &report);
        else
            s = hf_acquire_maximise(ctx, &a, domain, NULL, guesses, guess, u, &report);
    }
    out->value = report.value;
    hfi_free(ctx, guess);
    return s;
}

/* A place of the lattice that was not tried, the best of many by the acquisition; *found if there is one. */
static hf_status another(hf_context *ctx, const hf_study *study, const hfi_round *round, hfi_proposed *out,
                         double *u, bool *found)
{
    constraints room;
    double guess_value = -INFINITY;
    const size_t d = study->d;
    hfi_verdict_at incumbent = {.log_feasible = -INFINITY};
    size_t guesses;
    *found = false;
    double *many = hfi_alloc_product(ctx, OTHERS, d + 1, sizeof *many);
    if (many == NULL) return HF_ERR_MEMORY;
    double *value = many + OTHERS * d;
    hf_status s = best_places(ctx, study, many, &guesses, &incumbent);
    hf_domain_quasirandom(&study->domain, (size_t)round->number, OTHERS, many);
    if (s >= 0) {
        const hf_acquire a = acquisition(study, round, &incumbent, &room);
        s = hf_acquire_evaluate(ctx, &a, OTHERS, many, value, NULL);
    }
    for (size_t i = 0; i < OTHERS && s >= 0; i++) {
        if (*found && !(value[i] > guess_value)) continue;
        decode(study, many + i * d, out->at);
        if (tried(study, round->ahead, round->count, out->at)) continue;
        *found = true;
        guess_value = out->value = value[i];
        memcpy(u, many + i * d, d * sizeof *u);
    }
    if (*found) decode(study, u, out->at);
    hfi_free(ctx, many);
    return s;
}

/* Trial `id` once more. */
static hf_status repeat_trial(const hf_study *study, uint64_t id, hfi_proposed *out, double *u)
{
    const hfi_trial *trial = hfi_study_find(study, id);
    out->reason = HF_REASON_REPEAT;
    out->repeats = trial->repeats != 0 ? trial->repeats : id;
    memcpy(out->at, trial->at, study->d * sizeof *out->at);
    memcpy(u, trial->u, study->d * sizeof *u);
    return HF_OK;
}

/* The whole space was tried: the incumbent once more, while that may be. */
static hf_status exhausted(hf_context *ctx, const hf_study *study, hfi_proposed *out, double *u)
{
    uint64_t id;
    hfi_verdict_at place;
    const hf_status s = hfi_study_incumbent(ctx, study, &id, &place);
    if (s < 0) return s;
    if (id == 0 || hfi_study_repeated(study, id) > study->s.repeats)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "every combination of the study's settings was tried; nothing is left to ask");
    return repeat_trial(study, id, out, u);
}

/* The region that promises most. */
static hf_status best_region(hf_context *ctx, const hf_study *study, const hfi_round *round,
                             hfi_proposed *out, double *u)
{
    const size_t d = study->d;
    double *room = hfi_alloc(ctx, d, 3 * sizeof *room), most = -INFINITY;
    if (room == NULL) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t r = 0; r < study->regions && s >= 0; r++) {
        hf_domain box = study->domain;
        box.lower = room;
        box.upper = room + d;
        s = hfi_worse(s, hfi_regions_box(ctx, study, &round->region[r], room, room + d));
        if (s >= 0) s = hfi_worse(s, maximise(ctx, study, round, &box, out, room + 2 * d));
        if (s < 0 || (r > 0 && !(out->value > most))) continue;
        most = out->value;
        out->region = (double)r;
        memcpy(u, room + 2 * d, d * sizeof *u);
    }
    out->value = most;
    hfi_free(ctx, room);
    return s;
}

/* The acquisition of a gain of `share` of the readings' scale; below it there is nothing to be had. */
static double nothing_to_gain(const hf_study *study, double spread, double share)
{
    const double scale = share * spread;
    switch (study->s.acquisition) {
    case HF_ACQUIRE_LOG_EI:
        return scale > 0.0 ? log(scale) : -INFINITY;
    case HF_ACQUIRE_EI:
        return scale;
    case HF_ACQUIRE_LOG_PI:
        return log(share);
    case HF_ACQUIRE_PI:
        return share;
    case HF_ACQUIRE_UCB:
        break;
    }
    return -INFINITY;
}

/* The surrogate sees little to gain where it knows most: elsewhere, if there is an elsewhere. */
static hf_status explore(hf_context *ctx, const hf_study *study, const hfi_round *round, double spread,
                         hfi_proposed *out, double *u)
{
    constraints room;
    hfi_verdict_at place;
    uint64_t id;
    hf_status s = hfi_study_incumbent(ctx, study, &id, &place);
    if (s < 0 || id == 0) return s;
    const hf_acquire a = acquisition(study, round, &place, &room);
    s = hfi_study_explore(ctx, study, round, &a, nothing_to_gain(study, spread, little), out, u);
    return s == HF_ERR_NO_DATA ? HF_OK : s;
}

static hf_status acquire(hf_context *ctx, hf_study *study, const hfi_round *round, hfi_proposed *out,
                         double *u)
{
    out->reason = HF_REASON_ACQUIRED;
    hf_status s = round->region != NULL ? best_region(ctx, study, round, out, u)
                                        : maximise(ctx, study, round, &study->domain, out, u);
    double spread = 0.0;
    if (s >= 0) s = hfi_worse(s, hfi_study_spread(ctx, study, &spread));
    const bool turn = round->number % 2 == 0; /* little to gain: here and elsewhere take turns */
    const bool gains = study->objectives == 1 && !study->s.thompson;
    if (s >= 0 && gains && out->value < nothing_to_gain(study, spread, turn ? little : nothing))
        s = hfi_worse(s, explore(ctx, study, round, spread, out, u));
    if (s < 0) return s;
    decode(study, u, out->at);
    if (!tried(study, round->ahead, round->count, out->at)) return s;
    bool found;
    s = hfi_worse(s, another(ctx, study, round, out, u, &found));
    return s < 0 || found ? s : exhausted(ctx, study, out, u);
}

/* Among what is surely feasible: where the acquisition is largest, or, with nothing to gain, where least is
 * known. */
static hf_status acquire_safely(hf_context *ctx, const hf_study *study, const hfi_round *round, bool known,
                                hfi_proposed *out, double *u)
{
    constraints room;
    hf_acquire a = {.size = sizeof a, .kind = HF_ACQUIRE_LOG_EI};
    uint64_t id;
    hfi_verdict_at incumbent;
    bool acquired = false;
    hf_status s = HF_OK;
    if (study->told == 0)
        return hfi_refuse(ctx, "a certain constraint starts from a trial that satisfies it: add one first");
    if (known) {
        s = hfi_study_incumbent(ctx, study, &id, &incumbent);
        if (s < 0) return s;
        a = acquisition(study, round, &incumbent, &room);
    }
    double spread = 0.0;
    s = hfi_worse(s, hfi_study_spread(ctx, study, &spread));
    if (s < 0) return s;
    const double least = known ? nothing_to_gain(study, spread, 1e-3) : 0.0;
    s = hfi_worse(
        s, hfi_safe_propose(ctx, study, known ? &a : NULL, round->number, least, u, &out->value, &acquired));
    if (s < 0) return s;
    out->reason = acquired ? HF_REASON_ACQUIRED : HF_REASON_EXPLORE;
    if (!acquired) out->value = NAN;
    decode(study, u, out->at);
    return s;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* The first objective as its surrogate expects it there, in the user's units. */
static hf_status expect(hf_context *ctx, const hf_study *study, const double *u, hfi_proposed *out)
{
    const hfi_surrogate *s = &study->surrogate[study->objective[0]];
    double mean, var;
    const hf_status status = hf_predict(ctx, s->posterior, 1, u, study->d, &mean, &var, NULL);
    if (status < 0) return status;
    const double sign = hfi_study_sign(study, study->objective[0]);
    const double y = hfi_warp_from(&s->next.warp, mean);
    out->mean = sign * y;
    out->sd = sqrt(var) / hfi_warp_slope(&s->next.warp, y);
    return status;
}

/* ---- a batch ------------------------------------------------------------------------------------------- */

/* The proposals of a call that the acquisition chose: those move, the others and the pending trials stay. */
typedef struct chosen_proposals {
    size_t moving, staying;
    size_t *number;     /* of proposals, moving */
    double *staying_u;  /* staying x d */
    double *before, *u; /* moving x d: settings that there are, as found one after the other, and moved */
    double *at;         /* moving x variables */
} chosen_proposals;

static bool moves(const hfi_proposed *p)
{
    return p->reason == HF_REASON_ACQUIRED && !isnan(p->value);
}

/* From `from` (may be `u`) to the nearest inputs that settings have. */
static void place_proposal(const hf_study *study, const double *from, double *at, double *u)
{
    decode(study, from, at);
    for (size_t j = 0; j < study->d; j++) u[j] = hfi_variable_encode(&study->s.variable[j], at[j]);
}

static hf_status gather_chosen_proposals(hf_context *ctx, const hf_study *study, const hfi_round *r,
                                         chosen_proposals *b)
{
    const size_t d = study->d, known = r->pending - r->count, row = d * sizeof(double);
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(b->number, r->count), HFI_ROOMS(b->staying_u, r->pending + 3 * r->count, d));
    if (status < 0) return status;
    b->before = b->staying_u + r->pending * d;
    b->u = b->before + r->count * d;
    b->at = b->u + r->count * d;
    for (size_t i = 0; i < r->pending; i++) {
        const double *from = r->pending_u + i * d;
        if (i < known || !moves(&r->ahead[i - known])) {
            memcpy(b->staying_u + b->staying++ * d, from, row);
        } else {
            place_proposal(study, from, b->at, b->before + b->moving * d);
            memcpy(b->u + b->moving * d, from, row);
            b->number[b->moving++] = i - known;
        }
    }
    return HF_OK;
}

/* Whether each of the moved places is a new one. */
static bool all_new(const hf_study *study, const hfi_round *r, const chosen_proposals *b)
{
    const size_t d = study->d, row = d * sizeof(double);
    for (size_t k = 0; k < b->moving; k++) {
        const double *at = b->at + k * d;
        if (tried(study, NULL, 0, at)) return false;
        for (size_t l = 0; l < k; l++)
            if (memcmp(b->at + l * d, at, row) == 0) return false;
        for (size_t i = 0; i < r->count; i++)
            if (!moves(&r->ahead[i]) && memcmp(r->ahead[i].at, at, row) == 0) return false;
    }
    return true;
}

/* Whether the places that were moved, put onto settings that there are, are worth more than before, and are
 * all likely to succeed. */
static hf_status better(hf_context *ctx, const hf_study *study, const hf_acquire *a,
                        const chosen_proposals *b, bool *out)
{
    double before, after;
    hfi_verdict_at *place = hfi_alloc(ctx, b->moving, sizeof *place);
    hf_status s = place == NULL ? HF_ERR_MEMORY : hfi_study_judge(ctx, study, b->moving, b->u, place);
    if (s >= 0) s = hfi_worse(s, hf_acquire_joint(ctx, a, b->moving, b->before, &before, NULL));
    if (s >= 0) s = hfi_worse(s, hf_acquire_joint(ctx, a, b->moving, b->u, &after, NULL));
    *out = s >= 0 && after > before + least_gain;
    for (size_t k = 0; k < b->moving && *out; k++) *out = place[k].log_success >= log(0.5);
    hfi_free(ctx, place);
    return s;
}

/* The moved places become the proposals. */
static hf_status take_over(hf_context *ctx, const hf_study *study, const hf_acquire *a,
                           const chosen_proposals *b, const hfi_round *r, hfi_proposed *proposed)
{
    const size_t d = study->d, known = r->pending - r->count;
    hf_status s = HF_OK;
    for (size_t k = 0; k < b->moving; k++) {
        memcpy(r->pending_u + (known + b->number[k]) * d, b->u + k * d, d * sizeof(double));
        memcpy(proposed[b->number[k]].at, b->at + k * d, d * sizeof(double));
    }
    for (size_t k = 0; k < b->moving && s >= 0; k++) {
        hfi_proposed *to = &proposed[b->number[k]];
        const double *u = b->u + k * d;
        hf_acquire one = *a;
        one.pending = known + b->number[k];
        one.pending_x = r->pending_u;
        one.stream = r->number + b->number[k];
        s = hfi_worse(s, hf_acquire_evaluate(ctx, &one, 1, u, &to->value, NULL));
        if (s >= 0) s = hfi_worse(s, expect(ctx, study, u, to));
    }
    return s;
}

/* Evaluations that a climb of the batch may have; 0: it is too dear. */
static size_t affordable(const hf_study *study, const hfi_round *r, const chosen_proposals *b)
{
    const double n = (double)hf_posterior_anchors(study->surrogate[study->objective[0]].posterior),
                 points = (double)(r->pending + b->moving);
    const double most = batch_work / (points * (n * n + points * points));
    return most < FEWEST_STEPS ? 0 : most < MOST_STEPS ? (size_t)most : MOST_STEPS;
}

hf_status hfi_study_together(hf_context *ctx, const hf_study *study, const hfi_round *r,
                             hfi_proposed *proposed)
{
    const bool improves = study->s.acquisition == HF_ACQUIRE_LOG_EI || study->s.acquisition == HF_ACQUIRE_EI;
    if (!improves || study->s.thompson || study->objectives > 1 || r->region != NULL || !r->surrogates ||
        r->count < 2 || hfi_study_is_certain(study))
        return HF_OK;
    constraints room;
    double gain = 0.0;
    uint64_t id = 0;
    hfi_verdict_at incumbent;
    chosen_proposals b = {.moving = 0};
    hf_status s = gather_chosen_proposals(ctx, study, r, &b);
    const size_t steps = s >= 0 && b.moving > 1 ? affordable(study, r, &b) : 0;
    if (steps > 0) s = hfi_worse(s, hfi_study_incumbent(ctx, study, &id, &incumbent));
    if (s >= 0 && id > 0) {
        hf_acquire a = acquisition(study, r, &incumbent, &room);
        a.pending = b.staying;
        a.pending_x = b.staying_u;
        bool more = false;
        if (a.best > -INFINITY)
            s = hfi_worse(s, hf_acquire_ascend(ctx, &a, &study->domain, steps, b.moving, b.u, &gain));
        for (size_t k = 0; k < b.moving; k++)
            place_proposal(study, b.u + k * study->d, b.at + k * study->d, b.u + k * study->d);
        if (s >= 0 && gain > 0.0 && all_new(study, r, &b))
            s = hfi_worse(s, better(ctx, study, &a, &b, &more));
        if (s >= 0 && more) s = hfi_worse(s, take_over(ctx, study, &a, &b, r, proposed));
    }
    HFI_FREE(ctx, b.number, b.staying_u);
    return s;
}

hf_status hfi_study_propose(hf_context *ctx, hf_study *study, const hfi_round *r, hfi_proposed *to)
{
    const size_t known = study->told + r->pending;
    double *u = hfi_alloc(ctx, study->d, sizeof *u);
    if (u == NULL) return HF_ERR_MEMORY;
    to->mean = to->sd = to->value = NAN;
    to->region = -1.0;
    to->repeats = 0;
    hf_status s = HF_OK;
    const bool modelled = known >= study->s.start && r->surrogates;
    if (hfi_study_is_certain(study)) {
        s = acquire_safely(ctx, study, r, modelled, to, u);
        if (s >= 0 && modelled) s = hfi_worse(s, expect(ctx, study, u, to));
    } else if (!modelled) {
        s = propose_start_point(study, r, to, u);
    } else {
        uint64_t doubted = 0;
        if (!r->doubted) s = hfi_study_doubt(ctx, study, &doubted);
        if (s >= 0)
            s = hfi_worse(s,
                          doubted != 0 ? repeat_trial(study, doubted, to, u) : acquire(ctx, study, r, to, u));
        if (s >= 0) s = hfi_worse(s, expect(ctx, study, u, to));
    }
    if (s >= 0) memcpy(r->pending_u + r->pending * study->d, u, study->d * sizeof *u);
    hfi_free(ctx, u);
    return s;
}
