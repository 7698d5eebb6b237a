/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of an approximate evidence: what the methods share. */
#include "classify/classify.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    VECTORS = 7 + HFI_CLASS_WORK,
    COLUMNS = 32 /* of the weight matrix in one task */
};

static hf_status gather(hfi_class_problem *p, const size_t *label)
{
    p->row = hfi_alloc(p->ctx, p->n, sizeof *p->row);
    p->inputs = hfi_alloc(p->ctx, p->n, p->d * sizeof *p->inputs);
    p->sign = hfi_alloc(p->ctx, p->n, sizeof *p->sign);
    if (!p->row || !p->inputs || !p->sign) return HF_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < p->rows; i++) {
        if (label[i] == HF_LABEL_MISSING) continue;
        memcpy(p->inputs + at * p->d, p->x + i * p->ldx, p->d * sizeof *p->inputs);
        p->sign[at] = label[i] == 1 ? 1.0 : -1.0;
        p->row[at++] = i;
    }
    return HF_OK;
}

static hf_status allocate(hfi_class_problem *p)
{
    size_t square;
    if (!hfi_size_mul(p->n, p->n, &square)) return hfi_out_of_memory(p->ctx);
    p->matrix = hfi_alloc(p->ctx, square, sizeof *p->matrix);
    if (!p->matrix) return HF_ERR_MEMORY;
    const hf_status s = hfi_curved_init(p->ctx, p->n, p->matrix, &p->curved);
    if (s < 0) return s;
    p->vectors = hfi_alloc(p->ctx, p->n, VECTORS * sizeof *p->vectors);
    p->at = hfi_alloc(p->ctx, p->n, sizeof *p->at);
    if (!p->vectors || !p->at) return HF_ERR_MEMORY;
    double **const place[] = {&p->offset,   &p->latent,     &p->force, &p->pull,
                              &p->variance, &p->kept_force, &p->v};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) *place[k] = p->vectors + k * p->n;
    p->work = p->vectors + (VECTORS - HFI_CLASS_WORK) * p->n;
    return HF_OK;
}

hf_status hfi_class_problem_init(hf_context *ctx, hf_link link, hf_inference inference,
                                 const hf_kernel *kernel, const hf_mean *mean, size_t rows, const double *x,
                                 size_t ldx, const size_t *label, hfi_class_problem *out)
{
    memset(out, 0, sizeof *out);
    hfi_class_problem p = {.ctx = ctx,
                           .link = link,
                           .inference = inference,
                           .kernel = kernel,
                           .mean = mean,
                           .rows = rows,
                           .d = hf_kernel_dimension(kernel),
                           .x = x,
                           .ldx = ldx};
    for (size_t i = 0; i < rows; i++) p.n += label[i] != HF_LABEL_MISSING;
    hf_status s = hfi_require_memory(ctx, "the evidence", p.n, hfi_curved_bytes(p.n, 0));
    if (s >= 0) s = gather(&p, label);
    if (s >= 0) s = allocate(&p);
    if (s < 0) {
        hfi_class_problem_free(&p);
        return s;
    }
    *out = p;
    return HF_OK;
}

void hfi_class_problem_free(hfi_class_problem *p)
{
    if (!p->ctx) return;
    if (p->curved.ctx) hfi_curved_free(&p->curved);
    hfi_free(p->ctx, p->row);
    hfi_free(p->ctx, p->inputs);
    hfi_free(p->ctx, p->sign);
    hfi_free(p->ctx, p->matrix);
    hfi_free(p->ctx, p->vectors);
    hfi_free(p->ctx, p->at);
    memset(p, 0, sizeof *p);
}

void hfi_class_keep(hfi_class_problem *p)
{
    memcpy(p->kept_force, p->force, p->n * sizeof *p->force);
    p->started = true;
}

/* Lower triangle of (aa' - R + va' + av')/2 in place of R, some columns. */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_class_problem *p = arg;
    const double *a = p->force, *v = p->v;
    const size_t n = p->n, first = task * COLUMNS, end = first + COLUMNS < n ? first + COLUMNS : n;
    for (size_t j = first; j < end; j++) {
        double *w = p->matrix + j * n;
        for (size_t i = j; i < n; i++) w[i] = 0.5 * (a[i] * a[j] - w[i] + v[i] * a[j] + a[i] * v[j]);
    }
}

static hf_status collect_gradient(hfi_class_problem *p, double *gradient)
{
    const size_t kernel_count = hf_kernel_parameters(p->kernel), mean_count = hf_mean_coefficients(p->mean);
    double *mean_bar = p->work;
    hfi_parallel_for(p->ctx, (p->n + COLUMNS - 1) / COLUMNS, weight_columns, p);
    memset(gradient, 0, (kernel_count + mean_count) * sizeof *gradient);
    const hf_status s =
        hfi_kernel_gram_adjoint(p->ctx, p->kernel, p->n, p->inputs, p->d, p->matrix, p->n, gradient);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) mean_bar[i] = p->force[i] + p->v[i];
    hfi_mean_adjoint(p->mean, p->n, p->inputs, p->d, mean_bar, gradient + kernel_count);
    return s;
}

hf_status hfi_class_evaluate(hfi_class_problem *p, double *value, double *gradient)
{
    double result = 0.0;
    hf_status s = hfi_kernel_gram_lower(p->ctx, p->kernel, p->n, p->inputs, p->d, p->curved.k, p->n);
    if (s < 0) return s;
    hfi_symmetrise(p->ctx, p->n, p->curved.k, p->n);
    hf_mean_evaluate(p->mean, p->n, p->inputs, p->d, p->offset);
    s = hfi_class_laplace(p, gradient != NULL, &result);
    if (s >= 0 && gradient) s = collect_gradient(p, gradient);
    if (s >= 0) *value = result;
    return s;
}

/* A precision below this is that of a label that says nothing: its pull is as small. */
static const double least_precision = 1e-290;

void hfi_class_sites(const hfi_class_problem *p, double *target, double *variance)
{
    for (size_t i = 0; i < p->rows; i++) {
        target[i] = NAN;
        variance[i] = INFINITY;
    }
    for (size_t i = 0; i < p->n; i++) {
        const double w = p->curved.w[i];
        if (!(w > least_precision)) continue;
        target[p->row[i]] = p->offset[i] + p->latent[i] + p->force[i] / w;
        variance[p->row[i]] = 1.0 / w;
    }
}
