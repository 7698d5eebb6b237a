/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of dates and of few texts as inputs: the same model as from columns of numbers that somebody made
 * of them by hand. */
#include "model/model_testing.h"

#include "data/dates.h"

static hf_table *as_people_have_it(hf_context *ctx, const char *text, const hf_dialect *dialect)
{
    hf_table *table = NULL;
    if (hf_table_parse(ctx, text, strlen(text), "t.csv", dialect, &table) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    return table;
}

static hf_fit_settings quick(void)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.iterations = 10;
    return settings;
}

static bool is_noted(const hf_model *model, const char *part)
{
    for (size_t i = 0; i < hf_model_notes(model); i++)
        if (strstr(hf_model_note(model, i), part) != NULL) return true;
    return false;
}

/* Rows of a series over three months in three places, with what a person would make of them beside it. */
typedef struct twin {
    char foreign[8000], plain[8000];
} twin;

static void make_twin(twin *t)
{
    static const char *const towns[] = {"Bonn", "Ulm", "York"};
    size_t f = (size_t)snprintf(t->foreign, sizeof t->foreign, "day;town;open;x;y\n");
    size_t p = (size_t)snprintf(t->plain, sizeof t->plain, "day,town=Bonn,town=Ulm,town=York,open,x,y\n");
    for (int i = 0; i < 60; i++) {
        const int k = i * 7 % 3, day = i * 11 % 60, month = day < 31 ? 3 : 4,
                  of_month = day < 31 ? day + 1 : day - 30;
        const double x = i * 13 % 60 / 8.0, y = k + sin(x) + day / 50.0;
        char comma[2][32];
        snprintf(comma[0], 32, "%.3f", x);
        snprintf(comma[1], 32, "%.5f", y);
        for (int c = 0; c < 2; c++) *strchr(comma[c], '.') = ',';
        f += (size_t)snprintf(t->foreign + f, sizeof t->foreign - f, "%02d.%02d.2024;%s;%s;%s;%s\n", of_month,
                              month, towns[k], i % 2 ? "TRUE" : "FALSE", comma[0], comma[1]);
        p += (size_t)snprintf(t->plain + p, sizeof t->plain - p, "%d,%d,%d,%d,%d,%.3f,%.5f\n", day, k == 0,
                              k == 1, k == 2, i % 2, x, y);
    }
}

static void texts_are_what_people_make_of_them(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    twin t;
    make_twin(&t);
    hf_table *foreign = as_people_have_it(ctx, t.foreign, NULL), *plain = table_of(ctx, t.plain);
    const hf_columns columns = {.size = sizeof columns, .target = "y", .text_inputs = true};
    const hf_fit_settings settings = quick();
    hf_model *a = NULL, *b = NULL, *loaded = NULL;
    assert_true(hf_fit(ctx, foreign, &columns, &settings, &a, NULL) >= 0);
    assert_true(hf_fit(ctx, plain, &columns, &settings, &b, NULL) >= 0);
    assert_int_equal(hf_model_features(a), 6);
    for (size_t j = 0; j < 6; j++) assert_string_equal(hf_model_feature(a, j), hf_model_feature(b, j));
    assert_string_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    assert_true(is_noted(a, "\"day\" is the time in days since 2024-03-01, the first"));
    assert_true(is_noted(a, "\"town\" has 3 values, each an input of its own"));

    folder scratch = folder_make();
    char path[256];
    assert_int_equal(hf_model_save(ctx, a, folder_file(&scratch, "m.hf", path)), HF_OK);
    assert_int_equal(hf_model_load(ctx, path, &loaded), HF_OK);
    assert_int_equal(hf_model_dialect(loaded)->decimal, HF_DECIMAL_COMMA);
    /* Rows of their own first date, and in another order, are read as the training table was. */
    hf_table *news = as_people_have_it(
        ctx, "town;open;x;day\nUlm;TRUE;1,5;05.04.2024\nBonn;FALSE;2,25;02.03.2024\n", NULL);
    hf_table *numbers =
        table_of(ctx, "day,town=Bonn,town=Ulm,town=York,open,x\n35,0,1,0,1,1.5\n1,1,0,0,0,2.25\n");
    assert_int_equal(hf_predict_into_table(ctx, loaded, news), HF_OK);
    assert_int_equal(hf_predict_into_table(ctx, b, numbers), HF_OK);
    for (size_t i = 0; i < 2; i++)
        assert_true(column_of(ctx, news, "y_mean")[i] == column_of(ctx, numbers, "y_mean")[i]);
    hf_table *inputs = NULL;
    assert_int_equal(hf_model_inputs(ctx, loaded, news, &inputs), HF_OK);
    for (size_t j = 0; j < 6; j++)
        for (size_t i = 0; i < 2; i++)
            assert_true(column_of(ctx, inputs, hf_model_feature(b, j))[i] ==
                        column_of(ctx, numbers, hf_model_feature(b, j))[i]);
    remove(path);
    rmdir(scratch.path);
    hf_table_free(inputs);
    hf_table_free(numbers);
    hf_table_free(news);
    hf_table_free(plain);
    hf_table_free(foreign);
    hf_model_free(loaded);
    hf_model_free(b);
    hf_model_free(a);
    hf_context_free(ctx);
}

