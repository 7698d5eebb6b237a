/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inputs.h
 * @brief Inputs that are no columns of numbers: dates, and the values of a column of text.
 */
#ifndef HFI_MODEL_INPUTS_H
#define HFI_MODEL_INPUTS_H

#include "data/dates.h"
#include "model/model.h"
#include "store/reader.h"
#include "store/writer.h"

enum {
    HFI_MOST_CATEGORIES = 50, /* different texts of a column that becomes inputs */
    HFI_CATEGORY_ROWS = 5 /* rows for each of them, on average, unless the column is asked for */
};

/** The kinds of inputs; inputs.c has the table of what they do. */
typedef enum hfi_input_kind {
    HFI_INPUT_NUMBER,
    HFI_INPUT_DATE,
    HFI_INPUT_CATEGORY,
    HFI_INPUT_KINDS
} hfi_input_kind;

/** One input. Strings are the model's. */
typedef struct hfi_input {
    hfi_input_kind kind;
    char *column;         /* where it comes from; NULL for numbers: the column of its own name */
    char *value;          /* categories: it is 1 where the column has this text, else 0 */
    hfi_date_style style; /* dates */
    /* dates: the first one, seconds since 1970 (a time of day: since midnight) */
    double origin;
} hfi_input;

/** Takes a column that is not of numbers as input: of dates, or of few texts, each an input of its
 * own. *taken is false where it is neither. `asked`: the user named it, and an error says why it
 * cannot be one. */
hf_status hfi_roles_take_text(hf_context *ctx, hf_model *model, const hf_table *table,
                              size_t column, hf_date_order order, bool asked, hfi_roles *roles,
                              bool *taken);
/** Adds a column of numbers, or whatever `input` (NULL: numbers) makes of it; takes over its
 * strings. */
hf_status hfi_roles_add(hf_context *ctx, hf_model *model, hfi_roles *roles, size_t column,
                        hfi_input *input);
/** Whether input j is a date, or named like a time; whether it stands for a text. */
bool hfi_input_is_time(const hf_model *model, size_t j);
bool hfi_input_is_category(const hf_model *model, size_t j);
void hfi_inputs_free(const hfi_memory *memory, hfi_input *list, size_t count);

/** A copy of the table with the model's inputs as columns of numbers, so that every part of it has
 * the same inputs; NULL where all of them are columns of numbers already. */
hf_status hfi_model_encoded(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hf_table **out);
/** " (\"age\" in 10, \"dose\" in 2)": the inputs that rows are left out for, of `rows` rows by d
 * columns. */
void hfi_blame_words(const hf_model *model, const double *const *x, size_t rows, char *words,
                     size_t bytes);

/** Rows of a table whose inputs are notably outside those that a model learnt from (ranges.c). */
typedef struct hfi_outside {
    size_t count;
    size_t row, input; /* the furthest row, and which input it is */
    double value;
} hfi_outside;

hf_status hfi_outside_find(hf_context *ctx, const hf_model *model, const hf_table *table,
                           hfi_outside *out);
/** Adds a remark on them to the context's message, if there are any. Returns `status`. */
hf_status hfi_outside_message(hf_context *ctx, const hf_model *model, const hf_table *table,
                              const hfi_outside *outside, hf_status status);

/** Whether a model has what these write: inputs that are no numbers, or a dialect. */
void hfi_write_inputs(hfi_writer *w, const hf_model *model);
hf_status hfi_read_inputs(const hfi_reader *r);
/** The dialect of a table into the model. */
hf_status hfi_model_keep_dialect(hf_context *ctx, hf_model *model, const hf_dialect *dialect);

#endif
