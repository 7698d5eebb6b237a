/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_files.h
 * @brief A small track in a file, for sweeps over the calls about such files.
 */
#ifndef TESTS_API_TRACK_FILES_H
#define TESTS_API_TRACK_FILES_H

#include "api/workshop.h"

#include <holdfast/track_file.h>
#include <stdio.h>
#include <unistd.h>

/* Test programs that run side by side share a folder: each has a file of its own. */
#define TRACK_FILE track_files_name()

static inline const char *track_files_name(void)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "api-track-file-%ld.hf", (long)getpid());
    return name;
}

static const double track_files_place[3] = {0.0, 1.0, 3.0};
static const char *const track_files_label[3] = {"a", "b", "c"};

static inline hf_track_settings track_files_settings(void)
{
    hf_track_settings settings = hf_track_settings_default(HF_TRACK_SPARQ_REUSE);
    settings.domain = (hf_domain){.dimension = 1, .candidates = 3, .points = track_files_place};
    settings.resolution = 0.0;
    settings.age.rate = 0.1;
    settings.robust = 0.0;
    return settings;
}

/* A track that no failing allocation had a part in, with a reading; made with a context of its
 * own. */
static inline hf_track *track_files_make(void)
{
    hf_context *ctx = hf_context_create();
    const hf_track_settings settings = track_files_settings();
    hf_track *track = NULL;
    assert_int_equal(
        hf_track_file_create(ctx, TRACK_FILE, &settings, "z", track_files_label, &track), HF_OK);
    assert_int_equal(hf_track_tell(ctx, track, 0.0, &track_files_place[1], 2.0, 0.0, NULL), HF_OK);
    hf_context_free(ctx);
    return track;
}

static inline uint64_t track_files_told(const hf_track *track)
{
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    return summary.told;
}

#endif
