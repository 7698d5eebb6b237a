/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior under the softmax link in the form that every posterior has: S = R R'. */
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    COLUMNS = 32 /* of L L' in one task */
};

/* Q_i of one reading, C x (C - 1), row by row: W_i = D^1/2 (I - u u') D^1/2 with u = sqrt(p), and the columns
 * of a reflection that takes u to a unit vector are a basis of what is at right angles to u. The unit vector
 * is that of the largest probability, which keeps every digit of the entries. */
static void root_of_w(size_t classes, size_t stride, const double *probability, double *q)
{
    size_t largest = 0;
    for (size_t c = 1; c < classes; c++)
        if (probability[c * stride] > probability[largest * stride]) largest = c;
    const double top = sqrt(probability[largest * stride]);
    for (size_t c = 0; c < classes; c++) {
        const double u = sqrt(probability[c * stride]);
        for (size_t j = 0, b = 0; j + 1 < classes; j++, b++) {
            if (b == largest) b++;
            const double other = sqrt(probability[b * stride]);
            const double h = c == largest ? -other : (c == b ? 1.0 : 0.0) - u * other / (1.0 + top);
            q[c * (classes - 1) + j] = u * h;
        }
    }
}

typedef struct softmax_system {
    hf_context *ctx;
    size_t n, classes;
    const double *k; /* C of n x n, lower triangles */
    const double *q; /* n x C x (C - 1) */
    double *a;       /* I + Q'K Q, of order (C - 1) n */
} softmax_system;

static void fill_softmax_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const softmax_system *j = arg;
    const size_t n = j->n, left = j->classes - 1, order = left * n, width = j->classes * left;
    const size_t end = (task + 1) * COLUMNS < order ? (task + 1) * COLUMNS : order;
    for (size_t column = task * COLUMNS; column < end; column++) {
        const size_t l = column / n, k = column % n;
        double *a = j->a + column * order;
        for (size_t row = column; row < order; row++) {
            const size_t r = row / n, i = row % n, low = i > k ? k : i, high = i > k ? i : k;
            double sum = row == column ? 1.0 : 0.0;
            for (size_t c = 0; c < j->classes; c++)
                sum += j->q[i * width + c * left + r] * j->q[k * width + c * left + l] *
                       j->k[c * n * n + high + low * n];
            a[row] = sum;
        }
    }
}

/* R := Q L^-T. */
static void divide(const softmax_system *j, double *r)
{
    const size_t n = j->n, left = j->classes - 1, order = left * n, rows = j->classes * n;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < j->classes; c++)
            for (size_t b = 0; b < left; b++)
                r[c * n + i + (b * n + i) * rows] = j->q[(i * j->classes + c) * left + b];
    hfi_tall_divide(j->ctx, rows, order, j->a, order, true, r, rows);
}

/* R and log_det from the probabilities in s->entry. */
static hf_status make_root(hf_context *ctx, size_t classes, const double *k, hfi_solution *s)
{
    const size_t n = s->n / classes, left = classes - 1, order = left * n;
    double *q = hfi_alloc(ctx, n, classes * left * sizeof *q);
    double *a = hfi_alloc(ctx, order, order * sizeof *a);
    softmax_system j = {ctx, n, classes, k, q, a};
    hf_status status = q && a ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        for (size_t i = 0; i < n; i++) root_of_w(classes, n, s->entry + i, q + i * classes * left);
        hfi_parallel_for(ctx, (order + COLUMNS - 1) / COLUMNS, fill_softmax_columns, &j);
        status = hfi_chol(ctx, order, a, order);
        if (status < 0)
            status =
                hfi_fail(ctx, status,
                         "the covariance of the latent values cannot be factored; is the variance finite?");
    }
    if (status >= 0) {
        divide(&j, s->r);
        s->log_det = hfi_chol_logdet(order, a, order);
    }
    HFI_FREE(ctx, q, a);
    return status;
}

hf_status hfi_softmax_solution_alloc(hf_context *ctx, size_t n, size_t d, size_t classes, hfi_solution *out)
{
    const size_t order = (classes - 1) * n, rows = classes * n;
    memset(out, 0, sizeof *out);
    hf_status s =
        hfi_require_memory(ctx, "the posterior", n, 8.0 * ((double)order + (double)rows) * (double)order);
    if (s >= 0) s = hfi_solution_alloc_low_rank(ctx, HFI_FORM_DENSE, rows, d, order, false, out);
    if (s < 0) return s;
    out->solver = HF_SOLVER_EXACT;
    out->entry = hfi_alloc(ctx, rows, sizeof *out->entry);
    if (!out->entry) hfi_solution_free(out);
    return out->entry ? HF_OK : HF_ERR_MEMORY;
}

hf_status hfi_softmax_solution(hfi_softmax_problem *p, hfi_solution *out)
{
    const size_t length = p->classes * p->n;
    hf_status s = hfi_softmax_solution_alloc(p->ctx, p->n, p->d, p->classes, out);
    if (s < 0) return s;
    memcpy(out->z, p->inputs, length * p->d * sizeof *out->z);
    memcpy(out->t, p->alpha, length * sizeof *out->t);
    memcpy(out->entry, p->probability, length * sizeof *out->entry);
    s = make_root(p->ctx, p->classes, p->k, out);
    if (s < 0) hfi_solution_free(out);
    return s;
}

hf_status hfi_softmax_restore(hf_context *ctx, const hf_kernel *kernel, size_t classes, hfi_solution *s)
{
    const size_t n = s->n / classes;
    double *k = hfi_alloc(ctx, n, n * classes * sizeof *k);
    hf_status status = k ? HF_OK : HF_ERR_MEMORY;
    for (size_t c = 0; status >= 0 && c < classes; c++)
        status = hfi_kernel_gram_lower(ctx, kernel, n, s->z + c * n * s->d, s->d, k + c * n * n, n);
    if (status >= 0) status = make_root(ctx, classes, k, s);
    hfi_free(ctx, k);
    return status;
}
