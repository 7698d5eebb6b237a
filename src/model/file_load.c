/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a file to a model, believing nothing. */
#include "model/file.h"

#include "data/text.h"

#include <math.h>
#include <string.h>

/* What is being read, for the helpers below. */
typedef struct reader {
    hf_context *ctx;
    sqlite3 *db;
    const char *name; /* of the file */
    hf_model *model;
} reader;

static hf_status damaged(const reader *r, const char *what)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: %s", r->name, what);
}

/* ---- before SQLite sees it --------------------------------------------------------------------------------
 */

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

static bool looks_like_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < 512; i++)
        if (bytes[i] < 32 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') return false;
    return size > 0;
}

/* The database header (100 bytes) says what the file is, which format it has, and how long it must be. */
static hf_status check_header(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name)
{
    static const char magic[16] = "SQLite format 3";
    if (size == 0) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: empty file, not a Holdfast model", name);
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return hfi_fail(
            ctx, HF_ERR_MODEL_FILE, "%s: not a Holdfast model file%s", name,
            looks_like_text(bytes, size) ? " but text; is it the data? Make a model with holdfast fit" : "");
    if (size < 512) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: truncated after %zu bytes", name, size);
    if (big_endian(bytes + 68) != HFI_APPLICATION_ID)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: a SQLite database, but not a Holdfast model", name);
    uint32_t version = big_endian(bytes + 60);
    if (version > HFI_FORMAT_VERSION)
        return hfi_fail(
            ctx, HF_ERR_MODEL_FILE,
            "%s: written by a newer Holdfast (format %u, this one reads up to %u); update Holdfast or fit "
            "again",
            name, (unsigned)version, (unsigned)HFI_FORMAT_VERSION);
    if (version == 0) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has no format version", name);
    uint64_t page = (uint64_t)bytes[16] << 8 | bytes[17];
    if (page == 1) page = 65536;
    uint64_t expected = page * big_endian(bytes + 28);
    if (size < expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: truncated: %zu bytes of %llu; copy it again or fit again", name, size,
                        (unsigned long long)expected);
    if (size > expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: %zu bytes where there should be %llu", name,
                        size, (unsigned long long)expected);
    return HF_OK;
}

/* ---- the database as such ---------------------------------------------------------------------------------
 */

static int open_image(sqlite3 **db, const unsigned char *bytes, size_t size)
{
    int rc = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
    if (rc != SQLITE_OK) return rc;
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* No value can be longer than the file it is in, whatever the file says. */
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, size < INT32_MAX ? (int)size : INT32_MAX);
    /* Read only: SQLite does not touch the bytes, though its interface cannot say so. */
    unsigned char *image = (unsigned char *)(uintptr_t)bytes;
    rc = sqlite3_deserialize(*db, "main", image, (sqlite3_int64)size, (sqlite3_int64)size,
                             SQLITE_DESERIALIZE_READONLY);
    if (rc == SQLITE_OK) rc = sqlite3_exec(*db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return rc;
}

static hf_status check_integrity(reader *r)
{
    sqlite3_stmt *statement = NULL;
    bool sound = sqlite3_prepare_v2(r->db, "PRAGMA integrity_check(1)", -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL &&
                 strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    return sound ? HF_OK : damaged(r, "the database is not intact");
}

/* ---- meta -------------------------------------------------------------------------------------------------
 */

/* Positions a statement at the value of a key (column 0). NULL when there is none. */
static sqlite3_stmt *meta(const reader *r, const char *key)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT value FROM meta WHERE key = ?1", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

static hf_status bad_key(const reader *r, const char *key)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: \"%s\" is missing or not as it should be",
                    r->name, key);
}

/* Text without zero bytes, as a copy. `optional`: NULL is fine. */
static hf_status meta_text(const reader *r, const char *key, bool optional, char **out)
{
    sqlite3_stmt *statement = meta(r, key);
    if (statement == NULL) return bad_key(r, key);
    hf_status status = HF_OK;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (sqlite3_column_type(statement, 0) == SQLITE_NULL && optional) {
        *out = NULL;
    } else if (sqlite3_column_type(statement, 0) != SQLITE_TEXT || text == NULL ||
               strlen(text) != (size_t)sqlite3_column_bytes(statement, 0)) {
        status = bad_key(r, key);
    } else {
        *out = hfi_memory_strdup(&r->model->memory, text);
        if (*out == NULL) status = hfi_out_of_memory(r->ctx);
    }
    sqlite3_finalize(statement);
    return status;
}

