/* SPDX-License-Identifier: Apache-2.0 */
/* Events: into the journal, then into the memory. */
#include "study/study.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[HFI_STUDY_KINDS] = {
    "asked", "added", "told", "failed", "expired", "fitted", "region", "labelled", "added as failed"};

/* All that applying an event needs, made beforehand: applying cannot fail. */
typedef struct prepared_event {
    hfi_trial *trial;
    char *note;
    hfi_fitted fitted;
} prepared_event;

static void drop_prepared_event(const hfi_memory *memory, prepared_event *p)
{
    HFI_MEMORY_FREE(memory, p->trial, p->note);
    hfi_fitted_free(memory, &p->fitted);
    *p = (prepared_event){0};
}

void hfi_fitted_free(const hfi_memory *memory, hfi_fitted *fitted)
{
    hfi_memory_free(memory, fitted->value);
    *fitted = (hfi_fitted){0};
}

/* ---- preparing: all that can be wrong, and all the memory ---------------------------------------------- */

static hf_status damaged(hf_context *ctx, const hfi_study_event *event, const char *why)
{
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "an entry \"%s\" %s", kind_names[event->kind], why);
}

static hf_status grow_trial_list(hf_context *ctx, hf_study *study, size_t more)
{
    hfi_trial **trial = hfi_memory_grow(&study->memory, study->trial, study->trials, study->trials + more,
                                        &study->room, sizeof(hfi_trial *));
    if (trial == NULL) return hfi_out_of_memory(ctx);
    study->trial = trial;
    return HF_OK;
}

bool hfi_study_outcomes_sound(const hf_study *study, const double *values)
{
    const double *noise = values + study->outcomes;
    for (size_t o = 0; o < study->outcomes; o++)
        if (isinf(values[o]) || !(noise[o] >= 0.0) || isinf(noise[o])) return false;
    return true;
}

static hf_status check_outcomes(hf_context *ctx, const hf_study *study, const hfi_study_event *event,
                                const double *values)
{
    return hfi_study_outcomes_sound(study, values)
               ? HF_OK
               : damaged(ctx, event, "has an outcome or a noise that is none");
}

static hf_status new_trial(hf_context *ctx, hf_study *study, const hfi_study_event *event, uint64_t number,
                           prepared_event *p)
{
    const size_t d = study->d, o = study->outcomes;
    const bool asked = event->kind == HFI_STUDY_ASKED;
    if (event->id != number) return damaged(ctx, event, "is not of the next trial");
    if (event->count != d + (asked ? 5 : 2 * o)) return damaged(ctx, event, "has other numbers of values");
    if (event->of >= number) return damaged(ctx, event, "repeats a trial that is not there");
    for (size_t j = 0; j < d; j++)
        if (hfi_variable_admits(ctx, &study->s.variable[j], event->values[j]) < 0)
            return damaged(ctx, event, "has settings outside the space");
    if (!asked && check_outcomes(ctx, study, event, event->values + d) < 0) return HF_ERR_MODEL_FILE;
    if (asked && !(event->values[d] >= 0.0 && event->values[d] <= (double)HF_REASON_EXPLORE))
        return damaged(ctx, event, "has no reason");
    const size_t numbers = 2 * d + 5 * o;
    hfi_trial *t = hfi_memory_alloc(&study->memory, 1, sizeof *t + numbers * sizeof(double));
    if (t == NULL) return hfi_out_of_memory(ctx);
    t->at = t->numbers;
    t->u = t->at + d;
    t->value = t->u + d;
    t->noise = t->value + o;
    t->label = t->noise + o;
    t->asked = asked ? event->time : NAN;
    t->told = t->mean = t->sd = t->acquired = NAN;
    t->repeats = event->of;
    t->region = -1.0;
    memcpy(t->at, event->values, d * sizeof(double));
    for (size_t j = 0; j < d; j++) t->u[j] = hfi_variable_encode(&study->s.variable[j], t->at[j]);
    for (size_t k = 0; k < o; k++) t->value[k] = t->label[3 * k + 1] = NAN;
    if (asked) {
        t->reason = (hf_reason)event->values[d];
        t->mean = event->values[d + 1];
        t->sd = event->values[d + 2];
        t->acquired = event->values[d + 3];
        t->region = event->values[d + 4];
    }
    p->trial = t;
    return grow_trial_list(ctx, study, 1);
}

