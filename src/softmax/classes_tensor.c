/* SPDX-License-Identifier: Apache-2.0 */
/* Third and fourth derivatives of a'E[softmax] in the means, from moments of p, and what they make of the way
 * through a box: with D and X linear in u,
 *
 *     D^3 G [D] : X / 2 + D^4 G : X X / 8
 *
 * is a quadratic function of u. The derivative of a product of probabilities with the classes I along f_k is
 * (how often k is in I - |I| p_k) times it. */
#include "softmax/classes_impl.h"

#include <math.h>
#include <string.h>

enum {
    ORDER = 5
};

bool hfi_tensors_wanted(size_t classes)
{
    return classes <= HFI_TENSOR_CLASSES;
}

/* Moments of all orders up to 5 as dense arrays, C + C^2 + ... + C^5 numbers. */
typedef struct table {
    size_t classes;
    const double *of[ORDER + 1];
} table;

static size_t power(size_t base, int exponent)
{
    size_t out = 1;
    for (int k = 0; k < exponent; k++) out *= base;
    return out;
}

size_t hfi_tensor_room(size_t classes)
{
    size_t sum = 0;
    if (!hfi_tensors_wanted(classes)) return 0;
    for (int k = 1; k <= ORDER; k++) sum += power(classes, k);
    return sum + power(classes, 3) + power(classes, 4);
}

/* Every order of the digits has the moment of the sorted ones. */
static void spread_fifth(size_t n, const double *fifth, double *dense)
{
    const double *next = fifth;
    size_t at[ORDER];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            for (size_t k = j; k < n; k++)
                for (size_t l = k; l < n; l++)
                    for (size_t o = l; o < n; o++) dense[(((i * n + j) * n + k) * n + l) * n + o] = *next++;
    for (size_t q = 0; n > 0 && q < power(n, ORDER); q++) {
        size_t rest = q, sorted = 0;
        for (int k = ORDER - 1; k >= 0; k--) {
            at[k] = rest % n;
            rest /= n;
        }
        for (int k = 1; k < ORDER; k++)
            for (int b = k; b > 0 && at[b] < at[b - 1]; b--) {
                const size_t other = at[b];
                at[b] = at[b - 1];
                at[b - 1] = other;
            }
        for (int k = 0; k < ORDER; k++) sorted = sorted * n + at[k];
        if (sorted != q) dense[q] = dense[sorted];
    }
}

static table make_table(size_t n, const double *fifth, double *room)
{
    table t = {.classes = n};
    double *place[ORDER + 1];
    for (int k = 1; k <= ORDER; k++) {
        t.of[k] = place[k] = room;
        room += power(n, k);
    }
    spread_fifth(n, fifth, place[ORDER]);
    for (int k = ORDER - 1; k >= 1; k--)
        for (size_t q = 0; q < power(n, k); q++) {
            place[k][q] = 0.0;
            for (size_t c = 0; c < n; c++) place[k][q] += place[k + 1][q * n + c];
        }
    return t;
}

/* Derivative along `left` directions of the expectation of the product of the `count` probabilities in `have`. */
static double derivative(const table *t, const size_t *have, int count, const size_t *along, int left)
{
    if (left == 0) {
        size_t at = 0;
        for (int k = 0; k < count; k++) at = at * t->classes + have[k];
        return t->of[count][at];
    }
    size_t more[ORDER + 1];
    double often = 0.0, sum = 0.0;
    for (int k = 0; k < count; k++) {
        more[k] = have[k];
        often += have[k] == along[0];
    }
    more[count] = along[0];
    if (often > 0.0) sum += often * derivative(t, have, count, along + 1, left - 1);
    return sum - (double)count * derivative(t, more, count + 1, along + 1, left - 1);
}

/* Fills in the derivatives of a'E[softmax]: n^3 and n^4 entries. */
static void fill_softmax_derivatives(const table *t, const double *a, double *third, double *fourth)
{
    const size_t n = t->classes;
    size_t along[4];
    for (size_t q = 0; n > 0 && q < power(n, 4); q++) {
        size_t rest = q;
        for (int k = 3; k >= 0; k--) {
            along[k] = rest % n;
            rest /= n;
        }
        fourth[q] = 0.0;
        for (size_t c = 0; c < n; c++)
            if (a[c] != 0.0) fourth[q] += a[c] * derivative(t, &c, 1, along, 4);
        if (q % n != 0) continue;
        third[q / n] = 0.0;
        for (size_t c = 0; c < n; c++)
            if (a[c] != 0.0) third[q / n] += a[c] * derivative(t, &c, 1, along, 3);
    }
}

double hfi_tensor_tilt(const hfi_box *x, double *h)
{
    const size_t n = x->n, m = x->m, square = n * n;
    const hfi_box_scratch *b = x->b;
    double *third = b->tensor, *fourth = third + square * n, slopes = 0.0, moves = 0.0;
    const table t = make_table(n, b->fifth, fourth + square * square);
    fill_softmax_derivatives(&t, b->a, third, fourth);
    double *v = b->white, *w = v + n; /* D^3 : X_b and D^4 : X_b */
    for (size_t e = 0; e < m; e++) {
        const double *xe = x->s.linear + e * square;
        for (size_t i = 0; i < n; i++) v[i] = 0.0;
        for (size_t k = 0; k < square; k++) {
            w[k] = 0.0;
            slopes += fabs(xe[k]);
            for (size_t l = 0; l < square; l++) w[k] += fourth[k * square + l] * xe[l];
        }
        for (size_t i = 0; i < n; i++) {
            moves += fabs(x->mean[i].g[e]);
            for (size_t k = 0; k < square; k++) v[i] += third[i * square + k] * xe[k];
        }
        for (size_t a = 0; a < m; a++) {
            const double *xa = x->s.linear + a * square;
            double entry = 0.0;
            for (size_t i = 0; i < n; i++) entry += 0.5 * x->mean[i].g[a] * v[i];
            for (size_t k = 0; k < square; k++) entry += 0.125 * xa[k] * w[k];
            h[a * m + e] += entry;
            h[e * m + a] += entry;
        }
    }
    /* Four steps of the recursion have coefficients of at most 2 4 6 8 together, three of 48. */
    return 2.0 * x->error * (384.0 * 0.125 * slopes * slopes + 48.0 * 0.5 * moves * slopes);
}
