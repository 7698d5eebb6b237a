/* SPDX-License-Identifier: Apache-2.0 */
/* Models of arrays beside those of tables with the same numbers: every kind, every view, to the digit. */
#include "model/model_testing.h"

#include <holdfast/arrays.h>
#include <holdfast/likelihood.h>

enum {
    ROWS = 30,
    INPUTS = 2,
    OUTPUTS = 2
};

/* Numbers of all kinds of models for the same inputs, row-major. */
typedef struct numbers {
    double x[ROWS * INPUTS], y[ROWS * OUTPUTS], noise[ROWS], mean[ROWS], exposure[ROWS], count[ROWS];
    size_t label[ROWS];
} numbers;

/* One reading is far off and one is missing; so are an input, a mean, an exposure and a label. */
static numbers make_numbers(size_t classes)
{
    numbers made;
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < ROWS; i++) {
        const double a = 0.2 * (double)i, b = hfi_stream_normal(&stream);
        made.x[2 * i] = a;
        made.x[2 * i + 1] = b;
        made.y[2 * i] = 3.0 + sin(a) + 0.3 * b + 0.05 * hfi_stream_normal(&stream);
        made.y[2 * i + 1] = 4.0 + cos(a) + 0.05 * hfi_stream_normal(&stream);
        made.noise[i] = i % 3 == 0 ? 0.2 : 0.01;
        made.mean[i] = 0.1 * a;
        made.exposure[i] = i % 2 ? 3.0 : 1.0;
        made.count[i] = floor(made.exposure[i] * exp(1.0 + sin(a)));
        made.label[i] = classes == 2 ? i / 3 % 2 : classes * i / ROWS;
    }
    made.y[2 * 7] += 9.0;
    made.y[2 * 9] = made.count[9] = NAN;
    made.label[9] = HF_LABEL_MISSING;
    made.x[2 * 12 + 1] = NAN;
    made.mean[14] = made.exposure[14] = NAN;
    return made;
}

/* A kind of model: what it is fitted with, and what the columns of a table are called. */
typedef struct kind {
    const char *preset;
    size_t outputs, classes;
    hf_transform transform;
    bool noise, mean, exposure;
} kind;

static const kind kinds[] = {
    {.preset = "default", .outputs = 1},
    {.preset = "rcgp", .outputs = 1, .noise = true},
    {.preset = "gp", .outputs = 1, .mean = true},
    {.preset = "default", .outputs = 1, .transform = HF_TRANSFORM_LOG},
    {.preset = "mogp", .outputs = OUTPUTS},
    {.preset = "poisson", .outputs = 1, .exposure = true},
    {.preset = "gamma", .outputs = 1},
    {.preset = "probit", .outputs = 1, .classes = 2},
    {.preset = "softmax", .outputs = 1, .classes = 3},
};
enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static bool has_rate(const kind *k)
{
    return strcmp(k->preset, "poisson") == 0 || strcmp(k->preset, "gamma") == 0;
}

static double target_of(const kind *k, const numbers *from, size_t i, size_t t)
{
    if (k->classes > 0) return from->label[i] == HF_LABEL_MISSING ? NAN : (double)from->label[i];
    if (!has_rate(k)) return from->y[OUTPUTS * i + t];
    return from->count[i] + (strcmp(k->preset, "gamma") == 0 ? 0.5 : 0.0);
}

/* The amounts or counts where they are wanted, so that views can point to them. */
static hf_arrays arrays_of(const kind *k, const numbers *from, double *targets)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t t = 0; t < k->outputs; t++) targets[i * k->outputs + t] = target_of(k, from, i, t);
    hf_arrays rows = {.size = sizeof rows, .rows = ROWS, .inputs = INPUTS, .outputs = k->outputs};
    rows.x = (hf_view){from->x, INPUTS, 1};
    if (k->classes > 0) {
        rows.label = from->label;
        rows.classes = k->classes;
    } else {
        rows.y = (hf_view){targets, (ptrdiff_t)k->outputs, 1};
    }
    if (k->noise) rows.noise = (hf_view){from->noise, 1, 0};
    if (k->mean) rows.mean = (hf_view){from->mean, 1, 0};
    if (k->exposure) rows.exposure = (hf_view){from->exposure, 1, 0};
    return rows;
}

