/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: the settings to use, what is known about places, the front. */
#include "study/study.h"

#include "fit/fit.h"
#include "posterior/posterior.h"
#include <holdfast/front.h>
#include <math.h>
#include <string.h>

/* Times the least noise that counts as that; standard deviations of it that a mean may be off. */
static const double NEAR_LEAST = 4.0, WIDTHS = 3.0;

/* ---- a context with the study's seed, and surrogates that know what others told ------------------------ */

hf_status hfi_study_begin(hf_context *ctx, hf_study *study, hf_context **own)
{
    *own = hfi_context_borrow(ctx);
    if (*own == NULL) return HF_ERR_MEMORY;
    hf_context_set_seed(*own, study->s.seed);
    hf_status s = hfi_study_enter(*own, study, false);
    hfi_study_leave(study);
    if (s >= 0) s = hfi_study_surrogates(*own, study);
    if (s < 0) hfi_context_give_back(ctx, *own);
    return s;
}

hf_status hf_study_look(hf_context *ctx, hf_study *study)
{
    hf_context *own;
    if (ctx == NULL || study == NULL)
        return hfi_refuse(ctx, "hf_study_look: a context and a study are needed");
    const hf_status s = hfi_study_begin(ctx, study, &own);
    if (s >= 0) hfi_context_give_back(ctx, own);
    return s;
}

/* ---- predictions --------------------------------------------------------------------------------------- */

hf_status hf_study_predict(hf_context *ctx, hf_study *study, size_t outcome, size_t m, const double *at,
                           double *mean, double *sd)
{
    hf_context *own;
    if (ctx == NULL || study == NULL || (m > 0 && at == NULL))
        return hfi_refuse(ctx, "hf_study_predict: a context, a study and settings are needed");
    if (outcome >= study->outcomes)
        return hfi_refuse(ctx, "there is no outcome %zu; the study has %zu", outcome, study->outcomes);
    const size_t d = study->d;
    hf_status s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    double *u = hfi_alloc_product(own, m + 1, d + 2, sizeof *u);
    double *mu = u != NULL ? u + m * d : NULL, *var = u != NULL ? mu + m : NULL;
    if (u == NULL) s = HF_ERR_MEMORY;
    for (size_t i = 0; i < m * d && s >= 0; i++) {
        s = hfi_worse(s, hfi_variable_admits(own, &study->s.variable[i % d], at[i]));
        u[i] = hfi_variable_encode(&study->s.variable[i % d], at[i]);
    }
    const hfi_surrogate *sur = &study->surrogate[outcome];
    if (s >= 0) s = hfi_worse(s, hf_predict(own, sur->posterior, m, u, d, mu, var, NULL));
    for (size_t i = 0; i < m && s >= 0; i++) {
        const double y = hfi_study_outward(study, outcome, mu[i]);
        if (mean != NULL) mean[i] = y;
        if (sd != NULL)
            sd[i] = sqrt(var[i]) / hfi_warp_slope(&sur->next.warp, hfi_study_sign(study, outcome) * y);
    }
    hfi_free(own, u);
    hfi_context_give_back(ctx, own);
    return s;
}

/* ---- the best trial ------------------------------------------------------------------------------------ */

void hfi_study_describe(const hf_study *study, uint64_t id, const hfi_verdict_at *at, hf_best *out)
{
    const size_t o = study->objective[0];
    const double sign = hfi_study_sign(study, o), width = 1.959963984540054 * at->sd[0];
    const double a = hfi_study_outward(study, o, at->mean[0] - width);
    const double b = hfi_study_outward(study, o, at->mean[0] + width);
    *out = (hf_best){.trial = id,
                     .mean = hfi_study_outward(study, o, at->mean[0]),
                     .lower = sign > 0.0 ? a : b,
                     .upper = sign > 0.0 ? b : a,
                     .feasible = exp(at->log_feasible)};
    const hfi_trial *t = hfi_study_find(study, id);
    if (t == NULL) return;
    const uint64_t first = t->repeats != 0 ? t->repeats : id;
    const hfi_surrogate *s = &study->surrogate[o];
    for (size_t i = 0; i < s->n; i++) {
        const hfi_trial *other = hfi_study_find(study, s->trial[i]);
        out->readings += !s->aside[i] && (s->trial[i] == first || other->repeats == first);
    }
}

/* The only trial that told the only outcome; 0 if there are more, or constraints. */
static uint64_t only_trial(const hf_study *study)
{
    if (study->outcomes > 1 || study->failed > 0 || hfi_study_readings(study, 0) != 1) return 0;
    uint64_t id = 1;
    while (study->trial[id - 1]->state != HF_TRIAL_TOLD) id++;
    return id;
}

static hf_status best_of_one(hf_context *ctx, hf_study *study, double *at, hf_best *out)
{
    hf_status s = hfi_study_enter(ctx, study, false);
    hfi_study_leave(study);
    const uint64_t id = s >= 0 ? only_trial(study) : 0;
    if (id == 0) return s;
    const hfi_trial *trial = hfi_study_find(study, id);
    memcpy(at, trial->at, study->d * sizeof *at);
    *out = (hf_best){.trial = id,
                     .mean = trial->value[0],
                     .lower = -INFINITY,
                     .upper = INFINITY,
                     .feasible = 1.0,
                     .readings = 1};
    return s;
}

/* Where training ends at the least noise it may take, nothing in the readings speaks of any. Readings of a place
 * are then worth more than what the surrogate makes of them, as far as that noise goes: the width. 0: they are not. */
