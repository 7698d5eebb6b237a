/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of calls about tracks in files fails once; see test_allocation.c. */
#include "api/sweep.h"
#include "api/track_files.h"

static hf_status create(workshop *w)
{
    const hf_track_settings settings = track_files_settings();
    hf_track *track = UNTOUCHED;
    const hf_status s =
        settled(hf_track_file_create(w->ctx, TRACK_FILE, &settings, "z", track_files_label, &track), track);
    if (s >= 0) {
        assert_string_equal(hf_track_target(track), "z");
        assert_string_equal(hf_track_candidate(track, 2), "c");
        hf_track_free(track);
    }
    assert_true((access(TRACK_FILE, F_OK) == 0) == (s >= 0));
    unlink(TRACK_FILE);
    return s;
}

static hf_status reopen(workshop *w)
{
    hf_track *track = UNTOUCHED;
    hf_track_free(track_files_make());
    const hf_status s = settled(hf_track_file_open(w->ctx, TRACK_FILE, true, &track), track);
    if (s >= 0) {
        assert_int_equal(track_files_told(track), 1);
        hf_track_free(track);
    }
    unlink(TRACK_FILE);
    return s;
}

/* A reading that could not be kept in the file did not happen to the track either. */
static hf_status tell(workshop *w)
{
    hf_track *track = track_files_make();
    const hf_status s = hf_track_tell(w->ctx, track, 1.0, track_files_place, 1.0, 0.0, NULL);
    assert_int_equal(track_files_told(track), s >= 0 ? 2 : 1);
    hf_track_free(track);
    unlink(TRACK_FILE);
    return s;
}

static hf_status tell_as_one(workshop *w)
{
    hf_track *track = track_files_make();
    hf_status s = hf_track_file_begin(w->ctx, track);
    for (int k = 0; k < 2 && s >= 0; k++)
        s = hf_track_tell(w->ctx, track, 1.0 + k, track_files_place, 1.0, 0.0, NULL);
    const hf_status ended = hf_track_file_end(w->ctx, track, s >= 0);
    assert_true(ended >= 0);
    hf_track_free(track);
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_track_file_open(ctx, TRACK_FILE, false, &track), HF_OK);
    assert_int_equal(track_files_told(track), s >= 0 ? 3 : 1);
    hf_track_free(track);
    hf_context_free(ctx);
    unlink(TRACK_FILE);
    return s;
}

static bool count(const hf_track_entry *entry, void *user)
{
    *(size_t *)user += entry->kind == HF_ENTRY_TOLD ? 1 : 0;
    return true;
}

static hf_status history(workshop *w)
{
    hf_track *track = track_files_make();
    size_t told = 0;
    const hf_status s = hf_track_file_history(w->ctx, track, count, &told);
    assert_true(s < 0 || told == 1);
    hf_track_free(track);
    unlink(TRACK_FILE);
    return s;
}

/* Readings that could not be taken back are still there. */
static hf_status undo(workshop *w)
{
    hf_track *track = track_files_make();
    hf_track_free(track);
    uint64_t removed = 12345;
    const hf_status s = hf_track_file_undo(w->ctx, TRACK_FILE, 1, &removed);
    assert_int_equal(removed, s >= 0 ? 1 : 12345);
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_track_file_open(ctx, TRACK_FILE, false, &track), HF_OK);
    assert_int_equal(track_files_told(track), s >= 0 ? 0 : 1);
    hf_track_free(track);
    hf_context_free(ctx);
    unlink(TRACK_FILE);
    return s;
}

static void files_of_tracks_survive(void **state)
{
    (void)state;
    RUN(CASE(create, 15), CASE(reopen, 15), CASE(tell, 1), CASE(tell_as_one, 2), CASE(history, 0),
        CASE(undo, 15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_tracks_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
