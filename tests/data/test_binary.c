/* SPDX-License-Identifier: Apache-2.0 */
/* Tables larger than memory: CSV files in parts, and their caches. */
#include "data/parts.h"

#include "data/binary.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void put(const char *path, const char *text)
{
    file_put(path, text, strlen(text));
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Whatever the size of the parts, the records and their lines are those of the whole file. */
static void parts_are_the_whole(void **state)
{
    static const char *const texts[] = {
        "a,b\n1,2\n3,4\n5,6\n",
        "a,b\n1,2\n3,4\n5,6",
        "\n\r\n\xef\xbb\xbf",
        "\xef\xbb\xbf\n\r\na;b\r\n1;\"x\ny\"\r\n\r\n2;\"q\"\"\n\"\"r\"\r\n3;5\" tall\r\n4;\"a,b\"\r\n",
        "\"na\nme\",b\n\"1\n\n\",2\n\n\n3,\"\"\n4,\"\"\"\n\"\"\"\n5,x\"y\n",
        "only,a,header\n",
        "only,a,header",
        "x\n1\n\n2\n3\n",
        "a\tb,c\n1\t2,\"\n3\t\"\n,\"\n",
    };
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "in.csv", path);
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        put(path, texts[t]);
        hf_table *table = NULL;
        collected *whole = calloc(1, sizeof *whole), *parts = calloc(1, sizeof *parts);
        const hf_status expected = hf_table_read_csv(*state, path, &table);
        if (expected == HF_OK) collect(*state, whole, table);
        hf_table_free(table);
        char message[512];
        snprintf(message, sizeof message, "%s", hf_context_message(*state));
        for (size_t bytes = 1; bytes < 70; bytes += 3) {
            hfi_stamp stamp;
            memset(parts, 0, sizeof *parts);
            assert_int_equal(hfi_csv_stream(*state, path, bytes, collect, parts, &stamp), expected);
            if (expected != HF_OK) {
                assert_string_equal(hf_context_message(*state), message);
                continue;
            }
            assert_string_equal(parts->text, whole->text);
            assert_int_equal(stamp.bytes, strlen(texts[t]));
            assert_true(parts->parts >= 1);
            if (bytes == 1 && whole->rows > 1) assert_true(parts->parts > 1);
        }
        free(whole);
        free(parts);
    }
    folder_remove(&scratch);
}

/* Errors far down have the message and the line that the reader of whole files gives them. */
static void errors_have_their_line(void **state)
{
    static const char *const faults[] = {"1,2,3\n", "1\n", "1,\"x\" y\n", "1, \"x\"\n", "1,\"never closed\n"};
    folder scratch = folder_make();
    char path[256], message[512], *text = calloc(1, 1 << 16);
    folder_file(&scratch, "in.csv", path);
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
        strcpy(text, "a,\"b\nc\"\n");
        for (size_t i = 0; i < 500; i++) strcat(text, i % 7 == 0 ? "\n1,\"2\n\"\n" : "11,22\n");
        strcat(text, faults[f]);
        strcat(text, "1,2\n");
        put(path, text);
        hf_table *table = NULL;
        collected *parts = calloc(1, sizeof *parts);
        assert_int_equal(hf_table_read_csv(*state, path, &table), HF_ERR_PARSE);
        snprintf(message, sizeof message, "%s", hf_context_message(*state));
        assert_int_equal(hfi_csv_stream(*state, path, 100, collect, parts, NULL), HF_ERR_PARSE);
        assert_string_equal(hf_context_message(*state), message);
        free(parts);
    }
    free(text);
    folder_remove(&scratch);
}

