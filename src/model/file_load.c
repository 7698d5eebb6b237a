/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a file to a model, believing nothing. */
#include "data/text.h"
#include "model/class_model.h"
#include "model/file.h"
#include "model/inputs.h"

#include <math.h>
#include <string.h>

/* ---- rows of the training table, and what the fit thought of them ---------------------------------------------- */

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

static void put_reading_field(const hfi_reading_row *row, hf_reading *reading, double value)
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
        put_reading_field(row, &model->reading[i], value);
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

/* The rows the fit was given and what it thought of them, into the model, whose n and d are known. */
static hf_status read_rows(const hfi_reader *r)
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

/* ---- scalars, names, notes ------------------------------------------------------------------- */

static hf_status read_fields(const hfi_reader *r)
{
    hf_fit_settings *settings = &r->model->settings;
    hf_fit_report *report = &r->model->report;
    *settings = hf_fit_settings_default();
    settings->kernel = r->model->kernel;
    settings->solver = HF_SOLVER_EXACT; /* there was no other before format 2 */
    *report = (hf_fit_report){.solver = HF_SOLVER_EXACT, .residual = NAN, .nu = INFINITY};
    hf_status status = hfi_meta_fields(r, &hfi_student_method, 1, settings);
    if (status >= 0) status = hfi_meta_settings(r, hf_fit_settings_table(), settings);
    if (status >= 0) status = hfi_meta_fields(r, hfi_report_fields, hfi_report_field_count, report);
    char *names = NULL;
    if (status >= 0) status = hfi_meta_text(r, "report.at_bound_names", false, &names);
    if (status >= 0) {
        size_t room = sizeof report->at_bound_names - 1, length = strlen(names);
        memcpy(report->at_bound_names, names, length < room ? length : room);
    }
    hfi_memory_free(&r->model->memory, names);
    return status;
}

/* A SHA-256 in hex. */
static hf_status read_checksum(const hfi_reader *r, const char *key, char out[HFI_SHA256_HEX])
{
    char *checksum = NULL;
    hf_status status = hfi_meta_text(r, key, false, &checksum);
    if (status >= 0 && strlen(checksum) != HFI_SHA256_HEX - 1) status = hfi_meta_bad(r, key);
    if (status >= 0) memcpy(out, checksum, HFI_SHA256_HEX);
    hfi_memory_free(&r->model->memory, checksum);
    return status;
}

static hf_status read_names(const hfi_reader *r)
{
    hf_model *model = r->model;
    hf_status status = hfi_meta_text(r, "source", false, &model->source);
    if (status >= 0) status = hfi_meta_text(r, "library", false, &model->library);
    if (status >= 0 && hfi_meta_has(r, "command"))
        status = hfi_meta_text(r, "command", false, &model->command);
    model->seeded = hfi_meta_has(r, "seed");
    if (status >= 0 && model->seeded) status = hfi_meta_seed(r, "seed", &model->seed);
    if (status >= 0) status = hfi_meta_text(r, "target", false, &model->target);
    if (status >= 0) status = hfi_meta_text(r, "noise_column", true, &model->noise_column);
    if (status >= 0 && r->version >= HFI_FORMAT_VERSION)
        status = hfi_meta_text(r, "mean_column", true, &model->mean_column);
    if (status >= 0) status = hfi_meta_text(r, "kernel", false, &model->kernel);
    if (status >= 0) status = read_checksum(r, "data_sha256", model->checksum);
    if (status >= 0) status = read_checksum(r, "content_sha256", model->content);
    return status;
}

