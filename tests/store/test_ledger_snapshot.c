/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a ledger: a shortcut that gives what all entries give, and nothing that is wrong with one is
 * an error. */
#include "store/ledger_owner.h"
#include "store/seals.h"

enum {
    MANY = 2300, /* entries: two snapshots, and some after the last */
    PIECE = 100  /* of them in a change */
};

/* A file of many entries. */
typedef struct scene {
    folder in;
    char path[256];
    hf_context *ctx;
    tally told;
} scene;

static void keep(hfi_ledger *ledger, const tally *t)
{
    hfi_ledger_snapshot(ledger, 10, tally_state, t);
}

static void put_many(hf_context *ctx, hfi_ledger *ledger, tally *t, int count)
{
    for (int k = 0; k < count; k += PIECE) {
        assert_int_equal(hfi_ledger_begin(ctx, ledger, 1.0), HF_OK);
        for (int i = k; i < count && i < k + PIECE; i++)
            assert_int_equal(tally_put(ctx, ledger, t, (uint64_t)i % 7), HF_OK);
        keep(ledger, t); /* between begin and end: nothing */
        assert_int_equal(hfi_ledger_end(ctx, ledger, true), HF_OK);
        keep(ledger, t);
    }
}

static scene scene_make(void)
{
    scene s = {.in = folder_make(), .ctx = hf_context_create()};
    folder_file(&s.in, "tally.hf", s.path);
    tally_make(s.ctx, s.path);
    hfi_ledger *ledger = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &s.told);
    put_many(s.ctx, ledger, &s.told, MANY);
    assert_int_equal(ledger->covered, 2000);
    hfi_ledger_close(ledger);
    return s;
}

static void scene_end(scene *s)
{
    hf_context_free(s->ctx);
    folder_remove(&s->in);
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static int64_t number(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
}

static int64_t snapshots(const char *path)
{
    return number(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'snapshot'");
}

/* Opens it to look, by `taken` entries one by one. */
static void assert_opens(const scene *s, uint64_t taken)
{
    tally t;
    hfi_ledger *ledger = tally_open(s->ctx, s->path, HFI_LEDGER_LOOK, &t);
    assert_int_equal(t.taken, taken);
    assert_int_equal(t.count, s->told.count);
    assert_int_equal(t.sum, s->told.sum);
    assert_int_equal(ledger->entries, s->told.count);
    hfi_ledger_close(ledger);
}

static void only_what_came_after_is_read(void **state)
{
    (void)state;
    scene s = scene_make();
    assert_int_equal(number(s.path, "PRAGMA user_version"), 2);
    assert_opens(&s, MANY - 2000);
    assert_int_equal(tally_of_file(s.ctx, s.path).sum, s.told.sum); /* all of it, when that is asked for */
    /* A change after the snapshot was restored goes on where the file ends. */
    tally t;
    hfi_ledger *ledger = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &t);
    put_many(s.ctx, ledger, &t, 800);
    assert_int_equal(ledger->covered, 3000);
    hfi_ledger_close(ledger);
    s.told = t;
    assert_opens(&s, 100);
    assert_int_equal(tally_of_file(s.ctx, s.path).sum, t.sum);
    scene_end(&s);
}

static void what_disagrees_is_not_used(void **state)
{
    (void)state;
    static const char *const damages[] = {
        "UPDATE snapshot SET number = number - 1",
        "UPDATE snapshot SET number = number + 1000",
        "UPDATE snapshot SET number = -1",
        "UPDATE snapshot SET number = 'many'",
        "UPDATE snapshot SET seal = zeroblob(16)",
        "UPDATE snapshot SET seal = zeroblob(3)",
        "UPDATE snapshot SET state = zeroblob(length(state))",
        "UPDATE snapshot SET state = x''",
        "UPDATE snapshot SET state = 'text'",
        "UPDATE snapshot SET sha256 = zeroblob(32)",
        "DELETE FROM snapshot",
    };
    scene s = scene_make();
    const tally before = s.told;
    unsigned char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(hfi_file_read(s.ctx, s.path, &bytes, &size), HF_OK);
    for (size_t k = 0; k < sizeof damages / sizeof *damages; k++) {
        file_put(s.path, (const char *)bytes, size);
        s.told = before;
        sql(s.path, damages[k]);
        assert_opens(&s, MANY);
        /* The next snapshot that is due takes its place. */
        hfi_ledger *ledger = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &s.told);
        assert_int_equal(tally_put(s.ctx, ledger, &s.told, 1), HF_OK);
        keep(ledger, &s.told);
        hfi_ledger_close(ledger);
        assert_opens(&s, 0);
    }
    hfi_free(s.ctx, bytes);
    scene_end(&s);
}

/* Its checksum is right, and the owner says that it is no state of this version, after taking some of it over. */
static void a_state_of_another_version_is_not_used(void **state)
{
    (void)state;
    scene s = scene_make();
    for (int kind = 0; kind < 2; kind++) {
        sql(s.path, kind == 0 ? "UPDATE snapshot SET state = x'02' || substr(state, 2)"
                              : "UPDATE snapshot SET state = substr(state, 1, 24)");
        hfi_ledger *ledger = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &s.told);
        assert_int_equal(seal_snapshot(ledger->db), SQLITE_OK);
        hfi_ledger_close(ledger);
        tally t;
        ledger = tally_open(s.ctx, s.path, HFI_LEDGER_LOOK, &t);
        assert_int_equal(t.begun, 2);
        assert_int_equal(t.taken, MANY);
        assert_int_equal(t.sum, s.told.sum);
        assert_true(ledger->ruined && ledger->covered == 0);
        hfi_ledger_close(ledger);
    }
    scene_end(&s);
}

