/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to calls about tracks in files; see test_arguments.c. */
#include "api/refused.h"
#include "api/track_files.h"

#include <holdfast/envelope_file.h>

static bool never(const hf_track_entry *entry, void *user)
{
    (void)entry;
    (void)user;
    fail();
    return false;
}

static void files(workshop *w)
{
    const hf_track_settings settings = track_files_settings();
    hf_track_settings box = settings;
    const double low = 0.0, high = 1.0;
    box.domain = (hf_domain){.dimension = 1, .lower = &low, .upper = &high};
    const char *const few[3] = {"a", NULL, "c"}, *const twice[3] = {"a", "b", "a"};
    hf_track *out = NULL;
    ARGUMENT(hf_track_file_create(w->ctx, NULL, &settings, NULL, NULL, &out));
    ARGUMENT(hf_track_file_create(w->ctx, TRACK_FILE, NULL, NULL, NULL, &out));
    ARGUMENT(hf_track_file_create(w->ctx, TRACK_FILE, &settings, NULL, NULL, NULL));
    assert_int_equal(hf_track_file_create(NULL, TRACK_FILE, &settings, NULL, NULL, &out), HF_ERR_ARGUMENT);
    ARGUMENT(hf_track_file_create(w->ctx, TRACK_FILE, &settings, NULL, few, &out));
    ARGUMENT(hf_track_file_create(w->ctx, TRACK_FILE, &settings, NULL, twice, &out));
    ARGUMENT(hf_track_file_create(w->ctx, TRACK_FILE, &box, NULL, few, &out));
    ARGUMENT(hf_track_file_create(w->ctx, "-", &settings, NULL, NULL, &out));
    REFUSED(HF_ERR_IO, hf_track_file_create(w->ctx, "no/such/t.hf", &settings, NULL, NULL, &out));
    REFUSED(HF_ERR_IO, hf_track_file_create(w->ctx, w->csv, &settings, NULL, NULL, &out));
    ARGUMENT(hf_track_file_open(w->ctx, NULL, true, &out));
    ARGUMENT(hf_track_file_open(w->ctx, TRACK_FILE, true, NULL));
    assert_int_equal(hf_track_file_open(NULL, TRACK_FILE, true, &out), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_track_file_open(w->ctx, "no/such/t.hf", false, &out));
    REFUSED(HF_ERR_IO, hf_track_file_open(w->ctx, ".", false, &out));
    REFUSED(HF_ERR_MODEL_FILE, hf_track_file_open(w->ctx, w->csv, true, &out));
    uint64_t removed = 12345;
    ARGUMENT(hf_track_file_undo(w->ctx, NULL, 1, &removed));
    assert_int_equal(hf_track_file_undo(NULL, TRACK_FILE, 1, &removed), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_track_file_undo(w->ctx, "no/such/t.hf", 1, &removed));
    REFUSED(HF_ERR_IO, hf_track_file_undo(w->ctx, ".", 1, NULL));
    REFUSED(HF_ERR_MODEL_FILE, hf_track_file_undo(w->ctx, w->csv, 1, &removed));
    assert_int_equal(removed, 12345);
    assert_null(out);
    assert_int_not_equal(hf_file_type(TRACK_FILE), HF_FILE_TRACK);
}
REFUSED_TEST(files)

static void changes(workshop *w)
{
    const hf_track_settings settings = track_files_settings();
    hf_track *plain = NULL, *track = track_files_make();
    assert_int_equal(hf_track_create(w->ctx, &settings, &plain), HF_OK);
    ARGUMENT(hf_track_file_begin(w->ctx, NULL));
    ARGUMENT(hf_track_file_begin(w->ctx, plain));
    ARGUMENT(hf_track_file_end(w->ctx, NULL, true));
    ARGUMENT(hf_track_file_end(w->ctx, plain, true));
    ARGUMENT(hf_track_file_end(w->ctx, track, true));
    REFUSED(HF_ERR_IO, hf_track_file_undo(w->ctx, TRACK_FILE, 1, NULL));
    assert_int_equal(track_files_told(track), 1);
    ARGUMENT(hf_track_file_history(w->ctx, NULL, never, NULL));
    ARGUMENT(hf_track_file_history(w->ctx, plain, never, NULL));
    ARGUMENT(hf_track_file_history(w->ctx, track, NULL, NULL));
    assert_int_equal(hf_track_file_history(NULL, track, never, NULL), HF_ERR_ARGUMENT);
    assert_string_equal(hf_track_target(plain), "y");
    assert_string_equal(hf_track_target(NULL), "y");
    assert_null(hf_track_candidate(plain, 0));
    assert_null(hf_track_candidate(NULL, 0));
    assert_null(hf_track_candidate(track, 3));
    hf_track_free(plain);
    hf_track_free(track);
    unlink(TRACK_FILE);
}
REFUSED_TEST(changes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_refuse),
        cmocka_unit_test(changes_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
