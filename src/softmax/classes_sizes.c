/* SPDX-License-Identifier: Apache-2.0 */
/* How far means and covariances move in a box, in two measures: by what softmax itself can do (cumulants of
 * variables in [0, 1]), and by what is left of it after smoothing with the covariance S at the centre. E[s(m
 * + n)], n ~ N(0, S), has derivatives E[(s - 1/2) He_k(n)], and the Hermite tensors have E[(He_k : T)^2] = k!
 * |T|^2, lengths being those of S^-1/2 v and S^-1/2 X S^-1/2. */
#include "softmax/classes_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- sizes of matrices ------------------------------------------------------------------------------------------- */

/* sum_j |X_jj - sum_k X_jk| + sum_jk |X_jk| for the differences to class r (r = C: the values themselves): X
 * = sum_j (.) e_j e_j' + sum_jk X_jk (e_j + e_k)(e_j + e_k)'. */
static double size_to(size_t n, const double *x, size_t r)
{
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) {
        double own = 0.0;
        if (j == r) continue;
        for (size_t k = 0; k < n; k++) {
            if (k == r) continue;
            double entry = x[j * n + k];
            if (r < n) entry += x[r * n + r] - x[j * n + r] - x[r * n + k];
            own += k == j ? entry : -entry;
            if (k > j) sum += fabs(entry);
        }
        sum += fabs(own);
    }
    return sum;
}

double hfi_matrix_size(size_t n, const double *x)
{
    double least = (double)INFINITY;
    for (size_t r = 0; r <= n; r++) least = fmin(least, size_to(n, x, r));
    return least * (1.0 + 64.0 * DBL_EPSILON);
}

/* Size of a symmetric matrix with entries at most so large:
 * e_i e_j' + e_j e_i' = ((e_i + e_j)(.)' - (e_i - e_j)(.)') / 2. */
static double size_of_sizes(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) sum += i == j ? x[i * n + j] : 2.5 * fmax(x[i * n + j], x[j * n + i]);
    return sum;
}

/* ---- a box ------------------------------------------------------------------------------------------------------- */

/* Largest change of the difference of two means. */
static double pair_moves(const hfi_box *x, size_t i, size_t j)
{
    const hfi_mean_model *a = &x->mean[i], *b = &x->mean[j];
    double fine = a->remainder + b->remainder, square = 0.0;
    for (size_t f = 0; f < x->m; f++) fine += fabs(a->g[f] - b->g[f]);
    for (size_t k = 0; k < x->m * x->m; k++) square += fabs(a->h[k] - b->h[k]);
    fine += 0.5 * square;
    const double crude = fmax(a->crude_upper - a->value, a->value - a->crude_lower) +
                         fmax(b->crude_upper - b->value, b->value - b->crude_lower);
    return (fmin(fine, crude) + a->rounding + b->rounding) * (1.0 + 64.0 * DBL_EPSILON);
}

/* ---- after smoothing --------------------------------------------------------------------------------------------- */

/* Factor of the covariance of the differences to the last class, (C - 1) x (C - 1) row by row; false where it
 * has none. */
static bool factor_differences(size_t n, const double *s, double *l)
{
    const size_t q = n - 1;
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j <= i; j++) {
            const double whole = s[i * n + j] + s[q * n + q] - s[i * n + q] - s[q * n + j];
            double value = whole;
            for (size_t k = 0; k < j; k++) value -= l[i * q + k] * l[j * q + k];
            if (i == j && !(value > 1e-6 * whole)) return false;
            l[i * q + j] = i == j ? sqrt(value) : value / l[j * q + j];
        }
    return true;
}

/* v := L^-1 v */
static void divide(size_t q, const double *l, double *v)
{
    for (size_t i = 0; i < q; i++) {
        for (size_t k = 0; k < i; k++) v[i] -= l[i * q + k] * v[k];
        v[i] /= l[i * q + i];
    }
}

