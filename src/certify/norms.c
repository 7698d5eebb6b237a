/* SPDX-License-Identifier: Apache-2.0 */
/* Norms of the mean's terms: a'K a, every pair of anchors once. */
#include "certify/terms_impl.h"

#include "kernel/expression.h"
#include "kernel/kernel.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>

typedef struct pairs {
    const hfi_term *term;
    size_t n, columns;
    const double *z; /* n x columns, scaled */
    double *row;     /* n: what each row adds */
    double *work;    /* per thread 2 n + columns */
} pairs;

static void add_row(size_t j, int thread, void *arg)
{
    const pairs *job = arg;
    const hfi_term *term = job->term;
    const size_t count = job->n - j - 1;
    double *q = job->work + (size_t)thread * (2 * job->n + job->columns), *value = q + job->n,
           *x = value + job->n;
    for (size_t c = 0; c < job->columns; c++) x[c] = job->z[j + c * job->n];
    hfi_radial_distance(count, job->columns, x, job->z + j + 1, job->n, q);
    hfi_radial_values(term->form, term->alpha, count, q, term->a + j + 1, value);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += value[i];
    job->row[j] = term->a[j] * (term->a[j] + 2.0 * sum);
}

/* A quadratic form with its rounding: every product and sum of n^2 of them. */
static double root(double square, size_t n, size_t d, double size)
{
    const double rounding = DBL_EPSILON * (2.0 * (double)n + 4.0 * (double)d + 64.0) * size * size;
    return sqrt(fmax(square, 0.0) + rounding) * (1.0 + 8.0 * DBL_EPSILON);
}

/* All columns of the leaf, fixed ones too: anchors differ there. */
static double *leaf_columns(hf_context *ctx, const hfi_terms *terms, const hfi_term *term, size_t *columns)
{
    const hf_kernel *kernel = terms->kernel;
    const hfi_leaf *leaf = &kernel->leaves[term->far_leaf];
    double *z = hfi_alloc(ctx, terms->n * leaf->columns, sizeof *z);
    if (!z) return NULL;
    *columns = leaf->columns;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = kernel->columns[leaf->column_at + a];
        const double l = kernel->value[hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE) + (leaf->ard ? a : 0)];
        for (size_t i = 0; i < terms->n; i++)
            z[i + a * terms->n] = (terms->anchor[i * terms->d + c] - terms->middle[c]) / l;
    }
    return z;
}

static hf_status radial_norm(hf_context *ctx, const hfi_terms *terms, hfi_term *term)
{
    const size_t n = terms->n, threads = (size_t)hf_context_threads(ctx);
    pairs job = {.term = term, .n = n, .columns = term->axes, .z = term->z};
    double *own = NULL;
    if (term->offset) {
        own = leaf_columns(ctx, terms, term, &job.columns);
        if (!own) return HF_ERR_MEMORY;
        job.z = own;
    }
    job.row = hfi_alloc(ctx, n, sizeof *job.row);
    job.work = hfi_alloc(ctx, threads * (2 * n + job.columns), sizeof *job.work);
    if (job.row && job.work) {
        hfi_parallel_for(ctx, n, add_row, &job);
        double square = 0.0;
        for (size_t j = 0; j < n; j++) square += job.row[j];
        term->norm = root(square, n, job.columns, term->size);
    }
    const bool fine = job.row && job.work;
    hfi_free(ctx, job.row);
    hfi_free(ctx, job.work);
    hfi_free(ctx, own);
    return fine ? HF_OK : HF_ERR_MEMORY;
}

/* t'K t of the whole kernel bounds what each of its terms has. */
static hf_status general_norm(hf_context *ctx, hfi_terms *terms)
{
    const size_t n = terms->n;
    double *product = hfi_alloc(ctx, n, sizeof *product), *most = hfi_alloc(ctx, n, sizeof *most);
    hf_status status = product && most ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_kernel_dense_product(ctx, terms->kernel, n, terms->anchor, terms->d, 1, terms->t, n,
                                          HFI_DOUBLE, product, n);
    if (status >= 0) {
        double size = 0.0;
        hfi_kernel_diagonal(terms->kernel, n, terms->anchor, terms->d, false, most);
        for (size_t i = 0; i < n; i++) size += fabs(terms->t[i]) * sqrt(fmax(most[i], 0.0));
        const double norm = root(hfi_dot(n, terms->t, product), n, terms->d, size);
        for (size_t k = 0; k < terms->count; k++)
            if (terms->term[k].kind == HFI_TERM_GENERAL) {
                terms->term[k].norm = norm;
                terms->term[k].size = size;
            }
    }
    hfi_free(ctx, product);
    hfi_free(ctx, most);
    return status;
}

hf_status hfi_terms_norms(hf_context *ctx, hfi_terms *terms)
{
    hf_status status = HF_OK;
    bool general = false;
    for (size_t k = 0; status >= 0 && k < terms->count; k++) {
        hfi_term *term = &terms->term[k];
        general = general || term->kind == HFI_TERM_GENERAL;
        if (term->kind == HFI_TERM_RADIAL) status = radial_norm(ctx, terms, term);
    }
    if (status >= 0 && general) status = general_norm(ctx, terms);
    return status;
}
