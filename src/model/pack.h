/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pack.h
 * @brief Rows of a table that can be predicted, and columns on their way into a table.
 */
#ifndef HFI_MODEL_PACK_H
#define HFI_MODEL_PACK_H

#include "model/target.h"

/** Rows of a table with all inputs of a model, side by side, and which rows of the table they
 * are. */
typedef struct hfi_complete {
    size_t rows; /* of the table */
    size_t count, width;
    double *x;   /* count x width: the inputs, and the number of the output where rows name one */
    size_t *row; /* count */
} hfi_complete;

/** `output`: the output that each row is about, SIZE_MAX where it is missing, or NULL. `mean`:
 * prior means, NaN where one is missing, or NULL. Errors: as hfi_model_inputs(), HF_ERR_TOO_LARGE.
 * hfi_complete_free() in any case. */
hf_status hfi_complete_find(hf_context *ctx, const hf_model *model, const hf_table *table,
                            const size_t *output, const double *mean, hfi_complete *out);
/** Moves groups of `each` numbers, the first `count` of `values`, to their rows of the table; NaN
 * elsewhere. */
void hfi_complete_spread(const hfi_complete *c, size_t each, double *values);
void hfi_complete_free(hf_context *ctx, hfi_complete *c);

/** Columns of numbers that are named and filled one by one and added together. */
typedef struct hfi_pack {
    hf_context *ctx;
    size_t rows, room, count;
    char **name;
    double *values; /* column after column */
} hfi_pack;

/** Room for so many columns of a table of `rows` rows. hfi_pack_free() in any case. */
hf_status hfi_pack_init(hf_context *ctx, hfi_pack *pack, size_t rows, size_t columns);
/** The next column under a name (printf-like), whose numbers the caller fills in; NULL: out of
 * memory (message set). */
double *hfi_pack_column(hfi_pack *pack, const char *format, ...) HF_PRINTF(2, 3);
/** The same for column `i` of the predictions of a model. */
double *hfi_pack_predicted(hfi_pack *pack, const hf_model *model, bool single, size_t i);
/** Adds all columns, or on HF_ERR_MEMORY none. Errors: HF_ERR_ARGUMENT where two have one name. */
hf_status hfi_pack_into(const hfi_pack *pack, hf_table *table);
void hfi_pack_free(hfi_pack *pack);

#endif
