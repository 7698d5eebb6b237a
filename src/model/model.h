/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * @brief Internal face of the model room: what a model is made of, and its parts that several files use.
 */
#ifndef HFI_MODEL_H
#define HFI_MODEL_H

#include "core/core.h"
#include "core/sha256.h"
#include "posterior/posterior.h"
#include <holdfast/model.h>

struct hf_model {
    hfi_memory memory;
    hf_posterior *posterior;

    /* columns */
    char *target;
    char *noise_column; /* NULL if none */
    size_t d;
    char **feature; /* d names */

    /* the rows that were handed to the fit, in file order (user units) */
    char *source;        /* where they came from, for people */
    size_t n;            /* rows with complete inputs, with or without a target */
    size_t skipped;      /* rows left out because an input (or the noise) was missing */
    size_t *row;         /* 1-based data row of the training file */
    double *x;           /* n x d row-major */
    double *y;           /* NaN = missing */
    double *extra;       /* known noise variances, or NULL */
    hf_reading *reading; /* what the fit thinks of each */
    char checksum[HFI_SHA256_HEX];

    hf_fit_settings
        settings; /* kernel points to the string below; `set` is not kept (parameters say what is held) */
    char *kernel;
    bool noise_held;
    hf_fit_report report;

    size_t mean_names; /* of a linear mean only, whose coefficients have numbers */
    char **mean_name;

    size_t notes;
    char **note; /* remarks for the user, one sentence each */
};

/** An empty model in the context's memory, or NULL (message set). */
hf_model *hfi_model_new(hf_context *ctx);

/** Space for the rows: row, x, y, reading, and extra if asked for. Sets n and d. */
hf_status hfi_model_reserve(hf_context *ctx, hf_model *model, size_t n, size_t d, bool extra);

/** Once the posterior is there: what is derived from it. */
hf_status hfi_model_finish(hf_context *ctx, hf_model *model);

/** Adds a remark; printf-like. */
hf_status hfi_model_note(hf_context *ctx, hf_model *model, const char *format, ...) HF_PRINTF(3, 4);

/** Remembers the settings of a fit; the posterior must be there. */
hf_status hfi_model_keep_settings(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);

/** All remarks in one message, so that callers who read no notes miss nothing. Returns `status`. */
hf_status hfi_model_leave_message(hf_context *ctx, const hf_model *model, hf_status status);

/** The parts of that checksum: names (with the model's, and the number of rows), then row after row. `extra` NULL: no noise column. */
void hfi_model_hash_names(const hf_model *model, size_t rows, hfi_sha256 *hash);
void hfi_model_hash_row(hfi_sha256 *hash, size_t d, const double *x, double y, const double *extra);

/** SHA-256 of names and numbers of the training rows (docs/model-format.md). */
void hfi_model_checksum(const hf_model *model, char hex[HFI_SHA256_HEX]);

/** Which columns of a table play which part. Indices into the table. */
typedef struct hfi_roles {
    size_t target;
    size_t noise; /* SIZE_MAX if none */
    size_t count;
    size_t *feature; /* count indices, hfi_alloc'ed */
} hfi_roles;

/** Decides the roles and gives the model its names; remarks on columns left out. `roles->feature` is the
 * caller's to free. */
hf_status hfi_model_roles(hf_context *ctx, hf_model *model, const hf_table *table, const hf_columns *columns,
                          hfi_roles *roles);

/** Copies the usable rows of a table into the model; remarks on rows left out and on constant columns. */
hf_status hfi_model_gather(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles);

/** Numbers of the model's features in another table: d pointers to its columns. */
hf_status hfi_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                           const double **columns);

/** HF_ERR_NOT_FINITE with the place of the first infinite number of a column, else HF_OK. */
hf_status hfi_check_finite(hf_context *ctx, const hf_table *table, const char *name, const double *numbers);

/** Predictions for every row of a table; NaN where an input is missing. */
typedef struct hfi_predictions {
    double *mean, *var_latent, *var_observed; /* hfi_alloc'ed in one block that begins at mean */
    size_t missing;                           /* rows without a prediction */
} hfi_predictions;

hf_status hfi_model_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hfi_predictions *out);

/** "train.csv, line 7" for messages, also for tables that came from no file. `buffer` is returned. */
const char *hfi_row_place(const hf_table *table, size_t row, char *buffer, size_t bytes);

#endif
