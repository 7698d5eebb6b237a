/* SPDX-License-Identifier: Apache-2.0 */
/* The model file: what is saved comes back, what is not a model is refused, nothing half-written stays. */
#include "model/file_testing.h"

#include <holdfast/version.h>
#include <sys/stat.h>

/* A model with everything a file can hold: noise column, gaps, suspects, remarks. */
static hf_model *rich_model(hf_context *ctx)
{
    hf_table *table = wavy_table(ctx, 60, 6);
    double noise[60];
    for (size_t i = 0; i < 60; i++) noise[i] = i == 7 ? NAN : 0.001 * (double)(i % 3);
    assert_int_equal(hf_table_set_numbers(ctx, table, "s2", noise), HF_OK);
    double y[60];
    memcpy(y, column_of(ctx, table, "y"), sizeof y);
    y[20] = NAN;
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "s2"};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static void what_is_saved_comes_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "m.hf", path);
    hf_model *model = rich_model(ctx), *loaded = NULL;
    assert_true(hf_model_notes(model) >= 2);
    if (hf_model_save(ctx, model, path) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    if (hf_model_load(ctx, path, &loaded) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    assert_same_model(ctx, model, loaded);
    assert_same_predictions(ctx, model, loaded);
    /* Saving what was loaded gives the same bytes, and saving over a file replaces it. */
    char *first = file_get(path);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(hf_model_save(ctx, loaded, path), HF_OK);
    char *second = file_get(path);
    assert_memory_equal(first, second, (size_t)info.st_size);
    assert_int_equal(folder_count(&scratch), 1);
    free(first);
    free(second);
    hf_model_free(loaded);
    hf_model_free(model);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* Files of before, which have neither key, load too. */
static void how_it_was_made_comes_back_where_it_is_known(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 6, 0);
    const hf_fit_settings settings = untrained();
    hf_context_set_seed(ctx, UINT64_MAX);
    hf_model *model = model_of(ctx, table, &settings);
    static const char command[] = "holdfast fit 'a\nb.csv' --target y";
    assert_null(hf_model_command(model));
    assert_int_equal(hf_model_set_command(ctx, model, "another"), HF_OK);
    assert_int_equal(hf_model_set_command(ctx, model, command), HF_OK);
    for (int known = 1; known >= 0; known--) {
        hf_model *loaded = NULL;
        unsigned char *bytes = NULL;
        size_t size = 0;
        uint64_t seed = 5;
        if (!known) model->seeded = false;
        if (!known) assert_int_equal(hf_model_set_command(ctx, model, NULL), HF_OK);
        assert_int_equal(hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
        assert_int_equal(hfi_model_from_bytes(ctx, bytes, size, "m", &loaded), HF_OK);
        assert_int_equal(hf_model_seed(loaded, &seed), known);
        assert_true(seed == (known ? UINT64_MAX : 5));
        if (known) assert_string_equal(hf_model_command(loaded), command);
        if (!known) assert_null(hf_model_command(loaded));
        assert_string_equal(hf_model_library(loaded), hf_version());
        sqlite3_free(bytes);
        hf_model_free(loaded);
    }
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void every_kind_of_model_comes_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const kernels[] = {NULL, "se(iso) + 0.5*periodic(a, period=3)",
                                          "linear(b) * rq(a) + white", "sm(a, components=2)"};
    hf_table *table = wavy_table(ctx, 24, 2);
    for (size_t k = 0; k < 16; k++) {
        hf_fit_settings settings = hf_fit_settings_default();
        settings.suspects = HF_OUTLIERS_OFF;
        settings.iterations = 4;
        settings.kernel = kernels[k % 4];
        settings.mean = (hf_mean_kind)(k / 4);
        settings.sites = k % 3 == 0 ? HF_LIKELIHOOD_ROBUST : HF_LIKELIHOOD_GAUSSIAN;
        settings.standardise = k % 2 == 0;
        hf_model *model = model_of(ctx, table, &settings), *loaded = NULL;
        unsigned char *bytes = NULL;
        size_t size = 0;
        assert_int_equal(hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
        if (hfi_model_from_bytes(ctx, bytes, size, "m", &loaded) != HF_OK)
            fail_msg("%s", hf_context_message(ctx));
        assert_same_model(ctx, model, loaded);
        assert_same_predictions(ctx, model, loaded);
        sqlite3_free(bytes);
        hf_model_free(loaded);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

static void assert_rejected(image *made, size_t size, const char *message)
{
    hf_model *loaded = NULL;
    hf_status status = hfi_model_from_bytes(made->ctx, made->copy, size, "m.hf", &loaded);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s instead of %s", hf_status_name(status), message);
    assert_null(loaded);
    assert_contains(hf_context_message(made->ctx), "m.hf: ");
    assert_contains(hf_context_message(made->ctx), message);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    image made = image_make();
    assert_rejected(&made, 0, "empty");
    memcpy(made.copy, "a,b,y\n1,2,3\n", 12);
    assert_rejected(&made, 12, "text; is it the data?");
    memcpy(made.copy,
           "\x7f"
           "ELF\1\2\3",
           8);
    assert_rejected(&made, made.size, "not a Holdfast model");
    memcpy(made.copy, made.bytes, made.size);
    made.copy[68] ^= 1;
    assert_rejected(&made, made.size, "SQLite database, but not");
    memcpy(made.copy, made.bytes, made.size);
    made.copy[63] = HFI_FORMAT_VERSION + 1;
    assert_rejected(&made, made.size, "newer Holdfast (format 7");
    made.copy[63] = 0;
    assert_rejected(&made, made.size, "no format version");
    image_free(&made);
}

static void truncated_and_padded_files_are_refused(void **state)
{
    (void)state;
    image made = image_make();
    for (size_t size = 16; size < made.size; size += size < 600 ? 1 : 509)
        assert_rejected(&made, size, "truncated");
    unsigned char *longer = calloc(made.size + 4096, 1);
    assert_non_null(longer);
    memcpy(longer, made.bytes, made.size);
    free(made.copy);
    made.copy = longer;
    assert_rejected(&made, made.size + 4096, "damaged");
    /* A header that declares four billion pages. */
    memcpy(made.copy, made.bytes, made.size);
    memset(made.copy + 28, 0xff, 4);
    assert_rejected(&made, made.size, "truncated");
    image_free(&made);
}

/* Whatever bit flips: refused, or it was one that carries no content and the model is the same. */
static void flipped_bits_do_not_pass(void **state)
{
    (void)state;
    image made = image_make();
    size_t rejected = 0, accepted = 0;
    hf_model *whole = NULL;
    assert_int_equal(hfi_model_from_bytes(made.ctx, made.copy, made.size, "m.hf", &whole), HF_OK);
    assert_int_equal(strlen(hf_model_content_checksum(whole)), 64);
    assert_string_not_equal(hf_model_content_checksum(whole), hf_model_data_checksum(whole));
    for (size_t bit = 0; bit < 8 * made.size; bit += 331) {
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        hf_model *loaded = NULL;
        hf_status status = hfi_model_from_bytes(made.ctx, made.copy, made.size, "m.hf", &loaded);
        if (status == HF_OK) {
            assert_same_predictions(made.ctx, made.model, loaded);
            assert_string_equal(hf_model_data_checksum(loaded), hf_model_data_checksum(made.model));
            assert_string_equal(hf_model_content_checksum(loaded), hf_model_content_checksum(whole));
            accepted++;
        } else {
            assert_int_equal(status, HF_ERR_MODEL_FILE);
            rejected++;
        }
        hf_model_free(loaded);
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
    }
    /* SQLite's pages are partly empty, so that many bits mean nothing; but not most of the written ones. */
    assert_true(rejected > 50);
    assert_true(accepted + rejected == (8 * made.size + 330) / 331);
    hf_model_free(whole);
    image_free(&made);
}

static void changed_content_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    change(&made, "UPDATE meta SET value = 'z' WHERE key = 'target'", false);
    assert_contains(hf_context_message(made.ctx), "checksum");
    change(&made, "UPDATE feature SET name = 'z' WHERE position = 1", false);
    change(&made, "UPDATE array SET data = zeroblob(48) WHERE name = 'row_target'", false);
    change(&made, "DELETE FROM meta WHERE key = 'content_sha256'", false);
    change(&made, "INSERT INTO note VALUES (0, 'hello')", false);
    image_free(&made);
}

static void nonsense_with_a_right_checksum_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    static const char *const statements[] = {
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'rows'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'inputs'",
        "UPDATE meta SET value = 1000000000 WHERE key = 'anchors'",
        "UPDATE meta SET value = -1 WHERE key = 'rows'",
        "UPDATE meta SET value = 0 WHERE key = 'anchors'",
        "UPDATE meta SET value = 5 WHERE key = 'anchors'",
        "UPDATE meta SET value = 'six' WHERE key = 'rows'",
        "UPDATE meta SET value = 0.0 WHERE key = 'target_scale'",
        "UPDATE meta SET value = 9e999 WHERE key = 'target_shift'",
        "UPDATE meta SET value = -0.5 WHERE key = 'noise'",
        "UPDATE meta SET value = 0.5 WHERE key = 'calibration'",
        "UPDATE meta SET value = 'matern52(' WHERE key = 'kernel'",
        "UPDATE meta SET value = 'se(nowhere)' WHERE key = 'kernel'",
        "UPDATE meta SET value = 'se + se' WHERE key = 'kernel'",
        "UPDATE meta SET value = 'cubic' WHERE key = 'mean'",
        "UPDATE meta SET value = 'linear' WHERE key = 'mean'",
        "UPDATE meta SET value = NULL WHERE key = 'target'",
        "UPDATE meta SET value = CAST('a' || char(0) || 'b' AS TEXT) WHERE key = 'target'",
        "UPDATE meta SET value = 'maybe' WHERE key = 'settings.sites'",
        "UPDATE meta SET value = 2 WHERE key = 'settings.train'",
        "UPDATE meta SET value = 'short' WHERE key = 'data_sha256'",
        "DELETE FROM meta WHERE key = 'report.gain'",
        "DELETE FROM meta WHERE key = 'library'",
        "UPDATE meta SET value = '-1' WHERE key = 'seed'",
        "UPDATE meta SET value = '18446744073709551616' WHERE key = 'seed'",
        "UPDATE meta SET value = 0 WHERE key = 'seed'",
        "INSERT INTO meta (key, value) VALUES ('command', NULL)",
        "UPDATE feature SET scale = 0 WHERE position = 0",
        "UPDATE feature SET shift = 9e999 WHERE position = 0",
        "DELETE FROM feature WHERE position = 1",
        "INSERT INTO feature VALUES (2, 'c', 0, 1)",
        "UPDATE feature SET position = 5 WHERE position = 1",
        "UPDATE parameter SET value = -1 WHERE position = 0",
        "UPDATE parameter SET value = 2 * value WHERE position = 0",
        "DELETE FROM parameter WHERE position = 1",
        "UPDATE array SET data = zeroblob(40) WHERE name = 'row_target'",
        "UPDATE array SET rows = 7 WHERE name = 'row_target'",
        "UPDATE array SET data = 'text' WHERE name = 'row_inputs'",
        "DELETE FROM array WHERE name = 'row_weight'",
        "UPDATE array SET data = zeroblob(48) WHERE name = 'row_weight'",
        "UPDATE array SET data = zeroblob(48) WHERE name = 'anchor_weight'",
        "UPDATE array SET data = x'000000000000f07f' || substr(data, 9) WHERE name = 'anchor_inputs'",
        "UPDATE array SET data = x'000000000000f0bf' || substr(data, 9) WHERE name = 'anchor_variance'",
        "UPDATE array SET data = x'000000000000e03f' || substr(data, 9) WHERE name = 'row_number'",
        "UPDATE array SET data = x'000000000000e03f' || substr(data, 9) WHERE name = 'row_suspected'",
        "UPDATE array SET data = zeroblob(96) WHERE name = 'anchor_inputs'",
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) change(&made, statements[i], true);
    image_free(&made);
}

/* A transform is of format 5, and its readings have a place in it. */
static void nonsense_about_transforms_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    for (size_t i = 0; i < made.model->n; i++) made.model->y[i] = exp(made.model->y[i]);
    made.model->settings.transform = HF_TRANSFORM_LOG;
    sqlite3_free(made.bytes);
    assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size),
                     HF_OK);
    hf_model *loaded = NULL;
    assert_int_equal(hfi_model_from_bytes(made.ctx, made.bytes, made.size, "m.hf", &loaded), HF_OK);
    assert_same_model(made.ctx, made.model, loaded);
    assert_same_predictions(made.ctx, made.model, loaded);
    hf_model_free(loaded);
    static const char *const statements[] = {
        "UPDATE meta SET value = 'none' WHERE key = 'settings.transform'",
        "UPDATE meta SET value = 'auto' WHERE key = 'settings.transform'",
        "DELETE FROM meta WHERE key = 'settings.transform'",
        "UPDATE meta SET value = 'y' WHERE key = 'output_column'",
        "UPDATE meta SET value = 'a' WHERE key = 'noise_column'",
        "UPDATE meta SET value = 'probit' WHERE key = 'settings.sites'",
        "UPDATE array SET data = zeroblob(48) WHERE name = 'row_target'",
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) change(&made, statements[i], true);
    image_free(&made);
}

