/* SPDX-License-Identifier: Apache-2.0 */
/* NULL, NaN, infinity, zero sizes and strides that are too short, for every public function: an error with a message,
 * all outputs and objects as they were, never a crash. tests/house/check_api_covered.py sees to it that no public
 * function is forgotten. */
#include "api/refused.h"

/* ---- core ------------------------------------------------------------------------------------ */

static void contexts(workshop *w)
{
    const hf_allocator none = {0};
    assert_null(hf_context_create_with(&none));
    hf_context *plain = hf_context_create_with(NULL), *other = hf_context_create();
    assert_true(plain != NULL && other != NULL);
    hf_context_free(plain);
    hf_context_free(other);
    hf_context_free(NULL);
    int threads = hf_context_threads(w->ctx);
    ARGUMENT(hf_context_set_threads(w->ctx, -1));
    ARGUMENT(hf_context_set_threads(w->ctx, 1000000));
    assert_int_equal(hf_context_threads(w->ctx), threads);
    assert_int_equal(hf_context_set_threads(NULL, 1), HF_ERR_ARGUMENT);
    assert_int_equal(hf_context_threads(NULL), 1);
    hf_context_set_seed(NULL, 3);
    assert_true(hf_context_seed(NULL) == 0);
    hf_context_set_progress(NULL, NULL, NULL);
    assert_string_equal(hf_context_message(NULL), "");
    const int strange[] = {1000, -1000, INT32_MIN};
    for (size_t i = 0; i < 3; i++) {
        assert_true(strlen(hf_status_name((hf_status)strange[i])) > 0);
        assert_true(strlen(hf_status_text((hf_status)strange[i])) > 0);
    }
    assert_true(hf_version() != NULL && hf_blas_description() != NULL && hf_blas_is_slow() >= 0);
    assert_true(strncmp(hf_vector_description(), "AVX", 3) == 0 ||
                strncmp(hf_vector_description(), "generic, ", 9) == 0);
}

