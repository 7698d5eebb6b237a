/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_kl.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small algebra: r x r by rows ----------------------------------------------------------------- */

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* Lower factor; what is above the diagonal is 0. Returns log det. */
static double factorise(size_t r, const double *a, double *f)
{
    double log_det = 0.0;
    memset(f, 0, r * r * sizeof *f);
    for (size_t i = 0; i < r; ++i)
        for (size_t j = 0; j <= i; ++j) {
            const double rest = a[i * r + j] - dot(j, f + i * r, f + j * r);
            f[i * r + j] = i == j ? sqrt(rest) : rest / f[j * r + j];
            if (i == j) log_det += log(rest);
        }
    return log_det;
}

static void forward(size_t r, const double *f, double *v)
{
    for (size_t i = 0; i < r; ++i) v[i] = (v[i] - dot(i, f + i * r, v)) / f[i * r + i];
}

static void solve(size_t r, const double *f, double *v)
{
    forward(r, f, v);
    for (size_t i = r; i-- > 0;) {
        v[i] /= f[i * r + i];
        for (size_t j = 0; j < i; ++j) v[j] -= f[i * r + j] * v[i];
    }
}

/* tr(A S), S the inverse of what f factors; A symmetric. */
static double trace_of(size_t r, const double *a, const double *f)
{
    double *column = room(r, sizeof *column), sum = 0.0;
    for (size_t j = 0; j < r; ++j) {
        memcpy(column, a + j * r, r * sizeof *column);
        solve(r, f, column);
        sum += column[j];
    }
    free(column);
    return sum;
}

static void multiply(size_t r, const double *a, const double *b, double *out)
{
    memset(out, 0, r * r * sizeof *out);
    for (size_t i = 0; i < r; ++i)
        for (size_t k = 0; k < r; ++k)
            for (size_t j = 0; j < r; ++j) out[i * r + j] += a[i * r + k] * b[k * r + j];
}

/* ---- the frame ------------------------------------------------------------------------------------- */

static double kernel(const kl_frame *frame, double a, double b)
{
    const double z = (a - b) / frame->lengthscale;
    return frame->variance * exp(-0.5 * z * z);
}

void kl_frame_make(size_t n, const double *x, const double *noise, double variance, double lengthscale,
                   kl_frame *out)
{
    *out = (kl_frame){.n = n, .variance = variance, .lengthscale = lengthscale, .x = x, .noise = noise};
    double *left = room(n, sizeof *left), *full = room(n * n, sizeof *full);
    out->pivot = room(n, sizeof *out->pivot);
    for (size_t i = 0; i < n; ++i) left[i] = variance;
    while (out->r < n) {
        size_t p = 0;
        for (size_t i = 1; i < n; ++i)
            if (left[i] > left[p]) p = i;
        if (!(left[p] > 1e-10 * variance)) break;
        const double root = sqrt(left[p]);
        for (size_t i = 0; i < n; ++i) {
            const double rest = kernel(out, x[i], x[p]) - dot(out->r, full + i * n, full + p * n);
            full[i * n + out->r] = rest / root;
        }
        for (size_t i = 0; i < n; ++i) left[i] -= full[i * n + out->r] * full[i * n + out->r];
        left[p] = 0.0;
        out->pivot[out->r++] = p;
    }
    out->l = room(n * out->r, sizeof *out->l);
    for (size_t i = 0; i < n; ++i) memcpy(out->l + i * out->r, full + i * n, out->r * sizeof *out->l);
    free(left);
    free(full);
}

void kl_frame_free(kl_frame *frame)
{
    free(frame->l);
    free(frame->pivot);
    *frame = (kl_frame){0};
}

/* A := sum over the readings held of l l' / noise. */
static void information(const kl_frame *frame, const bool *holds, double *a)
{
    const size_t r = frame->r;
    memset(a, 0, r * r * sizeof *a);
    for (size_t i = 0; i < frame->n; ++i) {
        const double *l = frame->l + i * r;
        if (holds && !holds[i]) continue;
        for (size_t j = 0; j < r; ++j)
            for (size_t k = 0; k < r; ++k) a[j * r + k] += l[j] * l[k] / frame->noise[i];
    }
}

/* ---- posteriors ------------------------------------------------------------------------------------ */

static void complete(kl_posterior *p)
{
    const size_t r = p->frame->r;
    for (size_t j = 0; j < r; ++j) p->precision[j * (r + 1)] += 1.0;
    p->factor = room(r * r, sizeof *p->factor);
    p->log_det = factorise(r, p->precision, p->factor);
}

