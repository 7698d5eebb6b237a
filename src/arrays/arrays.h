/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrays.h
 * @brief Rows of arrays: views, their checks, and the table that a fit or a score makes of them.
 */
#ifndef HFI_ARRAYS_ARRAYS_H
#define HFI_ARRAYS_ARRAYS_H

#include "core/settings.h"
#include "model/class_model.h"

#include <holdfast/arrays.h>

/** Entry (i, j) of a view. */
static inline double hfi_view_at(const hf_view *view, size_t i, size_t j)
{
    return view->at[(ptrdiff_t)i * view->row + (ptrdiff_t)j * view->column];
}

/** Names of the table's columns. */
typedef struct hfi_array_names {
    const char *const *input;  /* d */
    const char *const *output; /* T; of labels the one */
    const char *noise, *prior; /* NULL: there is no such column; prior: mean or exposure */
    const char *const *classes;
    char *text;         /* owned: names that were made up */
    const char **lists; /* owned */
} hfi_array_names;

/** The names given, and made up ones in place of those that are not. */
hf_status hfi_array_names_make(hf_context *ctx, const hf_arrays *rows, hfi_array_names *out);
/** The names of a model. */
hf_status hfi_array_names_of(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                             hfi_array_names *out);
void hfi_array_names_free(hf_context *ctx, hfi_array_names *names);

/** A table of the rows. */
hf_status hfi_arrays_to_table(hf_context *ctx, const hf_arrays *rows, const hfi_array_names *names,
                              hf_table **out);

/** HF_ERR_ARGUMENT and HF_ERR_DIMENSION for rows that do not go with the model. */
hf_status hfi_arrays_check(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                           const char *function);

/* ---- predictions, chunk by chunk: kinds of models as a table of functions (arrays_predict.c)
 * ---- */

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
