/* SPDX-License-Identifier: Apache-2.0 */
/* Writing CSV: quotes where needed, and the same table when read back. */
#include "data/support.h"

#include "core/core.h"

#include <math.h>

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

static void check_written(hf_context *ctx, const hf_table *table, const char *expected)
{
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "out.csv", path);
    if (hf_table_write_csv(ctx, table, path) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    char *text = file_get(path);
    assert_string_equal(text, expected);
    assert_int_equal(folder_count(&scratch), 1);
    free(text);
    folder_remove(&scratch);
}

static void quotes_only_where_needed(void **state)
{
    static const struct {
        const char *read;
        const char *written;
    } cases[] = {
        {"a,b\n1,2\n", "a,b\n1,2\n"},
        {"\xef\xbb\xbf"
         "a;b\r\n\"1\";\"x y\"\r\n",
         "a,b\n1,x y\n"},
        {"a,b\n1.50, 2 \n", "a,b\n1.50, 2 \n"},
        {"a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n"},
        {"a,b\n\"two\nlines\",\"\r\"\n", "a,b\n\"two\nlines\",\"\r\"\n"},
        {"a\n\"\"\n-\n", "a\n\"\"\n-\n"},
        {"a;b\n1,5;x\n", "a,b\n\"1,5\",x\n"},
        {"\" a \",\"b;c\",\"d\te\"\n1,2;,\t\n", "\" a \",\"b;c\",\"d\te\"\n1,2;,\t\n"},
        {"\"\xef\xbb\xbf"
         "a\",b\n",
         "\"\xef\xbb\xbf"
         "a\",b\n"},
        {"a,b\n5\" pipe,1\n", "a,b\n\"5\"\" pipe\",1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_table *table = table_of(*state, cases[i].read);
        check_written(*state, table, cases[i].written);
        hf_table_free(table);
    }
}

static void computed_numbers_have_fewest_digits(void **state)
{
    static const double numbers[] = {0.1, NAN, -INFINITY, 1e300, 1.0 / 3};
    hf_table *table = NULL;
    assert_int_equal(hf_table_create(*state, 5, &table), HF_OK);
    assert_int_equal(hf_table_set_numbers(*state, table, "p,q", numbers), HF_OK);
    check_written(*state, table, "\"p,q\"\n0.1\n\"\"\n-inf\n1e300\n0.3333333333333333\n");
    hf_table_free(table);
}

static void assert_same_table(const hf_table *a, const hf_table *b)
{
    char first[32], second[32];
    assert_int_equal(hf_table_rows(a), hf_table_rows(b));
    assert_int_equal(hf_table_columns(a), hf_table_columns(b));
    for (size_t j = 0; j < hf_table_columns(a); j++) {
        assert_string_equal(hf_table_name(a, j), hf_table_name(b, j));
        assert_true(hf_table_is_numeric(a, j) == hf_table_is_numeric(b, j));
        for (size_t i = 0; i < hf_table_rows(a); i++)
            assert_string_equal(hf_table_field(a, i, j, first), hf_table_field(b, i, j, second));
    }
}

/* A random text of awkward characters, quoted as a field. */
static size_t random_field(hfi_stream *stream, char *out)
{
    static const char *const pieces[] = {"a",    "1",    ".", ",",        ";", "\t", "\n", "\r",
                                         "\r\n", "\"\"", " ", "\xc3\xa4", "-", "NA", "e",  "\xef\xbb\xbf"};
    size_t used = 0, count = hfi_stream_below(stream, 5);
    out[used++] = '"';
    for (size_t k = 0; k < count; k++) {
        const char *piece = pieces[hfi_stream_below(stream, sizeof pieces / sizeof pieces[0])];
        strcpy(out + used, piece);
        used += strlen(piece);
    }
    out[used++] = '"';
    return used;
}

static void written_tables_read_back(void **state)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    folder scratch = folder_make();
    char path[256], text[4096];
    folder_file(&scratch, "again.csv", path);
    for (int trial = 0; trial < 300; trial++) {
        size_t columns = 1 + hfi_stream_below(&stream, 4), rows = hfi_stream_below(&stream, 6), used = 0;
        for (size_t j = 0; j < columns; j++) { /* a digit makes names different, and not empty */
            used += random_field(&stream, text + used) - 1;
            used += (size_t)sprintf(text + used, "%zu\"%s", j, j + 1 < columns ? "," : "\n");
        }
        for (size_t k = 0; k < rows * columns; k++) {
            used += random_field(&stream, text + used);
            used += (size_t)sprintf(text + used, "%s", (k + 1) % columns == 0 ? "\n" : ",");
        }
        text[used] = '\0';
        hf_table *first = table_of(*state, text), *second = NULL;
        assert_int_equal(hf_table_rows(first), rows);
        double number = hfi_stream_normal(&stream);
        if (rows == 1) assert_int_equal(hf_table_set_numbers(*state, first, "computed", &number), HF_OK);
        assert_int_equal(hf_table_write_csv(*state, first, path), HF_OK);
        if (hf_table_read_csv(*state, path, &second) != HF_OK) fail_msg("%s", hf_context_message(*state));
        assert_same_table(first, second);
        hf_table_free(first);
        hf_table_free(second);
    }
    folder_remove(&scratch);
}

static void bits_survive(void **state)
{
    enum {
        ROWS = 2000
    };
    static double numbers[ROWS];
    hfi_stream stream;
    hfi_stream_init(&stream, 4, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < ROWS; i++) numbers[i] = hfi_stream_normal(&stream) * pow(10, (double)(i % 600) - 300);
    hf_table *table = NULL, *again = NULL;
    folder scratch = folder_make();
    char path[256];
    const double *back = NULL;
    assert_int_equal(hf_table_create(*state, ROWS, &table), HF_OK);
    assert_int_equal(hf_table_set_numbers(*state, table, "v", numbers), HF_OK);
    assert_int_equal(hf_table_write_csv(*state, table, folder_file(&scratch, "v.csv", path)), HF_OK);
    assert_int_equal(hf_table_read_csv(*state, path, &again), HF_OK);
    assert_int_equal(hf_table_numbers(*state, again, 0, &back), HF_OK);
    assert_memory_equal(back, numbers, sizeof numbers);
    hf_table_free(table);
    hf_table_free(again);
    folder_remove(&scratch);
}

static void nothing_to_write(void **state)
{
    hf_table *table = NULL;
    folder scratch = folder_make();
    char path[256];
    assert_int_equal(hf_table_create(*state, 3, &table), HF_OK);
    assert_int_equal(hf_table_write_csv(*state, table, folder_file(&scratch, "x.csv", path)), HF_ERR_NO_DATA);
    assert_int_equal(folder_count(&scratch), 0);
    assert_int_equal(hf_table_write_csv(*state, table, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_write_csv(*state, NULL, path), HF_ERR_ARGUMENT);
    hf_table_free(table);
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_only_where_needed), cmocka_unit_test(computed_numbers_have_fewest_digits),
        cmocka_unit_test(written_tables_read_back), cmocka_unit_test(bits_survive),
        cmocka_unit_test(nothing_to_write),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
