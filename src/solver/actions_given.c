/* SPDX-License-Identifier: Apache-2.0 */
/* Actions that are given: a matrix with a row for each reading. */
#include "solver/projected_dense.h"

#include "linalg/linalg.h"
#include <math.h>

/* Part of a column's length that has to be new: far above the rounding of an orthonormal basis, and
 * far below what a table of six digits leaves of a combination. */
static const double DEPENDENT = 1e-10;

static hf_status check_entries(hf_context *ctx, size_t n, size_t count, const double *matrix)
{
    if (count == 0 || count > n)
        return hfi_refuse(ctx,
                          "the matrix of actions has %zu columns for %zu readings; give from one to as many",
                          count, n);
    for (size_t k = 0; k < n * count; k++)
        if (!isfinite(matrix[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the matrix of actions has %g in row %zu, column %zu (counted from 1)", matrix[k],
                            k / count + 1, k % count + 1);
    return HF_OK;
}

/* Column j of the matrix, at most 1 in size. */
static void copy_column(size_t n, size_t count, const double *matrix, size_t j, double *out)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(matrix[i * count + j]));
    for (size_t i = 0; i < n; i++) out[i] = most > 0.0 ? matrix[i * count + j] / most : 0.0;
}

/* The first column that adds nothing to those before it is refused by its number. */
static hf_status refuse_dependent(hf_context *ctx, size_t n, size_t count, const double *matrix, double *q)
{
    for (size_t j = 0; j < count; j++) {
        size_t total = j;
        copy_column(n, count, matrix, j, q + j * n);
        const hf_status status = hfi_orthonormalise(ctx, n, j, 1, q, n, DEPENDENT, &total);
        if (status < 0) return status;
        if (total == j)
            return hfi_refuse(ctx,
                              "column %zu of %zu of the matrix of actions is zero, or a combination of those "
                              "before it; leave it out",
                              j + 1, count);
    }
    return HF_OK;
}

hf_status hfi_given_actions_check(hf_context *ctx, size_t n, size_t count, const double *matrix)
{
    hf_status status = check_entries(ctx, n, count, matrix);
    if (status < 0) return status;
    double *q = hfi_alloc(ctx, n, count * sizeof *q);
    if (!q) return HF_ERR_MEMORY;
    size_t total = 0;
    for (size_t j = 0; j < count; j++) copy_column(n, count, matrix, j, q + j * n);
    status = hfi_orthonormalise(ctx, n, 0, count, q, n, DEPENDENT, &total);
    if (status >= 0 && total < count) status = refuse_dependent(ctx, n, count, matrix, q);
    hfi_free(ctx, q);
    return status;
}

hf_status hfi_given_actions_grow(hfi_dense_system *s, const hf_sites *sites, const hf_projection *p)
{
    double *q = hfi_dense_system_next(s);
    for (size_t a = 0; a < p->count; a++) {
        double *column = q + a * s->n, most = 0.0;
        size_t at = 0;
        for (size_t i = 0; i < hf_sites_count(sites); i++) {
            if (!hf_sites_is_present(sites, i)) continue;
            column[at] = p->matrix[i * p->count + a];
            most = fmax(most, fabs(column[at++]));
        }
        for (size_t i = 0; i < s->n; i++) column[i] = most > 0.0 ? s->root[i] * (column[i] / most) : 0.0;
    }
    return hfi_dense_system_grow(s, p->count, HFI_DENSE_DEPENDENT);
}