void kl_exact(const kl_frame *frame, const bool *holds, kl_posterior *out)
{
    *out = (kl_posterior){.frame = frame, .holds = holds};
    out->precision = room(frame->r * frame->r, sizeof *out->precision);
    information(frame, holds, out->precision);
    complete(out);
}

/* The projection on the rows of L that the chosen readings have, by Gram and Schmidt, twice. */
static double *projection(const kl_frame *frame, size_t m, const size_t *rows)
{
    const size_t r = frame->r;
    double *p = room(r * r, sizeof *p), *basis = room(m * r, sizeof *basis);
    size_t count = 0;
    for (size_t k = 0; k < m; ++k) {
        double *v = basis + count * r;
        memcpy(v, frame->l + rows[k] * r, r * sizeof *v);
        const double size = sqrt(dot(r, v, v));
        for (size_t b = 0; b < 2 * count; ++b) {
            const double *u = basis + b % count * r, along = dot(r, u, v);
            for (size_t j = 0; j < r; ++j) v[j] -= along * u[j];
        }
        const double rest = sqrt(dot(r, v, v));
        if (!(rest > 1e-7 * size)) continue;
        for (size_t j = 0; j < r; ++j) v[j] /= rest;
        for (size_t i = 0; i < r; ++i)
            for (size_t j = 0; j < r; ++j) p[i * r + j] += v[i] * v[j];
        ++count;
    }
    free(basis);
    return p;
}

void kl_variational(const kl_frame *frame, size_t m, const size_t *rows, kl_posterior *out)
{
    const size_t r = frame->r;
    *out = (kl_posterior){.frame = frame, .project = projection(frame, m, rows)};
    double *a = room(r * r, sizeof *a), *half = room(r * r, sizeof *half);
    information(frame, NULL, a);
    multiply(r, out->project, a, half);
    multiply(r, half, out->project, a);
    free(half);
    out->precision = a;
    complete(out);
}

void kl_posterior_free(kl_posterior *posterior)
{
    free(posterior->precision);
    free(posterior->factor);
    free(posterior->project);
    *posterior = (kl_posterior){0};
}

void kl_mean(const kl_posterior *posterior, const double *y, double *a)
{
    const kl_frame *frame = posterior->frame;
    const size_t r = frame->r;
    double *sum = room(r, sizeof *sum);
    for (size_t i = 0; i < frame->n; ++i)
        if (!posterior->holds || posterior->holds[i])
            for (size_t j = 0; j < r; ++j) sum[j] += frame->l[i * r + j] * y[i] / frame->noise[i];
    memcpy(a, sum, r * sizeof *a);
    if (posterior->project)
        for (size_t j = 0; j < r; ++j) a[j] = dot(r, posterior->project + j * r, sum);
    free(sum);
    solve(r, posterior->factor, a);
}

/* ---- distances ------------------------------------------------------------------------------------- */

double kl_distance(const kl_posterior *q, const kl_posterior *p, const double *mean_q, const double *mean_p)
{
    const size_t r = p->frame->r;
    double off = 0.0;
    for (size_t i = 0; i < r; ++i)
        for (size_t j = 0; j < r; ++j)
            off += (mean_q[i] - mean_p[i]) * p->precision[i * r + j] * (mean_q[j] - mean_p[j]);
    return 0.5 * (trace_of(r, p->precision, q->factor) - (double)r + off + q->log_det - p->log_det);
}

/* The covariance of a_p - a_q is what p knows more: C_q^-1 - C_p^-1. */
double kl_expected_part(const kl_posterior *q, const kl_posterior *p)
{
    const size_t r = p->frame->r;
    return trace_of(r, p->precision, q->factor) - (double)r + 0.5 * (q->log_det - p->log_det);
}

/* tr((Q + D)^-1 (K - Q)) with K - Q = L (I - P) L', and what is left of D^-1 after Q. */
double kl_expected_variational(const kl_posterior *q, const kl_posterior *p)
{
    const size_t r = p->frame->r;
    double *a = room(r * r, sizeof *a), *pa = room(r * r, sizeof *pa), *both = room(r * r, sizeof *both),
           *rest = room(r * r, sizeof *rest);
    information(p->frame, NULL, a);
    multiply(r, q->project, a, pa);
    double trace = 0.0;
    for (size_t j = 0; j < r; ++j) trace += a[j * (r + 1)] - pa[j * (r + 1)];
    multiply(r, pa, q->project, both); /* P A P */
    for (size_t i = 0; i < r * r; ++i) rest[i] = pa[i] - both[i];
    for (size_t i = 0; i < r; ++i)
        for (size_t j = 0; j < r; ++j) both[i * r + j] = dot(r, rest + i * r, rest + j * r);
    const double less = trace_of(r, both, q->factor);
    free(a);
    free(pa);
    free(both);
    free(rest);
    return 0.5 * (q->log_det - p->log_det + trace - less) + 0.5 * trace;
}

