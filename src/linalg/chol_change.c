/* SPDX-License-Identifier: Apache-2.0 */
/* A factor after one row or one rank has changed. Rotations only: none of them can blow up. */
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

/* (x, y) := (c x + s y, c y - s x) */
static void rotate(size_t n, double *restrict x, double *restrict y, double c, double s)
{
    for (size_t i = 0; i < n; i++) {
        double turned = c * x[i] + s * y[i];
        y[i] = c * y[i] - s * x[i];
        x[i] = turned;
    }
}

void hfi_chol_update(size_t n, double *l, size_t ldl, double *x)
{
    for (size_t k = 0; k < n; k++) {
        double *column = l + k + k * ldl;
        double radius = hypot(column[0], x[k]);
        double c = column[0] / radius, s = x[k] / radius;
        column[0] = radius;
        rotate(n - k - 1, column + 1, x + k + 1, c, s);
    }
}

/* With q = L^-1 x, rotations of (rho, q) to (1, 0), rho^2 = 1 - q'q, taken from the last entry to the first
 * and applied to [0, L] give [x, new L]: this order keeps L triangular. The entries of x serve twice: those
 * up to k still hold q, those after k the part of x that has been rebuilt. */
hf_status hfi_chol_downdate(size_t n, double *l, size_t ldl, double *x)
{
    hfi_chol_forward(n, l, ldl, x);
    double square = 1.0 - hfi_dot(n, x, x);
    if (!(square > 0.0)) return HF_ERR_NOT_POSITIVE_DEFINITE;
    double rho = sqrt(square);
    for (size_t k = n; k-- > 0;) {
        double radius = hypot(rho, x[k]);
        double c = rho / radius, s = x[k] / radius;
        rho = radius;
        x[k] = 0.0;
        rotate(n - k, x + k, l + k + k * ldl, c, s);
        if (!(l[k + k * ldl] > 0.0)) return HF_ERR_NOT_POSITIVE_DEFINITE;
    }
    return HF_OK;
}

hf_status hfi_chol_append(size_t n, double *l, size_t ldl, const double *column, double diagonal)
{
    double *row = l + n; /* beyond L: may be used before it is known that all goes well */
    for (size_t j = 0; j < n; j++) row[j * ldl] = column[j];
    double rest = diagonal;
    if (n > 0) {
        int order = hfi_blas_int(n), stride = hfi_blas_int(ldl), before = hfi_blas_enter();
        dtrsv_("L", "N", "N", &order, l, &stride, row, &stride, 1, 1, 1);
        hfi_blas_leave(before);
        for (size_t j = 0; j < n; j++) rest -= row[j * ldl] * row[j * ldl];
    }
    if (!(rest > 0.0 && isfinite(rest))) return HF_ERR_NOT_POSITIVE_DEFINITE;
    row[n * ldl] = sqrt(rest);
    return HF_OK;
}

/* Without row k, what column k gave to the rows below is missing from L33 L33': a rank-one update puts it
 * back. */
void hfi_chol_delete(size_t n, double *l, size_t ldl, size_t k, double *work)
{
    size_t below = n - k - 1;
    memcpy(work, l + k + 1 + k * ldl, below * sizeof *l);
    hfi_chol_update(below, l + (k + 1) * (ldl + 1), ldl, work);
    for (size_t j = 0; j < k; j++) memmove(l + k + j * ldl, l + k + 1 + j * ldl, below * sizeof *l);
    for (size_t j = k + 1; j < n; j++)
        memmove(l + (j - 1) * (ldl + 1), l + j * (ldl + 1), (n - j) * sizeof *l);
}
