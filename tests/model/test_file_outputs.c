/* SPDX-License-Identifier: Apache-2.0 */
/* Models of several outputs: what is saved comes back; damaged files of them are refused. */
#include "model/file_testing.h"

static const char wide_csv[] =
    "a,y1,y2,y3\n0.1,0.2,10,\n0.9,0.8,,3\n1.7,1.0,15,2\n2.4,,12,2.5\n3.3,-0.1,9,1\n4.0,-0.7,4,\n5.0,-0.9,,\n";
static const char long_csv[] =
    "a,of,y,v\n0.1,p,0.2,0.01\n0.1,q,10,1\n0.9,p,0.8,0.02\n1.7,q,15,1\n1.7,p,1,0.01\n"
    "3.3,p,-0.1,0.01\n3.3,q,9,2\n4.1,,1,1\n4.1,q,,1\n";
static const char *const targets[] = {"y1", "y2", "y3"};
static const hf_columns wide = {.size = sizeof wide, .targets = targets, .target_count = 3},
                        rows = {.size = sizeof rows, .target = "y", .output_column = "of", .noise = "v"};

static hf_model *fit_text(hf_context *ctx, const char *csv, const hf_columns *columns,
                          const hf_fit_settings *settings)
{
    hf_table *table = table_of(ctx, csv);
    hf_model *model = NULL;
    const hf_status status = hf_fit(ctx, table, columns, settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static hf_fit_settings held(void)
{
    hf_fit_settings settings = untrained();
    settings.set = NULL;
    settings.set_count = 0;
    settings.standardise = true;
    return settings;
}

static image image_of_outputs(void)
{
    image made = {.ctx = hf_context_create()};
    const hf_fit_settings settings = held();
    made.model = fit_text(made.ctx, wide_csv, &wide, &settings);
    assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size),
                     HF_OK);
    made.copy = malloc(made.size);
    assert_non_null(made.copy);
    memcpy(made.copy, made.bytes, made.size);
    return made;
}

/* The same numbers, to the bit. */
static void assert_same_outputs(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    const size_t outputs = hf_model_outputs(a);
    assert_int_equal(outputs, hf_model_outputs(b));
    for (size_t t = 0; t < outputs; t++) assert_string_equal(hf_model_output(a, t), hf_model_output(b, t));
    assert_int_equal(hf_model_output_column(a) == NULL, hf_model_output_column(b) == NULL);
    const double x[] = {-0.5, 0.3, 2.0, 7.0};
    double left[4 * 4 * 9], right[4 * 4 * 9];
    const size_t n = 4 * outputs;
    assert_int_equal(
        hf_predict_outputs(ctx, hf_model_posterior(a), 4, x, 1, left, left + n, left + 2 * n, left + 3 * n),
        HF_OK);
    assert_int_equal(hf_predict_outputs(ctx, hf_model_posterior(b), 4, x, 1, right, right + n, right + 2 * n,
                                        right + 3 * n),
                     HF_OK);
    assert_memory_equal(left, right, (3 * n + n * outputs) * sizeof *left);
    hf_table *first = NULL, *second = NULL;
    assert_int_equal(hf_model_training(ctx, a, &first), HF_OK);
    assert_int_equal(hf_model_training(ctx, b, &second), HF_OK);
    assert_same_table(ctx, first, second);
    hf_table_free(first);
    hf_table_free(second);
}

static void comes_back(hf_context *ctx, const hf_model *model, size_t piece)
{
    unsigned char *bytes = NULL, *again = NULL;
    size_t size = 0, same = 0;
    assert_int_equal(hfi_model_to_image(ctx, model, piece, &bytes, &size), HF_OK);
    assert_int_equal(bytes[63], 3);
    hf_model *loaded = NULL;
    if (hfi_model_from_bytes(ctx, bytes, size, "m.hf", &loaded) < 0) fail_msg("%s", hf_context_message(ctx));
    assert_same_model(ctx, model, loaded);
    assert_same_outputs(ctx, model, loaded);
    assert_int_equal(hfi_model_to_image(ctx, loaded, piece, &again, &same), HF_OK);
    assert_int_equal(size, same);
    assert_memory_equal(bytes, again, size);
    sqlite3_free(bytes);
    sqlite3_free(again);
    hf_model_free(loaded);
}

