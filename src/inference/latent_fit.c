/* SPDX-License-Identifier: Apache-2.0 */
/* A fit of latent values, from readings to sites. */
#include "inference/latent_fit.h"

typedef struct latent_training {
    hfi_trainer *trainer;
    hfi_latent_problem problem;
} latent_training;

/* How near to its fixed point an iteration goes on the way of a search, and for the result. */
static const double roughly = 1e-6, exactly = 1e-10;

static hf_status evaluate_latent_training(void *arg, double *value, double *gradient)
{
    latent_training *j = arg;
    hfi_latent_problem *p = &j->problem;
    const hfi_inducing *u = p->inducing.inducing;
    /* The gradient of VFE under EP is a difference of fixed points. */
    p->tolerance = gradient && !(u && u->method == HF_INDUCING_VFE) ? roughly : exactly;
    p->dispersion = j->trainer->evaluator.sites->noise;
    return hfi_latent_evaluate(p, value, gradient);
}

hf_status hfi_latent_give(const hfi_latent_problem *p, hf_sites *sites)
{
    double *target = hfi_alloc(p->ctx, p->rows, 2 * sizeof *target);
    if (!target) return HF_ERR_MEMORY;
    hfi_latent_sites(p, target, target + p->rows);
    hfi_sites_give(sites, target, target + p->rows);
    hfi_free(p->ctx, target);
    return HF_OK;
}

hf_status hfi_latent_fit(hfi_trainer *trainer, const hfi_latent_data *data, double *state, size_t *rounds)
{
    const hfi_evaluator *e = &trainer->evaluator;
    latent_training j = {.trainer = trainer};
    hfi_latent_problem *p = &j.problem;
    const hfi_latent_given given = {.kernel = e->kernel,
                                    .mean = e->mean,
                                    .rows = e->rows,
                                    .x = e->x,
                                    .ldx = e->ldx,
                                    .y = data->y,
                                    .shift = data->shift,
                                    .inducing = e->inducing};
    hf_status s = hfi_latent_problem_init(e->ctx, data->likelihood, data->inference, &given, p);
    if (s < 0) return s;
    hfi_latent_search search = {.trainer = trainer,
                                .evaluate = evaluate_latent_training,
                                .arg = &j,
                                .count = HFI_LATENT_KEPT * p->n,
                                .ended = p->w,
                                .kept = p->kept_w,
                                .started = &p->started,
                                .iterations = data->iterations,
                                .restarts = data->restarts};
    s = hfi_latent_train(&search, state);
    if (s >= 0) s = hfi_latent_give(p, e->sites);
    *rounds = p->rounds;
    if (s == HF_OK && !p->converged)
        s = hfi_fail(e->ctx, HF_WARN_NOT_CONVERGED, "%s inference stopped after %zu steps before it settled",
                     hf_enum_name(HF_ENUM_INFERENCE, data->inference), p->rounds);
    hfi_latent_problem_free(p);
    return s;
}