static hf_status take_fitted(hf_context *ctx, const hf_study *study, const hfi_study_event *event,
                             hfi_fitted *out)
{
    const double *v = event->values;
    const size_t count = event->count;
    if (event->id > study->outcomes || count < 6) return damaged(ctx, event, "is of no outcome");
    for (size_t i = 0; i < 3; i++)
        if (!(v[i] >= 0.0 && v[i] <= (double)count)) return damaged(ctx, event, "has counts that are none");
    const size_t parameters = (size_t)v[0], aside = (size_t)v[1], doubted = (size_t)v[2];
    if (6 + parameters + aside + doubted != count) return damaged(ctx, event, "has other counts of values");
    out->value = hfi_memory_alloc(&study->memory, count, sizeof *out->value);
    if (out->value == NULL) return hfi_out_of_memory(ctx);
    memcpy(out->value, v + 6, (count - 6) * sizeof *v);
    out->readings = event->of;
    out->parameters = parameters;
    out->aside = aside;
    out->doubted = doubted;
    out->trial = out->value + parameters;
    out->warp = (hfi_warp){.knee = v[3], .scale = v[4]};
    out->facts = v[5] >= 0.0 && v[5] < 9e15 ? (uint64_t)v[5] : 0;
    return HF_OK;
}

static hf_status check_result(hf_context *ctx, const hf_study *study, const hfi_study_event *event,
                              uint64_t trials)
{
    if (event->id == 0 || event->id > trials) return damaged(ctx, event, "is of no trial");
    const hfi_trial *trial = hfi_study_find(study, event->id); /* NULL: it is new, and comes just before */
    if (event->kind == HFI_STUDY_EXPIRED) {
        if (trial != NULL && trial->state != HF_TRIAL_PENDING)
            return damaged(ctx, event, "is of a trial that is not pending");
        return HF_OK;
    }
    if (event->count != 2 * study->outcomes) return damaged(ctx, event, "has other numbers of values");
    if (trial != NULL && trial->state == HF_TRIAL_TOLD)
        return damaged(ctx, event, "is of a trial that has told its outcome");
    return check_outcomes(ctx, study, event, event->values);
}

static hf_status check_region(hf_context *ctx, const hf_study *study, const hfi_study_event *event)
{
    if (event->id >= study->regions || event->count != HFI_REGION_NUMBERS)
        return damaged(ctx, event, "is of no region");
    for (size_t i = 0; i < HFI_REGION_NUMBERS; i++)
        if (!(event->values[i] >= 0.0 && event->values[i] < 9e15))
            return damaged(ctx, event, "has numbers that no region has");
    return HF_OK;
}

static hf_status check_label(hf_context *ctx, const hf_study *study, const hfi_study_event *event)
{
    const hfi_trial *trial = hfi_study_find(study, event->id);
    if (trial == NULL || event->of >= study->outcomes || event->count != 3)
        return damaged(ctx, event, "is of no trial");
    const double *v = event->values;
    const bool label = v[0] == 0.0 || v[0] == 1.0 || v[0] == 2.0;
    if (!label || isinf(v[1]) || !(v[2] >= 0.0) || isinf(v[2]) || isnan(trial->value[event->of]))
        return damaged(ctx, event, "says what cannot be said of a reading");
    return HF_OK;
}

static hf_status prepare_study_event(hf_context *ctx, hf_study *study, const hfi_study_event *event,
                                     uint64_t *trials, prepared_event *p)
{
    hf_status s = HF_OK;
    switch (event->kind) {
    case HFI_STUDY_ASKED:
    case HFI_STUDY_ADDED:
    case HFI_STUDY_ADDED_FAILED:
        s = new_trial(ctx, study, event, *trials + 1, p);
        ++*trials;
        break;
    case HFI_STUDY_TOLD:
    case HFI_STUDY_FAILED:
    case HFI_STUDY_EXPIRED:
        s = check_result(ctx, study, event, *trials);
        break;
    case HFI_STUDY_FITTED:
        s = take_fitted(ctx, study, event, &p->fitted);
        break;
    case HFI_STUDY_REGION:
        s = check_region(ctx, study, event);
        break;
    case HFI_STUDY_LABELLED:
        s = check_label(ctx, study, event);
        break;
    case HFI_STUDY_KINDS:
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "an entry of no kind");
    }
    if (s >= 0 && event->text != NULL && event->text[0] != '\0') {
        p->note = hfi_memory_strdup(&study->memory, event->text);
        if (p->note == NULL) s = hfi_out_of_memory(ctx);
    }
    return s;
}

/* ---- applying: cannot fail ----------------------------------------------------------------------------- */

static void end_trial(hf_study *study, hfi_trial *trial, hf_trial_state state)
{
    study->pending -= trial->state == HF_TRIAL_PENDING;
    study->told -= trial->state == HF_TRIAL_TOLD;
    study->failed -= trial->state == HF_TRIAL_FAILED;
    trial->state = state;
    study->pending += state == HF_TRIAL_PENDING;
    study->told += state == HF_TRIAL_TOLD;
    study->failed += state == HF_TRIAL_FAILED;
}

static void hear(const hf_study *study, hfi_trial *trial, const hfi_study_event *event, const double *values,
                 prepared_event *p)
{
    const size_t o = study->outcomes;
    memcpy(trial->value, values, o * sizeof(double));
    memcpy(trial->noise, values + o, o * sizeof(double));
    trial->told = event->time;
    hfi_memory_free(&study->memory, trial->note);
    trial->note = p->note;
    p->note = NULL;
}

