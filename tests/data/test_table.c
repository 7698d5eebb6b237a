/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: columns by name, computed columns, chosen rows. */
#include "data/support.h"

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

static void a_near_name_is_suggested(void **state)
{
    static const struct {
        const char *wanted;
        const char *message;
    } cases[] = {
        {"doze",
         "t.csv: no column \"doze\"; did you mean \"dose\"? The 4 columns: dose, Temperature, y, log y"},
        {"DOSE", "did you mean \"dose\"?"},
        {"dsoe", "did you mean \"dose\"?"},
        {"temprature", "did you mean \"Temperature\"?"},
        {"logy", "did you mean \"log y\"?"},
        {"quite different",
         "t.csv: no column \"quite different\". The 4 columns: dose, Temperature, y, log y"},
        {"x", "t.csv: no column \"x\". The 4 columns: "},
        {"", "t.csv: no column \"\". The 4 columns: "},
    };
    hf_table *table = table_of(*state, "dose,Temperature,y,log y\n1,2,3,4\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t column = 77;
        assert_int_equal(hf_table_find(*state, table, cases[i].wanted, &column), HF_ERR_NO_COLUMN);
        assert_int_equal(column, 77);
        assert_contains(hf_context_message(*state), cases[i].message);
    }
    hf_table_free(table);
}

static void a_missing_header_is_noticed(void **state)
{
    hf_table *table = table_of(*state, "1.5,2,3e1\n4,5,6\n");
    size_t column = 0;
    assert_int_equal(hf_table_find(*state, table, "y", &column), HF_ERR_NO_COLUMN);
    assert_contains(hf_context_message(*state), "is the header line with the names missing?");
    hf_table_free(table);
}

