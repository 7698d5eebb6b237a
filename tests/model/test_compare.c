/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validation of several models: folds, predictions, scores, differences, and what is refused. */
#include "model/model_testing.h"

#include <holdfast/compare.h>
#include <holdfast/contaminate.h>

static const hf_columns target = {.size = sizeof target, .target = "y"};

static hf_contender contender_of(hf_context *ctx, const char *preset)
{
    hf_contender made = {.name = preset};
    if (hf_fit_settings_preset(ctx, preset, &made.settings, sizeof made.settings) < 0)
        fail_msg("%s", hf_context_message(ctx));
    return made;
}

static hf_comparison *comparison_of(hf_context *ctx, const hf_table *table, const char *const *presets,
                                    size_t count, hf_compare_settings settings)
{
    hf_contender contenders[4];
    hf_comparison *made = NULL;
    assert_true(count <= 4);
    for (size_t m = 0; m < count; m++) contenders[m] = contender_of(ctx, presets[m]);
    if (hf_compare(ctx, table, &target, count, contenders, &settings, &made) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    return made;
}

/* ---- folds ------------------------------------------------------------------------------------------------ */

/* A table with gaps: rows without a reading or an input are in no fold. */
static void folds_partition_the_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_context_set_seed(ctx, 5);
    hf_table *table = table_of(
        ctx,
        "a,y,who\n1,2,1\n,3,7\n3,,8\n4,1,9\n5,5,1\n6,2,1\n7,3,2\n8,1,3\n9,4,4\n10,2,5\n11,1,6\n12,7,7\n");
    const char *const presets[] = {"gp"};
    const hf_compare_settings settings = {.size = sizeof(hf_compare_settings), .folds = 4, .repeats = 3};
    hf_comparison *c = comparison_of(ctx, table, presets, 1, settings);
    static const size_t rows[] = {0, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const double y[] = {2, 1, 5, 2, 3, 1, 4, 2, 1, 7};
    assert_int_equal(hf_comparison_readings(c), 10);
    assert_memory_equal(hf_comparison_rows(c), rows, sizeof rows);
    assert_memory_equal(hf_comparison_targets(c), y, sizeof y);
    assert_int_equal(hf_comparison_settings_of(c)->folds, 4);
    assert_int_equal(hf_comparison_settings_of(c)->repeats, 3);
    for (size_t r = 0; r < 3; r++) {
        size_t order[10], train, sizes[4] = {0};
        const size_t *folds = hf_comparison_folds(c, r);
        assert_int_equal(hf_split(ctx, 5 + r, 0.0, 10, order, &train), HF_OK);
        for (size_t k = 0; k < 10; k++) {
            assert_int_equal(folds[order[k]], k % 4);
            sizes[folds[k]]++;
        }
        for (size_t f = 0; f < 4; f++) assert_true(sizes[f] == 2 || sizes[f] == 3);
        for (size_t i = 0; i < 10; i++) assert_true(isfinite(hf_comparison_means(c, 0, r)[i]));
    }
    assert_memory_not_equal(hf_comparison_folds(c, 0), hf_comparison_folds(c, 1), 10 * sizeof(size_t));
    assert_null(hf_comparison_folds(c, 3));
    assert_null(hf_comparison_means(c, 0, 3));
    assert_null(hf_comparison_sds(c, 1, 0));
    assert_null(hf_comparison_name(c, 1));
    assert_null(hf_comparison_scores(c, 1));
    assert_int_equal(hf_comparison_scores(c, 0)->metrics.n, 30);
    hf_comparison_free(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* The rows whose fold is, or is not, `fold`. */
static hf_table *part_of(hf_context *ctx, const hf_table *table, const size_t *folds, size_t fold, bool held)
{
    size_t rows[64], count = 0;
    hf_table *out = NULL;
    for (size_t i = 0; i < hf_table_rows(table); i++)
        if ((folds[i] == fold) == held) rows[count++] = i;
    assert_int_equal(hf_table_select(ctx, table, rows, count, &out), HF_OK);
    return out;
}

/* Through the public functions, one after the other: the same digits. */
static void predictions_are_those_of_a_loop_by_hand(void **state)
{
    (void)state;
    enum {
        N = 32,
        FOLDS = 3
    };
    static const char *const presets[] = {"default", "gp", "rcgp"};
    hf_context *ctx = hf_context_create();
    hf_context_set_seed(ctx, 11);
    hf_table *table = wavy_table(ctx, N, 2);
    hf_comparison *c =
        comparison_of(ctx, table, presets, 3, (hf_compare_settings){sizeof(hf_compare_settings), FOLDS, 1});
    const size_t *folds = hf_comparison_folds(c, 0);
    assert_int_equal(hf_comparison_models(c), 3);
    for (size_t m = 0; m < 3; m++) {
        const hf_contender contender = contender_of(ctx, presets[m]);
        double mean[N], sd[N], error[N];
        assert_string_equal(hf_comparison_name(c, m), presets[m]);
        for (size_t f = 0; f < FOLDS; f++) {
            hf_table *train = part_of(ctx, table, folds, f, false),
                     *held = part_of(ctx, table, folds, f, true);
            hf_model *model = model_of(ctx, train, &contender.settings);
            assert_int_equal(hf_predict_into_table(ctx, model, held), HF_OK);
            for (size_t i = 0, k = 0; i < N; i++) {
                if (folds[i] != f) continue;
                mean[i] = column_of(ctx, held, "y_mean")[k];
                sd[i] = column_of(ctx, held, "y_sd_observed")[k++];
            }
            hf_model_free(model);
            hf_table_free(held);
            hf_table_free(train);
        }
        assert_memory_equal(hf_comparison_means(c, m, 0), mean, sizeof mean);
        assert_memory_equal(hf_comparison_sds(c, m, 0), sd, sizeof sd);
        hf_metrics metrics;
        const double *y = column_of(ctx, table, "y");
        assert_int_equal(hf_metrics_gaussian(ctx, N, y, mean, sd, &metrics), HF_OK);
        const hf_compared *scores = hf_comparison_scores(c, m);
        assert_int_equal(scores->metrics.n, N);
        assert_close(scores->metrics.rmse, metrics.rmse, 1e-13);
        assert_close(scores->metrics.mae, metrics.mae, 1e-13);
        assert_close(scores->metrics.nlpd, metrics.nlpd, 1e-13);
        assert_close(scores->metrics.crps, metrics.crps, 1e-13);
        assert_close(scores->metrics.coverage50, metrics.coverage50, 1e-13);
        assert_close(scores->metrics.coverage90, metrics.coverage90, 1e-13);
        assert_close(scores->metrics.coverage95, metrics.coverage95, 1e-13);
        for (size_t i = 0; i < N; i++) error[i] = fabs(y[i] - mean[i]);
        assert_true(scores->median_error == hfi_median(error, N));
        assert_true(scores->seconds > 0.0 && scores->warnings <= FOLDS);
        assert_true((scores->warnings > 0) == (scores->warning[0] != '\0'));
    }
    hf_comparison_free(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* A transformed target is scored as hf_score() does, in its own units. */
static void transforms_are_compared(void **state)
{
    (void)state;
    enum {
        N = 24,
        FOLDS = 3
    };
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, N, 0);
    double y[N];
    for (size_t i = 0; i < N; i++) y[i] = exp(column_of(ctx, table, "y")[i]);
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
    hf_contender contenders[] = {contender_of(ctx, "gp"), contender_of(ctx, "gp")};
    contenders[1].settings.transform = HF_TRANSFORM_LOG;
    const hf_compare_settings settings = {sizeof(hf_compare_settings), FOLDS, 1};
    hf_comparison *c = NULL;
    assert_int_equal(hf_compare(ctx, table, &target, 2, contenders, &settings, &c), HF_OK);
    const size_t *folds = hf_comparison_folds(c, 0);
    hf_metrics sums = {0};
    for (size_t f = 0; f < FOLDS; f++) {
        hf_table *train = part_of(ctx, table, folds, f, false), *held = part_of(ctx, table, folds, f, true);
        hf_model *model = model_of(ctx, train, &contenders[1].settings);
        hf_metrics one;
        assert_int_equal(hf_score(ctx, model, held, &one), HF_OK);
        sums.nlpd += one.nlpd * (double)one.n / N;
        sums.crps += one.crps * (double)one.n / N;
        sums.mae += one.mae * (double)one.n / N;
        sums.coverage90 += one.coverage90 * (double)one.n / N;
        sums.rmse += one.rmse * one.rmse * (double)one.n / N;
        assert_int_equal(hf_predict_into_table(ctx, model, held), HF_OK);
        for (size_t i = 0, k = 0; i < N; i++) {
            if (folds[i] != f) continue;
            assert_true(hf_comparison_means(c, 1, 0)[i] == column_of(ctx, held, "y_mean")[k]);
            assert_true(hf_comparison_sds(c, 1, 0)[i] == column_of(ctx, held, "y_sd_observed")[k++]);
        }
        hf_model_free(model);
        hf_table_free(held);
        hf_table_free(train);
    }
    const hf_metrics *scores = &hf_comparison_scores(c, 1)->metrics;
    assert_close(scores->nlpd, sums.nlpd, 1e-12);
    assert_close(scores->crps, sums.crps, 1e-12);
    assert_close(scores->mae, sums.mae, 1e-12);
    assert_close(scores->coverage90, sums.coverage90, 1e-12);
    assert_close(scores->rmse, sqrt(sums.rmse), 1e-12);
    assert_int_equal(hf_comparison_best(c, HF_CRITERION_NLPD), 1);
    hf_comparison_free(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Fits that share threads, and fits one after the other; the first failure is told, whoever finds one
 * first. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum {
        N = 30
    };
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, N, 2);
    static const char *const presets[] = {"default", "gp", "rcgp"};
    hf_comparison *made[2];
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(hf_context_set_threads(ctx, k == 0 ? 1 : 3), HF_OK);
        made[k] =
            comparison_of(ctx, table, presets, 3, (hf_compare_settings){sizeof(hf_compare_settings), 4, 2});
    }
    for (size_t m = 0; m < 3; m++)
        for (size_t r = 0; r < 2; r++) {
            assert_memory_equal(hf_comparison_means(made[0], m, r), hf_comparison_means(made[1], m, r),
                                N * sizeof(double));
            assert_memory_equal(hf_comparison_sds(made[0], m, r), hf_comparison_sds(made[1], m, r),
                                N * sizeof(double));
        }
    hf_contender wrong[] = {contender_of(ctx, "gp"), contender_of(ctx, "gp"), contender_of(ctx, "gp")};
    wrong[1].name = "first";
    wrong[1].settings.kernel = "nosuch(a)";
    wrong[2].name = "second";
    wrong[2].settings.kernel = "neither(a)";
    hf_comparison *none = NULL;
    assert_int_equal(hf_compare(ctx, table, &target, 3, wrong, NULL, &none), HF_ERR_PARSE);
    assert_contains(hf_context_message(ctx), "first, without fold 1: ");
    assert_null(none);
    hf_comparison_free(made[0]);
    hf_comparison_free(made[1]);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* A column that is text in the whole table is no input, even where its only text is held out; nor
 * does the number of threads matter. */
static void inputs_are_those_of_the_whole_table(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, "a,code,y\n1,,1\n2,,2\n3,x,3\n4,,4\n5,,5\n6,,6\n7,,7\n8,,8\n");
    hf_table *without = table_of(ctx, "a,y\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n");
    const char *const presets[] = {"gp"};
    const hf_compare_settings settings = {.size = sizeof(hf_compare_settings), .folds = 8, .repeats = 1};
    hf_comparison *c = comparison_of(ctx, table, presets, 1, settings);
    assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
    hf_comparison *plain = comparison_of(ctx, without, presets, 1, settings);
    assert_memory_equal(hf_comparison_means(c, 0, 0), hf_comparison_means(plain, 0, 0), 8 * sizeof(double));
    hf_comparison_free(plain);
    hf_comparison_free(c);
    hf_table_free(without);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* ---- differences ------------------------------------------------------------------------------------------ */

/* Loss of one reading of one repeat. */
static double loss(hf_context *ctx, const hf_comparison *c, hf_criterion by, size_t m, size_t r, size_t i)
{
    hf_metrics one;
    assert_int_equal(hf_metrics_gaussian(ctx, 1, &hf_comparison_targets(c)[i],
                                         &hf_comparison_means(c, m, r)[i], &hf_comparison_sds(c, m, r)[i],
                                         &one),
                     HF_OK);
    const double losses[] = {one.crps, one.nlpd, one.mae, one.rmse * one.rmse};
    return losses[by];
}

static double score(const hf_comparison *c, hf_criterion by, size_t m)
{
    const hf_metrics *s = &hf_comparison_scores(c, m)->metrics;
    const double scores[] = {s->crps, s->nlpd, s->mae, s->rmse};
    return scores[by];
}

static void differences_are_paired(void **state)
{
    (void)state;
    enum {
        N = 24
    };
    static const char *const presets[] = {"gp", "rcgp"};
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, N, 2);
    hf_comparison *c =
        comparison_of(ctx, table, presets, 2, (hf_compare_settings){sizeof(hf_compare_settings), 4, 2});
    for (hf_criterion by = HF_CRITERION_CRPS; by <= HF_CRITERION_RMSE; by++) {
        double d[N], mean = 0.0, squares = 0.0, difference, error, back;
        for (size_t i = 0; i < N; i++) {
            d[i] = 0.5 * (loss(ctx, c, by, 0, 0, i) + loss(ctx, c, by, 0, 1, i) - loss(ctx, c, by, 1, 0, i) -
                          loss(ctx, c, by, 1, 1, i));
            mean += d[i] / N;
        }
        for (size_t i = 0; i < N; i++) squares += (d[i] - mean) * (d[i] - mean);
        assert_int_equal(hf_comparison_difference(ctx, c, by, 0, 1, &difference, &error), HF_OK);
        const double unit = by == HF_CRITERION_RMSE ? score(c, by, 0) + score(c, by, 1) : 1.0;
        assert_close(difference, mean / unit, 1e-12);
        assert_close(error, sqrt(squares / (N - 1) / N) / unit, 1e-12);
        assert_close(difference, score(c, by, 0) - score(c, by, 1), 1e-12);
        assert_int_equal(hf_comparison_difference(ctx, c, by, 1, 0, &back, NULL), HF_OK);
        assert_close(back, -difference, 1e-12);
        assert_int_equal(hf_comparison_difference(ctx, c, by, 1, 1, &back, &error), HF_OK);
        assert_true(back == 0.0 && error == 0.0);
        assert_int_equal(hf_comparison_best(c, by), difference <= 0.0 ? 0 : 1);
    }
    assert_int_equal(hf_comparison_difference(ctx, c, HF_CRITERION_MAE, 0, 2, &(double){0.0}, NULL),
                     HF_ERR_ARGUMENT);
    hf_comparison_free(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Wrong readings make the plain model win by squares, and lose by distance. */
static void wrong_readings_do_not_decide_by_crps(void **state)
{
    (void)state;
    static const char *const presets[] = {"gp", "default"};
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 80, 5);
    hf_comparison *c =
        comparison_of(ctx, table, presets, 2, (hf_compare_settings){sizeof(hf_compare_settings), 5, 1});
    double difference, error;
    assert_int_equal(hf_comparison_best(c, HF_CRITERION_CRPS), 1);
    assert_int_equal(hf_comparison_difference(ctx, c, HF_CRITERION_CRPS, 0, 1, &difference, &error), HF_OK);
    assert_true(difference > 2.0 * error);
    assert_true(hf_comparison_scores(c, 1)->median_error < 0.5 * hf_comparison_scores(c, 0)->median_error);
    assert_int_equal(hf_comparison_best(c, HF_CRITERION_NLPD), 0);
    hf_comparison_free(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void criteria_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"crps", "nlpd", "mae", "rmse"};
    hf_context *ctx = hf_context_create();
    hf_criterion by;
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(hf_enum_parse(ctx, HF_ENUM_CRITERION, names[k], &by), HF_OK);
        assert_int_equal(by, k);
        assert_string_equal(hf_enum_name(HF_ENUM_CRITERION, by), names[k]);
    }
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_CRITERION, "r2", &by), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "crps, nlpd, mae or rmse");
    assert_int_equal(hf_compare_settings_default().folds, 10);
    assert_int_equal(hf_compare_settings_default().repeats, 1);
    hf_context_free(ctx);
}

/* ---- what is refused -------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *text;
    hf_columns columns;
    const char *preset, *kernel;
    hf_compare_settings settings;
    hf_status status;
    const char *message; /* part of it */
} refusal;

