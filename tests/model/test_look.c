/* SPDX-License-Identifier: Apache-2.0 */
/* Odd inputs: codes for "missing", values far from all others, columns that count the rows. */
#include "model/model_testing.h"

#include "model/look.h"

enum {
    ROWS = 240,
    SEEDS = 200
};

/* How the numbers of a column are drawn. */
typedef enum draw {
    NORMAL,
    UNIFORM,
    LOGNORMAL,
    EXPONENTIAL,
    INTEGERS,
    COUNTS,
    BINARY,
    MANY_ZEROS,
    PERCENT,
    DRAWS
} draw;

static double one(draw kind, hfi_stream *stream)
{
    switch (kind) {
    case NORMAL:
        return 20.0 + 3.0 * hfi_stream_normal(stream);
    case UNIFORM:
        return -1.0 + 7.0 * hfi_stream_uniform(stream);
    case LOGNORMAL:
        return exp(1.5 * hfi_stream_normal(stream));
    case EXPONENTIAL:
        return -log(hfi_stream_uniform(stream));
    case INTEGERS:
        return (double)hfi_stream_below(stream, 100);
    case COUNTS:
        return floor(exp(1.0 + hfi_stream_normal(stream)));
    case BINARY:
        return (double)hfi_stream_below(stream, 2);
    case MANY_ZEROS:
        return hfi_stream_below(stream, 3) > 0 ? 0.0 : exp(hfi_stream_normal(stream));
    default:
        return floor(100.0 * sqrt(hfi_stream_uniform(stream)));
    }
}

static void fill(draw kind, uint64_t seed, size_t n, double *values)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, (uint64_t)kind);
    for (size_t i = 0; i < n; i++) values[i] = one(kind, &stream);
}

/* Plain columns of any kind: no codes, no counters, and far values about once in a hundred columns. */
static void plain_columns_are_not_remarked_on(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 25, 60, 240, 2000};
    static double values[2000], scratch[2000];
    size_t columns = 0, far = 0;
    for (int kind = 0; kind < DRAWS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (uint64_t seed = 0; seed < (sizes[s] > 1000 ? SEEDS / 10 : SEEDS); seed++) {
                hfi_column_look look;
                fill((draw)kind, seed, sizes[s], values);
                assert_int_equal(hfi_look_at_order(sizes[s], values, scratch), HFI_COUNTS_NOTHING);
                hfi_look_at_column(sizes[s], values, &look);
                if (look.codes > 0)
                    fail_msg("kind %d, %zu rows, seed %d: code %g", kind, sizes[s], (int)seed,
                             look.code[0].value);
                columns++;
                far += look.far > 0 ? 1 : 0;
                assert_true(look.far <= 1 + sizes[s] / 50);
            }
    if (far * 200 > columns) fail_msg("far values in %zu of %zu plain columns", far, columns);
}

typedef struct planted {
    draw kind;
    double value;
    size_t every;
} planted;

static void codes_are_found(void **state)
{
    (void)state;
    static const planted cases[] = {
        {NORMAL, -999, 20},   {NORMAL, -99, 50},       {UNIFORM, 9999, 7},    {LOGNORMAL, -999, 20},
        {INTEGERS, 999, 30},  {BINARY, -999, 20},      {BINARY, 99, 40},      {UNIFORM, 1e30, 240},
        {COUNTS, -9999, 240}, {MANY_ZEROS, -999.9, 5}, {PERCENT, -32768, 60}, {NORMAL, 99.99, 80},
        {INTEGERS, -99, 10},  {INTEGERS, -999.25, 80}, {UNIFORM, -99, 2},
    };
    double values[ROWS];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            hfi_column_look look;
            size_t count = 0;
            fill(cases[c].kind, seed, ROWS, values);
            for (size_t i = 1; i < ROWS; i += cases[c].every, count++) values[i] = cases[c].value;
            hfi_look_at_column(ROWS, values, &look);
            if (look.codes != 1 || look.code[0].value != cases[c].value || look.code[0].count != count)
                fail_msg("case %zu, seed %d: %zu codes, the first %g, %zu times", c, (int)seed, look.codes,
                         look.code[0].value, look.code[0].count);
            assert_true(look.low > -60.0 && look.high < 1e5 && look.high != cases[c].value);
            assert_true(hfi_look_is_code(&look, cases[c].value) && !hfi_look_is_far(&look, cases[c].value));
            assert_true(!hfi_look_is_code(&look, look.low) && !hfi_look_is_far(&look, look.high));
        }
}

