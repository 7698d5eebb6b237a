/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the training table in a model file, and what the fit thought of them. */
#include "model/file.h"

#include <math.h>
#include <string.h>

static const char senseless[] = "what it says about its rows makes no sense";

static hf_status read_numbers(const hfi_reader *r, double *values)
{
    hf_model *model = r->model;
    bool good = true;
    const hf_status status = hfi_array_read(r, "row_number", model->n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < model->n; i++) {
        good = good && hfi_is_count(values[i]);
        model->row[i] = good ? (size_t)values[i] : 0;
    }
    return status >= 0 && !good ? hfi_reader_damaged(r, senseless) : status;
}

static void put(const hfi_reading_row *row, hf_reading *reading, double value)
{
    char *at = (char *)reading + row->offset;
    const bool flag = value == 1.0;
    const size_t count = row->type == HFI_SIZE ? (size_t)value : 0;
    if (row->type == HFI_REAL) memcpy(at, &value, sizeof value);
    if (row->type == HFI_FLAG) memcpy(at, &flag, sizeof flag);
    if (row->type == HFI_SIZE) memcpy(at, &count, sizeof count);
}

/* A member of all readings; NaN where the file does not tell. */
static hf_status read_member(const hfi_reader *r, const hfi_reading_row *row, double *values)
{
    hf_model *model = r->model;
    const bool whole = row->type != HFI_REAL, there = row->with == NULL || hfi_array_there(r, row->with);
    const hf_status status =
        there ? hfi_array_read(r, row->name, model->n, 1, row->with != NULL, values) : HF_OK;
    for (size_t i = 0; i < model->n && status >= 0; i++) {
        const double value = there ? values[i] : (double)NAN;
        if (value < row->least || value > row->most || (whole && value != floor(value)))
            return hfi_reader_damaged(r, row->wrong != NULL ? row->wrong : senseless);
        put(row, &model->reading[i], value);
    }
    return status;
}

/* The evidence about the suspects, where the file tells. */
static hf_status read_evidence(const hfi_reader *r)
{
    hf_fit_report *report = &r->model->report;
    double v[HFI_EVIDENCE_NUMBERS] = {0.0, NAN, NAN, NAN, NAN, NAN};
    hf_status status = HF_OK;
    if (hfi_array_there(r, "suspects"))
        status = hfi_array_read(r, "suspects", 1, HFI_EVIDENCE_NUMBERS, true, v);
    if (status >= 0 && (v[0] < 0.0 || v[0] > 1.0 || v[1] < 0.0 || v[1] > 1.0))
        return hfi_reader_damaged(r, "its evidence on suspects is no probability");
    report->suspects_undecided = v[0] > 0.5;
    report->chance = v[1];
    report->kept = (hf_outliers_side){v[2], v[3]};
    report->set_aside = (hf_outliers_side){v[4], v[5]};
    return status;
}

hf_status hfi_read_rows(const hfi_reader *r)
{
    hf_model *model = r->model;
    size_t n = model->n;
    hf_status status = hfi_model_reserve(r->ctx, model, n, model->d, hfi_array_there(r, "row_noise"));
    if (status >= 0 && hfi_array_there(r, "row_mean")) status = hfi_model_reserve_means(r->ctx, model);
    if (status >= 0) status = hfi_array_read(r, "row_inputs", n, model->width, false, model->x);
    for (size_t i = 0; status >= 0 && model->width > model->d && i < n; i++) {
        const double output = model->x[i * model->width + model->d];
        /* A wide table's readings lie in rows of all outputs. */
        const size_t stride = hfi_model_stride(model);
        if (!hfi_is_count(output) || output >= (double)model->outputs ||
            (stride > 1 && output != (double)(i % stride)))
            status = hfi_reader_damaged(r, "a reading is of no output");
    }
    if (status >= 0) status = hfi_array_read(r, "row_target", n, 1, true, model->y);
    if (status >= 0 && model->extra != NULL)
        status = hfi_array_read(r, "row_noise", n, 1, false, model->extra);
    if (status >= 0 && model->prior != NULL)
        status = hfi_array_read(r, "row_mean", n, 1, false, model->prior);
    if (status < 0) return status;
    double *values = hfi_alloc(r->ctx, n, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    status = read_numbers(r, values);
    for (size_t k = 0; k < HFI_READING_ROWS && status >= 0; k++)
        status = read_member(r, &hfi_reading_rows[k], values);
    for (size_t i = 0; i < n; i++)
        model->reading[i].refit_mean = model->reading[i].refit_sd = NAN; /* not kept */
    if (status >= 0) status = read_evidence(r);
    hfi_free(r->ctx, values);
    return status;
}
