/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file look.h
 * @brief Rules that say what is odd about inputs (docs/methods/remarks.md). They change no row.
 */
#ifndef HFI_LOOK_H
#define HFI_LOOK_H

#include "model/model.h"

enum {
    HFI_CODES = 4 /* two at each end of a column */
};

/** A value that stands apart from all others of its column, as codes for "missing" do. */
typedef struct hfi_code {
    double value;
    size_t count; /* rows that have it */
} hfi_code;

/** The look of a column. Each value is a code, or far (below low or above high), or ordinary. */
typedef struct hfi_column_look {
    size_t codes;
    hfi_code code[HFI_CODES]; /* ascending */
    size_t far;               /* values that are far and no codes */
    double low, high;         /* the ordinary values */
} hfi_column_look;

/** Looks at n finite values, n > 0, which it sorts. O(n log n), no allocation. */
void hfi_look_at_column(size_t n, double *values, hfi_column_look *out);
/** Whether a value of that column is one of its codes, and whether it is far. */
bool hfi_look_is_code(const hfi_column_look *look, double value);
bool hfi_look_is_far(const hfi_column_look *look, double value);

/** How a column counts the rows. */
typedef enum hfi_counter {
    HFI_COUNTS_NOTHING,
    HFI_COUNTS_IN_ORDER, /* distinct integers that rise or fall from row to row */
    HFI_COUNTS_SHUFFLED  /* distinct integers, without order, that leave few out */
} hfi_counter;

/** Values in the order of the rows; `scratch` has n entries. O(n log n). */
hfi_counter hfi_look_at_order(size_t n, const double *values, double *scratch);

/** Whether a name says that the column is a time, whose numbers mean something. */
bool hfi_look_is_time(const char *name);

/** Remarks on the inputs of rows that have a reading; `table` is where the rows are from. */
hf_status hfi_look_at_inputs(hf_context *ctx, hf_model *model, const hf_table *table);

#endif