static const char *target_name(const kind *k, size_t t)
{
    static const char *const names[] = {"y0", "y1"};
    return k->classes > 0 ? "label" : k->outputs == 1 ? "y" : names[t];
}

static hf_table *table_like(hf_context *ctx, const kind *k, const numbers *from)
{
    hf_table *table = NULL;
    double column[ROWS];
    assert_int_equal(hf_table_create(ctx, ROWS, &table), HF_OK);
    for (size_t j = 0; j < INPUTS; j++) {
        for (size_t i = 0; i < ROWS; i++) column[i] = from->x[INPUTS * i + j];
        assert_int_equal(hf_table_set_numbers(ctx, table, j == 0 ? "x0" : "x1", column), HF_OK);
    }
    for (size_t t = 0; t < k->outputs; t++) {
        for (size_t i = 0; i < ROWS; i++) column[i] = target_of(k, from, i, t);
        assert_int_equal(hf_table_set_numbers(ctx, table, target_name(k, t), column), HF_OK);
    }
    if (k->noise) assert_int_equal(hf_table_set_numbers(ctx, table, "noise", from->noise), HF_OK);
    if (k->mean) assert_int_equal(hf_table_set_numbers(ctx, table, "prior_mean", from->mean), HF_OK);
    if (k->exposure) assert_int_equal(hf_table_set_numbers(ctx, table, "exposure", from->exposure), HF_OK);
    return table;
}

static hf_model *fit_table(hf_context *ctx, const kind *k, const hf_table *table,
                           const hf_fit_settings *settings)
{
    static const char *const features[] = {"x0", "x1"}, *const two[] = {"y0", "y1"};
    hf_columns columns = {.size = sizeof columns, .features = features, .feature_count = INPUTS};
    if (k->outputs > 1) {
        columns.targets = two;
        columns.target_count = k->outputs;
    } else {
        columns.target = target_name(k, 0);
    }
    if (k->noise) columns.noise = "noise";
    if (k->mean) columns.mean = "prior_mean";
    if (k->exposure) columns.exposure = "exposure";
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

/* The same model twice, and what it was made of. */
typedef struct pair {
    hf_context *ctx;
    numbers from;
    hf_table *table;
    hf_arrays rows;
    double targets[ROWS * OUTPUTS];
    hf_model *by_table, *by_arrays;
} pair;

static pair *pair_of(const kind *k)
{
    pair *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->ctx = hf_context_create();
    p->from = make_numbers(k->classes);
    p->table = table_like(p->ctx, k, &p->from);
    p->rows = arrays_of(k, &p->from, p->targets);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(p->ctx, k->preset, &settings, sizeof settings), HF_OK);
    settings.transform = k->transform;
    p->by_table = fit_table(p->ctx, k, p->table, &settings);
    hf_fit_report report = {.readings = 77};
    const hf_status status = hf_model_fit_arrays(p->ctx, &p->rows, &settings, &p->by_arrays, &report);
    if (status < 0) fail_msg("%s: %s", k->preset, hf_context_message(p->ctx));
    assert_true(status > 0); /* rows were left out, and in some fits a parameter is at its bound */
    assert_int_equal(report.readings, hf_model_report_of(p->by_table)->readings);
    return p;
}

static void pair_free(pair *p)
{
    hf_model_free(p->by_arrays);
    hf_model_free(p->by_table);
    hf_table_free(p->table);
    hf_context_free(p->ctx);
    free(p);
}

static void assert_same(double a, double b)
{
    if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void fits_are_those_of_tables(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        pair *p = pair_of(&kinds[k]);
        assert_string_equal(hf_model_data_checksum(p->by_arrays), hf_model_data_checksum(p->by_table));
        assert_int_equal(hf_model_parameters(p->by_arrays), hf_model_parameters(p->by_table));
        for (size_t i = 0; i < hf_model_parameters(p->by_table); i++) {
            hf_parameter one, other;
            assert_int_equal(hf_model_parameter(p->by_arrays, i, &one), HF_OK);
            assert_int_equal(hf_model_parameter(p->by_table, i, &other), HF_OK);
            assert_string_equal(one.name, other.name);
            assert_true(one.value == other.value);
        }
        assert_string_equal(hf_model_source(p->by_arrays), "arrays");
        assert_string_equal(hf_model_target(p->by_arrays), hf_model_target(p->by_table));
        pair_free(p);
    }
}

