/* SPDX-License-Identifier: Apache-2.0 */
/* A change that is taken back has never been told: file and suggestions are those before it. Where that fails, the
 * file is left alone. */
#include "database_content.h"
#include "store/seals.h"

#include "files/track_store.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- a life --------------------------------------------------------------------------------------------------- */

enum {
    CHANGES = 18,
    LIST = 3 /* requests on a list */
};

static hf_track *created(hf_context *ctx, const char *path, double enough)
{
    static const double lower[2] = {-5.0, 0.0}, upper[2] = {5.0, 2.0};
    hf_track_settings s = hf_track_settings_default(HF_TRACK_SPARQ_REUSE);
    s.domain = (hf_domain){.dimension = 2, .lower = lower, .upper = upper};
    s.samples = 64;
    s.age.rate = 0.1;
    s.queries = LIST;
    s.tolerance = enough;
    hf_track *track = NULL;
    if (hf_track_file_create(ctx, path, &s, NULL, NULL, &track) < 0) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static hf_track *opened(hf_context *ctx, const char *path, bool write)
{
    hf_track *track = NULL;
    if (hf_track_file_open(ctx, path, write, &track) < 0) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static hf_status answer(hf_context *ctx, hf_track *track)
{
    hf_track_request request;
    assert_int_equal(hf_track_request_at(track, hf_track_pending_count(track) - 1, &request), HF_OK);
    return hf_track_answer(ctx, track, request.id, NAN, cos(request.x[0]), 0.0);
}

/* Change k of a life that has entries of every kind. */
static void change(hf_context *ctx, hf_track *track, int k)
{
    const double x[2] = {-4.0 + 0.6 * (double)k, 0.1 * (double)k};
    double place[2];
    hf_suggestion suggestion;
    size_t count = 0;
    hf_status status = HF_OK;
    switch (k) {
    case 9:
    case 15:
        status = hf_track_requests(ctx, track, (double)k, &count);
        assert_int_equal(count, LIST);
        break;
    case 10:
    case 16:
        status = answer(ctx, track);
        break;
    case 11:
    case 17:
        status = hf_track_ask(ctx, track, (double)k, place, &suggestion);
        break;
    case 12:
        status = hf_track_record_optimum(ctx, track, 11.0, 2.0, 1.5);
        break;
    case 13:
        status = hf_track_fit(ctx, track);
        break;
    case 14:
        status = hf_track_tell(ctx, track, 12.5, x, 40.0, 0.5, NULL);
        break;
    default:
        status = hf_track_tell(ctx, track, (double)k, x, sin(x[0]), 0.0, NULL);
    }
    if (status < 0) fail_msg("change %d: %s", k, hf_context_message(ctx));
}

static bool count_entry(const hf_track_entry *entry, void *user)
{
    (void)entry;
    ++*(uint64_t *)user;
    return true;
}

static uint64_t history_length(hf_context *ctx, const hf_track *track)
{
    uint64_t count = 0;
    assert_int_equal(hf_track_file_history(ctx, track, count_entry, &count), HF_OK);
    return count;
}

/* A file with a whole life in it, closed, and what it was before each change. */
typedef struct life {
    hf_context *ctx;
    folder scratch;
    char path[256];
    char *before[CHANGES + 1];     /* content; the last: at the end */
    uint64_t length[CHANGES + 1];  /* of the history */
    uint64_t entries[CHANGES + 1]; /* of the journal, list heads too */
} life;

static life live(void)
{
    life l = {.ctx = hf_context_create(), .scratch = folder_make()};
    hf_track *track = created(l.ctx, folder_file(&l.scratch, "t.hf", l.path), 0.5);
    for (int k = 0; k <= CHANGES; k++) {
        l.before[k] = database_content(l.path);
        l.length[k] = history_length(l.ctx, track);
        l.entries[k] = hfi_track_store_of(track)->ledger->entries;
        if (k < CHANGES) change(l.ctx, track, k);
    }
    hf_track_free(track);
    return l;
}

static void life_free(life *l)
{
    for (int k = 0; k <= CHANGES; k++) sqlite3_free(l->before[k]);
    folder_remove(&l->scratch);
    hf_context_free(l->ctx);
}

static uint64_t undo(life *l, uint64_t entries)
{
    uint64_t removed = 12345;
    if (hf_track_file_undo(l->ctx, l->path, entries, &removed) < 0)
        fail_msg("%s", hf_context_message(l->ctx));
    assert_int_equal(folder_count(&l->scratch), 1);
    return removed;
}

/* ---- what goes and what stays --------------------------------------------------------------------------------- */

static void one_after_another_is_taken_back(void **state)
{
    (void)state;
    life l = live();
    for (int k = CHANGES - 1; k >= 0; k--) {
        assert_int_equal(undo(&l, 1), l.length[k + 1] - l.length[k]);
        assert_content(l.path, l.before[k]);
    }
    assert_int_equal(undo(&l, 1), 0);
    assert_content(l.path, l.before[0]);
    hf_track *track = opened(l.ctx, l.path, true);
    change(l.ctx, track, 0);
    hf_track_free(track);
    assert_content(l.path, l.before[1]);
    life_free(&l);
}

static void many_are_taken_back_at_once(void **state)
{
    (void)state;
    life l = live();
    char kept[256];
    copy_file(l.path, folder_file(&l.scratch, "kept", kept));
    const uint64_t all = l.length[CHANGES];
    for (uint64_t n = 0; n <= all + 2; n++) {
        uint64_t removed = 0;
        copy_file(kept, l.path);
        assert_int_equal(hf_track_file_undo(l.ctx, l.path, n, n % 2 == 0 ? &removed : NULL), HF_OK);
        int k = CHANGES; /* the change that the cut comes before */
        while (k > 0 && all - l.length[k] < n) k--;
        if (n % 2 == 0) assert_int_equal(removed, all - l.length[k]);
        assert_content(l.path, l.before[k]);
    }
    copy_file(kept, l.path);
    uint64_t removed = 0;
    assert_int_equal(hf_track_file_undo(l.ctx, l.path, UINT64_MAX, &removed), HF_OK);
    assert_int_equal(removed, all);
    assert_content(l.path, l.before[0]);
    life_free(&l);
}

static void it_suggests_what_it_would_have(void **state)
{
    (void)state;
    life l = live();
    char other[256];
    hf_track *never = created(l.ctx, folder_file(&l.scratch, "u.hf", other), 0.5);
    const int stays = 12;
    for (int k = 0; k < stays; k++) change(l.ctx, never, k);
    uint64_t removed = 0;
    assert_int_equal(hf_track_file_undo(l.ctx, l.path, l.length[CHANGES] - l.length[stays], &removed), HF_OK);
    assert_int_equal(removed, l.length[CHANGES] - l.length[stays]);
    hf_track *track = opened(l.ctx, l.path, true);
    for (int k = 0; k < 4; k++) {
        double a[2], b[2];
        hf_suggestion p, q;
        const double time = 12.0 + (double)k;
        size_t left = 0, right = 0;
        assert_true(hf_track_requests(l.ctx, track, time, &left) >= 0 &&
                    hf_track_requests(l.ctx, never, time, &right) >= 0);
        assert_true(left == right && left > 0);
        assert_true(answer(l.ctx, track) >= 0 && answer(l.ctx, never) >= 0);
        assert_true(hf_track_ask(l.ctx, track, time, a, &p) >= 0 &&
                    hf_track_ask(l.ctx, never, time, b, &q) >= 0);
        assert_memory_equal(a, b, sizeof a);
        assert_true(p.mean == q.mean && p.sd == q.sd && p.bound == q.bound && p.beta == q.beta &&
                    p.readings == q.readings && p.answers == q.answers);
        assert_true(hf_track_tell(l.ctx, track, time, a, 1.0, 0.0, NULL) >= 0 &&
                    hf_track_tell(l.ctx, never, time, b, 1.0, 0.0, NULL) >= 0);
    }
    hf_track_free(track);
    hf_track_free(never);
    char *expected = database_content(other);
    assert_content(l.path, expected);
    sqlite3_free(expected);
    life_free(&l);
}

/* A list that the expert had nothing on is no entry of its own. */
static void a_list_without_requests_goes_with_what_it_follows(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, folder_file(&scratch, "t.hf", path), 1e9);
    char *empty = database_content(path);
    size_t count = 0;
    uint64_t removed = 0;
    change(ctx, track, 0);
    assert_true(hf_track_requests(ctx, track, 1.0, &count) >= 0);
    assert_int_equal(count, 0);
    assert_int_equal(hfi_track_store_of(track)->ledger->entries, 2);
    char *listed = database_content(path);
    change(ctx, track, 1);
    hf_track_free(track);
    assert_int_equal(hf_track_file_undo(ctx, path, 1, &removed), HF_OK);
    assert_int_equal(removed, 1);
    assert_content(path, listed);
    assert_int_equal(hf_track_file_undo(ctx, path, 1, &removed), HF_OK);
    assert_int_equal(removed, 1);
    assert_content(path, empty);
    sqlite3_free(empty);
    sqlite3_free(listed);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

static void spoil(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    sqlite3_close(db);
}

static void assert_closed(life *l)
{
    hf_track *track = NULL;
    assert_int_equal(hf_track_file_open(l->ctx, l->path, true, &track), HF_ERR_MODEL_FILE);
    assert_null(track);
}

/* How many have to go, by the message. */
static uint64_t needed(const life *l)
{
    static const char start[] = "taking back the last ";
    const char *words = strstr(hf_context_message(l->ctx), start);
    if (words == NULL) fail_msg("%s", hf_context_message(l->ctx));
    return words != NULL ? strtoull(words + strlen(start), NULL, 10) : 0;
}

/* A tail that is damaged goes when enough is taken back, and not before; what stays is what it was. */
static void a_damaged_tail_is_the_way_out(void **state)
{
    (void)state;
    /* Change 17 has the last entry, 16 the one before, 15 a list with its head, 14 and 13 the two before that. */
    static const struct {
        const char *sql;
        int change; /* the first that has to go */
    } damage[] = {
        {"UPDATE journal SET seal = zeroblob(16) WHERE number = (SELECT max(number) FROM journal)", 17},
        {"UPDATE journal SET numbers = x'00' WHERE number = (SELECT max(number) FROM journal)", 17},
        {"UPDATE journal SET kind = 'guessed' WHERE kind = 'fitted'", 13},
        {"UPDATE journal SET kind = x'ff' WHERE kind = 'fitted'", 13},
        {"UPDATE journal SET id = id + 1 WHERE number = (SELECT max(number) FROM journal) - 1", 16},
        {"UPDATE journal SET number = 1000 WHERE number = (SELECT max(number) FROM journal) - 1", 16},
        {"UPDATE journal SET id = 77 WHERE number = (SELECT max(number) FROM journal WHERE kind = 'batch')",
         15},
        {"DELETE FROM journal WHERE number = (SELECT max(number) FROM journal WHERE kind = 'batch')", 15},
        {"UPDATE journal SET seal = x'00' WHERE number = (SELECT max(number) FROM journal WHERE kind = "
         "'batch') "
         "+ 2",
         15},
        {"DELETE FROM journal WHERE number > (SELECT max(number) FROM journal WHERE kind = 'batch') + 1", 15},
        {"UPDATE journal SET kind = 'told' WHERE number = (SELECT max(number) FROM journal WHERE kind = "
         "'batch') "
         "+ 2",
         15},
        {"DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)", 16},
        {"UPDATE head SET seal = zeroblob(16)", 17},
        {"UPDATE head SET entries = 3", 17},
        {"DELETE FROM head", 17},
        {"INSERT INTO head VALUES (1, 0, zeroblob(16))", 17},
        {"DELETE FROM journal", 0},
    };
    life l = live();
    char kept[256];
    copy_file(l.path, folder_file(&l.scratch, "kept", kept));
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        copy_file(kept, l.path);
        spoil(l.path, damage[i].sql);
        assert_closed(&l);
        char *spoilt = database_content(l.path);
        uint64_t removed = 12345, least = 0;
        const bool known =
            strstr(damage[i].sql, "FROM head") == NULL && strstr(damage[i].sql, "INTO head") == NULL;
        assert_int_equal(hf_track_file_undo(l.ctx, l.path, 0, &removed), HF_ERR_MODEL_FILE);
        least = known ? needed(&l) : 1;
        for (uint64_t n = 0; n < least; n++) {
            const hf_status status = hf_track_file_undo(l.ctx, l.path, n, &removed);
            if (status >= 0) break; /* a list went whole */
            assert_int_equal(status, HF_ERR_MODEL_FILE);
            if (known) assert_int_equal(needed(&l), least);
            assert_int_equal(removed, 12345);
            assert_content(l.path, spoilt);
        }
        assert_true(hf_track_file_undo(l.ctx, l.path, removed == 12345 ? least : 0, NULL) >= 0);
        if (strcmp(damage[i].sql, "DELETE FROM journal") != 0)
            assert_content(l.path, l.before[damage[i].change]);
        hf_track_free(opened(l.ctx, l.path, true));
        sqlite3_free(spoilt);
    }
    life_free(&l);
}

static void damage_that_stays_is_refused(void **state)
{
    (void)state;
    static const char *const damage[] = {
        "UPDATE journal SET seal = zeroblob(16) WHERE number = 2",
        "DELETE FROM journal WHERE number = 2",
        "UPDATE journal SET number = -5 WHERE number = 7",
        "UPDATE candidate SET name = 'a'; UPDATE meta SET value = 'z' WHERE key = 'target'",
        "CREATE TABLE extra (x)",
        "DROP TABLE journal",
    };
    life l = live();
    char kept[256];
    copy_file(l.path, folder_file(&l.scratch, "kept", kept));
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        copy_file(kept, l.path);
        spoil(l.path, damage[i]);
        char *bytes = file_get(l.path);
        struct stat about;
        assert_int_equal(stat(l.path, &about), 0);
        uint64_t removed = 12345;
        for (uint64_t n = 0; n < 4; n++)
            assert_int_equal(hf_track_file_undo(l.ctx, l.path, n, &removed), HF_ERR_MODEL_FILE);
        assert_contains(hf_context_message(l.ctx), "t.hf: damaged: ");
        assert_int_equal(removed, 12345);
        char *after = file_get(l.path);
        assert_memory_equal(bytes, after, (size_t)about.st_size);
        free(bytes);
        free(after);
    }
    life_free(&l);
}

