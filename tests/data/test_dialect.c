/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as people have them: each in a foreign dress has the numbers, to the bit, of the same table in the
 * plain one. */
#include "data/support.h"

#include "core/core.h"
#include "data/manner.h"
#include "data/table_impl.h"

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

static hf_table *dressed(hf_context *ctx, const char *text, const hf_dialect *dialect)
{
    hf_table *table = NULL;
    const hf_status status = hf_table_parse(ctx, text, strlen(text), "t.csv", dialect, &table);
    if (status != HF_OK) fail_msg("%s\n%s", text, hf_context_message(ctx));
    return table;
}

static bool is_noted(const hf_table *table, const char *part)
{
    for (size_t i = 0; i < hf_table_notes(table); i++)
        if (strstr(hf_table_note(table, i), part) != NULL) return true;
    return false;
}

/* Names and numbers of the columns that are numeric in `plain`, and the number of rows. */
static void assert_same_numbers(hf_context *ctx, const hf_table *table, const hf_table *plain,
                                const char *text)
{
    if (hf_table_rows(table) != hf_table_rows(plain)) fail_msg("%s: %zu rows", text, hf_table_rows(table));
    for (size_t j = 0; j < hf_table_columns(plain); j++) {
        size_t column = 0;
        const double *a = NULL, *b = NULL;
        if (!hf_table_is_numeric(plain, j)) continue;
        if (hf_table_find(ctx, table, hf_table_name(plain, j), &column) != HF_OK ||
            hf_table_numbers(ctx, table, column, &a) != HF_OK)
            fail_msg("%s\n%s", text, hf_context_message(ctx));
        assert_int_equal(hf_table_numbers(ctx, plain, j, &b), HF_OK);
        for (size_t i = 0; i < hf_table_rows(plain); i++)
            if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
                fail_msg("%s: row %zu, column %zu: %.17g, not %.17g", text, i, j, a[i], b[i]);
    }
}