static hf_status meta_field(const reader *r, const hfi_field *field, void *object)
{
    sqlite3_stmt *statement = meta(r, field->key);
    bool taken = statement != NULL && hfi_field_take(statement, 0, field, object);
    sqlite3_finalize(statement);
    return taken ? HF_OK : bad_key(r, field->key);
}

static hf_status meta_size(const reader *r, const char *key, size_t *out)
{
    const hfi_field field = {key, HFI_SIZE, 0, NULL, 0};
    return meta_field(r, &field, out);
}

static hf_status meta_flag(const reader *r, const char *key, bool *out)
{
    const hfi_field field = {key, HFI_FLAG, 0, NULL, 0};
    return meta_field(r, &field, out);
}

/* A finite number of at least `lowest`. */
static hf_status meta_double(const reader *r, const char *key, double lowest, double *out)
{
    const hfi_field field = {key, HFI_REAL, 0, NULL, 0};
    hf_status status = meta_field(r, &field, out);
    return status >= 0 && !(*out >= lowest && isfinite(*out)) ? bad_key(r, key) : status;
}

static hf_status read_fields(const reader *r)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < hfi_settings_field_count && status >= 0; i++)
        status = meta_field(r, &hfi_settings_fields[i], &r->model->settings);
    for (size_t i = 0; i < hfi_report_field_count && status >= 0; i++)
        status = meta_field(r, &hfi_report_fields[i], &r->model->report);
    char *names = NULL;
    if (status >= 0) status = meta_text(r, "report.at_bound_names", false, &names);
    if (status >= 0) {
        size_t room = sizeof r->model->report.at_bound_names - 1, length = strlen(names);
        memcpy(r->model->report.at_bound_names, names, length < room ? length : room);
    }
    hfi_memory_free(&r->model->memory, names);
    return status;
}

static hf_status read_names(const reader *r)
{
    hf_model *model = r->model;
    char *checksum = NULL;
    hf_status status = meta_text(r, "source", false, &model->source);
    if (status >= 0) status = meta_text(r, "target", false, &model->target);
    if (status >= 0) status = meta_text(r, "noise_column", true, &model->noise_column);
    if (status >= 0) status = meta_text(r, "kernel", false, &model->kernel);
    if (status >= 0) status = meta_text(r, "data_sha256", false, &checksum);
    if (status >= 0 && strlen(checksum) != HFI_SHA256_HEX - 1) status = bad_key(r, "data_sha256");
    if (status >= 0) memcpy(model->checksum, checksum, HFI_SHA256_HEX);
    hfi_memory_free(&model->memory, checksum);
    model->settings.kernel = model->kernel;
    return status;
}

static hf_status check_digest(const reader *r)
{
    char *stored = NULL, hex[HFI_SHA256_HEX];
    hf_status status = meta_text(r, "content_sha256", false, &stored);
    if (status < 0) return status;
    bool same = hfi_schema_digest(r->db, hex) == SQLITE_OK && strcmp(hex, stored) == 0;
    hfi_memory_free(&r->model->memory, stored);
    return same ? HF_OK : damaged(r, "its content does not match its checksum; copy it again or fit again");
}

/* ---- names, parameters, notes
 * ------------------------------------------------------------------------------ */

static hf_status read_features(const reader *r, hfi_scaling *scaling)
{
    hf_model *model = r->model;
    model->feature = hfi_alloc(r->ctx, model->d, sizeof *model->feature);
    if (model->feature == NULL) return HF_ERR_MEMORY;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT position, name, shift, scale FROM feature ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return damaged(r, "its inputs cannot be read");
    hf_status status = HF_OK;
    size_t j = 0;
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; j++) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        double shift = sqlite3_column_double(s, 2), scale = sqlite3_column_double(s, 3);
        if (j >= model->d || sqlite3_column_int64(s, 0) != (sqlite3_int64)j || name == NULL ||
            !isfinite(shift) || !(scale > 0.0) || !isfinite(scale)) {
            status = damaged(r, "an input is not as it should be");
            break;
        }
        scaling->x_shift[j] = shift;
        scaling->x_scale[j] = scale;
        model->feature[j] = hfi_memory_strdup(&model->memory, name);
        if (model->feature[j] == NULL) status = hfi_out_of_memory(r->ctx);
    }
    sqlite3_finalize(s);
    return status >= 0 && j != model->d ? damaged(r, "inputs are missing") : status;
}

