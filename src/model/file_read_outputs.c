/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs in a model file: names, scaling, noises. */
#include "model/target.h"

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

/* An optional number for each output, at least 0 and below `above`; *list belongs to the model. */
static hf_status read_list(const hfi_reader *r, const char *name, double above, double **list, size_t *count)
{
    const size_t outputs = r->model->outputs;
    if (!hfi_array_there(r, name)) return HF_OK;
    *list = hfi_alloc(r->ctx, outputs, sizeof **list);
    if (*list == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_array_read(r, name, outputs, 1, false, *list);
    for (size_t t = 0; status >= 0 && t < outputs; t++)
        if (!((*list)[t] >= 0.0 && (*list)[t] < above)) status = hfi_meta_bad(r, name);
    *count = outputs;
    return status;
}

static hf_status read_lists(const hfi_reader *r)
{
    hf_model *model = r->model;
    hf_fit_settings *s = &model->settings;
    hf_status status = read_list(r, "output_eps", 1.0, &model->output_eps, &s->output_eps_count);
    if (status >= 0)
        status = read_list(r, "output_beta", INFINITY, &model->output_beta, &s->output_beta_count);
    s->output_eps = model->output_eps;
    s->output_beta = model->output_beta;
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
    return status < 0 ? status : read_lists(r);
}

hf_status hfi_outputs_read_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises)
{
    (void)noise; /* each has its own */
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
