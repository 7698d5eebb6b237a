/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loops.h
 * @brief The loops in which the active set spends its time, compiled for several processors.
 *
 * They call no BLAS: a query takes no lock. Sums are taken in a fixed order.
 */
#ifndef HFI_ENVELOPE_LOOPS_H
#define HFI_ENVELOPE_LOOPS_H

#include <stddef.h>

/** g := k - sum_j weight[j] K[:, column[j]] over n rows; cross NULL stands for k = 0, column NULL
 * for the first `count`. O(n count). */
void hfi_active_price(size_t n, size_t count, const size_t *column, const double *weight,
                      const double *k, size_t ldk, const double *cross, double *g);

/** The row whose entering promises most, e^2 / left, where e is the larger of g - t upper and t
 * lower - g, among those with e worth > tolerance; `left` is what the support leaves of the row's
 * variance, 1 / worth^2; NULL: the row of largest e worth. Rows of worth 0 do not take part. `n`
 * when there is none; the first of equals. O(n). */
size_t hfi_active_best(size_t n, const double *g, double t, const double *lower,
                       const double *upper, const double *worth, const double *left,
                       double tolerance);

/** A row of W = L^-1 K_A,: as it comes in: row *= scale, rest -= u row, held += v row, left -=
 * row^2. O(n). */
void hfi_active_absorb(size_t n, double scale, double u, double v, double *row, double *rest,
                       double *held, double *left);

/** row := c carry + s next, carry := c next - s carry. O(n). */
void hfi_active_turn(size_t n, double c, double s, const double *next, double *row, double *carry);

/** The first of count + 1 rows of W leaves: the planes (j, j + 1) are turned by (c[j], s[j]), what
 * is left over at the end is taken out of rest, held and left, where it counted with u and v.
 * `count` rows remain. O(n count). */
void hfi_active_rotate(size_t n, size_t count, const double *c, const double *s, double u, double v,
                       double *w, size_t ldw, double *rest, double *held, double *left);

/** x[from..n) := (L^-1 b)[from..n) and the same for z unless it is NULL, where x[0..from) is solved
 * already and the rest holds b. O(n^2). */
void hfi_active_forward(size_t n, size_t from, const double *l, size_t ldl, double *x, double *z);
/** x := L^-T x. O(n^2). */
void hfi_active_backward(size_t n, const double *l, size_t ldl, double *x);

#endif
