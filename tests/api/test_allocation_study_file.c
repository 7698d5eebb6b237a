/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of calls about studies in files fails once; see test_allocation.c. */
#include "api/studies.h"
#include "api/sweep.h"

static hf_status create(workshop *w)
{
    const hf_study_settings settings = studies_settings();
    hf_study *study = UNTOUCHED;
    const hf_status s = settled(hf_study_file_create(w->ctx, STUDY_FILE, &settings, &study), study);
    if (s >= 0) hf_study_free(study);
    assert_true((access(STUDY_FILE, F_OK) == 0) == (s >= 0));
    unlink(STUDY_FILE);
    return s;
}

/* A file that calls which change nothing leave there: to make one takes long on some disks. */
static void have_file(void)
{
    if (access(STUDY_FILE, F_OK) != 0) hf_study_free(studies_make(STUDY_FILE));
}

static hf_status reopen(workshop *w)
{
    hf_study *study = UNTOUCHED;
    have_file();
    const hf_status s = settled(hf_study_file_open(w->ctx, STUDY_FILE, true, &study), study);
    if (s >= 0) {
        assert_int_equal(hf_study_trials(study), STUDIES_TOLD + 1);
        assert_string_equal(studies_trial(study, 1).note, "note");
        hf_study_free(study);
    }
    return s;
}

/* A reading that could not be kept in the file did not happen to the study either, and it goes on. */
static hf_status tell(workshop *w)
{
    hf_study *study = studies_make(STUDY_FILE);
    const double y = 0.25;
    hf_status s = hf_study_file_patience(w->ctx, study, 1.0);
    if (s >= 0) s = hf_study_tell(w->ctx, study, 7, &y, NULL, "told");
    assert_int_equal(studies_trial(study, 7).state, s >= 0 ? HF_TRIAL_TOLD : HF_TRIAL_PENDING);
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_study_tell(ctx, study, 7, &y, NULL, "told"), HF_OK);
    hf_context_free(ctx);
    hf_study_free(study);
    unlink(STUDY_FILE);
    return s;
}

static hf_status tell_as_one(workshop *w)
{
    hf_study *study = studies_make(STUDY_FILE);
    const double at[2] = {0.5, 1.0}, y = 0.25;
    hf_context *ctx = hf_context_create();
    hf_status s = hf_study_file_begin(w->ctx, study);
    const bool begun = s >= 0;
    for (int k = 0; k < 2 && s >= 0; k++) s = hf_study_add(w->ctx, study, at, &y, NULL, NULL, NULL);
    const hf_status ended = hf_study_file_end(w->ctx, study, s >= 0);
    assert_true(begun ? ended >= 0 : ended == HF_ERR_ARGUMENT);
    hf_study_free(study);
    assert_int_equal(hf_study_file_open(ctx, STUDY_FILE, false, &study), HF_OK);
    assert_int_equal(hf_study_trials(study), s >= 0 ? 9 : 7);
    hf_study_free(study);
    hf_context_free(ctx);
    unlink(STUDY_FILE);
    return s;
}

/* Others' entries, as far as they were read, are the study's; the rest comes with the next call. */
static hf_status catch_up(workshop *w)
{
    hf_study *study = studies_make(STUDY_FILE), *other = NULL;
    hf_context *ctx = hf_context_create();
    const double at[2] = {0.5, 1.0}, y = 0.25;
    uint64_t id = 0;
    assert_int_equal(hf_study_file_open(ctx, STUDY_FILE, true, &other), HF_OK);
    for (int k = 0; k < 2; k++)
        assert_int_equal(hf_study_add(ctx, other, at, &y, NULL, "theirs", NULL), HF_OK);
    const hf_status s = hf_study_add(w->ctx, study, at, &y, NULL, NULL, NULL);
    assert_int_equal(hf_study_add(ctx, study, at, &y, NULL, NULL, &id), HF_OK);
    assert_int_equal(id, s >= 0 ? 11 : 10);
    hf_study_free(other);
    hf_study_free(study);
    hf_context_free(ctx);
    unlink(STUDY_FILE);
    return s;
}

static bool count(const hf_study_entry *entry, void *user)
{
    *(size_t *)user += entry->kind == HF_STUDY_ENTRY_ADDED ? 1 : 0;
    return true;
}

static hf_status history(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_study *study = NULL;
    size_t added = 0;
    have_file();
    assert_int_equal(hf_study_file_open(ctx, STUDY_FILE, false, &study), HF_OK);
    const hf_status s = hf_study_file_history(w->ctx, study, count, &added);
    assert_true(s < 0 || added == STUDIES_TOLD);
    hf_study_free(study);
    hf_context_free(ctx);
    return s;
}

/* Trials that could not be taken back are still there. */
static hf_status undo(workshop *w)
{
    hf_study *study = NULL;
    have_file();
    uint64_t removed = 12345;
    const hf_status s = hf_study_file_undo(w->ctx, STUDY_FILE, 2, &removed);
    assert_int_equal(removed, s >= 0 ? 2 : 12345);
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_study_file_open(ctx, STUDY_FILE, false, &study), HF_OK);
    assert_int_equal(hf_study_trials(study), s >= 0 ? 5 : 7);
    hf_study_free(study);
    hf_context_free(ctx);
    if (s >= 0) unlink(STUDY_FILE);
    return s;
}

static void files_of_studies_survive(void **state)
{
    (void)state;
    RUN(CASE(create, 15), CASE(tell, 2), CASE(tell_as_one, 4), CASE(catch_up, 3), CASE(reopen, 15),
        CASE(history, 0), CASE(undo, 15));
    unlink(STUDY_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_studies_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
