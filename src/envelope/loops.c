/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of the active set, for several processors. */
#include "envelope/loops.h"

#include "kernel/vector.h"

#include <stdbool.h>

#if defined(__GNUC__) && !defined(__clang__)
#define SIMD_MAX(largest) HFI_PRAGMA(omp simd reduction(max : largest))
#else
#define SIMD_MAX(largest)
#endif

enum {
    ROWS = 512, /* of g that stay in the first-level cache while columns pass */
    LANES = 8,
    BLOCK = 4,  /* columns of a factor at a time */
    LOT = 128,  /* rows of which only the largest is looked at */
    CHUNK = 256 /* columns of the table that are rotated at a time */
};

/* Share of a reading's variance that is added to what the support leaves of it. Where many readings promise the same
 * (as where all agree), the one best told from the support comes first; the factor stays well conditioned. */
#define SPARED 1e-6

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
            for (size_t q = 0; q < LANES; q++) c[q] = k + (column ? column[j + q] : j + q) * ldk + first;
            take_eight(rows, c, weight + j, part);
        }
        for (; j < count; j++) take_one(rows, k + (column ? column[j] : j) * ldk + first, weight[j], part);
    }
}

HFI_INLINE double excess(double g, double t, double lower, double upper, double worth)
{
    const double above = g - t * upper, below = t * lower - g;
    return worth * (above > below ? above : below);
}

/* Fall of U when the reading enters, but for a factor that all readings share; the violation where `left` is not known;
 * 0 where the reading does not ask to enter. */
HFI_INLINE double gain(double e, double worth, double left, double tolerance, bool steep)
{
    const double share = steep ? (left > 0.0 ? left : 0.0) * worth * worth : 1.0;
    const double promise = steep ? e * e / (share + SPARED) : e;
    return e > tolerance ? promise : 0.0;
}

HFI_INLINE size_t best_of(size_t n, const double *g, double t, const double *lower, const double *upper,
                          const double *worth, const double *left, double tolerance, bool steep)
{
    size_t lot = n;
    double largest = 0.0;
    for (size_t first = 0; first < n; first += LOT) {
        const size_t end = n - first < LOT ? n : first + LOT;
        double top = 0.0;
        SIMD_MAX(top)
        for (size_t i = first; i < end; i++) {
            const double e = excess(g[i], t, lower[i], upper[i], worth[i]);
            const double promise = gain(e, worth[i], left[i], tolerance, steep);
            top = promise > top ? promise : top;
        }
        if (!(top > largest)) continue;
        largest = top;
        lot = first;
    }
    /* Not looked for by its value, which another loop may round otherwise. */
    size_t best = lot;
    double most = -1.0;
    for (size_t i = lot; i < n && i < lot + LOT; i++) {
        const double e = excess(g[i], t, lower[i], upper[i], worth[i]);
        const double promise = gain(e, worth[i], left[i], tolerance, steep);
        if (!(promise > most)) continue;
        most = promise;
        best = i;
    }
    return best;
}

