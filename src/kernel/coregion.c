/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/coregion.h"

#include <math.h>

/* ---- where the parameters are ---------------------------------------------------------------- */

size_t hfi_coregion_row(const hfi_leaf *leaf, size_t s)
{
    const size_t r = leaf->rank;
    return s < r ? s * (s + 1) / 2 : r * (r + 1) / 2 + (s - r) * r;
}

size_t hfi_coregion_length(const hfi_leaf *leaf, size_t s)
{
    return hfi_smaller(s + 1, leaf->rank);
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

/* Full rank: the Cholesky factor of (I + 1 1') / 2, whose Schur complements keep that form: 1/2 + e on the
 * diagonal and e beside it with e = 1 / (2 (q + 1)). Else half of a variance is shared, most of it by the
 * first column; in the others signs that differ from column to column and from row to row tell the columns
 * apart. */
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

/* ---- B and its derivatives ------------------------------------------------------------------- */

/* The row of W that output s stands in. */
static size_t row_of(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s)
{
    return kernel->row_of[leaf->pairs_at + s];
}

static const double *factor_row(const hf_kernel *kernel, const hfi_leaf *leaf, size_t row)
{
    return kernel->value + leaf->first + hfi_coregion_row(leaf, row);
}

static size_t own_at(const hfi_leaf *leaf, size_t row)
{
    return leaf->first + hfi_coregion_factors(leaf) + row;
}

double hfi_coregion_value(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t)
{
    const size_t i = row_of(kernel, leaf, s), j = row_of(kernel, leaf, t);
    const double *a = factor_row(kernel, leaf, i), *b = factor_row(kernel, leaf, j);
    const size_t length = hfi_coregion_length(leaf, hfi_smaller(i, j));
    double sum = 0.0;
    for (size_t q = 0; q < length; q++) sum += a[q] * b[q];
    return s == t && leaf->rank < leaf->outputs ? sum + kernel->value[own_at(leaf, i)] : sum;
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
    if (leaf->form != HFI_FORM_COREGION || place->field == HFI_FIELD_OUTPUTSCALE) return;
    size_t s = 0;
    while (row_of(kernel, leaf, s) != place->i) s++;
    refresh_row(kernel, leaf, s, leaf->outputs);
}

void hfi_coregion_adjoint(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t, double weight,
                          double *grad)
{
    const size_t i = row_of(kernel, leaf, s), j = row_of(kernel, leaf, t);
    const double *a = factor_row(kernel, leaf, i), *b = factor_row(kernel, leaf, j);
    double *by_a = grad + (a - kernel->value), *by_b = grad + (b - kernel->value);
    const size_t length = hfi_coregion_length(leaf, hfi_smaller(i, j));
    for (size_t q = 0; q < length; q++) {
        by_a[q] += weight * b[q];
        by_b[q] += weight * a[q];
    }
    if (s == t && leaf->rank < leaf->outputs)
        grad[own_at(leaf, i)] += weight * kernel->value[own_at(leaf, i)];
}

double hfi_coregion_mean(const hf_kernel *kernel, const hfi_leaf *leaf)
{
    double sum = 0.0;
    for (size_t i = 0; i < leaf->outputs; i++) {
        const double *row = factor_row(kernel, leaf, i);
        for (size_t q = 0; q < hfi_coregion_length(leaf, i); q++) sum += row[q] * row[q];
        if (leaf->rank < leaf->outputs) sum += kernel->value[own_at(leaf, i)];
    }
    return sum / (double)leaf->outputs;
}

void hfi_coregion_mean_adjoint(const hf_kernel *kernel, const hfi_leaf *leaf, double weight, double *grad)
{
    const double share = weight / (double)leaf->outputs;
    for (size_t i = 0; i < leaf->outputs; i++) {
        const double *row = factor_row(kernel, leaf, i);
        double *by_row = grad + (row - kernel->value);
        for (size_t q = 0; q < hfi_coregion_length(leaf, i); q++) by_row[q] += 2.0 * share * row[q];
        if (leaf->rank < leaf->outputs) grad[own_at(leaf, i)] += share * kernel->value[own_at(leaf, i)];
    }
}

/* ---- another order of the rows --------------------------------------------------------------- */

/* w (outputs x rank) := w Q, zero above the diagonal, which is not negative; Q is orthogonal, so that w w' stays. */
static void make_triangular(size_t outputs, size_t rank, double *w)
{
    for (size_t q = 0; q < rank; q++) {
        double *pivot = w + q * rank;
        for (size_t k = q + 1; k < rank; k++) {
            const double length = hypot(pivot[q], pivot[k]);
            if (pivot[k] == 0.0) continue;
            const double cosine = pivot[q] / length, sine = pivot[k] / length;
            for (size_t s = 0; s < outputs; s++) {
                const double a = w[s * rank + q], b = w[s * rank + k];
                w[s * rank + q] = cosine * a + sine * b;
                w[s * rank + k] = cosine * b - sine * a;
            }
            pivot[k] = 0.0;
        }
        if (pivot[q] >= 0.0) continue;
        for (size_t s = 0; s < outputs; s++) w[s * rank + q] = -w[s * rank + q];
    }
}

static void put_coregion_entry(hf_kernel *kernel, size_t p, double value)
{
    kernel->value[p] = value;
    kernel->lower[p] = fmin(kernel->lower[p], value);
    kernel->upper[p] = fmax(kernel->upper[p], value);
}

/* Whether W and own are what they start as, before anybody has trained or set them, in whatever unit. */
static bool is_at_start(const hf_kernel *kernel, const hfi_leaf *leaf)
{
    const double unit = *factor_row(kernel, leaf, 0) / hfi_coregion_start(leaf, 0, 0);
    bool same = true;
    for (size_t i = 0; i < leaf->outputs; i++) {
        const double *row = factor_row(kernel, leaf, i);
        for (size_t q = 0; q < hfi_coregion_length(leaf, i); q++) {
            const double start = unit * hfi_coregion_start(leaf, i, q);
            same = same && fabs(row[q] - start) <= 1e-14 * fabs(start);
        }
        if (leaf->rank < leaf->outputs)
            same = same && kernel->value[own_at(leaf, i)] == kernel->value[own_at(leaf, 0)];
    }
    return same;
}

void hfi_coregion_reorder(hf_kernel *kernel, const hfi_leaf *leaf, const size_t *order, double *work)
{
    const size_t outputs = leaf->outputs, rank = leaf->rank;
    double *w = work, *own = work + outputs * rank;
    const bool stays = is_at_start(kernel, leaf);
    for (size_t s = 0; s < outputs; s++) {
        const size_t from = row_of(kernel, leaf, s), to = order ? order[s] : s;
        const double *row = factor_row(kernel, leaf, from);
        const size_t length = hfi_coregion_length(leaf, from);
        for (size_t q = 0; q < rank; q++) w[to * rank + q] = q < length ? row[q] : 0.0;
        own[to] = rank < outputs ? kernel->value[own_at(leaf, from)] : 0.0;
    }
    make_triangular(outputs, rank, w);
    for (size_t i = 0; i < outputs; i++) {
        const size_t first = leaf->first + hfi_coregion_row(leaf, i), length = hfi_coregion_length(leaf, i);
        for (size_t q = 0; !stays && q < length; q++) put_coregion_entry(kernel, first + q, w[i * rank + q]);
        if (!stays && rank < outputs) put_coregion_entry(kernel, own_at(leaf, i), own[i]);
        kernel->row_of[leaf->pairs_at + i] = order ? order[i] : i;
    }
    hfi_coregion_refresh(kernel, leaf);
}
