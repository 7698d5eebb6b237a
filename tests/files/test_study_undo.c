/* SPDX-License-Identifier: Apache-2.0 */
/* A trial that is taken back has never been told to the study, and nothing that was learnt from it stays. Where
 * taking back fails, the file is left alone. */
#include "files/study_files.h"

/* ---- a life --------------------------------------------------------------------------------------------------- */

enum {
    CHANGES = 16
};

/* Change k of a life that has entries of every kind; how many that counts for. */
static uint64_t change(hf_context *ctx, hf_study *study, int k)
{
    const double at[2] = {0.1 * k, 0.2 * k}, y = sin((double)k), wrong = 1e6;
    const uint64_t before = study->trials;
    hf_proposal p[2];
    hf_status s = HF_OK;
    uint64_t count = 1;
    switch (k) {
    case 8:
        s = hf_study_ask(ctx, study, 2, 1e9, p);
        count = 2;
        break;
    case 9:
        s = hf_study_fail(ctx, study, before, &y, "melted");
        break;
    case 10:
        s = hf_study_tell(ctx, study, before - 1, &wrong, NULL, "wrong");
        break;
    case 11:
    case 13:
        s = hf_study_ask(ctx, study, 1, 2e9, p);
        break;
    case 14: /* the trial of change 13 expires, and what is learnt is written with it */
        s = hf_study_add(ctx, study, at, &y, NULL, NULL, NULL);
        break;
    case 15:
        s = hf_study_ask(ctx, study, 1, 3e9, p);
        count = 2;
        break;
    case 12:
        s = hf_study_tell(ctx, study, before, &y, NULL, NULL);
        break;
    default:
        s = hf_study_add(ctx, study, at, &y, NULL, "past", NULL);
    }
    if (s < 0) fail_msg("change %d: %s", k, hf_context_message(ctx));
    return count;
}

/* A file with a whole life in it, closed, and what it was before each change. */
typedef struct life {
    scene s;
    char *before[CHANGES + 1]; /* content; the last: at the end */
    uint64_t count[CHANGES];
} life;

static life live(void)
{
    life l = {.s = scene_make()};
    hf_study_settings settings = studies_settings(2, studies_plane, &studies_gain);
    settings.expires = 9e8;
    settings.reach = HF_REACH_REGIONS;
    hf_study *study = NULL;
    assert_int_equal(hf_study_file_create(l.s.ctx, l.s.path, &settings, &study), HF_OK);
    for (int k = 0; k <= CHANGES; k++) {
        l.before[k] = database_content(l.s.path);
        if (k < CHANGES) l.count[k] = change(l.s.ctx, study, k);
    }
    hf_study_free(study);
    return l;
}

static void life_free(life *l)
{
    for (int k = 0; k <= CHANGES; k++) sqlite3_free(l->before[k]);
    scene_end(&l->s);
}

static uint64_t undo(scene *s, uint64_t entries)
{
    uint64_t removed = 12345;
    if (hf_study_file_undo(s->ctx, s->path, entries, &removed) < 0)
        fail_msg("%s", hf_context_message(s->ctx));
    assert_int_equal(folder_count(&s->in), 1);
    return removed;
}

/* ---- what goes and what stays --------------------------------------------------------------------------------- */

static void one_after_another_is_taken_back(void **state)
{
    (void)state;
    life l = live();
    for (int k = CHANGES - 1; k >= 0; k--) {
        assert_int_equal(undo(&l.s, l.count[k]), l.count[k]);
        assert_content(l.s.path, l.before[k]);
    }
    assert_int_equal(undo(&l.s, 1), 0);
    assert_content(l.s.path, l.before[0]);
    hf_study *study = study_files_open(l.s.ctx, l.s.path, true);
    (void)change(l.s.ctx, study, 0);
    assert_int_equal(study->trials, 1);
    hf_study_free(study);
    life_free(&l);
}

static void many_are_taken_back_at_once(void **state)
{
    (void)state;
    life l = live();
    uint64_t all = 0;
    for (int k = 0; k < CHANGES; k++) all += l.count[k];
    assert_int_equal(undo(&l.s, 0), 0);
    assert_content(l.s.path, l.before[CHANGES]);
    assert_int_equal(undo(&l.s, l.count[15] + l.count[14] + l.count[13]), 4);
    assert_content(l.s.path, l.before[13]);
    assert_int_equal(undo(&l.s, UINT64_MAX), all - 4);
    assert_content(l.s.path, l.before[0]);
    life_free(&l);
}

/* The last trials of a batch can go alone, and what was learnt for it stays with the first. */
static void a_part_of_a_batch_can_go(void **state)
{
    (void)state;
    life l = live();
    assert_int_equal(undo(&l.s, 9), 9);
    hf_study *study = study_files_open(l.s.ctx, l.s.path, true);
    assert_int_equal(study->trials, 9);
    assert_int_equal(study->pending, 1);
    assert_true(study->fitted[0].readings == 8 && study->fitted[0].facts == 8);
    hf_study_free(study);
    life_free(&l);
}

/* Wherever the journal is cut. */
static void nothing_that_was_learnt_of_what_went_stays(void **state)
{
    (void)state;
    life l = live();
    for (uint64_t left = 18; left > 0; left--) {
        hf_study *study = study_files_open(l.s.ctx, l.s.path, false);
        for (size_t o = 0; o <= study->outcomes; o++) {
            const hfi_fitted *f = &study->fitted[o];
            assert_true(f->facts <= study->facts);
            for (size_t i = 0; i < f->aside + f->doubted; i++)
                assert_true(f->trial[i] <= (double)study->trials);
        }
        for (size_t r = 0; r < study->regions; r++)
            assert_true(study->region[r].heard <= study->facts && study->region[r].centre <= study->trials);
        hf_study_free(study);
        assert_int_equal(undo(&l.s, 1), 1);
    }
    assert_content(l.s.path, l.before[0]);
    life_free(&l);
}