/* Version 6 has priors of lengthscales or inputs as they are, with a transform or without. */
static void the_latest_settings_have_the_latest_format(void **state)
{
    (void)state;
    for (int transformed = 0; transformed < 2; transformed++) {
        image made = image_make();
        for (size_t i = 0; i < made.model->n; i++) made.model->y[i] = exp(made.model->y[i]);
        made.model->settings.transform = transformed ? HF_TRANSFORM_LOG : HF_TRANSFORM_NONE;
        made.model->settings.lengthscale_prior = HF_PRIOR_DIMENSION;
        assert_int_equal(hfi_model_format(made.model), HFI_FORMAT_VERSION);
        sqlite3_free(made.bytes);
        assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size),
                         HF_OK);
        hf_model *loaded = NULL;
        assert_int_equal(hfi_model_from_bytes(made.ctx, made.bytes, made.size, "m.hf", &loaded), HF_OK);
        assert_int_equal(loaded->settings.lengthscale_prior, HF_PRIOR_DIMENSION);
        assert_false(loaded->settings.unit_inputs);
        assert_same_model(made.ctx, made.model, loaded);
        hf_model_free(loaded);
        static const char *const statements[] = {
            "UPDATE meta SET value = 'weak' WHERE key = 'settings.lengthscale_prior'",
            "UPDATE meta SET value = 'none' WHERE key = 'settings.lengthscale_prior'",
            "UPDATE meta SET value = 2 WHERE key = 'settings.unit_inputs'",
            "DELETE FROM meta WHERE key = 'settings.unit_inputs'",
        };
        for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
            change(&made, statements[i], true);
        image_free(&made);
    }
}

