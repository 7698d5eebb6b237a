/* SPDX-License-Identifier: Apache-2.0 */
/* A problem asks its solver, the exact or the inducing one. */
#include "inference/latent.h"

/* The solver's copies of kernel and mean are brought up to date. */
static hf_status follow(hfi_latent_problem *p)
{
    hfi_evaluator *e = &p->inducing;
    const size_t count = hf_kernel_parameters(p->kernel);
    for (size_t i = 0; i < count; i++) {
        hf_parameter q;
        hf_kernel_parameter(p->kernel, i, &q);
        const hf_status s = hfi_kernel_set_parameter(e->kernel, i, q.value, q.lower, q.upper, q.fixed);
        if (s < 0) return s;
    }
    return hf_mean_set(p->ctx, e->mean, hf_mean_values(p->mean), hf_mean_held(p->mean));
}

hf_status hfi_latent_prepare(hfi_latent_problem *p)
{
    return p->inducing.inducing ? follow(p) : hfi_latent_exact_prepare(p);
}

hf_status hfi_latent_condition(hfi_latent_problem *p, double *alpha, double *latent, double *variance)
{
    p->factorisations++;
    return p->inducing.inducing ? hfi_latent_inducing_condition(p, alpha, latent, variance)
                                : hfi_latent_exact_condition(p, alpha, latent, variance);
}

hf_status hfi_latent_gradient(hfi_latent_problem *p, double *gradient)
{
    return p->inducing.inducing ? hfi_latent_inducing_gradient(p, gradient)
                                : hfi_latent_exact_gradient(p, gradient);
}
