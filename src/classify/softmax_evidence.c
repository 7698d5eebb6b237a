/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of more than two classes at given hyperparameters: the evidence, the posterior, and the kernel that
 * makes classes independent. */
#include "classify/softmax.h"
#include "fit/fit.h"

hf_status hfi_softmax_check_converged(const hfi_softmax_problem *p)
{
    if (p->converged) return HF_OK;
    return hfi_fail(p->ctx, HF_WARN_NOT_CONVERGED,
                    "laplace inference stopped after %zu steps before it settled", p->rounds);
}

hf_status hfi_softmax_evidence(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, size_t n,
                               const double *x, size_t ldx, const size_t *label, size_t classes,
                               double *value, double *gradient)
{
    hfi_softmax_problem p;
    hf_status s = hfi_softmax_init(ctx, kernel, mean, n, x, ldx, label, classes, &p);
    if (s < 0) return s;
    s = hfi_softmax_check_kernel(&p);
    if (s >= 0) s = hfi_softmax_evaluate(&p, value, gradient);
    if (s >= 0) s = hfi_softmax_check_converged(&p);
    hfi_softmax_free(&p);
    return s;
}

hf_status hfi_softmax_give(hfi_softmax_problem *p, const hfi_scaling *scaling, hf_posterior **out)
{
    hfi_solution solution;
    double *noises = hfi_alloc(p->ctx, p->classes, sizeof *noises);
    hf_posterior *made = NULL;
    hf_status s = noises ? hfi_softmax_solution(p, &solution) : HF_ERR_MEMORY;
    if (s >= 0) {
        s = hfi_posterior_create(p->ctx, p->kernel, p->mean, &solution, scaling, 0.0, 1.0, &made);
        if (s >= 0) s = hfi_posterior_set_noises(p->ctx, made, noises);
        hfi_solution_free(&solution);
    }
    hfi_free(p->ctx, noises);
    if (s < 0)
        hf_posterior_free(made);
    else
        *out = made;
    return s;
}

hf_status hfi_softmax_posterior(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, size_t n,
                                const double *x, size_t ldx, const size_t *label, size_t classes,
                                bool correct, hf_posterior **out, double *value)
{
    hfi_softmax_problem p;
    hfi_scaling units = {0};
    double found = 0.0;
    hf_status s = hfi_softmax_init(ctx, kernel, mean, n, x, ldx, label, classes, &p);
    if (s < 0) return s;
    s = hfi_softmax_check_kernel(&p);
    if (s >= 0) s = hfi_softmax_evaluate(&p, &found, NULL);
    if (s >= 0 && correct) s = hfi_softmax_correct(&p);
    if (s >= 0) s = hfi_fit_identity(ctx, p.d, classes, &units);
    if (s >= 0) s = hfi_softmax_give(&p, &units, out);
    if (s >= 0 && value) *value = found;
    if (s >= 0) s = hfi_softmax_check_converged(&p);
    hfi_scaling_free(&units);
    hfi_softmax_free(&p);
    return s;
}

char *hfi_softmax_expression(hf_context *ctx, const char *expression, const char *column, size_t d,
                             size_t classes, bool shared)
{
    /* The identity between classes, and a variance that they share. */
    return hfi_kernel_of_outputs(ctx, expression, column, d, classes,
                                 shared ? ", rank=1, factor=0, own=1)*constant*(" : NULL);
}
