/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel "auto" is the one whose fit by hand predicts the readings clearly better. */
#include "model/model_testing.h"

#include "model/candidates.h"

#include <stdio.h>

enum {
    INPUTS = 4,
    MOST = 200
};

typedef enum shape {
    PLANE, /* of three inputs, and a quick wave of the first */
    WAVE,  /* of the first */
    WALK   /* a random walk along the first */
} shape;

typedef struct made {
    shape shape;
    size_t n, d;
    size_t bad; /* every `bad`th is far off; 0: none */
    uint64_t seed;
} made;

static double noiseless(const made *m, const double *x, double *level, hfi_stream *stream)
{
    switch (m->shape) {
    case PLANE:
        return 6.0 * x[1] - 4.0 * x[2] + 5.0 * x[3] + 2.0 * sin(12.0 * x[0]);
    case WALK:
        *level += hfi_stream_normal(stream);
        return *level;
    case WAVE:
        break;
    }
    return 2.0 + sin(3.0 * x[0]);
}

static hf_table *make(hf_context *ctx, const made *m)
{
    const size_t bytes = 64 + 160 * m->n;
    char *text = malloc(bytes);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, bytes, m->d == 1 ? "y,a\n" : "y,a,b,c,d\n");
    hfi_stream stream;
    hfi_stream_init(&stream, m->seed, HFI_PURPOSE_TEST, 0);
    double level = 0.0;
    for (size_t i = 0; i < m->n; i++) {
        double x[INPUTS];
        for (size_t j = 0; j < m->d; j++) x[j] = 2.0 * hfi_stream_uniform(&stream);
        if (m->shape == WALK) x[0] = (double)i;
        double y = noiseless(m, x, &level, &stream) + 0.05 * hfi_stream_normal(&stream);
        if (m->bad > 0 && i % m->bad == 3) y += 60.0;
        used += (size_t)snprintf(text + used, bytes - used, "%.17g", y);
        for (size_t j = 0; j < m->d; j++) used += (size_t)snprintf(text + used, bytes - used, ",%.17g", x[j]);
        used += (size_t)snprintf(text + used, bytes - used, "\n");
    }
    hf_table *table = table_of(ctx, text);
    free(text);
    return table;
}

static const hf_columns columns = {.size = sizeof columns, .target = "y"};

static hf_model *fit(hf_context *ctx, const hf_table *table, const char *kernel, hf_fit_settings settings)
{
    hf_model *model = NULL;
    settings.kernel = kernel;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

static hf_fit_settings plain(void)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    return settings;
}

/* ---- by hand ----------------------------------------------------------------------------------------- */

/* Log densities of the readings, each without itself. */
static void densities(hf_context *ctx, const hf_model *model, double *out)
{
    hf_table *rows = NULL;
    assert_true(hf_model_rows(ctx, model, &rows) >= 0);
    const double *y = column_of(ctx, rows, "y"), *mean = column_of(ctx, rows, "loo_mean"),
                 *sd = column_of(ctx, rows, "loo_sd");
    for (size_t i = 0; i < hf_table_rows(rows); i++)
        out[i] = hf_transform_log_density(HF_TRANSFORM_NONE, y[i], mean[i], sd[i] * sd[i]);
    hf_table_free(rows);
}

/* Mean gain of a over b in standard errors of it. */
static double gain(size_t n, const double *a, const double *b)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) sum += fmax(-5.0, fmin(5.0, a[i] - b[i]));
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += pow(fmax(-5.0, fmin(5.0, a[i] - b[i])) - mean, 2.0);
    return mean / sqrt(squares / ((double)n - 1.0) / (double)n);
}

/* The same predictions, to the digit. */
static void same(hf_context *ctx, const hf_model *a, const hf_model *b, size_t n)
{
    double one[MOST], two[MOST];
    densities(ctx, a, one);
    densities(ctx, b, two);
    assert_memory_equal(one, two, n * sizeof *one);
    assert_true(hf_model_report_of(a)->objective == hf_model_report_of(b)->objective);
}

/* The kernel that is chosen is the one that is chosen by hand, and so is its model. The gains are
 * never near the margin. */
