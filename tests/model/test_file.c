/* SPDX-License-Identifier: Apache-2.0 */
/* The model file: what is saved comes back, what is not a model is refused, nothing half-written stays. */
#include "model/model_testing.h"

#include "model/file.h"

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
    const hf_columns columns = {.target = "y", .noise = "s2"};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static void assert_same_predictions(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    static const char *const names[] = {"y_mean", "y_sd_latent", "y_sd_observed", "y_lo95", "y_hi95"};
    hf_table *first = wavy_table(ctx, 17, 0), *second = wavy_table(ctx, 17, 0);
    assert_true(hf_predict_into_table(ctx, a, first) >= 0 && hf_predict_into_table(ctx, b, second) >= 0);
    for (size_t k = 0; k < 5; k++)
        assert_memory_equal(column_of(ctx, first, names[k]), column_of(ctx, second, names[k]),
                            17 * sizeof(double));
    hf_table_free(first);
    hf_table_free(second);
}

static void assert_same_table(hf_context *ctx, const hf_table *a, const hf_table *b)
{
    assert_int_equal(hf_table_rows(a), hf_table_rows(b));
    assert_int_equal(hf_table_columns(a), hf_table_columns(b));
    for (size_t j = 0; j < hf_table_columns(a); j++) {
        const double *left = column_of(ctx, a, hf_table_name(a, j)),
                     *right = column_of(ctx, b, hf_table_name(a, j));
        for (size_t i = 0; i < hf_table_rows(a); i++)
            assert_true(left[i] == right[i] || (isnan(left[i]) && isnan(right[i])));
    }
}

