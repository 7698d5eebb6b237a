/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient's part through the covariances of the inducing inputs. */
#include "linalg/linalg.h"
#include "objective/inducing_impl.h"

static void transpose(size_t m, double *a)
{
    for (size_t j = 0; j < m; j++)
        for (size_t i = j + 1; i < m; i++) {
            const double value = a[i + j * m];
            a[i + j * m] = a[j + i * m];
            a[j + i * m] = value;
        }
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
        /* The jitter is a share of the typical variance. */
        hfi_kernel_typical_adjoint(e->kernel, trace * u->jitter / u->scale, theta);
    }
    hfi_free(e->ctx, diagonal);
    return status;
}
