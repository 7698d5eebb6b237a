/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/coregion.h"

#include <math.h>

/* ---- where the parameters are ----------------------------------------------------------------------------
 */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hfi_coregion_row(const hfi_leaf *leaf, size_t s)
{
    const size_t r = leaf->rank;
    return s < r ? s * (s + 1) / 2 : r * (r + 1) / 2 + (s - r) * r;
}

size_t hfi_coregion_length(const hfi_leaf *leaf, size_t s)
{
    return least(s + 1, leaf->rank);
}

size_t hfi_coregion_factors(const hfi_leaf *leaf)
{
    return hfi_coregion_row(leaf, leaf->outputs);
}

size_t hfi_coregion_row_of(const hfi_leaf *leaf, size_t offset)
{
    const size_t triangle = leaf->rank * (leaf->rank + 1) / 2;
    if (offset >= triangle) return leaf->rank + (offset - triangle) / leaf->rank;
    size_t s = (size_t)(0.5 * (sqrt(8.0 * (double)offset + 1.0) - 1.0));
    while (s * (s + 1) / 2 > offset) s--;
    while ((s + 1) * (s + 2) / 2 <= offset) s++;
    return s;
}

/* Full rank: the Cholesky factor of (I + 1 1') / 2, whose Schur complements keep that form: 1/2 + e on the diagonal and e beside it with
 * e = 1 / (2 (q + 1)). Else half of a variance is shared, most of it by the first column; in the others signs that differ from column to
 * column and from row to row tell the columns apart. */
double hfi_coregion_start(const hfi_leaf *leaf, size_t s, size_t q)
{
    if (leaf->rank == leaf->outputs) {
        const double beside = 0.5 / (double)(q + 1), pivot = sqrt(0.5 + beside);
        return s == q ? pivot : beside / pivot;
    }
    const size_t length = hfi_coregion_length(leaf, s);
    if (length == 1) return sqrt(0.5);
    if (q == 0) return sqrt(0.4);
    bool negative = false;
    for (size_t common = s & q; common > 0; common &= common - 1) negative = !negative;
    const double size = sqrt(0.1 / (double)(length - 1));
    return negative ? -size : size;
}

/* ---- B and its derivatives -------------------------------------------------------------------------------
 */

static const double *factor_row(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s)
{
    return kernel->value + leaf->first + hfi_coregion_row(leaf, s);
}

static size_t own_at(const hfi_leaf *leaf, size_t s)
{
    return leaf->first + hfi_coregion_factors(leaf) + s;
}

double hfi_coregion_value(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t)
{
    const double *a = factor_row(kernel, leaf, s), *b = factor_row(kernel, leaf, t);
    const size_t length = hfi_coregion_length(leaf, least(s, t));
    double sum = 0.0;
    for (size_t q = 0; q < length; q++) sum += a[q] * b[q];
    return s == t && leaf->rank < leaf->outputs ? sum + kernel->value[own_at(leaf, s)] : sum;
}

/* Row s of B, and its column. */
static void refresh_row(hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t count)
{
    double *b = kernel->pairs + leaf->pairs_at;
    for (size_t t = 0; t < count; t++) {
        const double value = hfi_coregion_value(kernel, leaf, s, t);
        b[s * leaf->outputs + t] = value;
        b[t * leaf->outputs + s] = value;
    }
}

void hfi_coregion_refresh(hf_kernel *kernel, const hfi_leaf *leaf)
{
    for (size_t s = 0; s < leaf->outputs; s++) refresh_row(kernel, leaf, s, s + 1);
}

void hfi_coregion_refresh_after(hf_kernel *kernel, size_t p)
{
    const hfi_place *place = &kernel->place[p];
    const hfi_leaf *leaf = &kernel->leaves[place->leaf];
    if (leaf->form == HFI_FORM_COREGION && place->field != HFI_FIELD_OUTPUTSCALE)
        refresh_row(kernel, leaf, place->i, leaf->outputs);
}

void hfi_coregion_adjoint(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t, double weight,
                          double *grad)
{
    const double *a = factor_row(kernel, leaf, s), *b = factor_row(kernel, leaf, t);
    double *by_a = grad + (a - kernel->value), *by_b = grad + (b - kernel->value);
    const size_t length = hfi_coregion_length(leaf, least(s, t));
    for (size_t q = 0; q < length; q++) {
        by_a[q] += weight * b[q];
        by_b[q] += weight * a[q];
    }
    if (s == t && leaf->rank < leaf->outputs)
        grad[own_at(leaf, s)] += weight * kernel->value[own_at(leaf, s)];
}