/* ---- who has it open ------------------------------------------------------------------------------------------ */

static void who_has_it_open_is_told(void **state)
{
    (void)state;
    scene s = scene_make();
    hf_study *a = study_files_create(s.ctx, 0, s.path), *b = study_files_open(s.ctx, s.path, false);
    const double at[2] = {0.5, 0.5}, y = 1.0;
    for (int k = 0; k < 3; k++) assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_OK);
    /* b knows nothing of what goes, and sees nothing of it. */
    assert_int_equal(hf_study_file_begin(s.ctx, a), HF_OK);
    assert_int_equal(hf_study_file_undo(s.ctx, s.path, 1, NULL), HF_ERR_IO);
    assert_says(s.ctx, "another program");
    assert_int_equal(hf_study_file_end(s.ctx, a, true), HF_OK);
    assert_int_equal(hf_study_file_undo(s.ctx, s.path, 1, NULL), HF_OK);
    assert_int_equal(hf_study_add(s.ctx, a, at, &y, NULL, NULL, NULL), HF_ERR_IO);
    assert_says(s.ctx, "open it again");
    hf_best best;
    double place[2];
    assert_true(hf_study_best(s.ctx, b, place, &best) >= 0);
    assert_int_equal(hf_study_trials(b), 2);
    /* Also where as many new ones have come. */
    hf_study *c = study_files_open(s.ctx, s.path, true);
    assert_int_equal(hf_study_file_undo(s.ctx, s.path, 1, NULL), HF_OK);
    hf_study_free(c);
    c = study_files_open(s.ctx, s.path, true);
    assert_int_equal(hf_study_add(s.ctx, c, at, &y, NULL, "another", NULL), HF_OK);
    assert_int_equal(hf_study_best(s.ctx, b, place, &best), HF_ERR_IO);
    assert_int_equal(hf_study_trials(c), 2);
    hf_study_free(a);
    hf_study_free(b);
    hf_study_free(c);
    scene_end(&s);
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

static void spoil(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void damaged_entries_are_taken_back(void **state)
{
    (void)state;
    life l = live();
    hf_study *study = NULL;
    uint64_t removed = 12345;
    spoil(l.s.path,
          "UPDATE journal SET payload = zeroblob(9) WHERE number = (SELECT max(number) FROM journal "
          "WHERE kind = 'added')");
    assert_int_equal(hf_study_file_open(l.s.ctx, l.s.path, true, &study), HF_ERR_MODEL_FILE);
    assert_says(l.s.ctx, "damaged: entry ");
    assert_int_equal(hf_study_file_undo(l.s.ctx, l.s.path, 1, &removed), HF_ERR_MODEL_FILE);
    assert_says(l.s.ctx, "taking back the last 3 entries helps");
    assert_int_equal(removed, 12345);
    assert_int_equal(undo(&l.s, 3), 3);
    assert_content(l.s.path, l.before[14]);
    study = study_files_open(l.s.ctx, l.s.path, true);
    (void)change(l.s.ctx, study, 14);
    hf_study_free(study);
    life_free(&l);
}

/* ---- history -------------------------------------------------------------------------------------------------- */

typedef struct told {
    char text[64];
    uint64_t last;
    size_t stop;
} told;

static bool write_down(const hf_study_entry *entry, void *user)
{
    told *t = user;
    const size_t at = strlen(t->text);
    t->text[at] = "aptfx"[entry->kind];
    assert_true(entry->number > t->last && entry->trial >= 1 && entry->time > 0.0);
    t->last = entry->number;
    assert_true((entry->value != NULL) == (strchr("ptf", t->text[at]) != NULL));
    const double value = entry->value != NULL ? entry->value[0] : NAN;
    if (t->text[at] == 'f') assert_true(value == sin(9.0) && entry->trial == 10);
    if (t->text[at] == 't' && entry->trial == 9) assert_true(value == 1e6);
    if (at == 0) assert_true(value == 0.0);
    assert_string_equal(entry->note, t->text[at] == 'f'                        ? "melted"
                                     : t->text[at] == 't' && entry->trial == 9 ? "wrong"
                                     : t->text[at] == 'p' && entry->trial < 9  ? "past"
                                                                               : "");
    return at + 1 != t->stop;
}

static void history_has_what_happened(void **state)
{
    (void)state;
    life l = live();
    told all = {.text = "", .stop = 99}, some = {.text = "", .stop = 4};
    hf_study *study = study_files_open(l.s.ctx, l.s.path, false);
    assert_int_equal(hf_study_file_history(l.s.ctx, study, write_down, &all), HF_OK);
    assert_string_equal(all.text, "ppppppppaaftatapxa");
    assert_int_equal(hf_study_file_history(l.s.ctx, study, write_down, &some), HF_OK);
    assert_string_equal(some.text, "pppp");
    hf_study_free(study);
    life_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_another_is_taken_back),
        cmocka_unit_test(many_are_taken_back_at_once),
        cmocka_unit_test(a_part_of_a_batch_can_go),
        cmocka_unit_test(nothing_that_was_learnt_of_what_went_stays),
        cmocka_unit_test(who_has_it_open_is_told),
        cmocka_unit_test(damaged_entries_are_taken_back),
        cmocka_unit_test(history_has_what_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
