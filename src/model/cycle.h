/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cycle.h
 * @brief Whether a series repeats (docs/methods/remarks.md): a test with a stated error rate.
 */
#ifndef HFI_CYCLE_H
#define HFI_CYCLE_H

#include "model/model.h"

enum {
    HFI_CYCLE_LEAST = 24, /* values below which no cycle is looked for */
    HFI_CYCLE_MOST = 5000 /* of a longer series the last ones are looked at */
};

/** Values one step apart. */
typedef struct hfi_series {
    size_t n;      /* 0: the inputs are not evenly spaced */
    double step;   /* in units of the input */
    double *value; /* n, hfi_alloc'ed; gaps are filled from both sides */
} hfi_series;

/**
 * Readings y at places x in any order, NaN where there is no reading, as a series. Steps may
 * differ by a fifth, a third of the places may be without a reading; two readings at one place
 * are no series. O(n log n). HF_ERR_MEMORY.
 */
hf_status hfi_series_of(hf_context *ctx, size_t n, const double *x, size_t ldx, const double *y,
                        hfi_series *out);

/** A cycle; period 0: none was found. */
typedef struct hfi_cycle {
    double period;      /* in steps */
    double correlation; /* of values a period apart, without what changes from period to period */
} hfi_cycle;

/** Looks for one in n finite values one step apart. O(n^2 / 4), n <= HFI_CYCLE_MOST. */
hf_status hfi_find_cycle(hf_context *ctx, size_t n, const double *values, hfi_cycle *out);

/** The remark that a cyclic series is best fitted with a periodic kernel; the fit must be there. */
hf_status hfi_look_for_cycle(hf_context *ctx, hf_model *model);

#endif