static void chosen(const made *m, const char *expected)
{
    static const char *const kernels[] = {"matern52(ard)", "matern52", "matern52(ard) + linear(ard)",
                                          "matern32(ard)"};
    hf_context *ctx = hf_context_create();
    hf_table *table = make(ctx, m);
    double best[MOST], other[MOST];
    hf_model *by_hand = fit(ctx, table, kernels[0], plain());
    densities(ctx, by_hand, best);
    for (size_t k = 1; k < 4; k++) {
        if (k == 1 && m->d == 1) continue;
        hf_model *model = fit(ctx, table, kernels[k], plain());
        densities(ctx, model, other);
        const double over = gain(m->n, other, best);
        if (fabs(over - 2.0) < 0.5) fail_msg("%s: %g standard errors are near 2", kernels[k], over);
        if (over > 2.0) memcpy(best, other, sizeof best);
        hf_model_free(over > 2.0 ? by_hand : model);
        if (over > 2.0) by_hand = model;
    }
    assert_string_equal(hf_model_settings_of(by_hand)->kernel, expected);
    hf_model *automatic = fit(ctx, table, "auto", plain());
    assert_string_equal(hf_model_settings_of(automatic)->kernel, expected);
    char start[64];
    snprintf(start, sizeof start, "kernel: %s (", expected);
    assert_true(strncmp(hf_model_note(automatic, 0), start, strlen(start)) == 0);
    assert_true((strstr(hf_model_note(automatic, 0), " matern52 by ") != NULL) ==
                (m->d > 1 && m->shape != PLANE));
    same(ctx, automatic, by_hand, m->n);
    hf_model_free(automatic);
    hf_model_free(by_hand);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void the_kernel_of_the_data_is_chosen(void **state)
{
    (void)state;
    chosen(&(made){PLANE, 60, 4, 0, 1}, "matern52(ard) + linear(ard)");
    chosen(&(made){WAVE, 60, 1, 0, 1}, "matern52(ard)");
    chosen(&(made){WAVE, 60, 4, 0, 1}, "matern52(ard)");
    chosen(&(made){WALK, 200, 1, 0, 3}, "matern32(ard)");
}

/* ---- with what the default does beside ----------------------------------------------------------------- */

static bool is_noted(const hf_model *model, const char *words)
{
    for (size_t i = 0; i < hf_model_notes(model); i++)
        if (strstr(hf_model_note(model, i), words) != NULL) return true;
    return false;
}

/* Suspects are set aside in each fit, and wrong readings have no say. */
static void wrong_readings_do_not_choose(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = make(ctx, &(made){WAVE, 60, 1, 12, 1});
    hf_model *model = fit(ctx, table, "auto", hf_fit_settings_default());
    assert_string_equal(hf_model_settings_of(model)->kernel, "matern52(ard)");
    assert_true(hf_model_report_of(model)->suspects_adopted && hf_model_report_of(model)->suspects == 5);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Two fits of a wave with five wrong readings, of which the second sets them aside. */
static size_t contest_of_two(bool keeps, const char *words)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = make(ctx, &(made){WAVE, 60, 1, 12, 1});
    hfi_candidate list[] = {{.name = "all", .settings = plain()},
                            {.name = "kept", .settings = hf_fit_settings_default()}};
    const hfi_contest contest = {"readings", "", keeps};
    hf_model *model = NULL;
    size_t best = 99;
    assert_int_equal(hfi_model_prepare(ctx, table, &columns, &list[0].settings, &model), HF_OK);
    assert_true(hfi_candidates_choose(ctx, model, &contest, list, 2, &best) >= 0);
    assert_int_equal(hf_model_report_of(model)->suspects_adopted, best == 1);
    assert_true(is_noted(model, words));
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
    return best;
}

/* To call readings wrong is no way to win where that is not what the choice is about. */
static void a_kernel_does_not_win_by_calling_readings_wrong(void **state)
{
    (void)state;
    assert_int_equal(contest_of_two(false, "readings: kept ("), 1);
    assert_int_equal(contest_of_two(true, ", setting more aside"), 0);
}

/* First the transform, with the first kernel, then the kernel with that. */
static void a_transform_is_chosen_before(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = make(ctx, &(made){WAVE, 60, 1, 0, 1});
    const double *y = column_of(ctx, table, "y");
    double skewed[MOST];
    for (size_t i = 0; i < 60; i++) skewed[i] = exp(2.0 * y[i]);
    assert_true(hf_table_set_numbers(ctx, table, "y", skewed) >= 0);
    hf_fit_settings settings = plain();
    settings.transform = HF_TRANSFORM_LOG;
    hf_model *by_hand = fit(ctx, table, NULL, settings);
    settings.transform = HF_TRANSFORM_AUTO;
    hf_model *automatic = fit(ctx, table, "auto", settings);
    assert_int_equal(hf_model_settings_of(automatic)->transform, HF_TRANSFORM_LOG);
    assert_string_equal(hf_model_settings_of(automatic)->kernel, "matern52(ard)");
    assert_true(is_noted(automatic, "transform: log (") && is_noted(automatic, "kernel: matern52(ard) ("));
    same(ctx, automatic, by_hand, 60);
    hf_model_free(automatic);
    hf_model_free(by_hand);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void choosing_takes_a_fit_each(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *one = make(ctx, &(made){WAVE, 9, 1, 0, 1}), *four = make(ctx, &(made){WAVE, 9, 4, 0, 1});
    hf_fit_settings settings = plain();
    hf_cost single, several;
    assert_int_equal(hf_fit_cost(ctx, one, &columns, &settings, &single), HF_OK);
    settings.kernel = "auto";
    assert_int_equal(hf_fit_cost(ctx, one, &columns, &settings, &several), HF_OK);
    assert_true(several.flops == 3.0 * single.flops); /* of one input matern52 is matern52(ard) */
    settings.mean = HF_MEAN_LINEAR;
    assert_int_equal(hf_fit_cost(ctx, one, &columns, &settings, &several), HF_OK);
    assert_true(several.flops == 2.0 * single.flops);
    settings.transform = HF_TRANSFORM_AUTO;
    assert_int_equal(hf_fit_cost(ctx, one, &columns, &settings, &several), HF_OK);
    assert_true(several.flops == 5.0 * single.flops); /* and three for the transform */
    settings = plain();
    assert_int_equal(hf_fit_cost(ctx, four, &columns, &settings, &single), HF_OK);
    settings.kernel = "auto";
    assert_int_equal(hf_fit_cost(ctx, four, &columns, &settings, &several), HF_OK);
    assert_true(several.flops == 4.0 * single.flops);
    hf_model *model = fit(ctx, four, "auto", plain());
    assert_string_equal(hf_model_settings_of(model)->kernel, "matern52(ard)");
    assert_true(is_noted(model, "kernel: matern52(ard) (fewer than 10 readings to choose from)"));
    hf_model_free(model);
    hf_table_free(one);
    hf_table_free(four);
    hf_context_free(ctx);
}

/* ---- what does not go with it ------------------------------------------------------------------------ */

static void refused(hf_context *ctx, const hf_columns *which, const hf_fit_settings *settings,
                    const char *words)
{
    hf_table *table = table_of(ctx, "y,a,b\n1,2,3\n2,3,5\n1,4,1\n");
    hf_model *model = NULL;
    hf_cost told;
    assert_int_equal(hf_fit(ctx, table, which, settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), words);
    assert_null(model);
    assert_int_equal(hf_fit_cost(ctx, table, which, settings, &told), HF_ERR_ARGUMENT);
    hf_table_free(table);
}

static void what_has_no_choice_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const two[] = {"y", "a"};
    const hf_assignment held[] = {{"noise", 0.1}, {"lengthscale[0]", 1.0}};
    hf_fit_settings settings = plain(), labels;
    settings.kernel = "auto";
    refused(ctx, &(hf_columns){.size = sizeof(hf_columns), .targets = two, .target_count = 2}, &settings,
            "several outputs");
    settings.checkpoint = "never-written.checkpoint";
    refused(ctx, &columns, &settings, "checkpoint");
    settings.checkpoint = NULL;
    settings.set = held;
    settings.set_count = 2;
    refused(ctx, &columns, &settings, "'lengthscale[0]'");
    assert_int_equal(hf_fit_settings_preset(ctx, "probit", &labels, sizeof labels), HF_OK);
    labels.kernel = "auto";
    refused(ctx, &columns, &labels, "kernel auto");

    hf_model *model = NULL;
    settings.set_count = 0;
    assert_int_equal(hf_fit_stream(ctx, "no-such.csv", NULL, &columns, &settings, &model, NULL),
                     HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "kernel auto");
    const double x[] = {1.0, 2.0}, y[] = {1.0, 2.0};
    const hf_data data = {.n = 2, .d = 1, .x = x, .ldx = 1, .y = y};
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "kernel auto");
    assert_true(model == NULL && posterior == NULL);
    hf_context_free(ctx);
}

/* Calls, and the one at which to stop. */
typedef struct calls {
    size_t made, last;
} calls;

static bool count(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    calls *c = user;
    return ++c->made < c->last;
}

static void the_second_fit_can_be_cancelled(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = make(ctx, &(made){WAVE, 60, 1, 0, 1});
    calls c = {0, SIZE_MAX};
    hf_context_set_progress(ctx, count, &c);
    hf_model_free(fit(ctx, table, NULL, plain()));
    c = (calls){0, c.made + 2};
    hf_fit_settings settings = plain();
    settings.kernel = "auto";
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_ERR_CANCELLED);
    assert_null(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_of_the_data_is_chosen),
        cmocka_unit_test(wrong_readings_do_not_choose),
        cmocka_unit_test(a_kernel_does_not_win_by_calling_readings_wrong),
        cmocka_unit_test(a_transform_is_chosen_before),
        cmocka_unit_test(choosing_takes_a_fit_each),
        cmocka_unit_test(what_has_no_choice_is_refused),
        cmocka_unit_test(the_second_fit_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
