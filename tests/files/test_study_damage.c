/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no studies, and studies whose files are damaged: refused with a message that says what is wrong.
 */
#include "files/study_bytes.h"
#include "files/study_files.h"
#include "store/seals.h"

/* A study's file in memory, with the study it is of, and a place to spoil copies of it. */
typedef struct image {
    scene s;
    hf_study *study;
    unsigned char *bytes, *copy;
    size_t size;
} image;

static image image_make(void)
{
    image made = {.s = scene_make()};
    const double at[5] = {0.5, 3.0, 2.0, 1.0, 10.0}, y[4] = {1.0, NAN, 0.5, 7.0};
    hf_proposal p[3];
    made.study = study_files_create(made.s.ctx, 1, made.s.path);
    for (int k = 0; k < 6; k++)
        assert_int_equal(hf_study_add(made.s.ctx, made.study, at, y, NULL, "a note", NULL), HF_OK);
    assert_true(hf_study_ask(made.s.ctx, made.study, 3, 1e9, p) >= 0);
    assert_int_equal(hf_study_tell(made.s.ctx, made.study, 7, y, NULL, NULL), HF_OK);
    assert_int_equal(hf_study_fail(made.s.ctx, made.study, 8, NULL, "melted"), HF_OK);
    hf_study_free(made.study);
    made.study = study_files_open(made.s.ctx, made.s.path, false);
    assert_int_equal(hfi_file_read(made.s.ctx, made.s.path, &made.bytes, &made.size), HF_OK);
    made.copy = malloc(made.size + 4096);
    assert_non_null(made.copy);
    memcpy(made.copy, made.bytes, made.size);
    return made;
}

static void image_free(image *made)
{
    free(made->copy);
    hfi_free(made->s.ctx, made->bytes);
    hf_study_free(made->study);
    scene_end(&made->s);
}

static void assert_refused(image *made, size_t size, const char *message)
{
    hf_study *study = NULL;
    const hf_status status = study_from_bytes(made->s.ctx, made->copy, size, "s.hf", &study);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s instead of %s", hf_status_name(status), message);
    assert_null(study);
    assert_says(made->s.ctx, "s.hf: ");
    assert_says(made->s.ctx, message);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    image made = image_make();
    assert_refused(&made, 0, "empty");
    made.copy[71] ^= 1;
    assert_refused(&made, made.size, "SQLite database, but not a Holdfast study");
    memcpy(made.copy + 68, "HFtr", 4);
    assert_refused(&made, made.size, "a track, not a study; hf_track_file_open() and holdfast track read it");
    memcpy(made.copy, made.bytes, made.size);
    made.copy[63] = HFI_STUDY_VERSION + 1;
    assert_refused(&made, made.size, "newer Holdfast (format 2");
    made.copy[63] = HFI_STUDY_VERSION;
    for (size_t size = 16; size < made.size; size += size < 520 ? 31 : 1021)
        assert_refused(&made, size, "truncated");
    memset(made.copy + made.size, 0, 4096);
    assert_refused(&made, made.size + 4096, "damaged");
    image_free(&made);
}

/* Whatever bit flips: refused, or it was one that carries no content and the study is the same. */
static void flipped_bits_do_not_pass(void **state)
{
    (void)state;
    image made = image_make();
    size_t refused = 0, named = 0;
    for (size_t bit = 0; bit < 8 * made.size; bit += 1021) {
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        hf_study *study = NULL;
        const hf_status status = study_from_bytes(made.s.ctx, made.copy, made.size, "s.hf", &study);
        if (status == HF_OK) {
            assert_same_study(study, made.study);
        } else {
            assert_int_equal(status, HF_ERR_MODEL_FILE);
            refused++;
            named += strstr(hf_context_message(made.s.ctx), "damaged: entry ") != NULL ? 1 : 0;
        }
        hf_study_free(study);
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
    }
    assert_true(refused > 20 && named > 5);
    image_free(&made);
}