static void foreign_dress_has_the_same_bits(void **state)
{
    static const struct {
        const char *dressed, *plain, *note; /* note: NULL for none at all */
    } cases[] = {
        {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4\n", NULL},
        {"x;y\n1,5;2,25\n-3,125;4\n", "x,y\n1.5,2.25\n-3.125,4\n", "decimal mark: \"x\", \"y\""},
        {"x\ty\n0,1\t1e3\n,3\t-1,5e-3\n", "x,y\n0.1,1e3\n.3,-1.5e-3\n", "decimal mark"},
        {"x;y\n1,5;1,234\n2,5;3,456\n", "x,y\n1.5,1.234\n2.5,3.456\n", "decimal mark: \"x\", \"y\""},
        {"x;y\n1.234,5;a\n12.345.678,25;b\n", "x,y\n1234.5,a\n12345678.25,b\n", "thousands separators"},
        {"x,y\n\"1,234,567\",a\n\"2,345\",b\n12,c\n", "x,y\n1234567,a\n2345,b\n12,c\n",
         "thousands separators"},
        {"x,y\n\"1,234.5\",a\n\"2,345\",b\n", "x,y\n1234.5,a\n2345,b\n", "thousands"},
        {"x,y\n1 234,a\n12\xc2\xa0"
         "345,b\n7,c\n",
         "x,y\n1234,a\n12345,b\n7,c\n", "thousands"},
        {"x,y\n1'234.5,a\n12,b\n", "x,y\n1234.5,a\n12,b\n", "thousands"},
        {"x,y\n12%,1\n0.5 %,2\n,3\n", "x,y\n12,1\n0.5,2\n,3\n", "percent signs are left out"},
        {"x,y\n$5,1\n\"$1,234.50\",2\n-$3,3\n", "x,y\n5,1\n1234.50,2\n-3,3\n", "currency signs"},
        {"x;y\n5,10 \xe2\x82\xac;1\n7 \xe2\x82\xac;2\n", "x,y\n5.10,1\n7,2\n", "currency signs"},
        {"x,y\n<20,1\n25,2\n>900,3\n30,4\n", "x,y\n,1\n25,2\n,3\n30,4\n",
         "2 fields beyond a limit of detection (<20) count as missing"},
        {"x,y\nTRUE,1\nfalse,2\nNA,3\n", "x,y\n1,1\n0,2\n,3\n", "TRUE is 1"},
        {"# made by x\n\n# 2024\na,b\n1,2\n# between\n3,4\n", "a,b\n1,2\n3,4\n", "2 lines of comments"},
        {"# x, y\n1.5,2\n3,4\n", "x,y\n1.5,2\n3,4\n", "behind a #"},
        {"1.5,2,1\n3,4,1\n", "V1,V2,V3\n1.5,2,1\n3,4,1\n", "no line with names"},
        {"1,5;2,5;7\n3,5;4,5;6\n", "V1,V2,V3\n1.5,2.5,7\n3.5,4.5,6\n", "no line with names"},
        {"400,402,404,406,408\n1,2,3,4,6\n", "400,402,404,406,408\n1,2,3,4,6\n", NULL},
        {",a,b\n0,1,2\n1,3,4\n", "row_name,a,b\n0,1,2\n1,3,4\n", "names of rows"},
        {"\"\",\"a\"\n\"r1\",1\n\"r2\",3\n", "row_name,a\nr1,1\nr2,3\n", "names of rows"},
        {"\"a\",\"b\"\n\"1\",1,2\n\"2\",3,4\n", "row_name,a,b\n1,1,2\n2,3,4\n", "names of rows"},
        {"a,b,\n1,2,\n3,4,\n", "a,b\n1,2\n3,4\n", "1 empty column without a name"},
        {"a,b\n1,2,\n3,4,\n", "a,b\n1,2\n3,4\n", "1 empty column without a name"},
        {"a,,b,,\n1,,2,,\n", "a,b\n1,2\n", "3 empty columns"},
        {"m,len\n[kg],[m]\n1,2\n3,4\n", "m,len\n1,2\n3,4\n", "line 2 has units and is no row: [kg], [m]"},
        {"m,len,t\nkg,m,\n1,2,3\n3,4,5\n", "m,len,t\n1,2,3\n3,4,5\n", "line 2 has units"},
        {"m;len\nkg;m\n1,5;2\n3,5;4\n", "m,len\n1.5,2\n3.5,4\n", "line 2 has units"},
        {"\xef\xbb\xbf# c\r\na;b\r\n1,5;2\r\n", "a,b\n1.5,2\n", "decimal mark"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_table *table = dressed(*state, cases[k].dressed, NULL), *plain = table_of(*state, cases[k].plain);
        assert_same_numbers(*state, table, plain, cases[k].dressed);
        assert_int_equal(hf_table_columns(table), hf_table_columns(plain));
        if (cases[k].note == NULL) assert_int_equal(hf_table_notes(table), 0);
        if (cases[k].note != NULL && !is_noted(table, cases[k].note))
            fail_msg("%s: not noted: %s (%s)", cases[k].dressed, cases[k].note,
                     hf_table_notes(table) > 0 ? hf_table_note(table, 0) : "nothing");
        hf_table_free(table);
        hf_table_free(plain);
    }
}

/* Random numbers of all sizes, dressed by the program: decimal commas with points for thousands, and the
 * other way round. */
static void random_numbers_keep_their_bits(void **state)
{
    enum {
        ROWS = 400
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 1);
    char *german = calloc(ROWS + 2, 64), *english = calloc(ROWS + 2, 64), *plain = calloc(ROWS + 2, 64);
    assert_true(german != NULL && english != NULL && plain != NULL);
    size_t g = (size_t)sprintf(german, "x;k\n1,5;0\n1.234,5;0\n"),
           e = (size_t)sprintf(english, "x;k\n1.5;0\n1,234.5;0\n");
    size_t p = (size_t)sprintf(plain, "x,k\n1.5,0\n1234.5,0\n");
    for (int i = 0; i < ROWS; i++) {
        char digits[40], grouped[64];
        const double value = pow(10.0, 14.0 * hfi_stream_uniform(&stream) - 6.0) * hfi_stream_normal(&stream);
        snprintf(digits, sizeof digits, "%.*f", 7 + i % 5, value);
        const char *at = digits + (*digits == '-'), *point = strchr(digits, '.');
        size_t used = 0;
        if (*digits == '-') grouped[used++] = '-';
        for (const char *c = at; *c != '\0'; c++) {
            if (c > at && c < point && (point - c) % 3 == 0) grouped[used++] = ',';
            grouped[used++] = *c;
        }
        grouped[used] = '\0';
        p += (size_t)sprintf(plain + p, "%s,%d\n", digits, i);
        e += (size_t)sprintf(english + e, "%s;%d\n", grouped, i);
        for (char *c = grouped; *c != '\0'; c++) *c = (char)(*c == ',' ? '.' : *c == '.' ? ',' : *c);
        g += (size_t)sprintf(german + g, "%s;%d\n", grouped, i);
    }
    hf_table *a = dressed(*state, german, NULL), *b = dressed(*state, english, NULL),
             *c = table_of(*state, plain);
    assert_same_numbers(*state, a, c, "german");
    assert_same_numbers(*state, b, c, "english");
    assert_string_equal(hf_table_read_as(a, 0), "number (decimal comma, thousands)");
    hf_table_free(a);
    hf_table_free(b);
    hf_table_free(c);
    free(german);
    free(english);
    free(plain);
}

/* In a file without decimal commas a point is the decimal mark, whatever else the column wears. */
static void points_stay_where_no_column_has_decimal_commas(void **state)
{
    const struct {
        const char *text;
        double first, second;
    } cases[] = {
        {"x,y\n<2,1\n4.802,2\n5.123,3\n", NAN, 4.802},
        {"x;y\n<2;1\n4.802;2\n5.123;3\n", NAN, 4.802},
        {"x,y\n$4.802,1\n$5.123,2\n", 4.802, 5.123},
        {"x,y\n4.802%,1.5\n7%,2\n", 4.802, 7},
    };
    const double *numbers = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_table *table = dressed(*state, cases[k].text, NULL);
        assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
        assert_true(numbers[0] == cases[k].first || (isnan(numbers[0]) && isnan(cases[k].first)));
        assert_true(numbers[1] == cases[k].second);
        hf_table_free(table);
    }
    hf_table *table = dressed(*state, "x,y\n<2,\"1,5\"\n4.802,\"2,5\"\n5.123,3\n", NULL);
    assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_ERR_PARSE);
    assert_contains(hf_context_message(*state), "line 3, column 1 (\"x\"): \"4.802\" has a thousands");
    hf_table_free(table);
}

