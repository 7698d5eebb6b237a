/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of rows of arrays: checks, chunks, covariances between rows, delivery. */
#include "arrays/arrays.h"

#include "core/normal.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 4096 /* rows */
};

/* ---- what was asked for ------------------------------------------------------------------------------- */

static const char *const array_name[HFI_ARRAYS] = {"mean",      "sd_latent",        "sd_observed",
                                                   "quantile",  "probability",      "latent_mean",
                                                   "latent_sd", "output_covariance"};

static double *wanted_array(const hf_predictions *wanted, hfi_array array)
{
    double *const all[HFI_ARRAYS] = {wanted->mean,      wanted->sd_latent,        wanted->sd_observed,
                                     wanted->quantile,  wanted->probability,      wanted->latent_mean,
                                     wanted->latent_sd, wanted->output_covariance};
    return all[array];
}

hf_status hfi_arrays_check(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                           const char *function)
{
    const bool rates = hfi_model_has_likelihood(model);
    const char *in_the_way = NULL;
    if (rows->x.at == NULL && rows->rows > 0)
        return hfi_refuse(ctx, "%s: x is NULL, but has %zu rows", function, rows->rows);
    if (rows->inputs != model->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "%s: x has %zu columns, and the model %zu inputs", function,
                        rows->inputs, model->d);
    if (rows->noise.at != NULL && model->noise_column == NULL) in_the_way = "noise";
    if (rows->mean.at != NULL && (model->mean_column == NULL || rates)) in_the_way = "mean";
    if (rows->exposure.at != NULL && (model->mean_column == NULL || !rates)) in_the_way = "exposure";
    if (in_the_way != NULL)
        return hfi_refuse(ctx, "%s: there is an array %s, and the model was fitted without one", function,
                          in_the_way);
    if (model->mean_column != NULL && !rates && rows->mean.at == NULL && rows->rows > 0)
        return hfi_refuse(ctx, "%s: the model was fitted with prior means, and there is no array mean to add",
                          function);
    return HF_OK;
}

static hf_status check_wanted(hf_context *ctx, const hf_model *model, const hf_predictions *wanted)
{
    const hfi_array_kind *kind = hfi_array_kind_of(model);
    const char *alien = wanted->winner != NULL && !kind->winner ? "winner" : NULL;
    for (unsigned a = 0; a < HFI_ARRAYS; a++)
        if (wanted_array(wanted, (hfi_array)a) != NULL && !kind->has[a]) alien = array_name[a];
    if (alien != NULL)
        return hfi_refuse(ctx, "hf_model_predict_arrays: %s has no %s; leave that array NULL", kind->what,
                          alien);
    if ((wanted->quantile != NULL) != (wanted->levels > 0) || (wanted->levels > 0 && wanted->level == NULL))
        return hfi_refuse(
            ctx, "hf_model_predict_arrays: quantile, level and levels go together, and levels is %zu",
            wanted->levels);
    for (size_t q = 0; q < wanted->levels; q++)
        if (!(wanted->level[q] > 0.0 && wanted->level[q] < 1.0))
            return hfi_refuse(ctx, "hf_model_predict_arrays: level %zu is %g; it must lie between 0 and 1", q,
                              wanted->level[q]);
    return HF_OK;
}

/* ---- rows of a chunk ---------------------------------------------------------------------------------- */

static hf_status not_finite(hf_context *ctx, const char *what, size_t row)
{
    return hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s of row %zu (counted from 0) is infinite", what, row);
}