/* Everything that a model can say of the rows. */
typedef struct told {
    double mean[ROWS * 2], latent[ROWS * 2], observed[ROWS * 2], quantile[ROWS * 2 * 3],
        probability[ROWS * 3], latent_mean[ROWS * 3], latent_sd[ROWS * 3], between[ROWS * 4];
    size_t winner[ROWS];
} told;

static const double levels[] = {0.025, 0.5, 0.975};

static hf_predictions places(const kind *k, told *out)
{
    hf_predictions wanted = {
        .size = sizeof wanted, .latent_mean = out->latent_mean, .latent_sd = out->latent_sd};
    if (k->classes > 0) {
        wanted.probability = out->probability;
        wanted.winner = out->winner;
        return wanted;
    }
    wanted.mean = out->mean;
    wanted.sd_latent = out->latent;
    wanted.sd_observed = out->observed;
    wanted.levels = 3;
    wanted.level = levels;
    wanted.quantile = out->quantile;
    if (!has_rate(k)) wanted.output_covariance = out->between;
    return wanted;
}

static const double *predicted(pair *p, const char *format, const char *stem)
{
    char name[64];
    snprintf(name, sizeof name, format, stem);
    return column_of(p->ctx, p->table, name);
}

static void check_readings(pair *p, const kind *k, const told *t)
{
    for (size_t o = 0; o < k->outputs; o++) {
        const char *stem = target_name(k, o);
        const double *mean = predicted(p, "%s_mean", stem), *low = predicted(p, "%s_lo95", stem),
                     *high = predicted(p, "%s_hi95", stem), *latent = predicted(p, "%s_sd_latent", stem),
                     *observed = predicted(p, "%s_sd_observed", stem);
        for (size_t i = 0; i < ROWS; i++) {
            const size_t at = i * k->outputs + o;
            assert_same(t->mean[at], mean[i]);
            assert_same(t->latent[at], latent[i]);
            assert_same(t->observed[at], observed[i]);
            assert_int_equal(isnan(t->quantile[3 * at]), isnan(low[i]));
            if (isnan(low[i])) continue;
            assert_close(t->quantile[3 * at], low[i], 1e-12);
            assert_close(t->quantile[3 * at + 2], high[i], 1e-12);
            assert_true(t->quantile[3 * at] <= t->quantile[3 * at + 1]);
            if (k->transform == HF_TRANSFORM_NONE && !has_rate(k)) {
                assert_same(t->latent_mean[at], mean[i]);
                assert_close(t->quantile[3 * at + 1], mean[i], 1e-12);
            }
            if (!has_rate(k))
                assert_close(t->between[i * k->outputs * k->outputs + o * (k->outputs + 1)],
                             t->latent_sd[at] * t->latent_sd[at], 1e-10);
        }
    }
}

static void check_labels(pair *p, const kind *k, const told *t)
{
    static const char *const names[] = {"p_0", "p_1", "p_2"};
    size_t column = 0;
    assert_int_equal(hf_table_find(p->ctx, p->table, "label_class", &column), HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        char buffer[32];
        const char *field = hf_table_field(p->table, i, column, buffer);
        const bool missing = t->winner[i] == HF_LABEL_MISSING;
        const char *expected = missing ? "" : hf_model_class(p->by_arrays, t->winner[i]);
        assert_non_null(field);
        assert_string_equal(field, expected);
        for (size_t c = 0; c < k->classes && c < sizeof names / sizeof names[0]; c++)
            assert_same(t->probability[i * k->classes + c], column_of(p->ctx, p->table, names[c])[i]);
    }
    const size_t latents = hf_model_latents(p->by_arrays);
    assert_int_equal(latents, k->classes == 2 ? 1 : k->classes);
    for (size_t i = 0; i < ROWS && latents == 1; i++) {
        assert_same(t->latent_mean[i], predicted(p, "%s_mean", "label")[i]);
        assert_same(t->latent_sd[i], predicted(p, "%s_sd", "label")[i]);
    }
}

