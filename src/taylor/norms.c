/* SPDX-License-Identifier: Apache-2.0 */
/* Norms of the mean's terms: a'K a, every pair of anchors once. */
#include "taylor/terms.h"

#include "kernel/expression.h"
#include "kernel/kernel.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>

typedef struct anchor_pairs {
    const hfi_term *term;
    size_t n, columns;
    double *z;    /* n x columns, scaled, nearest anchor first */
    double *a;    /* n, likewise */
    double *row;  /* n: what each row adds to those before it */
    double *work; /* per thread 2 n + columns */
} anchor_pairs;

static void add_row(size_t j, int thread, void *arg)
{
    const anchor_pairs *job = arg;
    const hfi_term *term = job->term;
    double *q = job->work + (size_t)thread * (2 * job->n + job->columns), *value = q + job->n,
           *x = value + job->n;
    for (size_t c = 0; c < job->columns; c++) x[c] = job->z[j + c * job->n];
    hfi_radial_distance(j, job->columns, x, job->z, job->n, q);
    hfi_radial_values(term->form, term->alpha, j, q, job->a, value);
    double sum = 0.0;
    for (size_t i = 0; i < j; i++) sum += value[i];
    job->row[j] = job->a[j] * (job->a[j] + 2.0 * sum);
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
    double *z = hfi_alloc_product(ctx, terms->n, leaf->columns, sizeof *z);
    if (!z) return NULL;
    *columns = leaf->columns;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(kernel, leaf, a);
        const double l = hfi_leaf_entry(kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        for (size_t i = 0; i < terms->n; i++)
            z[i + a * terms->n] = (terms->anchor[i * terms->d + c] - terms->middle[c]) / l;
    }
    return z;
}

/* The anchors' squared distances from the whole box, rounded down, nearest first. */
static void rank_anchors(const hfi_terms *terms, const hfi_term *term, hfi_ranked *order)
{
    for (size_t i = 0; i < terms->n; i++) {
        double q = term->offset ? term->offset[i] : 0.0;
        for (size_t a = 0; a < term->axes; a++) {
            const double away =
                fabs(term->z[i + a * terms->n]) - terms->extent[term->axis[a]] / term->scale[a];
            if (away > 0.0) q += away * away;
        }
        order[i] = (hfi_ranked){.value = q * (1.0 - 1e-12), .index = i};
    }
    hfi_sort_ranked(order, terms->n);
}

/* Norms of the nearest anchors and third derivatives of the rest. */
static void fill_levels(const anchor_pairs *job, const hfi_ranked *order, hfi_term *term)
{
    const size_t n = job->n;
    double square = 0.0, size = 0.0, far = 0.0;
    size_t j = 0;
    for (size_t k = 0; k < HFI_LEVELS; k++) {
        for (const size_t end = n * (k + 1) / HFI_LEVELS; j < end; j++) {
            square += job->row[j];
            size += fabs(job->a[j]);
        }
        term->level[k].norm = root(square, n, job->columns, size);
    }
    for (size_t k = HFI_LEVELS; k-- > 0;) {
        for (const size_t end = n * (k + 1) / HFI_LEVELS; j > end; j--) {
            if (job->a[j - 1] == 0.0) continue; /* an infinite derivative of it is nothing */
            far += fabs(job->a[j - 1]) * hfi_radial_third(term->form, term->alpha, order[j - 1].value);
        }
        term->level[k].far = far * (1.0 + 2.0 * DBL_EPSILON * (double)n);
    }
    term->norm = term->level[HFI_LEVELS - 1].norm;
}

static void order_anchors(const hfi_term *term, const double *z, const hfi_ranked *order, anchor_pairs *job)
{
    for (size_t i = 0; i < job->n; i++) job->a[i] = term->a[order[i].index];
    for (size_t c = 0; c < job->columns; c++)
        for (size_t i = 0; i < job->n; i++) job->z[i + c * job->n] = z[order[i].index + c * job->n];
}

static hf_status radial_norm(hf_context *ctx, const hfi_terms *terms, hfi_term *term)
{
    const size_t n = terms->n, threads = (size_t)hf_context_threads(ctx);
    anchor_pairs job = {.term = term, .n = n, .columns = term->axes};
    double *own = NULL;
    if (term->offset) {
        own = leaf_columns(ctx, terms, term, &job.columns);
        if (!own) return HF_ERR_MEMORY;
    }
    hfi_ranked *order;
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(order, n), HFI_ROOMS(job.z, n, job.columns), HFI_ROOM(job.a, n),
                  HFI_ROOM(job.row, n), HFI_ROOMS(job.work, threads, 2 * n + job.columns));
    if (status >= 0) {
        rank_anchors(terms, term, order);
        order_anchors(term, own ? own : term->z, order, &job);
        hfi_parallel_for(ctx, n, add_row, &job);
        fill_levels(&job, order, term);
    }
    HFI_FREE(ctx, order, job.z, job.a, job.row, job.work, own);
    return status;
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
    HFI_FREE(ctx, product, most);
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