/* In a file with decimal commas a point may be either mark, whatever else its column wears. */
static void points_are_asked_for_beside_decimal_commas(void **state)
{
    static const char *const texts[] = {
        "x;y\n<2;1,5\n4.802;2,5\n5.123;3\n",
        "x;y\n1,234 %;1,5\n4.802 %;2,5\n5 %;3\n",
        "x\ty\n7 \xe2\x82\xac\t1,5\n4.802 \xe2\x82\xac\t2,5\n5 \xe2\x82\xac\t3\n",
    };
    const hf_dialect comma = {.size = sizeof comma, .decimal = HF_DECIMAL_COMMA},
                     point = {.size = sizeof point, .decimal = HF_DECIMAL_POINT};
    const double *numbers = NULL;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        hf_table *table = dressed(*state, texts[k], NULL);
        assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_ERR_PARSE);
        assert_contains(hf_context_message(*state), "say which the decimal mark is");
        assert_string_equal(hf_table_read_as(table, 0), "unsure");
        hf_table_free(table);
        for (int said = 0; said < 2; said++) {
            table = dressed(*state, texts[k], said == 0 ? &comma : &point);
            assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
            assert_true(numbers[1] == (said == 0 ? 4802 : 4.802));
            hf_table_free(table);
        }
    }
    /* A field of three digits behind a point is asked for once; others of the column may tell. */
    hf_table *told = dressed(*state, "x;y\n<2;1,5\n4.802;2,5\n5.1;3\n", NULL);
    assert_int_equal(hf_table_numbers(*state, told, 0, &numbers), HF_OK);
    assert_true(numbers[1] == 4.802);
    hf_table_free(told);
}