static void what_is_no_text_is_said(void **state)
{
    folder scratch = folder_make();
    char path[256];
    collected *parts = calloc(1, sizeof *parts);
    file_put(folder_file(&scratch, "in.csv", path), "a\n1\n2\n\0\n3\n", 11);
    assert_int_equal(hfi_csv_stream(*state, path, 2, collect, parts, NULL), HF_ERR_PARSE);
    assert_contains(hf_context_message(*state), "line 4: a zero byte");
    assert_int_equal(hfi_csv_stream(*state, scratch.path, 0, collect, parts, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "is a folder");
    assert_int_equal(hfi_csv_stream(*state, "/dev/null", 0, collect, parts, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "pipe or a device");
    assert_int_equal(hfi_csv_stream(*state, "/nowhere/x.csv", 0, collect, parts, NULL), HF_ERR_IO);
    free(parts);
    folder_remove(&scratch);
}

/* Somebody appends while the parts are read. */
static hf_status append_meanwhile(hf_context *ctx, void *arg, const hf_table *part)
{
    (void)ctx;
    (void)part;
    FILE *file = fopen(arg, "ab");
    assert_non_null(file);
    fputs("9,9\n", file);
    fclose(file);
    return HF_OK;
}

static void a_source_that_changes_is_refused(void **state)
{
    folder scratch = folder_make();
    char path[256];
    put(folder_file(&scratch, "in.csv", path), "a,b\n1,2\n3,4\n");
    char copy[256];
    strcpy(copy, path);
    assert_int_equal(hfi_csv_stream(*state, path, 0, append_meanwhile, copy, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "changed while it was being read");
    folder_remove(&scratch);
}

/* ---- caches ---------------------------------------------------------------------------------- */

typedef struct place {
    folder scratch;
    char csv[256], cache[256];
} place;

static place make_place(const char *text)
{
    place p = {.scratch = folder_make()};
    folder_file(&p.scratch, "in.csv", p.csv);
    folder_file(&p.scratch, "in.cache", p.cache);
    put(p.csv, text);
    return p;
}

static const char mixed[] = "x,name,y,odd\n1,one,0.5,1\n2,two,,2\n-3e300,three,nan,bad\n4,,1e999,4\n";

static void a_cache_has_the_numbers(void **state)
{
    place p = make_place(mixed);
    hfi_binary b;
    assert_int_equal(hfi_binary_create(*state, p.csv, p.cache), HF_OK);
    assert_int_equal(hfi_binary_open(*state, p.cache, p.csv, &b), HF_OK);
    assert_int_equal(hfi_binary_verify(*state, &b), HF_OK);
    assert_int_equal(b.rows, 4);
    assert_int_equal(b.columns, 4);
    assert_string_equal(b.column[2].name, "y");
    double rows[16];
    assert_int_equal(hfi_binary_read(*state, &b, 0, 4, rows), HF_OK);
    static const double expected[16] = {1,      NAN, 0.5, 1,   2, NAN, NAN,      2,
                                        -3e300, NAN, NAN, NAN, 4, NAN, INFINITY, 4};
    for (size_t i = 0; i < 16; i++) assert_true(isnan(expected[i]) ? isnan(rows[i]) : rows[i] == expected[i]);
    assert_int_equal(hfi_binary_read(*state, &b, 2, 1, rows), HF_OK);
    assert_true(rows[0] == -3e300);
    assert_int_equal(hfi_binary_read(*state, &b, 4, 0, rows), HF_OK);
    assert_int_equal(hfi_binary_read(*state, &b, 3, 2, rows), HF_ERR_ARGUMENT);
    const hfi_binary_column *c = b.column;
    assert_int_equal(c[0].negative_line, 4);
    assert_int_equal(c[1].texts, 3);
    assert_int_equal(c[1].missing, 1);
    assert_int_equal(c[1].text_line, 2);
    assert_int_equal(c[2].infinite_line, 5);
    assert_int_equal(c[2].missing, 2);
    assert_int_equal(c[3].numbers, 3);
    assert_int_equal(c[3].texts, 1);
    assert_string_equal(c[3].text, "bad");
    hfi_binary_close(&b);
    hfi_binary_close(&b);
    folder_remove(&p.scratch);
}

/* The sketch is told apart from the table by its number of rows only. */
static void a_sketch_has_the_faults(void **state)
{
    place p = make_place(mixed);
    hfi_binary b;
    bool made;
    hf_table *sketch = NULL, *whole = NULL;
    const double *numbers;
    char message[512];
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_OK);
    assert_true(made);
    assert_int_equal(hfi_binary_sketch(*state, &b, &sketch), HF_OK);
    assert_int_equal(hf_table_read_csv(*state, p.csv, &whole), HF_OK);
    assert_int_equal(hf_table_columns(sketch), hf_table_columns(whole));
    for (size_t j = 0; j < hf_table_columns(whole); j++) {
        assert_string_equal(hf_table_name(sketch, j), hf_table_name(whole, j));
        assert_int_equal(hf_table_is_numeric(sketch, j), hf_table_is_numeric(whole, j));
        if (hf_table_is_numeric(whole, j)) continue;
        assert_int_equal(hf_table_numbers(*state, whole, j, &numbers), HF_ERR_PARSE);
        snprintf(message, sizeof message, "%s", hf_context_message(*state));
        assert_int_equal(hf_table_numbers(*state, sketch, j, &numbers), HF_ERR_PARSE);
        assert_string_equal(hf_context_message(*state), message);
    }
    assert_int_equal(hf_table_numbers(*state, sketch, 2, &numbers), HF_OK);
    bool infinite = false;
    for (size_t i = 0; i < hf_table_rows(sketch); i++)
        if (isinf(numbers[i])) infinite = hf_table_line(sketch, i) == 5;
    assert_true(infinite);
    hf_table_free(sketch);
    hf_table_free(whole);
    hfi_binary_close(&b);
    folder_remove(&p.scratch);
}

/* Control characters are shown as question marks, and one of those alone would be a missing number. */
static void a_sketch_of_what_cannot_be_shown(void **state)
{
    place p = make_place("x,y\n\x07,1\n2,2\n");
    hfi_binary b;
    hf_table *sketch = NULL;
    assert_int_equal(hfi_binary_create(*state, p.csv, p.cache), HF_OK);
    assert_int_equal(hfi_binary_open(*state, p.cache, NULL, &b), HF_OK);
    assert_int_equal(hfi_binary_sketch(*state, &b, &sketch), HF_OK);
    assert_false(hf_table_is_numeric(sketch, 0));
    hf_table_free(sketch);
    hfi_binary_close(&b);
    folder_remove(&p.scratch);
}

static void many_rows_come_back(void **state)
{
    folder scratch = folder_make();
    char csv[256], cache[256];
    FILE *file = fopen(folder_file(&scratch, "big.csv", csv), "wb");
    assert_non_null(file);
    fputs("a,b,c\n", file);
    for (size_t i = 0; i < 300000; i++) fprintf(file, "%zu,%.17g,%s\n", i, sqrt((double)i), i % 3 ? "7" : "");
    fclose(file);
    hfi_binary b;
    double row[9];
    assert_int_equal(hfi_binary_create(*state, csv, folder_file(&scratch, "big.cache", cache)), HF_OK);
    assert_int_equal(hfi_binary_open(*state, cache, csv, &b), HF_OK);
    assert_int_equal(hfi_binary_verify(*state, &b), HF_OK);
    assert_int_equal(b.rows, 300000);
    assert_int_equal(b.column[2].missing, 100000);
    for (size_t i = 0; i < 300000; i += 49999) {
        assert_int_equal(hfi_binary_read(*state, &b, i, 1, row), HF_OK);
        assert_true(row[0] == (double)i && row[1] == sqrt((double)i));
    }
    hfi_binary_close(&b);
    folder_remove(&scratch);
}

static void a_stale_cache_is_not_used(void **state)
{
    place p = make_place("a,b\n1,2\n");
    hfi_binary b;
    bool made;
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_OK);
    assert_true(made);
    hfi_binary_close(&b);
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_OK);
    assert_false(made);
    hfi_binary_close(&b);
    /* The same size at another time, and another size. */
    const struct timeval times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimes(p.csv, times), 0);
    assert_int_equal(hfi_binary_open(*state, p.cache, p.csv, &b), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "has changed since the cache");
    assert_int_equal(hfi_binary_open(*state, p.cache, NULL, &b), HF_OK);
    hfi_binary_close(&b);
    put(p.csv, "a,b\n1,2\n3,4\n");
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_OK);
    assert_true(made);
    assert_int_equal(b.rows, 2);
    hfi_binary_close(&b);
    remove(p.csv);
    assert_int_equal(hfi_binary_open(*state, p.cache, p.csv, &b), HF_ERR_IO);
    folder_remove(&p.scratch);
}