static void begin_trial(hf_study *study, const hfi_study_event *event, prepared_event *p)
{
    hfi_trial *trial = p->trial;
    p->trial = NULL;
    study->trial[study->trials++] = trial;
    const bool asked = event->kind == HFI_STUDY_ASKED;
    study->pending++; /* as end_trial() expects of a new one */
    if (asked) return;
    hear(study, trial, event, event->values + study->d, p);
    end_trial(study, trial, event->kind == HFI_STUDY_ADDED ? HF_TRIAL_TOLD : HF_TRIAL_FAILED);
    trial->fact = ++study->facts;
}

static hfi_region region_of(const double *v)
{
    return (hfi_region){.state = {.side = v[0],
                                  .successes = (size_t)v[1],
                                  .failures = (size_t)v[2],
                                  .failures_allowed = (size_t)v[3],
                                  .restarts = (size_t)v[4]},
                        .centre = (uint64_t)v[5],
                        .heard = (uint64_t)v[6]};
}

static void apply_study_event(hf_study *study, const hfi_study_event *event, prepared_event *p)
{
    hfi_trial *trial = hfi_study_find(study, event->id);
    study->changes++;
    switch (event->kind) {
    case HFI_STUDY_ASKED:
    case HFI_STUDY_ADDED:
    case HFI_STUDY_ADDED_FAILED:
        begin_trial(study, event, p);
        break;
    case HFI_STUDY_TOLD:
    case HFI_STUDY_FAILED:
        hear(study, trial, event, event->values, p);
        end_trial(study, trial, event->kind == HFI_STUDY_TOLD ? HF_TRIAL_TOLD : HF_TRIAL_FAILED);
        trial->fact = ++study->facts;
        break;
    case HFI_STUDY_EXPIRED:
        end_trial(study, trial, HF_TRIAL_EXPIRED);
        break;
    case HFI_STUDY_FITTED:
        hfi_fitted_free(&study->memory, &study->fitted[event->id]);
        study->fitted[event->id] = p->fitted;
        p->fitted = (hfi_fitted){0};
        break;
    case HFI_STUDY_REGION:
        study->region[event->id] = region_of(event->values);
        break;
    case HFI_STUDY_LABELLED:
        memcpy(trial->label + 3 * event->of, event->values, 3 * sizeof(double));
        trial->fact = ++study->facts;
        break;
    case HFI_STUDY_KINDS:
        break;
    }
    drop_prepared_event(&study->memory, p);
}

/* ---- the two ways -------------------------------------------------------------------------------------- */

hf_status hfi_study_replay(hf_context *ctx, hf_study *study, const hfi_study_event *event)
{
    prepared_event p = {0};
    uint64_t trials = study->trials;
    const hf_status s = prepare_study_event(ctx, study, event, &trials, &p);
    if (s < 0)
        drop_prepared_event(&study->memory, &p);
    else
        apply_study_event(study, event, &p);
    return s < 0 ? s : HF_OK;
}

hf_status hfi_study_writable(hf_context *ctx, const hf_study *study)
{
    if (!study->journalled || study->journal.append != NULL) return HF_OK;
    return hfi_refuse(ctx, "the study is open to look at only");
}

hf_status hfi_study_commit(hf_context *ctx, hf_study *study, size_t n, const hfi_study_event *news)
{
    const hf_status writable = hfi_study_writable(ctx, study);
    if (writable < 0) return writable;
    prepared_event *p = hfi_alloc(ctx, n, sizeof *p);
    if (p == NULL) return HF_ERR_MEMORY;
    hf_status s = grow_trial_list(ctx, study, n);
    uint64_t trials = study->trials;
    for (size_t i = 0; i < n && s >= 0; i++) s = prepare_study_event(ctx, study, &news[i], &trials, &p[i]);
    if (s >= 0 && study->journalled) s = study->journal.append(ctx, study->journal.user, n, news);
    for (size_t i = 0; i < n; i++) {
        if (s >= 0)
            apply_study_event(study, &news[i], &p[i]);
        else
            drop_prepared_event(&study->memory, &p[i]);
    }
    hfi_free(ctx, p);
    return s;
}

hf_status hfi_study_enter(hf_context *ctx, hf_study *study, bool lock)
{
    if (!study->journalled || study->journal.begin == NULL) return HF_OK;
    return study->journal.begin(ctx, study->journal.user, study, lock);
}

void hfi_study_leave(hf_study *study)
{
    if (study->journalled && study->journal.end != NULL) study->journal.end(study->journal.user);
}

void hfi_study_set_journal(hf_study *study, const hfi_study_journal *journal)
{
    study->journal = *journal;
    study->journalled = true;
}

const hfi_study_journal *hfi_study_get_journal(const hf_study *study)
{
    return study->journalled ? &study->journal : NULL;
}
