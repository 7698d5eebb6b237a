/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of contexts, tables and the parts of a model fails once, and what claims to allocate nothing is held
 * to it. Solving, fitting and models are in test_allocation_fit.c; tests/house/check_api_covered.py sees to it that no
 * public function is forgotten in both. */
#include "api/sweep.h"

/* ---- core and data --------------------------------------------------------------------------- */

static hf_status contexts(workshop *w)
{
    (void)w;
    hf_context *first = hf_context_create(); /* with malloc: cannot be made to fail here */
    assert_non_null(first);
    hf_context_free(first);
    return HF_OK;
}

static hf_status read_csv(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_read_csv(w->ctx, w->csv, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status parse_csv(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_parse_csv(w->ctx, workshop_csv, strlen(workshop_csv), "m", &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

/* Comments, decimal commas, limits, a code, row names, units: all that takes memory. */
static const char strange_csv[] =
    "# c\n;a;b;d;w;\n;[kg];;;;\nr1;1,5;<2;2024-01-31;u;\n# x\nr2;2,5;3;2024-02-28;v;\nr3;-9;4;;u;\n";

static hf_status parse_strange(workshop *w)
{
    const char *const codes[] = {"-9"};
    const hf_dialect dialect = {.size = sizeof dialect, .missing = codes, .missing_count = 1};
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_parse(w->ctx, strange_csv, strlen(strange_csv), "m", &dialect, &out), out);
    if (s < 0) return s;
    assert_true(hf_table_notes(out) >= 5 && hf_table_rows(out) == 3 && hf_table_note(out, 0) != NULL);
    assert_true(hf_table_read_as(out, 0) != NULL && hf_table_dialect(out)->missing_count == 1);
    const size_t rows[] = {1, 0};
    hf_table *part = UNTOUCHED;
    s = settled(hf_table_select(w->ctx, out, rows, 2, &part), part);
    if (s >= 0) hf_table_free(part);
    hf_table_free(out);
    return s;
}

static hf_status read_any(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_read(w->ctx, w->csv, NULL, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status create_table(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_create(w->ctx, 4, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status select_rows(workshop *w)
{
    const size_t rows[] = {3, 3, 0};
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_table_select(w->ctx, w->table, rows, 3, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status set_numbers(workshop *w)
{
    const double three[3] = {1, 2, 3};
    hf_table *table = NULL;
    hf_status s = hf_table_create(w->ctx, 3, &table);
    char name[8] = "c0";
    for (int k = 0; s >= 0 && k < 20; k++) { /* so many that the array of columns grows */
        name[1] = (char)('a' + k);
        s = hf_table_set_numbers(w->ctx, table, name, three);
        assert_int_equal(hf_table_columns(table), (size_t)k + (s >= 0 ? 1 : 0));
    }
    if (s >= 0) s = hf_table_set_numbers(w->ctx, table, "ca", three);
    hf_table_free(table);
    return s;
}

static hf_status set_text(workshop *w)
{
    const char *const words[] = {"one", "two"};
    const size_t choice[3] = {1, SIZE_MAX, 0};
    hf_table *table = NULL;
    hf_status s = hf_table_create(w->ctx, 3, &table);
    if (s >= 0) s = hf_table_set_text(w->ctx, table, "word", 2, words, choice);
    assert_int_equal(hf_table_columns(table), s >= 0 ? 1 : 0);
    hf_table_free(table);
    return s;
}

static hf_status write_csv(workshop *w)
{
    hf_status s = hf_table_write_csv(w->ctx, w->table, w->out);
    assert_int_equal(folder_count(&w->scratch), s < 0 ? 2 : 3); /* no half file, no temporary one */
    if (s >= 0) remove(w->out);
    return s;
}

static hf_status write_bytes(workshop *w)
{
    const hf_status s = hf_file_write(w->ctx, w->out, "bytes", 5);
    assert_int_equal(folder_count(&w->scratch), s < 0 ? 2 : 3);
    if (s >= 0) remove(w->out);
    return s;
}

static hf_status contaminate(workshop *w)
{
    double x[sizeof w->x / sizeof *w->x], y[WORKSHOP_N];
    bool mask[WORKSHOP_N] = {false};
    memcpy(x, w->x, sizeof x);
    memcpy(y, w->y, sizeof y);
    hf_status s = hf_contaminate(w->ctx, HF_CONTAMINATION_FOCUSED, 0.3, 1, WORKSHOP_N, WORKSHOP_D, x,
                                 WORKSHOP_D, y, mask);
    for (size_t i = 0; s < 0 && i < WORKSHOP_N; i++) assert_false(mask[i]);
    if (s < 0) assert_memory_equal(x, w->x, sizeof x);
    if (s < 0) assert_memory_equal(y, w->y, sizeof y);
    return s;
}

/* ---- kernel, mean, sites --------------------------------------------------------------------- */

static hf_status parse_kernel(workshop *w)
{
    const char *const names[] = {"time", "a column"};
    hf_kernel *out = UNTOUCHED;
    hf_status s = settled(
        hf_kernel_parse(w->ctx, "(matern52(ard) + sm('a column', components=3)) * rq + 2*periodic(time)",
                        names, 2, &out),
        out);
    if (s >= 0) hf_kernel_free(out);
    return s;
}

static hf_status copy_kernel(workshop *w)
{
    hf_kernel *out = UNTOUCHED;
    hf_status s = settled(hf_kernel_copy(w->ctx, w->kernel, &out), out);
    if (s >= 0) hf_kernel_free(out);
    return s;
}

static hf_status set_kernel(workshop *w)
{
    hf_parameter p;
    assert_int_equal(hf_kernel_parameter(w->kernel, 0, &p), HF_OK);
    return hf_kernel_set(w->ctx, w->kernel, p.name, p.value);
}

static hf_status set_coregion(workshop *w)
{
    static const double b[4] = {2.0, -1.0, -1.0, 3.0};
    double before[4] = {0}, after[4] = {0};
    hf_kernel *kernel = NULL;
    hf_status s = hf_kernel_parse(w->ctx, "coregion(x1, outputs=2)*se", NULL, 2, &kernel);
    if (s < 0) return s;
    assert_int_equal(hf_kernel_coregions(kernel), 1);
    assert_int_equal(hf_kernel_coregion_outputs(kernel, 0), 2);
    assert_int_equal(hf_kernel_get_coregion(w->ctx, kernel, 0, before), HF_OK);
    s = hf_kernel_set_coregion(w->ctx, kernel, 0, b);
    assert_int_equal(hf_kernel_get_coregion(w->ctx, kernel, 0, after), HF_OK);
    if (s < 0) assert_memory_equal(before, after, sizeof before);
    hf_kernel_free(kernel);
    return s;
}

static hf_status gram(workshop *w)
{
    double k[WORKSHOP_N * WORKSHOP_N] = {0};
    hf_status s = hf_kernel_gram(w->ctx, w->kernel, WORKSHOP_N, w->x, WORKSHOP_D, k, WORKSHOP_N);
    if (s < 0) assert_true(k[0] == 0.0 && k[WORKSHOP_N * WORKSHOP_N - 1] == 0.0);
    return s;
}

static hf_status cross(workshop *w)
{
    double k[WORKSHOP_M * WORKSHOP_N] = {0};
    hf_status s = hf_kernel_cross(w->ctx, w->kernel, WORKSHOP_M, w->at, WORKSHOP_D, WORKSHOP_N, w->x,
                                  WORKSHOP_D, k, WORKSHOP_N);
    if (s < 0) assert_true(k[0] == 0.0);
    return s;
}

static hf_status create_mean(workshop *w)
{
    hf_mean *out = UNTOUCHED;
    hf_status s = settled(hf_mean_create(w->ctx, HF_MEAN_LINEAR, 2, &out), out);
    if (s >= 0) hf_mean_free(out);
    return s;
}

static hf_status copy_mean(workshop *w)
{
    hf_mean *out = UNTOUCHED;
    hf_status s = settled(hf_mean_copy(w->ctx, w->mean, &out), out);
    if (s >= 0) hf_mean_free(out);
    return s;
}

static hf_status gaussian_sites(workshop *w)
{
    hf_sites *out = UNTOUCHED;
    hf_status s = settled(hf_sites_gaussian(w->ctx, WORKSHOP_N, w->y, 0.1, w->extra, &out), out);
    if (s >= 0) hf_sites_free(out);
    return s;
}

static hf_status robust_sites(workshop *w)
{
    hf_sites *out = UNTOUCHED;
    hf_status s = settled(hf_sites_robust(w->ctx, WORKSHOP_N, w->y, 0.1, NULL, w->centre, 1.0, &out), out);
    if (s >= 0) hf_sites_free(out);
    return s;
}

static hf_status copy_sites(workshop *w)
{
    hf_sites *out = UNTOUCHED;
    hf_status s = settled(hf_sites_copy(w->ctx, w->sites, &out), out);
    if (s >= 0) hf_sites_free(out);
    return s;
}

static hf_status threshold(workshop *w)
{
    double c = -1.0;
    hf_status s = hf_robust_threshold(w->ctx, HF_THRESHOLD_MAD, WORKSHOP_N, w->y, w->centre, 0.1, &c);
    assert_true((c == -1.0) == (s < 0));
    return s;
}

static hf_status neighbours(workshop *w)
{
    double centre[WORKSHOP_N] = {0};
    hf_status s = hf_robust_centre_neighbours(w->ctx, WORKSHOP_N, WORKSHOP_D, w->x, WORKSHOP_D, w->y, centre);
    assert_true((centre[0] == 0.0) == (s < 0));
    return s;
}

/* ---- what allocates nothing ------------------------------------------------------------------ */

static hf_status quiet_data(workshop *w)
{
    char buffer[32];
    size_t column, order[WORKSHOP_N], train;
    const double *numbers;
    hf_metrics metrics;
    hf_contamination kind;
    assert_int_equal(hf_table_find(w->ctx, w->table, "y", &column), HF_OK);
    assert_int_equal(hf_table_numbers(w->ctx, w->table, column, &numbers), HF_OK);
    assert_int_equal(hf_table_rows(w->table), 9);
    assert_int_equal(hf_table_columns(w->table), 5);
    assert_true(hf_table_is_numeric(w->table, column));
    assert_string_equal(hf_table_name(w->table, column), "y");
    assert_string_equal(hf_table_source(w->table), w->csv);
    assert_int_equal(hf_table_line(w->table, 0), 2);
    assert_string_equal(hf_table_field(w->table, 0, 0, buffer), "ann");
    assert_string_equal(hf_format_double(0.1, buffer), "0.1");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_CONTAMINATION, "focused", &kind), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_CONTAMINATION, kind), "focused");
    assert_int_equal(hf_split(w->ctx, 1, 0.2, WORKSHOP_N, order, &train), HF_OK);
    const double one[3] = {1, 1, 1};
    assert_int_equal(hf_metrics_gaussian(w->ctx, 3, w->y, w->centre, one, &metrics), HF_OK);
    hf_transform transform;
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_TRANSFORM, "log", &transform), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_TRANSFORM, transform), "log");
    assert_string_equal(hf_transform_domain(transform), "positive");
    assert_int_equal(hf_metrics_transformed(w->ctx, 3, transform, one, w->centre, one, &metrics), HF_OK);
    assert_true(hf_transform_accepts(transform, 1.0) && hf_transform_forward(transform, 1.0) == 0.0);
    assert_true(hf_transform_inverse(transform, 0.0) == 1.0);
    assert_true(hf_transform_log_derivative(transform, 1.0) == 0.0);
    assert_true(hf_transform_log_density(transform, 1.0, 0.0, 1.0) < 0.0);
    assert_true(hf_transform_residual(transform, 1.0, 1.0, 1.0) == -1.0);
    assert_true(hf_transform_crps(transform, 1.0, 0.0, 1.0) > 0.0);
    double average;
    hf_transform_moments(transform, 0.0, 1.0, &average, NULL);
    assert_true(average > 1.6);
    hf_table_free(NULL);
    return HF_OK;
}

static hf_status quiet_context(workshop *w)
{
    int threads = hf_context_threads(w->ctx);
    assert_int_equal(hf_context_set_threads(w->ctx, threads), w->ctx != NULL ? HF_OK : HF_ERR_ARGUMENT);
    hf_context_set_seed(w->ctx, hf_context_seed(w->ctx));
    hf_context_set_progress(w->ctx, NULL, NULL);
    assert_non_null(hf_context_message(w->ctx));
    assert_string_equal(hf_status_name(HF_OK), "HF_OK");
    assert_string_equal(hf_status_text(HF_OK), "success");
    assert_string_equal(hf_version(), HF_VERSION_STRING);
    assert_true(strlen(hf_blas_description()) > 0 && strlen(hf_vector_description()) > 0);
    assert_true(hf_blas_is_slow() == 0 || hf_blas_is_slow() == 1);
    hf_context_free(NULL);
    return HF_OK;
}

static hf_status quiet_parts(workshop *w)
{
    double value[WORKSHOP_N], c = 1.0;
    hf_mean_kind kind;
    hf_centre centre;
    hf_parameter p;
    assert_int_equal(hf_kernel_dimension(w->kernel), WORKSHOP_D);
    assert_int_equal(hf_kernel_parameter(w->kernel, hf_kernel_parameters(w->kernel) - 1, &p), HF_OK);
    assert_string_equal(hf_kernel_expression(w->kernel), "matern52(ard) + 0.5*se(x1)");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_MEAN_KIND, "linear", &kind), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_MEAN_KIND, hf_mean_get_kind(w->mean)),
                        hf_enum_name(HF_ENUM_MEAN_KIND, kind));
    assert_int_equal(hf_mean_coefficients(w->mean), WORKSHOP_D + 1);
    assert_int_equal(hf_mean_set(w->ctx, w->mean, hf_mean_values(w->mean), hf_mean_held(w->mean)), HF_OK);
    hf_mean_evaluate(w->mean, WORKSHOP_N, w->x, WORKSHOP_D, value);
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_CENTRE, "loo", &centre), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_CENTRE, centre), "loo");
    assert_int_equal(hf_sites_count(w->sites), WORKSHOP_N);
    assert_int_equal(hf_sites_present(w->sites), WORKSHOP_N - 1);
    assert_true(hf_sites_is_present(w->sites, 0));
    assert_true(hf_sites_readings(w->sites)[0] == w->y[0]);
    assert_int_equal(hf_sites_set_present(w->ctx, w->sites, 0, true), HF_OK);
    assert_int_equal(hf_sites_set_noise(w->ctx, w->sites, hf_sites_noise(w->sites)), HF_OK);
    assert_int_equal(hf_sites_recentre(w->ctx, w->sites, w->centre, 1.5), HF_OK);
    assert_true(hf_sites_targets(w->sites) && hf_sites_variances(w->sites) && hf_sites_weights(w->sites));
    assert_true(hf_robust_consistent_noise(0.1, c) > 0.1);
    hf_kernel_free(NULL);
    hf_mean_free(NULL);
    hf_sites_free(NULL);
    return HF_OK;
}

