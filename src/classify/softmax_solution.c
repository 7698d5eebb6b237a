/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior under the softmax link in the form that every posterior has: S = R R'. */
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    COLUMNS = 32 /* of L L' in one task */
};

/* Q_i of one reading, C x (C - 1), row by row: W_i = D^1/2 (I - u u') D^1/2 with u = sqrt(p), and the columns of a reflection that takes u to a unit
 * vector are a basis of what is at right angles to u. The unit vector is that of the largest probability, which keeps every digit of the entries. */
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

typedef struct job {
    const hfi_softmax_problem *p;
    const double *q; /* n x C x (C - 1) */
    double *a;       /* I + Q'K Q, of order (C - 1) n */
} job;

static void fill_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const job *j = arg;
    const hfi_softmax_problem *p = j->p;
    const size_t n = p->n, left = p->classes - 1, order = left * n, width = p->classes * left;
    const size_t end = (task + 1) * COLUMNS < order ? (task + 1) * COLUMNS : order;
    for (size_t column = task * COLUMNS; column < end; column++) {
        const size_t l = column / n, k = column % n;
        double *a = j->a + column * order;
        for (size_t row = column; row < order; row++) {
            const size_t r = row / n, i = row % n, low = i > k ? k : i, high = i > k ? i : k;
            double sum = row == column ? 1.0 : 0.0;
            for (size_t c = 0; c < p->classes; c++)
                sum += j->q[i * width + c * left + r] * j->q[k * width + c * left + l] *
                       p->k[c * n * n + high + low * n];
            a[row] = sum;
        }
    }
}

/* R := Q L^-T. */
static void divide(const job *j, double *r)
{
    const hfi_softmax_problem *p = j->p;
    const size_t n = p->n, left = p->classes - 1, order = left * n, rows = p->classes * n;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < p->classes; c++)
            for (size_t b = 0; b < left; b++)
                r[c * n + i + (b * n + i) * rows] = j->q[(i * p->classes + c) * left + b];
    hfi_tall_divide(p->ctx, rows, order, j->a, order, true, r, rows);
}

static hf_status fill_solution(job *j, hfi_solution *s)
{
    const hfi_softmax_problem *p = j->p;
    const size_t n = p->n, left = p->classes - 1, order = left * n;
    hfi_parallel_for(p->ctx, (order + COLUMNS - 1) / COLUMNS, fill_columns, j);
    const hf_status factored = hfi_chol(p->ctx, order, j->a, order);
    if (factored < 0)
        return hfi_fail(p->ctx, factored,
                        "the covariance of the latent values cannot be factored; is the variance finite?");
    divide(j, s->r);
    memcpy(s->z, p->inputs, p->classes * n * p->d * sizeof *s->z);
    memcpy(s->t, p->force, p->classes * n * sizeof *s->t);
    s->solver = HF_SOLVER_EXACT;
    s->log_det = hfi_chol_logdet(order, j->a, order);
    return HF_OK;
}

hf_status hfi_softmax_solution(hfi_softmax_problem *p, hfi_solution *out)
{
    const size_t n = p->n, left = p->classes - 1, order = left * n, rows = p->classes * n;
    memset(out, 0, sizeof *out);
    hf_status s =
        hfi_require_memory(p->ctx, "the posterior", n, 8.0 * ((double)order + (double)rows) * (double)order);
    if (s < 0) return s;
    double *q = hfi_alloc(p->ctx, n, p->classes * left * sizeof *q);
    double *a = hfi_alloc(p->ctx, order, order * sizeof *a);
    job j = {p, q, a};
    s = q && a ? hfi_solution_alloc_low_rank(p->ctx, HFI_FORM_DENSE, rows, p->d, order, false, out)
               : HF_ERR_MEMORY;
    if (s >= 0) {
        for (size_t i = 0; i < n; i++)
            root_of_w(p->classes, n, p->probability + i, q + i * p->classes * left);
        s = fill_solution(&j, out);
        if (s < 0) hfi_solution_free(out);
    }
    hfi_free(p->ctx, q);
    hfi_free(p->ctx, a);
    return s;
}
