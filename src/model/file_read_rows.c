/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the training table in a model file, and what the fit thought of them. */
#include "model/file.h"

#include <math.h>

static hf_status read_verdicts(const hfi_reader *r, double *values)
{
    hf_model *model = r->model;
    size_t n = model->n;
    bool good = true;
    hf_status status = hfi_array_read(r, "row_number", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && hfi_is_count(values[i]);
        model->row[i] = good ? (size_t)values[i] : 0;
    }
    if (status >= 0) status = hfi_array_read(r, "row_weight", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && values[i] >= 0.0 && values[i] <= 1.0;
        model->reading[i].weight = values[i];
    }
    if (status >= 0) status = hfi_array_read(r, "row_suspected", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && (values[i] == 0.0 || values[i] == 1.0);
        model->reading[i].suspected = values[i] == 1.0;
    }
    if (status >= 0) status = hfi_array_read(r, "row_group", n, 1, false, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        good = good && hfi_is_count(values[i]);
        model->reading[i].group = good ? (size_t)values[i] : 0;
    }
    return status >= 0 && !good ? hfi_reader_damaged(r, "what it says about its rows makes no sense")
                                : status;
}

/* Leave-one-out predictions, which only models that cannot compute them keep. */
static hf_status read_left_out(const hfi_reader *r, double *values)
{
    hf_model *model = r->model;
    size_t n = model->n;
    for (size_t i = 0; i < n; i++) model->reading[i].loo_mean = model->reading[i].loo_var = NAN;
    if (!hfi_array_there(r, "row_loo_mean")) return HF_OK;
    hf_status status = hfi_array_read(r, "row_loo_mean", n, 1, true, values);
    for (size_t i = 0; status >= 0 && i < n; i++) model->reading[i].loo_mean = values[i];
    if (status >= 0) status = hfi_array_read(r, "row_loo_var", n, 1, true, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        model->reading[i].loo_var = values[i];
        if (values[i] < 0.0) status = hfi_reader_damaged(r, "a variance is negative");
    }
    return status;
}

/* The same of the plain fit, where it was another one; refits are not kept. */
static hf_status read_plain(const hfi_reader *r, double *values)
{
    hf_model *model = r->model;
    const size_t n = model->n;
    for (size_t i = 0; i < n; i++) {
        hf_reading *reading = &model->reading[i];
        reading->plain_mean = reading->plain_sd = reading->refit_mean = reading->refit_sd = NAN;
    }
    if (!hfi_array_there(r, "row_plain_mean")) return HF_OK;
    hf_status status = hfi_array_read(r, "row_plain_mean", n, 1, true, values);
    for (size_t i = 0; status >= 0 && i < n; i++) model->reading[i].plain_mean = values[i];
    if (status >= 0) status = hfi_array_read(r, "row_plain_sd", n, 1, true, values);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        model->reading[i].plain_sd = values[i];
        if (values[i] <= 0.0) status = hfi_reader_damaged(r, "a standard deviation is not positive");
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
    status = read_verdicts(r, values);
    if (status >= 0) status = read_left_out(r, values);
    if (status >= 0) status = read_plain(r, values);
    if (status >= 0) status = read_evidence(r);
    hfi_free(r->ctx, values);
    return status;
}
