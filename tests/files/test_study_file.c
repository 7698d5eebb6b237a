/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a study: the file holds what a call returned from; a study opened again goes on with the same
 * digits; several programs change it in turn; a file that is no study is refused. */
#include "files/study_files.h"

#include <holdfast/envelope_file.h>

/* ---- to the last digit ---------------------------------------------------------------------------------------- */

static void settings_of_every_sort_come_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < STUDY_KINDS; kind++) {
        scene s = scene_make();
        hf_study *study = study_files_create(s.ctx, kind, s.path);
        hf_context_set_seed(s.ctx, 4711); /* the file's seed counts, also where it is 0 */
        assert_same_as_file(s.ctx, study, s.path);
        assert_int_equal(hf_file_type(s.path), HF_FILE_STUDY);
        hf_study_free(study);
        assert_int_equal(folder_count(&s.in), 1);
        scene_end(&s);
    }
}

/* One of each kind of entry, numbers of every sort, notes, a value that is set aside. */
static void happen(hf_context *ctx, hf_study *study, size_t steps)
{
    const double at[2] = {-0.0, 0.1 + 0.2}, y = 1e-310, noise = 0.25;
    hf_proposal p[3];
    assert_true(hf_study_add_failed(ctx, study, at, NULL, "cracked", NULL) >= 0);
    assert_true(hf_study_add(ctx, study, at, &y, &noise, "\xc3\x85 past, \"one\"\nof two lines", NULL) >= 0);
    assert_true(hf_study_ask(ctx, study, 3, 1e9, p) >= 0);
    assert_true(hf_study_fail(ctx, study, p[1].trial, NULL, "melted") >= 0);
    studies_run(ctx, study, steps, studies_hill, NULL);
    assert_true(hf_study_ask(ctx, study, 1, 2e9, p) >= 0); /* the first trials expire */
}

static void same_proposal(hf_context *ctx, hf_study *a, hf_study *b)
{
    hf_proposal p, q;
    assert_true(hf_study_ask(ctx, a, 1, 3e9, &p) >= 0);
    assert_true(hf_study_ask(ctx, b, 1, 3e9, &q) >= 0);
    assert_true(p.trial == q.trial && p.reason == q.reason && p.repeats == q.repeats);
    const double left[] = {p.mean, p.sd, p.value}, right[] = {q.mean, q.sd, q.value};
    assert_same_numbers(left, right, 3);
    assert_same_trial(a, b, p.trial);
}

static void a_study_goes_on_from_its_file(void **state)
{
    (void)state;
    for (int kind = 0; kind < STUDY_KINDS; kind += 3) {
        scene s = scene_make();
        char copy[256];
        hf_study_settings settings = study_files_settings(kind);
        settings.expires = 5e8;
        hf_study *study = NULL, *again = NULL;
        assert_int_equal(hf_study_file_create(s.ctx, s.path, &settings, &study), HF_OK);
        happen(s.ctx, study, 14);
        assert_same_as_file(s.ctx, study, s.path);
        assert_true(study->fitted[0].readings > 0 && study->failed == 2 &&
                    (kind == 0 || study->region[0].heard > 0));
        copy_file(s.path, folder_file(&s.in, "copy.hf", copy));
        again = study_files_open(s.ctx, copy, true);
        same_proposal(s.ctx, study, again);
        assert_same_study(study, again);
        studies_run(s.ctx, study, 1, studies_hill, NULL); /* something new to learn for both */
        studies_run(s.ctx, again, 1, studies_hill, NULL);
        same_proposal(s.ctx, study, again);
        hf_study_free(study);
        hf_study_free(again);
        scene_end(&s);
    }
}

/* ---- several at once ------------------------------------------------------------------------------------------ */