static void predictions_are_those_of_tables(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        pair *p = pair_of(&kinds[k]);
        told t;
        hf_predictions wanted = places(&kinds[k], &t);
        assert_int_equal(hf_predict_into_table(p->ctx, p->by_table, p->table), HF_WARN_ROWS_SKIPPED);
        assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &p->rows, &wanted),
                         HF_WARN_ROWS_SKIPPED);
        assert_contains(hf_context_message(p->ctx),
                        kinds[k].mean || kinds[k].exposure ? "2 of 30" : "1 of 30");
        if (kinds[k].classes > 0)
            check_labels(p, &kinds[k], &t);
        else
            check_readings(p, &kinds[k], &t);
        pair_free(p);
    }
}

/* The same inputs column by column, from the last row to the first, and with gaps. */
static void any_view_gives_the_same_numbers(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        pair *p = pair_of(&kinds[k]);
        told one, other;
        hf_predictions wanted = places(&kinds[k], &one), again = places(&kinds[k], &other);
        double columns[INPUTS * ROWS], gaps[ROWS * 5];
        assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &p->rows, &wanted),
                         HF_WARN_ROWS_SKIPPED);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < INPUTS; j++) {
                columns[j * ROWS + (ROWS - 1 - i)] = p->from.x[i * INPUTS + j];
                gaps[i * 5 + j] = p->from.x[i * INPUTS + j];
            }
        const hf_view views[] = {{columns + ROWS - 1, -1, ROWS}, {gaps, 5, 1}};
        for (size_t v = 0; v < 2; v++) {
            hf_arrays rows = p->rows;
            rows.x = views[v];
            assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &rows, &again),
                             HF_WARN_ROWS_SKIPPED);
            const size_t latents = hf_model_latents(p->by_arrays);
            for (size_t i = 0; i < ROWS * latents; i++) {
                assert_same(other.latent_mean[i], one.latent_mean[i]);
                assert_same(other.latent_sd[i], one.latent_sd[i]);
            }
            hf_model *fitted = NULL;
            hf_fit_settings settings;
            assert_int_equal(hf_fit_settings_preset(p->ctx, kinds[k].preset, &settings, sizeof settings),
                             HF_OK);
            settings.transform = kinds[k].transform;
            assert_true(hf_model_fit_arrays(p->ctx, &rows, &settings, &fitted, NULL) >= 0);
            assert_string_equal(hf_model_data_checksum(fitted), hf_model_data_checksum(p->by_table));
            hf_model_free(fitted);
        }
        pair_free(p);
    }
}

static void covariances_between_rows(void **state)
{
    (void)state;
    enum {
        M = 9
    };
    for (size_t k = 0; k < KINDS; k++) {
        pair *p = pair_of(&kinds[k]);
        const size_t m = M, latents = hf_model_latents(p->by_arrays);
        double *covariance = calloc(latents * m * m, sizeof *covariance), *x = calloc(m * 3, sizeof *x);
        double *expected = calloc(m * m, sizeof *expected);
        const size_t width = latents > 1 ? 3 : 2;
        p->rows.rows = m;
        hf_predictions wanted = {.size = sizeof wanted, .covariance = covariance};
        assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &p->rows, &wanted), HF_OK);
        for (size_t l = 0; l < latents; l++) {
            for (size_t i = 0; i < m; i++) {
                memcpy(x + i * width, p->from.x + i * INPUTS, INPUTS * sizeof *x);
                if (width > INPUTS) x[i * width + INPUTS] = (double)l;
            }
            assert_int_equal(
                hf_predict_covariance(p->ctx, hf_model_posterior(p->by_arrays), m, x, width, expected, m),
                HF_OK);
            for (size_t e = 0; e < m * m; e++) assert_true(covariance[l * m * m + e] == expected[e]);
        }
        p->rows.rows = ROWS; /* row 12 has a gap */
        covariance[0] = 77.0;
        assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &p->rows, &wanted), HF_ERR_NOT_FINITE);
        assert_contains(hf_context_message(p->ctx), "row 12");
        assert_true(covariance[0] == 77.0);
        free(expected);
        free(x);
        free(covariance);
        pair_free(p);
    }
}

