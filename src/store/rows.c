/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of positions, counted from 0, and what stands there: structs, lists of names, inputs, parameters of a kernel. */
#include "store/reader.h"
#include "store/writer.h"

#include <math.h>

/* ---- structs ------------------------------------------------------------------------------- */

void hfi_writer_rows(hfi_writer *w, const hfi_file_rows *rows, size_t count, size_t size, const void *objects)
{
    sqlite3_stmt *s = hfi_writer_prepare(w, rows->insert);
    for (size_t i = 0; i < count; i++) {
        hfi_sql_value values[HFI_MOST_ROW_FIELDS + 1] = {hfi_whole(i)};
        for (size_t k = 0; k < rows->fields; k++)
            values[k + 1] = hfi_file_field_value(&rows->field[k], (const char *)objects + i * size);
        hfi_writer_row(w, s, rows->fields + 1, values);
    }
    sqlite3_finalize(s);
}

static hf_status bad_row(const hfi_reader *r, const hfi_file_rows *rows, size_t position)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: its %s %zu is missing or not as it should be",
                    r->name, rows->noun, position + 1);
}

static hf_status bad_text(const hfi_reader *r, const char *noun)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: a name of %s is missing", r->name, noun);
}

/* The present row, which must be number `position`. */
static hf_status take_row(const hfi_reader *r, sqlite3_stmt *s, const hfi_file_rows *rows, size_t position,
                          void *object)
{
    if (sqlite3_column_int64(s, 0) != (sqlite3_int64)position) return bad_row(r, rows, position);
    for (size_t k = 0; k < rows->fields; k++) {
        const hfi_file_field *field = &rows->field[k];
        const hf_status status = hfi_file_field_take(&r->memory, s, (int)k + 1, field, object);
        if (status == HF_ERR_MEMORY) return hfi_out_of_memory(r->ctx);
        if (status < 0 && field->type >= HFI_TEXT) return bad_text(r, field->key);
        if (status < 0) return bad_row(r, rows, position);
    }
    return HF_OK;
}

hf_status hfi_reader_rows(const hfi_reader *r, const hfi_file_rows *rows, size_t count, size_t size,
                          void *objects)
{
    sqlite3_stmt *s = NULL;
    hf_status status = HF_OK;
    if (sqlite3_prepare_v2(r->db, rows->select, -1, &s, NULL) != SQLITE_OK) status = bad_row(r, rows, 0);
    for (size_t i = 0; i < count && status >= 0; i++)
        status = sqlite3_step(s) == SQLITE_ROW ? take_row(r, s, rows, i, (char *)objects + i * size)
                                               : bad_row(r, rows, i);
    if (status >= 0 && sqlite3_step(s) != SQLITE_DONE) status = bad_row(r, rows, count);
    sqlite3_finalize(s);
    return status;
}

size_t hfi_reader_count(const hfi_reader *r, const char *sql, size_t count, const hfi_sql_value *values)
{
    sqlite3_stmt *s = hfi_statement_row(r->db, sql, count, values);
    const sqlite3_int64 number = s != NULL ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return number > 0 ? (size_t)number : 0;
}

/* ---- lists of names ------------------------------------------------------------------------ */

void hfi_writer_texts(hfi_writer *w, const hfi_text_rows *rows, size_t of, size_t count,
                      const char *const *texts)
{
    sqlite3_stmt *s = hfi_writer_prepare(w, rows->insert);
    const size_t values = sqlite3_bind_parameter_count(s) > 2 ? 3 : 2;
    for (size_t i = 0; i < count; i++)
        hfi_writer_row(w, s, values, (hfi_sql_value[]){hfi_whole(i), hfi_text(texts[i]), hfi_whole(of)});
    sqlite3_finalize(s);
}

char **hfi_texts_copy(const hfi_memory *memory, const char *const *texts, size_t count)
{
    char **copies = hfi_memory_alloc(memory, count, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = hfi_memory_strdup(memory, texts[i]);
        if (copies[i] != NULL) continue;
        hfi_texts_free(memory, copies, i);
        return NULL;
    }
    return copies;
}

void hfi_texts_free(const hfi_memory *memory, char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) hfi_memory_free(memory, texts[i]);
    hfi_memory_free(memory, texts);
}

