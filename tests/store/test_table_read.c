/* SPDX-License-Identifier: Apache-2.0 */
/* hf_table_read(): files, packed files and tables of databases. */
#include "data/packed.h"

#include <math.h>
#include <sqlite3.h>

typedef struct desk {
    hf_context *ctx;
    folder scratch;
    char path[256];
} desk;

static int set_up(void **state)
{
    desk *d = calloc(1, sizeof *d);
    if (d == NULL) return -1;
    d->ctx = hf_context_create();
    d->scratch = folder_make();
    *state = d;
    return d->ctx == NULL;
}

static int tear_down(void **state)
{
    desk *d = *state;
    folder_remove(&d->scratch);
    hf_context_free(d->ctx);
    free(d);
    return 0;
}

static void refused(desk *d, const char *path, hf_status status, const char *message)
{
    hf_table *table = NULL;
    const hf_status got = hf_table_read(d->ctx, path, NULL, &table);
    if (got != status) fail_msg("%s: %d, %s", path, (int)got, hf_context_message(d->ctx));
    assert_null(table);
    assert_contains(hf_context_message(d->ctx), message);
}

/* ---- packed ------------------------------------------------------------------------------------------------ */

static const char plain[] = "x,y\n1,2.5\n3,-4e-3\n5,inf\n";

/* True, after a look at the message, for a build without the library. */
static bool is_missing(desk *d, bool there, const char *library)
{
    if (there) return false;
    refused(d, d->path, HF_ERR_IO, library);
    return true;
}