static void every_kind_comes_back(void **state)
{
    (void)state;
    static const char *const presets[] = {"default", "mogp", "morcgp", "t-mogp", "independent", "rrp"};
    static const double eps[] = {0.1, 0.0, 0.05}, beta[] = {0.5, 0.0, 2.0};
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < 9; k++) {
        hf_fit_settings settings;
        assert_int_equal(hf_fit_settings_preset(ctx, presets[k < 6 ? k : 1], &settings, sizeof settings),
                         HF_OK);
        if (k == 2) {
            settings.output_eps = eps;
            settings.output_eps_count = 3;
            settings.output_beta = beta;
            settings.output_beta_count = 3;
        }
        if (k == 6) settings.solver = HF_SOLVER_INDUCING;
        if (k == 7) settings.solver = HF_SOLVER_PROJECTED;
        if (k == 8) settings.mean = HF_MEAN_ZERO;
        settings.iterations = 3;
        settings.max_noise = 100.0;
        hf_model *model = fit_text(ctx, wide_csv, &wide, &settings);
        comes_back(ctx, model, k % 2 ? HFI_PIECE_BYTES : 64);
        assert_int_equal(hf_model_settings_of(model)->output_eps_count, k == 2 ? 3 : 0);
        assert_int_equal(hf_model_settings_of(model)->output_beta_count, k == 2 ? 3 : 0);
        hf_model_free(model);
    }
    const hf_fit_settings settings = held();
    hf_model *model = fit_text(ctx, long_csv, &rows, &settings);
    assert_int_equal(hf_model_skipped(model), 1);
    assert_string_equal(hf_model_output_column(model), "of");
    comes_back(ctx, model, HFI_PIECE_BYTES);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* A model keeps a list in units of the outputs, with which another fit is the same. */
static void amplitudes_are_kept_in_units(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = held();
    settings.sites = HF_LIKELIHOOD_ROBUST;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.centre = HF_CENTRE_PRIOR;
    settings.beta = 0.8;
    settings.scaled_beta = true;
    hf_model *model = fit_text(ctx, wide_csv, &wide, &settings);
    const hf_fit_settings *kept = hf_model_settings_of(model);
    assert_true(kept->output_beta_count == 3 && kept->beta == 0.0 && !kept->scaled_beta);
    assert_true(kept->output_beta[0] > 0.0 && kept->output_beta[0] != kept->output_beta[1]);
    comes_back(ctx, model, HFI_PIECE_BYTES);
    settings.scaled_beta = false;
    settings.output_beta = kept->output_beta;
    settings.output_beta_count = 3;
    hf_model *again = fit_text(ctx, wide_csv, &wide, &settings);
    double mean[12], other[12];
    const double x[] = {-0.5, 0.3, 2.0, 7.0};
    assert_int_equal(hf_predict_outputs(ctx, hf_model_posterior(model), 4, x, 1, mean, NULL, NULL, NULL),
                     HF_OK);
    assert_int_equal(hf_predict_outputs(ctx, hf_model_posterior(again), 4, x, 1, other, NULL, NULL, NULL),
                     HF_OK);
    for (size_t k = 0; k < 12; k++) assert_true(fabs(mean[k] - other[k]) < 1e-9);
    settings.beta = 0.8;
    settings.output_beta = NULL;
    settings.output_beta_count = 0;
    hf_model *plain = fit_text(ctx, wide_csv, &wide, &settings);
    assert_true(hf_model_settings_of(plain)->beta == 0.8 && hf_model_settings_of(plain)->output_beta == NULL);
    hf_model_free(plain);
    hf_model_free(again);
    hf_model_free(model);
    hf_context_free(ctx);
}

static void the_checksum_knows_outputs(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = held();
    static const char *const other[] = {"y2", "y1", "y3"};
    const hf_columns turned = {.size = sizeof turned, .targets = other, .target_count = 3};
    hf_model *a = fit_text(ctx, wide_csv, &wide, &settings), *b = fit_text(ctx, wide_csv, &turned, &settings);
    assert_string_not_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    hf_model_free(b);
    b = fit_text(ctx, wide_csv, &wide, &settings);
    assert_string_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    hf_model_free(b);
    /* One output is as it was before there were several. */
    const hf_columns one = {.size = sizeof one, .target = "y1", .drop = other, .drop_count = 1},
                     first = {.size = sizeof first,
                              .targets = targets,
                              .target_count = 1,
                              .drop = other,
                              .drop_count = 1};
    hf_model *c = fit_text(ctx, wide_csv, &one, &settings);
    b = fit_text(ctx, wide_csv, &first, &settings);
    assert_string_equal(hf_model_data_checksum(b), hf_model_data_checksum(c));
    const double at[2] = {1.1, 2.0};
    double left[3], right[3];
    assert_int_equal(hf_model_features(b), 2);
    assert_int_equal(hf_predict(ctx, hf_model_posterior(b), 1, at, 2, left, left + 1, left + 2), HF_OK);
    assert_int_equal(hf_predict(ctx, hf_model_posterior(c), 1, at, 2, right, right + 1, right + 2), HF_OK);
    assert_memory_equal(left, right, sizeof left);
    assert_int_equal(hfi_model_format(b), 2);
    assert_int_equal(hfi_model_format(c), 2);
    hf_model_free(a);
    hf_model_free(b);
    hf_model_free(c);
    hf_context_free(ctx);
}