/* Fields that may be two numbers are none, until somebody says which. */
static void ambiguity_is_an_error(void **state)
{
    static const char *const texts[] = {
        "x,y\n\"1,234\",1\n\"2,345\",2\n", /* commas of thousands or of decimals */
        "x;y\n1,234;1\n2,345;2\n",         /* and nothing else in the file tells */
        "x;y\n1.234;1,5\n2.345;2,5\n",     /* points of thousands, in a file of decimal commas? */
    };
    hf_dialect comma = {.size = sizeof comma, .decimal = HF_DECIMAL_COMMA},
               point = {.size = sizeof point, .decimal = HF_DECIMAL_POINT};
    const double *numbers = NULL;
    for (size_t k = 0; k < 3; k++) {
        hf_table *table = dressed(*state, texts[k], NULL);
        assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_ERR_PARSE);
        assert_contains(hf_context_message(*state), "t.csv: line 2, column 1 (\"x\")");
        assert_contains(hf_context_message(*state), "say which the decimal mark is");
        assert_string_equal(hf_table_read_as(table, 0), "unsure");
        hf_table_free(table);
        table = dressed(*state, texts[k], &comma);
        assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
        assert_true(numbers[0] == (k < 2 ? 1.234 : 1234));
        hf_table_free(table);
        table = dressed(*state, texts[k], &point);
        assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
        assert_true(numbers[0] == (k < 2 ? 1234 : 1.234));
        hf_table_free(table);
    }
    /* A dialect that was learnt elsewhere does not make 1234 of 1.234. */
    hf_table *table = dressed(*state, "x;y\n1,5;1\n", NULL);
    const hf_dialect *learnt = hf_table_dialect(table);
    assert_int_equal(learnt->decimal, HF_DECIMAL_COMMA);
    hf_table *plain = dressed(*state, "x,y\n1.234,1\n", learnt),
             *open = dressed(*state, "x;y\n1,234;1\n", learnt);
    assert_int_equal(hf_table_numbers(*state, plain, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 1.234);
    assert_int_equal(hf_table_numbers(*state, open, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 1.234);
    hf_table_free(open);
    hf_table_free(plain);
    hf_table_free(table);
}

static void stay_text_or_errors(void **state)
{
    static const char *const texts[] = {
        "x;y\n1,5;1\n2.5;2\n",
        "x,y\n12%,1\n3,2\n",
        "x,y\n$1,1\n\xe2\x82\xac"
        "2,2\n",
        "x,y\n<2,1\n<3,2\n",
        "x,y\nTRUE,1\nyes,2\n",
        "x,y\n192.168.1.10,1\n1,2\n",
        "x,y\n1 23,1\n4,2\n",
        "x,y\n12:30,1\n13:30,2\n",
        "x,y\n2024-01-05,1\n1,2\n",
        "x,y\n1-2,1\n3,2\n",
        "x,y\n0x12,1\n3,2\n",
        "x,y\n1.2.3,1\n3,2\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        hf_table *table = dressed(*state, texts[k], NULL);
        if (hf_table_is_numeric(table, 0)) fail_msg("%s: is numeric", texts[k]);
        assert_string_equal(hf_table_read_as(table, 0), "text");
        hf_table_free(table);
    }
    static const struct {
        const char *text, *message;
        hf_status status;
    } bad[] = {
        {"", "nothing in it", HF_ERR_NO_DATA},
        {"# only\n#\n", "nothing in it but comments", HF_ERR_NO_DATA},
        {"a,b\n1,5,2\n2,7,3\n", "t.csv: line 2: 3 fields found, 2 expected", HF_ERR_PARSE},
        {"a,,c\n1,2,3\n", "line 1, column 2: the header has no name", HF_ERR_PARSE},
        {"# c\na,a\n1,2\n", "line 2, column 2 (\"a\"): the same name as column 1", HF_ERR_PARSE},
        {"# c\na,b\n1,\"2\n", "line 3, column 2 (\"b\"): the quote", HF_ERR_PARSE},
        {"1,2\n3\n", "line 2: 1 field found", HF_ERR_PARSE},
        {",a\n0,1\n1,2,3\n", "line 3: 3 fields found", HF_ERR_PARSE},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        hf_table *table = NULL;
        assert_int_equal(hf_table_parse(*state, bad[k].text, strlen(bad[k].text), "t.csv", NULL, &table),
                         bad[k].status);
        assert_contains(hf_context_message(*state), bad[k].message);
        assert_null(table);
    }
}

static void choices_are_obeyed(void **state)
{
    const char *const codes[] = {"-999", "n.n."};
    const hf_dialect half = {.size = sizeof half, .limits = HF_LIMITS_HALF},
                     no = {.size = sizeof no, .header = HF_HEADER_NO},
                     yes = {.size = sizeof yes, .header = HF_HEADER_YES},
                     missing = {.size = sizeof missing, .missing = codes, .missing_count = 2};
    const double *numbers = NULL;
    hf_table *table = dressed(*state, "x,y\n<0.25,1\n3,2\n>9,3\n", &half);
    assert_int_equal(hf_table_numbers(*state, table, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 0.125 && numbers[1] == 3 && isnan(numbers[2]));
    hf_table_free(table);
    table = dressed(*state, "a,b\n1,2\n", &no);
    assert_string_equal(hf_table_name(table, 1), "V2");
    assert_int_equal(hf_table_rows(table), 2);
    assert_int_equal(hf_table_line(table, 0), 1);
    hf_table_free(table);
    table = dressed(*state, "3,1,2\n1,2,5\n", &yes);
    assert_string_equal(hf_table_name(table, 0), "3");
    hf_table_free(table);
    table = dressed(*state, "x,y\n-999.0,n.n.\n3, n.n. \nn.n.,2\n-9990,7\n", &missing);
    for (size_t j = 0; j < 2; j++) {
        assert_int_equal(hf_table_numbers(*state, table, j, &numbers), HF_OK);
        assert_true(isnan(numbers[j]) && isnan(numbers[0]) && !isnan(numbers[3]));
    }
    assert_true(is_noted(table, "\"-999\" is a missing value: 1 field") &&
                is_noted(table, "\"n.n.\" is a missing value: 3 fields"));
    /* Fields stay as they are where they are written. */
    assert_field(table, 0, 0, "-999.0");
    hf_table_free(table);
}

/* Chosen rows are read as the table was, though they alone would say less. */
static void parts_are_read_alike(void **state)
{
    static const size_t rows[] = {1, 2};
    const double *numbers = NULL;
    hf_table *table = dressed(*state, ",x;\n", NULL), *part = NULL;
    hf_table_free(table);
    table = dressed(*state, ";x;t;;w\na;1,5;TRUE;;<2\nb;1,234;FALSE;;3\nc;2,345;TRUE;;4\n", NULL);
    assert_int_equal(hf_table_columns(table), 4);
    assert_int_equal(hf_table_select(*state, table, rows, 2, &part), HF_OK);
    assert_int_equal(hf_table_columns(part), 4);
    for (size_t j = 0; j < 4; j++) assert_string_equal(hf_table_read_as(part, j), hf_table_read_as(table, j));
    assert_int_equal(hf_table_numbers(*state, part, 1, &numbers), HF_OK);
    assert_true(numbers[0] == 1.234 && numbers[1] == 2.345);
    assert_int_equal(hf_table_numbers(*state, part, 2, &numbers), HF_OK);
    assert_true(numbers[0] == 0 && numbers[1] == 1);
    assert_string_equal(hf_table_read_as(part, 0), "name of the row");
    hf_table_free(part);
    hf_table_free(table);
}

static void lines_are_those_of_the_file(void **state)
{
    static const struct {
        const char *text;
        size_t lines[2];
    } cases[] = {
        {"# a\n# b\nx,y\n1,2\n\n3,4\n", {4, 6}},
        {"1,2\n2,1\n", {1, 2}},
        {",x\na,2\nb,1\n", {2, 3}},
        {"# a\n\"\",\"x\ny\"\na,2\nb,1\n", {4, 5}},
        {"x,y\n[m],[s]\n2,1\n# c\n3,1\n", {3, 5}},
        {"# x,y\n\n3,4\n5,6\n", {3, 4}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_table *table = dressed(*state, cases[k].text, NULL);
        assert_int_equal(hf_table_rows(table), 2);
        for (size_t i = 0; i < 2; i++)
            if (hf_table_line(table, i) != cases[k].lines[i])
                fail_msg("%s: row %zu is of line %zu", cases[k].text, i, hf_table_line(table, i));
        hf_table_free(table);
    }
}

/* A table that is written, whatever it looked like, is CSV as it should be and has the same fields. */
static void written_tables_are_plain(void **state)
{
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "out.csv", path);
    hf_table *table = dressed(*state, "# c\n;x;y;\na;1,5;<2;\nb;2,5;3;\n", NULL), *again = NULL;
    assert_int_equal(hf_table_write_csv(*state, table, path), HF_OK);
    assert_int_equal(hf_table_read_csv(*state, path, &again), HF_OK);
    assert_int_equal(hf_table_columns(again), 3);
    assert_string_equal(hf_table_name(again, 0), "row_name");
    assert_field(again, 0, 1, "1,5");
    hf_table_free(again);
    hf_table_free(table);
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_dress_has_the_same_bits),
        cmocka_unit_test(random_numbers_keep_their_bits),
        cmocka_unit_test(points_stay_where_no_column_has_decimal_commas),
        cmocka_unit_test(points_are_asked_for_beside_decimal_commas),
        cmocka_unit_test(ambiguity_is_an_error),
        cmocka_unit_test(stay_text_or_errors),
        cmocka_unit_test(choices_are_obeyed),
        cmocka_unit_test(parts_are_read_alike),
        cmocka_unit_test(lines_are_those_of_the_file),
        cmocka_unit_test(written_tables_are_plain),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