static void try_packer(desk *d, packer pack, const char *name, const char *cut)
{
    char packed[4096];
    hf_table *table = NULL, *expected = table_of(d->ctx, plain);
    const size_t one = pack(plain, sizeof plain - 1, packed, sizeof packed);
    file_put(d->path, packed, one);
#ifdef HF_WITH_ZLIB
    const bool zlib = true;
#else
    const bool zlib = false;
#endif
#ifdef HF_WITH_ZSTD
    const bool zstd = true;
#else
    const bool zstd = false;
#endif
    if (is_missing(d, pack == pack_gzip ? zlib : zstd,
                   pack == pack_gzip ? "without zlib" : "without libzstd")) {
        hf_table_free(expected);
        return;
    }
    assert_int_equal(hf_table_read(d->ctx, d->path, NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 3);
    for (size_t j = 0; j < 2; j++) {
        const double *a, *b;
        assert_int_equal(hf_table_numbers(d->ctx, table, j, &a), HF_OK);
        assert_int_equal(hf_table_numbers(d->ctx, expected, j, &b), HF_OK);
        assert_memory_equal(a, b, 3 * sizeof *a);
    }
    assert_contains(hf_table_note(table, 0), name);
    hf_table_free(table);
    hf_table_free(expected);
    /* Two packed files one behind the other are one text. */
    const size_t two = one + pack("7,8\n", 4, packed + one, sizeof packed - one);
    file_put(d->path, packed, two);
    assert_int_equal(hf_table_read(d->ctx, d->path, NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 4);
    hf_table_free(table);
    for (size_t bytes = 6; bytes < one; bytes++) {
        file_put(d->path, packed, bytes);
        refused(d, d->path, HF_ERR_IO, cut);
    }
    /* Every flipped byte is refused or harmless: checksums see to that; no read beyond, no hang. */
    for (size_t k = 0; k < one; k++) {
        packed[k] ^= 0x55;
        file_put(d->path, packed, one);
        if (hf_table_read(d->ctx, d->path, NULL, &table) < 0) assert_null(table);
        hf_table_free(table);
        packed[k] ^= 0x55;
    }
}

static void packed_files(void **state)
{
    desk *d = *state;
    folder_file(&d->scratch, "t.csv.gz", d->path);
    try_packer(d, pack_gzip, "unpacked (gzip)", "it is cut off: gzip expects more");
    folder_file(&d->scratch, "t.csv.zst", d->path);
    try_packer(d, pack_zstd, "unpacked (zstd)", "it is cut off: zstd expects more");
}

/* 300 MB of one letter in a few kilobytes. */
static void bombs_are_refused(void **state)
{
    desk *d = *state;
    const size_t bytes = (size_t)300 << 20, room = (size_t)1 << 20;
    char *text = malloc(bytes), *packed = malloc(room);
    assert_true(text != NULL && packed != NULL);
    memset(text, '1', bytes);
    folder_file(&d->scratch, "bomb", d->path);
#ifdef HF_WITH_ZLIB
    file_put(d->path, packed, pack_gzip(text, bytes, packed, room));
    refused(d, d->path, HF_ERR_TOO_LARGE, "more than 500 times");
#endif
#ifdef HF_WITH_ZSTD
    const size_t used = ZSTD_compress(packed, room, text, bytes, 1);
    file_put(d->path, packed, used);
    refused(d, d->path, HF_ERR_TOO_LARGE, "more than 500 times");
#endif
    free(text);
    free(packed);
}

/* ---- databases --------------------------------------------------------------------------------------------- */

static void make_database(const desk *d, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static const char *table_path(const desk *d, const char *table, char buffer[300])
{
    snprintf(buffer, 300, "%s:%s", d->path, table);
    return buffer;
}

static void databases(void **state)
{
    desk *d = *state;
    char name[300];
    const double *x = NULL;
    folder_file(&d->scratch, "data.db", d->path);
    make_database(d, "CREATE TABLE \"my \"\"data\"(x REAL, n INTEGER, t TEXT, m TEXT);"
                     "INSERT INTO \"my \"\"data\" VALUES (0.1, 9007199254740993, 'a,\"b\"', '1.5'), (NULL, "
                     "-3, NULL, NULL),"
                     "(1e300 * 1e300, 0, 'two\nlines', '2');"
                     "CREATE TABLE b(x BLOB); INSERT INTO b VALUES (x'00');"
                     "CREATE TABLE one(x); INSERT INTO one VALUES (NULL), (2); CREATE TABLE empty(x, y);");
    hf_table *table = NULL;
    assert_int_equal(hf_table_read(d->ctx, table_path(d, "my \"data", name), NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 3);
    assert_int_equal(hf_table_numbers(d->ctx, table, 0, &x), HF_OK);
    assert_true(x[0] == 0.1 && isnan(x[1]) && x[2] == INFINITY);
    assert_field(table, 0, 1, "9007199254740993");
    assert_field(table, 0, 2, "a,\"b\"");
    assert_field(table, 2, 2, "two\nlines");
    assert_int_equal(hf_table_numbers(d->ctx, table, 3, &x), HF_OK);
    assert_true(x[0] == 1.5);
    hf_table_free(table);
    assert_int_equal(hf_table_read(d->ctx, table_path(d, "one", name), NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 2);
    hf_table_free(table);
    assert_int_equal(hf_table_read(d->ctx, table_path(d, "empty", name), NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 0);
    hf_table_free(table);
    refused(d, table_path(d, "none", name), HF_ERR_NO_COLUMN,
            "has no table \"none\"; its tables and views are: \"b\", \"empty\"");
    refused(d, table_path(d, "b", name), HF_ERR_PARSE, "row 1, column \"x\": bytes (BLOB)");
    refused(d, d->path, HF_ERR_PARSE, "FILE:TABLE");
    /* Not a database before the colon: a file of that name, which is not there. */
    folder_file(&d->scratch, "t.csv", d->path);
    file_put(d->path, plain, sizeof plain - 1);
    refused(d, table_path(d, "x", name), HF_ERR_IO, "No such file");
}

static bool never(const char *stage, double done, double value, void *user)
{
    size_t *left = user;
    (void)stage, (void)done, (void)value;
    return *left > 0 && --*left > 0;
}

/* Views of tables and of views, and what a stranger may not have put into one. */
static void views(void **state)
{
    desk *d = *state;
    char name[300];
    const double *x = NULL;
    size_t left = 30;
    hf_table *table = NULL;
    folder_file(&d->scratch, "views.db", d->path);
    make_database(
        d, "CREATE TABLE t(k, x); INSERT INTO t VALUES (1, 0.1), (2, 0.7), (2, 0.9), (3, NULL);"
           "CREATE TABLE u(k, y); INSERT INTO u VALUES (1, 10), (2, 20);"
           "CREATE VIEW joined AS SELECT t.k, round(x, 1) AS x, upper(y) AS y FROM t LEFT JOIN u USING (k);"
           "CREATE VIEW means AS SELECT k, avg(x) AS mean FROM joined GROUP BY k ORDER BY k;"
           "CREATE VIEW counts AS WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c) "
           "SELECT i FROM c;"
           "CREATE VIEW loads AS SELECT load_extension('./evil') AS x;"
           "CREATE VIEW long AS SELECT hex(zeroblob(20000000)) AS x;"
           "CREATE VIEW endless AS SELECT count(*) AS n FROM t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t;"
           "CREATE VIEW lost AS SELECT * FROM gone;"
           "CREATE VIEW own AS SELECT name FROM pragma_database_list;");
    assert_int_equal(hf_table_read(d->ctx, table_path(d, "joined", name), NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 4);
    hf_table_free(table);
    assert_int_equal(hf_table_read(d->ctx, table_path(d, "Means", name), NULL, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 3);
    assert_int_equal(hf_table_numbers(d->ctx, table, 1, &x), HF_OK);
    assert_true(x[0] == 0.1 && fabs(x[1] - 0.8) < 1e-15 && isnan(x[2]));
    hf_table_free(table);
    refused(d, table_path(d, "counts", name), HF_ERR_IO, "more than read tables");
    refused(d, table_path(d, "loads", name), HF_ERR_IO, "load_extension");
    refused(d, table_path(d, "long", name), HF_ERR_IO, "too big");
    refused(d, table_path(d, "lost", name), HF_ERR_IO, "gone");
    refused(d, table_path(d, "own", name), HF_ERR_IO, "cannot be read");
    refused(d, table_path(d, "none", name), HF_ERR_NO_COLUMN, "\"counts\", \"endless\"");
    hf_context_set_progress(d->ctx, never, &left);
    refused(d, table_path(d, "endless", name), HF_ERR_CANCELLED, "");
    assert_int_equal(left, 0);
    hf_context_set_progress(d->ctx, NULL, NULL);
}

static void damaged_databases(void **state)
{
    desk *d = *state;
    char name[300];
    folder_file(&d->scratch, "bad.db", d->path);
    make_database(d, "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);");
    char *bytes = calloc(1, 1 << 16);
    FILE *file = fopen(d->path, "rb");
    assert_true(bytes != NULL && file != NULL);
    const size_t size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    file_put(d->path, bytes, 100);
    refused(d, table_path(d, "t", name), HF_ERR_IO, "the database cannot be read");
    memset(bytes + 4096, 0xAA, size - 4096);
    file_put(d->path, bytes, size);
    refused(d, table_path(d, "t", name), HF_ERR_IO, "the database cannot be read");
    free(bytes);
    folder_file(&d->scratch, "log.db", d->path);
    make_database(d, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);");
    refused(d, table_path(d, "t", name), HF_ERR_IO, "the database keeps a write-ahead log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packed_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bombs_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(databases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(views, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_databases, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
