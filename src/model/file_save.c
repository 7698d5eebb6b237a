/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a database image, and that image as a file. */
#include "model/file.h"

#include "data/atomic_file.h"

#include <holdfast/version.h>
#include <math.h>
#include <string.h>

/* A database being filled; the first failure sticks and the rest is skipped. */
typedef struct writer {
    hf_context *ctx;
    sqlite3 *db;
    unsigned version; /* of the format */
    size_t piece;     /* bytes of an entry of the table array, at most (one row at least) */
    int rc;
} writer;

/* Runs a statement whose parameters are bound and makes it ready for the next row. */
static void step(writer *w, sqlite3_stmt *statement)
{
    if (w->rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE) w->rc = sqlite3_errcode(w->db);
    sqlite3_reset(statement);
}

static sqlite3_stmt *prepare(writer *w, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (w->rc == SQLITE_OK) w->rc = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL);
    return statement;
}

static void bind_text(writer *w, sqlite3_stmt *statement, int at, const char *text)
{
    if (w->rc == SQLITE_OK)
        w->rc = text != NULL ? sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC)
                             : sqlite3_bind_null(statement, at);
}

static void bind_double(writer *w, sqlite3_stmt *statement, int at, double value)
{
    if (w->rc == SQLITE_OK) w->rc = sqlite3_bind_double(statement, at, value);
}

static void bind_size(writer *w, sqlite3_stmt *statement, int at, size_t value)
{
    if (w->rc == SQLITE_OK) w->rc = sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
}

/* ---- meta ------------------------------------------------------------------------------------------------
 */

static void meta_text(writer *w, sqlite3_stmt *statement, const char *key, const char *text)
{
    bind_text(w, statement, 1, key);
    bind_text(w, statement, 2, text);
    step(w, statement);
}

static void meta_size(writer *w, sqlite3_stmt *statement, const char *key, size_t value)
{
    bind_text(w, statement, 1, key);
    bind_size(w, statement, 2, value);
    step(w, statement);
}

static void meta_double(writer *w, sqlite3_stmt *statement, const char *key, double value)
{
    bind_text(w, statement, 1, key);
    bind_double(w, statement, 2, value);
    step(w, statement);
}

static void meta_fields(writer *w, sqlite3_stmt *statement, const hfi_field *fields, size_t count,
                        const void *object)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].since > w->version) continue;
        bind_text(w, statement, 1, fields[i].key);
        if (w->rc == SQLITE_OK) w->rc = hfi_field_bind(statement, 2, &fields[i], object);
        step(w, statement);
    }
}

static void write_form(writer *w, sqlite3_stmt *statement, const hfi_solution *solution)
{
    meta_text(w, statement, "solver", hf_solver_name(solution->solver));
    meta_text(w, statement, "form", hfi_form_names[solution->form]);
    meta_size(w, statement, "anchors", solution->n);
    if (solution->form == HFI_FORM_EXACT) return; /* what follows comes with the factor */
    meta_size(w, statement, "rank", solution->rank);
    meta_double(w, statement, "jitter", solution->jitter);
    meta_double(w, statement, "condition", solution->condition);
    meta_double(w, statement, "backward", solution->backward);
}

static void write_meta(writer *w, const hf_model *model)
{
    const hf_posterior *posterior = model->posterior;
    sqlite3_stmt *statement = prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    meta_text(w, statement, "format", "holdfast model");
    meta_text(w, statement, "library", hf_version());
    meta_text(w, statement, "source", model->source);
    meta_text(w, statement, "target", model->target);
    meta_text(w, statement, "noise_column", model->noise_column);
    meta_text(w, statement, "data_sha256", model->checksum);
    meta_size(w, statement, "inputs", model->d);
    meta_size(w, statement, "rows", model->n);
    meta_size(w, statement, "rows_skipped", model->skipped);
    write_form(w, statement, &posterior->solution);
    meta_text(w, statement, "kernel", model->kernel);
    meta_text(w, statement, "mean", hf_mean_kind_name(hf_mean_get_kind(posterior->mean)));
    meta_size(w, statement, "mean_held", hf_mean_held(posterior->mean) ? 1 : 0);
    meta_double(w, statement, "target_shift", posterior->scaling.y_shift);
    meta_double(w, statement, "target_scale", posterior->scaling.y_scale);
    meta_double(w, statement, "noise", posterior->noise);
    meta_size(w, statement, "noise_held", model->noise_held ? 1 : 0);
    meta_double(w, statement, "calibration", posterior->calibration);
    meta_text(w, statement, "report.at_bound_names", model->report.at_bound_names);
    meta_fields(w, statement, hfi_settings_fields, hfi_settings_field_count, &model->settings);
    meta_fields(w, statement, hfi_report_fields, hfi_report_field_count, &model->report);
    if (w->version >= 3) {
        meta_size(w, statement, "outputs", model->outputs);
        meta_text(w, statement, "output_column", model->output_column);
        meta_text(w, statement, "output_input", model->outputs > 1 ? model->feature[model->d] : NULL);
    }
    sqlite3_finalize(statement);
}