static void scores_are_those_of_tables(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        pair *p = pair_of(&kinds[k]);
        hf_metrics one, other;
        hf_class_metrics first, second;
        if (kinds[k].classes > 0) {
            assert_int_equal(hf_model_score_class_arrays(p->ctx, p->by_arrays, &p->rows, &first),
                             HF_WARN_ROWS_SKIPPED);
            assert_int_equal(hf_score_classes(p->ctx, p->by_table, p->table, 10, NULL, &second),
                             HF_WARN_ROWS_SKIPPED);
            assert_memory_equal(&first, &second, sizeof first);
        } else {
            assert_int_equal(hf_model_score_arrays(p->ctx, p->by_arrays, &p->rows, &one),
                             HF_WARN_ROWS_SKIPPED);
            assert_int_equal(hf_score(p->ctx, p->by_table, p->table, &other), HF_WARN_ROWS_SKIPPED);
            assert_int_equal(one.n, other.n);
            assert_same(one.rmse, other.rmse);
            assert_same(one.nlpd, other.nlpd);
            assert_same(one.crps, other.crps);
        }
        pair_free(p);
    }
}

static void readings_tell_what_the_fit_thinks(void **state)
{
    (void)state;
    pair *p = pair_of(&kinds[0]);
    size_t row[ROWS], output[ROWS], group[ROWS];
    double value[ROWS], weight[ROWS];
    bool suspected[ROWS];
    const hf_reading_arrays out = {sizeof out, row, output, value, weight, suspected, group};
    assert_int_equal(hf_model_reading_count(p->by_arrays), ROWS - 1);
    assert_int_equal(hf_model_readings(p->ctx, p->by_arrays, &out), HF_OK);
    for (size_t i = 0; i < ROWS - 1; i++) {
        assert_int_equal(row[i], i < 12 ? i : i + 1);
        assert_same(value[i], p->from.y[2 * row[i]]);
        assert_int_equal(suspected[i], row[i] == 7);
        assert_true(weight[i] == (row[i] == 7 || row[i] == 9 ? 0.0 : 1.0));
        assert_int_equal(output[i], 0);
        assert_int_equal(group[i], 0);
    }
    pair_free(p);
    p = pair_of(&kinds[KINDS - 1]);
    assert_int_equal(hf_model_readings(p->ctx, p->by_arrays, &out), HF_OK);
    for (size_t i = 0; i < hf_model_reading_count(p->by_arrays); i++) {
        assert_true(weight[i] == (row[i] == 9 ? 0.0 : 1.0));
        assert_true(isnan(value[i]) || value[i] == (double)p->from.label[row[i]]);
    }
    pair_free(p);
}

/* ---- many rows ---------------------------------------------------------------------------------------- */

enum {
    MANY = 10000
};

typedef struct listener {
    double last, stop_at;
    bool rose;
} listener;

static bool listen(const char *stage, double done, double value, void *user)
{
    (void)value;
    listener *l = user;
    assert_string_equal(stage, "predict");
    l->rose = l->rose && done >= l->last && done <= 1.0;
    l->last = done;
    return done < l->stop_at;
}

