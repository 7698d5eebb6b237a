/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs in a model file: names, scaling, noises. */
#include "model/file_reader.h"

#include <math.h>

static const char unreadable[] = "its outputs cannot be read", bad[] = "an output is not as it should be";

static sqlite3_stmt *select_outputs(const hfi_reader *r)
{
    sqlite3_stmt *s = NULL;
    const char *sql = "SELECT position, name, shift, scale, noise, noise_held FROM output ORDER BY position";
    return sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

static hf_status read_names(const hfi_reader *r, size_t outputs)
{
    hf_model *model = r->model;
    sqlite3_stmt *s = select_outputs(r);
    model->output = hfi_alloc(r->ctx, outputs, sizeof *model->output);
    model->noises_held = hfi_alloc(r->ctx, outputs, sizeof *model->noises_held);
    hf_status status = model->output != NULL && model->noises_held != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 && s == NULL) status = hfi_reader_damaged(r, unreadable);
    size_t t = 0;
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; t++) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const sqlite3_int64 held = sqlite3_column_int64(s, 5);
        if (t >= outputs || sqlite3_column_int64(s, 0) != (sqlite3_int64)t || name == NULL ||
            (held != 0 && held != 1)) {
            status = hfi_reader_damaged(r, bad);
            break;
        }
        model->noises_held[t] = held == 1;
        model->output[t] = hfi_memory_strdup(&model->memory, name);
        if (model->output[t] == NULL) status = hfi_out_of_memory(r->ctx);
    }
    if (status >= 0 && t != outputs) status = hfi_reader_damaged(r, "outputs are missing");
    sqlite3_finalize(s);
    return status;
}

static hf_status read_eps(const hfi_reader *r)
{
    hf_model *model = r->model;
    if (!hfi_array_there(r, "output_eps")) return HF_OK;
    model->output_eps = hfi_alloc(r->ctx, model->outputs, sizeof *model->output_eps);
    if (model->output_eps == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_array_read(r, "output_eps", model->outputs, 1, false, model->output_eps);
    for (size_t t = 0; status >= 0 && t < model->outputs; t++)
        if (!(model->output_eps[t] >= 0.0 && model->output_eps[t] < 1.0))
            status = hfi_meta_bad(r, "output_eps");
    model->settings.output_eps = model->output_eps;
    model->settings.output_eps_count = model->outputs;
    return status;
}

hf_status hfi_read_outputs(const hfi_reader *r)
{
    hf_model *model = r->model;
    size_t outputs = 0;
    hf_status status = hfi_meta_size(r, "outputs", &outputs);
    if (status >= 0 && (outputs == 0 || !hfi_reader_has_room(r, outputs, 1)))
        status = hfi_meta_bad(r, "outputs");
    if (status >= 0) status = hfi_meta_text(r, "output_column", true, &model->output_column);
    if (status < 0 || outputs <= 1) return status;
    /* A wide table's readings come in rows of all outputs. */
    if ((model->output_column == NULL && model->n % outputs != 0) ||
        !hfi_reader_has_room(r, model->n, model->d + 1))
        return hfi_meta_bad(r, "rows");
    model->outputs = outputs;
    model->width = model->d + 1;
    status = read_names(r, outputs);
    return status < 0 ? status : read_eps(r);
}

hf_status hfi_read_output_scaling(const hfi_reader *r, hfi_scaling *scaling, double *noises)
{
    const size_t outputs = r->model->outputs;
    double *both = hfi_alloc(r->ctx, outputs, 2 * sizeof *both);
    if (both == NULL) return HF_ERR_MEMORY;
    sqlite3_stmt *s = select_outputs(r);
    hf_status status = s != NULL ? HF_OK : hfi_reader_damaged(r, unreadable);
    for (size_t t = 0; status >= 0 && t < outputs; t++) {
        bool good = sqlite3_step(s) == SQLITE_ROW;
        if (good) {
            both[t] = sqlite3_column_double(s, 2);
            both[outputs + t] = sqlite3_column_double(s, 3);
            noises[t] = sqlite3_column_double(s, 4);
            good = isfinite(both[t]) && both[outputs + t] > 0.0 && isfinite(both[outputs + t]) &&
                   noises[t] >= 0.0 && isfinite(noises[t]);
        }
        if (!good) status = hfi_reader_damaged(r, bad);
    }
    sqlite3_finalize(s);
    if (status >= 0) status = hfi_scaling_set_outputs(r->ctx, scaling, outputs, both, both + outputs);
    hfi_free(r->ctx, both);
    return status;
}