/* ---- names and parameters ---------------------------------------------------------------------------------
 */

static void write_features(writer *w, const hf_model *model)
{
    const hfi_scaling *scaling = &model->posterior->scaling;
    sqlite3_stmt *statement =
        prepare(w, "INSERT INTO feature (position, name, shift, scale) VALUES (?1, ?2, ?3, ?4)");
    for (size_t j = 0; j < model->d; j++) {
        bind_size(w, statement, 1, j);
        bind_text(w, statement, 2, model->feature[j]);
        bind_double(w, statement, 3, scaling->x_shift[j]);
        bind_double(w, statement, 4, scaling->x_scale[j]);
        step(w, statement);
    }
    sqlite3_finalize(statement);
}

/* Of a single output nothing is here that is not in the table meta. */
static void write_outputs(writer *w, const hf_model *model)
{
    if (model->outputs == 1) return;
    const hf_posterior *posterior = model->posterior;
    sqlite3_stmt *statement =
        prepare(w, "INSERT INTO output (position, name, shift, scale, noise, noise_held) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    for (size_t t = 0; t < model->outputs; t++) {
        bind_size(w, statement, 1, t);
        bind_text(w, statement, 2, model->output[t]);
        bind_double(w, statement, 3, hfi_scaling_shift(&posterior->scaling, t));
        bind_double(w, statement, 4, hfi_scaling_scale(&posterior->scaling, t));
        bind_double(w, statement, 5, hfi_posterior_noise(posterior, t));
        bind_size(w, statement, 6, model->noises_held[t] ? 1 : 0);
        step(w, statement);
    }
    sqlite3_finalize(statement);
}

static void write_parameters(writer *w, const hf_model *model)
{
    sqlite3_stmt *statement =
        prepare(w, "INSERT INTO parameter (position, name, value, lower, upper, held, user_value) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    for (size_t i = 0; i < hf_kernel_parameters(model->posterior->kernel); i++) {
        hf_parameter internal = {0}, user = {0};
        if (hf_kernel_parameter(model->posterior->kernel, i, &internal) < 0 ||
            hfi_model_kernel_parameter(model, i, &user) < 0)
            w->rc = SQLITE_INTERNAL;
        bind_size(w, statement, 1, i);
        bind_text(w, statement, 2, internal.name);
        bind_double(w, statement, 3, internal.value);
        bind_double(w, statement, 4, internal.lower);
        bind_double(w, statement, 5, internal.upper);
        bind_size(w, statement, 6, internal.fixed ? 1 : 0);
        bind_double(w, statement, 7, user.value);
        step(w, statement);
    }
    sqlite3_finalize(statement);
}

static void write_notes(writer *w, const hf_model *model)
{
    sqlite3_stmt *statement = prepare(w, "INSERT INTO note (position, text) VALUES (?1, ?2)");
    for (size_t i = 0; i < model->notes; i++) {
        bind_size(w, statement, 1, i);
        bind_text(w, statement, 2, model->note[i]);
        step(w, statement);
    }
    sqlite3_finalize(statement);
}

/* ---- arrays -----------------------------------------------------------------------------------------------
 */

/* Doubles as little-endian bytes, row by row. */
static void pack(unsigned char *out, size_t count, const double *values)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (unsigned b = 0; b < 8; b++) out[8 * i + b] = (unsigned char)(bits >> (8U * b));
    }
}

