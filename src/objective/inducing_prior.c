/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient's part through the covariances of the inducing inputs. */
#include "linalg/linalg.h"
#include "objective/inducing_impl.h"
#include <math.h>
#include <string.h>

static void transpose(size_t m, double *a)
{
    for (size_t j = 0; j < m; j++)
        for (size_t i = j + 1; i < m; i++) {
            const double value = a[i + j * m];
            a[i + j * m] = a[j + i * m];
            a[j + i * m] = value;
        }
}

/* The jitter is a share of hfi_jitter_scale(), the prior variance (white included) at the origin or, where that is zero, at
 * (1, ..., 1). */
static hf_status jitter_adjoint(hfi_evaluator *e, double trace, double *theta)
{
    const hfi_inducing *u = e->inducing;
    double *point = hfi_alloc(e->ctx, u->d, sizeof *point), value;
    if (!point) return HF_ERR_MEMORY;
    hfi_kernel_diagonal(e->kernel, 1, point, u->d, true, &value);
    for (size_t c = 0; c < u->d && !(value > 0.0); c++) point[c] = 1.0;
    const double weight = trace * u->jitter / u->scale;
    hfi_kernel_diagonal_adjoint(e->kernel, 1, point, u->d, &weight, &weight, theta);
    hfi_free(e->ctx, point);
    return HF_OK;
}

hf_status hfi_inducing_prior_adjoint(hfi_evaluator *e, double *square, double *theta, double *z_grad)
{
    const hfi_inducing *u = e->inducing;
    const size_t m = u->m;
    double *diagonal = hfi_alloc(e->ctx, m, sizeof *diagonal), trace = 0.0;
    if (!diagonal) return HF_ERR_MEMORY;
    /* Lu^-T C Lu^-1 = Lu^-T (Lu^-T C')' for the symmetric C. */
    hfi_symmetrise(e->ctx, m, square, m);
    hfi_inducing_divide(e->ctx, m, u->lu, true, square);
    transpose(m, square);
    hfi_inducing_divide(e->ctx, m, u->lu, true, square);
    for (size_t i = 0; i < m * m; i++) square[i] *= -0.5;
    hf_status status =
        z_grad ? hfi_kernel_gram_input_adjoint(e->ctx, e->kernel, m, u->z, u->d, square, m, z_grad) : HF_OK;
    /* White is not in Kuu: the diagonal goes its own way. */
    for (size_t i = 0; i < m; i++) {
        diagonal[i] = square[i + i * m];
        trace += diagonal[i];
        square[i + i * m] = 0.0;
    }
    if (status >= 0) status = hfi_kernel_gram_adjoint(e->ctx, e->kernel, m, u->z, u->d, square, m, theta);
    if (status >= 0) {
        hfi_kernel_diagonal_adjoint(e->kernel, m, u->z, u->d, diagonal, NULL, theta);
        status = jitter_adjoint(e, trace, theta);
    }
    hfi_free(e->ctx, diagonal);
    return status;
}