static void many_rows_go_in_chunks(void **state)
{
    (void)state;
    pair *p = pair_of(&kinds[0]);
    double *x = calloc(MANY * INPUTS, sizeof *x), *mean = calloc(MANY, sizeof *mean),
           *sd = calloc(MANY, sizeof *sd);
    double *one = calloc(MANY, sizeof *one), *other = calloc(MANY, sizeof *other);
    for (size_t i = 0; i < MANY; i++) {
        x[2 * i] = 0.0007 * (double)i;
        x[2 * i + 1] = -x[2 * i];
    }
    hf_arrays rows = {.size = sizeof rows, .rows = MANY, .inputs = INPUTS, .x = {x, INPUTS, 1}};
    const hf_predictions wanted = {.size = sizeof wanted, .mean = mean, .sd_observed = sd};
    listener ear = {.stop_at = 2.0, .rose = true};
    hf_context_set_progress(p->ctx, listen, &ear);
    assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &rows, &wanted), HF_OK);
    assert_true(ear.rose && ear.last > 0.6);
    hf_context_set_progress(p->ctx, NULL, NULL);
    assert_int_equal(hf_predict(p->ctx, hf_model_posterior(p->by_arrays), MANY, x, INPUTS, one, NULL, other),
                     HF_OK);
    for (size_t i = 0; i < MANY; i++) {
        assert_close(mean[i], one[i], 1e-13);
        assert_close(sd[i], sqrt(other[i]), 1e-13);
    }
    ear = (listener){.stop_at = 0.5, .rose = true};
    mean[0] = mean[MANY - 1] = sd[0] = 77.0;
    hf_context_set_progress(p->ctx, listen, &ear);
    assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &rows, &wanted), HF_ERR_CANCELLED);
    assert_true(mean[0] == 77.0 && mean[MANY - 1] == 77.0 && sd[0] == 77.0);
    hf_context_set_progress(p->ctx, NULL, NULL);
    x[2 * (MANY - 1)] = INFINITY;
    assert_int_equal(hf_model_predict_arrays(p->ctx, p->by_arrays, &rows, &wanted), HF_ERR_NOT_FINITE);
    assert_contains(hf_context_message(p->ctx), "row 9999");
    assert_true(mean[0] == 77.0);
    free(other);
    free(one);
    free(sd);
    free(mean);
    free(x);
    pair_free(p);
}

/* ---- names -------------------------------------------------------------------------------------------- */

static void names_are_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, noise[] = {1, 1, 1, 1};
    const size_t label[] = {0, 1, 2, 0};
    static const char *const inputs[] = {"noise", "a"}, *const classes[] = {"pear", "10", "9"};
    hf_arrays rows = {.size = sizeof rows, .rows = 4, .inputs = 2, .x = {x, 2, 1}, .source = "mine"};
    hf_model *model = NULL;
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &settings, sizeof settings), HF_OK);
    rows.input_names = inputs;
    rows.y = (hf_view){x, 1, 0};
    rows.noise = (hf_view){noise, 1, 0};
    assert_true(hf_model_fit_arrays(ctx, &rows, &settings, &model, NULL) >= 0);
    assert_string_equal(hf_model_feature(model, 0), "noise");
    assert_string_equal(hf_model_noise_column(model), "noise_");
    assert_string_equal(hf_model_source(model), "mine");
    hf_model_free(model);
    static const char *const taken[] = {"y_", "y"};
    rows.input_names = taken;
    assert_true(hf_model_fit_arrays(ctx, &rows, &settings, &model, NULL) >= 0);
    assert_string_equal(hf_model_target(model), "y__");
    hf_model_free(model);
    rows.input_names = inputs;
    rows.y.at = rows.noise.at = NULL;
    rows.label = label;
    rows.classes = 3;
    rows.class_names = classes;
    assert_int_equal(hf_fit_settings_preset(ctx, "softmax", &settings, sizeof settings), HF_OK);
    settings.train = false;
    assert_true(hf_model_fit_arrays(ctx, &rows, &settings, &model, NULL) >= 0);
    assert_string_equal(hf_model_class(model, 0), "9");
    assert_string_equal(hf_model_class(model, 1), "10");
    assert_string_equal(hf_model_class(model, 2), "pear");
    assert_int_equal(hf_model_class_rows(model, 2), 2);
    hf_model_free(model);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_are_those_of_tables),
        cmocka_unit_test(predictions_are_those_of_tables),
        cmocka_unit_test(any_view_gives_the_same_numbers),
        cmocka_unit_test(covariances_between_rows),
        cmocka_unit_test(scores_are_those_of_tables),
        cmocka_unit_test(readings_tell_what_the_fit_thinks),
        cmocka_unit_test(many_rows_go_in_chunks),
        cmocka_unit_test(names_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
