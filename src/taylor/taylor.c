/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities computed once for a whole box. */
#include "taylor/taylor.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

static void dense_norm(hfi_taylor *taylor)
{
    const hfi_solution *s = &taylor->subject->posterior->solution;
    double sum = 0.0;
    if (s->form == HFI_FORM_DENSE)
        for (size_t k = 0; k < s->n * s->rank; k++) sum += s->r[k] * s->r[k];
    taylor->factor_norm = sqrt(sum);
}

/* Errors of triangular solves do not see the scaling of rows and columns. Variances of sites that say next
 * to nothing make that a bad one. Scaled to a unit diagonal K + D has eigenvalues of at most n and, K being
 * no less than 0, at least the smallest d_i / (k_ii + d_i). */
static hf_status find_condition(hf_context *ctx, hfi_taylor *taylor)
{
    const hf_posterior *posterior = taylor->subject->posterior;
    const hfi_solution *s = &posterior->solution;
    taylor->condition = fmax(s->condition, 1.0);
    if (s->form != HFI_FORM_EXACT || !s->variance) return HF_OK;
    double *prior = hfi_alloc(ctx, s->n, sizeof *prior), least = 1.0;
    if (!prior) return HF_ERR_MEMORY;
    hfi_kernel_diagonal(posterior->kernel, s->n, s->z, s->d, true, prior);
    for (size_t i = 0; i < s->n; i++) {
        const double own = s->variance[i] + s->jitter;
        least = fmin(least, own / (prior[i] + own));
    }
    hfi_free(ctx, prior);
    if (least > 0.0) taylor->condition = fmin(taylor->condition, (double)s->n / least);
    return HF_OK;
}

hf_status hfi_taylor_create(hf_context *ctx, const hfi_subject *subject, hfi_taylor **out)
{
    const hf_posterior *posterior = subject->posterior;
    const hfi_solution *s = &posterior->solution;
    hfi_taylor *taylor = hfi_alloc(ctx, 1, sizeof *taylor);
    if (!taylor) return HF_ERR_MEMORY;
    *taylor = (hfi_taylor){
        .memory = hfi_context_memory(ctx), .subject = subject, .m = subject->free_count, .n = s->n};
    double *gradient = hfi_alloc(ctx, subject->d, sizeof *gradient);
    taylor->mean_slope = hfi_alloc(ctx, subject->free_count, sizeof *taylor->mean_slope);
    hf_status status = gradient && taylor->mean_slope ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = find_condition(ctx, taylor);
    if (status >= 0) {
        hfi_mean_input_gradient(posterior->mean, gradient);
        for (size_t f = 0; f < subject->free_count; f++) taylor->mean_slope[f] = gradient[subject->free[f]];
        dense_norm(taylor);
        status = hfi_terms_create(ctx, posterior->kernel, s->n, s->z, s->t, subject->free_count,
                                  subject->free, subject->middle, subject->extent, &taylor->terms);
    }
    hfi_free(ctx, gradient);
    if (status < 0) {
        hfi_taylor_free(taylor);
        return status;
    }
    *out = taylor;
    return status;
}

void hfi_taylor_free(hfi_taylor *taylor)
{
    if (!taylor) return;
    const hfi_memory memory = taylor->memory;
    hfi_terms_free(taylor->terms);
    HFI_MEMORY_FREE(&memory, taylor->mean_slope, taylor);
}

bool hfi_taylor_is_rough(const hfi_taylor *taylor)
{
    /* The means' remainders of first order alone shrink too slowly for many inputs. */
    const int rough = taylor->m >= 4 ? 1 : 0;
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind == HFI_TERM_RADIAL && term->order <= rough) return true;
        if (term->kind == HFI_TERM_GENERAL && term->order <= 1) return true;
    }
    return false;
}

double hfi_taylor_place(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                        const double *half, double *x, double *w)
{
    double square = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const size_t f = term->axis[a], column = taylor->subject->free[f];
        x[a] = (centre[column] - taylor->subject->middle[column]) / term->scale[a];
        w[a] = half[f] / term->scale[a];
        square += w[a] * w[a];
    }
    return sqrt(square) * (1.0 + 4.0 * DBL_EPSILON * (double)(term->axes + 2));
}
