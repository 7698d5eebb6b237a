/* SPDX-License-Identifier: Apache-2.0 */
/* Medians over the nearest rows, and the centre of robust weights made of them. */
#include "sites/sites_impl.h"

#include <math.h>

typedef struct neighbour_search {
    const hfi_rows *rows;
    const double *values;
    double *scratch; /* n per thread */
    double *out;
} neighbour_search;

/* The nearest rows so far, nearest first. */
typedef struct nearest {
    size_t count;
    double squared[HFI_NEIGHBOURS];
    double value[HFI_NEIGHBOURS];
} nearest;

static void offer(nearest *best, double squared, double value)
{
    size_t place = best->count;
    if (place == HFI_NEIGHBOURS) {
        /* Rows come in ascending order, so of equally distant ones the first stays. */
        if (!(squared < best->squared[HFI_NEIGHBOURS - 1])) return;
        place--;
    } else {
        best->count++;
    }
    for (; place > 0 && squared < best->squared[place - 1]; place--) {
        best->squared[place] = best->squared[place - 1];
        best->value[place] = best->value[place - 1];
    }
    best->squared[place] = squared;
    best->value[place] = value;
}

static void one_row(size_t i, int thread, void *arg)
{
    neighbour_search *s = arg;
    size_t n = s->rows->n;
    double *squared = s->scratch + (size_t)thread * n;
    nearest best = {.count = 0};
    hfi_rows_distances(s->rows, i, squared);
    for (size_t j = 0; j < n; j++)
        if (j != i && !isnan(s->values[j])) offer(&best, squared[j], s->values[j]);
    s->out[i] = best.count > 0 ? hfi_median(best.value, best.count) : s->values[i];
}

/* out[i] = the median of `values` over the HFI_NEIGHBOURS nearest rows (all there are, when fewer) that have
 * a value, the row itself not counted; where there is no other, the row's own value. NaN = no value. Among
 * rows equally far away the ones with the lower index count. O(n^2 d), parallel over rows. */
static hf_status median_of_neighbours(hf_context *ctx, const hfi_rows *rows, const double *values,
                                      double *out)
{
    size_t entries = 0;
    if (!hfi_size_mul(rows->n, (size_t)hf_context_threads(ctx), &entries))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows do not fit in memory", rows->n);
    neighbour_search s = {
        .rows = rows, .values = values, .scratch = hfi_alloc(ctx, entries, sizeof(double)), .out = out};
    if (s.scratch == NULL) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, rows->n, one_row, &s);
    hfi_free(ctx, s.scratch);
    return HF_OK;
}

/* Every input finite, every reading finite or missing, and at least one reading there. */
static hf_status check_neighbour_data(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                                      const double *y)
{
    size_t present = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < d; k++)
            if (!isfinite(x[i * ldx + k]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu is %g", k, i, x[i * ldx + k]);
        if (isinf(y[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "reading %zu is infinite; mark a missing reading with NaN", i);
        if (!isnan(y[i])) present++;
    }
    if (present > 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NO_DATA, "none of the %zu readings is present, so there is no centre", n);
}

hf_status hf_robust_centre_neighbours(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                                      const double *y, double *centre)
{
    if (y == NULL || centre == NULL || (x == NULL && d > 0))
        return hfi_refuse(ctx, "hf_robust_centre_neighbours: %s is NULL",
                          y == NULL        ? "y"
                          : centre == NULL ? "centre"
                                           : "x");
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the row stride %zu is smaller than the %zu inputs", ldx, d);
    hf_status status = check_neighbour_data(ctx, n, d, x, ldx, y);
    if (status < 0) return status;
    hfi_rows rows = {0};
    status = hfi_rows_create(ctx, n, d, x, ldx, &rows);
    if (status < 0) return status;
    status = median_of_neighbours(ctx, &rows, y, centre);
    hfi_rows_free(ctx, &rows);
    return status;
}

/* ---- distances --------------------------------------------------------------------------------------- */

/* Squared distances between rows by brute force: it needs no index, knows no curse of dimension, and is cheap
 * beside one factorisation of the same readings. */

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
