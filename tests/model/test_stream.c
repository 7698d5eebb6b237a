/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of files that are read in parts. */
#include "model/model_testing.h"

#include <sys/stat.h>

typedef struct place {
    folder scratch;
    char csv[256], cache[256], file[256];
} place;

static place make_place(const char *text)
{
    place p = {.scratch = folder_make()};
    folder_file(&p.scratch, "in.csv", p.csv);
    folder_file(&p.scratch, "in.csv.hfcache", p.cache);
    folder_file(&p.scratch, "model.hf", p.file);
    file_put(p.csv, text, strlen(text));
    return p;
}

static place wavy_place(size_t n, size_t bad)
{
    char *text = wavy_csv(n, bad);
    place p = make_place(text);
    free(text);
    return p;
}

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

static hf_fit_settings streamed(void)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.inducing = 48;
    settings.minibatch = 512;
    settings.iterations = 20;
    return settings;
}

static const hf_columns just_y = {.size = sizeof just_y, .target = "y"};

static hf_model *stream(hf_context *ctx, const place *p, const hf_fit_settings *settings)
{
    hf_model *model = NULL;
    const hf_status status = hf_fit_stream(ctx, p->csv, NULL, &just_y, settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

/* Against the truth, at points that no fit has seen. */
static hf_metrics score_at_truth(hf_context *ctx, const hf_model *model)
{
    char *text = malloc(1 << 17);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, 1 << 17, "a,b,y\n");
    for (size_t i = 0; i < 900; i++) {
        const double a = 0.1 + 3.8 * (double)(i % 30) / 29.0, b = -1.5 + 3.0 * (double)(i / 30) / 29.0;
        used += (size_t)snprintf(text + used, (1 << 17) - used, "%.17g,%.17g,%.17g\n", a, b,
                                 sin(2.0 * a) + 0.5 * b);
    }
    hf_table *table = table_of(ctx, text);
    hf_metrics metrics;
    assert_int_equal(hf_score(ctx, model, table, &metrics), HF_OK);
    hf_table_free(table);
    free(text);
    return metrics;
}

/* ---- accuracy ----------------------------------------------------------------------------------------------- */

static void it_learns_what_a_fit_of_the_table_learns(void **state)
{
    place p = wavy_place(20000, 0);
    hf_fit_settings settings = streamed();
    hf_fit_report report;
    hf_model *model = NULL, *whole = NULL;
    settings.suspects = HF_OUTLIERS_OFF;
    hf_status status = hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &model, &report);
    if (status < 0) fail_msg("%s", hf_context_message(*state));
    hf_table *table = NULL;
    assert_int_equal(hf_table_read_csv(*state, p.csv, &table), HF_OK);
    settings.solver = HF_SOLVER_INDUCING;
    settings.minibatch = 0;
    whole = model_of(*state, table, &settings);
    const hf_metrics parts = score_at_truth(*state, model), all = score_at_truth(*state, whole);
    assert_true(all.rmse < 0.01);
    assert_true(parts.rmse < 1.5 * all.rmse + 1e-4);
    assert_int_equal(report.solver, HF_SOLVER_INDUCING);
    assert_int_equal(report.inducing, 48);
    assert_int_equal(report.readings, 20000);
    assert_true(report.calibration >= 1.0 && report.calibration < 1.3);
    assert_close(hf_posterior_noise(hf_model_posterior(model)), 0.0025, 3e-4);
    assert_string_equal(hf_model_data_checksum(model), hf_model_data_checksum(whole));
    hf_model_free(model);
    hf_model_free(whole);
    hf_table_free(table);
    folder_remove(&p.scratch);
}

/* The default has a suspect finder for tables; here readings are weighed instead, and the model says so. */
static void wild_readings_do_little_harm(void **state)
{
    place p = wavy_place(6000, 120);
    hf_fit_settings settings = streamed();
    hf_model *model = stream(*state, &p, &settings);
    const hf_fit_report *report = hf_model_report_of(model);
    assert_int_equal(hf_model_settings_of(model)->sites, HF_LIKELIHOOD_ROBUST);
    assert_contains(hf_model_note(model, 0), "robust sites");
    assert_true(score_at_truth(*state, model).rmse < 0.02);
    assert_true(report->suspects > 110 && report->suspects < 170);
    assert_close(hf_posterior_noise(hf_model_posterior(model)), 0.0025, 1e-3);
    hf_model_free(model);
    settings.sites = HF_LIKELIHOOD_STUDENT_T;
    settings.suspects = HF_OUTLIERS_OFF;
    model = stream(*state, &p, &settings);
    assert_true(score_at_truth(*state, model).rmse < 0.02);
    assert_true(hf_model_report_of(model)->nu < 4.0);
    hf_model_free(model);
    folder_remove(&p.scratch);
}