static void assert_same_model(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    assert_string_equal(hf_model_target(a), hf_model_target(b));
    assert_string_equal(hf_model_source(a), hf_model_source(b));
    assert_string_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    assert_int_equal(hf_model_features(a), hf_model_features(b));
    assert_int_equal(hf_model_skipped(a), hf_model_skipped(b));
    assert_int_equal(hf_model_notes(a), hf_model_notes(b));
    for (size_t i = 0; i < hf_model_notes(a); i++)
        assert_string_equal(hf_model_note(a, i), hf_model_note(b, i));
    const hf_fit_settings *left = hf_model_settings(a), *right = hf_model_settings(b);
    for (size_t i = 0; i < hfi_settings_field_count; i++) {
        size_t bytes = hfi_settings_fields[i].type == HFI_FLAG ? sizeof(bool) : sizeof(unsigned);
        assert_memory_equal((const char *)left + hfi_settings_fields[i].offset,
                            (const char *)right + hfi_settings_fields[i].offset, bytes);
    }
    assert_string_equal(left->kernel, right->kernel);
    const hf_fit_report *p = hf_model_report(a), *q = hf_model_report(b);
    assert_true(p->objective == q->objective && p->seconds == q->seconds && p->stop == q->stop &&
                p->suspects == q->suspects && p->suspects_adopted == q->suspects_adopted &&
                p->calibration == q->calibration && p->threshold == q->threshold &&
                (p->benefit == q->benefit || (isnan(p->benefit) && isnan(q->benefit))));
    assert_string_equal(p->at_bound_names, q->at_bound_names);
    for (size_t i = 0; i < hf_model_parameters(a); i++) {
        hf_parameter u, v;
        assert_int_equal(hf_model_parameter(a, i, &u), HF_OK);
        assert_int_equal(hf_model_parameter(b, i, &v), HF_OK);
        assert_string_equal(u.name, v.name);
        assert_true(u.value == v.value && u.lower == v.lower && u.upper == v.upper && u.fixed == v.fixed);
    }
    hf_table *rows[2] = {NULL, NULL};
    assert_int_equal(hf_model_rows(ctx, a, &rows[0]), HF_OK);
    assert_int_equal(hf_model_rows(ctx, b, &rows[1]), HF_OK);
    assert_same_table(ctx, rows[0], rows[1]);
    hf_table_free(rows[0]);
    hf_table_free(rows[1]);
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

static void every_kind_of_model_comes_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const kernels[] = {NULL, "se(iso) + 0.5*periodic(a, period=3)",
                                          "linear(b) * rq(a) + white", "sm(a, components=2)"};
    hf_table *table = wavy_table(ctx, 24, 2);
    for (size_t k = 0; k < 16; k++) {
        hf_fit_settings settings = hf_fit_settings_default();
        settings.suspects = HF_SUSPECTS_OFF;
        settings.iterations = 4;
        settings.kernel = kernels[k % 4];
        settings.mean = (hf_mean_kind)(k / 4);
        settings.sites = k % 3 == 0 ? HF_SITES_ROBUST : HF_SITES_GAUSSIAN;
        settings.standardise = k % 2 == 0;
        hf_model *model = model_of(ctx, table, &settings), *loaded = NULL;
        unsigned char *bytes = NULL;
        size_t size = 0;
        assert_int_equal(hfi_model_to_bytes(ctx, model, &bytes, &size), HF_OK);
        if (hfi_model_from_bytes(ctx, bytes, size, "m", &loaded) != HF_OK)
            fail_msg("%s", hf_context_message(ctx));
        assert_same_model(ctx, model, loaded);
        assert_same_predictions(ctx, model, loaded);
        hfi_free(ctx, bytes);
        hf_model_free(loaded);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* An image of a small model, and a place to spoil copies of it. */
typedef struct image {
    hf_context *ctx;
    hf_model *model;
    unsigned char *bytes, *copy;
    size_t size;
} image;

static image image_make(void)
{
    image made = {.ctx = hf_context_create()};
    hf_table *table = wavy_table(made.ctx, 6, 0);
    hf_fit_settings settings = untrained();
    made.model = model_of(made.ctx, table, &settings);
    hf_table_free(table);
    assert_int_equal(hfi_model_to_bytes(made.ctx, made.model, &made.bytes, &made.size), HF_OK);
    made.copy = malloc(made.size);
    assert_non_null(made.copy);
    memcpy(made.copy, made.bytes, made.size);
    return made;
}

static void image_free(image *made)
{
    free(made->copy);
    hfi_free(made->ctx, made->bytes);
    hf_model_free(made->model);
    hf_context_free(made->ctx);
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
    assert_rejected(&made, made.size, "newer Holdfast (format 2");
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
    for (size_t bit = 0; bit < 8 * made.size; bit += 331) {
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        hf_model *loaded = NULL;
        hf_status status = hfi_model_from_bytes(made.ctx, made.copy, made.size, "m.hf", &loaded);
        if (status == HF_OK) {
            assert_same_predictions(made.ctx, made.model, loaded);
            assert_string_equal(hf_model_data_checksum(loaded), hf_model_data_checksum(made.model));
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
    image_free(&made);
}

/* Changes content with SQLite's own means. `seal` makes the checksum right again: what is left to detect is nonsense. */
static void change(image *made, const char *sql, bool seal)
{
    sqlite3 *db = NULL;
    sqlite3_int64 size = 0;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    unsigned char *room = sqlite3_malloc64(2 * made->size + 65536);
    assert_non_null(room);
    memcpy(room, made->bytes, made->size);
    assert_int_equal(sqlite3_deserialize(db, "main", room, (sqlite3_int64)made->size,
                                         (sqlite3_int64)(2 * made->size + 65536),
                                         SQLITE_DESERIALIZE_FREEONCLOSE),
                     SQLITE_OK);
    char *error = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    if (seal) assert_int_equal(hfi_schema_seal(db), SQLITE_OK);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    free(made->copy);
    made->copy = malloc((size_t)size);
    assert_non_null(made->copy);
    memcpy(made->copy, bytes, (size_t)size);
    sqlite3_free(bytes);
    sqlite3_close(db);
    hf_model *loaded = NULL;
    hf_status status = hfi_model_from_bytes(made->ctx, made->copy, (size_t)size, "m.hf", &loaded);
    if (status != HF_ERR_MODEL_FILE && status != HF_ERR_TOO_LARGE)
        fail_msg("%s: %s", sql, hf_status_name(status));
    assert_null(loaded);
    assert_true(strlen(hf_context_message(made->ctx)) > 10);
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

/* The names in the file are those of the library. */
static void choices_are_named_as_in_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < hfi_settings_field_count; i++) {
        const hfi_field *field = &hfi_settings_fields[i];
        for (unsigned k = 0; field->type == HFI_CHOICE && k < field->choices; k++) {
            const char *expected = NULL;
            if (strcmp(field->key, "settings.mean") == 0) expected = hf_mean_kind_name((hf_mean_kind)k);
            if (strcmp(field->key, "settings.sites") == 0) expected = hf_site_kind_name((hf_site_kind)k);
            if (strcmp(field->key, "settings.suspects") == 0) expected = hf_suspects_name((hf_suspects)k);
            if (strcmp(field->key, "settings.centre") == 0) expected = hf_centre_name((hf_centre)k);
            if (strcmp(field->key, "settings.objective") == 0) expected = hf_objective_name((hf_objective)k);
            if (expected != NULL) assert_string_equal(field->names[k], expected);
            assert_true(expected != NULL || strcmp(field->key, "settings.threshold_rule") == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(every_kind_of_model_comes_back),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(truncated_and_padded_files_are_refused),
        cmocka_unit_test(flipped_bits_do_not_pass),
        cmocka_unit_test(changed_content_is_refused),
        cmocka_unit_test(nonsense_with_a_right_checksum_is_refused),
        cmocka_unit_test(other_tables_are_refused),
        cmocka_unit_test(unwritable_places_leave_nothing),
        cmocka_unit_test(choices_are_named_as_in_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