double kl_trace_bound(const kl_posterior *variational)
{
    const kl_frame *frame = variational->frame;
    const size_t r = frame->r;
    double sum = 0.0, least = INFINITY;
    for (size_t i = 0; i < frame->n; ++i) {
        const double *l = frame->l + i * r;
        double kept = 0.0;
        for (size_t j = 0; j < r; ++j) kept += l[j] * dot(r, variational->project + j * r, l);
        sum += fmax(frame->variance - kept, 0.0);
        least = fmin(least, frame->noise[i]);
    }
    return sum / least;
}

/* One turn of Jacobi's method that makes entry (i, j) of a symmetric matrix zero. */
static void turn(size_t r, double *a, size_t i, size_t j)
{
    if (a[i * r + j] == 0.0) return;
    const double half = 0.5 * (a[j * (r + 1)] - a[i * (r + 1)]) / a[i * r + j];
    const double t = (half < 0.0 ? -1.0 : 1.0) / (fabs(half) + sqrt(half * half + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (size_t k = 0; k < r; ++k) {
        const double left = a[k * r + i], right = a[k * r + j];
        a[k * r + i] = c * left - s * right;
        a[k * r + j] = s * left + c * right;
    }
    for (size_t k = 0; k < r; ++k) {
        const double left = a[i * r + k], right = a[j * r + k];
        a[i * r + k] = c * left - s * right;
        a[j * r + k] = s * left + c * right;
    }
}

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Those of L'L are K's that are not zero. */
double kl_tail(const kl_frame *frame, size_t m)
{
    const size_t r = frame->r;
    double *a = room(r * r, sizeof *a), *value = room(r, sizeof *value), sum = 0.0;
    for (size_t i = 0; i < frame->n; ++i)
        for (size_t j = 0; j < r; ++j)
            for (size_t k = 0; k < r; ++k) a[j * r + k] += frame->l[i * r + j] * frame->l[i * r + k];
    for (int sweep = 0; sweep < 12; ++sweep)
        for (size_t i = 0; i < r; ++i)
            for (size_t j = i + 1; j < r; ++j) turn(r, a, i, j);
    for (size_t j = 0; j < r; ++j) value[j] = a[j * (r + 1)];
    qsort(value, r, sizeof *value, larger_first);
    for (size_t j = m; j < r; ++j) sum += fmax(value[j], 0.0);
    free(a);
    free(value);
    return sum;
}

void kl_predict(const kl_posterior *posterior, const double *a, double x, double *mean, double *variance)
{
    const kl_frame *frame = posterior->frame;
    const size_t r = frame->r;
    double *v = room(r, sizeof *v);
    for (size_t j = 0; j < r; ++j) {
        const double *row = frame->l + frame->pivot[j] * r;
        v[j] = (kernel(frame, x, frame->x[frame->pivot[j]]) - dot(j, row, v)) / row[j];
    }
    *mean = dot(r, v, a);
    *variance = frame->variance - dot(r, v, v);
    forward(r, posterior->factor, v);
    *variance += dot(r, v, v);
    free(v);
}

/* S := S - S l l' S / (l' S l + noise) */
static void learn(size_t r, double *s, const double *l, double noise, double *column)
{
    for (size_t j = 0; j < r; ++j) column[j] = dot(r, s + j * r, l);
    const double scale = 1.0 / (dot(r, column, l) + noise);
    for (size_t j = 0; j < r; ++j)
        for (size_t k = 0; k < r; ++k) s[j * r + k] -= scale * column[j] * column[k];
}

void kl_choose(const kl_frame *frame, size_t count, bool *holds)
{
    const size_t r = frame->r;
    double *s = room(r * r, sizeof *s), *column = room(r, sizeof *column);
    for (size_t j = 0; j < r; ++j) s[j * (r + 1)] = 1.0;
    for (size_t i = 0; i < frame->n; ++i)
        if (holds[i]) learn(r, s, frame->l + i * r, frame->noise[i], column);
    for (size_t k = 0; k < count; ++k) {
        size_t best = frame->n;
        double most = -1.0;
        for (size_t i = 0; i < frame->n; ++i) {
            const double *l = frame->l + i * r;
            if (holds[i]) continue;
            for (size_t j = 0; j < r; ++j) column[j] = dot(r, s + j * r, l);
            const double variance = dot(r, column, l);
            if (variance <= most) continue;
            most = variance;
            best = i;
        }
        if (best == frame->n) break;
        holds[best] = true;
        learn(r, s, frame->l + best * r, frame->noise[best], column);
    }
    free(s);
    free(column);
}