/* Prior means are of format 6, one for each row of one output. */
static void nonsense_about_means_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    made.model->mean_column = hfi_memory_strdup(&made.model->memory, "m");
    assert_non_null(made.model->mean_column);
    assert_int_equal(hfi_model_reserve_means(made.ctx, made.model), HF_OK);
    for (size_t i = 0; i < made.model->n; i++) made.model->prior[i] = 0.5 * (double)i;
    sqlite3_free(made.bytes);
    assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size),
                     HF_OK);
    hf_model *loaded = NULL;
    assert_int_equal(hfi_model_from_bytes(made.ctx, made.bytes, made.size, "m.hf", &loaded), HF_OK);
    assert_same_model(made.ctx, made.model, loaded);
    assert_string_equal(hf_model_mean_column(loaded), "m");
    for (size_t i = 0; i < loaded->n; i++) assert_true(hfi_model_prior(loaded, i) == 0.5 * (double)i);
    hf_model_free(loaded);
    static const char *const statements[] = {
        "UPDATE meta SET value = NULL WHERE key = 'mean_column'",
        "DELETE FROM meta WHERE key = 'mean_column'",
        "DELETE FROM array WHERE name = 'row_mean'",
        "UPDATE array SET data = x'000000000000f07f' || substr(data, 9) WHERE name = 'row_mean'",
        "UPDATE meta SET value = 'y' WHERE key = 'output_column'",
        "UPDATE meta SET value = 'sqrt' WHERE key = 'settings.transform'",
        "UPDATE meta SET value = 'probit' WHERE key = 'settings.sites'",
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) change(&made, statements[i], true);
    image_free(&made);
}