/* Changes content with SQLite's own means. `seal` makes the checksums right again: what is left to detect is
 * nonsense. */
static void change(const image *made, const char *sql, bool seal, const char *message)
{
    sqlite3 *db = NULL;
    sqlite3_int64 size = 0;
    char *error = NULL;
    const size_t room = 2 * made->size + 65536;
    unsigned char *bytes = sqlite3_malloc64(room);
    assert_non_null(bytes);
    memcpy(bytes, made->bytes, made->size);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_deserialize(db, "main", bytes, (sqlite3_int64)made->size, (sqlite3_int64)room,
                                         SQLITE_DESERIALIZE_FREEONCLOSE),
                     SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    if (seal) assert_int_equal(seal_ledger(db, &hfi_study_form), SQLITE_OK);
    bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    hf_study *study = NULL;
    const hf_status status = study_from_bytes(made->s.ctx, bytes, (size_t)size, "s.hf", &study);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s: %s", sql, hf_status_name(status));
    assert_null(study);
    assert_says(made->s.ctx, message);
    sqlite3_free(bytes);
    sqlite3_close(db);
}

static void changed_content_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    const char *settings = "its settings do not match";
    change(&made, "UPDATE meta SET value = '8' WHERE key = 'seed'", false, settings);
    change(&made, "UPDATE variable SET upper = 2.5 WHERE position = 0", false, settings);
    change(&made, "UPDATE level SET name = 'x' WHERE position = 1", false, settings);
    change(&made, "UPDATE outcome SET goal = 'maximise'", false, settings);
    change(&made, "UPDATE journal SET id = id + 1 WHERE number = 3", false, "entry 3 ");
    change(&made, "UPDATE journal SET kind = 'failed' WHERE number = 10", false, "entry 10 ");
    change(&made, "UPDATE journal SET payload = payload || zeroblob(8) WHERE number = 5", false, "entry 5 ");
    change(&made, "DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)", false,
           "entries where there should be ");
    change(&made, "DELETE FROM head", false, "how long");
    image_free(&made);
}

/* Numbers as they are in payloads. */
#define INFINITE    "x'000000000000f07f'"
#define MINUS_ONE   "x'000000000000f0bf'"
#define THREE_HALFS "x'000000000000f83f'"

