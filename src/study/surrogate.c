/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surrogates: the posterior of each outcome given what was told. Hyperparameters, warp and verdicts about
 * readings are trained when the readings have grown by a tenth, or when a new one surprises; until then they
 * are held and the posterior is one factorisation away.
 */
#include "solver/solver.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

/* A new reading this many standard deviations off asks for a training, which judges it. */
static const double surprise = 4.0;

void hfi_surrogate_free(const hfi_memory *memory, hfi_surrogate *s)
{
    hf_posterior_free(s->posterior);
    HFI_MEMORY_FREE(memory, s->x, s->trial, s->reading);
    hfi_fitted_free(memory, &s->next);
    *s = (hfi_surrogate){0};
}

/* ---- readings ------------------------------------------------------------------------------------------ */

/* A trial's reading of an outcome, or NaN, and its noise. */
static double said(const hf_study *study, const hfi_trial *trial, size_t outcome, double *noise)
{
    double value;
    *noise = 0.0;
    if (trial->state != HF_TRIAL_TOLD && trial->state != HF_TRIAL_FAILED) return NAN;
    if (outcome == study->outcomes) return trial->state == HF_TRIAL_FAILED ? 1.0 : 0.0;
    hfi_trial_corrected(study, trial, outcome, &value, noise);
    return hfi_study_sign(study, outcome) * value;
}

size_t hfi_study_readings(const hf_study *study, size_t outcome)
{
    size_t count = 0;
    double noise;
    for (uint64_t id = 1; id <= study->trials; id++)
        count += isnan(said(study, study->trial[id - 1], outcome, &noise)) ? 0 : 1;
    return count;
}

static hf_status gather_surrogate_readings(hf_context *ctx, const hf_study *study, size_t outcome,
                                           hfi_surrogate *s)
{
    const hfi_memory *memory = &study->memory;
    const size_t n = hfi_study_readings(study, outcome), d = study->d;
    if (n < 2)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%zu trial%s told %s; two are needed for a surrogate", n,
                        n == 1 ? " has" : "s have",
                        outcome < study->outcomes ? study->s.outcome[outcome].name : "success");
    s->x = hfi_memory_alloc(memory, n, (d + 2) * sizeof *s->x);
    s->trial = hfi_memory_alloc(memory, n, sizeof *s->trial + sizeof *s->aside + sizeof *s->label);
    s->reading = hfi_memory_alloc(memory, n, sizeof *s->reading);
    if (s->x == NULL || s->trial == NULL || s->reading == NULL) return hfi_out_of_memory(ctx);
    s->y = s->x + n * d;
    s->noise = s->y + n;
    s->aside = (bool *)(s->trial + n);
    s->label = (unsigned char *)(s->aside + n);
    for (uint64_t id = 1; id <= study->trials; id++) {
        const hfi_trial *trial = study->trial[id - 1];
        double noise;
        const double y = said(study, trial, outcome, &noise);
        if (isnan(y)) continue;
        memcpy(s->x + s->n * d, trial->u, d * sizeof *s->x);
        s->y[s->n] = y;
        s->noise[s->n] = noise;
        s->label[s->n] =
            outcome < study->outcomes ? hfi_trial_label(study, trial, outcome) : HF_EXPERT_UNKNOWN;
        s->trial[s->n++] = id;
    }
    return HF_OK;
}

/* ---- what the others say of a reading ------------------------------------------------------------------ */

/* loo_mean and loo_var of the readings `which`, observed, warped units: of those without a say a
 * prediction. */
