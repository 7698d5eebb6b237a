/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrays.h
 * @brief Rows of arrays: views, their checks, and the table that a fit or a score makes of them.
 */
#ifndef HFI_MODEL_ARRAYS_H
#define HFI_MODEL_ARRAYS_H

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

#endif
