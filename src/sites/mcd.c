/* SPDX-License-Identifier: Apache-2.0 */
/* Concentration steps: from a mean and covariance to the nearest rows, and from these to theirs. */
#include "sites/mcd.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* A pivot below this share of its variance, for each column, says that the column follows from those before
 * it; and a variance below the second, in squared robust scales of the column, that the column is constant:
 * both are what rounding leaves. */
static const double FLAT_SHARE = 1e-13, FLAT_VARIANCE = 1e-24;

hf_status hfi_mcd_scratch_create(hf_context *ctx, size_t n, size_t p, hfi_mcd_scratch *out)
{
    double *block = hfi_alloc(ctx, 2 * n + 2 * p + p * p, sizeof *block);
    bool *chosen = hfi_alloc(ctx, n, sizeof *chosen);
    if (block == NULL || chosen == NULL) {
        HFI_FREE(ctx, block, chosen);
        return HF_ERR_MEMORY;
    }
    *out = (hfi_mcd_scratch){.block = block,
                             .fit = {.mean = block, .factor = block + p},
                             .distance = block + p + p * p,
                             .copy = block + p + p * p + n,
                             .work = block + p + p * p + 2 * n,
                             .chosen = chosen};
    return HF_OK;
}

void hfi_mcd_scratch_free(hf_context *ctx, hfi_mcd_scratch *scratch)
{
    HFI_FREE(ctx, scratch->block, scratch->chosen);
    *scratch = (hfi_mcd_scratch){0};
}

void hfi_mcd_fit_copy(size_t p, const hfi_mcd_fit *from, hfi_mcd_fit *to)
{
    memcpy(to->mean, from->mean, p * sizeof *to->mean);
    memcpy(to->factor, from->factor, p * p * sizeof *to->factor);
    to->log_determinant = from->log_determinant;
    to->singular = from->singular;
}

void hfi_mcd_moments(const hfi_mcd_rows *rows, const bool *chosen, size_t count, double *mean,
                     double *covariance)
{
    const size_t p = rows->p;
    memset(mean, 0, p * sizeof *mean);
    memset(covariance, 0, p * p * sizeof *covariance);
    for (size_t i = 0; i < rows->n; i++) {
        if (!chosen[i]) continue;
        for (size_t j = 0; j < p; j++) mean[j] += rows->u[i * p + j];
    }
    for (size_t j = 0; j < p; j++) mean[j] /= (double)count;
    for (size_t i = 0; i < rows->n; i++) {
        const double *u = rows->u + i * p;
        if (!chosen[i]) continue;
        for (size_t j = 0; j < p; j++)
            for (size_t k = j; k < p; k++) covariance[k + j * p] += (u[j] - mean[j]) * (u[k] - mean[k]);
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t k = j; k < p; k++) {
            covariance[k + j * p] /= (double)count;
            covariance[j + k * p] = covariance[k + j * p];
        }
    }
}

/* Factors the lower triangle; false when it is singular as far as rounding lets one see. `diagonal` is that
 * of the matrix. */
static bool factor_scatter(const hf_context *ctx, size_t p, double *a, const double *diagonal)
{
    for (size_t j = 0; j < p; j++)
        if (!(diagonal[j] > FLAT_VARIANCE)) return false;
    if (hfi_chol(ctx, p, a, p) < 0) return false;
    for (size_t j = 0; j < p; j++)
        if (a[j + j * p] * a[j + j * p] < (double)p * FLAT_SHARE * diagonal[j]) return false;
    return true;
}

/* The matrix again, from its upper triangle, with a share more on the diagonal. */
static void thicken(size_t p, double *a, const double *diagonal, double share)
{
    for (size_t j = 0; j < p; j++) {
        a[j + j * p] = diagonal[j] * (1.0 + share) + 10.0 * FLAT_VARIANCE;
        for (size_t k = j + 1; k < p; k++) a[k + j * p] = a[j + k * p];
    }
}