/* An entry with a right seal that cannot follow those before it. */
static void nonsense_with_right_seals_is_a_damaged_tail(void **state)
{
    (void)state;
    life l = live();
    sqlite3 *db = NULL;
    spoil(l.path, "UPDATE journal SET of = 999 WHERE number = (SELECT max(number) FROM journal) - 1");
    assert_int_equal(sqlite3_open(l.path, &db), SQLITE_OK);
    assert_int_equal(seal_ledger(db, &hfi_track_form), SQLITE_OK);
    sqlite3_close(db);
    assert_closed(&l);
    assert_int_equal(hf_track_file_undo(l.ctx, l.path, 1, NULL), HF_ERR_MODEL_FILE);
    assert_int_equal(needed(&l), 2);
    assert_int_equal(undo(&l, 2), 2);
    assert_content(l.path, l.before[16]);
    life_free(&l);
}

/* ---- who may, and where --------------------------------------------------------------------------------------- */

static void a_track_that_is_open_for_changes_is_left_alone(void **state)
{
    (void)state;
    life l = live();
    hf_track *track = opened(l.ctx, l.path, true);
    uint64_t removed = 12345;
    assert_int_equal(hf_track_file_undo(l.ctx, l.path, 1, &removed), HF_ERR_IO);
    assert_contains(hf_context_message(l.ctx), "another program has it open for changes");
    assert_int_equal(removed, 12345);
    change(l.ctx, track, 14);
    hf_track_free(track);
    assert_int_equal(undo(&l, 1), 1);
    assert_content(l.path, l.before[CHANGES]);
    life_free(&l);
}

