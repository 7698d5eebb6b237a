/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file studies.h
 * @brief Small studies for tests: spaces, objectives, and a journal in memory.
 */
#ifndef TESTS_STUDY_STUDIES_H
#define TESTS_STUDY_STUDIES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const studies_size[3] = {"small", "medium", "large"};
static const char *const studies_paint[4] = {"red", "green", "blue", "none"};

/* Two numbers in [-1, 2] and [0, 3]. */
static const hf_variable studies_plane[2] = {{.name = "a", .lower = -1.0, .upper = 2.0},
                                             {.name = "b", .lower = 0.0, .upper = 3.0}};
/* One of each kind. */
static const hf_variable studies_mixed[5] = {
    {.name = "rate", .lower = 1e-4, .upper = 1.0, .log = true},
    {.name = "count", .kind = HF_VARIABLE_INTEGER, .lower = -3.0, .upper = 9.0},
    {.name = "size", .kind = HF_VARIABLE_ORDERED, .levels = 3, .level = studies_size},
    {.name = "paint", .kind = HF_VARIABLE_CATEGORY, .levels = 4, .level = studies_paint},
    {.name = "depth", .kind = HF_VARIABLE_INTEGER, .lower = 1.0, .upper = 1000.0, .log = true}};

static const hf_outcome studies_gain = {.name = "gain", .goal = HF_GOAL_MAXIMISE};
static const hf_outcome studies_loss = {.name = "loss", .goal = HF_GOAL_MINIMISE};

static inline hf_study_settings studies_settings(size_t variables, const hf_variable *variable,
                                                 const hf_outcome *outcome)
{
    hf_study_settings s = hf_study_settings_default();
    s.variables = variables;
    s.variable = variable;
    s.outcomes = 1;
    s.outcome = outcome;
    s.seed = 7;
    return s;
}

static inline hf_study *studies_create(hf_context *ctx, const hf_study_settings *s)
{
    hf_study *study = NULL;
    if (hf_study_create(ctx, s, &study) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return study;
}

/* Largest at (0.7, 1.9), where it is 0. */
static inline double studies_hill(const double *at)
{
    const double a = at[0] - 0.7, b = at[1] - 1.9;
    return -(a * a + 0.5 * b * b + 0.3 * a * b);
}

/* Asks and tells `steps` times. `wrong` (or NULL) may change what is told. */
static inline void studies_run(hf_context *ctx, hf_study *study, size_t steps,
                               double (*value)(const double *at),
                               double (*wrong)(double y, size_t step))
{
    for (size_t k = 0; k < steps; k++) {
        hf_proposal p;
        hf_trial t;
        if (hf_study_ask(ctx, study, 1, 1e9 + (double)k, &p) < 0)
            fail_msg("%s", hf_context_message(ctx));
        assert_true(hf_study_trial(ctx, study, p.trial, &t) >= 0);
        double y = value(t.at);
        if (wrong != NULL) y = wrong(y, k);
        if (hf_study_tell(ctx, study, p.trial, &y, NULL, NULL) < 0)
            fail_msg("%s", hf_context_message(ctx));
    }
}

/* ---- a journal in memory --------------------------------------------------------------------- */

enum {
    STUDIES_EVENTS = 512,
    STUDIES_NUMBERS = 16384
};

typedef struct studies_log {
    size_t count, used;
    hfi_study_event event[STUDIES_EVENTS];
    double number[STUDIES_NUMBERS];
} studies_log;

static inline hf_status studies_append(hf_context *ctx, void *user, size_t count,
                                       const hfi_study_event *events)
{
    (void)ctx;
    studies_log *log = user;
    for (size_t i = 0; i < count; i++) {
        assert_true(log->count < STUDIES_EVENTS);
        assert_true(log->used + events[i].count <= STUDIES_NUMBERS);
        hfi_study_event *e = &log->event[log->count++];
        *e = events[i];
        e->values = log->number + log->used;
        e->text = NULL;
        if (e->count > 0)
            memcpy(log->number + log->used, events[i].values, e->count * sizeof(double));
        log->used += e->count;
    }
    return HF_OK;
}

static inline void studies_log_to(hf_study *study, studies_log *log)
{
    const hfi_study_journal journal = {.append = studies_append, .user = log};
    hfi_study_set_journal(study, &journal);
}

#endif