/* out := L^-1 X L^-T of the differences of X (C x C) to the last class; work q. */
static void whiten_differences(size_t n, const double *l, const double *x, double *out)
{
    const size_t q = n - 1;
    for (size_t i = 0; i < q; i++) {
        for (size_t j = 0; j < q; j++)
            out[i * q + j] = x[i * n + j] + x[q * n + q] - x[i * n + q] - x[q * n + j];
        divide(q, l, out + i * q);
    }
    /* Rows are L^-1 X now; the columns. */
    for (size_t j = 0; j < q; j++) {
        for (size_t i = 0; i < q; i++) {
            double value = out[i * q + j];
            for (size_t k = 0; k < i; k++) value -= l[i * q + k] * out[k * q + j];
            out[i * q + j] = value / l[i * q + i];
        }
    }
}

static double length_of(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) sum += v[k] * v[k];
    return sqrt(sum);
}

/* The largest length of sum_a u_a v_a over the cube; v is m x count. */
static double longest(size_t m, size_t count, const double *v)
{
    double by_lengths = 0.0, square = 0.0;
    for (size_t a = 0; a < m; a++) {
        by_lengths += length_of(count, v + a * count);
        for (size_t b = 0; b < m; b++) {
            double sum = 0.0;
            for (size_t k = 0; k < count; k++) sum += v[a * count + k] * v[b * count + k];
            square += fabs(sum);
        }
    }
    return fmin(by_lengths, sqrt(square));
}

/* |L^-1|, of the inverse's entries. */
static double inverse_length(size_t q, const double *l, double *column)
{
    double sum = 0.0;
    for (size_t j = 0; j < q; j++) {
        memset(column, 0, q * sizeof *column);
        column[j] = 1.0;
        divide(q, l, column);
        for (size_t i = 0; i < q; i++) sum += column[i] * column[i];
    }
    return sqrt(sum);
}

/* Lengths of the differences of means (a row of m x q for the slopes, then squares one by one). */
static double scaled_moves(const hfi_box *x, double inverse, double *rest)
{
    const size_t m = x->m, q = x->n - 1;
    const double *l = x->b->factor;
    double *rows = x->b->white, *one = x->b->at, lost = 0.0, sum = 0.0;
    for (size_t a = 0; a < m; a++) {
        for (size_t i = 0; i < q; i++) rows[a * q + i] = x->mean[i].g[a] - x->mean[q].g[a];
        divide(q, l, rows + a * q);
    }
    const double linear = longest(m, q, rows);
    for (size_t k = 0; k < m * m; k++) {
        for (size_t i = 0; i < q; i++) one[i] = x->mean[i].h[k] - x->mean[q].h[k];
        divide(q, l, one);
        sum += 0.5 * length_of(q, one);
    }
    for (size_t i = 0; i < q; i++) {
        const hfi_mean_model *a = &x->mean[i], *b = &x->mean[q];
        const double off = a->remainder + a->rounding + b->remainder + b->rounding;
        lost += off * off;
    }
    *rest = (sum + inverse * sqrt(lost)) * (1.0 + 1e-9);
    return linear + *rest;
}

/* Length of the change of one class's mean by 1. */
double hfi_box_length(const hfi_box *x, size_t c)
{
    const size_t q = x->n - 1;
    double *one = x->b->at;
    if (!x->smooth) return (double)INFINITY;
    for (size_t i = 0; i < q; i++) one[i] = c == q ? -1.0 : i == c ? 1.0 : 0.0;
    divide(q, x->b->factor, one);
    return length_of(q, one) * (1.0 + 1e-9);
}

/* Bounds what the remainders r of the features add to the whitened differences, w r' + r w' + r r': |w| in the sense of
 * operators, |r| entry by entry. A priori the classes know nothing of each other: their features are orthogonal.
 * The data leave or explain a projection of them; therefore the squares of the classes' lengths add up. */