static hf_status read_kernel(const reader *r, hf_kernel **out)
{
    hf_kernel *kernel = NULL;
    const hf_model *model = r->model;
    hf_status status =
        hf_kernel_parse(r->ctx, model->kernel, (const char *const *)model->feature, model->d, &kernel);
    if (status < 0) return status == HF_ERR_MEMORY ? status : damaged(r, "its kernel cannot be read");
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT position, value, lower, upper, held FROM parameter ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        status = damaged(r, "its parameters cannot be read");
    size_t i = 0, count = hf_kernel_parameters(kernel);
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; i++) {
        bool fits = i < count && sqlite3_column_int64(s, 0) == (sqlite3_int64)i;
        double value = sqlite3_column_double(s, 1);
        if (!fits || !isfinite(value) ||
            hfi_kernel_set_parameter(kernel, i, value, sqlite3_column_double(s, 2),
                                     sqlite3_column_double(s, 3), sqlite3_column_int(s, 4) != 0) < 0)
            status = damaged(r, "a parameter is not as it should be");
    }
    sqlite3_finalize(s);
    if (status >= 0 && i != count) status = damaged(r, "parameters are missing");
    if (status < 0)
        hf_kernel_free(kernel);
    else
        *out = kernel;
    return status;
}

static hf_status read_notes(const reader *r)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT text FROM note ORDER BY position", -1, &s, NULL) != SQLITE_OK)
        return damaged(r, "its notes cannot be read");
    hf_status status = HF_OK;
    while (status >= 0 && sqlite3_step(s) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        status =
            text != NULL ? hfi_model_note(r->ctx, r->model, "%s", text) : damaged(r, "a note is missing");
    }
    sqlite3_finalize(s);
    return status;
}

/* ---- arrays
 * ------------------------------------------------------------------------------------------------ */

