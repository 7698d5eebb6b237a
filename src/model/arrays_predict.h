/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrays_predict.h
 * @brief Predictions of rows of arrays, chunk by chunk: kinds of models as a table of functions.
 */
#ifndef HFI_MODEL_ARRAYS_PREDICT_H
#define HFI_MODEL_ARRAYS_PREDICT_H

#include "model/arrays.h"

/** Arrays of numbers for each row; hf_predictions.winner is beside them. */
typedef enum hfi_array {
    HFI_ARRAY_MEAN = 0,
    HFI_ARRAY_SD_LATENT,
    HFI_ARRAY_SD_OBSERVED,
    HFI_ARRAY_QUANTILE,
    HFI_ARRAY_PROBABILITY,
    HFI_ARRAY_LATENT_MEAN,
    HFI_ARRAY_LATENT_SD,
    HFI_ARRAY_OUTPUT_COVARIANCE,
    HFI_ARRAYS
} hfi_array;

/** Complete rows of a chunk, side by side. */
typedef struct hfi_array_chunk {
    size_t count;
    const double *x;
    size_t ldx;
    const size_t *row; /* which row of the arrays each is */
} hfi_array_chunk;

typedef struct hfi_array_job hfi_array_job;

/** A kind of model. */
typedef struct hfi_array_kind {
    const char *what; /* for messages: "a model of readings" */
    bool (*is)(const hf_model *model);
    bool has[HFI_ARRAYS];
    bool winner;
    size_t (*width)(const hf_model *model, hfi_array array, size_t levels); /* numbers in a row */
    size_t (*scratch)(const hf_model *model, bool between); /* numbers for each row of a chunk */
    hf_status (*predict)(hf_context *ctx, hfi_array_job *job, const hfi_array_chunk *chunk);
} hfi_array_kind;

struct hfi_array_job {
    const hf_model *model;
    const hf_arrays *rows;
    const hf_predictions *wanted;
    const hfi_array_kind *kind;
    size_t functions;
    size_t width[HFI_ARRAYS];
    double *stage[HFI_ARRAYS]; /* what is wanted, until all of it is there; NULL: not wanted */
    size_t *winner;
    double *covariance;
    bool variance;      /* whether any of it needs variances */
    const double *half; /* standard normal quantiles of the levels */
    double *scratch;    /* of the kind, for a chunk */
    size_t missing;
    size_t first, last; /* rows of the present chunk, for progress */
};

/** Where number `k` of a row goes; NULL where the array is not wanted. */
static inline double *hfi_array_place(const hfi_array_job *job, hfi_array array, size_t row,
                                      size_t k)
{
    return job->stage[array] != NULL ? job->stage[array] + row * job->width[array] + k : NULL;
}

/** The kind of a model (arrays_kinds.c). */
const hfi_array_kind *hfi_array_kind_of(const hf_model *model);

#endif