static void damage_after_the_snapshot_is_named(void **state)
{
    (void)state;
    scene s = scene_make();
    tally t = {0};
    const hfi_ledger_owner owner = tally_owner(&t);
    sql(s.path, "UPDATE journal SET payload = x'00' WHERE number = 2200");
    hfi_ledger *ledger = tally_new(s.ctx, s.path);
    assert_int_equal(hfi_ledger_open(s.ctx, ledger, s.path, HFI_LEDGER_LOOK), HF_OK);
    assert_int_equal(hfi_ledger_load(s.ctx, ledger, &owner), HF_ERR_MODEL_FILE);
    assert_non_null(strstr(hf_context_message(s.ctx), "entry 2200 "));
    assert_int_equal(ledger->entries, 2199);
    hfi_ledger_close(ledger);
    scene_end(&s);
}

static uint64_t undo(const scene *s, uint64_t entries)
{
    tally t = {0};
    uint64_t removed = 0;
    const hfi_ledger_owner owner = tally_owner(&t);
    hfi_ledger *ledger = tally_new(s->ctx, s->path);
    assert_int_equal(hfi_ledger_open(s->ctx, ledger, s->path, HFI_LEDGER_OWN), HF_OK);
    if (hfi_ledger_undo(s->ctx, ledger, entries, &owner, &removed) < 0)
        fail_msg("%s", hf_context_message(s->ctx));
    assert_int_equal(t.restored, 0); /* what stays is verified */
    hfi_ledger_close(ledger);
    return removed;
}

static void an_undo_behind_a_snapshot_drops_it(void **state)
{
    (void)state;
    scene s = scene_make();
    assert_int_equal(undo(&s, 300), 300);
    s.told = tally_of_file(s.ctx, s.path);
    assert_int_equal(s.told.count, 2000);
    assert_opens(&s, 0);
    assert_int_equal(undo(&s, 1), 1);
    assert_int_equal(snapshots(s.path), 0);
    assert_int_equal(number(s.path, "PRAGMA user_version"), 1);
    s.told = tally_of_file(s.ctx, s.path);
    assert_opens(&s, 1999);
    scene_end(&s);
}

/* Damage that a snapshot hides from opening is found by whoever reads everything. */
static void reading_everything_checks_everything(void **state)
{
    (void)state;
    scene s = scene_make();
    tally t = {0};
    const hfi_ledger_owner owner = tally_owner(&t);
    sql(s.path, "UPDATE journal SET payload = x'00' WHERE number = 500");
    assert_opens(&s, MANY - 2000);
    hfi_ledger *ledger = tally_new(s.ctx, s.path);
    assert_int_equal(hfi_ledger_open(s.ctx, ledger, s.path, HFI_LEDGER_OWN), HF_OK);
    assert_int_equal(hfi_ledger_verify(s.ctx, ledger, &owner), HF_ERR_MODEL_FILE);
    assert_non_null(strstr(hf_context_message(s.ctx), "entry 500 "));
    assert_int_equal(hfi_ledger_load(s.ctx, ledger, &owner), HF_OK);
    assert_int_equal(hfi_ledger_each(s.ctx, ledger, &owner), HF_ERR_MODEL_FILE);
    assert_int_equal(ledger->entries, MANY);
    hfi_ledger_close(ledger);
    ledger = tally_new(s.ctx, s.path);
    uint64_t removed = 0;
    assert_int_equal(hfi_ledger_open(s.ctx, ledger, s.path, HFI_LEDGER_OWN), HF_OK);
    assert_int_equal(hfi_ledger_undo(s.ctx, ledger, 1, &owner, &removed), HF_ERR_MODEL_FILE);
    assert_non_null(strstr(hf_context_message(s.ctx), "taking back the last 1801 entries helps"));
    hfi_ledger_close(ledger);
    assert_int_equal(undo(&s, 1801), 1801);
    assert_int_equal(tally_of_file(s.ctx, s.path).count, 499);
    scene_end(&s);
}

/* Programs that take turns keep one snapshot between them. */
static void a_newer_one_of_another_program_stays(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two;
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
    put_many(s.ctx, a, &one, 1000);
    assert_int_equal(a->covered, 3000);
    assert_int_equal(number(s.path, "SELECT number FROM snapshot"), 3000);
    assert_int_equal(tally_catch_up(s.ctx, b, &two), HF_OK);
    assert_int_equal(b->covered, 2000);
    keep(b, &two); /* would be due, if the other had none */
    assert_int_equal(b->covered, 3000);
    assert_int_equal(number(s.path, "SELECT number FROM snapshot"), 3000);
    /* While somebody is changing the file none is made, nor waited for. */
    put_many(s.ctx, b, &two, 700);
    assert_int_equal(tally_catch_up(s.ctx, a, &one), HF_OK);
    assert_int_equal(hfi_ledger_begin(s.ctx, b, 1.0), HF_OK);
    keep(a, &one);
    assert_int_equal(a->covered, 3000);
    assert_int_equal(hfi_ledger_end(s.ctx, b, true), HF_OK);
    keep(a, &one);
    assert_int_equal(a->covered, 4000);
    s.told = one;
    hfi_ledger_close(a);
    hfi_ledger_close(b);
    assert_opens(&s, 0);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_came_after_is_read),
        cmocka_unit_test(what_disagrees_is_not_used),
        cmocka_unit_test(a_state_of_another_version_is_not_used),
        cmocka_unit_test(damage_after_the_snapshot_is_named),
        cmocka_unit_test(an_undo_behind_a_snapshot_drops_it),
        cmocka_unit_test(reading_everything_checks_everything),
        cmocka_unit_test(a_newer_one_of_another_program_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
