/* SPDX-License-Identifier: Apache-2.0 */
/* Squared distances between rows by brute force: it needs no index, knows no curse of dimension, and is cheap
 * beside one factorisation of the same readings. */
#include "sites/distances.h"

#include <math.h>

/* Squares of numbers up to 2^400 can be added 2^200 times before they overflow. */
enum {
    LARGEST_EXPONENT = 400
};

static int exponent_to_remove(size_t n, size_t d, const double *x, size_t ldx)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) largest = fmax(largest, fabs(x[i * ldx + k]));
    int exponent = 0;
    (void)frexp(largest, &exponent);
    return exponent > LARGEST_EXPONENT ? exponent - LARGEST_EXPONENT : 0;
}

hf_status hfi_rows_create(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, hfi_rows *out)
{
    size_t entries = 0;
    if (!hfi_size_mul(n, d, &entries))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu inputs do not fit in memory", n, d);
    double *columns = hfi_alloc(ctx, entries, sizeof *columns);
    if (columns == NULL) return HF_ERR_MEMORY;
    double scale = ldexp(1.0, -exponent_to_remove(n, d, x, ldx));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) columns[k * n + i] = scale * x[i * ldx + k];
    *out = (hfi_rows){.n = n, .d = d, .columns = columns};
    return HF_OK;
}

void hfi_rows_free(hf_context *ctx, hfi_rows *rows)
{
    hfi_free(ctx, rows->columns);
    *rows = (hfi_rows){0};
}

void hfi_rows_distances(const hfi_rows *rows, size_t i, double *squared)
{
    size_t n = rows->n;
    for (size_t j = 0; j < n; j++) squared[j] = 0.0;
    for (size_t k = 0; k < rows->d; k++) {
        const double *column = rows->columns + k * n;
        double own = column[i];
        for (size_t j = 0; j < n; j++) {
            double difference = column[j] - own;
            squared[j] += difference * difference;
        }
    }
}
