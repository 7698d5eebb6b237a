/* SPDX-License-Identifier: Apache-2.0 */
/* Reading CSV: what is accepted, what is refused, and in which words. */
#include "data/support.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

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

/* Fields of a table as "a|b/1|2/": names first, rows end with a slash. */
static void flatten(const hf_table *table, char *out, size_t bytes)
{
    char buffer[32];
    size_t used = 0;
    for (size_t j = 0; j < hf_table_columns(table); j++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", j > 0 ? "|" : "", hf_table_name(table, j));
    used += (size_t)snprintf(out + used, bytes - used, "/");
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        for (size_t j = 0; j < hf_table_columns(table); j++)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", j > 0 ? "|" : "",
                                     hf_table_field(table, i, j, buffer));
        used += (size_t)snprintf(out + used, bytes - used, "/");
    }
}

static void good_files(void **state)
{
    static const struct {
        const char *text;
        const char *flat;
    } cases[] = {
        {"a,b\n1,2\n", "a|b/1|2/"},
        {"a,b\r\n1,2\r\n", "a|b/1|2/"},
        {"a,b\n1,2", "a|b/1|2/"},
        {"a,b\n1,2\r", "a|b/1|2/"},
        {"a,b\n1,", "a|b/1|/"},
        {"a,b\n,\n", "a|b/|/"},
        {"a\n1\n", "a/1/"},
        {"a", "a/"},
        {"a,b\n", "a|b/"},
        {"\xef\xbb\xbf"
         "a,b\n1,2\n",
         "a|b/1|2/"},
        {"\xef\xbb\xbf\"a\",b\n1,2\n", "a|b/1|2/"},
        {"\n\r\n\na,b\n\n\n1,2\n\r\n3,4\n\n", "a|b/1|2/3|4/"},
        {"a;b\n1;2\n", "a|b/1|2/"},
        {"a\tb\n1\t2\n", "a|b/1|2/"},
        {"a\tb\n\t\n", "a|b/|/"},
        {"a;b\n1,5;2,5\n", "a|b/1,5|2,5/"},
        {"x (a,b);y;z\n1;2;3\n", "x (a,b)|y|z/1|2|3/"},
        {"\"a;c;d\",b\n1,2\n", "a;c;d|b/1|2/"},
        {"a,b\n\"1\",\"x\"\n", "a|b/1|x/"},
        {"a,b\n\"x, y\",\"say \"\"hi\"\"\"\n", "a|b/x, y|say \"hi\"/"},
        {"a,b\n\"two\nlines\",\"three\r\nmore\"\n", "a|b/two\nlines|three\r\nmore/"},
        {"\"two\nlines\",b\n1,2\n", "two\nlines|b/1|2/"},
        {"a,b\n\"\",\"\"\"\"\n", "a|b/|\"/"},
        {"a\n\"\"\n", "a//"},
        {"\"\"\"\n;\";b;c\n1;2;3\n", "\"\n;|b|c/1|2|3/"},
        {"a,b\n5\" pipe,x\"y\"z\n", "a|b/5\" pipe|x\"y\"z/"},
        {" a , b\t\n 1 , 2\n", "a|b/ 1 | 2/"},
        {"\" a \",b\n1,2\n", " a |b/1|2/"},
        {"gr\xc3\xb6\xc3\x9f"
         "e,b\n1,2\n",
         "gr\xc3\xb6\xc3\x9f"
         "e|b/1|2/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_table *table = table_of(*state, cases[i].text);
        char flat[256];
        flatten(table, flat, sizeof flat);
        assert_string_equal(flat, cases[i].flat);
        hf_table_free(table);
    }
}

static void bad_files(void **state)
{
    static const struct {
        const char *text;
        size_t bytes; /* 0: strlen */
        hf_status status;
        const char *message;
    } cases[] = {
        {"", 0, HF_ERR_NO_DATA, "t.csv: nothing in it; a header line with column names is needed"},
        {"\n\r\n\n", 0, HF_ERR_NO_DATA, "t.csv: nothing in it"},
        {"\xef\xbb\xbf", 0, HF_ERR_NO_DATA, "t.csv: nothing in it"},
        {"a,b,c\n1,2,3\n4,5\n", 0, HF_ERR_PARSE, "t.csv: line 3: 2 fields found, 3 expected"},
        {"a,b,c\n1\n", 0, HF_ERR_PARSE, "t.csv: line 2: 1 field found, 3 expected"},
        {"a,b\n1,2,3,4\n", 0, HF_ERR_PARSE, "t.csv: line 2: 4 fields found, 2 expected"},
        {"a,b\n1,2,\n", 0, HF_ERR_PARSE, "t.csv: line 2: 3 fields found, 2 expected"},
        {"a,b\n\n\"x\ny\",2\n1\n", 0, HF_ERR_PARSE, "t.csv: line 5: 1 field found, 2 expected"},
        {"a,dose\n1,\"2\" \n", 0, HF_ERR_PARSE,
         "t.csv: line 2, column 2 (\"dose\"): text after the closing quote"},
        {"a,b\n\"1\"x,2\n", 0, HF_ERR_PARSE, "t.csv: line 2, column 1 (\"a\"): text after the closing quote"},
        {"a,b\n1,2\n3,\"x\n4,5\n", 0, HF_ERR_PARSE,
         "t.csv: line 3, column 2 (\"b\"): the quote that opens this field is never closed"},
        {"a,\"b\n1,2\n", 0, HF_ERR_PARSE,
         "t.csv: line 1, column 2: the quote that opens this field is never closed"},
        {"a,b\n1, \"2\"\n", 0, HF_ERR_PARSE, "t.csv: line 2, column 2 (\"b\"): a quote after a blank"},
        {"a,,c\n1,2,3\n", 0, HF_ERR_PARSE,
         "t.csv: line 1, column 2: the header has no name here; name the column"},
        {",a\n0,1\n", 0, HF_ERR_PARSE, "index=False, R: row.names=FALSE"},
        {"a, ,c\n1,2,3\n", 0, HF_ERR_PARSE, "t.csv: line 1, column 2: the header has no name"},
        {"a,b,\n1,2,\n", 0, HF_ERR_PARSE, "t.csv: line 1, column 3: the header has no name"},
        {"a,b, a\n1,2,3\n", 0, HF_ERR_PARSE,
         "t.csv: line 1, column 3 (\"a\"): the same name as column 1; rename one"},
        {"\n\n\"a\nb\",x,x\n1,2,3\n", 0, HF_ERR_PARSE,
         "t.csv: line 4, column 3 (\"x\"): the same name as column 2"},
        {"a,b\n1,2\r3,4\n", 0, HF_ERR_PARSE,
         "t.csv: line 2, column 2 (\"b\"): a carriage return without a line feed"},
        {"a\rb\r", 0, HF_ERR_PARSE, "t.csv: line 1, column 1: a carriage return without a line feed"},
        {"a,b\n1,2\n3,\0\n", 13, HF_ERR_PARSE,
         "t.csv: line 3: a zero byte at offset 10; it is not a text file"},
        {"\xff\xfe"
         "a\0,\0b\0\n\0",
         10, HF_ERR_PARSE, "it looks like UTF-16 text; convert it to UTF-8"},
        {"\x1f\x8b\x08\0", 4, HF_ERR_PARSE, "it looks gzip-compressed; unpack it first"},
        {"PK\x03\x04\x14\0", 6, HF_ERR_PARSE, "save it as CSV"},
        {"SQLite format 3\0xx", 18, HF_ERR_PARSE, "it is an SQLite database, perhaps a model file"},
        {"a,\x1b[31mred\n1,2,3\n", 0, HF_ERR_PARSE, "line 2: 3 fields found, 2 expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_table *table = (hf_table *)*state;
        size_t bytes = cases[i].bytes == 0 ? strlen(cases[i].text) : cases[i].bytes;
        assert_int_equal(hf_table_parse_csv(*state, cases[i].text, bytes, "t.csv", &table), cases[i].status);
        assert_null(table);
        assert_contains(hf_context_message(*state), cases[i].message);
    }
}

static void numeric_and_text_columns(void **state)
{
    hf_table *table = table_of(*state, "x,name,y,gap\n1,ann,\"-2.5\",\n.5e1,bob,NA,\n  7 ,NA,?,-\n");
    const double *numbers = NULL;
    assert_int_equal(hf_table_rows(table), 3);
    assert_true(hf_table_is_numeric(table, 0));
    assert_false(hf_table_is_numeric(table, 1));
    assert_true(hf_table_is_numeric(table, 2));
    assert_true(hf_table_is_numeric(table, 3));
    assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 1 && numbers[1] == 5 && numbers[2] == 7);
    assert_int_equal(hf_table_numbers(*state, table, 2, &numbers), HF_OK);
    assert_true(numbers[0] == -2.5 && isnan(numbers[1]) && isnan(numbers[2]));
    assert_int_equal(hf_table_numbers(*state, table, 3, &numbers), HF_OK);
    assert_true(isnan(numbers[0]) && isnan(numbers[1]) && isnan(numbers[2]));
    assert_field(table, 1, 0, ".5e1");
    assert_field(table, 2, 3, "-");
    hf_table_free(table);
}

static void no_rows_is_no_error(void **state)
{
    hf_table *table = table_of(*state, "x,y\n");
    const double *numbers = NULL;
    assert_int_equal(hf_table_rows(table), 0);
    assert_int_equal(hf_table_columns(table), 2);
    assert_int_equal(hf_table_numbers(*state, table, 1, &numbers), HF_OK);
    assert_non_null(numbers);
    hf_table_free(table);
}

static void text_in_a_number_column_is_located(void **state)
{
    static const struct {
        const char *text;
        size_t column;
        const char *message;
    } cases[] = {
        {"id,x,dose\n1,2,3\n4,5,abc\n", 2, "t.csv: line 3, column 3 (\"dose\"): \"abc\" is not a number"},
        {"note,x\n\"two\nlines\",1\n\"three\nmore\nlines\",1O\n", 1,
         "t.csv: line 6, column 2 (\"x\"): \"1O\" is not a number"},
        {"x,y\n\"3,14\",1\n", 0, "\"3,14\" is not a number; write the decimal mark as a point"},
        {"x;y\n3,14;1\n", 0,
         "t.csv: line 2, column 1 (\"x\"): \"3,14\" is not a number; write the decimal mark as a point"},
        {"x,y\n0x10,1\n", 0, "\"0x10\" is not a number"},
        {"x\n\x1b[2J\x01\n", 0, "\"?[2J?\" is not a number"},
        {"x\nabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\n", 0,
         "abcdefghijab...\" is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_table *table = table_of(*state, cases[i].text);
        const double *numbers = (const double *)*state;
        assert_int_equal(hf_table_numbers(*state, table, cases[i].column, &numbers), HF_ERR_PARSE);
        assert_null(numbers);
        assert_contains(hf_context_message(*state), cases[i].message);
        hf_table_free(table);
    }
}

static void lines_are_remembered(void **state)
{
    hf_table *table = table_of(*state, "\na,b\n\n1,2\n\"x\ny\",3\n\n4,5\n");
    assert_int_equal(hf_table_line(table, 0), 4);
    assert_int_equal(hf_table_line(table, 1), 5);
    assert_int_equal(hf_table_line(table, 2), 8);
    assert_int_equal(hf_table_line(table, 3), 0);
    assert_string_equal(hf_table_source(table), "t.csv");
    hf_table_free(table);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void unreadable_files(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hf_table *table = NULL;
    assert_int_equal(hf_table_read_csv(*state, folder_file(&scratch, "none.csv", path), &table), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "none.csv: cannot be read: No such file");
    assert_int_equal(hf_table_read_csv(*state, scratch.path, &table), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "is a folder; give the CSV file in it");
    assert_int_equal(hf_table_read_csv(*state, "/dev/zero", &table), HF_ERR_PARSE);
    assert_contains(hf_context_message(*state), "/dev/zero: line 1: a zero byte at offset 0");
    assert_int_equal(hf_table_read_csv(*state, "/dev/full", &table), HF_ERR_PARSE);
    assert_int_equal(hf_table_read_csv(*state, "/dev/null", &table), HF_ERR_NO_DATA);
    assert_contains(hf_context_message(*state), "/dev/null: nothing in it");
    assert_null(table);
    assert_int_equal(hf_table_read_csv(*state, NULL, &table), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_read_csv(*state, "x", NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_parse_csv(*state, NULL, 3, "x", &table), HF_ERR_ARGUMENT);
    folder_remove(&scratch);
}

/* A file with a hole, four tebibytes long: refused before any of it is read. */
static void a_file_larger_than_memory_is_refused(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hf_table *table = NULL;
    file_put(folder_file(&scratch, "huge.csv", path), "a,b\n", 4);
    bool made = truncate(path, (off_t)1 << 42) == 0;
    if (made) {
        assert_int_equal(hf_table_read_csv(*state, path, &table), HF_ERR_TOO_LARGE);
        assert_null(table);
        assert_contains(hf_context_message(*state),
                        "huge.csv: 4398046511106 bytes of memory are needed to read it");
    }
    folder_remove(&scratch);
    if (!made) skip(); /* this file system has no such files */
}

static void large_file_and_standard_input(void **state)
{
    folder scratch = folder_make();
    char path[256];
    FILE *file = fopen(folder_file(&scratch, "big.csv", path), "w");
    assert_non_null(file);
    fputs("i,half,text\n", file);
    for (int i = 0; i < 100000; i++) fprintf(file, "%d,%d.5,\"row, %d\"\n", i, i, i);
    fclose(file);

    int saved = dup(STDIN_FILENO), input = open(path, O_RDONLY);
    assert_true(saved >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO);
    const char *const sources[] = {path, "-"}, *const names[] = {path, "standard input"};
    for (int k = 0; k < 2; k++) {
        hf_table *table = NULL;
        const double *numbers = NULL;
        assert_int_equal(hf_table_read_csv(*state, sources[k], &table), HF_OK);
        assert_string_equal(hf_table_source(table), names[k]);
        assert_int_equal(hf_table_rows(table), 100000);
        assert_int_equal(hf_table_numbers(*state, table, 1, &numbers), HF_OK);
        for (int i = 0; i < 100000; i++) assert_true(numbers[i] == i + 0.5);
        assert_field(table, 99999, 2, "row, 99999");
        assert_int_equal(hf_table_line(table, 99999), 100001);
        hf_table_free(table);
    }
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
    close(saved);
    close(input);
    folder_remove(&scratch);
}

static void a_hundred_thousand_columns(void **state)
{
    const size_t columns = 100000;
    char *text = malloc(columns * 32);
    assert_non_null(text);
    size_t used = 0;
    for (size_t j = 0; j < columns; j++)
        used += (size_t)sprintf(text + used, "%scolumn%zu", j > 0 ? "," : "", j);
    used += (size_t)sprintf(text + used, "\n");
    for (size_t j = 0; j < columns; j++) used += (size_t)sprintf(text + used, "%s%zu", j > 0 ? "," : "", j);
    hf_table *table = NULL;
    assert_int_equal(hf_table_parse_csv(*state, text, used, "wide.csv", &table), HF_OK);
    assert_int_equal(hf_table_columns(table), columns);
    for (size_t j = 0; j < columns; j += 997) {
        char name[32];
        size_t found = 0;
        const double *numbers = NULL;
        sprintf(name, "column%zu", j);
        assert_int_equal(hf_table_find(*state, table, name, &found), HF_OK);
        assert_int_equal(found, j);
        assert_int_equal(hf_table_numbers(*state, table, j, &numbers), HF_OK);
        assert_true(numbers[0] == (double)j);
    }
    size_t found = 7;
    assert_int_equal(hf_table_find(*state, table, "kolumn99999", &found), HF_ERR_NO_COLUMN);
    assert_int_equal(found, 7);
    assert_contains(hf_context_message(*state),
                    "did you mean \"column99999\"? The 100000 columns: column0, column1, ");
    assert_contains(hf_context_message(*state), "more");
    assert_true(strlen(hf_context_message(*state)) < 800);
    hf_table_free(table);
    free(text);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

static bool refuse_after(const char *stage, double done, double value, void *user)
{
    int *left = user;
    assert_string_equal(stage, "read");
    assert_true(done <= 1 && isnan(value));
    return (*left)-- > 0;
}

static void reading_can_be_cancelled(void **state)
{
    size_t bytes = 4, rows = 20000;
    char *text = malloc(bytes + 4 * rows + 1);
    assert_non_null(text);
    strcpy(text, "a,b\n");
    for (size_t i = 0; i < rows; i++, bytes += 4) strcpy(text + bytes, "1,2\n");
    hf_table *table = NULL;
    hf_status status = HF_ERR_CANCELLED;
    int refusals = 0;
    for (int allowed = 0; status == HF_ERR_CANCELLED; allowed++) {
        int left = allowed;
        hf_context_set_progress(*state, refuse_after, &left);
        status = hf_table_parse_csv(*state, text, bytes, "t.csv", &table);
        refusals += status == HF_ERR_CANCELLED;
        assert_true((status == HF_OK) == (table != NULL));
    }
    hf_context_set_progress(*state, NULL, NULL);
    assert_int_equal(status, HF_OK);
    assert_int_equal(refusals, 20000 / 4096);
    hf_table_free(table);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(numeric_and_text_columns),
        cmocka_unit_test(no_rows_is_no_error),
        cmocka_unit_test(text_in_a_number_column_is_located),
        cmocka_unit_test(lines_are_remembered),
        cmocka_unit_test(unreadable_files),
        cmocka_unit_test(a_file_larger_than_memory_is_refused),
        cmocka_unit_test(large_file_and_standard_input),
        cmocka_unit_test(a_hundred_thousand_columns),
        cmocka_unit_test(reading_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