static hf_status read_notes(const hfi_reader *r)
{
    static const hfi_text_rows rows = {.noun = "note",
                                       .select = "SELECT position, text FROM note ORDER BY position"};
    hf_model *model = r->model;
    const size_t notes = hfi_reader_count(r, "SELECT count(*) FROM note", 0, NULL);
    if (notes == 0) return HF_OK;
    const hf_status status = hfi_reader_texts(r, &rows, 0, notes, &model->note);
    model->notes = model->note != NULL ? notes : 0;
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The anchors are the readings that have a weight, unless the solver has others; of a classifier they are
 * what its latent functions ask for. */
static hf_status check_anchors(const hfi_reader *r)
{
    const hf_solver solver = hf_posterior_solver(r->model->posterior);
    if (!hfi_solver_kind_of(solver)->readings || r->model->kind->latent) return HF_OK;
    size_t anchors = 0;
    for (size_t i = 0; i < r->model->n; i++) anchors += r->model->reading[i].weight > 0.0;
    return anchors == hf_posterior_anchors(r->model->posterior)
               ? HF_OK
               : hfi_reader_damaged(r, "its rows and its anchors do not agree");
}

/* A transformed target is that of one output without known noise, and all readings have a place in it. */
static hf_status check_transform(const hfi_reader *r)
{
    const hf_model *model = r->model;
    const hf_transform transform = model->settings.transform;
    if (r->version <= HFI_FORMAT_TRANSFORM &&
        (transform != HF_TRANSFORM_NONE) != (r->version == HFI_FORMAT_TRANSFORM))
        return hfi_reader_damaged(r, "its transform and its format do not agree");
    if (hfi_model_is_latest(model) != (r->version == HFI_FORMAT_VERSION))
        return hfi_reader_damaged(r, "its priors, its units and its format do not agree");
    if (transform == HF_TRANSFORM_NONE) return HF_OK;
    if (model->width != model->d || model->output_column != NULL || model->noise_column != NULL)
        return hfi_reader_damaged(r, "it has a transform and what no such model has");
    return hfi_transform_takes(model, transform) ? HF_OK : hfi_meta_bad(r, "settings.transform");
}

/* Prior means are of the readings of one output, as they are. */
static hf_status check_mean(const hfi_reader *r)
{
    const hf_model *model = r->model;
    const bool told = model->mean_column != NULL;
    if ((model->prior != NULL) != (told && model->n > 0))
        return hfi_reader_damaged(r, "its prior means and their column do not agree");
    if (told && (model->width != model->d || model->output_column != NULL ||
                 model->settings.transform != HF_TRANSFORM_NONE))
        return hfi_reader_damaged(r, "it has prior means and what no such model has");
    return HF_OK;
}

/* The sites say what kind the target is, and the format agrees. */
static hf_status read_kind(const hfi_reader *r)
{
    hf_model *model = r->model;
    model->kind = hfi_target_of(model->settings.sites);
    if ((r->version == HFI_FORMAT_CLASSES) != (model->kind->format == HFI_FORMAT_CLASSES))
        return hfi_reader_damaged(r, "its sites and its format do not agree");
    const hf_status status = r->version >= HFI_FORMAT_OUTPUTS ? hfi_read_outputs(r) : HF_OK;
    return status < 0 || model->kind->read == NULL ? status : model->kind->read(r);
}

static hf_status read_model(hfi_reader *r)
{
    hf_status status = read_names(r);
    if (status >= 0) status = read_fields(r);
    size_t n = 0, d = 0;
    if (status >= 0) status = hfi_meta_size(r, "inputs", &d);
    if (status >= 0) status = hfi_meta_size(r, "rows", &n);
    if (status >= 0) status = hfi_meta_size(r, "rows_skipped", &r->model->skipped);
    if (status >= 0) status = hfi_meta_flag(r, "noise_held", &r->model->noise_held);
    /* More rows or inputs than the file has bytes for cannot be: refuse before anything is allocated for
     * them. */
    if (status >= 0 && (d == 0 || !hfi_reader_has_room(r, 1, d) || !hfi_reader_has_room(r, n, d)))
        status = hfi_meta_bad(r, "rows");
    r->model->d = r->model->width = d;
    r->model->n = n;
    if (status >= 0) status = read_kind(r);
    if (status >= 0) status = hfi_read_inputs(r);
    if (status >= 0) status = hfi_read_posterior(r);
    if (status >= 0) status = read_rows(r);
    if (status >= 0 && r->model->kind->read_last != NULL) status = r->model->kind->read_last(r);
    if (status >= 0) status = check_transform(r);
    if (status >= 0) status = check_mean(r);
    if (status >= 0) status = check_anchors(r);
    if (status >= 0) status = read_notes(r);
    if (status >= 0) status = hfi_model_finish(r->ctx, r->model);
    return status;
}

hf_status hfi_model_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                               hf_model **out)
{
    hfi_reader r;
    hf_status status = hfi_reader_open(ctx, &hfi_kind_model, 0, bytes, size, name, &r);
    if (status < 0) return status;
    r.model = hfi_model_new(ctx);
    status = r.model != NULL ? read_model(&r) : HF_ERR_MEMORY;
    hfi_reader_close(&r);
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
        return hfi_refuse(ctx, "hf_model_load: context, path and out must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_file_read(ctx, path, &bytes, &size);
    if (status < 0) return status;
    status = hfi_model_from_bytes(ctx, bytes, size, path, out);
    hfi_free(ctx, bytes);
    return status;
}
