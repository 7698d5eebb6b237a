/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loops.h
 * @brief The vectorised inner loops over a tile; everything else only calls them.
 *
 * A tile buffer has `rows` rows (slow points) of `width` entries (fast points), without gaps; width
 * is a multiple of HFI_LANES. So no loop has a remainder, and an entry's value does not depend on
 * where in a tile it stands. Slow points are rows of a row-major matrix, x[r*ldx + column]; fast
 * points are columns of numbers, z[c*ldz + entry]. Differences are taken before scaling: equal
 * points are at distance exactly 0, and finite inputs never make inf - inf.
 */
#ifndef HFI_KERNEL_LOOPS_H
#define HFI_KERNEL_LOOPS_H

#include "kernel/forms.h"

#define HFI_TILE 64u /* fast points in a tile: 512 bytes of each column */
#define HFI_STRIP                                                                                  \
    16u /* slow points in a tile: a buffer is 8 KiB, so that several stay in the nearest cache */
#define HFI_LANES 8u /* doubles in the widest vector */

/** exp(-a) is 0 beyond: exp(-700) is 1e-304, and what would be subnormal is slow everywhere. */
#define HFI_EXP_CUT 700.0
/** Squares and the like stop here, so that their product with a vanished factor is 0 and not
 * NaN. */
#define HFI_HUGE 1e300
/** A phase beyond has no correct digit left in double precision; it is held here. */
#define HFI_PHASE_CUT 1e15

/** The points of a tile. */
typedef struct hfi_points {
    size_t rows, width;
    const double *x;
    size_t ldx;
    const double *z;
    size_t ldz;
} hfi_points;

/** Columns of a leaf with one number for each (step 1) or one for all (step 0). */
typedef struct hfi_axes {
    size_t count;
    const size_t *columns;
    const double *value;
    size_t step;
} hfi_axes;

/* ---- arithmetic on whole buffers ------------------------------------------------------------- */

void hfi_loop_fill(size_t count, double value, double *out);
void hfi_loop_scale(size_t count, double factor, const double *a, double *out);
void hfi_loop_multiply(size_t count, const double *a, double *out);
void hfi_loop_add(size_t count, const double *a, double *out);
/** sum a b */
double hfi_loop_dot(size_t count, const double *a, const double *b);

/* ---- functions of the scaled distance -------------------------------------------------------- */

/** r2 := sum over axes ((x - z) / value)^2 */
void hfi_loop_distance(const hfi_points *points, const hfi_axes *lengthscales, double *r2);
/** out := scale k(r2), row r at out + r*ldo; out may be r2 itself. */
void hfi_loop_radial(const hfi_points *points, hfi_form form, double alpha, double scale,
                     const double *r2, double *out, size_t ldo);
/** From r2: k, slope = dk/d(r2) and, for rq, by_alpha = dk/d(log alpha). r2 is cut at HFI_HUGE. */
void hfi_loop_radial_slope(hfi_form form, size_t count, double alpha, double *r2, double *k,
                           double *slope, double *by_alpha);
/** sums[a] = sum over the tile of g ((x - z) / value)^2, axis by axis, from axis `first` for
 * `count` <= 4 axes. */
void hfi_loop_squares(const hfi_points *points, const hfi_axes *axes, size_t first, size_t count,
                      const double *g, double sums[4]);
/** sum of g (x - z) / value^2 for one column; one slow point. */
double hfi_loop_backward(const hfi_points *points, size_t column, double value, const double *g);

/* ---- outputs --------------------------------------------------------------------------------- */

/** index[j] := the output that the number stands for (hfi_output_of). */
void hfi_loop_outputs(size_t width, const double *numbers, size_t outputs, int *index);
/** out[j] := table[index[j]] */
void hfi_loop_pick(size_t width, const double *table, const int *index, double *out);

/* ---- categories ---- */

/** out += weight where the codes of x and z (hfi_code_of) differ, for one column. */
void hfi_loop_codes(const hfi_points *points, size_t column, double weight, double *out);
/** sum of g where they do. */
double hfi_loop_codes_sum(const hfi_points *points, size_t column, const double *g);

/* ---- linear ---------------------------------------------------------------------------------- */

/** out += variance x z for one column. */
void hfi_loop_linear(const hfi_points *points, size_t column, double variance, double *out);
/** sum of g x z for one column. */
double hfi_loop_linear_sum(const hfi_points *points, size_t column, const double *g);

/* ---- periodic -------------------------------------------------------------------------------- */

/** out += (sin(pi |x - z| / period) / lengthscale)^2 for one column. */
void hfi_loop_periodic(const hfi_points *points, size_t column, double period, double lengthscale,
                       double *out);
/** out := exp(-factor out) */
void hfi_loop_decay(size_t count, double factor, double *out);
/** sums[0] = sum g sin^2, sums[1] = sum g sin cos phase, both over lengthscale^2. */
void hfi_loop_periodic_sums(const hfi_points *points, size_t column, double period,
                            double lengthscale, const double *g, double sums[2]);
/** sum of g d/dx (sin(phase) / lengthscale)^2; one slow point. */
double hfi_loop_periodic_backward(const hfi_points *points, size_t column, double period,
                                  double lengthscale, const double *g);

/* ---- spectral mixture ------------------------------------------------------------------------ */

/** exponent += 2 pi^2 variance t^2, wave *= cos(2 pi frequency t) for one column. */
void hfi_loop_spectral(const hfi_points *points, size_t column, double frequency, double variance,
                       double *exponent, double *wave);
/** out += weight exp(-exponent) wave */
void hfi_loop_spectral_add(size_t count, double weight, const double *exponent, const double *wave,
                           double *out);
/** b := g weight exp(-exponent) */
void hfi_loop_spectral_weight(size_t count, double weight, const double *exponent, const double *g,
                              double *b);
/** One column of one slow point, with `others` the product of the cosines of the other columns and
 * `wave` that of all: sums[0] = sum b wave 2 pi^2 variance t^2, sums[1] = sum b others phase
 * sin(phase), sums[2] = sum b (wave 4 pi^2 variance t + others 2 pi frequency sin(phase)
 * sign(t)). */
void hfi_loop_spectral_sums(const hfi_points *points, size_t column, double frequency,
                            double variance, const double *others, const double *wave,
                            const double *b, double sums[3]);

/** phases[i] += sum over d inputs of rates[i + j stride] x[j]; cos and sin of count phases. */
void hfi_loop_phases(size_t count, size_t d, const double *rates, size_t stride, const double *x,
                     double *phases);
void hfi_loop_cosines(size_t count, const double *phases, double *out);
void hfi_loop_sines(size_t count, const double *phases, double *out);

#endif