static void names(workshop *w)
{
    hf_contamination contamination = HF_CONTAMINATION_NONE;
    hf_mean_kind mean = HF_MEAN_ZERO;
    hf_centre centre = HF_CENTRE_PRIOR;
    hf_objective objective = HF_OBJECTIVE_EVIDENCE;
    hf_likelihood sites = HF_LIKELIHOOD_GAUSSIAN;
    hf_outliers suspects = HF_OUTLIERS_OFF;
    hf_fit_settings settings;
    memset(&settings, 0xAA, sizeof settings);
    settings.size = sizeof settings;
    const hf_fit_settings before = settings;
    const char *const bad[] = {NULL, "", "Linear ", "uniformly"};
    for (size_t i = 0; i < 4; i++) {
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CONTAMINATION, bad[i], &contamination));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_MEAN_KIND, bad[i], &mean));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CENTRE, bad[i], &centre));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OBJECTIVE, bad[i], &objective));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_LIKELIHOOD, bad[i], &sites));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OUTLIERS, bad[i], &suspects));
        ARGUMENT(hf_fit_settings_preset(w->ctx, bad[i], &settings, sizeof settings));
    }
    assert_true((int)contamination + (int)mean + (int)centre + (int)objective + (int)sites + (int)suspects ==
                0);
    assert_memory_equal(&settings, &before, sizeof settings);
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CONTAMINATION, "uniform", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_MEAN_KIND, "zero", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_CENTRE, "loo", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OBJECTIVE, "loo", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_LIKELIHOOD, "robust", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OUTLIERS, "off", NULL));
    ARGUMENT(hf_fit_settings_preset(w->ctx, "gp", NULL, sizeof(hf_fit_settings)));
    assert_int_equal(hf_fit_settings_default().set_count, 0);
    char text[8] = "before";
    const char *names[] = {NULL, "", "iteration", "set", "set_count"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ARGUMENT(hf_settings_set(w->ctx, hf_fit_settings_table(), &settings, names[i], "1"));
        ARGUMENT(hf_settings_get(w->ctx, hf_fit_settings_table(), &settings, names[i], sizeof text, text));
    }
    ARGUMENT(hf_settings_set(w->ctx, hf_fit_settings_table(), NULL, "rounds", "1"));
    ARGUMENT(hf_settings_set(w->ctx, hf_fit_settings_table(), &settings, "rounds", NULL));
    ARGUMENT(hf_settings_get(w->ctx, hf_fit_settings_table(), NULL, "rounds", sizeof text, text));
    ARGUMENT(hf_settings_get(w->ctx, hf_fit_settings_table(), &settings, "rounds", sizeof text, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_settings_get(w->ctx, hf_fit_settings_table(), &settings, "rounds", 0, text));
    hf_setting_clash clash = {0};
    const char *nothing = NULL, *strange_name = "iteration";
    assert_int_equal(hf_settings_init(hf_fit_settings_table(), NULL, sizeof settings), HF_ERR_ARGUMENT);
    assert_int_equal(hf_settings_init(NULL, &settings, sizeof settings), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_settings_init(NULL, sizeof(hf_track_settings), HF_TRACK_SPARQ),
                     HF_ERR_ARGUMENT);
    ARGUMENT(hf_settings_check(w->ctx, NULL, &settings, 1, NULL, &clash));
    ARGUMENT(hf_settings_check(w->ctx, hf_fit_settings_table(), NULL, 1, NULL, &clash));
    ARGUMENT(hf_settings_check(w->ctx, hf_fit_settings_table(), &settings, 1, "iteration", &clash));
    assert_null(clash.setting);
    ARGUMENT(hf_fit_settings_complete(w->ctx, NULL, false, 0, NULL));
    ARGUMENT(hf_fit_settings_complete(w->ctx, &settings, false, 1, NULL));
    ARGUMENT(hf_fit_settings_complete(w->ctx, &settings, false, 1, &nothing));
    ARGUMENT(hf_fit_settings_complete(w->ctx, &settings, true, 1, &strange_name));
    assert_string_equal(text, "before");
    assert_memory_equal(&settings, &before, sizeof settings);
    assert_true(!hf_setting_find(hf_fit_settings_table(), NULL) &&
                !hf_setting_at(hf_fit_settings_table(), SIZE_MAX) && !hf_setting_choice(NULL, 0));
    assert_null(hf_setting_choice(
        hf_setting_at(hf_fit_settings_table(), hf_setting_count(hf_fit_settings_table()) - 1), 0));
    const char *strange[] = {hf_enum_name(HF_ENUM_CONTAMINATION, (unsigned)99),
                             hf_enum_name(HF_ENUM_MEAN_KIND, (unsigned)99),
                             hf_enum_name(HF_ENUM_CENTRE, (unsigned)-1),
                             hf_enum_name(HF_ENUM_OBJECTIVE, (unsigned)99),
                             hf_enum_name(HF_ENUM_LIKELIHOOD, (unsigned)99),
                             hf_enum_name(HF_ENUM_OUTLIERS, (unsigned)-9),
                             hf_enum_name(HF_ENUM_STOP, (hf_stop)99)};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) assert_non_null(strange[i]);
    assert_string_equal(hf_enum_title((hf_enum)-1), "unknown");
    assert_int_equal(hf_enum_count((hf_enum)99), 0);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void reading_tables(workshop *w)
{
    hf_table *out = NULL;
    ARGUMENT(hf_table_read_csv(w->ctx, NULL, &out));
    ARGUMENT(hf_table_read_csv(w->ctx, w->csv, NULL));
    REFUSED(HF_ERR_IO, hf_table_read_csv(w->ctx, "/nonexistent/table.csv", &out));
    REFUSED(HF_ERR_IO, hf_table_read_csv(w->ctx, w->scratch.path, &out));
    REFUSED(HF_ERR_IO, hf_table_read_csv(w->ctx, "", &out));
    ARGUMENT(hf_table_parse_csv(w->ctx, NULL, 3, "t", &out));
    ARGUMENT(hf_table_parse_csv(w->ctx, "a\n1\n", 4, "t", NULL));
    REFUSED(HF_ERR_NO_DATA, hf_table_parse_csv(w->ctx, "", 0, "t", &out));
    REFUSED(HF_ERR_PARSE, hf_table_parse_csv(w->ctx, "a,a\n", 4, NULL, &out));
    const char *const codes[] = {NULL};
    const hf_dialect bad[] = {{.size = sizeof(hf_dialect), .decimal = (hf_decimal)3},
                              {.size = sizeof(hf_dialect), .dates = (hf_date_order)-1},
                              {.size = sizeof(hf_dialect), .header = (hf_header)3},
                              {.size = sizeof(hf_dialect), .limits = (hf_limits)2},
                              {.size = sizeof(hf_dialect), .missing_count = 1},
                              {.size = sizeof(hf_dialect), .missing = codes, .missing_count = 1}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        ARGUMENT(hf_table_parse(w->ctx, "a\n1\n", 4, "t", &bad[k], &out));
        ARGUMENT(hf_table_read(w->ctx, w->csv, &bad[k], &out));
    }
    ARGUMENT(hf_table_parse(w->ctx, NULL, 3, "t", NULL, &out));
    ARGUMENT(hf_table_parse(w->ctx, "a\n1\n", 4, "t", NULL, NULL));
    REFUSED(HF_ERR_TOO_LARGE, hf_table_parse(w->ctx, "a", SIZE_MAX, "t", NULL, &out));
    ARGUMENT(hf_table_read(w->ctx, NULL, NULL, &out));
    ARGUMENT(hf_table_read(w->ctx, w->csv, NULL, NULL));
    REFUSED(HF_ERR_IO, hf_table_read(w->ctx, "/nonexistent/table.csv", NULL, &out));
    REFUSED(HF_ERR_IO, hf_table_read(w->ctx, w->scratch.path, NULL, &out));
    assert_true(hf_table_notes(NULL) == 0 && hf_table_note(NULL, 0) == NULL);
    assert_true(hf_table_note(w->table, 0) == NULL && hf_table_read_as(NULL, 0) == NULL);
    assert_true(hf_table_read_as(w->table, 99) == NULL && hf_table_dialect(NULL) == NULL);
    ARGUMENT(hf_table_create(w->ctx, 3, NULL));
    assert_null(out);
    hf_table_free(NULL);
}

