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

/** g := k - sum_j weight[j] K[:, column[j]] over n rows; k NULL stands for zero. O(n count). */
void hfi_active_price(size_t n, size_t count, const size_t *column, const double *weight, const double *k,
                      size_t ldk, const double *cross, double *g);

/** The row at which `worth` times the larger of g - t upper and t lower - g is largest, and how large; rows of worth 0 do not take part. `n` and 0 when nothing is
 * above zero; the first of equals. O(n). */
size_t hfi_active_worst(size_t n, const double *g, double t, const double *lower, const double *upper,
                        const double *worth, double *most);

/** x[from..n) := (L^-1 b)[from..n) and the same for z, where x[0..from) is solved already and the rest holds b. O(n^2). */
void hfi_active_forward(size_t n, size_t from, const double *l, size_t ldl, double *x, double *z);
/** x := L^-T x. O(n^2). */
void hfi_active_backward(size_t n, const double *l, size_t ldl, double *x);

#endif