/* Numbers beside the inputs; false in *complete where the row cannot be predicted without them. */
static hf_status check_beside(hf_context *ctx, const hf_arrays *rows, size_t i, bool *complete)
{
    if (rows->noise.at != NULL) {
        const double noise = hfi_view_at(&rows->noise, i, 0);
        if (isinf(noise)) return not_finite(ctx, "the noise", i);
        if (noise < 0.0)
            return hfi_refuse(
                ctx, "the noise of row %zu (counted from 0) is %g; a variance cannot be negative", i, noise);
    }
    if (rows->mean.at != NULL) {
        const double mean = hfi_view_at(&rows->mean, i, 0);
        if (isinf(mean)) return not_finite(ctx, "the mean", i);
        *complete = *complete && !isnan(mean);
    }
    if (rows->exposure.at != NULL) {
        const double exposure = hfi_view_at(&rows->exposure, i, 0);
        if (isinf(exposure)) return not_finite(ctx, "the exposure", i);
        if (exposure <= 0.0)
            return hfi_refuse(ctx, "the exposure of row %zu (counted from 0) is %g; it must be positive", i,
                              exposure);
        *complete = *complete && !isnan(exposure);
    }
    return HF_OK;
}

/* Inputs of a row; false in *complete where one is missing. */
static hf_status check_inputs(hf_context *ctx, const hf_arrays *rows, size_t i, bool *complete)
{
    *complete = true;
    for (size_t j = 0; j < rows->inputs; j++) {
        const double value = hfi_view_at(&rows->x, i, j);
        if (isfinite(value)) continue;
        if (isinf(value))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                            value);
        *complete = false;
    }
    return HF_OK;
}

static bool lies_in_rows(const hf_arrays *rows)
{
    return (rows->x.column == 1 || rows->inputs == 1) && rows->x.row >= (ptrdiff_t)rows->inputs;
}

/* Complete rows from `first` on: in place if all of them are and the view allows it, else copied to x. */
static hf_status gather_complete_rows(hf_context *ctx, const hf_arrays *rows, size_t first, size_t count,
                                      double *x, size_t *row, hfi_array_chunk *chunk)
{
    const size_t d = rows->inputs;
    size_t found = 0;
    for (size_t i = first; i < first + count; i++) {
        bool complete;
        hf_status status = check_inputs(ctx, rows, i, &complete);
        if (status >= 0) status = check_beside(ctx, rows, i, &complete);
        if (status < 0) return status;
        if (complete) row[found++] = i;
    }
    *chunk = (hfi_array_chunk){.count = found, .x = x, .ldx = d, .row = row};
    if (found == count && lies_in_rows(rows)) {
        chunk->x = rows->x.at + (ptrdiff_t)first * rows->x.row;
        chunk->ldx = (size_t)rows->x.row;
        return HF_OK;
    }
    for (size_t k = 0; k < found; k++)
        for (size_t j = 0; j < d; j++) x[k * d + j] = hfi_view_at(&rows->x, row[k], j);
    return HF_OK;
}

/* ---- all chunks --------------------------------------------------------------------------------------- */

/* Shares of a chunk become shares of all rows. */
typedef struct reporter {
    hf_context *to;
    const hfi_array_job *job;
} reporter;

static bool report(const char *stage, double done, double value, void *user)
{
    const reporter *by = user;
    const double share = done >= 0.0 && done <= 1.0 ? done : 0.0;
    const double at = (double)by->job->first + share * (double)(by->job->last - by->job->first);
    return hfi_progress(by->to, stage, at / (double)by->job->rows->rows, value);
}

/* A row that is not predicted. */
static void leave_out(const hfi_array_job *job, size_t row)
{
    for (unsigned a = 0; a < HFI_ARRAYS; a++)
        for (size_t k = 0; job->stage[a] != NULL && k < job->width[a]; k++)
            job->stage[a][row * job->width[a] + k] = NAN;
    if (job->winner != NULL) job->winner[row] = HF_LABEL_MISSING;
}

static hf_status run_chunks(hf_context *ctx, hfi_array_job *job, double *x, size_t *row)
{
    const size_t rows = job->rows->rows;
    hf_status status = HF_OK;
    for (job->first = 0; job->first < rows && status >= 0; job->first = job->last) {
        hfi_array_chunk chunk;
        job->last = rows - job->first < CHUNK ? rows : job->first + CHUNK;
        status = gather_complete_rows(ctx, job->rows, job->first, job->last - job->first, x, row, &chunk);
        if (status < 0) return status;
        for (size_t i = job->first, k = 0; i < job->last && chunk.count < job->last - job->first; i++) {
            if (k < chunk.count && row[k] == i)
                k++;
            else
                leave_out(job, i);
        }
        job->missing += job->last - job->first - chunk.count;
        if (chunk.count > 0) status = job->kind->predict(ctx, job, &chunk);
    }
    return status;
}