static void computed_columns(void **state)
{
    hf_table *table = NULL;
    double numbers[3] = {1.5, NAN, -1e300};
    size_t column = 0;
    const double *stored = NULL;
    assert_int_equal(hf_table_create(*state, 3, &table), HF_OK);
    assert_int_equal(hf_table_rows(table), 3);
    assert_int_equal(hf_table_columns(table), 0);
    assert_int_equal(hf_table_line(table, 0), 0);
    assert_int_equal(hf_table_find(*state, table, "a", &column), HF_ERR_NO_COLUMN);
    assert_int_equal(hf_table_set_numbers(*state, table, "a", numbers), HF_OK);
    numbers[0] = 99;
    assert_int_equal(hf_table_numbers(*state, table, 0, &stored), HF_OK);
    assert_true(stored[0] == 1.5 && isnan(stored[1]) && stored[2] == -1e300);
    assert_field(table, 0, 0, "1.5");
    assert_field(table, 1, 0, "");
    assert_field(table, 2, 0, "-1e300");
    /* replaced by itself */
    assert_int_equal(hf_table_set_numbers(*state, table, "a", stored), HF_OK);
    assert_int_equal(hf_table_columns(table), 1);
    assert_field(table, 0, 0, "1.5");
    assert_int_equal(hf_table_set_numbers(*state, table, "", numbers), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_set_numbers(*state, table, "b", NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_columns(table), 1);
    hf_table_free(table);
}

static void many_computed_columns(void **state)
{
    hf_table *table = NULL;
    char name[32];
    assert_int_equal(hf_table_create(*state, 1, &table), HF_OK);
    for (size_t j = 0; j < 20000; j++) {
        double number = (double)j;
        snprintf(name, sizeof name, "c%zu", j);
        assert_int_equal(hf_table_set_numbers(*state, table, name, &number), HF_OK);
    }
    for (size_t j = 0; j < 20000; j += 13) {
        size_t column = 0;
        const double *numbers = NULL;
        snprintf(name, sizeof name, "c%zu", j);
        assert_int_equal(hf_table_find(*state, table, name, &column), HF_OK);
        assert_int_equal(column, j);
        assert_string_equal(hf_table_name(table, j), name);
        assert_int_equal(hf_table_numbers(*state, table, j, &numbers), HF_OK);
        assert_true(numbers[0] == (double)j);
    }
    hf_table_free(table);
}

static void text_columns_can_be_replaced(void **state)
{
    static const double numbers[2] = {7, 8};
    hf_table *table = table_of(*state, "a,b,c\nx,1,2\ny,3,4\n");
    assert_false(hf_table_is_numeric(table, 0));
    assert_int_equal(hf_table_set_numbers(*state, table, "a", numbers), HF_OK);
    assert_true(hf_table_is_numeric(table, 0));
    assert_field(table, 1, 0, "8");
    assert_field(table, 1, 1, "3");
    assert_string_equal(hf_table_name(table, 0), "a");
    hf_table_free(table);
}

static void computed_text(void **state)
{
    static const char *const words[] = {"red", "a,b", "7"};
    static const size_t choice[] = {2, 0, SIZE_MAX, 1}, beyond[] = {0, 0, 0, 3}, rows[] = {3, 0};
    static const double numbers[] = {1, 2, 3, 4};
    hf_table *table = NULL, *chosen = NULL;
    assert_int_equal(hf_table_create(*state, 4, &table), HF_OK);
    assert_int_equal(hf_table_set_text(*state, table, "word", 3, words, choice), HF_OK);
    assert_false(hf_table_is_numeric(table, 0));
    assert_field(table, 0, 0, "7");
    assert_field(table, 1, 0, "red");
    assert_field(table, 2, 0, "");
    assert_field(table, 3, 0, "a,b");
    assert_int_equal(hf_table_set_text(*state, table, "word", 3, words, beyond), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "row 3 chooses text 3 of 3");
    assert_int_equal(hf_table_set_text(*state, table, "", 3, words, choice), HF_ERR_ARGUMENT);
    assert_field(table, 1, 0, "red");
    assert_int_equal(hf_table_select(*state, table, rows, 2, &chosen), HF_OK);
    assert_field(chosen, 0, 0, "a,b");
    assert_field(chosen, 1, 0, "7");
    /* over numbers, and numbers over it */
    assert_int_equal(hf_table_set_numbers(*state, table, "n", numbers), HF_OK);
    assert_int_equal(hf_table_set_text(*state, table, "n", 1, words, (const size_t[]){0, 0, 0, SIZE_MAX}),
                     HF_OK);
    assert_field(table, 0, 1, "red");
    assert_int_equal(hf_table_set_numbers(*state, table, "n", numbers), HF_OK);
    assert_field(table, 3, 1, "4");
    assert_int_equal(hf_table_columns(table), 2);
    hf_table_free(chosen);
    hf_table_free(table);
}

static void chosen_rows(void **state)
{
    static const size_t rows[] = {3, 0, 0, 2};
    static const double extra[] = {10, 11, 12, 13}, other[] = {20, 21, 22, 23};
    const double *numbers = NULL;
    hf_table *table = table_of(*state, "x,name,y\n1,ann,-\n\"2\",\"b,\nc\",4\n3,,5.50\n4,dora,6\n");
    hf_table *chosen = NULL;
    assert_int_equal(hf_table_set_numbers(*state, table, "extra", extra), HF_OK);
    assert_int_equal(hf_table_set_numbers(*state, table, "x", other), HF_OK);
    assert_int_equal(hf_table_select(*state, table, rows, 4, &chosen), HF_OK);
    hf_table_free(table);

    assert_int_equal(hf_table_rows(chosen), 4);
    assert_int_equal(hf_table_columns(chosen), 4);
    assert_field(chosen, 0, 1, "dora");
    assert_field(chosen, 1, 1, "ann");
    assert_field(chosen, 2, 1, "ann");
    assert_field(chosen, 3, 1, "");
    assert_field(chosen, 3, 2, "5.50");
    assert_field(chosen, 2, 2, "-");
    assert_field(chosen, 0, 0, "23");
    assert_field(chosen, 0, 3, "13");
    assert_int_equal(hf_table_numbers(*state, chosen, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 23 && numbers[1] == 20 && numbers[2] == 20 && numbers[3] == 22);
    assert_int_equal(hf_table_numbers(*state, chosen, 3, &numbers), HF_OK);
    assert_true(numbers[0] == 13 && numbers[1] == 10 && numbers[2] == 10 && numbers[3] == 12);
    assert_int_equal(hf_table_line(chosen, 0), 6);
    assert_int_equal(hf_table_line(chosen, 3), 5);
    assert_string_equal(hf_table_source(chosen), "t.csv");
    assert_string_equal(hf_table_name(chosen, 3), "extra");
    hf_table_free(chosen);
}

static void a_selection_decides_anew_what_is_numeric(void **state)
{
    static const size_t good[] = {0, 2}, bad[] = {2, 1};
    const double *numbers = NULL;
    hf_table *table = table_of(*state, "x\n1\nbroken\n3\n"), *chosen = NULL;
    assert_int_equal(hf_table_select(*state, table, good, 2, &chosen), HF_OK);
    assert_int_equal(hf_table_numbers(*state, chosen, 0, &numbers), HF_OK);
    assert_true(numbers[0] == 1 && numbers[1] == 3);
    hf_table_free(chosen);
    assert_int_equal(hf_table_select(*state, table, bad, 2, &chosen), HF_OK);
    assert_int_equal(hf_table_numbers(*state, chosen, 0, &numbers), HF_ERR_PARSE);
    assert_contains(hf_context_message(*state),
                    "t.csv: line 3, column 1 (\"x\"): \"broken\" is not a number");
    hf_table_free(chosen);
    hf_table_free(table);
}

static void empty_and_impossible_selections(void **state)
{
    static const size_t beyond[] = {0, 2};
    hf_table *table = table_of(*state, "x,t\n1,a\n2,b\n"), *chosen = NULL, *again = NULL;
    assert_int_equal(hf_table_select(*state, table, NULL, 0, &chosen), HF_OK);
    assert_int_equal(hf_table_rows(chosen), 0);
    assert_int_equal(hf_table_columns(chosen), 2);
    assert_int_equal(hf_table_select(*state, chosen, NULL, 0, &again), HF_OK);
    hf_table_free(again);
    hf_table_free(chosen);
    assert_int_equal(hf_table_select(*state, table, beyond, 2, &chosen), HF_ERR_ARGUMENT);
    assert_null(chosen);
    assert_contains(hf_context_message(*state), "row 2 asked for, but there are 2");
    assert_int_equal(hf_table_select(*state, table, NULL, 2, &chosen), HF_ERR_ARGUMENT);
    hf_table_free(table);
}

static void what_is_not_there_does_no_harm(void **state)
{
    char buffer[32];
    size_t column = 0;
    const double *numbers = NULL;
    hf_table *table = table_of(*state, "x\n1\n");
    assert_null(hf_table_name(table, 1));
    assert_null(hf_table_field(table, 1, 0, buffer));
    assert_null(hf_table_field(table, 0, 1, buffer));
    assert_false(hf_table_is_numeric(table, 1));
    assert_int_equal(hf_table_numbers(*state, table, 1, &numbers), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_numbers(*state, table, 0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_find(*state, table, NULL, &column), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_find(*state, NULL, "x", &column), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_create(*state, 1, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_table_rows(NULL), 0);
    assert_int_equal(hf_table_columns(NULL), 0);
    hf_table_free(table);
    hf_table_free(NULL);
}

/* The table keeps the allocator, not the context. */
static void a_table_outlives_its_context(void **state)
{
    (void)state;
    meter m;
    hf_context *ctx = meter_context(&m);
    hf_table *table = table_of(ctx, "x,t\n1,a\n");
    hf_context_free(ctx);
    assert_field(table, 0, 1, "a");
    assert_true(atomic_load(&m.live) > 0);
    hf_table_free(table);
    assert_int_equal(atomic_load(&m.live), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_near_name_is_suggested),
        cmocka_unit_test(a_missing_header_is_noticed),
        cmocka_unit_test(computed_columns),
        cmocka_unit_test(many_computed_columns),
        cmocka_unit_test(text_columns_can_be_replaced),
        cmocka_unit_test(computed_text),
        cmocka_unit_test(chosen_rows),
        cmocka_unit_test(a_selection_decides_anew_what_is_numeric),
        cmocka_unit_test(empty_and_impossible_selections),
        cmocka_unit_test(what_is_not_there_does_no_harm),
        cmocka_unit_test(a_table_outlives_its_context),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
