/* SPDX-License-Identifier: Apache-2.0 */
/* A database on disk reaches two files, its own and its journal, whatever a stranger's journal
 * says; and a journal that is none of ours is refused before anybody waits for it. */
#include "data/support.h"

#include "files/track_store.h"

#include <sys/stat.h>

static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

static size_t put_number(unsigned char *at, uint32_t number)
{
    for (int k = 0; k < 4; k++) at[k] = (unsigned char)(number >> (24 - 8 * k));
    return 4;
}

/* A journal without pages, of a database of `pages` pages of 4096 bytes, that names `other` as what
 * SQLite deletes after playing it back. */
static void put_journal(const char *path, uint32_t pages, const char *other)
{
    unsigned char bytes[1024] = {0};
    uint32_t sum = 0;
    const size_t length = strlen(other);
    memcpy(bytes, mark, 8);
    put_number(bytes + 12, 12345);
    put_number(bytes + 16, pages);
    put_number(bytes + 20, 512);
    put_number(bytes + 24, 4096);
    size_t end = 512;
    end += put_number(bytes + end, (1U << 30) / 4096 + 1);
    memcpy(bytes + end, other, length);
    end += length;
    for (size_t k = 0; k < length; k++) sum += (unsigned char)other[k]; /* ASCII */
    end += put_number(bytes + end, (uint32_t)length);
    end += put_number(bytes + end, sum);
    memcpy(bytes + end, mark, 8);
    file_put(path, (const char *)bytes, end + 8);
}

/* A folder with a track, the name of its journal, and a file that somebody would like to be rid of. */
typedef struct place {
    folder scratch;
    char track[256], journal[256], victim[256];
    uint32_t pages;
} place;

static place place_make(hf_context *ctx)
{
    static const double lower = 0.0, upper = 1.0;
    place p = {.scratch = folder_make()};
    hf_track_settings settings = hf_track_settings_default(HF_TRACK_UI_GP_UCB);
    hf_track *track = NULL;
    struct stat about;
    settings.domain = (hf_domain){.dimension = 1, .lower = &lower, .upper = &upper};
    settings.age.rate = 0.1;
    folder_file(&p.scratch, "k.hf", p.track);
    folder_file(&p.scratch, "k.hf-journal", p.journal);
    file_put(folder_file(&p.scratch, "victim", p.victim), "years", 5);
    if (hf_track_file_create(ctx, p.track, &settings, "y", NULL, &track) < 0)
        fail_msg("%s", hf_context_message(ctx));
    hf_track_free(track);
    assert_int_equal(stat(p.track, &about), 0);
    p.pages = (uint32_t)(about.st_size / 4096);
    return p;
}

static void assert_victim(const place *p)
{
    char *text = file_get(p->victim);
    assert_string_equal(text, "years");
    free(text);
}

static void assert_refused(hf_context *ctx, const place *p, const char *why)
{
    for (int write = 0; write < 2; write++) {
        hf_track *track = NULL;
        assert_int_equal(hf_track_file_open(ctx, p->track, write == 1, &track), HF_ERR_IO);
        assert_contains(hf_context_message(ctx), p->journal);
        assert_contains(hf_context_message(ctx), why);
        assert_victim(p);
    }
    assert_int_equal(unlink(p->journal), 0);
    hf_track *track = NULL;
    assert_int_equal(hf_track_file_open(ctx, p->track, true, &track), HF_OK);
    hf_track_free(track);
}

static void a_journal_that_is_none_of_ours_is_refused(void **state)
{
    place p = place_make(*state);
    put_journal(p.journal, p.pages, p.victim);
    assert_refused(*state, &p, "names another file");
    assert_int_equal(mkfifo(p.journal, 0600), 0);
    assert_refused(*state, &p, "a pipe");
    assert_int_equal(symlink(p.victim, p.journal), 0);
    assert_refused(*state, &p, "is a link");
    assert_int_equal(link(p.victim, p.journal), 0);
    assert_refused(*state, &p, "second name");
    folder_remove(&p.scratch);
}

static int run(sqlite3 *db, const char *sql)
{
    const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? rc : sqlite3_extended_errcode(db);
}

/* Should one slip past the look before, in the moment between: SQLite reaches no third file. */
static void sqlite_reaches_two_files(void **state)
{
    place p = place_make(*state);
    const hfi_memory memory = hfi_context_memory(*state);
    char other[300], sql[400];
    for (int kind = 0; kind < 3; kind++) {
        sqlite3 *db = NULL;
        hfi_two_names *files = NULL;
        put_journal(p.journal, p.pages, p.victim);
        if (kind > 0) assert_int_equal(unlink(p.journal), 0);
        if (kind == 2) assert_int_equal(mkfifo(p.journal, 0600), 0);
        assert_int_equal(hfi_database_open(&memory, p.track, true, &db, &files), SQLITE_OK);
        snprintf(other, sizeof other, "%s.other", p.track);
        snprintf(sql, sizeof sql, "ATTACH '%s' AS other; CREATE TABLE other.t (x)", other);
        if (kind == 1) {
            assert_int_equal(run(db, "SELECT 1 FROM sqlite_schema"), SQLITE_OK);
            assert_int_not_equal(run(db, sql), SQLITE_OK);
            assert_int_equal(access(other, F_OK), -1);
        } else {
            assert_int_not_equal(run(db, "SELECT 1 FROM sqlite_schema"), SQLITE_OK);
        }
        hfi_database_close(&db, &files);
        assert_null(db);
        assert_null(files);
        assert_victim(&p);
    }
    folder_remove(&p.scratch);
}

/* Beside a database with a rollback journal a write-ahead log is nobody's; SQLite would read it. */
static void a_log_beside_is_not_looked_at(void **state)
{
    place p = place_make(*state);
    char log[256];
    hf_track *track = NULL;
    file_put(folder_file(&p.scratch, "k.hf-wal", log), "a log", 5);
    assert_int_equal(hf_track_file_open(*state, p.track, true, &track), HF_OK);
    hf_track_free(track);
    assert_int_equal(access(log, F_OK), 0);
    folder_remove(&p.scratch);
}

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL ? -1 : 0;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_journal_that_is_none_of_ours_is_refused),
        cmocka_unit_test(sqlite_reaches_two_files),
        cmocka_unit_test(a_log_beside_is_not_looked_at),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