static void other_tables_are_refused(void **state)
{
    (void)state;
    image made = image_make();
    change(&made, "CREATE TABLE extra (x)", true);
    change(&made, "CREATE VIEW v AS SELECT 1", true);
    change(&made, "CREATE TRIGGER t AFTER INSERT ON note BEGIN SELECT 1; END", true);
    change(&made, "CREATE INDEX i ON note (text)", true);
    change(&made, "DROP TABLE note; CREATE VIEW note AS SELECT 0 AS position, 'x' AS text", true);
    change(&made, "DROP TABLE note; CREATE TABLE note (position INTEGER PRIMARY KEY, text TEXT)", true);
    image_free(&made);
}

static void unwritable_places_leave_nothing(void **state)
{
    (void)state;
    image made = image_make();
    folder scratch = folder_make();
    char path[256];
    assert_int_equal(hf_model_save(made.ctx, made.model, folder_file(&scratch, "no/such/m.hf", path)),
                     HF_ERR_IO);
    assert_int_equal(hf_model_save(made.ctx, made.model, scratch.path), HF_ERR_IO);
    assert_int_equal(hf_model_save(made.ctx, made.model, "/dev/full"), HF_ERR_IO);
    assert_contains(hf_context_message(made.ctx), "/dev/full");
    assert_int_equal(folder_count(&scratch), 0);
    hf_model *loaded = NULL;
    assert_int_equal(hf_model_load(made.ctx, folder_file(&scratch, "none.hf", path), &loaded), HF_ERR_IO);
    assert_int_equal(hf_model_load(made.ctx, scratch.path, &loaded), HF_ERR_IO);
    assert_contains(hf_context_message(made.ctx), "folder");
    folder_remove(&scratch);
    image_free(&made);
}