static void asking_tables(workshop *w)
{
    char buffer[32];
    size_t column = 77;
    const double *numbers = NULL;
    assert_int_equal(hf_table_rows(NULL), 0);
    assert_int_equal(hf_table_columns(NULL), 0);
    assert_null(hf_table_name(NULL, 0));
    assert_null(hf_table_name(w->table, 5));
    assert_non_null(hf_table_source(NULL));
    assert_int_equal(hf_table_line(NULL, 0), 0);
    assert_int_equal(hf_table_line(w->table, SIZE_MAX), 0);
    assert_false(hf_table_is_numeric(NULL, 0));
    assert_false(hf_table_is_numeric(w->table, SIZE_MAX));
    assert_null(hf_table_field(NULL, 0, 0, buffer));
    assert_null(hf_table_field(w->table, 9, 0, buffer));
    assert_null(hf_table_field(w->table, 0, SIZE_MAX, buffer));
    ARGUMENT(hf_table_find(w->ctx, NULL, "y", &column));
    ARGUMENT(hf_table_find(w->ctx, w->table, NULL, &column));
    ARGUMENT(hf_table_find(w->ctx, w->table, "y", NULL));
    REFUSED(HF_ERR_NO_COLUMN, hf_table_find(w->ctx, w->table, "", &column));
    REFUSED(HF_ERR_NO_COLUMN, hf_table_find(w->ctx, w->table, "Y", &column));
    assert_int_equal(column, 77);
    ARGUMENT(hf_table_numbers(w->ctx, NULL, 0, &numbers));
    ARGUMENT(hf_table_numbers(w->ctx, w->table, 1, NULL));
    ARGUMENT(hf_table_numbers(w->ctx, w->table, SIZE_MAX, &numbers));
    REFUSED(HF_ERR_PARSE, hf_table_numbers(w->ctx, w->table, 0, &numbers));
    assert_null(numbers);
    const double edges[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-320, 1.7976931348623157e308};
    for (size_t i = 0; i < 7; i++) assert_true(strlen(hf_format_double(edges[i], buffer)) < 32);
}

