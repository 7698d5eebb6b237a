/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to calls about studies in files; see test_arguments.c. */
#include "api/refused.h"
#include "api/studies.h"

static bool never(const hf_study_entry *entry, void *user)
{
    (void)entry;
    (void)user;
    fail();
    return false;
}

static void files(workshop *w)
{
    const hf_study_settings settings = studies_settings();
    hf_study_settings bad = settings;
    bad.regions = 0;
    hf_study *out = NULL;
    ARGUMENT(hf_study_file_create(w->ctx, NULL, &settings, &out));
    ARGUMENT(hf_study_file_create(w->ctx, STUDY_FILE, NULL, &out));
    ARGUMENT(hf_study_file_create(w->ctx, STUDY_FILE, &settings, NULL));
    assert_int_equal(hf_study_file_create(NULL, STUDY_FILE, &settings, &out), HF_ERR_ARGUMENT);
    ARGUMENT(hf_study_file_create(w->ctx, STUDY_FILE, &bad, &out));
    ARGUMENT(hf_study_file_create(w->ctx, "-", &settings, &out));
    REFUSED(HF_ERR_IO, hf_study_file_create(w->ctx, "no/such/s.hf", &settings, &out));
    REFUSED(HF_ERR_IO, hf_study_file_create(w->ctx, w->csv, &settings, &out));
    ARGUMENT(hf_study_file_open(w->ctx, NULL, true, &out));
    ARGUMENT(hf_study_file_open(w->ctx, STUDY_FILE, true, NULL));
    assert_int_equal(hf_study_file_open(NULL, STUDY_FILE, true, &out), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_study_file_open(w->ctx, "no/such/s.hf", false, &out));
    REFUSED(HF_ERR_IO, hf_study_file_open(w->ctx, ".", false, &out));
    REFUSED(HF_ERR_MODEL_FILE, hf_study_file_open(w->ctx, w->csv, true, &out));
    REFUSED(HF_ERR_MODEL_FILE, hf_study_file_open(w->ctx, w->file, false, &out)); /* a model */
    uint64_t removed = 12345;
    ARGUMENT(hf_study_file_undo(w->ctx, NULL, 1, &removed));
    assert_int_equal(hf_study_file_undo(NULL, STUDY_FILE, 1, &removed), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_study_file_undo(w->ctx, "no/such/s.hf", 1, &removed));
    REFUSED(HF_ERR_IO, hf_study_file_undo(w->ctx, ".", 1, NULL));
    REFUSED(HF_ERR_MODEL_FILE, hf_study_file_undo(w->ctx, w->csv, 1, &removed));
    assert_int_equal(removed, 12345);
    assert_null(out);
    assert_int_not_equal(hf_file_type(STUDY_FILE), HF_FILE_STUDY);
}
REFUSED_TEST(files)

static void changes(workshop *w)
{
    hf_study *plain = studies_make(NULL), *study = studies_make(STUDY_FILE), *look = NULL;
    const double at[2] = {0.5, 0.0}, y = 1.0;
    assert_int_equal(hf_study_file_open(w->ctx, STUDY_FILE, false, &look), HF_OK);
    ARGUMENT(hf_study_file_begin(w->ctx, NULL));
    ARGUMENT(hf_study_file_begin(w->ctx, plain));
    ARGUMENT(hf_study_file_begin(w->ctx, look));
    assert_int_equal(hf_study_file_begin(NULL, study), HF_ERR_ARGUMENT);
    ARGUMENT(hf_study_file_end(w->ctx, NULL, true));
    ARGUMENT(hf_study_file_end(w->ctx, plain, true));
    ARGUMENT(hf_study_file_end(w->ctx, study, true));
    ARGUMENT(hf_study_file_patience(w->ctx, NULL, 1.0));
    ARGUMENT(hf_study_file_patience(w->ctx, plain, 1.0));
    ARGUMENT(hf_study_file_patience(w->ctx, study, -1.0));
    ARGUMENT(hf_study_file_patience(w->ctx, study, NAN));
    ARGUMENT(hf_study_add(w->ctx, look, at, &y, NULL, NULL, NULL));
    ARGUMENT(hf_study_tell(w->ctx, look, 7, &y, NULL, NULL));
    ARGUMENT(hf_study_fail(w->ctx, look, 7, NULL, NULL));
    ARGUMENT(hf_study_file_history(w->ctx, NULL, never, NULL));
    ARGUMENT(hf_study_file_history(w->ctx, plain, never, NULL));
    ARGUMENT(hf_study_file_history(w->ctx, study, NULL, NULL));
    assert_int_equal(hf_study_file_history(NULL, study, never, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_trials(study), STUDIES_TOLD + 1);
    assert_int_equal(studies_trial(study, 7).state, HF_TRIAL_PENDING);
    hf_study_free(plain);
    hf_study_free(look);
    hf_study_free(study);
    unlink(STUDY_FILE);
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
