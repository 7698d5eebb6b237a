/* SPDX-License-Identifier: Apache-2.0 */
/* Classes in a model file. */
#include "model/class_file.h"

#include "model/class_model.h"
#include "train/train.h"

#include <math.h>

void hfi_write_classes(hfi_writer *w, const hf_model *model)
{
    sqlite3_stmt *statement =
        hfi_writer_prepare(w, "INSERT INTO class (position, name, rows) VALUES (?1, ?2, ?3)");
    for (size_t c = 0; c < model->classes; c++) {
        hfi_writer_bind_size(w, statement, 1, c);
        hfi_writer_bind_text(w, statement, 2, model->class_name[c]);
        hfi_writer_bind_size(w, statement, 3, model->class_count[c]);
        hfi_writer_step(w, statement);
    }
    sqlite3_finalize(statement);
}

static const char bad[] = "a class is not as it should be";

static hf_status read_table(const hfi_reader *r)
{
    hf_model *model = r->model;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT position, name, rows FROM class ORDER BY position", -1, &s, NULL) !=
        SQLITE_OK)
        return hfi_reader_damaged(r, "its classes cannot be read");
    hf_status status = HF_OK;
    size_t c = 0;
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; c++) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const sqlite3_int64 rows = sqlite3_column_int64(s, 2);
        if (c >= HFI_MOST_CLASSES || sqlite3_column_int64(s, 0) != (sqlite3_int64)c || name == NULL ||
            rows < 1) {
            status = hfi_reader_damaged(r, bad);
            break;
        }
        model->class_count[c] = (size_t)rows;
        model->class_name[c] = hfi_memory_strdup(&model->memory, name);
        model->classes = c + 1;
        if (model->class_name[c] == NULL) status = hfi_out_of_memory(r->ctx);
    }
    sqlite3_finalize(s);
    return status;
}

hf_status hfi_read_classes(const hfi_reader *r)
{
    hf_model *model = r->model;
    const hf_site_kind sites = model->settings.sites;
    const bool labels = r->version >= 4;
    if (hfi_site_kind_is_class(sites) != labels)
        return hfi_reader_damaged(r, "its sites and its format do not agree");
    if (!labels) return HF_OK;
    if (model->outputs != 1 || model->output_column != NULL || model->noise_column != NULL)
        return hfi_reader_damaged(r, "it has classes and what no classifier has");
    model->class_name = hfi_alloc(r->ctx, HFI_MOST_CLASSES, sizeof *model->class_name);
    model->class_count = hfi_alloc(r->ctx, HFI_MOST_CLASSES, sizeof *model->class_count);
    if (model->class_name == NULL || model->class_count == NULL) return HF_ERR_MEMORY;
    hf_status status = read_table(r);
    if (status < 0) return status;
    if (model->classes < 2 || (model->classes > 2 && sites != HF_SITES_SOFTMAX))
        return hfi_reader_damaged(r, "so many classes cannot be told apart by its sites");
    status = hfi_meta_text(r, "class_input", true, &model->class_input);
    if (status >= 0 && (model->class_input != NULL) != (sites == HF_SITES_SOFTMAX))
        status = hfi_meta_bad(r, "class_input");
    return status;
}

hf_status hfi_class_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises)
{
    const size_t classes = r->model->classes;
    double *both = hfi_alloc(r->ctx, classes, 2 * sizeof *both);
    if (both == NULL) return HF_ERR_MEMORY;
    for (size_t c = 0; c < classes; c++) {
        both[classes + c] = 1.0;
        noises[c] = noise;
    }
    const hf_status status = hfi_scaling_set_outputs(r->ctx, scaling, classes, both, both + classes);
    hfi_free(r->ctx, both);
    return status;
}

hf_status hfi_check_labels(const hfi_reader *r)
{
    const hf_model *model = r->model;
    size_t count[HFI_MOST_CLASSES] = {0};
    bool good = model->extra == NULL;
    for (size_t i = 0; i < model->n && good; i++) {
        const double y = model->y[i];
        if (isnan(y)) continue;
        good = y >= 0.0 && y < (double)model->classes && y == floor(y);
        if (good) count[(size_t)y]++;
    }
    for (size_t c = 0; c < model->classes && good; c++) good = count[c] == model->class_count[c];
    return good ? HF_OK : hfi_reader_damaged(r, "its rows and its classes do not agree");
}
