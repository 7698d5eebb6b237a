/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pieces {
    size_t n, d;
    double *factor; /* of K + j I */
    double *alpha;  /* (K + r I)^-1 y */
    double *k;      /* k_x, then */
    double *a;      /* (K + j I)^-1 k_x */
} pieces;

/* A = L L', in place, lower; false where a pivot is not positive. */
static bool cholesky(size_t n, double *a)
{
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0.0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

/* b becomes A^-1 b. */
static void solve(size_t n, const double *l, double *b)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        b[i] /= l[i * n + i];
        for (size_t k = 0; k < i; ++k) b[k] -= l[i * n + k] * b[i];
    }
}

/* K plus `added` on its diagonal, factored. */
static hf_status factor(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *r, double added,
                        double *out)
{
    const hf_status status = hf_kernel_gram(ctx, kernel, r->n, r->x, r->ldx, out, r->n);
    for (size_t i = 0; i < r->n; ++i) out[i * r->n + i] += added;
    if (status < 0) return status;
    return cholesky(r->n, out) ? HF_OK : HF_ERR_NOT_POSITIVE_DEFINITE;
}

static void at(const pieces *w, const env_problem *p, double radius, double prior, double *lower,
               double *upper)
{
    double power = prior, one = 0.0, interpolated = 0.0, model = 0.0;
    memcpy(w->a, w->k, w->n * sizeof *w->a);
    solve(w->n, w->factor, w->a);
    for (size_t i = 0; i < w->n; ++i) {
        power -= w->k[i] * w->a[i];
        one += fabs(w->a[i]);
        interpolated += p->readings.y[i] * w->a[i];
        model += w->alpha[i] * w->k[i];
    }
    const double half =
        sqrt(fmax(0.0, power)) * radius + p->readings.noise_bound * one + fabs(interpolated - model);
    *lower = model - half;
    *upper = model + half;
}

bool env_published_closed(hf_context *ctx, const env_problem *p, const env_published *how, size_t m,
                          const double *x, env_bounds *out)
{
    const size_t n = p->readings.n, d = p->readings.ldx;
    const double radius = sqrt(fmax(0.0, p->norm * p->norm + how->square));
    double *memory = malloc((n * n + 3 * n) * sizeof *memory);
    pieces w = {.n = n, .d = d};
    hf_kernel *kernel = NULL;
    hf_status status = memory ? hf_kernel_parse(ctx, p->kernel, NULL, d, &kernel) : HF_ERR_MEMORY;
    if (memory) w = (pieces){n, d, memory, memory + n * n, memory + n * n + n, memory + n * n + 2 * n};
    if (status >= 0) status = factor(ctx, kernel, &p->readings, how->ridge, w.factor);
    if (status >= 0) {
        memcpy(w.alpha, p->readings.y, n * sizeof *w.alpha);
        solve(n, w.factor, w.alpha);
        status = factor(ctx, kernel, &p->readings, how->jitter, w.factor);
    }
    for (size_t i = 0; status >= 0 && i < m; ++i) {
        double prior;
        status = hf_kernel_cross(ctx, kernel, 1, x + i * d, d, 1, x + i * d, d, &prior, 1);
        if (status >= 0) status = hf_kernel_cross(ctx, kernel, 1, x + i * d, d, n, p->readings.x, d, w.k, n);
        if (status >= 0) at(&w, p, radius, prior, &out->lower[i], &out->upper[i]);
    }
    if (status < 0)
        fprintf(stderr, "published closed form: %s: %s\n", hf_status_name(status), hf_context_message(ctx));
    hf_kernel_free(kernel);
    free(memory);
    return status >= 0;
}