void hfi_mcd_fit_chosen(const hf_context *ctx, const hfi_mcd_rows *rows, size_t count,
                        hfi_mcd_scratch *scratch)
{
    const size_t p = rows->p;
    hfi_mcd_fit *fit = &scratch->fit;
    double *a = fit->factor, share = 10.0 * (double)p * FLAT_SHARE;
    hfi_mcd_moments(rows, scratch->chosen, count, fit->mean, a);
    for (size_t j = 0; j < p; j++) scratch->work[j] = a[j + j * p];
    fit->singular = !factor_scatter(ctx, p, a, scratch->work);
    if (fit->singular) {
        /* A little thickness lets the distances tell rows in the plane from rows off it, and the rows in it
         * from each other. */
        thicken(p, a, scratch->work, share);
        while (hfi_chol(ctx, p, a, p) < 0 && share < 1e6) thicken(p, a, scratch->work, share *= 100.0);
    }
    fit->log_determinant = hfi_chol_logdet(p, a, p);
}

/* Squared distance of a row; z is scratch. */
static double squared_distance(size_t p, const double *u, const hfi_mcd_fit *fit, double *z)
{
    double sum = 0.0;
    for (size_t j = 0; j < p; j++) z[j] = u[j] - fit->mean[j];
    for (size_t j = 0; j < p; j++) {
        const double *column = fit->factor + j * p;
        z[j] /= column[j];
        for (size_t k = j + 1; k < p; k++) z[k] -= column[k] * z[j];
        sum += z[j] * z[j];
    }
    return isnan(sum) ? INFINITY : sum;
}

/* The k-th smallest (from 0) of v, which is reordered: Hoare's quickselect about the median of three. */
static double kth_smallest(double *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const double a = v[low], b = v[low + (high - low) / 2], c = v[high];
        const double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i >= j) break;
            const double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        /* Everything up to j is at most the pivot, everything from there on at least. */
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[k];
}

void hfi_mcd_concentrate(const hf_context *ctx, const hfi_mcd_rows *rows, size_t h, hfi_mcd_scratch *scratch)
{
    const size_t n = rows->n;
    size_t nearer = 0;
    for (size_t i = 0; i < n; i++)
        scratch->distance[i] = squared_distance(rows->p, rows->u + i * rows->p, &scratch->fit, scratch->work);
    memcpy(scratch->copy, scratch->distance, n * sizeof *scratch->copy);
    const double furthest = kth_smallest(scratch->copy, n, h - 1);
    for (size_t i = 0; i < n; i++) nearer += scratch->distance[i] < furthest;
    for (size_t i = 0; i < n; i++) {
        scratch->chosen[i] = scratch->distance[i] < furthest;
        if (scratch->distance[i] == furthest && nearer < h) {
            scratch->chosen[i] = true;
            nearer++;
        }
    }
    hfi_mcd_fit_chosen(ctx, rows, h, scratch);
}

/* ---- one column -------------------------------------------------------------------------------------- */

/* One column: the h of n sorted values of least variance stand side by side, so that every window can be
 * tried. (Rousseeuw and Leroy, "Robust Regression and Outlier Detection", chapter 4). */

void hfi_mcd_window(size_t n, const double *u, size_t h, bool *chosen)
{
    const double anchor = u[n - h]; /* in every window, because 2 h > n */
    double least_range = INFINITY, best = INFINITY;
    long double sum = 0.0L, squares = 0.0L;
    size_t begin = 0, from = n; /* `from`: the first window of the run whose sums are held; n: none */
    for (size_t s = 0; s + h <= n; s++) least_range = fmin(least_range, u[s + h - 1] - u[s]);
    /* Squared deviations add up to at least half the squared range and at most h/4 times it: wider windows
     * than this cannot win, and are not let into the sums, which a far value would spoil. */
    const double widest = least_range * sqrt(0.5 * (double)h) * (1.0 + 1e-9);
    for (size_t s = 0; s + h <= n; s++) {
        if (u[s + h - 1] - u[s] > widest) {
            from = n;
            continue;
        }
        if (from == n) {
            from = s;
            sum = squares = 0.0L;
            for (size_t i = s; i < s + h; i++) {
                const long double d = (long double)u[i] - anchor;
                sum += d;
                squares += d * d;
            }
        } else {
            const long double in = (long double)u[s + h - 1] - anchor, out = (long double)u[s - 1] - anchor;
            sum += in - out;
            squares += (in - out) * (in + out);
        }
        const double scatter = (double)(squares - sum * sum / (long double)h);
        if (scatter < best) {
            best = scatter;
            begin = s;
        }
    }
    for (size_t i = 0; i < n; i++) chosen[i] = i >= begin && i < begin + h;
}
