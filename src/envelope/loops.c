/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of the active set, for several processors. */
#include "envelope/loops.h"

#include "kernel/vector.h"

#if defined(__GNUC__) && !defined(__clang__)
#define SIMD_MAX(largest) HFI_PRAGMA(omp simd reduction(max : largest))
#else
#define SIMD_MAX(largest)
#endif

enum {
    ROWS = 512, /* of g that stay in the first-level cache while columns pass */
    LANES = 8,
    LOT = 128 /* rows of which only the largest is looked at */
};

/* g -= sum of eight columns */
HFI_INLINE void take_eight(size_t n, const double *const *c, const double *w, double *restrict g)
{
    const double *restrict c0 = c[0], *restrict c1 = c[1], *restrict c2 = c[2], *restrict c3 = c[3];
    const double *restrict c4 = c[4], *restrict c5 = c[5], *restrict c6 = c[6], *restrict c7 = c[7];
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];
    HFI_SIMD
    for (size_t i = 0; i < n; i++)
        g[i] -= ((w0 * c0[i] + w1 * c1[i]) + (w2 * c2[i] + w3 * c3[i])) +
                ((w4 * c4[i] + w5 * c5[i]) + (w6 * c6[i] + w7 * c7[i]));
}

HFI_INLINE void take_one(size_t n, const double *restrict c, double w, double *restrict g)
{
    HFI_SIMD
    for (size_t i = 0; i < n; i++) g[i] -= w * c[i];
}

HFI_CLONES
void hfi_active_price(size_t n, size_t count, const size_t *column, const double *weight, const double *k,
                      size_t ldk, const double *cross, double *g)
{
    for (size_t first = 0; first < n; first += ROWS) {
        const size_t rows = n - first < ROWS ? n - first : ROWS;
        double *part = g + first;
        for (size_t i = 0; i < rows; i++) part[i] = cross ? cross[first + i] : 0.0;
        size_t j = 0;
        for (; j + LANES <= count; j += LANES) {
            const double *c[LANES];
            for (size_t q = 0; q < LANES; q++) c[q] = k + column[j + q] * ldk + first;
            take_eight(rows, c, weight + j, part);
        }
        for (; j < count; j++) take_one(rows, k + column[j] * ldk + first, weight[j], part);
    }
}

HFI_INLINE double excess(double g, double t, double lower, double upper, double worth)
{
    const double above = g - t * upper, below = t * lower - g;
    return worth * (above > below ? above : below);
}

HFI_CLONES
size_t hfi_active_worst(size_t n, const double *g, double t, const double *lower, const double *upper,
                        const double *worth, double *most)
{
    size_t lot = n;
    double largest = 0.0;
    for (size_t first = 0; first < n; first += LOT) {
        const size_t end = n - first < LOT ? n : first + LOT;
        double top = 0.0;
        SIMD_MAX(top)
        for (size_t i = first; i < end; i++) {
            const double e = excess(g[i], t, lower[i], upper[i], worth[i]);
            top = e > top ? e : top;
        }
        if (!(top > largest)) continue;
        largest = top;
        lot = first;
    }
    *most = largest;
    /* Not looked for by its value, which another loop may round otherwise. */
    size_t worst = lot;
    double best = -1.0;
    for (size_t i = lot; i < n && i < lot + LOT; i++) {
        const double e = excess(g[i], t, lower[i], upper[i], worth[i]);
        if (!(e > best)) continue;
        best = e;
        worst = i;
    }
    return worst;
}

HFI_CLONES
void hfi_active_forward(size_t n, size_t from, const double *l, size_t ldl, double *x, double *z)
{
    for (size_t j = 0; j < n; j++) {
        const double *restrict column = l + j * ldl;
        if (j >= from) {
            x[j] /= column[j];
            z[j] /= column[j];
        }
        const double xj = x[j], zj = z[j];
        HFI_SIMD
        for (size_t i = j + 1 > from ? j + 1 : from; i < n; i++) {
            x[i] -= xj * column[i];
            z[i] -= zj * column[i];
        }
    }
}

HFI_CLONES
void hfi_active_backward(size_t n, const double *l, size_t ldl, double *x)
{
    for (size_t j = n; j-- > 0;) {
        const double *restrict column = l + j * ldl;
        double lane[LANES] = {0.0};
        size_t i = j + 1;
        for (; i + LANES <= n; i += LANES)
            for (size_t q = 0; q < LANES; q++) lane[q] += column[i + q] * x[i + q];
        for (; i < n; i++) lane[0] += column[i] * x[i];
        const double sum =
            ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
        x[j] = (x[j] - sum) / column[j];
    }
}