static char *bytes_of(const char *path, size_t *size)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Every byte counts: none can be changed, and none left away, unnoticed. */
static void damage_is_noticed(void **state)
{
    place p = make_place(mixed);
    hfi_binary b;
    size_t size;
    assert_int_equal(hfi_binary_create(*state, p.csv, p.cache), HF_OK);
    char *bytes = bytes_of(p.cache, &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ 0x10);
        file_put(p.cache, bytes, size);
        bytes[i] = (char)(bytes[i] ^ 0x10);
        hf_status status = hfi_binary_open(*state, p.cache, p.csv, &b);
        if (status == HF_OK) status = hfi_binary_verify(*state, &b);
        assert_int_equal(status, HF_ERR_IO);
        hfi_binary_close(&b);
    }
    for (size_t length = 0; length < size; length++) {
        file_put(p.cache, bytes, length);
        assert_int_equal(hfi_binary_open(*state, p.cache, p.csv, &b), HF_ERR_IO);
    }
    free(bytes);
    bool made;
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_OK);
    assert_true(made);
    hfi_binary_close(&b);
    folder_remove(&p.scratch);
}

/* Cut short under an open reader. */
static void a_cache_that_shrinks_is_an_error(void **state)
{
    place p = make_place("a,b\n1,2\n3,4\n");
    hfi_binary b;
    double rows[4];
    assert_int_equal(hfi_binary_create(*state, p.csv, p.cache), HF_OK);
    assert_int_equal(hfi_binary_open(*state, p.cache, p.csv, &b), HF_OK);
    assert_int_equal(truncate(p.cache, 40), 0);
    assert_int_equal(hfi_binary_read(*state, &b, 0, 2, rows), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "cut short");
    hfi_binary_close(&b);
    folder_remove(&p.scratch);
}