static void what_is_unseen_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    twin t;
    make_twin(&t);
    hf_table *table = as_people_have_it(ctx, t.foreign, NULL);
    const hf_columns columns = {.size = sizeof columns, .target = "y", .text_inputs = true};
    const hf_fit_settings settings = quick();
    hf_model *model = NULL;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    hf_table *news = as_people_have_it(ctx,
                                       "day;town;open;x\n05.04.2024;Rom;TRUE;1,5\n05.04.2024;;TRUE;1,5\n"
                                       "05.04.2024;Ulm;TRUE;1,5\n",
                                       NULL);
    assert_int_equal(hf_predict_into_table(ctx, model, news), HF_WARN_ROWS_SKIPPED);
    assert_contains(hf_context_message(ctx),
                    "2 of 3 rows have a missing input and get no prediction; 1 of them for a "
                    "\"town\" that the model has not seen (\"Rom\")");
    const double *mean = column_of(ctx, news, "y_mean");
    assert_true(isnan(mean[0]) && isnan(mean[1]) && isfinite(mean[2]));
    hf_table_free(news);
    static const struct {
        const char *text, *message;
        hf_status status;
    } bad[] = {
        {"day;town;open;x\n32.01.2024;Ulm;TRUE;1,5\n",
         "\"32.01.2024\" is not written as the dates that the model learnt from (the "
         "first of them is 2024-03-01)",
         HF_ERR_PARSE},
        {"day;town;open;x\n3;Ulm;TRUE;1,5\n", "\"3\" is not written as the dates", HF_ERR_PARSE},
        {"day;open;x\n05.04.2024;TRUE;1,5\n", "no column \"town\"", HF_ERR_NO_COLUMN},
        {"town;open;x\nUlm;TRUE;1,5\n", "no column \"day\"", HF_ERR_NO_COLUMN},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        news = as_people_have_it(ctx, bad[k].text, NULL);
        assert_int_equal(hf_predict_into_table(ctx, model, news), bad[k].status);
        assert_contains(hf_context_message(ctx), bad[k].message);
        hf_table_free(news);
    }
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Text is no input unless it is asked for; then it must be able to be one. */
static void choices(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = as_people_have_it(ctx,
                                        "a,k,id,when,same,y\n1,u,p,01/02/2024,z,1\n2,v,q,02/03/"
                                        "2024,z,2\n3,u,r,03/04/2024,z,3\n4,v,s,04/05/2024,z,1\n"
                                        "5,u,t,05/06/2024,z,2\n6,u,o,06/07/2024,z,2\n7,v,n,07/08/"
                                        "2024,z,2\n8,u,m,08/09/2024,z,1\n9,u,l,09/10/2024,z,2\n"
                                        "10,v,k,10/11/2024,z,4\n",
                                        NULL);
    const hf_fit_settings settings = quick();
    const char *const k[] = {"k", "id"}, *const when[] = {"when"}, *const same[] = {"same"};
    hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    assert_int_equal(hf_model_features(model), 1);
    hf_model_free(model);
    columns.text_inputs = true;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    assert_int_equal(hf_model_features(model), 3); /* a, k=u, k=v */
    assert_true(is_noted(model, "2 text columns left out of the inputs: \"id\", \"same\""));
    assert_true(
        is_noted(model, "column \"when\" is left out: its dates may begin with the day or the month"));
    hf_model_free(model);
    columns.features = k;
    columns.feature_count = 2;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    assert_int_equal(hf_model_features(model), 12);
    hf_model_free(model);
    columns.feature_count = 1;
    columns.features = when;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_ERR_PARSE);
    assert_contains(hf_context_message(ctx), "say which (--dates day or month)");
    columns.features = same;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "the same value in every row");
    hf_table_free(table);
    hf_context_free(ctx);
}

