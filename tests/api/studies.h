/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file studies.h
 * @brief A small study, in memory or in a file, for sweeps over the calls about studies.
 */
#ifndef TESTS_API_STUDIES_H
#define TESTS_API_STUDIES_H

#include "api/workshop.h"

#include <stdio.h>
#include <unistd.h>

/* Test programs that run side by side share a folder: each has a file of its own. */
#define STUDY_FILE study_files_name()

static inline const char *study_files_name(void)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "api-study-file-%ld.hf", (long)getpid());
    return name;
}

enum {
    STUDIES_TOLD = 6
};

static const char *const studies_paint[2] = {"red", "green"};
static const hf_variable studies_variable[2] = {
    {.name = "a", .upper = 1.0},
    {.name = "paint", .kind = HF_VARIABLE_ORDERED, .levels = 2, .level = studies_paint}};
static const hf_outcome studies_outcome = {.name = "gain", .goal = HF_GOAL_MAXIMISE};

static inline hf_study_settings studies_settings(void)
{
    hf_study_settings settings = hf_study_settings_default();
    settings.variables = 2;
    settings.variable = studies_variable;
    settings.outcomes = 1;
    settings.outcome = &studies_outcome;
    settings.preset = "gp";
    settings.kernel = "0.1*se(lengthscale=0.4)";
    settings.start = STUDIES_TOLD + 1; /* the first trial that is asked needs no surrogate */
    settings.draws = 4;
    settings.seed = 3;
    return settings;
}

/* Trials 1 to 6 told, trial 7 pending; made with a context of its own, so no failing allocation has
 * a part in it. `path` NULL: in memory. */
static inline hf_study *studies_make(const char *path)
{
    hf_context *ctx = hf_context_create();
    const hf_study_settings settings = studies_settings();
    hf_study *study = NULL;
    hf_proposal p;
    hf_status s = path != NULL ? hf_study_file_create(ctx, path, &settings, &study)
                               : hf_study_create(ctx, &settings, &study);
    /* one by one is slow on some disks */
    if (s >= 0 && path != NULL) s = hf_study_file_begin(ctx, study);
    for (int i = 0; i < STUDIES_TOLD && s >= 0; i++) {
        const double at[2] = {0.17 * i, (double)(i % 2)}, y = at[0] * (1.0 - at[0]);
        s = hf_study_add(ctx, study, at, &y, NULL, i == 0 ? "note" : NULL, NULL);
    }
    if (s >= 0) s = hf_study_ask(ctx, study, 1, 1e9, &p);
    if (s >= 0 && path != NULL) s = hf_study_file_end(ctx, study, true);
    if (s < 0) fail_msg("%s", hf_context_message(ctx));
    hf_context_free(ctx);
    return study;
}

static inline hf_trial studies_trial(const hf_study *study, uint64_t id)
{
    hf_trial trial;
    assert_int_equal(hf_study_trial(NULL, study, id, &trial), HF_OK);
    return trial;
}

#endif
