/* SPDX-License-Identifier: Apache-2.0 */
/* Products and factors that use that classes are independent a priori and that readings are in the likelihood. */
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* Lower triangle of I + D^1/2 K D^1/2. */
static void make_b(size_t n, const double *probability, const double *k, double *b)
{
    for (size_t j = 0; j < n; j++) {
        const double root = sqrt(probability[j]);
        for (size_t i = j; i < n; i++) b[i + j * n] = root * sqrt(probability[i]) * k[i + j * n];
        b[j + j * n] += 1.0;
    }
}

/* E from the inverse of that, and its share of M. */
static void make_e(size_t n, const double *probability, double *e, double *m)
{
    for (size_t j = 0; j < n; j++) {
        const double root = sqrt(probability[j]);
        for (size_t i = j; i < n; i++) {
            e[i + j * n] *= root * sqrt(probability[i]);
            m[i + j * n] += e[i + j * n];
        }
    }
}

static hf_status not_finite(hf_context *ctx, hf_status s)
{
    if (s != HF_ERR_NOT_POSITIVE_DEFINITE) return s;
    return hfi_fail(ctx, s,
                    "the covariance of the latent values cannot be factored; is the variance finite?");
}

hf_status hfi_softmax_factor(hfi_softmax_problem *p)
{
    const size_t n = p->n;
    memset(p->m, 0, n * n * sizeof *p->m);
    p->log_det = 0.0;
    for (size_t c = 0; c < p->classes; c++) {
        double *e = p->e + c * n * n;
        make_b(n, p->probability + c * n, p->k + c * n * n, e);
        const hf_status s = hfi_chol(p->ctx, n, e, n);
        if (s < 0) return not_finite(p->ctx, s);
        p->log_det += hfi_chol_logdet(n, e, n);
        hfi_chol_inverse(p->ctx, n, e, n);
        make_e(n, p->probability + c * n, e, p->m);
    }
    const hf_status s = hfi_chol(p->ctx, n, p->m, n);
    if (s < 0) return not_finite(p->ctx, s);
    p->log_det += hfi_chol_logdet(n, p->m, n);
    return HF_OK;
}

typedef struct block_product {
    const hfi_softmax_problem *p;
    const double *matrices, *x; /* x of class c: x + c * stride */
    size_t stride;
    double *out;
} block_product;

static void multiply_class(size_t c, int thread, void *arg)
{
    (void)thread;
    const block_product *job = arg;
    const size_t n = job->p->n;
    hfi_symv(n, job->matrices + c * n * n, n, job->x + c * job->stride, job->out + c * n);
}

void hfi_softmax_k(const hfi_softmax_problem *p, const double *x, double *out)
{
    block_product job = {.p = p, .matrices = p->k, .x = x, .stride = p->n, .out = out};
    hfi_parallel_for(p->ctx, p->classes, multiply_class, &job);
}

void hfi_softmax_s(const hfi_softmax_problem *p, const double *x, double *out)
{
    const size_t n = p->n, classes = p->classes;
    double *sum = p->spare,
           *shared = p->spare + n; /* a column and a few rows of what only the gradient needs */
    block_product job = {.p = p, .matrices = p->e, .x = x, .stride = n, .out = out};
    hfi_parallel_for(p->ctx, classes, multiply_class, &job);
    memset(sum, 0, n * sizeof *sum);
    for (size_t c = 0; c < classes; c++) hfi_axpy(n, 1.0, out + c * n, sum);
    hfi_chol_solve(n, p->m, n, sum);
    for (size_t c = 0; c < classes; c++) {
        hfi_symv(n, p->e + c * n * n, n, sum, shared);
        hfi_axpy(n, -1.0, shared, out + c * n);
    }
}