static void write_piece(writer *w, const char *name, size_t rows, size_t columns, const double *values)
{
    if (w->rc != SQLITE_OK) return;
    unsigned char *bytes = hfi_alloc(w->ctx, rows * columns, 8);
    if (bytes == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    pack(bytes, rows * columns, values);
    sqlite3_stmt *statement =
        prepare(w, "INSERT INTO array (name, rows, columns, data) VALUES (?1, ?2, ?3, ?4)");
    bind_text(w, statement, 1, name);
    bind_size(w, statement, 2, rows);
    bind_size(w, statement, 3, columns);
    if (w->rc == SQLITE_OK)
        w->rc = sqlite3_bind_blob64(statement, 4, bytes, 8 * rows * columns, SQLITE_STATIC);
    step(w, statement);
    sqlite3_finalize(statement);
    hfi_free(w->ctx, bytes);
}

/* In one piece if it is small enough, else rows 0 .. in "name/0" and so on. */
static void write_array(writer *w, const char *name, size_t rows, size_t columns, const double *values)
{
    size_t most = columns > 0 ? w->piece / 8 / columns : rows;
    if (rows <= most || rows <= 1) {
        write_piece(w, name, rows, columns, values);
        return;
    }
    if (most == 0) most = 1;
    for (size_t first = 0, k = 0; first < rows; first += most, k++) {
        char numbered[64];
        sqlite3_snprintf(sizeof numbered, numbered, "%s/%llu", name, (unsigned long long)k);
        write_piece(w, numbered, rows - first < most ? rows - first : most, columns,
                    values + first * columns);
    }
}

/* Row by row, with zeros above the diagonal, where the solution has scratch. */
static void write_factor(writer *w, const char *name, size_t n, const double *l)
{
    double *rows = hfi_alloc(w->ctx, n, n * sizeof *rows);
    if (rows == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) rows[i * n + j] = l[i + j * n];
    write_array(w, name, n, n, rows);
    hfi_free(w->ctx, rows);
}

static void write_solution(writer *w, const hfi_solution *solution)
{
    size_t n = solution->n;
    write_array(w, "anchor_inputs", n, solution->d, solution->z);
    if (solution->residual != NULL) write_array(w, "anchor_residual", n, 1, solution->residual);
    if (solution->variance != NULL) write_array(w, "anchor_variance", n, 1, solution->variance);
    write_array(w, "anchor_weight", n, 1, solution->t);
    if (solution->form == HFI_FORM_DENSE) write_array(w, "projection", solution->rank, n, solution->r);
    if (solution->form != HFI_FORM_BLOCKS) return;
    double *values = hfi_alloc(w->ctx, n, sizeof *values);
    if (values == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    for (size_t l = 0; l < n; l++) values[l] = (double)solution->block[l];
    write_array(w, "anchor_block", n, 1, values);
    hfi_free(w->ctx, values);
    write_array(w, "anchor_entry", n, 1, solution->entry);
    write_factor(w, "action_factor", solution->rank, solution->factor);
}

typedef double reading_number(const hf_model *model, size_t i);

static double row_number(const hf_model *model, size_t i)
{
    return (double)model->row[i];
}

static double row_weight(const hf_model *model, size_t i)
{
    return model->reading[i].weight;
}

static double row_suspected(const hf_model *model, size_t i)
{
    return model->reading[i].suspected ? 1.0 : 0.0;
}

static double row_group(const hf_model *model, size_t i)
{
    return (double)model->reading[i].group;
}

static double row_loo_mean(const hf_model *model, size_t i)
{
    return model->reading[i].loo_mean;
}

static double row_loo_var(const hf_model *model, size_t i)
{
    return model->reading[i].loo_var;
}

/* `values`: scratch of a number for each row. */
static void write_reading(writer *w, const char *name, const hf_model *model, reading_number *number,
                          double *values)
{
    for (size_t i = 0; i < model->n; i++) values[i] = number(model, i);
    write_array(w, name, model->n, 1, values);
}

static void write_arrays(writer *w, const hf_model *model)
{
    write_array(w, "mean", hf_mean_coefficients(model->posterior->mean), 1,
                hf_mean_values(model->posterior->mean));
    write_solution(w, &model->posterior->solution);
    write_array(w, "row_inputs", model->n, model->width, model->x);
    write_array(w, "row_target", model->n, 1, model->y);
    if (model->extra != NULL) write_array(w, "row_noise", model->n, 1, model->extra);
    if (model->output_eps != NULL) write_array(w, "output_eps", model->outputs, 1, model->output_eps);
    double *values = hfi_alloc(w->ctx, model->n, sizeof *values);
    if (values == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    write_reading(w, "row_number", model, row_number, values);
    write_reading(w, "row_weight", model, row_weight, values);
    write_reading(w, "row_suspected", model, row_suspected, values);
    write_reading(w, "row_group", model, row_group, values);
    if (model->posterior->solution.form != HFI_FORM_EXACT) {
        write_reading(w, "row_loo_mean", model, row_loo_mean, values);
        write_reading(w, "row_loo_var", model, row_loo_var, values);
    }
    hfi_free(w->ctx, values);
}

/* ---- the whole --------------------------------------------------------------------------------------------
 */

static void write_all(writer *w, const hf_model *model)
{
    char pragmas[128];
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA encoding='UTF-8';PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN",
                     HFI_APPLICATION_ID, (int)w->version);
    w->rc = sqlite3_exec(w->db, pragmas, NULL, NULL, NULL);
    if (w->rc == SQLITE_OK) w->rc = hfi_schema_create(w->db, w->version);
    write_meta(w, model);
    write_features(w, model);
    if (w->version >= 3) write_outputs(w, model);
    write_parameters(w, model);
    write_notes(w, model);
    write_arrays(w, model);
    if (w->rc == SQLITE_OK) w->rc = hfi_schema_seal(w->db, w->version);
    if (w->rc == SQLITE_OK) w->rc = sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL);
}

static hf_status sqlite_failure(hf_context *ctx, int rc)
{
    if (rc == SQLITE_NOMEM) return hfi_out_of_memory(ctx);
    if (rc == SQLITE_TOOBIG)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE,
                        "the model does not fit in a file: a row of one of its arrays exceeds 1 GB");
    return hfi_fail(ctx, HF_ERR_INTERNAL, "the model could not be written as a database: %s",
                    sqlite3_errstr(rc));
}