static hf_status quiet_posterior(workshop *w)
{
    double bytes, flops, mean, var, gradient[2 * WORKSHOP_D];
    hf_exact_cost(10, 2, &bytes, &flops);
    assert_true(hf_posterior_report_of(w->posterior)->anchors == WORKSHOP_N - 1);
    assert_int_equal(hf_posterior_dimension(w->posterior), WORKSHOP_D);
    assert_int_equal(hf_posterior_anchors(w->posterior), WORKSHOP_N - 1);
    assert_true(hf_posterior_noise(w->posterior) == 0.02);
    assert_true(hf_posterior_calibration(w->posterior) == 1.0);
    assert_true(hf_posterior_kernel(w->posterior) != w->kernel);
    assert_true(hf_posterior_mean_function(w->posterior) != w->mean);
    assert_int_equal(
        hf_predict_latent(w->posterior, w->workspace, w->at, &mean, &var, gradient, gradient + WORKSHOP_D),
        HF_OK);
    assert_int_equal(
        hf_predict_observed(w->posterior, w->workspace, w->at, &mean, &var, gradient, gradient + WORKSHOP_D),
        HF_OK);
    hf_posterior_free(NULL);
    hf_posterior_workspace_free(NULL);
    const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0};
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const hf_ucb bound = {.size = sizeof bound, .mean = w->posterior, .beta = 1.0};
    assert_int_equal(hf_domain_check(w->ctx, &box), HF_OK);
    hf_domain_quasirandom(&box, 0, 1, gradient);
    assert_true(hf_domain_contains(&box, gradient, NULL));
    assert_int_equal(hf_search_settings_default().starts, 6);
    assert_int_equal(hf_ucb_evaluate(&bound, w->workspace, NULL, WORKSHOP_D, w->at, &mean, gradient), HF_OK);
    return HF_OK;
}