static void changing_tables(workshop *w)
{
    const double numbers[9] = {0};
    const size_t row[] = {9};
    hf_table *out = NULL;
    ARGUMENT(hf_table_set_numbers(w->ctx, NULL, "n", numbers));
    ARGUMENT(hf_table_set_numbers(w->ctx, w->table, NULL, numbers));
    ARGUMENT(hf_table_set_numbers(w->ctx, w->table, "", numbers));
    ARGUMENT(hf_table_set_numbers(w->ctx, w->table, "n", NULL));
    const char *const word[] = {"a", NULL};
    const size_t choice[9] = {0}, beyond[9] = {1};
    ARGUMENT(hf_table_set_text(w->ctx, NULL, "n", 1, word, choice));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, NULL, 1, word, choice));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, "", 1, word, choice));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, "n", 1, NULL, choice));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, "n", 2, word, choice));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, "n", 1, word, NULL));
    ARGUMENT(hf_table_set_text(w->ctx, w->table, "n", 1, word, beyond));
    ARGUMENT(hf_table_select(w->ctx, NULL, row, 1, &out));
    ARGUMENT(hf_table_select(w->ctx, w->table, NULL, 1, &out));
    ARGUMENT(hf_table_select(w->ctx, w->table, row, 1, &out));
    ARGUMENT(hf_table_select(w->ctx, w->table, row, 0, NULL));
    assert_null(out);
    ARGUMENT(hf_table_write_csv(w->ctx, NULL, w->out));
    ARGUMENT(hf_table_write_csv(w->ctx, w->table, NULL));
    REFUSED(HF_ERR_IO, hf_table_write_csv(w->ctx, w->table, "/nonexistent/t.csv"));
    REFUSED(HF_ERR_IO, hf_table_write_csv(w->ctx, w->table, w->scratch.path));
    ARGUMENT(hf_file_write(w->ctx, NULL, "x", 1));
    ARGUMENT(hf_file_write(w->ctx, w->out, NULL, 1));
    REFUSED(HF_ERR_IO, hf_file_write(w->ctx, w->scratch.path, "x", 1));
    assert_int_equal(hf_table_select(w->ctx, w->table, NULL, 0, &out),
                     HF_OK); /* no rows: a table all the same */
    hf_table_free(out);
}

static void damage_and_scores(workshop *w)
{
    size_t order[4] = {7, 7, 7, 7}, train = 77;
    hf_metrics metrics = {.n = 77};
    double y[3] = {1, 2, 3}, sd[3] = {1, 1, 1};
    const double shares[] = {-0.1, 1.1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        ARGUMENT(hf_contaminate(w->ctx, HF_CONTAMINATION_UNIFORM, shares[i], 1, 3, 0, NULL, 0, y, NULL));
        ARGUMENT(hf_split(w->ctx, 1, shares[i], 4, order, &train));
    }
    ARGUMENT(hf_contaminate(w->ctx, HF_CONTAMINATION_UNIFORM, 0.5, 1, 3, 0, NULL, 0, NULL, NULL));
    ARGUMENT(hf_contaminate(w->ctx, HF_CONTAMINATION_FOCUSED, 0.5, 1, 3, 2, NULL, 2, y, NULL));
    ARGUMENT(hf_contaminate(w->ctx, (hf_contamination)99, 0.5, 1, 3, 0, NULL, 0, y, NULL));
    REFUSED(HF_ERR_DIMENSION,
            hf_contaminate(w->ctx, HF_CONTAMINATION_FOCUSED, 0.5, 1, WORKSHOP_N, 2, w->x, 1, w->y, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_contaminate(w->ctx, HF_CONTAMINATION_UNIFORM, 0.5, 1, 1, 0, NULL, 0, y, NULL));
    ARGUMENT(hf_split(w->ctx, 1, 0.5, 4, NULL, &train));
    ARGUMENT(hf_split(w->ctx, 1, 0.5, 4, order, NULL));
    assert_true(order[0] == 7 && train == 77);
    ARGUMENT(hf_metrics_gaussian(w->ctx, 3, NULL, y, sd, &metrics));
    ARGUMENT(hf_metrics_gaussian(w->ctx, 3, y, NULL, sd, &metrics));
    ARGUMENT(hf_metrics_gaussian(w->ctx, 3, y, y, NULL, &metrics));
    ARGUMENT(hf_metrics_gaussian(w->ctx, 3, y, y, sd, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_metrics_gaussian(w->ctx, 0, NULL, NULL, NULL, &metrics));
    sd[1] = 0.0;
    ARGUMENT(hf_metrics_gaussian(w->ctx, 3, y, y, sd, &metrics));
    sd[1] = 1.0;
    y[1] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE, hf_metrics_gaussian(w->ctx, 3, y, sd, sd, &metrics));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_contaminate(w->ctx, HF_CONTAMINATION_UNIFORM, 0.5, 1, 3, 0, NULL, 0, y, NULL));
    assert_int_equal(metrics.n, 77);
}