static double unpack(const unsigned char *bytes)
{
    uint64_t bits = 0;
    double value;
    for (unsigned b = 0; b < 8; b++) bits |= (uint64_t)bytes[b] << (8U * b);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exactly rows x columns numbers into `out`; `missing`: NaN is fine. */
static hf_status read_array(const reader *r, const char *array, size_t rows, size_t columns, bool missing,
                            double *out)
{
    sqlite3_stmt *s = NULL;
    bool good = sqlite3_prepare_v2(r->db, "SELECT rows, columns, data FROM array WHERE name = ?1", -1, &s,
                                   NULL) == SQLITE_OK &&
                sqlite3_bind_text(s, 1, array, -1, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) == (sqlite3_int64)rows &&
                sqlite3_column_int64(s, 1) == (sqlite3_int64)columns &&
                sqlite3_column_type(s, 2) == SQLITE_BLOB;
    const unsigned char *bytes = good ? sqlite3_column_blob(s, 2) : NULL;
    size_t count = rows * columns;
    good = good && (size_t)sqlite3_column_bytes(s, 2) == 8 * count && (bytes != NULL || count == 0);
    for (size_t i = 0; good && i < count; i++) {
        out[i] = unpack(bytes + 8 * i);
        good = isfinite(out[i]) || (missing && isnan(out[i]));
    }
    sqlite3_finalize(s);
    return good ? HF_OK
                : hfi_fail(r->ctx, HF_ERR_MODEL_FILE,
                           "%s: damaged: array \"%s\" is missing or not as it should be", r->name, array);
}

static bool has_array(const reader *r, const char *array)
{
    sqlite3_stmt *s = NULL;
    bool found =
        sqlite3_prepare_v2(r->db, "SELECT 1 FROM array WHERE name = ?1", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_bind_text(s, 1, array, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

/* An array of whole numbers from 0 on. */
static bool is_count(double value)
{
    return value >= 0.0 && value <= 9007199254740992.0 && value == floor(value);
}

static hf_status read_readings(const reader *r, double *values)
{
    hf_model *model = r->model;
    size_t n = model->n;
    bool good = true;
    hf_status status = read_array(r, "row_number", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && is_count(values[i]);
        model->row[i] = good ? (size_t)values[i] : 0;
    }
    if (status >= 0) status = read_array(r, "row_weight", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && values[i] >= 0.0 && values[i] <= 1.0;
        model->reading[i].weight = values[i];
    }
    if (status >= 0) status = read_array(r, "row_suspected", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && (values[i] == 0.0 || values[i] == 1.0);
        model->reading[i].suspected = values[i] == 1.0;
    }
    if (status >= 0) status = read_array(r, "row_group", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && is_count(values[i]);
        model->reading[i].group = good ? (size_t)values[i] : 0;
    }
    return status >= 0 && !good ? damaged(r, "what it says about its rows makes no sense") : status;
}

static hf_status read_rows(const reader *r)
{
    hf_model *model = r->model;
    hf_status status = hfi_model_reserve(r->ctx, model, model->n, model->d, has_array(r, "row_noise"));
    if (status >= 0) status = read_array(r, "row_inputs", model->n, model->d, false, model->x);
    if (status >= 0) status = read_array(r, "row_target", model->n, 1, true, model->y);
    if (status >= 0 && model->extra != NULL)
        status = read_array(r, "row_noise", model->n, 1, false, model->extra);
    double *values = status >= 0 ? hfi_alloc(r->ctx, model->n, sizeof *values) : NULL;
    if (status >= 0) status = values != NULL ? read_readings(r, values) : HF_ERR_MEMORY;
    hfi_free(r->ctx, values);
    return status;
}

/* ---- the posterior
 * ----------------------------------------------------------------------------------------- */

static hf_status read_mean(const reader *r, hf_mean **out)
{
    char *name = NULL;
    hf_mean_kind kind;
    bool held = false;
    hf_mean *mean = NULL;
    double *values = NULL;
    hf_status status = meta_text(r, "mean", false, &name);
    if (status >= 0 && hf_mean_kind_parse(r->ctx, name, &kind) < 0) status = bad_key(r, "mean");
    hfi_memory_free(&r->model->memory, name);
    if (status >= 0) status = meta_flag(r, "mean_held", &held);
    if (status >= 0) status = hf_mean_create(r->ctx, kind, r->model->d, &mean);
    size_t count = status >= 0 ? hf_mean_coefficients(mean) : 0;
    if (status >= 0 && (values = hfi_alloc(r->ctx, count, sizeof *values)) == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = read_array(r, "mean", count, 1, false, values);
    if (status >= 0) status = hf_mean_set(r->ctx, mean, values, held);
    hfi_free(r->ctx, values);
    if (status < 0)
        hf_mean_free(mean);
    else
        *out = mean;
    return status;
}

static hf_status reserve_solution(const reader *r, size_t n, hfi_solution *solution)
{
    size_t d = r->model->d, cells = 0;
    double bytes, flops;
    hfi_exact_cost(n, d, &bytes, &flops);
    size_t available = hfi_available_memory();
    if (!hfi_size_mul(n, n, &cells) || (available != SIZE_MAX && bytes > (double)available))
        return hfi_fail(r->ctx, HF_ERR_TOO_LARGE,
                        "%s: a model of %zu readings needs %.3g GB of memory, %.3g GB are free", r->name, n,
                        bytes / 1e9, (double)available / 1e9);
    solution->memory = hfi_context_memory(r->ctx);
    solution->form = HFI_FORM_EXACT;
    solution->solver = HF_SOLVER_EXACT;
    solution->n = solution->capacity = n;
    solution->d = d;
    solution->z = hfi_alloc(r->ctx, n * d, sizeof(double));
    solution->residual = hfi_alloc(r->ctx, n, sizeof(double));
    solution->variance = hfi_alloc(r->ctx, n, sizeof(double));
    solution->t = hfi_alloc(r->ctx, n, sizeof(double));
    solution->factor = hfi_alloc(r->ctx, cells, sizeof(double));
    bool complete = solution->z != NULL && solution->residual != NULL && solution->variance != NULL &&
                    solution->t != NULL && solution->factor != NULL;
    return complete ? HF_OK : HF_ERR_MEMORY;
}

/* The weights that follow from what is in the file must be the ones that are in the file, up to what rounding
 * on another machine can do to them. The stored ones are kept: a model predicts the same wherever it is
 * loaded. */
static hf_status check_weights(const reader *r, hfi_solution *solution, const double *stored)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < solution->n; i++) {
        difference = fmax(difference, fabs(solution->t[i] - stored[i]));
        size = fmax(size, fabs(stored[i]));
    }
    double allowed = fmin(1e-2, 1e-10 + 1e-13 * solution->condition);
    if (!(difference <= allowed * size))
        return damaged(r, "its weights do not follow from its readings and parameters");
    memcpy(solution->t, stored, solution->n * sizeof *stored);
    return HF_OK;
}

static hf_status read_solution(const reader *r, const hf_kernel *kernel, hfi_solution *solution)
{
    size_t n = 0;
    hf_status status = meta_size(r, "anchors", &n);
    if (status >= 0 && (n == 0 || n > r->model->n)) status = bad_key(r, "anchors");
    if (status >= 0) status = reserve_solution(r, n, solution);
    double *stored = status >= 0 ? hfi_alloc(r->ctx, n, sizeof *stored) : NULL;
    if (status >= 0 && stored == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = read_array(r, "anchor_inputs", n, r->model->d, false, solution->z);
    if (status >= 0) status = read_array(r, "anchor_residual", n, 1, false, solution->residual);
    if (status >= 0) status = read_array(r, "anchor_variance", n, 1, false, solution->variance);
    if (status >= 0) status = read_array(r, "anchor_weight", n, 1, false, stored);
    for (size_t i = 0; status >= 0 && i < n; i++)
        if (!(solution->variance[i] >= 0.0)) status = damaged(r, "a noise variance is negative");
    if (status >= 0) {
        status = hfi_solution_refresh(r->ctx, kernel, solution);
        if (status < 0 && status != HF_ERR_MEMORY)
            status = damaged(r, "its covariance matrix cannot be factored");
    }
    if (status >= 0) status = check_weights(r, solution, stored);
    hfi_free(r->ctx, stored);
    return status;
}

static hf_status read_posterior(const reader *r)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hfi_scaling scaling = {0};
    hfi_solution solution = {0};
    double noise = 0.0, calibration = 1.0;
    hf_status status = hfi_scaling_identity(r->ctx, r->model->d, &scaling);
    if (status >= 0) status = read_features(r, &scaling);
    if (status >= 0) status = meta_double(r, "target_shift", -INFINITY, &scaling.y_shift);
    if (status >= 0) status = meta_double(r, "target_scale", 0.0, &scaling.y_scale);
    if (status >= 0 && !(scaling.y_scale > 0.0)) status = bad_key(r, "target_scale");
    if (status >= 0) status = meta_double(r, "noise", 0.0, &noise);
    if (status >= 0) status = meta_double(r, "calibration", 1.0, &calibration);
    if (status >= 0) status = read_kernel(r, &kernel);
    if (status >= 0) status = read_mean(r, &mean);
    if (status >= 0) status = read_solution(r, kernel, &solution);
    if (status >= 0)
        status = hfi_posterior_create(r->ctx, kernel, mean, &solution, &scaling, noise, calibration,
                                      &r->model->posterior);
    hfi_solution_free(&solution); /* empty once the posterior has it */
    hfi_scaling_free(&scaling);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}

/* ---- the whole
 * --------------------------------------------------------------------------------------------- */

static hf_status check_anchors(const reader *r)
{
    size_t anchors = 0;
    for (size_t i = 0; i < r->model->n; i++) anchors += r->model->reading[i].weight > 0.0;
    return anchors == hf_posterior_anchors(r->model->posterior)
               ? HF_OK
               : damaged(r, "its rows and its anchors do not agree");
}

static hf_status read_model(reader *r)
{
    hf_status status = check_integrity(r);
    if (status >= 0) status = hfi_schema_check(r->ctx, r->db, r->name);
    if (status >= 0) status = check_digest(r);
    if (status >= 0) status = read_names(r);
    if (status >= 0) status = read_fields(r);
    size_t n = 0, d = 0;
    if (status >= 0) status = meta_size(r, "inputs", &d);
    if (status >= 0) status = meta_size(r, "rows", &n);
    if (status >= 0) status = meta_size(r, "rows_skipped", &r->model->skipped);
    if (status >= 0) status = meta_flag(r, "noise_held", &r->model->noise_held);
    /* More rows or inputs than the file has bytes for cannot be: refuse before anything is allocated for
     * them. */
    sqlite3_int64 limit = sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, -1);
    if (status >= 0 && (d == 0 || n == 0 || d > (size_t)limit || n > (size_t)limit / d))
        status = bad_key(r, "rows");
    r->model->d = d;
    r->model->n = n;
    if (status >= 0) status = read_posterior(r);
    if (status >= 0) status = read_rows(r);
    if (status >= 0) status = check_anchors(r);
    if (status >= 0) status = read_notes(r);
    if (status >= 0) status = hfi_model_finish(r->ctx, r->model);
    return status;
}

hf_status hfi_model_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                               hf_model **out)
{
    hf_status status = check_header(ctx, bytes, size, name);
    if (status < 0) return status;
    reader r = {.ctx = ctx, .name = name, .model = hfi_model_new(ctx)};
    if (r.model == NULL) return HF_ERR_MEMORY;
    int rc = open_image(&r.db, bytes, size);
    if (rc == SQLITE_NOMEM)
        status = hfi_out_of_memory(ctx);
    else
        status = rc == SQLITE_OK ? read_model(&r) : damaged(&r, "SQLite cannot open it");
    sqlite3_close(r.db);
    if (status < 0) {
        hf_model_free(r.model);
        return status;
    }
    *out = r.model;
    return HF_OK;
}

hf_status hf_model_load(hf_context *ctx, const char *path, hf_model **out)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_load: context, path and out must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_file_read(ctx, path, &bytes, &size);
    if (status < 0) return status;
    status = hfi_model_from_bytes(ctx, bytes, size, path, out);
    hfi_free(ctx, bytes);
    return status;
}