static void one_that_looks_does_not_mind(void **state)
{
    (void)state;
    life l = live();
    hf_track *look = opened(l.ctx, l.path, false);
    hf_track_summary before, after;
    hf_track_summary_of(look, &before);
    uint64_t removed = 0;
    assert_int_equal(hf_track_file_undo(l.ctx, l.path, 2, &removed), HF_OK);
    assert_int_equal(removed, 2);
    hf_track_summary_of(look, &after);
    assert_true(before.told == after.told && before.answered == after.answered &&
                before.asked == after.asked);
    assert_int_equal(history_length(l.ctx, look), l.length[CHANGES] - 2);
    hf_track_free(look);
    assert_content(l.path, l.before[16]);
    life_free(&l);
}

static void files_that_are_no_tracks(void **state)
{
    (void)state;
    life l = live();
    char other[256];
    uint64_t removed = 12345;
    file_put(folder_file(&l.scratch, "r.csv", other), "a,b\n1,2\n", 8);
    assert_int_equal(hf_track_file_undo(l.ctx, other, 1, &removed), HF_ERR_MODEL_FILE);
    assert_contains(hf_context_message(l.ctx), "text; is it the data?");
    char *text = file_get(other);
    assert_string_equal(text, "a,b\n1,2\n");
    free(text);
    assert_int_equal(hf_track_file_undo(l.ctx, l.scratch.path, 1, &removed), HF_ERR_IO);
    assert_int_equal(hf_track_file_undo(l.ctx, "no/such/t.hf", 1, &removed), HF_ERR_IO);
    assert_int_equal(removed, 12345);
    life_free(&l);
}