/* Numbers are NaN, or the least there is, where there is nothing to transform. */
static void transforms(workshop *w)
{
    hf_metrics metrics = {.n = 77};
    hf_transform transform = HF_TRANSFORM_LOG;
    const double y[2] = {1, 2}, sd[2] = {1, 1};
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRANSFORM, NULL, &transform));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRANSFORM, "log10", &transform));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRANSFORM, "log", NULL));
    assert_int_equal(transform, HF_TRANSFORM_LOG);
    const hf_transform strange[] = {HF_TRANSFORM_AUTO, (hf_transform)99, (hf_transform)-1};
    for (size_t i = 0; i < 3; i++) {
        double mean = 7.0, variance = 7.0;
        assert_non_null(hf_enum_name(HF_ENUM_TRANSFORM, strange[i]));
        assert_null(hf_transform_domain(strange[i]));
        assert_false(hf_transform_accepts(strange[i], 1.0));
        assert_true(isnan(hf_transform_forward(strange[i], 1.0)));
        assert_true(isnan(hf_transform_inverse(strange[i], 1.0)));
        assert_true(isnan(hf_transform_log_derivative(strange[i], 1.0)));
        assert_true(isnan(hf_transform_log_density(strange[i], 1.0, 0.0, 1.0)));
        assert_true(isnan(hf_transform_residual(strange[i], 1.0, 0.0, 1.0)));
        assert_true(isnan(hf_transform_crps(strange[i], 1.0, 0.0, 1.0)));
        hf_transform_moments(strange[i], 0.0, 1.0, &mean, &variance);
        assert_true(isnan(mean) && isnan(variance));
        ARGUMENT(hf_metrics_transformed(w->ctx, 2, strange[i], y, y, sd, &metrics));
    }
    hf_transform_moments(HF_TRANSFORM_LOG, 0.0, 1.0, NULL, NULL);
    assert_true(isnan(hf_transform_log_density(HF_TRANSFORM_LOG, 1.0, 0.0, -1.0)));
    ARGUMENT(hf_metrics_transformed(w->ctx, 2, HF_TRANSFORM_LOG, NULL, y, sd, &metrics));
    ARGUMENT(hf_metrics_transformed(w->ctx, 2, HF_TRANSFORM_LOG, y, NULL, sd, &metrics));
    ARGUMENT(hf_metrics_transformed(w->ctx, 2, HF_TRANSFORM_LOG, y, y, NULL, &metrics));
    ARGUMENT(hf_metrics_transformed(w->ctx, 2, HF_TRANSFORM_LOG, y, y, sd, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_metrics_transformed(w->ctx, 0, HF_TRANSFORM_LOG, NULL, NULL, NULL, &metrics));
    assert_int_equal(metrics.n, 77);
}

static void scores_of_classes(workshop *w)
{
    hf_class_metrics metrics = {.n = 77};
    size_t label[2] = {0, 1};
    double p[4] = {0.3, 0.7, 1.0, 0.0};
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, NULL, p, 10, NULL, &metrics));
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, NULL, 10, NULL, &metrics));
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, p, 10, NULL, NULL));
    ARGUMENT(hf_metrics_class(w->ctx, 2, 0, label, p, 10, NULL, &metrics));
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, p, 0, NULL, &metrics));
    REFUSED(HF_ERR_NO_DATA, hf_metrics_class(w->ctx, 0, 2, NULL, NULL, 10, NULL, &metrics));
    label[1] = 2;
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, p, 10, NULL, &metrics));
    label[1] = 1;
    p[3] = INFINITY;
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, p, 10, NULL, &metrics));
    p[3] = 0.2;
    ARGUMENT(hf_metrics_class(w->ctx, 2, 2, label, p, 10, NULL, &metrics));
    assert_int_equal(metrics.n, 77);
}

/* ---- kernel, mean, sites --------------------------------------------------------------------- */

