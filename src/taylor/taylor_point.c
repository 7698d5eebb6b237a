/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding error of mean and variance at a point: the allowance that ranges of boxes
 * have, without a box. */
#include "taylor/taylor.h"

#include "kernel/kernel.h"
#include <float.h>
#include <math.h>

/* sum |t_i| (k(x, x) k(z_i, z_i))^(1/2), which is at least what the sizes of all parts of each covariance add up to. */
static double size_of(const hfi_taylor *taylor, const double *x, const double *diagonal)
{
    const hfi_subject *subject = taylor->subject;
    const hfi_terms *terms = taylor->terms;
    double own, sum = 0.0;
    hfi_kernel_diagonal(subject->posterior->kernel, 1, x, subject->d, false, &own);
    /* Where a swell is 0 its rounding is not. */
    if (hfi_kernel_has_planes(subject->posterior->kernel))
        own = fmax(own, hfi_kernel_typical_variance(subject->posterior->kernel));
    for (size_t i = 0; i < terms->n; i++) sum += fabs(terms->t[i]) * sqrt(fmax(own * diagonal[i], 0.0));
    return sum;
}

/* Rounding error of the prior mean's products. */
static double prior_size(const hfi_taylor *taylor, const double *x)
{
    const hfi_subject *subject = taylor->subject;
    const hf_mean *mean = subject->posterior->mean;
    const double *b = hf_mean_values(mean);
    double sum = 0.0, here;
    hf_mean_evaluate(mean, 1, x, subject->d, &here);
    if (hf_mean_get_kind(mean) == HF_MEAN_LINEAR) {
        sum = fabs(b[0]);
        for (size_t j = 0; j < subject->d; j++) sum += fabs(b[1 + j] * x[j]);
    }
    return fmax(sum, fabs(here));
}

hf_status hfi_taylor_at_point(hf_context *ctx, const hfi_taylor *taylor, hfi_point_rounding *out)
{
    const hfi_subject *subject = taylor->subject;
    const hf_kernel *kernel = subject->posterior->kernel;
    const hfi_terms *terms = taylor->terms;
    const double n = (double)terms->n, *x = subject->middle;
    double *diagonal = hfi_alloc(ctx, terms->n, sizeof *diagonal), added = 0.0, prior;
    if (!diagonal) return HF_ERR_MEMORY;
    hfi_kernel_diagonal(kernel, terms->n, terms->anchor, subject->d, false, diagonal);
    hfi_kernel_diagonal(kernel, 1, x, subject->d, true, &prior);
    const double units = hfi_terms_units(terms, x);
    for (size_t k = 0; k < terms->count; k++) added += terms->term[k].size;
    out->mean = DBL_EPSILON * ((n + 64.0) * added + units * size_of(taylor, x, diagonal) +
                               (2.0 * (double)subject->d + 64.0) * prior_size(taylor, x));
    /* The columns' own rounding, as long as the root of n, is whitened as they are. */
    out->variance = hfi_taylor_variance_rounding(taylor, prior, 0.0) * (1.0 + sqrt(n) * units / (n + 32.0));
    hfi_free(ctx, diagonal);
    return HF_OK;
}
