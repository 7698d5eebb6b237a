/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of labels of two classes, from rows to classifier. */
#include "classify/fit.h"
#include "classify/classify.h"
#include "classify/softmax_fit.h"
#include <math.h>

static hf_status evaluate(void *arg, double *value, double *gradient)
{
    hfi_latent_problem *p = arg;
    const hfi_inducing *u = p->inducing.inducing;
    /* The gradient of VFE under EP is a difference of fixed points. */
    p->rough = gradient && !(u && u->method == HF_INDUCING_VFE);
    return hfi_latent_evaluate(p, value, gradient);
}

static void improved(void *arg)
{
    hfi_latent_keep(arg);
}

/* Sites of the rows, the posterior that they make, and the classifier that owns it. */
static hf_status conclude(hfi_class_fit *fit, const hfi_latent_problem *problem, const double *state,
                          hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    double *target = hfi_alloc(base->ctx, base->n, 2 * sizeof *target);
    if (!target) return HF_ERR_MEMORY;
    hfi_latent_sites(problem, target, target + base->n);
    hfi_sites_give(base->sites, target, target + base->n);
    hfi_free(base->ctx, target);
    hfi_solution solution = {0};
    hf_posterior *posterior = NULL;
    const hf_status solved = hfi_fit_solve(base, &solution);
    if (solved < 0) return solved;
    hf_status s = hfi_posterior_create(base->ctx, base->kernel, base->mean, &solution, &base->scaling, 1.0,
                                       1.0, &posterior);
    if (s < 0) {
        hfi_solution_free(&solution);
        return s;
    }
    hf_class_report local;
    const hf_status warning = hfi_class_fit_report(fit, state, posterior, solved, &local);
    local.rounds = problem->rounds;
    s = hf_classifier_create(base->ctx, posterior, fit->choices->link, fit->given->classes, out);
    if (s < 0) {
        hf_posterior_free(posterior);
        return s;
    }
    if (report) *report = local;
    return warning;
}

static hf_status run(hfi_class_fit *fit, hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    hfi_latent_problem problem;
    hf_status s = hfi_latent_problem_init(base->ctx, hfi_class_likelihood(fit->choices->link),
                                          fit->choices->inference, base->kernel, base->mean, base->n, base->x,
                                          base->d, base->y, NULL, base->trainer.evaluator.inducing, &problem);
    if (s < 0) return s;
    double *state = hfi_alloc(base->ctx, base->trainer.count, sizeof *state);
    hfi_class_search search = {.trainer = &base->trainer,
                               .evaluate = evaluate,
                               .improved = improved,
                               .arg = &problem,
                               .iterations = fit->choices->iterations,
                               .restarts = fit->choices->restarts};
    s = state ? hfi_trainer_cold(&base->trainer, state) : HF_ERR_MEMORY;
    if (s >= 0) s = hfi_class_train(&search, state);
    if (s >= 0) s = conclude(fit, &problem, state, out, report);
    if (s == HF_OK && !problem.converged)
        s = hfi_fail(base->ctx, HF_WARN_NOT_CONVERGED,
                     "%s inference stopped after %zu steps before it settled",
                     hf_inference_name(problem.inference), problem.rounds);
    hfi_free(base->ctx, state);
    hfi_latent_problem_free(&problem);
    return s;
}

/* Below this many labels the parallel sections of an evaluation are shorter than waking and gathering the threads. */
enum {
    LEAST_FOR_THREADS = 512
};

hf_status hf_classify_data(hf_context *ctx, const hf_class_data *data, const hf_class_settings *settings,
                           hf_classifier **out, hf_class_report *report)
{
    if (!ctx || !out)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_classify_data: %s is NULL", ctx ? "out" : "ctx");
    if (data && settings && settings->link == HF_LINK_SOFTMAX)
        return hfi_softmax_fit(ctx, data, settings, out, report);
    const double begin = hfi_now();
    hf_context *own = hfi_context_borrow(ctx);
    if (!own) return HF_ERR_MEMORY;
    hfi_class_fit fit;
    hf_status s = hfi_class_fit_init(own, data, settings, &fit);
    if (s >= 0) {
        if (fit.base.n < LEAST_FOR_THREADS) hf_context_set_threads(own, 1);
        s = run(&fit, out, report);
        if (s >= 0 && report) report->seconds = hfi_now() - begin;
        hfi_class_fit_free(&fit);
    }
    hfi_context_give_back(ctx, own);
    return s;
}