unsigned hfi_model_format(const hf_model *model)
{
    const hf_fit_settings *s = &model->settings, plain = hf_fit_settings_default();
    const bool plainly = s->max_noise == plain.max_noise && s->coregion_rank == plain.coregion_rank &&
                         s->shared_noise == plain.shared_noise && s->independent == plain.independent &&
                         s->weighting == plain.weighting && s->centre != HF_CENTRE_CONDITIONAL &&
                         s->mean != HF_MEAN_OUTPUTS;
    return model->outputs == 1 && plainly ? HFI_FORMAT_ONE_OUTPUT : HFI_FORMAT_VERSION;
}

hf_status hfi_model_to_image(hf_context *ctx, const hf_model *model, size_t piece, unsigned char **image,
                             size_t *size)
{
    writer w = {.ctx = ctx, .version = hfi_model_format(model), .piece = piece};
    w.rc = sqlite3_open_v2(":memory:", &w.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
                           NULL);
    if (w.rc == SQLITE_OK) write_all(&w, model);
    hf_status status = w.rc == SQLITE_OK ? HF_OK : sqlite_failure(ctx, w.rc);
    if (status >= 0) {
        sqlite3_int64 length = 0;
        unsigned char *bytes = sqlite3_serialize(w.db, "main", &length, 0);
        if (bytes == NULL) {
            status = hfi_out_of_memory(ctx);
        } else {
            *image = bytes;
            *size = (size_t)length;
        }
    }
    sqlite3_close(w.db);
    return status;
}

hf_status hf_model_save(hf_context *ctx, const hf_model *model, const char *path)
{
    if (model == NULL || path == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_save: model and path must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size);
    if (status < 0) return status;
    hfi_file file;
    status = hfi_file_begin(ctx, path, &file);
    if (status >= 0) status = hfi_file_write(ctx, &file, bytes, size);
    if (status >= 0) status = hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    sqlite3_free(bytes);
    return status;
}