static double scaled_remainders(const hfi_box *x)
{
    const size_t n = x->n, q = n - 1;
    double *rows = x->b->white, moved = 0.0, lost = 0.0, row = 0.0;
    whiten_differences(n, x->b->factor, x->s.meets, rows);
    for (size_t i = 0; i < q; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < q; j++) sum += fabs(rows[i * q + j]);
        row = fmax(row, sum);
    }
    for (size_t c = 0; c < n; c++) {
        const double unit = hfi_box_length(x, c), away = unit * (x->s.moved[c] + x->s.remainder[c]),
                     own = unit * x->s.remainder[c];
        moved += away * away;
        lost += own * own;
    }
    moved = sqrt(moved);
    lost = sqrt(lost);
    return 2.0 * (sqrt(row) + moved) * lost + lost * lost;
}

static double scaled_spread(const hfi_box *x, double inverse, double *rest)
{
    const size_t m = x->m, n = x->n, q = n - 1, square = n * n;
    const double *l = x->b->factor;
    double *rows = x->b->white, off = 0.0, sum = 0.0;
    for (size_t a = 0; a < m; a++) whiten_differences(n, l, x->s.linear + a * square, rows + a * q * q);
    const double linear = longest(m, q * q, rows);
    double *along = x->b->along, total = 0.0;
    for (size_t a = 0; a < m; a++) along[a] = length_of(q * q, rows + a * q * q);
    for (size_t a = 0, k = 0; a < m; a++)
        for (size_t b = a; b < m; b++, k++) {
            whiten_differences(n, l, x->s.square + k * square, rows);
            const double length = length_of(q * q, rows);
            sum += length;
            along[a] += length;
            along[b] += length;
        }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++) {
            const double *lost = x->s.lost;
            const double entry = lost[i * n + j] + lost[q * n + q] + lost[i * n + q] + lost[q * n + j];
            off += entry * entry;
        }
    const double left = inverse * inverse * sqrt(off) + scaled_remainders(x);
    for (size_t a = 0; a < m; a++) total += x->s.share[a];
    for (size_t a = 0; total > 0.0 && a < m; a++) along[a] += 2.5 * left * x->s.share[a] / total;
    *rest = (sum + left) * (1.0 + 1e-9);
    return linear + *rest;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

void hfi_box_sizes(hfi_box *x)
{
    const size_t n = x->n, square = n * n, pairs = x->m * (x->m + 1) / 2;
    const hfi_covariance_model *s = &x->s;
    double *lost = x->b->spare;
    x->moves = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) x->moves = fmax(x->moves, pair_moves(x, i, j));
    x->spread = 0.0;
    for (size_t a = 0; a < x->m; a++) x->spread += hfi_matrix_size(n, s->linear + a * square);
    for (size_t k = 0; k < pairs; k++) x->spread += hfi_matrix_size(n, s->square + k * square);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double li = sqrt(fmax(s->meets[i * n + i], 0.0)) + s->moved[i] + s->remainder[i],
                         lj = sqrt(fmax(s->meets[j * n + j], 0.0)) + s->moved[j] + s->remainder[j];
            lost[i * n + j] = s->lost[i * n + j] + s->remainder[i] * lj + s->remainder[j] * li +
                              s->remainder[i] * s->remainder[j];
        }
    x->spread = (x->spread + size_of_sizes(n, lost)) * (1.0 + 1e-12);
    x->scaled_moves = x->scaled_spread = (double)INFINITY;
    x->thinner = 1.0;
    x->smooth = factor_differences(n, s->here, x->b->factor);
    if (!x->smooth) return;
    const double inverse = inverse_length(n - 1, x->b->factor, x->b->at);
    const double spread = scaled_spread(x, inverse, &x->spread_rest) * (1.0 + 1e-9);
    if (!(spread < 0.9)) return;
    x->scaled_moves = scaled_moves(x, inverse, &x->moves_rest) * (1.0 + 1e-9);
    x->scaled_spread = spread;
    x->thinner = 1.0 / (1.0 - spread);
}
