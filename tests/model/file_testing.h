/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file_testing.h
 * @brief Comparing models, and spoiling their files.
 */
#ifndef TESTS_FILE_TESTING_H
#define TESTS_FILE_TESTING_H

#include "model/low_rank.h"

#include "model/file.h"

static inline void assert_same_predictions(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    static const char *const names[] = {"y_mean", "y_sd_latent", "y_sd_observed", "y_lo95",
                                        "y_hi95"};
    hf_table *first = wavy_table(ctx, 17, 0), *second = wavy_table(ctx, 17, 0);
    assert_true(hf_predict_into_table(ctx, a, first) >= 0 &&
                hf_predict_into_table(ctx, b, second) >= 0);
    for (size_t k = 0; k < 5; k++)
        assert_memory_equal(column_of(ctx, first, names[k]), column_of(ctx, second, names[k]),
                            17 * sizeof(double));
    hf_table_free(first);
    hf_table_free(second);
}

static inline void assert_same_table(hf_context *ctx, const hf_table *a, const hf_table *b)
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

/* Every number of settings or report, NaN being NaN. */
static inline void assert_same_fields(const hfi_file_field *fields, size_t count, const void *a,
                                      const void *b)
{
    static const size_t bytes[] = {[HFI_SIZE] = sizeof(size_t),
                                   [HFI_REAL] = sizeof(double),
                                   [HFI_FLAG] = sizeof(bool),
                                   [HFI_CHOICE] = sizeof(unsigned)};
    for (size_t i = 0; i < count; i++) {
        const char *left = (const char *)a + fields[i].offset,
                   *right = (const char *)b + fields[i].offset;
        double x = 0.0, y = 0.0;
        if (fields[i].type == HFI_REAL) {
            memcpy(&x, left, sizeof x);
            memcpy(&y, right, sizeof y);
        }
        if (!(isnan(x) && isnan(y))) assert_memory_equal(left, right, bytes[fields[i].type]);
    }
}

static inline void assert_same_settings(const hf_fit_settings *a, const hf_fit_settings *b)
{
    hfi_setting_key room;
    hfi_file_field field;
    for (size_t i = 0; i < hf_fit_settings_table()->count; i++)
        if (hfi_setting_field(&hf_fit_settings_table()->row[i], &room, &field))
            assert_same_fields(&field, 1, a, b);
}

static inline void assert_same_model(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    assert_string_equal(hf_model_target(a), hf_model_target(b));
    assert_string_equal(hf_model_source(a), hf_model_source(b));
    assert_string_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    assert_int_equal(hf_model_features(a), hf_model_features(b));
    assert_int_equal(hf_model_skipped(a), hf_model_skipped(b));
    assert_int_equal(hf_model_notes(a), hf_model_notes(b));
    for (size_t i = 0; i < hf_model_notes(a); i++)
        assert_string_equal(hf_model_note(a, i), hf_model_note(b, i));
    const hf_fit_settings *left = hf_model_settings_of(a), *right = hf_model_settings_of(b);
    assert_same_settings(left, right);
    assert_string_equal(left->kernel, right->kernel);
    const hf_fit_report *p = hf_model_report_of(a), *q = hf_model_report_of(b);
    assert_same_fields(hfi_report_fields, hfi_report_field_count, p, q);
    assert_string_equal(p->at_bound_names, q->at_bound_names);
    for (size_t i = 0; i < hf_model_parameters(a); i++) {
        hf_parameter u, v;
        assert_int_equal(hf_model_parameter(a, i, &u), HF_OK);
        assert_int_equal(hf_model_parameter(b, i, &v), HF_OK);
        assert_string_equal(u.name, v.name);
        assert_true(u.value == v.value && u.lower == v.lower && u.upper == v.upper &&
                    u.fixed == v.fixed);
    }
    hf_table *rows[2] = {NULL, NULL};
    assert_int_equal(hf_model_rows(ctx, a, &rows[0]), HF_OK);
    assert_int_equal(hf_model_rows(ctx, b, &rows[1]), HF_OK);
    assert_same_table(ctx, rows[0], rows[1]);
    hf_table_free(rows[0]);
    hf_table_free(rows[1]);
}

/* An image of a small model, and a place to spoil copies of it. */
typedef struct image {
    hf_context *ctx;
    hf_model *model;
    unsigned char *bytes, *copy;
    size_t size;
} image;

static inline image image_of(hf_solver solver, hfi_factor_form form)
{
    image made = {.ctx = hf_context_create()};
    hf_table *table = wavy_table(made.ctx, 6, 0);
    hf_fit_settings settings = untrained();
    settings.solver = HF_SOLVER_EXACT;
    made.model = model_of(made.ctx, table, &settings);
    hf_table_free(table);
    if (solver != HF_SOLVER_EXACT) low_rank_replace(made.ctx, made.model, solver, form, 3);
    assert_int_equal(
        hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size), HF_OK);
    made.copy = malloc(made.size);
    assert_non_null(made.copy);
    memcpy(made.copy, made.bytes, made.size);
    return made;
}

static inline image image_make(void)
{
    return image_of(HF_SOLVER_EXACT, HFI_FORM_EXACT);
}

static inline void image_free(image *made)
{
    free(made->copy);
    sqlite3_free(made->bytes);
    hf_model_free(made->model);
    hf_context_free(made->ctx);
}

/* Changes content with SQLite's own means. `seal` makes the checksum right again: what is left to
 * detect is nonsense. */
static inline void change(image *made, const char *sql, bool seal)
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
    const hfi_file_tables tables = hfi_model_tables(made->bytes[63]);
    if (seal) assert_int_equal(hfi_tables_seal(db, &tables), SQLITE_OK);
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

#endif