/* Several codes, at both ends, beside a value that is far. */
static void codes_do_not_hide_each_other(void **state)
{
    (void)state;
    hfi_column_look look;
    double values[ROWS];
    fill(UNIFORM, 1, ROWS, values);
    for (size_t i = 0; i < 5; i++) values[i] = -999.0;
    for (size_t i = 5; i < 9; i++) values[i] = 9999.0;
    values[9] = -99.0;
    hfi_look_at_column(ROWS, values, &look);
    assert_int_equal(look.codes, 3);
    assert_true(look.code[0].value == -999.0 && look.code[1].value == -99.0 && look.code[2].value == 9999.0);
    assert_true(look.code[0].count == 5 && look.code[1].count == 1 && look.code[2].count == 4);

    fill(UNIFORM, 2, ROWS, values);
    for (size_t i = 0; i < 20; i++) values[i] = -999.0;
    values[77] = 123456.0;
    hfi_look_at_column(ROWS, values, &look);
    assert_true(look.codes == 1 && look.code[0].value == -999.0 && look.code[0].count == 20);
    assert_true(look.far == 1 && hfi_look_is_far(&look, 123456.0) && look.high < 6.0);
}

/* Zeros where all others are far from it are a code; classes, levels and clipped values are none. */
static void special_values_need_a_gap_and_repetition(void **state)
{
    (void)state;
    hfi_column_look look;
    double values[ROWS];
    for (size_t i = 0; i < ROWS; i++) values[i] = i % 40 == 3 ? 0.0 : 55.0 + (double)(i % 11);
    hfi_look_at_column(ROWS, values, &look);
    assert_true(look.codes == 1 && look.code[0].value == 0.0 && look.code[0].count == 6);

    static const double levels[] = {1, 2, 3, 4, 5, 6, 7, 24};
    for (size_t i = 0; i < ROWS; i++) values[i] = levels[i % 8];
    hfi_look_at_column(ROWS, values, &look);
    assert_int_equal(look.codes + look.far, 0);

    fill(NORMAL, 3, ROWS, values);
    for (size_t i = 0; i < ROWS; i++) values[i] = fmin(values[i], 22.0);
    hfi_look_at_column(ROWS, values, &look);
    assert_int_equal(look.codes + look.far, 0);

    for (size_t i = 0; i < ROWS; i++) values[i] = 7.0;
    hfi_look_at_column(ROWS, values, &look);
    assert_true(look.codes + look.far == 0 && look.low == 7.0 && look.high == 7.0);
    values[0] = 1.7e308;
    values[1] = -1.7e308;
    hfi_look_at_column(3, values, &look);
    assert_int_equal(look.codes + look.far, 0);
}

static void far_values_are_found(void **state)
{
    (void)state;
    static const struct {
        draw kind;
        double value;
    } cases[] = {{NORMAL, 200.0},  {UNIFORM, -90.0},     {UNIFORM, 90.0},
                 {LOGNORMAL, 3e4}, {EXPONENTIAL, 200.0}, {INTEGERS, 1234.0}};
    double values[ROWS];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            hfi_column_look look;
            fill(cases[c].kind, seed, ROWS, values);
            values[17] = cases[c].value;
            values[90] = 1.01 * cases[c].value;
            hfi_look_at_column(ROWS, values, &look);
            if (look.far != 2 || !hfi_look_is_far(&look, cases[c].value))
                fail_msg("case %zu, seed %d: %zu far", c, (int)seed, look.far);
        }
}

