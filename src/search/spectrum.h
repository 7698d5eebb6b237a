/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file spectrum.h
 * @brief Periods that readings may repeat with, at even or uneven places.
 */
#ifndef HFI_TRAIN_SPECTRUM_H
#define HFI_TRAIN_SPECTRUM_H

#include "core/core.h"

enum {
    HFI_PERIODS_MOST = 8 /* that are proposed */
};

/** Readings y (by row) at rows of x. */
typedef struct hfi_spectrum_data {
    size_t n;
    const size_t *row; /* n: which rows */
    size_t d;
    const double *x; /* row-major, stride ldx */
    size_t ldx;
    const double *y;
    size_t column;       /* the input that has the periods */
    size_t groups;       /* outputs; 1: there is one */
    size_t group_column; /* of several: the input with the output's number */
    size_t knowns;
    const double *known; /* periods whose waves are taken away first */
} hfi_spectrum_data;

/**
 * Periods with much power, in units of the input, best first: `out` has room for
 * HFI_PERIODS_MOST.
 *
 * The power at a frequency f is what cos(2 pi f x), sin(2 pi f x) and a constant take from the
 * squares of the readings, each output by its own amplitudes. Before that least squares take away a
 * cubic in x, the other inputs, and three harmonics of every known period; what is left is clipped
 * at three robust standard deviations (Lomb 1976; Zechmeister and Kuerster, Astronomy and
 * Astrophysics 496, 2009, for the constant). Frequencies go from two in the whole span to one half
 * in the median spacing, four to each independent one, 20000 at most. Proposed are separate peaks
 * with the most power, and with the most beside what is near them. (Noise with memory has much
 * power at low frequencies). So are twice and three times their periods, of which they may be
 * harmonics.
 *
 * Fewer than ten rows, or places that do not differ: *n is 0. At most 1000 rows are looked at,
 * always the same. O(1000 x frequencies). HF_ERR_MEMORY.
 */
hf_status hfi_find_periods(hf_context *ctx, const hfi_spectrum_data *data, double *out, size_t *n);

#endif