/* With given values and the first rows as inducing inputs nothing is left to chance: the same posterior, to
 * rounding. */
static void without_training_it_is_the_collapsed_solution(void **state)
{
    char *wavy = wavy_csv(700, 0), *text = malloc(1 << 17);
    size_t used = (size_t)snprintf(text, 1 << 17, "label,v,a,y,b\n"), line = 0;
    for (char *at = strchr(wavy, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1, line++) {
        double a, b, y;
        assert_int_equal(sscanf(at, "%lf,%lf,%lf", &a, &b, &y), 3);
        used += (size_t)snprintf(text + used, (1 << 17) - used, "r%zu,%g,%.17g,%.17g,%.17g\n", line,
                                 0.01 * (double)(line % 3), a, y, b);
        if (line % 50 == 7) used += (size_t)snprintf(text + used, (1 << 17) - used, "r,0,%g,,1\n", a);
        if (line % 90 == 8) used += (size_t)snprintf(text + used, (1 << 17) - used, "r,,1,1,1\n");
    }
    place p = make_place(text);
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    for (int standardise = 0; standardise < 2; standardise++) {
        hf_fit_settings settings = untrained();
        settings.solver = HF_SOLVER_INDUCING;
        settings.standardise = standardise != 0;
        settings.inducing = 30;
        settings.inducing_choice = HF_INDUCING_FIRST;
        hf_model *model = NULL, *whole = NULL;
        hf_table *table = NULL;
        assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &columns, &settings, &model, NULL),
                         HF_WARN_ROWS_SKIPPED);
        assert_int_equal(hf_table_read_csv(*state, p.csv, &table), HF_OK);
        assert_int_equal(hf_fit(*state, table, &columns, &settings, &whole, NULL), HF_WARN_ROWS_SKIPPED);
        assert_int_equal(hf_model_notes(model), hf_model_notes(whole));
        for (size_t i = 0; i < hf_model_notes(model); i++)
            assert_string_equal(hf_model_note(model, i), hf_model_note(whole, i));
        assert_string_equal(hf_model_data_checksum(model), hf_model_data_checksum(whole));
        assert_int_equal(hf_model_skipped(model), hf_model_skipped(whole));
        assert_int_equal(hf_model_report_of(model)->missing, hf_model_report_of(whole)->missing);
        for (double at = 0.0; at < 4.0; at += 0.37) {
            const double x[2] = {at, 1.0 - 0.3 * at};
            double mean[2], var[2];
            const hf_model *both[2] = {model, whole};
            for (size_t k = 0; k < 2; k++)
                assert_int_equal(
                    hf_predict(*state, hf_model_posterior(both[k]), 1, x, 2, &mean[k], NULL, &var[k]), HF_OK);
            assert_close(mean[0], mean[1], 1e-8);
            assert_close(var[0], var[1], 1e-8);
        }
        hf_model_free(model);
        hf_model_free(whole);
        hf_table_free(table);
    }
    free(wavy);
    free(text);
    folder_remove(&p.scratch);
}

/* ---- the model ---------------------------------------------------------------------------------------------- */

static hf_fit_settings quick(void)
{
    hf_fit_settings settings = untrained();
    settings.inducing = 25;
    settings.calibrate = true;
    return settings;
}

static void a_model_without_rows_works(void **state)
{
    place p = wavy_place(500, 0);
    hf_fit_settings settings = quick();
    hf_model *model = stream(*state, &p, &settings), *loaded = NULL;
    assert_int_equal(hf_model_save(*state, model, p.file), HF_OK);
    assert_int_equal(hf_model_load(*state, p.file, &loaded), HF_OK);
    const hf_model *both[2] = {model, loaded};
    double mean[2], var[2];
    const double x[2] = {1.3, 0.4};
    for (size_t k = 0; k < 2; k++) {
        hf_table *table = NULL;
        assert_int_equal(hf_model_rows(*state, both[k], &table), HF_ERR_NO_DATA);
        assert_contains(hf_context_message(*state), "was read in parts");
        assert_int_equal(hf_model_suspects(*state, both[k], &table), HF_ERR_NO_DATA);
        assert_int_equal(hf_model_training(*state, both[k], &table), HF_ERR_NO_DATA);
        assert_null(table);
        assert_int_equal(hf_predict(*state, hf_model_posterior(both[k]), 1, x, 2, &mean[k], NULL, &var[k]),
                         HF_OK);
        assert_int_equal(hf_model_report_of(both[k])->readings, 500);
        assert_string_equal(hf_model_source(both[k]), p.csv);
        assert_int_equal(hf_model_parameters(both[k]), 5);
        assert_string_equal(hf_model_data_checksum(both[k]), hf_model_data_checksum(model));
    }
    assert_true(mean[0] == mean[1] && var[0] == var[1]);
    hf_model_free(model);
    hf_model_free(loaded);
    folder_remove(&p.scratch);
}