static hf_status quiet_names(workshop *w)
{
    hf_objective what;
    hf_likelihood kind;
    hf_outliers treatment;
    hf_fit_settings settings;
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_OBJECTIVE, "wloo", &what), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_OBJECTIVE, what), "wloo");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_LIKELIHOOD, "robust", &kind), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_LIKELIHOOD, kind), "robust");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_OUTLIERS, "force", &treatment), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_OUTLIERS, treatment), "force");
    assert_int_equal(hf_fit_settings_preset(w->ctx, "rcgp", &settings, sizeof settings), HF_OK);
    assert_true(hf_fit_settings_default().sites == HF_LIKELIHOOD_GAUSSIAN);
    char text[32];
    const hf_setting *setting = hf_setting_find(hf_fit_settings_table(), "sites");
    assert_true(setting != NULL &&
                hf_setting_at(hf_fit_settings_table(), hf_setting_count(hf_fit_settings_table())) == NULL);
    assert_string_equal(hf_setting_choice(setting, 1), "robust");
    assert_int_equal(hf_settings_set(w->ctx, hf_fit_settings_table(), &settings, "sites", "student-t"),
                     HF_OK);
    assert_int_equal(hf_settings_get(w->ctx, hf_fit_settings_table(), &settings, "sites", sizeof text, text),
                     HF_OK);
    assert_true(strlen(hf_enum_name(HF_ENUM_STOP, HF_STOP_CONVERGED)) > 0);
    assert_true(strlen(hf_enum_title(HF_ENUM_STOP)) > 0 && hf_enum_count(HF_ENUM_STOP) > HF_STOP_CONVERGED);
    assert_int_equal(hf_settings_check(w->ctx, hf_fit_settings_table(), &settings, 1, "train", NULL), HF_OK);
    assert_int_equal(hf_fit_settings_complete(w->ctx, &settings, false, 0, NULL), HF_OK);
    hf_track_settings track;
    assert_int_equal(hf_settings_init(hf_track_settings_table(), &track, sizeof track), HF_OK);
    assert_int_equal(hf_track_settings_init(&track, sizeof track, HF_TRACK_SPARQ), HF_OK);
    return HF_OK;
}

