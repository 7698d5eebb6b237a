/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request_list.h
 * @brief A list of requests, and where they are. Include after <cmocka.h>.
 */
#ifndef TESTS_TRACK_REQUEST_LIST_H
#define TESTS_TRACK_REQUEST_LIST_H

#include "track/tracks.h"

enum {
    LIST_MOST = 40
};

typedef struct request_list {
    hf_track_request r[LIST_MOST];
    double x[LIST_MOST];
    size_t count;
} request_list;

/** The requests for `time`: the newest list. */
static inline request_list ask_for(hf_context *ctx, hf_track *track, double time)
{
    request_list list = {.count = 0};
    if (hf_track_requests(ctx, track, time, &list.count) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    assert_true(list.count <= LIST_MOST);
    const size_t from = hf_track_pending_count(track) - list.count;
    for (size_t k = 0; k < list.count; k++) {
        assert_int_equal(hf_track_request_at(track, from + k, &list.r[k]), HF_OK);
        assert_near(list.r[k].time, time, 0.0);
        list.x[k] = list.r[k].x[0];
    }
    return list;
}

#endif