static void kernels(workshop *w)
{
    hf_kernel *out = NULL;
    hf_parameter p = {.value = 77};
    double k[4] = {7, 7, 7, 7};
    const char *const missing[] = {"a", NULL};
    ARGUMENT(hf_kernel_parse(w->ctx, "se", NULL, 1, NULL));
    ARGUMENT(hf_kernel_parse(w->ctx, "se", NULL, 0, &out));
    ARGUMENT(hf_kernel_parse(w->ctx, "se", missing, 2, &out));
    REFUSED(HF_ERR_PARSE, hf_kernel_parse(w->ctx, "", NULL, 1, &out));
    REFUSED(HF_ERR_PARSE, hf_kernel_parse(w->ctx, "se(", NULL, 1, &out));
    REFUSED(HF_ERR_PARSE, hf_kernel_parse(w->ctx, "se(x9)", NULL, 1, &out));
    ARGUMENT(hf_kernel_copy(w->ctx, NULL, &out));
    ARGUMENT(hf_kernel_copy(w->ctx, w->kernel, NULL));
    assert_null(out);
    hf_kernel_free(NULL);
    assert_int_equal(hf_kernel_dimension(NULL), 0);
    assert_int_equal(hf_kernel_parameters(NULL), 0);
    assert_non_null(hf_kernel_expression(NULL));
    assert_int_equal(hf_kernel_parameter(NULL, 0, &p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_parameter(w->kernel, SIZE_MAX, &p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_parameter(w->kernel, 0, NULL), HF_ERR_ARGUMENT);
    assert_true(p.value == 77);
    ARGUMENT(hf_kernel_set(w->ctx, NULL, "se.lengthscale", 1.0));
    ARGUMENT(hf_kernel_set(w->ctx, w->kernel, NULL, 1.0));
    ARGUMENT(hf_kernel_set(w->ctx, w->kernel, "lenghtscale", 1.0));
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) ARGUMENT(hf_kernel_set(w->ctx, w->kernel, "se.lengthscale", bad[i]));
    assert_int_equal(hf_kernel_coregions(NULL), 0);
    assert_int_equal(hf_kernel_coregion_outputs(NULL, 0), 0);
    ARGUMENT(hf_kernel_get_coregion(w->ctx, NULL, 0, k));
    ARGUMENT(hf_kernel_get_coregion(w->ctx, w->kernel, 0, k));
    ARGUMENT(hf_kernel_get_coregion(w->ctx, w->kernel, 0, NULL));
    ARGUMENT(hf_kernel_set_coregion(w->ctx, NULL, 0, k));
    ARGUMENT(hf_kernel_set_coregion(w->ctx, w->kernel, SIZE_MAX, k));
    ARGUMENT(hf_kernel_set_coregion(w->ctx, w->kernel, 0, NULL));
    ARGUMENT(hf_kernel_gram(w->ctx, NULL, 2, w->x, 2, k, 2));
    ARGUMENT(hf_kernel_gram(w->ctx, w->kernel, 2, NULL, 2, k, 2));
    ARGUMENT(hf_kernel_gram(w->ctx, w->kernel, 2, w->x, 2, NULL, 2));
    REFUSED(HF_ERR_DIMENSION, hf_kernel_gram(w->ctx, w->kernel, 2, w->x, 1, k, 2));
    REFUSED(HF_ERR_DIMENSION, hf_kernel_gram(w->ctx, w->kernel, 2, w->x, 2, k, 1));
    ARGUMENT(hf_kernel_cross(w->ctx, NULL, 2, w->x, 2, 2, w->x, 2, k, 2));
    ARGUMENT(hf_kernel_cross(w->ctx, w->kernel, 2, NULL, 2, 2, w->x, 2, k, 2));
    ARGUMENT(hf_kernel_cross(w->ctx, w->kernel, 2, w->x, 2, 2, NULL, 2, k, 2));
    ARGUMENT(hf_kernel_cross(w->ctx, w->kernel, 2, w->x, 2, 2, w->x, 2, NULL, 2));
    REFUSED(HF_ERR_DIMENSION, hf_kernel_cross(w->ctx, w->kernel, 2, w->x, 1, 2, w->x, 2, k, 2));
    REFUSED(HF_ERR_DIMENSION, hf_kernel_cross(w->ctx, w->kernel, 2, w->x, 2, 2, w->x, 1, k, 2));
    REFUSED(HF_ERR_DIMENSION, hf_kernel_cross(w->ctx, w->kernel, 2, w->x, 2, 2, w->x, 2, k, 1));
    assert_int_equal(hf_kernel_gram(w->ctx, w->kernel, 0, NULL, 2, NULL, 0), HF_OK);
    assert_int_equal(hf_kernel_cross(w->ctx, w->kernel, 0, NULL, 2, 2, w->x, 2, NULL, 2), HF_OK);
    for (size_t i = 0; i < 4; i++) assert_true(k[i] == 7);
}

static void means(workshop *w)
{
    hf_mean *out = NULL;
    double value[WORKSHOP_D + 1] = {0, 0, 0}, result = 7.0;
    ARGUMENT(hf_mean_create(w->ctx, HF_MEAN_ZERO, 1, NULL));
    ARGUMENT(hf_mean_create(w->ctx, HF_MEAN_ZERO, 0, &out));
    ARGUMENT(hf_mean_create(w->ctx, (hf_mean_kind)99, 1, &out));
    ARGUMENT(hf_mean_copy(w->ctx, NULL, &out));
    ARGUMENT(hf_mean_copy(w->ctx, w->mean, NULL));
    assert_null(out);
    hf_mean_free(NULL);
    assert_int_equal(hf_mean_get_kind(NULL), HF_MEAN_ZERO);
    assert_int_equal(hf_mean_coefficients(NULL), 0);
    assert_null(hf_mean_values(NULL));
    assert_false(hf_mean_held(NULL));
    ARGUMENT(hf_mean_set(w->ctx, NULL, value, false));
    ARGUMENT(hf_mean_set(w->ctx, w->mean, NULL, false));
    value[1] = NAN;
    REFUSED(HF_ERR_NOT_FINITE, hf_mean_set(w->ctx, w->mean, value, false));
    hf_mean_evaluate(w->mean, 0, NULL, WORKSHOP_D, NULL);
    double kept = 7.0;
    hf_mean_evaluate(NULL, 1, w->x, WORKSHOP_D, &kept);
    hf_mean_evaluate(w->mean, 1, w->x, WORKSHOP_D, NULL);
    assert_true(kept == 7.0);
    hf_mean *sloped = NULL;
    assert_int_equal(hf_mean_create(w->ctx, HF_MEAN_LINEAR, WORKSHOP_D, &sloped), HF_OK);
    hf_mean_evaluate(sloped, 1, NULL, WORKSHOP_D, &kept);
    assert_true(kept == 7.0);
    hf_mean_free(sloped);
    hf_mean_evaluate(w->mean, 0, w->x, WORKSHOP_D, &result);
    assert_true(result == 7.0);
}

static void making_sites(workshop *w)
{
    hf_sites *out = NULL;
    double y[2] = {1, 2}, extra[2] = {0, 0};
    ARGUMENT(hf_sites_gaussian(w->ctx, 2, NULL, 1.0, NULL, &out));
    ARGUMENT(hf_sites_gaussian(w->ctx, 2, y, 1.0, NULL, NULL));
    const double noises[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        ARGUMENT(hf_sites_gaussian(w->ctx, 2, y, noises[i], NULL, &out));
        ARGUMENT(hf_sites_set_noise(w->ctx, w->sites, i == 0 ? -0.5 : noises[i]));
        const double c = i == 3 ? 0.0 : noises[i]; /* an infinite threshold is fine */
        ARGUMENT(hf_sites_robust(w->ctx, 2, y, 1.0, NULL, y, c, &out));
        ARGUMENT(hf_sites_recentre(w->ctx, w->sites, w->centre, c));
    }
    const double extras[] = {-1.0, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        extra[1] = extras[i];
        ARGUMENT(hf_sites_gaussian(w->ctx, 2, y, 1.0, extra, &out));
    }
    ARGUMENT(hf_sites_robust(w->ctx, 2, y, 1.0, NULL, NULL, 1.0, &out));
    ARGUMENT(hf_sites_robust(w->ctx, 2, y, 1.0, NULL, y, 1.0, NULL));
    y[1] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE, hf_sites_gaussian(w->ctx, 2, y, 1.0, NULL, &out));
    const double centre[2] = {0.0, NAN};
    y[1] = 2.0;
    REFUSED(HF_ERR_NOT_FINITE, hf_sites_robust(w->ctx, 2, y, 1.0, NULL, centre, 1.0, &out));
    ARGUMENT(hf_sites_copy(w->ctx, NULL, &out));
    ARGUMENT(hf_sites_copy(w->ctx, w->sites, NULL));
    assert_null(out);
    ARGUMENT(hf_sites_set_noise(w->ctx, NULL, 1.0));
    ARGUMENT(hf_sites_set_present(w->ctx, NULL, 0, true));
    ARGUMENT(hf_sites_set_present(w->ctx, w->sites, WORKSHOP_N, true));
    ARGUMENT(hf_sites_set_present(w->ctx, w->sites, 9, true)); /* missing */
    ARGUMENT(hf_sites_recentre(w->ctx, NULL, w->centre, 1.0));
    ARGUMENT(hf_sites_recentre(w->ctx, w->sites, NULL, 1.0));
}