/* With the caller's context for one chunk, with one of its own for more, whose progress is that of the whole. */
static hf_status predict_rows(hf_context *ctx, hfi_array_job *job)
{
    const size_t rows = job->rows->rows, most = rows < CHUNK ? rows : CHUNK;
    const bool between = job->stage[HFI_ARRAY_OUTPUT_COVARIANCE] != NULL;
    double *x = hfi_alloc(ctx, most, job->model->d * sizeof *x);
    size_t *row = hfi_alloc(ctx, most, sizeof *row);
    job->scratch = hfi_alloc(ctx, most, job->kind->scratch(job->model, between) * sizeof *job->scratch);
    hf_status status = x != NULL && row != NULL && job->scratch != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 && rows <= CHUNK) {
        status = run_chunks(ctx, job, x, row);
    } else if (status >= 0) {
        hf_context *own = hfi_context_borrow(ctx);
        reporter by = {ctx, job};
        status = own != NULL ? HF_OK : HF_ERR_MEMORY;
        if (own != NULL) {
            hf_context_set_progress(own, report, &by);
            status = run_chunks(own, job, x, row);
            hfi_context_give_back(ctx, own);
        }
    }
    HFI_FREE(ctx, x, row, job->scratch);
    return status;
}

/* ---- covariances between rows ------------------------------------------------------------------------- */

static hf_status predict_covariances(hf_context *ctx, const hfi_array_job *job)
{
    const size_t m = job->rows->rows, d = job->model->d, functions = job->functions;
    const size_t width = hfi_model_function_width(job->model);
    double *x = hfi_alloc(ctx, m, width * sizeof *x);
    if (x == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t i = 0; i < m && status >= 0; i++)
        for (size_t j = 0; j < d; j++) {
            x[i * width + j] = hfi_view_at(&job->rows->x, i, j);
            if (status >= 0 && isnan(x[i * width + j]))
                status = hfi_fail(ctx, HF_ERR_NOT_FINITE,
                                  "input %zu of row %zu (counted from 0) is missing, and covariances between "
                                  "rows are wanted",
                                  j, i);
        }
    for (size_t f = 0; f < functions && status >= 0; f++) {
        for (size_t i = 0; i < m && width > d; i++) x[i * width + d] = (double)f;
        status =
            hf_predict_covariance(ctx, job->model->posterior, m, x, width, job->covariance + f * m * m, m);
    }
    hfi_free(ctx, x);
    return status;
}

/* ---- delivery ----------------------------------------------------------------------------------------- */

static void free_stage(hf_context *ctx, hfi_array_job *job, double *half)
{
    for (unsigned a = 0; a < HFI_ARRAYS; a++) hfi_free(ctx, job->stage[a]);
    HFI_FREE(ctx, job->winner, job->covariance, half);
}

static bool needs_variance(const hfi_array_job *job)
{
    const bool transformed = job->model->settings.transform != HF_TRANSFORM_NONE;
    return job->stage[HFI_ARRAY_SD_LATENT] != NULL || job->stage[HFI_ARRAY_SD_OBSERVED] != NULL ||
           job->stage[HFI_ARRAY_LATENT_SD] != NULL || job->stage[HFI_ARRAY_QUANTILE] != NULL ||
           (transformed && job->stage[HFI_ARRAY_MEAN] != NULL);
}