static void programs_see_each_other(void **state)
{
    (void)state;
    scene s = scene_make();
    hf_study *a = study_files_create(s.ctx, 0, s.path), *b = study_files_open(s.ctx, s.path, true);
    hf_study *look = study_files_open(s.ctx, s.path, false);
    hf_proposal p, q;
    hf_best best;
    double at[2];
    for (int k = 0; k < 4; k++) {
        assert_true(hf_study_ask(s.ctx, a, 1, 1e9, &p) >= 0);
        assert_true(hf_study_ask(s.ctx, b, 1, 1e9, &q) >= 0);
        assert_int_equal(q.trial, p.trial + 1);
        const double y = (double)k, z = -y;
        assert_int_equal(hf_study_tell(s.ctx, b, p.trial, &y, NULL, "by the other"), HF_OK);
        assert_int_equal(hf_study_tell(s.ctx, a, p.trial, &y, NULL, NULL), HF_OK); /* told twice is once */
        assert_int_equal(hf_study_tell(s.ctx, a, q.trial, &z, NULL, NULL), HF_OK);
    }
    const double other = 17.0;
    assert_int_equal(hf_study_tell(s.ctx, b, q.trial, &other, NULL, NULL), HF_ERR_ARGUMENT);
    assert_true(hf_study_best(s.ctx, look, at, &best) >= 0);
    assert_int_equal(hf_study_trials(look), 8);
    assert_true(hf_study_best(s.ctx, b, at, &best) >= 0);
    assert_same_study(a, b);
    assert_same_study(a, look);
    assert_int_equal(hf_study_tell(s.ctx, look, 1, &other, NULL, NULL), HF_ERR_ARGUMENT);
    assert_says(s.ctx, "to look at");
    hf_study_free(a);
    hf_study_free(b);
    hf_study_free(look);
    assert_int_equal(folder_count(&s.in), 1);
    scene_end(&s);
}

static void a_file_is_never_made_over(void **state)
{
    (void)state;
    scene s = scene_make();
    hf_study *study = study_files_create(s.ctx, 0, s.path), *other = NULL;
    const hf_study_settings settings = study_files_settings(1);
    assert_int_equal(hf_study_file_create(s.ctx, s.path, &settings, &other), HF_ERR_IO);
    assert_says(s.ctx, "is there already");
    assert_null(other);
    assert_same_as_file(s.ctx, study, s.path);
    hf_study_free(study);
    scene_end(&s);
}

/* ---- many changes in one -------------------------------------------------------------------------------------- */

static void changes_in_one_are_whole(void **state)
{
    (void)state;
    scene s = scene_make();
    hf_study *a = study_files_create(s.ctx, 0, s.path), *b = study_files_open(s.ctx, s.path, true);
    const double y = 1.0, at[2] = {0.5, 0.5};
    assert_int_equal(hf_study_file_begin(s.ctx, a), HF_OK);
    assert_int_equal(hf_study_file_begin(s.ctx, a), HF_ERR_ARGUMENT);
    for (int k = 0; k < 5; k++) assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_OK);
    hf_study *look = study_files_open(s.ctx, s.path, false);
    assert_int_equal(hf_study_trials(look), 0);
    hf_study_free(look);
    assert_int_equal(hf_study_file_patience(s.ctx, b, 0.02), HF_OK);
    assert_int_equal(hf_study_add(s.ctx, b, at, &y, NULL, NULL, NULL), HF_ERR_IO);
    assert_says(s.ctx, "another program has been changing it for 0.02 seconds");
    assert_int_equal(hf_study_file_begin(s.ctx, b), HF_ERR_IO);
    assert_int_equal(hf_study_file_end(s.ctx, b, true), HF_ERR_ARGUMENT);
    assert_int_equal(hf_study_file_end(s.ctx, a, true), HF_OK);
    assert_int_equal(hf_study_add(s.ctx, b, at, &y, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_study_trials(b), 6);
    /* A change that was begun sees what others did before, and needs no lock of its own for each call. */
    assert_int_equal(hf_study_file_begin(s.ctx, a), HF_OK);
    assert_int_equal(hf_study_trials(a), 6);
    assert_int_equal(hf_study_file_end(s.ctx, a, false), HF_OK); /* nothing was changed: it goes on */
    assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_study_file_begin(s.ctx, a), HF_OK);
    assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_study_file_end(s.ctx, a, false), HF_OK);
    assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_says(s.ctx, "open the study again");
    hf_study_free(a);
    hf_study_free(b);
    a = study_files_open(s.ctx, s.path, true);
    assert_int_equal(hf_study_trials(a), 7);
    hf_study_free(a);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_of_every_sort_come_back), cmocka_unit_test(a_study_goes_on_from_its_file),
        cmocka_unit_test(programs_see_each_other),          cmocka_unit_test(a_file_is_never_made_over),
        cmocka_unit_test(changes_in_one_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