static void other_files_are_not_overwritten(void **state)
{
    place p = make_place("a,b\n1,2\n");
    hfi_binary b;
    bool made;
    put(p.cache, "my thesis");
    assert_int_equal(hfi_binary_create(*state, p.csv, p.cache), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "is no cache");
    assert_int_equal(hfi_binary_obtain(*state, p.csv, p.cache, &b, &made), HF_ERR_IO);
    assert_int_equal(hfi_binary_create(*state, p.csv, p.csv), HF_ERR_IO);
    char *text = file_get(p.cache);
    assert_string_equal(text, "my thesis");
    free(text);
    assert_int_equal(hfi_binary_create(*state, p.csv, "/dev/null"), HF_ERR_IO);
    assert_int_equal(hfi_binary_create(*state, "/nowhere.csv", p.cache), HF_ERR_IO);
    assert_int_equal(folder_count(&p.scratch), 2);
    folder_remove(&p.scratch);
}

static bool stop_at_once(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    return --*(int *)user > 0;
}

/* Interrupted at any moment, and with a disk that is full: no cache, nothing left. */
static void what_is_interrupted_leaves_nothing(void **state)
{
    place p = make_place(mixed);
    hf_status status = HF_ERR_CANCELLED;
    for (int after = 1; status == HF_ERR_CANCELLED; after++) {
        int left = after;
        hf_context_set_progress(*state, stop_at_once, &left);
        status = hfi_binary_create(*state, p.csv, p.cache);
        assert_true(status == HF_OK || status == HF_ERR_CANCELLED);
        assert_int_equal(folder_count(&p.scratch), status == HF_OK ? 2 : 1);
        assert_true(after < 100);
    }
    hf_context_set_progress(*state, NULL, NULL);
    remove(p.cache);
    struct rlimit usual, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    small = (struct rlimit){.rlim_cur = 100, .rlim_max = usual.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    status = hfi_binary_create(*state, p.csv, p.cache);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, HF_ERR_IO);
    assert_int_equal(folder_count(&p.scratch), 1);
    folder_remove(&p.scratch);
}

/* Every allocation may fail. */
static void out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    place p = make_place(mixed);
    hf_status status = HF_ERR_MEMORY;
    for (size_t at = 1; status == HF_ERR_MEMORY; at++) {
        meter m;
        hf_context *ctx = meter_context(&m);
        assert_non_null(ctx);
        m.fail_at = m.made + at;
        hfi_binary b;
        hf_table *sketch = NULL;
        bool made;
        status = hfi_binary_obtain(ctx, p.csv, p.cache, &b, &made);
        if (status == HF_OK) {
            status = hfi_binary_sketch(ctx, &b, &sketch);
            hfi_binary_close(&b);
        }
        hf_table_free(sketch);
        assert_true(status == HF_OK || status == HF_ERR_MEMORY);
        hf_context_free(ctx);
        assert_true(m.live == 0);
        remove(p.cache);
        assert_int_equal(folder_count(&p.scratch), 1);
        assert_true(at < 500);
    }
    folder_remove(&p.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(errors_have_their_line),
        cmocka_unit_test(what_is_no_text_is_said),
        cmocka_unit_test(a_source_that_changes_is_refused),
        cmocka_unit_test(a_cache_has_the_numbers),
        cmocka_unit_test(a_sketch_has_the_faults),
        cmocka_unit_test(a_sketch_of_what_cannot_be_shown),
        cmocka_unit_test(many_rows_come_back),
        cmocka_unit_test(a_stale_cache_is_not_used),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(a_cache_that_shrinks_is_an_error),
        cmocka_unit_test(other_files_are_not_overwritten),
        cmocka_unit_test(what_is_interrupted_leaves_nothing),
        cmocka_unit_test(out_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
