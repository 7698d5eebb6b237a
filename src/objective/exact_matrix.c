/* SPDX-License-Identifier: Apache-2.0 */
/* K + D and what it becomes, held by one process. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <string.h>

/* Lower triangle of K + D of the present readings. */
static hf_status fill_kernel_and_noise(void *arg, double *a, size_t lda)
{
    hfi_evaluator *e = arg;
    const hf_status s = hfi_kernel_gram_lower(e->ctx, e->kernel, e->n, e->inputs, e->d, a, lda);
    if (s < 0) return s;
    const double *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    for (size_t i = 0; i < e->n; i++) a[i + i * lda] += variance[i];
    return s;
}

hf_status hfi_evaluator_factor(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL), *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    hfi_evaluator_residuals(e);
    if (e->kept) e->kept->whole = false;
    const hf_status s = hfi_chol_jitter(e->ctx, e->n, e->a, e->n, hfi_kernel_typical_variance(e->kernel),
                                        fill_kernel_and_noise, e, &e->jitter);
    if (s < 0) return s;
    memcpy(alpha, r, e->n * sizeof *alpha);
    hfi_chol_solve(e->n, e->a, e->n, alpha);
    return s;
}

typedef struct outer_job {
    hfi_evaluator *e;
    bool leave_one_out;
} outer_job;

enum {
    COLUMNS = 32
}; /* of the weight matrix in one task */

/* Some columns of the weight matrix W with d objective = sum_ij W_ij d(K + D)_ij, lower triangle, in place of G
 * (evidence) or of G diag(g_bar) G (leave-one-out). */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const outer_job *job = arg;
    const hfi_evaluator *e = job->e;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA), *p = hfi_evaluator_vector(e, HFI_EV_PRODUCT);
    const size_t first = task * COLUMNS, end = first + COLUMNS < e->n ? first + COLUMNS : e->n;
    for (size_t j = first; j < end; j++) {
        double *w = (job->leave_one_out ? e->c : e->a) + j * e->n;
        if (job->leave_one_out)
            for (size_t i = j; i < e->n; i++) w[i] = -0.5 * (p[i] * alpha[j] + alpha[i] * p[j]) - w[i];
        else
            for (size_t i = j; i < e->n; i++) w[i] = 0.5 * (alpha[i] * alpha[j] - w[i]);
    }
}

static hf_status exact_factor(hfi_evaluator *e, double *log_det)
{
    const hf_status s = hfi_evaluator_factor(e);
    if (s >= 0) *log_det = hfi_chol_logdet(e->n, e->a, e->n);
    return s;
}

/* From the factor in `a` to the inverse. */
static hf_status invert(hfi_evaluator *e)
{
    if (!e->kept) {
        hfi_chol_inverse(e->ctx, e->n, e->a, e->n);
        return HF_OK;
    }
    hfi_kept_take_factor(e);
    hfi_chol_inverse_diagonal(e->ctx, e->n, e->a, e->n, e->a, e->kept->diagonal);
    hfi_triangle_square(e->ctx, e->n, e->a, e->n);
    e->kept->valid = true;
    return HF_OK;
}

static hf_status diagonal(hfi_evaluator *e, const double **g, size_t *step)
{
    *g = e->a;
    *step = e->n + 1;
    return HF_OK;
}

static hf_status exact_multiply(const hfi_evaluator *e, bool inverse, const double *v, double *out)
{
    (void)inverse;
    hfi_symv(e->n, e->a, e->n, v, out);
    return HF_OK;
}

static hf_status square(hfi_evaluator *e)
{
    hfi_symmetrise(e->ctx, e->n, e->a, e->n);
    hfi_weighted_square(e->ctx, e->n, e->a, e->n, hfi_evaluator_vector(e, HFI_EV_G_BAR), e->c, e->n, e->b);
    return HF_OK;
}

static hf_status collect(hfi_evaluator *e, bool leave_one_out, double *gradient)
{
    outer_job job = {e, leave_one_out};
    const double *w = leave_one_out ? e->c : e->a;
    hfi_parallel_for(e->ctx, (e->n + COLUMNS - 1) / COLUMNS, weight_columns, &job);
    memset(gradient, 0, hf_kernel_parameters(e->kernel) * sizeof *gradient);
    const hf_status s = hfi_kernel_gram_adjoint(e->ctx, e->kernel, e->n, e->inputs, e->d, w, e->n, gradient);
    if (s >= 0) hfi_evaluator_collect(e, w, e->n + 1, leave_one_out, gradient);
    return s;
}

const hfi_exact_matrix hfi_local_matrix = {.factor = exact_factor,
                                           .invert = invert,
                                           .diagonal = diagonal,
                                           .multiply = exact_multiply,
                                           .square = square,
                                           .collect = collect};
