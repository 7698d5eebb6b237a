/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of Laplace's evidence under the softmax link: memory, covariances, and the order of the steps. */
#include "classify/softmax.h"
#include <stdint.h>
#include <string.h>

enum {
    VECTORS = 7 + HFI_SOFTMAX_WORK,
    SPARE = 3
};

static hf_status gather_softmax_readings(hfi_softmax_problem *p, size_t rows, const double *x, size_t ldx,
                                         const size_t *label)
{
    const size_t d = p->d;
    if (HFI_ALLOC(p->ctx, HFI_ROOM(p->label, p->n), HFI_ROOMS(p->inputs, p->n, d * p->classes)) < 0)
        return HF_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < rows; i++) {
        if (label[i] == SIZE_MAX) continue;
        for (size_t c = 0; c < p->classes; c++) {
            double *row = p->inputs + (c * p->n + at) * d;
            memcpy(row, x + i * ldx, (d - 1) * sizeof *row);
            row[d - 1] = (double)c;
        }
        p->label[at++] = label[i];
    }
    return HF_OK;
}

static hf_status allocate_softmax_problem(hfi_softmax_problem *p)
{
    const size_t square = p->n * p->n;
    if (HFI_ALLOC(p->ctx, HFI_ROOMS(p->matrices, square, 2 * p->classes + 1 + SPARE),
                  HFI_ROOMS(p->vectors, p->n, VECTORS * p->classes)) < 0)
        return HF_ERR_MEMORY;
    p->k = p->matrices;
    p->e = p->k + p->classes * square;
    p->m = p->e + p->classes * square;
    p->spare = p->m + square;
    double **const place[] = {&p->offset, &p->latent,     &p->alpha, &p->probability,
                              &p->slope,  &p->kept_alpha, &p->v};
    const size_t length = p->classes * p->n;
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) *place[k] = p->vectors + k * length;
    p->work = p->vectors + (VECTORS - HFI_SOFTMAX_WORK) * length;
    return HF_OK;
}

hf_status hfi_softmax_init(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, size_t rows,
                           const double *x, size_t ldx, const size_t *label, size_t classes,
                           hfi_softmax_problem *out)
{
    memset(out, 0, sizeof *out);
    hfi_softmax_problem p = {
        .ctx = ctx, .kernel = kernel, .mean = mean, .d = hf_kernel_dimension(kernel), .classes = classes};
    if (p.d < 2)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the kernel of several classes has the features and then the number of the class as "
                        "inputs; this one has only %zu",
                        p.d);
    for (size_t i = 0; i < rows; i++) p.n += label[i] != SIZE_MAX;
    const double squares = (double)(2 * classes + 1 + SPARE);
    hf_status s = hfi_require_memory(ctx, "the evidence", p.n, 8.0 * squares * (double)p.n * (double)p.n);
    if (s >= 0) s = gather_softmax_readings(&p, rows, x, ldx, label);
    if (s >= 0) s = allocate_softmax_problem(&p);
    if (s < 0) {
        hfi_softmax_free(&p);
        return s;
    }
    *out = p;
    return HF_OK;
}

void hfi_softmax_free(hfi_softmax_problem *p)
{
    HFI_FREE(p->ctx, p->label, p->inputs, p->matrices, p->vectors);
    memset(p, 0, sizeof *p);
}

/* Covariances between classes at the same reading and at the next one: where a kernel of both is not 0, one
 * of these is not. */
hf_status hfi_softmax_check_kernel(const hfi_softmax_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const size_t next = (i + 1) % p->n;
        for (size_t b = 1; b < p->classes; b++) {
            for (size_t a = 0; a < b; a++) {
                const double *row = p->inputs + (a * p->n + i) * p->d,
                             *same = p->inputs + (b * p->n + i) * p->d,
                             *other = p->inputs + (b * p->n + next) * p->d;
                if (hfi_kernel_value(p->kernel, row, same, false) == 0.0 &&
                    hfi_kernel_value(p->kernel, row, other, false) == 0.0)
                    continue;
                return hfi_refuse(p->ctx,
                                  "the kernel must make the classes independent, but classes %zu and %zu "
                                  "have a covariance; hold the other factors of coregion at 0",
                                  a, b);
            }
        }
    }
    return HF_OK;
}

hf_status hfi_softmax_evaluate(hfi_softmax_problem *p, double *value, double *gradient)
{
    const size_t n = p->n;
    double result = 0.0;
    hf_status s = HF_OK;
    for (size_t c = 0; s >= 0 && c < p->classes; c++)
        s = hfi_kernel_gram_lower(p->ctx, p->kernel, n, p->inputs + c * n * p->d, p->d, p->k + c * n * n, n);
    if (s < 0) return s;
    hf_mean_evaluate(p->mean, p->classes * n, p->inputs, p->d, p->offset);
    s = hfi_softmax_mode(p, &result);
    if (s >= 0 && gradient) s = hfi_softmax_gradient(p, gradient);
    if (s >= 0) *value = result;
    return s;
}
