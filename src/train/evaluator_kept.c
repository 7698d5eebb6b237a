/* SPDX-License-Identifier: Apache-2.0 */
/* What an evaluation leaves behind for whoever asks about the same model and readings next. */
#include "linalg/linalg.h"
#include "train/evaluator_impl.h"
#include <string.h>

hf_status hfi_evaluator_keep(hfi_evaluator *e)
{
    if (e->kept || e->inducing || e->projected || e->group || e->kronecker) return HF_OK;
    const size_t parameters = hf_kernel_parameters(e->kernel);
    hfi_kept *k = hfi_alloc(e->ctx, 1, sizeof *k);
    if (!k) return HF_ERR_MEMORY;
    e->kept = k;
    k->row = hfi_alloc(e->ctx, e->rows, sizeof *k->row);
    k->question = hfi_alloc(e->ctx, 2 * (parameters + 2 * e->rows), sizeof *k->question);
    k->alpha = hfi_alloc(e->ctx, e->rows, 2 * sizeof *k->alpha);
    k->factor = hfi_alloc_product(e->ctx, e->rows, e->rows, sizeof *k->factor);
    if (k->row && k->question && k->alpha && k->factor) {
        k->diagonal = k->alpha + e->rows;
        return HF_OK;
    }
    hfi_kept_free(e);
    return HF_ERR_MEMORY;
}

void hfi_kept_free(hfi_evaluator *e)
{
    if (!e->kept) return;
    hfi_free(e->ctx, e->kept->row);
    hfi_free(e->ctx, e->kept->question);
    hfi_free(e->ctx, e->kept->alpha);
    hfi_free(e->ctx, e->kept->factor);
    hfi_free(e->ctx, e->kept);
    e->kept = NULL;
}

/* All that an answer depends on beside rows: kernel, residuals, variances. Returns how many numbers. */
static size_t put_question(hfi_evaluator *e, double *question)
{
    const size_t parameters = hf_kernel_parameters(e->kernel);
    hfi_evaluator_residuals(e);
    hfi_kernel_theta(e->kernel, question);
    memcpy(question + parameters, hfi_evaluator_vector(e, HFI_EV_RESIDUAL), e->n * sizeof *question);
    memcpy(question + parameters + e->n, hfi_evaluator_vector(e, HFI_EV_VARIANCE), e->n * sizeof *question);
    return parameters + 2 * e->n;
}

bool hfi_kept_knows(hfi_evaluator *e)
{
    hfi_kept *k = e->kept;
    if (!k || !k->valid || k->n != e->n || memcmp(k->row, e->row, e->n * sizeof *k->row) != 0) return false;
    double *now = k->question + hf_kernel_parameters(e->kernel) + 2 * e->rows;
    const size_t count = put_question(e, now);
    return memcmp(k->question, now, count * sizeof *now) == 0;
}

void hfi_kept_take_factor(hfi_evaluator *e)
{
    hfi_kept *k = e->kept;
    k->valid = false;
    k->n = e->n;
    k->jitter = e->jitter;
    memcpy(k->row, e->row, e->n * sizeof *k->row);
    (void)put_question(e, k->question);
    memcpy(k->alpha, hfi_evaluator_vector(e, HFI_EV_ALPHA), e->n * sizeof *k->alpha);
    for (size_t j = 0; j < e->n; j++)
        memcpy(k->factor + j * (e->n + 1), e->a + j * (e->n + 1), (e->n - j) * sizeof *k->factor);
}