static void blame_is_by_column(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const char *const codes[] = {"-999"};
    const hf_dialect dialect = {.size = sizeof dialect, .missing = codes, .missing_count = 1};
    hf_table *table = as_people_have_it(
        ctx,
        "a,b,k,y\n1,2,u,1\n,2,v,2\n3,-999,u,3\n,,v,1\n5,6,,2\n6,5,u,2\n7,4,v,2\n8,3,u,1\n9,2,v,2\n"
        "1,0,u,4\n2,3,v,1\n",
        &dialect);
    const hf_fit_settings settings = quick();
    const hf_columns columns = {.size = sizeof columns, .target = "y", .text_inputs = true};
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_WARN_ROWS_SKIPPED);
    if (!is_noted(model,
                  "4 of 11 rows left out: an input is missing there (\"a\" in 2, \"b\" in 2, \"k\" in 1)"))
        fail_msg("%s", hf_model_note(model, 0));
    assert_int_equal(hf_model_dialect(model)->missing_count, 1);
    hf_table *described = NULL;
    assert_int_equal(hf_fit_columns(ctx, table, &columns, &settings, &described), HF_OK);
    static const char *const expected[4][5] = {{"a", "number", "input", "2", "1"},
                                               {"b", "number", "input", "2", "2"},
                                               {"k", "category (2 values)", "2 inputs", "1", "u"},
                                               {"y", "number", "target", "0", "1"}};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++) assert_field(described, i, j, expected[i][j]);
    hf_table_free(described);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void dates_of_all_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"1970-01-01", 0},
        {"1970-01-02", 86400},
        {"1969-12-31", -86400},
        {"2000-02-29", 951782400},
        {"2024-03-05T14:05:30Z", 1709647530},
        {"2024-03-05 14:05:30", 1709647530},
        {"2024-03-05T16:05:30+02:00", 1709647530},
        {"2024-03-05T14:05:30.25", 1709647530.25},
        {"2024/3/5", 1709596800},
        {"5 March 2024", 1709596800},
        {"5-Mar-2024", 1709596800},
        {"Mar 5, 2024", 1709596800},
        {"March 5 2024 2:05 PM", 1709647500},
        {"2024-03", 1709251200},
        {"0001-01-01", -62135596800.0},
        {"9999-12-31", 253402214400.0},
        {"1900-03-01", -2203891200.0},
        {"05.03.2024", 1709596800},
        {"12:00 AM", 0},
        {"14:05", 50700},
    };
    char text[64];
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_context *ctx = hf_context_create();
        hfi_date_style style;
        double seconds = NAN;
        char csv[128];
        snprintf(csv, sizeof csv, "d\n\"%s\"\n", cases[k].text);
        hf_table *table = table_of(ctx, csv);
        if (hfi_dates_find(table, 0, HF_DATE_ORDER_DAY, &style) != HFI_DATES_FOUND)
            fail_msg("%s is no date", cases[k].text);
        assert_true(hfi_date_read(table, &style, cases[k].text, &seconds));
        if (seconds != cases[k].seconds) fail_msg("%s: %.17g", cases[k].text, seconds);
        /* And back. */
        hfi_date back;
        assert_true(hfi_date_take(hfi_date_text(&style, seconds, text), &back));
        hf_table_free(table);
        hf_context_free(ctx);
    }
    static const char *const bad[] = {"2023-02-29",
                                      "2024-13-01",
                                      "2024-00-01",
                                      "1.2.3",
                                      "24:00",
                                      "12:60",
                                      "2024-03-05T",
                                      "5 Mar 24",
                                      "99/99/2024",
                                      "March",
                                      "2024",
                                      "20240305",
                                      "2024-03-05x",
                                      "12:30 XM",
                                      "2024-03-05T10:00+99:00",
                                      ""};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        hfi_date date;
        if (hfi_date_take(bad[k], &date)) fail_msg("%s is a date", bad[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_what_people_make_of_them),
        cmocka_unit_test(what_is_unseen_is_told),
        cmocka_unit_test(choices),
        cmocka_unit_test(blame_is_by_column),
        cmocka_unit_test(dates_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