static void rows_are_counted_by_integers(void **state)
{
    (void)state;
    double values[60], scratch[60];
    for (size_t i = 0; i < 60; i++) values[i] = (double)i + 1.0;
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_IN_ORDER);
    assert_int_equal(hfi_look_at_order(9, values, scratch), HFI_COUNTS_NOTHING);
    for (size_t i = 0; i < 60; i++) values[i] = 1000.0 - 10.0 * (double)i;
    assert_int_equal(hfi_look_at_order(12, values, scratch), HFI_COUNTS_IN_ORDER);
    for (size_t i = 0; i < 60; i++) values[i] = (double)(i * i);
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_IN_ORDER);
    assert_int_equal(hfi_look_at_order(20, values, scratch), HFI_COUNTS_NOTHING);
    for (size_t i = 0; i < 60; i++) values[i] = 100.0 + (double)(i * 23 % 60);
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_SHUFFLED);
    values[5] = 170.0; /* one left out, another beyond */
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_SHUFFLED);
    values[6] = values[7];
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_NOTHING);
    for (size_t i = 0; i < 60; i++) values[i] = 0.5 + (double)i;
    assert_int_equal(hfi_look_at_order(60, values, scratch), HFI_COUNTS_NOTHING);
}

static void times_are_known_by_name(void **state)
{
    (void)state;
    static const char *const times[] = {"year",  "Year",  "t",   "time_s",    "obs date", "Month",
                                        "hours", "t_min", "day", "timestamp", "week2",    "t1"},
                             *const others[] = {"stone", "id",      "index", "Unnamed: 0", "temperature",
                                                "nr",    "holiday", "site",  "",           "weight"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!hfi_look_is_time(times[i])) fail_msg("%s is a time", times[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (hfi_look_is_time(others[i])) fail_msg("%s is no time", others[i]);
}

/* ---- remarks of a fit --------------------------------------------------------------------------------------- */

/* A model of 60 rows of wind, place and y, an extra column `named` and a few odd fields. */
static hf_model *odd_model(hf_context *ctx, const char *named, bool odd, const hf_columns *columns)
{
    char text[8000];
    size_t used = (size_t)snprintf(text, sizeof text, "%s,wind,place,y\n", named);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < 60; i++) {
        const double wind = 20.0 * hfi_stream_uniform(&stream), place = hfi_stream_normal(&stream);
        used += (size_t)snprintf(text + used, sizeof text - used, "%zu,%.3f,%.3f,%.3f\n", i + 1,
                                 odd && i % 10 == 3 ? -999.0 : wind, odd && i == 7 ? 950.0 : place,
                                 sin(wind / 3.0) + place);
    }
    hf_table *table = table_of(ctx, text);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    hf_model *model = NULL;
    if (hf_fit(ctx, table, columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static void fits_remark_on_odd_inputs(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "input \"wind\": -999 stands in 6 of 60 rows (lines 5, 15, 25, 35, 45, ...), far from the other "
        "values (",
        "1 of 60 rows has an input far from those of all other rows, which can bend the whole fit: line 9, "
        "\"place\" = 950 (others ",
        "input \"stone\" looks like a number of the row (different integers, in order); if it is, --drop "
        "stone "
        "leaves it out"};
    hf_context *ctx = hf_context_create();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = odd_model(ctx, "stone", true, &columns);
    assert_int_equal(hf_model_notes(model), 3);
    for (size_t i = 0; i < 3; i++) {
        if (strstr(hf_model_note(model, i), expected[i]) == NULL) fail_msg("%s", hf_model_note(model, i));
        assert_non_null(strstr(hf_context_message(ctx), expected[i]));
    }
    hf_model_free(model);

    model = odd_model(ctx, "day", false, &columns);
    assert_int_equal(hf_model_notes(model), 0);
    hf_model_free(model);

    /* A column that counts the rows is all there is: a series. */
    static const char *const only[] = {"stone"};
    const hf_columns series = {.size = sizeof series, .target = "y", .features = only, .feature_count = 1};
    model = odd_model(ctx, "stone", false, &series);
    assert_int_equal(hf_model_notes(model), 0);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Each row counts once, however many outputs it has, and only if it has a reading. */
static void rows_of_several_outputs_count_once(void **state)
{
    (void)state;
    static const char *const targets[] = {"y", "place"};
    hf_context *ctx = hf_context_create();
    const hf_columns columns = {.size = sizeof columns, .targets = targets, .target_count = 2};
    hf_model *model = odd_model(ctx, "day", true, &columns);
    assert_true(hf_model_notes(model) > 0);
    if (strstr(hf_model_note(model, 0), "-999 stands in 6 of 60 rows") == NULL)
        fail_msg("%s", hf_model_note(model, 0));
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Many odd inputs: five are named, the others counted. The inputs of a Latin hypercube count nothing. */
static void many_odd_inputs_are_counted(void **state)
{
    (void)state;
    static const size_t steps[] = {0, 7};
    hf_context *ctx = hf_context_create();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    for (int odd = 0; odd < 2; odd++)
        for (size_t c = 0; c < 2; c++) {
            char text[8000];
            size_t used = (size_t)snprintf(text, sizeof text, "a,b,c,d,e,f,g,y\n");
            for (size_t i = 0; i < 61; i++) {
                for (size_t j = 0; j < 7; j++)
                    used += (size_t)snprintf(text + used, sizeof text - used, "%zu,",
                                             odd > 0 && i == 9 ? (size_t)99999 : i * (1 + j * steps[c]) % 61);
                used += (size_t)snprintf(text + used, sizeof text - used, "%g\n", sin((double)(i * i)));
            }
            hf_table *table = table_of(ctx, text);
            hf_model *model = NULL;
            assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
            const size_t notes = hf_model_notes(model);
            if (odd > 0) {
                assert_int_equal(notes, 6);
                assert_contains(hf_model_note(model, 5), "2 other inputs have values that look like codes");
            } else {
                /* The first column of the second table counts the rows, the others are permutations of it. */
                assert_int_equal(notes, c == 0 ? 6 : 1);
                if (c == 0)
                    assert_string_equal(hf_model_note(model, 5),
                                        "2 other inputs have the look of a number of the row");
            }
            hf_model_free(model);
            hf_table_free(table);
        }
    hf_context_free(ctx);
}

/* Files that ship: a stone's number and widths and lengths that somebody mistyped, nothing else. */
static void files_that_ship(void **state)
{
    (void)state;
    static const struct {
        const char *path, *target;
        size_t notes;
    } cases[] = {{"data/boston.csv", "medv", 0},
                 {"data/hills.csv", "minutes", 1},    /* its text column */
                 {"data/iris.csv", "petal_width", 1}, /* the same */
                 {"data/diamonds-test.csv", "depth_mm", 1},
                 {"data/diamonds-train.csv", "depth_mm", 2}};
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const hf_columns columns = {.size = sizeof columns, .target = cases[c].target};
        hf_table *table = NULL;
        hf_model *model = NULL;
        assert_int_equal(hf_table_read_csv(ctx, cases[c].path, &table), HF_OK);
        assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
        if (hf_model_notes(model) != cases[c].notes)
            fail_msg("%s: %s", cases[c].path, hf_context_message(ctx));
        hf_model_free(model);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_columns_are_not_remarked_on),
        cmocka_unit_test(codes_are_found),
        cmocka_unit_test(codes_do_not_hide_each_other),
        cmocka_unit_test(special_values_need_a_gap_and_repetition),
        cmocka_unit_test(far_values_are_found),
        cmocka_unit_test(rows_are_counted_by_integers),
        cmocka_unit_test(times_are_known_by_name),
        cmocka_unit_test(fits_remark_on_odd_inputs),
        cmocka_unit_test(rows_of_several_outputs_count_once),
        cmocka_unit_test(many_odd_inputs_are_counted),
        cmocka_unit_test(files_that_ship),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