hf_status hfi_reader_texts(const hfi_reader *r, const hfi_text_rows *rows, size_t of, size_t count,
                           char ***out)
{
    const hfi_file_field field = {.key = rows->noun, .type = HFI_TEXT};
    const hfi_file_rows one = {.noun = rows->noun, .fields = 1, .field = &field};
    char **texts = hfi_memory_alloc(&r->memory, count, sizeof *texts);
    if (texts == NULL) return hfi_out_of_memory(r->ctx);
    *out = texts;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(r->db, rows->select, -1, &s, NULL);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(s) > 0)
        rc = hfi_statement_bind(s, HFI_VALUES(hfi_whole(of)));
    hf_status status = rc == SQLITE_OK ? HF_OK : hfi_reader_damaged(r, "its names cannot be read");
    for (size_t i = 0; i < count && status >= 0; i++)
        status = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) == (sqlite3_int64)i
                     ? take_row(r, s, &one, i, &texts[i])
                     : bad_text(r, rows->noun);
    if (status >= 0 && sqlite3_step(s) != SQLITE_DONE)
        status = hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has more names of %s than it should",
                          r->name, rows->noun);
    sqlite3_finalize(s);
    return status;
}

/* ---- inputs and kernel --------------------------------------------------------------------- */

typedef struct feature {
    char *name;
    double shift, scale;
} feature;

static const hfi_file_field feature_fields[] = {
    {.key = "an input", .type = HFI_TEXT, .offset = offsetof(feature, name)},
    {.type = HFI_REAL, .offset = offsetof(feature, shift)},
    {.type = HFI_REAL, .offset = offsetof(feature, scale)},
};
static const hfi_file_rows feature_rows = {
    .noun = "input",
    .select = "SELECT position, name, shift, scale FROM feature ORDER BY position",
    .fields = sizeof feature_fields / sizeof feature_fields[0],
    .field = feature_fields,
};

hf_status hfi_read_features(const hfi_reader *r, size_t d, char **names, double *shift, double *scale)
{
    feature *list = hfi_alloc(r->ctx, d, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_reader_rows(r, &feature_rows, d, sizeof *list, list);
    for (size_t j = 0; j < d; j++) {
        const feature *f = &list[j];
        names[j] = f->name;
        shift[j] = f->shift;
        scale[j] = f->scale;
        if (status >= 0 && (!isfinite(f->shift) || !(f->scale > 0.0) || !isfinite(f->scale)))
            status = bad_row(r, &feature_rows, j);
    }
    hfi_free(r->ctx, list);
    return status;
}

/* Value, box and held flag of a parameter. Earlier files may hold a value a rounding beyond its
 * bound: the bound moves. */
static bool read_parameter(sqlite3_stmt *s, hf_kernel *kernel, size_t i)
{
    const double value = sqlite3_column_double(s, 1);
    double lower = sqlite3_column_double(s, 2), upper = sqlite3_column_double(s, 3);
    if (!hfi_kernel_parameter_real(kernel, i) && value > 0.0) {
        if (value < lower && hfi_kernel_on_bound(value, lower)) lower = value;
        if (value > upper && hfi_kernel_on_bound(value, upper)) upper = value;
    }
    return isfinite(value) &&
           hfi_kernel_set_parameter(kernel, i, value, lower, upper, sqlite3_column_int(s, 4) != 0) >= 0;
}

static hf_status read_parameters(const hfi_reader *r, hf_kernel *kernel)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT position, value, lower, upper, held FROM parameter ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its parameters cannot be read");
    hf_status status = HF_OK;
    size_t i = 0, count = hf_kernel_parameters(kernel);
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; i++) {
        const bool fits = i < count && sqlite3_column_int64(s, 0) == (sqlite3_int64)i;
        if (!fits || !read_parameter(s, kernel, i))
            status = hfi_reader_damaged(r, "a parameter is not as it should be");
    }
    sqlite3_finalize(s);
    return status >= 0 && i != count ? hfi_reader_damaged(r, "parameters are missing") : status;
}

hf_status hfi_read_kernel(const hfi_reader *r, const char *expression, const char *const *features, size_t d,
                          hf_kernel **out)
{
    hf_kernel *kernel = NULL;
    hf_status status = hf_kernel_parse(r->ctx, expression, features, d, &kernel);
    if (status < 0)
        return status == HF_ERR_MEMORY ? status : hfi_reader_damaged(r, "its kernel cannot be read");
    status = read_parameters(r, kernel);
    if (status < 0)
        hf_kernel_free(kernel);
    else
        *out = kernel;
    return status;
}