/* Keys of files that exist. Nothing here is ever changed or taken away. */
static const struct promised {
    const char *key;
    unsigned since;
    hfi_field_type type;
    const char *names;
} promises[] = {
    {"settings.mean", 1, HFI_CHOICE, "zero constant median linear outputs"},
    {"settings.sites", 1, HFI_CHOICE,
     "gaussian robust student-t pursuit probit logit softmax poisson negative-binomial gamma"},
    {"settings.suspects", 1, HFI_CHOICE, "off auto force"},
    {"settings.groups", 1, HFI_FLAG, ""},
    {"settings.calibrate", 1, HFI_FLAG, ""},
    {"settings.centre", 1, HFI_CHOICE, "prior loo neighbours conditional"},
    {"settings.threshold_rule", 1, HFI_CHOICE, "quantile mad given"},
    {"settings.eps", 1, HFI_REAL, ""},
    {"settings.threshold", 1, HFI_REAL, ""},
    {"settings.rounds", 1, HFI_SIZE, ""},
    {"settings.consistent_noise", 1, HFI_FLAG, ""},
    {"settings.train", 1, HFI_FLAG, ""},
    {"settings.objective", 1, HFI_CHOICE, "evidence loo wloo weighted rcagp"},
    {"settings.priors", 1, HFI_FLAG, ""},
    {"settings.train_mean", 1, HFI_FLAG, ""},
    {"settings.restarts", 1, HFI_SIZE, ""},
    {"settings.iterations", 1, HFI_SIZE, ""},
    {"settings.standardise", 1, HFI_FLAG, ""},
    {"settings.solver", 2, HFI_CHOICE, "auto exact inducing projected"},
    {"settings.inducing", 2, HFI_SIZE, ""},
    {"settings.inducing_method", 2, HFI_CHOICE, "vfe fitc dtc"},
    {"settings.inducing_choice", 2, HFI_CHOICE, "greedy kmeans mdpp first"},
    {"settings.train_inducing", 2, HFI_FLAG, ""},
    {"settings.actions", 2, HFI_SIZE, ""},
    {"settings.action_kind", 2, HFI_CHOICE, "krylov inducing blocks given"},
    {"settings.blocks", 2, HFI_CHOICE, "contiguous clustered"},
    {"settings.action_start", 2, HFI_CHOICE, "random targets eigen precision"},
    {"settings.train_actions", 2, HFI_FLAG, ""},
    {"settings.tolerance", 2, HFI_REAL, ""},
    {"settings.single_precision", 2, HFI_FLAG, ""},
    {"settings.optimiser", 2, HFI_CHOICE, "lbfgs adam"},
    {"settings.learning_rate", 2, HFI_REAL, ""},
    {"settings.minibatch", 2, HFI_SIZE, ""},
    {"settings.beta", 2, HFI_REAL, ""},
    {"settings.student_method", 2, HFI_CHOICE, "laplace ep variational variational"},
    {"settings.student_nu", 2, HFI_REAL, ""},
    {"settings.max_noise", 3, HFI_REAL, ""},
    {"settings.coregion_rank", 3, HFI_SIZE, ""},
    {"settings.shared_noise", 3, HFI_FLAG, ""},
    {"settings.independent", 3, HFI_FLAG, ""},
    {"settings.weighting", 3, HFI_CHOICE, "reading joint channel"},
    {"settings.inference", 4, HFI_CHOICE, "laplace ep variational corrected"},
    {"settings.transform", 5, HFI_CHOICE, "none sqrt log"},
    {"settings.lengthscale_prior", 6, HFI_CHOICE, "weak dimension"},
    {"settings.unit_inputs", 6, HFI_FLAG, ""},
};