hf_status hfi_surrogate_look_at(hf_context *ctx, const hf_study *study, hfi_surrogate *s,
                                const bool *readings)
{
    const size_t anchors = hf_posterior_anchors(s->posterior), d = study->d;
    const bool leaves_out = hfi_solver_kind_of(hf_posterior_solver(s->posterior))->leaves_out;
    double *mean = hfi_alloc(ctx, 2 * anchors + 2, sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    double *var = mean + anchors + 1;
    size_t sited = 0;
    for (size_t i = 0; i < s->n; i++) sited += !s->aside[i];
    hf_status status =
        leaves_out && sited == anchors ? hf_leave_one_out(ctx, s->posterior, mean, var) : HF_OK;
    const double noise = hf_posterior_noise(s->posterior);
    size_t k = 0;
    for (size_t i = 0; i < s->n && status >= 0; i++) {
        hf_reading *r = &s->reading[i];
        const size_t at = k;
        k += !s->aside[i];
        if (!readings[i]) continue;
        if (!s->aside[i] && leaves_out && sited == anchors) {
            r->loo_mean = mean[at];
            r->loo_var = var[at] + noise + s->noise[i];
        } else {
            status = hf_predict(ctx, s->posterior, 1, s->x + i * d, d, &r->loo_mean, &r->loo_var, NULL);
            r->loo_var += noise + s->noise[i];
        }
    }
    hfi_free(ctx, mean);
    return status;
}

/* Whether a reading that came in since the last training is far from what the others say. */
static hf_status surprised(hf_context *ctx, const hf_study *study, hfi_surrogate *s, uint64_t known,
                           bool *answer)
{
    *answer = false;
    if (!hfi_solver_kind_of(hf_posterior_solver(s->posterior))->leaves_out || s->n > 1000) return HF_OK;
    bool *fresh = hfi_alloc(ctx, s->n, sizeof *fresh);
    if (fresh == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < s->n; i++) fresh[i] = hfi_study_find(study, s->trial[i])->fact > known;
    const hf_status status = hfi_surrogate_look_at(ctx, study, s, fresh);
    for (size_t i = 0; i < s->n && status >= 0; i++) {
        const double off = s->y[i] - s->reading[i].loo_mean;
        if (fresh[i] && off * off > surprise * surprise * s->reading[i].loo_var) *answer = true;
    }
    hfi_free(ctx, fresh);
    return status;
}

static hf_status explain_suspects(hf_context *ctx, const hf_study *study, hfi_surrogate *s)
{
    bool *which = hfi_alloc(ctx, s->n, sizeof *which), any = false;
    if (which == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < s->n; i++) {
        which[i] = s->reading[i].suspected;
        any = any || which[i];
    }
    const hf_status status = any ? hfi_surrogate_look_at(ctx, study, s, which) : HF_OK;
    hfi_free(ctx, which);
    return status;
}

/* ---- making one ---------------------------------------------------------------------------------------- */

static bool due(const hfi_fitted *fitted, size_t n)
{
    const uint64_t r = fitted->readings;
    return r < 2 || n < r || n - r >= (r < 20 ? 1 : r / 10);
}

static hf_status make_outcome_surrogate(hf_context *ctx, const hf_study *study, size_t outcome,
                                        hfi_surrogate *s)
{
    hf_status status = gather_surrogate_readings(ctx, study, outcome, s);
    if (status < 0) return status;
    bool again = due(&study->fitted[outcome], s->n);
    if (!again) {
        status = hfi_surrogate_hold(ctx, study, outcome, s);
        if (status >= 0 && study->s.robust && s->n > study->fitted[outcome].readings)
            status = hfi_worse(status, surprised(ctx, study, s, study->fitted[outcome].facts, &again));
        if (status >= 0 && again) {
            hfi_surrogate_free(&study->memory, s);
            status = gather_surrogate_readings(ctx, study, outcome, s);
        }
    }
    if (again && status >= 0) status = hfi_surrogate_train(ctx, study, outcome, s);
    if (status >= 0) status = hfi_worse(status, explain_suspects(ctx, study, s));
    s->changes = study->facts;
    return status;
}

/* Makes the surrogate of an outcome agree with what was told. HF_ERR_NO_DATA with fewer than two
 * readings. */
static hf_status surrogate_of(hf_context *ctx, hf_study *study, size_t of, hfi_surrogate **out)
{
    hfi_surrogate *s = &study->surrogate[of];
    *out = s;
    if (s->posterior != NULL && s->changes == study->facts) return HF_OK;
    hfi_surrogate made = {0};
    const hf_status status = make_outcome_surrogate(ctx, study, of, &made);
    if (status < 0) {
        hfi_surrogate_free(&study->memory, &made);
        return status;
    }
    hfi_surrogate_free(&study->memory, s);
    *s = made;
    return HF_OK;
}

hf_status hfi_study_surrogates(hf_context *ctx, hf_study *study)
{
    hf_status status = HF_OK;
    hfi_surrogate *s;
    for (size_t o = 0; o < study->outcomes && status >= 0; o++) status = surrogate_of(ctx, study, o, &s);
    if (status >= 0 && study->failed > 0) status = surrogate_of(ctx, study, study->outcomes, &s);
    return status;
}

/* ---- for the journal ----------------------------------------------------------------------------------- */

hf_status hfi_study_news(hf_context *ctx, const hf_study *study, hfi_study_event *news, size_t *n,
                         double **numbers)
{
    size_t total = 1;
    *n = 0;
    for (size_t o = 0; o <= study->outcomes; o++) {
        const hfi_fitted *f = &study->surrogate[o].next;
        if (study->surrogate[o].trained) total += 6 + f->parameters + f->aside + f->doubted;
    }
    double *at = *numbers = hfi_alloc(ctx, total, sizeof *at);
    if (at == NULL) return HF_ERR_MEMORY;
    for (size_t o = 0; o <= study->outcomes; o++) {
        const hfi_fitted *f = &study->surrogate[o].next;
        if (!study->surrogate[o].trained) continue;
        const size_t held = f->parameters + f->aside + f->doubted;
        const double head[6] = {(double)f->parameters, (double)f->aside, (double)f->doubted,
                                f->warp.knee,          f->warp.scale,    (double)f->facts};
        memcpy(at, head, sizeof head);
        memcpy(at + 6, f->value, held * sizeof *at);
        news[(*n)++] = (hfi_study_event){.kind = HFI_STUDY_FITTED,
                                         .id = o,
                                         .of = f->readings,
                                         .time = 0.0,
                                         .count = 6 + held,
                                         .values = at};
        at += 6 + held;
    }
    return HF_OK;
}

void hfi_study_news_told(hf_study *study)
{
    for (size_t o = 0; o <= study->outcomes; o++) study->surrogate[o].trained = false;
}