static void the_cache_is_used_again(void **state)
{
    place p = wavy_place(300, 0);
    hf_fit_settings settings = quick();
    struct stat first, second;
    hf_model_free(stream(*state, &p, &settings));
    assert_int_equal(stat(p.cache, &first), 0);
    hf_model_free(stream(*state, &p, &settings));
    assert_int_equal(stat(p.cache, &second), 0);
    assert_true(first.st_ino == second.st_ino);
    char *text = wavy_csv(310, 0);
    file_put(p.csv, text, strlen(text));
    free(text);
    hf_model *model = stream(*state, &p, &settings);
    assert_int_equal(hf_model_report_of(model)->readings, 310);
    assert_int_equal(stat(p.cache, &second), 0);
    assert_true(first.st_ino != second.st_ino);
    hf_model_free(model);
    /* In a place of its own. */
    remove(p.cache);
    assert_true(hf_fit_stream(*state, p.csv, p.file, &just_y, &settings, &model, NULL) >= 0);
    assert_int_equal(access(p.cache, F_OK), -1);
    assert_int_equal(access(p.file, F_OK), 0);
    hf_model_free(model);
    folder_remove(&p.scratch);
}

/* ---- errors -------------------------------------------------------------------------------------------------- */

static void bad_files_are_told(void **state)
{
    static const struct {
        const char *text, *target, *noise;
        hf_status status;
        const char *message;
    } cases[] = {
        {"a,y\n1,2\n2,x\n3,5\n", "y", NULL, HF_ERR_PARSE, "line 3, column 2 (\"y\"): \"x\" is not a number"},
        {"a,y\n1,2\nx,2\n3,5\n", "y", NULL, HF_ERR_PARSE, "line 3, column 1 (\"a\"): \"x\" is not a number"},
        {"a,y\n1,2\n2,3\n1e999,5\n", "y", NULL, HF_ERR_NOT_FINITE,
         "line 4, column \"a\": the value is infinite"},
        {"a,v,y\n1,1,2\n2,-1,3\n", "y", "v", HF_ERR_ARGUMENT,
         "line 3, column \"v\": a noise variance cannot be"},
        {"a,y\n1,2\n", "z", NULL, HF_ERR_NO_COLUMN, "no column \"z\""},
        {"a,y\n", "y", NULL, HF_ERR_NO_DATA, "no rows, only a header"},
        {"a,y\n,2\n,3\n", "y", NULL, HF_ERR_NO_DATA, "all 2 rows have a missing input"},
        {"a,y\n1,\n2,\n", "y", NULL, HF_ERR_NO_DATA, "has no value in any usable row"},
        {"a,y\n1,2\n1,2,3\n", "y", NULL, HF_ERR_PARSE, "line 3: 3 fields found, 2 expected"},
        {"", "y", NULL, HF_ERR_NO_DATA, "nothing in it"},
    };
    hf_fit_settings settings = untrained();
    settings.set_count = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        place p = make_place(cases[i].text);
        hf_model *model = NULL;
        const hf_columns columns = {
            .size = sizeof columns, .target = cases[i].target, .noise = cases[i].noise};
        assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &columns, &settings, &model, NULL),
                         cases[i].status);
        assert_contains(hf_context_message(*state), cases[i].message);
        assert_null(model);
        folder_remove(&p.scratch);
    }
}

static void what_it_cannot_do_is_told(void **state)
{
    place p = wavy_place(50, 0);
    hf_model *model = NULL;
    hf_fit_settings settings = quick();
    settings.solver = HF_SOLVER_EXACT;
    assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "solver exact does not go with a file that is read in parts");
    settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_FORCE;
    assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "use robust sites");
    settings = quick();
    settings.checkpoint = p.csv;
    assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "no checkpoint");
    settings = quick();
    assert_int_equal(hf_fit_stream(*state, NULL, NULL, &just_y, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &(hf_columns){.size = sizeof(hf_columns)}, &settings,
                                   &model, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_fit_stream(*state, "-", NULL, &just_y, &settings, &model, NULL), HF_ERR_IO);
    assert_int_equal(hf_fit_stream(*state, p.csv, p.csv, &just_y, &settings, &model, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "is no cache");
    assert_null(model);
    folder_remove(&p.scratch);
}

static void out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    place p = wavy_place(60, 0);
    const hf_fit_settings settings = quick();
    hf_status status = HF_ERR_MEMORY;
    for (size_t at = 1; status == HF_ERR_MEMORY; at++) {
        meter m;
        hf_context *ctx = meter_context(&m);
        assert_non_null(ctx);
        m.fail_at = m.made + at;
        hf_model *model = NULL;
        status = hf_fit_stream(ctx, p.csv, NULL, &just_y, &settings, &model, NULL);
        assert_true(status >= 0 || status == HF_ERR_MEMORY);
        hf_model_free(model);
        hf_context_free(ctx);
        assert_true(m.live == 0);
        assert_true(at < 2000);
        if (at % 5 == 0) remove(p.cache);
    }
    folder_remove(&p.scratch);
}