/* Shares of outliers that are not one for each output have no place in a file, nor in a fit. */
static void shares_of_outliers_are_checked(void **state)
{
    (void)state;
    static const double two[] = {0.1, 0.2}, far[] = {0.1, 0.2, 1.5};
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, wide_csv);
    for (size_t k = 0; k < 2; k++) {
        hf_model *model = NULL;
        hf_fit_settings settings = held();
        settings.output_eps = k == 0 ? two : far;
        settings.output_eps_count = k == 0 ? 2 : 3;
        assert_int_equal(hf_fit(ctx, table, &wide, &settings, &model, NULL), HF_ERR_ARGUMENT);
        assert_null(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    image made = image_of_outputs();
    change(&made, "UPDATE output SET name = 'z' WHERE position = 1", false);
    assert_contains(hf_context_message(made.ctx), "checksum");
    static const char *const statements[] = {
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'outputs'",
        "UPDATE meta SET value = 0 WHERE key = 'outputs'",
        "UPDATE meta SET value = 1 WHERE key = 'outputs'",
        "UPDATE meta SET value = 2 WHERE key = 'outputs'",
        "UPDATE meta SET value = 7 WHERE key = 'outputs'",
        "UPDATE meta SET value = 'three' WHERE key = 'outputs'",
        "DELETE FROM meta WHERE key = 'outputs'",
        "DELETE FROM meta WHERE key = 'output_column'",
        "UPDATE meta SET value = NULL WHERE key = 'output_input'",
        "UPDATE meta SET value = 'elsewhere' WHERE key = 'output_input'",
        "UPDATE meta SET value = 20 WHERE key = 'rows'",
        "UPDATE meta SET value = 'constant' WHERE key = 'mean'",
        "UPDATE meta SET value = 'maybe' WHERE key = 'settings.weighting'",
        "DELETE FROM meta WHERE key = 'settings.coregion_rank'",
        "UPDATE meta SET value = 'coregion(output, outputs=4)*matern52(ard)' WHERE key = 'kernel'",
        "DELETE FROM output WHERE position = 2",
        "INSERT INTO output VALUES (3, 'y4', 0, 1, 0.1, 0)",
        "UPDATE output SET position = 5 WHERE position = 1",
        "UPDATE output SET scale = 0 WHERE position = 0",
        "UPDATE output SET scale = 9e999 WHERE position = 2",
        "UPDATE output SET shift = -9e999 WHERE position = 1",
        "UPDATE output SET noise = -1 WHERE position = 1",
        "UPDATE output SET noise_held = 2 WHERE position = 1",
        "DELETE FROM output",
        "INSERT INTO array VALUES ('output_eps', 2, 1, zeroblob(16))",
        "INSERT INTO array VALUES ('output_beta', 2, 1, zeroblob(16))",
        "INSERT INTO array VALUES ('output_beta', 3, 1, x'000000000000f0bf000000000000f03f000000000000f03f')",
        "INSERT INTO array VALUES ('output_eps', 3, 1, x'000000000000f03f000000000000f03f000000000000f03f')",
        "UPDATE array SET data = zeroblob(length(data)) WHERE name = 'row_inputs'",
        "UPDATE array SET data = substr(data, 1, 8) || x'000000000000e03f' || substr(data, 17) WHERE name = "
        "'anchor_inputs'",
        "UPDATE array SET data = substr(data, 1, 8) || x'0000000000001440' || substr(data, 17) WHERE name = "
        "'row_inputs'",
        "UPDATE array SET data = zeroblob(16), rows = 2 WHERE name = 'mean'",
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) change(&made, statements[i], true);
    change(&made, "DROP TABLE output", false);
    change(&made, "CREATE TABLE extra (x)", true);
    image_free(&made);
}

/* A file with a table that its version has not, and one without a table that it has. */
static void versions_have_their_tables(void **state)
{
    (void)state;
    image several = image_of_outputs(), one = image_make();
    hf_model *loaded = NULL;
    several.copy[63] = 2;
    assert_int_equal(hfi_model_from_bytes(several.ctx, several.copy, several.size, "m.hf", &loaded),
                     HF_ERR_MODEL_FILE);
    assert_int_equal(one.bytes[63], 2);
    one.copy[63] = 3;
    assert_int_equal(hfi_model_from_bytes(one.ctx, one.copy, one.size, "m.hf", &loaded), HF_ERR_MODEL_FILE);
    assert_null(loaded);
    image_free(&several);
    image_free(&one);
}

static void truncated_files_and_flipped_bits(void **state)
{
    (void)state;
    image made = image_of_outputs();
    hf_model *loaded = NULL;
    for (size_t size = 16; size < made.size; size += size < 600 ? 7 : 1021) {
        assert_int_equal(hfi_model_from_bytes(made.ctx, made.copy, size, "m.hf", &loaded), HF_ERR_MODEL_FILE);
        assert_null(loaded);
    }
    size_t rejected = 0;
    for (size_t bit = 0; bit < 8 * made.size; bit += 977) {
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        const hf_status status = hfi_model_from_bytes(made.ctx, made.copy, made.size, "m.hf", &loaded);
        if (status >= 0)
            assert_same_outputs(made.ctx, made.model, loaded);
        else
            assert_int_equal(status, HF_ERR_MODEL_FILE);
        rejected += status < 0 ? 1 : 0;
        hf_model_free(loaded);
        loaded = NULL;
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
    }
    assert_true(rejected > 30);
    image_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(amplitudes_are_kept_in_units),
        cmocka_unit_test(the_checksum_knows_outputs),
        cmocka_unit_test(shares_of_outliers_are_checked),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(versions_have_their_tables),
        cmocka_unit_test(truncated_files_and_flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