HFI_CLONES
size_t hfi_active_best(size_t n, const double *g, double t, const double *lower, const double *upper,
                       const double *worth, const double *left, double tolerance)
{
    return left ? best_of(n, g, t, lower, upper, worth, left, tolerance, true)
                : best_of(n, g, t, lower, upper, worth, worth, tolerance, false);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

HFI_CLONES
void hfi_active_absorb(size_t n, double scale, double u, double v, double *restrict row,
                       double *restrict rest, double *restrict held, double *restrict left)
{
    HFI_SIMD
    for (size_t i = 0; i < n; i++) {
        const double w = scale * row[i];
        row[i] = w;
        rest[i] -= u * w;
        held[i] += v * w;
        left[i] -= w * w;
    }
}

HFI_INLINE void turn(size_t n, double c, double s, const double *restrict next, double *restrict row,
                     double *restrict carry)
{
    HFI_SIMD
    for (size_t i = 0; i < n; i++) {
        const double a = carry[i], b = next[i];
        row[i] = c * a + s * b;
        carry[i] = c * b - s * a;
    }
}

HFI_CLONES
void hfi_active_turn(size_t n, double c, double s, const double *next, double *row, double *carry)
{
    turn(n, c, s, next, row, carry);
}

HFI_CLONES
void hfi_active_rotate(size_t n, size_t count, const double *c, const double *s, double u, double v,
                       double *w, size_t ldw, double *rest, double *held, double *left)
{
    double carry[CHUNK];
    for (size_t first = 0; first < n; first += CHUNK) {
        const size_t end = n - first < CHUNK ? n : first + CHUNK;
        for (size_t i = first; i < end; i++) carry[i - first] = w[i];
        for (size_t j = 0; j < count; j++)
            turn(end - first, c[j], s[j], w + (j + 1) * ldw + first, w + j * ldw + first, carry);
        for (size_t i = first; i < end; i++) {
            rest[i] += u * carry[i - first];
            held[i] -= v * carry[i - first];
            left[i] += carry[i - first] * carry[i - first];
        }
    }
}

/* ---- triangles ----------------------------------------------------------------------------------------- */

/* Applies `count` solved columns of L to its rows from `first` on: x -= those columns times their x. */
HFI_INLINE void apply(size_t n, size_t first, size_t j, size_t count, const double *l, size_t ldl,
                      double *restrict x)
{
    if (count < BLOCK) {
        for (size_t c = j; c < j + count; c++) take_one(n - first, l + c * ldl + first, x[c], x + first);
        return;
    }
    const double *restrict c0 = l + j * ldl, *restrict c1 = c0 + ldl, *restrict c2 = c1 + ldl,
                           *restrict c3 = c2 + ldl;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    HFI_SIMD
    for (size_t i = first; i < n; i++) x[i] -= (x0 * c0[i] + x1 * c1[i]) + (x2 * c2[i] + x3 * c3[i]);
}

/* The triangle of the columns j to j + count - 1. Quotients are made ahead of the chain in which they are needed. */
HFI_INLINE void solve_block(size_t j, size_t count, const double *l, size_t ldl, double *x)
{
    if (count < BLOCK) {
        for (size_t c = j; c < j + count; c++) {
            const double *column = l + c * ldl;
            x[c] /= column[c];
            for (size_t i = c + 1; i < j + count; i++) x[i] -= x[c] * column[i];
        }
        return;
    }
    const double *c0 = l + j * (ldl + 1), *c1 = c0 + ldl, *c2 = c1 + ldl, *c3 = c2 + ldl;
    const double q0 = 1.0 / c0[0], q1 = 1.0 / c1[1], q2 = 1.0 / c2[2], q3 = 1.0 / c3[3];
    double *own = x + j;
    const double x0 = own[0] * q0, x1 = (own[1] - x0 * c0[1]) * q1;
    const double x2 = ((own[2] - x0 * c0[2]) - x1 * c1[2]) * q2;
    const double x3 = (((own[3] - x0 * c0[3]) - x1 * c1[3]) - x2 * c2[3]) * q3;
    own[0] = x0;
    own[1] = x1;
    own[2] = x2;
    own[3] = x3;
}

HFI_INLINE size_t block_at(size_t j, size_t end)
{
    return end - j < BLOCK ? end - j : (size_t)BLOCK;
}

HFI_CLONES
void hfi_active_forward(size_t n, size_t from, const double *l, size_t ldl, double *x, double *z)
{
    for (size_t j = 0; j < from; j += BLOCK) {
        apply(n, from, j, block_at(j, from), l, ldl, x);
        if (z) apply(n, from, j, block_at(j, from), l, ldl, z);
    }
    for (size_t j = from; j < n; j += BLOCK) {
        const size_t count = block_at(j, n);
        solve_block(j, count, l, ldl, x);
        if (z) solve_block(j, count, l, ldl, z);
        apply(n, j + count, j, count, l, ldl, x);
        if (z) apply(n, j + count, j, count, l, ldl, z);
    }
}

/* Four places of L^-T x, above those that are solved: `later` are the four next ones, the others are read from x. */
HFI_INLINE void solve_four(size_t behind, const double *column, size_t ldl, double *x, double later[BLOCK])
{
    const double *c0 = column, *c1 = c0 + ldl, *c2 = c1 + ldl, *c3 = c2 + ldl;
    const double q0 = 1.0 / c0[0], q1 = 1.0 / c1[1], q2 = 1.0 / c2[2], q3 = 1.0 / c3[3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    HFI_SIMD_SUM(s0, s1, s2, s3)
    for (size_t i = 2 * BLOCK; i < BLOCK + behind; i++) {
        s0 += c0[i] * x[i];
        s1 += c1[i] * x[i];
        s2 += c2[i] * x[i];
        s3 += c3[i] * x[i];
    }
    const double p0 = later[0], p1 = later[1], p2 = later[2], p3 = later[3];
    if (behind > 0) {
        s0 += (c0[4] * p0 + c0[5] * p1) + (c0[6] * p2 + c0[7] * p3);
        s1 += (c1[4] * p0 + c1[5] * p1) + (c1[6] * p2 + c1[7] * p3);
        s2 += (c2[4] * p0 + c2[5] * p1) + (c2[6] * p2 + c2[7] * p3);
        s3 += (c3[4] * p0 + c3[5] * p1) + (c3[6] * p2 + c3[7] * p3);
    }
    const double x3 = (x[3] - s3) * q3, x2 = ((x[2] - s2) - c2[3] * x3) * q2;
    const double x1 = (((x[1] - s1) - c1[2] * x2) - c1[3] * x3) * q1;
    const double x0 = ((((x[0] - s0) - c0[1] * x1) - c0[2] * x2) - c0[3] * x3) * q0;
    x[0] = later[0] = x0;
    x[1] = later[1] = x1;
    x[2] = later[2] = x2;
    x[3] = later[3] = x3;
}

HFI_CLONES
void hfi_active_backward(size_t n, const double *l, size_t ldl, double *x)
{
    double later[BLOCK] = {0.0};
    size_t j = n;
    for (; j >= BLOCK; j -= BLOCK) solve_four(n - j, l + (j - BLOCK) * (ldl + 1), ldl, x + j - BLOCK, later);
    while (j-- > 0) {
        const double *column = l + j * ldl;
        double sum = 0.0;
        HFI_SIMD_SUM(sum)
        for (size_t i = j + 1; i < n; i++) sum += column[i] * x[i];
        x[j] = (x[j] - sum) / column[j];
    }
}