static bool stop_when(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    return strcmp(stage, user) != 0;
}

static void it_can_be_cancelled_in_every_stage(void **state)
{
    place p = wavy_place(5000, 0);
    hf_fit_settings settings = streamed();
    static const char *const stages[] = {"read", "write", "measure", "train", "solve"};
    for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++) {
        char stage[16];
        strcpy(stage, stages[k]);
        hf_model *model = NULL;
        hf_context_set_progress(*state, stop_when, stage);
        if (k < 2) remove(p.cache);
        if (k == 4) settings.train = false;
        const hf_status status = hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &model, NULL);
        if (status != HF_ERR_CANCELLED) fail_msg("%s: %s", stage, hf_context_message(*state));
        assert_null(model);
    }
    hf_context_set_progress(*state, NULL, NULL);
    folder_remove(&p.scratch);
}

/* Stops at a call, counted from 1. */
typedef struct countdown {
    size_t left;
} countdown;

static bool stop_at(const char *stage, double done, double value, void *user)
{
    countdown *c = user;
    (void)stage;
    (void)done;
    (void)value;
    return c->left == 0 || --c->left > 0;
}

static void a_stopped_fit_goes_on(void **state)
{
    place p = wavy_place(1500, 150);
    hf_fit_settings settings = streamed();
    settings.optimiser = HF_OPTIMISER_ADAM;
    settings.iterations = 8;
    settings.minibatch = 128;
    settings.inducing = 20;
    const int threads = hf_context_threads(*state);
    assert_int_equal(hf_context_set_threads(*state, 1), HF_OK); /* so little work is faster by one */
    hf_model *whole = stream(*state, &p, &settings), *part = NULL;
    const hf_metrics wanted = score_at_truth(*state, whole);
    settings.checkpoint = p.file;
    settings.resume = true;
    size_t stops = 0;
    for (size_t k = 1; part == NULL; k++) {
        countdown c = {k < 8 ? 45 * k : 0};
        hf_context_set_progress(*state, stop_at, &c);
        const hf_status status = hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &part, NULL);
        if (status < 0 && status != HF_ERR_CANCELLED) fail_msg("%s", hf_context_message(*state));
        stops += status < 0 ? 1 : 0;
    }
    hf_context_set_progress(*state, NULL, NULL);
    assert_true(stops >= 3);
    const hf_metrics got = score_at_truth(*state, part);
    assert_memory_equal(&got, &wanted, sizeof got);
    assert_true(hf_model_report_of(part)->objective == hf_model_report_of(whole)->objective);
    assert_int_equal(hf_model_report_of(part)->evaluations, hf_model_report_of(whole)->evaluations);
    assert_string_equal(hf_model_report_of(part)->checkpoint_warning, "");
    hf_model_free(part);
    part = NULL;
    /* The table has grown. */
    FILE *table = fopen(p.csv, "a");
    assert_non_null(table);
    fprintf(table, "1,2,3\n");
    fclose(table);
    assert_int_equal(hf_fit_stream(*state, p.csv, NULL, &just_y, &settings, &part, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(*state), "belongs to another fit");
    assert_int_equal(hf_context_set_threads(*state, threads), HF_OK);
    hf_model_free(whole);
    folder_remove(&p.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_what_a_fit_of_the_table_learns),
        cmocka_unit_test(wild_readings_do_little_harm),
        cmocka_unit_test(without_training_it_is_the_collapsed_solution),
        cmocka_unit_test(a_model_without_rows_works),
        cmocka_unit_test(the_cache_is_used_again),
        cmocka_unit_test(bad_files_are_told),
        cmocka_unit_test(what_it_cannot_do_is_told),
        cmocka_unit_test(out_of_memory_leaks_nothing),
        cmocka_unit_test(it_can_be_cancelled_in_every_stage),
        cmocka_unit_test(a_stopped_fit_goes_on),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