static void refuses(void **state)
{
    (void)state;
    static const char *const two[] = {"y", "a"};
    static const char good[] = "a,y\n1,2\n2,3\n3,1\n4,5\n5,2\n";
    const hf_compare_settings usual = {sizeof(hf_compare_settings), 2, 1};
    const refusal cases[] = {
        {good,
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         NULL,
         {sizeof(hf_compare_settings), 1, 1},
         HF_ERR_ARGUMENT,
         "folds is 1"},
        {good,
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         NULL,
         {sizeof(hf_compare_settings), 2, 0},
         HF_ERR_ARGUMENT,
         "repeats is 0"},
        {good,
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         NULL,
         {sizeof(hf_compare_settings), 6, 1},
         HF_ERR_ARGUMENT,
         "6 folds need as many readings of \"y\", there are 5"},
        {good, {.size = sizeof(hf_columns), .target = "z"}, "gp", NULL, usual, HF_ERR_NO_COLUMN, "z"},
        {good, {.size = sizeof(hf_columns), .target = NULL}, "gp", NULL, usual, HF_ERR_ARGUMENT, "target"},
        {good, {.size = sizeof(hf_columns), .target = "y"}, "probit", NULL, usual, HF_ERR_ARGUMENT, "labels"},
        {good,
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         "nosuch(a)",
         usual,
         HF_ERR_PARSE,
         "gp, without fold 1: "},
        {"a,b,y\n1,1,2\n2,2,3\n",
         {.size = sizeof(hf_columns), .targets = two, .target_count = 2},
         "gp",
         NULL,
         usual,
         HF_ERR_ARGUMENT,
         "several outputs"},
        {"a,y\n1,2\n2,2\n3,2\n",
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         NULL,
         usual,
         HF_ERR_ARGUMENT,
         "the same value in every row"},
        {"a,y\n", {.size = sizeof(hf_columns), .target = "y"}, "gp", NULL, usual, HF_ERR_NO_DATA, "no rows"},
        {"a,y\n1,2\n2,inf\n3,1\n",
         {.size = sizeof(hf_columns), .target = "y"},
         "gp",
         NULL,
         usual,
         HF_ERR_NOT_FINITE,
         "line 3"},
    };
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const refusal *r = &cases[k];
        hf_table *table = table_of(ctx, r->text);
        hf_contender contender = contender_of(ctx, r->preset);
        contender.settings.kernel = r->kernel;
        hf_comparison *c = NULL;
        const hf_status status = hf_compare(ctx, table, &r->columns, 1, &contender, &r->settings, &c);
        if (status != r->status) fail_msg("%s: %s", hf_status_name(status), hf_context_message(ctx));
        assert_contains(hf_context_message(ctx), r->message);
        assert_null(c);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

static void asks_for_what_it_needs(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 12, 0);
    hf_contender contender = contender_of(ctx, "gp");
    hf_comparison *c = NULL;
    assert_int_equal(hf_compare(ctx, NULL, &target, 1, &contender, NULL, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_compare(ctx, table, NULL, 1, &contender, NULL, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_compare(ctx, table, &target, 1, NULL, NULL, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_compare(ctx, table, &target, 0, &contender, NULL, &c), HF_ERR_ARGUMENT);
    contender.settings.checkpoint = "x";
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, NULL, &c), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "checkpoint");
    contender.settings.checkpoint = NULL;
    contender.name = NULL;
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, NULL, &c), HF_ERR_ARGUMENT);
    assert_null(c);
    assert_int_equal(hf_comparison_models(NULL) + hf_comparison_readings(NULL), 0);
    assert_null(hf_comparison_settings_of(NULL));
    assert_null(hf_comparison_rows(NULL));
    assert_null(hf_comparison_targets(NULL));
    hf_comparison_free(NULL);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* ---- progress --------------------------------------------------------------------------------------------- */