static void keys_and_names_stay(void **state)
{
    (void)state;
    size_t found = 0;
    for (size_t i = 0; i <= hf_fit_settings_table()->count; i++) {
        hfi_setting_key room;
        hfi_file_field field = hfi_student_method;
        if (i > 0 && !hfi_setting_field(&hf_fit_settings_table()->row[i - 1], &room, &field)) continue;
        const struct promised *p = NULL;
        for (size_t k = 0; k < sizeof promises / sizeof promises[0]; k++)
            if (strcmp(promises[k].key, field.key) == 0) p = &promises[k];
        if (p == NULL) fail_msg("%s is new: list it", field.key);
        found++;
        assert_true(field.since == p->since && field.type == p->type);
        char names[256] = "";
        for (size_t k = 0; k < field.choices; k++) {
            if (k > 0) strcat(names, " ");
            strcat(names, field.names[k]);
        }
        assert_string_equal(names, p->names);
    }
    assert_int_equal(found, sizeof promises / sizeof promises[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(how_it_was_made_comes_back_where_it_is_known),
        cmocka_unit_test(every_kind_of_model_comes_back),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(truncated_and_padded_files_are_refused),
        cmocka_unit_test(flipped_bits_do_not_pass),
        cmocka_unit_test(changed_content_is_refused),
        cmocka_unit_test(nonsense_with_a_right_checksum_is_refused),
        cmocka_unit_test(nonsense_about_transforms_is_refused),
        cmocka_unit_test(the_latest_settings_have_the_latest_format),
        cmocka_unit_test(nonsense_about_means_is_refused),
        cmocka_unit_test(other_tables_are_refused),
        cmocka_unit_test(unwritable_places_leave_nothing),
        cmocka_unit_test(keys_and_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
