/* SPDX-License-Identifier: Apache-2.0 */
/* How much each input matters to what a model predicts. */
#include "model/model.h"

#include <string.h>

/* Pairs of rows: what all inputs together take stays bounded by so many numbers predicted. */
enum {
    MOST_PAIRS = 512,
    LEAST_PAIRS = 32,
    MOST_PREDICTED = 32768
};

static size_t count_pairs(size_t inputs)
{
    const size_t share = MOST_PREDICTED / (inputs > 0 ? inputs : 1);
    return share > MOST_PAIRS ? MOST_PAIRS : share < LEAST_PAIRS ? LEAST_PAIRS : share;
}

/* Rows that predictions are compared at. */
typedef struct sample {
    const hf_model *model;
    size_t rows, width;
    size_t shifts;    /* pairings of all rows */
    double *x;        /* rows x width, user units */
    double *changed;  /* shifts times the same, with one input from other rows */
    double *mean;     /* rows: at x, in units of the function's scale */
    double *other;    /* shifts x rows: at `changed` */
    size_t *function; /* rows: output or class that is asked about */
} sample;

static void sample_free(hf_context *ctx, sample *s)
{
    HFI_FREE(ctx, s->x, s->changed, s->mean, s->other, s->function);
}

/* Kept rows in an order of chance; how many. */
static size_t order_rows(const hf_model *model, size_t *row)
{
    size_t count = 0;
    for (size_t i = 0; i < model->n; i++)
        if (hfi_model_is_kept(model, i)) row[count++] = i;
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_RELEVANCE, 0);
    hfi_stream_shuffle(&stream, row, count);
    return count;
}

static void take_rows(const size_t *row, sample *s)
{
    const hf_model *model = s->model;
    const size_t functions = hfi_model_functions(model);
    for (size_t k = 0; k < s->rows; k++) {
        double *x = s->x + k * s->width;
        memcpy(x, model->x + row[k] * model->width, model->width * sizeof *x);
        s->function[k] = model->width > model->d ? hfi_model_output_of(model, row[k]) : k % functions;
        if (functions > 1) x[model->d] = (double)s->function[k];
    }
}

static hf_status sample_init(hf_context *ctx, const hf_model *model, sample *s)
{
    *s = (sample){.model = model, .width = hfi_model_function_width(model)};
    size_t *row = hfi_alloc(ctx, model->n, sizeof *row);
    if (row == NULL) return HF_ERR_MEMORY;
    const size_t count = order_rows(model, row), pairs = count_pairs(model->d);
    s->rows = count < pairs ? count : pairs;
    hf_status status = HF_OK;
    if (count < 2)
        status = hfi_fail(ctx, HF_ERR_NO_DATA, "%s: one reading says nothing about which input matters",
                          model->source);
    if (status >= 0) {
        const size_t enough = (pairs + s->rows - 1) / s->rows;
        s->shifts = enough < s->rows - 1 ? enough : s->rows - 1;
        status = HFI_ALLOC(ctx, HFI_ROOMS(s->x, s->rows, s->width),
                           HFI_ROOMS(s->changed, s->shifts * s->rows, s->width), HFI_ROOM(s->mean, s->rows),
                           HFI_ROOM(s->other, s->shifts * s->rows), HFI_ROOM(s->function, s->rows));
    }
    if (status >= 0) take_rows(row, s);
    hfi_free(ctx, row);
    return status;
}

/* Means at `times` times the sample's rows. */
static hf_status predict_sample_means(hf_context *ctx, const sample *s, size_t times, const double *x,
                                      double *mean)
{
    const hf_posterior *posterior = s->model->posterior;
    const size_t count = times * s->rows;
    const hf_status status = hf_predict(ctx, posterior, count, x, s->width, mean, NULL, NULL);
    for (size_t k = 0; k < count && status >= 0; k++)
        mean[k] /= hfi_scaling_scale(&posterior->scaling, s->function[k % s->rows]);
    return status;
}

/* Variance of the predictions within functions; 0 where they vary by rounding only. */
static hf_status find_variance(hf_context *ctx, const sample *s, double *variance)
{
    const size_t functions = hfi_model_functions(s->model);
    double *centre = hfi_alloc(ctx, functions, 2 * sizeof *centre);
    if (centre == NULL) return HF_ERR_MEMORY;
    double *count = centre + functions;
    double squares = 0.0, size = 0.0, degrees = (double)s->rows;
    for (size_t k = 0; k < s->rows; k++) {
        if (count[s->function[k]]++ == 0.0) degrees -= 1.0;
        centre[s->function[k]] += (s->mean[k] - centre[s->function[k]]) / count[s->function[k]];
    }
    for (size_t k = 0; k < s->rows; k++) {
        const double away = s->mean[k] - centre[s->function[k]];
        squares += away * away;
        size += s->mean[k] * s->mean[k];
    }
    *variance = degrees > 0.0 && squares > 1e-20 * size ? squares / degrees : 0.0;
    hfi_free(ctx, centre);
    return HF_OK;
}

/* Mean square of what input j changes when it comes from another row. */
static hf_status exchange(hf_context *ctx, const sample *s, size_t j, double *change)
{
    const size_t count = s->shifts * s->rows;
    for (size_t q = 0; q < s->shifts; q++) {
        const size_t step = 1 + q * (s->rows - 1) / s->shifts;
        double *x = s->changed + q * s->rows * s->width;
        memcpy(x, s->x, s->rows * s->width * sizeof *x);
        for (size_t k = 0; k < s->rows; k++) x[k * s->width + j] = s->x[(k + step) % s->rows * s->width + j];
    }
    const hf_status status = predict_sample_means(ctx, s, s->shifts, s->changed, s->other);
    double sum = 0.0;
    for (size_t k = 0; k < count && status >= 0; k++) {
        const double moved = s->other[k] - s->mean[k % s->rows];
        sum += moved * moved;
    }
    *change = sum / (double)count;
    return status;
}

hf_status hf_model_relevance(hf_context *ctx, const hf_model *model, double *relevance)
{
    if (model == NULL || relevance == NULL)
        return hfi_refuse(ctx, "hf_model_relevance: model and relevance must not be NULL");
    hf_status status = hfi_model_check_rows(ctx, model);
    if (status < 0) return status;
    sample s;
    double variance = 0.0, *found = hfi_alloc(ctx, model->d, sizeof *found);
    status = sample_init(ctx, model, &s);
    if (status >= 0 && found == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = predict_sample_means(ctx, &s, 1, s.x, s.mean);
    if (status >= 0) status = find_variance(ctx, &s, &variance);
    for (size_t j = 0; j < model->d && status >= 0 && variance > 0.0; j++) {
        status = exchange(ctx, &s, j, &found[j]);
        found[j] /= 2.0 * variance;
    }
    if (status >= 0) memcpy(relevance, found, model->d * sizeof *found);
    sample_free(ctx, &s);
    hfi_free(ctx, found);
    return status < 0 ? status : HF_OK;
}