static void asking_sites(workshop *w)
{
    double threshold = 7.0, centre[2] = {7, 7}, y[2] = {NAN, NAN}, x[2] = {0, 1};
    hf_sites_free(NULL);
    assert_int_equal(hf_sites_count(NULL), 0);
    assert_int_equal(hf_sites_present(NULL), 0);
    assert_false(hf_sites_is_present(NULL, 0));
    assert_false(hf_sites_is_present(w->sites, SIZE_MAX));
    assert_true(hf_sites_noise(NULL) == 0.0);
    assert_null(hf_sites_targets(NULL));
    assert_null(hf_sites_variances(NULL));
    assert_null(hf_sites_weights(NULL));
    assert_null(hf_sites_readings(NULL));
    REFUSED(HF_ERR_NO_DATA, hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, 2, y, x, 0.1, &threshold));
    REFUSED(HF_ERR_NO_DATA, hf_robust_centre_neighbours(w->ctx, 2, 1, x, 1, y, centre));
    y[0] = 1.0;
    y[1] = 2.0;
    ARGUMENT(hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, 2, NULL, x, 0.1, &threshold));
    ARGUMENT(hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, 2, y, NULL, 0.1, &threshold));
    ARGUMENT(hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, 2, y, x, 0.1, NULL));
    ARGUMENT(hf_robust_threshold(w->ctx, (hf_threshold_rule)99, 2, y, x, 0.1, &threshold));
    const double shares[] = {1.0, -1.0, NAN};
    for (size_t i = 0; i < 3; i++)
        ARGUMENT(hf_robust_threshold(w->ctx, HF_THRESHOLD_QUANTILE, 2, y, x, shares[i], &threshold));
    ARGUMENT(hf_robust_centre_neighbours(w->ctx, 2, 1, NULL, 1, y, centre));
    ARGUMENT(hf_robust_centre_neighbours(w->ctx, 2, 1, x, 1, NULL, centre));
    ARGUMENT(hf_robust_centre_neighbours(w->ctx, 2, 1, x, 1, y, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_robust_centre_neighbours(w->ctx, 2, 1, x, 0, y, centre));
    x[1] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE, hf_robust_centre_neighbours(w->ctx, 2, 1, x, 1, y, centre));
    REFUSED(HF_ERR_NOT_FINITE, hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, 2, y, x, 0.1, &threshold));
    assert_true(threshold == 7.0 && centre[0] == 7.0);
    assert_true(isnan(hf_robust_consistent_noise(-1.0, 1.0)) && isnan(hf_robust_consistent_noise(1.0, 0.0)));
    assert_true(isnan(hf_robust_consistent_noise(NAN, 1.0)) && isnan(hf_robust_consistent_noise(1.0, NAN)));
}

/* ---- groups ---------------------------------------------------------------------------------- */

REFUSED_TEST(contexts)
REFUSED_TEST(names)
REFUSED_TEST(reading_tables)
REFUSED_TEST(asking_tables)
REFUSED_TEST(changing_tables)
REFUSED_TEST(damage_and_scores)
REFUSED_TEST(scores_of_classes)
REFUSED_TEST(transforms)
REFUSED_TEST(kernels)
REFUSED_TEST(means)
REFUSED_TEST(making_sites)
REFUSED_TEST(asking_sites)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_refuse),          cmocka_unit_test(names_refuse),
        cmocka_unit_test(reading_tables_refuse),    cmocka_unit_test(asking_tables_refuse),
        cmocka_unit_test(changing_tables_refuse),   cmocka_unit_test(damage_and_scores_refuse),
        cmocka_unit_test(scores_of_classes_refuse), cmocka_unit_test(transforms_refuse),
        cmocka_unit_test(kernels_refuse),           cmocka_unit_test(means_refuse),
        cmocka_unit_test(making_sites_refuse),      cmocka_unit_test(asking_sites_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
