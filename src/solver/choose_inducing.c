/* SPDX-License-Identifier: Apache-2.0 */
/* Placing inducing inputs: checks, and which rows are looked at when there are too many. */
#include "solver/choose.h"

#include <math.h>
#include <string.h>

/* Rows to choose from: all of them, or a sample. */
typedef struct row_pool {
    size_t n, d, ldx;
    const double *x;
    size_t *rows; /* sampled: where its rows are among all; else NULL */
    double *copy; /* sampled: the rows */
} row_pool;

static void free_pool(hf_context *ctx, row_pool *p)
{
    HFI_FREE(ctx, p->rows, p->copy);
}

static hf_status fill_pool(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, size_t limit,
                           row_pool *p)
{
    *p = (row_pool){.n = n, .d = d, .ldx = ldx, .x = x};
    if (n <= limit) return HF_OK;
    if (HFI_ALLOC(ctx, HFI_ROOM(p->rows, limit), HFI_ROOMS(p->copy, limit, d)) < 0) {
        free_pool(ctx, p);
        return HF_ERR_MEMORY;
    }
    hfi_choose_sample(ctx, n, limit, p->rows);
    for (size_t i = 0; i < limit; i++) memcpy(p->copy + i * d, x + p->rows[i] * ldx, d * sizeof *x);
    p->n = limit;
    p->ldx = d;
    p->x = p->copy;
    return HF_OK;
}

static void copy_rows(const double *x, size_t ldx, size_t d, size_t count, const size_t *rows, double *z)
{
    for (size_t k = 0; k < count; k++) memcpy(z + k * d, x + rows[k] * ldx, d * sizeof *z);
}

/* Greedy rows, as places among all; then, for a sample of the point process, swapped with any of all rows. */
static hf_status by_covariance(hf_context *ctx, const hf_kernel *kernel, bool sample, size_t n,
                               const double *x, size_t ldx, size_t m, size_t *rows, size_t *chosen)
{
    double most = HFI_GREEDY_BYTES / (double)sizeof(double) / (double)m;
    size_t limit = most > (double)m ? (size_t)most : m, count = 0;
    row_pool p;
    hf_status status = fill_pool(ctx, n, hf_kernel_dimension(kernel), x, ldx, limit, &p);
    if (status < 0) return status;
    status = hfi_choose_greedy(ctx, kernel, p.n, p.x, p.ldx, NULL, m, 0.0, rows, &count, NULL);
    if (status >= 0 && p.rows != NULL)
        for (size_t k = 0; k < count; k++) rows[k] = p.rows[rows[k]];
    free_pool(ctx, &p);
    if (status >= 0 && sample) {
        hfi_stream stream;
        hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_INDUCING, 2);
        status = hfi_choose_mdpp(ctx, kernel, n, x, ldx, count, rows, (size_t)HFI_MDPP_STEPS_PER_ROW * count,
                                 &stream, NULL);
    }
    if (status >= 0) *chosen = count;
    return status;
}

static hf_status by_distance(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, size_t m,
                             double *z, size_t *chosen)
{
    size_t limit = m > HFI_KMEANS_ROWS ? m : HFI_KMEANS_ROWS, steps;
    row_pool p;
    hf_status status = fill_pool(ctx, n, d, x, ldx, limit, &p);
    if (status < 0) return status;
    status = hfi_choose_kmeans(ctx, p.n, d, p.x, p.ldx, m, HFI_KMEANS_STEPS, z, chosen, NULL, &steps);
    free_pool(ctx, &p);
    return status;
}

hf_status hfi_choose_check_rows(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx)
{
    size_t d = hf_kernel_dimension(kernel);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs", ldx,
                        d);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
    return HF_OK;
}

static hf_status check_inducing_choice(hf_context *ctx, const hf_kernel *kernel, hf_inducing_choice choice,
                                       size_t n, const double *x, size_t ldx, size_t m, const double *z,
                                       const size_t *chosen)
{
    if (kernel == NULL || z == NULL || chosen == NULL || (x == NULL && n > 0))
        return hfi_refuse(ctx, "hf_choose_inducing: %s is NULL",
                          kernel == NULL ? "the kernel"
                          : z == NULL    ? "z"
                          : x == NULL    ? "x"
                                         : "chosen");
    if (choice < HF_INDUCING_GREEDY || choice > HF_INDUCING_FIRST)
        return hfi_refuse(ctx, "hf_choose_inducing: there is no choice %d", (int)choice);
    if (m == 0) return hfi_refuse(ctx, "hf_choose_inducing: no inducing inputs are asked for");
    if (n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there is no row to choose inducing inputs from");
    return hfi_choose_check_rows(ctx, kernel, n, x, ldx);
}

hf_status hf_choose_inducing(hf_context *ctx, const hf_kernel *kernel, hf_inducing_choice choice, size_t n,
                             const double *x, size_t ldx, size_t m, double *z, size_t *chosen)
{
    hf_status status = check_inducing_choice(ctx, kernel, choice, n, x, ldx, m, z, chosen);
    if (status < 0) return status;
    if (m > n) m = n;
    const size_t d = hf_kernel_dimension(kernel);
    if (choice == HF_INDUCING_KMEANS) return by_distance(ctx, n, d, x, ldx, m, z, chosen);
    size_t *rows = hfi_alloc(ctx, m, sizeof *rows), count = 0;
    if (rows == NULL) return HF_ERR_MEMORY;
    if (choice == HF_INDUCING_FIRST)
        status = hfi_rows_distinct(ctx, n, d, x, ldx, m, rows, NULL, &count);
    else
        status = by_covariance(ctx, kernel, choice == HF_INDUCING_MDPP, n, x, ldx, m, rows, &count);
    if (status >= 0) {
        copy_rows(x, ldx, d, count, rows, z);
        *chosen = count;
    }
    hfi_free(ctx, rows);
    return status;
}