typedef struct watcher {
    double last;
    size_t calls;
    double stop_at; /* share at which to cancel */
} watcher;

static bool watch(const char *stage, double done, double value, void *user)
{
    (void)value;
    watcher *w = user;
    assert_string_equal(stage, "compare");
    assert_true(done >= 0.0 && done <= 1.0 && done >= w->last - 0.2);
    w->last = done;
    w->calls++;
    return done < w->stop_at;
}

static void can_be_watched_and_cancelled(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 20, 0);
    const hf_contender contender = contender_of(ctx, "gp");
    const hf_compare_settings settings = {.size = sizeof(hf_compare_settings), .folds = 5, .repeats = 1};
    hf_comparison *c = NULL;
    watcher w = {.stop_at = 2.0};
    hf_context_set_progress(ctx, watch, &w);
    /* One thread: fits end one after the other, and each is asked about. */
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, &settings, &c), HF_OK);
    assert_true(w.calls > 5 && w.last >= 0.8);
    hf_comparison_free(c);
    c = NULL;
    w = (watcher){.stop_at = 0.5};
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, &settings, &c), HF_ERR_CANCELLED);
    assert_true(w.last >= 0.5 && w.last < 0.9);
    assert_null(c);
    w = (watcher){.stop_at = 0.0};
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    assert_int_equal(hf_compare(ctx, table, &target, 1, &contender, &settings, &c), HF_ERR_CANCELLED);
    assert_null(c);
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_partition_the_readings),
        cmocka_unit_test(predictions_are_those_of_a_loop_by_hand),
        cmocka_unit_test(transforms_are_compared),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(inputs_are_those_of_the_whole_table),
        cmocka_unit_test(differences_are_paired),
        cmocka_unit_test(wrong_readings_do_not_decide_by_crps),
        cmocka_unit_test(criteria_have_names),
        cmocka_unit_test(refuses),
        cmocka_unit_test(asks_for_what_it_needs),
        cmocka_unit_test(can_be_watched_and_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