static void nonsense_with_right_checksums_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    static const char *const statements[][2] = {
        {"UPDATE meta SET value = 9223372036854775807 WHERE key = 'variables'", "\"variables\""},
        {"UPDATE meta SET value = 0 WHERE key = 'variables'", "\"variables\""},
        {"UPDATE meta SET value = 4 WHERE key = 'variables'", "its variable 5 is missing or not as"},
        {"UPDATE meta SET value = 6 WHERE key = 'variables'", "its variable 6 is missing"},
        {"UPDATE meta SET value = 9223372036854775807 WHERE key = 'outcomes'", "\"outcomes\""},
        {"UPDATE meta SET value = 0 WHERE key = 'outcomes'", "\"outcomes\""},
        {"UPDATE meta SET value = 3 WHERE key = 'outcomes'", "its outcome 4 is"},
        {"UPDATE meta SET value = 5 WHERE key = 'outcomes'", "its outcome 5 is"},
        {"UPDATE meta SET value = 7 WHERE key = 'seed'", "\"seed\""},
        {"UPDATE meta SET value = '-7' WHERE key = 'seed'", "\"seed\""},
        {"UPDATE meta SET value = '18446744073709551616' WHERE key = 'seed'", "\"seed\""},
        {"UPDATE meta SET value = '' WHERE key = 'seed'", "\"seed\""},
        {"UPDATE meta SET value = NULL WHERE key = 'preset'", "\"preset\""},
        {"UPDATE meta SET value = 'none' WHERE key = 'preset'", "its settings make no study"},
        {"UPDATE meta SET value = 'se(' WHERE key = 'kernel'", "its settings make no study"},
        {"UPDATE meta SET value = 'best' WHERE key = 'settings.acquisition'", "settings.acquisition"},
        {"UPDATE meta SET value = 2 WHERE key = 'settings.robust'", "settings.robust"},
        {"UPDATE meta SET value = -1 WHERE key = 'settings.draws'", "settings.draws"},
        {"UPDATE meta SET value = -1.0 WHERE key = 'settings.beta'", "its settings make no study"},
        {"DELETE FROM meta WHERE key = 'settings.reach'", "settings.reach"},
        {"UPDATE variable SET kind = 'odd' WHERE position = 1", "its variable 2"},
        {"UPDATE variable SET lower = NULL WHERE position = 0", "its settings make no study"},
        {"UPDATE variable SET upper = 9e999 WHERE position = 0", "its settings make no study"},
        {"UPDATE variable SET log = 7 WHERE position = 0", "its variable 1"},
        {"UPDATE variable SET name = x'41' WHERE position = 0", "a name of variable is missing"},
        {"UPDATE variable SET name = 'count' WHERE position = 0", "its settings make no study"},
        {"UPDATE variable SET position = 9 WHERE position = 4", "its variable 5"},
        {"DELETE FROM level WHERE variable = 2 AND position = 0", "a name of level is missing"},
        {"DELETE FROM level", "its settings make no study"},
        {"UPDATE level SET name = x'41'", "a name of level is missing"},
        {"INSERT INTO level VALUES (17, 0, 'x')", "labels of no variable"},
        {"INSERT INTO level VALUES (-1, 0, 'x')", "labels of no variable"},
        {"UPDATE outcome SET goal = 'most'", "its outcome 1"},
        {"UPDATE outcome SET certain = 1", "its settings make no study"},
        {"UPDATE outcome SET bound = NULL WHERE position = 2", "its settings make no study"},
        {"UPDATE outcome SET kernel = x'00' WHERE position = 1", "a name of a kernel is missing"},
        {"UPDATE journal SET kind = 'guessed' WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET payload = x'' WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET payload = substr(payload, 1, 40) WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET payload = payload || x'00' WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET payload = x'ffffffffffffffff' || substr(payload, 9) WHERE number = 2",
         "entry 2 "},
        {"UPDATE journal SET payload = substr(payload, 1, length(payload) - 1) || x'00' WHERE number = 2",
         "entry 2 "},
        {"UPDATE journal SET payload = substr(payload, 1, 16) || " INFINITE
         " || substr(payload, 25) WHERE number = 2",
         "entry 2 of its journal cannot be"},
        {"UPDATE journal SET payload = substr(payload, 1, 24) || " THREE_HALFS
         " || substr(payload, 33) WHERE number = 2",
         "entry 2 of its journal cannot be"},
        {"UPDATE journal SET payload = substr(payload, 1, 56) || " INFINITE
         " || substr(payload, 65) WHERE number = 2",
         "entry 2 of its journal is not as it was"},
        {"UPDATE journal SET payload = substr(payload, 1, 88) || " MINUS_ONE
         " || substr(payload, 97) WHERE number = 2",
         "entry 2 of its journal is not as it was"},
        {"UPDATE journal SET id = 7 WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET of = 2 WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET id = 0 WHERE kind = 'told'", "of no trial"},
        {"UPDATE journal SET id = 99 WHERE kind = 'failed'", "of no trial"},
        {"UPDATE journal SET number = 1000 WHERE number = 7", "entry 7 "},
        {"INSERT INTO head VALUES (1, 0, zeroblob(16))", "how long"},
        {"CREATE TABLE extra (x)", "tables, views or triggers"},
        {"ALTER TABLE variable ADD COLUMN z", "\"variable\""},
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        change(&made, statements[i][0], true, statements[i][1]);
    image_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(flipped_bits_do_not_pass),
        cmocka_unit_test(changed_content_is_refused),
        cmocka_unit_test(nonsense_with_right_checksums_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