/* A limit on the size of files stands for a disk that is full. */
static void a_full_disk_leaves_it_as_it_was(void **state)
{
    (void)state;
    life l = live();
    struct rlimit before, small = {.rlim_cur = 100};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint64_t removed = 12345;
    const hf_status status = hf_track_file_undo(l.ctx, l.path, 3, &removed);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, HF_ERR_IO);
    assert_contains(hf_context_message(l.ctx), "t.hf: cannot be written: ");
    assert_int_equal(removed, 12345);
    assert_content(l.path, l.before[CHANGES]);
    assert_int_equal(undo(&l, 1), 1);
    assert_content(l.path, l.before[17]);
    life_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_another_is_taken_back),
        cmocka_unit_test(many_are_taken_back_at_once),
        cmocka_unit_test(it_suggests_what_it_would_have),
        cmocka_unit_test(a_list_without_requests_goes_with_what_it_follows),
        cmocka_unit_test(a_damaged_tail_is_the_way_out),
        cmocka_unit_test(damage_that_stays_is_refused),
        cmocka_unit_test(nonsense_with_right_seals_is_a_damaged_tail),
        cmocka_unit_test(a_track_that_is_open_for_changes_is_left_alone),
        cmocka_unit_test(one_that_looks_does_not_mind),
        cmocka_unit_test(files_that_are_no_tracks),
        cmocka_unit_test(a_full_disk_leaves_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