static double resolution(const hf_study *study)
{
    const hf_posterior *p = study->surrogate[study->objective[0]].posterior;
    const double scale = p->scaling.y_scale, noise = hf_posterior_noise(p);
    const double least = hfi_least_noise(HF_PRIOR_DIMENSION) * scale * scale;
    return noise <= NEAR_LEAST * least ? WIDTHS * sqrt(noise) : 0.0;
}

/* The mean of the place of trial `id`, drawn to what was told of it by at most `width`. */
static double drawn_to_told(const hf_study *study, uint64_t id, double mean, double width)
{
    const hfi_surrogate *s = &study->surrogate[study->objective[0]];
    double sum = 0.0, count = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const hfi_trial *other = hfi_study_find(study, s->trial[i]);
        if (s->aside[i] || s->noise[i] > 0.0 || (s->trial[i] != id && other->repeats != id)) continue;
        sum += s->y[i];
        count += 1.0;
    }
    return count > 0.0 ? mean + fmax(-width, fmin(width, sum / count - mean)) : mean;
}

/* The incumbent; between trials that the posterior mean cannot tell apart, readings decide. */
static hf_status recommended(hf_context *ctx, const hf_study *study, uint64_t *trial, hfi_verdict_at *verdict)
{
    uint64_t *ids;
    hfi_verdict_at *places, best;
    size_t count;
    *trial = 0;
    const hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &count);
    if (s < 0) return s;
    const double width = resolution(study);
    for (size_t i = 0; i < count; i++) {
        hfi_verdict_at here = places[i];
        if (width > 0.0) here.mean[0] = drawn_to_told(study, ids[i], here.mean[0], width);
        if (*trial != 0 && !hfi_place_better(&here, &best)) continue;
        *trial = ids[i];
        *verdict = places[i];
        best = here;
    }
    HFI_FREE(ctx, ids, places);
    return s;
}

hf_status hf_study_best(hf_context *ctx, hf_study *study, double *at, hf_best *out)
{
    hf_context *own;
    uint64_t id = 0;
    hfi_verdict_at place;
    if (ctx == NULL || study == NULL || at == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_study_best: a context, a study and two places are needed");
    hf_status s = best_of_one(ctx, study, at, out);
    if (s < 0 || only_trial(study) != 0) return s;
    s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    s = hfi_worse(s, recommended(own, study, &id, &place));
    if (s >= 0 && id == 0) s = hfi_fail(own, HF_ERR_NO_DATA, "no trial has told its outcome yet");
    if (s >= 0) {
        memcpy(at, hfi_study_find(study, id)->at, study->d * sizeof *at);
        hfi_study_describe(study, id, &place, out);
    }
    hfi_context_give_back(ctx, own);
    return s;
}

/* ---- the front ----------------------------------------------------------------------------------------- */

/* Places that count: likely feasible ones, all if there are none. How many are left. */
static size_t likely(uint64_t *ids, hfi_verdict_at *places, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(places[i].log_feasible >= log(0.5))) continue;
        ids[kept] = ids[i];
        places[kept++] = places[i];
    }
    return kept > 0 ? kept : count;
}

hf_status hfi_study_front_of(hf_context *ctx, const hf_study *study, uint64_t *trial, double *value,
                             size_t *count)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t n;
    const size_t m = study->objectives;
    hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &n);
    if (s < 0) return s;
    n = likely(ids, places, n);
    double *all = hfi_alloc_product(ctx, n + 1, m, sizeof *all);
    size_t *index = hfi_alloc(ctx, n + 1, sizeof *index);
    if (all == NULL || index == NULL) s = HF_ERR_MEMORY;
    for (size_t i = 0; i < n && s >= 0; i++)
        for (size_t k = 0; k < m; k++) all[i * m + k] = places[i].mean[k];
    if (s >= 0) s = hfi_worse(s, hf_front(ctx, n, m, all, index, count));
    for (size_t i = 0; i < *count && s >= 0; i++) {
        trial[i] = ids[index[i]];
        memcpy(value + i * m, all + index[i] * m, m * sizeof *value);
    }
    HFI_FREE(ctx, all, index, ids, places);
    return s;
}

/* Best first objective first. */
static void sort_front(size_t m, size_t count, uint64_t *trial, double *values)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && values[k * m] > values[(k - 1) * m]; k--) {
            for (size_t j = 0; j < m; j++) {
                const double held = values[k * m + j];
                values[k * m + j] = values[(k - 1) * m + j];
                values[(k - 1) * m + j] = held;
            }
            const uint64_t id = trial[k];
            trial[k] = trial[k - 1];
            trial[k - 1] = id;
        }
}

hf_status hf_study_front(hf_context *ctx, hf_study *study, uint64_t *trial, size_t *count)
{
    hf_context *own;
    if (ctx == NULL || study == NULL || trial == NULL || count == NULL)
        return hfi_refuse(ctx, "hf_study_front: a context, a study and two places are needed");
    hf_status s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    size_t found = 0;
    double *values = hfi_alloc_product(own, study->told + 1, study->objectives, sizeof *values);
    uint64_t *ids = hfi_alloc(own, study->told + 1, sizeof *ids);
    if (values == NULL || ids == NULL) s = HF_ERR_MEMORY;
    if (s >= 0) s = hfi_worse(s, hfi_study_front_of(own, study, ids, values, &found));
    if (s >= 0 && found == 0) s = hfi_fail(own, HF_ERR_NO_DATA, "no trial has told its outcomes yet");
    if (s >= 0) {
        sort_front(study->objectives, found, ids, values);
        memcpy(trial, ids, found * sizeof *trial);
        *count = found;
    }
    HFI_FREE(own, values, ids);
    hfi_context_give_back(ctx, own);
    return s;
}