/* Room for what is wanted, until all of it is there. */
static hf_status allocate_array_outputs(hf_context *ctx, hfi_array_job *job, double **half)
{
    const hf_predictions *wanted = job->wanted;
    const size_t m = job->rows->rows;
    size_t square = 0, cells;
    for (unsigned a = 0; a < HFI_ARRAYS; a++) {
        if (wanted_array(wanted, (hfi_array)a) == NULL) continue;
        job->width[a] = job->kind->width(job->model, (hfi_array)a, wanted->levels);
        if (!hfi_size_mul(m, job->width[a], &cells)) return hfi_out_of_memory(ctx);
        job->stage[a] = hfi_alloc(ctx, cells, sizeof *job->stage[a]);
        if (job->stage[a] == NULL) return HF_ERR_MEMORY;
    }
    if (wanted->winner != NULL && (job->winner = hfi_alloc(ctx, m, sizeof *job->winner)) == NULL)
        return HF_ERR_MEMORY;
    if (wanted->covariance != NULL) {
        if (!hfi_size_mul(m, m, &square) || !hfi_size_mul(square, job->functions, &square))
            return hfi_out_of_memory(ctx);
        job->covariance = hfi_alloc(ctx, square, sizeof *job->covariance);
        if (job->covariance == NULL) return HF_ERR_MEMORY;
    }
    job->variance = needs_variance(job);
    if (wanted->levels == 0) return HF_OK;
    *half = hfi_alloc(ctx, wanted->levels, sizeof **half);
    if (*half == NULL) return HF_ERR_MEMORY;
    for (size_t q = 0; q < wanted->levels; q++) (*half)[q] = hfi_normal_quantile(wanted->level[q]);
    job->half = *half;
    return HF_OK;
}

static void deliver(const hfi_array_job *job)
{
    const size_t m = job->rows->rows;
    for (unsigned a = 0; a < HFI_ARRAYS; a++)
        if (job->stage[a] != NULL)
            memcpy(wanted_array(job->wanted, (hfi_array)a), job->stage[a],
                   m * job->width[a] * sizeof(double));
    if (job->winner != NULL) memcpy(job->wanted->winner, job->winner, m * sizeof *job->winner);
    if (job->covariance != NULL)
        memcpy(job->wanted->covariance, job->covariance, m * m * job->functions * sizeof(double));
}

static bool wants_rows(const hfi_array_job *job)
{
    bool any = job->winner != NULL;
    for (unsigned a = 0; a < HFI_ARRAYS; a++) any = any || job->stage[a] != NULL;
    return any;
}

static hf_status predict_arrays(hf_context *ctx, hfi_array_job *job)
{
    double *half = NULL;
    hf_status status = allocate_array_outputs(ctx, job, &half);
    if (status >= 0 && wants_rows(job)) status = predict_rows(ctx, job);
    if (status >= 0 && job->covariance != NULL) status = predict_covariances(ctx, job);
    if (status >= 0) deliver(job);
    free_stage(ctx, job, half);
    return status;
}

hf_status hf_model_predict_arrays(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                                  const hf_predictions *wanted)
{
    hf_arrays own = {0};
    hf_predictions places = {0};
    if (model == NULL) return hfi_refuse(ctx, "hf_model_predict_arrays: model must not be NULL");
    hf_status status = hfi_struct_open(ctx, "hf_arrays", rows, sizeof own, &own, sizeof own);
    if (status >= 0)
        status = hfi_struct_open(ctx, "hf_predictions", wanted, sizeof places, &places, sizeof places);
    if (status >= 0) status = hfi_arrays_check(ctx, model, &own, "hf_model_predict_arrays");
    if (status >= 0) status = check_wanted(ctx, model, &places);
    if (status < 0 || own.rows == 0) return status;
    hfi_array_job job = {.model = model,
                         .rows = &own,
                         .wanted = &places,
                         .kind = hfi_array_kind_of(model),
                         .functions = hfi_model_functions(model)};
    status = predict_arrays(ctx, &job);
    if (status < 0) return status;
    if (job.missing == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows have a missing input and get no prediction",
                    own.source != NULL ? own.source : "arrays", job.missing, own.rows);
}