static hf_status remember_command(workshop *w)
{
    const hf_status s = hf_model_set_command(w->ctx, w->model, "holdfast fit");
    if (s >= 0) assert_string_equal(hf_model_command(w->model), "holdfast fit");
    assert_int_equal(hf_model_set_command(w->ctx, w->model, NULL), HF_OK);
    return s;
}

static hf_status quiet_model(workshop *w)
{
    hf_parameter p;
    assert_non_null(hf_model_posterior(w->model));
    assert_string_equal(hf_model_target(w->model), "y");
    assert_int_equal(hf_model_features(w->model), 2);
    assert_string_equal(hf_model_feature(w->model, 1), "b");
    assert_null(hf_model_category(w->model, 1, NULL));
    assert_int_equal(hf_model_report_of(w->model)->readings, 7);
    assert_false(hf_model_settings_of(w->model)->train);
    assert_string_equal(hf_model_noise_column(w->model), "v");
    assert_string_equal(hf_model_source(w->model), w->csv);
    uint64_t seed = 1;
    assert_true(hf_model_seed(w->model, &seed) && seed == 0);
    assert_null(hf_model_command(w->model));
    assert_true(strlen(hf_model_library(w->model)) > 0);
    assert_int_equal(hf_model_skipped(w->model), 1);
    assert_true(hf_model_notes(w->model) > 0 && hf_model_note(w->model, 0) != NULL);
    assert_int_equal(strlen(hf_model_data_checksum(w->model)), 64);
    assert_null(hf_model_content_checksum(w->model)); /* of no file */
    assert_int_equal(hf_model_parameter(w->model, hf_model_parameters(w->model) - 1, &p), HF_OK);
    hf_model_free(NULL);
    return HF_OK;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void data_survive(void **state)
{
    (void)state;
    RUN(CASE(contexts, 0), CASE(read_csv, 4), CASE(parse_csv, 4), CASE(create_table, 2),
        CASE(parse_strange, 12), CASE(read_any, 6), CASE(select_rows, 4), CASE(set_numbers, 20),
        CASE(set_text, 3), CASE(write_csv, 1), CASE(write_bytes, 1), CASE(contaminate, 1));
}

static void parts_survive(void **state)
{
    (void)state;
    RUN(CASE(parse_kernel, 10), CASE(copy_kernel, 10), CASE(set_kernel, 1), CASE(set_coregion, 11),
        CASE(gram, 1), CASE(cross, 1), CASE(create_mean, 1), CASE(copy_mean, 1), CASE(gaussian_sites, 2),
        CASE(robust_sites, 2), CASE(copy_sites, 2), CASE(threshold, 1), CASE(neighbours, 1));
}

static void the_rest_allocates_nothing(void **state)
{
    (void)state;
    RUN(CASE(quiet_context, 0), CASE(quiet_data, 0), CASE(quiet_parts, 0), CASE(quiet_posterior, 0),
        CASE(quiet_names, 0), CASE(quiet_model, 0), CASE(remember_command, 1));
}

/* A context itself, the first thing that can fail. */
static void a_context_that_cannot_be_had_is_null(void **state)
{
    (void)state;
    meter m = {.fail_at = 1};
    const hf_allocator allocator = {meter_allocate, meter_release, &m};
    assert_null(hf_context_create_with(&allocator));
    hf_context *ctx = hf_context_create_with(&allocator);
    assert_non_null(ctx);
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_that_cannot_be_had_is_null),
        cmocka_unit_test(data_survive),
        cmocka_unit_test(parts_survive),
        cmocka_unit_test(the_rest_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
